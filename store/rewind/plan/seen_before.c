#include <stdlib.h>
#include <string.h>

#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"

/* What the session read, or a listing of its directory, shows that a file was at the point as a later turn found it. */

/* A target that a later turn found. */
struct late {
    struct rewind_target *target;
    bool is_seen; /* at the end of what is known about the point */
    /* the newest edit so far: those of a sub-agent may be reported before older reads */
    int64_t changed_ms;
};

struct seeing {
    struct rewind_plan *plan;
    struct late *late;
    size_t n;
    struct source_content wanted;
};

/* A read may not show whether the last line has an end. */
static bool is_text(struct slice file, struct slice text)
{
    struct slice shorter = { file.p, file.n ? file.n - 1 : 0 };

    return source_same_text(file, text) ||
           (file.n && file.p[file.n - 1] == '\n' && source_same_text(shorter, text));
}

static enum err_code compare(struct seeing *s, struct late *l, const struct edit *seen,
                             struct err *e)
{
    const struct rewind_target *t = l->target;

    l->is_seen = t->want == REWIND_ABSENT && seen->after_known == EDIT_ABSENT;
    if (t->want != REWIND_BYTES || seen->after_known != EDIT_TEXT)
        return ERR_OK;
    enum err_code rc = source_read(&t->source, NULL, &s->wanted, NULL);

    l->is_seen = !rc && s->wanted.held && is_text(buf_slice(&s->wanted.bytes), seen->after);
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static bool is_at_point(const struct rewind_plan *plan, const struct edit *edit)
{
    return edit->time_ms <= plan->point_ms || slice_eq(edit->turn, slice_of(plan->point));
}

/* The newest record counts; after an edit, of the file or of a directory above it, the file is no longer what was
 * seen. */
static enum err_code add_record(const struct edit *edit, void *arg, struct err *e)
{
    struct seeing *s = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < s->n && !rc; i++) {
        struct late *l = &s->late[i];
        const struct edit_query of_file = { .path = &l->target->path, .paths = 1 };

        if (!edit_wanted(&of_file, edit) || edit->time_ms >= l->target->found_ms)
            continue;
        if (edit->kind != EDIT_SEEN) {
            l->is_seen = false;
            l->changed_ms = edit->time_ms > l->changed_ms ? edit->time_ms : l->changed_ms;
        } else if (edit->time_ms != TIME_NONE && edit->time_ms >= l->changed_ms &&
                   is_at_point(s->plan, edit)) {
            rc = compare(s, l, edit, e);
        }
    }
    return rc;
}

static enum err_code read_session(struct seeing *s, const struct session_ref *ref, struct err *e)
{
    const char **path = arena_alloc(&s->plan->arena, (s->n + 1) * sizeof *path);
    struct edit_query q = { .paths = s->n, .reads = true, .files_only = true };

    if (!path)
        return err_nomem(e);
    for (size_t i = 0; i < s->n; i++)
        path[i] = s->late[i].target->path;
    q.path = path;
    enum err_code rc = ref->store->ops->edits(ref->store, ref, &q, add_record, s, NULL);

    for (size_t i = 0; rc && i < s->n; i++) /* an edit that was not reported may follow */
        s->late[i].is_seen = false;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

enum err_code rewind_check_seen(const struct session_ref *ref, struct rewind_plan *plan,
                                struct err *e)
{
    struct seeing s = { .plan = plan };
    enum err_code rc = ERR_OK;

    if (!ref->store->ops->edits || plan->point_ms == TIME_NONE || !plan->point)
        return ERR_OK;
    s.late = arena_zalloc(&plan->arena, (plan->n + 1) * sizeof *s.late);
    if (!s.late)
        return err_nomem(e);
    for (size_t i = 0; i < plan->n; i++)
        if (plan->target[i].is_late && plan->target[i].want != REWIND_UNKNOWN)
            s.late[s.n++] = (struct late){ .target = &plan->target[i], .changed_ms = TIME_NONE };
    if (s.n)
        rc = read_session(&s, ref, e);
    for (size_t i = 0; i < s.n && !rc; i++)
        s.late[i].target->is_late = !s.late[i].is_seen;
    source_content_fini(&s.wanted);
    return rc;
}
