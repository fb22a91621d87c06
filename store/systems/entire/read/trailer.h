#ifndef STORE_SYSTEMS_ENTIRE_READ_TRAILER_H
#define STORE_SYSTEMS_ENTIRE_READ_TRAILER_H

#include <stdbool.h>

#include "lite/base/slice.h"

/* Trailers of commit messages as Entire reads them: a key, a colon, the rest of the line, anywhere in the message
 * (entire.md 2.5). An empty value is empty: the seed's reader took the next line for it. */

#define TRAILER_CHECKPOINT "Entire-Checkpoint"
#define TRAILER_SESSION "Entire-Session"
#define TRAILER_METADATA "Entire-Metadata"
#define TRAILER_TASK "Entire-Metadata-Task"
#define TRAILER_STRATEGY "Entire-Strategy"
#define TRAILER_AGENT "Entire-Agent"
#define TRAILER_BRANCH "Ephemeral-branch"

/* The next value of the key in *rest, which is cut behind it; blanks around the value are gone. */
bool trailer_next(struct slice *rest, const char *key, struct slice *value);
/* The first one; empty when there is none. */
struct slice trailer_first(struct slice message, const char *key);
/* The next checkpoint that a commit of the user's belongs to: a valid id with a blank or the end behind it. */
bool trailer_checkpoint(struct slice *rest, struct slice *id);
/* The first line of a message. */
struct slice trailer_subject(struct slice message);

#endif
