#include "tests/test.h"

#include <fcntl.h>

#include "lite/io/window.h"
#include "support/scratch.h"

/* n bytes, each of which encodes its position. */
static char *numbered(size_t n)
{
    char *p = malloc(n + 1);

    scratch_need(p != NULL, "malloc");
    for (size_t i = 0; i < n; i++)
        p[i] = (char)('a' + (i * 7 + i / 251) % 26);
    return p;
}

static void expect_ends(const struct window *w, const char *bytes, size_t n, size_t first)
{
    size_t head = n < first ? n : first, tail = n < WINDOW_BYTES ? n : WINDOW_BYTES;

    assert_true(slice_eq(w->head, (struct slice){ bytes, head }));
    assert_true(slice_eq(w->tail, (struct slice){ bytes + n - tail, tail }));
}

IN_SCRATCH(both_windows_are_exact_at_every_boundary_size)
{
    static const size_t sizes[] = { 0,     1,     4095,  4096,   4097,   8191,   8192,  8193,
                                    65535, 65536, 65537, 131071, 131072, 131073, 300000 };
    struct window w;

    assert_int_equal(window_init(&w, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        char *bytes = numbered(n);
        const char *path = scratch_write(state, "a", (struct slice){ bytes, n });

        assert_int_equal(window_open(&w, AT_FDCWD, path, 0, NULL), ERR_OK);
        assert_int_equal(w.wide, n <= WINDOW_BYTES);
        expect_ends(&w, bytes, n, w.wide ? WINDOW_BYTES : WINDOW_FIRST_BYTES);
        assert_int_equal(window_widen(&w, NULL), ERR_OK);
        assert_true(w.wide);
        expect_ends(&w, bytes, n, WINDOW_BYTES);
        assert_int_equal(w.head.p == w.tail.p, n <= WINDOW_BYTES);
        assert_int_equal(w.torn_tail, n > 0);
        assert_false(w.shrank);
        free(bytes);
    }
    window_fini(&w);
}

IN_SCRATCH(a_window_of_bytes_in_memory_is_that_of_the_file)
{
    static const size_t sizes[] = { 1, 4096, 65535, 65536, 65537, 131073, 300000 };
    struct window read, held;

    assert_int_equal(window_init(&read, NULL), ERR_OK);
    assert_int_equal(window_init(&held, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        char *bytes = numbered(n);
        const char *path = scratch_write(state, "a", (struct slice){ bytes, n });

        assert_int_equal(window_open(&read, AT_FDCWD, path, WINDOW_TAIL_FIRST, NULL), ERR_OK);
        window_hold(&held, &read.file.id, (struct slice){ bytes, n });
        for (int stage = 0; stage < 3; stage++) {
            assert_true(slice_eq(held.head, read.head));
            assert_true(slice_eq(held.tail, read.tail));
            assert_int_equal(held.wide, read.wide);
            assert_int_equal(held.torn_tail, read.torn_tail);
            assert_int_equal(held.head.p == held.tail.p, read.head.p == read.tail.p);
            assert_int_equal((stage ? window_widen : window_read_front)(&read, NULL), ERR_OK);
            assert_int_equal((stage ? window_widen : window_read_front)(&held, NULL), ERR_OK);
        }
        free(bytes);
    }
    window_fini(&held);
    window_fini(&read);
}

IN_SCRATCH(a_brief_window_reads_less_of_the_tail_first)
{
    static const size_t sizes[] = { 16384, 16385, 65536, 65537, 300000 };
    struct window w;

    assert_int_equal(window_init(&w, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        char *bytes = numbered(n);
        const char *path = scratch_write(state, "a", (struct slice){ bytes, n });

        assert_int_equal(window_open(&w, AT_FDCWD, path, WINDOW_BRIEF, NULL), ERR_OK);
        assert_int_equal(w.wide, n <= WINDOW_BRIEF_WHOLE);
        assert_int_equal(w.tail.n, w.wide ? n : WINDOW_BRIEF_BYTES);
        assert_memory_equal(w.tail.p, bytes + n - w.tail.n, w.tail.n);
        struct slice before = w.tail;

        assert_int_equal(window_widen(&w, NULL), ERR_OK);
        assert_true(w.wide);
        expect_ends(&w, bytes, n, WINDOW_BYTES);
        assert_int_equal(w.head.p == w.tail.p, n <= WINDOW_BYTES);
        assert_memory_equal(before.p, bytes + n - before.n, before.n); /* not moved */
        free(bytes);
    }
    window_fini(&w);
}

IN_SCRATCH(a_window_that_begins_with_the_tail_reads_of_the_head_what_is_asked_for)
{
    static const size_t sizes[] = { 0, 4096, 65536, 65537, 300000 };
    struct window w;

    assert_int_equal(window_init(&w, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        char *bytes = numbered(n);
        const char *path = scratch_write(state, "a", (struct slice){ bytes, n });

        for (int front = 0; front < 2; front++) {
            assert_int_equal(window_open(&w, AT_FDCWD, path, WINDOW_TAIL_FIRST, NULL), ERR_OK);
            assert_int_equal(w.wide, n <= WINDOW_BYTES);
            expect_ends(&w, bytes, n, w.wide ? WINDOW_BYTES : 0);
            if (front) {
                assert_int_equal(window_read_front(&w, NULL), ERR_OK);
                expect_ends(&w, bytes, n, w.wide ? WINDOW_BYTES : WINDOW_FIRST_BYTES);
                assert_int_equal(window_read_front(&w, NULL), ERR_OK);
                expect_ends(&w, bytes, n, w.wide ? WINDOW_BYTES : WINDOW_FIRST_BYTES);
            }
            assert_int_equal(window_widen(&w, NULL), ERR_OK);
            expect_ends(&w, bytes, n, WINDOW_BYTES);
            assert_false(w.shrank);
        }
        free(bytes);
    }
    window_fini(&w);
}

IN_SCRATCH(the_last_newline_decides_whether_the_tail_is_torn)
{
    struct window w;

    assert_int_equal(window_init(&w, NULL), ERR_OK);
    assert_int_equal(window_open(&w, AT_FDCWD, scratch_write(state, "a", SLICE("{}\n")), 0, NULL),
                     ERR_OK);
    assert_false(w.torn_tail);
    assert_int_equal(window_open(&w, AT_FDCWD, scratch_write(state, "b", SLICE("{}\n{")), 0, NULL),
                     ERR_OK);
    assert_true(w.torn_tail);
    window_fini(&w);
}

IN_SCRATCH(a_file_that_shrinks_between_the_stages_is_a_shorter_window)
{
    char *bytes = numbered(300000);
    const char *path = scratch_write(state, "a", (struct slice){ bytes, 300000 });
    struct window w;

    assert_int_equal(window_init(&w, NULL), ERR_OK);
    assert_int_equal(window_open(&w, AT_FDCWD, path, 0, NULL), ERR_OK);
    assert_int_equal(truncate(path, 10000), 0);
    assert_int_equal(window_widen(&w, NULL), ERR_OK);

    assert_true(w.shrank && w.wide);
    assert_true(slice_eq(w.head, (struct slice){ bytes, 10000 }));
    assert_true(slice_eq(w.tail, (struct slice){ bytes + 300000 - WINDOW_BYTES, WINDOW_BYTES }));
    window_fini(&w);
    free(bytes);
}

IN_SCRATCH(a_failed_open_leaves_an_empty_window_and_no_descriptor)
{
    struct window w;
    struct err e = { 0 };
    int before, after;

    assert_int_equal(window_init(&w, NULL), ERR_OK);
    before = dup(0);
    close(before);
    assert_int_equal(window_open(&w, AT_FDCWD, scratch_write(state, "a", SLICE("x\n")), 0, NULL),
                     ERR_OK);
    assert_int_equal(window_open(&w, AT_FDCWD, scratch_path(state, "no"), 0, &e), ERR_NOT_FOUND);

    after = dup(0);
    close(after);
    assert_int_equal(before, after);
    assert_int_equal(w.head.n + w.tail.n, 0);
    assert_int_equal(w.file.fd, -1);
    window_fini(&w);
}
