#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/export/export.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"

/* Writing a document to a file. A session is private, so its export is too: mode 0600. */

enum { NAME_WORDS = 48, NAME_ID = 8, NAMES_MAX = 1000 };

struct target {
    const char *dir, *name, *full; /* in the arena; the file's name is the end of its path */
    struct arena arena;
};

/* A document at the path of a part of the session would overwrite it or be read as one. */
static enum err_code check_parts(const struct session_ref *ref, struct target *t, struct err *e)
{
    const struct store *st = ref->store;
    const char **part = NULL;
    size_t n = 0;
    char real[PATH_MAX];
    enum err_code rc =
        st->ops->parts ? st->ops->parts(st, ref, true, &t->arena, &part, &n, e) : ERR_OK;

    if (!rc && realpath(ref->path.p, real) && path_under(slice_of(t->full), slice_of(real)))
        return err_set(e, ERR_UNSAFE, t->full, "export to: the file belongs to the session");
    for (size_t i = 0; !rc && i < n; i++)
        if (path_under(slice_of(t->full), slice_of(realpath(part[i], real) ? real : part[i])))
            return err_set(e, ERR_UNSAFE, t->full, "export to: the file belongs to the session");
    return rc;
}

static enum err_code check_target(const struct session_ref *ref, struct target *t, bool replace,
                                  struct err *e)
{
    struct stat st;

    TRY(check_parts(ref, t, e));
    if (lstat(t->full, &st) != 0)
        return errno == ENOENT ? ERR_OK : err_sys(e, t->full, "export to");
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_UNSAFE, t->full, "export to: a link, or not a regular file");
    if (!replace)
        return err_set(e, ERR_STALE, t->full, "export to: the file exists");
    return ERR_OK;
}

static enum err_code export_file_write_file(const struct session_ref *ref,
                                            const struct export_request *req,
                                            const struct target *t, bool replace,
                                            struct export_summary *out, struct err *e)
{
    struct disk_new f;

    disk_new_sweep(t->dir); /* what a killed export left, where a new file has a name at once */
    TRY(disk_new_open(t->dir, 0600, &f, e));
    enum err_code rc = export_session(ref, req, disk_new_write, &f, out, e);

    if (rc) {
        disk_new_discard(&f);
        return rc;
    }
    return replace ? disk_new_replace(&f, t->name, e) : disk_new_publish(&f, t->name, e);
}

enum err_code export_file(const struct session_ref *ref, const struct export_request *req,
                          const char *path, bool replace, struct export_summary *out, struct err *e)
{
    struct target t = { .name = NULL };
    const char *cwd = ref->store->env && ref->store->env->cwd ? ref->store->env->cwd : "/";
    enum err_code rc;

    *out = (struct export_summary){ .bytes = 0 };
    rc = path_new_file(cwd, path, &t.arena, &t.dir, &t.full, e);
    t.name = rc ? NULL : strrchr(t.full, '/') + 1;
    if (!rc)
        rc = check_target(ref, &t, replace, e);
    if (!rc)
        rc = export_file_write_file(ref, req, &t, replace, out, e);
    arena_fini(&t.arena);
    return rc;
}

/* "Fix the login!" becomes "fix-the-login". */
static size_t export_file_add_words(char *out, struct slice text, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n && n < max; i++) {
        char c = text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] + 32) : text.p[i];

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out[n++] = c;
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n > 0 && out[n - 1] == '-')
        n--;
    return n;
}

char *export_file_name(struct slice title, struct slice id, enum export_format format,
                       struct arena *a)
{
    char words[NAME_WORDS], start[NAME_ID];
    size_t w = export_file_add_words(words, title, sizeof words),
           s = export_file_add_words(start, id, sizeof start);

    return arena_format(a, "%.*s%s%.*s.%s", (int)w, words, w ? "-" : "session-", (int)s, start,
                        export_format_name(format));
}

char *export_file_name_for(const struct export_request *req, struct slice title, struct slice id,
                           struct arena *a)
{
    AUTO_BUF clean = { 0 };
    AUTO_BUF words = { 0 };

    if (!req->redact)
        return export_file_name(title, id, req->format, a);
    if (redact_text(title, &clean, NULL))
        return NULL;
    for (size_t at = 0, n; at < clean.n; at += n + 1) {
        struct slice word = { clean.p + at, 0 };

        for (n = 0; at + n < clean.n && clean.p[at + n] != ' '; n++)
            word.n = clean.p[at + n] >= '0' && clean.p[at + n] <= '9' ? SIZE_MAX : word.n;
        if (word.n == 0 &&
            (buf_add(&words, (struct slice){ word.p, n }) || buf_add_byte(&words, ' ')))
            return NULL;
    }
    return export_file_name(buf_slice(&words), id, req->format, a);
}

static enum err_code export_file_name_session(const struct session_ref *ref,
                                              const struct export_request *req, struct arena *a,
                                              char **name, struct err *e)
{
    const struct scope everywhere = { .all = true };
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();

    NEED(row);
    TRY(ref->store->ops->describe(ref->store, &everywhere, ref, row, e));
    if (!(*name = export_file_name_for(req, session_row_title(row), ref->id, a)))
        return err_nomem(e);
    return ERR_OK;
}

static enum err_code make_target_dir(const struct session_ref *ref, const char *dir, struct err *e)
{
    const char *cwd = ref->store->env && ref->store->env->cwd ? ref->store->env->cwd : "/";
    AUTO_ARENA a = { 0 };
    const char *full = *dir == '/' ? dir : arena_format(&a, "%s/%s", cwd, dir);

    return !*dir  ? err_set(e, ERR_USAGE, dir, "export: not the name of a directory")
           : full ? disk_make_dir(full, 0700, e)
                  : err_nomem(e);
}

enum err_code export_into(const struct session_ref *ref, const struct export_request *req,
                          const char *dir, bool replace, char path[EXPORT_PATH],
                          struct export_summary *out, struct err *e)
{
    struct arena a = { 0 };
    char *name = NULL;
    enum err_code rc;

    *out = (struct export_summary){ .bytes = 0 };
    *path = '\0';
    rc = make_target_dir(ref, dir, e);
    if (!rc)
        rc = export_file_name_session(ref, req, &a, &name, e);
    for (unsigned number = 1; !rc; number++) {
        /* "DIR/fix-the-login-0123abcd.md", and from the second number on
         * "DIR/fix-the-login-0123abcd-2.md". */
        const char *dot = strrchr(name, '.'), *slash = dir[strlen(dir) - 1] == '/' ? "" : "/";
        char numbered[16] = "";

        if (number > 1)
            snprintf(numbered, sizeof numbered, "-%u", number);
        if (snprintf(path, EXPORT_PATH, "%s%s%.*s%s%s", dir, slash, (int)(dot - name), name,
                     numbered, dot) >= EXPORT_PATH)
            rc = err_set(e, ERR_UNSAFE, dir, "export to: the name is too long");
        else
            rc = ERR_OK;

        if (!rc)
            rc = export_file(ref, req, path, replace, out, e);
        if (rc != ERR_STALE || replace || number == NAMES_MAX)
            break;
        export_summary_fini(out);
        rc = ERR_OK;
    }
    arena_fini(&a);
    return rc;
}
