#include "tests/contract/contract.h"

#include "store/systems/gemini/gemini.h"
#include "tests/test.h"

#define CHATS ".gemini/tmp/gate/chats/"
#define FIRST "9ae65569-3faa-4529-99a2-ba9f8ac13408"
#define SECOND "4721a9f4-09be-4893-9988-7447de2e28b9"
#define THIRD "5f3b085c-35ab-4b39-9c5a-045a1d0b3542"

#define HEAD(id)                                                                                   \
    "{\"sessionId\":\"" id "\",\"startTime\":\"2026-11-22T15:24:26.620Z\",\"kind\":\"main\"}\n"
#define ROW(n, type, content)                                                                      \
    "{\"id\":\"m" n "\",\"timestamp\":\"2026-11-22T15:24:2" n ".000Z\",\"type\":\"" type           \
    "\",\"content\":" content "}"
#define PROMPT(n, text) ROW(n, "user", "[{\"text\":\"" text "\"}]")
#define ANSWER(n, text) ROW(n, "gemini", "\"" text "\"")
#define CONTEXT ROW("0", "user", "[{\"text\":\"<session_context>here\"}]")

static const char first[] =
    HEAD(FIRST) "{\"$set\":{\"messages\":[" CONTEXT
                "]}}\n" PROMPT("1", "Mend the gate") "\n" ANSWER("2", "It creaks.") "\n" PROMPT(
                    "3", "Oil it") "\n" ANSWER("4", "Done.") "\n";
/* Two turns; the second one was rewound. */
static const char second[] =
    HEAD(SECOND) PROMPT("1", "Paint the fence") "\n" ANSWER("2", "In green.") "\n" PROMPT(
        "3",
        "No, in red") "\n{\"$rewindTo\":\"m3\"}\n{\"$set\":{\"summary\":\"The fence\"}}\n{\"id\":";
/* An older session is one document. */
static const char third[] = "{\n \"sessionId\": \"" THIRD "\",\n \"messages\": [\n  " PROMPT(
    "1", "Count the planks") ",\n  " ANSWER("2", "Seven.") "\n ]\n}\n";

static void make(const struct folder *f)
{
    folder_put(f, ".gemini/tmp/gate/.project_root", SLICE("/home/ada/gate"));
    folder_put(f, CHATS "session-2026-11-22T15-24-9ae65569.jsonl", SLICE(first));
    /* what a resume in a later minute leaves: it must not hide the session */
    folder_put(f, CHATS "session-2026-11-22T15-31-9ae65569.jsonl",
               SLICE(HEAD(FIRST) "{\"$set\":{\"messages\":[" CONTEXT "]}}\n"));
    folder_put(f, CHATS "session-2026-11-22T15-24-4721a9f4.jsonl", SLICE(second));
    folder_put(f, CHATS "session-2026-11-22T15-25-5f3b085c.json", SLICE(third));
    folder_mtime(f, CHATS "session-2026-11-22T15-24-9ae65569.jsonl", 1700000000000000000);
    folder_mtime(f, CHATS "session-2026-11-22T15-31-9ae65569.jsonl", 1700000300000000000);
    folder_mtime(f, CHATS "session-2026-11-22T15-24-4721a9f4.jsonl", 1700000100000000000);
    folder_mtime(f, CHATS "session-2026-11-22T15-25-5f3b085c.json", 1700000200000000000);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "Mend the gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence", .rows = 2, .messages = 2 },
        { .id = THIRD, .title = "Count the planks", .rows = 2, .messages = 2 },
    };
    const struct contract_system gemini = { .ops = &gemini_ops,
                                            .store = ".gemini",
                                            .make = make,
                                            .session = sessions,
                                            .n = sizeof sessions / sizeof *sessions,
                                            .unknown = "00000000-3faa-4529-99a2-ba9f8ac13408",
                                            .bare = true };

    return contract_run_reading(&gemini);
}
