#include "store/rewind/record/backup_list.h"

#include <stdio.h>
#include <string.h>

#include "store/rewind/plan/source.h"
#include "store/rewind/record/tx.h"
#include "store/rewind/record/undone.h"

static enum err_code find_record(const struct rewind_records *list, const char *id,
                                 const struct rewind_record **out, struct err *e)
{
    size_t n = strlen(id), found = 0;

    for (size_t i = 0; i < list->n; i++)
        if (n > 0 && strncmp(list->record[i].id, id, n) == 0) {
            *out = &list->record[i];
            found++;
        }
    if (found == 0)
        return err_set(e, ERR_NOT_FOUND, id, "no rewind with this id");
    return found == 1
               ? ERR_OK
               : err_set(e, ERR_USAGE, id, "%zu rewinds have ids that begin with this", found);
}

static const char *copy_backup_text(struct arena *a, const char *text)
{
    return text ? arena_copy(a, slice_of(text)).p : NULL;
}

static bool add_backup(struct rewind_backup_list *list, const struct rewind_tx *tx, size_t i,
                       const struct rewind_record *r)
{
    const struct rewind_tx_entry *x = &tx->entry[i];
    struct rewind_backup *f = &list->file[list->n++];
    char kept[TX_PATH_MAX], hex[SHA256_BYTES * 2 + 1];
    struct tx_live live;

    *f = (struct rewind_backup){ .path = copy_backup_text(&list->arena, x->path),
                                 .did = x->action,
                                 .conflict = x->outcome == REWIND_CONFLICT,
                                 .undone = r->undone || !undone_can_undo(r, x->path),
                                 .has_bytes = x->seen.exists,
                                 .size = x->seen.size,
                                 .mode = x->seen.mode };
    f->source = rewind_tx_backup_source(tx, i, kept);
    f->source.file = copy_backup_text(&list->arena, kept);
    hasher_hex(x->seen.sha256, hex);
    f->source.sha256 = copy_backup_text(&list->arena, hex);
    if (tx_find_live(tx, i, &live)) {
        f->now = live.st.st_size;
        f->written = f->now != f->size || rewind_tx_file_id(&live.st).mtime_ns != x->seen.mtime_ns;
        f->source = (struct rewind_source){ .file = copy_backup_text(&list->arena, live.path),
                                            .grows = true };
    }
    return !list->arena.failed;
}

static enum err_code add_files(struct rewind_backup_list *list, const struct rewind_tx *tx,
                               const struct rewind_record *r, struct err *e)
{
    bool ok = true;

    list->id = copy_backup_text(&list->arena, r->id);
    list->project = copy_backup_text(&list->arena, tx->project);
    list->file = arena_zalloc(&list->arena, sizeof *list->file * (tx->n + 1));
    for (size_t i = 0; i < tx->n && ok && list->file; i++)
        ok = add_backup(list, tx, i, r);
    return ok && !list->arena.failed ? ERR_OK : err_nomem(e);
}

static enum err_code read_record(const struct store_env *env, const struct rewind_record *r,
                                 struct rewind_backup_list *out, struct err *e)
{
    struct rewind_backup_list list = { .n = 0 };
    char dir[PATH_MAX], path[TX_PATH_MAX];
    struct rewind_tx tx;
    enum err_code rc = env_state_path(env, "rewinds", dir, e);

    if (rc)
        return rc;
    rewind_tx_path(dir, r->id, path);
    rc = rewind_tx_read(path, r->id, &tx, e);
    if (rc)
        return rc;
    rc = add_files(&list, &tx, r, e);
    rewind_tx_fini(&tx);
    if (rc)
        rewind_backup_fini(&list);
    else
        *out = list;
    return rc;
}

enum err_code rewind_backup_read(const struct store_env *env, const char *id,
                                 struct rewind_backup_list *out, struct err *e)
{
    struct rewind_records records;
    const struct rewind_record *r = NULL;
    enum err_code rc = rewind_records_read(env, &records, e);

    if (rc)
        return rc;
    rc = find_record(&records, id, &r, e);
    if (!rc)
        rc = read_record(env, r, out, e);
    rewind_records_fini(&records);
    return rc;
}

void rewind_backup_fini(struct rewind_backup_list *list)
{
    arena_fini(&list->arena);
    *list = (struct rewind_backup_list){ .n = 0 };
}

static bool is_below(const char *path, const char *dir, const char *rest)
{
    size_t n = dir ? strlen(dir) : 0;

    return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/' && strcmp(path + n + 1, rest) == 0;
}

const struct rewind_backup *rewind_backup_find(const struct rewind_backup_list *list,
                                               const char *path, const char *cwd)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *own = list->file[i].path;

        if (strcmp(own, path) == 0 || is_below(own, cwd, path) ||
            is_below(own, list->project, path))
            return &list->file[i];
    }
    return NULL;
}

enum err_code rewind_backup_open(const struct rewind_backup *file, struct span *out, struct err *e)
{
    return file->has_bytes ? source_open(&file->source, out, e)
                           : err_set(e, ERR_NOT_FOUND, file->path,
                                     "the file did not exist before the rewind: nothing was kept");
}
