#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/list/find.h"

/* The session with an id, where the agent itself would find it (claude.md 1.3): the first folder that has
 * a file of this name with something in it, be it a link, be it unfit for a list. */

bool claude_folder_has(const struct claude *c, struct slice folder, struct slice id,
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
        .file = file_id_of(&sb),
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
        return err_set(e, ERR_USAGE, "", "find session: not a Claude Code session id");
    enum err_code rc = claude_folders(c, scope, DISCOVER_ONE, &names, &list, e);

    for (size_t i = 0; !rc && ok && !found && i < list.n; i++)
        found = claude_folder_has(c, list.folder[i].name, id, a, ref, &ok);
    arena_fini(&names);
    if (!rc && !ok)
        return err_nomem(e);
    if (!rc && !found)
        return err_set(e, ERR_NOT_FOUND, "", "find session %.*s: no such session", SLICE_ARG(id));
    return rc;
}

/* The transcript of a session directory lies beside it. */
static struct slice transcript_at(struct slice path, struct arena *a)
{
    struct stat sb;
    char *p;

    if (stat(path.p, &sb) == 0 && !S_ISDIR(sb.st_mode))
        return arena_copy(a, path);
    p = arena_alloc(a, path.n + sizeof CLAUDE_SUFFIX);
    if (!p)
        return (struct slice){ NULL, 0 };
    memcpy(p, path.p, path.n);
    memcpy(p + path.n, CLAUDE_SUFFIX, sizeof CLAUDE_SUFFIX);
    return (struct slice){ p, path.n + sizeof CLAUDE_SUFFIX - 1 };
}

enum err_code claude_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e)
{
    size_t suffix = sizeof CLAUDE_SUFFIX - 1;
    struct slice file = transcript_at(path, a), folder = { "", 0 };
    struct stat sb;

    if (!file.p)
        return err_nomem(e);
    const char *name = strrchr(file.p, '/') + 1;
    size_t n = (size_t)(file.p + file.n - name);

    if (n <= suffix || strcmp(name + n - suffix, CLAUDE_SUFFIX) != 0 || stat(file.p, &sb) != 0 ||
        !S_ISREG(sb.st_mode) || sb.st_size == 0)
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    const char *parent = memrchr(file.p, '/', (size_t)(name - 1 - file.p));

    if (parent)
        folder = arena_copy(a, (struct slice){ parent + 1, (size_t)(name - 2 - parent) });
    struct slice id = arena_copy(a, (struct slice){ name, n - suffix });

    if (!folder.p || !id.p)
        return err_nomem(e);
    *ref = (struct session_ref){
        .store = st, .id = id, .path = file, .folder = folder, .file = file_id_of(&sb)
    };
    return ERR_OK;
}
