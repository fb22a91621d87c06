#include "tui/commands/command.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "store/journal/change.h"
#include "tui/app/version.h"
#include "tui/commands/option.h"
#include "tui/commands/out.h"
#include "tui/data/name_list.h"

static enum err_code read_file(const struct invocation *in, struct config *c, struct err *e)
{
    const char *named = in->options.config, *dir = in->world->config_dir;
    struct buf path = { 0 };
    struct err missing;
    enum err_code rc;

    if (named)
        return config_read(c, named, e);
    if (!dir)
        return ERR_OK;
    rc = buf_addf(&path, "%s/config", dir);
    if (rc == ERR_OK && buf_cstr(&path))
        rc = config_read(c, path.p, &missing);
    else
        rc = err_nomem(&missing);
    buf_fini(&path);
    if (rc == ERR_OK || rc == ERR_NOT_FOUND)
        return ERR_OK;
    if (rc == ERR_NOMEM) {
        if (e)
            *e = missing;
        return rc;
    }
    out_report(in->err_fd, &missing); /* the defaults will do */
    return ERR_OK;
}

static void apply_options(const struct invocation *in, struct settings *s)
{
    const struct options *o = &in->options;

    if (option_given(o, OPTION_KEYS))
        s->keys = (enum key_scheme)o->keys;
    if (option_given(o, OPTION_SORT))
        s->sort = (enum sort_kind)o->sort;
    if (option_given(o, OPTION_ALL))
        s->scope = SCOPE_ALL;
    else if (option_given(o, OPTION_NO_WORKTREES) || o->project)
        s->scope = option_given(o, OPTION_NO_WORKTREES) ? SCOPE_HERE : SCOPE_WORKTREES;
    if (option_given(o, OPTION_ASCII) || !in->world->utf8)
        s->ascii = true;
    if (o->color == COLOR_NEVER || (o->color == COLOR_AUTO && in->world->no_color))
        s->colours = COLOURS_NONE;
    else if (o->color == COLOR_ALWAYS && s->colours == COLOURS_NONE)
        s->colours = COLOURS_AUTO;
}

enum err_code command_config(const struct invocation *in, struct config *out, struct err *e)
{
    config_init(out);
    enum err_code rc = read_file(in, out, e);

    if (rc) {
        config_fini(out);
        return rc;
    }
    for (size_t i = 0; out->problems && i < out->problems->n; i++)
        out_report(in->err_fd, &out->problems->problem[i].err);
    apply_options(in, &out->settings);
    return ERR_OK;
}

static enum err_code write_usage(const struct command *c, struct out *out, struct err *e)
{
    return out_addf(out, e, "usage: reprise%s%s [OPTION...]%s%s\n", c->name ? " " : "",
                    c->name ? c->name : "", c->operands[0] ? " " : "", c->operands);
}

static enum err_code write_commands(struct out *out, struct err *e)
{
    enum err_code rc =
        out_addf(out, e, "       reprise COMMAND [OPTION...]\n\n%s", commands_table[0].help);

    if (rc == ERR_OK)
        rc = out_addf(out, e, "\nCommands:\n");
    for (const struct command *c = commands_table + 1; rc == ERR_OK && c->run; c++)
        rc = out_addf(out, e, "  %-12s %s\n", c->name, c->summary);
    return rc;
}

static enum err_code write_options(const char *title, option_bits which, struct out *out,
                                   struct err *e)
{
    enum err_code rc = which ? out_addf(out, e, "\n%s:\n", title) : ERR_OK;

    if (rc == ERR_OK && options_help(which, &out->buf))
        rc = err_nomem(e);
    return rc;
}

static enum err_code write_about(const struct command *c, struct out *out, struct err *e)
{
    enum err_code rc = out_addf(out, e, "\n%s.\n", c->summary);

    if (rc == ERR_OK && c->alias)
        rc = out_addf(out, e, "Also: reprise %s.\n", c->alias);
    return rc || !c->help[0] ? rc : out_addf(out, e, "%s", c->help);
}

static enum err_code help_write(const struct command *command, struct out *out, struct err *e)
{
    const struct command *c = command ? command : &commands_table[0];
    bool whole = c == &commands_table[0];
    enum err_code rc = write_usage(c, out, e);

    if (rc == ERR_OK)
        rc = whole ? write_commands(out, e) : write_about(c, out, e);
    if (rc == ERR_OK)
        rc = write_options("Options", c->options, out, e);
    if (rc == ERR_OK)
        rc = write_options("Everywhere", OPTION_GLOBALS, out, e);
    if (rc == ERR_OK)
        rc = out_addf(
            out, e,
            "\nID: a session id, a prefix of one (4 characters or more), SYSTEM:ID, the path "
            "of a\ntranscript, or latest.\n");
    return rc;
}

enum err_code help_run(struct invocation *in, struct err *e)
{
    const char *word = in->argc ? in->argv[0] : NULL;
    const struct command *command = word ? command_find(word) : NULL;

    if (word && !command)
        return err_set(e, ERR_NOT_FOUND, word, "help: no such command");
    return help_write(command, &in->out, e);
}

const struct command *command_find(const char *word)
{
    for (const struct command *c = commands_table + 1; c->run; c++)
        if (strcmp(c->name, word) == 0 || (c->alias && strcmp(c->alias, word) == 0))
            return c;
    return NULL;
}

static enum err_code unknown_command(const char *word, struct err *e)
{
    const char *near = NULL;
    size_t best = option_distance_limit(word);

    for (const struct command *c = commands_table + 1; c->run; c++) {
        size_t d = option_distance(word, c->name);

        if (d <= best) {
            near = c->name;
            best = d - (d > 0);
        }
    }
    if (near)
        return err_set(e, ERR_USAGE, word, "no such command; did you mean %s?", near);
    return err_set(e, ERR_USAGE, word, "no such command; see --help");
}

static enum err_code check_operands(const struct invocation *in, struct err *e)
{
    const struct command *c = in->command;
    const char *name = c->name ? c->name : "reprise";

    if (in->argc < c->min_operands)
        return err_set(e, ERR_USAGE, "usage", "reprise %s %s", name, c->operands);
    if (!c->name) /* words for the agent */
        return ERR_OK;
    if (in->argc > c->max_operands)
        return err_set(e, ERR_USAGE, in->argv[c->max_operands], "unexpected argument for %s", name);
    return ERR_OK;
}

/* Behind "--" stand words for the agent that is resumed, unless they name a command. */
static bool for_agent(const struct options *o, char *const *argv, int first, int argc)
{
    return first > 0 && first < argc && strcmp(argv[first - 1], "--") == 0 &&
           (argv[first][0] == '-' || o->resume || option_given(o, OPTION_CONTINUE));
}

/* The words before the command may be global options or those of the picker; what comes behind it is
 * read with the options of the command. */
enum err_code command_parse(struct invocation *in, int argc, char **argv, struct err *e)
{
    int first = 0;
    option_bits allowed = OPTION_GLOBALS | commands_table[0].options;
    enum err_code rc = options_read(argc, argv, allowed, true, &in->options, &first, e);

    if (rc)
        return rc;
    bool picker = first == argc || for_agent(&in->options, argv, first, argc);

    in->command = picker ? &commands_table[0] : command_find(argv[first]);
    if (!in->command)
        return unknown_command(argv[first], e);
    if (!picker) {
        allowed = OPTION_GLOBALS | in->command->options;
        rc = options_check(&in->options, allowed, e);
        argc -= first;
        argv += first;
        if (rc == ERR_OK)
            rc = options_read(argc, argv, allowed, false, &in->options, &first, e);
        if (rc)
            return rc;
    }
    in->argc = argc - first;
    in->argv = argv + first;
    if (option_given(&in->options, OPTION_HELP) || option_given(&in->options, OPTION_VERSION))
        return ERR_OK;
    return check_operands(in, e);
}

int command_exit_code(enum err_code rc)
{
    switch (rc) {
    case ERR_OK: return 0;
    case ERR_NOMEM:
    case ERR_IO: return 1;
    case ERR_USAGE: return 2;
    case ERR_NOT_FOUND: return 3;
    case ERR_LOCKED:
    case ERR_STALE:
    case ERR_UNSAFE:
    case ERR_UNSUPPORTED: return 4;
    case ERR_FORMAT: return 5;
    case ERR_CANCELLED: return 130;
    }
    return 1;
}

void command_report_interrupted(const struct invocation *in)
{
    size_t n = change_count_interrupted(&in->world->env);
    struct err e;

    if (n == 0)
        return;
    err_set(&e, ERR_STALE, "", "%s not finished; reprise log finishes or undoes %s",
            n == 1 ? "an interrupted change is" : "interrupted changes are",
            n == 1 ? "it" : "them");
    out_report(in->err_fd, &e);
}

static bool wants_color(const struct invocation *in)
{
    const struct process_env *w = in->world;

    if (in->options.color != COLOR_AUTO)
        return in->options.color == COLOR_ALWAYS;
    return !w->no_color && w->term && strcmp(w->term, "dumb") != 0 && isatty(in->out.fd);
}

/* 0: no terminal, or one that does not say. */
static size_t terminal_columns(int fd)
{
    struct winsize size;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static enum err_code run_command(struct invocation *in, struct err *e)
{
    if (option_given(&in->options, OPTION_HELP))
        return help_write(in->command, &in->out, e);
    if (option_given(&in->options, OPTION_VERSION))
        return out_addf(&in->out, e, "%s\n", version_text());
    /* Named, so it is wanted: also by a command that has nothing to configure. */
    if (in->options.config && access(in->options.config, R_OK) != 0)
        return err_sys(e, in->options.config, "read the configuration");
    return in->command->run(in, e);
}

int command_execute(struct invocation *in)
{
    struct err e = { 0 };

    in->out.color = wants_color(in);
    in->out.columns = terminal_columns(in->out.fd);
    enum err_code rc = run_command(in, &e);

    if (rc && in->argc > 0)
        err_at(&e, rc, in->argv[0]);
    /* Half an answer in JSON is none; lines for people are true as far as they go. */
    bool whole = rc == ERR_OK;

    if (whole)
        rc = out_flush(&in->out, &e);
    else if (!option_given(&in->options, OPTION_JSON) && out_flush(&in->out, NULL))
        in->out.buf.n = 0;
    if (rc == ERR_OK || in->out.closed)
        return 0;
    if (in->done) {
        err_wrap(&e, rc, "done, but the answer could not be written");
        out_report(in->err_fd, &e);
        return 0;
    }
    if (rc == ERR_CANCELLED)
        return in->exit_code ? in->exit_code : command_exit_code(rc);
    out_report(in->err_fd, &e);
    if (rc == ERR_NOT_FOUND)
        command_report_interrupted(in);
    return command_exit_code(rc);
}
