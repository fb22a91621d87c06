#include "store/rewind/apply/hunk_selection.h"

#include <string.h>

#include "store/fs/hasher.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/sides.h"

bool rewind_may_consent(const struct rewind_entry *entry)
{
    return entry->action == REWIND_REFUSED &&
           (entry->rule == REWIND_RULE_EDITED || entry->rule == REWIND_RULE_UNKNOWN ||
            entry->rule == REWIND_RULE_OUTSIDE || entry->rule == REWIND_RULE_SENSITIVE);
}

static bool is_part(const struct rewind_selection *pick)
{
    for (size_t i = 0; pick->hunk && i < pick->hunks; i++)
        if (!pick->hunk[i])
            return true;
    return false;
}

/* The bytes of the present file with the picked hunks in it. */
static enum err_code merge(const struct rewind_sides *s, const struct rewind_entry *x,
                           const struct rewind_selection *pick, struct arena *a, struct slice *out,
                           struct err *e)
{
    struct linediff diff;
    struct slice before = buf_slice(&s->present);
    enum err_code rc = linediff_make(before, buf_slice(&s->wanted), REWIND_CONTEXT, &diff, e);

    if (rc)
        return rc;
    if (diff.hunks != pick->hunks)
        rc = err_set(e, ERR_STALE, x->target->path, "its hunks are others than those picked from");
    else
        rc = linediff_apply_hunks(&diff, before, pick->hunk, a, out, e);
    linediff_fini(&diff);
    return rc;
}

/* A target of its own: the picked hunks, and the mode that the file has. */
static enum err_code take_hunks(struct rewind_preview *p, struct rewind_entry *x,
                                const struct rewind_selection *pick, struct err *e)
{
    struct rewind_target *t = arena_alloc(&p->arena, sizeof *t);
    struct hasher hasher = { 0 };
    struct rewind_sides sides;
    enum err_code rc = t ? rewind_sides_read(p->plan, x, &sides, e) : err_nomem(e);

    if (rc)
        return rc;
    *t = *x->target;
    t->source = (struct rewind_source){ 0 };
    t->has_mode = t->has_mtime = false;
    t->mixed = x->edited || x->unproven;
    rc = merge(&sides, x, pick, &p->arena, &t->source.bytes, e);
    if (!rc)
        rc = hasher_bytes(&hasher, t->source.bytes, x->wanted, e);
    x->wanted_size = (int64_t)t->source.bytes.n;
    x->target = t;
    /* No hunk at all: a file that is as it was is not written anew, with a time of its own. */
    x->chosen = memcmp(x->wanted, x->seen.sha256, SHA256_BYTES) != 0;
    hasher_fini(&hasher);
    rewind_sides_fini(&sides);
    return rc;
}

static enum err_code apply_selection(struct rewind_preview *p, size_t i,
                                     const struct rewind_selection *pick, struct err *e)
{
    struct rewind_entry *x = &p->entry[i];

    if (pick->consent && rewind_may_consent(x)) {
        x->action = x->would;
        x->rule = REWIND_RULE_NONE;
        x->why = NULL;
    }
    x->chosen = pick->ticked && x->action != REWIND_REFUSED;
    return x->chosen && x->action == REWIND_RESTORE && is_part(pick) ? take_hunks(p, x, pick, e)
                                                                     : ERR_OK;
}

enum err_code rewind_apply_selected(const struct store_env *env,
                                    const struct rewind_preview *preview,
                                    const struct rewind_selection *pick, struct rewind_result *out,
                                    struct err *e)
{
    struct rewind_preview p = *preview;
    enum err_code rc = ERR_OK;

    p.arena = (struct arena){ 0 };
    p.entry = arena_zalloc(&p.arena, sizeof *p.entry * (p.n + 1));
    if (!p.entry)
        return err_nomem(e);
    memcpy(p.entry, preview->entry, sizeof *p.entry * p.n);
    for (size_t i = 0; i < p.n && !rc; i++)
        rc = apply_selection(&p, i, &pick[i], e);
    if (!rc)
        rc = rewind_apply(env, &p, out, e);
    arena_fini(&p.arena);
    return rc;
}
