#include "store/journal/step.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/kernel.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/journal/contents.h"
#include "store/journal/step_internal.h"
#include "store/log/append.h"
#include "store/log/lease.h"

/* A crash may interrupt a step anywhere, so every kind has the same functions, in this order:
 *
 *   step_prepare -> the record is written -> step_do -> step_sync -> the change is committed
 *   after a crash: step_is_done -> step_do of the inverse, if it was done -> step_repair
 *
 * Whether a step was done must follow from the disk, since the record may be older than the step.
 * An inverse is a step like any other, so no kind has code of its own that undoes it. A document is
 * replaced as a whole and never written in place, and a ref is moved by git's own compare-and-swap.
 * PUT, MOVE and REF are done here; the steps on logs and on databases are in other files. */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The file that a PUT finds at its path. `after`: it is compared with what the step writes. */
static enum err_code put_matches(const struct step *s, bool after, bool *same, int64_t *mtime,
                                 struct err *e)
{
    const struct slice want = after ? s->bytes : s->old;
    const struct step_part *part = after ? &s->bytes_part : &s->old_part;
    const bool want_absent = after ? s->absent : s->old_absent;
    struct stat st;
    AUTO_FD fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    *same = false;
    if (fd < 0 && errno == ENOENT) {
        *same = want_absent;
        *mtime = MTIME_NOW;
        return ERR_OK;
    }
    if (fd < 0)
        return err_sys(e, s->path, "open");
    if (fstat(fd, &st))
        return err_sys(e, s->path, "examine the file");
    *mtime = file_at_mtime(&st);
    if (want_absent || !S_ISREG(st.st_mode) ||
        st.st_size != (part->path ? part->n : (int64_t)want.n))
        return ERR_OK;
    return part->path ? step_part_is_in(part, fd, s->path, same, e)
                      : file_at_holds(fd, want, 0, same, s->path, e);
}

/* The same of a file that was at its path, and has another name now. */
static enum err_code put_expects(const char *path, void *arg, bool *is, struct err *e)
{
    const struct step *s = arg;
    struct step there = *s;
    int64_t mtime;

    there.path = path;
    return put_matches(&there, false, is, &mtime, e);
}

/* The new document belongs to whom the old one belonged, with its access lists and labels: an administrator's undo must
 * not take a person's settings away. */
static enum err_code put_keep_owner(const struct step *s, int fd, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_FD old = open(s->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct attrs x;

    if (old < 0)
        return err_sys(e, s->path, "open");
    TRY(fs_attrs_get(old, &a, s->path, &x, e));
    return fs_attrs_apply_portable(fd, &x, s->path, e);
}

static enum err_code put_write(struct step *s, const char *dir, struct err *e)
{
    struct disk_new f;

    TRY(disk_new_open(dir, 0600, &f, e));
    enum err_code rc = s->bytes_part.path ? step_part_write(&s->bytes_part, f.fd, s->path, e)
                                          : disk_write(f.fd, s->bytes, NULL, s->path, e);

    if (!rc && !s->old_absent)
        rc = put_keep_owner(s, f.fd, e);
    if (!rc && s->mode && fchmod(f.fd, s->mode))
        rc = err_sys(e, s->path, "set the mode");
    if (!rc && !file_at_set_mtime(f.fd, s->mtime_ns))
        rc = err_sys(e, s->path, "set the time");
    if (rc) {
        disk_new_discard(&f);
        return rc;
    }
    return s->old_absent ? disk_new_publish(&f, base_name(s->path), e)
                         : disk_new_replace_expected(&f, base_name(s->path), put_expects, s, e);
}

static enum err_code put_dir(const struct step *s, char dir[PATH_MAX], struct err *e)
{
    return path_parent(s->path, dir) ? ERR_OK
                                     : err_set(e, ERR_UNSAFE, s->path, "the name is too long");
}

static enum err_code put_do(struct step *s, struct err *e)
{
    char dir[PATH_MAX];
    bool same;

    TRY(put_dir(s, dir, e));
    TRY(put_matches(s, false, &same, &s->old_mtime_ns, e));
    if (!same)
        return err_set(e, ERR_STALE, s->path, "write: another file is there now");

    if (s->absent) {
        if (!s->old_absent)
            TRY(disk_remove_expected(dir, base_name(s->path), put_expects, s, e));
        if (!s->with_dir)
            return disk_sync_dir(dir, e);
        if (rmdir(dir) == 0)
            return disk_sync_parent(dir, e);
        /* A directory with files of another program stays. */
        return errno == ENOTEMPTY || errno == EEXIST ? disk_sync_dir(dir, e)
                                                     : err_sys(e, dir, "remove directory");
    }
    bool made = s->with_dir && mkdir(dir, 0700) == 0;

    if (s->with_dir && !made && errno != EEXIST)
        return err_sys(e, dir, "make directory");
    enum err_code rc = put_write(s, dir, e);

    if (!rc && made)
        rc = disk_sync_parent(dir, e);
    else if (rc && made && rmdir(dir))
        err_wrap(e, rc, "and an empty directory remains");
    return rc;
}

/* A read-only file system fails before it checks the directory, so this determines whether there is an empty one. */
static bool step_is_empty_dir(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *x;
    size_t n = 0;

    if (!d)
        return errno != ENOENT;
    while (errno = 0, (x = readdir(d)))
        n += strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0;
    bool empty = n == 0 || errno;

    closedir(d);
    return empty;
}

/* Durably removes temporary names, and an empty directory of ours that is to be removed, because nothing would remove
 * them once the record is gone. */
static enum err_code put_tidy(const struct step *s, bool dir_goes, struct err *e)
{
    char dir[PATH_MAX];
    TRY(put_dir(s, dir, e));
    if (!disk_new_sweep(dir))
        return err_sys(e, dir, "remove temporary files");
    if (s->with_dir && dir_goes) {
        int sys = rmdir(dir) ? errno : 0;

        if (sys == 0 || sys == ENOENT)
            return disk_sync_parent(dir, e);
        if (sys != ENOTEMPTY && sys != EEXIST && (sys != EROFS || step_is_empty_dir(dir))) {
            errno = sys;
            return err_sys(e, dir, "remove directory");
        }
    }
    enum err_code rc = disk_sync_dir(dir, e);

    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

static enum err_code put_clean_up(const struct step *s, struct err *e)
{
    char dir[PATH_MAX];
    enum err_code rc = put_tidy(s, s->absent, e);

    if (!rc)
        rc = put_dir(s, dir, e);
    return rc || !s->with_dir ? rc : disk_sync_parent(dir, e);
}

/* Moving a git ref: `path` is the repository's git directory, `to` the ref's name; bytes and old are commits in hex.
 * The move is git's own compare-and-swap, whatever form its refs are stored in. A commit must exist before a ref
 * names it. */

static enum err_code parse_commit_id(const struct step *s, struct slice hex, git_oid *out,
                                     struct err *e)
{
    TRY(gitlib_ready(e));
    return hex.n == GIT_OID_HEXSZ && git_oid_fromstrn(out, hex.p, hex.n) == 0
               ? ERR_OK
               : err_set(e, ERR_FORMAT, s->to, "move a ref: not the id of a commit");
}

/* Another program may have moved the whole repository away; its refs are then not in their old state. libgit2 reports
 * what it cannot examine as missing, so a missing repository is believed only when it is reported twice. */
static enum err_code open_repo(const struct step *s, git_repository **out, struct err *e)
{
    enum err_code rc = repo_open(s->path, out, e);

    if (rc == ERR_NOT_FOUND)
        rc = repo_open(s->path, out, e);
    return rc == ERR_NOT_FOUND
               ? err_set(e, ERR_STALE, s->path, "move a ref: the repository is gone")
               : rc;
}

static enum err_code ref_do(const struct step *s, struct err *e)
{
    CLEANUP(repo_close_at) git_repository *repo = NULL;
    git_oid from, to;

    if (!s->old_absent)
        TRY(parse_commit_id(s, s->old, &from, e));
    if (!s->absent)
        TRY(parse_commit_id(s, s->bytes, &to, e));
    TRY(open_repo(s, &repo, e));
    if (!s->absent) {
        /* Git may have collected the commit since, and a ref to it would be broken. */
        git_commit *c = NULL;
        int answer = git_commit_lookup(&c, repo, &to);

        git_commit_free(c);
        if (answer == GIT_ENOTFOUND)
            return err_set(e, ERR_STALE, s->to, "move a ref: its commit is gone");
        if (answer)
            return repo_error(e, answer, s->to, "move a ref: read its commit");
    }
    TRY(repo_ref_move(repo, s->to, s->old_absent ? NULL : &from, s->absent ? NULL : &to, "reprise",
                      e));
    return repo_ref_sync(repo, s->to, e);
}

static enum err_code ref_is_done(const struct step *s, bool *done, struct err *e)
{
    CLEANUP(repo_close_at) git_repository *repo = NULL;
    git_oid now, to;
    bool there;

    *done = false;
    if (!s->absent)
        TRY(parse_commit_id(s, s->bytes, &to, e));
    enum err_code rc = open_repo(s, &repo, e);

    if (rc)
        return rc == ERR_STALE ? ERR_OK : rc;
    TRY(repo_ref(repo, s->to, &there, &now, e));
    *done = s->absent ? !there : there && git_oid_equal(&now, &to);
    return ERR_OK;
}

/* git moves a ref entirely or not at all. A ref with neither the old nor the new value was moved by another program,
 * perhaps after us. */
static enum err_code ref_repair(const struct step *s, struct err *e)
{
    CLEANUP(repo_close_at) git_repository *repo = NULL;
    git_oid now, from;
    bool there;

    if (!s->old_absent)
        TRY(parse_commit_id(s, s->old, &from, e));
    enum err_code rc = open_repo(s, &repo, e);

    if (rc)
        return rc == ERR_STALE ? ERR_OK : rc;
    TRY(repo_ref(repo, s->to, &there, &now, e));
    if (s->old_absent ? there : !there || !git_oid_equal(&now, &from))
        return err_set(e, ERR_STALE, s->to, "undo: the ref was moved since");
    return ERR_OK;
}

static enum err_code ref_clean_up(const struct step *s, struct err *e)
{
    CLEANUP(repo_close_at) git_repository *repo = NULL;
    enum err_code rc = open_repo(s, &repo, e);

    if (rc)
        return rc == ERR_STALE ? ERR_OK : rc;
    return repo_ref_sync(repo, s->to, e);
}

/* Other kinds of MOVE take a session along as it is. The move itself reports a missing source. */
static enum err_code check_as_made(const struct step *s, struct err *e)
{
    struct disk_usage now = { 0 };

    if (!s->made)
        return ERR_OK;
    TRY(disk_usage_add(s->path, &now, e));
    return now.files == 0 || now.bytes == s->offset
               ? ERR_OK
               : err_set(
                     e, ERR_STALE, s->path,
                     "undo: the session has continued since; reprise delete moves it to the trash");
}

/* The folder of the destination and the one above it are made if they are not there: a session that moves may be the
 * first of its project, and an undo may find that the folder it left empty has been removed since. */
static enum err_code move_do(const struct step *s, struct err *e)
{
    char dir[PATH_MAX], above[PATH_MAX];
    struct stat st;

    TRY(check_as_made(s, e));
    enum err_code rc = fs_move(s->path, s->to, e);

    if (rc != ERR_NOT_FOUND || lstat(s->path, &st) != 0 || !path_parent(s->to, dir) ||
        !path_parent(dir, above))
        return rc;
    const bool made_above = mkdir(above, 0700) == 0, made = mkdir(dir, 0700) == 0;

    if (!made && errno != EEXIST)
        return err_sys(e, dir, "make directory");
    if (made)
        rc = disk_sync_parent(dir, e);
    if (made && made_above && !rc)
        rc = disk_sync_parent(above, e);
    if (made && !rc)
        rc = fs_move(s->path, s->to, e);
    if (rc && made)
        rmdir(dir);
    if (rc && made_above)
        rmdir(above);
    return rc;
}

static enum err_code do_alone(struct step *s, struct arena *a, struct err *e)
{
    switch (s->kind) {
    case STEP_APPEND: return step_append_do(s, a, e);
    case STEP_TAIL: return step_tail_do(s, a, e);
    case STEP_EDIT: return step_edit_do(s, e);
    case STEP_PUT: return put_do(s, e);
    case STEP_MOVE: return move_do(s, e);
    case STEP_REF: return ref_do(s, e);
    case STEP_ROWS: return step_rows_do(s, e);
    case STEP_KINDS: break;
    }
    return err_set(e, ERR_FORMAT, s->path, "a step of an unknown kind");
}

enum err_code step_do(struct step *s, struct arena *a, struct err *e)
{
    int lock = -1;
    enum err_code rc = s->lock ? log_lock_acquire(s->lock, &lock, e) : ERR_OK;

    if (!rc)
        rc = do_alone(s, a, e);
    log_lock_release(lock);
    return rc;
}

static bool holds_other(const struct step *s)
{
    struct stat st;
    bool same = true;
    AUTO_FD fd = -1;

    if (file_at_open(s->path, &fd, &st, NULL) ||
        file_at_holds(fd, s->old, s->offset, &same, s->path, NULL))
        return false;
    return !same || (s->kind == STEP_TAIL && st.st_size != s->offset + (int64_t)s->old.n);
}

bool step_is_stale(const struct step *s)
{
    struct stat st;
    bool same = true;
    int64_t mtime;

    switch (s->kind) {
    case STEP_TAIL: return s->opposite.n == 0 && holds_other(s);
    case STEP_EDIT: return holds_other(s);
    case STEP_PUT: return !put_matches(s, false, &same, &mtime, NULL) && !same;
    case STEP_MOVE:
        return (lstat(s->path, &st) == 0 && lstat(s->to, &st) == 0) ||
               check_as_made(s, NULL) == ERR_STALE;
    case STEP_ROWS: return step_rows_is_stale(s);
    default: return false;
    }
}

static enum err_code check_writable(const char *path, int how, struct err *e)
{
    AUTO_FD fd = -1;

    if (faccessat(AT_FDCWD, path, how, AT_EACCESS))
        return err_sys(e, path, "write to");
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fs_is_fixed(fd)) {
        errno = EPERM;
        return err_sys(e, path, "write to");
    }
    return ERR_OK;
}

/* The directory of a name that is made or removed. One that is missing is made in the first one above that is not. */
static enum err_code check_dir_writable(const char *path, struct err *e)
{
    char dir[PATH_MAX], above[PATH_MAX];
    struct stat st;

    if (!path_parent(path, dir))
        return err_set(e, ERR_UNSAFE, path, "the path is too long");
    while (stat(dir, &st) && errno == ENOENT && path_parent(dir, above))
        memcpy(dir, above, sizeof dir);
    return check_writable(dir, W_OK | X_OK, e);
}

enum err_code step_check_allowed(const struct step *s, struct err *e)
{
    struct stat st;

    switch (s->kind) {
    case STEP_APPEND:
    case STEP_TAIL:
    case STEP_EDIT: return check_writable(s->path, W_OK, e);
    case STEP_PUT: return check_dir_writable(s->path, e);
    case STEP_MOVE:
        TRY(check_dir_writable(s->path, e));
        TRY(check_dir_writable(s->to, e));
        /* A directory that gets another parent is written to. */
        if (lstat(s->path, &st) == 0 && S_ISDIR(st.st_mode))
            return check_writable(s->path, W_OK | X_OK, e);
        return ERR_OK;
    default: return ERR_OK;
    }
}

enum err_code step_is_done(struct step *s, bool *done, struct err *e)
{
    int64_t mtime;

    switch (s->kind) {
    case STEP_APPEND: return step_append_is_done(s, done, e);
    case STEP_TAIL: return step_tail_is_done(s, done, e);
    case STEP_EDIT: return step_bytes_is_done(s, done, e);
    case STEP_PUT: return put_matches(s, true, done, &mtime, e);
    case STEP_MOVE: return fs_move_is_done(s->path, s->to, done, e);
    case STEP_REF: return ref_is_done(s, done, e);
    case STEP_ROWS: return step_rows_is_done(s, done, e);
    case STEP_KINDS: break;
    }
    return err_set(e, ERR_FORMAT, s->path, "a step of an unknown kind");
}

enum err_code step_repair(const struct step *s, struct err *e)
{
    switch (s->kind) {
    case STEP_APPEND: return step_append_repair(s, e);
    case STEP_TAIL:
    case STEP_EDIT: return step_bytes_repair(s, e);
    case STEP_PUT: return put_tidy(s, s->old_absent, e);
    case STEP_MOVE: return fs_move_repair(s->path, s->to, e);
    case STEP_REF: return ref_repair(s, e);
    case STEP_ROWS:
    case STEP_KINDS: break;
    }
    return ERR_OK;
}

enum err_code step_clean_up(const struct step *s, struct err *e)
{
    return s->kind == STEP_PUT   ? put_clean_up(s, e)
           : s->kind == STEP_REF ? ref_clean_up(s, e)
                                 : ERR_OK;
}

enum err_code step_prepare(struct step *s, struct arena *a, struct err *e)
{
    struct stat st;
    bool torn = false;

    if (s->kind == STEP_MOVE && s->made && s->offset == 0) {
        struct disk_usage made = { 0 };

        TRY(disk_usage_add(s->path, &made, e));
        s->offset = made.bytes;
    }
    if (s->kind == STEP_MOVE || s->kind == STEP_REF || s->kind == STEP_ROWS)
        return ERR_OK;
    if (s->kind == STEP_APPEND)
        TRY(log_tail_is_torn(s->path, s->follow ? APPEND_FOLLOW : 0, &torn, e));
    if (s->follow ? stat(s->path, &st) : lstat(s->path, &st)) {
        if (errno != ENOENT || s->kind != STEP_PUT)
            return err_sys(e, s->path, "examine the file");
        s->old_mtime_ns = MTIME_NOW; /* nothing there */
        return ERR_OK;
    }
    s->old_mtime_ns = file_at_mtime(&st);
    if (s->kind == STEP_APPEND)
        s->offset = st.st_size;
    s->old_mode = st.st_mode & 07777;
    if (s->mode == 0)
        s->mode = s->old_mode;
    return torn ? step_add_guard(s, a, e) : ERR_OK;
}

struct step step_inverse(const struct step *s)
{
    struct step back = *s;

    back.mtime_ns = s->old_mtime_ns;
    back.old_mtime_ns = MTIME_NOW;
    back.mode = s->old_mode;
    back.old_mode = s->mode;
    if (s->kind != STEP_APPEND)
        back.opposite = (struct slice){ NULL, 0 };
    switch (s->kind) {
    case STEP_APPEND:
        /* What was appended becomes the old tail, which the inverse replaces by nothing. */
        back.kind = STEP_TAIL;
        back.old = s->bytes;
        back.bytes = (struct slice){ NULL, 0 };
        break;
    case STEP_MOVE:
        back.path = s->to;
        back.to = s->path;
        break;
    case STEP_TAIL:
    case STEP_EDIT:
    case STEP_PUT:
    case STEP_REF:
    case STEP_ROWS:
        back.bytes = s->old;
        back.old = s->bytes;
        back.bytes_part = s->old_part;
        back.old_part = s->bytes_part;
        back.absent = s->old_absent;
        back.old_absent = s->absent;
        break;
    case STEP_KINDS: break;
    }
    return back;
}

enum err_code step_sync(const struct step *s, struct err *e)
{
    return s->kind == STEP_MOVE ? fs_move_sync(s->path, s->to, e) : ERR_OK;
}

static bool same_parent(const char *a, const char *b)
{
    size_t m = (size_t)(base_name(a) - a), n = (size_t)(base_name(b) - b);

    return m == n && memcmp(a, b, m) == 0;
}

bool step_shares_dirs(const struct step *a, const struct step *b)
{
    return a->kind == STEP_MOVE && b->kind == STEP_MOVE && same_parent(a->path, b->path) &&
           same_parent(a->to, b->to);
}
