#ifndef TUI_SCREENS_LOOK_H
#define TUI_SCREENS_LOOK_H

#include "lite/buf.h"
#include "tui/screens/flow.h"

/* How a conversation is drawn: the width, and the signs. */
struct signs {
    const char *prompt, *answer, *closed, *open, *ok, *failed, *none, *ellipsis, *branch, *note,
        *thinking, *cut;
};

struct look {
    int width; /* of the text, without mark and position bar */
    bool ascii;
    const struct signs *signs;
    struct slice root; /* paths below it are shown without it; may be empty */
    int64_t now_ms;    /* ages are counted from here */
};

const struct signs *signs_for(bool ascii);

/* Appends the text in at most `cols` columns, with an ellipsis where something was cut off: at the end, or at
 * the beginning (paths: their end tells them apart). Answers the columns. */
int look_cut(const struct look *look, struct buf *out, struct slice text, int cols);
int look_cut_front(const struct look *look, struct buf *out, struct slice text, int cols);
/* The path as it is shown. */
struct slice look_path(const struct look *look, struct slice path);

/* "… 340 more lines": unfolding there shows them. 0: all are shown, unfolding hides them again. */
void look_more(struct sheet *s, const struct look *look, size_t lines);
/* "48 KB" */
enum { LOOK_SIZE = 24 };
void look_size(int64_t bytes, char out[LOOK_SIZE]);

#endif
