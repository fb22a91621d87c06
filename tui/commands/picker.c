#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/store.h"
#include "store/git/worktree.h"
#include "store/query/listing.h"
#include "store/query/resolve.h"
#include "tui/app/model.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/config/resume_command.h"
#include "tui/filter/doc.h"
#include "tui/filter/fuzzy.h"
#include "tui/filter/query.h"
#include "tui/term/loop.h"

static bool choice_dir_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- the choice ---- */

/* The session's directory; if it no longer exists, the main worktree of its repository or the current directory, with a
 * note on stderr. */
static enum err_code choose_dir(const struct invocation *in, const struct session_row *row,
                                struct arena *a, const char **dir, struct err *e)
{
    const char *present = in->world->env.cwd, *main_tree = NULL;
    const char *own = row->cwd.n ? arena_copy(a, row->cwd).p : present;

    if (!own)
        return err_nomem(e);
    *dir = own;
    if (choice_dir_exists(own))
        return ERR_OK;
    enum err_code rc = worktree_main(own, a, &main_tree, e);

    if (rc)
        return rc;
    *dir = main_tree ? main_tree : present;
    command_warn(in, ERR_NOT_FOUND, own,
                 "resume: the session's directory no longer exists; resuming in %s", *dir);
    return ERR_OK;
}

static bool prints_choice(const struct invocation *in)
{
    return option_given(&in->options, OPTION_PRINT) ||
           option_given(&in->options, OPTION_PRINT_DIRECTORY);
}

static enum err_code print_choice(const struct session_row *row, const struct resume *r,
                                  bool directory, struct out *o, struct err *e)
{
    if (directory) {
        o->raw = o->columns == 0;
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
    /* Without a checkpoint that has a transcript, the agent may still have its own. */
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

/* With --fork: the agent forks the session itself. */
static bool is_forked_by_agent(const struct invocation *in, const struct config *config,
                               const struct session_ref *ref)
{
    return option_given(&in->options, OPTION_AS_FORK) && resume_agent_forks(config, ref);
}

/* Resumes the chosen session in dir (NULL: choose_dir decides), or with --print writes it to stdout as a line for a
 * shell or as JSON. Resuming returns only if it failed. */
static enum err_code use_choice(struct invocation *in, const struct config *config,
                                const struct session_row *row, const char *dir,
                                const struct name_list *words, struct err *e)
{
    struct arena arena = { 0 };
    struct resume r;
    enum err_code rc = dir ? ERR_OK : choose_dir(in, row, &arena, &dir, e);

    if (!rc)
        rc = is_forked_by_agent(in, config, &row->ref)
                 ? resume_make_fork(config, &row->ref, dir, &arena, &r, e)
                 : resume_make(config, &row->ref, dir, &arena, &r, e);
    /* The operands of the picker are words for the agent. */
    if (!rc && !in->command->name)
        rc = resume_add(&r, in->argv, (size_t)in->argc, &arena, e);
    if (!rc && words)
        rc = resume_set(&r, words->name, words->n, &arena, e);
    if (!rc && prints_choice(in)) {
        rc = print_choice(row, &r, option_given(&in->options, OPTION_PRINT_DIRECTORY), &in->out, e);
    } else if (!rc) {
        rc = retrieve_if_missing(in, &row->ref, e);
        if (!rc)
            rc = resume_exec(&r, e);
    }
    arena_fini(&arena);
    return rc;
}

enum { SHOWN_MAX = 40, NUMBER_COLUMNS = 5, TYPED_MAX = 1024 };

/* ---- without a screen ---- */

/* A session that fits the query. */
struct fitting {
    int64_t time_ms; /* of its last activity, as on the screen; not the time of the file */
    const struct session_ref *ref;
};

/* One round: the sessions that fit the query, newest first or in the order of --sort. */
struct menu {
    struct out *out;
    const struct process_env *world;
    const struct query *query;
    struct arena arena;
    struct fitting *fits; /* in the arena, like their refs */
    size_t n;
    size_t shown;
    struct session_line_columns look;
};

static enum err_code fits_query(const struct menu *m, const struct session_row *row, bool *fits,
                                struct err *e)
{
    struct arena texts = { 0 };
    size_t room = 0;
    struct doc *doc = doc_new(row, &texts, NULL, &room);

    if (doc)
        *fits = doc_score(doc, m->query, false, DOC_EFFORT_BEST) != FUZZY_NO;
    arena_fini(&texts);
    return doc ? ERR_OK : err_nomem(e);
}

static enum err_code collect_row(const struct session_row *row, void *arg, struct err *e)
{
    struct menu *m = arg;
    bool fits = false;
    enum err_code rc = fits_query(m, row, &fits, e);

    if (rc || !fits)
        return rc;
    struct fitting *more = arena_grow(&m->arena, m->fits, m->n, sizeof *more);
    struct session_ref *ref = more ? arena_alloc(&m->arena, sizeof *ref) : NULL;

    if (!ref || !session_ref_copy(&m->arena, &row->ref, ref))
        return err_nomem(e);
    m->fits = more;
    m->fits[m->n++] = (struct fitting){
        .time_ms = row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms,
        .ref = ref,
    };
    return ERR_OK;
}

static int by_activity(const void *x, const void *y)
{
    const struct fitting *a = x, *b = y;
    const struct slice p = a->ref->id, q = b->ref->id;
    const int longer = (p.n > q.n) - (p.n < q.n), d = memcmp(p.p, q.p, p.n < q.n ? p.n : q.n);

    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? 1 : -1;
    return d ? -d : -longer;
}

static enum err_code collect_sessions(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                      struct err *e)
{
    const struct listing_query q = {
        .scope = s->scope,
        .sort = (enum listing_sort)sort,
        .since_ms = TIME_NONE,
        .before_ms = TIME_NONE,
    };
    struct listing *listing = NULL;
    enum err_code rc = listing_open(s->store, s->n, &q, &listing, e);

    if (!rc)
        rc = listing_each(listing, collect_row, m, e);
    listing_close(listing);
    if (!rc && m->n && sort == SORT_RECENT)
        qsort(m->fits, m->n, sizeof *m->fits, by_activity);
    m->shown = m->n < SHOWN_MAX ? m->n : SHOWN_MAX;
    return rc;
}

/* A session that has vanished keeps its number. */
static enum err_code show_rows(const struct menu *m, const struct sessions *s, struct err *e)
{
    struct session_row *row = session_row_new();

    if (!row)
        return err_nomem(e);
    if (m->shown > 0)
        session_line_header(&m->look, NUMBER_COLUMNS, m->out);
    for (size_t i = 0; i < m->shown; i++) {
        const struct session_ref *ref = m->fits[i].ref;

        out_addf(m->out, "%*zu. ", NUMBER_COLUMNS - 2, i + 1);
        if (ref->store->ops->describe(ref->store, &s->scope, ref, row, NULL))
            out_addf(m->out, "(gone)\n");
        else
            session_line_write(row, &m->look, NUMBER_COLUMNS, m->out);
    }
    session_row_free(row);
    return ERR_OK;
}

static enum err_code show_prompt(struct menu *m, struct err *e)
{
    if (m->n > m->shown)
        out_addf(m->out, "and %zu more: type words to filter\n", m->n - m->shown);
    else if (m->n == 0)
        out_addf(m->out, "no matches here; --all searches all projects\n");
    out_addf(m->out, "number, words to filter, or Enter to quit: ");
    return out_flush(m->out, e);
}

static enum err_code show_sessions(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                   struct err *e)
{
    enum err_code rc = collect_sessions(m, s, sort, e);

    if (!rc)
        rc = session_line_columns_open(s, m->out, m->world->env.now_ms, &m->look, e);
    for (size_t i = 0; i < m->shown && !rc; i++)
        session_line_columns_fit(&m->look, m->fits[i].ref);
    if (!rc)
        rc = show_rows(m, s, e);
    return rc ? rc : show_prompt(m, e);
}

/* Reads a line from stdin byte by byte: what follows it is for the program that we become. Returns false at the end. */
static bool read_typed_line(char out[TYPED_MAX])
{
    size_t n = 0;
    char c;

    for (;;) {
        ssize_t got = read(STDIN_FILENO, &c, 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || c == '\n')
            break;
        if (n + 1 < TYPED_MAX)
            out[n++] = c;
    }
    out[n] = '\0';
    return n > 0;
}

/* The number typed, from 1; 0 if it is not one of those shown. */
static size_t parse_choice_number(const char *text, size_t shown)
{
    char *end = NULL;
    unsigned long n = strtoul(text, &end, 10);

    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n <= shown ? n : 0;
}

static enum err_code choose_session(struct invocation *in, const struct config *config,
                                    const struct sessions *s, const struct session_ref *ref,
                                    struct err *e)
{
    struct session_row *row = session_row_new();
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &s->scope, ref, row, e) : err_nomem(e);

    if (!rc)
        rc = use_choice(in, config, row, NULL, NULL, e);
    session_row_free(row);
    return rc;
}

/* Shows the sessions that fit `typed` and reads the next line into it; *chosen is NULL until that is a number. */
static enum err_code prompt_once(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                 char typed[TYPED_MAX], const struct session_ref **chosen,
                                 struct err *e)
{
    struct query query;

    if (!query_parse(&query, slice_of(typed), m->world->env.now_ms))
        return err_nomem(e);
    m->query = &query;
    enum err_code rc = show_sessions(m, s, sort, e);

    if (rc)
        return rc;
    if (!read_typed_line(typed) || strcmp(typed, "q") == 0)
        return err_set(e, ERR_CANCELLED, "", "nothing was chosen");
    size_t n = parse_choice_number(typed, m->shown);

    *chosen = n ? m->fits[n - 1].ref : NULL;
    return ERR_OK;
}

/* For screen readers and terminals that cannot draw: numbered lines on stderr. What is typed on stdin chooses a session
 * (a number), narrows the list (words, as in the filter) or quits (an empty line, q). stdout gets the choice only. */
static enum err_code run_plain(struct invocation *in, const struct config *config,
                               struct sessions *s, struct err *e)
{
    char typed[TYPED_MAX] = "";
    const struct session_ref *chosen = NULL;
    struct out menu_out;
    enum err_code rc = ERR_OK;

    if (in->options.query)
        strncat(typed, in->options.query, sizeof typed - 1);
    out_init(&menu_out, in->err_fd);
    while (!rc && !chosen) {
        struct menu m = { .out = &menu_out, .world = in->world };

        rc = prompt_once(&m, s, config->settings.sort, typed, &chosen, e);
        if (!rc && chosen)
            rc = choose_session(in, config, s, chosen, e);
        session_line_columns_close(&m.look);
        arena_fini(&m.arena);
    }
    out_fini(&menu_out);
    return rc;
}

/* ---- on the screen ---- */

static void fill_settings(const struct invocation *in, const struct sessions *s,
                          struct settings *out)
{
    const struct options *o = &in->options;

    out->demo = in->demo;
    out->print = prints_choice(in);
    out->all_kinds = option_given(o, OPTION_ALL_KINDS);
    out->leave_programmatic = option_given(o, OPTION_NO_PROGRAMMATIC);
    out->query = option_text(o->query);
    out->project = option_text(o->project ? o->project : in->world->env.cwd);
    out->home = option_text(in->world->env.home);
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
    for (size_t i = 0; !rc && i < chosen->row_count; i++)
        rc = use_choice(in, config, chosen->rows[i], dir, chosen->names, e);
    return rc;
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
        err_format(&e, text, sizeof text);
    } else if (r.waiting) {
        err_format(&r.first[0].why, why, sizeof why);
        snprintf(text, sizeof text, "a rewind is not finished (reprise rewinds): %s", why);
    } else {
        snprintf(text, sizeof text, "finished %zu rewind%s that had been interrupted", r.recovered,
                 r.recovered == 1 ? "" : "s");
    }
    m.u.notice.error = rc || r.waiting;
    m.u.notice.text = option_text(text);
    update(model, &m);
}

/* Shows the first mistake of the configuration: what was written on stderr is behind the screen. */
static void show_mistakes(const struct invocation *in, const struct config *c, struct model *model)
{
    struct msg m = { .kind = MSG_NOTICE, .now_ms = in->world->env.now_ms };
    size_t n = c->problems ? c->problems->n : 0;
    char text[400];

    if (n == 0)
        return;
    err_format(&c->problems->problem[0].err, text, sizeof text - 40);
    if (n > 1)
        snprintf(text + strlen(text), 40, " (%zu more: config --check)", n - 1);
    m.u.notice.error = true;
    m.u.notice.text = option_text(text);
    update(model, &m);
}

static struct model *make_model(const struct invocation *in, const struct config *config,
                                const struct session_row *rewind)
{
    struct model *model = model_new(&config->settings, in->world->env.now_ms);

    if (model && rewind && !model_rewind(model, rewind)) {
        model_free(model);
        model = NULL;
    }
    if (model) {
        show_mistakes(in, config, model);
        recover_unfinished(in, model);
    }
    return model;
}

/* Runs the screen and uses its choice. ERR_CANCELLED if nothing was chosen. Completes the settings of the configuration.
 * rewind: the session whose rewind view is shown instead of the list, or NULL. */
static enum err_code run_screen(struct invocation *in, struct config *config, struct sessions *s,
                                const struct session_row *rewind, struct err *e)
{
    const struct process_env *world = in->world;
    struct outcome outcome = { 0 };
    struct job_context context;
    struct loop_setup setup = {
        .context = &context,
        .term = { .type = world->term,
                  .theme = &config->theme,
                  .colours = { config->settings.colours, world->no_color, world->true_colour },
                  .asks_background = config->settings.theme == THEME_AUTO,
                  .mouse = !config->settings.no_mouse },
        .light = &config->light,
        .editor = world->editor,
    };
    fill_settings(in, s, &config->settings);
    struct model *model = make_model(in, config, rewind);

    if (!model)
        return err_nomem(e);
    jobs_init(&context, s->store, s->n, &config->settings, world->env.cwd);
    context.env = &world->env;
    context.config = config;
    context.path = world->path;
    context.no_worktrees = option_given(&in->options, OPTION_NO_WORKTREES);
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
    struct session_row *row = session_row_new();
    struct config config;
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &s->scope, ref, row, e) : err_nomem(e);

    if (!rc)
        rc = command_config(in, &config, e);
    if (!rc) {
        rc = run_screen(in, &config, s, row, e);
        config_fini(&config);
    }
    session_row_free(row);
    return rc;
}

/* ---- --resume ID, --continue: no screen ---- */

static const char *named_session(const struct invocation *in)
{
    if (in->options.resume)
        return in->options.resume;
    return option_given(&in->options, OPTION_CONTINUE) ? "latest" : NULL;
}

/* By its id, or by its title if no id is like this. */
static enum err_code find_named(struct sessions *s, const char *name, struct session_ref *ref,
                                struct err *e)
{
    enum err_code rc = sessions_find(s, name, ref, e);
    struct err by_id = *e;

    if (rc != ERR_NOT_FOUND)
        return rc;
    rc = resolve_title(s->store, s->n, &s->scope, slice_of(name), &s->arena, ref, e);
    if (rc == ERR_NOT_FOUND)
        *e = by_id;
    return rc;
}

static enum err_code resume_named(struct invocation *in, const struct config *config,
                                  struct sessions *s, const char *id, struct err *e)
{
    struct session_row *row = session_row_new();
    struct session_ref ref;
    enum err_code rc = row ? find_named(s, id, &ref, e) : err_nomem(e);

    if (!rc && option_given(&in->options, OPTION_AS_FORK) &&
        !is_forked_by_agent(in, config, &ref)) {
        rc = change_fork(in, &ref, &s->arena, &id, e);
        if (!rc)
            rc = sessions_find(s, id, &ref, e);
    }
    if (!rc)
        rc = ref.store->ops->describe(ref.store, &s->scope, &ref, row, e);
    if (!rc && (row->hidden == HIDDEN_UNREADABLE || row->hidden == HIDDEN_SIDECHAIN))
        rc = err_set(e, ERR_NOT_FOUND, id, "resume: this session cannot be resumed");
    if (!rc)
        rc = use_choice(in, config, row, NULL, NULL, e);
    session_row_free(row);
    return rc;
}

enum err_code picker_run(struct invocation *in, struct err *e)
{
    const char *id = named_session(in);
    struct config config;
    struct sessions s;
    enum err_code rc = command_config(in, &config, e);

    if (rc)
        return rc;
    bool plain = option_given(&in->options, OPTION_PLAIN);

    if (!id && option_given(&in->options, OPTION_AS_FORK)) {
        config_fini(&config);
        return err_set(e, ERR_USAGE, "--fork", "needs --continue or --resume ID");
    }

    /* A worker resolves the scope of the screen. */
    rc = sessions_open(in, id || !plain, &s, e);
    if (!rc) {
        if (id)
            rc = resume_named(in, &config, &s, id, e);
        else if (plain)
            rc = run_plain(in, &config, &s, e);
        else
            rc = run_screen(in, &config, &s, NULL, e);
        sessions_close(&s);
    }
    config_fini(&config);
    return rc;
}
