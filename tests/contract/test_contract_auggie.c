#include "tests/contract/contract.h"

#include "tests/test.h"

extern const struct store_ops auggie_ops;

/* Auggie keeps a document for each session. Its elements are exchanges: a prompt and its answer. */

#define SESSIONS ".augment/sessions/"
#define FIRST "01a203e0-7efc-41a2-810d-000000000001"
#define SECOND "01a203e0-7efc-41a2-810d-000000000002"
#define THIRD "01a203e0-7efc-41a2-810d-000000000003"

#define EXCHANGE(prompt, answer, end)                                                              \
    "    {\n      \"exchange\": {\n        \"request_message\": \"" prompt                         \
    "\",\n        \"request_nodes\": [{\"id\": 1, \"type\": 4, \"ide_state_node\": "               \
    "{\"workspace_folders\": [{\"repository_root\": \"/app\"}]}}],\n"                              \
    "        \"response_text\": \"" answer "\",\n        \"response_nodes\": []\n      },\n"       \
    "      \"finishedAt\": \"2026-02-09T02:48:28.000Z\"\n    }" end "\n"
#define SESSION(id, title, exchanges)                                                              \
    "{\n  \"sessionId\": \"" id "\",\n  \"customTitle\": \"" title                                 \
    "\",\n  \"chatHistory\": [\n" exchanges "  ]\n}"

static void make(const struct folder *f)
{
    folder_put(f, SESSIONS FIRST ".json",
               SLICE(SESSION(FIRST, "The gate",
                             EXCHANGE("Mend the gate", "It creaks.", ",")
                                 EXCHANGE("Oil it", "Done.", ""))));
    folder_put(f, SESSIONS SECOND ".json",
               SLICE(SESSION(SECOND, "The fence", EXCHANGE("Paint the fence", "Blue?", ""))));
    folder_put(f, SESSIONS THIRD ".json",
               SLICE(SESSION(THIRD, "The house", EXCHANGE("Sell the house", "To whom?", ""))));
    folder_put(f, SESSIONS THIRD "-backup1.json",
               SLICE(SESSION(THIRD, "The house", EXCHANGE("Sell the house", "To whom?", ""))));
    folder_put(f, SESSIONS "no session.json", SLICE("{}\n"));
    folder_mtime(f, SESSIONS FIRST ".json", 1700000000123456789);
    folder_mtime(f, SESSIONS SECOND ".json", 1700000100000000000);
    folder_mtime(f, SESSIONS THIRD ".json", 1700000200000000001);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "The gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence", .rows = 2, .messages = 2 },
        { .id = THIRD, .title = "The house", .rows = 2, .messages = 2 },
    };
    const struct contract_system auggie = { .ops = &auggie_ops,
                                            .store = ".augment",
                                            .make = make,
                                            .session = sessions,
                                            .n = sizeof sessions / sizeof *sessions,
                                            .unknown = "01a203e0-7efc-41a2-810d-000000000009" };

    return contract_run_reading(&auggie);
}
