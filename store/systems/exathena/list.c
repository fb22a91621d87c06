#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* The sessions of a store are the *.jsonl directly in sessions/, or in a separate root, without
 * subfolders (exathena.md A4). An empty file is a session that was rewound to its beginning. */

enum { SUFFIX = sizeof JSONL_SUFFIX - 1 };

bool exathena_in_scope(const struct store *st, const struct scope *scope)
{
    const struct exathena *x = exathena_of(st);
    char real[PATH_MAX];
    const char *project = realpath(x->project, real) ? real : x->project;

    if (scope->all || path_under(scope->project, slice_of(project)))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (path_under(scope->tree[i], slice_of(project)))
            return true;
    return false;
}

/* Logs are in a directory named sessions, wherever that is, or in the given root; nothing else
 * distinguishes a log from other JSONL files. */
enum err_code exathena_at_path(const struct store *st, struct slice path, struct arena *a,
                               struct session_ref *ref, struct err *e)
{
    static const char folder[] = "/sessions/";
    const char *name = memrchr(path.p, '/', path.n), *file = path.p;
    size_t at = name ? (size_t)(name + 1 - path.p) : 0, n = sizeof folder - 1;
    const char *logs = exathena_of(st)->jsonl.folder;
    struct slice id;

    bool is_in = at == strlen(logs) + 1 && memcmp(path.p, logs, at - 1) == 0;

    if (!is_in && (at < n || memcmp(path.p + at - n, folder, n) != 0))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    if (path.n - at <= SUFFIX || memcmp(path.p + path.n - SUFFIX, JSONL_SUFFIX, SUFFIX) != 0)
        file = arena_format(a, "%.*s" JSONL_SUFFIX, SLICE_ARG(path));
    if (!file)
        return err_nomem(e);
    if (!jsonl_id_of_name(file + at, exathena_is_id, &id))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    return jsonl_ref_at(st, file, id, a, ref, e);
}

/* ---- the rows, for lists and for readers ---- */

/* The time of the first event is the session's time of creation, and the first prompt is its title.
 * A message of a person or a tool waits for an answer. */
static enum err_code exathena_read_row_facts(struct slice line, struct arena *a,
                                             struct jsonl_row_facts *out)
{
    struct event ev;

    if (!event_read(line, a, &ev))
        return ERR_FORMAT;
    bool user = slice_eq(ev.role, SLICE("user"));

    if (!time_parse(ev.ts, &out->time_ms))
        out->time_ms = TIME_NONE;
    out->speaks = ev.role.n > 0;
    out->waits = user || slice_eq(ev.role, SLICE("tool"));
    if (user)
        out->prompt = event_message_text(&ev, a);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

static enum err_code exathena_complete_row(const struct store *st, const struct scope *scope,
                                           struct session_row *row, struct arena *a, struct err *e)
{
    const struct exathena *x = exathena_of(st);

    (void)scope, (void)a, (void)e;
    if (row->hidden)
        return ERR_OK;
    row->can = CAN_RESUME | CAN_FORK | CAN_REWIND | CAN_DELETE;
    if (!x->no_project)
        row->cwd = slice_of(x->project);
    return ERR_OK;
}

static struct slice event_id(struct slice row, struct arena *a)
{
    struct event ev;

    return event_read(row, a, &ev) ? ev.id : (struct slice){ NULL, 0 };
}

/* The conversation as a person reads it: all events of any kind in the order of the file, with
 * unreadable lines in their places. */

static uint8_t exathena_message_kind_of(const struct index_line *line)
{
    switch (line->kind) {
    case EVENT_USER: return MESSAGE_USER;
    case EVENT_ASSISTANT: return MESSAGE_ASSISTANT;
    case EVENT_TOOL: return MESSAGE_TOOL;
    case EVENT_SYSTEM:
    case EVENT_START:
    case EVENT_RESUME: return MESSAGE_SYSTEM;
    default: return MESSAGE_OTHER;
    }
}

/* The index does not recognise a first line that begins with a byte order mark. */
static bool is_marked_event(struct logfile *log, size_t line)
{
    struct arena a = { 0 };
    struct event ev;
    struct slice row;
    bool is = line == 0 && log->index.line[0].offset == 0 && !logfile_row(log, 0, &row, NULL) &&
              slice_starts(row, "\xef\xbb\xbf") && event_read(row, &a, &ev);

    arena_fini(&a);
    return is;
}

static enum err_code judge_event(struct logfile *log, size_t line, struct message *m, bool *keep,
                                 struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    bool broken = ix->state == LINE_BROKEN && !is_marked_event(log, line);

    (void)keep;
    (void)e;
    m->kind = broken ? (uint8_t)MESSAGE_OTHER : exathena_message_kind_of(ix);
    m->flags = broken ? (uint8_t)MESSAGE_BROKEN : (uint8_t)0;
    return ERR_OK;
}

const struct jsonl_format exathena_format = { .keys = &exathena_keys,
                                              .judge = judge_event,
                                              .read = exathena_read_row_facts,
                                              .prompt_needle = "\"user",
                                              .complete = exathena_complete_row,
                                              .id = event_id,
                                              .is_id = exathena_is_id,
                                              .id_name = "an ExAthena session id",
                                              .in_scope = exathena_in_scope };

/* Runs of sub-agents: <session>/sidechains/<agent>.jsonl, one line for each finished run. */

enum err_code exathena_subagents(const struct store *st, const struct session_ref *ref,
                                 struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    return jsonl_log_ids(st, exathena_side_path(ref, "sidechains", a), exathena_is_id, a, ids, n,
                         e);
}

/* The file has a line for each run; the last one contains the outcome. */
static void about_run(struct slice tail, bool whole, struct arena *a, struct subagent *out)
{
    struct slice row = { NULL, 0 };
    bool torn = true;

    while (torn && slice_last_line(&tail, &row, &torn))
        continue;
    if (torn || (!whole && !tail.n) || !json_valid(row))
        return;
    struct slice result = event_member(row, "result"), ok = event_member(result, "ok");

    out->task = arena_copy(a, event_text(row, "prompt", a));
    if (!ok.p)
        return;
    out->end = slice_eq(ok, SLICE("true")) ? SUBAGENT_DONE : SUBAGENT_FAILED;
    out->outcome =
        arena_copy(a, event_text(result, out->end == SUBAGENT_DONE ? "text" : "error", a));
}

enum err_code exathena_describe_subagents(const struct store *st, const struct session_ref *ref,
                                          const atomic_bool *cancel, struct subagent_list *out,
                                          struct err *e)
{
    struct subagent_list list = { .n = 0 };
    const char *dir = exathena_side_path(ref, "sidechains", &list.arena);
    struct slice *ids = NULL;
    struct window w;
    enum err_code rc = exathena_subagents(st, ref, &list.arena, &ids, &list.n, e);

    if (!rc)
        rc = window_init(&w, e);
    if (rc) {
        subagent_list_fini(&list);
        return rc;
    }
    list.agent = arena_zalloc(&list.arena, (list.n + 1) * sizeof *list.agent);
    for (size_t i = 0; list.agent && i < list.n && !(cancel && atomic_load(cancel)); i++) {
        struct subagent *x = &list.agent[i];
        const char *path =
            arena_format(&list.arena, "%s/%.*s" JSONL_SUFFIX, dir, SLICE_ARG(ids[i]));

        *x = (struct subagent){ .id = ids[i], .time_ms = TIME_NONE };
        if (!path || window_open(&w, AT_FDCWD, path, 0, NULL)) /* only its name is known */
            continue;
        x->bytes = w.file.id.size;
        x->time_ms = w.file.id.mtime_ns / 1000000;
        about_run(w.tail, w.head.p == w.tail.p, &list.arena, x);
    }
    window_fini(&w);
    if (!list.agent || list.arena.failed)
        rc = err_nomem(e);
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}

enum err_code exathena_subagent(const struct store *st, const struct session_ref *ref,
                                struct slice agent, struct arena *a, struct session_ref *out,
                                struct err *e)
{
    return jsonl_subagent_at(st, ref, exathena_side_path(ref, "sidechains", a), exathena_is_id,
                             agent, a, out, e);
}
