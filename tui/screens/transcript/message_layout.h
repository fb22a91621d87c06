#ifndef TUI_SCREENS_TRANSCRIPT_MESSAGE_LAYOUT_H
#define TUI_SCREENS_TRANSCRIPT_MESSAGE_LAYOUT_H

#include "store/api/transcript.h"
#include "tui/screens/transcript/folds.h"
#include "tui/screens/transcript/layout.h"

/* One message laid out. Calls and results are rows of their own in a session; a reader sees them as one thing,
 * so a page asks for the other half. */

/* What a page ends with: the next one sets itself off from it. A page of nothing passes on what was before. */
enum message_layout_end {
    LAYOUT_END_NOTHING,
    LAYOUT_END_PROMPT,
    LAYOUT_END_TEXT,
    LAYOUT_END_TOOL,
    LAYOUT_END_NOTE,
    LAYOUT_END_SEAM
};

/* The neighbourhood, as far as it was read. */
struct message_layout_context {
    /* The result of a call: NULL when there is none, or it is not read. */
    const struct block *(*result)(const void *arg, struct slice call_id);
    bool (*has_call)(const void *arg, struct slice call_id);
    const void *arg;
    enum message_layout_end before;
};

struct message_page {
    const struct message *message;
    const struct block_list *blocks;
    const struct err *error; /* the row could not be read: why */
};

enum message_layout_end message_layout(struct styled_text *s, const struct layout_options *look,
                                       const struct folds *folds, const struct message_page *p,
                                       const struct message_layout_context *context);

#endif
