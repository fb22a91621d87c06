#include <inttypes.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/maintenance/sweep.h"
#include "tui/commands/command.h"
#include "tui/commands/session_line.h"
#include "tui/commands/sessions.h"
#include "tui/text/when.h"

enum { TITLE_COLUMNS = 40 };

/* What was found, and what became of it. */
struct answer {
    struct sweep sweep;
    struct trash_list moved;
    bool applied;
    struct session_line_columns look; /* of text */
    bool orphans;                     /* what the rule means is no sessions */
};

static void int_member(struct jsonout *j, const char *key, int64_t n)
{
    jsonout_key(j, key);
    jsonout_int(j, n);
}

/* ---- the rule ---- */

static enum err_code read_rule(const struct invocation *in, const struct scope *scope,
                               struct sweep_rule *rule, struct err *e)
{
    const struct options *o = &in->options;

    *rule = (struct sweep_rule){ .scope = *scope,
                                 .before_ms = TIME_NONE,
                                 .empty = option_given(o, OPTION_EMPTY),
                                 .copies = option_given(o, OPTION_SAVED_FILES),
                                 .orphans = option_given(o, OPTION_ORPHANS),
                                 .archived = option_given(o, OPTION_ARCHIVED) };
    if (!o->older_than && !o->larger_than && !rule->empty && !rule->archived && !rule->orphans)
        return err_set(e, ERR_USAGE, "--older-than",
                       "sweep: needs --older-than AGE (90d, 12h, 2w) or another rule");
    if (rule->orphans && (rule->copies || rule->empty || rule->archived))
        return err_set(e, ERR_USAGE, "--orphans",
                       "sweep: works with --older-than and --larger-than only");
    if (option_given(o, OPTION_APPLY) && option_given(o, OPTION_DRY_RUN))
        return err_set(e, ERR_USAGE, "--apply", "sweep: not together with --dry-run");
    if (o->older_than &&
        !when_parse(slice_of(o->older_than), in->world->env.now_ms, &rule->before_ms))
        return err_set(e, ERR_USAGE, o->older_than, "sweep: not an age (90d, 12h, 2w)");
    if (o->larger_than && !text_size_parse(slice_of(o->larger_than), &rule->larger_than))
        return err_set(e, ERR_USAGE, o->larger_than, "sweep: not a size (500k, 10M, 2G)");
    return ERR_OK;
}

/* ---- JSON ---- */

static void json_parts(struct jsonout *j, const struct sweep_item *item)
{
    jsonout_key(j, "orphan");
    jsonout_bool(j, true);
    jsonout_key(j, "parts");
    jsonout_open(j, '[');
    for (size_t i = 0; i < item->parts; i++)
        jsonout_text(j, slice_of(item->part[i]));
    jsonout_close(j, ']');
}

static void sweep_item_json(struct jsonout *j, const struct sweep_item *item,
                            const struct trash_item *trash)
{
    jsonout_open(j, '{');
    jsonout_member(j, "system", slice_of(item->ref.store->ops->name));
    jsonout_member(j, "sessionId", item->ref.id);
    jsonout_member(j, "title", item->title);
    jsonout_member(j, "path", item->ref.path);
    int_member(j, "bytes", item->usage.bytes);
    int_member(j, "files", item->usage.files);
    int_member(j, "lastActivity", item->activity_ms);
    jsonout_member(j, "why", slice_of(item->stays ? item->stays : item->why));
    if (item->orphan)
        json_parts(j, item);
    if (trash)
        jsonout_member(j, "trashId", slice_of(trash->trash_id));
    jsonout_close(j, '}');
}

static void json_items(struct jsonout *j, const struct answer *a, bool staying)
{
    size_t k = 0;

    jsonout_key(j, staying ? "leftOut" : "sessions");
    jsonout_open(j, '[');
    for (size_t i = 0; i < a->sweep.n; i++)
        if (sweep_is_chosen(&a->sweep.item[i]) != staying)
            sweep_item_json(j, &a->sweep.item[i],
                            k < a->moved.n && !staying ? &a->moved.item[k++] : NULL);
    jsonout_close(j, ']');
}

/* The ids of one batch differ behind the dot. */
static struct slice batch_of(const struct trash_list *moved)
{
    return (struct slice){ moved->item[0].trash_id, strcspn(moved->item[0].trash_id, ".") };
}

static enum err_code write_sweep_json(struct out *out, const struct answer *a, struct err *e)
{
    struct jsonout j;
    struct disk_usage w;

    sweep_disk_usage(&a->sweep, &w);
    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '{');
    json_items(&j, a, false);
    json_items(&j, a, true);
    int_member(&j, "bytes", w.bytes);
    int_member(&j, "files", w.files);
    jsonout_key(&j, "applied");
    jsonout_bool(&j, a->applied);
    if (a->moved.n)
        jsonout_member(&j, "trash", batch_of(&a->moved));
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(out, SLICE("\n"), e);
}

/* ---- text ---- */

static enum err_code write_sweep_line(struct out *out, const struct sweep_item *item,
                                      const struct session_line_columns *look, struct err *e)
{
    char age[WHEN_AGE], size[SIZE_TEXT];

    when_age(look->now_ms, item->activity_ms, age);
    text_size(item->usage.bytes, size);
    enum err_code rc = out_addf(out, e, "%8s  %8s  ", age, size);

    if (!rc)
        rc = session_line_id(&item->ref, look, out, e);
    if (!rc)
        rc = out_add(out, SLICE("  "), e);
    if (!rc)
        rc = session_line_column(item->orphan ? SLICE("(left behind)") : item->title, TITLE_COLUMNS,
                                 out, e);
    if (!rc)
        rc = out_addf(out, e, "  %s%s\n", item->stays ? "stays: " : "",
                      item->stays ? item->stays : item->why);
    return rc ? rc : out_row(out, e);
}

/* What goes without its transcript is named, path by path. */
static enum err_code write_parts(struct out *out, const struct sweep_item *item, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < item->parts && !rc; i++) {
        rc = out_add(out, SLICE("                    "), e);
        if (!rc)
            rc = out_text(out, slice_of(item->part[i]), e);
        if (!rc)
            rc = out_add(out, SLICE("\n"), e);
    }
    return rc;
}

static enum err_code write_sweep_text(struct out *out, const struct answer *a, struct err *e)
{
    struct disk_usage w;
    char size[SIZE_TEXT];
    size_t n = sweep_disk_usage(&a->sweep, &w);
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < a->sweep.n && !rc; i++)
        if (!(rc = write_sweep_line(out, &a->sweep.item[i], &a->look, e)) &&
            a->sweep.item[i].orphan)
            rc = write_parts(out, &a->sweep.item[i], e);
    if (rc)
        return rc;
    text_size(w.bytes, size);
    return out_addf(out, e, "%s: %s%zu session%s%s, %s%s\n",
                    a->applied ? "moved to trash" : "would move to trash",
                    a->orphans ? "what " : "", n, n == 1 ? "" : "s",
                    a->orphans ? " left behind" : "", size,
                    n == 0       ? ""
                    : a->applied ? " (undo with: reprise undo)"
                                 : " (use --apply to move them)");
}

/* ---- together ---- */

static enum err_code move_to_trash(struct invocation *in, struct answer *a, struct err *e)
{
    struct change_log *log;
    enum err_code rc = change_log_open(&in->world->env, &log, e);

    if (rc)
        return rc;
    rc = sweep_move(log, &in->world->env, &a->sweep, &a->moved, e);
    change_log_close(log);
    a->applied = !rc;
    in->done = !rc && a->moved.n;
    return rc;
}

static enum err_code choose_sweep_columns(const struct invocation *in, const struct sessions *s,
                                          struct answer *a, struct err *e)
{
    enum err_code rc = session_line_columns_open(s, &in->out, in->world->env.now_ms, &a->look, e);

    for (size_t i = 0; i < a->sweep.n && !rc; i++)
        session_line_columns_fit(&a->look, &a->sweep.item[i].ref);
    return rc;
}

enum err_code sweep_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct sweep_rule rule;
    struct answer a = { .applied = false };
    enum err_code rc = sessions_open(in, false, &s, e);

    if (rc)
        return rc;
    rc = read_rule(in, &s.scope, &rule, e);
    a.orphans = !rc && rule.orphans;
    if (!rc)
        rc = sweep_find(s.store, s.n, &rule, &a.sweep, e);
    if (!rc && !option_given(&in->options, OPTION_JSON))
        rc = choose_sweep_columns(in, &s, &a, e); /* while they are there */
    if (!rc && option_given(&in->options, OPTION_APPLY))
        rc = move_to_trash(in, &a, e);
    if (!rc && option_given(&in->options, OPTION_JSON))
        rc = write_sweep_json(&in->out, &a, e);
    else if (!rc)
        rc = write_sweep_text(&in->out, &a, e);
    session_line_columns_close(&a.look);
    sweep_fini(&a.sweep);
    trash_list_fini(&a.moved);
    sessions_close(&s);
    return rc;
}
