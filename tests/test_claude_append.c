#include "tests/test.h"

#include <stdlib.h>

#include "lite/json.h"
#include "lite/window.h"
#include "store/host/host.h"
#include "store/systems/claude/claude.h"
#include "tests/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"

/* A host at a store of its own. */
struct shop {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct arena a;
    struct host_created made;
    struct session_ref ref;
    char config[4096];
};

static int set_up(void **state)
{
    struct shop *s = calloc(1, sizeof *s);
    const struct host_create req = { .id = SLICE(ID), .title = SLICE("A host's own") };

    folder_make(&s->folder);
    folder_path(&s->folder, "config", s->config);
    s->env = (struct store_env){ .cwd = s->folder.path, .now_ms = 1700000000000 };
    assert_int_equal(host_make(&claude_ops, &s->env, s->config, NULL), ERR_OK);
    assert_int_equal(claude_ops.open(&s->env, s->config, &s->store, NULL), ERR_OK);
    assert_int_equal(host_create(s->store, &req, &s->a, &s->made, NULL), ERR_OK);
    s->ref = (struct session_ref){ .store = s->store, .id = s->made.id, .path = s->made.path };
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct shop *s = *state;

    store_close(s->store);
    arena_fini(&s->a);
    folder_remove(&s->folder);
    free(s);
    return 0;
}

static char *transcript(const struct shop *s, size_t *n)
{
    return folder_get(&s->folder, s->made.path.p + strlen(s->folder.path) + 1, n);
}

static enum err_code append(struct shop *s, const char *rows, struct host_appended *done)
{
    struct host_append req = { 0 };
    struct slice *row;

    assert_int_equal(host_rows((struct slice){ rows, strlen(rows) }, &s->a, &row, &req.n, NULL),
                     ERR_OK);
    req.row = row;
    return host_append(s->store, &s->ref, &req, &s->a, done, NULL);
}

static void a_new_session_begins_as_the_client_begins_it(void **state)
{
    struct shop *s = *state;
    size_t n;
    char *text = transcript(s, &n);

    assert_string_equal(text, "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"" ID "\"}\n"
                              "{\"type\":\"custom-title\",\"customTitle\":\"A host's own\","
                              "\"sessionId\":\"" ID "\"}\n");
    assert_int_equal(s->made.unsaved, 0);
    free(text);
}

static void an_id_is_given_once(void **state)
{
    struct shop *s = *state;
    const struct host_create same = { .id = SLICE(ID) }, path = { .id = SLICE("../" ID) },
                             other = { .id = SLICE("deploy-123") };
    struct host_created made;

    assert_int_equal(host_create(s->store, &same, &s->a, &made, NULL), ERR_STALE);
    assert_int_equal(host_create(s->store, &path, &s->a, &made, NULL), ERR_USAGE);
    assert_int_equal(host_create(s->store, &other, &s->a, &made, NULL), ERR_USAGE);
}

static void what_has_no_place_is_named(void **state)
{
    struct shop *s = *state;
    const struct host_create req = { .model = SLICE("m"), .parent = SLICE(ID) };
    struct host_created made;

    assert_int_equal(host_create(s->store, &req, &s->a, &made, NULL), ERR_OK);

    assert_int_equal(made.unsaved, HOST_MODEL | HOST_PARENT);
    assert_true(claude_is_uuid(made.id));
}

static void rows_hang_on_the_row_before_and_keep_their_own_bytes(void **state)
{
    struct shop *s = *state;
    struct host_appended done;
    struct slice value;
    size_t n;

    assert_int_equal(append(s,
                            "{\"type\":\"user\", \"x\":1.50,\"message\":{}}\n \n"
                            "{\"type\":\"assistant\",\"uuid\":\"u2\",\"message\":{}}\n",
                            &done),
                     ERR_OK);
    assert_int_equal(append(s, "{\"type\":\"user\",\"message\":{}}", &done), ERR_OK);

    assert_int_equal(done.n, 1);
    char *text = transcript(s, &n);
    const char *third = strstr(text, "{\"type\":\"user\", \"x\":1.50,\"message\":{},");

    assert_non_null(third);
    const char *end = memrchr(text, '\n', n - 1), *last = end + 1;

    assert_true(json_get((struct slice){ last, strlen(last) - 1 }, "parentUuid", &value));
    assert_true(slice_eq(value, SLICE("\"u2\"")));
    free(text);
}

static void a_bad_row_takes_all_of_them_along(void **state)
{
    struct shop *s = *state;
    struct host_appended done;
    char *before = folder_image(&s->folder, "config");

    assert_int_equal(append(s, "{\"type\":\"user\",\"message\":{}}\n[]", &done), ERR_USAGE);
    assert_int_equal(append(s, "{\"type\":\"user\",\"message\":{}}\n{\"a\":1}", &done), ERR_USAGE);

    char *after = folder_image(&s->folder, "config");

    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void a_long_row_does_not_push_the_title_out_of_the_window(void **state)
{
    struct shop *s = *state;
    struct host_appended done;
    char *row = malloc(2 * WINDOW_BYTES);
    size_t n;
    int begin = snprintf(row, WINDOW_BYTES, "{\"type\":\"user\",\"message\":\"");

    memset(row + begin, 'x', WINDOW_BYTES);
    memcpy(row + begin + WINDOW_BYTES, "\"}", 3);
    assert_int_equal(append(s, row, &done), ERR_OK);

    char *text = transcript(s, &n);

    assert_non_null(strstr(text + n - 400, "A host's own"));
    free(text);
    free(row);
}

static void settings_are_rows_and_none_is_set_when_one_is_wrong(void **state)
{
    struct shop *s = *state;
    const struct host_setting good[] = { { SLICE("title"), SLICE("T") },
                                         { SLICE("agentName"), SLICE("") } };
    const struct host_setting bad[] = { { SLICE("title"), SLICE("U") },
                                        { SLICE("color"), SLICE("red") } };
    size_t n;

    assert_int_equal(host_set(s->store, &s->ref, good, 2, NULL), ERR_OK);
    assert_int_equal(host_set(s->store, &s->ref, bad, 2, NULL), ERR_USAGE);

    char *text = transcript(s, &n);

    assert_non_null(strstr(text,
                           "{\"type\":\"custom-title\",\"customTitle\":\"T\",\"sessionId\":\"" ID
                           "\"}\n{\"type\":\"agent-name\",\"agentName\":\"\",\"sessionId\":"));
    assert_null(strstr(text, "\"U\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_session_begins_as_the_client_begins_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_id_is_given_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_no_place_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_hang_on_the_row_before_and_keep_their_own_bytes,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_bad_row_takes_all_of_them_along, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_row_does_not_push_the_title_out_of_the_window,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(settings_are_rows_and_none_is_set_when_one_is_wrong, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
