#include "tests/test.h"

#include <pthread.h>

#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/journal/change.h"
#include "tests/support/faults/memory.h"

enum { THREADS = 4, EACH = 50 };

static const struct store_env env = { .home = "/nowhere", .cwd = "/nowhere" };
static const struct scope everything = { .all = true };

struct opened {
    struct store *st;
    struct session_ref ref;
    struct arena arena;
};

static int set_up(void **state)
{
    static struct opened o;
    struct host_created made;

    o = (struct opened){ .st = NULL };
    assert_int_equal(memory_store_ops.open(&env, NULL, &o.st, NULL), ERR_OK);
    assert_int_equal(
        host_create(o.st, &(struct host_create){ .title = SLICE("T") }, &o.arena, &made, NULL),
        ERR_OK);
    assert_int_equal(o.st->ops->find(o.st, &everything, made.id, &o.arena, &o.ref, NULL), ERR_OK);
    *state = &o;
    return 0;
}

static int tear_down(void **state)
{
    struct opened *o = *state;

    store_close(o->st);
    arena_fini(&o->arena);
    return 0;
}

static struct host_appended append(struct opened *o, const struct slice *row, size_t n)
{
    struct host_appended done = { 0 };

    assert_int_equal(host_append(o->st, &o->ref, &(struct host_append){ .row = row, .n = n },
                                 &o->arena, &done, NULL),
                     ERR_OK);
    return done;
}

static enum err_code count(struct slice json, void *arg, struct err *e)
{
    (void)json, (void)e;
    ++*(size_t *)arg;
    return ERR_OK;
}

static size_t messages(struct opened *o)
{
    const struct message_query q = { .session = o->ref.id };
    size_t n = 0;

    assert_int_equal(o->st->ops->messages(o->st, &o->ref, &q, count, &n, NULL), ERR_OK);
    return n;
}

struct found {
    char text[100];
    size_t n;
};

static enum err_code collect(struct slice json, void *arg, struct err *e)
{
    struct found *f = arg;
    struct arena a = { 0 };
    struct slice message, text;

    (void)e;
    assert_true(json_get(json, "message", &message));
    assert_true(json_get_text(message, "content", &a, &text));
    strncat(f->text, text.p, text.n);
    f->n++;
    arena_fini(&a);
    return ERR_OK;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_repeated_row_is_there_once)
{
    const struct slice rows[] = {
        SLICE("{\"id\":\"1\",\"role\":\"user\",\"text\":\"a\"}"),
        SLICE("{\"id\":\"2\",\"role\":\"assistant\",\"text\":\"b\"}"),
        SLICE("{\"id\":\"1\",\"role\":\"user\",\"text\":\"a\"}"),
    };
    struct opened *o = *state;

    assert_int_equal(append(o, rows, 1).present, 0);
    assert_int_equal(append(o, rows, 3).present, 2);
    assert_int_equal(messages(o), 2);
}

CASE(a_row_without_an_id_gets_one)
{
    const struct slice row = SLICE("{\"role\":\"user\",\"text\":\"a\"}");
    struct opened *o = *state;
    struct slice first = append(o, &row, 1).id[0], second = append(o, &row, 1).id[0];

    assert_int_equal(first.n, HOST_ID - 1);
    assert_false(slice_eq(first, second));
    assert_int_equal(messages(o), 2);
}

CASE(rows_of_any_agent_are_messages)
{
    static const struct {
        const char *row, *id;
    } rows[] = {
        { "{\"role\":\"user\",\"content\":\"a\",\"uuid\":\"r1\"}", "r1" },
        { "{\"type\":\"user\",\"uuid\":\"r2\",\"message\":{\"role\":\"user\",\"content\":\"b\"}}",
          "r2" },
        { "{\"event\":\"user_message\",\"uuid\":\"r3\",\"data\":{\"message\":{\"role\":\"user\","
          "\"content\":\"c\"}}}",
          "r3" },
        { "{\"uuid\":\"r4\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
          "\"text\":\"d\"},{\"type\":\"text\",\"text\":\"e\"}]}}",
          "r4" },
    };
    const struct slice event = SLICE("{\"event\":\"session_start\",\"role\":1}");
    struct opened *o = *state;
    struct found found = { .n = 0 };
    const struct message_query q = { .session = o->ref.id };

    for (size_t i = 0; i < 4; i++) {
        const struct slice row = slice_of(rows[i].row);

        assert_true(slice_eq(append(o, &row, 1).id[0], slice_of(rows[i].id)));
        assert_int_equal(append(o, &row, 1).present, 1);
    }
    append(o, &event, 1);
    assert_int_equal(o->st->ops->messages(o->st, &o->ref, &q, collect, &found, NULL), ERR_OK);
    assert_int_equal(found.n, 4);
    assert_string_equal(found.text, "abcd\ne");
}

CASE(a_fork_has_the_rows_up_to_a_message)
{
    const struct slice rows[] = { SLICE("{\"id\":\"1\",\"role\":\"user\",\"text\":\"a\"}"),
                                  SLICE("{\"id\":\"2\",\"role\":\"assistant\",\"text\":\"b\"}"),
                                  SLICE("{\"id\":\"3\",\"role\":\"user\",\"text\":\"c\"}") };
    struct fork_request req = { .at = SLICE("2") };
    struct opened *o = *state;
    struct change *c = change_new("fork");
    struct fork_result made;
    struct session_row *row = session_row_new();

    append(o, rows, 3);
    assert_int_equal(o->st->ops->fork(o->st, &o->ref, &req, c, &made, NULL), ERR_OK);
    assert_int_equal(c->n, 0); /* nothing is left to be done, or to be undone */
    assert_int_equal(messages(o), 3);
    struct opened copy = { .st = o->st };

    assert_int_equal(o->st->ops->find(o->st, &everything, made.id, &copy.arena, &copy.ref, NULL),
                     ERR_OK);
    assert_int_equal(messages(&copy), 2);
    assert_int_equal(o->st->ops->describe(o->st, &everything, &copy.ref, row, NULL), ERR_OK);
    assert_true(slice_eq(row->custom_title, SLICE("T (fork)")));
    req.at = SLICE("9");
    assert_int_equal(o->st->ops->fork(o->st, &o->ref, &req, c, &made, NULL), ERR_NOT_FOUND);
    assert_int_equal(o->st->ops->remove(o->st, &copy.ref, NULL), ERR_OK);
    assert_int_equal(
        o->st->ops->find(o->st, &everything, copy.ref.id, &copy.arena, &copy.ref, NULL),
        ERR_NOT_FOUND);
    session_row_free(row);
    arena_fini(&copy.arena);
    change_free(c);
}

static bool count_session(const struct session_ref *ref, void *arg)
{
    (void)ref;
    ++*(size_t *)arg;
    return true;
}

CASE(a_fork_that_fails_leaves_no_session)
{
    const struct slice rows[] = { SLICE("{\"id\":\"1\",\"role\":\"user\",\"text\":\"a\"}") };
    const struct fork_request req = { .at = { NULL, 0 } };
    struct opened *o = *state;
    enum err_code rc = ERR_NOMEM;

    append(o, rows, 1);
    for (long k = 1; rc; k++) {
        struct change *c = change_new("fork");
        struct fork_result made;
        size_t sessions = 0;

        memory_fail_at(k);
        rc = o->st->ops->fork(o->st, &o->ref, &req, c, &made, NULL);
        memory_fail_at(0);
        assert_int_equal(o->st->ops->enumerate(o->st, &everything, count_session, &sessions, NULL),
                         ERR_OK);
        assert_int_equal(sessions, rc ? 1 : 2);
        change_free(c);
    }
}

struct writer {
    struct opened *o;
    int number;
    bool ok;
};

static void *write_and_read(void *arg)
{
    struct writer *w = arg;
    struct session_row *row = session_row_new();
    struct arena a = { 0 };

    w->ok = row != NULL;
    for (int i = 0; w->ok && i < EACH; i++) {
        const struct host_setting title = { SLICE("title"), SLICE("another") };
        struct host_appended done;
        char text[80];

        snprintf(text, sizeof text, "{\"id\":\"%d-%d\",\"role\":\"user\",\"text\":\"x\"}",
                 w->number, i);
        const struct slice line = slice_of(text);
        const struct host_append req = { .row = &line, .n = 1 };

        w->ok = host_append(w->o->st, &w->o->ref, &req, &a, &done, NULL) == ERR_OK &&
                host_set(w->o->st, &w->o->ref, &title, 1, NULL) == ERR_OK &&
                w->o->st->ops->describe(w->o->st, &everything, &w->o->ref, row, NULL) == ERR_OK &&
                row->summary.n > 0;
    }
    session_row_free(row);
    arena_fini(&a);
    return NULL;
}

CASE(threads_share_a_session)
{
    struct writer w[THREADS];
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct writer){ .o = *state, .number = i };
        assert_int_equal(pthread_create(&thread[i], NULL, write_and_read, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(w[i].ok);
    }
    assert_int_equal(messages(*state), THREADS * EACH);
}
