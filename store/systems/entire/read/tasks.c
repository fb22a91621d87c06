#include "store/systems/entire/read/conversation.h"

#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

enum { DOCUMENT_MAX = 1 << 20, TASKS_MAX = 10000 };

/* The sub-agents whose transcripts are in git. A shadow commit has the tasks of all checkpoints before it, so the points
 * are walked from the newest one, and a sub-agent that is known already is skipped. Three layouts exist:
 *
 *   shadow commit           <metadata folder of the session>/tasks/<tool use id>/agent-<id>.jsonl
 *   committed, auto-commit  tasks/<tool use id>/agent-<id>.jsonl, at the root of the checkpoint
 *   committed, otherwise    <folder of the session>/tasks/<tool use id>/agent-<id>.jsonl
 *
 * A checkpoint may have the tasks of several sessions; the documents beside a transcript tell whose it is. */
struct task_agent {
    struct slice id;
    git_oid blob;
    const struct point *point; /* the checkpoint that has it */
    int64_t bytes;
};

struct git_agents {
    struct view v;
    struct arena *a;
    struct task_agent *agent; /* newest first */
    size_t n;
};

static void git_agents_close(struct git_agents *l)
{
    view_close(&l->v);
}

/* ---- in git ---- */

/* "agent-<id>.jsonl" */
static bool agent_of_name(const char *name, struct slice *id)
{
    static const char front[] = "agent-", end[] = ".jsonl";
    size_t n = strlen(name), f = sizeof front - 1, k = sizeof end - 1;

    if (n <= f + k || memcmp(name, front, f) != 0 || memcmp(name + n - k, end, k) != 0)
        return false;
    *id = (struct slice){ name + f, n - f - k };
    return entire_tool_id_ok(*id);
}

static const struct task_agent *find_git_agent(const struct git_agents *l, struct slice id)
{
    for (size_t i = 0; i < l->n; i++)
        if (slice_eq(l->agent[i].id, id))
            return &l->agent[i];
    return NULL;
}

/* Adds the transcripts in the folder of one task, unless its documents name another session. */
static bool read_task_folder(struct git_agents *l, const struct point *p, const git_oid *folder)
{
    static const char *const names[] = { "checkpoint.json", "task.json" };
    AUTO_TREE *task = NULL;
    AUTO_ARENA a = { 0 };
    AUTO_BUF json = { 0 };
    struct slice id;

    if (repo_tree(l->v.repo, folder, &task, NULL))
        return true; /* a damaged tree hides what is in it */
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (repo_blob_at(l->v.repo, task, names[i], DOCUMENT_MAX, &json, NULL) == ERR_OK &&
            json_get_text(buf_slice(&json), "session_id", &a, &id) &&
            !slice_eq(id, l->v.session->id))
            return true;

    for (size_t i = 0; i < git_tree_entrycount(task) && l->n < TASKS_MAX; i++) {
        const git_tree_entry *x = git_tree_entry_byindex(task, i);
        git_blob *blob = NULL;

        if (git_tree_entry_type(x) != GIT_OBJECT_BLOB ||
            !agent_of_name(git_tree_entry_name(x), &id) || find_git_agent(l, id))
            continue;
        struct task_agent *more = arena_grow(l->a, l->agent, l->n, sizeof *more);

        if (!more)
            return false;
        l->agent = more;
        more[l->n] = (struct task_agent){ .id = arena_copy(l->a, id),
                                          .blob = *git_tree_entry_id(x),
                                          .point = p };
        if (!more[l->n].id.p)
            return false;
        if (git_blob_lookup(&blob, l->v.repo, &more[l->n].blob) == 0)
            more[l->n].bytes = (int64_t)git_blob_rawsize(blob);
        git_blob_free(blob);
        l->n++;
    }
    return true;
}

/* Reads every folder of <front>/tasks/. */
static bool read_task_folders(struct git_agents *l, const struct point *p, const git_tree *root,
                              struct slice front)
{
    const char *path = arena_format(l->a, "%.*s%stasks", SLICE_ARG(front), front.n ? "/" : "");
    CLEANUP(git_tree_entry_free_at) git_tree_entry *at = NULL;
    AUTO_TREE *tasks = NULL;

    if (!path)
        return false;
    if (git_tree_entry_bypath(&at, root, path) || git_tree_entry_type(at) != GIT_OBJECT_TREE ||
        repo_tree(l->v.repo, git_tree_entry_id(at), &tasks, NULL))
        return true;
    for (size_t i = 0; i < git_tree_entrycount(tasks); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(tasks, i);

        if (git_tree_entry_type(x) == GIT_OBJECT_TREE &&
            !read_task_folder(l, p, git_tree_entry_id(x)))
            return false;
    }
    return true;
}

static enum err_code git_agents_open(struct git_agents *l, const struct store *st,
                                     const struct session_ref *ref, struct arena *a, struct err *e)
{
    l->a = a;
    TRY(view_open(st, ref, &l->v, e));
    for (size_t i = l->v.session->n; i-- > 0;) {
        const struct point *p = &l->v.session->point[i];
        const char *slash = p->metadata.n ? memrchr(p->metadata.p, '/', p->metadata.n) : NULL;
        struct slice folder = { p->metadata.p, slash ? (size_t)(slash - p->metadata.p) : 0 };
        AUTO_TREE *root = NULL;

        if ((p->source == POINT_SHADOW && p->task.n == 0) ||
            repo_tree(l->v.repo, &p->tree, &root, NULL))
            continue;
        if (p->source == POINT_SHADOW)
            folder = p->metadata;
        NEED(!folder.n || read_task_folders(l, p, root, folder));
        NEED(p->source == POINT_SHADOW || read_task_folders(l, p, root, SLICE("")));
    }
    return ERR_OK;
}

/* ---- on this machine ---- */

bool entire_tasks_live_ref(const struct session_ref *ref, struct arena *a, struct session_ref *live)
{
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;
    const char *path;
    struct stat st;

    if (entire_session(ref->store, ref->id, &c, &s, NULL) ||
        !entire_conversation_may_be_claude(entire_conversation_agent(s)) ||
        !entire_conversation_live_path(entire_of(ref->store), s, a, &path) || stat(path, &st) ||
        !S_ISREG(st.st_mode))
        return false;
    *live = *ref;
    live->id = entire_agent_id(ref->id);
    live->path = arena_copy(a, slice_of(path));
    return live->path.p != NULL;
}

/* ---- the members of entire_ops ---- */

enum err_code entire_subagents(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    CLEANUP(git_agents_close) struct git_agents l = { .n = 0 };
    struct session_ref live;
    struct slice *here = NULL, *all;
    size_t count = 0, k;

    if (entire_tasks_live_ref(ref, a, &live))
        TRY(claude_ops.subagents(st, &live, a, &here, &count, e));
    TRY(git_agents_open(&l, st, ref, a, e));
    NEED(all = arena_zalloc(a, (count + l.n + 1) * sizeof *all));
    if (count)
        memcpy(all, here, count * sizeof *all);
    *n = count;
    for (size_t i = l.n; i-- > 0;) {
        for (k = 0; k < count && !slice_eq(all[k], l.agent[i].id);)
            k++;
        if (k == count)
            all[(*n)++] = l.agent[i].id;
    }
    *ids = all;
    return ERR_OK;
}

static enum err_code add_described(const struct git_agents *l, const struct task_agent *agent,
                                   struct subagent_list *list, struct err *e)
{
    struct arena *a = &list->arena;
    struct subagent *more;
    AUTO_BUF bytes = { 0 };
    struct plain_rows rows;
    struct slice row, text, outcome = SLICE("");
    bool broken;

    /* The outcome is the last answer. */
    if (repo_blob(l->v.repo, &agent->blob, 64 << 20, &bytes, NULL) == ERR_OK) {
        plain_rows_open(&rows, buf_slice(&bytes));
        while (plain_rows_next(&rows, &row, &broken))
            if (!broken && plain_kind(row) == MESSAGE_ASSISTANT && plain_text(row, a, &text))
                outcome = text;
    }

    NEED(more = arena_grow(a, list->agent, list->n, sizeof *more));
    list->agent = more;
    more += list->n;
    *more = (struct subagent){ .id = arena_copy(a, agent->id),
                               .type = SLICE(""),
                               .task = arena_copy(a, agent->point->text),
                               .outcome = arena_copy(a, outcome),
                               .end = SUBAGENT_DONE, /* its checkpoint is made when the task ends */
                               .bytes = agent->bytes,
                               .time_ms = agent->point->time_ms };
    NEED(more->id.p && more->task.p && more->outcome.p);
    list->n++;
    return ERR_OK;
}

enum err_code entire_describe_subagents(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct subagent_list *out,
                                        struct err *e)
{
    CLEANUP(subagent_list_fini) struct subagent_list list = { .n = 0 };
    CLEANUP(git_agents_close) struct git_agents l = { .n = 0 };
    AUTO_ARENA a = { 0 };
    struct session_ref live;
    size_t k;

    if (entire_tasks_live_ref(ref, &a, &live))
        TRY(claude_ops.describe_subagents(st, &live, cancel, &list, e));
    TRY(git_agents_open(&l, st, ref, &a, e));
    for (size_t i = l.n; i-- > 0;) {
        if (cancel && atomic_load(cancel))
            return err_set(e, ERR_CANCELLED, ref->path.p, "describe sub-agents");
        for (k = 0; k < list.n && !slice_eq(list.agent[k].id, l.agent[i].id);)
            k++;
        if (k == list.n)
            TRY(add_described(&l, &l.agent[i], &list, e));
    }
    HAND_OVER(out, list);
    return ERR_OK;
}

enum err_code entire_subagent(const struct store *st, const struct session_ref *ref,
                              struct slice agent, struct arena *a, struct session_ref *out,
                              struct err *e)
{
    CLEANUP(git_agents_close) struct git_agents l = { .n = 0 };
    char hex[GIT_OID_HEXSZ + 1];
    const struct task_agent *found;
    const char *path, *folder;
    struct session_ref live;

    /* The agent's own log comes first, because it is newer than any checkpoint. */
    if (entire_tasks_live_ref(ref, a, &live) &&
        claude_ops.subagent(st, &live, agent, a, out, NULL) == ERR_OK) {
        out->folder = SLICE(ENTIRE_AGENT_FOLDER);
        return ERR_OK;
    }
    TRY(git_agents_open(&l, st, ref, a, e));
    found = find_git_agent(&l, agent);
    if (!found)
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read sub-agent %.*s: no such sub-agent; see reprise subagents",
                       (int)(agent.n > 64 ? 64 : agent.n), agent.p);

    /* The folder names the blob, from which the transcript is read later. */
    git_oid_tostr(hex, sizeof hex, &found->blob);
    NEED(path = arena_format(a, "%s#agent-%.*s", ref->path.p, SLICE_ARG(found->id)));
    NEED(folder = arena_format(a, ENTIRE_AGENT_FOLDER "%s", hex));
    *out = *ref;
    out->store = st;
    out->id = found->id;
    out->path = slice_of(path);
    out->folder = slice_of(folder);
    out->file = (struct file_id){ .size = found->bytes };
    return ERR_OK;
}
