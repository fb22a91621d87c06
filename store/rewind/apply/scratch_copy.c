#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"

/* A scratch copy: the files as they were at the point, in a separate directory. No file of the user
 * is read or touched, so the rules that protect such files do not apply; the rules for names do,
 * since names come out of the store. */

static const char outside_name[] =
    "outside"; /* where files from outside the project go, by their whole path */

static enum err_code check_empty(const char *dir, struct err *e)
{
    DIR *d = opendir(dir);
    const struct dirent *x;
    bool empty = true;

    if (!d)
        return errno == ENOENT ? ERR_OK : err_sys(e, dir, "open directory");
    while (empty && (errno = 0, x = readdir(d)))
        empty = strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0;
    int sys = empty ? errno : 0;

    closedir(d);
    errno = sys;
    return sys     ? err_sys(e, dir, "read directory")
           : empty ? ERR_OK
                   : err_set(e, ERR_STALE, dir, "restore into: the directory is not empty");
}

static enum err_code scratch_copy_write_file(int dir, const char *name, const char *path,
                                             const struct rewind_target *t,
                                             const struct span *bytes, struct hasher *hasher,
                                             struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, path, "create");
    enum err_code rc = hasher_span(hasher, bytes, fd, path, sha256, e);

    if (!rc && fchmod(fd, t->has_mode ? t->mode & 0777 : 0644))
        rc = err_sys(e, path, "set the mode");
    if (close(fd) && !rc)
        rc = err_sys(e, path, "write");
    return rc;
}

/* A link or a directory. */
static enum err_code scratch_copy_make_kind(int dir, const char *name, const char *path,
                                            const struct rewind_target *t, const struct span *bytes,
                                            struct err *e)
{
    char text[PATH_MAX];

    if (S_ISDIR(t->source.kind))
        return mkdirat(dir, name, 0755) && errno != EEXIST ? err_sys(e, path, "make directory")
                                                           : ERR_OK;
    if (bytes->n >= PATH_MAX)
        return err_set(e, ERR_FORMAT, path, "the text of its link is too long");
    TRY(span_read(bytes, 0, text, (size_t)bytes->n, e));
    text[bytes->n] = '\0';
    return symlinkat(text, dir, name) ? err_sys(e, path, "create a link") : ERR_OK;
}

/* The saved copy, open and verified by its checksum; ERR_FORMAT if it is not available. */
static enum err_code scratch_copy_open_wanted(const struct rewind_target *t, struct hasher *hasher,
                                              struct span *out)
{
    struct slice named = slice_of(t->path);
    uint8_t sha256[SHA256_BYTES];

    if (pathrule_forbids(named, t->exact) || t->want == REWIND_UNKNOWN)
        return ERR_FORMAT;
    enum err_code rc = source_open(&t->source, out, NULL);

    if (rc || !t->source.sha256)
        return rc;
    rc = hasher_span(hasher, out, -1, NULL, sha256, NULL);
    if (!rc)
        source_mark_kind(t->source.kind, sha256);
    if (!rc)
        rc = source_check(&t->source, sha256, NULL);
    if (rc)
        span_close(out);
    return rc;
}

/* A scratch copy that is being written. */
struct into {
    const struct rewind_plan *plan;
    const char *dir;
    int root;
    struct hasher hasher;
    struct rewind_scratch_copy result;
};

static enum err_code put_one(struct into *in, const struct rewind_target *t, struct err *e)
{
    const char *root = in->plan->root, *name, *path;
    struct span wanted;
    int parent;

    if (root && path_under(slice_of(t->path), slice_of(root)))
        path = arena_format(&in->result.arena, "%s%s", in->dir, t->path + strlen(root));
    else
        path = arena_format(&in->result.arena, "%s/%s%s", in->dir, outside_name, t->path);
    NEED(path);
    enum err_code rc = scratch_copy_open_wanted(t, &in->hasher, &wanted);

    if (rc == ERR_FORMAT) {
        in->result.left_out++;
        return ERR_OK;
    }
    if (rc)
        return err_set(e, rc, t->path, "read the saved copy");
    rc = beneath_make_parent(in->root, in->dir, path, NULL, &parent, &name, e);
    if (!rc) {
        rc = t->source.kind
                 ? scratch_copy_make_kind(parent, name, path, t, &wanted, e)
                 : scratch_copy_write_file(parent, name, path, t, &wanted, &in->hasher, e);
        close(parent);
    }
    span_close(&wanted);
    in->result.written += rc == ERR_OK;
    return rc;
}

enum err_code rewind_write_scratch_copy(const struct rewind_plan *plan,
                                        const struct rewind_options *options, const char *dir,
                                        struct rewind_scratch_copy *out, struct err *e)
{
    struct into in = { .plan = plan, .dir = dir, .root = -1 };
    struct rewind_chosen chosen = { .all = false };
    enum err_code rc = check_empty(dir, e);

    if (!rc)
        rc = rewind_chosen_init(&chosen, options, e);
    if (!rc)
        rc = disk_private_dir(dir, e);
    if (!rc)
        rc = beneath_root(dir, &in.root, e);
    for (size_t i = 0; i < plan->n && !rc; i++) {
        const struct rewind_target *t = &plan->target[i];

        if (t->want != REWIND_ABSENT && rewind_is_chosen(&chosen, t->path))
            rc = put_one(&in, t, e);
    }
    rewind_chosen_fini(&chosen);
    hasher_fini(&in.hasher);
    if (in.root >= 0)
        close(in.root);
    if (rc)
        rewind_scratch_copy_fini(&in.result);
    else
        *out = in.result;
    return rc;
}

void rewind_scratch_copy_fini(struct rewind_scratch_copy *r)
{
    arena_fini(&r->arena);
    *r = (struct rewind_scratch_copy){ 0 };
}
