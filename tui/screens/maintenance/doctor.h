#ifndef TUI_SCREENS_MAINTENANCE_DOCTOR_H
#define TUI_SCREENS_MAINTENANCE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "tui/data/findings.h"
#include "tui/widgets/list_cursor.h"

/* The doctor's findings after a check of one whole session, and the repair of what can be repaired. */
struct model;
struct view_ops;

extern const struct view_ops view_doctor;

struct doctor_view {
    uint32_t entry;            /* the session; ENTRY_NONE if it is no longer in the list */
    struct findings *findings; /* owned; NULL until they arrive */
    struct err error;          /* why they could not be read */
    unsigned asked;            /* generation of EFFECT_CHECK_SESSION; 0: none */
    int64_t asked_ms;
    struct list_cursor pick;
};

void doctor_fini(struct doctor_view *v);

#endif
