#ifndef STORE_MAINTENANCE_SWEEP_H
#define STORE_MAINTENANCE_SWEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/scope.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/fs/disk.h"
#include "store/maintenance/trash.h"

/* Cleanup by rule: first which sessions a rule means, each with what it weighs; then those of them that are chosen go
 * into the trash, as one change that can be taken back.
 *
 * What was shown is what is moved. A session that an agent may be writing to stays (not to know counts as writing),
 * and so does one that lies in several folders (what is kept by its id belongs to every copy), and one that changed
 * after it was shown. They are named, with the reason. */

/* All of it must hold. */
struct sweep_rule {
    struct scope scope;
    int64_t before_ms;   /* last active before; TIME_NONE: at any time */
    int64_t larger_than; /* bytes of all its files together; 0: of any size */
    bool empty;          /* without a conversation */
    bool archived;       /* marked as archived */
    bool copies; /* only the saved copies of their files, by the age of those: the sessions stay */
    /* no sessions: what those left behind whose transcripts are gone (store/api/leftover.h) */
    bool orphans;
    const atomic_bool *cancel; /* set by another thread: ERR_CANCELLED; may be NULL */
};

struct sweep_item {
    struct session_ref ref;  /* texts in the arena of the sweep */
    struct slice title;      /* may be empty */
    struct slice cwd;        /* the directory it was about; may be empty */
    struct disk_usage usage; /* of all its parts */
    int64_t activity_ms;
    bool orphan;       /* no session: what one left behind; ref.path is the first part */
    const char *why;   /* what the rule found: "not used for 92 days, archived" */
    const char *stays; /* why it may not go; NULL: it may */
    bool chosen;       /* shall go: true at first where it may, the caller's to set */
    const char **part; /* for the trash; the transcript first */
    size_t parts;
    struct owned_refs owned_refs; /* what goes with them */
};

struct sweep {
    struct arena arena;      /* owns everything */
    struct sweep_item *item; /* newest first */
    size_t n;
};

/* Changes nothing. The stores must outlive the sweep. ERR_IO of orphans: where one cannot look, nothing can be said to
 * be gone. */
MUST_CHECK enum err_code sweep_find(struct store *const stores[], size_t n,
                                    const struct sweep_rule *rule, struct sweep *out,
                                    struct err *e);
void sweep_fini(struct sweep *s);

/* Is this item to go? */
bool sweep_is_chosen(const struct sweep_item *item);
/* What all that is to go weighs; answers how many sessions. */
size_t sweep_disk_usage(const struct sweep *s, struct disk_usage *w);

/* Moves what is to go, as one change of kind "sweep"; all of it or, on failure, nothing. Each session is looked at
 * once more: one that must not go any more gets its `stays`. *moved names the others, in the order of the items; it is
 * the caller's to free (trash_list_fini). With nothing to move it is empty and no change is made. */
MUST_CHECK enum err_code sweep_move(struct change_log *log, const struct store_env *env,
                                    struct sweep *s, struct trash_list *moved, struct err *e);

/* Private to store/maintenance/: adds an item, and says how long nothing was done to it. */
MUST_CHECK enum err_code sweep_add(struct sweep *s, const struct sweep_item *item, struct err *e);
MUST_CHECK enum err_code sweep_age_text(struct buf *text, int64_t now_ms, int64_t then_ms);
/* sweep_orphans.c: those of all stores; and which of those chosen are not as they were shown, and stay. */
MUST_CHECK enum err_code sweep_orphans(struct store *const stores[], size_t n,
                                       const struct sweep_rule *rule, struct sweep *s,
                                       struct err *e);
MUST_CHECK enum err_code sweep_orphans_recheck(struct sweep *s, struct err *e);
/* Private to store/maintenance/: why nobody should move this session now. *stays is NULL when there is no reason, and
 * may live in the arena. */
MUST_CHECK enum err_code sweep_live(const struct session_ref *ref, struct arena *a,
                                    const char **stays, struct err *e);
/* The same for all sessions that are to go. */
MUST_CHECK enum err_code sweep_live_all(struct sweep *s, struct err *e);

#endif
