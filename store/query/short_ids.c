#include "store/query/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "store/api/store.h"

enum { SHOWN = 8 };

struct known {
    struct slice id;
    const struct store_ops *system;
};

struct short_ids {
    struct arena arena;
    struct known *known; /* by id, then by system; each once */
    size_t n;
};

struct short_ids *short_ids_new(void)
{
    return calloc(1, sizeof(struct short_ids));
}

void short_ids_free(struct short_ids *s)
{
    if (!s)
        return;
    arena_fini(&s->arena);
    free(s);
}

bool short_ids_add(struct short_ids *s, const struct store_ops *system, struct slice id)
{
    struct known *more = arena_grow(&s->arena, s->known, s->n, sizeof *more);

    if (!more)
        return false;
    s->known = more;
    more[s->n] = (struct known){ .id = arena_copy(&s->arena, id), .system = system };
    if (!more[s->n].id.p)
        return false;
    s->n++;
    return true;
}

static int by_id_and_system(const void *x, const void *y)
{
    const struct known *a = x, *b = y;
    size_t n = a->id.n < b->id.n ? a->id.n : b->id.n;
    int d = n ? memcmp(a->id.p, b->id.p, n) : 0;

    if (d == 0)
        d = (a->id.n > b->id.n) - (a->id.n < b->id.n);
    return d ? d
             : ((uintptr_t)a->system > (uintptr_t)b->system) -
                   ((uintptr_t)a->system < (uintptr_t)b->system);
}

void short_ids_finish(struct short_ids *s)
{
    size_t kept = 0;

    if (s->n == 0)
        return;
    qsort(s->known, s->n, sizeof *s->known, by_id_and_system);
    for (size_t i = 0; i < s->n; i++)
        if (i == 0 || by_id_and_system(&s->known[i], &s->known[kept - 1]) != 0)
            s->known[kept++] = s->known[i];
    s->n = kept;
}

/* The length of the common prefix of this id and its nearest neighbour on one side; with `system`,
 * only ids of that system count. */
static size_t alike_neighbour(const struct short_ids *s, size_t at, bool after,
                              const struct store_ops *system)
{
    const struct slice id = s->known[at].id;

    while (after ? at + 1 < s->n : at > 0) {
        at = after ? at + 1 : at - 1;
        if (!slice_eq(s->known[at].id, id) && (!system || s->known[at].system == system)) {
            struct slice a = s->known[at].id;
            size_t n = 0;

            while (n < a.n && n < id.n && a.p[n] == id.p[n])
                n++;
            return n;
        }
    }
    return 0;
}

static size_t enough(const struct short_ids *s, size_t at, const struct store_ops *system)
{
    const struct slice id = s->known[at].id;
    size_t before = alike_neighbour(s, at, false, system),
           after = alike_neighbour(s, at, true, system);
    size_t n = (before > after ? before : after) + 1;

    if (n < SHOWN)
        n = SHOWN;
    while (n < id.n && ((unsigned char)id.p[n] & 0xc0) == 0x80) /* do not cut a character */
        n++;
    return n < id.n ? n : id.n;
}

struct slice short_ids_of(const struct short_ids *s, const struct store_ops *system,
                          struct slice id, char out[SHORT_ID])
{
    const struct known wanted = { .id = id, .system = system };
    const struct known *found =
        s->n ? bsearch(&wanted, s->known, s->n, sizeof wanted, by_id_and_system) : NULL;
    const size_t at = found ? (size_t)(found - s->known) : 0;
    const bool shared = found && ((at > 0 && slice_eq(found[-1].id, found->id)) ||
                                  (at + 1 < s->n && slice_eq(found[1].id, found->id)));
    size_t n = found ? enough(s, at, shared ? system : NULL) : id.n;
    int written = snprintf(out, SHORT_ID, "%s%s%.*s", shared ? system->name : "", shared ? ":" : "",
                           (int)(n < SHORT_ID ? n : SHORT_ID), id.p);

    return (struct slice){ out, written < SHORT_ID ? (size_t)written : SHORT_ID - 1 };
}

struct adding {
    struct short_ids *ids;
    bool ok;
};

static bool short_ids_add_ref(const struct session_ref *ref, void *arg)
{
    struct adding *a = arg;

    a->ok = short_ids_add(a->ids, ref->store->ops, ref->id);
    return a->ok;
}

static enum err_code query_short_ids_finish(struct adding *a, enum err_code rc,
                                            struct short_ids **out, struct err *e)
{
    if (!rc && !a->ok)
        rc = err_nomem(e);
    if (rc) {
        short_ids_free(a->ids);
        return rc;
    }
    short_ids_finish(a->ids);
    *out = a->ids;
    return ERR_OK;
}

enum err_code short_ids_of_stores(struct store *const stores[], size_t n, struct short_ids **out,
                                  struct err *e)
{
    const struct scope everywhere = { .all = true, .ids_only = true };
    struct adding a = { .ids = short_ids_new(), .ok = true };
    enum err_code rc = ERR_OK;

    a.ok = a.ids != NULL;
    /* A prefix is looked for on servers only if no local session has it; ids that are not known here stay whole. */
    for (size_t i = 0; i < n && a.ok && !rc; i++)
        if (!stores[i]->ops->remote)
            rc = stores[i]->ops->enumerate(stores[i], &everywhere, short_ids_add_ref, &a, e);
    return query_short_ids_finish(&a, rc, out, e);
}

enum err_code short_ids_of_refs(const struct session_ref *const refs[], size_t n,
                                struct short_ids **out, struct err *e)
{
    struct adding a = { .ids = short_ids_new() };

    a.ok = a.ids != NULL;
    for (size_t i = 0; i < n && a.ok; i++)
        short_ids_add_ref(refs[i], &a);
    return query_short_ids_finish(&a, ERR_OK, out, e);
}
