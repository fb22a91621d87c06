#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/config/resume_command.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/text/human.h"
#include "tui/widgets/list_cursor.h"

/* The sessions that actions apply to: the one that is being read or checked or is selected; in the
 * list, the marked ones. */

const struct session_entry *list_selection_session(const struct model *m)
{
    uint32_t i = view_entry(m);

    return i == ENTRY_NONE ? NULL : &m->list->sessions.entry[i];
}

struct list_selection list_selection_of(const struct model *m)
{
    struct list_selection s = { .list = m->list, .next = 0 };

    if (view_base(m) == VIEW_LIST && m->list->marks > 0)
        s.marked = true;
    else
        s.one = view_entry(m);
    return s;
}

bool list_selection_next(struct list_selection *s, uint32_t *entry)
{
    const struct list *l = s->list;

    if (!s->marked) {
        *entry = s->one;
        s->one = ENTRY_NONE;
        return *entry != ENTRY_NONE;
    }
    while (s->next < l->marked_cap && s->next < l->sessions.n) {
        uint32_t i = s->next++;

        if (l->marked[i] && session_table_is_listed(&l->sessions, i)) {
            *entry = i;
            return true;
        }
    }
    return false;
}

unsigned list_required_ability(enum action a)
{
    switch (a) {
    case ACT_RESUME:
    case ACT_RESUME_WITH: return CAN_RESUME;
    case ACT_FORK:
    case ACT_FORK_AT: return CAN_FORK;
    case ACT_RESUME_AT: return CAN_RESUME_AT;
    case ACT_REWIND:
    case ACT_REWIND_AT: return CAN_REWIND;
    case ACT_RENAME: return CAN_RENAME;
    case ACT_PIN:
    case ACT_TAG: return CAN_TAG;
    case ACT_ARCHIVE: return CAN_ARCHIVE;
    case ACT_TRASH: return CAN_DELETE | CAN_REMOVE; /* one of them */
    default: return 0;
    }
}

static bool needs_session(enum action a)
{
    return a == ACT_RESUME || a == ACT_VIEW || a == ACT_COPY || a == ACT_EDIT || a == ACT_PRINT ||
           a == ACT_EXPORT || a == ACT_MARK || a == ACT_DOCTOR || list_required_ability(a) != 0;
}

/* The reason in the words of the system, if it gives one. */
static const char *incapable(const struct session_row *row, unsigned ability)
{
    const char *why;

    if (ability & CAN_DELETE)
        ability = CAN_DELETE;
    why = row->ref.store ? store_unsupported_reason(row->ref.store->ops, ability) : NULL;

    if (row->flags & SESSION_KEPT && ability != CAN_DELETE)
        why = "only its kept copy is left: put it back first";
    else if (row->problem)
        why = row->problem;
    else if (ability == CAN_DELETE && row->undeletable)
        why = row->undeletable;
    return why ? why : "this session's system cannot do that";
}

/* It is enough if the action is possible for one session; the others are left out, and the question
 * mentions them. */
static const char *change_reason(const struct model *m, enum action a)
{
    struct list_selection s = list_selection_of(m);
    unsigned ability = list_required_ability(a);
    const char *why = LIST_NO_SESSION;
    uint32_t i;

    while (list_selection_next(&s, &i)) {
        const struct session_row *row = m->list->sessions.entry[i].row;

        if (row && ability && !(row->can & ability))
            why = incapable(row, ability);
        else if (row && (a == ACT_TRASH || a == ACT_RESUME_AT) && row->flags & SESSION_LIVE)
            why = "an agent has this session open";
        else
            return NULL;
    }
    return why;
}

bool list_session_forks_in_agent(const struct model *m)
{
    const struct session_entry *e = list_selection_session(m);

    return e && e->ref.store && resume_agent_forks(m->settings->config, &e->ref, false);
}

static bool list_view_is_change(enum action a)
{
    return a == ACT_RENAME || a == ACT_TAG || a == ACT_PIN || a == ACT_ARCHIVE || a == ACT_KEEP ||
           a == ACT_CONTINUE_IN || a == ACT_BUNDLE || a == ACT_TRASH || a == ACT_FORK ||
           a == ACT_FORK_AT || a == ACT_RESUME_AT;
}

/* An editor would show a database as text, or begin a new file. */
static bool is_text_file(const struct session_ref *ref)
{
    static const char database[] = ".db";
    const size_t n = sizeof database - 1;

    if (ref->store && (ref->store->ops->size_unknown || ref->store->ops->remote))
        return false;
    return ref->path.n < n || memcmp(ref->path.p + ref->path.n - n, database, n) != 0;
}

/* An action that takes one session never takes another one than the marked ones. */
static const char *marks_reason(const struct model *m, enum action a)
{
    const struct list *l = m->list;
    bool one = a == ACT_VIEW || a == ACT_REWIND || a == ACT_RESUME_WITH || a == ACT_FORK ||
               a == ACT_CONTINUE_IN || a == ACT_DOCTOR || a == ACT_COPY || a == ACT_EDIT ||
               (a == ACT_RESUME && l->marks > 1 && !m->settings->print);

    if (!one || l->marks == 0 || view_base(m) != VIEW_LIST)
        return NULL;
    if (l->marks > 1)
        return "it takes one session, and several are marked";
    return a == ACT_FORK || a == ACT_CONTINUE_IN ||
                   (l->selected < l->marked_cap && l->marked[l->selected])
               ? NULL
               : "it takes one session, and another one is marked";
}

const char *list_session_unavailable(const struct model *m, enum action a, const char *none)
{
    const struct session_entry *e = list_selection_session(m);
    unsigned ability = list_required_ability(a);
    const char *why = marks_reason(m, a);

    if (why)
        return why;
    if (a == ACT_COMPARE)
        return view_base(m) == VIEW_LIST && m->list->marks == 2
                   ? NULL
                   : "it takes two marked sessions; Tab marks one";
    if (a == ACT_FORK && list_session_forks_in_agent(m))
        return NULL;
    if (list_view_is_change(a))
        return change_reason(m, a);
    if (needs_session(a) && !e)
        return none;
    if (a == ACT_EDIT && !is_text_file(&e->ref))
        return "the conversation is not in a text file on this machine";
    return ability != 0 && e->row && !(e->row->can & ability) ? incapable(e->row, ability) : NULL;
}

/* The list as a view: its keys and actions. */

static enum key_context list_key_context(const struct model *m)
{
    return m->list->typing ? IN_FILTER : IN_LIST;
}

static int64_t list_view_page(const struct list *l)
{
    int64_t items = (int64_t)list_layout(l, l->rows, l->cols).items;

    return items > 1 ? items - 1 : 1;
}

static bool list_view_move(struct model *m, enum action a)
{
    struct list *l = m->list;

    int64_t by;

    if (a == ACT_FIRST || a == ACT_LAST)
        list_move_to(l, a == ACT_FIRST ? 0 : SIZE_MAX, &m->fx);
    else if (list_cursor_steps(a, list_view_page(l), &by))
        list_move(l, by, &m->fx);
    else
        return false;
    return true;
}

static void list_view_mark(struct model *m, int direction)
{
    struct list *l = m->list;

    if (l->selected == ENTRY_NONE)
        return;
    list_mark(l, l->selected, !(l->selected < l->marked_cap && l->marked[l->selected]));
    list_move(l, direction, &m->fx);
}

/* Marks all shown sessions, or unmarks them if all are marked. */
static void mark_all(struct list *l)
{
    bool on = false;

    for (size_t i = 0; i < l->filter.hits && !on; i++)
        on = l->filter.hit[i] >= l->marked_cap || !l->marked[l->filter.hit[i]];
    for (size_t i = 0; i < l->filter.hits; i++)
        list_mark(l, l->filter.hit[i], on);
}

static bool selecting(struct model *m, enum action a)
{
    switch (a) {
    case ACT_MARK: list_view_mark(m, 1); return true;
    case ACT_MARK_UP: list_view_mark(m, -1); return true;
    case ACT_MARK_ALL: mark_all(m->list); return true;
    default: return list_view_move(m, a);
    }
}

void list_next_scope(struct model *m)
{
    static const enum scope_kind next[] = {
        [SCOPE_HERE] = SCOPE_WORKTREES,
        [SCOPE_WORKTREES] = SCOPE_ALL,
        [SCOPE_ALL] = SCOPE_HERE,
    };
    static const char *const say[] = {
        [SCOPE_HERE] = "sessions of this directory",
        [SCOPE_WORKTREES] = "sessions of this repository's worktrees",
        [SCOPE_ALL] = "sessions of all projects",
    };

    list_rescope(m->list, next[m->list->scope], &m->fx);
    toast_note(&m->toast, m->now_ms, "%s", say[m->list->scope]);
}

static void toggle_preview(struct list *l, struct effects *fx)
{
    bool shown = list_layout(l, l->rows, l->cols).preview.w > 0;

    list_set_preview(l, shown ? PREVIEW_OFF : PREVIEW_ON, fx);
}

/* One step back: leave the filter, clear the query, clear the marks, quit. */
static void list_view_back(struct model *m)
{
    struct list *l = m->list;

    if (l->query.n > 0) {
        line_editor_set(&l->query, (struct slice){ 0 });
        list_query_changed(l, &m->fx);
    } else if (l->typing) {
        l->typing = false;
    } else if (l->marks > 0) {
        list_unmark_all(l);
    } else {
        view_quit(m);
        return;
    }
    if (l->query.n == 0)
        l->typing = false;
}

static bool list_view_back_quits(const struct model *m)
{
    const struct list *l = m->list;

    return l->query.n == 0 && !l->typing && l->marks == 0;
}

static void scroll_preview(struct model *m, int direction)
{
    struct list *l = m->list;
    int h = list_layout(l, l->rows, l->cols).preview.h;

    transcript_view_scroll(l->view, direction * (h > 2 ? h / 2 : 1), &m->fx);
}

static void toggle_density(struct model *m)
{
    bool two = list_has_two_lines(m->list, m->list->cols);

    list_set_density(m->list, two ? DENSITY_ONE_LINE : DENSITY_TWO_LINES, &m->fx);
}

static void toggle_tree(struct model *m)
{
    list_set_tree(m->list, !m->list->tree, &m->fx);
    toast_note(&m->toast, m->now_ms, "%s",
               m->list->tree ? "forks are listed below their parents"
                             : "forks are listed by their own time");
}

static bool list_view_act(struct model *m, enum action a)
{
    struct list *l = m->list;

    switch (a) {
    case ACT_SEARCH_NEXT: list_content_step(l, 1, &m->fx); return true;
    case ACT_SEARCH_PREV: list_content_step(l, -1, &m->fx); return true;
    case ACT_SCOPE: list_next_scope(m); return true;
    case ACT_SORT: list_sort(l, (l->sort + 1) % SORT_COUNT, &m->fx); return true;
    case ACT_PREVIEW: toggle_preview(l, &m->fx); return true;
    case ACT_PREVIEW_UP: scroll_preview(m, -1); return true;
    case ACT_PREVIEW_DOWN: scroll_preview(m, 1); return true;
    case ACT_BRANCHES: toggle_tree(m); return true;
    case ACT_DENSITY: toggle_density(m); return true;
    case ACT_REFRESH: list_start(l, &m->fx); return true;
    case ACT_FILTER: l->typing = true; return true;
    case ACT_ACCEPT: l->typing = false; return true;
    case ACT_BACK: list_view_back(m); return true;
    default: return selecting(m, a);
    }
}

/* `?` opens help as long as it cannot be meant as text, an arrow moves in the query while text is to
 * the right of the cursor, and Tab completes the value of a field. */
static bool list_view_takes(struct model *m, struct key key)
{
    struct list *l = m->list;

    if (key.mods != 0 || !keymap_is_text(&m->settings->keys, list_key_context(m)))
        return false;
    if (key.code == '?' && l->query.n == 0 &&
        !keymap_is_bound(&m->settings->keys, list_key_context(m), ACT_HELP)) {
        update_perform(m, ACT_HELP);
        return true;
    }
    if (key.code == KEYCODE_TAB)
        return list_complete(l, &m->fx);
    return key.code == KEYCODE_RIGHT && l->query.cursor < l->query.n &&
           line_editor_key(&l->query, key);
}

static void list_view_key(struct model *m, struct key k)
{
    struct list *l = m->list;
    size_t before = l->query.n;

    if (!keymap_is_text(&m->settings->keys, list_key_context(m)))
        return;
    if (line_editor_key(&l->query, k) && (l->query.n != before || key_is_text(k)))
        list_query_changed(l, &m->fx);
}

static void list_view_paste(struct model *m, struct slice text)
{
    if (!keymap_is_text(&m->settings->keys, list_key_context(m)))
        m->list->typing = true; /* pasted text is never treated as keys */
    line_editor_insert(&m->list->query, text);
    list_query_changed(m->list, &m->fx);
}

static void wheel(struct model *m, struct mouse mouse, int lines)
{
    struct list *l = m->list;
    struct list_layout lay = list_layout(l, l->rows, l->cols);

    if (lay.preview.w > 0 && frame_rect_has(lay.preview, mouse.y, mouse.x)) {
        transcript_view_scroll(l->view, lines, &m->fx);
        return;
    }

    /* The rows scroll, and the cursor stays among those that are shown. */
    const int64_t last = (int64_t)l->filter.hits - (int64_t)lay.items;
    int64_t top = (int64_t)l->top + lines;

    if (top > last)
        top = last;
    l->top = top < 0 ? 0 : (size_t)top;
    list_move_to(l,
                 l->at < l->top                ? l->top
                 : l->at >= l->top + lay.items ? l->top + lay.items - 1
                                               : l->at,
                 &m->fx);
}

static void list_view_mouse(struct model *m, struct mouse event)
{
    struct list *l = m->list;
    size_t at;

    list_filter_finish(l, &m->fx);
    switch (event.event) {
    case MOUSE_WHEEL_UP: wheel(m, event, -3); return;
    case MOUSE_WHEEL_DOWN: wheel(m, event, 3); return;
    case MOUSE_CLICK:
        if (list_row_at(l, event.y, event.x, &at))
            list_move_to(l, at, &m->fx);
        return;
    case MOUSE_DOUBLE_CLICK:
        if (!list_row_at(l, event.y, event.x, &at))
            return;
        list_move_to(l, at, &m->fx);
        update_perform(m, ACT_VIEW);
        return;
    }
}

/* ---- actions that mean the same in every view ---- */

static void send_text(struct model *m, enum effect_kind kind, struct slice text)
{
    struct effect *e = effect_add(&m->fx, kind, REQUESTER_LIST);

    if (buf_add(&e->text, text) || !buf_cstr(&e->text))
        toast_no_memory(&m->toast);
}

static bool list_view_perform(struct model *m, enum action a)
{
    switch (a) {
    case ACT_COPY: send_text(m, EFFECT_COPY, list_selection_session(m)->ref.id); return true;
    case ACT_EDIT: send_text(m, EFFECT_EDIT, list_selection_session(m)->ref.path); return true;
    default: return false;
    }
}

/* Returns true for an action on the selected session. */
static bool takes_selected(const struct model *m, enum action a)
{
    return m->list->marks == 0 && (needs_session(a) || list_view_is_change(a) || a == ACT_MENU);
}

static const char *list_view_unavailable(const struct model *m, enum action a)
{
    const struct list *l = m->list;

    if (takes_selected(m, a) && list_aims_at_gone(l))
        return "the session has just gone from the list";

    if (a == ACT_SEARCH_NEXT || a == ACT_SEARCH_PREV)
        return list_content_text(l).n == 0 ? "type // and words to search in the conversations"
               : list_layout(l, l->rows, l->cols).preview.w == 0 ? "the preview is hidden"
                                                                 : NULL;
    return list_session_unavailable(m, a, LIST_NO_SESSION);
}

/* A list that is still being read may soon have its first session, so Enter waits for it. */
static bool list_view_waits(const struct model *m, enum action a)
{
    return (a == ACT_RESUME || a == ACT_PRINT) && !list_settled(m->list);
}

/* The menu says itself what it is about, and some of its entries need no session. */
bool list_holds(const struct model *m, enum action a)
{
    const struct list *l = m->list;

    return !list_view_waits(m, a) && a != ACT_MENU && (takes_selected(m, a) || a == ACT_MARK_UP) &&
           !list_settled(l) && (l->selected == ENTRY_NONE || list_is_ahead(l));
}

/* Movements of the cursor wait until the filter is finished; all other actions need the final
 * matches now, and wait for rows that are still being put in order. */
static void list_view_prepare(struct model *m, enum action a)
{
    switch (a) {
    case ACT_UP:
    case ACT_DOWN:
    case ACT_PAGE_UP:
    case ACT_PAGE_DOWN:
    case ACT_HALF_UP:
    case ACT_HALF_DOWN:
        if (view_top(m) == VIEW_LIST)
            return;
        break;
    default: break;
    }
    list_filter_finish(m->list, &m->fx);
    if (view_top(m) == VIEW_LIST && takes_selected(m, a) && !list_is_ahead(m->list))
        list_aim(m->list, &m->fx);
}

static uint32_t list_view_entry(const struct model *m)
{
    return m->list->selected;
}

static bool list_view_sign_helps(const struct model *m)
{
    return list_key_context(m) == IN_LIST && m->list->query.n == 0 &&
           !keymap_is_bound(&m->settings->keys, IN_LIST, ACT_HELP);
}

/* ---- what happens ---- */

/* Reported once, not with every listing, because unreadable files stay unreadable. */
static void report_problems(struct model *m)
{
    const struct problem_list *p = m->list->problems;
    char text[400];

    if (!p || p->n == 0 || !m->list->new_problems)
        return;
    err_sentence(&p->problem[0].err, text, sizeof text);
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
    const struct session_entry *e = &m->list->sessions.entry[m->viewed];

    transcript_view_set_gone(m->viewer, e->gone);
    if (e->row)
        transcript_view_retitle(m->viewer, session_entry_title(e));
    if (e->made != before && before != 0)
        transcript_view_reload(m->viewer, &e->ref, &m->fx);
}

static bool list_view_message(struct model *m, const struct msg *msg)
{
    const enum msg_kind kind = msg->kind; /* the message is freed on the way */
    bool replaces = m->list->replace;
    unsigned made = m->viewed == ENTRY_NONE ? 0 : m->list->sessions.entry[m->viewed].made;

    if (kind == MSG_TICK) {
        if (filter_pending(&m->list->filter))
            list_filter_more(m->list, &m->fx);
    } else if (!list_msg(m->list, msg, &m->fx)) {
        return false;
    }
    if (replaces && !m->list->replace)
        resume_flow_renumbered(m);
    if (kind == MSG_LISTED)
        report_problems(m);
    if (kind == MSG_DESCRIBED || kind == MSG_FULL_SCAN)
        reload_viewer(m, made);
    return true;
}

static void list_view_tick(struct model *m)
{
    resume_flow_retry(m);
    list_tick(m->list, &m->fx);
    resume_flow_retry(m);
}

static void list_view_refresh(struct model *m)
{
    list_start(m->list, &m->fx);
}

const struct view_ops view_list = {
    .name = "list",
    .place = list_key_context,
    .draw = list_draw,
    .act = list_view_act,
    .takes = list_view_takes,
    .key = list_view_key,
    .paste = list_view_paste,
    .mouse = list_view_mouse,
    .perform = list_view_perform,
    .unavailable = list_view_unavailable,
    .waits = list_view_waits,
    .holds = list_holds,
    .prepare = list_view_prepare,
    .entry = list_view_entry,
    .back_quits = list_view_back_quits,
    .sign_helps = list_view_sign_helps,
    .resized = list_resize,
    .message = list_view_message,
    .tick = list_view_tick,
    .refresh = list_view_refresh,
    .wake_ms = list_wake_ms,
    .footer = list_complete_footer,
};
