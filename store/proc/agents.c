#include "store/proc/live.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/proc/process.h"

enum {
    STALE_AFTER_MS = 1000,
    TEXT_MOST = 1 << 20, /* bytes of a command line or an environment */
    FIRST_ARGUMENTS = 3, /* among which the script of an interpreter is searched */
    START_FIELD = 19,    /* index after the name in <pid>/stat; number 22 in proc(5) */
    SLACK_MS = 2000,     /* start times are exact to a tick, the boot time to a second */
};

struct process {
    pid_t pid;
    int64_t start_ms;
    char *cwd;
    bool anywhere;     /* its directory cannot be known */
    struct slice args; /* each ends with a NUL */
};

struct agents {
    struct agents_profile of;
    pthread_mutex_t lock; /* protects all below */
    struct arena arena;
    struct process *process; /* in the arena */
    size_t n;
    int64_t read_ms;
    bool known;
    bool blind; /* the processes could not be listed */
};

struct agents *agents_new(const struct agents_profile *of)
{
    struct agents *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->of = *of;
    if (pthread_mutex_init(&a->lock, NULL) == 0)
        return a;
    free(a);
    return NULL;
}

void agents_free(struct agents *a)
{
    if (!a)
        return;
    pthread_mutex_destroy(&a->lock);
    arena_fini(&a->arena);
    free(a);
}

/* ---- one process ---- */

static bool next_argument(struct slice *rest, struct slice *argument)
{
    if (rest->n == 0)
        return false;
    const char *end = memchr(rest->p, '\0', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;

    *argument = (struct slice){ rest->p, n };
    rest->p += n + (end != NULL);
    rest->n -= n + (end != NULL);
    return true;
}

static bool proc_agents_is_program(struct slice argument, const char *program)
{
    size_t n = strlen(program);

    if (strchr(program, '/'))
        return memmem(argument.p, argument.n, program, n) != NULL;
    const char *slash = argument.n ? memrchr(argument.p, '/', argument.n) : NULL;

    if (slash) {
        argument.n -= (size_t)(slash + 1 - argument.p);
        argument.p = slash + 1;
    }
    return argument.n == n && memcmp(argument.p, program, n) == 0;
}

static bool proc_agents_is_agent(const struct agents_profile *of, struct slice args)
{
    static const char *const interpreters[] = { "node", "bun", "deno", NULL };
    struct slice argument;
    bool script = false;

    for (int i = 0; i < FIRST_ARGUMENTS && next_argument(&args, &argument); i++) {
        for (const char *const *name = of->program; *name && (i == 0 || script); name++)
            if (proc_agents_is_program(argument, *name))
                return true;
        for (const char *const *name = interpreters; *name && !script; name++)
            script = proc_agents_is_program(argument, *name);
    }
    return false;
}

static bool proc_agents_read_text(int dir, const char *name, struct buf *text)
{
    text->n = 0;
    return !file_read_all(dir, name, 0, TEXT_MOST, text, NULL);
}

/* Finds "VARIABLE=value" among NUL-terminated texts. */
static struct slice variable(struct slice environment, const char *name)
{
    struct slice one;
    size_t n = strlen(name);

    while (next_argument(&environment, &one))
        if (one.n > n && one.p[n] == '=' && memcmp(one.p, name, n) == 0)
            return (struct slice){ one.p + n + 1, one.n - n - 1 };
    return (struct slice){ NULL, 0 };
}

/* If its environment cannot be read, or lacks the variable, the agent may use our store. */
static bool has_other_config(const struct agents_profile *of, int dir, struct buf *text)
{
    char path[PATH_MAX];
    struct stat ours, theirs;

    if (!proc_agents_read_text(dir, "environ", text) || text->n == 0)
        return false;
    struct slice config = variable(buf_slice(text), of->config_variable),
                 home = variable(buf_slice(text), "HOME");

    if (config.p)
        snprintf(path, sizeof path, "%.*s", SLICE_ARG(config));
    else if (home.p)
        snprintf(path, sizeof path, "%.*s/%s", SLICE_ARG(home), of->config_at_home);
    else
        return false;
    return path[0] == '/' && stat(of->config, &ours) == 0 && stat(path, &theirs) == 0 &&
           (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);
}

static bool proc_agents_add_agent(struct agents *a, int dir, pid_t pid, struct slice args,
                                  int64_t boot, struct buf *text)
{
    struct process *all = arena_grow(&a->arena, a->process, a->n, sizeof *all), *p;
    char cwd[PATH_MAX];
    ssize_t n = readlinkat(dir, "cwd", cwd, sizeof cwd);

    if (!all)
        return false;
    a->process = all;
    p = &all[a->n];
    *p = (struct process){ .pid = pid, .args = arena_copy(&a->arena, args) };
    if (n > 0)
        p->cwd = (char *)arena_copy(&a->arena, (struct slice){ cwd, (size_t)n }).p;

    /* Its start time is in ticks since boot. Its name may contain blanks and brackets. */
    const char *at = NULL;

    if (proc_agents_read_text(dir, "stat", text) && buf_cstr(text))
        at = strrchr(text->p, ')');
    for (int field = 0; at && field <= START_FIELD; field++)
        at = strchr(at + 1, ' ');
    int64_t ticks = at ? strtoll(at + 1, NULL, 10) : -1, hertz = sysconf(_SC_CLK_TCK);

    p->start_ms = ticks >= 0 && hertz > 0 ? boot + ticks * 1000 / hertz : 0;
    a->n += p->args.p != NULL;
    return p->args.p != NULL;
}

/* ---- without a table of processes ---- */

static struct slice proc_agents_next_word(struct slice *rest)
{
    const char *p = rest->p, *end = rest->p + rest->n;

    while (p < end && *p == ' ')
        p++;
    struct slice word = { p, 0 };

    while (p + word.n < end && p[word.n] != ' ')
        word.n++;
    *rest = (struct slice){ p + word.n, (size_t)(end - p) - word.n };
    return word;
}

/* Adds one line of ps: " 123 01:02:03 claude --resume ID". Arguments are separated by blanks, and the directory is not
 * known. */
static bool add_listed(struct agents *a, struct slice line, int64_t now)
{
    long pid = strtol(proc_agents_next_word(&line).p, NULL, 10);

    /* "[[days-]hours:]minutes:seconds" */
    struct slice etime = proc_agents_next_word(&line);
    int64_t number = 0, seconds = 0;

    for (size_t i = 0; i < etime.n; i++) {
        if (etime.p[i] >= '0' && etime.p[i] <= '9') {
            number = number * 10 + (etime.p[i] - '0');
            continue;
        }
        seconds = (seconds + number) * (etime.p[i] == '-' ? 24 : 60);
        number = 0;
    }

    int64_t age = seconds + number;

    struct buf args = { 0 };
    bool fine = true;

    for (struct slice word = proc_agents_next_word(&line); word.n && fine;
         word = proc_agents_next_word(&line))
        fine = !buf_add(&args, word) && !buf_add(&args, (struct slice){ "", 1 });
    if (fine && pid > 0 && pid <= INT_MAX && pid != getpid() &&
        proc_agents_is_agent(&a->of, buf_slice(&args))) {
        struct process *all = arena_grow(&a->arena, a->process, a->n, sizeof *all);

        fine = all != NULL;
        a->process = fine ? all : a->process;
        if (fine)
            all[a->n++] = (struct process){ .pid = (pid_t)pid,
                                            .anywhere = true,
                                            .start_ms = now - age * 1000,
                                            .args = arena_copy(&a->arena, buf_slice(&args)) };
        fine = fine && all[a->n - 1].args.p;
    }
    buf_fini(&args);
    return fine;
}

static bool read_ps(struct agents *a)
{
    static const char *const argv[] = { "ps", "-A",     "-ww", "-o",    "pid=",
                                        "-o", "etime=", "-o",  "args=", NULL };
    const struct spawn ps = { .argv = argv, .dir = "/", .timeout_ms = 5000, .max = 64 << 20 };
    struct buf text = { 0 };
    struct slice rest, line;
    struct timespec now;
    bool torn, fine = true;

    clock_gettime(CLOCK_REALTIME, &now);
    a->blind = spawn_read(&ps, &text, NULL) != ERR_OK;
    if (!a->blind)
        for (rest = buf_slice(&text); fine && slice_line(&rest, &line, &torn);)
            fine = add_listed(a, line, time_ns(now) / 1000000);
    buf_fini(&text);
    return fine;
}

/* ---- all of them ---- */

static bool read_process(struct agents *a, int proc, const char *name, int64_t boot,
                         struct buf *args, struct buf *text)
{
    char *end;
    long pid = strtol(name, &end, 10);
    bool fine = true;

    if (pid <= 0 || *end || pid > INT_MAX || pid == getpid())
        return true;
    int dir = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return true;
    if (proc_agents_read_text(dir, "cmdline", args) &&
        proc_agents_is_agent(&a->of, buf_slice(args)) && !has_other_config(&a->of, dir, text))
        fine = proc_agents_add_agent(a, dir, (pid_t)pid, buf_slice(args), boot, text);
    close(dir);
    return fine;
}

/* Returns false if out of memory; nothing is known then. */
static bool read_processes(struct agents *a)
{
    struct buf args = { 0 }, text = { 0 };
    const struct dirent *d;
    bool fine = true;

    arena_fini(&a->arena);
    a->process = NULL;
    a->n = 0;
    if (!a->of.proc)
        return read_ps(a);
    DIR *dir = opendir(a->of.proc);

    if (!dir)
        return true; /* no process table: no evidence */

    /* The boot time in ms since the epoch; 0 if not known. */
    int proc = dirfd(dir);
    const char *at = NULL;

    if (proc_agents_read_text(proc, "stat", &text) && buf_cstr(&text))
        at = strstr(text.p, "btime ");
    int64_t boot = at ? strtoll(at + sizeof "btime " - 1, NULL, 10) * 1000 : 0;

    while (fine && (d = readdir(dir)))
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
            fine = read_process(a, dirfd(dir), d->d_name, boot, &args, &text);
    closedir(dir);
    buf_fini(&args);
    buf_fini(&text);
    return fine;
}

/* ---- answering ---- */

static bool signed_in(const struct live_table *known, pid_t pid)
{
    for (size_t i = 0; known && i < known->n; i++)
        if (known->entry[i].live.pid == pid && known->entry[i].live.state == LIVE_RUNNING)
            return true;
    return false;
}

static enum agents_evidence proc_agents_sign_of(const struct agents *a, const struct process *p,
                                                const struct agents_query *q)
{
    /* The arguments may name the session, as "ID" or "--option=ID", but not in order to fork it. */
    struct slice args = p->args, one;
    bool named = false, forks = false;

    while (next_argument(&args, &one)) {
        const char *equals = one.n ? memchr(one.p, '=', one.n) : NULL;
        struct slice value =
            equals && one.p[0] == '-'
                ? (struct slice){ equals + 1, one.n - (size_t)(equals + 1 - one.p) }
                : one;

        named = named || slice_eq(value, q->session);
        forks = forks || (a->of.forks && one.n == strlen(a->of.forks) &&
                          memcmp(one.p, a->of.forks, one.n) == 0);
    }
    if (named && !forks)
        return AGENTS_NAMED;

    if (p->anywhere)
        return p->start_ms > q->written_ms + SLACK_MS ? AGENTS_ELSEWHERE : AGENTS_MAYBE;
    if (!p->cwd || p->start_ms > q->written_ms + SLACK_MS)
        return AGENTS_ELSEWHERE;
    if (!q->cwd)
        return AGENTS_MAYBE;
    return strcmp(p->cwd, q->cwd) == 0 ? AGENTS_IN_CWD : AGENTS_ELSEWHERE;
}

enum agents_evidence agents_lookup(struct agents *a, const struct agents_query *q, pid_t *pid)
{
    enum agents_evidence best;

    *pid = 0;
    pthread_mutex_lock(&a->lock);

    int64_t now = time_coarse_ms();

    if (!a->known || now - a->read_ms >= STALE_AFTER_MS) {
        a->known = read_processes(a);
        a->read_ms = now;
    }

    /* Without the list of processes, any agent may be running. */
    best = a->blind ? AGENTS_MAYBE : AGENTS_NONE;
    for (size_t i = 0; i < a->n; i++) {
        const struct process *p = &a->process[i];
        enum agents_evidence sign =
            signed_in(q->known, p->pid) ? AGENTS_NONE : proc_agents_sign_of(a, p, q);

        if (sign > best) {
            best = sign;
            *pid = p->pid;
        }
    }
    pthread_mutex_unlock(&a->lock);
    return best;
}
