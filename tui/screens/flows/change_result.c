#include <stdio.h>

#include "tui/app/view.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/maintenance/cleanup.h"
#include "tui/screens/maintenance/maintenance.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/human.h"

enum { NAME_BYTES = 64 }; /* the most bytes of a title in a line of ours */

struct change_text change_text_title(const struct model *m, struct slice title)
{
    const bool ascii = m->settings->ascii;
    const char *left = ascii ? "\"" : "“", *right = ascii ? "\"" : "”";
    const char *more = title.n <= NAME_BYTES ? "" : ascii ? "..." : "…";
    int n = title.n <= NAME_BYTES ? (int)title.n : NAME_BYTES;
    struct change_text w;

    snprintf(w.text, sizeof w.text, "%s%.*s%s%s", left, n, title.p, more, right);
    return w;
}

struct change_text change_text_count(size_t n)
{
    struct change_text w;

    snprintf(w.text, sizeof w.text, "%zu session%s", n, n == 1 ? "" : "s");
    return w;
}

static struct change_text change_text_undo_key(const struct model *m, enum action a)
{
    enum key_context place = view_key_context(m);
    const char *dash = m->settings->ascii ? "-" : "—";
    struct change_text w;
    struct key key;
    char name[KEYMAP_MENU_KEYS];

    if (keymap_key_of(&m->settings->keys, place, a, &key))
        key_label(key, m->settings->ascii, name);
    else
        keymap_menu_keys(&m->settings->keys, place, a, m->settings->ascii, name);
    if (!name[0])
        return (struct change_text){ "" };
    snprintf(w.text, sizeof w.text, " %s %s %s", dash, name, action_title(a));
    return w;
}

const char *change_text_doing(enum change_request request)
{
    switch (request) {
    case CHANGE_RENAME: return "renaming";
    case CHANGE_TAG: return "tagging";
    case CHANGE_PIN:
    case CHANGE_UNPIN:
    case CHANGE_ARCHIVE:
    case CHANGE_UNARCHIVE: return "marking";
    case CHANGE_FORK: return "forking";
    case CHANGE_CONTINUE_IN: return "continuing in another agent";
    case CHANGE_MOVE: return "moving to the project";
    case CHANGE_BUNDLE: return "bundling";
    case CHANGE_KEEP: return "keeping";
    case CHANGE_PUT_BACK: return "putting back";
    case CHANGE_SWEEP:
    case CHANGE_TRASH: return "moving to the trash";
    case CHANGE_JOIN:
    case CHANGE_RESTORE: return "restoring from the trash";
    case CHANGE_EMPTY: return "emptying the trash";
    case CHANGE_REMOVE: return "deleting";
    case CHANGE_PRUNE: return "removing what is old";
    case CHANGE_RESUME_AT: return "setting where to resume";
    case CHANGE_FIX: return "repairing";
    case CHANGE_BACK_TO:
    case CHANGE_UNDO: return "undoing";
    case CHANGE_REDO: return "redoing";
    }
    return "";
}

static void describe_sweep(struct change_text *w, const struct change_result *c, const char *size)
{
    int n =
        snprintf(w->text, sizeof w->text, "moved to trash: %s%s%s, %s", c->orphans ? "what " : "",
                 change_text_count(c->sessions.n).text, c->orphans ? " left behind" : "", size);

    if (c->not_moved > 0 && n > 0 && (size_t)n < sizeof w->text)
        snprintf(w->text + n, sizeof w->text - (size_t)n, "; %zu kept: used meanwhile",
                 c->not_moved);
}

static void describe_trash(struct change_text *w, const struct change_result *c, const char *n,
                           const char *size)
{
    if (c->by_agent && !c->bytes)
        snprintf(w->text, sizeof w->text, "deleted for good: %s", n);
    else
        snprintf(w->text, sizeof w->text, "%s trash: %s, %s",
                 c->by_agent ? "deleted, with a copy in the" : "moved to", n, size);
}

static void describe_fix(struct change_text *w, const struct change_result *c)
{
    int n = snprintf(w->text, sizeof w->text, "repaired: %zu finding%s", c->repaired,
                     c->repaired == 1 ? "" : "s");

    if (c->steps > 1 && n > 0 && (size_t)n < sizeof w->text)
        snprintf(w->text + n, sizeof w->text - (size_t)n, ", in %zu steps", c->steps);
}

static void describe_prune(struct change_text *w, const struct change_result *c, const char *size)
{
    char records[48] = "", snapshots[48] = "";

    if (c->pruned)
        snprintf(records, sizeof records, "%zu undo record%s, %s", c->pruned,
                 c->pruned == 1 ? "" : "s", size);
    if (c->pruned_snapshots)
        snprintf(snapshots, sizeof snapshots, "%s%zu snapshot%s", c->pruned ? "; " : "",
                 c->pruned_snapshots, c->pruned_snapshots == 1 ? "" : "s");
    snprintf(w->text, sizeof w->text, "removed for good: %s%s", records, snapshots);
}

static struct change_text change_text_done(const struct model *m, const struct change_result *c)
{
    struct slice text = buf_slice(&c->text);
    struct change_text n = change_text_count(c->sessions.n), w = { "" };
    char size[HUMAN_SIZE];

    human_size(c->bytes, size);
    switch (c->request) {
    case CHANGE_RENAME:
        snprintf(w.text, sizeof w.text, "renamed to %s", change_text_title(m, text).text);
        break;
    case CHANGE_TAG:
        if (text.n > 0)
            snprintf(w.text, sizeof w.text, "tagged #%.*s: %s", SLICE_ARG(text), n.text);
        else
            snprintf(w.text, sizeof w.text, "tag removed: %s", n.text);
        break;
    case CHANGE_PIN: snprintf(w.text, sizeof w.text, "pinned: %s", n.text); break;
    case CHANGE_UNPIN: snprintf(w.text, sizeof w.text, "unpinned: %s", n.text); break;
    case CHANGE_ARCHIVE: snprintf(w.text, sizeof w.text, "archived: %s", n.text); break;
    case CHANGE_UNARCHIVE: snprintf(w.text, sizeof w.text, "unarchived: %s", n.text); break;
    case CHANGE_TRASH: describe_trash(&w, c, n.text, size); break;
    case CHANGE_KEEP: snprintf(w.text, sizeof w.text, "kept: %s, %s", n.text, size); break;
    case CHANGE_PUT_BACK: snprintf(w.text, sizeof w.text, "put back: %s", n.text); break;
    case CHANGE_SWEEP: describe_sweep(&w, c, size); break;
    case CHANGE_RESTORE: snprintf(w.text, sizeof w.text, "restored: %s, %s", n.text, size); break;
    case CHANGE_JOIN:
        snprintf(w.text, sizeof w.text, "joined with the newer transcript: %s", n.text);
        break;
    case CHANGE_EMPTY:
        snprintf(w.text, sizeof w.text, "deleted for good: %s, %s", n.text, size);
        break;
    case CHANGE_PRUNE: describe_prune(&w, c, size); break;
    case CHANGE_REMOVE: snprintf(w.text, sizeof w.text, "deleted for good: %s", n.text); break;
    case CHANGE_UNDO: snprintf(w.text, sizeof w.text, "undone: %.*s", SLICE_ARG(text)); break;
    case CHANGE_BACK_TO: snprintf(w.text, sizeof w.text, "undone: %.*s", SLICE_ARG(text)); break;
    case CHANGE_REDO: snprintf(w.text, sizeof w.text, "redone: %.*s", SLICE_ARG(text)); break;
    case CHANGE_FIX: describe_fix(&w, c); break;
    case CHANGE_FORK: snprintf(w.text, sizeof w.text, "forked: the fork is selected"); break;
    case CHANGE_CONTINUE_IN:
        snprintf(w.text, sizeof w.text, "continued in %.*s: its session is selected",
                 SLICE_ARG(text));
        break;
    case CHANGE_MOVE:
        snprintf(w.text, sizeof w.text, "moved: %s to %.*s", n.text, SLICE_ARG(text));
        break;
    case CHANGE_BUNDLE:
        snprintf(w.text, sizeof w.text, "bundled: %s, %s, in %.*s", n.text, size, SLICE_ARG(text));
        break;
    case CHANGE_RESUME_AT:
        snprintf(w.text, sizeof w.text, "the session resumes after that message");
        break;
    }
    return w;
}

/* ---- the result of a change: reported, and shown in every view that it may affect ---- */

/* What takes the change back, if anything does. */
static enum action change_result_way_back(const struct change_result *c)
{
    switch (c->request) {
    case CHANGE_EMPTY:
    case CHANGE_REMOVE:
    case CHANGE_PRUNE:
    case CHANGE_KEEP:
    case CHANGE_BUNDLE: return ACT_NONE;
    case CHANGE_UNDO:
    case CHANGE_BACK_TO: return ACT_REDO;
    default: return c->by_agent && !c->bytes ? ACT_NONE : ACT_UNDO;
    }
}

static void report_done(struct model *m, const struct change_result *c)
{
    /* The sessions were already as they should be. */
    if (c->sessions.n == 0 &&
        (c->request == CHANGE_RENAME || c->request == CHANGE_TAG || c->request == CHANGE_PIN ||
         c->request == CHANGE_UNPIN || c->request == CHANGE_KEEP || c->request == CHANGE_ARCHIVE ||
         c->request == CHANGE_UNARCHIVE)) {
        toast_note(&m->toast, m->now_ms, "%s",
                   c->request == CHANGE_KEEP ? "the kept copy is up to date" : "nothing to change");
        return;
    }
    struct change_text done = change_text_done(m, c), back = { "" };

    m->way_back = change_result_way_back(c);
    if (m->way_back)
        back = change_text_undo_key(m, m->way_back);
    toast_info(&m->toast, m->now_ms, "%s%s", done.text, back.text);
}

static bool takes_away(const struct change_result *c)
{
    return c->request == CHANGE_TRASH || c->request == CHANGE_SWEEP || c->request == CHANGE_REMOVE;
}

/* Closes the views of a session that is gone, and forgets the question that was over them. */
static void change_result_to_list(struct model *m)
{
    if (m->viewed != ENTRY_NONE) {
        transcript_view_close(m->viewer, &m->fx);
        list_untrack(m->list, &m->viewed);
    }
    m->depth = 1;
    change_flow_clear(m);
}

/* Asks what must be answered before the change is made. */
static void change_result_ask(struct model *m, const struct change_result *c, bool is_asked)
{
    const bool undoes = c->request == CHANGE_UNDO || c->request == CHANGE_REDO;

    if (undoes) {
        undo_flow_confirm(m, c);
    } else if (view_asks(m)) {
        /* A second question would replace what the open one, or the prompt below it, is about. */
        if (is_asked)
            agent_flow_clear(m);
        toast_note(&m->toast, m->now_ms, "nothing changed: another question is open");
    } else if (c->request == CHANGE_RESTORE) {
        trash_view_ask_join(m, c);
    } else if (!is_asked) {
        toast_note(&m->toast, m->now_ms, "nothing changed: another one was chosen meanwhile");
    } else if (c->by_agent) {
        agent_flow_ask(m, c);
    } else {
        carry_flow_ask(m, c);
    }
}

void change_flow_finish(struct model *m, const struct change_result *c, unsigned generation)
{
    const struct pending_change *p = m->pending_change;
    const bool is_asked = p->asked && p->asked_by == generation;

    m->pending_change->under_way -= m->pending_change->under_way > 0;
    if (c->needs_confirmation) {
        change_result_ask(m, c, is_asked);
        return;
    }
    if (is_asked)
        agent_flow_clear(m);
    if (c->error.code) {
        bool nothing = c->error.code == ERR_NOT_FOUND &&
                       (c->request == CHANGE_UNDO || c->request == CHANGE_REDO);

        if (nothing) /* not an error: nothing was there */
            toast_note(&m->toast, m->now_ms, "%s", c->error.text);
        else
            toast_error(&m->toast, &c->error);
    } else
        report_done(m, c);
    if (!c->error.code && takes_away(c))
        list_unmark_all(m->list);
    bool is_read = false;

    for (size_t i = 0; m->viewed != ENTRY_NONE && i < c->sessions.n; i++)
        is_read |= slice_eq(c->sessions.name[i], m->list->sessions.entry[m->viewed].ref.id);
    if (takes_away(c) && is_read)
        change_result_to_list(m);
    /* The list then selects the session, so that Enter resumes it. */
    if (!c->error.code && (c->request == CHANGE_FORK || c->request == CHANGE_CONTINUE_IN ||
                           c->request == CHANGE_MOVE)) {
        change_result_to_list(m);
        list_unmark_all(m->list);
        snprintf(m->list->seek, sizeof m->list->seek, "%s", c->copy);
    }
    /* A person who went on to another session meanwhile does not want that one resumed. */
    if (!c->error.code && c->request == CHANGE_RESUME_AT && is_read &&
        view_base(m) == VIEW_TRANSCRIPT)
        resume_flow_begin(m, ACT_RESUME, NULL);
    if (c->request == CHANGE_PRUNE)
        m->cleanup->counted = false;
    for (size_t i = 0; i < c->sessions.n; i++)
        session_table_invalidate(&m->list->sessions, c->sessions.name[i]);
    view_refresh(m);
}
