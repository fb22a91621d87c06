#ifndef LITE_WINDOW_H
#define LITE_WINDOW_H

#include "lite/file.h"

/* The lite read: the first and the last 64 KiB of a transcript, and nothing between. This constant
 * exists once: readers look here for titles and tags, and the writer's re-append keeps them inside.
 * (claude.md 0.1) */
enum { WINDOW_BYTES = 65536, WINDOW_FIRST_BYTES = 4096 };

/* Reads a file's ends in stages: 4 KiB at each end first, the whole windows only when a field is still
 * open. One window per thread, reused from file to file; it owns two buffers of WINDOW_BYTES.
 * head and tail are valid until the next open or widen. Where the windows overlap (size <=
 * WINDOW_BYTES once widened) tail is the same bytes as head. */
struct window {
    struct file file;
    struct slice head, tail;
    bool wide;      /* both ends are as large as they get */
    bool torn_tail; /* the last byte is not a newline (false for an empty file) */
    char *bytes;    /* owned */
};

MUST_CHECK enum err_code window_init(struct window *w, struct err *e);
void window_fini(struct window *w);
/* Opens the file (see file_open) and reads the first stage. Closes the one before. */
MUST_CHECK enum err_code window_open(struct window *w, int dirfd, const char *name, unsigned flags,
                                     struct err *e);
/* Reads the rest of both windows. A file that shrank since is a shorter window. */
MUST_CHECK enum err_code window_widen(struct window *w, struct err *e);
void window_close(struct window *w);

#endif
