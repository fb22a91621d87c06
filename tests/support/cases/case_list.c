#include "tests/support/cases/case_list.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { TESTS_MAX = 4096, GROUPS_MAX = 256 };

/* The files add themselves one after the other before main, so that a group's tests are beside each other. */
static struct CMUnitTest tests[TESTS_MAX];
static struct case_group groups[GROUPS_MAX];
static size_t n_tests, n_groups;
static const struct case_group *running; /* NULL: all tests */

/* "fork" for .../test_fork.c */
static struct slice group_name(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

    if (strncmp(name, "test_", 5) == 0)
        name += 5;
    return (struct slice){ name, strcspn(name, ".") };
}

static struct case_group *group_of(const char *file)
{
    struct slice name = group_name(file);

    if (n_groups && slice_eq(groups[n_groups - 1].name, name))
        return &groups[n_groups - 1];
    if (n_groups == GROUPS_MAX)
        abort();
    groups[n_groups] = (struct case_group){ .name = name, .first = n_tests };
    return &groups[n_groups++];
}

void test_add(const char *file, const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down)
{
    struct case_group *group = group_of(file);

    if (n_tests == TESTS_MAX)
        abort();
    tests[n_tests++] = (struct CMUnitTest){
        .name = name, .test_func = test, .setup_func = set_up, .teardown_func = tear_down
    };
    group->n++;
}

void test_add_main(const char *file, int (*run)(void))
{
    group_of(file)->run = run;
}

size_t case_groups(const struct case_group **list)
{
    *list = groups;
    return n_groups;
}

int case_group_run(const struct case_group *group)
{
    umask(022); /* tests speak of modes, and files that a group can write to are not trusted */
    running = group;
    return group->run ? group->run() : test_run(NULL, NULL);
}

int test_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    size_t first = running ? running->first : 0, n = running ? running->n : n_tests;

    if (n == 0)
        abort();
    return _cmocka_run_group_tests("tests", tests + first, n, set_up, tear_down);
}
