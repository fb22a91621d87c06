#include "store/blame/blame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/path.h"
#include "store/fs/span.h"
#include "store/journal/change.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* `reprise blame FILE[:FROM-TO]`. */

enum { PROMPT_COLUMNS = 32, NARROW = 100, PROMPT_NARROW = 20 };

struct blame_answer {
    struct invocation *in;
    struct out *out;
    struct session_line_columns look;
    struct blame blame;
    struct blame_commits commits;
    struct blame_notes notes;
    const char *path;
    size_t from, to; /* lines to show, from 0, `to` after the last */
};

/* ---- which lines ---- */

static bool blame_read_number(const char **p, size_t *out)
{
    char *end;
    unsigned long n = **p >= '0' && **p <= '9' ? strtoul(*p, &end, 10) : 0;

    if (!n)
        return false;
    *out = n;
    *p = end;
    return true;
}

/* The mode of what has this name, 0 if nothing has it. What cannot be looked at counts as a file. */
static mode_t blame_mode_of(const struct invocation *in, const char *name)
{
    AUTO_ARENA a = { 0 };
    struct stat st;
    const char *path = path_normalize(in->world->env.cwd, name, &a);

    if (path && stat(path, &st) == 0)
        return st.st_mode;
    return path && errno == ENOENT ? 0 : S_IFREG;
}

/* "FILE:10-20", "FILE:10", "FILE:10-", "FILE:-20"; a file with exactly this name takes precedence.
 * Cuts the range off the name. */
static void cut_range(const struct invocation *in, char *name, size_t *from, size_t *to)
{
    char *colon = strrchr(name, ':');
    const char *p = colon ? colon + 1 : "";
    size_t first = 1, last = SIZE_MAX;
    bool one = blame_read_number(&p, &first), dash = *p == '-';

    p += dash;
    bool two = dash && blame_read_number(&p, &last);

    if (!colon || *p || !(one || two) || blame_mode_of(in, name))
        return;
    *colon = '\0';
    *from = first - 1;
    *to = dash ? last : first;
}

/* A word that is no file gets the next step. */
static enum err_code check_file(const struct blame_answer *a, struct arena *arena, struct err *e)
{
    const mode_t mode = blame_mode_of(a->in, a->path);
    const char *colon = strrchr(a->path, ':');
    size_t n = colon ? (size_t)(colon - a->path) : 0;
    const char *before = NULL;

    if (S_ISDIR(mode))
        return err_set(e, ERR_UNSUPPORTED, "",
                       "\"%.200s\" is a directory; see reprise touched %.200s", a->path, a->path);
    if (mode)
        return ERR_OK;
    if (n)
        NEED(before = arena_format(arena, "%.*s", (int)n, a->path));
    if (before && S_ISREG(blame_mode_of(a->in, before)))
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not a range of lines; write FILE:10-20",
                       colon + 1);
    return err_set(e, ERR_NOT_FOUND, "", "no file \"%.200s\"; see reprise touched %.200s", a->path,
                   a->path);
}

/* ---- JSON ---- */

static const struct blame_note *note_of(const struct blame_answer *a, size_t line)
{
    return a->notes.line ? a->notes.line[line] : NULL;
}

/* One turn wrote both lines, or one note names both, which no session wrote. */
static bool same_writer(const struct blame_answer *a, size_t x, size_t y)
{
    const struct blame_event *event = blame_event_of(&a->blame, x);

    return blame_same_turn(event, blame_event_of(&a->blame, y)) &&
           (event || note_of(a, x) == note_of(a, y));
}

static void write_note_json(struct out *o, const struct blame_note *note)
{
    if (!note)
        return;
    out_open(o, "note", '{');
    out_string(o, "commit", note->commit);
    out_member(o, "tool", note->tool);
    out_member(o, "session", note->session);
    out_member(o, "model", note->model);
    out_member(o, "author", note->author);
    out_close(o, '}');
}

/* One line, or the lines from `line` to before `end` that one turn wrote, without their text. */
static void write_line_json(struct blame_answer *a, size_t line, size_t end)
{
    const struct blame_event *event = blame_event_of(&a->blame, line);
    struct out *o = a->out;

    out_json_row(o);
    out_open(o, NULL, '{');
    if (end)
        out_int(o, "from", (int64_t)line + 1);
    out_int(o, end ? "to" : "line", (int64_t)(end ? end : line + 1));
    if (event) {
        const struct session_ref *ref = blame_session_of(&a->blame, line);

        out_string(o, "system", ref->store->ops->name);
        out_member(o, "session", ref->id);
        out_member(o, "turn", event->edit.turn);
        out_member(o, "message", event->edit.message);
        out_member(o, "agent", event->edit.agent);
        if (!end)
            out_member(o, "tool", event->edit.tool);
        if (event->edit.time_ms != TIME_NONE)
            out_int(o, "time", event->edit.time_ms);
        out_member(o, "prompt", event->edit.prompt);
        const struct blame_commit *commit = blame_commits_after(&a->commits, event->edit.time_ms);

        if (commit) {
            out_open(o, "commit", '{');
            out_string(o, "id", commit->id);
            out_int(o, "time", commit->time_ms / 1000 * 1000);
            out_member(o, "subject", commit->subject);
            out_close(o, '}');
        }
    }
    if (!end || !event) /* one turn's lines may have several */
        write_note_json(o, note_of(a, line));
    if (!event && a->blame.stopped)
        out_string(o, "incomplete", a->blame.stopped);
    if (!end) {
        jsonout_key(out_json(o), "text");
        jsonout_text(out_json(o), a->blame.line[line]);
    }
    out_close(o, '}');
}

/* ---- porcelain ---- */

/* 40 hex digits that identify the turn of a session, or who is noted, in the place of git's commit id. */
static void turn_id(const struct blame_answer *a, size_t line, char out[41])
{
    const struct blame_event *event = blame_event_of(&a->blame, line);
    const struct blame_note *note = event ? NULL : note_of(a, line);
    uint8_t sha[SHA256_BYTES];
    char hex[SHA256_BYTES * 2 + 1];
    struct hasher hasher = { 0 };
    struct buf b = { 0 };
    const struct session_ref *ref = event ? a->blame.history.ref[event->session] : NULL;

    memset(out, '0', 40);
    out[40] = '\0';
    if ((ref ? !buf_addf(&b, "%.*s\n%.*s", SLICE_ARG(ref->id), SLICE_ARG(event->edit.turn))
             : note && !buf_addf(&b, "%s\n%.*s\n%.*s", note->commit, SLICE_ARG(note->session),
                                 SLICE_ARG(note->tool.n ? note->tool : note->author))) &&
        !hasher_bytes(&hasher, buf_slice(&b), sha, NULL)) {
        hasher_hex(sha, hex);
        memcpy(out, hex, 40);
    }
    hasher_fini(&hasher);
    buf_fini(&b);
}

static void write_person(struct out *o, const char *role, const struct session_ref *ref,
                         const struct blame_note *note, int64_t time_ms)
{
    out_addf(o, "%s ", role);
    out_text(o, ref    ? slice_of(ref->store->ops->name)
                : note ? (note->tool.n ? note->tool : note->author)
                       : SLICE("Not written by a session"));
    out_addf(o, "\n%s-mail <", role);
    out_text(o, ref ? ref->id : note && note->session.n ? note->session : SLICE("none"));
    out_addf(o, ">\n%s-time %" PRId64 "\n%s-tz +0000\n", role,
             time_ms == TIME_NONE ? 0 : time_ms / 1000, role);
}

static void write_porcelain_header(struct blame_answer *a, size_t line)
{
    const struct blame_event *event = blame_event_of(&a->blame, line);
    const struct session_ref *ref = blame_session_of(&a->blame, line);
    const struct blame_note *note = event ? NULL : note_of(a, line);
    struct out *o = a->out;
    int64_t time_ms = event ? event->edit.time_ms : TIME_NONE;
    const struct blame_commit *commit = event ? blame_commits_after(&a->commits, time_ms) : NULL;

    write_person(o, "author", ref, note, time_ms);
    write_person(o, "committer", ref, note, time_ms);
    out_addf(o, "summary ");
    out_text(o, event ? blame_first_line(event->edit.prompt) : SLICE(""));
    if (event && event->edit.turn.n) {
        out_addf(o, "\nturn ");
        out_text(o, event->edit.turn);
    }
    if (event && event->edit.agent.n) {
        out_addf(o, "\nagent ");
        out_text(o, event->edit.agent);
    }
    if (commit)
        out_addf(o, "\ncommit %s", commit->id);
    if (note)
        out_addf(o, "\nnote %s", note->commit);
    if (note && note->model.n) {
        out_addf(o, "\nmodel ");
        out_text(o, note->model);
    }
    out_line(o, "\nfilename ", slice_of(a->path));
}

/* The first line of a turn is preceded by its header, the first line of a run by its length. */
static enum err_code write_porcelain_line(struct blame_answer *a, size_t line,
                                          struct slice_set *told, struct err *e)
{
    bool begins = line == a->from || !same_writer(a, line, line - 1);
    size_t run = 1;
    char id[41];

    turn_id(a, line, id);
    while (begins && line + run < a->to && same_writer(a, line, line + run))
        run++;
    out_addf(a->out, "%s %zu %zu", id, line + 1, line + 1);
    if (begins)
        out_addf(a->out, " %zu", run);
    out_addf(a->out, "\n");
    if (slice_set_find(told, slice_of(id)) == SLICE_SET_NONE) {
        /* The set does not copy its texts, so the id has to outlive this call. */
        struct slice copy = arena_copy(&a->blame.history.arena, slice_of(id));
        uint32_t number;

        write_porcelain_header(a, line);
        if (!copy.p || slice_set_add(told, copy, &number))
            return err_nomem(e);
    }

    out_line(a->out, "\t", a->blame.line[line]);
    return out_row(a->out, e);
}

/* ---- for people ---- */

/* Session, age and prompt, then one line, or the numbers of the lines that one turn wrote. */
static void write_line_text(struct blame_answer *a, size_t line, size_t end)
{
    const struct blame_event *event = blame_event_of(&a->blame, line);
    const struct session_ref *ref = blame_session_of(&a->blame, line);
    const struct blame_note *note = event ? NULL : note_of(a, line);
    struct out *o = a->out;
    size_t prompt = o->columns && o->columns < NARROW ? PROMPT_NARROW : PROMPT_COLUMNS;
    int n = snprintf(NULL, 0, "%zu", a->blame.lines); /* its width */
    char age[HUMAN_AGE] = "";

    if (event)
        human_age(a->look.now_ms, event->edit.time_ms, age);
    out_style(o, OUT_AGE);
    if (ref)
        session_line_id(ref, &a->look, o);
    else
        session_line_column(note ? note->session : SLICE(""), a->look.id_columns, o);
    out_addf(o, " %*s ", HUMAN_AGE_COLUMNS, age);
    out_style(o, OUT_PLAIN);

    if (note) {
        AUTO_ARENA scratch = { 0 };
        const struct slice by = note->tool.n ? note->tool : note->author;
        const char *who = arena_format(&scratch, "note: %.*s%s%.*s", SLICE_ARG(by),
                                       note->model.n ? ", " : "", SLICE_ARG(note->model));

        session_line_column(who ? slice_of(who) : SLICE(""), prompt, o);
    } else {
        session_line_column(event ? blame_first_line(event->edit.prompt) : SLICE(""), prompt, o);
    }
    out_style(o, OUT_AGE);
    out_addf(o, end ? " %*zu" : " %*zu ", n, line + 1);
    if (end)
        out_addf(o, line + 1 < end ? "-%zu\n" : "\n", end);
    out_style(o, OUT_PLAIN);
    if (end)
        return;

    /* The text fills what is left of the line of a terminal; a file or a pipe gets all of it. */
    size_t used = a->look.id_columns + HUMAN_AGE_COLUMNS + prompt + (size_t)n + 4;

    if (o->columns > used)
        session_line_cut(a->blame.line[line], o->columns - used, o);
    else if (!o->columns)
        out_text(o, a->blame.line[line]);
    out_addf(o, "\n");
}

static enum err_code write_blame(struct blame_answer *a, struct err *e)
{
    int64_t skip = a->in->options.offset;
    bool json = a->out->wants_json, by_turn = option_given(&a->in->options, OPTION_BY_TURN);
    enum err_code rc = ERR_OK;

    if (!json && option_given(&a->in->options, OPTION_PORCELAIN)) {
        CLEANUP(slice_set_fini) struct slice_set told = { 0 };

        for (size_t i = a->from; i < a->to; i++)
            TRY(write_porcelain_line(a, i, &told, e));
        return ERR_OK;
    }
    for (size_t i = a->from, next; !rc && i < a->to; i = next) {
        size_t end = by_turn ? i + 1 : 0;

        while (end && end < a->to && same_writer(a, i, end))
            end++;
        next = end ? end : i + 1;
        if (skip && skip--)
            continue;
        if (json)
            write_line_json(a, i, end);
        else
            write_line_text(a, i, end);
        rc = out_row(a->out, e);
    }
    if (!rc && json)
        out_json_rows_end(a->out);
    return rc;
}

static int64_t oldest_edit(const struct blame *b)
{
    int64_t oldest = INT64_MAX;

    for (size_t i = 0; i < b->lines; i++) {
        const struct blame_event *event = blame_event_of(b, i);

        if (event && event->edit.time_ms < oldest)
            oldest = event->edit.time_ms;
    }
    return oldest;
}

static enum err_code run_blame(struct blame_answer *a, struct sessions *s, struct err *e)
{
    struct blame_query q = { .trouble = command_report_trouble, .trouble_arg = a->in };
    struct blame_paths paths = { .n = 0 };
    enum err_code rc = check_file(a, &s->arena, e);

    if (!rc)
        rc = sessions_query(a->in, &s->scope, &q.sessions, e);
    if (!rc)
        rc = blame_paths_of(a->in->world->env.cwd, a->path, &s->arena, &paths, e);
    q.path = paths.path;
    q.paths = paths.n;
    if (!rc)
        rc = blame_file(s->store, s->n, &q, &a->blame, e);

    if (!rc) {
        size_t lines = a->blame.lines;

        if (a->from && a->from >= lines)
            rc = err_set(e, ERR_USAGE, "", "no line %zu in \"%.300s\": it has %zu lines",
                         a->from + 1, a->path, lines);
        else {
            if (a->to > lines)
                a->to = lines;
            rc = a->from < a->to || !lines
                     ? ERR_OK
                     : err_set(e, ERR_USAGE, "",
                               "the range of lines of \"%.300s\" ends before it begins", a->path);
        }
    }
    if (!rc)
        rc = blame_commits_read(paths.path[paths.n - 1], oldest_edit(&a->blame), &a->commits, e);
    if (!rc)
        rc = blame_notes_read(paths.path[paths.n - 1], &a->blame, &a->notes, e);
    if (!rc)
        rc = session_line_columns_open(s, NULL, a->out, a->in->world->env.now_ms, &a->look, e);

    /* All widths are known before the first row is written, so that the columns line up. */
    for (size_t i = 0; !rc && i < a->blame.history.refs; i++)
        session_line_columns_fit(&a->look, a->blame.history.ref[i]);

    if (!rc && a->blame.stopped)
        command_warn(a->in, ERR_UNSUPPORTED, paths.path[0],
                     "some edits were not replayed, so their lines are shown without a session: %s",
                     a->blame.stopped);
    if (!rc)
        rc = write_blame(a, e);

    session_line_columns_close(&a->look);
    blame_notes_fini(&a->notes);
    blame_commits_fini(&a->commits);
    blame_fini(&a->blame);
    return rc;
}

/* ---- the note of a commit ---- */

/* `reprise blame --notes COMMIT` */
static enum err_code blame_note_run(struct invocation *in, struct sessions *s, struct err *e)
{
    struct blame_query q = { .trouble = command_report_trouble, .trouble_arg = in };
    CLEANUP(blame_noted_fini) struct blame_noted noted = { .files = 0 };
    const bool apply = option_given(&in->options, OPTION_APPLY);
    struct out *o = &in->out;

    TRY(sessions_query(in, &s->scope, &q.sessions, e));
    TRY(blame_note_make(s->store, s->n, &q, in->world->env.cwd, in->argv[0], &noted, e));

    if (!noted.sessions)
        return err_set(e, ERR_NOT_FOUND, noted.commit,
                       "blame: no session wrote a line that the commit added");
    if (apply)
        TRY(blame_note_write(&in->world->env, &noted, e));
    in->done = apply;

    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_string(o, "commit", noted.commit);
        out_bool(o, "dryRun", !apply);
        out_int(o, "files", (int64_t)noted.files);
        out_int(o, "lines", (int64_t)noted.lines);
        out_int(o, "sessions", (int64_t)noted.sessions);
        out_member(o, "note", noted.note);
        if (apply)
            out_string(o, "change", noted.change->id);
        out_end(o, '}');
        return ERR_OK;
    }
    if (!apply) {
        struct slice rest = noted.note, line;
        bool torn;

        while (slice_line(&rest, &line, &torn))
            out_line(o, "", line);
        out_addf(o, "nothing was written (--apply attaches the note to the commit)\n");
        return ERR_OK;
    }
    out_addf(o, "noted %.12s: %zu %s of %zu %s" OUT_UNDO_WITH "\n", noted.commit, noted.lines,
             noted.lines == 1 ? "line" : "lines", noted.sessions,
             noted.sessions == 1 ? "session" : "sessions", noted.change->id);
    return ERR_OK;
}

enum err_code blame_run(struct invocation *in, struct err *e)
{
    struct blame_answer a = { .in = in, .out = &in->out, .path = in->argv[0], .to = SIZE_MAX };
    const struct options *o = &in->options;
    struct sessions s;
    enum err_code rc;

    if (option_given(o, OPTION_BY_TURN) && option_given(o, OPTION_PORCELAIN))
        return err_set(e, ERR_USAGE, "--by", "not together with --porcelain");
    if (option_given(o, OPTION_OFFSET) && option_given(o, OPTION_PORCELAIN))
        return err_set(e, ERR_USAGE, "--offset", "not together with --porcelain");
    if (!option_given(o, OPTION_NOTES) && option_given(o, OPTION_APPLY))
        return err_set(e, ERR_USAGE, "--apply", "only together with --notes");
    if (option_given(o, OPTION_NOTES) &&
        (option_given(o, OPTION_BY_TURN) || option_given(o, OPTION_PORCELAIN) ||
         option_given(o, OPTION_OFFSET) || option_given(o, OPTION_MAX_BYTES)))
        return err_set(e, ERR_USAGE, "--notes",
                       "not together with --by, --porcelain, --offset or --max-bytes");

    TRY(sessions_open(in, true, &s, e));
    if (option_given(o, OPTION_NOTES)) {
        rc = blame_note_run(in, &s, e);
        sessions_close(&s);
        return rc;
    }

    /* The range at the end of the name is cut off in place, which needs a copy. */
    a.path = arena_copy_text(&s.arena, in->argv[0]);
    if (a.path)
        cut_range(in, (char *)(uintptr_t)a.path, &a.from, &a.to);
    rc = a.path ? run_blame(&a, &s, e) : err_nomem(e);
    sessions_close(&s);
    return rc;
}
