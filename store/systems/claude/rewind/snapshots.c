#include "store/systems/claude/rewind/file_history.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"

void claude_tracked_fini(struct claude_tracked *t)
{
    free(t->file);
    idset_fini(&t->paths);
    *t = (struct claude_tracked){ 0 };
}

void claude_tracked_clear(struct claude_tracked *t)
{
    t->n = 0;
    idset_fini(&t->paths);
    t->paths = (struct idset){ 0 };
}

enum err_code claude_tracked_set(struct claude_tracked *t, struct slice key, struct slice backup)
{
    AUTO_ARENA a = { 0 };
    struct slice path;
    uint32_t number;

    if (json_type(key) != JSON_STRING)
        return ERR_OK;
    if (!json_text(key, &a, &path) || !array_reserve(t->file, t->cap, t->n + 1) ||
        idset_add(&t->paths, id128_of(path), &number))
        return ERR_NOMEM;
    if (number < t->n)
        t->file[number].backup = backup;
    else
        t->file[t->n++] = (struct claude_tracked_file){ key, backup };
    return ERR_OK;
}

enum err_code claude_tracked_read(struct claude_tracked *t, struct slice object)
{
    struct json_iter it;
    struct slice key, value;
    enum err_code rc = ERR_OK;

    if (json_type(object) != JSON_OBJECT)
        return ERR_OK;
    for (bool more = json_iter_open(&it, object); more && !rc && json_iter_next(&it, &key, &value);)
        rc = claude_tracked_set(t, key, value);
    return rc;
}

void claude_tracked_write(const struct claude_tracked *t, struct jsonout *j)
{
    jsonout_open(j, '{');
    for (size_t i = 0; i < t->n; i++) {
        jsonout_raw_key(j, t->file[i].key);
        jsonout_raw(j, t->file[i].backup);
    }
    jsonout_close(j, '}');
}

/* The client writes one snapshot row for each prompt and, when a file is edited for the first time afterwards, either
 * the whole snapshot again (2.1.197: isSnapshotUpdate) or only the new entry (2.1.330: file-history-delta). Rows
 * count if the message they belong to is part of the conversation; of two snapshot rows of one message the later one
 * counts. A delta whose snapshot row was lost represents a snapshot that begins with the files of the one before
 * (claude.md C2).
 *
 * A first pass along the conversation finds which rows make which snapshot; a second one reads them, so that a
 * snapshot is written once, however many deltas it has. */

enum { MOST = 100 }; /* the client loads no more */

struct history_row {
    struct id128 message; /* the message it belongs to */
    uint32_t line;
};

struct snapshot {
    struct id128 prompt; /* the prompt whose files it keeps */
    uint32_t line;       /* the line of its row; CHAIN_NONE if that was lost */
    size_t from;         /* deltas before this one are in its row already */
};

struct delta {
    size_t snapshot; /* index into the history's snapshots */
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

static int by_message(const void *a, const void *b)
{
    const struct history_row *x = a, *y = b;

    int d = claude_id_compare(x->message, y->message);

    return d ? d : (x->line > y->line) - (x->line < y->line);
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

static enum err_code claude_snapshots_collect_rows(struct snapshot_history *h, struct err *e)
{
    for (size_t i = 0; i < h->log->file.index.n; i++) {
        const struct index_line *line = claude_line(h->log, i);
        struct slice row;

        if (!claude_line_is(line, CLAUDE_SNAPSHOT) && !claude_line_is(line, CLAUDE_SNAPSHOT_DELTA))
            continue;
        TRY(claude_log_row(h->log, i, &row, e));
        struct id128 message = claude_id_at(row, "messageId", &h->log->arena);

        if (id128_none(message))
            continue;
        if (!array_reserve(h->row, h->row_cap, h->rows + 1))
            return ERR_NOMEM;
        h->row[h->rows++] = (struct history_row){ message, (uint32_t)i };
    }
    if (h->rows)
        qsort(h->row, h->rows, sizeof *h->row, by_message);
    return ERR_OK;
}

/* The newest snapshot of a prompt, or NULL. Snapshots that the client would not load any more are not searched. */
static struct snapshot *find_snapshot(const struct snapshot_history *h, struct id128 prompt)
{
    for (size_t i = h->n; i-- > 0 && h->n - i <= MOST;)
        if (id128_eq(h->snapshot[i].prompt, prompt))
            return &h->snapshot[i];
    return NULL;
}

static enum err_code push_snapshot(struct snapshot_history *h, struct id128 prompt, uint32_t line)
{
    if (!array_reserve(h->snapshot, h->cap, h->n + 1))
        return ERR_NOMEM;
    h->snapshot[h->n++] = (struct snapshot){ prompt, line, h->deltas };
    return ERR_OK;
}

static enum err_code claude_snapshots_add_snapshot(struct snapshot_history *h, struct slice row,
                                                   uint32_t line)
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

static enum err_code claude_add_delta(struct snapshot_history *h, struct slice row, uint32_t line)
{
    struct id128 prompt = claude_id_at(row, "snapshotMessageId", &h->log->arena);

    if (id128_none(prompt))
        return ERR_OK;
    if (!find_snapshot(h, prompt) && push_snapshot(h, prompt, CHAIN_NONE))
        return ERR_NOMEM;
    if (!array_reserve(h->delta, h->delta_cap, h->deltas + 1))
        return ERR_NOMEM;
    h->delta[h->deltas] =
        (struct delta){ (size_t)(find_snapshot(h, prompt) - h->snapshot), h->deltas, line };
    h->deltas++;
    return ERR_OK;
}

/* Reads what belongs to one message: the last of its snapshot rows, and its deltas. */
static enum err_code add_message_rows(struct snapshot_history *h, struct id128 message,
                                      struct err *e)
{
    size_t lo = 0, hi = h->rows;

    /* The rows are sorted by their message. */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (by_message(&h->row[mid], &(struct history_row){ message, 0 }) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    size_t from = lo, to = from, last = SIZE_MAX;
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
            rc = snapshot ? claude_snapshots_add_snapshot(h, row, line)
                          : claude_add_delta(h, row, line);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* The files at this point of the second pass, and the snapshot that is being written. */
struct snapshot_writing {
    struct snapshot_history *h;
    struct arena scratch; /* rows that were read */
    struct claude_tracked files;
    struct slice base; /* the snapshot as its row has it, or what a delta shows of a lost one */
    size_t delta;      /* the next one */
    bool changed;      /* other rows contribute to it */
};

/* Reads a row and keeps it until the end. */
static enum err_code read_kept_row(struct snapshot_writing *t, uint32_t line, struct slice *row,
                                   struct err *e)
{
    TRY(claude_log_row(t->h->log, line, row, e));
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
    TRY(read_kept_row(t, s->line, &row, e));
    claude_tracked_clear(&t->files);
    json_get(row, "snapshot", &t->base);
    return json_get(t->base, "trackedFileBackups", &files) ? claude_tracked_read(&t->files, files)
                                                           : ERR_OK;
}

static enum err_code add_delta_file(struct snapshot_writing *t, const struct delta *d,
                                    struct err *e)
{
    struct slice row, path, backup;
    enum err_code rc = read_kept_row(t, d->line, &row, e);
    struct jsonout j;

    if (!rc && !t->base.p) {
        /* The snapshot is lost: write what its delta shows about it. */
        struct buf text = { 0 };

        jsonout_init(&j, &text);
        jsonout_open(&j, '{');
        claude_copy_member(&j, row, "snapshotMessageId", "messageId");
        claude_copy_member(&j, row, "timestamp", "timestamp");
        jsonout_close(&j, '}');
        t->base = j.rc ? (struct slice){ NULL, 0 } : arena_copy(&t->scratch, buf_slice(&text));
        buf_fini(&text);
        rc = t->base.p ? ERR_OK : ERR_NOMEM;
    }
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
    enum err_code rc = claude_snapshots_collect_rows(&h, e);

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
