#include "store/systems/plugin/conform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/api/host.h"

/* stopped() returns 1 after so many timeouts. So much later, the process of a call that goes on is killed. */
enum { CONFORM_TIMEOUTS = 3, CONFORM_GRACE_MS = 2000, CONFORM_LOOK_MS = 20 };

/* ---- in a child ---- */

static int conform_stopped(void *arg)
{
    const struct conform *c = arg;

    return c->cancelled || time_clock_ms(CLOCK_MONOTONIC) > c->call_ends_ms;
}

void conform_begin(struct conform *c, const char *call)
{
    snprintf(c->shared->call, sizeof c->shared->call, "%s", call);
    atomic_fetch_add(&c->shared->calls, 1);
    c->call.error[0] = '\0';
    c->call_ends_ms = time_clock_ms(CLOCK_MONOTONIC) + CONFORM_TIMEOUTS * c->call.timeout_ms;
}

void conform_end(struct conform_shared *shared)
{
    shared->done = true;
    for (;;)
        kill(getpid(), SIGKILL);
}

void conform_fail(struct conform *c, const char *expected, const char *got, ...)
{
    struct conform_shared *s = c->shared;
    va_list args;

    snprintf(s->expected, sizeof s->expected, "%s", expected ? expected : ERR_NOMEM_TEXT);
    va_start(args, got);
    vsnprintf(s->got, sizeof s->got, got, args);
    va_end(args);
    s->failed = true;
    conform_end(s);
}

int conform_open(struct conform *c, void **store)
{
    const struct plugin_config *config = &c->plugin->config;
    struct reprise_plugin_option *option =
        arena_zalloc(&c->arena, (config->options + 1) * sizeof *option);

    for (size_t i = 0; option && i < config->options; i++)
        option[i] =
            (struct reprise_plugin_option){ config->option[i].name, config->option[i].value };
    conform_begin(c, "open");
    return c->table->open(config->path, option, config->options, &c->call, store);
}

static int take_none(const struct reprise_plugin_session *x, void *arg)
{
    (void)x, (void)arg;
    return 0;
}

/* Opening and listing change nothing. */
static void conform_look(struct conform *c)
{
    const char *project = c->run;
    const struct reprise_plugin_query q = {
        .size = sizeof q, .project = &project, .projects = 1, .newest = 1
    };
    const int code = CONFORM_CALL(c, list, &q, take_none, NULL);

    if (code != REPRISE_PLUGIN_OK)
        conform_fail(c, "list returns OK", "%d: %.*s", code, REPRISE_PLUGIN_ERROR - 1,
                     c->call.error);
}

static int count_row_of(int64_t position, struct reprise_plugin_text row, void *arg)
{
    (void)position, (void)row;
    ++*(size_t *)arg;
    return 0;
}

static size_t conform_rows_of(struct conform *c, const struct reprise_plugin_key *k)
{
    size_t n = 0;

    return CONFORM_CALL(c, read, k, 0, count_row_of, &n) == REPRISE_PLUGIN_OK ? n : SIZE_MAX;
}

/* Removes what the rules wrote, sessions first. */
static void conform_clean(struct conform *c)
{
    struct conform_shared *s = c->shared;

    for (int sub = 0; sub < 2; sub++)
        for (int i = 0; i < s->keys; i++) {
            const struct conform_key *at = &s->key[i];
            const struct reprise_plugin_key k = { at->project, at->session,
                                                  sub && at->subpath[0] ? at->subpath : NULL };

            if (!sub || conform_rows_of(c, &k) != 0)
                CONFORM_CALL(c, remove, &k);
            if (sub && conform_rows_of(c, &k) != 0)
                conform_fail(c, "nothing is left", "%s/%s%s%s", k.project, k.session,
                             k.subpath ? "/" : "", k.subpath ? k.subpath : "");
        }
}

static void conform_child(const struct plugin_check *check, struct conform *c,
                          void (*run)(struct conform *))
{
    const struct rlimit none = { 0, 0 };
    struct store *st;
    struct err e = { 0 };
    char why[CONFORM_TEXT];
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    /* What a plug-in prints does not become part of the answer; standard error stays, for its sanitizers. */
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || setrlimit(RLIMIT_CORE, &none) != 0)
        conform_fail(c, "a process of its own", "%s", strerror(errno));
    conform_begin(c, "dlopen");
    if (plugin_store_open(check->env, check->config, false, &st, &e)) {
        err_format(&e, why, sizeof why);
        conform_fail(c, "the plug-in is loaded", "%s", why);
    }
    c->plugin = plugin_of(st);
    c->table = &c->plugin->table;
    c->call = (struct reprise_plugin_call){ .size = sizeof c->call,
                                            .stopped = conform_stopped,
                                            .arg = c,
                                            .timeout_ms = c->plugin->timeout_ms };
    c->shared->timeout_ms = c->plugin->timeout_ms;
    c->shared->can =
        (c->table->append ? CONFORM_APPEND : 0) | (c->table->remove ? CONFORM_REMOVE : 0) |
        (c->table->subkeys ? CONFORM_SUBKEYS : 0) | (c->table->page ? CONFORM_PAGE : 0) |
        (c->table->find ? CONFORM_FIND : 0) | (c->table->ids ? CONFORM_IDS : 0) |
        (c->table->flags & REPRISE_PLUGIN_THREADS ? CONFORM_THREADS : 0);
    const int code = conform_open(c, &c->store);

    if (code != REPRISE_PLUGIN_OK || !c->store)
        conform_fail(c, "the store is opened", "%.*s", REPRISE_PLUGIN_ERROR - 1,
                     c->call.error[0] ? c->call.error : "open failed without a reason");
    run(c);
    conform_begin(c, "close");
    c->table->close(c->store);
    conform_end(c->shared);
}

/* ---- in the parent ---- */

struct conform_parent {
    const struct plugin_check *check;
    struct conform conform; /* as each child begins */
    sigset_t waited, before;
    bool hung;
    size_t failed;
    int signal;
};

static int conform_wait(struct conform_parent *p, pid_t child)
{
    struct conform_shared *s = p->conform.shared;
    const struct timespec tick = { .tv_nsec = CONFORM_LOOK_MS * 1000000 };
    int status = 0, calls = -1;
    int64_t ends_ms = 0;

    while (waitpid(child, &status, WNOHANG) == 0) {
        const int64_t now_ms = time_clock_ms(CLOCK_MONOTONIC);

        if (calls != atomic_load(&s->calls)) {
            calls = atomic_load(&s->calls);
            ends_ms = now_ms + CONFORM_TIMEOUTS * s->timeout_ms + CONFORM_GRACE_MS;
        } else if (now_ms > ends_ms) {
            p->hung = true;
            kill(child, SIGKILL);
        }
        const int got = sigtimedwait(&p->waited, NULL, &tick);

        if (got > 0 && got != SIGCHLD) {
            p->signal = got;
            kill(child, SIGKILL);
        }
    }
    return status;
}

/* Says how a child ended that did not come to its end. */
static void conform_died(struct conform_parent *p, int status, bool hung)
{
    struct conform_shared *s = p->conform.shared;

    s->call[sizeof s->call - 1] = '\0';
    snprintf(s->expected, sizeof s->expected, "%s returns", s->call);
    if (hung)
        snprintf(s->got, sizeof s->got, "it did not, although stopped() asked for it after %lld ms",
                 (long long)(CONFORM_TIMEOUTS * s->timeout_ms));
    else if (WIFSIGNALED(status))
        snprintf(s->got, sizeof s->got, "it crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(s->got, sizeof s->got, "it ended the process with exit code %d",
                 WEXITSTATUS(status));
    s->failed = true;
}

/* Tries one rule in a child and reports it. */
static enum err_code conform_try(struct conform_parent *p, const struct conform_rule *rule,
                                 struct err *e)
{
    struct conform_shared *s = p->conform.shared;

    s->done = s->failed = false;
    const pid_t child = fork();

    if (child < 0)
        return err_sys(e, "", "start a process");
    if (child == 0) {
        struct conform c = p->conform;

        conform_child(p->check, &c, rule->run);
    }
    const bool hung = p->hung;
    const int status = conform_wait(p, child);

    /* A rule that a signal cut off has no result. */
    if (p->signal && !s->done)
        return ERR_OK;
    if (!s->done)
        conform_died(p, status, p->hung && !hung);

    /* The plug-in could write into the shared memory, so its texts may lack their final NUL. */
    s->expected[CONFORM_TEXT - 1] = s->got[CONFORM_TEXT - 1] = '\0';
    p->failed += s->failed;
    const struct plugin_rule_report report = {
        .number = rule->number,
        .name = rule->name,
        .result = s->failed ? PLUGIN_RULE_FAILED : PLUGIN_RULE_PASSED,
        .expected = s->failed ? s->expected : NULL,
        .got = s->failed ? s->got : NULL,
    };

    return p->check->fn(&report, p->check->arg, e);
}

/* Why a rule is not tried; NULL: it is. */
static const char *conform_skips(const struct conform_parent *p, int needs)
{
    static const struct {
        int need;
        const char *why;
    } lacks[] = {
        { CONFORM_APPEND, "the plug-in has no append" },
        { CONFORM_REMOVE, "the plug-in has no remove" },
        { CONFORM_SUBKEYS, "the plug-in has no subkeys" },
        { CONFORM_PAGE, "the plug-in has no page" },
        { CONFORM_FIND, "the plug-in has no find" },
        { CONFORM_IDS, "the plug-in has no ids" },
        { CONFORM_THREADS, "its table does not have REPRISE_PLUGIN_THREADS" },
    };
    const int can = p->conform.shared->can;

    if (p->hung)
        return "the plug-in did not return from an earlier call";
    for (size_t i = 0; i < COUNT_OF(lacks); i++)
        if (needs & ~can & lacks[i].need)
            return lacks[i].why;
    if (!p->check->write)
        return "it writes, which needs --apply";
    if (!(can & CONFORM_REMOVE) && !p->check->leave)
        return "the plug-in cannot remove what it would write, which needs --force";
    return NULL;
}

static enum err_code conform_all(struct conform_parent *p, struct err *e)
{
    static const struct conform_rule look = { 0, 0, "the store is opened and listed",
                                              conform_look },
                                     clean = { 0, 0, "what was written is removed", conform_clean };
    struct conform_shared *s = p->conform.shared;
    enum err_code rc = conform_try(p, &look, e);
    const bool opened = p->failed == 0;

    for (size_t i = 0; !rc && !p->signal && i < conform_rule_count; i++) {
        const struct conform_rule *rule = &conform_rules[i];
        const char *why = opened ? conform_skips(p, rule->needs) : "the store was not opened";
        const struct plugin_rule_report skipped = {
            .number = rule->number, .name = rule->name, .result = PLUGIN_RULE_SKIPPED, .why = why
        };

        p->conform.rule = (int)i + 1;
        rc = why ? p->check->fn(&skipped, p->check->arg, e) : conform_try(p, rule, e);
    }
    if (!s->keys)
        return rc;

    /* also after a failure, a signal, or a call that did not return */
    const int signal = p->signal;
    const enum err_code before = rc;

    p->signal = 0;
    if (s->can & CONFORM_REMOVE) {
        rc = conform_try(p, &clean, e);
    } else {
        const struct plugin_rule_report skipped = { .name = clean.name,
                                                    .result = PLUGIN_RULE_SKIPPED,
                                                    .why = "the plug-in has no remove" };

        rc = p->check->fn(&skipped, p->check->arg, e);
    }
    if (signal)
        p->signal = signal;
    return before ? before : rc;
}

enum err_code plugin_check(const struct plugin_check *check, size_t *failed, int *signal,
                           struct err *e)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
    struct conform_parent p = { .check = check, .conform.run = check->run };
    struct sigaction now;

    p.conform.shared = mmap(NULL, sizeof *p.conform.shared, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.conform.shared == MAP_FAILED)
        return err_sys(e, "", "share memory with a process");
    p.conform.shared->timeout_ms = CONFORM_GRACE_MS; /* until it is known */
    sigemptyset(&p.waited);
    sigaddset(&p.waited, SIGCHLD);
    for (size_t i = 0; i < COUNT_OF(ending); i++)
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&p.waited, ending[i]);
    sigprocmask(SIG_BLOCK, &p.waited, &p.before);
    const enum err_code rc = conform_all(&p, e);

    sigprocmask(SIG_SETMASK, &p.before, NULL);
    munmap(p.conform.shared, sizeof *p.conform.shared);
    *failed = p.failed;
    *signal = p.signal;
    return rc;
}

void plugin_check_name(char out[PLUGIN_CHECK_NAME])
{
    char id[HOST_ID];

    host_generate_id(id);
    snprintf(out, PLUGIN_CHECK_NAME, "-reprise-doctor-%.8s", id);
}
