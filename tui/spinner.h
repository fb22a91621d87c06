#ifndef TUI_SPINNER_H
#define TUI_SPINNER_H

#include <stdbool.h>
#include <stdint.h>

/* One sign of the wheel that turns while work is under way. */
const char *spinner_sign(int64_t now_ms, bool ascii);

#endif
