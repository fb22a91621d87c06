#ifndef TESTS_TEST_H
#define TESTS_TEST_H

/* cmocka.h needs these four before it, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* Features that only Linux has (docs/architecture.md, "Portability"). A test asks for it where the second way keeps its
 * promise differently, and NEEDS skips a test of the thing itself. */
#ifdef REPRISE_PORTABLE
enum { HAS_LEASES = 0, HAS_PROCESS_TABLE = 0 };
#define NEEDS(what) (print_message("there is no such thing here: %s\n", what), skip())
#else
enum { HAS_LEASES = 1, HAS_PROCESS_TABLE = 1 };
#define NEEDS(what) ((void)(what))
#endif

/* A test of this file; `state` is a void **. TEST_WITH runs two functions of cmocka before and after it. The tests of a
 * file are a group and run in the order of the file; a program has the groups of all files that are linked into it:
 * support/cases/case_main.c. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        test_add(__BASE_FILE__, #name, name, set_up, tear_down);                                   \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

/* TEST_MAIN { ... return test_run(set_up, tear_down); }: what a file runs instead of its tests alone. Its value is the
 * number of failures. */
#define TEST_MAIN                                                                                  \
    static int run_file(void);                                                                     \
    __attribute__((constructor)) static void add_run_file(void)                                    \
    {                                                                                              \
        test_add_main(__BASE_FILE__, run_file);                                                    \
    }                                                                                              \
    static int run_file(void)

void test_add(const char *file, const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down);
void test_add_main(const char *file, int (*run)(void));
/* Runs the file's tests, between two functions that may be NULL. Returns the number of failures. */
int test_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
