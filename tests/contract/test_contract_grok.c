#include "tests/contract/contract.h"

#include <stdio.h>

#include "store/systems/grok/grok.h"
#include "tests/test.h"

/* Grok Build keeps a directory for each session, with a log that comes in pieces. */

#define FIRST "01a203e0-7efc-71a2-810d-000000000001"
#define SECOND "01a203e0-7efc-71a2-810d-000000000002"
#define THIRD "01a203e0-7efc-71a2-810d-000000000003"

#define UPDATE(rest)                                                                               \
    "{\"timestamp\":1790000000,\"method\":\"session/update\",\"params\":{\"update\":{" rest "}}}"  \
    "\n"
#define PIECE(kind, text)                                                                          \
    UPDATE("\"sessionUpdate\":\"" kind "\",\"content\":{\"type\":\"text\",\"text\":\"" text "\"}")
#define PROMPT(text) PIECE("user_message_chunk", text)
#define ANSWER(text) PIECE("agent_message_chunk", text)
#define REWIND(index) UPDATE("\"sessionUpdate\":\"rewind_marker\",\"target_prompt_index\":" index)

static void put_session(const struct folder *f, const char *id, const char *title,
                        struct slice rows, int64_t time)
{
    char path[4096], summary[1024];

    snprintf(path, sizeof path, ".grok/sessions/%%2Fapp/%s/updates.jsonl", id);
    folder_put(f, path, rows);
    folder_mtime(f, path, time);
    snprintf(path, sizeof path, ".grok/sessions/%%2Fapp/%s/summary.json", id);
    snprintf(summary, sizeof summary,
             "{\"info\":{\"id\":\"%s\",\"cwd\":\"/app\"},\"generated_title\":\"%s\"}", id, title);
    folder_put(f, path, slice_of(summary));
}

/* The second prompt of the first session was rewound. */
static void make(const struct folder *f)
{
    put_session(f, FIRST, "",
                SLICE(PROMPT("Mend the gate") ANSWER("It ") ANSWER("creaks.") PROMPT("Burn it")
                          ANSWER("No.") REWIND("1") PROMPT("Oil it") ANSWER("Done.")),
                1700000000000000000);
    put_session(f, SECOND, "The green fence", SLICE(PROMPT("Paint the fence") "{\"timestamp\":"),
                1700000100000000000);
    put_session(f, THIRD, "", SLICE(PROMPT("Sell the house") ANSWER("To whom?")),
                1700000200000000000);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "Mend the gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The green fence", .rows = 1, .messages = 1 },
        { .id = THIRD, .title = "Sell the house", .rows = 2, .messages = 2 },
    };
    const struct contract_system grok = { .ops = &grok_ops,
                                          .store = ".grok",
                                          .make = make,
                                          .session = sessions,
                                          .n = sizeof sessions / sizeof *sessions,
                                          .unknown = "01a203e0-7efc-71a2-810d-000000000009" };

    return contract_run_reading(&grok);
}
