#include <string.h>

#include "lite/json/jsonout.h"
#include "tui/commands/command.h"
#include "tui/commands/config_load.h"
#include "tui/commands/sessions.h"
#include "tui/config/resume_command.h"

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
