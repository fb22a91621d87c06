#ifndef TESTS_STORE_MAINTENANCE_SWEEP_FIXTURE_H
#define TESTS_STORE_MAINTENANCE_SWEEP_FIXTURE_H

#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/time.h"
#include "store/maintenance/sweep.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

/* A store with a few sessions, 100 days old and younger, in a temporary folder. Session 3 is
 * 00000003-0000-4000-8000-000000000000 in project p. */
#define NOW INT64_C(1800000000000)
#define DAY INT64_C(86400000)

struct world {
    struct folder folder;
    struct store_env env;
    char config[4096], state[4096], data[4096];
    struct store *store;
    struct change_log *log;
    struct sweep_rule rule;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    folder_make(&w->folder);
    folder_path(&w->folder, "config", w->config);
    folder_path(&w->folder, "state", w->state);
    folder_path(&w->folder, "data", w->data);
    folder_dir(&w->folder, "config/projects");
    w->env = (struct store_env){ .home = w->folder.path,
                                 .proc_dir = w->folder.path,
                                 .etc_dir = w->folder.path,
                                 .cwd = w->folder.path,
                                 .state_dir = w->state,
                                 .data_dir = w->data,
                                 .now_ms = NOW };
    assert_int_equal(claude_ops.open(&w->env, w->config, &w->store, NULL), ERR_OK);
    assert_int_equal(change_log_open(&w->env, &w->log, NULL), ERR_OK);
    w->rule = (struct sweep_rule){ .scope.all = true, .before_ms = NOW - 30 * DAY };
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    change_log_close(w->log);
    store_close(w->store);
    folder_remove(&w->folder);
    free(w);
    return 0;
}

static const char *name_of(const char *project, int id, const char *rest, char out[200])
{
    snprintf(out, 200, "config/projects/%s/%08d-0000-4000-8000-000000000000%s", project, id, rest);
    return out;
}

static void put(struct world *w, const char *project, int id, int64_t days, const char *rows)
{
    char name[200];

    folder_put(&w->folder, name_of(project, id, ".jsonl", name), slice_of(rows));
    folder_mtime(&w->folder, name, (NOW - days * DAY) * 1000000);
}

/* Writes a session of one prompt, last active so many days ago. */
static void put_session(struct world *w, const char *project, int id, int64_t days)
{
    char rows[400], when[TIME_TEXT];

    time_format(NOW - days * DAY, when);
    snprintf(rows, sizeof rows,
             "{\"type\":\"user\",\"uuid\":\"u%d\",\"parentUuid\":null,\"timestamp\":\"%s\","
             "\"message\":{\"role\":\"user\",\"content\":\"prompt %d\"}}\n",
             id, when, id);
    put(w, project, id, days, rows);
}

static struct sweep find(struct world *w)
{
    struct sweep s;

    assert_int_equal(sweep_find(&w->store, 1, &w->rule, &s, NULL), ERR_OK);
    return s;
}

/* The first digits of the ids found, with "!" before those that stay. */
static const char *ids(const struct sweep *s)
{
    static char text[200];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < s->n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%c ", s->item[i].stays ? "!" : "",
                              s->item[i].ref.id.p[7]);
    return text;
}

#endif
