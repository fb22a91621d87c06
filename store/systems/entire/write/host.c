#include "store/api/host.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/log/append.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/rewind/plan_common.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/committed_write.h"
#include "store/systems/entire/write/temporary.h"

/* The writing side (store/api/host.h). A session is a state file, its rows are appended to the agent's own
 * transcript, a checkpoint is a commit of the shadow branch, and events are reported by a setting (set ID
 * event=commit). */

/* ---- create ---- */

/* The work tree of the repository that contains the directory. */
static const char *worktree_of_cwd(const struct entire *x, struct slice cwd)
{
    for (size_t i = 0; i < x->trees; i++)
        if (path_under(cwd, slice_of(x->tree[i])))
            return x->tree[i];
    return x->worktree;
}

static enum err_code write_state(const struct entire *x, struct slice id, const char *root,
                                 struct arena *a, struct err *e)
{
    git_repository *repo;
    git_oid head;
    char hex[GIT_OID_HEXSZ + 1] = "";
    enum err_code rc = repo_open(root, &repo, e);

    if (rc)
        return rc;
    bool has_head;

    rc = repo_ref(repo, "HEAD", &has_head, &head, e);
    struct slice worktree_id = repo_worktree_id(repo, a);

    repo_close(repo);
    if (rc)
        return rc;
    if (has_head)
        git_oid_tostr(hex, sizeof hex, &head);
    /* Without a commit, the base stays empty until a checkpoint or the event of a commit sets it. */
    struct slice base = state_text(a, slice_of(hex)), now = state_time(a, env_now_ms(x->base.env));
    const struct go_json_member set[] = {
        { "session_id", state_text(a, id) },
        { "cli_version", SLICE("\"reprise " REPRISE_VERSION "\"") },
        { "base_commit", base },
        { "attribution_base_commit", has_head ? base : SLICE("") },
        { "worktree_path", state_text(a, slice_of(root)) },
        { "worktree_id", worktree_id.n ? state_text(a, worktree_id) : SLICE("") },
        { "started_at", now },
        { "phase", SLICE("\"idle\"") },
        { "last_interaction_time", now },
        { "checkpoint_count", SLICE("0") },
        { "agent_type", SLICE("\"Claude Code\"") },
    };

    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (!set[i].value.p)
            return err_nomem(e);
    return state_create(x->states, id, set, sizeof set / sizeof *set, e);
}

enum err_code entire_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e)
{
    const struct entire *x = entire_of(st);
    const char *root = worktree_of_cwd(x, req->cwd);
    char drawn[HOST_ID];
    struct slice id = req->id;

    if (!root)
        return err_set(e, ERR_UNSUPPORTED, x->base.path, "create: the repository has no work tree");
    if (id.n == 0) {
        host_generate_id(drawn);
        id = slice_of(drawn);
    }
    if (!entire_session_id_ok(id))
        return err_set(e, ERR_USAGE, "", "create: invalid session id for Entire");
    struct host_created made = { .id = arena_copy(a, id) };
    const char *path = arena_format(a, "%s/%.*s.json", x->states, SLICE_ARG(id));

    if (!made.id.p || !path)
        return err_nomem(e);
    enum err_code rc = write_state(x, id, root, a, e);

    if (rc)
        return rc;
    made.path = slice_of(path);
    made.unsaved = (req->model.n ? HOST_MODEL : 0u) | (req->title.n ? HOST_TITLE : 0u) |
                   (req->parent.n ? HOST_PARENT : 0u);
    *out = made;
    return ERR_OK;
}

/* ---- append ---- */

/* The rows are those of Claude Code, and are completed as in its own sessions. */
enum err_code entire_append(const struct store *st, const struct session_ref *ref,
                            const struct host_append *req, struct arena *a,
                            struct host_appended *out, struct err *e)
{
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;
    struct session_ref lent = *ref;
    const char *path;

    if (req->transcript)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "append: Entire keeps no second transcript");
    TRY(entire_session(st, ref->id, &c, &s, e));
    if (!entire_conversation_write_path(entire_of(st), s, a, &path))
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "append: it is not known where the agent of this session keeps its rows");

    /* A second conversation is not begun if the first one is only in a checkpoint, or elsewhere. */
    if (access(path, F_OK)) {
        AUTO_CONVERSATION elsewhere = ENTIRE_CONVERSATION_NONE;

        if (entire_conversation_open(st, ref, &elsewhere, NULL) == ERR_OK)
            return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                           "append: the conversation is not where its agent looks for it (use "
                           "reprise retrieve)");
    }

    /* Create the transcript if it is missing. */
    struct slice dir = arena_copy(a, (struct slice){ path, (size_t)(strrchr(path, '/') - path) });

    NEED(dir.p);
    TRY(disk_private_dir(dir.p, e));
    int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, path, "make a transcript");
    close(fd);
    lent.id = entire_agent_id(ref->id);
    lent.path = slice_of(path);
    return claude_ops.append(st, &lent, req, a, out, e);
}

/* ---- checkpoint ---- */

static enum err_code open_running(const struct store *st, const struct session_ref *ref,
                                  struct view *v, struct err *e)
{
    enum err_code rc = view_open(st, ref, v, e);

    if (rc || (v->session->state && v->root))
        return rc;
    view_close(v);
    return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                   "write a checkpoint: the session has no state or no work tree here");
}

/* A warning about concurrent sessions and about what our commit lacks. NULL: no warning, or out of
 * memory. */
static const char *warning_of(const struct view *v, const char *lacks, struct arena *a)
{
    const char *beside = catalog_concurrent_note(v->catalog, v->session, a);

    return beside && lacks ? arena_format(a, "%s; %s", beside, lacks) : beside ? beside : lacks;
}

/* A checkpoint by the auto-commit strategy. */
static enum err_code commit_checkpoint(struct view *v, const struct temporary_request *t,
                                       struct arena *a, struct host_checkpointed *out,
                                       struct err *e)
{
    struct autocommitted made;
    enum err_code rc = autocommit_write(v, t, &made, e);

    if (rc)
        return rc;
    *out = (struct host_checkpointed){
        .id = arena_copy(a, slice_of(made.checkpoint)),
        .files = made.touched.n,
        .fresh = made.made ? made.touched.n : 0,
        .warning = warning_of(v, made.made ? autocommit_skipped_note(v->repo, a) : NULL, a),
    };
    return out->id.p ? ERR_OK : err_nomem(e);
}

/* A checkpoint on the shadow branch. */
static enum err_code shadow_checkpoint(struct view *v, const struct temporary_request *t,
                                       struct arena *a, struct host_checkpointed *out,
                                       struct err *e)
{
    struct temporary made;
    char hex[GIT_OID_HEXSZ + 1];
    enum err_code rc = temporary_write(v, t, &made, e);

    if (rc)
        return rc;
    git_oid_tostr(hex, sizeof hex, &made.commit);
    *out = (struct host_checkpointed){
        .id = arena_copy(a, (struct slice){ hex, GIT_OID_HEXSZ }),
        .files = made.touched.n,
        .fresh = made.made ? made.touched.n : 0,
        .warning = warning_of(v, NULL, a),
    };
    return out->id.p ? ERR_OK : err_nomem(e);
}

enum err_code entire_checkpoint(const struct store *st, const struct session_ref *ref,
                                const struct host_checkpoint *req, struct arena *a,
                                struct host_checkpointed *out, struct err *e)
{
    struct temporary_request t = {
        .file = req->file, .files = req->files, .prompt = req->message, .subject = req->label
    };
    struct collected_task task = { .transcript = { 0 } };
    struct view v;
    enum err_code rc = open_running(st, ref, &v, e);

    if (rc)
        return rc;
    if (req->task.n) {
        rc = task_collect(ref, req->task, req->agent, a, &task, e);
        t.task = &task.task;
    }
    if (!rc)
        rc = autocommit_wanted(&v) ? commit_checkpoint(&v, &t, a, out, e)
                                   : shadow_checkpoint(&v, &t, a, out, e);
    task_collected_fini(&task);
    view_close(&v);
    return rc;
}

/* ---- set ---- */

static bool event_of(struct slice text, enum entire_event *event)
{
    static const char *const names[EVENT_COUNT] = {
        [EVENT_TURN_START] = "turn-start",
        [EVENT_TURN_END] = "turn-end",
        [EVENT_COMMIT] = "commit",
        [EVENT_SESSION_START] = "session-start",
        [EVENT_SESSION_STOP] = "session-stop",
    };

    for (int i = 0; i < EVENT_COUNT; i++)
        if (slice_eq(text, slice_of(names[i]))) {
            *event = (enum entire_event)i;
            return true;
        }
    return false;
}

/* The members of the state that a host may set; the others follow from events. */
static bool state_key(struct slice key, const char **member)
{
    static const char *const keys[][2] = {
        { "agent", "agent_type" },           { "first-prompt", "first_prompt" },
        { "last-prompt", "last_prompt" },    { "branch", "branch" },
        { "transcript", "transcript_path" }, { "turn", "turn_id" },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (slice_eq(key, slice_of(keys[i][0]))) {
            *member = keys[i][1];
            return true;
        }
    return false;
}

struct setting {
    struct go_json_member set[32];
    size_t n;
    struct entire_tokens tokens;
    bool has_tokens;
    bool has_event;
    enum entire_event event;
    struct slice strategy;
};

/* One number of the token usage; an empty value is 0. */
static enum err_code set_tokens(enum entire_token which, struct slice value, struct setting *out,
                                struct err *e)
{
    int64_t n = 0;

    if (value.n && (!json_int(value, &n) || n < 0))
        return err_set(e, ERR_USAGE, "",
                       "set: a number of tokens must be a whole number, 0 or more");
    out->tokens.n[which] = n;
    out->tokens.known = out->has_tokens = true;
    return ERR_OK;
}

static enum err_code add_tokens(struct setting *out, struct arena *a, struct err *e)
{
    struct slice json = entire_tokens_json(&out->tokens, a);

    out->set[out->n++] = (struct go_json_member){ "token_usage", json };
    return json.p ? ERR_OK : err_nomem(e);
}

/* A member of the state. */
static enum err_code set_member(const char *member, struct slice text, struct arena *a,
                                struct setting *out, struct err *e)
{
    struct slice value = text.n ? state_text(a, text) : SLICE("");

    if (!value.p)
        return err_nomem(e);
    out->set[out->n++] = (struct go_json_member){ member, value };
    return ERR_OK;
}

static enum err_code sort_one(const struct host_setting *s, struct arena *a, struct setting *out,
                              struct err *e)
{
    enum entire_token token = entire_tokens_setting(s->key);
    const char *member;

    if (token != TOKEN_COUNT)
        return set_tokens(token, s->value, out, e);
    if (slice_eq(s->key, SLICE("event"))) {
        out->has_event = event_of(s->value, &out->event);
        return out->has_event ? ERR_OK
                              : err_set(e, ERR_USAGE, "event",
                                        "set: the event must be turn-start, turn-end, commit, "
                                        "session-start or session-stop");
    }
    if (slice_eq(s->key, SLICE("strategy"))) {
        out->strategy = s->value;
        return slice_eq(s->value, SLICE("manual-commit")) ||
                       slice_eq(s->value, SLICE("auto-commit"))
                   ? ERR_OK
                   : err_set(e, ERR_USAGE, "strategy",
                             "set: the strategy must be manual-commit or auto-commit");
    }
    if (state_key(s->key, &member) && out->n < 24)
        return set_member(member, s->value, a, out, e);
    return err_set(e, ERR_USAGE, "", "set: Entire's sessions have no setting %.*s",
                   (int)(s->key.n > 64 ? 64 : s->key.n), s->key.p);
}

static enum err_code sort_out(const struct entire_state *state, const struct host_setting *setting,
                              size_t n, struct arena *a, struct setting *out, struct err *e)
{
    enum err_code rc = ERR_OK;

    *out = (struct setting){ .strategy = SLICE("manual-commit"),
                             .tokens = entire_tokens_read(state->token_usage) };
    for (size_t i = 0; i < n && !rc; i++)
        rc = sort_one(&setting[i], a, out, e);
    return !rc && out->has_tokens ? add_tokens(out, a, e) : rc;
}

static void add_phase(const struct entire_state *s, int64_t now_ms, struct arena *a,
                      struct setting *x)
{
    enum entire_phase after = entire_phase_after(s->phase, x->event);
    const char *name = entire_phase_name(after);

    x->set[x->n++] = (struct go_json_member){ "phase", state_text(a, slice_of(name)) };
    x->set[x->n++] = (struct go_json_member){ "last_interaction_time", state_time(a, now_ms) };
    if (after != s->phase)
        x->set[x->n++] =
            (struct go_json_member){ "ended_at",
                                     after == PHASE_ENDED ? state_time(a, now_ms) : SLICE("") };
}

static bool writes_checkpoints(enum entire_event event)
{
    return event == EVENT_COMMIT || event == EVENT_TURN_END;
}

enum err_code entire_set(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e)
{
    struct setting x;
    struct condensed done;
    struct view v;
    enum err_code rc = open_running(st, ref, &v, e);

    if (rc)
        return rc;
    rc = sort_out(v.session->state, setting, n, &v.arena, &x, e);
    if (!rc && x.has_event && writes_checkpoints(x.event)) {
        rc = x.event == EVENT_COMMIT ? condense(&v, x.strategy, &done, e)
                                     : condense_finalize_turn(&v, x.strategy, e);
        if (!rc) {
            /* The state has just been written, so it is read again. */
            view_close(&v);
            rc = open_running(st, ref, &v, e);
            if (rc)
                return rc;
            rc = sort_out(v.session->state, setting, n, &v.arena, &x, e);
        }
    }
    if (!rc && x.has_event)
        add_phase(v.session->state, env_now_ms(st->env), &v.arena, &x);
    if (!rc && x.n)
        rc = state_change(v.store->states, v.session->state, x.set, x.n, e);
    view_close(&v);
    return rc;
}

/* In a repository in which Entire was never used, writes exactly what its own `enable` writes (cli
 * f446dcfc, setup.go): the settings, the list of files for git to ignore, and the branch of the
 * checkpoints. The hooks of git and of the agent are left out: they run Entire's program, and a
 * host of ours reports its events itself. Nothing that exists is changed, so that `entire enable`
 * can still follow. */

static const char settings[] = "{\n  \"strategy\": \"manual-commit\",\n  \"enabled\": true\n}\n";
static const char ignored[] = "tmp/\nsettings.local.json\nmetadata/\nlogs/\n";

/* An existing file stays, and so does anything else with this name. */
static enum err_code write_new(const char *dir, const char *name, const char *text, struct err *e)
{
    char path[PATH_MAX];
    struct disk_new f;
    struct stat st;

    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    if (lstat(path, &st) == 0)
        return ERR_OK;
    enum err_code rc = disk_new_open(dir, 0644, &f, e);

    if (rc)
        return rc;
    rc = disk_write(f.fd, slice_of(text), NULL, path, e);
    if (rc)
        disk_new_discard(&f);
    else
        rc = disk_new_publish(&f, name, e);
    return rc == ERR_STALE ? ERR_OK : rc;
}

/* Files are not written through a link in place of the folder. */
static enum err_code write_folder(const char *root, struct err *e)
{
    char dir[PATH_MAX];
    struct stat st;

    if (snprintf(dir, sizeof dir, "%s/.entire", root) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, root, "make store: the path is too long");
    if (lstat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(e, ERR_UNSAFE, dir, "make store: a link or a file is in its place");
    enum err_code rc = disk_make_dir(dir, 0755, e);

    if (!rc)
        rc = write_new(dir, ".gitignore", ignored, e);
    return rc ? rc : write_new(dir, "settings.json", settings, e);
}

static enum err_code enable(git_repository *repo, struct err *e)
{
    const char *named = git_repository_workdir(repo);
    char root[PATH_MAX];
    size_t n;
    enum err_code rc = ERR_OK;

    if (named && gitfiles_is_tree(named, git_repository_path(repo)) &&
        (n = (size_t)snprintf(root, sizeof root, "%s", named)) < sizeof root) {
        if (n > 1 && root[n - 1] == '/')
            root[n - 1] = '\0';
        rc = write_folder(root, e);
    }
    return rc ? rc : committed_begin(repo, e);
}

enum err_code entire_make(const struct store_env *env, const char *path, struct err *e)
{
    const char *dir = path ? path : env->cwd;
    char whole[PATH_MAX], states[PATH_MAX];
    git_repository *repo = NULL;
    enum err_code rc;

    if (snprintf(whole, sizeof whole, "%s%s%s", dir[0] == '/' ? "" : env->cwd,
                 dir[0] == '/' ? "" : "/", dir) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    rc = repo_open(whole, &repo, e);
    if (rc)
        return rc;
    if (snprintf(states, sizeof states, "%s" ENTIRE_STATES, git_repository_commondir(repo)) >=
        PATH_MAX)
        rc = err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    if (!rc && !entire_is_enabled(repo, states))
        rc = enable(repo, e);
    if (!rc)
        rc = disk_make_dir(states, 0750, e);
    repo_close(repo);
    return rc;
}
