#include <errno.h>
#include <fcntl.h>
#include <reprise.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A host with the default disposition of every signal: SIGIO, SIGPIPE and SIGXFSZ would end it.
 *   usage: signals DIRECTORY */

#define LARGE 100000

static const char message[] = "{\"uuid\":\"m-1\",\"role\":\"user\",\"content\":\"pay\"}\n";
static const char big[] = "{\"uuid\":\"big\",\"role\":\"user\",\"content\":\"much\"}";
static char file[4096], log_file[4200];
static int broken; /* leases */

/* A portable build takes none. */
static int has_leases(void)
{
    return getenv("REPRISE_PORTABLE") == NULL;
}

static void need(int holds, const char *what, const struct reprise_error *e)
{
    if (holds)
        return;
    fprintf(stderr, "signals: %s: %s\n", what, e ? e->message : "");
    exit(1);
}

static struct reprise *open_in(const char *top)
{
    static char home[4200], path[4200];
    const char *environment[] = { home, NULL };
    struct reprise_options o = { .size = sizeof o,
                                 .system = "goat",
                                 .path = path,
                                 .environment = environment,
                                 .flags = REPRISE_OPEN_CREATE };
    struct reprise_error e;
    struct reprise *r = NULL;

    snprintf(home, sizeof home, "HOME=%s", top);
    snprintf(path, sizeof path, "%s/sessions", top);
    snprintf(file, sizeof file, "%s/file", top);
    snprintf(log_file, sizeof log_file, "%s/sessions/pay-1/messages.jsonl", top);
    need(!reprise_open(&o, &r, &e), "open", &e);
    return r;
}

static void write_file(const char *text)
{
    FILE *f = fopen(file, "w");

    need(f && fputs(text, f) >= 0 && fclose(f) == 0, "write a file", NULL);
}

/* Every lease that the library takes is broken at once by an open, as an editor or an agent may do in the moment in
 * which it is held; the kernel then sends SIGIO to its holder. The library calls this function instead of libc's. */
int fcntl64(int fd, int command, ...)
{
    char path[64];
    va_list args;

    va_start(args, command);
    long arg = va_arg(args, long);
    va_end(args);
    int rc = (int)syscall(SYS_fcntl, fd, command, arg), error = errno;

    if (rc == 0 && command == F_SETLEASE && arg != F_UNLCK) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int other = open(path, O_WRONLY | O_NONBLOCK);

        broken += other < 0 && errno == EWOULDBLOCK;
        if (other >= 0)
            close(other);
    }
    errno = error;
    return rc;
}

static void while_leases_are_broken(struct reprise_session *s)
{
    struct reprise_rewind_options o = { sizeof o, REPRISE_REWIND_BOTH,
                                        REPRISE_REWIND_EDITED | REPRISE_REWIND_OUTSIDE, NULL, 0 };
    struct reprise_rewind *w = NULL;
    struct reprise_error e;

    need(!reprise_rewind_plan(s, "m-1", &o, &w, &e), "plan", &e);
    need(broken > 0 || !has_leases(), "the plan takes a lease", NULL);
    broken = 0;
    need(!reprise_rewind_apply(w, 0, &e), "apply", &e);
    need(broken > 0 || !has_leases(), "the apply takes a lease", NULL);
    reprise_rewind_close(w);
}

static void beyond_the_limit_of_files(struct reprise_session *s)
{
    struct rlimit was, small;
    struct stat before, after;
    struct reprise_error e;
    char *row = malloc(LARGE);

    need(row && getrlimit(RLIMIT_FSIZE, &was) == 0 && stat(log_file, &before) == 0, "set up", NULL);
    memset(row, ' ', LARGE);
    memcpy(row, big, strlen(big));
    row[LARGE - 1] = '\n';
    small = was;
    small.rlim_cur = (rlim_t)before.st_size + 10;
    need(setrlimit(RLIMIT_FSIZE, &small) == 0, "limit", NULL);
    int rc = reprise_append(s, row, LARGE, 0, NULL, &e);

    need(setrlimit(RLIMIT_FSIZE, &was) == 0, "limit", NULL);
    need(rc == REPRISE_IO && e.system == EFBIG, "an append beyond the limit is an error", &e);
    need(stat(log_file, &after) == 0 && after.st_size == before.st_size, "nothing of it stays",
         NULL);
    free(row);
}

/* In the host's function, writing to a reader that went away is also only an error. */
static int write_to_nobody(const char *json, size_t length, void *arg)
{
    const int *end = arg;

    return write(*end, json, length) < 0 && errno == EPIPE ? 0 : 1;
}

static void without_a_reader(struct reprise_session *s)
{
    struct reprise_error e;
    int ends[2];

    need(pipe(ends) == 0 && close(ends[0]) == 0, "pipe", NULL);
    need(!reprise_messages_each(s, NULL, write_to_nobody, &ends[1], &e), "messages", &e);
    close(ends[1]);
}

/* The lease shows whether a program has the session open: a program that opens it breaks the lease. */
static void while_a_session_is_deleted(struct reprise_session *s)
{
    struct reprise_error e;

    broken = 0;
    int rc = reprise_delete(s, 0, NULL, &e);

    need(rc == REPRISE_OK || rc == REPRISE_LOCKED, "delete", &e);
    need(broken > 0 || !has_leases(), "the deletion takes a lease", NULL);
}

static void dispositions_are_as_they_were(void)
{
    static const int signals[] = { SIGIO, SIGPIPE, SIGXFSZ };
    struct sigaction act;
    sigset_t blocked, pending;

    need(sigprocmask(SIG_SETMASK, NULL, &blocked) == 0 && sigpending(&pending) == 0, "the mask",
         NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        need(sigaction(signals[i], NULL, &act) == 0 && act.sa_handler == SIG_DFL, "a handler",
             NULL);
        need(!sigismember(&blocked, signals[i]) && !sigismember(&pending, signals[i]), "a signal",
             NULL);
    }
}

int main(int argc, char **argv)
{
    const char *files[] = { file };
    struct reprise_checkpoint_request point = { sizeof point, "m-1", files, 1, NULL, NULL, NULL };
    struct reprise_create_request request = {
        sizeof request, "pay-1", NULL, NULL, NULL, NULL, NULL
    };
    struct reprise_session *s = NULL;
    struct reprise_error e;

    if (argc != 2)
        return 2;
    signal(SIGIO, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    struct reprise *r = open_in(argv[1]);

    write_file("what the person wrote\n");
    need(!reprise_create(r, &request, &s, &e), "create", &e);
    need(!reprise_append(s, message, strlen(message), 0, NULL, &e), "append", &e);
    need(!reprise_checkpoint(s, &point, NULL, &e), "checkpoint", &e);
    write_file("what the agent wrote\n");
    while_leases_are_broken(s);
    beyond_the_limit_of_files(s);
    without_a_reader(s);
    while_a_session_is_deleted(s);
    dispositions_are_as_they_were();
    reprise_session_close(s);
    reprise_close(r);
    return 0;
}
