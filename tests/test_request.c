#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/tidy/request.h"

/* A system that answers what the test wants. */
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

static enum err_code ask(const struct store_ops *of, enum live_state state, unsigned what,
                         struct trash_request *out, struct err *e)
{
    static char path[] = "/a.jsonl";
    struct fake st = { { .ops = of, .path = path }, { state, 42, false, "it runs" } };
    struct session_ref ref = { .store = &st.base, .id = SLICE("a"), .path = SLICE("/a.jsonl") };
    struct arena a = { 0 };

    enum err_code rc = trash_request_of(&ref, SLICE("A title"), what, &a, out, e);

    arena_fini(&a);
    return rc;
}

static void a_quiet_session_may_go_with_all_its_parts(void **state)
{
    (void)state;
    struct trash_request r;

    assert_int_equal(ask(&ops, LIVE_QUIET, REQUEST_ALL, &r, NULL), ERR_OK);
    assert_int_equal(r.parts, 2);
    assert_string_equal(r.system, "fake");
    assert_true(slice_eq(r.title, SLICE("A title")));
    assert_int_equal(ask(&ops, LIVE_QUIET, REQUEST_OWN, &r, NULL), ERR_OK);
    assert_int_equal(r.parts, 1);
}

static void what_may_be_running_stays(void **state)
{
    (void)state;
    struct trash_request r;
    struct err e = { 0 };

    assert_int_equal(ask(&ops, LIVE_RUNNING, REQUEST_ALL, &r, &e), ERR_LOCKED);
    assert_non_null(strstr(e.text, "process 42 may be writing to it (it runs)"));
    assert_int_equal(ask(&ops, LIVE_UNKNOWN, REQUEST_ALL, &r, &e), ERR_LOCKED);
}

static void only_what_is_not_known_can_be_consented_to(void **state)
{
    (void)state;
    struct trash_request r;

    assert_int_equal(ask(&ops, LIVE_UNKNOWN, REQUEST_ALL | REQUEST_UNSURE, &r, NULL), ERR_OK);
    assert_int_equal(r.parts, 2);
    assert_int_equal(ask(&ops, LIVE_RUNNING, REQUEST_ALL | REQUEST_UNSURE, &r, NULL), ERR_LOCKED);
}

static void a_system_that_cannot_delete_says_so(void **state)
{
    (void)state;
    struct trash_request r;

    assert_int_equal(ask(&keeps, LIVE_QUIET, REQUEST_ALL, &r, NULL), ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_session_may_go_with_all_its_parts),
        cmocka_unit_test(what_may_be_running_stays),
        cmocka_unit_test(only_what_is_not_known_can_be_consented_to),
        cmocka_unit_test(a_system_that_cannot_delete_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
