#include "store/journal/step.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/file_at.h"
#include "store/fs/move.h"
#include "store/journal/step_internal.h"
#include "store/log/append.h"
#include "store/log/filelock.h"

static enum err_code do_alone(struct step *s, struct arena *a, struct err *e)
{
    switch (s->kind) {
    case STEP_APPEND: return step_append_do(s, a, e);
    case STEP_TAIL: return step_tail_do(s, a, e);
    case STEP_EDIT: return step_edit_do(s, e);
    case STEP_PUT: return step_put_do(s, a, e);
    case STEP_MOVE: return move_path(s->path, s->to, e);
    case STEP_REF: return step_ref_do(s, e);
    case STEP_KINDS: break;
    }
    return err_set(e, ERR_FORMAT, s->path, "a step of an unknown kind");
}

enum err_code step_do(struct step *s, struct arena *a, struct err *e)
{
    int lock = -1;
    enum err_code rc = s->lock ? filelock_acquire(s->lock, &lock, e) : ERR_OK;

    if (!rc)
        rc = do_alone(s, a, e);
    filelock_release(lock);
    return rc;
}

static bool holds_other(const struct step *s)
{
    struct stat st;
    bool same = true;
    int fd;

    if (file_at_open(s->path, &fd, &st, NULL))
        return false;
    enum err_code rc = file_at_holds(fd, s->old, s->offset, &same, s->path, NULL);

    close(fd);
    return !rc && (!same || (s->kind == STEP_TAIL && st.st_size != s->offset + (int64_t)s->old.n));
}

bool step_is_stale(const struct step *s)
{
    struct stat st;
    bool same = true;
    int64_t mtime;

    switch (s->kind) {
    case STEP_TAIL: return s->opposite.n == 0 && holds_other(s);
    case STEP_EDIT: return holds_other(s);
    case STEP_PUT: return !step_put_matches(s, s->old, s->old_absent, &same, &mtime, NULL) && !same;
    case STEP_MOVE: return lstat(s->path, &st) == 0 && lstat(s->to, &st) == 0;
    default: return false;
    }
}

enum err_code step_is_done(struct step *s, bool *done, struct err *e)
{
    int64_t mtime;

    switch (s->kind) {
    case STEP_APPEND: return step_append_is_done(s, done, e);
    case STEP_TAIL: return step_tail_is_done(s, done, e);
    case STEP_EDIT: return step_bytes_is_done(s, done, e);
    case STEP_PUT: return step_put_matches(s, s->bytes, s->absent, done, &mtime, e);
    case STEP_MOVE: return move_is_done(s->path, s->to, done, e);
    case STEP_REF: return step_ref_is_done(s, done, e);
    case STEP_KINDS: break;
    }
    return err_set(e, ERR_FORMAT, s->path, "a step of an unknown kind");
}

enum err_code step_repair(const struct step *s, struct arena *a, struct err *e)
{
    switch (s->kind) {
    case STEP_APPEND: return step_append_repair(s, e);
    case STEP_TAIL:
    case STEP_EDIT: return step_bytes_repair(s, e);
    case STEP_PUT: return step_put_repair(s, a, e);
    case STEP_MOVE: return move_repair(s->path, s->to, e);
    case STEP_REF: return step_ref_repair(s, e);
    case STEP_KINDS: break;
    }
    return ERR_OK;
}

enum err_code step_clean_up(const struct step *s, struct arena *a, struct err *e)
{
    return s->kind == STEP_PUT   ? step_put_clean_up(s, a, e)
           : s->kind == STEP_REF ? step_ref_clean_up(s, e)
                                 : ERR_OK;
}

/* The guard becomes a part of what is appended, so that taking it back takes the guard too. */
static enum err_code guard(struct step *s, struct arena *a, struct err *e)
{
    char *p = arena_alloc(a, s->bytes.n + 1);

    if (!p)
        return err_nomem(e);
    p[0] = '\n';
    memcpy(p + 1, s->bytes.p, s->bytes.n);
    s->bytes = (struct slice){ p, s->bytes.n + 1 };
    return ERR_OK;
}

enum err_code step_prepare(struct step *s, struct arena *a, struct err *e)
{
    struct stat st;
    bool torn = false;
    enum err_code rc = ERR_OK;

    if (s->kind == STEP_MOVE || s->kind == STEP_REF)
        return ERR_OK;
    if (s->kind == STEP_APPEND)
        rc = log_tail_is_torn(s->path, s->follow ? APPEND_FOLLOW : 0, &torn, e);
    if (rc)
        return rc;
    if (s->follow ? stat(s->path, &st) : lstat(s->path, &st)) {
        if (errno != ENOENT || s->kind != STEP_PUT)
            return err_sys(e, s->path, "look at the file");
        s->old_mtime_ns = MTIME_NOW; /* nothing there */
        return ERR_OK;
    }
    s->old_mtime_ns = file_at_mtime(&st);
    if (s->kind == STEP_APPEND)
        s->offset = st.st_size;
    s->old_mode = st.st_mode & 07777;
    if (s->mode == 0)
        s->mode = s->old_mode;
    return torn ? guard(s, a, e) : ERR_OK;
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
        back.bytes = s->old;
        back.old = s->bytes;
        back.absent = s->old_absent;
        back.old_absent = s->absent;
        break;
    case STEP_KINDS: break;
    }
    return back;
}

enum err_code step_sync(const struct step *s, struct err *e)
{
    return s->kind == STEP_MOVE ? move_sync(s->path, s->to, e) : ERR_OK;
}

/* The last part of a path. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
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
