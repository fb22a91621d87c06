#include <stdlib.h>
#include <string.h>

#include "tui/config/config.h"
#include "tui/text/human.h"

enum { MS_PER_DAY = 86400000 };

/* Sets one of the limits that [keep] and [snapshots] have in common. Returns false after a mistake, which is reported. */
static bool set_limit(struct reading *r, struct keep_limits *limits, const char *name,
                      const char *value)
{
    const struct slice text = slice_of(value);
    int64_t ms;

    if (strcmp(name, "max-size") == 0) {
        if (human_size_parse(text, &limits->bytes))
            return true;
        config_add_problem(r, "expected a size such as 10G, not %s", value);
    } else if (strcmp(name, "max-age") == 0) {
        if (human_time_parse(text, 0, &ms) && ms < 0) {
            limits->days = (MS_PER_DAY - 1 - ms) / MS_PER_DAY;
            return true;
        }
        config_add_problem(r, "expected an age such as 365d, not %s", value);
    } else {
        config_add_unknown(r, "unknown setting", name, NULL);
    }
    return false;
}

/* 0 bytes would be the default, which may remove what was meant to be kept. */
void config_set_snapshots(struct reading *r, const char *name, const char *value)
{
    struct keep_limits *limits = &r->config->snapshot_limits;
    const bool set = set_limit(r, limits, name, value);
    const bool none = set && strcmp(name, "max-size") == 0 && limits->bytes == 0;

    if (none)
        config_add_problem(r, "expected a size such as 10G, not %s", value);
    r->config->limits_unknown |= !set || none;
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
    } else {
        (void)set_limit(r, &c->keep_limits, name, value);
    }
}
