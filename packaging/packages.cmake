# `cpack -G DEB` makes the Debian packages, `cpack --config CPackSourceConfig.cmake` the source tarball; both with
# checksums beside them.
set(CPACK_PACKAGE_NAME reprise)
set(CPACK_PACKAGE_VENDOR "the reprise authors")
set(CPACK_PACKAGE_CONTACT "the reprise authors <maintainers@reprise.invalid>")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program library development)
foreach(plugin postgresql redis s3 http)
    if(TARGET ${plugin})
        list(APPEND CPACK_COMPONENTS_ALL ${plugin})
    endif()
endforeach()
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(about "A resume picker and rewind browser for the sessions of AI coding agents:
it lists and searches them, shows transcripts, resumes and forks sessions,
and rewinds the files that an agent changed: previewed first, applied as
a whole or not at all, and undoable.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME reprise)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
# These are loaded and not linked, so that dpkg-shlibdeps does not see them.
foreach(file ${GIT2_LINK_LIBRARIES} ${CRYPTO_LINK_LIBRARIES})
    file(REAL_PATH "${file}" file)
    execute_process(COMMAND dpkg-query -S ${file} OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE unknown)
    if(unknown EQUAL 0)
        string(REGEX MATCH "^[^:]+" owner "${owner}")
        list(APPEND loaded ${owner})
    endif()
endforeach()
list(JOIN loaded ", " CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ${CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libsqlite3-0, ncurses-term")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "reprise-postgresql, reprise-redis, reprise-s3, reprise-http")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "find, resume and rewind sessions of AI coding agents\n${about}")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libreprise${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "sessions of AI coding agents, shared library\n${about}\n.\n This package has the library for programs that write or read sessions.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libreprise-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libreprise${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libcjson-dev, libssl-dev, uuid-dev, libpcre2-dev, libutf8proc-dev, libgit2-dev, libmd4c-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "sessions of AI coding agents, development files\n${about}\n.\n This package has the headers, the static library and the manual.")

set(CPACK_DEBIAN_POSTGRESQL_PACKAGE_NAME reprise-postgresql)
set(CPACK_DEBIAN_POSTGRESQL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_POSTGRESQL_PACKAGE_DEPENDS "reprise (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_POSTGRESQL_DESCRIPTION "stores in PostgreSQL for reprise\n${about}\n.\n This package has the plug-in for stores of a team in PostgreSQL.")

set(CPACK_DEBIAN_REDIS_PACKAGE_NAME reprise-redis)
set(CPACK_DEBIAN_REDIS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_REDIS_PACKAGE_DEPENDS "reprise (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_REDIS_DESCRIPTION "stores in Redis for reprise\n${about}\n.\n This package has the plug-in for stores of a team in Redis.")

set(CPACK_DEBIAN_S3_PACKAGE_NAME reprise-s3)
set(CPACK_DEBIAN_S3_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_S3_PACKAGE_DEPENDS "reprise (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_S3_DESCRIPTION "stores in S3 for reprise\n${about}\n.\n This package has the plug-in for stores of a team in S3 and in servers like it.")

set(CPACK_DEBIAN_HTTP_PACKAGE_NAME reprise-http)
set(CPACK_DEBIAN_HTTP_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_HTTP_PACKAGE_DEPENDS "reprise (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_HTTP_DESCRIPTION "stores behind HTTP for reprise\n${about}\n.\n This package has the plug-in for stores of a team behind a server of its own.")

set(CPACK_SOURCE_COMMIT ${REPRISE_COMMIT}) # debian_files.cmake writes it into the tarball
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME reprise-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "/build[^/]*/;/\\\\.git;/\\\\.cache/;__pycache__")
include(CPack)
