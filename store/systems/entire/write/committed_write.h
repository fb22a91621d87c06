#ifndef STORE_SYSTEMS_ENTIRE_WRITE_COMMITTED_WRITE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_COMMITTED_WRITE_H

#include "lite/base/buf.h"
#include "store/git/repo.h"
#include "store/systems/entire/write/names_list.h"
#include "store/systems/entire/write/treewrite.h"

/* Writing a committed checkpoint onto entire/checkpoints/v1 (entire.md 2.7), in the bytes that Entire writes. */
struct committed_session {
    struct slice checkpoint; /* id */
    struct slice session;
    /* "manual-commit" or "auto-commit": that one keeps no committed_content_hash.txt */
    struct slice strategy;
    struct slice branch; /* of the user; empty: HEAD is on none */
    struct slice agent;
    struct slice turn_id;
    struct slice shadow;     /* the branch it was condensed from; empty: none */
    struct slice transcript; /* redacted */
    struct slice prompt;     /* redacted */
    struct slice task;       /* tool use id of a sub-agent's checkpoint; empty */
    struct slice subject;    /* of an auto-commit; empty */
    int64_t created_ms;
    int64_t count;            /* checkpoints that were condensed */
    int64_t transcript_start; /* line where this checkpoint's part begins */
    struct names_list touched;
    /* the session is in the checkpoint: its transcript is all that is written anew, as at a turn's end */
    bool finalize;
    const struct author *by; /* NULL: the user that git would write for, now */
};

/* Moves the branch by compare-and-swap, a few times anew when somebody else was faster; makes it where it is missing.
 * A session that is in the checkpoint already is written again in its folder; another takes the next number. */
MUST_CHECK enum err_code committed_write(git_repository *repo, const struct committed_session *s,
                                         git_oid *commit, struct err *e);
/* The message, byte by byte. */
MUST_CHECK enum err_code committed_message(const struct committed_session *s, struct buf *out);
/* That of the first commit of the branch. */
extern const char committed_first_message[];
/* Twelve random hex digits. */
MUST_CHECK enum err_code committed_generate_id(char out[13], struct err *e);

#endif
