#include "tests/contract/contract.h"

#include "tests/test.h"

/* The made-up agent of tiny.c, which can only be read. */
extern const struct store_ops tiny_ops;

#define ROW(by, id, text)                                                                          \
    "{\"at\":\"2026-02-09T02:48:28Z\",\"by\":\"" by "\",\"id\":\"" id "\",\"text\":\"" text "\"}"  \
    "\n"
#define ABOUT_IT                                                                                   \
    "{\"title\":\"The gate\",\"directory\":\"/farm\",\"model\":\"small\","                         \
    "\"tokens\":{\"in\":7,\"out\":3}}"
#define CALL                                                                                       \
    "{\"by\":\"agent\",\"id\":\"2\",\"thoughts\":\"A hinge.\",\"text\":\"I mend it.\",\"calls\":[" \
    "{\"id\":\"c1\",\"tool\":\"write_file\",\"input\":{\"path\":\"gate\",\"content\":\"new\"}}]}"  \
    "\n"
#define RESULT "{\"by\":\"tool\",\"id\":\"2b\",\"call\":\"c1\",\"text\":\"error: it is full\"}\n"

static void put(const struct folder *f, const char *log, struct slice rows, int64_t mtime)
{
    folder_put(f, log, rows);
    folder_mtime(f, log, mtime);
}

static void make(const struct folder *f)
{
    put(f, ".tiny/sessions/one/log.jsonl",
        SLICE(ROW("user", "1", "Mend the gate") CALL RESULT ROW("user", "3", "Oil it")
                  ROW("agent", "4", "Done.")),
        1700000000000000000);
    folder_put(f, ".tiny/sessions/one/about.json", SLICE(ABOUT_IT));
    put(f, ".tiny/sessions/two/log.jsonl", SLICE(ROW("user", "5", "Paint the fence") "{\"at\":"),
        1700000100000000000);
    put(f, ".tiny/sessions/three/log.jsonl",
        SLICE(ROW("user", "6", "Rest") "{\"by\":\"cat\",\"text\":\"purr\"}\n"),
        1700000200000000000);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = "one", .title = "The gate", .rows = 5, .messages = 5 },
        { .id = "two", .title = "Paint the fence", .rows = 1, .messages = 1 },
        { .id = "three", .title = "Rest", .rows = 1, .messages = 1 },
    };
    const struct contract_system tiny = { .ops = &tiny_ops,
                                          .store = ".tiny",
                                          .make = make,
                                          .session = sessions,
                                          .n = sizeof sessions / sizeof *sessions,
                                          .unknown = "four",
                                          .bare = true };

    return contract_run_reading(&tiny);
}
