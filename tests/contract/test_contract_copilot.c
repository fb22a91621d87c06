#include "tests/contract/contract.h"

#include "store/systems/copilot/copilot.h"
#include "tests/test.h"

#define STATE ".copilot/session-state/"
#define FIRST "09e99a34-96e1-42d4-964d-673e2d7e9596"
#define SECOND "18cb20a6-c614-4b3b-93ad-b537b82c49f3"
#define THIRD "1fc7294a-ac18-45e5-8b4c-e043005dfdd6"

#define EVENT(n, type, data)                                                                       \
    "{\"type\":\"" type "\",\"data\":{" data "},\"id\":\"event-" n                                 \
    "\",\"timestamp\":\"2026-11-22T15:50:0" n ".000Z\"}\n"
#define AGENT_EVENT(n, type, data)                                                                 \
    "{\"type\":\"" type "\",\"data\":{" data "},\"agentId\":\"" THIRD "\",\"id\":\"event-" n       \
    "\",\"timestamp\":\"2026-11-22T15:50:0" n ".000Z\"}\n"
#define PROMPT(n, text) EVENT(n, "user.message", "\"content\":\"" text "\"")
#define ANSWER(n, text)                                                                            \
    EVENT(n, "assistant.message", "\"content\":\"" text "\",\"toolRequests\":[]")

static void make(const struct folder *f)
{
    folder_put(f, STATE FIRST "/events.jsonl",
               SLICE(EVENT("0", "session.start", "\"version\":1") PROMPT("1", "Mend the gate")
                         ANSWER("2", "It creaks.")
                             AGENT_EVENT("3", "subagent.started", "\"toolCallId\":\"c\"")
                                 AGENT_EVENT("4", "user.message", "\"content\":\"Look for oil\"")
                                     PROMPT("5", "Oil it") ANSWER("6", "Done.")));
    folder_put(
        f, STATE FIRST "/workspace.yaml",
        SLICE("id: " FIRST "\ncwd: /home/ada/gate\nname: Mend the gate\nuser_named: false\n"));
    folder_put(f, STATE SECOND "/events.jsonl",
               SLICE(PROMPT("1", "Paint the fence") ANSWER("2", "In green.") "{\"type\":\"user"));
    folder_put(f, STATE SECOND "/workspace.yaml",
               SLICE("cwd: /home/ada/fence\nname: \"The fence: green\"\nuser_named: true\n"));
    folder_put(f, STATE THIRD ".jsonl",
               SLICE(PROMPT("1", "Count the planks") ANSWER("2", "Seven.")));
    folder_mtime(f, STATE FIRST "/events.jsonl", 1700000000000000000);
    folder_mtime(f, STATE SECOND "/events.jsonl", 1700000100000000000);
    folder_mtime(f, STATE THIRD ".jsonl", 1700000200000000000);
}

static int run_contract(void)
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "Mend the gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence: green", .rows = 2, .messages = 2 },
        { .id = THIRD, .title = "Count the planks", .rows = 2, .messages = 2 },
    };
    const struct contract_system copilot = { .ops = &copilot_ops,
                                             .store = ".copilot",
                                             .make = make,
                                             .session = sessions,
                                             .n = sizeof sessions / sizeof *sessions,
                                             .unknown = "00000000-ac18-45e5-8b4c-e043005dfdd6",
                                             .bare = true };

    return contract_run_reading(&copilot);
}

static void check_name(const char *yaml, const char *name)
{
    struct arena a = { 0 };
    struct copilot_workspace w;

    copilot_workspace_read(slice_of(yaml), &a, &w);
    if (!slice_eq(w.name, slice_of(name)))
        fail_msg("%s: the name is %.*s", yaml, SLICE_ARG(w.name));
    arena_fini(&a);
}

TEST(names_are_read_as_they_were_written)
{
    check_name("name: plain text\n", "plain text");
    check_name("name: 'it''s: quoted'\n", "it's: quoted");
    check_name("name: \"a \\\"b\\\" \\u00fc\"\n", "a \"b\" \xc3\xbc");
    check_name("name: plain # a comment\n", "plain");
    check_name("name: >-\n  a long text\n  in two lines\ncwd: /x\n", "a long text in two lines");
    check_name("name: |-\n  one\n  two\n", "one\ntwo");
    check_name("name: \"folded\n  text\"\n", "folded text");
    check_name("name: *alias\n", "");
    check_name("name: !tag x\n", "");
    check_name("name: [a, b]\n", "");
    check_name("name: 'not closed\n", "");
    check_name("name: \"not closed\n", "");
    check_name("map:\n  name: nested\n", "");
    check_name("name:", "");
    check_name("", "");
}

TEST(sub_agents_have_their_name_task_and_outcome)
{
    static const struct store_env env;
    const struct store st = { .ops = &copilot_ops, .env = &env };
    struct session_ref ref = { .store = &st, .id = SLICE(FIRST) };
    struct subagent_list list;
    struct folder f;
    char path[4096];

    folder_make(&f);
    folder_put(&f, "events.jsonl",
               SLICE(AGENT_EVENT("1", "subagent.started",
                                 "\"agentName\":\"explore\",\"agentDescription\":\"Look for oil\"")
                         PROMPT("2", "of the session") ANSWER("3", "of the session")
                             AGENT_EVENT("4", "assistant.message", "\"content\":\"None left.\"")
                                 AGENT_EVENT("5", "assistant.message", "\"content\":\"\"")
                                     AGENT_EVENT("6", "subagent.completed", "")));
    ref.path = slice_of(folder_path(&f, "events.jsonl", path));
    assert_int_equal(store_describe_subagents(&ref, NULL, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 1);
    assert_true(slice_eq(list.agent[0].id, slice_of(THIRD)));
    assert_true(slice_eq(list.agent[0].type, slice_of("explore")));
    assert_true(slice_eq(list.agent[0].task, slice_of("Look for oil")));
    assert_true(slice_eq(list.agent[0].outcome, slice_of("None left.")));
    assert_int_equal(list.agent[0].end, SUBAGENT_DONE);
    assert_true(list.agent[0].bytes > 0 && list.agent[0].time_ms == INT64_C(1795362606000));
    subagent_list_fini(&list);
    folder_put(&f, "events.jsonl",
               SLICE(AGENT_EVENT("1", "subagent.started", "\"agentDisplayName\":\"counter\"")
                         AGENT_EVENT("2", "subagent.failed", "")));
    assert_int_equal(store_describe_subagents(&ref, NULL, &list, NULL), ERR_OK);
    assert_true(slice_eq(list.agent[0].task, slice_of("counter")));
    assert_int_equal(list.agent[0].end, SUBAGENT_FAILED);
    subagent_list_fini(&list);
    folder_put(&f, "events.jsonl", SLICE(AGENT_EVENT("1", "subagent.started", "")));
    assert_int_equal(store_describe_subagents(&ref, NULL, &list, NULL), ERR_OK);
    assert_int_equal(list.agent[0].end, SUBAGENT_OPEN);
    subagent_list_fini(&list);
    folder_remove(&f);
}

TEST_MAIN
{
    int failed = test_run(NULL, NULL);

    return failed ? failed : run_contract();
}
