#ifndef STORE_API_EDIT_H
#define STORE_API_EDIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* What a session did to files, one edit after the other, as its tool calls and saved copies record it. Calls that
 * failed or have no result are not edits; edits on branches that were left are.
 *
 * A system fills in what its records prove and leaves the rest unknown. store/blame/ replays the edits of all sessions
 * in order of time; a whole text before or after an edit corrects the replay, so systems should supply it. */

enum edit_kind {
    EDIT_WRITE,   /* the file was created or overwritten: `after` is known */
    EDIT_REPLACE, /* texts in it were replaced */
    EDIT_DELETE,
    EDIT_RENAME, /* the file, or everything below the directory, is at `to` afterwards */
    EDIT_SEEN,   /* no change: the file was saved, read whole or listed, and is in `after` */
};

enum edit_known {
    EDIT_UNKNOWN,
    EDIT_ABSENT, /* there was no file */
    EDIT_TEXT,
    EDIT_SOME, /* only for EDIT_SEEN: there was a file, whose text is not known */
};

/* One text that became another. Replacements are applied in order, each to the result of the one before. */
struct edit_replacement {
    struct slice old_text; /* if it is empty, new_text was appended */
    struct slice new_text;
    bool all; /* every occurrence; otherwise the one given by `next` or `line` */
    /* the first one after the previous replacement, as in the hunks of one patch */
    bool next;
    /* its line in the file before the edit, from 1; 0: unknown */
    size_t line;
};

/* Texts are decoded WTF-8, with the line ends as the system records them, and valid during the call. */
struct edit {
    enum edit_kind kind;
    /* Absolute and normalized (path_normalize). It may be a directory that was removed or renamed. */
    const char *path;
    const char *to;  /* the new path of a rename, likewise */
    int64_t time_ms; /* TIME_NONE: unknown; it then follows the previous edit */

    struct slice turn;    /* id of the prompt's message; empty: unknown */
    struct slice prompt;  /* its text, WTF-8; may be empty */
    struct slice message; /* id of the row that records the edit; may be empty */
    struct slice agent;   /* the sub-agent that did it; empty: the session's own agent */
    struct slice tool;    /* its name as recorded; may be empty */
    /* id of the tool call, the same in every copy of the session; may be empty */
    struct slice call;
    /* A person changed what the agent had proposed: the replacement is the proposal (for a write, with an empty old
     * text), and everything else in `after` is not the agent's. */
    bool by_person;
    /* for EDIT_SEEN with EDIT_UNKNOWN: the command that may have changed the file */
    struct slice command;
    bool copied; /* the row was copied from the session that this one was forked from */

    /* For EDIT_REPLACE the replacements may be known, or both texts, or only the text after, or nothing. */
    const struct edit_replacement *replacement;
    size_t replacements;
    enum edit_known before_known, after_known;
    struct slice before, after; /* the whole file, if that is EDIT_TEXT */
};

/* Which edits are wanted. */
struct edit_query {
    /* Edits of these paths, of everything below them, and of the paths they were renamed from or to. Absolute and
     * normalized. No paths: all edits. */
    const char *const *path;
    size_t paths;
    bool seen; /* also EDIT_SEEN */
    /* Also EDIT_SEEN of what the agent read or listed; the texts may be without their last line end. With EDIT_UNKNOWN,
     * a command may have changed the file, or what is above it. */
    bool reads;
    /* The paths are not directories, so sessions that do not contain their names need not be read. */
    bool files_only;
    const atomic_bool *cancel; /* may be NULL */
};

/* A few replacements that are made everywhere let a text grow without limit, so a result has at most EDIT_TEXT_MAX
 * bytes, and all results of a session together at most EDIT_TEXTS_MAX. */
enum { EDIT_TEXT_MAX = 64 << 20, EDIT_TEXTS_MAX = 512 << 20 };

/* Replaces the first occurrence of old_text in base, or every one. *spent: the bytes of all results so far; may be NULL.
 * Sets *done to false if there is no occurrence or the result would be too large; out is then undefined. ERR_NOMEM. */
MUST_CHECK enum err_code edit_replace_text(struct slice base, struct slice old_text,
                                           struct slice new_text, bool all, uint64_t *spent,
                                           struct buf *out, bool *done);
/* Replaces `old_text` in base, once or everywhere, as the replacement says, without regard to `line`. Sets *done to
 * false if it does not occur, or occurs several times where one is meant, or if the result would be too large; out is
 * then undefined. ERR_NOMEM. */
MUST_CHECK enum err_code edit_replace(struct slice base, const struct edit_replacement *r,
                                      struct buf *out, bool *done);

/* A session that was continued in another agent (store/maintenance/continue_in.h) has new ids for its calls. Each
 * contains the mark of the call that it is a copy of, "reprise_" and a hash of that session and call, so that the copy
 * is not taken for new work. */
enum { EDIT_MARK = sizeof "reprise_" + 24 };
/* Writes the mark of a session's call; that of the first call if the call is itself a copy. Returns false if the call
 * has no id or no hash can be made. */
bool edit_mark(struct slice session, struct slice call, char out[EDIT_MARK]);
/* Returns true if the id of a call ends with a mark. */
bool edit_is_marked(struct slice call);
/* The mark if there is one, else the whole id: what the copies of a call have in common. */
struct slice edit_call_name(struct slice call);

/* Returns true if the query matches this edit: it is of one of its paths, or moves or removes a directory above one. */
bool edit_wanted(const struct edit_query *q, const struct edit *edit);
/* Returns true if the bytes may name one of the paths. */
bool edit_may_name(const struct edit_query *q, struct slice bytes);

#endif
