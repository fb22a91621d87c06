#ifndef TUI_DATA_SESSION_TABLE_H
#define TUI_DATA_SESSION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/radix.h"
#include "store/api/session.h"
#include "tui/config/config.h"
#include "tui/data/ref_list.h"
#include "tui/filter/filter.h"

/* The sessions on the screen. Each has a number, its entry, which it keeps through refreshes,
 * sorting and filtering as long as the scope stays the same. A session is identified by the path of
 * its file, so a copy in another folder has a separate entry; of all copies with one id, only the
 * newest is listed. */
#define TAG_PINNED "pinned"
#define ENTRY_NONE UINT32_MAX /* no entry; an enum constant would have to fit an int */

struct session_entry {
    struct session_ref ref;  /* texts in the session table's arena */
    struct session_row *row; /* owned; NULL: not described yet */
    unsigned seen;           /* the listing that saw it last */
    unsigned made;           /* how often its row was read; changes when the row changes */
    uint32_t path_hash, id_hash;
    uint32_t same_id;    /* the next entry with its id: a ring */
    bool hidden;         /* its row is marked as hidden */
    bool gone;           /* the file vanished */
    bool asked;          /* a worker is describing it */
    bool stale;          /* the file changed since the row was made, or there is no row */
    bool copy;           /* a newer copy with its id is listed */
    bool damaged;        /* its row reports damage in the file */
    bool has_disk_usage; /* its disk usage was requested */
    bool fully_scanned;  /* its row was or is being completed by a full scan of the file */
    int64_t bytes;       /* in all its files; 0: not known, so the transcript counts */
};

/* The facts that a list needs about every entry: whether it is shown, and its sort keys. They are
 * derived from the entries but stored separately, because entries are large and walking over all of
 * them would take most of the time of a sort. */
struct session_sort_key {
    int64_t time_ms;    /* session_entry_time */
    int64_t created_ms; /* when the session was created; TIME_NONE if the row does not say */
    int64_t bytes;      /* session_entry_bytes */
    bool listed;        /* session_table_is_listed */
    bool pinned;        /* it has the tag TAG_PINNED: it is above the others in every order */
};

struct session_table {
    struct arena arena;
    struct session_entry *entry;       /* owned */
    struct session_sort_key *sort_key; /* owned, by entry */
    size_t n, cap;
    uint32_t *by_path, *by_id; /* owned: hash tables of entry + 1 */
    size_t table;              /* their size: a power of two */
    size_t stale;              /* entries that still need describing */
    size_t damaged;            /* damaged entries, except those that are gone */
    size_t unlisted;           /* damaged entries that no list shows */
    /* Every project is listed. Then folders arrive in any order, and the order of their names decides between copies of a
     * session that are equal otherwise, as in other listings. */
    bool all;
};

void session_table_fini(struct session_table *r);
/* Adds the sessions found by a listing: new ones get entries, known ones are described again if the
 * file changed. Returns false if out of memory; what was added stays. */
bool session_table_update(struct session_table *r, const struct ref_list *refs, unsigned listing);
/* Ends a listing: sessions that it did not find are removed. */
void session_table_remove_unseen(struct session_table *r, unsigned listing);
/* Takes the row over; NULL: the file is gone. */
void session_table_set_row(struct session_table *r, uint32_t entry, struct session_row *row);
/* Sets the disk usage of all files of the session. */
void session_table_set_bytes(struct session_table *r, uint32_t entry, int64_t bytes);
/* Marks the session with this id as changed: its row is read again, even if its file looks the
 * same. */
void session_table_invalidate(struct session_table *r, struct slice id);
/* The same for one entry. */
void session_table_reread(struct session_table *r, uint32_t entry);
/* Returns true if the list may show it. */
bool session_table_is_listed(const struct session_table *r, uint32_t entry);
/* The entry of the session with this file; ENTRY_NONE if no entry has it. */
uint32_t session_table_find(const struct session_table *r, struct slice path);

/* The listed session with this id; ENTRY_NONE if there is no such session. */
uint32_t session_table_by_id(const struct session_table *r, struct slice id);

/* The time when the session was last active, from its row or else from its file. */
int64_t session_entry_time(const struct session_entry *e);
/* Its disk usage, or the size of the transcript if that is not known. */
int64_t session_entry_bytes(const struct session_entry *e);
/* Its title: the row's summary; empty until it is described. */
struct slice session_entry_title(const struct session_entry *e);
/* The directory it is about; empty if it is not recorded, or the session is not described yet. */
struct slice session_entry_cwd(const struct session_entry *e);

/* ---- their order (order.c) ---- */

/* Sessions as trees of forks: each session is below the one it was forked from, and the position of
 * a tree is that of its root in the list. Rebuilt each time the list is sorted. */
struct fork_tree {
    struct fork_node *node; /* owned; by entry */
    size_t n, cap;
};

/* Rearranges sorted entries into trees. Returns false if out of memory; the entries are then
 * unchanged. */
bool order_forks_arrange(struct fork_tree *f, const struct session_table *r, uint32_t *entry,
                         size_t n);
/* The number of forks between the entry and its root; 0 for an entry that was never arranged. */
unsigned order_forks_depth(const struct fork_tree *f, uint32_t entry);
void order_forks_fini(struct fork_tree *f);

/* The listed sessions in the order of the list, before any filter. It is rebuilt each time: a radix
 * sort of 100,000 sessions takes a few milliseconds, so no order has to be maintained while
 * sessions appear and change. */
struct order {
    uint32_t *entry; /* owned */
    size_t n;
    int64_t bytes;          /* the size of all sessions, summed while they are read in order */
    uint64_t *item, *spare; /* owned: work space for sorting */
    size_t cap;
};

/* Sorts the listed entries of the session table; pinned ones are above all others. Equal entries are newest first, then
 * by id as ops->ties_ascending says. titles: the folded titles that SORT_TITLE compares. Returns false if out of memory;
 * the order is then unchanged. */
bool order_make(struct order *o, const struct session_table *r, const struct filter *titles,
                enum sort_kind sort);
void order_fini(struct order *o);

const char *order_sort_name(enum sort_kind sort);

#endif
