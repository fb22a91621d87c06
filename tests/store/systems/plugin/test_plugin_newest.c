#include "store/systems/plugin/plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lite/base/id.h"
#include "lite/json/json.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

/* The newest rows of sessions in a store, and a server that is silent. */

/* ---- the end of a conversation, page by page ---- */

#define LONG "22222222-1111-4111-8111-111111111111"

enum { LONG_ROWS = 400, ROW_BYTES = 1024 };

static void add_long_rows(struct buf *out, int from, int to)
{
    for (int i = from; i < to; i++) {
        size_t end = out->n + ROW_BYTES - 1;

        assert_int_equal(
            buf_addf(out, "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-%012d\"", i),
            ERR_OK);
        if (i > 0)
            assert_int_equal(
                buf_addf(out, ",\"parentUuid\":\"00000000-0000-4000-8000-%012d\"", i - 1), ERR_OK);
        assert_int_equal(
            buf_addf(out, ",\"cwd\":\"/w\",\"message\":{\"role\":\"user\",\"content\":\""), ERR_OK);
        while (out->n < end - 3)
            assert_int_equal(buf_add_byte(out, 'x'), ERR_OK);
        assert_int_equal(buf_addf(out, "\"}}\n"), ERR_OK);
    }
}

/* A store with one session of these rows. */
static void open_long(struct folder *f, const struct buf *rows, struct arena *a, struct store **st,
                      struct session_ref *ref)
{
    const struct scope all = { .all = true };
    static struct store_env env;
    char path[4200];
    const struct plugin_config config = { .name = "team", .plugin = COMPLETE_STORE, .path = path };

    env = (struct store_env){ .home = f->path, .cwd = f->path, .data_dir = f->path };
    folder_put(f, "team/p/" LONG ".jsonl", buf_slice(rows));
    snprintf(path, sizeof path, "%s/team", f->path);
    assert_int_equal(plugin_store_open(&env, &config, true, st, NULL), ERR_OK);
    assert_int_equal((*st)->ops->find(*st, &all, SLICE(LONG), a, ref, NULL), ERR_OK);
}

static struct transcript *tail_of(const struct store *st, const struct session_ref *ref,
                                  size_t rows)
{
    struct transcript *t = NULL;

    assert_int_equal(st->ops->tail(st, ref, rows * ROW_BYTES, NULL, &t, NULL), ERR_OK);
    assert_true(t->relative_offsets);
    return t;
}

static void has_newest(struct transcript *t, size_t rows, int newest)
{
    char id[40];

    snprintf(id, sizeof id, "00000000-0000-4000-8000-%012d", newest);
    assert_in_range(t->n, rows - 2, rows);
    assert_int_equal(t->partial, rows < LONG_ROWS);
    assert_true(id128_eq(t->message[t->n - 1].id, id128_of(slice_of(id))));
    transcript_free(t);
}

IN_SCRATCH(a_longer_end_asks_only_for_what_is_missing)
{
    struct arena a = { 0 };
    struct session_ref ref;
    struct store *st;
    struct transcript *t;
    struct buf rows = { 0 };
    struct err e = { 0 };

    add_long_rows(&rows, 0, LONG_ROWS);
    open_long(*state, &rows, &a, &st, &ref);
    setenv("COMPLETE_STORE_ROWS", "310", 1); /* in all: a row that comes twice would be too many */
    has_newest(tail_of(st, &ref, 100), 100, LONG_ROWS - 1);
    has_newest(tail_of(st, &ref, 200), 200, LONG_ROWS - 1);
    add_long_rows(&rows, LONG_ROWS, LONG_ROWS + 1);
    folder_put(*state, "team/p/" LONG ".jsonl", buf_slice(&rows));
    has_newest(tail_of(st, &ref, 300), 300, LONG_ROWS);
    assert_int_equal(st->ops->tail(st, &ref, 2 * LONG_ROWS * ROW_BYTES, NULL, &t, &e), ERR_IO);
    assert_non_null(strstr(e.text, "the server is gone"));
    unsetenv("COMPLETE_STORE_ROWS");
    has_newest(tail_of(st, &ref, LONG_ROWS * 2), LONG_ROWS + 1, LONG_ROWS);
    store_close(st);
    arena_fini(&a);
    buf_fini(&rows);
}

/* ---- the newest messages ---- */

enum { MANY_ROWS = 3000, MESSAGES_MOST = 4096 };

struct ids {
    struct id128 id[MESSAGES_MOST];
    char text[MESSAGES_MOST][40];
    size_t n;
};

static enum err_code add_message(struct slice json, void *arg, struct err *e)
{
    struct ids *ids = arg;
    struct arena a = { 0 };
    struct slice id;

    (void)e;
    assert_true(json_get_text(json, "uuid", &a, &id));
    assert_in_range(ids->n, 0, MESSAGES_MOST - 1);
    snprintf(ids->text[ids->n], sizeof ids->text[0], "%.*s", SLICE_ARG(id));
    ids->id[ids->n++] = id128_of(id);
    arena_fini(&a);
    return ERR_OK;
}

/* Whatever is at the end of a session: its newest messages are the last ones of all. */
static void are_the_last_ones(const struct store *st, const struct session_ref *ref, size_t newest)
{
    struct message_reach end = { .least = newest };
    struct message_query q = { .session = ref->id };
    struct ids *all = calloc(1, sizeof *all), *last = calloc(1, sizeof *last);

    assert_non_null(all);
    assert_non_null(last);
    assert_int_equal(st->ops->messages(st, ref, &q, add_message, all, NULL), ERR_OK);
    q.reach = &end;
    assert_int_equal(st->ops->messages(st, ref, &q, add_message, last, NULL), ERR_OK);
    assert_true(last->n <= all->n);
    assert_true(last->n >= newest || last->n == all->n);
    assert_true(end.partial || last->n == all->n);
    assert_memory_equal(last->id, all->id + all->n - last->n, last->n * sizeof *last->id);
    free(all);
    free(last);
}

/* The messages before one are the same as those before it in the whole conversation. */
static void are_those_before_it(const struct store *st, const struct session_ref *ref,
                                const struct ids *all, size_t at, size_t newest)
{
    struct message_reach end = { .least = newest, .before = slice_of(all->text[at]) };
    struct message_query q = { .session = ref->id, .reach = &end };
    struct ids *part = calloc(1, sizeof *part);
    size_t n = 0;

    assert_non_null(part);
    assert_int_equal(st->ops->messages(st, ref, &q, add_message, part, NULL), ERR_OK);
    while (n < part->n && !id128_eq(part->id[n], all->id[at]))
        n++;
    assert_in_range(n, 0, part->n - 1);
    assert_true(n >= newest || n == at);
    assert_true(end.partial || n == at);
    assert_memory_equal(part->id, all->id + at - n, n * sizeof *part->id);
    free(part);
}

static void check_pages(const struct store *st, const struct session_ref *ref)
{
    struct message_query q = { .session = ref->id };
    struct ids *all = calloc(1, sizeof *all);

    assert_non_null(all);
    assert_int_equal(st->ops->messages(st, ref, &q, add_message, all, NULL), ERR_OK);
    for (size_t at = 0; at < all->n; at += 1 + at / 3)
        are_those_before_it(st, ref, all, at, 4);
    are_those_before_it(st, ref, all, all->n - 1, 1000);
    free(all);
}

static void check_ends(struct folder *f, struct buf *rows)
{
    struct arena a = { 0 };
    struct session_ref ref;
    struct store *st;

    open_long(f, rows, &a, &st, &ref);
    for (size_t newest = 1; newest <= 1000; newest *= 10)
        are_the_last_ones(st, &ref, newest);
    check_pages(st, &ref);
    store_close(st);
    arena_fini(&a);
    rows->n = 0;
}

/* A row that follows another one, by their numbers. */
static void add_short_row(struct buf *out, int id, int parent, const char *type, const char *more)
{
    assert_int_equal(
        buf_addf(out,
                 "{\"type\":\"%s\",\"uuid\":\"00000000-0000-4000-8000-%012d\",\"parentUuid\":"
                 "\"00000000-0000-4000-8000-%012d\",\"timestamp\":"
                 "\"2026-02-09T02:48:28.000Z\"%s}\n",
                 type, id, parent, more),
        ERR_OK);
}

#define SAID ",\"message\":{\"role\":\"user\",\"content\":\"And\"}"
#define ID(n) "\"00000000-0000-4000-8000-0000000" n "\""

IN_SCRATCH(the_newest_messages_are_the_last_ones_of_all)
{
    struct buf rows = { 0 };

    add_long_rows(&rows, 0, MANY_ROWS);
    check_ends(*state, &rows);
    add_long_rows(&rows, 0, 20);
    check_ends(*state, &rows);
    /* a branch of which the beginning is far up, and one that a resume left */
    add_long_rows(&rows, 0, MANY_ROWS);
    add_short_row(&rows, 5000, 1200, "user", SAID);
    add_short_row(&rows, 5001, 5000, "user", SAID);
    check_ends(*state, &rows);
    add_long_rows(&rows, 0, MANY_ROWS);
    assert_int_equal(buf_addf(&rows, "{\"type\":\"last-prompt\",\"explicit\":true,\"leafUuid\":" ID(
                                         "00900") "}\n"),
                     ERR_OK);
    check_ends(*state, &rows);
    buf_fini(&rows);
}

/* All that a compaction kept is far up, except its boundary; a row whose parent is lost is followed by time. */
IN_SCRATCH(compactions_and_gaps_are_seen_from_the_end)
{
    struct buf rows = { 0 };

    add_long_rows(&rows, 0, MANY_ROWS);
    assert_int_equal(
        buf_addf(&rows, "{\"type\":\"system\",\"subtype\":\"compact_boundary\","
                        "\"uuid\":" ID("05000") ",\"parentUuid\":null,"
                                                "\"logicalParentUuid\":" ID(
                                                    "02999") ",\"co"
                                                             "mpact"
                                                             "Metad"
                                                             "ata\""
                                                             ":{"
                                                             "\"tri"
                                                             "gger"
                                                             "\":"
                                                             "\"aut"
                                                             "o\","
                                                             "\"pre"
                                                             "serve"
                                                             "dMess"
                                                             "ages"
                                                             "\":{"
                                                             "\"anc"
                                                             "horUu"
                                                             "id\""
                                                             ":" ID("05000") ",\"uuids\":[" ID(
                                                                 "0"
                                                                 "0"
                                                                 "0"
                                                                 "1"
                                                                 "0") "," ID("00011") "]}}}\n"),
        ERR_OK);
    for (int i = 5001; i < 5020; i++)
        add_short_row(&rows, i, i - 1, "user", SAID);
    check_ends(*state, &rows);
    add_long_rows(&rows, 0, MANY_ROWS);
    assert_int_equal(
        buf_addf(&rows,
                 "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":" ID(
                     "05000") ",\"parentUuid\":null,\"compactMetadata\":{\"trigger\":\"auto\"}}\n"),
        ERR_OK);
    for (int i = 5001; i < 5020; i++)
        add_short_row(&rows, i, i - 1, "user", SAID);
    check_ends(*state, &rows);
    add_long_rows(&rows, 0, MANY_ROWS);
    add_short_row(&rows, 6000, 2999, "user", SAID);
    add_short_row(&rows, 6002, 6001, "user", SAID); /* 6001 is lost */
    check_ends(*state, &rows);
    buf_fini(&rows);
}

IN_SCRATCH(the_newest_messages_cost_what_they_need)
{
    struct message_reach end = { .least = 4 };
    struct message_query q = { .reach = &end };
    struct ids *ids = calloc(1, sizeof *ids);
    struct buf rows = { 0 };
    struct arena a = { 0 };
    struct session_ref ref;
    struct store *st;

    assert_non_null(ids);
    add_long_rows(&rows, 0, MANY_ROWS);
    open_long(*state, &rows, &a, &st, &ref);
    setenv("COMPLETE_STORE_ROWS", "300", 1); /* more rows than that are not handed over */
    assert_int_equal(st->ops->messages(st, &ref, &q, add_message, ids, NULL), ERR_OK);
    assert_true(end.partial);
    assert_in_range(ids->n, 4, 300);
    end.least = 1000;
    assert_int_equal(st->ops->messages(st, &ref, &q, add_message, ids, NULL), ERR_IO);
    unsetenv("COMPLETE_STORE_ROWS");
    /* far from the end, only the rows around the message come, and for an unknown one none */
    end = (struct message_reach){ .least = 4,
                                  .before = SLICE("00000000-0000-4000-8000-000000000500") };
    assert_int_equal(st->ops->messages(st, &ref, &q, add_message, ids, NULL), ERR_OK);
    setenv("COMPLETE_STORE_ROWS", "700", 1);
    ids->n = 0;
    assert_int_equal(st->ops->messages(st, &ref, &q, add_message, ids, NULL), ERR_OK);
    assert_true(end.partial);
    assert_in_range(ids->n, 4, 700);
    ids->n = 0;
    end.before = SLICE("00000000-0000-4000-8000-000000009999");
    assert_int_equal(st->ops->messages(st, &ref, &q, add_message, ids, NULL), ERR_OK);
    assert_int_equal(ids->n, 0);
    assert_false(end.partial);
    unsetenv("COMPLETE_STORE_ROWS");
    store_close(st);
    arena_fini(&a);
    buf_fini(&rows);
    free(ids);
}

/* ---- a list with more rows than are kept ---- */

enum { LARGE_SESSIONS = 70, LARGE_BYTES = 1 << 20 };

static void put_large_session(struct folder *f, int number, const char *words)
{
    struct buf row = { 0 };
    char path[80];

    snprintf(path, sizeof path, "team/p/%08d-1111-4111-8111-111111111111.jsonl", number);
    assert_int_equal(buf_addf(&row,
                              "{\"type\":\"user\",\"uuid\":\"u\",\"cwd\":\"/w/%d\",\"message\":{"
                              "\"role\":\"user\",\"content\":\"Prompt %d\"}}\n{\"type\":\"system\","
                              "\"content\":\"%s\"}\n",
                              number, number, words),
                     ERR_OK);
    folder_put(f, path, buf_slice(&row));
    buf_fini(&row);
}

static bool describe_ref(const struct session_ref *ref, void *arg)
{
    const struct scope all = { .all = true };
    struct session_row *row = session_row_new();
    char prompt[32], cwd[32];

    assert_non_null(row);
    snprintf(prompt, sizeof prompt, "Prompt %d", atoi(ref->id.p));
    snprintf(cwd, sizeof cwd, "/w/%d", atoi(ref->id.p));
    assert_int_equal(ref->store->ops->describe(ref->store, &all, ref, row, NULL), ERR_OK);
    assert_true(slice_eq(row->first_prompt, slice_of(prompt)));
    assert_true(slice_eq(row->cwd, slice_of(cwd)));
    assert_true(slice_eq(row->ref.id, ref->id) && slice_eq(row->ref.path, ref->path));
    assert_int_equal(row->modified_ms, session_modified_ms(&ref->file));
    assert_int_equal(row->hidden, HIDDEN_NOT);
    session_row_free(row);
    ++*(int *)arg;
    return true;
}

/* The rows are not requested again. */
IN_SCRATCH(a_large_list_is_described_as_it_arrives)
{
    const struct scope all = { .all = true };
    char *words = calloc(1, LARGE_BYTES);
    struct arena a = { 0 };
    struct session_ref ref;
    struct buf rows = { 0 };
    struct store *st;
    char path[4200];
    int n = 0;

    assert_non_null(words);
    memset(words, 'x', LARGE_BYTES - 1);
    for (int i = 0; i < LARGE_SESSIONS; i++)
        put_large_session(*state, i, words);
    add_long_rows(&rows, 0, 3);
    open_long(*state, &rows, &a, &st, &ref);
    snprintf(path, sizeof path, "%s/team/p/" LONG ".jsonl", ((struct folder *)*state)->path);
    assert_int_equal(remove(path), 0);
    setenv("COMPLETE_STORE_HEADS", "1", 1);
    setenv("COMPLETE_STORE_ROWS", "0", 1);
    assert_int_equal(st->ops->enumerate(st, &all, describe_ref, &n, NULL), ERR_OK);
    assert_int_equal(n, LARGE_SESSIONS);
    unsetenv("COMPLETE_STORE_ROWS");
    unsetenv("COMPLETE_STORE_HEADS");
    store_close(st);
    arena_fini(&a);
    buf_fini(&rows);
    free(words);
}

/* ---- a server that is silent ---- */

struct streaming {
    struct store *st;
    atomic_bool cancel;
    atomic_int handed;
};

static bool take_streamed(const struct session_ref *ref, void *arg)
{
    struct streaming *x = arg;

    (void)ref;
    atomic_fetch_add(&x->handed, 1);
    return true;
}

static void *stream_it(void *arg)
{
    struct streaming *x = arg;
    const struct scope scope = { .all = true, .streams = true, .cancel = &x->cancel };

    assert_int_equal(x->st->ops->enumerate(x->st, &scope, take_streamed, x, NULL), ERR_OK);
    return NULL;
}

IN_SCRATCH(sessions_are_handed_over_before_the_list_is_whole)
{
    const struct scope all = { .all = true };
    const struct timespec tick = { .tv_nsec = 5000000 };
    struct streaming x = { .cancel = false };
    struct session_row *row = session_row_new();
    struct buf rows = { 0 };
    pthread_t thread;
    struct session_ref ref;
    struct arena a = { 0 };

    assert_non_null(row);
    add_long_rows(&rows, 0, 3);
    open_long(*state, &rows, &a, &x.st, &ref);
    setenv("COMPLETE_STORE_SILENT", "/", 1); /* it exists */
    assert_false(x.st->ops->silent(x.st));
    assert_int_equal(pthread_create(&thread, NULL, stream_it, &x), 0);
    while (atomic_load(&x.handed) == 0 || !x.st->ops->silent(x.st))
        nanosleep(&tick, NULL);
    assert_int_equal(x.st->ops->describe(x.st, &all, &ref, row, NULL), ERR_OK);
    assert_true(slice_eq(row->cwd, SLICE("/w")));
    atomic_store(&x.cancel, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&x.handed), 1);
    assert_false(x.st->ops->silent(x.st));
    unsetenv("COMPLETE_STORE_SILENT");
    session_row_free(row);
    store_close(x.st);
    arena_fini(&a);
    buf_fini(&rows);
}

IN_SCRATCH(a_page_that_waits_can_be_cancelled)
{
    atomic_bool cancel = true;
    struct arena a = { 0 };
    struct session_ref ref;
    struct buf rows = { 0 };
    struct transcript *t;
    struct store *st;

    add_long_rows(&rows, 0, 3);
    open_long(*state, &rows, &a, &st, &ref);
    setenv("COMPLETE_STORE_SILENT", "/", 1);
    assert_int_equal(st->ops->tail(st, &ref, 4096, &cancel, &t, NULL), ERR_CANCELLED);
    unsetenv("COMPLETE_STORE_SILENT");
    store_close(st);
    arena_fini(&a);
    buf_fini(&rows);
}
