#include "tests/test.h"

#include "support/hostile.h"
#include "support/screen/transcript_drive.h"
#include "tui/screens/transcript/layout.h"

static bool screen_holds_bytes(struct drive *d, struct slice raw)
{
    char *got = drive_screen(d);
    bool held = hostile_within(slice_of(got), raw);

    free(got);
    return held;
}

/* Writes a JSON string: control characters by number, the rest as it is. */
static void add_escaped(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20)
            assert_int_equal(buf_addf(out, "\\u%04x", c), ERR_OK);
        else if (c == '"' || c == '\\')
            assert_int_equal(buf_addf(out, "\\%c", c), ERR_OK);
        else
            assert_int_equal(buf_add_byte(out, (char)c), ERR_OK);
    }
}

TEST(a_conversation_reads_as_a_dialogue)
{
    struct drive d;

    drive_init(&d, SLICE(USER("Fix the bug") SAID("I **look** at `a.c`.")
                             CALL("1", "Read", "{\"file_path\":\"/p/a.c\"}")
                                 RESULT("1", "", "one\\ntwo") SAID("Done.")));
    d.settings.project = SLICE("/p");
    drive_open(&d, REQUESTER_PREVIEW, 9, 30);

    assert_screen(&d, "──────────────────────────────\n"
                      "❯ Fix the bug\n"
                      "\n"
                      "● I look at a.c.\n"
                      "  ▸ Read a.c  2 lines ✓\n"
                      "\n"
                      "● Done.\n"
                      "\n"
                      "\n");
    drive_fini(&d);
}

TEST(messages_that_a_resume_does_not_load_are_marked)
{
    struct drive d;

    drive_init(&d, SLICE(USER("Old") SAID("Gone.") USER("New") SAID("Here.")));
    d.left_out = 2;
    drive_open(&d, REQUESTER_VIEWER, 9, 30);

    assert_true(screen_holds(&d, "┊❯ Old"));
    assert_true(screen_holds(&d, "┊● Gone."));
    assert_false(screen_holds(&d, "┊❯ New"));
    assert_false(screen_holds(&d, "┊● Here."));
    drive_fini(&d);
}

TEST(gaps_of_more_than_an_hour_are_shown)
{
    struct drive d;

    drive_init(&d, SLICE(USER("Old") SAID("Here.") USER("New") SAID("There.")));
    d.step_ms = 3 * 60 * 60 * 1000;
    drive_open(&d, REQUESTER_VIEWER, 20, 50);
    assert_true(screen_holds(&d, ", 3 h later ──"));
    assert_true(screen_holds(&d, "── 3 h later ──"));
    drive_fini(&d);
    drive_init(&d, SLICE(USER("Old") SAID("Here.") USER("New") SAID("There.")));
    d.step_ms = 59 * 60 * 1000;
    drive_open(&d, REQUESTER_VIEWER, 20, 50);
    assert_false(screen_holds(&d, " later"));
    drive_fini(&d);
}

TEST(damaged_lines_are_shown_in_their_place)
{
    struct drive d;

    drive_init(&d, SLICE(USER("Old") "{\"damaged\": \n" SAID("Here.") "{\"torn\": "));
    drive_open(&d, REQUESTER_VIEWER, 10, 50);

    assert_screen(&d, " A title                             entry 3 of 3\n"
                      "  ──────────────────────────────────────────────\n"
                      "  ❯ Old\n"
                      "\n"
                      "    ▸ unreadable line, 12 B  {\"damaged\":\n"
                      "\n"
                      "▏ ● Here.\n"
                      "\n"
                      "▌ ── the last line is cut short: 9 B ───────────\n"
                      "\n");
    drive_fini(&d);
}

TEST(a_vanished_transcript_is_reported)
{
    struct drive d;

    drive_init(&d, SLICE(USER("Old") SAID("Gone.")));
    drive_open(&d, REQUESTER_VIEWER, 9, 70);
    assert_false(screen_holds(&d, "the file is gone"));
    transcript_view_set_gone(d.view, true);
    assert_true(screen_holds(&d, "the file is gone; this is what was read before"));
    transcript_view_set_gone(d.view, false);
    assert_false(screen_holds(&d, "the file is gone"));
    drive_fini(&d);
}

TEST(paths_are_relative_to_the_sessions_directory)
{
    struct drive d;

    drive_init(&d, SLICE(CALL("1", "Read", "{\"file_path\":\"/other/a.c\"}")
                             CALL("2", "Read", "{\"file_path\":\"/p/b.c\"}")));
    d.settings.project = SLICE("/p");
    d.cwd = SLICE("/other");
    drive_open(&d, REQUESTER_PREVIEW, 6, 40);
    assert_true(screen_holds(&d, "Read a.c"));
    assert_true(screen_holds(&d, "Read /p/b.c"));
    drive_fini(&d);
}

TEST(an_image_is_named_as_far_as_it_is_known)
{
    struct drive d;

    drive_init(&d,
               SLICE("{\"type\":\"user\",\"message\":{\"content\":["
                     "{\"type\":\"text\",\"text\":\"Look\"},"
                     "{\"type\":\"image\",\"source\":{\"media_type\":\"image/png\",\"data\":\"\"}},"
                     "{\"type\":\"image\"}]}}\n"));
    drive_open(&d, REQUESTER_VIEWER, 9, 40);
    assert_true(screen_holds(&d, "[image png]"));
    assert_true(screen_holds(&d, "[image]"));
    drive_fini(&d);
}

TEST(a_call_opens_into_its_diff_and_closes_again)
{
    struct drive d;

    drive_init(&d, SLICE(CALL("1", "Edit",
                              "{\"file_path\":\"/p/a.c\",\"old_string\":\"one\\ntwo\\nthree\","
                              "\"new_string\":\"one\\n2\\nthree\"}") RESULT("1", "", "ok")));
    drive_open(&d, REQUESTER_VIEWER, 7, 40);
    drive_act(&d, ACT_UNFOLD);

    assert_screen(&d, " A title                   entry 1 of 2\n"
                      "▌   ▾ Edit /p/a.c +1 -1 ✓\n"
                      "▏       one\n"
                      "▏     - two\n"
                      "▏     + 2\n"
                      "▏       three\n"
                      "\n");
    drive_act(&d, ACT_UNFOLD);
    assert_false(screen_holds(&d, "two"));
    drive_fini(&d);
}

/* The result of an edit is its diff once more; only a search goes there. What a checker adds is shown. */
TEST(the_result_of_an_edit_is_not_repeated_below_its_diff)
{
    static const char *const repeats[] = { "The file /p/a.c has been updated successfully.",
                                           ("The file /p/a.c has been updated. A snippet of it:\\n"
                                            "     7\\tone\\n     8→2\\n     9\\tthree"),
                                           "one\\n2\\nthree\\n" };
    static const char *const says_more[] = { "ok, and 3 tests fail now", "one\\n2\\nfour updated",
                                             "The file /p/a.c was updated\\n/p/a.c:2: warning" };
    struct buf rows = { 0 };
    struct drive d;

    for (size_t i = 0; i < 6; i++) {
        rows.n = 0;
        assert_int_equal(
            buf_addf(&rows, "%s" RESULT("1", "", "%s"),
                     CALL("1", "Edit",
                          "{\"file_path\":\"/p/a.c\",\"old_string\":\"one\\ntwo\\nthree\","
                          "\"new_string\":\"one\\n2\\nthree\"}"),
                     i < 3 ? repeats[i] : says_more[i - 3]),
            ERR_OK);
        drive_init(&d, buf_slice(&rows));
        drive_open(&d, REQUESTER_VIEWER, 14, 60);
        drive_act(&d, ACT_FOLD_LEVEL);
        assert_true(screen_holds(&d, "- two"));
        assert_int_equal(screen_holds(&d, "       three\n\n"), i < 3);
        if (i < 2) {
            drive_act(&d, ACT_SEARCH);
            drive_type(&d, "updated");
            drive_act(&d, ACT_ACCEPT);
            assert_cursor_on(&d, "The file /p/a.c");
        }
        drive_fini(&d);
    }
    buf_fini(&rows);
}

/* Each agent has its own names for the same things. */
TEST(the_edits_of_other_agents_are_changes_of_a_file_too)
{
    static const char *const inputs[][2] = {
        { CALL("1", "edit",
               "{\"filePath\":\"/p/a.c\",\"oldString\":\"one\",\"newString\":\"two\"}"),
          "edit /p/a.c +1 -1" },
        { CALL("1", "edit", "{\"path\":\"/p/a.c\",\"old_str\":\"one\",\"new_str\":\"two\"}"),
          "edit /p/a.c +1 -1" },
        { CALL("1", "edit",
               "{\"path\":\"/p/a.c\",\"edits\":[{\"oldText\":\"one\",\"newText\":\"two\"}]}"),
          "edit /p/a.c +1 -1" },
        { CALL("1", "editor", "{\"path\":\"/p/a.c\",\"old_text\":\"one\",\"new_text\":\"two\"}"),
          "editor /p/a.c +1 -1" },
        { CALL("1", "editor", "{\"path\":\"/p/a.c\",\"new_text\":\"one\"}"), "editor /p/a.c +1" },
        { CALL("1", "Write", "{\"path\":\"/p/a.c\",\"contents\":\"one\"}"), "Write /p/a.c +1" },
        { CALL("1", "run_commands", "{\"commands\":[\"make\",\"ls\"]}"), "run_commands make; ls" },
        { CALL("1", "write", "{\"filePath\":\"/p/a.c\",\"content\":\"one\"}"), "write /p/a.c +1" },
        { CALL("1", "write_file", "{\"file_path\":\"/p/a.c\",\"content\":\"one\"}"),
          "write_file /p/a.c +1" },
    };

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct drive d;

        drive_init(&d, slice_of(inputs[i][0]));
        drive_open(&d, REQUESTER_VIEWER, 7, 60);
        assert_true(screen_holds(&d, inputs[i][1]));
        drive_fini(&d);
    }
}

TEST(hostile_text_never_reaches_a_cell)
{
    static const char *const places[] = {
        USER("%s"),
        SAID("%s"),
        SAID("```%s\\n%s\\n```"),
        SAID("| %s | b |\\n|---|---|\\n| %s | x |"),
        CALL("%s", "%s", "{\"command\":\"%s\",\"%s\":\"%s\"}")
            RESULT("%s", ",\"is_error\":true", "%s"),
        "{\"type\":\"system\",\"subtype\":\"%s\",\"content\":\"%s\"}\n",
        "%s not json %s\n",
    };

    for (size_t h = 0; h < HOSTILE_COUNT; h++)
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            struct buf row = { 0 };
            struct drive d;

            for (const char *p = places[i]; *p; p++)
                if (p[0] == '%' && p[1] == 's') {
                    add_escaped(&row, hostile[h].text);
                    p++;
                } else {
                    assert_int_equal(buf_add_byte(&row, *p), ERR_OK);
                }
            drive_init(&d, buf_slice(&row));
            drive_open(&d, REQUESTER_VIEWER, 30, 100);
            for (int level = 0; level < 3; level++) {
                if (screen_holds_bytes(&d, hostile[h].raw))
                    fail_msg("%s in place %zu reaches a cell", hostile[h].name, i);
                drive_act(&d, ACT_FOLD_LEVEL);
            }
            drive_act(&d, ACT_RAW);
            assert_false(screen_holds_bytes(&d, hostile[h].raw));
            drive_fini(&d);
            buf_fini(&row);
        }
}

TEST(search_follows_the_typed_text_and_counts)
{
    struct drive d;

    open_long_conversation(&d, 300, REQUESTER_VIEWER, 14, 60);
    drive_act(&d, ACT_FIRST);
    drive_act(&d, ACT_SEARCH);
    assert_int_equal(transcript_view_key_context(d.view), IN_SEARCH);
    drive_type(&d, "answer 12");
    assert_true(screen_holds(&d, "/answer 12"));
    assert_true(screen_holds(&d, "1 of 11")); /* 12, 120 ... 129 */
    drive_act(&d, ACT_ACCEPT);
    assert_int_equal(transcript_view_key_context(d.view), IN_TRANSCRIPT);
    assert_cursor_on(&d, "answer 12 ");
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_cursor_on(&d, "answer 120");
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_cursor_on(&d, "answer 121");
    drive_act(&d, ACT_SEARCH_PREV);
    drive_act(&d, ACT_SEARCH_PREV);
    assert_cursor_on(&d, "answer 12 ");
    drive_act(&d, ACT_SEARCH_PREV);
    assert_cursor_on(&d, "answer 129");
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_cursor_on(&d, "answer 12 ");

    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "nowhere");
    assert_true(screen_holds(&d, "not found"));
    transcript_view_key(d.view, (struct key){ 'u', MOD_CTRL }, &d.fx);
    assert_int_equal(d.fx.n, 0); /* no search is active */
    assert_false(screen_holds(&d, "not found"));
    assert_int_equal(drive_act(&d, ACT_BACK), TRANSCRIPT_DONE);
    assert_cursor_on(&d, "answer 12 ");
    assert_int_equal(drive_act(&d, ACT_BACK), TRANSCRIPT_BACK);
    drive_fini(&d);
}

TEST(search_opens_the_fold_around_a_hit)
{
    struct drive d;
    struct buf rows = { 0 };

    assert_int_equal(buf_addf(&rows, CALL("1", "Read", "{\"file_path\":\"/a\"}")), ERR_OK);
    assert_int_equal(buf_addf(&rows, "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
                                     "\"tool_result\",\"tool_use_id\":\"1\",\"content\":\""),
                     ERR_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(buf_addf(&rows, "line %d\\n", i), ERR_OK);
    assert_int_equal(buf_addf(&rows, "\"}]}}\n" SAID("end")), ERR_OK);
    drive_init(&d, buf_slice(&rows));
    drive_open(&d, REQUESTER_VIEWER, 14, 60);
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "line 77");

    drive_act(&d, ACT_ACCEPT);
    assert_cursor_on(&d, "line 77");
    drive_fini(&d);
    buf_fini(&rows);
}

#define EDIT_INPUT "{\"file_path\":\"/a\",\"old_string\":\"gamma needle\",\"new_string\":\"delta\"}"

/* Two calls whose results come after both, an edit whose result is folded twice, notes, and a match across a line end.
 * Hits are in the order in which they are read on the screen. */
static const char *const hit_lines[] = {
    "needle one", "needle two", "first needle",  "second needle", "third needle",  "gamma needle",
    "edited the", "needle too", "last needle a", "last needle a", "a meta needle",
};

static void open_hits(struct drive *d)
{
    struct buf rows = { 0 };

    assert_int_equal(
        buf_addf(
            &rows, "%s%s%s%s%s%s%s%s%s%s", USER("needle one, needle two in the prompt"),
            CALL("1", "Read", "{\"file_path\":\"/a\"}"),
            CALL("2", "Read", "{\"file_path\":\"/b\"}"),
            RESULT("2", "", "zero\\nthird needle\\nno"),
            RESULT("1", "", "zero\\nfirst needle\\nno\\nsecond needle"),
            CALL("3", "Edit", EDIT_INPUT), RESULT("3", "", "edited the needle file"),
            SAID("A long line breaks where it ends, and this wrapped needle too"),
            SAID("last needle and needle"),
            "{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":\"a meta needle\"}}\n"),
        ERR_OK);
    drive_init(d, buf_slice(&rows));
    buf_fini(&rows);
}

/* The text may be on the line above: prompts have two hits in one line. */
static void assert_hit(struct drive *d, size_t i, size_t n)
{
    char number[32];

    snprintf(number, sizeof number, "%zu of %zu", i + 1, n);
    if (!screen_holds(d, number))
        fail_msg("hit %zu: the counter is not \"%s\"", i, number);
    assert_cursor_on(d, hit_lines[i]);
}

TEST(every_hit_is_visited_once_and_has_its_number)
{
    enum { N = sizeof hit_lines / sizeof hit_lines[0] };
    struct drive d;

    open_hits(&d);
    drive_open(&d, REQUESTER_VIEWER, 20, 60);
    drive_act(&d, ACT_FIRST);
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "needle");
    drive_act(&d, ACT_ACCEPT);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < N; i++) {
            assert_hit(&d, i, N);
            drive_act(&d, ACT_SEARCH_NEXT);
        }
    for (size_t i = 0; i < N; i++) {
        drive_act(&d, ACT_SEARCH_PREV);
        assert_true(screen_holds(&d, i == 0 ? "wrapped" : "of 11"));
        drive_act(&d, ACT_SEARCH_PREV);
        drive_act(&d, ACT_SEARCH_NEXT);
        if (i > 0)
            assert_hit(&d, N - 1 - i, N);
    }
    drive_fini(&d);
}

TEST(a_match_over_the_end_of_a_line_is_found)
{
    struct drive d;

    open_hits(&d);
    drive_open(&d, REQUESTER_VIEWER, 20, 60);
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "wrapped needle");
    drive_act(&d, ACT_ACCEPT);
    assert_true(screen_holds(&d, "1 of 1"));
    assert_cursor_on(&d, "and this wrapped");
    assert_false(screen_holds(&d, "wrapped needle too"));
    drive_fini(&d);
}

TEST(search_goes_on_from_a_cursor_that_was_moved)
{
    struct drive d;

    open_hits(&d);
    drive_open(&d, REQUESTER_VIEWER, 20, 60);
    drive_act(&d, ACT_FIRST);
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "needle");
    drive_act(&d, ACT_ACCEPT);
    drive_act(&d, ACT_LAST);
    drive_act(&d, ACT_SEARCH_PREV);
    assert_hit(&d, 7, 11); /* two are in the last visible line, one is folded below it */
    drive_act(&d, ACT_FIRST);
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_hit(&d, 0, 11);
    drive_act(&d, ACT_DOWN);
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_hit(&d, 2, 11);
    drive_act(&d, ACT_DOWN);
    drive_act(&d, ACT_SEARCH_PREV);
    assert_hit(&d, 2, 11);
    drive_fini(&d);
}

TEST(a_search_survives_the_arrival_of_the_whole_conversation)
{
    struct drive d;
    struct buf rows_text = long_conversation(300);

    drive_init(&d, buf_slice(&rows_text));
    d.tail_rows = 40;
    d.hold_load = true;
    drive_open(&d, REQUESTER_VIEWER, 14, 60);
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "answer 29");
    drive_act(&d, ACT_ACCEPT);
    drive_act(&d, ACT_SEARCH_NEXT);
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_true(screen_holds(&d, "2 of 10"));
    assert_cursor_on(&d, "answer 291");
    drive_release_load(&d);

    assert_true(screen_holds(&d, "3 of 11")); /* including "answer 29" itself */
    assert_cursor_on(&d, "answer 291");
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_cursor_on(&d, "answer 292");
    assert_true(screen_holds(&d, "4 of 11"));
    drive_fini(&d);
    buf_fini(&rows_text);
}

TEST(a_message_can_be_seen_as_it_is_stored)
{
    struct drive d;

    drive_init(&d,
               SLICE("{\"type\":\"user\",\"n\":1.0,\"message\":{\"content\":\"a\\u001bb\"}}\n"));
    drive_open(&d, REQUESTER_VIEWER, 9, 40);
    drive_act(&d, ACT_RAW);

    assert_screen(&d, " A title                   entry 1 of 1\n"
                      "  {\n"
                      "    \"type\": \"user\",\n"
                      "    \"n\": 1.0,\n"
                      "    \"message\": {\n"
                      "      \"content\": \"a\\u001bb\"\n"
                      "    }\n"
                      "  }\n"
                      "\n");
    drive_act(&d, ACT_COPY);
    assert_true(hostile_within(buf_slice(&d.copied), SLICE("\"n\":1.0,\"message\":{")));
    assert_int_equal(drive_act(&d, ACT_BACK), TRANSCRIPT_DONE);
    assert_true(screen_holds(&d, "a^[b"));
    drive_fini(&d);
}

TEST(the_block_at_the_cursor_is_copied)
{
    struct drive d;

    drive_init(&d, SLICE(USER("what") SAID("**this**")));
    drive_open(&d, REQUESTER_VIEWER, 9, 40);
    drive_act(&d, ACT_COPY);

    assert_true(slice_eq(buf_slice(&d.copied), SLICE("**this**")));
    drive_fini(&d);
}

/* Opens the list of what can be copied, goes down, and copies. */
static void assert_copied(const char *rows, size_t down, const char *want)
{
    struct drive d;

    drive_init(&d, slice_of(rows));
    drive_open(&d, REQUESTER_VIEWER, 20, 60);
    drive_act(&d, ACT_COPY);
    assert_true(screen_holds(&d, " copy"));
    while (down-- > 0)
        drive_act(&d, ACT_DOWN);
    drive_act(&d, ACT_ACCEPT);

    assert_string_equal(buf_cstr(&d.copied), want);
    assert_false(screen_holds(&d, " copy"));
    drive_fini(&d);
}

TEST(a_part_of_a_message_is_copied)
{
    static const char said[] =
        SAID("Do this:\\n\\n- in a list\\n  ```sh\\n  make x\\n  ```\\n\\n~~~\\na\\n```\\nb\\n");
    static const char edit[] = CALL(
        "1", "Edit", "{\"file_path\":\"/x/a.c\",\"old_string\":\"a\\nb\",\"new_string\":\"a\\nc\"}")
        RESULT("1", "", "done");

    assert_copied(said, 0, "Do this:\n\n- in a list\n  ```sh\n  make x\n  ```\n\n~~~\na\n```\nb\n");
    assert_copied(said, 1, "make x\n");
    assert_copied(said, 2, "a\n```\nb\n");
    assert_copied(CALL("1", "Bash", "{\"command\":\"ls -l\"}") RESULT("1", "", "total 0"), 0,
                  "ls -l");
    assert_copied(CALL("1", "Bash", "{\"command\":\"ls -l\"}") RESULT("1", "", "total 0"), 1,
                  "total 0");
    assert_copied(edit, 0, "--- /x/a.c\n+++ /x/a.c\n a\n-b\n+c\n");
}

TEST(any_size_can_be_drawn)
{
    struct drive d;

    drive_init(&d, SLICE(USER("日本語のテキスト \\ud83d\\udc69 and a word") CALL(
                       "1", "Edit",
                       "{\"file_path\":\"/very/long/path/to/a/file.c\",\"old_string\":\"a\","
                       "\"new_string\":\"b\"}") RESULT("1", ",\"is_error\":true", "no")
                             SAID("# Head\\n- list\\n\\n|a|b|\\n|-|-|\\n|c|d|")));
    drive_open(&d, REQUESTER_VIEWER, 12, 50);
    for (int h = 1; h < 40; h += 3)
        for (int w = 1; w < 120; w += 7) {
            drive_resize(&d, h, w);
            for (int i = 0; i < 3; i++) {
                free(drive_screen(&d));
                drive_act(&d, ACT_FOLD_LEVEL);
                drive_act(&d, ACT_PAGE_UP);
                drive_act(&d, ACT_DOWN);
            }
        }
    drive_fini(&d);
}

TEST(an_impossible_action_is_explained)
{
    struct drive d;

    drive_init(&d, SLICE(USER("a")));
    drive_open(&d, REQUESTER_VIEWER, 9, 80);
    assert_non_null(transcript_view_unavailable(d.view, ACT_SUBAGENTS));
    drive_act(&d, ACT_SUBAGENTS);

    assert_true(screen_holds(&d, "keeps no sub-agents"));
    assert_null(transcript_view_unavailable(d.view, ACT_UNFOLD));
    drive_fini(&d);
}

TEST(tokens_are_one_short_line)
{
    struct usage_sum sum = { .tokens = { [USAGE_INPUT] = 12345, [USAGE_CACHE_READ] = 2000000 } };
    char text[LAYOUT_USAGE_TEXT];

    layout_usage(&sum, text);
    assert_string_equal(text, "12.3k in, 2.0M cached");
    sum.has_cost = true;
    sum.cost = 0.5;
    sum.unpriced = 1;
    layout_usage(&sum, text);
    assert_string_equal(text, "12.3k in, 2.0M cached, $0.5000+");
    for (size_t i = 0; i < USAGE_KINDS; i++)
        sum.tokens[i] = INT64_MAX;
    sum.cost = 1e300;
    layout_usage(&sum, text);
    assert_true(strlen(text) < LAYOUT_USAGE_TEXT);
}
