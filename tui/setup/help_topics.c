#include "store/api/store.h"
#include "store/log/log_damage.h"
#include "tui/app/key.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"

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

static const char *help_topics_changes(const struct store_ops *ops, bool can, unsigned ability)
{
    return can ? "yes" : store_agent_abilities(ops) & ability ? "by its command" : "";
}

static const char *rewinds_files(const struct store_ops *ops)
{
    return ops->plan ? "yes" : store_can_rewind(ops) ? "with snapshots" : "";
}

/* A system that cannot rewind a conversation may still support resuming at a message. */
static const char *rewinds_conversation(const struct store_ops *ops)
{
    return ops->plan_conversation ? "yes" : ops->resume_at ? "by resuming there" : "";
}

/* The cells of the table in 80 columns. */
static const char *in_short(const char *cell)
{
    static const struct {
        const char *cell, *in_short;
    } words[] = { { "by its agent", "own" },
                  { "by its command", "own" },
                  { "if configured", "set" },
                  { "by resuming there", "at" },
                  { "with snapshots", "snap" } };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].cell, cell) == 0)
            return words[i].in_short;
    return cell[0] ? cell : "-";
}

static void write_short_row(const char *const cell[], size_t n, struct out *o)
{
    static const int width[] = { 13, 7, 5, 6, 5, 6, 5, 7, 7, 8, 7 };

    for (size_t i = 0; i + 1 < n; i++) {
        const char *text = in_short(cell[i + 1]);

        out_addf(o, "%-*s", i + 2 < n ? width[i] : 0, text);
    }
    out_addf(o, "\n");
}

static void help_topics_write_row(const char *const cell[], size_t n, struct out *o)
{
    for (size_t i = 0; i < n; i++)
        out_addf(o, "| %s%s", cell[i], cell[i][0] ? " " : "");
    out_addf(o, "|\n");
}

/* The agents that most people use come first; the others follow in the order of the registry. */
static const struct store_ops *agent_at(size_t at)
{
    static const char *const first[] = { "claude",   "codex", "gemini", "copilot", "cursor",
                                         "opencode", "cline", "qwen",   "crush",   "goose",
                                         "kiro",     "droid", "grok",   "kimi",    "vibe" };
    enum { FIRST = sizeof first / sizeof *first };
    size_t n = 0;

    for (size_t i = 0; i < FIRST; i++)
        for (size_t k = 0; store_systems[k]; k++)
            if (strcmp(store_systems[k]->name, first[i]) == 0 && n++ == at)
                return store_systems[k];
    for (size_t k = 0; store_systems[k]; k++) {
        bool is_first = false;

        for (size_t i = 0; i < FIRST; i++)
            is_first |= strcmp(store_systems[k]->name, first[i]) == 0;
        if (!is_first && n++ == at)
            return store_systems[k];
    }
    return NULL;
}

/* The agents whose damaged lines are only named. */
static void write_unrepaired(struct out *o)
{
    const struct store_ops *ops;
    const char *between = " ";

    out_addf(o, "Damaged lines are only named, and not repaired, where it is not known what the\n"
                "agent makes of them:");
    for (size_t i = 0; (ops = agent_at(i)) != NULL; i++)
        if (ops->log_rules && ops->log_rules->unknown) {
            out_addf(o, "%s%s", between, ops->name);
            between = ", ";
        }
    out_addf(o, ".\n");
}

void help_agents_write(bool markdown, struct out *o)
{
    static const char *const head[] = { "agent",  "name",         "resume",
                                        "fork",   "rewind files", "rewind conversation",
                                        "blame",  "sub-agents",   "tokens",
                                        "rename", "archive",      "delete",
                                        "move" };
    enum { COLUMNS = sizeof head / sizeof *head };
    static const char *const short_head[] = { "",        "agent",  "resume", "fork",   "files",
                                              "talk",    "blame",  "subs",   "tokens", "rename",
                                              "archive", "delete", "move" };
    const char *rule[COLUMNS];

    for (size_t i = 0; i < COLUMNS; i++)
        rule[i] = "---";
    if (markdown) {
        help_topics_write_row(head, COLUMNS, o);
        help_topics_write_row(rule, COLUMNS, o);
    } else {
        write_short_row(short_head, COLUMNS, o);
    }
    const struct store_ops *ops;

    for (size_t i = 0; (ops = agent_at(i)) != NULL; i++) {
        const char *const cell[COLUMNS] = {
            ops->label ? ops->label : ops->name,
            ops->name,
            resumes(ops),
            forks(ops),
            rewinds_files(ops),
            rewinds_conversation(ops),
            yes(ops->edits),
            yes(ops->subagents),
            yes(ops->usage),
            help_topics_changes(ops, ops->rename, CAN_RENAME),
            help_topics_changes(ops, ops->archive, CAN_ARCHIVE),
            help_topics_changes(ops, ops->parts, CAN_DELETE),
            yes(ops->set_directory),
        };

        if (markdown)
            help_topics_write_row(cell, COLUMNS, o);
        else
            write_short_row(cell, COLUMNS, o);
    }

    /* The short head needs a legend, which the table of the README does not. */
    if (!markdown)
        out_addf(o, "\nyes  reprise does it          own  a command of the agent does it\n"
                    "set  once it is configured    at   by resuming at that message\n"
                    "snap once `snapshots on` was run: copies of ours, taken by its hooks\n"
                    "files, talk: rewind files, the conversation; subs: sub-agents are shown;\n"
                    "move: sessions follow a project that was moved (reprise move)\n"
                    "Each agent's sessions are listed, read, searched and exported.\n");
    if (!markdown)
        write_unrepaired(o);
}

/* `reprise help keys`: every key of both schemes, with the name of its action in the configuration. The manual is made
 * from it. */

enum { KEYS_TEXT = 96, KEYS_COLUMNS = 18, NAME_COLUMNS = 15 };

void help_keys_write(const struct keymap *bound, struct out *o)
{
    for (int place = 0; place < IN_COUNT; place++) {
        out_addf(o, "%s%s:\n", place ? "\n" : "", keymap_context_name((enum key_context)place));
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
            /* Different keys of the second scheme follow the action. Without a key, the keys through the menu
 * are shown. */
            enum key_context in = (enum key_context)place;
            enum action act = (enum action)a;
            const struct keymap first = { KEYS_DEFAULT, bound->bound, bound->bounds };
            const struct keymap second = { KEYS_VIM, bound->bound, bound->bounds };
            char usual[KEYS_TEXT], vim[KEYS_TEXT], menu[KEYMAP_MENU_KEYS];

            keymap_keys_of(&first, in, act, o->ascii, usual, sizeof usual);
            keymap_keys_of(&second, in, act, o->ascii, vim, sizeof vim);
            keymap_menu_keys(&first, in, act, o->ascii, menu);
            if (!usual[0] && !vim[0] && (!menu[0] || !keymap_is_bound(bound, in, act)))
                continue;
            out_addf(o, "  ");
            session_line_column(slice_of(usual[0] ? usual : menu), KEYS_COLUMNS, o);
            out_addf(o, "  %-*s  %s", NAME_COLUMNS, action_name(act), action_help(act));
            if (vim[0] && strcmp(usual, vim) != 0)
                out_addf(o, " (vim: %s)", vim);
            out_addf(o, "\n");
        }
    }
}
