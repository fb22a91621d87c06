#include "tests/test.h"

#include "store/rewind/plan/plan.h"
#include "support/rewind/rewind_case.h"

/* What the id of an earlier plan shows about later changes. */

enum { FILES = 40 };

static const char *name_of(size_t i, char out[64])
{
    snprintf(out, 64, "ws/dir%zu/file%zu", i % 7, i);
    return out;
}

static void plan_many(struct rewind_case *p)
{
    char name[64];

    for (size_t i = 0; i < FILES; i++) {
        if (i % 4)
            folder_put(&p->folder, name_of(i, name), SLICE("present\n"));
        want_in(p, name_of(i, name), i % 5 ? "old\n" : NULL);
    }
    assert_int_equal(look(p), ERR_OK);
}

static void save(struct rewind_case *p, size_t i, const char *text)
{
    char name[64];

    folder_put(&p->folder, name_of(i, name), slice_of(text));
}

/* Takes the id as it was shown, then makes one more preview. */
static size_t changed_since(struct rewind_case *p, const char *shown,
                            size_t which[PLANID_CHANGED_MAX])
{
    assert_int_equal(look(p), ERR_OK);
    return planid_changed(&p->preview, shown, which);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_single_changed_file_is_named)
{
    struct rewind_case *p = *state;
    size_t which[PLANID_CHANGED_MAX];
    char shown[65];

    plan_many(p);
    for (size_t i = 0; i < FILES; i++) {
        memcpy(shown, p->preview.id, sizeof shown);
        save(p, i, "by hand\n");
        assert_int_equal(changed_since(p, shown, which), 1);
        assert_int_equal(which[0], i);
        assert_false(planid_same_files(&p->preview, shown));
    }
}

CASE(two_changed_files_are_named)
{
    struct rewind_case *p = *state;
    size_t which[PLANID_CHANGED_MAX];
    char shown[65];

    plan_many(p);
    for (size_t i = 1; i < FILES; i += 3) {
        memcpy(shown, p->preview.id, sizeof shown);
        save(p, 0, i % 2 ? "this\n" : "that\n");
        save(p, i, "by hand\n");
        assert_int_equal(changed_since(p, shown, which), 2);
        assert_int_equal(which[0], 0);
        assert_int_equal(which[1], i);
    }
}

CASE(more_changed_files_are_not_named)
{
    struct rewind_case *p = *state;
    size_t which[PLANID_CHANGED_MAX];
    char shown[65];

    plan_many(p);
    memcpy(shown, p->preview.id, sizeof shown);
    assert_int_equal(planid_changed(&p->preview, shown, which), 0);
    assert_true(planid_same_files(&p->preview, shown));
    for (size_t i = 0; i < FILES; i++) {
        save(p, i, "by hand\n");
        if (i > 1)
            assert_int_equal(changed_since(p, shown, which), 0);
    }
    assert_false(planid_same_files(&p->preview, shown));
}

/* Options decide what is done, not what is on disk. */
CASE(other_options_are_another_plan_of_the_same_files)
{
    struct rewind_case *p = *state;
    const struct rewind_options none = { 0 };
    size_t which[PLANID_CHANGED_MAX];
    char shown[65];

    want(p, p->f, "old\n");
    p->plan.target[0].has_last = p->plan.target[0].last_absent = true;
    assert_int_equal(look(p), ERR_OK);
    memcpy(shown, p->preview.id, sizeof shown);
    rewind_preview_fini(&p->preview);
    assert_int_equal(rewind_preview(&p->plan, &none, &p->preview, NULL), ERR_OK);
    assert_string_not_equal(p->preview.id, shown);
    assert_true(planid_same_files(&p->preview, shown));
    assert_int_equal(planid_changed(&p->preview, shown, which), 0);
}

CASE(an_invalid_id_yields_nothing)
{
    static const char *const no_ids[] = {
        "", "0123", "zz23456789012345678901234567890123456789012345678901234567890123",
        "01234567890123456789012345678901234567890123456789012345678901234"
    };
    struct rewind_case *p = *state;
    size_t which[PLANID_CHANGED_MAX];

    plan_many(p);
    for (size_t i = 0; i < sizeof no_ids / sizeof *no_ids; i++) {
        assert_int_equal(planid_changed(&p->preview, no_ids[i], which), 0);
        assert_false(planid_same_files(&p->preview, no_ids[i]));
    }
}
