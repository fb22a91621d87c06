#ifndef STORE_DEMO_WORLD_H
#define STORE_DEMO_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* The files of the sample projects while the scripts are played: what a Read shows, what an edit finds,
 * and in the end what is written to disk. */
enum { WORLD_MAX = 32 };

struct world_file {
    const char *project, *path; /* borrowed from the scripts */
    struct buf text;
    bool exists;
};

struct world {
    struct world_file file[WORLD_MAX];
    size_t n;
};

/* As before the first script. */
MUST_CHECK enum err_code world_init(struct world *w, struct err *e);
void world_fini(struct world *w);
/* The file, made (as not existing) when it is new. NULL when there are too many. */
struct world_file *world_file(struct world *w, const char *project, const char *path);
/* Replaces the first place that reads `old`. ERR_FORMAT when there is none: the script is wrong. */
MUST_CHECK enum err_code world_edit(struct world_file *f, struct slice old, struct slice new,
                                    struct err *e);
MUST_CHECK enum err_code world_write(struct world_file *f, struct slice text);

#endif
