#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/rewind/spot.h"

/* Carrying entries out. Every step looks at what lies where before it moves a name, so that it can be done again
 * after a crash. */

/* ---- restore ---- */

/* The names changed places; if what came out is not what the preview saw, they change back and the person's file
 * stays. */
static enum err_code check_exchanged(const struct spot *at, enum rewind_outcome *out, struct err *e)
{
    enum lies came_out;
    enum err_code rc = spot_came_out(at, &came_out, e);

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
    enum err_code rc = spot_lies(at, at->name, &here, e);

    if (!rc)
        rc = spot_lies(at, at->temp, &there, e);
    if (rc)
        return rc;
    if (there == LIES_SEEN) { /* exchanged before a crash, whatever was saved since */
        *out = REWIND_DONE;
        return ERR_OK;
    }
    if (here == LIES_WANTED && there != LIES_WANTED) { /* the same */
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
    } else if (spot_is_seen(at->x, tx_id_of(&st))) {
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
    enum err_code rc = spot_lies(at, at->name, &here, e);

    if (!rc)
        rc = spot_lies(at, at->temp, &there, e);
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
    enum err_code rc = spot_lies(at, at->name, &here, e);

    if (!rc)
        rc = spot_lies(at, at->temp, &there, e);
    if (rc)
        return rc;
    *out = there == LIES_SEEN ? REWIND_DONE : REWIND_CONFLICT;
    if (here != LIES_SEEN || there != LIES_NOTHING)
        return ERR_OK;
    if (renameat2(at->dir, at->name, at->dir, at->temp, RENAME_NOREPLACE))
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "take the file away");
    rc = spot_came_out(at, &there, e);
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

    if (rc)
        return tx_later(at.x, rc, e);
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

enum err_code tx_apply(struct tx *tx, struct err *e)
{
    struct carrier c = { .tx = tx };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n; i++) { /* one that has to wait does not hold up the others */
        struct err ignored;
        enum err_code one = carry_one(&c, i, &tx->entry[i].outcome, rc ? &ignored : e);

        rc = rc ? rc : one;
        tx_progress(tx, tx->n + i + 1);
    }
    carrier_end(&c);
    return rc ? rc : tx_sync_dirs(tx, e);
}

/* ---- cleaning up ---- */

/* Into the record, as it is now. */
static enum err_code copy_old(const struct spot *at, const char *name, struct err *e)
{
    struct span all;
    int fd = openat(at->dir, at->temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_sys(e, at->x->path, "open");
    enum err_code rc = span_of_file(fd, at->x->path, &all, e);

    if (!rc)
        rc = tx_old_put(at->c->tx, name, &all, e);
    close(fd);
    return rc;
}

/* A save takes a moment, and nobody opens the file by its temporary name. What is written until it is closed would be
 * lost with it, so the file stays where it is until then. */
static enum err_code wait_for_writer(const struct spot *at, enum lease_writer writer, struct err *e)
{
    const struct timespec pause = { .tv_nsec = 5000000 };

    for (int tries = 0; tries < 40 && writer == LEASE_WRITER; tries++) {
        nanosleep(&pause, NULL);
        writer = spot_writer(at);
    }
    return writer != LEASE_WRITER
               ? ERR_OK
               : err_set(e, ERR_IO, at->x->path,
                         "a program has the replaced file open; it stays beside it, as %s, until "
                         "it is closed",
                         at->temp);
}

/* On another file system a synced copy is in the record; but what was written since that copy is kept first. */
static enum err_code keep_far(const struct spot *at, const char *name, enum lease_writer writer,
                              struct err *e)
{
    struct file_id unused;
    enum lies what;
    enum err_code rc = wait_for_writer(at, writer, e);

    if (!rc)
        rc = spot_read(at, at->temp, &what, &unused, e);
    if (!rc && what == LIES_OTHER)
        rc = copy_old(at, name, e);
    if (!rc && unlinkat(at->dir, at->temp, 0))
        rc = err_sys(e, at->x->path, "remove a temporary file");
    return rc;
}

/* What was written to it may not be on the disk yet, and no copy has it. A disk that fails is no reason to stop here. */
static void sync_live(const struct spot *at)
{
    int fd = openat(at->dir, at->temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd >= 0) {
        (void)!disk_sync(fd, at->x->path, NULL);
        close(fd);
    }
}

/* What came out of its place. A program that has the old file open may still write into it, so the file itself moves
 * into the record where that is on the same file system. */
static enum err_code keep_old(const struct spot *at, size_t i, enum lies there,
                              enum lease_writer writer, struct err *e)
{
    bool done = at->x->outcome == REWIND_DONE && !at->x->unknown;
    bool live = done && (there == LIES_OTHER || writer != LEASE_NO_WRITER);
    char name[32];

    tx_old_name(at->c->tx, i, live, name);
    if (live)
        sync_live(at);
    if (renameat(at->dir, at->temp, at->c->old, name) == 0)
        return ERR_OK;
    if (errno != EXDEV)
        return err_sys(e, at->x->path, "keep the old file");
    tx_old_name(at->c->tx, i, done, name); /* if it turns out to have been written to */
    return keep_far(at, name, writer, e);
}

/* Asked who writes to it before it is looked at: without a writer it stays as it is then. */
static enum err_code clean_spot(const struct spot *at, size_t i, struct err *e)
{
    enum lease_writer writer = spot_writer(at);
    enum lies there;
    enum err_code rc = spot_lies(at, at->temp, &there, e);

    if (!rc && there == LIES_WANTED && unlinkat(at->dir, at->temp, 0))
        rc = err_sys(e, at->x->path, "remove a temporary file");
    else if (!rc && there != LIES_WANTED && there != LIES_NOTHING)
        rc = keep_old(at, i, there, writer, e);
    return rc ? rc : spot_release(at, e);
}

static enum err_code clean_temp(struct carrier *c, size_t i, struct err *e)
{
    struct spot at;
    enum err_code rc = spot_open(c, i, &at, e);

    if (rc && !tx_knows_root(c->tx)) /* an older reprise may have removed it already */
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    if (rc)
        return tx_later(at.x, rc, e);
    rc = clean_spot(&at, i, e);
    close(at.dir);
    return rc;
}

static enum err_code clean_temps(struct carrier *c, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->tx->n; i++) {
        struct err ignored;
        enum err_code one =
            c->tx->entry[i].mode_only ? ERR_OK : clean_temp(c, i, rc ? &ignored : e);

        rc = rc ? rc : one;
    }
    return rc;
}

static bool prunes(const struct tx_entry *x)
{
    return x->action == REWIND_DELETE && x->outcome == REWIND_DONE && !x->unknown && x->dirs;
}

static bool prunes_any(const struct tx *tx)
{
    size_t i = 0;

    while (i < tx->n && !prunes(&tx->entry[i]))
        i++;
    return i < tx->n;
}

static enum err_code sync_all(const struct carrier *c, struct err *e)
{
    enum err_code rc = disk_sync(c->old, c->tx->dir, e);

    return rc ? rc : tx_sync_dirs(c->tx, e);
}

/* Directories go after the last temporary file, and after that is written down: from then on one that is missing was
 * removed here, and was not moved away with something of ours in it. */
static enum err_code prune_all(const struct carrier *c, struct err *e)
{
    const struct tx *tx = c->tx;
    enum err_code rc = sync_all(c, e);

    if (!rc)
        rc = tx_mark_as(tx, "cleaned", e);
    for (size_t i = 0; i < tx->n && !rc; i++)
        if (prunes(&tx->entry[i]))
            rc = tx_prune(&tx->entry[i], tx_knows_attrs(tx) ? &tx->dirs : NULL, e);
    return rc;
}

enum err_code tx_clean(struct tx *tx, struct err *e)
{
    struct carrier c = { .tx = tx };
    enum err_code rc = tx_old_open(tx, &c.old, e);

    if (rc)
        return rc;
    if (!tx_has_mark(tx, "cleaned"))
        rc = clean_temps(&c, e);
    carrier_end(&c);
    if (!rc && prunes_any(tx))
        rc = prune_all(&c, e);
    if (!rc)
        tx_put_dir_times(tx);
    if (!rc)
        rc = sync_all(&c, e);
    close(c.old);
    return rc;
}

/* ---- giving up ---- */

/* What became of an entry, as far as it can be seen. */
static void judge_left(struct carrier *c, size_t i)
{
    struct tx_entry *x = &c->tx->entry[i];
    enum lies here = LIES_NOTHING, there = LIES_NOTHING;
    struct spot at;

    x->unknown = true;
    x->outcome = REWIND_DONE;
    if (x->mode_only || spot_open(c, i, &at, NULL))
        return;
    enum err_code rc = spot_lies(&at, at.name, &here, NULL);

    if (!rc)
        rc = spot_lies(&at, at.temp, &there, NULL);
    close(at.dir);
    if (rc || there == LIES_OTHER)
        return;
    bool done = x->action == REWIND_CREATE ? there == LIES_NOTHING && here == LIES_WANTED
                                           : there == LIES_SEEN;

    x->unknown = !done && here == LIES_WANTED;
    x->outcome = done || x->unknown ? REWIND_DONE : REWIND_CONFLICT;
}

static void judge_all(struct tx *tx)
{
    struct carrier c = { .tx = tx };

    for (size_t i = 0; i < tx->n; i++)
        if (tx->phase < TX_INTENT)
            tx->entry[i].outcome = REWIND_CONFLICT;
        else if (tx->phase < TX_COMMITTED)
            judge_left(&c, i);
    carrier_end(&c);
}

/* What a person saved and we took out by mistake is not moved any more. */
static bool is_others(struct carrier *c, size_t i)
{
    enum lies there = LIES_NOTHING;
    struct spot at;

    if (spot_open(c, i, &at, NULL))
        return false;
    enum err_code rc = spot_lies(&at, at.temp, &there, NULL);

    close(at.dir);
    return !rc && there == LIES_OTHER;
}

static enum err_code tell_left(const struct tx *tx, size_t i, tx_left_fn *left, void *arg,
                               struct err *e)
{
    const char *path = tx->entry[i].path;
    char temp[64], whole[TX_PATH_MAX];

    tx_temp_name(tx, i, temp);
    snprintf(whole, sizeof whole, "%.*s/%s", (int)(strrchr(path, '/') - path), path, temp);
    return left ? left(whole, arg, e) : ERR_OK;
}

static bool may_be_left(struct carrier *c, size_t i, bool staged_only)
{
    return staged_only ? tx_drop_temp(c->tx, i, NULL) != ERR_OK
                       : is_others(c, i) || clean_temp(c, i, NULL) != ERR_OK;
}

static enum err_code clean_left(struct tx *tx, bool staged_only, tx_left_fn *left, void *arg,
                                struct err *e)
{
    struct carrier c = { .tx = tx };
    enum err_code rc = tx_old_open(tx, &c.old, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < tx->n && !rc; i++) {
        struct tx_entry *x = &tx->entry[i];

        if (x->mode_only)
            continue;
        if (may_be_left(&c, i, staged_only))
            rc = tell_left(tx, i, left, arg, e);
        else if (prunes(x) || (x->action == REWIND_CREATE && x->outcome == REWIND_CONFLICT))
            /* A directory that stays is empty, and nothing more. */
            (void)!tx_prune(x, tx_knows_attrs(tx) && prunes(x) ? &tx->dirs : NULL, NULL);
    }
    carrier_end(&c);
    if (!rc)
        rc = sync_all(&c, e);
    close(c.old);
    return rc;
}

enum err_code tx_abandon(struct tx *tx, tx_left_fn *left, void *arg, struct err *e)
{
    bool staged_only = tx->phase < TX_INTENT;
    enum err_code rc = tx_mark_as(tx, "abandoned", e);

    if (!rc && tx->phase < TX_COMMITTED) {
        judge_all(tx);
        rc = tx_mark(tx, TX_COMMITTED, e);
    }
    if (!rc)
        rc = clean_left(tx, staged_only, left, arg, e);
    return rc ? rc : tx_mark(tx, TX_DONE, e);
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
