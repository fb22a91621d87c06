#include "store/systems/entire/read/conversation.h"

#include <assert.h>
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
static bool entire_is_plain_path(struct slice path)
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

    return entire_is_plain_path(path) && slash && path.n > n && memcmp(path.p, projects, n) == 0 &&
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

bool entire_conversation_write_path(const struct entire *x, const struct catalog_session *s,
                                    struct arena *a, const char **path)
{
    const char *dir =
        s->state && s->state->worktree_path.n ? s->state->worktree_path.p : x->worktree;
    struct slice id = entire_agent_id(s->id);
    AUTO_FREE char *config = NULL;

    if (!dir || !is_claude_agent(entire_conversation_agent(s)) ||
        config_dir_default(x->base.env, &config, NULL))
        return false;
    const char *projects = arena_format(a, "%s/projects", config);

    if (!projects)
        return false;
    *path = s->state && entire_conversation_is_claude_path(s->state->transcript_path, projects, id)
                ? s->state->transcript_path.p
                : entire_conversation_claude_path(projects, dir, id, a);
    return *path != NULL;
}

bool entire_conversation_live_path(const struct entire *x, const struct catalog_session *s,
                                   struct arena *a, const char **path)
{
    if (s->state && entire_is_plain_path(s->state->transcript_path)) {
        *path = s->state->transcript_path.p;
        return true;
    }
    return entire_conversation_write_path(x, s, a, path);
}

/* ---- the agent of the rows ---- */

static bool looks_like_claude(struct slice text)
{
    static const char *const keys[] = { "sessionId", "uuid", "type", "message" };
    enum { SESSION, UUID, TYPE, MESSAGE, KEYS };
    struct slice line, value[KEYS];
    bool torn;

    for (int i = 0; i < LOOK_ROWS && slice_line(&text, &line, &torn); i++) {
        json_get_each(line, keys, KEYS, value);
        if (json_type(value[TYPE]) == JSON_STRING && json_type(value[SESSION]) == JSON_STRING &&
            (value[UUID].n || !value[MESSAGE].n || json_type(value[MESSAGE]) == JSON_OBJECT))
            return true;
    }
    return false;
}

/* ---- opening ---- */

/* Looks at the rows of a copy, and gives those of Claude Code a file, which its system needs. */
static enum err_code recognise_copy(struct entire_conversation *t, struct err *e)
{
    t->claude = looks_like_claude(buf_slice(&t->bytes));
    if (!t->claude)
        return ERR_OK;
    TRY(fs_memory_file_open(&t->file, buf_slice(&t->bytes), e));
    snprintf(t->path, sizeof t->path, "%s", t->file.path);
    return ERR_OK;
}

static enum err_code open_live(const char *path, struct entire_conversation *out, struct err *e)
{
    AUTO_BUF head = { 0 };
    CLEANUP(file_close) struct file f = { .fd = -1 };

    TRY(file_open(AT_FDCWD, path, 0, &f, e));
    TRY(file_read_part(&f, 0, LOOK_BYTES, &head, e));
    *out = ENTIRE_CONVERSATION_NONE;
    out->from = CONVERSATION_LIVE;
    out->claude = looks_like_claude(buf_slice(&head));
    snprintf(out->path, sizeof out->path, "%s", path);
    return ERR_OK;
}

enum err_code entire_conversation_open_at(git_repository *repo, const struct point *p,
                                          struct entire_conversation *out, struct err *e)
{
    AUTO_CONVERSATION t = ENTIRE_CONVERSATION_NONE;
    AUTO_TREE *tree = NULL;
    enum transcript_hash verdict = HASH_NONE;
    char path[600];

    t.from = CONVERSATION_CHECKPOINT;
    if (p->source != POINT_SHADOW) {
        TRY(committed_transcript(repo, p, &t.bytes, &verdict, e));
    } else {
        int answer = git_tree_lookup(&tree, repo, &p->tree);

        if (answer)
            return repo_error(e, answer, p->id.p, "read a checkpoint");
        if (!p->metadata.n)
            return err_set(e, ERR_NOT_FOUND, p->id.p, "read a checkpoint: it names no session");
        snprintf(path, sizeof path, "%s/full.jsonl", p->metadata.p);
        TRY(repo_blob_at(repo, tree, path, LIVE_MAX, &t.bytes, e));
    }
    t.hash_differs = verdict == HASH_OTHER;
    snprintf(t.checkpoint, sizeof t.checkpoint, "%s", p->id.p);
    TRY(recognise_copy(&t, e));

    /* The caller owns the conversation now, so the cleanup must not find it. */
    *out = t;
    t = ENTIRE_CONVERSATION_NONE;
    return ERR_OK;
}

enum err_code entire_conversation_open_agent(const struct session_ref *ref,
                                             struct entire_conversation *out, struct err *e)
{
    const char *git = entire_of(ref->store)->git;
    size_t n = strlen(ENTIRE_AGENT_FOLDER);
    AUTO_CONVERSATION t = ENTIRE_CONVERSATION_NONE;
    AUTO_REPO *repo = NULL;
    git_oid id;

    assert(slice_starts(ref->folder, ENTIRE_AGENT_FOLDER));
    if (ref->folder.n == n)
        return open_live(ref->path.p, out, e);
    t.from = CONVERSATION_CHECKPOINT;
    TRY(repo_open(git, &repo, e));
    if (git_oid_fromstrn(&id, ref->folder.p + n, ref->folder.n - n))
        return err_set(e, ERR_NOT_FOUND, git, "read a transcript: not the id of a blob");
    TRY(repo_blob(repo, &id, LIVE_MAX, &t.bytes, e));
    TRY(recognise_copy(&t, e));
    *out = t;
    t = ENTIRE_CONVERSATION_NONE;
    return ERR_OK;
}

enum err_code entire_conversation_open(const struct store *st, const struct session_ref *ref,
                                       struct entire_conversation *out, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;
    AUTO_REPO *repo = NULL;
    AUTO_ARENA a = { 0 };
    const char *path;

    if (slice_starts(ref->folder, ENTIRE_AGENT_FOLDER))
        return entire_conversation_open_agent(ref, out, e);
    TRY(entire_session(st, ref->id, &c, &s, e));
    if (entire_conversation_live_path(x, s, &a, &path) && open_live(path, out, NULL) == ERR_OK)
        return ERR_OK;

    /* Otherwise the newest point that has a transcript. */
    enum err_code rc = repo_open(x->git, &repo, e);

    if (!rc) {
        rc = ERR_NOT_FOUND;
        for (size_t i = s->n; i-- > 0 && rc == ERR_NOT_FOUND;)
            rc = entire_conversation_open_at(repo, &s->point[i], out, e);
    }
    return rc == ERR_NOT_FOUND
               ? err_set(e, rc, ref->id.p, "read the conversation: no transcript of it is left")
               : rc;
}

enum err_code entire_conversation_open_source(const struct view *v, const struct session_ref *ref,
                                              struct slice *at, struct arena *a,
                                              struct entire_conversation *out, struct err *e)
{
    const struct point *p;
    struct slice end;

    if (!at->n || view_point(v, *at, &p, NULL))
        return entire_conversation_open(ref->store, ref, out, e);
    TRY(entire_conversation_open_at(v->repo, p, out, e));
    *at = entire_conversation_task_end(v->repo, p, a, &end) ? end : SLICE("");
    return ERR_OK;
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

bool entire_conversation_task_end(git_repository *repo, const struct point *p, struct arena *a,
                                  struct slice *uuid)
{
    AUTO_TREE *tree = NULL;
    AUTO_BUF json = { 0 };
    char path[600];
    const char *slash = memrchr(p->metadata.p, '/', p->metadata.n);
    int folder = p->source == POINT_SHADOW ? (int)p->metadata.n
                 : slash                   ? (int)(slash - p->metadata.p)
                                           : 0;
    enum err_code rc = ERR_NOT_FOUND;
    struct slice text;

    if (p->task.n == 0 || git_tree_lookup(&tree, repo, &p->tree))
        return false;
    /* The document is in the session's folder or, in a committed checkpoint of an auto-commit, in that of the
     * checkpoint. */
    if (p->source != POINT_SHADOW) {
        snprintf(path, sizeof path, "tasks/%s/checkpoint.json", p->task.p);
        rc = repo_blob_at(repo, tree, path, TASK_MAX, &json, NULL);
    }
    if (rc && folder) {
        snprintf(path, sizeof path, "%.*s/tasks/%s/checkpoint.json", folder, p->metadata.p,
                 p->task.p);
        rc = repo_blob_at(repo, tree, path, TASK_MAX, &json, NULL);
    }
    if (rc || !json_get_text(buf_slice(&json), "checkpoint_uuid", a, &text) || !text.n)
        return false;
    *uuid = arena_copy(a, text); /* the text may point into the document */
    return uuid->p != NULL;
}
