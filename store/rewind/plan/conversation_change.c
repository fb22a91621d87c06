#include "store/rewind/plan/conversation_change.h"

#include <string.h>

#include "store/journal/change_part.h"
#include "store/rewind/record/tx.h"

/* The files' decision is the whole rewind's. What is done to the conversation may be refused (a program has the log
 * open, it went on meanwhile), and files may not once INTENT is there: so the conversation's part is done before it,
 * durably, and is taken back by whoever drops the rest.
 *
 *   plan -> staged files -> talk/record -> its steps -> talk/record -> INTENT -> files -> ...
 *                           crash here: its steps are taken back     | it stands
 *
 * Where somebody wrote to the conversation between the crash and the recovery, its old end has no place to go back to.
 * The record then becomes that of a rewind of the conversation alone: it holds the old end, and says what happened. */

/* clang-format off */
static const char *const words[] = {
    [CONVERSATION_NONE] = "none", [CONVERSATION_TRUNCATE] = "truncate", [CONVERSATION_RESUME_AT] = "resume-at", [CONVERSATION_FORK] = "fork",
    [CONVERSATION_REFS] = "refs",
};
/* clang-format on */

bool conversation_change_moves(enum conversation_change how)
{
    return how != CONVERSATION_NONE && how != CONVERSATION_REFS;
}

const char *conversation_change_name(enum conversation_change how)
{
    return words[how];
}

bool conversation_change_parse(const char *word, enum conversation_change *how)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *how = (enum conversation_change)i;
            return true;
        }
    return false;
}

void conversation_change_fini(struct rewind_conversation *t)
{
    change_free(t->change);
    *t = (struct rewind_conversation){ 0 };
}

enum err_code rewind_tx_conversation_do(struct change_log *log, struct rewind_tx *tx, struct err *e)
{
    char dir[TX_PATH_MAX];

    rewind_tx_path(tx->dir, "talk", dir);
    return tx->conversation.change ? change_part_do(log, dir, tx->conversation.change, e) : ERR_OK;
}

enum err_code rewind_tx_conversation_undo(const struct rewind_tx *tx, enum rollback *how,
                                          struct err *e)
{
    char dir[TX_PATH_MAX];

    *how = ROLLBACK_DONE;
    rewind_tx_path(tx->dir, "talk", dir);
    return tx->conversation.how == CONVERSATION_NONE ? ERR_OK : change_part_roll_back(dir, how, e);
}

enum err_code rewind_tx_conversation_inverse(const struct rewind_tx *tx,
                                             struct rewind_conversation *out, struct err *e)
{
    char dir[TX_PATH_MAX];
    struct change *done;

    if (tx->conversation.how == CONVERSATION_NONE)
        return ERR_OK;
    rewind_tx_path(tx->dir, "talk", dir);
    enum err_code rc = change_part_read(dir, &done, e);

    if (rc)
        return rc;
    *out = (struct rewind_conversation){ .change = change_inverse(done, "undo"),
                                         .how = tx->conversation.how,
                                         .kept = tx->conversation.kept - tx->conversation.added +
                                                 tx->conversation.dropped,
                                         .dropped = tx->conversation.added,
                                         .added = tx->conversation.dropped };
    change_free(done);
    return out->change ? ERR_OK : err_nomem(e);
}
