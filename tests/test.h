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

/* What only Linux has (docs/architecture.md, "Portability"). A test asks for it where the second way keeps its promise
 * differently, and NEEDS skips a test of the thing itself. */
#ifdef REPRISE_PORTABLE
enum { HAS_LEASES = 0, HAS_PROCESS_TABLE = 0 };
#define NEEDS(what) (print_message("there is no such thing here: %s\n", what), skip())
#else
enum { HAS_LEASES = 1, HAS_PROCESS_TABLE = 1 };
#define NEEDS(what) ((void)(what))
#endif

#endif
