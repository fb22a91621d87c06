#ifndef STORE_PROC_PROCESS_H
#define STORE_PROC_PROCESS_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lite/base/slice.h"

/* Information about processes. process_linux.c gets it from Linux; process_portable.c, which is built instead with
 * -DREPRISE_PORTABLE=ON, uses other means or returns nothing (docs/architecture.md, "Portability"). */

/* The folder with the table of processes, in the form of proc(5), or NULL. */
const char *proc_table(void);

struct proc_info {
    char state;     /* the letter of proc(5) */
    char start[24]; /* digits: when it started, in ticks since boot */
};

/* Examines a process. Returns false if it does not exist or cannot be examined. */
bool proc_info(pid_t pid, struct proc_info *out);
/* The machine and the pid namespace, in which process ids are valid; "" if that cannot be determined. */
void proc_domain(char *out, size_t cap);
/* Returns true if this is the id of the present boot. */
bool proc_is_boot(struct slice id);
/* An upper limit for how long this process has been running. Returns false if that is not known. */
bool proc_age_ms(int64_t *age);
/* The path of the running program. Returns false if it is not known. */
bool proc_program(char *out, size_t cap);

enum proc_lock { PROC_LOCK_UNKNOWN, PROC_LOCK_NONE, PROC_LOCK_LIKELY, PROC_LOCK_HELD };

/* Determines whether a program holds a lock on a file, from a process table (may be NULL) and without touching the
 * file; *pid is the holder. PROC_LOCK_LIKELY: some file systems report another device there than stat does. */
enum proc_lock proc_lock_of(const char *table, const struct stat *file, pid_t *pid);

/* A descriptor that is readable once a child has ended; -1 if the system has no such descriptors. */
int proc_end_fd(pid_t child);
/* A pipe that no other program inherits. -1 with errno. */
int proc_pipe(int ends[2], bool nonblocking);
/* Closes all descriptors from `first` on in a child. Returns an errno. */
int proc_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

#endif
