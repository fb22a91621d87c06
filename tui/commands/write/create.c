#include <string.h>

#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "tui/commands/report.h"
#include "tui/commands/sessions.h"

static struct slice optional_text(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

static enum err_code write_create_answer(struct invocation *in, const struct host_created *made,
                                         struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return out_addf(&in->out, e, "%.*s\n", SLICE_ARG(made->id));
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", made->id);
    jsonout_member(&j, "path", made->path);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

/* What was given and cannot be kept is no failure, and no secret either. */
static void report_unsaved(const struct invocation *in, const char *system,
                           const struct host_created *made)
{
    static const struct {
        enum host_field field;
        const char *name;
    } fields[] = {
        { HOST_CWD, "directory" },
        { HOST_MODEL, "model" },
        { HOST_TITLE, "title" },
        { HOST_PARENT, "parent" },
    };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct err note = { 0 };

        if (!(made->unsaved & fields[i].field))
            continue;
        err_set(&note, ERR_UNSUPPORTED, made->path.p, "create: %s sessions keep no %s", system,
                fields[i].name);
        out_report(in->err_fd, &note);
    }
}

/* Nothing is written, so nothing knows the id: any will do. */
static enum err_code check_without_saving(struct invocation *in, struct err *e)
{
    char drawn[HOST_ID];
    struct host_created made = { .id = optional_text(in->options.id) };

    host_generate_id(drawn);
    if (!made.id.n)
        made.id = optional_text(drawn);
    return write_create_answer(in, &made, e);
}

/* A directory is meant from where the command was started. */
static struct slice directory_of(const struct invocation *in, struct arena *a)
{
    const char *cwd = in->options.cwd;
    char *path;

    if (!cwd || cwd[0] == '/')
        return optional_text(cwd);
    path = arena_format(a, "%s/%s", in->world->env.cwd, cwd);
    return optional_text(path);
}

enum err_code create_run(struct invocation *in, struct err *e)
{
    const struct options *o = &in->options;
    struct sessions s;
    struct host_created made;

    if (o->id && !o->id[0])
        return err_set(e, ERR_USAGE, "--id", "create: invalid session id");
    if (option_given(o, OPTION_NO_PERSIST))
        return check_without_saving(in, e);
    enum err_code rc = sessions_make(in, in->argv[0], &s, e);

    if (rc)
        return rc;
    const struct host_create req = { .id = optional_text(o->id),
                                     .cwd = directory_of(in, &s.arena),
                                     .model = optional_text(o->model),
                                     .title = optional_text(o->title),
                                     .parent = optional_text(o->parent) };

    rc = host_create(s.store[0], &req, &s.arena, &made, e);
    in->done = !rc;
    if (!rc)
        report_unsaved(in, s.store[0]->ops->name, &made);
    if (!rc)
        rc = write_create_answer(in, &made, e);
    sessions_close(&s);
    return rc;
}
