#ifndef STORE_PROC_PROCESS_H
#define STORE_PROC_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Information about processes. process_linux.c gets it from Linux; process_portable.c, which is built instead with
 * -DREPRISE_PORTABLE=ON, uses other means or returns nothing (docs/architecture.md, "Portability"). */

/* The folder with the table of processes, in the form of proc(5), or NULL. */
const char *proc_table(void);

struct proc_info {
    char state;        /* the letter of proc(5) */
    char start[24];    /* digits: when it started, in ticks since boot */
    char terminal[32]; /* "/dev/pts/4": its controlling pseudo-terminal, or "" */
};

/* Examines a process. Returns false if it does not exist or cannot be examined. */
bool proc_info(pid_t pid, struct proc_info *out);
/* The machine and the pid namespace, in which process ids are valid; "" if that cannot be determined. */
void proc_domain(char *out, size_t cap);
/* The id of the present boot, which all containers of a machine share; "" if that is not known. */
void proc_boot(char *out, size_t cap);
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

/* ---- signals ---- */

/* Blocked signals that are read from a descriptor: by signalfd on Linux (process_linux.c), or else by a thread that
 * waits for them and writes their numbers to a pipe (process_portable.c, -DREPRISE_PORTABLE=ON). */
struct proc_signals {
    int fd; /* readable when a signal has come */
    sigset_t set;
    int in; /* the rest is for the thread */
    bool runs;
    pthread_t thread;
};

/* All threads must block these signals already. -1 with errno. */
int proc_signals_open(struct proc_signals *s, const sigset_t *set);
void proc_signals_close(struct proc_signals *s);
/* The next signal that has come, or 0. */
int proc_signals_next(const struct proc_signals *s);
/* Between pause and continue, a signal that this thread unblocks takes its usual action and is not read from fd. */
void proc_signals_pause(struct proc_signals *s);
void proc_signals_continue(struct proc_signals *s);

/* ---- other programs (spawn.c) ---- */

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

/* ---- open files (spawn.c) ---- */

/* Determines with fuser(1) who has a file open, where leases are not available (store/log/lease.h). The answer is only
 * a hint, because a program may open the file right afterwards. It is good enough to show a session as running or
 * quiet, but not to truncate it. */
enum open_files {
    /* fuser is missing or does not see this process, or the file belongs to another user */
    OPEN_FILES_UNKNOWN,
    OPEN_FILES_OURS, /* no other process has it open */
    OPEN_FILES_OTHERS,
};

/* `fd` is this process's descriptor of the file: an answer that does not include this process is rejected. The path is
 * absolute. */
enum open_files open_files_ask(int fd, const char *path);

#endif
