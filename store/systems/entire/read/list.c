#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/proc/live.h"
#include "store/rewind/plan/beneath.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/point.h"

/* Lists sessions: those with a state file, and those with only committed checkpoints left. */

/* ---- scope ---- */

/* The innermost work tree of the repository that contains a directory, or the repository itself. */
static const char *innermost_worktree(const struct entire *x, struct slice dir)
{
    const char *best = NULL;

    for (size_t i = 0; i < x->trees; i++)
        if (path_under(dir, slice_of(x->tree[i])) && (!best || strlen(x->tree[i]) > strlen(best)))
            best = x->tree[i];
    return best || !path_under(dir, slice_of(x->common)) ? best : x->common;
}

/* A session without a work tree (committed, perhaps by another person) belongs to every work tree. */
static bool is_of_tree(const struct entire *x, const struct catalog_session *s, struct slice dir)
{
    const char *tree = innermost_worktree(x, dir);

    return tree && (!s->state || s->state->worktree_path.n == 0 || strcmp(tree, x->common) == 0 ||
                    slice_eq(s->state->worktree_path, slice_of(tree)));
}

bool entire_in_scope(const struct entire *x, const struct scope *scope,
                     const struct catalog_session *s)
{
    bool homeless = s->state && s->state->worktree_path.n;

    if (scope->all || is_of_tree(x, s, scope->project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (is_of_tree(x, s, scope->tree[i]))
            return true;
    /* A session whose work tree was deleted is shown everywhere in the repository. */
    for (size_t i = 0; homeless && i < x->trees; i++)
        homeless = !slice_eq(s->state->worktree_path, slice_of(x->tree[i]));
    return homeless && innermost_worktree(x, scope->project);
}

/* ---- refs ---- */

/* Makes the ref of a session, with its texts in the arena. Returns false if out of memory. */
static bool entire_ref(const struct entire *x, const struct catalog_session *s, struct arena *a,
                       struct session_ref *out)
{
    const char *path = arena_format(a, "%s/%.*s.json", x->states, SLICE_ARG(s->id));
    int64_t recent = catalog_activity(s);

    *out = (struct session_ref){
        .store = &x->base,
        .id = arena_copy(a, s->id),
        .folder = SLICE(""),
        .recent_ms = recent == TIME_NONE ? 0 : recent,
    };
    if (!path || !out->id.p)
        return false;
    out->path = slice_of(path);
    if (s->state) {
        out->file = s->state->file;
        return true;
    }

    /* A session without a state has no file; it is identified by its newest checkpoint. */
    const struct point *p = catalog_newest(s);

    if (!p && s->n)
        p = &s->point[s->n - 1];
    if (p) {
        memcpy(&out->file.ino, p->tree.id, sizeof out->file.ino);
        out->file.mtime_ns = p->time_ms == TIME_NONE ? 0 : time_ns_of_ms(p->time_ms);
    }
    return true;
}

enum err_code entire_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e)
{
    const struct entire *x = entire_of(st);
    AUTO_CATALOG *c = NULL;
    AUTO_ARENA a = { 0 };
    struct session_ref ref;

    TRY(entire_catalog(x, true, &c, e));
    for (size_t i = 0; i < c->n; i++) {
        if (!catalog_listed(&c->session[i]) || !entire_in_scope(x, scope, &c->session[i]))
            continue;
        arena_reset(&a);
        NEED(entire_ref(x, &c->session[i], &a, &ref));
        if (!fn(&ref, arg))
            break;
    }
    return ERR_OK;
}

enum err_code entire_unreadable(const struct store *st, const struct scope *scope,
                                unreadable_fn *fn, void *arg, struct err *e)
{
    const struct entire *x = entire_of(st);
    struct err trouble = { 0 };
    AUTO_CATALOG *c = NULL;

    (void)scope;
    TRY(entire_catalog(x, false, &c, e));
    if (c->problems.cut) {
        err_set(&trouble, ERR_UNSUPPORTED, x->base.path, "list sessions: %s", c->problems.cut);
        fn(&trouble, arg);
    }
    return ERR_OK;
}

/* ---- by name ---- */

enum err_code entire_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;

    if (!entire_session_id_ok(id))
        return err_set(e, ERR_USAGE, "", "find session: not an Entire session id");
    TRY(entire_session(st, id, &c, &s, e));
    if (!entire_in_scope(x, scope, s))
        return err_set(e, ERR_NOT_FOUND, "", "find session %.*s: not in this scope",
                       (int)(id.n > 64 ? 64 : id.n), id.p);
    NEED(entire_ref(x, s, a, ref));
    return ERR_OK;
}

enum err_code entire_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e)
{
    const struct entire *x = entire_of(st);
    size_t n = strlen(x->states);
    struct slice id = SLICE("");
    static const char suffix[] = ".json";
    size_t k = sizeof suffix - 1;

    if (path.n > n + 1 + k && memcmp(path.p, x->states, n) == 0 && path.p[n] == '/' &&
        memcmp(path.p + path.n - k, suffix, k) == 0)
        id = (struct slice){ path.p + n + 1, path.n - n - 1 - k };
    if (!entire_session_id_ok(id))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no session at this path");
    return entire_find(st, &(struct scope){ .all = true }, id, a, ref, e);
}

/* Describes sessions. Everything except the prompts of committed sessions is already in the
 * catalog. */

enum { TITLE_UNITS = 200 };

/* Replaces each run of blanks and line ends by one blank, as Entire itself does for a first prompt. */
static bool collapse_blanks(struct slice text, struct arena *a, struct slice *out)
{
    char *p = arena_alloc(a, text.n + 1);
    size_t n = 0;

    if (!p)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        bool blank =
            text.p[i] == ' ' || text.p[i] == '\n' || text.p[i] == '\t' || text.p[i] == '\r';

        if (!blank)
            p[n++] = text.p[i];
        else if (n && p[n - 1] != ' ')
            p[n++] = ' ';
    }
    while (n && p[n - 1] == ' ')
        n--;
    *out = utf8_utf16_prefix((struct slice){ p, n }, TITLE_UNITS);
    return true;
}

/* A committed session's first prompt is in its oldest checkpoint, and its last prompt in its newest
 * one. */
static bool committed_prompts(struct catalog *c, const struct catalog_session *s,
                              struct session_row *row)
{
    AUTO_BUF text = { 0 };
    bool ok = true;

    pthread_mutex_lock(&c->lock);
    if (row->first_prompt.n == 0 && point_prompts_read(c->repo, catalog_oldest(s), &text))
        ok =
            collapse_blanks(point_prompts_first(buf_slice(&text)), &row->arena, &row->first_prompt);
    if (ok && row->last_prompt.n == 0 && point_prompts_read(c->repo, catalog_newest(s), &text))
        ok = collapse_blanks(point_prompts_last(buf_slice(&text)), &row->arena, &row->last_prompt);
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* The text member at this offset in the newest point that has one. */
static struct slice newest_text(const struct catalog_session *s, size_t offset)
{
    for (size_t i = s->n; i-- > 0;) {
        struct slice text;

        memcpy(&text, (const char *)&s->point[i] + offset, sizeof text);
        if (text.n && s->point[i].source != POINT_SHADOW)
            return text;
    }
    return SLICE("");
}

static bool set_texts(const struct entire *x, const struct catalog_session *s,
                      struct session_row *row)
{
    const struct entire_state *state = s->state;
    struct arena *a = &row->arena;
    struct slice none = SLICE(""), branch = state ? state->branch : none,
                 agent = state ? state->agent : none, cwd = state ? state->worktree_path : none;

    if (branch.n == 0)
        branch = newest_text(s, offsetof(struct point, branch));
    if (agent.n == 0)
        agent = newest_text(s, offsetof(struct point, agent));
    if (cwd.n == 0)
        cwd = slice_of(x->worktree ? x->worktree : "");
    row->git_branch = arena_copy(a, branch);
    row->agent_name = arena_copy(a, agent);
    row->model = arena_copy(a, newest_text(s, offsetof(struct point, model)));
    row->cwd = arena_copy(a, cwd);
    row->first_prompt = arena_copy(a, state ? state->first_prompt : none);
    row->last_prompt = arena_copy(a, state ? state->last_prompt : none);
    return row->git_branch.p && row->agent_name.p && row->model.p && row->cwd.p &&
           row->first_prompt.p && row->last_prompt.p;
}

static enum err_code fill_row(const struct entire *x, struct catalog *c,
                              const struct catalog_session *s, struct session_row *row,
                              struct err *e)
{
    const struct point *newest = catalog_newest(s);
    const char *path;
    struct stat sb;

    NEED(entire_ref(x, s, &row->arena, &row->ref) && set_texts(x, s, row) &&
         committed_prompts(c, s, row));
    row->summary = row->first_prompt.n ? row->first_prompt : row->last_prompt;
    if (row->summary.n == 0) { /* without a prompt, the agent's name is used */
        const char *title = arena_format(&row->arena, "%.*s%ssession", SLICE_ARG(row->agent_name),
                                         row->agent_name.n ? " " : "");

        NEED(title);
        row->summary = slice_of(title);
    }

    row->modified_ms = session_modified_ms(&row->ref.file);
    row->created_ms = s->state ? s->state->started_ms : TIME_NONE;
    for (size_t i = 0; i < s->n && row->created_ms == TIME_NONE; i++)
        row->created_ms = s->point[i].time_ms;
    row->activity_ms = catalog_activity(s);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;

    /* The size of a session without a state is that of its newest transcript. */
    if (!s->state && newest && newest->transcript.n) {
        git_tree *tree = NULL;

        pthread_mutex_lock(&c->lock);
        if (git_tree_lookup(&tree, c->repo, &newest->tree) == 0)
            row->ref.file.size = repo_size_at(c->repo, tree, newest->transcript.p);
        git_tree_free(tree);
        pthread_mutex_unlock(&c->lock);
    }

    for (size_t i = s->n; i-- > 0 && row->restorable == 0;)
        row->restorable = (unsigned)s->point[i].files;

    /* A conversation of Claude Code can be forked wherever it is kept, and resumed at a message if
     * it is on this machine. Old checkpoints call every agent "Agent". */
    unsigned can = CAN_RESUME | (s->n ? CAN_REWIND : 0) | (s->state ? CAN_DELETE : 0);
    AUTO_ARENA a = { 0 };

    if (!entire_conversation_may_be_claude(entire_conversation_agent(s)))
        row->can = can;
    else if (entire_conversation_live_path(x, s, &a, &path) && stat(path, &sb) == 0 &&
             S_ISREG(sb.st_mode))
        row->can = can | CAN_FORK | CAN_RESUME_AT;
    else
        row->can = s->n ? can | CAN_FORK : can;

    row->undeletable = s->state ? NULL : entire_only_committed;
    row->phase = s->state ? entire_phase_name(s->state->phase) : NULL;
    return ERR_OK;
}

enum err_code entire_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;
    struct stat sb;
    /* A session without a state can disappear only if a ref is moved, which enumerate notices. */
    bool fresh = ref->file.dev && stat(ref->path.p, &sb) != 0;

    (void)scope;
    session_row_reset(row);
    TRY(entire_catalog(x, fresh, &c, e));
    s = catalog_find(c, ref->id);
    return s ? fill_row(x, c, s, row, e)
             : err_set(e, ERR_NOT_FOUND, ref->path.p, "read a session: it is gone");
}

/* The agent's own registry and the session's state record whether a turn is in progress. If the
 * agent dies, the state does not change, so it is not trusted after an hour (Entire's own doctor
 * calls such a session stuck). */

enum { BELIEVED_MS = 60 * 60 * 1000 };

enum err_code entire_live(const struct store *st, const struct session_ref *ref, struct live *out,
                          struct err *e)
{
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;
    AUTO_FREE char *config = NULL;
    struct live live = { .state = LIVE_QUIET };
    struct live_table table;

    TRY(entire_session(st, ref->id, &c, &s, e));
    if (config_dir_default(st->env, &config, NULL) == ERR_OK) {
        TRY(live_read(config, &table, e));
        live = live_of(&table, entire_agent_id(ref->id));
        live_fini(&table);
    }
    if (live.state == LIVE_QUIET && s->state && s->state->phase == PHASE_ACTIVE &&
        s->state->interaction_ms != TIME_NONE &&
        s->state->interaction_ms > st->env->now_ms - BELIEVED_MS)
        live = (struct live){ .state = LIVE_UNKNOWN,
                              .busy = true,
                              .why = "its state records a turn in progress" };
    *out = live;
    return ERR_OK;
}
