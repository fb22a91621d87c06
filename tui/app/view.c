#include "tui/app/view.h"

#include "lite/base/time.h"

enum view_id view_top(const struct model *m)
{
    return m->stack[m->depth - 1];
}

enum view_id view_base(const struct model *m)
{
    size_t i = m->depth - 1;

    while (i > 0 && m->views[m->stack[i]]->overlay)
        i--;
    return m->stack[i];
}

bool view_is_open(const struct model *m, enum view_id id)
{
    for (size_t i = 0; i < m->depth; i++)
        if (m->stack[i] == id)
            return true;
    return false;
}

bool view_asks(const struct model *m)
{
    return view_is_open(m, VIEW_DIALOG) || view_is_open(m, VIEW_PROMPT);
}

void view_push(struct model *m, enum view_id id)
{
    if (m->depth == VIEW_STACK) /* deeper than any path through the screens: the top is replaced */
        m->depth--;
    m->stack[m->depth++] = id;
}

void view_pop(struct model *m)
{
    if (m->depth > 1)
        m->depth--;
}

void view_quit(struct model *m)
{
    enum { CANCELLED = 130 };

    /* Leaving the picker means that nothing was chosen; leaving a rewind, that the work is done. */
    effect_add(&m->fx, EFFECT_QUIT, REQUESTER_LIST)->code = m->rewind_only ? 0 : CANCELLED;
    m->leaving = true;
}

int64_t view_earlier(int64_t a, int64_t b)
{
    if (a == TIME_NONE || b == TIME_NONE)
        return a == TIME_NONE ? b : a;
    return a < b ? a : b;
}

enum key_context view_key_context(const struct model *m)
{
    const struct view_ops *top = m->views[view_top(m)];

    return top->place ? top->place(m) : top->context;
}

uint32_t view_entry(const struct model *m)
{
    const struct view_ops *base = m->views[view_base(m)];

    return base->entry ? base->entry(m) : m->viewed;
}

const char *view_unavailable(const struct model *m, enum action a)
{
    const struct view_ops *base = m->views[view_base(m)];

    return base->unavailable ? base->unavailable(m, a) : NULL;
}

void view_refresh(struct model *m)
{
    for (size_t i = VIEW_COUNT; i-- > 0;)
        if (m->views[i]->refresh)
            m->views[i]->refresh(m);
}
