#include "tests/test.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/library/library_host.h"

/* The library as a host sees it; tests/installed builds hosts against the installed files. This one runs under the
 * sanitizers, and its threads under ThreadSanitizer (test library_threads). */

enum { THREADS = 4, ROUNDS = 8 };

/* ---- opening ---- */

IN_SCRATCH(without_stores_the_defaults_are_empty)
{
    char home[4200];
    const char *environment[] = { home, NULL };
    const struct reprise_options o = { .size = sizeof o,
                                       .directory = "/",
                                       .environment = environment };
    struct reprise *r;
    struct reprise_rows *rows;

    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    assert_int_equal(reprise_open(&o, &r, NULL), REPRISE_OK);
    assert_int_equal(reprise_stores(r), 0);
    assert_null(reprise_store_system(r, 0));
    assert_int_equal(reprise_list(r, NULL, &rows, NULL), REPRISE_OK);
    assert_int_equal(reprise_rows_count(rows), 0);
    reprise_rows_free(rows);
    reprise_close(r);
}

IN_SCRATCH(wrong_requests_are_refused)
{
    static const struct reprise_options wrong[] = {
        { .size = 0, .system = "goat" },
        { .size = sizeof *wrong, .system = "nothing" },
        { .size = sizeof *wrong, .path = "/tmp" },
        { .size = sizeof *wrong, .system = "goat", .path = "relative" },
        { .size = sizeof *wrong, .system = "goat", .directory = "relative" },
        { .size = sizeof *wrong, .system = "goat", .flags = 1u << 31 },
        { .size = sizeof *wrong, .flags = REPRISE_OPEN_CREATE },
    };
    struct reprise *r = NULL;
    struct reprise_error e;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(&e, 'x', sizeof e);
        assert_int_equal(reprise_open(&wrong[i], &r, &e), REPRISE_USAGE);
        assert_int_equal(e.code, REPRISE_USAGE);
        assert_true(e.message[0] && strlen(e.message) < sizeof e.message);
        assert_null(r);
    }
}

IN_SCRATCH(a_missing_store_is_not_found)
{
    char path[4096];
    const struct reprise_options o = { .size = sizeof o,
                                       .system = "exathena",
                                       .path = folder_path(*state, "absent", path) };
    struct reprise *r = NULL;
    struct reprise_error e;

    assert_int_equal(reprise_open(&o, &r, &e), REPRISE_NOT_FOUND);
    assert_non_null(strstr(e.path, "absent"));
}

#define TEAMS                                                                                      \
    "{\"type\":\"user\",\"uuid\":\"8a3c1f4e-0000-4000-8000-000000000001\",\"parentUuid\":null,"    \
    "\"sessionId\":\"8a3c1f4e-0000-4000-8000-00000000000a\",\"cwd\":\"/srv/app\","                 \
    "\"timestamp\":\"2026-02-09T02:48:28.000Z\",\"message\":{\"role\":\"user\",\"content\":"       \
    "\"pay\"}}\n"

IN_SCRATCH(a_plug_in_is_opened_by_name)
{
    char path[4096];
    struct reprise_options o = { .size = sizeof o,
                                 .system = "team",
                                 .plugin = EXAMPLE_STORE,
                                 .path = folder_path(*state, "team", path) };
    struct reprise *r;
    struct reprise_rows *rows;

    folder_dir(*state, "team");
    folder_dir(*state, "team/tenant");
    scratch_write(state, "team/tenant/8a3c1f4e-0000-4000-8000-00000000000a.jsonl", SLICE(TEAMS));
    assert_int_equal(reprise_open(&o, &r, NULL), REPRISE_OK);
    assert_string_equal(reprise_store_system(r, 0), "team");
    assert_int_equal(reprise_list(r, NULL, &rows, NULL), REPRISE_OK);
    assert_int_equal(reprise_rows_count(rows), 1);
    assert_string_equal(reprise_rows_at(rows, 0)->title, "pay");
    reprise_rows_free(rows);
    reprise_close(r);
    o.plugin = "not installed";
    assert_int_equal(reprise_open(&o, &r, NULL), REPRISE_NOT_FOUND);
    o.plugin = NULL;
    o.system = NULL;
    o.path = "nothing://here";
    assert_int_equal(reprise_open(&o, &r, NULL), REPRISE_NOT_FOUND);
    o.path = "relative";
    assert_int_equal(reprise_open(&o, &r, NULL), REPRISE_USAGE);
}

/* ---- sessions ---- */

IN_SCRATCH(texts_end_with_a_nul)
{
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");

    assert_string_equal(reprise_session_id(s), "pay-1");
    assert_string_equal(reprise_session_system(s), "goat");
    assert_true(reprise_session_path(s)[0] == '/');
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_session_shows_rows_that_were_appended_after_it_was_opened)
{
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_texts *tail;
    struct reprise_rows *rows;

    assert_int_equal(count_messages(s), 0);
    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK); /* a repeated call */
    assert_int_equal(count_messages(s), 1);
    assert_int_equal(reprise_tail(s, 0, &tail, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(tail), 1);
    assert_int_equal(reprise_session_row(s, &rows, NULL), REPRISE_OK);
    assert_string_equal(reprise_rows_at(rows, 0)->title, "pay");
    reprise_rows_free(rows);
    reprise_texts_free(tail);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_session_whose_state_is_open_is_running)
{
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    const struct reprise_action action = { .size = sizeof action, .description = "Editing foo.ts" };
    struct reprise_state *published;
    const struct reprise_row *row;
    struct reprise_rows *rows;

    assert_int_equal(reprise_state_open(s, &published, NULL), REPRISE_OK);
    assert_int_equal(reprise_state_change(published, REPRISE_REQUIRES_ACTION, &action, NULL),
                     REPRISE_OK);
    assert_int_equal(reprise_running(r, &rows, NULL), REPRISE_OK);
    assert_int_equal(reprise_rows_count(rows), 1);
    row = reprise_rows_at(rows, 0);
    assert_string_equal(row->id, "pay-1");
    assert_int_equal(row->state, REPRISE_REQUIRES_ACTION);
    assert_string_equal(row->waits_for, "Editing foo.ts");
    assert_true((row->flags & REPRISE_ROW_LIVE) && row->pid == getpid());
    reprise_rows_free(rows);
    assert_int_equal(reprise_running(r, NULL, NULL), REPRISE_USAGE);
    reprise_state_close(published);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(the_ids_of_rows_are_returned)
{
    static const char rows[] = "{\"uuid\":\"a\",\"role\":\"user\",\"content\":\"x\"}\n\n"
                               "{\"role\":\"assistant\",\"content\":\"y\"}\n";
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_texts *ids;
    size_t n;

    assert_int_equal(reprise_append(s, rows, sizeof rows - 1, 0, &ids, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(ids), 2);
    assert_string_equal(reprise_texts_at(ids, 0, &n), "a");
    assert_int_equal(n, 1);
    assert_true(reprise_texts_at(ids, 1, NULL)[0] != '\0');
    assert_null(reprise_texts_at(ids, 2, NULL));
    reprise_texts_free(ids);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_page_of_messages_is_a_part_of_them)
{
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_message_query q = {
        .size = sizeof q, .limit = 1, .offset = 1, .flags = REPRISE_MESSAGES_LIMIT
    };
    struct reprise_texts *texts;

    for (int i = 0; i < 3; i++)
        assert_int_equal(append_prompt(s, (const char *[]){ "a", "b", "c" }[i], NULL), REPRISE_OK);
    assert_int_equal(reprise_messages(s, &q, &texts, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(texts), 1);
    assert_non_null(strstr(reprise_texts_at(texts, 0, NULL), "\"uuid\":\"b\""));
    reprise_texts_free(texts);
    q.offset = -1;
    assert_int_equal(reprise_messages(s, &q, &texts, NULL), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(settings_are_changed_together_or_not)
{
    static const char *const settings[] = { "title=Payments", "model=m-7", "nothing=x" };
    static const char *const no_key[] = { "=x" }, *const missing[] = { NULL };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");

    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(reprise_set(s, settings, 3, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_set(s, no_key, 1, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_set(s, missing, 1, NULL), REPRISE_USAGE);
    check_title(s, "pay");
    assert_int_equal(reprise_set(s, settings, 2, NULL), REPRISE_OK);
    check_title(s, "Payments");
    assert_int_equal(reprise_set(s, settings, 0, NULL), REPRISE_OK);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(an_unusable_result_saves_nothing)
{
    char path[4096];
    const char *file = folder_path(*state, "file", path);
    const struct reprise_checkpoint_request request = {
        .size = sizeof request, .message = "m-1", .files = &file, .files_count = 1
    };
    struct reprise_checkpoint_result result = { .size = 0 };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_points *points;

    scratch_write(state, "file", SLICE("one"));
    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(reprise_checkpoint(s, &request, &result, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_checkpoints(s, &points, NULL), REPRISE_OK);
    assert_int_equal(reprise_points_count(points), 0);
    reprise_points_free(points);
    result.size = offsetof(struct reprise_checkpoint_result, fresh); /* of an older caller */
    result.fresh = 77;
    assert_int_equal(reprise_checkpoint(s, &request, &result, NULL), REPRISE_OK);
    assert_int_equal(result.files, 1);
    assert_int_equal(result.fresh, 77);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(two_stores_cannot_be_created_in)
{
    char home[4200];
    const char *environment[] = { home, NULL };
    const struct reprise_options o = { .size = sizeof o,
                                       .directory = "/",
                                       .environment = environment };
    struct reprise_session *s = NULL;
    struct reprise *r;

    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    assert_int_equal(reprise_open(&o, &r, NULL), REPRISE_OK);
    assert_int_equal(reprise_create(r, NULL, &s, NULL), REPRISE_USAGE);
    assert_null(s);
    reprise_close(r);
}

/* ---- writers ---- */

enum { TEN_MINUTES = 600000 };

static int write_prompt(struct reprise_writer *w, const char *id)
{
    char row[200];
    int n =
        snprintf(row, sizeof row, "{\"uuid\":\"%s\",\"role\":\"user\",\"content\":\"pay\"}\n", id);

    return reprise_writer_append(w, row, (size_t)n, 0, NULL, NULL);
}

static uint64_t queued(struct reprise_writer *w)
{
    struct reprise_writer_counts counts = { .size = sizeof counts };

    assert_int_equal(reprise_writer_count(w, &counts, NULL), REPRISE_OK);
    return counts.queued;
}

IN_SCRATCH(rows_wait_in_the_queue_until_they_are_flushed)
{
    const struct reprise_writer_options o = { .size = sizeof o,
                                              .flags = REPRISE_WRITER_BACKGROUND,
                                              .interval_ms = TEN_MINUTES };
    static const char *const title = "title=Payments";
    struct reprise *r = open_store(state, "exathena", "s");
    struct reprise_session *s = create(r, NULL);
    struct reprise_writer *w;

    assert_int_equal(reprise_writer_open(s, &o, &w, NULL), REPRISE_OK);
    assert_string_equal(reprise_writer_id(w), reprise_session_id(s));
    size_t before = count_messages(s);

    assert_int_equal(write_prompt(w, "a"), REPRISE_OK);
    assert_int_equal(write_prompt(w, "b"), REPRISE_OK);
    assert_int_equal(count_messages(s), before);
    assert_int_equal(queued(w), 2);
    assert_int_equal(reprise_writer_flush(w, NULL), REPRISE_OK);
    assert_int_equal(count_messages(s), before + 2);
    assert_int_equal(write_prompt(w, "c"), REPRISE_OK);
    assert_int_equal(reprise_writer_set(w, &title, 1, NULL), REPRISE_UNSUPPORTED);
    assert_int_equal(reprise_writer_close(w, NULL), REPRISE_OK);
    assert_int_equal(count_messages(s), before + 3);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_claude_session_without_a_message_leaves_nothing_behind)
{
    const struct reprise_create_request request = { .size = sizeof request, .title = "Payments" };
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_rows *rows;
    struct reprise_writer *w;

    assert_int_equal(reprise_writer_create(r, &request, NULL, &w, NULL), REPRISE_OK);
    assert_int_equal(strlen(reprise_writer_id(w)), 36);
    assert_int_equal(reprise_writer_close(w, NULL), REPRISE_OK);
    assert_int_equal(reprise_list(r, NULL, &rows, NULL), REPRISE_OK);
    assert_int_equal(reprise_rows_count(rows), 0);
    reprise_rows_free(rows);
    reprise_close(r);
}

/* The agent's own switch against keeping sessions holds for hosts, too. */
IN_SCRATCH(a_store_that_keeps_nothing_takes_rows)
{
    char path[4096], home[4200];
    const char *environment[] = { home, "CLAUDE_CODE_SKIP_PROMPT_HISTORY=1", NULL };
    struct reprise_options o = { .size = sizeof o,
                                 .system = "claude",
                                 .path = folder_path(*state, "claude", path),
                                 .directory = "/srv/app",
                                 .environment = environment,
                                 .flags = REPRISE_OPEN_CREATE };
    struct reprise_error e = { 0 };
    struct reprise *r = NULL;
    struct reprise_rows *rows = NULL;

    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    assert_int_equal(reprise_open(&o, &r, &e), REPRISE_OK);
    struct reprise_session *s = create(r, "11111111-1111-4111-8111-111111111111");

    assert_int_equal(append_prompt(s, "22222222-2222-4222-8222-222222222222", &e), REPRISE_OK);
    reprise_session_close(s);
    assert_int_equal(reprise_list(r, NULL, &rows, &e), REPRISE_OK);
    assert_int_equal(reprise_rows_count(rows), 0);
    reprise_rows_free(rows);
    reprise_close(r);
}

IN_SCRATCH(a_writer_refuses_unknown_options)
{
    struct reprise_writer_options o = { .size = sizeof o, .flags = 1u << 31 };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, NULL);
    struct reprise_writer *w = NULL;

    assert_int_equal(reprise_writer_open(s, &o, &w, NULL), REPRISE_USAGE);
    o = (struct reprise_writer_options){ .size = sizeof o, .durable = 7 };
    assert_int_equal(reprise_writer_open(s, &o, &w, NULL), REPRISE_USAGE);
    assert_null(w);
    reprise_session_close(s);
    reprise_close(r);
}

/* ---- threads ---- */

struct worker {
    pthread_t thread;
    struct reprise *shared;
    struct reprise_session *session;
    struct reprise_writer *writer;
    const char *system, *path, *home;
    int number;
    int failures;
};

static void list_all(const struct reprise *r, struct worker *w)
{
    struct reprise_rows *rows = NULL;

    w->failures +=
        reprise_list(r, NULL, &rows, NULL) != REPRISE_OK || reprise_rows_count(rows) == 0;
    reprise_rows_free(rows);
}

static void read_session(const struct reprise_session *s, struct worker *w)
{
    struct reprise_texts *texts = NULL, *tail = NULL;

    w->failures += reprise_messages(s, NULL, &texts, NULL) != REPRISE_OK;
    w->failures += reprise_tail(s, 0, &tail, NULL) != REPRISE_OK;
    reprise_texts_free(texts);
    reprise_texts_free(tail);
}

static int count_hit(const struct reprise_hit *hit, void *arg)
{
    int *n = arg;

    (*n)++;
    return hit->line_length == 0;
}

/* Not every system renames, and on a busy machine a turn may come later than a call waits for it. */
static void note(struct worker *w, int rc, const struct reprise_error *e)
{
    if (rc == REPRISE_OK || rc == REPRISE_UNSUPPORTED || rc == REPRISE_LOCKED)
        return;
    fprintf(stderr, "%s\n", e->message);
    w->failures++;
}

/* What a host asks for now and then, and a change of the session. */
static void read_more(struct worker *w)
{
    static const char *const pattern = "pay";
    const struct reprise_search_query q = { .size = sizeof q,
                                            .patterns = &pattern,
                                            .patterns_count = 1 };
    struct reprise_texts *bundle = NULL;
    struct reprise_agents *agents = NULL;
    struct reprise_log *log = NULL;
    struct reprise_trash *trash = NULL;
    struct reprise_error e = { .message = "no hit" };
    int hits = 0;

    note(w, reprise_rename(w->session, "Payments", NULL, &e), &e);
    note(w, reprise_list_log(w->shared, &log, &e), &e);
    note(w, reprise_restore(w->session, NULL, &bundle, &e), &e);
    note(w, reprise_list_agents(w->session, &agents, &e), &e);
    note(w, reprise_list_trash(w->shared, &trash, &e), &e);
    note(w, reprise_search(w->shared, &q, count_hit, &hits, &e), &e);
    note(w, hits ? REPRISE_OK : REPRISE_NOT_FOUND, &e);
    reprise_texts_free(bundle);
    reprise_agents_free(agents);
    reprise_log_free(log);
    reprise_trash_free(trash);
}

/* Stores of its own beside the shared ones. */
static void open_and_list(struct worker *w)
{
    const char *environment[] = { w->home, NULL };
    const struct reprise_options o = {
        .size = sizeof o, .system = w->system, .path = w->path, .environment = environment
    };
    struct reprise *own = NULL;

    w->failures += reprise_open(&o, &own, NULL) != REPRISE_OK;
    if (own)
        list_all(own, w);
    reprise_close(own);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct reprise_error e;
    char id[64];
    int rc;

    for (int i = 0; i < ROUNDS; i++) {
        snprintf(id, sizeof id, "t-%d-%d", w->number, i);
        do
            rc = append_prompt(w->session, id, &e);
        while (rc == REPRISE_LOCKED); /* as in note() */
        note(w, rc, &e);
        list_all(w->shared, w);
        read_session(w->session, w);
        open_and_list(w);
        if (i % (ROUNDS / 2) == 0)
            read_more(w);
    }
    return NULL;
}

static void share(void **state, const char *system, const char *first)
{
    char path[4096], home[4200];
    struct worker worker[THREADS];
    struct reprise *r = open_store(state, system, system);
    struct reprise_session *s = create(r, NULL);
    int failures = 0;

    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    folder_path(*state, system, path);
    assert_int_equal(append_prompt(s, first, NULL), REPRISE_OK);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){
            .shared = r, .session = s, .system = system, .path = path, .home = home, .number = i
        };
        assert_int_equal(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(worker[i].thread, NULL);
        failures += worker[i].failures;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(count_messages(s), 1 + THREADS * ROUNDS);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(threads_share_a_directory_of_go_sessions)
{
    share(state, "goat", "m-1");
}

IN_SCRATCH(threads_share_an_elixir_store)
{
    share(state, "exathena", "m-1");
}

static void *write_rows(void *arg)
{
    struct worker *w = arg;
    char id[64];

    for (int i = 0; i < ROUNDS * ROUNDS; i++) {
        snprintf(id, sizeof id, "w-%d-%d", w->number, i);
        w->failures += write_prompt(w->writer, id) != REPRISE_OK;
        if (i % ROUNDS == 0)
            w->failures += reprise_writer_flush(w->writer, NULL) != REPRISE_OK;
    }
    return NULL;
}

IN_SCRATCH(threads_write_through_one_writer)
{
    const struct reprise_writer_options o = { .size = sizeof o,
                                              .flags = REPRISE_WRITER_BACKGROUND,
                                              .queue_rows = 16 };
    struct worker worker[THREADS];
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, NULL);
    struct reprise_writer *w;
    int failures = 0;

    assert_int_equal(reprise_writer_open(s, &o, &w, NULL), REPRISE_OK);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){ .writer = w, .number = i };
        assert_int_equal(pthread_create(&worker[i].thread, NULL, write_rows, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(worker[i].thread, NULL);
        failures += worker[i].failures;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(reprise_writer_close(w, NULL), REPRISE_OK);
    assert_int_equal(count_messages(s), THREADS * ROUNDS * ROUNDS);
    reprise_session_close(s);
    reprise_close(r);
}
