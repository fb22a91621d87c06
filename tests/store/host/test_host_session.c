#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/host/host_session.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"

/* A host with a store of its own, in which it keeps one session. */
struct host {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct arena a;
    struct host_session *session;
    char config[4096], state[4096];
};

static int set_up(void **state)
{
    struct host *h = calloc(1, sizeof *h);

    folder_make(&h->folder);
    folder_path(&h->folder, "config", h->config);
    folder_path(&h->folder, "state", h->state);
    h->env =
        (struct store_env){ .cwd = h->folder.path, .state_dir = h->state, .now_ms = 1700000000000 };
    assert_int_equal(host_make(&claude_ops, &h->env, h->config, NULL), ERR_OK);
    assert_int_equal(claude_ops.open(&h->env, h->config, &h->store, NULL), ERR_OK);
    *state = h;
    return 0;
}

static int tear_down(void **state)
{
    struct host *h = *state;

    assert_int_equal(host_session_close(h->session, NULL), ERR_OK);
    store_close(h->store);
    arena_fini(&h->a);
    folder_remove(&h->folder);
    free(h);
    return 0;
}

static void begin(struct host *h, const struct host_session_options *options)
{
    const struct host_create req = { .id = SLICE(ID), .title = SLICE("A title") };

    assert_int_equal(host_session_create(h->store, &req, options, &h->session, NULL), ERR_OK);
}

static enum err_code append(struct host *h, const char *rows, struct host_appended *done)
{
    struct host_append req = { 0 };
    struct host_appended ignored;
    struct slice *row;

    assert_int_equal(host_rows(slice_of(rows), &h->a, &row, &req.n, NULL), ERR_OK);
    req.row = row;
    return host_session_append(h->session, &req, &h->a, done ? done : &ignored, NULL);
}

static enum err_code find(struct host *h, struct session_ref *ref)
{
    return claude_ops.find(h->store, &(struct scope){ .all = true }, SLICE(ID), &h->a, ref, NULL);
}

static const char *path_of(struct host *h)
{
    struct session_ref ref;

    assert_int_equal(find(h, &ref), ERR_OK);
    return ref.path.p;
}

static char *transcript(struct host *h)
{
    size_t n;

    return folder_get(&h->folder, path_of(h) + strlen(h->folder.path) + 1, &n);
}

static enum err_code count_message(struct slice json, void *arg, struct err *e)
{
    (void)json, (void)e;
    ++*(size_t *)arg;
    return ERR_OK;
}

/* Messages of the conversation as a resume restores it. */
static size_t messages(struct host *h)
{
    const struct message_query all = { .session = SLICE(ID) };
    struct session_ref ref;
    size_t n = 0;

    assert_int_equal(find(h, &ref), ERR_OK);
    assert_int_equal(claude_ops.messages(h->store, &ref, &all, count_message, &n, NULL), ERR_OK);
    return n;
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;

    while ((text = strstr(text, part))) {
        n++;
        text++;
    }
    return n;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(nothing_is_on_disk_before_the_first_message)
{
    struct host *h = *state;
    const struct host_setting tag = { SLICE("tag"), SLICE("blue") };
    struct session_ref ref;

    begin(h, NULL);
    assert_int_equal(append(h, "{\"type\":\"attachment\",\"attachment\":{}}", NULL), ERR_OK);
    assert_int_equal(host_session_set(h->session, &tag, 1, NULL), ERR_OK);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    assert_int_equal(find(h, &ref), ERR_NOT_FOUND);
    assert_false(folder_has(&h->folder, "config/projects"));

    assert_int_equal(append(h, "{\"type\":\"user\",\"message\":{\"role\":\"user\"}}", NULL),
                     ERR_OK);
    char *text = transcript(h);
    const char *title = strstr(text, "\"customTitle\":\"A title\""),
               *color = strstr(text, "\"tag\":\"blue\""), *held = strstr(text, "\"attachment\""),
               *message = strstr(text, "\"type\":\"user\"");

    assert_true(title && color && held && message);
    assert_true(color < held && title < message && held < message);
    free(text);
}

CASE(a_session_without_a_message_leaves_nothing)
{
    struct host *h = *state;
    const struct host_session_options background = { .background = true };

    begin(h, &background);
    assert_int_equal(append(h, "{\"type\":\"system\",\"content\":\"hook\"}", NULL), ERR_OK);
    assert_int_equal(host_session_close(h->session, NULL), ERR_OK);
    h->session = NULL;

    assert_false(folder_has(&h->folder, "config/projects"));
}

CASE(rows_are_not_held_without_end)
{
    struct host *h = *state;
    const struct host_session_options small = { .queue_rows = 4 };
    struct session_ref ref;

    begin(h, &small);
    for (int i = 0; i < 4; i++)
        assert_int_equal(append(h, "{\"type\":\"system\",\"content\":\"hook\"}", NULL), ERR_OK);
    assert_int_equal(find(h, &ref), ERR_NOT_FOUND);
    assert_int_equal(append(h, "{\"type\":\"system\",\"content\":\"hook\"}", NULL), ERR_OK);

    char *text = transcript(h);

    assert_int_equal(times(text, "\"hook\""), 5);
    free(text);
}

CASE(an_id_that_exists_is_refused_at_once)
{
    struct host *h = *state;
    const struct host_create same = { .id = SLICE(ID) }, odd = { .id = SLICE("deploy-1") };
    struct host_session *other = NULL;

    begin(h, NULL);
    assert_int_equal(append(h, "{\"type\":\"user\",\"message\":{}}", NULL), ERR_OK);

    assert_int_equal(host_session_create(h->store, &same, NULL, &other, NULL), ERR_STALE);
    assert_int_equal(host_session_create(h->store, &odd, NULL, &other, NULL), ERR_USAGE);
    assert_null(other);
}

#define ROW(uuid)                                                                                  \
    "{\"type\":\"user\",\"uuid\":\"" uuid "\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}"  \
    "\n"

CASE(rows_follow_one_another_and_are_written_once)
{
    struct host *h = *state;
    struct host_appended done;

    begin(h, NULL);
    assert_int_equal(append(h, ROW("u1") ROW("u2"), &done), ERR_OK);
    assert_int_equal(append(h, ROW("u2") ROW("u3"), &done), ERR_OK);
    assert_int_equal(done.present, 1);
    assert_int_equal(append(h, ROW("u1"), &done), ERR_OK);
    assert_int_equal(done.present, 1);

    char *text = transcript(h);

    assert_int_equal(times(text, "\"uuid\":\"u2\""), 1);
    assert_non_null(strstr(text, "\"parentUuid\":\"u2\""));
    assert_int_equal(messages(h), 3);
    free(text);
}

CASE(progress_is_left_out_and_bridged)
{
    struct host *h = *state;
    struct host_appended done;

    begin(h, NULL);
    assert_int_equal(append(h, ROW("u1") "{\"type\":\"progress\",\"uuid\":\"p1\"}\n", &done),
                     ERR_OK);
    assert_int_equal(done.left_out, 1);
    assert_int_equal(done.id[1].n, 0);
    assert_int_equal(append(h,
                            "{\"type\":\"assistant\",\"uuid\":\"a1\",\"parentUuid\":\"p1\","
                            "\"message\":{\"role\":\"assistant\",\"content\":[]}}",
                            &done),
                     ERR_OK);

    char *text = transcript(h);

    assert_null(strstr(text, "progress"));
    assert_non_null(strstr(text, "\"parentUuid\":\"u1\""));
    assert_int_equal(messages(h), 2);
    free(text);
}

static void add_by_hand(struct host *h, const char *row)
{
    FILE *f = fopen(path_of(h), "a");

    assert_non_null(f);
    fputs(row, f);
    fclose(f);
}

CASE(a_row_of_another_program_becomes_the_parent)
{
    struct host *h = *state;

    begin(h, NULL);
    assert_int_equal(append(h, ROW("u1"), NULL), ERR_OK);
    add_by_hand(
        h, "{\"type\":\"assistant\",\"uuid\":\"a1\",\"parentUuid\":\"u1\",\"isSidechain\":false,"
           "\"message\":{\"role\":\"assistant\",\"content\":[]}}\n");
    assert_int_equal(append(h, ROW("u2") ROW("a1"), NULL), ERR_OK);

    char *text = transcript(h);

    assert_non_null(strstr(text, "\"parentUuid\":\"a1\""));
    assert_int_equal(times(text, "\"uuid\":\"a1\""), 1);
    assert_int_equal(messages(h), 3);
    free(text);
}

CASE(a_file_that_was_replaced_is_read_again)
{
    struct host *h = *state;
    struct host_appended done;

    begin(h, NULL);
    assert_int_equal(append(h, ROW("u1") ROW("u2") ROW("u3"), NULL), ERR_OK);
    char *text = transcript(h);
    const char *name = path_of(h) + strlen(h->folder.path) + 1;

    /* shortened to its first message: what was cut may be appended again */
    *strstr(text, "{\"type\":\"user\",\"uuid\":\"u2\"") = '\0';
    folder_put(&h->folder, name, slice_of(text));
    assert_int_equal(append(h, ROW("u3") ROW("u1"), &done), ERR_OK);
    free(text);

    assert_int_equal(done.present, 1);
    text = transcript(h);
    assert_non_null(strstr(text, "\"parentUuid\":\"u1\""));
    assert_int_equal(messages(h), 2);
    free(text);
}

CASE(rows_of_a_sub_agent_go_into_its_file)
{
    struct host *h = *state;
    const char *side = "{\"type\":\"user\",\"uuid\":\"s1\",\"isSidechain\":true,\"agentId\":"
                       "\"a0b1\",\"message\":{}}\n"
                       "{\"type\":\"user\",\"uuid\":\"s2\",\"isSidechain\":true,\"agentId\":"
                       "\"a0b1\",\"message\":{}}\n";
    char path[4096];
    size_t n;

    begin(h, NULL);
    assert_int_equal(append(h, ROW("u1"), NULL), ERR_OK);
    assert_int_equal(append(h, side, NULL), ERR_OK);
    assert_int_equal(append(h, side, NULL), ERR_OK);
    assert_int_equal(append(h, ROW("u2"), NULL), ERR_OK);

    char *text = transcript(h);

    assert_null(strstr(text, "\"s1\""));
    assert_int_equal(messages(h), 2);
    free(text);
    snprintf(path, sizeof path, "%.*s/subagents/agent-a0b1.jsonl", (int)(strlen(path_of(h)) - 6),
             path_of(h));
    text = folder_get(&h->folder, path + strlen(h->folder.path) + 1, &n);
    assert_int_equal(times(text, "\"uuid\":\"s1\""), 1);
    assert_non_null(strstr(text, "\"parentUuid\":\"s1\""));
    free(text);
}

CASE(the_title_stays_near_the_end)
{
    struct host *h = *state;
    static char row[3000];

    begin(h, NULL);
    snprintf(row, sizeof row,
             "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"%2500d\"}}", 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(append(h, row, NULL), ERR_OK);

    char *text = transcript(h);
    size_t n = strlen(text);

    assert_non_null(strstr(text + n - 65536, "\"customTitle\":\"A title\""));
    assert_in_range(times(text, "customTitle"), 4, 6);
    assert_int_equal(messages(h), 100);
    free(text);
}

/* ---- several writers ---- */

static void append_fifty(struct host *h, int who)
{
    const struct host_session_options options = { .durable = who % 2 ? HOST_DURABLE_FLUSH
                                                                     : HOST_DURABLE_BATCH };
    struct session_ref ref;
    struct host_session *s;
    char row[200];
    struct slice one;

    assert_int_equal(host_session_flush(h->session, NULL), ERR_UNSUPPORTED);
    if (find(h, &ref) || host_session_open(h->store, &ref, &options, &s, NULL))
        _exit(1);
    for (int i = 0; i < 50; i++) {
        struct host_appended done;

        snprintf(row, sizeof row,
                 "{\"type\":\"user\",\"uuid\":\"p%d-%d\",\"message\":{\"role\":\"user\","
                 "\"content\":\"x\"}}",
                 who, i);
        one = slice_of(row);
        const struct host_append req = { .row = &one, .n = 1 };

        if (host_session_append(s, &req, &h->a, &done, NULL) || done.present)
            _exit(2);
    }
    _exit(host_session_close(s, NULL) ? 3 : 0);
}

CASE(four_processes_make_one_chain)
{
    struct host *h = *state;
    pid_t pid[4];
    int status;

    begin(h, NULL);
    assert_int_equal(append(h, ROW("u1"), NULL), ERR_OK);
    for (int i = 0; i < 4; i++)
        if ((pid[i] = fork()) == 0)
            append_fifty(h, i);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(append(h, ROW("u2"), NULL), ERR_OK);

    assert_int_equal(messages(h), 202);
}
