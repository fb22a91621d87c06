#ifndef STORE_KEEP_KEEP_INTERNAL_H
#define STORE_KEEP_KEEP_INTERNAL_H

#include <limits.h>

#include "store/keep/keep.h"

struct keep {
    const struct store_env *env;
    struct keep_limits limits;
    char dir[PATH_MAX];    /* <data>/kept */
    char synced[PATH_MAX]; /* the directory whose names are not yet durable, or "" */
    int lock;
    bool dry, changed;
    int64_t bytes; /* the size of all that is kept */
    size_t known;  /* the sessions that are sorted; those that were added follow */
    struct keep_manifest manifest;
    struct hasher hasher;
};

/* Sets the hash of f to that of the file at a path. */
MUST_CHECK enum err_code keep_hash(struct keep *k, const char *path, struct keep_file *f,
                                   struct err *e);

#endif
