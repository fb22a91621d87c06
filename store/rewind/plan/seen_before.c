#include <stdlib.h>
#include <string.h>

#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"

/* What a session of the store read, listed or left shows that a file was at the point as a later turn found it: the
 * newest record from before the point decides. Records of other sessions count, too, because all of them work on the
 * same files: those that ended nearest to the point are read, and what they show has to be younger than older ones that
 * were not read. */

enum { SESSIONS_MAX = 16, BYTES_MAX = 64 << 20 };

/* A target that a later turn found. */
struct late {
    struct rewind_target *target;
    /* the time of the newest record that is known about the point; TIME_NONE: none */
    int64_t newest_ms;
    bool is_change; /* it changed the file */
    bool is_same;   /* it shows the wanted state */
    bool is_denied; /* it shows a file that should not exist */
    bool is_mine;   /* it is of the session itself */
    bool is_lost;   /* the file was changed since the point, or at an unknown time */
};

struct seeing {
    struct rewind_plan *plan;
    const struct session_ref *mine;
    struct late *late;
    size_t n;
    bool is_mine; /* the session that is read is that of the plan */
    struct source_content wanted;
    struct session_ref *other; /* in the plan's arena */
    size_t others;
    /* the end of the newest session that ended before the point and was not read */
    int64_t unread_ns;
    bool no_memory;
};

/* ---- one record ---- */

/* A read may not show whether the last line has an end. */
static bool seen_before_is_text(struct slice file, struct slice text)
{
    struct slice shorter = { file.p, file.n ? file.n - 1 : 0 };

    return source_same_text(file, text) ||
           (file.n && file.p[file.n - 1] == '\n' && source_same_text(shorter, text));
}

/* Whether the file was as it is wanted, after the record. */
static enum err_code seen_before_compare(struct seeing *s, const struct rewind_target *t,
                                         const struct edit *edit, bool *same, struct err *e)
{
    *same = t->want == REWIND_ABSENT && edit->after_known == EDIT_ABSENT;
    if (t->want != REWIND_BYTES || edit->after_known != EDIT_TEXT)
        return ERR_OK;
    enum err_code rc = source_read(&t->source, NULL, &s->wanted, NULL);

    *same = !rc && s->wanted.held && seen_before_is_text(buf_slice(&s->wanted.bytes), edit->after);
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

/* Records of one moment have no order: a change counts as the last of them, and reads have to agree. */
static enum err_code add_to(struct seeing *s, struct late *l, const struct edit *edit,
                            struct err *e)
{
    bool change = edit->kind != EDIT_SEEN || edit->after_known == EDIT_UNKNOWN, same = false;

    if (edit->time_ms >= l->target->found_ms && edit->time_ms != TIME_NONE)
        return ERR_OK;
    /* A read in the turn of the point is one of the point, if nothing was changed since. */
    if (edit->time_ms == TIME_NONE ||
        (edit->time_ms > s->plan->point_ms && !(s->is_mine && edit->kind == EDIT_SEEN &&
                                                slice_eq(edit->turn, slice_of(s->plan->point))))) {
        l->is_lost |= edit->kind != EDIT_SEEN;
        return ERR_OK;
    }
    if (edit->time_ms < l->newest_ms || (edit->time_ms == l->newest_ms && l->is_change && !change))
        return ERR_OK;
    bool agree = edit->time_ms > l->newest_ms || (change && !l->is_change) || l->is_same;
    enum err_code rc = seen_before_compare(s, l->target, edit, &same, e);

    /* what a part of the path became is not what the file became */
    same &= edit->kind == EDIT_SEEN || strcmp(edit->path, l->target->path) == 0;
    *l = (struct late){ .target = l->target,
                        .newest_ms = edit->time_ms,
                        .is_change = change,
                        .is_same = same && agree,
                        .is_denied =
                            l->target->want == REWIND_ABSENT &&
                            (edit->after_known == EDIT_TEXT || edit->after_known == EDIT_SOME),
                        .is_mine = s->is_mine,
                        .is_lost = l->is_lost };
    return rc;
}

static enum err_code seen_before_add_record(const struct edit *edit, void *arg, struct err *e)
{
    struct seeing *s = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct edit_query of_file = { .path = &s->late[i].target->path, .paths = 1 };

        if (edit_wanted(&of_file, edit))
            rc = add_to(s, &s->late[i], edit, e);
    }
    return rc;
}

/* ---- the sessions ---- */

static enum err_code seen_before_read_session(struct seeing *s, const struct session_ref *ref,
                                              bool *read, struct err *e)
{
    const char **path = arena_alloc(&s->plan->arena, (s->n + 1) * sizeof *path);
    struct edit_query q = { .paths = s->n, .reads = true, .files_only = true };

    if (!path)
        return err_nomem(e);
    for (size_t i = 0; i < s->n; i++)
        path[i] = s->late[i].target->path;
    q.path = path;
    enum err_code rc = ref->store->ops->edits(ref->store, ref, &q, seen_before_add_record, s, NULL);

    *read = rc == ERR_OK;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static bool seen_before_add_other(const struct session_ref *ref, void *arg)
{
    struct seeing *s = arg;

    if (slice_eq(ref->id, s->mine->id))
        return true;
    struct session_ref *more = arena_grow(&s->plan->arena, s->other, s->others, sizeof *more);

    s->no_memory = !more || !session_ref_copy(&s->plan->arena, ref, &more[s->others]);
    if (s->no_memory)
        return false;
    s->other = more;
    s->others++;
    return true;
}

static int seen_before_newest_first(const void *x, const void *y)
{
    const int64_t a = session_recent_ns(x), b = session_recent_ns(y);

    return (a < b) - (a > b);
}

static enum err_code read_others(struct seeing *s, struct err *e)
{
    const struct store *st = s->mine->store;
    const struct scope everywhere = { .all = true };

    if (!st->ops->enumerate || st->ops->finds_other_sessions)
        return ERR_OK;
    enum err_code rc = st->ops->enumerate(st, &everywhere, seen_before_add_other, s, NULL);

    if (s->no_memory || rc == ERR_NOMEM)
        return err_nomem(e);
    if (s->others)
        qsort(s->other, s->others, sizeof *s->other, seen_before_newest_first);

    /* Those nearest to the point are read, as many as may be. The ones between the two numbers were taken: `older` is
     * that of the first one that ended before them, `newer` that of the last one that did not, plus 1. */
    const int64_t point = time_ns_of_ms(s->plan->point_ms);
    size_t older = 0, newer;
    int64_t bytes = 0;

    while (older < s->others && session_recent_ns(&s->other[older]) >= point)
        older++;
    newer = older;
    for (size_t n = 0; newer + s->others - older > 0; n++) {
        const bool takes_newer =
            newer > 0 && (older == s->others || session_recent_ns(&s->other[newer - 1]) - point <
                                                    point - session_recent_ns(&s->other[older]));
        const struct session_ref *ref = &s->other[takes_newer ? --newer : older++];
        bool read = false;

        bytes += ref->file.size;
        if (n < SESSIONS_MAX && bytes <= BYTES_MAX)
            TRY(seen_before_read_session(s, ref, &read, e));
        if (!read && session_recent_ns(ref) > s->unread_ns && session_recent_ns(ref) < point)
            s->unread_ns = session_recent_ns(ref);
    }
    return ERR_OK;
}

enum err_code rewind_check_seen(const struct session_ref *ref, struct rewind_plan *plan,
                                struct err *e)
{
    struct seeing s = { .plan = plan, .mine = ref, .unread_ns = INT64_MIN };
    bool read;

    if (!ref->store->ops->edits || plan->point_ms == TIME_NONE || !plan->point)
        return ERR_OK;
    enum err_code rc = ERR_OK;

    NEED(s.late = arena_zalloc(&plan->arena, (plan->n + 1) * sizeof *s.late));
    for (size_t i = 0; i < plan->n; i++)
        if (plan->target[i].is_late && plan->target[i].want != REWIND_UNKNOWN)
            s.late[s.n++] = (struct late){ .target = &plan->target[i], .newest_ms = TIME_NONE };

    if (s.n) {
        s.is_mine = true;
        rc = seen_before_read_session(&s, s.mine, &read, e);

        /* A change that was not reported may follow. */
        for (size_t i = 0; !rc && !read && i < s.n; i++)
            s.late[i].is_lost = true;
        s.is_mine = false;
    }
    if (!rc && s.n)
        rc = read_others(&s, e);
    for (size_t i = 0; i < s.n && !rc; i++) {
        const struct late *l = &s.late[i];

        l->target->is_shown |=
            l->is_same && !l->is_lost && (l->is_mine || time_ns_of_ms(l->newest_ms) > s.unread_ns);
        if (l->is_denied && !l->target->doubt)
            l->target->doubt = "a later turn created it, but a file was there before the chosen "
                               "message";
    }
    source_content_fini(&s.wanted);
    return rc;
}
