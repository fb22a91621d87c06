#include <string.h>

#include "lite/base/cleanup.h"
#include "store/grep/grep.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/text/clean.h"

/* ---- what is searched for ---- */

static const struct {
    const char *word;
    unsigned bit;
} places[] = {
    { "prompts", GREP_IN_PROMPTS },   { "replies", GREP_IN_REPLIES }, { "tools", GREP_IN_TOOLS },
    { "thinking", GREP_IN_THINKING }, { "all", GREP_IN_ALL },
};

/* Reads "prompts,replies". */
static enum err_code read_places(const char *words, unsigned *in, struct err *e)
{
    *in = words ? 0 : GREP_IN_DEFAULT;
    for (const char *p = words; p; p = *p ? p + 1 : NULL) {
        size_t n = strcspn(p, ","), i = 0, count = sizeof places / sizeof *places;

        while (i < count && !slice_eq(slice_of(places[i].word), (struct slice){ p, n }))
            i++;
        if (i == count)
            return err_set(
                e, ERR_USAGE, "",
                "\"%.80s\" is not a place to search; use prompts, replies, thinking, tools or all",
                words);
        *in |= places[i].bit;
        p += n;
        if (!*p)
            break;
    }
    return ERR_OK;
}

static enum err_code make_grep_query(struct invocation *in, const struct scope *scope,
                                     struct slice *pattern, struct grep_query *q, struct err *e)
{
    const struct options *o = &in->options;

    *q = (struct grep_query){
        .pattern = pattern,
        .fixed = option_given(o, OPTION_FIXED),
        .words = option_given(o, OPTION_WORDS),
        .any = option_given(o, OPTION_ANY),
        .branches = true,
        .context = (size_t)o->context,
        .letters = option_given(o, OPTION_CASE)          ? GREP_CASE_EXACT
                   : option_given(o, OPTION_IGNORE_CASE) ? GREP_CASE_IGNORE
                                                         : GREP_CASE_SMART,
        .want = option_given(o, OPTION_SESSIONS) ? GREP_WANT_SESSIONS
                : option_given(o, OPTION_COUNTS) ? GREP_WANT_COUNTS
                                                 : GREP_WANT_HITS,
    };
    if ((size_t)in->argc + o->patterns > GREP_PATTERNS)
        return err_set(e, ERR_USAGE, "-e", "too many patterns");
    for (int i = 0; i < in->argc; i++)
        pattern[q->n++] = slice_of(in->argv[i]);
    for (size_t i = 0; i < o->patterns; i++)
        pattern[q->n++] = slice_of(o->pattern[i]);
    if (!q->n)
        return err_set(e, ERR_USAGE, "search", "needs a pattern; see reprise search --help");
    enum err_code rc = read_places(o->in, &q->in, e);

    return rc ? rc : sessions_query(in, scope, &q->sessions, e);
}

/* ---- the answer ---- */

struct search_answer {
    struct invocation *in;
    struct out *out;
    const struct grep_query *query;
    struct session_line_columns look;
    bool begun;               /* hits of the session are being written */
    bool gone;                /* the hits are in sessions whose transcripts are gone */
    uint64_t lines, sessions; /* written */
    int64_t skip;             /* rows that are not written yet, for --offset */
};

static const char *place_word(enum block_kind kind)
{
    switch (kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: return "prompt";
    case BLOCK_TEXT: return "reply";
    case BLOCK_THINKING: return "thinking";
    case BLOCK_TOOL_CALL:
    case BLOCK_TOOL_RESULT: return "tool";
    case BLOCK_RAW: return "damaged";
    default: return "note";
    }
}

static void write_session_members(const struct search_answer *a, const struct session_row *row)
{
    struct out *o = a->out;

    out_string(o, "system", row->ref.store->ops->name);
    out_member(o, "session", row->ref.id);
    out_member(o, "title", session_row_title(row));
    out_bool_if_true(o, "gone", a->gone);
}

static void write_hit_json(struct search_answer *a, const struct session_row *row,
                           const struct grep_hit *hit)
{
    struct out *o = a->out;

    out_open(o, NULL, '{');
    write_session_members(a, row);
    out_member(o, "agent", hit->agent);
    out_member(o, "message", hit->message);
    out_string(o, "place", place_word(hit->kind));
    if (hit->time_ms != TIME_NONE)
        out_int(o, "time", hit->time_ms);
    out_bool_if_true(o, "otherBranch", hit->aside);
    out_bool_if_true(o, "context", hit->context);
    out_bool_if_true(o, "cut", hit->cut);
    out_member(o, "line", hit->line);
    if (!hit->context) {
        out_open(o, "matches", '[');
        for (size_t i = 0; i < hit->ranges; i++) {
            out_open(o, NULL, '[');
            out_int(o, NULL, (int64_t)hit->range[i].from);
            out_int(o, NULL, (int64_t)hit->range[i].to);
            out_close(o, ']');
        }
        out_close(o, ']');
    }
    out_end(o, '}');
}

/* The part of a line that is written: without leading blanks, and on a terminal from a little
 * before the first match if the match would otherwise not be visible. */
static size_t command_search_skip_front(const struct grep_hit *hit, size_t columns)
{
    size_t at = 0, first = hit->ranges ? hit->range[0].from : 0;

    while (at < hit->line.n && at < (hit->ranges ? first : hit->line.n) &&
           strchr(" \t", hit->line.p[at]))
        at++;
    if (!columns || first - at < columns * 2 / 3 || !hit->ranges)
        return at;
    at = first - columns / 3;
    while (at < first && ((unsigned char)hit->line.p[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* Writes bytes of the line and subtracts their columns from the remaining ones; 0 columns: no
 * limit. */
static void command_search_write_piece(struct out *o, struct slice text, bool limited, size_t *left)
{
    size_t width = limited ? clean_width(text) : 0;

    if (limited && width > *left)
        session_line_cut(text, *left, o);
    else
        out_text(o, text);
    *left -= width > *left ? *left : width;
}

static void write_matches(struct out *o, const struct grep_hit *hit, size_t columns)
{
    size_t at = command_search_skip_front(hit, columns), left = columns;
    bool limited = columns > 0;

    /* Leading blanks are left out without a sign. */
    if (at && limited && !strchr(" \t", hit->line.p[at - 1])) {
        out_addf(o, "%s", o->ascii ? "." : "…");
        left--;
    }
    for (size_t i = 0; i < hit->ranges && (!limited || left); i++) {
        struct grep_range r = hit->range[i];
        size_t from = r.from > at ? r.from : at;

        if (r.to <= at)
            continue;
        command_search_write_piece(o, (struct slice){ hit->line.p + at, from - at }, limited,
                                   &left);
        out_style(o, OUT_MATCH);
        if (left || !limited)
            command_search_write_piece(o, (struct slice){ hit->line.p + from, r.to - from },
                                       limited, &left);
        out_style(o, OUT_PLAIN);
        at = r.to;
    }
    if (left || !limited)
        command_search_write_piece(o, (struct slice){ hit->line.p + at, hit->line.n - at }, limited,
                                   &left);
    out_addf(o, "\n");
}

enum { PLACE_COLUMNS = 10, MARK_COLUMNS = 14 };

static void write_hit_text(struct search_answer *a, const struct session_row *row,
                           const struct grep_hit *hit)
{
    struct out *o = a->out;
    /* The place of a hit, if it is not in the conversation itself. */
    const char *aside = a->gone ? "gone" : hit->agent.n ? "sub-agent" : hit->aside ? "branch" : "";
    size_t columns = 0;

    if (o->columns == 0) {
        session_line_id(&row->ref, &a->look, o);
        out_addf(o, " %s%s%s%c ", place_word(hit->kind), *aside ? "/" : "", aside,
                 hit->context ? '-' : ':');
    } else {
        if (hit->apart && a->query->context && a->lines)
            out_addf(o, "  --\n");
        out_style(o, OUT_AGE);
        out_addf(o, "  %-*s", PLACE_COLUMNS - 2, place_word(hit->kind));
        if (*aside)
            out_addf(o, "%s: ", aside);
        out_style(o, OUT_PLAIN);
        columns = PLACE_COLUMNS + (*aside ? strlen(aside) + 2 : 0);
        columns = o->columns > columns + MARK_COLUMNS ? o->columns - columns : MARK_COLUMNS;
    }
    write_matches(o, hit, columns);
}

static void write_session_end(struct search_answer *a, const struct grep_part *part)
{
    struct out *o = a->out;

    if (o->wants_json) {
        out_open(o, NULL, '{');
        write_session_members(a, part->row);
        if (a->query->want == GREP_WANT_COUNTS)
            out_int(o, "lines", (int64_t)part->lines);
        if (part->skipped)
            out_int(o, "incomplete", (int64_t)part->skipped);
        out_end(o, '}');
        return;
    }
    if (a->query->want == GREP_WANT_COUNTS) {
        out_addf(o, "%7llu  ", (unsigned long long)part->lines);
        session_line_write(part->row, &a->look, 9, o);
    } else {
        out_line(o, "", part->row->ref.id);
    }
}

static bool is_full(const struct search_answer *a, uint64_t written)
{
    int64_t limit = a->in->options.limit;

    return limit > 0 && written >= (uint64_t)limit;
}

static enum err_code command_search_write_part(const struct grep_part *part, void *arg,
                                               struct err *e)
{
    struct search_answer *a = arg;
    enum err_code rc = ERR_OK;

    if (part->last && part->skipped)
        command_warn(a->in, ERR_FORMAT, part->row->ref.path.p,
                     "search: %zu rows or texts were not searched to their end: too long, or the "
                     "pattern takes too long on them",
                     part->skipped);
    for (size_t i = 0; !rc && i < part->n; i++) {
        if (a->skip && a->skip--)
            continue;
        if (!a->begun) {
            if (a->out->columns != 0 && !a->out->wants_json) {
                if (a->sessions)
                    out_addf(a->out, "\n");
                session_line_write(part->row, &a->look, 0, a->out);
            }
            a->sessions++;
            a->begun = true;
        }
        if (a->out->wants_json)
            write_hit_json(a, part->row, &part->hit[i]);
        else
            write_hit_text(a, part->row, &part->hit[i]);
        a->lines += !part->hit[i].context;
        rc = out_row(a->out, e);
        if (!rc && is_full(a, a->lines))
            rc = ERR_CANCELLED;
    }
    if (part->last)
        a->begun = false;
    if (!rc && part->last && part->lines && a->query->want != GREP_WANT_HITS &&
        !(a->skip && a->skip--)) {
        write_session_end(a, part);
        rc = out_row(a->out, e);
        a->sessions++;
        if (!rc && is_full(a, a->sessions))
            rc = ERR_CANCELLED;
    }
    /* Hits are shown at once, not when the buffer is full. */
    return rc == ERR_OK ? out_flush(a->out, e) : rc;
}

static void command_search_report_trouble(const struct err *trouble, void *arg)
{
    const struct search_answer *a = arg;

    out_report(a->in->err_fd, trouble);
}

static bool shows_short_ids(const struct search_answer *a)
{
    return !a->out->wants_json && a->query->want != GREP_WANT_SESSIONS;
}

static enum err_code run_search(struct invocation *in, struct sessions *s, struct err *e)
{
    struct slice pattern[GREP_PATTERNS];
    struct grep_query q;
    struct search_answer a = { .in = in, .out = &in->out, .query = &q, .skip = in->options.offset };
    struct listing *listing = NULL;

    TRY(make_grep_query(in, &s->scope, pattern, &q, e));
    bool more = true;

    q.sessions.late = !in->out.wants_json && a.skip <= 0; /* programs rely on the order */
    enum err_code rc = listing_open(s->store, s->n, &q.sessions, &listing, e);

    /* Once, and again for servers that take longer. */
    for (bool first = true; !rc && more; first = false) {
        if (shows_short_ids(&a))
            rc = session_line_columns_open(s, listing, &in->out, in->world->env.now_ms, &a.look, e);
        if (!rc)
            rc = grep_run(listing, &q, command_search_write_part, command_search_report_trouble, &a,
                          e);
        if (rc == ERR_USAGE && strstr(e->text, " at character ")) {
            const struct err why = *e;

            rc = err_set(e, rc, "", "%s; -F searches for it as text", why.text);
        }
        a.gone = true;
        if (!rc && first && q.want != GREP_WANT_SESSIONS) /* other commands could not open them */
            rc = grep_gone(s->store, s->n, listing, &q, command_search_write_part, &a, e);
        a.gone = false;
        session_line_columns_close(&a.look);
        if (!rc)
            rc = listing_late(listing, &more, e);
    }
    listing_close(listing);
    if (rc == ERR_CANCELLED && !in->out.closed && !in->out.cut)
        rc = ERR_OK; /* the limit */
    if (!rc)
        rc = sessions_report_unreadable(in, s, false, e);
    /* A hit that --offset skipped was found, too: the end of an answer that --max-bytes cut is no failure. */
    if (!rc && !a.sessions && a.skip == in->options.offset) {
        command_warn(
            in, ERR_OK, NULL, "%s",
            sessions_none(s, s->scope.all
                                 ? "no session has a match"
                                 : "no session has a match here; --all searches all projects"));
        in->exit_code = 1; /* as grep does; the warning is all there is to report */
        rc = err_set(e, ERR_CANCELLED, "", "search");
    }
    return rc;
}

enum err_code search_run(struct invocation *in, struct err *e)
{
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };

    TRY(sessions_open(in, false, &s, e));
    in->out.json_lines = true;
    return run_search(in, &s, e);
}
