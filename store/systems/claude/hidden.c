#include <string.h>

#include "store/systems/claude/continued.h"
#include "store/systems/claude/discover.h"
#include "store/systems/claude/proof.h"
#include "store/systems/claude/reading.h"

/* Sessions that the agent's own list leaves out, though each alone can be shown. */

static bool is_one_of(struct slice text, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (text.n == strlen(names[i]) && memcmp(text.p, names[i], text.n) == 0)
            return true;
    return false;
}

static bool is_programmatic(struct reading *r)
{
    static const char *const entries[] = { "sdk-cli", "sdk-ts", "sdk-py", NULL };
    static const char *const kinds[] = { "daemon", "daemon-worker", NULL };
    struct slice text = { NULL, 0 }, row;

    /* Where nobody asks, the whole head is not searched for what is mostly not there. */
    if (r->scope->leave_programmatic)
        text = reading_first_unless_tail_lacks(r, ENTRY);
    else
        r->ok &= field_first(r->w->head, true, "entrypoint", r->a, &text);

    if (is_one_of(text.p ? text : r->tail[ENTRY].text, entries))
        return true;
    row = reading_row_with(r, "\"parentUuid\":");
    r->ok &= field_first(row.n ? row : reading_whole_head(r), true, "sessionKind", r->a, &text);
    return is_one_of(text, kinds);
}

static bool is_continued(struct reading *r)
{
    struct slice id;

    if (!r->says_continued)
        return false;
    r->ok &= continued_in(r->w->tail, r->a, &id);
    return r->ok && id.p && continued_target_lives(&r->row->ref, id, r->a);
}

static bool is_elsewhere(struct reading *r)
{
    struct slice own = r->tail[MOVED].text;

    if (r->scope->all)
        return false;
    if (!r->tail[MOVED].found)
        r->ok &= first_row_cwd(reading_known_rows(r), r->a, &own);
    if (!own.p && !r->w->wide)
        r->ok &= first_row_cwd(reading_whole_head(r), r->a, &own);
    return r->ok && claude_collides(r->scope, r->project, own, r->a);
}

void reading_hide(struct reading *r)
{
    struct session_row *row = r->row;

    if (is_programmatic(r))
        row->flags |= SESSION_PROGRAMMATIC;
    if (r->scope->leave_programmatic && (row->flags & SESSION_PROGRAMMATIC))
        row->hidden = HIDDEN_PROGRAMMATIC;
    else if (is_continued(r))
        row->hidden = HIDDEN_CONTINUED;
    else if (is_elsewhere(r))
        row->hidden = HIDDEN_COLLISION;
}
