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

enum err_code entire_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;
    const char *root = x->worktree, *path;
    char drawn[HOST_ID], hex[GIT_OID_HEXSZ + 1] = "";
    struct slice id = req->id;
    AUTO_REPO *repo = NULL;
    git_oid head;
    bool has_head;

    /* The session works in the work tree that contains the directory. */
    for (size_t i = x->trees; i-- > 0;)
        if (path_under(req->cwd, slice_of(x->tree[i])))
            root = x->tree[i];
    if (!root)
        return err_set(e, ERR_UNSUPPORTED, x->base.path, "create: the repository has no work tree");
    if (id.n == 0) {
        host_generate_id(drawn);
        id = slice_of(drawn);
    }
    if (!entire_session_id_ok(id))
        return err_set(e, ERR_USAGE, "", "create: invalid session id for Entire");
    struct host_created made = { .id = arena_copy(a, id) };

    NEED(made.id.p);
    NEED(path = arena_format(a, "%s/%.*s.json", x->states, SLICE_ARG(id)));

    /* Without a commit, the base stays empty until a checkpoint or the event of a commit sets it. */
    TRY(repo_open(root, &repo, e));
    TRY(repo_ref(repo, "HEAD", &has_head, &head, e));
    if (has_head)
        git_oid_tostr(hex, sizeof hex, &head);
    struct slice worktree_id = repo_worktree_id(repo, a), base = state_text(a, slice_of(hex)),
                 now = state_time(a, env_now_ms(x->base.env));
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

    for (size_t i = 0; i < COUNT_OF(set); i++)
        NEED(set[i].value.p);
    TRY(state_create(x->states, id, set, COUNT_OF(set), e));
    if (!entire_session(st, id, &c, &s, NULL))
        made.warning = catalog_concurrent_note(c, s, a);
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
                                  struct view *out, struct err *e)
{
    CLEANUP(view_close) struct view v = { 0 };

    TRY(view_open(st, ref, &v, e));
    if (!v.session->state || !v.root)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "write a checkpoint: the session has no state or no work tree here");
    HAND_OVER(out, v);
    return ERR_OK;
}

enum err_code entire_checkpoint(const struct store *st, const struct session_ref *ref,
                                const struct host_checkpoint *req, struct arena *a,
                                struct host_checkpointed *out, struct err *e)
{
    struct temporary_request t = {
        .file = req->file, .files = req->files, .prompt = req->message, .subject = req->label
    };
    CLEANUP(task_collected_fini) struct collected_task task = { .transcript = { 0 } };
    CLEANUP(view_close) struct view v = { 0 };
    const char *beside, *lacks = NULL;
    char hex[GIT_OID_HEXSZ + 1];
    struct host_checkpointed made = { .files = 0 };

    TRY(open_running(st, ref, &v, e));
    if (req->task.n) {
        TRY(task_collect(ref, req->task, req->agent, a, &task, e));
        t.task = &task.task;
    }
    if (autocommit_wanted(&v)) {
        struct autocommitted commit;

        TRY(autocommit_write(&v, &t, &commit, e));
        made.id = arena_copy(a, slice_of(commit.checkpoint));
        made.files = commit.touched.n;
        made.fresh = commit.made ? commit.touched.n : 0;
        lacks = commit.made ? autocommit_skipped_note(v.repo, a) : NULL;
    } else {
        struct temporary commit;

        TRY(temporary_write(&v, &t, &commit, e));
        git_oid_tostr(hex, sizeof hex, &commit.commit);
        made.id = arena_copy(a, (struct slice){ hex, GIT_OID_HEXSZ });
        made.files = commit.touched.n;
        made.fresh = commit.made ? commit.touched.n : 0;
    }
    NEED(made.id.p);

    /* Warn about concurrent sessions and about what our commit lacks. */
    beside = catalog_concurrent_note(v.catalog, v.session, a);
    made.warning = beside && lacks ? arena_format(a, "%s; %s", beside, lacks)
                   : beside        ? beside
                                   : lacks;
    *out = made;
    return ERR_OK;
}

/* ---- set ---- */

/* The settings of one call: members of the state, and what follows from an event. */
struct sorted_settings {
    struct go_json_member set[32];
    size_t n;
    struct entire_tokens tokens;
    bool has_tokens;
    bool has_event;
    enum entire_event event;
    struct slice strategy;
};

static enum err_code sort_setting(const struct host_setting *s, struct arena *a,
                                  struct sorted_settings *out, struct err *e)
{
    static const char *const events[EVENT_COUNT] = {
        [EVENT_TURN_START] = "turn-start",
        [EVENT_TURN_END] = "turn-end",
        [EVENT_COMMIT] = "commit",
        [EVENT_SESSION_START] = "session-start",
        [EVENT_SESSION_STOP] = "session-stop",
    };
    /* The members of the state that a host may set; the others follow from events. */
    static const char *const members[][2] = {
        { "agent", "agent_type" },           { "first-prompt", "first_prompt" },
        { "last-prompt", "last_prompt" },    { "branch", "branch" },
        { "transcript", "transcript_path" }, { "turn", "turn_id" },
    };
    enum entire_token token = entire_tokens_setting(s->key);
    int64_t n = 0;

    if (token != TOKEN_COUNT) { /* one number of the token usage; an empty value is 0 */
        if (s->value.n && (!json_int(s->value, &n) || n < 0))
            return err_set(e, ERR_USAGE, "",
                           "set: a number of tokens must be a whole number, 0 or more");
        out->tokens.n[token] = n;
        out->tokens.known = out->has_tokens = true;
        return ERR_OK;
    }
    if (slice_eq(s->key, SLICE("event"))) {
        for (int i = 0; i < EVENT_COUNT; i++)
            if (slice_eq(s->value, slice_of(events[i]))) {
                out->event = (enum entire_event)i;
                out->has_event = true;
                return ERR_OK;
            }
        return err_set(e, ERR_USAGE, "event",
                       "set: the event must be turn-start, turn-end, commit, session-start or "
                       "session-stop");
    }
    if (slice_eq(s->key, SLICE("strategy"))) {
        out->strategy = s->value;
        return slice_eq(s->value, SLICE("manual-commit")) ||
                       slice_eq(s->value, SLICE("auto-commit"))
                   ? ERR_OK
                   : err_set(e, ERR_USAGE, "strategy",
                             "set: the strategy must be manual-commit or auto-commit");
    }
    for (size_t i = 0; i < COUNT_OF(members) && out->n < 24; i++)
        if (slice_eq(s->key, slice_of(members[i][0]))) {
            struct slice value = s->value.n ? state_text(a, s->value) : SLICE("");

            NEED(value.p);
            out->set[out->n++] = (struct go_json_member){ members[i][1], value };
            return ERR_OK;
        }
    return err_set(e, ERR_USAGE, "", "set: Entire's sessions have no setting %.*s",
                   (int)(s->key.n > 64 ? 64 : s->key.n), s->key.p);
}

static enum err_code sort_settings(const struct entire_state *state,
                                   const struct host_setting *setting, size_t n, struct arena *a,
                                   struct sorted_settings *out, struct err *e)
{
    *out = (struct sorted_settings){ .strategy = SLICE("manual-commit"),
                                     .tokens = entire_tokens_read(state->token_usage) };
    for (size_t i = 0; i < n; i++)
        TRY(sort_setting(&setting[i], a, out, e));
    if (out->has_tokens) {
        struct slice json = entire_tokens_json(&out->tokens, a);

        NEED(json.p);
        out->set[out->n++] = (struct go_json_member){ "token_usage", json };
    }
    return ERR_OK;
}

enum err_code entire_set(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e)
{
    struct sorted_settings x;
    struct condensed done;
    CLEANUP(view_close) struct view v = { 0 };

    TRY(open_running(st, ref, &v, e));
    TRY(sort_settings(v.session->state, setting, n, &v.arena, &x, e));
    if (x.has_event && (x.event == EVENT_COMMIT || x.event == EVENT_TURN_END)) {
        TRY(x.event == EVENT_COMMIT ? condense(&v, x.strategy, &done, e)
                                    : condense_finalize_turn(&v, x.strategy, e));
        /* The state has just been written, so it is read again. */
        view_close(&v);
        v = (struct view){ 0 };
        TRY(open_running(st, ref, &v, e));
        TRY(sort_settings(v.session->state, setting, n, &v.arena, &x, e));
    }
    if (x.has_event) {
        enum entire_phase before = v.session->state->phase,
                          after = entire_phase_after(before, x.event);
        struct slice name = slice_of(entire_phase_name(after)),
                     now = state_time(&v.arena, env_now_ms(st->env));

        x.set[x.n++] = (struct go_json_member){ "phase", state_text(&v.arena, name) };
        x.set[x.n++] = (struct go_json_member){ "last_interaction_time", now };
        if (after != before)
            x.set[x.n++] =
                (struct go_json_member){ "ended_at", after == PHASE_ENDED ? now : SLICE("") };
    }
    return x.n ? state_change(v.store->states, v.session->state, x.set, x.n, e) : ERR_OK;
}

/* ---- enable ---- */

/* In a repository in which Entire was never used, writes exactly what its own `enable` writes (cli
 * f446dcfc, setup.go): the settings, the list of files for git to ignore, and the branch of the
 * checkpoints. The hooks of git and of the agent are left out: they run Entire's program, and a
 * host of ours reports its events itself. Nothing that exists is changed, so that `entire enable`
 * can still follow. */

static const char settings[] = "{\n  \"strategy\": \"manual-commit\",\n  \"enabled\": true\n}\n";
static const char ignored[] = "tmp/\nsettings.local.json\nmetadata/\nlogs/\n";

/* An existing file stays, and so does anything else with this name. */
static enum err_code entire_write_new(const char *dir, const char *name, const char *text,
                                      struct err *e)
{
    char path[PATH_MAX];
    struct disk_new f;
    struct stat st;

    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    if (lstat(path, &st) == 0)
        return ERR_OK;
    TRY(disk_new_open(dir, 0644, &f, e));
    enum err_code rc = disk_write(f.fd, slice_of(text), NULL, path, e);

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
    TRY(disk_make_dir(dir, 0755, e));
    TRY(entire_write_new(dir, ".gitignore", ignored, e));
    return entire_write_new(dir, "settings.json", settings, e);
}

enum err_code entire_make(const struct store_env *env, const char *path, struct err *e)
{
    const char *dir = path ? path : env->cwd, *front = dir[0] == '/' ? "" : env->cwd, *named;
    char root[PATH_MAX];
    const char *whole, *states;
    AUTO_ARENA a = { 0 };
    AUTO_REPO *repo = NULL;
    size_t n;

    NEED(whole = arena_format(&a, "%s%s%s", front, *front ? "/" : "", dir));
    TRY(repo_open(whole, &repo, e));
    NEED(states = arena_format(&a, "%s" ENTIRE_STATES, git_repository_commondir(repo)));
    if (strlen(states) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, dir, "make store: the path is too long");
    if (!entire_is_enabled(repo, states)) {
        named = git_repository_workdir(repo);
        if (named && gitfiles_is_tree(named, git_repository_path(repo)) &&
            (n = (size_t)snprintf(root, sizeof root, "%s", named)) < sizeof root) {
            if (n > 1 && root[n - 1] == '/')
                root[n - 1] = '\0';
            TRY(write_folder(root, e));
        }
        TRY(committed_begin(repo, e));
    }
    return disk_make_dir(states, 0750, e);
}
