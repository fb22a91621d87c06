#include "support/screen/transcript_drive.h"

/* The outline of a conversation, and the lines of folded blocks. */

TEST(the_outline_has_prompts_and_first_lines_only)
{
    struct drive d;

    drive_init(&d, SLICE(USER("do it\\nnow\\nplease") CALL("1", "Bash", "{\"command\":\"ls\"}")
                             RESULT("1", "", "x") SAID("**first** `x`\\n\\nsecond")));
    drive_open(&d, REQUESTER_PREVIEW, 8, 40);
    drive_act(&d, ACT_FOLD_LEVEL);
    drive_act(&d, ACT_FOLD_LEVEL);

    assert_screen(&d, "────────────────────────────────────────\n"
                      "❯ do it\n"
                      "  now …\n"
                      "\n"
                      "● first x …\n"
                      "\n"
                      "\n"
                      "\n");
    drive_fini(&d);
}

TEST(the_outline_says_where_more_follows)
{
    struct drive d;

    drive_init(&d, SLICE(USER("do it\\n\\nnow") SAID("one line") USER("go")
                             SAID("first of the lines that go on and on")));
    drive_open(&d, REQUESTER_PREVIEW, 11, 24);
    drive_act(&d, ACT_FOLD_LEVEL);
    drive_act(&d, ACT_FOLD_LEVEL);

    assert_screen(&d, "────────────────────────\n"
                      "❯ do it …\n"
                      "\n"
                      "● one line\n"
                      "\n"
                      "────────────────────────\n"
                      "❯ go\n"
                      "\n"
                      "● first of the lines…\n"
                      "\n"
                      "\n");
    drive_fini(&d);
}

TEST(a_call_is_not_followed_by_what_its_name_says)
{
    struct drive d;

    drive_init(&d, SLICE(CALL("1", "Read `a.txt`", "{\"path\":\"/x/a.txt\"}") RESULT("1", "", "x")
                             CALL("2", "Edit `a.txt`", "{}") RESULT("2", "", "x")
                                 CALL("3", "Read `b.txt`", "{\"path\":\"/x/a.txt\"}")));
    drive_open(&d, REQUESTER_PREVIEW, 3, 40);
    assert_screen(&d, "  ▸ Read `a.txt` ✓\n"
                      "  ▸ Edit `a.txt` ✓\n"
                      "  ▸ Read `b.txt` /x/a.txt ·\n");
    drive_fini(&d);
}
