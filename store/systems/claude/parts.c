#include <string.h>

#include "store/systems/claude/claude.h"

/* Everything that is named by a session's id. The first two are what the vendor's own delete removes; file history,
 * tasks and the rest it leaves behind for good (claude.md 5.2, 8). %s is the configuration directory or the path
 * of the transcript without its suffix, then the id. */
enum { OWN_PARTS = 2 };

static const char *const beside[] = { CLAUDE_SUFFIX, "", ".ccr-tip.json", ".precompact.json",
                                      ".dir-sync.json" };
/* clang-format off */
static const struct { const char *dir, *suffix; } elsewhere[] = {
    { "file-history", "" }, { "tasks", "" },     { "session-env", "" },
    { "todos", ".json" },   { "debug", ".txt" },
};
/* clang-format on */

static enum err_code add(const char **list, size_t *n, const char *path,
                         const struct session_ref *ref, struct err *e)
{
    if (!path)
        return err_set(e, ERR_NOMEM, ref->path.p, "name what belongs to a session: out of memory");
    list[(*n)++] = path;
    return ERR_OK;
}

enum err_code claude_parts(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e)
{
    size_t near = sizeof beside / sizeof *beside, far = sizeof elsewhere / sizeof *elsewhere,
           count = 0;
    const char **list = arena_alloc(a, sizeof *list * (near + far + 2));
    int stem = (int)(ref->path.n - (sizeof CLAUDE_SUFFIX - 1));
    enum err_code rc =
        list ? ERR_OK : err_set(e, ERR_NOMEM, ref->path.p, "name what belongs to a session");

    /* The id becomes part of file names. */
    if (!rc && !claude_is_uuid(ref->id))
        rc = err_set(e, ERR_UNSAFE, ref->path.p,
                     "name what belongs to a session: its id is no plain name");
    for (size_t i = 0; i < (all ? near : OWN_PARTS) && !rc; i++)
        rc = add(list, &count, arena_format(a, "%.*s%s", stem, ref->path.p, beside[i]), ref, e);
    for (size_t i = 0; all && i < far && !rc; i++)
        rc = add(list, &count,
                 arena_format(a, "%s/%s/%.*s%s", st->path, elsewhere[i].dir, SLICE_ARG(ref->id),
                              elsewhere[i].suffix),
                 ref, e);
    if (all && !rc)
        rc = add(list, &count,
                 arena_format(a, "%s/todos/%.*s-agent-%.*s.json", st->path, SLICE_ARG(ref->id),
                              SLICE_ARG(ref->id)),
                 ref, e);
    if (rc)
        return rc;
    *part = list;
    *n = count;
    return ERR_OK;
}
