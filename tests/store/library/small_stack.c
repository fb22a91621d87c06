/* Calls what reads in the library on a thread with a small stack, for small_stack.py.
 *
 * usage: small_stack DIRECTORY [BYTES]     prints how much of the stack each call took */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "store/library/reprise.h"

enum { STACK_BYTES = 64 << 10, GUARD_BYTES = 64 << 10, UNUSED = 0xa5 };

struct small_stack {
    unsigned char *low;
    size_t size;
    const char *directory;
    size_t sessions, messages, plans;
};

static int ignore_text(const char *text, size_t n, void *arg)
{
    (void)text;
    (void)n;
    (void)arg;
    return 0;
}

static int ignore_hit(const struct reprise_hit *hit, void *arg)
{
    (void)hit;
    (void)arg;
    return 0;
}

static int ignore_finding(const struct reprise_finding *finding, void *arg)
{
    (void)finding;
    (void)arg;
    return 0;
}

/* Prints the depth that the stack had since the last report. */
static void report(const struct small_stack *t, const char *call, const char *name)
{
    size_t left = 0;
    unsigned char *here = (unsigned char *)__builtin_frame_address(0) - 1024;

    while (left < t->size && t->low[left] == UNUSED)
        left++;
    printf("%6zu %s %s\n", t->size - left, call, name);
    fflush(stdout);
    for (unsigned char *p = t->low + left; p < here; p++)
        *(volatile unsigned char *)p = UNUSED;
}

static void read_plans(struct small_stack *t, const struct reprise_session *s, const char *name)
{
    struct reprise_points *points = NULL;

    (void)reprise_checkpoints(s, &points, NULL);
    report(t, "checkpoints", name);
    /* The first, one in the middle and the last one; all of them in the long form. */
    const size_t n = reprise_points_count(points);
    const bool all = getenv("REPRISE_LONG") != NULL;

    for (size_t i = 0; i < 2 * n; i++) {
        if (!all && i / 2 != 0 && i / 2 != n / 2 && i / 2 != n - 1)
            continue;
        const struct reprise_rewind_options files = { .size = sizeof files,
                                                      .mode = i % 2 ? REPRISE_REWIND_BOTH
                                                                    : REPRISE_REWIND_FILES };
        struct reprise_rewind_summary sum = { .size = sizeof sum };
        struct reprise_rewind *plan = NULL;

        if (reprise_rewind_plan(s, reprise_points_at(points, i / 2)->id, &files, &plan, NULL) ==
            REPRISE_OK)
            t->plans++;
        report(t, "rewind_plan", name);
        if (plan)
            (void)reprise_rewind_describe(plan, &sum, NULL);
        report(t, "rewind_describe", name);
        reprise_rewind_close(plan);
    }
    reprise_points_free(points);
}

static void read_files(const struct small_stack *t, const struct reprise *r,
                       const struct reprise_session *s, const char *name)
{
    struct reprise_touches *files = NULL, *touches = NULL;
    struct reprise_lines *lines = NULL;

    (void)reprise_files(s, &files, NULL);
    report(t, "files", name);
    for (size_t i = 0; i < reprise_touches_count(files) && i < 3; i++) {
        const char *path = reprise_touches_at(files, i)->file;

        (void)reprise_blame(r, path, NULL, &lines, NULL);
        report(t, "blame", path);
        reprise_lines_free(lines);
        (void)reprise_touched(r, path, NULL, &touches, NULL);
        report(t, "touched", path);
        reprise_touches_free(touches);
        lines = NULL;
        touches = NULL;
    }
    reprise_touches_free(files);
}

static void read_conversation(struct small_stack *t, const struct reprise_session *s,
                              const char *name)
{
    const struct reprise_export_request page = { .size = sizeof page,
                                                 .format = REPRISE_FORMAT_HTML,
                                                 .flags = REPRISE_EXPORT_THINKING |
                                                          REPRISE_EXPORT_AGENTS |
                                                          REPRISE_EXPORT_REDACT };
    const struct reprise_message_query last = {
        .size = sizeof last, .limit = 10, .flags = REPRISE_MESSAGES_LIMIT, .before = ""
    };
    struct reprise_texts *texts = NULL;
    struct reprise_agents *agents = NULL;
    struct reprise_branches *branches = NULL;
    struct reprise_usage *usage = NULL;

    (void)reprise_messages(s, NULL, &texts, NULL);
    t->messages += reprise_texts_count(texts);
    reprise_texts_free(texts);
    report(t, "messages", name);
    texts = NULL;
    (void)reprise_messages(s, &last, &texts, NULL);
    reprise_texts_free(texts);
    report(t, "messages before", name);
    (void)reprise_messages_each(s, NULL, ignore_text, NULL, NULL);
    report(t, "messages_each", name);
    texts = NULL;
    (void)reprise_tail(s, 4096, &texts, NULL);
    reprise_texts_free(texts);
    report(t, "tail", name);
    texts = NULL;
    (void)reprise_restore(s, NULL, &texts, NULL);
    reprise_texts_free(texts);
    report(t, "restore", name);
    (void)reprise_list_agents(s, &agents, NULL);
    reprise_agents_free(agents);
    report(t, "list_agents", name);
    (void)reprise_list_branches(s, &branches, NULL);
    reprise_branches_free(branches);
    report(t, "list_branches", name);
    (void)reprise_session_usage(s, &usage, NULL);
    reprise_usage_free(usage);
    report(t, "session_usage", name);
    (void)reprise_export(s, &page, ignore_text, NULL, NULL, NULL);
    report(t, "export", name);
}

static void read_session(struct small_stack *t, const struct reprise *r,
                         const struct reprise_row *row)
{
    struct reprise_session *s = NULL;
    struct reprise_rows *one = NULL;
    char name[600];

    snprintf(name, sizeof name, "%s:%s", row->system, row->id);
    if (reprise_session_open(r, name, &s, NULL) != REPRISE_OK)
        return;
    report(t, "session_open", name);
    (void)reprise_session_row(s, &one, NULL);
    reprise_rows_free(one);
    report(t, "session_row", name);
    read_conversation(t, s, name);
    read_files(t, r, s, name);
    read_plans(t, s, name);
    reprise_session_close(s);
    t->sessions++;
}

static void read_log(const struct small_stack *t, const struct reprise *r)
{
    struct reprise_trash *trash = NULL;
    struct reprise_log *log = NULL;
    struct reprise_rewind *undo = NULL;

    (void)reprise_list_log(r, &log, NULL);
    reprise_log_free(log);
    report(t, "list_log", "");
    (void)reprise_list_trash(r, &trash, NULL);
    reprise_trash_free(trash);
    report(t, "list_trash", "");
    (void)reprise_rewind_undo(r, NULL, NULL, &undo, NULL);
    reprise_rewind_close(undo);
    report(t, "rewind_undo", "");
}

static void *read_all(void *arg)
{
    static const char *const words[] = { "the", "a(b|c)*[a-z]+" };
    struct small_stack *t = arg;
    const struct reprise_options o = { .size = sizeof o, .directory = t->directory };
    const struct reprise_query all = { .size = sizeof all, .flags = REPRISE_QUERY_ALL_KINDS };
    const struct reprise_search_query q = {
        .size = sizeof q, .patterns = words, .patterns_count = 2, .flags = REPRISE_SEARCH_ANY
    };
    struct reprise *r = NULL;
    struct reprise_rows *rows = NULL;
    struct reprise_usage *usage = NULL;
    struct reprise_error e = { .code = 0 };

    if (reprise_open(&o, &r, &e) != REPRISE_OK || reprise_list(r, &all, &rows, &e) != REPRISE_OK) {
        fprintf(stderr, "%s\n", e.message);
        return NULL;
    }
    report(t, "list", "");
    struct reprise_rows *running = NULL;

    (void)reprise_running(r, &running, NULL);
    reprise_rows_free(running);
    report(t, "running", "");
    (void)reprise_search(r, &q, ignore_hit, NULL, NULL);
    report(t, "search", "");
    (void)reprise_sum_usage(r, NULL, &usage, NULL);
    reprise_usage_free(usage);
    report(t, "sum_usage", "");
    /* Every third session and the last one; all of them in the long form. */
    const size_t n = reprise_rows_count(rows), step = getenv("REPRISE_LONG") ? 1 : 3;

    for (size_t i = 0; i < n; i++)
        if (i % step == 0 || i + 1 == n)
            read_session(t, r, reprise_rows_at(rows, i));
    read_log(t, r);
    (void)reprise_doctor(r, 0, ignore_finding, NULL, NULL);
    report(t, "doctor", "");
    reprise_rows_free(rows);
    reprise_close(r);
    return t;
}

int main(int argc, char **argv)
{
    struct small_stack t = { .size = argc > 2 ? strtoul(argv[2], NULL, 10) : STACK_BYTES,
                             .directory = argc > 1 ? argv[1] : "/" };
    pthread_attr_t attr;
    pthread_t thread;
    void *done = NULL;
    unsigned char *p = mmap(NULL, GUARD_BYTES + t.size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || mprotect(p, GUARD_BYTES, PROT_NONE) != 0)
        return 2;
    t.low = memset(p + GUARD_BYTES, UNUSED, t.size);
    if (pthread_attr_init(&attr) != 0 || pthread_attr_setstack(&attr, t.low, t.size) != 0 ||
        pthread_create(&thread, &attr, read_all, &t) != 0 || pthread_join(thread, &done) != 0)
        return 2;
    printf("%zu sessions, %zu messages, %zu plans\n", t.sessions, t.messages, t.plans);
    return done ? 0 : 1;
}
