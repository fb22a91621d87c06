#include <string.h>

#include "lite/base/time.h"
#include "store/api/edit.h"
#include "store/rewind/plan/source.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/manifest.h"
#include "store/systems/goat/metadata.h"

/* The results of tools record only whether they failed, so an edit is known by its call; what a file was is in the
 * checkpoints. */

static enum err_code put_saved(struct tool_edits *t, const struct goat_points *points,
                               const struct goat_point *point, const struct goat_saved *saved,
                               struct arena *a, struct err *e)
{
    struct edit edit = { .kind = EDIT_SEEN, .time_ms = point->time_ms };
    struct source_content content = { 0 };
    struct rewind_source source = { .sha256 = saved->hash };
    bool there = false;
    enum err_code rc = ERR_OK;

    if (saved->was == GOAT_WAS_UNKNOWN || !saved->path.n ||
        memchr(saved->path.p, '\0', saved->path.n) || point->time_ms == TIME_NONE)
        return ERR_OK;
    edit.path = arena_copy(a, saved->path).p;
    edit.after_known = EDIT_ABSENT;
    if (saved->was == GOAT_WAS_THERE) {
        source.file = goat_blob(points, point, saved->hash, a, &there);
        if (!there || source_read(&source, NULL, &content, NULL) || !content.held)
            edit.after_known = EDIT_UNKNOWN;
        else
            edit.after_known = EDIT_TEXT;
        edit.after = buf_slice(&content.bytes);
    }
    if (edit.path && edit.after_known != EDIT_UNKNOWN)
        rc = tool_edits_put(t, &edit, e);
    source_content_fini(&content);
    return rc;
}

static enum err_code put_points(const struct store *st, const struct session_ref *ref,
                                struct tool_edits *t, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_row *row = session_row_new();
    struct goat_points points;
    struct arena a = { 0 };
    enum err_code rc = row ? goat_points_read(ref, &points, e) : err_nomem(e);

    if (rc) {
        session_row_free(row);
        return rc;
    }
    if (st->ops->describe(st, &everywhere, ref, row, NULL) == ERR_OK && row->cwd.n)
        t->cwd = arena_copy(&row->arena, row->cwd).p;
    for (size_t i = 0; i < points.n && !rc; i++)
        for (size_t k = 0; k < points.point[i].n && !rc; k++)
            rc = put_saved(t, &points, &points.point[i], &points.point[i].saved[k], &a, e);
    tool_edits_fini(t);
    arena_fini(&a);
    goat_points_fini(&points);
    session_row_free(row);
    return rc;
}

struct counted {
    const struct session_ref *ref;
    edit_fn *fn;
    void *arg;
    size_t n;
    int64_t forked_ms;
};

/* The time at which a fork was made; TIME_NONE if the session is not a fork. */
static int64_t forked_ms(const struct session_ref *ref)
{
    struct arena a = { 0 };
    struct goat_metadata m;
    bool is = goat_metadata_of(ref, &a, &m) == ERR_OK && !m.why && m.text[GOAT_PARENT].n > 0;
    int64_t ms = is ? m.created_ms : TIME_NONE;

    arena_fini(&a);
    return ms;
}

/* Rows older than the fork were copied. */
static enum err_code count_edit(const struct edit *edit, void *arg, struct err *e)
{
    struct counted *c = arg;
    struct edit marked = *edit;

    c->forked_ms = c->n ? c->forked_ms : forked_ms(c->ref);
    c->n++;
    marked.copied = edit->time_ms < c->forked_ms;
    return c->fn(&marked, c->arg, e);
}

/* The checkpoints are read if the session edited the file. */
enum err_code goat_edits(const struct store *st, const struct session_ref *ref,
                         const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct tool_edits t = { .q = q, .fn = fn, .arg = arg };
    struct counted c = { .ref = ref, .fn = fn, .arg = arg };
    enum err_code rc =
        goat_has_log(ref) ? tool_edits_files(st->ops, ref, q, NULL, count_edit, &c, e) : ERR_OK;

    return rc || !c.n || !q->seen ? rc : put_points(st, ref, &t, e);
}
