# Which commit is built: that of the checkout, or the one that the source tarball names in the file COMMIT.
set(REPRISE_COMMIT unknown)
if(EXISTS ${PROJECT_SOURCE_DIR}/COMMIT)
    file(READ ${PROJECT_SOURCE_DIR}/COMMIT REPRISE_COMMIT LIMIT 40)
elseif(EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD
        OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
        execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --git-path logs/HEAD
            OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE)
        get_filename_component(log ${log} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
        set(REPRISE_COMMIT ${head})
    endif()
endif()
string(STRIP "${REPRISE_COMMIT}" REPRISE_COMMIT)
set(REPRISE_LIBRARIES "libgit2 ${GIT2_VERSION}, SQLite ${SQLITE_VERSION}, PCRE2 ${PCRE2_VERSION}, OpenSSL ${CRYPTO_VERSION}, \
cJSON ${CJSON_VERSION}, inih ${INIH_VERSION}, MD4C ${MD4C_VERSION}, ncurses ${NCURSES_VERSION}, utf8proc ${UTF8PROC_VERSION}, \
zlib ${ZLIB_VERSION}, zstd ${ZSTD_VERSION}, libuuid ${UUID_VERSION}")
# Only the file that prints them is compiled again when the commit changes.
set_source_files_properties(${PROJECT_SOURCE_DIR}/tui/commands/command.c TARGET_DIRECTORY tui_commands
    PROPERTIES COMPILE_DEFINITIONS "REPRISE_COMMIT=\"${REPRISE_COMMIT}\";REPRISE_LIBRARIES=\"${REPRISE_LIBRARIES}\"")
