#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/snapshots/hook_edit.h"

/* Our server in the list of servers of an agent: as a member of a JSON document, or as a table at the end of one in TOML. */

#define SERVER_TABLE "[mcp_servers.reprise]"

/* ---- TOML ---- */

static struct slice hook_server_trim(struct slice line)
{
    while (line.n && strchr(" \t", *line.p)) {
        line.p++;
        line.n--;
    }
    return line;
}

/* Finds our table: from its header to its last member. Blank lines and comments behind that belong to what follows. */
static bool hook_server_table(struct slice text, struct slice *table)
{
    struct slice rest = text, line;
    bool torn, found = false;

    *table = (struct slice){ NULL, 0 };
    while (slice_line(&rest, &line, &torn)) {
        const struct slice words = hook_server_trim(line);

        if (found && words.n && *words.p == '[')
            return true;
        if (!found && slice_starts(words, SERVER_TABLE)) {
            found = true;
            table->p = line.p;
        }
        if (found && words.n && !strchr("#\r", *words.p))
            table->n = (size_t)(line.p + line.n + !torn - table->p);
    }
    return found;
}

/* ---- any form ---- */

/* What is written of our server, in the arena; empty: nothing. */
static enum err_code hook_server_entry(const struct hook_step *s, struct hook_text before,
                                       struct arena *a, struct slice *entry, struct err *e)
{
    *entry = (struct slice){ NULL, 0 };
    if (before.absent)
        return ERR_OK;
    if (s->mcp->member)
        TRY(hook_json_server(s, before.text, a, entry, e));
    else
        hook_server_table(before.text, entry);
    /* Each entry that we write has these members. */
    if (entry->n && !(slice_has(*entry, "\"mcp\"") && slice_has(*entry, "reprise")))
        return err_set(e, ERR_FORMAT, "", "it has another server with the name reprise");
    return ERR_OK;
}

enum err_code hook_server_on(const struct agent_mcp *m, struct hook_text before,
                             const struct hook_program *program, struct buf *out, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF command = { 0 }, without = { 0 };
    struct hook_step s = { .mcp = m };
    struct slice entry;
    struct jsonout j;

    jsonout_init(&j, &command);
    jsonout_text(&j, slice_of(program->path));
    NEED(!j.rc);
    s.command = buf_slice(&command);
    TRY(hook_server_entry(&s, before, &a, &entry, e));
    if (entry.n && slice_find(entry.p, entry.n, command.p, command.n)) {
        NEED(!buf_add(out, before.text)); /* perhaps with settings of the user */
        return ERR_OK;
    }
    if (entry.n) {
        TRY(hook_server_off(m, before, &without, &before.absent, e));
        before.text = buf_slice(&without);
    }

    /* If the last line of the file has no newline, neither has ours, so that it can be removed
     * exactly. */
    if (m->member)
        return hook_json_add(&s, before, out, e);

    const struct slice text = before.text;
    const char *newline = text.n ? memchr(text.p, '\n', text.n) : NULL,
               *nl = newline && newline > text.p && newline[-1] == '\r' ? "\r\n" : "\n";
    const bool ends = before.absent || !text.n || text.p[text.n - 1] == '\n';
    struct slice rest = text, line;
    bool torn;

    while (slice_line(&rest, &line, &torn))
        if (slice_starts(hook_server_trim(line), "mcp_servers") ||
            slice_has(line, "mcp_servers.\"reprise\""))
            return err_set(e, ERR_FORMAT, "",
                           "it has mcp_servers in another form than [mcp_servers.NAME]");
    NEED(!buf_add(out, text) &&
         !buf_addf(out, "%s" SERVER_TABLE "%scommand = ", ends ? "" : nl, nl) &&
         !buf_add(out, s.command) && !buf_addf(out, "%sargs = [\"mcp\"]%s", nl, ends ? nl : ""));
    return ERR_OK;
}

enum err_code hook_server_off(const struct agent_mcp *m, struct hook_text before, struct buf *out,
                              bool *absent, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct hook_step s = { .mcp = m };
    struct json_iter it;
    struct slice entry;
    bool found;

    *absent = before.absent;
    TRY(hook_server_entry(&s, before, &a, &entry, e));
    if (!entry.n) {
        NEED(!buf_add(out, before.text));
        return ERR_OK;
    }
    if (!m->member) {
        const struct slice text = before.text;
        const char *begin = entry.p, *end = entry.p + entry.n;

        /* Our newline may have ended the line above. */
        if (end == text.p + text.n && begin > text.p && end[-1] != '\n')
            begin -= begin - text.p > 1 && begin[-2] == '\r' ? 2 : 1;
        NEED(!buf_add(out, (struct slice){ text.p, (size_t)(begin - text.p) }) &&
             !buf_add(out, (struct slice){ end, (size_t)(text.p + text.n - end) }));
        return ERR_OK;
    }
    /* The program that it names, so that the text before it is known again. */
    if (json_get(entry, "command", &s.command) && json_iter_open(&it, s.command) &&
        !json_list_next(&it, &s.command))
        s.command = SLICE("\"\"");
    return hook_json_remove(&s, before, out, absent, &found, e);
}
