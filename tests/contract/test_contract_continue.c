#include "tests/contract/contract.h"

#include "tests/test.h"

/* Continue keeps each session as one document in a folder that all projects share. */
extern const struct store_ops continue_ops;

#define HOME ".continue/sessions/"
#define BEGIN(id, title)                                                                           \
    "{\n  \"sessionId\": \"" id "\",\n  \"title\": \"" title                                       \
    "\",\n  \"workspaceDirectory\": \"/app\",\n  \"history\": ["
#define MESSAGE(role, text)                                                                        \
    "\n    {\n      \"message\": {\n        \"role\": \"" role "\",\n        \"content\": \"" text \
    "\"\n      },\n      \"contextItems\": []\n    }"
#define END "\n  ]\n}"

static void make(const struct folder *f)
{
    folder_put(
        f, HOME "one.json",
        SLICE(BEGIN("one", "The gate") MESSAGE("user", "Mend the gate") "," MESSAGE(
            "assistant", "It creaks.") "," MESSAGE("user", "Oil it") "," MESSAGE("assistant",
                                                                                 "Done.") END));
    /* A document that was torn by an interrupted write. */
    folder_put(f, HOME "two.json",
               SLICE(BEGIN("two", "Untitled Session")
                         MESSAGE("user", "Paint the fence") ",\n    {\n      \"mess"));
    folder_put(f, HOME "three.json",
               SLICE(BEGIN("three", "New Session") MESSAGE("user", "Sell the house") "," MESSAGE(
                   "assistant", "To whom?") END));
    folder_put(f, HOME "sessions.json", SLICE("[]"));
    folder_mtime(f, HOME "one.json", 1700000000123456789);
    folder_mtime(f, HOME "two.json", 1700000100000000000);
    folder_mtime(f, HOME "three.json", 1700000200000000001);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = "one", .title = "The gate", .rows = 4, .messages = 4 },
        { .id = "two", .title = "Paint the fence", .rows = 1, .messages = 1 },
        { .id = "three", .title = "Sell the house", .rows = 2, .messages = 2 },
    };
    const struct contract_system system = { .ops = &continue_ops,
                                            .store = ".continue",
                                            .make = make,
                                            .session = sessions,
                                            .n = sizeof sessions / sizeof *sessions,
                                            .unknown = "four",
                                            .bare = true };

    return contract_run_reading(&system);
}
