#include "store/snapshots/hook_edit.h"

#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/snapshots/snapshot.h"

_Static_assert((int)HOOK_EVENTS == (int)SNAPSHOT_KINDS &&
                   (int)HOOK_INTERRUPT == (int)SNAPSHOT_INTERRUPT,
               "an event is a kind of snapshot");

const char *const hook_event_names[HOOK_EVENTS] = { "prompt", "end", "interrupt" };

bool hook_is_ours(struct slice command, const char *agent, enum hook_event event)
{
    AUTO_ARENA a = { 0 };
    const char *end =
        arena_format(&a, " " HOOK_MARK "%s --event %s", agent, hook_event_names[event]);
    size_t n = end ? strlen(end) : 0;

    return n > 0 && command.n > n && memcmp(command.p + command.n - n, end, n) == 0;
}

bool hook_edit_has(const char *agent, struct slice text)
{
    AUTO_ARENA a = { 0 };
    const char *in_line = arena_format(&a, HOOK_MARK "%s ", agent);
    const char *in_list = arena_format(&a, "\"snapshot\", \"--agent\", \"%s\"", agent);

    return in_line && in_list && text.n && (slice_has(text, in_line) || slice_has(text, in_list));
}

/* Appends "'PATH' snapshot --agent NAME --event EVENT" as a string, which JSON and TOML write alike. */
static enum err_code hook_edit_command(const char *agent, enum hook_event event,
                                       const struct hook_program *program, struct buf *out)
{
    AUTO_ARENA a = { 0 };
    struct jsonout j;
    const char *command = arena_format(&a, "%s " HOOK_MARK "%s --event %s", program->word, agent,
                                       hook_event_names[event]);

    if (!command)
        return ERR_NOMEM;
    jsonout_init(&j, out);
    jsonout_text(&j, slice_of(command));
    return j.rc;
}

/* ---- TOML: a marked block at the end ---- */

/* If the last line of the file has no newline, neither has ours, so that it can be removed exactly. */
#define HOOK_BEGIN "# reprise snapshots: begin"
#define HOOK_FINISH "# reprise snapshots: end"

const char *hook_newline(struct slice text)
{
    const char *newline = text.n ? memchr(text.p, '\n', text.n) : NULL;

    return newline && newline > text.p && newline[-1] == '\r' ? "\r\n" : "\n";
}

/* Returns true if a line begins a table of hooks, or is a key of one. Blanks and quotes around names mean nothing. */
static bool hook_toml_is_other(struct slice line)
{
    char start[8];
    size_t n = 0;

    for (size_t i = 0; i < line.n && n < sizeof start - 1; i++)
        if (!strchr(" \t\"'", line.p[i]))
            start[n++] = line.p[i];
    start[n] = '\0';
    return strncmp(start, "[hooks]", 7) == 0 || strncmp(start, "[hooks.", 7) == 0 ||
           strncmp(start, "hooks=", 6) == 0 || strncmp(start, "hooks.", 6) == 0;
}

static enum err_code hook_toml_on(const struct agent_hooks *h, const char *agent,
                                  struct hook_text before, const struct hook_program *program,
                                  struct buf *out, struct err *e)
{
    const struct slice text = before.text;
    const char *nl = hook_newline(text);
    bool ends = before.absent || (text.n && text.p[text.n - 1] == '\n'), torn;
    struct slice rest = text, line;
    enum err_code rc;

    /* Another form of the same array would make the document invalid; a string over several lines could hide ours. */
    while (slice_line(&rest, &line, &torn)) {
        if (hook_toml_is_other(line))
            return err_set(e, ERR_FORMAT, "", "it has hooks in another form than [[hooks]]");
    }
    rc = buf_add(out, text);
    if (!rc && text.n && !ends)
        rc = buf_addf(out, "%s", nl);
    if (!rc)
        rc = buf_addf(out, "%s", HOOK_BEGIN);
    for (int event = 0; event < HOOK_EVENTS && !rc; event++) {
        if (!h->event[event])
            continue;
        rc = buf_addf(out, "%s[[hooks]]%sevent = \"%s\"%scommand = ", nl, nl, h->event[event], nl);
        if (!rc)
            rc = hook_edit_command(agent, (enum hook_event)event, program, out);
        if (!rc)
            rc = buf_addf(out, "%stimeout = %d", nl, h->timeout);
    }
    if (!rc)
        rc = buf_addf(out, "%s%s%s", nl, HOOK_FINISH, ends ? nl : "");
    return rc ? err_nomem(e) : ERR_OK;
}

/* The end of a table that is ours and begins at p: the next table, or the end of the text. */
static const char *hook_toml_table(const char *p, const char *end, const char *agent)
{
    struct slice rest = { p, (size_t)(end - p) }, line;
    bool torn, ours = false;
    AUTO_ARENA a = { 0 };
    const char *mark = arena_format(&a, HOOK_MARK "%s ", agent);

    (void)slice_line(&rest, &line, &torn);
    while (mark && slice_line(&rest, &line, &torn) && line.n && *line.p != '[') {
        ours = ours || (slice_starts(line, "command") && slice_has(line, mark));
        p = line.p + line.n + !torn;
        if (slice_starts(line, "timeout"))
            break;
    }
    return ours ? p : NULL;
}

/* Adds the lines from p on that are not of our tables. */
static enum err_code hook_toml_others(const char *p, const char *end, const char *agent,
                                      struct buf *out)
{
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *next = newline ? newline + 1 : end;
        struct slice line = { p, (size_t)(next - p) };
        const char *after = slice_starts(line, "[[hooks]]") ? hook_toml_table(p, end, agent) : NULL;

        if (!after)
            TRY(buf_add(out, line));
        p = after ? after : next;
    }
    return ERR_OK;
}

static enum err_code hook_toml_off(const char *agent, struct hook_text before, struct buf *out,
                                   bool *absent, struct err *e)
{
    const struct slice text = before.text;
    const char *end = text.p + text.n;
    const char *begin = text.n ? slice_find(text.p, text.n, HOOK_BEGIN, strlen(HOOK_BEGIN)) : NULL;
    const char *finish =
        begin ? slice_find(begin, (size_t)(end - begin), HOOK_FINISH, strlen(HOOK_FINISH)) : NULL;

    *absent = false;
    if (finish && (begin == text.p || begin[-1] == '\n')) {
        const char *inside = memchr(begin, '\n', (size_t)(finish - begin));
        const char *after = finish + strlen(HOOK_FINISH);
        bool whole = after < end;
        AUTO_BUF others = { 0 }; /* what a person wrote into our block */

        NEED(!inside || !hook_toml_others(inside + 1, finish, agent, &others));
        after += whole && *after == '\r';
        after += after < end && *after == '\n';
        if (!whole && begin > text.p && !others.n) /* our newline ended the line above */
            begin -= begin - text.p > 1 && begin[-2] == '\r' ? 2 : 1;
        *absent = whole && begin == text.p && after == end && !others.n;
        NEED(!buf_add(out, (struct slice){ text.p, (size_t)(begin - text.p) }) &&
             !buf_add(out, buf_slice(&others)) &&
             !buf_add(out, (struct slice){ after, (size_t)(end - after) }));
        return ERR_OK;
    }
    /* The agent rewrote its file, without comments. */
    return hook_toml_others(text.p, end, agent, out) ? err_nomem(e) : ERR_OK;
}

/* ---- a file of ours ---- */

static enum err_code hook_file_on(const struct agent_hooks *h, const struct hook_program *program,
                                  struct buf *out, struct err *e)
{
    AUTO_BUF word = { 0 };
    struct jsonout j;
    enum err_code rc = ERR_OK;

    jsonout_init(&j, &word);
    jsonout_text(&j, slice_of(program->word));
    if (j.rc)
        return err_nomem(e);
    for (const char *p = h->text; *p && !rc; p++) {
        if (*p == '@') {
            jsonout_init(&j, out);
            jsonout_text(&j, slice_of(program->path));
            rc = j.rc;
        } else {
            rc = *p == '%' ? buf_add(out, (struct slice){ word.p + 1, word.n - 2 })
                           : buf_add_byte(out, *p);
        }
    }
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- any form ---- */

static enum err_code hook_nested_off(const struct agent_hooks *h, const char *agent,
                                     struct hook_text before, struct buf *out, bool *absent,
                                     struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct hook_step s = { .h = h, .agent = agent };

    for (int event = HOOK_EVENTS - 1; event >= 0; event--) {
        bool found = h->event[event] != NULL;

        s.event = (enum hook_event)event;
        while (found) {
            AUTO_BUF text = { 0 };
            bool gone;

            TRY(hook_json_remove(&s, before, &text, &gone, &found, e));
            if (!found)
                break;
            before = (struct hook_text){ arena_copy(&a, buf_slice(&text)), gone };
            NEED(before.text.p);
        }
    }
    *absent = before.absent;
    NEED(!buf_add(out, before.text));
    return ERR_OK;
}

enum err_code hook_edit_on(const struct agent_hooks *h, const char *agent, struct hook_text before,
                           const struct hook_program *program, struct buf *out, struct err *e)
{
    AUTO_BUF without = { 0 };

    if (h->form == HOOK_FILE)
        return hook_file_on(h, program, out, e);
    TRY(hook_edit_off(h, agent, before, &without, &before.absent, e));
    before.text = buf_slice(&without);

    /* Hooks of ours that are already there are removed first: they may name another program, or be
     * incomplete. */
    if (h->form == HOOK_TABLES)
        return hook_toml_on(h, agent, before, program, out, e);

    AUTO_ARENA a = { 0 };
    struct hook_step s = { .h = h, .agent = agent };

    for (int event = 0; event < HOOK_EVENTS; event++) {
        AUTO_BUF command = { 0 }, text = { 0 };

        if (!h->event[event])
            continue;
        s.event = (enum hook_event)event;
        NEED(!hook_edit_command(agent, s.event, program, &command));
        s.command = buf_slice(&command);
        TRY(hook_json_add(&s, before, &text, e));
        before = (struct hook_text){ arena_copy(&a, buf_slice(&text)), false };
        NEED(before.text.p);
    }
    NEED(!buf_add(out, before.text));
    return ERR_OK;
}

enum err_code hook_edit_off(const struct agent_hooks *h, const char *agent, struct hook_text before,
                            struct buf *out, bool *absent, struct err *e)
{
    *absent = before.absent;
    if (before.absent)
        return ERR_OK;
    switch (h->form) {
    case HOOK_NESTED:
    case HOOK_FLAT: return hook_nested_off(h, agent, before, out, absent, e);
    case HOOK_TABLES: return hook_toml_off(agent, before, out, absent, e);
    default:
        *absent = hook_edit_has(agent, before.text);
        return *absent || !buf_add(out, before.text) ? ERR_OK : err_nomem(e);
    }
}

const char *hook_edit_disabled(const struct agent_hooks *h, struct slice text)
{
    AUTO_ARENA a = { 0 };
    struct slice plain, value;

    if (!h->off_switch || hook_json_plain(text, h->comments, &a, &plain, NULL) ||
        !json_at(plain, h->off_switch, &value))
        return NULL;
    return json_type(value) == (h->switch_is_on ? JSON_FALSE : JSON_TRUE) ? h->off_switch : NULL;
}
