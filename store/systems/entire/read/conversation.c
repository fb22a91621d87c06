#include "store/systems/entire/read/conversation.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/catalog.h"

enum { LIVE_MAX = 1 << 30, TASK_MAX = 1 << 20, LOOK_BYTES = 1 << 16, LOOK_ROWS = 40 };

/* "" counts as Claude Code. */
static bool is_claude_agent(struct slice agent)
{
    return agent.n == 0 || slice_eq(agent, SLICE("Claude Code")) ||
           slice_eq(agent, SLICE("claude-code"));
}

bool entire_conversation_may_be_claude(struct slice agent)
{
    return is_claude_agent(agent) || slice_eq(agent, SLICE("Agent"));
}

/* ---- the transcript on this machine ---- */

/* Returns true if the path is absolute and contains no ".." and no control characters. */
static bool is_plain_path(struct slice path)
{
    if (path.n == 0 || path.p[0] != '/' || path.n >= 4096)
        return false;
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] < 0x20)
            return false;
    return !slice_has(path, "/../") && !slice_has(path, "/./") &&
           !(path.n >= 3 && memcmp(path.p + path.n - 3, "/..", 3) == 0);
}

const char *entire_conversation_claude_path(const char *projects, const char *dir, struct slice id,
                                            struct arena *a)
{
    struct slice folder = config_dir_project_name(slice_of(dir), a);

    return folder.p ? arena_format(a, "%s/%s/%.*s.jsonl", projects, folder.p, SLICE_ARG(id)) : NULL;
}

bool entire_conversation_is_claude_path(struct slice path, const char *projects, struct slice id)
{
    static const char suffix[] = ".jsonl";
    size_t n = strlen(projects), k = sizeof suffix - 1;
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

    return is_plain_path(path) && slash && path.n > n && memcmp(path.p, projects, n) == 0 &&
           path.p[n] == '/' && slash > path.p + n &&
           (size_t)(path.p + path.n - slash - 1) == id.n + k &&
           memcmp(slash + 1, id.p, id.n) == 0 && memcmp(slash + 1 + id.n, suffix, k) == 0;
}

struct slice entire_conversation_agent(const struct catalog_session *s)
{
    if (s->state && s->state->agent.n)
        return s->state->agent;
    for (size_t i = s->n; i-- > 0;)
        if (s->point[i].agent.n)
            return s->point[i].agent;
    return SLICE("");
}

/* By the rules of Claude Code, for the work tree on this machine. */
bool entire_conversation_write_path(const struct entire *x, const struct catalog_session *s,
                                    struct arena *a, const char **path)
{
    const char *dir =
        s->state && s->state->worktree_path.n ? s->state->worktree_path.p : x->worktree;
    const char *projects = NULL;
    char *config = NULL;

    if (!dir || !is_claude_agent(entire_conversation_agent(s)) ||
        config_dir_default(x->base.env, &config, NULL))
        return false;
    projects = arena_format(a, "%s/projects", config);
    free(config);
    if (!projects)
        return false;
    struct slice id = entire_agent_id(s->id);

    if (s->state && entire_conversation_is_claude_path(s->state->transcript_path, projects, id))
        *path = s->state->transcript_path.p;
    else
        *path = entire_conversation_claude_path(projects, dir, id, a);
    return *path != NULL;
}

bool entire_conversation_live_path(const struct entire *x, const struct catalog_session *s,
                                   struct arena *a, const char **path)
{
    if (s->state && is_plain_path(s->state->transcript_path)) {
        *path = s->state->transcript_path.p;
        return true;
    }
    return entire_conversation_write_path(x, s, a, path);
}

/* ---- the agent of the rows ---- */

static bool is_claude_row(struct slice row)
{
    static const char *const keys[] = { "sessionId", "uuid", "type", "message" };
    struct slice value[4];

    json_get_each(row, keys, 4, value);
    return json_type(value[2]) == JSON_STRING && json_type(value[0]) == JSON_STRING &&
           (value[1].n || json_type(value[3]) == JSON_OBJECT || !value[3].n);
}

static bool looks_like_claude(struct slice text)
{
    struct slice line;
    bool torn;

    for (int i = 0; i < LOOK_ROWS && slice_line(&text, &line, &torn); i++)
        if (is_claude_row(line))
            return true;
    return false;
}

/* ---- opening ---- */

static enum err_code make_memory_file(struct entire_conversation *t, struct err *e)
{
    enum err_code rc = fs_memory_file_open(&t->file, buf_slice(&t->bytes), e);

    if (!rc)
        snprintf(t->path, sizeof t->path, "%s", t->file.path);
    return rc;
}

static enum err_code open_live(const char *path, struct entire_conversation *t, struct err *e)
{
    struct buf head = { 0 };
    struct file f;
    size_t got = 0;
    enum err_code rc = file_open(AT_FDCWD, path, 0, &f, e);

    if (rc)
        return rc;
    rc = buf_reserve(&head, LOOK_BYTES);
    if (!rc)
        rc = file_read(&f, 0, head.p, LOOK_BYTES, &got, e);
    file_close(&f);
    if (!rc) {
        t->from = CONVERSATION_LIVE;
        t->claude = looks_like_claude((struct slice){ head.p, got });
        snprintf(t->path, sizeof t->path, "%s", path);
    }
    buf_fini(&head);
    return rc;
}

static enum err_code read_shadow(git_repository *repo, const struct point *p, struct buf *out,
                                 struct err *e)
{
    git_tree *tree = NULL;
    char path[600];
    int answer = git_tree_lookup(&tree, repo, &p->tree);

    if (answer)
        return repo_error(e, answer, p->id.p, "read a checkpoint");
    snprintf(path, sizeof path, "%s/full.jsonl", p->metadata.p);
    enum err_code rc = p->metadata.n ? repo_blob_at(repo, tree, path, LIVE_MAX, out, e)
                                     : err_set(e, ERR_NOT_FOUND, p->id.p,
                                               "read a checkpoint: it names no session");

    git_tree_free(tree);
    return rc;
}

enum err_code entire_conversation_open_at(git_repository *repo, const struct point *p,
                                          struct entire_conversation *out, struct err *e)
{
    struct entire_conversation t = { .from = CONVERSATION_CHECKPOINT, .file.fd = -1 };
    enum transcript_hash verdict = HASH_NONE;
    enum err_code rc = p->source == POINT_SHADOW
                           ? read_shadow(repo, p, &t.bytes, e)
                           : committed_transcript(repo, p, &t.bytes, &verdict, e);

    if (!rc) {
        t.claude = looks_like_claude(buf_slice(&t.bytes));
        t.hash_differs = verdict == HASH_OTHER;
        snprintf(t.checkpoint, sizeof t.checkpoint, "%s", p->id.p);
        if (t.claude)
            rc = make_memory_file(&t, e);
    }
    if (rc)
        entire_conversation_close(&t);
    else
        *out = t;
    return rc;
}

/* Opens a single transcript: a blob of the repository at `git` (40 hex digits). */
static enum err_code entire_conversation_open_blob(const char *git, struct slice hex,
                                                   struct entire_conversation *out, struct err *e)
{
    struct entire_conversation t = { .from = CONVERSATION_CHECKPOINT, .file.fd = -1 };
    git_repository *repo = NULL;
    git_oid id;
    enum err_code rc = repo_open(git, &repo, e);

    if (!rc && git_oid_fromstrn(&id, hex.p, hex.n))
        rc = err_set(e, ERR_NOT_FOUND, git, "read a transcript: not the id of a blob");
    if (!rc)
        rc = repo_blob(repo, &id, LIVE_MAX, &t.bytes, e);
    repo_close(repo);
    t.claude = !rc && looks_like_claude(buf_slice(&t.bytes));
    if (t.claude)
        rc = make_memory_file(&t, e);
    if (rc)
        entire_conversation_close(&t);
    else
        *out = t;
    return rc;
}

static enum err_code entire_conversation_open_file(const char *path,
                                                   struct entire_conversation *out, struct err *e)
{
    struct entire_conversation t = { .file.fd = -1 };
    enum err_code rc = open_live(path, &t, e);

    if (!rc)
        *out = t;
    return rc;
}

/* Opens the transcript of the newest point that has one. */
static enum err_code open_newest(const struct entire *x, const struct catalog_session *s,
                                 struct entire_conversation *out, struct err *e)
{
    git_repository *repo;
    enum err_code rc = repo_open(x->git, &repo, e);

    if (rc)
        return rc;
    rc = ERR_NOT_FOUND;
    for (size_t i = s->n; i-- > 0 && rc == ERR_NOT_FOUND;)
        rc = entire_conversation_open_at(repo, &s->point[i], out, e);
    repo_close(repo);
    return rc;
}

enum err_code entire_conversation_open_agent(const struct session_ref *ref,
                                             struct entire_conversation *out, struct err *e)
{
    size_t n = strlen(ENTIRE_AGENT_FOLDER);
    struct slice hex = { ref->folder.p + n, ref->folder.n - n };

    return hex.n ? entire_conversation_open_blob(entire_of(ref->store)->git, hex, out, e)
                 : entire_conversation_open_file(ref->path.p, out, e);
}

enum err_code entire_conversation_open(const struct store *st, const struct session_ref *ref,
                                       struct entire_conversation *out, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    struct entire_conversation t = { .file.fd = -1 };
    struct catalog *c;
    struct arena a = { 0 };
    const char *path;

    if (slice_starts(ref->folder, ENTIRE_AGENT_FOLDER))
        return entire_conversation_open_agent(ref, out, e);
    enum err_code rc = entire_session(st, ref->id, &c, &s, e);

    if (rc)
        return rc;
    if (entire_conversation_live_path(x, s, &a, &path) && open_live(path, &t, NULL) == ERR_OK)
        *out = t;
    else
        rc = open_newest(x, s, out, e);
    if (rc == ERR_NOT_FOUND)
        err_set(e, rc, ref->id.p, "read the conversation: no transcript of it is left");
    arena_fini(&a);
    catalog_close(x->cache, c);
    return rc;
}

enum err_code entire_conversation_open_source(const struct view *v, const struct session_ref *ref,
                                              struct slice *at, struct arena *a,
                                              struct entire_conversation *out, struct err *e)
{
    const struct point *p;
    struct slice end;

    if (!at->n || view_point(v, *at, &p, NULL))
        return entire_conversation_open(ref->store, ref, out, e);
    enum err_code rc = entire_conversation_open_at(v->repo, p, out, e);

    if (!rc)
        *at = entire_conversation_task_end(v->repo, p, a, &end) ? end : SLICE("");
    return rc;
}

enum err_code entire_conversation_error(const struct entire_conversation *t,
                                        const struct session_ref *ref, enum err_code rc,
                                        struct err *e)
{
    if (rc && e && t->from == CONVERSATION_CHECKPOINT && strcmp(e->path, t->path) == 0)
        snprintf(e->path, sizeof e->path, "%.*s", SLICE_ARG(ref->path));
    return rc;
}

void entire_conversation_close(struct entire_conversation *t)
{
    fs_memory_file_close(&t->file);
    buf_fini(&t->bytes);
}

enum err_code entire_conversation_bytes(struct entire_conversation *t, struct err *e)
{
    if (t->from == CONVERSATION_CHECKPOINT || t->bytes.p)
        return ERR_OK;
    return file_read_all(AT_FDCWD, t->path, 0, LIVE_MAX, &t->bytes, e);
}

struct session_ref entire_conversation_claude_ref(const struct entire_conversation *t,
                                                  const struct session_ref *ref)
{
    struct session_ref lent = *ref;

    lent.id = entire_agent_id(ref->id);
    lent.path = slice_of(t->path);
    return lent;
}

/* The document is in the session's folder, or in a committed checkpoint of an auto-commit in the checkpoint's
 * folder. */
static bool read_task(git_repository *repo, const struct point *p, struct buf *json)
{
    git_tree *tree = NULL;
    char path[600];
    const char *slash = memrchr(p->metadata.p, '/', p->metadata.n);
    int folder = p->source == POINT_SHADOW ? (int)p->metadata.n
                 : slash                   ? (int)(slash - p->metadata.p)
                                           : 0;
    enum err_code rc = ERR_NOT_FOUND;

    if (p->task.n == 0 || git_tree_lookup(&tree, repo, &p->tree))
        return false;
    if (p->source != POINT_SHADOW) {
        snprintf(path, sizeof path, "tasks/%s/checkpoint.json", p->task.p);
        rc = repo_blob_at(repo, tree, path, TASK_MAX, json, NULL);
    }
    snprintf(path, sizeof path, "%.*s/tasks/%s/checkpoint.json", folder, p->metadata.p, p->task.p);
    if (rc && folder)
        rc = repo_blob_at(repo, tree, path, TASK_MAX, json, NULL);
    git_tree_free(tree);
    return rc == ERR_OK;
}

bool entire_conversation_task_end(git_repository *repo, const struct point *p, struct arena *a,
                                  struct slice *uuid)
{
    struct buf json = { 0 };
    bool found = read_task(repo, p, &json) &&
                 json_get_text(buf_slice(&json), "checkpoint_uuid", a, uuid) && uuid->n;

    if (found) { /* it may point into the document, which is freed */
        *uuid = arena_copy(a, *uuid);
        found = uuid->p != NULL;
    }
    buf_fini(&json);
    return found;
}
