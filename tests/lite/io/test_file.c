#include "tests/test.h"

#include <fcntl.h>

#include "lite/io/file.h"
#include "support/scratch.h"

IN_SCRATCH(a_regular_file_is_opened_and_described)
{
    const char *path = scratch_write(state, "a", SLICE("hello\n"));
    struct stat st;
    struct file f;

    assert_int_equal(file_open(AT_FDCWD, path, 0, &f, NULL), ERR_OK);

    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(f.id.size, 6);
    assert_int_equal(f.id.ino, st.st_ino);
    assert_int_equal(f.id.mtime_ns, (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    assert_int_equal(f.mode, st.st_mode);
    file_close(&f);
    assert_int_equal(f.fd, -1);
}

IN_SCRATCH(a_missing_file_is_not_found_and_named)
{
    struct file f;
    struct err e;

    assert_int_equal(file_open(AT_FDCWD, scratch_path(state, "no"), 0, &f, &e), ERR_NOT_FOUND);
    assert_string_equal(strrchr(e.path, '/'), "/no");
}

IN_SCRATCH(a_symlink_is_refused_unless_followed)
{
    struct file f;

    scratch_write(state, "a", SLICE("x"));
    assert_int_equal(symlink("a", scratch_path(state, "link")), 0);
    assert_int_equal(symlink("loop", scratch_path(state, "loop")), 0);

    assert_int_equal(file_open(AT_FDCWD, scratch_path(state, "link"), 0, &f, NULL), ERR_UNSAFE);
    assert_int_equal(file_open(AT_FDCWD, scratch_path(state, "loop"), FILE_FOLLOW, &f, NULL),
                     ERR_IO);
    assert_int_equal(file_open(AT_FDCWD, scratch_path(state, "link"), FILE_FOLLOW, &f, NULL),
                     ERR_OK);
    file_close(&f);
}

IN_SCRATCH(other_file_types_are_refused_without_blocking)
{
    struct file f;

    assert_int_equal(mkfifo(scratch_path(state, "fifo"), 0600), 0);

    assert_int_equal(file_open(AT_FDCWD, scratch_path(state, "fifo"), 0, &f, NULL), ERR_UNSAFE);
    assert_int_equal(file_open(AT_FDCWD, *state, 0, &f, NULL), ERR_UNSAFE);
    assert_int_equal(file_open(AT_FDCWD, "/dev/null", 0, &f, NULL), ERR_UNSAFE);
}

IN_SCRATCH(reading_beyond_the_end_is_a_short_read)
{
    const char *path = scratch_write(state, "a", SLICE("0123456789"));
    struct file f;
    char p[16];
    size_t got;

    assert_int_equal(file_open(AT_FDCWD, path, 0, &f, NULL), ERR_OK);

    assert_int_equal(file_read(&f, 6, p, sizeof p, &got, NULL), ERR_OK);
    assert_true(slice_eq((struct slice){ p, got }, SLICE("6789")));
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(file_read(&f, 6, p, sizeof p, &got, NULL), ERR_OK);
    assert_int_equal(got, 0);
    file_close(&f);
}

IN_SCRATCH(a_small_document_is_read_whole_or_refused)
{
    const char *path = scratch_write(state, "a", SLICE("0123456789"));
    struct buf out = { 0 };
    struct err e;

    assert_int_equal(buf_add(&out, SLICE(">")), ERR_OK);
    assert_int_equal(file_read_all(AT_FDCWD, path, 0, 9, &out, &e), ERR_FORMAT);
    assert_true(slice_eq(buf_slice(&out), SLICE(">")));
    assert_int_equal(file_read_all(AT_FDCWD, path, 0, 10, &out, NULL), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE(">0123456789")));
    buf_fini(&out);
}

/* Room for one byte more than the file has shows the end, so no second read of the same size is needed. */
IN_SCRATCH(a_large_document_is_not_allocated_twice)
{
    static char pages[10 * 4096];
    const char *path = scratch_write(state, "a", (struct slice){ pages, sizeof pages });
    struct buf out = { 0 };

    assert_int_equal(file_read_all(AT_FDCWD, path, 0, 100 * 4096, &out, NULL), ERR_OK);
    assert_int_equal(out.n, sizeof pages);
    assert_true(out.cap < 2 * sizeof pages);
    buf_fini(&out);
}

IN_SCRATCH(a_file_of_reported_size_zero_is_still_read)
{
    struct buf out = { 0 };

    assert_int_equal(file_read_all(AT_FDCWD, "/proc/self/stat", 0, 65536, &out, NULL), ERR_OK);
    assert_true(out.n > 20);
    out.n = 0;
    assert_int_equal(file_read_all(AT_FDCWD, "/proc/self/stat", 0, 20, &out, NULL), ERR_FORMAT);
    assert_int_equal(out.n, 0);
    buf_fini(&out);
}
