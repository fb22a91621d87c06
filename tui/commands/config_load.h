#ifndef TUI_COMMANDS_CONFIG_LOAD_H
#define TUI_COMMANDS_CONFIG_LOAD_H

#include "tui/commands/command.h"
#include "tui/config/config.h"

/* The configuration of this run: the file (--config, else the usual one, which need not exist), then what
 * environment and command line say. Mistakes in the file are named on stderr. config_fini frees it. */
MUST_CHECK enum err_code command_config(const struct invocation *in, struct config *out,
                                     struct err *e);

#endif
