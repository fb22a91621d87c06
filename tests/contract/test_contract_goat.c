#include "tests/contract/contract.h"

#include "store/systems/goat/goat.h"
#include "tests/test.h"

#define FIRST "9a7e0000-0000-4000-8000-000000000001"
#define SECOND "abc-123"
#define THIRD "9a7e0000-0000-4000-8000-000000000003"
#define ROW(n) "bbbb0000-0000-4000-8000-00000000000" n
#define BASE "cfg/projects/srv-app/sessions/"

#define HEAD(n) "{\"uuid\":\"" ROW(n) "\",\"timestamp\":\"2026-02-09T02:48:3" n ".5Z\","
/* The shipped package wraps a message; the two documents do not. */
#define NESTED(n, role, text)                                                                      \
    HEAD(n) "\"message\":{\"role\":\"" role "\",\"content\":\"" text "\"}}\n"
#define FLAT(n, role, text) HEAD(n) "\"role\":\"" role "\",\"content\":\"" text "\"}\n"

static void make(const struct folder *f)
{
    folder_put(
        f, BASE FIRST "/metadata.json",
        SLICE("{\n  \"id\": \"" FIRST "\",\n  \"cwd\": \"/srv/app\",\n  \"model\": \"m\",\n"
              "  \"created_at\": \"2026-02-09T02:48:28.123456789Z\",\n"
              "  \"updated_at\": \"2026-02-09T02:48:34.5Z\",\n  \"message_count\": 0,\n"
              "  \"turn_count\": 2,\n  \"total_cost_usd\": 1e-7,\n  \"ours\": [1, 2.50]\n}"));
    folder_put(f, BASE FIRST "/messages.jsonl",
               SLICE(NESTED("1", "user", "Mend the gate")   /**/
                     NESTED("2", "assistant", "It creaks.") /**/
                     NESTED("3", "user", "Oil it")          /**/
                     NESTED("4", "assistant", "Done.")));
    folder_put(
        f, BASE SECOND "/metadata.json",
        SLICE("{\n  \"session_id\": \"" SECOND "\",\n"
              "  \"created_at\": \"2026-02-09T02:48:28Z\",\n  \"model\": \"m\",\n"
              "  \"cwd\": \"/srv/app\",\n  \"turn_count\": 1,\n  \"total_cost_usd\": 0.0234,\n"
              "  \"exit_reason\": \"end_turn\",\n  \"agent_name\": \"\"\n}\n"));
    folder_put(f, BASE SECOND "/messages.jsonl",
               SLICE(FLAT("5", "user", "Paint the fence") FLAT("6", "assistant", "In green.")));
    /* A tail torn by an interrupted write, and an unreadable line. */
    folder_put(f, BASE THIRD "/metadata.json",
               SLICE("{\n  \"id\": \"" THIRD "\",\n  \"project_hash\": \"a1b2\",\n"
                     "  \"cwd\": \"/srv/app\",\n  \"model\": \"m\",\n"
                     "  \"created_at\": \"2026-02-09T02:48:28Z\",\n"
                     "  \"updated_at\": \"2026-02-09T02:50:00Z\",\n  \"message_count\": 2,\n"
                     "  \"turn_count\": 1,\n  \"total_tokens\": 12\n}"));
    folder_put(f, BASE THIRD "/messages.jsonl",
               SLICE(FLAT("7", "user", "Sweep the yard") "{broken\n" FLAT(
                   "8", "assistant", "Swept.") "{\"uuid\":\"" ROW("9")));
    folder_mtime(f, BASE FIRST "/messages.jsonl", 1700000000123456789);
    folder_mtime(f, BASE SECOND "/messages.jsonl", 1700000100000000000);
    folder_mtime(f, BASE THIRD "/messages.jsonl", 1700000200000000001);
    /* As a host leaves it. */
    folder_put(f, BASE FIRST "/messages.jsonl.lock", SLICE(""));
    folder_put(f, BASE SECOND "/messages.jsonl.lock", SLICE(""));
    folder_put(f, BASE THIRD "/messages.jsonl.lock", SLICE(""));
    folder_put(f, "cfg/projects/srv-app/sessions/agent-memory/summary.md", SLICE("# Memory\n"));
}

static const struct contract_session sessions[] = {
    { .id = FIRST,
      .title = "Mend the gate",
      .rows = 4,
      .messages = 4,
      .at = ROW("2"),
      .rows_to_at = 2 },
    { .id = SECOND, .title = "Paint the fence", .rows = 2, .messages = 2 },
    { .id = THIRD, .title = "Sweep the yard", .rows = 3, .messages = 2 },
};

TEST_MAIN
{
    const struct contract_system goat = {
        .ops = &goat_ops,
        .store = "cfg",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = "99990000-0000-4000-8000-000000000009",
    };

    return contract_run(&goat);
}
