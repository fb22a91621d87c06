#include "store/rewind/show.h"

#include <stdio.h>
#include <string.h>

#include "store/rewind/source.h"
#include "store/rewind/tx.h"
#include "store/rewind/undone.h"

static enum err_code choose(const struct rewind_records *list, const char *id,
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

static const char *keep(struct arena *a, const char *text)
{
    return text ? arena_copy(a, slice_of(text)).p : NULL;
}

static bool add_file(struct rewind_kept_list *list, const struct tx *tx, size_t i,
                     const struct rewind_record *r)
{
    const struct tx_entry *x = &tx->entry[i];
    struct rewind_kept *f = &list->file[list->n++];
    char kept[TX_PATH_MAX], hex[SHA256_BYTES * 2 + 1];
    struct tx_live live;

    *f = (struct rewind_kept){ .path = keep(&list->arena, x->path),
                               .did = x->action,
                               .conflict = x->outcome == REWIND_CONFLICT,
                               .undone = r->undone || !undone_leaves(r, x->path),
                               .has_bytes = x->seen.exists,
                               .size = x->seen.size,
                               .mode = x->seen.mode };
    f->source = tx_kept_source(tx, i, kept);
    f->source.file = keep(&list->arena, kept);
    sha256_hex(x->seen.sha256, hex);
    f->source.sha256 = keep(&list->arena, hex);
    if (tx_find_live(tx, i, &live)) {
        f->now = live.st.st_size;
        f->written = f->now != f->size || tx_id_of(&live.st).mtime_ns != x->seen.mtime_ns;
        f->source = (struct rewind_source){ .file = keep(&list->arena, live.path), .grows = true };
    }
    return !list->arena.failed;
}

static enum err_code add_files(struct rewind_kept_list *list, const struct tx *tx,
                               const struct rewind_record *r, struct err *e)
{
    bool ok = true;

    list->id = keep(&list->arena, r->id);
    list->project = keep(&list->arena, tx->project);
    list->file = arena_zalloc(&list->arena, sizeof *list->file * (tx->n + 1));
    for (size_t i = 0; i < tx->n && ok && list->file; i++)
        ok = add_file(list, tx, i, r);
    return ok && !list->arena.failed ? ERR_OK : err_nomem(e);
}

static enum err_code read_record(const struct store_env *env, const struct rewind_record *r,
                                 struct rewind_kept_list *out, struct err *e)
{
    struct rewind_kept_list list = { .n = 0 };
    char dir[PATH_MAX], path[TX_PATH_MAX];
    struct tx tx;
    enum err_code rc = env_state_path(env, "rewinds", dir, e);

    if (rc)
        return rc;
    tx_path(dir, r->id, path);
    rc = tx_read(path, r->id, &tx, e);
    if (rc)
        return rc;
    rc = add_files(&list, &tx, r, e);
    tx_fini(&tx);
    if (rc)
        rewind_kept_fini(&list);
    else
        *out = list;
    return rc;
}

enum err_code rewind_kept_read(const struct store_env *env, const char *id,
                               struct rewind_kept_list *out, struct err *e)
{
    struct rewind_records records;
    const struct rewind_record *r = NULL;
    enum err_code rc = rewind_records_read(env, &records, e);

    if (rc)
        return rc;
    rc = choose(&records, id, &r, e);
    if (!rc)
        rc = read_record(env, r, out, e);
    rewind_records_fini(&records);
    return rc;
}

void rewind_kept_fini(struct rewind_kept_list *list)
{
    arena_fini(&list->arena);
    *list = (struct rewind_kept_list){ .n = 0 };
}

static bool is_below(const char *path, const char *dir, const char *rest)
{
    size_t n = dir ? strlen(dir) : 0;

    return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/' && strcmp(path + n + 1, rest) == 0;
}

const struct rewind_kept *rewind_kept_find(const struct rewind_kept_list *list, const char *path,
                                           const char *cwd)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *own = list->file[i].path;

        if (strcmp(own, path) == 0 || is_below(own, cwd, path) ||
            is_below(own, list->project, path))
            return &list->file[i];
    }
    return NULL;
}

enum err_code rewind_kept_open(const struct rewind_kept *file, struct span *out, struct err *e)
{
    return file->has_bytes ? source_open(&file->source, out, e)
                           : err_set(e, ERR_NOT_FOUND, file->path,
                                     "the file did not exist before the rewind: nothing was kept");
}
