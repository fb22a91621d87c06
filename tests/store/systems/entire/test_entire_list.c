#include "tests/support/entire_fixture.h"

#include "tests/test.h"

#include <stdlib.h>

#include "store/git/repo.h"
#include "store/query/listing.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/read/catalog.h"

/* libgit2 1.5 loses the match data of each extension of a repository that a pattern does not match. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpcre2";
}

struct seen {
    char ids[4096];
    size_t n;
};

static bool see(const struct session_ref *ref, void *arg)
{
    struct seen *s = arg;
    size_t n = strlen(s->ids);

    snprintf(s->ids + n, sizeof s->ids - n, "%.*s\n", SLICE_ARG(ref->id));
    s->n++;
    return true;
}

static void enumerate(struct entire_fixture *w, const struct scope *scope, struct seen *out)
{
    *out = (struct seen){ .n = 0 };
    assert_int_equal(entire_ops.enumerate(w->store, scope, see, out, NULL), ERR_OK);
}

static struct session_row *describe(struct entire_fixture *w, const char *id)
{
    struct session_ref ref = entire_fixture_find(w, id);
    struct session_row *row = session_row_new();

    assert_int_equal(entire_ops.describe(w->store, &(struct scope){ .all = true }, &ref, row, NULL),
                     ERR_OK);
    return row;
}

static void assert_text(struct slice got, const char *want)
{
    if (!slice_eq(got, slice_of(want)))
        fail_msg("'%.*s' is not '%s'", SLICE_ARG(got), want);
}

TEST(unusual_states_are_read_and_broken_ones_kept)
{
    struct entire_fixture w;
    struct seen all;

    entire_fixture_make(&w, "edge");
    char *before = folder_image(&w.folder, "edge/.git");

    enumerate(&w, &(struct scope){ .all = true }, &all);
    assert_string_equal(all.ids, "2026-01-06-legacy\n"
                                 "f1b2c3d4-0001-4000-8000-00000000000a\n"
                                 "f1b2c3d4-0002-4000-8000-00000000000b\n"
                                 "no-phase\n");
    entire_fixture_open(&w, "wt/test-wt");
    enumerate(&w, &(struct scope){ .all = true }, &all);
    assert_int_equal(all.n, 4);
    char *after = folder_image(&w.folder, "edge/.git");

    assert_string_equal(before, after);
    assert_true(folder_has(&w.folder, "edge/.git/entire-sessions/broken.json"));
    assert_true(folder_has(&w.folder, "edge/.git/entire-sessions/half.json.tmp"));
    free(before);
    free(after);
    entire_fixture_remove(&w);
}

TEST(sessions_belong_to_their_work_tree)
{
    struct entire_fixture w;
    struct seen here;
    char linked[4096];

    entire_fixture_make(&w, "edge");
    enumerate(&w, &(struct scope){ .project = { w.repo, strlen(w.repo) } }, &here);
    assert_int_equal(here.n, 3);
    assert_null(strstr(here.ids, "f1b2c3d4-0002"));
    folder_path(&w.folder, "wt/test-wt", linked);
    enumerate(&w, &(struct scope){ .project = { linked, strlen(linked) } }, &here);
    assert_non_null(strstr(here.ids, "f1b2c3d4-0002"));
    assert_null(strstr(here.ids, "f1b2c3d4-0001"));
    enumerate(&w, &(struct scope){ .project = SLICE("/elsewhere") }, &here);
    assert_int_equal(here.n, 0);
    entire_fixture_remove(&w);
}

TEST(committed_sessions_are_found_by_their_references)
{
    struct entire_fixture w;
    struct seen all;

    entire_fixture_make(&w, "committed");
    enumerate(&w, &(struct scope){ .all = true }, &all);
    assert_string_equal(all.ids, "2026-01-06-c1b2c3d4-0001-4000-8000-00000000000a\n"
                                 "2026-01-06-c1b2c3d4-0002-4000-8000-00000000000b\n"
                                 "c1b2c3d4-0001-4000-8000-00000000000a\n"
                                 "c1b2c3d4-0002-4000-8000-00000000000b\n"
                                 "d1b2c3d4-0003-4000-8000-00000000000c\n"
                                 "f1b2c3d4-0004-4000-8000-00000000000d\n");
    struct session_row *row = describe(&w, "c1b2c3d4-0002-4000-8000-00000000000b");

    assert_text(row->summary, "Document login");
    assert_text(row->agent_name, "Claude Code");
    assert_text(row->git_branch, "feature/login");
    assert_int_equal(row->created_ms, (1770631200 + 402) * 1000LL);
    session_row_free(row);
    row = describe(&w, "2026-01-06-c1b2c3d4-0001-4000-8000-00000000000a");
    assert_text(row->summary, "Add changelog");
    assert_text(row->agent_name, "");
    session_row_free(row);
    entire_fixture_remove(&w);
}

TEST(checkpoints_of_origin_are_used_without_local_ones)
{
    struct entire_fixture w;
    struct seen all;

    entire_fixture_make(&w, "committed");
    free(entire_fixture_sh(&w, "git clone -q committed clone 2>&1"));
    entire_fixture_open(&w, "clone");
    enumerate(&w, &(struct scope){ .all = true }, &all);
    assert_int_equal(all.n, 6);
    entire_fixture_remove(&w);
}

TEST(a_checkpoint_may_have_a_ref_of_its_own)
{
    struct entire_fixture w;
    struct seen all;

    entire_fixture_make(&w, "refs-ulid");
    enumerate(&w, &(struct scope){ .all = true }, &all);
    assert_string_equal(all.ids, "01b2c3d4-0001-4000-8000-00000000000a\n");
    struct session_row *row = describe(&w, "01b2c3d4-0001-4000-8000-00000000000a");

    assert_text(row->summary, "Bump dependencies");
    session_row_free(row);
    entire_fixture_remove(&w);
}

TEST(a_repository_without_entire_is_no_store)
{
    struct folder f;
    struct store *st = NULL;
    struct store_env env = { .cwd = "/" };
    struct err e;
    char path[4096];

    folder_make(&f);
    struct entire_fixture w = { .folder = f };

    free(entire_fixture_sh(&w, "git init -q plain && git init -q new && "
                               "git -C new config core.repositoryformatversion 1 && "
                               "git -C new config extensions.fromthefuture true"));
    folder_path(&f, "plain", path);
    assert_int_equal(entire_ops.open(&env, path, &st, NULL), ERR_NOT_FOUND);
    folder_path(&f, "new", path);
    assert_int_equal(entire_ops.open(&env, path, &st, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "fromthefuture"));
    env.cwd = path; /* not requested, and without data of Entire */
    assert_int_equal(entire_ops.open(&env, NULL, &st, NULL), ERR_NOT_FOUND);
    free(entire_fixture_sh(&w, "mkdir -p new/.git/refs/heads/entire"));
    assert_int_equal(entire_ops.open(&env, NULL, &st, NULL), ERR_UNSUPPORTED);
    free(entire_fixture_sh(
        &w, "cd new/.git && git config -f config --unset extensions.fromthefuture && "
            "git config -f config extensions.worktreeConfig true && "
            "mkdir entire-sessions"));
    assert_int_equal(entire_ops.open(&env, path, &st, NULL), ERR_OK);
    store_close(st);
    folder_remove(&f);
}

/* Lists that are empty or name missing sessions; the numbered folders list them too. */
static const char lists[] =
    "cd committed && T=$(mktemp -u) && export GIT_INDEX_FILE=$T && V=entire/checkpoints/v1 && "
    "git read-tree $V && "
    "put() { git update-index --add --cacheinfo 100644,$(git hash-object -w --stdin),\"$1\"; } && "
    "printf '{\"sessions\":[]}' | put 12/3456789012/metadata.json && "
    "printf '{\"session_id\":\"first\"}' | put 12/3456789012/0/metadata.json && "
    "printf '{\"session_id\":\"second\"}' | put 12/3456789012/3/metadata.json && "
    "printf '{\"sessions\":[{\"metadata\":\"/elsewhere/../metadata.json\"}]}' | "
    "put 12/3456789013/metadata.json && "
    "printf '{\"session_id\":\"third\"}' | put 12/3456789013/0/metadata.json && "
    "C=$(git commit-tree -p $V -m x $(git write-tree)) && git update-ref refs/heads/$V $C && "
    "rm -f $T";

TEST(session_folders_complete_an_incomplete_list)
{
    static const char *const ids[] = { "first", "second", "third" };
    struct entire_fixture w;

    entire_fixture_make(&w, "committed");
    free(entire_fixture_sh(&w, "%s", lists));
    for (size_t i = 0; i < 3; i++)
        assert_non_null(entire_fixture_find(&w, ids[i]).store);
    entire_fixture_remove(&w);
}

TEST(a_fresh_repository_can_have_its_first_session)
{
    struct entire_fixture w;
    struct store *st;

    entire_fixture_make(&w, "committed");
    char *dir =
        entire_fixture_sh(&w, "mkdir fresh && cd fresh && git init -q . && printf %%s \"$PWD\"");

    assert_int_equal(entire_ops.open(&w.env, dir, &st, NULL), ERR_NOT_FOUND);
    assert_int_equal(entire_ops.make(&w.env, dir, NULL), ERR_OK);
    assert_int_equal(entire_ops.open(&w.env, dir, &st, NULL), ERR_OK);
    store_close(st);
    free(dir);
    entire_fixture_remove(&w);
}

/* The line at which a session's part of a checkpoint begins; -1: the checkpoint has no such session. */
static int64_t start_in(const struct point_list *points, const char *checkpoint,
                        const char *session)
{
    for (size_t i = 0; i < points->n; i++)
        if (slice_eq(points->point[i].id, slice_of(checkpoint)) &&
            slice_eq(points->point[i].session, slice_of(session)))
            return points->point[i].transcript_start;
    return -1;
}

TEST(each_session_of_a_checkpoint_begins_at_its_own_line)
{
    struct entire_fixture w;
    git_repository *repo;
    struct arena a = { 0 };
    struct point_list points = { 0 };
    struct problem_list problems = { 0 };

    entire_fixture_make(&w, "committed");
    assert_int_equal(repo_open(w.repo, &repo, NULL), ERR_OK);
    assert_int_equal(committed_read(repo, &a, &points, &problems, NULL), ERR_OK);

    /* The first session has a line, the second has none: its transcript begins in this checkpoint. */
    assert_int_equal(start_in(&points, "5f0c11d2ab34", "c1b2c3d4-0001-4000-8000-00000000000a"), 4);
    assert_int_equal(start_in(&points, "5f0c11d2ab34", "c1b2c3d4-0002-4000-8000-00000000000b"), 0);
    git_repository_free(repo);
    arena_fini(&a);
    entire_fixture_remove(&w);
}
