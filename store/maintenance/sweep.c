#include "store/maintenance/sweep_internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/io/window.h"
#include "store/api/transcript.h"
#include "store/keep/keep.h"
#include "store/proc/live.h"
#include "store/query/listing.h"

/* A person sees a list and agrees to it later, and by then a session may have been resumed. So the
 * list is made first, and each chosen session is checked again before any of them moves.
 *
 *   rule -> tag and title, with a full scan if needed -> filter -> size -> reasons to stay
 *   later: same file -> same marks -> no agent at work -> trash, as one change
 *
 * Doubt keeps a session: it stays if a mark may be where its file cannot be read, or if an agent
 * may be at work. Cheap conditions come first, because scans and walks take long. The rule is not
 * applied again, since the file is the same. */

#define HOUR_MS (INT64_C(60) * 60 * 1000)

bool sweep_is_chosen(const struct sweep_item *item)
{
    return item->chosen && !item->stays;
}

enum err_code sweep_add_item(struct sweep *s, const struct sweep_item *item, struct err *e)
{
    struct sweep_item *list = arena_grow(&s->arena, s->item, s->n, sizeof *list);

    if (!list)
        return err_nomem(e);
    s->item = list;
    s->item[s->n++] = *item;
    return ERR_OK;
}

enum err_code sweep_measure(const char *const *part, size_t n, struct disk_usage *w, struct err *e)
{
    enum err_code rc = ERR_OK;

    *w = (struct disk_usage){ 0 };
    for (size_t i = 0; i < n && !rc; i++)
        rc = disk_usage_add(part[i], w, e);
    return rc;
}

enum err_code sweep_age_text(struct buf *text, int64_t now_ms, int64_t then_ms)
{
    int64_t hours = now_ms > then_ms ? (now_ms - then_ms) / HOUR_MS : 0;
    bool days = hours >= 2 * 24;
    int64_t n = days ? hours / 24 : hours;

    return buf_addf(text, "not used for %" PRId64 " %s%s", n, days ? "day" : "hour",
                    n == 1 ? "" : "s");
}

/* ---- live sessions ---- */

static enum err_code why_live(struct live live, struct arena *a, const char **stays, struct err *e)
{
    *stays = NULL;
    if (live.state == LIVE_QUIET)
        return ERR_OK;
    *stays = live.pid
                 ? arena_format(a, "process %ld may be writing to it: %s", (long)live.pid, live.why)
                 : arena_format(a, "an agent may be writing to it: %s", live.why);
    return *stays ? ERR_OK : err_nomem(e);
}

enum err_code sweep_live(const struct session_ref *ref, struct arena *a, const char **stays,
                         struct err *e)
{
    struct live live;

    TRY(live_check(&ref, 1, &live, e));
    return why_live(live, a, stays, e);
}

static enum err_code sweep_mark_live(struct sweep *s, struct err *e)
{
    struct arena a = { 0 };
    const struct session_ref **ref = arena_alloc(&a, (s->n + 1) * sizeof(struct session_ref *));
    struct sweep_item **item = arena_alloc(&a, (s->n + 1) * sizeof(struct sweep_item *));
    struct live *live = arena_alloc(&a, (s->n + 1) * sizeof *live);
    enum err_code rc = ref && item && live ? ERR_OK : err_nomem(e);
    size_t n = 0;

    for (size_t i = 0; i < s->n && !rc; i++) {
        if (!sweep_is_chosen(&s->item[i]) || s->item[i].orphan)
            continue;
        ref[n] = &s->item[i].ref;
        item[n++] = &s->item[i];
    }
    if (!rc)
        rc = live_check(ref, n, live, e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = why_live(live[i], &s->arena, &item[i]->stays, e);
    arena_fini(&a);
    return rc;
}

struct finder {
    const struct sweep_rule *rule;
    const struct session_ref *const *order;
    struct sweep *sweep;
    struct session_row *scanned; /* scratch memory for a row that a scan of its file completes */
};

/* ---- the rule ---- */

/* Checks everything but the size, for which its files must be walked. The newer of the last message and the file counts. */
static enum err_code check_rule(const struct sweep_rule *rule, const struct session_row *row,
                                bool *matches, struct err *e)
{
    /* Sessions that a list of this scope hides belong to another scope or cannot be read, except for those that are
     * hidden because they are empty. */
    const bool may =
        row->hidden == HIDDEN_NOT || row->hidden == HIDDEN_EMPTY || row->hidden == HIDDEN_CONTINUED;

    *matches = may &&
               (rule->copies || rule->before_ms == TIME_NONE ||
                (row->activity_ms < rule->before_ms && row->modified_ms < rule->before_ms)) &&
               (!rule->archived || (row->flags & SESSION_ARCHIVED));

    /* A session with an unreadable line does not count as empty. */
    if (!*matches || !rule->empty)
        return ERR_OK;

    const struct store *st = row->ref.store;
    struct transcript *t;

    *matches = false;
    if (row->first_prompt.n || row->model.n || !st->ops->load)
        return ERR_OK;
    enum err_code rc = st->ops->load(st, &row->ref, rule->cancel, &t, e);

    if (rc)
        return rc == ERR_NOMEM || rc == ERR_CANCELLED ? rc : ERR_OK;
    *matches = t->broken == 0;
    for (size_t i = 0; i < t->n && *matches; i++)
        *matches = t->message[i].kind != MESSAGE_USER && t->message[i].kind != MESSAGE_ASSISTANT;
    transcript_free(t);
    return ERR_OK;
}

/* ---- what a person marked ---- */

/* Returns true unless the title is known to be made by a program: by the agent, or for a copy, from the first prompt. */
static bool is_named_by_hand(const struct session_row *row)
{
    static const char *const endings[] = { " (fork)", " (Branch)" };
    struct slice title = row->custom_title;

    if (title.n == 0 || row->flags & SESSION_AI_TITLE)
        return false;
    for (size_t i = 0; i < 2 && row->flags & SESSION_FORK; i++) {
        size_t n = strlen(endings[i]);

        if (title.n > n && memcmp(title.p + title.n - n, endings[i], n) == 0)
            title.n -= n;
    }
    return title.n == row->custom_title.n || title.n > row->first_prompt.n ||
           memcmp(title.p, row->first_prompt.p, title.n) != 0;
}

/* A session is spared because of a tag or a title, so their absence must be certain. The two windows of a long transcript
 * may have missed them; *row is then replaced with a copy, in `copy`, that a scan of the whole file has completed. Sets
 * *whole to false if the file cannot be read. */
static enum err_code complete_marks(const struct session_row **row, struct session_row *copy,
                                    const atomic_bool *cancel, bool *whole, struct err *e)
{
    const struct store *st = (*row)->ref.store;
    bool found;

    *whole = true;
    if (!st->ops->full_scan || ((*row)->tag.n && is_named_by_hand(*row)) ||
        (*row)->ref.file.size <= 2 * (int64_t)WINDOW_BYTES)
        return ERR_OK;
    if (!session_row_copy(*row, copy))
        return err_nomem(e);
    enum err_code rc = st->ops->full_scan(st, &copy->ref, cancel, copy, &found, e);

    *row = copy;
    *whole = rc == ERR_OK;
    return rc == ERR_NOMEM || rc == ERR_CANCELLED ? rc : ERR_OK;
}

static enum err_code keep_marked(const struct session_row *row, bool whole, struct sweep *s,
                                 struct sweep_item *item, struct err *e)
{
    unsigned marks = (row->tag.n ? SWEEP_TAGGED : 0u) | (is_named_by_hand(row) ? SWEEP_NAMED : 0u);

    item->kept = marks & ~s->include;
    if (item->kept & SWEEP_TAGGED)
        item->stays = arena_format(&s->arena, "tagged #%.*s%s", SLICE_ARG(row->tag),
                                   item->kept & SWEEP_NAMED ? ", named by hand" : "");
    else if (item->kept)
        item->stays = "named by hand";
    else if (!whole && ~s->include & (SWEEP_TAGGED | SWEEP_NAMED))
        item->stays = "it cannot be read to its end, where a tag or a name may be";
    return item->kept && !item->stays ? err_nomem(e) : ERR_OK;
}

size_t sweep_kept(const struct sweep *s, enum sweep_mark mark)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        unsigned kept = s->item[i].kept;

        n += (kept & SWEEP_TAGGED ? SWEEP_TAGGED : kept) == (unsigned)mark;
    }
    return n;
}

/* ---- one item ---- */

/* Live sessions are found for all items at once: sweep_mark_live. */
static const char *why_stays(const struct sweep_item *item, bool copied)
{
    if (keep_store_is(item->ref.store))
        return "it is kept, and its agent no longer has it; delete it by its id";
    if (copied)
        return "it is in several folders, which share the files kept under its id";
    if (item->parts > 0 || item->owned_refs.stays)
        return item->parts > 0 ? NULL : item->owned_refs.stays;
    const char *why = store_unsupported_reason(item->ref.store->ops, CAN_DELETE);

    return why ? why : "sessions of this agent cannot be deleted";
}

static enum err_code explain_match(const struct sweep_rule *rule, const struct session_row *row,
                                   struct sweep *s, struct sweep_item *item)
{
    AUTO_BUF text = { 0 };

    TRY(sweep_age_text(&text, row->ref.store->env->now_ms, item->activity_ms));
    if (rule->copies)
        TRY(buf_addf(&text, ", saved copies of its files"));
    if (rule->empty)
        TRY(buf_addf(&text, ", no conversation"));
    if (rule->archived)
        TRY(buf_addf(&text, ", archived"));
    if (rule->larger_than > 0)
        TRY(buf_addf(&text, ", more than %" PRId64 " bytes", rule->larger_than));
    if (!(item->why = arena_copy(&s->arena, buf_slice(&text)).p))
        return ERR_NOMEM;
    return ERR_OK;
}

static bool copy_item_slice(struct arena *a, struct slice *text)
{
    *text = arena_copy(a, text->p ? *text : SLICE(""));
    return text->p != NULL;
}

/* As in the system's own cleanup, the age of the copies is that of their directory. */
static enum err_code find_copies(const struct sweep_rule *rule, struct sweep *s,
                                 struct sweep_item *item, struct err *e)
{
    const struct store *st = item->ref.store;
    const char **part = arena_alloc(&s->arena, sizeof *part);
    struct stat sb;

    NEED(part);
    if (!st->ops->copies)
        return ERR_OK;
    TRY(st->ops->copies(st, &item->ref, &s->arena, part, e));
    if (lstat(*part, &sb) || !S_ISDIR(sb.st_mode))
        return ERR_OK;
    item->activity_ms = time_ms_of(sb.st_mtim);
    item->part = part;
    item->parts = rule->before_ms == TIME_NONE || item->activity_ms < rule->before_ms;
    return ERR_OK;
}

static enum err_code measure_item(const struct sweep_rule *rule, struct sweep *s,
                                  struct sweep_item *item, struct err *e)
{
    const struct store *st = item->ref.store;
    if (rule->copies)
        TRY(find_copies(rule, s, item, e));
    else if (st->ops->parts)
        TRY(st->ops->parts(st, &item->ref, true, &s->arena, &item->part, &item->parts, e));
    if (!rule->copies && st->ops->owned_refs)
        TRY(st->ops->owned_refs(st, &item->ref, &s->arena, &item->owned_refs, e));
    TRY(sweep_measure(item->part, item->parts, &item->usage, e));

    /* A session that cannot be moved has no parts, but its size is still shown. */
    if (!st->ops->parts && !st->ops->owned_refs && item->ref.file.size > 0)
        item->usage = (struct disk_usage){ .files = 1, .bytes = item->ref.file.size };
    return !rule->copies && item->parts
               ? keep_add_copies(st, &s->arena, &item->part, &item->parts, e)
               : ERR_OK;
}

/* ---- all of them ---- */

static enum err_code sweep_consider(size_t i, struct session_row *found, void *arg, struct err *e)
{
    const struct session_row *row = found;
    struct finder *f = arg;
    bool matches = false;

    if (f->rule->cancel && atomic_load(f->rule->cancel))
        return ERR_CANCELLED;

    enum err_code rc = row ? check_rule(f->rule, row, &matches, e) : ERR_OK;
    bool whole;

    if (rc || !matches)
        return rc;
    rc = complete_marks(&row, f->scanned, f->rule->cancel, &whole, e);
    if (rc || (f->rule->filter && !f->rule->filter(row, f->rule->filter_arg)))
        return rc;

    /* The session as the sweep keeps it. */
    struct sweep *s = f->sweep;
    struct sweep_item item = { .ref = row->ref,
                               .title = session_row_title(row),
                               .cwd = row->cwd,
                               .tag = row->tag,
                               .activity_ms = row->activity_ms > row->modified_ms
                                                  ? row->activity_ms
                                                  : row->modified_ms };

    if (!copy_item_slice(&s->arena, &item.ref.id) || !copy_item_slice(&s->arena, &item.ref.path) ||
        !copy_item_slice(&s->arena, &item.ref.folder) || !copy_item_slice(&s->arena, &item.title) ||
        !copy_item_slice(&s->arena, &item.cwd) || !copy_item_slice(&s->arena, &item.tag))
        return err_nomem(e);
    rc = measure_item(f->rule, s, &item, e);

    if (rc || (f->rule->copies && item.parts == 0) ||
        (f->rule->larger_than > 0 && item.usage.bytes <= f->rule->larger_than))
        return rc;
    if (explain_match(f->rule, row, s, &item))
        return err_nomem(e);

    /* A mark counts only if nothing else holds the session back. */
    item.stays = why_stays(&item, listing_has_copies(f->order[i]));
    rc = item.stays ? ERR_OK : keep_marked(row, whole, s, &item, e);
    item.chosen = !item.stays;
    return rc ? rc : sweep_add_item(s, &item, e);
}

static enum err_code sweep_find_sessions(struct store *const stores[], size_t n,
                                         const struct sweep_rule *rule, struct sweep *s,
                                         struct err *e)
{
    const struct listing_query q = {
        .scope = rule->scope, .since_ms = TIME_NONE, .before_ms = TIME_NONE, .here = true
    };
    CLEANUP(session_row_free_at) struct session_row *scanned = session_row_new();
    CLEANUP(listing_close_at) struct listing *l = NULL;
    struct finder f = { .rule = rule, .sweep = s, .scanned = scanned };
    size_t refs;

    NEED(scanned);
    TRY(listing_open(stores, n, &q, &l, e));
    f.order = listing_refs(l, &refs);
    TRY(describe_pool_run(&rule->scope, f.order, refs, DESCRIBE_POOL_AHEAD, sweep_consider, &f, e));
    TRY(sweep_mark_live(s, e));
    for (size_t i = 0; i < s->n; i++)
        s->item[i].chosen = !s->item[i].stays;
    return ERR_OK;
}

enum err_code sweep_find(struct store *const stores[], size_t n, const struct sweep_rule *rule,
                         struct sweep *out, struct err *e)
{
    CLEANUP(sweep_fini) struct sweep s = { .include = rule->include };

    TRY(rule->orphans ? sweep_find_orphans(stores, n, rule, &s, e)
                      : sweep_find_sessions(stores, n, rule, &s, e));
    HAND_OVER(out, s);
    return ERR_OK;
}

void sweep_fini(struct sweep *s)
{
    arena_fini(&s->arena);
    *s = (struct sweep){ 0 };
}

size_t sweep_disk_usage(const struct sweep *s, struct disk_usage *w)
{
    size_t n = 0;

    *w = (struct disk_usage){ 0 };
    for (size_t i = 0; i < s->n; i++) {
        if (!sweep_is_chosen(&s->item[i]))
            continue;
        w->files += s->item[i].usage.files;
        w->bytes += s->item[i].usage.bytes;
        n++;
    }
    return n;
}

/* ---- moving ---- */

static bool sweep_is_same(const struct file_id *a, const struct file_id *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

/* A lot of time may pass between showing and moving, and the session may have been resumed. */
static enum err_code recheck_session(struct sweep *s, struct sweep_item *item, struct err *e)
{
    const struct scope all = { .all = true };
    const struct store_ops *ops = item->ref.store->ops;
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, item->ref.path.p, 0, &f, e);

    if (rc == ERR_NOMEM)
        return rc;
    if (rc) {
        item->stays = rc == ERR_NOT_FOUND ? "it is gone" : "it can no longer be read";
        return ERR_OK;
    }
    file_close(&f);
    bool same = sweep_is_same(&f.id, &item->ref.file);

    /* Whether a session has a conversation does not follow from the size of its file, so its system is asked again. */
    if (item->ref.file.size == 0) {
        AUTO_ARENA a = { 0 };
        struct session_ref now;

        same = ops->find(item->ref.store, &all, item->ref.id, &a, &now, NULL) == ERR_OK &&
               slice_eq(now.path, item->ref.path) && sweep_is_same(&now.file, &item->ref.file);
    }
    if (!same)
        item->stays = "it changed after it was listed";
    if (item->stays)
        return ERR_OK;

    /* A tag or a title may be in a file of its own, so the transcript need not have changed. If only a scan could find
     * them, they are in the transcript, which is the same. */
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();

    NEED(row);
    rc = ops->describe(item->ref.store, &all, &item->ref, row, e);
    if (!rc)
        rc = keep_marked(row, true, s, item, e);
    else if (rc != ERR_NOMEM)
        item->stays = "it can no longer be read";
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

enum err_code sweep_move(struct change_log *log, const struct store_env *env, struct sweep *s,
                         struct trash_list *moved, struct err *e)
{
    AUTO_FREE struct trash_request *request = calloc(s->n + 1, sizeof *request);
    size_t n = 0;

    NEED(request);

    /* The items were found some time ago, and a session may have been resumed since. */
    TRY(sweep_recheck_orphans(s, e));
    for (size_t i = 0; i < s->n; i++)
        if (sweep_is_chosen(&s->item[i]) && !s->item[i].orphan)
            TRY(recheck_session(s, &s->item[i], e));
    TRY(sweep_mark_live(s, e));
    for (size_t i = 0; i < s->n; i++)
        if (sweep_is_chosen(&s->item[i])) {
            const struct sweep_item *item = &s->item[i];

            request[n++] = (struct trash_request){ .system = item->ref.store->ops->name,
                                                   .store = item->ref.store->path,
                                                   .id = item->ref.id,
                                                   .title = item->title,
                                                   .dir = item->cwd.n ? item->cwd.p : NULL,
                                                   .part = item->part,
                                                   .parts = item->parts,
                                                   .owned_refs = item->owned_refs.ref,
                                                   .owned_refs_n = item->owned_refs.n,
                                                   .stays = item->owned_refs.stays };
        }
    if (n)
        return trash_add(log, env, "sweep", request, n, moved, e);
    *moved = (struct trash_list){ 0 };
    return ERR_OK;
}
