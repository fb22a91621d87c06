#include "tests/contract/contract.h"

#include "tests/test.h"

extern const struct store_ops antigravity_ops;

/* Antigravity CLI keeps a directory for each conversation, with a transcript of its steps. */

#define LOG(id) ".gemini/antigravity-cli/brain/" id "/.system_generated/logs/transcript.jsonl"
#define FIRST "01a203e0-7efc-41a2-810d-000000000001"
#define SECOND "01a203e0-7efc-41a2-810d-000000000002"
#define THIRD "01a203e0-7efc-41a2-810d-000000000003"

#define STEP(source, type, text)                                                                   \
    "{\"step_index\":1,\"source\":\"" source "\",\"type\":\"" type                                 \
    "\",\"status\":\"DONE\",\"created_at\":\"2026-02-09T02:48:28Z\",\"content\":\"" text "\"}\n"
#define TYPED(text)                                                                                \
    STEP("USER_EXPLICIT", "USER_INPUT", "<USER_REQUEST>\\n" text "\\n</USER_REQUEST>")
#define SAID(text) STEP("MODEL", "PLANNER_RESPONSE", text)
#define HISTORY(id) "{\"display\":\"x\",\"conversationId\":\"" id "\",\"workspace\":\"/app\"}\n"

static void make(const struct folder *f)
{
    folder_put(f, LOG(FIRST),
               SLICE(TYPED("Mend the gate") SAID("It creaks.") TYPED("Oil it") SAID("Done.")));
    /* A tail that was torn by an interrupted write. */
    folder_put(f, LOG(SECOND), SLICE(TYPED("Paint the fence") "{\"step_index\":2,\"sou"));
    folder_put(f, LOG(THIRD), SLICE(TYPED("Sell the house") SAID("To whom?")));
    folder_put(f, LOG("no session"), SLICE("{}\n"));
    folder_put(f, ".gemini/antigravity-cli/history.jsonl",
               SLICE(HISTORY(FIRST) HISTORY(SECOND) HISTORY(THIRD) "{\"torn"));
    folder_mtime(f, LOG(FIRST), 1700000000123456789);
    folder_mtime(f, LOG(SECOND), 1700000100000000000);
    folder_mtime(f, LOG(THIRD), 1700000200000000001);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "Mend the gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "Paint the fence", .rows = 1, .messages = 1 },
        { .id = THIRD, .title = "Sell the house", .rows = 2, .messages = 2 },
    };
    const struct contract_system antigravity = { .ops = &antigravity_ops,
                                                 .store = ".gemini/antigravity-cli",
                                                 .make = make,
                                                 .session = sessions,
                                                 .n = sizeof sessions / sizeof *sessions,
                                                 .unknown =
                                                     "01a203e0-7efc-41a2-810d-000000000009" };

    return contract_run_reading(&antigravity);
}
