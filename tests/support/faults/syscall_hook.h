#ifndef TESTS_SUPPORT_FAULTS_SYSCALL_HOOK_H
#define TESTS_SUPPORT_FAULTS_SYSCALL_HOOK_H

#include <stdbool.h>

/* One moment in a run: just before a certain system call, something else happens, or the call fails.
 *
 * A test that is linked with this (unit_at_moments in tests/CMakeLists.txt) has its calls and the library's come by
 * here. Names are compared by their last part, with a leading * by their end; calls that take a descriptor go by the
 * name of the file that it is. */
struct syscall_hook {
    const char *call;        /* "renameat2", "openat", ... as in syscall_hook.c */
    const char *name;        /* NULL: any */
    int nth;                 /* of those, from 1; 0 is 1 */
    int error;               /* it is not made and fails; 0: it is made all the same */
    bool stays;              /* fails from then on */
    void (*then)(void *arg); /* NULL, or what somebody else does before it */
    void *arg;
};

/* Nothing but this one happens from now on; and up to two more besides. */
void syscall_hook_arm(const struct syscall_hook *m);
void syscall_hook_arm_also(const struct syscall_hook *m);
/* Did what was armed come, all of it? Disarms. */
bool syscall_hook_fired(void);

#endif
