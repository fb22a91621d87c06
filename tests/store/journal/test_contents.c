#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/journal/contents.h"
#include "tests/support/folder.h"

/* A store of one document; undo must restore everything below "store" byte for byte. */
struct place {
    struct folder folder;
    struct store_env env;
    char state[4096], doc[4096];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "state", p->state);
    folder_put(&p->folder, "store/doc.json", SLICE("{\"archived\":false}"));
    folder_mtime(&p->folder, "store/doc.json", 1700000001000000001);
    folder_path(&p->folder, "store/doc.json", p->doc);
    p->env = (struct store_env){ .state_dir = p->state, .now_ms = 1800000000000 };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    folder_remove(&p->folder);
    free(p);
    return 0;
}

static struct change_log *opened(const struct place *p)
{
    struct change_log *log;
    struct err e;
    enum err_code rc = change_log_open(&p->env, &log, &e);

    if (rc)
        fail_msg("%s: %s", e.path, e.text);
    return log;
}

static void add(struct change *c, struct step s)
{
    assert_int_equal(change_add(c, &s, NULL), ERR_OK);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

/* A PUT whose contents, old and new, are in a file of the change. */
static struct change *large_put(const struct place *p, const char *fresh, struct slice bytes)
{
    struct change *c = change_new("retrieve");
    struct step s = { .kind = STEP_PUT, .path = p->doc, .mtime_ns = MTIME_NOW };
    struct step made = {
        .kind = STEP_PUT, .path = fresh, .old_absent = true, .mtime_ns = MTIME_NOW
    };
    struct contents old = { .change = c, .env = &p->env }, new = old, unused = old;

    assert_non_null(c);
    assert_int_equal(contents_add(&unused, SLICE("compared only"), NULL), ERR_OK);
    contents_fini(&unused, true);
    assert_int_equal(contents_add(&old, SLICE("{\"archived\":false}"), NULL), ERR_OK);
    assert_int_equal(contents_end(&old, &s.old, &s.old_part, NULL), ERR_OK);
    for (size_t i = 0; i < bytes.n; i += 3000)
        assert_int_equal(
            contents_add(
                &new, (struct slice){ bytes.p + i, bytes.n - i < 3000 ? bytes.n - i : 3000 }, NULL),
            ERR_OK);
    char piece[5000];

    for (size_t i = 0; i < bytes.n; i += 4999) {
        const size_t n = bytes.n - i < sizeof piece ? bytes.n - i : sizeof piece;

        assert_int_equal(contents_read(&new, (int64_t)i, piece, n, NULL), ERR_OK);
        assert_memory_equal(piece, bytes.p + i, n);
    }
    assert_int_equal(contents_end(&new, &s.bytes, &s.bytes_part, NULL), ERR_OK);
    made.bytes_part = s.bytes_part;
    assert_true(s.bytes_part.path && s.old_part.path && s.bytes_part.at == 18);
    add(c, s);
    add(c, made);
    contents_fini(&old, false);
    contents_fini(&new, false);
    return c;
}

CASE(large_contents_are_in_a_file_of_the_record)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    static char all[1000000];
    char path[4096], record[4096];
    size_t n;

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 7 + i / 256);
    struct change *c = large_put(p, folder_path(&p->folder, "store/fresh", path),
                                 (struct slice){ all, sizeof all });
    char *before = folder_image(&p->folder, "store");

    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    assert_true(snprintf(record, sizeof record, "state/changes/%s/record", c->id) > 0);
    char *text = folder_get(&p->folder, record, &n);

    assert_true(n < 2000 && strstr(text, "\"version\":\"2\""));
    free(text);
    for (int i = 0; i < 2; i++) {
        text = folder_get(&p->folder, i ? "store/fresh" : "store/doc.json", &n);
        assert_true(n == sizeof all && memcmp(text, all, n) == 0);
        free(text);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
        text = folder_image(&p->folder, "store");
        assert_true(IS_UNDONE(before, text));
        free(text);
        assert_int_equal(change_redo(log, NULL, NULL), ERR_OK);
    }
    folder_put(&p->folder, "store/fresh", (struct slice){ all, sizeof all - 1 });
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_STALE);
    free(before);
    change_free(c);
    change_log_close(log);
}

CASE(damaged_contents_are_not_written)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    char path[4096], contents[4096];
    struct change *c =
        large_put(p, folder_path(&p->folder, "store/fresh", path), SLICE("a longer text"));

    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    char *before = folder_image(&p->folder, "store");

    assert_true(snprintf(contents, sizeof contents, "state/changes/%s/contents", c->id) > 0);
    folder_put(&p->folder, contents, SLICE("{\"archived\":fals?}a longer text"));
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_FORMAT);
    folder_put(&p->folder, contents, SLICE("{\"archived\":false}a longer tex"));
    assert_int_equal(change_undo(log, NULL, NULL, NULL),
                     ERR_NOT_FOUND); /* like any damaged record */
    char *after = folder_image(&p->folder, "store");

    assert_string_equal(before, after);
    folder_put(&p->folder, contents, SLICE("{\"archived\":false}a longer text"));
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    assert_true(folder_is(&p->folder, "store/doc.json", "{\"archived\":false}"));
    free(before);
    free(after);
    change_free(c);
    change_log_close(log);
}
