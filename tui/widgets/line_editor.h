#ifndef TUI_WIDGETS_LINE_EDITOR_H
#define TUI_WIDGETS_LINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/slice.h"
#include "tui/app/key.h"
#include "tui/widgets/frame.h"

/* A line of text that is being typed: the query, a search, a title. It is always valid UTF-8, and
 * the cursor is between characters. A zeroed struct is an empty line. */
enum { LINE_EDITOR_MAX = 1024 };

struct line_editor {
    char text[LINE_EDITOR_MAX];
    size_t n;
    size_t cursor; /* bytes before it */
};

struct slice line_editor_text(const struct line_editor *e);
void line_editor_set(struct line_editor *e, struct slice text);
/* Inserts text at the cursor; control characters become blanks. Text that does not fit is left
 * out. */
void line_editor_insert(struct line_editor *e, struct slice text);
/* The usual keys: letters, arrows, Home End, ^A ^E ^B ^F, Backspace Del, ^W ^U ^K, Alt+b Alt+f
 * Alt+d. Returns true if the key was one of them and did something. */
bool line_editor_key(struct line_editor *e, struct key key);

/* Draws the line from x on, scrolled so that the cursor shows; optionally puts the frame's cursor
 * there. Returns the columns used. */
int line_editor_draw(const struct line_editor *e, struct frame *f, struct rect r, enum style style,
                     bool cursor);

#endif
