#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/rewind/beneath.h"
#include "store/rewind/tx.h"

/* The parents of all entries, each by name once. */
static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
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

static const char *root_of(const struct tx *tx, const char *path)
{
    for (size_t i = 0; i < tx->n; i++)
        if (tx->entry[i].path == path)
            return tx->entry[i].root;
    return "/";
}

static enum err_code sync_parent(const char *root, const char *path, struct err *e)
{
    const char *name;
    int fd, dir;
    enum err_code rc = beneath_root(root, &fd, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    rc = beneath_parent(fd, root, path, &dir, &name, e);
    close(fd);
    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    rc = disk_sync(dir, path, e);
    close(dir);
    return rc;
}

enum err_code tx_sync_dirs(const struct tx *tx, struct err *e)
{
    const char **path = malloc(sizeof *path * (tx->n + 1));
    enum err_code rc = ERR_OK;

    if (!path)
        return err_set(e, ERR_NOMEM, tx->dir, "sync directories: out of memory");
    for (size_t i = 0; i < tx->n; i++)
        path[i] = tx->entry[i].path;
    qsort(path, tx->n, sizeof *path, by_text);
    for (size_t i = 0; i < tx->n && !rc; i++)
        if (i == 0 || !same_dir(path[i - 1], path[i]))
            rc = sync_parent(root_of(tx, path[i]), path[i], e);
    free(path);
    return rc;
}
