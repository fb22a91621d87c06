#include "tests/test.h"

#include <unistd.h>

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

/* The conversation as a person sees it, as one text: the ids, each with a letter for each flag. */
static void describe(const struct transcript *t, char out[4096])
{
    struct buf row = { 0 };
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < t->n; i++) {
        struct arena a = { 0 };
        struct slice id = SLICE("?");
        unsigned f = t->message[i].flags;

        assert_int_equal(transcript_read(t, i, &row, NULL), ERR_OK);
        json_get_text(buf_slice(&row), "uuid", &a, &id);
        at += (size_t)snprintf(
            out + at, 4096 - at, "%s%.*s%s%s%s%s%s%s%s%s", i ? " " : "", SLICE_ARG(id),
            f & MESSAGE_META ? "+meta" : "", f & MESSAGE_SEAM ? "+seam" : "",
            f & MESSAGE_SUMMARY ? "+summary" : "", f & MESSAGE_BRANCHED ? "+branched" : "",
            f & MESSAGE_BROKEN ? "+broken" : "", f & MESSAGE_GAP ? "+gap" : "",
            f & MESSAGE_CLEARED ? "+cleared" : "", f & MESSAGE_LEFT_OUT ? "-" : "");
        arena_fini(&a);
    }
    buf_fini(&row);
}

static struct transcript *load(struct transcript_writer *t)
{
    struct session_ref ref = transcript_writer_ref(t);
    struct transcript *out = NULL;

    assert_int_equal(claude_load(NULL, &ref, NULL, &out, NULL), ERR_OK);
    return out;
}

static void expect(struct transcript_writer *t, const char *want)
{
    struct transcript *got = load(t);
    char text[4096];

    describe(got, text);
    transcript_free(got);
    assert_string_equal(text, want);
    transcript_writer_end(t);
}

TEST(a_cleared_session_is_read_and_flagged)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":null,\"explicit\":true}\n");
    expect(&t, "u1- a1- u2- a2+cleared-");
}

TEST(rows_that_a_resume_does_not_load_are_marked)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(
        &t, "assistant", "a3", "a2",
        "\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"x\"}]}");
    transcript_writer_user(&t, "u4", "a3");
    transcript_writer_row(&t, "assistant", "a4", "u4",
                          "\"message\":{\"id\":\"n\",\"content\":[{\"type\":\"thinking\"}]}");
    transcript_writer_user(&t, "u5", "a4");
    expect(&t, "u1 a1 u2 a2 a3- u4 a4- u5");
}

TEST(nothing_of_a_sub_agent_is_marked)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_row(&t, "user", "u1", "",
                          "\"isSidechain\":true,\"message\":{\"content\":\"x\"}");
    transcript_writer_row(
        &t, "assistant", "a1", "u1",
        "\"isSidechain\":true,\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"y\"}]}");
    expect(&t, "u1 a1");
}

TEST(messages_kept_by_a_compaction_are_loaded)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(
        &t, "system", "c", "",
        "\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"a2\",\"compactMetadata\":"
        "{\"preservedMessages\":{\"anchorUuid\":\"s\",\"uuids\":[\"u2\",\"a2\"]}}");
    transcript_writer_row(&t, "user", "s", "c",
                          "\"isCompactSummary\":true,\"message\":{\"content\":\"s\"}");
    transcript_writer_user(&t, "u3", "s");
    expect(&t, "u1- a1- u2 a2 c+seam s+summary u3");
}

TEST(a_conversation_is_read_from_root_to_leaf)
{
    struct transcript_writer t = transcript_writer_two_turns();

    expect(&t, "u1 a1 u2 a2");
}

TEST(the_branch_that_a_last_prompt_row_names_is_shown)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_user(&t, "u3", "a1");
    transcript_writer_assistant(&t, "a3", "u3");
    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a2\"}\n");
    expect(&t, "u1 a1+branched u2 a2");
}

TEST(a_later_row_that_follows_the_named_one_wins)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a1\",\"explicit\":true}\n");
    transcript_writer_user(&t, "u3", "a1");
    transcript_writer_assistant(&t, "a3", "u3");
    expect(&t, "u1 a1+branched u3 a3");
}

TEST(a_branch_without_a_last_prompt_row_is_not_taken)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a2\"}\n");
    transcript_writer_user(&t, "u3", "a1");
    expect(&t, "u1 a1+branched u2 a2");
}

TEST(a_last_prompt_row_naming_nothing_is_skipped)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a1\",\"explicit\":true}\n");
    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"lastPrompt\":\"u2\"}\n");
    expect(&t, "u1 a1+branched");
}

TEST(messages_above_a_compaction_are_shown_too)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(&t, "system", "c", "",
                          "\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"a2\","
                          "\"compactMetadata\":{\"trigger\":\"auto\"}");
    transcript_writer_row(
        &t, "user", "s", "c",
        "\"isCompactSummary\":true,\"message\":{\"role\":\"user\",\"content\":\"short\"}");
    transcript_writer_assistant(&t, "a3", "s");
    expect(&t, "u1- a1- u2- a2- c+seam s+summary a3");
}

TEST(a_compaction_that_does_not_name_its_past_follows_the_row_before)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(&t, "system", "c", "",
                          "\"subtype\":\"compact_boundary\",\"compactMetadata\":{}");
    transcript_writer_user(&t, "u3", "c");
    expect(&t, "u1- a1- u2- a2- c+seam u3");
}

TEST(a_missing_parent_is_bridged_and_marked)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_user(&t, "u3", "nowhere");
    transcript_writer_assistant(&t, "a3", "u3");
    expect(&t, "u1 a1 u2 a2 u3+gap a3");
}

TEST(a_missing_parent_is_bridged_by_time)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_user(&t, "u3", "a1");
    t.rows = 1; /* the time of a1 */
    transcript_writer_user(&t, "u4", "nowhere");
    expect(&t, "u1 a1+branched u4+gap");
}

TEST(a_cycle_is_cut_where_it_closes)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u0", "");
    transcript_writer_user(&t, "u1", "a1");
    transcript_writer_assistant(&t, "a1", "u1");
    expect(&t, "u0 u1+gap a1");
}

TEST(a_row_that_is_its_own_parent_ends_the_path)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "u1");
    expect(&t, "u1+gap");
}

TEST(broken_lines_keep_their_place_in_the_file)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_raw(&t, "{\"type\":\"user\"\n");
    transcript_writer_user(&t, "u1", "");
    transcript_writer_raw(&t, "not json\n\n");
    transcript_writer_assistant(&t, "a1", "u1");
    transcript_writer_raw(&t, "{\"type\":\"user\",\"uu");

    struct transcript *got = load(&t);
    char text[4096];

    describe(got, text);
    assert_string_equal(text, "?+broken u1 ?+broken a1");
    assert_true(got->torn_tail);
    assert_int_equal(got->broken, 2);
    transcript_free(got);
    transcript_writer_end(&t);
}

TEST(results_of_parallel_calls_are_included)
{
    struct transcript_writer t;
    static const char call[] =
        "\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"%s\"}]}";
    static const char result[] =
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"%s\"}]}";
    char rest[200];

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    snprintf(rest, sizeof rest, call, "t1");
    transcript_writer_row(&t, "assistant", "a1", "u1", rest);
    snprintf(rest, sizeof rest, call, "t2");
    transcript_writer_row(&t, "assistant", "a2", "a1", rest);
    snprintf(rest, sizeof rest, result, "t1");
    transcript_writer_row(&t, "user", "r1", "a1", rest);
    snprintf(rest, sizeof rest, result, "t2");
    transcript_writer_row(&t, "user", "r2", "a2", rest);
    transcript_writer_assistant(&t, "a3", "r2");
    expect(&t, "u1 a1 a2 r1 r2 a3");
}

TEST(sidechains_and_progress_are_omitted_and_meta_is_marked)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_row(&t, "user", "x1", "u1", "\"isSidechain\":true");
    transcript_writer_row(&t, "progress", "p1", "u1", "");
    transcript_writer_row(&t, "user", "m1", "p1", "\"isMeta\":true");
    transcript_writer_row(&t, "attachment", "t1", "m1", "\"attachment\":{\"type\":\"todo\"}");
    expect(&t, "u1 m1+meta t1");
}

TEST(a_tail_equals_the_end_of_the_whole)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct session_ref ref = transcript_writer_ref(&t);
    struct transcript *got;
    char text[4096];

    assert_int_equal(claude_tail(NULL, &ref, 400, NULL, &got, NULL), ERR_OK);

    describe(got, text);
    assert_string_equal(text, "u2 a2");
    assert_true(got->partial);
    transcript_free(got);

    assert_int_equal(claude_tail(NULL, &ref, 1 << 20, NULL, &got, NULL), ERR_OK);
    describe(got, text);
    assert_string_equal(text, "u1 a1 u2 a2");
    assert_false(got->partial);
    transcript_free(got);
    transcript_writer_end(&t);
}

TEST(a_tail_grows_until_it_holds_a_row)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct session_ref ref = transcript_writer_ref(&t);
    struct transcript *got;
    char text[4096];

    assert_int_equal(claude_tail(NULL, &ref, 20, NULL, &got, NULL), ERR_OK);

    describe(got, text);
    assert_string_equal(text, "a2");
    transcript_free(got);
    transcript_writer_end(&t);
}

TEST(a_truncated_row_is_stale)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct transcript *got = load(&t);
    struct buf row = { 0 };

    assert_int_equal(truncate(t.path, 300), 0);

    assert_int_equal(transcript_read(got, 0, &row, NULL), ERR_OK);
    assert_int_equal(transcript_read(got, 3, &row, NULL), ERR_STALE);
    buf_fini(&row);
    transcript_free(got);
    transcript_writer_end(&t);
}

TEST(a_long_chain_is_walked_in_bounded_time)
{
    enum { LONG = 50000 };
    struct transcript_writer t;
    char id[16], parent[16] = "";

    transcript_writer_begin(&t);
    for (int i = 0; i < LONG; i++) {
        snprintf(id, sizeof id, "n%d", i);
        transcript_writer_user(&t, id, parent);
        memcpy(parent, id, sizeof id);
    }

    struct transcript *got = load(&t);

    assert_int_equal(got->n, LONG);
    assert_int_equal(got->message[LONG - 1].line, LONG - 1);
    transcript_free(got);
    transcript_writer_end(&t);
}

TEST(an_empty_file_is_an_empty_conversation)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    expect(&t, "");
}
