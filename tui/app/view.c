
#include "tui/app/view.h"

static const struct view_ops *const views[VIEW_COUNT] = {
    [VIEW_LIST] = &view_list,       [VIEW_TRANSCRIPT] = &view_transcript,
    [VIEW_REWIND] = &view_rewind,   [VIEW_TRASH] = &view_trash,
    [VIEW_CLEANUP] = &view_cleanup, [VIEW_MENU] = &view_menu,
    [VIEW_DIALOG] = &view_dialog,   [VIEW_PROMPT] = &view_prompt,
    [VIEW_HELP] = &view_help,       [VIEW_DAMAGED] = &view_damaged,
    [VIEW_DOCTOR] = &view_doctor,
};

const struct view_ops *view_ops_of(enum view_id id)
{
    return views[id];
}

enum view_id view_top(const struct model *m)
{
    return m->stack[m->depth - 1];
}

void view_push(struct model *m, enum view_id id)
{
    if (m->depth == VIEW_STACK) /* deeper than any way through the screens: the top gives way */
        m->depth--;
    m->stack[m->depth++] = id;
}

void view_pop(struct model *m)
{
    if (m->depth > 1)
        m->depth--;
}

bool view_is_open(const struct model *m, enum view_id id)
{
    for (size_t i = 0; i < m->depth; i++)
        if (m->stack[i] == id)
            return true;
    return false;
}

enum view_id view_base(const struct model *m)
{
    size_t i = m->depth - 1;

    while (i > 0 && views[m->stack[i]]->overlay)
        i--;
    return m->stack[i];
}
