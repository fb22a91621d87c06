#ifndef STORE_HOST_MEMORY_STORE_H
#define STORE_HOST_MEMORY_STORE_H

#include "store/api/store.h"

/* A store whose sessions live in memory and end with it, for hosts that want a conversation to be read, listed and
 * searched like any other, but not kept (seed 001); also an example of a host's own store. Every session is a file
 * without a name (memfd), which the library reads as usual.
 *
 * A row is {"id", "role", "text"}: role "user" or "assistant", a missing id is generated, other members may follow, and
 * rows whose id the session already has are not written again. ERR_USAGE: a row has no role or no text. The one setting
 * is "title". open accepts NULL, or the path of an existing directory, which distinguishes stores and is otherwise
 * unused. Unsupported operations are NULL: nothing of the store outlives the process, so there is nothing to undo, to
 * delete or to rewind. Threads may share a store, also while rows are appended. */
extern const struct store_ops memory_store_ops;

#endif
