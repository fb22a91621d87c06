#include "support/screen/transcript_drive.h"

/* Long outputs: folded, their first lines, all of them, and very long ones in parts. */

/* One call whose output has this many lines, "line 0" to the last; in the file, `end` ends each. */
static void open_output(struct drive *d, int lines, const char *end, int height)
{
    struct buf rows = { 0 };

    assert_int_equal(buf_addf(&rows, "%s%s", CALL("1", "Bash", "{\"command\":\"seq\"}"),
                              "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
                              "\"tool_result\",\"tool_use_id\":\"1\",\"content\":\""),
                     ERR_OK);
    for (int i = 0; i < lines; i++)
        assert_int_equal(buf_addf(&rows, "line %d%s", i, end), ERR_OK);
    assert_int_equal(buf_addf(&rows, "\"}]}}\n" SAID("end")), ERR_OK);
    drive_init(d, buf_slice(&rows));
    drive_open(d, REQUESTER_VIEWER, height, 60);
    drive_act(d, ACT_FIRST);
    buf_fini(&rows);
}

TEST(no_output_hides_fewer_than_six_lines)
{
    for (int lines = 14; lines < 30; lines++) {
        struct drive d;
        char last[32], more[32];

        snprintf(last, sizeof last, "line %d", lines - 1);
        snprintf(more, sizeof more, "… %d more lines: Space", lines - 16);
        open_output(&d, lines, "\\n", 60);
        drive_act(&d, ACT_UNFOLD);

        assert_true(screen_holds(&d, lines < 22 ? last : more));
        assert_false(screen_holds(&d, lines < 22 ? "more line" : last));
        assert_false(screen_holds(&d, "less"));
        drive_fini(&d);
    }
}

TEST(unfolding_goes_from_folded_to_the_first_lines_to_all)
{
    struct drive d;

    open_output(&d, 40, "\\n", 60);
    for (int round = 0; round < 2; round++) {
        assert_false(screen_holds(&d, "line 0"));
        drive_act(&d, ACT_UNFOLD_OR_PAGE);
        assert_true(screen_holds(&d, "line 15"));
        assert_true(screen_holds(&d, "… 24 more lines: Space"));
        drive_act(&d, ACT_UNFOLD_OR_PAGE);
        assert_true(screen_holds(&d, "line 39"));
        assert_true(screen_holds(&d, "… less: Space"));
        drive_act(&d, ACT_UNFOLD_OR_PAGE);
    }
    drive_fini(&d);
}

TEST(everything_open_is_all_of_every_output)
{
    struct drive d;

    open_output(&d, 6000, "\\n", 60);
    drive_act(&d, ACT_FOLD_LEVEL);
    assert_true(screen_holds(&d, "line 40"));
    drive_act(&d, ACT_LAST);

    assert_true(screen_holds(&d, "line 5999"));
    assert_false(screen_holds(&d, "more line"));
    drive_fini(&d);
}

TEST(thinking_is_open_when_everything_is)
{
    struct drive d;

    drive_init(&d, SLICE("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"thinking\","
                         "\"thinking\":\"a secret thought\"}]}}\n" SAID("end")));
    drive_open(&d, REQUESTER_VIEWER, 10, 60);
    assert_false(screen_holds(&d, "a secret thought"));
    drive_act(&d, ACT_FOLD_LEVEL);
    assert_true(screen_holds(&d, "a secret thought"));
    drive_act(&d, ACT_THINKING);
    assert_false(screen_holds(&d, "a secret thought"));
    drive_fini(&d);
}

TEST(the_output_of_a_persons_command_keeps_its_lines)
{
    struct drive d;

    drive_init(&d, SLICE(USER("<bash-input>ls -la</bash-input>")
                             USER("<bash-stdout>total 0\\n  indented  line\\n</bash-stdout>"
                                  "<bash-stderr></bash-stderr>") SAID("end")));
    drive_open(&d, REQUESTER_VIEWER, 10, 60);
    assert_true(screen_holds(&d, "    total 0\n"));
    assert_true(screen_holds(&d, "      indented  line\n"));
    drive_fini(&d);
}

TEST(a_text_of_one_long_line_says_how_much_is_hidden)
{
    struct drive d;

    open_output(&d, 2000, " ", 60);
    drive_act(&d, ACT_UNFOLD);
    assert_true(screen_holds(&d, " KB more: Space"));
    drive_act(&d, ACT_UNFOLD);
    drive_act(&d, ACT_LAST);
    assert_true(screen_holds(&d, "line 1999"));
    drive_fini(&d);
}

/* Moves the cursor up to the line that contains a text. */
static void go_up_to(struct drive *d, const char *text)
{
    for (int i = 0; i < 20; i++, drive_act(d, ACT_UP)) {
        char *got = drive_screen(d), *line = got;

        for (int y = 0; y < d->frame.cursor_y; y++)
            line = strchr(line, '\n') + 1;
        *strchrnul(line, '\n') = '\0';
        bool here = strstr(line, text);

        free(got);
        if (here)
            return;
    }
    fail_msg("no line with \"%s\"", text);
}

TEST(a_very_long_output_is_shown_in_parts)
{
    struct drive d;

    for (int one_line = 0; one_line < 2; one_line++) {
        open_output(&d, 240000, one_line ? " " : "\\n", 20);
        drive_act(&d, ACT_UNFOLD);
        drive_act(&d, ACT_UNFOLD);
        drive_act(&d, ACT_LAST);
        for (int i = 0; i < 3 && !screen_holds(&d, "less: Space"); i++) {
            go_up_to(&d, " more");
            drive_act(&d, ACT_UNFOLD);
            assert_true(screen_holds(&d, " above: Space"));
            drive_act(&d, ACT_LAST);
        }
        assert_true(screen_holds(&d, one_line ? "less: Space" : "line 239999"));
        drive_act(&d, ACT_FIRST);
        drive_act(&d, ACT_UNFOLD);
        assert_false(screen_holds(&d, "line "));
        drive_fini(&d);
    }
}

TEST(a_search_finds_every_occurrence_of_a_very_long_output)
{
    struct drive d;

    open_output(&d, 240000, "\\n", 20);
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "line 23000");
    drive_act(&d, ACT_ACCEPT);
    assert_cursor_on(&d, "line 23000");
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_cursor_on(&d, "line 230000");
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_cursor_on(&d, "line 230001");
    drive_act(&d, ACT_SEARCH_PREV);
    drive_act(&d, ACT_SEARCH_PREV);
    assert_cursor_on(&d, "line 23000");
    drive_fini(&d);
}

TEST(what_a_resume_loses_is_told_once_with_the_next_step)
{
    struct drive d;

    drive_init(&d, SLICE(USER("Old") SAID("Gone.") USER("New") SAID("Here.")));
    d.lost = 2;
    drive_open(&d, REQUESTER_VIEWER, 9, 90);
    assert_true(screen_holds(&d, "a resume restores 2 of 4 messages: reprise doctor "));
    drive_act(&d, ACT_FIRST);
    assert_false(screen_holds(&d, "a resume restores"));
    assert_true(screen_holds(&d, "2 lost to a resume"));
    drive_fini(&d);

    drive_init(&d, SLICE(USER("Old") SAID("Here.")));
    drive_open(&d, REQUESTER_VIEWER, 9, 90);
    assert_false(screen_holds(&d, "resume"));
    drive_fini(&d);
}
