#include "tests/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "store/library/library_host.h"

/* A host whose sessions are kept in the store of a plug-in while its agent runs. */

enum { WRITERS = 2, EACH = 40 };

static struct reprise *open_team(void **state)
{
    char path[4096], home[4200];
    const char *environment[] = { home, NULL };
    const struct reprise_options o = { .size = sizeof o,
                                       .system = "team",
                                       .plugin = COMPLETE_STORE,
                                       .path = folder_path(*state, "team", path),
                                       .directory = "/srv/app",
                                       .environment = environment };
    struct reprise_error e;
    struct reprise *r;

    folder_dir(*state, "team");
    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    if (reprise_open(&o, &r, &e))
        fail_msg("%s", e.message);
    return r;
}

static void append_texts(const struct reprise_session *s, const char *rows)
{
    struct reprise_error e;

    if (reprise_append(s, rows, strlen(rows), 0, NULL, &e))
        fail_msg("%s", e.message);
}

#define BARE(type, text)                                                                           \
    "{\"type\":\"" type "\",\"message\":{\"role\":\"" type "\",\"content\":\"" text "\"}}\n"

IN_SCRATCH(a_host_keeps_a_session_in_a_store_of_a_plug_in)
{
    struct reprise *team = open_team(state);
    const struct reprise_create_request request = { .size = sizeof request, .title = "Payments" };
    struct reprise_session *s, *again;
    struct reprise_rows *rows;

    assert_int_equal(reprise_create(team, &request, &s, NULL), REPRISE_OK);
    assert_int_equal(reprise_list(team, NULL, &rows, NULL), REPRISE_OK);
    assert_int_equal(reprise_rows_count(rows), 0); /* it has no message */
    reprise_rows_free(rows);
    append_texts(s, BARE("user", "pay") BARE("assistant", "paid"));
    append_texts(s, BARE("user", "again"));
    assert_int_equal(count_messages(s), 3); /* each row follows the one before */
    check_title(s, "Payments");
    assert_int_equal(reprise_session_open(team, reprise_session_id(s), &again, NULL), REPRISE_OK);
    assert_int_equal(reprise_list(team, NULL, &rows, NULL), REPRISE_OK);
    assert_int_equal(reprise_rows_count(rows), 1);
    assert_string_equal(reprise_rows_at(rows, 0)->directory, "/srv/app");
    reprise_rows_free(rows);
    reprise_session_close(again);
    reprise_session_close(s);
    reprise_close(team);
}

IN_SCRATCH(an_id_that_exists_or_is_none_is_refused)
{
    struct reprise *team = open_team(state);
    struct reprise_create_request request = { .size = sizeof request, .id = SID };
    struct reprise_session *s = create(team, SID), *other = NULL;

    assert_int_equal(reprise_create(team, &request, &other, NULL), REPRISE_STALE);
    request.id = "../etc";
    assert_int_equal(reprise_create(team, &request, &other, NULL), REPRISE_USAGE);
    request.id = "pay-1";
    assert_int_equal(reprise_create(team, &request, &other, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_append(s, "{}", 2, 0, NULL, NULL), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(team);
}

/* By another handle, which knows nothing of the rows, and by the one that wrote them. */
IN_SCRATCH(a_repeated_row_is_in_the_store_once)
{
    struct reprise *team = open_team(state), *other = open_team(state);
    struct reprise_session *s = create(team, SID), *there;
    char row[400];

    for (int i = 0; i < 90; i++) { /* more rows than are read to find the last one */
        snprintf(row, sizeof row,
                 "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-%012d\",\"message\":{"
                 "\"role\":\"user\",\"content\":\"x\"}}",
                 i);
        append_texts(s, row);
    }
    assert_int_equal(reprise_session_open(other, SID, &there, NULL), REPRISE_OK);
    append_texts(there, MAIN_ROW("user", "00000000-0000-4000-8000-000000000000", "null", "x"));
    append_texts(s, MAIN_ROW("user", "00000000-0000-4000-8000-000000000089", "null", "x"));
    append_texts(there, BARE("user", "new"));
    append_texts(s, BARE("user", "newer"));
    assert_int_equal(count_messages(s), 92);
    reprise_session_close(there);
    reprise_session_close(s);
    reprise_close(other);
    reprise_close(team);
}

IN_SCRATCH(rows_of_a_sub_agent_are_its_own)
{
    static const char row[] = "{\"type\":\"user\",\"agentId\":\"a1b2\",\"isSidechain\":true,"
                              "\"message\":{\"role\":\"user\",\"content\":\"look\"}}";
    struct reprise *team = open_team(state);
    struct reprise_session *s = create(team, SID);
    const struct reprise_message_query query = { .size = sizeof query, .agent = "a1b2" };
    struct reprise_texts *texts;

    append_texts(s, BARE("user", "pay"));
    append_texts(s, row);
    append_texts(s, row);
    assert_int_equal(count_messages(s), 1);
    assert_int_equal(reprise_messages(s, &query, &texts, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(texts), 2);
    reprise_texts_free(texts);
    reprise_session_close(s);
    reprise_close(team);
}

static void *write_many(void *arg)
{
    const struct reprise_writer_options options = { .size = sizeof options,
                                                    .flags = REPRISE_WRITER_BACKGROUND,
                                                    .interval_ms = 1,
                                                    .batch_rows = 3 };
    struct reprise *team = open_team(arg);
    struct reprise_session *s;
    struct reprise_writer *w;

    assert_int_equal(reprise_session_open(team, SID, &s, NULL), REPRISE_OK);
    assert_int_equal(reprise_writer_open(s, &options, &w, NULL), REPRISE_OK);
    for (int i = 0; i < EACH; i++)
        assert_int_equal(
            reprise_writer_append(w, BARE("user", "x"), strlen(BARE("user", "x")), 0, NULL, NULL),
            REPRISE_OK);
    assert_int_equal(reprise_writer_close(w, NULL), REPRISE_OK);
    reprise_session_close(s);
    reprise_close(team);
    return NULL;
}

/* A conversation of all rows shows that none of two followed the same one. */
IN_SCRATCH(writers_at_once_make_one_conversation)
{
    struct reprise *team = open_team(state);
    struct reprise_session *s = create(team, SID);
    pthread_t thread[WRITERS];

    append_texts(s, BARE("user", "begin"));
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, write_many, state), 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(count_messages(s), 1 + WRITERS * EACH);
    reprise_session_close(s);
    reprise_close(team);
}

IN_SCRATCH(a_writer_begins_a_session_with_its_first_message)
{
    const struct reprise_create_request request = { .size = sizeof request, .id = SID };
    struct reprise *team = open_team(state);
    struct reprise_session *s = NULL;
    struct reprise_writer *w;
    const char *title = "title=Payments";

    assert_int_equal(reprise_writer_create(team, &request, NULL, &w, NULL), REPRISE_OK);
    assert_int_equal(reprise_writer_set(w, &title, 1, NULL), REPRISE_OK);
    assert_int_equal(reprise_session_open(team, SID, &s, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(
        reprise_writer_append(w, BARE("user", "x"), strlen(BARE("user", "x")), 0, NULL, NULL),
        REPRISE_OK);
    assert_int_equal(reprise_writer_close(w, NULL), REPRISE_OK);
    assert_int_equal(reprise_session_open(team, SID, &s, NULL), REPRISE_OK);
    check_title(s, "Payments");
    assert_int_equal(count_messages(s), 1);
    reprise_session_close(s);
    reprise_close(team);
}
