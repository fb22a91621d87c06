#include "tests/test.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

/* The ids of the returned messages, each with its flags. */
struct answer {
    char text[4096];
    size_t n;
};

static void add_flag(struct answer *a, struct slice json, const char *key, const char *sign)
{
    if (json_get_true(json, key))
        a->n += (size_t)snprintf(a->text + a->n, sizeof a->text - a->n, "%s", sign);
}

static enum err_code note(struct slice json, void *arg, struct err *e)
{
    struct answer *a = arg;
    struct slice id = { "?", 1 };
    struct arena arena = { 0 };

    (void)e;
    assert_true(json_valid(json));
    json_get_text(json, "uuid", &arena, &id);
    a->n += (size_t)snprintf(a->text + a->n, sizeof a->text - a->n, "%s%.*s", a->n ? " " : "",
                             SLICE_ARG(id));
    add_flag(a, json, "isQueuedCommand", "+queued");
    add_flag(a, json, "isCompletedLocalCommand", "+local");
    arena_fini(&arena);
    return ERR_OK;
}

static void expect_query(struct transcript_writer *t, struct message_query q, const char *want)
{
    static const struct store_env env = { .cwd = "/" };
    struct store st = { .ops = &claude_ops, .env = &env };
    struct session_ref ref = transcript_writer_ref(t);
    struct answer a = { .n = 0 };

    assert_int_equal(claude_messages(&st, &ref, &q, note, &a, NULL), ERR_OK);
    assert_string_equal(a.text, want);
}

static void expect(struct transcript_writer *t, const char *want)
{
    expect_query(t, (struct message_query){ .as_sdk = true }, want);
    transcript_writer_end(t);
}

TEST(a_resume_ends_at_the_resume_leaf)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a1\",\"explicit\":true}\n");
    expect_query(&t, (struct message_query){ 0 }, "u1 a1");
    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":null,\"explicit\":true}\n");
    expect_query(&t, (struct message_query){ 0 }, "");
    transcript_writer_user(&t, "u3", "lost");
    transcript_writer_assistant(&t, "a3", "u3");
    expect_query(&t, (struct message_query){ 0 }, "u1 a1 u2 a2 u3 a3");
    expect(&t, "u3 a3");
}

#define ANSWER(message, blocks) "\"message\":{\"id\":\"" message "\",\"content\":[" blocks "]}"
#define CALL(id) "{\"type\":\"tool_use\",\"id\":\"" id "\"}"
#define RESULT(id)                                                                                 \
    "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\"}]}"

TEST(rows_that_a_resume_does_not_load_are_not_returned)
{
    struct transcript_writer t;
    const struct message_query resume = { 0 }, sdk = { .as_sdk = true },
                               first = { .has_limit = true, .limit = 3 };

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_row(&t, "assistant", "a1", "u1", ANSWER("m1", CALL("no-result")));
    transcript_writer_user(&t, "u2", "a1");
    transcript_writer_row(&t, "assistant", "a2", "u2", ANSWER("m2", "{\"type\":\"thinking\"}"));
    transcript_writer_row(&t, "assistant", "a3", "a2", ANSWER("m2", CALL("result")));
    transcript_writer_row(&t, "user", "r3", "a3", RESULT("result"));
    transcript_writer_row(&t, "assistant", "a4", "r3", ANSWER("m4", "{\"type\":\"thinking\"}"));
    transcript_writer_user(&t, "u5", "a4");
    transcript_writer_row(&t, "assistant", "a5", "u5",
                          ANSWER("m5", "{\"type\":\"text\",\"text\":\" \"}"));
    transcript_writer_user(&t, "u6", "a5");
    transcript_writer_row(&t, "assistant", "a6", "u6", ANSWER("m6", CALL("cut")));

    expect_query(&t, resume, "u1 u2 a2 a3 r3 u5 u6 a6");
    expect_query(&t, first, "u1 u2 a2");
    expect_query(&t, sdk, "u1 a1 u2 a2 a3 r3 a4 u5 a5 u6 a6");
    transcript_writer_end(&t);
}

TEST(rows_that_bridge_a_gap_are_returned_whoever_wrote_them)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(&t, "user", "of-team", "a2",
                          "\"teamName\":\"red\",\"message\":{\"content\":\"x\"}");
    transcript_writer_user(&t, "u3", "lost");
    expect_query(&t, (struct message_query){ 0 }, "u1 a1 u2 a2 of-team u3");
    expect(&t, "u3");
}

TEST(the_last_end_in_the_file_is_the_leaf)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_user(&t, "u3", "a1");
    transcript_writer_raw(&t, "{\"type\":\"last-prompt\",\"leafUuid\":\"a2\"}\n");
    expect(&t, "u1 a1 u3");
}

TEST(pages_count_like_slices)
{
    struct transcript_writer t = transcript_writer_two_turns();

    expect_query(
        &t, (struct message_query){ .as_sdk = true, .has_limit = true, .limit = 2, .offset = 1 },
        "a1 u2");
    expect_query(&t, (struct message_query){ .as_sdk = true, .has_limit = true, .limit = 0 },
                 "u1 a1 u2 a2");
    expect_query(&t, (struct message_query){ .as_sdk = true, .offset = 3 }, "a2");
    expect_query(&t, (struct message_query){ .as_sdk = true, .offset = -1 }, "u1 a1 u2 a2");
    expect_query(
        &t, (struct message_query){ .as_sdk = true, .has_limit = true, .limit = 1, .offset = -2 },
        "u2");
    expect_query(&t,
                 (struct message_query){
                     .as_sdk = true, .has_limit = true, .limit = INT64_MAX, .offset = 9 },
                 "");
    transcript_writer_end(&t);
}

TEST(kept_messages_follow_the_anchor)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(
        &t, "system", "c", "",
        "\"subtype\":\"compact_boundary\",\"compactMetadata\":{\"preservedMessages\":"
        "{\"anchorUuid\":\"s\",\"uuids\":[\"u2\",\"a2\"]}}");
    transcript_writer_user(&t, "s", "c");
    transcript_writer_user(&t, "u3", "s");
    expect(&t, "s u2 a2 u3");
}

TEST(an_unknown_kept_message_voids_the_kept_segment)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(
        &t, "system", "c", "",
        "\"subtype\":\"compact_boundary\",\"compactMetadata\":{\"preservedMessages\":"
        "{\"anchorUuid\":\"s\",\"uuids\":[\"u2\",\"gone\"]}}");
    transcript_writer_user(&t, "s", "c");
    expect(&t, "s");
}

TEST(an_older_boundary_keeps_a_segment)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_row(
        &t, "system", "c", "",
        "\"subtype\":\"compact_boundary\",\"compactMetadata\":{\"preservedSegment\":"
        "{\"headUuid\":\"u2\",\"anchorUuid\":\"s\",\"tailUuid\":\"a2\"}}");
    transcript_writer_user(&t, "s", "c");
    transcript_writer_user(&t, "u3", "s");
    expect(&t, "s u2 a2 u3");
}

#define QUEUED(source) "\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"p\"" source "}"

TEST(an_answered_queued_command_is_returned)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_row(&t, "attachment", "q1", "u1", QUEUED(",\"source_uuid\":\"s1\""));
    transcript_writer_assistant(&t, "a1", "q1");
    transcript_writer_row(&t, "attachment", "q2", "a1", QUEUED(""));
    transcript_writer_user(&t, "u2", "q2");
    transcript_writer_row(&t, "attachment", "q3", "u2", QUEUED(",\"source_uuid\":\"u1\""));
    transcript_writer_row(&t, "attachment", "q4", "q3", QUEUED(",\"source_uuid\":\"s4\""));
    expect(&t, "u1 s1+queued a1 u2 s4+queued");
}

TEST(the_queue_determines_which_copy_reached_the_agent)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_row(&t, "attachment", "q1", "u1", QUEUED(",\"source_uuid\":\"s\""));
    transcript_writer_assistant(&t, "a1", "q1");
    transcript_writer_row(&t, "attachment", "q2", "a1", QUEUED(",\"source_uuid\":\"s\""));
    transcript_writer_raw(&t, "{\"type\":\"queue-operation\",\"operation\":\"remove\",\"reason\":"
                              "\"absorbed_mid_turn\",\"commandUuid\":\"s\"}\n");
    transcript_writer_user(&t, "u2", "q2");
    expect(&t, "u1 a1 s+queued u2");
}

TEST(a_local_command_is_recognised_by_its_caveat)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_row(&t, "user", "c1", "",
                          "\"isMeta\":true,\"message\":{\"content\":\"<local-command-caveat>x\"}");
    transcript_writer_row(&t, "user", "n1", "c1",
                          "\"message\":{\"content\":\"<command-name>/model\"}");
    transcript_writer_row(&t, "user", "o1", "n1",
                          "\"message\":{\"content\":\"<local-command-stdout>x\"}");
    transcript_writer_user(&t, "u1", "o1");
    transcript_writer_row(&t, "user", "o2", "u1",
                          "\"message\":{\"content\":\"<local-command-stdout>x\"}");
    expect(&t, "n1+local o1+local u1 o2");
}

TEST(a_broken_row_is_not_part_of_the_chain)
{
    struct transcript_writer t = transcript_writer_two_turns();

    transcript_writer_raw(&t,
                          "{\"type\":\"user\",\"uuid\":\"bad\",\"parentUuid\":\"a2\",\"n\":NaN}\n");
    transcript_writer_user(&t, "u3", "bad");
    expect(&t, "u3");
}

/* Above 5 MiB the vendor starts at the last boundary that kept nothing, if there is one. */
static void large_conversation(struct transcript_writer *t, const char *boundary)
{
    char *pad = malloc(1 << 20);

    assert_non_null(pad);
    memset(pad, 'x', 1 << 20);
    pad[(1 << 20) - 1] = '\0';
    transcript_writer_begin(t);
    transcript_writer_user(t, "u1", "");
    for (int i = 0; i < 6; i++) {
        transcript_writer_raw(t, "{\"type\":\"pad\",\"pad\":\"");
        transcript_writer_raw(t, pad);
        transcript_writer_raw(t, "\"}\n");
    }
    transcript_writer_raw(t, boundary);
    transcript_writer_user(t, "u2", "u1");
    free(pad);
}

TEST(rows_before_a_boundary_in_a_large_file_are_not_read)
{
    struct transcript_writer t;

    large_conversation(&t,
                       "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"c\"}\n");
    expect(&t, "u2");
    large_conversation(&t, "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"c\","
                           "\"compactMetadata\":{\"preservedMessages\":{\"uuids\":[]}}}\n");
    expect(&t, "u1 u2");
}

TEST(a_host_hides_its_call_and_the_result)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_row(
        &t, "assistant", "a1", "u1",
        "\"hostHiddenToolUseIds\":[\"t\"],\"message\":{\"id\":\"m\",\"content\":["
        "{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"tool_use\",\"id\":\"t\"}]}");
    transcript_writer_row(
        &t, "user", "r1", "a1",
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\"}]}");
    transcript_writer_assistant(&t, "a2", "r1");
    expect(&t, "u1 a1 a2");
}

TEST(sub_agents_are_listed_by_name_at_any_depth)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct session_ref ref = transcript_writer_ref(&t), sub;
    struct arena a = { 0 };
    struct slice *ids;
    size_t n;
#define SIDE "projects/-p/5e550000-0000-4000-8000-000000000001/subagents/"

    folder_put(&t.folder, SIDE "agent-b.jsonl", SLICE("{}\n"));
    folder_put(&t.folder, SIDE "agent-a.jsonl", SLICE("{}\n"));
    folder_put(&t.folder, SIDE "aa/agent-c.jsonl", SLICE("{}\n"));
    folder_put(&t.folder, SIDE "other.jsonl", SLICE("{}\n"));

    assert_int_equal(claude_subagents(NULL, &ref, &a, &ids, &n, NULL), ERR_OK);

    assert_int_equal(n, 3);
    assert_true(slice_eq(ids[0], SLICE("c")));
    assert_true(slice_eq(ids[1], SLICE("a")));
    assert_true(slice_eq(ids[2], SLICE("b")));
    assert_int_equal(claude_subagent(NULL, &ref, SLICE("c"), &a, &sub, NULL), ERR_OK);
    assert_int_equal(sub.file.size, 3);
    assert_int_equal(claude_subagent(NULL, &ref, SLICE("../x"), &a, &sub, NULL), ERR_NOT_FOUND);
    arena_fini(&a);
    transcript_writer_end(&t);
}

/* Four ends: an answer, a call without a result, an error, and a row with only a name. */
TEST(sub_agents_are_described_by_their_last_rows)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct session_ref ref = transcript_writer_ref(&t);
    struct subagent_list list = { .n = 0 };
    const struct subagent *x;
#define ROW(uuid, more) "{\"isSidechain\":true,\"uuid\":\"" uuid "\"," more "}\n"
#define ASKED ROW("1", "\"type\":\"user\",\"message\":{\"content\":\"List every route\"}")
#define SAID(text)                                                                                 \
    "\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}"

    folder_put(&t.folder, SIDE "agent-a.jsonl",
               SLICE(ASKED ROW("2", SAID("\\n23 routes.\\nAll."))));
    folder_put(&t.folder, SIDE "agent-a.meta.json",
               SLICE("{\"agentType\":\"Explore\",\"description\":\"Audit the shop\"}"));
    folder_put(&t.folder, SIDE "agent-b.jsonl",
               SLICE(ASKED ROW("2", SAID("I look.")) ROW(
                   "3", "\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\","
                        "\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}]}")));
    folder_put(&t.folder, SIDE "agent-b.meta.json", SLICE("[1, torn"));
    folder_put(&t.folder, SIDE "agent-c.jsonl",
               SLICE(ASKED ROW("2", "\"isApiErrorMessage\":true," SAID("API Error: 529"))));
    folder_put(&t.folder, SIDE "agent-d.jsonl", SLICE(""));

    assert_int_equal(claude_describe_subagents(NULL, &ref, NULL, &list, NULL), ERR_OK);

    assert_int_equal(list.n, 4);
    x = list.agent;
    assert_true(slice_eq(x[0].id, SLICE("a")) && slice_eq(x[0].type, SLICE("Explore")));
    assert_true(slice_eq(x[0].task, SLICE("Audit the shop")));
    assert_true(slice_eq(x[0].outcome, SLICE("23 routes.")));
    assert_int_equal(x[0].end, SUBAGENT_DONE);
    assert_int_equal(x[0].bytes, sizeof(ASKED ROW("2", SAID("\\n23 routes.\\nAll."))) - 1);
    assert_int_equal(x[1].type.n, 0);
    assert_true(slice_eq(x[1].task, SLICE("List every route")));
    assert_true(slice_eq(x[1].outcome, SLICE("I look.")));
    assert_int_equal(x[1].end, SUBAGENT_OPEN);
    assert_int_equal(x[2].end, SUBAGENT_FAILED);
    assert_true(slice_eq(x[3].id, SLICE("d")));
    assert_int_equal(x[3].end, SUBAGENT_OPEN);
    assert_int_equal(x[3].task.n + x[3].outcome.n, 0);
    subagent_list_fini(&list);
    transcript_writer_end(&t);
}
