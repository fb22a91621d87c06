#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/systems/claude/claude.h"
#include "store/systems/claude/discover.h"

/* The session with an id, where the agent itself would find it (claude.md 1.3): the first folder that has
 * a file of this name with something in it, be it a link, be it unfit for a list. */

static bool has_session(const struct claude *c, struct slice folder, struct slice id,
                        struct arena *a, struct session_ref *ref, bool *ok)
{
    size_t n = strlen(c->projects) + 1 + folder.n + 1 + id.n + sizeof CLAUDE_SUFFIX;
    char *path = arena_alloc(a, n);
    struct stat sb;

    *ok = path != NULL;
    if (!path)
        return false;
    snprintf(path, n, "%s/%s/%.*s" CLAUDE_SUFFIX, c->projects, folder.p, SLICE_ARG(id));
    if (stat(path, &sb) != 0 || S_ISDIR(sb.st_mode) || sb.st_size == 0)
        return false;
    *ref = (struct session_ref){
        .store = &c->base,
        .id = arena_copy(a, id),
        .path = { path, n - 1 },
        .folder = arena_copy(a, folder),
        .file = claude_file_id(&sb),
    };
    *ok = ref->id.p && ref->folder.p;
    return *ok;
}

enum err_code claude_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct claude *c = claude_of(st);
    struct project_folders list = { 0 };
    struct arena names = { 0 };
    bool ok = true, found = false;

    if (!claude_is_uuid(id))
        return err_set(e, ERR_USAGE, "", "find session: not an id of Claude Code");
    enum err_code rc = claude_folders(c, scope, DISCOVER_ONE, &names, &list, e);

    for (size_t i = 0; !rc && ok && !found && i < list.n; i++)
        found = has_session(c, list.folder[i].name, id, a, ref, &ok);
    arena_fini(&names);
    if (!rc && !ok)
        return err_set(e, ERR_NOMEM, c->projects, "find session");
    if (!rc && !found)
        return err_set(e, ERR_NOT_FOUND, "", "find session %.*s: no such session", SLICE_ARG(id));
    return rc;
}
