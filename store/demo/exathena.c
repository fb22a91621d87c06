#include "store/demo/exathena.h"

#include <stdio.h>

#include "lite/json/jsonout.h"
#include "store/demo/files.h"
#include "store/systems/exathena/rewind/saved_files.h"
#include "store/systems/exathena/write/event_line.h"

/* What is said and done, one row an event; a write is the agent's call and the tool's answer, and what the file was
 * before is saved as the library saves it. */
enum exathena_step_kind { TELL_USER, TELL_AGENT, TELL_WRITE };

struct exathena_step {
    enum exathena_step_kind tell;
    const char *text;  /* or the path of a write */
    const char *after; /* of a write: the file from now on */
};

struct exathena_script {
    const char *id;
    int64_t hours_ago;
    const struct exathena_step *row;
    size_t n;
};

static const char report_1[] = "alias Shop.Orders\n"
                               "\n"
                               "for order <- Orders.of_day(Date.utc_today()) do\n"
                               "  IO.puts(\"#{order.id} #{order.total}\")\n"
                               "end\n";
static const char report_2[] =
    "alias Shop.Orders\n"
    "\n"
    "for order <- Orders.of_day(Date.utc_today()), order.state != :cancelled do\n"
    "  IO.puts(\"#{order.id} #{order.total}\")\n"
    "end\n";

static const struct exathena_step nightly[] = {
    { TELL_USER, "Write the nightly report: the orders of the day, one line each", NULL },
    { TELL_WRITE, "ops/report.exs", report_1 },
    { TELL_AGENT, "ops/report.exs prints the id and the total of every order of today.", NULL },
    { TELL_USER, "Leave out cancelled orders", NULL },
    { TELL_WRITE, "ops/report.exs", report_2 },
    { TELL_AGENT, "Cancelled orders are left out now; the rest is as it was.", NULL },
};

static const struct exathena_step twice[] = {
    { TELL_USER, "Why does the report arrive twice?", NULL },
    { TELL_AGENT,
      "Both nodes run the schedule. Let only the leader start it, or take a lock in the database "
      "before it begins.",
      NULL },
};

static const struct exathena_script tales[] = {
    { "nightly-report", 77, nightly, sizeof nightly / sizeof *nightly },
    { "q8Zk2nTtR4mBv1Lx0sYpAw", 170, twice, sizeof twice / sizeof *twice },
};

enum { STEP_MS = 20000, HOUR_MS = 3600000 };

struct writing {
    const char *dir;
    const struct exathena_script *tale;
    struct arena arena;
    struct buf log;
    int64_t clock_ms;
    size_t events;
    const char *file; /* the one that was written, */
    const char *now;  /* what is in it, */
    size_t versions;  /* and how often it was saved */
    enum err_code rc;
};

static void write_demo_file(struct writing *w, const char *path, const char *text)
{
    if (!w->rc)
        w->rc = path ? demo_put(path, slice_of(text), w->clock_ms, NULL) : ERR_NOMEM;
}

static void member_or_null(struct jsonout *j, const char *key, const char *text)
{
    jsonout_key(j, key);
    if (text)
        jsonout_text(j, slice_of(text));
    else
        jsonout_null(j);
}

/* ---- events ---- */

static void put_event(struct writing *w, const char *kind, struct slice data)
{
    const struct event_order order = event_order_default();
    char ts[EVENT_TIME], id[16];

    event_time(w->clock_ms, ts);
    snprintf(id, sizeof id, "%.4s%07zu", w->tale->id, ++w->events);
    const struct event_draft d = {
        .kind = slice_of(kind), .data = data, .ts = slice_of(ts), .id = slice_of(id)
    };

    if (!w->rc)
        w->rc = event_write(&d, &order, &w->log);
    w->clock_ms += STEP_MS;
}

static void put_start(struct writing *w)
{
    char ts[EVENT_TIME];

    event_time(w->clock_ms, ts);
    const char *data = arena_format(&w->arena, "{\"ts\":\"%s\",\"resumed\":false}", ts);

    if (data)
        put_event(w, "session_start", slice_of(data));
    else
        w->rc = ERR_NOMEM;
}

static void put_user(struct writing *w, const char *text)
{
    struct buf data = { 0 };
    struct jsonout j;

    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", SLICE("user"));
    jsonout_member(&j, "content", slice_of(text));
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    put_event(w, "user_message", buf_slice(&data));
    buf_fini(&data);
}

static void write_tool_call(struct writing *w, struct jsonout *j, const char *path,
                            const char *after)
{
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    jsonout_member(j, "id", slice_of(w->now ? "tc_2" : "tc_1"));
    jsonout_member(j, "name", SLICE("write"));
    jsonout_key(j, "arguments");
    jsonout_open(j, '{');
    jsonout_member(j, "content", slice_of(after));
    jsonout_member(j, "path", slice_of(path));
    jsonout_close(j, '}');
    jsonout_close(j, '}');
    jsonout_close(j, ']');
}

static void put_agent(struct writing *w, const char *text, const char *path, const char *after)
{
    struct buf data = { 0 };
    struct jsonout j;

    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", SLICE("assistant"));
    member_or_null(&j, "content", text);
    member_or_null(&j, "name", NULL);
    jsonout_key(&j, "tool_calls");
    if (path)
        write_tool_call(w, &j, path, after);
    else
        jsonout_null(&j);
    member_or_null(&j, "tool_results", NULL);
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    put_event(w, "assistant_message", buf_slice(&data));
    buf_fini(&data);
}

static void put_payload(struct writing *w, struct jsonout *j, const char *after)
{
    jsonout_open(j, '{');
    jsonout_member(j, "kind", SLICE("diff"));
    jsonout_key(j, "payload");
    jsonout_open(j, '{');
    jsonout_member(j, "path", slice_of(w->file));
    member_or_null(j, "before", w->now ? w->now : "");
    member_or_null(j, "after", after);
    member_or_null(j, "replacements", NULL);
    jsonout_close(j, '}');
    jsonout_close(j, '}');
}

static void put_result(struct writing *w, const char *path, const char *after)
{
    struct buf data = { 0 };
    struct jsonout j;
    const char *said = arena_format(&w->arena, "wrote %zu bytes to %s", strlen(after), path);

    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", SLICE("tool"));
    member_or_null(&j, "content", NULL);
    member_or_null(&j, "name", NULL);
    member_or_null(&j, "tool_calls", NULL);
    jsonout_key(&j, "tool_results");
    jsonout_open(&j, '[');
    jsonout_open(&j, '{');
    member_or_null(&j, "content", said);
    jsonout_member(&j, "tool_call_id", slice_of(w->now ? "tc_2" : "tc_1"));
    member_or_null(&j, "is_error", NULL);
    jsonout_key(&j, "ui_payload");
    put_payload(w, &j, after);
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    put_event(w, "tool_result", buf_slice(&data));
    buf_fini(&data);
}

/* ---- files ---- */

static void save_version(struct writing *w)
{
    char hex[SHA_HEX + 1];

    saved_name(slice_of(w->file), hex);
    const char *dir =
        arena_format(&w->arena, "%s/.exathena/file-history/%s/%s", w->dir, w->tale->id, hex);

    if (!dir)
        w->rc = ERR_NOMEM;
    if (w->rc)
        return;
    if (w->versions == 0)
        write_demo_file(w, arena_format(&w->arena, "%s/path", dir), w->file);
    if (!w->now)
        write_demo_file(w, arena_format(&w->arena, "%s/%zu.tombstone", dir, w->versions), "");
    write_demo_file(w, arena_format(&w->arena, "%s/%zu.bin", dir, w->versions),
                    w->now ? w->now : "");
    w->versions++;
}

static void put_write(struct writing *w, const char *path, const char *after)
{
    w->file = arena_format(&w->arena, "%s/%s", w->dir, path);
    if (!w->file) {
        w->rc = ERR_NOMEM;
        return;
    }
    save_version(w);
    put_agent(w, NULL, path, after);
    put_result(w, path, after);
    w->now = after;
}

/* ---- together ---- */

static enum err_code write_session_log(const char *dir, const struct exathena_script *tale,
                                       int64_t now_ms)
{
    struct writing w = { .dir = dir,
                         .tale = tale,
                         .clock_ms = now_ms - tale->hours_ago * (int64_t)HOUR_MS };

    put_start(&w);
    for (size_t i = 0; i < tale->n && !w.rc; i++) {
        const struct exathena_step *t = &tale->row[i];

        if (t->tell == TELL_USER)
            put_user(&w, t->text);
        else if (t->tell == TELL_AGENT)
            put_agent(&w, t->text, NULL, NULL);
        else
            put_write(&w, t->text, t->after);
    }
    if (w.now)
        write_demo_file(&w, w.file, w.now);
    const char *log = arena_format(&w.arena, "%s/.exathena/sessions/%s.jsonl", dir, tale->id);

    if (!w.rc)
        w.rc = log ? demo_put(log, buf_slice(&w.log), w.clock_ms - STEP_MS, NULL) : ERR_NOMEM;
    arena_fini(&w.arena);
    buf_fini(&w.log);
    return w.rc;
}

enum err_code demo_exathena(const char *dir, int64_t now_ms, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < sizeof tales / sizeof *tales && !rc; i++)
        rc = write_session_log(dir, &tales[i], now_ms);
    return rc ? err_set(e, rc, dir, "write the sessions of ExAthena") : ERR_OK;
}
