#ifndef STORE_KEEP_KEEP_H
#define STORE_KEEP_KEEP_H

#include <sys/types.h>

#include <fts.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/api/finding.h"
#include "store/api/store.h"
#include "store/fs/span.h"

/* Copies of sessions that stay when their agent removes the originals.
 *
 *   <data>/kept/             0700
 *       files/<path>         a copy of the file <path> with its mode and times: files/home/u/.claude/projects/...
 *       manifest             for each kept session its files, their state when they were copied, and their hashes
 *       lock                 flock: one writer at a time
 *       incoming             a copy that is not complete
 *
 * So files/<the path of a store> is a store of the same agent, and is read with the same code. Copies share no blocks with
 * the originals by a second name, because agents write into their files. A name in `files` always leads to a whole copy;
 * the manifest is replaced last, so a crash costs at most a comparison of what was copied. */

/* ---- reading (keep_store.c) ---- */

/* Opens the kept sessions of a store that is open, as a store of its own: those whose originals are gone. It can only be
 * read, rewound from, and deleted. `st` is used, and the arena contains the table of operations: both must outlive it. *out is NULL if
 * nothing of the store was ever kept. */
MUST_CHECK enum err_code keep_store_open(const struct store *st, struct arena *a,
                                         struct store **out, struct err *e);
/* The same for an agent whose own store is gone, as after it was removed from the machine; nothing is used. A store whose
 * path is too long for an error's is not found. */
MUST_CHECK enum err_code keep_store_open_alone(const struct store_ops *ops,
                                               const struct store_env *env, struct arena *a,
                                               struct store **out, struct err *e);
/* Returns true if this is such a store. */
bool keep_store_is(const struct store *st);
/* The path in `files` for the path of an original, in the arena; NULL if nothing can be kept (no home), or out of
 * memory. */
const char *keep_path_of(const struct store_env *env, const char *path, struct arena *a);
/* Adds the paths of the kept copies of a session's parts to them, which need not exist, because who deletes a session
 * means its copy, too. */
MUST_CHECK enum err_code keep_add_copies(const struct store *st, struct arena *a,
                                         const char ***part, size_t *n, struct err *e);
/* The path of the original; `path` is in `files` of this store. */
const char *keep_original_of(const struct store *st, const char *path);

/* ---- the files of a session ---- */

/* Called for each entry below a part of a session (store_session_parts), a directory before and after what is in it. */
typedef enum err_code keep_walk_fn(const FTSENT *x, void *arg, struct err *e);
/* Walks a part, which need not exist; links are not followed. `verb` begins the text of an error. */
MUST_CHECK enum err_code keep_walk(const char *path, const char *verb, keep_walk_fn *fn, void *arg,
                                   struct err *e);

/* ---- the manifest (keep_manifest.c) ---- */

enum keep_kind { KEEP_FILE, KEEP_DIR, KEEP_SHARED, KEEP_KINDS };

struct keep_file {
    enum keep_kind kind;
    const char *path; /* the path of the original */
    /* From lstat when it was copied; a directory has only its mode and times. ctime_ns is 0 if the file may change
     * again without another time. */
    int64_t size, mtime_ns, ctime_ns;
    uint64_t ino;
    uint32_t mode;
    bool gone; /* the original was removed, and the session is still there */
    uint8_t sha256[SHA256_BYTES];
};

struct keep_session {
    const char *system, *store, *id;
    const char *path; /* the path of the transcript */
    int64_t kept_ms;  /* when something of it was copied last */
    struct keep_file *file;
    size_t n;
};

struct keep_manifest {
    struct arena arena; /* owns the texts */
    struct keep_session *session;
    size_t n, cap;
    size_t damaged; /* lines that could not be read */
};

/* A manifest that does not exist is empty. */
MUST_CHECK enum err_code keep_manifest_read(const char *path, struct keep_manifest *out,
                                            struct err *e);
MUST_CHECK enum err_code keep_manifest_write(const struct keep_manifest *m, const char *dir,
                                             struct err *e);
void keep_manifest_fini(struct keep_manifest *m);
/* Sorts the sessions by the paths of their transcripts, for keep_manifest_find. */
void keep_manifest_sort(struct keep_manifest *m);
struct keep_session *keep_manifest_find(const struct keep_manifest *m, const char *path);
/* The bytes of a session's own copies. */
int64_t keep_session_bytes(const struct keep_session *s);

/* ---- keeping ---- */

/* 0: no limit. */
struct keep_limits {
    int64_t bytes, sessions, days;
};

struct keep; /* the lock is held */

enum keep_state {
    KEEP_UNCHANGED,
    KEEP_COPIED,
    KEEP_REFUSED, /* `why` says why; what was kept before is still kept */
};

struct keep_result {
    enum keep_state state;
    size_t files;       /* copied, or to be copied */
    int64_t bytes;      /* the size of these */
    enum err_code code; /* KEEP_REFUSED: for the caller's own answer */
    char why[256];      /* KEEP_REFUSED; else what of it is left out, or "" */
};

/* Waits up to ten seconds for the lock (ERR_LOCKED). dry: nothing is locked, made or written. */
MUST_CHECK enum err_code keep_open(const struct store_env *env, const struct keep_limits *limits,
                                   bool dry, struct keep **out, struct err *e);
/* Keeps one session, or again what changed of it. An error means that no more can be kept (the disk is full); what
 * concerns only this session is a refusal. */
MUST_CHECK enum err_code keep_session(struct keep *k, const struct session_ref *ref,
                                      struct keep_result *out, struct err *e);
/* Removes kept sessions whose originals are gone, the oldest first, until the limits hold; *removed is their number. While
 * a store is away as a whole, its originals do not count as gone. None goes for its age within a day after the clock has
 * jumped ahead by weeks. */
MUST_CHECK enum err_code keep_prune(struct keep *k, size_t *removed, struct err *e);
/* Writes the manifest. */
MUST_CHECK enum err_code keep_finish(struct keep *k, struct err *e);
void keep_close(struct keep *k); /* NULL is fine */
DEFINE_CLEANUP(struct keep, keep_close);

/* Why sessions of a system cannot be kept: a literal; NULL if they can. */
const char *keep_unsupported(const struct store_ops *ops);
/* Reports each kept file that is missing or no longer has its bytes, unless all of its session is gone. */
MUST_CHECK enum err_code keep_verify(const struct store_env *env, finding_fn *fn, void *arg,
                                     struct err *e);

#endif
