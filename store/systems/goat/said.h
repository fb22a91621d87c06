#ifndef STORE_SYSTEMS_GOAT_SAID_H
#define STORE_SYSTEMS_GOAT_SAID_H

#include "lite/jsonout.h"
#include "store/systems/goat/entry.h"

/* One line as the message that CLI.md `messages` answers; the line's own values pass through as they are written. */
void goat_message_write(struct jsonout *j, struct slice line, const struct goat_entry *e,
                        struct slice session);

#endif
