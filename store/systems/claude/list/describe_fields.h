#ifndef STORE_SYSTEMS_CLAUDE_LIST_DESCRIBE_FIELDS_H
#define STORE_SYSTEMS_CLAUDE_LIST_DESCRIBE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "lite/scan/field.h"
#include "store/api/scope.h"
#include "store/api/session.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/last_turn.h"

/* One describe under way: two windows, and what was found in them so far. */

/* The same table serves both windows: in the head only the titles are asked for. */
enum field_number {
    TITLE,
    AI_TITLE,
    TAG,
    LAST_PROMPT,
    MOVED,
    AGENT_NAME,
    BRANCH,
    ENTRY,
    TIMES,
    MODEL,
    SNAPSHOTS,
    FORKED,
    GLUED,
    CONTINUED,
    FIELDS,
    HEAD_FIELDS = TAG,
};

/* One describe under way. Texts point into the windows or the scratch arena until `keep` copies them. */
struct claude_describe_state {
    const struct claude *c;
    const struct scope *scope;
    struct window *w;
    struct arena *a;
    struct session_row *row;
    struct field_value tail[FIELDS];
    struct slice project; /* that the session's folder stands for */
    struct restorable_files tracked;
    struct last_turn turn;
    int64_t newest_ms;
    struct slice newest; /* as it is written */
    bool has_side;       /* there is a side folder */
    bool says_continued; /* the tail names a session that may go on with this one */
    bool ok;             /* false: out of memory */
};

void describe_tables_init(struct describe_tables *t);

/* The pass over the tail: its fields, and what else is seen on the way. */
void describe_scan_tail(struct claude_describe_state *r);

/* Of the head mostly the first stage is enough; these read the rest only when they must. */

/* The head and the tail are the same bytes: the whole file. */
bool describe_is_whole_file(const struct claude_describe_state *r);
struct slice describe_whole_head(struct claude_describe_state *r);
/* Rows that are there to their ends; when the head is read whole, its last one too, cut or not. */
struct slice describe_known_rows(const struct claude_describe_state *r);
/* The row around the first place of a text in the head; empty when it is nowhere. */
struct slice describe_row_with(struct claude_describe_state *r, const char *text);
/* The first raw value of a key in the head; .p is NULL when there is none. */
struct slice describe_first_value(struct claude_describe_state *r, const char *key);
/* The same for a field of the tail: what the tail does not have, a head of the same bytes has not. */
struct slice describe_first_unless_in_tail(struct claude_describe_state *r,
                                           enum field_number field);

/* Says why a list leaves the session out, if it does (claude.md 2.5, 1.3). */
void claude_set_hidden(struct claude_describe_state *r);

#endif
