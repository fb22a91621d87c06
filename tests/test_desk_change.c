#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/desk_place.h"

/* Changes as workers make them: a real store in a temporary folder. */

static void begin(struct desk_place *w)
{
    desk_place_begin(w);
    talk_user(&w->talk, "one", "");
    talk_assistant(&w->talk, "two", "one");
    desk_place_open(w, 2, 1000);
}

/* text: a title or tag, or the name that the wish needs. */
static void ask(struct desk_place *w, enum wish wish, const char *text)
{
    struct effect q = { .kind = EFFECT_CHANGE, .wish = wish, .scope = SCOPE_ALL, .at_ms = 2000 };
    struct slice name = { text, strlen(text) };
    bool about_session = wish < WISH_UNDO;

    q.refs = about_session ? ref_list_one(&w->ref, SLICE("")) : NULL;
    q.names = name_list_new();
    assert_true(name_list_add(q.names, name));
    assert_int_equal(buf_add(&q.text, name), ERR_OK);
    assert_true(workers_ask(w->workers, &q));
}

/* The answer to a change; the caller frees. */
static struct changed *change(struct desk_place *w, enum wish wish, const char *text)
{
    ask(w, wish, text);
    struct msg m = desk_place_next(w);

    assert_int_equal(m.kind, MSG_CHANGED);
    return m.u.changed;
}

static void done(struct desk_place *w, enum wish wish, const char *text)
{
    struct changed *c = change(w, wish, text);

    assert_string_equal(c->error.text, "");
    assert_int_equal(c->error.code, ERR_OK);
    changed_free(c);
}

static bool file_has(const struct desk_place *w, const char *text)
{
    size_t n;
    char *bytes = folder_get(&w->talk.folder, FILE_NAME, &n);
    bool has = memmem(bytes, n, text, strlen(text)) != NULL;

    free(bytes);
    return has;
}

static void a_title_is_written_and_undo_leaves_not_a_byte_of_it(void **state)
{
    (void)state;
    struct desk_place w;

    begin(&w);
    char *before = folder_image(&w.talk.folder, "projects");
    struct changed *c = change(&w, WISH_RENAME, "A new title");

    assert_int_equal(c->error.code, ERR_OK);
    assert_int_equal(c->sessions.n, 1);
    assert_true(slice_eq(c->sessions.name[0], SLICE(ID)));
    assert_true(slice_eq(buf_slice(&c->text), SLICE("A new title")));
    changed_free(c);
    assert_true(file_has(&w, "\"customTitle\":\"A new title\""));

    c = change(&w, WISH_UNDO, "");
    assert_int_equal(c->error.code, ERR_OK);
    assert_int_equal(buf_add_byte(&c->text, '\0'), ERR_OK);
    assert_non_null(strstr(c->text.p, "rename of \"one\": renamed to A new title"));
    assert_true(slice_eq(c->sessions.name[0], SLICE(ID)));
    changed_free(c);
    char *after = folder_image(&w.talk.folder, "projects");

    assert_string_equal(after, before);
    free(before);
    free(after);
    done(&w, WISH_REDO, "");
    assert_true(file_has(&w, "A new title"));
    desk_place_end(&w);
}

static void a_session_goes_to_the_trash_and_comes_back(void **state)
{
    (void)state;
    struct desk_place w;

    begin(&w);
    folder_put(&w.talk.folder, "projects/-p/" ID "/subagents/a.jsonl", SLICE("12345\n"));
    char *before = folder_image(&w.talk.folder, "projects/-p");
    struct changed *c = change(&w, WISH_TRASH, "Its title");

    assert_int_equal(c->error.code, ERR_OK);
    assert_int_equal(c->bytes, w.talk.text.n + 6);
    changed_free(c);
    assert_false(folder_has(&w.talk.folder, FILE_NAME));
    assert_false(folder_has(&w.talk.folder, "projects/-p/" ID));

    struct effect q = { .kind = EFFECT_TRASH };
    char id[64];

    assert_true(workers_ask(w.workers, &q));
    struct msg m = desk_place_next(&w);

    assert_int_equal(m.kind, MSG_TRASH);
    assert_int_equal(m.u.trash.list->n, 1);
    assert_int_equal(m.u.trash.refs->n, 1); /* its conversation can be read where it is now */
    assert_string_equal(m.u.trash.refs->ref[0].path.p, m.u.trash.list->item[0].part[0]);
    assert_string_equal(m.u.trash.list->item[0].title, "Its title");
    assert_int_equal(m.u.trash.list->item[0].deleted_ms, 2000); /* when it was asked for */
    snprintf(id, sizeof id, "%s", m.u.trash.list->item[0].trash_id);
    msg_fini(&m);
    done(&w, WISH_RESTORE, id);
    char *after = folder_image(&w.talk.folder, "projects/-p");

    assert_string_equal(after, before);
    free(before);
    free(after);
    c = change(&w, WISH_EMPTY, id);
    assert_int_equal(c->error.code, ERR_NOT_FOUND); /* it is not there any more */
    assert_true(folder_has(&w.talk.folder, FILE_NAME));
    changed_free(c);
    desk_place_end(&w);
}

static void a_newer_transcript_in_its_place_is_joined_when_the_person_says_so(void **state)
{
    (void)state;
    struct desk_place w;
    struct effect q = { .kind = EFFECT_TRASH };
    char id[64];

    begin(&w);
    changed_free(change(&w, WISH_TRASH, "Its title"));
    folder_put(&w.talk.folder, FILE_NAME, SLICE("{\"newer\":1}\n"));
    assert_true(workers_ask(w.workers, &q));
    struct msg m = desk_place_next(&w);

    snprintf(id, sizeof id, "%s", m.u.trash.list->item[0].trash_id);
    msg_fini(&m);
    struct changed *c = change(&w, WISH_RESTORE, id);

    assert_int_equal(c->error.code, ERR_OK);
    assert_true(c->asks);
    assert_string_equal(c->id, id);
    assert_string_equal(c->where, "Its title");
    assert_true(folder_is(&w.talk.folder, FILE_NAME, "{\"newer\":1}\n"));
    changed_free(c);
    c = change(&w, WISH_JOIN, id);
    assert_int_equal(c->error.code, ERR_OK);
    assert_true(file_has(&w, "{\"newer\":1}"));
    assert_true(file_has(&w, "\"one\""));
    changed_free(c);
    desk_place_end(&w);
}

/* What a rule without limits means. */
static struct sweep *swept(struct desk_place *w)
{
    struct effect q = { .kind = EFFECT_SWEEP,
                        .scope = SCOPE_ALL,
                        .rule.before_ms = TIME_NONE,
                        .asker = ASKER_CLEANUP };

    assert_true(workers_ask(w->workers, &q));
    struct msg m = desk_place_next(w);

    assert_int_equal(m.kind, MSG_SWEEP);
    return m.u.sweep;
}

static struct changed *move_swept(struct desk_place *w, struct sweep *sweep)
{
    struct effect q = {
        .kind = EFFECT_CHANGE, .wish = WISH_SWEEP, .scope = SCOPE_ALL, .sweep = sweep
    };

    assert_true(workers_ask(w->workers, &q));
    struct msg m = desk_place_next(w);

    assert_int_equal(m.kind, MSG_CHANGED);
    return m.u.changed;
}

static void a_sweep_goes_to_the_trash_and_comes_back(void **state)
{
    (void)state;
    struct desk_place w;

    begin(&w);
    char *before = folder_image(&w.talk.folder, "projects/-p");
    struct changed *c = move_swept(&w, swept(&w));

    assert_string_equal(c->error.text, "");
    assert_int_equal(c->sessions.n, 1);
    assert_int_equal(c->bytes, w.talk.text.n);
    assert_int_equal(c->stayed, 0);
    changed_free(c);
    assert_false(folder_has(&w.talk.folder, FILE_NAME));
    done(&w, WISH_UNDO, "");
    char *after = folder_image(&w.talk.folder, "projects/-p");

    assert_string_equal(after, before);
    free(before);
    free(after);
    desk_place_end(&w);
}

static void a_swept_session_that_was_used_meanwhile_stays(void **state)
{
    (void)state;
    struct desk_place w;

    begin(&w);
    struct sweep *sweep = swept(&w);

    talk_user(&w.talk, "three", "two");
    folder_put(&w.talk.folder, FILE_NAME, buf_slice(&w.talk.text));
    struct changed *c = move_swept(&w, sweep);

    assert_int_equal(c->error.code, ERR_STALE);
    assert_int_equal(c->stayed, 1);
    changed_free(c);
    assert_true(folder_has(&w.talk.folder, FILE_NAME));
    desk_place_end(&w);
}

static void a_copy_is_made_and_undo_takes_it_away(void **state)
{
    (void)state;
    struct desk_place w;
    char name[128];

    begin(&w);
    ask(&w, WISH_FORK, "");
    struct msg m = desk_place_next(&w);

    assert_int_equal(m.kind, MSG_CHANGED);
    assert_string_equal(m.u.changed->error.text, "");
    snprintf(name, sizeof name, "projects/-p/%s.jsonl", m.u.changed->copy);
    msg_fini(&m);
    assert_true(folder_has(&w.talk.folder, name));
    assert_true(folder_has(&w.talk.folder, FILE_NAME));
    done(&w, WISH_UNDO, "");
    assert_false(folder_has(&w.talk.folder, name));
    assert_true(folder_has(&w.talk.folder, FILE_NAME));
    desk_place_end(&w);
}

static void what_went_wrong_is_said_and_nothing_changes(void **state)
{
    (void)state;
    struct desk_place w;

    begin(&w);
    char *before = folder_image(&w.talk.folder, "projects");
    struct changed *c = change(&w, WISH_RENAME, "   ");

    assert_int_equal(c->error.code, ERR_USAGE);
    changed_free(c);
    c = change(&w, WISH_UNDO, "");
    assert_int_equal(c->error.code, ERR_NOT_FOUND);
    changed_free(c);
    w.env.state_dir = NULL;
    c = change(&w, WISH_RENAME, "x");
    assert_int_not_equal(c->error.code, ERR_OK);
    changed_free(c);
    char *after = folder_image(&w.talk.folder, "projects");

    assert_string_equal(after, before);
    free(before);
    free(after);
    desk_place_end(&w);
}

static void changes_are_made_in_the_order_asked(void **state)
{
    (void)state;
    struct desk_place w;

    begin(&w);
    ask(&w, WISH_RENAME, "first");
    ask(&w, WISH_RENAME, "second");
    ask(&w, WISH_UNDO, "");
    ask(&w, WISH_UNDO, "");
    for (enum wish want[] = { WISH_RENAME, WISH_RENAME, WISH_UNDO, WISH_UNDO }, *p = want;
         p < want + 4; p++) {
        struct msg m = desk_place_next(&w);

        assert_int_equal(m.kind, MSG_CHANGED);
        assert_int_equal(m.u.changed->wish, *p);
        assert_int_equal(m.u.changed->error.code, ERR_OK);
        msg_fini(&m);
    }
    assert_false(file_has(&w, "first"));
    assert_false(file_has(&w, "second"));
    desk_place_end(&w);
}

static void who_leaves_at_once_has_made_the_change_all_the_same(void **state)
{
    (void)state;
    struct desk_place w;

    begin(&w);
    ask(&w, WISH_RENAME, "first");
    ask(&w, WISH_TAG, "last");
    workers_free(w.workers);
    w.workers = NULL;
    assert_true(file_has(&w, "first"));
    assert_true(file_has(&w, "\"tag\":\"last\""));
    desk_place_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_title_is_written_and_undo_leaves_not_a_byte_of_it),
        cmocka_unit_test(a_session_goes_to_the_trash_and_comes_back),
        cmocka_unit_test(a_newer_transcript_in_its_place_is_joined_when_the_person_says_so),
        cmocka_unit_test(a_sweep_goes_to_the_trash_and_comes_back),
        cmocka_unit_test(a_swept_session_that_was_used_meanwhile_stays),
        cmocka_unit_test(a_copy_is_made_and_undo_takes_it_away),
        cmocka_unit_test(what_went_wrong_is_said_and_nothing_changes),
        cmocka_unit_test(changes_are_made_in_the_order_asked),
        cmocka_unit_test(who_leaves_at_once_has_made_the_change_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
