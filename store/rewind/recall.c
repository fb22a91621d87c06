#include "store/rewind/recall.h"

#include <string.h>

#include "store/rewind/records.h"
#include "store/rewind/tx.h"

enum { RECORDS_MAX = 100 }; /* so far back it is looked, newest first */

struct recalling {
    struct rewind_plan *plan;
    bool *known; /* of each target */
    size_t left; /* targets of which nothing is known yet */
    /* records list files in the order of their plan, which is mostly that of this one */
    size_t hint;
};

static struct rewind_target *find(struct recalling *r, const char *path)
{
    struct rewind_plan *plan = r->plan;

    for (size_t i = 0; i < plan->n; i++) {
        size_t at = (r->hint + i) % plan->n;

        if (strcmp(plan->target[at].path, path) == 0) {
            r->hint = at + 1;
            return &plan->target[at];
        }
    }
    return NULL;
}

static enum err_code take_entry(struct recalling *r, const struct tx_entry *x, struct err *e)
{
    struct rewind_target *t = x->outcome == REWIND_DONE ? find(r, x->path) : NULL;
    char hex[SHA256_BYTES * 2 + 1];

    if (!t || r->known[t - r->plan->target])
        return ERR_OK;
    r->known[t - r->plan->target] = true;
    r->left--;
    sha256_hex(x->wanted, hex);
    t->left_sha256 = arena_copy(&r->plan->arena, (struct slice){ hex, strlen(hex) }).p;
    if (!t->left_sha256)
        return err_set(e, ERR_NOMEM, t->path, "plan a rewind: out of memory");
    t->has_left = true;
    t->left_absent = x->action == REWIND_DELETE;
    return ERR_OK;
}

/* Outcomes are known once it is committed; what is still under way says nothing. */
static enum err_code take_record(const struct tx *tx, void *arg, bool *more, struct err *e)
{
    struct recalling *r = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n && tx->phase >= TX_COMMITTED && r->left && !rc; i++)
        rc = take_entry(r, &tx->entry[i], e);
    *more = r->left > 0;
    return rc;
}

enum err_code rewind_plan_recall(const struct store_env *env, struct rewind_plan *plan,
                                 struct err *e)
{
    struct arena scratch = { 0 };
    struct recalling r = { .plan = plan, .left = plan->n };
    enum err_code rc = ERR_OK;

    if (plan->n == 0)
        return ERR_OK;
    r.known = arena_zalloc(&scratch, plan->n * sizeof *r.known);
    rc = r.known ? rewinds_each(env, RECORDS_MAX, take_record, &r, e)
                 : err_set(e, ERR_NOMEM, plan->session, "plan a rewind: out of memory");
    arena_fini(&scratch);
    return rc;
}
