#ifndef LITE_IO_LINE_H
#define LITE_IO_LINE_H

#include <stdbool.h>

#include "lite/base/slice.h"

/* Lines of a window, in either direction. A line comes without its newline; a CR before it stays (JSON
 * takes it for a blank). torn: the text ended without a newline, a writer may be in the middle of it.
 * slice_line (slice.h) is the forward walk. */

/* Cuts the last line off the end of *rest. False when nothing is left. Walked to its end this yields the
 * same lines as slice_line, in reverse. */
bool line_last(struct slice *rest, struct slice *line, bool *torn);

#endif
