#include "store/grep/grep_session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/scan.h"
#include "lite/scan/index.h"

/* A longer row than ROW_MAX is not held in memory, and not searched. After GIVEN_UP_MAX texts on which a pattern took too
 * long, in all sessions, the search ends. */
enum { PIECE = 256 * 1024, ROW_MAX = 24 << 20, GIVEN_UP_MAX = 20 };

static bool grep_session_is_cancelled(const struct grep_session *s)
{
    return s->q->cancel && atomic_load_explicit(s->q->cancel, memory_order_relaxed);
}

/* ---- the row that a text is in ---- */

struct grep_row {
    struct slice bytes;
    int64_t offset;
    struct slice message;
    int64_t time_ms;
};

static int compare_offsets(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* Records where the rows of the conversation are; any other match is on another branch. */
static enum err_code load_path(struct grep_session *s, struct err *e)
{
    const struct store_ops *ops = s->ref->store->ops;
    struct transcript *t;
    enum err_code rc =
        (ops->load_path ? ops->load_path : ops->load)(s->ref->store, s->ref, s->q->cancel, &t, e);

    if (rc)
        return rc;
    s->path = malloc((t->n + 1) * sizeof *s->path);
    for (size_t i = 0; s->path && i < t->n; i++)
        s->path[s->path_n++] = t->message[i].offset;
    transcript_free(t);
    if (!s->path)
        return err_nomem(e);
    qsort(s->path, s->path_n, sizeof *s->path, compare_offsets);
    s->path_known = true;
    return ERR_OK;
}

static enum err_code is_aside(struct grep_session *s, int64_t offset, bool *aside, struct err *e)
{
    enum err_code rc = ERR_OK;

    *aside = false;
    if (!s->q->branches || s->in_agent || !s->keys || !s->ref->store->ops->branches)
        return ERR_OK;
    if (!s->path_known)
        rc = load_path(s, e);
    if (!rc)
        *aside = !bsearch(&offset, s->path, s->path_n, sizeof offset, compare_offsets);
    return rc;
}

/* ---- the lines of a text ---- */

/* A text being searched, and the next match of each pattern in it. */
struct texts {
    struct grep_session *s;
    struct grep_row *row;
    enum block_kind kind;
    struct slice text;
    struct grep_range next[GREP_PATTERNS];
    bool none[GREP_PATTERNS]; /* no further match of it */
    size_t shown;             /* lines before this position were reported or left out */
    bool began;               /* a line of this text was reported */
    bool given_up;            /* a pattern takes too long on it */
};

static void advance(struct texts *t, size_t i, size_t from)
{
    enum grep_match m = grep_match_next(t->s->matcher, i, from, &t->next[i]);

    t->none[i] = m != GREP_MATCH;
    t->given_up |= m == GREP_MATCH_TOO_LONG;
}

/* Returns the pattern with the earliest next match, or the number of patterns if no match is
 * left. */
static size_t first_match(const struct texts *t)
{
    size_t first = t->s->patterns;

    for (size_t i = 0; i < t->s->patterns; i++)
        if (!t->none[i] && (first == t->s->patterns || t->next[i].from < t->next[first].from))
            first = i;
    return first;
}

static size_t grep_session_line_start(struct slice text, size_t at)
{
    const char *nl = memrchr(text.p, '\n', at);

    return nl ? (size_t)(nl - text.p) + 1 : 0;
}

static size_t line_end(struct slice text, size_t at)
{
    const char *nl = memchr(text.p + at, '\n', text.n - at);

    return nl ? (size_t)(nl - text.p) : text.n;
}

/* Cuts a long line to the part that begins near its first match, without splitting a character. */
static void cut_line(struct grep_hit *hit, struct grep_range *range, size_t *ranges)
{
    size_t from =
        *ranges && range[0].from > GREP_LINE_MAX / 4 ? range[0].from - GREP_LINE_MAX / 4 : 0;
    size_t to, kept = 0;

    while (from && ((unsigned char)hit->line.p[from] & 0xc0) == 0x80)
        from--;
    to = hit->line.n - from > GREP_LINE_MAX ? from + GREP_LINE_MAX : hit->line.n;
    while (to < hit->line.n && to > from && ((unsigned char)hit->line.p[to] & 0xc0) == 0x80)
        to--;
    for (size_t i = 0; i < *ranges && range[i].from < to; i++) {
        range[kept].from = range[i].from - from;
        range[kept++].to = (range[i].to < to ? range[i].to : to) - from;
    }
    *ranges = kept;
    hit->line = (struct slice){ hit->line.p + from, to - from };
    hit->cut = true;
}

static enum err_code show_line(struct texts *t, size_t from, size_t to, bool context, struct err *e)
{
    struct grep_hit hit = { .context = context,
                            .apart = !t->began || from > t->shown,
                            .line = { t->text.p + from, to - from } };

    t->began = true;
    t->shown = to < t->text.n ? to + 1 : t->text.n;

    struct grep_session *s = t->s;
    /* A line that cannot be read is not on any branch, and a torn last one is not even in the
     * transcript. */
    enum err_code rc = t->kind == BLOCK_RAW ? ERR_OK : is_aside(s, t->row->offset, &hit.aside, e);

    hit.kind = t->kind;
    hit.time_ms = t->row->time_ms;
    hit.message = t->row->message;
    hit.agent = s->agent;
    hit.range = s->range;
    hit.ranges = hit.context ? 0 : s->ranges;
    if (hit.line.n > GREP_LINE_MAX)
        cut_line(&hit, s->range, &hit.ranges);
    return rc ? rc : s->fn(&hit, s->arg, e);
}

static enum err_code show_context_above(struct texts *t, size_t line, struct err *e)
{
    size_t from = line;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < t->s->q->context && from > t->shown; i++)
        from = grep_session_line_start(t->text, from - 1);
    while (!rc && from < line) {
        size_t end = line_end(t->text, from);

        rc = show_line(t, from, end, true, e);
        from = end + 1;
    }
    return rc;
}

/* Up to the line of the next match. */
static enum err_code show_context_below(struct texts *t, size_t stop, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && t->began && i < t->s->q->context && t->shown < stop; i++)
        rc = show_line(t, t->shown, line_end(t->text, t->shown), true, e);
    return rc;
}

/* Collects the matches of the line that begins at `from`, and finds its end, which is after
 * them. */
static enum err_code gather_line(struct texts *t, size_t from, size_t *to, struct err *e)
{
    struct grep_session *s = t->s;
    enum err_code rc = ERR_OK;
    size_t i;

    s->ranges = 0;
    *to = from;
    while (!rc && (i = first_match(t)) < s->patterns && (!s->ranges || t->next[i].from < *to)) {
        struct grep_range r = t->next[i];

        s->seen |= UINT32_C(1) << i;
        if (!array_reserve(s->range, s->range_cap, s->ranges + 1))
            rc = err_nomem(e);
        else
            s->range[s->ranges++] = (struct grep_range){ r.from - from, r.to - from };
        if (r.to > *to || s->ranges == 1)
            *to = line_end(t->text, r.to > r.from ? r.to - 1 : r.to);
        advance(t, i, r.to);
    }
    return rc;
}

static bool has_seen_all(const struct grep_session *s)
{
    return s->seen + UINT64_C(1) == UINT64_C(1) << s->patterns;
}

static enum err_code search_text_lines(struct texts *t, struct err *e)
{
    struct grep_session *s = t->s;
    enum err_code rc = ERR_OK;
    size_t i, from, to;

    while (!rc && (i = first_match(t)) < s->patterns) {
        from = grep_session_line_start(t->text, t->next[i].from);
        if (t->began && s->q->context)
            rc = show_context_below(t, from, e);
        if (!rc)
            rc = gather_line(t, from, &to, e);
        s->lines++;
        if (!rc && s->only_seen)
            rc = has_seen_all(s) ? ERR_CANCELLED : ERR_OK;
        else if (rc)
            continue;
        else if (s->q->want != GREP_WANT_HITS)
            rc = s->q->want == GREP_WANT_SESSIONS ? ERR_CANCELLED : ERR_OK;
        else if (!(rc = show_context_above(t, from, e)))
            rc = show_line(t, from, to, false, e);
    }
    return rc ? rc : show_context_below(t, t->text.n, e);
}

static enum err_code search_one_text(struct grep_session *s, struct grep_row *row,
                                     enum block_kind kind, struct slice text, struct err *e)
{
    struct texts t = { .s = s, .row = row, .kind = kind, .text = text };
    enum err_code rc;

    if (text.n == 0)
        return ERR_OK;
    grep_match_begin(s->matcher, text);
    for (size_t i = 0; i < s->patterns; i++)
        advance(&t, i, 0);
    rc = search_text_lines(&t, e);
    s->skipped += t.given_up;
    if (!rc && t.given_up && atomic_fetch_add(s->given_up, 1) >= GIVEN_UP_MAX)
        return err_set(e, ERR_UNSUPPORTED, s->ref->path.p,
                       "the pattern takes too long on many texts");
    return rc;
}

/* ---- the texts of a row ---- */

/* Searches the texts in a tool's input, at any depth: all strings except keys. */
static enum err_code search_input(struct grep_session *s, struct grep_row *row,
                                  const struct block *b, struct err *e)
{
    const char *p = b->input.p, *end = b->input.n ? p + b->input.n : p;
    enum err_code rc = ERR_OK;

    while (!rc && p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
        const char *close = scan_string_end(p + 1, end), *next = close ? close + 1 : end;
        struct slice text;

        if (!close)
            break;
        while (next < end && (*next == ' ' || *next == '\n'))
            next++;
        if ((next == end || *next != ':') &&
            json_text((struct slice){ p, (size_t)(close + 1 - p) }, &s->arena, &text))
            rc = search_one_text(s, row, b->kind, text, e);
        p = close + 1;
    }
    return rc;
}

static enum err_code search_blocks(struct grep_session *s, struct grep_row *row, struct err *e)
{
    enum err_code rc;

    arena_reset(&s->blocks.arena);
    s->blocks = (struct block_list){ .arena = s->blocks.arena };
    rc = s->ref->store->ops->blocks(s->ref->store, row->bytes, &s->blocks, e);
    for (size_t i = 0; !rc && i < s->blocks.n; i++) {
        const struct block *b = &s->blocks.block[i];

        /* A damaged row is searched as it is; a row of unknown kind is not text. */
        const unsigned in = b->kind != BLOCK_RAW  ? grep_place_of_kind(b->kind)
                            : json_valid(b->text) ? 0
                                                  : GREP_IN_ALL;

        if (!(in & s->q->in))
            continue;
        rc = search_one_text(s, row, b->kind, b->text, e);
        if (!rc && b->kind == BLOCK_TOOL_CALL)
            rc = search_input(s, row, b, e);
    }
    arena_reset(&s->arena);
    return rc;
}

/* ---- rows that are lines of a file ---- */

static enum err_code search_line(struct grep_session *s, struct slice line, int64_t offset,
                                 struct err *e)
{
    struct grep_row row = { .bytes = line, .offset = offset, .time_ms = TIME_NONE };
    enum err_code rc;

    if (grep_session_is_cancelled(s))
        return err_set(e, ERR_CANCELLED, s->ref->path.p, "search");
    s->index.n = 0;
    s->index.end = 0;
    s->index.torn_tail = false;
    rc = index_bytes(&s->index, line, 0, s->keys, 0, e);
    if (rc || s->index.n == 0 || s->index.line[0].state == LINE_BLANK)
        return rc;
    if (s->index.line[0].state == LINE_OK) {
        row.time_ms = s->index.line[0].time_ms;
        json_get_text(line, s->keys->id, &s->arena, &row.message);
    }
    return search_blocks(s, &row, e);
}

static enum err_code search_lines(struct grep_session *s, struct slice lines, int64_t offset,
                                  struct err *e)
{
    struct slice line;
    enum err_code rc = ERR_OK;

    grep_rows(s->matcher, lines);
    while (!rc && grep_next_row(s->matcher, &line)) {
        if (!grep_count_row(s, line))
            rc = search_line(s, line, (offset + (line.p - lines.p)), e);
        else if (grep_session_is_cancelled(s))
            rc = err_set(e, ERR_CANCELLED, s->ref->path.p, "search");
        else
            rc = s->lines && s->q->want == GREP_WANT_SESSIONS ? ERR_CANCELLED : ERR_OK;
    }
    return rc;
}

/* Drops n bytes that were searched from those that were read, and advances the offset. */
static void grep_session_pass(struct grep_session *s, size_t n)
{
    memmove(s->bytes.p, s->bytes.p + n, s->bytes.n - n);
    s->bytes.n -= n;
    s->at += (int64_t)n;
}

/* Skips the rest of a line that is too long. */
static void drop_line(struct grep_session *s)
{
    const char *nl = s->bytes.n ? memchr(s->bytes.p, '\n', s->bytes.n) : NULL;

    s->dropping = !nl;
    grep_session_pass(s, nl ? (size_t)(nl + 1 - s->bytes.p) : s->bytes.n);
}

static enum err_code search_bytes(struct grep_session *s, bool at_end, struct err *e)
{
    const char *nl;
    enum err_code rc;

    if (s->dropping)
        drop_line(s);
    nl = s->bytes.n ? memrchr(s->bytes.p, '\n', s->bytes.n) : NULL;
    if (!nl && !at_end && s->bytes.n >= ROW_MAX) {
        s->skipped++;
        s->dropping = true;
        grep_session_pass(s, s->bytes.n);
        return ERR_OK;
    }
    size_t n = at_end ? s->bytes.n : nl ? (size_t)(nl + 1 - s->bytes.p) : 0;

    rc = n ? search_lines(s, (struct slice){ s->bytes.p, n }, s->at, e) : ERR_OK;
    grep_session_pass(s, n);
    return rc;
}

static void count_bytes(struct grep_session *s, size_t n)
{
    if (s->q->progress)
        atomic_fetch_add_explicit(&s->q->progress->bytes, n, memory_order_relaxed);
}

static enum err_code search_open_file(struct grep_session *s, const struct file *f, struct err *e)
{
    size_t got, want;
    enum err_code rc = ERR_OK;

    s->bytes.n = 0;
    s->at = 0;
    s->dropping = false;
    s->whole = (struct slice){ NULL, 0 };
    do {
        int64_t from = s->at + (int64_t)s->bytes.n, left = f->id.size - from;

        if (grep_session_is_cancelled(s))
            return err_set(e, ERR_CANCELLED, s->ref->path.p, "search");
        if (buf_reserve(&s->bytes, PIECE))
            return err_nomem(e);
        /* The size is known, so no read is needed to learn that there is nothing behind it. */
        want = left < PIECE ? (size_t)left : PIECE;
        rc = file_read(f, from, s->bytes.p + s->bytes.n, want, &got, e);
        if (rc)
            break;
        s->bytes.n += got;
        count_bytes(s, got);
        if (from == 0 && got < PIECE && got == (size_t)f->id.size && !s->in_agent) {
            s->whole = buf_slice(&s->bytes);
            s->whole_id = f->id;
        }
        rc = search_bytes(s, got < PIECE, e);
    } while (!rc && got == PIECE);
    return rc;
}

/* ---- a session ---- */

static enum err_code search_rows_of(struct grep_session *s, const struct session_ref *ref,
                                    struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct file f;

    s->keys = ops->row_keys;
    if (!s->keys) {
        /* Rows that are kept elsewhere, as in git, are loaded as a transcript. */
        struct transcript *t;
        struct buf row = { 0 };
        enum err_code rc = ref->store->ops->load(ref->store, ref, s->q->cancel, &t, e);

        if (rc)
            return rc;
        for (size_t i = 0; !rc && i < t->n; i++) {
            struct grep_row r = { .offset = t->message[i].offset,
                                  .time_ms = t->message[i].time_ms };

            rc = grep_session_is_cancelled(s) ? err_set(e, ERR_CANCELLED, ref->path.p, "search")
                                              : transcript_read(t, i, &row, e);
            if (rc || !row.n)
                continue;
            count_bytes(s, row.n);
            grep_rows(s->matcher, buf_slice(&row));
            if (grep_next_row(s->matcher, &r.bytes)) {
                json_get_text(r.bytes, "uuid", &s->arena, &r.message);
                rc = search_blocks(s, &r, e);
            }
        }
        buf_fini(&row);
        transcript_free(t);
        return rc;
    }
    bool jsonl = ref->path.n > 6 && memcmp(ref->path.p + ref->path.n - 6, ".jsonl", 6) == 0;

    if (!jsonl)
        return ERR_OK;
    /* A link is not a transcript (claude.md 2.1) and is not followed. */
    const char *path = ref->path.p;

    TRY(file_open(AT_FDCWD, path, ref->nameless ? FILE_FOLLOW : 0, &f, e));
    enum err_code rc = search_open_file(s, &f, e);

    file_close(&f);
    return rc ? err_at(e, rc, path) : ERR_OK;
}

static enum err_code search_all(struct grep_session *s, struct err *e)
{
    const size_t prompts = s->gone && s->q->in & GREP_IN_PROMPTS ? s->gone->n : 0;

    for (size_t i = 0; i < prompts; i++) {
        struct grep_row row = { .time_ms = s->gone->prompt[i].time_ms };

        TRY(search_one_text(s, &row, BLOCK_PROMPT, s->gone->prompt[i].text, e));
    }
    if (!s->gone)
        TRY(search_rows_of(s, s->ref, e));

    if (s->gone)
        return ERR_OK;
    /* A sub-agent that has disappeared or cannot be read is skipped. */
    const struct store *st = s->ref->store;
    struct arena a = { 0 };
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = ERR_OK;

    if (!s->ref->alone && st->ops->subagents && st->ops->subagent)
        rc = st->ops->subagents(st, s->ref, &a, &ids, &n, e);
    s->in_agent = true;
    for (size_t i = 0; !rc && i < n; i++) {
        struct session_ref agent;

        s->agent = ids[i];
        if (st->ops->subagent(st, s->ref, ids[i], &a, &agent, e))
            continue;
        rc = search_rows_of(s, &agent, e);
        if (rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE)
            rc = ERR_OK;
    }
    s->agent = (struct slice){ NULL, 0 };
    s->in_agent = false;
    arena_fini(&a);
    return rc;
}

/* If each of several patterns has to occur, that must be known before any hit is reported. */
static enum err_code has_all_patterns(struct grep_session *s, bool *all, struct err *e)
{
    enum err_code rc = ERR_OK;

    *all = true;
    if (s->q->any || s->patterns == 1)
        return ERR_OK;
    s->only_seen = true;
    rc = search_all(s, e);
    s->only_seen = false;
    *all = has_seen_all(s);
    s->lines = 0;
    if (*all)
        s->skipped = 0; /* the second pass counts them again */
    return rc == ERR_CANCELLED && *all && !grep_session_is_cancelled(s) ? ERR_OK : rc;
}

enum err_code grep_session_run(struct grep_session *s, const struct session_ref *ref, struct err *e)
{
    bool all;
    enum err_code rc;

    free(s->path);
    s->path = NULL;
    s->path_n = 0;
    s->path_known = false;
    s->ref = ref;
    s->lines = 0;
    s->skipped = 0;
    s->seen = 0;
    s->only_seen = false;
    s->whole = (struct slice){ NULL, 0 };

    rc = has_all_patterns(s, &all, e);
    if (rc || !all)
        return rc;
    rc = search_all(s, e);
    if (rc == ERR_CANCELLED && s->q->want == GREP_WANT_SESSIONS && s->lines &&
        !grep_session_is_cancelled(s))
        rc = ERR_OK;
    return rc;
}

void grep_session_fini(struct grep_session *s)
{
    free(s->path);
    free(s->range);
    buf_fini(&s->bytes);
    transcript_blocks_fini(&s->blocks);
    index_fini(&s->index);
    arena_fini(&s->arena);
}
