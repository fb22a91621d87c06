#include "tests/test.h"

#include <stdlib.h>

#include "support/screen/jobs_fixture.h"

/* Examinations and repairs by workers on a real store in a temporary folder. */

/* A conversation whose last line is torn. */
static void begin(struct jobs_fixture *w)
{
    jobs_fixture_begin(w);
    transcript_writer_user(&w->conversation, "one", "");
    transcript_writer_assistant(&w->conversation, "two", "one");
    transcript_writer_raw(&w->conversation, "{\"type\":\"us");
    jobs_fixture_open(w, 1, INT64_C(1000000));
    folder_mtime(&w->conversation.folder, FILE_NAME, INT64_C(1000000000));
}

static struct msg ask(struct jobs_fixture *w, enum effect_kind kind, enum change_request request)
{
    struct effect q = {
        .kind = kind, .request = request, .generation = 1, .scope = SCOPE_ALL, .at_ms = 1000000
    };

    if (kind != EFFECT_CHECK_STORE)
        q.refs = ref_list_one(&w->ref, SLICE(""));
    assert_true(workers_submit(w->workers, &q));
    return jobs_fixture_next(w);
}

static size_t fixable(struct jobs_fixture *w)
{
    struct msg m = ask(w, EFFECT_CHECK_SESSION, CHANGE_FIX);

    assert_int_equal(m.kind, MSG_FINDINGS);
    for (size_t i = 0; i < m.u.findings->list.n; i++)
        assert_string_equal(m.u.findings->system[i], "claude");
    size_t n = findings_fixable(m.u.findings);

    msg_fini(&m);
    return n;
}

TEST(an_examination_finds_torn_rows_and_changes_nothing)
{
    struct jobs_fixture w;

    begin(&w);
    char *before = folder_image(&w.conversation.folder, "");

    assert_int_equal(fixable(&w), 1);
    char *after = folder_image(&w.conversation.folder, "");

    assert_string_equal(before, after);
    free(before);
    free(after);
    jobs_fixture_end(&w);
}

TEST(a_repair_is_made_once_and_can_be_undone)
{
    struct jobs_fixture w;

    begin(&w);
    char *before = folder_image(&w.conversation.folder, "projects");
    struct msg m = ask(&w, EFFECT_CHANGE, CHANGE_FIX);

    assert_int_equal(m.kind, MSG_CHANGED);
    if (!HAS_LEASES) {
        assert_int_equal(m.u.changed->error.code, ERR_STALE);
        assert_non_null(strstr(m.u.changed->error.text, "(not repaired: "));
        msg_fini(&m);
        free(before);
        jobs_fixture_end(&w);
        return;
    }
    assert_int_equal(m.u.changed->error.code, ERR_OK);
    assert_int_equal(m.u.changed->repaired, 1);
    assert_int_equal(m.u.changed->steps, 1);
    assert_int_equal(m.u.changed->sessions.n, 1);
    assert_true(slice_eq(m.u.changed->sessions.name[0], SLICE(ID)));
    msg_fini(&m);
    assert_int_equal(fixable(&w), 0);

    m = ask(&w, EFFECT_CHANGE, CHANGE_FIX);
    assert_int_equal(m.u.changed->error.code, ERR_STALE);
    assert_non_null(strstr(m.u.changed->error.text, "nothing left to repair"));
    msg_fini(&m);

    m = ask(&w, EFFECT_CHANGE, CHANGE_UNDO);
    assert_int_equal(m.u.changed->error.code, ERR_OK);
    msg_fini(&m);
    char *after = folder_image(&w.conversation.folder, "projects");

    assert_string_equal(before, after);
    free(before);
    free(after);
    jobs_fixture_end(&w);
}

TEST(damage_outside_sessions_is_found_without_orphans)
{
    struct jobs_fixture w;

    begin(&w);
    folder_put(&w.conversation.folder, "state/changes/7/record", SLICE("no record"));
    folder_put(&w.conversation.folder,
               "projects/-p/5e550000-0000-4000-8000-00000000dead/subagents/a.jsonl", SLICE("x"));
    struct msg m = ask(&w, EFFECT_CHECK_STORE, CHANGE_FIX);

    assert_int_equal(m.kind, MSG_FINDINGS);
    assert_int_equal(m.u.findings->list.n, 1);
    assert_string_equal(m.u.findings->system[0], "reprise");
    assert_int_equal(m.u.findings->list.finding[0].kind, FINDING_DAMAGED_CHANGE);
    msg_fini(&m);
    jobs_fixture_end(&w);
}

TEST(a_session_in_a_wrong_folder_is_found_with_its_store)
{
    struct jobs_fixture w;

    begin(&w);
    folder_put(
        &w.conversation.folder, "projects/-p/-p/5e550000-0000-4000-8000-00000000beef.jsonl",
        SLICE("{\"type\":\"user\",\"uuid\":\"5e550000-0000-4000-8000-000000000009\",\"cwd\":\"/p\","
              "\"sessionId\":\"5e550000-0000-4000-8000-00000000beef\","
              "\"message\":{\"role\":\"user\",\"content\":\"deep\"}}\n"));
    struct msg m = ask(&w, EFFECT_CHECK_STORE, CHANGE_FIX);

    assert_int_equal(m.kind, MSG_FINDINGS);
    assert_int_equal(m.u.findings->list.n, 1);
    assert_int_equal(m.u.findings->list.finding[0].kind, FINDING_MISPLACED);
    assert_true(m.u.findings->list.finding[0].fixable);
    assert_ptr_equal(m.u.findings->store[0], w.ref.store);
    msg_fini(&m);
    jobs_fixture_end(&w);
}

TEST(examining_a_missing_session_fails)
{
    struct jobs_fixture w;

    begin(&w);
    folder_remove(&w.conversation.folder);
    struct msg m = ask(&w, EFFECT_CHECK_SESSION, CHANGE_FIX);

    assert_int_equal(m.kind, MSG_FAILED);
    msg_fini(&m);
    jobs_fixture_end(&w);
}
