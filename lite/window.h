#ifndef LITE_WINDOW_H
#define LITE_WINDOW_H

#include "lite/file.h"

/* The lite read: the first and the last 64 KiB of a transcript, and nothing between. This constant
 * exists once: readers look here for titles and tags, and the writer's re-append keeps them inside.
 * (claude.md 0.1) */
enum { WINDOW_BYTES = 65536, WINDOW_FIRST_BYTES = 4096 };

/* Reads a file's ends in stages: 4 KiB at each end first, the whole windows only when a field is still
 * open. One window per thread, reused from file to file; it owns two buffers of WINDOW_BYTES and holds
 * at most one descriptor.
 * head and tail are valid until the next open or widen (close keeps them). Where the windows meet (a
 * file of at most WINDOW_BYTES once widened, a small one at once) tail is the same bytes as head. */
struct window {
    struct file file; /* fd is -1 once closed; id stays */
    struct slice head, tail;
    bool wide;      /* both ends are as large as they get */
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
/* Reads the rest of both windows; does nothing when wide. A file that shrank since is a shorter
 * window; one that grew is read as it was when opened. */
MUST_CHECK enum err_code window_widen(struct window *w, struct err *e);
void window_close(struct window *w);

#endif
