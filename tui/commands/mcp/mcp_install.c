#include <limits.h>

#include "lite/base/cleanup.h"
#include "store/proc/process.h"
#include "store/snapshots/hooks.h"
#include "tui/commands/mcp/mcp.h"
#include "tui/commands/session.h"

/* `reprise mcp --install AGENT` and `--remove AGENT`: the change of the agent's configuration is shown first. With
 * --skill it is the skill that teaches an agent the commands. */

static const unsigned char skill_text[] = {
#include "skill_text.h" /* the bytes of docs/skill/past-sessions/SKILL.md */
};

static enum err_code mcp_find_agent(const char *name, const struct store_ops **out, struct err *e)
{
    AUTO_BUF known = { 0 };

    *out = store_system(slice_of(name));
    if (!*out)
        return sessions_unknown_agent(NULL, name, e);
    if ((*out)->mcp)
        return ERR_OK;
    for (size_t i = 0; store_systems[i]; i++)
        if (store_systems[i]->mcp)
            NEED(!buf_addf(&known, "%s%s", known.n ? ", " : "", store_systems[i]->name));
    return err_set(e, ERR_UNSUPPORTED, "",
                   "reprise does not know where %s lists its servers, but it knows %.*s", name,
                   (int)known.n, known.p);
}

enum err_code mcp_install(struct invocation *in, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct options *o = &in->options;
    const struct slice text = { (const char *)skill_text, sizeof skill_text };
    const bool on = o->install != NULL, skill = option_given(o, OPTION_SKILL),
               dry = option_given(o, OPTION_DRY_RUN);
    const struct store_ops *ops;
    struct hook_plan plan;
    const struct hook_plan *const plans[] = { &plan };
    char path[PATH_MAX], id[64] = "";
    const struct hook_program program = { .path = path, .word = path };

    if (o->install && o->remove)
        return err_set(e, ERR_USAGE, "--install", "not together with --remove");
    if (!proc_program(path, sizeof path))
        return err_set(e, ERR_UNSUPPORTED, "", "the path of this program is not known");
    TRY(mcp_find_agent(on ? o->install : o->remove, &ops, e));
    TRY(skill ? hook_plan_skill(&in->world->env, ops, "past-sessions", text, on, &a, &plan, e)
              : hook_plan_server(&in->world->env, ops, &program, on, &a, &plan, e));
    if (plan.refused)
        return err_set(e, ERR_UNSUPPORTED, plan.path ? plan.path : "", "%s: %s", ops->name,
                       plan.refused);

    /* The change is shown before the question, and in a dry run, too. */
    const bool changes = hook_plan_changes(&plan);

    if (changes && !in->out.wants_json)
        TRY(config_change_show(&plan, &in->out, e));
    if (changes && !dry) {
        TRY(config_change_ask(in, OPTION_APPLY, "--apply", e));
        TRY(hook_plans_apply(&in->world->env, plans, 1, on, id, e));
        in->done = true;
    }

    if (in->out.wants_json) {
        out_open(&in->out, NULL, '{');
        out_string(&in->out, "change", *id ? id : NULL);
        out_string(&in->out, "agent", ops->name);
        out_string(&in->out, "path", plan.path);
        out_bool_if_true(&in->out, "dryRun", dry);
        out_end(&in->out, '}');
    } else if (*id) {
        out_addf(&in->out, "%s %s %s" OUT_UNDO_WITH "\n", ops->label ? ops->label : ops->name,
                 skill ? "has the skill past-sessions" : "starts reprise mcp",
                 !on     ? "no more"
                 : skill ? "from its next session on"
                         : "with its next session",
                 id);
    } else if (!changes) {
        out_addf(&in->out, "Nothing to change.\n");
    }
    return ERR_OK;
}
