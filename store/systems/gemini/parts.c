#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/systems/gemini/gemini.h"

/* ---- sub-agents ---- */

static const char *agents_folder(const struct session_ref *ref, struct arena *a)
{
    const char *slash = memrchr(ref->path.p, '/', ref->path.n);

    return gemini_is_id(ref->id) ? arena_format(a, "%.*s/%.*s", (int)(slash - ref->path.p),
                                                ref->path.p, SLICE_ARG(ref->id))
                                 : NULL;
}

enum err_code gemini_subagents(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    return jsonl_log_ids(st, agents_folder(ref, a), gemini_is_id, a, ids, n, e);
}

enum err_code gemini_subagent(const struct store *st, const struct session_ref *ref,
                              struct slice agent, struct arena *a, struct session_ref *out,
                              struct err *e)
{
    return jsonl_subagent_at(st, ref, agents_folder(ref, a), gemini_is_id, agent, a, out, e);
}

/* ---- what belongs to a session ---- */

enum err_code gemini_files(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char *agents = agents_folder(ref, a);
    const char *slash = memrchr(ref->path.p, '/', ref->path.n);
    const struct slice folder = { ref->path.p, (size_t)(slash - ref->path.p) };
    const char *mark = arena_format(a, "-%.8s.", ref->id.p);
    const char *path = arena_copy(a, folder).p;
    AUTO_DIR *dir = path ? opendir(path) : NULL;
    const bool failed = path && !dir && errno != ENOENT && errno != ENOTDIR;

    (void)st, (void)all;
    *part = NULL;
    *n = 0;
    if (failed)
        return err_sys(e, path, "look for what belongs to the session");
    NEED(!a->failed && arena_add_text(a, part, n, ref->path.p));
    /* Its other files, which Gemini began when it resumed the session, are named after it. */
    for (const struct dirent *x; dir && (errno = 0, x = readdir(dir));)
        if (strstr(x->d_name, mark) && strcmp(x->d_name, slash + 1) != 0 &&
            !gemini_is_of_another(dirfd(dir), x->d_name, ref->id, a))
            NEED(arena_add_text(a, part, n, arena_format(a, "%s/%s", path, x->d_name)));
    if (dir && errno)
        return err_sys(e, path, "look for what belongs to the session");
    if (agents)
        NEED(arena_add_text(a, part, n, agents));
    return ERR_OK;
}

/* These documents name the directories of the project folders. */
enum err_code gemini_shared(const struct store *st, const struct session_ref *ref, bool all,
                            struct arena *a, const char ***part, size_t *n, struct err *e)
{
    (void)all;
    *part = NULL;
    *n = 0;
    NEED(arena_add_text(a, part, n, arena_format(a, "%s/projects.json", st->path)));
    NEED(arena_add_text(
        a, part, n,
        arena_format(a, "%s/tmp/%.*s/.project_root", st->path, SLICE_ARG(ref->folder))));
    return ERR_OK;
}
