#ifndef STORE_BLAME_BLAME_TEXT_H
#define STORE_BLAME_BLAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "store/api/edit.h"
#include "store/fs/span.h"

/* The texts that a file had while its edits are replayed. It knows edits and nothing of sessions, so that plans use it,
 * too. */

/* A text that the file had, and the owners of its lines. */
struct blame_state {
    struct id128 hash;
    uint32_t *owner;
    size_t lines;
    struct buf text;
};

/* A zeroed struct has no state. */
struct blame_states {
    struct blame_state *state; /* owned; newest last */
    size_t n, cap, bytes;
    bool wanted; /* texts are remembered */
};

/* Remembers a text. */
MUST_CHECK enum err_code blame_states_keep(struct blame_states *s, struct slice text,
                                           const uint32_t *owner, size_t lines, struct err *e);
void blame_states_fini(struct blame_states *s);

/* Returns the newest state with this text or hash; NULL if the file never had it. */
const struct blame_state *blame_states_find(const struct blame_states *s, struct slice content,
                                            size_t lines);
const struct blame_state *blame_states_with_hash(const struct blame_states *s,
                                                 const uint8_t sha256[SHA256_BYTES]);

/* Returns the lines of a text as a set. */
MUST_CHECK enum err_code blame_states_lines(struct slice text, struct slice_set *out);
/* Counts the visible characters of a text. */
size_t blame_states_visible(struct slice s);
/* Counts those of the lines that are also in the set (NULL: of all lines), each line once. */
MUST_CHECK enum err_code blame_states_common(struct slice text, const struct slice_set *lines,
                                             size_t *out);
/* Finds the state that has most in common with the lines (the newest of equals), and how much. NULL: they have nothing
 * in common. */
MUST_CHECK enum err_code blame_states_most_alike(const struct blame_states *s,
                                                 const struct slice_set *lines, size_t *best,
                                                 const struct blame_state **state);

/* ---- the file (blame_text.c) ---- */

/* One file while its edits are replayed: its text, and for each line which edit wrote it.
 *
 * Line ends count as one: agents record "\n" for files that have "\r\n". A byte order mark is not text. A line keeps
 * its owner as long as nothing changes it; where a line is new or changed, it belongs to the edit, or to no session if
 * no edit explains it.
 *
 * A replacement is applied where its old text is. If the file's text is not known, or does not contain the old text,
 * the new text becomes a fragment until a whole text is known again; if that contains the fragment exactly once, its
 * lines belong to the edit.
 *
 * If the file gets a text that it had before (from a rewind, or from git), its lines get the owners that they had then.
 * So they do if the text is much more like a former one than like the present one. */

#define BLAME_NOBODY UINT32_MAX

/* A text does not become larger by an edit than a file may be whose lines are compared. */
enum { BLAME_FILE_MAX = 64 << 20, BLAME_LINES_MAX = 4 << 20 };

/* How many bytes of texts replacements may still pass over, which bounds the time that a replay takes. An edit that
 * would cost more, or makes its text too large, is treated as one whose old text does not occur. */
struct blame_budget {
    uint64_t left;
    const char *stopped; /* why an edit was not replayed; NULL: all were */
};

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
    struct arena arena; /* has the texts of the fragments */
    /* Borrowed. NULL: texts may become large, and replaying may take as long as it takes. */
    struct blame_budget *budget;

    uint64_t added, removed; /* lines, by the last call of blame_text_edit */
};

void blame_text_fini(struct blame_text *t);
/* Replays one edit of this file, which is neither a rename nor the removal of a directory. */
MUST_CHECK enum err_code blame_text_edit(struct blame_text *t, const struct edit *edit,
                                         uint32_t owner, struct err *e);
/* The file was seen with this text: lines that differ belong to no session. */
MUST_CHECK enum err_code blame_text_observe(struct blame_text *t, struct slice content,
                                            struct err *e);
/* The file was restored to a text of which only the hash is known. If it never had that text, nothing is known of it
 * from here on. */
MUST_CHECK enum err_code blame_text_restore(struct blame_text *t,
                                            const uint8_t sha256[SHA256_BYTES], struct err *e);
/* There is no file. */
MUST_CHECK enum err_code blame_text_remove(struct blame_text *t, struct err *e);
/* Returns true if this is the known state of the file. */
bool blame_text_is(const struct blame_text *t, enum edit_known known, struct slice content);
/* Normalizes line ends for comparison. The result is in the buffer, or `content` itself. */
MUST_CHECK enum err_code blame_text_plain(struct slice content, struct buf *b, struct slice *plain);

/* ---- lines and their owners (blame_lines.c) ---- */

size_t blame_lines_count(struct slice s);
/* The beginning of the line that contains a position, and the position after its newline. */
size_t blame_lines_begin(struct slice s, size_t at);
size_t blame_lines_end(struct slice s, size_t at);
/* Compares two texts by line and fills in the owners of the second: those of the lines that are still there, else
 * `owner`. Adds to t->added and t->removed. */
MUST_CHECK enum err_code blame_lines_compare(struct slice before, const uint32_t *was, size_t was_n,
                                             struct slice after, uint32_t *now, size_t now_n,
                                             uint32_t owner, struct blame_text *t, struct err *e);
/* Both return false, and set budget->stopped, if the text would become too large, or if nothing is left to spend. */
bool blame_may_become(struct blame_text *t, uint64_t bytes, uint64_t lines);
bool blame_may_spend(struct blame_text *t, uint64_t bytes);

/* ---- replacements (blame_replace.c) ---- */

/* Makes the replacements of an edit. Those that cannot be made become fragments, and *all_done is false. */
MUST_CHECK enum err_code blame_replace(struct blame_text *t, const struct edit *edit,
                                       uint32_t owner, bool *all_done, struct err *e);
MUST_CHECK enum err_code blame_text_add_fragment(struct blame_text *t,
                                                 const struct edit_replacement *r, uint32_t owner,
                                                 struct err *e);

#endif
