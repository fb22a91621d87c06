#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "store/blame/blame.h"
#include "store/fs/path.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

/* `reprise files ID` and `reprise touched PATH`. */

/* ---- in common with blame ---- */

/* ---- entries ---- */

static const char *did_word(const struct blame_touch *t)
{
    return t->did & BLAME_RENAMED   ? "renamed"
           : t->did & BLAME_DELETED ? "deleted"
           : t->did & BLAME_CREATED ? "created"
                                    : "edited";
}

static void blame_files_write_counts_json(struct out *o, const struct blame_touch *t)
{
    out_string(o, "did", did_word(t));
    if (t->to)
        out_string(o, "to", t->to);
    out_int(o, "edits", (int64_t)t->edits);
    out_int(o, "added", (int64_t)t->added);
    out_int(o, "removed", (int64_t)t->removed);
    if (t->stopped)
        out_string(o, "incomplete", t->stopped);
}

/* One line for all entries. */
static void warn_incomplete(const struct invocation *in, const struct blame_touches *t)
{
    size_t i = 0;

    while (i < t->n && !t->touch[i].stopped)
        i++;
    if (i < t->n)
        command_warn(in, ERR_UNSUPPORTED, t->touch[i].path,
                     "not all changed lines were counted: %s", t->touch[i].stopped);
}

static void write_turn_json(struct out *o, const struct blame_touch *t)
{
    out_member(o, "turn", t->turn);
    out_member(o, "message", t->message);
    out_member(o, "agent", t->agent);
    if (t->time_ms != TIME_NONE)
        out_int(o, "time", t->time_ms);
    out_member(o, "prompt", t->prompt);
}

static void blame_files_write_counts(struct out *o, uint64_t added, uint64_t removed)
{
    out_addf(o, "%6s%" PRIu64 " %5s%" PRIu64,
             added < 10    ? "   +"
             : added < 100 ? "  +"
                           : "+",
             added,
             removed < 10    ? "   -"
             : removed < 100 ? "  -"
                             : "-",
             removed);
}

/* ---- files ---- */

struct file_total {
    const char *path;
    uint64_t added, removed;
    size_t edits;
    size_t first, last; /* its entries */
};

/* The files of a session, in the order in which it first touched them. */
struct file_totals {
    struct file_total *file; /* owned */
    size_t *next;            /* by entry: the file's next one, or SIZE_MAX; owned */
    size_t n;
};

static enum err_code sum_files(const struct blame_touches *t, struct file_totals *out,
                               struct err *e)
{
    struct slice_set set = { 0 };
    enum err_code rc;

    out->file = calloc(t->n + 1, sizeof *out->file);
    out->next = calloc(t->n + 1, sizeof *out->next);
    rc = out->file && out->next ? ERR_OK : err_nomem(e);
    for (size_t i = 0; i < t->n && !rc; i++) {
        uint32_t number;

        if (slice_set_add(&set, slice_of(t->touch[i].path), &number)) {
            rc = err_nomem(e);
            break;
        }

        /* The touches of a file are a list through `next`, in their order, so that they need no second pass. */
        struct file_total *file = &out->file[number];

        if (file->path)
            out->next[file->last] = i;
        else
            *file = (struct file_total){ .path = t->touch[i].path, .first = i };
        file->last = i;
        file->added += t->touch[i].added;
        file->removed += t->touch[i].removed;
        file->edits += t->touch[i].edits;
        out->next[i] = SIZE_MAX;
        out->n = set.n;
    }
    slice_set_fini(&set);
    return rc;
}

static void write_file_json(struct out *o, const struct blame_touches *t,
                            const struct file_total *file, const size_t *next)
{
    out_json_row(o);
    out_open(o, NULL, '{');
    out_string(o, "path", file->path);
    out_int(o, "edits", (int64_t)file->edits);
    out_int(o, "added", (int64_t)file->added);
    out_int(o, "removed", (int64_t)file->removed);
    out_open(o, "turns", '[');
    for (size_t i = file->first; i != SIZE_MAX; i = next[i]) {
        out_open(o, NULL, '{');
        write_turn_json(o, &t->touch[i]);
        blame_files_write_counts_json(o, &t->touch[i]);
        out_close(o, '}');
    }
    out_close(o, ']');
    out_close(o, '}');
}

/* A path below the directory is shown relative to it. */
static struct slice blame_files_shown_path(const struct invocation *in, const char *path)
{
    const char *cwd = in->world->env.cwd;
    size_t n = strlen(cwd);

    return slice_of(strncmp(path, cwd, n) == 0 && path[n] == '/' ? path + n + 1 : path);
}

static void write_touch_text(struct invocation *in, const struct blame_touch *t, size_t used)
{
    struct out *o = &in->out;
    char age[HUMAN_AGE];

    human_age(in->world->env.now_ms, t->time_ms, age);
    out_addf(o, " %-7s ", did_word(t));
    out_style(o, OUT_AGE);
    out_addf(o, "%*s  ", HUMAN_AGE_COLUMNS, age);
    out_style(o, OUT_PLAIN);
    used += 11 + HUMAN_AGE_COLUMNS;
    if (o->columns > used)
        session_line_cut(blame_first_line(t->prompt), o->columns - used, o);
    else if (!o->columns)
        out_text(o, blame_first_line(t->prompt));
    out_addf(o, "\n");
}

enum { COUNT_COLUMNS = 15 };

enum err_code files_session(struct invocation *in, struct sessions *s,
                            const struct session_ref *ref, struct err *e)
{
    struct blame_touches t;
    struct file_totals files = { .n = 0 };
    enum err_code rc;

    (void)s;
    TRY(blame_touches_of(ref, NULL, &t, e));
    rc = sum_files(&t, &files, e);
    if (!rc)
        warn_incomplete(in, &t);

    for (size_t i = 0; !rc && i < files.n; i++) {
        if (in->out.wants_json)
            write_file_json(&in->out, &t, &files.file[i], files.next);
        else {
            struct out *o = &in->out;

            blame_files_write_counts(o, files.file[i].added, files.file[i].removed);
            out_line(o, "  ", blame_files_shown_path(in, files.file[i].path));
            for (size_t k = files.file[i].first; k != SIZE_MAX; k = files.next[k]) {
                out_addf(o, "  ");
                blame_files_write_counts(o, t.touch[k].added, t.touch[k].removed);
                write_touch_text(in, &t.touch[k], COUNT_COLUMNS + 2);
            }
        }
        rc = out_row(&in->out, e);
    }
    if (!rc && in->out.wants_json)
        out_json_rows_end(&in->out);
    else if (!rc && !files.n)
        command_warn(in, ERR_OK, NULL, "the session changed no file with its tools");

    free(files.file);
    free(files.next);
    blame_touches_fini(&t);
    return rc;
}

/* ---- touched ---- */

static void write_touched(struct invocation *in, const struct blame_touches *all,
                          const struct blame_touch *t, const struct session_line_columns *look,
                          bool one_file)
{
    const struct session_ref *ref = all->ref[t->session];
    struct out *o = &in->out;

    if (o->wants_json) {
        out_json_row(o);
        out_open(o, NULL, '{');
        out_string(o, "system", ref->store->ops->name);
        out_member(o, "session", ref->id);
        out_string(o, "path", t->path);
        write_turn_json(o, t);
        blame_files_write_counts_json(o, t);
        out_close(o, '}');
        return;
    }

    struct slice path = one_file ? SLICE("") : blame_files_shown_path(in, t->path);
    size_t used = session_line_id_columns(ref, look) + COUNT_COLUMNS + 1;

    session_line_id(ref, look, o);
    blame_files_write_counts(o, t->added, t->removed);
    out_addf(o, " ");
    out_text(o, path);
    out_addf(o, "%s", path.n ? " " : "");
    write_touch_text(in, t, used + (path.n ? clean_width(path) + 1 : 0));
}

static enum err_code write_all_touched(struct invocation *in, struct sessions *s,
                                       const struct blame_touches *t,
                                       const struct blame_paths *asked, struct err *e)
{
    struct session_line_columns look;
    bool one_file = true;
    const size_t first = (size_t)in->options.offset, most = (size_t)in->options.limit;
    enum err_code rc =
        session_line_columns_open(s, NULL, &in->out, in->world->env.now_ms, &look, e);

    /* If all rows are about the requested file, its name is not repeated. */
    for (size_t i = 0; i < t->n && one_file; i++) {
        one_file = false;
        for (size_t k = 0; k < asked->n && !one_file; k++)
            one_file = strcmp(t->touch[i].path, asked->path[k]) == 0;
    }
    for (size_t i = 0; !rc && i < t->refs; i++)
        session_line_columns_fit(&look, t->ref[i]);
    for (size_t i = first; !rc && i < t->n && (!most || i - first < most); i++) {
        write_touched(in, t, &t->touch[i], &look, one_file);
        rc = out_row(&in->out, e);
    }
    if (!rc && in->out.wants_json)
        out_json_rows_end(&in->out);
    else if (!rc && !t->n)
        command_warn(in, ERR_OK, s->n ? in->argv[0] : NULL, "%s",
                     sessions_none(s, "no session changed this file with its tools"));
    session_line_columns_close(&look);
    return rc;
}

enum err_code touched_run(struct invocation *in, struct err *e)
{
    struct sessions s;

    TRY(sessions_open(in, true, &s, e));

    /* Read the sessions that touched the path. */
    struct blame_query q = { .trouble = command_report_trouble, .trouble_arg = in };
    struct blame_paths paths = { .n = 0 };
    struct blame_touches t = { .n = 0 };
    enum err_code rc = sessions_query(in, &s.scope, &q.sessions, e);

    if (!rc)
        rc = blame_paths_of(in->world->env.cwd, in->argv[0], &s.arena, &paths, e);
    q.path = paths.path;
    q.paths = paths.n;
    if (!rc)
        rc = blame_touches_read(s.store, s.n, &q, &t, e);
    if (!rc)
        warn_incomplete(in, &t);
    if (!rc)
        rc = write_all_touched(in, &s, &t, &paths, e);
    blame_touches_fini(&t);

    sessions_close(&s);
    return rc;
}
