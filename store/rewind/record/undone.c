#include "store/rewind/record/undone.h"

#include <stdlib.h>
#include <string.h>

/* What one undo took back and was not undone since. */
struct taken_back {
    const char *undoes;
    const char **path; /* sorted */
    size_t n;
    bool all, conversation;
};

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_path(const char *const *path, size_t n, const char *wanted)
{
    return n > 0 && bsearch(&wanted, path, n, sizeof *path, compare_text) != NULL;
}

bool undone_can_undo(const struct rewind_record *r, const char *path)
{
    return !r->partly || has_path(r->left, r->left_n, path);
}

static bool is_taken(const struct undone *u, const char *id, const char *path)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->taken[i].undoes, id) == 0 &&
            (u->taken[i].all || has_path(u->taken[i].path, u->taken[i].n, path)))
            return true;
    return false;
}

static bool find_takers(const struct undone *u, const char *id, bool *conversation)
{
    bool found = false;

    *conversation = false;
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->taken[i].undoes, id) == 0) {
            found = true;
            *conversation = *conversation || u->taken[i].conversation;
        }
    return found;
}

/* Texts of a tx do not outlive it. */
static bool add_taken_path(struct undone *u, const char **list, size_t *n, const char *path)
{
    list[*n] = arena_copy(u->arena, slice_of(path)).p;
    return list[(*n)++] != NULL;
}

/* The record is an undo and stands, at least in part. */
static bool note_taken(struct undone *u, const struct rewind_tx *tx, const struct rewind_record *r,
                       bool has_takers)
{
    struct taken_back *list = arena_grow(u->arena, u->taken, u->n, sizeof *list), t = { 0 };
    bool ok = list != NULL;

    t.undoes = arena_copy(u->arena, slice_of(tx->undoes)).p;
    t.path = arena_zalloc(u->arena, sizeof *t.path * (r->left_n + tx->settled_n + 1));
    t.all = !tx->settled && !has_takers;
    t.conversation = tx->conversation.how != CONVERSATION_NONE && !r->conversation_undone;
    ok = ok && t.undoes && t.path;
    for (size_t i = 0; i < r->left_n && ok; i++)
        t.path[t.n++] = r->left[i];
    for (size_t i = 0; i < tx->settled_n && ok; i++)
        ok = add_taken_path(u, t.path, &t.n, tx->settled[i]);
    if (!ok)
        return false;
    qsort(t.path, t.n, sizeof *t.path, compare_text);
    u->taken = list;
    u->taken[u->n++] = t;
    return true;
}

bool undone_mark(struct undone *u, const struct rewind_tx *tx, struct rewind_record *r)
{
    bool has_takers = find_takers(u, tx->id, &r->conversation_undone), ok = true;

    if (!has_takers && !tx->undoes)
        return true;
    r->left = arena_zalloc(u->arena, sizeof *r->left * (tx->n + 1));
    if (!r->left)
        return false;
    for (size_t i = 0; i < tx->n && ok; i++)
        if (tx->entry[i].outcome == REWIND_DONE && !is_taken(u, tx->id, tx->entry[i].path))
            ok = add_taken_path(u, r->left, &r->left_n, tx->entry[i].path);
    if (!ok)
        return false;
    qsort(r->left, r->left_n, sizeof *r->left, compare_text);
    r->undone = has_takers && r->left_n == 0 &&
                (tx->conversation.how == CONVERSATION_NONE || r->conversation_undone);
    r->partly = has_takers && !r->undone;
    return !tx->undoes || r->undone || note_taken(u, tx, r, has_takers);
}
