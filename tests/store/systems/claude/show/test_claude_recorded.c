#include "tests/test.h"

#include <fcntl.h>

#include "lite/json/json.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

/* Sessions written by the real client (2.1.197), with its own prose replaced. */

static const struct store_env env = { .home = "/nowhere" };
static const struct store somewhere = { .ops = &claude_ops, .env = &env };

static struct restore recorded(struct transcript_writer *t, const char *name)
{
    struct restore r;
    char path[4096];
    struct err e = { 0 };

    snprintf(path, sizeof path, "%s/%s.jsonl", RECORDED_DIR, name);
    transcript_writer_begin(t);
    if (file_read_all(AT_FDCWD, path, 0, 1 << 20, &t->text, &e))
        fail_msg("%s: %s", e.path, e.text);
    struct session_ref ref = transcript_writer_ref(t);

    assert_int_equal(claude_restore(&somewhere, &ref, (struct slice){ NULL, 0 }, &r, &e), ERR_OK);
    return r;
}

static void last_says(const struct restore *r, const char *path, const char *want)
{
    struct slice value;

    assert_true(r->messages > 0);
    assert_true(json_at(r->messages_json[r->messages - 1], path, &value));
    assert_true(json_string_is(value, want));
}

TEST(a_client_killed_in_a_tool_is_told_to_continue)
{
    struct transcript_writer t;
    struct restore r = recorded(&t, "cut-in-a-tool");

    /* Prompt, attachment, the text before the call, the call, its result, an empty answer, the instruction. */
    assert_int_equal(r.messages, 7);
    assert_int_equal(r.interruption, INTERRUPTION_TURN);
    last_says(&r, "message.content", "Continue from where you left off.");
    restore_fini(&r);
    transcript_writer_end(&t);
}

TEST(a_client_killed_before_any_answer_leaves_its_prompt)
{
    struct transcript_writer t;
    struct restore r = recorded(&t, "never-answered");
    struct slice value;

    assert_int_equal(r.messages, 3);
    assert_int_equal(r.interruption, INTERRUPTION_PROMPT);
    assert_true(json_at(r.prompt_json, "message.content", &value));
    assert_true(json_string_is(value, "Answer slowly please"));
    assert_true(slice_eq(r.git_branch, SLICE("HEAD")));
    restore_fini(&r);
    transcript_writer_end(&t);
}

TEST(a_turn_stopped_by_the_user_is_complete)
{
    struct transcript_writer t;
    struct restore r = recorded(&t, "stopped-by-person");

    assert_int_equal(r.messages, 7);
    assert_int_equal(r.interruption, INTERRUPTION_NONE);
    assert_true(slice_eq(r.mode, SLICE("normal")));
    restore_fini(&r);
    transcript_writer_end(&t);
}

TEST(after_a_rewind_only_the_new_branch_is_restored)
{
    struct transcript_writer t;
    struct restore r = recorded(&t, "rewound");
    struct slice value;

    assert_int_equal(r.messages, 11);
    assert_int_equal(r.file_history, 2);
    assert_true(json_at(r.messages_json[6], "message.content", &value));
    assert_true(json_string_is(value, "After the rewind make three"));
    last_says(&r, "subtype", "turn_duration");
    restore_fini(&r);

    /* The abandoned branch is still returned on request. */
    struct session_ref ref = transcript_writer_ref(&t);

    assert_int_equal(claude_restore(&somewhere, &ref, SLICE("d39defe6"), &r, NULL), ERR_OK);
    assert_int_equal(r.messages, 19);
    assert_int_equal(r.file_history, 3);
    restore_fini(&r);
    transcript_writer_end(&t);
}
