#include <string.h>

#include "store/systems/claude/list/continued.h"
#include "store/systems/claude/list/describe_fields.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/list/session_cwd.h"

/* Sessions that the agent's own list leaves out, though each alone can be shown. */

static bool is_listed_text(struct slice text, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (text.n == strlen(names[i]) && memcmp(text.p, names[i], text.n) == 0)
            return true;
    return false;
}

static bool is_programmatic(struct claude_describe_state *r)
{
    static const char *const entries[] = { "sdk-cli", "sdk-ts", "sdk-py", NULL };
    static const char *const kinds[] = { "daemon", "daemon-worker", NULL };
    struct slice text = { NULL, 0 }, row;

    /* Where nobody asks, the whole head is not searched for what is mostly not there. */
    if (r->scope->leave_programmatic)
        text = describe_first_unless_in_tail(r, ENTRY);
    else
        r->ok &= field_first(r->w->head, true, "entrypoint", r->a, &text);

    if (is_listed_text(text.p ? text : r->tail[ENTRY].text, entries))
        return true;
    row = describe_row_with(r, "\"parentUuid\":");
    r->ok &= field_first(row.n ? row : describe_whole_head(r), true, "sessionKind", r->a, &text);
    return is_listed_text(text, kinds);
}

static bool is_continued(struct claude_describe_state *r)
{
    struct slice id;

    if (!r->says_continued)
        return false;
    r->ok &= continued_in(r->w->tail, r->a, &id);
    return r->ok && id.p && continued_target_exists(&r->row->ref, id, r->a);
}

static bool is_elsewhere(struct claude_describe_state *r)
{
    struct slice own = r->tail[MOVED].text;

    if (r->scope->all)
        return false;
    if (!r->tail[MOVED].found)
        r->ok &= session_cwd_first(describe_known_rows(r), r->a, &own);
    if (!own.p && !r->w->wide)
        r->ok &= session_cwd_first(describe_whole_head(r), r->a, &own);
    return r->ok && claude_collides(r->scope, r->project, own, r->a);
}

void claude_set_hidden(struct claude_describe_state *r)
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
