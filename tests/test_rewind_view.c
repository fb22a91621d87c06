#include "test.h"

#include <stdlib.h>

#include "support/going.h"
#include "support/screen.h"
#include "tui/term/desk_rewind.h"

/* The rewind view over a real work tree: what a person may rely on before, while and after files change. */
struct trip {
    struct screen s; /* first: the hook finds the rest */
    struct fake fake[SHOP];
    struct going going;
    char *before; /* the work tree as it was */
    unsigned prospects, rewinds;
};

static void post(void *arg, const struct msg *m)
{
    screen_send(arg, *m);
}

static void answer(struct screen *s, const struct effect *e)
{
    struct trip *t = (struct trip *)(void *)s;
    const struct reply reply = { .post = post, .arg = s };
    struct msg failed = { .kind = MSG_FAILED, .generation = e->generation };

    if (e->asker != ASKER_REWIND)
        return;
    t->prospects += e->kind == EFFECT_PROSPECT;
    t->rewinds += e->kind == EFFECT_REWIND || e->kind == EFFECT_UNDO_REWIND;
    enum err_code rc = desk_answer_rewind(e, &reply, &failed.u.error);

    if (rc)
        screen_send(s, failed);
}

static void begin(struct trip *t, int rows, int cols)
{
    memcpy(t->fake, shop, sizeof t->fake);
    going_begin(&t->going);
    t->before = going_image(&t->going);
    t->s.now_ms = (int64_t)GOING_NOW_S * 1000;
    t->s.answer = answer;
    screen_ready(&t->s, t->fake, SHOP, rows, cols);
    going_store(&t->going, &t->s.store, &t->s.ops);
    t->s.settings.home = (struct slice){ t->going.home, strlen(t->going.home) };
}

static int set_up(void **state)
{
    struct trip *t = calloc(1, sizeof *t);

    assert_non_null(t);
    begin(t, 24, 80);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct trip *t = *state;

    screen_close(&t->s);
    going_end(&t->going);
    free(t->before);
    free(t);
    return 0;
}

/* The view, at the turn in which everything happened. */
static void go(struct trip *t)
{
    screen_press(&t->s, "<C-x>w<Up>");
    screen_wait(&t->s, 100);
}

static bool is_untouched(struct trip *t)
{
    char *now = going_image(&t->going);
    bool same = strcmp(now, t->before) == 0;

    free(now);
    return same;
}

/* To the file whose row holds this text. */
static void to_file(struct trip *t, const char *name)
{
    screen_press(&t->s, "<Tab><Home>");
    for (int i = 0; i < 10 && !strstr(screen_cursor_line(&t->s), name); i++)
        screen_press(&t->s, "<Down>");
    assert_non_null(strstr(screen_cursor_line(&t->s), name));
}

static void the_newest_turn_is_looked_at_first(void **state)
{
    struct trip *t = *state;

    screen_press(&t->s, "<C-x>w");
    assert_non_null(strstr(screen_cursor_line(&t->s), "Split the handler"));
    assert_true(screen_has(&t->s, "2 shell commands ran"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_false(screen_has(&t->s, "keys.c"));
}

static void a_view_of_what_would_happen_says_that_nothing_has(void **state)
{
    struct trip *t = *state;

    go(t);
    assert_non_null(strstr(screen_line(&t->s, 0), "dry run: nothing has been changed"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_true(screen_has(&t->s, "[x] D src/keys.c"));
    assert_true(screen_has(&t->s, "[x] A src/gone.c"));
    assert_true(screen_has(&t->s, "1 unchanged"));
    assert_true(is_untouched(t));
    assert_int_equal(t->rewinds, 0);
}

static void refused_files_are_never_ticked_by_themselves(void **state)
{
    struct trip *t = *state;

    go(t);
    assert_true(screen_has(&t->s, "[ ] R README.md"));
    assert_true(screen_has(&t->s, "edited since"));
    assert_true(screen_has(&t->s, "[ ] R .bashrc"));
    assert_true(screen_has(&t->s, "[ ] R ~/other/notes.txt"));
    assert_true(screen_has(&t->s, " -  R .git/config"));
}

static void enter_again_and_again_changes_no_file(void **state)
{
    struct trip *t = *state;

    go(t);
    screen_press(&t->s, "<Enter><Enter><Enter><Enter>");
    assert_true(is_untouched(t));
    screen_press(&t->s, "a<Enter><Enter>a<Enter>");
    assert_true(is_untouched(t));
    assert_int_equal(t->rewinds, 0);
    assert_false(folder_has(&t->going.folder, "state"));
}

static void the_question_has_the_numbers_and_the_answer_does_just_that(void **state)
{
    struct trip *t = *state;

    go(t);
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "restore 1 file, re-create 1, delete 1"));
    assert_true(screen_has(&t->s, "+3 -4 lines; an undo record is kept"));
    assert_true(screen_has(&t->s, "4 files are not ticked and stay as they are"));
    assert_non_null(strstr(screen_cursor_line(&t->s), "leave everything as it is"));
    screen_press(&t->s, "<Down><Enter>");
    assert_int_equal(t->rewinds, 1);
    assert_true(screen_has(&t->s, "restored 1 file, re-created 1, deleted 1 - u takes it back"));
    assert_true(folder_is(&t->going.folder, "home/ws/src/gone.c", "back\n"));
    assert_false(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    assert_true(folder_is(&t->going.folder, "home/ws/README.md", "A shop.\nMine, by hand.\n"));
}

static void what_was_done_is_taken_back_and_done_again(void **state)
{
    struct trip *t = *state;

    go(t);
    screen_press(&t->s, "a<Down><Enter>u");
    assert_true(screen_has(&t->s, "put back 1 file"));
    assert_true(screen_has(&t->s, "U does it again"));
    assert_true(is_untouched(t));
    assert_true(screen_has(&t->s, "[x] D src/keys.c"));
    screen_press(&t->s, "U");
    assert_false(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    screen_press(&t->s, "u");
    assert_true(is_untouched(t));
    screen_press(&t->s, "u");
    assert_true(screen_has(&t->s, "undo: nothing was rewound here yet"));
}

static void a_later_edit_is_asked_about_before_it_is_ticked(void **state)
{
    struct trip *t = *state;

    go(t);
    to_file(t, "README.md");
    screen_press(&t->s, " ");
    assert_true(
        screen_has(&t->s, "Your later edit would be replaced; it stays in the undo record"));
    screen_press(&t->s, "<Enter>");
    assert_true(screen_has(&t->s, "[ ] R README.md"));
    screen_press(&t->s, " <Down><Enter>");
    assert_true(screen_has(&t->s, "[x] M README.md"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "1 of them only by your consent"));
    screen_press(&t->s, "<Down><Enter>");
    assert_true(folder_is(&t->going.folder, "home/ws/README.md", "A shop.\n"));
    screen_press(&t->s, "u");
    assert_true(is_untouched(t));
}

static void what_programs_trust_needs_a_typed_word(void **state)
{
    struct trip *t = *state;

    go(t);
    to_file(t, ".bashrc");
    screen_press(&t->s, " <Down><Down><Enter>");
    assert_true(screen_has(&t->s, "[ ] R .bashrc"));
    screen_press(&t->s, " 1");
    assert_true(screen_has(&t->s, "[ ] R .bashrc"));
    screen_press(&t->s, " ye");
    assert_true(screen_has(&t->s, "or type yes to consent: ye"));
    screen_press(&t->s, "xs");
    assert_true(screen_has(&t->s, "or type yes to consent:"));
    screen_press(&t->s, "yes");
    assert_true(screen_has(&t->s, "[x] M .bashrc"));
    assert_true(is_untouched(t));
}

static void what_nobody_may_allow_says_why(void **state)
{
    struct trip *t = *state;

    go(t);
    to_file(t, ".git/config");
    screen_press(&t->s, " ");
    assert_true(screen_has(&t->s, "file: "));
    assert_true(screen_has(&t->s, " -  R .git/config"));
}

static void an_unticked_file_stays(void **state)
{
    struct trip *t = *state;

    go(t);
    to_file(t, "keys.c");
    screen_press(&t->s, " ");
    assert_true(screen_has(&t->s, "[ ] D src/keys.c"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "+3 -2 lines"));
    screen_press(&t->s, "<Down><Enter>");
    assert_true(folder_has(&t->going.folder, "home/ws/src/keys.c"));
}

static void hunks_are_taken_one_by_one(void **state)
{
    struct trip *t = *state;
    size_t n;

    screen_press(&t->s, "<C-x>w<Tab>h");
    assert_true(screen_has(&t->s, "hunk 1/2"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, "h");
    assert_true(screen_has(&t->s, "[~] M src/pay.c"));
    assert_true(screen_has(&t->s, "+1 -1"));
    screen_press(&t->s, "}h");
    assert_true(screen_has(&t->s, "[ ] M src/pay.c"));
    screen_press(&t->s, "h");
    assert_true(screen_has(&t->s, "[~] M src/pay.c"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "+1 -1 lines"));
    assert_true(screen_has(&t->s, "1 of them only in part"));
    screen_press(&t->s, "<Down><Enter>");
    char *text = folder_get(&t->going.folder, "home/ws/src/pay.c", &n);

    assert_non_null(strstr(text, "bool seen(struct slice key);"));
    assert_non_null(strstr(text, "return charge(key, cents);"));
    free(text);
    screen_press(&t->s, "u");
    assert_true(is_untouched(t));
}

static void nothing_ticked_is_nothing_to_apply(void **state)
{
    struct trip *t = *state;

    screen_press(&t->s, "<C-x>w<Tab> a");
    assert_true(screen_has(&t->s, "apply: no file is ticked"));
    assert_int_equal(t->rewinds, 0);
}

static void a_turn_that_cannot_be_restored_says_why_and_is_not_asked_about(void **state)
{
    struct trip *t = *state;

    go(t);
    unsigned before = t->prospects;

    screen_press(&t->s, "<Home>");
    screen_wait(&t->s, 500);
    assert_true(screen_has(&t->s, "cannot be restored: saved"));
    assert_true(screen_has(&t->s, "This turn cannot be restored."));
    assert_int_equal(t->prospects, before);
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "apply: this turn cannot be restored"));
}

static void turns_passed_over_are_not_looked_at(void **state)
{
    struct trip *t = *state;

    go(t);
    unsigned before = t->prospects;

    screen_press(&t->s, "<Down><Up><Down><Up><Down>");
    assert_int_equal(t->prospects, before);
    screen_wait(&t->s, 100);
    assert_int_equal(t->prospects, before + 1);
}

/* The keys of the old picture must not act on the new turn. */
static void what_belongs_to_another_turn_cannot_be_applied(void **state)
{
    struct trip *t = *state;

    go(t);
    screen_press_only(&t->s, "<Down>a");
    assert_true(screen_has(&t->s, "apply: the files are still being looked at"));
    screen_press_only(&t->s, "<Tab> ");
    assert_true(screen_has(&t->s, "file: the files are still being looked at"));
    assert_true(is_untouched(t));
}

static void late_answers_are_dropped(void **state)
{
    struct trip *t = *state;
    struct prospect *late = prospect_new();

    go(t);
    screen_send(&t->s,
                (struct msg){ .kind = MSG_PROSPECT, .generation = 9999, .u.prospect = late });
    screen_send(&t->s, (struct msg){ .kind = MSG_REWOUND, .generation = 9999 });
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_false(screen_has(&t->s, "nothing was changed -"));
}

static void a_save_in_between_is_not_overwritten(void **state)
{
    struct trip *t = *state;

    screen_press(&t->s, "<C-x>wa");
    folder_put(&t->going.folder, "home/ws/src/pay.c", SLICE("saved just now\n"));
    screen_press(&t->s, "<Down><Enter>");
    assert_int_equal(t->rewinds, 1);
    assert_true(folder_is(&t->going.folder, "home/ws/src/pay.c", "saved just now\n"));
    assert_true(screen_has(&t->s, "src/pay.c"));
    assert_false(screen_has(&t->s, "restored 1 file"));
}

static void escape_goes_back_pane_by_pane(void **state)
{
    struct trip *t = *state;

    go(t);
    screen_press(&t->s, "<Tab><Tab>");
    assert_non_null(strstr(screen_cursor_line(&t->s), "@@"));
    screen_press(&t->s, "<Esc>");
    assert_non_null(strstr(screen_cursor_line(&t->s), "src/pay.c"));
    screen_press(&t->s, "<Esc>");
    assert_non_null(strstr(screen_cursor_line(&t->s), "Add idempotency keys"));
    screen_press(&t->s, "<Esc>");
    assert_true(screen_has(&t->s, "type to filter"));
    assert_string_equal(t->s.log, "");
}

static void from_a_message_its_turn_is_selected(void **state)
{
    struct trip *t = *state;

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

static void a_session_without_points_says_what_that_means(void **state)
{
    struct trip *t = *state;

    t->s.ops.checkpoints = no_checkpoints;
    screen_press(&t->s, "<C-x>w");
    assert_true(screen_has(&t->s, "This session has no points to go back to."));
    screen_press(&t->s, "a<Tab> hu<Esc>");
    assert_true(screen_has(&t->s, "type to filter"));
}

static void a_failure_is_said_where_the_files_would_be(void **state)
{
    struct trip *t = *state;

    t->s.ops.plan = NULL;
    screen_press(&t->s, "<C-x>w");
    assert_true(screen_has(&t->s, "keep no copies of files"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "apply: what it would do is not known"));
}

static void modes_that_are_not_there_say_so(void **state)
{
    struct trip *t = *state;

    go(t);
    screen_press(&t->s, "m");
    assert_true(screen_has(&t->s, "mode: only files can go back yet, not the conversation"));
}

/* ---- what it looks like ---- */

static void it_fits_eighty_columns(void **state)
{
    struct trip *t = *state;
    /* clang-format off */
    static const char want[] =
        " rewind  Fix the payment retry loop           dry run: nothing has been changed\n"
        "  Begin with the shop    3h     ✗ │▌[x] M src/pay.c                       +2 -2\n"
        "▌ Add idempotency keys   2h    7f │ [x] D src/keys.c                      +0 -2\n"
        "  Split the handler      1h $  1f │ [x] A src/gone.c                      +1 -0\n"
        "                                  │ [ ] R README.md          edited since +0 -1\n"
        "                                  │ [ ] R .bashrc               sensitive +0 -1\n"
        "                                  │  -  R .git/config              not allowed\n"
        "                                  │ [ ] R ~/other/notes.txt       outside +1 -1\n"
        "                                  │     1 unchanged\n"
        "                                  ├─ src/pay.c ───────────────────── hunk 1/2 ──\n"
        "                                  │ @@ -1,5 +1,5 @@                         [x]\n"
        "                                  │    1   /* 1 */\n"
        "                                  │    2 - bool seen(struct slice key);\n"
        "                                  │    2 + int seen(const char *key);\n"
        "                                  │    3   /* 3 */\n"
        "                                  │    4   /* 4 */\n"
        "                                  │    5   /* 5 */\n"
        "                                  │ @@ -15,6 +15,6 @@                       [x]\n"
        "                                  │   15   /* 15 */\n"
        " ─────────────────────────────────┤   16   /* 16 */\n"
        "  going back to before this       │   17   /* 17 */\n"
        "  prompt was answered             │   18 -     return charge(key, cents, 0);\n"
        "                                  │   18 +     return charge(key, cents);\n"
        " h hunk  Tab pane  a apply  Esc back  ? help\n";
    /* clang-format on */

    go(t);
    assert_string_equal(screen_text(&t->s), want);
}

/* The line between left and right stands in one column, whatever is written beside it. */
static void it_is_straight_at_every_size(void **state)
{
    struct trip *t = *state;
    static const struct {
        int rows, cols, edge;
    } sizes[] = { { 24, 80, 34 }, { 30, 100, 40 }, { 60, 200, 64 }, { 24, 72, 34 } };

    go(t);
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

static void a_narrow_screen_shows_one_side_at_a_time(void **state)
{
    struct trip *t = *state;

    go(t);
    screen_resize(&t->s, 12, 50);
    assert_true(screen_has(&t->s, "Add idempotency keys"));
    assert_false(screen_has(&t->s, "pay.c"));
    screen_press(&t->s, "<Tab>");
    assert_false(screen_has(&t->s, "Add idempotency keys"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
}

static void a_session_named_on_the_command_line_is_left_for_good(void **state)
{
    struct trip *t = *state;
    const struct session_ref ref = {
        .store = &t->s.store, .id = SLICE("s"), .path = SLICE("/s"), .folder = SLICE("")
    };

    assert_true(model_rewind(t->s.model, &ref, SLICE("Payments")));
    screen_answer(&t->s);
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, "<Esc>");
    assert_string_equal(t->s.log, "quit 0\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_newest_turn_is_looked_at_first),
        T(a_view_of_what_would_happen_says_that_nothing_has),
        T(refused_files_are_never_ticked_by_themselves),
        T(enter_again_and_again_changes_no_file),
        T(the_question_has_the_numbers_and_the_answer_does_just_that),
        T(what_was_done_is_taken_back_and_done_again),
        T(a_later_edit_is_asked_about_before_it_is_ticked),
        T(what_programs_trust_needs_a_typed_word),
        T(what_nobody_may_allow_says_why),
        T(an_unticked_file_stays),
        T(hunks_are_taken_one_by_one),
        T(nothing_ticked_is_nothing_to_apply),
        T(a_turn_that_cannot_be_restored_says_why_and_is_not_asked_about),
        T(turns_passed_over_are_not_looked_at),
        T(what_belongs_to_another_turn_cannot_be_applied),
        T(late_answers_are_dropped),
        T(a_save_in_between_is_not_overwritten),
        T(escape_goes_back_pane_by_pane),
        T(from_a_message_its_turn_is_selected),
        T(a_session_without_points_says_what_that_means),
        T(a_failure_is_said_where_the_files_would_be),
        T(modes_that_are_not_there_say_so),
        T(it_fits_eighty_columns),
        T(it_is_straight_at_every_size),
        T(a_narrow_screen_shows_one_side_at_a_time),
        T(a_session_named_on_the_command_line_is_left_for_good),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
