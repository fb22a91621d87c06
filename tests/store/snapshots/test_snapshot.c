#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/snapshots/snapshot.h"
#include "store/snapshots/snapshot_walk.h"
#include "tests/support/snapshot_project.h"

/* Snapshots of a project, compared with what git itself makes of it. */

TEST(a_snapshot_has_what_git_would_add)
{
    struct project p;
    char out[256];

    project_begin(&p);
    project_run(&p, "git init -q .", out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_is_tree_of_git(&p);
    project_run(&p, "echo two > a.txt; rm -r sub; mv sub.c moved.c; echo n > new; chmod 600 new",
                out);
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    project_is_tree_of_git(&p);
    assert_string_equal(project_ask(&p, "git cat-file -p $T:a.txt", out), "two");
    assert_string_equal(
        project_ask(&p, "git cat-file -p $N | tr \"\\0\" \"\\n\" | sort | tr \"\\n\" \" \"", out),
        "d755 empty f600 new i0 ignored.o i0 out v1  ");
    assert_string_equal(
        project_ask(&p, "git fsck --strict --no-dangling 2>&1 | grep -v ^notice || true", out), "");
    folder_remove(&p.f);
}

TEST(an_unchanged_project_costs_a_line)
{
    struct project p;
    struct snapshot_log log;

    project_begin(&p);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    size_t before = project_packs(&p);

    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    assert_int_equal(project_packs(&p), before);
    project_newest(&p, &log);
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

    project_begin(&p);
    project_run(
        &p, "git init -q . && git add -A && git commit -qm x && touch -d @2000000000 .git/index",
        out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    const struct snapshot s = project_newest(&p, &log);

    memcpy(first, s.tree.p, SNAPSHOT_HEX);
    first[SNAPSHOT_HEX] = '\0';
    snapshot_log_fini(&log);
    snprintf(line, sizeof line, "git cat-file -e %s:a.txt 2>/dev/null || echo borrowed", first);
    assert_string_equal(project_ask(&p, line, out), "borrowed");
    project_run(&p, "echo two > a.txt; rm sub/deep/b", out);
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    project_run(&p, "rm -rf .git", out);
    snprintf(line, sizeof line, "git cat-file -p %s:a.txt", first);
    assert_string_equal(project_ask(&p, line, out), "one");
    snprintf(line, sizeof line, "git cat-file -p %s:sub/deep/b", first);
    assert_string_equal(project_ask(&p, line, out), "b");
    folder_remove(&p.f);
}

/* What the last snapshot found is written again with each change, and does not grow by that. */
TEST(a_change_leaves_the_list_of_files_as_long_as_it_was)
{
    struct project p;
    char out[256], first[256];

    project_begin(&p);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_run(&p, "stat -c %s ../state/copies/*/files", first);
    for (int i = 0; i < 5; i++) {
        char text[8];

        snprintf(text, sizeof text, "%03d\n", i);
        folder_put(&p.f, "project/sub/deep/b", slice_of(text));
        folder_put(&p.f, "project/another", slice_of(text));
        assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
        project_run(&p, "rm another", out);
        assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
        assert_string_equal(project_run(&p, "stat -c %s ../state/copies/*/files", out), first);
        text[3] = '\0';
        assert_string_equal(project_ask(&p, "git cat-file -p $T:sub/deep/b", out), text);
    }
    folder_remove(&p.f);
}

/* A filter keeps the size, so that only the attributes tell that git has other bytes. They may be the user's. */
TEST(what_git_filters_is_not_taken_from_it)
{
    static const char *const places[] = { "$HOME/.config/git/attributes", ".gitattributes" };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct project p;
        char out[256], line[1024];

        project_begin(&p);
        snprintf(line, sizeof line,
                 "git init -q . && git config filter.up.clean \"tr a-z A-Z\" && mkdir -p "
                 "$HOME/.config/git && echo \"*.txt filter=up\" > %s && echo .gitattributes > "
                 ".git/info/exclude && git add -A && git commit -qm x && touch -d @2000000000 "
                 ".git/index && git cat-file -p :a.txt",
                 places[i]);
        assert_string_equal(project_run(&p, line, out), "ONE");
        assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
        assert_string_equal(project_ask(&p, "git cat-file -p $T:a.txt", out), "one");
        folder_remove(&p.f);
    }
}

/* With another content of the same size at the same moment, only a second reading shows it. */
TEST(a_change_within_one_tick_is_seen)
{
    struct project p;
    char out[256];

    project_begin(&p);
    for (int i = 0; i < 8; i++) {
        char text[8];

        snprintf(text, sizeof text, "%03d\n", i);
        folder_put(&p.f, "project/a.txt", slice_of(text));
        assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
        text[3] = '\0';
        assert_string_equal(project_ask(&p, "git cat-file -p $T:a.txt", out), text);
    }
    folder_remove(&p.f);
}

/* A snapshot that takes too long is given up wherever it is; the next one gets further and is right in the end. */
TEST(a_snapshot_that_was_given_up_is_continued)
{
    struct project p;
    struct snapshot_log log;
    char name[64], out[256];

    project_begin(&p);
    project_run(&p, "git init -q .", out);
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "project/many/%d/%d/f%d", i / 300, i / 20, i);
        folder_put(&p.f, name, slice_of(name));
    }
    for (int64_t ms = 1; ms < 2000; ms += ms < 100 ? 20 : 100) {
        struct snapshot_request req = {
            .agent = "claude", .session = SLICE("s-1"), .cwd = p.root, .limit_ms = ms
        };
        enum err_code rc = snapshot_take(&p.env, &req, NULL);

        /* What earlier attempts have read changes meanwhile: files that are there, and rules about them. */
        folder_put(&p.f, "project/many/0/0/f3", slice_of(name));
        folder_put(&p.f, "project/many/1/.gitignore", ms % 3 ? SLICE("f30*\n") : SLICE("f31*\n"));
        snprintf(name, sizeof name, "project/%c-%d", 'A' + (int)(ms % 50), (int)ms);
        folder_put(&p.f, name, SLICE("new"));
        assert_true(rc == ERR_OK || rc == ERR_CANCELLED);
        const struct snapshot s = project_newest(&p, &log);

        assert_int_equal(s.tree.n, rc ? 0 : SNAPSHOT_HEX);
        assert_int_equal(s.why.n != 0, rc != ERR_OK);
        snapshot_log_fini(&log);
    }
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_is_tree_of_git(&p);
    folder_remove(&p.f);
}

/* The entry of a name in the root of the project. */
static const struct snapshot_entry *entry_named(const struct snapshot_index *x, const char *name)
{
    for (uint32_t i = 1; i < x->n; i++)
        if (slice_eq(snapshot_entry_name(x, &x->entry[i]), slice_of(name)))
            return &x->entry[i];
    return NULL;
}

/* Else looking at them again would take all the time of each attempt, and none would get further. */
TEST(the_rest_is_read_before_what_an_attempt_has_read)
{
    CLEANUP(snapshot_index_fini) struct snapshot_index old = { .n = 0 }, last = { .n = 0 };
    AUTO_ARENA a = { 0 };
    struct project p;
    const char *dir;

    project_begin(&p);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    assert_int_equal(snapshot_dir_of(&p.env, p.root, &a, &dir, NULL), ERR_OK);
    assert_int_equal(snapshot_index_read(arena_format(&a, "%s/files", dir), &old, NULL), ERR_OK);
    folder_put(&p.f, "project/a.txt", SLICE("other bytes than before"));
    folder_put(&p.f, "project/rest.txt", SLICE("not read so far"));
    CLEANUP(snapshot_walk_fini)
    struct snapshot_walk w = { .root = p.root,
                               .borrow = { .env = &p.env },
                               .old = &old,
                               .last = &last,
                               .deadline_ms = INT64_MAX,
                               .limits = { .file_bytes = 1 << 20, .bytes = 1 << 20, .files = 99 },
                               .pack = { .repo = dir },
                               .only_new = true };

    assert_int_equal(snapshot_walk_run(&w, NULL), ERR_OK);
    const struct snapshot_entry *known = entry_named(&w.now, "a.txt");

    assert_int_equal(known->size, entry_named(&old, "a.txt")->size);
    assert_non_null(entry_named(&w.now, "rest.txt"));
    assert_int_equal(w.pack.n, 1);
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

    project_begin(&p);
    put_many(&p, 1);
    project_run(
        &p, "git init -q . && git add -A && git commit -qm x && touch -d @2000000000 .git/index",
        out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    snprintf(first, sizeof first, "%s", project_newest(&p, &log).tree.p);
    snapshot_log_fini(&log);

    put_many(&p, 2);
    /* git, which is asked for the tree below, compares whole seconds, and a fast disk writes all in one. */
    project_run(&p, "find many -type f -exec touch -d @1600000000 {} +", out);
    folder_put(&p.f, "project/.gitignore", SLICE("*.o\nout/\nsub.c\nf7\n"));
    for (int64_t ms = 5; ms < 2000 && !further; ms += 5) {
        const struct snapshot_request req = {
            .agent = "claude", .session = SLICE("s-1"), .cwd = p.root, .limit_ms = ms
        };
        const size_t before = project_packs(&p);

        if (snapshot_take(&p.env, &req, NULL) != ERR_CANCELLED)
            break;
        further = project_packs(&p) > before;
    }
    assert_true(further);
    project_run(&p, "git rm -q --cached sub.c many/0/f7 && rm -r a.txt link sub", out);
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    project_is_tree_of_git(&p);
    project_run(&p, "rm -rf .git", out);
    snprintf(line, sizeof line,
             "git ls-tree -r %s | cut -c 13-52 | git cat-file --batch-check | grep -c missing || "
             "true",
             first);
    assert_string_equal(project_ask(&p, line, out), "0");
    folder_remove(&p.f);
}

TEST(rules_that_change_are_asked_again)
{
    struct project p;
    char out[256];

    project_begin(&p);
    project_run(&p, "git init -q .", out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    folder_put(&p.f, "project/.gitignore", SLICE("out/\nsub/\n"));
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_run(&p, "git rm -rq --cached . 2>/dev/null || true", out);
    project_is_tree_of_git(&p);
    folder_put(&p.f, "project/sub/.gitignore", SLICE("*\n"));
    project_run(&p, "rm .gitignore; git rm -rq --cached .", out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_is_tree_of_git(&p);
    folder_remove(&p.f);
}

/* A file that git tracks is taken although a rule ignores it, even inside of an ignored directory. */
TEST(a_tracked_file_is_taken_although_it_is_ignored)
{
    struct project p;
    char out[256];

    project_begin(&p);
    project_run(&p, "git init -q . && git add -A && git add -f out/x && echo y > out/y", out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_is_tree_of_git(&p);
    project_run(&p, "git add -f ignored.o", out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_is_tree_of_git(&p);
    folder_remove(&p.f);
}

TEST(what_is_no_file_is_left_out_and_said)
{
    struct project p;
    char out[256];

    project_begin(&p);
    project_run(
        &p,
        "mkfifo pipe; mkdir .git; echo lies > .git/HEAD; ln -s . loop; dd if=/dev/zero of=big "
        "bs=1M count=9 2>/dev/null",
        out);
    project_run(
        &p, "touch \"$(printf \"two\\\\nlines\")\"; mkdir node_modules; touch node_modules/x", out);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    assert_string_equal(project_ask(&p, "git ls-tree -r --name-only $T | tr \"\\n\" \" \"", out),
                        ".gitignore a.txt link loop sub.c sub/deep/b \"two\\nlines\" ");
    assert_string_equal(
        project_ask(&p, "git cat-file -p $N | tr \"\\0\" \"\\n\" | sort | tr \"\\n\" \" \"", out),
        "d755 empty i0 ignored.o i0 node_modules i0 out m700 sub m700 sub/deep s0 big s2 pipe "
        "v1  ");
    folder_remove(&p.f);
}

TEST(the_home_directory_is_no_project)
{
    struct project p;
    struct err e = { 0 };

    project_begin(&p);
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

    project_begin(&p);
    assert_int_equal(project_take(&p, SNAPSHOT_PROMPT), ERR_OK);
    project_newest(&p, &log);
    snprintf(line, sizeof line,
             "printf garbage | dd of=\"%s/files\" bs=1 seek=90 conv=notrunc 2>/dev/null; printf "
             "\"{torn\" >> \"%s/log\"",
             log.dir, log.dir);
    snapshot_log_fini(&log);
    project_run(&p, line, out);
    assert_int_equal(project_take(&p, SNAPSHOT_END), ERR_OK);
    project_newest(&p, &log);
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

    project_begin(&p);
    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(project_take(&p, SNAPSHOT_PROMPT) == ERR_OK ? 0 : 1);
    for (int i = 0; i < 4; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    project_newest(&p, &log);
    assert_int_equal(log.n, 4);
    for (size_t i = 1; i < log.n; i++)
        assert_true(slice_eq(log.snapshot[0].tree, log.snapshot[i].tree));
    snapshot_log_fini(&log);
    folder_remove(&p.f);
}
