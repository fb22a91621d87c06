#include "tui/screens/list/list.h"
#include "tui/app/view.h"
#include "tui/widgets/list_cursor.h"

#include <stdlib.h>
#include <string.h>

/* How long the selection must rest before the preview follows, so that a held key does not read
 * every session on its way. */
enum { FOLLOW_MS = 60 };

bool list_init(struct list *l, const struct settings *settings, const int64_t *now_ms,
               struct effects *fx)
{
    *l = (struct list){
        .settings = settings,
        .now_ms = now_ms,
        .scope = settings->scope,
        .sort = settings->sort,
        .density = settings->density,
        .preview = settings->preview,
        .selected = ENTRY_NONE,
        .sought = ENTRY_NONE,
        .viewed = ENTRY_NONE,
        .displaced = ENTRY_NONE,
        .moved_ms = TIME_NONE,
        .asked_ms = TIME_NONE,
        .shown_ms = TIME_NONE,
        .view_ms = TIME_NONE,
        .busy_since = TIME_NONE,
        .refresh_ms = TIME_NONE,
        .reorder_ms = TIME_NONE,
        .content.ask_ms = TIME_NONE,
        .content.preview_entry = ENTRY_NONE,
    };
    line_editor_set(&l->query, settings->query);
    l->view = transcript_view_new(settings, REQUESTER_PREVIEW);
    if (!l->view)
        return false;

    /* Both remain the same sessions when the entries change. */
    list_track(l, &l->selected);
    list_track(l, &l->viewed);
    list_start(l, fx);
    l->changing = false;
    l->asked_ms = TIME_NONE;
    return true;
}

void list_fini(struct list *l)
{
    transcript_view_free(l->view);
    filter_fini(&l->filter); /* before the rows that it borrows */
    order_fini(&l->order);
    order_forks_fini(&l->fork_tree);
    session_table_fini(&l->sessions);
    list_content_fini(l);
    problem_list_free(l->problems);
    arena_fini(&l->tracked_paths);
    free(l->marked);
}

void list_track(struct list *l, uint32_t *entry)
{
    if (l->tracked_n < LIST_TRACKED_MAX)
        l->held[l->tracked_n++].entry = entry;
}

void list_untrack(struct list *l, uint32_t *entry)
{
    *entry = ENTRY_NONE;
    for (size_t i = 0; i < l->tracked_n; i++)
        if (l->held[i].entry == entry)
            l->held[i].path = (struct slice){ 0 };
}

void list_follow(struct list *l, struct effects *fx)
{
    if (l->selected == ENTRY_NONE && l->viewed != ENTRY_NONE) {
        transcript_view_close(l->view, fx);
        l->viewed = ENTRY_NONE;
    }
    bool visible = list_layout(l, l->rows, l->cols).preview.w > 0;

    if (l->selected == l->viewed || !visible)
        l->view_ms = TIME_NONE;
    else if (l->view_ms == TIME_NONE || l->viewed != ENTRY_NONE)
        l->view_ms = l->viewed == ENTRY_NONE ? *l->now_ms : *l->now_ms + FOLLOW_MS;
}

static bool was_a_moment_ago(const struct list *l, int64_t at_ms)
{
    return at_ms != TIME_NONE && *l->now_ms - at_ms < LIST_MOMENT_MS;
}

/* Another session is under the cursor now, which was not moved. */
static void note_displaced(struct list *l, uint32_t before)
{
    const bool chosen = !l->filter.quiet || l->changing;

    if (chosen)
        l->displaced = ENTRY_NONE;
    else if (before != ENTRY_NONE && !was_a_moment_ago(l, l->came_ms)) {
        l->displaced = before;
        l->displaced_ms = *l->now_ms;
    }
    l->came_ms = *l->now_ms;
}

/* Puts the cursor on a place, which exists. */
static void put_cursor(struct list *l, size_t at, struct effects *fx)
{
    const uint32_t before = l->selected;

    if (l->filter.hits == 0) {
        l->selected = ENTRY_NONE;
        l->at = l->top = 0;
    } else {
        l->at = at < l->filter.hits ? at : l->filter.hits - 1;
        l->selected = l->filter.hit[l->at];
        l->top =
            list_cursor_top(l->top, l->at, l->filter.hits, list_layout(l, l->rows, l->cols).items);
        if (l->shown_ms == TIME_NONE)
            l->shown_ms = *l->now_ms;
    }
    if (l->selected != before)
        note_displaced(l, before);
    list_follow(l, fx);
}

void list_move_to(struct list *l, size_t at, struct effects *fx)
{
    l->moved = true;
    l->moved_ms = *l->now_ms;
    l->move_by = 0;
    l->seek[0] = '\0';
    put_cursor(l, at, fx);
    l->displaced = ENTRY_NONE;
}

/* Returns true if the person has typed and waits for the matches. */
static bool filter_is_awaited(const struct list *l)
{
    return !l->filter.quiet && filter_pending(&l->filter);
}

/* The first rows of a scope are any of its sessions. They have just appeared, and others are still being read. */
static bool rows_are_new(const struct list *l)
{
    return !l->moved && !l->read_once && !list_settled(l) &&
           (l->shown_ms == TIME_NONE || was_a_moment_ago(l, l->shown_ms));
}

bool list_is_ahead(const struct list *l)
{
    return l->move_by != 0 ? rows_are_new(l)
                           : !l->moved && !l->read_once && !list_settled(l) &&
                                 l->displaced == ENTRY_NONE && was_a_moment_ago(l, l->came_ms);
}

/* Until the sessions have been listed to their end, what leads beyond the last known one is kept:
 * keys typed ahead of the first rows are not lost. */
static void move_now(struct list *l, struct effects *fx)
{
    int64_t at = (int64_t)l->at + l->move_by;
    int64_t last = l->filter.hits > 0 ? (int64_t)l->filter.hits - 1 : 0;

    if (l->move_by == 0)
        return;
    list_move_to(l, at < 0 ? 0 : (size_t)at, fx);
    if (!l->listed_once && !l->replace && at > last)
        l->move_by = at - last;
}

void list_move(struct list *l, int64_t by, struct effects *fx)
{
    l->move_by += by;
    if (!filter_is_awaited(l) && !rows_are_new(l))
        move_now(l, fx);
}

static bool find_hit(const struct list *l, uint32_t entry, size_t *at)
{
    for (size_t i = 0; i < l->filter.hits; i++)
        if (l->filter.hit[i] == entry) {
            *at = i;
            return true;
        }
    return false;
}

static bool was_displaced(const struct list *l)
{
    return l->displaced != ENTRY_NONE && was_a_moment_ago(l, l->displaced_ms);
}

void list_aim(struct list *l, struct effects *fx)
{
    size_t at;

    move_now(l, fx);
    if (was_displaced(l) && find_hit(l, l->displaced, &at))
        list_move_to(l, at, fx);
    l->moved |= l->selected != ENTRY_NONE;
}

bool list_aims_at_gone(const struct list *l)
{
    return was_displaced(l) && !session_table_is_listed(&l->sessions, l->displaced);
}

/* A session that was just made is selected as soon as it is listed, unless the person has moved the
 * cursor since. */
static void find_sought(struct list *l)
{
    for (size_t i = 0; l->seek[0] && i < l->filter.hits; i++) {
        struct slice id = l->sessions.entry[l->filter.hit[i]].ref.id;

        if (!slice_eq(id, slice_of(l->seek)))
            continue;
        l->selected = l->filter.hit[i];
        l->moved = true;
        l->seek[0] = '\0';
    }
}

/* After sorting or filtering, the same session stays selected if it is still shown; otherwise the
 * first one is. */
static void keep_selection(struct list *l, struct effects *fx)
{
    uint32_t wanted = l->sought != ENTRY_NONE ? l->sought : l->selected;
    bool rests = l->filter.quiet && l->read_once && !was_a_moment_ago(l, l->came_ms);
    bool pending = filter_pending(&l->filter), wants = (l->moved || rests) && wanted != ENTRY_NONE;
    size_t at = 0;
    bool found = wants && find_hit(l, wanted, &at);

    if (!pending)
        l->sought = ENTRY_NONE;
    /* Rows that come in above scroll away, except above the first one, where new sessions are looked for. */
    if (found && l->filter.quiet && l->at > 0)
        l->top = l->top + at >= l->at ? l->top + at - l->at : 0;
    /* If its file is gone, its neighbour is selected; if it was filtered out, the best match. A session that was archived
     * is found by queries only. */
    if (!found && wants &&
        (!session_table_is_listed(&l->sessions, wanted) ||
         (l->filter.query.n == 0 && l->filter.slot[wanted].archived)))
        at = l->at;
    else if (!found && !pending)
        l->moved = false;
    put_cursor(l, at, fx);
}

static bool marks_reserve(struct list *l)
{
    if (l->marked_cap >= l->sessions.n)
        return true;
    size_t cap = l->sessions.cap;
    bool *marked = realloc(l->marked, cap * sizeof *marked);

    if (!marked)
        return false;
    memset(marked + l->marked_cap, 0, (cap - l->marked_cap) * sizeof *marked);
    l->marked = marked;
    l->marked_cap = cap;
    return true;
}

void list_filter_more(struct list *l, struct effects *fx)
{
    if (filter_step(&l->filter, l->marks > 0 && marks_reserve(l) ? l->marked : NULL)) {
        find_sought(l);
        keep_selection(l, fx);
    }
    if (!filter_pending(&l->filter) && !rows_are_new(l))
        move_now(l, fx);
}

void list_filter_finish(struct list *l, struct effects *fx)
{
    while (filter_is_awaited(l))
        list_filter_more(l, fx);
}

static void start_filter(struct list *l, bool quiet, struct effects *fx)
{
    /* The person still waits for a typed filter that is not finished. */
    quiet = quiet && (l->filter.quiet || !filter_pending(&l->filter));
    l->filter.quiet = quiet;
    if (!quiet && l->sought == ENTRY_NONE)
        l->sought = l->moved ? l->selected : ENTRY_NONE;
    struct slice text = line_editor_text(&l->query);
    const uint32_t *entry = l->order.entry;
    size_t n = l->order.n;

    if (query_content_at(text) < text.n && l->content.sessions + l->content.text.n > 0) {
        entry = list_content_entries(l, &n);
        filter_invalidate(&l->filter);
    }
    /* An order that the person chose is kept while filtering. */
    if (!filter_start(&l->filter, text, entry, n, *l->now_ms, l->sort == SORT_RECENT && !l->tree))
        l->filter.hits = 0;
    list_filter_more(l, fx);
}

void list_query_changed(struct list *l, struct effects *fx)
{
    l->completed = (struct list_completion){ 0 };
    move_now(l, fx); /* among the known previous matches */
    l->move_by = 0;
    if (l->query.n == 0) /* what was found stays selected in the whole list */
        l->moved |= l->selected != ENTRY_NONE;
    start_filter(l, false, fx);
    list_content_typed(l, fx);
}

static void sort_and_filter(struct list *l, bool quiet, struct effects *fx)
{
    l->reorder_ms = TIME_NONE;
    l->rebuilt++;
    if (!order_make(&l->order, &l->sessions, &l->filter, l->sort))
        return;
    l->bytes = l->order.bytes;
    if (l->tree)
        order_forks_arrange(&l->fork_tree, &l->sessions, l->order.entry, l->order.n);
    else
        order_forks_fini(&l->fork_tree);
    filter_invalidate(&l->filter);
    l->filter.busy = true;
    start_filter(l, quiet, fx);
}

void list_rebuild(struct list *l, struct effects *fx)
{
    sort_and_filter(l, true, fx);
}

void list_arrange(struct list *l, struct effects *fx)
{
    if (l->order.n > 0 && !l->changing && was_a_moment_ago(l, l->moved_ms))
        l->reorder_ms = l->moved_ms + LIST_MOMENT_MS;
    else
        list_rebuild(l, fx);
}

void list_sort(struct list *l, enum sort_kind sort, struct effects *fx)
{
    l->sort = sort;
    l->next_disk_usage = 0;
    l->moved |= l->selected != ENTRY_NONE;
    sort_and_filter(l, false, fx);
}

void list_set_tree(struct list *l, bool tree, struct effects *fx)
{
    l->tree = tree;
    sort_and_filter(l, false, fx);
}

void list_set_density(struct list *l, enum density density, struct effects *fx)
{
    l->density = density;
    put_cursor(l, l->at, fx);
}

void list_fit_preview(struct list *l, struct effects *fx)
{
    struct list_layout lay = list_layout(l, l->rows, l->cols);
    struct rect r = list_conversation_rect(l, &lay);

    if (lay.preview.w > 0)
        transcript_view_resize(l->view, r.h, r.w, fx);
}

void list_set_preview(struct list *l, enum preview_mode mode, struct effects *fx)
{
    l->preview = mode;
    list_fit_preview(l, fx);
    put_cursor(l, l->at, fx);
}

void list_resize(struct model *m)
{
    struct list *l = m->list;

    l->rows = m->rows;
    l->cols = m->cols;
    list_fit_preview(l, &m->fx);
    put_cursor(l, l->at, &m->fx);
}

void list_mark(struct list *l, uint32_t entry, bool on)
{
    if (!marks_reserve(l) || l->marked[entry] == on)
        return;
    l->marked[entry] = on;
    l->marks = on ? l->marks + 1 : l->marks - 1;
}

void list_unmark_all(struct list *l)
{
    if (l->marked)
        memset(l->marked, 0, l->marked_cap * sizeof *l->marked);
    l->marks = 0;
}
