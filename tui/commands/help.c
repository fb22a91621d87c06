#include "tui/app/version.h"
#include "tui/commands/command.h"

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

enum err_code help_write(const struct command *command, struct out *out, struct err *e)
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
