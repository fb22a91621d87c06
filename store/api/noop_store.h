#ifndef STORE_API_NOOP_STORE_H
#define STORE_API_NOOP_STORE_H

#include "store/api/store.h"

/* A store that keeps nothing, for hosts whose persistence is switched off (seed 004): the same calls succeed, nothing is
 * read or written, and nothing is ever listed. open takes any path, also NULL. Every id that could be one exists and
 * has no messages, so that a host may look up the session it created. Threads may share it. */
extern const struct store_ops noop_store_ops;

#endif
