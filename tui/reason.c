#include "tui/state.h"

/* What a session must be able to do for an action; 0: nothing special. */
static unsigned needed_ability(enum action a)
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

/* Actions that this version of the program does not have. */
static bool is_missing(enum action a)
{
    switch (a) {
    case ACT_FORK:
    case ACT_FORK_AT:
    case ACT_RESUME_AT:
    case ACT_RENAME:
    case ACT_TAG:
    case ACT_ARCHIVE:
    case ACT_TRASH:
    case ACT_EXPORT:
    case ACT_CLEANUP:
    case ACT_UNDO:
    case ACT_REDO: return true;
    default: return false;
    }
}

static bool needs_session(enum action a)
{
    return a == ACT_RESUME || a == ACT_VIEW || a == ACT_COPY || a == ACT_EDIT || a == ACT_PRINT ||
           a == ACT_MARK || needed_ability(a) != 0;
}

const char *action_reason(const struct model *m, enum action a)
{
    const struct entry *e = model_subject(m);
    unsigned ability = needed_ability(a);

    if (view_base(m) == VIEW_REWIND)
        return rewind_view_unavailable(m->rewind, a);
    if (is_missing(a))
        return "not available in this version";
    if (needs_session(a) && !e)
        return "no session is selected";
    if (ability != 0 && e->row && !(e->row->can & ability))
        return "this session's system cannot do that";
    if (view_base(m) != VIEW_TRANSCRIPT)
        return NULL;
    return transcript_view_unavailable(m->viewer, a);
}
