#ifndef TESTS_SUPPORT_MEMORY_STORE_H
#define TESTS_SUPPORT_MEMORY_STORE_H

#include "store/api/store.h"

/* A host's own store, as an example: sessions that live in memory, behind the one interface. Every session is a file
 * without a name (memfd), which /proc/self/fd lets the library read like any other; so only the host's own part had to
 * be written. A row is {"id", "role", "text"}.
 *
 * Unsupported operations are NULL: nothing of the store outlives the process, so there is nothing to undo, to delete or
 * to rewind. A store must not be shared between threads while rows are appended. */
extern const struct store_ops memory_ops;

#endif
