#include "tests/test.h"

#include <pthread.h>
#include <stdlib.h>

#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"

/* A host with a store of its own. */
struct shop {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct arena a;
    struct host_created made;
    struct session_ref ref;
    char config[4096];
};

static int set_up(void **state)
{
    struct shop *s = calloc(1, sizeof *s);
    const struct host_create req = { .id = SLICE(ID), .title = SLICE("A host's own") };

    folder_make(&s->folder);
    folder_path(&s->folder, "config", s->config);
    s->env = (struct store_env){ .cwd = s->folder.path, .now_ms = 1700000000000 };
    assert_int_equal(host_make(&claude_ops, &s->env, s->config, NULL), ERR_OK);
    assert_int_equal(claude_ops.open(&s->env, s->config, &s->store, NULL), ERR_OK);
    assert_int_equal(host_create(s->store, &req, &s->a, &s->made, NULL), ERR_OK);
    s->ref = (struct session_ref){ .store = s->store, .id = s->made.id, .path = s->made.path };
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct shop *s = *state;

    store_close(s->store);
    arena_fini(&s->a);
    folder_remove(&s->folder);
    free(s);
    return 0;
}

static char *transcript(const struct shop *s, size_t *n)
{
    return folder_get(&s->folder, s->made.path.p + strlen(s->folder.path) + 1, n);
}

static enum err_code append(struct shop *s, const char *rows, struct host_appended *done)
{
    struct host_append req = { 0 };
    struct slice *row;

    assert_int_equal(host_rows(slice_of(rows), &s->a, &row, &req.n, NULL), ERR_OK);
    req.row = row;
    return host_append(s->store, &s->ref, &req, &s->a, done, NULL);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_new_session_begins_as_the_client_begins_it)
{
    struct shop *s = *state;
    size_t n;
    char *text = transcript(s, &n);

    char want[8192];

    snprintf(want, sizeof want,
             "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"" ID "\",\"cwd\":\"%s\","
             "\"createdTitle\":\"A host's own\"}\n",
             s->folder.path);
    assert_string_equal(text, want);
    assert_int_equal(s->made.unsaved, 0);
    free(text);
}

CASE(the_title_and_the_directory_come_with_the_first_message)
{
    struct shop *s = *state;
    struct host_appended done;
    char cwd[8192];
    size_t n;

    snprintf(cwd, sizeof cwd, "\"cwd\":\"%s\"", s->folder.path);
    s->env.cwd = "/somewhere/else";
    assert_int_equal(append(s, "{\"type\":\"queue-operation\"}", &done), ERR_OK);
    char *before = transcript(s, &n);

    assert_int_equal(append(s, "{\"type\":\"user\",\"message\":{}}", &done), ERR_OK);
    char *text = transcript(s, &n);
    const char *last = (const char *)memrchr(text, '\n', n - 1) + 1;

    assert_null(strstr(before, "custom-title"));
    assert_non_null(
        strstr(text, "{\"type\":\"custom-title\",\"customTitle\":\"A host's own\",\"sessionId\""));
    assert_non_null(strstr(last, cwd));
    free(before);
    free(text);
}

CASE(an_id_is_given_once)
{
    struct shop *s = *state;
    const struct host_create same = { .id = SLICE(ID) }, path = { .id = SLICE("../" ID) },
                             other = { .id = SLICE("deploy-123") };
    struct host_created made;

    assert_int_equal(host_create(s->store, &same, &s->a, &made, NULL), ERR_STALE);
    assert_int_equal(host_create(s->store, &path, &s->a, &made, NULL), ERR_USAGE);
    assert_int_equal(host_create(s->store, &other, &s->a, &made, NULL), ERR_USAGE);
}

CASE(a_field_without_a_place_is_named)
{
    struct shop *s = *state;
    const struct host_create req = { .model = SLICE("m"), .parent = SLICE(ID) };
    struct host_created made;

    assert_int_equal(host_create(s->store, &req, &s->a, &made, NULL), ERR_OK);

    assert_int_equal(made.unsaved, HOST_MODEL | HOST_PARENT);
    assert_true(claude_is_uuid(made.id));
}

CASE(rows_follow_the_previous_row_and_keep_their_bytes)
{
    struct shop *s = *state;
    struct host_appended done;
    struct slice value;
    size_t n;

    assert_int_equal(append(s,
                            "{\"type\":\"user\", \"x\":1.50,\"message\":{}}\n \n"
                            "{\"type\":\"assistant\",\"uuid\":\"u2\",\"message\":{}}\n",
                            &done),
                     ERR_OK);
    assert_int_equal(append(s, "{\"type\":\"user\",\"message\":{}}", &done), ERR_OK);

    assert_int_equal(done.n, 1);
    char *text = transcript(s, &n);
    const char *third = strstr(text, "{\"type\":\"user\", \"x\":1.50,\"message\":{},");

    assert_non_null(third);
    const char *end = memrchr(text, '\n', n - 1), *last = end + 1;

    assert_true(json_get((struct slice){ last, strlen(last) - 1 }, "parentUuid", &value));
    assert_true(slice_eq(value, SLICE("\"u2\"")));
    free(text);
}

CASE(one_bad_row_refuses_all)
{
    struct shop *s = *state;
    struct host_appended done;
    char *before = folder_image(&s->folder, "config");

    assert_int_equal(append(s, "{\"type\":\"user\",\"message\":{}}\n[]", &done), ERR_USAGE);
    assert_int_equal(append(s, "{\"type\":\"user\",\"message\":{}}\n{\"a\":1}", &done), ERR_USAGE);

    char *after = folder_image(&s->folder, "config");

    assert_string_equal(before, after);
    free(before);
    free(after);
}

CASE(a_long_row_does_not_push_the_title_out_of_the_window)
{
    struct shop *s = *state;
    struct host_appended done;
    char *row = malloc(2 * WINDOW_BYTES);
    size_t n;
    int begin = snprintf(row, WINDOW_BYTES, "{\"type\":\"user\",\"message\":\"");

    memset(row + begin, 'x', WINDOW_BYTES);
    memcpy(row + begin + WINDOW_BYTES, "\"}", 3);
    assert_int_equal(append(s, row, &done), ERR_OK);

    char *text = transcript(s, &n);

    assert_non_null(strstr(text + n - 400, "A host's own"));
    free(text);
    free(row);
}

/* The number of messages that a resume restores. */
static size_t restored(struct shop *s)
{
    struct transcript *t;

    assert_int_equal(claude_ops.load(s->store, &s->ref, NULL, &t, NULL), ERR_OK);
    size_t n = t->n;

    transcript_free(t);
    return n;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, part)); p++)
        n++;
    return n;
}

/* A message of about n bytes. */
static void append_long(struct shop *s, const char *type, size_t n)
{
    struct host_appended done;
    char *row = malloc(n + 200);
    int begin = snprintf(row, n, "{\"type\":\"%s\",\"message\":{\"role\":\"%s\",\"content\":\"",
                         type, type);

    memset(row + begin, 'x', n);
    memcpy(row + begin + n, "\"}}", 4);
    assert_int_equal(append(s, row, &done), ERR_OK);
    free(row);
}

#define USER(id)                                                                                   \
    "{\"type\":\"user\",\"uuid\":\"" id "\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n"
#define LEAF(id) "{\"type\":\"last-prompt\",\"lastPrompt\":\"x\",\"leafUuid\":\"" id "\"}\n"

CASE(a_rewritten_leaf_is_the_current_one)
{
    struct shop *s = *state;
    struct host_appended done;
    size_t n;

    assert_int_equal(append(s, USER("u-1") USER("u-2") LEAF("u-2") USER("u-3"), &done), ERR_OK);
    append_long(s, "user", 100000);
    append_long(s, "assistant", 1000);
    append_long(s, "user", 1000);

    char *text = transcript(s, &n);

    assert_int_equal(restored(s), 6);
    assert_int_equal(count(text, "\"last-prompt\""), 2);
    assert_int_equal(count(text, "\"leafUuid\":\"u-2\""), 1);
    free(text);
}

CASE(a_setting_rewrites_the_current_leaf_too)
{
    struct shop *s = *state;
    const struct host_setting tag = { SLICE("tag"), SLICE("t") };
    struct host_appended done;
    size_t n;

    assert_int_equal(append(s, USER("u-1") LEAF("u-1") USER("u-2"), &done), ERR_OK);
    append_long(s, "user", WINDOW_BYTES - 1200);
    for (int i = 0; i < 12; i++)
        assert_int_equal(host_set(s->store, &s->ref, &tag, 1, NULL), ERR_OK);
    append_long(s, "user", 100);

    char *text = transcript(s, &n);

    assert_int_equal(count(text, "\"last-prompt\""), 2);
    assert_int_equal(count(text, "\"leafUuid\":\"u-1\""), 1);
    assert_int_equal(restored(s), 4);
    free(text);
}

CASE(an_existing_row_is_not_written_again)
{
    struct shop *s = *state;
    struct host_appended done;
    size_t n;

    assert_int_equal(append(s, USER("u-1") USER("u-2"), &done), ERR_OK);
    assert_int_equal(done.present, 0);
    assert_int_equal(append(s, USER("u-1") USER("u-2"), &done), ERR_OK);
    assert_int_equal(done.present, 2);
    assert_int_equal(done.n, 2);
    assert_true(slice_eq(done.id[1], SLICE("u-2")));
    assert_int_equal(append(s, USER("u-2") USER("u-3") USER("u-3") USER("u-4"), &done), ERR_OK);
    assert_int_equal(done.present, 2);

    char *text = transcript(s, &n);

    assert_int_equal(count(text, "\"type\":\"user\""), 4);
    assert_int_equal(restored(s), 4);
    free(text);
}

CASE(only_a_complete_row_counts_as_existing)
{
    struct shop *s = *state;
    struct host_appended done;
    size_t n;
    char name[4096];

    snprintf(name, sizeof name, "%s", s->made.path.p + strlen(s->folder.path) + 1);
    folder_put(&s->folder, name,
               SLICE("{\"type\":\"user\",\"uuid\":\"u-0\",\"message\":{\"uuid\":\"u-1\"}}\n"
                     "{\"type\":\"user\", \"uuid\" : \"\\u0075-3\",\"parentUuid\":\"u-0\"}\n"
                     "{\"type\":\"user\",\"uuid\":\"u-2\",\"mess"));
    assert_int_equal(append(s, USER("u-1") USER("u-2") USER("u-3"), &done), ERR_OK);

    char *text = transcript(s, &n);

    assert_int_equal(done.present, 1);
    assert_int_equal(count(text, "{\"type\":\"user\",\"uuid\":\"u-1\""), 1);
    assert_int_equal(count(text, "{\"type\":\"user\",\"uuid\":\"u-2\""), 2);
    assert_int_equal(count(text, "\"uuid\":\"u-3\""), 0);
    free(text);
}

CASE(an_invalid_id_is_replaced)
{
    struct shop *s = *state;
    struct host_appended done;

    assert_int_equal(append(s,
                            "{\"type\":\"user\",\"uuid\":null,\"message\":{}}\n"
                            "{\"type\":\"user\",\"uuid\":\"\",\"message\":{}}\n" USER("u"),
                            &done),
                     ERR_OK);

    assert_true(claude_is_uuid(done.id[0]) && claude_is_uuid(done.id[1]));
    assert_int_equal(restored(s), 3);
}

enum { HOSTS = 8, ROWS = 12 };

static void *append_many(void *arg)
{
    struct shop *s = arg;
    struct arena a = { 0 };
    struct slice row = SLICE("{\"type\":\"user\",\"message\":{\"content\":\"x\"}}");
    const struct host_append req = { .row = &row, .n = 1 };
    struct host_appended done;
    intptr_t failed = 0;

    for (int i = 0; i < ROWS; i++)
        failed += host_append(s->store, &s->ref, &req, &a, &done, NULL) != ERR_OK;
    arena_fini(&a);
    return (void *)failed; /* NOLINT */
}

CASE(rows_of_many_hosts_are_one_conversation)
{
    struct shop *s = *state;
    pthread_t thread[HOSTS];
    void *failed;

    for (int i = 0; i < HOSTS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, append_many, s), 0);
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }

    assert_int_equal(restored(s), HOSTS * ROWS);
}

#define AGENT(id, more)                                                                            \
    "{\"type\":\"assistant\",\"uuid\":\"" id "\",\"agentId\":\"a7\"," more "\"message\":{}}\n"

static char *agent_file(struct shop *s, const char *name)
{
    char path[8192];
    size_t n;

    snprintf(path, sizeof path, "%.*s/subagents/%s",
             (int)(s->made.path.n - strlen(s->folder.path) - 1 - strlen(".jsonl")),
             s->made.path.p + strlen(s->folder.path) + 1, name);
    return folder_get(&s->folder, path, &n);
}

CASE(rows_of_a_sub_agent_go_into_its_own_file)
{
    struct shop *s = *state;
    struct host_appended done;
    size_t n;

    assert_int_equal(append(s,
                            USER("u-1") AGENT("a-1", "\"isSidechain\":true,")
                                AGENT("own", "\"isSidechain\":false,") AGENT("a-2", ""),
                            &done),
                     ERR_OK);
    assert_int_equal(append(s, AGENT("a-2", "") AGENT("a-3", "") USER("u-3"), &done), ERR_OK);
    assert_int_equal(done.present, 1);

    char *own = transcript(s, &n), *agent = agent_file(s, "agent-a7.jsonl");

    assert_int_equal(count(own, "\"agentId\":\"a7\""), 1);
    assert_int_equal(restored(s), 3);
    assert_int_equal(count(agent, "\n"), 3);
    assert_int_equal(count(agent, "\"isSidechain\":true"), 3);
    assert_int_equal(count(agent, "\"parentUuid\":null"), 1);
    assert_int_equal(count(agent, "\"parentUuid\":\"a-1\""), 1);
    assert_int_equal(count(agent, "\"parentUuid\":\"a-2\""), 1);
    assert_int_equal(count(agent, "\"sessionId\":\"" ID "\""), 3);
    free(own);
    free(agent);
}

CASE(a_row_of_a_sub_agent_without_a_file_is_refused)
{
    static const char *const bad[] = {
        "{\"type\":\"user\",\"isSidechain\":true,\"message\":{}}",
        "{\"type\":\"user\",\"isSidechain\":true,\"agentId\":\"../x\",\"message\":{}}",
        "{\"type\":\"user\",\"agentId\":\"a/b\",\"message\":{}}",
    };
    struct shop *s = *state;
    struct host_appended done;
    char *before = folder_image(&s->folder, "config");

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(append(s, bad[i], &done), ERR_USAGE);

    char *after = folder_image(&s->folder, "config");

    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* Sidechains as old clients wrote them: a chain of their own in the session's file. */
CASE(a_sidechain_in_the_session_does_not_lead_the_conversation_away)
{
    struct shop *s = *state;
    struct host_appended done;

    assert_int_equal(append(s,
                            USER("u-1") "{\"type\":\"user\",\"uuid\":\"s-1\",\"parentUuid\":null,"
                                        "\"isSidechain\":true,\"message\":{}}\n" USER("u-2"),
                            &done),
                     ERR_OK);

    assert_int_equal(restored(s), 2);
}

CASE(settings_are_rows_and_one_invalid_setting_refuses_all)
{
    struct shop *s = *state;
    const struct host_setting good[] = { { SLICE("title"), SLICE("T") },
                                         { SLICE("agentName"), SLICE("") } };
    const struct host_setting bad[] = { { SLICE("title"), SLICE("U") },
                                        { SLICE("color"), SLICE("red") } };
    size_t n;

    assert_int_equal(host_set(s->store, &s->ref, good, 2, NULL), ERR_OK);
    assert_int_equal(host_set(s->store, &s->ref, bad, 2, NULL), ERR_USAGE);

    char *text = transcript(s, &n);

    assert_non_null(strstr(text,
                           "{\"type\":\"custom-title\",\"customTitle\":\"T\",\"sessionId\":\"" ID
                           "\"}\n{\"type\":\"agent-name\",\"agentName\":\"\",\"sessionId\":"));
    assert_null(strstr(text, "\"U\""));
    free(text);
}

/* A session that was killed after a last-prompt row was written in the middle of a turn. */
CASE(a_row_follows_the_end_below_another_call_of_the_response)
{
    struct shop *s = *state;
    struct host_appended done;
    size_t n;

    assert_int_equal(
        append(
            s,
            "{\"type\":\"user\",\"uuid\":\"u1\",\"message\":{\"content\":\"Go\"}}\n"
            "{\"type\":\"assistant\",\"uuid\":\"callA\",\"parentUuid\":\"u1\",\"message\":{\"id\":"
            "\"m1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"tA\"}]}}\n"
            "{\"type\":\"assistant\",\"uuid\":\"callB\",\"parentUuid\":\"callA\",\"message\":{"
            "\"id\":"
            "\"m1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"tB\"}]}}\n"
            "{\"type\":\"user\",\"uuid\":\"resultA\",\"parentUuid\":\"callA\",\"message\":{"
            "\"content\":"
            "[{\"type\":\"tool_result\",\"tool_use_id\":\"tA\"}]}}\n"
            "{\"type\":\"last-prompt\",\"lastPrompt\":\"Go\",\"leafUuid\":\"resultA\"}\n"
            "{\"type\":\"user\",\"uuid\":\"resultB\",\"parentUuid\":\"callB\",\"message\":{"
            "\"content\":"
            "[{\"type\":\"tool_result\",\"tool_use_id\":\"tB\"}]}}\n",
            &done),
        ERR_OK);
    assert_int_equal(
        append(s, "{\"type\":\"user\",\"uuid\":\"u2\",\"message\":{\"content\":\"On\"}}\n", &done),
        ERR_OK);

    char *text = transcript(s, &n);

    assert_non_null(strstr(
        text, "\"uuid\":\"u2\",\"message\":{\"content\":\"On\"},\"parentUuid\":\"resultB\""));
    free(text);
}
