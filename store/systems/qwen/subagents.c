#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/qwen/qwen.h"

/* Sub-agents: <project>/subagents/<session>/agent-<id>.jsonl, with agent-<id>.meta.json beside it. */

enum { META_MOST = 64 << 10 };
static const char chats[] = "/chats/", prefix[] = "agent-";

/* 1 to 128 letters, digits, _ . and -: the id becomes part of a file's name. */
static bool qwen_is_agent_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS ".") && id.n > 0 && id.n <= 128;
}

/* <project>/subagents/<session>; NULL if the log is elsewhere, or out of memory (the arena has failed). */
static const char *qwen_folder_of(const struct session_ref *ref, struct arena *a)
{
    const char *at = strstr(ref->path.p, chats);

    for (const char *next = at; next; next = strstr(next + 1, chats))
        at = next;
    return at ? arena_format(a, "%.*s/subagents/%.*s", (int)(at - ref->path.p), ref->path.p,
                             SLICE_ARG(ref->id))
              : NULL;
}

enum err_code qwen_each_subagent(const struct session_ref *ref, qwen_subagent_log_fn *fn, void *arg,
                                 struct err *e)
{
    AUTO_ARENA a = { 0 };
    const char *folder = qwen_folder_of(ref, &a);
    AUTO_DIR *dir = folder ? opendir(folder) : NULL;
    const size_t n = sizeof prefix - 1;
    const struct dirent *entry;
    const char *path;
    struct slice id;

    NEED(!a.failed);
    while (dir && (errno = 0, entry = readdir(dir))) {
        AUTO_ARENA own = { 0 };

        if (strncmp(entry->d_name, prefix, n) != 0 ||
            !jsonl_id_of_name(entry->d_name + n, qwen_is_agent_id, &id))
            continue;
        NEED(path = arena_format(&own, "%s/%s", folder, entry->d_name));
        TRY(fn(path, id, arg, e));
    }
    return dir && errno ? err_sys(e, folder, "look for sub-agents") : ERR_OK;
}

/* ---- ids ---- */

struct agents {
    struct arena *arena;
    struct slice *id;
    size_t n;
};

static enum err_code qwen_keep_id(const char *path, struct slice id, void *arg, struct err *e)
{
    struct agents *agents = arg;

    (void)path;
    return arena_add_copy(agents->arena, &agents->id, &agents->n, id) ? ERR_OK : err_nomem(e);
}

enum err_code qwen_subagents(const struct store *st, const struct session_ref *ref, struct arena *a,
                             struct slice **ids, size_t *n, struct err *e)
{
    struct agents agents = { .arena = a };

    (void)st;
    TRY(qwen_each_subagent(ref, qwen_keep_id, &agents, e));
    slice_sort(agents.id, agents.n);
    *ids = agents.id;
    *n = agents.n;
    return ERR_OK;
}

enum err_code qwen_subagent(const struct store *st, const struct session_ref *ref,
                            struct slice agent, struct arena *a, struct session_ref *out,
                            struct err *e)
{
    const char *folder = qwen_folder_of(ref, a);

    if (!folder || !qwen_is_agent_id(agent))
        return a->failed ? err_nomem(e)
                         : err_set(e, ERR_NOT_FOUND, ref->path.p,
                                   "read sub-agent: no such sub-agent; see reprise subagents");
    return jsonl_ref_at(st,
                        arena_format(a, "%s/%s%.*s" JSONL_SUFFIX, folder, prefix, SLICE_ARG(agent)),
                        agent, a, out, e);
}

/* ---- their descriptions ---- */

static void qwen_read_meta(const char *log, struct arena *a, struct subagent *out)
{
    const char *path =
        arena_format(a, "%.*s.meta.json", (int)(strlen(log) - (sizeof JSONL_SUFFIX - 1)), log);
    struct buf text = { 0 };
    struct slice value;

    if (path && !file_read_all(AT_FDCWD, path, 0, META_MOST, &text, NULL) &&
        json_valid(buf_slice(&text))) {
        if (json_get_text(buf_slice(&text), "agentType", a, &value))
            out->type = arena_copy(a, value);
        if (json_get_text(buf_slice(&text), "description", a, &value))
            out->task = arena_copy(a, value);
        if (json_get_text(buf_slice(&text), "status", a, &value))
            out->end = slice_eq(value, SLICE("completed")) ? SUBAGENT_DONE
                       : slice_eq(value, SLICE("failed")) || slice_eq(value, SLICE("cancelled"))
                           ? SUBAGENT_FAILED
                           : SUBAGENT_OPEN;
    }
    buf_fini(&text);
}

static enum err_code qwen_describe(const char *path, struct slice id, void *arg, struct err *e)
{
    struct subagent_list *list = arg;
    struct subagent *more = arena_grow(&list->arena, list->agent, list->n, sizeof *more);
    struct stat sb;

    if (!more || lstat(path, &sb) != 0)
        return more ? ERR_OK : err_nomem(e);
    list->agent = more;
    more[list->n] = (struct subagent){ .id = arena_copy(&list->arena, id),
                                       .bytes = sb.st_size,
                                       .time_ms = (int64_t)sb.st_mtim.tv_sec * 1000 };
    qwen_read_meta(path, &list->arena, &more[list->n++]);
    return list->arena.failed ? err_nomem(e) : ERR_OK;
}

static int compare_agent(const void *a, const void *b)
{
    const struct subagent *x = a, *y = b;

    return strcmp(x->id.p, y->id.p);
}

enum err_code qwen_describe_subagents(const struct store *st, const struct session_ref *ref,
                                      const atomic_bool *cancel, struct subagent_list *out,
                                      struct err *e)
{
    struct subagent_list list = { .n = 0 };
    enum err_code rc = qwen_each_subagent(ref, qwen_describe, &list, e);

    (void)st, (void)cancel;
    if (rc) {
        subagent_list_fini(&list);
        return rc;
    }
    if (list.n)
        qsort(list.agent, list.n, sizeof *list.agent, compare_agent);
    *out = list;
    return ERR_OK;
}

enum err_code qwen_files(const struct store *st, const struct session_ref *ref, bool all,
                         struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char *agents = qwen_folder_of(ref, a);

    (void)all;
    *part = NULL;
    *n = 0;
    NEED(!a->failed && arena_add_text(a, part, n, ref->path.p));
    if (agents)
        NEED(arena_add_text(a, part, n, agents));
    NEED(arena_add_text(a, part, n,
                        arena_format(a, "%s/%.*s", qwen_of(st)->history, SLICE_ARG(ref->id))));
    return ERR_OK;
}
