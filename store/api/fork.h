#ifndef STORE_API_FORK_H
#define STORE_API_FORK_H

#include <stdbool.h>

#include "lite/base/slice.h"
#include "store/api/env.h"

/* A new session that begins as a copy of another one. */
struct fork_request {
    /* up to this message, itself included; empty: all of it, or up to where a resume goes on if that is elsewhere than
     * at the end */
    struct slice at;
    struct slice title; /* of the copy; empty: the title of the source and " (fork)" */
    bool with_files;    /* also the file checkpoints, so that the copy can be rewound */
    /* the existing directory that the copy goes into; NULL: beside its source */
    const char *folder;
};

/* Where the copy will be once the change is done. Texts live in the change. */
struct fork_result {
    struct slice id;
    const char *path;
    const char *system; /* whose session the copy is; NULL: of the same system as its source */
    const char *staged; /* the copy until then ... */
    const char *staged_files; /* ... and the saved copies of its files; NULL: there are none */
};

#endif
