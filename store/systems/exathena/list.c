#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* The sessions of a store: the *.jsonl directly in sessions/, or in a root of its own, without
 * subfolders (exathena.md A4). An empty file is a session that was rewound to its beginning. */

enum { SUFFIX = sizeof EXATHENA_SUFFIX - 1 };

static bool within(const char *project, struct slice dir)
{
    size_t n = strlen(project);

    if (n == 1)
        return true; /* the root directory */
    return dir.n >= n && memcmp(dir.p, project, n) == 0 && (dir.n == n || dir.p[n] == '/');
}

bool exathena_in_scope(const struct exathena *x, const struct scope *scope)
{
    char real[PATH_MAX];
    const char *project = realpath(x->project, real) ? real : x->project;

    if (scope->all || within(project, scope->project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (within(project, scope->tree[i]))
            return true;
    return false;
}

struct jsonl_folder exathena_folder(const struct exathena *x)
{
    return (struct jsonl_folder){ &x->base, x->sessions, exathena_is_id };
}

enum err_code exathena_enumerate(const struct store *st, const struct scope *scope,
                                 session_ref_fn *fn, void *arg, struct err *e)
{
    const struct exathena *x = exathena_of(st);
    const struct jsonl_folder folder = exathena_folder(x);

    return exathena_in_scope(x, scope) ? jsonl_enumerate(&folder, fn, arg, e) : ERR_OK;
}

enum err_code exathena_find(const struct store *st, const struct scope *scope, struct slice id,
                            struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct exathena *x = exathena_of(st);
    const struct jsonl_folder folder = exathena_folder(x);

    if (!exathena_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not an ExAthena session id");
    if (!exathena_in_scope(x, scope))
        return err_set(e, ERR_NOT_FOUND, x->sessions, "find session: of another project");
    return jsonl_find(&folder, id, a, ref, e);
}

static bool is_in(const char *dir, struct slice path, size_t name_at)
{
    size_t n = strlen(dir);

    return name_at == n + 1 && memcmp(path.p, dir, n) == 0;
}

/* Logs are in a directory named sessions, wherever that is, or in the root that was given: nothing
 * else distinguishes a log from any other JSONL. */
enum err_code exathena_at_path(const struct store *st, struct slice path, struct arena *a,
                               struct session_ref *ref, struct err *e)
{
    static const char folder[] = "/sessions/";
    const char *name = memrchr(path.p, '/', path.n), *file = path.p;
    size_t at = name ? (size_t)(name + 1 - path.p) : 0, n = sizeof folder - 1;
    const struct jsonl_folder logs = exathena_folder(exathena_of(st));
    struct slice id;

    if (!is_in(logs.path, path, at) && (at < n || memcmp(path.p + at - n, folder, n) != 0))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    if (path.n - at <= SUFFIX || memcmp(path.p + path.n - SUFFIX, EXATHENA_SUFFIX, SUFFIX) != 0)
        file = arena_format(a, "%.*s" EXATHENA_SUFFIX, SLICE_ARG(path));
    if (!file)
        return err_nomem(e);
    if (!jsonl_name_id(&logs, file + at, &id))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    return jsonl_ref_at(st, file, id, a, ref, e);
}

/* The time of the first event is that of the session, and the first prompt is its title. A message
 * of a person or a tool waits for an answer. */
static enum err_code read_said(struct slice line, struct arena *a, struct jsonl_said *out)
{
    struct event ev;

    if (!event_read(line, a, &ev))
        return ERR_FORMAT;
    bool user = slice_eq(ev.role, SLICE("user"));

    if (!time_parse(ev.ts, &out->time_ms))
        out->time_ms = TIME_NONE;
    out->speaks = ev.role.n > 0;
    out->waits = user || slice_eq(ev.role, SLICE("tool"));
    return user && !event_said(&ev, a, &out->prompt) ? ERR_NOMEM : ERR_OK;
}

enum err_code exathena_describe(const struct store *st, const struct scope *scope,
                                const struct session_ref *ref, struct session_row *row,
                                struct err *e)
{
    static const struct jsonl_format format = { .read = read_said, .prompt_mark = "\"user" };
    const struct exathena *x = exathena_of(st);
    enum err_code rc = jsonl_describe(x->scratch, ref, &format, row, e);

    (void)scope;
    if (rc || row->hidden)
        return rc;
    row->can = CAN_RESUME | CAN_FORK | CAN_REWIND | CAN_DELETE;
    if (!x->homeless)
        row->cwd = arena_copy(&row->arena, slice_of(x->project));
    return row->cwd.p ? ERR_OK : err_nomem(e);
}

/* Runs of sub-agents: <session>/sidechains/<agent>.jsonl, one line for each finished run. */

static int compare_id(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    return strcmp(x->p, y->p);
}

static enum err_code add_subagent_id(struct arena *a, struct slice **ids, size_t *n,
                                     const char *name)
{
    const struct jsonl_folder runs = { .is_id = exathena_is_id };
    struct slice id;

    if (!jsonl_name_id(&runs, name, &id))
        return ERR_OK;
    struct slice *more = arena_grow(a, *ids, *n, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    *ids = more;
    more[*n] = arena_copy(a, id);
    *n += more[*n].p != NULL;
    return more[*n - 1].p ? ERR_OK : ERR_NOMEM;
}

enum err_code exathena_subagents(const struct store *st, const struct session_ref *ref,
                                 struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    const char *path = exathena_side_path(ref, "sidechains", a);
    struct dirent *entry;
    struct slice *found = NULL;
    size_t count = 0;
    enum err_code rc = path ? ERR_OK : ERR_NOMEM;
    DIR *dir = path ? opendir(path) : NULL;

    (void)st;
    while (dir && !rc && (entry = readdir(dir)))
        rc = add_subagent_id(a, &found, &count, entry->d_name);
    if (dir)
        closedir(dir);
    if (rc)
        return err_nomem(e);
    if (count)
        qsort(found, count, sizeof *found, compare_id);
    *ids = found;
    *n = count;
    return ERR_OK;
}

/* The file has a line for each run; the last one contains the outcome. */
static void about_run(struct slice tail, bool whole, struct arena *a, struct subagent *out)
{
    struct slice row = { NULL, 0 }, result, ok;
    bool torn = true;

    while (torn && slice_last_line(&tail, &row, &torn))
        continue;
    if (torn || (!whole && !tail.n) || !json_valid(row))
        return;
    event_text(row, "prompt", a, &out->task);
    out->task = arena_copy(a, out->task);
    if (!event_member(row, "result", &result) || !event_member(result, "ok", &ok))
        return;
    out->end = slice_eq(ok, SLICE("true")) ? SUBAGENT_DONE : SUBAGENT_FAILED;
    event_text(result, out->end == SUBAGENT_DONE ? "text" : "error", a, &out->outcome);
    out->outcome = arena_copy(a, out->outcome);
}

enum err_code exathena_describe_subagents(const struct store *st, const struct session_ref *ref,
                                          const atomic_bool *cancel, struct subagent_list *out,
                                          struct err *e)
{
    struct subagent_list list = { .n = 0 };
    const char *dir = exathena_side_path(ref, "sidechains", &list.arena);
    struct slice *ids = NULL;
    struct window w;
    enum err_code rc = exathena_subagents(st, ref, &list.arena, &ids, &list.n, e);

    if (!rc)
        rc = window_init(&w, e);
    if (rc) {
        subagent_list_fini(&list);
        return rc;
    }
    list.agent = arena_zalloc(&list.arena, (list.n + 1) * sizeof *list.agent);
    for (size_t i = 0; list.agent && i < list.n && !(cancel && atomic_load(cancel)); i++) {
        struct subagent *x = &list.agent[i];
        const char *path =
            arena_format(&list.arena, "%s/%.*s" EXATHENA_SUFFIX, dir, SLICE_ARG(ids[i]));

        *x = (struct subagent){ .id = ids[i], .time_ms = TIME_NONE };
        if (!path || window_open(&w, AT_FDCWD, path, 0, NULL)) /* only its name is known */
            continue;
        x->bytes = w.file.id.size;
        x->time_ms = w.file.id.mtime_ns / 1000000;
        about_run(w.tail, w.head.p == w.tail.p, &list.arena, x);
    }
    window_fini(&w);
    if (!list.agent || list.arena.failed)
        rc = err_nomem(e);
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}

enum err_code exathena_subagent(const struct store *st, const struct session_ref *ref,
                                struct slice agent, struct arena *a, struct session_ref *out,
                                struct err *e)
{
    const char *dir = exathena_side_path(ref, "sidechains", a);
    struct session_ref sub = { .store = st, .folder = ref->folder };
    struct file f;

    if (!exathena_is_id(agent))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no sub-agent %.*s", SLICE_ARG(agent));
    sub.path.p = dir ? arena_format(a, "%s/%.*s" EXATHENA_SUFFIX, dir, SLICE_ARG(agent)) : NULL;
    sub.id = arena_copy(a, agent);
    if (!sub.path.p || !sub.id.p)
        return err_nomem(e);
    sub.path.n = strlen(sub.path.p);
    enum err_code rc = file_open(AT_FDCWD, sub.path.p, 0, &f, e);

    if (rc == ERR_NOT_FOUND)
        return err_set(e, rc, ref->path.p, "no sub-agent %.*s", SLICE_ARG(agent));
    if (rc)
        return rc;
    sub.file = f.id;
    file_close(&f);
    *out = sub;
    return ERR_OK;
}
