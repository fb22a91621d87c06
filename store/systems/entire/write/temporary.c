#include "store/systems/entire/write/temporary.h"

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

static void name_ref(struct slice base, struct slice worktree, char ref[ENTIRE_SHADOW_NAME + 16])
{
    char name[ENTIRE_SHADOW_NAME];

    entire_shadow_name(base, worktree, name);
    snprintf(ref, ENTIRE_SHADOW_NAME + 16, ENTIRE_HEADS "%s", name);
}

/* The new name is created before the old one is deleted, so a crash may leave both names but always
 * leaves one. If another session uses the new name already, both stay. */
static enum err_code rename_branch(const struct view *v, const char *from, const char *to,
                                   struct err *e)
{
    git_oid tip, other;
    bool old, new;

    if (strcmp(from, to) == 0)
        return ERR_OK;
    enum err_code rc = repo_ref(v->repo, from, &old, &tip, e);

    if (!rc)
        rc = repo_ref(v->repo, to, &new, &other, e);
    if (rc || !old || new)
        return rc;
    rc = repo_ref_move(v->repo, to, NULL, &tip, "entire: HEAD moved", e);

    return rc ? rc : repo_ref_move(v->repo, from, &tip, NULL, "entire: HEAD moved", e);
}

/* If HEAD is no longer the base of the session, its shadow branch is renamed for the new commit and
 * continues; no commit is written again. Other sessions follow when they next write, as in Entire.
 * *base (in the view's arena) is the session's base afterwards. */
static enum err_code follow_head(struct view *v, struct slice *base, struct err *e)
{
    const struct entire_state *s = v->session->state;
    char hex[GIT_OID_HEXSZ + 1], from[ENTIRE_SHADOW_NAME + 16], to[ENTIRE_SHADOW_NAME + 16];
    git_oid head;
    bool there;
    enum err_code rc = repo_ref(v->repo, "HEAD", &there, &head, e);

    if (rc)
        return rc;
    if (!there)
        return err_set(e, ERR_FORMAT, v->store->base.path,
                       "write a checkpoint: there is no commit yet");
    git_oid_tostr(hex, sizeof hex, &head);
    *base = arena_copy(&v->arena, (struct slice){ hex, GIT_OID_HEXSZ });
    if (!base->p)
        return err_nomem(e);
    if (slice_eq(s->base, *base))
        return ERR_OK;
    name_ref(s->base, s->worktree_id, from);
    name_ref(*base, s->worktree_id, to);
    /* Lines of people and agents are still counted from the old base, even if the file did not contain it. */
    const struct go_json_member set[] = {
        { "base_commit", state_text(&v->arena, *base) },
        { "attribution_base_commit",
          state_text(&v->arena, s->attribution_base.n ? s->attribution_base : *base) },
    };
    /* A session that began before the first commit has no branch. */
    rc = s->base.n ? rename_branch(v, from, to, e) : ERR_OK;
    return rc ? rc : state_change(v->store->states, s, set, sizeof set / sizeof *set, e);
}

enum { SUBJECT_RUNES = 72, TRIES = 5 };

/* ---- the subject ---- */

static bool drop_front(struct slice *text)
{
    static const char *const fronts[] = { "Can you ",      "can you ",       "Please ",
                                          "please ",       "Let's ",         "let's ",
                                          "Could you ",    "could you ",     "Would you ",
                                          "would you ",    "I want you to ", "I'd like you to ",
                                          "I need you to " };

    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (slice_starts(*text, fronts[i])) {
            text->p += strlen(fronts[i]);
            text->n -= strlen(fronts[i]);
            return true;
        }
    return false;
}

static struct slice first_runes(struct slice text, int runes)
{
    struct slice rest = text;

    while (rest.n && runes-- > 0)
        utf8_next(&rest, false);
    return (struct slice){ text.p, text.n - rest.n };
}

struct slice temporary_subject(struct slice prompt, struct arena *a)
{
    while (drop_front(&prompt))
        ;
    if (prompt.n && prompt.p[prompt.n - 1] == '?')
        prompt.n--;
    prompt = utf8_js_trim(first_runes(utf8_js_trim(prompt), SUBJECT_RUNES));
    if (prompt.n == 0)
        return SLICE("Claude Code session updates");
    char *p = arena_alloc(a, prompt.n + 1);

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
        enum pathrule rule = pathrule_check(path, &why);

        if (rule == PATHRULE_INVALID || rule == PATHRULE_GIT || !path_under(path, root) ||
            path.n == root.n || disktree_apart(path.p + root.n + 1))
            return err_set(e, ERR_UNSAFE, req->file[i],
                           "write a checkpoint: not a file of the work tree");
        if (!names_add(l, (struct slice){ path.p + root.n + 1, path.n - root.n - 1 }))
            return err_nomem(e);
    }
    return ERR_OK;
}

/* Links, pipes and nested repositories are left out unless they were requested by name. */
static bool is_file_or_gone(const char *root, const char *name)
{
    char path[8192];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/%s", root, name);

    return n > 0 && (size_t)n < sizeof path && (lstat(path, &st) != 0 || S_ISREG(st.st_mode));
}

static bool add_delta(const char *root, struct names_list *l, const git_diff_delta *d)
{
    const char *names[] = { d->old_file.path, d->new_file.path };

    for (int i = 0; i < 2; i++)
        if (names[i] && strncmp(names[i], ".entire/", 8) != 0 && is_file_or_gone(root, names[i]) &&
            !names_add(l, slice_of(names[i])))
            return false;
    return true;
}

/* Adds everything that git considers changed or new. The index is read, but not refreshed. */
static enum err_code add_changed(const struct view *v, struct names_list *l, struct err *e)
{
    git_status_options o;
    git_status_list *list = NULL;
    git_oid head;
    bool ok = true;

    git_status_options_init(&o, GIT_STATUS_OPTIONS_VERSION);
    o.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
              GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
    enum err_code rc = gitfiles_check_tree(v->root, e);

    if (!rc && view_head_tree(v, &head))
        rc = repo_tree_fits(v->repo, &head, NULL, e);
    if (rc)
        return rc;
    int answer = git_status_list_new(&list, v->repo, &o);

    if (answer)
        return repo_error(e, answer, v->root, "list the changed files");
    for (size_t i = 0; ok && i < git_status_list_entrycount(list); i++) {
        const git_status_entry *x = git_status_byindex(list, i);

        ok = (!x->head_to_index || add_delta(v->root, l, x->head_to_index)) &&
             (!x->index_to_workdir || add_delta(v->root, l, x->index_to_workdir));
    }
    git_status_list_free(list);
    return ok ? ERR_OK : err_nomem(e);
}

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

static enum err_code put_task(const struct view *v, const struct temporary_task *task,
                              struct treewrite *t, struct err *e)
{
    char folder[1024], path[1400];
    struct buf json = { 0 };
    enum err_code rc =
        temporary_task_document(task, v->session->id, false, &json) ? err_nomem(e) : ERR_OK;

    snprintf(folder, sizeof folder, ".entire/metadata/%.*s/tasks/%.*s", SLICE_ARG(v->session->id),
             SLICE_ARG(task->tool_use));
    snprintf(path, sizeof path, "%s/checkpoint.json", folder);
    if (!rc)
        rc = treewrite_add_bytes(t, path, buf_slice(&json), e);
    if (!rc && task->agent.n && task->transcript.n) {
        snprintf(path, sizeof path, "%s/agent-%.*s.jsonl", folder, SLICE_ARG(task->agent));
        rc = treewrite_add_bytes(t, path, task->transcript, e);
    }
    buf_fini(&json);
    return rc;
}

static enum err_code put_metadata(const struct view *v, const struct temporary_request *req,
                                  struct treewrite *t, struct err *e)
{
    char path[700];
    struct arena a = { 0 };
    struct buf bytes = { 0 };
    const char *live;
    struct slice id = v->session->id;
    enum err_code rc = ERR_OK;

    if (entire_conversation_live_path(v->store, v->session, &a, &live) &&
        file_read_all(AT_FDCWD, live, 0, 1 << 30, &bytes, NULL) == ERR_OK) {
        snprintf(path, sizeof path, ".entire/metadata/%.*s/full.jsonl", SLICE_ARG(id));
        rc = treewrite_add_bytes(t, path, buf_slice(&bytes), e);
    }
    if (!rc && req->task)
        rc = put_task(v, req->task, t, e);
    else if (!rc && req->prompt.n) {
        snprintf(path, sizeof path, ".entire/metadata/%.*s/prompt.txt", SLICE_ARG(id));
        rc = treewrite_add_bytes(t, path, req->prompt, e);
    }
    buf_fini(&bytes);
    arena_fini(&a);
    return rc;
}

static enum err_code make_shadow_tree(const struct view *v, const struct temporary_request *req,
                                      const struct names_list *names, const git_oid *base,
                                      git_oid *out, struct err *e)
{
    struct treewrite t;
    enum err_code rc = treewrite_open(v->repo, base, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < names->n && !rc; i++)
        rc = treewrite_add_file(&t, v->root, names->name[i].p, e);
    if (!rc)
        rc = put_metadata(v, req, &t, e);
    if (!rc)
        rc = treewrite_finish(&t, out, e);
    treewrite_close(&t);
    return rc;
}

/* ---- the commit ---- */

static enum err_code write_commit(const struct view *v, const struct temporary_request *req,
                                  const git_oid *tree, const git_oid *tip, git_oid *out,
                                  struct err *e)
{
    struct arena a = { 0 };
    git_signature *sig = NULL;
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
    enum err_code rc =
        subject.p && message ? treewrite_author(v->repo, &sig, &c.author, e) : err_nomem(e);

    if (!rc) {
        c.committer = c.author;
        c.message = slice_of(message);
        rc = treewrite_commit(v->repo, &c, out, e);
    }
    git_signature_free(sig);
    arena_fini(&a);
    return rc;
}

/* Tries once, from the present tip. */
static enum err_code try_once(const struct view *v, const struct temporary_request *req,
                              const char *ref, struct temporary *out, struct err *e)
{
    git_oid tip, base, tree;
    bool has_tip;
    enum err_code rc = repo_ref(v->repo, ref, &has_tip, &tip, e);

    if (rc)
        return rc;
    if (has_tip ? !view_commit_tree(v, &tip, &base) : !view_head_tree(v, &base))
        return err_set(e, ERR_FORMAT, ref, "write a checkpoint: there is no commit to begin with");
    rc = make_shadow_tree(v, req, &out->touched, &base, &tree, e);
    out->made = !rc && !(has_tip && git_oid_equal(&tree, &base));
    if (rc || !out->made) {
        out->commit = tip;
        return rc;
    }
    rc = write_commit(v, req, &tree, has_tip ? &tip : NULL, &out->commit, e);
    return rc ? rc
              : repo_ref_move(v->repo, ref, has_tip ? &tip : NULL, &out->commit,
                              "entire: checkpoint", e);
}

/* ---- the state ---- */

static enum err_code count_step(struct view *v, const struct temporary *t, bool is_task,
                                int64_t now_ms, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct arena *a = &v->arena;
    struct names_list touched = { .a = a };
    struct buf json = { 0 };
    struct entire_state again;
    struct slice old;
    enum err_code rc = state_read_again(v->store->states, s->id, a, &again, &json, e);
    bool ok = !rc;

    if (ok && json_get(buf_slice(&json), "files_touched", &old))
        ok = names_add_json(&touched, old);
    for (size_t i = 0; ok && i < t->touched.n; i++)
        ok = names_add(&touched, t->touched.name[i]);
    buf_fini(&json);
    if (rc || !ok)
        return rc ? rc : err_nomem(e);
    const struct go_json_member set[] = {
        { "checkpoint_count", state_number(a, again.checkpoint_count + !is_task) },
        { "files_touched", state_list(a, touched.name, touched.n) },
        { "last_interaction_time", state_time(a, now_ms) },
    };

    return state_change(v->store->states, &again, set, sizeof set / sizeof *set, e);
}

enum err_code temporary_write(struct view *v, const struct temporary_request *req,
                              struct temporary *out, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct temporary t = { .touched = { .a = &v->arena } };
    char ref[ENTIRE_SHADOW_NAME + 16], name[ENTIRE_SHADOW_NAME];
    struct slice base;
    enum err_code rc = follow_head(v, &base, e);

    if (!rc)
        rc = temporary_names(v, req, &t.touched, e);
    if (!rc && s->checkpoint_count == 0 && !req->task)
        rc = add_changed(v, &t.touched, e);
    if (rc)
        return rc;
    entire_shadow_name(base, s->worktree_id, name);
    snprintf(ref, sizeof ref, ENTIRE_HEADS "%s", name);
    for (int i = 0; i < TRIES; i++) {
        rc = try_once(v, req, ref, &t, e);
        if (rc != ERR_STALE)
            break;
    }
    if (!rc && t.made)
        rc = count_step(v, &t, req->task != NULL, env_now_ms(v->store->base.env), e);
    if (!rc)
        *out = t;
    return rc;
}

enum { TRANSCRIPT_MAX = 1 << 30, ID_MAX = 200 };

/* ---- the row with the result ---- */

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

/* ---- the transcript of the sub-agent ---- */

/* Since version 2.1 the client writes it below the session, older versions beside it. */
static const char *agent_path(const struct session_ref *live, struct slice agent, struct arena *a)
{
    const char *slash = strrchr(live->path.p, '/');
    struct session_ref found;

    if (claude_ops.subagent(live->store, live, agent, a, &found, NULL) == ERR_OK)
        return found.path.p;
    return arena_format(a, "%.*s/agent-%.*s.jsonl", (int)(slash - live->path.p), live->path.p,
                        SLICE_ARG(agent));
}

static enum err_code read_agent(const struct session_ref *live, struct collected_task *out,
                                struct arena *a, struct err *e)
{
    const char *path = agent_path(live, out->task.agent, a);
    enum err_code rc =
        path ? file_read_all(AT_FDCWD, path, 0, TRANSCRIPT_MAX, &out->transcript, e) : err_nomem(e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK; /* the checkpoint is made without it */
    out->task.transcript = buf_slice(&out->transcript);
    return rc;
}

static enum err_code read_live(const struct session_ref *live, struct collected_task *out,
                               struct arena *a, struct err *e)
{
    struct buf session = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, live->path.p, 0, TRANSCRIPT_MAX, &session, e);

    if (!rc && !find_row(buf_slice(&session), out->task.tool_use, a, &out->task.row))
        rc = err_nomem(e);
    buf_fini(&session);
    if (!rc && out->task.agent.n)
        rc = read_agent(live, out, a, e);
    return rc;
}

enum err_code task_collect(const struct session_ref *ref, struct slice tool_use, struct slice agent,
                           struct arena *a, struct collected_task *out, struct err *e)
{
    struct session_ref live;

    *out = (struct collected_task){ .task = { tool_use, agent, .row = SLICE(""),
                                              .transcript = SLICE("") } };
    if (!entire_tool_id_ok(tool_use) || tool_use.n > ID_MAX ||
        (agent.n && (!entire_tool_id_ok(agent) || agent.n > ID_MAX)))
        return err_set(e, ERR_USAGE, "",
                       "checkpoint: ids of tools and agents have only letters, digits, _ and -");
    enum err_code rc = entire_tasks_live_ref(ref, a, &live) ? read_live(&live, out, a, e) : ERR_OK;

    if (rc)
        task_collected_fini(out);
    return rc;
}

void task_collected_fini(struct collected_task *t)
{
    buf_fini(&t->transcript);
}
