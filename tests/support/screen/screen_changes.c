#include "support/screen/screen.h"

#include "tests/test.h"
#include "tui/data/session_table.h"

#include <stdlib.h>

/* Changes of sessions that exist in memory only, with the replies that workers would send. */

static struct slice text_of(const char *text)
{
    return text ? slice_of(text) : (struct slice){ 0 };
}

static void answer_weigh(struct screen *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_DELETE_ESTIMATE, .generation = e->generation };

    m.u.usage.n = e->refs->n;
    m.u.usage.unsure = s->unsure;
    for (size_t i = 0; i < e->refs->n; i++)
        m.u.usage.bytes += e->refs->ref[i].file.size + s->side_bytes;
    screen_send(s, m);
}

/* The trash contains the deleted sessions, each under the first letters of its id. */
static void answer_trash(struct screen *s, const struct effect *e)
{
    struct trash_list *list = calloc(1, sizeof *list);

    assert_non_null(list);
    list->item = arena_zalloc(&list->arena, (s->fakes + 1) * sizeof *list->item);
    assert_non_null(list->item);
    for (size_t i = 0; i < s->fakes; i++)
        if (s->fake[i].gone)
            list->item[list->n++] =
                (struct trash_item){ .system = "claude",
                                     .trash_id = arena_format(&list->arena, "%.8s", s->fake[i].id),
                                     .session = s->fake[i].id,
                                     .title = s->fake[i].title,
                                     .path = "/home/u/.claude/projects/shop/x.jsonl",
                                     .deleted_ms = s->now_ms - HOUR,
                                     .bytes = s->fake[i].size };
    screen_send(
        s, (struct msg){ .kind = MSG_TRASH, .generation = e->generation, .u.trash.list = list });
}

static void answer_findings(struct screen *s, const struct effect *e, const struct finding *f,
                            size_t n)
{
    struct findings *found = findings_new();

    assert_non_null(found);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(findings_add(found, "claude", &s->store, &f[i], NULL), ERR_OK);
    screen_send(
        s, (struct msg){ .kind = MSG_FINDINGS, .generation = e->generation, .u.findings = found });
}

static void answer_doctor(struct screen *s, const struct effect *e)
{
    const struct fake *f = &s->fake[e->refs->ref[0].file.ino - 1];

    answer_findings(s, e, f->finding, f->findings);
}

static bool rule_means(const struct screen *s, const struct sweep_rule *rule, const struct fake *f)
{
    return !f->gone && !rule->orphans &&
           (rule->before_ms == TIME_NONE || s->now_ms - f->ago_ms < rule->before_ms) &&
           f->size + s->side_bytes > rule->larger_than && !rule->empty &&
           (!rule->archived || (f->flags & SESSION_ARCHIVED));
}

/* No session of this store is empty. */
static void answer_sweep(struct screen *s, const struct effect *e)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);

    assert_non_null(sweep);
    sweep->item = arena_zalloc(&sweep->arena, (s->fakes + 1) * sizeof *sweep->item);
    assert_non_null(sweep->item);
    s->scope = e->scope;
    for (size_t i = 0; i < s->fakes; i++) {
        const struct fake *f = &s->fake[i];
        bool live = f->flags & SESSION_LIVE;
        char path[160];

        if (!rule_means(s, &e->rule, f))
            continue;
        struct sweep_item *item = &sweep->item[sweep->n++];

        *item = (struct sweep_item){ .ref = screen_ref(s, f, path),
                                     .title = text_of(f->title),
                                     .cwd = text_of(f->cwd),
                                     .usage = { .files = 2, .bytes = f->size + s->side_bytes },
                                     .activity_ms = s->now_ms - f->ago_ms,
                                     .tag = f->tag ? text_of(f->tag) : SLICE(""),
                                     .why = "not used for a while",
                                     .stays = live ? "process 4242 may be writing to it" : NULL,
                                     .chosen = !live };
        if (item->tag.n && !live && !(e->rule.include & SWEEP_TAGGED)) {
            item->stays = arena_format(&sweep->arena, "tagged #%s", f->tag);
            item->kept = SWEEP_TAGGED;
            item->chosen = false;
        }
        item->ref.path = arena_copy(&sweep->arena, item->ref.path);
    }
    sweep->undo_records = e->n ? s->undo_records : 0;
    sweep->old_snapshots = e->n ? s->old_snapshots : 0;
    sweep->held_snapshots = e->n ? s->held_snapshots : 0;
    sweep->undo_bytes = 2048 * (int64_t)sweep->undo_records;
    screen_send(s,
                (struct msg){ .kind = MSG_SWEEP, .generation = e->generation, .u.sweep = sweep });
}

static void take_out_fake(struct screen *s, struct slice trash_id, struct change_result *c)
{
    for (size_t i = 0; i < s->fakes; i++)
        if (s->fake[i].gone && strncmp(s->fake[i].id, trash_id.p, trash_id.n) == 0) {
            s->fake[i].gone = c->request == CHANGE_EMPTY;
            c->bytes += s->fake[i].size;
            assert_true(name_list_add(&c->sessions, text_of(s->fake[i].id)));
        }
}

static void change_fake(struct screen *s, const struct effect *e, struct fake *f)
{
    switch (e->request) {
    case CHANGE_RENAME:
        snprintf(s->renamed, sizeof s->renamed, "%.*s", SLICE_ARG(buf_slice(&e->text)));
        f->title = s->renamed;
        break;
    case CHANGE_TAG:
        snprintf(s->renamed, sizeof s->renamed, "%.*s", SLICE_ARG(buf_slice(&e->text)));
        f->tag = s->renamed;
        break;
    case CHANGE_PIN: f->tag = TAG_PINNED; break;
    case CHANGE_UNPIN: f->tag = NULL; break;
    case CHANGE_ARCHIVE: f->flags |= SESSION_ARCHIVED; break;
    case CHANGE_UNARCHIVE: f->flags &= ~(unsigned)SESSION_ARCHIVED; break;
    case CHANGE_REMOVE:
    case CHANGE_TRASH: f->gone = true; break;
    case CHANGE_FIX:
        f->flags &= ~(unsigned)SESSION_TORN;
        f->findings--;
        f->size++;
        break;
    default: break;
    }
}

/* Undo restores deleted sessions, the only change that this store can reverse. */
static void undo_fakes(struct screen *s, struct change_result *c)
{
    for (size_t i = 0; i < s->fakes; i++)
        if (s->fake[i].gone) {
            s->fake[i].gone = false;
            assert_true(name_list_add(&c->sessions, text_of(s->fake[i].id)));
        }
    assert_int_equal(buf_add(&c->text, SLICE("moved to trash")), ERR_OK);
}

static void sweep_fake(struct screen *s, const struct sweep_item *item, struct change_result *c)
{
    screen_note(s, " %.8s", item->ref.id.p);
    s->fake[item->ref.file.ino - 1].gone |= s->refusal.code == ERR_OK;
    c->bytes += item->usage.bytes;
    assert_true(name_list_add(&c->sessions, item->ref.id));
}

static void answer_change(struct screen *s, const struct effect *e)
{
    static const char *const names[] = {
        [CHANGE_RENAME] = "rename",
        [CHANGE_TAG] = "tag",
        [CHANGE_ARCHIVE] = "archive",
        [CHANGE_UNARCHIVE] = "unarchive",
        [CHANGE_TRASH] = "trash",
        [CHANGE_FORK] = "fork",
        [CHANGE_RESUME_AT] = "resume at",
        [CHANGE_UNDO] = "undo",
        [CHANGE_REDO] = "redo",
        [CHANGE_RESTORE] = "restore",
        [CHANGE_JOIN] = "join",
        [CHANGE_EMPTY] = "empty",
        [CHANGE_PRUNE] = "prune",
        [CHANGE_SWEEP] = "sweep",
        [CHANGE_FIX] = "fix",
        [CHANGE_REMOVE] = "remove",
        [CHANGE_PIN] = "pin",
        [CHANGE_UNPIN] = "unpin",
        [CHANGE_CONTINUE_IN] = "continue in",
        [CHANGE_BUNDLE] = "bundle",
    };
    struct change_result *c = change_result_new(e->request);

    assert_non_null(c);
    screen_note(s, "%s%s", names[e->request], e->unsure ? " unsure" : "");
    for (size_t i = 0; e->refs && i < e->refs->n; i++) {
        const struct session_ref *ref = &e->refs->ref[i];

        screen_note(s, " %.8s", ref->id.p);
        if (s->refusal.code == ERR_OK)
            change_fake(s, e, &s->fake[ref->file.ino - 1]);
        c->bytes += ref->file.size + s->side_bytes;
        assert_true(name_list_add(&c->sessions, ref->id));
    }
    for (size_t i = 0; !e->refs && e->names && i < e->names->n; i++) {
        screen_note(s, " %.*s", SLICE_ARG(e->names->name[i]));
        if (e->request == CHANGE_RESTORE && s->place_taken) {
            c->needs_confirmation = true;
            snprintf(c->id, sizeof c->id, "%.*s", SLICE_ARG(e->names->name[i]));
            continue;
        }
        take_out_fake(s, e->names->name[i], c);
    }
    if (e->request == CHANGE_PRUNE) {
        screen_note(s, " %zu %zu", e->n, e->first);
        c->pruned = s->undo_records;
        c->pruned_snapshots = s->old_snapshots;
        c->bytes = 2048 * (int64_t)s->undo_records;
        s->undo_records = s->old_snapshots = 0;
    }
    for (size_t i = 0; e->sweep && i < e->sweep->n; i++)
        if (sweep_is_chosen(&e->sweep->item[i]))
            sweep_fake(s, &e->sweep->item[i], c);
    if (e->text.n > 0)
        screen_note(s, ": %.*s", SLICE_ARG(buf_slice(&e->text)));
    screen_note(s, "\n");
    if (e->request == CHANGE_FORK)
        snprintf(c->copy, sizeof c->copy, "%s", s->fake[s->fakes - 1].id);
    if (e->request == CHANGE_UNDO)
        undo_fakes(s, c);
    else
        assert_int_equal(buf_add(&c->text, buf_slice(&e->text)), ERR_OK);
    c->repaired = c->steps = e->request == CHANGE_FIX;
    c->error = s->refusal;
    s->refusal = (struct err){ 0 };
    screen_send(s,
                (struct msg){ .kind = MSG_CHANGED, .generation = e->generation, .u.changed = c });
}

bool screen_answer_change(struct screen *s, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_ESTIMATE_DELETE: answer_weigh(s, e); return true;
    case EFFECT_SWEEP: answer_sweep(s, e); return true;
    case EFFECT_TRASH: answer_trash(s, e); return true;
    case EFFECT_CHECK_SESSION: answer_doctor(s, e); return true;
    case EFFECT_CHECK_STORE: answer_findings(s, e, s->store_findings, s->arounds); return true;
    case EFFECT_CHANGE: answer_change(s, e); return true;
    default: return false;
    }
}
