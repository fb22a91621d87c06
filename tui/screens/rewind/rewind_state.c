#include "tui/screens/rewind/rewind_internal.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/path.h"

enum { SLOW_MS = 150 };

const struct checkpoint *rewind_turn(const struct rewind_view *v)
{
    return v->turns && v->turn < v->turns->n ? &v->turns->checkpoint[v->turn] : NULL;
}

const struct rewind_entry *rewind_entry_at(const struct rewind_view *v, size_t row)
{
    return v->preview && row < v->rows ? &v->preview->preview.entry[v->row[row]] : NULL;
}

const struct rewind_entry *rewind_file(const struct rewind_view *v)
{
    return rewind_entry_at(v, v->file);
}

struct rewind_selection *rewind_pick_at(const struct rewind_view *v, size_t row)
{
    return &v->selection->pick[v->row[row]];
}

const char *rewind_turn_why(const struct rewind_view *v, const struct checkpoint *turn)
{
    return v->mode == REWIND_CONVERSATION ? NULL : turn->why;
}

const struct rewind_conversation *rewind_conversation_of(const struct rewind_view *v)
{
    return v->preview && v->preview->plan.conversation.change ? &v->preview->plan.conversation
                                                              : NULL;
}

bool rewind_is_current(const struct rewind_view *v)
{
    return v->preview && v->preview_turn == v->turn && v->due_ms == TIME_NONE && !v->asked_preview;
}

bool rewind_is_slow(const struct rewind_view *v)
{
    return v->now_ms - v->asked_ms >= SLOW_MS;
}

bool rewind_is_partial(const struct rewind_selection *pick)
{
    for (size_t i = 0; pick->hunk && i < pick->hunks; i++)
        if (!pick->hunk[i])
            return true;
    return false;
}

enum rewind_action rewind_action_of(const struct rewind_entry *x)
{
    return rewind_may_consent(x) ? x->would : x->action;
}

struct slice rewind_path(const struct rewind_view *v, const struct rewind_entry *x, char *out,
                         size_t cap)
{
    struct slice path = slice_of(x->target->path);
    const char *root = v->preview->plan.root;
    size_t n = root ? strlen(root) : 0;

    if (n > 0 && path.n > n + 1 && slice_starts(path, root) && path.p[n] == '/')
        return (struct slice){ path.p + n + 1, path.n - n - 1 };
    return path_short(path, v->settings->home, out, cap);
}

/* ---- numbers ---- */

static void add_to_tally(struct rewind_tally *t, const struct rewind_view *v, size_t i)
{
    const struct rewind_entry *x = &v->preview->preview.entry[i];
    const struct rewind_selection *pick = &v->selection->pick[i];
    enum rewind_action action = rewind_action_of(x);
    bool partial = rewind_is_partial(pick);

    if (!pick->ticked)
        return;
    t->files++;
    t->restored += action == REWIND_RESTORE;
    t->created += action == REWIND_CREATE;
    t->deleted += action == REWIND_DELETE;
    t->partial += partial;
    t->consented += pick->consent;
    t->held_open += x->held_open;
    t->insertions += partial ? v->partial[i].insertions : x->insertions;
    t->deletions += partial ? v->partial[i].deletions : x->deletions;
}

struct rewind_tally rewind_tally(const struct rewind_view *v)
{
    struct rewind_tally t = { 0 };

    const struct rewind_conversation *conversation = rewind_conversation_of(v);

    for (size_t i = 0; v->preview && i < v->preview->preview.n; i++)
        add_to_tally(&t, v, i);
    t.talks = conversation != NULL;
    t.dropped = conversation ? conversation->dropped : 0;
    return t;
}

void rewind_tally_text(const struct rewind_tally *t, char *out, size_t cap)
{
    const struct {
        const char *verb;
        size_t n;
    } part[] = {
        { "restore", t->restored },
        { "re-create", t->created },
        { "delete", t->deleted },
    };
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i].n > 0 && used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s %zu%s", used ? ", " : "",
                                     part[i].verb, part[i].n,
                                     used             ? ""
                                     : part[i].n == 1 ? " file"
                                                      : " files");
    if (t->talks && used < cap)
        snprintf(out + used, cap - used, "%sdrop %zu message%s", used ? ", " : "", t->dropped,
                 t->dropped == 1 ? "" : "s");
}
