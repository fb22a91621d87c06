#include "store/demo/goat.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "store/api/host.h"
#include "store/api/store.h"
#include "store/demo/files.h"
#include "store/systems/goat/goat.h"

/* Written through the calls that a host makes (store/api/host.h): what they write is what the demo shows. */

#define RESTOCK "60701e00-0000-4000-8000-000000000001"
#define TIDY "60701e00-0000-4000-8000-000000000002"
#define UUID(n) "60701e00-0000-4000-8000-0000000001" n

enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };

static const char restock[] = "package ops\n"
                              "\n"
                              "func Restock(low int) []string {\n"
                              "\tvar out []string\n"
                              "\tfor _, item := range Stock() {\n"
                              "\t\tif item.Count < low {\n"
                              "\t\t\tout = append(out, item.Name)\n"
                              "\t\t}\n"
                              "\t}\n"
                              "\treturn out\n"
                              "}\n";

static const char *const said[] = {
    ("{\"uuid\":\"" UUID("01") "\",\"role\":\"user\",\"content\":\"List what has to be "
                               "restocked\"}"),
    ("{\"uuid\":\"" UUID(
        "02") "\",\"role\":\"assistant\",\"content\":\"I'll write it.\","
              "\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":"
              "\"Write\",\"arguments\":\"{\\\"file_path\\\":\\\"ops/restock.go\\\"}\"}}]}"),
    ("{\"uuid\":\"" UUID("03") "\",\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":"
                               "\"File written successfully\"}"),
    ("{\"uuid\":\"" UUID("04") "\",\"role\":\"assistant\",\"content\":\"`Restock` names every "
                               "item below the mark now.\"}"),
};

/* A session in the words of the specification, which no program of today writes. */
static enum err_code put_old(const char *config, const char *project, int64_t now_ms, struct err *e)
{
    char path[4096], text[8192], at[TIME_TEXT];
    const char *dir = "projects/a1b2c3d4/sessions/" TIDY;

    time_format(now_ms - 100 * HOUR_MS, at);
    snprintf(path, sizeof path, "%s/%s/metadata.json", config, dir);
    snprintf(text, sizeof text,
             "{\n  \"id\": \"" TIDY "\",\n  \"project_hash\": \"a1b2c3d4\",\n  \"cwd\": \"%s\",\n"
             "  \"model\": \"claude-sonnet-4-5\",\n  \"created_at\": \"%s\",\n"
             "  \"updated_at\": \"%s\",\n  \"message_count\": 2,\n  \"turn_count\": 1,\n"
             "  \"total_tokens\": 4321,\n  \"exit_reason\": \"end_turn\"\n}",
             project, at, at);
    enum err_code rc = demo_put(path, slice_of(text), now_ms, e);

    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/%s/messages.jsonl", config, dir);
    snprintf(
        text, sizeof text,
        "{\"uuid\":\"" UUID(
            "11") "\",\"timestamp\":\"%s\",\"role\":\"user\",\"content\":"
                  "\"Which packages does nothing import?\"}\n"
                  "{\"uuid\":\"" UUID(
                      "12") "\",\"timestamp\":\"%s\",\"role\":\"assistant\",\"content\":"
                            "\"Only `internal/legacy`: nothing has imported it since March.\"}\n",
        at, at);
    return demo_put(path, slice_of(text), now_ms, e);
}

struct goat_writing {
    struct store_env env; /* its clock goes on while the session is told */
    struct store *store;
    struct session_ref ref;
    struct arena arena;
    const char *file;
};

static enum err_code append_message(struct goat_writing *t, const char *text, struct err *e)
{
    const struct slice row = slice_of(text);
    const struct host_append req = { .row = &row, .n = 1 };
    struct host_appended done;

    t->env.now_ms += MINUTE_MS;
    return host_append(t->store, &t->ref, &req, &t->arena, &done, e);
}

static enum err_code write_goat_session(struct goat_writing *t, struct err *e)
{
    const struct host_checkpoint point = { .message = SLICE(UUID("01")),
                                           .file = &t->file,
                                           .files = 1 };
    const struct host_setting settings[] = { { SLICE("message_count"), SLICE("4") },
                                             { SLICE("turn_count"), SLICE("1") },
                                             { SLICE("total_cost_usd"), SLICE("0.0348") },
                                             { SLICE("exit_reason"), SLICE("end_turn") } };
    struct host_checkpointed saved;
    enum err_code rc = append_message(t, said[0], e);

    if (!rc)
        rc = host_checkpoint(t->store, &t->ref, &point, &t->arena, &saved, e);
    if (!rc)
        rc = demo_put(t->file, SLICE(restock), t->env.now_ms, e);
    for (size_t i = 1; i < sizeof said / sizeof *said && !rc; i++)
        rc = append_message(t, said[i], e);
    return rc ? rc : host_set(t->store, &t->ref, settings, sizeof settings / sizeof *settings, e);
}

enum err_code demo_goat(const char *config, const char *project, int64_t now_ms, struct err *e)
{
    struct goat_writing t = {
        .env = { .cwd = project, .claude_config_dir = config, .now_ms = now_ms - 50 * HOUR_MS }
    };
    const struct host_create req = { .id = SLICE(RESTOCK), .model = SLICE("claude-sonnet-4-5") };
    struct host_created made;
    enum err_code rc = ERR_OK;

    if (!(t.file = arena_format(&t.arena, "%s/ops/restock.go", project)))
        rc = err_nomem(e);
    if (!rc)
        rc = host_make(&goat_ops, &t.env, NULL, e);
    if (!rc)
        rc = goat_ops.open(&t.env, NULL, &t.store, e);
    if (!rc)
        rc = host_create(t.store, &req, &t.arena, &made, e);
    if (!rc) /* later: a new session is of the dialect that the store's sessions have */
        rc = put_old(config, project, now_ms, e);
    if (!rc) {
        t.ref = (struct session_ref){ .store = t.store, .id = made.id, .path = made.path };
        rc = write_goat_session(&t, e);
    }
    store_close(t.store);
    arena_fini(&t.arena);
    return rc;
}
