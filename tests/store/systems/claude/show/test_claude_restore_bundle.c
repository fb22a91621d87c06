#include "tests/test.h"

#include "lite/base/buf.h"
#include "lite/json/json.h"
#include "store/journal/change.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

/* The data that a host gets with the conversation, and the places where a session can be resumed. */

#define NO_ID ((struct slice){ NULL, 0 })

static const struct store_env env = { .home = "/nowhere", .now_ms = 1772359202000 };
static const struct store somewhere = { .ops = &claude_ops, .env = &env };

static enum err_code restore_at(struct transcript_writer *t, struct slice at, struct restore *out,
                                struct err *e)
{
    struct session_ref ref = transcript_writer_ref(t);

    return claude_restore(&somewhere, &ref, at, out, e);
}

TEST(todos_are_those_of_the_last_call)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;

    transcript_writer_row(
        &t, "assistant", "a3", "a2",
        "\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"T1\",\"name\":\"TodoWrite\","
        "\"input\":{\"todos\":[{\"content\":\"old\"}]}}]}");
    transcript_writer_row(
        &t, "user", "r3", "a3",
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T1\"}]}");
    transcript_writer_row(
        &t, "assistant", "a4", "r3",
        "\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"T2\",\"name\":\"TodoWrite\","
        "\"input\":{\"todos\":[{\"content\":\"a\"},{\"content\":\"b\"}]}}]}");
    transcript_writer_row(
        &t, "user", "r4", "a4",
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T2\"}]}");
    transcript_writer_assistant(&t, "a5", "r4");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.todos, 2);
    assert_true(slice_eq(r.todos_json[0], SLICE("{\"content\":\"a\"}")));
    assert_true(slice_eq(r.todos_json[1], SLICE("{\"content\":\"b\"}")));
    restore_fini(&r);
    transcript_writer_end(&t);
}

TEST(skills_are_complete_and_the_last_of_a_name_counts)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;
    struct slice value;

    transcript_writer_row(&t, "attachment", "s1", "a2",
                          "\"attachment\":{\"type\":\"invoked_skills\",\"skills\":["
                          "{\"name\":\"x\",\"path\":\"/x\",\"content\":\"1\"},"
                          "{\"name\":\"y\",\"path\":\"\",\"content\":\"1\"},"
                          "{\"name\":\"z\",\"path\":\"/z\",\"content\":\"1\"}]}");
    transcript_writer_row(&t, "attachment", "s2", "s1",
                          "\"attachment\":{\"type\":\"invoked_skills\",\"skills\":["
                          "{\"name\":\"x\",\"path\":\"/x\",\"content\":\"2\"}]}");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.skills, 2);
    assert_true(json_get(r.skills_json[0], "content", &value) && json_string_is(value, "2"));
    assert_true(json_get(r.skills_json[1], "name", &value) && json_string_is(value, "z"));
    restore_fini(&r);
    transcript_writer_end(&t);
}

TEST(a_listing_that_the_conversation_still_has_is_not_repeated)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_false(r.skills_listed);
    restore_fini(&r);
    transcript_writer_row(&t, "attachment", "s1", "a2",
                          "\"attachment\":{\"type\":\"skill_listing\",\"content\":\"- x\"}");
    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_true(r.skills_listed);
    restore_fini(&r);
    assert_int_equal(restore_at(&t, SLICE("a1"), &r, NULL), ERR_OK);
    assert_false(r.skills_listed); /* the listing came later */
    restore_fini(&r);
    transcript_writer_end(&t);
}

/* The commits that a restore hands over, as their names; "-" between them and the snapshot, "!" the attribution. */
static void state_rows_are(struct transcript_writer *t, const char *at, const char *want)
{
    struct restore r;
    struct buf got = { 0 };
    struct slice name;

    assert_int_equal(restore_at(t, slice_of(at), &r, NULL), ERR_OK);
    for (size_t i = 0; i < r.collapses; i++)
        if (json_get(r.collapse_json[i], "n", &name))
            assert_int_equal(buf_add(&got, name), ERR_OK);
    if (json_get(r.collapse_snapshot_json, "n", &name))
        assert_int_equal(buf_add_byte(&got, '-') || buf_add(&got, name), ERR_OK);
    if (json_get(r.attribution_json, "n", &name))
        assert_int_equal(buf_add_byte(&got, '!') || buf_add(&got, name), ERR_OK);
    assert_int_equal(buf_add_byte(&got, '\0'), ERR_OK);
    assert_string_equal(got.p, want);
    buf_fini(&got);
    restore_fini(&r);
}

TEST(collapsed_context_and_attribution_are_restored)
{
    struct transcript_writer t = transcript_writer_two_turns();

    state_rows_are(&t, "", "");
    transcript_writer_raw(&t, "{\"type\":\"attribution-snapshot\",\"n\":1}\n"
                              "{\"type\":\"marble-origami-commit\",\"n\":2}\n"
                              "{\"type\":\"marble-origami-reset\"}\n"
                              "{\"type\":\"marble-origami-commit\",\"n\":3}\n"
                              "{\"type\":\"marble-origami-snapshot\",\"n\":4}\n"
                              "{\"type\":\"marble-origami-commit\",\"n\":5}\n"
                              "{\"type\":\"marble-origami-snapshot\",\"n\":6}\n"
                              "{\"type\":\"attribution-snapshot\",\"n\":7}\n");
    state_rows_are(&t, "", "35-6!7");
    transcript_writer_row(&t, "system", "c", "",
                          "\"subtype\":\"compact_boundary\",\"compactMetadata\":{}");
    transcript_writer_user(&t, "u3", "c");
    state_rows_are(&t, "", "!7"); /* what they collapsed is not loaded any more */
    state_rows_are(&t, "a2", "35-6!7");
    transcript_writer_end(&t);
}

TEST(replacements_are_those_of_the_session_itself)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;

    transcript_writer_raw(
        &t, "{\"type\":\"content-replacement\",\"sessionId\":"
            "\"5e550000-0000-4000-8000-000000000001\",\"replacements\":[{\"a\":1},{\"b\":2}]}\n"
            "{\"type\":\"content-replacement\",\"sessionId\":\"another\","
            "\"replacements\":[{\"c\":3}]}\n"
            "{\"type\":\"content-replacement\",\"agentId\":\"x\",\"sessionId\":"
            "\"5e550000-0000-4000-8000-000000000001\",\"replacements\":[{\"d\":4}]}\n");

    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.replacements, 2);
    assert_true(slice_eq(r.replacements_json[1], SLICE("{\"b\":2}")));
    restore_fini(&r);
    transcript_writer_end(&t);
}

TEST(the_state_of_the_session_is_that_of_its_last_rows)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct restore r;
    char rows[9000];

    snprintf(
        rows, sizeof rows,
        "{\"type\":\"mode\",\"mode\":\"coordinator\"}\n{\"type\":\"mode\",\"mode\":\"normal\"}\n"
        "{\"type\":\"agent-setting\",\"agentSetting\":\"reviewer\"}\n"
        "{\"type\":\"worktree-state\",\"worktreeSession\":{\"worktreePath\":\"%s\"}}\n"
        "{\"type\":\"user\",\"cwd\":\"/gone/for/good\",\"gitBranch\":\"main\"}\n",
        t.folder.path);
    transcript_writer_raw(&t, rows);
    transcript_writer_row(
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

    transcript_writer_raw(&t, "{\"type\":\"worktree-state\",\"worktreeSession\":null}\n");
    snprintf(rows, sizeof rows, "{\"type\":\"relocated\",\"relocatedCwd\":\"%s\"}\n",
             t.folder.path);
    transcript_writer_raw(&t, rows);
    assert_int_equal(restore_at(&t, NO_ID, &r, NULL), ERR_OK);
    assert_int_equal(r.worktree_path.n, 0);
    assert_false(r.worktree_exists);
    assert_string_equal(r.command_cwd.p, t.folder.path);
    restore_fini(&r);
    transcript_writer_end(&t);
}

/* Returns ERR_OK if the session can be resumed there. */
static enum err_code resume_at(struct transcript_writer *t, const char *id, struct err *e)
{
    struct session_ref ref = transcript_writer_ref(t);
    struct change *c = change_new("resume-at");
    enum err_code rc = claude_resume_at(&somewhere, &ref, slice_of(id), c, e);

    change_free(c);
    return rc;
}

TEST(resuming_before_a_compaction_is_refused)
{
    struct transcript_writer t = transcript_writer_two_turns();
    struct err e;

    transcript_writer_row(&t, "user", "side-1", "a2", "\"isSidechain\":true");
    assert_int_equal(resume_at(&t, "a1", &e), ERR_OK);
    assert_int_equal(resume_at(&t, "side-1", &e), ERR_UNSUPPORTED);
    transcript_writer_row(
        &t, "system", "c", "",
        "\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"a2\",\"compactMetadata\":{"
        "\"preservedSegment\":{\"anchorUuid\":\"s\",\"headUuid\":\"a2\",\"tailUuid\":\"a2\"}}");
    transcript_writer_user(&t, "s", "c");
    transcript_writer_assistant(&t, "a3", "s");
    assert_int_equal(resume_at(&t, "a1", &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "fork there instead"));
    assert_int_equal(resume_at(&t, "a2", &e), ERR_OK);
    assert_int_equal(resume_at(&t, "s", &e), ERR_OK);
    transcript_writer_end(&t);
}
