#include "support/screen/rewind_screen_fixture.h"
#include "tui/data/blame_rows.h"

/* The guarantees to a person before, during and after a change of files. */

#define CASE(name) TEST_WITH(name, rewind_screen_set_up, rewind_screen_tear_down)

CASE(the_newest_turn_is_previewed_first)
{
    struct rewind_screen *t = *state;

    screen_press(&t->s, "<C-x>w");
    assert_non_null(strstr(screen_cursor_line(&t->s), "Split the handler"));
    assert_true(screen_has(&t->s, "2 shell commands ran"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_false(screen_has(&t->s, "keys.c"));
}

CASE(the_preview_states_that_nothing_has_changed)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    assert_non_null(strstr(screen_line(&t->s, 0), "dry run: nothing has been changed"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_true(screen_has(&t->s, "[x] D src/keys.c"));
    assert_true(screen_has(&t->s, "[x] A src/gone.c"));
    assert_true(screen_has(&t->s, "1 unchanged"));
    assert_true(rewind_screen_is_untouched(t));
    assert_int_equal(t->rewinds, 0);
}

/* The first turn is below the title: only what is selected stands out, here and in a conversation. */
CASE(a_title_does_not_look_like_the_selected_row)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_line(&t->s, 0);
    for (int x = 0; x < t->s.frame.cols; x++)
        assert_int_not_equal(t->s.frame.cell[x].style, STYLE_BAR);
    screen_press(&t->s, "<Esc><Right>");
    assert_true(screen_has(&t->s, "conversation of"));
    for (int x = 0; x < t->s.frame.cols; x++)
        assert_int_not_equal(t->s.frame.cell[x].style, STYLE_BAR);
}

/* lazygit and vim move between panes with them. */
CASE(h_and_l_go_to_another_pane_and_change_no_tick)
{
    static const char *const keys[] = { "h", "l", "lh", "llh", "lllhhh", "hlhlh" };
    struct rewind_screen *t = *state;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        rewind_screen_go(t);
        screen_press(&t->s, keys[i]);
        assert_true(screen_has(&t->s, "[x] M src/pay.c"));
        assert_true(screen_has(&t->s, "[x] D src/keys.c"));
        assert_true(screen_has(&t->s, "[x] A src/gone.c"));
        assert_false(screen_has(&t->s, "[~]"));
        for (int k = 0; k < 3 && screen_has(&t->s, "dry run"); k++)
            screen_press(&t->s, "<Esc>");
    }
    assert_int_equal(t->rewinds, 0);
}

CASE(refused_files_are_never_ticked_automatically)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    assert_true(screen_has(&t->s, "[ ] held README.md"));
    assert_true(screen_has(&t->s, "edited since"));
    assert_true(screen_has(&t->s, "[ ] held .bashrc"));
    assert_true(screen_has(&t->s, "[ ] held ~/other/notes.txt"));
    assert_true(screen_has(&t->s, " -  held .git/config"));
}

CASE(repeated_enter_changes_no_file)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press(&t->s, "<Enter><Enter><Enter><Enter>");
    assert_true(rewind_screen_is_untouched(t));
    screen_press(&t->s, "a<Enter><Enter>a<Enter>");
    assert_true(rewind_screen_is_untouched(t));
    assert_int_equal(t->rewinds, 0);
    assert_false(folder_has(&t->going.folder, "state"));
}

CASE(the_question_shows_the_numbers_and_yes_does_exactly_that)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "restore 1 file, re-create 1, delete 1"));
    assert_true(screen_has(&t->s, "+3 -4 lines; an undo record is kept"));
    assert_true(screen_has(&t->s, "4 files are not ticked and stay as they are"));
    assert_non_null(strstr(screen_cursor_line(&t->s), "cancel"));
    assert_true(screen_has(&t->s, "dry run: nothing has been changed"));
    screen_press(&t->s, "<Down><Enter>");
    assert_int_equal(t->rewinds, 1);
    assert_false(screen_has(&t->s, "dry run"));
    assert_true(screen_has(&t->s, "rewound: u undo"));
    assert_true(screen_has(&t->s, "restored 1 file, re-created 1, deleted 1 - u undo"));
    assert_true(folder_is(&t->going.folder, "home/ws/src/gone.c", "back\n"));
    assert_false(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    assert_true(folder_is(&t->going.folder, "home/ws/README.md", "A shop.\nMine, by hand.\n"));
}

CASE(a_rewind_can_be_undone_and_redone)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press(&t->s, "a<Down><Enter>u");
    assert_true(screen_has(&t->s, "restored 1 file"));
    assert_true(screen_has(&t->s, "U redo"));
    assert_true(rewind_screen_is_untouched(t));
    assert_true(screen_has(&t->s, "[x] D src/keys.c"));
    screen_press(&t->s, "U");
    assert_false(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    screen_press(&t->s, "u");
    assert_true(rewind_screen_is_untouched(t));
    screen_press(&t->s, "u");
    assert_true(screen_has(&t->s, "undo: nothing has been rewound here yet"));
}

CASE(a_later_edit_is_asked_about_before_it_is_ticked)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    rewind_screen_to_file(t, "README.md");
    screen_press(&t->s, " ");
    assert_true(screen_has(&t->s, "Your later edit would be replaced. You can undo this."));
    screen_press(&t->s, "<Enter>");
    assert_true(screen_has(&t->s, "[ ] held README.md"));
    screen_press(&t->s, " <Down><Enter>");
    assert_true(screen_has(&t->s, "[x] M README.md"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "1 of them with your consent"));
    screen_press(&t->s, "<Down><Enter>");
    assert_true(folder_is(&t->going.folder, "home/ws/README.md", "A shop.\n"));
    screen_press(&t->s, "u");
    assert_true(rewind_screen_is_untouched(t));
}

CASE(undo_asks_about_files_edited_since)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press(&t->s, "a<Down><Enter>");
    folder_put(&t->going.folder, "home/ws/src/gone.c", SLICE("mine\n"));
    screen_press(&t->s, "u");
    assert_true(screen_has(&t->s, "1 file changed since; you are asked about each."));
    screen_press(&t->s, "<Enter>");
    assert_false(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    screen_press(&t->s, "u<Down><Enter>");
    assert_true(screen_has(&t->s, "This file changed since. Undo it too?"));
    assert_true(screen_has(&t->s, "src/gone.c"));
    screen_press(&t->s, "<Enter>");
    assert_true(screen_has(&t->s, "restored 1 file"));
    assert_true(screen_has(&t->s, "1 skipped: gone.c ("));
    assert_true(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    assert_true(folder_is(&t->going.folder, "home/ws/src/gone.c", "mine\n"));
    screen_press(&t->s, "u<Down><Enter><Down><Enter>");
    assert_true(rewind_screen_is_untouched(t));
}

CASE(trusted_files_need_a_typed_word)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    rewind_screen_to_file(t, ".bashrc");
    screen_press(&t->s, " <Down><Down><Enter>");
    assert_true(screen_has(&t->s, "[ ] held .bashrc"));
    screen_press(&t->s, " 1");
    assert_true(screen_has(&t->s, "[ ] held .bashrc"));
    screen_press(&t->s, " ye");
    assert_true(screen_has(&t->s, "or type yes and press Enter: ye"));
    screen_press(&t->s, "xs");
    assert_true(screen_has(&t->s, "or type yes and press Enter:"));
    screen_press(&t->s, "yes<Enter>");
    assert_true(screen_has(&t->s, "[x] M .bashrc"));
    assert_true(rewind_screen_is_untouched(t));
}

CASE(forbidden_files_are_explained)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    rewind_screen_to_file(t, ".git/config");
    screen_press(&t->s, " ");
    assert_true(screen_has(&t->s, "tick: "));
    assert_true(screen_has(&t->s, " -  held .git/config"));
}

CASE(an_unticked_file_stays)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    rewind_screen_to_file(t, "keys.c");
    screen_press(&t->s, " ");
    assert_true(screen_has(&t->s, "[ ] D src/keys.c"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "+3 -2 lines"));
    screen_press(&t->s, "<Down><Enter>");
    assert_true(folder_has(&t->going.folder, "home/ws/src/keys.c"));
}

CASE(one_file_of_many_takes_three_keys)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    rewind_screen_to_file(t, "keys.c");
    screen_press(&t->s, "<Enter>");
    assert_true(screen_has(&t->s, "[x] D src/keys.c"));
    assert_true(screen_has(&t->s, "[ ] M src/pay.c"));
    screen_press(&t->s, "ay");
    assert_int_equal(t->rewinds, 1);
    assert_false(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    screen_press(&t->s, "u");
    assert_true(rewind_screen_is_untouched(t));
}

CASE(a_star_ticks_every_file_or_none)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press(&t->s, "*");
    assert_true(screen_has(&t->s, "[ ] D src/keys.c"));
    assert_true(screen_has(&t->s, "[ ] M src/pay.c"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "apply: no file is ticked"));
    screen_press(&t->s, "*");
    assert_true(screen_has(&t->s, "[x] D src/keys.c"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_int_equal(t->rewinds, 0);
}

CASE(hunks_are_selected_one_by_one)
{
    struct rewind_screen *t = *state;
    size_t n;

    screen_press(&t->s, "<C-x>w<Tab>l");
    assert_true(screen_has(&t->s, "hunk 1/2"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, "hl");
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, " ");
    assert_true(screen_has(&t->s, "[~] M src/pay.c"));
    assert_true(screen_has(&t->s, "+1 -1"));
    screen_press(&t->s, "} ");
    assert_true(screen_has(&t->s, "[ ] M src/pay.c"));
    screen_press(&t->s, " ");
    assert_true(screen_has(&t->s, "[~] M src/pay.c"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "+1 -1 lines"));
    assert_true(screen_has(&t->s, "1 of them in part"));
    screen_press(&t->s, "<Down><Enter>");
    char *text = folder_get(&t->going.folder, "home/ws/src/pay.c", &n);

    assert_non_null(strstr(text, "bool seen(struct slice key);"));
    assert_non_null(strstr(text, "return charge(key, cents);"));
    free(text);
    screen_press(&t->s, "u");
    assert_true(rewind_screen_is_untouched(t));
}

/* The first session of the shop is running, the second is not. */
CASE(the_mode_key_cycles_through_files_conversation_both)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    assert_true(screen_has(&t->s, "Tab pane"));
    screen_press(&t->s, "m");
    assert_false(screen_has(&t->s, "Tab pane"));
    assert_true(screen_has(&t->s, "dry run, conversation only"));
    assert_true(screen_has(&t->s, "the last 4 messages go, 2 stay"));
    assert_true(screen_has(&t->s, "Files are not changed."));
    assert_true(screen_has(&t->s, "stays   ❯ "));
    assert_true(screen_has(&t->s, "── cut ──"));
    assert_true(screen_has(&t->s, "goes    ❯ "));
    screen_press(&t->s, "m");
    assert_true(screen_has(&t->s, "dry run, files and conversation"));
    assert_true(screen_has(&t->s, "the last 4 messages go, 2 stay"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, "m");
    assert_true(screen_has(&t->s, "dry run: nothing has been changed"));
    assert_false(screen_has(&t->s, "messages go"));
    assert_true(rewind_screen_is_untouched(t));
}

/* Without leases no conversation is cut, and the files stay with it. */
static bool is_refused(struct rewind_screen *t)
{
    if (HAS_LEASES)
        return false;
    assert_true(screen_has(&t->s, "there is no lease here"));
    assert_true(rewind_screen_is_untouched(t));
    return true;
}

CASE(files_and_conversation_go_back_under_one_undo)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press(&t->s, "mma");
    assert_true(screen_has(&t->s, "restore 1 file, re-create 1, delete 1, drop 4 messages"));
    assert_true(screen_has(&t->s, "2 messages of the conversation stay; one undo restores both"));
    screen_press(&t->s, "<Enter>");
    assert_true(rewind_screen_is_untouched(t));
    screen_press(&t->s, "a<Down><Enter>");
    assert_int_equal(t->rewinds, 1);
    if (is_refused(t))
        return;
    assert_true(screen_has(&t->s, "deleted 1, dropped 4 messages - u undo"));
    assert_true(folder_is(&t->going.folder, "home/session.jsonl", "p0\na0\n"));
    assert_false(folder_has(&t->going.folder, "home/ws/src/keys.c"));
    screen_press(&t->s, "u");
    assert_true(screen_has(&t->s, "brought back 4 messages"));
    assert_true(rewind_screen_is_untouched(t));
}

CASE(a_single_turn_can_be_undone)
{
    struct rewind_screen *t = *state;

    screen_press(&t->s, "<C-x>wo");
    assert_true(screen_has(&t->s, "dry run, this turn only"));
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "Undo only this turn and keep the later ones?"));
    screen_press(&t->s, "<Down><Enter>");
    assert_true(screen_has(&t->s, "restored 1 file - u undo"));
    assert_true(screen_has(&t->s, "Nothing to do: nothing is left"));
    screen_press(&t->s, "u");
    assert_true(rewind_screen_is_untouched(t));
    screen_press(&t->s, "o");
    assert_true(screen_has(&t->s, "undone: U redo"));
}

CASE(a_turn_without_copies_still_has_its_conversation)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press(&t->s, "<Home>m");
    screen_wait(&t->s, 100);
    assert_true(screen_has(&t->s, "the last 6 messages go, 0 stay"));
    screen_press(&t->s, "a<Down><Enter>");
    if (is_refused(t))
        return;
    assert_true(screen_has(&t->s, "dropped 6 messages - u undo"));
    assert_true(folder_is(&t->going.folder, "home/session.jsonl", ""));
    screen_press(&t->s, "u");
    assert_true(rewind_screen_is_untouched(t));
}

CASE(a_running_agent_is_named_before_files_change)
{
    struct rewind_screen *t = *state;

    screen_press(&t->s, "<C-x>wa");
    assert_true(screen_has(&t->s, "An agent has this session open"));
    screen_press(&t->s, "<Esc><Esc><Down><C-x>wa");
    assert_true(screen_has(&t->s, "an undo record is kept"));
    assert_false(screen_has(&t->s, "An agent has this session open"));
}

CASE(nothing_ticked_is_nothing_to_apply)
{
    struct rewind_screen *t = *state;

    screen_press(&t->s, "<C-x>w<Tab> a");
    assert_true(screen_has(&t->s, "apply: no file is ticked"));
    assert_int_equal(t->rewinds, 0);
}

CASE(a_turn_that_cannot_be_restored_is_explained_and_not_previewed)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    unsigned before = t->prospects;

    screen_press(&t->s, "<Home>");
    screen_wait(&t->s, 500);
    assert_true(screen_has(&t->s, "cannot be restored: the saved"));
    assert_true(screen_has(&t->s, "This turn cannot be restored."));
    assert_int_equal(t->prospects, before);
    screen_press(&t->s, "a");
    assert_true(screen_has(&t->s, "apply: this turn cannot be restored"));
    screen_press(&t->s, "<Enter>");
    assert_true(screen_has(&t->s, " this turn cannot be restored"));
    assert_false(screen_has(&t->s, "apply: "));
}

CASE(turns_passed_over_are_not_previewed)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    unsigned before = t->prospects;

    screen_press(&t->s, "<Down><Up><Down><Up><Down>");
    assert_int_equal(t->prospects, before);
    screen_wait(&t->s, 100);
    assert_int_equal(t->prospects, before + 1);
}

/* Keys typed for the old preview must not act on the new turn. */
CASE(the_preview_of_another_turn_cannot_be_applied)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    screen_press_only(&t->s, "<Down>a");
    assert_true(screen_has(&t->s, "apply: the files are still being checked"));
    screen_press_only(&t->s, "<Tab> ");
    assert_true(screen_has(&t->s, "tick: the files are still being checked"));
    assert_true(rewind_screen_is_untouched(t));
}

CASE(late_answers_are_dropped)
{
    struct rewind_screen *t = *state;
    struct preview *late = preview_new();

    rewind_screen_go(t);
    screen_send(&t->s, (struct msg){ .kind = MSG_PREVIEW, .generation = 9999, .u.preview = late });
    screen_send(&t->s, (struct msg){ .kind = MSG_REWIND_DONE, .generation = 9999 });
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    assert_false(screen_has(&t->s, "nothing was changed -"));

    /* the undo of a rewind in a view that was left: its question is not asked above another session's */
    struct name_list *edited = name_list_new();

    assert_non_null(edited);
    assert_true(name_list_add(edited, SLICE("src/pay.c")));
    screen_send(&t->s, (struct msg){ .kind = MSG_REWIND_DONE,
                                     .generation = 9999,
                                     .u.rewind_summary.edited = edited });
    assert_false(screen_has(&t->s, "Files changed since"));
}

CASE(a_rewind_under_way_shows_its_progress)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
    t->slow = true;
    screen_press(&t->s, "a<Down><Enter>");
    assert_true(screen_has(&t->s, "changing files"));
    screen_send(&t->s, (struct msg){ .kind = MSG_PROGRESS,
                                     .generation = t->waiting,
                                     .u.progress = { .done = 3, .total = 12 } });
    assert_true(screen_has(&t->s, "changing files  25%"));
    screen_press(&t->s, "m");
    assert_true(screen_has(&t->s, "mode: files are being changed"));
    screen_press(&t->s, "<Esc><Esc>");
    assert_true(screen_has(&t->s, "changing files  25%"));
}

CASE(a_save_in_between_is_not_overwritten)
{
    struct rewind_screen *t = *state;

    screen_press(&t->s, "<C-x>wa");
    folder_put(&t->going.folder, "home/ws/src/pay.c", SLICE("saved just now\n"));
    screen_press(&t->s, "<Down><Enter>");
    assert_int_equal(t->rewinds, 1);
    assert_true(folder_is(&t->going.folder, "home/ws/src/pay.c", "saved just now\n"));
    assert_true(screen_has(&t->s, "src/pay.c"));
    assert_false(screen_has(&t->s, "restored 1 file"));
}

CASE(escape_goes_back_pane_by_pane)
{
    struct rewind_screen *t = *state;

    rewind_screen_go(t);
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

/* The history of a file: one turn of the first session of the list. */
static void history_answer(struct screen *s, const struct effect *e)
{
    struct blame_rows *rows = calloc(1, sizeof *rows);
    char path[160];
    struct session_ref ref = screen_ref(s, &s->fake[0], path);

    if (e->kind != EFFECT_BLAME) {
        free(rows);
        rewind_screen_answer(s, e);
        return;
    }
    assert_non_null(rows);
    rows->refs = ref_list_one(&ref, SLICE(""));
    rows->row = arena_zalloc(&rows->arena, sizeof *rows->row);
    assert_non_null(rows->refs);
    assert_non_null(rows->row);
    rows->by_line = e->n;
    rows->row[rows->n++] = (struct blame_row){
        .did = "edited",
        .added = 3,
        .removed = 12,
        .time_ms = s->now_ms,
        .prompt = SLICE("Captures must be idempotent: send a key with every call"),
        .text = SLICE("const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));"),
    };
    screen_send(s, (struct msg){ .kind = MSG_BLAME, .generation = e->generation, .u.blame = rows });
}

CASE(what_a_row_of_the_history_has_no_room_for_is_below_the_rows)
{
    struct rewind_screen *t = *state;

    t->s.answer = history_answer;
    rewind_screen_go(t);
    rewind_screen_to_file(t, "pay.c");
    screen_press(&t->s, "t");
    screen_resize(&t->s, 24, 80);
    assert_non_null(
        strstr(screen_line(&t->s, 2), "edited      +3   -12  Captures must be idempot"));
    assert_non_null(strstr(screen_line(&t->s, 20), "  ❯ Captures must be idempotent: send a key"));
    assert_non_null(strstr(screen_line(&t->s, 21), "every call"));
    assert_non_null(strstr(screen_line(&t->s, 23), "Tab turns or lines"));
    screen_resize(&t->s, 24, 60); /* the age is short, for more of the prompt */
    assert_non_null(strstr(screen_line(&t->s, 2), "-12  Captures …"));
    screen_resize(&t->s, 24, 80);
    screen_press(&t->s, "<Tab>");
    assert_non_null(strstr(screen_line(&t->s, 2), " 1 const sleep = (ms: number) =>"));
    assert_non_null(strstr(screen_line(&t->s, 21), "setTimeout(done, ms));"));
    screen_resize(&t->s, 24, 160);
    assert_non_null(strstr(screen_line(&t->s, 2), "setTimeout(done, ms));"));
    assert_string_equal(screen_line(&t->s, 21), "");
}

/* The one that is shown below keeps its session. */
CASE(no_rewind_is_opened_above_another_one)
{
    struct rewind_screen *t = *state;

    t->s.answer = history_answer;
    rewind_screen_go(t);
    rewind_screen_to_file(t, "pay.c");
    screen_press(&t->s, "t");
    assert_true(screen_has(&t->s, "history of"));
    screen_press(&t->s, "<Enter>");
    assert_true(screen_has(&t->s, "conversation of"));
    screen_press(&t->s, "w");
    assert_true(screen_has(&t->s, "a rewind is open below: leave it first"));
    screen_press(&t->s, "<Esc><Esc><Esc>");
    assert_true(screen_has(&t->s, "[x] M src/pay.c"));
    screen_press(&t->s, "<Down>m");
    assert_true(rewind_screen_is_untouched(t));
}
