#include "tests/test.h"

#include "support/screen/screen.h"

/* The screen without sessions. */
TEST(an_empty_list_teaches)
{
    static const char *const places[] = { "claude  ~/.claude/projects" };
    struct screen s = { 0 };

    s.settings.looked_in = places;
    s.settings.looked_in_count = 1;
    screen_ready(&s, NULL, 0, 24, 80);
    assert_true(screen_has(&s, "There are no sessions here yet"));
    assert_true(screen_has(&s, "Searched for sessions of ~/src/shop and its worktrees:"));
    assert_true(screen_has(&s, "claude  ~/.claude/projects"));
    assert_true(screen_has(&s, "^A     look in all projects"));
    assert_true(screen_has(&s, "reprise demo"));
    screen_press(&s, "<Enter>");
    assert_string_equal(s.log, "");
    assert_true(screen_has(&s, "resume: no session is selected"));
    screen_press(&s, "<C-a>");
    assert_true(screen_has(&s, "There are no sessions yet"));
    assert_true(screen_has(&s, "Searched for sessions of all projects:"));
    screen_close(&s);
}

/* Even if there are more places than lines. */
TEST(an_empty_list_of_a_small_screen_teaches)
{
    static const char *const places[] = {
        "claude  /home/u/.claude", "goat  /srv/a", "entire  /srv/b", "qwen  /home/u/.qwen",
        "pi  /home/u/.pi",         "kimi  /srv/c", "codex  /srv/d",  "gemini  /home/u/.gemini",
    };
    struct screen s = { 0 };

    s.settings.home = SLICE("/home/u");
    s.settings.looked_in = places;
    s.settings.looked_in_count = 8;
    screen_ready(&s, NULL, 0, 20, 80);
    assert_true(screen_has(&s, "^A     look in all projects"));
    assert_true(screen_has(&s, "reprise demo"));
    assert_true(screen_has(&s, "claude ~/.claude, goat /srv/a, entire /srv/b, qwen ~/.qwen, pi"));
    assert_true(screen_has(&s, "gemini ~/.gemini"));
    screen_resize(&s, 30, 80);
    assert_true(screen_has(&s, "gemini  ~/.gemini"));
    assert_true(screen_has(&s, "pi      ~/.pi"));
    screen_close(&s);
}

AT_SHOP(a_query_without_a_match_suggests_what_to_do, 24, 80)
{
    screen_press(&x->s, "xyzzy");
    assert_true(screen_has(&x->s, "No matches"));
    assert_true(screen_has(&x->s, "5 sessions searched"));
    assert_true(screen_has(&x->s, "Esc    clear the query"));
    assert_true(screen_has(&x->s, "0 of 5 sessions"));
    screen_resize(&x->s, 24, 100); /* without a preview, which would be empty */
    assert_true(screen_has(&x->s, "5 sessions searched: title, prompts, branch, tag, directory"));
    assert_true(screen_has(&x->s, "//     before the words searches in the conversations"));
    assert_true(screen_has(&x->s, "Fields: agent: project: branch: tag: id: before:"));
    assert_null(strstr(screen_line(&x->s, 2), "┌"));
}

AT_SHOP(an_invalid_filter_is_reported, 24, 80)
{
    screen_press(&x->s, "before:soon");
    assert_non_null(strstr(screen_line(&x->s, 1), "before: needs an age or a date"));
    assert_true(screen_has(&x->s, "5 sessions"));
    screen_press(&x->s, "<C-u>//t");
    assert_non_null(strstr(screen_line(&x->s, 1), "searches the text of the conversations"));
}
