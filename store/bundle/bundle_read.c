#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/bundle/bundle_internal.h"
#include "store/fs/path.h"

struct bundle_reader {
    struct archive_reader *archive;
    struct bundle bundle;
    struct hasher hasher;
    char *piece;
    const char *path;      /* in the arena of the bundle */
    bool fleeting;         /* what is unpacked need not outlive a crash */
    char synced[PATH_MAX]; /* the directory whose names are not yet durable, or "" */
};

void bundle_close(struct bundle_reader *r)
{
    if (!r)
        return;
    archive_close(r->archive);
    bundle_fini(&r->bundle);
    hasher_fini(&r->hasher);
    free(r->piece);
    free(r);
}

const struct bundle *bundle_manifest(const struct bundle_reader *r)
{
    return &r->bundle;
}

static enum err_code bundle_read_manifest(struct bundle_reader *r, struct err *e)
{
    AUTO_BUF json = { 0 };
    int64_t size;

    TRY(archive_next(r->archive, BUNDLE_MANIFEST, BUNDLE_MANIFEST_MAX, &size, e));
    NEED(!buf_reserve(&json, (size_t)size + 1));
    TRY(archive_read(r->archive, json.p, (size_t)size, e));
    TRY(archive_skip_pad(r->archive, size, e));
    json.n = (size_t)size;
    TRY(bundle_manifest_read(buf_slice(&json), &r->bundle, e));
    return r->bundle.bytes <= archive_limit(r->archive)
               ? ERR_OK
               : err_set(e, ERR_UNSAFE, "", "read the bundle: its files are far too large for it");
}

enum err_code bundle_open(const char *path, struct bundle_reader **out, struct err *e)
{
    CLEANUP(bundle_close_at) struct bundle_reader *r = calloc(1, sizeof *r);

    NEED(r);
    NEED(r->piece = malloc(BUNDLE_PIECE));
    enum err_code rc = archive_open(path, &r->archive, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? err_set(e, rc, path, "read the bundle: no such file") : rc;
    rc = bundle_read_manifest(r, e);
    if (rc)
        return err_at(e, rc, path);
    NEED(r->path = arena_copy_text(&r->bundle.arena, path));
    *out = r;
    r = NULL;
    return ERR_OK;
}

/* Names in a directory become durable once, when a file of another one follows. */
static enum err_code bundle_sync_names(struct bundle_reader *r, const char *dir, struct err *e)
{
    if (!r->fleeting && r->synced[0] && strcmp(dir, r->synced) != 0)
        TRY(disk_sync_dir(r->synced, e));
    snprintf(r->synced, sizeof r->synced, "%s", dir);
    return ERR_OK;
}

static enum err_code bundle_unpack_file(struct bundle_reader *r, const char *name,
                                        const struct bundle_file *f, const char *path,
                                        struct err *e)
{
    const struct timespec mtime = { f->mtime_ns / 1000000000, f->mtime_ns % 1000000000 };
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, mtime };
    char parent[PATH_MAX];
    struct err why = { 0 };
    AUTO_FD fd = -1;
    int64_t size;
    uint8_t sha256[SHA256_BYTES];

    TRY(archive_next(r->archive, name, f->size, &size, e));
    if (size != f->size)
        return err_set(e, ERR_FORMAT, r->path,
                       "read the bundle: a file is smaller than its manifest says");
    if (!path_parent(path, parent))
        return err_set(e, ERR_UNSAFE, path, "unpack the bundle: the path is too long");

    /* Every file is created anew: if its name exists, two paths of the bundle are one path on this file system. */
    enum err_code rc = disk_make_dir(parent, 0700, &why);

    if (!rc)
        rc = bundle_sync_names(r, parent, &why);
    if (!rc && (fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0)
        rc = err_sys(&why, path, "unpack the bundle");
    if (rc && (why.sys == EEXIST || why.sys == ENOTDIR || why.sys == EISDIR))
        return err_set(e, ERR_UNSAFE, r->path, "read the bundle: two of its files have one name");
    if (rc) {
        if (e)
            *e = why;
        return rc;
    }

    /* The bytes are hashed while they are written, so that the file is not read again. */
    digest_begin(&r->hasher.digest, DIGEST_SHA256);
    for (int64_t left = f->size; left > 0;) {
        const struct slice piece = { r->piece, left < BUNDLE_PIECE ? (size_t)left : BUNDLE_PIECE };

        TRY(archive_read(r->archive, r->piece, piece.n, e));
        digest_add(&r->hasher.digest, piece);
        TRY(disk_write(fd, piece, NULL, path, e));
        left -= (int64_t)piece.n;
    }
    if (!digest_end(&r->hasher.digest, sha256))
        return digest_error(e);
    if (memcmp(sha256, f->sha256, SHA256_BYTES) != 0)
        return err_set(e, ERR_FORMAT, r->path, "read the bundle: a file is not what its hash says");
    TRY(archive_skip_pad(r->archive, f->size, e));

    if (mtime.tv_sec > 0 && mtime.tv_nsec >= 0 && futimens(fd, times))
        return err_sys(e, path, "unpack the bundle");
    return r->fleeting ? ERR_OK : disk_sync(fd, path, e);
}

enum err_code bundle_unpack(struct bundle_reader *r, const char *dir, const size_t *root,
                            struct err *e)
{
    AUTO_ARENA a = { 0 };

    r->fleeting = root != NULL;

    for (size_t i = 0; i < r->bundle.n; i++)
        for (size_t k = 0; k < r->bundle.session[i].n; k++) {
            const struct bundle_file *f = &r->bundle.session[i].file[k];
            const char *name = arena_format(&a, "%zu/%s", i, f->path);
            const char *path = arena_format(&a, "%s/%zu/%s", dir, root ? root[i] : i, f->path);

            NEED(name && path);
            TRY(bundle_unpack_file(r, name, f, path, e));
            arena_reset(&a);
        }
    TRY(bundle_sync_names(r, "", e));
    return archive_finish(r->archive, e);
}
