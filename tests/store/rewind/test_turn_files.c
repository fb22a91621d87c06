#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "store/api/store.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/turn_files.h"
#include "tests/support/rewind_fixture.h"

/* The files of a project as they were at the points of a session. */

struct turn_place {
    struct rewind_fixture g;
    struct store store;
    struct store_ops ops;
    struct session_ref ref;
    struct turn_files files;
};

static void turn_place_begin(struct turn_place *p)
{
    rewind_fixture_begin(&p->g);
    rewind_fixture_store(&p->g, &p->store, &p->ops);
    p->ref = (struct session_ref){ .store = &p->store, .id = SLICE("s"), .path = SLICE("") };
}

static void turn_place_end(struct turn_place *p)
{
    turn_files_fini(&p->files);
    rewind_fixture_end(&p->g);
}

static const struct turn_file *turn_place_file(const struct turn_place *p, const char *path)
{
    for (size_t i = 0; i < p->files.n; i++)
        if (slice_eq(p->files.file[i].path, slice_of(path)))
            return &p->files.file[i];
    return NULL;
}

static void turn_place_read(struct turn_place *p, const char *a, const char *b)
{
    const struct slice point[2] = { slice_of(a), slice_of(b) };
    struct err e = { 0 };

    turn_files_fini(&p->files);
    assert_int_equal(turn_files_read(&p->ref, point, &p->files, &e), ERR_OK);
}

TEST(a_file_that_a_turn_made_or_removed_exists_on_one_side)
{
    struct turn_place p = { .g = { .home = "" } };

    turn_place_begin(&p);
    char *before = rewind_fixture_image(&p.g);

    turn_place_read(&p, "p1", "");
    const struct turn_file *made = turn_place_file(&p, "src/keys.c"),
                           *gone = turn_place_file(&p, "src/gone.c"),
                           *same = turn_place_file(&p, "same.c");

    assert_non_null(made);
    assert_true(made->differs && !made->state[0].exists && made->state[1].exists);
    assert_non_null(gone);
    assert_true(gone->differs && gone->state[0].exists && !gone->state[1].exists);
    assert_non_null(same);
    assert_false(same->differs);
    assert_non_null(turn_place_file(&p, "src/pay.c"));
    assert_true(turn_place_file(&p, "src/pay.c")->state[0].text.n > 0);

    /* Outside of the project by its whole path; nothing of git. */
    char outside[4200];

    snprintf(outside, sizeof outside, "%s/other/notes.txt", p.g.home);
    assert_non_null(turn_place_file(&p, outside));
    for (size_t i = 0; i < p.files.n; i++)
        assert_false(slice_starts(p.files.file[i].path, ".git/") && !p.files.file[i].was_planned);

    /* Nothing was written. */
    char *after = rewind_fixture_image(&p.g);

    assert_string_equal(before, after);
    free(before);
    free(after);
    turn_place_end(&p);
}

TEST(two_turns_differ_by_what_was_between_them)
{
    struct turn_place p = { .g = { .home = "" } };

    turn_place_begin(&p);
    turn_place_read(&p, "p1", "p2");
    assert_true(turn_place_file(&p, "src/keys.c")->differs); /* p2 does not change it: as now */
    turn_place_read(&p, "p2", "p2");
    for (size_t i = 0; i < p.files.n; i++)
        assert_false(p.files.file[i].differs);
    turn_place_end(&p);
}

/* What a turn changes in `same.c`, which is not shown: it is binary, or too large. */
static struct slice unshown;

static enum err_code plan_unshown(const struct store *st, const struct session_ref *ref,
                                  struct slice point, struct rewind_plan *out, struct err *e)
{
    struct rewind_plan p = { .system = "claude", .session = "s", .point = "p1" };
    struct rewind_target t = { .want = REWIND_BYTES, .source = { .bytes = unshown } };

    (void)ref, (void)point, (void)e;
    p.root = arena_format(&p.arena, "%s/ws", st->path);
    t.path = arena_format(&p.arena, "%s/ws/same.c", st->path);
    if (unshown.p)
        assert_int_equal(rewind_plan_add(&p, &t, NULL), ERR_OK);
    *out = p;
    return ERR_OK;
}

TEST(turns_that_changed_no_file_show_those_of_the_project)
{
    struct turn_place p = { .g = { .home = "" } };

    turn_place_begin(&p);
    p.ops.plan = plan_unshown;
    unshown = (struct slice){ NULL, 0 };
    turn_place_read(&p, "p1", "p2");
    assert_non_null(turn_place_file(&p, "same.c"));
    assert_false(turn_place_file(&p, "same.c")->differs);
    turn_place_end(&p);
}

TEST(what_is_not_shown_differs_by_its_bytes)
{
    static char large[5 << 20];
    const struct {
        struct slice was, is;
        bool differs;
    } cases[] = {
        { SLICE("a\0b"), SLICE("a\0c"), true },
        { SLICE("a\0b"), SLICE("a\0b"), false },
        { SLICE("a\0b"), SLICE("a\0bc"), true },
        { SLICE("a\0b"), SLICE("text"), true },
        { { large, sizeof large }, { large, sizeof large - 1 }, true },
        { { large, sizeof large }, { large, sizeof large }, false },
    };

    memset(large, 'x', sizeof large);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct turn_place p = { .g = { .home = "" } };

        turn_place_begin(&p);
        p.ops.plan = plan_unshown;
        unshown = cases[i].was;
        folder_put(&p.g.folder, "home/ws/same.c", cases[i].is);
        turn_place_read(&p, "p1", "");
        assert_non_null(turn_place_file(&p, "same.c"));
        assert_int_equal(turn_place_file(&p, "same.c")->differs, cases[i].differs);
        turn_place_end(&p);
    }
}

TEST(what_is_no_text_is_not_shown)
{
    AUTO_BUF text = { 0 };
    const char *why = NULL;
    struct err e = { 0 };

    assert_int_equal(turn_files_read_present("/dev/zero", &text, &why, &e), ERR_OK);
    assert_string_equal(why, "it is not a regular file");
    assert_int_equal(turn_files_read_present("/nonexistent/file", &text, &why, &e), ERR_NOT_FOUND);
}
