#include "lite/window.h"

#include <stdlib.h>

/* The head lies at the start of the first buffer, the tail at the end of the second, so that widening
 * only adds bytes: behind the head and before the tail. A file of at most ONE_READ bytes is read whole
 * at once: a second call would cost more than the few extra bytes. */
enum { ONE_READ = 2 * WINDOW_FIRST_BYTES };

static char *tail_end(const struct window *w)
{
    return w->bytes + 2 * WINDOW_BYTES;
}

static void set_torn_tail(struct window *w)
{
    w->torn_tail = w->tail.n && w->tail.p[w->tail.n - 1] != '\n';
}

/* Reads on from the end of the head until it has n bytes. */
static enum err_code grow_head(struct window *w, size_t n, struct err *e)
{
    size_t want = n - w->head.n, got;
    enum err_code rc = file_read(&w->file, (int64_t)w->head.n, w->bytes + w->head.n, want, &got, e);

    if (rc)
        return rc;
    w->head = (struct slice){ w->bytes, w->head.n + got };
    w->shrank |= got < want;
    return ERR_OK;
}

/* Reads before the tail until it has n bytes, counted back from the size the file had when opened.
 * Where the file ends early, what was read later in it is no longer there: only the new part stands. */
static enum err_code grow_tail(struct window *w, size_t n, struct err *e)
{
    char *start = tail_end(w) - n;
    size_t want = n - w->tail.n, got;
    enum err_code rc = file_read(&w->file, w->file.id.size - (int64_t)n, start, want, &got, e);

    if (rc)
        return rc;
    w->tail = (struct slice){ start, got < want ? got : n };
    w->shrank |= got < want;
    return ERR_OK;
}

enum err_code window_init(struct window *w, struct err *e)
{
    char *bytes = malloc(2 * WINDOW_BYTES);

    if (!bytes)
        return err_set(e, ERR_NOMEM, NULL, "make a window");
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

static void forget(struct window *w)
{
    file_close(&w->file);
    *w = (struct window){ .file.fd = -1, .bytes = w->bytes };
}

static enum err_code read_ends(struct window *w, size_t head, size_t tail, struct err *e)
{
    enum err_code rc = grow_head(w, head, e);

    if (rc)
        return rc;
    if (tail)
        rc = grow_tail(w, tail, e);
    else
        w->tail = w->head;
    set_torn_tail(w);
    return rc;
}

enum err_code window_open(struct window *w, int dirfd, const char *name, unsigned flags,
                          struct err *e)
{
    enum err_code rc;

    forget(w);
    rc = file_open(dirfd, name, flags, &w->file, e);
    if (rc)
        return rc;
    if (w->file.id.size <= ONE_READ) {
        w->wide = true;
        rc = read_ends(w, (size_t)w->file.id.size, 0, e);
    } else {
        rc = read_ends(w, WINDOW_FIRST_BYTES, WINDOW_FIRST_BYTES, e);
    }
    if (rc)
        forget(w);
    return err_at(e, rc, name);
}

enum err_code window_widen(struct window *w, struct err *e)
{
    enum err_code rc;

    if (w->wide)
        return ERR_OK;
    if (w->file.id.size <= WINDOW_BYTES)
        rc = read_ends(w, (size_t)w->file.id.size, 0, e);
    else
        rc = read_ends(w, WINDOW_BYTES, WINDOW_BYTES, e);
    w->wide = !rc;
    return rc;
}
