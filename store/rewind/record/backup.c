#include "store/rewind/record/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/rewind/plan/source.h"
#include "store/rewind/record/records.h"

/* The contents of a record. The bytes of all entries are in one file, one after the other, so that
 * one sync makes them durable, and their offsets follow from the sizes in the plan alone. */

bool rewind_tx_backup_layout(struct rewind_tx *tx)
{
    int64_t at = 0;

    for (size_t i = 0; i < tx->n; i++) {
        struct rewind_tx_entry *x = &tx->entry[i];

        x->kept_at = at;
        if (x->seen.size < 0 || x->seen.size > INT64_MAX - at)
            return false;
        at += x->seen.exists ? x->seen.size : 0;
    }
    return true;
}

/* Records of version 1 have each copy in a separate file, and the replaced files beside them. */
static const char *old_dir(const struct rewind_tx *tx)
{
    return tx->version == 1 ? "undo" : "old";
}

void rewind_tx_old_name(const struct rewind_tx *tx, size_t i, bool live, char out[32])
{
    snprintf(out, 32, "%zu%s", i, live ? ".live" : tx->version == 1 ? ".old" : "");
}

bool rewind_tx_find_live(const struct rewind_tx *tx, size_t i, struct tx_live *out)
{
    char name[32];
    size_t dir = strlen(tx->dir) + 1;

    rewind_tx_old_name(tx, i, true, name);
    int n = snprintf(out->path, sizeof out->path, "%s/%s/%s", tx->dir, old_dir(tx), name);

    out->name = out->path + dir;
    return n > 0 && (size_t)n < sizeof out->path && lstat(out->path, &out->st) == 0 &&
           S_ISREG(out->st.st_mode);
}

void rewind_tx_adopted_path(const struct rewind_tx *tx, const struct rewind_tx_entry *x,
                            char out[TX_PATH_MAX])
{
    int n = (int)(strrchr(tx->dir, '/') - tx->dir);

    snprintf(out, TX_PATH_MAX, "%.*s/%s/%s", n, tx->dir, tx->undoes, x->adopts);
}

struct rewind_source rewind_tx_backup_source(const struct rewind_tx *tx, size_t i,
                                             char file[TX_PATH_MAX])
{
    char name[32] = "kept";

    if (tx->version == 1) {
        snprintf(name, sizeof name, "undo/%zu", i);
        rewind_tx_path(tx->dir, name, file);
        return (struct rewind_source){ .file = file };
    }
    rewind_tx_path(tx->dir, name, file);
    return (struct rewind_source){ .file = file,
                                   .kind = tx->entry[i].seen.mode & S_IFMT,
                                   .is_part = true,
                                   .part_at = tx->entry[i].kept_at,
                                   .part_n = tx->entry[i].seen.size };
}

/* The file is created under its final name, because before INTENT the record does not count and is
 * removed as a whole. */
enum err_code rewind_tx_backup_open(const struct rewind_tx *tx, int *fd, struct err *e)
{
    char path[TX_PATH_MAX];

    rewind_tx_path(tx->dir, "kept", path);
    *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *fd < 0 ? err_sys(e, path, "create a file") : ERR_OK;
}

enum err_code rewind_tx_backup_close(const struct rewind_tx *tx, int fd, struct err *e)
{
    enum err_code rc = disk_sync(fd, tx->dir, e);

    if (close(fd) && !rc)
        rc = err_sys(e, tx->dir, "write");
    return rc ? rc : disk_sync_dir(tx->dir, e);
}

enum err_code rewind_tx_old_write(const struct rewind_tx *tx, const char *name,
                                  const struct span *from, struct err *e)
{
    struct hasher hasher = { 0 };
    uint8_t sha256[SHA256_BYTES];
    char dir[TX_PATH_MAX];
    struct disk_new f;

    rewind_tx_path(tx->dir, old_dir(tx), dir);
    enum err_code rc = disk_new_open(dir, 0600, &f, e);

    if (rc)
        return rc;
    f.lazy_dir = true;
    rc = hasher_span(&hasher, from, f.fd, dir, sha256, e);
    hasher_fini(&hasher);
    if (!rc)
        return disk_new_replace(&f, name, e);
    disk_new_discard(&f);
    return rc;
}

enum err_code rewind_tx_old_open(const struct rewind_tx *tx, int *fd, struct err *e)
{
    char dir[TX_PATH_MAX];

    rewind_tx_path(tx->dir, old_dir(tx), dir);
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *fd < 0 ? err_sys(e, dir, "open directory") : ERR_OK;
}

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
        return err_set(e, ERR_NOT_FOUND, "", "no rewind has the id \"%.64s\"; see reprise rewinds",
                       id);
    return found == 1
               ? ERR_OK
               : err_set(e, ERR_USAGE, id, "%zu rewinds have ids that begin with this", found);
}

static bool backup_add_backup(struct rewind_backup_list *list, const struct rewind_tx *tx, size_t i,
                              const struct rewind_record *r)
{
    const struct rewind_tx_entry *x = &tx->entry[i];
    struct rewind_backup *f = &list->file[list->n++];
    char kept[TX_PATH_MAX], hex[SHA256_BYTES * 2 + 1];
    struct tx_live live;

    *f = (struct rewind_backup){ .path = arena_copy_text(&list->arena, x->path),
                                 .did = x->action,
                                 .conflict = x->outcome == REWIND_CONFLICT,
                                 .undone = r->undone || !rewind_undone_can_undo(r, x->path),
                                 .has_bytes = x->seen.exists,
                                 .size = x->seen.size,
                                 .mode = x->seen.mode & 07777 };
    f->source = rewind_tx_backup_source(tx, i, kept);
    f->source.file = arena_copy_text(&list->arena, kept);
    hasher_hex(x->seen.sha256, hex);
    f->source.sha256 = arena_copy_text(&list->arena, hex);
    if (rewind_tx_find_live(tx, i, &live)) {
        f->now = live.st.st_size;
        f->written = f->now != f->size || rewind_tx_file_id(&live.st).mtime_ns != x->seen.mtime_ns;
        f->source = (struct rewind_source){ .file = arena_copy_text(&list->arena, live.path),
                                            .grows = true };
    }
    return !list->arena.failed;
}

static enum err_code backup_read_record(const struct store_env *env, const struct rewind_record *r,
                                        struct rewind_backup_list *out, struct err *e)
{
    struct rewind_backup_list list = { .n = 0 };
    char dir[PATH_MAX];
    struct rewind_tx tx;

    TRY(env_state_path(env, "rewinds", dir, e));
    enum err_code rc = rewind_tx_read_in(dir, r->id, &tx, e);

    if (rc)
        return rc;

    bool ok = true;

    list.id = arena_copy_text(&list.arena, r->id);
    list.project = arena_copy_text(&list.arena, tx.project);
    list.file = arena_zalloc(&list.arena, sizeof *list.file * (tx.n + 1));
    for (size_t i = 0; i < tx.n && ok && list.file; i++)
        ok = backup_add_backup(&list, &tx, i, r);
    rc = ok && !list.arena.failed ? ERR_OK : err_nomem(e);

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

    TRY(rewind_records_read_newest(env, SIZE_MAX, NULL, &records, e));
    enum err_code rc = find_record(&records, id, &r, e);

    if (!rc)
        rc = backup_read_record(env, r, out, e);
    rewind_records_fini(&records);
    return rc;
}

void rewind_backup_fini(struct rewind_backup_list *list)
{
    arena_fini(&list->arena);
    *list = (struct rewind_backup_list){ .n = 0 };
}

static bool backup_is_below(const char *path, const char *dir, const char *rest)
{
    size_t n = dir ? strlen(dir) : 0;

    return n > 0 && strncmp(path, dir, n) == 0 && path[n] == '/' && strcmp(path + n + 1, rest) == 0;
}

const struct rewind_backup *rewind_backup_find(const struct rewind_backup_list *list,
                                               const char *path, const char *cwd)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *own = list->file[i].path;

        if (strcmp(own, path) == 0 || backup_is_below(own, cwd, path) ||
            backup_is_below(own, list->project, path))
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
