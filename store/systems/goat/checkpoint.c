#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/api/checkpoint.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/log/lease.h"
#include "store/rewind/plan/source.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/dialect.h"
#include "store/systems/goat/manifest.h"
#include "store/systems/goat/metadata.h"

/* A host's checkpoint before it changes files: their contents by SHA-256, each once, and a manifest
 * in the session's dialect (goat.md B4). Contents that another checkpoint already has are linked,
 * if they still match their hash: the shipped host looks for contents only in the checkpoint
 * itself. */

enum { DIRECTORY_MODE = 0755, FILE_MODE = 0644, HASH_TEXT = SHA256_BYTES * 2 + 1 };

struct saving {
    struct arena *a;
    const struct goat_dialect_names *names;
    enum goat_dialect dialect;
    const char *cwd, *dir, *blobs;
    struct goat_points points;     /* the checkpoints on disk */
    struct buf entries;            /* the entries of the manifest: the bytes of the next ... */
    struct go_json_document files; /* ... of which this is the writer */
    int64_t now_ms;
    struct host_checkpointed done;
    const char **made; /* removed on failure: paths of contents */
    size_t contents;
    unsigned dirs; /* and this many directories, from the innermost outwards */
    bool is_named; /* the manifest was written and names them */
};

/* ---- contents ---- */

static bool holds_hash(const char *path, const char *hash)
{
    const struct rewind_source source = { .file = path, .sha256 = hash };
    struct source_content content = { 0 };
    bool yes = source_read(&source, NULL, &content, NULL) == ERR_OK;

    source_content_fini(&content);
    return yes;
}

/* Links the contents from another checkpoint, if one has them. */
static bool link_blob(struct saving *s, const char *hash, const char *to)
{
    for (size_t i = 0; i < s->points.n; i++) {
        bool there;
        const char *from = goat_blob(&s->points, &s->points.point[i], hash, s->a, &there);

        if (from && there)
            return holds_hash(from, hash) && link(from, to) == 0;
    }
    return false;
}

static enum err_code save_blob(struct saving *s, const struct span *from, char hash[HASH_TEXT],
                               struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    struct hasher h = { 0 };
    struct disk_new copy;

    TRY(disk_new_open(s->blobs, FILE_MODE, &copy, e));
    enum err_code rc = hasher_span(&h, from, copy.fd, s->blobs, sha256, e);

    hasher_fini(&h);
    if (rc) {
        disk_new_discard(&copy);
        return rc;
    }
    hasher_hex(sha256, hash);

    /* The copy was hashed while it was made and has no name yet. It gets its name unless the
     * contents already exist. */
    const char *to = arena_format(s->a, "%s/%s", s->blobs, hash);
    const char **made = arena_grow(s->a, s->made, s->contents, sizeof *made);

    if (!to || !made || holds_hash(to, hash)) {
        disk_new_discard(&copy);
        return to && made ? ERR_OK : err_nomem(e);
    }
    s->made = made;
    s->made[s->contents++] = to;
    if (!link_blob(s, hash, to)) {
        s->done.fresh++;
        return disk_new_replace(&copy, hash, e);
    }
    disk_new_discard(&copy);
    return disk_sync_dir(s->blobs, e);
}

/* ---- one file ---- */

/* The path as the dialect's manifest contains it: GOAT_DOC omits the session's working
 * directory. */
static struct slice path_in_manifest(const struct saving *s, const char *file)
{
    size_t n = s->cwd ? strlen(s->cwd) : 0;

    if (s->dialect == GOAT_DOC && n > 1 && strncmp(file, s->cwd, n) == 0 && file[n] == '/')
        file += n + 1;
    return slice_of(file);
}

static enum err_code add_manifest_entry(struct saving *s, const char *file, const char *hash,
                                        int64_t size)
{
    const struct goat_dialect_names *d = s->names;
    struct go_json_document *g = &s->files;
    bool always = s->dialect == GOAT_SPEC; /* this dialect writes empty members too */

    go_json_document_open(g, '{');
    go_json_document_key(g, d->path);
    go_json_document_text(g, path_in_manifest(s, file));
    if (d->exists || !hash) {
        go_json_document_key(g, d->exists ? d->exists : "exists");
        go_json_document_value(g, hash ? SLICE("true") : SLICE("false"));
    }
    if (hash || always) {
        go_json_document_key(g, d->hash);
        go_json_document_text(g, slice_of(hash ? hash : ""));
    }
    if (d->size && (size || always)) {
        go_json_document_key(g, d->size);
        go_json_document_int(g, size);
    }
    go_json_document_close(g, '}');
    return g->rc;
}

static enum err_code save_there(struct saving *s, const struct file *f, const char *file,
                                struct err *e)
{
    char hash[HASH_TEXT];
    struct span from;

    TRY(span_of_file(f->fd, file, &from, e));
    TRY(save_blob(s, &from, hash, e));
    if (add_manifest_entry(s, file, hash, from.n))
        return err_nomem(e);
    return ERR_OK;
}

/* ---- the manifest ---- */

/* Existing entries of the checkpoint come first and are unchanged. */
static enum err_code keep_entries(struct saving *s, struct slice *created, struct err *e)
{
    static const char *const names[] = { "created_at", "CreatedAt", "files" };
    const char *path = arena_format(s->a, "%s/manifest.json", s->dir);
    struct buf bytes = { 0 };
    struct slice value[3], document, key, one;
    struct json_iter it;
    enum err_code rc =
        path ? file_read_all(AT_FDCWD, path, 0, GOAT_MANIFEST_MAX, &bytes, e) : err_nomem(e);

    document = rc ? (struct slice){ NULL, 0 } : arena_copy(s->a, buf_slice(&bytes));
    buf_fini(&bytes);
    if (rc || !document.p)
        return rc ? rc : err_nomem(e);
    goat_members(document, names, 3, value);
    *created = value[0].p ? value[0] : value[1];
    for (bool more = json_iter_open(&it, value[2]); more && json_iter_next(&it, &key, &one);)
        go_json_document_value(&s->files, one);
    return s->files.rc ? err_nomem(e) : ERR_OK;
}

static enum err_code write_manifest(struct saving *s, struct slice id, struct slice created,
                                    struct err *e)
{
    const struct goat_dialect_names *d = s->names;
    struct go_json_document g;
    struct disk_new f;
    AUTO_BUF out = { 0 };
    bool any = s->files.filled;

    go_json_document_close(&s->files, ']');
    go_json_document_init(&g, &out);
    go_json_document_open(&g, '{');
    go_json_document_key(&g, d->point);
    go_json_document_text(&g, id);
    go_json_document_key(&g, d->point_time);
    if (created.p)
        go_json_document_value(&g, created);
    else
        go_json_document_time(&g, s->now_ms * 1000000);
    go_json_document_key(&g, d->files);
    go_json_document_value(&g, any ? buf_slice(&s->entries) : SLICE("null"));
    go_json_document_close(&g, '}');
    NEED(!g.rc && !s->files.rc);
    TRY(disk_new_open(s->dir, FILE_MODE, &f, e));
    enum err_code rc = disk_write(f.fd, buf_slice(&out), NULL, s->dir, e);

    if (rc) {
        disk_new_discard(&f);
        return rc;
    }
    rc = disk_new_replace(&f, "manifest.json", e);
    s->is_named = f.named;
    return rc;
}

static bool is_in_manifest(const struct saving *s, const struct goat_point *point, const char *file)
{
    struct slice path = path_in_manifest(s, file), whole = slice_of(file);

    for (size_t i = 0; point && i < point->n; i++)
        if (slice_eq(point->saved[i].path, path) || slice_eq(point->saved[i].path, whole))
            return true;
    return false;
}

static bool is_repeated(const struct host_checkpoint *req, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(req->file[i], req->file[at]) == 0)
            return true;
    return false;
}

static enum err_code save_all(struct saving *s, const struct host_checkpoint *req, struct err *e)
{
    const struct goat_point *point = NULL;
    struct slice created = { NULL, 0 };
    enum err_code rc = ERR_OK;
    struct file f;

    for (size_t i = 0; i < s->points.n && !point; i++)
        if (slice_eq(s->points.point[i].id, req->message))
            point = &s->points.point[i];

    if (point && point->why && !point->begun)
        return err_set(e, ERR_FORMAT, s->dir, "checkpoint: %s", point->why);
    if (point && point->begun)
        point = NULL;
    if (point)
        rc = keep_entries(s, &created, e);
    if (!rc)
        rc = disk_make_dir(s->blobs, DIRECTORY_MODE, e);
    disk_new_sweep(s->blobs); /* temporary files that a crash left */
    disk_new_sweep(s->dir);
    for (size_t i = 0; i < req->files && !rc; i++) {
        if (is_in_manifest(s, point, req->file[i]) || is_repeated(req, i))
            s->done.files++;
        else {
            const char *file = req->file[i];

            rc = file_open(AT_FDCWD, file, 0, &f, e);

            if (rc == ERR_NOT_FOUND)
                rc = add_manifest_entry(s, file, NULL, 0) ? err_nomem(e) : ERR_OK;
            else if (!rc) {
                rc = save_there(s, &f, file, e);
                file_close(&f);
            }
            s->done.files += !rc;
        }
    }
    return rc ? rc : write_manifest(s, req->message, created, e);
}

static enum err_code goat_saving_open(struct saving *s, const struct session_ref *ref,
                                      const struct host_checkpoint *req, struct err *e)
{
    struct goat_document d;

    TRY(goat_document_open(ref, &d, e));
    s->dialect = d.m.dialect;
    s->names = &goat_dialects[d.m.dialect];
    s->cwd = arena_copy(s->a, d.m.text[GOAT_CWD]).p;
    s->dir = goat_path(ref, GOAT_POINTS "/", s->a);
    s->dir = s->dir ? arena_format(s->a, "%s%.*s", s->dir, SLICE_ARG(req->message)) : NULL;
    s->blobs = s->dir ? arena_format(s->a, "%s/%s", s->dir, s->names->blobs) : NULL;
    s->done.id = arena_copy(s->a, req->message);
    goat_document_close(&d);
    if (!s->cwd || !s->blobs || !s->done.id.p)
        return err_nomem(e);
    return ERR_OK;
}

/* The lock is held: another host's entries in the same checkpoint were written before we read it,
 * or will be written after ours. */
static enum err_code save_locked(struct saving *s, const struct session_ref *ref,
                                 const struct host_checkpoint *req, struct err *e)
{
    enum err_code rc = goat_points_read(ref, &s->points, e);

    if (!rc) {
        /* Refuse links, so that everything is written in the session's own directory. */
        const char *const dirs[] = { s->points.dir, s->dir, s->blobs };

        for (size_t i = 0; i < 3 && !rc; i++)
            rc = file_at_reject_link(dirs[i], e);
    }
    if (!rc) {
        /* Counts the directories of the checkpoint that do not exist yet. */
        const char *const dirs[] = { s->blobs, s->dir, s->points.dir };
        bool there = false;

        for (s->dirs = 0; s->dirs < 3 && !rc && !there; s->dirs += !there)
            rc = file_at_stat(dirs[s->dirs], &there, NULL, e);
    }
    if (rc)
        return rc;
    rc = save_all(s, req, e);
    if (rc && !s->is_named) {
        /* Remove contents that no manifest names; they would be harmless but useless. */
        const char *const dirs[] = { s->blobs, s->dir, s->points.dir };

        for (size_t i = 0; i < s->contents; i++)
            unlink(s->made[i]);
        for (unsigned i = 0; i < s->dirs; i++)
            rmdir(dirs[i]);
    }
    return rc;
}

enum err_code goat_checkpoint(const struct store *st, const struct session_ref *ref,
                              const struct host_checkpoint *req, struct arena *a,
                              struct host_checkpointed *out, struct err *e)
{
    struct saving s = { .a = a, .now_ms = env_now_ms(st->env) };
    const char *lock = goat_lock_path(ref, a);
    int held = -1;

    if (!goat_is_point_id(req->message))
        return err_set(e, ERR_USAGE, "", "checkpoint: not a valid id");
    go_json_row_init(&s.files, &s.entries);
    go_json_document_open(&s.files, '[');
    enum err_code rc = lock ? goat_saving_open(&s, ref, req, e) : ERR_NOMEM;

    if (!rc)
        rc = log_lock_acquire(lock, &held, e);
    if (!rc)
        rc = save_locked(&s, ref, req, e);
    log_lock_release(held);
    goat_points_fini(&s.points);
    buf_fini(&s.entries);
    if (!rc)
        *out = s.done;
    return rc;
}
