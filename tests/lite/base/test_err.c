#include "tests/test.h"

#include <errno.h>

#include "lite/base/err.h"

TEST(error_names_context_path_and_errno)
{
    struct err e;
    char line[400];

    errno = ENOENT;
    assert_int_equal(err_sys(&e, "/x/a.jsonl", "open"), ERR_NOT_FOUND);
    err_wrap(&e, e.code, "list %s sessions", "claude");
    err_format(&e, line, sizeof line);

    assert_string_equal(line, "No such file or directory: list claude sessions: open: /x/a.jsonl");
}

TEST(the_reason_comes_first)
{
    struct err e;
    char line[400];

    err_set(&e, ERR_STALE, "/x/a", "undo: it changed: see there");
    err_wrap(&e, e.code, "step 2");
    assert_int_equal(err_format(&e, line, sizeof line), 37);
    assert_string_equal(line, "it changed: see there: step 2: undo: /x/a");
    err_set(&e, ERR_NOT_FOUND, "", "nothing left to undo");
    err_format(&e, line, sizeof line);
    assert_string_equal(line, "nothing left to undo");
    err_wrap(&e, e.code, "undo");
    err_format(&e, line, sizeof line);
    assert_string_equal(line, "nothing left to undo: undo");
    err_set(&e, ERR_USAGE, "lst", "no such command; did you mean list?");
    err_format(&e, line, sizeof line);
    assert_string_equal(line, "lst: no such command; did you mean list?");
}

TEST(a_long_path_keeps_its_tail)
{
    struct err e;
    char path[400];

    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    memcpy(path + sizeof path - 6, "/tail", 5);
    err_set(&e, ERR_FORMAT, path, "read");

    assert_string_equal(e.path, ".../tail");
    path[100] = path[200] = path[300] = '/';
    err_set(&e, ERR_FORMAT, path, "read");
    assert_memory_equal(e.path, ".../xxx", 7);
    assert_string_equal(e.path + 3, path + 300);
    memset(path, 'x', sizeof path - 1);
    err_set(&e, ERR_FORMAT, path, "read");
    assert_int_equal(strlen(e.path), sizeof e.path - 1);
    assert_memory_equal(e.path, "...xxx", 6);
}

TEST(a_path_is_added_only_once)
{
    struct err e;

    errno = EIO;
    assert_int_equal(err_at(&e, err_sys(&e, "", "read"), "/a"), ERR_IO);
    assert_string_equal(e.path, "/a");
    assert_int_equal(err_at(&e, ERR_IO, "/b"), ERR_IO);
    assert_string_equal(e.path, "/a");
    assert_int_equal(err_at(NULL, ERR_OK, "/b"), ERR_OK);
}

TEST(a_null_error_struct_is_accepted)
{
    errno = EACCES;
    assert_int_equal(err_sys(NULL, "/x", "open"), ERR_IO);
    assert_int_equal(err_set(NULL, ERR_STALE, NULL, "x"), ERR_STALE);
    assert_int_equal(err_wrap(NULL, ERR_STALE, "x"), ERR_STALE);
}
