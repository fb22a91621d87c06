#include "tests/test.h"

#include <stdlib.h>

#include "store/api/store.h"
#include "store/rewind/plan/plan.h"
#include "tests/support/folder.h"

/* Undoing one turn alone. A file has three texts: before the turn, after it, and now. NULL: no file. */
#define LINES(a, b) a "\n2\n3\n4\n5\n6\n7\n" b "\n"

struct place {
    struct folder folder;
    struct store_env env;
    struct store_ops ops;
    struct store store;
    struct session_ref ref;
    struct rewind_plan plan;
    struct rewind_preview preview;
    const char *found, *left;
    char file[4096], root[4096], state[4096];
    bool newest; /* no point follows, so the state after the turn is the session's last */
};

static enum err_code checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    const struct place *p = (const void *)((const char *)st - offsetof(struct place, store));

    (void)ref;
    (void)e;
    out->checkpoint = arena_zalloc(&out->arena, 2 * sizeof *out->checkpoint);
    out->checkpoint[0].id = SLICE("p1");
    out->checkpoint[1].id = SLICE("p2");
    out->n = p->newest ? 1 : 2;
    return ERR_OK;
}

static struct rewind_source source(const char *text)
{
    return (struct rewind_source){ .bytes = { text, text ? strlen(text) : 0 } };
}

static enum err_code plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    const struct place *p = (const void *)((const char *)st - offsetof(struct place, store));
    const char *text = slice_eq(point, SLICE("p1")) ? p->found : p->left;
    struct rewind_target t = { .path = p->file,
                               .want = text ? REWIND_BYTES : REWIND_ABSENT,
                               .source = source(text),
                               .has_last = true,
                               .last_absent = !p->left,
                               .last = source(p->left) };

    (void)ref;
    *out = (struct rewind_plan){ .system = "fake", .session = "s", .root = p->root };
    out->point = arena_copy(&out->arena, point).p;
    return rewind_plan_add(out, &t, e);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    assert_non_null(p);
    folder_make(&p->folder);
    folder_dir(&p->folder, "ws");
    folder_path(&p->folder, "ws", p->root);
    folder_path(&p->folder, "ws/file", p->file);
    folder_path(&p->folder, "state", p->state);
    p->env = (struct store_env){ .state_dir = p->state, .now_ms = 1800000000000 };
    p->ops = (struct store_ops){ .name = "fake", .checkpoints = checkpoints, .plan = plan };
    p->store = (struct store){ .ops = &p->ops, .env = &p->env, .path = p->root };
    p->ref = (struct session_ref){ .store = &p->store, .id = SLICE("s"), .path = SLICE("s") };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    rewind_preview_fini(&p->preview);
    rewind_plan_fini(&p->plan);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

/* The only entry of the preview; NULL: the turn has nothing to undo. */
static const struct rewind_entry *look(struct place *p, const char *found, const char *left,
                                       const char *present)
{
    static const struct rewind_options none;

    p->found = found;
    p->left = left;
    if (present)
        folder_put(&p->folder, "ws/file", slice_of(present));
    assert_int_equal(rewind_plan_make(&p->ref, SLICE("p1"), REWIND_TURN, &p->plan, NULL), ERR_OK);
    assert_int_equal(rewind_preview(&p->plan, &none, &p->preview, NULL), ERR_OK);
    assert_true(p->preview.n <= 1);
    return p->preview.n ? &p->preview.entry[0] : NULL;
}

static void apply(struct place *p)
{
    struct rewind_result result;

    assert_int_equal(rewind_apply(&p->env, &p->preview, &result, NULL), ERR_OK);
    assert_int_equal(result.conflicts, 0);
    rewind_result_fini(&result);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(later_work_stays)
{
    struct place *p = *state;
    const struct rewind_entry *x =
        look(p, LINES("old", "8"), LINES("new", "8"), LINES("new", "later"));

    assert_int_equal(x->action, REWIND_RESTORE);
    assert_int_equal(x->insertions, 1);
    assert_int_equal(x->deletions, 1);
    apply(p);
    assert_true(folder_is(&p->folder, "ws/file", LINES("old", "later")));
}

CASE(the_newest_turn_ends_at_the_sessions_last_state)
{
    struct place *p = *state;

    p->newest = true;
    assert_int_equal(look(p, LINES("old", "8"), LINES("new", "8"), LINES("new", "mine"))->action,
                     REWIND_RESTORE);
    apply(p);
    assert_true(folder_is(&p->folder, "ws/file", LINES("old", "mine")));
}

CASE(the_same_lines_changed_again_are_a_conflict)
{
    struct place *p = *state;
    const struct rewind_entry *x =
        look(p, LINES("old", "8"), LINES("new", "8"), LINES("newer", "8"));

    assert_int_equal(x->action, REWIND_REFUSED);
    assert_int_equal(x->rule, REWIND_RULE_CONFLICT);
    assert_non_null(strstr(x->why, "later changes overlap"));
}

CASE(a_file_created_by_the_turn_is_removed)
{
    struct place *p = *state;

    assert_int_equal(look(p, NULL, "made\n", "made\n")->action, REWIND_DELETE);
    apply(p);
    assert_false(folder_has(&p->folder, "ws/file"));
}

CASE(a_created_file_with_later_work_stays)
{
    struct place *p = *state;

    assert_int_equal(look(p, NULL, "made\n", "made\nand more\n")->rule, REWIND_RULE_CONFLICT);
}

CASE(a_file_removed_by_the_turn_is_restored)
{
    struct place *p = *state;

    assert_int_equal(look(p, "was\n", NULL, NULL)->action, REWIND_CREATE);
    apply(p);
    assert_true(folder_is(&p->folder, "ws/file", "was\n"));
}

CASE(a_different_file_at_the_path_stays)
{
    struct place *p = *state;

    assert_int_equal(look(p, "was\n", NULL, "mine\n")->rule, REWIND_RULE_CONFLICT);
}

CASE(a_turn_already_undone_needs_no_work)
{
    struct place *p = *state;

    assert_null(look(p, LINES("old", "8"), LINES("new", "8"), LINES("old", "8")));
}

CASE(files_of_other_turns_are_not_included)
{
    struct place *p = *state;

    assert_null(look(p, "same\n", "same\n", "later\n"));
}

CASE(a_save_before_the_preview_is_held_back)
{
    struct place *p = *state;
    static const struct rewind_options none;

    look(p, LINES("old", "8"), LINES("new", "8"), LINES("new", "later"));
    rewind_preview_fini(&p->preview);
    folder_put(&p->folder, "ws/file", SLICE("saved meanwhile\n"));
    assert_int_equal(rewind_preview(&p->plan, &none, &p->preview, NULL), ERR_OK);
    assert_int_equal(p->preview.entry[0].rule, REWIND_RULE_EDITED);
}
