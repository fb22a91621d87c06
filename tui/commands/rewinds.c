#include <inttypes.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/record.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/rewind.h"
#include "tui/text/human.h"

/* ---- rewinds show: the files of a record, and the bytes of one of them ---- */

static const char *action_word(enum rewind_action did)
{
    return did == REWIND_RESTORE ? "restore" : did == REWIND_CREATE ? "create" : "delete";
}

static void write_kept_json(const struct rewind_backup_list *list, struct out *o)
{
    out_open(o, NULL, '{');
    out_string(o, "id", list->id);
    out_open(o, "files", '[');
    for (size_t i = 0; i < list->n; i++) {
        const struct rewind_backup *f = &list->file[i];

        out_open(o, NULL, '{');
        out_string(o, "path", f->path);
        out_string(o, "did", action_word(f->did));
        if (f->has_bytes)
            out_int(o, "kept", f->size);
        if (f->written)
            out_int(o, "now", f->now);
        out_bool(o, "undone", f->undone);
        out_bool_if_true(o, "conflict", f->conflict);
        out_close(o, '}');
    }
    out_close(o, ']');
    out_end(o, '}');
}

static void write_kept_text(const struct rewind_backup_list *list, struct out *o)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct rewind_backup *f = &list->file[i];

        if (f->has_bytes)
            out_addf(o, "%-8s %10lld bytes kept  ", action_word(f->did), (long long)f->size);
        else
            out_addf(o, "%-8s %10s not kept     ", action_word(f->did), "");
        out_text(o, slice_of(f->path));
        if (f->written)
            out_addf(o, "  (written to after the rewind: %lld bytes now)", (long long)f->now);
        out_addf(o, "%s\n",
                 f->conflict ? "  (conflict: not changed)"
                 : f->undone ? "  (undone)"
                             : "");
    }
}

/* Writes the bytes unchanged, because they may go into a file or to another program. */
static enum err_code write_bytes(const struct span *bytes, struct out *o, struct err *e)
{
    char piece[OUT_PIECE];
    enum err_code rc = out_flush(o, e);

    o->raw = true;
    for (int64_t at = 0; at < bytes->n && !rc;) {
        size_t n = bytes->n - at < OUT_PIECE ? (size_t)(bytes->n - at) : OUT_PIECE;

        rc = span_read(bytes, at, piece, n, e);
        if (!rc) {
            out_add(o, (struct slice){ piece, n });
            rc = out_row(o, e);
        }
        at += (int64_t)n;
    }
    return rc ? rc : out_flush(o, e);
}

static enum err_code show_record(struct invocation *in, struct err *e)
{
    CLEANUP(rewind_backup_fini) struct rewind_backup_list list = { .n = 0 };
    CLEANUP(span_close) struct span bytes = { .fd = -1 };

    if (in->argc < 2)
        return err_set(e, ERR_USAGE, "rewinds show", "needs a change; see reprise rewinds");
    TRY(rewind_backup_read(&in->world->env, in->argv[1], &list, e));
    if (in->argc > 2) {
        const struct rewind_backup *file =
            rewind_backup_find(&list, in->argv[2], in->world->env.cwd);

        if (!file)
            return err_set(e, ERR_NOT_FOUND, in->argv[2], "the rewind did not change this file");
        TRY(rewind_backup_open(file, &bytes, e));
        return write_bytes(&bytes, &in->out, e);
    }
    (in->out.wants_json ? write_kept_json : write_kept_text)(&list, &in->out);
    return ERR_OK;
}

/* ---- rewinds: the list ---- */

enum { WHY = 400 };

/* The reason why a rewind is not finished; NULL if it is still running or will be finished by the next command. */
static const struct err *why_waits(const struct rewind_recovery *waiting, const char *id)
{
    for (size_t i = 0; i < waiting->waiting && i < REWIND_WAITING_MAX; i++)
        if (strcmp(waiting->first[i].id, id) == 0)
            return &waiting->first[i].why;
    return NULL;
}

static void write_record_json(const struct rewind_record *r, const struct rewind_recovery *waiting,
                              struct out *o)
{
    const struct err *why = r->interrupted ? why_waits(waiting, r->id) : NULL;
    char text[WHY];

    out_open(o, NULL, '{');
    out_string(o, "id", r->id);
    out_string(o, "system", r->system);
    out_string(o, "sessionId", r->session);
    out_string(o, "to", r->point);
    out_string(o, "title", r->title);
    out_string(o, "undoes", r->undoes);
    out_int(o, "at", r->at_ms);
    out_int(o, "bytes", r->bytes);

    out_int(o, "restored", (int64_t)r->restored);
    out_int(o, "created", (int64_t)r->created);
    out_int(o, "deleted", (int64_t)r->deleted);
    if (rewind_conversation_moves(r->how)) {
        out_open(o, "conversation", '{');
        out_int(o, "dropped", (int64_t)r->dropped);
        out_int(o, "kept", (int64_t)r->kept);
        out_string(o, "how", rewind_conversation_name(r->how));
        out_close(o, '}');
    }

    out_bool(o, "undone", r->undone);
    if (r->partly)
        out_strings(o, "left", (const char *const *)r->undoable, r->undoable_n);
    out_bool(o, "interrupted", r->interrupted);
    if (why) {
        err_format(why, text, sizeof text);
        out_string(o, "why", text);
    }
    out_bool_if_true(o, "abandoned", r->abandoned);
    out_bool_if_true(o, "cutShort", r->cut_short);
    out_close(o, '}');
}

static const char *rewinds_state_of(const struct rewind_record *r)
{
    return r->undone      ? "  (undone)"
           : r->abandoned ? "  (abandoned)"
           : r->cut_short ? "  (incomplete: the session continued, files not changed)"
                          : "";
}

static void write_record_text(const struct rewind_record *r, const struct rewind_recovery *waiting,
                              int64_t now_ms, struct out *o)
{
    const struct err *why = r->interrupted ? why_waits(waiting, r->id) : NULL;
    char age[HUMAN_AGE], text[WHY];

    human_age(now_ms, r->at_ms, age);
    out_addf(o, "%8s  %s  %zu restored, %zu created, %zu deleted%s, %" PRId64 " bytes kept%s%s  ",
             age, r->id, r->restored, r->created, r->deleted,
             rewind_conversation_moves(r->how) ? ", conversation too" : "", r->bytes,
             r->undoes ? "  (an undo)" : "", rewinds_state_of(r));
    out_text(o, slice_of(r->title ? r->title : r->session));
    if (r->partly)
        out_addf(o, "  (undone except %zu file%s)", r->undoable_n, r->undoable_n == 1 ? "" : "s");
    if (why) {
        err_sentence(why, text, sizeof text);
        out_addf(o, "\n          not finished: ");
        out_text(o, slice_of(text));
        out_addf(o, "\n          to abandon it: reprise rewinds abandon %s", r->id);
    }
    out_addf(o, "\n");
}

void rewinds_recover_first(struct invocation *in, struct rewind_recovery *out)
{
    struct err e = { 0 };

    if (rewind_recover_all(&in->world->env, out, &e))
        out_report(in->err_fd, &e);
    for (size_t i = 0; i < out->waiting && i < REWIND_WAITING_MAX; i++) {
        e = out->first[i].why;
        err_wrap(&e, e.code, "a rewind is not finished (see reprise rewinds)");
        out_report(in->err_fd, &e);
    }
}

/* ---- rewinds abandon ---- */

static void write_abandoned(const char *id, const struct rewind_abandoned *a, struct out *o)
{
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_string(o, "abandoned", id);
        out_strings(o, "left", (const char *const *)a->remaining, a->n);
        out_end(o, '}');
        return;
    }
    out_addf(o, "abandoned: %s\n", id);
    for (size_t i = 0; i < a->n; i++)
        out_line(o, "temporary file left behind: ", slice_of(a->remaining[i]));
    out_addf(o, "what it changed stays changed; to undo that: reprise undo %s\n", id);
}

/* ---- rewinds prune ---- */

static enum err_code read_prune_rule(const struct invocation *in, struct rewind_prune_rule *rule,
                                     struct err *e)
{
    const struct options *o = &in->options;
    int64_t now_ms = in->world->env.now_ms;

    /* What is not named selects all, and a record goes if each option selects it. */
    *rule = (struct rewind_prune_rule){ .before_ms = INT64_MAX, .bytes = -1, .each = true };
    if (!option_given(o, OPTION_KEEP) && !o->older_than && !o->larger_than)
        *rule = rewind_prune_defaults(now_ms);
    if (option_given(o, OPTION_KEEP))
        rule->keep = (size_t)o->keep;
    if (o->older_than && !human_time_parse(slice_of(o->older_than), now_ms, &rule->before_ms))
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not an age; write 30d, 12h or 2w",
                       o->older_than);
    if (o->larger_than && !human_size_parse(slice_of(o->larger_than), &rule->bytes))
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not a size; write 500k, 10M or 2G",
                       o->larger_than);
    return ERR_OK;
}

static void write_pruned(const struct rewind_records *list, bool dry, int64_t now_ms, struct out *o)
{
    char size[HUMAN_SIZE], age[HUMAN_AGE];
    int64_t bytes = 0;

    for (size_t i = 0; i < list->n; i++)
        bytes += list->record[i].bytes;
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_open(o, "removed", '[');
        for (size_t i = 0; i < list->n; i++)
            jsonout_text(out_json(o), slice_of(list->record[i].id));
        out_close(o, ']');
        out_int(o, "bytes", bytes);
        out_bool(o, "dryRun", dry);
        out_end(o, '}');
        return;
    }

    for (size_t i = 0; i < list->n && dry; i++) {
        human_age(now_ms, list->record[i].at_ms, age);
        human_size(list->record[i].bytes, size);
        out_addf(o, "%8s  %s  %8s  ", age, list->record[i].id, size);
        out_text(o,
                 slice_of(list->record[i].title ? list->record[i].title : list->record[i].session));
        out_addf(o, "\n");
    }

    human_size(bytes, size);
    out_addf(o, "%s for good: %zu undo record%s, %s\n", dry ? "would be removed" : "removed",
             list->n, list->n == 1 ? "" : "s", size);
}

static enum err_code rewinds_prune_records(struct invocation *in, struct err *e)
{
    bool dry = option_given(&in->options, OPTION_DRY_RUN);
    struct rewind_prune_rule rule;
    struct rewind_records list;

    TRY(read_prune_rule(in, &rule, e));
    TRY(rewind_prune(&in->world->env, &rule, dry, &list, e));
    in->done = !dry && list.n;
    write_pruned(&list, dry, in->world->env.now_ms, &in->out);
    rewind_records_fini(&list);
    return ERR_OK;
}

enum err_code rewinds_run(struct invocation *in, struct err *e)
{
    struct rewind_abandoned a;

    const option_bits of_prune =
        OPTION_BIT(KEEP) | OPTION_BIT(OLDER_THAN) | OPTION_BIT(LARGER_THAN) | OPTION_BIT(DRY_RUN);

    if (in->argc && strcmp(in->argv[0], "prune") == 0)
        return in->argc < 2 ? rewinds_prune_records(in, e) : command_unexpected(in, 1, e);
    if (in->options.given & of_prune)
        return err_set(e, ERR_USAGE, "rewinds",
                       "--keep, --older-than, --larger-than and --dry-run need prune");
    if (in->argc == 0) {
        /* Without an operand, all records are listed. */
        struct rewind_records list;
        struct rewind_recovery waiting;

        rewinds_recover_first(in, &waiting);
        TRY(rewind_records_read(&in->world->env, &list, e));

        int64_t now_ms = in->world->env.now_ms;

        if (in->out.wants_json)
            out_open(&in->out, NULL, '[');
        for (size_t i = 0; i < list.n; i++)
            if (in->out.wants_json)
                write_record_json(&list.record[i], &waiting, &in->out);
            else
                write_record_text(&list.record[i], &waiting, now_ms, &in->out);
        if (in->out.wants_json)
            out_end(&in->out, ']');

        rewind_records_fini(&list);
        return ERR_OK;
    }
    if (strcmp(in->argv[0], "show") == 0)
        return show_record(in, e);
    if (strcmp(in->argv[0], "abandon") == 0) {
        if (in->argc < 2)
            return err_set(e, ERR_USAGE, "rewinds abandon", "needs a change; see reprise rewinds");
        if (in->argc > 2)
            return command_unexpected(in, 2, e);
        TRY(rewind_abandon(&in->world->env, in->argv[1], &a, e));
        write_abandoned(in->argv[1], &a, &in->out);
        rewind_abandoned_fini(&a);
        return ERR_OK;
    }
    return err_set(e, ERR_USAGE, "", "rewinds has no \"%.80s\"; use show, abandon or prune",
                   in->argv[0]);
}
