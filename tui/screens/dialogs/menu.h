#ifndef TUI_SCREENS_DIALOGS_MENU_H
#define TUI_SCREENS_DIALOGS_MENU_H

#include <stddef.h>

#include "tui/app/action.h"

/* The menu of everything that can be done with a session, each with its letter. */
struct menu {
    size_t at;
};

size_t menu_count(void);
enum action menu_action(size_t i);

#endif
