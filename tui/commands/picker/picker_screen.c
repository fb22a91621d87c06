#include "tui/commands/picker/picker_screen.h"

#include <stdio.h>
#include <string.h>

#include "tui/app/model.h"
#include "tui/commands/picker/picker_choice.h"
#include "tui/term/loop.h"

static struct slice optional_text(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

static void fill_settings(const struct invocation *in, const struct sessions *s,
                          struct settings *out)
{
    const struct options *o = &in->options;

    out->demo = in->demo;
    out->print = option_given(o, OPTION_PRINT);
    out->leave_programmatic = option_given(o, OPTION_NO_PROGRAMMATIC);
    out->query = optional_text(o->query);
    out->project = optional_text(o->project ? o->project : in->world->env.cwd);
    out->home = optional_text(in->world->env.home);
    out->looked_in = s->looked_in;
    out->looked_in_count = s->looked_in_count;
}

static enum err_code run_chosen_effect(struct invocation *in, const struct config *config,
                                       struct effect *chosen, struct err *e)
{
    const char *dir =
        chosen->kind == EFFECT_RESUME && chosen->text.n ? buf_cstr(&chosen->text) : NULL;
    enum err_code rc = ERR_OK;

    if (chosen->kind == EFFECT_QUIT && chosen->code == 0)
        return ERR_OK;
    if (chosen->kind == EFFECT_QUIT) {
        in->exit_code = chosen->code;
        return err_set(e, ERR_CANCELLED, "", "nothing was chosen");
    }
    if (chosen->kind == EFFECT_PRINT)
        in->options.given |= OPTION_BIT(PRINT);
    for (size_t i = 0; rc == ERR_OK && i < chosen->row_count; i++)
        rc = picker_choice_run(in, config, chosen->rows[i], dir, e);
    return rc;
}

/* What an earlier run left half done is finished, and said. Another program that rewinds right now does that itself. */
static void recover_unfinished(const struct invocation *in, struct model *model)
{
    struct msg m = { .kind = MSG_NOTICE, .now_ms = in->world->env.now_ms };
    struct err e = { 0 };
    char text[400], why[300];
    struct rewind_recovery r;
    enum err_code rc = rewind_recover_all(&in->world->env, &r, &e);

    if (rc == ERR_LOCKED || (!rc && r.recovered == 0 && r.waiting == 0))
        return;
    if (rc) {
        err_format(&e, text, sizeof text);
    } else if (r.waiting) {
        err_format(&r.first[0].why, why, sizeof why);
        snprintf(text, sizeof text, "a rewind is not finished (reprise rewinds): %s", why);
    } else {
        snprintf(text, sizeof text, "finished %zu rewind%s that had been interrupted", r.recovered,
                 r.recovered == 1 ? "" : "s");
    }
    m.u.notice.error = rc || r.waiting;
    m.u.notice.text = optional_text(text);
    update(model, &m);
}

static struct model *make_model(const struct invocation *in, const struct settings *settings,
                                const struct session_row *rewind)
{
    struct model *model = model_new(settings, in->world->env.now_ms);

    if (model && rewind && !model_rewind(model, rewind)) {
        model_free(model);
        model = NULL;
    }
    if (model)
        recover_unfinished(in, model);
    return model;
}

enum err_code picker_screen_run(struct invocation *in, struct config *config, struct sessions *s,
                                const struct session_row *rewind, struct err *e)
{
    const struct process_env *world = in->world;
    struct outcome outcome = { 0 };
    struct job_context context;
    struct loop_setup setup = {
        .context = &context,
        .term = { .type = world->term,
                  .theme = &config->theme,
                  .colours = config->settings.colours,
                  .no_color = world->no_color,
                  .mouse = !config->settings.no_mouse },
        .editor = world->editor,
    };
    fill_settings(in, s, &config->settings);
    struct model *model = make_model(in, &config->settings, rewind);

    if (!model)
        return err_nomem(e);
    jobs_init(&context, s->store, s->n, &config->settings, world->env.cwd);
    context.env = &world->env;
    context.config = config;
    context.path = world->path;
    context.no_worktrees = option_given(&in->options, OPTION_NO_WORKTREES);
    enum err_code rc = loop_run(&setup, model, &outcome, e);

    jobs_fini(&context);
    if (rc == ERR_OK) {
        rc = run_chosen_effect(in, config, &outcome.chosen, e);
        effect_fini(&outcome.chosen);
    }
    model_free(model);
    return rc;
}
