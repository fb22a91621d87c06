#ifndef TUI_SCREENS_TRANSCRIPT_LAYOUT_H
#define TUI_SCREENS_TRANSCRIPT_LAYOUT_H

#include "lite/base/buf.h"
#include "tui/widgets/text_wrap.h"

/* How a conversation is drawn: the width, and the signs. */
struct layout_glyphs {
    const char *prompt, *answer, *closed, *open, *ok, *failed, *none, *ellipsis, *branch, *note,
        *thinking, *cut;
};

struct layout_options {
    int width; /* of the text, without mark and position bar */
    bool ascii;
    const struct layout_glyphs *glyphs;
    struct slice root; /* paths below it are shown without it; may be empty */
    int64_t now_ms;    /* ages are counted from here */
};

const struct layout_glyphs *layout_glyphs_for(bool ascii);

/* Appends the text in at most `cols` columns, with an ellipsis where something was cut off: at the end, or at
 * the beginning (paths: their end tells them apart). Answers the columns. */
int layout_cut(const struct layout_options *look, struct buf *out, struct slice text, int cols);
int layout_cut_front(const struct layout_options *look, struct buf *out, struct slice text,
                     int cols);
/* The path as it is shown. */
struct slice layout_path(const struct layout_options *look, struct slice path);

/* "… 340 more lines": unfolding there shows them. 0: all are shown, unfolding hides them again. */
void layout_more(struct styled_text *s, const struct layout_options *look, size_t lines);
/* "48 KB" */
enum { LAYOUT_SIZE_TEXT = 24 };
void layout_size(int64_t bytes, char out[LAYOUT_SIZE_TEXT]);

#endif
