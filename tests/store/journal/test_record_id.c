#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/journal/record.h"
#include "store/rewind/record/records.h"
#include "support/rewind/rewind_case.h"

/* The order of changes and rewinds does not depend on the clock. */

static const int64_t an_hour = 3600 * (int64_t)1000;

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(ids_continue_after_the_newest_of_both_logs)
{
    struct rewind_case *p = *state;
    char id[RECORD_ID_SIZE];

    assert_int_equal(record_id_next(&p->env, id, NULL), ERR_OK);
    assert_int_equal(record_id_time(id), p->env.now_ms);
    folder_dir(&p->folder, "state/changes/001900000000000-00000000");
    assert_int_equal(record_id_next(&p->env, id, NULL), ERR_OK);
    assert_int_equal(record_id_time(id), 1900000000001);
    folder_dir(&p->folder, "state/rewinds/001950000000000-00000000");
    folder_dir(&p->folder, "state/rewinds/99999999999999999999-00000000");
    folder_dir(&p->folder, "state/rewinds/lost");
    assert_int_equal(record_id_next(&p->env, id, NULL), ERR_OK);
    assert_int_equal(record_id_time(id), 1950000000001);
    assert_int_equal(record_id_time("001950000000000-00000000"), 1950000000000);
    assert_int_equal(record_id_time("1950000000000-00000000"), 0);
}

CASE(a_log_that_cannot_be_read_is_an_error)
{
    struct rewind_case *p = *state;
    char id[RECORD_ID_SIZE] = "";

    folder_put(&p->folder, "state/changes", SLICE(""));
    assert_int_equal(record_id_next(&p->env, id, NULL), ERR_IO);
    p->env.state_dir = NULL;
    assert_int_equal(record_id_next(&p->env, id, NULL), ERR_NOT_FOUND);
    assert_string_equal(id, "");
}

CASE(an_id_names_the_run_that_made_it)
{
    struct rewind_case *p = *state;
    struct store_env other = p->env;
    char id[RECORD_ID_SIZE];

    p->env.run = 0xab;
    other.run = 0xac;
    assert_int_equal(record_id_next(&p->env, id, NULL), ERR_OK);
    assert_true(record_id_is_of_run(&p->env, id));
    assert_false(record_id_is_of_run(&other, id));
    assert_false(record_id_is_of_run(&p->env, "001900000000000-00000000"));
    assert_false(record_id_is_of_run(&p->env, "000000ab"));
    other.run = 0;
    assert_int_equal(record_id_next(&other, id, NULL), ERR_OK);
    assert_false(record_id_is_of_run(&other, id));
}

static void rewind_to(struct rewind_case *p, const char *text)
{
    forget(p);
    p->plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = p->root };
    want(p, p->f, text);
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
}

/* Undo undoes the last one, and the record shows that it is an undo. */
CASE(a_clock_set_back_does_not_reorder_rewinds)
{
    struct rewind_case *p = *state;

    rewind_to(p, "first\n");
    p->env.now_ms -= an_hour;
    rewind_to(p, "second\n");
    p->env.now_ms -= an_hour;
    assert_int_equal(undo(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "first\n"));
    p->env.now_ms -= an_hour;
    assert_int_equal(undo(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_int_equal(undo(p), ERR_NOT_FOUND);
}

/* One of them may have been interrupted. */
CASE(records_that_cannot_be_listed_are_an_error)
{
    struct rewind_case *p = *state;
    size_t recovered;

    folder_put(&p->folder, "state/rewinds", SLICE(""));
    assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_IO);
}

/* ---- both logs ---- */

static void rename_something(struct rewind_case *p, struct change_log *log)
{
    struct change *c = change_new("rename");
    char path[4096];
    struct step s = { .kind = STEP_APPEND,
                      .path = folder_path(&p->folder, "ws/d/g", path),
                      .bytes = SLICE("a row\n"),
                      .opposite = SLICE("its opposite\n"),
                      .mtime_ns = INT64_MIN };

    assert_int_equal(change_add(c, &s, NULL), ERR_OK);
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    change_free(c);
}

static enum err_code newest_of(struct rewind_case *p, struct undo_target *newest)
{
    struct change_log *log;

    assert_int_equal(change_log_open(&p->env, &log, NULL), ERR_OK);
    enum err_code rc = undo_target_find(&p->env, log, NULL, newest, NULL, &p->e);

    change_log_close(log);
    return rc;
}

CASE(the_undo_target_is_the_last_operation)
{
    struct rewind_case *p = *state;
    struct change_log *log;
    struct undo_target newest;

    rewind_to(p, "old\n");
    p->env.now_ms -= an_hour;
    assert_int_equal(change_log_open(&p->env, &log, NULL), ERR_OK);
    rename_something(p, log);
    change_log_close(log);
    assert_int_equal(newest_of(p, &newest), ERR_OK);
    assert_int_equal(newest.kind, UNDO_TARGET_CHANGE);
    p->env.now_ms -= an_hour;
    rewind_to(p, "older\n");
    assert_int_equal(newest_of(p, &newest), ERR_OK);
    assert_int_equal(newest.kind, UNDO_TARGET_REWIND);
}

/* ---- records of a newer reprise ---- */

CASE(an_unreadable_record_is_not_skipped_silently)
{
    static const char *const logs[] = { "state/rewinds/001900000000000-00000000/plan",
                                        "state/changes/001900000000000-00000000/record" };
    struct rewind_case *p = *state;
    struct undo_target newest;
    char path[4096];

    rewind_to(p, "old\n");
    for (size_t i = 0; i < 2; i++) {
        folder_put(&p->folder, logs[i], SLICE("{\"version\":\"77\"}"));
        assert_int_equal(newest_of(p, &newest), ERR_STALE);
        assert_string_equal(p->e.path, "001900000000000-00000000");
        assert_int_equal(unlink(folder_path(&p->folder, logs[i], path)), 0);
        *strrchr(path, '/') = '\0';
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(newest_of(p, &newest), ERR_OK);
}

CASE(asking_for_an_unreadable_record_names_it)
{
    struct rewind_case *p = *state;
    struct rewind_plan plan;

    folder_put(&p->folder, "state/rewinds/001900000000000-00000000/plan",
               SLICE("{\"version\":\"77\"}"));
    folder_put(&p->folder, "state/rewinds/001800000000000-00000000/plan", SLICE("no record"));
    assert_int_equal(rewind_undo_plan(&p->env, "001900000000000-00000000", &plan, &p->e),
                     ERR_FORMAT);
    assert_int_equal(rewind_undo_plan(&p->env, "001900000000000-00000001", &plan, &p->e),
                     ERR_NOT_FOUND);
}

/* It was interrupted; the reprise that made it will finish it, and other changes are possible until then. */
CASE(a_change_of_a_newer_reprise_blocks_no_other)
{
    struct rewind_case *p = *state;
    struct change_log *log;

    folder_put(&p->folder, "state/changes/001700000000000-00000000.intent/record",
               SLICE("{\"version\":\"77\"}"));
    assert_int_equal(change_log_open(&p->env, &log, NULL), ERR_OK);
    rename_something(p, log);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    change_log_close(log);
    assert_true(
        folder_is(&p->folder, "ws/d/g", HAS_LEASES ? "also\n" : "also\na row\nits opposite\n"));
    assert_true(folder_has(&p->folder, "state/changes/001700000000000-00000000.intent/record"));
}
