#ifndef STORE_MAINTENANCE_SWEEP_H
#define STORE_MAINTENANCE_SWEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/fs/disk.h"
#include "store/maintenance/trash.h"

/* Cleanup by rule. First sweep_find lists the sessions that match a rule, with their disk usage; then sweep_move moves
 * the chosen ones into the trash, as one change that can be undone.
 *
 * Only what was shown is moved. A session stays if a person tagged or named it, if an agent is or may be writing to it,
 * if there are copies of it in several folders (because what is kept under its id belongs to every copy), or if it
 * changed after it was shown. Each item that stays has the reason. */

/* The marks of a person, because of which a session is kept. */
enum sweep_mark {
    SWEEP_TAGGED = 1 << 0, /* it has a tag */
    SWEEP_NAMED = 1 << 1,  /* its title is not one that the agent is known to have made */
};

struct session_row;

/* Returns true if the rule is about this session. */
typedef bool sweep_filter_fn(const struct session_row *row, void *arg);

/* All conditions must hold. */
struct sweep_rule {
    struct scope scope;
    unsigned include; /* enum sweep_mark: sessions with these marks are not kept */
    /* Called from one thread; NULL: the rule is about all sessions. Tag and title of the row are complete. */
    sweep_filter_fn *filter;
    void *filter_arg;
    int64_t before_ms;   /* last active before this time; TIME_NONE: at any time */
    int64_t larger_than; /* bytes of all its files together; 0: of any size */
    bool empty;          /* without a conversation */
    bool archived;       /* marked as archived */
    /* only the saved copies of their files, by the age of the copies; the sessions stay */
    bool copies;
    /* instead of sessions: what was left behind by sessions whose transcripts are gone (store/api/finding.h) */
    bool orphans;
    const atomic_bool *cancel; /* set by another thread: ERR_CANCELLED; may be NULL */
};

struct sweep_item {
    struct session_ref ref;  /* texts in the arena of the sweep */
    struct slice title;      /* may be empty */
    struct slice cwd;        /* the directory that the session is about; may be empty */
    struct disk_usage usage; /* the size on disk of all parts */
    int64_t activity_ms;
    bool orphan;       /* left behind by a session; ref.path is the first part */
    const char *why;   /* why it matches: "not used for 92 days, archived" */
    const char *stays; /* why it must not be moved; NULL: it may be */
    unsigned kept;     /* enum sweep_mark: the marks because of which it stays */
    struct slice tag;  /* may be empty */
    bool chosen;       /* to be moved; initially true unless it stays; the caller may change it */
    const char **part; /* for the trash; the transcript first */
    size_t parts;
    struct owned_refs owned_refs; /* moved together with the parts */
};

struct sweep {
    struct arena arena;      /* owns everything */
    struct sweep_item *item; /* newest first */
    size_t n;
    unsigned include; /* the kinds that the rule includes */
    /* Undo records that `rewinds prune` would remove, if the caller looked for them, and their bytes. */
    size_t undo_records;
    int64_t undo_bytes;
    size_t old_snapshots; /* the same for snapshots of all projects; their space is shared */
    /* Old ones that stay because the clock may be wrong (snapshot_prune_rule.doubts). */
    size_t held_snapshots;
};

/* Changes nothing. The stores must outlive the sweep. ERR_IO, for orphans: a directory cannot be read, so it is not
 * known what was left behind. */
MUST_CHECK enum err_code sweep_find(struct store *const stores[], size_t n,
                                    const struct sweep_rule *rule, struct sweep *out,
                                    struct err *e);
void sweep_fini(struct sweep *s);

/* Returns true if this item is going to be moved. */
bool sweep_is_chosen(const struct sweep_item *item);
/* Adds up the disk usage of the chosen items; returns their number. */
size_t sweep_disk_usage(const struct sweep *s, struct disk_usage *w);
/* The number of items that stay because of a person's mark; one that is tagged and named counts as tagged. */
size_t sweep_kept(const struct sweep *s, enum sweep_mark mark);

/* Moves the chosen items, as one change of kind "sweep"; on failure none. Each session is checked again, and `stays` is
 * set for one that must no longer be moved. *moved lists the others in the order of the items; free it with
 * trash_list_fini. If nothing is left to move, it is empty and no change is made. */
MUST_CHECK enum err_code sweep_move(struct change_log *log, const struct store_env *env,
                                    struct sweep *s, struct trash_list *moved, struct err *e);

/* For doctor: why the session must not be changed now, in the arena or a literal. *stays is NULL if there is no
 * reason. */
MUST_CHECK enum err_code sweep_live(const struct session_ref *ref, struct arena *a,
                                    const char **stays, struct err *e);

#endif
