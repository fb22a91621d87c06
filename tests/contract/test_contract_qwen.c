#include "tests/contract/contract.h"

#include "store/systems/qwen/qwen.h"
#include "tests/test.h"

#define CHATS ".qwen/projects/-w/chats/"
#define FIRST "11111111-1111-4111-8111-111111111111"
#define SECOND "22222222-2222-4222-8222-222222222222"
#define THIRD "33333333-3333-4333-8333-333333333333"
#define ID(n) "0000000" n "-0000-4000-8000-000000000000"

#define ROW(n, parent, type, rest)                                                                 \
    "{\"uuid\":\"" ID(n) "\",\"parentUuid\":" parent ",\"sessionId\":\"s\",\"timestamp\":"         \
                         "\"2026-11-22T15:22:1" n ".034Z\",\"type\":\"" type                       \
                         "\",\"cwd\":\"/w\",\"gitBranch\":\"main\"," rest "}\n"
#define AFTER(n) "\"" ID(n) "\""
#define USER(n, parent, text)                                                                      \
    ROW(n, parent, "user",                                                                         \
        "\"provenance\":\"real_user\",\"message\":{\"role\":\"user\",\"parts\":[{\"text\":\"" text \
        "\"}]}")
#define MODEL(n, parent, text)                                                                     \
    ROW(n, parent, "assistant",                                                                    \
        "\"model\":\"coder\",\"message\":{\"role\":\"model\",\"parts\":[{\"text\":\"" text         \
        "\"}]}")
#define SYSTEM(n, parent, subtype, payload)                                                        \
    ROW(n, parent, "system", "\"subtype\":\"" subtype "\",\"systemPayload\":" payload)

/* The second prompt of the first session was rewound: the third one follows the first answer. */
/* clang-format off */
static void make(const struct folder *f)
{
    folder_put(f, CHATS FIRST ".jsonl",
               SLICE(USER("1", "null", "Mend the gate") SYSTEM(
                   "2", AFTER("1"), "ui_telemetry", "{}") MODEL("3", AFTER("2"), "It creaks.")
                         USER("4", AFTER("3"), "Burn it") MODEL("5", AFTER("4"), "No.")
                             SYSTEM("6", AFTER("3"), "rewind", "{\"truncatedCount\":2}")
                                 USER("7", AFTER("6"), "Oil it") MODEL("8", AFTER("7"), "Done.")));
    folder_put(f, ".qwen/projects/-w/subagents/" FIRST "/agent-look-call_1.jsonl",
               SLICE(USER("1", "null", "Look for oil") MODEL("2", AFTER("1"), "None left.")));
    folder_put(f, ".qwen/projects/-w/subagents/" FIRST "/agent-look-call_1.meta.json",
               SLICE("{\"agentType\":\"look\",\"description\":\"oil\",\"status\":\"completed\"}"));
    /* A title, and a tail torn by an interrupted write. */
    folder_put(f, CHATS SECOND ".jsonl",
               SLICE(USER("1", "null", "Paint the fence")
                         MODEL("2", AFTER("1"), "In green.")
                             SYSTEM("3", AFTER("2"), "custom_title",
                                    "{\"customTitle\":\"The green "
                                    "fence\",\"titleSource\":\"manual\"}") "{\"uuid\":\"0000"));
    folder_put(f, CHATS "archive/" THIRD ".jsonl", SLICE(USER("1", "null", "Sell the house")));
    folder_put(f, CHATS "not-a-session.jsonl", SLICE("{}\n"));
    folder_mtime(f, CHATS FIRST ".jsonl", 1700000000123456789);
    folder_mtime(f, CHATS SECOND ".jsonl", 1700000100000000000);
    folder_mtime(f, CHATS "archive/" THIRD ".jsonl", 1700000200000000001);
}
/* clang-format on */

static const struct contract_session sessions[] = {
    { .id = FIRST, .title = "Mend the gate", .rows = 4, .messages = 4 },
    { .id = SECOND, .title = "The green fence", .rows = 2, .messages = 2 },
    { .id = THIRD, .title = "Sell the house", .rows = 1, .messages = 1 },
};

TEST_MAIN
{
    const struct contract_system qwen = {
        .ops = &qwen_ops,
        .store = ".qwen",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = "44444444-4444-4444-8444-444444444444",
        .bare = true,
    };

    return contract_run_reading(&qwen);
}
