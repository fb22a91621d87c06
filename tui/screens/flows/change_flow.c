#include <stdio.h>
#include <stdlib.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/widgets/frame.h"

/* A change that only the agent of the session can make:
 *
 *     key -> (prompt for a title) -> EFFECT_CHANGE -> MSG_CHANGED with the command -> dialog
 *         -> EFFECT_CHANGE, confirmed -> MSG_CHANGED */

void agent_flow_clear(struct model *m)
{
    struct pending_change *c = m->pending_change;

    ref_list_free(c->asked);
    buf_fini(&c->asked_text);
    name_list_fini(&c->agents);
    c->asked = NULL;
}

bool agent_flow_wants(struct model *m, enum action a)
{
    struct pending_change *c = m->pending_change;
    unsigned ability = list_required_ability(a);
    bool wants = false;

    if (a != ACT_RENAME && a != ACT_ARCHIVE && a != ACT_TRASH)
        return false;
    for (size_t i = 0; i < c->refs->n; i++)
        wants |= (store_agent_abilities(c->refs->ref[i].store->ops) & ability) != 0;
    if (!wants || c->refs->n == 1)
        return wants;
    toast_note(&m->toast, m->now_ms,
               "sessions that only their agent can change are changed one at a time");
    change_flow_clear(m);
    return true;
}

/* A copy of the session stays for the second request. */
void agent_flow_begin(struct model *m, enum change_request request, struct slice text)
{
    struct pending_change *c = m->pending_change;
    struct effect *e;

    agent_flow_clear(m);
    c->asked = ref_list_copy(c->refs);
    c->asked_request = request;
    if (!c->asked || buf_add(&c->asked_text, text))
        change_flow_fail(m);
    else if ((e = change_flow_submit(m, request, text)) != NULL)
        c->asked_by = e->generation;
}

static void run_answer(struct model *m, enum dialog_choice choice)
{
    struct pending_change *c = m->pending_change;
    struct name_list *line = choice == CHOICE_DO && c->asked ? name_list_new() : NULL;

    if (line && name_list_add(line, slice_of(c->asked_line))) {
        change_flow_clear(m);
        c->refs = c->asked;
        c->titles = line;
        c->asked = NULL;
        struct effect *e = change_flow_submit(m, c->asked_request, buf_slice(&c->asked_text));

        if (e)
            e->confirmed = true;
    } else if (line) {
        name_list_free(line);
        change_flow_fail(m);
    }
    agent_flow_clear(m);
}

/* A command that cannot be shown whole is not run. */
void agent_flow_ask(struct model *m, const struct change_result *r)
{
    struct pending_change *c = m->pending_change;
    struct dialog *d = m->dialog;
    struct slice line = buf_slice(&r->text);

    if (line.n >= sizeof c->asked_line) {
        toast_note(&m->toast, m->now_ms, "the command is too long to be shown");
        agent_flow_clear(m);
        return;
    }
    snprintf(c->asked_line, sizeof c->asked_line, "%.*s", SLICE_ARG(line));
    dialog_begin(d, "Only the agent can do this. Run its command?", run_answer);
    dialog_line(d, "%s", c->asked_line);
    dialog_line(d, "%s", r->where);
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "run it");
    view_push(m, VIEW_DIALOG);
}

/* From a key to a changed session:
 *
 *     ^R -> collect the sessions -> prompt -> EFFECT_CHANGE -> MSG_CHANGED -> toast, rows are read again
 *     Del -> collect -> dialog (and EFFECT_ESTIMATE_DELETE -> MSG_DELETE_ESTIMATE: the numbers) -> EFFECT_CHANGE ...
 *
 * The sessions are chosen when the key is pressed: exactly the sessions in the question are
 * changed, whatever happens in the list in the meantime. Nothing is changed before the last Enter. */

void change_flow_clear(struct model *m)
{
    struct pending_change *c = m->pending_change;

    ref_list_free(c->refs);
    name_list_free(c->titles);
    c->refs = NULL;
    c->titles = NULL;
    c->estimating = 0;
}

void change_flow_fail(struct model *m)
{
    toast_no_memory(&m->toast);
    change_flow_clear(m);
}

/* ---- which sessions ---- */

static bool collect_selection(struct model *m, enum action a)
{
    struct pending_change *c = m->pending_change;
    struct list_selection s = list_selection_of(m);
    const unsigned ability = list_required_ability(a);
    uint32_t i;

    change_flow_clear(m);
    c->running = c->unsupported = c->unsure = c->partly = 0;
    c->bytes = 0;

    /* These stay true only if they hold for each session; the action is then the reverse one. */
    c->all_archived = c->all_pinned = c->all_kept = true;
    c->message[0] = '\0';

    c->refs = ref_list_new();
    c->titles = name_list_new();
    bool ok = c->refs && c->titles;

    while (ok && list_selection_next(&s, &i)) {
        const struct session_entry *e = &m->list->sessions.entry[i];

        /* A session that has not been read yet is checked by the worker. */
        if (e->row && ((ability && !(e->row->can & ability)) ||
                       (a == ACT_TRASH && e->row->flags & SESSION_LIVE))) {
            if (e->row->flags & SESSION_LIVE)
                c->running++;
            else
                c->unsupported++;
            continue;
        }
        ok = ref_list_add(c->refs, &e->ref, i) &&
             name_list_add(c->titles, e->row ? session_entry_title(e) : e->ref.id);
        c->bytes += e->ref.file.size;
        c->all_archived &= e->row && (e->row->flags & SESSION_ARCHIVED);
        c->all_kept &= e->row && (e->row->flags & SESSION_KEPT);
        c->all_pinned &= m->list->sessions.sort_key[i].pinned;
    }

    if (!ok)
        change_flow_fail(m);
    return ok && c->refs->n > 0;
}

/* The row of the session, if it is the only one and has been read; else NULL. */
static const struct session_row *single_row(const struct model *m)
{
    const struct pending_change *c = m->pending_change;

    return c->refs->n == 1 ? m->list->sessions.entry[c->refs->entry[0]].row : NULL;
}

/* ---- doing ---- */

/* Passes the collected sessions to a worker. */
struct effect *change_flow_submit(struct model *m, enum change_request request, struct slice text)
{
    struct pending_change *c = m->pending_change;
    struct buf copy = { 0 };

    if (buf_add(&copy, text)) {
        change_flow_fail(m);
        return NULL;
    }
    struct effect *e = effect_add(&m->fx, EFFECT_CHANGE, REQUESTER_LIST);

    e->request = request;
    e->scope = m->list->scope;
    e->refs = c->refs;
    e->names = c->titles;
    e->text = copy;
    e->at_ms = m->now_ms;
    c->refs = NULL;
    c->titles = NULL;
    if (c->under_way++ == 0)
        c->since_ms = m->now_ms;
    c->newest = e->generation;
    c->request = request;
    m->list->moved = true; /* from now on, the cursor stays on its session */
    change_flow_clear(m);
    return e;
}

void change_flow_request_undo(struct model *m, enum change_request request, struct name_list *names,
                              struct slice id)
{
    change_flow_clear(m);
    m->pending_change->titles = names;
    change_flow_submit(m, request, id);
}

void change_flow_ask_undo(struct model *m, const char *id)
{
    change_flow_clear(m);
    struct effect *e = change_flow_submit(m, CHANGE_UNDO, slice_of(id));

    if (e)
        e->asks = true;
}

void change_flow_request_names(struct model *m, enum change_request request,
                               struct name_list *names)
{
    change_flow_request_undo(m, request, names, (struct slice){ 0 });
}

void change_flow_request_fix(struct model *m, struct ref_list *session)
{
    change_flow_clear(m);
    m->pending_change->refs = session;
    if (session)
        change_flow_submit(m, CHANGE_FIX, (struct slice){ 0 });
    else
        change_flow_fail(m);
}

void change_flow_request_sweep(struct model *m, struct sweep *sweep)
{
    change_flow_clear(m);
    struct effect *e = change_flow_submit(m, CHANGE_SWEEP, (struct slice){ 0 });

    if (e) {
        e->sweep = sweep;
        return;
    }
    sweep_fini(sweep);
    free(sweep);
}

void change_flow_request_prune(struct model *m, size_t records, size_t snapshots)
{
    change_flow_clear(m);
    struct effect *e = change_flow_submit(m, CHANGE_PRUNE, (struct slice){ 0 });

    if (e) {
        e->n = records;
        e->first = snapshots;
    }
}

static bool is_blank_text(struct slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != ' ')
            return false;
    return true;
}

static const char *rename_to(struct model *m, struct slice title)
{
    if (is_blank_text(title))
        return "a title cannot be empty";
    if (agent_flow_wants(m, ACT_RENAME))
        agent_flow_begin(m, CHANGE_RENAME, title);
    else
        change_flow_submit(m, CHANGE_RENAME, title);
    return NULL;
}

static const char *tag_with(struct model *m, struct slice tag)
{
    change_flow_submit(m, CHANGE_TAG, is_blank_text(tag) ? (struct slice){ 0 } : tag);
    return NULL;
}

static void begin_tag(struct model *m)
{
    const struct session_row *row = single_row(m);
    char label[PROMPT_TEXT];

    if (m->pending_change->refs->n == 1)
        snprintf(label, sizeof label,
                 row && row->tag.n ? "tags (a, b; empty: none) " : "tags (a, b) ");
    else
        snprintf(label, sizeof label, "tags (a, b) for %zu sessions ", m->pending_change->refs->n);
    dialog_prompt(m, label, row ? row->tag : (struct slice){ 0 }, tag_with);
}

/* ---- at a message ---- */

/* The effect names the message, not the titles. */
static bool name_message(struct model *m)
{
    struct pending_change *c = m->pending_change;
    const char *text = c->message;

    name_list_free(c->titles);
    c->titles = name_list_new();
    if (c->titles && name_list_add(c->titles, slice_of(text)))
        return true;
    change_flow_fail(m);
    return false;
}

static const char *fork_as(struct model *m, struct slice title)
{
    if (name_message(m))
        change_flow_submit(m, CHANGE_FORK, is_blank_text(title) ? (struct slice){ 0 } : title);
    return NULL;
}

static void fork_answer(struct model *m, enum dialog_choice choice)
{
    if (choice == CHOICE_DO)
        fork_as(m, SLICE(""));
    else
        change_flow_clear(m);
}

static void begin_fork(struct model *m, bool here)
{
    const struct pending_change *c = m->pending_change;
    const struct store *st = c->refs->n ? c->refs->ref[0].store : NULL;
    const char *nameless = st ? store_unsupported_reason(st->ops, CAN_NAME_FORK) : NULL;
    char title[LINE_EDITOR_MAX];

    if (nameless) {
        /* If copies have no title in this system, no title is requested. */
        struct dialog *d = m->dialog;

        dialog_begin(d, here ? "Fork up to here?" : "Fork this session?", fork_answer);
        dialog_line(d, "The original session is not changed.");
        dialog_line(d, "The fork gets no title: %s.", nameless);
        dialog_offer(d, CHOICE_CANCEL, "cancel");
        dialog_offer(d, CHOICE_DO, "fork");
        view_push(m, VIEW_DIALOG);

        return;
    }
    int n = snprintf(title, sizeof title, "%.*s (fork)", SLICE_ARG(c->titles->name[0]));

    if (n < 0 || n >= (int)sizeof title)
        n = 0;
    dialog_prompt(m, here ? "title of the fork up to here " : "title of the fork ",
                  (struct slice){ title, (size_t)n }, fork_as);
}

static void resume_at_answer(struct model *m, enum dialog_choice choice)
{
    if (choice != CHOICE_DO)
        change_flow_clear(m);
    else if (name_message(m))
        change_flow_submit(m, CHANGE_RESUME_AT, (struct slice){ 0 });
}

static void begin_at_message(struct model *m, enum action a)
{
    struct id128 id;
    int64_t time_ms;

    if (!transcript_view_message(m->viewer, &id, &time_ms)) {
        toast_note(&m->toast, m->now_ms, "%s: there is no message here", action_title(a));
        change_flow_clear(m);
        return;
    }
    /* The id as text. (An id that is not a UUID has no text here, and the system will report an unknown message.) */
    snprintf(m->pending_change->message, sizeof m->pending_change->message,
             "%08x-%04x-%04x-%04x-%012llx", (unsigned)(id.hi >> 32),
             (unsigned)(id.hi >> 16 & 0xffff), (unsigned)(id.hi & 0xffff), (unsigned)(id.lo >> 48),
             (unsigned long long)(id.lo & 0xffffffffffffu));
    if (a == ACT_FORK_AT)
        begin_fork(m, true);
    else {
        struct dialog *d = m->dialog;

        dialog_begin(d, "Resume after this message?", resume_at_answer);
        dialog_line(d, "The session continues after this message, in the same file.");
        dialog_line(d, "The messages after it are kept as another branch.");
        dialog_offer(d, CHOICE_CANCEL, "cancel");
        dialog_offer(d, CHOICE_DO, "resume here");
        view_push(m, VIEW_DIALOG);
    }
}

/* ---- the ways in ---- */

static void begin_change(struct model *m, enum action a)
{
    char label[PROMPT_TEXT];

    if (m->pending_change->under_way == CHANGES_MAX) {
        toast_note(&m->toast, m->now_ms, "%zu changes are still being made: please wait",
                   m->pending_change->under_way);
        m->toast.absorbs = action_prompts(a);
        return;
    }
    if (a == ACT_UNDO || a == ACT_REDO) {
        change_flow_request_undo(m, a == ACT_UNDO ? CHANGE_UNDO : CHANGE_REDO, NULL, SLICE(""));
        return;
    }
    if (!collect_selection(m, a))
        return;
    bool by_agent = agent_flow_wants(m, a);

    if (!m->pending_change->refs) { /* refused */
        m->toast.absorbs = action_prompts(a);
        return;
    }
    enum change_request archive =
        m->pending_change->all_archived ? CHANGE_UNARCHIVE : CHANGE_ARCHIVE;

    if (by_agent && a != ACT_RENAME) {
        agent_flow_begin(m, a == ACT_TRASH ? CHANGE_TRASH : archive, (struct slice){ 0 });
        return;
    }
    switch (a) {
    case ACT_RENAME: {
        const struct session_row *row = single_row(m);
        struct slice title =
            row ? (row->custom_title.n ? row->custom_title : row->summary) : (struct slice){ 0 };

        if (m->pending_change->refs->n == 1)
            snprintf(label, sizeof label, "title ");
        else
            snprintf(label, sizeof label, "title for %zu sessions ", m->pending_change->refs->n);
        dialog_prompt(m, label, title, rename_to);
    } break;
    case ACT_TAG: begin_tag(m); break;
    case ACT_PIN:
        change_flow_submit(m, m->pending_change->all_pinned ? CHANGE_UNPIN : CHANGE_PIN,
                           (struct slice){ 0 });
        break;
    case ACT_KEEP:
        change_flow_submit(m, m->pending_change->all_kept ? CHANGE_PUT_BACK : CHANGE_KEEP,
                           (struct slice){ 0 });
        break;
    case ACT_TRASH: delete_flow_begin(m); break;
    case ACT_CONTINUE_IN: agent_flow_begin(m, CHANGE_CONTINUE_IN, (struct slice){ 0 }); break;
    case ACT_BUNDLE: carry_flow_ask_file(m); break;
    case ACT_FORK: begin_fork(m, false); break;
    case ACT_FORK_AT:
    case ACT_RESUME_AT: begin_at_message(m, a); break;
    case ACT_ARCHIVE: change_flow_submit(m, archive, (struct slice){ 0 }); break;
    default: change_flow_clear(m); break;
    }
}

/* ---- the row ---- */

static bool change_flow_draw_status(const struct model *m, struct frame *f, struct rect r)
{
    const struct pending_change *c = m->pending_change;
    int x = r.x + 1;

    if (c->under_way == 0 || !frame_spinner_shows(c->since_ms, m->now_ms))
        return false;
    x += frame_puts(f, r.y, x, r.w - 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii)) + 1;
    frame_puts(f, r.y, x, r.x + r.w - x, STYLE_DIM, change_text_doing(c->request));
    return true;
}

static bool change_message(struct model *m, const struct msg *msg)
{
    struct pending_change *c = m->pending_change;
    bool is_estimate = c->estimating != 0 && msg->generation == c->estimating;

    switch (msg->kind) {
    case MSG_CHANGED:
        change_flow_finish(m, msg->u.changed, msg->generation);
        change_result_free(msg->u.changed);
        return true;
    case MSG_DELETE_ESTIMATE:
        if (is_estimate)
            delete_flow_estimate(m, &msg->u.usage);
        return true;
    case MSG_FAILED:
        if (c->under_way > 0 && msg->generation == c->newest) {
            c->under_way--;
            toast_error(&m->toast, &msg->u.error);
            return true;
        }
        return is_estimate; /* the question keeps the numbers it has */
    default: return false;
    }
}

static bool perform_change(struct model *m, enum action a)
{
    switch (a) {
    case ACT_FORK:
        if (list_session_forks_in_agent(m))
            resume_flow_begin(m, a, NULL);
        else
            begin_change(m, a);
        return true;
    case ACT_FORK_AT:
    case ACT_RESUME_AT:
    case ACT_RENAME:
    case ACT_TAG:
    case ACT_PIN:
    case ACT_ARCHIVE:
    case ACT_KEEP:
    case ACT_CONTINUE_IN:
    case ACT_BUNDLE:
    case ACT_TRASH:
    case ACT_UNDO:
    case ACT_REDO: begin_change(m, a); return true;
    default: return false;
    }
}

static int64_t change_wake_ms(const struct model *m)
{
    const struct pending_change *c = m->pending_change;

    return c->under_way > 0 ? frame_spinner_wake_ms(c->since_ms, m->now_ms) : TIME_NONE;
}

const struct view_ops view_change_flow = {
    .name = "change",
    .perform = perform_change,
    .message = change_message,
    .wake_ms = change_wake_ms,
    .status = change_flow_draw_status,
};
