#ifndef STORE_PROC_SPAWN_H
#define STORE_PROC_SPAWN_H

#include "lite/base/buf.h"
#include "lite/base/err.h"

/* Another program's answer, read whole: git, and nothing that asks or draws. */
struct spawn {
    const char *const
        *argv;       /* NULL-terminated; argv[0] is looked for in PATH. No shell is between */
    const char *dir; /* where it starts */
    int timeout_ms;
    size_t max; /* bytes it may print */
};

/* Runs it with empty standard input, its errors thrown away, and appends what it printed to out. It does
 * not outlive the call: what is late or talks too much is killed, with its process group. The environment
 * is ours without the variables that name a git repository: `dir` alone says which one is meant.
 * ERR_NOT_FOUND: no such program or directory. ERR_IO: it failed, was late, or printed more than max.
 * On failure out is as it was. */
MUST_CHECK enum err_code spawn_read(const struct spawn *s, struct buf *out, struct err *e);

#endif
