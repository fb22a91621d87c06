#include "tests/test.h"

#include "lite/base/cleanup.h"
#include "store/api/store.h"
#include "store/snapshots/hook_edit.h"
#include "store/snapshots/hooks.h"

/* Every agent's configuration with our hooks has them, and without them it is what it was before, byte for byte. */

static const struct hook_program program = { .path = "/opt/it's \"here\"/reprise",
                                             .word = "'/opt/it'\\''s \"here\"/reprise'" };
static const struct hook_program moved = { .path = "/usr/bin/reprise", .word = "/usr/bin/reprise" };

#define OTHERS "{\"hooks\":[{\"type\":\"command\",\"command\":\"lint\"}]}"

static const char *const documents[] = {
    "{}",
    "{ }",
    "{\n}\n",
    "",
    "\n",
    " \r\n\t",
    "{\"a\":1}",
    "{ \"a\": 1 }\n",
    "{\n  \"a\": 1\n}\n",
    "{\n\t\"a\": [1, 2],\n\t\"b\": {\"c\": \"}\"}\n}",
    "{\r\n    \"a\": 1,\r\n    \"b\": null\r\n}\r\n",
    "\xef\xbb\xbf{\n  \"a\": 1\n}\n",
    "\xef\xbb\xbf{}",
    "{\n\"a\": 1\n}\n",
    "{\"hooks\":{}}",
    "{\"hooks\": { } , \"z\": 0}",
    "{\n  \"hooks\": {\n  }\n}\n",
    "{\"hooks\":{\"Stop\":[]}}",
    "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  },\n  \"z\": true\n}\n",
    "{\"hooks\":{\"Stop\":[" OTHERS "]}}",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      " OTHERS ",\n      " OTHERS "\n    ]\n  }\n}\n",
    "{\"hooks\":{\"UserPromptSubmit\":[" OTHERS "],\"BeforeAgent\":[],\"AfterAgent\":[" OTHERS
    "]}}",
    "{\"hooks\":{\"PreToolUse\":[" OTHERS "]},\"hooks\":{\"Stop\":[]}}",
    "   {\"a\":{\"hooks\":{\"Stop\":1}}}   \n\n",
    "{\"\\u0068ooks\": {\"St\\u006fp\": [  ]}}",
};

static const char *const commented[] = {
    "// mine\n{\n  \"a\": 1 // \"hooks\": {\n}\n// end\n",
    "{ /* none, \"a\" */ }",
    "{\"hooks\": {/* first */\"Stop\": [/* x */]}} // \\\"",
    "/* \xef\xbb\xbf */{\n  // only\n}\n",
};

static const char *const flat[] = {
    "{\"version\":1}",
    "{ \"version\": 1 }\n",
    "{\n  \"version\": 1\n}\n",
    "{\n  \"hooks\": {},\n  \"version\": 1\n}\n",
    "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n",
    "{\n\t\"version\": 1,\n\t\"hooks\": {\n\t\t\"stop\": []\n\t}\n}",
    "{\r\n  \"hooks\": {\r\n    \"stop\": [\r\n      {\"command\": \"lint\"}\r\n    ]\r\n  },\r\n"
    "  \"version\": 1\r\n}\r\n",
    "{\"version\":1,\"hooks\":{\"stop\":[{\"command\":\"lint\",\"loop_limit\":2}],"
    "\"afterFileEdit\":[]}}",
    "",
    "\n",
};

static struct slice edited(const struct store_ops *ops, struct hook_text before,
                           const struct hook_program *by, struct arena *a)
{
    AUTO_BUF out = { 0 };
    struct err e = { 0 };

    if (hook_edit_on(ops->hooks, ops->name, before, by, &out, &e))
        fail_msg("%s: %s: %.*s", ops->name, e.text, (int)before.text.n, before.text.p);
    assert_true(hook_edit_has(ops->name, buf_slice(&out)));
    return arena_copy(a, buf_slice(&out));
}

static void check_removed(const struct store_ops *ops, struct slice text, struct hook_text want)
{
    AUTO_BUF out = { 0 };
    bool absent = false;

    assert_int_equal(hook_edit_off(ops->hooks, ops->name, (struct hook_text){ text, false }, &out,
                                   &absent, NULL),
                     ERR_OK);
    if (absent != want.absent || !slice_eq(buf_slice(&out), want.text))
        fail_msg("%s: (%d) [%.*s]\nfrom [%.*s]\nwanted (%d) [%.*s]", ops->name, absent, (int)out.n,
                 out.p, (int)text.n, text.p, want.absent, (int)want.text.n, want.text.p);
}

/* on, on again, on by a program at another path, and off. */
static void check_text(const struct store_ops *ops, struct hook_text before)
{
    AUTO_ARENA a = { 0 };
    struct slice on = edited(ops, before, &program, &a);
    struct slice again = edited(ops, (struct hook_text){ on, false }, &program, &a);
    struct slice other = edited(ops, (struct hook_text){ on, false }, &moved, &a);

    assert_true(slice_eq(on, again));
    assert_false(slice_has(other, "here"));
    check_removed(ops, on, before);
    check_removed(ops, other, before);
}

TEST(off_gives_back_what_on_changed)
{
    size_t checked = 0;

    for (size_t i = 0; store_systems[i]; i++) {
        const struct store_ops *ops = store_systems[i];

        if (!ops->hooks)
            continue;
        check_text(ops, (struct hook_text){ SLICE(""), true });
        checked++;
        for (size_t k = 0; k < COUNT_OF(documents) && ops->hooks->form == HOOK_NESTED; k++)
            check_text(ops, (struct hook_text){ slice_of(documents[k]), false });
        for (size_t k = 0; k < COUNT_OF(flat) && ops->hooks->form == HOOK_FLAT; k++)
            check_text(ops, (struct hook_text){ slice_of(flat[k]), false });
        for (size_t k = 0;
             k < COUNT_OF(commented) && ops->hooks->form == HOOK_NESTED && ops->hooks->comments;
             k++)
            check_text(ops, (struct hook_text){ slice_of(commented[k]), false });
    }
    assert_true(checked >= 8);
}

TEST(off_gives_back_toml)
{
    static const char *const texts[] = { "",
                                         "a = 1",
                                         "a = 1\n",
                                         "a = 1\r\n[b]\r\nc = 2\r\n",
                                         "a = 1\r\nb = 2",
                                         "[[hooks]]\nevent = \"Stop\"\ncommand = \"lint\"\n\n",
                                         "# end without a line end" };
    const struct store_ops *kimi = store_system(SLICE("kimi"));

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        check_text(kimi, (struct hook_text){ slice_of(texts[i]), false });
}

TEST(what_others_added_since_stays)
{
    const struct store_ops *claude = store_system(SLICE("claude"));
    AUTO_ARENA a = { 0 };
    AUTO_BUF text = { 0 };
    struct slice on = edited(claude, (struct hook_text){ SLICE(""), true }, &program, &a);
    /* a member behind ours, and a group behind ours in one event */
    const char *end = memrchr(on.p, '}', on.n);

    assert_int_equal(buf_add(&text, (struct slice){ on.p, (size_t)(end - on.p) - 1 }), ERR_OK);
    assert_int_equal(buf_addf(&text, ",\n  \"model\": \"x\"\n}\n"), ERR_OK);
    check_removed(claude, buf_slice(&text),
                  (struct hook_text){ SLICE("{\n  \"model\": \"x\"\n}\n"), false });
}

TEST(a_rewritten_toml_loses_only_our_tables)
{
    const struct store_ops *kimi = store_system(SLICE("kimi"));

    check_removed(
        kimi,
        SLICE("a = 1\n[[hooks]]\nevent = \"Stop\"\ncommand = \"/x/reprise snapshot --agent "
              "kimi --event end\"\ntimeout = 5\n\n[[hooks]]\nevent = \"Stop\"\ncommand = "
              "\"lint\"\n[b]\nc = 1\n"),
        (struct hook_text){ SLICE("a = 1\n\n[[hooks]]\nevent = \"Stop\"\ncommand = "
                                  "\"lint\"\n[b]\nc = 1\n"),
                            false });
}

TEST(what_a_person_wrote_into_our_block_stays)
{
    static const char own[] = "[[hooks]]\nevent = \"Stop\"\ncommand = \"lint\"\n";
    const struct store_ops *kimi = store_system(SLICE("kimi"));
    static const char *const texts[] = { "", "a = 1\n", "a = 1" };

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        AUTO_ARENA a = { 0 };
        AUTO_BUF text = { 0 }, left = { 0 };
        struct slice on =
            edited(kimi, (struct hook_text){ slice_of(texts[i]), false }, &program, &a);
        const char *end = slice_find(on.p, on.n, "# reprise snapshots: end", 24);
        const size_t n = strlen(texts[i]);

        assert_non_null(end);
        assert_int_equal(buf_add(&text, (struct slice){ on.p, (size_t)(end - on.p) }), ERR_OK);
        assert_int_equal(buf_addf(&text, "%s%.*s", own, (int)(on.p + on.n - end), end), ERR_OK);
        assert_int_equal(
            buf_addf(&left, "%s%s%s", texts[i], n && texts[i][n - 1] != '\n' ? "\n" : "", own),
            ERR_OK);
        check_removed(kimi, buf_slice(&text), (struct hook_text){ buf_slice(&left), false });
    }
}

/* The table ends with its last member: what a person wrote behind it belongs to the next one. */
TEST(the_table_of_our_server_goes_alone)
{
    static const char *const behind[] = { "\n# mine\n[profiles.x]\na = 1\n", "# mine\n", "\n",
                                          "\r\n# mine\r\n  [b]\r\nc = [\n]\n",
                                          "\t[mcp_servers.other]\ncommand = \"x\"\n" };
    const struct agent_mcp *m = store_system(SLICE("codex"))->mcp;

    for (size_t i = 0; i < COUNT_OF(behind); i++) {
        AUTO_BUF on = { 0 }, off = { 0 }, left = { 0 };
        bool absent = false;

        assert_int_equal(
            hook_server_on(m, (struct hook_text){ SLICE("a = 1\n"), false }, &program, &on, NULL),
            ERR_OK);
        assert_int_equal(buf_addf(&on, "startup_timeout_sec = 20\n%s", behind[i]), ERR_OK);
        assert_int_equal(buf_addf(&left, "a = 1\n%s", behind[i]), ERR_OK);
        assert_int_equal(
            hook_server_off(m, (struct hook_text){ buf_slice(&on), false }, &off, &absent, NULL),
            ERR_OK);
        assert_true(slice_eq(buf_slice(&off), buf_slice(&left)));
    }
}

TEST(a_document_of_another_form_is_refused)
{
    static const char *const texts[] = {
        "[]", "{\"a\":}", "{\"hooks\":[]}", "{\"hooks\":{\"Stop\":{}}}", "{} x", "null", "// c\n{}"
    };
    const struct store_ops *claude = store_system(SLICE("claude"));
    const struct store_ops *kimi = store_system(SLICE("kimi"));
    AUTO_BUF out = { 0 };

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(hook_edit_on(claude->hooks, "claude",
                                      (struct hook_text){ slice_of(texts[i]), false }, &program,
                                      &out, NULL),
                         ERR_FORMAT);
    static const char *const forms[] = { "hooks = []\n",     "hooks=[]",        "[ hooks ]\n",
                                         "\t[hooks.stop]\n", "[ \"hooks\" ]\n", "'hooks' = []\n",
                                         "hooks . x = 1\n" };

    for (size_t i = 0; i < COUNT_OF(forms); i++)
        assert_int_equal(hook_edit_on(kimi->hooks, "kimi",
                                      (struct hook_text){ slice_of(forms[i]), false }, &program,
                                      &out, NULL),
                         ERR_FORMAT);
}

TEST(hooks_that_are_switched_off_are_noticed)
{
    const struct agent_hooks *claude = store_system(SLICE("claude"))->hooks;
    const struct agent_hooks *gemini = store_system(SLICE("gemini"))->hooks;

    assert_non_null(hook_edit_disabled(claude, SLICE("{\"disableAllHooks\":true}")));
    assert_null(hook_edit_disabled(claude, SLICE("{\"disableAllHooks\":false}")));
    assert_non_null(
        hook_edit_disabled(gemini, SLICE("{\"hooksConfig\":{\"enabled\":false}} // x")));
    assert_null(hook_edit_disabled(gemini, SLICE("{}")));
}

/* ---- what a hook is told ---- */

TEST(a_request_is_read)
{
    AUTO_ARENA a = { 0 };
    struct snapshot_request r;
    const char *why;

    assert_true(hook_request_read(
        store_system(SLICE("claude")), HOOK_PROMPT,
        SLICE("{\"session_id\":\"s\",\"prompt_id\":\"p\",\"cwd\":\"/w\",\"prompt\":\"a\\nb\"}"), &a,
        &r, &why));
    assert_true(slice_eq(r.session, SLICE("s")) && slice_eq(r.turn, SLICE("p")));
    assert_true(slice_eq(r.prompt, SLICE("a\nb")));
    assert_string_equal(r.cwd, "/w");
    assert_int_equal(r.kind, SNAPSHOT_PROMPT);
}

TEST(hostile_input_takes_no_snapshot)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"session_id\":1,\"cwd\":\"/w\"}",
        "{\"session_id\":\"s\"}",
        "{\"session_id\":\"s\",\"cwd\":\"w\"}",
        "{\"session_id\":\"s\",\"cwd\":\"/w\\u0000x\"}",
        "{\"session_id\":\"a\\nb\",\"cwd\":\"/w\"}",
        "{\"session_id\":\"s\",\"cwd\":\"/w\",\"agent_id\":\"x\"}"
    };
    AUTO_ARENA a = { 0 };
    struct snapshot_request r;
    const char *why;

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_false(hook_request_read(store_system(SLICE("claude")), HOOK_END, slice_of(texts[i]),
                                       &a, &r, &why));
        assert_non_null(why);
    }
    assert_false(hook_request_read(store_system(SLICE("qwen")), HOOK_PROMPT,
                                   SLICE("{\"session_id\":\"s\",\"cwd\":\"/w\",\"prompt\":\"\"}"),
                                   &a, &r, &why));
}
