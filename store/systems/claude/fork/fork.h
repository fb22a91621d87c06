#ifndef STORE_SYSTEMS_CLAUDE_FORK_FORK_H
#define STORE_SYSTEMS_CLAUDE_FORK_FORK_H

#include <uuid/uuid.h>

#include "lite/base/time.h"
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
    char id[UUID_STR_LEN]; /* of the new session */
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

#endif
