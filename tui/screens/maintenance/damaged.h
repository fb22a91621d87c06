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

/* What is damaged in the scope of the list, of every system: what the listing could not read, what lies damaged around
 * the sessions, and the sessions of which a row says so, also those that no list shows. What a row says comes from the
 * ends of a file: all of it is the doctor's. */
struct model;
struct msg;

enum damage_source {
    DAMAGE_PROBLEM, /* of the listing: i is one of its problems */
    DAMAGE_STORE,   /* i is one of the findings around the sessions */
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
    uint32_t sought; /* where the person went last: gone to again when it comes back */
    struct findings *store_findings; /* owned; NULL until they have come */
    struct err error;                /* why there are none */
    unsigned asked;                  /* generation of EFFECT_CHECK_STORE; 0: none */
    int64_t asked_ms;
    unsigned made; /* from which state of the list the items are */
    bool stale;    /* they are to be collected anew anyway */
};

void damaged_open(struct model *m);
/* Something was changed: other things may be damaged now. */
void damaged_refresh(struct model *m);
/* Follows the list, when the view is open. */
void damaged_tick(struct model *m);
bool damaged_msg(struct model *m, const struct msg *msg);
void damaged_fini(struct damaged_view *v);
/* Why what is selected is not for an action on a session; NULL: it is. */
const char *damaged_unavailable(const struct damaged_view *v, enum action a);
int64_t damaged_wake_ms(const struct damaged_view *v, int64_t now_ms);

/* --- private to tui/screens/damaged*.c */
enum { DAMAGE_TEXT = 512 };

/* One of them in words; the texts live as long as the model is not changed, or in `room`. */
struct damage_words {
    const char *system; /* "" where it is nobody's */
    struct slice name;  /* a title, else the end of the path */
    struct slice id;    /* of a session; empty: there is none */
    struct slice path;
    struct slice why;
    char room[DAMAGE_TEXT];
};

void damaged_describe(const struct model *m, const struct damage *d, struct damage_words *out);
void damaged_draw(const struct model *m, struct frame *f);
/* Where the rows begin, and how many fit. */
enum { DAMAGED_ROWS_Y = 2 };
size_t damaged_fit(int rows);

#endif
