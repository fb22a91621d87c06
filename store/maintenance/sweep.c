#include "store/maintenance/sweep.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "store/api/transcript.h"
#include "store/proc/live_check.h"
#include "store/query/describe_pool.h"
#include "store/query/listing.h"

#define HOUR_MS (INT64_C(60) * 60 * 1000)
#define DAY_HOURS 24

struct finder {
    const struct sweep_rule *rule;
    const struct session_ref *const *order;
    struct sweep *sweep;
};

/* ---- does the rule mean it? ---- */

/* Sessions that a list of this scope would not show belong to somebody else, or cannot be told anything about; but for
 * those that are left out of lists because nothing is in them. */
static bool is_in_question(const struct session_row *row)
{
    return row->hidden == HIDDEN_NOT || row->hidden == HIDDEN_EMPTY ||
           row->hidden == HIDDEN_CONTINUED;
}

/* Nothing was ever said in it. Where any line cannot be read, who knows. */
static enum err_code is_empty(const struct session_row *row, const atomic_bool *cancel, bool *empty,
                              struct err *e)
{
    const struct store *st = row->ref.store;
    struct transcript *t;

    *empty = false;
    if (row->first_prompt.n || row->model.n || !st->ops->load)
        return ERR_OK;
    enum err_code rc = st->ops->load(st, &row->ref, cancel, &t, e);

    if (rc)
        return rc == ERR_NOMEM || rc == ERR_CANCELLED ? rc : ERR_OK;
    *empty = t->broken == 0;
    for (size_t i = 0; i < t->n && *empty; i++)
        *empty = t->message[i].kind != MESSAGE_USER && t->message[i].kind != MESSAGE_ASSISTANT;
    transcript_free(t);
    return ERR_OK;
}

/* Everything but the size, which takes a walk over its files. */
static enum err_code is_meant(const struct sweep_rule *rule, const struct session_row *row,
                              bool *meant, struct err *e)
{
    *meant = is_in_question(row) &&
             (rule->copies || rule->before_ms == TIME_NONE || row->activity_ms < rule->before_ms) &&
             (!rule->archived || (row->flags & SESSION_ARCHIVED));
    return *meant && rule->empty ? is_empty(row, rule->cancel, meant, e) : ERR_OK;
}

/* ---- one item ---- */

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
    enum err_code rc = live_check(&ref, 1, &live, e);

    return rc ? rc : why_live(live, a, stays, e);
}

enum err_code sweep_live_all(struct sweep *s, struct err *e)
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

/* But for who writes to it, which is asked of all at once. */
static const char *why_stays(const struct sweep_item *item, bool copied)
{
    if (copied)
        return "it is in several folders, which share what is kept under its id";
    if (item->parts > 0)
        return NULL;
    return item->owned_refs.stays ? item->owned_refs.stays
                                  : "sessions of this system cannot be deleted";
}

enum err_code sweep_age_text(struct buf *text, int64_t now_ms, int64_t then_ms)
{
    int64_t hours = now_ms > then_ms ? (now_ms - then_ms) / HOUR_MS : 0;
    bool days = hours >= 2 * DAY_HOURS;
    int64_t n = days ? hours / DAY_HOURS : hours;

    return buf_addf(text, "not used for %" PRId64 " %s%s", n, days ? "day" : "hour",
                    n == 1 ? "" : "s");
}

static enum err_code explain_match(const struct sweep_rule *rule, const struct session_row *row,
                                   struct sweep *s, struct sweep_item *item)
{
    struct buf text = { 0 };
    enum err_code rc = sweep_age_text(&text, row->ref.store->env->now_ms, item->activity_ms);

    if (!rc && rule->copies)
        rc = buf_addf(&text, ", saved copies of its files");
    if (!rc && rule->empty)
        rc = buf_addf(&text, ", no conversation");
    if (!rc && rule->archived)
        rc = buf_addf(&text, ", archived");
    if (!rc && rule->larger_than > 0)
        rc = buf_addf(&text, ", more than %" PRId64 " bytes", rule->larger_than);
    if (!rc && !(item->why = arena_copy(&s->arena, buf_slice(&text)).p))
        rc = ERR_NOMEM;
    buf_fini(&text);
    return rc;
}

static bool copy_item_slice(struct arena *a, struct slice *text)
{
    *text = arena_copy(a, text->p ? *text : SLICE(""));
    return text->p != NULL;
}

/* The copies' own directory tells their age, as the system's cleanup has it; younger ones are no part. */
static enum err_code take_copies(const struct sweep_rule *rule, struct sweep *s,
                                 struct sweep_item *item, struct err *e)
{
    const struct store *st = item->ref.store;
    const char **part = arena_alloc(&s->arena, sizeof *part);
    struct stat sb;
    enum err_code rc = part ? ERR_OK : err_nomem(e);

    if (!rc && st->ops->copies)
        rc = st->ops->copies(st, &item->ref, &s->arena, part, e);
    if (rc || !st->ops->copies || lstat(*part, &sb) || !S_ISDIR(sb.st_mode))
        return rc;
    item->activity_ms = (int64_t)sb.st_mtim.tv_sec * 1000 + sb.st_mtim.tv_nsec / 1000000;
    item->part = part;
    item->parts = rule->before_ms == TIME_NONE || item->activity_ms < rule->before_ms;
    return ERR_OK;
}

static enum err_code measure_item(const struct sweep_rule *rule, struct sweep *s,
                                  struct sweep_item *item, struct err *e)
{
    const struct store *st = item->ref.store;
    enum err_code rc = ERR_OK;

    if (rule->copies)
        rc = take_copies(rule, s, item, e);
    else if (st->ops->parts)
        rc = st->ops->parts(st, &item->ref, true, &s->arena, &item->part, &item->parts, e);
    if (!rc && !rule->copies && st->ops->owned_refs)
        rc = st->ops->owned_refs(st, &item->ref, &s->arena, &item->owned_refs, e);
    for (size_t i = 0; i < item->parts && !rc; i++)
        rc = disk_usage_add(item->part[i], &item->usage, e);
    return rc;
}

enum err_code sweep_add(struct sweep *s, const struct sweep_item *item, struct err *e)
{
    struct sweep_item *list = arena_grow(&s->arena, s->item, s->n, sizeof *list);

    if (!list)
        return err_nomem(e);
    s->item = list;
    s->item[s->n++] = *item;
    return ERR_OK;
}

static enum err_code add_session_item(struct finder *f, const struct session_row *row, bool copied,
                                      struct err *e)
{
    struct sweep *s = f->sweep;
    struct sweep_item item = {
        .ref = row->ref, .title = row->summary, .cwd = row->cwd, .activity_ms = row->activity_ms
    };

    if (!copy_item_slice(&s->arena, &item.ref.id) || !copy_item_slice(&s->arena, &item.ref.path) ||
        !copy_item_slice(&s->arena, &item.ref.folder) || !copy_item_slice(&s->arena, &item.title) ||
        !copy_item_slice(&s->arena, &item.cwd))
        return err_nomem(e);
    enum err_code rc = measure_item(f->rule, s, &item, e);

    if (rc || (f->rule->copies && item.parts == 0) ||
        (f->rule->larger_than > 0 && item.usage.bytes <= f->rule->larger_than))
        return rc;
    if (explain_match(f->rule, row, s, &item))
        return err_nomem(e);
    item.stays = why_stays(&item, copied);
    item.chosen = !item.stays;
    return sweep_add(s, &item, e);
}

/* ---- all of them ---- */

static enum err_code consider(size_t i, const struct session_row *row, void *arg, struct err *e)
{
    struct finder *f = arg;
    bool meant = false;

    if (f->rule->cancel && atomic_load(f->rule->cancel))
        return ERR_CANCELLED;
    enum err_code rc = row ? is_meant(f->rule, row, &meant, e) : ERR_OK;

    return rc || !meant ? rc : add_session_item(f, row, listing_has_copies(f->order[i]), e);
}

static enum err_code find_sessions(struct store *const stores[], size_t n,
                                   const struct sweep_rule *rule, struct sweep *s, struct err *e)
{
    const struct listing_query q = { .scope = rule->scope,
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    struct finder f = { .rule = rule, .sweep = s };
    struct listing *l;
    size_t refs;
    enum err_code rc = listing_open(stores, n, &q, &l, e);

    if (rc)
        return rc;
    f.order = listing_refs(l, &refs);
    rc = describe_pool_run(&rule->scope, f.order, refs, DESCRIBE_POOL_AHEAD, consider, &f, e);
    listing_close(l);
    if (!rc)
        rc = sweep_live_all(s, e);
    for (size_t i = 0; i < s->n && !rc; i++)
        s->item[i].chosen = !s->item[i].stays;
    return rc;
}

enum err_code sweep_find(struct store *const stores[], size_t n, const struct sweep_rule *rule,
                         struct sweep *out, struct err *e)
{
    struct sweep s = { 0 };
    enum err_code rc = rule->orphans ? sweep_orphans(stores, n, rule, &s, e)
                                     : find_sessions(stores, n, rule, &s, e);

    if (rc)
        sweep_fini(&s);
    else
        *out = s;
    return rc;
}

void sweep_fini(struct sweep *s)
{
    arena_fini(&s->arena);
    *s = (struct sweep){ 0 };
}

bool sweep_is_chosen(const struct sweep_item *item)
{
    return item->chosen && !item->stays;
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
