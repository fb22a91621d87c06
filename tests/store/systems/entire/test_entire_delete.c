#include "tests/support/entire_fixture.h"

#include "tests/test.h"

#include <stdlib.h>

#include "store/maintenance/sweep.h"
#include "store/maintenance/trash.h"

/* What is deleted with a session of Entire, and what stays (docs/formats/entire.md). The refs are checked with git. */

#define A "a1b2c3d4-0001-4000-8000-00000000000a"
#define B "b1b2c3d4-0002-4000-8000-00000000000b"
#define LINKED "f1b2c3d4-0002-4000-8000-00000000000b"
#define WEEK_MS (INT64_C(7) * 24 * 60 * 60 * 1000)
#define FORWARD "f1b2c3d4-0001-4000-8000-00000000000a"

static void open_log(struct entire_fixture *w, struct change_log **log)
{
    assert_int_equal(change_log_open(&w->env, log, NULL), ERR_OK);
}

static enum err_code take_away(struct entire_fixture *w, const char *id, struct trash_list *list)
{
    struct session_ref ref = entire_fixture_find(w, id);
    struct trash_request r;
    struct change_log *log;
    struct arena a = { 0 };
    enum err_code rc = trash_request_make(&ref, SLICE("t"),
                                          TRASH_REQUEST_ALL | TRASH_REQUEST_UNSURE, &a, &r, NULL);

    open_log(w, &log);
    if (!rc)
        rc = trash_add(log, &w->env, "delete", &r, 1, list, NULL);
    change_log_close(log);
    arena_fini(&a);
    return rc;
}

static void undo(struct entire_fixture *w)
{
    struct change_log *log;

    open_log(w, &log);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    change_log_close(log);
}

static char *refs(const struct entire_fixture *w)
{
    return entire_fixture_git(w, "for-each-ref --format='%%(refname) %%(objectname)'");
}

static char *files(const struct entire_fixture *w)
{
    return entire_fixture_sh(
        w,
        "cd '%s' && find . -path ./.git/objects -prune -o -path ./.git/logs -prune -o -type f "
        "-print0 | sort -z | xargs -0 sha256sum",
        w->repo);
}

static void is_sound(const struct entire_fixture *w)
{
    char *said = entire_fixture_git(w, "fsck --strict --no-dangling 2>&1");

    assert_string_equal(said, "");
    free(said);
}

TEST(the_last_session_of_a_branch_removes_it)
{
    struct entire_fixture w;
    struct trash_list first, second;

    entire_fixture_make(&w, "two-sessions");
    char *before = refs(&w);

    assert_int_equal(take_away(&w, B, &first), ERR_OK);
    assert_non_null(strstr(first.item[0].stays, "others use it"));
    char *shared = refs(&w);

    assert_string_equal(shared, before);
    assert_int_equal(take_away(&w, A, &second), ERR_OK);
    assert_null(second.item[0].stays);
    assert_int_equal(second.item[0].refs, 1);
    char *now = refs(&w);

    assert_null(strstr(now, "entire/6d28ff0-e3b0c4"));
    assert_non_null(strstr(now, OWNED_REF_TRASH));
    free(entire_fixture_git(&w, "-c gc.reflogExpire=now gc -q --prune=now"));
    is_sound(&w);
    undo(&w);
    undo(&w);
    char *back = refs(&w);

    assert_string_equal(back, before);
    free(back);
    free(now);
    free(shared);
    free(before);
    trash_list_fini(&first);
    trash_list_fini(&second);
    entire_fixture_remove(&w);
}

TEST(a_branch_is_restored_from_the_trash)
{
    struct entire_fixture w;
    struct trash_list list;
    struct change_log *log;

    entire_fixture_make(&w, "edge");
    char *before = refs(&w), *work = files(&w);

    assert_int_equal(take_away(&w, LINKED, &list), ERR_OK);
    trash_list_fini(&list);
    open_log(&w, &log);
    assert_int_equal(trash_read(&w.env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.item[0].ref[0].was.name, "refs/heads/entire/8ed0cea-ee1890");
    assert_int_equal(trash_restore(log, &list.item[0], NULL), ERR_OK);
    change_log_close(log);
    trash_list_fini(&list);
    char *back = refs(&w), *again = files(&w);

    assert_string_equal(back, before);
    assert_string_equal(again, work);
    assert_int_equal(take_away(&w, LINKED, &list), ERR_OK);
    assert_int_equal(trash_destroy(&w.env, &list.item[0], NULL), ERR_OK);
    trash_list_fini(&list);
    char *gone = refs(&w);

    assert_null(strstr(gone, "8ed0cea-ee1890"));
    assert_null(strstr(gone, OWNED_REF_TRASH));
    is_sound(&w);
    free(gone);
    free(again);
    free(back);
    free(work);
    free(before);
    entire_fixture_remove(&w);
}

TEST(a_branch_with_a_foreign_commit_is_kept)
{
    struct entire_fixture w;
    struct trash_list list;

    entire_fixture_make(&w, "edge");
    free(entire_fixture_git(&w, "update-ref refs/heads/entire/8ed0cea-e3b0c4 "
                                "$(git -c user.name=n -c user.email=e commit-tree "
                                "-p entire/8ed0cea-e3b0c4 -m hello 'main^{tree}')"));
    char *before = refs(&w);

    assert_int_equal(take_away(&w, FORWARD, &list), ERR_OK);
    assert_int_equal(list.item[0].refs, 0);
    assert_non_null(list.item[0].stays);
    char *now = refs(&w);

    assert_string_equal(now, before);
    free(now);
    free(before);
    trash_list_fini(&list);
    entire_fixture_remove(&w);
}

TEST(committed_checkpoints_are_kept)
{
    struct entire_fixture w;
    struct trash_list list;

    entire_fixture_make(&w, "committed");
    char *before = refs(&w);

    assert_int_equal(take_away(&w, "d1b2c3d4-0003-4000-8000-00000000000c", &list), ERR_UNSUPPORTED);
    assert_int_equal(take_away(&w, "c1b2c3d4-0001-4000-8000-00000000000a", &list), ERR_OK);
    assert_non_null(strstr(list.item[0].stays, "committed"));
    char *now = refs(&w);

    assert_string_equal(now, before);
    free(now);
    free(before);
    trash_list_fini(&list);
    entire_fixture_remove(&w);
}

/* ---- leftovers ---- */

static struct sweep orphans(struct entire_fixture *w)
{
    struct sweep_rule rule = { .scope = { .all = true }, .before_ms = TIME_NONE, .orphans = true };
    struct sweep s;

    assert_int_equal(sweep_find(&w->store, 1, &rule, &s, NULL), ERR_OK);
    return s;
}

static void count_orphans(struct entire_fixture *w, size_t n)
{
    struct sweep s = orphans(w);

    assert_int_equal(s.n, n);
    sweep_fini(&s);
}

/* The rest of the branch may be other work, and a session without a state does not show it. */
TEST(a_partly_unreadable_branch_is_kept)
{
    struct entire_fixture w;
    struct trash_list list;

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_sh(&w,
                           "cd '%s' && rm .git/entire-sessions/" B ".json && "
                           "c=$(git rev-parse entire/6d28ff0-e3b0c4~1) && "
                           "rm -f .git/objects/$(echo $c | sed 's,..,&/,')",
                           w.repo));
    assert_int_equal(take_away(&w, A, &list), ERR_OK);
    assert_int_equal(list.item[0].refs, 0);
    assert_non_null(strstr(list.item[0].stays, "not all of it can be read"));
    w.env.now_ms += WEEK_MS;
    count_orphans(&w, 0);
    trash_list_fini(&list);
    entire_fixture_remove(&w);
}

/* git skips such a ref when it lists refs. */
TEST(a_branch_with_an_unreadable_ref_is_kept)
{
    struct entire_fixture w;
    struct trash_list list;

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_sh(&w,
                           "cd '%s'/.git && rm entire-sessions/" B ".json && "
                           "echo torn >refs/heads/entire/6d28ff0-e3b0c4",
                           w.repo));
    assert_int_equal(take_away(&w, A, &list), ERR_OK);
    assert_int_equal(list.item[0].refs, 0);
    assert_non_null(list.item[0].stays);
    assert_non_null(strstr(list.item[0].stays, "not all of it can be read"));
    trash_list_fini(&list);
    entire_fixture_remove(&w);
}

TEST(a_branch_without_any_state_is_a_leftover)
{
    struct entire_fixture w;
    struct change_log *log;
    struct trash_list moved;

    entire_fixture_make(&w, "two-sessions");
    w.env.now_ms += WEEK_MS;
    char *before = refs(&w);

    count_orphans(&w, 0);
    free(entire_fixture_sh(
        &w, "cd '%s'/.git/entire-sessions && rm " A ".json && echo '{' >" B ".json", w.repo));
    count_orphans(&w, 0); /* a broken state counts as one */
    free(entire_fixture_sh(&w, "cd '%s'/.git/entire-sessions && mv " B ".json " B ".json.tmp",
                           w.repo));
    count_orphans(&w, 0);
    free(entire_fixture_sh(&w, "rm '%s'/.git/entire-sessions/" B ".json.tmp", w.repo));
    struct sweep s = orphans(&w);

    assert_int_equal(s.n, 1);
    assert_true(sweep_is_chosen(&s.item[0]));
    open_log(&w, &log);
    assert_int_equal(sweep_move(log, &w.env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 1);
    count_orphans(&w, 0);
    assert_int_equal(trash_restore(log, &moved.item[0], NULL), ERR_OK);
    char *back = refs(&w);

    assert_string_equal(back, before);
    change_log_close(log);
    trash_list_fini(&moved);
    sweep_fini(&s);
    free(back);
    free(before);
    is_sound(&w);
    entire_fixture_remove(&w);
}

/* Another program worked on it between showing and moving. */
TEST(a_branch_that_moved_is_kept)
{
    struct entire_fixture w;
    struct change_log *log;
    struct trash_list moved;

    entire_fixture_make(&w, "two-sessions");
    w.env.now_ms += WEEK_MS;
    free(entire_fixture_sh(&w, "rm '%s'/.git/entire-sessions/*.json", w.repo));
    struct sweep s = orphans(&w);

    assert_int_equal(s.n, 1);
    free(entire_fixture_git(&w, "update-ref refs/heads/entire/6d28ff0-e3b0c4 "
                                "$(git rev-parse entire/6d28ff0-e3b0c4~1)"));
    open_log(&w, &log);
    assert_int_equal(sweep_move(log, &w.env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 0);
    assert_non_null(s.item[0].stays);
    change_log_close(log);
    trash_list_fini(&moved);
    sweep_fini(&s);
    entire_fixture_remove(&w);
}

/* entire/1234567 is a person's branch, entire/1ce4cc8 could be one. */
TEST(branches_a_person_may_have_created_are_no_leftovers)
{
    struct entire_fixture w;

    entire_fixture_make(&w, "edge");
    free(entire_fixture_sh(&w, "rm -r '%s'/.git/entire-sessions", w.repo));
    struct sweep s = orphans(&w);

    for (size_t i = 0; i < s.n; i++) {
        assert_false(slice_eq(s.item[i].ref.id, SLICE("1234567")));
        assert_false(slice_eq(s.item[i].ref.id, SLICE("1ce4cc8")));
        assert_false(slice_eq(s.item[i].ref.id, SLICE("notes")));
    }
    assert_true(s.n > 0);
    sweep_fini(&s);
    entire_fixture_remove(&w);
}
