#ifndef TUI_SCREENS_MAINTENANCE_CLEANUP_RULES_H
#define TUI_SCREENS_MAINTENANCE_CLEANUP_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "store/maintenance/sweep.h"
#include "tui/config/settings.h"

/* The rules of a cleanup as a person sets them: each has a few values to step through, and two take any that is
 * typed. */
enum cleanup_rule {
    CLEANUP_RULE_SCOPE,
    CLEANUP_RULE_OLDER,
    CLEANUP_RULE_LARGER,
    CLEANUP_RULE_EMPTY,
    CLEANUP_RULE_ARCHIVED,
    CLEANUP_RULE_ORPHANS, /* excludes the two before: what is left behind is neither */
    CLEANUP_RULE_COUNT
};

enum { CLEANUP_RULE_TEXT = 32 };

struct cleanup_rules {
    enum scope_kind scope;
    char older[CLEANUP_RULE_TEXT];  /* "30d"; "": of any age */
    char larger[CLEANUP_RULE_TEXT]; /* "10M"; "": of any size */
    bool empty, archived, orphans;
};

/* What a cleanup begins with: a month old, in the scope of the list. */
void cleanup_rules_init(struct cleanup_rules *r, enum scope_kind scope);
const char *cleanup_rule_name(enum cleanup_rule rule);
/* What it means, in a sentence. */
const char *cleanup_rule_help(enum cleanup_rule rule);
/* Its value as a person reads it; a rule that is a tick has none. */
void cleanup_rule_value(const struct cleanup_rules *r, enum cleanup_rule rule, char *out,
                        size_t cap);
bool cleanup_rule_is_checkbox(enum cleanup_rule rule);
/* Does any of them say which sessions are meant, and not only where? */
bool cleanup_rules_select(const struct cleanup_rules *r);
bool cleanup_rule_is_set(const struct cleanup_rules *r, enum cleanup_rule rule);
/* To the next value, or to the one before. False: there is none. */
bool cleanup_rule_step(struct cleanup_rules *r, enum cleanup_rule rule, int direction);
/* Sets a value that was typed; blank: any. Answers why not, or NULL. */
const char *cleanup_rule_set_text(struct cleanup_rules *r, enum cleanup_rule rule,
                                  struct slice text, int64_t now_ms);
/* The rules as the store takes them, but for scope and cancel. */
struct sweep_rule cleanup_rules_to_sweep(const struct cleanup_rules *r, int64_t now_ms);
/* All of them in a sentence: "in all projects, not used for 30d, archived". */
void cleanup_rules_text(const struct cleanup_rules *r, char *out, size_t cap);

#endif
