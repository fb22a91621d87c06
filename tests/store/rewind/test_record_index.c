#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "store/rewind/record/record.h"
#include "store/rewind/record/records.h"
#include "tests/support/folder.h"

/* Lists of undo records come from an index, which must never be believed over the records. */

enum { RECORDS = 200, FILES = 3 };

#define REWINDS "state/rewinds/"
#define INDEX REWINDS "index"
#define HASH "0000000000000000000000000000000000000000000000000000000000000000"

static struct folder folder;
static struct store_env env;
static char state_dir[4096];
static size_t reads;     /* of files, by the code under test */
static time_t later = 9; /* seconds that the records are older than they are */

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names that the linker asks for. */
enum err_code __real_file_read_all(int dirfd, const char *name, unsigned flags, size_t max,
                                   struct buf *out, struct err *e);
enum err_code __wrap_file_read_all(int dirfd, const char *name, unsigned flags, size_t max,
                                   struct buf *out, struct err *e);
time_t __real_time(time_t *at);
time_t __wrap_time(time_t *at);

enum err_code __wrap_file_read_all(int dirfd, const char *name, unsigned flags, size_t max,
                                   struct buf *out, struct err *e)
{
    reads++;
    return __real_file_read_all(dirfd, name, flags, max, out, e);
}

time_t __wrap_time(time_t *at)
{
    return __real_time(at) + later;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

static const char *record_name(int i, const char *file)
{
    static char name[200];

    snprintf(name, sizeof name, REWINDS "%015d-00000001/%s", 1000 + i, file);
    return name;
}

static void put(int i, const char *file, struct slice bytes)
{
    folder_put(&folder, record_name(i, file), bytes);
}

/* Every seventh record undoes the one before it; the outcomes and the optional members differ. */
static void make_record_of(int i, const char *title)
{
    static const char *const outcomes[] = { "ddd", "dcd", "udd", "ccc" };
    bool undo = i % 7 == 6;
    struct buf plan = { 0 };

    assert_int_equal(
        buf_addf(&plan,
                 "{\"version\":\"3\",\"at\":\"%d\",\"system\":\"claude\",\"session\":\"s%d\","
                 "\"point\":\"p%%09%d\",\"title\":\"%s%d\",\"dirs\":[],",
                 1000 + i, i % 5, i, title, i),
        ERR_OK);
    if (i % 3)
        assert_int_equal(buf_addf(&plan, "\"project\":\"/p%d\",\"store\":\"/st%%C3%%A4\",", i % 4),
                         ERR_OK);
    if (undo)
        assert_int_equal(buf_addf(&plan, "\"undoes\":\"%015d-00000001\",\"settled\":[%s],", 999 + i,
                                  i % 2 ? "{\"path\":\"/p/2\"}" : ""),
                         ERR_OK);
    assert_int_equal(buf_addf(&plan, "\"entries\":["), ERR_OK);
    for (int k = 0; k < FILES - (undo && i % 2); k++)
        assert_int_equal(
            buf_addf(&plan,
                     "%s{\"path\":\"/p/%d\",\"root\":\"/p\",\"do\":\"%s\",\"mode\":\"420\","
                     "\"dirs\":\"0\",\"modeOnly\":\"0\",\"mtime\":\"1\",\"wanted\":\"" HASH
                     "\",\"exists\":\"1\",\"dev\":\"1\",\"ino\":\"5\",\"size\":\"10\","
                     "\"seenMtime\":\"1\",\"seenMode\":\"33188\",\"seen\":\"" HASH "\"}",
                     k ? "," : "", k, k == 1 ? "create" : "restore"),
            ERR_OK);
    assert_int_equal(buf_addf(&plan, "]}"), ERR_OK);
    put(i, "plan", buf_slice(&plan));
    put(i, "kept", SLICE("0123456789"));
    put(i, "intent", SLICE(""));
    put(i, "commit", (struct slice){ outcomes[i % 4], (size_t)(FILES - (undo && i % 2)) });
    if (i % 50 != 49)
        put(i, "done", SLICE(""));
    buf_fini(&plan);
}

static int make_records(void **state)
{
    (void)state;
    folder_make(&folder);
    for (int i = 0; i < RECORDS; i++)
        make_record_of(i, "T");
    env = (struct store_env){ .state_dir = folder_path(&folder, "state", state_dir) };
    return 0;
}

static int remove_records(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

/* Everything that a list shows, as one text. */
static void describe(struct buf *out, size_t *n)
{
    struct rewind_records list;

    reads = 0;
    assert_int_equal(rewind_records_read(&env, &list, NULL), ERR_OK);
    *n = list.n;
    out->n = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct rewind_record *r = &list.record[i];

        assert_int_equal(
            buf_addf(out, "%s %s %s %s %s %s %s %s %lld %lld %zu %zu %zu %d %d%d%d%d%d%d%d\n",
                     r->id, r->system, r->session, r->point, r->undoes ? r->undoes : "-",
                     r->store ? r->store : "-", r->title ? r->title : "-",
                     r->project ? r->project : "-", (long long)r->at_ms, (long long)r->bytes,
                     r->restored, r->created, r->deleted, r->how, r->cut_short, r->interrupted,
                     r->undone, r->partly, r->conversation_undone, r->abandoned, r->empty),
            ERR_OK);
        for (size_t k = 0; k < r->undoable_n; k++)
            assert_int_equal(buf_addf(out, "  %s\n", r->undoable[k]), ERR_OK);
    }
    assert_int_equal(buf_addf(out, "unread %s\n", list.unread), ERR_OK);
    assert_non_null(buf_cstr(out));
    rewind_records_fini(&list);
}

#define CASE(name) TEST_WITH(name, make_records, remove_records)

CASE(the_index_says_what_the_records_say)
{
    struct buf first = { 0 }, second = { 0 };
    size_t n;

    (void)state;
    describe(&first, &n);
    assert_int_equal(n, RECORDS);
    assert_true(reads >= RECORDS);
    assert_true(folder_has(&folder, INDEX));
    describe(&second, &n);
    assert_string_equal(first.p, second.p);
    assert_true(reads <= 1 + 2 * (RECORDS / 50)); /* the index, and the unfinished ones */
    buf_fini(&first);
    buf_fini(&second);
}

CASE(a_damaged_index_is_made_again)
{
    static const char *const bad[] = { "", "x\n", "reprise-index 1 00\n", NULL };
    struct buf right = { 0 }, got = { 0 }, index = { 0 };
    char path[4096];
    size_t n;

    (void)state;
    describe(&right, &n);
    for (size_t i = 0; bad[i]; i++) {
        folder_put(&folder, INDEX, slice_of(bad[i]));
        describe(&got, &n);
        assert_string_equal(got.p, right.p);
        describe(&got, &n);
        assert_true(reads < RECORDS);
    }
    folder_path(&folder, INDEX, path);
    assert_int_equal(file_read_all(AT_FDCWD, path, 0, SIZE_MAX / 2, &index, NULL), ERR_OK);
    for (size_t at = 0; at < index.n; at += index.n / 23) {
        index.p[at] ^= 1;
        folder_put(&folder, INDEX, buf_slice(&index));
        describe(&got, &n);
        assert_string_equal(got.p, right.p);
        index.p[at] ^= 1;
        folder_put(&folder, INDEX, (struct slice){ index.p, at });
        describe(&got, &n);
        assert_string_equal(got.p, right.p);
    }
    buf_fini(&index);
    buf_fini(&right);
    buf_fini(&got);
}

CASE(a_record_that_changed_is_read)
{
    struct buf before = { 0 }, after = { 0 };
    char path[4096];
    size_t n;

    (void)state;
    describe(&before, &n);
    make_record_of(150, "U"); /* the same names and sizes */
    describe(&after, &n);
    assert_null(strstr(before.p, " U150 "));
    assert_non_null(strstr(after.p, " U150 "));
    put(151, "commit", SLICE("ccc"));
    put(152, "plan", SLICE("{}"));
    assert_int_equal(unlink(folder_path(&folder, record_name(153, "done"), path)), 0);
    assert_int_equal(unlink(folder_path(&folder, record_name(153, "commit"), path)), 0);
    describe(&after, &n);
    assert_int_equal(n, RECORDS - 1);
    assert_non_null(strstr(after.p, "unread 000000000001152-00000001\n"));
    assert_non_null(strstr(after.p, "0 0 0 0 0100000\n")); /* 153: interrupted */
    assert_true(reads < 40);
    buf_fini(&before);
    buf_fini(&after);
}

CASE(a_record_that_was_removed_is_gone)
{
    const struct rewind_prune_rule rule = { .keep = 20,
                                            .before_ms = INT64_MIN,
                                            .bytes = INT64_MAX };
    struct rewind_records removed;
    struct buf text = { 0 };
    size_t before, after;

    (void)state;
    describe(&text, &before);
    assert_int_equal(rewind_prune(&env, &rule, true, &removed, NULL), ERR_OK);
    size_t planned = removed.n;

    rewind_records_fini(&removed);
    assert_true(planned > 150);
    assert_int_equal(rewind_prune(&env, &rule, false, &removed, NULL), ERR_OK);
    describe(&text, &after);
    assert_int_equal(after, before - removed.n);
    rewind_records_fini(&removed);
    buf_fini(&text);
}

CASE(a_walk_that_ends_early_keeps_the_older_lines)
{
    struct rewind_records list;
    struct buf text = { 0 };
    size_t n;

    (void)state;
    describe(&text, &n);
    for (int i = 100; i < RECORDS; i++)
        make_record_of(i, "V");
    assert_int_equal(
        rewind_records_read_newest(&env, SIZE_MAX, "000000000001090-00000001", &list, NULL),
        ERR_OK);
    assert_true(list.older);
    rewind_records_fini(&list);
    describe(&text, &n);
    assert_int_equal(n, RECORDS);
    assert_true(reads < 20);
    buf_fini(&text);
}

/* Its times cannot tell yet whether it is written to again. */
CASE(a_young_record_is_not_indexed)
{
    struct buf text = { 0 };
    size_t n;

    (void)state;
    later = -60; /* however long it took to make them */
    describe(&text, &n);
    assert_false(folder_has(&folder, INDEX));
    later = 9;
    buf_fini(&text);
}
