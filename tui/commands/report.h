#ifndef TUI_COMMANDS_REPORT_H
#define TUI_COMMANDS_REPORT_H

#include "lite/base/err.h"

/* Writes "reprise: PATH-OR-ID: what: why" to fd as exactly one clean line. */
void out_report(int fd, const struct err *e);

#endif
