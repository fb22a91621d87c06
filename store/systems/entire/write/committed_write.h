#ifndef STORE_SYSTEMS_ENTIRE_WRITE_COMMITTED_WRITE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_COMMITTED_WRITE_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "store/git/libgit2.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/write/temporary.h"
#include "store/systems/entire/write/treewrite.h"

struct temporary_task;

/* Writing a committed checkpoint onto entire/checkpoints/v1, byte for byte as Entire does (docs/formats/entire.md
 * 2.7). */
struct committed_session {
    struct slice checkpoint; /* id */
    struct slice session;
    struct slice strategy; /* "manual-commit", or "auto-commit", which writes no content_hash.txt */
    struct slice branch;   /* the user's branch; empty: HEAD is detached */
    struct slice agent;
    struct slice turn_id;
    struct slice shadow;                 /* the branch that was condensed; empty: none */
    struct slice transcript;             /* redacted */
    struct slice prompt;                 /* redacted */
    struct slice task;                   /* tool use id; empty: not a sub-agent's checkpoint */
    const struct temporary_task *record; /* the record of that task; NULL: it has none */
    struct slice subject; /* auto-commit: the subject of the user's commit; otherwise empty */
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

/* ---- auto-commit (autocommit.c) ---- */

/* Entire's other strategy (docs/formats/entire.md 2.7, 4; removed in 0.4.8): a checkpoint is a
 * commit of the user's own branch that contains the files the session changed and no others, plus a
 * committed checkpoint that its trailer names. Used only if the repository selects it: "strategy":
 * "auto-commit" in .entire/settings.json. */
struct autocommitted {
    char checkpoint[13];
    git_oid commit; /* on the user's branch; HEAD if nothing had changed */
    bool made;      /* false: the files are those of HEAD, and there is no checkpoint */
    struct names_list touched;
};

bool autocommit_wanted(const struct view *v);
/* The session must have a state. The branch is moved by compare-and-swap; then these files are
 * updated in the index, and whatever else is staged stays staged. If an earlier call was
 * interrupted after its commit, this one completes it. No hook runs and nothing is signed.
 * ERR_STALE: the branch was moved in the meantime. ERR_UNSUPPORTED: a merge, rebase or the like is
 * in progress, or a file needs a filter program. */
MUST_CHECK enum err_code autocommit_write(struct view *v, const struct temporary_request *req,
                                          struct autocommitted *out, struct err *e);

/* A note that `git commit` would also have run hooks or signed the commit. Like Entire, we do
 * neither, because a hook is a program of whoever set up the repository, and a checkpoint is made
 * without the user's attention. In the arena; NULL if nothing was skipped, or out of memory. */
const char *autocommit_skipped_note(git_repository *repo, struct arena *a);

/* ---- condensing (condense.c) ---- */

/* The effect of a user's commit on a session (docs/formats/entire.md 2.8): its temporary
 * checkpoints become one committed checkpoint, which a trailer of the commit names. The transcript
 * in it is redacted, because it will be pushed. */
struct condensed {
    /* "": nothing was condensed, because the commit names no checkpoint (then the base of an active session moves), the
     * session has ended without touching a file, or a rebase, a cherry-pick or a revert is in progress */
    char checkpoint[13];
    git_oid commit; /* on entire/checkpoints/v1 */
    /* The shadow branch was removed, because no other session has work on it. Its tip is kept under
     * refs/reprise/condensed/. */
    bool branch_gone;
};

/* The session must have a state. strategy: "manual-commit" or "auto-commit". Reads the message of HEAD. */
MUST_CHECK enum err_code condense(struct view *v, struct slice strategy, struct condensed *out,
                                  struct err *e);
/* At the end of a turn: writes the whole transcript into the checkpoints that were committed during it, if any. */
MUST_CHECK enum err_code condense_finalize_turn(struct view *v, struct slice strategy,
                                                struct err *e);

/* The content of a committed checkpoint: the conversation so far and its prompt, both redacted, and
 * the values of the state. The caller fills in the checkpoint's id, the strategy and the shadow
 * branch. */
struct collected_checkpoint {
    struct buf transcript, prompt;
    int64_t lines; /* the number of the transcript's lines */
    struct committed_session s;
};

/* The session must have a state. Free with condense_collected_fini, also after a failure. */
MUST_CHECK enum err_code condense_collect(struct view *v, struct collected_checkpoint *out,
                                          struct err *e);
void condense_collected_fini(struct collected_checkpoint *g);

#endif
