#include "store/systems/kiro/kiro.h"

#include <fcntl.h>
#include <string.h>

#include "lite/io/file.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/jsonl.h"

/* The members that a list shows precede the state of the session, which may be large. */
enum { ABOUT_MOST = 64 << 10 };

static const char flat[] = "cli", directory[] = "sess_";

static enum err_code kiro_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return session_dirs_open(&kiro_ops, &kiro_format, env, path, "sessions", out, e);
}

/* ---- the sessions: files of one folder, and directories in others ---- */

/* Returns true if the session is one of engine v3. */
static bool kiro_is_directory(struct slice id)
{
    return slice_starts(id, directory);
}

static bool is_file(struct slice id)
{
    return kiro_format.is_id(id) && !kiro_is_directory(id);
}

static bool name_id(const char *name, struct slice *id)
{
    *id = slice_of(name);
    return kiro_is_directory(*id) && kiro_format.is_id(*id);
}

/* The folders are named after a hash of the directory. */
static bool is_workspace(const struct jsonl_store *s, const struct scope *scope, const char *folder)
{
    (void)s, (void)scope;
    return strcmp(folder, flat) != 0;
}

const struct session_dirs kiro_dirs = { .log = "/messages.jsonl",
                                        .name_id = name_id,
                                        .in_scope = is_workspace };

static const char *flat_folder(const struct store *st, struct arena *a)
{
    return arena_format(a, "%s/%s", ((const struct jsonl_store *)st)->folder, flat);
}

struct walk {
    session_ref_fn *fn;
    void *arg;
    bool more;
};

static bool visit(const struct session_ref *ref, void *arg)
{
    struct walk *w = arg;

    w->more = w->fn(ref, w->arg);
    return w->more;
}

static enum err_code kiro_enumerate(const struct store *st, const struct scope *scope,
                                    session_ref_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .fn = fn, .arg = arg, .more = true };
    struct arena a = { 0 };
    const char *folder = flat_folder(st, &a);
    enum err_code rc = folder ? jsonl_each_log(st, folder, is_file, visit, &w, e) : err_nomem(e);

    if (!rc && w.more)
        rc = session_dirs_enumerate(st, scope, fn, arg, e);
    arena_fini(&a);
    return rc;
}

static enum err_code kiro_find(const struct store *st, const struct scope *scope, struct slice id,
                               struct arena *a, struct session_ref *ref, struct err *e)
{
    if (!is_file(id))
        return session_dirs_find(st, scope, id, a, ref, e);
    return jsonl_ref_at(st,
                        arena_format(a, "%s/%.*s" JSONL_SUFFIX, flat_folder(st, a), SLICE_ARG(id)),
                        id, a, ref, e);
}

static enum err_code kiro_at_path(const struct store *st, struct slice path, struct arena *a,
                                  struct session_ref *ref, struct err *e)
{
    const char *folder = flat_folder(st, a);
    size_t n = folder ? strlen(folder) : 0;
    struct slice id;

    if (!folder)
        return err_nomem(e);
    if (path.n > n && memcmp(path.p, folder, n) == 0 && path.p[n] == '/' &&
        jsonl_id_of_name(path.p + n + 1, is_file, &id))
        return jsonl_ref_at(st, path.p, id, a, ref, e);
    return session_dirs_at_path(st, path, a, ref, e);
}

enum err_code kiro_read_document(const struct session_ref *ref, struct buf *out)
{
    struct arena a = { 0 };
    struct slice dir = session_dirs_of(ref);
    struct file f;
    const char *path =
        kiro_is_directory(ref->id)
            ? arena_format(&a, "%.*s/session.json", SLICE_ARG(dir))
            : arena_format(&a, "%.*s.json", (int)(ref->path.n - sizeof JSONL_SUFFIX + 1),
                           ref->path.p);
    enum err_code rc = path ? file_open(AT_FDCWD, path, 0, &f, NULL) : ERR_NOMEM;

    if (!rc) {
        rc = file_read_part(&f, 0, ABOUT_MOST, out, NULL);
        file_close(&f);
    }
    arena_fini(&a);
    out->n = rc ? 0 : out->n;
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

/* The documents beside the log of engine v2, or the directory of a session of engine v3. */
static enum err_code kiro_deleted_parts(const struct store *st, const struct session_ref *ref,
                                        bool all, struct arena *a, const char ***part, size_t *n,
                                        struct err *e)
{
    static const char *const suffix[] = { JSONL_SUFFIX, ".json", ".history" };
    int name = (int)(ref->path.n - sizeof JSONL_SUFFIX + 1);

    if (kiro_is_directory(ref->id))
        return session_dirs_parts(st, ref, all, a, part, n, e);
    *part = NULL;
    *n = 0;
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        const char *path = arena_format(a, "%.*s%s", name, ref->path.p, suffix[i]);

        if (!path || !arena_add_text(a, part, n, path))
            return err_nomem(e);
    }
    return ERR_OK;
}

static const char *kiro_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME: return "Kiro keeps its titles beside state that only it writes";
    case CAN_TAG: return "Kiro sessions have no tags";
    case CAN_ARCHIVE: return "Kiro sessions cannot be archived";
    case CAN_DELETE: return "delete it in Kiro, which may have it open";
    case CAN_FORK:
    case CAN_NAME_FORK: return "no Kiro command that forks a session is known";
    case CAN_RESUME_AT: return "Kiro continues after the last message";
    case CAN_REWIND: return "Kiro is not known to keep copies of files";
    case CAN_TOMBSTONE: return "a Kiro log is the only copy of its messages";
    case CAN_REAPPEND: return "Kiro keeps its metadata beside the logs";
    case CAN_RETRIEVE: return "Kiro's logs are already where it looks for them";
    case CAN_HAVE_AGENTS: return "Kiro's sub-agents are separate sessions: --all-kinds lists them";
    case CAN_HAVE_BRANCHES: return "Kiro logs have no branches";
    case CAN_SET: return "Kiro sessions have no settings that other programs may write";
    default: return NULL;
    }
}

const struct store_ops kiro_ops = {
    .name = "kiro",
    .label = "Kiro CLI",
    .folders = "sessions",
    .resume_command = "kiro-cli chat --resume-id {id}",
    .change_command = { [STORE_COMMAND_DELETE] = "kiro-cli chat --delete-session {id}" },
    .deleted_parts = kiro_deleted_parts,
    .open = kiro_open,
    .close = session_dirs_close,
    .enumerate = kiro_enumerate,
    .describe = jsonl_describe,
    .find = kiro_find,
    .at_path = kiro_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = kiro_blocks,
    .messages = block_messages,
    .agent_variable = jsonl_agent_variable,
    .edits = tool_edits_logged,
    .unsupported = kiro_cannot,
};
