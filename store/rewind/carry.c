#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/rewind/beneath.h"
#include "store/rewind/tx.h"

/* Carrying entries out. Every step looks at what lies where before it moves a name, so that it can be done again
 * after a crash. */

struct spot {
    const struct tx_entry *x;
    int dir;
    const char *name;
    char temp[64];
};

enum lies { LIES_NOTHING, LIES_SEEN, LIES_WANTED, LIES_OTHER };

static bool is_seen(const struct tx_entry *x, const struct stat *st)
{
    const struct rewind_seen *s = &x->seen;
    int64_t mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;

    return s->exists && st->st_dev == s->dev && st->st_ino == s->ino && st->st_size == s->size &&
           mtime == s->mtime_ns;
}

static enum err_code content_at(const struct spot *at, const char *name, struct content *out,
                                struct err *e)
{
    int fd = openat(at->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_sys(e, at->x->path, "open");
    enum err_code rc = content_read(fd, at->x->path, out, e);

    close(fd);
    return rc;
}

/* What lies under a name? The bytes decide: a power cut may have made an equal file again, and a save of equal size
 * within one tick of the clock would hide from times and sizes. */
static enum err_code what_lies(const struct spot *at, const char *name, enum lies *out,
                               struct err *e)
{
    struct stat st;
    struct content c = { 0 };

    if (fstatat(at->dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        *out = LIES_NOTHING;
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "look at");
    }
    *out = LIES_OTHER;
    if (!S_ISREG(st.st_mode))
        return ERR_OK;
    enum err_code rc = content_at(at, name, &c, e);

    content_fini(&c);
    if (rc == ERR_STALE) /* being written */
        return ERR_OK;
    if (rc)
        return rc;
    bool seen = at->x->seen.exists && memcmp(c.sha256, at->x->seen.sha256, SHA256_BYTES) == 0;
    bool wanted =
        at->x->action != REWIND_DELETE && memcmp(c.sha256, at->x->wanted, SHA256_BYTES) == 0;

    if (seen)
        *out = LIES_SEEN;
    else if (wanted)
        *out = LIES_WANTED;
    return ERR_OK;
}

static enum err_code spot_open(const struct tx *tx, size_t i, struct spot *at, struct err *e)
{
    int root;

    *at = (struct spot){ .x = &tx->entry[i] };
    tx_temp_name(tx, i, at->temp);
    enum err_code rc = beneath_root(at->x->root, &root, e);

    if (rc)
        return rc;
    rc = beneath_parent(root, at->x->root, at->x->path, &at->dir, &at->name, e);
    close(root);
    return rc;
}

/* ---- restore ---- */

/* The names changed places; if what came out is not what the preview saw, they change back and the person's file
 * stays. */
static enum err_code check_exchanged(const struct spot *at, enum rewind_outcome *out, struct err *e)
{
    enum lies came_out;
    enum err_code rc = what_lies(at, at->temp, &came_out, e);

    if (rc)
        return rc;
    if (came_out == LIES_SEEN) {
        *out = REWIND_DONE;
        return ERR_OK;
    }
    *out = REWIND_CONFLICT;
    if (renameat2(at->dir, at->temp, at->dir, at->name, RENAME_EXCHANGE))
        return err_sys(e, at->x->path, "give a changed file back");
    return ERR_OK;
}

static enum err_code restore(const struct spot *at, enum rewind_outcome *out, struct err *e)
{
    enum lies here, there;
    enum err_code rc = what_lies(at, at->name, &here, e);

    if (!rc)
        rc = what_lies(at, at->temp, &there, e);
    if (rc)
        return rc;
    if (here == LIES_WANTED && there != LIES_WANTED) { /* exchanged before a crash */
        *out = there == LIES_OTHER ? REWIND_CONFLICT : REWIND_DONE;
        return there == LIES_OTHER ? check_exchanged(at, out, e) : ERR_OK;
    }
    *out = REWIND_CONFLICT;
    if (here != LIES_SEEN || there != LIES_WANTED)
        return ERR_OK;
    if (renameat2(at->dir, at->temp, at->dir, at->name, RENAME_EXCHANGE))
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "put the old bytes in place");
    return check_exchanged(at, out, e);
}

/* ---- mode, create, delete ---- */

static enum err_code set_mode(const struct spot *at, enum rewind_outcome *out, struct err *e)
{
    int fd = openat(at->dir, at->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    *out = REWIND_CONFLICT;
    if (fd < 0)
        return ERR_OK;
    enum err_code rc = ERR_OK;

    if (fstat(fd, &st) == 0 && is_seen(at->x, &st)) {
        if (fchmod(fd, at->x->mode))
            rc = err_sys(e, at->x->path, "set the mode");
        else
            rc = disk_sync(fd, at->x->path, e);
        *out = REWIND_DONE;
    }
    close(fd);
    return rc;
}

static enum err_code create(const struct spot *at, enum rewind_outcome *out, struct err *e)
{
    enum lies here, there;
    enum err_code rc = what_lies(at, at->name, &here, e);

    if (!rc)
        rc = what_lies(at, at->temp, &there, e);
    if (rc)
        return rc;
    *out = here == LIES_WANTED && there == LIES_NOTHING ? REWIND_DONE : REWIND_CONFLICT;
    if (here != LIES_NOTHING || there != LIES_WANTED)
        return ERR_OK;
    if (renameat2(at->dir, at->temp, at->dir, at->name, RENAME_NOREPLACE))
        return errno == EEXIST ? ERR_OK : err_sys(e, at->x->path, "put the file back");
    *out = REWIND_DONE;
    return ERR_OK;
}

/* Moved aside first, looked at under the other name, and unlinked only when all is decided. */
static enum err_code delete (const struct spot *at, enum rewind_outcome *out, struct err *e) {
    enum lies here, there; enum err_code rc = what_lies(at, at->name, &here, e);

    if (!rc) rc = what_lies(at, at->temp, &there, e);
    if (rc) return rc;
    *out = there == LIES_SEEN ? REWIND_DONE : REWIND_CONFLICT;
    if (here != LIES_SEEN || there != LIES_NOTHING) return ERR_OK;
    if (renameat2(at->dir, at->name, at->dir, at->temp, RENAME_NOREPLACE)) return errno == ENOENT
        ? ERR_OK
        : err_sys(e, at->x->path, "take the file away");
    rc = what_lies(at, at->temp, &there, e);
    *out = there == LIES_SEEN ? REWIND_DONE : REWIND_CONFLICT;
    if (!rc && there != LIES_SEEN &&
        renameat2(at->dir, at->temp, at->dir, at->name, RENAME_NOREPLACE))
        rc = err_sys(e, at->x->path, "give a changed file back");
    return rc;
}

static enum err_code carry_one(const struct tx *tx, size_t i, enum rewind_outcome *out,
                               struct err *e)
{
    struct spot at;
    enum err_code rc = spot_open(tx, i, &at, e);

    /* The directory went or became a link since INTENT: the file in it, if there is one, is not ours to touch. */
    if (rc == ERR_NOT_FOUND || rc == ERR_UNSAFE) {
        *out = REWIND_CONFLICT;
        return ERR_OK;
    }
    if (rc)
        return rc;
    if (at.x->mode_only)
        rc = set_mode(&at, out, e);
    else if (at.x->action == REWIND_RESTORE)
        rc = restore(&at, out, e);
    else if (at.x->action == REWIND_CREATE)
        rc = create(&at, out, e);
    else
        rc = delete (&at, out, e);
    close(at.dir);
    return rc;
}

enum err_code tx_apply(struct tx *tx, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n && !rc; i++)
        rc = carry_one(tx, i, &tx->entry[i].outcome, e);
    return rc ? rc : tx_sync_dirs(tx, e);
}

/* ---- cleaning up ---- */

/* What came out of its place. An editor that has the old file open may still write into it, so the file itself moves
 * into the record where that is on the same file system. Elsewhere it goes, since a synced copy lies in the record,
 * but what was written into it since that copy is kept first. */
static enum err_code keep_old(const struct tx *tx, const struct spot *at, size_t i, enum lies what,
                              struct err *e)
{
    char path[4096];
    struct content c = { 0 };
    enum err_code rc = ERR_OK;

    snprintf(path, sizeof path, "%.4000s/undo/%zu.old", tx->dir, i);
    if (renameat(at->dir, at->temp, AT_FDCWD, path) == 0)
        return ERR_OK;
    if (errno != EXDEV)
        return err_sys(e, at->x->path, "keep the old file");
    if (what == LIES_OTHER) {
        rc = content_at(at, at->temp, &c, e);
        if (!rc)
            rc = tx_undo_put(tx, i, ".old", buf_slice(&c.bytes), e);
        content_fini(&c);
    }
    if (!rc && unlinkat(at->dir, at->temp, 0))
        rc = err_sys(e, at->x->path, "remove a temporary file");
    return rc;
}

static enum err_code clean_temp(struct tx *tx, size_t i, struct err *e)
{
    struct spot at;
    enum lies there;
    enum err_code rc = spot_open(tx, i, &at, e);

    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    rc = what_lies(&at, at.temp, &there, e);
    if (!rc && there == LIES_WANTED && unlinkat(at.dir, at.temp, 0))
        rc = err_sys(e, at.x->path, "remove a temporary file");
    else if (!rc && there != LIES_WANTED && there != LIES_NOTHING)
        rc = keep_old(tx, &at, i, there, e);
    close(at.dir);
    return rc;
}

/* The directories go even where the file's own is gone already: a crash may have come between two of them. */
static enum err_code clean_one(struct tx *tx, size_t i, struct err *e)
{
    const struct tx_entry *x = &tx->entry[i];
    enum err_code rc = clean_temp(tx, i, e);

    if (rc || x->action != REWIND_DELETE || x->outcome != REWIND_DONE)
        return rc;
    return tx_prune(x, x->dirs, e);
}

enum err_code tx_clean(struct tx *tx, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n && !rc; i++)
        if (!tx->entry[i].mode_only)
            rc = clean_one(tx, i, e);
    if (!rc)
        rc = tx_sync_undo(tx, e);
    return rc ? rc : tx_sync_dirs(tx, e);
}

enum err_code tx_finish(struct tx *tx, struct err *e)
{
    enum err_code rc = ERR_OK;

    if (tx->phase < TX_COMMITTED) {
        rc = tx_apply(tx, e);
        if (!rc)
            rc = tx_mark(tx, TX_COMMITTED, e);
    }
    if (!rc && tx->phase < TX_DONE) {
        rc = tx_clean(tx, e);
        if (!rc)
            rc = tx_mark(tx, TX_DONE, e);
    }
    return rc;
}
