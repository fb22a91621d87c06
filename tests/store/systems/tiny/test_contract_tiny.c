#include "tests/contract/contract.h"

#include "tests/test.h"

/* The made-up agent of tiny.c, which can only be read. */
extern const struct store_ops tiny_ops;

#define ROW(by, id, text)                                                                          \
    "{\"at\":\"2026-02-09T02:48:28Z\",\"by\":\"" by "\",\"id\":\"" id "\",\"text\":\"" text "\"}"  \
    "\n"

static void make(const struct folder *f)
{
    folder_put(f, ".tiny/one.jsonl",
               SLICE(ROW("user", "1", "Mend the gate") ROW("agent", "2", "Done.")
                         ROW("user", "3", "Oil") ROW("agent", "4", "Done.")));
    folder_put(f, ".tiny/two.jsonl", SLICE(ROW("user", "5", "Paint the fence") "{\"at\":"));
    folder_put(f, ".tiny/three.jsonl", SLICE("{\"at\":\"\",\"by\":\"agent\",\"id\":\"6\"}\n"));
    folder_mtime(f, ".tiny/one.jsonl", 1700000000000000000);
    folder_mtime(f, ".tiny/two.jsonl", 1700000100000000000);
    folder_mtime(f, ".tiny/three.jsonl", 1700000200000000000);
}

int main(void)
{
    static const struct contract_session sessions[] = {
        { .id = "one", .title = "Mend the gate", .rows = 4, .messages = 4 },
        { .id = "two", .title = "Paint the fence", .rows = 1, .messages = 1 },
        { .id = "three", .title = "three", .rows = 1, .messages = 1 },
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
