#ifndef STORE_SYSTEMS_ENTIRE_WRITE_COMMITTED_WRITE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_COMMITTED_WRITE_H

#include "lite/base/buf.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/tokens.h"
#include "store/systems/entire/write/treewrite.h"

struct temporary_task;

/* Writing a committed checkpoint onto entire/checkpoints/v1, byte for byte as Entire does (docs/formats/entire.md
 * 2.7). */
struct committed_session {
    struct slice checkpoint; /* id */
    struct slice session;
    struct slice strategy; /* "manual-commit", or "auto-commit", which writes no content_hash.txt */
    struct slice branch;   /* of the user; empty: HEAD is detached */
    struct slice agent;
    struct slice turn_id;
    struct slice shadow;                 /* the branch it was condensed from; empty: none */
    struct slice transcript;             /* redacted */
    struct slice prompt;                 /* redacted */
    struct slice task;                   /* tool use id of a sub-agent's checkpoint; empty */
    const struct temporary_task *record; /* the record of that task; NULL: none */
    struct slice subject;                /* of an auto-commit; empty */
    int64_t created_ms;
    int64_t count;               /* checkpoints that were condensed */
    int64_t transcript_start;    /* the line at which this checkpoint's part begins */
    struct entire_tokens tokens; /* used since the last checkpoint */
    struct names_list touched;
    /* The session is already in the checkpoint; only its transcript is written again, as at the end
     * of a turn. */
    bool finalize;
    const struct author *by; /* NULL: git's configured user, now */
};

/* Moves the branch by compare-and-swap, with a few retries if another program was faster, and creates it if it is
 * missing. A session that is in the checkpoint already is written again in its folder; any other gets the next
 * number. */
MUST_CHECK enum err_code committed_write(git_repository *repo, const struct committed_session *s,
                                         git_oid *commit, struct err *e);
/* Creates the branch if it is missing: at origin's branch, or else with an empty first commit. */
MUST_CHECK enum err_code committed_begin(git_repository *repo, struct err *e);
/* The exact messages of the commit and of the first commit of the branch. */
MUST_CHECK enum err_code committed_message(const struct committed_session *s, struct buf *out);
extern const char committed_first_message[];
/* Generates a checkpoint id: twelve random hex digits. */
MUST_CHECK enum err_code committed_generate_id(char out[13], struct err *e);

#endif
