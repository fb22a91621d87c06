#include "tests/test.h"

#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/claude.h"
#include "support/faults/memory.h"
#include "support/transcript_writer.h"

/* Every operation runs with its first allocation failing, then with the second, and so on until none fails. The
 * sanitizers find leaks and uses after free. */

typedef bool attempt_fn(void *arg);

/* The attempt returns true if it succeeded; it must not while an allocation fails. */
static void fails_until_there_is_memory(attempt_fn *attempt, void *arg)
{
    long k = 1;

    for (;; k++) {
        memory_fail_at(k);
        bool ok = attempt(arg);
        bool failed = memory_failed();

        memory_fail_at(0);
        if (ok && failed)
            fail_msg("allocation %ld failed, and no error was reported", k);
        if (!failed) {
            assert_true(ok);
            break;
        }
    }
    assert_true(k > 1);
}

static bool validate_deep(void *arg)
{
    return json_valid(*(struct slice *)arg);
}

TEST(a_deep_text_is_not_valid)
{
    enum { DEEP = 5000 };
    static char text[2 * DEEP];
    struct slice whole = { text, sizeof text };

    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    fails_until_there_is_memory(validate_deep, &whole);
}

static bool decode(void *arg)
{
    struct arena a = { 0 };
    struct slice text;
    bool ok = json_text(*(struct slice *)arg, &a, &text);

    arena_fini(&a);
    return ok;
}

TEST(an_escaped_string_has_no_text)
{
    struct slice escaped = SLICE("\"a\\nb\""), broken = SLICE("\"a\xFF\"");

    fails_until_there_is_memory(decode, &escaped);
    fails_until_there_is_memory(decode, &broken);
}

static bool compose(void *arg)
{
    struct arena a = { 0 };
    struct slice out;
    bool ok = utf8_nfc(*(struct slice *)arg, &a, &out);

    arena_fini(&a);
    return ok;
}

TEST(a_text_is_not_composed)
{
    struct slice text = SLICE("e\xCC\x81\xFF"
                              "e\xCC\x81");

    fails_until_there_is_memory(compose, &text);
}

static bool write_row(void *arg)
{
    struct buf out = { 0 };
    struct jsonout j;

    (void)arg;
    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    for (int i = 0; i < 50; i++)
        jsonout_member(&j, "key", SLICE("a\nlong \xFF value"));
    jsonout_close(&j, '}');
    bool ok = !j.rc && json_valid(buf_slice(&out));

    buf_fini(&out);
    return ok;
}

TEST(the_first_failure_of_a_writer_sticks)
{
    fails_until_there_is_memory(write_row, NULL);
}

static bool edit_row(void *arg)
{
    struct buf out = { 0 };
    bool ok = !json_set(&out, SLICE("{\"a\":1,\"b\":2}"), "a", SLICE("3"));

    (void)arg;
    if (!ok)
        assert_int_equal(out.n, 0);
    buf_fini(&out);
    return ok;
}

TEST(an_edit_is_complete_or_absent)
{
    fails_until_there_is_memory(edit_row, NULL);
}

static bool restore_session(void *arg)
{
    static const struct store_env env = { .home = "/nowhere" };
    static const struct store somewhere = { .ops = &claude_ops, .env = &env };
    struct restore r;
    struct err e = { 0 };
    enum err_code rc = claude_restore(&somewhere, arg, (struct slice){ NULL, 0 }, &r, &e);

    if (rc) {
        assert_int_equal(rc, ERR_NOMEM);
        assert_int_equal(e.code, ERR_NOMEM);
        return false;
    }
    assert_int_equal(r.messages, 7);
    assert_int_equal(r.file_history, 2);
    assert_int_equal(r.skills, 1);
    restore_fini(&r);
    return true;
}

TEST(a_session_is_restored_whole_or_not_at_all)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_raw(&t,
                          "{\"type\":\"file-history-snapshot\",\"messageId\":\"u1\",\"snapshot\":{"
                          "\"messageId\":\"u1\",\"trackedFileBackups\":{}}}\n");
    transcript_writer_user(&t, "u1", "");
    transcript_writer_row(
        &t, "attachment", "t1", "u1",
        "\"attachment\":{\"type\":\"invoked_skills\",\"path\":\"/a/b\",\"skills\":["
        "{\"name\":\"x\",\"path\":\"/x\",\"content\":\"1\"}]}");
    transcript_writer_row(
        &t, "assistant", "a1", "t1",
        "\"message\":{\"id\":\"m1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"T\"}]}");
    transcript_writer_raw(
        &t, "{\"type\":\"file-history-delta\",\"messageId\":\"a1\",\"snapshotMessageId\":\"u1\","
            "\"trackingPath\":\"f\",\"backup\":{}}\n"
            "{\"type\":\"file-history-delta\",\"messageId\":\"r1\",\"snapshotMessageId\":\"x\","
            "\"trackingPath\":\"f\",\"backup\":{}}\n"
            "{\"type\":\"marble-origami-commit\"}\n{\"type\":\"attribution-snapshot\"}\n");
    transcript_writer_row(&t, "user", "u2", "a1",
                          "\"permissionMode\":\"?\",\"cwd\":\"/"
                          "\",\"gitBranch\":\"main\",\"message\":{\"content\":\"x\"}");
    transcript_writer_row(
        &t, "user", "r1", "u2",
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"T\"}]}");
    struct session_ref ref = transcript_writer_ref(&t);

    fails_until_there_is_memory(restore_session, &ref);
    transcript_writer_end(&t);
}

static enum err_code count_finding(const struct finding *f, void *arg, struct err *e)
{
    size_t *n = arg;

    (void)e;
    assert_non_null(f->why);
    ++*n;
    return ERR_OK;
}

static bool check_session(void *arg)
{
    static const struct store_env env = { .home = "/nowhere" };
    static const struct store somewhere = { .ops = &claude_ops, .env = &env };
    size_t found = 0;
    struct err e = { 0 };
    enum err_code rc = claude_check(&somewhere, arg, NULL, count_finding, &found, &e);

    if (rc) {
        assert_int_equal(rc, ERR_NOMEM);
        assert_int_equal(e.code, ERR_NOMEM);
        return false;
    }
    assert_int_equal(found, 5);
    return true;
}

TEST(no_damage_is_overlooked)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_user(&t, "u2", "gone");
    transcript_writer_user(&t, "u1", "");
    transcript_writer_user(&t, "c", "c");
    transcript_writer_raw(&t, "{\"a\":1{\"type\":\"x\"}\n{\"type\":\"us");
    struct session_ref ref = transcript_writer_ref(&t);

    fails_until_there_is_memory(check_session, &ref);
    transcript_writer_end(&t);
}
