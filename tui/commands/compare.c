#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/blame/blame.h"
#include "store/blame/compare.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"
#include "tui/commands/command.h"
#include "tui/commands/rewind.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* `reprise compare A B`. */

enum { COMPARE_GAP = 3, COMPARE_LEAST_COLUMNS = 20, COMPARE_CONTEXT = 3 };

static const char *const compare_name[] = { "A", "B" };

/* ---- text ---- */

void compare_write_hunks(const struct linediff *d, struct out *o)
{
    for (size_t i = 0; i < d->hunks; i++) {
        const struct linediff_hunk *h = &d->hunk[i];

        out_addf(o, "@@ -%u,%u +%u,%u @@\n", h->old_start, h->old_lines, h->new_start,
                 h->new_lines);
        for (size_t k = h->first; k < h->first + h->n; k++) {
            out_addf(o, "%c", d->line[k].sign);
            out_text(o, d->line[k].text);
            out_addf(o, d->line[k].no_newline ? "\n\\ No newline at end of file\n" : "\n");
        }
    }
}

static void compare_write_parting(const struct compared_sessions *c, struct out *o)
{
    const struct compared_side *a = &c->side[0];

    if (!c->common) {
        out_addf(o, "no common message\n");
        return;
    }
    out_addf(o, "%zu common message%s", c->common, c->common == 1 ? "" : "s");
    if (a->common) {
        out_addf(o, ", up to prompt %zu: ", a->common);
        out_text(o, blame_first_line(a->prompt[a->common - 1].text));
    }
    out_addf(o, "\n");
}

static void compare_write_counts(const char *name, const struct compared_state *s, struct out *o)
{
    char counts[64] = "";

    if (s->changed)
        snprintf(counts, sizeof counts, "%s +%" PRIu64 " -%" PRIu64, name, s->added, s->removed);
    out_addf(o, "%-14s", counts);
}

static void compare_write_name(const char *lead, const char *name, const struct compared_file *f,
                               const struct compared_state *s, struct out *o)
{
    out_addf(o, "%s %s", lead, s->absent ? "/dev/null" : name);
    if (!s->absent) {
        out_addf(o, "/");
        out_text(o, f->path);
    }
    out_addf(o, "\n");
}

static enum err_code compare_write_file(const struct compared_file *f, struct out *o, struct err *e)
{
    CLEANUP(linediff_fini) struct linediff d = { 0 };

    compare_write_counts("A", &f->side[0], o);
    compare_write_counts("B", &f->side[1], o);
    out_text(o, f->path);
    if (f->side[0].changed && f->side[1].changed)
        out_addf(o, "  (%s)", compare_result(f));
    out_addf(o, "\n");
    if (!compare_has_diff(f))
        return ERR_OK;
    TRY(linediff_make(f->side[0].text, f->side[1].text, COMPARE_CONTEXT, &d, e));
    compare_write_name("---", "a", f, &f->side[0], o);
    compare_write_name("+++", "b", f, &f->side[1], o);
    compare_write_hunks(&d, o);
    return ERR_OK;
}

static enum err_code compare_write_text(const struct session_ref *ref,
                                        const struct compared_sessions *c, struct invocation *in,
                                        struct err *e)
{
    struct out *o = &in->out;

    for (size_t k = 0; k < 2; k++) {
        /* A line for each side, with its messages, time and tokens. */
        char tokens[HUMAN_COUNT];

        out_addf(o, "%s  %s ", compare_name[k], ref[k].store->ops->name);
        out_text(o, ref[k].id);
        out_addf(o, ": %zu message%s", c->side[k].messages, c->side[k].messages == 1 ? "" : "s");
        if (c->side[k].first_ms != TIME_NONE)
            out_addf(o, " in %" PRId64 " min", (c->side[k].last_ms - c->side[k].first_ms) / 60000);
        if (c->side[k].records_usage) {
            human_count(usage_sum_total(&c->side[k].usage), tokens);
            out_addf(o, ", %s tokens", tokens);
        }
        if (c->side[k].records_usage && c->side[k].usage.has_cost)
            out_addf(o, ", $%.2f%s", c->side[k].usage.cost, c->side[k].usage.unpriced ? "+" : "");
        out_addf(o, "\n");
    }
    compare_write_parting(c, o);

    /* The prompts after the common ones: in two columns on a terminal. */
    const size_t width =
        o->columns > 2 * COMPARE_LEAST_COLUMNS ? (o->columns - COMPARE_GAP) / 2 : 0;
    bool more = true;

    for (size_t n = c->side[0].common; more; n++) {
        more = false;
        for (size_t k = 0; k < 2; k++) {
            const struct compared_side *side = &c->side[k];
            char label[40];
            const int used = snprintf(label, sizeof label, "%s %zu: ", compare_name[k], n + 1);
            const bool is = n < side->prompts;
            const struct slice text = is ? blame_first_line(side->prompt[n].text) : SLICE("");

            if (width && (n < c->side[0].prompts || n < c->side[1].prompts)) {
                out_addf(o, "%s%*s", k ? " | " : "", is ? 0 : used, "");
                out_addf(o, "%s", is ? label : "");
                session_line_column(text, width - (size_t)used, o);
                out_addf(o, "%s", k ? "\n" : "");
            } else if (is) {
                out_addf(o, "%s", label);
                out_line(o, "", text);
            }
            more = more || is;
        }
    }

    for (size_t i = 0; i < c->files; i++)
        if (c->file[i].side[0].changed || c->file[i].side[1].changed)
            TRY(compare_write_file(&c->file[i], o, e));
    for (size_t k = 0; k < 2; k++)
        if (c->side[k].no_files)
            command_warn(in, ERR_UNSUPPORTED, in->argv[k],
                         "it is not known which files it changed: %s", c->side[k].no_files);
    return ERR_OK;
}

/* ---- JSON ---- */

static void compare_write_side_json(const char *key, const struct session_ref *ref,
                                    const struct compared_side *side, struct out *o)
{
    out_open(o, key, '{');
    out_string(o, "system", ref->store->ops->name);
    out_member(o, "sessionId", ref->id);
    out_member(o, "cwd", side->cwd);
    out_int(o, "messages", (int64_t)side->messages);
    if (side->first_ms != TIME_NONE) {
        out_int(o, "first", side->first_ms);
        out_int(o, "last", side->last_ms);
    }
    if (side->records_usage)
        out_int(o, "tokens", usage_sum_total(&side->usage));
    if (side->records_usage && side->usage.has_cost)
        out_money(o, "costUSD", side->usage.cost);
    out_int(o, "commonPrompts", (int64_t)side->common);
    out_open(o, "prompts", '[');
    for (size_t i = 0; i < side->prompts; i++)
        jsonout_text(out_json(o), side->prompt[i].text);
    out_close(o, ']');
    out_string(o, "filesUnknown", side->no_files);
    out_close(o, '}');
}

static enum err_code compare_write_file_json(const struct compared_file *f, struct out *o,
                                             struct err *e)
{
    CLEANUP(linediff_fini) struct linediff d = { 0 };
    static const char *const key[] = { "a", "b" };

    out_open(o, NULL, '{');
    out_member(o, "path", f->path);
    for (size_t k = 0; k < 2; k++) {
        const struct compared_state *s = &f->side[k];

        if (!s->changed)
            continue;
        out_open(o, key[k], '{');
        out_int(o, "edits", (int64_t)s->edits);
        out_int(o, "added", (int64_t)s->added);
        out_int(o, "removed", (int64_t)s->removed);
        out_bool(o, "known", s->known);
        out_bool_if_true(o, "absent", s->known && s->absent);
        out_close(o, '}');
    }

    if (f->side[0].changed && f->side[1].changed)
        out_string(o, "result", compare_result(f));
    if (compare_has_diff(f)) {
        TRY(linediff_make(f->side[0].text, f->side[1].text, COMPARE_CONTEXT, &d, e));
        out_int(o, "insertions", d.insertions);
        out_int(o, "deletions", d.deletions);
    }
    out_close(o, '}');
    return ERR_OK;
}

static enum err_code compare_write_json(const struct session_ref *ref,
                                        const struct compared_sessions *c, struct out *o,
                                        struct err *e)
{
    out_open(o, NULL, '{');
    out_int(o, "commonMessages", (int64_t)c->common);
    compare_write_side_json("a", &ref[0], &c->side[0], o);
    compare_write_side_json("b", &ref[1], &c->side[1], o);
    out_open(o, "files", '[');
    for (size_t i = 0; i < c->files; i++)
        if (c->file[i].side[0].changed || c->file[i].side[1].changed)
            TRY(compare_write_file_json(&c->file[i], o, e));
    out_close(o, ']');
    out_end(o, '}');
    return ERR_OK;
}

/* ---- taking files ---- */

/* The hunks of what would change, with their numbers. */
static enum err_code compare_write_taken(struct invocation *in, const struct rewind_plan *plan,
                                         const struct rewind_options *options, struct err *e)
{
    CLEANUP(rewind_preview_fini) struct rewind_preview p = { 0 };
    struct out *o = &in->out;

    TRY(rewind_preview(plan, options, &p, e));
    for (size_t i = 0; i < p.n; i++) {
        CLEANUP(rewind_sides_fini) struct rewind_sides sides = { 0 };
        CLEANUP(linediff_fini) struct linediff d = { 0 };
        const struct rewind_entry *x = &p.entry[i];

        if ((x->action == REWIND_REFUSED ? x->would : x->action) != REWIND_RESTORE || x->binary)
            continue;
        if (rewind_sides_read(plan, x, &sides, NULL))
            continue;
        TRY(linediff_make(buf_slice(&sides.present), buf_slice(&sides.wanted), REWIND_CONTEXT, &d,
                          e));
        for (size_t h = 0; h < d.hunks; h++) {
            /* The writer prints a whole diff, so each hunk becomes one, which its number precedes. */
            struct linediff one = d;

            one.hunk = &d.hunk[h];
            one.hunks = 1;
            out_addf(o, "\nhunk %zu of %zu of ", h + 1, d.hunks);
            out_line(o, "", slice_of(x->target->path));
            compare_write_hunks(&one, o);
        }
    }
    return out_flush(o, e);
}

static enum err_code compare_take_files(struct invocation *in, struct sessions *s,
                                        const struct session_ref ref[2],
                                        const struct compared_sessions *c, struct err *e)
{
    const struct options *o = &in->options;
    const bool apply = option_given(o, OPTION_APPLY);
    struct rewind_options ro = { .allow_outside = option_given(o, OPTION_ALLOW_OUTSIDE),
                                 .allow_edited = option_given(o, OPTION_OVERWRITE_EDITED),
                                 .allow_sensitive = option_given(o, OPTION_ALLOW_SENSITIVE) };
    struct compare_take take = { .side = (size_t)o->take };
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };

    if (o->files)
        TRY(rewind_choose_files(in, &s->arena, &ro, e));
    if (option_given(o, OPTION_HUNK)) {
        take.hunk_path = ro.only[0];
        take.hunk = (size_t)o->hunk;
    }
    enum err_code rc = compare_take_plan(ref, c, &take, &plan, e);

    if (!rc)
        rc = rewind_plan_check_files(&plan, &ro, e);
    if (rc) {
        /* The error is saved, because writing the answer that reports it uses `e`, too. */
        const struct err why = *e;

        TRY(rewind_answer_none(in, &why, e));
        *e = why;
        return rc;
    }

    TRY(rewind_show_or_apply(in, &plan, &ro, apply, option_given(o, OPTION_SKIP_REFUSED), e));
    return apply || in->out.wants_json ? ERR_OK : compare_write_taken(in, &plan, &ro, e);
}

/* ---- the command ---- */

enum err_code compare_run(struct invocation *in, struct err *e)
{
    static const enum option_id with_take[] = {
        OPTION_FILE,         OPTION_HUNK,          OPTION_APPLY,           OPTION_PLAN,
        OPTION_SKIP_REFUSED, OPTION_ALLOW_OUTSIDE, OPTION_ALLOW_SENSITIVE, OPTION_OVERWRITE_EDITED,
    };

    CLEANUP(compare_fini) struct compared_sessions c = { .files = 0 };
    struct rewind_recovery waiting;
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    struct session_ref *ref;

    const struct options *o = &in->options;

    for (size_t i = 0; i < COUNT_OF(with_take) && !option_given(o, OPTION_TAKE); i++)
        if (option_given(o, with_take[i]))
            return err_set(
                e, ERR_USAGE, "compare",
                "needs --take a or --take b for this option; see reprise compare --help");
    if (option_given(o, OPTION_HUNK) && o->files != 1)
        return err_set(e, ERR_USAGE, "--hunk", "needs one --file");

    /* An interrupted rewind is completed first, because it may have left some of the files half changed. */
    if (option_given(&in->options, OPTION_APPLY) && !in->read_only)
        rewinds_recover_first(in, &waiting);

    TRY(sessions_open(in, true, &s, e));
    TRY(sessions_find_all(&s, in->argv, 2, &ref, e));
    TRY(compare_sessions(&ref[0], &ref[1], &c, e));

    if (option_given(&in->options, OPTION_TAKE))
        return compare_take_files(in, &s, ref, &c, e);
    TRY(in->out.wants_json ? compare_write_json(ref, &c, &in->out, e)
                           : compare_write_text(ref, &c, in, e));
    return out_flush(&in->out, e);
}
