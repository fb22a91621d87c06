#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "store/bundle/bundle_internal.h"
#include "store/fs/path.h"
#include "store/keep/keep.h"

enum { BUNDLE_REDACTED_MAX = 1 << 30 };

/* Where the bytes of a file are: in the file itself, or redacted in `spool`. */
struct bundle_source {
    const char *path;
    int64_t at; /* -1: in the file; else in the spool */
};

struct bundle_work {
    const struct bundle_request *req;
    struct bundle_written *out;
    const struct session_ref *ref; /* the session whose files are added */
    const char *copies;            /* the directory of its saved copies; NULL: unknown */
    size_t prefix;                 /* the length of the path of its store, with the slash */
    struct bundle_source *source;  /* where the files of all sessions are */
    size_t n, cap;
    struct disk_new spool; /* has no name */
    int64_t spooled;
    struct hasher hasher;
    char *piece;
};

/* ---- which files ---- */

static enum err_code bundle_leave_out(struct bundle_work *w, const char *path, const char *why,
                                      struct err *e)
{
    struct arena *a = &w->out->bundle.arena;

    NEED(arena_add_text(a, &w->out->left_out, &w->out->left_outs,
                        arena_format(a, "%s: %s", path, why)));
    return ERR_OK;
}

/* Texts are redacted, others cannot be. Saved copies would no longer be what they are copies of. */
static bool bundle_can_redact(const struct bundle_work *w, const char *path)
{
    static const char *const ends[] = { ".jsonl", ".json", ".md", ".txt", ".log" };
    const size_t n = strlen(path);

    if (w->copies && path_under(slice_of(path), slice_of(w->copies)))
        return false;
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (n > strlen(ends[i]) && strcmp(path + n - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* The redacted bytes are written once, so that their hash is known when the manifest is written. */
static enum err_code bundle_spool(struct bundle_work *w, const char *path, struct bundle_file *f,
                                  struct bundle_source *from, struct err *e)
{
    AUTO_BUF text = { 0 };
    AUTO_BUF clean = { 0 };

    TRY(file_read_all(AT_FDCWD, path, 0, BUNDLE_REDACTED_MAX, &text, e));
    NEED(!redact_json_rows(buf_slice(&text), &clean, &w->out->redacted));
    TRY(hasher_bytes(&w->hasher, buf_slice(&clean), f->sha256, e));
    TRY(disk_write(w->spool.fd, buf_slice(&clean), NULL, w->spool.path, e));
    f->size = (int64_t)clean.n;
    from->at = w->spooled;
    w->spooled += f->size;
    return ERR_OK;
}

static enum err_code bundle_hash_file(struct bundle_work *w, const char *path,
                                      struct bundle_file *f, struct err *e)
{
    AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct span span;

    if (fd < 0)
        return err_sys(e, path, "bundle: read");
    TRY(span_of_file(fd, path, &span, e));
    f->size = span.n;
    span.whole = false; /* a log may grow; what it had is bundled */
    return hasher_span(&w->hasher, &span, -1, NULL, f->sha256, e);
}

static enum err_code bundle_add_file(struct bundle_work *w, const char *path, const struct stat *st,
                                     struct err *e)
{
    struct bundle *b = &w->out->bundle;
    struct bundle_session *s = &b->session[b->n];
    const char *below = path + w->prefix;

    if (!bundle_path_is_plain(slice_of(below)))
        return bundle_leave_out(w, path, "its name has characters that not every system can have",
                                e);
    if (w->req->redact && !bundle_can_redact(w, path))
        return bundle_leave_out(w, path, "it cannot be redacted", e);
    if (w->n >= BUNDLE_FILES_MAX)
        return err_set(e, ERR_UNSUPPORTED, path, "bundle: more than %d files", BUNDLE_FILES_MAX);
    NEED(s->file = arena_grow(&b->arena, s->file, s->n, sizeof *s->file));
    NEED(array_reserve(w->source, w->cap, w->n + 1));
    struct bundle_file *f = &s->file[s->n++];
    struct bundle_source *from = &w->source[w->n++];

    *f = (struct bundle_file){ .path = arena_copy_text(&b->arena, below),
                               .mtime_ns = time_ns(st->st_mtim) };
    *from = (struct bundle_source){ arena_copy_text(&b->arena, path), -1 };
    NEED(f->path && from->path);
    TRY(w->req->redact ? bundle_spool(w, path, f, from, e) : bundle_hash_file(w, path, f, e));
    s->bytes += f->size;
    b->bytes += f->size;
    return ERR_OK;
}

/* The secrets of all files of a session are known before the first one is written. */
static enum err_code bundle_learn(const FTSENT *x, void *arg, struct err *e)
{
    struct bundle_work *w = arg;
    AUTO_BUF text = { 0 };

    if (x->fts_info != FTS_F || !bundle_can_redact(w, x->fts_path))
        return ERR_OK;
    TRY(file_read_all(AT_FDCWD, x->fts_path, 0, BUNDLE_REDACTED_MAX, &text, e));
    NEED(!redact_learn(buf_slice(&text), &w->out->redacted));
    return ERR_OK;
}

static enum err_code bundle_entry(const FTSENT *x, void *arg, struct err *e)
{
    struct bundle_work *w = arg;

    switch (x->fts_info) {
    case FTS_D:
    case FTS_DP: return ERR_OK;
    case FTS_F: return bundle_add_file(w, x->fts_path, x->fts_statp, e);
    default: return bundle_leave_out(w, x->fts_path, "a link, or no file", e);
    }
}

/* ---- which sessions ---- */

static enum err_code bundle_count_message(struct slice json, void *arg, struct err *e)
{
    int64_t *count = arg;

    (void)json, (void)e;
    ++*count;
    return ERR_OK;
}

static enum err_code bundle_describe(struct bundle_work *w, struct bundle_session *s, struct err *e)
{
    static const struct scope everywhere = { .all = true };
    const struct session_ref *ref = w->ref;
    const struct store_ops *ops = ref->store->ops;
    CLEANUP(session_row_free_at) struct session_row *row = NULL;
    struct arena *a = &w->out->bundle.arena;
    const struct message_query q = { .session = ref->id };

    NEED(row = session_row_new());
    TRY(ops->describe(ref->store, &everywhere, ref, row, e));
    *s = (struct bundle_session){ .agent = arena_copy_text(a, store_format(ops)),
                                  .id = arena_copy(a, ref->id).p,
                                  .transcript = arena_copy_text(a, ref->path.p + w->prefix),
                                  .created_ms = row->created_ms,
                                  .modified_ms = row->modified_ms };
    NEED(s->agent && s->id && s->transcript);

    /* A title is shown on one line, and may contain a secret. */
    struct slice title = session_row_title(row);
    AUTO_BUF clean = { 0 };

    if (w->req->redact)
        NEED(!redact_text(title, &clean, &w->out->redacted));
    struct slice text = w->req->redact ? buf_slice(&clean) : title;

    text.n = text.n < 1000 ? text.n : 1000;
    text.n = utf8_valid_prefix(text);
    NEED(s->title = arena_copy(&w->out->bundle.arena, text).p);

    if (row->cwd.n && row->cwd.p[0] == '/') {
        const char *cwd = arena_copy(a, row->cwd).p;

        NEED(cwd && (s->directory = path_normalize("/", cwd, a)));
        TRY(repo_identify(s->directory, a, NULL, &s->repository, e));
    }
    /* A conversation that cannot be read is bundled all the same. */
    const enum err_code rc =
        ops->messages(ref->store, ref, &q, bundle_count_message, &s->messages, NULL);

    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code bundle_add_session(struct bundle_work *w, const struct session_ref *ref,
                                        struct err *e)
{
    const struct store *st = ref->store;
    const char *never = keep_unsupported(st->ops);
    struct bundle *b = &w->out->bundle;
    const char **part = NULL;
    size_t n = 0;

    w->ref = ref;
    w->prefix = strlen(st->path) + 1;
    w->copies = NULL;
    if (never)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "bundle: %s", never);
    TRY(store_session_parts(st->ops)(st, ref, true, &b->arena, &part, &n, e));
    if (n == 0)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "bundle: it has no files of its own");
    if (!path_under(ref->path, slice_of(st->path)))
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "bundle: it is outside of its store");
    if (st->ops->copies)
        TRY(st->ops->copies(st, ref, &b->arena, &w->copies, e));
    NEED(b->session = arena_grow(&b->arena, b->session, b->n, sizeof *b->session));
    struct bundle_session *s = &b->session[b->n];

    for (size_t i = 0; i < n && w->req->redact; i++)
        if (path_under(slice_of(part[i]), slice_of(st->path)))
            TRY(keep_walk(part[i], "bundle", bundle_learn, w, e));
    TRY(bundle_describe(w, s, e));
    for (size_t i = 0; i < n; i++) {
        /* The bundle itself must not become a part of a session. */
        if (path_under(slice_of(w->req->path), slice_of(part[i])))
            return err_set(e, ERR_UNSAFE, w->req->path, "bundle: the file belongs to the session");
        if (path_under(slice_of(part[i]), slice_of(st->path)))
            TRY(keep_walk(part[i], "bundle", bundle_entry, w, e));
        else
            TRY(bundle_leave_out(w, part[i], "it is outside of the store", e));
    }
    for (size_t i = 0; i < s->n; i++)
        if (path_under(slice_of(s->file[i].path), slice_of(s->transcript))) {
            b->n++;
            return ERR_OK;
        }
    return err_set(e, ERR_UNSUPPORTED, ref->path.p, "bundle: its transcript %s",
                   w->req->redact ? "cannot be redacted" : "is a link, or no file");
}

/* ---- the file ---- */

static enum err_code bundle_write_archive(struct bundle_work *w, const struct disk_new *file,
                                          struct err *e)
{
    const struct bundle *b = &w->out->bundle;
    CLEANUP(archive_writer_close_at) struct archive_writer *out = NULL;
    AUTO_BUF manifest = { 0 };
    const struct bundle_source *from = w->source;
    char name[BUNDLE_PATH_MAX + 32];

    NEED(!bundle_manifest_print(b, &manifest));
    if (manifest.n > BUNDLE_MANIFEST_MAX)
        return err_set(e, ERR_UNSUPPORTED, "", "bundle: too many files");
    TRY(archive_writer_open(file, &out, e));
    TRY(archive_begin(out, BUNDLE_MANIFEST, (int64_t)manifest.n, b->made_ms * 1000000, e));
    TRY(archive_add(out, buf_slice(&manifest), e));
    TRY(archive_pad(out, (int64_t)manifest.n, e));
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->session[i].n; k++, from++) {
            const struct bundle_file *f = &b->session[i].file[k];

            snprintf(name, sizeof name, "%zu/%s", i, f->path);
            TRY(archive_begin(out, name, f->size, f->mtime_ns, e));

            /* The bytes of the file, and their hash. */
            const bool spooled = from->at >= 0;
            AUTO_FD own =
                spooled ? -1 : open(from->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
            const struct span span = { .path = from->path,
                                       .fd = spooled ? w->spool.fd : own,
                                       .at = spooled ? from->at : 0,
                                       .n = f->size };
            uint8_t sha256[SHA256_BYTES];

            if (span.fd < 0)
                return err_sys(e, from->path, "bundle: read");
            digest_begin(&w->hasher.digest, DIGEST_SHA256);
            for (int64_t done = 0; done < f->size;) {
                const int64_t left = f->size - done;
                const struct slice piece = { w->piece,
                                             left < BUNDLE_PIECE ? (size_t)left : BUNDLE_PIECE };

                TRY(span_read(&span, done, w->piece, piece.n, e));
                digest_add(&w->hasher.digest, piece);
                TRY(archive_add(out, piece, e));
                done += (int64_t)piece.n;
            }
            if (!digest_end(&w->hasher.digest, sha256))
                return digest_error(e);

            /* The manifest, which comes first in the archive, has the hash of an earlier reading. */
            if (memcmp(sha256, f->sha256, SHA256_BYTES) != 0)
                return err_set(e, ERR_STALE, from->path, "bundle: it changed meanwhile; try again");
            TRY(archive_pad(out, f->size, e));
        }
    return archive_end(out, &w->out->bytes, e);
}

static enum err_code bundle_collect(struct bundle_work *w, const struct session_ref *ref, size_t n,
                                    const char *dir, struct err *e)
{
    struct bundle *b = &w->out->bundle;

    b->made_ms = w->req->env->now_ms;
    b->home = w->req->env->home;
    b->redacted = w->req->redact;
    NEED(w->piece = malloc(BUNDLE_PIECE));
    if (w->req->redact)
        TRY(disk_new_open(dir, 0600, &w->spool, e));
    for (size_t i = 0; i < n; i++)
        TRY(bundle_add_session(w, &ref[i], e));
    return ERR_OK;
}

/* Makes the file under a temporary name, or none, and names it when it is complete. */
static enum err_code bundle_publish(struct bundle_work *w, const char *dir, const char *name,
                                    struct err *e)
{
    struct disk_new file;

    TRY(disk_new_open(dir, 0600, &file, e));
    const enum err_code rc = bundle_write_archive(w, &file, e);

    if (rc) {
        disk_new_discard(&file);
        return rc;
    }
    return w->req->replace ? disk_new_replace(&file, name, e) : disk_new_publish(&file, name, e);
}

static enum err_code bundle_check_target(const char *path, bool replace, struct err *e)
{
    struct stat st;

    if (lstat(path, &st))
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "bundle: write to");
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_UNSAFE, path, "bundle: a link, or not a regular file");
    return replace ? ERR_OK
                   : err_set(e, ERR_STALE, path, "bundle: the file exists (--force replaces it)");
}

enum err_code bundle_write(const struct session_ref *ref, size_t n,
                           const struct bundle_request *req, struct bundle_written *out,
                           struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct bundle_request own = *req;
    struct bundle_work w = { .req = &own, .out = out };
    const char *dir;

    *out = (struct bundle_written){ .bytes = 0 };
    TRY(path_new_file(req->env->cwd, req->path, &a, &dir, &own.path, e));
    TRY(bundle_check_target(own.path, req->replace, e));
    if (!req->only_lists)
        disk_new_sweep(dir); /* what a killed bundle left, where a new file has a name at once */
    enum err_code rc = bundle_collect(&w, ref, n, dir, e);

    if (!rc && !req->only_lists)
        rc = bundle_publish(&w, dir, strrchr(own.path, '/') + 1, e);
    if (w.spool.path[0])
        disk_new_discard(&w.spool);
    free(w.source);
    free(w.piece);
    hasher_fini(&w.hasher);
    if (rc)
        bundle_written_fini(out);
    return rc;
}

void bundle_written_fini(struct bundle_written *w)
{
    redact_counts_fini(&w->redacted);
    bundle_fini(&w->bundle);
    *w = (struct bundle_written){ .bytes = 0 };
}
