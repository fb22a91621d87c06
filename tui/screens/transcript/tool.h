#ifndef TUI_SCREENS_TRANSCRIPT_TOOL_H
#define TUI_SCREENS_TRANSCRIPT_TOOL_H

#include "store/api/transcript.h"
#include "tui/screens/transcript/layout.h"

/* A tool call and what came of it: one line when folded, all of it when open. */
struct tool {
    const struct block *call;
    const struct block *result; /* NULL: there is none, or it is not read yet */
    bool open, more;            /* more: long texts in full */
};

void tool_layout(struct styled_text *s, const struct layout_options *look, const struct tool *t);
/* A result whose call is not shown: as open as a result can be. */
void tool_layout_result(struct styled_text *s, const struct layout_options *look,
                        const struct tool *t);

/* Text as it is, set off from the left; a long one is cut, and says by how much. */
void tool_layout_text(struct styled_text *s, const struct layout_options *look, enum style style,
                      struct slice text, bool more);

/* How often a text occurs in what a call was asked, as it is shown: an edit by its diff. */
size_t tool_count(const struct block *call, struct slice needle);

/* Lines of a text; a last one without newline counts. */
size_t tool_count_lines(struct slice text);

#endif
