#include "store/systems/codex/rollout.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "store/systems/codex/codex.h"
#include "tests/support/folder.h"
#include "tests/test.h"

#define DAY "sessions/2026/11/22/rollout-2026-11-22T16-17-16-"
#define A "01a203d5-0000-7000-8000-00000000000a"
#define B "01a203d5-0000-7000-8000-00000000000b"
#define C "01a203d5-0000-7000-8000-00000000000c"

static struct folder folder;

static int make_folder(void **state)
{
    (void)state;
    folder_make(&folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

static const char *at(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder.path, name);
    return path;
}

static void put_log(const char *name, const char *base, long end, const char *rest)
{
    char text[1024];

    if (base)
        snprintf(text, sizeof text,
                 "{\"type\":\"session_meta\",\"payload\":{\"history_base\":{\"thread_id\":\"%s\","
                 "\"end_byte_offset\":%ld}}}\n%s",
                 base, end, rest);
    else
        snprintf(text, sizeof text, "{\"type\":\"session_meta\",\"payload\":{}}\n%s", rest);
    folder_put(&folder, name, slice_of(text));
}

static enum err_code compose(const char *name, struct buf *out, struct err *e)
{
    char path[4096];

    snprintf(path, sizeof path, "%s", at(name));
    return rollout_compose(folder.path, path, out, e);
}

TEST(a_name_has_a_thread_and_a_rollout)
{
    struct rollout x = { 0 };

    assert_true(rollout_name(SLICE("rollout-2026-11-22T16-17-16-" A ".jsonl"), &x));
    assert_true(slice_eq(x.thread, SLICE(A)) && slice_eq(x.id, SLICE(A)) && !x.packed);
    assert_true(rollout_name(SLICE("rollout-2026-11-22T16-17-16-" A "_" B ".jsonl.zst"), &x));
    assert_true(slice_eq(x.thread, SLICE(A)) && slice_eq(x.id, SLICE(B)) && x.packed);
    assert_false(rollout_name(SLICE("rollout-2026-11-22T16-17-16-" A ".txt"), &x));
    assert_false(
        rollout_name(SLICE("rollout-2026-11-22T16-17-16-../../../../../etc/passwd.jsonl"), &x));
    assert_false(rollout_name(SLICE("rollout-.jsonl"), &x));
    assert_false(rollout_name(SLICE(""), &x));
}

#define CASE(name) TEST_WITH(name, make_folder, remove_folder)

CASE(what_is_continued_comes_before)
{
    struct buf out = { 0 };
    long end = (long)strlen("{\"type\":\"session_meta\",\"payload\":{}}\none\n");

    put_log(DAY A ".jsonl", NULL, 0, "one\ntaken back\n");
    put_log(DAY B ".jsonl", A, end, "two\n");
    assert_int_equal(compose(DAY B ".jsonl", &out, NULL), ERR_OK);
    assert_non_null(buf_cstr(&out));
    const char *two = strstr(out.p, "two\n");

    assert_non_null(two);
    assert_non_null(strstr(out.p, "one\n"));
    assert_true(strstr(out.p, "one\n") < two);
    assert_null(strstr(out.p, "taken back"));
    buf_fini(&out);
}

CASE(offsets_count_the_text_of_a_packed_log)
{
    static const char text[] = "{\"type\":\"session_meta\",\"payload\":{}}\none\ntaken back\n";
    char packed[512];
    struct buf out = { 0 };
    size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text - 1, 3);

    folder_put(&folder, DAY A ".jsonl.zst", (struct slice){ packed, n });
    put_log(DAY B ".jsonl", A, (long)(strstr(text, "taken") - text), "two\n");
    assert_int_equal(compose(DAY B ".jsonl", &out, NULL), ERR_OK);
    assert_non_null(buf_cstr(&out));
    assert_non_null(strstr(out.p, "one\n"));
    assert_null(strstr(out.p, "taken back"));
    buf_fini(&out);
}

static void refused(const char *name, const char *why)
{
    struct buf out = { 0 };
    struct err e = { 0 };

    assert_int_equal(compose(name, &out, &e), ERR_FORMAT);
    assert_non_null(strstr(e.text, why));
    buf_fini(&out);
}

/* The length of a log of one line that continues another log. */
static long link_length(void)
{
    return (long)strlen(
        "{\"type\":\"session_meta\",\"payload\":{\"history_base\":{\"thread_id\":\"\","
        "\"end_byte_offset\":123}}}\n" A);
}

CASE(broken_chains_are_refused_with_the_reason)
{
    put_log(DAY A ".jsonl", B, 40, "x\n");
    refused(DAY A ".jsonl", "is missing");
    put_log(DAY B ".jsonl", A, 10, "x\n");
    refused(DAY B ".jsonl", "no longer exists"); /* not at the end of a line */
    put_log(DAY A ".jsonl", B, link_length(), "");
    put_log(DAY B ".jsonl", A, link_length(), "");
    refused(DAY A ".jsonl", "refers to itself");
    put_log(DAY C ".jsonl", "../../../../etc/passwd", 3, "x\n");
    refused(DAY C ".jsonl", "is missing");
    put_log(DAY C ".jsonl", A, 1L << 20, "x\n");
    refused(DAY C ".jsonl", "no longer exists");
    put_log(DAY C ".jsonl", A, -1, "x\n");
    refused(DAY C ".jsonl", "cannot be found");
}

/* 64 MiB of zeros in a few kilobytes: no more than was asked for is unpacked. */
CASE(a_packed_log_is_bounded)
{
    enum { HUGE_TEXT = 64 << 20, MOST = 1 << 20 };
    char *zeros = calloc(1, HUGE_TEXT);
    size_t room = ZSTD_compressBound(HUGE_TEXT), n;
    char *packed = malloc(room);
    struct buf out = { 0 };
    bool whole = true;

    assert_non_null(zeros);
    assert_non_null(packed);
    n = ZSTD_compress(packed, room, zeros, HUGE_TEXT, 1);
    folder_put(&folder, "bomb.jsonl.zst", (struct slice){ packed, n });
    assert_int_equal(rollout_text(at("bomb.jsonl.zst"), MOST, &out, &whole, NULL), ERR_OK);
    assert_int_equal(out.n, MOST);
    assert_false(whole);
    out.n = 0; /* all of it: no log is that much larger than its archive */
    assert_int_equal(rollout_text(at("bomb.jsonl.zst"), HUGE_TEXT, &out, &whole, NULL),
                     ERR_UNSUPPORTED);
    assert_in_range(out.cap, MOST, HUGE_TEXT);
    assert_false(whole);
    buf_fini(&out);
    free(zeros);
    free(packed);
}

/* The header of a frame with a window of 2 GiB. */
CASE(an_archive_that_needs_too_much_memory_is_refused)
{
    struct buf out = { 0 };
    struct err e = { 0 };
    bool whole = true;

    folder_put(&folder, "wide.jsonl.zst", SLICE("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"));
    assert_int_equal(rollout_text(at("wide.jsonl.zst"), 1 << 20, &out, &whole, &e),
                     ERR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "128 MB"));
    buf_fini(&out);
}

CASE(a_cut_archive_gives_what_it_has)
{
    char text[5000], packed[8192];
    struct buf out = { 0 };
    bool whole = true;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + (i * i + i / 7) % 26);
    size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 1);

    folder_put(&folder, "cut.jsonl.zst", (struct slice){ packed, n / 2 });
    assert_int_equal(rollout_text(at("cut.jsonl.zst"), 1 << 20, &out, &whole, NULL), ERR_OK);
    assert_false(whole);
    buf_fini(&out);
    folder_put(&folder, "no.jsonl.zst", SLICE("this is no archive"));
    assert_int_equal(rollout_text(at("no.jsonl.zst"), 1 << 20, &out, &whole, NULL), ERR_OK);
    assert_int_equal(out.n, 0);
    assert_false(whole);
    buf_fini(&out);
}

CASE(of_two_files_of_a_rollout_the_plain_one_counts)
{
    struct rollouts all;

    folder_put(&folder, DAY A ".jsonl.zst", SLICE("x\ny\n"));
    folder_put(&folder, DAY A ".jsonl", SLICE("x\ny\n"));
    folder_put(&folder, "archived_sessions/rollout-2026-11-22T16-17-16-" A ".jsonl",
               SLICE("x\ny\n"));
    folder_put(&folder, DAY A "_" C ".jsonl", SLICE("x\ny\n"));
    folder_put(&folder, "sessions/2026/notes/rollout-2026-11-22T16-17-16-" B ".jsonl",
               SLICE("x\ny\n"));
    assert_int_equal(rollouts_read(folder.path, &all, NULL), ERR_OK);
    assert_int_equal(all.n, 2);
    assert_true(!all.rollout[0].packed && !all.rollout[0].archived);
    assert_true(slice_eq(rollouts_newest(&all, SLICE(A))->id, SLICE(C)));
    assert_null(rollouts_find(&all, SLICE(B)));
    rollouts_fini(&all);
}

/* ---- where logs are ---- */

static int opened; /* directories */

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

DIR *__wrap_opendir(const char *path)
{
    opened++;
    return __real_opendir(path);
}

CASE(a_log_is_found_by_its_id_also_when_it_is_archived)
{
    struct codex_places *places = codex_places_new(folder.path);
    struct arena a = { 0 };

    assert_non_null(places);
    folder_put(&folder, DAY A ".jsonl.zst", SLICE("x"));
    folder_put(&folder, "archived_sessions/rollout-2026-11-22T16-17-16-" B ".jsonl.zst",
               SLICE("x"));
    assert_non_null(strstr(codex_places_find(places, SLICE(A), &a), ".jsonl.zst"));
    assert_non_null(strstr(codex_places_find(places, SLICE(B), &a), "/archived_sessions/"));
    assert_null(codex_places_find(places, SLICE(C), &a));
    folder_put(&folder, DAY A ".jsonl", SLICE("x"));
    folder_put(&folder, DAY C ".jsonl", SLICE("x"));
    assert_non_null(codex_places_find(places, SLICE(C), &a));
    assert_null(strstr(codex_places_find(places, SLICE(A), &a), ".zst"));
    assert_null(codex_places_find(places, SLICE("no id"), &a));
    arena_fini(&a);
    codex_places_free(places);
}

CASE(many_logs_of_a_day_are_found_by_reading_its_folder_once)
{
    struct codex_places *places = codex_places_new(folder.path);
    struct arena a = { 0 };

    assert_non_null(places);
    folder_put(&folder, DAY A ".jsonl", SLICE("x"));
    folder_put(&folder, DAY C ".jsonl", SLICE("x"));
    opened = 0;
    for (int i = 0; i < 40; i++)
        assert_non_null(
            strstr(codex_places_find(places, i % 2 ? SLICE(A) : SLICE(C), &a), "/sessions/2026/"));
    assert_int_equal(opened, 1);
    arena_fini(&a);
    codex_places_free(places);
}
