#include "tests/test.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/record.h"
#include "tests/support/folder.h"

/* Plans of many files while a record waits: the comparisons of texts are counted, and must not grow with the square of
 * the number of files. */

enum { FEW = 100, MANY = 4 * FEW };

static const char record_id[] = "000001700000000-00c0ffee";

int __real_memcmp(const void *a, const void *b, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n);
int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);

static size_t comparisons;

int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    comparisons++;
    return __real_memcmp(a, b, n);
}

int __wrap_strcmp(const char *a, const char *b)
{
    comparisons++;
    return __real_strcmp(a, b);
}

struct many {
    struct folder folder;
    struct store_env env;
    char state[4096], root[4096], gone[4096];
    struct rewind_plan plan;
};

static void name_file(const char *dir, size_t i, char out[8192])
{
    snprintf(out, 8192, "%s/f%05zu", dir, i);
}

/* A record of n new files whose project was moved away before it could be finished. */
static void leave_record(const struct many *m, size_t n)
{
    char dir[8192], path[8192];
    struct rewind_tx tx = { .id = record_id,
                            .version = TX_VERSION,
                            .system = "claude",
                            .session = "s",
                            .point = "m",
                            .project = m->gone,
                            .n = n };

    snprintf(dir, sizeof dir, "%s/rewinds", m->state);
    assert_int_equal(mkdir(m->state, 0700) | mkdir(dir, 0700), 0);
    snprintf(dir, sizeof dir, "%s/rewinds/%s", m->state, record_id);
    assert_int_equal(mkdir(dir, 0700), 0);
    snprintf(path, sizeof path, "%s/old", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    tx.dir = dir;
    tx.entry = arena_zalloc(&tx.arena, n * sizeof *tx.entry);
    assert_non_null(tx.entry);
    for (size_t i = 0; i < n; i++) {
        name_file(m->gone, i, path);
        tx.entry[i] = (struct rewind_tx_entry){ .path = arena_copy(&tx.arena, slice_of(path)).p,
                                                .root = m->gone,
                                                .action = REWIND_CREATE };
    }
    assert_int_equal(rewind_tx_write_plan(&tx, NULL), ERR_OK);
    assert_int_equal(rewind_tx_mark(&tx, TX_INTENT, NULL), ERR_OK);
    rewind_tx_fini(&tx);
}

static void begin(struct many *m, size_t n, bool held)
{
    char path[8192];

    folder_make(&m->folder);
    folder_dir(&m->folder, "ws");
    folder_path(&m->folder, "ws", m->root);
    folder_path(&m->folder, "state", m->state);
    folder_path(&m->folder, "gone", m->gone);
    m->env = (struct store_env){ .state_dir = m->state, .now_ms = 1800000000000 };
    leave_record(m, n);
    m->plan = (struct rewind_plan){
        .system = "claude", .session = "s", .point = "m", .root = held ? m->gone : m->root
    };
    for (size_t i = 0; i < n; i++) {
        name_file(held ? m->gone : m->root, i, path);
        struct rewind_target t = { .path = path,
                                   .want = REWIND_BYTES,
                                   .source = { .bytes = SLICE("old\n") } };

        assert_int_equal(rewind_plan_add(&m->plan, &t, NULL), ERR_OK);
    }
}

static void end(struct many *m)
{
    rewind_plan_fini(&m->plan);
    folder_remove(&m->folder);
}

static size_t comparisons_of_a_plan(size_t n)
{
    struct many m;

    begin(&m, n, true);
    comparisons = 0;
    assert_int_equal(rewind_plan_hold(&m.env, &m.plan, NULL), ERR_OK);
    size_t count = comparisons;

    for (size_t i = 0; i < n; i++) {
        assert_int_equal(m.plan.target[i].want, REWIND_UNKNOWN);
        assert_true(m.plan.target[i].conflict);
        assert_non_null(strstr(m.plan.target[i].why, record_id));
    }
    end(&m);
    return count;
}

TEST(a_plan_is_compared_with_a_waiting_record_in_linear_time)
{
    size_t few = comparisons_of_a_plan(FEW), many = comparisons_of_a_plan(MANY);

    assert_true(few >= FEW);
    assert_true(many <= 5 * few);
}

/* Ends the rewind when its own files are known not to be held. */
static enum err_code stop(const struct rewind_preview *preview, const char *id, struct err *e)
{
    (void)preview;
    (void)id;
    return err_set(e, ERR_CANCELLED, "", "stopped");
}

static size_t comparisons_of_an_apply(size_t n)
{
    static const struct rewind_options all = { .allow_edited = true };
    struct many m;
    struct rewind_preview preview;
    struct rewind_result result;

    begin(&m, n, false);
    m.plan.before = stop;
    assert_int_equal(rewind_preview(&m.plan, &all, &preview, NULL), ERR_OK);
    comparisons = 0;
    assert_int_equal(rewind_apply(&m.env, &preview, &result, NULL), ERR_CANCELLED);
    size_t count = comparisons;

    rewind_preview_fini(&preview);
    end(&m);
    return count;
}

TEST(an_apply_is_compared_with_a_waiting_record_in_linear_time)
{
    size_t few = comparisons_of_an_apply(FEW), many = comparisons_of_an_apply(MANY);

    assert_true(few >= FEW);
    assert_true(many <= 5 * few);
}

/* The apply looks again: a record may have begun to wait since the plan was made. */
TEST(an_apply_of_a_file_that_a_waiting_record_holds_is_refused)
{
    static const struct rewind_options all = { .allow_edited = true };
    struct many m;
    struct rewind_preview preview;
    struct rewind_result result;
    struct err e = { 0 };

    begin(&m, 3, true);
    assert_int_equal(rewind_preview(&m.plan, &all, &preview, NULL), ERR_OK);
    assert_int_equal(rewind_apply(&m.env, &preview, &result, &e), ERR_STALE);
    assert_non_null(strstr(e.text, record_id));
    assert_non_null(strstr(e.path, "/gone/f00000"));
    rewind_preview_fini(&preview);
    end(&m);
}
