#ifndef TUI_SCREENS_TRANSCRIPT_LAYOUT_H
#define TUI_SCREENS_TRANSCRIPT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "store/api/transcript.h"
#include "store/query/usage.h"
#include "tui/app/key.h"
#include "tui/widgets/styled_text.h"

/* ---- folds (folds.c) ---- */

/* The folds of a conversation. A block is identified by the offset of its row in the file, so that
 * choices survive when the tail of a session is replaced by the whole session. */

enum fold_level {
    FOLD_TOOLS,   /* tools, thinking and notes folded to one line each */
    FOLD_NOTHING, /* all open, long texts in full; notes without content are shown, too */
    FOLD_ALL,     /* prompts, and one line of each answer */
    FOLD_LEVELS
};

struct folds {
    enum fold_level level;
    bool thinking;    /* thinking is open */
    uint64_t *chosen; /* owned, sorted: what a person opened or closed against the level */
    size_t n, cap;
    struct fold_part *part; /* owned: the very long texts that are not at their first part */
    size_t parts, part_cap;
    unsigned stamp; /* changes with every change, so that earlier layouts are outdated */
};

void folds_fini(struct folds *f);
/* Returns false if out of memory. */
bool folds_toggle(struct folds *f, int64_t offset, unsigned block, enum line_part part);
bool folds_open(const struct folds *f, enum block_kind kind, int64_t offset, unsigned block,
                enum line_part part);

/* How much of a long text is shown: its first lines, or one of the parts that it is cut into, so
 * that no text, however long, is laid out as a whole. Most texts have one part. */
enum { FOLDS_FIRST_LINES = -1 };

int folds_part(const struct folds *f, enum block_kind kind, int64_t offset, unsigned block);
/* Returns true if all of this block was asked for, not only because everything is open. */
bool folds_all_chosen(const struct folds *f, int64_t offset, unsigned block);
/* Sets the part of a block whose long text is open. Returns false if out of memory. */
bool folds_set_part(struct folds *f, int64_t offset, unsigned block, int part);
/* Closed -> first lines -> all -> closed; `cut`: the first lines are not all. Returns false if out
 * of memory. */
bool folds_cycle(struct folds *f, enum block_kind kind, int64_t offset, unsigned block, bool cut);

/* The options of a layout: the width, and the signs. */
struct layout_glyphs {
    const char *prompt, *answer, *closed, *open, *ok, *failed, *none, *ellipsis, *branch, *note,
        *thinking, *cut;
};

struct layout_options {
    int width; /* the width of the text, without mark and position bar */
    bool ascii;
    const struct layout_glyphs *glyphs;
    struct slice root;     /* paths below it are shown without it; may be empty */
    char unfold[KEY_NAME]; /* the name of the key that unfolds; "": no key does */
    int64_t now_ms;        /* ages are relative to this time */
};

const struct layout_glyphs *layout_glyphs_for(bool ascii);

/* Appends the text in at most `cols` columns, with an ellipsis if it was cut: at the end, or at the
 * beginning (for paths, which differ at their end). Returns the columns used. */
int layout_cut(const struct layout_options *look, struct buf *out, struct slice text, int cols);
int layout_cut_front(const struct layout_options *look, struct buf *out, struct slice text,
                     int cols);
/* The path as shown. */
struct slice layout_path(const struct layout_options *look, struct slice path);

/* Appends "… 340 more lines: Space", where unfolding shows those lines or, for PART_EARLIER,
 * "… 340 lines above: Space". A text without lines of its own is counted in bytes. */
void layout_hidden(struct styled_text *s, const struct layout_options *look, enum line_part part,
                   size_t lines, size_t bytes);
/* Appends "… less": all lines are shown, and unfolding hides them again. */
void layout_less(struct styled_text *s, const struct layout_options *look);
/* "48 KB" */
enum { LAYOUT_SIZE_TEXT = 24 };
void layout_size(int64_t bytes, char out[LAYOUT_SIZE_TEXT]);

/* "12.3k in, 4.5k out, 1.2M cached, 3.4k written, $0.12"; what is 0 or not known is left out. */
enum { LAYOUT_USAGE_TEXT = 96 };
void layout_usage(const struct usage_sum *sum, char out[LAYOUT_USAGE_TEXT]);

/* One message laid out. Calls and results are separate rows of a session, but are shown as one, so
 * the layout looks for the other half. */

/* The end of a message, which decides how the next one is separated from it. An empty message keeps
 * the end of the message before it. */
enum message_layout_end {
    LAYOUT_END_NOTHING,
    LAYOUT_END_PROMPT,
    LAYOUT_END_TEXT,
    LAYOUT_END_TOOL,
    LAYOUT_END_NOTE,
    LAYOUT_END_SEAM
};

/* The surrounding messages that have been read. */
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
    const struct err *error; /* why the row could not be read */
    int64_t gap_ms;          /* since the message before; 0: not known, or none */
    const char *cut;         /* the line after the last message is cut short; NULL: it is not */
    const char *usage;       /* the tokens of the turn that ends here; NULL: not known */
};

enum message_layout_end layout_message(struct styled_text *s, const struct layout_options *look,
                                       const struct folds *folds, const struct message_page *p,
                                       const struct message_layout_context *context);

/* A tool call and its result: one line if folded, all of it if open. */
struct tool {
    const struct block *call;
    const struct block *result; /* NULL: no result, or not read yet */
    bool open;
    int part;    /* which part of a long text (folds_part) */
    bool sought; /* a result that repeats the diff is shown, too (folds_all_chosen) */
};

void tool_layout(struct styled_text *s, const struct layout_options *look, const struct tool *t);
/* Lays out a result whose call is not shown, fully open. */
void tool_layout_result(struct styled_text *s, const struct layout_options *look,
                        const struct tool *t);

/* Lays out text verbatim, indented. A long text is cut, and the line below it shows how much is
 * missing; never fewer than LAYOUT_LEAST_HIDDEN lines of the screen. */
enum { LAYOUT_LEAST_HIDDEN = 6 };
void tool_layout_text(struct styled_text *s, const struct layout_options *look, enum style style,
                      struct slice text, int part);

/* The part of a text, and the texts before and after it. A number past the last part is that of
 * the last one. */
struct text_part {
    struct slice before, text, after;
};

struct text_part tool_text_part(struct slice text, int part);
/* The part that contains a byte. */
int tool_part_at(struct slice text, size_t at);

/* Counts the occurrences of a text in the input of a call as shown, which for an edit is the diff. */
size_t tool_count(const struct block *call, struct slice needle);

/* Counts the lines of a text; a last line without a newline counts. */
size_t tool_count_lines(struct slice text);

#endif
