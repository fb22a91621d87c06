#include <string.h>

#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "tui/commands/report.h"
#include "tui/commands/sessions.h"

static struct slice optional_text(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

static enum err_code write_checkpoint_answer(struct invocation *in, struct slice session,
                                             const struct host_checkpointed *done, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return ERR_OK;
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", session);
    jsonout_member(&j, "checkpointId", done->id);
    jsonout_key(&j, "files");
    jsonout_int(&j, (int64_t)done->files);
    jsonout_key(&j, "fresh");
    jsonout_int(&j, (int64_t)done->fresh);
    if (done->warning)
        jsonout_member(&j, "warning", optional_text(done->warning));
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code name_files(const struct invocation *in, struct arena *a,
                                struct host_checkpoint *req, struct err *e)
{
    size_t n = (size_t)in->argc - 1;
    const char **file = arena_zalloc(a, (n + 1) * sizeof *file);

    for (size_t i = 0; file && i < n; i++) {
        const char *name = in->argv[i + 1];

        file[i] = name[0] == '/' ? name : arena_format(a, "%s/%s", in->world->env.cwd, name);
        if (!file[i])
            file = NULL;
    }
    req->file = file;
    req->files = n;
    return file ? ERR_OK : err_nomem(e);
}

/* The checkpoint is made all the same. */
static void warn(const struct invocation *in, struct slice session, const char *text)
{
    struct err note;

    err_set(&note, ERR_STALE, session.p, "checkpoint: %s", text);
    out_report(in->err_fd, &note);
}

static enum err_code save_checkpoint(struct invocation *in, struct host_checkpoint *req,
                                     struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct host_checkpointed done;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = name_files(in, &s.arena, req, e);
    if (!rc)
        rc = host_checkpoint(ref.store, &ref, req, &s.arena, &done, e);
    in->done = !rc;
    if (!rc && done.warning)
        warn(in, ref.id, done.warning);
    if (!rc)
        rc = write_checkpoint_answer(in, ref.id, &done, e);
    sessions_close(&s);
    return rc;
}

enum err_code checkpoint_run(struct invocation *in, struct err *e)
{
    struct host_checkpoint req = { .message = optional_text(in->options.id),
                                   .label = optional_text(in->options.title) };

    if (!option_given(&in->options, OPTION_ID))
        return err_set(e, ERR_USAGE, "--id", "checkpoint: --id MSG is required");
    if (!option_given(&in->options, OPTION_NO_PERSIST))
        return save_checkpoint(in, &req, e);
    return write_checkpoint_answer(in, optional_text(in->argv[0]),
                                   &(struct host_checkpointed){ .id = req.message }, e);
}
