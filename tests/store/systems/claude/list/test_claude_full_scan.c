#include "tests/test.h"

#include <stdlib.h>

#include "lite/io/window.h"
#include "store/api/store.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

/* One long session, described and then fully scanned. */
struct world {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_row *row;
    struct session_ref ref;
    struct arena arena;
    struct buf text;
};

#define ID "5e550000-0000-4000-8000-000000000001"
#define FILE_NAME "projects/-work-demo/" ID ".jsonl"
#define PROMPT "{\"parentUuid\":null,\"type\":\"user\",\"message\":{\"content\":\"ask\"}}\n"

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    w->row = session_row_new();
    folder_make(&w->folder);
    folder_dir(&w->folder, "projects");
    w->env = (struct store_env){ .home = w->folder.path, .cwd = w->folder.path };
    assert_int_equal(claude_ops.open(&w->env, w->folder.path, &w->store, NULL), ERR_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    session_row_free(w->row);
    store_close(w->store);
    folder_remove(&w->folder);
    arena_fini(&w->arena);
    buf_fini(&w->text);
    free(w);
    return 0;
}

static void say(struct world *w, const char *rows)
{
    assert_int_equal(buf_add(&w->text, slice_of(rows)), ERR_OK);
}

/* Rows that fill a window and more. */
static void fill(struct world *w)
{
    for (size_t n = 0; n < WINDOW_BYTES + 4096; n += 110)
        say(w,
            "{\"type\":\"user\",\"message\":{\"content\":\"----------------------------------------"
            "--------------------------\"}}\n");
}

static void describe(struct world *w)
{
    struct scope everything = { .all = true };

    folder_put(&w->folder, FILE_NAME, buf_slice(&w->text));
    assert_int_equal(claude_ops.find(w->store, &everything, SLICE(ID), &w->arena, &w->ref, NULL),
                     ERR_OK);
    assert_int_equal(claude_ops.describe(w->store, &everything, &w->ref, w->row, NULL), ERR_OK);
}

static bool look(struct world *w)
{
    bool found = false;

    assert_int_equal(claude_ops.full_scan(w->store, &w->ref, NULL, w->row, &found, NULL), ERR_OK);
    return found;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_title_between_the_windows_is_found)
{
    struct world *w = *state;

    say(w, PROMPT);
    fill(w);
    say(w, "{\"type\":\"custom-title\",\"customTitle\":\"older\",\"sessionId\":\"" ID "\"}\n"
           "{\"type\":\"custom-title\",\"customTitle\":\"mid\\u00e9\",\"sessionId\":\"" ID "\"}\n"
           "{\"type\":\"tag\",\"tag\":\"t\",\"sessionId\":\"" ID "\"}\n");
    fill(w);
    describe(w);
    assert_true(slice_eq(w->row->summary, SLICE("ask")));
    assert_true(session_wants_title(w->row));

    assert_true(look(w));
    assert_true(slice_eq(w->row->custom_title, SLICE("mid\xc3\xa9")));
    assert_true(slice_eq(w->row->summary, SLICE("mid\xc3\xa9")));
    assert_true(slice_eq(w->row->tag, SLICE("t")));
    assert_false(session_wants_title(w->row));
}

CASE(a_users_title_takes_precedence_over_the_agents)
{
    struct world *w = *state;

    say(w, PROMPT);
    fill(w);
    say(w, "{\"type\":\"custom-title\",\"customTitle\":\"mine\"}\n");
    fill(w);
    say(w, "{\"type\":\"ai-title\",\"aiTitle\":\"made up\"}\n");
    describe(w);
    assert_true(slice_eq(w->row->custom_title, SLICE("made up")));
    assert_true(session_wants_title(w->row));

    assert_true(look(w));
    assert_true(slice_eq(w->row->custom_title, SLICE("mine")));
    assert_false(session_wants_title(w->row));
}

CASE(a_cleared_title_stays_cleared)
{
    struct world *w = *state;

    say(w, PROMPT);
    fill(w);
    say(w, "{\"type\":\"custom-title\",\"customTitle\":\"mine\"}\n"
           "{\"type\":\"tag\",\"tag\":\"t\"}\n"
           "{\"type\":\"custom-title\",\"customTitle\":\"\"}\n");
    fill(w);
    say(w, "{\"type\":\"tag\",\"tag\":\"\"}\n");
    describe(w);

    assert_false(look(w));
    assert_int_equal(w->row->custom_title.n, 0);
    assert_int_equal(w->row->tag.n, 0);
    assert_true(slice_eq(w->row->summary, SLICE("ask")));
}

CASE(text_resembling_a_title_is_ignored)
{
    struct world *w = *state;

    say(w, PROMPT);
    fill(w);
    say(w, "{\"type\":\"user\",\"message\":{\"content\":\"{\\\"type\\\":\\\"custom-title\\\","
           "\\\"customTitle\\\":\\\"no\\\"}\",\"x\":{\"type\":\"custom-title\","
           "\"customTitle\":\"no\"}}}\n"
           "{\"type\":\"custom-title\",\"customTitle\":\"cut\n");
    fill(w);
    describe(w);

    assert_false(look(w));
    assert_int_equal(w->row->custom_title.n, 0);
}

CASE(a_short_session_needs_no_full_scan)
{
    struct world *w = *state;

    say(w, PROMPT);
    describe(w);

    assert_false(session_wants_title(w->row));
}

CASE(the_full_scan_can_be_cancelled)
{
    struct world *w = *state;
    atomic_bool cancel = true;
    bool found = false;

    say(w, PROMPT);
    fill(w);
    describe(w);

    assert_int_equal(claude_ops.full_scan(w->store, &w->ref, &cancel, w->row, &found, NULL),
                     ERR_CANCELLED);
}
