#ifndef TUI_SCREENS_MAINTENANCE_MAINTENANCE_H
#define TUI_SCREENS_MAINTENANCE_MAINTENANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/maintenance/trash.h"
#include "tui/app/action.h"
#include "tui/data/findings.h"
#include "tui/data/log_rows.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"

/* ---- damaged.c ---- */

/* Everything damaged in the scope of the list, in every system: files that the listing could not
 * read, damage outside the sessions, and sessions (hidden ones included) whose row reports damage.
 * A row is made from only the two ends of a file; the doctor checks all of it. */
struct model;
struct view_ops;

extern const struct view_ops view_damaged;

enum damage_source {
    DAMAGE_PROBLEM, /* a problem of the listing, whose number is i */
    DAMAGE_STORE,   /* i is one of the findings outside the sessions */
    DAMAGE_SESSION, /* i is an entry of the session table */
};

struct damage {
    enum damage_source source;
    uint32_t i;
    int64_t time_ms; /* the last activity of a session */
};

struct damaged_view {
    struct damage *item; /* owned */
    size_t n, cap;
    size_t sessions; /* how many of n are sessions */
    struct list_cursor pick;
    uint32_t entry;  /* the selected session; ENTRY_NONE: no session is */
    uint32_t sought; /* the session that the person selected last, to be selected again when it
                        reappears */
    struct findings *store_findings; /* owned; NULL until they arrive */
    struct err error;                /* why they could not be read */
    unsigned asked;                  /* generation of EFFECT_CHECK_STORE; 0: none */
    int64_t asked_ms;
    struct ref_list *to_fix; /* owned; the session that is asked about; NULL */
    unsigned made;           /* the state of the list from which the items were collected */
    bool stale;              /* they must be collected again in any case */
};

void damaged_fini(struct damaged_view *v);

/* ---- doctor.c ---- */

/* The doctor's findings after a check of one whole session, and the repair of what can be repaired. */

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

enum { FINDING_TEXT = 600 };

/* Why it is a finding, and what repairing it does: in `text`, which has n bytes. */
struct slice doctor_finding_text(const struct finding *f, char *text, size_t n);

/* ---- trash.c ---- */

/* The deleted sessions, newest first, with their time of deletion, size and title. */
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
    struct name_list *emptied;    /* owned: the items in question, which are removed for good */
    char sought[128];             /* what was searched last; "" : nothing yet */
};

/* Asks whether to join the transcript to be restored with the newer one in its place. */
void trash_view_ask_join(struct model *m, const struct change_result *c);
void trash_view_fini(struct trash_view *v);

/* ---- how it looks (trash_draw.c) ---- */
enum { TRASH_HEAD_H = 2 };

/* The preview is beside the list or below it, or not shown (w 0). Its first line is a border. */
struct trash_layout {
    struct rect rows, preview;
};

struct trash_layout trash_view_layout(int rows, int cols);
/* The place of the conversation in the preview. */
struct rect trash_view_conversation(const struct trash_layout *l);
size_t trash_view_count(const struct trash_view *v);
bool trash_view_ticked(const struct trash_view *v, size_t i);
size_t trash_view_ticks(const struct trash_view *v);
/* The size of all sessions, or of the ticked ones. */
int64_t trash_view_bytes(const struct trash_view *v, bool ticked);
/* The directory of the session; if it is not known, the folder of its transcript. */
struct slice trash_view_folder_of(const struct model *m, const struct trash_item *item, char *out,
                                  size_t cap);
void trash_view_draw(const struct model *m, struct frame *f);

/* ---- log_view.c ---- */

/* Everything that was changed in the scope of the list, newest first. Each entry can be undone, or everything since. */
extern const struct view_ops view_log;

struct log_view {
    struct log_rows *rows; /* owned; NULL until they arrive */
    struct log_rows *back; /* owned: what going back would undo, shown instead; or NULL */
    struct err error;      /* why the log is missing */
    unsigned asked;        /* generation of EFFECT_LOG; 0: none */
    int64_t asked_ms;
    bool asks_way_back;
    struct list_cursor pick, back_pick;
};

void log_view_fini(struct log_view *v);

#endif
