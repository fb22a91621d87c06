#include "tests/test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lite/scan/index.h"
#include "lite/scan/index_internal.h"
#include "support/generated_rows.h"
#include "support/index_fixture.h"
#include "support/scratch.h"

static struct file open_file(const char *path)
{
    struct file f;

    assert_int_equal(file_open(AT_FDCWD, path, 0, &f, NULL), ERR_OK);
    return f;
}

/* Adds the file to ix, with buffers of these sizes. */
static void index_file(struct index *ix, const char *path, unsigned flags, size_t read, size_t hold)
{
    struct file f = open_file(path);
    struct index_pass pass = { ix, &f, &keys, flags, NULL, read, hold };

    assert_int_equal(index_pass_run(&pass, NULL), ERR_OK);
    file_close(&f);
}

IN_SCRATCH(a_torn_tail_is_reread_after_the_file_grew)
{
    const char *path = scratch_write(state, "a", SLICE("{\"type\":\"user\"}\n{\"type\":\"assi"));
    struct index ix = { 0 }, whole = { 0 };

    index_file(&ix, path, 0, 64, 64);
    assert_true(ix.torn_tail);
    assert_int_equal(ix.n, 2);
    assert_int_equal(ix.broken, 1);
    assert_int_equal(ix.end, 16);

    scratch_append(state, "a", SLICE("stant\"}\n"));
    index_file(&ix, path, 0, 64, 64);
    index_file(&whole, path, 0, 4096, 4096);
    assert_int_equal(ix.line[1].kind, ASSISTANT);
    assert_int_equal(ix.broken, 0);
    indexed_same(&ix, &whole);

    index_file(&ix, path, 0, 64, 64); /* nothing new: nothing changes */
    indexed_same(&ix, &whole);
    index_fini(&ix);
    index_fini(&whole);
}

IN_SCRATCH(a_file_truncated_after_indexing_is_stale)
{
    const char *path = scratch_write(state, "a", SLICE("{}\n{}\n"));
    struct index ix = { 0 };
    struct file f;

    index_file(&ix, path, 0, 64, 64);
    assert_int_equal(truncate(path, 3), 0);
    f = open_file(path);
    assert_int_equal(index_build(&ix, &f, &keys, 0, NULL, NULL), ERR_STALE);
    file_close(&f);
    index_fini(&ix);
}

IN_SCRATCH(a_file_truncated_during_the_pass_is_indexed_up_to_its_end)
{
    const char *path = scratch_write(state, "a", SLICE("{}\n{\"type\":\"user\"}\n{}\n"));
    struct index ix = { 0 };
    struct file f = open_file(path); /* keeps the size it saw */

    assert_int_equal(truncate(path, 8), 0);
    assert_int_equal(index_build(&ix, &f, &keys, 0, NULL, NULL), ERR_OK);

    assert_int_equal(ix.n, 2);
    assert_int_equal(ix.end, 3);
    assert_true(ix.torn_tail);
    assert_int_equal(ix.line[1].length, 5);
    file_close(&f);
    index_fini(&ix);
}

IN_SCRATCH(a_stopped_pass_can_be_continued)
{
    const char *path = scratch_write(state, "a", SLICE("{}\n{}\n"));
    struct index ix = { 0 };
    struct file f = open_file(path);
    atomic_bool stop = true;
    struct err e;

    assert_int_equal(index_build(&ix, &f, &keys, 0, &stop, &e), ERR_CANCELLED);
    stop = false;
    assert_int_equal(index_build(&ix, &f, &keys, 0, &stop, NULL), ERR_OK);
    assert_int_equal(ix.n, 2);
    file_close(&f);
    index_fini(&ix);
}

IN_SCRATCH(an_empty_file_has_no_lines)
{
    struct index ix = { 0 };

    index_file(&ix, scratch_write(state, "a", SLICE("")), 0, 64, 64);
    assert_int_equal(ix.n, 0);
    assert_false(ix.torn_tail);
    index_fini(&ix);
}

IN_SCRATCH(buffers_of_any_size_give_the_same_index)
{
    static const struct {
        size_t read, hold;
    } sizes[] = { { 1, 1 }, { 7, 7 }, { 16, 64 }, { 63, 63 }, { 64, 128 }, { 100, 1000 } };
    struct rng rng = { 362436069u };

    for (int round = 0; round < 60; round++) {
        unsigned flags = rng_roll(&rng, 2) ? INDEX_VALIDATE : 0;
        struct buf b = { 0 };
        struct index whole;
        const char *path;

        for (int n = 0; n < 20; n++) {
            rows_line(&b, &rng);
            rows_put(&b, n < 19 || rng_roll(&rng, 2) ? "\n" : "");
        }
        path = scratch_write(state, "a", buf_slice(&b));
        whole = indexed(buf_slice(&b), flags);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct index ix = { 0 };

            index_file(&ix, path, flags, sizes[i].read, sizes[i].hold);
            indexed_same(&ix, &whole);
            index_fini(&ix);
        }
        index_fini(&whole);
        buf_fini(&b);
    }
}

IN_SCRATCH(growth_byte_by_byte_gives_the_same_index)
{
    struct rng rng = { 521288629u };
    struct index ix = { 0 }, whole;
    struct buf b = { 0 };
    const char *path = scratch_write(state, "a", SLICE(""));

    for (int n = 0; n < 6; n++) {
        rows_line(&b, &rng);
        rows_put(&b, "\n");
    }
    for (size_t i = 0; i < b.n; i++) {
        scratch_append(state, "a", (struct slice){ b.p + i, 1 });
        index_file(&ix, path, 0, 64, 64);
        whole = indexed((struct slice){ b.p, i + 1 }, 0);
        indexed_same(&ix, &whole);
        index_fini(&whole);
    }
    index_fini(&ix);
    buf_fini(&b);
}

#if defined(__SANITIZE_ADDRESS__)
#define ROOM_CAN_BE_LIMITED 0 /* its shadow memory alone takes terabytes of addresses */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROOM_CAN_BE_LIMITED 0
#endif
#endif
#ifndef ROOM_CAN_BE_LIMITED
#define ROOM_CAN_BE_LIMITED 1
#endif

enum { HUGE_MB = 100, ROOM_MB = 64 };

/* {"uuid":ID,"a":"xxx...\"","type":"user"} and a short row. */
static const char *write_huge_line(void **state)
{
    const char *path = scratch_path(state, "a");
    FILE *f = fopen(path, "wb");
    static char text[1 << 20];

    assert_non_null(f);
    memset(text, 'x', sizeof text);
    fputs("{\"uuid\":\"" ID "\",\"a\":\"", f);
    for (int i = 0; i < HUGE_MB; i++)
        assert_int_equal(fwrite(text, 1, sizeof text, f), sizeof text);
    fputs("\\\"\",\"type\":\"user\"}\n{\"type\":\"assistant\"}\n", f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static bool huge_line_is_indexed(const char *path, unsigned flags)
{
    struct index ix = { 0 };
    struct file f;
    bool ok;

    if (file_open(AT_FDCWD, path, 0, &f, NULL))
        return false;
    ok = index_build(&ix, &f, &keys, flags, NULL, NULL) == ERR_OK && ix.n == 2 &&
         ix.line[0].state == LINE_OK && ix.line[0].kind == USER &&
         id128_eq(ix.line[0].id, id128_of(SLICE(ID))) && ix.line[0].length > HUGE_MB << 20 &&
         ix.line[1].kind == ASSISTANT;
    file_close(&f);
    index_fini(&ix);
    return ok;
}

/* Runs in a process with less memory than the line is long. */
IN_SCRATCH(a_huge_line_is_indexed_without_holding_it)
{
    const char *path = write_huge_line(state);
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit room = { ROOM_MB << 20, ROOM_MB << 20 };

        if (ROOM_CAN_BE_LIMITED && setrlimit(RLIMIT_AS, &room) != 0)
            _exit(2);
        _exit(huge_line_is_indexed(path, 0) && huge_line_is_indexed(path, INDEX_VALIDATE) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}
