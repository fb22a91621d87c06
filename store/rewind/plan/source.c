#include "store/rewind/plan/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "store/fs/kernel.h"
#include "store/git/repo.h"
#include "store/log/lease.h"
#include "store/rewind/plan/beneath.h"

/* A preview is a promise: a rewind may only replace the content that was examined here.
 *
 *   directory, without links -> kind -> bytes and hash -> inode and times -> content or rule
 *
 * The inode and the times of a file come from the descriptor that its bytes were read from, because
 * its name may lead to another file by then. An obstacle is a rule and not an error, so that one
 * file does not end the preview of the others; only a lack of memory or descriptors does. Each hash
 * is marked with the kind: a link whose text equals the bytes of a file is not that file. Contents
 * that are too large for memory are only hashed. Nothing is written. */

void source_content_fini(struct source_content *c)
{
    buf_fini(&c->bytes);
    hasher_fini(&c->hasher);
}

void source_mark_kind(uint32_t kind, uint8_t sha256[SHA256_BYTES])
{
    sha256[0] ^= S_ISLNK(kind) ? 1 : S_ISDIR(kind) ? 2 : 0;
}

enum err_code source_dir_sha256(uint8_t sha256[SHA256_BYTES], struct err *e)
{
    CLEANUP(hasher_fini) struct hasher h = { 0 };

    TRY(hasher_bytes(&h, SLICE(""), sha256, e));
    source_mark_kind(S_IFDIR, sha256);
    return ERR_OK;
}

static void source_content_mark(struct source_content *c, uint32_t kind)
{
    c->kind = kind;
    source_mark_kind(kind, c->sha256);
}

static struct slice without_bom(struct slice text)
{
    return slice_starts(text, "\xef\xbb\xbf") ? (struct slice){ text.p + 3, text.n - 3 } : text;
}

static bool is_passed(char byte, bool ascii)
{
    return byte == '\r' || (ascii && (byte & 0x80));
}

bool source_same_text(struct slice file, struct slice text)
{
    const bool ascii = !utf8_valid(file);
    size_t i = 0, k = 0;

    file = without_bom(file);
    text = without_bom(text);
    for (;; i++, k++) {
        while (i < file.n && is_passed(file.p[i], ascii))
            i++;
        while (k < text.n && is_passed(text.p[k], ascii))
            k++;
        if (i == file.n || k == text.n || file.p[i] != text.p[k])
            return i == file.n && k == text.n;
    }
}

bool source_content_same(const struct source_content *a, const struct source_content *b)
{
    return a->size == b->size && memcmp(a->sha256, b->sha256, SHA256_BYTES) == 0;
}

enum err_code source_open(const struct rewind_source *s, struct span *out, struct err *e)
{
    if (s->file) {
        /* A saved copy. */
        struct file f;
        struct err why = { 0 };
        enum err_code rc = file_open(AT_FDCWD, s->file, 0, &f, &why);

        if (rc == ERR_NOT_FOUND)
            return err_set(e, ERR_FORMAT, s->file, "the saved copy is missing");
        if (rc == ERR_UNSAFE)
            return err_set(e, ERR_FORMAT, s->file,
                           "the saved copy is a link or not a regular file");
        if (rc && err_is_exhausted(why.sys)) {
            errno = why.sys;
            return err_sys(e, s->file, "open the saved copy");
        }
        if (rc)
            return err_set(e, ERR_FORMAT, s->file, "the saved copy cannot be read");
        if (s->is_part && f.id.size - s->part_n < s->part_at) {
            file_close(&f);
            return err_set(e, ERR_FORMAT, s->file, "the saved copy is truncated");
        }
        *out = (struct span){ .path = s->file,
                              .fd = f.fd,
                              .at = s->is_part ? s->part_at : 0,
                              .n = s->is_part ? s->part_n : f.id.size,
                              .whole = !s->is_part && !s->grows };
        return ERR_OK;
    }
    if (s->blob)
        return repo_blob_open(s->objects, s->blob, out, e);
    *out = span_of_bytes(s->bytes);
    return ERR_OK;
}

enum err_code source_check(const struct rewind_source *s, const uint8_t sha256[SHA256_BYTES],
                           struct err *e)
{
    char hex[SHA256_BYTES * 2 + 1];

    if (!s->sha256)
        return ERR_OK;
    hasher_hex(sha256, hex);
    return strcasecmp(hex, s->sha256) == 0
               ? ERR_OK
               : err_set(e, ERR_FORMAT, s->file, "the saved copy does not match its checksum");
}

/* Reads and hashes a span, replacing the contents of out. If the bytes equal those of `like` (may be NULL), its hash is
 * used and not computed again. ERR_STALE: the file changed its size while it was read. */
static enum err_code source_content_read(const struct span *s, const struct source_content *like,
                                         struct source_content *out, struct err *e)
{
    out->bytes.n = 0;
    out->size = s->n;
    out->kind = 0;
    out->held = s->n <= SOURCE_CONTENT_HELD_MAX;

    /* A small file is held in memory, and not hashed again if its bytes are those of another. */
    if (!out->held)
        return hasher_span(&out->hasher, s, -1, NULL, out->sha256, e);

    size_t n = (size_t)s->n;

    if (buf_reserve(&out->bytes, n + 1))
        return err_nomem(e);
    TRY(span_read_all(s, out->bytes.p, e));
    out->bytes.n = n;
    if (like && like->held && slice_eq(buf_slice(&like->bytes), buf_slice(&out->bytes))) {
        memcpy(out->sha256, like->sha256, SHA256_BYTES);
        return ERR_OK;
    }
    return hasher_bytes(&out->hasher, buf_slice(&out->bytes), out->sha256, e);
}

enum err_code source_read(const struct rewind_source *s, const struct source_content *like,
                          struct source_content *out, struct err *e)
{
    struct span span;

    TRY(source_open(s, &span, e));
    enum err_code rc =
        source_content_read(&span, like && !like->kind && !s->kind ? like : NULL, out, e);

    span_close(&span);
    if (rc)
        return rc;
    source_content_mark(out, s->kind);
    return source_check(s, out->sha256, e);
}

bool source_read_link(int dir, const char *name, char text[PATH_MAX], size_t *n)
{
    ssize_t got = readlinkat(dir, name, text, PATH_MAX);

    if (got == PATH_MAX)
        errno = ENAMETOOLONG;
    *n = got > 0 ? (size_t)got : 0;
    return got > 0 && got < PATH_MAX;
}

static void close_file(struct rewind_inspected *l)
{
    if (l->is_open)
        span_close(&l->file);
    if (l->has_dir)
        close(l->dir);
    l->is_open = l->has_dir = false;
}

void rewind_inspected_fini(struct rewind_inspected *l)
{
    close_file(l);
    source_content_fini(&l->present);
}

bool rewind_inspected_is_written(const struct rewind_inspected *l)
{
    return l->is_open && !(l->seen.mode & S_IFMT) && lease_writer(l->file.fd) == LEASE_WRITER;
}

static void set_rule(struct rewind_inspected *l, enum rewind_rule rule, const char *why)
{
    l->rule = rule;
    l->why = why;
}

static int64_t source_ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void set_seen(struct rewind_inspected *l, const struct stat *st)
{
    l->seen = (struct rewind_seen){
        .exists = true,
        .dev = st->st_dev,
        .ino = st->st_ino,
        .size = st->st_size,
        .mtime_ns = source_ns_of(st->st_mtim),
        .ctime_ns = source_ns_of(st->st_ctim),
        .mode = S_ISLNK(st->st_mode) ? S_IFLNK : rewind_kind_of(st->st_mode) | (st->st_mode & 07777)
    };
    if (S_ISDIR(st->st_mode))
        l->seen.size = 0;
}

bool rewind_inspected_has_kind(const struct rewind_inspected *l)
{
    return l->seen.exists && l->seen.mode & S_IFMT && l->present.kind;
}

static enum err_code source_read_present_file(int dir, const char *name, const char *path,
                                              struct rewind_inspected *l, struct err *e)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    if (fd < 0 && err_is_exhausted(errno))
        return err_sys(e, path, "open");
    if (fd < 0) {
        set_rule(l, REWIND_RULE_ACCESS, "it cannot be read");
        return ERR_OK;
    }
    enum err_code rc = span_of_file(fd, path, &l->file, e);

    if (!rc)
        rc = source_content_read(&l->file, NULL, &l->present, e);
    /* The attributes are read from the descriptor after the bytes, so that apply compares with what
     * was read. */
    if (!rc && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        set_seen(l, &st);
    l->is_open = !rc;
    if (rc)
        close(fd);
    if (rc == ERR_NOMEM)
        return rc;
    if (rc)
        set_rule(l, REWIND_RULE_ACCESS,
                 rc == ERR_STALE ? "it is being written right now" : "it cannot be read");
    else
        memcpy(l->seen.sha256, l->present.sha256, sizeof l->seen.sha256);
    return ERR_OK;
}

static enum err_code source_look_in(int dir, const char *name, const char *path,
                                    struct rewind_inspected *l, struct err *e)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        if (errno != ENOENT)
            set_rule(l, REWIND_RULE_ACCESS, "it cannot be examined");
        return ERR_OK;
    }
    set_seen(l, &st);

    if (S_ISLNK(st.st_mode))
        set_rule(l, REWIND_RULE_LINK, "a symbolic link is there now");
    else if (S_ISDIR(st.st_mode))
        set_rule(l, REWIND_RULE_TYPE, "a directory is there now");
    else if (!S_ISREG(st.st_mode))
        set_rule(l, REWIND_RULE_TYPE, "a FIFO, socket or device is there now");
    else if (st.st_nlink > 1)
        set_rule(l, REWIND_RULE_HARD_LINK, "the file has other names (hard links)");

    if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode)) {
        /* The text of a link, and nothing of a directory, which stays open. Where that cannot be
         * read, or its owner could not be restored, it has no kind. */
        char text[PATH_MAX];
        size_t n = 0;

        if (S_ISDIR(st.st_mode)) {
            int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            if (fd < 0)
                return err_is_exhausted(errno) ? err_sys(e, path, "open") : ERR_OK;
            l->file = (struct span){ .path = path, .fd = fd };
            l->is_open = true;
        } else if ((geteuid() != 0 && st.st_uid != geteuid()) ||
                   !source_read_link(dir, name, text, &n) || st.st_size != (off_t)n) {
            return ERR_OK;
        }
        const struct span bytes = span_of_bytes((struct slice){ text, n });

        TRY(source_content_read(&bytes, NULL, &l->present, e));
        source_content_mark(&l->present, st.st_mode & S_IFMT);
        memcpy(l->seen.sha256, l->present.sha256, sizeof l->seen.sha256);
        return ERR_OK;
    }
    return l->rule ? ERR_OK : source_read_present_file(dir, name, path, l, e);
}

/* Opens the lowest directory above the path that exists. */
static void open_above(int root_fd, const char *root, const char *path, struct rewind_inspected *l)
{
    char above[PATH_MAX];
    const char *name;
    enum err_code rc = ERR_NOT_FOUND;

    if (snprintf(above, sizeof above, "%s", path) >= (int)sizeof above)
        return;
    for (char *end; rc == ERR_NOT_FOUND && (end = strrchr(above, '/')) > above;) {
        *end = '\0';
        if (strlen(above) > strlen(root))
            rc = beneath_parent(root_fd, root, above, &l->dir, &name, NULL);
    }
    l->has_dir = rc == ERR_OK;
}

enum err_code rewind_inspect_at(int root_fd, const char *root, const char *path,
                                const char *real_parent, struct rewind_inspected *out,
                                struct err *e)
{
    int dir;
    const char *name;
    struct err why = { 0 };
    struct source_content keep = out->present;

    close_file(out);
    *out = (struct rewind_inspected){ .present = { .bytes = keep.bytes, .hasher = keep.hasher } };
    out->present.bytes.n = 0;
    enum err_code rc = beneath_parent(root_fd, root, path, &dir, &name, &why);

    if (rc == ERR_NOT_FOUND) { /* its directory is gone, and so is it */
        open_above(root_fd, root, path, out);
        return ERR_OK;
    }
    if (rc == ERR_UNSAFE)
        set_rule(out, REWIND_RULE_LINK, "a link or file took the place of a parent directory");
    else if (rc && err_is_exhausted(why.sys)) {
        errno = why.sys;
        return err_sys(e, path, "open its directory");
    } else if (rc)
        set_rule(out, REWIND_RULE_ACCESS, "its directory cannot be opened");
    if (rc)
        return ERR_OK;
    if (real_parent && !fs_is_at(dir, real_parent))
        set_rule(out, REWIND_RULE_PARENT, "its directory is not the original one");
    else
        rc = source_look_in(dir, name, path, out, e);
    out->dir = dir;
    out->has_dir = true;
    return rc;
}

static const char *owner_forbids(const struct rewind_step *step, const struct stat *dir,
                                 const struct stat *st)
{
    bool theirs = st->st_uid != geteuid();

    if (step->mode_only)
        return theirs ? "another user's file, whose mode only its owner may set" : NULL;
    if (theirs && (dir->st_mode & S_ISVTX) && dir->st_uid != geteuid())
        return "another user's file, in a directory that keeps the files of each user";
    /* An undo could not give it back to its owner. */
    if (theirs)
        return "another user's file: it could not be given back to its owner";

    /* A member of the group may give a file of his to it, and in some directories every new file
     * belongs to it. */
    int n = getgroups(0, NULL);
    gid_t *group = n > 0 ? calloc((size_t)n, sizeof *group) : NULL;
    bool may = st->st_gid == getegid() || ((dir->st_mode & S_ISGID) && st->st_gid == dir->st_gid);

    n = group ? getgroups(n, group) : 0;
    for (int i = 0; i < n && !may; i++)
        may = group[i] == st->st_gid;
    free(group);

    return may ? NULL : "its group is one that the user is not in, and would be lost";
}

const char *rewind_forbidden(const struct rewind_step *step, int *sys)
{
    bool exists = step->present >= 0;
    struct stat st = { 0 }, dir;
    struct statvfs
        fs = { 0 },
        at; /* the file systems of the file, which may be a mount point, and of its directory */

    *sys = 0;
    if ((exists && (fstat(step->present, &st) || fstatvfs(step->present, &fs))) ||
        fstat(step->dir, &dir) || fstatvfs(step->dir, &at)) {
        *sys = errno;
        return "its file system cannot be examined";
    }
    *sys = EROFS;
    if ((exists ? fs.f_flag | at.f_flag : at.f_flag) & ST_RDONLY)
        return "its file system is read-only";
    *sys = EBUSY;
    if (exists && !step->mode_only && fs_is_mount(step->present, step->dir))
        return "it is a mount point, which cannot be replaced";
    *sys = EPERM;
    if (exists && fs_is_fixed(step->present))
        return "it is immutable, or can only be appended to";
    if (!step->mode_only && fs_is_fixed(step->dir))
        return "its directory is immutable, or can only be appended to";
    *sys = EACCES;
    if (!step->mode_only && faccessat(step->dir, ".", W_OK | X_OK, AT_EACCESS)) {
        *sys = errno;
        return "its directory cannot be written to";
    }
    *sys = EPERM;
    return exists && geteuid() != 0 ? owner_forbids(step, &dir, &st) : NULL;
}

static enum err_code too_large(const char *path, struct err *e)
{
    return err_set(e, ERR_UNSUPPORTED, path, "too large to be compared line by line");
}

enum err_code rewind_inspect(const struct rewind_plan *plan, const struct rewind_target *t,
                             struct rewind_inspected *out, struct err *e)
{
    /* Below the session's directory, or below / for files outside of it and if it is gone. */
    const char *root = rewind_is_inside(plan, t->path) ? plan->root : "/";
    AUTO_FD fd = -1;
    enum err_code rc = beneath_root(root, &fd, e);

    if (rc == ERR_NOT_FOUND) {
        root = "/";
        rc = beneath_root(root, &fd, e);
    }
    return rc ? rc : rewind_inspect_at(fd, root, t->path, t->real_parent, out, e);
}

static enum err_code read_present_side(const struct rewind_plan *plan,
                                       const struct rewind_entry *entry, struct buf *out,
                                       struct err *e)
{
    const struct rewind_target *t = entry->target;
    CLEANUP(rewind_inspected_fini) struct rewind_inspected look = { 0 };

    TRY(rewind_inspect(plan, t, &look, e));
    if (look.rule && !entry->behind && !(t->exact && rewind_inspected_has_kind(&look)))
        return err_set(e, ERR_FORMAT, t->path, "%s", look.why);
    if (look.seen.exists != entry->seen.exists ||
        memcmp(look.seen.sha256, entry->seen.sha256, SHA256_BYTES) != 0)
        return err_set(e, ERR_STALE, t->path, "it changed since it was examined");
    if (look.seen.exists && !look.present.held)
        TRY(too_large(t->path, e));
    if (look.seen.exists) {
        *out = look.present.bytes;
        look.present.bytes = (struct buf){ 0 };
    }
    return ERR_OK;
}

enum err_code rewind_sides_read(const struct rewind_plan *plan, const struct rewind_entry *entry,
                                struct rewind_sides *out, struct err *e)
{
    CLEANUP(rewind_sides_fini) struct rewind_sides s = { 0 };

    TRY(read_present_side(plan, entry, &s.present, e));

    const struct rewind_target *t = entry->target;

    CLEANUP(source_content_fini) struct source_content wanted = { 0 };

    TRY(t->want == REWIND_BYTES ? source_read(&t->source, NULL, &wanted, e) : ERR_OK);
    if (t->want == REWIND_BYTES && !wanted.held)
        TRY(too_large(t->path, e));
    s.wanted = wanted.bytes;
    wanted.bytes = (struct buf){ 0 };

    HAND_OVER(out, s);
    return ERR_OK;
}

void rewind_sides_fini(struct rewind_sides *s)
{
    buf_fini(&s->present);
    buf_fini(&s->wanted);
}
