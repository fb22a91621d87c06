#include "tests/test.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "tests/support/snapshot_project.h"

/* Snapshots are removed, and those that remain are whole. */

/* Old snapshots go with the objects that nothing else needs; the newest stays, and the next one needs no second
 * reading. */
TEST(pruning_removes_what_no_snapshot_needs)
{
    struct project p;
    struct snapshot_projects all;
    struct snapshot_log log;
    char out[256], old[SNAPSHOT_HEX + 1], line[512];
    size_t removed;

    project_begin(&p);
    folder_put(&p.f, "project/secret", SLICE("first\n"));
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    const struct snapshot s = project_newest(&p, &log);

    memcpy(old, s.tree.p, SNAPSHOT_HEX);
    old[SNAPSHOT_HEX] = '\0';
    snapshot_log_fini(&log);
    folder_put(&p.f, "project/secret", SLICE("second\n"));
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    const struct snapshot_project project = project_only(&p, &all);
    struct snapshot_prune_rule rule = { .before_ms = INT64_MAX };

    assert_int_equal(snapshot_prune(&project, &rule, true, &removed, NULL), ERR_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(project_packs(&p), 2);
    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_int_equal(project_packs(&p), 1);
    assert_string_equal(project_ask(&p, "git cat-file -p $T:secret", out), "second");
    assert_string_equal(
        project_ask(&p, "git fsck --strict --no-dangling 2>&1 | grep -v ^notice || true", out), "");
    snprintf(line, sizeof line, "git cat-file -e %s 2>/dev/null || echo gone", old);
    assert_string_equal(project_ask(&p, line, out), "gone");
    folder_put(&p.f, "project/another", SLICE("x"));
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    assert_string_equal(project_ask(&p, "git cat-file -p $T:sub/deep/b", out), "b");
    assert_string_equal(
        project_ask(&p, "git fsck --strict --no-dangling 2>&1 | grep -v ^notice || true", out), "");

    /* A file is removed from all of them, whatever else is in its directory. */
    char path[4200];

    snprintf(path, sizeof path, "%s/sub/deep/b", p.root);
    rule = (struct snapshot_prune_rule){ .before_ms = INT64_MIN, .path = path };
    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_string_equal(
        project_ask(&p, "git ls-tree -r --name-only $T | grep -c deep || true", out), "0");
    assert_string_equal(project_ask(&p, "git cat-file -p $T:secret", out), "second");
    assert_string_equal(
        project_ask(
            &p, "echo b | git hash-object --stdin | xargs git cat-file -e 2>/dev/null || echo gone",
            out),
        "gone");
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    assert_string_equal(project_ask(&p, "git cat-file -p $T:sub/deep/b", out), "b");
    snapshot_projects_fini(&all);
    folder_remove(&p.f);
}

TEST(a_store_that_is_too_large_loses_its_older_half)
{
    struct project p;
    struct snapshot_projects all;
    struct snapshot_log log;
    char out[256], text[16];
    size_t removed;

    project_begin(&p);
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%d\n", i);
        folder_put(&p.f, "project/changes", slice_of(text));
        assert_int_equal(project_take(&p, i % 2 ? SNAPSHOT_END : SNAPSHOT_PROMPT), ERR_OK);
    }
    const struct snapshot_project project = project_only(&p, &all);
    struct snapshot_prune_rule rule = { .before_ms = INT64_MIN, .max_bytes = project.bytes };

    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(project_packs(&p), 4);
    rule.max_bytes--;
    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_int_equal(removed, 2);
    assert_int_equal(project_packs(&p), 1);
    project_newest(&p, &log);
    assert_int_equal(log.n, 2);
    snapshot_log_fini(&log);
    assert_string_equal(project_ask(&p, "git cat-file -p $T:changes", out), "3");
    snapshot_projects_fini(&all);
    folder_remove(&p.f);
}

/* The next prompt does not wait for a pruning, which changed nothing yet. A word that a crash left is not heard for long. */
TEST(a_pruning_gives_up_for_a_snapshot_that_waits)
{
    struct project p;
    struct snapshot_projects all;
    struct snapshot_log log;
    struct stat st;
    char wanted[4300], lock[4300];
    size_t removed;

    project_begin(&p);
    folder_put(&p.f, "project/changes", SLICE("first\n"));
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    folder_put(&p.f, "project/changes", SLICE("second\n"));
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    const struct snapshot_project project = project_only(&p, &all);
    struct snapshot_prune_rule rule = { .before_ms = INT64_MAX, .yields = true };

    snprintf(wanted, sizeof wanted, "%s/wanted", project.dir);
    snprintf(lock, sizeof lock, "%s/lock", project.dir);
    fclose(fopen(wanted, "w"));
    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_CANCELLED);
    project_newest(&p, &log);
    assert_int_equal(log.n, 2);
    snapshot_log_fini(&log);
    assert_int_equal(project_packs(&p), 2);
    assert_int_equal(utimensat(AT_FDCWD, wanted, (struct timespec[2]){ { 0 } }, 0), 0);
    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_int_equal(removed, 1);
    unlink(wanted);

    /* While another process has the lock, the word is there. */
    int held = open(lock, O_RDWR), status = 1;
    assert_int_equal(flock(held, LOCK_EX), 0);
    pid_t child = fork();

    if (child == 0) {
        close(held);
        _exit(project_take(&p, SNAPSHOT_PROMPT) != ERR_OK);
    }
    while (lstat(wanted, &st))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    close(held);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_not_equal(lstat(wanted, &st), 0);
    snapshot_projects_fini(&all);
    folder_remove(&p.f);
}

/* Also the first time: a new store is not pruned. */
TEST(pruning_is_due_once_a_day)
{
    struct project p;
    struct snapshot_log log;
    struct snapshot_projects all = { .n = 0 };
    const struct snapshot_prune_rule all_of_them = { .before_ms = INT64_MAX };
    char root[4300];
    bool due;

    project_begin(&p);
    assert_int_equal(snapshot_prune_due(&p.env, p.root, &all_of_them, false, &due, NULL), ERR_OK);
    assert_false(due);
    for (int i = 0; i < 3; i++)
        assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    assert_int_equal(snapshot_prune_due(&p.env, p.root, &all_of_them, false, &due, NULL), ERR_OK);
    assert_false(due);
    const struct snapshot_project project = project_only(&p, &all);

    snprintf(root, sizeof root, "%s/root", project.dir);
    assert_int_equal(utimensat(AT_FDCWD, root, (struct timespec[2]){ { 0 } }, 0), 0);
    snapshot_projects_fini(&all);
    assert_int_equal(snapshot_prune_due(&p.env, p.root, &all_of_them, false, &due, NULL), ERR_OK);
    assert_true(due);
    project_newest(&p, &log);
    assert_int_equal(log.n, 1);
    snapshot_log_fini(&log);
    assert_int_equal(snapshot_prune_due(&p.env, p.root, &all_of_them, true, &due, NULL), ERR_OK);
    assert_false(due);
    folder_remove(&p.f);
}

/* A clock that is wrong for a while makes no snapshot old, and what it wrote does not stop the pruning for years. */
TEST(a_clock_far_ahead_removes_nothing_for_its_age)
{
    enum { DAY_MS = 86400000 };
    struct project p;
    struct snapshot_projects all;
    char mark[4300], text[8];
    size_t removed;
    bool due;
    const int64_t year_ms = INT64_C(365) * DAY_MS;
    /* days since the first snapshot, the year of the clock, and how many a pruning removes then */
    static const struct {
        int day, year;
        size_t removed;
    } step[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 2, 0, 0 }, { 40, 0, 0 }, { 41, 0, 3 } };

    project_begin(&p);
    const int64_t began_ms = p.env.now_ms = INT64_C(1800000000000);

    for (size_t i = 0; i < COUNT_OF(step); i++) {
        p.env.now_ms = began_ms + step[i].day * (int64_t)DAY_MS + step[i].year * year_ms;
        struct snapshot_prune_rule rule = snapshot_prune_defaults(p.env.now_ms);

        snprintf(text, sizeof text, "%zu\n", i);
        folder_put(&p.f, "project/changes", slice_of(text));
        assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
        const struct snapshot_project project = project_only(&p, &all);

        assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
        assert_int_equal(removed, step[i].removed);
        rule.doubts = false; /* the person named an age */
        assert_int_equal(snapshot_prune(&project, &rule, true, &removed, NULL), ERR_OK);
        assert_int_equal(removed, step[i].year ? 2 : removed);
        snprintf(mark, sizeof mark, "%s/pruned", project.dir);
        fclose(fopen(mark, "w"));
        snapshot_projects_fini(&all);
    }

    /* The mark is from the year of the machine's own clock, which is behind that of the snapshots or ahead of it. */
    for (int years = -8; years <= 8; years += 16) {
        p.env.now_ms = time_clock_ms(CLOCK_REALTIME) + years * year_ms;
        assert_int_equal(snapshot_prune_due(&p.env, p.root,
                                            &(struct snapshot_prune_rule){ .yields = true }, true,
                                            &due, NULL),
                         ERR_OK);
        assert_true(due);
    }
    folder_remove(&p.f);
}

/* After a file was removed from all snapshots, what only the repository has is still copied when it changes. */
TEST(pruning_a_file_keeps_what_is_borrowed)
{
    struct project p;
    struct snapshot_projects all;
    struct snapshot_log log;
    char out[256], path[4200], line[512];
    size_t removed;

    project_begin(&p);
    project_run(
        &p, "git init -q . && git add -A && git commit -qm x && touch -d @2000000000 .git/index",
        out);
    folder_put(&p.f, "project/sub/secret", SLICE("secret\n"));
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    const struct snapshot_project project = project_only(&p, &all);

    snprintf(path, sizeof path, "%s/sub/secret", p.root);
    const struct snapshot_prune_rule rule = { .before_ms = INT64_MIN, .path = path };

    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_int_equal(removed, 1);
    snapshot_projects_fini(&all);
    project_newest(&p, &log);
    snprintf(line, sizeof line, "git cat-file -p %.40s:a.txt; git cat-file -p %.40s:sub/secret",
             log.snapshot[0].tree.p, log.snapshot[0].tree.p);
    snapshot_log_fini(&log);
    project_run(&p, "echo three > a.txt", out);
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    project_is_tree_of_git(&p);
    project_run(&p, "rm -rf .git", out);
    snprintf(path, sizeof path, "(%s) 2>/dev/null || true", line);
    assert_string_equal(project_ask(&p, path, out), "one");
    assert_string_equal(project_ask(&p, "git cat-file -p $T:sub/secret", out), "secret");
    folder_remove(&p.f);
}
