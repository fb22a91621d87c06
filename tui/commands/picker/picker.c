#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/maintenance/project_note.h"
#include "store/query/resolve.h"
#include "tui/app/model.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/config/resume_command.h"
#include "tui/term/loop.h"
#include "tui/text/human.h"

/* ---- the choice ---- */

static bool prints_choice(const struct invocation *in)
{
    return option_given(&in->options, OPTION_PRINT) ||
           option_given(&in->options, OPTION_PRINT_DIRECTORY);
}

/* Chooses the session's directory. If it no longer exists, the main worktree of its repository or the current directory is
 * used: after a question on a terminal, as on the screen; otherwise with a note. */
static enum err_code choose_dir(const struct invocation *in, const struct config *config,
                                const struct session_row *row, struct arena *a, const char **dir,
                                struct err *e)
{
    const char *present = in->world->env.cwd, *main_tree = NULL, *own = NULL;
    struct out question;

    TRY(resolve_resume_dir(&row->ref, row->cwd, a, &own, e));
    if (!own)
        own = present;
    *dir = own;
    if (path_is_dir(own))
        return resume_check_place(config, &row->ref, row->cwd, own, a, e);

    TRY(worktree_main(own, a, &main_tree, e));
    *dir = main_tree ? main_tree : present;
    TRY(resume_check_place(config, &row->ref, row->cwd, *dir, a, e));

    if (prints_choice(in) || !command_can_ask(in)) {
        command_warn(in, ERR_NOT_FOUND, "",
                     "the session's directory %.250s no longer exists; resuming in %.250s", own,
                     *dir);
        return ERR_OK;
    }

    out_init(&question, in->err_fd);
    out_addf(&question, "The session's directory ");
    out_text(&question, slice_of(own));
    out_addf(&question, " no longer exists.\nResume in ");
    out_text(&question, slice_of(*dir));
    out_addf(&question, "? [y/N] ");
    return command_ask(&question, "", "nothing was resumed", e);
}

static enum err_code print_choice(const struct session_row *row, const struct resume *r,
                                  bool directory, struct out *o, struct err *e)
{
    if (directory) {
        o->raw = o->columns == 0;
        out_addf(o, "%s", resume_cd_prefix(r));
        if (o->raw)
            out_add(o, slice_of(r->dir));
        else
            out_text(o, slice_of(r->dir));
        out_addf(o, "\n");
        return ERR_OK;
    }
    if (!o->wants_json) {
        if (resume_line(r, &o->buf))
            return err_nomem(e);
        out_addf(o, "\n");
        return ERR_OK;
    }
    out_open(o, NULL, '{');
    out_member(o, "id", row->ref.id);
    out_string(o, "system", row->ref.store->ops->name);
    out_string(o, "cwd", r->dir);
    resume_json(r, out_json(o));
    out_end(o, '}');
    return ERR_OK;
}

/* If the system keeps transcripts elsewhere, the agent needs a copy. A newer transcript on this machine is kept: it is
 * the one that the agent continues. */
static enum err_code retrieve_if_missing(struct invocation *in, const struct session_ref *ref,
                                         struct err *e)
{
    const struct retrieve_request req = { .overwrite = false };
    struct retrieved r;

    if (!ref->store->ops->retrieve)
        return ERR_OK;
    enum err_code rc = change_retrieve(in, ref, &req, &r, e);

    if (!rc)
        retrieved_fini(&r);
    /* If no checkpoint has a transcript, the agent may still have its own. */
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

/* With --fork: the agent forks the session itself. */
static bool is_forked_by_agent(const struct invocation *in, const struct config *config,
                               const struct session_ref *ref)
{
    return option_given(&in->options, OPTION_AS_FORK) &&
           resume_agent_forks(config, ref, prints_choice(in));
}

/* Resumes the chosen session in dir (NULL: choose_dir decides), or with --print writes it to stdout as a line for a
 * shell or as JSON. Resuming returns only if it failed. */
static enum err_code use_choice(struct invocation *in, const struct config *config,
                                const struct session_row *row, const char *dir,
                                const struct name_list *words, struct err *e)
{
    AUTO_ARENA arena = { 0 };
    struct resume r;

    TRY(dir ? resume_check_place(config, &row->ref, row->cwd, dir, &arena, e)
            : choose_dir(in, config, row, &arena, &dir, e));
    TRY((is_forked_by_agent(in, config, &row->ref) ? resume_make_fork : resume_make)(
        config, &row->ref, dir, &arena, &r, e));
    if (!in->command->name) {
        /* The operands of the picker are words for the agent. */
        const size_t n = (size_t)in->argc;
        struct slice *word = arena_alloc(&arena, (n + 1) * sizeof *word);

        NEED(word);
        for (size_t i = 0; i < n; i++)
            word[i] = slice_of(in->argv[i]);
        TRY(resume_set(&r, word, n, &arena, e));
    }
    if (words)
        TRY(resume_set(&r, words->name, words->n, &arena, e));
    if (prints_choice(in))
        return print_choice(row, &r, option_given(&in->options, OPTION_PRINT_DIRECTORY), &in->out,
                            e);
    TRY(retrieve_if_missing(in, &row->ref, e));
    (void)!project_note_add(&in->world->env, dir, NULL);
    return resume_exec(&r, e);
}

/* ---- without a screen ---- */

static enum err_code picker_run_plain(struct invocation *in, const struct config *config,
                                      struct sessions *s, struct err *e)
{
    AUTO_ARENA arena = { 0 };
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    struct session_ref chosen;

    NEED(row);
    TRY(plain_menu_choose(in, s, config->settings.sort, &arena, &chosen, e));
    TRY(chosen.store->ops->describe(chosen.store, &s->scope, &chosen, row, e));
    return use_choice(in, config, row, NULL, NULL, e);
}

/* ---- on the screen ---- */

static enum err_code run_chosen_effect(struct invocation *in, const struct config *config,
                                       struct effect *chosen, struct err *e)
{
    const char *dir =
        chosen->kind == EFFECT_RESUME && chosen->text.n ? buf_cstr(&chosen->text) : NULL;

    if (chosen->kind == EFFECT_QUIT && chosen->code == 0)
        return ERR_OK;
    if (chosen->kind == EFFECT_QUIT) {
        in->exit_code = chosen->code;
        return err_set(e, ERR_CANCELLED, "", "nothing was chosen");
    }
    if (chosen->kind == EFFECT_GO)
        return board_go(in, chosen->rows[0], e);
    if (chosen->kind == EFFECT_PRINT)
        in->options.given |= OPTION_BIT(PRINT);
    if (chosen->forks)
        in->options.given |= OPTION_BIT(AS_FORK);
    for (size_t i = 0; i < chosen->row_count; i++)
        TRY(use_choice(in, config, chosen->rows[i], dir, chosen->names, e));
    return ERR_OK;
}

struct picker_bisect {
    const struct invocation *in;
    struct sessions *sessions;
};

static enum err_code picker_run_bisect(void *arg, const struct effect *q,
                                       const struct bisect_watch *watch, struct buf *turn,
                                       struct err *e)
{
    struct picker_bisect *p = arg;
    CLEANUP(buf_fini) struct buf command = { 0 };

    if (buf_add(&command, buf_slice(&q->text)) || !buf_cstr(&command))
        return err_nomem(e);
    return bisect_on_screen(p->in, p->sessions, &q->refs->ref[0], command.p, watch, turn, e);
}

/* Finishes rewinds that an earlier run left unfinished, and shows a notice. If another program is rewinding right now,
 * that program does it. */
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
        err_sentence(&e, text, sizeof text);
    } else if (r.waiting) {
        err_sentence(&r.first[0].why, why, sizeof why);
        snprintf(text, sizeof text, "a rewind is not finished (reprise rewinds): %s", why);
    } else {
        snprintf(text, sizeof text, "finished %zu rewind%s that had been interrupted", r.recovered,
                 r.recovered == 1 ? "" : "s");
    }
    m.u.notice.error = rc || r.waiting;
    m.u.notice.text = option_text(text);
    update(model, &m);
}

static struct model *make_model(const struct invocation *in, const struct config *config,
                                const struct session_row *rewind)
{
    struct model *model = model_new(&config->settings, in->world->env.now_ms);
    char text[400];

    if (model && rewind && !model_rewind(model, rewind)) {
        model_free(model);
        model = NULL;
    }
    if (model) {
        /* Show the first mistake of the configuration, because the screen hides what was written
         * on stderr. */
        struct msg m = { .kind = MSG_NOTICE, .now_ms = in->world->env.now_ms };
        size_t n = config->problems ? config->problems->n : 0;

        if (n != 0) {
            err_sentence(&config->problems->problem[0].err, text, sizeof text - 40);
            if (n > 1)
                snprintf(text + strlen(text), 40, " (%zu more: config --check)", n - 1);
            m.u.notice.error = true;
            m.u.notice.text = option_text(text);
            update(model, &m);
        }

        recover_unfinished(in, model);
    }
    return model;
}

/* Runs the screen and uses its choice. ERR_CANCELLED if nothing was chosen. Completes the settings of the
 * configuration. rewind: the session whose rewind view is shown instead of the list, or NULL. */
static enum err_code run_screen(struct invocation *in, struct config *config, struct sessions *s,
                                const struct session_row *rewind, struct err *e)
{
    const struct process_env *world = in->world;
    struct outcome outcome = { 0 };
    struct job_context context;
    struct picker_bisect bisect = { in, s };
    struct loop_setup setup = {
        .context = &context,
        .term = { .type = world->term,
                  .theme = &config->theme,
                  .colours = { config->settings.colours, world->no_color, world->true_colour },
                  .asks_background = config->settings.theme == THEME_AUTO,
                  .mouse = !config->settings.no_mouse },
        .light = &config->light,
        .editor = world->editor,
        .temp_dir = world->temp_dir,
    };

    const struct options *o = &in->options;

    /* The settings that no configuration file contains come from the command line and the environment. */
    config->settings.demo = in->demo;
    config->settings.print = prints_choice(in);
    config->settings.all_kinds = option_given(o, OPTION_ALL_KINDS);
    config->settings.leave_programmatic = option_given(o, OPTION_NO_PROGRAMMATIC);
    config->settings.query = option_text(o->query);
    config->settings.project = option_text(o->project ? o->project : in->world->env.cwd);
    config->settings.home = option_text(in->world->env.home);
    config->settings.looked_in = s->looked_in;
    config->settings.looked_in_count = s->looked_in_count;

    config->settings.config = config;

    struct model *model = make_model(in, config, rewind);

    NEED(model);

    jobs_init(&context, s->store, s->n, &config->settings, world->env.cwd);
    context.env = &world->env;
    context.config = config;
    context.path = world->path;
    context.unopened = s->unopened;
    context.bisect = picker_run_bisect;
    context.bisect_arg = &bisect;
    context.no_worktrees = option_given(&in->options, OPTION_NO_WORKTREES);

    /* The choice runs after the loop, because the terminal is then restored and no worker runs. */
    enum err_code rc = loop_run(&setup, model, &outcome, e);

    jobs_fini(&context);
    if (!rc) {
        rc = run_chosen_effect(in, config, &outcome.chosen, e);
        effect_fini(&outcome.chosen);
    }
    model_free(model);
    return rc;
}

enum err_code picker_show_rewind(struct invocation *in, struct sessions *s,
                                 const struct session_ref *ref, struct err *e)
{
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    CLEANUP(config_fini) struct config config = { 0 };

    NEED(row);
    TRY(ref->store->ops->describe(ref->store, &s->scope, ref, row, e));
    TRY(command_config(in, &config, e));
    return run_screen(in, &config, s, row, e);
}

/* ---- --resume ID, --continue: no screen ---- */

/* Finds a session by its id, or by its title if no id matches: on this machine, and only then on servers. */
static enum err_code find_named(struct sessions *s, const char *name, struct session_ref *ref,
                                struct err *e)
{
    const size_t all = s->n, here = sessions_count_here(s);
    enum err_code rc = ERR_NOT_FOUND;
    bool last = false;

    for (s->n = here ? here : all; rc == ERR_NOT_FOUND && !last; s->n = all) {
        last = s->n == all;
        rc = sessions_find(s, name, ref, e);
        struct err by_id = *e;

        if (rc == ERR_NOT_FOUND)
            rc = resolve_title(s->store, s->n, &s->scope, slice_of(name), &s->arena, ref, e);
        if (rc == ERR_NOT_FOUND)
            *e = by_id;
    }
    return rc;
}

static enum err_code resume_named(struct invocation *in, const struct config *config,
                                  struct sessions *s, const char *id, struct err *e)
{
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    struct session_ref ref;

    NEED(row);
    TRY(find_named(s, id, &ref, e));
    if (option_given(&in->options, OPTION_AS_FORK) && !is_forked_by_agent(in, config, &ref)) {
        TRY(change_fork(in, &ref, &s->arena, &id, e));
        TRY(sessions_find(s, id, &ref, e));
    }
    TRY(ref.store->ops->describe(ref.store, &s->scope, &ref, row, e));
    if (row->hidden == HIDDEN_UNREADABLE)
        return access(ref.path.p, R_OK) != 0
                   ? err_sys(e, ref.path.p, "resume")
                   : err_set(e, ERR_NOT_FOUND, ref.path.p,
                             "resume: it is a link, or not a regular file");
    if (row->hidden == HIDDEN_SIDECHAIN)
        return err_set(e, ERR_NOT_FOUND, id, "resume: it is the transcript of a sub-agent");
    return use_choice(in, config, row, NULL, NULL, e);
}

enum err_code picker_run(struct invocation *in, struct err *e)
{
    const bool plain = option_given(&in->options, OPTION_PLAIN);
    const char *id = in->options.resume                            ? in->options.resume
                     : option_given(&in->options, OPTION_CONTINUE) ? "latest"
                                                                   : NULL;
    CLEANUP(config_fini) struct config config = { 0 };
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };

    TRY(command_config(in, &config, e));
    if (!id && option_given(&in->options, OPTION_AS_FORK))
        return err_set(e, ERR_USAGE, "--fork", "needs --continue or --resume ID");

    /* A worker resolves the scope of the screen. */
    TRY(sessions_open(in, id || !plain, &s, e));
    if (id)
        return resume_named(in, &config, &s, id, e);
    return plain ? picker_run_plain(in, &config, &s, e) : run_screen(in, &config, &s, NULL, e);
}
