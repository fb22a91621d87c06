#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/rewind/record/host_work.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/config/resume_command.h"

/* ---- create ---- */

static void write_created(const struct host_created *made, struct out *o)
{
    if (!o->wants_json) {
        out_addf(o, "%.*s\n", SLICE_ARG(made->id));
        return;
    }
    out_open(o, NULL, '{');
    out_member(o, "sessionId", made->id);
    out_member(o, "path", made->path);
    out_end(o, '}');
}

/* If the agent's own settings disable writing sessions, the command succeeds with a warning. */
static void report_unpersisted(const struct invocation *in, const struct store *st,
                               const char *what)
{
    const char *why = host_unpersisted(st);

    if (why)
        command_warn(in, ERR_UNSUPPORTED, st->path, "%s: nothing was written, because %s", what,
                     why);
}

/* The session that the operand names. ref->store stays NULL, and ERR_OK is returned, if it was not written. */
static enum err_code open_operand(struct invocation *in, const char *what, struct sessions *s,
                                  struct session_ref *ref, struct err *e)
{
    TRY(sessions_open(in, true, s, e));
    *ref = (struct session_ref){ 0 };
    enum err_code rc = sessions_find(s, in->argv[0], ref, e);

    /* It was not written when it was created, if the settings of a store are the reason. */
    for (size_t i = 0; rc == ERR_NOT_FOUND && i < s->n; i++)
        if (host_unpersisted(s->store[i])) {
            report_unpersisted(in, s->store[i], what);
            ref->store = NULL;
            rc = ERR_OK;
        }
    return rc;
}

/* --cwd is relative to the current directory. */
static struct slice directory_of(const struct invocation *in, struct arena *a)
{
    const char *cwd = in->options.cwd;
    char *path;

    if (!cwd || cwd[0] == '/')
        return option_text(cwd);
    path = arena_format(a, "%s/%s", in->world->env.cwd, cwd);
    return option_text(path);
}

enum err_code host_create_run(struct invocation *in, struct err *e)
{
    const struct options *o = &in->options;
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    struct host_created made;

    if (o->id && !o->id[0])
        return err_set(e, ERR_USAGE, "--id", "create: invalid session id");

    /* A session that is never saved needs no store, and as nothing is written, any id will do. */
    if (option_given(o, OPTION_NO_PERSIST)) {
        char generated[HOST_ID];

        made = (struct host_created){ .id = option_text(o->id) };
        host_generate_id(generated);
        if (!made.id.n)
            made.id = slice_of(generated);
        write_created(&made, &in->out);
        return ERR_OK;
    }

    TRY(sessions_make(in, in->argv[0], &s, e));
    const struct host_create req = { .id = option_text(o->id),
                                     .cwd = directory_of(in, &s.arena),
                                     .model = option_text(o->model),
                                     .title = option_text(o->title),
                                     .parent = option_text(o->parent),
                                     .dialect = option_text(o->dialect) };

    /* Settings that the format cannot store are warnings. */
    static const struct {
        enum host_field field;
        const char *name;
    } fields[] = {
        { HOST_CWD, "directory" },
        { HOST_MODEL, "model" },
        { HOST_TITLE, "title" },
        { HOST_PARENT, "parent" },
    };

    TRY(host_create(s.store[0], &req, &s.arena, &made, e));
    in->done = true;
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (made.unsaved & fields[i].field)
            command_warn(in, ERR_UNSUPPORTED, made.path.p, "create: %s sessions cannot hold a %s",
                         s.store[0]->ops->name, fields[i].name);
    report_unpersisted(in, s.store[0], "create");
    if (made.warning)
        command_warn(in, ERR_STALE, made.id.p, "create: %s", made.warning);
    write_created(&made, &in->out);
    return ERR_OK;
}

/* ---- append ---- */

enum { PIECE = 64 * 1024, MOST = 1 << 30 };

/* Reads everything before anything is written, so that a host that dies in the middle of a row has appended nothing. */
static enum err_code read_rows_input(struct buf *text, struct err *e)
{
    ssize_t n = 1;

    while (n > 0) {
        if (text->n > MOST)
            return err_set(e, ERR_USAGE, "stdin", "append: the input is larger than a gigabyte");
        if (buf_reserve(text, PIECE))
            return err_nomem(e);
        do
            n = read(STDIN_FILENO, text->p + text->n, PIECE);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return err_sys(e, "stdin", "append: read rows");
        text->n += (size_t)n;
    }
    return ERR_OK;
}

static void write_appended(struct slice session, const struct host_appended *done, struct out *o)
{
    if (!o->wants_json)
        return;
    out_open(o, NULL, '{');
    out_member(o, "sessionId", session);
    out_int(o, "appended", (int64_t)(done->n - done->present - done->left_out));
    out_int(o, "present", (int64_t)done->present);
    out_int(o, "leftOut", (int64_t)done->left_out);
    out_open(o, "uuids", '[');
    for (size_t i = 0; i < done->n; i++)
        if (done->id[i].n)
            jsonout_text(out_json(o), done->id[i]);
        else
            jsonout_null(out_json(o));
    out_close(o, ']');
    out_end(o, '}');
}

static enum err_code host_append_rows(struct invocation *in, struct sessions *s,
                                      const struct session_ref *ref, struct slice text,
                                      struct err *e)
{
    struct host_append req = { .transcript = option_given(&in->options, OPTION_TRANSCRIPT),
                               .save = option_given(&in->options, OPTION_SAVE) };
    struct host_appended done;
    struct slice *row;

    TRY(host_rows(text, &s->arena, &row, &req.n, e));
    req.row = row;
    TRY(host_append(ref->store, ref, &req, &s->arena, &done, e));
    in->done = true;
    report_unpersisted(in, ref->store, "append");
    if (host_unpersisted(ref->store))
        done = (struct host_appended){ 0 };
    write_appended(ref->id, &done, &in->out);
    return ERR_OK;
}

enum err_code host_append_run(struct invocation *in, struct err *e)
{
    const struct host_appended none = { 0 };
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    AUTO_BUF text = { 0 };
    struct session_ref ref = { 0 };

    TRY(read_rows_input(&text, e));
    if (!option_given(&in->options, OPTION_NO_PERSIST))
        TRY(open_operand(in, "append", &s, &ref, e));
    if (ref.store)
        return host_append_rows(in, &s, &ref, buf_slice(&text), e);
    write_appended(slice_of(in->argv[0]), &none, &in->out);
    return ERR_OK;
}

/* ---- checkpoint ---- */

static void write_checkpointed(struct slice session, const struct host_checkpointed *done,
                               struct out *o)
{
    if (!o->wants_json)
        return;
    out_open(o, NULL, '{');
    out_member(o, "sessionId", session);
    out_member(o, "checkpointId", done->id);
    out_int(o, "files", (int64_t)done->files);
    out_int(o, "fresh", (int64_t)done->fresh);
    out_string(o, "warning", done->warning);
    out_end(o, '}');
}

static enum err_code host_name_files(const struct invocation *in, struct arena *a,
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

/* The files are the session's work: its host has just changed them. */
static enum err_code end_turn(struct invocation *in, struct sessions *s,
                              const struct session_ref *ref, struct err *e)
{
    struct host_checkpoint req = { .files = 0 };
    struct host_checkpointed done = { .warning = NULL };
    TRY(host_name_files(in, &s->arena, &req, e));
    if (!host_unpersisted(ref->store))
        TRY(host_work_record(ref, req.file, req.files, e));
    in->done = true;
    done.files = req.files;
    report_unpersisted(in, ref->store, "checkpoint");
    write_checkpointed(ref->id, &done, &in->out);
    return ERR_OK;
}

static enum err_code save_checkpoint(struct invocation *in, struct sessions *s,
                                     const struct session_ref *ref, struct err *e)
{
    struct host_checkpoint req = { .message = option_text(in->options.id),
                                   .label = option_text(in->options.title),
                                   .task = option_text(in->options.task),
                                   .agent = option_text(in->options.agent) };
    struct host_checkpointed done;
    TRY(host_name_files(in, &s->arena, &req, e));
    TRY(host_checkpoint(ref->store, ref, &req, &s->arena, &done, e));
    in->done = true;
    if (done.warning)
        command_warn(in, ERR_STALE, ref->id.p, "checkpoint: %s", done.warning);
    report_unpersisted(in, ref->store, "checkpoint");
    write_checkpointed(ref->id, &done, &in->out);
    return ERR_OK;
}

enum err_code host_checkpoint_run(struct invocation *in, struct err *e)
{
    struct host_checkpointed unsaved = { .id = option_text(in->options.id) };
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    struct session_ref ref = { 0 };
    const bool ends = option_given(&in->options, OPTION_END);

    if (ends && option_given(&in->options, OPTION_ID))
        return err_set(e, ERR_USAGE, "--id", "checkpoint: not with --end");
    if (!ends && !option_given(&in->options, OPTION_ID) && !option_given(&in->options, OPTION_TASK))
        return err_set(e, ERR_USAGE, "checkpoint", "needs --id MSG; see reprise checkpoint --help");
    if (option_given(&in->options, OPTION_AGENT) && !option_given(&in->options, OPTION_TASK))
        return err_set(e, ERR_USAGE, "--agent", "checkpoint: needs --task TOOLUSE");

    /* A session that is never saved has no store, so its answer is made from the command line alone. */
    if (!option_given(&in->options, OPTION_NO_PERSIST))
        TRY(open_operand(in, "checkpoint", &s, &ref, e));
    if (ref.store)
        return (ends ? end_turn : save_checkpoint)(in, &s, &ref, e);
    write_checkpointed(slice_of(in->argv[0]), &unsaved, &in->out);
    return ERR_OK;
}

/* ---- set ---- */

static void write_set(struct slice session, struct out *o)
{
    if (!o->wants_json)
        return;
    out_open(o, NULL, '{');
    out_member(o, "sessionId", session);
    out_end(o, '}');
}

enum err_code host_set_run(struct invocation *in, struct err *e)
{
    const size_t n = (size_t)in->argc - 1;
    AUTO_ARENA a = { 0 };
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    struct host_setting *setting = arena_zalloc(&a, n * sizeof *setting);
    struct session_ref ref = { 0 };

    NEED(setting);
    for (size_t i = 0; i < n; i++) {
        const char *word = in->argv[i + 1], *sign = strchr(word, '=');

        if (!sign || sign == word)
            return err_set(e, ERR_USAGE, "", "\"%.80s\" is not KEY=VALUE; see reprise set --help",
                           word);
        setting[i].key = (struct slice){ word, (size_t)(sign - word) };
        setting[i].value = slice_of(sign + 1);
    }
    if (!option_given(&in->options, OPTION_NO_PERSIST))
        TRY(open_operand(in, "set", &s, &ref, e));
    if (ref.store) {
        TRY(host_set(ref.store, &ref, setting, n, e));
        in->done = true;
        report_unpersisted(in, ref.store, "set");
    }
    write_set(ref.store ? ref.id : slice_of(in->argv[0]), &in->out);
    return ERR_OK;
}

/* ---- restore ---- */

enum err_code host_restore_session(struct invocation *in, struct sessions *s,
                                   const struct session_ref *ref, struct err *e)
{
    CLEANUP(config_fini) struct config config = { 0 };
    struct resume resume;

    CLEANUP(restore_fini) struct restore r = { 0 };

    TRY(store_restore(ref, option_text(in->options.at), &r, e));

    char *none[] = { NULL };
    /* If no directory of the session exists any more, the current one is used, as in the picker. */
    const char *dir = r.command_cwd.n ? arena_copy(&s->arena, r.command_cwd).p : in->world->env.cwd;

    NEED(dir);
    TRY(command_config(in, &config, e));
    enum err_code rc = resume_make(&config, ref, dir, &s->arena, &resume, e);

    /* A host needs no configured command: it is the program that continues the session. */
    if (rc == ERR_UNSUPPORTED) {
        resume = (struct resume){ .argv = none, .dir = dir };
        rc = ERR_OK;
    }
    TRY(rc);
    if (in->out.wants_json) {
        const char *system = ref->store->ops->name;

        out_open(&in->out, NULL, '{');
        restore_json_members(out_json(&in->out), &r, system);
        resume_json(&resume, out_json(&in->out));
        out_string(&in->out, "commandCwd", resume.dir);
        out_end(&in->out, '}');
    } else {
        out_addf(&in->out, "messages     %zu\ninterrupted  %s\nresume       ", r.messages,
                 r.interruption == INTERRUPTION_NONE ? "no" : "yes");
        if (!*resume.argv)
            out_addf(&in->out, "no command configured");
        else if (resume_line(&resume, &in->out.buf))
            return err_nomem(e);
        else
            out_addf(&in->out, "\n");
    }
    return ERR_OK;
}
