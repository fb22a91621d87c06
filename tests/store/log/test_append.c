#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "store/log/append.h"
#include "tests/support/folder.h"

struct log {
    struct folder folder;
    char path[4096];
    int calls;
    int replaced; /* the number of first calls that find the file replaced */
    atomic_int inside, together;
};

static int set_up(void **state)
{
    struct log *l = calloc(1, sizeof *l);

    folder_make(&l->folder);
    folder_put(&l->folder, "s.jsonl", SLICE("{}\n"));
    folder_path(&l->folder, "s.jsonl", l->path);
    *state = l;
    return 0;
}

static int tear_down(void **state)
{
    struct log *l = *state;

    folder_remove(&l->folder);
    free(l);
    return 0;
}

static char *text_of(struct log *l)
{
    size_t n;

    return folder_get(&l->folder, "s.jsonl", &n);
}

/* Acts as a sync tool: a copy of the file takes its name. */
static enum err_code compose_beside_sync(void *arg, struct buf *records, struct err *e)
{
    struct log *l = arg;
    char copy[4096];
    size_t n;

    (void)e;
    if (l->calls++ < l->replaced) {
        char *text = folder_get(&l->folder, "s.jsonl", &n);

        folder_put(&l->folder, "copy", (struct slice){ text, n });
        folder_path(&l->folder, "copy", copy);
        assert_int_equal(rename(copy, l->path), 0);
        free(text);
    }
    return buf_add(records, SLICE("{\"a\":1}\n"));
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_record_goes_to_a_file_that_replaced_the_log)
{
    struct log *l = *state;
    struct appended done;

    l->replaced = 2;
    assert_int_equal(log_append_with(l->path, 0, compose_beside_sync, l, &done, NULL), ERR_OK);

    char *text = text_of(l);

    assert_string_equal(text, "{}\n{\"a\":1}\n");
    assert_int_equal(l->calls, 3);
    assert_int_equal(done.offset, 3);
    free(text);
}

CASE(a_file_replaced_every_time_is_reported)
{
    struct log *l = *state;

    l->replaced = 1000;
    assert_int_equal(log_append_with(l->path, 0, compose_beside_sync, l, NULL, NULL), ERR_STALE);
}

static enum err_code compose_nothing(void *arg, struct buf *records, struct err *e)
{
    (void)arg, (void)records, (void)e;
    return ERR_OK;
}

CASE(without_records_nothing_is_written)
{
    struct log *l = *state;
    struct appended done;

    folder_put(&l->folder, "s.jsonl", SLICE("{} torn"));
    assert_int_equal(log_append_with(l->path, 0, compose_nothing, NULL, &done, NULL), ERR_OK);

    char *text = text_of(l);

    assert_string_equal(text, "{} torn");
    assert_int_equal(done.length, 0);
    free(text);
}

static enum err_code compose_alone(void *arg, struct buf *records, struct err *e)
{
    struct log *l = arg;

    (void)e;
    if (atomic_fetch_add(&l->inside, 1) != 0)
        atomic_fetch_add(&l->together, 1);
    enum err_code rc = buf_add(records, SLICE("{\"a\":1}\n"));

    atomic_fetch_sub(&l->inside, 1);
    return rc;
}

enum { THREADS = 4, EACH = 25 };

static void *append_many(void *arg)
{
    struct log *l = arg;

    for (int i = 0; i < EACH; i++)
        if (log_append_with(l->path, 0, compose_alone, l, NULL, NULL))
            atomic_fetch_add(&l->together, 1);
    return NULL;
}

CASE(programs_that_append_take_turns)
{
    struct log *l = *state;
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, append_many, l), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);

    char *text = text_of(l);

    assert_int_equal(atomic_load(&l->together), 0);
    assert_int_equal(strlen(text), 3 + 8 * THREADS * EACH);
    free(text);
}
