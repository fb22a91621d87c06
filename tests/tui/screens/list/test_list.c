#include "tests/test.h"

#include "support/screen/screen.h"
#include "tui/app/view.h"
#include "tui/screens/list/list.h"

/* The list as text, at common sizes and in its states. */
static void assert_screen(struct screen *s, const char *const *lines)
{
    for (int y = 0; lines[y]; y++)
        assert_string_equal(screen_line(s, y), lines[y]);
}

AT_SHOP(on_80x24_rows_show_their_main_columns, 24, 80)
{
    static const char *const lines[] = {
        " reprise  ~/src/shop +2 worktrees                            5 sessions  recent",
        ">   type to filter                                              1 damaged: ^X x",
        "▌      NOW  Fix the payment retry loop                  fix/retry  busy",
        "    2h ago  Payments: idempotency keys          #infra  main       3 files",
        "    1d ago  Refund flow, second try                     refunds    fork",
        "    3d ago  Payment page copy                           -          interrupted",
        "    2w ago  Größere Änderungen am 設定 📦 Paket         ümlaut     damaged",
        "",
        NULL,
    };

    assert_screen(&x->s, lines);
    assert_string_equal(screen_line(&x->s, 23), " Enter resume  → read  Tab mark  ^A scope  ^F "
                                                "fork  ^X actions  ^S sort  ? help");
    assert_int_equal(x->s.frame.cursor_y, 2);
    assert_int_equal(x->s.frame.cursor_x, 0);
}

TEST(a_long_directory_leaves_room_for_what_follows)
{
    struct shop x;

    shop_begin(&x);
    x.fake[0].cwd = "/srv/customers/a-very-long-name-of-a-customer/another-one/the-last-name";
    x.s.settings.density = DENSITY_TWO_LINES;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<C-a>");
    assert_true(screen_has(&x.s, "/srv/customers/a-very…"));
    assert_true(screen_has(&x.s, "the-last-name · fix/retry"));
    screen_close(&x.s);
}

AT_SHOP(narrow_screens_give_a_session_two_lines, 24, 79)
{
    list_set_density(x->s.model->list, DENSITY_AUTO, &x->s.model->fx);
    assert_non_null(strstr(screen_line(&x->s, 4), "  2h ago  Payments: idempotency keys"));
    assert_non_null(strstr(screen_line(&x->s, 5), "main · #infra · "));
    screen_press(&x->s, "<C-x>L");
    assert_non_null(strstr(screen_line(&x->s, 3), "  2h ago  Payments: idempotency keys"));
}

AT_SHOP(from_80_columns_the_selected_session_has_a_second_line, 24, 80)
{
    struct list *l = x->s.model->list;
    size_t at;

    list_set_density(l, DENSITY_AUTO, &x->s.model->fx);
    assert_non_null(strstr(screen_line(&x->s, 2), "▌      NOW  Fix the payment"));
    assert_non_null(strstr(screen_line(&x->s, 3), "▌           47 KB"));
    assert_non_null(strstr(screen_line(&x->s, 4), "  2h ago  Payments: idempotency keys"));
    assert_non_null(strstr(screen_line(&x->s, 5), "  1d ago  Refund flow"));
    screen_press(&x->s, "<Down>");
    assert_non_null(strstr(screen_line(&x->s, 3), "▌   2h ago  Payments: idempotency keys"));
    /* without the branch and the tag, which are in the line above */
    assert_non_null(strstr(screen_line(&x->s, 4), "▌           1.1 MB"));
    screen_resize(&x->s, 24, 60);
    assert_non_null(strstr(screen_line(&x->s, 5), "▌           main · #infra · 1.1 MB"));
    screen_resize(&x->s, 24, 80);

    assert_true(list_row_at(l, 2, 5, &at) && at == 0);
    assert_true(list_row_at(l, 4, 5, &at) && at == 1);
    assert_true(list_row_at(l, 5, 5, &at) && at == 2);
    assert_true(list_row_at(l, 7, 5, &at) && at == 4);
    assert_false(list_row_at(l, 8, 5, &at));
}

AT_SHOP(the_last_session_keeps_its_second_line_on_a_small_screen, 12, 80)
{
    struct list *l = x->s.model->list;

    list_set_density(l, DENSITY_AUTO, &x->s.model->fx);
    list_set_preview(l, PREVIEW_ON, &x->s.model->fx);
    screen_press(&x->s, "<End>");
    assert_non_null(strstr(screen_cursor_line(&x->s), "2w ago"));
    assert_non_null(strstr(screen_line(&x->s, x->s.frame.cursor_y + 1), "▌           "));
}

/* The head of the preview shows the same facts. */
AT_SHOP(beside_a_preview_every_session_has_one_line, 30, 100)
{
    list_set_density(x->s.model->list, DENSITY_AUTO, &x->s.model->fx);
    assert_non_null(strstr(screen_line(&x->s, 3), "  2h ago  Payments:"));
    screen_press(&x->s, "<C-t>");
    assert_non_null(strstr(screen_line(&x->s, 3), "▌           47 KB"));
    assert_non_null(strstr(screen_line(&x->s, 4), "  2h ago  Payments:"));
}

/* Below the list, the preview begins where the row ends; the border has what the row does not show. */
TEST(a_preview_below_does_not_repeat_its_row)
{
    static const char long_title[] =
        "Payments: one idempotency key for each order and amount, whatever the gateway does";
    struct shop x;
    struct list *l;
    int y = 0;

    shop_begin(&x);
    x.fake[2].title = long_title;
    screen_ready(&x.s, x.fake, SHOP, 24, 60);
    l = x.s.model->list;
    list_set_density(l, DENSITY_AUTO, &x.s.model->fx);
    list_set_preview(l, PREVIEW_ON, &x.s.model->fx);
    screen_press(&x.s, "<Down>");
    screen_wait(&x.s, 500);
    while (y < 23 && !strstr(screen_line(&x.s, y), "── "))
        y++;
    assert_non_null(strstr(screen_line(&x.s, y), "── ~/src/shop · 20"));
    assert_non_null(strstr(screen_line(&x.s, y + 1), " 0: conversation of Payments: idem"));

    screen_press(&x.s, "<Down>"); /* the row cuts its title */
    screen_wait(&x.s, 500);
    assert_non_null(strstr(screen_line(&x.s, y + 1), " Payments: one idempotency key for each"));
    assert_non_null(strstr(screen_line(&x.s, y + 3), " 0: conversation of Payments: one"));
    screen_close(&x.s);
}

/* In a narrow row they are signs. */
TEST(the_preview_beside_has_words_for_flags)
{
    struct shop x;

    shop_begin(&x);
    x.fake[3].flags |= SESSION_DAMAGED | SESSION_FORK;
    screen_ready(&x.s, x.fake, SHOP, 30, 100);
    screen_press(&x.s, "<Down>");
    screen_wait(&x.s, 500);
    assert_non_null(strstr(screen_line(&x.s, 3), "  3f "));
    assert_true(screen_has(&x.s, "#infra · 3 files"));
    screen_resize(&x.s, 30, 200);
    assert_non_null(strstr(screen_line(&x.s, 3), "  3 files "));
    assert_false(screen_has(&x.s, "#infra · 3 files"));
    screen_close(&x.s);
}

/* Words of flags are worth more than the branch, which the second line shows. If those of one row do not fit, every row
 * has signs. */
TEST(flags_become_words_before_the_branch_is_shown)
{
    struct shop x;

    shop_begin(&x);
    x.fake[1].branch = "a-branch-with-a-long-name";
    x.fake[3].flags |= SESSION_DAMAGED | SESSION_FORK;
    screen_ready(&x.s, x.fake, SHOP, 24, 70);
    assert_non_null(strstr(screen_line(&x.s, 3), "#infra  3f"));
    assert_non_null(strstr(screen_line(&x.s, 5), "! ⚠ ↳"));
    assert_false(screen_has(&x.s, "a-branch"));
    /* The second line of the selected session says what its signs mean. */
    list_set_density(x.s.model->list, DENSITY_AUTO, &x.s.model->fx);
    screen_resize(&x.s, 24, 80);
    screen_press(&x.s, "<C-a><Down>");
    assert_non_null(strstr(screen_line(&x.s, 3), "  3f"));
    assert_non_null(strstr(screen_line(&x.s, 4), " · 3 files · 1.1 MB"));
    screen_press(&x.s, "<C-a><C-a>");
    screen_resize(&x.s, 24, 99);
    assert_non_null(strstr(screen_line(&x.s, 3), "3 files"));
    assert_true(screen_has(&x.s, "interrupted  damaged  fork"));
    screen_close(&x.s);
}

TEST(head_is_no_branch_at_any_width)
{
    static const int widths[] = { 60, 80, 100, 120, 200 };

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct shop x;

        shop_begin(&x);
        x.fake[0].branch = x.fake[1].branch = x.fake[2].branch = "HEAD";
        screen_ready(&x.s, x.fake, SHOP, 24, widths[i]);
        screen_press(&x.s, "<Down>");
        assert_true(screen_has(&x.s, "Payments: idemp"));
        assert_false(screen_has(&x.s, "HEAD"));
        screen_close(&x.s);
    }
}

TEST(flags_behind_titles_have_one_form)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.density = DENSITY_TWO_LINES;
    x.fake[3].flags = 0;
    x.fake[4].flags = 0;
    screen_ready(&x.s, x.fake, SHOP, 24, 60);
    assert_non_null(strstr(screen_line(&x.s, 4), "3 files"));
    assert_non_null(strstr(screen_line(&x.s, 6), "fork"));
    x.s.model->list->sessions.entry[4].row->flags |= SESSION_DAMAGED | SESSION_INTERRUPTED;
    assert_non_null(strstr(screen_line(&x.s, 4), "3f"));
    assert_non_null(strstr(screen_line(&x.s, 6), "↳"));
    assert_non_null(strstr(screen_line(&x.s, 10), "! ⚠"));
    screen_close(&x.s);
}

TEST(a_blank_title_is_its_first_prompt)
{
    struct session_row row = { .summary = SLICE(" \t"), .first_prompt = SLICE("Find the leak") };

    assert_true(slice_eq(session_row_title(&row), SLICE("Find the leak")));
    row.first_prompt = SLICE("\n");
    assert_true(slice_eq(session_row_title(&row), SLICE("(no prompt yet)")));
}

AT_SHOP(on_50x12_columns_are_dropped, 12, 50)
{
    static const char *const lines[] = {
        " reprise  ~/src/shop +2 worktrees      5 sessions",
        ">   type to filter                1 damaged: ^X x",
        "▌      NOW  Fix the payment retry loop        ●",
        "    2h ago  Payments: idempotency k…  #infra  3f",
        "    1d ago  Refund flow, second try           ↳",
        "    3d ago  Payment page copy                 !",
        NULL,
    };

    assert_screen(&x->s, lines);
    assert_string_equal(screen_line(&x->s, 11), " Enter resume  → read  ^X actions  ? help");
}

/* The last prompt of the first session begins where the line ends. */
TEST(a_second_line_does_not_end_with_a_dot)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.density = DENSITY_TWO_LINES;
    x.fake[0].branch = "a-branch-with-a-long-name";
    x.fake[0].last = "Then do it";
    screen_ready(&x.s, x.fake, SHOP, 12, 50);
    assert_non_null(strstr(screen_line(&x.s, 3), "name · 47 KB"));
    assert_null(strstr(screen_line(&x.s, 3), "47 KB ·"));
    screen_resize(&x.s, 12, 60);
    assert_non_null(strstr(screen_line(&x.s, 3), "47 KB · Then do"));
    screen_close(&x.s);
}

AT_SHOP(from_100_columns_the_conversation_is_beside_the_list, 30, 100)
{
    assert_non_null(strstr(screen_line(&x->s, 2), "┌─ 47 KB on disk ─"));
    assert_non_null(strstr(screen_line(&x->s, 3), "│ Fix the payment retry loop"));
    assert_non_null(strstr(screen_line(&x->s, 4), "│ ~/src/shop · fix/retry · 20"));
    assert_non_null(strstr(screen_line(&x->s, 5), "│ 0: conversation of Fix the payment"));
    assert_non_null(strstr(screen_line(&x->s, 28), "│"));
    screen_press(&x->s, "<C-t>");
    assert_false(screen_has(&x->s, "conversation of"));
    screen_press(&x->s, "<C-t>");
    assert_true(screen_has(&x->s, "conversation of"));
}

AT_SHOP(from_30_lines_the_conversation_is_below, 30, 80)
{
    assert_true(screen_has(&x->s, "────────"));
    /* the row has the whole title */
    assert_non_null(strstr(screen_line(&x->s, 14), " 0: conversation of"));
}

AT_SHOP(on_small_screens_the_preview_opens_on_request, 24, 80)
{
    assert_false(screen_has(&x->s, "conversation of"));
    screen_press(&x->s, "<C-t>");
    assert_true(screen_has(&x->s, "conversation of"));
}

AT_SHOP(on_200x60_every_column_is_shown, 60, 200)
{
    const char *line = screen_line(&x->s, 3);

    assert_non_null(strstr(line, "#infra  main"));
    assert_non_null(strstr(line, "  3 files"));
    assert_non_null(strstr(line, "│"));
}

AT_SHOP(systems_are_shown_if_those_listed_have_several, 60, 200)
{
    struct session_entry *e = x->s.model->list->sessions.entry;
    const struct store *own = e[2].ref.store;
    struct session_row goat = { 0 };
    struct store_ops ops = { .name = "goat" };
    struct store store = { .ops = &ops };

    goat.ref.store = &store;
    goat.dialect = "spec";
    list_widths_include(&x->s.model->list->widths, &goat);
    e[2].ref.store = &store;
    assert_non_null(strstr(screen_line(&x->s, 3), "#infra  claude  main"));
    screen_press(&x->s, "idempotency"); /* only sessions of claude */
    assert_non_null(strstr(screen_line(&x->s, 2), "Payments"));
    assert_null(strstr(screen_line(&x->s, 2), "  claude "));
    e[2].ref.store = own;
}

/* A long tag gives way to a title, but has a third of its line. */
TEST(a_title_is_of_more_use_than_its_tag)
{
    struct shop x;

    shop_begin(&x);
    x.fake[1].tag = "a-tag-that-is-as-long-as-the-title";
    x.fake[2].tag = "another-long-tag";
    x.fake[2].title = "Refunds are a table of their own, and what is due follows from it";
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    assert_non_null(strstr(screen_line(&x.s, 3), "Payments: idempotency keys  #a-tag-that"));
    assert_non_null(strstr(screen_line(&x.s, 4), "…  #another-long"));
    screen_close(&x.s);
}

/* Beside a preview, the names of the project and the agent are cut before the agent is left out. */
AT_SHOP(agents_of_all_projects_are_named_beside_a_preview, 36, 120)
{
    struct session_entry *e = x->s.model->list->sessions.entry;
    const struct store *own = e[2].ref.store;
    struct session_row *row = e[2].row;
    struct store_ops ops = x->s.ops;
    struct store store = { .ops = &ops };
    int y = 2;

    ops.name = "antigravity";
    row->ref.store = e[2].ref.store = &store;
    list_widths_include(&x->s.model->list->widths, row);
    x->s.model->list->widths.dir = 20; /* of a project that is not on the screen */
    x->s.model->list->scope = SCOPE_ALL;
    list_set_density(x->s.model->list, DENSITY_AUTO, &x->s.model->fx);
    while (y < 30 && !strstr(screen_line(&x->s, y), "Refund flow, "))
        y++;
    assert_non_null(strstr(screen_line(&x->s, y), "  antigrav…  "));
    row->ref.store = e[2].ref.store = own;
}

/* A second store of a system has sessions of the same titles, so that only its name tells the rows apart. */
AT_SHOP(stores_of_one_system_are_named_at_every_width, 30, 100)
{
    static const int widths[] = { 60, 80, 100, 120, 200 };
    struct session_entry *e = x->s.model->list->sessions.entry;
    const struct store *own = e[2].ref.store;
    struct session_row *row = e[2].row;
    struct store_ops ops = x->s.ops;
    struct store store = { .ops = &ops };

    ops.name = "work";
    ops.format = x->s.ops.name;
    row->ref.store = e[2].ref.store = &store;
    list_widths_include(&x->s.model->list->widths, row);
    list_set_density(x->s.model->list, DENSITY_AUTO, &x->s.model->fx);
    for (size_t i = 0; i < 3 * (sizeof widths / sizeof *widths); i++) {
        int y = 2;

        screen_resize(&x->s, 30, widths[i / 3]);
        list_set_preview(x->s.model->list, i % 3 ? PREVIEW_ON : PREVIEW_OFF, &x->s.model->fx);
        x->s.model->list->scope = i % 3 == 2 ? SCOPE_ALL : SCOPE_WORKTREES;
        while (y < 28 && !strstr(screen_line(&x->s, y), "Refund flow, "))
            y++;
        if (widths[i / 3] < 80)
            y++;
        assert_non_null(strstr(screen_line(&x->s, y), "work"));
    }
    screen_press(&x->s, "<Home><Down><Down><Del>");
    assert_true(screen_has(&x->s, "Refund flow, second try” (work)"));
    screen_press(&x->s, "<Esc><Home><Tab><Tab><Tab><Del>");
    assert_true(screen_has(&x->s, "1 of claude, 1 of work."));
    screen_press(&x->s, "<Esc>");
    row->ref.store = e[2].ref.store = own;
}

/* Only flags are behind the title, and most rows have none. */
TEST(a_title_has_the_room_of_flags_that_its_row_lacks)
{
    struct shop x;

    shop_begin(&x);
    for (size_t i = 0; i < SHOP; i++)
        x.fake[i].branch = "";
    x.fake[1].flags =
        SESSION_INTERRUPTED | SESSION_FORK | SESSION_DAMAGED; /* its words do not fit */
    x.fake[1].title = x.fake[2].title = "Write the nightly report: the orders of today";
    x.fake[1].tag = NULL;
    x.fake[2].flags = x.fake[2].restorable = 0;
    screen_ready(&x.s, x.fake, SHOP, 30, 100);
    assert_non_null(strstr(screen_line(&x.s, 3), "the or…  ! ⚠ 3f ↳  │"));
    assert_non_null(strstr(screen_line(&x.s, 4), "nightly report: the orders of to…  │"));
    screen_close(&x.s);
}

AT_SHOP(below_50x12_the_screen_asks_for_more_room, 11, 80)
{
    assert_true(screen_has(&x->s, "80x11 is too small: reprise needs 50x12"));
    screen_resize(&x->s, 12, 49);
    assert_true(screen_has(&x->s, "is too small"));
    screen_resize(&x->s, 5, 20);
    assert_true(screen_has(&x->s, "needs 50x12"));
    screen_resize(&x->s, 1, 1);
    screen_text(&x->s);
    screen_resize(&x->s, 100, 300);
    assert_true(screen_has(&x->s, "Refund flow"));
}

TEST(every_size_is_drawn_within_its_frame)
{
    static const char *const ways[] = { "", "<C-x>", "?", "<C-t>", "<C-x>L", "<Enter>", "zz" };

    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct shop x;

        shop_ready(&x, 24, 80);
        screen_press(&x.s, ways[w]);
        for (int rows = 12; rows <= 61; rows += 7)
            for (int cols = 50; cols <= 210; cols += 23) {
                screen_resize(&x.s, rows, cols);
                assert_non_null(screen_text(&x.s));
                assert_true(x.s.frame.cursor_y >= 0 && x.s.frame.cursor_y < rows);
                assert_true(x.s.frame.cursor_x >= 0 && x.s.frame.cursor_x < cols);
            }
        screen_close(&x.s);
    }
}

AT_SHOP(two_line_rows_show_more_of_each_session, 24, 80)
{
    static const char *const lines[] = {
        "       NOW  Fix the payment retry loop                                    busy",
        "            fix/retry · 47 KB",
        "▌   2h ago  Payments: idempotency keys                                 3 files",
        "▌           main · #infra · 1.1 MB",
        NULL,
    };

    screen_press(&x->s, "<C-x>L<Down>");
    for (int y = 0; lines[y]; y++)
        assert_string_equal(screen_line(&x->s, y + 2), lines[y]);
    assert_int_equal(x->s.frame.cursor_y, 4);
}

AT_SHOP(all_projects_show_their_directories, 24, 100)
{
    screen_press(&x->s, "<C-t><C-a>");
    assert_non_null(strstr(screen_line(&x->s, 4), "shop-wt"));
}

/* Whatever the width, a row of all projects names its own; from 120 columns the number of files has its word. */
TEST(all_projects_are_named_at_every_width)
{
    for (int cols = 60; cols <= 200; cols += 10) {
        struct shop x;
        int y = 2;

        shop_begin(&x);
        screen_ready(&x.s, x.fake, SHOP, 24, cols);
        list_set_density(x.s.model->list, DENSITY_AUTO, &x.s.model->fx);
        screen_press(&x.s, "<C-a>");
        while (y < 20 && !strstr(screen_line(&x.s, y), "Payments: "))
            y++;
        assert_non_null(strstr(screen_line(&x.s, cols < 80 ? y + 1 : y), "shop"));
        assert_true(cols < 120 || strstr(screen_line(&x.s, y), "3 files"));
        screen_close(&x.s);
    }
}

TEST(ascii_mode_uses_only_ascii)
{
    static const char *const ways[] = { "",       "<Tab>",   "<C-x>", "<C-t>",
                                        "<C-x>L", "<Enter>", "pay",   "?x" };
    struct fake plain[4];

    memcpy(plain, shop, sizeof plain);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct screen s = { .settings.ascii = true };

        screen_ready(&s, plain, 4, 30, 120);
        screen_press(&s, ways[w]);
        for (const char *p = screen_text(&s); *p; p++)
            assert_true((unsigned char)*p < 0x80);
        screen_close(&s);
    }
}

/* Without colours, selection, mark, state and matches have signs of their own. */
AT_SHOP(no_state_is_shown_by_colour_alone, 24, 80)
{
    screen_press(&x->s, "<Tab>");
    assert_non_null(strstr(screen_line(&x->s, 2), " ◆"));
    assert_int_equal(strncmp(screen_line(&x->s, 3), "▌", strlen("▌")), 0);
    assert_true(screen_has(&x->s, "NOW"));
}

AT_SHOP(matching_letters_are_highlighted, 24, 80)
{
    screen_press(&x->s, "refund");
    screen_text(&x->s);
    const struct cell *row = &x->s.frame.cell[2 * 80];

    for (int i = 0; i < 11; i++)
        assert_int_equal(row[12 + i].style == STYLE_MATCH, i < 6);
}

TEST(hostile_titles_keep_the_columns_straight)
{
    struct fake odd[] = {
        { .id = "aaaaaaaa",
          .title = "\x1b[2J\x07 evil \xe2\x80\xae reversed",
          .branch = "b\x1b[0m" },
        { .id = "bbbbbbbb", .title = "مرحبا بالعالم", .branch = "main" },
        { .id = "cccccccc",
          .title = "👨‍👩‍👧 e\xcc\x81\xcc\x81 \xff\xfe",
          .branch = "main" },
        { .id = "dddddddd", .title = "a\nb\tc", .branch = "main" },
    };
    struct screen s = { 0 };

    screen_ready(&s, odd, 4, 24, 80);
    screen_press(&s, "e");
    const char *text = screen_text(&s);

    assert_null(strchr(text, '\x1b'));
    assert_null(strchr(text, '\x07'));
    assert_null(strstr(text, "\xe2\x80\xae"));
    screen_press(&s, "<Esc>");
    screen_text(&s);
    for (int y = 3; y < 6; y++) { /* the branch begins in the same column everywhere */
        const struct cell *row = &s.frame.cell[y * 80];
        const struct cell *first = &s.frame.cell[3 * 80];
        int at = 0;

        while (at < 80 && first[at].style != STYLE_BRANCH)
            at++;
        assert_true(at < 80);
        assert_int_equal(row[at].style, STYLE_BRANCH);
        assert_int_not_equal(row[at - 1].style, STYLE_BRANCH);
    }
    screen_close(&s);
}

TEST(a_long_list_scrolls_with_the_selection)
{
    enum { MANY = 100 };
    struct fake many[MANY];
    char id[MANY][16], title[MANY][32];
    struct screen s = { 0 };

    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08d", i);
        snprintf(title[i], sizeof title[i], "session %d", i);
        many[i] =
            (struct fake){ .id = id[i], .title = title[i], .ago_ms = (i + 1) * (int64_t)HOUR };
    }
    screen_ready(&s, many, MANY, 12, 60);
    screen_press(&s, "<PgDn><PgDn>");
    assert_non_null(strstr(screen_cursor_line(&s), "session 16"));
    screen_press(&s, "<End>");
    assert_non_null(strstr(screen_cursor_line(&s), "session 99"));
    assert_int_equal(s.frame.cursor_y, 10);
    screen_press(&s, "<Up><Up>");
    assert_non_null(strstr(screen_cursor_line(&s), "session 97"));
    assert_int_equal(s.frame.cursor_y, 8);
    screen_send(&s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_WHEEL_UP, 5, 5 } });
    assert_non_null(strstr(screen_line(&s, 2), "session 88"));
    screen_press(&s, "<Home>");
    assert_non_null(strstr(screen_cursor_line(&s), "session 0"));
    screen_close(&s);
}
