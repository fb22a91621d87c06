#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"

/* One way in for everything that happens: update(). It changes the model and queues effects. */

static void open_viewer(struct model *m)
{
    const struct session_entry *e = list_selection_session(m);

    if (view_is_open(m, VIEW_TRANSCRIPT))
        return;
    if (!transcript_view_open(m->viewer, &e->ref, session_entry_title(e), session_entry_cwd(e),
                              &m->fx)) {
        toast_no_memory(&m->toast);
        return;
    }
    m->viewed = list_selection_entry(m);
    view_push(m, VIEW_TRANSCRIPT);
}

static void copy_id(struct model *m)
{
    struct effect *e = effect_add(&m->fx, EFFECT_COPY, REQUESTER_LIST);

    if (buf_add(&e->text, list_selection_session(m)->ref.id))
        toast_no_memory(&m->toast);
}

static void open_editor(struct model *m)
{
    struct effect *e = effect_add(&m->fx, EFFECT_EDIT, REQUESTER_LIST);

    if (buf_add(&e->text, list_selection_session(m)->ref.path) || !buf_cstr(&e->text))
        toast_no_memory(&m->toast);
}

static void open_help(struct model *m)
{
    if (view_top(m) == VIEW_HELP)
        return;
    help_open(&m->help, view_ops_of(view_top(m))->place(m));
    view_push(m, VIEW_HELP);
}

static void open_menu(struct model *m)
{
    if (view_top(m) == VIEW_MENU)
        return;
    m->menu.at = 0;
    view_push(m, VIEW_MENU);
}

/* What means the same wherever it is asked for. */
static void act_anywhere(struct model *m, enum action a)
{
    switch (a) {
    case ACT_RESUME:
    case ACT_PRINT: resume_flow_begin(m, a); break;
    case ACT_VIEW: open_viewer(m); break;
    case ACT_COPY: copy_id(m); break;
    case ACT_EDIT: open_editor(m); break;
    case ACT_MENU: open_menu(m); break;
    case ACT_HELP: open_help(m); break;
    case ACT_REWIND:
    case ACT_REWIND_AT: rewind_screen_open(m, a); break;
    case ACT_TRASHED: trash_view_open(m); break;
    case ACT_CLEANUP: cleanup_open(m); break;
    case ACT_DAMAGED: damaged_open(m); break;
    case ACT_DOCTOR: doctor_open(m); break;
    case ACT_FORK:
    case ACT_FORK_AT:
    case ACT_RESUME_AT:
    case ACT_RENAME:
    case ACT_TAG:
    case ACT_ARCHIVE:
    case ACT_TRASH:
    case ACT_UNDO:
    case ACT_REDO: change_flow_begin(m, a); break;
    case ACT_SUSPEND: effect_add(&m->fx, EFFECT_SUSPEND, REQUESTER_LIST); break;
    case ACT_REDRAW: effect_add(&m->fx, EFFECT_REDRAW, REQUESTER_LIST); break;
    case ACT_QUIT: view_quit(m); break;
    default: break;
    }
}

/* A list that is still being read may have its first session in a moment: Enter waits for it. */
static bool can_wait(const struct model *m, enum action a)
{
    return (a == ACT_RESUME || a == ACT_PRINT) && view_base(m) == VIEW_LIST &&
           !list_settled(&m->list);
}

/* The cursor of a list goes on when the filter is through; everything else is done to what fits. */
static bool waits_for_filter(const struct model *m, enum action a)
{
    switch (a) {
    case ACT_UP:
    case ACT_DOWN:
    case ACT_PAGE_UP:
    case ACT_PAGE_DOWN:
    case ACT_HALF_UP:
    case ACT_HALF_DOWN: return view_top(m) == VIEW_LIST;
    default: return false;
    }
}

void update_perform(struct model *m, enum action a)
{
    if (!waits_for_filter(m, a))
        list_filter_finish(&m->list, &m->fx);
    const char *why = action_unavailable(m, a);

    if (why && !can_wait(m, a)) {
        toast_note(&m->toast, m->now_ms, "%s: %s", action_title(a), why);
        return;
    }
    if (!view_ops_of(view_top(m))->act(m, a))
        act_anywhere(m, a);
}

/* A menu lists what cannot be done too: its own keys are asked before any reason is. */
static void act_on_key(struct model *m, enum action a)
{
    const struct view_ops *top = view_ops_of(view_top(m));

    if (top->overlay && top->act(m, a))
        return;
    update_perform(m, a);
}

static void handle_key(struct model *m, struct key key)
{
    const struct view_ops *top = view_ops_of(view_top(m));

    toast_dismiss(&m->toast);
    m->resume_flow.waits_for_row =
        false; /* another key takes back an Enter that is still waiting */
    if (top->takes && top->takes(m, key))
        return;
    enum action a = keymap_find(m->settings->keys, top->place(m), key);

    if (a == ACT_NONE)
        top->key(m, key);
    else
        act_on_key(m, a);
}

static void resize(struct model *m, int rows, int cols)
{
    m->rows = rows;
    m->cols = cols;
    list_resize(&m->list, rows, cols, &m->fx);
    transcript_view_resize(m->viewer, rows - 1, cols, &m->fx);
    rewind_view_resize(m->rewind, rows - 1, cols);
    for (size_t i = 0; i < m->depth; i++)
        if (view_ops_of(m->stack[i])->resized)
            view_ops_of(m->stack[i])->resized(m);
}

static void show_notice_toast(struct model *m, bool error, struct slice text)
{
    if (error)
        toast_error_text(&m->toast, text);
    else
        toast_info(&m->toast, m->now_ms, "%.*s", SLICE_ARG(text));
}

/* Once, not with every listing: what cannot be read stays so. */
static void report_problems(struct model *m)
{
    const struct problem_list *p = m->list.problems;
    char text[400];

    if (!p || p->n == 0 || !m->list.new_problems)
        return;
    err_format(&p->problem[0].err, text, sizeof text);
    size_t n = strlen(text);

    if (p->n > 1)
        snprintf(text + n, sizeof text - n, " (and %zu more)", p->n - 1);
    toast_error_text(&m->toast, slice_of(text));
}

/* The file that is being read may have grown. */
static void reload_viewer(struct model *m, unsigned before)
{
    if (m->viewed == ENTRY_NONE || view_base(m) != VIEW_TRANSCRIPT)
        return;
    const struct session_entry *e = &m->list.sessions.entry[m->viewed];

    transcript_view_gone(m->viewer, e->gone);
    if (e->row)
        transcript_view_retitle(m->viewer, session_entry_title(e));
    if (e->made != before && before != 0)
        transcript_view_reload(m->viewer, &e->ref, &m->fx);
}

/* What Enter was pressed on is counted otherwise now: better to ask again than to take the wrong one. */
static void clear_pending_resume(struct model *m)
{
    if (m->resume_flow.entry == ENTRY_NONE)
        return;
    resume_flow_cancel(m);
    toast_note(&m->toast, m->now_ms, "the list was reloaded meanwhile: please choose again");
}

static void dispatch_answer(struct model *m, const struct msg *msg)
{
    bool replaces = m->list.replace;
    unsigned made = m->viewed == ENTRY_NONE ? 0 : m->list.sessions.entry[m->viewed].made;

    if (resume_flow_msg(m, msg) || change_flow_msg(m, msg) || trash_view_msg(m, msg) ||
        cleanup_msg(m, msg) || damaged_msg(m, msg) || doctor_msg(m, msg) ||
        rewind_view_msg(m->rewind, msg, &m->fx) || transcript_view_msg(m->viewer, msg, &m->fx) ||
        list_msg(&m->list, msg, &m->fx)) {
        if (replaces && !m->list.replace)
            clear_pending_resume(m);
        if (msg->kind == MSG_LISTED)
            report_problems(m);
        if (msg->kind == MSG_DESCRIBED || msg->kind == MSG_FULL_SCAN)
            reload_viewer(m, made);
        resume_flow_retry(m);
        return;
    }
    struct msg late = *msg;

    msg_fini(&late);
}

static void handle_mouse(struct model *m, struct mouse mouse)
{
    const struct view_ops *top = view_ops_of(view_top(m));

    toast_dismiss(&m->toast);
    if (top->mouse)
        top->mouse(m, mouse);
}

static void handle_paste(struct model *m, struct slice text)
{
    const struct view_ops *top = view_ops_of(view_top(m));

    toast_dismiss(&m->toast);
    if (top->paste)
        top->paste(m, text);
}

static void dispatch(struct model *m, const struct msg *msg)
{
    switch (msg->kind) {
    case MSG_TICK: list_filter_more(&m->list, &m->fx); break;
    case MSG_CONTINUE: break;
    case MSG_KEY: handle_key(m, msg->u.key); break;
    case MSG_PASTE: handle_paste(m, msg->u.paste); break;
    case MSG_MOUSE: handle_mouse(m, msg->u.mouse); break;
    case MSG_RESIZE: resize(m, msg->u.size.rows, msg->u.size.cols); break;
    case MSG_NOTICE: show_notice_toast(m, msg->u.notice.error, msg->u.notice.text); break;
    default: dispatch_answer(m, msg); break;
    }
}

void update(struct model *m, const struct msg *msg)
{
    if (m->leaving) { /* the screen is about to go: what is chosen must not change */
        struct msg late = *msg;

        msg_fini(&late);
        return;
    }
    m->now_ms = m->list.now_ms = msg->now_ms;
    dispatch(m, msg);
    list_tick(&m->list, &m->fx);
    rewind_view_tick(m->rewind, m->now_ms, &m->fx);
    resume_flow_retry(m);
    damaged_tick(m);
    toast_tick(&m->toast, m->now_ms);
}
