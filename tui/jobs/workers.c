#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "tui/jobs/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/proc/process.h"

enum { THREADS_MAX = 8, SMALL_QUESTION = 2 };

struct job {
    struct job *next;
    struct effect question;
    size_t piece, pieces; /* the next one to be answered, and how many there are */
    unsigned running;     /* pieces being answered now */
    atomic_bool cancelled;
};

struct workers {
    struct job_context *context;
    int event[2]; /* a pipe with one byte while answers wait */
    pthread_t thread[THREADS_MAX];
    int threads;

    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t work;  /* there may be a piece to answer */
    bool stop;
    bool pending_change; /* a change is being made; changes are made in the order asked */
    /* a whole file is being read for a detail: one at a time, and after all other work */
    bool looking;
    bool long_running; /* a question that may take seconds is being answered */
    struct job *jobs;  /* in the order they came */
    size_t job_count;
    struct msg *answer; /* a queue: from first, n of them */
    size_t first, n, cap;
};

/* Smaller is more urgent. */
static int urgency(const struct job *j)
{
    switch (j->question.kind) {
    case EFFECT_CHANGE:
    case EFFECT_TERMINAL:
    case EFFECT_RESUME_DIRS:
    case EFFECT_TAIL:
    case EFFECT_READ:
    case EFFECT_COMPARE:
    case EFFECT_REWIND:
    case EFFECT_UNDO_REWIND: return 0;
    case EFFECT_LIST:
    case EFFECT_ESTIMATE_DELETE:
    case EFFECT_TRASH:
    case EFFECT_LOG:
    case EFFECT_BOARD:
    case EFFECT_SUBAGENTS:
    case EFFECT_CHECKPOINTS:
    case EFFECT_PREVIEW: return 1;
    case EFFECT_DESCRIBE: return j->pieces <= SMALL_QUESTION ? 1 : 3;
    case EFFECT_DISK_USAGE: return 4;
    case EFFECT_FULL_SCAN:
    case EFFECT_USAGE: return 5;
    default: return 2;
    }
}

static bool may_take_long(const struct job *j)
{
    return j->question.kind == EFFECT_LOAD || j->question.kind == EFFECT_SEARCH ||
           j->question.kind == EFFECT_SWEEP || j->question.kind == EFFECT_COMPARE_SESSIONS ||
           j->question.kind == EFFECT_TAKE || j->question.kind == EFFECT_TURN_FILES ||
           j->question.kind == EFFECT_USAGE_GROUPS || j->question.kind == EFFECT_BRANCHES ||
           j->question.kind == EFFECT_TURN_LINES || j->question.kind == EFFECT_CHECK_SESSION ||
           j->question.kind == EFFECT_CHECK_STORE;
}

static bool is_look(const struct job *j)
{
    return j->question.kind == EFFECT_FULL_SCAN || j->question.kind == EFFECT_USAGE;
}

static bool workers_is_change(const struct job *j)
{
    return j->question.kind == EFFECT_CHANGE || j->question.kind == EFFECT_REWIND ||
           j->question.kind == EFFECT_UNDO_REWIND;
}

/* ---- answers, with the lock held ---- */

/* Room for `more`, so that a failure can always be reported. */
static bool reserve(struct workers *w, size_t more)
{
    if (w->first > 0 && w->n + more > w->cap - w->first) {
        memmove(w->answer, w->answer + w->first, w->n * sizeof *w->answer);
        w->first = 0;
    }
    return array_reserve(w->answer, w->cap, w->first + w->n + more);
}

static void push_answer(struct workers *w, const struct msg *m)
{
    w->answer[w->first + w->n++] = *m;
    if (w->n == 1 && write(w->event[1], "", 1) != 1)
        return; /* it is full, and so it is readable */
}

static void post_from_worker(void *arg, const struct msg *m)
{
    struct workers *w = arg;

    pthread_mutex_lock(&w->lock);
    if (reserve(w, w->job_count + 1)) {
        push_answer(w, m);
    } else {
        struct msg failed = { .kind = MSG_FAILED, .generation = m->generation };
        struct msg lost = *m;

        msg_fini(&lost);
        err_nomem(&failed.u.error);
        if (w->n < w->cap - w->first)
            push_answer(w, &failed);
    }
    pthread_mutex_unlock(&w->lock);
}

/* ---- jobs, with the lock held ---- */

static struct job *most_urgent(struct workers *w)
{
    struct job *best = NULL;

    for (struct job *j = w->jobs; j; j = j->next) {
        if (j->piece == j->pieces || (may_take_long(j) && w->long_running) ||
            (workers_is_change(j) && w->pending_change) || (is_look(j) && w->looking) ||
            (w->stop && !workers_is_change(j)))
            continue;
        if (!best || urgency(j) < urgency(best))
            best = j;
    }
    return best;
}

static void remove_job(struct workers *w, struct job *j)
{
    struct job **at = &w->jobs;

    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    w->job_count--;
    effect_fini(&j->question);
    free(j);
}

/* Starts no further piece of the job; pieces under way may stop. */
static void cancel_job(struct workers *w, struct job *j)
{
    atomic_store(&j->cancelled, true);
    j->piece = j->pieces;
    if (j->running == 0)
        remove_job(w, j);
}

static void answer_piece(struct workers *w, struct job *j)
{
    struct reply reply = { .post = post_from_worker, .arg = w, .cancelled = &j->cancelled };
    size_t piece = j->piece++;
    bool is_long = may_take_long(j), change = workers_is_change(j), look = is_look(j);

    j->running++;
    w->long_running |= is_long;
    w->pending_change |= change;
    w->looking |= look;
    pthread_mutex_unlock(&w->lock);
    jobs_run(w->context, &j->question, piece, &reply);
    pthread_mutex_lock(&w->lock);
    if (is_long)
        w->long_running = false;
    if (change)
        w->pending_change = false;
    if (look)
        w->looking = false;
    if (is_long || change || look)
        pthread_cond_broadcast(&w->work);
    if (--j->running == 0 && j->piece == j->pieces)
        remove_job(w, j);
}

/* A requested change is made even if the person has left in the meantime. */
static void *work(void *arg)
{
    struct workers *w = arg;
    struct job *j;

    pthread_mutex_lock(&w->lock);
    while ((j = most_urgent(w)) || !w->stop) {
        if (j)
            answer_piece(w, j);
        else
            pthread_cond_wait(&w->work, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- the loop's side ---- */

enum err_code workers_new(struct job_context *context, int threads, struct workers **out,
                          struct err *e)
{
    struct workers *w = calloc(1, sizeof *w);

    NEED(w);
    w->context = context;
    w->event[0] = w->event[1] = -1;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    if (proc_pipe(w->event, true)) {
        enum err_code rc = err_sys(e, "", "start workers");

        workers_free(w);
        return rc;
    }
    while (w->threads < threads && w->threads < THREADS_MAX &&
           pthread_create(&w->thread[w->threads], NULL, work, w) == 0)
        w->threads++;
    if (w->threads == 0) {
        workers_free(w);
        return err_set(e, ERR_IO, "", "start workers: no thread could be started");
    }
    *out = w;
    return ERR_OK;
}

void workers_free(struct workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    for (struct job *j = w->jobs; j; j = j->next)
        if (!workers_is_change(j))
            atomic_store(&j->cancelled, true);
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->threads; i++)
        pthread_join(w->thread[i], NULL);
    while (w->jobs)
        remove_job(w, w->jobs);
    for (size_t i = 0; i < w->n; i++)
        msg_fini(&w->answer[w->first + i]);
    free(w->answer);
    if (w->event[0] >= 0) {
        close(w->event[0]);
        close(w->event[1]);
    }
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

int workers_fd(const struct workers *w)
{
    return w->event[0];
}

bool workers_submit(struct workers *w, struct effect *question)
{
    struct job *j = calloc(1, sizeof *j), *next;
    bool taken;

    if (j) {
        j->question = *question;
        j->pieces = jobs_pieces(question);
        atomic_init(&j->cancelled, false);
    }

    /* A view that asks again no longer wants the older answer. */
    pthread_mutex_lock(&w->lock);
    for (struct job *older = w->jobs; older; older = next) {
        next = older->next;
        if (older->question.kind == question->kind && question->kind != EFFECT_DESCRIBE &&
            older->question.requester == question->requester && !workers_is_change(older))
            cancel_job(w, older);
    }

    /* Each job needs room for the report of its failure; without it the job is refused. */
    taken = j && reserve(w, w->job_count + 2);
    if (taken) {
        struct job **at = &w->jobs;

        while (*at)
            at = &(*at)->next;
        *at = j;
        w->job_count++;
    }
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);

    if (!taken) {
        effect_fini(question);
        free(j);
    }
    return taken;
}

bool workers_busy(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    bool busy = w->jobs != NULL;

    pthread_mutex_unlock(&w->lock);
    return busy;
}

void workers_cancel(struct workers *w, unsigned generation)
{
    struct job *next;

    pthread_mutex_lock(&w->lock);
    for (struct job *j = w->jobs; j; j = next) {
        next = j->next;
        if (j->question.generation == generation && !workers_is_change(j))
            cancel_job(w, j);
    }
    pthread_mutex_unlock(&w->lock);
}

bool workers_pop(struct workers *w, struct msg *out)
{
    char byte;
    bool found;

    pthread_mutex_lock(&w->lock);
    found = w->n > 0;
    if (found) {
        *out = w->answer[w->first++];
        w->n--;
    }
    if (w->n == 0) {
        ssize_t n =
            read(w->event[0], &byte, 1); /* fails if nothing is readable, which does no harm */

        (void)n;
        w->first = 0;
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}
