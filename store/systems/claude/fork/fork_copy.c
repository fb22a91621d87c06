#include "store/systems/claude/fork/fork.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/fs/file_at.h"

/* The rows of the messages, made by two threads where there are many. The source is taken in stretches of lines:
 *
 *   claimed -> read, its rows made (side by side) -> placed (in order) -> written (side by side)
 *
 * Where a stretch begins in the copy is known once all before it are made: it waits for its turn, says where the next
 * one begins, and is written then. Memory: two stretches and what they became. */
enum { STRETCH = 2 * 1024 * 1024, WORTH_A_THREAD = 4 * STRETCH };

struct copying {
    struct fork *f;
    struct disk_new *to;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t line;    /* first of the next stretch */
    size_t claimed; /* stretches so far */
    size_t placed;  /* of them */
    int64_t at;     /* where the next one is placed */
    enum err_code rc;
    struct err e;
};

struct stretch {
    size_t number, first, end; /* lines [first, end) */
    struct buf source, rows;
    struct fork_row_space space;
};

/* From a row that is copied up to one that is too; false: there is nothing left. */
static bool claim(struct copying *c, struct stretch *s)
{
    const struct index_line *line = c->f->log.file.index.line;
    size_t i = c->line, last = c->f->last;

    while (i <= last && !c->f->keep[i])
        i++;
    if (i > last || c->rc)
        return false;
    s->first = s->end = i;
    for (; i <= last && line[i].offset - line[s->first].offset < STRETCH; i++)
        if (c->f->keep[i])
            s->end = i + 1;
    c->line = s->end;
    s->number = c->claimed++;
    return true;
}

static enum err_code read_stretch(struct copying *c, struct stretch *s, struct err *e)
{
    const struct logfile *file = &c->f->log.file;
    const struct index_line *first = claude_line(&c->f->log, s->first),
                            *last = claude_line(&c->f->log, s->end - 1);
    size_t n = (size_t)(last->offset + last->length - first->offset), got;

    s->source.n = 0;
    if (buf_reserve(&s->source, n))
        return err_nomem(e);
    enum err_code rc = file_read(&file->file, first->offset, s->source.p, n, &got, e);

    if (!rc && got < n)
        rc = err_set(e, ERR_STALE, file->path, "fork: the file became shorter");
    return rc;
}

static enum err_code make_stretch_rows(struct copying *c, struct stretch *s, struct err *e)
{
    int64_t begin = claude_line(&c->f->log, s->first)->offset;
    enum err_code rc = read_stretch(c, s, e);

    s->rows.n = 0;
    for (size_t i = s->first; i < s->end && !rc; i++) {
        const struct index_line *l = claude_line(&c->f->log, i);
        struct slice row = { s->source.p + (l->offset - begin), l->length };

        if (c->f->keep[i] && fork_row(c->f, i, claude_row(row), &s->space, &s->rows))
            rc = err_nomem(e);
    }
    return rc;
}

/* Waits for the turn of the stretch; false: the copying has failed. */
static bool claim_offset(struct copying *c, const struct stretch *s, int64_t *at)
{
    pthread_mutex_lock(&c->lock);
    while (c->placed < s->number && !c->rc)
        pthread_cond_wait(&c->turn, &c->lock);
    *at = c->at;
    c->at += (int64_t)s->rows.n;
    c->placed++;
    bool fine = !c->rc;

    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
    return fine;
}

static void fail(struct copying *c, enum err_code rc, const struct err *e)
{
    pthread_mutex_lock(&c->lock);
    if (!c->rc) {
        c->rc = rc;
        c->e = *e;
    }
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
}

static bool next_stretch(struct copying *c, struct stretch *s)
{
    pthread_mutex_lock(&c->lock);
    bool any = claim(c, s);

    pthread_mutex_unlock(&c->lock);
    return any;
}

static void *copy_worker(void *arg)
{
    struct copying *c = arg;
    struct stretch s = { 0 };
    int64_t at;

    while (next_stretch(c, &s)) {
        struct err e = { 0 };
        enum err_code rc = make_stretch_rows(c, &s, &e);

        if (!rc && !claim_offset(c, &s, &at))
            break;
        if (!rc)
            rc = file_at_write(c->to->fd, buf_slice(&s.rows), at, c->to->path, &e);
        if (rc) {
            fail(c, rc, &e);
            break;
        }
        disk_start_sync(c->to->fd, at, (int64_t)s.rows.n);
    }
    buf_fini(&s.source);
    buf_fini(&s.rows);
    fork_row_space_fini(&s.space);
    return NULL;
}

enum err_code fork_copy(struct fork *f, struct disk_new *to, struct err *e)
{
    struct copying c = { .f = f, .to = to, .at = lseek(to->fd, 0, SEEK_CUR) };
    pthread_t other;

    if (c.at < 0)
        return err_sys(e, to->path, "write");
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.turn, NULL);
    bool two = f->log.file.file.id.size >= WORTH_A_THREAD &&
               pthread_create(&other, NULL, copy_worker, &c) == 0;

    copy_worker(&c);
    if (two)
        pthread_join(other, NULL);
    pthread_cond_destroy(&c.turn);
    pthread_mutex_destroy(&c.lock);
    if (c.rc && e)
        *e = c.e;
    if (!c.rc && lseek(to->fd, c.at, SEEK_SET) < 0)
        return err_sys(e, to->path, "write");
    return c.rc;
}
