#include "tests/support/entire_fixture.h"

#include "tests/test.h"

#include <stdlib.h>

#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/entire.h"

/* Data that others pushed, left half written or planted: it is listed under problems and never affects the rest. */

static const char plant[] =
    /* v1: a good checkpoint exists already; these are beside it. */
    "cd committed && T=$(mktemp -u) && export GIT_INDEX_FILE=$T && "
    "git read-tree entire/checkpoints/v1 && "
    "put() { git update-index --add --cacheinfo 100644,$(git hash-object -w --stdin),\"$1\"; } && "
    "printf 'not json' | put 11/1111111111/metadata.json && "
    "printf '{\"sessions\":[{\"metadata\":\"/../../../etc/passwd\"}]}' | put "
    "22/2222222222/metadata.json && "
    "printf '{\"sessions\":[{\"metadata\":\"/33/3333333333/0/metadata.json\"}]}' | "
    "put 33/3333333333/metadata.json && "
    "printf '{\"session_id\":\"../../evil\"}' | put 33/3333333333/0/metadata.json && "
    "printf '{\"sessions\":[{\"metadata\":\"/44/4444444444/7/metadata.json\"}]}' | "
    "put 44/4444444444/metadata.json && "
    "head -c 200000 /dev/zero | tr '\\0' '[' | put 55/5555555555/metadata.json && "
    "printf '{\"session_id\":\"esc\\\\u001b[31m\"}' | put 66/6666666666/metadata.json && "
    "printf 'file where a folder should be' | put 88 && "
    "C=$(git commit-tree -p entire/checkpoints/v1 -m planted $(git write-tree)) && "
    "git update-ref refs/heads/entire/checkpoints/v1 $C && rm -f $T && unset GIT_INDEX_FILE && "
    /* Invalid refs. */
    "B=$(echo x | git hash-object -w --stdin) && "
    "git update-ref refs/entire/checkpoints/12/abcdefabcd12 $B && "
    /* Foreign commits on a shadow branch. */
    "S=$(printf 'x\\n\\nEntire-Session: ../../evil\\nEntire-Metadata-Task: a/tasks/../../b\\n' | "
    "git commit-tree HEAD^{tree}) && git update-ref refs/heads/entire/abcdef0-e3b0c4 $S && "
    /* States. */
    "cd .git/entire-sessions && mkdir dir.json && mkfifo fifo.json && ln -s /etc/passwd link.json "
    "&& "
    "printf '{\"session_id\":\"a/b\"}' > slash.json && printf '{\"session_id\":\"other\"}' > "
    "named.json && "
    "printf 'null' > null.json && printf '[]' > array.json && : > empty.json && "
    "printf '{\"session_id\":\"README\"}' > README";

struct seen {
    size_t n;
    char ids[8192];
};

static bool see(const struct session_ref *ref, void *arg)
{
    struct seen *s = arg;
    size_t n = strlen(s->ids);

    snprintf(s->ids + n, sizeof s->ids - n, "%.*s\n", SLICE_ARG(ref->id));
    s->n++;
    return true;
}

static enum err_code hear(const struct finding *f, void *arg, struct err *e)
{
    char *text = arg;
    size_t n = strlen(text);

    (void)e;
    snprintf(text + n, 16384 - n, "%s %s: %s\n", finding_name(f->kind), f->path, f->why);
    return ERR_OK;
}

TEST(sound_data_is_listed_and_bad_data_named)
{
    static const char *const named[] = { "checkpoint 111111111111",
                                         "checkpoint 222222222222",
                                         "checkpoint 333333333333",
                                         "checkpoint 444444444444",
                                         "checkpoint 555555555555",
                                         "checkpoint 666666666666",
                                         "checkpoint abcdefabcd12",
                                         "dir.json",
                                         "fifo.json",
                                         "link.json",
                                         "slash.json",
                                         "named.json",
                                         "null.json",
                                         "array.json",
                                         "empty.json" };
    struct entire_fixture w;
    struct seen all = { .n = 0 };
    char *problems = calloc(1, 16384);

    entire_fixture_make(&w, "committed");
    free(entire_fixture_sh(&w, "%s", plant));
    assert_int_equal(entire_ops.enumerate(w.store, &(struct scope){ .all = true }, see, &all, NULL),
                     ERR_OK);
    assert_int_equal(all.n, 6);
    assert_null(strstr(all.ids, "evil"));
    assert_int_equal(
        entire_ops.check_store(w.store, &(struct scope){ .all = true }, hear, problems, NULL),
        ERR_OK);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!strstr(problems, named[i]))
            fail_msg("%s is not named in:\n%s", named[i], problems);
    free(problems);
    entire_fixture_remove(&w);
}

/* The problems in the words of doctor. */
TEST(lookalikes_and_orphans_are_named)
{
    struct entire_fixture w;
    char *problems = calloc(1, 16384);

    entire_fixture_make(&w, "edge");
    assert_int_equal(
        entire_ops.check_store(w.store, &(struct scope){ .all = true }, hear, problems, NULL),
        ERR_OK);
    assert_non_null(strstr(problems, "broken.json"));
    assert_non_null(strstr(problems, "half.json.tmp"));
    assert_non_null(strstr(problems, "entire/1234567"));
    assert_null(strstr(problems, "entire/notes"));
    free(problems);
    entire_fixture_remove(&w);
}

#define SUM "e0/e1e2e3e4e5/0/content_hash.txt"

/* The output of the command becomes the checksum of the checkpoint e0e1e2e3e4e5. */
static void put_sum(struct entire_fixture *w, const char *command)
{
    free(
        entire_fixture_sh(w,
                          "cd committed && T=$(mktemp -u) && export GIT_INDEX_FILE=$T && "
                          "git read-tree entire/checkpoints/v1 && "
                          "B=$(%s | git hash-object -w --stdin) && "
                          "git update-index --add --cacheinfo 100644,$B," SUM " && "
                          "C=$(git commit-tree -p entire/checkpoints/v1 -m x $(git write-tree)) && "
                          "git update-ref refs/heads/entire/checkpoints/v1 $C && rm -f $T",
                          command));
}

/* It is reported, and nothing more. */
TEST(a_wrong_checksum_is_a_warning)
{
    struct entire_fixture w;
    char *problems = calloc(1, 16384);

    entire_fixture_make(&w, "committed");
    put_sum(&w, "printf 'sha256:%064d' 0");
    struct session_ref ref = entire_fixture_find(&w, "f1b2c3d4-0004-4000-8000-00000000000d");
    struct transcript *t;

    assert_int_equal(entire_ops.load(w.store, &ref, NULL, &t, NULL), ERR_OK);
    assert_int_equal(t->n, 4);
    transcript_free(t);
    assert_int_equal(entire_ops.check(w.store, &ref, NULL, hear, problems, NULL), ERR_OK);
    assert_non_null(strstr(problems, "checksum checkpoint e0e1e2e3e4e5"));
    free(problems);
    entire_fixture_remove(&w);
}

TEST(a_checksum_may_end_in_line_ends_of_either_kind)
{
    struct entire_fixture w;
    char *problems = calloc(1, 16384);

    entire_fixture_make(&w, "committed");
    put_sum(&w, "{ git show entire/checkpoints/v1:" SUM " && printf '\\r\\n\\n'; }");
    struct session_ref ref = entire_fixture_find(&w, "f1b2c3d4-0004-4000-8000-00000000000d");

    assert_int_equal(entire_ops.check(w.store, &ref, NULL, hear, problems, NULL), ERR_OK);
    assert_null(strstr(problems, "checksum"));
    free(problems);
    entire_fixture_remove(&w);
}

/* libgit2 waits for ever on a pipe. */
TEST(a_pipe_in_place_of_a_git_file_is_refused)
{
    static const char *const cases[] = {
        "rm -f .git/config; mkfifo .git/config",
        "mkfifo p; git config include.path ../p",
        "mkfifo p; printf '[include]\\n\\tpath = \\\\\\n  \"../p\" # x\\n' >> .git/config",
        "printf '[include] path = more\\n' >> .git/config; mkfifo p; "
        "printf '[includeIf \"gitdir:/=]\"] path = ../p\\n' > .git/more",
        "mkfifo p; { printf '\\357\\273\\277[include] path = ../p\\n'; cat .git/config; } > c; mv "
        "c .git/config",
        "mkfifo p; git config core.excludesFile $PWD/p",
        "mkfifo p; git config core.attributesFile $PWD/p",
        "rm -f .git/packed-refs; mkfifo .git/packed-refs",
        "rm -f .git/index; mkfifo .git/index",
        "mkdir -p .git/info; rm -f .git/info/exclude; mkfifo .git/info/exclude",
        "mkdir -p .git/objects/info; mkfifo .git/objects/info/alternates",
        "mkdir -p .git/objects/pack; mkfifo .git/objects/pack/x.idx",
        "mkdir -p a/info; mkfifo a/info/alternates; mkdir -p .git/objects/info; "
        "echo $PWD/a > .git/objects/info/alternates",
        "mkfifo .git/refs/heads/pipe",
        "ln -s . .git/refs/heads/for-ever",
        "rm -f .git/packed-refs; ln -s /dev/zero .git/packed-refs",
    };
    struct entire_fixture w;

    entire_fixture_make(&w, "two-sessions");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *dir = entire_fixture_sh(
            &w, "rm -rf x && git init -q x && cd x && %s; printf %%s \"$PWD\"", cases[i]);
        git_repository *repo;
        struct err e = { 0 };

        if (repo_open(dir, &repo, &e) != ERR_UNSAFE)
            fail_msg("%s: %s", cases[i], e.text);
        free(dir);
    }
    entire_fixture_remove(&w);
}

/* libgit2 looks in ~ for the user's own configuration. */
TEST(a_pipe_in_the_home_directory_is_refused_too)
{
    static const char *const cases[] = { "include.path", "core.excludesFile",
                                         "core.attributesFile" };
    struct entire_fixture w;
    git_repository *repo;

    entire_fixture_make(&w, "two-sessions");
    assert_int_equal(gitlib_ready(NULL), ERR_OK);
    assert_int_equal(git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, w.home), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(entire_fixture_sh(&w,
                               "rm -rf x home/p && git init -q x && cd x && git config %s '~/p' && "
                               "echo >> ../home/p",
                               cases[i]));
        char *dir = entire_fixture_sh(&w, "cd x && printf %%s \"$PWD\"");

        assert_int_equal(repo_open(dir, &repo, NULL), ERR_OK);
        repo_close(repo);
        free(entire_fixture_sh(&w, "rm home/p && mkfifo home/p"));
        assert_int_equal(repo_open(dir, &repo, NULL), ERR_UNSAFE);
        free(entire_fixture_sh(&w, "rm home/p && truncate -s 2M home/p"));
        assert_int_equal(repo_open(dir, &repo, NULL), ERR_UNSUPPORTED);
        free(dir);
    }
    assert_int_equal(git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, NULL), 0);
    entire_fixture_remove(&w);
}

static void assert_refused(struct entire_fixture *w, const char *hex, const char *why)
{
    git_repository *repo;
    git_commit *commit;
    git_object *object;
    git_oid id;

    assert_int_equal(repo_open(w->repo, &repo, NULL), ERR_OK);
    assert_int_equal(git_oid_fromstr(&id, hex), 0);
    assert_int_not_equal(git_commit_lookup(&commit, repo, &id), 0);
    assert_non_null(strstr(git_error_last()->message, why));
    assert_int_not_equal(git_object_lookup_prefix(&object, repo, &id, 12, GIT_OBJECT_ANY), 0);
    assert_non_null(strstr(git_error_last()->message, why));
    repo_close(repo);
}

/* libgit2 holds a message in memory twice: a megabyte in a repository can be a gigabyte of message. */
TEST(an_oversized_commit_is_not_read)
{
    struct entire_fixture w;

    entire_fixture_make(&w, "two-sessions");
    char *hex = entire_fixture_git(
        &w, "--version >/dev/null; { printf 'tree %%s\nauthor a <b> 1 +0000\ncommitter a <b> 1 "
            "+0000\n\n' $(git rev-parse HEAD^{tree}); head -c 17000000 /dev/zero | tr '\\0' x; } | "
            "git hash-object -t commit -w --stdin");

    assert_refused(&w, hex, "too large to be read");
    free(entire_fixture_git(&w,
                            "update-ref refs/heads/entire/abcdef1-e3b0c4 %s && "
                            "git repack -adq && test ! -e .git/objects/%.2s/%s",
                            hex, hex, hex + 2));
    assert_refused(&w, hex, "too large to be read");
    assert_true(entire_fixture_find(&w, "a1b2c3d4-0001-4000-8000-00000000000a").id.n > 0);
    free(hex);
    entire_fixture_remove(&w);
}

/* libgit2 reads the size first, and would wait there. */
TEST(a_pipe_in_place_of_an_object_is_refused)
{
    struct entire_fixture w;
    git_repository *repo;
    struct buf bytes = { 0 };
    git_oid id;

    entire_fixture_make(&w, "two-sessions");
    char *hex = entire_fixture_git(&w, "hash-object -w --stdin < run.sh");

    free(entire_fixture_git(&w,
                            "--version >/dev/null; F=.git/objects/%.2s/%s && rm -f $F && "
                            "mkfifo $F",
                            hex, hex + 2));
    assert_int_equal(repo_open(w.repo, &repo, NULL), ERR_OK);
    assert_int_equal(git_oid_fromstr(&id, hex), 0);
    assert_int_not_equal(repo_blob(repo, &id, 4096, &bytes, NULL), ERR_OK);
    repo_close(repo);
    buf_fini(&bytes);
    free(hex);
    entire_fixture_remove(&w);
}

/* libgit2 would not return from the first, and would wait for a writer of the second. */
TEST(truncated_blobs_are_refused_without_waiting)
{
    static const char *const broken[] = {
        "truncate -s 12 $F",
        "rm $F && mkfifo $F",
    };

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct entire_fixture w;
        struct rewind_plan plan;
        struct rewind_preview v;
        struct checkpoint_list list;
        size_t blobs = 0, refused = 0;

        entire_fixture_make(&w, "two-sessions");
        free(entire_fixture_git(&w, "--version >/dev/null; mv .git/objects/pack packs; "
                                    "for p in packs/*.pack; do test ! -e $p || "
                                    "git unpack-objects -q < $p; done; rm -rf packs"));
        struct session_ref ref = entire_fixture_find(&w, "a1b2c3d4-0001-4000-8000-00000000000a");

        assert_int_equal(entire_ops.checkpoints(w.store, &ref, &list, NULL), ERR_OK);
        assert_int_equal(entire_ops.plan(w.store, &ref, list.checkpoint[0].id, &plan, NULL),
                         ERR_OK);
        for (size_t k = 0; k < plan.n; k++) {
            const char *hex = plan.target[k].source.blob;

            if (plan.target[k].want != REWIND_BYTES || !hex)
                continue;
            blobs++;
            free(entire_fixture_git(
                &w, "--version >/dev/null; F=.git/objects/%.2s/%s; chmod u+w $F; %s", hex, hex + 2,
                broken[i]));
        }
        assert_true(blobs > 0);
        assert_int_equal(rewind_preview(&plan, &(struct rewind_options){ .only = NULL }, &v, NULL),
                         ERR_OK);
        for (size_t k = 0; k < v.n; k++)
            refused += v.entry[k].action == REWIND_REFUSED && plan.target[k].want == REWIND_BYTES &&
                       plan.target[k].source.blob;
        assert_int_equal(refused, blobs);
        rewind_preview_fini(&v);
        rewind_plan_fini(&plan);
        checkpoint_list_fini(&list);
        entire_fixture_remove(&w);
    }
}

TEST(a_pipe_in_the_work_tree_refuses_the_rewind)
{
    struct entire_fixture w;
    struct rewind_plan plan;
    struct err e = { 0 };

    entire_fixture_make(&w, "two-sessions");
    struct session_ref ref = entire_fixture_find(&w, "a1b2c3d4-0001-4000-8000-00000000000a");
    struct checkpoint_list list;

    assert_int_equal(entire_ops.checkpoints(w.store, &ref, &list, &e), ERR_OK);
    assert_int_equal(entire_ops.plan(w.store, &ref, list.checkpoint[0].id, &plan, &e), ERR_OK);
    rewind_plan_fini(&plan);
    free(entire_fixture_sh(&w, "cd two-sessions && mkdir -p x/y && mkfifo x/y/.gitignore"));
    assert_int_equal(entire_ops.plan(w.store, &ref, list.checkpoint[0].id, &plan, &e), ERR_UNSAFE);
    checkpoint_list_fini(&list);
    entire_fixture_remove(&w);
}

/* A repository may name "/" as its work tree: a rewind would look through the whole machine. */
TEST(a_work_tree_unrelated_to_the_repository_is_refused)
{
    struct entire_fixture w;
    struct rewind_plan plan;
    struct store *again;
    struct err e = { 0 };

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_sh(&w, "cd two-sessions && git config core.worktree /"));
    assert_int_equal(entire_ops.open(w.store->env, w.store->path, &again, &e), ERR_OK);
    struct session_ref ref = entire_fixture_find(&w, "a1b2c3d4-0001-4000-8000-00000000000a");

    ref.store = again;
    assert_int_equal(entire_ops.plan(again, &ref, SLICE("9e9e724"), &plan, &e), ERR_UNSUPPORTED);
    store_close(again);
    entire_fixture_remove(&w);
}

/* Ten entries that are all the same tree, nine levels deep: 10^9 files in a few objects. */
static const char bomb[] =
    "cd two-sessions && B=$(echo x | git hash-object -w --stdin) && "
    "T=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '100644 blob %%s\tf%%s\n' $B $i; done | git "
    "mktree) && "
    "for n in 1 2 3 4 5 6 7 8; do "
    "T=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %%s\td%%s\n' $T $i; done | git "
    "mktree); "
    "done && R=$(git for-each-ref --format='%%(refname)' 'refs/heads/entire/6d28ff0*') && "
    "C=$(git log -1 --format=%%B $R | git commit-tree $T -p $R) && git update-ref $R $C && printf "
    "$C";

TEST(a_tree_of_a_billion_files_is_refused)
{
    struct entire_fixture w;
    struct rewind_plan plan;
    struct checkpoint_list list;
    struct err e = { 0 };

    entire_fixture_make(&w, "two-sessions");
    char *commit = entire_fixture_sh(&w, bomb);
    struct session_ref ref = entire_fixture_find(&w, "a1b2c3d4-0001-4000-8000-00000000000a");

    assert_int_equal(strlen(commit), 40);
    assert_int_equal(entire_ops.plan(w.store, &ref, (struct slice){ commit, 40 }, &plan, &e),
                     ERR_UNSUPPORTED);
    assert_int_equal(entire_ops.checkpoints(w.store, &ref, &list, &e), ERR_OK);
    assert_non_null(list.checkpoint[list.n - 1].why);
    assert_null(list.checkpoint[0].why);
    checkpoint_list_fini(&list);
    free(commit);
    entire_fixture_remove(&w);
}
