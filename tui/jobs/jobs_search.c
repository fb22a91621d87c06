#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/api/store.h"
#include "store/grep/grep.h"
#include "tui/data/search_hits.h"
#include "tui/jobs/jobs.h"
#include "tui/screens/transcript/layout.h"

/* Searches the conversations of the list for the typed text. Hits are sent to the screen session by
 * session, the first one at once and later ones a few times a second. */

enum { POST_MS = 60, PROGRESS_MS = 100, BEFORE = 48 };

struct grepping {
    const struct effect *question;
    const struct reply *reply;
    struct grep_progress progress;
    struct content_hits *list; /* being filled; NULL: not begun */
    struct content_hit hit;    /* the hit in the session that is being searched */
    char snippet[CONTENT_SNIPPET];
    struct buf agent; /* the first sub-agent with a hit */
    bool outside;     /* there is a hit in the conversation itself */
    bool chosen;      /* the snippet is from a prompt or reply, not from a tool */
    bool shown;       /* something that was found is posted */
    int64_t posted_ms;
};

static void post_content(struct grepping *g, bool done)
{
    if (!g->list && done)
        g->list = content_hits_new();
    if (!g->list)
        return;
    g->shown |= g->list->n > 0;
    g->list->done = done;
    g->list->bytes = atomic_load(&g->progress.bytes);
    g->list->sessions = atomic_load(&g->progress.sessions);
    jobs_post(g->reply, g->question, (struct msg){ .kind = MSG_CONTENT, .u.content = g->list });
    g->list = NULL;
    g->posted_ms = time_clock_ms(CLOCK_MONOTONIC);
}

/* Posts how far the search is, with what was found since. */
static void jobs_search_post_progress(void *arg)
{
    struct grepping *g = arg;

    if (time_clock_ms(CLOCK_MONOTONIC) - g->posted_ms < PROGRESS_MS)
        return;
    if (!g->list)
        g->list = content_hits_new();
    post_content(g, false);
}

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The words of the person or the agent are more informative than the output of a tool. */
static void choose_snippet(struct grepping *g, const struct grep_hit *hit)
{
    bool said = hit->kind == BLOCK_PROMPT || hit->kind == BLOCK_TEXT;

    if (hit->ranges == 0 || (g->hit.snippet.n && (g->chosen || !said)))
        return;
    g->chosen = said;

    /* Keeps the part of the line that begins a little before its first match. */
    struct slice line = hit->line;
    size_t from = hit->range[0].from > BEFORE ? hit->range[0].from - BEFORE : 0, n;

    while (from < hit->range[0].from && strchr(" \t", line.p[from]))
        from++;
    while (from && is_inside_character(line.p[from]))
        from--;
    n = line.n - from < CONTENT_SNIPPET ? line.n - from : CONTENT_SNIPPET;
    while (n && from + n < line.n && is_inside_character(line.p[from + n]))
        n--;
    g->hit.cut_before = from > 0;
    g->hit.cut_after = from + n < line.n;
    memcpy(g->snippet, line.p + from, n);
    g->hit.snippet = (struct slice){ g->snippet, n };
    g->hit.ranges = 0;
    for (size_t i = 0; i < hit->ranges && i < CONTENT_RANGES && hit->range[i].from - from < n;
         i++) {
        size_t to = hit->range[i].to - from;

        g->hit.range[g->hit.ranges++] =
            (struct content_range){ (uint16_t)(hit->range[i].from - from),
                                    (uint16_t)(to < n ? to : n) };
    }
}

/* Adds the session that is being searched, as far as it was read. */
static enum err_code jobs_search_add_session(struct grepping *g, size_t session, uint64_t lines,
                                             struct err *e)
{
    struct content_hits *list = g->list ? g->list : content_hits_new();

    g->list = list;
    if (!list || !array_reserve(list->hit, list->cap, list->n + 1))
        return err_nomem(e);
    struct content_hit hit = g->hit;

    hit.entry = g->question->refs->entry[session];
    hit.lines = lines < UINT32_MAX ? (uint32_t)lines : UINT32_MAX;
    hit.snippet = arena_copy(&list->arena, hit.snippet);
    hit.agent = arena_copy(&list->arena, g->outside ? SLICE("") : buf_slice(&g->agent));
    if (!hit.snippet.p || !hit.agent.p)
        return err_nomem(e);
    list->hit[list->n++] = hit;
    if (!g->shown || time_clock_ms(CLOCK_MONOTONIC) - g->posted_ms >= POST_MS)
        post_content(g, false);
    return ERR_OK;
}

static enum err_code note_part(const struct grep_part *part, void *arg, struct err *e)
{
    struct grepping *g = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < part->n; i++) {
        const struct grep_hit *hit = &part->hit[i];

        choose_snippet(g, hit);
        g->outside |= hit->agent.n == 0;
        if (hit->agent.n && g->agent.n == 0 && buf_add(&g->agent, hit->agent))
            return err_nomem(e);
    }
    if (part->last && part->lines) {
        rc = jobs_search_add_session(g, part->session, part->lines, e);
        g->agent.n = 0;
        g->outside = g->chosen = false;
        g->hit = (struct content_hit){ 0 };
    } else if (part->n && !g->shown) {
        /* The first hit is shown before its session is read to the end; its lines are counted after
         * that. */
        rc = jobs_search_add_session(g, part->session, part->n, e);
    }
    return rc;
}

/* Sessions that cannot be read are named by the list itself. */
static void skip_trouble(const struct err *trouble, void *arg)
{
    (void)trouble;
    (void)arg;
}

enum err_code jobs_grep(const struct effect *q, const struct reply *r, struct err *e)
{
    struct slice text = buf_slice(&q->text), word[GREP_PATTERNS];
    struct grepping g = { .question = q, .reply = r };
    struct grep_query query = {
        .pattern = word,
        .fixed = true,
        .in = GREP_IN_DEFAULT,
        .want = GREP_WANT_HITS,
        .cancel = r->cancelled,
        .progress = &g.progress,
    };

    while (query.n < GREP_PATTERNS && search_next_word(&text, &word[query.n]))
        query.n++;
    g.progress.moved = jobs_search_post_progress;
    g.progress.arg = &g;
    g.posted_ms = time_clock_ms(CLOCK_MONOTONIC);

    const struct session_ref **order = calloc(q->refs->n + 1, sizeof *order);
    enum err_code rc = ERR_OK;

    NEED(order);
    for (size_t i = 0; i < q->refs->n; i++)
        order[i] = &q->refs->ref[i];
    rc = grep_refs(order, q->refs->n, &query, note_part, skip_trouble, &g, e);
    free(order);
    if (!rc)
        post_content(&g, true);
    content_hits_free(g.list);
    buf_fini(&g.agent);
    return rc;
}

/* Searches a whole conversation in decoded form: prompts, answers, thinking, and the input and
 * results of tools. */

enum { BATCH = 256, ROWS_BETWEEN = 2048 };

struct searching {
    const struct conversation *c;
    struct slice needle;
    jobs_found_fn *fn;
    void *arg;
    struct search_hits *list; /* being filled; NULL: not begun */
    size_t rows;              /* since the last list was handed out */
    struct buf row, above;
    struct block_list blocks;
};

static void pass_hits_on(struct searching *s, bool done)
{
    if (!s->list && done)
        s->list = search_hits_new(0);
    if (!s->list)
        return;
    s->list->done = done;
    s->fn(s->list, s->arg);
    s->list = NULL;
    s->rows = 0;
}

/* Rows are JSON, so a word of plain characters appears in a row literally, unless the row escapes
 * characters by number. Most rows are skipped by this test without being decoded. */
static bool may_hold(struct slice row, struct slice needle)
{
    struct slice word, rest = needle;
    size_t at, n;

    while (search_next_word(&rest, &word))
        for (size_t i = 0; i < word.n; i++)
            if (word.p[i] < 0x20 || word.p[i] > 0x7e || strchr("\"\\/", word.p[i]))
                return true;
    return search_text(row, needle, &at, &n) || memmem(row.p, row.n, "\\u", 2);
}

/* Finds a call in the rows at and above its result. Rows without its id are not decoded. */
static bool jobs_search_find_call(struct searching *s, size_t message, struct slice id,
                                  struct search_hit *hit)
{
    struct block_list list = { 0 };
    bool found = false;

    for (size_t away = 0; id.n && !found && away <= SEARCH_RESULT_DISTANCE && away <= message;
         away++) {
        if (transcript_read(s->c->transcript, message - away, &s->above, NULL) || s->above.n == 0 ||
            !memmem(s->above.p, s->above.n, id.p, id.n) ||
            s->c->store->ops->blocks(s->c->store, buf_slice(&s->above), &list, NULL))
            continue;
        for (size_t i = 0; i < list.n && !found; i++) {
            found = list.block[i].kind == BLOCK_TOOL_CALL && slice_eq(list.block[i].call_id, id);
            if (found)
                *hit = (struct search_hit){ message - away, (uint32_t)i, hit->count, (uint32_t)away,
                                            true };
        }
        transcript_blocks_fini(&list);
    }
    return found;
}

static enum err_code search_message(struct searching *s, size_t message)
{
    enum err_code rc = ERR_OK;

    /* A row that cannot be read has no occurrences. The raw bytes are checked first, because parsing is slow. */
    if (transcript_read(s->c->transcript, message, &s->row, NULL) || s->row.n == 0 ||
        !may_hold(buf_slice(&s->row), s->needle) ||
        s->c->store->ops->blocks(s->c->store, buf_slice(&s->row), &s->blocks, NULL))
        return ERR_OK;
    for (size_t i = 0; i < s->blocks.n && !rc; i++) {
        const struct block *b = &s->blocks.block[i];
        size_t count = search_count(b->text, s->needle) + (b->kind == BLOCK_TOOL_CALL
                                                               ? tool_count(b, s->needle)
                                                               : search_count(b->input, s->needle));
        struct search_hit hit = { message, (uint32_t)i, (uint32_t)count, 0, false };

        /* A result is shown with its call, which may be in another message. */
        if (count && b->kind == BLOCK_TOOL_RESULT)
            jobs_search_find_call(s, message, b->call_id, &hit);
        if (count) {
            if (!s->list)
                s->list = search_hits_new(BATCH);
            if (!s->list)
                rc = ERR_NOMEM;
            else {
                s->list->hit[s->list->n++] = hit;
                if (s->list->n == s->list->cap)
                    pass_hits_on(s, false);
                rc = ERR_OK;
            }
        }
    }

    /* Occurrences that are rare are shown soon, too. */
    if (++s->rows >= ROWS_BETWEEN && s->list)
        pass_hits_on(s, false);
    return rc;
}

enum err_code jobs_search_transcript(const struct conversation *c, struct slice needle,
                                     const atomic_bool *cancel, jobs_found_fn *fn, void *arg,
                                     struct err *e)
{
    struct searching s = { .c = c, .needle = needle, .fn = fn, .arg = arg };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->transcript->n && !rc; i++) {
        if (cancel && atomic_load(cancel))
            rc = err_set(e, ERR_CANCELLED, c->transcript->path, "search");
        else if (search_message(&s, i))
            rc = err_nomem(e);
        transcript_blocks_fini(&s.blocks);
    }
    if (!rc)
        pass_hits_on(&s, true);
    search_hits_free(s.list);
    buf_fini(&s.row);
    buf_fini(&s.above);
    return rc;
}
