#ifndef TUI_SCREENS_MAINTENANCE_DOCTOR_H
#define TUI_SCREENS_MAINTENANCE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "tui/data/findings.h"
#include "tui/widgets/list_cursor.h"

/* What the doctor says about one session after a look through all of it, and the repair of what can be repaired. */
struct model;
struct view_ops;

extern const struct view_ops view_doctor;

struct doctor_view {
    uint32_t entry;            /* the session; ENTRY_NONE: it is not in the list any more */
    struct findings *findings; /* owned; NULL until they have come */
    struct err error;          /* why there are none */
    unsigned asked;            /* generation of EFFECT_CHECK_SESSION; 0: none */
    int64_t asked_ms;
    struct list_cursor pick;
};

void doctor_fini(struct doctor_view *v);

#endif
