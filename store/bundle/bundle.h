#ifndef STORE_BUNDLE_BUNDLE_H
#define STORE_BUNDLE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/fs/span.h"
#include "store/git/identity.h"
#include "store/journal/change.h"
#include "store/redact/redact.h"

/* Sessions in one file that can be carried to another machine: a tar archive, compressed with zstd.
 *
 *   manifest.json        first: what each session is, and its files with their sizes and hashes
 *   <n>/<path>           the files of session n in the order of the manifest, by their path below the agent's store
 *
 * Nothing in a bundle is trusted. The archive has to be exactly what the manifest says: regular files in its order,
 * with its sizes and hashes, and nothing else. The size of what is unpacked is limited before anything is. */

struct bundle_file {
    const char *path; /* below the store: "projects/-srv-app/5e55....jsonl" */
    int64_t size, mtime_ns;
    uint8_t sha256[SHA256_BYTES];
};

struct bundle_session {
    const char *agent, *id; /* "claude" */
    const char *title;      /* may be "" */
    const char *directory;  /* absolute; NULL: not known */
    const char *transcript; /* the path of one of the files, or of a directory of them */
    int64_t messages, created_ms, modified_ms; /* TIME_NONE: not known */
    int64_t bytes;                             /* the size of its files */
    struct repo_identity repository;
    struct bundle_file *file;
    size_t n;
};

struct bundle {
    struct arena arena; /* owns everything */
    const char *home;   /* home of the user who made it; NULL: not known */
    int64_t made_ms;
    bool redacted;
    struct bundle_session *session;
    size_t n;
    int64_t bytes; /* the size of all files */
};

void bundle_fini(struct bundle *b);

/* ---- making (bundle_write.c) ---- */

struct bundle_request {
    const struct store_env *env;
    const char *path; /* where the bundle is written; relative to env->cwd */
    bool redact;      /* in texts; files that are not text are left out */
    bool replace;     /* an existing file */
    bool only_lists;  /* writes nothing */
};

struct bundle_written {
    struct bundle bundle;
    int64_t bytes;         /* the size of the bundle */
    const char **left_out; /* paths, each with the reason; in the arena of the bundle */
    size_t left_outs;
    struct redact_counts redacted;
};

/* Writes sessions to a file, which appears only when it is complete. ERR_UNSUPPORTED: one of them is in no files of its
 * own. ERR_STALE: the file exists, or a session was changed elsewhere than at its end meanwhile. */
MUST_CHECK enum err_code bundle_write(const struct session_ref *ref, size_t n,
                                      const struct bundle_request *req, struct bundle_written *out,
                                      struct err *e);
void bundle_written_fini(struct bundle_written *w);

/* ---- reading (bundle_read.c) ---- */

struct bundle_reader;

/* Opens a bundle and reads its manifest. ERR_FORMAT: it is no bundle, damaged or cut short. ERR_UNSAFE: it is larger
 * than its limits, or names a place outside of a store. ERR_UNSUPPORTED: made by a newer version. */
MUST_CHECK enum err_code bundle_open(const char *path, struct bundle_reader **out, struct err *e);
void bundle_close(struct bundle_reader *r); /* NULL is fine */
DEFINE_CLEANUP(struct bundle_reader, bundle_close);
/* Borrowed. */
const struct bundle *bundle_manifest(const struct bundle_reader *r);
/* Unpacks all files into <dir>/<n>/<path>, which must not exist, and makes them durable. With `root`, session n goes to
 * <dir>/<root[n]>, and nothing is durable. Called once. */
MUST_CHECK enum err_code bundle_unpack(struct bundle_reader *r, const char *dir, const size_t *root,
                                       struct err *e);

/* ---- reading the sessions (bundle_view.c) ---- */

/* The sessions of a bundle as stores of their agents, which can only be read. They are unpacked into a place of ours,
 * <data>/bundles, and checked as unbundle does; bundle_view_close removes them, or, after a crash, the next view. */
struct bundle_view {
    struct arena arena;
    struct bundle_reader *reader;
    struct slice path; /* The path of the bundle, with links followed. */
    const char *dir;   /* where the sessions are */
    int lock;          /* flock on dir: a program reads it */
    struct store **store;
    size_t n;
};

/* ERR_UNSUPPORTED: an agent of the bundle is not known. */
MUST_CHECK enum err_code bundle_view_open(const char *path, const struct store_env *env,
                                          struct bundle_view **out, struct err *e);
void bundle_view_close(struct bundle_view *v); /* NULL is fine */

/* ---- putting sessions in their place (unbundle.c) ---- */

struct unbundle_part {
    const char *from, *to; /* a file or a directory */
};

struct unbundle_item {
    const struct bundle_session *session;
    struct store *store;    /* where it goes; NULL: its agent has none */
    struct session_ref ref; /* as it was unpacked */
    const char *from, *to;  /* its directory, there and here; NULL: not known */
    const char *path;       /* where the transcript is here */
    struct unbundle_part *part;
    size_t n;
    const char *note; /* what a person should know; NULL: nothing */
    const char *why;  /* the reason for which it is not put in its place; NULL: it is */
    enum err_code code;
};

struct unbundle {
    struct arena arena; /* owns the texts */
    struct unbundle_item *item;
    size_t n, placing;
    /* where the files are; removed unless they were moved from it, or will be moved back */
    const char *stage;
    const char **folder; /* directories that the change needs */
    size_t folders;
    struct change *change;
    bool done;

    /* The names that are taken: paths of this plan, and the ids of each store that was asked. */
    struct idset taken;
    struct unbundle_ids {
        const struct store *store;
        struct idset id;
    } * ids;
    size_t stores;
};

/* Unpacks a bundle into a place of ours, checks every file, and plans where they go. `to` NULL: the directory of the
 * session, which exists here, exists below this user's home, or is in the repository of the current directory. */
MUST_CHECK enum err_code unbundle_plan(struct bundle_reader *r, struct store *const stores[],
                                       size_t n, const struct store_env *env, const char *to,
                                       struct unbundle *out, struct err *e);
/* Puts all that can be in its place, as one change, or nothing. */
MUST_CHECK enum err_code unbundle_do(struct unbundle *u, const struct store_env *env,
                                     struct err *e);
void unbundle_fini(struct unbundle *u);

#endif
