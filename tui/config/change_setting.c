#include <string.h>

#include "store/maintenance/agent_change.h"
#include "tui/config/config_internal.h"

/* The commands with which agents change sessions themselves. */

enum store_command config_change_key(const char *name)
{
    int what = 0;

    while (what < STORE_COMMANDS && strcmp(agent_change_name((enum store_command)what), name) != 0)
        what++;
    return (enum store_command)what;
}

void config_set_change(struct reading *r, const char *section, enum store_command what,
                       const char *value)
{
    struct config *c = r->config;

    if (c->changes == CONFIG_CHANGES_MAX) {
        config_add_problem(r, "too many commands: %s", value);
        return;
    }
    c->change[c->changes] = (struct config_change){ arena_copy_text(&c->arena, section), what,
                                                    arena_copy_text(&c->arena, value) };
    r->no_memory |= c->arena.failed;
    c->changes += !c->arena.failed;
}

static const char *find_change(const struct config *c, const char *section, enum store_command what)
{
    for (size_t i = c->changes; i > 0; i--)
        if (c->change[i - 1].what == what && strcmp(c->change[i - 1].section, section) == 0)
            return c->change[i - 1].line;
    return NULL;
}

const char *config_change_command(const struct config *c, const struct store_ops *ops,
                                  enum store_command what, bool *own)
{
    const char *line = ops->format ? find_change(c, ops->name, what) : NULL;

    *own = line != NULL;
    return line ? line : find_change(c, store_format(ops), what);
}

enum err_code config_use_changes(const struct config *c, struct store *st, struct arena *a,
                                 struct err *e)
{
    struct store_ops ops = *st->ops;
    bool any = false, own;

    for (int what = 0; what < STORE_COMMANDS; what++) {
        const char *line = config_change_command(c, st->ops, (enum store_command)what, &own);

        if (line)
            ops.change_command[what] = arena_copy_text(a, line);
        any |= line != NULL;
    }
    struct store_ops *copy = any ? arena_alloc(a, sizeof *copy) : NULL;

    if (any && a->failed)
        return err_nomem(e);
    if (copy) {
        *copy = ops;
        st->ops = copy;
    }
    return ERR_OK;
}
