#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "tui/commands/mcp/mcp.h"
#include "tui/text/human.h"

/* A tool runs a command that only reads, with --json, in this process. Its rows go into the answer until that is full;
 * where it is not whole, it names the cursor or the message from which to read on. Long strings in a row are cut, so that
 * an answer is never much longer than MCP_ANSWER_MAX. */

enum {
    MCP_ANSWER_MAX = 16000,
    MCP_STRING_MAX = 2000, /* in one of several rows */
    MCP_STRING_LEAST = 32,
    MCP_ROWS = 20,
    MCP_ROWS_MAX = 100,
    MCP_CURSOR_MAX = 100000,
    MCP_NOTES_MAX = 2000,
    MCP_WORDS = 16,
};

enum mcp_argument {
    MCP_SESSION,
    MCP_TEXT,
    MCP_PATH,
    MCP_TO,
    MCP_PROJECT,
    MCP_SINCE,
    MCP_AFTER,
    MCP_BEFORE,
    MCP_AGENT,
    MCP_LINES,
    MCP_MODE,
    MCP_LIMIT, /* the numbers are last */
    MCP_CURSOR,
    MCP_ARGUMENTS
};

static const char *const mcp_argument_names[MCP_ARGUMENTS] = {
    "session", "text",  "path",  "to",   "project", "since",  "after",
    "before",  "agent", "lines", "mode", "limit",   "cursor",
};

struct mcp_call {
    struct mcp_server *server;
    const struct mcp_tool *tool;
    struct arena arena;
    const char *text[MCP_ARGUMENTS]; /* NULL: not given */
    size_t limit, skip;              /* rows of the answer, and those before it */
    char *word[MCP_WORDS];           /* the command */
    int words;
    bool newest; /* the last rows are wanted: those that do not fit are dropped at the front */

    struct buf rows;    /* the answer's rows, each after a comma */
    struct buf members; /* members of a row that is an object with rows, each after a comma */
    size_t *end;        /* where each row ends */
    size_t n, dropped;
    bool more; /* there is another row */
    bool failed;
};

/* ---- which command ---- */

static void mcp_word(struct mcp_call *c, const char *option, const char *value)
{
    char *word = arena_format(&c->arena, "%s%s", option, value);

    c->failed |= !word || c->words == MCP_WORDS - 1;
    if (!c->failed)
        c->word[c->words++] = word;
}

/* An argument that becomes the option, if it was given. */
static void mcp_option(struct mcp_call *c, const char *option, enum mcp_argument which)
{
    if (c->text[which])
        mcp_word(c, option, c->text[which]);
}

static void mcp_number(struct mcp_call *c, const char *option, size_t n)
{
    const char *text = arena_format(&c->arena, "%zu", n);

    mcp_word(c, option, text ? text : "");
}

/* The operand, which can be any text. */
static void mcp_operand(struct mcp_call *c, const char *text)
{
    mcp_word(c, "--", "");
    mcp_word(c, text, "");
}

static void mcp_scope(struct mcp_call *c)
{
    const char *project = c->text[MCP_PROJECT];

    if (project && strcmp(project, "*") == 0)
        mcp_word(c, "--all", "");
    else
        mcp_option(c, "--project=", MCP_PROJECT);
    mcp_option(c, "--since=", MCP_SINCE);
}

static void mcp_find_sessions(struct mcp_call *c)
{
    mcp_word(c, c->text[MCP_TEXT] ? "search" : "list", "");
    mcp_scope(c);
    if (c->text[MCP_TEXT]) {
        mcp_number(c, "--limit=", c->skip + c->limit + 1);
        mcp_operand(c, c->text[MCP_TEXT]);
        return;
    }
    mcp_number(c, "--limit=", c->limit + 1);
    mcp_number(c, "--offset=", c->skip);
    c->skip = 0;
}

static void mcp_read_messages(struct mcp_call *c)
{
    mcp_word(c, "messages", "");
    mcp_word(c, "--plain", "");
    mcp_option(c, "--agent=", MCP_AGENT);
    mcp_option(c, "--after=", MCP_AFTER);
    mcp_option(c, "--before=", MCP_BEFORE);
    c->newest = !c->text[MCP_AFTER];
    mcp_number(c, c->newest && !c->text[MCP_BEFORE] ? "--tail=" : "--limit=", c->limit + 1);
    mcp_operand(c, c->text[MCP_SESSION]);
}

static void mcp_who_touched(struct mcp_call *c)
{
    mcp_word(c, "touched", "");
    mcp_scope(c);
    mcp_number(c, "--limit=", c->skip + c->limit + 1);
    mcp_operand(c, c->text[MCP_PATH]);
}

static void mcp_blame_lines(struct mcp_call *c)
{
    const char *lines = c->text[MCP_LINES], *path = c->text[MCP_PATH],
               *range = lines ? arena_format(&c->arena, "%s:%s", path, lines) : path;

    mcp_word(c, "blame", "");
    mcp_word(c, "--by=turn", "");
    mcp_operand(c, range ? range : path);
}

static void mcp_plan_rewind(struct mcp_call *c)
{
    mcp_word(c, "rewind", "");
    mcp_option(c, "--to=", MCP_TO);
    mcp_option(c, "--mode=", MCP_MODE);
    mcp_operand(c, c->text[MCP_SESSION]);
}

/* ---- the tools ---- */

#define MCP_BIT(name) (1u << MCP_##name)
#define MCP_STRING(name) "\"" name "\":{\"type\":\"string\"}"
#define MCP_STRING_OF(name, text) "\"" name "\":{\"type\":\"string\",\"description\":\"" text "\"}"
#define MCP_LIMIT_AND ",\"limit\":{\"type\":\"integer\"}"
#define MCP_PAGE ",\"cursor\":{\"type\":\"integer\"}" MCP_LIMIT_AND

static const struct mcp_tool {
    const char *name, *description, *properties, *required;
    unsigned takes, needs;
    void (*command)(struct mcp_call *c);
    const char *rows;            /* the name of the list in the answer */
    const char *const *left_out; /* members of rows that are of no use to a model */
} mcp_tools[] = {
    { "find_sessions",
      "Sessions of coding agents, newest first. With text: the lines that match, with session and "
      "message",
      MCP_STRING_OF("text", "regular expression") "," MCP_STRING_OF(
          "project",
          "directory; * for all; default: the present one") "," MCP_STRING_OF("since",
                                                                              "3d, 2w, date")
          MCP_PAGE,
      "", MCP_BIT(TEXT) | MCP_BIT(PROJECT) | MCP_BIT(SINCE) | MCP_BIT(CURSOR) | MCP_BIT(LIMIT), 0,
      mcp_find_sessions, "found",
      (const char *const[]){ "can", "path", "fileSize", "expiresAt", "lastModified", "mode",
                             "matches", NULL } },
    { "read_messages",
      "Messages of a session: the newest, or those before or after a message. Read on with earlier "
      "or later of the answer. limit 1 gives long texts",
      MCP_STRING("session") "," MCP_STRING_OF("before", "message id") "," MCP_STRING_OF(
          "after", "message id") "," MCP_STRING_OF("agent", "id of a sub-agent") MCP_LIMIT_AND,
      "\"session\"",
      MCP_BIT(SESSION) | MCP_BIT(BEFORE) | MCP_BIT(AFTER) | MCP_BIT(AGENT) | MCP_BIT(LIMIT),
      MCP_BIT(SESSION), mcp_read_messages, "messages", (const char *const[]){ NULL } },
    { "who_touched", "Which sessions and prompts changed a file or directory, newest first",
      MCP_STRING("path") MCP_PAGE, "\"path\"", MCP_BIT(PATH) | MCP_BIT(CURSOR) | MCP_BIT(LIMIT),
      MCP_BIT(PATH), mcp_who_touched, "touched", (const char *const[]){ NULL } },
    { "blame_lines", "Which session and prompt wrote the lines of a file",
      MCP_STRING("path") "," MCP_STRING_OF("lines", "10-20") MCP_PAGE, "\"path\"",
      MCP_BIT(PATH) | MCP_BIT(LINES) | MCP_BIT(CURSOR) | MCP_BIT(LIMIT), MCP_BIT(PATH),
      mcp_blame_lines, "lines", (const char *const[]){ NULL } },
    { "plan_rewind", "What a rewind of a session to a message would change. Nothing is changed",
      MCP_STRING("session") "," MCP_STRING_OF(
          "to", "id of a prompt or checkpoint") "," MCP_STRING_OF("mode",
                                                                  "code, conversation or both")
          MCP_PAGE,
      "\"session\",\"to\"",
      MCP_BIT(SESSION) | MCP_BIT(TO) | MCP_BIT(MODE) | MCP_BIT(CURSOR) | MCP_BIT(LIMIT),
      MCP_BIT(SESSION) | MCP_BIT(TO), mcp_plan_rewind, "files",
      (const char *const[]){ "schemaVersion", "filesChanged", NULL } },
};

static const struct mcp_tool *mcp_tool_of(struct slice name)
{
    for (size_t i = 0; i < COUNT_OF(mcp_tools); i++)
        if (slice_eq(name, slice_of(mcp_tools[i].name)))
            return &mcp_tools[i];
    return NULL;
}

bool mcp_tools_has(struct slice name)
{
    return mcp_tool_of(name) != NULL;
}

void mcp_tools_list(struct jsonout *j)
{
    jsonout_key(j, "tools");
    jsonout_open(j, '[');
    for (size_t i = 0; i < COUNT_OF(mcp_tools); i++) {
        const struct mcp_tool *t = &mcp_tools[i];
        AUTO_BUF schema = { 0 };

        if (buf_addf(&schema, "{\"type\":\"object\",\"properties\":{%s}%s%s%s}", t->properties,
                     *t->required ? ",\"required\":[" : "", t->required, *t->required ? "]" : ""))
            j->rc = ERR_NOMEM;
        jsonout_open(j, '{');
        jsonout_member(j, "name", slice_of(t->name));
        jsonout_member(j, "description", slice_of(t->description));
        jsonout_raw_member(j, "inputSchema", buf_slice(&schema));
        jsonout_raw_member(j, "annotations", SLICE("{\"readOnlyHint\":true}"));
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
}

/* ---- rows ---- */

/* Returns the length of the longest beginning of the inside of a string that can be cut off: no escape, no character and
 * no pair of surrogates is split. */
static size_t mcp_cut_at(struct slice inside, size_t most)
{
    size_t at = 0, end = 0;

    while (end <= most && end < inside.n) {
        const char *p = inside.p + end;

        at = end;
        if (*p == '\\' && p[1] == 'u')
            end += strchr("dD", p[2]) && strchr("89abAB", p[3]) && p[6] == '\\' ? 12 : 6;
        else if (*p == '\\')
            end += 2;
        else
            for (end++; end < inside.n && ((unsigned char)inside.p[end] & 0xc0) == 0x80; end++)
                ;
    }
    return end <= most ? end : at;
}

static bool mcp_is_left_out(const struct mcp_tool *tool, struct slice key)
{
    for (size_t i = 0; tool->left_out[i]; i++)
        if (json_string_is(key, tool->left_out[i]))
            return true;
    return false;
}

static enum err_code mcp_add_member(struct slice key, struct slice value, size_t most,
                                    struct buf *out)
{
    if (buf_add_byte(out, ',') || buf_add(out, key) || buf_add_byte(out, ':'))
        return ERR_NOMEM;

    /* Appends a JSON value with every long string in it cut; keys stay. */
    const char *p = value.p, *end = value.p + value.n, *from = p;

    while (p < end) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        const char *after = quote ? json_string_end(quote + 1, end) : NULL;

        if (!after)
            break;
        p = after;
        const struct slice inside = { quote + 1, (size_t)(after - quote) - 2 };
        const size_t n = inside.n > most ? mcp_cut_at(inside, most) : inside.n;

        if (n == inside.n || (after < end && *after == ':'))
            continue;
        if (buf_add(out, (struct slice){ from, (size_t)(inside.p + n - from) }) ||
            buf_addf(out, "… [%zu bytes more]", inside.n - n))
            return ERR_NOMEM;
        from = after - 1;
    }
    return buf_add(out, (struct slice){ from, (size_t)(end - from) });
}

/* Appends the row as an object of at most MCP_ANSWER_MAX bytes. */
static enum err_code mcp_add_shortened(const struct mcp_call *c, struct slice row, struct buf *out)
{
    const size_t before = out->n;
    struct slice key, value;
    struct jsonout j;

    for (size_t most = c->limit == 1 ? MCP_ANSWER_MAX : MCP_STRING_MAX; most >= MCP_STRING_LEAST;
         most /= 2) {
        struct json_iter it;

        out->n = before;
        json_iter_open(&it, row);
        while (json_iter_next(&it, &key, &value))
            if (!mcp_is_left_out(c->tool, key) && mcp_add_member(key, value, most, out))
                return ERR_NOMEM;
        if (out->n == before && buf_add_byte(out, ','))
            return ERR_NOMEM;
        out->p[before] = '{'; /* in place of the first comma */
        if (buf_add_byte(out, '}'))
            return ERR_NOMEM;
        if (out->n - before <= MCP_ANSWER_MAX)
            return ERR_OK;
    }
    out->n = before;
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    if (json_get(row, "id", &value))
        jsonout_raw_member(&j, "id", value);
    jsonout_bool_member(&j, "tooLong", true);
    jsonout_close(&j, '}');
    return j.rc;
}

/* Takes a row. Returns false if no more are wanted. */
static bool mcp_take_row(struct mcp_call *c, struct slice row)
{
    const size_t before = c->rows.n;

    if (c->skip) {
        c->skip--;
        return true;
    }
    c->more = !c->newest && c->n == c->limit;
    if (c->more)
        return false;
    c->end = arena_grow(&c->arena, c->end, c->n, sizeof *c->end);
    c->failed |= !c->end || buf_add_byte(&c->rows, ',') || mcp_add_shortened(c, row, &c->rows);
    if (!c->failed && !c->newest && c->n && c->rows.n > MCP_ANSWER_MAX) {
        c->rows.n = before;
        c->more = true;
    }
    if (c->failed || c->more)
        return false;
    c->end[c->n++] = c->rows.n;
    return true;
}

/* Takes an answer that is one object with a list of rows. */
static bool mcp_take_object(struct mcp_call *c, struct slice object)
{
    struct json_iter it, rows;
    struct slice key, value, none, row;
    bool wanted = true;

    if (!json_iter_open(&it, object))
        return true;
    while (json_iter_next(&it, &key, &value)) {
        if (json_string_is(key, c->tool->rows) && json_iter_open(&rows, value)) {
            while (wanted && json_iter_next(&rows, &none, &row))
                wanted = json_get_is(row, "action", "unchanged") || mcp_take_row(c, row);
        } else if (!mcp_is_left_out(c->tool, key)) {
            c->failed |= mcp_add_member(key, value, MCP_STRING_MAX, &c->members) != ERR_OK;
        }
    }
    return !c->failed;
}

/* Takes what a command writes: rows with what is between them, each on its own line. */
static bool mcp_take(struct slice text, void *arg)
{
    struct mcp_call *c = arg;
    struct slice line;
    bool torn, wanted = !mcp_is_cancelled(c->server);

    while (wanted && slice_line(&text, &line, &torn)) {
        const char *begin = line.n ? memchr(line.p, '{', line.n) : NULL;
        const char *end = begin ? memrchr(line.p, '}', line.n) : NULL;

        if (!end)
            continue;
        const struct slice row = { begin, (size_t)(end - begin) + 1 };

        wanted =
            c->tool->command == mcp_plan_rewind ? mcp_take_object(c, row) : mcp_take_row(c, row);
    }
    return wanted;
}

/* ---- a call ---- */

static enum err_code mcp_read_arguments(struct mcp_call *c, struct slice arguments, struct err *e)
{
    struct json_iter it;
    struct slice key, value, text;

    if (!json_iter_open(&it, arguments))
        return err_set(e, ERR_USAGE, "", "the arguments are no object");
    while (json_iter_next(&it, &key, &value)) {
        const size_t i = json_key_in(key, mcp_argument_names, MCP_ARGUMENTS);
        int64_t n = 0;

        if (i == MCP_ARGUMENTS || !(c->tool->takes >> i & 1))
            return err_set(e, ERR_USAGE, "", "%s has no argument %.*s", c->tool->name,
                           key.n < 80 ? (int)key.n : 80, key.p);

        /* Some clients write null for an argument that is not given. */
        if (json_type(value) == JSON_NULL)
            continue;

        /* The names up to the limit are texts, which are C strings here, so they may not contain NUL. */
        if (i < MCP_LIMIT) {
            if (json_type(value) != JSON_STRING || !json_text(value, &c->arena, &text) ||
                memchr(text.p, '\0', text.n))
                return err_set(e, ERR_USAGE, "", "%s must be a string", mcp_argument_names[i]);
            NEED(c->text[i] = arena_copy(&c->arena, text).p);
        } else if (!json_int(value, &n) || n < (i == MCP_LIMIT) || n > MCP_CURSOR_MAX) {
            return err_set(e, ERR_USAGE, "", "%s must be a whole number", mcp_argument_names[i]);
        } else if (i == MCP_LIMIT) {
            c->limit = n < MCP_ROWS_MAX ? (size_t)n : MCP_ROWS_MAX;
        } else {
            c->skip = (size_t)n;
        }
    }

    for (size_t i = 0; i < MCP_LIMIT; i++)
        if ((c->tool->needs >> i & 1) && !c->text[i])
            return err_set(e, ERR_USAGE, "", "%s needs %s", c->tool->name, mcp_argument_names[i]);
    if (c->text[MCP_BEFORE] && c->text[MCP_AFTER])
        return err_set(e, ERR_USAGE, "", "before and after exclude each other");
    return ERR_OK;
}

/* Runs the command. What it reports on standard error comes through the pipe. */
static enum err_code mcp_run_command(struct mcp_call *c, int reports, struct err *e)
{
    const struct invocation *in = c->server->in;
    struct process_env world = *in->world;
    struct invocation run = {
        .world = &world, .options = in->options, .err_fd = reports, .read_only = true
    };
    enum err_code rc;

    if (c->failed)
        return err_nomem(e);
    world.env.now_ms = env_now_ms(&world.env);
    run.options.given &= OPTION_GLOBALS;
    if (c->text[MCP_PROJECT])
        run.options.given &= ~OPTION_BIT(ALL);
    run.config_refused = in->config_refused;
    out_init(&run.out, -1);
    run.out.take = mcp_take;
    run.out.take_arg = c;
    run.out.wants_json = true;
    rc = command_parse(&run, c->words, c->word, e);
    if (!rc)
        rc = run.command->run(&run, e);
    if (!rc)
        rc = out_flush(&run.out, e);
    if (rc == ERR_CANCELLED) /* enough was read, or nothing was found */
        rc = ERR_OK;
    out_fini(&run.out);
    return c->failed ? err_nomem(e) : rc;
}

/* From where to read on. */
static void mcp_write_next(const struct mcp_call *c, size_t skipped, struct jsonout *j)
{
    const bool messages = c->tool->command == mcp_read_messages;
    struct slice id, first, last;

    if (!messages && c->more)
        jsonout_int_member(j, "cursor", (int64_t)(skipped + c->n));
    if (!messages || c->dropped == c->n)
        return;
    const size_t begin = c->dropped ? c->end[c->dropped - 1] : 0,
                 at = c->n > 1 && c->n - 1 > c->dropped ? c->end[c->n - 2] : begin;

    first = (struct slice){ c->rows.p + begin + 1, c->rows.n - begin - 1 };
    last = (struct slice){ c->rows.p + at + 1, c->rows.n - at - 1 };
    if ((c->newest ? c->more : true) && json_get(first, "id", &id))
        jsonout_raw_member(j, "earlier", id);
    if ((c->newest ? c->text[MCP_BEFORE] != NULL : c->more) && json_get(last, "id", &id))
        jsonout_raw_member(j, "later", id);
}

/* The text of the answer: the rows, then what else there is to know. */
static enum err_code mcp_make_answer(struct mcp_call *c, size_t skipped, struct slice notes,
                                     struct buf *out)
{
    struct jsonout j;
    struct slice line, rows;
    bool torn;

    /* Drop the oldest of the newest rows if they are too many. */
    while (c->newest && c->dropped + 1 < c->n &&
           (c->n - c->dropped > c->limit ||
            c->rows.n - (c->dropped ? c->end[c->dropped - 1] : 0) > MCP_ANSWER_MAX)) {
        c->dropped++;
        c->more = true;
    }
    rows = buf_slice(&c->rows);
    if (c->n) {
        const size_t begin = c->dropped ? c->end[c->dropped - 1] : 0;

        rows = (struct slice){ rows.p + begin + 1, rows.n - begin - 1 };
    }
    if (buf_addf(out, "{\"%s\":[", c->tool->rows) || buf_add(out, rows) || buf_add_byte(out, ']') ||
        buf_add(out, buf_slice(&c->members)))
        return ERR_NOMEM;
    jsonout_init(&j, out);
    j.comma = true;
    mcp_write_next(c, skipped, &j);
    if (notes.n) {
        jsonout_key(&j, "notes");
        jsonout_open(&j, '[');
        while (slice_line(&notes, &line, &torn))
            jsonout_text(&j, slice_starts(line, "reprise: ")
                                 ? (struct slice){ line.p + 9, line.n - 9 }
                                 : line);
        jsonout_close(&j, ']');
    }
    jsonout_close(&j, '}');
    return j.rc;
}

enum err_code mcp_tools_call(struct mcp_server *s, struct slice name, struct slice arguments,
                             struct jsonout *j, struct err *e)
{
    struct mcp_call c = { .server = s, .tool = mcp_tool_of(name), .limit = MCP_ROWS };
    AUTO_BUF answer = { 0 };
    char notes[MCP_NOTES_MAX], sentence[1024] = "";
    int reports[2];
    ssize_t got;
    struct err failed = { 0 };

    if (pipe(reports))
        return err_sys(e, "", "make a pipe");
    for (int i = 0; i < 2; i++) { /* what does not fit into the pipe is dropped */
        fcntl(reports[i], F_SETFD, FD_CLOEXEC);
        fcntl(reports[i], F_SETFL, O_NONBLOCK);
    }
    enum err_code rc = mcp_read_arguments(&c, arguments, &failed);
    const size_t skipped = c.skip;

    mcp_word(&c, "reprise", "");
    if (!rc) {
        c.tool->command(&c);
        rc = mcp_run_command(&c, reports[1], &failed);
    }
    got = read(reports[0], notes, sizeof notes);
    close(reports[0]);
    close(reports[1]);
    if (!rc &&
        mcp_make_answer(&c, skipped, (struct slice){ notes, got > 0 ? (size_t)got : 0 }, &answer))
        rc = err_nomem(&failed);
    if (rc)
        err_sentence(&failed, sentence, sizeof sentence);
    jsonout_key(j, "content");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("text"));
    jsonout_member(j, "text", rc ? slice_of(sentence) : buf_slice(&answer));
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    if (rc)
        jsonout_bool_member(j, "isError", true);
    buf_fini(&c.rows);
    buf_fini(&c.members);
    arena_fini(&c.arena);
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}
