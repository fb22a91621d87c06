#ifndef TUI_ROSTER_H
#define TUI_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/arena.h"
#include "store/session.h"
#include "tui/conversation.h"

/* The sessions on the screen. Each has a number, its entry, which stays its own while the scope stays:
 * through refreshes, sorting, filtering. A session is known by the path of its file, so that a copy in
 * another folder is another entry; of copies with one id only the newest is listed. */
#define ENTRY_NONE UINT32_MAX /* no entry; an enum constant would have to fit an int */

struct entry {
    struct session_ref ref;  /* texts in the roster's arena */
    struct session_row *row; /* owned; NULL: not described yet */
    unsigned seen;           /* the listing that saw it last */
    unsigned made;           /* how often its row was read: it changes when the row does */
    uint32_t path_hash, id_hash;
    uint32_t same_id; /* the next entry with its id: a ring */
    bool hidden;      /* its row says that it is not to be listed */
    bool gone;        /* the file vanished */
    bool asked;       /* a worker is describing it */
    bool stale;       /* the file changed since the row was made, or there is no row */
    bool copy;        /* a newer one of its id is listed */
    bool damaged;     /* its row says that something is wrong with the file */
    bool weighed;     /* bytes was asked for */
    bool deep;        /* its row was completed by a look through the whole file, or is being */
    int64_t bytes;    /* of all its files; 0: not known, then those of the transcript count */
};

/* What a list has to know of all entries: whether it shows them, and what they are sorted by. Made of the entries,
 * and apart from them: they are large, and a walk over all of them is what takes the time when a list is sorted. */
struct standing {
    int64_t time_ms;    /* entry_time */
    int64_t created_ms; /* of the row; TIME_NONE without one */
    int64_t bytes;      /* entry_bytes */
    bool listed;        /* roster_listed */
};

struct roster {
    struct arena arena;
    struct entry *entry;       /* owned */
    struct standing *standing; /* owned, by entry */
    size_t n, cap;
    uint32_t *by_path, *by_id; /* owned: hash tables of entry + 1 */
    size_t table;              /* their size: a power of two */
    size_t stale;              /* entries that still need describing */
    size_t damaged;            /* entries that are; those that are gone do not count */
    size_t unlisted;           /* of those: no list shows them */
};

void roster_fini(struct roster *r);
/* What a listing saw: new sessions get entries, known ones are looked at again where the file changed.
 * False without memory; what was added stays. */
bool roster_see(struct roster *r, const struct ref_list *refs, unsigned listing);
/* The listing is over: what it did not see is gone. */
void roster_sweep(struct roster *r, unsigned listing);
/* Takes the row over; NULL: the file is gone. */
void roster_set_row(struct roster *r, uint32_t entry, struct session_row *row);
/* What all files of the session take is known now. */
void roster_set_bytes(struct roster *r, uint32_t entry, int64_t bytes);
/* A session with this id was changed: its row is made anew, also when its file looks the same. */
void roster_touch(struct roster *r, struct slice id);
/* Whether the list may show it. */
bool roster_listed(const struct roster *r, uint32_t entry);
/* Something is wrong with the file, whether the list shows the session or not. */
bool row_is_damaged(const struct session_row *row);
/* The entry of a session's file; ENTRY_NONE: it has none. */
uint32_t roster_find(const struct roster *r, struct slice path);

/* The listed session with this id; ENTRY_NONE: there is none. */
uint32_t roster_by_id(const struct roster *r, struct slice id);

/* When the session was last active: as the row says, else its file. */
int64_t entry_time(const struct entry *e);
/* What it takes on the disk, as far as that is known. */
int64_t entry_bytes(const struct entry *e);
/* What to call it: the row's summary; empty until it is described. */
struct slice entry_title(const struct entry *e);
/* The directory it is about; empty until it is described, or where it does not say. */
struct slice entry_cwd(const struct entry *e);

#endif
