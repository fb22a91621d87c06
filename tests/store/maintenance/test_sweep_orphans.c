#include <unistd.h>

#include "tests/store/maintenance/sweep_fixture.h"

#define LEFT "00000009-0000-4000-8000-000000000000"
#define LEFT_LIST LEFT "-agent-" LEFT ".json"

/* Session 9 is gone and left something in every place. A file written now is 55 days old
 * at NOW. */
static void leave_behind(struct world *w)
{
    folder_put(&w->folder, "config/projects/p/" LEFT "/subagents/agent-a.jsonl", SLICE("12345"));
    folder_put(&w->folder, "config/projects/p/" LEFT ".precompact.json", SLICE("{}"));
    folder_put(&w->folder, "config/file-history/" LEFT "/x@v1", SLICE("123"));
    folder_put(&w->folder, "config/tasks/" LEFT "/1.json", SLICE("{}"));
    folder_put(&w->folder, "config/todos/" LEFT_LIST, SLICE("[]"));
    w->rule.orphans = true;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(every_leftover_of_a_session_is_an_orphan)
{
    struct world *w = *state;

    put_session(w, "p", 1, 100);
    leave_behind(w);
    folder_put(&w->folder, "config/projects/p/00000001-0000-4000-8000-000000000000/subagents/x",
               SLICE("1"));
    folder_put(&w->folder, "config/projects/p/memory/x", SLICE("1"));
    folder_put(&w->folder, "config/file-history/mine/x", SLICE("1"));
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "9 ");
    assert_int_equal(s.item[0].parts, 5);
    assert_int_equal(s.item[0].usage.bytes, 5 + 2 + 3 + 2 + 2);
    assert_non_null(strstr(s.item[0].why, "its session's transcript is gone"));
    sweep_fini(&s);
}

CASE(orphans_are_trashed_and_restored)
{
    struct world *w = *state;
    struct trash_list moved;

    put_session(w, "p", 1, 100);
    leave_behind(w);
    char *before = folder_image(&w->folder, "config");
    struct sweep s = find(w);

    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 1);
    assert_false(folder_has(&w->folder, "config/file-history/" LEFT));
    assert_false(folder_has(&w->folder, "config/todos/" LEFT_LIST));
    trash_list_fini(&moved);
    sweep_fini(&s);
    s = find(w);
    assert_int_equal(s.n, 0);
    assert_int_equal(change_undo(w->log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&w->folder, "config");

    assert_string_equal(before, after);
    free(before);
    free(after);
    sweep_fini(&s);
}

CASE(without_any_transcript_nothing_is_an_orphan)
{
    struct world *w = *state;

    leave_behind(w);
    struct sweep s = find(w);

    assert_int_equal(s.n, 0);
    sweep_fini(&s);
}

CASE(a_transcript_in_any_folder_keeps_its_leftovers)
{
    struct world *w = *state;

    put_session(w, "p", 1, 100);
    leave_behind(w);
    folder_put(&w->folder, "config/projects/elsewhere/" LEFT ".jsonl", SLICE(""));
    struct sweep s = find(w);

    assert_int_equal(s.n, 0);
    sweep_fini(&s);
}

CASE(backups_that_a_fork_may_need_are_kept)
{
    struct world *w = *state;

    leave_behind(w);
    put(w, "p", 1, 100,
        "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":null,\"forkedFrom\":{\"sessionId\":"
        "\"" LEFT "\",\"messageUuid\":\"b\"},\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n");
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "!9 ");
    sweep_fini(&s);
}

CASE(orphans_touched_within_a_day_are_kept)
{
    struct world *w = *state;

    put_session(w, "p", 1, 100);
    leave_behind(w);
    w->rule.before_ms = TIME_NONE;
    folder_mtime(&w->folder, "config/tasks/" LEFT "/1.json", (NOW - DAY / 2) * 1000000);
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "!9 ");
    sweep_fini(&s);
    w->rule.before_ms = NOW - 30 * DAY;
    s = find(w);
    assert_int_equal(s.n, 0);
    sweep_fini(&s);
}

CASE(orphans_changed_since_they_were_shown_are_kept)
{
    struct world *w = *state;
    struct trash_list moved;

    put_session(w, "p", 1, 100);
    leave_behind(w);
    struct sweep s = find(w);

    put_session(w, "p", 9, 0);
    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 0);
    assert_string_equal(ids(&s), "!9 ");
    sweep_fini(&s);

    char name[200], path[4096];

    assert_int_equal(unlink(folder_path(&w->folder, name_of("p", 9, ".jsonl", name), path)), 0);
    s = find(w);
    folder_put(&w->folder, "config/file-history/" LEFT "/y@v1", SLICE("1"));
    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 0);
    sweep_fini(&s);
}
