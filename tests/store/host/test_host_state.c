#include "tests/test.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/host/host_state.h"
#include "store/proc/live.h"
#include "support/folder.h"

/* The steps that listeners receive, one per line. */
struct heard {
    struct buf text;
    char name;
    struct host_state *state; /* called back, if not NULL */
    enum err_code answer;
};

static void add(struct heard *h, const char *what, struct slice text)
{
    assert_int_equal(buf_addf(&h->text, "%c %s %.*s\n", h->name, what, SLICE_ARG(text)), ERR_OK);
}

static void hear_state(enum session_state state, const struct host_action *action, void *arg)
{
    struct heard *h = arg;

    add(h, session_state_name(state), action ? action->tool_name : SLICE("-"));
    if (h->state)
        h->answer = host_state_change(h->state, SESSION_IDLE, NULL, NULL);
}

static void hear_metadata(struct slice patch, void *arg)
{
    add(arg, "metadata", patch);
}

static void hear_title(struct slice title, void *arg)
{
    add(arg, "title", title);
}

static void hear_prompt(struct slice prompt, void *arg)
{
    add(arg, "prompt", prompt);
}

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

static const struct host_action edit = { .tool_name = TEXT("Edit"),
                                         .description = TEXT("Editing src/foo.ts"),
                                         .tool_use_id = TEXT("t1"),
                                         .request_id = TEXT("r1"),
                                         .input = TEXT("{\"path\":\"src/foo.ts\"}") };

static void expect(struct heard *h, const char *want)
{
    assert_string_equal(h->text.n ? buf_cstr(&h->text) : "", want);
    h->text.n = 0;
}

static struct host_state *open_with(struct heard *h)
{
    const struct host_listener l = { .state = hear_state,
                                     .metadata = hear_metadata,
                                     .title = hear_title,
                                     .last_prompt = hear_prompt,
                                     .arg = h };
    struct host_state *s;

    assert_int_equal(host_state_open(NULL, &s, NULL), ERR_OK);
    assert_int_equal(host_state_listen(s, &l, NULL), ERR_OK);
    return s;
}

static void metadata_are(struct host_state *s, const char *want)
{
    struct arena a = { 0 };
    struct slice json;

    assert_int_equal(host_state_metadata(s, &a, &json, NULL), ERR_OK);
    assert_int_equal(json.n, strlen(want));
    assert_memory_equal(json.p, want, json.n);
    arena_fini(&a);
}

/* The steps of seed 002, in their order. */
TEST(a_turn_with_a_question)
{
    struct heard h = { .name = 'a' };
    struct host_state *s = open_with(&h);

    assert_int_equal(host_state_now(s), SESSION_IDLE);
    assert_int_equal(host_state_change(s, SESSION_RUNNING, NULL, NULL), ERR_OK);
    expect(&h, "a running -\n");
    assert_int_equal(
        host_state_merge(s, SLICE("{\"task_summary\":\"reading\",\"model\":\"m\"}"), NULL), ERR_OK);
    expect(&h, "a metadata {\"task_summary\":\"reading\",\"model\":\"m\"}\n");
    assert_int_equal(host_state_change(s, SESSION_REQUIRES_ACTION, &edit, NULL), ERR_OK);
    expect(&h, "a requires_action Edit\n"
               "a metadata {\"pending_action\":{\"tool_name\":\"Edit\",\"action_description\":"
               "\"Editing src/foo.ts\",\"tool_use_id\":\"t1\",\"request_id\":\"r1\","
               "\"input\":{\"path\":\"src/foo.ts\"}}}\n");
    assert_int_equal(host_state_change(s, SESSION_RUNNING, NULL, NULL), ERR_OK);
    expect(&h, "a running -\na metadata {\"pending_action\":null}\n");
    metadata_are(s, "{\"task_summary\":\"reading\",\"model\":\"m\"}");
    assert_int_equal(host_state_change(s, SESSION_IDLE, NULL, NULL), ERR_OK);
    expect(&h, "a idle -\na metadata {\"task_summary\":null}\n");
    metadata_are(s, "{\"model\":\"m\"}");
    assert_int_equal(host_state_now(s), SESSION_IDLE);
    host_state_close(s);
    buf_fini(&h.text);
}

TEST(a_question_that_is_dropped_clears_both)
{
    struct heard h = { .name = 'a' };
    struct host_state *s = open_with(&h);

    assert_int_equal(host_state_change(s, SESSION_REQUIRES_ACTION, NULL, NULL), ERR_OK);
    expect(&h, "a requires_action -\n"); /* without details there is nothing to publish */
    assert_int_equal(host_state_change(s, SESSION_REQUIRES_ACTION, &edit, NULL), ERR_OK);
    h.text.n = 0;
    assert_int_equal(host_state_change(s, SESSION_IDLE, &edit, NULL), ERR_OK);
    expect(&h, "a idle -\na metadata {\"pending_action\":null}\n"
               "a metadata {\"task_summary\":null}\n");
    assert_int_equal(host_state_title(s, SLICE("T"), NULL), ERR_OK);
    assert_int_equal(host_state_last_prompt(s, SLICE("P"), NULL), ERR_OK);
    expect(&h, "a title T\na prompt P\n");
    host_state_close(s);
    buf_fini(&h.text);
}

TEST(listeners_are_called_in_order)
{
    struct heard h = { .name = 'a' };
    struct host_state *s = open_with(&h);
    struct heard second = { .name = 'b' };
    const struct host_listener l = { .state = hear_state, .arg = &second };
    const struct host_listener deaf = { .arg = NULL };

    assert_int_equal(host_state_listen(s, &deaf, NULL), ERR_OK);
    assert_int_equal(host_state_listen(s, &l, NULL), ERR_OK);
    assert_int_equal(host_state_change(s, SESSION_IDLE, NULL, NULL), ERR_OK);
    expect(&h, "a idle -\na metadata {\"task_summary\":null}\n");
    expect(&second, "b idle -\n");
    host_state_close(s);
    buf_fini(&h.text);
    buf_fini(&second.text);
}

TEST(a_listener_that_calls_back_is_refused)
{
    struct heard h = { .name = 'a' };
    struct host_state *s = open_with(&h);

    h.state = s;
    assert_int_equal(host_state_change(s, SESSION_RUNNING, NULL, NULL), ERR_OK);
    assert_int_equal(h.answer, ERR_USAGE);
    assert_int_equal(host_state_now(s), SESSION_RUNNING);
    host_state_close(s);
    buf_fini(&h.text);
}

TEST(nonsense_changes_nothing)
{
    struct heard h = { .name = 'a' };
    struct host_state *s = open_with(&h);
    struct host_action bad = edit;

    bad.input = SLICE("[1]");
    assert_int_equal(host_state_change(s, SESSION_REQUIRES_ACTION, &bad, NULL), ERR_USAGE);
    assert_int_equal(host_state_change(s, SESSION_UNKNOWN, NULL, NULL), ERR_USAGE);
    assert_int_equal(host_state_merge(s, SLICE("{\"a\":"), NULL), ERR_USAGE);
    assert_int_equal(host_state_merge(s, SLICE("[]"), NULL), ERR_USAGE);
    expect(&h, "");
    metadata_are(s, "{}");
    host_state_close(s);
    buf_fini(&h.text);
}

/* ---- published ---- */

struct home {
    struct folder folder;
    struct store_env env;
    struct store *st;
    struct arena arena;
    struct session_ref ref;
    char state[4200];
};

static int set_up(void **state)
{
    static struct home h;
    struct host_created made;

    h = (struct home){ .st = NULL };
    folder_make(&h.folder);
    snprintf(h.state, sizeof h.state, "%s/state", h.folder.path);
    h.env = (struct store_env){
        .home = h.folder.path, .cwd = h.folder.path, .state_dir = h.state, .now_ms = 1772359202000
    };
    assert_int_equal(memory_store_ops.open(&h.env, NULL, &h.st, NULL), ERR_OK);
    assert_int_equal(
        host_create(h.st, &(struct host_create){ .id = SLICE("s-1") }, &h.arena, &made, NULL),
        ERR_OK);
    assert_int_equal(
        h.st->ops->find(h.st, &(struct scope){ .all = true }, made.id, &h.arena, &h.ref, NULL),
        ERR_OK);
    *state = &h;
    return 0;
}

static int tear_down(void **state)
{
    struct home *h = *state;

    store_close(h->st);
    arena_fini(&h->arena);
    folder_remove(&h->folder);
    return 0;
}

static struct host_state *publish(struct home *h)
{
    const struct host_published where = {
        .env = &h->env, .system = "memory", .session = SLICE("s-1"), .cwd = SLICE("/work")
    };
    struct host_state *s;

    assert_int_equal(host_state_open(&where, &s, NULL), ERR_OK);
    return s;
}

/* The session's row as a list shows it. Without a process table it is not known that the host still runs, and so
 * nothing of what it published is shown. */
static void row_shows(struct home *h, enum session_state state, const char *waits_for)
{
    struct session_row *row = session_row_new();
    struct live_table hosts;

    if (!HAS_PROCESS_TABLE) {
        state = SESSION_UNKNOWN;
        waits_for = "";
    }

    assert_int_equal(live_read_hosts(&h->env, &hosts, NULL), ERR_OK);
    assert_int_equal(
        h->st->ops->describe(h->st, &(struct scope){ .all = true }, &h->ref, row, NULL), ERR_OK);
    assert_true(live_show_host(&hosts, row));
    assert_int_equal(row->state, state);
    assert_int_equal((row->flags & SESSION_LIVE) != 0, state != SESSION_UNKNOWN);
    assert_int_equal((row->flags & SESSION_WAITS) != 0, state == SESSION_REQUIRES_ACTION);
    assert_int_equal(row->waits_for.n, strlen(waits_for));
    live_fini(&hosts);
    session_row_free(row);
}

static size_t files(struct home *h)
{
    struct disk_usage usage = { 0 };
    char dir[4300];

    snprintf(dir, sizeof dir, "%s/hosts", h->state);
    assert_int_equal(disk_usage_add(dir, &usage, NULL), ERR_OK);
    return (size_t)usage.files;
}

#define AT_HOME(name) TEST_WITH(name, set_up, tear_down)

AT_HOME(other_programs_see_each_step)
{
    struct home *h = *state;
    struct host_state *s = publish(h);

    row_shows(h, SESSION_IDLE, "");
    assert_int_equal(host_state_change(s, SESSION_RUNNING, NULL, NULL), ERR_OK);
    row_shows(h, SESSION_RUNNING, "");
    assert_int_equal(host_state_change(s, SESSION_REQUIRES_ACTION, &edit, NULL), ERR_OK);
    row_shows(h, SESSION_REQUIRES_ACTION, "Editing src/foo.ts");
    assert_int_equal(host_state_change(s, SESSION_REQUIRES_ACTION, NULL, NULL), ERR_OK);
    row_shows(h, SESSION_REQUIRES_ACTION, "");
    host_state_close(s);
    row_shows(h, SESSION_UNKNOWN, "");
    assert_int_equal(files(h), 0);
}

AT_HOME(another_session_or_system_is_another)
{
    struct home *h = *state;
    struct host_published where = { .env = &h->env, .system = "memory", .session = SLICE("s-2") };
    struct host_state *one, *two;

    assert_int_equal(host_state_open(&where, &one, NULL), ERR_OK);
    where.system = "claude";
    where.session = SLICE("s-1");
    assert_int_equal(host_state_open(&where, &two, NULL), ERR_OK);
    row_shows(h, SESSION_UNKNOWN, "");
    assert_int_equal(files(h), 2);
    host_state_close(one);
    host_state_close(two);
}

AT_HOME(the_input_of_an_action_is_not_published)
{
    struct home *h = *state;
    struct host_state *s = publish(h);
    struct buf text = { 0 };
    char pattern[4400];
    glob_t found;

    assert_int_equal(host_state_change(s, SESSION_REQUIRES_ACTION, &edit, NULL), ERR_OK);
    snprintf(pattern, sizeof pattern, "%s/hosts/*.json", h->state);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(file_read_all(AT_FDCWD, found.gl_pathv[0], 0, 1 << 20, &text, NULL), ERR_OK);
    assert_true(json_valid(buf_slice(&text)));
    assert_true(slice_has(buf_slice(&text), "Editing src/foo.ts"));
    assert_false(slice_has(buf_slice(&text), "\"path\""));
    globfree(&found);
    buf_fini(&text);
    host_state_close(s);
}

/* Until it is killed, or the test ends and so closes the pipe. */
static bool stay(const int life[2])
{
    char byte;

    close(life[1]);
    return read(life[0], &byte, 1) >= 0;
}

/* A killed host leaves its file: it does not count, and the next host removes it. */
AT_HOME(a_dead_host_does_not_count)
{
    struct home *h = *state;
    int ready[2], life[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(life), 0);
    pid_t child = fork();

    if (child == 0) {
        struct host_state *s = publish(h);

        _exit(host_state_change(s, SESSION_RUNNING, NULL, NULL) || write(ready[1], "x", 1) != 1 ||
              stay(life));
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    row_shows(h, SESSION_RUNNING, "");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    row_shows(h, SESSION_UNKNOWN, "");
    assert_int_equal(files(h), 1);
    host_state_close(publish(h));
    assert_int_equal(files(h), 0);
    close(ready[0]);
    close(ready[1]);
    close(life[0]);
    close(life[1]);
}

AT_HOME(a_child_after_fork_publishes_nothing)
{
    struct home *h = *state;
    struct host_state *s = publish(h);
    pid_t child = fork();
    int status;

    if (child == 0) {
        enum err_code rc = host_state_change(s, SESSION_RUNNING, NULL, NULL);

        host_state_close(s);
        _exit((int)rc);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    row_shows(h, SESSION_IDLE, "");
    host_state_close(s);
}

static void put(struct home *h, const char *name, struct slice text)
{
    char path[600];

    snprintf(path, sizeof path, "state/hosts/%s", name);
    folder_put(&h->folder, path, text);
}

/* Whatever is in the directory, the list goes on. */
AT_HOME(damaged_and_hostile_files_are_ignored)
{
    static const char uuid[] = "5e550000-0000-4000-8000-000000000001";
    struct home *h = *state;
    struct host_state *s = publish(h);
    struct buf large = { 0 };
    char name[100], fifo[4400];

    for (int i = 0; i < LIVE_ENTRY_MAX; i++)
        assert_int_equal(buf_add_byte(&large, ' '), ERR_OK);
    assert_int_equal(buf_addf(&large, "{\"sessionId\":\"s-1\",\"system\":\"memory\"}"), ERR_OK);
    snprintf(name, sizeof name, "%d-%s.json", 1, uuid);
    put(h, name, SLICE("{\"sessionId\":\"s-1\",\"system\":\"memory\",\"state\":\"running\""));
    put(h, "x.json", SLICE("{\"sessionId\":\"s-1\",\"system\":\"memory\"}"));
    put(h, "99999999999999999999-5e550000-0000-4000-8000-000000000001.json", SLICE("{}"));
    put(h, "2-5e550000-0000-4000-8000-000000000001.json", buf_slice(&large));
    put(h, "3-5e550000-0000-4000-8000-000000000001.json",
        SLICE("{\"sessionId\":7,\"system\":[],\"state\":{},\"metadata\":{\"pending_action\":3}}"));
    put(h, "4-5e550000-0000-4000-8000-000000000001.json", SLICE("[]"));
    put(h, "5.json", SLICE("{\"sessionId\":\"s-1\",\"system\":\"memory\"}"));
    /* Another program's process: no start time, and a start time that is not its own. */
    snprintf(name, sizeof name, "%d-%s.json", getppid(), uuid);
    put(h, name,
        SLICE("{\"sessionId\":\"s-1\",\"system\":\"memory\",\"procStart\":\"1\",\"state\":"
              "\"running\"}"));
    snprintf(fifo, sizeof fifo, "%s/hosts/6-%s.json", h->state, uuid);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    snprintf(fifo, sizeof fifo, "%s/hosts/7-%s.json", h->state, uuid);
    assert_int_equal(symlink("/dev/zero", fifo), 0);
    row_shows(h, SESSION_IDLE, "");
    host_state_close(s);
    row_shows(h, SESSION_UNKNOWN, "");
    buf_fini(&large);
}

AT_HOME(a_session_with_a_running_host_is_in_use)
{
    struct home *h = *state;
    const struct session_ref *refs[] = { &h->ref };
    struct live live;
    int ready[2], life[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(life), 0);
    struct host_state *own = publish(h);

    assert_int_equal(live_check(refs, 1, &live, NULL), ERR_OK);
    assert_int_equal(live.state, LIVE_QUIET); /* by itself */
    host_state_close(own);
    pid_t child = fork();

    if (child == 0) {
        publish(h);
        _exit(write(ready[1], "x", 1) != 1 || stay(life));
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(live_check(refs, 1, &live, NULL), ERR_OK);
    assert_int_equal(live.state, HAS_PROCESS_TABLE ? LIVE_RUNNING : LIVE_UNKNOWN);
    assert_int_equal(live.pid, child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(live_check(refs, 1, &live, NULL), ERR_OK);
    assert_int_equal(live.state, LIVE_QUIET);
    close(ready[0]);
    close(ready[1]);
    close(life[0]);
    close(life[1]);
}

static void *step_often(void *arg)
{
    for (int i = 0; i < 20; i++)
        if (host_state_change(arg, i % 2 ? SESSION_RUNNING : SESSION_IDLE, NULL, NULL))
            return arg;
    return NULL;
}

AT_HOME(threads_take_turns)
{
    struct home *h = *state;
    struct host_state *s = publish(h);
    pthread_t thread[3];
    void *failed;

    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, step_often, s), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    row_shows(h, host_state_now(s), "");
    host_state_close(s);
}
