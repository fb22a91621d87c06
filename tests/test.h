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

/* Skips a test of what only Linux has: see docs/architecture.md, "Portability". */
#ifdef REPRISE_PORTABLE
#define NEEDS(what) (print_message("there is no such thing here: %s\n", what), skip())
#else
#define NEEDS(what) ((void)(what))
#endif

#endif
