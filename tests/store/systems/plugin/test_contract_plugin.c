#include "tests/contract/contract.h"

#include "store/systems/plugin/plugin.h"
#include "tests/test.h"

/* The store of the example in docs/: a folder of Claude Code's rows, read through the table of a plug-in. */

#define ID(n) "0000000" n "-1111-4111-8111-111111111111"
#define ROW(session, type, id, parent, said)                                                       \
    "{\"parentUuid\":" parent ",\"isSidechain\":false,\"type\":\"" type                            \
    "\",\"message\":{\"role\":\"" type "\",\"content\":\"" said "\"},\"uuid\":\"" id               \
    "\",\"timestamp\":\"2026-02-09T02:48:28.000Z\",\"cwd\":\"/w\","                                \
    "\"sessionId\":\"" session "\"}\n"
#define FIRST "aaaaaaaa-1111-4111-8111-111111111111"
#define SECOND "bbbbbbbb-1111-4111-8111-111111111111"

static void make(const struct folder *f)
{
    folder_put(f, "team/-w/" ID("1") ".jsonl",
               SLICE(ROW(ID("1"), "user", FIRST, "null", "Mend the gate")
                         ROW(ID("1"), "assistant", SECOND, "\"" FIRST "\"", "Done.")));
    folder_put(f, "team/-w/" ID("2") ".jsonl",
               SLICE(ROW(ID("2"), "user", FIRST, "null", "Paint the fence")
                         ROW(ID("2"), "assistant", SECOND, "\"" FIRST "\"", "Done.") "{\"custom"));
    folder_put(f, "team/tenant/" ID("3") ".jsonl",
               SLICE(ROW(ID("3"), "user", FIRST, "null",
                         "Oil the hinge") "{\"type\":\"custom-title\",\"customTitle\":\"Hinges\","
                                          "\"sessionId\":\"" ID("3") "\"}\n"));
    folder_mtime(f, "team/-w/" ID("1") ".jsonl", 1700000000000000000);
    folder_mtime(f, "team/-w/" ID("2") ".jsonl", 1700000100000000000);
    folder_mtime(f, "team/tenant/" ID("3") ".jsonl", 1700000200000000000);
}

static enum err_code open_team(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    const struct plugin_config config = { .name = "team", .plugin = EXAMPLE_STORE, .path = path };

    return plugin_store_open(env, &config, true, out, e);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = ID("1"), .title = "Mend the gate", .rows = 2, .messages = 2 },
        { .id = ID("2"), .title = "Paint the fence", .rows = 2, .messages = 2 },
        { .id = ID("3"), .title = "Hinges", .rows = 1, .messages = 1 },
    };
    struct store_ops ops = plugin_ops;
    const struct contract_system team = { .ops = &ops,
                                          .store = "team",
                                          .make = make,
                                          .session = sessions,
                                          .n = sizeof sessions / sizeof *sessions,
                                          .unknown = ID("9"),
                                          .shared = true }; /* paths are not those of files */

    ops.name = "team";
    ops.open = open_team;
    return contract_run_reading(&team);
}
