#ifndef TUI_SCREENS_MAINTENANCE_DAMAGED_H
#define TUI_SCREENS_MAINTENANCE_DAMAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/app/action.h"
#include "tui/data/findings.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"

/* Everything damaged in the scope of the list, in every system: files that the listing could not
 * read, damage outside the sessions, and sessions (hidden ones included) whose row reports damage.
 * A row is made from only the two ends of a file; the doctor checks all of it. */
struct model;
struct view_ops;

extern const struct view_ops view_damaged;

enum damage_source {
    DAMAGE_PROBLEM, /* of the listing: i is one of its problems */
    DAMAGE_STORE,   /* i is one of the findings outside the sessions */
    DAMAGE_SESSION, /* i is an entry of the session table */
};

struct damage {
    enum damage_source source;
    uint32_t i;
    int64_t time_ms; /* of a session */
};

struct damaged_view {
    struct damage *item; /* owned */
    size_t n, cap;
    size_t sessions; /* of n */
    struct list_cursor pick;
    uint32_t entry;  /* of the selected session; ENTRY_NONE: no session is */
    uint32_t sought; /* the session that the person selected last, to be selected again when it
                        reappears */
    struct findings *store_findings; /* owned; NULL until they arrive */
    struct err error;                /* why they could not be read */
    unsigned asked;                  /* generation of EFFECT_CHECK_STORE; 0: none */
    int64_t asked_ms;
    unsigned made; /* the state of the list from which the items were collected */
    bool stale;    /* they must be collected again in any case */
};

void damaged_fini(struct damaged_view *v);

#endif
