#ifndef TESTS_SUPPORT_FAULTS_SYSCALL_HOOK_H
#define TESTS_SUPPORT_FAULTS_SYSCALL_HOOK_H

#include <stdbool.h>

/* A hook at one moment of a run: just before a chosen system call something else happens, or the call fails.
 *
 * A test that is linked with this (unit_at_moments in tests/CMakeLists.txt) has its calls and the library's routed
 * through here. Names are compared by their last part, with a leading * by their end; calls that take a descriptor go
 * by the name of the file that it is. */
struct syscall_hook {
    /* "renameat2" (in every build: what exchanges or gives a name), "openat", ... as in syscall_hook.c */
    const char *call;
    const char *name;        /* NULL: any */
    int nth;                 /* the number of the call, from 1; 0 means 1 */
    int error;               /* the error with which the call fails unmade; 0: it is made */
    bool stays;              /* every later call fails too */
    void (*then)(void *arg); /* NULL, or called before it, in the role of another program */
    void *arg;
};

/* Arms this hook alone; syscall_hook_arm_also adds up to two more. */
void syscall_hook_arm(const struct syscall_hook *m);
void syscall_hook_arm_also(const struct syscall_hook *m);
/* Returns true if everything armed has fired. Disarms. */
bool syscall_hook_fired(void);

#endif
