/* A store of generated sessions that answers queries exactly, and records what it was asked for. For tests of what the
 * program asks a store for. */
#include "tests/store/systems/plugin/query_store.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern struct query_seen query_seen;
struct query_seen query_seen;

static const char *const projects[] = { "-w", "-other", "named" };
enum { PROJECTS = 3, MS = 1000 };

static bool query_wants(const struct reprise_plugin_query *q, const char *project)
{
    bool wanted = q->projects == 0 || project[0] != '-';

    for (size_t i = 0; i < q->projects; i++)
        wanted |= strcmp(project, q->project[i]) == 0;
    return wanted;
}

/* The only row of a session; the number of a session is its age in seconds. */
static size_t query_row(const char *project, int number, char out[512])
{
    return (size_t)snprintf(out, 512,
                            "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-%012d\","
                            "\"cwd\":\"%s\",\"timestamp\":\"2026-03-01T12:%02d:%02d.000Z\","
                            "\"message\":{\"role\":\"user\",\"content\":\"prompt %d\"}}",
                            number, strcmp(project, "-other") == 0 ? "/other" : "/w",
                            (QUERY_SESSIONS - number) / 60, (QUERY_SESSIONS - number) % 60, number);
}

static int query_list(void *store, const struct reprise_plugin_query *q,
                      reprise_plugin_session_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    int rc = REPRISE_PLUGIN_OK;

    (void)store, (void)call;
    query_seen.lists++;
    query_seen.query = *q;
    query_seen.project[0] = '\0';
    for (size_t i = 0; i < q->projects && i < 2; i++)
        snprintf(query_seen.project + strlen(query_seen.project),
                 sizeof query_seen.project - strlen(query_seen.project), "%s ", q->project[i]);
    for (int p = 0; p < PROJECTS; p++)
        for (int i = 0; i < QUERY_SESSIONS && !rc; i++) {
            char id[32], row[512];
            struct reprise_plugin_session s = { .size = sizeof s,
                                                .project = projects[p],
                                                .session = id,
                                                .mtime_ms = QUERY_NEWEST_MS - (int64_t)i * MS };

            snprintf(id, sizeof id, "%s-%03d", projects[p], i);
            if (!query_wants(q, projects[p]) || s.mtime_ms < q->since_ms ||
                (q->session && strcmp(q->session, id) != 0))
                continue;
            if (q->newest == 0 || i < (int)q->newest) {
                s.head = (struct reprise_plugin_text){ row, query_row(projects[p], i, row) };
                s.whole = 1;
            }
            rc = fn(&s, arg) ? REPRISE_PLUGIN_STOPPED : rc;
        }
    return rc;
}

static int query_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                      reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    const char *dash = strrchr(key->session, '-');
    char row[512];
    int number = 0;

    (void)store, (void)call;
    query_seen.reads++;
    for (const char *p = dash; p && *++p;)
        number = number * 10 + (*p - '0');
    size_t n = query_row(key->project, number, row);

    return after == 0 && fn(1, (struct reprise_plugin_text){ row, n }, arg) ? REPRISE_PLUGIN_STOPPED
                                                                            : REPRISE_PLUGIN_OK;
}

static int query_open(const char *path, const struct reprise_plugin_option *option, size_t options,
                      struct reprise_plugin_call *call, void **store)
{
    (void)path, (void)option, (void)options, (void)call;
    *store = &query_seen;
    return REPRISE_PLUGIN_OK;
}

static void query_close(void *store)
{
    (void)store;
}

extern const struct reprise_plugin reprise_plugin;
const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .size = sizeof(struct reprise_plugin),
    .name = "query",
    .open = query_open,
    .close = query_close,
    .list = query_list,
    .read = query_read,
};
