#include "store/proc/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"

enum { READ_STEP = 16384, FIRST_FREE_FD = 3, LOOK_MS = 10 };

struct child {
    pid_t pid;
    int out;  /* what it prints */
    int life; /* readable once the child has ended; -1: it is looked up every LOOK_MS */
    bool eof;
    struct timespec deadline;
};

static bool names_repository(const char *variable)
{
    static const char *const local[] = {
        "GIT_DIR=",    "GIT_WORK_TREE=",        "GIT_COMMON_DIR=", "GIT_INDEX_FILE=",
        "GIT_PREFIX=", "GIT_OBJECT_DIRECTORY=", "GIT_NAMESPACE=",
    };

    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (strncmp(variable, local[i], strlen(local[i])) == 0)
            return true;
    return false;
}

/* `own` is an entry to add, or NULL. The caller frees the array, not its strings. */
static char **environment(const struct spawn *s, char *own)
{
    const size_t name = s->variable ? strlen(s->variable) : 0;
    size_t n = 0, kept = 0;
    char **env;

    while (environ && environ[n])
        n++;
    env = calloc(n + 2, sizeof *env);
    for (size_t i = 0; env && i < n; i++) {
        const bool replaced =
            name && strncmp(environ[i], s->variable, name) == 0 && environ[i][name] == '=';

        if (!replaced && !names_repository(environ[i]))
            env[kept++] = environ[i];
    }
    if (env && own)
        env[kept] = own;
    return env;
}

/* Returns 0 or an errno. */
static int start_child(const struct spawn *s, int out, char **env, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (!rc) {
        rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (!rc)
            rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
        if (!rc && s->errors)
            rc = posix_spawn_file_actions_adddup2(&actions, out, 2);
        else if (!rc)
            rc = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        if (!rc)
            rc = posix_spawn_file_actions_addchdir_np(&actions, s->dir);

        /* Files that are open here, such as locks, must not stay open in the child. */
        if (!rc)
            rc = proc_spawn_close_from(&actions, FIRST_FREE_FD);

        if (!rc) {
            /* The child gets a process group of its own, to be killed as a whole, and default
             * signals. */
            sigset_t none, ignored; /* by tui/main.c */

            sigemptyset(&none);
            sigemptyset(&ignored);
            sigaddset(&ignored, SIGPIPE);
            sigaddset(&ignored, SIGXFSZ);
            rc = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                                           POSIX_SPAWN_SETSIGMASK |
                                                           POSIX_SPAWN_SETSIGDEF);
            if (!rc)
                rc = posix_spawnattr_setpgroup(&attributes, 0);
            if (!rc)
                rc = posix_spawnattr_setsigmask(&attributes, &none);
            if (!rc)
                rc = posix_spawnattr_setsigdefault(&attributes, &ignored);
        }
        if (!rc)
            rc = posix_spawnp(pid, s->argv[0], &actions, &attributes, (char *const *)s->argv, env);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static struct timespec in_ms(int ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000L;
    return t;
}

static enum err_code open_child(const struct spawn *s, struct child *c, struct err *e)
{
    struct buf own = { 0 };
    bool ok = !s->value || (!buf_addf(&own, "%s=%s", s->variable, s->value) && buf_cstr(&own));
    char **env = ok ? environment(s, own.p) : NULL;
    int ends[2], rc;

    if (!env || proc_pipe(ends, false) != 0) {
        enum err_code why =
            env ? err_sys(e, "", "make a pipe") : err_set(e, ERR_NOMEM, "", "run %s", s->argv[0]);

        free(env);
        buf_fini(&own);
        return why;
    }
    rc = start_child(s, ends[1], env, &c->pid);
    free(env);
    buf_fini(&own);
    /* The output ends only when no process has this end open. */
    close(ends[1]);
    if (rc) {
        close(ends[0]);
        errno = rc;
        return err_sys(e, s->dir, "run a program");
    }
    c->out = ends[0];
    c->life = proc_end_fd(c->pid);
    c->deadline = in_ms(s->timeout_ms);
    return ERR_OK;
}

/* Reads the available output; *eof is set at its end. */
static enum err_code read_output(struct child *c, size_t room, struct buf *out, struct err *e)
{
    size_t step = room < READ_STEP ? room + 1 : READ_STEP;
    ssize_t got;

    if (buf_reserve(out, step))
        return err_nomem(e);
    got = read(c->out, out->p + out->n, step);
    if (got < 0)
        return errno == EINTR ? ERR_OK : err_sys(e, "", "read a program's output");
    if ((size_t)got > room)
        return err_set(e, ERR_IO, "", "a program's output is too long");
    out->n += (size_t)got;
    c->eof = got == 0;
    return ERR_OK;
}

/* Reads until the child has closed its output and ended. A grandchild may keep the pipe open forever, so only what is
 * in it when the child has ended is read. */
static enum err_code listen(struct child *c, size_t max, struct buf *out, struct err *e)
{
    size_t before = out->n;

    for (bool ended = false; !c->eof || !ended;) {
        struct pollfd fds[2] = { { .fd = c->eof ? -1 : c->out, .events = POLLIN },
                                 { .fd = ended ? -1 : c->life, .events = POLLIN } };

        struct timespec t = c->deadline;
        struct timespec now = in_ms(0);
        long long ms = (t.tv_sec - now.tv_sec) * 1000LL + (t.tv_nsec - now.tv_nsec) / 1000000;

        int left = (ms > 0 ? (int)ms : 0), wait = c->life < 0 && left > LOOK_MS ? LOOK_MS : left;
        int n = poll(fds, 2, ended ? 0 : wait);
        enum err_code rc = ERR_OK;

        if (n < 0 && errno != EINTR)
            return err_sys(e, "", "wait for a program");
        if (n == 0 && left == 0 && !ended)
            return err_set(e, ERR_IO, "", "a program timed out");
        if (n > 0 && fds[0].revents)
            rc = read_output(c, max - (out->n - before), out, e);
        else if (ended)
            c->eof = true;
        else {
            /* It is not reaped. */
            siginfo_t info = { 0 };
            ended = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                    info.si_pid == c->pid;
        }
        if (rc)
            return rc;
    }
    return ERR_OK;
}

enum err_code spawn_read(const struct spawn *s, struct buf *out, struct err *e)
{
    size_t before = out->n;
    struct child c = { 0 };
    enum err_code rc = open_child(s, &c, e);
    int status;

    if (rc)
        return rc;
    rc = listen(&c, s->max, out, e);
    if (rc)
        kill(-c.pid, SIGKILL); /* not reaped yet, so the number is still its own */
    while (waitpid(c.pid, &status, 0) < 0)
        if (errno != EINTR) {
            status = -1;
            break;
        }
    close(c.out);
    if (c.life >= 0)
        close(c.life);
    if (!rc && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        rc = err_set(e, ERR_IO, s->dir, "%s failed", s->argv[0]);
    if (rc && s->errors && buf_add(s->errors, (struct slice){ out->p + before, out->n - before }))
        rc = err_nomem(e);
    if (rc)
        out->n = before;
    return rc;
}

enum { TIMEOUT_MS = 5000, ANSWER_MOST = 1 << 20 };

static enum open_files spawn_judge(const char *text)
{
    bool self = false, others = false;

    while (*text) {
        char *end;
        long pid = strtol(text, &end, 10);

        self = self || pid == getpid();
        others = others || (pid > 0 && pid != getpid());
        text = end > text ? end : text + 1;
    }
    if (others)
        return OPEN_FILES_OTHERS;
    return self ? OPEN_FILES_OURS : OPEN_FILES_UNKNOWN;
}

enum open_files open_files_ask(int fd, const char *path)
{
    const char *const argv[] = { "fuser", path, NULL };
    const struct spawn fuser = {
        .argv = argv, .dir = "/", .timeout_ms = TIMEOUT_MS, .max = ANSWER_MOST
    };
    AUTO_BUF text = { 0 };
    struct stat st;

    /* Another user's file may be open in that user's programs, which only root can see. */
    if (path[0] == '/' && (geteuid() == 0 || (fstat(fd, &st) == 0 && st.st_uid == geteuid())) &&
        spawn_read(&fuser, &text, NULL) == ERR_OK && buf_cstr(&text))
        return spawn_judge(text.p);
    return OPEN_FILES_UNKNOWN;
}
