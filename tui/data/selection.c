#include "tui/app/state.h"

/* What an action is about: the session that is read, examined or selected; in the list those that are marked, if
 * any. */

uint32_t selection_entry(const struct model *m)
{
    switch (view_base(m)) {
    case VIEW_LIST: return m->list.selected;
    case VIEW_DAMAGED: return m->damaged.entry;
    case VIEW_DOCTOR: return m->doctor.entry;
    default: return m->viewed;
    }
}

const struct session_entry *selection_session(const struct model *m)
{
    uint32_t i = selection_entry(m);

    return i == ENTRY_NONE ? NULL : &m->list.sessions.entry[i];
}

struct selection selection_of(const struct model *m)
{
    struct selection s = { .list = &m->list, .next = 0 };

    if (view_base(m) == VIEW_LIST && m->list.marks > 0)
        s.marked = true;
    else
        s.one = selection_entry(m);
    return s;
}

bool selection_next(struct selection *s, uint32_t *entry)
{
    const struct list *l = s->list;

    if (!s->marked) {
        *entry = s->one;
        s->one = ENTRY_NONE;
        return *entry != ENTRY_NONE;
    }
    while (s->next < l->marked_cap && s->next < l->sessions.n) {
        uint32_t i = s->next++;

        if (l->marked[i] && session_table_is_listed(&l->sessions, i)) {
            *entry = i;
            return true;
        }
    }
    return false;
}
