#ifndef STORE_API_FINDING_H
#define STORE_API_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Damage, or something that a person may want to know. */
enum finding_kind {
    FINDING_TORN_TAIL,       /* the last line has no newline */
    FINDING_NUL_BYTES,       /* a line that a power cut left full of NULs */
    FINDING_SPLICED_LINE,    /* two rows on one line */
    FINDING_BROKEN_LINE,     /* any other line that does not parse */
    FINDING_DANGLING_PARENT, /* a row's parent is not in the file */
    FINDING_CYCLE,           /* the parents of rows form a circle */
    FINDING_DUPLICATE_ID,    /* a second row with the same id */
    FINDING_METADATA,        /* title, tag and the like are outside the part that listings read */
    FINDING_MISSING_BACKUP,  /* a saved copy of a file is gone */
    FINDING_WRONG_BACKUP,    /* a saved copy cannot be restored */
    FINDING_ORPHAN_FOLDER,   /* belongs to a session whose transcript is gone */
    FINDING_ORPHAN_BACKUPS,  /* saved copies of files of such a session */
    FINDING_UNREADABLE,
    FINDING_HIDDEN,  /* the agent's own picker does not show it */
    FINDING_EXPIRES, /* the agent's own cleanup will remove it */
    FINDING_UNFINISHED_CHANGE,
    FINDING_DAMAGED_CHANGE,
    FINDING_UNFINISHED_REWIND,
    FINDING_DAMAGED_REWIND,
    FINDING_DAMAGED_TRASH,
    FINDING_CHECKSUM,      /* a transcript does not match its checksum */
    FINDING_ORPHAN_BRANCH, /* a branch of checkpoints that belongs to no session */
    FINDING_STUCK,         /* marked as running for too long */
    FINDING_CONCURRENT,    /* other sessions run in the same place */
    FINDING_SETTINGS,      /* settings of the agent that are not understood */
    FINDING_SPLIT_LINE,    /* one row on several lines, or that its agent reads as several */
    FINDING_NO_SESSION,    /* a log without a single row */
    FINDING_POISONED_ROW,  /* the model's API refuses it, and so every resume */
    FINDING_SPACED_ROW, /* printed with blanks in which the agent does not find what it searches as text */
    FINDING_LOST_PART, /* a resume leaves out what was said before this row */
    FINDING_MISPLACED, /* its agent does not look for it where it is */
    FINDING_KINDS
};

/* "torn-tail", ... */
const char *finding_name(enum finding_kind kind);

struct finding {
    enum finding_kind kind;
    struct slice session; /* id; empty: not about a session */
    const char *path;     /* the path of the file or directory */
    int64_t line;         /* from 1; 0: not about a line */
    int64_t offset;       /* the offset of the line in the file; with line */
    const char *why;
    /* what repairing it does to the file: "takes the line out"; may be NULL */
    const char *repair;
    bool rewrites; /* the repair changes bytes of the file, and does not only add to it */
    bool fixable;
    bool fixed;
};

/* Called for each finding; texts are valid during the call. A non-zero code ends the search and is returned. */
typedef enum err_code finding_fn(const struct finding *f, void *arg, struct err *e);

/* What a session owns besides files: refs of a git repository. Deleting the session renames them (OWNED_REF_TRASH),
 * which protects their commits from gc; restoring it renames them back. */
#define OWNED_REF_TRASH "refs/reprise/trash/"

struct owned_ref {
    const char *git;  /* the repository's git directory */
    const char *name; /* "refs/heads/..." */
    const char *tip;  /* the commit it names, in hex; a ref that has moved since is not touched */
};

struct owned_refs {
    const struct owned_ref *ref;
    size_t n;
    /* what cannot be deleted, and why, for a person; a literal; NULL: all can be */
    const char *stays;
};

/* The leftovers of one session: the agent's own cleanup or delete removed its transcript, but side directories, saved
 * copies of files and the like still exist under its id. */
struct leftover {
    struct slice id;
    struct slice folder; /* the project's, as the system names it; "" if that is not known */
    const char **part;   /* absolute; all exist; at least one, unless there is a ref */
    size_t parts;
    const struct owned_ref *owned_refs;
    size_t owned_refs_n;
    int64_t owned_refs_ms; /* when the newest of the refs' commits was made */
    const char *stays;     /* why it must not be deleted: it may still be needed; NULL: it may be */
};

/* Called for each, valid during the call. A non-zero code ends the search and is returned. */
typedef enum err_code leftover_fn(const struct leftover *l, void *arg, struct err *e);

/* A session whose transcript is gone, while the agent still has its prompts. */
struct gone_session {
    struct slice id, cwd;
    const char *path; /* the path of the file with the prompts */
    struct gone_prompt {
        struct slice text;
        int64_t time_ms; /* TIME_NONE: unknown */
    } * prompt;          /* in their order; at least one */
    size_t n;
};

/* Called for each, valid during the call. A non-zero code ends the search and is returned. */
typedef enum err_code gone_fn(const struct gone_session *gone, void *arg, struct err *e);

/* Optional. Those of the scope; none if it is not known which transcripts are gone. */
struct store;
struct scope;
typedef enum err_code store_gone_fn(const struct store *st, const struct scope *scope, gone_fn *fn,
                                    void *arg, struct err *e);

/* Optional. The path at which the agent looks for a session of this directory (empty: not recorded), whose transcript is
 * elsewhere below its folders; in the arena, NULL: not known. ERR_NOT_FOUND: the name is not one of a transcript. */
struct arena;
struct session_ref;
typedef enum err_code store_place_fn(const struct store *st, const struct session_ref *ref,
                                     struct slice cwd, struct arena *a, const char **to,
                                     struct err *e);
/* How many directories below that folder such transcripts are looked for. */
enum { MISPLACED_DEPTH = 6 };

#endif
