#include "tests/test.h"

#include <stdlib.h>

#include "lite/io/window.h"
#include "support/screen/jobs_fixture.h"

/* Requests about rows, served by workers on a real store in a temporary folder. */

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

/* Requests the session so many times, as entries 10, 11, ... */
static void ask(struct jobs_fixture *w, enum effect_kind kind, unsigned generation, size_t n)
{
    struct effect q = { .kind = kind, .generation = generation, .scope = SCOPE_ALL };

    q.refs = ref_list_new();
    assert_non_null(q.refs);
    for (size_t i = 0; i < n; i++)
        assert_true(ref_list_add(q.refs, &w->ref, (uint32_t)(10 + i)));
    assert_true(workers_submit(w->workers, &q));
}

TEST(disk_usage_includes_the_side_files)
{
    struct jobs_fixture w;
    size_t size;

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

TEST(a_missing_session_uses_nothing_and_is_no_error)
{
    struct jobs_fixture w;

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

TEST(a_title_between_the_windows_arrives_as_a_complete_row)
{
    struct jobs_fixture w;

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

TEST(without_a_find_no_row_is_sent)
{
    struct jobs_fixture w;

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

/* One row at a time: between two rows the worker looks for more urgent requests. */
TEST(every_row_is_scanned_separately)
{
    struct jobs_fixture w;
    bool seen[4] = { false };

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

/* Asks for many scans, then for a preview, cancels the scans, and asks for something else. Returns how many scans were
 * answered. */
static int scans_beside_others(int scans)
{
    struct jobs_fixture w;
    bool tail = false;
    int deep = 0;

    begin(&w, true);
    ask(&w, EFFECT_FULL_SCAN, 1, (size_t)scans);
    ask(&w, EFFECT_TAIL, 2, 1);
    while (!tail) {
        struct msg m = jobs_fixture_next(&w);

        tail = m.kind == MSG_TRANSCRIPT;
        deep += m.kind == MSG_FULL_SCAN;
        assert_true(tail || m.kind == MSG_FULL_SCAN);
        msg_fini(&m);
    }
    workers_cancel(w.workers, 1);
    ask(&w, EFFECT_DISK_USAGE, 3, 1);
    for (bool last = false; !last;) { /* of the cancelled request at most the row in progress */
        struct msg m = jobs_fixture_next(&w);

        last = m.kind == MSG_DISK_USAGE;
        deep += m.kind == MSG_FULL_SCAN;
        msg_fini(&m);
    }
    jobs_fixture_end(&w);
    return deep;
}

/* One thread: requests made while it is busy are served in the order of urgency, a preview first. If this process has to
 * wait before it asks for the preview, the scans may be over by then, which shows nothing: it is tried again. */
TEST(other_requests_precede_a_full_scan)
{
    enum { SCANS = 40 };
    int deep = SCANS;

    for (int tries = 0; tries < 50 && deep == SCANS; tries++)
        deep = scans_beside_others(SCANS);
    assert_true(deep < SCANS);
}

/* ---- tokens ---- */

#define ANSWER(id, parent, answer, tokens)                                                         \
    "{\"type\":\"assistant\",\"uuid\":\"" id "\",\"parentUuid\":\"" parent                         \
    "\",\"requestId\":\"r\",\"message\":{\"id\":\"" answer                                         \
    "\",\"role\":\"assistant\",\"content\":"                                                       \
    "[{\"type\":\"text\",\"text\":\"x\"}],\"usage\":{\"input_tokens\":" tokens "}}}\n"
#define PROMPT(id, parent)                                                                         \
    "{\"type\":\"user\",\"uuid\":\"" id "\",\"parentUuid\":\"" parent                              \
    "\",\"message\":{\"role\":\"user\",\"content\":\"do it\"}}\n"

/* The rows of an answer count once; a branch that was left counts for the session and for no turn. */
TEST(tokens_are_summed_by_session_and_by_turn)
{
    struct effect q = { .kind = EFFECT_USAGE, .generation = 7 };
    struct transcript *t = NULL;
    struct jobs_fixture w;

    jobs_fixture_begin(&w);
    transcript_writer_raw(&w.conversation, PROMPT("p1", ""));
    transcript_writer_raw(&w.conversation, ANSWER("a0", "p1", "m0", "1000"));
    transcript_writer_raw(&w.conversation, ANSWER("a1", "p1", "m1", "1"));
    transcript_writer_raw(&w.conversation, ANSWER("a2", "a1", "m1", "5"));
    transcript_writer_raw(&w.conversation, PROMPT("p2", "a2"));
    transcript_writer_raw(&w.conversation, PROMPT("p3", "p2"));
    transcript_writer_raw(&w.conversation, ANSWER("a3", "p3", "m3", "70"));
    jobs_fixture_open(&w, 1, 1000);
    assert_int_equal(claude_ops.load(w.store[0], &w.ref, NULL, &t, NULL), ERR_OK);
    assert_int_equal(t->n, 6);
    q.refs = ref_list_one(&w.ref, SLICE(""));
    q.conversation = conversation_new(w.store[0], t);
    conversation_retain(q.conversation);
    assert_true(workers_submit(w.workers, &q));
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_USAGE);
    assert_int_equal(m.u.token_usage->sum.tokens[USAGE_INPUT], 1075);
    assert_int_equal(m.u.token_usage->n, 2);
    assert_int_equal(
        conversation_usage_of(m.u.token_usage, t->message[2].offset)->tokens[USAGE_INPUT], 5);
    assert_int_equal(
        conversation_usage_of(m.u.token_usage, t->message[5].offset)->tokens[USAGE_INPUT], 70);
    assert_int_equal(m.u.token_usage->heads, 3); /* also the one without tokens */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(m.u.token_usage->head[i].message, i == 0 ? 0 : i + 2);
        assert_true(slice_eq(m.u.token_usage->head[i].prompt, SLICE("do it")));
    }
    msg_fini(&m);
    conversation_free(q.conversation);
    jobs_fixture_end(&w);
}

/* A transcript is read to its end, however large it is. */
TEST(tokens_of_a_huge_session_are_summed)
{
    struct effect q = { .kind = EFFECT_USAGE, .generation = 7 };
    struct jobs_fixture w;
    const off_t huge = (off_t)520 << 20;

    jobs_fixture_begin(&w);
    transcript_writer_raw(&w.conversation, ANSWER("a1", "", "m1", "5"));
    jobs_fixture_open(&w, 1, 1000);
    FILE *f = fopen(w.ref.path.p, "r+");

    assert_non_null(f);
    assert_int_equal(fseeko(f, huge, SEEK_SET), 0); /* over a hole */
    assert_true(fputs("\n" ANSWER("a2", "a1", "m2", "70"), f) >= 0);
    assert_int_equal(fclose(f), 0);
    w.ref.file.size = huge;
    q.refs = ref_list_one(&w.ref, SLICE(""));
    assert_true(workers_submit(w.workers, &q));
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_USAGE);
    assert_int_equal(m.u.token_usage->sum.tokens[USAGE_INPUT], 75);
    msg_fini(&m);
    jobs_fixture_end(&w);
}
