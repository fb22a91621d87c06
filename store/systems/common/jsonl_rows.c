#include <string.h>

#include "lite/json/json.h"
#include "store/systems/common/jsonl.h"

/* The rows of one log, by their ids and one by one. */

enum { PREFIX_SHORTEST = 4 };

/* How a row's id relates to the one that is wanted. */
enum id_match { ID_OTHER, ID_BEGINS, ID_SAME };

bool jsonl_id_has_prefix(struct slice id, struct slice part)
{
    return part.n >= PREFIX_SHORTEST && id.n > part.n && memcmp(id.p, part.p, part.n) == 0;
}

struct slice jsonl_row_id(const struct jsonl_format *format, struct slice row, struct arena *a)
{
    return format->id ? format->id(row, a) : json_text_at(row, format->keys->id, a);
}

static enum err_code match_row(struct logfile *log, const struct jsonl_format *format, size_t line,
                               struct slice want, enum id_match *match, struct err *e)
{
    struct arena a = { 0 };
    struct slice row, id = { NULL, 0 };
    enum err_code rc = logfile_row(log, line, &row, e);

    if (!rc)
        id = jsonl_row_id(format, row, &a);
    *match = slice_eq(id, want) ? ID_SAME : jsonl_id_has_prefix(id, want) ? ID_BEGINS : ID_OTHER;
    if (!rc && a.failed)
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
}

/* The index only recognises the key as the agent spells it; rows with any other spelling are
 * read. */
static enum err_code find_whole(struct logfile *log, const struct jsonl_format *format,
                                struct slice id, size_t *line, struct err *e)
{
    const struct index *ix = &log->index;
    struct id128 want = id128_of(id);
    enum id_match match = ID_OTHER;
    enum err_code rc = ERR_OK;

    for (*line = 0; !rc && *line < ix->n; ++*line) {
        const struct index_line *l = &ix->line[*line];

        if (l->state == LINE_BLANK || !(id128_none(l->id) || id128_eq(l->id, want)))
            continue;
        rc = match_row(log, format, *line, id, &match, e);
        if (match == ID_SAME)
            break;
    }
    return rc;
}

/* Counts the different ids with this prefix, up to two; *line is that of the first. */
static enum err_code find_begun(struct logfile *log, const struct jsonl_format *format,
                                struct slice part, size_t *line, size_t *hits, struct err *e)
{
    const struct index *ix = &log->index;
    struct id128 found = { 0 };
    enum id_match match;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && *hits < 2 && i < ix->n; i++) {
        const struct index_line *l = &ix->line[i];

        if (l->state == LINE_BLANK || (*hits && !id128_none(found) && id128_eq(l->id, found)))
            continue;
        rc = match_row(log, format, i, part, &match, e);
        if (rc || match == ID_OTHER)
            continue;
        if (++*hits == 1)
            *line = i;
        found = l->id;
    }
    return rc;
}

enum err_code jsonl_find_row(struct logfile *log, const struct jsonl_format *format,
                             struct slice id, size_t *line, struct err *e)
{
    const char *path = log->path ? log->path : "";
    size_t hits = 0;
    enum err_code rc = find_whole(log, format, id, line, e);

    if (rc || *line < log->index.n)
        return rc;
    if (id.n >= PREFIX_SHORTEST)
        rc = find_begun(log, format, id, line, &hits, e);
    if (rc || hits == 1)
        return rc;
    id.n = id.n > 64 ? 64 : id.n;
    return hits ? err_set(e, ERR_USAGE, path, "find message %.*s: ambiguous prefix", SLICE_ARG(id))
                : err_set(e, ERR_NOT_FOUND, path, "find message %.*s: no such message",
                          SLICE_ARG(id));
}

enum err_code jsonl_each_row(const char *path, const struct index_keys *keys,
                             const atomic_bool *cancel, jsonl_row_fn *fn, void *arg, struct err *e)
{
    struct logfile log;
    struct slice row;
    bool stop = false;
    enum err_code rc = logfile_open(&log, path, 0, keys, cancel, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && !stop && i < log.index.n; i++) {
        if (log.index.line[i].state == LINE_BLANK)
            continue;
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, path, "read messages");
        if (!rc)
            rc = logfile_row(&log, i, &row, e);
        if (!rc)
            rc = fn(row, arg, &stop, e);
    }
    logfile_close(&log);
    return rc;
}
