#include <inttypes.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/rewind/plan/rewind.h"
#include "tui/commands/command.h"
#include "tui/commands/report.h"
#include "tui/commands/rewind/rewind_answer.h"
#include "tui/text/when.h"

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
    if (conversation_change_moves(r->how)) {
        jsonout_key(j, "conversation");
        jsonout_open(j, '{');
        record_json_int(j, "dropped", (int64_t)r->dropped);
        record_json_int(j, "kept", (int64_t)r->kept);
        jsonout_member(j, "how", slice_of(conversation_change_name(r->how)));
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
                      conversation_change_moves(r->how) ? ", conversation too" : "", r->bytes,
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
