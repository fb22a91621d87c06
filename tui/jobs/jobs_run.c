#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/export/export.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/query/resolve.h"
#include "tui/config/resume_command.h"
#include "tui/jobs/jobs.h"

enum {
    FIRST_BATCH = 256, /* sessions of a listing: enough for any screen */
    LATER_BATCH = 4096,
    READ_MAX = 8 << 20, /* bytes of rows in one answer */
};

void jobs_init(struct job_context *d, struct store *const store[], size_t stores,
               const struct settings *settings, const char *present_dir)
{
    *d = (struct job_context){
        .store = store,
        .stores = stores,
        .settings = settings,
        .present_dir = present_dir,
    };
    pthread_mutex_init(&d->lock, NULL);
}

void jobs_fini(struct job_context *d)
{
    pthread_mutex_destroy(&d->lock);
    arena_fini(&d->arena);
}

void jobs_interrupt(const struct job_context *d, bool on)
{
    for (size_t i = 0; i < d->stores; i++)
        if (d->store[i]->ops->interrupt)
            d->store[i]->ops->interrupt(d->store[i], on);
}

bool jobs_have_servers(const struct job_context *d)
{
    for (size_t i = 0; i < d->stores; i++)
        if (d->store[i]->ops->silent)
            return true;
    return false;
}

const char *jobs_silent_store(const struct job_context *d)
{
    for (size_t i = 0; i < d->stores; i++)
        if (d->store[i]->ops->silent && d->store[i]->ops->silent(d->store[i]))
            return d->store[i]->ops->name;
    return NULL;
}

enum err_code jobs_scope(struct job_context *d, enum scope_kind kind, struct scope *out,
                         struct err *e)
{
    enum err_code rc = ERR_OK;

    pthread_mutex_lock(&d->lock);
    if (!d->resolved[kind]) {
        if (kind == SCOPE_ALL)
            d->scope[kind].all = true;
        else
            rc = session_scope_of(d->settings->project.p,
                                  kind == SCOPE_WORKTREES && !d->no_worktrees, &d->arena,
                                  &d->scope[kind], e);
        d->scope[kind].all_kinds = d->settings->all_kinds;
        d->scope[kind].runs_agents = !d->settings->demo;
        d->scope[kind].leave_programmatic = d->settings->leave_programmatic;
        d->resolved[kind] = rc == ERR_OK;
    }
    *out = d->scope[kind];
    pthread_mutex_unlock(&d->lock);
    return rc;
}

void jobs_post(const struct reply *r, const struct effect *q, struct msg m)
{
    m.generation = q->generation;
    r->post(r->arg, &m);
}

/* ---- the listing ---- */

struct jobs_batch {
    const struct effect *question;
    const struct reply *reply;
    struct ref_list *batch;
    size_t batch_max;
    bool no_memory;
};

static void post_batch(struct jobs_batch *l)
{
    if (l->batch && l->batch->n) {
        jobs_post(l->reply, l->question,
                  (struct msg){ .kind = MSG_SESSIONS, .u.sessions = l->batch });
        l->batch = NULL;
        l->batch_max = LATER_BATCH;
    }
}

static bool jobs_run_collect_ref(const struct session_ref *ref, void *arg)
{
    struct jobs_batch *l = arg;

    if (atomic_load(l->reply->cancelled))
        return false;
    if (!l->batch)
        l->batch = ref_list_new();
    if (!l->batch || !ref_list_add(l->batch, ref, 0)) {
        l->no_memory = true;
        return false;
    }
    if (l->batch->n >= l->batch_max)
        post_batch(l);
    return true;
}

/* The problems of one store. */
struct trouble {
    const char *system;
    struct problem_list **list;
};

static void jobs_run_note_trouble(const struct err *e, void *arg)
{
    const struct trouble *t = arg;

    if (!*t->list)
        *t->list = problem_list_new();
    if (*t->list && !problem_list_add(*t->list, t->system, e))
        return; /* out of memory: the listing itself reports it */
}

static enum err_code answer_list(struct job_context *d, const struct effect *q,
                                 const struct reply *r, struct err *e)
{
    struct scope scope = { 0 };
    struct jobs_batch l = { .question = q, .reply = r, .batch_max = FIRST_BATCH };
    struct problem_list *problems = NULL;

    TRY(jobs_scope(d, q->scope, &scope, e));
    scope.streams = true;
    scope.cancel = r->cancelled;
    for (size_t i = 0; d->unopened && i < d->unopened->n; i++) {
        struct trouble t = { d->unopened->problem[i].system, &problems };

        jobs_run_note_trouble(&d->unopened->problem[i].err, &t);
    }
    for (size_t i = 0; i < d->stores && !l.no_memory; i++) {
        const struct store *st = d->store[i];
        struct trouble t = { st->ops->name, &problems };
        struct err why = { 0 };

        if (st->ops->remote) /* show what was found so far while waiting for a server */
            post_batch(&l);
        if (st->ops->enumerate(st, &scope, jobs_run_collect_ref, &l, &why) ||
            (st->ops->unreadable &&
             st->ops->unreadable(st, &scope, jobs_run_note_trouble, &t, &why)))
            jobs_run_note_trouble(&why, &t);
    }
    if (!l.no_memory && !atomic_load(r->cancelled)) {
        post_batch(&l);
        jobs_post(r, q,
                  (struct msg){ .kind = MSG_LISTED,
                                .u.listed = { problems, scope.trees ? scope.trees - 1 : 0 } });
        return ERR_OK;
    }
    ref_list_free(l.batch);
    problem_list_free(problems);
    return l.no_memory ? err_nomem(e) : ERR_OK;
}

/* ---- conversations ---- */

static enum err_code answer_transcript(const struct effect *q, const struct reply *r, struct err *e)
{
    AUTO_ARENA arena = { 0 };
    const struct session_ref *asked = &q->refs->ref[0];
    struct session_ref ref = *asked;
    struct transcript *t = NULL;

    /* The question is about the session, or about a sub-agent of it. */
    if (q->refs->agent.n && !asked->store->ops->subagent)
        return store_unsupported_error(asked, CAN_HAVE_AGENTS, "open sub-agent", e);
    if (q->refs->agent.n)
        TRY(asked->store->ops->subagent(asked->store, asked, q->refs->agent, &arena, &ref, e));
    if (q->kind == EFFECT_TAIL)
        TRY(ref.store->ops->tail(ref.store, &ref, q->bytes, r->cancelled, &t, e));
    else if (!id128_none(q->branch))
        TRY(ref.store->ops->load_branch(ref.store, &ref, q->branch, r->cancelled, &t, e));
    else
        TRY(ref.store->ops->load(ref.store, &ref, r->cancelled, &t, e));

    struct conversation *c = conversation_new(asked->store, t);

    NEED(c);
    jobs_post(r, q, (struct msg){ .kind = MSG_TRANSCRIPT, .u.conversation = c });
    return ERR_OK;
}

static enum err_code answer_read(const struct effect *q, const struct reply *r, struct err *e)
{
    struct passage_list *list = conversation_passages_new(q->n);
    size_t bytes = 0;

    NEED(list);
    while (list->n < q->n && bytes < READ_MAX && !atomic_load(r->cancelled)) {
        struct passage *p = &list->passage[list->n];

        const struct conversation *c = q->conversation;
        size_t i = q->first + list->n;

        *p = (struct passage){ .message = i };
        enum err_code rc = transcript_read(c->transcript, i, &p->bytes, &p->error);

        if (rc == ERR_OK)
            rc = c->store->ops->blocks(c->store, buf_slice(&p->bytes), &p->blocks, &p->error);
        if (rc && !p->error.code)
            err_set(&p->error, rc, c->transcript->path, "read the message");

        bytes += p->bytes.n;
        list->n++;
    }
    jobs_post(r, q, (struct msg){ .kind = MSG_PASSAGES, .u.passages = list });
    return ERR_OK;
}

/* A question and where its answers go. */
struct asking {
    const struct effect *question;
    const struct reply *reply;
};

static void post_found(struct search_hits *list, void *arg)
{
    const struct asking *a = arg;

    jobs_post(a->reply, a->question, (struct msg){ .kind = MSG_FOUND, .u.found = list });
}

static enum err_code answer_subagents(const struct effect *q, const struct reply *r, struct err *e)
{
    struct subagent_list *list = calloc(1, sizeof *list);

    NEED(list);
    enum err_code rc = store_describe_subagents(&q->refs->ref[0], r->cancelled, list, e);
    if (rc)
        free(list);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_SUBAGENTS, .u.subagents = list });
    return rc;
}

static enum err_code answer_branches(const struct effect *q, const struct reply *r, struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    struct branch_list *list = calloc(1, sizeof *list);
    enum err_code rc = list ? ERR_OK : err_nomem(e);

    if (rc == ERR_OK && ref->store->ops->branches)
        rc = ref->store->ops->branches(ref->store, ref, r->cancelled, list, e);
    if (rc)
        free(list);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_BRANCHES, .u.branches = list });
    return rc;
}

/* ---- where to resume ---- */

/* Checks that each session has a command, if that is printed; else that the one session can be resumed at all, because
 * the screen is left only then. */
static enum err_code check_commands(const struct job_context *d, const struct effect *q,
                                    const struct resume_dirs *p, struct err *e)
{
    const struct session_ref *ref = q->refs->ref;
    const char *dir = p->missing ? p->present_dir : p->session_dir;
    AUTO_ARENA a = { 0 };
    struct resume r;

    for (size_t i = 0; q->prints && i < q->refs->n; i++)
        TRY(resume_make(d->config, &ref[i], d->present_dir, &a, &r, e));
    if (q->prints)
        return ERR_OK;
    TRY(resume_make(d->config, ref, dir, &a, &r, e));
    TRY(resume_check_place(d->config, ref, buf_slice(&q->text), dir, &a, e));
    return resume_check(&r, d->path, e);
}

static enum err_code answer_resume_dirs(const struct job_context *d, const struct effect *q,
                                        const struct reply *r, struct err *e)
{
    struct resume_dirs *p = calloc(1, sizeof *p);
    struct arena a = { 0 };
    const char *dir = NULL;
    enum err_code rc =
        p ? resolve_resume_dir(&q->refs->ref[0], buf_slice(&q->text), &a, &dir, e) : err_nomem(e);

    if (!rc) {
        /* If the directory of the session is gone, the main work tree and places like it are
         * offered. */
        struct arena arena = { 0 };
        const char *main_tree = NULL;

        p->missing = !dir || !path_is_dir(dir);
        p->present_dir = strdup(d->present_dir);
        p->session_dir = dir ? strdup(dir) : NULL;
        if (!p->present_dir || (dir && !p->session_dir))
            rc = err_nomem(e);
        if (rc == ERR_OK && dir && p->missing)
            rc = worktree_main(dir, &arena, &main_tree, e);
        if (rc == ERR_OK && dir && p->missing && d->env)
            rc = project_find(d->store, d->stores, d->env, dir, &p->places, e);
        if (rc == ERR_OK && main_tree) {
            p->main_worktree = strdup(main_tree);
            rc = p->main_worktree ? ERR_OK : err_nomem(e);
        }
        arena_fini(&arena);
    }
    arena_fini(&a);
    if (!rc && d->config)
        rc = check_commands(d, q, p, e);
    if (rc && rc != ERR_NOMEM && !q->prints && p && p->places.n) {
        p->only_moved = true;
        rc = ERR_OK;
    }
    if (rc)
        msg_resume_dirs_free(p);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_RESUME_DIRS, .u.place = p });
    return rc;
}

/* ---- changes ---- */

/* The answer reports success or failure; the question itself fails only if memory for the answer
 * cannot be allocated. */
static enum err_code answer_change(struct job_context *d, const struct effect *q,
                                   const struct reply *r, struct err *e)
{
    struct change_result *c = change_result_new(q->request);
    struct scope scope = { 0 };
    const struct shown shown = {
        .store = d->store, .n = d->stores, .scope = &scope, .home = d->env ? d->env->home : NULL
    };

    NEED(c);
    if (!d->env)
        err_set(&c->error, ERR_UNSUPPORTED, "", "nothing can be changed here");
    else if (jobs_scope(d, q->scope, &scope, &c->error) == ERR_OK &&
             (q->request == CHANGE_KEEP || q->request == CHANGE_PUT_BACK
                  ? jobs_keep(d, q, c, &c->error)
              : q->request == CHANGE_CONTINUE_IN || q->request == CHANGE_MOVE ||
                      q->request == CHANGE_BUNDLE
                  ? jobs_carry(d, q, c, &c->error)
              : q->request == CHANGE_PRUNE ? jobs_prune(d, q, c, &c->error)
              : jobs_is_by_agent(q)        ? jobs_change_by_agent(d, q, c, &c->error)
                                    : jobs_change(d->env, &shown, q, c, &c->error)) == ERR_OK)
        c->error = (struct err){ 0 };
    jobs_post(r, q, (struct msg){ .kind = MSG_CHANGED, .u.changed = c });
    return ERR_OK;
}

static enum err_code answer_sweep(struct job_context *d, const struct effect *q,
                                  const struct reply *r, struct err *e)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);
    struct scope scope = { 0 };
    enum err_code rc = sweep ? jobs_scope(d, q->scope, &scope, e) : err_nomem(e);

    if (rc == ERR_OK)
        rc = jobs_sweep(d->store, d->stores, d->config, &scope, q, r->cancelled, sweep, e);
    if (rc)
        free(sweep);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_SWEEP, .u.sweep = sweep });
    return rc;
}

static enum err_code answer_terminal(const struct job_context *d, const struct effect *q,
                                     const struct reply *r, struct err *e)
{
    struct msg m = { .kind = MSG_TERMINAL };
    struct agent_terminal *t = &m.u.terminal;

    terminal_find(d->env, (pid_t)q->n, t);
    if (q->shows) {
        TRY(terminal_show(d->env, t, e));
        t->shown = true;
    }
    jobs_post(r, q, m);
    return ERR_OK;
}

static enum err_code answer_compare_sessions(const struct effect *q, const struct reply *r,
                                             struct err *e)
{
    struct compared_sessions *c = calloc(1, sizeof *c);
    enum err_code rc =
        c ? compare_sessions(&q->refs->ref[0], &q->refs->ref[1], c, e) : err_nomem(e);

    if (rc)
        free(c);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_COMPARED, .u.compared = c });
    return rc;
}

static void post_bisect_output(void *arg, struct slice text)
{
    const struct asking *a = arg;
    struct msg m = { .kind = MSG_BISECT_OUTPUT };

    if (buf_add(&m.u.text, text) == ERR_OK)
        jobs_post(a->reply, a->question, m);
}

static enum err_code answer_bisect(const struct job_context *d, const struct effect *q,
                                   const struct reply *r, struct err *e)
{
    struct asking asking = { q, r };
    struct msg m = { .kind = MSG_BISECTED };
    enum err_code rc = d->bisect(
        d->bisect_arg, q, &(struct bisect_watch){ post_bisect_output, &asking, r->cancelled },
        &m.u.text, e);

    if (rc)
        buf_fini(&m.u.text);
    else
        jobs_post(r, q, m);
    return rc;
}

size_t jobs_pieces(const struct effect *q)
{
    if (q->kind == EFFECT_FULL_SCAN && q->refs->n > 0)
        return q->refs->n;
    if (q->kind != EFFECT_DESCRIBE || q->refs->n == 0)
        return 1;
    return (q->refs->n + DESCRIBE_PIECE - 1) / DESCRIBE_PIECE;
}

void jobs_run(struct job_context *d, const struct effect *q, size_t piece, const struct reply *r)
{
    struct err e = { 0 };
    enum err_code rc = ERR_OK;

    switch (q->kind) {
    case EFFECT_LIST: rc = answer_list(d, q, r, &e); break;
    case EFFECT_DESCRIBE: rc = jobs_describe(d, q, piece, r, &e); break;
    case EFFECT_DISK_USAGE: rc = jobs_disk_usage(q, r, &e); break;
    case EFFECT_FULL_SCAN: rc = jobs_full_scan(d, q, piece, r, &e); break;
    case EFFECT_TAIL:
    case EFFECT_LOAD: rc = answer_transcript(q, r, &e); break;
    case EFFECT_READ: rc = answer_read(q, r, &e); break;
    case EFFECT_SEARCH: {
        struct asking asking = { q, r };

        rc = jobs_search_transcript(q->conversation, buf_slice(&q->text), r->cancelled, post_found,
                                    &asking, &e);
    } break;
    case EFFECT_BLAME: rc = jobs_blame(d, q, r, &e); break;
    case EFFECT_BISECT: rc = answer_bisect(d, q, r, &e); break;
    case EFFECT_GREP: rc = jobs_grep(q, r, &e); break;
    case EFFECT_USAGE: rc = jobs_usage(d, q, r, &e); break;
    case EFFECT_SUBAGENTS: rc = answer_subagents(q, r, &e); break;
    case EFFECT_BRANCHES: rc = answer_branches(q, r, &e); break;
    case EFFECT_TERMINAL: rc = answer_terminal(d, q, r, &e); break;
    case EFFECT_RESUME_DIRS: rc = answer_resume_dirs(d, q, r, &e); break;
    case EFFECT_CHECKPOINTS:
    case EFFECT_TURN_LINES:
    case EFFECT_PREVIEW:
    case EFFECT_TAKE:
    case EFFECT_TURN_FILES:
    case EFFECT_TURN_FILE:
    case EFFECT_COMPARE:
    case EFFECT_REWIND:
    case EFFECT_UNDO_REWIND: rc = jobs_run_rewind(d, q, r, &e); break;
    case EFFECT_ESTIMATE_DELETE: {
        struct msg m = { .kind = MSG_DELETE_ESTIMATE };

        rc = jobs_estimate_delete(q, r->cancelled, &m.u.usage, &e);

        if (rc == ERR_OK)
            jobs_post(r, q, m);
    } break;
    case EFFECT_SWEEP: rc = answer_sweep(d, q, r, &e); break;
    case EFFECT_COMPARE_SESSIONS: rc = answer_compare_sessions(q, r, &e); break;
    case EFFECT_USAGE_GROUPS: rc = jobs_usage_groups(d, q, r, &e); break;
    case EFFECT_BOARD: rc = jobs_board(d, q, r, &e); break;
    case EFFECT_LOG: rc = jobs_log(d, q, r, &e); break;
    case EFFECT_TRASH: rc = jobs_trash(d, q, r, &e); break;
    case EFFECT_CHECK_SESSION: rc = jobs_check_session(d, q, r, &e); break;
    case EFFECT_CHECK_STORE: rc = jobs_check_store(d, q, r, &e); break;
    case EFFECT_EXPORT: rc = jobs_export(q, r, &e); break;
    case EFFECT_CHANGE: rc = answer_change(d, q, r, &e); break;
    default: break; /* the loop carries those out itself */
    }
    if (rc && !atomic_load(r->cancelled)) {
        e.code = rc;
        jobs_post(r, q, (struct msg){ .kind = MSG_FAILED, .u.error = e });
    }
}

/* Writes a session to a file, or several into a directory. */

/* If a session cannot be written, the others still are. */
enum err_code jobs_export(const struct effect *q, const struct reply *r, struct err *e)
{
    struct export_request request = q->export;
    struct msg done = { .kind = MSG_EXPORTED };
    enum err_code failure = ERR_OK;

    request.cancel = r->cancelled;
    for (size_t i = 0; i < q->refs->n && failure != ERR_CANCELLED; i++) {
        struct export_summary sum;
        struct err why = { 0 };
        char path[EXPORT_PATH];
        enum err_code rc =
            q->refs->n == 1
                ? export_file(&q->refs->ref[0], &request, q->text.p, q->replaces, &sum, &why)
                : export_into(&q->refs->ref[i], &request, q->text.p, false, path, &sum, &why);

        done.u.exported.files += rc == ERR_OK;
        done.u.exported.failed += rc != ERR_OK;
        done.u.exported.bytes += rc ? 0 : (int64_t)sum.bytes;
        done.u.exported.secrets += rc ? 0 : redact_counts_total(&sum.redacted);
        done.u.exported.unread += rc ? 0 : sum.unread;
        if (rc && (!failure || rc == ERR_CANCELLED)) {
            failure = rc;
            *e = why;
        }
        export_summary_fini(&sum);
    }

    /* If some files were written, the failures are part of the answer. */
    if (failure && (failure == ERR_CANCELLED || done.u.exported.files == 0))
        return failure;
    jobs_post(r, q, done);
    return ERR_OK;
}
