#ifndef TUI_SCREENS_CLEANUP_RULES_H
#define TUI_SCREENS_CLEANUP_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/slice.h"
#include "store/tidy/sweep.h"
#include "tui/settings.h"

/* The rules of a cleanup as a person sets them: each has a few values to step through, and two take any that is
 * typed. */
enum rule {
    RULE_SCOPE,
    RULE_OLDER,
    RULE_LARGER,
    RULE_EMPTY,
    RULE_ARCHIVED,
    RULE_ORPHANS, /* excludes the two before: what is left behind is neither */
    RULE_COUNT
};

enum { RULE_TEXT = 32 };

struct cleanup_rules {
    enum scope_kind scope;
    char older[RULE_TEXT];  /* "30d"; "": of any age */
    char larger[RULE_TEXT]; /* "10M"; "": of any size */
    bool empty, archived, orphans;
};

/* What a cleanup begins with: a month old, in the scope of the list. */
void rules_begin(struct cleanup_rules *r, enum scope_kind scope);
const char *rule_name(enum rule rule);
/* What it means, in a sentence. */
const char *rule_help(enum rule rule);
/* Its value as a person reads it; a rule that is a tick has none. */
void rule_value(const struct cleanup_rules *r, enum rule rule, char *out, size_t cap);
bool rule_is_tick(enum rule rule);
/* Does any of them say which sessions are meant, and not only where? */
bool rules_limit(const struct cleanup_rules *r);
bool rule_is_set(const struct cleanup_rules *r, enum rule rule);
/* To the next value, or to the one before. False: there is none. */
bool rule_step(struct cleanup_rules *r, enum rule rule, int way);
/* Sets a value that was typed; blank: any. Answers why not, or NULL. */
const char *rule_type(struct cleanup_rules *r, enum rule rule, struct slice text, int64_t now_ms);
/* The rules as the store takes them, but for scope and cancel. */
struct sweep_rule rules_make(const struct cleanup_rules *r, int64_t now_ms);
/* All of them in a sentence: "in all projects, not used for 30d, archived". */
void rules_text(const struct cleanup_rules *r, char *out, size_t cap);

#endif
