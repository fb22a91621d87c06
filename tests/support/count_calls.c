/* Runs a program and counts the system calls that it and its threads make.
 *
 *   count_calls OUTPUT PROGRAM ARGUMENT...
 *
 * OUTPUT gets a line "NAME COUNT" for each call below. Exit status: the program's, or 77 where no program may be traced. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_TRACE = 77 };

static struct {
    const char *name;
    unsigned long number;
    long count;
} calls[] = {
    { "open", SYS_openat, 0 },     { "close", SYS_close, 0 },         { "read", SYS_pread64, 0 },
    { "stat", SYS_newfstatat, 0 }, { "stat", SYS_fstat, 0 },          { "stat", SYS_statx, 0 },
    { "usage", SYS_getrusage, 0 }, { "clock", SYS_clock_gettime, 0 }, { "futex", SYS_futex, 0 },
};
enum { CALLS = sizeof calls / sizeof *calls };

static void run_traced(char **argv)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(CANNOT_TRACE);
    raise(SIGSTOP);
    execv(argv[0], argv);
    _exit(127);
}

int main(int argc, char **argv)
{
    const long options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL;
    int status, answer = 1;

    if (argc < 3) {
        fputs("usage: count_calls OUTPUT PROGRAM ARGUMENT...\n", stderr);
        return 2;
    }
    const pid_t child = fork();

    if (child == 0)
        run_traced(argv + 2);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL, options) != 0 ||
        ptrace(PTRACE_SYSCALL, child, NULL, NULL) != 0)
        return CANNOT_TRACE;

    for (;;) {
        const pid_t thread = waitpid(-1, &status, __WALL);
        long signal_on = 0;

        if (thread < 0 && errno == EINTR)
            continue;
        if (thread < 0)
            break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child)
                answer = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;
            long got = ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);

            if (got <= 0)
                return CANNOT_TRACE;
            for (size_t i = 0; info.op == PTRACE_SYSCALL_INFO_ENTRY && i < CALLS; i++)
                calls[i].count += calls[i].number == info.entry.nr;
        } else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
            signal_on = WSTOPSIG(status);
        }
        ptrace(PTRACE_SYSCALL, thread, NULL, signal_on);
    }

    FILE *out = fopen(argv[1], "w");

    if (!out)
        return 1;
    for (size_t i = 0; i < CALLS; i++)
        fprintf(out, "%s %ld\n", calls[i].name, calls[i].count);
    return fclose(out) == 0 ? answer : 1;
}
