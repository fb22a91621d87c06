#include "tui/app/view.h"
#include "tui/screens/list/list.h"
#include "tui/widgets/frame.h"

/* Fills the list: a listing delivers names, sizes and times in batches; then sessions are
 * described, those on the screen first. A few questions are under way at once, so that no worker is
 * idle. */
enum {
    FIRST_ROWS = 64,    /* described first: the rows on the screen, rounded up */
    MORE_ROWS = 256,    /* described at a time after that */
    FIRST_ORDER_MS = 8, /* if a folder takes longer to list, the part read so far is shown */
    REORDER_MS = 120,   /* arriving rows are sorted in at this interval */
    REFRESH_MS = 250,   /* changed files are read at this interval */
};

/* Details of described rows: the disk usage of a session with the files beside its transcript, and
 * a title or tag in the middle of a long transcript. Both are too expensive for a row, so they are
 * requested last, when no other question is open, and for the rows on the screen first. Disk usage
 * is requested for all sessions only if the list is sorted by it. Whether a resume restores the whole conversation is
 * checked for rows on the screen only. */
enum { DISK_USAGE_ROWS = 64, FULL_SCAN_ROWS = 8 };

static void add_details_ref(struct list *l, struct ref_list *refs, uint32_t i, bool full_scan,
                            bool visible)
{
    struct session_entry *e = &l->sessions.entry[i];
    const struct store_ops *ops = e->ref.store->ops;

    if (!e->row || e->stale || e->gone || (full_scan ? e->fully_scanned : e->has_disk_usage))
        return;
    /* A scan finds a title, or what only the visible rows show. */
    if (full_scan && !session_wants_title(e->row) &&
        !(visible && (ops->full_scan || ops->reconnect) && e->ref.file.size <= FULL_SCAN_LOADS))
        return;
    if (!ref_list_add(refs, &e->ref, i))
        return;
    if (full_scan)
        e->fully_scanned = true;
    else
        e->has_disk_usage = true;
}

static void choose_details_refs(struct list *l, struct ref_list *refs, bool full_scan)
{
    const size_t most = full_scan ? FULL_SCAN_ROWS : DISK_USAGE_ROWS;
    const bool all = full_scan || l->sort == SORT_SIZE;
    size_t *next = full_scan ? &l->next_full_scan : &l->next_disk_usage;

    for (size_t i = l->top; i < l->filter.hits && i < l->top + DISK_USAGE_ROWS && refs->n < most;
         i++)
        add_details_ref(l, refs, l->filter.hit[i], full_scan, true);
    while (all && refs->n < most && *next < l->sessions.n)
        add_details_ref(l, refs, (uint32_t)(*next)++, full_scan, false);
}

static void request_details(struct list *l, bool full_scan, struct effects *fx)
{
    struct describe_job *job = full_scan ? &l->full_scan_job : &l->disk_usage_job;
    struct ref_list *refs = job->generation == 0 ? ref_list_new() : NULL;

    if (!refs)
        return;
    choose_details_refs(l, refs, full_scan);
    if (refs->n == 0) {
        ref_list_free(refs);
        return;
    }
    struct effect *e =
        effect_add(fx, full_scan ? EFFECT_FULL_SCAN : EFFECT_DISK_USAGE, REQUESTER_LIST);

    e->scope = l->scope;
    e->refs = refs;
    *job = (struct describe_job){ .generation = e->generation, .left = refs->n };
}

static void list_details_request(struct list *l, struct effects *fx)
{
    if (l->listing != 0 || l->sessions.stale > 0 || filter_pending(&l->filter))
        return;
    request_details(l, false, fx);
    request_details(l, true, fx);
}

static void end_job(struct describe_job *job, struct effects *fx)
{
    effect_cancel(fx, REQUESTER_LIST, &job->generation);
    *job = (struct describe_job){ 0 };
}

static void list_details_cancel(struct list *l, struct effects *fx)
{
    end_job(&l->disk_usage_job, fx);
    end_job(&l->full_scan_job, fx);
    l->next_disk_usage = l->next_full_scan = 0;
}

/* If the file has changed since, it is described again, and the result of the scan is outdated. */
static void set_full_scan(struct list *l, struct described *d)
{
    struct session_entry *e = &l->sessions.entry[d->entry];

    if (!d->row || e->stale || e->gone || !e->row)
        return;
    filter_set(&l->filter, d->entry, d->row->hidden == HIDDEN_NOT ? d->row : NULL);
    if (d->row->hidden == HIDDEN_NOT)
        list_widths_include(&l->widths, d->row);
    session_table_set_row(&l->sessions, d->entry, d->row);
    e->fully_scanned = true;
    d->row = NULL;
}

static void set_disk_usage(struct list *l, const struct described *d)
{
    const struct session_entry *e = &l->sessions.entry[d->entry];

    if (!e->stale && !e->gone && d->code == ERR_OK)
        session_table_set_bytes(&l->sessions, d->entry, d->bytes);
}

static bool list_details_msg(struct list *l, const struct msg *msg)
{
    bool full_scan = msg->kind == MSG_FULL_SCAN;
    struct describe_job *job = full_scan ? &l->full_scan_job : &l->disk_usage_job;
    struct described_list *rows = msg->u.described;
    bool mine = job->generation != 0 && job->generation == msg->generation, found = false;

    for (size_t i = 0; mine && i < rows->n; i++) {
        found |= full_scan ? rows->item[i].row != NULL : l->sort == SORT_SIZE;
        if (full_scan)
            set_full_scan(l, &rows->item[i]);
        else
            set_disk_usage(l, &rows->item[i]);
    }
    if (mine) {
        job->left -= rows->n < job->left ? rows->n : job->left;
        if (job->left == 0)
            *job = (struct describe_job){ 0 };
    }
    described_list_free(rows);
    return found;
}

static bool list_details_failed(struct list *l, unsigned generation)
{
    struct describe_job *const jobs[] = { &l->disk_usage_job, &l->full_scan_job };

    for (size_t i = 0; i < 2; i++)
        if (jobs[i]->generation != 0 && jobs[i]->generation == generation) {
            *jobs[i] = (struct describe_job){ 0 }; /* its rows stay as they are */
            return true;
        }
    return false;
}

/* ---- the listing and its rows ---- */

bool list_settled(const struct list *l)
{
    return l->listing == 0 && l->sessions.stale == 0 && l->reorder_ms == TIME_NONE &&
           !filter_pending(&l->filter);
}

bool list_busy(const struct list *l)
{
    return l->busy_since != TIME_NONE && frame_spinner_shows(l->busy_since, *l->now_ms);
}

static void note_work(struct list *l)
{
    bool busy = l->listing != 0 || l->content.asked != 0;

    for (int i = 0; i < DESCRIBE_JOBS; i++)
        busy |= l->job[i].generation != 0;
    if (!busy)
        l->busy_since = TIME_NONE;
    else if (l->busy_since == TIME_NONE)
        l->busy_since = *l->now_ms;
}

static void request_list(struct list *l, struct effects *fx)
{
    struct effect *e = effect_add(fx, EFFECT_LIST, REQUESTER_LIST);

    e->scope = l->scope;
    l->listing = e->generation;
    l->refresh_ms = TIME_NONE;
    note_work(l);
}

void list_start(struct list *l, struct effects *fx)
{
    l->changing = true;
    l->asked_ms = *l->now_ms;
    request_list(l, fx);
}

/* Late answers to questions about the old scope are dropped. */
static void cancel_jobs(struct list *l)
{
    for (int i = 0; i < DESCRIBE_JOBS; i++)
        l->job[i] = (struct describe_job){ 0 };
}

void list_rescope(struct list *l, enum scope_kind scope, struct effects *fx)
{
    l->scope = scope;
    l->replace = true;
    l->listed_once = l->read_once = false;
    l->worktrees = 0;
    list_fit_preview(l, fx);
    list_details_cancel(l, fx);
    request_list(l, fx);
}

/* The old scope's sessions stay on the screen until the first answer about the new one, so that no
 * empty list flashes. The selected session is found again by its path. */
static void replace_sessions(struct list *l)
{
    cancel_jobs(l);
    list_unmark_all(l);
    filter_fini(&l->filter);
    session_table_fini(&l->sessions);
    l->order.n = 0;
    l->sought = l->displaced = ENTRY_NONE;
    l->shown_ms = TIME_NONE;
    l->widths = (struct list_widths){ 0 };
    l->replace = false;
    l->rebuilt++;
}

static void keep_tracked(struct list *l)
{
    arena_fini(&l->tracked_paths);
    for (size_t i = 0; i < l->tracked_n; i++) {
        struct tracked_entry *h = &l->held[i];

        h->path = (struct slice){ 0 };
        if (*h->entry != ENTRY_NONE)
            h->path = arena_copy(&l->tracked_paths, l->sessions.entry[*h->entry].ref.path);
        *h->entry = ENTRY_NONE;
    }
}

static void find_tracked(struct list *l)
{
    for (size_t i = 0; i < l->tracked_n; i++) {
        struct tracked_entry *h = &l->held[i];

        if (h->path.p && *h->entry == ENTRY_NONE)
            *h->entry = session_table_find(&l->sessions, h->path);
        if (*h->entry != ENTRY_NONE)
            h->path = (struct slice){ 0 };
    }
}

static void see_sessions(struct list *l, const struct ref_list *refs, struct effects *fx)
{
    if (l->replace) {
        keep_tracked(l);
        list_details_cancel(l, fx); /* asked for when the scope could not be listed at first */
        replace_sessions(l);
        list_content_renumbered(l, fx);
    }
    l->sessions.all = l->scope == SCOPE_ALL;
    session_table_update(&l->sessions, refs, l->listing);
    l->next_stale = l->next_rest = 0;
    l->next_disk_usage = l->next_full_scan = 0;
    if (!filter_reserve(&l->filter, l->sessions.n))
        l->sessions.n = l->filter.slots; /* entries that cannot be filtered are not shown */
    find_tracked(l);
}

static struct describe_job *free_job(struct list *l)
{
    for (int i = 0; i < DESCRIBE_JOBS; i++)
        if (l->job[i].generation == 0)
            return &l->job[i];
    return NULL;
}

static void request_description(struct list *l, struct ref_list *refs, uint32_t i)
{
    struct session_entry *e = &l->sessions.entry[i];

    if (e->stale && !e->asked && !e->gone && ref_list_add(refs, &e->ref, i))
        e->asked = true;
}

/* First the rows on the screen, then those that follow in the list, then the rest. */
static void choose_refs(struct list *l, struct ref_list *refs)
{
    for (size_t i = l->top; i < l->filter.hits && i < l->top + FIRST_ROWS; i++)
        request_description(l, refs, l->filter.hit[i]);
    if (refs->n > 0)
        return;
    while (refs->n < MORE_ROWS && l->next_stale < l->order.n)
        request_description(l, refs, l->order.entry[l->next_stale++]);
    if (refs->n > 0)
        return;
    while (refs->n < MORE_ROWS &&
           l->next_rest < l->sessions.n) /* like a copy that may be newer now */
        request_description(l, refs, (uint32_t)l->next_rest++);
}

static bool describe_some(struct list *l, struct describe_job *job, struct effects *fx)
{
    struct ref_list *refs = ref_list_new();

    if (refs)
        choose_refs(l, refs);
    if (!refs || refs->n == 0) {
        ref_list_free(refs);
        return false;
    }
    struct effect *e = effect_add(fx, EFFECT_DESCRIBE, REQUESTER_LIST);

    e->scope = l->scope;
    e->refs = refs;
    *job = (struct describe_job){ .generation = e->generation, .left = refs->n };
    return true;
}

static void describe_more(struct list *l, struct effects *fx)
{
    struct describe_job *job;

    if (l->order.n == 0 && l->listing != 0) /* the first rows are not known yet */
        return;
    while (l->sessions.stale > 0 && (job = free_job(l)) != NULL)
        if (!describe_some(l, job, fx))
            break;
    note_work(l);
}

static void reorder_later(struct list *l)
{
    if (l->reorder_ms == TIME_NONE)
        l->reorder_ms = *l->now_ms + REORDER_MS;
}

/* Sorts now if everything has arrived, else after a moment: sorting at every answer would cost more
 * than reading, and the first sessions read from a folder are arbitrary, not the newest. */
static void reorder_soon(struct list *l, struct effects *fx)
{
    bool all = l->listing == 0 && l->sessions.stale == 0;

    if (all)
        list_arrange(l, fx);
    else if (l->order.n == 0 && l->reorder_ms == TIME_NONE)
        l->reorder_ms = *l->now_ms + FIRST_ORDER_MS;
    else
        reorder_later(l);
}

static bool handle_sessions(struct list *l, const struct msg *msg, struct effects *fx)
{
    if (msg->generation == l->listing) {
        see_sessions(l, msg->u.sessions, fx);
        if (l->order.n == 0 && msg->u.sessions->n >= FIRST_ROWS)
            list_rebuild(l, fx); /* a screen full, while others are still being found */
        else
            reorder_soon(l, fx);
        describe_more(l, fx);
    }
    ref_list_free(msg->u.sessions);
    return true;
}

/* A mark on a session that is gone would be counted but have no effect. */
static void unmark_gone(struct list *l)
{
    for (uint32_t i = 0; l->marks > 0 && i < l->marked_cap && i < l->sessions.n; i++)
        if (l->sessions.entry[i].gone)
            list_mark(l, i, false);
}

static bool handle_listed(struct list *l, const struct msg *msg, struct effects *fx)
{
    if (msg->generation != l->listing) {
        problem_list_free(msg->u.listed.problems);
        return true;
    }
    if (l->replace)
        see_sessions(l, &(struct ref_list){ 0 }, fx);
    l->new_problems = !problem_list_same(l->problems, msg->u.listed.problems);
    problem_list_free(l->problems);
    l->problems = msg->u.listed.problems;
    l->rebuilt++; /* what numbers the problems reads them again */
    l->worktrees = msg->u.listed.worktrees;
    session_table_remove_unseen(&l->sessions, l->listing);
    unmark_gone(l);
    l->listing = 0;
    l->listed_once = true;
    list_arrange(l, fx);
    describe_more(l, fx);
    return true;
}

static void reload_view(struct list *l, uint32_t entry, struct effects *fx)
{
    if (entry != l->viewed)
        return;
    transcript_view_reload(l->view, &l->sessions.entry[entry].ref, fx);
    list_fit_preview(l, fx);
}

static void set_described_row(struct list *l, struct described *d, struct effects *fx)
{
    struct session_row *row = d->row;
    bool again = l->sessions.entry[d->entry].row != NULL;

    if (l->sessions.entry[d->entry]
            .gone) /* the question was asked before its list ended without it */
        return;

    filter_set(&l->filter, d->entry, row && row->hidden == HIDDEN_NOT ? row : NULL);
    session_table_set_row(&l->sessions, d->entry, row);
    d->row = NULL;
    if (row && row->hidden == HIDDEN_NOT)
        list_widths_include(&l->widths, row);
    if (again && row)
        reload_view(l, d->entry, fx);
    else if (d->entry == l->selected)
        list_follow(l, fx);
}

static bool handle_described(struct list *l, const struct msg *msg, struct effects *fx)
{
    struct described_list *rows = msg->u.described;
    struct describe_job *job = NULL;

    for (int i = 0; i < DESCRIBE_JOBS; i++)
        if (l->job[i].generation == msg->generation)
            job = &l->job[i];
    for (size_t i = 0; job && i < rows->n; i++)
        set_described_row(l, &rows->item[i], fx);
    if (job) {
        job->left -= rows->n < job->left ? rows->n : job->left;
        if (job->left == 0)
            *job = (struct describe_job){ 0 };
        describe_more(l, fx);
        reorder_soon(l, fx);
    }
    described_list_free(rows);
    return true;
}

static bool handle_failure(struct list *l, const struct msg *msg)
{
    bool mine = msg->generation == l->listing && l->listing != 0;

    if (mine)
        l->listing = 0;
    for (int i = 0; i < DESCRIBE_JOBS; i++)
        if (l->job[i].generation != 0 && l->job[i].generation == msg->generation) {
            l->job[i] = (struct describe_job){ 0 }; /* its sessions stay as they are */
            mine = true;
        }
    note_work(l);
    return mine;
}

/* Not every change of a session is in its transcript. Those that were made here name their sessions; of the others it is
 * not known which they are. Right after one of ours, only the rows on the screen are read again, because it is likely that
 * there was no other. */
static void read_again(struct list *l)
{
    enum { OWN_MS = 2000 };
    const bool own = l->changing || (l->asked_ms != TIME_NONE && *l->now_ms - l->asked_ms < OWN_MS);

    for (size_t i = l->top; own && i < l->filter.hits && i < l->top + FIRST_ROWS; i++)
        session_table_reread(&l->sessions, l->filter.hit[i]);
    for (uint32_t i = 0; !own && i < l->sessions.n; i++)
        session_table_reread(&l->sessions, i);
}

bool list_msg(struct list *l, const struct msg *msg, struct effects *fx)
{
    switch (msg->kind) {
    case MSG_SESSIONS: return handle_sessions(l, msg, fx);
    case MSG_LISTED: return handle_listed(l, msg, fx);
    case MSG_DESCRIBED: return handle_described(l, msg, fx);
    case MSG_DISK_USAGE:
    case MSG_FULL_SCAN:
        if (list_details_msg(l, msg))
            reorder_later(l);
        return true;
    case MSG_FILES_CHANGED:
        if (msg->u.logged)
            read_again(l);
        if (l->refresh_ms == TIME_NONE)
            l->refresh_ms = *l->now_ms + REFRESH_MS;
        return true;
    case MSG_CONTENT: return list_content_msg(l, msg, fx);
    case MSG_FAILED:
        return list_content_msg(l, msg, fx) || handle_failure(l, msg) ||
               list_details_failed(l, msg->generation) || transcript_view_msg(l->view, msg, fx);
    case MSG_USAGE:
        if (!transcript_view_msg(l->view, msg, fx))
            return false;
        list_fit_preview(l, fx); /* the facts above it may take another line */
        return true;
    default: return transcript_view_msg(l->view, msg, fx);
    }
}

/* A session that has not been read yet is shown when its row arrives. */
static void show_selected(struct list *l, struct effects *fx)
{
    const struct session_entry *e =
        l->selected == ENTRY_NONE ? NULL : &l->sessions.entry[l->selected];

    l->view_ms = TIME_NONE;
    if (e && e->row &&
        transcript_view_open(l->view, &e->ref, session_entry_title(e), session_entry_cwd(e), fx)) {
        l->viewed = l->selected;
        l->content.preview_entry = ENTRY_NONE;
        list_fit_preview(l, fx);
    }
}

static void reorder(struct list *l, struct effects *fx)
{
    list_arrange(l, fx);
    describe_more(l, fx);
}

void list_tick(struct list *l, struct effects *fx)
{
    if (l->reorder_ms != TIME_NONE && *l->now_ms >= l->reorder_ms)
        reorder(l, fx);
    if (list_settled(l) && l->listed_once) {
        l->read_once = true;
        l->changing = false;
    }
    if (l->refresh_ms != TIME_NONE && *l->now_ms >= l->refresh_ms && l->listing == 0)
        request_list(l, fx);
    if (!l->moved)
        list_move(l, 0, fx); /* keys that were typed ahead */
    if (l->view_ms != TIME_NONE && *l->now_ms >= l->view_ms)
        show_selected(l, fx);
    if (l->content.ask_ms != TIME_NONE && *l->now_ms >= l->content.ask_ms && l->order.n > 0)
        list_content_request_search(l, fx);
    list_content_preview(l, fx);
    list_details_request(l, fx);
}

int64_t list_wake_ms(const struct model *m)
{
    const struct list *l = m->list;
    int64_t wake = view_earlier(view_earlier(l->reorder_ms, l->view_ms), l->content.ask_ms);

    if (filter_pending(&l->filter))
        return *l->now_ms;
    if (l->listing == 0) /* otherwise the end of the listing reads the files anyway */
        wake = view_earlier(wake, l->refresh_ms);
    if (list_is_ahead(l) && l->shown_ms != TIME_NONE)
        wake = view_earlier(wake, (l->move_by ? l->shown_ms : l->came_ms) + LIST_MOMENT_MS);
    if (l->busy_since != TIME_NONE)
        wake = view_earlier(wake, frame_spinner_wake_ms(l->busy_since, *l->now_ms));
    return wake;
}
