#ifndef TESTS_SUPPORT_FAULTS_OLD_KERNEL_H
#define TESTS_SUPPORT_FAULTS_OLD_KERNEL_H

#include <stdbool.h>

/* From now on this process and those it forks have a kernel that fails a system call with `error`: ENOSYS for an
 * unknown one. This cannot be undone, so it is for a child. Returns false if it cannot be arranged here. */
bool kernel_refuses(long call, int error);

#endif
