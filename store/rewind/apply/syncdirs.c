#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/record/tx.h"

/* The parents of all entries, each by name once. */
static int compare_entry_path(const void *a, const void *b)
{
    const struct rewind_tx_entry *const *x = a, *const *y = b;

    return strcmp((*x)->path, (*y)->path);
}

static size_t dir_length(const char *path)
{
    return (size_t)(strrchr(path, '/') - path);
}

static bool same_dir(const char *a, const char *b)
{
    size_t n = dir_length(a);

    return n == dir_length(b) && memcmp(a, b, n) == 0;
}

static enum err_code sync_entry_dir(const struct rewind_tx_entry *x, struct err *e)
{
    const char *name;
    int fd, dir;
    enum err_code rc = beneath_same_root(x->root, x->root_id, &fd, e);

    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_STALE ? ERR_OK : rc;
    rc = beneath_parent(fd, x->root, x->path, &dir, &name, e);
    close(fd);
    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    rc = disk_sync(dir, x->path, e);
    close(dir);
    return rc;
}

enum err_code rewind_tx_sync_dirs(const struct rewind_tx *tx, struct err *e)
{
    const struct rewind_tx_entry **x = malloc(sizeof *x * (tx->n + 1));
    enum err_code rc = ERR_OK;

    if (!x)
        return err_nomem(e);
    for (size_t i = 0; i < tx->n; i++)
        x[i] = &tx->entry[i];
    qsort(x, tx->n, sizeof *x, compare_entry_path);
    for (size_t i = 0; i < tx->n && !rc; i++)
        if (i == 0 || !same_dir(x[i - 1]->path, x[i]->path))
            rc = sync_entry_dir(x[i], e);
    free(x);
    return rc;
}
