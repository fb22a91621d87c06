#include "lite/io/window.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Reads on from the end of the head until it has n bytes. */
static enum err_code extend_head(struct window *w, size_t n, struct err *e)
{
    size_t want = n - w->head.n, got;

    if (w->whole.p) {
        w->head = (struct slice){ w->whole.p, n };
        return ERR_OK;
    }
    enum err_code rc = file_read(&w->file, (int64_t)w->head.n, w->bytes + w->head.n, want, &got, e);

    if (rc)
        return rc;
    w->head = (struct slice){ w->bytes, w->head.n + got };
    w->shrank |= got < want;
    return ERR_OK;
}

/* The tail is counted back from the size the file had when it was opened. It is read to the end of
 * the second buffer, so a longer tail leaves the bytes that were read before in place. */
static enum err_code read_window_tail(struct window *w, size_t n, struct err *e)
{
    char *tail = w->bytes + 2 * WINDOW_BYTES - n;
    size_t got;
    enum err_code rc = file_read(&w->file, w->file.id.size - (int64_t)n, tail, n, &got, e);

    if (rc)
        return rc;
    w->tail = (struct slice){ tail, got };
    w->shrank |= got < n;
    return ERR_OK;
}

enum err_code window_init(struct window *w, struct err *e)
{
    char *bytes = malloc(2 * WINDOW_BYTES);

    if (!bytes)
        return err_nomem(e);
    *w = (struct window){ .file.fd = -1, .bytes = bytes };
    return ERR_OK;
}

void window_fini(struct window *w)
{
    if (!w->bytes)
        return;
    file_close(&w->file);
    free(w->bytes);
    *w = (struct window){ .file.fd = -1 };
}

void window_close(struct window *w)
{
    file_close(&w->file);
}

static void reset_window(struct window *w)
{
    file_close(&w->file);
    *w = (struct window){ .file.fd = -1, .bytes = w->bytes };
}

/* A file that fits in one window is read whole at once. */
static enum err_code read_whole(struct window *w, struct err *e)
{
    enum err_code rc = extend_head(w, (size_t)w->file.id.size, e);

    w->tail = w->head;
    w->wide = true;
    return rc;
}

void window_hold(struct window *w, const struct file_id *id, struct slice whole)
{
    const size_t n = whole.n < WINDOW_BYTES ? whole.n : WINDOW_BYTES;

    reset_window(w);
    w->file.id = *id;
    w->whole = whole;
    w->tail = (struct slice){ whole.p + whole.n - n, n };
    w->wide = n == whole.n;
    w->head = w->wide ? w->tail : (struct slice){ whole.p, 0 };
    w->torn_tail = n && w->tail.p[n - 1] != '\n';
}

static enum err_code read_first_stage(struct window *w, unsigned flags, struct err *e)
{
    const bool brief = flags & WINDOW_BRIEF;
    enum err_code rc = ERR_OK;

    if (w->file.id.size <= (brief ? WINDOW_BRIEF_WHOLE : WINDOW_BYTES)) {
        rc = read_whole(w, e);
    } else {
        w->head = (struct slice){ w->bytes, 0 };
        if (!(flags & WINDOW_TAIL_FIRST))
            rc = extend_head(w, WINDOW_FIRST_BYTES, e);
        if (!rc)
            rc = read_window_tail(w, brief ? WINDOW_BRIEF_BYTES : WINDOW_BYTES, e);
    }
    w->torn_tail = w->tail.n && w->tail.p[w->tail.n - 1] != '\n';
    return rc;
}

enum err_code window_open(struct window *w, int dirfd, const char *name, unsigned flags,
                          struct err *e)
{
    enum err_code rc;

    reset_window(w);
    rc = file_open(dirfd, name, flags & ~(unsigned)(WINDOW_BRIEF | WINDOW_TAIL_FIRST), &w->file, e);
    if (rc)
        return rc;
    rc = read_first_stage(w, flags, e);
    if (rc)
        reset_window(w);
    return err_at(e, rc, name);
}

enum err_code window_read_front(struct window *w, struct err *e)
{
    return w->head.n < WINDOW_FIRST_BYTES && !w->wide ? extend_head(w, WINDOW_FIRST_BYTES, e)
                                                      : ERR_OK;
}

enum err_code window_widen(struct window *w, struct err *e)
{
    enum err_code rc;

    if (w->wide)
        return ERR_OK;
    if (w->file.id.size <= WINDOW_BYTES) {
        rc = read_whole(w, e);
    } else {
        rc = extend_head(w, WINDOW_BYTES, e);
        if (!rc && w->tail.n < WINDOW_BYTES && !w->shrank)
            rc = read_window_tail(w, WINDOW_BYTES, e);
    }
    w->wide = !rc;
    return rc;
}

static bool is_row_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool looks_whole(struct slice row)
{
    while (row.n && is_row_blank(row.p[row.n - 1]))
        row.n--;
    while (row.n && is_row_blank(row.p[0]))
        row = (struct slice){ row.p + 1, row.n - 1 };
    return row.n == 0 || (row.n >= 2 && row.p[0] == '{' && row.p[row.n - 1] == '}');
}

bool window_rows_show_damage(struct slice rows, bool cut_front)
{
    struct slice row;
    bool torn;

    while (slice_line(&rows, &row, &torn)) {
        if (!torn && !cut_front && !looks_whole(row))
            return true;
        cut_front = false;
    }
    return false;
}

bool window_shows_damage(const struct window *w)
{
    bool apart = w->tail.p != w->head.p;

    return window_rows_show_damage(w->head, false) ||
           (apart && window_rows_show_damage(w->tail, true));
}

enum { KEPT = 8 };

/* Acquiring and releasing are single exchanges of a slot; no thread waits. */
struct window_pool {
    _Atomic(struct scratch *) slot[KEPT];
};

struct window_pool *window_pool_new(void)
{
    struct window_pool *p = malloc(sizeof *p);

    for (size_t i = 0; p && i < KEPT; i++)
        atomic_init(&p->slot[i], NULL);
    return p;
}

static void scratch_free(struct scratch *s)
{
    if (!s)
        return;
    window_fini(&s->window);
    arena_fini(&s->arena);
    free(s);
}

void window_pool_free(struct window_pool *p)
{
    for (size_t i = 0; p && i < KEPT; i++)
        scratch_free(atomic_load(&p->slot[i]));
    free(p);
}

enum err_code window_pool_acquire(struct window_pool *p, struct scratch **out, struct err *e)
{
    for (size_t i = 0; i < KEPT; i++) {
        struct scratch *s = atomic_exchange(&p->slot[i], NULL);

        if (s) {
            *out = s;
            return ERR_OK;
        }
    }
    struct scratch *s = calloc(1, sizeof *s);
    enum err_code rc = s ? window_init(&s->window, e) : err_nomem(e);

    if (rc)
        free(s);
    else
        *out = s;
    return rc;
}

void window_pool_release(struct window_pool *p, struct scratch *s)
{
    window_close(&s->window);
    arena_reset(&s->arena);
    for (size_t i = 0; i < KEPT && s; i++) {
        struct scratch *empty = NULL;

        if (atomic_compare_exchange_strong(&p->slot[i], &empty, s))
            s = NULL;
    }
    scratch_free(s);
}
