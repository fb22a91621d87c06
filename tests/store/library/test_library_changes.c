#include "tests/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lite/base/time.h"
#include "store/library/library_host.h"

/* What a host does with sessions that exist: it goes on, searches, forks, names, deletes and undoes. */

/* ---- what a host needs to go on ---- */

#define QUOTED(n) "\"" ID(n) "\""

/* A prompt with two answers: the conversation went on from the second one. */
static const char forked_rows[] = MAIN_ROW("user", ID(1), "null", "Pay by card")
    MAIN_ROW("assistant", ID(2), QUOTED(1), "With a token") MAIN_ROW("user", ID(3), QUOTED(2), "No")
        MAIN_ROW("assistant", ID(4), QUOTED(1), "With a TOKEN of its own");

static struct reprise_session *forked_session(struct reprise *r)
{
    struct reprise_session *s = create(r, SID);
    struct reprise_error e;

    if (reprise_append(s, forked_rows, sizeof forked_rows - 1, 0, NULL, &e))
        fail_msg("%s", e.message);
    return s;
}

static bool restores(const struct reprise_session *s, const char *text)
{
    struct reprise_texts *bundle = NULL;

    assert_int_equal(reprise_restore(s, NULL, &bundle, NULL), REPRISE_OK);
    bool found = strstr(reprise_texts_at(bundle, 0, NULL), text) != NULL;

    reprise_texts_free(bundle);
    return found;
}

IN_SCRATCH(a_restore_has_what_the_agent_needs)
{
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = forked_session(r);
    struct reprise_texts *bundle = NULL;

    assert_int_equal(reprise_restore(s, NULL, &bundle, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(bundle), 1);
    const char *json = reprise_texts_at(bundle, 0, NULL);

    assert_non_null(
        strstr(json, "{\"sessionId\":\"" SID "\",\"system\":\"claude\",\"cwd\":\"/srv/app\""));
    assert_non_null(strstr(json, "With a TOKEN of its own"));
    assert_null(strstr(json, "With a token"));
    assert_non_null(strstr(json, "\"interruption\":{\"kind\":\"none\"},\"todos\":[],"));
    reprise_texts_free(bundle);
    assert_int_equal(reprise_restore(s, ID(2), &bundle, NULL), REPRISE_OK);
    assert_non_null(strstr(reprise_texts_at(bundle, 0, NULL), "With a token"));
    reprise_texts_free(bundle);
    assert_int_equal(reprise_restore(s, "nothing", &bundle, NULL), REPRISE_NOT_FOUND);
    reprise_session_close(s);
    reprise_close(r);
}

/* Stores may have been open for a day. */
IN_SCRATCH(what_the_agent_would_add_has_the_present_time)
{
    static const char cut[] = "{\"uuid\":\"t-1\",\"role\":\"tool\",\"content\":\"x\"}\n";
    const struct timespec moment = { .tv_nsec = 20000000 };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_texts *bundle;
    struct timespec now;
    char before[64];

    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(reprise_append(s, cut, sizeof cut - 1, 0, NULL, NULL), REPRISE_OK);
    nanosleep(&moment, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    time_format((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, before);
    assert_int_equal(reprise_restore(s, NULL, &bundle, NULL), REPRISE_OK);
    const char *added = strstr(reprise_texts_at(bundle, 0, NULL), "Continue from");

    assert_non_null(added);
    while (strncmp(added, "\"timestamp\":\"", 13) != 0)
        added--;
    assert_true(strncmp(added + 13, before, 24) >= 0);
    reprise_texts_free(bundle);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_branch_is_listed_and_read)
{
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = forked_session(r);
    struct reprise_branches *branches;
    struct reprise_texts *rows;

    assert_int_equal(reprise_list_branches(s, &branches, NULL), REPRISE_OK);
    assert_int_equal(reprise_branches_count(branches), 1);
    const struct reprise_branch *b = reprise_branches_at(branches, 0);

    assert_string_equal(b->id, ID(3));
    assert_string_equal(b->from, ID(1));
    assert_string_equal(b->prompt, "No");
    assert_int_equal(b->messages, 2);
    assert_null(reprise_branches_at(branches, 1));
    assert_int_equal(reprise_read_branch(s, b->id, &rows, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(rows), 3);
    assert_non_null(strstr(reprise_texts_at(rows, 2, NULL), "\"No\""));
    reprise_texts_free(rows);
    reprise_branches_free(branches);
    assert_int_equal(reprise_read_branch(s, "nothing", &rows, NULL), REPRISE_NOT_FOUND);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(the_sub_agents_of_a_session_are_listed)
{
    static const char row[] = "{\"type\":\"user\",\"uuid\":\"" ID(
        5) "\",\"parentUuid\":null,\"isSidechain\":true,\"agentId\":"
           "\"a77\",\"sessionId\":\"" SID
           "\",\"cwd\":\"/srv/app\",\"timestamp\":\"2026-02-09T02:48:28.000Z\","
           "\"message\":{\"role\":\"user\",\"content\":\"Look for cards\"}}\n";
    const struct reprise_message_query q = { .size = sizeof q, .agent = "a77" };
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = forked_session(r);
    struct reprise_agents *agents;
    struct reprise_texts *messages;

    assert_int_equal(reprise_append(s, row, sizeof row - 1, 0, NULL, NULL), REPRISE_OK);
    assert_int_equal(reprise_list_agents(s, &agents, NULL), REPRISE_OK);
    assert_int_equal(reprise_agents_count(agents), 1);
    assert_string_equal(reprise_agents_at(agents, 0)->id, "a77");
    assert_int_equal(reprise_agents_at(agents, 0)->end, REPRISE_AGENT_OPEN);
    assert_true(reprise_agents_at(agents, 0)->bytes > 100);
    assert_null(reprise_agents_at(agents, 1));
    reprise_agents_free(agents);
    assert_int_equal(reprise_messages(s, &q, &messages, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(messages), 1);
    reprise_texts_free(messages);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_system_without_branches_has_empty_lists)
{
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_branches *branches;
    struct reprise_agents *agents;
    struct reprise_texts *rows;

    assert_int_equal(reprise_list_branches(s, &branches, NULL), REPRISE_OK);
    assert_int_equal(reprise_branches_count(branches), 0);
    assert_int_equal(reprise_list_agents(s, &agents, NULL), REPRISE_OK);
    assert_int_equal(reprise_agents_count(agents), 0);
    assert_int_equal(reprise_read_branch(s, "m-1", &rows, NULL), REPRISE_UNSUPPORTED);
    assert_int_equal(reprise_checkpoint_of(r, "HEAD", &rows, NULL), REPRISE_NOT_FOUND);
    reprise_branches_free(branches);
    reprise_agents_free(agents);
    reprise_session_close(s);
    reprise_close(r);
}

/* ---- search ---- */

struct hits {
    size_t n, aside, most;
    char line[2][64];
};

static int note_hit(const struct reprise_hit *hit, void *arg)
{
    struct hits *h = arg;

    assert_int_equal(hit->size, sizeof *hit);
    assert_string_equal(hit->session, SID);
    assert_int_equal(hit->place, REPRISE_IN_REPLIES);
    assert_int_equal(hit->ranges_count, 1);
    assert_int_equal(hit->line_length, strlen(hit->line));
    assert_int_equal(hit->ranges[0].to - hit->ranges[0].from, 5);
    if (h->n < 2)
        snprintf(h->line[h->n], sizeof h->line[0], "%s", hit->line);
    h->n++;
    h->aside += (hit->flags & REPRISE_HIT_BRANCH) != 0;
    return h->n == h->most;
}

static int search(const struct reprise *r, const char *pattern, uint32_t flags, uint64_t limit,
                  struct hits *found)
{
    const struct reprise_search_query q = {
        .size = sizeof q, .patterns = &pattern, .patterns_count = 1, .limit = limit, .flags = flags
    };

    found->n = found->aside = 0;
    return reprise_search(r, &q, note_hit, found, NULL);
}

IN_SCRATCH(a_search_hands_over_lines_with_their_matches)
{
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = forked_session(r);
    struct hits found = { .most = 0 };

    assert_int_equal(search(r, "token", 0, 0, &found), REPRISE_OK);
    assert_int_equal(found.n, 2);
    assert_int_equal(found.aside, 1);
    assert_int_equal(search(r, "t.ken", REPRISE_SEARCH_CASE, 0, &found), REPRISE_OK);
    assert_int_equal(found.n, 1);
    assert_string_equal(found.line[0], "With a token");
    assert_int_equal(search(r, "t.ken", REPRISE_SEARCH_FIXED, 0, &found), REPRISE_OK);
    assert_int_equal(found.n, 0);
    assert_int_equal(search(r, "token", 0, 1, &found), REPRISE_OK);
    assert_int_equal(found.n, 1);
    found.most = 1;
    assert_int_equal(search(r, "token", 0, 0, &found), REPRISE_CANCELLED);
    assert_int_equal(search(r, "(", 0, 0, &found), REPRISE_USAGE);
    assert_int_equal(search(r, "", 0, 0, &found), REPRISE_USAGE);
    assert_int_equal(search(r, "x", 1u << 31, 0, &found), REPRISE_USAGE);
    assert_int_equal(reprise_search(r, NULL, note_hit, &found, NULL), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(r);
}

/* ---- changes ---- */

static size_t count_sessions(const struct reprise *r)
{
    struct reprise_rows *rows;

    assert_int_equal(reprise_list(r, NULL, &rows, NULL), REPRISE_OK);
    size_t n = reprise_rows_count(rows);

    reprise_rows_free(rows);
    return n;
}

IN_SCRATCH(a_fork_has_the_id_and_the_end_that_the_host_names)
{
    const struct reprise_fork_request request = { .size = sizeof request,
                                                  .id = "pay-2",
                                                  .at = "m-1" };
    struct reprise_fork_result result = { .size = sizeof result };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1"), *copy = NULL;
    struct reprise_error e = { .message = "" };

    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(append_prompt(s, "m-2", NULL), REPRISE_OK);
    if (reprise_fork(s, &request, &result, &copy, &e))
        fail_msg("%s", e.message);
    assert_string_equal(result.id, "pay-2");
    assert_string_equal(result.system, "goat");
    assert_true(result.change[0]);
    assert_string_equal(reprise_session_id(copy), "pay-2");
    assert_string_equal(reprise_session_path(copy), result.path);
    assert_int_equal(count_messages(copy), 1);
    assert_int_equal(count_messages(s), 2);
    assert_int_equal(reprise_fork(s, &request, NULL, NULL, &e), REPRISE_STALE);
    assert_int_equal(reprise_undo(r, result.change, NULL, &e), REPRISE_OK);
    assert_int_equal(count_sessions(r), 1);
    reprise_session_close(copy);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_wrong_fork_is_refused)
{
    struct reprise_fork_request request = { .size = sizeof request, .at = "nothing" };
    struct reprise_fork_result unusable = { .size = 0 };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");

    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(reprise_fork(s, &request, NULL, NULL, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_fork(s, NULL, &unusable, NULL, NULL), REPRISE_USAGE);
    request = (struct reprise_fork_request){ .size = sizeof request, .flags = 1u << 31 };
    assert_int_equal(reprise_fork(s, &request, NULL, NULL, NULL), REPRISE_USAGE);
    request = (struct reprise_fork_request){ .size = sizeof request, .id = "" };
    assert_int_equal(reprise_fork(s, &request, NULL, NULL, NULL), REPRISE_USAGE);
    request.id = "../pay";
    assert_int_equal(reprise_fork(s, &request, NULL, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(count_sessions(r), 1);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(names_and_marks_can_be_undone)
{
    struct reprise_change change = { .size = sizeof change }, undone = { .size = sizeof undone };
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = forked_session(r);
    struct reprise_log *log;

    assert_int_equal(reprise_rename(s, "Payments", &change, NULL), REPRISE_OK);
    assert_string_equal(change.text, "renamed to Payments");
    check_title(s, "Payments");
    assert_int_equal(reprise_tag(s, "cards", NULL, NULL), REPRISE_OK);
    assert_int_equal(reprise_tag(s, NULL, NULL, NULL), REPRISE_OK);
    assert_int_equal(reprise_rename(s, " ", NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_list_log(r, &log, NULL), REPRISE_OK);
    assert_int_equal(reprise_log_count(log), 3);
    const struct reprise_log_entry *first = reprise_log_at(log, 2);

    assert_string_equal(first->id, change.id);
    assert_string_equal(first->kind, "rename");
    assert_int_equal(first->sessions_count, 1);
    assert_string_equal(first->sessions[0], "claude:" SID);
    assert_string_equal(reprise_log_at(log, 0)->text, "tag removed");
    assert_null(reprise_log_at(log, 3));
    reprise_log_free(log);
    assert_int_equal(reprise_redo(r, NULL, NULL), REPRISE_NOT_FOUND);
    for (int i = 0; i < 3; i++)
        assert_int_equal(reprise_undo(r, NULL, &undone, NULL), REPRISE_OK);
    check_title(s, "Pay by card");
    assert_int_equal(reprise_redo(r, &undone, NULL), REPRISE_OK);
    assert_string_not_equal(undone.id, "");
    check_title(s, "Payments");
    assert_int_equal(reprise_undo(r, NULL, NULL, NULL), REPRISE_OK);
    check_title(s, "Pay by card");
    assert_int_equal(reprise_undo(r, "nothing", NULL, NULL), REPRISE_NOT_FOUND);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_session_resumes_where_it_is_told_to)
{
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = forked_session(r);
    struct reprise_change change = { .size = sizeof change };

    assert_int_equal(reprise_resume_at(s, ID(2), NULL, NULL), REPRISE_OK);
    assert_int_equal(count_messages(s), 2);
    assert_int_equal(reprise_resume_at(s, "nothing", NULL, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_tombstone(s, ID(2), 0, &change, NULL), REPRISE_OK);
    assert_false(restores(s, "With a token"));
    assert_int_equal(reprise_tombstone(s, ID(2), 1u << 31, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_undo(r, change.id, NULL, NULL), REPRISE_OK);
    assert_true(restores(s, "With a token"));
    assert_int_equal(reprise_reappend(s, &change, NULL), REPRISE_OK);
    assert_string_equal(change.id, ""); /* nothing to do */
    assert_int_equal(reprise_archive(s, 1, NULL, NULL), REPRISE_OK);
    reprise_session_close(s);
    reprise_close(r);
}

/* The client bridges a gap only between messages that are close in time. */
IN_SCRATCH(what_leaves_with_a_message_can_be_asked)
{
#define AT(minute, uuid, parent)                                                                   \
    "{\"type\":\"user\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent ",\"sessionId\":\"" SID      \
    "\",\"cwd\":\"/srv/app\",\"timestamp\":\"2026-02-09T02:0" minute                               \
    ":00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"" minute "\"}}\n"

    static const char rows[] = AT("1", ID(1), "null") AT("2", ID(2), QUOTED(1))
        AT("3", ID(3), QUOTED(2)) AT("4", ID(4), QUOTED(3)) AT("5", ID(5), QUOTED(4));
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = create(r, SID);
    struct reprise_texts *ids = NULL;
    struct reprise_log *log;

    assert_int_equal(reprise_append(s, rows, sizeof rows - 1, 0, NULL, NULL), REPRISE_OK);
    for (uint32_t flags = 0; flags <= REPRISE_TOMBSTONE_CUT; flags++) {
        assert_int_equal(reprise_tombstone_leaves(s, ID(3), flags, &ids, NULL), REPRISE_OK);
        assert_int_equal(reprise_texts_count(ids), 2);
        assert_string_equal(reprise_texts_at(ids, 0, NULL), ID(1));
        assert_string_equal(reprise_texts_at(ids, 1, NULL), ID(2));
        reprise_texts_free(ids);
        assert_int_equal(reprise_tombstone_leaves(s, ID(1), flags, &ids, NULL), REPRISE_OK);
        assert_int_equal(reprise_texts_count(ids), 0);
        reprise_texts_free(ids);
    }
    assert_int_equal(reprise_tombstone_leaves(s, ID(2), 2, &ids, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_tombstone_leaves(s, ID(9), 0, &ids, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_tombstone_leaves(s, ID(2), 0, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_list_log(r, &log, NULL), REPRISE_OK);
    assert_int_equal(reprise_log_count(log), 0);
    reprise_log_free(log);
    assert_int_equal(count_messages(s), 5);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(what_a_system_cannot_do_is_unsupported)
{
    struct reprise *r = open_store(state, "exathena", "s");
    struct reprise_session *s = create(r, NULL);
    struct reprise_change change = { .size = 0 };
    struct reprise_error e;

    assert_int_equal(reprise_tag(s, "x", NULL, &e), REPRISE_UNSUPPORTED);
    assert_true(e.message[0]);
    assert_int_equal(reprise_resume_at(s, "x", NULL, NULL), REPRISE_UNSUPPORTED);
    assert_int_equal(reprise_rename(s, "x", &change, NULL), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_deleted_session_comes_back_from_the_trash)
{
    struct reprise_delete_result result = { .size = sizeof result };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_trash *trash;
    struct reprise_error e = { .message = "" };

    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    if (reprise_delete(s, 0, &result, &e))
        fail_msg("%s", e.message);
    assert_int_equal(count_sessions(r), 0);
    assert_int_equal(reprise_list_trash(r, &trash, NULL), REPRISE_OK);
    assert_int_equal(reprise_trash_count(trash), 1);
    assert_string_equal(reprise_trash_at(trash, 0)->id, result.trash);
    assert_string_equal(reprise_trash_at(trash, 0)->session, "pay-1");
    assert_string_equal(reprise_trash_at(trash, 0)->title, "pay");
    assert_true(reprise_trash_at(trash, 0)->bytes == result.bytes && result.files > 0);
    assert_null(reprise_trash_at(trash, 1));
    reprise_trash_free(trash);
    assert_int_equal(reprise_trash_restore(r, "nothing", 0, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_trash_restore(r, NULL, 1u << 31, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_trash_restore(r, result.trash, 0, NULL), REPRISE_OK);
    assert_int_equal(count_messages(s), 1);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_session_can_be_deleted_for_good)
{
    struct reprise_delete_result result = { .size = sizeof result };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1"), *other = create(r, "pay-2");

    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(append_prompt(other, "m-1", NULL), REPRISE_OK);
    assert_int_equal(reprise_delete(s, REPRISE_DELETE_PERMANENTLY, &result, NULL), REPRISE_OK);
    assert_string_equal(result.trash, "");
    assert_int_equal(reprise_delete(s, 0, NULL, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_delete(other, 1u << 31, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_delete(other, 0, &result, NULL), REPRISE_OK);
    assert_int_equal(reprise_trash_destroy(r, result.trash, NULL), REPRISE_OK);
    assert_int_equal(reprise_trash_destroy(r, result.trash, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(count_sessions(r), 0);
    reprise_session_close(other);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(a_dialect_is_chosen)
{
    struct reprise_create_request request = { .size = sizeof request, .id = "a", .dialect = "doc" };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = NULL;
    struct reprise_rows *rows;

    assert_int_equal(reprise_create(r, &request, &s, NULL), REPRISE_OK);
    assert_int_equal(append_prompt(s, "m-1", NULL), REPRISE_OK);
    assert_int_equal(reprise_session_row(s, &rows, NULL), REPRISE_OK);
    assert_non_null(strstr(reprise_rows_at(rows, 0)->json, "\"dialect\":\"doc\""));
    reprise_rows_free(rows);
    reprise_session_close(s);
    request.id = "b";
    request.dialect = "nothing";
    assert_int_equal(reprise_create(r, &request, &s, NULL), REPRISE_USAGE);
    reprise_close(r);
}

static bool metadata_has(void **state, const char *text)
{
    char path[4096], bytes[2000];
    FILE *file = fopen(folder_path(*state, "s/pay-1/metadata.json", path), "r");

    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    return strstr(bytes, text) != NULL;
}

IN_SCRATCH(a_row_updates_the_metadata_only_if_that_is_asked_for)
{
    static const char row[] = "{\"role\":\"user\",\"content\":\"pay\"}\n";
    const struct reprise_writer_options o = { .size = sizeof o,
                                              .flags = REPRISE_WRITER_BACKGROUND };
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_writer *w;

    assert_int_equal(reprise_writer_open(s, &o, &w, NULL), REPRISE_OK);
    for (uint32_t flags = 0; flags <= REPRISE_APPEND_SAVE; flags += REPRISE_APPEND_SAVE) {
        assert_int_equal(reprise_writer_append(w, row, sizeof row - 1, flags, NULL, NULL),
                         REPRISE_OK);
        assert_int_equal(reprise_writer_flush(w, NULL), REPRISE_OK);
        assert_true(metadata_has(state, flags ? "\"message_count\": 2" : "\"message_count\": 0"));
    }
    assert_int_equal(reprise_writer_close(w, NULL), REPRISE_OK);
    reprise_session_close(s);
    reprise_close(r);
}
