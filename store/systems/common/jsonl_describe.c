#include <fcntl.h>
#include <string.h>

#include "store/systems/common/jsonl.h"

/* The row of a list, from the first and the last bytes of a session's log. */

struct describing {
    const struct jsonl_format *format;
    struct session_row *row;
    struct window *w;
    struct arena *a;
    bool ended;          /* the last message was found */
    bool on_path;        /* a row was found */
    struct slice before; /* the id of its parent */
    enum err_code rc;
};

static bool may_be_prompt(const struct describing *d, struct slice line)
{
    return slice_has(line, d->format->prompt_needle);
}

/* A copy, because a window that is widened is read again. */
static void keep_first(struct describing *d, struct slice *field, struct slice value)
{
    if (field->n || !value.n)
        return;
    *field = arena_copy(d->a, value);
    if (!field->p)
        d->rc = ERR_NOMEM;
}

static bool read_row(struct describing *d, struct slice line, struct jsonl_row_facts *facts)
{
    *facts = (struct jsonl_row_facts){ .time_ms = TIME_NONE };
    enum err_code rc = line.n ? d->format->read(line, d->a, facts) : ERR_FORMAT;

    if (rc == ERR_NOMEM)
        d->rc = rc;
    return !rc;
}

typedef bool next_line_fn(struct slice *rest, struct slice *line, bool *torn);

/* Adds the neighbouring rows of a prompt that consists of several rows: those after it, or with slice_last_line those
 * before it. */
static void join_pieces(struct describing *d, struct slice rest, next_line_fn *next,
                        struct slice *prompt)
{
    struct jsonl_row_facts facts;
    struct slice line;
    bool torn;

    while (prompt->n && d->format->in_pieces && !d->rc && next(&rest, &line, &torn) &&
           may_be_prompt(d, line) && read_row(d, line, &facts) && facts.prompt.n) {
        bool before = next == slice_last_line;
        const struct slice both[] = { before ? facts.prompt : *prompt,
                                      before ? *prompt : facts.prompt };
        const char *joined = arena_concat(d->a, both, 2);

        if (joined)
            *prompt = slice_of(joined);
        else
            d->rc = ERR_NOMEM;
    }
}

/* The whole of a row that begins in the head and is longer; empty if it is too long, or torn. */
static struct slice whole_line(struct describing *d, struct slice line)
{
    enum { LEAST = 256 << 10, MOST = 4 << 20 };
    int64_t at = line.p - d->w->head.p;
    size_t got = 0;

    for (size_t n = LEAST; n <= MOST; n *= 4) {
        char *text = arena_alloc(d->a, n);
        const char *end = text && !file_read(&d->w->file, at, text, n, &got, NULL)
                              ? memchr(text, '\n', got)
                              : NULL;

        if (end)
            return (struct slice){ text, (size_t)(end - text) };
        if (got < n)
            break;
    }
    return SLICE("");
}

/* Looks for the first prompt and the first time. Returns false if the head has no prompt. */
static bool read_head(struct describing *d)
{
    struct slice rest = d->w->head, line;
    struct jsonl_row_facts facts;
    bool torn, cut = d->w->file.id.size > (int64_t)d->w->head.n;

    while (!d->rc && slice_line(&rest, &line, &torn)) {
        bool dated = d->row->created_ms != TIME_NONE;

        if (torn && cut)
            line = d->w->wide && may_be_prompt(d, line) ? whole_line(d, line) : SLICE("");
        if ((dated && !may_be_prompt(d, line)) || !read_row(d, line, &facts))
            continue;
        if (!dated)
            d->row->created_ms = facts.time_ms;
        keep_first(d, &d->row->cwd, facts.cwd);
        keep_first(d, &d->row->parent_id, facts.parent);
        d->row->first_prompt = facts.prompt;
        join_pieces(d, rest, slice_line, &d->row->first_prompt);
        if (facts.prompt.n)
            return true;
    }
    return false;
}

/* Goes up from the last row. Returns true if the row is not above it. */
static bool is_left(struct describing *d, const struct jsonl_row_facts *facts)
{
    if (!d->format->branches || !facts->entry.n)
        return false;
    if (d->on_path && !slice_eq(facts->entry, d->before))
        return true;
    d->on_path = true;
    d->before = facts->after;
    return false;
}

static bool may_name_model(const struct describing *d, struct slice line)
{
    return d->format->model_needle && !d->row->model.n && slice_has(line, d->format->model_needle);
}

/* Looks backwards for the last message, the newest time from there on and the last prompt. Returns
 * false if the tail has no prompt. */
static bool read_tail(struct describing *d)
{
    struct slice rest = d->w->tail, line;
    struct jsonl_row_facts facts;
    bool torn;

    d->on_path = false;
    while (!d->rc && slice_last_line(&rest, &line, &torn)) {
        bool needed =
            !d->ended || d->format->branches || may_be_prompt(d, line) || may_name_model(d, line);

        if (!needed || !read_row(d, line, &facts) || is_left(d, &facts))
            continue;
        if (!d->ended && d->row->activity_ms == TIME_NONE)
            d->row->activity_ms = facts.time_ms;
        if (!d->ended && facts.speaks && facts.waits)
            d->row->flags |= SESSION_INTERRUPTED;
        d->ended |= facts.speaks;
        keep_first(d, &d->row->cwd, facts.cwd);
        keep_first(d, &d->row->git_branch, facts.git_branch);
        keep_first(d, &d->row->model, facts.model);
        d->row->last_prompt = facts.prompt;
        join_pieces(d, rest, slice_last_line, &d->row->last_prompt);
        if (facts.prompt.n)
            return true;
    }
    return false;
}

/* Looks backwards for the last title. */
static bool read_title(struct describing *d, struct slice rest)
{
    struct jsonl_row_facts facts;
    struct slice line;
    bool torn;

    while (!d->rc && slice_last_line(&rest, &line, &torn)) {
        if (!slice_has(line, d->format->title_needle) || !read_row(d, line, &facts) || !facts.names)
            continue;
        keep_first(d, &d->row->custom_title, facts.title);
        return true;
    }
    return false;
}

static void read_titles(struct describing *d)
{
    struct window *w = d->w;

    if (!d->format->title_needle || read_title(d, w->tail) || d->rc)
        return;
    if (!w->wide && !window_widen(w, NULL) && read_title(d, w->tail))
        return;
    if (!d->rc && w->head.p != w->tail.p)
        read_title(d, w->head);
}

static void read_windows(struct describing *d)
{
    struct window *w = d->w;

    d->row->ref.file = w->file.id;
    read_titles(d);
    if (!read_head(d) && !d->rc && !window_widen(w, NULL))
        read_head(d);
    if (!read_tail(d) && !d->rc && !w->wide && !window_widen(w, NULL))
        read_tail(d);
    d->row->flags |= (w->torn_tail ? SESSION_TORN : 0U) | (w->shrank ? SESSION_CHANGED : 0U) |
                     (window_shows_damage(w) ? SESSION_DAMAGED : 0U);
}

static enum err_code read_log(struct describing *d, struct err *e)
{
    enum err_code rc = window_open(d->w, AT_FDCWD, d->row->ref.path.p, WINDOW_BRIEF, e);

    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        return rc;
    if (rc)
        d->row->hidden = HIDDEN_UNREADABLE;
    else
        read_windows(d);
    return d->rc ? err_nomem(e) : ERR_OK;
}

static void set_defaults(struct session_row *row)
{
    row->modified_ms = session_modified_ms(&row->ref.file);
    row->flags |= row->parent_id.n ? SESSION_FORK : 0U;
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    if (!row->summary.n)
        row->summary = row->custom_title.n   ? row->custom_title
                       : row->first_prompt.n ? row->first_prompt
                       : row->last_prompt.n  ? row->last_prompt
                                             : row->ref.id;
}

enum err_code jsonl_describe(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, struct session_row *row, struct err *e)
{
    const struct jsonl_store *s = (const struct jsonl_store *)st;
    struct describing d = { .format = s->format, .row = row };
    struct scratch *scratch;
    enum err_code rc = window_pool_acquire(s->pool, &scratch, e);

    if (rc)
        return rc;
    d.w = &scratch->window;
    d.a = &scratch->arena;
    session_row_reset(row);
    row->ref = *ref;
    if (!s->format->has_log || s->format->has_log(ref))
        rc = read_log(&d, e);
    if (!rc && s->format->complete)
        rc = s->format->complete(st, scope, row, d.a, e);
    row->ref.preread = (struct slice){ NULL, 0 };
    if (!rc)
        set_defaults(row);
    if (!rc && !session_row_keep(row))
        rc = err_nomem(e);
    window_pool_release(s->pool, scratch);
    return rc;
}
