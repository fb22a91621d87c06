#include "tests/test.h"

#include "lite/base/time.h"
#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"

/* A file that a later turn found is proved by what the session read before the point, unless something may have changed
 * it in between. */

enum { POINT = 100, FOUND = 200 };

/* A store whose session has these records. */
struct recorded {
    struct store store;
    struct store_ops ops;
    const struct edit *edit;
    size_t n;
    enum err_code rc; /* after them */
};

static enum err_code report(const struct store *st, const struct session_ref *ref,
                            const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    const struct recorded *r = (const struct recorded *)st;
    enum err_code rc = ERR_OK;

    (void)ref;
    assert_true(q->reads);
    for (size_t i = 0; i < r->n && !rc; i++)
        if (edit_wanted(q, &r->edit[i]))
            rc = fn(&r->edit[i], arg, e);
    return rc ? rc : r->rc;
}

/* Returns true if the records show that the file was "text\n" at the point (or absent, if that is wanted). */
static bool is_proved(enum rewind_want want, const struct edit *edit, size_t n, enum err_code after)
{
    struct recorded r = { .edit = edit, .n = n, .rc = after };
    struct session_ref ref = { .store = &r.store };
    struct rewind_plan plan = { .point = "p", .point_ms = POINT };
    struct rewind_target t = { .path = "/w/d/f",
                               .want = want,
                               .source = { .bytes = SLICE("text\n") },
                               .found_ms = FOUND,
                               .is_late = true };

    r.ops.edits = report;
    r.store.ops = &r.ops;
    assert_int_equal(rewind_plan_add(&plan, &t, NULL), ERR_OK);
    assert_int_equal(rewind_check_seen(&ref, &plan, NULL), ERR_OK);
    bool proved = !plan.target[0].is_late;

    rewind_plan_fini(&plan);
    return proved;
}

static struct edit read_at(int64_t ms, const char *text)
{
    return (struct edit){ .kind = EDIT_SEEN,
                          .path = "/w/d/f",
                          .time_ms = ms,
                          .after_known = text ? EDIT_TEXT : EDIT_ABSENT,
                          .after = { text, text ? strlen(text) : 0 } };
}

static struct edit change_at(int64_t ms, enum edit_kind kind, const char *path)
{
    return (struct edit){ .kind = kind, .path = path, .time_ms = ms };
}

TEST(a_read_before_the_point_proves_the_same_bytes)
{
    const struct edit same = read_at(50, "text"), other = read_at(50, "else"),
                      late = read_at(150, "text"), untimed = read_at(TIME_NONE, "text"),
                      gone = read_at(50, NULL);

    assert_true(is_proved(REWIND_BYTES, &same, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &other, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &late, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &untimed, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &gone, 1, ERR_OK));
    assert_true(is_proved(REWIND_ABSENT, &gone, 1, ERR_OK));
    assert_false(is_proved(REWIND_ABSENT, &same, 1, ERR_OK));
}

TEST(a_change_after_the_read_takes_its_proof_away)
{
    const struct edit file[] = { read_at(50, "text"), change_at(60, EDIT_WRITE, "/w/d/f") };
    const struct edit above[] = { read_at(50, "text"), change_at(60, EDIT_DELETE, "/w/d") };
    const struct edit beside[] = { read_at(50, "text"), change_at(60, EDIT_WRITE, "/w/d/g") };

    assert_false(is_proved(REWIND_BYTES, file, 2, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, above, 2, ERR_OK));
    assert_true(is_proved(REWIND_BYTES, beside, 2, ERR_OK));
}

TEST(an_older_read_of_a_sub_agent_that_is_reported_later_proves_nothing)
{
    const struct edit edits[] = { change_at(60, EDIT_WRITE, "/w/d/f"), read_at(50, "text") };

    assert_false(is_proved(REWIND_BYTES, edits, 2, ERR_OK));
}

TEST(records_that_cannot_all_be_read_prove_nothing)
{
    const struct edit same = read_at(50, "text");

    assert_false(is_proved(REWIND_BYTES, &same, 1, ERR_IO));
}
