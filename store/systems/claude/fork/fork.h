#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_H

#include <uuid/uuid.h>

#include "lite/base/time.h"
#include "store/api/fork.h"
#include "store/fs/disk.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/claude.h"

/* A fork under way (claude.md 4). The rows of the source are looked at through its line index; what is kept is
 * decided first, then the rows are copied one after the other, with nothing changed but what has to be.
 *
 *   chosen -> cut (fork_cut.c) -> named -> written (fork_copy.c, fork_row.c, fork_metadata.c, fork_title.c) */
enum fork_keep {
    FORK_NOT,
    FORK_COPIED,
    FORK_STRIPPED, /* a compaction, without what it kept */
};

struct fork {
    const struct claude *c;
    const struct session_ref *ref;
    struct claude_log log;
    uint8_t *keep;         /* owned; by line: enum fork_keep */
    uuid_t *id_of;         /* owned; by node: its new id; nil where none of its rows counts */
    uint32_t *above;       /* owned; by node: itself, or what is above a note of progress */
    size_t last;           /* the last line that is copied */
    char id[UUID_STR_LEN]; /* of the new session */
    char now[TIME_TEXT];
};

/* Draws a new id. */
void fork_generate_id(char id[UUID_STR_LEN]);
/* The new id of an old one; false: there is no such row. Notes of progress are not copied and have one all the same,
 * as the vendor's do: a row may name it. */
bool fork_new_id(const struct fork *f, struct id128 old, char id[UUID_STR_LEN]);
/* The same for a JSON string, as a JSON string in the buffer: 38 bytes. Anything else: false. copied: only of a row
 * that is copied. */
enum { FORK_QUOTED = UUID_STR_LEN + 2 };
bool fork_new_quoted(const struct fork *f, struct slice old, bool copied, char quoted[FORK_QUOTED]);

/* fork_cut.c: leaves out what is not wanted of a fork up to a message. ERR_NOT_FOUND: no such message. */
MUST_CHECK enum err_code fork_cut(struct fork *f, struct slice at, struct err *e);
/* fork_copy.c: the rows of the messages, at the present end of the new file. */
MUST_CHECK enum err_code fork_copy(struct fork *f, struct disk_new *to, struct err *e);
/* fork_row.c: the row of a line as it stands in the copy, with its newline. The fork is only looked at: threads may
 * share it, each with a space of its own. */
struct fork_row_space {
    struct buf nested[3]; /* values inside that were edited */
    struct buf origin;
};
MUST_CHECK enum err_code fork_row(const struct fork *f, size_t line, struct slice row,
                                  struct fork_row_space *space, struct buf *out);
void fork_row_space_fini(struct fork_row_space *space);
/* fork_metadata.c: rows that are no messages and go before and behind them. */
MUST_CHECK enum err_code fork_before(struct fork *f, struct buf *out, struct err *e);
MUST_CHECK enum err_code fork_behind(struct fork *f, struct buf *out, struct err *e);
/* fork_files.c: the snapshots of files, and their saved copies into a new directory; *any: there are some. */
MUST_CHECK enum err_code fork_files(struct fork *f, const char *staged, struct buf *out, bool *any,
                                    struct err *e);
/* fork_title.c: the row that ends the file. */
MUST_CHECK enum err_code fork_title(struct fork *f, struct slice title, struct buf *out,
                                    struct err *e);

#endif
