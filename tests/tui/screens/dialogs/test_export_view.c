#include "tests/test.h"

#include <stdlib.h>

#include "support/screen/screen.h"
#include "tui/app/view.h"

/* The dialog that exports a session, with a stand-in for the worker. */

/* The request to the worker, and its reply. A test program has one of each. */
struct worker {
    struct shop shop; /* first: the screen finds the worker by it */
    struct export_request asked;
    char path[512];
    bool replaces, silent;
    unsigned generation, asks;
    size_t sessions, failed;
    struct err failure;
};

static void serve(struct screen *s, const struct effect *e)
{
    struct worker *w = (struct worker *)(void *)s;
    struct msg m = { .kind = MSG_EXPORTED,
                     .generation = e->generation,
                     .u.exported = { .bytes = 5000, .secrets = 2 } };
    size_t failed = w->failed;

    if (e->kind != EFFECT_EXPORT)
        return;
    w->asks++;
    w->sessions = e->refs->n;
    m.u.exported.files = e->refs->n - failed;
    m.u.exported.failed = failed;
    w->asked = e->export;
    w->replaces = e->replaces;
    w->generation = e->generation;
    snprintf(w->path, sizeof w->path, "%.*s", (int)e->text.n, e->text.p);
    if (w->silent)
        return;
    if (w->failure.code)
        m = (struct msg){ .kind = MSG_FAILED, .generation = e->generation, .u.error = w->failure };
    screen_send(s, m);
}

static struct worker *worker_open(int rows, int cols)
{
    struct worker *w = calloc(1, sizeof *w);

    assert_non_null(w);
    shop_begin(&w->shop);
    w->shop.s.answer = serve;
    screen_ready(&w->shop.s, w->shop.fake, SHOP, rows, cols);
    screen_press(&w->shop.s, "<C-x>e");
    assert_true(screen_has(&w->shop.s, "Export the session"));
    return w;
}

static void worker_close(struct worker *w)
{
    screen_close(&w->shop.s);
    free(w);
}

TEST(the_session_is_written_as_it_is_chosen)
{
    struct worker *w = worker_open(24, 80);
    struct screen *s = &w->shop.s;

    assert_true(screen_has(s, "Markdown"));
    screen_press(s, "<Down><Right>"); /* the first row: HTML */
    assert_true(screen_has(s, "HTML"));
    screen_press(s, "<Down><Right><Down> <Down><Down>"); /* tools, thinking; secrets are replaced */
    assert_true(screen_has(s, "left out"));
    assert_true(screen_has(s, "replaced"));
    screen_press(s, "<Down><Down><Down><Enter>");

    assert_int_equal(w->asks, 1);
    assert_int_equal(w->asked.format, EXPORT_HTML);
    assert_int_equal(w->asked.tools, EXPORT_TOOLS_NONE);
    assert_true(w->asked.thinking);
    assert_true(w->asked.redact);
    assert_false(w->asked.subagents);
    assert_false(w->replaces);
    assert_non_null(strstr(w->path, ".html"));
    assert_true(screen_has(s, "wrote "));
    assert_true(screen_has(s, "2 secrets replaced"));
    assert_false(screen_has(s, "Export the session"));
    worker_close(w);
}

TEST(rows_without_a_choice_stay)
{
    struct worker *w = worker_open(24, 80);
    struct screen *s = &w->shop.s;

    screen_press(s, "<Down><Left>"); /* the first row, backwards: JSONL */
    assert_true(screen_has(s, "JSONL: the rows"));
    assert_true(screen_has(s, "as they are"));
    screen_press(s, "<Down><Right><Down><Right>");
    screen_press(s, "<Up><Up><Up><Enter>");
    assert_int_equal(w->asked.format, EXPORT_JSONL);
    assert_int_equal(w->asked.tools, EXPORT_TOOLS_FOLDED);
    assert_false(w->asked.thinking);
    worker_close(w);
}

TEST(an_existing_file_is_replaced_on_demand)
{
    struct worker *w = worker_open(24, 80);
    struct screen *s = &w->shop.s;

    err_set(&w->failure, ERR_STALE, "/x", "export: the file exists");
    screen_press(s, "<Enter>");
    assert_true(screen_has(s, "The file exists."));
    assert_true(screen_has(s, "Replace the file"));
    assert_false(w->replaces);
    w->failure.code = ERR_OK;
    screen_press(s, "<Enter>");
    assert_true(w->replaces);
    assert_false(screen_has(s, "Export the session"));
    worker_close(w);
}

TEST(another_name_is_typed)
{
    struct worker *w = worker_open(24, 80);
    struct screen *s = &w->shop.s;

    err_set(&w->failure, ERR_STALE, "/x", "export: the file exists");
    screen_press(s, "<Enter>");
    w->failure.code = ERR_OK;
    screen_press(s, "<Up><Enter><C-u>");
    screen_press(s, "<Enter>"); /* an empty name is refused */
    assert_true(screen_has(s, "a name is needed"));
    screen_press(s, "/tmp/my notes.md<Enter>");
    assert_true(screen_has(s, "/tmp/my notes.md"));
    assert_false(screen_has(s, "The file exists."));
    screen_press(s, "<Down><Enter>");
    assert_string_equal(w->path, "/tmp/my notes.md");
    assert_false(w->replaces);
    worker_close(w);
}

TEST(marked_sessions_go_into_a_directory)
{
    struct worker *w = calloc(1, sizeof *w);
    struct screen *s = &w->shop.s;

    assert_non_null(w);
    shop_begin(&w->shop);
    w->shop.s.answer = serve;
    screen_ready(s, w->shop.fake, SHOP, 24, 80);
    screen_press(s, "<Tab><Tab>"); /* marks two */
    screen_press(s, "<C-x>e");
    assert_true(screen_has(s, "Export 2 sessions"));
    assert_true(screen_has(s, "Directory"));
    screen_press(s, "<Up><Enter><C-u>/tmp/notes<Enter>");
    assert_true(screen_has(s, "Write the files"));
    w->silent = true;
    screen_press(s, "<Down><Enter>");
    assert_int_equal(w->sessions, 2);
    assert_string_equal(w->path, "/tmp/notes");
    screen_press(s, "<Esc>");
    assert_true(screen_has(s, "cancelled: files that were complete are kept"));

    w->silent = false;
    screen_press(s, "<C-x>e<Enter>");
    assert_int_equal(w->path[strlen(w->path) - 1], '/'); /* where reprise was started */
    assert_true(screen_has(s, "wrote 2 files into "));
    w->failed = 1;
    screen_press(s, "<C-x>e<Enter>");
    assert_true(screen_has(s, "wrote 1 of 2 files into "));
    worker_close(w);
}

TEST(a_failure_keeps_the_dialog)
{
    struct worker *w = worker_open(24, 80);
    struct screen *s = &w->shop.s;

    err_set(&w->failure, ERR_IO, "/x/y.md", "export into directory: no space");
    screen_press(s, "<Enter>");
    assert_true(screen_has(s, "no space"));
    assert_true(screen_has(s, "Export the session"));
    worker_close(w);
}

TEST(esc_cancels_and_a_late_answer_is_dropped)
{
    struct worker *w = worker_open(24, 80);
    struct screen *s = &w->shop.s;

    w->silent = true;
    screen_press(s, "<Enter>");
    assert_true(screen_has(s, "writing; going back cancels"));
    screen_press(s, "<Enter>"); /* is not asked twice */
    assert_int_equal(w->asks, 1);
    screen_press(s, "<Esc>");
    assert_true(screen_has(s, "nothing was written"));
    screen_send(s, (struct msg){ .kind = MSG_EXPORTED, .generation = w->generation });
    assert_false(screen_has(s, "wrote "));
    worker_close(w);
}

TEST(the_hints_of_dialogs_are_whole_at_every_width)
{
    for (int cols = 50; cols < 70; cols++) {
        struct worker *w = worker_open(12, cols);
        struct screen *s = &w->shop.s;

        assert_true(screen_has(s, "← and → change a value; Enter chooses."));
        screen_press(s, "<Up><Up><Up>");
        assert_true(screen_has(s, "Not looked for: pictures, encoded "));
        assert_true(screen_has(s, "hex."));
        screen_resize(s, 20, cols);
        screen_press(s, "<Esc><C-x>R");
        assert_true(screen_has(s, "← and → change; Enter types a value."));
        worker_close(w);
    }
}

TEST(it_fits_a_small_screen)
{
    struct worker *w = worker_open(12, 60);

    assert_true(screen_has(&w->shop.s, "Write the file"));
    screen_press(&w->shop.s, "<Down>");
    assert_true(screen_has(&w->shop.s, "Format"));
    worker_close(w);
}
