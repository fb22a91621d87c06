#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/journal/fork_stage.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/rewind/point.h"

/* The library cannot fork a log; this is an extension: the raw lines up to and including an event, under a new id. It
 * is a log like any other, and resumes. A title has no place in it. */

enum { PIECE = 256 * 1024, FILE_MODE = 0644 };

struct forking {
    const struct exathena *x;
    const struct session_ref *ref;
    const struct fork_request *req;
    char id[EXATHENA_ID + 1];
    const char *dir, *name, *history; /* where it is made; the source's saved files */
    struct fork_result made;
};

/* The end of the last whole line: a torn one is not taken along, as nobody knows whether it was all. */
static enum err_code whole_end(const struct file *from, int64_t *end, struct err *e)
{
    char bytes[4096];
    int64_t at = from->id.size;
    size_t got;

    while (at > 0) {
        int64_t begin = at > (int64_t)sizeof bytes ? at - (int64_t)sizeof bytes : 0;
        enum err_code rc = file_read(from, begin, bytes, (size_t)(at - begin), &got, e);
        const char *nl = rc ? NULL : memrchr(bytes, '\n', got);

        if (rc)
            return rc;
        if (nl) {
            *end = begin + (nl - bytes) + 1;
            return ERR_OK;
        }
        at = begin;
    }
    *end = 0;
    return ERR_OK;
}

static enum err_code find_fork_end(const struct forking *f, const struct file *from, int64_t *end,
                                   struct err *e)
{
    struct arena a = { 0 };
    struct point point;

    if (!f->req->at.n)
        return whole_end(from, end, e);
    enum err_code rc = exathena_point(f->ref, f->req->at, &a, &point, e);

    if (!rc)
        *end = point.end;
    arena_fini(&a);
    return rc;
}

static enum err_code copy_lines(const struct forking *f, struct disk_new *to, struct err *e)
{
    struct file from;
    struct buf piece = { 0 };
    int64_t end = 0;
    char last = '\n';
    enum err_code rc = file_open(AT_FDCWD, f->ref->path.p, 0, &from, e);

    if (rc)
        return rc;
    rc = find_fork_end(f, &from, &end, e);
    if (!rc && buf_reserve(&piece, PIECE))
        rc = err_nomem(e);
    for (int64_t at = 0; !rc && at < end; at += (int64_t)piece.n) {
        size_t want = end - at < PIECE ? (size_t)(end - at) : PIECE;

        rc = file_read(&from, at, piece.p, want, &piece.n, e);
        if (!rc && piece.n < want)
            rc = err_set(e, ERR_STALE, f->ref->path.p, "fork: the session became shorter");
        if (!rc)
            rc = disk_write(to->fd, buf_slice(&piece), NULL, to->path, e);
        if (!rc)
            last = piece.p[piece.n - 1];
    }
    if (!rc && last != '\n')
        rc = disk_write(to->fd, SLICE("\n"), NULL, to->path, e);
    file_close(&from);
    buf_fini(&piece);
    return rc;
}

static enum err_code stage(const struct forking *f, struct err *e)
{
    struct disk_new to;
    enum err_code rc = disk_private_dir(f->dir, e);

    if (!rc)
        rc = disk_new_open(f->dir, FILE_MODE, &to, e);
    if (rc)
        return rc;
    rc = copy_lines(f, &to, e);
    if (!rc)
        return disk_new_publish(&to, f->name, e);
    disk_new_discard(&to);
    return rc;
}

static enum err_code name_places(struct forking *f, struct arena *a, struct err *e)
{
    char forks[PATH_MAX];
    enum err_code rc = env_data_path(f->x->base.env, "forks", forks, e);

    if (rc)
        return rc;
    exathena_generate_id(f->id, EXATHENA_ID);
    f->dir = arena_format(a, "%s", forks);
    f->name = arena_format(a, "%s" EXATHENA_SUFFIX, f->id);
    f->history = arena_format(a, "%s/%.*s", f->x->history, SLICE_ARG(f->ref->id));
    f->made.staged = arena_format(a, "%s/%s" EXATHENA_SUFFIX, forks, f->id);
    f->made.staged_files = arena_format(a, "%s/%s.files", forks, f->id);
    f->made.path = arena_format(a, "%s/%s" EXATHENA_SUFFIX, f->x->sessions, f->id);
    f->made.id = arena_copy(a, (struct slice){ f->id, EXATHENA_ID });
    return f->dir && f->name && f->history && f->made.staged && f->made.staged_files &&
                   f->made.path && f->made.id.p
               ? ERR_OK
               : err_nomem(e);
}

static bool has_files(const struct forking *f)
{
    struct stat sb;

    return f->req->with_files && lstat(f->history, &sb) == 0 && S_ISDIR(sb.st_mode);
}

/* The log comes last: a session that is to be seen has its files already. */
static enum err_code plan_fork_moves(const struct forking *f, bool files, struct change *c,
                                     struct err *e)
{
    struct step move = { .kind = STEP_MOVE, .path = f->made.staged_files };
    enum err_code rc = ERR_OK;

    if (files) {
        move.to = arena_format(&c->arena, "%s/%s", f->x->history, f->id);
        rc = move.to ? change_add(c, &move, e) : err_nomem(e);
    }
    move.path = f->made.staged;
    move.to = f->made.path;
    return rc ? rc : change_add(c, &move, e);
}

enum err_code exathena_fork(const struct store *st, const struct session_ref *ref,
                            const struct fork_request *req, struct change *c,
                            struct fork_result *out, struct err *e)
{
    struct forking f = { .x = exathena_of(st), .ref = ref, .req = req };
    enum err_code rc = name_places(&f, &c->arena, e);
    bool files = !rc && has_files(&f);

    if (rc)
        return rc;
    rc = stage(&f, e);
    if (!rc && files)
        rc = copy_tree(f.history, f.made.staged_files, e);
    if (!rc)
        rc = plan_fork_moves(&f, files, c, e);
    if (rc) {
        fork_discard(&f.made);
        return rc;
    }
    if (!files)
        f.made.staged_files = NULL;
    *out = f.made;
    return ERR_OK;
}
