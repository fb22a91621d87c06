#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/fs/span.h"
#include "tests/support/folder.h"

static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

struct place {
    struct folder folder;
    char path[4096];
    int fd;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_put(&p->folder, "f", SLICE("xxabcyy"));
    p->fd = open(folder_path(&p->folder, "f", p->path), O_RDWR | O_CLOEXEC);
    assert_true(p->fd >= 0);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    close(p->fd);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(file_ranges_and_memory_read_alike)
{
    struct place *p = *state;
    struct span part = { .path = p->path, .fd = p->fd, .at = 2, .n = 3 };
    struct span memory = span_of_bytes(SLICE("abc"));
    char got[2][2];

    assert_int_equal(span_read(&part, 1, got[0], 2, NULL), ERR_OK);
    assert_int_equal(span_read(&memory, 1, got[1], 2, NULL), ERR_OK);
    assert_memory_equal(got[0], "bc", 2);
    assert_memory_equal(got[1], "bc", 2);
    assert_int_equal(span_ended(&part, NULL), ERR_OK);
    assert_int_equal(span_ended(&memory, NULL), ERR_OK);

    char all[2][4];

    assert_int_equal(span_read_all(&part, all[0], NULL), ERR_OK);
    assert_int_equal(span_read_all(&memory, all[1], NULL), ERR_OK);
    assert_memory_equal(all[0], "abc", 3);
    assert_memory_equal(all[1], "abc", 3);
}

CASE(a_file_that_shrinks_or_grows_is_reported)
{
    struct place *p = *state;
    struct span all;
    char got[8];

    assert_int_equal(span_of_file(p->fd, p->path, &all, NULL), ERR_OK);
    assert_int_equal(all.n, 7);
    assert_int_equal(span_ended(&all, NULL), ERR_OK);
    assert_int_equal(span_read_all(&all, got, NULL), ERR_OK);
    assert_int_equal(ftruncate(p->fd, 8), 0);
    assert_int_equal(span_ended(&all, NULL), ERR_STALE);
    assert_int_equal(span_read_all(&all, got, NULL), ERR_STALE);
    assert_int_equal(ftruncate(p->fd, 5), 0);
    assert_int_equal(span_read_all(&all, got, NULL), ERR_STALE);
    assert_int_equal(span_read(&all, 0, got, 7, NULL), ERR_STALE);
}

CASE(an_unreadable_span_is_an_error)
{
    struct place *p = *state;
    int dir = open(p->folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct span all, closed = { .path = p->path, .fd = 9999, .n = 1, .whole = true };
    char got[1];

    assert_int_equal(span_of_file(9999, p->path, &all, NULL), ERR_IO);
    assert_int_equal(span_read(&closed, 0, got, 1, NULL), ERR_IO);
    assert_int_equal(span_ended(&closed, NULL), ERR_IO);
    closed.n = 0;
    assert_int_equal(span_read_all(&closed, got, NULL), ERR_IO);
    close(dir);
}

CASE(hashing_a_span_passes_its_bytes_on)
{
    struct place *p = *state;
    struct span part = { .path = p->path, .fd = p->fd, .at = 2, .n = 3 };
    struct hasher h = { 0 };
    uint8_t sha256[SHA256_BYTES];
    char hex[SHA256_BYTES * 2 + 1], copy[4096];
    int to = open(folder_path(&p->folder, "copy", copy), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_int_equal(hasher_span(&h, &part, to, copy, sha256, NULL), ERR_OK);
    close(to);
    hasher_hex(sha256, hex);
    assert_string_equal(hex, abc);
    assert_true(folder_is(&p->folder, "copy", "abc"));
    assert_int_equal(hasher_bytes(&h, SLICE("abc"), sha256, NULL), ERR_OK);
    hasher_hex(sha256, hex);
    assert_string_equal(hex, abc);
    hasher_fini(&h);
}
