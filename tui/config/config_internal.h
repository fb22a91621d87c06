#ifndef TUI_CONFIG_CONFIG_INTERNAL_H
#define TUI_CONFIG_CONFIG_INTERNAL_H

#include "tui/config/config.h"

/* Reading the configuration file: the argument of ini_parse_stream() and of its handler. */
struct reading {
    struct config *config;
    const char *path;
    struct slice rest; /* of the file */
    int line;          /* the one being read, from 1 */
    bool no_memory;
};

/* Notes a mistake in the line that is being read. */
void config_add_problem(struct reading *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "unknown setting pewview; did you mean preview?"; near may be NULL. */
void config_add_unknown(struct reading *r, const char *what, const char *typed, const char *near);

/* A setting below [store.NAME]. At the end of the file, the settings that no store has are reported. */
#define STORE_SECTION "store."
void config_set_store(struct reading *r, const char *section, const char *name, const char *value);
void config_check_stores(struct reading *r);

/* A command with which an agent changes sessions, below [SYSTEM] or [store.NAME]. Returns STORE_COMMANDS for other
 * keys. */
enum store_command config_change_key(const char *name);
void config_set_change(struct reading *r, const char *section, enum store_command what,
                       const char *value);

/* A setting below [keys.CONTEXT]. */
#define KEYS_SECTION "keys."
void config_set_keys(struct reading *r, const char *context, const char *action, const char *keys);

#endif
