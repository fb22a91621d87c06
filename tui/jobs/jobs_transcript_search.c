#include <string.h>

#include "store/api/store.h"
#include "tui/data/search_hits.h"
#include "tui/jobs/jobs_internal.h"
#include "tui/screens/transcript/layout.h"

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

static enum err_code add_hit(struct searching *s, struct search_hit hit)
{
    if (!s->list)
        s->list = search_hits_new(BATCH);
    if (!s->list)
        return ERR_NOMEM;
    s->list->hit[s->list->n++] = hit;
    if (s->list->n == s->list->cap)
        pass_hits_on(s, false);
    return ERR_OK;
}

/* Rows are JSON, so a needle of plain characters appears in a row literally, unless the row escapes
 * characters by number. Most rows are skipped by this test without being decoded. */
static bool may_hold(struct slice row, struct slice needle)
{
    size_t at, n;

    for (size_t i = 0; i < needle.n; i++)
        if (needle.p[i] < 0x20 || needle.p[i] > 0x7e || strchr("\"\\/", needle.p[i]))
            return true;
    return search_text(row, needle, &at, &n) || memmem(row.p, row.n, "\\u", 2);
}

/* Finds a call in the rows at and above its result. Rows without its id are not decoded. */
static bool find_call(struct searching *s, size_t message, struct slice id, struct search_hit *hit)
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

static size_t count_block(const struct block *b, struct slice needle)
{
    return search_count(b->text, needle) +
           (b->kind == BLOCK_TOOL_CALL ? tool_count(b, needle) : search_count(b->input, needle));
}

static enum err_code search_message(struct searching *s, size_t message)
{
    enum err_code rc = ERR_OK;

    if (transcript_read(s->c->transcript, message, &s->row, NULL) || s->row.n == 0 ||
        !may_hold(buf_slice(&s->row), s->needle) ||
        s->c->store->ops->blocks(s->c->store, buf_slice(&s->row), &s->blocks, NULL))
        return ERR_OK;
    for (size_t i = 0; i < s->blocks.n && !rc; i++) {
        const struct block *b = &s->blocks.block[i];
        size_t count = count_block(b, s->needle);
        struct search_hit hit = { message, (uint32_t)i, (uint32_t)count, 0, false };

        if (count && b->kind == BLOCK_TOOL_RESULT)
            find_call(s, message, b->call_id, &hit);
        if (count)
            rc = add_hit(s, hit);
    }
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
