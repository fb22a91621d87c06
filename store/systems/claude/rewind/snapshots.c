#include "store/systems/claude/show/restore.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "lite/json/json_edit.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/rewind/tracked_files.h"

/* The client writes one snapshot row for each prompt and, when a file is edited for the first time
 * afterwards, either the whole snapshot again (2.1.197: isSnapshotUpdate) or only what is new (2.1.330:
 * file-history-delta). Rows count when the message they belong to is part of the conversation; of two
 * snapshot rows of one message the later counts. A delta whose snapshot row was lost stands for one that
 * begins with the files of the snapshot before (claude.md C2).
 *
 * A first walk along the conversation finds out which rows make which snapshot; a second one reads them,
 * so that a snapshot is written once, however many deltas it has. */

enum { MOST = 100 }; /* the client loads no more */

struct history_row {
    struct id128 message; /* whose row it is */
    uint32_t line;
};

struct snapshot {
    struct id128 prompt; /* the prompt whose files it keeps */
    uint32_t line;       /* of its row; CHAIN_NONE when that was lost */
    size_t from;         /* deltas before this one are in its row already */
};

struct delta {
    size_t snapshot; /* place in history.snapshot */
    size_t order;
    uint32_t line;
};

struct snapshot_history {
    struct claude_log *log;
    struct history_row *row; /* owned; by message and line */
    size_t rows, row_cap;
    struct snapshot *snapshot; /* owned; oldest first */
    size_t n, cap;
    struct delta *delta; /* owned; in the order of the conversation, then by snapshot */
    size_t deltas, delta_cap;
};

/* Room for one more element of a growing array. */
static enum err_code reserve_element(void **array, size_t n, size_t *cap, size_t size)
{
    size_t more = *cap ? 2 * *cap : 64;

    if (n < *cap)
        return ERR_OK;
    void *p = more > SIZE_MAX / size ? NULL : realloc(*array, more * size);

    if (!p)
        return ERR_NOMEM;
    *array = p;
    *cap = more;
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

static int by_snapshot(const void *a, const void *b)
{
    const struct delta *x = a, *y = b;

    if (x->snapshot != y->snapshot)
        return x->snapshot < y->snapshot ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_snapshot_row(const struct snapshot_history *h, uint32_t line)
{
    return claude_line_is(claude_line(h->log, line), CLAUDE_SNAPSHOT);
}

static enum err_code collect_rows(struct snapshot_history *h, struct err *e)
{
    for (size_t i = 0; i < h->log->file.index.n; i++) {
        const struct index_line *line = claude_line(h->log, i);
        struct slice row;

        if (!claude_line_is(line, CLAUDE_SNAPSHOT) && !claude_line_is(line, CLAUDE_SNAPSHOT_DELTA))
            continue;
        enum err_code rc = claude_log_row(h->log, i, &row, e);

        if (rc)
            return rc;
        struct id128 message = claude_id_at(row, "messageId", &h->log->arena);

        if (id128_none(message))
            continue;
        if (reserve_element((void **)&h->row, h->rows, &h->row_cap, sizeof *h->row))
            return ERR_NOMEM;
        h->row[h->rows++] = (struct history_row){ message, (uint32_t)i };
    }
    if (h->rows)
        qsort(h->row, h->rows, sizeof *h->row, by_message);
    return ERR_OK;
}

static size_t first_row(const struct snapshot_history *h, struct id128 message)
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

/* The newest snapshot of a prompt, or NULL. Older ones than the client would load are not looked at. */
static struct snapshot *find_snapshot(const struct snapshot_history *h, struct id128 prompt)
{
    for (size_t i = h->n; i-- > 0 && h->n - i <= MOST;)
        if (id128_eq(h->snapshot[i].prompt, prompt))
            return &h->snapshot[i];
    return NULL;
}

static enum err_code push_snapshot(struct snapshot_history *h, struct id128 prompt, uint32_t line)
{
    if (reserve_element((void **)&h->snapshot, h->n, &h->cap, sizeof *h->snapshot))
        return ERR_NOMEM;
    h->snapshot[h->n++] = (struct snapshot){ prompt, line, h->deltas };
    return ERR_OK;
}

static enum err_code add_snapshot(struct snapshot_history *h, struct slice row, uint32_t line)
{
    struct slice json;

    if (!json_get(row, "snapshot", &json) || json_type(json) != JSON_OBJECT)
        return ERR_OK;
    struct id128 prompt = claude_id_at(json, "messageId", &h->log->arena);
    struct snapshot *old = json_get_true(row, "isSnapshotUpdate") ? find_snapshot(h, prompt) : NULL;

    if (!old)
        return push_snapshot(h, prompt, line);
    old->line = line;
    old->from = h->deltas;
    return ERR_OK;
}

static enum err_code add_delta(struct snapshot_history *h, struct slice row, uint32_t line)
{
    struct id128 prompt = claude_id_at(row, "snapshotMessageId", &h->log->arena);

    if (id128_none(prompt))
        return ERR_OK;
    if (!find_snapshot(h, prompt) && push_snapshot(h, prompt, CHAIN_NONE))
        return ERR_NOMEM;
    if (reserve_element((void **)&h->delta, h->deltas, &h->delta_cap, sizeof *h->delta))
        return ERR_NOMEM;
    h->delta[h->deltas] =
        (struct delta){ (size_t)(find_snapshot(h, prompt) - h->snapshot), h->deltas, line };
    h->deltas++;
    return ERR_OK;
}

/* What belongs to one message: the last of its snapshot rows, and its deltas. */
static enum err_code add_message_rows(struct snapshot_history *h, struct id128 message,
                                      struct err *e)
{
    size_t from = first_row(h, message), to = from, last = SIZE_MAX;
    struct slice row;

    for (; to < h->rows && id128_eq(h->row[to].message, message); to++)
        if (is_snapshot_row(h, h->row[to].line))
            last = to;
    for (size_t i = from; i < to; i++) {
        uint32_t line = h->row[i].line;
        bool snapshot = is_snapshot_row(h, line);

        if (snapshot && i != last)
            continue;
        enum err_code rc = claude_log_row(h->log, line, &row, e);

        if (!rc)
            rc = snapshot ? add_snapshot(h, row, line) : add_delta(h, row, line);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* The files as they are while the second walk passes, and the snapshot that is being written. */
struct snapshot_writing {
    struct snapshot_history *h;
    struct arena scratch; /* rows that were read */
    struct claude_tracked files;
    struct slice base; /* the snapshot as its row has it, or what a lost one can be told by */
    size_t delta;      /* next */
    bool changed;      /* something of it stands in other rows */
};

/* A row that stays until the end. */
static enum err_code read_kept_row(struct snapshot_writing *t, uint32_t line, struct slice *row,
                                   struct err *e)
{
    enum err_code rc = claude_log_row(t->h->log, line, row, e);

    if (rc)
        return rc;
    *row = arena_copy(&t->scratch, *row);
    return row->p ? ERR_OK : ERR_NOMEM;
}

static enum err_code begin_snapshot(struct snapshot_writing *t, const struct snapshot *s,
                                    struct err *e)
{
    struct slice row, files;

    t->changed = s->line == CHAIN_NONE;
    t->base = (struct slice){ NULL, 0 };
    if (t->changed)
        return ERR_OK;
    enum err_code rc = read_kept_row(t, s->line, &row, e);

    if (rc)
        return rc;
    claude_tracked_clear(&t->files);
    json_get(row, "snapshot", &t->base);
    return json_get(t->base, "trackedFileBackups", &files) ? claude_tracked_read(&t->files, files)
                                                           : ERR_OK;
}

/* What the delta of a lost snapshot says about it. */
static enum err_code write_lost_snapshot(struct snapshot_writing *t, struct slice row)
{
    struct slice value;
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    jsonout_open(&j, '{');
    if (json_get(row, "snapshotMessageId", &value)) {
        jsonout_key(&j, "messageId");
        jsonout_raw(&j, value);
    }
    if (json_get(row, "timestamp", &value)) {
        jsonout_key(&j, "timestamp");
        jsonout_raw(&j, value);
    }
    jsonout_close(&j, '}');
    t->base = j.rc ? (struct slice){ NULL, 0 } : arena_copy(&t->scratch, buf_slice(&text));
    buf_fini(&text);
    return t->base.p ? ERR_OK : ERR_NOMEM;
}

static enum err_code add_delta_file(struct snapshot_writing *t, const struct delta *d,
                                    struct err *e)
{
    struct slice row, path, backup;
    enum err_code rc = read_kept_row(t, d->line, &row, e);

    if (!rc && !t->base.p)
        rc = write_lost_snapshot(t, row);
    if (rc || !json_get(row, "trackingPath", &path) || json_type(path) != JSON_STRING ||
        !json_get(row, "backup", &backup))
        return rc;
    t->changed = true;
    return claude_tracked_set(&t->files, path, backup);
}

static enum err_code write_snapshot(struct snapshot_writing *t, struct arena *a,
                                    struct claude_values *out)
{
    struct buf files = { 0 }, whole = { 0 };
    struct slice text = t->base;
    struct jsonout j;
    enum err_code rc = ERR_OK;

    if (t->changed) {
        jsonout_init(&j, &files);
        claude_tracked_write(&t->files, &j);
        rc = j.rc ? j.rc : json_set(&whole, t->base, "trackedFileBackups", buf_slice(&files));
        text = buf_slice(&whole);
    }
    if (!rc) {
        text = arena_copy(a, text);
        rc = text.p ? claude_values_add(out, a, text) : ERR_NOMEM;
    }
    buf_fini(&files);
    buf_fini(&whole);
    return rc;
}

static enum err_code write_snapshots(struct snapshot_writing *t, struct arena *a,
                                     struct claude_values *out, struct err *e)
{
    struct snapshot_history *h = t->h;
    size_t first = h->n > MOST ? h->n - MOST : 0, i = first;
    enum err_code rc = ERR_OK;

    while (i > 0 && h->snapshot[i].line == CHAIN_NONE)
        i--;
    for (; !rc && i < h->n; i++) {
        rc = begin_snapshot(t, &h->snapshot[i], e);
        for (; !rc && t->delta < h->deltas && h->delta[t->delta].snapshot <= i; t->delta++)
            if (h->delta[t->delta].snapshot == i && h->delta[t->delta].order >= h->snapshot[i].from)
                rc = add_delta_file(t, &h->delta[t->delta], e);
        if (!rc && i >= first)
            rc = write_snapshot(t, a, out);
    }
    return rc;
}

enum err_code claude_snapshots(struct claude_log *log, const uint32_t *path, size_t n,
                               struct arena *a, struct claude_values *out, struct err *e)
{
    struct snapshot_history h = { .log = log };
    struct snapshot_writing t = { .h = &h };
    enum err_code rc = collect_rows(&h, e);

    for (size_t i = 0; !rc && i < n; i++)
        rc = add_message_rows(&h, chain_id(&log->chain, path[i]), e);
    if (!rc && h.deltas)
        qsort(h.delta, h.deltas, sizeof *h.delta, by_snapshot);
    if (!rc)
        rc = write_snapshots(&t, a, out, e);
    claude_tracked_fini(&t.files);
    arena_fini(&t.scratch);
    free(h.row);
    free(h.snapshot);
    free(h.delta);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "read the file history") : rc;
}
