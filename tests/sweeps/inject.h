#ifndef TESTS_SWEEPS_INJECT_H
#define TESTS_SWEEPS_INJECT_H

#include <stdbool.h>

/* A machine that fails at the k-th call that changes a file: open with O_CREAT or O_TMPFILE, write, pwrite, fsync,
 * rename, link, symlink, unlink, mkdir, rmdir, ftruncate, and the calls that set modes, owners and times.
 *
 * Linked into a program, it replaces libc's functions there, and inject_arm chooses the failure; as a module for
 * LD_PRELOAD it does the same to any program, configured by its environment:
 *
 *   INJECT_MODE     kill, kill-after, torn, short, error, error-after, power-cut, power-cut-zeros, stop
 *   INJECT_NTH      which call (from 1); 0 only counts
 *   INJECT_ERRNO    the number of the error
 *   INJECT_STAYS    1: every call from then on (a disk stays full)
 *   INJECT_LOOKS    1: the calls that only read count instead
 *   INJECT_COUNTER  a file of 8 bytes that holds the count, shared over fork and exec
 *
 * Calls inside libc (stdio) and in statically linked programs are not seen. */
enum inject_mode {
    INJECT_NOTHING,
    INJECT_KILL,            /* SIGKILL before the call */
    INJECT_KILL_AFTER,      /* SIGKILL after it */
    INJECT_TORN,            /* half of a write, then SIGKILL; counts writes only */
    INJECT_SHORT,           /* half of a write, returned as such; counts writes only */
    INJECT_ERROR,           /* the call is not made and fails */
    INJECT_ERROR_AFTER,     /* the call is made and reports failure; counts fsync only */
    INJECT_POWER_CUT,       /* SIGKILL before the call, and what was never synced is lost */
    INJECT_POWER_CUT_ZEROS, /* the same, but files keep their new length and read as NULs there */
    INJECT_INTERRUPTED,     /* fails once with EINTR; counts writes, syncs and reads only */
    INJECT_NO_MEMORY, /* not here: the k-th allocation and all after it (tests/support/faults/memory.h) */
    INJECT_STOP, /* SIGSTOP before the call, so that another program can act */
    INJECT_MODES
};

struct inject {
    enum inject_mode mode;
    long nth;
    int error;
    bool stays;
    bool renames;          /* counts renames only */
    bool looks;            /* counts read-only calls instead: open, stat, read, flock, close */
    bool no_tmpfile;       /* the file system has no O_TMPFILE */
    _Atomic long *counter; /* NULL: one of the injector's own */
};

/* Arms this process and those it forks, from now on. */
void inject_arm(const struct inject *how);

#endif
