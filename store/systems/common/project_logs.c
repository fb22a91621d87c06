#include "store/systems/common/jsonl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/journal/change.h"
#include "store/systems/common/config_dir.h"

struct walk {
    const struct jsonl_store *store;
    const struct project_logs *logs;
    const struct scope *scope;
    session_ref_fn *fn;
    void *arg;
    struct arena arena;        /* owns the texts of one folder */
    struct folder_places seen; /* that were read */
    struct slice id;           /* only logs with this id; empty: all */
    bool each_name;            /* a folder is read again by each link to it */
    bool more;
};

static const struct jsonl_store *project_logs_store_of(const struct store *st)
{
    return (const struct jsonl_store *)st;
}

static bool project_logs_is_log(const struct jsonl_store *s, const char *name, struct slice *id)
{
    return s->format->logs->name_id ? s->format->logs->name_id(name, id)
                                    : jsonl_id_of_name(name, s->format->is_id, id);
}

/* A link to a directory counts as one if `links` is set. */
static bool is_directory(int dir, const struct dirent *entry, bool links)
{
    const char *name = entry->d_name;
    struct stat sb;

    /* Most names are those of logs, for which no call is needed. */
    if (entry->d_type != DT_UNKNOWN && entry->d_type != (links ? DT_LNK : DT_DIR))
        return false;
    if (fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    return links ? S_ISLNK(sb.st_mode) && fstatat(dir, name, &sb, 0) == 0 && S_ISDIR(sb.st_mode)
                 : S_ISDIR(sb.st_mode);
}

static enum err_code visit_log(struct walk *w, int dir, const char *folder, const char *project,
                               const char *name)
{
    struct session_ref ref = { .store = &w->store->base, .folder = slice_of(project) };
    struct stat sb;

    if (w->scope->left_out || !project_logs_is_log(w->store, name, &ref.id) ||
        (w->id.n && !slice_eq(ref.id, w->id)) ||
        fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(sb.st_mode))
        return ERR_OK;
    const char *path = arena_format(&w->arena, "%s/%s", folder, name);

    if (!path)
        return ERR_NOMEM;
    ref.path = slice_of(path);
    ref.file = file_id_of(&sb);
    w->more = w->fn(&ref, w->arg);
    return ERR_OK;
}

static enum err_code project_logs_visit_folder(struct walk *w, const char *folder,
                                               const char *project)
{
    const struct dirent *entry = NULL;
    enum err_code rc = folder ? ERR_OK : ERR_NOMEM;
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool first = false;

    if (fd >= 0)
        rc = folder_places_add(&w->seen, fd, &first);
    else if (!rc)
        session_scope_left_out(w->scope, folder);
    first = first || w->each_name;
    DIR *dir = fd >= 0 && first && !rc ? fdopendir(fd) : NULL;

    while (dir && !rc && w->more && (errno = 0, entry = readdir(dir)))
        rc = visit_log(w, dirfd(dir), folder, project, entry->d_name);
    if (dir && ((!entry && errno) ||
                (w->scope->left_out && faccessat(dirfd(dir), ".", X_OK, AT_EACCESS) != 0)))
        session_scope_left_out(w->scope, folder);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return rc;
}

static enum err_code project_logs_visit_project(struct walk *w, const char *project)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && w->more && w->logs->inside[i]; i++) {
        const char *inside = w->logs->inside[i];

        rc = project_logs_visit_folder(w,
                                       arena_format(&w->arena, "%s/%s%s%s", w->store->folder,
                                                    project, *inside ? "/" : "", inside),
                                       project);
    }
    arena_reset(&w->arena);
    return rc;
}

/* Returns true if the name may be that of the folder of a directory of the scope. */
static bool project_logs_is_wanted(struct walk *w, const char *name)
{
    const struct scope *scope = w->scope;
    bool wanted = scope->all;
    struct slice folder = wanted ? SLICE("") : w->logs->folder_of(slice_of(name), &w->arena);

    if (!wanted)
        wanted = slice_eq(folder, w->logs->folder_of(scope->project, &w->arena));
    for (size_t i = 0; i < scope->trees && !wanted; i++)
        wanted = slice_eq(folder, w->logs->folder_of(scope->tree[i], &w->arena));
    arena_reset(&w->arena);
    return wanted;
}

/* Links come last, so that a folder is listed by its own name. A failure is met again, and reported, where the same
 * directory is read for the logs that lie directly in it. */
static enum err_code visit_all(struct walk *w)
{
    const struct dirent *entry;
    enum err_code rc = ERR_OK;
    DIR *dir = opendir(w->store->folder);

    for (int links = 0; dir && links <= 1; links++, rewinddir(dir))
        while (!rc && w->more && (entry = readdir(dir)))
            if (entry->d_name[0] != '.' && is_directory(dirfd(dir), entry, links == 1) &&
                project_logs_is_wanted(w, entry->d_name))
                rc = project_logs_visit_project(w, entry->d_name);
    if (dir)
        closedir(dir);
    return rc;
}

/* Two directories of the scope may have one folder. */
static enum err_code visit_directory(struct walk *w, struct slice directory, struct slice_set *seen)
{
    struct arena a = { 0 };
    struct slice folder = w->logs->folder_of(directory, &a);
    uint32_t number = 0;
    enum err_code rc = ERR_NOMEM;

    if (folder.p)
        rc = slice_set_find(seen, folder) != SLICE_SET_NONE ? ERR_OK
             : slice_set_add(seen, folder, &number)         ? ERR_NOMEM
                                                    : project_logs_visit_project(w, folder.p);
    arena_fini(&a);
    return rc;
}

static enum err_code visit_scope(struct walk *w, const struct scope *scope)
{
    CLEANUP(slice_set_fini) struct slice_set seen = { 0 };

    TRY(visit_directory(w, scope->project, &seen));
    for (size_t i = 0; i < scope->trees; i++)
        TRY(visit_directory(w, scope->tree[i], &seen));
    return ERR_OK;
}

static enum err_code walk_logs(struct walk *w, struct err *e)
{
    const struct scope *scope = w->scope;
    enum err_code rc = scope->all || w->logs->vague ? visit_all(w) : visit_scope(w, scope);

    if (!rc && w->more)
        rc = project_logs_visit_folder(w, w->store->folder, "");
    folder_places_fini(&w->seen);
    arena_fini(&w->arena);
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code project_logs_enumerate(const struct store *st, const struct scope *scope,
                                     session_ref_fn *fn, void *arg, struct err *e)
{
    const struct jsonl_store *s = project_logs_store_of(st);
    struct walk w = {
        .store = s, .logs = s->format->logs, .scope = scope, .fn = fn, .arg = arg, .more = true
    };

    return walk_logs(&w, e);
}

/* ---- one session ---- */

enum err_code project_logs_find(const struct store *st, const struct scope *scope, struct slice id,
                                struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct scope everywhere = { .all = true };

    if (project_logs_store_of(st)->format->logs->vague)
        scope = &everywhere;
    return jsonl_find_listed(st, project_logs_enumerate, scope, id, a, ref, e);
}

enum err_code project_logs_find_each(const struct store *st, const struct scope *scope,
                                     struct slice id, session_ref_fn *fn, void *arg, struct err *e)
{
    const struct jsonl_store *s = project_logs_store_of(st);
    struct walk w = { .store = s,
                      .logs = s->format->logs,
                      .scope = scope,
                      .fn = fn,
                      .arg = arg,
                      .more = true,
                      .id = id,
                      .each_name = scope->all };

    return walk_logs(&w, e);
}

enum err_code project_logs_at_path(const struct store *st, struct slice path, struct arena *a,
                                   struct session_ref *ref, struct err *e)
{
    const struct jsonl_store *s = project_logs_store_of(st);
    const char *slash = memrchr(path.p, '/', path.n);
    size_t n = strlen(s->folder);
    struct slice id;

    if (!slash || path.n <= n + 1 || memcmp(path.p, s->folder, n) != 0 || path.p[n] != '/' ||
        !project_logs_is_log(s, slash + 1, &id))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    TRY(jsonl_ref_at(st, path.p, id, a, ref, e));
    /* The folder of the project is the first part below the store's; "" for a log directly in it. */
    const char *project = path.p + n + 1, *end = memchr(project, '/', path.n - n - 1);

    ref->folder = arena_copy(a, (struct slice){ project, end ? (size_t)(end - project) : 0 });
    return ref->folder.p ? ERR_OK : err_nomem(e);
}

bool project_logs_collides(const struct scope *scope, struct slice cwd)
{
    if (scope->all || !cwd.n || slice_eq(scope->project, cwd))
        return false;
    for (size_t i = 0; i < scope->trees; i++)
        if (slice_eq(scope->tree[i], cwd))
            return false;
    return true;
}

/* ---- a directory that moved ---- */

enum err_code jsonl_put_text(const char *path, struct slice document, struct slice value,
                             struct slice text, int64_t mtime_ns, struct change *c, struct err *e)
{
    const size_t before = (size_t)(value.p - document.p), after = before + value.n;
    AUTO_BUF now = { 0 };
    AUTO_BUF json = { 0 };
    struct jsonout j;

    jsonout_init(&j, &json);
    jsonout_text(&j, text);
    NEED(!j.rc && !buf_add(&now, (struct slice){ document.p, before }) &&
         !buf_add(&now, buf_slice(&json)) &&
         !buf_add(&now, (struct slice){ document.p + after, document.n - after }));
    const struct step put = { .kind = STEP_PUT,
                              .path = path,
                              .bytes = buf_slice(&now),
                              .old = document,
                              .mtime_ns = mtime_ns };

    return change_add(c, &put, e);
}

enum { MOVED_LOG_MAX = 64 << 20 }; /* the record of the change contains the log twice */

struct slice project_logs_folder_of(const struct store *st, struct slice directory, struct arena *a)
{
    return project_logs_store_of(st)->format->logs->folder_of(directory, a);
}

enum err_code project_logs_set_directory(const struct store *st, const struct session_ref *ref,
                                         struct slice from, struct slice to, struct change *c,
                                         struct err *e)
{
    AUTO_BUF log = { 0 };

    (void)st;
    (void)from;
    TRY(file_read_all(AT_FDCWD, ref->path.p, 0, MOVED_LOG_MAX, &log, e));
    /* The directory is in the first row that has one. */
    struct slice rest = rows_skip_mark(buf_slice(&log)), row, cwd;
    bool torn;

    while (slice_line(&rest, &row, &torn))
        if (json_get(row, "cwd", &cwd) && json_type(cwd) == JSON_STRING)
            return jsonl_put_text(ref->path.p, buf_slice(&log), cwd, to, ref->file.mtime_ns, c, e);
    return ERR_OK;
}

enum err_code project_logs_place(const struct store *st, const struct session_ref *ref,
                                 struct slice cwd, struct arena *a, const char **to, struct err *e)
{
    const struct jsonl_store *s = project_logs_store_of(st);
    const struct project_logs *logs = s->format->logs;
    const char *name = strrchr(ref->path.p, '/');
    const struct slice above = { ref->path.p, (size_t)(name - ref->path.p) },
                       folder = cwd.n ? logs->folder_of(cwd, a) : ref->folder;
    const char *inside = logs->inside[0];

    *to = NULL;
    NEED(folder.p);
    for (size_t i = 0; logs->inside[i]; i++) {
        const size_t n = strlen(logs->inside[i]);

        if (n > strlen(inside) && n < above.n &&
            memcmp(above.p + above.n - n, logs->inside[i], n) == 0)
            inside = logs->inside[i];
    }
    if (folder.n)
        NEED(*to = arena_format(a, "%s/%.*s/%s%s%s", s->folder, SLICE_ARG(folder), inside,
                                *inside ? "/" : "", name + 1));
    return ERR_OK;
}
