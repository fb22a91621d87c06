#include "tests/test.h"

#include <glob.h>
#include <stdlib.h>

#include "store/api/host.h"
#include "store/api/store.h"
#include "store/fs/disk.h"
#include "store/host/host_session.h"
#include "store/proc/live.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/goat/goat.h"
#include "tests/sweeps/change_sweep.h"
#include "tests/sweeps/trial.h"

/* What a host writes (store/api/host.h), broken at every call. Rows are complete or absent once the next change has
 * begun. Nothing recovers a host's other writes: each is complete or absent, and can be repeated whatever a crash left.
 * */
struct host_case {
    const struct store_ops *ops;
    const char *place, *log; /* of the store, and of its session */
    void (*make)(struct trial_dir *y);
    enum trial_end (*act)(struct trial_dir *y);
    bool in_session;
};

#define ID "s-1"
#define NEW_ID "s-2"
#define ROW(n)                                                                                     \
    "{\"uuid\":\"00000000-0000-4000-8000-00000000000" n                                            \
    "\",\"role\":\"user\",\"content\":\"row " n "\",\"created_at\":\"2026-03-01T10:00:0" n "Z\"}"
#define EVENT(n)                                                                                   \
    "{\"data\":{\"message\":{\"role\":\"user\",\"content\":\"row " n                               \
    "\"}},\"ts\":\"2026-03-01T10:00:0" n ".000000Z\",\"event\":\"user_message\",\"uuid\":"         \
    "\"event00000" n "\"}"

static const struct host_case *case_of(const struct trial_dir *y)
{
    return y->arg;
}

/* ---- the store ---- */

struct visit {
    struct arena a;
    struct store *store;
    struct session_ref ref;
};

static enum err_code visit_open(struct trial_dir *y, struct visit *v, struct err *e)
{
    const struct scope everywhere = { .all = true };
    char path[4096];

    *v = (struct visit){ .store = NULL };
    enum err_code rc = case_of(y)->ops->open(
        &y->env, folder_path(&y->folder, case_of(y)->place, path), &v->store, e);

    return rc ? rc : case_of(y)->ops->find(v->store, &everywhere, SLICE(ID), &v->a, &v->ref, e);
}

static void visit_close(struct visit *v)
{
    store_close(v->store);
    arena_fini(&v->a);
}

typedef enum err_code visit_fn(struct trial_dir *y, struct visit *v, struct err *e);

static enum trial_end visiting(struct trial_dir *y, visit_fn *fn)
{
    struct visit v;
    struct err e = { 0 };
    enum err_code rc = visit_open(y, &v, &e);

    if (!rc)
        rc = fn(y, &v, &e);
    visit_close(&v);
    return trial_end_of(rc, &e);
}

/* ---- the four calls ---- */

static enum err_code create_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    const struct host_create req = { .id = SLICE(NEW_ID) };
    struct host_created made;

    (void)y;
    return host_create(v->store, &req, &v->a, &made, e);
}

/* The same through a session that stays open: what is in its queue is written when it is closed. */
static enum err_code append_in_session(const struct visit *v, const struct host_append *req,
                                       struct err *e)
{
    const struct host_session_options o = { .background = true, .interval_ms = 3600000 };
    struct host_session *s;
    struct host_appended done;
    struct arena a = { 0 };
    enum err_code rc = host_session_open(v->store, &v->ref, &o, &s, e);

    if (rc)
        return rc;
    rc = host_session_append(s, req, &a, &done, e);
    enum err_code closed = host_session_close(s, rc ? NULL : e);

    arena_fini(&a);
    return rc ? rc : closed;
}

static enum err_code append_rows(struct trial_dir *y, struct visit *v, size_t from, size_t n,
                                 struct err *e)
{
    const struct slice rows[] = { SLICE(ROW("2")), SLICE(ROW("3")), SLICE(ROW("4")) };
    const struct slice events[] = { SLICE(EVENT("2")), SLICE(EVENT("3")), SLICE(EVENT("4")) };
    const struct host_append req = { .row =
                                         (case_of(y)->ops == &exathena_ops ? events : rows) + from,
                                     .n = n };
    struct host_appended done;

    if (case_of(y)->in_session)
        return append_in_session(v, &req, e);
    return host_append(v->store, &v->ref, &req, &v->a, &done, e);
}

static enum err_code append_one_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    return append_rows(y, v, 0, 1, e);
}

static enum err_code append_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    return append_rows(y, v, 1, 2, e);
}

static enum err_code checkpoint_of(struct trial_dir *y, struct visit *v, const char *names[],
                                   size_t n, struct err *e)
{
    char path[2][4096];
    const char *file[2];
    struct host_checkpoint req = { .message = SLICE("m-1"), .file = file, .files = n };
    struct host_checkpointed done;

    for (size_t i = 0; i < n; i++)
        file[i] = folder_path(&y->folder, names[i], path[i]);
    return host_checkpoint(v->store, &v->ref, &req, &v->a, &done, e);
}

static enum err_code checkpoint_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    const char *names[] = { "work/there", "work/not-there" };

    return checkpoint_of(y, v, names, 2, e);
}

static enum err_code checkpoint_there_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    const char *names[] = { "work/there" };

    return checkpoint_of(y, v, names, 1, e);
}

static enum err_code checkpoint_not_there_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    const char *names[] = { "work/not-there" };

    return checkpoint_of(y, v, names, 1, e);
}

static enum err_code checkpoint_more_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    const char *names[] = { "work/more" };

    return checkpoint_of(y, v, names, 1, e);
}

static enum err_code set_in(struct trial_dir *y, struct visit *v, struct err *e)
{
    const struct host_setting settings[] = { { SLICE("title"), SLICE("another") },
                                             { SLICE("model"), SLICE("m") } };

    (void)y;
    return host_set(v->store, &v->ref, settings, 2, e);
}

#define ACT(name)                                                                                  \
    static enum trial_end name(struct trial_dir *y)                                                \
    {                                                                                              \
        return visiting(y, name##_in);                                                             \
    }
ACT(create)
ACT(append_one)
ACT(append)
ACT(checkpoint)
ACT(checkpoint_there)
ACT(checkpoint_not_there)
ACT(checkpoint_more)
ACT(set)

/* ---- before ---- */

/* A lock's file comes with the first who takes it, and stays. */
static void put_lock(struct trial_dir *y)
{
    char name[256];

    snprintf(name, sizeof name, "%s/" ID "/messages.jsonl.lock", case_of(y)->place);
    if (case_of(y)->ops == &goat_ops)
        folder_put(&y->folder, name, SLICE(""));
}

static void make_store(struct trial_dir *y)
{
    const struct host_create req = { .id = SLICE(ID) };
    const struct store_ops *ops = case_of(y)->ops;
    struct host_created made;
    char path[4096];
    struct store *store;
    struct arena a = { 0 };

    folder_put(&y->folder, "work/there", SLICE("present\n"));
    folder_put(&y->folder, "work/more", SLICE("more\n"));
    folder_path(&y->folder, case_of(y)->place, path);
    assert_int_equal(host_make(ops, &y->env, path, NULL), ERR_OK);
    assert_int_equal(ops->open(&y->env, path, &store, NULL), ERR_OK);
    assert_int_equal(host_create(store, &req, &a, &made, NULL), ERR_OK);
    store_close(store);
    arena_fini(&a);
    put_lock(y);
}

static void make_begun(struct trial_dir *y)
{
    make_store(y);
    assert_int_equal(append_one(y), END_DONE);
}

static void make_saved(struct trial_dir *y)
{
    make_begun(y);
    assert_int_equal(checkpoint(y), END_DONE);
}

/* Masks names of directories, random values, and values derived from a path (a SHA-256). */
static void blur(char *image)
{
    static const char *const drawn[][2] = { { "\"uuid\":\"", "\"" }, { "reprise-test-", "/" } };

    for (size_t f = 0; f < sizeof drawn / sizeof *drawn; f++)
        for (char *p = image; (p = strstr(p, drawn[f][0]));) {
            p += strlen(drawn[f][0]);
            memset(p, 'x', strcspn(p, drawn[f][1]));
        }
    for (char *p = image; *p; p++) {
        size_t n = strspn(p, "0123456789abcdef");

        if (n == 64)
            memset(p, 'h', n);
        p += n ? n - 1 : 0;
    }
}

/* ---- afterwards ---- */

static char *image_of(const struct trial_dir *y)
{
    char *image = trial_dir_image(y, false);

    blur(image);
    return image;
}

/* Checks that repeating the operation gives the same as without a fault. */
static bool can_be_made_again(const struct trial_dir *y, bool done)
{
    struct trial_dir again = *y, fresh;
    struct trial s = { .make = case_of(y)->make, .arg = y->arg };

    if (done || case_of(y)->act(&again) != END_DONE)
        return false;
    char *now = image_of(&again);

    trial_dir_make(&fresh, &s);
    bool made = case_of(y)->act(&fresh) == END_DONE;
    char *want = image_of(&fresh);
    bool same = made && strcmp(now, want) == 0;

    if (!same && getenv("REPRISE_SWEEP_TELL"))
        printf("made again:\n%s\nwanted:\n%s\n", now, want);
    trial_dir_remove(&fresh, &s);
    free(now);
    free(want);
    return same;
}

/* The empty log of a first append stays; blanks are what cannot be cut off without leases. */
static bool has_no_row(const struct trial_dir *y, bool done)
{
    size_t n;
    char *log = folder_get(&y->folder, case_of(y)->log, &n);
    bool none = !done && strspn(log, HAS_LEASES ? "" : " \n") == n;

    free(log);
    return none;
}

/* Without renameat2 a file has its temporary name beside its own for a moment, which the next write beside it
 * removes, and the next host that opens a session where hosts announce themselves. */
static enum trial_end recover(struct trial_dir *y)
{
    static const char *const places[] = { ID, NEW_ID, "sessions", "file-history/*/*", NULL };
    char path[4096], name[256];
    glob_t found;

    for (const char *const *beside = places; *beside; beside++) {
        snprintf(name, sizeof name, "%s/%s", case_of(y)->place, *beside);
        if (glob(folder_path(&y->folder, name, path), 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc; i++)
                disk_new_sweep(found.gl_pathv[i]);
        globfree(&found);
    }
    if (!env_state_path(&y->env, LIVE_HOSTS_DIR, path, NULL))
        live_sweep_hosts(path);
    return change_sweep_recover(y);
}

static void hold(const char *name, const struct host_case *c, bool leaves)
{
    bool first = c->act == append_one, appends = first || c->act == append;

    for (int no_tmpfile = 0; no_tmpfile < 2; no_tmpfile++) {
        struct trial s = { .name = name,
                           .make = c->make,
                           .act = c->act,
                           .recover = recover,
                           .tolerates = first     ? has_no_row
                                        : appends ? NULL
                                                  : can_be_made_again,
                           .blur = blur,
                           .arg = c,
                           .leaves = leaves,
                           .no_tmpfile = no_tmpfile,
                           .thorough = true,
                           .stride = 1 + no_tmpfile };

        trial_must_hold_once(&s);
    }
}

#define GOAT                                                                                       \
    .ops = &goat_ops, .place = "user/sessions", .log = "user/sessions/" ID "/messages.jsonl"
#define EXATHENA                                                                                   \
    .ops = &exathena_ops, .place = "user/.exathena", .log = "user/.exathena/sessions/" ID ".jsonl"

TEST(a_go_session_is_written_or_absent)
{
    hold("goat create", &(struct host_case){ GOAT, .make = make_begun, .act = create }, false);
    hold("goat append", &(struct host_case){ GOAT, .make = make_begun, .act = append }, false);
    hold("goat session",
         &(struct host_case){ GOAT, .make = make_begun, .act = append, .in_session = true }, false);
    /* The empty log itself stays, because another host may have it open by now. */
    hold("goat first append", &(struct host_case){ GOAT, .make = make_store, .act = append_one },
         true);
    hold("goat checkpoint", &(struct host_case){ GOAT, .make = make_begun, .act = checkpoint },
         false);
    hold("goat checkpoint, more",
         &(struct host_case){ GOAT, .make = make_saved, .act = checkpoint_more }, false);
    hold("goat set", &(struct host_case){ GOAT, .make = make_begun, .act = set }, false);
}

/* Saved files stay, because the library may count on them already. */
TEST(an_exathena_session_is_written_or_absent)
{
    hold("exathena create", &(struct host_case){ EXATHENA, .make = make_begun, .act = create },
         false);
    hold("exathena append", &(struct host_case){ EXATHENA, .make = make_begun, .act = append },
         false);
    hold("exathena session",
         &(struct host_case){ EXATHENA, .make = make_begun, .act = append, .in_session = true },
         false);
    hold("exathena checkpoint",
         &(struct host_case){ EXATHENA, .make = make_begun, .act = checkpoint_there }, true);
    hold("exathena checkpoint of nothing",
         &(struct host_case){ EXATHENA, .make = make_begun, .act = checkpoint_not_there }, true);
}
