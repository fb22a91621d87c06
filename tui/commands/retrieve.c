#include <string.h>

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

static void write_retrieved_json(const struct retrieved *r, bool dry, struct out *o)
{
    out_open(o, NULL, '[');
    for (size_t i = 0; i < r->n; i++) {
        const struct retrieve_item *x = &r->item[i];

        out_open(o, NULL, '{');
        out_member(o, "sessionId", x->session);
        out_member(o, "agent", x->agent);
        out_string(o, "path", x->path);
        out_string(o, "state", retrieve_state_name(x->state));
        out_bool(o, "written", x->planned && !dry);
        out_bool(o, "redacted", x->redacted);
        out_close(o, '}');
    }
    out_close(o, ']');
    out_end(o);
}

static void write_retrieved_text(const struct retrieved *r, bool dry, struct out *o)
{
    static const char *const states[] = {
        [RETRIEVE_NEW] = "not on this machine",
        [RETRIEVE_UNCHANGED] = "up to date",
        [RETRIEVE_NEWER] = "newer in the checkpoint",
        [RETRIEVE_LOCAL_NEWER] = "newer on this machine: kept (--force replaces it)",
        [RETRIEVE_NOT_OURS] = "skipped: the transcript directory of its agent is not known",
    };

    for (size_t i = 0; i < r->n; i++) {
        const struct retrieve_item *x = &r->item[i];
        bool done = x->planned && !dry;

        out_text(o, x->session);
        out_addf(o, "  %s%s%s\n", done ? "written" : states[x->state],
                 done && x->redacted ? " (a redacted copy)" : "",
                 x->planned && !done ? ", would be written" : "");
    }
}

/* A newer transcript on this machine is a conflict, as in a rewind. */
static enum err_code check_kept(const struct retrieved *r, struct err *e)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->item[i].state == RETRIEVE_LOCAL_NEWER && !r->item[i].planned)
            return err_set(
                e, ERR_STALE, r->item[i].path,
                "retrieve: the transcript on this machine is newer (--force replaces it)");
    return ERR_OK;
}

enum err_code retrieve_session(struct invocation *in, struct sessions *s,
                               const struct session_ref *ref, struct err *e)
{
    const char *at = in->options.at;
    struct retrieve_request req = { .at = slice_of(at ? at : ""),
                                    .overwrite = option_given(&in->options, OPTION_FORCE) };
    bool dry = option_given(&in->options, OPTION_DRY_RUN);
    struct retrieved r;

    (void)s;
    if (!ref->store->ops->retrieve)
        return store_unsupported_error(ref, CAN_RETRIEVE, "retrieve", e);
    enum err_code rc = retrieve_transcript(in, ref, &req, &r, e);

    if (rc)
        return rc;
    if (in->out.wants_json)
        write_retrieved_json(&r, dry, &in->out);
    else
        write_retrieved_text(&r, dry, &in->out);
    rc = check_kept(&r, e);
    retrieved_fini(&r);
    return rc;
}
