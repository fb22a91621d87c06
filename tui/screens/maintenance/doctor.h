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
struct msg;

struct doctor_view {
    uint32_t entry;            /* the session; ENTRY_NONE: it is not in the list any more */
    struct findings *findings; /* owned; NULL until they have come */
    struct err error;          /* why there are none */
    unsigned asked;            /* generation of EFFECT_CHECK_SESSION; 0: none */
    int64_t asked_ms;
    struct list_cursor pick;
};

/* About the session that is meant where it is asked for. */
void doctor_open(struct model *m);
/* Something was changed: the session may be another one now. */
void doctor_refresh(struct model *m);
bool doctor_msg(struct model *m, const struct msg *msg);
void doctor_fini(struct doctor_view *v);
/* Why nothing can be repaired; NULL: something can. */
const char *doctor_unavailable(const struct doctor_view *v);
int64_t doctor_wake_ms(const struct doctor_view *v, int64_t now_ms);

#endif
