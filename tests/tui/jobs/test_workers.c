#include "tests/test.h"

#include <poll.h>
#include <semaphore.h>

#include "tui/jobs/jobs.h"

/* A store of `sessions` sessions without files. A described row waits at the gate while it is closed. */
struct fake {
    struct store base;
    size_t sessions;
    bool gated;
    sem_t arrived, open;
};

static struct fake *fake_of(const struct store *st)
{
    return (struct fake *)(uintptr_t)st;
}

static struct session_ref ref_of(const struct fake *f, size_t i, char id[16])
{
    snprintf(id, 16, "s%zu", i);
    return (struct session_ref){ .store = &f->base,
                                 .id = { id, strlen(id) },
                                 .path = { id, strlen(id) } };
}

static enum err_code fake_enumerate(const struct store *st, const struct scope *scope,
                                    session_ref_fn *fn, void *arg, struct err *e)
{
    const struct fake *f = fake_of(st);
    char id[16];

    (void)scope;
    for (size_t i = 0; i < f->sessions; i++) {
        struct session_ref ref = ref_of(f, i, id);

        if (!fn(&ref, arg))
            return ERR_OK;
    }
    return err_set(e, ERR_IO, "/folder", "a folder cannot be read");
}

static enum err_code fake_describe(const struct store *st, const struct scope *scope,
                                   const struct session_ref *ref, struct session_row *row,
                                   struct err *e)
{
    struct fake *f = fake_of(st);

    (void)scope;
    (void)e;
    if (f->gated) {
        sem_post(&f->arrived);
        sem_wait(&f->open);
    }
    row->ref = *ref;
    return slice_eq(ref->id, SLICE("s13")) ? ERR_NOT_FOUND : ERR_OK;
}

static enum err_code fake_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                               const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    (void)bytes;
    (void)cancel;
    (void)out;
    return err_set(e, ERR_NOT_FOUND, ref->path.p, "open transcript");
}

static const struct store_ops fake_ops = {
    .name = "fake",
    .enumerate = fake_enumerate,
    .describe = fake_describe,
    .tail = fake_tail,
};

static const struct store_env no_env = { .cwd = "/", .state_dir = "/nonexistent" };

struct bench {
    struct fake fake;
    struct store *store[1];
    struct settings settings;
    struct job_context context;
    struct workers *workers;
};

static void bench_open(struct bench *b, size_t sessions, int threads)
{
    memset(b, 0, sizeof *b);
    b->fake.base.ops = &fake_ops;
    b->fake.base.env = &no_env;
    b->fake.sessions = sessions;
    sem_init(&b->fake.arrived, 0, 0);
    sem_init(&b->fake.open, 0, 0);
    b->store[0] = &b->fake.base;
    jobs_init(&b->context, b->store, 1, &b->settings, "/");
    assert_int_equal(workers_new(&b->context, threads, &b->workers, NULL), ERR_OK);
}

static void bench_close(struct bench *b)
{
    workers_free(b->workers);
    jobs_fini(&b->context);
    sem_destroy(&b->fake.arrived);
    sem_destroy(&b->fake.open);
}

static struct msg next_answer(struct bench *b)
{
    struct pollfd fd = { .fd = workers_fd(b->workers), .events = POLLIN };
    struct msg m;

    while (!workers_pop(b->workers, &m))
        assert_int_equal(poll(&fd, 1, 30000), 1);
    return m;
}

static void ask(struct bench *b, enum effect_kind kind, unsigned generation, size_t sessions)
{
    struct effect fx = { .kind = kind, .generation = generation, .scope = SCOPE_ALL };
    char id[16];

    if (sessions) {
        fx.refs = ref_list_new();
        assert_non_null(fx.refs);
    }
    for (size_t i = 0; i < sessions; i++) {
        struct session_ref ref = ref_of(&b->fake, i, id);

        assert_true(ref_list_add(fx.refs, &ref, (uint32_t)i));
    }
    assert_true(workers_submit(b->workers, &fx));
}

TEST(a_listing_comes_in_batches_and_ends_once)
{
    struct bench b;
    struct msg m;
    size_t sessions = 0, batches = 0;

    bench_open(&b, 10000, 2);
    ask(&b, EFFECT_LIST, 7, 0);
    while ((m = next_answer(&b)).kind == MSG_SESSIONS) {
        assert_int_equal(m.generation, 7);
        sessions += m.u.sessions->n;
        batches++;
        msg_fini(&m);
    }
    assert_int_equal(m.kind, MSG_LISTED);
    assert_int_equal(sessions, 10000);
    assert_true(batches > 1);
    assert_int_equal(m.u.listed.problems->n, 1);
    msg_fini(&m);
    bench_close(&b);
}

TEST(every_row_of_a_long_request_is_answered_once)
{
    struct bench b;
    unsigned char seen[1000] = { 0 };
    size_t answered = 0;

    bench_open(&b, 0, 4);
    ask(&b, EFFECT_DESCRIBE, 1, 1000);
    while (answered < 1000) {
        struct msg m = next_answer(&b);

        assert_int_equal(m.kind, MSG_DESCRIBED);
        for (size_t i = 0; i < m.u.described->n; i++) {
            const struct described *d = &m.u.described->item[i];

            seen[d->entry]++;
            assert_true((d->row == NULL) == (d->entry == 13));
            assert_int_equal(d->code, d->entry == 13 ? ERR_NOT_FOUND : ERR_OK);
        }
        answered += m.u.described->n;
        msg_fini(&m);
    }
    for (size_t i = 0; i < sizeof seen; i++)
        assert_int_equal(seen[i], 1);
    bench_close(&b);
}

/* The one thread is in the first row of 1,000 when the preview is requested. */
TEST(a_preview_overtakes_the_background)
{
    struct bench b;

    bench_open(&b, 0, 1);
    b.fake.gated = true;
    ask(&b, EFFECT_DESCRIBE, 1, 1000);
    sem_wait(&b.fake.arrived);
    ask(&b, EFFECT_TAIL, 2, 1);
    for (int i = 0; i < 1000; i++)
        sem_post(&b.fake.open);
    struct msg first = next_answer(&b), second = next_answer(&b);

    assert_int_equal(first.kind, MSG_DESCRIBED);
    assert_int_equal(second.kind, MSG_FAILED);
    assert_int_equal(second.generation, 2);
    assert_int_equal(second.u.error.code, ERR_NOT_FOUND);
    msg_fini(&first);
    msg_fini(&second);
    bench_close(&b);
}

TEST(a_cancelled_request_is_not_started)
{
    struct bench b;

    bench_open(&b, 0, 1);
    b.fake.gated = true;
    ask(&b, EFFECT_DESCRIBE, 1, 1000);
    sem_wait(&b.fake.arrived);
    workers_cancel(b.workers, 1);
    ask(&b, EFFECT_DESCRIBE, 2, 1);
    for (int i = 0; i < 1000; i++)
        sem_post(&b.fake.open);
    struct msg begun = next_answer(&b), next = next_answer(&b);

    assert_int_equal(begun.generation, 1);
    assert_int_equal(next.generation, 2);
    msg_fini(&begun);
    msg_fini(&next);
    bench_close(&b);
}

TEST(a_newer_preview_replaces_the_older)
{
    struct bench b;

    bench_open(&b, 0, 1);
    b.fake.gated = true;
    ask(&b, EFFECT_DESCRIBE, 1, 1);
    sem_wait(&b.fake.arrived);
    ask(&b, EFFECT_TAIL, 2, 1);
    ask(&b, EFFECT_TAIL, 3, 1);
    sem_post(&b.fake.open);
    struct msg row = next_answer(&b), tail = next_answer(&b);

    assert_int_equal(row.generation, 1);
    assert_int_equal(tail.generation, 3);
    msg_fini(&row);
    msg_fini(&tail);
    bench_close(&b);
}

TEST(a_newer_rewind_does_not_replace_the_older)
{
    struct bench b;

    bench_open(&b, 0, 1);
    b.fake.gated = true;
    ask(&b, EFFECT_DESCRIBE, 1, 1);
    sem_wait(&b.fake.arrived);
    ask(&b, EFFECT_UNDO_REWIND, 2, 1);
    ask(&b, EFFECT_UNDO_REWIND, 3, 1);
    sem_post(&b.fake.open);
    for (unsigned generation = 1; generation <= 3; generation++) {
        struct msg m = next_answer(&b);

        assert_int_equal(m.generation, generation);
        msg_fini(&m);
    }
    bench_close(&b);
}

/* Under the address sanitizer this also proves that nothing leaks. */
TEST(quitting_with_open_requests_is_safe)
{
    struct bench b;

    bench_open(&b, 10000, 2);
    ask(&b, EFFECT_DESCRIBE, 1, 5000);
    ask(&b, EFFECT_LIST, 2, 0);
    ask(&b, EFFECT_TAIL, 3, 1);
    bench_close(&b);
}

TEST(a_resume_dirs_reply_names_where_to_continue)
{
    struct bench b;
    struct effect fx = { .kind = EFFECT_RESUME_DIRS, .generation = 5 };
    struct session_ref ref;
    char id[16];

    bench_open(&b, 1, 1);
    ref = ref_of(&b.fake, 0, id);
    fx.refs = ref_list_new();
    assert_non_null(fx.refs);
    assert_true(ref_list_add(fx.refs, &ref, 0));
    assert_int_equal(buf_add(&fx.text, SLICE("/nonexistent/project")), ERR_OK);
    assert_true(workers_submit(b.workers, &fx));
    struct msg m = next_answer(&b);

    assert_int_equal(m.kind, MSG_RESUME_DIRS);
    assert_true(m.u.place->missing);
    assert_string_equal(m.u.place->session_dir, "/nonexistent/project");
    assert_string_equal(m.u.place->present_dir, "/");
    assert_null(m.u.place->main_worktree);
    msg_fini(&m);
    bench_close(&b);
}
