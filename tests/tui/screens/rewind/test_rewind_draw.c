#include "support/screen/rewind_screen_fixture.h"

typedef enum err_code plan_fn(const struct store *st, const struct session_ref *ref,
                              struct slice point, struct rewind_plan *out, struct err *e);

/* The look of the rewind view, the ways into and out of it, and its messages when there is nothing to show. */

#define CASE(name) TEST_WITH(name, rewind_screen_set_up, rewind_screen_tear_down)

CASE(from_a_message_its_turn_is_selected)
{
    struct rewind_screen *t = *state;

    screen_press(&t->s, "<Right>w");
    assert_non_null(strstr(screen_cursor_line(&t->s), "Add idempotency keys"));
    screen_press(&t->s, "<Esc>");
    assert_true(screen_has(&t->s, "conversation of"));
}

static enum err_code no_checkpoints(const struct store *st, const struct session_ref *ref,
                                    struct checkpoint_list *out, struct err *e)
{
    (void)st;
    (void)ref;
    (void)e;
    *out = (struct checkpoint_list){ .n = 0 };
    return ERR_OK;
}

CASE(a_session_without_points_shows_an_explanation)
{
    struct rewind_screen *t = *state;

    t->s.ops.checkpoints = no_checkpoints;
    screen_press(&t->s, "<C-x>w");
    assert_true(screen_has(&t->s, "This session has no checkpoints."));
    screen_press(&t->s, "a<Tab> hu<Esc><Esc>");
    assert_true(screen_has(&t->s, "type to filter"));
}

CASE(a_failure_is_shown_in_place_of_the_files)
{
    static const struct agent_hooks hooks; /* without copies of the agent, snapshots are left */
    struct rewind_screen *t = *state;

    t->s.ops.plan = NULL;
    t->s.ops.hooks = &hooks;
    screen_press(&t->s, "<C-x>w");
    assert_true(screen_has(&t->s, "this agent keeps no"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "apply: the preview failed"));
}

static enum err_code unsupported_checkpoints(const struct store *st, const struct session_ref *ref,
                                             struct checkpoint_list *out, struct err *e)
{
    (void)st;
    *out = (struct checkpoint_list){ .n = 0 };
    return err_set(e, ERR_UNSUPPORTED, ref->path.p, "list checkpoints: it keeps no copies");
}

/* The person sees what was tried, and with which session. */
CASE(of_what_an_agent_cannot_do_the_reason_alone_is_shown)
{
    struct rewind_screen *t = *state;

    t->s.ops.checkpoints = unsupported_checkpoints;
    screen_press(&t->s, "<C-x>w");
    assert_true(screen_has(&t->s, "it keeps no copies"));
    assert_false(screen_has(&t->s, "list checkpoints"));
}

CASE(unavailable_modes_are_explained)
{
    struct rewind_screen *t = *state;

    t->s.ops.plan_conversation = NULL;
    rewind_screen_go(t);
    screen_press(&t->s, "m");
    assert_true(screen_has(&t->s, "conversations of this agent cannot be"));
    assert_true(screen_has(&t->s, "dry run: nothing has been changed"));
}

/* ---- notes of a plan ---- */

static plan_fn *plain_plan; /* of the store in view */

static enum err_code with_notes(const struct store *st, const struct session_ref *ref,
                                struct slice point, struct rewind_plan *out, struct err *e)
{
    static const char *const notes[] = {
        "2 shell commands ran in this turn; their changes to other files cannot be rewound",
        "a copy that was evicted cannot be put back", "the fork's parent keeps the copies",
        "permissions are not recorded, and stay as they are"
    };
    enum err_code rc = plain_plan(st, ref, point, out, e);

    for (size_t i = 0; i < 4 && !rc; i++)
        rc = rewind_plan_note(out, notes[i], e);
    return rc;
}

CASE(all_notes_of_a_plan_are_shown_or_counted)
{
    struct rewind_screen *t = *state;

    plain_plan = t->s.ops.plan;
    t->s.ops.plan = with_notes;
    screen_resize(&t->s, 24, 80);
    rewind_screen_go(t);
    assert_true(screen_has(&t->s, "· 2 shell commands ran"));
    assert_true(screen_has(&t->s, "· a copy that was evicted"));
    assert_true(screen_has(&t->s, "· the fork's parent keeps"));
    assert_true(screen_has(&t->s, "· permissions are not"));
    screen_resize(&t->s, 16, 80);
    assert_true(screen_has(&t->s, "· 2 shell commands ran"));
    assert_true(screen_has(&t->s, "more"));
}

/* A reason that does not fit beside the diff of a narrow screen. */
static enum err_code with_doubt(const struct store *st, const struct session_ref *ref,
                                struct slice point, struct rewind_plan *out, struct err *e)
{
    enum err_code rc = plain_plan(st, ref, point, out, e);

    for (size_t i = 0; i < out->n && !rc; i++) {
        out->target[i].has_last = false;
        out->target[i].doubt = "another session changed it before this one first did";
    }
    return rc;
}

CASE(the_whole_reason_of_a_held_file_is_shown)
{
    struct rewind_screen *t = *state;

    plain_plan = t->s.ops.plan;
    t->s.ops.plan = with_doubt;
    rewind_screen_go(t);
    rewind_screen_to_file(t, "README.md");
    assert_true(screen_has(&t->s, "─ README.md ─"));
    assert_true(screen_has(&t->s, "another session changed it before"));
    assert_true(screen_has(&t->s, "first did"));
    assert_true(screen_has(&t->s, "@@ -1"));
    screen_press(&t->s, "<S-Tab>");
    rewind_screen_to_file(t, ".git/config");
    assert_true(screen_has(&t->s, "the file stays as it is"));
    screen_resize(&t->s, 24, 160);
    screen_press(&t->s, "<S-Tab>");
    rewind_screen_to_file(t, "README.md");
    assert_true(screen_has(&t->s, "─ another session changed it before this one first did ─"));
    assert_false(screen_has(&t->s, "─ README.md ─"));
}

CASE(inferred_files_have_a_key_if_there_are_any)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    assert_false(screen_has(&t->s, "i at the point"));
    screen_press(&t->s, "i");
    assert_true(screen_has(&t->s, "not needed: files are restored as of this turn anyway"));
    assert_true(screen_has(&t->s, "dry run: nothing has been changed"));

    plain_plan = t->s.ops.plan;
    t->s.ops.plan_inferred = with_notes;
    screen_resize(&t->s, 24, 130);
    screen_press(&t->s, "i");
    assert_true(screen_has(&t->s, "inferred state, dry run: nothing has been changed"));
    assert_true(screen_has(&t->s, "a copy that was evicted"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_true(screen_has(&t->s, "i at the point"));
    screen_press(&t->s, "i");
    assert_false(screen_has(&t->s, "inferred state, dry run"));
}

/* ---- layout ---- */

CASE(the_view_fits_eighty_columns)
{
    struct rewind_screen *t = *state;
    /* clang-format off */
    static const char want[] =
        " rewind  Fix the payment retry loop           dry run: nothing has been changed\n"
        "  Begin with the shop    3h     ✗ │ [ ] held README.md       edited since +0 -1\n"
        "▌ Add idempotency keys   2h  D 7f │ [ ] held .bashrc            sensitive +0 -1\n"
        "  Split the handler      1h $  1f │  -  held .git/config           not allowed\n"
        "                                  │ [ ] held ~/other/notes.txt    outside +1 -1\n"
        "                                  │▌[x] M src/pay.c                       +2 -2\n"
        "                                  │ [x] D src/keys.c                      +0 -2\n"
        "                                  │ [x] A src/gone.c                      +1 -0\n"
        "                                  │     1 unchanged\n"
        "                                  ├─ src/pay.c ───────────────────── hunk 1/2 ──\n"
        "                                  │ @@ -1,5 +1,5 @@                         [x]\n"
        "                                  │    1   /* 1 */\n"
        "                                  │    2 - bool seen(struct slice key);\n"
        "                                  │    2 + int seen(const char *key);\n"
        "                                  │    3   /* 3 */\n"
        "                                  │    4   /* 4 */\n"
        "                                  │    5   /* 5 */\n"
        " ─────────────────────────────────┤ @@ -15,6 +15,6 @@                       [x]\n"
        "  Add idempotency keys            │   15   /* 15 */\n"
        "  7 files, 2 deleted +40 -3       │   16   /* 16 */\n"
        "  rewinds the files to before     │   17   /* 17 */\n"
        "  this prompt was answered        │   18 -     return charge(key, cents, 0);\n"
        "                                  │   18 +     return charge(key, cents);\n"
        " a apply  * mark all  Tab pane  m mode  Esc back  o this turn  T tree  ? help\n";
    /* clang-format on */

    rewind_screen_go(t);
    assert_string_equal(screen_text(&t->s), want);
}

/* The line between left and right is in one column, whatever is beside it. */
CASE(turns_show_what_each_of_them_changed)
{
    struct rewind_screen *t = *state;

    screen_resize(&t->s, 24, 130);
    rewind_screen_go(t);
    assert_true(screen_has(&t->s, "7 files      +40 -3"));
    assert_true(screen_has(&t->s, "1 file       +80 -6"));
}

static enum err_code count_no_lines(const struct store *st, const struct session_ref *ref,
                                    const atomic_bool *cancel, struct checkpoint_list *list,
                                    struct err *e)
{
    (void)st, (void)ref, (void)cancel, (void)e;
    for (size_t i = 0; i < list->n; i++)
        list->checkpoint[i].counted = true;
    return ERR_OK;
}

CASE(a_turn_whose_lines_are_not_known_has_no_figures)
{
    struct rewind_screen *t = *state;

    t->s.ops.count_lines = count_no_lines;
    rewind_screen_go(t);
    assert_true(screen_has(&t->s, "this turn: 7 files "));
    assert_false(screen_has(&t->s, "+0 -0"));
}

CASE(columns_are_aligned_at_every_size)
{
    struct rewind_screen *t = *state;
    static const struct {
        int rows, cols, edge;
    } sizes[] = {
        { 24, 80, 34 }, { 30, 100, 40 }, { 60, 200, 80 }, { 100, 300, 90 }, { 24, 72, 34 }
    };

    rewind_screen_go(t);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        screen_resize(&t->s, sizes[i].rows, sizes[i].cols);
        screen_text(&t->s);
        for (int y = 1; y < sizes[i].rows - 1; y++) {
            const struct cell *c = &t->s.frame.cell[y * sizes[i].cols + sizes[i].edge];

            assert_true(c->style == STYLE_BORDER && c->len == 3);
        }
        assert_true(screen_has(&t->s, "[x] M src/pay.c"));
        assert_true(screen_has(&t->s, "@@ -1,5 +1,5 @@"));
    }
}

CASE(a_narrow_screen_shows_one_side_at_a_time)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_resize(&t->s, 12, 50);
    assert_true(screen_has(&t->s, "Add idempotency keys"));
    assert_false(screen_has(&t->s, "pay.c"));
    screen_press(&t->s, "<Tab>");
    assert_false(screen_has(&t->s, "Add idempotency keys"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_true(screen_has(&t->s, "@@ -")); /* laid out while the turns were shown */
    assert_false(screen_has(&t->s, "an empty file"));
}

CASE(leaving_a_session_named_on_the_command_line_quits)
{
    struct rewind_screen *t = *state;
    const struct session_ref ref = {
        .store = &t->s.store, .id = SLICE("s"), .path = SLICE("/s"), .folder = SLICE("")
    };

    const struct session_row row = { .ref = ref, .summary = SLICE("Payments") };

    assert_true(model_rewind(t->s.model, &row));
    screen_answer(&t->s);
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, "<Esc>");
    assert_string_equal(t->s.log, "quit 0\n");
}
