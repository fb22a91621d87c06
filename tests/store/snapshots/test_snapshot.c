#include "tests/test.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/snapshots/snapshot.h"
#include "tests/support/folder.h"

/* Snapshots of a project, compared with what git itself makes of it. */

struct project {
    struct folder f;
    char root[4096], state[4096], home[4096];
    struct store_env env;
};

/* Runs a command in the project; returns the first line that it prints. */
static const char *run(const struct project *p, const char *command, char out[256])
{
    char line[8192];

    snprintf(line, sizeof line,
             "cd '%s' && HOME='%s' GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=2 "
             "GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=a GIT_CONFIG_KEY_1=user.email "
             "GIT_CONFIG_VALUE_1=a@b sh -c '%s'",
             p->root, p->home, command);
    FILE *f = popen(line, "re");

    assert_non_null(f);
    out[0] = '\0';
    if (fgets(out, 256, f))
        out[strcspn(out, "\n")] = '\0';
    assert_int_equal(pclose(f), 0);
    return out;
}

static void begin(struct project *p)
{
    char out[256];

    *p = (struct project){ .env = { .now_ms = time_clock_ms(CLOCK_REALTIME) } };
    folder_make(&p->f);
    folder_dir(&p->f, "home");
    folder_dir(&p->f, "project");
    folder_path(&p->f, "project", p->root);
    folder_path(&p->f, "state", p->state);
    folder_path(&p->f, "home", p->home);
    p->env.home = p->home;
    p->env.cwd = p->root;
    p->env.state_dir = p->state;
    folder_put(&p->f, "project/a.txt", SLICE("one\n"));
    folder_put(&p->f, "project/sub/deep/b", SLICE("b\n"));
    folder_put(&p->f, "project/sub.c", SLICE("c\n"));
    folder_put(&p->f, "project/ignored.o", SLICE("o\n"));
    folder_put(&p->f, "project/.gitignore", SLICE("*.o\nout/\n"));
    folder_put(&p->f, "project/out/x", SLICE("x\n"));
    run(p, "ln -s a.txt link; chmod 755 sub.c; mkdir empty", out);
}

static enum err_code take(struct project *p, enum snapshot_kind kind)
{
    struct snapshot_request req = { .agent = "claude",
                                    .session = SLICE("s-1"),
                                    .prompt = SLICE("do it"),
                                    .cwd = p->root,
                                    .kind = kind,
                                    .limit_ms = 60000 };
    struct err e = { 0 };
    enum err_code rc = snapshot_take(&p->env, &req, &e);

    if (rc)
        print_message("%s\n", e.text);
    return rc;
}

/* The newest line of the log. */
static struct snapshot newest(struct project *p, struct snapshot_log *log)
{
    assert_int_equal(snapshot_log_read(&p->env, p->root, log, NULL), ERR_OK);
    assert_true(log->n > 0);
    return log->snapshot[log->n - 1];
}

/* The newest tree is the one that git would write for these files. */
static void is_tree_of_git(struct project *p)
{
    struct snapshot_log log;
    char want[256];
    const struct snapshot s = newest(p, &log);

    run(p, "git add -A && git write-tree", want);
    assert_int_equal(s.tree.n, SNAPSHOT_HEX);
    assert_memory_equal(s.tree.p, want, SNAPSHOT_HEX);
    snapshot_log_fini(&log);
}

/* What git reads from the snapshots. */
static const char *ask(struct project *p, const char *command, char out[256])
{
    struct snapshot_log log;
    char line[4096];
    const struct snapshot s = newest(p, &log);

    snprintf(line, sizeof line, "T=%.*s N=%.*s; export GIT_DIR=\"%s\"; %s", SLICE_ARG(s.tree),
             (int)s.notes.n, s.notes.n ? s.notes.p : "", log.dir, command);
    snapshot_log_fini(&log);
    return run(p, line, out);
}

static size_t packs(struct project *p)
{
    struct snapshot_log log;
    char path[4200];
    size_t n = 0;

    newest(p, &log);
    snprintf(path, sizeof path, "%s/objects/pack", log.dir);
    DIR *d = opendir(path);

    assert_non_null(d);
    for (const struct dirent *x; (x = readdir(d)) != NULL;)
        n += strstr(x->d_name, ".pack") != NULL;
    closedir(d);
    snapshot_log_fini(&log);
    return n;
}

TEST(a_snapshot_has_what_git_would_add)
{
    struct project p;
    char out[256];

    begin(&p);
    run(&p, "git init -q .", out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    is_tree_of_git(&p);
    run(&p, "echo two > a.txt; rm -r sub; mv sub.c moved.c; echo n > new; chmod 600 new", out);
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    is_tree_of_git(&p);
    assert_string_equal(ask(&p, "git cat-file -p $T:a.txt", out), "two");
    assert_string_equal(
        ask(&p, "git cat-file -p $N | tr \"\\0\" \"\\n\" | sort | tr \"\\n\" \" \"", out),
        "d755 empty f600 new i0 ignored.o i0 out v1  ");
    assert_string_equal(
        ask(&p, "git fsck --strict --no-dangling 2>&1 | grep -v ^notice || true", out), "");
    folder_remove(&p.f);
}

TEST(an_unchanged_project_costs_a_line)
{
    struct project p;
    struct snapshot_log log;

    begin(&p);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    size_t before = packs(&p);

    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    assert_int_equal(packs(&p), before);
    newest(&p, &log);
    assert_int_equal(log.n, 3);
    assert_true(slice_eq(log.snapshot[0].tree, log.snapshot[2].tree));
    assert_true(slice_eq(log.snapshot[0].notes, log.snapshot[2].notes));
    assert_int_equal(log.snapshot[1].kind, SNAPSHOT_END);
    snapshot_log_fini(&log);
    folder_remove(&p.f);
}

/* What git has is not copied, until the file becomes another one: then it may soon be gone there. */
TEST(a_blob_of_the_repository_is_copied_when_the_file_changes)
{
    struct project p;
    struct snapshot_log log;
    char out[256], first[SNAPSHOT_HEX + 1], line[512];

    begin(&p);
    run(&p, "git init -q . && git add -A && git commit -qm x && touch -d @2000000000 .git/index",
        out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    const struct snapshot s = newest(&p, &log);

    memcpy(first, s.tree.p, SNAPSHOT_HEX);
    first[SNAPSHOT_HEX] = '\0';
    snapshot_log_fini(&log);
    snprintf(line, sizeof line, "git cat-file -e %s:a.txt 2>/dev/null || echo borrowed", first);
    assert_string_equal(ask(&p, line, out), "borrowed");
    run(&p, "echo two > a.txt; rm sub/deep/b", out);
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    run(&p, "rm -rf .git", out);
    snprintf(line, sizeof line, "git cat-file -p %s:a.txt", first);
    assert_string_equal(ask(&p, line, out), "one");
    snprintf(line, sizeof line, "git cat-file -p %s:sub/deep/b", first);
    assert_string_equal(ask(&p, line, out), "b");
    folder_remove(&p.f);
}

/* With another content of the same size at the same moment, only a second reading shows it. */
TEST(a_change_within_one_tick_is_seen)
{
    struct project p;
    char out[256];

    begin(&p);
    for (int i = 0; i < 8; i++) {
        char text[8];

        snprintf(text, sizeof text, "%03d\n", i);
        folder_put(&p.f, "project/a.txt", slice_of(text));
        assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
        text[3] = '\0';
        assert_string_equal(ask(&p, "git cat-file -p $T:a.txt", out), text);
    }
    folder_remove(&p.f);
}

/* A snapshot that takes too long is given up wherever it is; the next one gets further and is right in the end. */
TEST(a_snapshot_that_was_given_up_is_continued)
{
    struct project p;
    struct snapshot_log log;
    char name[64], out[256];

    begin(&p);
    run(&p, "git init -q .", out);
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "project/many/%d/%d/f%d", i / 300, i / 20, i);
        folder_put(&p.f, name, slice_of(name));
    }
    for (int64_t ms = 1; ms < 2000; ms += ms < 100 ? 20 : 100) {
        struct snapshot_request req = {
            .agent = "claude", .session = SLICE("s-1"), .cwd = p.root, .limit_ms = ms
        };
        enum err_code rc = snapshot_take(&p.env, &req, NULL);

        snprintf(name, sizeof name, "project/%c-%d", 'A' + (int)(ms % 50), (int)ms);
        folder_put(&p.f, name, SLICE("new"));
        assert_true(rc == ERR_OK || rc == ERR_CANCELLED);
        const struct snapshot s = newest(&p, &log);

        assert_int_equal(s.tree.n, rc ? 0 : SNAPSHOT_HEX);
        assert_int_equal(s.why.n != 0, rc != ERR_OK);
        snapshot_log_fini(&log);
    }
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    is_tree_of_git(&p);
    folder_remove(&p.f);
}

/* Puts 300 files that do not compress, and differ for each seed. */
static void put_many(struct project *p, uint32_t seed)
{
    char name[64], bytes[24 << 10];

    for (int i = 0; i < 300; i++) {
        for (size_t at = 0; at < sizeof bytes; at++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[at] = (char)(seed >> 24);
        }
        snprintf(name, sizeof name, "project/many/%d/f%d", i / 30, i);
        folder_put(&p->f, name, (struct slice){ bytes, sizeof bytes });
    }
}

/* When more changed than one snapshot can take in its time, each one gets further. Neither a rule that changed meanwhile
 * nor a blob that only the repository had is lost. */
TEST(a_change_too_large_for_one_snapshot_is_taken_by_several)
{
    struct project p;
    struct snapshot_log log;
    char out[256], first[SNAPSHOT_HEX + 1], line[512];
    bool further = false;

    begin(&p);
    put_many(&p, 1);
    run(&p, "git init -q . && git add -A && git commit -qm x && touch -d @2000000000 .git/index",
        out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    snprintf(first, sizeof first, "%s", newest(&p, &log).tree.p);
    snapshot_log_fini(&log);

    put_many(&p, 2);
    folder_put(&p.f, "project/.gitignore", SLICE("*.o\nout/\nsub.c\nf7\n"));
    for (int64_t ms = 5; ms < 2000 && !further; ms += 5) {
        const struct snapshot_request req = {
            .agent = "claude", .session = SLICE("s-1"), .cwd = p.root, .limit_ms = ms
        };
        const size_t before = packs(&p);

        if (snapshot_take(&p.env, &req, NULL) != ERR_CANCELLED)
            break;
        further = packs(&p) > before;
    }
    assert_true(further);
    run(&p, "git rm -q --cached sub.c many/0/f7 && rm -r a.txt link sub", out);
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    is_tree_of_git(&p);
    run(&p, "rm -rf .git", out);
    snprintf(line, sizeof line,
             "git ls-tree -r %s | cut -c 13-52 | git cat-file --batch-check | grep -c missing || "
             "true",
             first);
    assert_string_equal(ask(&p, line, out), "0");
    folder_remove(&p.f);
}

TEST(rules_that_change_are_asked_again)
{
    struct project p;
    char out[256];

    begin(&p);
    run(&p, "git init -q .", out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    folder_put(&p.f, "project/.gitignore", SLICE("out/\nsub/\n"));
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    run(&p, "git rm -rq --cached . 2>/dev/null || true", out);
    is_tree_of_git(&p);
    folder_put(&p.f, "project/sub/.gitignore", SLICE("*\n"));
    run(&p, "rm .gitignore; git rm -rq --cached .", out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    is_tree_of_git(&p);
    folder_remove(&p.f);
}

/* A file that git tracks is taken although a rule ignores it, even inside of an ignored directory. */
TEST(a_tracked_file_is_taken_although_it_is_ignored)
{
    struct project p;
    char out[256];

    begin(&p);
    run(&p, "git init -q . && git add -A && git add -f out/x && echo y > out/y", out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    is_tree_of_git(&p);
    run(&p, "git add -f ignored.o", out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    is_tree_of_git(&p);
    folder_remove(&p.f);
}

TEST(what_is_no_file_is_left_out_and_said)
{
    struct project p;
    char out[256];

    begin(&p);
    run(&p,
        "mkfifo pipe; mkdir .git; echo lies > .git/HEAD; ln -s . loop; dd if=/dev/zero of=big "
        "bs=1M count=9 2>/dev/null",
        out);
    run(&p, "touch \"$(printf \"two\\\\nlines\")\"; mkdir node_modules; touch node_modules/x", out);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    assert_string_equal(ask(&p, "git ls-tree -r --name-only $T | tr \"\\n\" \" \"", out),
                        ".gitignore a.txt link loop sub.c sub/deep/b \"two\\nlines\" ");
    assert_string_equal(
        ask(&p, "git cat-file -p $N | tr \"\\0\" \"\\n\" | sort | tr \"\\n\" \" \"", out),
        "d755 empty i0 ignored.o i0 node_modules i0 out m700 sub m700 sub/deep s0 big s2 pipe "
        "v1  ");
    folder_remove(&p.f);
}

TEST(the_home_directory_is_no_project)
{
    struct project p;
    struct err e = { 0 };

    begin(&p);
    const struct snapshot_request req = { .agent = "claude", .session = SLICE("s"), .cwd = p.home };

    assert_int_equal(snapshot_take(&p.env, &req, &e), ERR_UNSUPPORTED);
    folder_remove(&p.f);
}

/* A damaged list of files, and a log that a crash cut, cost a second reading and nothing else. */
TEST(damage_is_repaired_by_the_next_snapshot)
{
    struct project p;
    struct snapshot_log log;
    char out[256], line[4600];

    begin(&p);
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    newest(&p, &log);
    snprintf(line, sizeof line,
             "printf garbage | dd of=\"%s/files\" bs=1 seek=90 conv=notrunc 2>/dev/null; printf "
             "\"{torn\" >> \"%s/log\"",
             log.dir, log.dir);
    snapshot_log_fini(&log);
    run(&p, line, out);
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    newest(&p, &log);
    assert_int_equal(log.n, 2);
    assert_true(slice_eq(log.snapshot[0].tree, log.snapshot[1].tree));
    snapshot_log_fini(&log);
    folder_remove(&p.f);
}

TEST(several_at_once_all_end_with_a_line)
{
    struct project p;
    struct snapshot_log log;
    int status;

    begin(&p);
    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(take(&p, SNAPSHOT_PROMPT) == ERR_OK ? 0 : 1);
    for (int i = 0; i < 4; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    newest(&p, &log);
    assert_int_equal(log.n, 4);
    for (size_t i = 1; i < log.n; i++)
        assert_true(slice_eq(log.snapshot[0].tree, log.snapshot[i].tree));
    snapshot_log_fini(&log);
    folder_remove(&p.f);
}

static struct snapshot_project only_project(struct project *p, struct snapshot_projects *all)
{
    assert_int_equal(snapshot_projects_read(&p->env, all, NULL), ERR_OK);
    assert_int_equal(all->n, 1);
    assert_string_equal(all->project[0].root, p->root);
    assert_true(all->project[0].bytes > 0);
    return all->project[0];
}

/* Old snapshots go with the objects that nothing else needs; the newest stays, and the next one needs no second
 * reading. */
TEST(pruning_removes_what_no_snapshot_needs)
{
    struct project p;
    struct snapshot_projects all;
    struct snapshot_log log;
    char out[256], old[SNAPSHOT_HEX + 1], line[512];
    size_t removed;

    begin(&p);
    folder_put(&p.f, "project/secret", SLICE("first\n"));
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    const struct snapshot s = newest(&p, &log);

    memcpy(old, s.tree.p, SNAPSHOT_HEX);
    old[SNAPSHOT_HEX] = '\0';
    snapshot_log_fini(&log);
    folder_put(&p.f, "project/secret", SLICE("second\n"));
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    const struct snapshot_project project = only_project(&p, &all);
    struct snapshot_prune_rule rule = { .before_ms = INT64_MAX };

    assert_int_equal(snapshot_prune(&project, &rule, true, &removed, NULL), ERR_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(packs(&p), 2);
    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_int_equal(packs(&p), 1);
    assert_string_equal(ask(&p, "git cat-file -p $T:secret", out), "second");
    assert_string_equal(
        ask(&p, "git fsck --strict --no-dangling 2>&1 | grep -v ^notice || true", out), "");
    snprintf(line, sizeof line, "git cat-file -e %s 2>/dev/null || echo gone", old);
    assert_string_equal(ask(&p, line, out), "gone");
    folder_put(&p.f, "project/another", SLICE("x"));
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    assert_string_equal(ask(&p, "git cat-file -p $T:sub/deep/b", out), "b");
    assert_string_equal(
        ask(&p, "git fsck --strict --no-dangling 2>&1 | grep -v ^notice || true", out), "");

    /* A file is removed from all of them, whatever else is in its directory. */
    char path[4200];

    snprintf(path, sizeof path, "%s/sub/deep/b", p.root);
    rule = (struct snapshot_prune_rule){ .before_ms = INT64_MIN, .path = path };
    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_string_equal(ask(&p, "git ls-tree -r --name-only $T | grep -c deep || true", out), "0");
    assert_string_equal(ask(&p, "git cat-file -p $T:secret", out), "second");
    assert_string_equal(
        ask(&p, "echo b | git hash-object --stdin | xargs git cat-file -e 2>/dev/null || echo gone",
            out),
        "gone");
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    assert_string_equal(ask(&p, "git cat-file -p $T:sub/deep/b", out), "b");
    snapshot_projects_fini(&all);
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

    begin(&p);
    run(&p, "git init -q . && git add -A && git commit -qm x && touch -d @2000000000 .git/index",
        out);
    folder_put(&p.f, "project/sub/secret", SLICE("secret\n"));
    assert_int_equal(take(&p, SNAPSHOT_PROMPT), ERR_OK);
    const struct snapshot_project project = only_project(&p, &all);

    snprintf(path, sizeof path, "%s/sub/secret", p.root);
    const struct snapshot_prune_rule rule = { .before_ms = INT64_MIN, .path = path };

    assert_int_equal(snapshot_prune(&project, &rule, false, &removed, NULL), ERR_OK);
    assert_int_equal(removed, 1);
    snapshot_projects_fini(&all);
    newest(&p, &log);
    snprintf(line, sizeof line, "git cat-file -p %.40s:a.txt; git cat-file -p %.40s:sub/secret",
             log.snapshot[0].tree.p, log.snapshot[0].tree.p);
    snapshot_log_fini(&log);
    run(&p, "echo three > a.txt", out);
    assert_int_equal(take(&p, SNAPSHOT_END), ERR_OK);
    is_tree_of_git(&p);
    run(&p, "rm -rf .git", out);
    snprintf(path, sizeof path, "(%s) 2>/dev/null || true", line);
    assert_string_equal(ask(&p, path, out), "one");
    assert_string_equal(ask(&p, "git cat-file -p $T:sub/secret", out), "secret");
    folder_remove(&p.f);
}
