#include "store/rewind/talk.h"

#include <string.h>

#include "store/change/part.h"
#include "store/rewind/tx.h"

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
    [TALK_NONE] = "none", [TALK_TRUNCATE] = "truncate", [TALK_RESUME_AT] = "resume-at", [TALK_FORK] = "fork",
    [TALK_REFS] = "refs",
};
/* clang-format on */

bool talk_moves(enum talk_how how)
{
    return how != TALK_NONE && how != TALK_REFS;
}

const char *talk_how_word(enum talk_how how)
{
    return words[how];
}

bool talk_how_of(const char *word, enum talk_how *how)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *how = (enum talk_how)i;
            return true;
        }
    return false;
}

void rewind_talk_fini(struct rewind_talk *t)
{
    change_free(t->change);
    *t = (struct rewind_talk){ 0 };
}

enum err_code tx_talk_do(struct change_log *log, struct tx *tx, struct err *e)
{
    char dir[TX_PATH_MAX];

    tx_path(tx->dir, "talk", dir);
    return tx->talk.change ? change_part_do(log, dir, tx->talk.change, e) : ERR_OK;
}

enum err_code tx_talk_back(const struct tx *tx, enum step_back *how, struct err *e)
{
    char dir[TX_PATH_MAX];

    *how = BACK_DONE;
    tx_path(tx->dir, "talk", dir);
    return tx->talk.how == TALK_NONE ? ERR_OK : change_part_back(dir, how, e);
}

enum err_code tx_talk_inverse(const struct tx *tx, struct rewind_talk *out, struct err *e)
{
    char dir[TX_PATH_MAX];
    struct change *done;

    if (tx->talk.how == TALK_NONE)
        return ERR_OK;
    tx_path(tx->dir, "talk", dir);
    enum err_code rc = change_part_read(dir, &done, e);

    if (rc)
        return rc;
    *out = (struct rewind_talk){ .change = change_inverse(done, "undo"),
                                 .how = tx->talk.how,
                                 .kept = tx->talk.kept - tx->talk.added + tx->talk.dropped,
                                 .dropped = tx->talk.added,
                                 .added = tx->talk.dropped };
    change_free(done);
    return out->change ? ERR_OK : err_nomem(e);
}
