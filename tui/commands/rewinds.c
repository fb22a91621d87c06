#include <inttypes.h>
#include <string.h>

#include "lite/jsonout.h"
#include "store/rewind/rewind.h"
#include "tui/commands/command.h"
#include "tui/commands/rewind_answer.h"
#include "tui/when.h"

static void member_int(struct jsonout *j, const char *key, int64_t n)
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

static void json_record(struct jsonout *j, const struct rewind_record *r)
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
    member_int(j, "at", r->at_ms);
    member_int(j, "bytes", r->bytes);
    member_int(j, "restored", (int64_t)r->restored);
    member_int(j, "created", (int64_t)r->created);
    member_int(j, "deleted", (int64_t)r->deleted);
    if (talk_moves(r->how)) {
        jsonout_key(j, "conversation");
        jsonout_open(j, '{');
        member_int(j, "dropped", (int64_t)r->dropped);
        member_int(j, "kept", (int64_t)r->kept);
        jsonout_member(j, "how", slice_of(talk_how_word(r->how)));
        jsonout_close(j, '}');
    }
    jsonout_key(j, "undone");
    jsonout_bool(j, r->undone);
    if (r->partly)
        json_left(j, r);
    jsonout_key(j, "interrupted");
    jsonout_bool(j, r->interrupted);
    if (r->stays) {
        jsonout_key(j, "cutShort");
        jsonout_bool(j, true);
    }
    jsonout_close(j, '}');
}

static enum err_code write_json(struct out *out, const struct rewind_records *list, struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++)
        json_record(&j, &list->record[i]);
    jsonout_close(&j, ']');
    return j.rc ? err_set(e, ERR_NOMEM, "", "write the answer: out of memory")
                : out_add(out, SLICE("\n"), e);
}

static enum err_code write_text(struct out *out, const struct rewind_records *list, int64_t now_ms,
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
                      talk_moves(r->how) ? ", the conversation too" : "", r->bytes,
                      r->undoes ? "  (an undo)" : "",
                      r->undone  ? "  (undone)"
                      : r->stays ? "  (cut short: the session went on, and the files stayed)"
                                 : "");
        if (!rc)
            rc = out_text(out, slice_of(r->title ? r->title : r->session), e);
        if (!rc && r->partly)
            rc = out_addf(out, e, "  (undone but for %zu file%s)", r->left_n,
                          r->left_n == 1 ? "" : "s");
        if (!rc)
            rc = out_add(out, SLICE("\n"), e);
    }
    return rc;
}

enum err_code rewinds_run(struct invocation *in, struct err *e)
{
    struct rewind_records list;
    size_t recovered;

    if (in->argc)
        return strcmp(in->argv[0], "show") == 0
                   ? rewinds_show(in, e)
                   : err_set(e, ERR_USAGE, in->argv[0], "usage: reprise rewinds [show ID [FILE]]");
    enum err_code rc = rewind_recover(&in->world->env, &recovered, e);

    if (!rc)
        rc = rewind_records_read(&in->world->env, &list, e);
    if (rc)
        return rc;
    rc = option_given(&in->options, OPTION_JSON)
             ? write_json(&in->out, &list, e)
             : write_text(&in->out, &list, in->world->env.now_ms, e);
    rewind_records_fini(&list);
    return rc;
}
