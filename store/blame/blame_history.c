#include "store/blame/blame.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/path.h"
#include "store/rewind/record/records.h"

/* The edits of one file are spread over many sessions, forks of them, several agents and the names
 * that the file once had. They become one history in the order of time:
 *
 *   names -> edits of all sessions -> rewinds -> without copies -> sorted by time
 *     ^              |
 *     '- older names-'   (everything is read again, until no new name is found)
 *
 * `order` has to remain the order of reading, because it decides between edits of the same time.
 * Copies of an edit are dropped only after everything has been read, because its original may come
 * last. Unless the query selects rows, a session is described only once it has shown an edit of the
 * file, since most sessions have none. */

enum { NAMES_MAX = 32 };
/* Texts before and after an edit are not kept beyond this total size; the replay then works without them. */
static const uint64_t bytes_max = UINT64_C(512) << 20;

/* ---- sessions ---- */

static bool selects_rows(const struct listing_query *q)
{
    return q->tag.n || q->branch.n || q->archived;
}

/* A session that lists hide, for example because it has no prompt, may still have edited files, unlike one of another
 * directory in the same folder. */
static bool blame_history_is_wanted(const struct listing_query *q, const struct session_ref *ref,
                                    struct session_row *row)
{
    if (ref->store->ops->describe(ref->store, &q->scope, ref, row, NULL))
        return false;
    if (row->hidden == HIDDEN_COLLISION || row->hidden == HIDDEN_PROGRAMMATIC ||
        row->hidden == HIDDEN_UNREADABLE || row->hidden == HIDDEN_DUPLICATE)
        return false;
    return row->hidden ? !selects_rows(q) : listing_wants_row(q, row);
}

bool blame_history_wants(const struct blame_query *q, const struct session_ref *ref)
{
    struct session_row *row;
    bool wants;

    if (q->sessions.scope.all && !q->sessions.scope.leave_programmatic &&
        !selects_rows(&q->sessions))
        return true;
    row = session_row_new();
    wants = row && blame_history_is_wanted(&q->sessions, ref, row);
    session_row_free(row);
    return wants;
}

enum err_code blame_history_sessions(struct store *const stores[], size_t n,
                                     const struct blame_query *q, blame_session_fn *fn, void *arg,
                                     struct err *e)
{
    AUTO_FREE struct store **with_edits = malloc((n + 1) * sizeof(struct store *));
    CLEANUP(listing_close_at) struct listing *listing = NULL;
    const struct session_ref *const *ref;
    size_t refs = 0, stores_left = 0;

    NEED(with_edits);
    /* A team's store has none, and listing it would only take time. */
    for (size_t i = 0; i < n; i++)
        if (stores[i]->ops->edits)
            with_edits[stores_left++] = stores[i];
    TRY(listing_open(with_edits, stores_left, &q->sessions, &listing, e));
    ref = listing_refs(listing, &refs);
    for (size_t i = 0; i < refs; i++) {
        if (!listing_wants_time(&q->sessions, ref[i]) ||
            (selects_rows(&q->sessions) && !blame_history_wants(q, ref[i])) ||
            !listing_take(listing, ref[i]))
            continue;
        TRY(fn(ref[i], arg, e));
    }
    return ERR_OK;
}

/* ---- edits ---- */

static struct slice blame_history_copy_text(struct arena *a, struct slice s)
{
    return s.p ? arena_copy(a, s) : s;
}

struct history_reading {
    struct blame_history *h;
    const struct blame_query *q;
    struct edit_query edits;
    size_t session;
    int64_t time_ms; /* the time of the edit before this one */
};

static enum err_code blame_history_add_event(const struct edit *edit, void *arg, struct err *e)
{
    struct history_reading *g = arg;
    struct blame_history *h = g->h;
    struct edit copy = *edit;

    h->bytes += edit->before.n + edit->after.n;
    if (h->bytes > bytes_max && edit->kind != EDIT_WRITE) {
        copy.before_known = copy.after_known = EDIT_UNKNOWN;
        copy.before = copy.after = (struct slice){ NULL, 0 };
    }
    if (copy.time_ms == TIME_NONE)
        copy.time_ms = g->time_ms;
    g->time_ms = copy.time_ms;
    NEED(array_reserve(h->event, h->cap, h->n + 1));
    h->event[h->n] = (struct blame_event){ .session = g->session, .order = h->n };

    /* The edit and its texts are copied. */
    struct edit_replacement *list =
        copy.replacements ? arena_alloc(&h->arena, copy.replacements * sizeof *list) : NULL;

    h->event[h->n].edit = copy;
    h->event[h->n].edit.path = arena_copy_text(&h->arena, copy.path);
    h->event[h->n].edit.to = arena_copy_text(&h->arena, copy.to);
    h->event[h->n].edit.turn = blame_history_copy_text(&h->arena, copy.turn);
    h->event[h->n].edit.prompt = blame_history_copy_text(&h->arena, copy.prompt);
    h->event[h->n].edit.message = blame_history_copy_text(&h->arena, copy.message);
    h->event[h->n].edit.agent = blame_history_copy_text(&h->arena, copy.agent);
    h->event[h->n].edit.tool = blame_history_copy_text(&h->arena, copy.tool);
    h->event[h->n].edit.call = blame_history_copy_text(&h->arena, copy.call);
    h->event[h->n].edit.before = blame_history_copy_text(&h->arena, copy.before);
    h->event[h->n].edit.after = blame_history_copy_text(&h->arena, copy.after);
    for (size_t i = 0; list && i < copy.replacements; i++) {
        list[i] = copy.replacement[i];
        list[i].old_text = blame_history_copy_text(&h->arena, copy.replacement[i].old_text);
        list[i].new_text = blame_history_copy_text(&h->arena, copy.replacement[i].new_text);
    }
    h->event[h->n].edit.replacement = list;

    NEED(!h->arena.failed);

    h->n++;
    return ERR_OK;
}

/* A session that cannot be read is reported, and the others count. */
static enum err_code blame_history_add_session(const struct session_ref *ref, void *arg,
                                               struct err *e)
{
    struct history_reading *g = arg;
    struct blame_history *h = g->h;
    struct session_ref *copy = arena_alloc(&h->arena, sizeof *copy);
    size_t before = h->n;
    struct err trouble;

    NEED(copy && session_ref_copy(&h->arena, ref, copy) &&
         array_reserve(h->ref, h->ref_cap, h->refs + 1));
    g->session = h->refs;
    h->ref[h->refs++] = copy;
    g->time_ms = TIME_NONE;
    enum err_code rc =
        ref->store->ops->edits(ref->store, ref, &g->edits, blame_history_add_event, g, &trouble);

    /* The session is described only if it has an event, because most sessions have none for this file. */
    if (h->n > before && !blame_history_wants(g->q, ref))
        h->n = before;
    if (h->n == before)
        h->refs--;
    if (rc == ERR_CANCELLED || rc == ERR_NOMEM) {
        if (e)
            *e = trouble;
        return rc;
    }
    if (rc && rc != ERR_NOT_FOUND && g->q->trouble)
        g->q->trouble(&trouble, g->q->trouble_arg);
    return ERR_OK;
}

/* ---- rewinds ---- */

static bool blame_history_has_name(const struct blame_history *h, const char *path)
{
    for (size_t i = 0; i < h->names; i++)
        if (strcmp(h->name[i], path) == 0)
            return true;
    return false;
}

enum { RECORDS_MAX = 1000 };

static enum err_code blame_history_add_seen(struct history_reading *g, const char *path,
                                            int64_t time_ms, enum edit_known known,
                                            struct slice text, struct err *e)
{
    struct edit edit = {
        .kind = EDIT_SEEN, .path = path, .time_ms = time_ms, .after_known = known, .after = text
    };

    return blame_history_add_event(&edit, g, e);
}

/* Adds two events for each file that a rewind changed: what it replaced, whose bytes are in the record, and what it
 * restored. */
static enum err_code blame_history_add_record(const struct rewind_tx *tx, void *arg, bool *more,
                                              struct err *e)
{
    struct history_reading *g = arg;
    char file[TX_PATH_MAX];

    *more = true;
    for (size_t i = 0; i < tx->n && tx->phase >= TX_COMMITTED; i++) {
        const struct rewind_tx_entry *x = &tx->entry[i];
        CLEANUP(source_content_fini) struct source_content content = { 0 };

        if (x->outcome != REWIND_DONE || x->unknown || x->mode_only ||
            !blame_history_has_name(g->h, x->path))
            continue;
        struct rewind_source source = rewind_tx_backup_source(tx, i, file);

        if (!x->seen.exists)
            TRY(blame_history_add_seen(g, x->path, tx->at_ms, EDIT_ABSENT, SLICE(""), e));
        else if (!source_read(&source, NULL, &content, NULL) && content.held)
            TRY(blame_history_add_seen(g, x->path, tx->at_ms, EDIT_TEXT, buf_slice(&content.bytes),
                                       e));

        /* The record has the hash of what was restored, but not its text. */
        if (x->action == REWIND_DELETE) {
            TRY(blame_history_add_seen(g, x->path, tx->at_ms, EDIT_ABSENT, SLICE(""), e));
        } else {
            TRY(blame_history_add_seen(g, x->path, tx->at_ms, EDIT_UNKNOWN, SLICE(""), e));
            struct blame_event *event = &g->h->event[g->h->n - 1];

            event->has_hash = true;
            memcpy(event->sha256, x->wanted, SHA256_BYTES);
        }
    }
    return ERR_OK;
}

/* ---- names ---- */

const char *blame_history_renamed(const char *path, const char *from, const char *to,
                                  struct arena *a)
{
    size_t n = strlen(from);

    if (strncmp(path, from, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    return arena_format(a, "%s%s", to, path + n);
}

static enum err_code blame_history_add_name(struct blame_history *h, const char *path, bool *more,
                                            struct err *e)
{
    const char *copy;

    if (blame_history_has_name(h, path) || h->names == NAMES_MAX)
        return ERR_OK;
    NEED(copy = arena_copy_text(&h->arena, path));
    NEED(array_reserve(h->name, h->name_cap, h->names + 1));
    h->name[h->names++] = copy;
    *more = true;
    return ERR_OK;
}

/* ---- copies, and the order ---- */

static int compare_edits(const struct blame_event *x, const struct blame_event *y)
{
    int d = slice_compare(edit_call_name(x->edit.call), edit_call_name(y->edit.call));

    if (!d)
        d = strcmp(x->edit.path, y->edit.path);
    return d ? d : (x->edit.kind > y->edit.kind) - (x->edit.kind < y->edit.kind);
}

static int compare_calls(const struct blame_event *x, const struct blame_event *y)
{
    const int d = compare_edits(x, y);

    return d ? d : (x->edit.time_ms > y->edit.time_ms) - (x->edit.time_ms < y->edit.time_ms);
}

static int by_call(const void *a, const void *b)
{
    const struct blame_event *x = *(const struct blame_event *const *)a,
                             *y = *(const struct blame_event *const *)b;
    int d = compare_calls(x, y);

    return d ? d : (x->order > y->order) - (x->order < y->order);
}

/* An edit may have copies in forks and in other stores. The original is used, or if it is not known, the copy in the
 * session with the oldest change. */
static bool is_more_original(const struct blame_history *h, const struct blame_event *x,
                             const struct blame_event *y)
{
    const struct session_ref *a = h->ref[x->session], *b = h->ref[y->session];

    if (x->edit.copied != y->edit.copied)
        return y->edit.copied;
    if (a->store->ops != b->store->ops)
        return x->order < y->order;
    return session_recent_ns(a) < session_recent_ns(b);
}

/* What names an edit in its session and in the sessions that continue that in another agent; NULL without a mark. */
static const char *mark_key(struct blame_history *h, const struct blame_event *event)
{
    char mark[EDIT_MARK];

    return edit_mark(h->ref[event->session]->id, event->edit.call, mark)
               ? arena_format(&h->arena, "%s %s", mark, event->edit.path)
               : NULL;
}

/* Drops the edits of continued copies whose originals are known. */
static enum err_code drop_continued(struct blame_history *h, struct err *e)
{
    CLEANUP(slice_set_fini) struct slice_set known = { .n = 0 };
    uint32_t number;
    size_t kept = 0;

    for (size_t round = 0; round < 2; round++) /* the originals, then the copies */
        for (size_t i = 0; i < h->n; i++) {
            struct blame_event *event = &h->event[i];
            const bool marked = edit_is_marked(event->edit.call);
            const char *key = marked == (round > 0) ? mark_key(h, event) : NULL;

            NEED(!h->arena.failed);
            if (key && !marked)
                NEED(!slice_set_add(&known, slice_of(key), &number));
            else if (key && slice_set_find(&known, slice_of(key)) != SLICE_SET_NONE)
                event->session = SIZE_MAX;
        }
    for (size_t i = 0; i < h->n; i++)
        if (h->event[i].session != SIZE_MAX)
            h->event[kept++] = h->event[i];
    h->n = kept;
    return ERR_OK;
}

static enum err_code blame_history_drop_copies(struct blame_history *h, struct err *e)
{
    AUTO_FREE struct blame_event **list = malloc((h->n + 1) * sizeof *list);
    size_t kept = 0;

    NEED(list);

    /* Marks are hashes, and are only computed if a session was continued in another agent. */
    for (size_t i = 0; i < h->n; i++)
        if (edit_is_marked(h->event[i].edit.call)) {
            TRY(drop_continued(h, e));
            break;
        }
    for (size_t i = 0; i < h->n; i++)
        list[i] = &h->event[i];
    qsort(list, h->n, sizeof *list, by_call);

    /* The copies of a call are neighbours now, and those of the most original session are kept: a call may edit a file
     * several times. */
    for (size_t i = 0, k; i < h->n; i = k) {
        const struct blame_event *best = list[i];

        for (k = i + 1; k < h->n && compare_calls(list[i], list[k]) == 0; k++)
            if (is_more_original(h, list[k], best))
                best = list[k];
        const size_t original = best->session;

        for (size_t m = i; m < k && list[i]->edit.call.n; m++)
            if (list[m]->session != original)
                list[m]->session = SIZE_MAX;
    }

    /* Forks of old versions of Codex copied the edits of their thread with the time of the fork. */
    for (size_t i = 0, k; i < h->n; i = k) {
        const struct blame_event *original = NULL;

        for (k = i; k < h->n && compare_edits(list[i], list[k]) == 0; k++)
            if (list[k]->session != SIZE_MAX &&
                (!original || (original->edit.copied && !list[k]->edit.copied)))
                original = list[k];
        for (size_t m = i; m < k && original && list[i]->edit.call.n; m++)
            if (list[m]->edit.copied && list[m]->session != original->session)
                list[m]->session = SIZE_MAX;
    }

    for (size_t i = 0; i < h->n; i++)
        if (h->event[i].session != SIZE_MAX)
            h->event[kept++] = h->event[i];
    h->n = kept;
    return ERR_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct blame_event *x = a, *y = b;

    if (x->edit.time_ms != y->edit.time_ms)
        return x->edit.time_ms < y->edit.time_ms ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

enum err_code blame_history_read(struct store *const stores[], size_t n,
                                 const struct blame_query *q, struct blame_history *out,
                                 struct err *e)
{
    CLEANUP(blame_history_fini) struct blame_history h = { 0 };
    struct history_reading g = { .h = &h, .q = q };
    bool more = false;

    for (size_t i = 0; i < q->paths; i++)
        TRY(blame_history_add_name(&h, q->path[i], &more, e));
    /* The sessions are read again with each name that is found, because they list the edits of given names only. */
    while (more) {
        h.n = h.refs = 0;
        g.edits = (struct edit_query){
            .path = h.name, .paths = h.names, .seen = true, .files_only = true, .cancel = q->cancel
        };
        TRY(blame_history_sessions(stores, n, q, blame_history_add_session, &g, e));

        /* Add the names that the known ones had before. */
        size_t names = h.names;

        more = false;
        for (size_t i = 0; i < h.n; i++) {
            const struct edit *edit = &h.event[i].edit;

            for (size_t k = 0; edit->kind == EDIT_RENAME && k < names; k++) {
                const char *was = blame_history_renamed(h.name[k], edit->to, edit->path, &h.arena);

                NEED(!h.arena.failed);
                if (was)
                    TRY(blame_history_add_name(&h, was, &more, e));
            }
        }
    }
    if (n && h.n && stores[0]->env) { /* records that cannot be read are skipped */
        struct err trouble;

        NEED(rewind_records_each(stores[0]->env, RECORDS_MAX, blame_history_add_record, &g,
                                 &trouble) != ERR_NOMEM);
    }
    TRY(blame_history_drop_copies(&h, e));
    if (h.n)
        qsort(h.event, h.n, sizeof *h.event, by_time);
    HAND_OVER(out, h);
    return ERR_OK;
}

void blame_history_fini(struct blame_history *h)
{
    free(h->event);
    free(h->ref);
    free(h->name);
    arena_fini(&h->arena);
    *h = (struct blame_history){ 0 };
}

/* ---- names ---- */

enum err_code blame_paths_of(const char *dir, const char *name, struct arena *a,
                             struct blame_paths *out, struct err *e)
{
    const char *path = path_normalize(dir, name, a);
    AUTO_FREE char *real = path ? realpath(path, NULL) : NULL;

    *out = (struct blame_paths){ .path = { path }, .n = 1 };
    if (real && strcmp(real, path) != 0)
        out->path[out->n++] = arena_copy_text(a, real);
    NEED(!a->failed);
    return ERR_OK;
}
