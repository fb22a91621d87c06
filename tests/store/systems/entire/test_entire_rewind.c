#include "tests/support/entire_fixture.h"

#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/entire/entire.h"

#define A "a1b2c3d4-0001-4000-8000-00000000000a"
#define B "b1b2c3d4-0002-4000-8000-00000000000b"

/* The hash of the shadow commit made so long after the start. */
static char *hash_at(struct entire_fixture *w, int seconds)
{
    return entire_fixture_sh(w, "awk -v t=%d '$2==t{print $1}' expected/two-sessions/points.tsv",
                             1770631200 + seconds);
}

static void ask(struct entire_fixture *w, const char *id, struct checkpoint_list *list)
{
    struct session_ref ref = entire_fixture_find(w, id);

    assert_int_equal(entire_ops.checkpoints(w->store, &ref, list, NULL), ERR_OK);
}

TEST(points_are_separated_by_session)
{
    static const struct {
        int at;
        enum checkpoint_kind kind;
        size_t files;
        const char *prompt;
    } want[] = {
        { 120, CHECKPOINT_TURN, 3, "Please add a login function?" },
        { 540, CHECKPOINT_TASK, 1, "Write test skeleton (toolu_01Task)" },
        { 600, CHECKPOINT_TASK, 1, "Completed 'dev' agent: Write login test (toolu_01Task)" },
        { 720, CHECKPOINT_TURN, 2, "Now write a test with a subagent and drop util.c" },
        { 1200, CHECKPOINT_TURN, 1, "Add a session module" },
    };
    struct entire_fixture w;
    struct checkpoint_list list;

    entire_fixture_make(&w, "two-sessions");
    ask(&w, A, &list);
    assert_int_equal(list.n, 5);
    for (size_t i = 0; i < list.n; i++) {
        char *hash = hash_at(&w, want[i].at);

        assert_true(slice_eq(list.checkpoint[i].id, slice_of(hash)));
        assert_int_equal(list.checkpoint[i].kind, want[i].kind);
        assert_int_equal(list.checkpoint[i].files, want[i].files);
        assert_true(slice_eq(list.checkpoint[i].prompt, slice_of(want[i].prompt)));
        assert_null(list.checkpoint[i].why);
        free(hash);
    }
    checkpoint_list_fini(&list);
    ask(&w, B, &list);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.checkpoint[1].files, 2); /* docs/usage.md and run.sh, none of session A */
    checkpoint_list_fini(&list);
    entire_fixture_remove(&w);
}

static void plan(struct entire_fixture *w, const char *id, const char *point, bool own,
                 struct rewind_plan *out)
{
    struct session_ref ref = entire_fixture_find(w, id);
    struct err e;
    enum err_code rc =
        (own ? entire_ops.plan_own : entire_ops.plan)(w->store, &ref, slice_of(point), out, &e);

    if (rc)
        fail_msg("%s", e.text);
}

/* The paths of one kind, from the root, sorted, one a line; malloc'ed. */
static char *paths_of(const struct rewind_plan *p, enum rewind_want want)
{
    char *text = calloc(1, 1 << 16);
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->target[i].want == want)
            n += (size_t)snprintf(text + n, (1 << 16) - n, "%s\n",
                                  p->target[i].path + strlen(p->root) + 1);
    while (n && text[n - 1] == '\n')
        text[--n] = '\0';
    return text;
}

static void assert_same_lines(struct entire_fixture *w, const char *got, const char *file)
{
    FILE *f;
    char path[4096];

    folder_path(&w->folder, "got", path);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s%s", got, *got ? "\n" : "");
    fclose(f);
    free(entire_fixture_sh(w, "LC_ALL=C sort got | diff - expected/two-sessions/%s", file));
}

/* For all seven points. */
TEST(entires_own_rule_gives_entires_own_file_sets)
{
    struct entire_fixture w;

    entire_fixture_make(&w, "two-sessions");
    char *all = entire_fixture_sh(&w, "cut -f1,3 expected/two-sessions/points.tsv");
    int seen = 0;

    for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n"), seen++) {
        char hash[41], name[64];
        struct rewind_plan p;

        snprintf(hash, sizeof hash, "%.40s", line);
        plan(&w, line + 41, hash, true, &p);
        char *restored = paths_of(&p, REWIND_BYTES), *deleted = paths_of(&p, REWIND_ABSENT);

        snprintf(name, sizeof name, "%s.restore", hash);
        assert_same_lines(&w, restored, name);
        snprintf(name, sizeof name, "%s.delete", hash);
        assert_same_lines(&w, deleted, name);
        free(restored);
        free(deleted);
        rewind_plan_fini(&p);
    }
    assert_int_equal(seen, 7);
    free(all);
    entire_fixture_remove(&w);
}

static const struct rewind_entry *entry_of(const struct rewind_preview *p, const char *path)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->entry[i].target->path + strlen(p->plan->root) + 1, path) == 0)
            return &p->entry[i];
    return NULL;
}

TEST(a_file_unknown_to_the_session_is_left_alone)
{
    struct entire_fixture w;
    struct rewind_plan p;
    struct rewind_preview v;
    struct rewind_options o = { .only = NULL };

    entire_fixture_make(&w, "two-sessions");
    char *late = hash_at(&w, 720), *first = hash_at(&w, 120);

    plan(&w, A, late, false, &p);
    assert_int_equal(rewind_preview(&p, &o, &v, NULL), ERR_OK);
    assert_null(entry_of(&v, "trace.log"));
    assert_null(entry_of(&v, "build/new.o"));
    assert_null(entry_of(&v, "build/old.o"));
    assert_null(entry_of(&v, ".claude/settings.json"));
    assert_int_equal(entry_of(&v, "notes.txt")->action, REWIND_UNCHANGED);
    assert_int_equal(entry_of(&v, "scratch.txt")->action, REWIND_REFUSED);
    assert_int_equal(entry_of(&v, "scratch.txt")->rule, REWIND_RULE_EDITED);
    assert_int_equal(entry_of(&v, "scratch.txt")->would, REWIND_DELETE);
    assert_int_equal(entry_of(&v, "src/session.c")->action, REWIND_DELETE);
    assert_int_equal(entry_of(&v, "docs/usage.md")->action, REWIND_RESTORE);
    assert_null(entry_of(&v, "src/util.c")); /* missing then and now */
    rewind_preview_fini(&v);
    rewind_plan_fini(&p);

    /* Tracked in HEAD and missing in this checkpoint: our rewind removes it, Entire's does not. */
    free(entire_fixture_git(&w, "checkout -q HEAD -- src/util.c && git reset -q"));
    plan(&w, A, late, false, &p);
    assert_int_equal(rewind_preview(&p, &o, &v, NULL), ERR_OK);
    assert_non_null(entry_of(&v, "src/util.c"));
    assert_int_equal(entry_of(&v, "src/util.c")->target->want, REWIND_ABSENT);
    rewind_preview_fini(&v);
    rewind_plan_fini(&p);
    plan(&w, A, first, false, &p);
    assert_int_equal(rewind_preview(&p, &o, &v, NULL), ERR_OK);
    assert_int_equal(entry_of(&v, "src/util.c")->action, REWIND_UNCHANGED);
    rewind_preview_fini(&v);
    rewind_plan_fini(&p);
    free(late);
    free(first);
    entire_fixture_remove(&w);
}

/* For git a file is ignored if a rule matches it and the index has no such name: files that were added by force belong
 * to the work tree like all others. Files in no index stay, whatever the rules and the settings are. */
TEST(tracked_files_under_an_ignored_pattern_are_planned)
{
    struct entire_fixture w;
    struct rewind_plan p;

    entire_fixture_make(&w, "committed");
    free(entire_fixture_git(
        &w, "config core.ignorecase true && mkdir -p build/in && "
            "printf 'build/\\n*.log\\n' >> .gitignore && "
            "for f in made.log left.log trace.log build/in/tool.c build/in/other.o; do "
            "echo x > $f; done && git add -f made.log left.log build/in/tool.c && "
            "git commit -qm logs && git rm -q --cached left.log && "
            "git update-index --add --cacheinfo 100644,$(git hash-object -w made.log),TRACE.LOG"));
    plan(&w, "c1b2c3d4-0001-4000-8000-00000000000a", "a3b2", false, &p);
    char *gone = paths_of(&p, REWIND_ABSENT);

    assert_non_null(strstr(gone, "made.log"));
    assert_non_null(strstr(gone, "build/in/tool.c"));
    assert_null(strstr(gone, "left.log"));
    assert_null(strstr(gone, "build/in/other.o"));
    assert_null(strstr(gone, "trace.log"));
    free(gone);
    rewind_plan_fini(&p);
    entire_fixture_remove(&w);
}

/* A person's file that git ignored at the checkpoint is in no tree, as if the session had made it. What git tracks now
 * can be restored by git. */
TEST(a_file_that_is_no_longer_ignored_is_not_removed)
{
    struct entire_fixture w;
    struct rewind_plan p;
    unsigned held = 0;

    entire_fixture_make(&w, "two-sessions");
    char *late = hash_at(&w, 720);

    free(entire_fixture_git(&w,
                            "status -s && mkdir -p build && echo mine > mine.log && "
                            "echo mine > build/mine.txt && echo new > new.txt && rm .gitignore"));
    plan(&w, A, late, false, &p);
    char *gone = paths_of(&p, REWIND_ABSENT);

    assert_null(strstr(gone, "mine.log"));
    assert_null(strstr(gone, "build/mine.txt"));
    assert_non_null(strstr(gone, "src/session.c"));
    for (size_t i = 0; i < p.n; i++)
        held += p.target[i].want == REWIND_UNKNOWN && strstr(p.target[i].path, "mine");
    assert_int_equal(held, 2);
    free(gone);
    rewind_plan_fini(&p);
    free(late);
    entire_fixture_remove(&w);
}

/* Without a readable index the files that the rules name are left alone, and the plan warns about it. */
TEST(an_unreadable_index_protects_all_ignored_files)
{
    struct entire_fixture w;
    struct rewind_plan p;

    entire_fixture_make(&w, "two-sessions");
    char *late = hash_at(&w, 720);

    free(entire_fixture_git(&w, "add -f trace.log && printf DIRC-not-an-index > .git/index"));
    plan(&w, A, late, false, &p);
    char *gone = paths_of(&p, REWIND_ABSENT);
    bool said = false;

    assert_null(strstr(gone, "trace.log"));
    assert_non_null(strstr(gone, "src/session.c"));
    for (size_t i = 0; i < p.notes; i++)
        said = said || strstr(p.note[i], "index");
    assert_true(said);
    free(gone);
    rewind_plan_fini(&p);
    free(late);
    entire_fixture_remove(&w);
}

/* A file created by the turn that git ignores now is removed by no rewind; a tracked one is. */
TEST(undoing_a_turn_removes_no_ignored_files)
{
    struct entire_fixture w;
    struct rewind_plan p;
    struct session_ref ref;

    entire_fixture_make(&w, "two-sessions");
    char *last = hash_at(&w, 1200);

    for (int tracked = 0; tracked < 2; tracked++) {
        free(entire_fixture_git(&w, "%s",
                                tracked ? "add -f src/session.c"
                                        : "status -s && echo session.c >> .gitignore"));
        ref = entire_fixture_find(&w, A);
        assert_int_equal(entire_ops.plan_turn(w.store, &ref, slice_of(last), &p, NULL), ERR_OK);
        char *gone = paths_of(&p, REWIND_ABSENT);

        assert_string_equal(gone, tracked ? "src/session.c" : "");
        assert_int_equal(p.notes, tracked ? 1 : 2);
        free(gone);
        rewind_plan_fini(&p);
    }
    free(last);
    entire_fixture_remove(&w);
}

/* If git ignores a file of the checkpoint by now, it is held back unless its bytes are those of the session. */
TEST(a_changed_ignored_file_is_held_back)
{
    struct entire_fixture w;
    struct rewind_plan p;
    struct rewind_preview v;

    entire_fixture_make(&w, "two-sessions");
    char *first = hash_at(&w, 120);

    free(entire_fixture_git(&w, "rm -q --cached src/app.c && echo app.c >> .gitignore && "
                                "echo mine > src/app.c"));
    plan(&w, A, first, false, &p);
    assert_int_equal(rewind_preview(&p, &(struct rewind_options){ .only = NULL }, &v, NULL),
                     ERR_OK);
    assert_int_equal(entry_of(&v, "src/app.c")->action, REWIND_REFUSED);
    rewind_preview_fini(&v);
    rewind_plan_fini(&p);
    free(first);
    entire_fixture_remove(&w);
}

static char *facts(struct entire_fixture *w)
{
    return entire_fixture_git(w,
                              "rev-parse HEAD && git symbolic-ref HEAD && sha256sum .git/index && "
                              "git for-each-ref 'refs/heads/*'");
}

TEST(a_rewind_changes_files_and_nothing_else)
{
    struct entire_fixture w;
    struct rewind_plan p, back;
    struct rewind_preview v;
    struct rewind_result r;
    struct rewind_options o = { .allow_edited = true };

    entire_fixture_make(&w, "two-sessions");
    char *hash = hash_at(&w, 120), *before = facts(&w);
    char *files =
        entire_fixture_git(&w, "ls-files -co | sort | xargs sha256sum 2>&1; stat -c '%%a %%n' "
                               "run.sh notes.txt");

    plan(&w, A, hash, false, &p);
    assert_int_equal(rewind_preview(&p, &o, &v, NULL), ERR_OK);
    char *dry = facts(&w);

    assert_string_equal(before, dry);
    assert_int_equal(rewind_apply(&w.env, &v, &r, NULL), ERR_OK);
    assert_int_equal(r.conflicts, 0);
    char *after = facts(&w);

    assert_string_equal(before, after);
    free(entire_fixture_git(
        &w,
        "ls-tree -r %s | grep -v '\t[.]entire/' | grep -v '\t[.]claude/' |"
        " while read m t h p; do [ $(git hash-object --no-filters -- \"$p\") = $h ]"
        " || exit 1; done",
        hash));
    assert_true(folder_is(&w.folder, "two-sessions/src/util.c", "int util(void) { return 1; }\n"));
    assert_false(folder_has(&w.folder, "two-sessions/src/session.c"));
    assert_false(folder_has(&w.folder, "two-sessions/docs"));
    assert_true(folder_has(&w.folder, "two-sessions/trace.log"));
    free(entire_fixture_git(&w, "diff --quiet HEAD -- run.sh && test -x run.sh"));

    /* Only git can restore it: the safety ref holds the former state. */
    char *kept =
        entire_fixture_git(&w, "for-each-ref --format='%%(refname)' 'refs/reprise/before/*'");

    assert_int_not_equal(kept[0], '\0');
    free(entire_fixture_git(&w,
                            "cat-file -e %s:src/session.c && git cat-file -e %s:scratch.txt && "
                            "git fsck --strict",
                            kept, kept));

    assert_int_equal(rewind_undo_plan(&w.env, NULL, &back, NULL), ERR_OK);
    rewind_preview_fini(&v);
    rewind_result_fini(&r);
    assert_int_equal(rewind_preview(&back, &o, &v, NULL), ERR_OK);
    assert_int_equal(rewind_apply(&w.env, &v, &r, NULL), ERR_OK);
    char *again =
        entire_fixture_git(&w, "ls-files -co | sort | xargs sha256sum 2>&1; stat -c '%%a %%n' "
                               "run.sh notes.txt");

    assert_string_equal(files, again);

    /* Nothing has to be kept of a rewind that was undone. */
    char *left = entire_fixture_git(&w, "for-each-ref 'refs/reprise/before/*'");

    assert_string_equal(left, "");
    free(left);
    rewind_preview_fini(&v);
    rewind_result_fini(&r);
    rewind_plan_fini(&back);
    rewind_plan_fini(&p);
    free(hash), free(before), free(files), free(dry), free(after), free(kept), free(again);
    entire_fixture_remove(&w);
}

TEST(a_link_in_the_path_is_not_followed)
{
    struct entire_fixture w;
    struct rewind_plan p;
    struct rewind_preview v;
    struct rewind_options o = { .allow_edited = true };

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_sh(&w, "echo mine > outside && rm two-sessions/src/app.c && "
                               "ln -s ../../outside two-sessions/src/app.c && mkdir elsewhere && "
                               "mv two-sessions/tests elsewhere && "
                               "ln -s ../elsewhere/tests two-sessions/tests"));
    char *hash = hash_at(&w, 600);

    plan(&w, A, hash, false, &p);
    assert_int_equal(rewind_preview(&p, &o, &v, NULL), ERR_OK);
    assert_int_equal(entry_of(&v, "src/app.c")->rule, REWIND_RULE_LINK);
    assert_int_equal(entry_of(&v, "tests/login_test.c")->rule, REWIND_RULE_LINK);
    assert_true(folder_is(&w.folder, "outside", "mine\n"));
    rewind_preview_fini(&v);
    rewind_plan_fini(&p);
    free(hash);
    entire_fixture_remove(&w);
}

/* Committed points, and the data left of those that no commit names. */
TEST(committed_points_have_the_code_of_their_commit)
{
    struct entire_fixture w;
    struct checkpoint_list list;
    struct rewind_plan p;
    struct session_ref ref;

    entire_fixture_make(&w, "committed");
    ask(&w, "c1b2c3d4-0001-4000-8000-00000000000a", &list);
    assert_int_equal(list.n, 3);
    assert_true(slice_eq(list.checkpoint[0].id, SLICE("a3b2c4d5e6f7")));
    assert_true(slice_eq(list.checkpoint[1].id, SLICE("5f0c11d2ab34")));
    assert_true(slice_eq(list.checkpoint[2].id, SLICE("77aa88bb99cc")));
    for (size_t i = 0; i < list.n; i++) {
        assert_int_equal(list.checkpoint[i].kind, CHECKPOINT_COMMIT);
        assert_null(list.checkpoint[i].why);
    }
    assert_true(slice_eq(list.checkpoint[1].prompt, SLICE("Now validate passwords & <limits>")));
    checkpoint_list_fini(&list);
    plan(&w, "c1b2c3d4-0001-4000-8000-00000000000a", "a3b2", false, &p);
    char *gone = paths_of(&p, REWIND_ABSENT);

    assert_non_null(strstr(gone, "src/session.c"));
    free(gone);
    rewind_plan_fini(&p);
    ask(&w, "f1b2c3d4-0004-4000-8000-00000000000d", &list);
    assert_int_equal(list.n, 1);
    assert_non_null(list.checkpoint[0].why);
    checkpoint_list_fini(&list);
    ref = entire_fixture_find(&w, "f1b2c3d4-0004-4000-8000-00000000000d");
    assert_int_equal(entire_ops.plan(w.store, &ref, SLICE("e0e1e2e3e4e5"), &p, NULL),
                     ERR_NOT_FOUND);
    entire_fixture_remove(&w);
}

/* An upstream file in no checkpoint stays, though HEAD has it and the checkpoint does not. */
TEST(files_from_a_pull_are_kept)
{
    struct entire_fixture w;
    struct checkpoint_list list;
    struct rewind_plan p;

    entire_fixture_make(&w, "migration");
    ask(&w, "e1b2c3d4-0001-4000-8000-00000000000a", &list);
    assert_int_equal(list.n, 2);
    plan(&w, "e1b2c3d4-0001-4000-8000-00000000000a", list.checkpoint[0].id.p, false, &p);
    char *gone = paths_of(&p, REWIND_ABSENT);

    assert_null(strstr(gone, "UPSTREAM"));
    free(gone);
    rewind_plan_fini(&p);
    checkpoint_list_fini(&list);
    entire_fixture_remove(&w);
}

TEST(foreign_commits_are_no_points)
{
    struct entire_fixture w;
    struct checkpoint_list list;

    entire_fixture_make(&w, "edge");
    ask(&w, "f1b2c3d4-0001-4000-8000-00000000000a", &list);
    assert_int_equal(list.n, 1);
    assert_true(
        slice_eq(list.checkpoint[0].prompt, SLICE("carry forward: uncommitted session files")));
    checkpoint_list_fini(&list);
    entire_fixture_remove(&w);
}
