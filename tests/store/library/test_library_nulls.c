#include "tests/test.h"

#include <string.h>

#include "store/library/reprise.h"
#include "support/scratch.h"

/* Every function of the library with NULL: library_nulls.inc is made of reprise.h by library_nulls.py, so that a new
 * function is tested as well. */

/* A call that must be refused, and one of which any result is fine as long as it returns. */
#define REFUSED(call) TWICE(call, assert_int_equal(rc, REPRISE_USAGE))
#define ANY(call) TWICE(call, assert_in_range(rc, REPRISE_OK, REPRISE_CANCELLED))
#define TWICE(call, check)                                                                         \
    for (int i = 0; i < 2; i++) {                                                                  \
        struct reprise_error e, *error = i ? NULL : &e;                                            \
                                                                                                   \
        memset(&e, 'x', sizeof e);                                                                 \
        int rc = call;                                                                             \
                                                                                                   \
        check;                                                                                     \
        assert_true(i || rc == REPRISE_OK || (e.code == rc && e.message[0]));                      \
    }

IN_SCRATCH(every_function_refuses_null)
{
    char home[4200];
    const char *environment[] = { home, NULL };
    const struct reprise_options o = {
        .size = sizeof o, .system = "memory", .directory = "/", .environment = environment
    };
    struct reprise *R = NULL;
    struct reprise_session *S = NULL;

    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    assert_int_equal(reprise_open(&o, &R, NULL), REPRISE_OK);
    assert_int_equal(reprise_create(R, NULL, &S, NULL), REPRISE_OK);
#include "library_nulls.inc"
    reprise_session_close(S);
    reprise_close(R);
}

/* NULL as an element of a list, and a length that no text has. */
IN_SCRATCH(elements_of_lists_are_checked)
{
    char home[4200];
    const char *environment[] = { home, NULL }, *none[] = { NULL };
    const struct reprise_options o = {
        .size = sizeof o, .system = "memory", .directory = "/", .environment = environment
    };
    struct reprise *r = NULL;
    struct reprise_session *s = NULL;
    struct reprise_rewind *w = NULL;
    const struct reprise_checkpoint_request absent = { .size = sizeof absent,
                                                       .message = "m",
                                                       .files_count = 1 };
    const struct reprise_checkpoint_request empty = {
        .size = sizeof empty, .message = "m", .files = none, .files_count = 1
    };
    const struct reprise_rewind_options files = { .size = sizeof files,
                                                  .files = none,
                                                  .files_count = 1 };

    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    assert_int_equal(reprise_open(&o, &r, NULL), REPRISE_OK);
    assert_int_equal(reprise_create(r, NULL, &s, NULL), REPRISE_OK);
    assert_int_equal(reprise_set(s, none, 1, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_checkpoint(s, &absent, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_checkpoint(s, &empty, NULL, NULL), REPRISE_USAGE);
    assert_int_not_equal(reprise_rewind_plan(s, "m", &files, &w, NULL), REPRISE_OK);
    assert_int_equal(reprise_append(s, "{}", (size_t)1 << 62, 0, NULL, NULL), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(r);
}
