#include "tests/test.h"

#include <stdlib.h>

#include "store/blame/compare.h"
#include "support/screen/screen.h"
#include "tui/app/view.h"
#include "tui/data/preview.h"
#include "tui/screens/list/list.h"

/* Two marked sessions next to each other: their prompts, and the files that each changed. */

#define T(text)                                                                                    \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

static struct compared_prompt first[] = { { T("Charge once"), 0 }, { T("Use a key"), 0 } },
                              second[] = { { T("Charge once"), 0 },
                                           { T("Use a queue"), 0 },
                                           { T("And test it"), 0 } };

/* The file of the question would change by one hunk. */
static void take_answer(struct screen *s, const struct effect *e)
{
    struct preview *p = preview_new();
    struct rewind_target *target;

    assert_non_null(p);
    target = arena_zalloc(&p->preview.arena, sizeof *target);
    p->preview.entry = arena_zalloc(&p->preview.arena, sizeof *p->preview.entry);
    assert_non_null(target);
    assert_non_null(p->preview.entry);
    target->path = arena_copy(&p->preview.arena, buf_slice(&e->text)).p;
    p->preview.entry[0] =
        (struct rewind_entry){ .target = target, .action = REWIND_RESTORE, .chosen = true };
    p->preview.n = 1;
    screen_send(s,
                (struct msg){ .kind = MSG_PREVIEW, .generation = e->generation, .u.preview = p });
}

static void hunks_answer(struct screen *s, const struct effect *e)
{
    struct comparison *c = calloc(1, sizeof *c);

    assert_non_null(c);
    assert_int_equal(linediff_make(SLICE("one\n"), SLICE("two\n"), 3, &c->diff, NULL), ERR_OK);
    screen_send(
        s, (struct msg){ .kind = MSG_COMPARISON, .generation = e->generation, .u.comparison = c });
}

static void compare_answer(struct screen *s, const struct effect *e)
{
    if (e->kind == EFFECT_TAKE)
        take_answer(s, e);
    else if (e->kind == EFFECT_COMPARE)
        hunks_answer(s, e);
    else if (e->kind == EFFECT_REWIND)
        screen_note(s, "take %s\n", e->preview->preview.entry[0].target->path);
    if (e->kind != EFFECT_COMPARE_SESSIONS)
        return;
    struct compared_sessions *c = calloc(1, sizeof *c);

    assert_non_null(c);
    screen_note(s, "compare %.8s %.8s\n", e->refs->ref[0].id.p, e->refs->ref[1].id.p);
    c->file = arena_alloc(&c->arena, 4 * sizeof *c->file);
    assert_non_null(c->file);
    memset(c->file, 0, 4 * sizeof *c->file);
    c->files = 4;
    c->common = 12;
    c->side[0] = (struct compared_side){ .prompt = first,
                                         .prompts = 2,
                                         .common = 1,
                                         .messages = 20,
                                         .first_ms = 0,
                                         .last_ms = 9 * MINUTE };
    c->side[1] = (struct compared_side){
        .prompt = second, .prompts = 3, .common = 1, .messages = 31, .first_ms = TIME_NONE
    };
    c->file[0].path = SLICE("src/pay.ts");
    c->file[0].side[0] = (struct compared_state){
        .changed = true, .added = 3, .known = true, .text = SLICE("one\ntwo\nthree\n")
    };
    c->file[0].side[1] = (struct compared_state){
        .changed = true, .added = 1, .removed = 2, .known = true, .text = SLICE("one\n2\nthree\n")
    };
    c->file[1].path = SLICE("read/only.ts"); /* neither changed it */
    c->file[2].path = SLICE("src/queue.ts");
    c->file[2].side[1] = (struct compared_state){
        .changed = true, .added = 1, .known = true, .text = SLICE("the queue\n")
    };
    c->file[3].path = SLICE("notes.txt");
    c->file[3].side[0] = c->file[3].side[1] =
        (struct compared_state){ .changed = true, .known = true, .absent = true };
    screen_send(s,
                (struct msg){ .kind = MSG_COMPARED, .generation = e->generation, .u.compared = c });
}

static void open_compare(struct shop *x, int rows, int cols)
{
    shop_begin(x);
    x->s.answer = compare_answer;
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
    screen_press(&x->s, "<Tab><Tab><C-x>C");
}

TEST(the_prompts_are_next_to_each_other)
{
    struct shop x;

    open_compare(&x, 24, 80);
    assert_non_null(strstr(x.s.log, "compare "));
    assert_non_null(strstr(screen_line(&x.s, 0), " compare  12 common messages"));
    assert_true(screen_has(&x.s, "20 messages  9m 0s"));
    assert_true(screen_has(&x.s, "31 messages\n"));
    assert_true(screen_has(&x.s, "▌ prompts: 2 and 3, 1 in common"));
    assert_true(screen_has(&x.s, " Charge once\n here they part"));
    assert_true(screen_has(&x.s, "2  Use a key │ 2  Use a queue"));
    assert_true(screen_has(&x.s, "│ 3  And test it"));
    screen_resize(&x.s, 24, 56); /* the title is of more use than the last facts */
    assert_true(screen_has(&x.s, "A Payments: idempotency keys   "));
    assert_true(screen_has(&x.s, "20 messages\n"));
    screen_press(&x.s, "<Down>");
    assert_non_null(strstr(screen_line(&x.s, 23), " A take A's  B take B's "));
    screen_press(&x.s, "<Up>");
    screen_press(&x.s, "<Esc>");
    assert_false(screen_has(&x.s, "common messages"));
    screen_close(&x.s);
}

/* Whatever the order in which they were listed. */
TEST(a_fork_comes_after_its_parent)
{
    struct shop x;

    shop_begin(&x);
    x.s.answer = compare_answer;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    for (size_t i = 0; i < 2; i++)
        x.s.model->list->sessions.entry[i].row->created_ms = DAY;
    screen_press(&x.s, "<Tab><Tab><C-x>C");
    assert_non_null(strstr(screen_line(&x.s, 1), "A Payments"));
    assert_non_null(strstr(screen_line(&x.s, 2), "B Fix the payment"));
    screen_close(&x.s);
}

static bool has_style(struct screen *s, enum style style)
{
    for (int i = 0; screen_text(s) && i < s->frame.rows * s->frame.cols; i++)
        if (s->frame.cell[i].style == style)
            return true;
    return false;
}

TEST(each_changed_file_has_a_row_and_a_diff)
{
    struct shop x;

    open_compare(&x, 30, 200);
    assert_false(screen_has(&x.s, "read/only.ts"));
    assert_true(has_style(&x.s, STYLE_ADD) && has_style(&x.s, STYLE_DELETE));
    screen_press(&x.s, "<Down>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "src/pay.ts"));
    assert_non_null(strstr(screen_cursor_line(&x.s), "A +3 -0    B +1 -2    differs"));
    assert_true(screen_has(&x.s, "- two"));
    assert_true(screen_has(&x.s, "+ 2"));
    screen_press(&x.s, "<Down>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "B +1 -0    added by B"));
    assert_true(screen_has(&x.s, "- A does not have it"));
    assert_true(screen_has(&x.s, "+ B added it"));
    assert_true(screen_has(&x.s, "+ the queue"));
    screen_press(&x.s, "<Down>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "same"));
    screen_resize(&x.s, 20, 60);
    assert_non_null(strstr(screen_cursor_line(&x.s), "notes.txt"));
    screen_close(&x.s);
}

TEST(it_takes_two_marked_sessions)
{
    struct shop x;

    shop_ready(&x, 24, 80);
    screen_press(&x.s, "<Tab><A-c>");
    assert_true(screen_has(&x.s, "it takes two marked sessions"));
    screen_press(&x.s, "<Esc><Tab><Tab><A-c>");
    assert_true(screen_has(&x.s, "it takes two marked sessions"));
    screen_close(&x.s);
}

/* --- hunks belong to the file of the question */
TEST(hunks_that_come_after_another_file_was_chosen_are_dropped)
{
    struct shop x;

    open_compare(&x, 40, 120);
    screen_press(&x.s, "<Down>A");
    assert_true(screen_has(&x.s, "src/pay.ts"));
    screen_press_only(&x.s, "3<Down>B"); /* some of its hunks, but then another file */
    screen_answer(&x.s);
    assert_true(screen_has(&x.s, "Take the file as B left it?"));
    screen_press(&x.s, "n");
    assert_false(screen_has(&x.s, "hunk 1 of 1"));
    screen_press(&x.s, "B2");
    assert_non_null(strstr(x.s.log, "take src/queue.ts\n"));
    screen_close(&x.s);
}

TEST(the_hunks_of_a_comparison_have_no_tree)
{
    struct shop x;

    open_compare(&x, 40, 120);
    screen_press(&x.s, "<Down>A3");
    assert_true(screen_has(&x.s, "hunk 1 of 1"));
    screen_press(&x.s, "T");
    assert_true(screen_has(&x.s, "this is not a rewind"));
    screen_press(&x.s, " a");
    assert_non_null(strstr(x.s.log, "take src/pay.ts\n"));
    screen_close(&x.s);
}
