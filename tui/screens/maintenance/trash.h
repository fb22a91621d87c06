#ifndef TUI_SCREENS_MAINTENANCE_TRASH_H
#define TUI_SCREENS_MAINTENANCE_TRASH_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "store/maintenance/trash.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"

/* The deleted sessions, newest first, with their time of deletion, size and title. */
struct model;
struct view_ops;
struct change_result;
struct ref_list;
struct transcript_view;

extern const struct view_ops view_trash;

struct trash_view {
    struct trash_list *list; /* owned; NULL until it arrives */
    struct err error;        /* why the list is missing */
    unsigned asked;          /* generation of EFFECT_TRASH; 0: none */
    struct list_cursor pick;
    bool *ticked;                 /* owned; one for each item */
    struct ref_list *refs;        /* owned; where the items' transcripts are now; may be NULL */
    struct transcript_view *view; /* owned; the preview; NULL until there is something to show */
    char viewed[64];              /* the trash id of the item it shows */
    char joining[64];             /* the trash id of the item in question */
};

/* Asks whether to join the transcript to be restored with the newer one in its place. */
void trash_view_ask_join(struct model *m, const struct change_result *c);
void trash_view_fini(struct trash_view *v);

#endif
