#include "tui/data/search.h"

#include <stdlib.h>

#include <utf8proc.h>

#include "lite/base/utf8.h"
#include "store/api/store.h"
#include "tui/screens/transcript/tool.h"

enum { BATCH = 256, ROWS_BETWEEN = 2048 };

struct search_hits *search_hits_new(size_t cap)
{
    struct search_hits *list = calloc(1, sizeof *list);

    if (!list)
        return NULL;
    list->hit = calloc(cap ? cap : 1, sizeof *list->hit);
    list->cap = cap;
    if (list->hit)
        return list;
    free(list);
    return NULL;
}

void search_hits_free(struct search_hits *list)
{
    if (!list)
        return;
    free(list->hit);
    free(list);
}

static uint32_t lower(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= 'A' && cp <= 'Z' ? cp | 0x20 : cp;
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
}

static uint32_t next_char(struct slice *rest)
{
    unsigned char byte = (unsigned char)*rest->p;

    if (byte >= 0x80)
        return utf8_next(rest, true);
    rest->p++;
    rest->n--;
    return byte;
}

static bool has_capital(struct slice needle)
{
    while (needle.n > 0) {
        uint32_t cp = next_char(&needle);

        if (lower(cp) != cp)
            return true;
    }
    return false;
}

/* Does the needle, in lower case, stand here? */
static bool matches_here(struct slice text, struct slice needle, size_t *n)
{
    struct slice rest = text;

    while (needle.n > 0) {
        if (rest.n == 0 || lower(next_char(&rest)) != next_char(&needle))
            return false;
    }
    *n = text.n - rest.n;
    return true;
}

/* The nearest byte that can begin it: one of two letters when it begins with an ASCII letter. A hit beyond the
 * other letter's nearest is not looked at twice, since both are remembered. */
struct nearest {
    char letter[2];
    const char *at[2];
};

static const char *nearest(struct nearest *near, const char *p, const char *end)
{
    for (int i = 0; i < 2; i++)
        if (near->at[i] && near->at[i] < p)
            near->at[i] = memchr(p, near->letter[i], (size_t)(end - p));
    if (near->at[0] && near->at[1])
        return near->at[0] < near->at[1] ? near->at[0] : near->at[1];
    return near->at[0] ? near->at[0] : near->at[1];
}

static bool search_ascii(struct slice text, struct slice needle, size_t *at, size_t *n)
{
    const char *p = text.p, *end = text.p + text.n;
    char first = needle.p[0];
    bool letter = first >= 'a' && first <= 'z';
    struct nearest near = { { first, letter ? (char)(first & ~0x20) : first }, { NULL, NULL } };

    for (int i = 0; i < 2; i++)
        near.at[i] = memchr(p, near.letter[i], text.n);
    while ((p = nearest(&near, p, end)) != NULL) {
        if (matches_here((struct slice){ p, (size_t)(end - p) }, needle, n)) {
            *at = (size_t)(p - text.p);
            return true;
        }
        p++;
    }
    return false;
}

static bool search_any(struct slice text, struct slice needle, size_t *at, size_t *n)
{
    struct slice rest = text;

    while (rest.n > 0) {
        if (matches_here(rest, needle, n)) {
            *at = text.n - rest.n;
            return true;
        }
        next_char(&rest);
    }
    return false;
}

bool search_text(struct slice text, struct slice needle, size_t *at, size_t *n)
{
    if (needle.n == 0 || text.n == 0)
        return false;
    if (has_capital(needle)) {
        const char *p = memmem(text.p, text.n, needle.p, needle.n);

        if (!p)
            return false;
        *at = (size_t)(p - text.p);
        *n = needle.n;
        return true;
    }
    /* U+0130 and U+212A alone become ASCII letters when they are made small; they are left to others */
    return (unsigned char)needle.p[0] < 0x80 ? search_ascii(text, needle, at, n)
                                             : search_any(text, needle, at, n);
}

size_t search_count(struct slice text, struct slice needle)
{
    size_t count = 0, at, n;

    while (search_text(text, needle, &at, &n)) {
        count++;
        text = (struct slice){ text.p + at + n, text.n - at - n };
    }
    return count;
}

/* ---- a whole conversation ---- */

struct searching {
    const struct conversation *c;
    struct slice needle;
    search_found_fn *fn;
    void *arg;
    struct search_hits *list; /* being filled; NULL: none is begun */
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

/* Rows are JSON: a needle of plain characters stands in one as it is, unless the row spells characters by number.
 * Most rows are passed over like this, without being decoded. */
static bool may_hold(struct slice row, struct slice needle)
{
    size_t at, n;

    for (size_t i = 0; i < needle.n; i++)
        if (needle.p[i] < 0x20 || needle.p[i] > 0x7e || strchr("\"\\/", needle.p[i]))
            return true;
    return search_text(row, needle, &at, &n) || memmem(row.p, row.n, "\\u", 2);
}

/* The place of a call in the rows at and above its result. Rows without its id are not decoded. */
static bool find_call(struct searching *s, size_t message, struct slice id, struct search_hit *hit)
{
    struct block_list list = { 0 };
    bool found = false;

    for (size_t away = 0; id.n && !found && away <= SEARCH_PARTNER_ROWS && away <= message;
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

enum err_code search_conversation(const struct conversation *c, struct slice needle,
                                  const atomic_bool *cancel, search_found_fn *fn, void *arg,
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
