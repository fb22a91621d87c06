#include <errno.h>
#include <sys/stat.h>

#include "store/log/idset.h"
#include "store/systems/claude/check/check.h"
#include "store/systems/claude/rewind/file_history.h"

/* The client forgets snapshots beyond the newest hundred and removes what only they named. */
enum { SNAPSHOTS_KEPT = 100 };

static const char *path_in(struct check *k, struct slice session, const char *name)
{
    return arena_format(&k->arena, "%s/file-history/%.*s/%s", k->store->path, SLICE_ARG(session),
                        name);
}

static enum err_code report_file(struct check *k, enum finding_kind kind, const char *path,
                                 const char *why, struct err *e)
{
    const char *transcript = k->path;

    k->path = path;
    enum err_code rc = check_report(k, kind, CHECK_NO_LINE, why, e);

    k->path = transcript;
    return rc;
}

/* The copies of a fork may still lie with the session it was made from. */
static bool parent_has_it(struct check *k, struct slice parent, const char *name)
{
    struct stat st;
    const char *path = claude_is_uuid(parent) ? path_in(k, parent, name) : NULL;

    return path && lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static enum err_code check_copy(struct check *k, const struct file_history_entry *entry,
                                struct slice parent, struct err *e)
{
    struct stat st;
    const char *path = path_in(k, k->ref->id, entry->backup);

    if (!path)
        return err_nomem(e);
    if (lstat(path, &st) == 0)
        return S_ISREG(st.st_mode)
                   ? ERR_OK
                   : report_file(k, FINDING_WRONG_BACKUP, path,
                                 arena_format(&k->arena, "the saved copy of %s is no regular file",
                                              entry->path),
                                 e);
    if (parent_has_it(k, parent, entry->backup))
        return ERR_OK;
    return report_file(k, FINDING_MISSING_BACKUP, path,
                       arena_format(&k->arena,
                                    "the saved copy of %s is not there: it cannot go back",
                                    entry->path),
                       e);
}

static enum err_code check_entry(struct check *k, const struct file_history_entry *entry,
                                 struct slice parent, struct idset *seen, struct err *e)
{
    uint32_t number;
    size_t before = seen->n;

    if (!entry->valid)
        return check_report(k, FINDING_WRONG_BACKUP, CHECK_NO_LINE,
                            arena_format(&k->arena,
                                         "the saved copy of %s has a name that no client writes",
                                         entry->path),
                            e);
    if (!entry->backup)
        return ERR_OK;
    struct slice name = slice_of(entry->backup);

    if (idset_add(seen, id128_of(name), &number))
        return err_nomem(e);
    return seen->n == before ? ERR_OK : check_copy(k, entry, parent, e);
}

static enum err_code check_turns(struct check *k, const struct file_history *h, struct slice parent,
                                 struct err *e)
{
    struct idset seen = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t t = h->n > SNAPSHOTS_KEPT ? h->n - SNAPSHOTS_KEPT : 0; t < h->n && !rc; t++)
        for (size_t i = 0; i < h->turn[t].n && !rc; i++)
            rc = check_entry(k, &h->turn[t].entry[i], parent, &seen, e);
    idset_fini(&seen);
    return rc;
}

static bool has_snapshots(const struct index *ix)
{
    for (size_t i = 0; i < ix->n; i++)
        if (claude_line_is(&ix->line[i], CLAUDE_SNAPSHOT) ||
            claude_line_is(&ix->line[i], CLAUDE_SNAPSHOT_DELTA))
            return true;
    return false;
}

enum err_code check_backups(struct check *k, const atomic_bool *cancel, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct file_history h = { 0 };
    struct transcript *t = NULL;
    struct session_row *row;

    if (!has_snapshots(&k->log.file.index))
        return ERR_OK;
    row = session_row_new();
    enum err_code rc = row ? claude_describe(k->store, &everywhere, k->ref, row, e) : err_nomem(e);

    if (!rc)
        rc = claude_load(k->store, k->ref, cancel, &t, e);
    if (!rc)
        rc = file_history_read(k->ref, t, &h, e);
    if (!rc)
        rc = check_turns(k, &h, row->parent_id, e);
    file_history_fini(&h);
    transcript_free(t);
    session_row_free(row);
    return rc;
}
