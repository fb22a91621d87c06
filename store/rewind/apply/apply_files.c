#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/disk.h"
#include "store/fs/kernel.h"
#include "store/rewind/apply/entry_files.h"

/* A person may save a file at any moment of a rewind, and a crash may come at any moment, too. So
 * no file is overwritten: the present file and the wanted one exchange names before the comparison.
 *
 *   INTENT -> exchange -> compare: keep, or exchange back -> COMMITTED -> temporary names -> DONE
 *
 * A step examines both names of an entry before it moves a file, so that it can be done again after
 * a crash. Until COMMITTED, only the temporary name proves that an entry was done, so no replaced
 * file leaves it. A file that the preview did not see gets its name back, and the entry is in
 * conflict. An entry that has to wait does not block the others. */

static bool is_not_empty(int error)
{
    return error == ENOTEMPTY || error == EEXIST || error == ENOTDIR;
}

/* ---- restore ---- */

/* The names were exchanged. If the replaced file is not the one that the preview saw, they are exchanged back and the
 * person's file stays. */
static enum err_code check_exchanged(const struct entry_files *at, enum rewind_outcome *out,
                                     struct err *e)
{
    enum entry_file came_out;
    bool gone;
    enum err_code rc = entry_files_identify_moved(at, &came_out, e);

    if (rc)
        return rc;
    if (came_out == ENTRY_FILE_SEEN) {
        *out = REWIND_DONE;
        return ERR_OK;
    }
    *out = REWIND_CONFLICT;
    /* If the file that was put in place was already removed, the entry's own file is in the record now. */
    rc = entry_names_exchange(at, &gone, e);
    return rc ? err_wrap(e, rc, "restore a changed file") : ERR_OK;
}

/* What is under the entry's own name, and under the temporary one. */
static enum err_code identify_both(const struct entry_files *at, enum entry_file *here,
                                   enum entry_file *there, struct err *e)
{
    TRY(entry_files_identify(at, at->dir, at->name, here, e));
    return entry_files_identify(at, at->temp_dir, at->temp, there, e);
}

static enum err_code apply_files_restore(const struct entry_files *at, enum rewind_outcome *out,
                                         struct err *e)
{
    enum entry_file here, there;
    bool gone;
    enum err_code rc = identify_both(at, &here, &there, e);

    if (rc)
        return rc;
    if (there == ENTRY_FILE_SEEN) { /* exchanged before a crash, even if it was saved since */
        *out = REWIND_DONE;
        return ERR_OK;
    }
    if (here == ENTRY_FILE_WANTED && there != ENTRY_FILE_WANTED) { /* the same */
        *out = there == ENTRY_FILE_OTHER ? REWIND_CONFLICT : REWIND_DONE;
        return there == ENTRY_FILE_OTHER ? check_exchanged(at, out, e) : ERR_OK;
    }
    *out = REWIND_CONFLICT;
    if (here != ENTRY_FILE_SEEN || there != ENTRY_FILE_WANTED)
        return ERR_OK;
    rc = entry_names_exchange(at, &gone, e);
    if (rc)
        return err_wrap(e, rc, "restore the old bytes");
    return gone ? ERR_OK : check_exchanged(at, out, e);
}

/* ---- mode, create, delete ---- */

static enum err_code apply_files_set_mode(const struct entry_files *at, enum rewind_outcome *out,
                                          struct err *e)
{
    int fd = openat(at->dir, at->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    enum err_code rc = ERR_OK;

    *out = REWIND_CONFLICT;
    if (fd < 0) /* gone, or a link or socket now */
        return errno == ENOENT || errno == ELOOP || errno == ENXIO
                   ? ERR_OK
                   : err_sys(e, at->x->path, "open");
    if (fstat(fd, &st)) {
        rc = err_sys(e, at->x->path, "look at");
    } else if (S_ISDIR(st.st_mode) ? S_ISDIR(at->x->mode)
                                   : entry_files_is_seen(at->x, rewind_tx_file_id(&st))) {
        if (fchmod(fd, at->x->mode & 07777))
            rc = err_sys(e, at->x->path, "set the mode");
        else
            rc = disk_sync(fd, at->x->path, e);
        *out = REWIND_DONE;
    }
    close(fd);
    return rc;
}

static enum err_code apply_files_create(struct entry_files *at, enum rewind_outcome *out,
                                        struct err *e)
{
    enum entry_file here, there;
    bool gone = false;

    TRY(identify_both(at, &here, &there, e));
    *out = here == ENTRY_FILE_WANTED && there == ENTRY_FILE_NONE ? REWIND_DONE : REWIND_CONFLICT;
    /* An entry before it made the directory, or was to make it. Those in between are made now. */
    if (there == ENTRY_FILE_WANTED && at->dir < 0) {
        int dir = -1;

        if (at->c->some_wait && rewind_tx_waits_for_dir(at->c->tx, at->x))
            return err_set(e, ERR_IO, at->x->path,
                           "restore the file: its directory is not made yet");
        enum err_code rc =
            entry_reach_make_dir(&at->c->reach, at->x, &at->c->tx->dirs, &dir, &at->name, e);

        gone = rc == ERR_UNSAFE;
        if (rc && !gone)
            return rc;
        if (!rc) {
            close_at(&at->dir);
            at->dir = dir;
        }
    }
    if (gone || (here != ENTRY_FILE_NONE && here != ENTRY_FILE_SEEN) || there != ENTRY_FILE_WANTED)
        return ERR_OK;
    /* It takes the place of a directory, whose contents are gone by now. */
    if (here == ENTRY_FILE_SEEN && unlinkat(at->dir, at->name, AT_REMOVEDIR) && errno != ENOENT)
        return is_not_empty(errno) ? ERR_OK : err_sys(e, at->x->path, "remove a directory");
    if (entry_names_place(at))
        return errno == EEXIST ? ERR_OK : err_sys(e, at->x->path, "restore the file");
    *out = REWIND_DONE;
    return ERR_OK;
}

/* At once, because an empty directory has nothing that a person could have changed. */
static enum err_code remove_entry_dir(const struct entry_files *at, enum rewind_outcome *out,
                                      struct err *e)
{
    enum entry_file here;

    TRY(entry_files_identify(at, at->dir, at->name, &here, e));
    *out = here == ENTRY_FILE_NONE ? REWIND_DONE : REWIND_CONFLICT;
    if (here != ENTRY_FILE_SEEN)
        return ERR_OK;
    if (unlinkat(at->dir, at->name, AT_REMOVEDIR) && errno != ENOENT)
        return is_not_empty(errno) || (errno == EIO && fs_is_overlay(at->dir))
                   ? ERR_OK
                   : err_sys(e, at->x->path, "remove a directory");
    *out = REWIND_DONE;
    return ERR_OK;
}

/* Renamed first, examined under the other name, and unlinked only after everything is decided. */
static enum err_code remove_entry_file(const struct entry_files *at, enum rewind_outcome *out,
                                       struct err *e)
{
    enum entry_file here, there;
    enum err_code rc = identify_both(at, &here, &there, e);

    if (rc)
        return rc;
    *out = there == ENTRY_FILE_SEEN ? REWIND_DONE : REWIND_CONFLICT;
    if (here != ENTRY_FILE_SEEN || there != ENTRY_FILE_NONE)
        return ERR_OK;
    /* EINVAL: an overlayfs whose upper layer cannot note that a lower file is gone. It never will, so the file stays. */
    if (disk_rename_new(at->dir, at->name, at->temp_dir, at->temp))
        return errno == ENOENT || errno == EINVAL ? ERR_OK
                                                  : err_sys(e, at->x->path, "move the file away");
    rc = entry_files_identify_moved(at, &there, e);
    *out = there == ENTRY_FILE_SEEN ? REWIND_DONE : REWIND_CONFLICT;
    /* EEXIST: a newer file was saved meanwhile and stays; this one goes into the record. */
    if (!rc && there != ENTRY_FILE_SEEN && entry_names_place(at) && errno != EEXIST)
        rc = err_sys(e, at->x->path, "restore a changed file");
    return rc;
}

static enum err_code carry_one(struct entry_files_context *c, size_t i, enum rewind_outcome *out,
                               struct err *e)
{
    struct entry_files at;
    enum err_code rc = entry_files_open(c, i, &at, e);

    if (rc)
        return rewind_tx_wait_error(at.x, rc, e);
    if (at.x->action == REWIND_DELETE && S_ISDIR(at.x->seen.mode))
        rc = remove_entry_dir(&at, out, e);
    else if (at.x->mode_only)
        rc = apply_files_set_mode(&at, out, e);
    else if (at.x->action == REWIND_RESTORE)
        rc = apply_files_restore(&at, out, e);
    else if (at.x->action == REWIND_CREATE)
        rc = apply_files_create(&at, out, e);
    else
        rc = remove_entry_file(&at, out, e);

    /* The directories that a removed file was in are removed up to the highest one that goes, since they are in the way
     * of others. Those above are removed at the end, because other entries may still be in them. */
    if (!rc && at.x->action == REWIND_DELETE && at.x->outcome == REWIND_DONE && at.x->up) {
        struct rewind_tx_entry x = *at.x;

        x.dirs = x.up;
        rc = rewind_tx_prune(&x, rewind_tx_has_attrs(c->tx) ? &c->tx->dirs : NULL, e);
    }
    entry_files_close(&at);
    return rc;
}

/* A directory that is made is open to its owner until everything is in it. */
static enum err_code set_dir_modes(struct entry_files_context *c, struct err *e)
{
    for (size_t i = 0; i < c->tx->n; i++) {
        const struct rewind_tx_entry *x = &c->tx->entry[i];
        struct entry_files at;

        if (!S_ISDIR(x->mode) || x->mode_only || x->action == REWIND_DELETE ||
            x->outcome != REWIND_DONE || (x->mode & 0700) == 0700)
            continue;
        TRY(entry_files_open(c, i, &at, e));
        enum rewind_outcome ignored;
        enum err_code rc = apply_files_set_mode(&at, &ignored, e);

        entry_files_close(&at);
        TRY(rc);
    }
    return ERR_OK;
}

/* Puts every entry in its place and sets the outcomes to done or conflict. ERR_IO: some could not be put in place;
 * continue later. */
static enum err_code rewind_tx_apply(struct rewind_tx *tx, struct err *e)
{
    struct entry_files_context c = { .tx = tx };
    AUTO_FREE struct rewind_tx_entry **order = malloc((tx->n + 1) * sizeof *order);
    enum err_code rc = ERR_OK;

    NEED(order);
    rewind_tx_sort(tx, order);
    for (size_t i = 0; i < tx->n; i++) { /* an entry that has to wait does not block the others */
        struct err ignored;
        enum err_code one =
            carry_one(&c, (size_t)(order[i] - tx->entry), &order[i]->outcome, rc ? &ignored : e);

        order[i]->waits = one != ERR_OK;
        c.some_wait |= order[i]->waits;
        rc = rc ? rc : one;
        rewind_tx_progress(tx, tx->n + i + 1);
    }
    if (!rc)
        rc = set_dir_modes(&c, e);
    entry_files_fini(&c);
    return rc ? rc : rewind_tx_sync_dirs(tx, e);
}

/* ---- cleaning up ---- */

/* Into the record, as it is now. */
static enum err_code copy_old(const struct entry_files *at, const char *name, struct err *e)
{
    char text[PATH_MAX];
    struct span all;
    size_t n;
    int fd =
        openat(at->temp_dir, at->temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0 && errno == ELOOP && source_read_link(at->temp_dir, at->temp, text, &n)) {
        all = span_of_bytes((struct slice){ text, n });
        return rewind_tx_old_write(at->c->tx, name, &all, e);
    }
    if (fd < 0)
        return err_sys(e, at->x->path, "open");
    enum err_code rc = span_of_file(fd, at->x->path, &all, e);

    if (!rc)
        rc = rewind_tx_old_write(at->c->tx, name, &all, e);
    close(fd);
    return rc;
}

/* A save takes a moment, and no program opens the file by its temporary name. Bytes that are written until the program
 * closes it would be lost, so the file is not moved before. */
static enum err_code wait_for_writer(const struct entry_files *at, enum lease_writer writer,
                                     struct err *e)
{
    const struct timespec pause = { .tv_nsec = 5000000 };

    for (int tries = 0; tries < 40 && writer == LEASE_WRITER; tries++) {
        nanosleep(&pause, NULL);
        writer = entry_files_writer(at);
    }
    return writer != LEASE_WRITER
               ? ERR_OK
               : err_set(e, ERR_IO, at->x->path,
                         "a program has the replaced file open; it stays beside it, as %s, until "
                         "it is closed",
                         at->temp);
}

/* Keeps the replaced file. A program that has it open may still write to it, so the file itself moves into the record
 * if that is on the same file system. */
static enum err_code keep_old(const struct entry_files *at, size_t i, enum entry_file there,
                              enum lease_writer writer, struct err *e)
{
    bool done = at->x->outcome == REWIND_DONE && !at->x->unknown;
    bool live = done && (there == ENTRY_FILE_OTHER || writer != LEASE_NO_WRITER);
    char name[32];

    rewind_tx_old_name(at->c->tx, i, live, name);
    if (live) {
        /* Bytes that were written to it may not be on the disk yet, and no copy has them. A
         * failing disk does not end the rewind here. */
        int fd = openat(at->temp_dir, at->temp,
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

        if (fd >= 0) {
            (void)!disk_sync(fd, at->x->path, NULL);
            close(fd);
        }
    }
    if (renameat(at->temp_dir, at->temp, at->c->old, name) == 0)
        return ERR_OK;
    if (errno != EXDEV)
        return err_sys(e, at->x->path, "keep the old file");
    rewind_tx_old_name(at->c->tx, i, done, name); /* if it turns out to have been written to */

    /* On another file system the record has a synced copy; bytes that were written since are
     * saved first. */
    struct file_id unused;
    enum entry_file what;

    TRY(wait_for_writer(at, writer, e));
    TRY(entry_files_read(at, at->temp_dir, at->temp, &what, &unused, e));
    if (what == ENTRY_FILE_OTHER)
        TRY(copy_old(at, name, e));
    if (unlinkat(at->temp_dir, at->temp, 0))
        return err_sys(e, at->x->path, "remove a temporary file");
    return ERR_OK;
}

static enum err_code clean_temp(struct entry_files_context *c, size_t i, struct err *e)
{
    struct entry_files at;
    enum err_code rc = entry_files_open(c, i, &at, e);

    if (rc && !rewind_tx_has_root(c->tx)) /* an older reprise may have removed it already */
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    if (rc)
        return rewind_tx_wait_error(at.x, rc, e);

    /* Writers are looked up before the file is examined, because without a writer it can no longer change. */
    enum lease_writer writer = entry_files_writer(&at);
    enum entry_file there;

    rc = entry_files_identify(&at, at.temp_dir, at.temp, &there, e);
    if (!rc && there == ENTRY_FILE_WANTED)
        rc = entry_files_remove_temp(&at, e);
    else if (!rc && there != ENTRY_FILE_NONE)
        rc = keep_old(&at, i, there, writer, e);
    if (!rc)
        rc = entry_files_release(&at, e);
    entry_files_close(&at);
    return rc;
}

static bool prunes(const struct rewind_tx_entry *x)
{
    return x->action == REWIND_DELETE && x->outcome == REWIND_DONE && !x->unknown && x->dirs;
}

static enum err_code sync_all(const struct entry_files_context *c, struct err *e)
{
    TRY(disk_sync(c->old, c->tx->dir, e));
    return rewind_tx_sync_dirs(c->tx, e);
}

/* Removes the files under temporary names. A file that was written to after it was exchanged is kept in the record. */
static enum err_code rewind_tx_clean(struct rewind_tx *tx, struct err *e)
{
    struct entry_files_context c = { .tx = tx };
    struct dirs *dirs = rewind_tx_has_attrs(tx) ? &tx->dirs : NULL;
    bool is_marked = false;

    TRY(rewind_tx_old_open(tx, &c.old, e));
    enum err_code rc = ERR_OK;

    /* An entry that has to wait does not block the others. The first failure counts. */
    if (!rewind_tx_has_mark(tx, "cleaned"))
        for (size_t i = 0; i < tx->n; i++) {
            struct err ignored;
            enum err_code one =
                tx->entry[i].mode_only ? ERR_OK : clean_temp(&c, i, rc ? &ignored : e);

            rc = rc ? rc : one;
        }
    entry_files_fini(&c);

    /* Directories are removed after the last temporary file, and after this is recorded. From then on, a missing
     * directory was removed by us and not moved away with one of our files in it. */
    for (size_t i = 0; i < tx->n && !rc; i++) {
        if (!prunes(&tx->entry[i]))
            continue;
        if (!is_marked)
            rc = sync_all(&c, e);
        if (!is_marked && !rc)
            rc = rewind_tx_write_mark(tx, "cleaned", e);
        is_marked = true;
        if (!rc)
            rc = rewind_tx_prune(&tx->entry[i], dirs, e);
    }
    if (!rc)
        rewind_tx_restore_dir_times(tx);
    if (!rc)
        rc = sync_all(&c, e);
    close(c.old);
    return rc;
}

/* ---- giving up ---- */

/* The outcome of an entry, if it can be determined. */
static void judge_left(struct entry_files_context *c, size_t i)
{
    struct rewind_tx_entry *x = &c->tx->entry[i];
    enum entry_file here = ENTRY_FILE_NONE, there = ENTRY_FILE_NONE;
    struct entry_files at;

    x->unknown = true;
    x->outcome = REWIND_DONE;
    if (x->mode_only || entry_files_open(c, i, &at, NULL))
        return;
    enum err_code rc = identify_both(&at, &here, &there, NULL);

    entry_files_close(&at);
    if (rc || there == ENTRY_FILE_OTHER)
        return;
    bool done = x->action == REWIND_CREATE ? there == ENTRY_FILE_NONE && here == ENTRY_FILE_WANTED
                : x->action == REWIND_DELETE && S_ISDIR(x->seen.mode) ? here == ENTRY_FILE_NONE
                                                                      : there == ENTRY_FILE_SEEN;

    x->unknown = !done && here == ENTRY_FILE_WANTED;
    x->outcome = done || x->unknown ? REWIND_DONE : REWIND_CONFLICT;
}

/* A file that a person saved, and that was moved by mistake, is not moved again. */
static bool apply_files_is_others(struct entry_files_context *c, size_t i)
{
    enum entry_file there = ENTRY_FILE_NONE;
    struct entry_files at;

    if (entry_files_open(c, i, &at, NULL))
        return false;
    enum err_code rc = entry_files_identify(&at, at.temp_dir, at.temp, &there, NULL);

    entry_files_close(&at);
    return !rc && there == ENTRY_FILE_OTHER;
}

static bool may_be_left(struct entry_files_context *c, size_t i, bool staged_only)
{
    return staged_only ? rewind_tx_remove_temp(c->tx, i, NULL) != ERR_OK
                       : apply_files_is_others(c, i) || clean_temp(c, i, NULL) != ERR_OK;
}

/* The person gives the rewind up, so its temporary files are also removed from another directory that has the project's
 * name, such as a copy of it: their names belong to this rewind, and their bytes are compared as usual. */
static bool clean_elsewhere(struct entry_files_context *c, size_t i, bool staged_only)
{
    struct rewind_tx_entry *x = &c->tx->entry[i];
    const struct root_id *id = x->root_id;
    struct reach reach = { .root = NULL };
    char temp[64];
    struct stat st;
    int dir;
    bool found = false;

    rewind_tx_temp_name(c->tx, i, temp);
    x->root_id = NULL;
    if (id && !entry_reach_temp_dir(&reach, x, &dir, NULL)) {
        found = fstatat(dir, temp, &st, AT_SYMLINK_NOFOLLOW) == 0;
        close(dir);
    }
    entry_reach_fini(&reach);
    entry_reach_fini(&c->reach);
    found = found && !may_be_left(c, i, staged_only);
    entry_reach_fini(&c->reach);
    x->root_id = id;
    return found;
}

static enum err_code clean_left(struct rewind_tx *tx, bool staged_only, rewind_tx_left_fn *left,
                                void *arg, struct err *e)
{
    struct entry_files_context c = { .tx = tx };
    enum err_code rc = rewind_tx_old_open(tx, &c.old, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < tx->n && !rc; i++) {
        struct rewind_tx_entry *x = &tx->entry[i];

        if (x->mode_only)
            continue;
        if (may_be_left(&c, i, staged_only)) {
            if (!clean_elsewhere(&c, i, staged_only)) {
                char path[PATH_MAX], temp[64], whole[TX_PATH_MAX];

                rewind_tx_temp_path(&tx->entry[i], path);
                rewind_tx_temp_name(tx, i, temp);
                snprintf(whole, sizeof whole, "%.*s/%s", (int)(strrchr(path, '/') - path), path,
                         temp);
                rc = left ? left(whole, arg, e) : ERR_OK;
            }
        } else if (prunes(x) || (x->action == REWIND_CREATE && x->outcome == REWIND_CONFLICT)) {
            /* At worst an empty directory remains. */
            (void)!rewind_tx_prune(x, rewind_tx_has_attrs(tx) && prunes(x) ? &tx->dirs : NULL,
                                   NULL);
        }
    }
    entry_files_fini(&c);
    if (!rc)
        rc = sync_all(&c, e);
    close(c.old);
    return rc;
}

enum err_code rewind_tx_abandon(struct rewind_tx *tx, rewind_tx_left_fn *left, void *arg,
                                struct err *e)
{
    bool staged_only = tx->phase < TX_INTENT;
    enum err_code rc = rewind_tx_write_mark(tx, "abandoned", e);

    if (!rc && tx->phase < TX_COMMITTED) {
        struct entry_files_context c = { .tx = tx };

        for (size_t i = 0; i < tx->n; i++)
            if (tx->phase < TX_INTENT)
                tx->entry[i].outcome = REWIND_CONFLICT;
            else if (tx->phase < TX_COMMITTED)
                judge_left(&c, i);
        entry_files_fini(&c);

        rc = rewind_tx_mark(tx, TX_COMMITTED, e);
    }
    if (!rc)
        rc = clean_left(tx, staged_only, left, arg, e);
    return rc ? rc : rewind_tx_mark(tx, TX_DONE, e);
}

enum err_code rewind_tx_finish(struct rewind_tx *tx, struct err *e)
{
    enum err_code rc = ERR_OK;

    if (tx->phase < TX_COMMITTED) {
        rc = rewind_tx_apply(tx, e);
        if (!rc)
            rc = rewind_tx_mark(tx, TX_COMMITTED, e);
    }
    if (!rc)
        rc = rewind_tx_clean(tx, e);
    return rc ? rc : rewind_tx_mark(tx, TX_DONE, e);
}
