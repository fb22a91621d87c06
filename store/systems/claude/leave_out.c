#include "store/systems/claude/revival.h"

#include <stdlib.h>

#include "lite/json.h"
#include "lite/utf8.h"
#include "store/systems/claude/facts.h"

/* What the client does not load again, in its order (seed 002): the API would refuse a conversation with
 * calls that have no result, with thoughts whose message is gone, and with answers that say nothing. The calls in which
 * the session ended stay (claude-client-2.md 5). */

struct ids {
    struct id128 *id; /* owned */
    size_t n, cap;
};

static enum err_code ids_add(struct ids *s, struct id128 id)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        struct id128 *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(s->id, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        s->id = more;
        s->cap = cap;
    }
    s->id[s->n++] = id;
    return ERR_OK;
}

static int by_id(const void *a, const void *b)
{
    const struct id128 *x = a, *y = b;

    if (x->hi != y->hi)
        return x->hi < y->hi ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void ids_sort(struct ids *s)
{
    if (s->n)
        qsort(s->id, s->n, sizeof *s->id, by_id);
}

static bool ids_have(const struct ids *s, struct id128 id)
{
    return s->n && bsearch(&id, s->id, s->n, sizeof *s->id, by_id);
}

static bool is_answer(const struct claude_revived *r)
{
    return r->left_out == REVIVED && r->kind == CLAUDE_ASSISTANT;
}

static bool is_thought(struct slice block)
{
    return claude_says(block, "type", "thinking") ||
           claude_says(block, "type", "redacted_thinking");
}

/* Does every block of the content satisfy `is`? False without blocks. */
static bool all_blocks(struct slice row, bool (*is)(struct slice block))
{
    struct json_iter blocks;
    struct slice key, block;
    bool any = false;

    if (!claude_content(row, &blocks))
        return false;
    for (; json_iter_next(&blocks, &key, &block); any = true)
        if (!is(block))
            return false;
    return any;
}

static enum err_code collect_results(const struct claude_revival *r, struct ids *results)
{
    for (size_t i = 0; i < r->n; i++) {
        struct json_iter blocks;
        struct slice key, block;
        struct id128 id;

        if ((r->row[i].kind != CLAUDE_USER && r->row[i].kind != CLAUDE_ASSISTANT) ||
            !claude_content(r->row[i].row, &blocks))
            continue;
        while (json_iter_next(&blocks, &key, &block))
            if (claude_block_id(block, "tool_result", "tool_use_id", r->arena, &id) &&
                ids_add(results, id))
                return ERR_NOMEM;
    }
    ids_sort(results);
    return ERR_OK;
}

/* It calls tools, and none of the calls has a result. */
static bool is_unanswered(const struct claude_revival *r, struct slice row,
                          const struct ids *results)
{
    struct json_iter blocks;
    struct slice key, block;
    struct id128 id;
    bool calls = false;

    if (!claude_content(row, &blocks))
        return false;
    while (json_iter_next(&blocks, &key, &block)) {
        if (!claude_block_id(block, "tool_use", "id", r->arena, &id))
            continue;
        if (ids_have(results, id))
            return false;
        calls = true;
    }
    return calls;
}

static struct id128 message_of(const struct claude_revival *r, size_t i)
{
    return claude_id_at(r->row[i].row, "message.id", r->arena);
}

/* Where the end begins that is nothing but the rows of one answer and the results of its calls. */
static size_t last_calls(const struct claude_revival *r)
{
    struct id128 message = { 0, 0 };
    size_t from = r->n;
    bool met = false;

    for (size_t i = r->n; i-- > 0;) {
        const struct claude_revived *row = &r->row[i];

        if (row->kind == CLAUDE_USER && !claude_has_tool_result(row->row))
            break;
        if (row->kind == CLAUDE_ASSISTANT) {
            struct id128 id = message_of(r, i);

            if (met && (id128_none(id) || !id128_eq(id, message)))
                break;
            message = id;
            met = true;
        }
        from = i;
    }
    return from;
}

static enum err_code add_unanswered(struct claude_revival *r, struct claude_revived *row,
                                    const struct ids *results, struct claude_values *unanswered)
{
    struct json_iter blocks;
    struct slice key, block, value;
    struct id128 id;
    enum err_code rc = ERR_OK;

    for (bool more = claude_content(row->row, &blocks);
         !rc && more && json_iter_next(&blocks, &key, &block);) {
        if (!claude_block_id(block, "tool_use", "id", r->arena, &id) || ids_have(results, id))
            continue;
        row->cut = true;
        if (json_get(block, "id", &value))
            rc = claude_values_add(unanswered, r->arena, value);
    }
    return rc;
}

static enum err_code leave_unanswered(struct claude_revival *r, struct claude_values *unanswered)
{
    struct ids results = { 0 };
    size_t end = last_calls(r);
    enum err_code rc = collect_results(r, &results);

    for (size_t i = 0; !rc && i < r->n; i++) {
        if (!is_answer(&r->row[i]))
            continue;
        if (i >= end)
            rc = add_unanswered(r, &r->row[i], &results, unanswered);
        else if (is_unanswered(r, r->row[i].row, &results))
            r->row[i].left_out = LEFT_UNANSWERED;
    }
    free(results.id);
    return rc;
}

/* Messages of which more than thoughts is there. */
static enum err_code collect_spoken(const struct claude_revival *r, struct ids *spoken)
{
    for (size_t i = 0; i < r->n; i++) {
        struct json_iter blocks;

        if (!is_answer(&r->row[i]) || !claude_content(r->row[i].row, &blocks) ||
            all_blocks(r->row[i].row, is_thought))
            continue;
        struct id128 id = message_of(r, i);

        if (!id128_none(id) && ids_add(spoken, id))
            return ERR_NOMEM;
    }
    ids_sort(spoken);
    return ERR_OK;
}

static enum err_code leave_thoughts(struct claude_revival *r)
{
    struct ids spoken = { 0 };
    enum err_code rc = collect_spoken(r, &spoken);

    for (size_t i = 0; !rc && i < r->n; i++)
        if (is_answer(&r->row[i]) && all_blocks(r->row[i].row, is_thought) &&
            !ids_have(&spoken, message_of(r, i)))
            r->row[i].left_out = LEFT_THINKING;
    free(spoken.id);
    return rc;
}

static bool is_blank(struct slice block)
{
    struct arena a = { 0 };
    struct slice value, text;
    bool blank = false;

    if (claude_says(block, "type", "text")) {
        blank = !json_get(block, "text", &value);
        if (!blank && json_text(value, &a, &text))
            blank = js_trim(text).n == 0;
    }
    arena_fini(&a);
    return blank;
}

static void leave_blanks(struct claude_revival *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (is_answer(&r->row[i]) && all_blocks(r->row[i].row, is_blank))
            r->row[i].left_out = LEFT_BLANK;
}

enum err_code claude_leave_out(struct claude_revival *r, struct claude_values *unanswered)
{
    enum err_code rc = leave_unanswered(r, unanswered);

    if (!rc)
        rc = leave_thoughts(r);
    if (!rc)
        leave_blanks(r);
    return rc;
}
