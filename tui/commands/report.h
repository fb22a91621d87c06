#ifndef TUI_COMMANDS_REPORT_H
#define TUI_COMMANDS_REPORT_H

#include "lite/base/err.h"

struct invocation;

/* The exit code of the program for an answer of the library: the one place that maps them (CLI.md). */
int report_exit(enum err_code rc);
/* Writes "reprise: PATH-OR-ID: what: why" to fd as exactly one clean line. */
void report_line(int fd, const struct err *e);
/* Warns on stderr of changes, a delete for one, that were interrupted and are not finished yet. */
void report_interrupted(const struct invocation *in);

#endif
