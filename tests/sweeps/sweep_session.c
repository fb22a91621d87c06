#include "tests/test.h"

#include <dirent.h>
#include <time.h>

#include "store/journal/change.h"
#include "store/maintenance/doctor.h"
#include "store/maintenance/sweep.h"
#include "store/systems/claude/claude.h"
#include "tests/sweeps/change_sweep.h"

/* Forks, tombstones and cleanup by rule, of sessions of Claude Code, broken at every call. Known ids begin with zeros,
 * which sorts them before the random ones of a fork. */
#define STEM "00000000-0000-4000-8000-00000000000"
#define ID STEM "1"
#define SESSION "user/projects/-p/" ID ".jsonl"
#define PROMPT(n, parent)                                                                          \
    "{\"type\":\"user\",\"uuid\":\"" STEM n "\",\"parentUuid\":" parent ",\"cwd\":\"/srv/app\","   \
    "\"message\":{\"role\":\"user\",\"content\":\"say " n "\"},\"sessionId\":\"" ID "\","          \
    "\"timestamp\":\"2026-03-01T10:00:0" n ".000Z\"}\n"
#define SNAPSHOT                                                                                   \
    "{\"type\":\"file-history-snapshot\",\"messageId\":\"" STEM "2\",\"snapshot\":{\"messageId\":" \
    "\"" STEM "2\",\"trackedFileBackups\":{\"a.txt\":{\"backupFileName\":"                         \
    "\"0123456789abcdef@v1\",\"version\":1,\"backupTime\":\"2026-03-01T10:00:02.000Z\"}},"         \
    "\"timestamp\":\"2026-03-01T10:00:02.000Z\"},\"isSnapshotUpdate\":false}\n"

static void make_session(struct trial_dir *y)
{
    folder_put(&y->folder, SESSION,
               SLICE(PROMPT("2", "null") SNAPSHOT PROMPT("3", "\"" STEM "2\"")
                         PROMPT("4", "\"" STEM "3\"")));
    folder_put(&y->folder, "user/file-history/" ID "/0123456789abcdef@v1", SLICE("old\n"));
    folder_put(&y->folder, "user/projects/-p/" ID "/subagents/agent-a.jsonl",
               SLICE(PROMPT("5", "null")));
}

struct visit {
    struct store *store;
    struct session_ref ref;
    char path[4096];
};

static enum err_code visit(struct trial_dir *y, struct visit *v, struct err *e)
{
    folder_path(&y->folder, SESSION, v->path);
    enum err_code rc = claude_ops.open(&y->env, y->user, &v->store, e);

    if (!rc)
        v->ref = (struct session_ref){ .store = v->store,
                                       .id = SLICE(ID),
                                       .path = { v->path, strlen(v->path) },
                                       .folder = SLICE("-p") };
    return rc;
}

/* ---- fork ---- */

static enum trial_end fork_it(struct trial_dir *y)
{
    struct visit v = { .store = NULL };
    struct fork_request q = { .with_files = true };
    struct fork_result made = { .path = NULL };
    struct change *c = change_new("fork");
    struct err e = { 0 };
    enum err_code rc = c ? visit(y, &v, &e) : ERR_NOMEM;

    if (!rc)
        rc = claude_ops.fork(v.store, &v.ref, &q, c, &made, &e);
    if (!rc)
        rc = change_do(&y->env, c, &e);
    if (rc && made.path)
        change_discard_fork(&made);
    change_free(c);
    store_close(v.store);
    return trial_end_of(rc, &e);
}

/* Replaces every new id by the number of its first occurrence. */
static void number_ids(char *image)
{
    enum { LENGTH = 36, MOST = 64 };
    static char seen[MOST][LENGTH];
    size_t n = 0;

    for (char *p = image; strlen(p) >= LENGTH; p++) {
        size_t i = 0;

        if (strspn(p, "0123456789abcdef-") < LENGTH || p[8] != '-' || p[13] != '-' ||
            p[18] != '-' || p[23] != '-' || strncmp(p, "0000000", 7) == 0)
            continue;
        while (i < n && memcmp(seen[i], p, LENGTH) != 0)
            i++;
        if (i == n && n < MOST)
            memcpy(seen[n++], p, LENGTH);
        char name[LENGTH + 1];

        snprintf(name, sizeof name, "drawn-%030zu", i);
        memcpy(p, name, LENGTH);
    }
}

/* Runs the next fork, two days later: no file may be left that no change knows. */
static enum trial_end recover_fork(struct trial_dir *y)
{
    struct store_env later = y->env;
    struct change_log *log;
    struct err e = { 0 };
    enum err_code rc = change_log_open(&y->env, &log, &e);
    char path[4096];

    if (rc)
        return trial_end_of(rc, &e);
    change_log_close(log);
    later.now_ms = (int64_t)(time(NULL) + 2 * 24 * 3600) * 1000;
    change_sweep_forks(&later);
    DIR *dir = opendir(folder_path(&y->folder, "data/forks", path));
    const struct dirent *d;

    while (dir && (d = readdir(dir)))
        if (d->d_name[0] != '.') {
            closedir(dir);
            return END_FAILED;
        }
    if (dir)
        closedir(dir);
    return END_DONE;
}

/* ---- tombstone ---- */

static enum trial_end take_out(struct trial_dir *y)
{
    struct visit v = { .store = NULL };
    struct change *c = change_new("tombstone");
    struct err e = { 0 };
    enum err_code rc = c ? visit(y, &v, &e) : ERR_NOMEM;

    if (!rc)
        rc = claude_ops.tombstone(v.store, &v.ref, SLICE(STEM "3"), y->arg != NULL, c, &e);
    if (!rc)
        rc = change_do(&y->env, c, &e);
    change_free(c);
    store_close(v.store);
    return trial_end_of(rc, &e);
}

/* ---- cleanup by rule ---- */

static enum err_code clean(struct trial_dir *y, struct store *store, struct err *e)
{
    struct sweep_rule rule = { .scope.all = true, .before_ms = y->env.now_ms };
    struct change_log *log = NULL;
    struct trash_list moved = { 0 };
    struct sweep s = { 0 };
    enum err_code rc = sweep_find(&store, 1, &rule, &s, e);

    if (!rc && sweep_disk_usage(&s, &(struct disk_usage){ 0 }) == 0)
        rc = err_set(e, ERR_IO, y->user, "nothing is to go");
    if (!rc)
        rc = change_log_open(&y->env, &log, e);
    if (!rc)
        rc = sweep_move(log, &y->env, &s, &moved, e);
    if (!rc && moved.n == 0)
        rc = err_set(e, ERR_IO, y->user, "nothing went");
    change_log_close(log);
    trash_list_fini(&moved);
    sweep_fini(&s);
    return rc;
}

static enum trial_end clean_up(struct trial_dir *y)
{
    struct visit v = { .store = NULL };
    struct err e = { 0 };
    enum err_code rc = visit(y, &v, &e);

    if (!rc)
        rc = clean(y, v.store, &e);
    store_close(v.store);
    return trial_end_of(rc, &e);
}

/* ---- the repair of damaged lines ---- */

static void make_damaged(struct trial_dir *y)
{
    folder_put(&y->folder, SESSION,
               SLICE(PROMPT("2", "null") "\0\0\0\n\xef\xbb\xbf" PROMPT("3", "\"" STEM "2\"")
                         PROMPT("4", "\"" STEM "3\"")));
}

struct mending {
    size_t found, fixed;
    struct err *e;
};

static enum err_code note_mended(const struct finding *f, void *arg, struct err *e)
{
    struct mending *m = arg;

    (void)e;
    m->found += f->rewrites;
    m->fixed += f->rewrites && f->fixed;
    if (f->rewrites && !f->fixed)
        (void)err_set(m->e, ERR_IO, f->path, "%s", f->why);
    return ERR_OK;
}

/* A day later, because a log that was written just now is looked at twice. */
static enum trial_end mend(struct trial_dir *y)
{
    struct visit v = { .store = NULL };
    struct err e = { 0 };
    struct mending m = { .e = &e };
    struct store_env later = y->env;
    enum err_code rc = visit(y, &v, &e);

    later.now_ms = (int64_t)(time(NULL) + 24 * 3600) * 1000;
    const struct doctor d = { .env = &later, .scope.all = true, .only = &v.ref, .fix = true };

    if (!rc)
        rc = doctor_examine(&d, note_mended, &m, &e);
    store_close(v.store);
    if (!rc && (m.found == 0 || m.fixed < m.found))
        rc = ERR_IO;
    return trial_end_of(rc, &e);
}

static void hold(struct trial s)
{
    if (!s.make)
        s.make = make_session;
    s.undo = change_sweep_undo;
    s.thorough = true;
    s.stride = 2;
    trial_must_hold(&s);
}

TEST(a_fork_is_complete_or_absent)
{
    hold((struct trial){
        .name = "fork", .act = fork_it, .recover = recover_fork, .blur = number_ids });
}

TEST(a_fork_without_nameless_files_is_complete_or_absent)
{
    hold((struct trial){ .name = "fork without O_TMPFILE",
                         .act = fork_it,
                         .recover = recover_fork,
                         .blur = number_ids,
                         .no_tmpfile = true });
}

TEST(a_message_is_blanked_or_unchanged)
{
    hold((struct trial){ .name = "tombstone", .act = take_out, .recover = change_sweep_recover });
}

TEST(a_message_is_cut_out_or_unchanged)
{
    NEEDS("leases, without which nothing is cut out");
    hold((struct trial){
        .name = "tombstone, cut", .act = take_out, .recover = change_sweep_recover, .arg = "cut" });
}

TEST(a_session_is_cleaned_up_or_unchanged)
{
    hold((struct trial){ .name = "cleanup", .act = clean_up, .recover = change_sweep_recover });
}

TEST(damaged_lines_are_repaired_or_unchanged)
{
    NEEDS("leases, without which no log is rewritten");
    hold((struct trial){ .name = "repair of damaged lines",
                         .make = make_damaged,
                         .act = mend,
                         .recover = change_sweep_recover });
}
