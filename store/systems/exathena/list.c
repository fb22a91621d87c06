#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* Which sessions there are: the *.jsonl directly in sessions/, or in a root of its own, nothing below it (formats/exathena.md A4). An empty
 * file is a session that was rewound to its begin. */

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

/* Logs lie in a directory named sessions, wherever that is, or in the root that was named: nothing else tells one from any
 * other JSONL. */
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

/* The first event tells when the session was made, the first prompt what it is called. A person's message and a tool's
 * wait for an answer. */
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
