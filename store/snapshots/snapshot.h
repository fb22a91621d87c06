#ifndef STORE_SNAPSHOTS_SNAPSHOT_H
#define STORE_SNAPSHOTS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"

/* Copies of our own: the files of a project before each prompt of an agent and at the end of each turn, taken by hooks
 * of the agent (`reprise snapshot`). A rewind then gives back what no agent records: what shell commands changed.
 *
 *   <state>/copies/<project>/   0700; the first 32 hex digits of the SHA-256 of the project's path
 *       root                    that path
 *       lock                    flock: one snapshot at a time
 *       HEAD refs objects       a bare git repository with trees and blobs, and no commits
 *       files                   what the last snapshot found (snapshot_index.h)
 *       files.last              the same of the last complete one, while `files` is only a beginning
 *       log                     one line for each snapshot, appended when everything it names is durable
 *
 * A file that git tracks and that did not change since it was added is named by the blob in the project's own
 * repository, and copied from there when a later snapshot finds it changed. Nothing is written below the project. */

/* When a snapshot is taken. */
enum snapshot_kind {
    SNAPSHOT_PROMPT,    /* before a prompt is answered; the agent waits */
    SNAPSHOT_END,       /* when the turn is complete */
    SNAPSHOT_INTERRUPT, /* when a person stopped the turn */
    SNAPSHOT_KINDS
};

struct snapshot_request {
    const char *agent;    /* the name of its system: "claude" */
    struct slice session; /* the id by which reprise lists the session */
    /* The agent's id of the turn or of its prompt; empty if the hook does not tell it. */
    struct slice turn;
    struct slice prompt; /* its text, of which only a hash is kept; empty: not known */
    const char *cwd;     /* absolute: where the agent works */
    enum snapshot_kind kind;
    int64_t limit_ms; /* give up after this time; 0: SNAPSHOT_LIMIT_MS */
};

enum { SNAPSHOT_LIMIT_MS = 2000 };

/* Takes a snapshot of the project that cwd belongs to. A second caller for the same project waits for the first.
 * ERR_CANCELLED: it took too long; that is recorded, and what was copied so far is used by the next snapshot.
 * ERR_UNSUPPORTED: cwd is no project (the home directory, the root). */
MUST_CHECK enum err_code snapshot_take(const struct store_env *env,
                                       const struct snapshot_request *req, struct err *e);

/* ---- what was taken ---- */

enum { SNAPSHOT_HEX = 40, SNAPSHOT_PROMPT_HEX = 16 };
/* The notes of a snapshot begin with this number; older ones have none, and no permissions of directories that contain
 * something. */
enum { SNAPSHOT_NOTES_VERSION = 1 };

struct snapshot {
    enum snapshot_kind kind;
    int64_t time_ms;
    struct slice agent, session, turn;
    struct slice prompt; /* the beginning of the SHA-256 of its text, in hex; empty: not known */
    /* 40 hex digits; empty: the snapshot was given up, for the reason in `why`. */
    struct slice tree;
    struct slice notes; /* a blob of notes; may be empty */
    struct slice why;
    struct slice line; /* as it is in the log, without its end */
};

struct snapshot_log {
    struct arena arena;        /* owns everything */
    const char *dir;           /* the store of the project, which is also its bare repository */
    const char *root;          /* the project */
    struct snapshot *snapshot; /* oldest first */
    size_t n;
    bool newer; /* there are lines of a newer version, which are left out */
};

/* Reads the snapshots of the project that a directory belongs to. An empty log is no error; lines that are not ours, and a
 * torn one, are left out. ERR_NOMEM, ERR_IO. */
MUST_CHECK enum err_code snapshot_log_read(const struct store_env *env, const char *cwd,
                                           struct snapshot_log *out, struct err *e);
/* The same of a store that is known; log->dir is set. */
MUST_CHECK enum err_code snapshot_log_read_dir(struct snapshot_log *log, struct err *e);
void snapshot_log_fini(struct snapshot_log *log);

/* ---- which projects have snapshots, and how long they are kept ---- */

struct snapshot_project {
    const char *dir;  /* its store */
    const char *root; /* the project, which need not exist any more; NULL: not known */
    size_t n;         /* snapshots, with those that were given up */
    int64_t newest_ms, oldest_ms;
    int64_t bytes; /* on disk */
};

struct snapshot_projects {
    struct arena arena;               /* owns everything */
    struct snapshot_project *project; /* in no order */
    size_t n;
};

/* Finds all stores of snapshots. One that cannot be read has no snapshots. */
MUST_CHECK enum err_code snapshot_projects_read(const struct store_env *env,
                                                struct snapshot_projects *out, struct err *e);
/* Finds the stores of projects that do not exist any more; of each only its directory and its root are read. */
MUST_CHECK enum err_code snapshot_projects_gone(const struct store_env *env,
                                                struct snapshot_projects *out, struct err *e);
void snapshot_projects_fini(struct snapshot_projects *p);

struct snapshot_prune_rule {
    /* Snapshots before this time are removed, except the newest of a project. */
    int64_t before_ms;
    /* NULL, or an absolute path: the content of this file is removed from all snapshots that remain. */
    const char *path;
    /* The older half of the snapshots of a larger store is removed, too; 0: no limit. */
    int64_t max_bytes;
    bool yields; /* it runs unasked: it stops as soon as a snapshot waits for it */
    /* The person did not name the age: within a day after the clock has jumped ahead by weeks, nothing is removed for it. */
    bool doubts;
};
/* Snapshots are kept for 30 days, and one project has 1 GB of them; the clock is doubted. */
struct snapshot_prune_rule snapshot_prune_defaults(int64_t now_ms);

/* Removes snapshots and the objects that no other one needs, for good; *removed (may be NULL) is how many there were,
 * those that lost a file included, or with dry_run how many there would be. A store of many packs is packed anew even if
 * nothing is removed. After a crash each snapshot of the log is whole. ERR_LOCKED: one is being taken. ERR_CANCELLED: one
 * waits (rule->yields), and nothing was changed. */
MUST_CHECK enum err_code snapshot_prune(const struct snapshot_project *project,
                                        const struct snapshot_prune_rule *rule, bool dry_run,
                                        size_t *removed, struct err *e);

/* Prunes the snapshots of the project that cwd belongs to, at most once a day, until it is not larger than the rule allows.
 * Otherwise *due is false, and it only looks if `only_ask`. */
MUST_CHECK enum err_code snapshot_prune_due(const struct store_env *env, const char *cwd,
                                            const struct snapshot_prune_rule *rule, bool only_ask,
                                            bool *due, struct err *e);

/* The same hash of a prompt's text as in the log. Blanks at both ends do not count. */
void snapshot_prompt_hash(struct slice prompt, char hex[SNAPSHOT_PROMPT_HEX + 1]);

#endif
