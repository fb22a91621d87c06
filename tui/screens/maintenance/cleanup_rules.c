#include "tui/screens/maintenance/cleanup.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/human.h"

static const char *const ages[] = { "", "1d", "1w", "2w", "30d", "3mo", "6mo", "1y" };
static const char *const sizes[] = { "", "100k", "1M", "10M", "100M", "1G" };
enum { AGES = sizeof ages / sizeof *ages, SIZES = sizeof sizes / sizeof *sizes };

const char *cleanup_rule_name(enum cleanup_rule rule)
{
    static const char *const names[] = {
        [CLEANUP_RULE_SCOPE] = "where",        [CLEANUP_RULE_OLDER] = "not used for",
        [CLEANUP_RULE_LARGER] = "larger than", [CLEANUP_RULE_EMPTY] = "empty",
        [CLEANUP_RULE_ARCHIVED] = "archived",  [CLEANUP_RULE_ORPHANS] = "orphaned",
        [CLEANUP_RULE_TAGGED] = "tagged",      [CLEANUP_RULE_NAMED] = "named by hand",
    };

    return names[rule];
}

int cleanup_rule_line(enum cleanup_rule rule)
{
    return rule >= CLEANUP_RULE_TAGGED  ? CLEANUP_RULE_LINES - 1
           : rule >= CLEANUP_RULE_EMPTY ? CLEANUP_RULE_LINES - 2
                                        : (int)rule;
}

const char *cleanup_rule_help(enum cleanup_rule rule)
{
    static const char *const texts[] = {
        [CLEANUP_RULE_SCOPE] =
            "sessions of this directory, its repository's worktrees, or all projects",
        [CLEANUP_RULE_OLDER] = "time since its last message or change, whichever is newer",
        [CLEANUP_RULE_LARGER] = "the disk space of all files of a session",
        [CLEANUP_RULE_EMPTY] = "only sessions without any message",
        [CLEANUP_RULE_ARCHIVED] = "only archived sessions",
        [CLEANUP_RULE_ORPHANS] = "only what deleted sessions left behind: saved copies, ...",
        [CLEANUP_RULE_TAGGED] = "sessions with a tag stay",
        [CLEANUP_RULE_NAMED] = "sessions that were renamed by hand stay",
    };

    return texts[rule];
}

static const char *scope_text(enum scope_kind scope)
{
    static const char *const names[] = {
        [SCOPE_HERE] = "this directory",
        [SCOPE_WORKTREES] = "this repository's worktrees",
        [SCOPE_ALL] = "all projects",
    };

    return names[scope];
}

void cleanup_rule_value(const struct cleanup_rules *r, enum cleanup_rule rule, char *out,
                        size_t cap)
{
    switch (rule) {
    case CLEANUP_RULE_SCOPE: snprintf(out, cap, "%s", scope_text(r->scope)); break;
    case CLEANUP_RULE_OLDER: snprintf(out, cap, "%s", r->older[0] ? r->older : "any time"); break;
    case CLEANUP_RULE_LARGER:
        snprintf(out, cap, "%s", r->larger[0] ? r->larger : "any size");
        break;
    default: out[0] = '\0'; break;
    }
}

bool cleanup_rule_is_set(const struct cleanup_rules *r, enum cleanup_rule rule)
{
    switch (rule) {
    case CLEANUP_RULE_OLDER: return r->older[0] != '\0';
    case CLEANUP_RULE_LARGER: return r->larger[0] != '\0';
    case CLEANUP_RULE_EMPTY: return r->empty;
    case CLEANUP_RULE_ARCHIVED: return r->archived;
    case CLEANUP_RULE_ORPHANS: return r->orphans;
    case CLEANUP_RULE_TAGGED: return r->keep_tagged;
    case CLEANUP_RULE_NAMED: return r->keep_named;
    default: return true;
    }
}

/* A typed value may not be in the list; stepping then continues at the first or the last value. */
static bool step_text(char value[CLEANUP_RULE_TEXT], const char *const values[], int n,
                      int direction)
{
    int at = 0;

    while (at < n && strcmp(values[at], value) != 0)
        at++;
    at = at < n ? at + direction : direction > 0 ? 0 : n - 1;
    if (at < 0 || at >= n)
        return false;
    snprintf(value, CLEANUP_RULE_TEXT, "%s", values[at]);
    return true;
}

static void turn_tick(struct cleanup_rules *r, enum cleanup_rule rule)
{
    bool *tick = rule == CLEANUP_RULE_EMPTY      ? &r->empty
                 : rule == CLEANUP_RULE_ARCHIVED ? &r->archived
                 : rule == CLEANUP_RULE_ORPHANS  ? &r->orphans
                 : rule == CLEANUP_RULE_TAGGED   ? &r->keep_tagged
                                                 : &r->keep_named;

    *tick = !*tick;
    if (rule >= CLEANUP_RULE_TAGGED)
        return;
    if (*tick && rule == CLEANUP_RULE_ORPHANS)
        r->empty = r->archived = false;
    else if (*tick)
        r->orphans = false;
}

bool cleanup_rule_step(struct cleanup_rules *r, enum cleanup_rule rule, int direction)
{
    static const enum scope_kind order[] = { SCOPE_HERE, SCOPE_WORKTREES, SCOPE_ALL };

    switch (rule) {
    case CLEANUP_RULE_SCOPE: {
        int at = 0;

        while (order[at] != r->scope)
            at++;
        if (at + direction < 0 || at + direction > 2)
            return false;
        r->scope = order[at + direction];
        return true;
    }
    case CLEANUP_RULE_OLDER: return step_text(r->older, ages, AGES, direction);
    case CLEANUP_RULE_LARGER: return step_text(r->larger, sizes, SIZES, direction);
    case CLEANUP_RULE_EMPTY:
    case CLEANUP_RULE_ARCHIVED:
    case CLEANUP_RULE_ORPHANS:
    case CLEANUP_RULE_TAGGED:
    case CLEANUP_RULE_NAMED: turn_tick(r, rule); return true;
    case CLEANUP_RULE_COUNT: break;
    }
    return false;
}

const char *cleanup_rule_set_text(struct cleanup_rules *r, enum cleanup_rule rule,
                                  struct slice text, int64_t now_ms)
{
    char *value = rule == CLEANUP_RULE_OLDER ? r->older : r->larger;
    int64_t parsed;

    while (text.n > 0 && *text.p == ' ')
        text = (struct slice){ text.p + 1, text.n - 1 };
    while (text.n > 0 && text.p[text.n - 1] == ' ')
        text.n--;
    if (text.n >= CLEANUP_RULE_TEXT)
        return "the value is too long";
    if (text.n > 0 && rule == CLEANUP_RULE_OLDER && !human_time_parse(text, now_ms, &parsed))
        return "like 90d, 12h, 2w or 2026-01-31";
    if (text.n > 0 && rule == CLEANUP_RULE_LARGER && !human_size_parse(text, &parsed))
        return "like 500k, 10M, 2G";
    snprintf(value, CLEANUP_RULE_TEXT, "%.*s", SLICE_ARG(text));
    return NULL;
}

struct sweep_rule cleanup_rules_to_sweep(const struct cleanup_rules *r, int64_t now_ms)
{
    struct sweep_rule rule = {
        .before_ms = TIME_NONE, .empty = r->empty, .archived = r->archived, .orphans = r->orphans
    };

    rule.include = (r->keep_tagged ? 0u : SWEEP_TAGGED) | (r->keep_named ? 0u : SWEEP_NAMED);

    if (r->older[0] && !human_time_parse(slice_of(r->older), now_ms, &rule.before_ms))
        rule.before_ms = TIME_NONE;
    if (r->larger[0] && !human_size_parse(slice_of(r->larger), &rule.larger_than))
        rule.larger_than = 0;
    return rule;
}

void cleanup_rules_text(const struct cleanup_rules *r, char *out, size_t cap)
{
    snprintf(out, cap, "in %s%s%s%s%s%s%s%s", scope_text(r->scope),
             r->older[0] ? ", not used for " : "", r->older, r->larger[0] ? ", larger than " : "",
             r->larger, r->empty ? ", empty" : "", r->archived ? ", archived" : "",
             r->orphans ? ", left behind" : "");
}
