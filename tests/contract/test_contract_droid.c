#include "tests/contract/contract.h"

#include "tests/test.h"

extern const struct store_ops droid_ops;

/* Factory Droid keeps a log for each session, in a folder for each directory. */

#define LOGS ".factory/sessions/-app/"
#define FIRST "01a203e0-7efc-41a2-810d-000000000001"
#define SECOND "01a203e0-7efc-41a2-810d-000000000002"
#define THIRD "01a203e0-7efc-41a2-810d-000000000003"

#define START(id, title)                                                                           \
    "{\"type\":\"session_start\",\"id\":\"" id "\",\"title\":\"" title                             \
    "\",\"cwd\":\"/app\",\"version\":2}\n"
#define MESSAGE(id, role, text)                                                                    \
    "{\"type\":\"message\",\"id\":\"" id                                                           \
    "\",\"timestamp\":\"2026-02-09T02:48:28.000Z\",\"message\":{\"role\":\"" role                  \
    "\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"

static void make(const struct folder *f)
{
    folder_put(f, LOGS FIRST ".jsonl",
               SLICE(START(FIRST, "The gate") MESSAGE("1", "user", "Mend the gate")
                         MESSAGE("2", "assistant", "It creaks.") MESSAGE("3", "user", "Oil it")
                             MESSAGE("4", "assistant", "Done.")));
    /* A tail that was torn by an interrupted write. */
    folder_put(f, LOGS SECOND ".jsonl",
               SLICE(START(SECOND, "The fence")
                         MESSAGE("5", "user", "Paint the fence") "{\"type\":\"mess"));
    folder_put(f, LOGS THIRD ".jsonl",
               SLICE(START(THIRD, "The house") MESSAGE("6", "user", "Sell the house")
                         MESSAGE("7", "assistant", "To whom?")));
    folder_put(f, LOGS "no-session.jsonl", SLICE("{}\n"));
    folder_mtime(f, LOGS FIRST ".jsonl", 1700000000123456789);
    folder_mtime(f, LOGS SECOND ".jsonl", 1700000100000000000);
    folder_mtime(f, LOGS THIRD ".jsonl", 1700000200000000001);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "The gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence", .rows = 1, .messages = 1 },
        { .id = THIRD, .title = "The house", .rows = 2, .messages = 2 },
    };
    const struct contract_system droid = { .ops = &droid_ops,
                                           .store = ".factory",
                                           .make = make,
                                           .session = sessions,
                                           .n = sizeof sessions / sizeof *sessions,
                                           .unknown = "01a203e0-7efc-41a2-810d-000000000009" };

    return contract_run_reading(&droid);
}
