#ifndef STORE_BUNDLE_BUNDLE_INTERNAL_H
#define STORE_BUNDLE_BUNDLE_INTERNAL_H

#include "lite/base/buf.h"
#include "store/bundle/bundle.h"
#include "store/fs/disk.h"

enum {
    BUNDLE_PATH_MAX = 2048,    /* bytes of a path below its store */
    BUNDLE_NAME_MAX = 255,     /* bytes of one name in a path */
    BUNDLE_FILES_MAX = 100000, /* in all sessions */
    BUNDLE_SESSIONS_MAX = 10000,
    BUNDLE_MANIFEST_MAX = 64 << 20,
    BUNDLE_TEXT_MAX = 4096, /* bytes of a title or another text for people */
    BUNDLE_PIECE = 1 << 18,
};
#define BUNDLE_MANIFEST "manifest.json"

/* Returns true if a path names a file below a directory: no empty part, "." or "..", no control characters, valid UTF-8,
 * not too long. */
bool bundle_path_is_plain(struct slice path);

/* ---- the manifest (bundle_manifest.c) ---- */

MUST_CHECK enum err_code bundle_manifest_print(const struct bundle *b, struct buf *out);
/* Reads and checks it; texts are copied. */
MUST_CHECK enum err_code bundle_manifest_read(struct slice json, struct bundle *out, struct err *e);

/* ---- a session as it was unpacked (bundle_staged.c) ---- */

/* Opens a directory to which sessions of one agent were unpacked as a store of it. */
MUST_CHECK enum err_code bundle_staged_open(const struct store_ops *ops,
                                            const struct store_env *env, const char *root,
                                            struct arena *a, struct store **out, struct err *e);
/* The session with this id, whose transcript has to be where the manifest says, and its directory (NULL: not known). */
MUST_CHECK enum err_code bundle_staged_find(const struct store *staged, const char *root,
                                            const struct bundle_session *s, struct arena *a,
                                            struct session_ref *ref, const char **dir,
                                            struct err *e);
/* The parts of the session that are there. ERR_UNSAFE: a file of the manifest is in none of them. */
MUST_CHECK enum err_code bundle_staged_parts(const struct session_ref *ref, const char *root,
                                             const struct bundle_session *s, struct arena *a,
                                             const char ***part, size_t *n, struct err *e);

/* ---- the archive (bundle_archive.c) ---- */

struct archive_writer;

/* Writes to the file's descriptor, at its offset. */
MUST_CHECK enum err_code archive_writer_open(const struct disk_new *file,
                                             struct archive_writer **out, struct err *e);
void archive_writer_close(struct archive_writer *w); /* NULL is fine */
DEFINE_CLEANUP(struct archive_writer, archive_writer_close);
/* Begins an entry, whose bytes follow with archive_add; then archive_pad. */
MUST_CHECK enum err_code archive_begin(struct archive_writer *w, const char *name, int64_t size,
                                       int64_t mtime_ns, struct err *e);
MUST_CHECK enum err_code archive_add(struct archive_writer *w, struct slice bytes, struct err *e);
MUST_CHECK enum err_code archive_pad(struct archive_writer *w, int64_t size, struct err *e);
/* Ends the archive. *bytes is its size. */
MUST_CHECK enum err_code archive_end(struct archive_writer *w, int64_t *bytes, struct err *e);

struct archive_reader;

MUST_CHECK enum err_code archive_open(const char *path, struct archive_reader **out, struct err *e);
void archive_close(struct archive_reader *r); /* NULL is fine */
/* The most bytes that may be unpacked. */
int64_t archive_limit(const struct archive_reader *r);
/* Begins the next entry, which has to be a regular file named so, of at most `most` bytes. */
MUST_CHECK enum err_code archive_next(struct archive_reader *r, const char *name, int64_t most,
                                      int64_t *size, struct err *e);
/* Reads exactly n bytes of the entry. */
MUST_CHECK enum err_code archive_read(struct archive_reader *r, char *p, size_t n, struct err *e);
MUST_CHECK enum err_code archive_skip_pad(struct archive_reader *r, int64_t size, struct err *e);
/* Nothing may follow. */
MUST_CHECK enum err_code archive_finish(struct archive_reader *r, struct err *e);

#endif
