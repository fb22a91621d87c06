#include "tests/contract/contract.h"

#include "store/systems/pi/pi.h"
#include "tests/test.h"

#define LOGS ".pi/agent/sessions/--w--/"
#define TIME "2026-11-22T15-29-33-949Z_"
#define FIRST "01a203e0-7efc-71a2-810d-ce24696a2e5f"
#define SECOND "my-own-id.1"
#define THIRD "01a203e0-ff26-7191-a717-85bab1f97986"

#define HEADER(id)                                                                                 \
    "{\"type\":\"session\",\"version\":3,\"id\":\"" id                                             \
    "\",\"timestamp\":\"2026-11-22T15:29:33.949Z\",\"cwd\":\"/w\"}\n"
#define ENTRY(n, parent, type, rest)                                                               \
    "{\"type\":\"" type "\",\"id\":\"0000000" n "\",\"parentId\":" parent                          \
    ",\"timestamp\":\"2026-11-22T15:29:4" n ".000Z\"," rest "}\n"
#define MESSAGE(n, parent, role, text)                                                             \
    ENTRY(n, parent, "message",                                                                    \
          "\"message\":{\"role\":\"" role "\",\"content\":[{\"type\":\"text\",\"text\":\"" text    \
          "\"}]}")
#define AFTER(n) "\"0000000" n "\""

/* clang-format off */
/* The second prompt of the first session is on a branch that was left. */
static void make(const struct folder *f)
{
    folder_put(f, LOGS TIME FIRST ".jsonl",
               SLICE(HEADER(FIRST)
                     ENTRY("1", "null", "model_change", "\"modelId\":\"m\"")
                     MESSAGE("2", AFTER("1"), "system", "You are pi.")
                     MESSAGE("3", AFTER("2"), "user", "Mend the gate")
                     MESSAGE("4", AFTER("3"), "assistant", "It creaks.")
                     MESSAGE("5", AFTER("4"), "user", "Burn it")
                     MESSAGE("6", AFTER("4"), "user", "Oil it")
                     MESSAGE("7", AFTER("6"), "assistant", "Done.")
                     ENTRY("8", AFTER("7"), "label", "\"targetId\":\"00000003\",\"label\":\"x\"")));
    /* A name, and a tail torn by an interrupted write. */
    folder_put(f, LOGS TIME SECOND ".jsonl",
               SLICE(HEADER(SECOND)
                     MESSAGE("1", "null", "user", "Paint the fence")
                     MESSAGE("2", AFTER("1"), "assistant", "In green.")
                     ENTRY("3", AFTER("2"), "session_info", "\"name\":\"The green fence\"")
                     "{\"type\":\"mess"));
    /* In the folder of all projects. */
    folder_put(f, ".pi/agent/sessions/" TIME THIRD ".jsonl",
               SLICE(HEADER(THIRD) MESSAGE("1", "null", "user", "Sell the house")));
    folder_put(f, LOGS "no-session.jsonl", SLICE("{}\n"));
    folder_mtime(f, LOGS TIME FIRST ".jsonl", 1700000000123456789);
    folder_mtime(f, LOGS TIME SECOND ".jsonl", 1700000100000000000);
    folder_mtime(f, ".pi/agent/sessions/" TIME THIRD ".jsonl", 1700000200000000001);
}
/* clang-format on */

static const struct contract_session sessions[] = {
    { .id = FIRST,
      .title = "Mend the gate",
      .rows = 4,
      .messages = 4,
      .at = "00000004",
      .rows_to_at = 2 },
    { .id = SECOND, .title = "The green fence", .rows = 2, .messages = 2 },
    { .id = THIRD, .title = "Sell the house", .rows = 1, .messages = 1 },
};

TEST_MAIN
{
    const struct contract_system pi = {
        .ops = &pi_ops,
        .store = ".pi/agent/sessions",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = "no-such-session",
    };

    return contract_run(&pi);
}
