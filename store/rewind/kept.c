#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/rewind/tx.h"

/* What a record keeps. The bytes of all entries lie one behind the other in one file: so that they are durable with one
 * sync, and lie where the plan says by the sizes alone. */

bool tx_lay_out(struct tx *tx)
{
    int64_t at = 0;

    for (size_t i = 0; i < tx->n; i++) {
        struct tx_entry *x = &tx->entry[i];

        x->kept_at = at;
        if (x->seen.size < 0 || x->seen.size > INT64_MAX - at)
            return false;
        at += x->seen.exists ? x->seen.size : 0;
    }
    return true;
}

/* Plain and with its name at once: the record counts only from INTENT on, and goes as a whole before. */
enum err_code tx_kept_open(const struct tx *tx, int *fd, struct err *e)
{
    char path[TX_PATH_MAX];

    tx_path(tx->dir, "kept", path);
    *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *fd < 0 ? err_sys(e, path, "create a file") : ERR_OK;
}

enum err_code tx_kept_close(const struct tx *tx, int fd, struct err *e)
{
    enum err_code rc = disk_sync(fd, tx->dir, e);

    if (close(fd) && !rc)
        rc = err_sys(e, tx->dir, "write");
    return rc ? rc : disk_sync_dir(tx->dir, e);
}

enum err_code tx_old_put(const struct tx *tx, size_t i, const struct span *from, struct err *e)
{
    struct hasher hasher = { 0 };
    uint8_t sha256[SHA256_BYTES];
    char dir[TX_PATH_MAX], name[32];
    struct disk_new f;

    snprintf(name, sizeof name, "%zu", i);
    tx_path(tx->dir, "old", dir);
    enum err_code rc = disk_new_open(dir, 0600, &f, e);

    if (rc)
        return rc;
    f.lazy_dir = true;
    rc = hasher_span(&hasher, from, f.fd, dir, sha256, e);
    hasher_fini(&hasher);
    if (!rc)
        return disk_new_replace(&f, name, e);
    disk_new_drop(&f);
    return rc;
}

enum err_code tx_old_open(const struct tx *tx, int *fd, struct err *e)
{
    char dir[TX_PATH_MAX];

    tx_path(tx->dir, "old", dir);
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *fd < 0 ? err_sys(e, dir, "open directory") : ERR_OK;
}
