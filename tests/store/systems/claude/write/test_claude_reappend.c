#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>

#include "lite/io/window.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/write/metarow.h"
#include "tests/support/folder.h"

#define TITLE "{\"type\":\"custom-title\",\"customTitle\":\"t\",\"sessionId\":\"s\"}\n"
#define TAG "{\"type\":\"tag\",\"tag\":\"g\",\"sessionId\":\"s\"}\n"
#define MODE "{\"type\":\"mode\",\"mode\":\"plan\",\"sessionId\":\"s\"}\n"

struct log {
    struct folder folder;
    struct buf bytes;
    struct arena arena;
    char path[4096];
};

static int set_up(void **state)
{
    struct log *l = calloc(1, sizeof *l);

    folder_make(&l->folder);
    folder_path(&l->folder, "s.jsonl", l->path);
    *state = l;
    return 0;
}

static int tear_down(void **state)
{
    struct log *l = *state;

    folder_remove(&l->folder);
    buf_fini(&l->bytes);
    arena_fini(&l->arena);
    free(l);
    return 0;
}

static void add(struct log *l, const char *text)
{
    assert_int_equal(buf_add(&l->bytes, slice_of(text)), ERR_OK);
}

/* A message row of exactly n bytes with its newline. */
static void fill(struct log *l, size_t n)
{
    const char front[] = "{\"type\":\"user\",\"x\":\"", back[] = "\"}\n";
    char xs[4096];

    memset(xs, 'x', sizeof xs);
    assert_true(n >= sizeof front + sizeof back);
    add(l, front);
    for (size_t left = n + 2 - sizeof front - sizeof back; left > 0;) {
        size_t part = left < sizeof xs ? left : sizeof xs;

        assert_int_equal(buf_add(&l->bytes, (struct slice){ xs, part }), ERR_OK);
        left -= part;
    }
    add(l, back);
}

static struct metarows look(struct log *l, bool everywhere)
{
    struct file f;
    struct metarows m;

    folder_put(&l->folder, "s.jsonl", buf_slice(&l->bytes));
    assert_int_equal(file_open(AT_FDCWD, l->path, 0, &f, NULL), ERR_OK);
    if (everywhere)
        assert_int_equal(metarows_anywhere(&f, METAROW_ALL, NULL, &l->arena, &m, NULL), ERR_OK);
    else
        assert_int_equal(metarows_near_end(&f, &l->arena, &m, NULL), ERR_OK);
    file_close(&f);
    return m;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

/* The file is read backwards in blocks of a mebibyte: a row may begin or end at any place of one. */
CASE(a_row_is_found_wherever_a_block_ends)
{
    enum { BLOCK = 1 << 20, LONG = 2 * BLOCK, ROW = sizeof TAG - 1 };
    static const int behind[] = { -ROW - 1, -ROW, -ROW + 1, -ROW / 2, -1, 0, 1 };
    struct log *l = *state;

    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        l->bytes.n = 0;
        add(l, MODE);
        fill(l, LONG);
        add(l, TAG);
        fill(l, (size_t)(BLOCK + behind[i]));
        struct metarows m = look(l, true);

        assert_true(m.row[METAROW_TAG].found && m.row[METAROW_MODE].found);
        assert_int_equal(m.row[METAROW_TAG].offset, (int)sizeof MODE - 1 + LONG);
        assert_int_equal(m.row[METAROW_TAG].text.n, ROW - 1);
        assert_int_equal(m.row[METAROW_MODE].offset, 0);
        arena_reset(&l->arena);
    }
}

CASE(the_newest_row_counts_and_a_long_one_does_not)
{
    struct log *l = *state;

    add(l, TAG);
    add(l, MODE);
    add(l, TAG);
    fill(l, 3 << 20);
    add(l, "{\"type\":\"tag\",\"tag\":\"cut\n{\"x\":{\"type\":\"tag\"},\"type\":\"user\"}\n");
    add(l, "{\"type\":\"tag\",\"tag\":\"");
    fill(l, 2 << 20); /* a tag longer than a block */
    add(l, "{\"type\":\"user\",\"x\":\"torn");
    struct metarows m = look(l, true);

    assert_true(m.row[METAROW_TAG].found);
    assert_int_equal(m.row[METAROW_TAG].offset, (int)(sizeof TAG + sizeof MODE) - 2);
    assert_int_equal(m.row[METAROW_MODE].offset, (int)sizeof TAG - 1);
    assert_false(m.row[METAROW_AI_TITLE].found);
    assert_int_equal(m.size, (int64_t)l->bytes.n);
    assert_int_equal(m.end, m.size + 1);
}

CASE(nothing_is_written_while_all_rows_are_in_the_window)
{
    struct log *l = *state;
    struct buf out = { 0 };
    size_t rows;

    add(l, TITLE);
    fill(l, WINDOW_BYTES - strlen(TITLE));
    struct metarows m = look(l, true);

    assert_int_equal(metarows_reappend(&m, 0, METAROW_TYPES, &out, &rows), ERR_OK);
    assert_int_equal(rows, 0);
    assert_int_equal(metarows_reappend(&m, 1, METAROW_TYPES, &out, &rows), ERR_OK);
    assert_int_equal(rows, 1);
    assert_true(slice_eq(buf_slice(&out), SLICE(TITLE)));
    buf_fini(&out);
}

CASE(rows_are_copied_newest_first_seen_in_the_clients_order)
{
    struct log *l = *state;
    struct buf out = { 0 };
    size_t rows;

    add(l, MODE);
    add(l, TAG);
    add(l, "{\"type\":\"custom-title\",\"customTitle\":\"older\",\"sessionId\":\"s\"}\n");
    add(l, TITLE);
    fill(l, WINDOW_BYTES * 2);
    struct metarows m = look(l, true);

    assert_int_equal(metarows_reappend(&m, 0, METAROW_TYPES, &out, &rows), ERR_OK);
    assert_int_equal(rows, 3);
    assert_true(slice_eq(buf_slice(&out), SLICE(TITLE TAG MODE)));
    buf_fini(&out);
}

CASE(written_rows_may_push_the_next_row_out_too)
{
    struct log *l = *state;
    struct buf out = { 0 };
    size_t rows;

    add(l, TITLE);
    add(l, TAG);
    fill(l, WINDOW_BYTES - strlen(TITLE TAG));
    struct metarows m = look(l, false);

    assert_int_equal(metarows_reappend(&m, 1, METAROW_TYPES, &out, &rows), ERR_OK);
    assert_int_equal(rows, 2);
    out.n = 0;
    assert_int_equal(metarows_reappend(&m, 1, METAROW_CUSTOM_TITLE, &out, &rows), ERR_OK);
    assert_int_equal(rows, 0);
    buf_fini(&out);
}

CASE(the_newline_added_to_a_torn_line_counts)
{
    struct log *l = *state;
    struct buf out = { 0 };
    size_t rows;

    add(l, TITLE);
    fill(l, WINDOW_BYTES - strlen(TITLE) + 1);
    l->bytes.n--; /* torn: the window begins with the title */
    for (int everywhere = 0; everywhere < 2; everywhere++) {
        struct metarows m = look(l, everywhere);

        assert_int_equal(m.end, m.size + 1);
        assert_int_equal(metarows_reappend(&m, 0, METAROW_TYPES, &out, &rows), ERR_OK);
        assert_int_equal(rows, 1);
        out.n = 0;
    }
    buf_fini(&out);
}

CASE(the_tail_alone_is_read_for_rows_within_it)
{
    struct log *l = *state;

    add(l, TAG);
    fill(l, WINDOW_BYTES - strlen(TITLE));
    add(l, TITLE);
    struct metarows m = look(l, false);

    assert_true(m.row[METAROW_CUSTOM_TITLE].found);
    assert_false(m.row[METAROW_TAG].found);
    assert_true(slice_eq(metarow_value(&m.row[METAROW_CUSTOM_TITLE], "customTitle", &l->arena),
                         SLICE("t")));
}

CASE(a_row_that_does_not_parse_is_no_row)
{
    struct log *l = *state;

    add(l, TAG);
    add(l, "{\"type\":\"tag\",\"tag\":\"cut\n");
    add(l, "{\"type\":\"user\",\"message\":{\"type\":\"tag\",\"tag\":\"nested\"}}\n");
    struct metarows near = look(l, false), all = look(l, true);

    assert_true(slice_eq(metarow_value(&near.row[METAROW_TAG], "tag", &l->arena), SLICE("g")));
    assert_true(slice_eq(metarow_value(&all.row[METAROW_TAG], "tag", &l->arena), SLICE("g")));
}

CASE(a_row_is_written_even_if_its_text_is_empty)
{
    struct log *l = *state;

    assert_int_equal(metarow_write(METAROW_TAG, "tag", SLICE("g"), SLICE("s"), &l->bytes), ERR_OK);
    assert_string_equal(buf_cstr(&l->bytes), TAG);
    l->bytes.n = 0;
    assert_int_equal(metarow_write(METAROW_TAG, "tag", SLICE(""), SLICE("s"), &l->bytes), ERR_OK);
    assert_string_equal(buf_cstr(&l->bytes),
                        "{\"type\":\"tag\",\"tag\":\"\",\"sessionId\":\"s\"}\n");
}

/* What is written again of a row that names a worktree. */
static void worktree_becomes(struct log *l, const char *path, bool everywhere, const char *want)
{
    struct buf row = { 0 }, out = { 0 };
    size_t rows;

    assert_int_equal(buf_addf(&row,
                              "{\"type\":\"worktree-state\",\"worktreeSession\":{\"worktreePath\":"
                              "\"%s\",\"n\":1},\"sessionId\":\"s\"}\n",
                              path),
                     ERR_OK);
    l->bytes.n = 0;
    add(l, buf_cstr(&row));
    struct metarows m = look(l, everywhere);

    assert_int_equal(metarows_leave_worktree(&m, &l->arena, NULL), ERR_OK);
    assert_int_equal(metarows_reappend(&m, 0, METAROW_TYPES, &out, &rows), ERR_OK);
    assert_int_equal(rows, *want != '\0');
    assert_string_equal(buf_cstr(&out), want);
    buf_fini(&row);
    buf_fini(&out);
}

CASE(a_worktree_that_is_gone_was_left)
{
    static const char left[] =
        "{\"type\":\"worktree-state\",\"worktreeSession\":null,\"sessionId\":\"s\"}\n";
    struct log *l = *state;
    char path[4200];

    worktree_becomes(l, l->folder.path, true, "");
    snprintf(path, sizeof path, "%s/gone", l->folder.path);
    worktree_becomes(l, path, true, left);
    worktree_becomes(l, path, false, left);
    snprintf(path, sizeof path, "%s/s.jsonl/below-a-file", l->folder.path);
    worktree_becomes(l, path, true, left);
    worktree_becomes(l, "", true, "");

    /* A session that left it already. */
    l->bytes.n = 0;
    add(l, left);
    struct metarows m = look(l, true);
    const char *before = m.row[METAROW_WORKTREE_STATE].text.p;

    assert_int_equal(metarows_leave_worktree(&m, &l->arena, NULL), ERR_OK);
    assert_ptr_equal(m.row[METAROW_WORKTREE_STATE].text.p, before);
}
