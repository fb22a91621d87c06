#ifndef TESTS_BENCH_RUN_H
#define TESTS_BENCH_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* One run of another program, measured from outside. */
struct run {
    const char *const *argv; /* NULL-terminated */
    const char *config;      /* CLAUDE_CONFIG_DIR and HOME for it; NULL: as they are */
    int files;               /* descriptor limit; 0: ours */
    /* Its output goes to /dev/null: bytes and values stay 0. Not for GNU grep and diff, which stop at the first match or
     * difference when they see that. */
    bool discard;
    bool may_fail; /* exit 1 is a result (diff: the files differ) */

    double wall, cpu; /* seconds */
    long peak_kb;
    size_t bytes;  /* printed by it */
    size_t values; /* objects in the output: lines that begin with one */
};

/* Ends this program if the other one fails. */
void run_program(struct run *r);

#endif
