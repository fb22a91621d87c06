#include "tui/app/action.h"

static const struct {
    const char *name, *title, *help;
} actions[] = {
#define X(id, name, title, help) { name, title, help },
    ACTIONS(X)
#undef X
};

const char *action_name(enum action a)
{
    return actions[a].name;
}

enum action action_named(struct slice name)
{
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
        if (slice_eq(name, slice_of(actions[a].name)))
            return (enum action)a;
    return ACT_NONE;
}

const char *action_title(enum action a)
{
    return actions[a].title;
}

const char *action_help(enum action a)
{
    return actions[a].help;
}

bool action_prompts(enum action a)
{
    return a == ACT_RENAME || a == ACT_TAG || a == ACT_FORK || a == ACT_MENU;
}
