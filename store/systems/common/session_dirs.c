#include "store/systems/common/session_dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/io/file.h"
#include "lite/json/json.h"

/* ---- enumerate ---- */

static const struct jsonl_store *session_dirs_store_of(const struct store *st)
{
    return (const struct jsonl_store *)st;
}

struct walk {
    const struct jsonl_store *store;
    const struct session_dirs *dirs;
    const struct scope *scope;
    session_ref_fn *fn;
    void *arg;
    struct arena arena; /* owns the texts of one folder */
    bool more;
};

static enum err_code visit_session(struct walk *w, const char *folder, const char *name)
{
    struct session_ref ref = { .store = &w->store->base, .folder = slice_of(folder) };
    struct stat sb;
    const char *path;

    const struct jsonl_store *s = w->store;

    ref.id = slice_of(name);
    if (!(s->format->dirs->name_id ? s->format->dirs->name_id(name, &ref.id)
                                   : s->format->is_id(ref.id)))
        return ERR_OK;

    path = arena_format(&w->arena, "%s%s%s/%s%s%s%s", w->store->folder, *folder ? "/" : "", folder,
                        name, w->dirs->named ? "/" : "", w->dirs->named ? name : "", w->dirs->log);
    if (!path)
        return ERR_NOMEM;
    if (lstat(path, &sb) != 0) {
        session_scope_left_out(w->scope, path);
        return ERR_OK;
    }
    if (S_ISDIR(sb.st_mode))
        return ERR_OK;
    ref.path = slice_of(path);
    ref.file = file_id_of(&sb);
    w->more = w->fn(&ref, w->arg);
    return ERR_OK;
}

static enum err_code session_dirs_visit_folder(struct walk *w, const char *folder)
{
    const char *path = arena_format(&w->arena, "%s/%s", w->store->folder, folder);
    DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *entry = NULL;
    enum err_code rc = path ? ERR_OK : ERR_NOMEM;

    while (dir && !rc && w->more && (errno = 0, entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            rc = visit_session(w, folder, entry->d_name);
    if (!rc && !entry && errno)
        session_scope_left_out(w->scope, path);
    if (dir)
        closedir(dir);
    arena_reset(&w->arena);
    return rc;
}

static enum err_code visit_folders(struct walk *w)
{
    DIR *dir = opendir(w->store->folder);
    const struct dirent *entry = NULL;
    enum err_code rc = ERR_OK;

    while (dir && !rc && w->more && (errno = 0, entry = readdir(dir)))
        if (entry->d_name[0] != '.' && w->dirs->in_scope(w->store, w->scope, entry->d_name))
            rc = session_dirs_visit_folder(w, entry->d_name);
    if (!rc && !entry && errno)
        session_scope_left_out(w->scope, w->store->folder);
    if (dir)
        closedir(dir);
    return rc;
}

enum err_code session_dirs_enumerate(const struct store *st, const struct scope *scope,
                                     session_ref_fn *fn, void *arg, struct err *e)
{
    struct walk w = {
        .store = session_dirs_store_of(st),
        .dirs = session_dirs_store_of(st)->format->dirs,
        .scope = scope,
        .fn = fn,
        .arg = arg,
        .more = true,
    };
    enum err_code rc = w.dirs->in_scope ? visit_folders(&w) : session_dirs_visit_folder(&w, "");

    arena_fini(&w.arena);
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- one session ---- */

struct slice session_dirs_of(const struct session_ref *ref)
{
    const struct session_dirs *dirs = session_dirs_store_of(ref->store)->format->dirs;
    size_t n = strlen(dirs->named ? strrchr(ref->path.p, '/') : dirs->log);

    return (struct slice){ ref->path.p, ref->path.n > n ? ref->path.n - n : 0 };
}

enum err_code session_dirs_find(const struct store *st, const struct scope *scope, struct slice id,
                                struct arena *a, struct session_ref *ref, struct err *e)
{
    return jsonl_find_listed(st, session_dirs_enumerate, scope, id, a, ref, e);
}

struct finding_path {
    struct slice path;
    struct arena *arena;
    struct session_ref *ref;
    bool found, failed;
};

static bool compare_path(const struct session_ref *ref, void *arg)
{
    struct finding_path *f = arg;
    struct slice dir = session_dirs_of(ref);

    if (f->path.n < dir.n || memcmp(f->path.p, dir.p, dir.n) != 0 ||
        (f->path.n > dir.n && f->path.p[dir.n] != '/'))
        return true;
    f->found = true;
    f->failed = !session_ref_copy(f->arena, ref, f->ref);
    return false;
}

enum err_code session_dirs_at_path(const struct store *st, struct slice path, struct arena *a,
                                   struct session_ref *ref, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct finding_path f = { .path = path, .arena = a, .ref = ref };
    enum err_code rc = session_dirs_enumerate(st, &everywhere, compare_path, &f, e);

    if (rc || f.failed)
        return err_nomem(e);
    return f.found ? ERR_OK : err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
}

enum err_code session_dirs_json(const struct session_ref *ref, const char *name, size_t most,
                                struct buf *out)
{
    struct arena a = { 0 };
    struct slice dir = session_dirs_of(ref);
    const char *path = arena_format(&a, "%.*s/%s", SLICE_ARG(dir), name);
    enum err_code rc = path ? file_read_all(AT_FDCWD, path, 0, most, out, NULL) : ERR_NOMEM;

    arena_fini(&a);
    if (rc || !json_valid(buf_slice(out)) || json_type(buf_slice(out)) != JSON_OBJECT)
        out->n = 0;
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

static bool session_dirs_is_agent(const struct jsonl_store *s, struct slice id)
{
    return s->format->dirs->is_agent ? s->format->dirs->is_agent(id) : s->format->is_id(id);
}

enum err_code session_dirs_names(const struct session_ref *ref, const char *folder,
                                 bool (*name_id)(const char *name, struct slice *id),
                                 struct arena *a, struct slice **names, size_t *n, struct err *e)
{
    struct slice parent = session_dirs_of(ref), id;
    const char *path = arena_format(a, "%.*s/%s", SLICE_ARG(parent), folder);
    DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *entry;

    *names = NULL;
    *n = 0;
    if (path && !dir && errno != ENOENT && errno != ENOTDIR)
        return err_sys(e, path, "look for sub-agents");
    while (dir && !a->failed && (errno = 0, entry = readdir(dir)))
        if (name_id
                ? name_id(entry->d_name, &id)
                : session_dirs_is_agent(session_dirs_store_of(ref->store), slice_of(entry->d_name)))
            arena_add_copy(a, names, n, slice_of(entry->d_name));
    enum err_code rc =
        dir && !a->failed && errno ? err_sys(e, path, "look for sub-agents") : ERR_OK;

    if (dir)
        closedir(dir);
    slice_sort(*names, *n);
    return a->failed ? err_nomem(e) : rc;
}

enum err_code session_dirs_parts(const struct store *st, const struct session_ref *ref, bool all,
                                 struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char *path = arena_copy(a, session_dirs_of(ref)).p;

    (void)st, (void)all;
    *part = NULL;
    *n = 0;
    return path && arena_add_text(a, part, n, path) ? ERR_OK : err_nomem(e);
}

/* ---- sub-agents ---- */

enum err_code session_dirs_subagents(const struct store *st, const struct session_ref *ref,
                                     struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    return session_dirs_names(ref, session_dirs_store_of(st)->format->dirs->agents, NULL, a, ids, n,
                              e);
}

enum err_code session_dirs_subagent(const struct store *st, const struct session_ref *ref,
                                    struct slice agent, struct arena *a, struct session_ref *out,
                                    struct err *e)
{
    const struct session_dirs *dirs = session_dirs_store_of(st)->format->dirs;
    struct slice parent = session_dirs_of(ref), id = arena_copy(a, agent);

    if (!id.p)
        return err_nomem(e);
    if (!session_dirs_is_agent(session_dirs_store_of(st), id))
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read sub-agent: no such sub-agent; see reprise subagents");
    return jsonl_ref_at(st,
                        arena_format(a, "%.*s/%s/%.*s%s", SLICE_ARG(parent), dirs->agents,
                                     SLICE_ARG(id), dirs->log),
                        id, a, out, e);
}

/* ---- sub-agents whose logs are the files of one folder (jsonl.h) ---- */

struct log_ids {
    struct arena *arena;
    struct slice *id;
    size_t n;
    int failed; /* the error that ended the folder */
};

static void keep_failure(const struct err *why, void *arg)
{
    ((struct log_ids *)arg)->failed = why->sys;
}

static bool add_log_id(const struct session_ref *ref, void *arg)
{
    struct log_ids *list = arg;

    return arena_add_copy(list->arena, &list->id, &list->n, ref->id);
}

enum err_code jsonl_log_ids(const struct store *st, const char *folder, jsonl_is_id_fn *is_id,
                            struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct log_ids found = { .arena = a };
    const struct scope reports = { .left_out = keep_failure, .left_out_arg = &found };

    if ((folder && jsonl_each_log(st, &reports, folder, is_id, add_log_id, &found, NULL)) ||
        a->failed)
        return err_nomem(e);
    if ((errno = found.failed))
        return err_sys(e, folder, "look for sub-agents");
    slice_sort(found.id, found.n);
    *ids = found.id;
    *n = found.n;
    return ERR_OK;
}
