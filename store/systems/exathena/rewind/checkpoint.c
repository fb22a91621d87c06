#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/systems/exathena/rewind/saved_files.h"

/* Saves what a file is now, as the library does before each edit: equal to the newest version, nothing is written;
 * else the next one, a pair of an empty copy and a tombstone where there is no file. The library goes on counting from
 * there.
 *
 * In the library's order: the copy, the tombstone, and where these are the first the path, without which nobody counts
 * them. A tombstone that came before its copy and was left alone by a crash would be taken for one of the library's
 * next version, and a rewind would remove the file. One that is alone all the same is stepped over. */

enum { FILE_MODE = 0644, DIRECTORY_MODE = 0755, FILE_MOST = 1 << 30 };

struct saving {
    const struct exathena *x;
    const char *path; /* of the file, lexically clean */
    const char *dir;  /* of its versions */
    struct arena *a;
    struct buf bytes;
    bool absent;
    struct saved_file saved; /* what is there already */
};

/* Through a link: what it leads to is saved under the link's own name, as the library does. */
static enum err_code read_present_file(struct saving *s, struct err *e)
{
    struct stat sb;

    s->absent = false;
    s->bytes.n = 0;
    if (stat(s->path, &sb)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return err_sys(e, s->path, "checkpoint");
        s->absent = true;
        return ERR_OK;
    }
    return file_read_all(AT_FDCWD, s->path, FILE_FOLLOW, FILE_MOST, &s->bytes, e);
}

static enum err_code locate_saved_file(struct saving *s, const char *file, struct slice session,
                                       struct err *e)
{
    char hex[SHA_HEX + 1];
    struct stat sb;

    s->path = path_normalize(s->x->project, file, s->a);
    if (!s->path)
        return err_nomem(e);
    saved_name(slice_of(s->path), hex);
    const char *parent = arena_format(s->a, "%s/%.*s", s->x->history, SLICE_ARG(session));

    s->dir = parent ? arena_format(s->a, "%s/%s", parent, hex) : NULL;
    if (!s->dir)
        return err_nomem(e);
    s->saved = (struct saved_file){ .dir = s->dir, .newest = -1 };
    enum err_code rc = saved_no_link(s->x, parent, e);

    if (rc)
        return rc;
    if (lstat(s->dir, &sb))
        return errno == ENOENT ? ERR_OK : err_sys(e, s->dir, "checkpoint");
    return saved_file_read(parent, hex, s->a, &s->saved, e);
}

/* As the library compares: an empty file is the same as none. */
static enum err_code is_newest_version(const struct saving *s, bool *is, struct err *e)
{
    *is = false;
    if (s->saved.newest < 0 || s->absent)
        return ERR_OK;
    return saved_newest_is(&s->saved, buf_slice(&s->bytes), is, e);
}

static bool has_saved_name(const struct saving *s, const char *name)
{
    struct stat sb;
    const char *path = arena_format(s->a, "%s/%s", s->dir, name);

    return path && lstat(path, &sb) == 0;
}

static enum err_code put_new(const struct saving *s, const char *name, struct slice bytes,
                             struct err *e)
{
    struct disk_new to;
    enum err_code rc = disk_new_open(s->dir, FILE_MODE, &to, e);

    if (rc)
        return rc;
    rc = disk_write(to.fd, bytes, NULL, to.path, e);
    if (!rc)
        return disk_new_publish(&to, name, e);
    disk_new_discard(&to);
    return rc;
}

/* The copy of a file that is not there, whose tombstone a crash prevented: nobody counts it yet. */
static enum err_code is_half(const struct saving *s, bool named, bool *is, struct err *e)
{
    *is = false;
    if (named || !s->absent || s->saved.newest < 0 || s->saved.newest_absent)
        return ERR_OK;
    return saved_newest_is(&s->saved, SLICE(""), is, e);
}

static enum err_code put_version(const struct saving *s, bool half, struct err *e)
{
    char bin[48], tombstone[48];
    int64_t version = s->saved.newest - half;
    enum err_code rc = ERR_OK;

    do {
        version++;
        snprintf(bin, sizeof bin, "%lld.bin", (long long)version);
        snprintf(tombstone, sizeof tombstone, "%lld.tombstone", (long long)version);
    } while (has_saved_name(s, tombstone));
    if (!half)
        rc = put_new(s, bin, buf_slice(&s->bytes), e);
    return rc || !s->absent ? rc : put_new(s, tombstone, SLICE(""), e);
}

static enum err_code save_version(struct saving *s, bool same, struct err *e)
{
    bool named = has_saved_name(s, "path"), half = false;
    bool unnamed = !named && s->absent && s->saved.newest_absent; /* only the path is missing */
    enum err_code rc = disk_make_dir(s->dir, DIRECTORY_MODE, e);

    disk_new_sweep(s->dir); /* what a crash left of an earlier one */
    if (!rc)
        rc = is_half(s, named, &half, e);
    if (!rc && !same && !unnamed)
        rc = put_version(s, half, e);
    return rc || named ? rc : put_new(s, "path", slice_of(s->path), e);
}

static enum err_code save_one(struct saving *s, const char *file, struct slice session,
                              struct host_checkpointed *done, struct err *e)
{
    bool same = false;
    enum err_code rc = locate_saved_file(s, file, session, e);

    if (!rc)
        rc = read_present_file(s, e);
    if (!rc)
        rc = is_newest_version(s, &same, e);
    if (!rc)
        rc = save_version(s, same, e);
    done->files += !rc;
    done->fresh += !rc && !same;
    return rc;
}

enum err_code exathena_checkpoint(const struct store *st, const struct session_ref *ref,
                                  const struct host_checkpoint *req, struct arena *a,
                                  struct host_checkpointed *out, struct err *e)
{
    struct saving s = { .x = exathena_of(st), .a = a };
    struct host_checkpointed done = { .id = arena_copy(a, req->message) };
    enum err_code rc = done.id.p ? ERR_OK : err_nomem(e);

    if (!rc && !exathena_is_id(ref->id))
        rc = err_set(e, ERR_UNSAFE, ref->path.p, "checkpoint: the id is no plain name");
    for (size_t i = 0; i < req->files && !rc; i++)
        rc = save_one(&s, req->file[i], ref->id, &done, e);
    buf_fini(&s.bytes);
    if (!rc)
        *out = done;
    return rc;
}
