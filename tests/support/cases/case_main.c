/* The main of a program of tests:
 *   PROGRAM                  every group, each in a process of its own
 *   PROGRAM GROUP [PATTERN]  the tests of one file, test_GROUP.c, or those of them whose names match (* and ?) */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/cases/case_list.h"

/* A group may leave the process in any state: without memory, in another directory, under a filter of system calls. */
static bool passes_alone(const struct case_group *group)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        exit(case_group_run(group) ? EXIT_FAILURE : EXIT_SUCCESS);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int run_all(const struct case_group *group, size_t n)
{
    size_t failed = 0;

    for (size_t i = 0; i < n; i++) {
        fprintf(stderr, "== %.*s\n", SLICE_ARG(group[i].name));
        if (passes_alone(&group[i]))
            continue;
        fprintf(stderr, "== %.*s failed\n", SLICE_ARG(group[i].name));
        failed++;
    }
    fprintf(stderr, "== %zu of %zu groups failed\n", failed, n);
    return failed != 0;
}

int main(int argc, char **argv)
{
    const struct case_group *group;
    size_t n = case_groups(&group);

    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    if (argc < 2)
        return n == 1 ? case_group_run(group) : run_all(group, n);
    for (size_t i = 0; i < n; i++)
        if (slice_eq(group[i].name, slice_of(argv[1])))
            return case_group_run(&group[i]);
    fprintf(stderr, "%s has no group %s, but these:\n", argv[0], argv[1]);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%.*s\n", SLICE_ARG(group[i].name));
    return EXIT_FAILURE;
}
