#include <unistd.h>

#include "tests/store/maintenance/sweep_fixture.h"

#define CASE(name) TEST_WITH(name, set_up, tear_down)

#define TAGGED(tag) "{\"type\":\"tag\",\"tag\":\"" tag "\"}\n"
#define NAMED(title) "{\"type\":\"custom-title\",\"customTitle\":\"" title "\"}\n"
#define NAMED_BY_AGENT "{\"type\":\"ai-title\",\"aiTitle\":\"t\"}\n"

CASE(only_older_sessions_are_found)
{
    struct world *w = *state;

    put_session(w, "p", 1, 100);
    put_session(w, "p", 2, 31);
    put_session(w, "q", 3, 29);
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "2 1 ");
    assert_true(slice_eq(s.item[0].title, SLICE("prompt 2")));
    assert_string_equal(s.item[0].why, "not used for 31 days");
    sweep_fini(&s);
}

CASE(a_session_is_as_young_as_its_file_or_its_newest_row)
{
    struct world *w = *state;
    char name[200];

    put_session(w, "p", 1, 100);
    folder_mtime(&w->folder, name_of("p", 1, ".jsonl", name), NOW * 1000000);
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "");
    sweep_fini(&s);
}

CASE(the_disk_usage_covers_everything_of_the_session)
{
    struct world *w = *state;
    char name[200];
    struct disk_usage weight;

    put_session(w, "p", 1, 100);
    folder_put(&w->folder, name_of("p", 1, "/subagents/agent-a.jsonl", name), SLICE("12345"));
    folder_put(&w->folder, "config/file-history/00000001-0000-4000-8000-000000000000/x@v1",
               SLICE("123"));
    struct sweep s = find(w);
    int64_t transcript = s.item[0].ref.file.size;

    assert_int_equal(s.item[0].usage.files, 3);
    assert_int_equal(s.item[0].usage.bytes, transcript + 8);
    assert_int_equal(sweep_disk_usage(&s, &weight), 1);
    assert_int_equal(weight.bytes, transcript + 8);
    s.item[0].chosen = false;
    assert_int_equal(sweep_disk_usage(&s, &weight), 0);
    assert_int_equal(weight.bytes, 0);
    sweep_fini(&s);

    w->rule.larger_than = transcript + 8;
    s = find(w);
    assert_int_equal(s.n, 0);
    sweep_fini(&s);
    w->rule.larger_than--;
    s = find(w);
    assert_int_equal(s.n, 1);
    sweep_fini(&s);
}

CASE(a_system_says_itself_why_its_sessions_stay)
{
    struct world *w = *state;
    const struct store_ops *claude = w->store->ops;
    struct store_ops own = *claude;

    put_session(w, "p", 1, 100);
    own.parts = NULL;
    own.why[ABILITY_DELETE] = "delete it in the agent";
    w->store->ops = &own;
    struct sweep s = find(w);

    assert_int_equal(s.n, 1);
    assert_string_equal(s.item[0].stays, "delete it in the agent");
    sweep_fini(&s);
    w->store->ops = claude;
}

CASE(empty_means_without_any_message)
{
    struct world *w = *state;

    put_session(w, "p", 1, 100);
    put(w, "p", 2, 100, NAMED_BY_AGENT);
    put(w, "p", 3, 100, "{\"type\":\"mode\",\"mode\":\"plan\"}\n");
    put(w, "p", 4, 100,
        "{\"type\":\"assistant\",\"uuid\":\"a\",\"parentUuid\":null,\"message\":{\"content\":[]}}"
        "\n");
    w->rule.empty = true;
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "3 2 ");
    sweep_fini(&s);
}

CASE(an_unreadable_session_is_not_empty)
{
    struct world *w = *state;

    put(w, "p", 1, 100, "{\"type\":\"user\",\"mess\n{\"type\":\"mode\",\"mode\":\"plan\"}\n");
    w->rule.empty = true;
    struct sweep s = find(w);

    assert_int_equal(s.n, 0);
    sweep_fini(&s);
}

CASE(archived_means_marked_as_archived_by_the_user)
{
    struct world *w = *state;
    char name[200];

    put_session(w, "p", 1, 100);
    put_session(w, "p", 2, 100);
    folder_put(&w->folder, name_of("p", 2, "/archived.json", name),
               SLICE("{\"archived\":true,\"at\":\"2026-12-31T00:00:00.000Z\",\"by\":\"sdk\"}"));
    w->rule.archived = true;
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "2 ");
    sweep_fini(&s);
}

/* Registers this process as an agent would register itself. */
static void register_agent(struct world *w, int id, const char *start)
{
    char name[60], text[300];

    snprintf(name, sizeof name, "config/sessions/%ld.json", (long)getpid());
    snprintf(text, sizeof text,
             "{\"pid\":%ld,\"sessionId\":\"%08d-0000-4000-8000-000000000000\"%s}", (long)getpid(),
             id, start);
    folder_put(&w->folder, name, slice_of(text));
}

CASE(a_session_that_may_be_in_use_is_listed_but_kept)
{
    struct world *w = *state;
    struct trash_list moved;

    put_session(w, "p", 1, 100);
    put_session(w, "p", 2, 101);
    register_agent(w, 1, ""); /* unknown without a start time, so it counts as running */
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "!1 2 ");
    s.item[0].chosen = true; /* not even if chosen */
    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 1);
    assert_string_equal(moved.item[0].session, "00000002-0000-4000-8000-000000000000");
    trash_list_fini(&moved);
    sweep_fini(&s);
}

CASE(sessions_with_several_copies_are_kept)
{
    struct world *w = *state;

    put_session(w, "p", 1, 100);
    put_session(w, "q", 1, 101);
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "!1 !1 ");
    sweep_fini(&s);
}

CASE(a_session_changed_since_it_was_shown_is_kept)
{
    struct world *w = *state;
    struct trash_list moved;

    put_session(w, "p", 1, 100);
    put_session(w, "p", 2, 101);
    put_session(w, "p", 3, 102);
    struct sweep s = find(w);
    char name[200], path[4096];

    put_session(w, "p", 2, 0);
    assert_int_equal(unlink(folder_path(&w->folder, name_of("p", 3, ".jsonl", name), path)), 0);
    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);

    assert_int_equal(moved.n, 1);
    assert_string_equal(ids(&s), "1 !2 !3 ");
    assert_true(folder_has(&w->folder, name_of("p", 2, ".jsonl", name)));
    trash_list_fini(&moved);
    sweep_fini(&s);
}

CASE(the_found_sessions_are_moved_and_undo_restores_them)
{
    struct world *w = *state;
    char name[200];
    struct trash_list moved;

    for (int id = 1; id <= 5; id++)
        put_session(w, id % 2 ? "p" : "q", id, 20 * id);
    folder_put(&w->folder, name_of("q", 4, "/subagents/agent-a.jsonl", name), SLICE("{}\n"));
    char *before = folder_image(&w->folder, "config");
    struct sweep s = find(w);
    struct disk_usage weight, gone = { 0 };

    assert_int_equal(sweep_disk_usage(&s, &weight), 4);
    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 4);
    for (size_t i = 0; i < moved.n; i++) {
        assert_string_equal(moved.item[i].path, s.item[i].ref.path.p);
        gone.files += moved.item[i].files;
        gone.bytes += moved.item[i].bytes;
    }
    assert_int_equal(gone.bytes, weight.bytes);
    assert_int_equal(gone.files, weight.files);
    assert_false(folder_has(&w->folder, name_of("q", 4, "", name)));
    sweep_fini(&s);
    s = find(w);
    assert_int_equal(s.n, 0);

    assert_int_equal(change_undo(w->log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&w->folder, "config");

    assert_string_equal(before, after);
    free(before);
    free(after);
    trash_list_fini(&moved);
    sweep_fini(&s);
}

CASE(nothing_chosen_makes_no_change)
{
    struct world *w = *state;
    struct trash_list moved;

    put_session(w, "p", 1, 100);
    struct sweep s = find(w);

    s.item[0].chosen = false;
    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 0);
    assert_int_equal(change_undo(w->log, NULL, NULL, NULL), ERR_NOT_FOUND);
    assert_false(folder_has(&w->folder, "data/trash"));
    trash_list_fini(&moved);
    sweep_fini(&s);
}

CASE(a_search_can_be_cancelled)
{
    struct world *w = *state;
    atomic_bool cancel = true;
    struct sweep s;

    put_session(w, "p", 1, 100);
    w->rule.cancel = &cancel;

    assert_int_equal(sweep_find(&w->store, 1, &w->rule, &s, NULL), ERR_CANCELLED);
}

/* A session of one prompt, with these rows behind it, 100 days old. */
static void put_marked(struct world *w, int id, const char *rows)
{
    char all[600];

    snprintf(all, sizeof all,
             "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"message\":{\"role\":\"user\","
             "\"content\":\"prompt\"}}\n%s",
             rows);
    put(w, "p", id, 100, all);
}

CASE(what_a_person_tagged_or_named_is_kept)
{
    struct world *w = *state;

    put_marked(w, 1, TAGGED("keep"));
    put_marked(w, 2, NAMED("mine"));
    put_marked(w, 3, NAMED_BY_AGENT);
    put_marked(w, 4, TAGGED("keep") NAMED("mine"));
    put_marked(w, 5, TAGGED("keep") TAGGED("")); /* it was removed */
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "5 !4 3 !2 !1 ");
    assert_string_equal(s.item[1].stays, "tagged #keep, named by hand");
    assert_string_equal(s.item[3].stays, "named by hand");
    assert_string_equal(s.item[4].stays, "tagged #keep");
    assert_true(slice_eq(s.item[4].tag, SLICE("keep")));
    assert_int_equal(sweep_kept(&s, SWEEP_TAGGED), 2);
    assert_int_equal(sweep_kept(&s, SWEEP_NAMED), 1);
    sweep_fini(&s);

    w->rule.include = SWEEP_TAGGED;
    s = find(w);
    assert_string_equal(ids(&s), "5 !4 3 !2 1 ");
    sweep_fini(&s);
    w->rule.include = SWEEP_TAGGED | SWEEP_NAMED;
    s = find(w);
    assert_string_equal(ids(&s), "5 4 3 2 1 ");
    assert_int_equal(sweep_kept(&s, SWEEP_TAGGED) + sweep_kept(&s, SWEEP_NAMED), 0);
    sweep_fini(&s);
}

/* The titles that agents give to copies. */
CASE(a_copy_is_named_if_its_source_was)
{
    struct world *w = *state;
#define COPIED "{\"type\":\"mode\",\"mode\":\"plan\",\"forkedFrom\":{\"sessionId\":\"x\"}}\n"

    put_marked(w, 1, NAMED("prompt (fork)"));
    put_marked(w, 2, COPIED NAMED("prompt (fork)"));
    put_marked(w, 3, COPIED NAMED("promp (Branch)"));
    put_marked(w, 4, COPIED NAMED("mine (fork)"));
    put_marked(w, 5, COPIED NAMED("prompt"));
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "!5 !4 3 2 !1 ");
    sweep_fini(&s);
}

/* Between the two windows that a list reads. */
static void put_long(struct world *w, int id, const char *row)
{
    struct buf rows = { 0 };

    assert_int_equal(buf_addf(&rows, "%s",
                              "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"message\":"
                              "{\"role\":\"user\",\"content\":\"prompt\"}}\n"),
                     0);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(buf_addf(&rows,
                                  "{\"type\":\"assistant\",\"uuid\":\"a%d\",\"parentUuid\":\"u\","
                                  "\"message\":{\"content\":[]}}\n",
                                  i),
                         0);
        if (i == 1000)
            assert_int_equal(buf_addf(&rows, "%s", row), 0);
    }
    assert_int_equal(buf_add_byte(&rows, '\0'), 0);
    put(w, "p", id, 100, rows.p);
    buf_fini(&rows);
}

CASE(a_mark_far_from_both_ends_of_a_long_transcript_counts)
{
    struct world *w = *state;

    put_long(w, 1, TAGGED("keep"));
    put_long(w, 2, NAMED("mine"));
    put_long(w, 3, NAMED_BY_AGENT);
    put_long(w, 4, "");
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "4 3 !2 !1 ");
    sweep_fini(&s);
    w->rule.include = SWEEP_NAMED;
    s = find(w);
    assert_string_equal(ids(&s), "4 3 2 !1 ");
    sweep_fini(&s);
}

/* The title of a session may be in a file beside the transcript. */
CASE(a_session_that_is_named_after_it_was_listed_is_kept)
{
    struct world *w = *state;
    struct trash_list moved;
    char name[200];

    put_marked(w, 1, "");
    put_marked(w, 2, "");
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "2 1 ");
    folder_put(&w->folder, name_of("p", 1, "/custom-title.json", name),
               SLICE("{\"customTitle\":\"mine\"}"));
    assert_int_equal(sweep_move(w->log, &w->env, &s, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 1);
    assert_string_equal(s.item[1].stays, "named by hand");
    trash_list_fini(&moved);
    sweep_fini(&s);
}

static bool prompts_end_in(const struct session_row *row, void *arg)
{
    const char *digit = arg;

    return row->first_prompt.n && row->first_prompt.p[row->first_prompt.n - 1] == *digit;
}

CASE(a_filter_narrows_the_rule)
{
    struct world *w = *state;
    char digit = '2';

    for (int i = 1; i <= 3; i++)
        put_session(w, "p", i, 100);
    w->rule.filter = prompts_end_in;
    w->rule.filter_arg = &digit;
    struct sweep s = find(w);

    assert_string_equal(ids(&s), "2 ");
    sweep_fini(&s);
}
