#ifndef LITE_IO_WINDOW_H
#define LITE_IO_WINDOW_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/io/file.h"

/* The lite read: the first and the last 64 KiB of a transcript, and nothing between. Readers look here for titles and
 * tags, and a re-append of metadata keeps them within the same WINDOW_BYTES. */
enum { WINDOW_BYTES = 65536, WINDOW_FIRST_BYTES = 4096 };

/* For formats in which only the newest rows of the tail matter. Combined with the flags of file_open. */
enum {
    WINDOW_BRIEF = 1 << 16,
    WINDOW_BRIEF_BYTES = 8192,  /* bytes of the tail at first */
    WINDOW_BRIEF_WHOLE = 16384, /* smaller files are read at once: one call costs as much */
    /* The head is empty until window_read_front or window_widen, for a reader that sees in the tail which of them it
     * needs: one call less than both. */
    WINDOW_TAIL_FIRST = 1 << 17,
};

/* Reads the ends of a file in two stages. The first stage is the whole tail (only the whole tail can show that a
 * title or tag is not in it) and 4 KiB of the head; the second is the rest of the head, if a field is still missing.
 * A file that fits into one window is read whole at once. With WINDOW_BRIEF the first stage of the tail is short too.
 *
 * A window is used by one thread, for one file at a time. It owns two buffers of WINDOW_BYTES and has at most one file
 * open. head and tail are valid until the next open or widen (close keeps them). If a file was read whole, tail is the
 * same bytes as head. */
struct window {
    struct file file; /* fd is -1 once closed; id stays */
    struct slice head, tail;
    bool wide;      /* both have their full size (the tail always has, without WINDOW_BRIEF) */
    bool torn_tail; /* the last byte is not a newline (false for an empty file) */
    bool shrank;    /* the file became shorter after it was opened: the last row read may be cut */
    char *bytes;    /* owned */
    struct slice whole; /* the whole file in memory, with window_hold */
};

MUST_CHECK enum err_code window_init(struct window *w, struct err *e);
void window_fini(struct window *w);
/* Opens the file (see file_open), after closing the one before, and reads the first stage. On failure the window is
 * empty and closed. */
MUST_CHECK enum err_code window_open(struct window *w, int dirfd, const char *name, unsigned flags,
                                     struct err *e);
/* The same for a file whose bytes a caller has in memory, up to the end of its use. */
void window_hold(struct window *w, const struct file_id *id, struct slice whole);
/* Reads the rest of both ends; does nothing if the window is wide. If the file shrank, the window is shorter; if it
 * grew, what was added is not read. */
MUST_CHECK enum err_code window_widen(struct window *w, struct err *e);
/* After WINDOW_TAIL_FIRST: reads the first stage of the head, if the head is still empty. */
MUST_CHECK enum err_code window_read_front(struct window *w, struct err *e);
void window_close(struct window *w);

/* Returns true if a row does not begin and end as an object does. Only its ends are examined, because checking every
 * row would cost more than everything else. Rows that the windows cut, and a torn last row, do not count. */
bool window_shows_damage(const struct window *w);
/* The same for rows in memory. cut_front: the first row began before these bytes. A last row without a newline is cut
 * or torn, and not examined. */
bool window_rows_show_damage(struct slice rows, bool cut_front);

/* The memory that one describe needs: two windows and an arena, slightly more than 128 KiB. A store keeps up to
 * eight that were released, so that a row needs no large allocation. */
struct scratch {
    struct window window;
    struct arena arena;
};

struct window_pool;

struct window_pool *window_pool_new(void); /* NULL if out of memory */
void window_pool_free(
    struct window_pool *p); /* every scratch must have been released; NULL is fine */

/* Lends one to this thread alone. */
MUST_CHECK enum err_code window_pool_acquire(struct window_pool *p, struct scratch **out,
                                             struct err *e);
void window_pool_release(struct window_pool *p, struct scratch *s);

#endif
