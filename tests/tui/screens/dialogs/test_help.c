#include "tests/test.h"

#include "support/screen/screen.h"

/* The menu of all actions. The text below it explains the selected one. */

TEST(a_long_reason_in_the_menu_is_wrapped)
{
    struct shop x;

    shop_begin(&x);
    x.fake[0].unsupported = CAN_TAG;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    x.s.ops.why[ABILITY_TAG] = "the agent keeps its tags in a database of its own, beside the "
                               "titles: use the command that it has for them";
    screen_press(&x.s, "<C-x><Right><Down>");
    assert_true(screen_has(&x.s, "the agent keeps its tags in a database of its own,"));
    assert_true(screen_has(&x.s, "command that it has for them"));
    assert_true(screen_has(&x.s, "one or two lines"));
    assert_true(screen_has(&x.s, "Enter choose"));
    screen_resize(&x.s, 16, 60);
    assert_true(screen_has(&x.s, "t  tag"));
    assert_true(screen_has(&x.s, "the agent keeps its tags in a database of its own,"));
    assert_true(screen_has(&x.s, "that it has for them"));
    screen_press(&x.s, "<Enter>");
    screen_resize(&x.s, 24, 80);
    assert_true(screen_has(&x.s, "· tag: the agent keeps its tags"));
    assert_true(screen_has(&x.s, "command that it has for them"));
    screen_close(&x.s);
}

AT_SHOP(the_whole_menu_fits_sixty_columns, 20, 60)
{
    screen_press(&x->s, "<C-x>");
    assert_true(screen_has(&x->s, "r  resume "));
    assert_true(screen_has(&x->s, "z  bundle for another machine  p  print and quit"));
    assert_true(screen_has(&x->s, "c  clean up"));
    assert_true(screen_has(&x->s, "L  one or two lines"));
    assert_true(screen_has(&x->s, "  resume the session"));
}

AT_SHOP(the_menu_scrolls_to_its_cursor, 12, 50)
{
    screen_press(&x->s, "<C-x>");
    assert_true(screen_has(&x->s, "r  resume "));
    assert_false(screen_has(&x->s, "one or two lines"));
    screen_press(&x->s, "<Up>"); /* around the top, to the last one */
    assert_non_null(strstr(screen_cursor_line(&x->s), "one or two lines"));
    assert_true(screen_has(&x->s, "one or two lines per session"));
    assert_false(screen_has(&x->s, "r  resume "));
}

/* Right and Left change the column. Left in the first one closes the menu. */
AT_SHOP(the_menu_has_two_columns, 24, 80)
{
    screen_press(&x->s, "<C-x><Down><Right>");
    assert_true(screen_has(&x->s, "tag the session"));
    screen_press(&x->s, "<Right><Down>");
    assert_true(screen_has(&x->s, "keep the session at the top of the list"));
    screen_press(&x->s, "<Left>");
    assert_true(screen_has(&x->s, "continue in a copy of the session"));
    screen_press(&x->s, "<End>");
    assert_true(screen_has(&x->s, "one or two lines per session"));
    screen_press(&x->s, "<Left><Down><Right>"); /* the left column is longer by one line */
    assert_true(screen_has(&x->s, "one or two lines per session"));
    screen_press(&x->s, "<Home><Left>");
    assert_false(screen_has(&x->s, "all sessions"));
    assert_string_equal(x->s.log, "");
}

/* Of marked sessions, none can be resumed. */
AT_SHOP(the_menu_begins_at_what_is_possible, 24, 80)
{
    screen_press(&x->s, "<Tab><Tab><C-x>");
    assert_true(screen_has(&x->s, "2 marked sessions"));
    assert_null(strstr(screen_cursor_line(&x->s), "resume"));
    assert_false(screen_has(&x->s, "it takes one session"));
}

/* The list of all keys. */
AT_SHOP(help_begins_with_this_context_and_can_be_searched, 24, 80)
{
    screen_press(&x->s, "<F1>");
    assert_non_null(strstr(screen_line(&x->s, 3), "In the list of sessions"));
    assert_non_null(strstr(screen_line(&x->s, 4), "Enter"));
    screen_press(&x->s, "before:");
    assert_non_null(strstr(screen_line(&x->s, 4), "before:2w"));
    screen_press(&x->s, "<C-u>undo");
    assert_true(screen_has(&x->s, "In the menu"));
    screen_press(&x->s, "<Esc><PgDn>");
    assert_false(screen_has(&x->s, "In the list of sessions"));
    screen_press(&x->s, "<Home>");
    assert_non_null(strstr(screen_line(&x->s, 3), "In the list of sessions"));
    screen_press(&x->s, "<Esc>");
    assert_false(screen_has(&x->s, "In the list of sessions"));
}

AT_SHOP(long_lines_of_help_are_wrapped, 24, 80)
{
    screen_press(&x->s, "<F1>this directory,");
    assert_non_null(
        strstr(screen_line(&x->s, 4), "this directory, its repository's worktrees, or"));
    assert_non_null(strstr(screen_line(&x->s, 5), "projects"));
    assert_null(strstr(screen_line(&x->s, 5), "^A"));
    screen_press(&x->s, "<C-u><End>");
    assert_true(screen_has(&x->s, "redo the last undone change"));
    screen_resize(&x->s, 24, 120);
    screen_press(&x->s, "<Home>this directory,");
    assert_non_null(strstr(screen_line(&x->s, 4), "worktrees, or all projects"));
}

AT_SHOP(a_slash_is_typed_into_the_query, 24, 80)
{
    screen_press(&x->s, "<F1>search");
    assert_true(screen_has(&x->s, "search the conversation"));
    screen_press(&x->s, "/");
    assert_true(screen_has(&x->s, "search/"));
    assert_true(screen_has(&x->s, "No matches"));
    screen_press(&x->s, "<BS>");
    assert_true(screen_has(&x->s, "search the conversation"));
}
