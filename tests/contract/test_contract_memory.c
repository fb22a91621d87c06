#include "tests/contract/contract.h"

#include "tests/test.h"

#include "store/api/host.h"

/* The contract suite on a host's own store. Its sessions are written through the calls that a host makes. */

#define ROW(id, role, text) "{\"id\":\"" id "\",\"role\":\"" role "\",\"text\":\"" text "\"}\n"

static void say(struct store *st, const char *id, const char *title, const char *rows)
{
    const struct host_create create = { .id = contract_text(id) };
    const struct host_setting setting = { SLICE("title"), contract_text(title) };
    struct host_append append = { 0 };
    struct host_created made;
    struct host_appended done;
    struct arena a = { 0 };
    struct slice *row;

    assert_int_equal(host_create(st, &create, &a, &made, NULL), ERR_OK);
    assert_int_equal(host_create(st, &create, &a, &made, NULL), ERR_STALE);
    const struct session_ref ref = { .store = st, .id = made.id, .path = made.path };

    assert_int_equal(host_rows(contract_text(rows), &a, &row, &append.n, NULL), ERR_OK);
    append.row = row;
    assert_int_equal(host_append(st, &ref, &append, &a, &done, NULL), ERR_OK);
    assert_int_equal(done.n, append.n);
    assert_int_equal(host_set(st, &ref, &setting, 1, NULL), ERR_OK);
    assert_int_equal(host_checkpoint(st, &ref, &(struct host_checkpoint){ .message = made.id }, &a,
                                     &(struct host_checkpointed){ .files = 0 }, NULL),
                     ERR_UNSUPPORTED);
    arena_fini(&a);
}

/* A store in memory is empty when it is opened, so it is filled then. */
static enum err_code open_filled(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    enum err_code rc = memory_store_ops.open(env, path, out, e);

    if (rc)
        return rc;
    say(*out, "first", "Mend the gate",
        ROW("m1", "user", "Mend the gate") ROW("m2", "assistant", "It creaks.") /**/
        ROW("m3", "user", "Oil it") ROW("m4", "assistant", "Done."));
    say(*out, "second", "Paint the fence",
        ROW("m5", "user", "Paint the fence") ROW("m6", "assistant", "In green."));
    say(*out, "third", "Yard", ROW("m7", "user", "Sweep the yard"));
    return ERR_OK;
}

static void make(const struct folder *f)
{
    folder_dir(f, "memory");
}

static const struct contract_session sessions[] = {
    { .id = "first", .title = "Mend the gate", .rows = 4, .messages = 4 },
    { .id = "second", .title = "Paint the fence", .rows = 2, .messages = 2 },
    { .id = "third", .title = "Yard", .rows = 1, .messages = 1 },
};

TEST_MAIN
{
    struct store_ops ops = memory_store_ops;
    const struct contract_system memory = {
        .ops = &ops,
        .store = "memory",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = "fourth",
        .shared = true,
        .bare = true,
    };

    ops.open = open_filled;
    ops.fork = NULL; /* it is made at once: see test_memory_store.c */
    return contract_run(&memory);
}
