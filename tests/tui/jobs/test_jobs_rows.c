#include "tests/test.h"

#include <stdlib.h>

#include "lite/io/window.h"
#include "support/screen/jobs_fixture.h"

/* Questions about rows as workers answer them: a real store in a temporary folder. */

/* Rows that fill a window and more. */
static void fill(struct transcript_writer *t)
{
    for (size_t n = 0; n < WINDOW_BYTES + 4096; n += 100)
        transcript_writer_raw(
            t, "{\"type\":\"user\",\"message\":{\"content\":\"--------------------------------"
               "------------------------\"}}\n");
}

static void begin(struct jobs_fixture *w, bool title_between)
{
    jobs_fixture_begin(w);
    transcript_writer_user(&w->conversation, "one", "");
    if (title_between) {
        fill(&w->conversation);
        transcript_writer_raw(&w->conversation,
                              "{\"type\":\"custom-title\",\"customTitle\":\"in the middle\"}\n");
        fill(&w->conversation);
    }
    jobs_fixture_open(w, 1, 1000);
}

/* About the session so many times, as entries 10, 11, ... */
static void ask(struct jobs_fixture *w, enum effect_kind kind, unsigned generation, size_t n)
{
    struct effect q = { .kind = kind, .generation = generation, .scope = SCOPE_ALL };

    q.refs = ref_list_new();
    assert_non_null(q.refs);
    for (size_t i = 0; i < n; i++)
        assert_true(ref_list_add(q.refs, &w->ref, (uint32_t)(10 + i)));
    assert_true(workers_submit(w->workers, &q));
}

static void a_weight_counts_what_lies_beside_the_transcript(void **state)
{
    struct jobs_fixture w;
    size_t size;

    (void)state;
    begin(&w, false);
    free(folder_get(&w.conversation.folder, FILE_NAME, &size));
    folder_put(&w.conversation.folder, "projects/-p/" ID "/subagents/agent-a.jsonl",
               SLICE("0123456789"));
    folder_put(&w.conversation.folder, "file-history/" ID "/abc@v1", SLICE("01234"));
    ask(&w, EFFECT_DISK_USAGE, 3, 1);
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_DISK_USAGE);
    assert_int_equal(m.generation, 3);
    assert_int_equal(m.u.described->n, 1);
    assert_int_equal(m.u.described->item[0].entry, 10);
    assert_null(m.u.described->item[0].row);
    assert_int_equal(m.u.described->item[0].bytes, size + 15);
    msg_fini(&m);
    jobs_fixture_end(&w);
}

static void a_session_that_is_gone_weighs_nothing_and_fails_nothing(void **state)
{
    struct jobs_fixture w;

    (void)state;
    begin(&w, false);
    folder_remove(&w.conversation.folder);
    ask(&w, EFFECT_DISK_USAGE, 1, 2);
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_DISK_USAGE);
    assert_int_equal(m.u.described->n, 2);
    assert_int_equal(m.u.described->item[1].entry, 11);
    assert_true(m.u.described->item[1].bytes <= w.ref.file.size);
    msg_fini(&m);
    jobs_fixture_end(&w);
}

static void a_title_between_the_windows_comes_with_a_whole_row(void **state)
{
    struct jobs_fixture w;

    (void)state;
    begin(&w, true);
    ask(&w, EFFECT_FULL_SCAN, 5, 1);
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_FULL_SCAN);
    assert_int_equal(m.generation, 5);
    assert_int_equal(m.u.described->n, 1);
    const struct session_row *row = m.u.described->item[0].row;

    assert_non_null(row);
    assert_true(slice_eq(row->custom_title, SLICE("in the middle")));
    assert_true(slice_eq(row->summary, SLICE("in the middle")));
    assert_true(row->first_prompt.n > 0);
    msg_fini(&m);
    jobs_fixture_end(&w);
}

static void where_nothing_is_found_no_row_is_handed_over(void **state)
{
    struct jobs_fixture w;

    (void)state;
    begin(&w, false);
    ask(&w, EFFECT_FULL_SCAN, 1, 1);
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_FULL_SCAN);
    assert_int_equal(m.u.described->n, 1);
    assert_null(m.u.described->item[0].row);
    msg_fini(&m);
    folder_remove(&w.conversation.folder);
    ask(&w, EFFECT_FULL_SCAN, 2, 1);
    m = jobs_fixture_next(&w);
    assert_int_equal(m.kind, MSG_FULL_SCAN);
    assert_null(m.u.described->item[0].row);
    assert_int_equal(m.u.described->item[0].code, ERR_NOT_FOUND);
    msg_fini(&m);
    jobs_fixture_end(&w);
}

/* A row a piece: between two of them the worker looks at what is more urgent. */
static void every_row_is_looked_at_by_itself(void **state)
{
    struct jobs_fixture w;
    bool seen[4] = { false };

    (void)state;
    begin(&w, true);
    ask(&w, EFFECT_FULL_SCAN, 1, 4);
    for (int i = 0; i < 4; i++) {
        struct msg m = jobs_fixture_next(&w);

        assert_int_equal(m.kind, MSG_FULL_SCAN);
        assert_int_equal(m.u.described->n, 1);
        seen[m.u.described->item[0].entry - 10] = true;
        msg_fini(&m);
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    jobs_fixture_end(&w);
}

/* One thread: what is asked while it is busy is answered in the order of urgency, a preview first. */
static void others_go_before_a_look_through_files(void **state)
{
    struct jobs_fixture w;
    bool tail = false;
    int deep = 0;

    (void)state;
    begin(&w, true);
    ask(&w, EFFECT_FULL_SCAN, 1, 40);
    ask(&w, EFFECT_TAIL, 2, 1);
    while (!tail) {
        struct msg m = jobs_fixture_next(&w);

        tail = m.kind == MSG_TRANSCRIPT;
        deep += m.kind == MSG_FULL_SCAN;
        assert_true(tail || m.kind == MSG_FULL_SCAN);
        msg_fini(&m);
    }
    assert_true(deep < 40);
    workers_cancel(w.workers, 1);
    ask(&w, EFFECT_DISK_USAGE, 3, 1);
    for (bool last = false; !last;) { /* of the cancelled question at most the row in hand */
        struct msg m = jobs_fixture_next(&w);

        last = m.kind == MSG_DISK_USAGE;
        deep += m.kind == MSG_FULL_SCAN;
        msg_fini(&m);
    }
    assert_true(deep < 40);
    jobs_fixture_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_counts_what_lies_beside_the_transcript),
        cmocka_unit_test(a_session_that_is_gone_weighs_nothing_and_fails_nothing),
        cmocka_unit_test(a_title_between_the_windows_comes_with_a_whole_row),
        cmocka_unit_test(where_nothing_is_found_no_row_is_handed_over),
        cmocka_unit_test(every_row_is_looked_at_by_itself),
        cmocka_unit_test(others_go_before_a_look_through_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
