#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/library/library_host.h"

/* Sessions that go to the store of a team and come back. */

static struct reprise *open_team(void **state)
{
    char path[4096], config[4200], home[4200];
    const char *environment[] = { home, config, NULL };
    const struct reprise_options o = { .size = sizeof o,
                                       .system = "team",
                                       .plugin = COMPLETE_STORE,
                                       .path = folder_path(*state, "team", path),
                                       .environment = environment };
    struct reprise_error e;
    struct reprise *r;

    folder_dir(*state, "team");
    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    snprintf(config, sizeof config, "CLAUDE_CONFIG_DIR=%s", scratch_path(state, "claude"));
    if (reprise_open(&o, &r, &e))
        fail_msg("%s", e.message);
    return r;
}

static void read_file(const char *path, char *out, size_t cap)
{
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    out[fread(out, 1, cap - 1, f)] = '\0';
    fclose(f);
}

static void append_row(const struct reprise_session *s, const char *row)
{
    assert_int_equal(reprise_append(s, row, strlen(row), 0, NULL, NULL), REPRISE_OK);
}

IN_SCRATCH(a_session_is_pushed_and_retrieved)
{
    struct reprise *here = open_store(state, "claude", "claude"), *team = open_team(state);
    struct reprise_session *s = create(here, SID), *there;
    struct reprise_push_result pushed = { .size = sizeof pushed };
    struct reprise_retrieve_result got = { .size = sizeof got };
    char before[4096], after[4096];

    append_row(s, MAIN_ROW("user", ID(1), "null", "pay"));
    read_file(reprise_session_path(s), before, sizeof before);
    assert_int_equal(reprise_push(s, team, REPRISE_PUSH_DRY_RUN, &pushed, NULL), REPRISE_OK);
    assert_true(pushed.rows > 0 && pushed.is_new);
    assert_int_equal(reprise_session_open(team, SID, &there, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_push(s, team, 0, &pushed, NULL), REPRISE_OK);
    assert_true(pushed.rows > 0 && pushed.is_new);
    assert_int_equal(reprise_push(s, team, 0, &pushed, NULL), REPRISE_OK);
    assert_true(pushed.rows == 0 && !pushed.is_new);
    assert_int_equal(reprise_session_open(team, SID, &there, NULL), REPRISE_OK);
    assert_int_equal(reprise_retrieve(there, 0, &got, NULL), REPRISE_OK);
    assert_int_equal(got.files, 0);
    assert_string_equal(got.path, reprise_session_path(s));
    assert_int_equal(unlink(got.path), 0);
    assert_int_equal(reprise_retrieve(there, 0, &got, NULL), REPRISE_OK);
    assert_int_equal(got.files, 1);
    read_file(got.path, after, sizeof after);
    assert_string_equal(after, before);
    assert_int_equal(reprise_undo(here, got.change, NULL, NULL), REPRISE_OK);
    assert_int_equal(access(got.path, F_OK), -1);
    reprise_session_close(there);
    reprise_session_close(s);
    reprise_close(team);
    reprise_close(here);
}

IN_SCRATCH(rows_that_the_other_side_lacks_are_kept)
{
    struct reprise *here = open_store(state, "claude", "claude"), *team = open_team(state);
    struct reprise_session *s = create(here, SID), *there;
    struct reprise_retrieve_result got = { .size = sizeof got };

    append_row(s, MAIN_ROW("user", ID(1), "null", "pay"));
    assert_int_equal(reprise_push(s, team, 0, NULL, NULL), REPRISE_OK);
    assert_int_equal(reprise_session_open(team, SID, &there, NULL), REPRISE_OK);
    append_row(s, MAIN_ROW("assistant", ID(2), "\"" ID(1) "\"", "paid"));
    assert_int_equal(reprise_retrieve(there, 0, NULL, NULL), REPRISE_STALE);
    assert_int_equal(count_messages(s), 2);
    assert_int_equal(reprise_retrieve(there, REPRISE_RETRIEVE_REPLACE, &got, NULL), REPRISE_OK);
    assert_int_equal(count_messages(s), 1);
    assert_int_equal(reprise_undo(here, got.change, NULL, NULL), REPRISE_OK);
    assert_int_equal(count_messages(s), 2);
    reprise_session_close(there);
    reprise_session_close(s);
    reprise_close(team);
    reprise_close(here);
}

IN_SCRATCH(only_local_sessions_go_to_one_store_of_a_plug_in)
{
    struct reprise *here = open_store(state, "goat", "s"), *team = open_team(state);
    struct reprise_session *s = create(here, "pay-1");

    assert_int_equal(reprise_push(s, here, 0, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_push(s, team, 1 << 4, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_push(s, team, 0, NULL, NULL), REPRISE_UNSUPPORTED);
    assert_int_equal(reprise_retrieve(s, 1 << 1, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_retrieve(s, 0, NULL, NULL), REPRISE_UNSUPPORTED);
    reprise_session_close(s);
    reprise_close(team);
    reprise_close(here);
}

IN_SCRATCH(secrets_are_not_pushed_if_that_is_asked_for)
{
    static const char secret[] = "ghp_x7Kq2mZ9aB4cD8eF1gH3jL5nP6rS0tU2vW4y";
    struct reprise *here = open_store(state, "claude", "claude"), *team = open_team(state);
    struct reprise_session *s = create(here, SID), *there;
    struct reprise_push_result pushed = { .size = sizeof pushed };
    struct reprise_retrieve_result got = { .size = sizeof got };
    char text[4096];

    append_row(
        s, MAIN_ROW("user", ID(1), "null", "use ghp_x7Kq2mZ9aB4cD8eF1gH3jL5nP6rS0tU2vW4y to pay"));
    for (int i = 0; i < 2; i++) { /* repeating it adds nothing */
        assert_int_equal(reprise_push(s, team, REPRISE_PUSH_REDACT, &pushed, NULL), REPRISE_OK);
        assert_int_equal(pushed.rows > 0, i == 0);
    }
    read_file(reprise_session_path(s), text, sizeof text);
    assert_non_null(strstr(text, secret)); /* the session itself is unchanged */
    assert_int_equal(reprise_session_open(team, SID, &there, NULL), REPRISE_OK);
    assert_int_equal(unlink(reprise_session_path(s)), 0);
    assert_int_equal(reprise_retrieve(there, 0, &got, NULL), REPRISE_OK);
    read_file(got.path, text, sizeof text);
    assert_null(strstr(text, secret));
    assert_non_null(strstr(text, "use REDACTED to pay"));
    reprise_session_close(there);
    reprise_session_close(s);
    reprise_close(team);
    reprise_close(here);
}
