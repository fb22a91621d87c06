#include "tests/test.h"

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "store/api/store.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

/* One session in a store of its own, described. */
struct world {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_row *row;
};

#define ID "5e550000-0000-4000-8000-000000000001"
#define OTHER "5e550000-0000-4000-8000-000000000002"
#define FILE_OF(id) "projects/-work-demo/" id ".jsonl"
#define PROMPT "{\"parentUuid\":null,\"type\":\"user\",\"message\":{\"content\":\"ask\"}}\n"

static int set_up(void **state)
{
    static struct world w;

    w = (struct world){ .row = session_row_new() };
    folder_make(&w.folder);
    folder_dir(&w.folder, "projects");
    w.env = (struct store_env){ .home = w.folder.path, .cwd = w.folder.path };
    assert_int_equal(claude_ops.open(&w.env, w.folder.path, &w.store, NULL), ERR_OK);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    session_row_free(w->row);
    store_close(w->store);
    folder_remove(&w->folder);
    return 0;
}

static const struct session_row *describe_in(struct world *w, const struct scope *scope,
                                             struct slice rows)
{
    struct scope everything = { .all = true };
    struct session_ref ref;
    struct arena a = { 0 };

    folder_put(&w->folder, FILE_OF(ID), rows);
    assert_int_equal(claude_ops.find(w->store, &everything, SLICE(ID), &a, &ref, NULL), ERR_OK);
    assert_int_equal(claude_ops.describe(w->store, scope, &ref, w->row, NULL), ERR_OK);
    arena_fini(&a);
    return w->row;
}

static const struct session_row *describe(struct world *w, const char *rows)
{
    struct scope everything = { .all = true };

    return describe_in(w, &everything, slice_of(rows));
}

static void expect(struct slice got, const char *want)
{
    assert_int_equal(got.n, strlen(want));
    assert_memory_equal(got.p, want, got.n);
}

#define IN_WORLD(name) TEST_WITH(name, set_up, tear_down)

IN_WORLD(titles_have_an_order_of_precedence)
{
    struct world *w = *state;

    expect(describe(w, PROMPT)->summary, "ask");
    expect(describe(w, PROMPT "{\"type\":\"x\",\"summary\":\"sum\"}\n")->summary, "sum");
    expect(describe(w, PROMPT "{\"type\":\"x\",\"summary\":\"sum\",\"lastPrompt\":\"last\"}\n")
               ->summary,
           "last");
    expect(describe(w, PROMPT "{\"type\":\"ai-title\",\"aiTitle\":\"ai\"}\n")->custom_title, "ai");
    folder_put(&w->folder, "projects/-work-demo/" ID "/custom-title.json",
               SLICE("{\"customTitle\":\" side\\ncar \"}"));
    expect(describe(w, PROMPT "{\"type\":\"ai-title\",\"aiTitle\":\"ai\"}\n")->summary, "side car");
    expect(describe(w, PROMPT "{\"type\":\"custom-title\",\"customTitle\":\"own\"}\n")->summary,
           "own");
}

IN_WORLD(a_title_far_from_the_end_is_found_in_the_head)
{
    struct world *w = *state;
    struct scope everything = { .all = true };
    struct buf rows = { 0 };

    assert_int_equal(buf_addf(&rows,
                              PROMPT "{\"type\":\"pad\",\"p\":\"%05000d\"}\n"
                                     "{\"type\":\"custom-title\",\"customTitle\":\"far\"}\n"
                                     "{\"type\":\"pad\",\"p\":\"%0150000d\"}\n",
                              0, 0),
                     ERR_OK);
    expect(describe_in(w, &everything, buf_slice(&rows))->summary, "far");
    buf_fini(&rows);
}

IN_WORLD(sidechains_and_empty_sessions_are_hidden)
{
    struct world *w = *state;

    assert_int_equal(describe(w, "{\"isSidechain\":true,\"summary\":\"s\"}\n")->hidden,
                     HIDDEN_SIDECHAIN);
    assert_int_equal(describe(w, "{\"type\":\"x\"}\n")->hidden, HIDDEN_EMPTY);
    assert_int_equal(describe(w, PROMPT)->hidden, HIDDEN_NOT);
}

IN_WORLD(sessions_of_programs_are_hidden_on_request)
{
    struct world *w = *state;
    struct scope people = { .all = true, .leave_programmatic = true };
    struct slice rows = SLICE("{\"entrypoint\":\"sdk-ts\",\"summary\":\"s\"}\n");

    assert_int_equal(describe_in(w, &people, rows)->hidden, HIDDEN_PROGRAMMATIC);
    assert_int_equal(describe(w, rows.p)->hidden, HIDDEN_NOT);
    assert_true(w->row->flags & SESSION_PROGRAMMATIC);
    assert_int_equal(describe_in(w, &people,
                                 SLICE("{\"parentUuid\":1,\"sessionKind\":\"daemon\","
                                       "\"summary\":\"s\"}\n"))
                         ->hidden,
                     HIDDEN_PROGRAMMATIC);
}

IN_WORLD(a_session_continued_elsewhere_is_hidden)
{
    struct world *w = *state;
    const char rows[] =
        PROMPT "{\"type\":\"continued-in\",\"continuedInSessionId\":\"" OTHER "\"}\n";

    assert_int_equal(describe(w, rows)->hidden, HIDDEN_NOT);
    folder_put(&w->folder, FILE_OF(OTHER), SLICE(PROMPT));
    assert_int_equal(describe(w, rows)->hidden, HIDDEN_CONTINUED);
    folder_put(&w->folder, FILE_OF(OTHER), SLICE("{\"type\":\"x\"}\n"));
    assert_int_equal(describe(w, rows)->hidden, HIDDEN_NOT);
}

IN_WORLD(an_archived_session_reappears_when_used)
{
    struct world *w = *state;
    unsigned mark = SESSION_ARCHIVED | SESSION_ARCHIVED_KNOWN;

    assert_int_equal(describe(w, PROMPT)->flags & mark, 0);
    folder_put(&w->folder, "projects/-work-demo/" ID "/archived.json",
               SLICE("{\"archived\":true,\"at\":\"2026-03-01T10:00:00Z\"}"));
    assert_int_equal(describe(w, PROMPT)->flags & mark, mark);
    assert_int_equal(describe(w, "{\"type\":\"user\",\"timestamp\":\"2026-03-01T10:00:00.001Z\","
                                 "\"message\":{\"content\":\"again\"}}\n")
                             ->flags &
                         mark,
                     SESSION_ARCHIVED_KNOWN);
    folder_put(&w->folder, "projects/-work-demo/" ID "/archived.json",
               SLICE("{\"archived\":\"yes\",\"at\":\"2026-03-01T10:00:00Z\"}"));
    assert_int_equal(describe(w, PROMPT)->flags & mark, 0);
}

IN_WORLD(the_tail_gives_time_model_and_interruption)
{
    struct world *w = *state;
    const char answer[] =
        "{\"type\":\"assistant\",\"timestamp\":\"2026-03-01T10:00:00Z\",\"message\":{"
        "\"model\":\"m-1\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}}\n"
        "{\"type\":\"x\",\"timestamp\":\"2026-03-01T11:00:00Z\"}\n"
        "{\"type\":\"y\",\"z\":{\"timestamp\":\"2027-03-01T11:00:00Z\"}}\n";

    assert_true(describe(w, PROMPT)->flags & SESSION_INTERRUPTED);
    assert_int_equal(w->row->activity_ms, w->row->modified_ms);
    char rows[1000];

    snprintf(rows, sizeof rows, PROMPT "%s", answer);
    assert_false(describe(w, rows)->flags & SESSION_INTERRUPTED);
    expect(w->row->model, "m-1");
    assert_int_equal(w->row->activity_ms, INT64_C(1772362800000));
}

IN_WORLD(damage_and_forks_are_flagged)
{
    struct world *w = *state;
    unsigned look = SESSION_TORN | SESSION_DAMAGED;

    assert_int_equal(describe(w, PROMPT)->flags & look, 0);
    assert_int_equal(describe(w, PROMPT "{\"type\"")->flags & look, SESSION_TORN);
    assert_int_equal(describe(w, PROMPT "{\"type\"\n" PROMPT)->flags & look, SESSION_DAMAGED);
    assert_int_equal(describe(w, PROMPT "{\"type\":\"us" PROMPT)->flags & look, SESSION_DAMAGED);
    expect(
        describe(w,
                 "{\"type\":\"user\",\"message\":{\"content\":\"x\"},\"forkedFrom\":{\"sessionId\":"
                 "\"" OTHER "\"}}\n")
            ->parent_id,
        OTHER);
    assert_true(w->row->flags & SESSION_FORK);
    assert_int_equal(describe(w,
                              PROMPT "{\"type\":\"file-history-snapshot\",\"snapshot\":{"
                                     "\"trackedFileBackups\":{\"a\":{},\"b\":{}}}}\n"
                                     "{\"type\":\"file-history-delta\",\"trackingPath\":\"a\"}\n"
                                     "{\"type\":\"file-history-delta\",\"trackingPath\":\"c\"}\n")
                         ->restorable,
                     3);
}

IN_WORLD(what_the_client_shows_beside_the_title_is_read)
{
    struct world *w = *state;
    const struct session_row *row = describe(
        w, PROMPT
        "{\"type\":\"agent-setting\",\"agentSetting\":\"tester\"}\n"
        "{\"type\":\"agent-color\",\"agentColor\":\"green\"}\n"
        "{\"type\":\"mode\",\"mode\":\"normal\"}\n"
        "{\"type\":\"mode\",\"mode\":\"coordinator\"}\n"
        "{\"type\":\"worktree-state\",\"worktreeSession\":{\"worktreePath\":\"/t\\u0041\"}}\n"
        "{\"type\":\"pr-link\",\"prNumber\":7,\"prUrl\":\"https://h/7\",\"prRepository\":"
        "\"o/r\"}\n");

    expect(row->agent_setting, "tester");
    expect(row->agent_color, "green");
    expect(row->mode, "coordinator");
    expect(row->worktree_path, "/tA");
    assert_int_equal(row->pr_number, 7);
    expect(row->pr_url, "https://h/7");
    expect(row->pr_repository, "o/r");
}

IN_WORLD(a_worktree_that_was_left_and_an_odd_link_are_not)
{
    struct world *w = *state;
    const struct session_row *row = describe(
        w, PROMPT "{\"type\":\"worktree-state\",\"worktreeSession\":{\"worktreePath\":\"/t\"}}\n"
                  "{\"type\":\"worktree-state\",\"worktreeSession\":null}\n"
                  "{\"type\":\"worktree-state\",\"worktreeSess\n"
                  "{\"type\":\"pr-link\",\"prNumber\":\"seven\",\"prUrl\":\"https://h/7\"}\n");

    assert_int_equal(row->worktree_path.n, 0);
    assert_int_equal(row->pr_number, 0);
    assert_int_equal(row->pr_url.n, 0);
    row = describe(w, PROMPT "{\"type\":\"x\",\"agentColor\":\"red\",\"mode\":\"plan\"}\n"
                             "{\"type\":\"pr-link\",\"prNumber\":-1,\"prUrl\":\"u\"}\n");
    assert_int_equal(row->agent_color.n, 0);
    assert_int_equal(row->mode.n, 0);
    assert_int_equal(row->pr_number, 0);
}
