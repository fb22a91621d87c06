#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/rewind/reach.h"
#include "store/rewind/tx.h"

/* Carrying entries out. Every step looks at what lies where before it moves a name, so that it can be done again
 * after a crash. */

/* What is kept from entry to entry. */
struct carrier {
    struct tx *tx;
    struct reach reach;
    struct hasher hasher;
    int old; /* the record's directory of replaced files, while cleaning up */
};

struct spot {
    struct carrier *c;
    struct tx_entry *x;
    int dir;
    const char *name;
    char temp[64];
};

enum lies { LIES_NOTHING, LIES_SEEN, LIES_WANTED, LIES_OTHER };

/* Whatever happened to its mode, its owner or its name since. */
static bool is_seen(const struct tx_entry *x, struct file_id id)
{
    struct file_id seen = tx_id_seen(&x->seen);

    return tx_same_file(id, seen) && id.mtime_ns == seen.mtime_ns;
}

/* Whatever happens to a file puts a new ctime on it. */
static bool same_id(struct file_id a, struct file_id b)
{
    return tx_same_file(a, b) && a.ctime_ns == b.ctime_ns;
}

/* Opens what lies under a name. Its bytes decide: a power cut may have made an equal file again, and a save of equal
 * size within one tick of the clock would hide from times and sizes. */
static enum err_code read_bytes(const struct spot *at, const char *name, enum lies *out,
                                struct file_id *id, struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    struct span all;
    struct stat st;
    int fd = openat(at->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    *out = LIES_OTHER;
    if (fd < 0)
        return err_sys(e, at->x->path, "open");
    enum err_code rc = span_of_file(fd, at->x->path, &all, e);

    /* Looked at before it is read: what is written meanwhile shows at the next look. */
    if (!rc && fstat(fd, &st))
        rc = err_sys(e, at->x->path, "look at");
    if (!rc)
        rc = hasher_span(&at->c->hasher, &all, -1, NULL, sha256, e);
    close(fd);
    if (rc == ERR_STALE) /* being written */
        return ERR_OK;
    if (rc)
        return rc;
    *id = tx_id_of(&st);
    if (at->x->seen.exists && memcmp(sha256, at->x->seen.sha256, SHA256_BYTES) == 0)
        *out = LIES_SEEN;
    else if (at->x->action != REWIND_DELETE && memcmp(sha256, at->x->wanted, SHA256_BYTES) == 0)
        *out = LIES_WANTED;
    return ERR_OK;
}

/* Is it a file that this process had in hand, and that nobody touched since? */
static bool by_sight(const struct tx_entry *x, const struct stat *st, enum lies *out)
{
    struct file_id id = tx_id_of(st);

    if (same_id(x->staged, id))
        *out = LIES_WANTED;
    else if (same_id(x->taken, id) || (is_seen(x, id) && id.ctime_ns == x->seen.ctime_ns))
        *out = LIES_SEEN;
    else
        return false;
    return true;
}

/* id (may be NULL): asks for the bytes to be read, and says what the file was then. */
static enum err_code look(const struct spot *at, const char *name, enum lies *out,
                          struct file_id *id, struct err *e)
{
    struct file_id unused;
    struct stat st;

    if (fstatat(at->dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        *out = LIES_NOTHING;
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "look at");
    }
    *out = LIES_OTHER;
    if (!S_ISREG(st.st_mode) || (!id && by_sight(at->x, &st, out)))
        return ERR_OK;
    return read_bytes(at, name, out, id ? id : &unused, e);
}

static enum err_code what_lies(const struct spot *at, const char *name, enum lies *out,
                               struct err *e)
{
    return look(at, name, out, NULL, e);
}

/* What came out of its place? Always by its bytes: between the look at it and the exchange anything may have been
 * written. */
static enum err_code what_came_out(const struct spot *at, enum lies *out, struct err *e)
{
    struct file_id id = { 0 };
    enum err_code rc = look(at, at->temp, out, &id, e);

    if (!rc && *out == LIES_SEEN)
        at->x->taken = id;
    return rc;
}

static enum err_code spot_open(struct carrier *c, size_t i, struct spot *at, struct err *e)
{
    *at = (struct spot){ .c = c, .x = &c->tx->entry[i] };
    tx_temp_name(c->tx, i, at->temp);
    return reach_dir(&c->reach, at->x, &at->dir, &at->name, e);
}

/* ---- restore ---- */

/* The names changed places; if what came out is not what the preview saw, they change back and the person's file
 * stays. */
static enum err_code check_exchanged(const struct spot *at, enum rewind_outcome *out, struct err *e)
{
    enum lies came_out;
    enum err_code rc = what_came_out(at, &came_out, e);

    if (rc)
        return rc;
    if (came_out == LIES_SEEN) {
        *out = REWIND_DONE;
        return ERR_OK;
    }
    *out = REWIND_CONFLICT;
    /* ENOENT: what was put in its place was removed already, so its own place is in the record now. */
    if (renameat2(at->dir, at->temp, at->dir, at->name, RENAME_EXCHANGE) && errno != ENOENT)
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
    enum err_code rc = ERR_OK;

    *out = REWIND_CONFLICT;
    if (fd < 0) /* gone, a link or a socket by now */
        return errno == ENOENT || errno == ELOOP || errno == ENXIO
                   ? ERR_OK
                   : err_sys(e, at->x->path, "open");
    if (fstat(fd, &st)) {
        rc = err_sys(e, at->x->path, "look at");
    } else if (is_seen(at->x, tx_id_of(&st))) {
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
static enum err_code take_away(const struct spot *at, enum rewind_outcome *out, struct err *e)
{
    enum lies here, there;
    enum err_code rc = what_lies(at, at->name, &here, e);

    if (!rc)
        rc = what_lies(at, at->temp, &there, e);
    if (rc)
        return rc;
    *out = there == LIES_SEEN ? REWIND_DONE : REWIND_CONFLICT;
    if (here != LIES_SEEN || there != LIES_NOTHING)
        return ERR_OK;
    if (renameat2(at->dir, at->name, at->dir, at->temp, RENAME_NOREPLACE))
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "take the file away");
    rc = what_came_out(at, &there, e);
    *out = there == LIES_SEEN ? REWIND_DONE : REWIND_CONFLICT;
    /* EEXIST: a newer one was saved meanwhile and stays, this one goes into the record. */
    if (!rc && there != LIES_SEEN &&
        renameat2(at->dir, at->temp, at->dir, at->name, RENAME_NOREPLACE) && errno != EEXIST)
        rc = err_sys(e, at->x->path, "give a changed file back");
    return rc;
}

static enum err_code carry_one(struct carrier *c, size_t i, enum rewind_outcome *out, struct err *e)
{
    struct spot at;
    enum err_code rc = spot_open(c, i, &at, e);

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
        rc = take_away(&at, out, e);
    close(at.dir);
    return rc;
}

static void carrier_end(struct carrier *c)
{
    reach_end(&c->reach);
    hasher_fini(&c->hasher);
}

enum err_code tx_apply(struct tx *tx, struct err *e)
{
    struct carrier c = { .tx = tx };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n && !rc; i++) {
        rc = carry_one(&c, i, &tx->entry[i].outcome, e);
        tx_progress(tx, tx->n + i + 1);
    }
    carrier_end(&c);
    return rc ? rc : tx_sync_dirs(tx, e);
}

/* ---- cleaning up ---- */

static enum err_code copy_old(const struct spot *at, size_t i, struct err *e)
{
    struct span all;
    int fd = openat(at->dir, at->temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_sys(e, at->x->path, "open");
    enum err_code rc = span_of_file(fd, at->x->path, &all, e);

    if (!rc)
        rc = tx_old_put(at->c->tx, i, &all, e);
    close(fd);
    return rc;
}

/* What came out of its place. An editor that has the old file open may still write into it, so the file itself moves
 * into the record where that is on the same file system. Elsewhere it goes, since a synced copy lies in the record,
 * but what was written into it since that copy is kept first. */
static enum err_code keep_old(const struct spot *at, size_t i, struct err *e)
{
    char name[32];
    enum lies what;
    struct file_id unused;

    tx_old_name(at->c->tx, i, name);
    if (renameat(at->dir, at->temp, at->c->old, name) == 0)
        return ERR_OK;
    if (errno != EXDEV)
        return err_sys(e, at->x->path, "keep the old file");
    enum err_code rc = read_bytes(at, at->temp, &what, &unused, e);

    if (!rc && what == LIES_OTHER)
        rc = copy_old(at, i, e);
    if (!rc && unlinkat(at->dir, at->temp, 0))
        rc = err_sys(e, at->x->path, "remove a temporary file");
    return rc;
}

static enum err_code clean_temp(struct carrier *c, size_t i, struct err *e)
{
    struct spot at;
    enum lies there;
    enum err_code rc = spot_open(c, i, &at, e);

    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    rc = what_lies(&at, at.temp, &there, e);
    if (!rc && there == LIES_WANTED && unlinkat(at.dir, at.temp, 0))
        rc = err_sys(e, at.x->path, "remove a temporary file");
    else if (!rc && there != LIES_WANTED && there != LIES_NOTHING)
        rc = keep_old(&at, i, e);
    close(at.dir);
    return rc;
}

/* The directories go even where the file's own is gone already: a crash may have come between two of them. */
static enum err_code clean_one(struct carrier *c, size_t i, struct err *e)
{
    const struct tx_entry *x = &c->tx->entry[i];
    enum err_code rc = clean_temp(c, i, e);

    if (rc || x->action != REWIND_DELETE || x->outcome != REWIND_DONE)
        return rc;
    return tx_prune(x, tx_knows_attrs(c->tx) ? &c->tx->dirs : NULL, e);
}

enum err_code tx_clean(struct tx *tx, struct err *e)
{
    struct carrier c = { .tx = tx };
    enum err_code rc = tx_old_open(tx, &c.old, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < tx->n && !rc; i++)
        if (!tx->entry[i].mode_only)
            rc = clean_one(&c, i, e);
    carrier_end(&c);
    if (!rc)
        tx_put_dir_times(tx);
    if (!rc)
        rc = disk_sync(c.old, tx->dir, e);
    close(c.old);
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
    if (!rc)
        rc = tx_clean(tx, e);
    return rc ? rc : tx_mark(tx, TX_DONE, e);
}
