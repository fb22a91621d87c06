#include "tests/test.h"

#include <stdlib.h>

#include "support/screen/jobs_fixture.h"

/* Changes made by workers on a real store in a temporary folder. */

static void begin(struct jobs_fixture *w)
{
    jobs_fixture_begin(w);
    transcript_writer_user(&w->conversation, "one", "");
    transcript_writer_assistant(&w->conversation, "two", "one");
    jobs_fixture_open(w, 2, 1000);
}

/* text: a title or tag, or the name that the request needs */
static void ask(struct jobs_fixture *w, enum change_request request, const char *text)
{
    struct effect q = {
        .kind = EFFECT_CHANGE, .request = request, .scope = SCOPE_ALL, .at_ms = 2000
    };
    struct slice name = { text, strlen(text) };
    bool about_session = request < CHANGE_UNDO;

    q.refs = about_session ? ref_list_one(&w->ref, SLICE("")) : NULL;
    q.names = name_list_new();
    assert_true(name_list_add(q.names, name));
    assert_int_equal(buf_add(&q.text, name), ERR_OK);
    assert_true(workers_submit(w->workers, &q));
}

/* The reply to a change; the caller frees it. */
static struct change_result *change(struct jobs_fixture *w, enum change_request request,
                                    const char *text)
{
    ask(w, request, text);
    struct msg m = jobs_fixture_next(w);

    assert_int_equal(m.kind, MSG_CHANGED);
    return m.u.changed;
}

static void done(struct jobs_fixture *w, enum change_request request, const char *text)
{
    struct change_result *c = change(w, request, text);

    assert_string_equal(c->error.text, "");
    assert_int_equal(c->error.code, ERR_OK);
    change_result_free(c);
}

static bool file_has(const struct jobs_fixture *w, const char *text)
{
    size_t n;
    char *bytes = folder_get(&w->conversation.folder, FILE_NAME, &n);
    bool has = memmem(bytes, n, text, strlen(text)) != NULL;

    free(bytes);
    return has;
}

TEST(a_title_is_written_and_undo_removes_every_byte)
{
    struct jobs_fixture w;

    begin(&w);
    char *before = folder_image(&w.conversation.folder, "projects");
    struct change_result *c = change(&w, CHANGE_RENAME, "A new title");

    assert_int_equal(c->error.code, ERR_OK);
    assert_int_equal(c->sessions.n, 1);
    assert_true(slice_eq(c->sessions.name[0], SLICE(ID)));
    assert_true(slice_eq(buf_slice(&c->text), SLICE("A new title")));
    change_result_free(c);
    assert_true(file_has(&w, "\"customTitle\":\"A new title\""));

    c = change(&w, CHANGE_UNDO, "");
    assert_int_equal(c->error.code, ERR_OK);
    assert_int_equal(buf_add_byte(&c->text, '\0'), ERR_OK);
    assert_non_null(strstr(c->text.p, "the rename of “one” (renamed to A new title"));
    assert_true(slice_eq(c->sessions.name[0], SLICE(ID)));
    change_result_free(c);
    char *after = folder_image(&w.conversation.folder, "projects");

    assert_true(IS_UNDONE(before, after));
    free(before);
    free(after);
    done(&w, CHANGE_REDO, "");
    assert_true(file_has(&w, "A new title"));
    jobs_fixture_end(&w);
}

TEST(a_session_is_trashed_and_restored)
{
    struct jobs_fixture w;

    begin(&w);
    folder_put(&w.conversation.folder, "projects/-p/" ID "/subagents/a.jsonl", SLICE("12345\n"));
    char *before = folder_image(&w.conversation.folder, "projects/-p");
    struct change_result *c = change(&w, CHANGE_TRASH, "Its title");

    assert_int_equal(c->error.code, ERR_OK);
    assert_int_equal(c->bytes, w.conversation.text.n + 6);
    change_result_free(c);
    assert_false(folder_has(&w.conversation.folder, FILE_NAME));
    assert_false(folder_has(&w.conversation.folder, "projects/-p/" ID));

    struct effect q = { .kind = EFFECT_TRASH };
    char id[64];

    assert_true(workers_submit(w.workers, &q));
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_TRASH);
    assert_int_equal(m.u.trash.list->n, 1);
    assert_int_equal(m.u.trash.refs->n, 1); /* its conversation can be read where it is now */
    assert_string_equal(m.u.trash.refs->ref[0].path.p, m.u.trash.list->item[0].part[0]);
    assert_string_equal(m.u.trash.list->item[0].title, "Its title");
    assert_int_equal(m.u.trash.list->item[0].deleted_ms, 2000); /* when it was requested */
    snprintf(id, sizeof id, "%s", m.u.trash.list->item[0].trash_id);
    msg_fini(&m);
    done(&w, CHANGE_RESTORE, id);
    char *after = folder_image(&w.conversation.folder, "projects/-p");

    assert_string_equal(after, before);
    free(before);
    free(after);
    c = change(&w, CHANGE_EMPTY, id);
    assert_int_equal(c->error.code, ERR_NOT_FOUND); /* it no longer exists */
    assert_true(folder_has(&w.conversation.folder, FILE_NAME));
    change_result_free(c);
    jobs_fixture_end(&w);
}

TEST(a_newer_transcript_is_joined_with_consent)
{
    struct jobs_fixture w;
    struct effect q = { .kind = EFFECT_TRASH };
    char id[64];

    begin(&w);
    change_result_free(change(&w, CHANGE_TRASH, "Its title"));
    folder_put(&w.conversation.folder, FILE_NAME, SLICE("{\"newer\":1}\n"));
    assert_true(workers_submit(w.workers, &q));
    struct msg m = jobs_fixture_next(&w);

    snprintf(id, sizeof id, "%s", m.u.trash.list->item[0].trash_id);
    msg_fini(&m);
    struct change_result *c = change(&w, CHANGE_RESTORE, id);

    assert_int_equal(c->error.code, ERR_OK);
    assert_true(c->needs_confirmation);
    assert_string_equal(c->id, id);
    assert_string_equal(c->where, "Its title");
    assert_true(folder_is(&w.conversation.folder, FILE_NAME, "{\"newer\":1}\n"));
    change_result_free(c);
    c = change(&w, CHANGE_JOIN, id);
    assert_int_equal(c->error.code, HAS_LEASES ? ERR_OK : ERR_LOCKED);
    assert_true(file_has(&w, "{\"newer\":1}"));
    assert_int_equal(file_has(&w, "\"one\""), HAS_LEASES);
    change_result_free(c);
    jobs_fixture_end(&w);
}

/* The sessions selected by a rule without limits. */
static struct sweep *swept(struct jobs_fixture *w)
{
    struct effect q = { .kind = EFFECT_SWEEP,
                        .scope = SCOPE_ALL,
                        .rule.before_ms = TIME_NONE,
                        .requester = REQUESTER_CLEANUP };

    assert_true(workers_submit(w->workers, &q));
    struct msg m = jobs_fixture_next(w);

    assert_int_equal(m.kind, MSG_SWEEP);
    return m.u.sweep;
}

static struct change_result *move_swept(struct jobs_fixture *w, struct sweep *sweep)
{
    struct effect q = {
        .kind = EFFECT_CHANGE, .request = CHANGE_SWEEP, .scope = SCOPE_ALL, .sweep = sweep
    };

    assert_true(workers_submit(w->workers, &q));
    struct msg m = jobs_fixture_next(w);

    assert_int_equal(m.kind, MSG_CHANGED);
    return m.u.changed;
}

TEST(a_sweep_is_trashed_and_restored)
{
    struct jobs_fixture w;

    begin(&w);
    char *before = folder_image(&w.conversation.folder, "projects/-p");
    struct change_result *c = move_swept(&w, swept(&w));

    assert_string_equal(c->error.text, "");
    assert_int_equal(c->sessions.n, 1);
    assert_int_equal(c->bytes, w.conversation.text.n);
    assert_int_equal(c->not_moved, 0);
    change_result_free(c);
    assert_false(folder_has(&w.conversation.folder, FILE_NAME));
    done(&w, CHANGE_UNDO, "");
    char *after = folder_image(&w.conversation.folder, "projects/-p");

    assert_string_equal(after, before);
    free(before);
    free(after);
    jobs_fixture_end(&w);
}

TEST(a_swept_session_that_was_used_meanwhile_stays)
{
    struct jobs_fixture w;

    begin(&w);
    struct sweep *sweep = swept(&w);

    transcript_writer_user(&w.conversation, "three", "two");
    folder_put(&w.conversation.folder, FILE_NAME, buf_slice(&w.conversation.text));
    struct change_result *c = move_swept(&w, sweep);

    assert_int_equal(c->error.code, ERR_STALE);
    assert_int_equal(c->not_moved, 1);
    change_result_free(c);
    assert_true(folder_has(&w.conversation.folder, FILE_NAME));
    jobs_fixture_end(&w);
}

TEST(a_fork_is_made_and_undo_removes_it)
{
    struct jobs_fixture w;
    char name[128];

    begin(&w);
    ask(&w, CHANGE_FORK, "");
    struct msg m = jobs_fixture_next(&w);

    assert_int_equal(m.kind, MSG_CHANGED);
    assert_string_equal(m.u.changed->error.text, "");
    snprintf(name, sizeof name, "projects/-p/%s.jsonl", m.u.changed->copy);
    msg_fini(&m);
    assert_true(folder_has(&w.conversation.folder, name));
    assert_true(folder_has(&w.conversation.folder, FILE_NAME));
    done(&w, CHANGE_UNDO, "");
    assert_false(folder_has(&w.conversation.folder, name));
    assert_true(folder_has(&w.conversation.folder, FILE_NAME));
    jobs_fixture_end(&w);
}

TEST(an_error_is_reported_and_nothing_changes)
{
    struct jobs_fixture w;

    begin(&w);
    char *before = folder_image(&w.conversation.folder, "projects");
    struct change_result *c = change(&w, CHANGE_RENAME, "   ");

    assert_int_equal(c->error.code, ERR_USAGE);
    change_result_free(c);
    c = change(&w, CHANGE_UNDO, "");
    assert_int_equal(c->error.code, ERR_NOT_FOUND);
    change_result_free(c);
    w.env.state_dir = NULL;
    c = change(&w, CHANGE_RENAME, "x");
    assert_int_not_equal(c->error.code, ERR_OK);
    change_result_free(c);
    char *after = folder_image(&w.conversation.folder, "projects");

    assert_string_equal(after, before);
    free(before);
    free(after);
    jobs_fixture_end(&w);
}

TEST(changes_are_made_in_request_order)
{
    struct jobs_fixture w;

    begin(&w);
    ask(&w, CHANGE_RENAME, "first");
    ask(&w, CHANGE_RENAME, "second");
    ask(&w, CHANGE_UNDO, "");
    ask(&w, CHANGE_UNDO, "");
    for (enum change_request want[] = { CHANGE_RENAME, CHANGE_RENAME, CHANGE_UNDO, CHANGE_UNDO },
                             *p = want;
         p < want + 4; p++) {
        struct msg m = jobs_fixture_next(&w);

        assert_int_equal(m.kind, MSG_CHANGED);
        assert_int_equal(m.u.changed->request, *p);
        assert_int_equal(m.u.changed->error.code, ERR_OK);
        msg_fini(&m);
    }
    assert_int_equal(file_has(&w, "first"), !HAS_LEASES); /* else contradicted, not cut */
    assert_int_equal(file_has(&w, "second"), !HAS_LEASES);
    jobs_fixture_end(&w);
}

TEST(a_requested_change_is_made_even_when_quitting_at_once)
{
    struct jobs_fixture w;

    begin(&w);
    ask(&w, CHANGE_RENAME, "first");
    ask(&w, CHANGE_TAG, "last");
    workers_free(w.workers);
    w.workers = NULL;
    assert_true(file_has(&w, "first"));
    assert_true(file_has(&w, "\"tag\":\"last\""));
    jobs_fixture_end(&w);
}

static struct change_result *prune(struct jobs_fixture *w, size_t n)
{
    struct effect q = { .kind = EFFECT_CHANGE, .request = CHANGE_PRUNE, .at_ms = 2000, .n = n };

    assert_true(workers_submit(w->workers, &q));
    struct msg m = jobs_fixture_next(w);

    assert_int_equal(m.kind, MSG_CHANGED);
    return m.u.changed;
}

TEST(as_many_undo_records_are_removed_as_were_asked_about)
{
    enum { KEPT = 200, OLD = 3 };
    static const char plan[] = "{\"version\":\"1\",\"at\":\"1\",\"system\":\"claude\","
                               "\"session\":\"s\",\"point\":\"p\",\"entries\":[]}";
    static const struct config config;
    struct jobs_fixture w;
    char name[80];

    begin(&w);
    w.context.config = &config;
    for (int i = 0; i < KEPT + OLD; i++)
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "state/rewinds/%015d-00000001/%s", i,
                     k == 0   ? "plan"
                     : k == 1 ? "commit"
                              : "done");
            folder_put(&w.conversation.folder, name, k == 0 ? slice_of(plan) : SLICE(""));
        }
    /* A project whose snapshots cannot be read does not keep the rest. */
    folder_put(&w.conversation.folder, "state/copies/0123/log/x", SLICE(""));
    struct change_result *c = prune(&w, OLD + 1);

    assert_int_equal(c->error.code, ERR_STALE);
    assert_int_equal(c->pruned, 0);
    change_result_free(c);
    assert_true(folder_has(&w.conversation.folder, "state/rewinds/000000000000000-00000001"));
    c = prune(&w, OLD);
    assert_string_equal(c->error.text, "");
    assert_int_equal(c->pruned, OLD);
    assert_int_equal(c->bytes, OLD * (sizeof plan - 1));
    change_result_free(c);
    assert_false(folder_has(&w.conversation.folder, "state/rewinds/000000000000002-00000001"));
    assert_true(folder_has(&w.conversation.folder, "state/rewinds/000000000000003-00000001"));
    jobs_fixture_end(&w);
}
