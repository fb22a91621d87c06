#include "tests/test.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

#define NO_ID ((struct slice){ NULL, 0 })

static const struct store_env env = { .home = "/nowhere", .now_ms = 1772359202000 };
static const struct store somewhere = { .ops = &claude_ops, .env = &env };

static enum err_code restore_at(struct transcript_writer *t, struct slice at, struct restore *out,
                                struct err *e)
{
    struct session_ref ref = transcript_writer_ref(t);

    return claude_restore(&somewhere, &ref, at, out, e);
}

static bool says(struct slice row, const char *text)
{
    return memmem(row.p, row.n, text, strlen(text)) != NULL;
}

/* The ids of the messages; added ones are "+go" for the request to continue, "+none" for the empty answer, "+cut" for
 * the result of an interrupted call. */
static void ids_of(const struct restore *r, char out[1024])
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < r->messages; i++) {
        struct arena a = { 0 };
        struct slice id = SLICE("?");
        bool go = json_get_true(r->messages_json[i], "isMeta") && i + 1 == r->messages;

        assert_true(json_valid(r->messages_json[i]));
        json_get_text(r->messages_json[i], "uuid", &a, &id);
        if (go && id.n == 36)
            id = SLICE("+go");
        else if (id.n == 1 && says(r->messages_json[i], "No response requested."))
            id = SLICE("+none");
        else if (id.n == 1 && says(r->messages_json[i], "[Tool call interrupted: "))
            id = SLICE("+cut");
        at += (size_t)snprintf(out + at, 1024 - at, "%s%.*s", i ? " " : "", SLICE_ARG(id));
        arena_fini(&a);
    }
}

static void gives_at(struct transcript_writer *t, const char *id, const char *want)
{
    struct restore r;
    char got[1024];

    assert_int_equal(restore_at(t, slice_of(id), &r, NULL), ERR_OK);
    ids_of(&r, got);
    assert_string_equal(got, want);
    restore_fini(&r);
}

/* Restores the session, compares its messages and frees everything. */
static void gives(struct transcript_writer *t, const char *want)
{
    gives_at(t, "", want);
    transcript_writer_end(t);
}

static void last_prompt(struct transcript_writer *t, const char *leaf, const char *rest)
{
    char row[256];

    snprintf(row, sizeof row, "{\"type\":\"last-prompt\",\"leafUuid\":%s%s}\n", leaf, rest);
    transcript_writer_raw(t, row);
}

TEST(the_whole_conversation_is_restored)
{
    struct transcript_writer t = transcript_writer_two_turns();

    gives(&t, "u1 a1 u2 a2");
}

TEST(rows_are_restored_byte_for_byte)
{
    struct transcript_writer t;
    struct restore r;
    static const char row[] = "{ \"type\":\"user\",\"uuid\":\"u1\",\"n\":1e400,\"s\":\"\\ud800\","
                              "\"message\":{\"content\":\"x\"} }";

    transcript_writer_begin(&t);
    transcript_writer_raw(&t, row);
    transcript_writer_raw(&t, "\n");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.messages, 2);
    assert_true(slice_eq(r.messages_json[0], SLICE(row)));
    restore_fini(&r);
    transcript_writer_end(&t);
}

/* Above 5 MiB a boundary makes the rows before it unreachable; a requested leaf is found all the same. */
TEST(before_the_boundary_of_a_large_file_only_the_named_leaf_is_restored)
{
    struct transcript_writer t;
    char *pad = malloc(6 << 20);

    assert_non_null(pad);
    memset(pad, ' ', 6 << 20);
    pad[(6 << 20) - 1] = '\0';
    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_assistant(&t, "a1", "u1");
    transcript_writer_raw(&t, pad);
    transcript_writer_raw(&t, "\n");
    transcript_writer_raw(
        &t, "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"c\"}\n");
    transcript_writer_user(&t, "u2", "a1");
    transcript_writer_assistant(&t, "a2", "u2");
    free(pad);
    gives_at(&t, "a1", "u1 a1");
    gives(&t, "u2 a2");
}

TEST(the_conversation_ends_at_an_explicit_leaf)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    gives(&t, "u1 a1");
}

#define COMMAND(uuid, parent, text)                                                                \
    "{\"type\":\"system\",\"subtype\":\"local_command\",\"uuid\":\"" uuid                          \
    "\",\"parentUuid\":\"" parent "\",\"content\":\"" text                                         \
    "\",\"timestamp\":\"2026-03-01T10:00:00.000Z\"}\n"

/* What the client 2.1.332 did. Another row below a command is not its output. */
TEST(an_explicit_leaf_at_a_slash_command_is_restored_with_its_output)
{
    static const struct {
        const char *leaf, *below, *want;
    } cases[] = {
        { "\"c\"", COMMAND("o", "c", "<local-command-stdout>renamed</local-command-stdout>"),
          "u1 a1 c o" },
        { "\"c\"", COMMAND("o", "c", "<local-command-stderr>failed</local-command-stderr>"),
          "u1 a1 c o" },
        { "\"c\"", COMMAND("o", "c", "<command-name>/other</command-name>"), "u1 a1 c" },
        { "\"c\"", COMMAND("o", "a1", "<local-command-stdout>x</local-command-stdout>"),
          "u1 a1 c" },
        { "\"a1\"", COMMAND("o", "c", "<local-command-stdout>x</local-command-stdout>"), "u1 a1" },
        { "\"c\"", "", "u1 a1 c" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transcript_writer t;

        transcript_writer_begin(&t);
        transcript_writer_user(&t, "u1", "");
        transcript_writer_assistant(&t, "a1", "u1");
        transcript_writer_raw(
            &t, COMMAND("c", "a1", "<command-name>/rename</command-name>\\n<command-args>x"));
        transcript_writer_raw(&t, cases[i].below);
        transcript_writer_user(&t, "u2", *cases[i].below ? "o" : "c");
        transcript_writer_assistant(&t, "a2", "u2");
        last_prompt(&t, cases[i].leaf, ",\"explicit\":true");
        gives(&t, cases[i].want);
    }
}

TEST(a_row_added_after_the_leaf_later_counts)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    transcript_writer_user(&t, "u3", "a1");
    transcript_writer_assistant(&t, "a3", "u3");
    transcript_writer_raw(&t, "{\"type\":\"custom-title\",\"customTitle\":\"T\"}\n");
    gives(&t, "u1 a1 u3 a3");
}

TEST(a_branch_named_by_no_last_prompt_is_ignored)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "\"a2\"", "");
    transcript_writer_user(&t, "u3", "a1");
    transcript_writer_assistant(&t, "a3", "u3");
    gives(&t, "u1 a1 u2 a2");
}

TEST(a_null_leaf_begins_a_new_conversation)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "null", ",\"explicit\":true");
    gives_at(&t, "", "");
    transcript_writer_user(&t, "u3", "");
    gives(&t, "u3 +none");
}

TEST(an_unknown_leaf_is_no_leaf)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    last_prompt(&t, "null", "");
    gives_at(&t, "", "u1 a1");
    last_prompt(&t, "\"00000000-0000-0000-0000-000000000000\"", ",\"explicit\":true");
    gives_at(&t, "", "u1 a1 u2 a2");
    last_prompt(&t, "\"gone\"", "");
    gives(&t, "u1 a1 u2 a2");
}

TEST(an_ordinary_leaf_is_superseded_by_any_later_row)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "\"a1\"", "");
    gives_at(&t, "", "u1 a1 u2 a2");
    transcript_writer_user(&t, "u3", "u1");
    gives(&t, "u1 a1");
}

TEST(an_ordinary_leaf_that_repeats_an_explicit_one_changes_nothing)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    last_prompt(&t, "\"a1\"", "");
    gives_at(&t, "", "u1 a1");
    last_prompt(&t, "\"a2\"", "");
    gives(&t, "u1 a1 u2 a2");
}

TEST(a_later_branch_beside_an_explicit_leaf_does_not_count)
{
    struct transcript_writer t = transcript_writer_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    transcript_writer_assistant(&t, "a3", "a1");
    transcript_writer_assistant(&t, "b1", "u1");
    gives(&t, "u1 a1");
}

/* Rows before a boundary that kept messages are lost for the client, and so is a leaf among them. */
TEST(a_leaf_before_a_compaction_is_no_leaf)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(
        &t, "system", "c", "",
        "\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"a2\",\"compactMetadata\":{"
        "\"preservedMessages\":{\"anchorUuid\":\"s\",\"uuids\":[\"u2\",\"a2\"]}}");
    transcript_writer_user(&t, "s", "c");
    transcript_writer_user(&t, "u3", "s");
    transcript_writer_assistant(&t, "a3", "u3");
    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    gives_at(&t, "", "c s u2 a2 u3 a3");
    last_prompt(&t, "\"a2\"", ",\"explicit\":true");
    gives_at(&t, "", "c s u2 a2");
    last_prompt(&t, "\"c\"", ",\"explicit\":true");
    gives(&t, "c s u2 a2 u3 a3");
}

TEST(without_last_prompts_the_last_row_counts)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_user(&t, "u3", "a1");
    transcript_writer_assistant(&t, "a3", "u3");
    gives(&t, "u1 a1 u3 a3");
}

TEST(another_message_can_be_requested)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;
    struct err e = { 0 };

    transcript_writer_user(&t, "side-branch-1", "a1");
    transcript_writer_assistant(&t, "side-branch-2", "side-branch-1");
    last_prompt(&t, "\"a2\"", "");
    gives_at(&t, "a1", "u1 a1");
    gives_at(&t, "side-branch-2", "u1 a1 side-branch-1 side-branch-2");
    assert_int_equal(restore_at(&t, SLICE("side-b"), &r, &e), ERR_USAGE);
    assert_int_equal(restore_at(&t, SLICE("nobody"), &r, &e), ERR_NOT_FOUND);
    assert_int_equal(restore_at(&t, SLICE("a"), &r, NULL), ERR_NOT_FOUND);
    transcript_writer_end(&t);
}

TEST(a_unique_id_prefix_is_enough)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_user(&t, "long-name-1", "a1");
    transcript_writer_assistant(&t, "other-name", "long-name-1");
    gives_at(&t, "long", "u1 a1 long-name-1");
    gives(&t, "u1 a1 long-name-1 other-name");
}

TEST(a_row_without_its_parent_starts_anew_after_a_pause)
{
    struct transcript_writer t = transcript_writer_two_turns();

    t.rows = 8; /* five seconds after a2 */
    transcript_writer_user(&t, "u3", "lost");
    transcript_writer_assistant(&t, "a3", "u3");
    gives_at(&t, "", "u1 a1 u2 a2 u3 a3");
    t.rows = 15; /* six after a3 */
    transcript_writer_assistant(&t, "a4", "lost too");
    gives(&t, "a4");
}

/* The row with the nearest earlier time anywhere in the file, the first one if times are equal; never a row of a
 * sub-agent. */
TEST(a_row_without_its_parent_follows_the_nearest_time)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(&t, "user", "side", "a2",
                          "\"isSidechain\":true,\"message\":{\"content\":\"x\"}");
    t.rows = 5;
    transcript_writer_user(&t, "u5", "lost");
    transcript_writer_assistant(&t, "a5", "u5");
    t.rows = 3;
    transcript_writer_assistant(&t, "b2", "u1");
    gives_at(&t, "", "u1 b2");
    transcript_writer_assistant(&t, "a6", "a5");
    gives(&t, "u1 a1 u2 a2 u5 a5 a6");
}

TEST(an_answer_without_its_parent_follows_the_row_before)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(&t, "attachment", "t1", "lost", "\"attachment\":{\"type\":\"date\"}");
    transcript_writer_assistant(&t, "a3", "lost too");
    gives(&t, "u1 a1 u2 a2 t1 a3");
}

TEST(a_cycle_ends_the_path)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "a2");
    transcript_writer_assistant(&t, "a1", "u1");
    transcript_writer_user(&t, "u2", "a1");
    transcript_writer_assistant(&t, "a2", "u2");
    gives(&t, "u1 a1 u2 a2");
}

TEST(a_session_without_messages_is_not_found)
{
    struct transcript_writer t;
    struct restore r;
    struct err e = { 0 };

    transcript_writer_begin(&t);
    transcript_writer_raw(&t, "{\"type\":\"custom-title\",\"customTitle\":\"T\"}\n");
    assert_int_equal(restore_at(&t, NO_ID, &r, &e), ERR_NOT_FOUND);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    transcript_writer_end(&t);
}

TEST(an_interrupted_turn_ends_with_a_message_to_continue)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;
    char got[1024];
    struct slice value;

    transcript_writer_row(
        &t, "assistant", "a3", "a2",
        "\"message\":{\"id\":\"m3\",\"content\":[{\"type\":\"tool_use\",\"id\":\"T\"}]}");
    transcript_writer_row(
        &t, "user", "r3", "a3",
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T\"}]}");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    ids_of(&r, got);
    assert_string_equal(got, "u1 a1 u2 a2 a3 r3 +none +go");
    assert_int_equal(r.interruption, INTERRUPTION_TURN);
    assert_true(json_at(r.messages_json[7], "message.content", &value));
    assert_true(json_string_is(value, "Continue from where you left off."));
    assert_true(json_get(r.messages_json[7], "timestamp", &value));
    assert_true(json_string_is(value, "2026-03-01T10:00:02.000Z"));
    restore_fini(&r);
    transcript_writer_end(&t);
}

/* Each call without a result gets one; a requested leaf ends there. */
TEST(a_session_that_ended_in_its_calls_keeps_them)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(
        &t, "assistant", "side-call", "a2",
        "\"message\":{\"id\":\"m3\",\"content\":[{\"type\":\"tool_use\",\"id\":\"T\"}]}");
    transcript_writer_row(
        &t, "assistant", "call-2", "side-call",
        "\"message\":{\"id\":\"m3\",\"content\":[{\"type\":\"tool_use\",\"id\":\"U\"}]}");
    transcript_writer_row(
        &t, "user", "r3", "side-call",
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T\"}]}");
    last_prompt(&t, "\"call-2\"", "");
    gives_at(&t, "", "u1 a1 u2 a2 side-call call-2 r3 +cut +none +go");
    gives_at(&t, "side-call", "u1 a1 u2 a2 side-call");
    gives_at(&t, "call-2", "u1 a1 u2 a2 side-call call-2");
    transcript_writer_end(&t);
}

TEST(an_unanswered_prompt_is_returned)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;
    char got[1024];
    struct slice value;

    transcript_writer_user(&t, "u3", "a2");
    transcript_writer_row(&t, "attachment", "t3", "u3", "\"attachment\":{\"type\":\"date\"}");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    ids_of(&r, got);
    assert_string_equal(got, "u1 a1 u2 a2 u3 t3 +none");
    assert_int_equal(r.interruption, INTERRUPTION_PROMPT);
    assert_true(json_get(r.prompt_json, "uuid", &value) && json_string_is(value, "u3"));
    restore_fini(&r);
    transcript_writer_end(&t);
}

/* Two calls made at once, A and B, with their results; the conversation goes on below that of B. A last-prompt row
 * names a row in the middle. */
static void leaf_among_calls(const char *leaf, const char *rest, const char *want)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    for (int i = 0; i < 2; i++) {
        char row[256];

        snprintf(row, sizeof row,
                 "\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":"
                 "\"tool_use\",\"id\":\"t%c\",\"name\":\"T\",\"input\":{}}]}",
                 "AB"[i]);
        transcript_writer_row(&t, "assistant", i ? "callB" : "callA", i ? "callA" : "u1", row);
    }
    for (int i = 0; i < 2; i++) {
        char row[256];

        snprintf(row, sizeof row,
                 "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                 "\"tool_use_id\":\"t%c\",\"content\":\"ok\"}]}",
                 "AB"[i]);
        transcript_writer_row(&t, "user", i ? "resultB" : "resultA", i ? "callB" : "callA", row);
        if (i == 0)
            last_prompt(&t, leaf, rest);
    }
    transcript_writer_assistant(&t, "a2", "resultB");
    gives(&t, want);
}

TEST(the_end_follows_each_of_several_calls_made_at_once)
{
    static const char *const leaf[] = { "\"resultA\"", "\"callA\"", "\"callB\"", "\"u1\"" };

    for (size_t i = 0; i < sizeof leaf / sizeof *leaf; i++)
        leaf_among_calls(leaf[i], "", "u1 callA callB resultA resultB a2");
}

TEST(a_result_that_is_named_explicitly_is_the_end)
{
    leaf_among_calls("\"resultA\"", ",\"explicit\":true",
                     "u1 callA callB resultA resultB +none +go");
}

TEST(a_result_whose_call_is_gone_is_left_out)
{
    struct transcript_writer t;
    struct restore r;
    char got[1024];
    struct slice content;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_row(&t, "user", "lone", "u1",
                          "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                          "\"tool_use_id\":\"gone\",\"content\":\"ok\"}]}");
    transcript_writer_assistant(&t, "a1", "lone");
    transcript_writer_row(
        &t, "user", "mixed", "a1",
        "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
        "\"tool_use_id\":\"gone\",\"content\":\"ok\"},{\"type\":\"text\",\"text\":"
        "\"Go on\"}]}");
    transcript_writer_row(
        &t, "assistant", "call", "mixed",
        "\"message\":{\"id\":\"m3\",\"content\":[{\"type\":\"tool_use\",\"id\":\"T\"}]}");
    transcript_writer_row(
        &t, "user", "two", "call",
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"gone\"},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"T\"},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"gone too\"}],\"role\":\"user\"}");
    transcript_writer_assistant(&t, "a2", "two");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    ids_of(&r, got);
    assert_string_equal(got, "u1 a1 mixed call two a2");
    assert_true(json_at(r.messages_json[2], "message.content", &content));
    assert_true(slice_eq(content, SLICE("[{\"type\":\"text\",\"text\":\"Go on\"}]")));
    assert_true(json_at(r.messages_json[4], "message.content", &content));
    assert_true(slice_eq(content, SLICE("[{\"type\":\"tool_result\",\"tool_use_id\":\"T\"}]")));
    restore_fini(&r);
    transcript_writer_end(&t);
}
