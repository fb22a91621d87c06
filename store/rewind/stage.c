#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/change/copy.h"
#include "store/disk.h"
#include "store/place.h"
#include "store/rewind/beneath.h"
#include "store/rewind/tx.h"

/* ---- undo copies ---- */

/* What lies there now, read once more: it must still be what the preview saw. */
static enum err_code read_present(const struct tx_entry *x, int dir, const char *name,
                                  struct content *out, struct stat *st, struct err *e)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_set(e, ERR_STALE, x->path, "it changed since the preview");
    enum err_code rc = ERR_OK;

    if (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_nlink > 1 || st->st_ino != x->seen.ino ||
        st->st_dev != x->seen.dev)
        rc = err_set(e, ERR_STALE, x->path, "it changed since the preview");
    if (!rc)
        rc = content_read(fd, x->path, out, e);
    if (!rc && memcmp(out->sha256, x->seen.sha256, SHA256_BYTES) != 0)
        rc = err_set(e, ERR_STALE, x->path, "it changed since the preview");
    close(fd);
    return rc;
}

static const char *undo_dir(const struct tx *tx, char out[4096])
{
    return (size_t)snprintf(out, 4096, "%s/undo", tx->dir) < 4096 ? out : NULL;
}

enum err_code tx_undo_put(const struct tx *tx, size_t i, const char *suffix, struct slice bytes,
                          struct err *e)
{
    char dir[4096], name[48];
    struct disk_new f;

    snprintf(name, sizeof name, "%zu%s", i, suffix);
    if (!undo_dir(tx, dir))
        return err_set(e, ERR_UNSAFE, tx->dir, "the state directory's name is too long");
    enum err_code rc = disk_new_open(dir, 0600, &f, e);

    if (rc)
        return rc;
    f.lazy_dir = true;
    rc = disk_write(f.fd, bytes, NULL, dir, e);
    if (!rc)
        return disk_new_replace(&f, name, e);
    disk_new_drop(&f);
    return rc;
}

enum err_code tx_sync_undo(const struct tx *tx, struct err *e)
{
    char dir[4096];

    return undo_dir(tx, dir)
               ? disk_sync_dir(dir, e)
               : err_set(e, ERR_UNSAFE, tx->dir, "the state directory's name is too long");
}

/* ---- staged files ---- */

/* Extended attributes carry ACLs and labels: all of them come along, or the file is not touched. */
static enum err_code copy_xattrs(int from, int to, const char *path, struct err *e)
{
    char names[65536], value[65536];
    ssize_t n = flistxattr(from, names, sizeof names);

    if (n < 0)
        return errno == ENOTSUP ? ERR_OK : err_sys(e, path, "keep the extended attributes");
    for (const char *name = names; name < names + n; name += strlen(name) + 1) {
        ssize_t k = fgetxattr(from, name, value, sizeof value);

        if (k < 0 || fsetxattr(to, name, value, (size_t)k, 0))
            return err_sys(e, path, "keep the extended attributes");
    }
    return ERR_OK;
}

static enum err_code copy_owner(int dir, const char *name, int to, const char *path, struct err *e)
{
    int from = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st, now;
    enum err_code rc = ERR_OK;

    if (from < 0)
        return err_sys(e, path, "open");
    if (fstat(from, &st) || fstat(to, &now))
        rc = err_sys(e, path, "look at the file");
    else if ((st.st_uid != now.st_uid || st.st_gid != now.st_gid) &&
             fchown(to, st.st_uid, st.st_gid))
        rc = err_sys(e, path, "keep the owner");
    if (!rc)
        rc = copy_xattrs(from, to, path, e);
    close(from);
    return rc;
}

static enum err_code fill_temp(const struct tx_entry *x, int dir, const char *name, int fd,
                               struct slice bytes, struct err *e)
{
    enum err_code rc = disk_write(fd, bytes, NULL, x->path, e);

    if (!rc && x->action == REWIND_RESTORE)
        rc = copy_owner(dir, name, fd, x->path, e);
    /* After the owner: a change of owner clears set-id bits. */
    if (!rc && fchmod(fd, x->mode))
        rc = err_sys(e, x->path, "set the mode");
    if (!rc) {
        place_mtime_put(fd, x->mtime_ns);
        rc = disk_sync(fd, x->path, e);
    }
    return rc;
}

static enum err_code stage_temp(const struct tx *tx, size_t i, int dir, const char *name,
                                struct slice bytes, struct err *e)
{
    const struct tx_entry *x = &tx->entry[i];
    char temp[64];

    tx_temp_name(tx, i, temp);
    int fd = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, x->path, "create a file beside it");
    enum err_code rc = fill_temp(x, dir, name, fd, bytes, e);

    if (close(fd) && !rc)
        rc = err_sys(e, x->path, "write");
    return rc;
}

/* Does this file system exchange names? Found out before anything is decided: two files of our own change places. */
static enum err_code probe_exchange(const struct tx *tx, size_t i, int dir, struct err *e)
{
    char a[64], b[80];

    tx_temp_name(tx, i, a);
    snprintf(b, sizeof b, "%s.probe", a);
    int fd = openat(dir, b, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, tx->entry[i].path, "create a file beside it");
    close(fd);
    bool works = renameat2(dir, a, dir, b, RENAME_EXCHANGE) == 0;

    if (works && renameat2(dir, a, dir, b, RENAME_EXCHANGE))
        return err_sys(e, tx->entry[i].path, "exchange names");
    if (unlinkat(dir, b, 0))
        return err_sys(e, tx->entry[i].path, "remove a file of ours");
    return works ? ERR_OK
                 : err_set(e, ERR_UNSUPPORTED, tx->entry[i].path,
                           "this file system cannot exchange two names in one step; try --into");
}

/* ---- one entry ---- */

struct stager {
    struct tx *tx;
    const struct rewind_preview *preview;
    struct content present, wanted;
    uint64_t probed; /* device on which an exchange is known to work */
};

static enum err_code check_absent(const struct tx_entry *x, int dir, const char *name,
                                  struct err *e)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return err_set(e, ERR_STALE, x->path, "it appeared since the preview");
    return errno == ENOENT ? ERR_OK : err_sys(e, x->path, "look at");
}

static enum err_code keep_present(struct stager *s, size_t i, int dir, const char *name,
                                  struct err *e)
{
    struct tx_entry *x = &s->tx->entry[i];
    struct stat st;
    enum err_code rc = read_present(x, dir, name, &s->present, &st, e);

    return rc ? rc : tx_undo_put(s->tx, i, "", buf_slice(&s->present.bytes), e);
}

static enum err_code stage_wanted(struct stager *s, size_t i, const struct rewind_entry *from,
                                  int dir, const char *name, struct err *e)
{
    struct tx_entry *x = &s->tx->entry[i];
    enum err_code rc = source_read(&from->target->source, &s->wanted, e);

    if (!rc && memcmp(s->wanted.sha256, x->wanted, SHA256_BYTES) != 0)
        rc = err_set(e, ERR_STALE, x->path, "its saved copy changed since the preview");
    if (!rc)
        rc = stage_temp(s->tx, i, dir, name, buf_slice(&s->wanted.bytes), e);
    if (!rc && x->action == REWIND_RESTORE && s->probed != x->seen.dev) {
        rc = probe_exchange(s->tx, i, dir, e);
        s->probed = x->seen.dev;
    }
    return rc;
}

static enum err_code stage_one(struct stager *s, size_t i, const struct rewind_entry *from,
                               int root, struct err *e)
{
    struct tx_entry *x = &s->tx->entry[i];
    const char *name;
    int dir;
    enum err_code rc = x->action == REWIND_CREATE
                           ? beneath_make_parent(root, x->root, x->path, &dir, &name, NULL, e)
                           : beneath_parent(root, x->root, x->path, &dir, &name, e);

    if (rc)
        return rc;
    rc = x->action == REWIND_CREATE ? check_absent(x, dir, name, e)
                                    : keep_present(s, i, dir, name, e);
    if (!rc && x->action != REWIND_DELETE && !x->mode_only)
        rc = stage_wanted(s, i, from, dir, name, e);
    close(dir);
    return rc;
}

enum err_code tx_stage(struct tx *tx, const struct rewind_preview *p, struct err *e)
{
    struct stager s = { .tx = tx, .preview = p, .probed = UINT64_MAX };
    enum err_code rc = ERR_OK;
    size_t i = 0;

    for (size_t k = 0; k < p->n && !rc; k++) {
        const struct rewind_entry *from = &p->entry[k];
        int root;

        if (!from->chosen || from->action == REWIND_UNCHANGED || from->action == REWIND_REFUSED)
            continue;
        rc = beneath_root(tx->entry[i].root, &root, e);
        if (rc)
            break;
        rc = stage_one(&s, i++, from, root, e);
        close(root);
    }
    content_fini(&s.present);
    content_fini(&s.wanted);
    if (!rc)
        rc = tx_sync_undo(tx, e);
    return rc ? rc : tx_sync_dirs(tx, e);
}

/* ---- taking it away again ---- */

/* *more: is it gone, so that the one above may be empty now? */
static enum err_code prune_one(int root, const char *root_path, const char *path, bool *more,
                               struct err *e)
{
    const char *name;
    int dir;
    enum err_code rc = beneath_parent(root, root_path, path, &dir, &name, NULL);

    *more = rc == ERR_OK || rc == ERR_NOT_FOUND; /* never made, or gone already */
    if (rc)
        return ERR_OK;
    rc = ERR_OK;
    if (unlinkat(dir, name, AT_REMOVEDIR) && errno != ENOENT) {
        *more = false;
        if (errno == EIO || errno == ENOSPC || errno == EDQUOT)
            rc = err_sys(e, path, "remove an empty directory");
    }
    close(dir);
    return rc;
}

/* Reached like everything else: a directory that was swapped for a link is not followed, one with anything in it
 * stays. */
enum err_code tx_prune(const struct tx_entry *x, unsigned levels, struct err *e)
{
    char path[4096];
    int root;
    enum err_code rc = ERR_OK;
    bool more = true;

    if ((size_t)snprintf(path, sizeof path, "%s", x->path) >= sizeof path ||
        beneath_root(x->root, &root, NULL))
        return ERR_OK;
    for (; levels > 0 && more && !rc; levels--) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path)
            break;
        *slash = '\0';
        if (strcmp(path, x->root) == 0)
            break;
        rc = prune_one(root, x->root, path, &more, e);
    }
    close(root);
    return rc;
}

static enum err_code drop_temp(const struct tx *tx, size_t i, struct err *e)
{
    const struct tx_entry *x = &tx->entry[i];
    char temp[64], probe[80];
    const char *name;
    int root, dir;
    enum err_code rc = beneath_root(x->root, &root, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    rc = beneath_parent(root, x->root, x->path, &dir, &name, e);
    close(root);
    if (rc == ERR_NOT_FOUND || rc == ERR_UNSAFE)
        return ERR_OK; /* no directory, no temp; or not our directory any more */
    if (rc)
        return rc;
    tx_temp_name(tx, i, temp);
    snprintf(probe, sizeof probe, "%s.probe", temp);
    if ((unlinkat(dir, temp, 0) && errno != ENOENT) || (unlinkat(dir, probe, 0) && errno != ENOENT))
        rc = err_sys(e, x->path, "remove a temporary file");
    close(dir);
    return rc;
}

/* A mark that could not be synced may lie there all the same: it goes before anything that it speaks of. */
static enum err_code drop_intent(const struct tx *tx, struct err *e)
{
    char path[4096];

    snprintf(path, sizeof path, "%.4000s/intent", tx->dir);
    if (unlink(path))
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "take the decision back");
    return disk_sync_dir(tx->dir, e);
}

enum err_code tx_drop(struct tx *tx, struct err *e)
{
    enum err_code rc = drop_intent(tx, e);

    for (size_t i = 0; i < tx->n && !rc; i++) {
        rc = drop_temp(tx, i, e);
        if (!rc && tx->entry[i].action == REWIND_CREATE)
            rc = tx_prune(&tx->entry[i], tx->entry[i].dirs, e);
    }
    if (!rc)
        rc = tx_sync_dirs(tx, e);
    return rc ? rc : copy_remove(tx->dir, e);
}
