#include "tests/test.h"

#include <fcntl.h>
#include <unistd.h>

#include "store/log/logfile.h"
#include "tests/support/folder.h"

static const char *const kinds[] = { "user", NULL };
static const struct index_keys keys = {
    .type = "type", .id = "uuid", .parent = "parentUuid", .time = "timestamp", .kinds = kinds
};

struct place {
    struct folder folder;
    char path[4096];
};

static void put(struct place *p, struct slice bytes)
{
    folder_make(&p->folder);
    folder_put(&p->folder, "log", bytes);
    folder_path(&p->folder, "log", p->path);
}

static void expect_row(struct logfile *log, size_t line, const char *want)
{
    struct slice row;

    assert_int_equal(logfile_row(log, line, &row, NULL), ERR_OK);
    assert_true(slice_eq(row, slice_of(want)));
}

TEST(rows_are_read_in_any_order)
{
    struct place p;
    struct logfile log;

    put(&p, SLICE("{\"a\":1}\n\n{\"b\":2}\n{\"torn"));
    assert_int_equal(logfile_open(&log, p.path, 0, &keys, NULL, NULL), ERR_OK);

    assert_int_equal(log.index.n, 4);
    assert_true(log.index.torn_tail);
    expect_row(&log, 3, "{\"torn");
    expect_row(&log, 0, "{\"a\":1}");
    expect_row(&log, 2, "{\"b\":2}");
    expect_row(&log, 1, "");
    logfile_close(&log);
    folder_remove(&p.folder);
}

TEST(a_tail_begins_with_its_first_whole_line)
{
    struct place p;
    struct logfile log;

    put(&p, SLICE("{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"));
    assert_int_equal(logfile_open_tail(&log, p.path, 0, &keys, 12, NULL), ERR_OK);
    assert_int_equal(log.index.n, 1);
    assert_int_equal(log.index.line[0].offset, 16);
    expect_row(&log, 0, "{\"c\":3}");
    logfile_close(&log);

    /* The window begins at the beginning of a line. */
    assert_int_equal(logfile_open_tail(&log, p.path, 0, &keys, 16, NULL), ERR_OK);
    assert_int_equal(log.index.n, 2);
    logfile_close(&log);

    assert_int_equal(logfile_open_tail(&log, p.path, 0, &keys, 1000, NULL), ERR_OK);
    assert_int_equal(log.index.n, 3);
    assert_int_equal(log.index.line[0].offset, 0);
    logfile_close(&log);
    folder_remove(&p.folder);
}

TEST(a_truncated_file_is_stale)
{
    struct place p;
    struct logfile log;
    struct slice row;

    put(&p, SLICE("{\"a\":1}\n{\"b\":2}\n"));
    assert_int_equal(logfile_open(&log, p.path, 0, &keys, NULL, NULL), ERR_OK);
    assert_int_equal(truncate(p.path, 9), 0);

    assert_int_equal(logfile_row(&log, 1, &row, NULL), ERR_STALE);
    assert_int_equal(logfile_row(&log, 0, &row, NULL), ERR_STALE);
    logfile_close(&log);
    folder_remove(&p.folder);
}

/* Writes the text over the file from its beginning, as a program does that opens it with O_TRUNC. */
static void write_over(const struct place *p, const char *text)
{
    int fd = open(p->path, O_WRONLY | O_TRUNC);

    assert_int_not_equal(fd, -1);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

/* The index describes the rows of the old text: what is at their offsets now are parts of other rows. */
TEST(a_file_that_was_rewritten_in_place_is_stale)
{
    static const char *const later[] = {
        "{\"x\":10}\n{\"y\":20}\n{\"z\":30}\n", /* longer */
        "{\"x\":1}\n{\"y\":2}\n",               /* as long */
        "{\"x\":1}\n",                          /* shorter */
        "",
    };
    struct place p;
    struct slice row;

    put(&p, SLICE(""));
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        struct logfile log, tail;

        write_over(&p, "{\"a\":1}\n{\"b\":2}\n");
        assert_int_equal(logfile_open(&log, p.path, 0, &keys, NULL, NULL), ERR_OK);
        assert_int_equal(logfile_open_tail(&tail, p.path, 0, &keys, 10, NULL), ERR_OK);
        usleep(20 * 1000); /* clocks of file systems are coarse */
        write_over(&p, later[i]);

        assert_int_equal(logfile_row(&log, 0, &row, NULL), ERR_STALE);
        assert_int_equal(logfile_check(&log, NULL), ERR_STALE);
        assert_int_equal(logfile_check(&tail, NULL), ERR_STALE);
        logfile_close(&log);
        logfile_close(&tail);
    }
    folder_remove(&p.folder);
}

TEST(rows_are_read_while_others_are_appended)
{
    struct place p;
    struct logfile log;

    put(&p, SLICE("{\"a\":1}\n{\"b\""));
    assert_int_equal(logfile_open(&log, p.path, 0, &keys, NULL, NULL), ERR_OK);
    int fd = open(p.path, O_WRONLY | O_APPEND);

    assert_int_equal(write(fd, ":2}\n{\"c\":3}\n", 13), 13);
    assert_int_equal(close(fd), 0);
    expect_row(&log, 0, "{\"a\":1}");
    expect_row(&log, 1, "{\"b\"");
    assert_int_equal(logfile_check(&log, NULL), ERR_OK);
    logfile_close(&log);
    folder_remove(&p.folder);
}

TEST(a_missing_file_is_not_found)
{
    struct logfile log;

    assert_int_equal(logfile_open(&log, "/nonexistent/log", 0, &keys, NULL, NULL), ERR_NOT_FOUND);
}

static void expect_same_index(const struct place *p)
{
    struct index whole = { 0 }, pieces = { 0 };
    struct file f;

    assert_int_equal(file_open(AT_FDCWD, p->path, 0, &f, NULL), ERR_OK);
    assert_int_equal(index_build(&whole, &f, &keys, INDEX_VALIDATE, NULL, NULL), ERR_OK);
    assert_int_equal(logfile_index_build(&pieces, &f, &keys, INDEX_VALIDATE, NULL, NULL), ERR_OK);
    assert_int_equal(pieces.n, whole.n);
    assert_int_equal(pieces.end, whole.end);
    assert_int_equal(pieces.torn_tail, whole.torn_tail);
    assert_int_equal(pieces.broken, whole.broken);
    for (size_t i = 0; i < whole.n; i++)
        assert_memory_equal(&pieces.line[i], &whole.line[i], sizeof *whole.line);
    index_fini(&whole);
    index_fini(&pieces);
    file_close(&f);
}

TEST(a_parallel_index_is_the_same)
{
    struct place p;
    struct buf text = { 0 };

    for (int i = 0; text.n < 2u << 20; i++)
        assert_int_equal(buf_addf(&text, "{\"type\":\"user\",\"uuid\":\"u%d\",\"n\":%s\"%0*d\"}\n",
                                  i, i % 100 ? "" : "bad", i % 5000, i),
                         ERR_OK);
    assert_int_equal(buf_add(&text, SLICE("{\"torn\"")), ERR_OK);
    put(&p, buf_slice(&text));

    expect_same_index(&p);
    folder_remove(&p.folder);
    buf_fini(&text);
}

TEST(a_file_without_a_newline_in_the_middle_is_not_split)
{
    struct place p;
    struct buf text = { 0 };

    assert_int_equal(buf_addf(&text, "{\"a\":\"%0*d\"}\n{\"b\":1}", 17 << 20, 1), ERR_OK);
    put(&p, buf_slice(&text));

    expect_same_index(&p);
    folder_remove(&p.folder);
    buf_fini(&text);
}
