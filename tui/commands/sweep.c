#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/journal/change.h"
#include "store/maintenance/sweep.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/filter/filter.h"
#include "tui/text/human.h"

enum { TITLE_COLUMNS = 40 };

/* The sessions found, and the result for them. */
struct answer {
    struct sweep sweep;
    struct trash_list moved;
    char change[CHANGE_ID]; /* that moved them */
    bool applied;
    struct session_line_columns look; /* the columns of a text */
    bool orphans;                     /* they are remains, not sessions */
};

/* ---- the rule ---- */

bool selection_has(const struct session_row *row, void *arg)
{
    struct selection *s = arg;

    if (!session_tags_include(row->tag, s->tag))
        return false;
    if (s->query.n == 0)
        return true;
    struct doc *doc = doc_new(row, &s->arena, s->doc, &s->room);

    s->failed |= !doc;
    s->doc = doc ? doc : s->doc;
    return doc && doc_score(doc, &s->query, false, DOC_EFFORT_BEST) != FUZZY_NO_MATCH;
}

void selection_fini(struct selection *s)
{
    query_fini(&s->query);
    arena_fini(&s->arena);
}

/* In the list a word that is not complete yet is left out. Here, it would select too many sessions. */
enum err_code selection_read(const char *text, int64_t now_ms, const char *name,
                             struct selection *s, struct err *e)
{
    struct query *q = &s->query;

    if (!query_parse(q, slice_of(text), now_ms))
        return err_nomem(e);
    if (q->problem[0])
        return err_set(e, ERR_USAGE, name, "%s", q->problem);
    if (q->content)
        return err_set(e, ERR_USAGE, name, "// is for the list; here, sessions are selected");
    if (q->incomplete || q->n == 0)
        return err_set(e, ERR_USAGE, name, "\"%s\" is not complete", text);
    for (size_t i = 0; i < q->n; i++)
        if (q->term[i].kind == TERM_IS && q->term[i].value == IS_MARKED)
            return err_set(e, ERR_USAGE, name, "is:marked is for the list");
    return ERR_OK;
}

static enum err_code read_rule(const struct invocation *in, const struct scope *scope,
                               struct selection *selection, struct sweep_rule *rule, struct err *e)
{
    const struct options *o = &in->options;
    bool selects = o->tag || o->query;

    *rule = (struct sweep_rule){ .scope = *scope,
                                 .before_ms = TIME_NONE,
                                 .empty = option_given(o, OPTION_EMPTY),
                                 .copies = option_given(o, OPTION_SAVED_FILES),
                                 .orphans = option_given(o, OPTION_ORPHANS),
                                 .archived = option_given(o, OPTION_ARCHIVED),
                                 .filter = selects ? selection_has : NULL,
                                 .filter_arg = selection };
    rule->include = (option_given(o, OPTION_INCLUDE_TAGGED) ? SWEEP_TAGGED : 0u) |
                    (option_given(o, OPTION_INCLUDE_NAMED) ? SWEEP_NAMED : 0u);

    /* A sweep without a rule would move every session to the trash. */
    if (!o->older_than && !o->larger_than && !rule->empty && !rule->archived && !rule->orphans &&
        !selects)
        return err_set(e, ERR_USAGE, "", "sweep needs a rule, such as --older-than 30d");
    if (rule->orphans && (rule->copies || rule->empty || rule->archived || selects))
        return err_set(e, ERR_USAGE, "--orphans",
                       "sweep: works with --older-than and --larger-than only");
    if (option_given(o, OPTION_APPLY) && option_given(o, OPTION_DRY_RUN))
        return err_set(e, ERR_USAGE, "--apply", "sweep: not together with --dry-run");

    if (o->older_than &&
        !human_time_parse(slice_of(o->older_than), in->world->env.now_ms, &rule->before_ms))
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not an age; write 30d, 12h or 2w",
                       o->older_than);
    if (o->larger_than && !human_size_parse(slice_of(o->larger_than), &rule->larger_than))
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not a size; write 500k, 10M or 2G",
                       o->larger_than);

    selection->tag = option_text(o->tag);
    if (o->tag && !o->tag[0])
        return err_set(e, ERR_USAGE, "--tag", "sweep: needs a tag");
    return o->query ? selection_read(o->query, in->world->env.now_ms, "--query", selection, e)
                    : ERR_OK;
}

/* ---- JSON ---- */

static void write_item_json(const struct sweep_item *item, const struct trash_item *trash,
                            struct out *o)
{
    out_open(o, NULL, '{');
    out_string(o, "system", item->ref.store->ops->name);
    out_member(o, "sessionId", item->ref.id);
    out_member(o, "title", item->title);
    out_member(o, "path", item->ref.path);
    out_int(o, "bytes", item->usage.bytes);
    out_int(o, "files", item->usage.files);
    out_int(o, "lastActivity", item->activity_ms);
    out_string(o, "why", item->stays ? item->stays : item->why);
    if (item->tag.n)
        out_member(o, "tag", item->tag);
    if (item->kept)
        out_string(o, "kept", item->kept & SWEEP_TAGGED ? "tagged" : "named");
    if (item->orphan) {
        out_bool(o, "orphan", true);
        out_strings(o, "parts", (const char *const *)item->part, item->parts);
    }
    if (trash)
        out_string(o, "trashId", trash->trash_id);
    out_close(o, '}');
}

static void write_items_json(const struct answer *a, bool staying, struct out *o)
{
    size_t k = 0;

    out_open(o, staying ? "leftOut" : "sessions", '[');
    for (size_t i = 0; i < a->sweep.n; i++)
        if (sweep_is_chosen(&a->sweep.item[i]) != staying)
            write_item_json(&a->sweep.item[i],
                            k < a->moved.n && !staying ? &a->moved.item[k++] : NULL, o);
    out_close(o, ']');
}

/* The ids of one batch differ only after the dot. */
static struct slice sweep_batch_of(const struct trash_list *moved)
{
    return (struct slice){ moved->item[0].trash_id, strcspn(moved->item[0].trash_id, ".") };
}

static void write_sweep_json(const struct answer *a, struct out *o)
{
    struct disk_usage w;

    sweep_disk_usage(&a->sweep, &w);
    out_open(o, NULL, '{');
    write_items_json(a, false, o);
    write_items_json(a, true, o);
    out_int(o, "bytes", w.bytes);
    out_int(o, "files", w.files);
    out_int(o, "keptTagged", (int64_t)sweep_kept(&a->sweep, SWEEP_TAGGED));
    out_int(o, "keptNamed", (int64_t)sweep_kept(&a->sweep, SWEEP_NAMED));
    out_bool(o, "applied", a->applied);
    if (a->moved.n)
        out_member(o, "trash", sweep_batch_of(&a->moved));
    out_end(o, '}');
}

/* ---- text ---- */

static enum err_code write_item_text(const struct sweep_item *item,
                                     const struct session_line_columns *look, struct out *o,
                                     struct err *e)
{
    char age[HUMAN_AGE], size[HUMAN_SIZE];

    human_age(look->now_ms, item->activity_ms, age);
    if (item->usage.bytes > 0 || store_has_size(&item->ref))
        human_size(item->usage.bytes, size);
    else
        snprintf(size, sizeof size, "-");
    out_addf(o, "%8s  %8s  ", age, size);
    session_line_id(&item->ref, look, o);
    out_addf(o, "  ");
    session_line_column(item->orphan ? SLICE("(left behind)") : item->title, TITLE_COLUMNS, o);
    out_addf(o, "  ");
    if (item->tag.n && !(item->kept & SWEEP_TAGGED)) {
        out_addf(o, "#");
        out_text(o, item->tag);
        out_addf(o, "  ");
    }
    out_addf(o, "%s", item->stays ? "stays: " : "");
    out_line(o, "", slice_of(item->stays ? item->stays : item->why));
    /* For leftovers of a deleted session, each path is listed. */
    for (size_t i = 0; item->orphan && i < item->parts; i++)
        out_line(o, "                    ", slice_of(item->part[i]));
    return out_row(o, e);
}

static enum err_code write_sweep_text(const struct answer *a, struct out *o, struct err *e)
{
    struct disk_usage w;
    char size[HUMAN_SIZE];
    size_t n = sweep_disk_usage(&a->sweep, &w);
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < a->sweep.n && !rc; i++)
        rc = write_item_text(&a->sweep.item[i], &a->look, o, e);
    human_size(w.bytes, size);
    out_addf(o, "%s: %s%zu session%s%s, %s", a->applied ? "moved to trash" : "would move to trash",
             a->orphans ? "what " : "", n, n == 1 ? "" : "s", a->orphans ? " left behind" : "",
             size);
    if (a->change[0])
        out_addf(o, OUT_UNDO_WITH, a->change);
    out_addf(o, n && !a->applied ? " (use --apply to move them)\n" : "\n");

    /* "kept: 2 tagged and 1 named by hand (--include-tagged --include-named moves them, too)" */
    size_t tagged = sweep_kept(&a->sweep, SWEEP_TAGGED), named = sweep_kept(&a->sweep, SWEEP_NAMED);

    if (tagged)
        out_addf(o, "kept: %zu tagged", tagged);
    if (named)
        out_addf(o, "%s%zu named by hand", tagged ? " and " : "kept: ", named);
    if (tagged || named)
        out_addf(o, " (%s%s%s select%s %s, too)\n", tagged ? "--include-tagged" : "",
                 tagged && named ? " and " : "", named ? "--include-named" : "",
                 tagged && named ? "" : "s", tagged + named == 1 ? "it" : "them");

    return rc;
}

/* ---- together ---- */

static enum err_code sweep_move_to_trash(struct invocation *in, struct answer *a, struct err *e)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;

    TRY(change_log_open(&in->world->env, &log, e));
    TRY(sweep_move(log, &in->world->env, &a->sweep, &a->moved, e));
    snprintf(a->change, sizeof a->change, "%s", change_log_made(log));
    a->applied = true;
    in->done = a->moved.n > 0;
    return ERR_OK;
}

static void sweep_answer_fini(struct answer *a)
{
    session_line_columns_close(&a->look);
    sweep_fini(&a->sweep);
    trash_list_fini(&a->moved);
}

enum err_code sweep_run(struct invocation *in, struct err *e)
{
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    CLEANUP(selection_fini) struct selection selection = { .failed = false };
    CLEANUP(sweep_answer_fini) struct answer a = { .applied = false };
    struct sweep_rule rule;

    TRY(sessions_open(in, false, &s, e));
    TRY(read_rule(in, &s.scope, &selection, &rule, e));
    a.orphans = rule.orphans;
    TRY(sweep_find(s.store, s.n, &rule, &a.sweep, e));
    NEED(!selection.failed);
    if (!in->out.wants_json) { /* before the sessions are moved */
        TRY(session_line_columns_open(&s, NULL, &in->out, in->world->env.now_ms, &a.look, e));
        for (size_t i = 0; i < a.sweep.n; i++)
            session_line_columns_fit(&a.look, &a.sweep.item[i].ref);
    }
    if (option_given(&in->options, OPTION_APPLY))
        TRY(sweep_move_to_trash(in, &a, e));
    if (!in->out.wants_json && !sessions_none(&s, "")[0])
        return write_sweep_text(&a, &in->out, e);
    if (in->out.wants_json)
        write_sweep_json(&a, &in->out);
    else
        command_warn(in, ERR_OK, NULL, "%s", sessions_none(&s, ""));
    return ERR_OK;
}
