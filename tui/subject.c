#include "tui/state.h"

/* What an action is about: the session that is read, examined or selected; in the list those that are marked, if
 * any. */

uint32_t model_subject_entry(const struct model *m)
{
    switch (view_base(m)) {
    case VIEW_LIST: return m->list.selected;
    case VIEW_DAMAGED: return m->damaged.entry;
    case VIEW_DOCTOR: return m->doctor.entry;
    default: return m->viewed;
    }
}

const struct entry *model_subject(const struct model *m)
{
    uint32_t i = model_subject_entry(m);

    return i == ENTRY_NONE ? NULL : &m->list.roster.entry[i];
}

struct subjects subjects_of(const struct model *m)
{
    struct subjects s = { .list = &m->list, .next = 0 };

    if (view_base(m) == VIEW_LIST && m->list.marks > 0)
        s.marked = true;
    else
        s.one = model_subject_entry(m);
    return s;
}

bool subject_next(struct subjects *s, uint32_t *entry)
{
    const struct list *l = s->list;

    if (!s->marked) {
        *entry = s->one;
        s->one = ENTRY_NONE;
        return *entry != ENTRY_NONE;
    }
    while (s->next < l->marked_cap && s->next < l->roster.n) {
        uint32_t i = s->next++;

        if (l->marked[i] && roster_listed(&l->roster, i)) {
            *entry = i;
            return true;
        }
    }
    return false;
}
