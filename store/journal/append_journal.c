#include "store/journal/append_journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/host.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/journal/change_internal.h"
#include "store/log/append.h"
#include "store/log/lease.h"
#include "store/log/logfile.h"

/* How the names of entries begin. */
enum { DURABLE = '0', BRIEF = '1' };

/* An append under way. */
struct journal {
    const struct store_env *env;
    const char *path;
    unsigned flags;
    log_compose_fn *compose;
    void *arg;
    int lock;           /* -1 if nothing is recorded */
    char dir[PATH_MAX]; /* the directory of the entry; "" */
};

static enum err_code recover_append(const char *dir, const char *log)
{
    struct change *c;
    enum err_code rc = change_record_read(dir, &c, NULL);

    if (rc == ERR_FORMAT && strrchr(dir, '/')[1] == BRIEF) /* a power cut destroyed a part of it */
        rc = ERR_NOT_FOUND;
    if (rc == ERR_NOT_FOUND) /* it was never begun, or a program is just beginning it */
        return log ? ERR_OK : copy_remove(dir, NULL);
    if (rc) /* a record that cannot be understood is not acted on */
        return rc;
    /* A change of another log waits for a program that appends to that one. */
    if (log && (!c->n || strcmp(c->step[0].path, log) != 0)) {
        change_free(c);
        return ERR_OK;
    }
    for (size_t i = 0; i < c->n && !rc; i++) {
        bool done;

        rc = step_is_done(&c->step[i], &done, NULL);
        if (!rc && !done)
            rc = step_repair(&c->step[i], NULL);
    }
    change_free(c);
    return rc ? rc : copy_remove(dir, NULL);
}

static void recover_appends(const char *dir, const char *log)
{
    char path[PATH_MAX];
    const struct dirent *x;
    DIR *d = opendir(dir);

    while (d && (x = readdir(d)))
        if (x->d_name[0] != '.' &&
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, x->d_name) < sizeof path &&
            recover_append(path, log))
            errno = 0; /* the next one tries again */
    if (d)
        closedir(d);
}

void journal_recover(const struct store_env *env)
{
    char dir[PATH_MAX];

    if (env_state_path(env, "appends", dir, NULL))
        return;
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        recover_appends(dir, NULL);
    log_lock_release(lock);
}

static enum err_code journal_begin(struct journal *j, const char *above, struct slice records,
                                   struct err *e)
{
    unsigned char r[8];

    CLEANUP(change_free_at) struct change *c = change_new("append");

    NEED(c);

    /* The link's target is recorded, because recovery must not open a link. */
    const char *path = j->path;
    unsigned flags = j->flags;
    char *real = flags & APPEND_FOLLOW ? realpath(path, NULL) : strdup(path);
    struct step s = { .kind = STEP_APPEND, .bytes = records, .mtime_ns = MTIME_NOW };

    if (!real)
        return err_sys(e, path, "append: find the file");
    s.path = arena_copy(&c->arena, slice_of(real)).p;
    c->step = arena_zalloc(&c->arena, sizeof *c->step);
    free(real);
    if (!s.path || !c->step)
        return err_nomem(e);
    c->step[c->n++] = s;
    TRY(step_prepare(c->step, &c->arena, e));

    c->no_sync = j->flags & APPEND_LATER;
    if (getentropy(r, sizeof r))
        return err_sys(e, above, "generate a random name");
    snprintf(j->dir, sizeof j->dir, "%s/%c%02x%02x%02x%02x%02x%02x%02x%02x", above,
             c->no_sync ? BRIEF : DURABLE, r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]);
    if (mkdir(j->dir, 0700)) {
        enum err_code rc = err_sys(e, j->dir, "make directory");

        j->dir[0] = '\0';
        return rc;
    }
    enum err_code rc = change_record_write(j->dir, c, e);

    return rc || c->no_sync ? rc : disk_sync_dir(above, e);
}

static void journal_end(struct journal *j)
{
    if (j->dir[0] && copy_remove(j->dir, NULL))
        errno = 0; /* the next one finds that it was done */
    j->dir[0] = '\0';
    log_lock_release(j->lock);
    j->lock = -1;
}

static enum err_code compose_written_down(void *arg, struct buf *records, struct err *e)
{
    struct journal *j = arg;
    char above[PATH_MAX];

    journal_end(j);
    if (env_state_path(j->env, "appends", above, NULL) == ERR_NOT_FOUND)
        return j->compose(j->arg, records, e);
    enum err_code rc = disk_own_dir(j->env->state_dir, above, e);

    if (rc)
        return rc;
    j->lock = open(above, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (j->lock < 0)
        rc = err_sys(e, above, "open");
    while (!rc && flock(j->lock, LOCK_SH))
        if (errno != EINTR)
            rc = err_sys(e, above, "lock");
    if (!rc) {
        /* We hold the lock of the log, so its entries can only be those of dead processes. */
        char *real = j->flags & APPEND_FOLLOW ? realpath(j->path, NULL) : strdup(j->path);

        if (!real)
            rc = err_sys(e, j->path, "append: find the file");
        else {
            recover_appends(above, real);
            free(real);
        }
    }
    if (!rc)
        rc = j->compose(j->arg, records, e);
    return rc || !records->n ? rc : journal_begin(j, above, buf_slice(records), e);
}

enum err_code journal_append(const struct store_env *env, const char *path, unsigned flags,
                             log_compose_fn *compose, void *arg, struct appended *out,
                             struct err *e)
{
    struct journal j = { env, path, flags, compose, arg, -1, "" };

    journal_recover(env);
    enum err_code rc = log_append_with(path, flags, compose_written_down, &j, out, e);

    journal_end(&j);
    return rc;
}

static struct slice *row_ids(const struct append_rows *rows, struct arena *a)
{
    struct slice *id = arena_alloc(a, (rows->n + 1) * sizeof *id);

    for (size_t i = 0; id && i < rows->n; i++)
        id[i] = rows->row[i].id;
    return id;
}

struct writing {
    const char *path;
    struct append_rows *rows;
    struct arena *a;
    struct log_state *log; /* what is known of the log; NULL: nothing is remembered */
    bool again;            /* the file was replaced by one that may contain the rows */
};

static enum err_code compose_new_rows(void *arg, struct buf *out, struct err *e)
{
    struct writing *w = arg;
    struct append_rows *rows = w->rows;
    bool *skip = arena_zalloc(w->a, rows->n * sizeof *skip);
    struct slice *id = skip ? row_ids(rows, w->a) : NULL;
    enum log_seen seen;
    enum err_code rc = id ? ERR_OK : err_nomem(e);

    /* Rows that the log already has are skipped. Ids that were just generated are new. */
    for (size_t i = 0; i < rows->n && !rc; i++)
        if (rows->row[i].drawn && !w->again)
            id[i].n = 0;
    if (!rc && w->log)
        rc = log_state_compare(w->log, &seen, e);
    if (!rc)
        rc = w->log ? log_state_find_repeated(w->log, id, rows->n, skip, e)
                    : log_find_repeated(w->path, 0, id, rows->n, skip, e);
    rows->present = 0;
    for (size_t i = 0, begin = 0; i < rows->n && !rc; begin = rows->row[i++].end) {
        const struct slice line = { rows->lines.p + begin, rows->row[i].end - begin };

        rows->present += skip[i];
        if (!skip[i] && buf_add(out, line))
            rc = err_nomem(e);
    }
    w->again = true;
    return rc;
}

enum err_code append_rows_make(struct append_rows *rows, const struct host_append *req,
                               append_row_fn *fn, void *arg, struct arena *a, struct err *e)
{
    enum err_code rc = ERR_OK;

    *rows = (struct append_rows){ .req = req,
                                  .row = arena_zalloc(a, req->n * sizeof *rows->row),
                                  .n = req->n };
    if (!rows->row)
        return err_nomem(e);
    for (size_t i = 0; i < req->n && !rc; i++) {
        rc = fn(req->row[i], &rows->row[i], &rows->lines, arg, e);
        rows->row[i].end = rows->lines.n;
        if (rc == ERR_USAGE)
            err_wrap(e, rc, "row %zu", i + 1);
    }
    return rc;
}

enum err_code append_rows_write(const struct store_env *env, const char *path,
                                struct append_rows *rows, struct arena *a,
                                struct host_appended *out, struct err *e)
{
    const struct host_append *req = rows->req;
    struct writing w = { .path = path, .rows = rows, .a = a };
    struct slice *id = row_ids(rows, a);
    struct appended done;

    NEED(id);
    if (req->logs && !(w.log = log_states_get(req->logs, path, 0)))
        return err_nomem(e);
    TRY(journal_append(env, path, req->later ? APPEND_LATER : 0, compose_new_rows, &w, &done, e));
    if (w.log)
        log_state_appended(w.log, &done, req->later, id, rows->n);
    *out = (struct host_appended){ .n = rows->n, .present = rows->present, .id = id };
    return ERR_OK;
}
