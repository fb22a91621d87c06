#ifndef LITE_BASE_CLEANUP_H
#define LITE_BASE_CLEANUP_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"

/* Early returns, and clean-up by scope (an attribute of gcc and clang). A procedure declares its resources so that they
 * are closed on every way out, in the reverse order of the declarations; the steps then follow each other, one a line:
 *
 *     AUTO_ARENA a = { 0 };
 *     CLEANUP(view_close) struct view v = { 0 };
 *     const char *path;
 *
 *     TRY(view_open(st, ref, &v, e));
 *     NEED(path = arena_format(&a, "%s/HEAD", v.root));
 *
 * A variable must be initialised where it is declared, to a value that its function accepts: a step before the one that
 * fills it may return. Nothing may jump over such a declaration. */

/* Returns the code if the call fails. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum err_code try_code = (call);                                                           \
                                                                                                   \
        if (try_code)                                                                              \
            return try_code;                                                                       \
    } while (0)

/* Returns ERR_NOMEM, reported to the parameter `e`, if the value is NULL or false. */
#define NEED(value)                                                                                \
    do {                                                                                           \
        if (!(value))                                                                              \
            return err_nomem(e);                                                                   \
    } while (0)

/* Calls the function with the address of the variable at the end of its scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))
#define AUTO_ARENA CLEANUP(arena_fini) struct arena
#define AUTO_BUF CLEANUP(buf_fini) struct buf
#define AUTO_FREE CLEANUP(free_at)

/* Defines <function>_at, which takes the address of a pointer, for a function that takes the pointer. NULL is skipped.
 * The declaration at the end is for the semicolon: DEFINE_CLEANUP(git_tree, git_tree_free); */
#define DEFINE_CLEANUP(type, function)                                                             \
    static inline void function##_at(type **p)                                                     \
    {                                                                                              \
        if (*p)                                                                                    \
            function(*p);                                                                          \
    }                                                                                              \
    static inline void function##_at(type **p)

static inline void free_at(void *p)
{
    free(*(void **)p);
}

/* Closes a descriptor; -1 is skipped. */
static inline void close_at(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

DEFINE_CLEANUP(DIR, closedir);
#define AUTO_FD CLEANUP(close_at) int
#define AUTO_DIR CLEANUP(closedir_at) DIR

/* Hands a struct over to the caller and empties the variable, so that its clean-up frees nothing. */
#define HAND_OVER(out, variable)                                                                   \
    do {                                                                                           \
        *(out) = (variable);                                                                       \
        memset(&(variable), 0, sizeof(variable));                                                  \
    } while (0)

/* The number of elements of an array (not of a pointer). */
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#endif
