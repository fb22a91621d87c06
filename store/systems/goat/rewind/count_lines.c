#include <string.h>

#include "store/api/checkpoint.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/source.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/rewind/manifest.h"

/* The lines that each turn changed, as far as the checkpoints tell: of each file that one keeps, what it was then and what
 * the next one that keeps it says. A turn with a file that none keeps any more has no figures: what was left in it is
 * known to nobody. */

struct counting {
    const struct goat_points *points;
    struct arena scratch;
    struct source_content before, after;
};

static const struct goat_saved *saved_in(const struct goat_point *point, struct slice path)
{
    for (size_t i = 0; i < point->n; i++)
        if (slice_eq(point->saved[i].path, path))
            return &point->saved[i];
    return NULL;
}

/* The next that keeps it; *at: in which. */
static const struct goat_saved *saved_next(const struct goat_points *points, size_t from,
                                           struct slice path, size_t *at)
{
    const struct goat_saved *found = NULL;

    for (*at = from; *at < points->n && !(found = saved_in(&points->point[*at], path)); ++*at)
        ;
    return found;
}

/* False: nobody knows. */
static bool read_saved(struct counting *k, size_t point, const struct goat_saved *s,
                       struct source_content *out)
{
    struct rewind_source source = { .sha256 = s->hash };
    bool there = false;

    out->bytes.n = 0;
    if (s->was != GOAT_WAS_THERE)
        return s->was == GOAT_WAS_ABSENT;
    source.file = goat_blob(k->points, &k->points->point[point], s->hash, &k->scratch, &there);
    return source.file && there && source_read(&source, NULL, out, NULL) == ERR_OK && out->held;
}

static bool count_file(struct counting *k, size_t point, const struct goat_saved *was,
                       struct checkpoint *c)
{
    size_t at;
    unsigned added, removed;
    bool binary;
    const struct goat_saved *next = saved_next(k->points, point + 1, was->path, &at);

    if (!next || !read_saved(k, point, was, &k->before) || !read_saved(k, at, next, &k->after) ||
        linediff_count(buf_slice(&k->before.bytes), buf_slice(&k->after.bytes), &added, &removed,
                       &binary, NULL))
        return false;
    c->insertions += binary ? 0 : added;
    c->deletions += binary ? 0 : removed;
    return true;
}

static void count_manifest_turn(struct counting *k, size_t i, struct checkpoint *c)
{
    const struct goat_point *point = &k->points->point[i];

    c->insertions = c->deletions = 0;
    c->counted = c->kind == CHECKPOINT_TURN && point->n > 0;
    for (size_t f = 0; f < point->n && c->counted; f++)
        c->counted = count_file(k, i, &point->saved[f], c);
    arena_reset(&k->scratch);
}

enum err_code goat_count_lines(const struct store *st, const struct session_ref *ref,
                               const atomic_bool *cancel, struct checkpoint_list *list,
                               struct err *e)
{
    struct goat_points points;
    struct counting k = { .points = &points };
    enum err_code rc = goat_points_read(ref, &points, e);

    (void)st;
    if (rc)
        return rc;
    for (size_t i = 0; i < points.n && i < list->n && !rc; i++) {
        struct checkpoint *c = &list->checkpoint[i];

        if (cancel && atomic_load(cancel))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "count lines");
        else if (!c->why && slice_eq(c->id, points.point[i].id))
            count_manifest_turn(&k, i, c);
    }
    source_content_fini(&k.before);
    source_content_fini(&k.after);
    arena_fini(&k.scratch);
    goat_points_fini(&points);
    return rc;
}
