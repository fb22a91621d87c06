#include "store/git/gitfiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

enum {
    BEFORE_PACKS = 3,
    AFTER_PACKS = 2,
    BACKENDS_MAX = 64,
    PIECE = 16 * 1024,
    LINE = 4096,
    ALTERNATES_MAX = 1 << 20,
    FOLDERS_MAX = 64
};

/* A backend that reads nothing itself. It passes each object on to the next backend, except for those on which that one
 * would hang. */
struct guard {
    git_odb_backend base;
    /* The directories of objects, each NUL-terminated: the repository's own and its alternates. */
    struct buf folders;
};

/* The same for packed objects, by the size in the pack: libgit2 would keep a whole commit in memory to show its first
 * line. Large objects made from deltas are not detected. */
struct limit {
    git_odb_backend base;
    git_odb_backend *pack[BACKENDS_MAX]; /* those of the repository, which live as long */
    size_t packs;
};

static const char is_cut_short[] = "an object is truncated or damaged";
static const char is_too_large[] = "a commit or a tree is too large to be read";

static bool loose_guard_is_large(git_object_t type, size_t n)
{
    return type == GIT_OBJECT_TREE                               ? n > LOOSE_TREE_MAX
           : type == GIT_OBJECT_COMMIT || type == GIT_OBJECT_TAG ? n > LOOSE_COMMIT_MAX
                                                                 : false;
}

/* ---- one object ---- */

struct inflating {
    z_stream z;
    unsigned char in[PIECE], out[PIECE];
};

/* Reads the header, "commit 123". */
static bool is_large_header(const char *text, size_t n)
{
    const char *space = memchr(text, ' ', n), *end = memchr(text, '\0', n);
    char type[8];

    if (!space || !end || end < space || (size_t)(space - text) >= sizeof type)
        return false;
    snprintf(type, sizeof type, "%.*s", (int)(space - text), text);
    return loose_guard_is_large(git_object_string2type(type), strtoull(space + 1, NULL, 10));
}

/* Returns what is wrong with the compressed file, or NULL if it is complete. An unreadable file is not. */
static const char *check_end(struct inflating *x, const struct file *f)
{
    int64_t at = 0;
    int answer = Z_OK;
    bool begun = false;

    while (answer == Z_OK) {
        size_t got = 0;

        if (file_read(f, at, (char *)x->in, sizeof x->in, &got, NULL) || got == 0)
            return is_cut_short;
        at += (int64_t)got;
        x->z.next_in = x->in;
        x->z.avail_in = (unsigned)got;
        do {
            x->z.next_out = x->out;
            x->z.avail_out = sizeof x->out;
            answer = inflate(&x->z, Z_NO_FLUSH);
            size_t n = sizeof x->out - x->z.avail_out;

            if (!begun && is_large_header((const char *)x->out, n))
                return is_too_large;
            begun = begun || n;
        } while (answer == Z_OK && (x->z.avail_in || x->z.avail_out == 0));
        if (answer == Z_BUF_ERROR && x->z.avail_in == 0)
            answer = Z_OK; /* more input is needed */
    }
    return answer == Z_STREAM_END ? NULL : is_cut_short;
}

/* Returns NULL if nothing is wrong, or if there is no such file, because another backend may have the object.
 * header: only the header will be read. */
static const char *wrong_in(const char *folder, const char hex[GIT_OID_HEXSZ + 1], bool header)
{
    char path[PATH_MAX];
    struct file f;
    int n = snprintf(path, sizeof path, "%s/%.2s/%s", folder, hex, hex + 2);

    if (n < 0 || (size_t)n >= sizeof path)
        return NULL;
    enum err_code rc = file_open(AT_FDCWD, path, FILE_FOLLOW, &f, NULL);

    if (rc)
        return rc == ERR_UNSAFE ? is_cut_short : NULL; /* a pipe would block the reader */
    struct inflating *x = header ? NULL : calloc(1, sizeof *x);
    const char *why = header ? NULL : is_cut_short;

    if (x && inflateInit(&x->z) == Z_OK) {
        why = check_end(x, &f);
        inflateEnd(&x->z);
    }
    free(x);

    file_close(&f);
    return why;
}

/* ---- what libgit2 asks ---- */

static int loose_guard_refuse(const char *why)
{
    git_error_set_str(GIT_ERROR_ODB, why);
    return GIT_ERROR;
}

static const char *wrong_anywhere(const git_odb_backend *backend, const git_oid *id, bool header)
{
    const struct guard *g = (const struct guard *)backend;
    char hex[GIT_OID_HEXSZ + 1];
    const char *folder = g->folders.p, *end = folder + g->folders.n, *why = NULL;

    git_oid_tostr(hex, sizeof hex, id);
    for (; !why && folder < end; folder += strlen(folder) + 1)
        why = wrong_in(folder, hex, header);
    return why;
}

static int guard_read(void **bytes, size_t *n, git_object_t *type, git_odb_backend *backend,
                      const git_oid *id)
{
    const char *why = wrong_anywhere(backend, id, false);

    (void)bytes;
    (void)n;
    (void)type;
    return why ? loose_guard_refuse(why) : GIT_PASSTHROUGH;
}

static int guard_read_header(size_t *n, git_object_t *type, git_odb_backend *backend,
                             const git_oid *id)
{
    const char *why = wrong_anywhere(backend, id, true);

    (void)n;
    (void)type;
    return why ? loose_guard_refuse(why) : GIT_ENOTFOUND;
}

static int guard_read_prefix(git_oid *found, void **bytes, size_t *n, git_object_t *type,
                             git_odb_backend *backend, const git_oid *front, size_t digits)
{
    const struct guard *g = (const struct guard *)backend;
    char hex[GIT_OID_HEXSZ + 1];
    const char *folder = g->folders.p, *end = folder + g->folders.n, *why = NULL;

    (void)found;
    (void)bytes;
    (void)n;
    (void)type;
    git_oid_tostr(hex, sizeof hex, front);
    for (; !why && digits >= 2 && folder < end; folder += strlen(folder) + 1) {
        /* Checks all objects in a folder whose ids begin with these digits. */
        char path[PATH_MAX], whole[GIT_OID_HEXSZ + 1];
        const struct dirent *entry;
        why = NULL;

        snprintf(path, sizeof path, "%s/%.2s", folder, hex);
        DIR *dir = opendir(path);

        while (!why && dir && (entry = readdir(dir))) {
            if (strlen(entry->d_name) != GIT_OID_HEXSZ - 2 ||
                strncmp(entry->d_name, hex + 2, digits - 2) != 0)
                continue;
            snprintf(whole, sizeof whole, "%.2s%s", hex, entry->d_name);
            why = wrong_in(folder, whole, false);
        }
        if (dir)
            closedir(dir);
    }
    return why ? loose_guard_refuse(why) : GIT_PASSTHROUGH;
}

/* ---- packs ---- */

static int limit_read(void **bytes, size_t *n, git_object_t *type, git_odb_backend *backend,
                      const git_oid *id)
{
    const struct limit *l = (const struct limit *)backend;
    git_object_t kind;
    size_t size;

    (void)bytes;
    (void)n;
    (void)type;
    for (size_t i = 0; i < l->packs; i++)
        if (l->pack[i]->read_header(&size, &kind, l->pack[i], id) == 0)
            return loose_guard_is_large(kind, size) ? loose_guard_refuse(is_too_large)
                                                    : GIT_PASSTHROUGH;
    return GIT_PASSTHROUGH;
}

static int limit_read_prefix(git_oid *found, void **bytes, size_t *n, git_object_t *type,
                             git_odb_backend *backend, const git_oid *front, size_t digits)
{
    const struct limit *l = (const struct limit *)backend;
    git_oid id;

    (void)found;
    for (size_t i = 0; i < l->packs; i++)
        if (l->pack[i]->exists_prefix(&id, l->pack[i], front, digits) == 0)
            return limit_read(bytes, n, type, backend, &id);
    return GIT_PASSTHROUGH;
}

static void limit_free(git_odb_backend *backend)
{
    free(backend);
}

static int add_limit(git_odb *odb)
{
    struct limit *l = calloc(1, sizeof *l);
    int answer = l ? git_odb_init_backend(&l->base, GIT_ODB_BACKEND_VERSION) : GIT_ERROR;

    if (!answer) {
        /* The backends that can write packs are those that contain them. */
        git_odb_backend *b;

        for (size_t i = 0; i < git_odb_num_backends(odb) && l->packs < BACKENDS_MAX; i++)
            if (git_odb_get_backend(&b, odb, i) == 0 && b->writepack && b->read_header &&
                b->exists_prefix)
                l->pack[l->packs++] = b;

        l->base.read = limit_read;
        l->base.read_prefix = limit_read_prefix;
        l->base.free = limit_free;
        answer = git_odb_add_backend(odb, &l->base, BEFORE_PACKS);
    }
    if (answer)
        free(l);
    return answer;
}

static void guard_free(git_odb_backend *backend)
{
    struct guard *g = (struct guard *)backend;

    buf_fini(&g->folders);
    free(g);
}

/* ---- setting it up ---- */

static enum err_code loose_guard_add_folder(struct buf *folders, const char *base,
                                            struct slice name)
{
    bool whole = name.n && name.p[0] == '/';

    if (!whole)
        TRY(buf_addf(folders, "%s/", base));
    TRY(buf_add(folders, name));
    return buf_add_byte(folders, '\0');
}

/* Adds the alternates of the folder at `at`. */
static enum err_code add_alternates(struct buf *folders, size_t at)
{
    char own[PATH_MAX], list[PATH_MAX + 32];
    struct buf bytes = { 0 };
    struct slice rest, line;
    bool torn;
    enum err_code rc = ERR_OK;

    snprintf(own, sizeof own, "%s", folders->p + at);
    snprintf(list, sizeof list, "%s/info/alternates", own);
    if (file_read_all(AT_FDCWD, list, FILE_FOLLOW, ALTERNATES_MAX, &bytes, NULL) == ERR_OK)
        for (rest = buf_slice(&bytes); !rc && slice_line(&rest, &line, &torn);)
            if (line.n && line.n < LINE && line.p[0] != '#' && !memchr(line.p, '\0', line.n))
                rc = loose_guard_add_folder(folders, own, line);
    buf_fini(&bytes);
    return rc;
}

/* Finds the repository's own folder, its alternates, and theirs, after checking the files in them. */
static enum err_code find_folders(const char *own, struct buf *folders, struct err *e)
{
    enum err_code rc = loose_guard_add_folder(folders, "", slice_of(own));

    for (size_t at = 0, n = 0; !rc && at < folders->n && n < FOLDERS_MAX; n++) {
        rc = gitfiles_check_objects(folders->p + at, e);
        if (!rc && add_alternates(folders, at))
            rc = err_nomem(e);
        at += strlen(folders->p + at) + 1;
    }
    return rc;
}

static enum err_code add_guard(git_odb *odb, struct buf *folders)
{
    struct guard *g = calloc(1, sizeof *g);
    int answer = g ? git_odb_init_backend(&g->base, GIT_ODB_BACKEND_VERSION) : GIT_ERROR;

    if (!answer)
        answer = add_limit(odb);
    if (!answer) {
        g->base.read = guard_read;
        g->base.read_header = guard_read_header;
        g->base.read_prefix = guard_read_prefix;
        g->base.free = guard_free;
        g->folders = *folders;
        answer = git_odb_add_backend(odb, &g->base, AFTER_PACKS);
    }
    if (answer)
        free(g);
    else
        *folders = (struct buf){ 0 };
    return answer ? ERR_NOMEM : ERR_OK;
}

enum err_code loose_guard_install(git_repository *repo, struct err *e)
{
    char objects[PATH_MAX];
    struct buf folders = { 0 };
    git_odb *odb = NULL;

    snprintf(objects, sizeof objects, "%sobjects", git_repository_commondir(repo));
    enum err_code rc = find_folders(objects, &folders, e);

    if (!rc && (git_repository_odb(&odb, repo) || add_guard(odb, &folders)))
        rc = err_nomem(e);
    git_odb_free(odb);
    buf_fini(&folders);
    return rc;
}

enum err_code loose_guard_open(const char *objects, git_odb **out, struct err *e)
{
    struct buf folders = { 0 };
    git_odb *odb = NULL;
    enum err_code rc = find_folders(objects, &folders, e);

    errno = 0;
    if (!rc && git_odb_open(&odb, objects))
        rc = err_is_exhausted(errno)
                 ? err_sys(e, objects, "open the objects of git")
                 : err_set(e, ERR_FORMAT, objects, "not a directory of git objects");
    if (!rc && add_guard(odb, &folders))
        rc = err_nomem(e);
    buf_fini(&folders);
    if (rc)
        git_odb_free(odb);
    else
        *out = odb;
    return rc;
}
