#include "tests/test.h"

#include "store/git/repo.h"
#include "support/scratch.h"

/* A repository "main" with worktrees inside and beside it. $1 is the scratch directory. */
static const char build[] =
    "set -e; cd \"$1\"; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null;"
    "git init -q main; cd main;"
    "git -c user.name=t -c user.email=t@t commit -q --allow-empty -m first;"
    "git worktree add -q inside/w1 2>/dev/null; git worktree add -q ../beside 2>/dev/null;"
    "mkdir -p src/deep; cd ..; git init -q --bare bare.git; mkdir plain";

static int repository_setup(void **state)
{
    char command[2048];

    scratch_setup(state);
    snprintf(command, sizeof command, "sh -c '%s' sh %s", build, (const char *)*state);
    scratch_need(system(command) == 0, "git");
    return 0;
}

static void remove_tree(void **state, const char *name)
{
    struct folder f;

    snprintf(f.path, sizeof f.path, "%s", scratch_path(state, name));
    folder_remove(&f);
}

static void expect_list(void **state, const char *from, size_t n)
{
    struct arena a = { 0 };
    struct worktree *tree;
    size_t got;

    assert_int_equal(worktree_list(scratch_path(state, from), &a, &tree, &got, NULL), ERR_OK);
    assert_int_equal(got, n);
    if (n == 3) {
        assert_string_equal(tree[0].path.p, scratch_path(state, "main"));
        assert_int_equal(tree[0].path.n, strlen(tree[0].path.p));
    }
    if (n == 1)
        assert_true(tree[0].bare);
    arena_fini(&a);
}

#define IN_REPOSITORY(name) TEST_WITH(name, repository_setup, scratch_teardown)

IN_REPOSITORY(every_worktree_lists_all_with_the_main_one_first)
{
    expect_list(state, "main", 3);
    expect_list(state, "main/src/deep", 3);
    expect_list(state, "main/inside/w1", 3);
    expect_list(state, "beside", 3);
    expect_list(state, "bare.git", 1);
}

IN_REPOSITORY(a_missing_repository_or_directory_has_no_worktrees)
{
    setenv("GIT_CEILING_DIRECTORIES", *state, 1);
    expect_list(state, "plain", 0);
    expect_list(state, "nothing/here", 0);
    unsetenv("GIT_CEILING_DIRECTORIES");
}

IN_REPOSITORY(a_repository_cannot_make_git_run_programs)
{
    char command[2048];

    snprintf(command, sizeof command,
             "cd %s && printf '#!/bin/sh\\ntouch %s/ran\\n' >evil && chmod +x evil &&"
             "git -C main config core.fsmonitor %s/evil && git -C main config core.hooksPath %s",
             (char *)*state, (char *)*state, (char *)*state, (char *)*state);
    assert_int_equal(system(command), 0);

    expect_list(state, "main", 3);
    assert_int_equal(access(scratch_path(state, "ran"), F_OK), -1);
}

static const char *main_from(void **state, const char *dir, struct arena *a)
{
    const char *path;

    assert_int_equal(worktree_main(scratch_path(state, dir), a, &path, NULL), ERR_OK);
    return path;
}

IN_REPOSITORY(a_removed_worktree_leads_to_the_main_worktree)
{
    struct arena a = { 0 };
    char expected[512];

    snprintf(expected, sizeof expected, "%s", scratch_path(state, "main"));
    remove_tree(state, "main/inside");
    remove_tree(state, "beside");

    assert_string_equal(main_from(state, "main/inside/w1/src", &a), expected);
    assert_string_equal(main_from(state, "main/gone", &a), expected);
    assert_string_equal(main_from(state, "beside", &a), expected);
    assert_string_equal(main_from(state, "beside/src/deep", &a), expected);
    assert_null(main_from(state, "besides", &a));
    assert_null(main_from(state, "plain/gone", &a));
    arena_fini(&a);
}

IN_REPOSITORY(the_main_worktree_leads_to_itself)
{
    struct arena a = { 0 };

    assert_null(main_from(state, "main", &a));
    assert_string_equal(main_from(state, "beside", &a), scratch_path(state, "main"));
    arena_fini(&a);
}
