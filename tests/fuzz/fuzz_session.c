/* Whatever the bytes of a transcript are, its row can be described and its conversation loaded, tailed, split into
 * blocks and restored; every message is one JSON value, and no result depends on an earlier query. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/systems/claude/claude.h"

#define ID "5e550000-0000-4000-8000-000000000001"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The one file that all inputs are written to; made for the first. */
static const char *transcript_path(char *config)
{
    static char path[256];
    char folder[200];

    if (path[0])
        return path;
    must(mkdtemp(config) != NULL);
    snprintf(folder, sizeof folder, "%s/projects", config);
    must(mkdir(folder, 0700) == 0);
    snprintf(folder, sizeof folder, "%s/projects/-w", config);
    must(mkdir(folder, 0700) == 0);
    snprintf(path, sizeof path, "%s/" ID ".jsonl", folder);
    return path;
}

static void put(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static enum err_code see_message(struct slice json, void *arg, struct err *e)
{
    (void)arg, (void)e;
    must(json_valid(json) && json_type(json) == JSON_OBJECT);
    return ERR_OK;
}

static void read_transcript(const struct store *st, struct transcript *t)
{
    struct buf row = { 0 };

    for (size_t i = 0; i < t->n && i < 64; i++) {
        struct block_list list = { 0 };
        struct err e;

        if (transcript_read(t, i, &row, &e) == ERR_OK)
            (void)st->ops->blocks(st, buf_slice(&row), &list, &e);
        transcript_blocks_fini(&list);
    }
    buf_fini(&row);
    transcript_free(t);
}

static void read_session(const struct store *st, const struct session_ref *ref)
{
    struct message_query q = { .session = SLICE(ID) };
    struct session_row *row = session_row_new();
    struct scope all = { .all = true };
    struct restore bundle = { 0 };
    struct transcript *t;
    struct err e;

    must(row != NULL);
    if (st->ops->describe(st, &all, ref, row, &e) == ERR_OK)
        must(row->hidden != HIDDEN_NOT || row->summary.n > 0);
    session_row_free(row);
    if (st->ops->load(st, ref, NULL, &t, &e) == ERR_OK)
        read_transcript(st, t);
    if (st->ops->tail(st, ref, 4096, NULL, &t, &e) == ERR_OK)
        read_transcript(st, t);
    (void)st->ops->messages(st, ref, &q, see_message, NULL, &e);
    q.system_messages = true;
    (void)st->ops->messages(st, ref, &q, see_message, NULL, &e);
    if (st->ops->restore(st, ref, (struct slice){ NULL, 0 }, &bundle, &e) == ERR_OK)
        restore_fini(&bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char config[] = "/tmp/reprise-fuzz-XXXXXX";
    const char *path = transcript_path(config);
    struct store_env env = { .home = "/nowhere", .cwd = "/w", .now_ms = 1795300000000 };
    struct scope all = { .all = true };
    struct session_ref ref;
    struct arena a = { 0 };
    struct store *st;
    struct err e;

    put(path, data, size);
    must(claude_ops.open(&env, config, &st, &e) == ERR_OK);
    if (claude_ops.find(st, &all, SLICE(ID), &a, &ref, &e) == ERR_OK)
        read_session(st, &ref);
    arena_fini(&a);
    store_close(st);
    return 0;
}
