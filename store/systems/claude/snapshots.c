#include "store/systems/claude/revival.h"

#include <stdlib.h>

#include "lite/json.h"
#include "lite/jsonedit.h"
#include "lite/jsonout.h"
#include "store/systems/claude/facts.h"

/* The client writes one snapshot row for each prompt and, when a file is edited for the first time
 * afterwards, either the whole snapshot again (2.1.197: isSnapshotUpdate) or only what is new (2.1.330:
 * file-history-delta). Rows count when the message they belong to is part of the conversation; of two
 * snapshot rows of one message the later counts (claude-client.md 2). */

enum { MOST = 100 }; /* the client loads no more */

struct history_row {
    struct id128 message; /* whose row it is */
    uint32_t line;
};

struct snapshot {
    struct id128 prompt; /* the prompt whose files it keeps */
    struct slice json;   /* in the arena */
};

struct history {
    struct claude_log *log;
    struct arena *arena;
    struct history_row *row; /* owned; by message and line */
    size_t rows, row_cap;
    struct snapshot *snapshot; /* owned; oldest first */
    size_t n, cap;
};

static enum err_code add_row(struct history *h, const struct history_row *row)
{
    if (h->rows == h->row_cap) {
        size_t cap = h->row_cap ? 2 * h->row_cap : 64;
        struct history_row *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(h->row, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        h->row = more;
        h->row_cap = cap;
    }
    h->row[h->rows++] = *row;
    return ERR_OK;
}

static int by_message(const void *a, const void *b)
{
    const struct history_row *x = a, *y = b;

    if (x->message.hi != y->message.hi)
        return x->message.hi < y->message.hi ? -1 : 1;
    if (x->message.lo != y->message.lo)
        return x->message.lo < y->message.lo ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static enum err_code collect(struct history *h, struct err *e)
{
    for (size_t i = 0; i < h->log->file.index.n; i++) {
        const struct index_line *line = claude_line(h->log, i);
        struct slice row;

        if (!claude_line_is(line, CLAUDE_SNAPSHOT) && !claude_line_is(line, CLAUDE_SNAPSHOT_DELTA))
            continue;
        enum err_code rc = claude_log_row(h->log, i, &row, e);

        if (rc)
            return rc;
        struct id128 message = claude_id_at(row, "messageId", h->arena);

        if (!id128_none(message) && add_row(h, &(struct history_row){ message, (uint32_t)i }))
            return ERR_NOMEM;
    }
    if (h->rows)
        qsort(h->row, h->rows, sizeof *h->row, by_message);
    return ERR_OK;
}

static size_t first_row(const struct history *h, struct id128 message)
{
    size_t lo = 0, hi = h->rows;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (by_message(&h->row[mid], &(struct history_row){ message, 0 }) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The newest snapshot of a prompt, or NULL. */
static struct snapshot *find(const struct history *h, struct id128 prompt)
{
    for (size_t i = h->n; i-- > 0;)
        if (id128_eq(h->snapshot[i].prompt, prompt))
            return &h->snapshot[i];
    return NULL;
}

static enum err_code push(struct history *h, struct id128 prompt, struct slice json)
{
    if (h->n == h->cap) {
        size_t cap = h->cap ? 2 * h->cap : 64;
        struct snapshot *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(h->snapshot, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        h->snapshot = more;
        h->cap = cap;
    }
    h->snapshot[h->n++] = (struct snapshot){ prompt, json };
    return ERR_OK;
}

static enum err_code add_snapshot(struct history *h, struct slice row)
{
    struct slice json;

    if (!json_get(row, "snapshot", &json) || json_type(json) != JSON_OBJECT)
        return ERR_OK;
    struct id128 prompt = claude_id_at(json, "messageId", h->arena);
    struct snapshot *old = json_get_true(row, "isSnapshotUpdate") ? find(h, prompt) : NULL;

    json = arena_copy(h->arena, json);
    if (!json.p)
        return ERR_NOMEM;
    if (!old)
        return push(h, prompt, json);
    old->json = json;
    return ERR_OK;
}

/* The tracked files with one more, or with another backup of one. */
static void write_tracked(struct jsonout *j, struct slice tracked, struct slice path,
                          struct slice backup)
{
    struct arena a = { 0 };
    struct json_iter it;
    struct slice key, value, name, added;
    bool named = json_text(path, &a, &added);

    jsonout_open(j, '{');
    for (bool more = json_iter_open(&it, tracked); more && json_iter_next(&it, &key, &value);) {
        if (named && json_text(key, &a, &name) && slice_eq(name, added))
            continue;
        jsonout_raw_key(j, key);
        jsonout_raw(j, value);
    }
    jsonout_raw_key(j, path);
    jsonout_raw(j, backup);
    jsonout_close(j, '}');
    arena_fini(&a);
}

/* The snapshot with a file more in it. */
static enum err_code with_file(struct arena *a, struct slice snapshot, struct slice delta,
                               struct slice *out)
{
    struct slice tracked = { NULL, 0 }, path, backup, copy = { NULL, 0 };
    struct buf files = { 0 }, whole = { 0 };
    struct jsonout j;

    if (!json_get(delta, "trackingPath", &path) || json_type(path) != JSON_STRING ||
        !json_get(delta, "backup", &backup)) {
        *out = snapshot;
        return ERR_OK;
    }
    json_get(snapshot, "trackedFileBackups", &tracked);
    jsonout_init(&j, &files);
    write_tracked(&j, tracked, path, backup);
    enum err_code rc = j.rc;

    if (!rc)
        rc = json_put(&whole, snapshot, "trackedFileBackups", buf_slice(&files));
    if (!rc) {
        copy = arena_copy(a, buf_slice(&whole));
        rc = copy.p ? ERR_OK : ERR_NOMEM;
    }
    if (!rc)
        *out = copy;
    buf_fini(&files);
    buf_fini(&whole);
    return rc;
}

/* A snapshot that was lost is made again from the one before it, as the client does. */
static enum err_code replace_lost(struct history *h, struct slice delta, struct slice *out)
{
    struct slice id, time, before = h->n ? h->snapshot[h->n - 1].json : SLICE("{}");
    struct buf named = { 0 }, timed = { 0 };
    enum err_code rc = ERR_OK;

    *out = (struct slice){ NULL, 0 };
    if (!json_get(delta, "timestamp", &time))
        time = SLICE("null");
    if (json_get(delta, "snapshotMessageId", &id))
        rc = json_put(&named, before, "messageId", id);
    if (!rc)
        rc = json_put(&timed, named.n ? buf_slice(&named) : before, "timestamp", time);
    if (!rc) {
        *out = arena_copy(h->arena, buf_slice(&timed));
        rc = out->p ? ERR_OK : ERR_NOMEM;
    }
    buf_fini(&named);
    buf_fini(&timed);
    return rc;
}

static enum err_code add_delta(struct history *h, struct slice row)
{
    struct id128 prompt = claude_id_at(row, "snapshotMessageId", h->arena);
    struct snapshot *old = find(h, prompt);
    struct slice json;
    enum err_code rc = ERR_OK;

    if (id128_none(prompt))
        return ERR_OK;
    if (old)
        json = old->json;
    else
        rc = replace_lost(h, row, &json);
    if (!rc)
        rc = with_file(h->arena, json, row, &json);
    if (rc)
        return rc;
    if (!old)
        return push(h, prompt, json);
    old->json = json;
    return ERR_OK;
}

/* What belongs to one message: the last of its snapshot rows, and its deltas. */
static enum err_code add_message(struct history *h, struct id128 message, struct err *e)
{
    size_t from = first_row(h, message), to = from, last = SIZE_MAX;
    struct slice row;

    for (; to < h->rows && id128_eq(h->row[to].message, message); to++)
        if (claude_line_is(claude_line(h->log, h->row[to].line), CLAUDE_SNAPSHOT))
            last = to;
    for (size_t i = from; i < to; i++) {
        bool delta = claude_line_is(claude_line(h->log, h->row[i].line), CLAUDE_SNAPSHOT_DELTA);

        if (!delta && i != last)
            continue;
        enum err_code rc = claude_log_row(h->log, h->row[i].line, &row, e);

        if (!rc)
            rc = delta ? add_delta(h, row) : add_snapshot(h, row);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

enum err_code claude_snapshots(struct claude_log *log, const uint32_t *path, size_t n,
                               struct arena *a, struct claude_values *out, struct err *e)
{
    struct history h = { .log = log, .arena = a };
    enum err_code rc = collect(&h, e);

    for (size_t i = 0; !rc && i < n; i++)
        rc = add_message(&h, chain_id(&log->chain, path[i]), e);
    for (size_t i = h.n > MOST ? h.n - MOST : 0; !rc && i < h.n; i++)
        rc = claude_values_add(out, a, h.snapshot[i].json);
    free(h.row);
    free(h.snapshot);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "read the file history") : rc;
}
