#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/arena.h"
#include "store/demo/demo_internal.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* Sessions of ExAthena: a log of events, one per step; a write is two events, the agent's call and
 * the tool's result, and saves the previous content of the file. */

enum step_kind { STEP_USER, STEP_AGENT, STEP_WRITE };

struct step {
    enum step_kind kind;
    const char *text;  /* or the path of a write */
    const char *after; /* for a write: the new content of the file */
};

struct log {
    const char *id;
    int64_t hours_ago;
    const struct step *step;
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

static const struct step nightly[] = {
    { STEP_USER, "Write the nightly report: the orders of the day, one line each", NULL },
    { STEP_WRITE, "ops/report.exs", report_1 },
    { STEP_AGENT, "ops/report.exs prints the id and the total of every order of today.", NULL },
    { STEP_USER, "Leave out cancelled orders", NULL },
    { STEP_WRITE, "ops/report.exs", report_2 },
    { STEP_AGENT, "Cancelled orders are left out now; the rest is as it was.", NULL },
};

static const struct step twice[] = {
    { STEP_USER, "Why does the report arrive twice?", NULL },
    { STEP_AGENT,
      "Both nodes run the schedule. Let only the leader start it, or take a lock in the database "
      "before it begins.",
      NULL },
};

static const struct log logs[] = {
    { "nightly-report", 77, nightly, sizeof nightly / sizeof *nightly },
    { "q8Zk2nTtR4mBv1Lx0sYpAw", 170, twice, sizeof twice / sizeof *twice },
};

enum { STEP_MS = 20000, HOUR_MS = 3600000 };

struct writing {
    const char *project;
    const struct log *log;
    struct arena arena;
    struct buf out;
    int64_t clock_ms;
    size_t events;
    const char *file; /* absolute path of the file that the session writes */
    const char *now;  /* its content; NULL: it does not exist yet */
    int versions;
    enum err_code rc;
    struct err *e;
};

static void demo_exathena_put(struct writing *w, const char *path, const char *text)
{
    if (!w->rc)
        w->rc = path ? demo_put(path, slice_of(text), w->clock_ms, w->e) : err_nomem(w->e);
}

static void demo_add_event(struct writing *w, const char *kind, const char *form, ...)
{
    const struct event_order order = event_order_default();
    struct buf data = { 0 };
    char ts[EVENT_TIME], id[16];
    va_list args;

    event_time(w->clock_ms, ts);
    snprintf(id, sizeof id, "%.4s%07zu", w->log->id, ++w->events);
    va_start(args, form);
    enum err_code rc = demo_json_list(&data, form, args);
    va_end(args);
    const struct event_draft d = { slice_of(kind), buf_slice(&data), slice_of(ts), slice_of(id),
                                   SLICE("") };

    if (!rc)
        rc = event_write(&d, &order, &w->out);
    if (!w->rc && rc)
        w->rc = err_nomem(w->e);
    w->clock_ms += STEP_MS;
    buf_fini(&data);
}

/* Saves the file as the library does before a write; a tombstone if it did not exist. */
static void demo_save_version(struct writing *w)
{
    char hex[SHA_HEX + 1];

    saved_name(slice_of(w->file), hex);
    const char *dir =
        arena_format(&w->arena, "%s/.exathena/file-history/%s/%s", w->project, w->log->id, hex);

    if (!dir)
        dir = "";
    if (w->versions == 0)
        demo_exathena_put(w, arena_format(&w->arena, "%s/path", dir), w->file);
    if (!w->now)
        demo_exathena_put(w, arena_format(&w->arena, "%s/%d.tombstone", dir, w->versions), "");
    demo_exathena_put(w, arena_format(&w->arena, "%s/%d.bin", dir, w->versions),
                      w->now ? w->now : "");
    w->versions++;
}

static void demo_exathena_write_file(struct writing *w, const char *path, const char *after)
{
    const char *call = w->now ? "tc_2" : "tc_1";

    w->file = arena_format(&w->arena, "%s/%s", w->project, path);
    if (!w->file) {
        w->rc = err_nomem(w->e);
        return;
    }
    demo_save_version(w);
    demo_add_event(
        w, "assistant_message",
        "{'message':{'role':'assistant','content':null,'name':null,'tool_calls':[{'id':$s,"
        "'name':'write','arguments':{'content':$s,'path':$s}}],'tool_results':null}}",
        call, after, path);
    demo_add_event(
        w, "tool_result",
        "{'message':{'role':'tool','content':null,'name':null,'tool_calls':null,"
        "'tool_results':[{'content':'wrote $d bytes to $e','tool_call_id':$s,'is_error':null,"
        "'ui_payload':{'kind':'diff','payload':{'path':$s,'before':$s,'after':$s,"
        "'replacements':null}}}]}}",
        (int64_t)strlen(after), path, call, w->file, w->now ? w->now : "", after);
    w->now = after;
}

static enum err_code write_log(const char *project, const struct log *log, int64_t now_ms,
                               struct err *e)
{
    struct writing w = { .project = project,
                         .log = log,
                         .clock_ms = now_ms - log->hours_ago * (int64_t)HOUR_MS,
                         .e = e };
    char path[PATH_MAX], ts[EVENT_TIME];

    event_time(w.clock_ms, ts);
    demo_add_event(&w, "session_start", "{'ts':$s,'resumed':false}", ts);
    for (size_t i = 0; i < log->n && !w.rc; i++) {
        const struct step *s = &log->step[i];

        switch (s->kind) {
        case STEP_USER:
            demo_add_event(&w, "user_message", "{'message':{'role':'user','content':$s}}", s->text);
            break;
        case STEP_AGENT:
            demo_add_event(
                &w, "assistant_message",
                "{'message':{'role':'assistant','content':$s,'name':null,'tool_calls':null,"
                "'tool_results':null}}",
                s->text);
            break;
        case STEP_WRITE: demo_exathena_write_file(&w, s->text, s->after); break;
        }
    }
    if (w.now)
        demo_exathena_put(&w, w.file, w.now);
    if (!w.rc)
        w.rc = DEMO_JOIN(path, e, project, "/.exathena/sessions/", log->id, ".jsonl");
    if (!w.rc)
        w.rc = demo_put(path, buf_slice(&w.out), w.clock_ms - STEP_MS, e);
    arena_fini(&w.arena);
    buf_fini(&w.out);
    return w.rc;
}

enum err_code demo_exathena(const char *project, int64_t now_ms, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < sizeof logs / sizeof *logs && !rc; i++)
        rc = write_log(project, &logs[i], now_ms, e);
    return rc;
}
