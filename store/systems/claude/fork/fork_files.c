#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/fork/fork.h"
#include "store/systems/claude/rewind/file_history.h"
#include "store/systems/claude/rewind/snapshots.h"

/* The file checkpoints of a fork: one whole snapshot for each prompt, with later additions merged in, as the client's
 * own fork writes them (claude.md C2). Saved copies are linked, not copied, because they are never written to again.
 * A snapshot is copied only if all of its saved copies exist and its own row was not lost. */
struct files {
    struct fork *f;
    struct arena arena;
    const char *from, *to; /* directories of saved copies */
    struct idset written;  /* prompts whose snapshot has a row of its own */
    bool any;              /* the directory was made */
};

static enum err_code find_written(struct files *w, struct err *e)
{
    const struct index *ix = &w->f->log.file.index;

    for (size_t i = 0; i < ix->n; i++) {
        struct slice row;
        uint32_t number;

        if (!claude_line_is(&ix->line[i], CLAUDE_SNAPSHOT))
            continue;
        enum err_code rc = claude_log_row(&w->f->log, i, &row, e);

        if (rc)
            return rc;
        struct id128 id = claude_id_at(row, "snapshot.messageId", &w->arena);

        if (!id128_none(id) && idset_add(&w->written, id, &number))
            return err_nomem(e);
    }
    return ERR_OK;
}

static enum err_code link_copy(struct files *w, const char *name, bool *linked, struct err *e)
{
    const char *from = arena_format(&w->arena, "%s/%s", w->from, name);
    const char *to = arena_format(&w->arena, "%s/%s", w->to, name);
    struct stat st;

    if (!from || !to)
        return err_nomem(e);
    if (lstat(from, &st) == 0)
        *linked = S_ISREG(st.st_mode);
    else if (errno == ENOENT || errno == ENOTDIR)
        *linked = false;
    else
        return err_sys(e, from, "fork: look at a saved copy");
    if (!*linked)
        return ERR_OK;
    if (!w->any) {
        enum err_code rc = disk_private_dir(w->to, e);

        if (rc)
            return rc;
        w->any = true;
    }
    if (linkat(AT_FDCWD, from, AT_FDCWD, to, 0) == 0 || errno == EEXIST)
        return ERR_OK;
    return copy_tree(from, to, e);
}

/* *all: every saved copy of the snapshot is now in the new directory. */
static enum err_code link_copies(struct files *w, struct slice tracked, bool *all, struct err *e)
{
    struct json_iter it;
    struct slice key, entry, value, name;
    enum err_code rc = ERR_OK;

    *all = true;
    for (bool more = json_iter_open(&it, tracked);
         !rc && *all && more && json_iter_next(&it, &key, &entry);) {
        if (!json_get(entry, "backupFileName", &value) || json_type(value) == JSON_NULL)
            continue;
        *all = json_type(value) == JSON_STRING && json_text(value, &w->arena, &name) &&
               file_history_is_backup_name(name);
        if (!*all)
            continue;
        name = arena_copy(&w->arena, name);
        rc = name.p ? link_copy(w, name.p, all, e) : err_nomem(e);
    }
    return rc;
}

static enum err_code write_snapshot_row(struct slice snapshot, const char *id, struct buf *out)
{
    const struct json_edit edit = { .name = "messageId", .value = slice_of(id) };
    struct buf mapped = { 0 };
    struct jsonout j;
    enum err_code rc = json_edit(&mapped, snapshot, &edit, 1);

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("file-history-snapshot"));
    claude_write_value(&j, "messageId", edit.value);
    claude_write_value(&j, "snapshot", buf_slice(&mapped));
    jsonout_key(&j, "isSnapshotUpdate");
    jsonout_bool(&j, false);
    claude_end_row(&j);
    buf_fini(&mapped);
    return rc ? rc : j.rc;
}

static enum err_code add_snapshot(struct files *w, struct slice snapshot, struct buf *out,
                                  struct err *e)
{
    char id[FORK_QUOTED];
    struct slice value, tracked = { NULL, 0 };
    bool all = true;
    enum err_code rc = ERR_OK;

    if (!json_get(snapshot, "messageId", &value) || !fork_new_quoted(w->f, value, true, id) ||
        !idset_has(&w->written, claude_id(value, &w->arena)))
        return ERR_OK;
    if (json_get(snapshot, "trackedFileBackups", &tracked))
        rc = link_copies(w, tracked, &all, e);
    if (!rc && all && write_snapshot_row(snapshot, id, out))
        rc = err_nomem(e);
    return rc;
}

/* The rows that are copied, in the order of the file. */
static enum err_code copied_nodes(const struct fork *f, uint32_t **nodes, size_t *n)
{
    *nodes = malloc((f->log.chain.n + 1) * sizeof **nodes);
    if (!*nodes)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < f->log.chain.n; i++)
        if (f->log.chain.mark[i] & NODE_LISTED)
            (*nodes)[(*n)++] = i;
    return ERR_OK;
}

enum err_code fork_files(struct fork *f, const char *staged, struct buf *out, bool *any,
                         struct err *e)
{
    struct files w = { .f = f, .to = staged };
    struct claude_values snapshots = { 0 };
    uint32_t *nodes = NULL;
    size_t n = 0;
    enum err_code rc = ERR_OK;

    w.from = arena_format(&w.arena, "%s/file-history/%s", f->c->base.path, f->ref->id.p);
    if (!w.from || copied_nodes(f, &nodes, &n))
        rc = err_nomem(e);
    if (!rc)
        rc = find_written(&w, e);
    if (!rc)
        rc = claude_snapshots(&f->log, nodes, n, &w.arena, &snapshots, e);
    for (size_t i = 0; i < snapshots.n && !rc; i++)
        rc = add_snapshot(&w, snapshots.p[i], out, e);
    if (!rc && w.any)
        rc = disk_sync_dir(staged, e);
    *any = w.any;
    free(nodes);
    idset_fini(&w.written);
    arena_fini(&w.arena);
    return rc;
}
