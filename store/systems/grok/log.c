#include <fcntl.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/grok/grok.h"

/* The log contains the updates that a client received: texts come in chunks, and a call in several
 * updates. A prompt is a run of chunks. Runs are prompts until the first one has a promptIndex;
 * after that, only runs with a promptIndex are, because the others are not a person's. A rewind
 * appends a marker: the prompts from its index on, and everything after them, are dropped. */

enum { LOG_MOST = 512 << 20 };

/* ---- one line ---- */

static enum grok_kind grok_kind_of(struct slice update)
{
    static const struct {
        const char *name;
        enum grok_kind kind;
    } kinds[] = {
        { "user_message_chunk", GROK_PROMPT },        { "agent_message_chunk", GROK_ANSWER },
        { "agent_thought_chunk", GROK_THOUGHT },      { "tool_call", GROK_CALL },
        { "compaction_checkpoint", GROK_COMPACTION }, { "rewind_marker", GROK_REWIND },
    };
    struct slice name, status;

    if (!json_get(update, "sessionUpdate", &name))
        return GROK_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_string_is(name, kinds[i].name))
            return kinds[i].kind;
    return json_string_is(name, "tool_call_update") && json_get(update, "status", &status) &&
                   (json_string_is(status, "completed") || json_string_is(status, "failed"))
               ? GROK_RESULT
               : GROK_OTHER;
}

static int64_t number_in(struct slice object, const char *path, int64_t none)
{
    struct slice value;
    int64_t n;

    return json_at(object, path, &value) && json_int(value, &n) && n >= 0 ? n : none;
}

/* The oldest logs contain only the parameters of a notification. */
bool grok_line_read(struct slice line, struct grok_line *out)
{
    struct slice params, value;

    *out = (struct grok_line){ .index = -1, .time_ms = TIME_NONE };
    if (!json_valid(line) || json_type(line) != JSON_OBJECT)
        return false;
    if (!json_get(line, "params", &params))
        params = line;
    if (!json_get(params, "update", &out->update) || json_type(out->update) != JSON_OBJECT)
        return false;
    /* The line's own time is that of the copy in a fork. */
    int64_t seconds = number_in(line, "timestamp", 0),
            ms = number_in(params, "_meta.agentTimestampMs", 0);

    if (ms > 0 && ms < INT64_C(1) << 50)
        out->time_ms = ms;
    else if (seconds > 0 && seconds < INT64_C(1) << 40)
        out->time_ms = seconds * 1000;
    out->kind = grok_kind_of(out->update);
    json_get(out->update, "content", &out->content);
    if (out->kind == GROK_PROMPT && json_at(out->update, "_meta.hostTurn", &value) &&
        json_type(value) == JSON_TRUE)
        out->kind = GROK_OTHER;
    out->index = out->kind == GROK_REWIND ? number_in(out->update, "target_prompt_index", INT64_MAX)
                                          : number_in(out->update, "_meta.promptIndex", -1);
    return true;
}

struct slice grok_text(struct slice content, struct arena *a)
{
    struct slice text;

    if (json_type(content) == JSON_OBJECT && json_get_text(content, "text", a, &text))
        return text;
    return json_type(content) == JSON_OBJECT && json_get_is(content, "type", "image")
               ? SLICE("[Image]")
               : SLICE("");
}

/* ---- messages ---- */

struct composing {
    struct buf *rows;
    struct buf text; /* the text of the message that is being gathered */
    struct arena scratch;
    enum grok_kind kind; /* its kind; GROK_OTHER: none */
    bool counts;         /* it is a person's prompt */
    bool marked;         /* a promptIndex was seen */
    bool all;            /* what a rewind dropped stays */
    int64_t index, time_ms;
    size_t line, number; /* the line that is read; the number of the line where the message began */
    size_t *start;       /* where the rows of each prompt begin */
    size_t prompts;
    struct arena arena; /* owns the starts */
};

static const char *word_of(const struct composing *c, enum grok_kind kind)
{
    switch (kind) {
    case GROK_PROMPT: return c->counts ? "user" : "note";
    case GROK_ANSWER: return "agent";
    case GROK_THOUGHT: return "thought";
    case GROK_CALL: return "call";
    case GROK_RESULT: return "result";
    default: return "seam";
    }
}

static enum err_code grok_put_row(struct composing *c, enum grok_kind kind, int64_t time_ms,
                                  struct slice text, struct slice update)
{
    bool prompt = kind == GROK_PROMPT && c->counts;
    const char *id = arena_format(&c->scratch, "%s-%zu", prompt ? "prompt" : "line",
                                  prompt ? c->prompts - 1 : c->number);
    char time[TIME_TEXT];
    struct jsonout j;

    if (!id)
        return ERR_NOMEM;
    jsonout_init(&j, c->rows);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", slice_of(id));
    jsonout_member(&j, "kind", slice_of(word_of(c, kind)));
    if (time_ms != TIME_NONE) {
        time_format(time_ms, time);
        jsonout_member(&j, "time", slice_of(time));
    }
    if (update.n) {
        jsonout_raw_member(&j, "update", update);
    } else {
        jsonout_member(&j, "text", text);
    }
    jsonout_close(&j, '}');
    return j.rc ? j.rc : buf_add_byte(c->rows, '\n');
}

static enum err_code grok_finish(struct composing *c)
{
    enum err_code rc = ERR_OK;

    if (c->kind != GROK_OTHER)
        rc = grok_put_row(c, c->kind, c->time_ms, buf_slice(&c->text), SLICE(""));
    c->kind = GROK_OTHER;
    c->text.n = 0;
    return rc;
}

static enum err_code grok_begin(struct composing *c, const struct grok_line *line)
{
    enum err_code rc = grok_finish(c);

    c->kind = line->kind;
    c->index = line->index;
    c->time_ms = line->time_ms;
    c->number = c->line;
    c->counts = line->kind == GROK_PROMPT && (!c->marked || line->index >= 0);
    if (rc || !c->counts)
        return rc;
    size_t *more = arena_grow(&c->arena, c->start, c->prompts, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    c->start = more;
    c->start[c->prompts++] = c->rows->n;
    return ERR_OK;
}

static enum err_code grok_add_piece(struct composing *c, const struct grok_line *line)
{
    enum err_code rc = ERR_OK;

    c->marked = c->marked || (line->kind == GROK_PROMPT && line->index >= 0);
    const bool continues =
        c->kind == line->kind &&
        (line->kind != GROK_PROMPT || (!c->marked && line->index < 0) || c->index == line->index);

    if (!continues)
        rc = grok_begin(c, line);
    return rc ? rc : buf_add(&c->text, grok_text(line->content, &c->scratch));
}

static enum err_code rewind_to(struct composing *c, int64_t index)
{
    enum err_code rc = grok_finish(c);

    if (!rc && (uint64_t)index < c->prompts) {
        if (c->all) {
            /* The row of a prompt begins with its id. */
            size_t from = (size_t)index;
            static const char begin[] = "{\"id\":\"", undone[] = "undone";

            for (size_t i = from; i < c->prompts; i++)
                memcpy(c->rows->p + c->start[i] + sizeof begin - 1, undone, sizeof undone - 1);
        } else
            c->rows->n = c->start[index];
        c->prompts = (size_t)index;
    }
    return rc;
}

static enum err_code grok_add_line(struct composing *c, struct slice text, bool torn)
{
    struct grok_line line;
    enum err_code rc;

    /* A damaged line keeps its place, as it is. */
    if (text.n && (!json_valid(text) || json_type(text) != JSON_OBJECT)) {
        rc = grok_finish(c);
        if (!rc)
            rc = buf_add(c->rows, text);
        return rc || torn ? rc : buf_add_byte(c->rows, '\n');
    }
    if (!grok_line_read(text, &line))
        return ERR_OK;
    switch (line.kind) {
    case GROK_PROMPT:
    case GROK_ANSWER:
    case GROK_THOUGHT: return grok_add_piece(c, &line);
    case GROK_REWIND: return rewind_to(c, line.index);
    case GROK_CALL:
    case GROK_RESULT:
    case GROK_COMPACTION:
        rc = grok_finish(c);
        c->number = c->line;
        return rc ? rc
                  : grok_put_row(c, line.kind, line.time_ms, SLICE(""),
                                 line.kind == GROK_COMPACTION ? SLICE("{}") : line.update);
    default: return grok_finish(c);
    }
}

enum err_code grok_compose(const char *path, bool all, struct buf *rows, struct err *e)
{
    struct composing c = { .rows = rows, .all = all };
    struct buf log = { 0 };
    struct slice rest, line;
    bool torn;
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, LOG_MOST, &log, e);

    rest = buf_slice(&log);
    for (; !rc && slice_line(&rest, &line, &torn); c.line++) {
        arena_reset(&c.scratch);
        rc = grok_add_line(&c, line, torn) || c.scratch.failed ? err_nomem(e) : ERR_OK;
    }
    if (!rc && grok_finish(&c))
        rc = err_nomem(e);
    arena_fini(&c.scratch);
    arena_fini(&c.arena);
    buf_fini(&c.text);
    buf_fini(&log);
    return rc;
}
