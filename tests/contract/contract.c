#include "tests/contract/contract.h"

#include "tests/test.h"

#include <stdlib.h>

enum { CASES_MAX = 64 };

struct slice contract_text(const char *s)
{
    return slice_of(s);
}

struct session_ref contract_find(struct contract *c, const struct contract_session *s)
{
    struct session_ref ref;
    struct err e = { 0 };

    if (c->ops->find(c->store, &c->scope, contract_text(s->id), &c->arena, &ref, &e))
        fail_msg("%s: %s", s->id, e.text);
    return ref;
}

struct looking {
    struct slice id;
    size_t seen, all;
};

static bool look(const struct session_ref *ref, void *arg)
{
    struct looking *l = arg;

    l->all++;
    l->seen += slice_eq(ref->id, l->id);
    return true;
}

static struct looking look_through(struct contract *c, struct slice id)
{
    struct looking l = { .id = id };

    assert_int_equal(c->ops->enumerate(c->store, &c->scope, look, &l, NULL), ERR_OK);
    assert_true(l.seen <= 1);
    return l;
}

bool contract_lists(struct contract *c, struct slice id)
{
    return look_through(c, id).seen == 1;
}

size_t contract_count(struct contract *c)
{
    return look_through(c, (struct slice){ NULL, 0 }).all;
}

struct session_row *contract_describe(struct contract *c, const struct contract_session *s)
{
    struct session_row *row = session_row_new();
    struct session_ref ref = contract_find(c, s);

    assert_non_null(row);
    assert_int_equal(c->ops->describe(c->store, &c->scope, &ref, row, NULL), ERR_OK);
    return row;
}

struct transcript *contract_load(struct contract *c, const struct session_ref *ref)
{
    struct transcript *t;
    struct err e = { 0 };

    if (c->ops->load(c->store, ref, NULL, &t, &e))
        fail_msg("%.*s: %s", SLICE_ARG(ref->id), e.text);
    return t;
}

char *contract_image(struct contract *c)
{
    return folder_image(&c->folder, c->system->store);
}

static void open_store(struct contract *c)
{
    struct err e = { 0 };

    folder_path(&c->folder, c->system->store, c->root);
    folder_path(&c->folder, "home", c->home);
    folder_path(&c->folder, "state", c->state);
    folder_path(&c->folder, "data", c->data);
    folder_dir(&c->folder, "home");
    c->env = (struct store_env){ .home = c->home,
                                 .proc_dir = c->home,
                                 .etc_dir = c->home,
                                 .cwd = c->folder.path,
                                 .state_dir = c->state,
                                 .data_dir = c->data,
                                 .now_ms = 1800000000000 };
    c->scope.all = true;
    if (c->ops->open(&c->env, c->root, &c->store, &e))
        fail_msg("%s: %s", c->root, e.text);
    assert_int_equal(change_log_open(&c->env, &c->log, NULL), ERR_OK);
}

struct run {
    const struct contract_system *system;
    const struct contract_case *which;
    struct contract c;
};

/* Every case has a store of its own, which is removed afterwards, even if the case is skipped or fails. */
static int set_up(void **state)
{
    struct run *run = *state;

    run->c = (struct contract){ .system = run->system, .ops = run->system->ops };
    folder_make(&run->c.folder);
    run->system->make(&run->c.folder);
    open_store(&run->c);
    return 0;
}

static void run_case(void **state)
{
    struct run *run = *state;

    run->which->run(&run->c);
}

static int tear_down(void **state)
{
    struct run *run = *state;

    change_log_close(run->c.log);
    store_close(run->c.store);
    arena_fini(&run->c.arena);
    folder_remove(&run->c.folder);
    return 0;
}

static int run_tables(const struct contract_system *system,
                      const struct contract_case *const table[], size_t tables)
{
    static struct run run[CASES_MAX];
    struct CMUnitTest test[CASES_MAX];
    size_t n = 0;

    for (size_t t = 0; t < tables; t++)
        for (const struct contract_case *k = table[t]; k->name && n < CASES_MAX; k++, n++) {
            run[n] = (struct run){ .system = system, .which = k };
            test[n] = (struct CMUnitTest){ .name = k->name,
                                           .test_func = run_case,
                                           .setup_func = set_up,
                                           .teardown_func = tear_down,
                                           .initial_state = &run[n] };
        }
    return _cmocka_run_group_tests(system->ops->name, test, n, NULL, NULL);
}

int contract_run_reading(const struct contract_system *system)
{
    return run_tables(system, (const struct contract_case *const[]){ contract_reads }, 1);
}

int contract_run(const struct contract_system *system)
{
    const struct contract_case *const all[] = { contract_reads, contract_changes,
                                                contract_messages };

    return run_tables(system, all, sizeof all / sizeof *all);
}
