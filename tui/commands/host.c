#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/sessions.h"
#include "tui/config/resume_command.h"

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
    struct host_created made = { .id = option_text(in->options.id) };

    host_generate_id(drawn);
    if (!made.id.n)
        made.id = option_text(drawn);
    return write_create_answer(in, &made, e);
}

/* A directory is meant from where the command was started. */
static struct slice directory_of(const struct invocation *in, struct arena *a)
{
    const char *cwd = in->options.cwd;
    char *path;

    if (!cwd || cwd[0] == '/')
        return option_text(cwd);
    path = arena_format(a, "%s/%s", in->world->env.cwd, cwd);
    return option_text(path);
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
    const struct host_create req = { .id = option_text(o->id),
                                     .cwd = directory_of(in, &s.arena),
                                     .model = option_text(o->model),
                                     .title = option_text(o->title),
                                     .parent = option_text(o->parent) };

    rc = host_create(s.store[0], &req, &s.arena, &made, e);
    in->done = !rc;
    if (!rc)
        report_unsaved(in, s.store[0]->ops->name, &made);
    if (!rc)
        rc = write_create_answer(in, &made, e);
    sessions_close(&s);
    return rc;
}

enum { PIECE = 64 * 1024, MOST = 1 << 30 };

/* All of it, before anything is written: a host that dies in the middle of a row has appended nothing. */
static enum err_code read_rows_input(struct buf *text, struct err *e)
{
    ssize_t n = 1;

    while (n > 0) {
        if (text->n > MOST)
            return err_set(e, ERR_USAGE, "stdin", "append: more than a gigabyte");
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

static enum err_code write_append_answer(struct invocation *in, struct slice session,
                                         const struct host_appended *done, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return ERR_OK;
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", session);
    jsonout_key(&j, "appended");
    jsonout_int(&j, (int64_t)(done->n - done->present));
    jsonout_key(&j, "present");
    jsonout_int(&j, (int64_t)done->present);
    jsonout_key(&j, "uuids");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < done->n; i++)
        if (done->id[i].n)
            jsonout_text(&j, done->id[i]);
        else
            jsonout_null(&j);
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code append_rows(struct invocation *in, struct slice text, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct host_append req = { .transcript = option_given(&in->options, OPTION_TRANSCRIPT) };
    struct host_appended done;
    struct slice *row;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = host_rows(text, &s.arena, &row, &req.n, e);
    req.row = row;
    if (!rc)
        rc = host_append(ref.store, &ref, &req, &s.arena, &done, e);
    in->done = !rc;
    if (!rc)
        rc = write_append_answer(in, ref.id, &done, e);
    sessions_close(&s);
    return rc;
}

enum err_code append_run(struct invocation *in, struct err *e)
{
    const struct slice session = slice_of(in->argv[0]);
    const struct host_appended none = { 0 };
    struct buf text = { 0 };
    enum err_code rc = read_rows_input(&text, e);

    if (!rc)
        rc = option_given(&in->options, OPTION_NO_PERSIST)
                 ? write_append_answer(in, session, &none, e)
                 : append_rows(in, buf_slice(&text), e);
    buf_fini(&text);
    return rc;
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
        jsonout_member(&j, "warning", option_text(done->warning));
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
    struct host_checkpoint req = { .message = option_text(in->options.id),
                                   .label = option_text(in->options.title) };

    if (!option_given(&in->options, OPTION_ID))
        return err_set(e, ERR_USAGE, "--id", "checkpoint: --id MSG is required");
    if (!option_given(&in->options, OPTION_NO_PERSIST))
        return save_checkpoint(in, &req, e);
    return write_checkpoint_answer(in, option_text(in->argv[0]),
                                   &(struct host_checkpointed){ .id = req.message }, e);
}

static enum err_code write_set_answer(struct invocation *in, struct slice session, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return ERR_OK;
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", session);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code read_setting(const char *word, struct host_setting *out, struct err *e)
{
    const char *sign = strchr(word, '=');

    if (!sign || sign == word)
        return err_set(e, ERR_USAGE, word, "set: expected KEY=VALUE");
    out->key = (struct slice){ word, (size_t)(sign - word) };
    out->value = (struct slice){ sign + 1, strlen(sign + 1) };
    return ERR_OK;
}

static enum err_code apply_settings(struct invocation *in, const struct host_setting *setting,
                                    size_t n, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = host_set(ref.store, &ref, setting, n, e);
    in->done = !rc;
    if (!rc)
        rc = write_set_answer(in, ref.id, e);
    sessions_close(&s);
    return rc;
}

enum err_code set_run(struct invocation *in, struct err *e)
{
    size_t n = (size_t)in->argc - 1;
    struct arena a = { 0 };
    struct host_setting *setting = arena_zalloc(&a, n * sizeof *setting);
    enum err_code rc = setting ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < n && !rc; i++)
        rc = read_setting(in->argv[i + 1], &setting[i], e);
    if (!rc)
        rc = option_given(&in->options, OPTION_NO_PERSIST)
                 ? write_set_answer(in, slice_of(in->argv[0]), e)
                 : apply_settings(in, setting, n, e);
    arena_fini(&a);
    return rc;
}

static void write_values(struct jsonout *j, const char *key, const struct slice *json, size_t n)
{
    jsonout_key(j, key);
    jsonout_open(j, '[');
    for (size_t i = 0; i < n; i++)
        jsonout_raw(j, json[i]);
    jsonout_close(j, ']');
}

static void write_worktree(struct jsonout *j, const struct restore *r)
{
    if (r->worktree_path.n == 0)
        return;
    jsonout_key(j, "worktree");
    jsonout_open(j, '{');
    jsonout_member(j, "path", r->worktree_path);
    jsonout_key(j, "exists");
    jsonout_bool(j, r->worktree_exists);
    jsonout_close(j, '}');
}

static void write_interruption(struct jsonout *j, const struct restore *r)
{
    static const char *const kinds[] = {
        [INTERRUPTION_NONE] = "none",
        [INTERRUPTION_PROMPT] = "interrupted_prompt",
        [INTERRUPTION_TURN] = "interrupted_turn",
    };
    const char *kind = kinds[r->interruption];

    jsonout_key(j, "interruption");
    jsonout_open(j, '{');
    jsonout_member(j, "kind", slice_of(kind));
    if (r->prompt_json.n) {
        jsonout_key(j, "prompt");
        jsonout_raw(j, r->prompt_json);
    }
    jsonout_close(j, '}');
}

static void write_command(struct jsonout *j, char *const *argv)
{
    jsonout_key(j, "command");
    jsonout_open(j, '[');
    for (; *argv; argv++)
        jsonout_text(j, (struct slice){ *argv, strlen(*argv) });
    jsonout_close(j, ']');
}

static enum err_code write_restore_json(const struct restore *r, const char *system,
                                        const struct resume *resume, struct out *out, struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", r->session_id);
    jsonout_member(&j, "system", slice_of(system));
    jsonout_member(&j, "cwd", r->cwd);
    write_worktree(&j, r);
    jsonout_member(&j, "gitBranch", r->git_branch);
    jsonout_member(&j, "agentSetting", r->agent_setting);
    jsonout_member(&j, "mode", r->mode);
    write_values(&j, "messages", r->messages_json, r->messages);
    write_interruption(&j, r);
    write_values(&j, "todos", r->todos_json, r->todos);
    write_values(&j, "invokedSkills", r->skills_json, r->skills);
    write_values(&j, "contentReplacements", r->replacements_json, r->replacements);
    write_values(&j, "fileHistory", r->file_history_json, r->file_history);
    write_command(&j, resume->argv);
    resume_json_env(resume, &j);
    jsonout_member(&j, "commandCwd", slice_of(resume->dir));
    jsonout_close(&j, '}');
    if (j.rc)
        return err_nomem(e);
    return out_add(out, SLICE("\n"), e);
}

static enum err_code write_restore_text(const struct restore *r, const struct resume *resume,
                                        struct out *out, struct err *e)
{
    enum err_code rc = out_addf(out, e, "messages     %zu\ninterrupted  %s\nresume       ",
                                r->messages, r->interruption == INTERRUPTION_NONE ? "no" : "yes");

    if (rc == ERR_OK && !*resume->argv)
        return out_add(out, SLICE("no command configured\n"), e);
    if (rc == ERR_OK && resume_line(resume, &out->buf))
        rc = err_nomem(e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code write_restore_answer(struct invocation *in, const struct session_ref *ref,
                                          const struct restore *r, struct arena *a, struct err *e)
{
    char *none[] = { NULL };
    struct config config;
    struct resume resume;
    /* Where nothing of the session's is left to go to: here, as the picker offers it. */
    const char *dir = r->command_cwd.n ? arena_copy(a, r->command_cwd).p : in->world->env.cwd;
    enum err_code rc = dir ? command_config(in, &config, e) : err_nomem(e);

    if (rc)
        return rc;
    rc = resume_make(&config, ref, dir, a, &resume, e);
    /* A host that asks has a program of its own. */
    if (rc == ERR_UNSUPPORTED) {
        resume = (struct resume){ .argv = none, .dir = dir };
        rc = ERR_OK;
    }
    if (rc == ERR_OK && option_given(&in->options, OPTION_JSON))
        rc = write_restore_json(r, ref->store->ops->name, &resume, &in->out, e);
    else if (rc == ERR_OK)
        rc = write_restore_text(r, &resume, &in->out, e);
    config_fini(&config);
    return rc;
}

enum err_code restore_run(struct invocation *in, struct err *e)
{
    const char *at = in->options.at;
    struct sessions s;
    struct session_ref ref;
    struct restore r = { 0 };
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    if (ref.store->ops->restore)
        rc = ref.store->ops->restore(ref.store, &ref, (struct slice){ at, at ? strlen(at) : 0 }, &r,
                                     e);
    else
        rc = err_set(e, ERR_UNSUPPORTED, in->argv[0], "restore: %s cannot", ref.store->ops->name);
    if (rc == ERR_OK)
        rc = write_restore_answer(in, &ref, &r, &s.arena, e);
    restore_fini(&r);
    sessions_close(&s);
    return rc;
}
