#ifndef STORE_PROC_SPAWN_H
#define STORE_PROC_SPAWN_H

#include "lite/base/buf.h"
#include "lite/base/err.h"

/* Runs another program (git or an agent's command, never an interactive one) and reads its output. */
struct spawn {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH, without a shell */
    const char *dir;         /* its working directory */
    int timeout_ms;
    size_t max; /* bytes of output, at most */
    /* a variable of its environment; value NULL: it is unset; variable NULL: no change */
    const char *variable, *value;
    /* gets what it printed if it failed; its standard error then counts as output. NULL: not wanted */
    struct buf *errors;
};

/* Runs it with empty standard input, discards its standard error (unless errors are wanted) and appends its output to
 * out. The program does not outlive the call: if it takes too long or prints too much, it is killed with its process
 * group. Its environment is ours without the variables that name a git repository, so that `dir` alone decides which
 * one is meant. ERR_NOT_FOUND: no such program or directory. ERR_IO: it failed, timed out, or printed more than max. On
 * failure out is unchanged. */
MUST_CHECK enum err_code spawn_read(const struct spawn *s, struct buf *out, struct err *e);

#endif
