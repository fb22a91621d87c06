#include <inttypes.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/backup.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/rewind.h"
#include "tui/text/when.h"

/* reprise rewinds show ID [FILE]: what a record keeps, and the bytes of one of its files. */

static const char *action_word(enum rewind_action did)
{
    return did == REWIND_RESTORE ? "restore" : did == REWIND_CREATE ? "create" : "delete";
}

static enum err_code write_kept_json(struct out *out, const struct rewind_backup_list *list,
                                     struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", slice_of(list->id));
    jsonout_key(&j, "files");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++) {
        const struct rewind_backup *f = &list->file[i];

        jsonout_open(&j, '{');
        jsonout_member(&j, "path", slice_of(f->path));
        jsonout_member(&j, "did", slice_of(action_word(f->did)));
        if (f->has_bytes) {
            jsonout_key(&j, "kept");
            jsonout_int(&j, f->size);
        }
        if (f->written) {
            jsonout_key(&j, "now");
            jsonout_int(&j, f->now);
        }
        jsonout_key(&j, "undone");
        jsonout_bool(&j, f->undone);
        if (f->conflict) {
            jsonout_key(&j, "conflict");
            jsonout_bool(&j, true);
        }
        jsonout_close(&j, '}');
    }
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(out, SLICE("\n"), e);
}

static enum err_code write_kept_text(struct out *out, const struct rewind_backup_list *list,
                                     struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc; i++) {
        const struct rewind_backup *f = &list->file[i];

        rc = f->has_bytes ? out_addf(out, e, "%-8s %10lld bytes kept  ", action_word(f->did),
                                     (long long)f->size)
                          : out_addf(out, e, "%-8s %10s not kept     ", action_word(f->did), "");
        if (!rc)
            rc = out_text(out, slice_of(f->path), e);
        if (!rc && f->written)
            rc = out_addf(out, e, "  (written to after the rewind: %lld bytes now)",
                          (long long)f->now);
        if (!rc)
            rc = out_addf(out, e, "%s\n",
                          f->conflict ? "  (conflict: not changed)"
                          : f->undone ? "  (undone)"
                                      : "");
    }
    return rc;
}

/* As they are: they may go into a file, or through another program. */
static enum err_code write_bytes(struct out *out, const struct span *bytes, struct err *e)
{
    char piece[OUT_PIECE];
    enum err_code rc = out_flush(out, e);

    out->raw = true;
    for (int64_t at = 0; at < bytes->n && !rc;) {
        size_t n = bytes->n - at < OUT_PIECE ? (size_t)(bytes->n - at) : OUT_PIECE;

        rc = span_read(bytes, at, piece, n, e);
        if (!rc)
            rc = out_add(out, (struct slice){ piece, n }, e);
        if (!rc)
            rc = out_row(out, e);
        at += (int64_t)n;
    }
    return rc ? rc : out_flush(out, e);
}

static enum err_code write_file(struct invocation *in, const struct rewind_backup_list *list,
                                const char *path, struct err *e)
{
    const struct rewind_backup *file = rewind_backup_find(list, path, in->world->env.cwd);
    struct span bytes;

    if (!file)
        return err_set(e, ERR_NOT_FOUND, path, "the rewind did not change this file");
    enum err_code rc = rewind_backup_open(file, &bytes, e);

    if (rc)
        return rc;
    rc = write_bytes(&in->out, &bytes, e);
    span_close(&bytes);
    return rc;
}

enum err_code rewinds_show(struct invocation *in, struct err *e)
{
    struct rewind_backup_list list;

    if (in->argc < 2)
        return err_set(e, ERR_USAGE, "", "usage: reprise rewinds show ID [FILE]");
    enum err_code rc = rewind_backup_read(&in->world->env, in->argv[1], &list, e);

    if (rc)
        return rc;
    rc = in->argc > 2                              ? write_file(in, &list, in->argv[2], e)
         : option_given(&in->options, OPTION_JSON) ? write_kept_json(&in->out, &list, e)
                                                   : write_kept_text(&in->out, &list, e);
    rewind_backup_fini(&list);
    return rc;
}

static void record_json_int(struct jsonout *j, const char *key, int64_t n)
{
    jsonout_key(j, key);
    jsonout_int(j, n);
}

static void json_left(struct jsonout *j, const struct rewind_record *r)
{
    jsonout_key(j, "left");
    jsonout_open(j, '[');
    for (size_t i = 0; i < r->left_n; i++)
        jsonout_text(j, slice_of(r->left[i]));
    jsonout_close(j, ']');
}

/* Why a rewind is not finished; NULL: it is under way, or will be. */
static const struct err *why_waits(const struct rewind_recovery *waiting, const char *id)
{
    for (size_t i = 0; i < waiting->waiting && i < REWIND_WAITING_TOLD; i++)
        if (strcmp(waiting->first[i].id, id) == 0)
            return &waiting->first[i].why;
    return NULL;
}

static void json_why(struct jsonout *j, const struct err *why)
{
    char text[400];

    if (!why)
        return;
    err_format(why, text, sizeof text);
    jsonout_member(j, "why", slice_of(text));
}

static void json_record(struct jsonout *j, const struct rewind_record *r,
                        const struct rewind_recovery *waiting)
{
    jsonout_open(j, '{');
    jsonout_member(j, "id", slice_of(r->id));
    jsonout_member(j, "system", slice_of(r->system));
    jsonout_member(j, "sessionId", slice_of(r->session));
    jsonout_member(j, "to", slice_of(r->point));
    if (r->title)
        jsonout_member(j, "title", slice_of(r->title));
    if (r->undoes)
        jsonout_member(j, "undoes", slice_of(r->undoes));
    record_json_int(j, "at", r->at_ms);
    record_json_int(j, "bytes", r->bytes);
    record_json_int(j, "restored", (int64_t)r->restored);
    record_json_int(j, "created", (int64_t)r->created);
    record_json_int(j, "deleted", (int64_t)r->deleted);
    if (rewind_conversation_moves(r->how)) {
        jsonout_key(j, "conversation");
        jsonout_open(j, '{');
        record_json_int(j, "dropped", (int64_t)r->dropped);
        record_json_int(j, "kept", (int64_t)r->kept);
        jsonout_member(j, "how", slice_of(rewind_conversation_name(r->how)));
        jsonout_close(j, '}');
    }
    jsonout_key(j, "undone");
    jsonout_bool(j, r->undone);
    if (r->partly)
        json_left(j, r);
    jsonout_key(j, "interrupted");
    jsonout_bool(j, r->interrupted);
    if (r->interrupted)
        json_why(j, why_waits(waiting, r->id));
    if (r->abandoned) {
        jsonout_key(j, "abandoned");
        jsonout_bool(j, true);
    }
    if (r->stays) {
        jsonout_key(j, "cutShort");
        jsonout_bool(j, true);
    }
    jsonout_close(j, '}');
}

static enum err_code write_records_json(struct out *out, const struct rewind_records *list,
                                        const struct rewind_recovery *waiting, struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++)
        json_record(&j, &list->record[i], waiting);
    jsonout_close(&j, ']');
    return j.rc ? err_nomem(e) : out_add(out, SLICE("\n"), e);
}

static enum err_code text_why(struct out *out, const struct rewind_record *r,
                              const struct rewind_recovery *waiting, struct err *e)
{
    const struct err *why = r->interrupted ? why_waits(waiting, r->id) : NULL;
    char text[400];

    if (!why)
        return ERR_OK;
    err_format(why, text, sizeof text);
    enum err_code rc = out_add(out, SLICE("\n          not finished: "), e);

    if (!rc)
        rc = out_text(out, slice_of(text), e);
    return rc ? rc
              : out_addf(out, e, "\n          to abandon it: reprise rewinds abandon %s", r->id);
}

static const char *state_of(const struct rewind_record *r)
{
    return r->undone      ? "  (undone)"
           : r->abandoned ? "  (abandoned)"
           : r->stays     ? "  (incomplete: the session continued, files not changed)"
                          : "";
}

static enum err_code write_records_text(struct out *out, const struct rewind_records *list,
                                        const struct rewind_recovery *waiting, int64_t now_ms,
                                        struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc; i++) {
        const struct rewind_record *r = &list->record[i];
        char age[WHEN_AGE];

        when_age(now_ms, r->at_ms, age);
        rc = out_addf(out, e,
                      "%8s  %s  %zu restored, %zu created, %zu deleted%s, %" PRId64
                      " bytes kept%s%s  ",
                      age, r->id, r->restored, r->created, r->deleted,
                      rewind_conversation_moves(r->how) ? ", conversation too" : "", r->bytes,
                      r->undoes ? "  (an undo)" : "", state_of(r));
        if (!rc)
            rc = out_text(out, slice_of(r->title ? r->title : r->session), e);
        if (!rc && r->partly)
            rc = out_addf(out, e, "  (undone except %zu file%s)", r->left_n,
                          r->left_n == 1 ? "" : "s");
        if (!rc)
            rc = text_why(out, r, waiting, e);
        if (!rc)
            rc = out_add(out, SLICE("\n"), e);
    }
    return rc;
}

void rewinds_recover_first(struct invocation *in, struct rewind_recovery *out)
{
    struct err e = { 0 };

    if (rewind_recover_all(&in->world->env, out, &e))
        out_report(in->err_fd, &e);
    for (size_t i = 0; i < out->waiting && i < REWIND_WAITING_TOLD; i++) {
        e = out->first[i].why;
        err_wrap(&e, e.code, "a rewind is not finished (see reprise rewinds)");
        out_report(in->err_fd, &e);
    }
}

/* ---- giving up ---- */

static enum err_code answer_abandoned(struct invocation *in, const char *id,
                                      const struct rewind_abandoned *a, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON)) {
        enum err_code rc = out_addf(&in->out, e, "abandoned: %s\n", id);

        for (size_t i = 0; i < a->n && !rc; i++) {
            rc = out_add(&in->out, SLICE("temporary file left behind: "), e);
            if (!rc)
                rc = out_text(&in->out, slice_of(a->left[i]), e);
            if (!rc)
                rc = out_add(&in->out, SLICE("\n"), e);
        }
        return rc ? rc
                  : out_addf(&in->out, e,
                             "what it changed stays changed; to undo that: reprise undo %s\n", id);
    }
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "abandoned", slice_of(id));
    jsonout_key(&j, "left");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < a->n; i++)
        jsonout_text(&j, slice_of(a->left[i]));
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code abandon_record(struct invocation *in, struct err *e)
{
    struct rewind_abandoned a;
    enum err_code rc = rewind_abandon(&in->world->env, in->argv[1], &a, e);

    if (rc)
        return rc;
    rc = answer_abandoned(in, in->argv[1], &a, e);
    rewind_abandoned_fini(&a);
    return rc;
}

static enum err_code list_records(struct invocation *in, struct err *e)
{
    struct rewind_records list;
    struct rewind_recovery waiting;

    rewinds_recover_first(in, &waiting);
    enum err_code rc = rewind_records_read(&in->world->env, &list, e);

    if (rc)
        return rc;
    rc = option_given(&in->options, OPTION_JSON)
             ? write_records_json(&in->out, &list, &waiting, e)
             : write_records_text(&in->out, &list, &waiting, in->world->env.now_ms, e);
    rewind_records_fini(&list);
    return rc;
}

enum err_code rewinds_run(struct invocation *in, struct err *e)
{
    if (in->argc == 0)
        return list_records(in, e);
    if (strcmp(in->argv[0], "show") == 0)
        return rewinds_show(in, e);
    if (in->argc == 2 && strcmp(in->argv[0], "abandon") == 0)
        return abandon_record(in, e);
    return err_set(e, ERR_USAGE, in->argv[0],
                   "usage: reprise rewinds [show ID [FILE] | abandon ID]");
}
