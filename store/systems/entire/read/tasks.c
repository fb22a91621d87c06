#include "store/systems/entire/read/conversation.h"

#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

enum { DOCUMENT_MAX = 1 << 20, TASKS_MAX = 10000 };

/* A transcript in git. */
struct task_agent {
    struct slice id;
    git_oid blob;
    const struct point *point; /* the checkpoint that has it */
    int64_t bytes;
};

struct looking {
    struct view v;
    struct arena *a;
    struct task_agent *agent; /* newest first */
    size_t n;
};

/* ---- in git ---- */

static bool is_known(const struct looking *l, struct slice id)
{
    for (size_t i = 0; i < l->n; i++)
        if (slice_eq(l->agent[i].id, id))
            return true;
    return false;
}

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

static bool add_agent(struct looking *l, const struct point *p, const git_tree_entry *x)
{
    struct task_agent *more;
    struct slice id;
    git_blob *blob = NULL;

    if (git_tree_entry_type(x) != GIT_OBJECT_BLOB || !agent_of_name(git_tree_entry_name(x), &id) ||
        is_known(l, id) || l->n == TASKS_MAX)
        return true;
    more = arena_grow(l->a, l->agent, l->n, sizeof *more);
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
    return true;
}

/* Tasks of a checkpoint with several sessions may belong to another one. */
static bool is_of_session(const struct looking *l, const git_tree *task)
{
    static const char *const names[] = { "checkpoint.json", "task.json" };
    struct arena a = { 0 };
    struct buf json = { 0 };
    struct slice session;
    bool own = true;

    for (size_t i = 0; i < sizeof names / sizeof *names && own; i++)
        if (repo_blob_at(l->v.repo, task, names[i], DOCUMENT_MAX, &json, NULL) == ERR_OK &&
            json_get_text(buf_slice(&json), "session_id", &a, &session))
            own = slice_eq(session, l->v.session->id);
    buf_fini(&json);
    arena_fini(&a);
    return own;
}

static bool look_into_task(struct looking *l, const struct point *p, const git_oid *id)
{
    git_tree *task = NULL;
    bool ok = true;

    if (repo_tree(l->v.repo, id, &task, NULL))
        return true; /* a damaged tree hides what is in it */
    for (size_t i = 0; ok && is_of_session(l, task) && i < git_tree_entrycount(task); i++)
        ok = add_agent(l, p, git_tree_entry_byindex(task, i));
    git_tree_free(task);
    return ok;
}

/* Looks into every folder of <front>tasks/. */
static bool look_below(struct looking *l, const struct point *p, const git_tree *root,
                       struct slice front)
{
    const char *path = arena_format(l->a, "%.*s%stasks", SLICE_ARG(front), front.n ? "/" : "");
    git_tree_entry *at = NULL;
    git_tree *tasks = NULL;
    bool ok = path != NULL;

    if (ok && git_tree_entry_bypath(&at, root, path) == 0 &&
        git_tree_entry_type(at) == GIT_OBJECT_TREE &&
        repo_tree(l->v.repo, git_tree_entry_id(at), &tasks, NULL) == ERR_OK)
        for (size_t i = 0; ok && i < git_tree_entrycount(tasks); i++) {
            const git_tree_entry *x = git_tree_entry_byindex(tasks, i);

            if (git_tree_entry_type(x) == GIT_OBJECT_TREE)
                ok = look_into_task(l, p, git_tree_entry_id(x));
        }
    git_tree_entry_free(at);
    git_tree_free(tasks);
    return ok;
}

/* A shadow commit has the tasks of all checkpoints before it in the folder of the session; a committed checkpoint has
 * them at its root (auto-commit) or in the folder of the session. */
static bool look_at_point(struct looking *l, const struct point *p)
{
    const char *slash = p->metadata.n ? memrchr(p->metadata.p, '/', p->metadata.n) : NULL;
    struct slice folder = { p->metadata.p, slash ? (size_t)(slash - p->metadata.p) : 0 };
    git_tree *root = NULL;
    bool ok = true;

    if ((p->source == POINT_SHADOW && p->task.n == 0) ||
        repo_tree(l->v.repo, &p->tree, &root, NULL))
        return true;
    if (p->source == POINT_SHADOW)
        ok = look_below(l, p, root, p->metadata);
    else
        ok = (!folder.n || look_below(l, p, root, folder)) && look_below(l, p, root, SLICE(""));
    git_tree_free(root);
    return ok;
}

static enum err_code looking_open(struct looking *l, const struct store *st,
                                  const struct session_ref *ref, struct arena *a, struct err *e)
{
    bool ok = true;

    *l = (struct looking){ .a = a };
    enum err_code rc = view_open(st, ref, &l->v, e);

    if (rc)
        return rc;
    for (size_t i = l->v.session->n; ok && i-- > 0;)
        ok = look_at_point(l, &l->v.session->point[i]);
    if (ok)
        return ERR_OK;
    view_close(&l->v);
    return err_nomem(e);
}

/* ---- on this machine ---- */

bool entire_tasks_live_ref(const struct session_ref *ref, struct arena *a, struct session_ref *live)
{
    const struct catalog_session *s;
    struct catalog *c;
    const char *path;
    struct stat st;

    if (entire_session(ref->store, ref->id, &c, &s, NULL))
        return false;
    bool here = entire_conversation_may_be_claude(entire_conversation_agent(s)) &&
                entire_conversation_live_path(entire_of(ref->store), s, a, &path) &&
                stat(path, &st) == 0 && S_ISREG(st.st_mode);

    if (here) {
        *live = *ref;
        live->id = entire_agent_id(ref->id);
        live->path = arena_copy(a, slice_of(path));
        here = live->path.p != NULL;
    }
    catalog_close(entire_of(ref->store)->cache, c);
    return here;
}

/* ---- the members of entire_ops ---- */

enum err_code entire_subagents(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct session_ref live;
    struct looking l;
    struct slice *list = NULL;
    size_t count = 0;
    enum err_code rc = ERR_OK;

    if (entire_tasks_live_ref(ref, a, &live))
        rc = claude_ops.subagents(st, &live, a, &list, &count, e);
    if (!rc)
        rc = looking_open(&l, st, ref, a, e);
    if (rc)
        return rc;
    struct slice *all = arena_zalloc(a, (count + l.n + 1) * sizeof *all);

    for (size_t i = 0; all && i < count; i++)
        all[i] = list[i];
    *n = count;
    for (size_t i = l.n; all && i-- > 0;) {
        bool twice = false;

        for (size_t k = 0; k < count && !twice; k++)
            twice = slice_eq(all[k], l.agent[i].id);
        if (!twice)
            all[(*n)++] = l.agent[i].id;
    }
    *ids = all;
    view_close(&l.v);
    return all ? ERR_OK : err_nomem(e);
}

/* Its last answer. */
static bool read_outcome(const struct looking *l, const struct task_agent *agent, struct arena *a,
                         struct slice *out)
{
    struct buf bytes = { 0 };
    struct plain_rows rows;
    struct slice row, last = SLICE(""), text;
    bool broken;

    if (repo_blob(l->v.repo, &agent->blob, 64 << 20, &bytes, NULL) == ERR_OK) {
        plain_rows_open(&rows, buf_slice(&bytes));
        while (plain_rows_next(&rows, &row, &broken))
            if (!broken && plain_kind(row) == MESSAGE_ASSISTANT && plain_text(row, a, &text))
                last = text;
    }
    *out = arena_copy(a, last);
    buf_fini(&bytes);
    return out->p != NULL;
}

static enum err_code describe_one(const struct looking *l, const struct task_agent *agent,
                                  struct subagent_list *list, struct err *e)
{
    struct arena *a = &list->arena;
    struct subagent *more = arena_grow(a, list->agent, list->n, sizeof *more), *x;

    if (!more)
        return err_nomem(e);
    list->agent = more;
    x = &more[list->n];
    *x = (struct subagent){ .id = arena_copy(a, agent->id),
                            .type = SLICE(""),
                            .task = arena_copy(a, agent->point->text),
                            .end = SUBAGENT_DONE, /* its checkpoint is made when the task ends */
                            .bytes = agent->bytes,
                            .time_ms = agent->point->time_ms };
    if (!x->id.p || !x->task.p || !read_outcome(l, agent, a, &x->outcome))
        return err_nomem(e);
    list->n++;
    return ERR_OK;
}

static bool is_listed(const struct subagent_list *list, struct slice id)
{
    for (size_t i = 0; i < list->n; i++)
        if (slice_eq(list->agent[i].id, id))
            return true;
    return false;
}

enum err_code entire_describe_subagents(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct subagent_list *out,
                                        struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct arena a = { 0 };
    struct session_ref live;
    struct looking l;
    enum err_code rc = ERR_OK;

    if (entire_tasks_live_ref(ref, &a, &live))
        rc = claude_ops.describe_subagents(st, &live, cancel, &list, e);
    if (!rc)
        rc = looking_open(&l, st, ref, &a, e);
    if (!rc) {
        for (size_t i = l.n; !rc && i-- > 0;)
            if (cancel && atomic_load(cancel))
                rc = err_set(e, ERR_CANCELLED, ref->path.p, "describe sub-agents");
            else if (!is_listed(&list, l.agent[i].id))
                rc = describe_one(&l, &l.agent[i], &list, e);
        view_close(&l.v);
    }
    arena_fini(&a);
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}

enum err_code entire_subagent(const struct store *st, const struct session_ref *ref,
                              struct slice agent, struct arena *a, struct session_ref *out,
                              struct err *e)
{
    char hex[GIT_OID_HEXSZ + 1];
    const struct task_agent *found = NULL;
    struct session_ref live;
    struct looking l;

    if (entire_tasks_live_ref(ref, a, &live) &&
        claude_ops.subagent(st, &live, agent, a, out, NULL) == ERR_OK) {
        out->folder = SLICE(ENTIRE_AGENT_FOLDER);
        return ERR_OK;
    }
    enum err_code rc = looking_open(&l, st, ref, a, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < l.n && !found; i++)
        if (slice_eq(l.agent[i].id, agent))
            found = &l.agent[i];
    view_close(&l.v);
    if (!found)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no sub-agent %.*s",
                       (int)(agent.n > 64 ? 64 : agent.n), agent.p);
    git_oid_tostr(hex, sizeof hex, &found->blob);
    *out = *ref;
    out->store = st;
    out->id = found->id;
    const char *path = arena_format(a, "%s#agent-%.*s", ref->path.p, SLICE_ARG(found->id));
    const char *folder = arena_format(a, ENTIRE_AGENT_FOLDER "%s", hex);

    if (!path || !folder)
        return err_nomem(e);
    out->path = slice_of(path);
    out->folder = slice_of(folder);
    out->file = (struct file_id){ .size = found->bytes };
    return ERR_OK;
}
