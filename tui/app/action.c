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

const char *action_title(enum action a)
{
    return actions[a].title;
}

const char *action_help(enum action a)
{
    return actions[a].help;
}
