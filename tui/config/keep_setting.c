#include <stdlib.h>
#include <string.h>

#include "tui/config/config.h"
#include "tui/text/human.h"

enum { MS_PER_DAY = 86400000 };

/* The limits that [keep] and [snapshots] have in common. Returns false for another setting. */
static bool set_limit(struct reading *r, struct keep_limits *limits, const char *name,
                      const char *value)
{
    const struct slice text = slice_of(value);
    int64_t ms;

    if (strcmp(name, "max-size") == 0) {
        if (!human_size_parse(text, &limits->bytes))
            config_add_problem(r, "expected a size such as 10G, not %s", value);
    } else if (strcmp(name, "max-age") == 0) {
        if (human_time_parse(text, 0, &ms) && ms < 0)
            limits->days = (MS_PER_DAY - 1 - ms) / MS_PER_DAY;
        else
            config_add_problem(r, "expected an age such as 365d, not %s", value);
    } else {
        return false;
    }
    return true;
}

void config_set_snapshots(struct reading *r, const char *name, const char *value)
{
    struct keep_limits *limits = &r->config->snapshot_limits;
    const struct keep_limits before = *limits;

    if (!set_limit(r, limits, name, value))
        config_add_unknown(r, "unknown setting", name, NULL);
    if (memcmp(limits, &before, sizeof before) == 0)
        r->config->limits_unknown = true;
}

void config_set_keep(struct reading *r, const char *name, const char *value)
{
    struct config *c = r->config;
    int64_t n = strtoll(value, NULL, 10);

    if (strcmp(name, "sessions") == 0) {
        c->keep = strcmp(value, "never") == 0 ? NULL : arena_copy_text(&c->arena, value);
        r->no_memory |= c->arena.failed;
    } else if (strcmp(name, "max-sessions") == 0) {
        if (n > 0 && value[strspn(value, "0123456789")] == '\0')
            c->keep_limits.sessions = n;
        else
            config_add_problem(r, "expected a number, not %s", value);
    } else if (!set_limit(r, &c->keep_limits, name, value)) {
        config_add_unknown(r, "unknown setting", name, NULL);
    }
}
