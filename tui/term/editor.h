#ifndef TUI_TERM_EDITOR_H
#define TUI_TERM_EDITOR_H

#include "lite/base/err.h"

/* Runs the person's editor ("vim", "code --wait") on a file, on the terminal tty, and waits for it. The screen has
 * been left before. */
MUST_CHECK enum err_code editor_run(const char *editor, const char *path, int tty, struct err *e);

#endif
