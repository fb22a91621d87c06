#include "store/journal/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/io/file.h"
#include "store/api/env.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/span.h"
#include "store/journal/change.h"
#include "store/journal/step.h"

enum { PIECE = 8 << 10, WRITE_PIECE = 256 << 10 };

/* ---- making them ---- */

static enum err_code open_contents(struct contents *x, struct err *e)
{
    struct change *c = x->change;
    char dir[PATH_MAX];

    if (!c->contents) {
        struct disk_new *made = arena_alloc(&c->arena, sizeof *made);

        NEED(made);
        TRY(env_state_path(x->env, "changes", dir, e));
        TRY(disk_own_dir(x->env->state_dir, dir, e));
        TRY(disk_new_open(dir, 0600, made, e));
        c->contents = made;
    }
    x->in_file = true;
    x->at = c->contents_n;
    digest_begin(&x->digest, DIGEST_SHA256);
    return ERR_OK;
}

static enum err_code flush_contents(struct contents *x, struct err *e)
{
    struct change *c = x->change;

    if (!x->in_file)
        TRY(open_contents(x, e));
    TRY(disk_write(c->contents->fd, buf_slice(&x->bytes), NULL, c->contents->path, e));
    digest_add(&x->digest, buf_slice(&x->bytes));
    disk_start_sync(c->contents->fd, c->contents_n, (int64_t)x->bytes.n);
    c->contents_n += (int64_t)x->bytes.n;
    x->bytes.n = 0;
    return ERR_OK;
}

enum err_code contents_add(struct contents *x, struct slice bytes, struct err *e)
{
    x->n += (int64_t)bytes.n;
    if (x->counted)
        return ERR_OK;
    NEED(!buf_add(&x->bytes, bytes));
    return x->bytes.n > (x->in_file ? WRITE_PIECE : x->most) ? flush_contents(x, e) : ERR_OK;
}

enum err_code contents_read(const struct contents *x, int64_t at, char *p, size_t n, struct err *e)
{
    const int64_t written = x->n - (int64_t)x->bytes.n;
    const size_t there = at >= written                ? 0
                         : (int64_t)n <= written - at ? n
                                                      : (size_t)(written - at);

    if (there) {
        const struct disk_new *f = x->change->contents;
        const struct span span = { .path = f->path, .fd = f->fd, .at = x->at, .n = written };

        TRY(span_read(&span, at, p, there, e));
    }
    if (there < n)
        memcpy(p + there, x->bytes.p + (at + (int64_t)there - written), n - there);
    return ERR_OK;
}

enum err_code contents_end(struct contents *x, struct slice *bytes, struct step_part *part,
                           struct err *e)
{
    *bytes = (struct slice){ NULL, 0 };
    *part = (struct step_part){ .path = NULL };
    if (!x->in_file) {
        *bytes = x->bytes.n ? buf_slice(&x->bytes) : SLICE("");
        return ERR_OK;
    }
    TRY(flush_contents(x, e));
    *part = (struct step_part){
        .path = x->change->contents->path, .fd = x->change->contents->fd, .at = x->at, .n = x->n
    };
    return digest_end(&x->digest, part->sha256) ? ERR_OK : digest_error(e);
}

void contents_fini(struct contents *x, bool unused)
{
    struct change *c = x->change;

    if (unused && x->in_file && x->at + x->n - (int64_t)x->bytes.n == c->contents_n &&
        ftruncate(c->contents->fd, x->at) == 0 &&
        lseek(c->contents->fd, x->at, SEEK_SET) == (off_t)x->at)
        c->contents_n = x->at;
    buf_fini(&x->bytes);
    digest_fini(&x->digest);
}

static enum err_code contents_damaged(const struct step_part *part, struct err *e)
{
    return err_set(e, ERR_FORMAT, part->path, "the recorded contents of a document are damaged");
}

/* ---- reading them ---- */

enum err_code step_part_open(const struct step_part *part, struct span *out, int *own,
                             struct err *e)
{
    struct stat st;
    const int fd = part->fd >= 0
                       ? part->fd
                       : (*own = open(part->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));

    if (fd < 0)
        return err_sys(e, part->path, "open");
    *out = (struct span){ .path = part->path, .fd = fd, .at = part->at, .n = part->n };
    if (fstat(fd, &st))
        return err_sys(e, part->path, "examine the file");
    return S_ISREG(st.st_mode) && part->n <= st.st_size && part->at <= st.st_size - part->n
               ? ERR_OK
               : contents_damaged(part, e);
}

enum err_code step_part_is_in(const struct step_part *part, int fd, const char *path, bool *same,
                              struct err *e)
{
    struct span span;
    AUTO_FD own = -1;
    char wanted[PIECE];
    size_t n;

    *same = false;
    TRY(step_part_open(part, &span, &own, e));
    *same = true;
    for (int64_t at = 0; at < span.n && *same; at += (int64_t)n) {
        n = span.n - at < PIECE ? (size_t)(span.n - at) : PIECE;
        TRY(span_read(&span, at, wanted, n, e));
        TRY(file_at_holds(fd, (struct slice){ wanted, n }, at, same, path, e));
    }
    return ERR_OK;
}

enum err_code step_part_write(const struct step_part *part, int to, const char *to_path,
                              struct err *e)
{
    CLEANUP(hasher_fini) struct hasher h = { 0 };
    uint8_t sha256[SHA256_BYTES];
    struct span span;
    int own = -1;
    enum err_code rc = step_part_open(part, &span, &own, e);

    if (!rc)
        rc = hasher_span(&h, &span, to, to_path, sha256, e);
    if (!rc && memcmp(sha256, part->sha256, sizeof sha256) != 0)
        rc = contents_damaged(part, e);
    if (own >= 0)
        close(own);
    return rc;
}

/* ---- recording them ---- */

static enum err_code copy_contents(const char *from, const char *dir, struct err *e)
{
    CLEANUP(hasher_fini) struct hasher h = { 0 };
    CLEANUP(file_close) struct file f = { .fd = -1 };
    uint8_t sha256[SHA256_BYTES];
    struct disk_new to;
    struct span span;

    TRY(file_open(AT_FDCWD, from, 0, &f, e));
    TRY(span_of_file(f.fd, from, &span, e));
    TRY(disk_new_open(dir, 0600, &to, e));
    enum err_code rc = hasher_span(&h, &span, to.fd, dir, sha256, e);

    if (rc)
        disk_new_discard(&to);
    return rc ? rc : disk_new_publish(&to, CONTENTS_NAME, e);
}

/* The contents of an earlier change, which an undo needs too, get a second name; nothing writes to them. */
static enum err_code link_contents(const char *from, const char *dir, const char *to, struct err *e)
{
    if (link(from, to) == 0)
        return disk_sync_dir(dir, e);
    return errno == EPERM || errno == EMLINK || errno == ENOSYS || errno == EOPNOTSUPP
               ? copy_contents(from, dir, e)
               : err_sys(e, from, "keep the contents of a document");
}

static enum err_code record_part(struct change *c, struct step_part *part, const char *dir,
                                 const char *path, bool *recorded, struct err *e)
{
    if (!part->path)
        return ERR_OK;
    if (!*recorded && part->fd >= 0) {
        TRY(disk_new_move(c->contents, dir, e));
        TRY(disk_new_publish(c->contents, CONTENTS_NAME, e));
    } else if (!*recorded)
        TRY(link_contents(part->path, dir, path, e));
    *recorded = true;
    part->path = path;
    part->fd = -1;
    return ERR_OK;
}

enum err_code contents_record(struct change *c, const char *dir, struct err *e)
{
    const char *path = arena_format(&c->arena, "%s/" CONTENTS_NAME, dir);
    bool recorded = false;

    NEED(path);
    for (size_t i = 0; i < c->n; i++) {
        TRY(record_part(c, &c->step[i].bytes_part, dir, path, &recorded, e));
        TRY(record_part(c, &c->step[i].old_part, dir, path, &recorded, e));
    }
    return ERR_OK;
}
