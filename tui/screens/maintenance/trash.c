#include "tui/screens/maintenance/maintenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/filter/fold.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

static struct list_area trash_area(const struct model *m)
{
    int h = trash_view_layout(m->rows, m->cols).rows.h;

    return (struct list_area){ { TRASH_HEAD_H, 0, h > 1 ? h : 1, m->cols },
                               trash_view_count(m->trash) };
}

static void forget_list(struct trash_view *v)
{
    if (v->list)
        trash_list_fini(v->list);
    free(v->list);
    free(v->ticked);
    ref_list_free(v->refs);
    v->list = NULL;
    v->ticked = NULL;
    v->refs = NULL;
    v->error = (struct err){ 0 };
}

void trash_view_fini(struct trash_view *v)
{
    forget_list(v);
    name_list_free(v->emptied);
    transcript_view_free(v->view);
    *v = (struct trash_view){ .pick = v->pick };
}

static const char *trash_unavailable(const struct model *m, enum action a)
{
    switch (a) {
    case ACT_MARK:
    case ACT_MARK_UP:
    case ACT_MARK_ALL:
    case ACT_RESTORE:
    case ACT_SEARCH:
    case ACT_EMPTY: return trash_view_count(m->trash) > 0 ? NULL : "the trash is empty";
    case ACT_REFRESH: return NULL;
    case ACT_SEARCH_NEXT:
    case ACT_SEARCH_PREV: return m->trash->sought[0] ? NULL : "no search yet: press /";
    default: return list_session_unavailable(m, a, LIST_NO_SESSION);
    }
}

/* ---- the contents ---- */

/* The preview, if it fits, shows the selected session. */
static void trash_follow(struct model *m)
{
    struct trash_view *v = m->trash;
    struct trash_layout l = trash_view_layout(m->rows, m->cols);
    struct rect r = trash_view_conversation(&l);
    const struct trash_item *item =
        v->pick.at < trash_view_count(v) ? &v->list->item[v->pick.at] : NULL;
    const struct session_ref *ref = NULL;

    for (size_t i = 0; item && v->refs && i < v->refs->n && !ref; i++)
        ref = v->refs->entry[i] == v->pick.at ? &v->refs->ref[i] : NULL;
    if (!ref || l.preview.w == 0) {
        if (v->view)
            transcript_view_close(v->view, &m->fx);
        v->viewed[0] = '\0';
        return;
    }
    if (!v->view)
        v->view = transcript_view_new(m->settings, REQUESTER_TRASH);
    if (v->view && strcmp(v->viewed, item->trash_id) != 0 &&
        transcript_view_open(v->view, ref, slice_of(item->title),
                             slice_of(item->dir ? item->dir : ""), &m->fx))
        snprintf(v->viewed, sizeof v->viewed, "%s", item->trash_id);
    if (v->view)
        transcript_view_resize(v->view, r.h, r.w, &m->fx);
}

static void trash_move_to(struct model *m, int64_t at)
{
    list_cursor_move(&m->trash->pick, trash_area(m), at);
    trash_follow(m);
}

static void request_trash(struct model *m)
{
    m->trash->asked = effect_add(&m->fx, EFFECT_TRASH, REQUESTER_TRASH)->generation;
}

static bool trash_perform(struct model *m, enum action a)
{
    if (a != ACT_TRASHED)
        return false;
    if (view_base(m) != VIEW_TRASH) {
        m->trash->pick = (struct list_cursor){ 0 };
        view_push(m, VIEW_TRASH);
        request_trash(m);
    }
    return true;
}

static void trash_refresh(struct model *m)
{
    if (view_base(m) == VIEW_TRASH)
        request_trash(m);
}

/* The cursor and the ticks stay with their sessions; ticks are lost if out of memory. */
static void trash_take_list(struct model *m, struct trash_list *list, struct ref_list *refs)
{
    struct trash_view *v = m->trash;
    bool *ticked = calloc(list->n + 1, sizeof *ticked), ok = ticked;
    struct slice_set ids = { 0 };
    size_t at = list->n;
    uint32_t number;

    for (size_t i = 0; ok && i < list->n; i++)
        ok = !slice_set_add(&ids, slice_of(list->item[i].trash_id), &number) && number == i;
    for (size_t i = 0; ok && i < trash_view_count(v); i++) {
        const bool picked = i == v->pick.at, was_ticked = trash_view_ticked(v, i);
        size_t place = list->n; /* of an item that is gone */

        if (picked || was_ticked) {
            const uint32_t found = slice_set_find(&ids, slice_of(v->list->item[i].trash_id));

            place = found == SLICE_SET_NONE ? list->n : found;
        }
        at = picked ? place : at;
        ticked[place] |= was_ticked;
    }
    slice_set_fini(&ids);
    forget_list(v);
    v->list = list;
    v->refs = refs;
    v->ticked = ticked;
    v->pick.at = at < list->n ? at : v->pick.at;
    if (!ok)
        toast_no_memory(&m->toast);
}

static bool trash_message(struct model *m, const struct msg *msg)
{
    struct trash_view *v = m->trash;

    if (v->view && transcript_view_msg(v->view, msg, &m->fx))
        return true;
    if (msg->kind == MSG_FILES_CHANGED && msg->u.logged)
        trash_refresh(m);
    if (!msg_answers(msg, v->asked, MSG_TRASH))
        return false;
    if (msg->kind == MSG_TRASH) {
        trash_take_list(m, msg->u.trash.list, msg->u.trash.refs);
    } else {
        forget_list(v);
        v->error = msg->u.error;
    }
    v->asked = 0;
    trash_move_to(m, (int64_t)v->pick.at);
    return true;
}

/* ---- keys ---- */

enum which { ONE, TICKED, ALL };

static struct name_list *chosen_names(const struct trash_view *v, enum which which)
{
    struct name_list *names = name_list_new();

    for (size_t i = 0; names && i < trash_view_count(v); i++) {
        bool meant = which == ALL || (which == TICKED ? trash_view_ticked(v, i) : i == v->pick.at);

        if (meant && !name_list_add(names, slice_of(v->list->item[i].trash_id))) {
            name_list_free(names);
            names = NULL;
        }
    }
    return names;
}

static void maintenance_trash_restore(struct model *m)
{
    struct name_list *names = chosen_names(m->trash, trash_view_ticks(m->trash) > 0 ? TICKED : ONE);

    if (names)
        change_flow_request_names(m, CHANGE_RESTORE, names);
    else
        toast_no_memory(&m->toast);
}

static void join_answer(struct model *m, enum dialog_choice choice)
{
    struct name_list *names = choice == CHOICE_DO ? name_list_new() : NULL;

    if (choice != CHOICE_DO)
        return;
    if (names && name_list_add(names, slice_of(m->trash->joining))) {
        change_flow_request_names(m, CHANGE_JOIN, names);
        return;
    }
    name_list_free(names);
    toast_no_memory(&m->toast);
}

void trash_view_ask_join(struct model *m, const struct change_result *c)
{
    struct dialog *d = m->dialog;

    snprintf(m->trash->joining, sizeof m->trash->joining, "%s", c->id);
    dialog_begin(d, "A newer transcript is in its place. Join the two?", join_answer);
    dialog_line(d, "%s", c->where);
    dialog_line(d, "A program continued this session after it was deleted.");
    dialog_line(d,
                "The deleted messages go in front of the newer ones, and stay in the trash too.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "join them");
    view_push(m, VIEW_DIALOG);
}

/* Only the items that the question named are removed: sessions that were deleted since then stay in the trash. */
static void empty_answer(struct model *m, enum dialog_choice choice)
{
    struct name_list *names = m->trash->emptied;

    m->trash->emptied = NULL;
    if (choice == CHOICE_DO && names)
        change_flow_request_names(m, CHANGE_EMPTY, names);
    else
        name_list_free(names);
}

static void confirm_empty(struct model *m)
{
    struct trash_view *v = m->trash;
    struct dialog *d = m->dialog;
    size_t ticked = trash_view_ticks(v), n = ticked ? ticked : trash_view_count(v);
    char size[HUMAN_SIZE], title[DIALOG_TEXT];

    name_list_free(v->emptied);
    v->emptied = chosen_names(v, ticked ? TICKED : ALL);
    if (!v->emptied) {
        toast_no_memory(&m->toast);
        return;
    }
    human_size(trash_view_bytes(v, ticked > 0), size);
    snprintf(title, sizeof title, "Delete %zu session%s, %s, for good?", n, n == 1 ? "" : "s",
             size);
    dialog_begin(d, title, empty_answer);
    if (ticked > 0 && trash_view_count(v) > ticked)
        dialog_line(d, "Only the marked ones: %zu more stay in the trash.",
                    trash_view_count(v) - ticked);
    dialog_line(d, "This cannot be undone.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_want_yes(d);
    view_push(m, VIEW_DIALOG);
}

static void tick_item(struct model *m, int direction)
{
    struct trash_view *v = m->trash;

    if (!v->ticked || trash_view_count(v) == 0)
        return;
    v->ticked[v->pick.at] = !v->ticked[v->pick.at];
    trash_move_to(m, (int64_t)v->pick.at + direction);
}

/* Ticks all, or unticks all if all are ticked. */
static void tick_all(struct trash_view *v)
{
    bool on = trash_view_ticks(v) < trash_view_count(v);

    for (size_t i = 0; v->ticked && i < trash_view_count(v); i++)
        v->ticked[i] = on;
}

/* ---- search ---- */

/* Selects the next match; after the last one, the first. Looks for the text in title, agent, id and directory, without regard
 * to case and accents. */
static bool trash_search_step(struct model *m, int direction)
{
    const struct trash_view *v = m->trash;
    const size_t n = trash_view_count(v), step = direction > 0 ? 1 : n - 1;

    for (size_t k = 1, i = v->pick.at; k <= n; k++) {
        i = (i + step) % n;
        const struct trash_item *item = &v->list->item[i];
        AUTO_BUF text = { 0 };
        char dir[512];
        struct slice place = trash_view_folder_of(m, item, dir, sizeof dir);

        if (buf_addf(&text, "%s\n%s\n%s\n%.*s", item->title, item->system, item->session,
                     SLICE_ARG(place)) ||
            !fold_has(buf_slice(&text), v->sought))
            continue;
        trash_move_to(m, (int64_t)i);
        return true;
    }
    return false;
}

static const char *trash_search(struct model *m, struct slice text)
{
    struct trash_view *v = m->trash;

    if (text.n >= sizeof v->sought || memchr(text.p, '\0', text.n))
        return "the text is too long";
    snprintf(v->sought, sizeof v->sought, "%.*s", SLICE_ARG(text));
    return text.n == 0 || trash_search_step(m, 1) ? NULL : "no session in the trash has this";
}

/* One step back clears the marks first, as in the list. */
static void trash_step_back(struct model *m)
{
    struct trash_view *v = m->trash;

    if (trash_view_ticks(v) > 0) {
        memset(v->ticked, 0, trash_view_count(v) * sizeof *v->ticked);
        return;
    }
    view_pop(m);
    if (v->view)
        transcript_view_close(v->view, &m->fx);
    trash_view_fini(v);
    v->asked = 0;
}

static void trash_scroll(struct model *m, int direction)
{
    int h = trash_view_layout(m->rows, m->cols).preview.h;

    if (m->trash->view)
        transcript_view_scroll(m->trash->view, direction * (h > 2 ? h / 2 : 1), &m->fx);
}

static bool trash_act(struct model *m, enum action a)
{
    struct trash_view *v = m->trash;

    switch (a) {
    case ACT_RESTORE: maintenance_trash_restore(m); return true;
    case ACT_EMPTY: confirm_empty(m); return true;
    case ACT_MARK: tick_item(m, 1); return true;
    case ACT_MARK_UP: tick_item(m, -1); return true;
    case ACT_MARK_ALL: tick_all(v); return true;
    case ACT_REFRESH: request_trash(m); return true;
    case ACT_SEARCH: dialog_prompt(m, "find ", slice_of(v->sought), trash_search); return true;
    case ACT_SEARCH_NEXT: trash_search_step(m, 1); return true;
    case ACT_SEARCH_PREV: trash_search_step(m, -1); return true;
    case ACT_BACK: trash_step_back(m); return true;
    case ACT_PREVIEW_UP: trash_scroll(m, -1); return true;
    case ACT_PREVIEW_DOWN: trash_scroll(m, 1); return true;
    default:
        if (!list_cursor_act(&v->pick, trash_area(m), a))
            return false;
        trash_follow(m);
        return true;
    }
}

/* A click only selects a session; a key restores it. */
static void trash_mouse(struct model *m, struct mouse event)
{
    list_cursor_mouse(&m->trash->pick, trash_area(m), event);
    trash_follow(m);
}

static void trash_resized(struct model *m)
{
    trash_move_to(m, (int64_t)m->trash->pick.at);
}

const struct view_ops view_trash = {
    .name = "trash",
    .context = IN_TRASH,
    .draw = trash_view_draw,
    .act = trash_act,
    .perform = trash_perform,
    .unavailable = trash_unavailable,
    .message = trash_message,
    .refresh = trash_refresh,
    .mouse = trash_mouse,
    .resized = trash_resized,
};
