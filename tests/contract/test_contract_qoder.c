#include "tests/contract/contract.h"

#include "tests/test.h"

extern const struct store_ops qoder_ops;

/* Qoder CLI keeps transcripts in Claude Code's form, with a row that names where a conversation ends. */

#define LOGS ".qoder/projects/-app/"
#define FIRST "01a203e0-7efc-41a2-810d-000000000001"
#define SECOND "01a203e0-7efc-41a2-810d-000000000002"
#define THIRD "01a203e0-7efc-41a2-810d-000000000003"
#define UUID(n) "00000000-0000-4000-8000-00000000000" n

#define ROW(id, n, parent, role, content)                                                          \
    "{\"type\":\"" role                                                                            \
    "\",\"uuid\":\"" UUID(n) "\",\"timestamp\":\"2026-02-09T02:48:2" n                             \
                             ".000Z\",\"message\":{\"role\":\"" role "\",\"content\":" content     \
                             "},\"parentUuid\":" parent                                            \
                             ",\"isSidechain\":false,\"cwd\":\"/app\",\"sessionId\":\"" id         \
                             "\",\"version\":\"1.1.52\"}\n"
#define AFTER(n) "\"" UUID(n) "\""
#define TYPED(id, n, parent, text) ROW(id, n, parent, "user", "\"" text "\"")
#define SAID(id, n, parent, text)                                                                  \
    ROW(id, n, parent, "assistant", "[{\"type\":\"text\",\"text\":\"" text "\"}]")
#define LEAF(id, leaf)                                                                             \
    "{\"type\":\"active-leaf\",\"sessionId\":\"" id "\",\"leafUuid\":" leaf                        \
    ",\"explicit\":true,\"rewound\":true,\"timestamp\":1770605308000}\n"
#define TITLE(id, text)                                                                            \
    "{\"type\":\"custom-title\",\"sessionId\":\"" id "\",\"customTitle\":\"" text "\"}\n"

static void make(const struct folder *f)
{
    /* The last two messages were taken back by a rewind. */
    folder_put(
        f, LOGS FIRST ".jsonl",
        SLICE(TYPED(FIRST, "1", "null", "Mend the gate") SAID(FIRST, "2", AFTER("1"), "It creaks.")
                  TYPED(FIRST, "3", AFTER("2"), "Oil it") SAID(FIRST, "4", AFTER("3"), "Done.")
                      TITLE(FIRST, "The gate") LEAF(FIRST, AFTER("2"))));
    /* A tail that was torn by an interrupted write. */
    folder_put(f, LOGS SECOND ".jsonl",
               SLICE(TYPED(SECOND, "1", "null", "Paint the fence")
                         TITLE(SECOND, "The fence") "{\"type\":\"ass"));
    folder_put(f, LOGS THIRD ".jsonl",
               SLICE(TYPED(THIRD, "1", "null", "Sell the house") LEAF(THIRD, AFTER("1"))
                         SAID(THIRD, "2", AFTER("1"), "To whom?") TITLE(THIRD, "The house")));
    folder_put(f, LOGS "no-session.jsonl", SLICE("{}\n"));
    folder_mtime(f, LOGS FIRST ".jsonl", 1700000000123456789);
    folder_mtime(f, LOGS SECOND ".jsonl", 1700000100000000000);
    folder_mtime(f, LOGS THIRD ".jsonl", 1700000200000000001);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "The gate", .rows = 2, .messages = 2 },
        { .id = SECOND, .title = "The fence", .rows = 1, .messages = 1 },
        { .id = THIRD, .title = "The house", .rows = 2, .messages = 2 },
    };
    const struct contract_system qoder = { .ops = &qoder_ops,
                                           .store = ".qoder",
                                           .make = make,
                                           .session = sessions,
                                           .n = sizeof sessions / sizeof *sessions,
                                           .unknown = "01a203e0-7efc-41a2-810d-000000000009" };

    return contract_run_reading(&qoder);
}
