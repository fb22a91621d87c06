#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/query/listing.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

static enum err_code read_when(const char *text, int64_t now_ms, int64_t *ms, struct err *e)
{
    *ms = TIME_NONE;
    if (!text || human_time_parse(slice_of(text), now_ms, ms))
        return ERR_OK;
    return err_set(e, ERR_USAGE, "",
                   "\"%.80s\" is not a time; write 2w, 3d, 12h, 30m, a date or an RFC 3339 time",
                   text);
}

static void report_damaged(const struct session_row *row, void *arg)
{
    const struct invocation *in = arg;
    const char *path = row->ref.path.p;
    struct err why;

    if (row->hidden == HIDDEN_DAMAGED)
        command_warn(in, ERR_FORMAT, path, "list: %s", row->problem);
    else if (access(path, R_OK) != 0 && errno == EACCES) { /* not a link, which no list follows */
        err_sys(&why, path, "list session");
        out_report(in->err_fd, &why);
    }
}

enum err_code sessions_query(struct invocation *in, const struct scope *scope,
                             struct listing_query *q, struct err *e)
{
    const struct options *o = &in->options;
    int64_t now_ms = in->world->env.now_ms;

    *q = (struct listing_query){
        .scope = *scope,
        .sort = (enum listing_sort)o->sort,
        .tag = option_text(o->tag),
        .branch = option_text(o->branch),
        .archived = option_given(o, OPTION_ARCHIVED),
        .limit = o->limit,
        .offset = o->offset,
        .damaged = report_damaged,
        .damaged_arg = in,
    };
    enum err_code rc = read_when(o->since, now_ms, &q->since_ms, e);

    return rc ? rc : read_when(o->before, now_ms, &q->before_ms, e);
}

struct answer {
    struct out *out;
    struct session_line_columns look; /* the columns of a text */
    size_t rows;
};

static void begin_list_row(struct answer *a)
{
    /* Piped output has one line per session and no header. */
    if (a->out->wants_json)
        out_json_row(a->out);
    else if (a->rows == 0 && a->out->columns > 0)
        session_line_header(&a->look, 0, a->out);
    a->rows++;
}

static void add_list_row(const struct answer *a, const struct session_row *row, struct out *o)
{
    if (o->wants_json)
        listing_row_json(out_json(o), row);
    else
        session_line_write(row, &a->look, 0, o);
}

static enum err_code write_list_row(const struct session_row *row, void *arg, struct err *e)
{
    struct answer *a = arg;

    begin_list_row(a);
    add_list_row(a, row, a->out);
    return out_row(a->out, e);
}

/* Writes a row as it will be in the output, without what separates rows. */
static enum err_code make_row_text(const struct session_row *row, struct buf *text, void *arg)
{
    const struct answer *a = arg;
    struct out o = *a->out;

    o.buf = *text;
    o.json.comma = false;
    add_list_row(a, row, &o);
    *text = o.buf;
    return o.err.code ? o.err.code : o.json.rc;
}

static enum err_code write_row_text(struct slice text, void *arg, struct err *e)
{
    struct answer *a = arg;

    begin_list_row(a);
    out_add(a->out, text);
    return out_row(a->out, e);
}

static enum err_code choose_list_columns(const struct invocation *in, const struct sessions *s,
                                         const struct listing *l, struct session_line_columns *look,
                                         struct err *e)
{
    size_t n;
    const struct session_ref *const *refs = listing_refs(l, &n);
    enum err_code rc = session_line_columns_open(s, l, &in->out, in->world->env.now_ms, look, e);

    for (size_t i = 0; i < n && !rc; i++)
        session_line_columns_fit(look, refs[i]);
    return rc;
}

/* What could not be listed. */
struct problems {
    const struct invocation *in;
    bool is_failure;
    struct err first; /* the first failure */
};

static void report_problem(const struct err *problem, void *arg)
{
    struct problems *p = arg;

    if (p->is_failure && !p->first.code)
        p->first = *problem;
    else
        out_report(p->in->err_fd, problem);
}

enum err_code sessions_report_unreadable(const struct invocation *in, const struct sessions *s,
                                         bool is_failure, struct err *e)
{
    struct problems p = { .in = in, .is_failure = is_failure };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < s->n; i++)
        if (s->store[i]->ops->unreadable)
            rc = s->store[i]->ops->unreadable(s->store[i], &s->scope, report_problem, &p, e);
    if (!rc && p.first.code)
        *e = p.first;
    return rc ? rc : p.first.code;
}

static void report_no_match(const struct invocation *in, const struct sessions *s)
{
    dprintf(in->err_fd, "%s\n",
            s->n == 0 && s->no_home ? "reprise: " SESSIONS_NO_HOME
            : s->n == 0             ? "reprise: no sessions yet"
            : s->scope.all          ? "reprise: no sessions match"
                           : "reprise: no sessions match here; --all searches all projects");
}

enum err_code list_run(struct invocation *in, struct err *e)
{
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    CLEANUP(listing_close_at) struct listing *listing = NULL;
    struct listing_query q;
    struct answer answer = { .out = &in->out };
    const struct listing_texts texts = { make_row_text, write_row_text };
    bool text = !in->out.wants_json;
    bool more = true;
    size_t listed;

    TRY(sessions_open(in, false, &s, e));
    command_report_interrupted(in);
    TRY(sessions_query(in, &s.scope, &q, e));
    q.late = text && q.offset <= 0; /* programs rely on the order */
    if (q.limit <= 0)               /* every text will be written */
        q.texts = &texts;
    TRY(listing_open(s.store, s.n, &q, &listing, e));
    listing_refs(listing, &listed);
    /* Once, and again for servers that take longer. */
    while (more) {
        enum err_code rc = text ? choose_list_columns(in, &s, listing, &answer.look, e) : ERR_OK;

        if (!rc)
            rc = listing_each(listing, write_list_row, &answer, e);
        session_line_columns_close(&answer.look);
        TRY(rc);
        if (text)
            TRY(out_flush(&in->out, e));
        TRY(listing_late(listing, &more, e));
    }
    /* If nothing else was requested and nothing is listed, it is a failure. */
    TRY(sessions_report_unreadable(in, &s, in->options.stores == 1 && listed == 0, e));
    if (!text)
        out_json_rows_end(&in->out);
    if (answer.rows == 0 && (text || (s.n == 0 && s.no_home)))
        report_no_match(in, &s);

    /* On stderr, because standard output holds only sessions, also as JSON, where they lack "expiresAt". */
    for (size_t i = 0; i < s.n; i++) {
        const struct store_ops *ops = s.store[i]->ops;
        const char *path;
        const char *why = ops->settings_note ? ops->settings_note(s.store[i], &path) : NULL;

        if (why)
            command_warn(in, ERR_FORMAT, path, "%s", why);
    }
    return ERR_OK;
}
