#include "store/api/store.h"
#include "tui/commands/command.h"

/* Writes what is supported for the sessions of each system, from its table of operations: a table
 * in Markdown, which is also in the README. */

static const char *yes(bool can)
{
    return can ? "yes" : "";
}

static const char *resumes(const struct store_ops *ops)
{
    struct config defaults;
    const char *word;

    config_init(&defaults);
    word = ops->agent                                    ? "by its agent"
           : config_resume_command(&defaults, ops->name) ? "yes"
                                                         : "if configured";
    config_fini(&defaults);
    return word;
}

static const char *forks(const struct store_ops *ops)
{
    return ops->fork ? "yes" : ops->fork_command ? "by its command" : "";
}

static const char *changes(const struct store_ops *ops, bool can, unsigned ability)
{
    return can ? "yes" : store_agent_abilities(ops) & ability ? "by its command" : "";
}

/* A system that cannot rewind a conversation may still support resuming at a message. */
static const char *rewinds_conversation(const struct store_ops *ops)
{
    return ops->plan_conversation ? "yes" : ops->resume_at ? "by resuming there" : "";
}

static void write_row(const char *const cell[], size_t n, struct out *o)
{
    for (size_t i = 0; i < n; i++)
        out_addf(o, "| %s%s", cell[i], cell[i][0] ? " " : "");
    out_addf(o, "|\n");
}

void help_agents_write(struct out *o)
{
    static const char *const head[] = { "agent",  "name",         "resume",
                                        "fork",   "rewind files", "rewind conversation",
                                        "blame",  "sub-agents",   "tokens",
                                        "rename", "archive",      "delete" };
    enum { COLUMNS = sizeof head / sizeof *head };
    const char *rule[COLUMNS];

    for (size_t i = 0; i < COLUMNS; i++)
        rule[i] = "---";
    write_row(head, COLUMNS, o);
    write_row(rule, COLUMNS, o);
    for (size_t i = 0; store_systems[i]; i++) {
        const struct store_ops *ops = store_systems[i];
        const char *const cell[COLUMNS] = {
            ops->label ? ops->label : ops->name,
            ops->name,
            resumes(ops),
            forks(ops),
            yes(ops->plan),
            rewinds_conversation(ops),
            yes(ops->edits),
            yes(ops->subagents),
            yes(ops->usage),
            changes(ops, ops->rename, CAN_RENAME),
            changes(ops, ops->archive, CAN_ARCHIVE),
            changes(ops, ops->parts, CAN_DELETE),
        };

        write_row(cell, COLUMNS, o);
    }
}
