#ifndef STORE_API_EDIT_H
#define STORE_API_EDIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* What a session did to files, one edit after the other, as its tool calls and saved copies record it. Only edits that
 * happened: a call that failed, or has no result, is none. Edits of branches that were left did happen.
 *
 * A system fills in what its records prove and leaves the rest unknown. store/blame/ replays the edits of all
 * sessions in order of time; a whole text before or after an edit corrects the replay, so it is worth having. */

enum edit_kind {
    EDIT_WRITE,   /* the file was created or written anew: `after` is known */
    EDIT_REPLACE, /* texts in it were replaced */
    EDIT_DELETE,
    EDIT_RENAME, /* the file, or everything below the directory, is at `to` afterwards */
    EDIT_SEEN,   /* nothing was done: the file was saved or read whole, and is in `after` */
};

enum edit_known {
    EDIT_UNKNOWN,
    EDIT_ABSENT, /* there was no file */
    EDIT_TEXT,
};

/* One text that became another. They are done in order, each on the result of the one before. */
struct edit_replacement {
    struct slice old_text; /* if it is empty, new_text was put behind the end */
    struct slice new_text;
    bool all; /* everywhere; otherwise in one place: */
    /* behind the replacement before, as the hunks of one patch are */
    bool next;
    /* at this line, from 1, of the file before the edit; 0: unknown */
    size_t line;
};

/* Texts are decoded WTF-8, with the line ends as the system records them, and valid during the call. */
struct edit {
    enum edit_kind kind;
    /* Absolute, cleaned by its text alone (path_normalize). What was removed or renamed may be a directory. */
    const char *path;
    const char *to;  /* of a rename, likewise */
    int64_t time_ms; /* TIME_NONE: unknown; it then follows the edit before */

    struct slice turn;    /* id of the prompt's message; empty: unknown */
    struct slice prompt;  /* its text, WTF-8; may be empty */
    struct slice message; /* id of the row that records the edit; may be empty */
    struct slice agent;   /* the sub-agent that did it; empty: the session's own agent */
    struct slice tool;    /* its name as recorded; may be empty */
    /* id of the tool call, the same in every copy of the session; may be empty */
    struct slice call;
    /* A person changed what the agent had proposed: the replacement is the proposal (of a write, with an empty old
     * text), and what else is in `after` is not the agent's. */
    bool by_person;
    bool copied; /* the row was copied from the session that this one was forked from */

    /* What is known of an EDIT_REPLACE: these, or both texts, or at least the one after; perhaps nothing. */
    const struct edit_replacement *replacement;
    size_t replacements;
    enum edit_known before_known, after_known;
    struct slice before, after; /* the whole file, if that is EDIT_TEXT */
};

/* Which edits are wanted. */
struct edit_query {
    /* Edits of these paths, of what is below them and of what they were renamed from or to; absolute and clean. None:
     * all edits. */
    const char *const *path;
    size_t paths;
    bool seen; /* EDIT_SEEN too */
    /* The paths are no directories: sessions that do not contain their names need not be read. */
    bool files_only;
    const atomic_bool *cancel; /* may be NULL */
};

/* Replaces `old_text` in base, once or everywhere, as the replacement says, without regard to `line`. Sets *done to
 * false if it does not occur, or occurs several times where one is meant; out is then undefined. ERR_NOMEM. */
MUST_CHECK enum err_code edit_replace(struct slice base, const struct edit_replacement *r,
                                      struct buf *out, bool *done);

/* Returns true if the query wants this edit: it is of one of its paths, or moves or removes a directory above it. */
bool edit_wanted(const struct edit_query *q, const struct edit *edit);
/* The longest part of the last name of a path that every writer of JSON writes as it is: a file without these bytes does
 * not name the path. Empty if there is no such part. Borrows from the path. */
struct slice edit_literal(const char *path);
/* Returns true if the bytes may name one of the paths. */
bool edit_may_name(const struct edit_query *q, struct slice bytes);

#endif
