#include <limits.h>

#include "lite/base/arena.h"
#include "store/api/host.h"
#include "store/api/store.h"
#include "store/demo/demo_internal.h"
#include "store/systems/goat/goat.h"

/* Go directory sessions of two dialects, one with a checkpoint. The first is written by the calls for hosts
 * (store/api/host.h). */

#define RESTOCK "60701e01-0000-4000-8000-000000000001"
#define TIDY "60701e02-0000-4000-8000-000000000002"
#define ROW(n) "60701e00-0000-4000-8000-0000000001" n

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

/* ---- the dialect of the specification, which no program writes any more ---- */

static enum err_code demo_goat_put_file(const char *config, const char *name,
                                        const struct buf *text, int64_t now_ms, struct err *e)
{
    char path[PATH_MAX];

    TRY(DEMO_JOIN(path, e, config, "/projects/a1b2c3d4/sessions/" TIDY, name));
    return demo_put(path, buf_slice(text), now_ms, e);
}

static enum err_code put_old(const char *config, const char *project, int64_t now_ms, struct err *e)
{
    const int64_t at = now_ms - 100 * HOUR_MS;
    struct buf metadata = { 0 }, messages = { 0 };
    enum err_code rc =
        demo_json(&metadata,
                  "{\n  'id': '" TIDY "',\n  'project_hash': 'a1b2c3d4',\n  'cwd': $s,\n"
                  "  'model': 'claude-sonnet-4-5',\n  'created_at': $t,\n  'updated_at': $t,\n"
                  "  'message_count': 2,\n  'turn_count': 1,\n  'total_tokens': 4321,\n"
                  "  'exit_reason': 'end_turn'\n}",
                  project, at, at);

    if (!rc)
        rc = demo_json(
            &messages,
            "{'uuid':'" ROW("11") "','timestamp':$t,'role':'user',"
                                  "'content':'Which packages does nothing import?'}\n"
                                  "{'uuid':'" ROW("12") "','timestamp':$t,'role':'assistant',"
                                                        "'content':'Only `internal/legacy`: "
                                                        "nothing has imported it since March.'}\n",
            at, at);
    rc = rc ? err_nomem(e) : demo_goat_put_file(config, "/metadata.json", &metadata, now_ms, e);
    if (!rc)
        rc = demo_goat_put_file(config, "/messages.jsonl", &messages, now_ms, e);
    buf_fini(&metadata);
    buf_fini(&messages);
    return rc;
}

/* ---- by the calls for hosts ---- */

struct goat_host {
    struct store_env env; /* its clock advances from call to call */
    struct store *store;
    struct session_ref ref;
    struct arena arena;
    const char *file;
};

static enum err_code append_row(struct goat_host *h, struct err *e, const char *form, ...)
{
    struct buf row = { 0 };
    struct host_appended done;
    va_list args;

    va_start(args, form);
    enum err_code rc = demo_json_list(&row, form, args);
    va_end(args);
    const struct slice one = buf_slice(&row);
    const struct host_append req = { .row = &one, .n = 1 };

    h->env.now_ms += MINUTE_MS;
    rc = rc ? err_nomem(e) : host_append(h->store, &h->ref, &req, &h->arena, &done, e);
    buf_fini(&row);
    return rc;
}

static enum err_code write_session(struct goat_host *h, struct err *e)
{
    const struct host_checkpoint point = { .message = SLICE(ROW("01")),
                                           .file = &h->file,
                                           .files = 1 };
    const struct host_setting settings[] = { { SLICE("message_count"), SLICE("4") },
                                             { SLICE("turn_count"), SLICE("1") },
                                             { SLICE("total_cost_usd"), SLICE("0.0348") },
                                             { SLICE("exit_reason"), SLICE("end_turn") } };
    struct host_checkpointed saved;

    TRY(append_row(h, e, "{'uuid':'" ROW("01") "','role':'user','content':$s}",
                   "List what has to be restocked"));
    TRY(host_checkpoint(h->store, &h->ref, &point, &h->arena, &saved, e));
    TRY(demo_put(h->file, SLICE(restock), h->env.now_ms, e));
    TRY(append_row(h, e,
                   "{'uuid':'" ROW("02") "','role':'assistant','content':$s,"
                                         "'tool_calls':[{'id':'call_1','type':'function',"
                                         "'function':{'name':'Write','arguments':$s}}]}",
                   "I'll write it.", "{\"file_path\":\"ops/restock.go\"}"));
    TRY(append_row(h, e,
                   "{'uuid':'" ROW("03") "','role':'tool','tool_call_id':'call_1','content':$s}",
                   "File written successfully"));
    TRY(append_row(h, e, "{'uuid':'" ROW("04") "','role':'assistant','content':$s}",
                   "`Restock` names every item below the mark now."));
    return host_set(h->store, &h->ref, settings, sizeof settings / sizeof *settings, e);
}

enum err_code demo_goat(const char *config, const char *project, int64_t now_ms, struct err *e)
{
    struct goat_host h = {
        .env = { .cwd = project, .claude_config_dir = config, .now_ms = now_ms - 50 * HOUR_MS }
    };
    const struct host_create req = { .id = SLICE(RESTOCK), .model = SLICE("claude-sonnet-4-5") };
    struct host_created made;
    enum err_code rc = ERR_OK;

    if (!(h.file = arena_format(&h.arena, "%s/ops/restock.go", project)))
        rc = err_nomem(e);
    if (!rc)
        rc = host_make(&goat_ops, &h.env, NULL, e);
    if (!rc)
        rc = goat_ops.open(&h.env, NULL, &h.store, e);
    if (!rc)
        rc = host_create(h.store, &req, &h.arena, &made, e);
    if (!rc) /* not earlier, because a new session gets the dialect of the existing ones */
        rc = put_old(config, project, now_ms, e);
    if (!rc) {
        h.ref = (struct session_ref){ .store = h.store, .id = made.id, .path = made.path };
        rc = write_session(&h, e);
    }
    store_close(h.store);
    arena_fini(&h.arena);
    return rc;
}
