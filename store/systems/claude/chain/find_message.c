#include "store/systems/claude/show/restore.h"

#include "lite/json/json.h"

enum { SHORTEST_FRONT = 4 };

static bool starts_with(struct slice text, struct slice front)
{
    return text.n >= front.n && memcmp(text.p, front.p, front.n) == 0;
}

/* The index keeps ids as numbers; what they begin with is asked of the rows. */
static enum err_code find_front(struct claude_log *log, struct slice front, uint32_t *found,
                                struct err *e)
{
    const struct chain *c = &log->chain;
    size_t rows = c->n;

    *found = CHAIN_NONE;
    for (uint32_t i = 0; i < rows; i++) {
        struct arena a = { 0 };
        struct slice row, id;

        if (!chain_has_row(c, i))
            continue;
        enum err_code rc = claude_log_row(log, c->node[i].line, &row, e);

        if (rc)
            return rc;
        bool fits = json_get_text(row, "uuid", &a, &id) && starts_with(id, front);

        arena_fini(&a);
        if (fits && *found != CHAIN_NONE)
            return err_set(e, ERR_USAGE, log->file.path, "find message %.*s: ambiguous prefix",
                           SLICE_ARG(front));
        if (fits)
            *found = i;
    }
    return ERR_OK;
}

enum err_code claude_find_message(struct claude_log *log, struct slice id, uint32_t *node,
                                  struct err *e)
{
    uint32_t found = chain_find(&log->chain, id128_of(id));
    enum err_code rc = ERR_OK;

    if (found != CHAIN_NONE && !chain_has_row(&log->chain, found))
        found = CHAIN_NONE;
    if (found == CHAIN_NONE && id.n >= SHORTEST_FRONT)
        rc = find_front(log, id, &found, e);
    if (!rc && found == CHAIN_NONE)
        rc = err_set(e, ERR_NOT_FOUND, log->file.path, "find message %.*s: no such message",
                     SLICE_ARG(id));
    if (!rc)
        *node = found;
    return rc;
}
