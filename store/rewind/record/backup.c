#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/rewind/record/tx.h"

/* What a record keeps. The bytes of all entries lie one behind the other in one file: so that they are durable with one
 * sync, and lie where the plan says by the sizes alone. */

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

/* Records of version 1 hold each copy in a file of its own, and the replaced files beside them. */
static const char *old_dir(const struct rewind_tx *tx)
{
    return tx->version == 1 ? "undo" : "old";
}

void rewind_tx_old_name(const struct rewind_tx *tx, size_t i, bool live, char out[32])
{
    snprintf(out, 32, "%zu%s", i, live ? ".live" : tx->version == 1 ? ".old" : "");
}

bool tx_find_live(const struct rewind_tx *tx, size_t i, struct tx_live *out)
{
    char name[32];
    size_t dir = strlen(tx->dir) + 1;

    rewind_tx_old_name(tx, i, true, name);
    int n = snprintf(out->path, sizeof out->path, "%s/%s/%s", tx->dir, old_dir(tx), name);

    out->name = out->path + dir;
    return n > 0 && (size_t)n < sizeof out->path && lstat(out->path, &out->st) == 0 &&
           S_ISREG(out->st.st_mode);
}

void tx_adopted(const struct rewind_tx *tx, const struct rewind_tx_entry *x, char out[TX_PATH_MAX])
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
                                   .is_part = true,
                                   .part_at = tx->entry[i].kept_at,
                                   .part_n = tx->entry[i].seen.size };
}

/* Plain and with its name at once: the record counts only from INTENT on, and goes as a whole before. */
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
