#include "tests/contract/contract.h"

#include "store/systems/kimi/kimi.h"
#include "tests/test.h"

#define SESSIONS ".kimi-code/sessions/wd_w_ab4a1e9a1b2c/"
#define LOG "/agents/main/wire.jsonl"
#define FIRST "session_3c29d85b-a132-43e3-8a16-2c4c59e61ed4"
#define SECOND "session_038b724a-b387-4123-8ca6-dda587b3ce5e"
#define THIRD "session_6b06fb1e-18ea-40d5-a518-42fa109ffb34"
#define FOURTH "session_0b6d0446-3cbb-44b6-8170-16ba6f744ed8"

#define META "{\"type\":\"metadata\",\"protocol_version\":\"1.5\",\"created_at\":1795362670674}\n"
#define PROMPT(n, text)                                                                            \
    "{\"type\":\"turn.prompt\",\"agentId\":\"main\",\"input\":[{\"type\":\"text\",\"text\":"       \
    "\"" text "\"}],\"origin\":{\"kind\":\"user\"},\"promptId\":\"msg_0" n "\",\"turnId\":" n      \
    ",\"time\":179536267" n "000}\n"
#define EVENT(n, event)                                                                            \
    "{\"type\":\"context.append_loop_event\",\"agentId\":\"main\",\"event\":" event                \
    ",\"time\":179536267" n "500}\n"
#define SAID(n, text)                                                                              \
    EVENT(n, "{\"type\":\"content.part\",\"part\":{\"type\":\"text\",\"text\":\"" text "\"}}")
#define UNDO(n) "{\"type\":\"context.undo\",\"count\":1,\"time\":179536267" n "900}\n"

/* clang-format off */
/* The second turn of the first session was undone. */
static void make(const struct folder *f)
{
    folder_put(f, SESSIONS FIRST LOG,
               SLICE(META PROMPT("0", "Mend the gate") EVENT("0", "{\"type\":\"step.begin\"}")
                     SAID("0", "It creaks.") PROMPT("1", "Burn it") SAID("1", "No.") UNDO("1")
                     PROMPT("2", "Oil it") SAID("2", "Done.")));
    folder_put(f, SESSIONS FIRST "/state.json", SLICE("{\"cwd\":\"/w\",\"archived\":false}"));
    /* A title, and a tail torn by an interrupted write. */
    folder_put(f, SESSIONS SECOND LOG,
               SLICE(META PROMPT("0", "Paint the fence") SAID("0", "In green.") "{\"type\":\"cont"));
    folder_put(f, SESSIONS SECOND "/state.json",
               SLICE("{\"cwd\":\"/w\",\"title\":\"The green fence\",\"archived\":true}"));
    /* Without state.json. */
    folder_put(f, SESSIONS THIRD LOG, SLICE(META PROMPT("0", "Sell the house")));
    folder_put(f, SESSIONS "not-a-session/state.json", SLICE("{}\n"));
    folder_mtime(f, SESSIONS FIRST LOG, 1700000000123456789);
    folder_mtime(f, SESSIONS SECOND LOG, 1700000100000000000);
    folder_mtime(f, SESSIONS THIRD LOG, 1700000200000000001);
}
/* clang-format on */

static const struct contract_session sessions[] = {
    { .id = FIRST, .title = "Mend the gate", .rows = 4, .messages = 4 },
    { .id = SECOND, .title = "The green fence", .rows = 2, .messages = 2 },
    { .id = THIRD, .title = "Sell the house", .rows = 1, .messages = 1 },
};

TEST_MAIN
{
    const struct contract_system kimi = {
        .ops = &kimi_ops,
        .store = ".kimi-code",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = FOURTH,
        .bare = true,
    };

    return contract_run_reading(&kimi);
}
