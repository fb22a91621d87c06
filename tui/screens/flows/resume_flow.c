#include <ctype.h>
#include <stdlib.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/text/clean.h"

/* From Enter to the agent:
 *
 *     Enter -> (wait until the row is read) -> (it is running: EFFECT_TERMINAL -> MSG_TERMINAL -> ask)
 *           -> EFFECT_RESUME_DIRS -> MSG_RESUME_DIRS -> (its directory is gone: ask) -> EFFECT_RESUME
 *
 * If it may have moved, the sessions can follow it instead (carry_flow.c), and Enter is pressed again.
 *
 * To the terminal of a running agent: EFFECT_TERMINAL that shows it -> MSG_TERMINAL -> EFFECT_QUIT.
 *
 * To print: EFFECT_RESUME_DIRS for all selected sessions -> MSG_RESUME_DIRS -> EFFECT_PRINT. If a
 * session cannot be resumed, the screen stays and reports it. Nothing is written on the way. */

static void resume_answer(struct model *m, enum dialog_choice choice);

void resume_flow_fini(struct resume_flow *r)
{
    msg_resume_dirs_free(r->place);
    name_list_free(r->words);
    free(r->chosen);
    *r = (struct resume_flow){ .entry = ENTRY_NONE };
}

static void resume_flow_cancel(struct model *m)
{
    resume_flow_fini(m->resume_flow);
    m->resume_waits = false;
}

static bool in_list(const struct model *m)
{
    return view_base(m) == VIEW_LIST;
}

static bool resume_flow_is_marked(const struct list *l, uint32_t entry)
{
    return entry < l->marked_cap && l->marked[entry];
}

/* The session to resume: the one being read, the only one marked, or the selected one. ENTRY_NONE: Enter was pressed before
 * the person could see which one that is. */
static uint32_t session_to_resume(const struct model *m)
{
    const struct list *l = m->list;

    if (!in_list(m))
        return view_entry(m);
    for (uint32_t i = 0; l->marks == 1 && i < l->marked_cap; i++)
        if (l->marked[i])
            return i;
    return list_is_ahead(l) ? ENTRY_NONE : l->selected;
}

static const struct session_row *resume_flow_row_of(const struct model *m, uint32_t entry)
{
    return entry == ENTRY_NONE ? NULL : m->list->sessions.entry[entry].row;
}

static bool choose_row(struct model *m, const struct session_row *row)
{
    free(m->resume_flow->chosen);
    m->resume_flow->chosen = malloc(sizeof(struct session_row *));
    if (m->resume_flow->chosen)
        m->resume_flow->chosen[0] = row;
    return m->resume_flow->chosen != NULL;
}

static void fail_resume(struct model *m)
{
    toast_no_memory(&m->toast);
    resume_flow_cancel(m);
}

static struct name_list *resume_flow_take_words(struct model *m)
{
    struct name_list *words = m->resume_flow->words;

    m->resume_flow->words = NULL;
    return words;
}

/* The file of the session may go while a question about it is open, and other questions may be opened before the first
 * answer comes. */
static bool resume_flow_gives_up(struct model *m)
{
    const char *why = !resume_flow_row_of(m, m->resume_flow->entry)
                          ? "the session has just gone from the list"
                      : view_asks(m) ? "not resumed: another question is open"
                                     : NULL;

    if (why) {
        toast_note(&m->toast, m->now_ms, "%s", why);
        resume_flow_cancel(m);
    }
    return why != NULL;
}

/* The last step: the effect for which the loop leaves the screen. */
static void leave_with_choice(struct model *m, const char *dir)
{
    const struct session_row *row = resume_flow_row_of(m, m->resume_flow->entry);
    struct buf text = { 0 };

    if (buf_add(&text, slice_of(dir)) || !buf_cstr(&text) || !choose_row(m, row)) {
        buf_fini(&text);
        fail_resume(m);
        return;
    }
    struct effect *e = effect_add(&m->fx, EFFECT_RESUME, REQUESTER_LIST);

    e->rows = m->resume_flow->chosen;
    e->row_count = 1;
    e->text = text;
    e->names = resume_flow_take_words(m);
    e->forks = m->resume_flow->forks;
    m->leaving = true;
}

static void request_resume_dirs(struct model *m)
{
    const struct session_entry *entry = &m->list->sessions.entry[m->resume_flow->entry];
    struct ref_list *refs = ref_list_one(&entry->ref, (struct slice){ 0 });
    struct buf text = { 0 };

    if (!refs || buf_add(&text, entry->row->cwd)) {
        ref_list_free(refs);
        fail_resume(m);
        return;
    }
    struct effect *e = effect_add(&m->fx, EFFECT_RESUME_DIRS, REQUESTER_LIST);

    e->refs = refs;
    e->text = text;
    m->resume_flow->question = e->generation;
}

/* Asks for the terminal of the process, or brings it to the front. */
static void request_terminal(struct model *m, int pid, bool shows)
{
    struct effect *e = effect_add(&m->fx, EFFECT_TERMINAL, REQUESTER_LIST);

    e->n = (size_t)pid;
    e->shows = shows;
    m->resume_flow->question = e->generation;
}

static void confirm_live(struct model *m, const struct session_row *row)
{
    const struct agent_terminal *t = &m->resume_flow->terminal;
    static const char why[] = "Two agents in one session overwrite each other's conversation.";
    struct dialog *d = m->dialog;

    dialog_begin(d, "This session is running", resume_answer);
    if (row->live_pid > 0)
        dialog_line(d, "Process %d has it open%s%s. %s", row->live_pid, t->name[0] ? " on " : "",
                    t->name, why);
    else
        dialog_line(d, "An agent has it open. %s", why);
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    if (terminal_can_show(t))
        dialog_offer(d, CHOICE_GO, "go to it (%s %s)", terminal_kind_name(t->kind), t->place);
    dialog_offer(d, CHOICE_ANYWAY, "resume it anyway");
    view_push(m, VIEW_DIALOG);
}

void resume_flow_show_terminal(struct model *m, int pid)
{
    resume_flow_cancel(m);
    request_terminal(m, pid, true);
}

static void offer_directories(struct model *m, enum dialog_choice choice, const char *what,
                              const char *dir)
{
    char out[256];
    struct slice path = text_path_short(slice_of(dir), m->settings->home, out, sizeof out);

    dialog_offer(m->dialog, choice, "%s %.*s", what, SLICE_ARG(path));
}

/* Where it may be now. The choices are the places, after cancel. */
static void offer_places(struct model *m, const struct resume_dirs *p)
{
    enum { PLACES_SHOWN = 3 };
    const size_t n = p->places.n < PLACES_SHOWN ? p->places.n : PLACES_SHOWN;

    for (size_t i = 0; i < n; i++) {
        char out[256];
        const struct slice to =
            text_path_short(slice_of(p->places.place[i].to), m->settings->home, out, sizeof out);

        dialog_line(m->dialog, "Moved to %.*s? %c%s.", SLICE_ARG(to),
                    toupper((unsigned char)p->places.place[i].why[0]), p->places.place[i].why + 1);
    }
    if (!n && p->session_dir)
        dialog_line(m->dialog, "If it was moved: reprise move OLD NEW takes its sessions along.");
    if (!p->only_moved)
        dialog_line(m->dialog, "Where should the session be resumed?");
    dialog_offer(m->dialog, CHOICE_CANCEL, "cancel");
    for (size_t i = 0; i < n; i++)
        offer_directories(m, CHOICE_MOVE, "take its sessions to", p->places.place[i].to);
}

static void resume_one(struct model *m)
{
    const struct session_row *row = resume_flow_row_of(m, m->resume_flow->entry);

    m->resume_waits = false;
    if (resume_flow_gives_up(m))
        return;
    if (!(row->flags & SESSION_LIVE) || m->resume_flow->knows_live || m->resume_flow->forks)
        request_resume_dirs(m);
    else if (row->live_pid > 0)
        request_terminal(m, row->live_pid, false);
    else
        confirm_live(m, row);
}

/* The marked sessions in the list's order; those that could not be read are left out. */
static size_t collect_marked(struct model *m)
{
    const struct list *l = m->list;
    size_t n = 0;

    free(m->resume_flow->chosen);
    m->resume_flow->chosen = calloc(l->marks + 1, sizeof *m->resume_flow->chosen);
    for (size_t i = 0; m->resume_flow->chosen && i < l->order.n && n < l->marks; i++) {
        uint32_t entry = l->order.entry[i];

        if (resume_flow_is_marked(l, entry) && resume_flow_row_of(m, entry))
            m->resume_flow->chosen[n++] = resume_flow_row_of(m, entry);
    }
    return n;
}

static bool prints_marked(const struct model *m)
{
    return m->resume_flow->action == ACT_PRINT && m->resume_flow->marked;
}

/* Returns true if the rows to act on have been read or will never be read. */
static bool rows_are_there(const struct model *m)
{
    const struct list *l = m->list;

    if (!prints_marked(m))
        return resume_flow_row_of(m, m->resume_flow->entry) != NULL;
    for (uint32_t i = 0; !list_settled(l) && i < l->marked_cap && i < l->sessions.n; i++)
        if (l->marked[i] && session_table_is_listed(&l->sessions, i) && !resume_flow_row_of(m, i))
            return false;
    return true;
}

static void report_unreadable(struct model *m)
{
    toast_error_text(&m->toast, SLICE("none of the marked sessions can be read"));
    resume_flow_cancel(m);
}

static void print_rows(struct model *m)
{
    size_t n = prints_marked(m) ? collect_marked(m)
                                : choose_row(m, resume_flow_row_of(m, m->resume_flow->entry));

    if (!m->resume_flow->chosen) {
        fail_resume(m);
        return;
    }
    if (n == 0) {
        report_unreadable(m);
        return;
    }
    struct effect *e = effect_add(&m->fx, EFFECT_PRINT, REQUESTER_LIST);

    e->rows = m->resume_flow->chosen;
    e->row_count = n;
    e->names = resume_flow_take_words(m);
    e->forks = m->resume_flow->forks;
    m->leaving = true;
}

static bool resume_flow_add_ref(struct ref_list *refs, const struct session_row *row,
                                uint32_t entry)
{
    return !row || ref_list_add(refs, &row->ref, entry);
}

/* Checks the sessions to be printed before the screen is left for them. */
static void ask_commands(struct model *m)
{
    const struct list *l = m->list;
    struct ref_list *refs = ref_list_new();
    bool ok = refs;

    if (!prints_marked(m)) {
        ok = ok && resume_flow_add_ref(refs, resume_flow_row_of(m, m->resume_flow->entry),
                                       m->resume_flow->entry);
    } else {
        for (size_t i = 0; ok && i < l->order.n; i++)
            if (resume_flow_is_marked(l, l->order.entry[i]))
                ok = resume_flow_add_ref(refs, resume_flow_row_of(m, l->order.entry[i]),
                                         l->order.entry[i]);
    }
    if (!ok) {
        ref_list_free(refs);
        fail_resume(m);
        return;
    }
    if (refs->n == 0) {
        ref_list_free(refs);
        report_unreadable(m);
        return;
    }
    struct effect *e = effect_add(&m->fx, EFFECT_RESUME_DIRS, REQUESTER_LIST);

    e->refs = refs;
    e->prints = true;
    m->resume_flow->question = e->generation;
}

static void act_on_row(struct model *m)
{
    m->resume_waits = false;
    if (m->resume_flow->action == ACT_PRINT)
        ask_commands(m);
    else
        resume_one(m);
}

void resume_flow_begin(struct model *m, enum action a, struct name_list *words)
{
    const struct list *l = m->list;

    resume_flow_cancel(m);
    m->resume_flow->words = words;
    m->resume_flow->forks = a == ACT_FORK;
    m->resume_flow->action = m->settings->print ? ACT_PRINT : a;
    if (m->settings->demo) {
        toast_note(&m->toast, m->now_ms, "demo sessions cannot be resumed: no agent knows them");
        resume_flow_cancel(m);
        return;
    }
    m->resume_flow->entry = session_to_resume(m);
    m->resume_flow->marked = in_list(m) && l->marks > 0;
    if (rows_are_there(m))
        act_on_row(m);
    else
        m->resume_waits = !list_settled(l) || m->resume_flow->entry != ENTRY_NONE;
}

void resume_flow_retry(struct model *m)
{
    if (!m->resume_waits)
        return;
    if (m->resume_flow->entry == ENTRY_NONE) {
        m->resume_flow->entry = session_to_resume(m);
        if (m->resume_flow->entry == ENTRY_NONE && list_settled(m->list))
            resume_flow_cancel(m);
    }
    if (rows_are_there(m))
        act_on_row(m);
}

static bool resume_message(struct model *m, const struct msg *msg)
{
    bool mine = m->resume_flow->question != 0 && msg->generation == m->resume_flow->question;

    if (msg->kind == MSG_FAILED && mine) {
        toast_error(&m->toast, &msg->u.error);
        resume_flow_cancel(m);
        return true;
    }
    if (msg->kind == MSG_TERMINAL && mine) {
        m->resume_flow->question = 0;
        m->resume_flow->terminal = msg->u.terminal;
        if (msg->u.terminal.shown) {
            /* The person is at that terminal now, and a popup of tmux would hide it. */
            effect_add(&m->fx, EFFECT_QUIT, REQUESTER_LIST)->code = 0;
            m->leaving = true;
        } else if (!resume_flow_gives_up(m))
            confirm_live(m, resume_flow_row_of(m, m->resume_flow->entry));
        return true;
    }
    if (msg->kind != MSG_RESUME_DIRS)
        return false;
    if (!mine) {
        msg_resume_dirs_free(msg->u.place);
        return true;
    }
    m->resume_flow->place = msg->u.place;
    m->resume_flow->question = 0;
    if (m->resume_flow->action == ACT_PRINT && prints_marked(m))
        print_rows(m);
    else if (resume_flow_gives_up(m))
        return true;
    else if (m->resume_flow->action == ACT_PRINT)
        print_rows(m);
    else if (!m->resume_flow->place->missing && m->resume_flow->place->session_dir)
        leave_with_choice(m, m->resume_flow->place->session_dir);
    else {
        const struct resume_dirs *p = m->resume_flow->place;
        struct dialog *d = m->dialog;

        dialog_begin(d, "The session's directory no longer exists", resume_answer);
        dialog_line(d, "%s",
                    p->session_dir ? p->session_dir : "The session does not record its directory.");
        offer_places(m, p);
        if (p->main_worktree && !p->only_moved)
            offer_directories(m, CHOICE_MAIN_WORKTREE, "in its repository:", p->main_worktree);
        if (p->present_dir && !p->only_moved)
            offer_directories(m, CHOICE_PRESENT_DIR, "here:", p->present_dir);
        view_push(m, VIEW_DIALOG);
    }
    return true;
}

static void resume_answer(struct model *m, enum dialog_choice choice)
{
    if (m->resume_flow->entry == ENTRY_NONE) /* forgotten meanwhile */
        return;
    if (choice != CHOICE_CANCEL && resume_flow_gives_up(m))
        return;
    switch (choice) {
    case CHOICE_CANCEL: resume_flow_cancel(m); return;
    case CHOICE_ANYWAY:
        m->resume_flow->knows_live = true;
        resume_one(m);
        return;
    case CHOICE_GO:
        request_terminal(m, resume_flow_row_of(m, m->resume_flow->entry)->live_pid, true);
        return;
    case CHOICE_MAIN_WORKTREE: leave_with_choice(m, m->resume_flow->place->main_worktree); return;
    case CHOICE_PRESENT_DIR: leave_with_choice(m, m->resume_flow->place->present_dir); return;
    case CHOICE_MOVE:
        carry_flow_move(m, m->resume_flow->entry,
                        &m->resume_flow->place->places.place[m->dialog->at - 1]);
        resume_flow_cancel(m);
        return;
    case CHOICE_REDACTED:
    case CHOICE_HUNKS:
    case CHOICE_DO: return; /* not offered here */
    }
}

void resume_flow_renumbered(struct model *m)
{
    if (m->resume_flow->entry == ENTRY_NONE)
        return;
    resume_flow_cancel(m);
    toast_note(&m->toast, m->now_ms, "the list was reloaded meanwhile: please choose again");
}

static bool resume_flow_resume_perform(struct model *m, enum action a)
{
    if (a != ACT_RESUME && a != ACT_PRINT)
        return false;
    resume_flow_begin(m, a, NULL);
    return true;
}

const struct view_ops view_resume_flow = {
    .name = "resume",
    .perform = resume_flow_resume_perform,
    .message = resume_message,
};
