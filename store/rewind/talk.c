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
};
/* clang-format on */

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

static const char *talk_dir(struct tx *tx)
{
    return arena_format(&tx->arena, "%s/talk", tx->dir);
}

static enum err_code no_memory(const struct tx *tx, struct err *e)
{
    return err_set(e, ERR_NOMEM, tx->dir, "the conversation's part of a rewind: out of memory");
}

enum err_code tx_talk_do(struct change_log *log, struct tx *tx, struct err *e)
{
    const char *dir = talk_dir(tx);

    if (!tx->talk.change)
        return ERR_OK;
    return dir ? change_part_do(log, dir, tx->talk.change, e) : no_memory(tx, e);
}

enum err_code tx_talk_back(struct tx *tx, enum step_back *how, struct err *e)
{
    const char *dir = talk_dir(tx);

    *how = BACK_DONE;
    if (tx->talk.how == TALK_NONE)
        return ERR_OK;
    return dir ? change_part_back(dir, how, e) : no_memory(tx, e);
}

enum err_code tx_talk_inverse(struct tx *tx, struct rewind_talk *out, struct err *e)
{
    const char *dir = talk_dir(tx);
    struct change *done;

    if (tx->talk.how == TALK_NONE)
        return ERR_OK;
    enum err_code rc = dir ? change_part_read(dir, &done, e) : no_memory(tx, e);

    if (rc)
        return rc;
    *out = (struct rewind_talk){ .change = change_inverse(done, "undo"),
                                 .how = tx->talk.how,
                                 .kept = tx->talk.kept - tx->talk.added + tx->talk.dropped,
                                 .dropped = tx->talk.added,
                                 .added = tx->talk.dropped };
    change_free(done);
    return out->change ? ERR_OK : no_memory(tx, e);
}
