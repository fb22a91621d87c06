#include <string.h>

#include "store/journal/record_index.h"
#include "store/rewind/record/record.h"
#include "store/rewind/record/records.h"

/* What a list needs of a finished record, as one text: everything but how its files were and become. */

enum { HAS_SETTLED = 1, IS_CUT_SHORT = 2, IS_ABANDONED = 4 };

static const char actions[] = {
    [REWIND_RESTORE] = 'r', [REWIND_CREATE] = 'c', [REWIND_DELETE] = 'd'
};

enum err_code rewind_tx_brief_write(const struct rewind_tx *tx, int64_t bytes, struct buf *out)
{
    const char *const texts[] = { tx->system,  tx->session, tx->point, tx->undoes,
                                  tx->project, tx->store,   tx->title };
    const int64_t numbers[] = { bytes,
                                tx->version,
                                tx->at_ms,
                                tx->conversation.how,
                                (int64_t)tx->conversation.kept,
                                (int64_t)tx->conversation.dropped,
                                (tx->settled ? HAS_SETTLED : 0) |
                                    (tx->cut_short ? IS_CUT_SHORT : 0) |
                                    (tx->abandoned ? IS_ABANDONED : 0),
                                (int64_t)tx->n,
                                (int64_t)tx->settled_n };
    AUTO_BUF scratch = { 0 };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY(record_field_add_int(out, numbers[i]));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(record_field_add_text(out, texts[i], &scratch));
    for (size_t i = 0; i < tx->n; i++) {
        /* The letter of a conflict is a capital one, and an x comes first if the outcome is
         * unknown. */
        const struct rewind_tx_entry *x = &tx->entry[i];
        const char letter = actions[x->action];

        if (x->unknown)
            TRY(buf_add_byte(out, 'x'));
        TRY(buf_add_byte(out, x->outcome == REWIND_CONFLICT ? (char)(letter - 'a' + 'A') : letter));
        TRY(record_field_add_text(out, x->path, &scratch));
    }
    for (size_t i = 0; i < tx->settled_n; i++)
        TRY(record_field_add_text(out, tx->settled[i], &scratch));
    return ERR_OK;
}

static bool brief_read_entry(struct slice *text, struct arena *a, struct rewind_tx_entry *x)
{
    x->unknown = text->n && text->p[0] == 'x';
    *text = (struct slice){ text->p + x->unknown, text->n - x->unknown };
    if (!text->n)
        return false;
    const char letter = text->p[0];
    const bool conflict = letter >= 'A' && letter <= 'Z';

    for (size_t i = 0; i < sizeof actions; i++)
        if (actions[i] == (conflict ? (char)(letter - 'A' + 'a') : letter)) {
            x->action = (enum rewind_action)i;
            x->outcome = conflict ? REWIND_CONFLICT : REWIND_DONE;
            *text = (struct slice){ text->p + 1, text->n - 1 };
            return record_field_text(text, a, &x->path) && x->path;
        }
    return false;
}

bool rewind_tx_brief_read(struct slice text, const char *dir, const char *id, struct rewind_tx *out,
                          int64_t *bytes)
{
    struct rewind_tx tx = { .phase = TX_DONE };
    const char **const texts[] = { &tx.system,  &tx.session, &tx.point, &tx.undoes,
                                   &tx.project, &tx.store,   &tx.title };
    int64_t how, kept, dropped, flags, n, settled;
    int64_t *const numbers[] = { bytes,    &tx.version, &tx.at_ms, &how,    &kept,
                                 &dropped, &flags,      &n,        &settled };
    bool ok = true;

    tx.dir = arena_copy_text(&tx.arena, dir);
    tx.id = arena_copy_text(&tx.arena, id);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && ok; i++)
        ok = record_field_int(&text, numbers[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && ok; i++)
        ok = record_field_text(&text, &tx.arena, texts[i]);
    ok = ok && tx.system && tx.session && tx.point && how >= CONVERSATION_NONE &&
         how <= CONVERSATION_REFS && n >= 0 && settled >= 0 && (size_t)n < text.n + 1 &&
         (size_t)settled < text.n + 1;
    tx.entry = ok ? arena_zalloc(&tx.arena, sizeof *tx.entry * ((size_t)n + 1)) : NULL;
    tx.settled = ok ? arena_zalloc(&tx.arena, sizeof *tx.settled * ((size_t)settled + 1)) : NULL;
    ok = tx.entry && tx.settled;
    while (ok && tx.n < (size_t)n)
        ok = brief_read_entry(&text, &tx.arena, &tx.entry[tx.n++]);
    while (ok && tx.settled_n < (size_t)settled)
        ok = record_field_text(&text, &tx.arena, &tx.settled[tx.settled_n]) &&
             tx.settled[tx.settled_n++];
    ok = ok && text.n == 0;

    /* Without a sound brief the caller reads the record itself. */
    if (!ok || tx.arena.failed) {
        rewind_tx_fini(&tx);
        return false;
    }
    tx.conversation.how = (enum conversation_change)how;
    tx.conversation.kept = (size_t)kept;
    tx.conversation.dropped = (size_t)dropped;
    tx.settled = flags & HAS_SETTLED ? tx.settled : NULL;
    tx.cut_short = flags & IS_CUT_SHORT;
    tx.abandoned = flags & IS_ABANDONED;
    *out = tx;
    return true;
}
