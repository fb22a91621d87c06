#include "run.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static void become(const struct run *r, int out)
{
    if (r->discard)
        out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (r->config) {
        setenv("CLAUDE_CONFIG_DIR", r->config, 1);
        setenv("HOME", r->config, 1);
        unsetenv("XDG_STATE_HOME");
        unsetenv("XDG_DATA_HOME");
        unsetenv("XDG_CONFIG_HOME");
    }
    if (r->files) {
        struct rlimit limit = { (rlim_t)r->files, (rlim_t)r->files };

        bench_need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    }
    bench_need(dup2(out, 1) == 1, "dup2");
    execvp(r->argv[0], (char *const *)r->argv);
    perror(r->argv[0]);
    _exit(127);
}

/* There is one object to a line: "[{..." first, "{..." after it. */
static void count(struct run *r, int fd)
{
    static char bytes[1 << 16];
    bool fresh = true;
    ssize_t n;

    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        r->bytes += (size_t)n;
        for (const char *p = bytes, *end = bytes + n; p < end;) {
            if (*p == '[' || *p == ' ') {
                p++;
                continue;
            }
            r->values += fresh && *p == '{';
            p = memchr(p, '\n', (size_t)(end - p));
            fresh = p != NULL;
            p = p ? p + 1 : end;
        }
    }
}

void run_program(struct run *r)
{
    double begin = bench_now();
    struct rusage usage;
    int ends[2], status;
    pid_t pid;

    bench_need(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    pid = fork();
    bench_need(pid >= 0, "fork");
    if (pid == 0)
        become(r, ends[1]);
    close(ends[1]);
    r->bytes = r->values = 0;
    count(r, ends[0]);
    close(ends[0]);
    bench_need(wait4(pid, &status, 0, &usage) == pid, "wait");
    r->wall = bench_now() - begin;
    r->cpu = bench_seconds(usage.ru_utime) + bench_seconds(usage.ru_stime);
    r->peak_kb = usage.ru_maxrss;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > (r->may_fail ? 1 : 0)) {
        fprintf(stderr, "%s: failed\n", r->argv[0]);
        exit(1);
    }
}
