#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_H

#include <uuid/uuid.h>

#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/api/session.h"
#include "store/fs/disk.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/claude.h"

/* A fork being made (claude.md 4). The line index of the source determines which rows are kept;
 * these are then copied one by one, with only the necessary changes.
 *
 *   chosen -> cut (fork_cut.c) -> named -> written (fork_copy.c, fork_metadata.c, fork_files.c) */
enum fork_keep {
    FORK_NOT,
    FORK_COPIED,
    FORK_STRIPPED, /* a compaction, without its kept rows */
};

struct fork {
    const struct claude *c;
    const struct session_ref *ref;
    struct claude_log log;
    uint8_t *keep;         /* owned; by line: enum fork_keep */
    uuid_t *id_of;         /* owned; by node: its new id; nil if none of its rows counts */
    uint32_t *above;       /* owned; by node: itself, or the node above a progress row */
    size_t last;           /* the last line that is copied */
    char id[UUID_STR_LEN]; /* the id of the new session */
    char now[TIME_TEXT];
};

/* Generates a new id. */
void fork_generate_id(char id[UUID_STR_LEN]);
/* The new id of an old one. Returns false if no row has it. Progress rows are not copied but still get a new id, as in
 * the SDK's forks, because another row may refer to it. */
bool fork_new_id(const struct fork *f, struct id128 old, char id[UUID_STR_LEN]);
/* The same for a JSON string; the result is a JSON string of 38 bytes in the buffer. Returns false
 * for any other value. copied: only if the row is copied. */
enum { FORK_QUOTED = UUID_STR_LEN + 2 };
bool fork_new_quoted(const struct fork *f, struct slice old, bool copied, char quoted[FORK_QUOTED]);

/* Leaves out the rows that do not belong to a fork up to a message. ERR_NOT_FOUND: no such
 * message. */
MUST_CHECK enum err_code fork_cut(struct fork *f, struct slice at, struct err *e);
/* Writes the rows of the messages at the current end of the new file. */
MUST_CHECK enum err_code fork_copy(struct fork *f, struct disk_new *to, struct err *e);
/* fork_metadata.c: rows that are not messages, before the messages and after them, and the title, with which the
 * file ends. */
MUST_CHECK enum err_code fork_metadata_before(struct fork *f, struct buf *out, struct err *e);
MUST_CHECK enum err_code fork_metadata_after(struct fork *f, struct buf *out, struct err *e);
MUST_CHECK enum err_code fork_title(struct fork *f, struct slice title, struct buf *out,
                                    struct err *e);

/* A view of the source's log while fork_cut.c determines which rows a fork up to a message leaves
 * out; lines that are left out cannot be read in it. */
struct fork_view {
    struct fork *f;
    struct claude_log log; /* shares the open file */
    struct id128 asked;    /* the id of the requested row */
    size_t end;            /* line of the last row */
};

/* Call fork_view_close even if this fails. */
MUST_CHECK enum err_code fork_view_open(struct fork_view *c, struct err *e);
void fork_view_close(struct fork_view *c);
/* Returns true if the line is a row of the conversation that has an id and is not left out. */
bool fork_view_has(const struct fork_view *c, size_t line);
void fork_view_leave_out(struct fork_view *c, size_t line);

/* The conversation that a reader of the view would show. */
struct fork_shown {
    struct id128 *id; /* owned; in its order */
    size_t n;
    /* The row without followers that leads to the last message; the empty id if no such row
     * exists. */
    struct id128 terminal;
};
MUST_CHECK enum err_code fork_view_shown(struct fork_view *c, struct fork_shown *out,
                                         struct err *e);

/* A compaction, or a rewind of the conversation by a person, which is written in the same way. */
struct fork_boundary {
    bool is;
    bool going_back;     /* has no duration and is its own anchor */
    struct id128 anchor; /* the kept rows follow this one */
    struct id128 *kept;  /* in the view's arena */
    size_t n;
};
MUST_CHECK enum err_code fork_boundary_read(struct fork_view *c, size_t line,
                                            struct fork_boundary *b, struct err *e);
bool fork_boundary_keeps(const struct fork_boundary *b, struct id128 id);

/* The origin of a session's contents: what its tools read (data-flow rows), and the sessions it was
 * copied from (derived-from). A fork records the same, and adds its source. */
MUST_CHECK enum err_code fork_flow(struct fork *f, struct buf *out, struct err *e);

/* ---- the sessions it was copied from ---- */

struct fork_source {
    struct slice type, id, via, started; /* JSON values, in the arena; started may be empty */
};

/* A zeroed struct is empty. */
struct fork_derived {
    struct arena arena;
    struct fork_source *source; /* each once */
    size_t n;
    bool any; /* a row was read */
};

/* Reads a derived-from row, which replaces the previous one. *damaged is set if a part is not
 * understood; the row then only adds to the previous ones. */
MUST_CHECK enum err_code fork_derived_read(struct fork_derived *d, struct slice row, bool *damaged);
/* Adds the session in a row's forkedFrom, unless one with this id is known. */
MUST_CHECK enum err_code fork_derived_copied(struct fork_derived *d, struct slice row);
/* Writes the list, followed by the session with the id `from`, which needs no escapes. */
MUST_CHECK enum err_code fork_derived_write(struct fork_derived *d, struct slice from,
                                            struct jsonout *j);
void fork_derived_fini(struct fork_derived *d);

#endif
