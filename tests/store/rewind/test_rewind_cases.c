/* The fault cases of a rewind and where each is tested: here if no file is named, or in test_rewind_kernel (rk).
 *
 *    1 no space at each write            sweep_rewind "no space", full_disk, whole_rewind
 *    2 quota, i/o error, read-only       sweep_rewind; rk a_read_only_file_system_is_reported_before_anything_is_copied
 *    3 short write                       sweep_rewind "short write": succeeds all the same
 *    4 interrupted call                  sweep_rewind "interrupted"
 *    5 fsync fails                       sweep_rewind "fsync fails afterwards"
 *    6 rename fails after INTENT         sweep_rewind "another file system", "busy"
 *    7 killed at each call               sweep_rewind, whole_rewind
 *    8 power cut at each call            sweep_rewind, whole_rewind
 *    9 crash in the recovery             sweep_rewind "crashes in the recovery"
 *   10 no memory                         sweep_rewind "no memory"
 *   11 two at once                       the_second_rewind_reports_the_lock_holder
 *   12 saved after the dry run           test_rewind a_file_saved_after_the_preview_stops_everything
 *   13 saved during apply                user_saves
 *   14 something else is at the path     test_preview an_obstructed_path_is_refused;
 *                                       an_obstruction_after_the_preview_stops_the_rewind
 *   15 hard links                        test_preview; an_obstruction_after_the_preview_stops_the_rewind
 *   16 a parent becomes a link           race_swap, test_beneath; a_parent_replaced_by_a_link_stops_the_rewind
 *   17 unclean paths                     test_pathrule; hostile_names_are_refused_and_the_rest_is_restored
 *   18 .git and trusted files            test_pathrule; hostile_names_are_refused_and_the_rest_is_restored
 *   19 backups                           test_preview; a_changed_backup_stops_the_rewind
 *   20 a file created by a person        a_removed_file_is_in_the_undo_record
 *   21 ids that are paths                contract an_id_that_is_no_plain_name_is_refused;
 *                                        record_names_cannot_escape_the_log
 *   33 the agent is live                 reported by the commands: tests/live*
 *   37 fatal and other signals           a_fatal_signal_leaves_the_old_or_the_new_state, constant_signals_do_no_harm;
 *                                       screen/terminated.sh; at each call like 7
 *   38 extreme times                     extreme_times_are_restored
 *   39 no space for the undo record      full_disk
 *   40 a dry run writes nothing          rk a_dry_run_works_on_a_read_only_file_system
 *   each call, each allocation           test_rewind_calls: apply, undo and recovery
 *   a person at each moment             test_rewind_syscalls, test_rewind_resumed
 *   old kernels                          rk without_openat2_..., without_renameat2_...
 *   owner, attributes, ACL               rk an_owner_and_an_acl_are_kept, attributes_that_cannot_be_kept_... */
#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/rewind/rewind_case.h"
#include "tests/support/coverage.h"

/* ---- 11 ---- */

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(the_second_rewind_reports_the_lock_holder)
{
    struct rewind_case *p = *state;
    char lock[4096];

    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    folder_put(&p->folder, "state/rewinds/lock", SLICE("4711\n"));
    assert_int_equal(chmod(folder_path(&p->folder, "state/rewinds", lock), 0700), 0);
    int fd = open(folder_path(&p->folder, "state/rewinds/lock", lock), O_RDWR | O_CLOEXEC);

    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(apply(p), ERR_LOCKED);
    assert_non_null(strstr(p->e.text, "4711"));
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));

    close(fd); /* as if its holder had died */
    assert_int_equal(apply(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
}

/* ---- 14, 15, 16: changes between preview and apply ---- */

static void to_link(const char *f)
{
    assert_int_equal(unlink(f), 0);
    assert_int_equal(symlink("g", f), 0);
}

static void to_directory(const char *f)
{
    assert_int_equal(unlink(f), 0);
    assert_int_equal(mkdir(f, 0700), 0);
}

static void to_fifo(const char *f)
{
    assert_int_equal(unlink(f), 0);
    assert_int_equal(mkfifo(f, 0600), 0);
}

static void to_socket(const char *f)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(unlink(f), 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%.100s", f);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    close(fd);
}

static void to_two_names(const char *f)
{
    char other[4200];

    snprintf(other, sizeof other, "%s.other", f);
    assert_int_equal(link(f, other), 0);
}

static void to_nothing(const char *f)
{
    assert_int_equal(unlink(f), 0);
}

static void to_equal_size(const char *f)
{
    int fd = open(f, O_WRONLY | O_CLOEXEC);

    assert_int_equal(pwrite(fd, "PRESENT\n", 8, 0), 8);
    close(fd);
}

static void to_equal_file(const char *f)
{
    char other[4200];
    int fd;

    snprintf(other, sizeof other, "%s.new", f);
    fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "other  \n", 8), 8);
    close(fd);
    assert_int_equal(rename(other, f), 0);
}

CASE(an_obstruction_after_the_preview_stops_the_rewind)
{
    static void (*const change[])(const char *) = { to_link,       to_directory, to_fifo,
                                                    to_socket,     to_two_names, to_nothing,
                                                    to_equal_size, to_equal_file };

    for (size_t i = 0; i < sizeof change / sizeof *change; i++)
        for (int absent = 0; absent < 2; absent++) {
            struct rewind_case *q;

            assert_int_equal(set_up((void **)&q), 0);
            want(q, q->f, absent ? NULL : "old\n");
            assert_int_equal(look(q), ERR_OK);
            change[i](q->f);
            char *before = folder_image(&q->folder, "ws");

            assert_int_equal(apply(q), ERR_STALE);
            assert_non_null(strstr(q->e.path, "ws/d/f"));
            char *after = folder_image(&q->folder, "ws");

            assert_string_equal(before, after);
            assert_true(nothing_of_ours_is_left(q));
            free(before);
            free(after);
            tear_down((void **)&q);
        }
}

CASE(a_new_file_after_the_preview_stops_the_rewind)
{
    struct rewind_case *p = *state;

    want_in(p, "ws/d/new", "old\n");
    assert_int_equal(look(p), ERR_OK);
    folder_put(&p->folder, "ws/d/new", SLICE("mine\n"));
    assert_int_equal(apply(p), ERR_STALE);
    assert_true(folder_is(&p->folder, "ws/d/new", "mine\n"));
    assert_true(nothing_of_ours_is_left(p));
}

CASE(a_device_at_the_path_is_refused)
{
    struct rewind_case *p = *state;

    if (unlink(p->f) || mknod(p->f, S_IFCHR | 0600, makedev(1, 5)))
        skip();
    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(p->preview.entry[0].rule, REWIND_RULE_TYPE);
}

CASE(a_parent_replaced_by_a_link_stops_the_rewind)
{
    struct rewind_case *p = *state;
    char d[4096], moved[4096];

    folder_put(&p->folder, "outside/f", SLICE("present\n"));
    want(p, p->f, "old\n");
    want_in(p, "ws/d/deep/new", "new\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(
        rename(folder_path(&p->folder, "ws/d", d), folder_path(&p->folder, "moved", moved)), 0);
    assert_int_equal(symlink("../outside", d), 0);
    char *before = folder_image(&p->folder, "outside");

    assert_int_equal(apply(p), ERR_UNSAFE);
    char *after = folder_image(&p->folder, "outside");

    assert_string_equal(before, after);
    assert_true(folder_is(&p->folder, "moved/f", "present\n"));
    assert_true(nothing_of_ours_is_left(p));
    free(before);
    free(after);
}

/* ---- 17, 18 ---- */

CASE(hostile_names_are_refused_and_the_rest_is_restored)
{
    struct rewind_case *p = *state;
    static const char *const below[] = {
        "../x", "a//b",        "a/",           "./a",     "a/../../x", "-rf",
        "a\nb", ".git/config", ".GIT/hooks/x", "git~1/x", "",
    };
    size_t n = sizeof below / sizeof *below;
    char path[5100];

    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", p->root, below[i]);
        want(p, path, "x\n");
    }
    memset(path, 'a', sizeof path);
    memcpy(path, p->root, strlen(p->root));
    path[strlen(p->root)] = '/';
    path[sizeof path - 1] = '\0';
    want(p, path, "x\n");
    want(p, "relative", "x\n");
    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    for (size_t i = 0; i < n + 2; i++) {
        assert_int_equal(p->preview.entry[i].rule, REWIND_RULE_PATH);
        assert_non_null(p->preview.entry[i].why);
    }
    assert_int_equal(apply(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
    assert_false(folder_has(&p->folder, "x"));
    assert_false(folder_has(&p->folder, "ws/.git"));
}

/* ---- 19 ---- */

CASE(a_changed_backup_stops_the_rewind)
{
    enum { GONE, SHORT, OTHER, LINKED, WAYS };
    char copy[4096];

    for (int way = 0; way < WAYS; way++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        folder_put(&p->folder, "saved/f", SLICE("old\n"));
        struct rewind_target t = { .path = p->f,
                                   .want = REWIND_BYTES,
                                   .source.file = folder_path(&p->folder, "saved/f", copy) };

        assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
        assert_int_equal(look(p), ERR_OK);
        if (way == GONE || way == LINKED)
            assert_int_equal(unlink(copy), 0);
        if (way == LINKED)
            assert_int_equal(symlink("/etc/passwd", copy), 0);
        if (way == SHORT)
            assert_int_equal(truncate(copy, 1), 0);
        if (way == OTHER)
            folder_put(&p->folder, "saved/f", SLICE("OLD\n"));
        assert_int_not_equal(apply(p), ERR_OK);
        assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
        assert_true(nothing_of_ours_is_left(p));
        tear_down((void **)&p);
    }
}

/* A damaged record is reported, and nothing is restored from it. */
CASE(a_truncated_undo_copy_is_refused)
{
    struct rewind_case *p = *state;
    char kept[4096], name[128];

    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    snprintf(name, sizeof name, "state/rewinds/%s/kept", p->result.undo);
    assert_int_equal(truncate(folder_path(&p->folder, name, kept), 3), 0);
    forget(p);
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &p->plan, NULL), ERR_OK);
    assert_int_equal(look(p), ERR_OK);
    if (!HAS_LEASES) { /* the replaced file itself is in the record then, and comes back */
        assert_int_equal(apply(p), ERR_OK);
        assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
        return;
    }
    assert_int_equal(p->preview.entry[0].rule, REWIND_RULE_SOURCE);
}

/* ---- 20 ---- */

CASE(a_removed_file_is_in_the_undo_record)
{
    struct rewind_case *p = *state;

    want(p, p->f, NULL);
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(p->preview.entry[0].action, REWIND_DELETE);
    assert_int_equal(p->preview.entry[0].seen.size, 8);
    assert_int_equal(p->preview.deletions, 1);
    assert_int_equal(apply(p), ERR_OK);
    assert_false(folder_has(&p->folder, "ws/d/f"));
    assert_int_equal(undo(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
}

/* ---- 21 ---- */

CASE(record_names_cannot_escape_the_log)
{
    struct rewind_case *p = *state;
    static const char *const names[] = { "..", ".", "", "../rewinds", "/", "0/../0", "%2e%2e" };
    struct rewind_plan plan;
    char id[64], around[4200];

    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    memcpy(id, p->result.undo, sizeof p->result.undo);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(rewind_undo_plan(&p->env, names[i], &plan, NULL), ERR_NOT_FOUND);
    snprintf(around, sizeof around, "../rewinds/%s", id);
    assert_int_equal(rewind_undo_plan(&p->env, around, &plan, NULL), ERR_NOT_FOUND);
    assert_int_equal(rewind_undo_plan(&p->env, id, &plan, NULL), ERR_OK);
    rewind_plan_fini(&plan);
}

/* ---- 37 ---- */

struct signalled {
    int signal;
    size_t at; /* the step at which it arrives */
};

static void strike(size_t done, size_t steps, void *arg)
{
    const struct signalled *s = arg;

    (void)steps;
    if (done == s->at) {
        coverage_keep();
        raise(s->signal);
    }
}

/* Runs in a child, which the signal ends as it would end the command. Returns true if it did. */
static bool ended_by(struct rewind_case *p, struct signalled *s)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        signal(s->signal, SIG_DFL);
        p->preview.options.progress = strike;
        p->preview.options.progress_arg = s;
        enum err_code rc = apply(p);

        coverage_keep();
        _exit(rc != ERR_OK);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

CASE(a_fatal_signal_leaves_the_old_or_the_new_state)
{
    static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGPIPE };

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        for (size_t at = 1; at <= 4; at++) {
            struct rewind_case *p;
            struct signalled s = { signals[i], at };
            size_t recovered;

            assert_int_equal(set_up((void **)&p), 0);
            want(p, p->f, "old\n");
            want_in(p, "ws/d/g", NULL);
            assert_int_equal(look(p), ERR_OK);
            char *before = folder_image(&p->folder, "ws");

            assert_true(ended_by(p, &s));
            assert_int_equal(rewind_recover(&p->env, &recovered, NULL), ERR_OK);
            assert_int_equal(recovered, 1);
            char *after = folder_image(&p->folder, "ws");
            bool new =
                folder_is(&p->folder, "ws/d/f", "old\n") && !folder_has(&p->folder, "ws/d/g");

            assert_true(strcmp(before, after) == 0 || (new && !strstr(after, ".reprise")));
            free(before);
            free(after);
            tear_down((void **)&p);
        }
}

/* Redo undoes the undo, which is the newest record. */
static enum err_code redo(struct rewind_case *p)
{
    char id[40];

    memcpy(id, p->result.undo, sizeof id);
    forget(p);
    enum err_code rc = rewind_undo_plan(&p->env, id, &p->plan, &p->e);

    if (!rc)
        rc = look(p);
    return rc ? rc : apply(p);
}

static void heard(int signal)
{
    (void)signal;
}

/* Calls are interrupted constantly, as while a window is resized; the rewind succeeds all the same. */
CASE(constant_signals_do_no_harm)
{
    struct rewind_case *p = *state;
    struct sigaction on = { .sa_handler = heard }, before; /* without SA_RESTART */
    const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };

    sigemptyset(&on.sa_mask);
    want(p, p->f, "old\n");
    want_in(p, "ws/d/g", NULL);
    want_in(p, "ws/new/deep/h", "new\n");
    assert_int_equal(sigaction(SIGALRM, &on, &before), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        enum err_code rc = i ? redo(p) : look(p);

        if (!rc && i == 0)
            rc = apply(p);
        assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
        if (rc)
            fail_msg("round %d: %s: %s", i, p->e.path, p->e.text);
        assert_true(folder_is(&p->folder, "ws/d/f", i % 2 ? "present\n" : "old\n"));
        assert_true(folder_has(&p->folder, "ws/d/g") == (i % 2 == 1));
        assert_true(folder_has(&p->folder, "ws/new") == (i % 2 == 0));
    }
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

/* ---- 38 ---- */

CASE(extreme_times_are_restored)
{
    struct rewind_case *p = *state;
    static const int64_t times[] = { 0, 1, 2222222222000000000, 4102444800000000001 };

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct stat st;

        folder_mtime(&p->folder, "ws/d/f", times[i]);
        forget(p);
        p->plan = (struct rewind_plan){
            .system = "claude", .session = "s", .point = "m", .root = p->root
        };
        want(p, p->f, "old\n");
        assert_int_equal(look(p), ERR_OK);
        assert_int_equal(apply(p), ERR_OK);
        assert_int_equal(undo(p), ERR_OK);
        assert_int_equal(stat(p->f, &st), 0);
        assert_int_equal((int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec, times[i]);
    }
}
