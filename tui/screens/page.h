#ifndef TUI_SCREENS_PAGE_H
#define TUI_SCREENS_PAGE_H

#include "store/transcript.h"
#include "tui/screens/folds.h"
#include "tui/screens/look.h"

/* One message laid out. Calls and results are rows of their own in a session; a reader sees them as one thing,
 * so a page asks for the other half. */

/* What a page ends with: the next one sets itself off from it. A page of nothing passes on what was before. */
enum page_end { PAGE_NOTHING, PAGE_PROMPT, PAGE_TEXT, PAGE_TOOL, PAGE_NOTE, PAGE_SEAM };

/* The neighbourhood, as far as it was read. */
struct page_context {
    /* The result of a call: NULL when there is none, or it is not read. */
    const struct block *(*result)(const void *arg, struct slice call_id);
    bool (*has_call)(const void *arg, struct slice call_id);
    const void *arg;
    enum page_end before;
};

struct page {
    const struct message *message;
    const struct block_list *blocks;
    const struct err *error; /* the row could not be read: why */
};

enum page_end page_lay(struct sheet *s, const struct look *look, const struct folds *folds,
                       const struct page *p, const struct page_context *context);

#endif
