#include "tests/contract/contract.h"

#include "store/systems/exathena/exathena.h"
#include "tests/test.h"

#define SESSIONS "app/.exathena/sessions/"
#define FIRST "deploy-123"
#define SECOND "OK8s588B-myS-vF9BSnjDg"
#define THIRD "odd.id with space"

/* Keys are in the orders of two versions of Erlang. */
#define AT(n) "\"2026-11-21T20:21:5" n ".343990Z\""
#define START(n)                                                                                   \
    "{\"data\":{\"ts\":" AT(n) "},\"event\":\"session_start\",\"ts\":" AT(                         \
        n) ",\"uuid\":\"start00000" n "\"}\n"
#define USER(n, text)                                                                              \
    "{\"data\":{\"message\":{\"role\":\"user\",\"content\":\"" text                                \
    "\"}},\"ts\":" AT(n) ",\"event\":\"user_message\",\"uuid\":\"event00000" n "\"}\n"
#define AGENT(n, text)                                                                             \
    "{\"data\":{\"message\":{\"name\":null,\"tool_calls\":null,\"role\":\"assistant\","            \
    "\"content\":\"" text "\",\"tool_results\":null}},\"event\":\"assistant_message\",\"ts\":" AT( \
        n) ",\"uuid\":\"event00000" n "\"}\n"

static void make(const struct folder *f)
{
    folder_put(f, SESSIONS FIRST ".jsonl",
               SLICE(START("0") USER("1", "Mend the gate") AGENT("2", "It creaks.")
                         USER("3", "Oil it") AGENT("4", "Done.")));
    folder_put(f, SESSIONS FIRST "/sidechains/sub_1.jsonl",
               SLICE("{\"ts\":" AT(
                   "2") ",\"subagent_id\":\"sub_1\",\"parent_session_id\":\"" FIRST
                        "\",\"prompt\":\"Look for oil\",\"opts\":{},\"result\":{\"ok\":true,"
                        "\"text\":\"None left.\"}}\n"));
    folder_put(f,
               "app/.exathena/file-history/" FIRST
               "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/0.bin",
               SLICE("a gate\n"));
    /* A tail torn by an interrupted write. */
    folder_put(f, SESSIONS SECOND ".jsonl",
               SLICE(USER("5", "Paint the fence") AGENT("6", "In green.") "{\"data\":{\"mess"));
    /* Only a host event, so the id is the title. */
    folder_put(f, SESSIONS THIRD ".jsonl",
               SLICE("{\"ts\":" AT("7") ",\"event\":\"deployed\",\"data\":{\"to\":\"prod\"},"
                                        "\"uuid\":\"event000007\"}\n"));
    folder_put(f, SESSIONS "sub/dir.jsonl", SLICE(START("8")));
    folder_mtime(f, SESSIONS FIRST ".jsonl", 1700000000123456789);
    folder_mtime(f, SESSIONS SECOND ".jsonl", 1700000100000000000);
    folder_mtime(f, SESSIONS THIRD ".jsonl", 1700000200000000001);
}

static const struct contract_session sessions[] = {
    { .id = FIRST,
      .title = "Mend the gate",
      .rows = 5,
      .messages = 4,
      .at = "event000002",
      .rows_to_at = 3 },
    { .id = SECOND, .title = "Paint the fence", .rows = 2, .messages = 2 },
    { .id = THIRD, .title = THIRD, .rows = 1, .messages = 0 },
};

TEST_MAIN
{
    const struct contract_system exathena = {
        .ops = &exathena_ops,
        .store = "app/.exathena",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = "deploy-124",
        .bare = true,
    };

    return contract_run(&exathena);
}
