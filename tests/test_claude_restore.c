#include "tests/test.h"

#include "lite/json.h"
#include "store/systems/claude/claude.h"
#include "support/talk.h"

#define NO_ID ((struct slice){ NULL, 0 })

static const struct store_env env = { .home = "/nowhere", .now_ms = 1772359202000 };
static const struct store somewhere = { .ops = &claude_ops, .env = &env };

static enum err_code restore_at(struct talk *t, struct slice at, struct restore *out, struct err *e)
{
    struct session_ref ref = talk_ref(t);

    return claude_restore(&somewhere, &ref, at, out, e);
}

/* The ids of the messages, "+go" for the one that says to continue. */
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
        at += (size_t)snprintf(out + at, 1024 - at, "%s%.*s", i ? " " : "", SLICE_ARG(id));
        arena_fini(&a);
    }
}

static void gives_at(struct talk *t, const char *id, const char *want)
{
    struct restore r;
    char got[1024];

    assert_int_equal(restore_at(t, (struct slice){ id, strlen(id) }, &r, NULL), ERR_OK);
    ids_of(&r, got);
    assert_string_equal(got, want);
    restore_fini(&r);
}

/* Restores the session, compares its messages and ends the talk. */
static void gives(struct talk *t, const char *want)
{
    gives_at(t, "", want);
    talk_end(t);
}

static void last_prompt(struct talk *t, const char *leaf, const char *rest)
{
    char row[256];

    snprintf(row, sizeof row, "{\"type\":\"last-prompt\",\"leafUuid\":%s%s}\n", leaf, rest);
    talk_raw(t, row);
}

static void the_whole_conversation_comes_back(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    gives(&t, "u1 a1 u2 a2");
}

static void rows_come_back_byte_for_byte(void **state)
{
    (void)state;
    struct talk t;
    struct restore r;
    static const char row[] = "{ \"type\":\"user\",\"uuid\":\"u1\",\"n\":1e400,\"s\":\"\\ud800\","
                              "\"message\":{\"content\":\"x\"} }";

    talk_begin(&t);
    talk_raw(&t, row);
    talk_raw(&t, "\n");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.messages, 1);
    assert_true(slice_eq(r.messages_json[0], SLICE(row)));
    restore_fini(&r);
    talk_end(&t);
}

static void an_explicit_leaf_is_where_it_ends(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    gives(&t, "u1 a1");
}

static void a_row_that_came_to_follow_the_leaf_later_counts(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    talk_user(&t, "u3", "a1");
    talk_assistant(&t, "a3", "u3");
    talk_raw(&t, "{\"type\":\"custom-title\",\"customTitle\":\"T\"}\n");
    gives(&t, "u1 a1 u3 a3");
}

static void a_branch_that_no_last_prompt_names_is_ignored(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    last_prompt(&t, "\"a2\"", "");
    talk_user(&t, "u3", "a1");
    talk_assistant(&t, "a3", "u3");
    gives(&t, "u1 a1 u2 a2");
}

static void a_leaf_of_null_begins_anew(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    last_prompt(&t, "null", ",\"explicit\":true");
    gives_at(&t, "", "");
    talk_user(&t, "u3", "");
    gives(&t, "u3");
}

static void an_unknown_leaf_is_ignored(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    last_prompt(&t, "\"a1\"", ",\"explicit\":true");
    last_prompt(&t, "\"00000000-0000-0000-0000-000000000000\"", ",\"explicit\":true");
    last_prompt(&t, "\"gone\"", "");
    gives(&t, "u1 a1");
}

static void without_last_prompts_the_last_row_counts(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    talk_user(&t, "u3", "a1");
    talk_assistant(&t, "a3", "u3");
    gives(&t, "u1 a1 u3 a3");
}

static void another_message_can_be_asked_for(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();
    struct restore r;
    struct err e = { 0 };

    talk_user(&t, "side-branch-1", "a1");
    talk_assistant(&t, "side-branch-2", "side-branch-1");
    last_prompt(&t, "\"a2\"", "");
    gives_at(&t, "a1", "u1 a1");
    gives_at(&t, "side-branch-2", "u1 a1 side-branch-1 side-branch-2");
    assert_int_equal(restore_at(&t, SLICE("side-b"), &r, &e), ERR_USAGE);
    assert_int_equal(restore_at(&t, SLICE("nobody"), &r, &e), ERR_NOT_FOUND);
    assert_int_equal(restore_at(&t, SLICE("a"), &r, NULL), ERR_NOT_FOUND);
    talk_end(&t);
}

static void a_unique_front_of_an_id_is_enough(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    talk_user(&t, "long-name-1", "a1");
    talk_assistant(&t, "other-name", "long-name-1");
    gives_at(&t, "long", "u1 a1 long-name-1");
    gives(&t, "u1 a1 long-name-1 other-name");
}

static void a_prompt_without_its_parent_begins_the_conversation(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    talk_user(&t, "u3", "lost");
    talk_assistant(&t, "a3", "u3");
    gives(&t, "u3 a3");
}

static void an_answer_without_its_parent_follows_the_row_before(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();

    talk_row(&t, "attachment", "t1", "lost", "\"attachment\":{\"type\":\"date\"}");
    talk_assistant(&t, "a3", "lost too");
    gives(&t, "u1 a1 u2 a2 t1 a3");
}

static void a_circle_ends_the_way(void **state)
{
    (void)state;
    struct talk t;

    talk_begin(&t);
    talk_user(&t, "u1", "a2");
    talk_assistant(&t, "a1", "u1");
    talk_user(&t, "u2", "a1");
    talk_assistant(&t, "a2", "u2");
    gives(&t, "u1 a1 u2 a2");
}

static void a_session_without_messages_is_not_found(void **state)
{
    (void)state;
    struct talk t;
    struct restore r;
    struct err e = { 0 };

    talk_begin(&t);
    talk_raw(&t, "{\"type\":\"custom-title\",\"customTitle\":\"T\"}\n");
    assert_int_equal(restore_at(&t, NO_ID, &r, &e), ERR_NOT_FOUND);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    talk_end(&t);
}

static void a_cut_turn_ends_with_a_message_to_continue(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();
    struct restore r;
    char got[1024];
    struct slice value;

    talk_row(&t, "assistant", "a3", "a2",
             "\"message\":{\"id\":\"m3\",\"content\":[{\"type\":\"tool_use\",\"id\":\"T\"}]}");
    talk_row(&t, "user", "r3", "a3",
             "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T\"}]}");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    ids_of(&r, got);
    assert_string_equal(got, "u1 a1 u2 a2 a3 r3 +go");
    assert_int_equal(r.interruption, INTERRUPTION_TURN);
    assert_true(json_at(r.messages_json[6], "message.content", &value));
    assert_true(json_string_is(value, "Continue from where you left off."));
    assert_true(json_get(r.messages_json[6], "timestamp", &value));
    assert_true(json_string_is(value, "2026-03-01T10:00:02.000Z"));
    restore_fini(&r);
    talk_end(&t);
}

static void an_unanswered_prompt_is_handed_out(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();
    struct restore r;
    char got[1024];
    struct slice value;

    talk_user(&t, "u3", "a2");
    talk_row(&t, "attachment", "t3", "u3", "\"attachment\":{\"type\":\"date\"}");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    ids_of(&r, got);
    assert_string_equal(got, "u1 a1 u2 a2 u3 t3");
    assert_int_equal(r.interruption, INTERRUPTION_PROMPT);
    assert_true(json_get(r.prompt_json, "uuid", &value) && json_string_is(value, "u3"));
    restore_fini(&r);
    talk_end(&t);
}

static void todos_are_those_of_the_last_call(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();
    struct restore r;

    talk_row(
        &t, "assistant", "a3", "a2",
        "\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"T1\",\"name\":\"TodoWrite\","
        "\"input\":{\"todos\":[{\"content\":\"old\"}]}}]}");
    talk_row(&t, "user", "r3", "a3",
             "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T1\"}]}");
    talk_row(
        &t, "assistant", "a4", "r3",
        "\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"T2\",\"name\":\"TodoWrite\","
        "\"input\":{\"todos\":[{\"content\":\"a\"},{\"content\":\"b\"}]}}]}");
    talk_row(&t, "user", "r4", "a4",
             "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T2\"}]}");
    talk_assistant(&t, "a5", "r4");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.todos, 2);
    assert_true(slice_eq(r.todos_json[0], SLICE("{\"content\":\"a\"}")));
    assert_true(slice_eq(r.todos_json[1], SLICE("{\"content\":\"b\"}")));
    restore_fini(&r);
    talk_end(&t);
}

static void skills_are_complete_and_of_one_name_the_last_counts(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();
    struct restore r;
    struct slice value;

    talk_row(&t, "attachment", "s1", "a2",
             "\"attachment\":{\"type\":\"invoked_skills\",\"skills\":["
             "{\"name\":\"x\",\"path\":\"/x\",\"content\":\"1\"},"
             "{\"name\":\"y\",\"path\":\"\",\"content\":\"1\"},"
             "{\"name\":\"z\",\"path\":\"/z\",\"content\":\"1\"}]}");
    talk_row(&t, "attachment", "s2", "s1",
             "\"attachment\":{\"type\":\"invoked_skills\",\"skills\":["
             "{\"name\":\"x\",\"path\":\"/x\",\"content\":\"2\"}]}");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.skills, 2);
    assert_true(json_get(r.skills_json[0], "content", &value) && json_string_is(value, "2"));
    assert_true(json_get(r.skills_json[1], "name", &value) && json_string_is(value, "z"));
    restore_fini(&r);
    talk_end(&t);
}

static void replacements_are_those_of_the_session_itself(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();
    struct restore r;

    talk_raw(&t,
             "{\"type\":\"content-replacement\",\"sessionId\":"
             "\"5e550000-0000-4000-8000-000000000001\",\"replacements\":[{\"a\":1},{\"b\":2}]}\n"
             "{\"type\":\"content-replacement\",\"sessionId\":\"another\","
             "\"replacements\":[{\"c\":3}]}\n"
             "{\"type\":\"content-replacement\",\"agentId\":\"x\",\"sessionId\":"
             "\"5e550000-0000-4000-8000-000000000001\",\"replacements\":[{\"d\":4}]}\n");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.replacements, 2);
    assert_true(slice_eq(r.replacements_json[1], SLICE("{\"b\":2}")));
    restore_fini(&r);
    talk_end(&t);
}

static void the_state_of_the_session_is_what_its_last_rows_say(void **state)
{
    (void)state;
    struct talk t = talk_two_turns();
    struct restore r;
    char rows[9000];

    snprintf(
        rows, sizeof rows,
        "{\"type\":\"mode\",\"mode\":\"coordinator\"}\n{\"type\":\"mode\",\"mode\":\"normal\"}\n"
        "{\"type\":\"agent-setting\",\"agentSetting\":\"reviewer\"}\n"
        "{\"type\":\"worktree-state\",\"worktreeSession\":{\"worktreePath\":\"%s\"}}\n"
        "{\"type\":\"user\",\"cwd\":\"/gone/for/good\",\"gitBranch\":\"main\"}\n",
        t.folder.path);
    talk_raw(&t, rows);
    talk_row(
        &t, "assistant", "a3", "a2",
        "\"gitBranch\":\"topic\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_true(slice_eq(r.session_id, SLICE("5e550000-0000-4000-8000-000000000001")));
    assert_true(slice_eq(r.mode, SLICE("normal")));
    assert_true(slice_eq(r.agent_setting, SLICE("reviewer")));
    assert_true(slice_eq(r.git_branch, SLICE("topic")));
    assert_true(slice_eq(r.cwd, SLICE("/gone/for/good")));
    assert_int_equal(r.command_cwd.n, 0);
    assert_int_equal(r.worktree_path.n, strlen(t.folder.path));
    assert_true(r.worktree_exists);
    restore_fini(&r);

    talk_raw(&t, "{\"type\":\"worktree-state\",\"worktreeSession\":null}\n");
    snprintf(rows, sizeof rows, "{\"type\":\"relocated\",\"relocatedCwd\":\"%s\"}\n",
             t.folder.path);
    talk_raw(&t, rows);
    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.worktree_path.n, 0);
    assert_false(r.worktree_exists);
    assert_string_equal(r.command_cwd.p, t.folder.path);
    restore_fini(&r);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_conversation_comes_back),
        cmocka_unit_test(rows_come_back_byte_for_byte),
        cmocka_unit_test(an_explicit_leaf_is_where_it_ends),
        cmocka_unit_test(a_row_that_came_to_follow_the_leaf_later_counts),
        cmocka_unit_test(a_branch_that_no_last_prompt_names_is_ignored),
        cmocka_unit_test(a_leaf_of_null_begins_anew),
        cmocka_unit_test(an_unknown_leaf_is_ignored),
        cmocka_unit_test(without_last_prompts_the_last_row_counts),
        cmocka_unit_test(another_message_can_be_asked_for),
        cmocka_unit_test(a_unique_front_of_an_id_is_enough),
        cmocka_unit_test(a_prompt_without_its_parent_begins_the_conversation),
        cmocka_unit_test(an_answer_without_its_parent_follows_the_row_before),
        cmocka_unit_test(a_circle_ends_the_way),
        cmocka_unit_test(a_session_without_messages_is_not_found),
        cmocka_unit_test(a_cut_turn_ends_with_a_message_to_continue),
        cmocka_unit_test(an_unanswered_prompt_is_handed_out),
        cmocka_unit_test(todos_are_those_of_the_last_call),
        cmocka_unit_test(skills_are_complete_and_of_one_name_the_last_counts),
        cmocka_unit_test(replacements_are_those_of_the_session_itself),
        cmocka_unit_test(the_state_of_the_session_is_what_its_last_rows_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
