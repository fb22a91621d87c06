#include "tests/test.h"

#include "store/rewind/plan/rewind.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

/* A conversation that is a tree: the branches off the path that a resume continues, and reading one of them. */

/* u1 a1 ─┬─ u2 a2 ─── u4 a4
 *        └─ u3 a3           and the path ends at a3 */
static struct transcript_writer forked(void)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_assistant(&t, "a1", "u1");
    transcript_writer_user(&t, "u2", "a1");
    transcript_writer_assistant(&t, "a2", "u2");
    transcript_writer_user(&t, "u4", "a2");
    transcript_writer_assistant(&t, "a4", "u4");
    transcript_writer_user(&t, "u3", "a1");
    transcript_writer_assistant(&t, "a3", "u3");
    return t;
}

static struct branch_list branches(struct transcript_writer *t)
{
    struct session_ref ref = transcript_writer_ref(t);
    struct branch_list list = { 0 };

    assert_int_equal(claude_branches(NULL, &ref, NULL, &list, NULL), ERR_OK);
    return list;
}

static void assert_id(struct id128 id, const char *text)
{
    assert_true(id128_eq(id, id128_of(slice_of(text))));
}

static void assert_branch(const struct branch *b, const char *leaf, const char *from,
                          size_t messages, const char *prompt)
{
    assert_id(b->leaf, leaf);
    assert_id(b->from, from);
    assert_int_equal(b->messages, messages);
    assert_true(slice_eq(b->prompt, slice_of(prompt)));
}

/* The messages of a branch, each with the flags about branches. */
static void assert_flags(struct transcript_writer *t, const char *leaf, const char *want)
{
    struct session_ref ref = transcript_writer_ref(t);
    struct transcript *got;
    char text[256] = "";
    size_t at = 0;

    assert_int_equal(claude_load_branch(NULL, &ref, id128_of(slice_of(leaf)), NULL, &got, NULL),
                     ERR_OK);
    for (size_t i = 0; i < got->n; i++) {
        unsigned f = got->message[i].flags;

        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s%s", i ? " " : "",
                               f & MESSAGE_ASIDE ? "aside" : ".",
                               f & MESSAGE_BRANCHED ? "+branched" : "",
                               f & MESSAGE_LEAF ? "+leaf" : "");
    }
    transcript_free(got);
    assert_string_equal(text, want);
}

TEST(messages_off_the_conversation_path_are_a_branch)
{
    struct transcript_writer t = forked();
    struct branch_list list = branches(&t);

    assert_int_equal(list.n, 1);
    assert_branch(&list.branch[0], "a4", "a1", 4, "u2");
    branch_list_fini(&list);
    transcript_writer_end(&t);
}

/* The branch to a4 begins with u2 and ends with u4; that to r, a regenerated answer, has no prompt of its own. */
TEST(a_branch_is_known_by_its_last_prompt)
{
    struct transcript_writer t = forked();

    transcript_writer_assistant(&t, "r", "u3");
    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a3\",\"explicit\":true}\n");
    struct branch_list list = branches(&t);

    assert_int_equal(list.n, 2);
    assert_int_equal(list.branch[0].prompt.n, 0);
    assert_true(slice_eq(list.branch[0].last, SLICE("u3")));
    assert_true(slice_eq(list.branch[1].prompt, SLICE("u2")));
    assert_true(slice_eq(list.branch[1].last, SLICE("u4")));
    branch_list_fini(&list);
    transcript_writer_end(&t);
}

TEST(a_branch_is_read_from_the_beginning_to_its_end)
{
    struct transcript_writer t = forked();

    assert_flags(&t, "a4", ". .+branched aside . . .");
    assert_flags(&t, "a2", ". .+branched aside .+branched");
    transcript_writer_end(&t);
}

TEST(resuming_earlier_makes_the_rest_a_branch)
{
    struct transcript_writer t = forked();

    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a2\",\"explicit\":true}\n");
    struct branch_list list = branches(&t);

    assert_int_equal(list.n, 2);
    assert_branch(&list.branch[0], "a3", "a1", 2, "u3");
    assert_branch(&list.branch[1], "a4", "a2", 2, "u4");
    branch_list_fini(&list);
    assert_flags(&t, "a4", ". .+branched . .+leaf aside .");
    transcript_writer_end(&t);
}

TEST(a_conversation_without_branches_has_no_marks)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_assistant(&t, "a1", "u1");
    struct branch_list list = branches(&t);

    assert_int_equal(list.n, 0);
    branch_list_fini(&list);
    assert_flags(&t, "a1", ". .");
    transcript_writer_end(&t);
}

TEST(sub_agents_and_cycles_are_no_branches)
{
    struct transcript_writer t = forked();

    transcript_writer_row(&t, "assistant", "s1", "a1", "\"isSidechain\":true");
    transcript_writer_user(&t, "c1", "c2");
    transcript_writer_user(&t, "c2", "c1");
    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a3\",\"explicit\":true}\n");
    struct branch_list list = branches(&t);

    assert_int_equal(list.n, 1);
    assert_branch(&list.branch[0], "a4", "a1", 4, "u2");
    branch_list_fini(&list);
    transcript_writer_end(&t);
}

TEST(an_unknown_branch_is_not_found)
{
    struct transcript_writer t = forked();
    struct session_ref ref = transcript_writer_ref(&t);
    struct transcript *got = NULL;

    assert_int_equal(claude_load_branch(NULL, &ref, id128_of(SLICE("none")), NULL, &got, NULL),
                     ERR_NOT_FOUND);
    assert_null(got);
    transcript_writer_end(&t);
}

TEST(a_cancelled_request_stops_the_search)
{
    struct transcript_writer t = forked();
    struct session_ref ref = transcript_writer_ref(&t);
    struct branch_list list = { 0 };
    const atomic_bool stop = true;

    assert_int_equal(claude_branches(NULL, &ref, &stop, &list, NULL), ERR_CANCELLED);
    assert_int_equal(list.n, 0);
    transcript_writer_end(&t);
}

/* Two rows of one message, then of two. */
TEST(the_call_is_in_the_last_row_of_one_message_only)
{
    static const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    static const char *const rows[][3] = { { "a1", "m", "same" },
                                           { "a2", "m", "same" },
                                           { "a3", "m", "other" },
                                           { "a4", "n", "other" },
                                           { "a5", "n", "one" } };
    struct claude_calls calls;
    struct claude_log log;
    struct transcript_writer t;
    char rest[200];

    transcript_writer_begin(&t);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(rest, sizeof rest,
                 "\"message\":{\"role\":\"assistant\",\"id\":\"%s\",\"content\":"
                 "[{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"x\",\"input\":{}}]}",
                 rows[i][1], rows[i][2]);
        transcript_writer_row(&t, "assistant", rows[i][0], i ? rows[i - 1][0] : "", rest);
    }
    transcript_writer_ref(&t);
    assert_int_equal(claude_log_open(&log, t.path, &want, NULL), ERR_OK);
    assert_int_equal(claude_calls_read(&calls, &log, NULL), ERR_OK);
    const struct claude_assistant_row *same =
        claude_call_owner(&calls, claude_id(SLICE("\"same\""), &log.arena));

    assert_int_equal(calls.n, 3);
    assert_non_null(same);
    assert_int_equal(same->node, chain_find(&log.chain, claude_id(SLICE("\"a2\""), &log.arena)));
    assert_null(claude_call_owner(&calls, claude_id(SLICE("\"other\""), &log.arena)));
    assert_non_null(claude_call_owner(&calls, claude_id(SLICE("\"one\""), &log.arena)));
    assert_null(claude_call_owner(&calls, claude_id(SLICE("\"none\""), &log.arena)));
    claude_calls_fini(&calls);
    claude_log_close(&log);
    transcript_writer_end(&t);
}

static enum err_code go_back_to(struct transcript_writer *t, const char *point, size_t *kept)
{
    static const struct store_env env = { .home = "/nowhere", .cwd = "/" };
    const struct store st = { .ops = &claude_ops, .env = &env };
    struct session_ref ref = transcript_writer_ref(t);
    struct rewind_plan plan = { 0 };
    enum err_code rc = claude_plan_conversation(&st, &ref, slice_of(point), &plan, NULL);

    *kept = plan.conversation.kept;
    rewind_plan_fini(&plan);
    return rc;
}

TEST(a_prompt_is_found_by_a_unique_id_prefix)
{
    struct transcript_writer t;
    size_t kept;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "first-1", "");
    transcript_writer_assistant(&t, "a1", "first-1");
    transcript_writer_user(&t, "first-2", "a1");
    transcript_writer_assistant(&t, "a2", "first-2");
    transcript_writer_user(&t, "last-1", "a2");
    transcript_writer_assistant(&t, "a3", "last-1");
    assert_int_equal(go_back_to(&t, "first-2", &kept), ERR_OK);
    assert_int_equal(kept, 2);
    assert_int_equal(go_back_to(&t, "last", &kept), ERR_OK);
    assert_int_equal(kept, 4);
    assert_int_equal(go_back_to(&t, "first", &kept), ERR_USAGE);
    assert_int_equal(go_back_to(&t, "las", &kept), ERR_NOT_FOUND);
    assert_int_equal(go_back_to(&t, "next", &kept), ERR_NOT_FOUND);
    transcript_writer_end(&t);
}
