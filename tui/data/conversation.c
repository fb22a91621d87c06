#include "tui/data/conversation.h"

#include <stdlib.h>

struct conversation *conversation_new(const struct store *store, struct transcript *transcript)
{
    struct conversation *c = calloc(1, sizeof *c);

    if (!c) {
        transcript_free(transcript);
        return NULL;
    }
    atomic_init(&c->holders, 1);
    c->store = store;
    c->transcript = transcript;
    return c;
}

struct conversation *conversation_retain(struct conversation *c)
{
    atomic_fetch_add(&c->holders, 1);
    return c;
}

void conversation_free(struct conversation *c)
{
    if (!c || atomic_fetch_sub(&c->holders, 1) != 1)
        return;
    transcript_free(c->transcript);
    free(c);
}

struct passage_list *conversation_passages_new(size_t cap)
{
    struct passage_list *list = calloc(1, sizeof *list);

    if (!list)
        return NULL;
    list->passage = calloc(cap ? cap : 1, sizeof *list->passage);
    list->cap = cap;
    if (list->passage)
        return list;
    free(list);
    return NULL;
}

void conversation_passage_fini(struct passage *p)
{
    transcript_blocks_fini(&p->blocks);
    buf_fini(&p->bytes);
    *p = (struct passage){ 0 };
}

void conversation_passages_free(struct passage_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        conversation_passage_fini(&list->passage[i]);
    free(list->passage);
    free(list);
}

/* ---- tokens ---- */

void conversation_usage_free(struct conversation_usage *u)
{
    if (!u)
        return;
    free(u->turn);
    free(u->head);
    arena_fini(&u->prompts);
    free(u);
}

static int compare_end(const void *offset, const void *turn)
{
    int64_t a = *(const int64_t *)offset, b = ((const struct turn_usage *)turn)->end;

    return (a > b) - (a < b);
}

const struct usage_sum *conversation_usage_of(const struct conversation_usage *u, int64_t offset)
{
    const struct turn_usage *t =
        u && u->n ? bsearch(&offset, u->turn, u->n, sizeof *u->turn, compare_end) : NULL;

    return t ? &t->sum : NULL;
}
