# Tests of the whole program, and of the source as a whole.

# Answers recorded from the vendor's SDK.
foreach(group dir fork json list lite msg sub)
    script(recorded_${group} recorded commands/recorded.py $<TARGET_FILE:reprise> ${group})
endforeach()

# Logs of the real ExAthena library, and the results of its rewinds.
script(exathena recorded commands/exathena_conformance.py $<TARGET_FILE:reprise>)

# recorded(NAME): stores that the real agent wrote: what is shown of them and given back, and damage to them.
function(recorded agent)
    script(recorded_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent})
    script(edits_${agent} recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> ${agent})
    if(REPRISE_SANITIZE) # only there: they run long, and what they look for are mistakes with memory
        script(damaged_${agent} recorded store/systems/recorded/damaged_agents.py $<TARGET_FILE:reprise> ${agent})
    endif()
endfunction()
function(made agent) # made from the agent's sources, because there is no recording
    script(made_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent})
    if(REPRISE_SANITIZE)
        script(damaged_${agent} recorded store/systems/recorded/damaged_agents.py $<TARGET_FILE:reprise> ${agent})
    endif()
endfunction()
made(antigravity)
made(droid)
script(edits_droid recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> droid)
made(grok)
script(edits_grok recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> grok)
made(kiro)
script(edits_kiro recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> kiro)
made(vibe)
script(edits_vibe recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> vibe)
script(agent_matrix recorded commands/agent_matrix.py $<TARGET_FILE:reprise>)
recorded(cline)
recorded(continue)
script(cline_rewind recorded store/systems/cline/cline_rewind.py $<TARGET_FILE:reprise>)
recorded(kimi)
recorded(pi)
recorded(auggie)
recorded(qoder)
recorded(qwen)

recorded(codex)
recorded(copilot)
recorded(gemini)
# Later recordings: rewinds and resumes in turn, sub-agents that edit, changes by hand before the session's next edit.
foreach(agent qwen gemini kimi grok droid)
    script(recorded_more_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent}
           ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/more)
endforeach()
foreach(agent gemini kimi grok droid)
    script(edits_more_${agent} recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> ${agent}
           ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/more)
endforeach()
# Files that a person, another session or a command changed between the turns of a session.
foreach(agent copilot kimi gemini)
    script(recorded_changed_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent}
           ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/changed)
endforeach()
# Odd files and places, links, patches of several files, turns that were killed, interrupted or taken back.
foreach(agent codex copilot opencode)
    script(recorded_odd_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent}
           ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/odd)
    script(edits_odd_${agent} recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> ${agent}
           ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/odd)
endforeach()
# What commands, people and the program's own rewinds do between the edits of a session; without a repository too.
foreach(agent qwen gemini kimi)
    script(recorded_between_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent}
           ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/between)
    if(NOT REPRISE_SANITIZE) # it would run the same code again
        script(recorded_bare_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent}
               ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/between bare)
    endif()
endforeach()
# Files that a patch replaced without a record, and modes that a command changed.
foreach(agent codex copilot)
    script(recorded_unproven_${agent} recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> ${agent}
           ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/unproven)
endforeach()
# Sessions in a database: all of them are in one file, so damage is another matter (store/systems/opencode/).
script(recorded_opencode recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> opencode)
script(edits_opencode recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> opencode)
script(recorded_kilo recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> kilo)
script(edits_kilo recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> kilo)
# Sessions of a version that kept them in files.
script(recorded_old_opencode recorded store/systems/recorded/recorded_agents.py $<TARGET_FILE:reprise> opencode
       ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/old)
script(edits_old_opencode recorded store/systems/recorded/recorded_edits.py $<TARGET_FILE:reprise> opencode
       ${CMAKE_CURRENT_SOURCE_DIR}/fixtures/agents/old)
foreach(agent qwen gemini copilot)
    script(rewind_others_${agent} recorded store/systems/recorded/rewind_other_agents.py $<TARGET_FILE:reprise> ${agent})
endforeach()
script(codex_old recorded store/systems/codex/codex_old.py $<TARGET_FILE:reprise>)
script(gemini_old recorded store/systems/gemini/gemini_old.py $<TARGET_FILE:reprise>)
script(codex_index recorded store/systems/codex/codex_index.py $<TARGET_FILE:reprise>)
script(copilot_rewind recorded store/systems/copilot/copilot_rewind.py $<TARGET_FILE:reprise>)
script(codex_rewind recorded store/systems/codex/codex_rewind.py $<TARGET_FILE:reprise>)
if(REPRISE_SANITIZE)
    script(crafted_databases recorded store/systems/common/sqlite/crafted_databases.py $<TARGET_FILE:reprise>)
endif()
script(amazonq_store recorded store/systems/amazonq/amazonq_store.py $<TARGET_FILE:reprise>)
script(crush_store recorded store/systems/crush/crush_store.py $<TARGET_FILE:reprise>)
script(cursor_store recorded store/systems/cursor/cursor_store.py $<TARGET_FILE:reprise>)
script(goose_store recorded store/systems/goose/goose_store.py $<TARGET_FILE:reprise>)
script(kimi_cli_store recorded store/systems/kimi_cli/kimi_cli_store.py $<TARGET_FILE:reprise>)
script(kimi_states recorded store/systems/kimi/kimi_states.py $<TARGET_FILE:reprise>)
script(pi_branches recorded store/systems/pi/pi_branches.py $<TARGET_FILE:reprise>)
script(pi_rewind recorded store/systems/pi/pi_rewind.py $<TARGET_FILE:reprise>)
script(continue_rewind recorded store/systems/continue/continue_rewind.py $<TARGET_FILE:reprise>)
script(qwen_places recorded store/systems/qwen/qwen_places.py $<TARGET_FILE:reprise>)
script(opencode_store recorded store/systems/opencode/opencode_store.py $<TARGET_FILE:reprise>)

# Go directory sessions: the conformance lists of the format.
if(TARGET postgresql)
    script(postgresql recorded store/plugins/postgresql.py $<TARGET_FILE:reprise> $<TARGET_FILE:postgresql>
        ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
    set_tests_properties(postgresql${suffix} PROPERTIES SKIP_RETURN_CODE 77)
endif()
if(TARGET redis)
    script(redis recorded store/plugins/redis.py $<TARGET_FILE:reprise> $<TARGET_FILE:redis>
        ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
    set_tests_properties(redis${suffix} PROPERTIES SKIP_RETURN_CODE 77)
endif()
if(TARGET s3)
    script(s3 recorded store/plugins/s3.py $<TARGET_FILE:reprise> $<TARGET_FILE:s3>
        ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
endif()
if(TARGET http)
    script(http_store recorded store/plugins/http_store.py $<TARGET_FILE:reprise> $<TARGET_FILE:http> ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
endif()
if(TARGET postgresql OR TARGET redis OR TARGET s3 OR TARGET http)
    script(hostile_servers hostile store/plugins/hostile_servers.py $<TARGET_FILE:reprise> ${PROJECT_BINARY_DIR}/plugins
        $<IF:$<BOOL:${REPRISE_SANITIZE}>,yes,no>)
    script(silent_servers recorded store/plugins/silent_servers.py $<TARGET_FILE:reprise> ${PROJECT_BINARY_DIR}/plugins)
    set_tests_properties(silent_servers${suffix} PROPERTIES SKIP_RETURN_CODE 77)
endif()
script(plugin_store recorded commands/plugin_store.py $<TARGET_FILE:reprise> $<TARGET_FILE:example_store>
    $<TARGET_FILE:complete_store> ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
script(doctor_plugin recorded commands/doctor_plugin.py $<TARGET_FILE:reprise> $<TARGET_FILE:example_store>
    $<TARGET_FILE:complete_store> $<TARGET_FILE:broken_store> $<TARGET_FILE:not_a_plugin>)
script(named_stores recorded commands/named_stores.py $<TARGET_FILE:reprise>)
script(by_agent recorded commands/by_agent.py $<TARGET_FILE:reprise>)
script(goat recorded store/systems/goat/goat_conformance.py $<TARGET_FILE:reprise>)
script(goat_bad recorded store/systems/goat/goat_bad_input.py $<TARGET_FILE:reprise>)
# What a rewind may touch, whoever wrote the session.
script(old_records recorded commands/old_records.py $<TARGET_FILE:reprise> 888c8e2)
script(records_of_0_1 recorded commands/old_records.py $<TARGET_FILE:reprise> 29dbe50)
script(redact_rows recorded commands/redact_rows.py $<TARGET_FILE:reprise>)
script(rewind_rules recorded commands/rewind_rules.py $<TARGET_FILE:reprise>)

# Each line of a file belongs to the turn that wrote it, and to no other.
script(blame recorded commands/blame.py $<TARGET_FILE:reprise>)
script(blame_notes recorded commands/blame_notes.py $<TARGET_FILE:reprise> $<TARGET_FILE:shared>)
# Every line that matches is found, and no other.
script(search_text recorded commands/search.py $<TARGET_FILE:reprise>)
# Sessions as documents; the HTML also as a browser reads it.
script(export recorded commands/export.py $<TARGET_FILE:reprise>)
script(export_chromium recorded commands/export.py $<TARGET_FILE:reprise> chromium)
set_tests_properties(export_chromium${suffix} PROPERTIES SKIP_RETURN_CODE 77)
# Every answer counts once, as ccusage counts it.
script(usage_sums recorded commands/usage.py $<TARGET_FILE:reprise>)
# The scope of undo with several directories and stores, and partial undo.
script(undo_scope recorded commands/undo_scope.py $<TARGET_FILE:reprise>)
script(snapshots recorded commands/snapshots.py $<TARGET_FILE:reprise>)
# What is kept of sessions that their agents removed.
script(keep_timer recorded commands/keep_timer.py $<TARGET_FILE:reprise>)
script(keep recorded commands/keep.py $<TARGET_FILE:reprise>)
script(hostile_project recorded commands/hostile_project.py $<TARGET_FILE:reprise>)
script(hostile_million recorded commands/hostile_project.py $<TARGET_FILE:reprise> 1000000)
script(odd_repositories recorded commands/odd_repositories.py $<TARGET_FILE:reprise>)
script(rewind_snapshots recorded commands/rewind_snapshots.py $<TARGET_FILE:reprise>)
script(turns_given_back recorded store/systems/recorded/turns_given_back.py $<TARGET_FILE:reprise> claude pi grok)
script(rewind_snapshot_kinds recorded commands/rewind_snapshot_kinds.py $<TARGET_FILE:reprise>)
# What a person tagged or named is not swept.
script(sweep_keeps recorded commands/sweep_keeps.py $<TARGET_FILE:reprise>)
script(export_output_lines recorded commands/export_output_lines.py $<TARGET_FILE:reprise>)
script(doctor_poison recorded commands/doctor_poison.py $<TARGET_FILE:reprise>)
script(doctor_agents recorded commands/doctor_agents.py $<TARGET_FILE:reprise>)
script(long_prompts recorded commands/long_prompts.py $<TARGET_FILE:reprise>)
script(paging recorded commands/paging.py $<TARGET_FILE:reprise>)
script(bounded recorded commands/bounded.py $<TARGET_FILE:reprise>)
script(skill recorded commands/skill.py $<TARGET_FILE:reprise> ${PROJECT_SOURCE_DIR})
script(mcp recorded commands/mcp.py $<TARGET_FILE:reprise>)
script(mcp_install recorded commands/mcp_install.py $<TARGET_FILE:reprise> ${CMAKE_SOURCE_DIR})
script(messages_end recorded commands/messages_end.py $<TARGET_FILE:reprise>)
script(plain_messages recorded commands/plain_messages.py $<TARGET_FILE:reprise> ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
# How often a list calls the system for each session.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT REPRISE_SANITIZE)
    add_executable(count_calls support/count_calls.c)
    target_link_libraries(count_calls PRIVATE flags)
    script(list_calls recorded commands/list_calls.py $<TARGET_FILE:reprise> $<TARGET_FILE:count_calls>)
    script(undo_record_calls recorded commands/undo_record_calls.py $<TARGET_FILE:reprise> $<TARGET_FILE:count_calls>)
    set_tests_properties(list_calls${suffix} undo_record_calls${suffix} PROPERTIES SKIP_RETURN_CODE 77)
endif()
script(resume_by_id recorded commands/resume_by_id.py $<TARGET_FILE:reprise>)
script(copies recorded commands/copies.py $<TARGET_FILE:reprise>)
set(library)
if(NOT REPRISE_SANITIZE AND NOT REPRISE_TSAN) # Python cannot load a library with a sanitizer
    set(library $<TARGET_FILE:shared>)
endif()
script(copies_matrix recorded commands/copies_matrix.py $<TARGET_FILE:reprise> ${library})
script(odd_places recorded commands/odd_places.py $<TARGET_FILE:reprise>)
script(compare recorded commands/compare.py $<TARGET_FILE:reprise>)
script(project_move recorded commands/project_move.py $<TARGET_FILE:reprise>)
script(project_find recorded commands/project_find.py $<TARGET_FILE:reprise>)
script(compare_take recorded commands/compare_take.py $<TARGET_FILE:reprise>)
script(bisect_turns recorded commands/bisect_turns.py $<TARGET_FILE:reprise>)
script(undo_of_a_copy recorded commands/undo_of_a_copy.py $<TARGET_FILE:reprise>)
script(continue_in recorded commands/continue_in.py $<TARGET_FILE:reprise>)
script(bundle recorded commands/bundle.py $<TARGET_FILE:reprise>)
script(bundle_read recorded commands/bundle_read.py $<TARGET_FILE:reprise>)
script(bundle_hostile recorded commands/bundle_hostile.py $<TARGET_FILE:reprise>)
script(doctor_spaced recorded commands/doctor_spaced.py $<TARGET_FILE:reprise>)
script(lost_parts recorded commands/lost_parts.py $<TARGET_FILE:reprise>)
script(linked_logs recorded commands/linked_logs.py $<TARGET_FILE:reprise>)
script(left_behind recorded commands/left_behind.py $<TARGET_FILE:reprise>)
script(board recorded commands/board.py $<TARGET_FILE:reprise>)
script(client_rules recorded commands/client_rules.py $<TARGET_FILE:reprise>)
# A change counts as made even if the answer cannot be written.
script(full_stdout recorded commands/full_stdout.py $<TARGET_FILE:reprise>)

# Entire: the conformance list of the format, by number. Under the sanitizers there is no injector.
set(injector -)
if(NOT REPRISE_SANITIZE)
    set(injector $<TARGET_FILE:inject>)
endif()
script(entire recorded commands/entire_conformance.py $<TARGET_FILE:reprise> ${injector})

# The program in a real terminal.
add_executable(demo_store support/demo_store.c)
target_link_libraries(demo_store PRIVATE store)
script(error_words recorded commands/error_words.py $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)
# Why a rewind holds back a file that was changed since.
script(rewind_edited_by recorded commands/rewind_edited_by.py $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)
script(demo_snapshots recorded commands/demo_snapshots.py $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)
script(keep_then_delete recorded commands/keep_then_delete.py $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)

# Slow tests: for ./run test, not for every build in between.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR REPRISE_SANITIZE)
    # Every system and every command, on all fixtures; the sanitizers run the screen's half.
    if(NOT REPRISE_SANITIZE)
        script(table corpus commands/table.py $<TARGET_FILE:reprise>)
        script(every_agent corpus commands/every_agent.py $<TARGET_FILE:reprise>)
    endif()
    # Sessions of two versions of the real client.
    foreach(version 197 330)
        script(corpus_${version} corpus commands/corpus.py $<TARGET_FILE:reprise> ${version})
        script(maintenance_${version} corpus commands/maintenance_corpus.py $<TARGET_FILE:reprise> ${version})
        script(undo_${version} corpus commands/undo_corpus.py $<TARGET_FILE:reprise> ${version})
        script(rewind_${version} corpus commands/rewind_corpus.py $<TARGET_FILE:reprise> ${version})
        script(turn_lines_${version} corpus commands/turn_lines.py $<TARGET_FILE:reprise> ${version})
        if(NOT REPRISE_SANITIZE) # takes minutes there; rewind_VERSION runs the same code
            script(rewind_both_${version} corpus commands/rewind_both.py $<TARGET_FILE:reprise> ${version})
        endif()
    endforeach()
    file(GLOB screens RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS screen/*.sh screen/*/*.sh)
    list(REMOVE_ITEM screens screen/lib.sh)
    foreach(file ${screens})
        get_filename_component(name ${file} NAME_WE)
        script(screen_${name} screen ${file} $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>
            $<TARGET_FILE:example_store> $<TARGET_FILE:misbehaving_store> $<TARGET_FILE:complete_store>)
    endforeach()
    script(background screen tui/term/background.py $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)
    script(completion screen tui/setup/completion.py $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)
    script(plain screen tui/term/plain.py $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)
    script(documents screen tui/setup/documents.py $<TARGET_FILE:reprise> ${PROJECT_SOURCE_DIR} $<TARGET_FILE:demo_store>)
    foreach(shell bash zsh fish)
        script(key_binding_${shell} screen tui/setup/key_binding.sh $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store> ${shell})
        set_tests_properties(key_binding_${shell}${suffix} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
    script(odd_names screen tui/setup/odd_names.py $<TARGET_FILE:reprise>)
    script(tmux_popup screen tui/setup/tmux_popup.sh $<TARGET_FILE:reprise> $<TARGET_FILE:demo_store>)
    script(pictures screen screen/pictures.py ${PROJECT_SOURCE_DIR}/screenshots)
    set_tests_properties(pictures${suffix} PROPERTIES SKIP_RETURN_CODE 77)
    if(NOT REPRISE_SANITIZE)
        script(screenshots screen check_screenshots.sh $<TARGET_FILE:reprise>
            $<TARGET_FILE:demo_store> ${PROJECT_SOURCE_DIR}/screenshots)
    endif()
    script(malformed hostile commands/malformed.py $<TARGET_FILE:reprise>)
    script(hostile hostile commands/hostile.py $<TARGET_FILE:reprise>)
    if(NOT REPRISE_SANITIZE)
        script(refused_changes hostile commands/refused_changes.py $<TARGET_FILE:reprise>)
    endif()
    script(hostile_screen hostile commands/hostile_screen.py $<TARGET_FILE:reprise>)
    script(terminal hostile tui/term/terminal.py $<TARGET_FILE:reprise>)
    if(TARGET small_stack)
        script(small_stack hostile store/library/small_stack.py $<TARGET_FILE:small_stack> $<TARGET_FILE:reprise>)
        script(large_values hostile store/systems/common/sqlite/large_values.py $<TARGET_FILE:reprise>)
    endif()
    script(scarce_resources hostile commands/scarce_resources.py $<TARGET_FILE:reprise>
        $<IF:$<BOOL:${REPRISE_SANITIZE}>,sanitized,plain>)
endif()

# Every write path with every call failing. The injector and the sanitizers replace the same functions.
if(NOT REPRISE_SANITIZE AND NOT REPRISE_FUZZ)
    add_subdirectory(sweeps)
endif()

# Checks of the source are needed in one build only.
if(NOT REPRISE_SANITIZE)
    script(installed packages installed/installed.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} c++)
    # A build of its own, from the source tarball, and the packages of it.
    script(packages packages installed/packages.sh ${PROJECT_BINARY_DIR})
    # A build of its own, with ThreadSanitizer; it takes minutes when it is not there yet.
    script(library_threads threads installed/threads.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/threads ${CMAKE_C_COMPILER})
    set_tests_properties(library_threads PROPERTIES SKIP_RETURN_CODE 77)
    # The table of capabilities of the seeds, on the installed program.
    script(coverage_of_seeds recorded coverage_of_seeds.py ${PROJECT_BINARY_DIR})
    # Both write reprise.pc, which holds the prefix, into the build directory.
    set_tests_properties(installed coverage_of_seeds PROPERTIES RESOURCE_LOCK install)
    # `source` is for every edit (./run test quick), `check` tests the checks themselves.
    script(built source check_built.sh ${PROJECT_SOURCE_DIR})
    script(makefiles source check_makefiles.sh ${PROJECT_SOURCE_DIR})
    script(layers source check_layers.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    script(layers_checked check check_layers_test.sh ${CMAKE_C_COMPILER})
    script(headers source check_headers.sh ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
    script(style source check_style.sh ${PROJECT_SOURCE_DIR})
    script(names source check_names.sh ${PROJECT_SOURCE_DIR})
    script(names_checked check check_names.sh --test)
    script(english source check_english.sh ${PROJECT_SOURCE_DIR})
    script(english_checked check check_english.sh --test)
    script(format source check_format.sh ${PROJECT_SOURCE_DIR})
    set_tests_properties(format PROPERTIES SKIP_RETURN_CODE 77)
endif()
# Other systems than this machine's, in roots that are made for it: ctest -C distribution -L distribution. They need root and
# the distributions' mirrors, and take from minutes to an hour.
if(NOT REPRISE_SANITIZE)
    function(distribution name)
        add_test(NAME ${name} CONFIGURATIONS distribution COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/installed/${ARGN})
        set_tests_properties(${name} PROPERTIES LABELS distribution SKIP_RETURN_CODE 77 TIMEOUT 14400)
    endfunction()
    distribution(bare_root bare_root.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    distribution(empty_root empty_root.sh ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/build-static ${PROJECT_BINARY_DIR})
    distribution(aarch64 aarch64.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/aarch64)
    distribution(trixie distributions.sh trixie)
    distribution(noble distributions.sh noble)
endif()
if(REPRISE_FUZZ)
    add_subdirectory(fuzz)
    # Takes minutes: for an occasional check, not for every run.
    add_custom_target(tidy COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/check_tidy.sh
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} USES_TERMINAL)
else()
    add_subdirectory(bench)
endif()

# Random worlds: stores of every agent, and what must hold in each. The same ones each time, and a bounded number of them,
# so that the test depends neither on luck nor on the machine. In these 21 every agent of the worlds has a session.
# Under the sanitizers, without the injector that breaks each change: ctest -C worlds -L worlds. For hours: tests/worlds/run.py.
function(worlds name seed number)
    add_test(NAME ${name}${suffix} ${ARGN} COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/worlds/run.py
        --reprise $<TARGET_FILE:reprise> --seed ${seed} --worlds ${number} --jobs 1 --keep ${CMAKE_CURRENT_BINARY_DIR}/worlds-found
        ${faults})
    set_tests_properties(${name}${suffix} PROPERTIES LABELS worlds TIMEOUT 7200 RESOURCE_LOCK worlds COST 100)
endfunction()
set(faults)
if(NOT REPRISE_SANITIZE AND NOT REPRISE_PORTABLE)
    set(faults --faults $<TARGET_FILE:inject>)
endif()
if(REPRISE_SANITIZE)
    worlds(worlds 4081 21 CONFIGURATIONS worlds long)
else()
    worlds(worlds 4081 21)
endif()
worlds(more_worlds 4102 9 CONFIGURATIONS worlds long)
