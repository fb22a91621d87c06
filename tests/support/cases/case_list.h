#ifndef TESTS_SUPPORT_CASES_CASE_LIST_H
#define TESTS_SUPPORT_CASES_CASE_LIST_H

#include "lite/base/slice.h"
#include "tests/test.h"

/* The groups of tests that are linked into a program: one for each test file. */
struct case_group {
    struct slice name; /* "fork" for test_fork.c */
    size_t first, n;   /* its tests */
    int (*run)(void);  /* its TEST_MAIN; NULL: the tests alone */
};

/* Returns the number of groups; `list` is valid until the program ends. */
size_t case_groups(const struct case_group **list);
/* Returns the number of failures. */
int case_group_run(const struct case_group *group);

#endif
