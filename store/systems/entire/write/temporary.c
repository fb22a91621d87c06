#include "store/systems/entire/write/temporary.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/rewind/plan/beneath.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/rewind/plan_common.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/treewrite.h"

/* The order matters after a crash. The branch is renamed for a new HEAD before anything is written on it; the commit is
 * made before the state counts it. So a crash leaves at most a checkpoint that the state does not count, which is listed
 * like any other, and the next one is written on top of it. Checkpoints of several sessions are on one branch; each of
 * them contains the whole work tree, and a session's metadata stays in the trees of the commits after it. */

/* ---- the shadow branch follows HEAD ---- */

static void name_ref(struct slice base, struct slice worktree, char ref[ENTIRE_SHADOW_NAME + 16])
{
    char name[ENTIRE_SHADOW_NAME];

    entire_shadow_name(base, worktree, name);
    snprintf(ref, ENTIRE_SHADOW_NAME + 16, ENTIRE_HEADS "%s", name);
}

/* If HEAD is no longer the base of the session, its shadow branch is renamed for the new commit and
 * continues; no commit is written again. Other sessions follow when they next write, as in Entire.
 * *base (in the view's arena) is the session's base afterwards. */
static enum err_code follow_head(struct view *v, struct slice *base, struct err *e)
{
    const struct entire_state *s = v->session->state;
    char hex[GIT_OID_HEXSZ + 1], from[ENTIRE_SHADOW_NAME + 16], to[ENTIRE_SHADOW_NAME + 16];
    git_oid head, tip, other;
    bool there, old = false, new = false;

    TRY(repo_ref(v->repo, "HEAD", &there, &head, e));
    if (!there)
        return err_set(e, ERR_FORMAT, v->store->base.path,
                       "write a checkpoint: there is no commit yet");
    git_oid_tostr(hex, sizeof hex, &head);
    *base = arena_copy(&v->arena, (struct slice){ hex, GIT_OID_HEXSZ });
    NEED(base->p);
    if (slice_eq(s->base, *base))
        return ERR_OK;

    /* The new name is created before the old one is deleted, so a crash may leave both names but always leaves one. If
     * another session uses the new name already, both stay. A session that began before the first commit has no
     * branch. */
    name_ref(s->base, s->worktree_id, from);
    name_ref(*base, s->worktree_id, to);
    if (s->base.n && strcmp(from, to) != 0) {
        TRY(repo_ref(v->repo, from, &old, &tip, e));
        TRY(repo_ref(v->repo, to, &new, &other, e));
    }
    if (old && !new) {
        TRY(repo_ref_move(v->repo, to, NULL, &tip, "entire: HEAD moved", e));
        TRY(repo_ref_move(v->repo, from, &tip, NULL, "entire: HEAD moved", e));
    }

    /* Lines of people and agents are still counted from the old base, even if the file did not contain it. */
    const struct go_json_member set[] = {
        { "base_commit", state_text(&v->arena, *base) },
        { "attribution_base_commit",
          state_text(&v->arena, s->attribution_base.n ? s->attribution_base : *base) },
    };

    return state_change(v->store->states, s, set, COUNT_OF(set), e);
}

enum { SUBJECT_RUNES = 72, TRIES = 5 };

/* ---- the subject ---- */

struct slice temporary_subject(struct slice prompt, struct arena *a)
{
    static const char *const fronts[] = { "Can you ",      "can you ",       "Please ",
                                          "please ",       "Let's ",         "let's ",
                                          "Could you ",    "could you ",     "Would you ",
                                          "would you ",    "I want you to ", "I'd like you to ",
                                          "I need you to " };
    struct slice rest;
    char *p;

    for (size_t i = 0; i < COUNT_OF(fronts);)
        if (slice_starts(prompt, fronts[i])) {
            prompt.p += strlen(fronts[i]);
            prompt.n -= strlen(fronts[i]);
            i = 0; /* another one may follow */
        } else
            i++;
    if (prompt.n && prompt.p[prompt.n - 1] == '?')
        prompt.n--;
    rest = prompt = utf8_js_trim(prompt);
    for (int runes = 0; rest.n && runes < SUBJECT_RUNES; runes++)
        utf8_next(&rest, false);
    prompt.n -= rest.n;
    prompt = utf8_js_trim(prompt);
    if (prompt.n == 0)
        return SLICE("Claude Code session updates");

    p = arena_alloc(a, prompt.n + 1);
    if (!p)
        return (struct slice){ NULL, 0 };
    memcpy(p, prompt.p, prompt.n);
    for (size_t i = 0; i < prompt.n; i++)
        if (p[i] == '\n' || p[i] == '\r')
            p[i] = ' '; /* a subject is one line */
    if (p[0] >= 'a' && p[0] <= 'z')
        p[0] = (char)(p[0] - 'a' + 'A');
    return (struct slice){ p, prompt.n };
}

/* "Completed agent: Write the tests (toolu_01Task)"; without a description "Task: toolu_01Task". Entire cuts at bytes;
 * a character is not cut here. */
struct slice temporary_task_subject(const struct temporary_task *task, struct slice prompt,
                                    struct arena *a)
{
    enum { DESCRIPTION = 60, TOOL = 12 };
    struct slice tool = { task->tool_use.p, task->tool_use.n < TOOL ? task->tool_use.n : TOOL },
                 text = entire_subject(utf8_js_trim(prompt));
    bool cut = text.n > DESCRIPTION;
    const char *made;

    for (text.n = cut ? DESCRIPTION - 3 : text.n;
         cut && text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80;)
        text.n--;
    made = text.n ? arena_format(a, "Completed agent: %.*s%s (%.*s)", SLICE_ARG(text),
                                 cut ? "..." : "", SLICE_ARG(tool))
                  : arena_format(a, "Task: %.*s", SLICE_ARG(tool));
    return made ? slice_of(made) : (struct slice){ NULL, 0 };
}

/* ---- which files ---- */

/* Files outside of the root, or in a folder that checkpoints leave out, are refused. */
enum err_code temporary_names(const struct view *v, const struct temporary_request *req,
                              struct names_list *l, struct err *e)
{
    struct slice root = slice_of(v->root);

    for (size_t i = 0; i < req->files; i++) {
        struct slice path = slice_of(req->file[i]);
        const char *why = "";
        enum pathrule rule = pathrule_check(path, false, &why);

        if (rule == PATHRULE_INVALID || rule == PATHRULE_GIT || !path_under(path, root) ||
            path.n == root.n || disktree_apart(path.p + root.n + 1))
            return err_set(e, ERR_UNSAFE, req->file[i],
                           "write a checkpoint: not a file of the work tree");
        NEED(names_add(l, (struct slice){ path.p + root.n + 1, path.n - root.n - 1 }));
    }
    return ERR_OK;
}

/* Links, pipes and nested repositories are left out unless they were requested by name. */
static bool entire_add_delta(const char *root, struct names_list *l, const git_diff_delta *d)
{
    const char *const names[] = { d->old_file.path, d->new_file.path };
    char path[8192];
    struct stat st;

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i] && strncmp(names[i], ".entire/", 8) != 0 &&
            (size_t)snprintf(path, sizeof path, "%s/%s", root, names[i]) < sizeof path &&
            (lstat(path, &st) != 0 || S_ISREG(st.st_mode)) && !names_add(l, slice_of(names[i])))
            return false;
    return true;
}

DEFINE_CLEANUP(git_status_list, git_status_list_free);

/* ---- the tree ---- */

/* Entire writes the two forms in different ways: the first with a format string, the second with its encoder. */
enum err_code temporary_task_document(const struct temporary_task *task, struct slice session,
                                      bool committed, struct buf *out)
{
    struct go_json_document g;

    go_json_document_init(&g, out);
    go_json_document_open(&g, '{');
    go_json_document_member(&g, "session_id", session);
    go_json_document_member(&g, "tool_use_id", task->tool_use);
    go_json_document_key(&g, "checkpoint_uuid");
    go_json_document_text(&g, task->row);
    if (task->agent.n || !committed) {
        go_json_document_key(&g, "agent_id");
        go_json_document_text(&g, task->agent);
    }
    go_json_document_close(&g, '}');
    if (committed)
        go_json_document_end(&g);
    return g.rc;
}

/* Puts the session's metadata into the tree: its transcript, and the prompt of the turn or the documents of the task. */
static enum err_code entire_put_metadata(const struct view *v, const struct temporary_request *req,
                                         struct treewrite *t, struct err *e)
{
    const struct temporary_task *task = req->task;
    struct slice id = v->session->id;
    AUTO_ARENA a = { 0 };
    AUTO_BUF bytes = { 0 };
    AUTO_BUF json = { 0 };
    char folder[1024], path[1400];
    const char *live;

    /* The files of the checkpoint are worth having even if the transcript cannot be read. */
    if (entire_conversation_live_path(v->store, v->session, &a, &live) &&
        file_read_all(AT_FDCWD, live, 0, 1 << 30, &bytes, NULL) == ERR_OK) {
        snprintf(path, sizeof path, ".entire/metadata/%.*s/full.jsonl", SLICE_ARG(id));
        TRY(treewrite_add_bytes(t, path, buf_slice(&bytes), e));
    }
    if (!task) {
        snprintf(path, sizeof path, ".entire/metadata/%.*s/prompt.txt", SLICE_ARG(id));
        return req->prompt.n ? treewrite_add_bytes(t, path, req->prompt, e) : ERR_OK;
    }
    NEED(!temporary_task_document(task, id, false, &json));
    snprintf(folder, sizeof folder, ".entire/metadata/%.*s/tasks/%.*s", SLICE_ARG(id),
             SLICE_ARG(task->tool_use));
    snprintf(path, sizeof path, "%s/checkpoint.json", folder);
    TRY(treewrite_add_bytes(t, path, buf_slice(&json), e));
    if (!task->agent.n || !task->transcript.n)
        return ERR_OK;
    snprintf(path, sizeof path, "%s/agent-%.*s.jsonl", folder, SLICE_ARG(task->agent));
    return treewrite_add_bytes(t, path, task->transcript, e);
}

/* ---- the commit ---- */

static enum err_code write_shadow_commit(const struct view *v, const struct temporary_request *req,
                                         const git_oid *tree, const git_oid *tip, git_oid *out,
                                         struct err *e)
{
    CLEANUP(git_signature_free_at) git_signature *sig = NULL;
    AUTO_ARENA a = { 0 };
    struct commit_text c = { .tree = *tree, .parent = tip, .parents = tip != NULL };
    struct slice subject = req->subject.n ? req->subject
                           : req->task    ? temporary_task_subject(req->task, req->prompt, &a)
                                          : temporary_subject(req->prompt, &a),
                 id = v->session->id, task = req->task ? req->task->tool_use : SLICE("");
    const char *message =
        arena_format(&a,
                     "%.*s\n\n%s: .entire/metadata/%.*s%s%.*s\n" TRAILER_SESSION
                     ": %.*s\n" TRAILER_STRATEGY ": manual-commit\n",
                     SLICE_ARG(subject), task.n ? TRAILER_TASK : TRAILER_METADATA, SLICE_ARG(id),
                     task.n ? "/tasks/" : "", SLICE_ARG(task), SLICE_ARG(id));

    NEED(subject.p && message);
    TRY(treewrite_author(v->repo, &sig, &c.author, e));
    c.committer = c.author;
    c.message = slice_of(message);
    return treewrite_commit(v->repo, &c, out, e);
}

/* Writes the checkpoint on top of the present tip, or of HEAD if there is no branch yet. ERR_STALE: another session was
 * faster. */
static enum err_code checkpoint_at_tip(const struct view *v, const struct temporary_request *req,
                                       const char *ref, struct temporary *out, struct err *e)
{
    CLEANUP(treewrite_close) struct treewrite t = { .index = NULL };
    git_oid tip, base, tree;
    bool has_tip;

    TRY(repo_ref(v->repo, ref, &has_tip, &tip, e));
    if (has_tip ? !view_commit_tree(v, &tip, &base) : !view_head_tree(v, &base))
        return err_set(e, ERR_FORMAT, ref, "write a checkpoint: there is no commit to begin with");
    TRY(treewrite_open(v->repo, &base, &t, e));
    for (size_t i = 0; i < out->touched.n; i++)
        TRY(treewrite_add_file(&t, v->root, out->touched.name[i].p, e));
    TRY(entire_put_metadata(v, req, &t, e));
    TRY(treewrite_finish(&t, &tree, e));

    out->made = !(has_tip && git_oid_equal(&tree, &base));
    if (!out->made) {
        out->commit = tip;
        return ERR_OK;
    }
    TRY(write_shadow_commit(v, req, &tree, has_tip ? &tip : NULL, &out->commit, e));
    return repo_ref_move(v->repo, ref, has_tip ? &tip : NULL, &out->commit, "entire: checkpoint",
                         e);
}

/* ---- the state ---- */

static enum err_code count_step(struct view *v, const struct temporary *t, bool is_task,
                                struct err *e)
{
    struct arena *a = &v->arena;
    struct names_list touched = { .a = a };
    AUTO_BUF json = { 0 };
    struct entire_state again;
    struct slice old;

    TRY(state_read_again(v->store->states, v->session->id, a, &again, &json, e));
    if (json_get(buf_slice(&json), "files_touched", &old))
        NEED(names_add_json(&touched, old));
    for (size_t i = 0; i < t->touched.n; i++)
        NEED(names_add(&touched, t->touched.name[i]));
    const struct go_json_member set[] = {
        { "checkpoint_count", state_number(a, again.checkpoint_count + !is_task) },
        { "files_touched", state_list(a, touched.name, touched.n) },
        { "last_interaction_time", state_time(a, env_now_ms(v->store->base.env)) },
    };

    return state_change(v->store->states, &again, set, COUNT_OF(set), e);
}

enum err_code temporary_write(struct view *v, const struct temporary_request *req,
                              struct temporary *out, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct temporary t = { .touched = { .a = &v->arena } };
    char ref[ENTIRE_SHADOW_NAME + 16];
    enum err_code rc = ERR_STALE;
    struct slice base;

    assert(s && v->root);
    TRY(follow_head(v, &base, e));
    TRY(temporary_names(v, req, &t.touched, e));
    if (s->checkpoint_count == 0 && !req->task) {
        /* Adds everything that git considers changed or new. The index is read, but not
         * refreshed. */
        CLEANUP(git_status_list_free_at) git_status_list *list = NULL;
        git_status_options o;
        git_oid head;

        TRY(gitfiles_check_tree(v->root, e));
        if (view_head_tree(v, &head))
            TRY(repo_tree_fits(v->repo, &head, NULL, e));
        git_status_options_init(&o, GIT_STATUS_OPTIONS_VERSION);
        o.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
                  GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
        int answer = git_status_list_new(&list, v->repo, &o);

        if (answer)
            return repo_error(e, answer, v->root, "list the changed files");
        for (size_t i = 0; i < git_status_list_entrycount(list); i++) {
            const git_status_entry *x = git_status_byindex(list, i);

            NEED(!x->head_to_index || entire_add_delta(v->root, &t.touched, x->head_to_index));
            NEED(!x->index_to_workdir ||
                 entire_add_delta(v->root, &t.touched, x->index_to_workdir));
        }
    }
    name_ref(base, s->worktree_id, ref);
    for (int i = 0; i < TRIES && rc == ERR_STALE; i++)
        rc = checkpoint_at_tip(v, req, ref, &t, e);
    TRY(rc);
    if (t.made)
        TRY(count_step(v, &t, req->task != NULL, e));
    *out = t;
    return ERR_OK;
}

/* ---- the task of a sub-agent ---- */

enum { TRANSCRIPT_MAX = 1 << 30, ID_MAX = 200 };

static bool has_result(struct slice content, struct slice tool, struct arena *a)
{
    struct json_iter it;
    struct slice key, part, id;

    if (json_type(content) != JSON_ARRAY || !json_iter_open(&it, content))
        return false;
    while (json_iter_next(&it, &key, &part))
        if (json_get_is(part, "type", "tool_result") &&
            json_get_text(part, "tool_use_id", a, &id) && slice_eq(id, tool))
            return true;
    return false;
}

/* The first row that has the result of the tool, as Entire looks for it. */
static bool find_row(struct slice transcript, struct slice tool, struct arena *a,
                     struct slice *uuid)
{
    struct slice line, content, found;
    bool torn;

    *uuid = SLICE("");
    while (slice_line(&transcript, &line, &torn))
        if (json_get_is(line, "type", "user") && json_at(line, "message.content", &content) &&
            has_result(content, tool, a) && json_get_text(line, "uuid", a, &found)) {
            *uuid = arena_copy(a, found);
            return uuid->p != NULL;
        }
    return true;
}

/* Reads the sub-agent's transcript; without one, the checkpoint is made without it. Since version 2.1 the client writes
 * it below the session, older versions beside it. */
static enum err_code entire_read_agent(const struct session_ref *live, struct collected_task *out,
                                       struct arena *a, struct err *e)
{
    struct slice agent = out->task.agent;
    const char *slash = strrchr(live->path.p, '/'), *path;
    struct session_ref found;

    if (claude_ops.subagent(live->store, live, agent, a, &found, NULL) == ERR_OK)
        path = found.path.p;
    else
        NEED(path = arena_format(a, "%.*s/agent-%.*s.jsonl", (int)(slash - live->path.p),
                                 live->path.p, SLICE_ARG(agent)));
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, TRANSCRIPT_MAX, &out->transcript, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    out->task.transcript = buf_slice(&out->transcript);
    return ERR_OK;
}

enum err_code task_collect(const struct session_ref *ref, struct slice tool_use, struct slice agent,
                           struct arena *a, struct collected_task *out, struct err *e)
{
    CLEANUP(task_collected_fini)
    struct collected_task t = { .task = { tool_use, agent, .row = SLICE(""),
                                          .transcript = SLICE("") } };
    struct session_ref live;

    if (!entire_tool_id_ok(tool_use) || tool_use.n > ID_MAX ||
        (agent.n && (!entire_tool_id_ok(agent) || agent.n > ID_MAX)))
        return err_set(e, ERR_USAGE, "",
                       "checkpoint: ids of tools and agents have only letters, digits, _ and -");
    if (entire_tasks_live_ref(ref, a, &live)) {
        AUTO_BUF session = { 0 };

        TRY(file_read_all(AT_FDCWD, live.path.p, 0, TRANSCRIPT_MAX, &session, e));
        NEED(find_row(buf_slice(&session), tool_use, a, &t.task.row));
        if (agent.n)
            TRY(entire_read_agent(&live, &t, a, e));
    }
    HAND_OVER(out, t);
    return ERR_OK;
}

void task_collected_fini(struct collected_task *t)
{
    buf_fini(&t->transcript);
}
