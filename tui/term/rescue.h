#ifndef TUI_TERM_RESCUE_H
#define TUI_TERM_RESCUE_H

#include <termios.h>

/* Puts the terminal back when the program crashes while it draws: leaves the alternate screen, shows the
 * cursor, ends the modes that were set, restores the line discipline; then the crash goes on as it would
 * have. Signals that only ask to end are the loop's, not ours. */
void rescue_arm(int fd, const struct termios *found);
void rescue_disarm(void);

#endif
