#ifndef STORE_BLAME_BLAME_TEXT_H
#define STORE_BLAME_BLAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/edit.h"
#include "store/blame/blame_states.h"

/* One file while its edits are replayed: its text, and for each line which edit wrote it.
 *
 * Line ends count as one: agents record "\n" for files that have "\r\n". A byte order mark is not text. A line keeps its
 * owner as long as nothing changes it; where a line is new or changed, it belongs to the edit, or to no session if no edit
 * explains it.
 *
 * A replacement is carried out where its old text is. If the text before it is not known, or does not have the old text,
 * the new text is kept aside as a fragment until a whole content is known again; if that contains all of it, once, its
 * lines are the edit's.
 *
 * A content that the file had before brings back the owners that its lines had then: a rewind, or git, put it there. So
 * does one that is much more like a former content than like the present one. */

#define BLAME_NOBODY UINT32_MAX

struct blame_fragment {
    struct slice text; /* in the arena */
    struct slice old_text;
    uint32_t owner;
};

/* A zeroed struct is a file of which nothing is known. */
struct blame_text {
    struct buf text;
    uint32_t *owner; /* owned; by line */
    size_t lines, cap;
    bool known;  /* the file had this text; otherwise it is out of date, or nothing is known */
    bool absent; /* known: there is no file */

    struct blame_fragment *fragment; /* owned */
    size_t fragments, fragment_cap;
    struct blame_states states;
    struct arena arena; /* of the fragments */

    uint64_t added, removed; /* lines, by the last call of blame_text_edit */
};

void blame_text_fini(struct blame_text *t);
/* Replays one edit of this file, which is neither a rename nor the removal of a directory. */
MUST_CHECK enum err_code blame_text_edit(struct blame_text *t, const struct edit *edit,
                                         uint32_t owner, struct err *e);
/* The file was seen with this content: lines that differ belong to no session. */
MUST_CHECK enum err_code blame_text_see(struct blame_text *t, struct slice content, struct err *e);
/* The file was put back to a content of which only the hash is known: one that it had before, or else nothing is known
 * of it. */
MUST_CHECK enum err_code blame_text_restore(struct blame_text *t,
                                            const uint8_t sha256[SHA256_BYTES], struct err *e);
/* There is no file. */
MUST_CHECK enum err_code blame_text_remove(struct blame_text *t, struct err *e);
/* Returns true if that is what is known of the file. */
bool blame_text_is(const struct blame_text *t, enum edit_known known, struct slice content);
/* Line ends as they are compared. The result is in the buffer, or the bytes themselves. */
MUST_CHECK enum err_code blame_text_plain(struct slice content, struct buf *b, struct slice *plain);

#endif
