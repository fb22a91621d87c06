#include "store/rewind/record/known_state.h"

#include <stdlib.h>
#include <string.h>

#include "store/rewind/record/records.h"
#include "store/rewind/record/tx.h"

enum { RECORDS_MAX = 100 }; /* so far back it is looked, newest first */

/* What the newest record left in a file. */
struct left {
    struct rewind_target *target;
    bool known, proven, absent;
    uint8_t sha256[SHA256_BYTES];
};

struct known_state_scan {
    struct rewind_plan *plan;
    struct left *left; /* sorted by path */
    size_t open;       /* of which more could be learned */
};

static int compare_left_path(const void *x, const void *y)
{
    const struct left *a = x, *b = y;

    return strcmp(a->target->path, b->target->path);
}

static struct left *find_left(const struct known_state_scan *r, const char *path)
{
    struct rewind_target wanted = { .path = path };
    const struct left key = { .target = &wanted };

    return bsearch(&key, r->left, r->plan->n, sizeof *r->left, compare_left_path);
}

static enum err_code put_proven(struct known_state_scan *r, struct left *l, struct err *e)
{
    struct rewind_target *t = l->target;
    char hex[SHA256_BYTES * 2 + 1];

    l->proven = true;
    r->open--;
    hasher_hex(l->sha256, hex);
    t->left_sha256 = arena_copy(&r->plan->arena, slice_of(hex)).p;
    if (!t->left_sha256)
        return err_nomem(e);
    t->has_left = true;
    t->left_absent = l->absent;
    return ERR_OK;
}

/* saved: the record is a rewind's, which takes what saved copies hold. */
static enum err_code take_entry(struct known_state_scan *r, const struct rewind_tx_entry *x,
                                bool saved, struct err *e)
{
    struct left *l = x->outcome == REWIND_DONE && !x->unknown ? find_left(r, x->path) : NULL;
    bool absent = x->action == REWIND_DELETE;

    if (!l || l->proven)
        return ERR_OK;
    if (!l->known) {
        l->known = true;
        l->absent = absent;
        memcpy(l->sha256, x->wanted, SHA256_BYTES);
    }
    bool same = l->absent == absent && memcmp(l->sha256, x->wanted, SHA256_BYTES) == 0;

    return same && saved && !x->mixed ? put_proven(r, l, e) : ERR_OK;
}

/* Outcomes are known once it is committed; what is still under way says nothing. */
static enum err_code take_record(const struct rewind_tx *tx, void *arg, bool *more, struct err *e)
{
    struct known_state_scan *r = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n && tx->phase >= TX_COMMITTED && r->open && !rc; i++)
        rc = take_entry(r, &tx->entry[i], tx->undoes == NULL, e);
    *more = r->open > 0;
    return rc;
}

enum err_code rewind_plan_known_state(const struct store_env *env, struct rewind_plan *plan,
                                      struct err *e)
{
    struct arena scratch = { 0 };
    struct known_state_scan r = { .plan = plan, .open = plan->n };
    enum err_code rc = ERR_OK;

    if (plan->n == 0)
        return ERR_OK;
    r.left = arena_zalloc(&scratch, plan->n * sizeof *r.left);
    if (!r.left)
        return err_nomem(e);
    for (size_t i = 0; i < plan->n; i++)
        r.left[i].target = &plan->target[i];
    qsort(r.left, plan->n, sizeof *r.left, compare_left_path);
    rc = rewind_records_each(env, RECORDS_MAX, take_record, &r, e);
    arena_fini(&scratch);
    return rc;
}
