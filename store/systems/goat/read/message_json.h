#ifndef STORE_SYSTEMS_GOAT_READ_MESSAGE_JSON_H
#define STORE_SYSTEMS_GOAT_READ_MESSAGE_JSON_H

#include "lite/json/jsonout.h"
#include "store/systems/goat/read/entry.h"

/* One line as the message that CLI.md `messages` answers; the line's own values pass through as they are written. */
void goat_message_write(struct jsonout *j, struct slice line, const struct goat_entry *e,
                        struct slice session);

#endif
