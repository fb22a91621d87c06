#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/journal/change.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"
#define TITLED(t) "{\"type\":\"custom-title\",\"customTitle\":\"" t "\",\"sessionId\":\"" ID "\"}\n"
#define ROW "{\"type\":\"user\",\"uuid\":\"1\"}\n"

struct place {
    struct folder folder;
    struct session_ref ref;
    struct store_env env;
    struct change_log *log;
    char state[4096], path[4096];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "state", p->state);
    folder_path(&p->folder, ID ".jsonl", p->path);
    folder_put(&p->folder, ID ".jsonl", SLICE(ROW));
    folder_mtime(&p->folder, ID ".jsonl", 1700000000123000000);
    p->ref = (struct session_ref){ .id = SLICE(ID), .path = { p->path, strlen(p->path) } };
    p->env = (struct store_env){ .state_dir = p->state, .now_ms = 1800000000000 };
    assert_int_equal(change_log_open(&p->env, &p->log, NULL), ERR_OK);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    change_log_close(p->log);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static void rename_it(struct place *p, struct slice title)
{
    struct change *c = change_new("rename");

    assert_int_equal(claude_ops.rename(NULL, &p->ref, title, c, NULL), ERR_OK);
    assert_int_equal(change_run(p->log, c, NULL), ERR_OK);
    change_free(c);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_title_is_one_row_as_the_sdk_writes_it)
{
    struct place *p = *state;

    rename_it(p, SLICE(" a\x07"
                       "b\xe2\x80\x8b"
                       "c\nd\xed\xa0\x80 "));

    assert_true(folder_is(&p->folder, ID ".jsonl",
                          ROW "{\"type\":\"custom-title\",\"customTitle\":\"a\\u0007b\xe2\x80\x8b"
                              "c\\nd\\ud800\","
                              "\"sessionId\":\"" ID "\"}\n"));
}

CASE(clearing_a_tag_is_an_empty_row)
{
    struct place *p = *state;
    struct change *c = change_new("tag");

    assert_int_equal(claude_ops.tag(NULL, &p->ref, SLICE(""), true, c, NULL), ERR_OK);
    assert_int_equal(change_run(p->log, c, NULL), ERR_OK);

    assert_true(folder_is(&p->folder, ID ".jsonl",
                          ROW "{\"type\":\"tag\",\"tag\":\"\",\"sessionId\":\"" ID "\"}\n"));
    change_free(c);
}

CASE(blank_titles_and_tags_are_refused)
{
    struct place *p = *state;
    struct change *c = change_new("rename");

    assert_int_equal(claude_ops.rename(NULL, &p->ref, SLICE(" \n\t "), c, NULL), ERR_USAGE);
    assert_int_equal(claude_ops.tag(NULL, &p->ref, SLICE(" \xe2\x80\x8b "), false, c, NULL),
                     ERR_USAGE);
    assert_int_equal(c->n, 0);
    change_free(c);
}

CASE(undoing_renames_gives_the_file_back)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, ID ".jsonl");

    rename_it(p, SLICE("one"));
    rename_it(p, SLICE("two"));
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&p->folder, ID ".jsonl");

    assert_true(IS_UNDONE(before, after));
    free(before);
    free(after);
}

CASE(beside_a_writer_undo_appends_the_old_title)
{
    struct place *p = *state;
    size_t n;

    rename_it(p, SLICE("one"));
    rename_it(p, SLICE("two"));
    FILE *writer = fopen(p->path, "a");

    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    fclose(writer);
    char *text = folder_get(&p->folder, ID ".jsonl", &n);
    const char last[] =
        "{\"type\":\"custom-title\",\"customTitle\":\"one\",\"sessionId\":\"" ID "\"}\n";

    assert_true(n > sizeof last);
    assert_string_equal(text + n - (sizeof last - 1), last);
    free(text);
}

CASE(through_a_link_undo_appends_the_old_title)
{
    struct place *p = *state;
    char link_path[4096];

    rename_it(p, SLICE("one"));
    assert_int_equal(symlink(p->path, folder_path(&p->folder, "link.jsonl", link_path)), 0);
    p->ref.path = slice_of(link_path);
    rename_it(p, SLICE("two"));
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);

    assert_true(folder_is(&p->folder, ID ".jsonl", ROW TITLED("one") TITLED("two") TITLED("one")));
}
