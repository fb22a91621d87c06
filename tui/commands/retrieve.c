#include <string.h>

#include "lite/json/jsonout.h"
#include "store/api/retrieve.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/rewind/plan/origin.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"

static enum err_code make_folders(const struct retrieved *r, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < r->n && !rc; i++)
        if (r->item[i].planned)
            rc = disk_private_dir(r->item[i].folder, e);
    return rc;
}

enum err_code retrieve_transcript(struct invocation *in, const struct session_ref *ref,
                                  const struct retrieve_request *req, struct retrieved *out,
                                  struct err *e)
{
    struct change *c = change_new("retrieve");
    enum err_code rc = c ? origin_add_session(c, ref, e) : err_nomem(e);

    if (!rc) {
        c->text = "transcript retrieved from its checkpoint";
        rc = ref->store->ops->retrieve(ref->store, ref, req, c, out, e);
    }
    if (rc) {
        change_free(c);
        return rc;
    }
    if (c->n && !option_given(&in->options, OPTION_DRY_RUN)) {
        rc = make_folders(out, e);
        if (!rc)
            rc = change_do(&in->world->env, c, e);
        in->done = !rc;
    }
    if (rc)
        retrieved_fini(out);
    change_free(c);
    return rc;
}

static enum err_code write_retrieved_json(struct invocation *in, const struct retrieved *r,
                                          struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < r->n; i++) {
        const struct retrieve_item *x = &r->item[i];
        const char *word = retrieve_state_name(x->state);

        jsonout_open(&j, '{');
        jsonout_member(&j, "sessionId", x->session);
        jsonout_member(&j, "agent", x->agent);
        if (x->path)
            jsonout_member(&j, "path", slice_of(x->path));
        jsonout_member(&j, "state", slice_of(word));
        jsonout_key(&j, "written");
        jsonout_bool(&j, x->planned && !option_given(&in->options, OPTION_DRY_RUN));
        jsonout_key(&j, "redacted");
        jsonout_bool(&j, x->redacted);
        jsonout_close(&j, '}');
    }
    jsonout_close(&j, ']');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code write_retrieved_text(struct invocation *in, const struct retrieved *r,
                                          struct err *e)
{
    static const char *const says[] = {
        [RETRIEVE_NEW] = "not on this machine",
        [RETRIEVE_UNCHANGED] = "up to date",
        [RETRIEVE_NEWER] = "newer in the checkpoint",
        [RETRIEVE_LOCAL_NEWER] = "newer on this machine: kept (--force replaces it)",
        [RETRIEVE_NOT_OURS] = "skipped: unknown where its agent keeps transcripts",
    };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < r->n && !rc; i++) {
        const struct retrieve_item *x = &r->item[i];
        bool done = x->planned && !option_given(&in->options, OPTION_DRY_RUN);

        rc = out_text(&in->out, x->session, e);
        if (!rc)
            rc = out_addf(&in->out, e, "  %s%s%s\n", done ? "written" : says[x->state],
                          done && x->redacted ? " (a redacted copy)" : "",
                          x->planned && !done ? ", would be written" : "");
    }
    return rc;
}

/* Somebody else's newer work is a conflict, as a rewind's is. */
static enum err_code left_alone(const struct retrieved *r, struct err *e)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->item[i].state == RETRIEVE_LOCAL_NEWER && !r->item[i].planned)
            return err_set(
                e, ERR_STALE, r->item[i].path,
                "retrieve: the transcript on this machine is newer (--force replaces it)");
    return ERR_OK;
}

enum err_code retrieve_run(struct invocation *in, struct err *e)
{
    const char *at = in->options.at;
    struct retrieve_request req = { .at = { at ? at : "", at ? strlen(at) : 0 },
                                    .overwrite = option_given(&in->options, OPTION_FORCE) };
    struct sessions s;
    struct session_ref ref;
    struct retrieved r;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = ref.store->ops->retrieve ? ERR_OK
                                  : store_unsupported_error(&ref, CAN_RETRIEVE, "retrieve", e);
    if (!rc)
        rc = retrieve_transcript(in, &ref, &req, &r, e);
    if (!rc) {
        rc = option_given(&in->options, OPTION_JSON) ? write_retrieved_json(in, &r, e)
                                                     : write_retrieved_text(in, &r, e);
        if (!rc)
            rc = left_alone(&r, e);
        retrieved_fini(&r);
    }
    sessions_close(&s);
    return rc;
}
