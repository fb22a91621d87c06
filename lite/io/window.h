#ifndef LITE_IO_WINDOW_H
#define LITE_IO_WINDOW_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/io/file.h"

/* The lite read: the first and the last 64 KiB of a transcript, and nothing between. This constant
 * exists once: readers look here for titles and tags, and the writer's re-append keeps them inside.
 * (claude.md 0.1) */
enum { WINDOW_BYTES = 65536, WINDOW_FIRST_BYTES = 4096 };

/* For formats that keep nothing in the tail but their newest rows. Besides the flags of file_open. */
enum {
    WINDOW_BRIEF = 1 << 16,
    WINDOW_BRIEF_BYTES = 8192,  /* of the tail at first */
    WINDOW_BRIEF_WHOLE = 16384, /* smaller files are read at once: one call costs as much */
};

/* Reads a file's ends in stages: the tail whole and 4 KiB of the head first, since that a title or tag
 * is not in the tail takes all of it to say; the rest of the head when a field is still open. A file
 * that fits in one window is read whole at once. With WINDOW_BRIEF the tail, too, is short at first. One window per thread, reused from file to file; it
 * owns two buffers of WINDOW_BYTES and holds at most one descriptor.
 * head and tail are valid until the next open or widen (close keeps them). Of a file that was read whole tail is the
 * same bytes as head. */
struct window {
    struct file file; /* fd is -1 once closed; id stays */
    struct slice head, tail;
    bool wide;      /* both are as large as they get (the tail always is, without WINDOW_BRIEF) */
    bool torn_tail; /* the last byte is not a newline (false for an empty file) */
    bool shrank;    /* the file became shorter than it was when opened: what is there may be cut */
    char *bytes;    /* owned */
};

MUST_CHECK enum err_code window_init(struct window *w, struct err *e);
void window_fini(struct window *w);
/* Opens the file (see file_open) and reads the first stage. Closes the one before. On failure the
 * window is empty and closed. */
MUST_CHECK enum err_code window_open(struct window *w, int dirfd, const char *name, unsigned flags,
                                     struct err *e);
/* Reads the rest of both; does nothing when wide. A file that shrank since is a shorter window; one
 * that grew is read as it was when opened. */
MUST_CHECK enum err_code window_widen(struct window *w, struct err *e);
void window_close(struct window *w);

/* Is there a row that cannot be whole? Looked for by its ends only (a check of every row would cost more
 * than all else together): a row that does not begin and end as an object. Rows that the windows cut,
 * and a torn last one, are not meant. */
bool window_shows_damage(const struct window *w);

/* What a describe needs and does not keep: two windows and an arena, a good 128 KiB. A store keeps as
 * many as threads were ever describing at once, so that a row costs no large allocation. */
struct scratch {
    struct window window;
    struct arena arena;
};

struct window_pool;

struct window_pool *window_pool_new(void);    /* NULL without memory */
void window_pool_free(struct window_pool *p); /* every scratch has to be back; NULL is fine */

/* One for this thread alone. */
MUST_CHECK enum err_code window_pool_acquire(struct window_pool *p, struct scratch **out,
                                             struct err *e);
void window_pool_release(struct window_pool *p, struct scratch *s);

#endif
