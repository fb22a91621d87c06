#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/claude.h"

/* Removes one message from a session (docs/safety.md B). Its row is overwritten with blanks; its newline and all other
 * rows are not moved, so that readers keep their position and an agent that appends at the same moment is not
 * disturbed. With `cut` the bytes after the row are moved forward, as the client does, which requires that no other
 * program uses the file. */

enum {
    CUT_MOST = 50 * 1024 * 1024
}; /* how many bytes may follow the row: all of them go into the record */

static bool claude_tombstone_has_id(const struct index_line *l, struct id128 id)
{
    return l->state == LINE_OK && id128_eq(l->id, id);
}

/* The bytes from the first row with the id on, without the rows that have it. */
static enum err_code without(const struct claude_log *log, size_t first, struct id128 id,
                             struct slice old, struct buf *out)
{
    const struct index *ix = &log->file.index;
    int64_t from = ix->line[first].offset;
    size_t done = 0;
    enum err_code rc = ERR_OK;

    for (size_t i = first; i < ix->n && !rc; i++) {
        size_t at = (size_t)(ix->line[i].offset - from), end = at + ix->line[i].length;

        if (!claude_tombstone_has_id(&ix->line[i], id))
            continue;
        rc = buf_add(out, (struct slice){ old.p + done, at - done });
        done = end < old.n ? end + 1 : old.n; /* the last row may lack its newline */
    }
    return rc ? rc : buf_add(out, (struct slice){ old.p + done, old.n - done });
}

static enum err_code claude_plan_cut(struct claude_log *log, struct id128 id, struct change *c,
                                     struct err *e)
{
    const struct index *ix = &log->file.index;
    size_t first = 0;

    /* The caller has found the message in this log, so there is such a row. */
    while (!claude_tombstone_has_id(&ix->line[first], id))
        first++;
    int64_t offset = ix->line[first].offset, rest = log->file.file.id.size - offset;
    struct buf old = { 0 }, kept = { 0 };
    enum err_code rc = ERR_OK;

    if (rest > CUT_MOST)
        return err_set(e, ERR_UNSUPPORTED, log->file.path,
                       "tombstone: too much follows this row to move it; blank it instead");

    /* The log is checked after the read, so that the bytes are those that were indexed. */
    rc = file_read_part(&log->file.file, offset, (size_t)rest, &old, e);
    if (!rc && old.n != (size_t)rest)
        rc = err_set(e, ERR_STALE, log->file.path, "tombstone: the file became shorter");
    if (!rc)
        rc = logfile_check(&log->file, e);
    if (!rc && without(log, first, id, buf_slice(&old), &kept))
        rc = err_nomem(e);
    if (!rc)
        rc = change_add(c,
                        &(struct step){ .kind = STEP_TAIL,
                                        .path = log->file.path,
                                        .bytes = buf_slice(&kept),
                                        .old = buf_slice(&old),
                                        .offset = offset,
                                        .mtime_ns = MTIME_NOW },
                        e);
    buf_fini(&old);
    buf_fini(&kept);
    return rc;
}

/* Blanks every row with the id, because one that is left would replace the others. */
static enum err_code plan_blanks(struct claude_log *log, const struct session_ref *ref,
                                 struct id128 id, struct change *c, struct err *e)
{
    const struct index *ix = &log->file.index;
    struct slice row;
    char *blanks;

    for (size_t i = 0; i < ix->n; i++) {
        if (!claude_tombstone_has_id(&ix->line[i], id))
            continue;
        TRY(logfile_row(&log->file, i, &row, e));
        NEED(blanks = arena_alloc(&c->arena, row.n + 1));
        memset(blanks, ' ', row.n);
        TRY(change_add(c,
                       &(struct step){ .kind = STEP_EDIT,
                                       .path = ref->path.p,
                                       .bytes = { blanks, row.n },
                                       .old = row,
                                       .offset = ix->line[i].offset,
                                       .mtime_ns = MTIME_NOW },
                       e));
    }
    return ERR_OK;
}

enum err_code claude_tombstone(const struct store *st, const struct session_ref *ref,
                               struct slice message, bool cut, struct change *c, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    struct claude_log log;
    uint32_t node;
    enum err_code rc = claude_log_open(&log, ref->path.p, &want, e);

    (void)st;
    if (rc)
        return rc;
    rc = claude_find_message(&log, message, &node, e);
    if (!rc)
        rc = cut ? claude_plan_cut(&log, chain_id(&log.chain, node), c, e)
                 : plan_blanks(&log, ref, chain_id(&log.chain, node), c, e);
    claude_log_close(&log);
    return rc;
}
