#include <fcntl.h>
#include <string.h>

#include "lite/io/rows.h"
#include "store/systems/common/document.h"
#include "store/systems/common/log_head.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"

/* The row of a list, from the first and the last bytes of a session's log. */

struct describing {
    const struct jsonl_format *format;
    struct session_row *row;
    struct window *w;
    struct arena *a;    /* for what is kept */
    struct arena *line; /* for one row */
    bool reading_on;    /* beyond the windows, where `line` is emptied for each row */
    struct buf prompt;  /* the first one */
    int64_t head_end;   /* where the first row begins that is not in the head as a whole */
    bool ended;         /* the last message was found */
    bool on_path;       /* a row was found */
    struct document_rows document; /* the rows of a session that is not a log */
    struct slice before;           /* the id of its parent */
    enum err_code rc;
};

static bool may_be_prompt(const struct describing *d, struct slice line)
{
    return slice_has(line, d->format->prompt_needle);
}

/* A copy, because no row outlives the next one. */
static void jsonl_describe_keep_text(struct describing *d, struct slice *field, struct slice value)
{
    if (!value.n)
        return;
    *field = arena_copy(d->a, value);
    if (!field->p) {
        *field = (struct slice){ NULL, 0 };
        d->rc = ERR_NOMEM;
    }
}

static void jsonl_describe_keep_first(struct describing *d, struct slice *field, struct slice value)
{
    if (!field->n)
        jsonl_describe_keep_text(d, field, value);
}

static bool jsonl_describe_read_row(struct describing *d, struct slice line,
                                    struct jsonl_row_facts *facts)
{
    if (d->reading_on)
        arena_reset(d->line);
    *facts = (struct jsonl_row_facts){ .time_ms = TIME_NONE, .placed = d->row->cwd.n };
    enum err_code rc = !line.n ? ERR_FORMAT
                       : d->format->rows
                           ? row_table_read(d->format, line, d->document.whole, d->line, facts)
                           : d->format->read(line, d->line, facts);

    if (rc == ERR_NOMEM)
        d->rc = rc;
    return !rc;
}

static void add_to_prompt(struct describing *d, struct slice piece)
{
    if (buf_add(&d->prompt, piece))
        d->rc = ERR_NOMEM;
}

/* Looks for the first prompt and the first time. Returns false when they are complete; a prompt may consist of several
 * rows. */
static bool see_head_row(struct slice line, void *arg)
{
    struct describing *d = arg;
    struct jsonl_row_facts facts;
    struct session_row *row = d->row;
    bool dated = row->created_ms != TIME_NONE, wanted = may_be_prompt(d, line);

    if (d->prompt.n && (!wanted || !jsonl_describe_read_row(d, line, &facts) || !facts.prompt.n))
        return false;
    if (d->prompt.n) {
        add_to_prompt(d, facts.prompt);
        return !d->rc && d->prompt.n < SESSION_TEXT_MOST;
    }
    wanted |= d->reading_on && d->format->title_needle && slice_has(line, d->format->title_needle);
    if ((dated && !wanted) || !jsonl_describe_read_row(d, line, &facts))
        return !d->rc;
    if (!dated)
        row->created_ms = facts.time_ms;
    jsonl_describe_keep_first(d, &row->cwd, facts.cwd);
    jsonl_describe_keep_first(d, &row->parent_id, facts.parent);
    if (d->reading_on && facts.names)
        jsonl_describe_keep_first(d, &row->custom_title, facts.title);
    add_to_prompt(d, facts.prompt);
    return !d->rc && (!d->prompt.n || d->format->in_pieces);
}

/* Returns true if nothing is missing, or if there is no more. */
static bool jsonl_describe_read_head(struct describing *d)
{
    struct slice head = rows_skip_mark(d->w->head), rest = head, line;
    bool torn, cut = d->w->file.id.size > (int64_t)d->w->head.n, more = true;

    d->prompt.n = 0;
    while (more && slice_line(&rest, &line, &torn)) {
        d->head_end = line.p - d->w->head.p;
        if (torn && cut)
            return false;
        more = see_head_row(line, d);
    }
    d->head_end = (int64_t)d->w->head.n;
    return !more || !cut;
}

/* Goes up from the last row. Returns true if the row is not above it. */
static bool jsonl_describe_is_left(struct describing *d, const struct jsonl_row_facts *facts)
{
    if (!d->format->branches || !facts->entry.n)
        return false;
    if (d->on_path && !slice_eq(facts->entry, d->before))
        return true;
    d->on_path = true;
    d->before = (struct slice){ NULL, 0 };
    jsonl_describe_keep_text(d, &d->before, facts->after);
    return false;
}

static bool jsonl_describe_is_timed(const struct jsonl_format *format)
{
    return (format->keys && format->keys->time) || (format->rows && format->rows->time);
}

/* Looks backwards for the last message, the newest time from there on and the last prompt. Returns false when they are
 * complete; beyond the tail, the last message is enough. */
static bool see_tail_row(struct slice line, void *arg)
{
    struct describing *d = arg;
    struct session_row *row = d->row;
    struct jsonl_row_facts facts;
    bool prompt = may_be_prompt(d, line);

    if (row->last_prompt.n) {
        if (!prompt || !jsonl_describe_read_row(d, line, &facts) || !facts.prompt.n)
            return false;
        const char *joined =
            arena_concat(d->a, (const struct slice[]){ facts.prompt, row->last_prompt }, 2);

        row->last_prompt.n += facts.prompt.n;
        row->last_prompt.p = joined;
        d->rc = joined ? d->rc : ERR_NOMEM;
        return !d->rc;
    }
    /* A last message without a time is as old as the row above it that has one, even on another branch. */
    bool undated = row->activity_ms == TIME_NONE &&
                   (!d->ended || (!d->reading_on && jsonl_describe_is_timed(d->format)));
    bool names_model =
        d->format->model_needle && !row->model.n && slice_has(line, d->format->model_needle);
    bool needed = !d->ended || undated || d->format->branches || prompt || names_model;

    if (!needed || !jsonl_describe_read_row(d, line, &facts))
        return !d->rc;
    if (undated)
        row->activity_ms = facts.time_ms;
    if (jsonl_describe_is_left(d, &facts))
        return !d->rc;
    if (!d->ended && facts.speaks && facts.waits)
        row->flags |= SESSION_INTERRUPTED;
    d->ended |= facts.speaks;
    jsonl_describe_keep_first(d, &row->cwd, facts.cwd);
    jsonl_describe_keep_first(d, &row->git_branch, facts.git_branch);
    jsonl_describe_keep_first(d, &row->model, facts.model);
    jsonl_describe_keep_text(d, &row->last_prompt, facts.prompt);
    return !d->rc && (row->last_prompt.n ? d->format->in_pieces : !(d->reading_on && d->ended));
}

/* Returns false if the tail has no prompt. */
static bool jsonl_describe_read_tail(struct describing *d)
{
    struct slice rest = rows_skip_mark(d->w->tail), line;
    bool torn, more = true;

    d->on_path = false;
    d->row->last_prompt = (struct slice){ NULL, 0 };
    while (more && slice_last_line(&rest, &line, &torn))
        more = see_tail_row(line, d);
    return d->row->last_prompt.n;
}

/* Where the first row ends that the tail does not begin with, as a whole. */
static int64_t before_tail(const struct describing *d)
{
    struct slice tail = d->w->tail;
    const char *newline = memchr(tail.p, '\n', tail.n);

    return d->w->file.id.size - (newline ? (int64_t)(tail.p + tail.n - newline - 1) : 0);
}

/* Looks backwards for the last title. */
static bool jsonl_describe_read_title(struct describing *d, struct slice rest)
{
    struct jsonl_row_facts facts;
    struct slice line;
    bool torn;

    /* Most sessions have no title, which one search in all rows shows. */
    if (!slice_has(rest, d->format->title_needle))
        return false;
    while (!d->rc && slice_last_line(&rest, &line, &torn)) {
        if (!slice_has(line, d->format->title_needle) ||
            !jsonl_describe_read_row(d, line, &facts) || !facts.names)
            continue;
        jsonl_describe_keep_first(d, &d->row->custom_title, facts.title);
        return true;
    }
    return false;
}

static void jsonl_describe_read_titles(struct describing *d)
{
    struct window *w = d->w;

    if (!d->format->title_needle || jsonl_describe_read_title(d, w->tail) || d->rc)
        return;
    if (!w->wide && !window_widen(w, NULL) && jsonl_describe_read_title(d, w->tail))
        return;
    if (!d->rc && w->head.p != w->tail.p)
        jsonl_describe_read_title(d, w->head);
}

/* The windows are enough unless a row is longer, or there are many of them before the first prompt. */
static void jsonl_describe_read_on(struct describing *d, bool have_head)
{
    struct arena line = { 0 };
    struct window *w = d->w;
    enum err_code rc = ERR_OK;
    bool apart = w->head.p != w->tail.p && !w->shrank && !d->rc;

    d->line = &line;
    d->reading_on = true;
    if (apart && !have_head)
        rc = rows_forward(&w->file, d->head_end, see_head_row, d, NULL);
    if (apart && !rc && !d->ended)
        rc = rows_backward(&w->file, before_tail(d), see_tail_row, d, NULL);
    if (rc == ERR_NOMEM)
        d->rc = rc;
    arena_fini(&line);
}

/* The beginning of a long row is enough. */
static bool jsonl_describe_lacks_head(const struct describing *d)
{
    struct slice rest = rows_skip_mark(d->w->head), line;
    bool torn;

    return slice_line(&rest, &line, &torn) && log_head_is_lost(d->row->ref.store, line);
}

static void jsonl_describe_read_windows(struct describing *d)
{
    struct window *w = d->w;

    jsonl_describe_read_titles(d);
    bool have_head = jsonl_describe_read_head(d);

    if (!have_head && !d->rc && !window_widen(w, NULL))
        have_head = jsonl_describe_read_head(d);
    if (!jsonl_describe_read_tail(d) && !d->rc && !w->wide && !window_widen(w, NULL))
        jsonl_describe_read_tail(d);
    if ((!have_head || !d->ended) && !d->format->document)
        jsonl_describe_read_on(d, have_head);
    d->row->first_prompt = buf_slice(&d->prompt);
    d->row->flags |=
        (w->torn_tail ? SESSION_TORN : 0U) | (w->shrank ? SESSION_CHANGED : 0U) |
        (window_shows_damage(w) || jsonl_describe_lacks_head(d) ? SESSION_DAMAGED : 0U);
}

static enum err_code jsonl_describe_read_log(struct describing *d, struct err *e)
{
    enum err_code rc = window_open(d->w, AT_FDCWD, d->row->ref.path.p, WINDOW_BRIEF, e);

    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        return rc;
    if (rc)
        d->row->hidden = HIDDEN_UNREADABLE;
    else {
        d->row->ref.file = d->w->file.id;
        jsonl_describe_read_windows(d);
    }
    return d->rc ? err_nomem(e) : ERR_OK;
}

/* The rows at both ends of a document, as if they were a whole log; if the first prompt or the last row is longer than
 * these, all of them. */
static enum err_code jsonl_describe_read_document(struct describing *d, struct err *e)
{
    struct session_row *row = d->row;
    struct window *w = d->w;

    window_close(w);
    for (size_t most = WINDOW_BYTES; most; most = most == WINDOW_BYTES ? DOCUMENT_MOST : 0) {
        document_rows_fini(&d->document);
        enum err_code rc =
            document_rows_read(row->ref.path.p, d->format->document, most, &d->document, e);

        if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
            return rc;
        if (rc) {
            row->hidden = HIDDEN_UNREADABLE;
            return ERR_OK;
        }

        /* The windows now show the rows instead of the file's own bytes. */
        w->head = w->tail = buf_slice(&d->document.lines);
        w->file.id.size = (int64_t)w->head.n;
        w->wide = true;
        w->torn_tail = w->shrank = false;
        d->ended = false;
        row->flags = 0;
        row->activity_ms = TIME_NONE;
        row->model = (struct slice){ NULL, 0 };
        jsonl_describe_read_windows(d);
        row->flags |=
            (d->document.torn ? SESSION_TORN : 0U) | (d->document.damaged ? SESSION_DAMAGED : 0U);
        if (d->rc || d->document.whole || (row->first_prompt.n && d->ended && d->document.has_end))
            break;
    }
    return d->rc ? err_nomem(e) : ERR_OK;
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
    d.a = d.line = &scratch->arena;
    session_row_reset(row);
    row->ref = *ref;
    if (s->format->document)
        rc = jsonl_describe_read_document(&d, e);
    else if (!s->format->has_log || s->format->has_log(ref))
        rc = jsonl_describe_read_log(&d, e);
    if (!rc && s->format->about)
        rc = session_about_complete(st, scope, row, d.a, e);
    else if (!rc && s->format->complete)
        rc = s->format->complete(st, scope, row, d.a, e);

    /* The row outlives the listing, which owns the preread bytes. */
    row->ref.preread = (struct slice){ NULL, 0 };
    if (!rc) {
        /* The defaults come last, because they depend on what the format has set. */
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
    if (!rc && !session_row_keep(row))
        rc = err_nomem(e);
    buf_fini(&d.prompt);
    document_rows_fini(&d.document);
    window_pool_release(s->pool, scratch);
    return rc;
}
