#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/maintenance/sweep.h"
#include "tests/store/systems/goat/goat_host.h"

/* A host that writes Go sessions (docs/formats/goat.md). */

static void holds(const struct shop *s, const char *name, const char *want)
{
    char path[4096];

    snprintf(path, sizeof path, "p/sessions/s-1/%s", name);
    size_t n;
    char *text = folder_get(&s->folder, path, &n);

    assert_string_equal(text, want);
    free(text);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_new_session_is_written_as_the_package_writes_it)
{
    struct shop *s = *state;
    char want[8192];

    snprintf(want, sizeof want,
             "{\n  \"id\": \"s-1\",\n  \"cwd\": \"%s\",\n  \"model\": \"m\",\n"
             "  \"created_at\": \"2026-02-09T02:48:28.12Z\",\n"
             "  \"updated_at\": \"2026-02-09T02:48:28.12Z\",\n  \"message_count\": 0,\n"
             "  \"turn_count\": 0,\n  \"total_cost_usd\": 0,\n"
             "  \"leaf_title\": \"\\u003cT\\u003e\"\n}",
             s->cwd);
    holds(s, "metadata.json", want);
}

CASE(an_id_is_given_once_and_must_be_one)
{
    static const char *const bad[] = {
        "", "..", "a/b", "-x", "memory", "agent-memory", "my-memory"
    };
    struct shop *s = *state;
    struct host_created made;
    struct host_create req = { .id = SLICE("s-1") };

    assert_int_equal(host_create(s->store, &req, &s->a, &made, NULL), ERR_STALE);
    for (size_t i = 1; i < sizeof bad / sizeof *bad; i++) {
        req.id = slice_of(bad[i]);
        assert_int_equal(host_create(s->store, &req, &s->a, &made, NULL), ERR_USAGE);
    }
}

#define U1 "{\"uuid\":\"u-1\",\"timestamp\":\"2026-02-09T02:48:28Z\","

CASE(messages_are_wrapped_in_the_sessions_dialect)
{
    struct shop *s = *state;

    assert_int_equal(append(s, U1 "\"role\":\"user\",\"content\":\"a < b\"}\n", false), ERR_OK);
    assert_int_equal(append(s, "{\"uuid\":\"u-2\",\"message\":{\"role\":\"assistant\"}}\n", false),
                     ERR_OK);
    holds(s, "messages.jsonl",
          U1 "\"message\":{\"role\":\"user\",\"content\":\"a \\u003c b\"}}\n"
             "{\"uuid\":\"u-2\",\"timestamp\":\"2026-02-09T02:48:28.12Z\",\"message\":{\"role\":"
             "\"assistant\",\"content\":null}}\n");
}

/* The order of the structs and the spelling of the encoder, whatever the host's own are. */
CASE(messages_have_the_bytes_that_gos_encoder_writes)
{
    struct shop *s = *state;

    assert_int_equal(append(s,
                            U1
                            "\"x\":1e21,\"tool_call_id\":\"c\",\"content\":\"\\u00e9\\/\\u0008\","
                            "\"name\":null,\"role\":\"tool\"}\n",
                            false),
                     ERR_OK);
    holds(s, "messages.jsonl",
          U1 "\"message\":{\"role\":\"tool\",\"content\":\"\xc3\xa9/\\b\",\"tool_call_id\":\"c\","
             "\"x\":1e21}}\n");
}

CASE(tool_rows_of_the_document_name_their_call_first)
{
    struct shop *s = *state;

    folder_put(&s->folder, "p/sessions/s-1/metadata.json",
               SLICE("{\"session_id\":\"s-1\",\"created_at\":\"2026-02-09T02:48:28Z\"}"));
    assert_int_equal(
        append(s, U1 "\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"c\"}\n", false),
        ERR_OK);
    holds(s, "messages.jsonl", U1 "\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"x\"}\n");
}

/* Go's loader skips a line whose members have other types than its structs. */
CASE(rows_that_go_could_not_load_are_refused)
{
    static const char *const bad[] = { "\"content\":5",          "\"content\":[\"x\"]",
                                       "\"tool_calls\":\"x\"",   "\"tool_calls\":[1]",
                                       "\"tool_call_id\":7",     "\"name\":{}",
                                       "\"timestamp\":\"soon\"", "\"timestamp\":\"\"" };
    struct shop *s = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char row[200];

        snprintf(row, sizeof row, "{\"role\":\"user\",%s}\n", bad[i]);
        assert_int_equal(append(s, row, false), ERR_USAGE);
    }
    assert_false(folder_has(&s->folder, "p/sessions/s-1/messages.jsonl"));
    assert_int_equal(append(s, "{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}\n", false),
                     ERR_OK);
}

CASE(messages_of_a_flat_session_stay_flat)
{
    struct shop *s = *state;

    folder_put(&s->folder, "p/sessions/s-1/metadata.json",
               SLICE("{\"session_id\":\"s-1\",\"created_at\":\"2026-02-09T02:48:28Z\"}"));
    assert_int_equal(append(s, U1 "\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n", false),
                     ERR_OK);
    holds(s, "messages.jsonl", U1 "\"role\":\"user\",\"content\":\"x\"}\n");
}

CASE(an_invalid_message_is_refused_as_a_whole)
{
    struct shop *s = *state;

    assert_int_equal(append(s, U1 "\"role\":\"user\"}\n{\"x\":1}\n", false), ERR_USAGE);
    assert_int_equal(append(s, U1 "\"role\":\"user\"}\n", true), ERR_USAGE);
    assert_false(folder_has(&s->folder, "p/sessions/s-1/messages.jsonl"));
}

CASE(the_stream_names_its_session)
{
    struct shop *s = *state;

    assert_int_equal(append(s, "{\"type\":\"status\",\"uuid\":\"u-1\"}\n", true), ERR_OK);
    holds(s, "transcript.jsonl", "{\"uuid\":\"u-1\",\"session_id\":\"s-1\",\"type\":\"status\"}\n");
}

CASE(a_torn_line_is_never_glued_to)
{
    struct shop *s = *state;

    folder_put(&s->folder, "p/sessions/s-1/messages.jsonl", SLICE("{\"uuid\":\"u"));
    assert_int_equal(append(s, U1 "\"role\":\"user\"}\n", false), ERR_OK);
    holds(s, "messages.jsonl",
          "{\"uuid\":\"u\n" U1 "\"message\":{\"role\":\"user\",\"content\":null}}\n");
}

/* The lock is a file beside the log, 0600, and is left in place. */
CASE(the_lock_file_stays)
{
    struct shop *s = *state;
    char path[4096];
    struct stat sb;

    assert_int_equal(append(s, U1 "\"role\":\"user\"}\n", false), ERR_OK);
    folder_path(&s->folder, "p/sessions/s-1/messages.jsonl.lock", path);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 07777, 0600);
    assert_int_equal(sb.st_size, 0);
}

CASE(the_lock_holder_excludes_other_writers)
{
    struct shop *s = *state;
    const struct host_setting setting = { SLICE("turn_count"), SLICE("1") };
    struct live live;
    char path[4096];

    folder_path(&s->folder, "p/sessions/s-1/messages.jsonl.lock", path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(goat_ops.live(s->store, &s->ref, &live, NULL), ERR_OK);
    assert_int_equal(live.state, LIVE_RUNNING);
    assert_int_equal(host_set(s->store, &s->ref, &setting, 1, NULL), ERR_LOCKED);
    close(fd);
    assert_int_equal(host_set(s->store, &s->ref, &setting, 1, NULL), ERR_OK);
}

/* Members unknown to the dialect survive. */
CASE(settings_change_nothing_else)
{
    struct shop *s = *state;
    const struct host_setting setting[] = { { SLICE("turn_count"), SLICE("7") },
                                            { SLICE("exit_reason"), SLICE("") } };

    folder_put(
        &s->folder, "p/sessions/s-1/metadata.json",
        SLICE("{\"session_id\":\"s-1\",\"created_at\":\"2026-02-09T02:48:28Z\",\"turn_count\":5,"
              "\"total_cost_usd\":0.0234,\"exit_reason\":\"end_turn\",\"ours\":{\"big\":"
              "12345678901234567890}}"));
    assert_int_equal(host_set(s->store, &s->ref, setting, 2, NULL), ERR_OK);
    holds(s, "metadata.json",
          "{\n  \"session_id\": \"s-1\",\n  \"created_at\": \"2026-02-09T02:48:28Z\",\n"
          "  \"turn_count\": 7,\n  \"total_cost_usd\": 0.0234,\n  \"exit_reason\": \"\",\n"
          "  \"ours\": {\n    \"big\": 12345678901234567890\n  }\n}");
}

CASE(costs_are_written_as_go_writes_floats)
{
    static const char *const cases[][2] = {
        { "1e21", "1e+21" },     { "1e20", "100000000000000000000" },
        { "0.0000001", "1e-7" }, { "100.0", "100" },
        { "0.0234", "0.0234" },  { "-0", "-0" },
    };
    struct shop *s = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct host_setting cost = { SLICE("total_cost_usd"),
                                           { cases[i][0], strlen(cases[i][0]) } };
        char want[80];
        size_t n;

        assert_int_equal(host_set(s->store, &s->ref, &cost, 1, NULL), ERR_OK);
        snprintf(want, sizeof want, "\"total_cost_usd\": %s,", cases[i][1]);
        char *text = folder_get(&s->folder, "p/sessions/s-1/metadata.json", &n);

        assert_non_null(strstr(text, want));
        free(text);
    }
}

CASE(invalid_settings_are_refused)
{
    struct shop *s = *state;
    const struct host_setting endless = { SLICE("total_cost_usd"), SLICE("1e400") };
    const struct host_setting number = { SLICE("turn_count"), SLICE("x") };
    const struct host_setting unknown = { SLICE("colour"), SLICE("red") };

    assert_int_equal(host_set(s->store, &s->ref, &number, 1, NULL), ERR_USAGE);
    assert_int_equal(host_set(s->store, &s->ref, &unknown, 1, NULL), ERR_USAGE);
    assert_int_equal(host_set(s->store, &s->ref, &endless, 1, NULL), ERR_USAGE);
}

#define A "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806" /* "one\n" */
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static enum err_code checkpoint(struct shop *s, const char *id, const char *const file[], size_t n,
                                struct host_checkpointed *done)
{
    const struct host_checkpoint req = { .message = { id, strlen(id) }, .file = file, .files = n };

    return host_checkpoint(s->store, &s->ref, &req, &s->a, done, NULL);
}

CASE(a_checkpoint_keeps_each_content_once)
{
    struct shop *s = *state;
    char one[4096], two[4096], empty[4096], none[4096], want[20000];
    const char *file[] = { one, two, empty, none };
    struct host_checkpointed done;

    folder_put(&s->folder, "ws/one", SLICE("one\n"));
    folder_put(&s->folder, "ws/two", SLICE("one\n"));
    folder_put(&s->folder, "ws/empty", SLICE(""));
    folder_path(&s->folder, "ws/one", one);
    folder_path(&s->folder, "ws/two", two);
    folder_path(&s->folder, "ws/empty", empty);
    folder_path(&s->folder, "ws/none", none);
    assert_int_equal(checkpoint(s, "cp-1", file, 4, &done), ERR_OK);
    assert_int_equal(done.files, 4);
    assert_int_equal(done.fresh, 2);
    snprintf(
        want, sizeof want,
        "{\n  \"user_message_uuid\": \"cp-1\",\n  \"created_at\": \"2026-02-09T02:48:28.12Z\",\n"
        "  \"files\": [\n"
        "    {\n      \"path\": \"%s\",\n      \"exists\": true,\n      \"hash\": \"" A "\",\n"
        "      \"size\": 4\n    },\n"
        "    {\n      \"path\": \"%s\",\n      \"exists\": true,\n      \"hash\": \"" A "\",\n"
        "      \"size\": 4\n    },\n"
        "    {\n      \"path\": \"%s\",\n      \"exists\": true,\n      \"hash\": \"" EMPTY
        "\"\n    },\n"
        "    {\n      \"path\": \"%s\",\n      \"exists\": false\n    }\n  ]\n}",
        one, two, empty, none);
    holds(s, "checkpoints/cp-1/manifest.json", want);
    holds(s, "checkpoints/cp-1/files/" A, "one\n");
}

CASE(the_first_saved_content_is_kept)
{
    struct shop *s = *state;
    char one[4096];
    const char *file[] = { one };
    struct host_checkpointed done;

    folder_put(&s->folder, "ws/one", SLICE("one\n"));
    folder_path(&s->folder, "ws/one", one);
    assert_int_equal(checkpoint(s, "cp-1", file, 1, &done), ERR_OK);
    size_t n;
    char *before = folder_get(&s->folder, "p/sessions/s-1/checkpoints/cp-1/manifest.json", &n);

    folder_put(&s->folder, "ws/one", SLICE("other\n"));
    assert_int_equal(checkpoint(s, "cp-1", file, 1, &done), ERR_OK);
    assert_int_equal(done.fresh, 0);
    holds(s, "checkpoints/cp-1/manifest.json", before);
    free(before);
}

/* The doc dialect has relative paths, blobs/ and no `exists`, except for a missing file. */
CASE(a_checkpoint_of_the_doc_dialect_uses_its_names)
{
    struct shop *s = *state;
    char one[4096], none[4096], metadata[8192];
    const char *file[] = { one, none };
    struct host_checkpointed done;

    snprintf(metadata, sizeof metadata, "{\"session_id\":\"s-1\",\"cwd\":\"%s\"}", s->cwd);
    folder_put(&s->folder, "p/sessions/s-1/metadata.json", slice_of(metadata));
    folder_put(&s->folder, "ws/src/one", SLICE("one\n"));
    folder_path(&s->folder, "ws/src/one", one);
    folder_path(&s->folder, "ws/none", none);
    assert_int_equal(checkpoint(s, "cp-001", file, 2, &done), ERR_OK);
    holds(s, "checkpoints/cp-001/manifest.json",
          "{\n  \"checkpoint_id\": \"cp-001\",\n  \"created_at\": \"2026-02-09T02:48:28.12Z\",\n"
          "  \"files\": [\n    {\n      \"path\": \"src/one\",\n      \"hash\": \"" A "\"\n    },\n"
          "    {\n      \"path\": \"none\",\n      \"exists\": false\n    }\n  ]\n}");
    holds(s, "checkpoints/cp-001/blobs/" A, "one\n");
}

CASE(a_link_is_not_saved)
{
    struct shop *s = *state;
    char link[4096];
    const char *file[] = { link };
    struct host_checkpointed done;

    folder_path(&s->folder, "ws/link", link);
    assert_int_equal(symlink("/etc/hostname", link), 0);
    assert_int_equal(checkpoint(s, "cp-1", file, 1, &done), ERR_UNSAFE);
    assert_int_equal(checkpoint(s, "../cp", file, 1, &done), ERR_USAGE);
}

/* ---- sweeping ---- */

CASE(a_session_with_only_metadata_is_swept_unless_it_continues)
{
    struct shop *s = *state;
    char state_dir[4096], data_dir[4096], log_path[4096];
    const struct sweep_rule rule = { .scope = { .all = true },
                                     .include = SWEEP_NAMED,
                                     .before_ms = INT64_MAX };
    struct change_log *log;
    struct trash_list moved;
    struct sweep sweep;

    s->env.state_dir = folder_path(&s->folder, "state", state_dir);
    s->env.data_dir = folder_path(&s->folder, "data", data_dir);
    assert_int_equal(change_log_open(&s->env, &log, NULL), ERR_OK);
    assert_int_equal(sweep_find(&s->store, 1, &rule, &sweep, NULL), ERR_OK);
    assert_int_equal(sweep.n, 1);
    folder_put(&s->folder, "p/sessions/s-1/messages.jsonl", SLICE("{}\n"));
    assert_int_equal(sweep_move(log, &s->env, &sweep, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 0);
    trash_list_fini(&moved);
    sweep_fini(&sweep);

    assert_int_equal(unlink(folder_path(&s->folder, "p/sessions/s-1/messages.jsonl", log_path)), 0);
    assert_int_equal(sweep_find(&s->store, 1, &rule, &sweep, NULL), ERR_OK);
    assert_int_equal(sweep_move(log, &s->env, &sweep, &moved, NULL), ERR_OK);
    assert_int_equal(moved.n, 1);
    trash_list_fini(&moved);
    sweep_fini(&sweep);
    change_log_close(log);
}
