#include "tui/commands/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "store/fs/path.h"
#include "store/journal/change.h"
#include "tui/app/program.h"
#include "tui/text/nearest.h"

const struct command *command_named(const char *word)
{
    for (const struct command *c = commands_table + 1; c->run || c->on_session; c++)
        if (strcmp(c->name, word) == 0 || (c->alias && strcmp(c->alias, word) == 0))
            return c;
    return NULL;
}

static enum err_code unknown_command(const char *word, struct err *e)
{
    const char *near = NULL;
    size_t best = nearest_limit(word);

    for (const struct command *c = commands_table + 1; c->run || c->on_session; c++)
        if (nearest_is_nearer(word, c->name, &best))
            near = c->name;
    if (near)
        return err_set(e, ERR_USAGE, "", "no command \"%.80s\"; did you mean %s?", word, near);
    return err_set(e, ERR_USAGE, "", "no command \"%.80s\"; see reprise --help", word);
}

/* An error about an option ends with the command whose help lists the right ones. */
static enum err_code see_help(const struct command *c, enum err_code rc, struct err *e)
{
    size_t n = strlen(e->text);
    const char *begin = n && e->text[n - 1] == '?' ? " See" : "; see";

    if (rc == ERR_USAGE)
        snprintf(e->text + n, sizeof e->text - n, "%s reprise%s%s --help", begin,
                 c->name ? " " : "", c->name ? c->name : "");
    return rc;
}

enum err_code command_unexpected(const struct invocation *in, int operand, struct err *e)
{
    return err_set(e, ERR_USAGE, "", "unexpected argument \"%.80s\"; see reprise %s --help",
                   in->argv[operand], in->command->name);
}

/* Global options and those of the picker may precede the command; what follows it is read with the options of the
 * command. */
enum err_code command_parse(struct invocation *in, int argc, char **argv, struct err *e)
{
    int first = 0;
    option_bits allowed = OPTION_GLOBALS | commands_table[0].options;
    enum err_code rc = options_read(argc, argv, allowed, true, &in->options, &first, e);

    if (rc)
        return see_help(&commands_table[0], rc, e);
    /* Words after "--" are passed to the resumed agent, unless the first word is a command. */
    bool picker =
        first == argc || (first > 0 && first < argc && strcmp(argv[first - 1], "--") == 0 &&
                          (argv[first][0] == '-' || in->options.resume ||
                           option_given(&in->options, OPTION_CONTINUE)));

    in->command = picker ? &commands_table[0] : command_named(argv[first]);
    if (!in->command)
        return unknown_command(argv[first], e);
    in->typed = picker ? NULL : argv[first];
    if (!picker) {
        allowed = OPTION_GLOBALS | in->command->options;
        rc = options_check(&in->options, allowed, e);
        argc -= first;
        argv += first;
        if (!rc)
            rc = options_read(argc, argv, allowed, false, &in->options, &first, e);
        if (rc)
            return see_help(in->command, rc, e);
    }
    in->argc = argc - first;
    in->argv = argv + first;
    if (option_given(&in->options, OPTION_HELP) || option_given(&in->options, OPTION_VERSION))
        return ERR_OK;

    const struct command *c = in->command;
    const char *name = c->name ? c->name : "reprise";

    if (in->argc < c->min_operands)
        return err_set(e, ERR_USAGE, "usage", "reprise %s %s; see reprise %s --help", name,
                       c->operands, name);
    if (!c->name) /* words for the agent */
        return ERR_OK;
    if (in->argc > c->max_operands)
        return command_unexpected(in, c->max_operands, e);
    return ERR_OK;
}

const char *command_config_path(const struct invocation *in, struct arena *a)
{
    const char *dir = in->world->config_dir;

    const char *named = in->options.config;

    if (named)
        return named[0] == '/' ? named : arena_format(a, "%s/%s", in->world->env.cwd, named);
    return dir ? arena_format(a, "%s/config", dir) : NULL;
}

/* reports: warn if a file cannot be read. */
static enum err_code read_config(const struct invocation *in, bool reports, struct config *c,
                                 struct err *e)
{
    const char *path = command_config_path(in, &c->arena);
    struct err problem;

    c->limits_unknown = in->config_refused;
    if (!path || in->config_refused)
        return c->arena.failed ? err_nomem(e) : ERR_OK;
    if (in->options.config)
        return config_read(c, path, e);
    enum err_code rc = config_read(c, path, &problem);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc && rc != ERR_NOT_FOUND && reports)
        out_report(in->err_fd,
                   &problem); /* the defaults will do, except where something is removed */
    c->limits_unknown |= rc && rc != ERR_NOT_FOUND;
    return ERR_OK;
}

enum err_code command_config(const struct invocation *in, struct config *out, struct err *e)
{
    config_init(out);
    enum err_code rc = read_config(in, true, out, e);

    if (rc) {
        config_fini(out);
        return rc;
    }

    const struct options *o = &in->options;

    /* The options of the command line override the file. */
    if (option_given(o, OPTION_KEYS))
        out->settings.keys.scheme = (enum key_scheme)o->keys;
    if (option_given(o, OPTION_SORT))
        out->settings.sort = o->sort == SORT_MODIFIED ? SORT_RECENT : (enum sort_kind)o->sort;
    if (option_given(o, OPTION_ALL) || (o->bundle && !o->project))
        out->settings.scope = SCOPE_ALL;
    else if (option_given(o, OPTION_NO_WORKTREES) || o->project)
        out->settings.scope = option_given(o, OPTION_NO_WORKTREES) ? SCOPE_HERE : SCOPE_WORKTREES;
    if (option_given(o, OPTION_ASCII) || !in->world->utf8)
        out->settings.ascii = true;
    if (o->color == COLOR_NEVER || (o->color == COLOR_AUTO && in->world->no_color))
        out->settings.colours = COLOURS_NONE;
    else if (o->color == COLOR_ALWAYS && out->settings.colours == COLOURS_NONE)
        out->settings.colours = COLOURS_AUTO;

    /* The bindings are checked last, because --keys may have changed the scheme that they belong to. */
    const char *path = command_config_path(in, &out->arena);

    if (!config_check_keys(out, path ? path : "")) {
        config_fini(out);
        return err_nomem(e);
    }
    for (size_t i = 0; out->problems && i < out->problems->n; i++)
        out_report(in->err_fd, &out->problems->problem[i].err);
    return ERR_OK;
}

enum err_code command_stores(const struct invocation *in, struct config *out, struct err *e)
{
    config_init(out);
    enum err_code rc = read_config(in, false, out, e);

    if (rc)
        config_fini(out);
    return rc;
}

/* The topics of help that list commands. */
static const struct {
    const char *word;
    enum command_audience audience;
    const char *title;
} audiences[] = {
    { "more", FOR_MORE, "Parts and counterparts of other commands:" },
    { "hosts", FOR_HOSTS,
      "For programs: hosts that run agents, agents themselves, status bars, shells:" },
    { "teams", FOR_TEAMS,
      "For sessions of others: in git, in a team's store, in a file of another machine:" },
};

static void write_commands(enum command_audience audience, struct out *o)
{
    for (const struct command *c = commands_table + 1; c->run || c->on_session; c++)
        if (c->summary && c->audience == audience)
            out_addf(o, "  %-14s %s\n", c->name, c->summary);
}

/* The help of one command, or of the whole program if it is NULL or the picker. */
static void write_help(const struct command *command, struct out *o)
{
    const struct command *c = command ? command : &commands_table[0];

    out_addf(o, "usage: reprise%s%s [OPTION...]%s%s\n", c->name ? " " : "", c->name ? c->name : "",
             c->operands[0] ? " " : "", c->operands);
    if (c == &commands_table[0])
        out_addf(o, "       reprise COMMAND [OPTION...]\n\n%s\nCommands:\n", c->help);
    if (c == &commands_table[0])
        write_commands(FOR_PEOPLE, o);
    else {
        if (c->summary)
            out_addf(o, "\n%c%s.\n", toupper(c->summary[0]), c->summary + 1);
        if (c->alias)
            out_addf(o, "Also: reprise %s.\n", c->alias);
        if (c->help)
            out_addf(o, "%s", c->help);
    }
    options_help("Options", c->name, c->options, o);
    options_help("Options of every command", c->name, OPTION_GLOBALS, o);
    if (!c->name || strstr(c->operands, "ID"))
        out_addf(
            o,
            "\nID: a session id, a prefix of one (4 characters or more), SYSTEM:ID, the path of\n"
            "a transcript, or latest.\n");
}

enum err_code command_help_run(struct invocation *in, struct err *e)
{
    const char *word = in->argc ? in->argv[0] : NULL;
    const struct command *command = word ? command_named(word) : NULL;

    if (word && strcmp(word, "keys") == 0) {
        /* The keys are shown as the configuration binds them. */
        struct config config;

        TRY(command_config(in, &config, e));
        in->out.ascii |= !in->world->utf8;
        help_keys_write(&config.settings.keys, &in->out);
        config_fini(&config);
        return ERR_OK;
    }
    if (word && (strcmp(word, "agents") == 0 || strcmp(word, "agents-table") == 0)) {
        help_agents_write(strcmp(word, "agents") != 0, &in->out);
        return ERR_OK;
    }
    for (size_t i = 0; word && i < COUNT_OF(audiences); i++) {
        if (strcmp(word, audiences[i].word) != 0)
            continue;
        out_addf(&in->out, "%s\n", audiences[i].title);
        write_commands(audiences[i].audience, &in->out);
        return ERR_OK;
    }

    if (word && !command)
        return unknown_command(word, e);
    write_help(command, &in->out);
    return ERR_OK;
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

void command_report_trouble(const struct err *trouble, void *arg)
{
    const struct invocation *in = arg;

    out_report(in->err_fd, trouble);
}

void command_warn(const struct invocation *in, enum err_code code, const char *path,
                  const char *fmt, ...)
{
    struct err e;
    char text[sizeof e.text];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(&e, code, path, "%s", text);
    out_warn(in->err_fd, &e);
}

void command_report_interrupted(const struct invocation *in)
{
    size_t n = change_count_interrupted(&in->world->env);

    if (n > 0)
        command_warn(in, ERR_STALE, "", "%s not finished; reprise log finishes or undoes %s",
                     n == 1 ? "an interrupted change is" : "interrupted changes are",
                     n == 1 ? "it" : "them");
}

size_t command_terminal_size(int fd, size_t *rows)
{
    struct winsize size = { 0 };
    bool known = isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0;

    *rows = known ? size.ws_row : 0;
    return known ? size.ws_col : 0;
}

bool command_can_ask(const struct invocation *in)
{
    return isatty(STDIN_FILENO) && isatty(in->err_fd);
}

enum err_code command_ask(struct out *question, const char *what, const char *refused,
                          struct err *e)
{
    const enum err_code rc = out_flush(question, e);
    char first = '\0', c;
    ssize_t got;

    out_fini(question);
    TRY(rc);
    while ((got = read(STDIN_FILENO, &c, 1)) == 1 || (got < 0 && errno == EINTR)) {
        if (got == 1 && c == '\n')
            break;
        if (got == 1 && !first)
            first = c;
    }
    return tolower((unsigned char)first) == 'y'
               ? ERR_OK
               : err_set(e, ERR_CANCELLED, "", "%s%s%s", what, what[0] ? ": " : "", refused);
}

static enum err_code command_run_command(struct invocation *in, struct err *e)
{
    if (option_given(&in->options, OPTION_HELP)) {
        write_help(in->command, &in->out);
        return ERR_OK;
    }
    if (option_given(&in->options, OPTION_VERSION) && !in->out.wants_json) {
        out_addf(&in->out, "%s\ncommit %s\nwith %s\n", PROGRAM_VERSION, REPRISE_COMMIT,
                 REPRISE_LIBRARIES);
        return ERR_OK;
    }
    if (option_given(&in->options, OPTION_VERSION)) {
        out_open(&in->out, NULL, '{');
        out_string(&in->out, "version", REPRISE_VERSION);
        out_string(&in->out, "commit", REPRISE_COMMIT);
        out_string(&in->out, "libraries", REPRISE_LIBRARIES);
        out_end(&in->out, '}');
        return ERR_OK;
    }
    /* A file given by the user must exist, even if the command needs no configuration. */
    if (in->options.config && access(in->options.config, R_OK) != 0)
        return err_sys(e, in->options.config, "read the configuration");
    return in->command->on_session ? command_with_session(in, in->command->on_session, e)
                                   : in->command->run(in, e);
}

/* Reports once what every part of the program ignores. */
static void report_environment(struct invocation *in)
{
    const char *relative = env_relative(in->world->env.environment), *path;
    struct arena a = { 0 };
    struct err e;

    if (relative) {
        err_set(&e, ERR_USAGE, "", "%s is not an absolute path and is ignored", relative);
        out_report(in->err_fd, &e);
    }
    path = in->options.config ? NULL : command_config_path(in, &a);
    if (path && access(path, F_OK) == 0 && path_trusted("/", path, &e) == ERR_UNSAFE) {
        err_wrap(&e, ERR_UNSAFE, "read the configuration");
        out_report(in->err_fd, &e);
        in->config_refused = true;
    }
    arena_fini(&a);
}

/* Ends an answer that --max-bytes has cut: a program finds the note and its cursor as the last row, a person on standard
 * error. */
static enum err_code command_write_cut(struct invocation *in, struct err *e)
{
    struct out *o = &in->out;
    const int64_t next = in->options.offset + (int64_t)(o->fitted ? o->fitted : 1);

    /* --after does not know the list of the agent's SDK, which goes on by its offset. A part that is found from a message
     * or from the end has no next step there. */
    const option_bits found = OPTION_BIT(BEFORE) | OPTION_BIT(AT) | OPTION_BIT(TAIL);
    const bool sdk = option_given(&in->options, OPTION_AS_SDK);

    /* `left` of the rows that were asked for; `page` is 0 if all were. */
    const size_t page = o->page ? o->page : in->options.limit > 0 ? (size_t)in->options.limit : 0;
    const size_t done = o->fitted ? o->fitted : 1, left = page > done ? page - done : 0;
    const bool more = !page || left;
    const bool counted = more && (sdk ? !(in->options.given & found) : !o->named);

    if (sdk || !more)
        o->after.n = 0;
    const bool goes_on = counted || o->after.n;

    /* The limit no longer applies, or the note itself would not be written. */
    o->most = 0;
    if (o->wants_json) {
        if (!o->json_lines)
            out_json_row(o);
        out_open(o, NULL, '{');
        out_bool(o, "truncated", true);
        out_bool_if_true(o, "leftOut", !o->fitted);
        out_member(o, "after", buf_slice(&o->after));
        if (counted)
            out_int(o, "offset", next);
        if (left && goes_on)
            out_int(o, "limit", (int64_t)left);
        (o->json_lines ? out_end : out_close)(o, '}');
        if (!o->json_lines)
            out_json_rows_end(o);
    }

    AUTO_BUF rest = { 0 };

    if (counted)
        NEED(!buf_addf(&rest, "; the rest: --offset %lld", (long long)next));
    else if (goes_on)
        NEED(!buf_addf(&rest, "; the rest: --after %.*s", (int)o->after.n, o->after.p));
    if (left && goes_on)
        NEED(!buf_addf(&rest, " --limit %zu", left));
    command_warn(in, ERR_OK, NULL, "the answer was cut (--max-bytes)%.*s", (int)rest.n,
                 rest.n ? rest.p : "");
    return out_row(o, e);
}

int command_execute(struct invocation *in)
{
    struct err e = { 0 }, unwritten;
    size_t rows;

    report_environment(in);
    in->out.wants_json = option_given(&in->options, OPTION_JSON);

    const struct process_env *w = in->world;

    in->out.color =
        in->options.color != COLOR_AUTO
            ? in->options.color == COLOR_ALWAYS
            : !w->no_color && w->term && strcmp(w->term, "dumb") != 0 && isatty(in->out.fd);

    in->out.columns = command_terminal_size(in->out.fd, &rows);
    in->out.most = (size_t)in->options.max_bytes;
    enum err_code rc = command_run_command(in, &e);

    if (rc == ERR_CANCELLED && in->out.cut)
        rc = command_write_cut(in, &e);
    if (rc && in->argc > 0 && !strchr(e.text, '"')) /* quotes: it names the word already */
        err_at(&e, rc, in->argv[0]);
    if (!rc)
        rc = out_flush(&in->out, &e);
    else if (in->out.wants_json && !in->out.ended)
        out_break(&in->out);
    else if (out_flush(&in->out, &unwritten))
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
