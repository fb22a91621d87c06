#ifndef STORE_SYSTEMS_ENTIRE_READ_POINT_H
#define STORE_SYSTEMS_ENTIRE_READ_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/git/libgit2.h"

/* A checkpoint of one session, wherever it was found. A temporary one is a commit of a shadow branch, with the whole
 * work tree and the session's metadata. A committed one is a folder of metadata; its code is in a commit of the
 * user. */
enum point_source {
    POINT_SHADOW,
    POINT_REF, /* refs/entire/checkpoints/<xx>/<id> */
    POINT_V1,
    POINT_V2, /* read only */
};

struct point {
    enum point_source source;
    struct slice id;      /* 40 hex digits of the shadow commit, or the checkpoint id */
    struct slice session; /* "" for a shadow commit without trailers */
    git_oid commit;       /* POINT_SHADOW: the commit */
    git_oid tree;         /* POINT_SHADOW: the commit's tree; otherwise the checkpoint's folder */
    struct slice text;    /* POINT_SHADOW: the subject */
    /* POINT_SHADOW: the shadow branch, without refs/heads/; otherwise the user's branch */
    struct slice branch;
    struct slice agent; /* display name; "" if not recorded */
    struct slice strategy;
    struct slice model;
    struct slice task; /* tool use id; "": not a sub-agent's checkpoint */
    /* A path in the tree, NUL-terminated: the session's folder in a shadow commit, otherwise its metadata.json. */
    struct slice metadata;
    /* Committed: the paths of these files in the tree, NUL-terminated; "": the session has no such file. */
    struct slice transcript, prompt, hash;
    int64_t time_ms;          /* TIME_NONE if missing */
    int64_t transcript_start; /* committed: the line at which this checkpoint's part begins */
    size_t files;             /* committed: how many files were touched */
    /* The position at which it was found. Branches are walked from their tips, so newer commits have lower numbers. */
    size_t order;
};

struct point_list {
    struct point *point; /* in the arena */
    size_t n;
};

MUST_CHECK enum err_code point_add(struct point_list *list, struct arena *a, const struct point *p);

/* Something that could not be read. */
struct problem {
    const char *path; /* a file, a ref, a checkpoint */
    const char *why;
};

struct problem_list {
    struct problem *problem; /* in the arena */
    size_t n;
    const char *cut; /* a literal: the reason why not all sessions are listed; NULL: all are */
};

MUST_CHECK enum err_code point_problem_add(struct problem_list *list, struct arena *a,
                                           const char *path, const char *why);

/* ---- prompts ---- */

/* prompt.txt contains the prompts of a checkpoint (until 0.5.0 also those before it), separated by ruled lines. */

/* Reads the file of a point; the former content of out is replaced. Returns false if it has none. p may be NULL. */
bool point_prompts_read(git_repository *repo, const struct point *p, struct buf *out);
struct slice point_prompts_first(struct slice text);
struct slice point_prompts_last(struct slice text);

/* ---- shadow branches ---- */

/* One shadow branch for each commit and work tree, shared by all sessions there (docs/formats/entire.md 2.4, 2.5). */
struct shadow {
    struct slice branch; /* without refs/heads/ */
    git_oid tip;
    bool doubtful; /* neither a suffix nor a trailer at the tip: perhaps a user's branch */
    bool cut;      /* not all of its commits were read, so their sessions are unknown */
};

struct shadow_list {
    struct shadow *shadow; /* in the arena */
    size_t n;
};

/* The largest numbers of commits that are read: of one branch, and of all. */
enum { SHADOW_COMMITS_MAX = 20000, SHADOW_ALL_MAX = 200000 };

/* Reads all shadow branches, with their commits as points, newest first. One that cannot be read is a problem. */
MUST_CHECK enum err_code point_shadows_read(git_repository *repo, struct arena *a,
                                            struct shadow_list *list, struct point_list *points,
                                            struct problem_list *problems, struct err *e);

/* ---- links ---- */

/* A commit of the user that names a checkpoint in a trailer: the way back from metadata to code (docs/formats/entire.md
 * 2.6). One commit may name several. */
struct link {
    struct slice checkpoint;
    git_oid commit;
    struct slice subject;
    int64_t time_ms;
};

struct links {
    struct link *link; /* in the arena; newest commit first */
    size_t n;
};

enum { LINK_COMMITS_MAX = 50000 };

/* Walks the history of HEAD and of all branches that are not Entire's. */
MUST_CHECK enum err_code point_links_read(git_repository *repo, struct arena *a, struct links *out,
                                          struct err *e);
/* The newest commit that names the checkpoint, or NULL. */
const struct link *point_link_find(const struct links *links, struct slice checkpoint);

#endif
