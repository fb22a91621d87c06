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

#endif
