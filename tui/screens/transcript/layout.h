#ifndef TUI_SCREENS_TRANSCRIPT_LAYOUT_H
#define TUI_SCREENS_TRANSCRIPT_LAYOUT_H

#include "lite/base/buf.h"
#include "store/api/transcript.h"
#include "tui/screens/transcript/folds.h"
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
 * the beginning (paths: their end tells them apart). Returns the columns. */
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

/* One message laid out. Calls and results are rows of their own in a session; a reader sees them as one thing,
 * so a page asks for the other half. */

/* The end of a message, from which the next one is set off. An empty message passes on the end before it. */
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
    /* The result of a call; NULL if it has no result, or the result was not read. */
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

enum message_layout_end layout_message(struct styled_text *s, const struct layout_options *look,
                                       const struct folds *folds, const struct message_page *p,
                                       const struct message_layout_context *context);

/* A tool call and what came of it: one line when folded, all of it when open. */
struct tool {
    const struct block *call;
    const struct block *result; /* NULL: no result, or not read yet */
    bool open, more;            /* more: long texts in full */
};

void tool_layout(struct styled_text *s, const struct layout_options *look, const struct tool *t);
/* A result whose call is not shown: as open as a result can be. */
void tool_layout_result(struct styled_text *s, const struct layout_options *look,
                        const struct tool *t);

/* Text as it is, indented. A long text is cut, and the line below it shows how much is missing. */
void tool_layout_text(struct styled_text *s, const struct layout_options *look, enum style style,
                      struct slice text, bool more);

/* How often a text occurs in what a call was asked, as it is shown: an edit by its diff. */
size_t tool_count(const struct block *call, struct slice needle);

/* Lines of a text; a last one without newline counts. */
size_t tool_count_lines(struct slice text);

#endif
