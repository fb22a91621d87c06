#include "tests/contract/contract.h"

#include <stdio.h>

#include "tests/test.h"

/* Mistral Vibe keeps a directory for each session. */
extern const struct store_ops vibe_ops;

#define ROW(role, id, text)                                                                        \
    "{\"role\":\"" role "\",\"content\":\"" text "\",\"message_id\":\"" id "\"}\n"
#define META(directory)                                                                            \
    "{\"session_id\":\"x\",\"start_time\":\"2026-02-09T02:48:28Z\",\"environment\":"               \
    "{\"working_directory\":\"" directory "\"}}"

static void put_session(const struct folder *f, const char *name, struct slice rows, int64_t time)
{
    char path[4096];

    snprintf(path, sizeof path, ".vibe/logs/session/%s/messages.jsonl", name);
    folder_put(f, path, rows);
    folder_mtime(f, path, time);
    snprintf(path, sizeof path, ".vibe/logs/session/%s/meta.json", name);
    folder_put(f, path, SLICE(META("/app")));
}

static void make(const struct folder *f)
{
    put_session(f, "session_20260209_024828_11111111",
                SLICE(ROW("user", "1", "Mend the gate") ROW("assistant", "2", "Done.")
                          ROW("user", "3", "Oil it") ROW("assistant", "4", "Done.")),
                1700000000000000000);
    put_session(f, "session_20260209_024829_22222222",
                SLICE(ROW("user", "5", "Paint the fence") "{\"role\":"), 1700000100000000000);
    put_session(f, "session_20260209_024830_33333333",
                SLICE(ROW("user", "6", "Look at the roof") ROW("assistant", "7", "It is fine.")),
                1700000200000000000);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = "11111111", .title = "Mend the gate", .rows = 4, .messages = 4 },
        { .id = "22222222", .title = "Paint the fence", .rows = 1, .messages = 1 },
        { .id = "33333333", .title = "Look at the roof", .rows = 2, .messages = 2 },
    };
    const struct contract_system vibe = { .ops = &vibe_ops,
                                          .store = ".vibe",
                                          .make = make,
                                          .session = sessions,
                                          .n = sizeof sessions / sizeof *sessions,
                                          .unknown = "44444444" };

    return contract_run_reading(&vibe);
}
