#include "tui/app/state.h"

unsigned action_required_ability(enum action a)
{
    switch (a) {
    case ACT_RESUME: return CAN_RESUME;
    case ACT_FORK:
    case ACT_FORK_AT: return CAN_FORK;
    case ACT_RESUME_AT: return CAN_RESUME_AT;
    case ACT_REWIND:
    case ACT_REWIND_AT: return CAN_REWIND;
    case ACT_RENAME: return CAN_RENAME;
    case ACT_TAG: return CAN_TAG;
    case ACT_ARCHIVE: return CAN_ARCHIVE;
    case ACT_TRASH: return CAN_DELETE;
    default: return 0;
    }
}

static bool needs_session(enum action a)
{
    return a == ACT_RESUME || a == ACT_VIEW || a == ACT_COPY || a == ACT_EDIT || a == ACT_PRINT ||
           a == ACT_MARK || a == ACT_DOCTOR || action_required_ability(a) != 0;
}

/* In the words of its system, where it has some. */
static const char *incapable(const struct session_row *row, unsigned ability)
{
    const char *why =
        row->ref.store ? store_unsupported_reason(row->ref.store->ops, ability) : NULL;

    if (row->problem)
        why = row->problem;
    else if (ability == CAN_DELETE && row->stays)
        why = row->stays;
    return why ? why : "this session's system cannot do that";
}

/* Of all that are meant one is enough: the others are left out, and said so. */
static const char no_session[] = "no session is selected";

static const char *change_reason(const struct model *m, enum action a)
{
    struct selection s = selection_of(m);
    unsigned ability = action_required_ability(a);
    const char *why = no_session;
    uint32_t i;

    while (selection_next(&s, &i)) {
        const struct session_row *row = m->list.sessions.entry[i].row;

        if (row && !(row->can & ability))
            why = incapable(row, ability);
        else if (row && (a == ACT_TRASH || a == ACT_RESUME_AT) && row->flags & SESSION_LIVE)
            why = "an agent has this session open";
        else
            return NULL;
    }
    return why;
}

static bool is_change(enum action a)
{
    return a == ACT_RENAME || a == ACT_TAG || a == ACT_ARCHIVE || a == ACT_TRASH || a == ACT_FORK ||
           a == ACT_FORK_AT || a == ACT_RESUME_AT;
}

const char *action_unavailable(const struct model *m, enum action a)
{
    const struct session_entry *e = selection_session(m);
    unsigned ability = action_required_ability(a);

    if (view_base(m) == VIEW_REWIND)
        return rewind_view_unavailable(m->rewind, a);
    if (view_base(m) == VIEW_CLEANUP)
        return cleanup_unavailable(&m->cleanup, a);
    if (view_base(m) == VIEW_TRASH && (a == ACT_MARK || a == ACT_MARK_UP || a == ACT_MARK_ALL))
        return trash_view_unavailable(&m->trash);
    if (a == ACT_RESTORE || a == ACT_EMPTY)
        return trash_view_unavailable(&m->trash);
    if (a == ACT_FIX)
        return doctor_unavailable(&m->doctor);
    if (is_change(a))
        return change_reason(m, a);
    if (needs_session(a) && !e)
        return view_base(m) == VIEW_DAMAGED ? damaged_unavailable(&m->damaged, a) : no_session;
    if (ability != 0 && e->row && !(e->row->can & ability))
        return incapable(e->row, ability);
    if (view_base(m) != VIEW_TRANSCRIPT)
        return NULL;
    return transcript_view_unavailable(m->viewer, a);
}
