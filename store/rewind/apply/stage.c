#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/kernel.h"
#include "store/rewind/apply/entry_files.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/source.h"
#include "store/rewind/record/record.h"

/* Files are staged in batches: all of them are written and submitted to the disk before the first one is waited for.
 * With one sync at a time, the disk would wait for us as well. */
enum { BATCH = 64 };

struct stager {
    struct rewind_tx *tx;
    struct reach reach;
    struct hasher hasher;
    int kept;           /* where the present bytes go */
    uint64_t probed[2]; /* devices on which names can be moved and exchanged */
    struct {
        int fd;
        size_t entry;
    } staged[BATCH];
    size_t n;
};

/* The entry that is being staged. */
struct work {
    struct rewind_tx_entry *x;
    const struct rewind_target *target;
    size_t i;
    int dir;      /* -1: it does not exist yet, or something else has its place */
    int temp_dir; /* The directory of the temporary name. */
    const char *name;
    int present; /* the present file; -1 if it is not open */
};

static void work_close(struct work *w)
{
    close_at(&w->present);
    if (w->temp_dir != w->dir)
        close_at(&w->temp_dir);
    close_at(&w->dir);
}

/* ---- the present bytes ---- */

/* Copies them into the record and checks, in the same pass, that they are still what the preview
 * saw. */
static enum err_code keep_present(struct stager *s, struct work *w, struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    struct span present;
    char text[PATH_MAX];
    size_t n;

    if (S_ISDIR(w->x->seen.mode)) {
        w->present = openat(w->dir, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return w->present < 0 ? rewind_tx_open_error(w->x, e) : ERR_OK;
    }
    if (S_ISLNK(w->x->seen.mode)) {
        if (!source_read_link(w->dir, w->name, text, &n))
            return errno == EINVAL
                       ? err_set(e, ERR_STALE, w->x->path, "it changed since the preview")
                       : rewind_tx_open_error(w->x, e);
        present = span_of_bytes((struct slice){ text, n });
    } else {
        /* A regular file, which must still be the one of the preview. */
        struct stat st;

        w->present =
            openat(w->dir, w->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (w->present < 0)
            return rewind_tx_open_error(w->x, e);
        if (fstat(w->present, &st) || !S_ISREG(st.st_mode) || st.st_nlink > 1 ||
            !rewind_tx_same_file(rewind_tx_file_id(&st), rewind_tx_seen_id(&w->x->seen)))
            return err_set(e, ERR_STALE, w->x->path, "it changed since the preview");
        present =
            (struct span){ .path = w->x->path, .fd = w->present, .n = st.st_size, .whole = true };
    }
    TRY(hasher_span(&s->hasher, &present, s->kept, s->tx->dir, sha256, e));
    source_mark_kind(w->x->seen.mode & S_IFMT, sha256);
    if (memcmp(sha256, w->x->seen.sha256, SHA256_BYTES) != 0)
        return err_set(e, ERR_STALE, w->x->path, "it changed since the preview");
    return ERR_OK;
}

static enum err_code check_absent(const struct work *w, struct err *e)
{
    struct stat st;

    if (w->dir < 0)
        return ERR_OK;
    if (fstatat(w->dir, w->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return err_set(e, ERR_STALE, w->x->path, "it appeared since the preview");
    return errno == ENOENT ? ERR_OK : err_sys(e, w->x->path, "look at");
}

/* ---- staged files ---- */

static enum err_code fill_temp(struct stager *s, const struct work *w, int fd,
                               const struct span *wanted, struct err *e)
{
    const struct rewind_tx_entry *x = w->x;
    uint8_t sha256[SHA256_BYTES];

    TRY(hasher_span(&s->hasher, wanted, fd, x->path, sha256, e));
    if (memcmp(sha256, x->wanted, SHA256_BYTES) != 0)
        return err_set(e, ERR_STALE, x->path, "its saved copy changed since the preview");

    /* The new file gets the attributes of the replaced one, and a restored file gets those that
     * it had. */
    AUTO_ARENA a = { 0 };
    const struct attrs *like = w->target->like;
    struct attrs present;

    if (x->action == REWIND_RESTORE && !(x->seen.mode & S_IFMT)) {
        TRY(fs_attrs_get(w->present, &a, x->path, &present, e));
        like = &present;
    }
    if (like)
        TRY(fs_attrs_apply(fd, like, x->path, e));

    /* After the owner: a change of owner clears set-id bits. */
    if (fchmod(fd, x->mode & 07777))
        return err_sys(e, x->path, "set the mode");
    file_at_set_mtime(fd, x->mtime_ns);
    return ERR_OK;
}

/* All written files are durable, and identified by inode and times from here on. */
static enum err_code stage_settle(struct stager *s, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t k = 0; k < s->n; k++) {
        struct rewind_tx_entry *x = &s->tx->entry[s->staged[k].entry];
        int fd = s->staged[k].fd;
        struct stat st;

        if (!rc)
            rc = disk_sync(fd, x->path, e);
        if (!rc && fstat(fd, &st))
            rc = err_sys(e, x->path, "examine the file");
        if (!rc)
            x->staged = rewind_tx_file_id(&st);
        if (close(fd) && !rc)
            rc = err_sys(e, x->path, "write");
    }
    s->n = 0;
    return rc;
}

static enum err_code stage_link(struct stager *s, const struct work *w, const char *temp,
                                const struct span *wanted, struct err *e)
{
    struct rewind_tx_entry *x = w->x;
    uint8_t sha256[SHA256_BYTES];
    char text[PATH_MAX];
    struct stat st;

    if (wanted->n <= 0 || wanted->n >= PATH_MAX)
        return err_set(e, ERR_STALE, x->path, "the text of its link has an impossible length");
    TRY(span_read(wanted, 0, text, (size_t)wanted->n, e));
    text[wanted->n] = '\0';
    TRY(hasher_bytes(&s->hasher, (struct slice){ text, (size_t)wanted->n }, sha256, e));
    source_mark_kind(S_IFLNK, sha256);
    if (memcmp(sha256, x->wanted, SHA256_BYTES) != 0 || strlen(text) != (size_t)wanted->n)
        return err_set(e, ERR_STALE, x->path, "its saved copy changed since the preview");
    if (symlinkat(text, w->temp_dir, temp))
        return err_sys(e, x->path, "create a link beside it");

    /* The owner and the time of a link that a restored one gets; those of a new one if nothing is
     * known. */
    const struct attrs *like = w->target->like;
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
                                       { .tv_sec = w->x->mtime_ns / 1000000000,
                                         .tv_nsec = w->x->mtime_ns % 1000000000 } };

    if (like && geteuid() == 0)
        (void)!fchownat(w->temp_dir, temp, like->uid, like->gid, AT_SYMLINK_NOFOLLOW);
    if (w->x->mtime_ns != MTIME_NOW)
        (void)!utimensat(w->temp_dir, temp, times, AT_SYMLINK_NOFOLLOW);

    if (fstatat(w->temp_dir, temp, &st, AT_SYMLINK_NOFOLLOW))
        return err_sys(e, x->path, "examine the link");
    x->staged = rewind_tx_file_id(&st);
    return ERR_OK;
}

/* It is open to its owner until everything is in it. */
static enum err_code stage_dir(const struct work *w, const char *temp, struct err *e)
{
    const struct rewind_tx_entry *x = w->x;

    if (mkdirat(w->temp_dir, temp, 0700))
        return err_sys(e, x->path, "make a directory beside it");
    AUTO_FD fd = openat(w->temp_dir, temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return err_sys(e, x->path, "open directory");
    if (w->target->like)
        TRY(fs_attrs_apply(fd, w->target->like, x->path, e));
    if (fchmod(fd, (x->mode & 07777) | 0700))
        return err_sys(e, x->path, "set the mode");
    file_at_set_mtime(fd, x->mtime_ns);
    return disk_sync(fd, x->path, e);
}

static enum err_code stage_temp(struct stager *s, const struct work *w, const struct span *wanted,
                                struct err *e)
{
    char temp[64];

    rewind_tx_temp_name(s->tx, w->i, temp);
    if (S_ISLNK(w->x->mode))
        return stage_link(s, w, temp, wanted, e);
    if (S_ISDIR(w->x->mode))
        return stage_dir(w, temp, e);
    AUTO_FD fd =
        openat(w->temp_dir, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, w->x->path, "create a file beside it");
    TRY(fill_temp(s, w, fd, wanted, e));
    /* The disk may begin to write; failures of this hint do not matter. */
    disk_start_sync(fd, 0, 0);
    s->staged[s->n].fd = fd;
    s->staged[s->n++].entry = w->i;
    fd = -1;
    return s->n < BATCH ? ERR_OK : stage_settle(s, e);
}

static int move(const struct work *w, const char *from, const char *to)
{
    return w->x->action == REWIND_RESTORE ? fs_exchange(w->temp_dir, from, to)
                                          : fs_rename_new(w->temp_dir, from, w->temp_dir, to);
}

/* Exchanges two files of our own, or renames one, as the entry will require. The fallback (entry_names.c) needs files
 * with two names. */
static enum err_code try_names(const struct work *w, const char *temp, const char *probe,
                               struct err *e)
{
    char other[96];
    bool exchange = w->x->action == REWIND_RESTORE;

    snprintf(other, sizeof other, "%s2", probe);
    const char *to = exchange ? temp : other;

    if (move(w, probe, to) == 0)
        return move(w, to, probe) ? err_sys(e, w->x->path, "restore the names of files of ours")
                                  : ERR_OK;
    if (!fs_is_lacking(errno) || linkat(w->temp_dir, probe, w->temp_dir, other, 0))
        return fs_is_lacking(errno) || errno == EPERM || errno == EMLINK
                   ? err_set(e, ERR_UNSUPPORTED, w->x->path,
                             "this file system can neither exchange names nor give a file two of "
                             "them; try --into")
                   : err_sys(e, w->x->path, "exchange names");
    return unlinkat(w->temp_dir, other, 0) ? err_sys(e, w->x->path, "remove a file of ours")
                                           : ERR_OK;
}

/* Checks that this file system can do what follows INTENT, before anything is decided. */
static enum err_code probe_names(struct stager *s, const struct work *w, struct err *e)
{
    uint64_t *known = &s->probed[w->x->action == REWIND_RESTORE];
    char temp[64], probe[80];
    struct stat st;

    if (fstat(w->temp_dir, &st))
        return err_sys(e, w->x->path, "examine its directory");
    if (*known == st.st_dev)
        return ERR_OK;
    *known = st.st_dev;
    rewind_tx_temp_name(s->tx, w->i, temp);
    snprintf(probe, sizeof probe, "%s.probe", temp);
    int fd = openat(w->temp_dir, probe, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, w->x->path, "create a file beside it");
    close(fd);
    enum err_code rc = try_names(w, temp, probe, e);

    if (unlinkat(w->temp_dir, probe, 0) && !rc)
        rc = err_sys(e, w->x->path, "remove a file of ours");
    return rc;
}

static enum err_code stage_wanted(struct stager *s, const struct work *w, struct err *e)
{
    CLEANUP(span_close) struct span wanted = { .fd = -1 };
    char from[TX_PATH_MAX], temp[64];

    /* The file itself is restored; it keeps its name in the record until everything is done. If it cannot have two
     * names, or not in this place, a copy is used. */
    if (w->x->adopts) {
        rewind_tx_adopted_path(s->tx, w->x, from);
        rewind_tx_temp_name(s->tx, w->i, temp);
        if (linkat(AT_FDCWD, from, w->temp_dir, temp, 0) == 0)
            return ERR_OK;
    }
    TRY(source_open(&w->target->source, &wanted, e));
    return stage_temp(s, w, &wanted, e);
}

/* ---- all entries ---- */

/* Opens the directory of the entry, which is created if it is missing, unless another entry makes it later; and that of
 * the temporary name. */
static enum err_code reach_dirs(struct stager *s, struct work *w, struct err *e)
{
    const bool create = w->x->action == REWIND_CREATE;
    struct stat a, b;

    if (w->x->up && create)
        TRY(entry_reach_make_temp_dir(&s->reach, w->x, &s->tx->dirs, &w->temp_dir, e));
    else if (w->x->up)
        TRY(entry_reach_temp_dir(&s->reach, w->x, &w->temp_dir, e));
    enum err_code rc = create && !w->x->up ? entry_reach_make_dir(&s->reach, w->x, &s->tx->dirs,
                                                                  &w->dir, &w->name, e)
                                           : entry_reach_dir(&s->reach, w->x, &w->dir, &w->name, e);

    if (!w->x->up)
        w->temp_dir = w->dir;
    else if (create && (rc == ERR_NOT_FOUND || rc == ERR_UNSAFE))
        rc = ERR_OK;
    else if (!rc && (fstat(w->dir, &a) || fstat(w->temp_dir, &b)))
        rc = err_sys(e, w->x->path, "examine its directory");
    else if (!rc && a.st_dev != b.st_dev)
        rc = err_set(e, ERR_UNSUPPORTED, w->x->path,
                     "its directory is on another file system, and cannot be replaced");
    return rc;
}

static enum err_code stage_one(struct stager *s, size_t i, const struct rewind_target *target,
                               struct err *e)
{
    CLEANUP(work_close)
    struct work w = {
        .x = &s->tx->entry[i], .target = target, .i = i, .dir = -1, .temp_dir = -1, .present = -1
    };
    int sys;

    TRY(reach_dirs(s, &w, e));
    s->tx->begun = i + 1;
    TRY(w.x->action == REWIND_CREATE && !w.x->seen.exists ? check_absent(&w, e)
                                                          : keep_present(s, &w, e));

    /* Permissions that no temporary file tests may have changed since the preview. A refusal after INTENT would leave
     * the rewind unfinished for ever. */
    const struct rewind_step step = { .dir = w.dir < 0 ? w.temp_dir : w.dir,
                                      .present = w.present,
                                      .action = w.x->action,
                                      .mode_only = w.x->mode_only };
    const char *why = rewind_forbidden(&step, &sys);

    if (why) {
        errno = sys;
        return err_sys(e, w.x->path, why);
    }
    if (w.x->mode_only)
        return ERR_OK;
    if (w.x->action != REWIND_DELETE)
        TRY(stage_wanted(s, &w, e));
    return probe_names(s, &w, e);
}

enum err_code rewind_tx_stage(struct rewind_tx *tx, const struct rewind_preview *p, struct err *e)
{
    struct stager s = { .tx = tx, .probed = { UINT64_MAX, UINT64_MAX } };
    struct err ignored;

    TRY(rewind_tx_backup_open(tx, &s.kept, e));
    enum err_code rc = ERR_OK;
    size_t i = 0;

    for (size_t k = 0; k < p->n && !rc; k++) {
        if (rewind_tx_includes(&p->entry[k]))
            rc = stage_one(&s, i++, p->entry[k].target, e);
        rewind_tx_progress(tx, i);
    }

    /* Files that were begun are settled even if another one could not be staged. The first failure counts. */
    enum err_code settled = stage_settle(&s, rc ? &ignored : e);

    if (!rc)
        rc = settled;
    entry_reach_fini(&s.reach);
    hasher_fini(&s.hasher);
    enum err_code kept = rewind_tx_backup_close(tx, s.kept, rc ? &ignored : e);

    if (!rc)
        rc = kept;
    return rc ? rc : rewind_tx_sync_dirs(tx, e);
}

/* ---- taking it away again ---- */

/* Returns true if it failed. The file is looked up first, because a read-only file system fails before it reports a
 * missing one. */
static bool remove_ours(int dir, const char *name)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno != ENOENT;
    return unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) && errno != ENOENT;
}

/* Returns true if its directory was to be created here and the one above it always existed. */
static bool was_to_be_made(int root, const struct rewind_tx_entry *x)
{
    char path[PATH_MAX];
    const char *name;
    int dir;

    if (x->up && x->dirs <= x->up)
        return false;
    snprintf(path, sizeof path, "%s", x->path);
    for (unsigned i = 0; i < x->dirs; i++)
        *strrchr(path, '/') = '\0';
    if (x->action != REWIND_CREATE || !x->dirs ||
        beneath_parent(root, x->root, path, &dir, &name, NULL))
        return false;
    close(dir);
    return true;
}

/* *dir is -1 if the directory does not exist, and so no file of ours. */
static enum err_code open_temp_dir(const struct rewind_tx *tx, const struct rewind_tx_entry *x,
                                   int *dir, struct err *e)
{
    char path[PATH_MAX];
    const char *name;
    int root;
    enum err_code rc = beneath_same_root(x->root, x->root_id, &root, e);

    rewind_tx_temp_path(x, path);
    *dir = -1;
    if (!rc) {
        rc = beneath_parent(root, x->root, path, dir, &name, e);
        if (rc == ERR_NOT_FOUND && was_to_be_made(root, x))
            rc = ERR_OK;
        close(root);
    }
    if (rc && !rewind_tx_has_root(tx)) /* an older reprise may have removed it already */
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    return rc ? rewind_tx_wait_error(x, rc, e) : ERR_OK;
}

enum err_code rewind_tx_remove_temp(const struct rewind_tx *tx, size_t i, struct err *e)
{
    const struct rewind_tx_entry *x = &tx->entry[i];
    char temp[64], probe[2][80];
    int dir;
    enum err_code rc = open_temp_dir(tx, x, &dir, e);

    if (rc || dir < 0)
        return rc;
    rewind_tx_temp_name(tx, i, temp);
    snprintf(probe[0], sizeof probe[0], "%s.probe", temp);
    snprintf(probe[1], sizeof probe[1], "%s.probe2", temp);
    if (remove_ours(dir, temp) || remove_ours(dir, probe[0]) || remove_ours(dir, probe[1]))
        rc = err_sys(e, x->path, "remove a temporary file");
    close(dir);
    return rc;
}

/* An entry that has to wait does not block the others. */
static enum err_code drop_temps(const struct rewind_tx *tx, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n; i++) {
        const struct rewind_tx_entry *x = &tx->entry[i];
        struct err ignored;
        enum err_code one = ERR_OK;

        if (!x->mode_only && i < tx->begun)
            one = rewind_tx_remove_temp(tx, i, rc ? &ignored : e);
        if (!one && i <= tx->begun && x->action == REWIND_CREATE && (!x->up || x->dirs > x->up))
            one = rewind_tx_prune(x, NULL, rc ? &ignored : e);
        rc = rc ? rc : one;
    }
    return rc;
}

enum err_code rewind_tx_roll_back(struct rewind_tx *tx, enum rollback *how, struct err *e)
{
    char path[TX_PATH_MAX];

    /* A mark that could not be synced may still exist, so it is removed before anything that depends on it. */
    rewind_tx_path(tx->dir, "intent", path);
    if (unlink(path) == 0)
        TRY(disk_sync_dir(tx->dir, e));
    else if (errno != ENOENT)
        return err_sys(e, path, "revoke the decision");
    TRY(rewind_tx_conversation_undo(tx, how, e));
    TRY(drop_temps(tx, e));
    TRY(rewind_tx_sync_dirs(tx, e));
    if (*how == ROLLBACK_RETRY)
        return ERR_OK;
    if (*how != ROLLBACK_CONFLICT)
        return copy_remove(tx->dir, e);

    /* The conversation is left as it is, and only this record has its old end, so the record is marked as done. Each of
     * these steps may be repeated. */
    tx->n = 0;
    tx->cut_short = true;
    TRY(rewind_tx_write_plan(tx, e));
    for (enum rewind_tx_phase p = TX_INTENT; p <= TX_DONE; p++)
        TRY(rewind_tx_mark(tx, p, e));
    return ERR_OK;
}
