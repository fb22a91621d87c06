#include "tests/test.h"

#include <stdlib.h>

#include "store/rewind/plan/rewind.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/planner.h"
#include "tests/support/folder.h"

#define MINE "5e550000-0000-4000-8000-000000000001"
#define THEIRS "5e550000-0000-4000-8000-000000000002"

struct place {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    struct rewind_plan plan;
    char config[4096], cwd[4096], path[4096], file[4096], other[4096];
};

static void target(struct place *p, const char *path)
{
    const struct rewind_target t = { .path = path, .want = REWIND_ABSENT };

    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    assert_non_null(p);
    folder_make(&p->folder);
    folder_dir(&p->folder, "cfg/projects/-p");
    folder_put(&p->folder, "cfg/projects/-p/" MINE ".jsonl", SLICE("{}\n"));
    folder_path(&p->folder, "cfg", p->config);
    folder_path(&p->folder, "ws", p->cwd);
    folder_path(&p->folder, "ws/src/a.c", p->file);
    folder_path(&p->folder, "ws/src/b.c", p->other);
    folder_path(&p->folder, "cfg/projects/-p/" MINE ".jsonl", p->path);
    p->env = (struct store_env){ .cwd = p->cwd, .claude_config_dir = p->config };
    assert_int_equal(claude_ops.open(&p->env, p->config, &p->store, NULL), ERR_OK);
    p->ref = (struct session_ref){ .store = p->store,
                                   .id = SLICE(MINE),
                                   .path = { p->path, strlen(p->path) } };
    p->plan.point_ms = 1772359200000; /* 2026-03-01T10:00:00Z */
    target(p, p->file);
    target(p, p->other);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    rewind_plan_fini(&p->plan);
    store_close(p->store);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

/* Another session, which worked on src/a.c at that time. */
static void write_theirs(struct place *p, const char *time, bool delta)
{
    struct buf rows = { 0 };
    const char *entry = "{\"backupFileName\":\"0123456789abcdef@v1\",\"version\":1,\"backupTime\":";

    assert_int_equal(
        buf_addf(
            &rows,
            "{\"parentUuid\":null,\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":"
            "\"The other work\"},\"uuid\":\"11110000-0000-4000-8000-000000000001\","
            "\"timestamp\":\"%s\",\"cwd\":\"%s\",\"sessionId\":\"" THEIRS "\"}\n",
            time, p->cwd),
        ERR_OK);
    if (delta)
        assert_int_equal(buf_addf(&rows,
                                  "{\"type\":\"file-history-delta\",\"messageId\":\"m\","
                                  "\"trackingPath\":\"./src/x/../a.c\",\"backup\":%s\"%s\"}}\n",
                                  entry, time),
                         ERR_OK);
    else
        assert_int_equal(buf_addf(&rows,
                                  "{\"type\":\"file-history-snapshot\",\"messageId\":\"m\","
                                  "\"snapshot\":{\"messageId\":\"m\",\"trackedFileBackups\":"
                                  "{\"src/a.c\":%s\"%s\"}}}}\n",
                                  entry, time),
                         ERR_OK);
    folder_put(&p->folder, "cfg/projects/-p/" THEIRS ".jsonl", buf_slice(&rows));
    folder_mtime(&p->folder, "cfg/projects/-p/" THEIRS ".jsonl", 1772400000000000000);
    buf_fini(&rows);
}

static const struct rewind_other *look(struct place *p)
{
    assert_int_equal(claude_concurrent_sessions(p->store, &p->ref, &p->plan, NULL), ERR_OK);
    assert_null(p->plan.target[1].other);
    return p->plan.target[0].other;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(later_work_of_another_session_is_named)
{
    struct place *p = *state;

    for (int delta = 0; delta < 2; delta++) {
        p->plan.target[0].other = NULL;
        write_theirs(p, "2026-03-01T11:30:00.000Z", delta);
        const struct rewind_other *other = look(p);

        assert_non_null(other);
        assert_string_equal(other->session, THEIRS);
        assert_string_equal(other->title, "The other work");
        assert_int_equal(other->at_ms, 1772359200000 + 90 * 60 * 1000);
    }
}

CASE(work_before_the_checkpoint_is_not_reported)
{
    struct place *p = *state;

    write_theirs(p, "2026-03-01T09:59:59.000Z", true);
    assert_null(look(p));
}

/* It is not even opened; its contents would match. */
CASE(older_sessions_are_not_opened)
{
    struct place *p = *state;

    write_theirs(p, "2026-03-01T11:30:00.000Z", true);
    folder_mtime(&p->folder, "cfg/projects/-p/" THEIRS ".jsonl", 1772359100000000000);
    assert_null(look(p));
}

CASE(an_unreadable_session_changed_nothing)
{
    struct place *p = *state;

    folder_put(&p->folder, "cfg/projects/-p/" THEIRS ".jsonl",
               SLICE("{\"type\":\"file-history-snapshot\",\"snapshot\":{\"trackedFileBackups\":[1,"
                     "{}]}}\n{\"type\":\"file-history-delta\",\"backup\":3}\n{torn"));
    folder_dir(&p->folder, "cfg/projects/-p/folder.jsonl");
    assert_null(look(p));
}
