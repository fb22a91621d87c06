#include "tui/data/conversation.h"

#include <stdlib.h>
#include <string.h>

/* The array grown to hold one more; NULL without memory (the old one stays as it is). */
static void *grown_array(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t want = *cap ? *cap * 2 : 16;
    void *p = reallocarray(array, want, size);

    if (p)
        *cap = want;
    return p;
}

struct ref_list *ref_list_new(void)
{
    return calloc(1, sizeof(struct ref_list));
}

static bool ref_list_reserve(struct ref_list *list)
{
    size_t cap = list->cap;
    struct session_ref *ref = grown_array(list->ref, list->n, &cap, sizeof *ref);

    if (!ref)
        return false;
    list->ref = ref;
    cap = list->cap;
    uint32_t *entry = grown_array(list->entry, list->n, &cap, sizeof *entry);

    if (!entry)
        return false;
    list->entry = entry;
    list->cap = cap;
    return true;
}

bool ref_list_add(struct ref_list *list, const struct session_ref *ref, uint32_t entry)
{
    if (!ref_list_reserve(list) || !session_ref_copy(&list->arena, ref, &list->ref[list->n]))
        return false;
    list->entry[list->n++] = entry;
    return true;
}

struct ref_list *ref_list_one(const struct session_ref *ref, struct slice agent)
{
    struct ref_list *list = ref_list_new();

    if (!list)
        return NULL;
    list->agent = arena_copy(&list->arena, agent);
    if (list->agent.p && ref_list_add(list, ref, 0))
        return list;
    ref_list_free(list);
    return NULL;
}

struct ref_list *ref_list_copy(const struct ref_list *list)
{
    struct ref_list *copy = ref_list_new();

    for (size_t i = 0; copy && i < list->n; i++)
        if (!ref_list_add(copy, &list->ref[i], list->entry[i])) {
            ref_list_free(copy);
            copy = NULL;
        }
    return copy;
}

void ref_list_free(struct ref_list *list)
{
    if (!list)
        return;
    arena_fini(&list->arena);
    free(list->ref);
    free(list->entry);
    free(list);
}

struct described_list *described_list_new(size_t cap)
{
    struct described_list *list = calloc(1, sizeof *list);

    if (!list)
        return NULL;
    list->item = calloc(cap ? cap : 1, sizeof *list->item);
    list->cap = cap;
    if (list->item)
        return list;
    free(list);
    return NULL;
}

void described_list_free(struct described_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        session_row_free(list->item[i].row);
    free(list->item);
    free(list);
}

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

struct passage_list *passage_list_new(size_t cap)
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

void passage_fini(struct passage *p)
{
    transcript_blocks_fini(&p->blocks);
    buf_fini(&p->bytes);
    *p = (struct passage){ 0 };
}

void passage_list_free(struct passage_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        passage_fini(&list->passage[i]);
    free(list->passage);
    free(list);
}

struct name_list *name_list_new(void)
{
    return calloc(1, sizeof(struct name_list));
}

/* Room for one more: 1, 3, 7, ... The array moves when it grows; the old one stays in the arena. */
bool name_list_add(struct name_list *list, struct slice name)
{
    if ((list->n & (list->n + 1)) == 0) {
        struct slice *more = arena_alloc(&list->arena, (list->n * 2 + 1) * sizeof *more);

        if (!more)
            return false;
        if (list->n > 0)
            memcpy(more, list->name, list->n * sizeof *more);
        list->name = more;
    }
    name = arena_copy(&list->arena, name);
    if (!name.p)
        return false;
    list->name[list->n++] = name;
    return true;
}

void name_list_fini(struct name_list *list)
{
    arena_fini(&list->arena);
    *list = (struct name_list){ 0 };
}

void name_list_free(struct name_list *list)
{
    if (!list)
        return;
    name_list_fini(list);
    free(list);
}

struct problem_list *problem_list_new(void)
{
    return calloc(1, sizeof(struct problem_list));
}

bool problem_list_add(struct problem_list *list, const char *system, const struct err *e)
{
    struct problem *p = grown_array(list->problem, list->n, &list->cap, sizeof *p);

    if (!p)
        return false;
    list->problem = p;
    p[list->n++] = (struct problem){ system, *e };
    return true;
}

static bool same_problem(const struct err *a, const struct err *b)
{
    return a->code == b->code && a->sys == b->sys && strcmp(a->path, b->path) == 0 &&
           strcmp(a->text, b->text) == 0;
}

bool problem_list_same(const struct problem_list *a, const struct problem_list *b)
{
    size_t n = a ? a->n : 0;

    if (n != (b ? b->n : 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same_problem(&a->problem[i].err, &b->problem[i].err))
            return false;
    return true;
}

void problem_list_free(struct problem_list *list)
{
    if (!list)
        return;
    free(list->problem);
    free(list);
}

void resume_dirs_free(struct resume_dirs *p)
{
    if (!p)
        return;
    free(p->session_dir);
    free(p->main_worktree);
    free(p->present_dir);
    free(p);
}
