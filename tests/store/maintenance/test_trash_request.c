#include "tests/test.h"

#include "store/maintenance/trash.h"

/* A system whose replies the test sets. */
struct fake {
    struct store base;
    struct live live;
};

static enum err_code fake_live(const struct store *st, const struct session_ref *ref,
                               struct live *out, struct err *e)
{
    (void)ref;
    (void)e;
    *out = ((const struct fake *)st)->live;
    return ERR_OK;
}

static enum err_code fake_parts(const struct store *st, const struct session_ref *ref, bool all,
                                struct arena *a, const char ***part, size_t *n, struct err *e)
{
    (void)st;
    (void)e;
    *part = arena_zalloc(a, 2 * sizeof **part);
    assert_non_null(*part);
    (*part)[0] = ref->path.p;
    (*part)[1] = "/nowhere";
    *n = all ? 2 : 1;
    return ERR_OK;
}

static const struct store_ops ops = { .name = "fake", .parts = fake_parts, .live = fake_live };
static const struct store_ops keeps = { .name = "keeps" };
static const struct store_env env = { .now_ms = 1800000000000 };

static enum err_code ask(const struct store_ops *of, enum live_state state, unsigned what,
                         struct trash_request *out, struct err *e)
{
    static char path[] = "/a.jsonl";
    struct fake st = { { .ops = of, .env = &env, .path = path }, { state, 42, false, "it runs" } };
    struct session_ref ref = { .store = &st.base, .id = SLICE("a"), .path = SLICE("/a.jsonl") };
    struct arena a = { 0 };

    enum err_code rc = trash_request_make(&ref, SLICE("A title"), what, &a, out, e);

    arena_fini(&a);
    return rc;
}

TEST(a_quiet_session_may_be_deleted_with_all_its_parts)
{
    struct trash_request r;

    assert_int_equal(ask(&ops, LIVE_QUIET, TRASH_REQUEST_ALL, &r, NULL), ERR_OK);
    assert_int_equal(r.parts, 2);
    assert_string_equal(r.system, "fake");
    assert_true(slice_eq(r.title, SLICE("A title")));
    assert_int_equal(ask(&ops, LIVE_QUIET, TRASH_REQUEST_OWN, &r, NULL), ERR_OK);
    assert_int_equal(r.parts, 1);
}

TEST(a_session_that_may_be_running_is_kept)
{
    struct trash_request r;
    struct err e = { 0 };

    assert_int_equal(ask(&ops, LIVE_RUNNING, TRASH_REQUEST_ALL, &r, &e), ERR_LOCKED);
    assert_non_null(strstr(e.text, "process 42 may be writing to it (it runs)"));
    assert_int_equal(ask(&ops, LIVE_UNKNOWN, TRASH_REQUEST_ALL, &r, &e), ERR_LOCKED);
}

TEST(only_an_unknown_state_can_be_consented_to)
{
    struct trash_request r;

    assert_int_equal(ask(&ops, LIVE_UNKNOWN, TRASH_REQUEST_ALL | TRASH_REQUEST_UNSURE, &r, NULL),
                     ERR_OK);
    assert_int_equal(r.parts, 2);
    assert_int_equal(ask(&ops, LIVE_RUNNING, TRASH_REQUEST_ALL | TRASH_REQUEST_UNSURE, &r, NULL),
                     ERR_LOCKED);
}

/* The second of three is running, whichever operation its system has for that. */
static enum err_code second_runs(const struct store *st, const struct session_ref *const ref[],
                                 size_t n, struct live out[], struct err *e)
{
    (void)st;
    (void)e;
    for (size_t i = 0; i < n; i++)
        out[i] =
            (struct live){ .state = slice_eq(ref[i]->id, SLICE("b")) ? LIVE_RUNNING : LIVE_QUIET };
    return ERR_OK;
}

TEST(the_first_session_that_blocks_the_deletion_is_named)
{
    const struct store_ops many = { .name = "many", .parts = fake_parts, .live_many = second_runs };
    char path[] = "/a.jsonl";
    struct fake st = { { .ops = &many, .env = &env, .path = path },
                       { LIVE_QUIET, 0, false, NULL } };
    struct fake slow = { { .ops = &ops, .env = &env, .path = path },
                         { LIVE_QUIET, 0, false, NULL } };
    struct session_ref a = { .store = &st.base, .id = SLICE("a"), .path = SLICE("/a.jsonl") },
                       b = a, c = a;
    const struct session_ref *ref[] = { &a, &b, &c };
    const struct slice title[] = { SLICE("A"), SLICE("B"), SLICE("C") };
    struct arena arena = { 0 };
    struct trash_request r[3];
    size_t failed = 9;

    b.id = SLICE("b");
    c.id = SLICE("c");
    assert_int_equal(
        trash_request_make_all(ref, title, 3, TRASH_REQUEST_ALL, &arena, r, &failed, NULL),
        ERR_LOCKED);
    assert_int_equal(failed, 1);
    b.store = &slow.base; /* its system reports it as quiet */
    assert_int_equal(
        trash_request_make_all(ref, title, 3, TRASH_REQUEST_ALL, &arena, r, &failed, NULL), ERR_OK);
    assert_string_equal(r[0].system, "many");
    assert_string_equal(r[1].system, "fake");
    assert_true(slice_eq(r[2].title, SLICE("C")));
    arena_fini(&arena);
}

TEST(a_system_without_deletion_is_refused)
{
    struct trash_request r;

    assert_int_equal(ask(&keeps, LIVE_QUIET, TRASH_REQUEST_ALL, &r, NULL), ERR_UNSUPPORTED);
}
