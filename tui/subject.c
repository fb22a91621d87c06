#include "tui/state.h"

/* What an action is about: in the conversation the session that is read; in the list those that are marked, else
 * the selected one. */

struct subjects subjects_of(const struct model *m)
{
    struct subjects s = { .list = &m->list, .next = 0 };

    if (view_base(m) != VIEW_LIST)
        s.one = m->viewed;
    else if (m->list.marks > 0)
        s.marked = true;
    else
        s.one = m->list.selected;
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
