#include "tests/test.h"

#include <fcntl.h>

#include "lite/io/rows.h"
#include "support/scratch.h"

/* The rows as the callback received them: the length and the first byte of each. */
struct seen {
    char text[256];
    size_t stop_after; /* 0: never */
    size_t n;
};

static bool note_row(struct slice row, void *arg)
{
    struct seen *s = arg;
    size_t have = strlen(s->text);

    snprintf(s->text + have, sizeof s->text - have, "%zu%c ", row.n, row.n ? row.p[0] : '-');
    return ++s->n != s->stop_after;
}

static struct file open_rows(void **state, const size_t size[], size_t n, bool torn)
{
    struct buf text = { 0 };
    struct file f;

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(buf_add_byte(&text, (char)('a' + i)), ERR_OK);
        if (!torn || i + 1 < n)
            assert_int_equal(buf_add_byte(&text, '\n'), ERR_OK);
    }
    const char *path = scratch_write(state, "rows", buf_slice(&text));

    assert_int_equal(file_open(AT_FDCWD, path, 0, &f, NULL), ERR_OK);
    buf_fini(&text);
    return f;
}

IN_SCRATCH(rows_of_all_lengths_are_passed_in_both_directions)
{
    static const size_t size[] = { 3, 700000, 0, 16383, 16384, 262144, 5 };

    for (int torn = 0; torn < 2; torn++) {
        struct file f = open_rows(state, size, 7, torn);
        struct seen on = { .n = 0 }, back = { .n = 0 };

        assert_int_equal(rows_forward(&f, 0, note_row, &on, NULL), ERR_OK);
        assert_string_equal(on.text, "3a 700000b 0- 16383d 16384e 262144f 5g ");
        assert_int_equal(rows_backward(&f, f.id.size, note_row, &back, NULL), ERR_OK);
        assert_string_equal(back.text, "5g 262144f 16384e 16383d 0- 700000b 3a ");
        file_close(&f);
    }
}

IN_SCRATCH(a_walk_begins_anywhere_and_ends_when_it_is_told)
{
    static const size_t size[] = { 3, 4, 5 };
    struct file f = open_rows(state, size, 3, false);
    struct seen on = { .stop_after = 1 }, back = { .stop_after = 1 };

    assert_int_equal(rows_forward(&f, 4, note_row, &on, NULL), ERR_OK);
    assert_string_equal(on.text, "4b ");
    assert_int_equal(rows_backward(&f, 9, note_row, &back, NULL), ERR_OK);
    assert_string_equal(back.text, "4b ");
    file_close(&f);
}

IN_SCRATCH(a_byte_order_mark_is_no_part_of_the_first_row)
{
    const char *path = scratch_write(state, "rows",
                                     SLICE("\xef\xbb\xbf"
                                           "ab\n\xef\xbb\xbf"
                                           "c\n"));
    struct seen back = { .n = 0 };
    struct file f;

    assert_int_equal(file_open(AT_FDCWD, path, 0, &f, NULL), ERR_OK);
    assert_int_equal(rows_backward(&f, f.id.size, note_row, &back, NULL), ERR_OK);
    assert_string_equal(back.text, "4\xef 2a ");
    file_close(&f);
}

IN_SCRATCH(an_empty_file_has_no_rows)
{
    struct file f = open_rows(state, NULL, 0, false);
    struct seen seen = { .n = 0 };

    assert_int_equal(rows_forward(&f, 0, note_row, &seen, NULL), ERR_OK);
    assert_int_equal(rows_backward(&f, 0, note_row, &seen, NULL), ERR_OK);
    assert_int_equal(seen.n, 0);
    file_close(&f);
}
