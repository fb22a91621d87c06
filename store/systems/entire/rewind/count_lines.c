#include <string.h>

#include "store/api/checkpoint.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/rewind/turn.h"

/* The lines that each turn added and removed, for the eye: what cannot be read counts as nothing. */

static bool count_file(git_diff *diff, size_t i, struct checkpoint *c)
{
    git_patch *patch = NULL;
    size_t added = 0, removed = 0;
    bool ok = git_patch_from_diff(&patch, diff, i) == 0 &&
              (!patch || git_patch_line_stats(NULL, &added, &removed, patch) == 0);

    git_patch_free(patch);
    if (ok) {
        c->insertions += (unsigned)added;
        c->deletions += (unsigned)removed;
    }
    return ok;
}

static void count_point_turn(const struct view *v, const struct point *p, const struct link *link,
                             struct checkpoint *c)
{
    struct turn_diff t;

    c->insertions = c->deletions = 0;
    c->counted = turn_diff_open(v, p, link, &t);
    for (size_t i = 0; c->counted && i < git_diff_num_deltas(t.diff); i++)
        if (turn_is_work(git_diff_get_delta(t.diff, i)))
            c->counted = count_file(t.diff, i, c);
    turn_diff_close(&t);
}

/* Points are those of the list, unless the session went on between. */
static struct checkpoint *find_checkpoint(struct checkpoint_list *list, size_t i,
                                          const struct point *p)
{
    return i < list->n && slice_eq(list->checkpoint[i].id, p->id) ? &list->checkpoint[i] : NULL;
}

enum err_code entire_count_lines(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e)
{
    struct links links = { 0 };
    struct view v;
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    if (v.session->committed)
        rc = links_read(v.repo, &v.arena, &links, e);
    for (size_t i = 0; i < v.session->n && !rc; i++) {
        const struct point *p = &v.session->point[i];
        struct checkpoint *c = find_checkpoint(list, i, p);

        if (cancel && atomic_load(cancel))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "count lines");
        else if (c && !c->why)
            count_point_turn(&v, p, p->source == POINT_SHADOW ? NULL : links_find(&links, p->id),
                             c);
    }
    view_close(&v);
    return rc;
}
