#ifndef TUI_WIDGETS_SPINNER_H
#define TUI_WIDGETS_SPINNER_H

#include <stdbool.h>
#include <stdint.h>

/* The sign of work under way, turning with the time. Work that is done in a moment shows none. */
const char *spinner_sign(int64_t now_ms, bool ascii);
bool spinner_shows(int64_t since_ms, int64_t now_ms);
/* When the screen has to be drawn again for it. */
int64_t spinner_wake_ms(int64_t since_ms, int64_t now_ms);

#endif
