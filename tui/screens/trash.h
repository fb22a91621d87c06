#ifndef TUI_SCREENS_TRASH_H
#define TUI_SCREENS_TRASH_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/err.h"
#include "store/tidy/trash.h"
#include "tui/pick.h"

/* What was deleted, newest first: when, how large, what it was called. */
struct model;
struct msg;

struct trash_view {
    struct trash_list *list; /* owned; NULL until it has come */
    struct err error;        /* why there is none */
    unsigned asked;          /* generation of EFFECT_TRASH; 0: none */
    struct pick pick;
    bool *ticked;     /* owned; beside the items */
    char joining[64]; /* what the question is about, by trash id */
};

void trash_view_open(struct model *m);
/* Something was changed: what lies there may be something else now. */
void trash_view_refresh(struct model *m);
/* A newer transcript is in the place of the one that was to be restored: shall the two be joined? */
struct changed;
void trash_view_ask_join(struct model *m, const struct changed *c);
bool trash_view_msg(struct model *m, const struct msg *msg);
void trash_view_fini(struct trash_view *v);
/* Why restoring or emptying cannot be done now; NULL: it can. */
const char *trash_view_unavailable(const struct trash_view *v);

#endif
