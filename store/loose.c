#include "store/loose.h"

#include <dirent.h>
#include <fcntl.h>
#include <git2/sys/odb_backend.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#if __has_include(<git2/sys/errors.h>) /* since libgit2 1.8 */
#include <git2/sys/errors.h>
#endif

#include "lite/buf.h"
#include "lite/file.h"
#include "lite/slice.h"
#include "store/gitfiles.h"

enum {
    AFTER_PACKS = 2,
    PIECE = 16 * 1024,
    LINE = 4096,
    ALTERNATES_MAX = 1 << 20,
    FOLDERS_MAX = 64
};

/* Reads nothing itself: it passes each object on, but for one that the next reader would not come back from. */
struct guard {
    git_odb_backend base;
    /* Where objects lie, NUL-terminated one after the other: the repository's own, its alternates'. */
    struct buf folders;
};

/* ---- one object ---- */

struct inflating {
    z_stream z;
    unsigned char in[PIECE], out[PIECE];
};

/* Does what is compressed here come to its end? A file that cannot be read is none that does. */
static bool comes_to_end(struct inflating *x, const struct file *f)
{
    int64_t at = 0;
    int answer = Z_OK;

    while (answer == Z_OK) {
        size_t got = 0;

        if (file_read(f, at, (char *)x->in, sizeof x->in, &got, NULL) || got == 0)
            return false;
        at += (int64_t)got;
        x->z.next_in = x->in;
        x->z.avail_in = (unsigned)got;
        do {
            x->z.next_out = x->out;
            x->z.avail_out = sizeof x->out;
            answer = inflate(&x->z, Z_NO_FLUSH);
        } while (answer == Z_OK && (x->z.avail_in || x->z.avail_out == 0));
        if (answer == Z_BUF_ERROR && x->z.avail_in == 0)
            answer = Z_OK; /* it wants more */
    }
    return answer == Z_STREAM_END;
}

static bool is_whole(const struct file *f)
{
    struct inflating *x = calloc(1, sizeof *x);
    bool whole = x && inflateInit(&x->z) == Z_OK;

    if (whole) {
        whole = comes_to_end(x, f);
        inflateEnd(&x->z);
    }
    free(x);
    return whole;
}

/* No such file is whole, too: another reader may have the object. */
static bool is_whole_in(const char *folder, const char hex[GIT_OID_HEXSZ + 1])
{
    char path[PATH_MAX];
    struct file f;
    int n = snprintf(path, sizeof path, "%s/%.2s/%s", folder, hex, hex + 2);

    if (n < 0 || (size_t)n >= sizeof path)
        return true;
    enum err_code rc = file_open(AT_FDCWD, path, FILE_FOLLOW, &f, NULL);

    if (rc)
        return rc != ERR_UNSAFE; /* a pipe would be waited for */
    bool whole = is_whole(&f);

    file_close(&f);
    return whole;
}

/* ---- what libgit2 asks ---- */

static int cut_short(void)
{
    git_error_set_str(GIT_ERROR_ODB, "an object is cut short or damaged");
    return GIT_ERROR;
}

static int guard_read(void **bytes, size_t *n, git_object_t *type, git_odb_backend *backend,
                      const git_oid *id)
{
    const struct guard *g = (const struct guard *)backend;
    char hex[GIT_OID_HEXSZ + 1];
    const char *folder = g->folders.p, *end = folder + g->folders.n;

    (void)bytes;
    (void)n;
    (void)type;
    git_oid_tostr(hex, sizeof hex, id);
    for (; folder < end; folder += strlen(folder) + 1)
        if (!is_whole_in(folder, hex))
            return cut_short();
    return GIT_PASSTHROUGH;
}

/* All objects in a folder that begin so. */
static bool all_whole(const char *folder, const char *hex, size_t digits)
{
    char path[PATH_MAX], whole[GIT_OID_HEXSZ + 1];
    const struct dirent *entry;
    bool ok = true;

    snprintf(path, sizeof path, "%s/%.2s", folder, hex);
    DIR *dir = opendir(path);

    while (ok && dir && (entry = readdir(dir))) {
        if (strlen(entry->d_name) != GIT_OID_HEXSZ - 2 ||
            strncmp(entry->d_name, hex + 2, digits - 2) != 0)
            continue;
        snprintf(whole, sizeof whole, "%.2s%s", hex, entry->d_name);
        ok = is_whole_in(folder, whole);
    }
    if (dir)
        closedir(dir);
    return ok;
}

static int guard_read_prefix(git_oid *found, void **bytes, size_t *n, git_object_t *type,
                             git_odb_backend *backend, const git_oid *front, size_t digits)
{
    const struct guard *g = (const struct guard *)backend;
    char hex[GIT_OID_HEXSZ + 1];
    const char *folder = g->folders.p, *end = folder + g->folders.n;

    (void)found;
    (void)bytes;
    (void)n;
    (void)type;
    git_oid_tostr(hex, sizeof hex, front);
    for (; digits >= 2 && folder < end; folder += strlen(folder) + 1)
        if (!all_whole(folder, hex, digits))
            return cut_short();
    return GIT_PASSTHROUGH;
}

static void guard_free(git_odb_backend *backend)
{
    struct guard *g = (struct guard *)backend;

    buf_fini(&g->folders);
    free(g);
}

/* ---- setting it up ---- */

static enum err_code add_folder(struct buf *folders, const char *base, struct slice name)
{
    bool whole = name.n && name.p[0] == '/';
    enum err_code rc = whole ? ERR_OK : buf_addf(folders, "%s/", base);

    if (!rc)
        rc = buf_add(folders, name);
    return rc ? rc : buf_add_byte(folders, '\0');
}

/* Those that the folder at `at` borrows from. */
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
                rc = add_folder(folders, own, line);
    buf_fini(&bytes);
    return rc;
}

/* The repository's own and those it borrows from, which borrow in turn; nothing in them is a pipe to git. */
static enum err_code find_folders(git_repository *repo, struct buf *folders, struct err *e)
{
    char own[PATH_MAX];
    enum err_code rc;

    snprintf(own, sizeof own, "%sobjects", git_repository_commondir(repo));
    rc = add_folder(folders, "", slice_of(own));
    for (size_t at = 0, n = 0; !rc && at < folders->n && n < FOLDERS_MAX; n++) {
        rc = gitfiles_check_objects(folders->p + at, e);
        if (!rc && add_alternates(folders, at))
            rc = err_set(e, ERR_NOMEM, own, "open the repository");
        at += strlen(folders->p + at) + 1;
    }
    return rc;
}

enum err_code loose_guard(git_repository *repo, struct err *e)
{
    struct guard *g = calloc(1, sizeof *g);
    git_odb *odb = NULL;
    enum err_code rc = g ? find_folders(repo, &g->folders, e)
                         : err_set(e, ERR_NOMEM, git_repository_path(repo), "open the repository");
    int answer = !rc && git_odb_init_backend(&g->base, GIT_ODB_BACKEND_VERSION) == 0
                     ? git_repository_odb(&odb, repo)
                     : GIT_ERROR;

    if (!answer) {
        g->base.read = guard_read;
        g->base.read_prefix = guard_read_prefix;
        g->base.free = guard_free;
        answer = git_odb_add_backend(odb, &g->base, AFTER_PACKS);
    }
    git_odb_free(odb);
    if (!answer)
        return ERR_OK;
    if (g)
        buf_fini(&g->folders);
    free(g);
    return rc ? rc : err_set(e, ERR_NOMEM, git_repository_path(repo), "open the repository");
}
