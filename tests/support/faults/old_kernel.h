#ifndef TESTS_SUPPORT_FAULTS_OLD_KERNEL_H
#define TESTS_SUPPORT_FAULTS_OLD_KERNEL_H

#include <stdbool.h>

/* From now on this process and those it forks have a kernel that answers `error` to a system call: ENOSYS for one that
 * it does not know. Cannot be taken back, so it is for a child. False: it cannot be arranged here. */
bool kernel_refuses(long call, int error);

#endif
