#ifndef TUI_SCREENS_FLOWS_CHANGE_TEXT_H
#define TUI_SCREENS_FLOWS_CHANGE_TEXT_H

#include <stddef.h>

#include "lite/base/slice.h"
#include "tui/app/action.h"
#include "tui/data/change_request.h"

/* Pieces of the lines that tell what is being changed and what was. */
struct model;

struct change_text {
    char text[200];
};

/* A title in quotation marks, cut where it is long. Data: the line is cleaned when it is drawn. */
struct change_text change_text_title(const struct model *m, struct slice title);
struct change_text change_text_count(size_t n);
/* How to take it back: the key of `a` here, or that of the menu where letters are text; "" where there is none. */
struct change_text change_text_undo_key(const struct model *m, enum action a);
/* What is being done, while it takes its time. */
const char *change_text_doing(enum change_request request);
/* What was done, for the toast. */
struct change_text change_text_done(const struct model *m, const struct change_result *c);

#endif
