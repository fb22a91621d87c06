#ifndef STORE_SYSTEMS_ENTIRE_READ_POINT_H
#define STORE_SYSTEMS_ENTIRE_READ_POINT_H

#include <git2.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A checkpoint of one session, wherever it was found: a commit of a shadow branch (temporary: the whole work tree
 * and the session's metadata), or a folder of metadata (committed: the code is in a commit of the user's). */
enum point_source {
    POINT_SHADOW,
    POINT_REF, /* refs/entire/checkpoints/<xx>/<id> */
    POINT_V1,
    POINT_V2, /* read only */
};

struct point {
    enum point_source source;
    struct slice id;      /* 40 hex of the shadow commit, or the checkpoint id */
    struct slice session; /* "" on a shadow commit without trailers */
    git_oid commit;       /* POINT_SHADOW: the commit */
    git_oid tree;         /* POINT_SHADOW: of that commit; else the checkpoint's folder */
    struct slice text;    /* POINT_SHADOW: the subject */
    /* POINT_SHADOW: the shadow branch, without refs/heads/; else that of the user */
    struct slice branch;
    struct slice agent; /* display name; "" where none is recorded */
    struct slice strategy;
    struct slice model;
    struct slice task; /* tool use id of a sub-agent's checkpoint; "" */
    /* in the tree, NUL-terminated: of a shadow commit the session's folder, else its metadata.json */
    struct slice metadata;
    struct slice transcript, prompt, hash; /* committed: in the tree, NUL-terminated; "" */
    int64_t time_ms;                       /* TIME_NONE */
    int64_t transcript_start; /* committed: the line where this checkpoint's part begins */
    size_t files;             /* committed: how many were touched */
    size_t order;             /* as it was found: of a branch the newest first */
};

struct point_list {
    struct point *point; /* in the arena */
    size_t n;
};

/* What could not be read, for doctor. */
struct problem {
    const char *path; /* a file, a ref, a checkpoint */
    const char *why;
};

struct problem_list {
    struct problem *problem; /* in the arena */
    size_t n;
    const char *cut; /* a literal: why not all sessions are listed; NULL: all are */
};

MUST_CHECK enum err_code point_add(struct point_list *list, struct arena *a, const struct point *p);
MUST_CHECK enum err_code entire_problem_add(struct problem_list *list, struct arena *a,
                                            const char *path, const char *why);

#endif
