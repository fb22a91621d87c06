#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/decimal.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/api/transcript.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/metadata.h"

/* The conversation as the `messages` command prints it: the lines that the host would load. */

struct listing_lines {
    uint32_t *line; /* owned */
    size_t n;
};

static enum err_code collect_message_lines(struct goat_log *log, const struct message_query *q,
                                           struct listing_lines *out, struct err *e)
{
    const struct index *ix = &log->file.index;
    enum err_code rc = ERR_OK;

    out->line = malloc((ix->n + 1) * sizeof *out->line);
    if (!out->line)
        return err_nomem(e);
    for (size_t i = 0; i < ix->n && !rc; i++) {
        enum goat_line_kind kind;
        enum message_kind message;

        rc = goat_log_kind(&log->file, i, &kind, &message, e);
        if (!rc && kind == GOAT_LINE_MESSAGE && (message != MESSAGE_SYSTEM || q->system_messages))
            out->line[out->n++] = (uint32_t)i;
    }
    return rc;
}

static enum err_code goat_print_messages(struct goat_log *log, const struct listing_lines *lines,
                                         const struct session_ref *ref,
                                         const struct message_query *q, json_fn *fn, void *arg,
                                         struct err *e)
{
    struct buf out = { 0 };
    size_t from, to;
    enum err_code rc = ERR_OK;

    transcript_page(q, lines->n, &from, &to);
    for (size_t i = from; i < to && !rc; i++) {
        struct slice row;
        struct goat_entry entry;
        struct jsonout j;

        if (q->cancel && atomic_load_explicit(q->cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "list the messages");
        else
            rc = logfile_row(&log->file, lines->line[i], &row, e);
        if (rc)
            break;
        out.n = 0;
        row = utf8_js_trim(row);
        goat_entry_read(row, &entry);
        jsonout_init(&j, &out);
        goat_message_write(&j, row, &entry, ref->id);
        rc = j.rc ? err_set(e, j.rc, ref->path.p, "write a message") : fn(buf_slice(&out), arg, e);
    }
    buf_fini(&out);
    return rc;
}

enum err_code goat_messages(const struct store *st, const struct session_ref *ref,
                            const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct goat_log log;
    struct listing_lines lines = { 0 };
    enum err_code rc;

    struct session_ref stream = *ref;
    struct arena a = { 0 };

    rc = q->agent.n ? goat_subagent(st, ref, q->agent, &a, &stream, e) : ERR_OK;
    if (!rc)
        rc = goat_log_open(&log, &stream, q->cancel, e);
    if (rc) {
        arena_fini(&a);
        return err_wrap(e, rc, "read messages");
    }
    rc = collect_message_lines(&log, q, &lines, e);
    if (!rc)
        rc = goat_print_messages(&log, &lines, ref, q, fn, arg, e);
    free(lines.line);
    goat_log_close(&log);
    arena_fini(&a);
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}

/* A Go session has no sub-agents. The SDK's stream beside the conversation contains their work, so
 * it is shown where other systems show sub-agents, but it is not counted as one. */

enum err_code goat_subagents(const struct store *st, const struct session_ref *ref, struct arena *a,
                             struct slice **ids, size_t *n, struct err *e)
{
    (void)st;
    (void)ref;
    *n = 0;
    *ids = arena_zalloc(a, sizeof **ids);
    return *ids ? ERR_OK : err_nomem(e);
}

enum err_code goat_subagent(const struct store *st, const struct session_ref *ref,
                            struct slice agent, struct arena *a, struct session_ref *out,
                            struct err *e)
{
    const char *path = goat_path(ref, GOAT_TRANSCRIPT_LOG, a);

    if (!path)
        return err_nomem(e);
    return slice_eq(agent, SLICE(GOAT_STREAM_ID))
               ? jsonl_ref_at(st, path, SLICE(GOAT_STREAM_ID), a, out, e)
               : err_set(e, ERR_NOT_FOUND, ref->path.p,
                         "Go sessions have no sub-agents, only the stream \"" GOAT_STREAM_ID "\"");
}

enum err_code goat_describe_subagents(const struct store *st, const struct session_ref *ref,
                                      const atomic_bool *cancel, struct subagent_list *out,
                                      struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct session_ref stream;
    struct arena *a = &list.arena;
    enum err_code rc = goat_subagent(st, ref, SLICE(GOAT_STREAM_ID), a, &stream, e);

    (void)cancel;
    if (!rc && !(list.agent = arena_zalloc(a, sizeof *list.agent)))
        rc = err_nomem(e);
    if (!rc)
        list.agent[list.n++] = (struct subagent){ .id = SLICE(GOAT_STREAM_ID),
                                                  .type = SLICE("SDK stream"),
                                                  .task = SLICE("every message of the run"),
                                                  .outcome = SLICE(""),
                                                  .end = SUBAGENT_DONE,
                                                  .bytes = stream.file.size,
                                                  .time_ms = session_modified_ms(&stream.file) };
    if (rc) { /* without a stream the list is empty */
        subagent_list_fini(&list);
        rc = rc == ERR_NOT_FOUND ? ERR_OK : rc;
    }
    if (!rc)
        *out = list;
    return rc;
}

/* Everything that a host needs to continue: the messages up to and including the requested one, and
 * how the last turn ended. An unknown message is an error here, while the host restores all
 * messages (goat.md B5). */

struct restoring {
    const struct store *store;
    const struct session_ref *ref;
    struct goat_log log;
    struct restore out;
};

static enum err_code goat_add_line(struct restoring *r, size_t line, struct err *e)
{
    struct goat_entry entry;
    struct buf out = { 0 };
    struct slice row;
    struct jsonout j;
    enum err_code rc = logfile_row(&r->log.file, line, &row, e);

    if (rc)
        return rc;
    row = utf8_js_trim(row);
    goat_entry_read(row, &entry);
    jsonout_init(&j, &out);
    goat_message_write(&j, row, &entry, r->ref->id);
    if (j.rc ||
        !arena_add_copy(&r->out.arena, &r->out.messages_json, &r->out.messages, buf_slice(&out)))
        rc = err_nomem(e);
    buf_fini(&out);
    return rc;
}

static enum err_code goat_add_messages(struct restoring *r, struct slice at, size_t *last,
                                       struct err *e)
{
    const struct index *ix = &r->log.file.index;
    size_t end = ix->n;
    enum err_code rc = ERR_OK;

    if (at.n) {
        rc = jsonl_find_row(&r->log.file, &goat_format, at, &end, e);
        end++;
    }
    *last = SIZE_MAX;
    for (size_t i = 0; i < end && !rc; i++) {
        enum goat_line_kind kind;
        enum message_kind message;

        rc = goat_log_kind(&r->log.file, i, &kind, &message, e);
        if (rc || kind != GOAT_LINE_MESSAGE)
            continue;
        rc = goat_add_line(r, i, e);
        if (message != MESSAGE_SYSTEM)
            *last = i;
    }
    return rc;
}

static enum err_code restore_interruption(struct restoring *r, size_t last, struct err *e)
{
    struct goat_entry entry;

    if (last == SIZE_MAX)
        return ERR_OK;
    TRY(goat_log_entry(&r->log, last, &entry, e));
    switch (goat_entry_role(&entry)) {
    case GOAT_USER:
        r->out.interruption = INTERRUPTION_PROMPT;
        r->out.prompt_json = r->out.messages_json[r->out.messages - 1];
        return ERR_OK;
    case GOAT_ASSISTANT:
        if (!goat_entry_calls(&entry))
            return ERR_OK;
        break;
    case GOAT_TOOL: break;
    default: return ERR_OK;
    }
    r->out.interruption = INTERRUPTION_TURN;

    /* Adds the message that a host sends in the person's name after an interrupted turn. */
    char id[HOST_ID], time[TIME_TEXT];
    struct buf out = { 0 };
    struct jsonout j;

    host_generate_id(id);
    time_format(env_now_ms(r->store->env), time);
    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("user"));
    jsonout_member(&j, "uuid", (struct slice){ id, HOST_ID - 1 });
    jsonout_member(&j, "session_id", r->ref->id);
    jsonout_member(&j, "timestamp", slice_of(time));
    jsonl_write_continuation(&j);
    jsonout_text_or_null(&j, "parent_tool_use_id", SLICE(""));
    jsonout_text_or_null(&j, "parent_agent_id", SLICE(""));
    jsonout_close(&j, '}');
    bool ok = !j.rc && arena_add_copy(&r->out.arena, &r->out.messages_json, &r->out.messages,
                                      buf_slice(&out));

    buf_fini(&out);
    return ok ? ERR_OK : err_nomem(e);
}

enum err_code goat_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                           struct restore *out, struct err *e)
{
    struct restoring r = { .store = st, .ref = ref };
    size_t last;
    enum err_code rc = goat_log_open(&r.log, ref, NULL, e);
    struct goat_metadata m;

    if (rc)
        return err_wrap(e, rc, "restore the session");

    struct arena *a = &r.out.arena;
    const char *path = goat_path(r.ref, GOAT_METADATA, a);

    if (!path || goat_metadata_read(AT_FDCWD, path, a, &m) ||
        !jsonl_restore_begin(&r.out, r.ref->id, m.text[GOAT_CWD]))
        rc = err_nomem(e);
    else
        rc = m.why ? err_set(e, ERR_FORMAT, r.ref->path.p, "%s", m.why) : ERR_OK;

    if (!rc)
        rc = goat_add_messages(&r, at, &last, e);
    if (!rc)
        rc = restore_interruption(&r, last, e);
    goat_log_close(&r.log);
    if (rc) {
        restore_fini(&r.out);
        return err_wrap(e, rc, "restore the session");
    }
    *out = r.out;
    return ERR_OK;
}

/* The blocks of one line for a reader, in any dialect. A part of an unknown form becomes a note or
 * its raw bytes; it is never left out. */

static struct slice decode_line_text(struct block_list *out, struct slice value)
{
    struct slice text = { NULL, 0 };

    if (json_type(value) == JSON_STRING && !json_text(value, &out->arena, &text))
        out->arena.failed = true;
    return text;
}

static struct slice member(struct block_list *b, struct slice object, const char *name)
{
    struct slice value;

    json_get(object, name, &value);
    return decode_line_text(b, value);
}

static void put_said(struct block_list *b, enum goat_role role, struct slice text)
{
    static const enum block_kind kinds[] = {
        [GOAT_OTHER] = BLOCK_NOTE, [GOAT_USER] = BLOCK_PROMPT, [GOAT_ASSISTANT] = BLOCK_TEXT,
        [GOAT_TOOL] = BLOCK_NOTE,  [GOAT_SYSTEM] = BLOCK_NOTE,
    };

    if (utf8_js_trim(text).n)
        transcript_block_put(b, (struct block){ .kind = kinds[role], .text = text });
}

static void goat_put_part(struct block_list *b, enum goat_role role, struct slice part)
{
    struct slice type, value, error;

    json_get(part, "type", &type);
    if (json_string_is(type, "text")) {
        put_said(b, role, member(b, part, "text"));
    } else if (json_string_is(type, "image_url")) {
        json_at(part, "image_url.url", &value);

        /* "data:image/png;base64,…": the media type, and the number of decoded bytes. */
        struct slice url = decode_line_text(b, value);
        struct block block = { .kind = BLOCK_IMAGE, .text = url };
        const char *comma = url.n ? memchr(url.p, ',', url.n) : NULL;

        if (slice_starts(url, "data:") && comma) {
            const char *end = memchr(url.p, ';', (size_t)(comma - url.p));

            block.name = (struct slice){ url.p + 5, (size_t)((end ? end : comma) - url.p) - 5 };
            block.bytes = (int64_t)((size_t)(url.p + url.n - comma - 1) * 3 / 4);
            block.text = (struct slice){ NULL, 0 };
        }
        transcript_block_put(b, block);
    } else if (json_string_is(type, "thinking")) {
        transcript_block_put(
            b, (struct block){ .kind = BLOCK_THINKING, .text = member(b, part, "thinking") });
    } else if (json_string_is(type, "tool_use")) {
        struct block call = { .kind = BLOCK_TOOL_CALL,
                              .name = member(b, part, "name"),
                              .call_id = member(b, part, "id") };

        json_get(part, "input", &call.input);
        transcript_block_put(b, call);
    } else if (json_string_is(type, "tool_result")) {
        /* A tool's result in the SDK's stream: a text or a list of texts. */
        struct goat_entry content = { 0 };
        struct block block = { .kind = BLOCK_TOOL_RESULT,
                               .call_id = member(b, part, "tool_use_id") };

        json_get(part, "content", &content.content);
        json_get(part, "is_error", &error);
        block.failed = json_type(error) == JSON_TRUE;
        if (!goat_entry_text(&content, &b->arena, &block.text))
            b->arena.failed = true;
        transcript_block_put(b, block);
    } else {
        transcript_block_put(b, (struct block){ .kind = BLOCK_NOTE,
                                                .name = decode_line_text(b, type),
                                                .text = member(b, part, "text") });
    }
}

static void goat_put_message(struct block_list *b, const struct goat_entry *e, enum goat_role role)
{
    struct block result = { .kind = BLOCK_TOOL_RESULT };

    if (role != GOAT_TOOL) {
        struct json_iter it;
        struct slice key, part, call;

        if (json_type(e->content) == JSON_STRING)
            put_said(b, role, decode_line_text(b, e->content));
        else if (json_type(e->content) == JSON_ARRAY && json_iter_open(&it, e->content))
            while (json_iter_next(&it, &key, &part))
                goat_put_part(b, role, part);

        if (json_type(e->tool_calls) == JSON_ARRAY && json_iter_open(&it, e->tool_calls))
            while (json_iter_next(&it, &key, &call)) {
                /* The arguments are a text that is usually a JSON object; any other text is shown
                 * verbatim. */
                struct slice function, arguments;
                struct block block = { .kind = BLOCK_TOOL_CALL, .call_id = member(b, call, "id") };

                json_get(call, "function", &function);
                block.name = member(b, function, "name");
                json_get(function, "arguments", &arguments);
                block.input = json_type(arguments) == JSON_STRING
                                  ? utf8_js_trim(decode_line_text(b, arguments))
                                  : arguments;
                if (json_type(block.input) != JSON_OBJECT || !json_valid(block.input)) {
                    block.text = block.input;
                    block.input = (struct slice){ NULL, 0 };
                }
                transcript_block_put(b, block);
            }
        return;
    }
    result.call_id = decode_line_text(b, e->tool_call_id);
    if (!goat_entry_text(e, &b->arena, &result.text))
        b->arena.failed = true;
    transcript_block_put(b, result);
}

static void goat_put_line(struct block_list *b, struct slice row)
{
    struct slice line = utf8_js_trim(row);
    struct goat_entry e;

    if (row.n > GOAT_LINE_MAX) {
        transcript_block_put(
            b,
            (struct block){ .kind = BLOCK_SEAM,
                            .text = SLICE("a line is longer than 10 MiB: the agent itself cannot "
                                          "load such a session") });
        return;
    }
    if (json_type(line) != JSON_OBJECT || !json_valid(line)) {
        transcript_block_put(b, (struct block){ .kind = BLOCK_RAW, .text = row });
        return;
    }
    goat_entry_read(line, &e);
    enum goat_role role = goat_entry_role(&e);

    if (e.shape == GOAT_NOTHING || (e.shape != GOAT_STREAM && role == GOAT_OTHER))
        transcript_block_put(b, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (e.shape == GOAT_STREAM && (role == GOAT_OTHER || role == GOAT_SYSTEM)) {
        /* Rows of the SDK's stream that are not messages (goat.md B3). */
        struct block note = { .kind = BLOCK_NOTE, .name = decode_line_text(b, e.type) };

        if (json_string_is(e.subtype, "compact_boundary"))
            note.kind = BLOCK_SEAM;
        if (json_type(e.subtype) == JSON_STRING)
            note.name = decode_line_text(b, e.subtype);
        if (json_string_is(e.type, "result"))
            note.text = member(b, line, "result");
        else if (json_string_is(e.type, "tool_progress"))
            note.text = member(b, line, "tool_name");
        else if (json_string_is(e.type, "tool_use_summary"))
            note.text = member(b, line, "summary");
        note.failed = json_get_true(line, "is_error");
        transcript_block_put(b, note);
    } else
        goat_put_message(b, &e, role);
}

enum err_code goat_blocks(const struct store *st, struct slice row, struct block_list *out,
                          struct err *e)
{
    (void)st;
    goat_put_line(out, row);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

/* The stream of the SDK (goat.md B3) has the tokens of each answer in one row, which has no time,
 * and whose only unique id is the row's own. The metadata has the cost of the whole session and the
 * time of its last change, which is used for all records. */

struct goat_usage_walk {
    struct slice model; /* the model of the session, for rows that name none */
    int64_t time_ms;
    bool has_cost; /* the session's own record has the cost of all answers */
    usage_fn *fn;
    void *arg;
    struct arena arena;
};

static enum err_code goat_hand_over_row(struct slice row, void *arg, struct err *e)
{
    struct goat_usage_walk *w = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&w->arena);
    if (usage_of_row(row, &w->arena, &u)) {
        u.answer = u.message;
        u.time_ms = u.time_ms == TIME_NONE ? w->time_ms : u.time_ms;
        u.model = u.model.n ? u.model : w->model;
        u.cost = w->has_cost ? 0 : u.cost;
        rc = w->arena.failed ? ERR_OK : w->fn(&u, w->arg, e);
    }
    return w->arena.failed ? err_nomem(e) : rc;
}

enum err_code goat_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct goat_usage_walk w = { .fn = fn, .arg = arg, .time_ms = session_modified_ms(&ref->file) };
    struct goat_metadata m;
    struct arena a = { 0 };
    const char *stream = goat_path(ref, GOAT_TRANSCRIPT_LOG, &a);
    enum err_code rc = stream ? goat_metadata_of(ref, &a, &m) : ERR_NOMEM;
    char text[40];

    (void)st;
    if (rc)
        err_nomem(e);

    /* The cost of the whole session is a record of its own; the rows of the stream then have tokens only. */
    if (!rc && !m.why) {
        w.model = m.text[GOAT_MODEL];
        w.time_ms = m.updated_ns ? m.updated_ns / 1000000 : w.time_ms;

        struct slice cost = m.raw[GOAT_COST];
        struct usage_record u = usage_record_empty();

        if (json_type(cost) != JSON_NUMBER || cost.n >= sizeof text)
            rc = ERR_OK;
        else {
            memcpy(text, cost.p, cost.n);
            text[cost.n] = '\0';
            u.cost = decimal_read(text, NULL);
            u.time_ms = w.time_ms;
            u.model = w.model;
            w.has_cost = isfinite(u.cost) && u.cost > 0;
            rc = w.has_cost ? w.fn(&u, w.arg, e) : ERR_OK;
        }
    }

    /* A session without a stream has no tokens, which is not an error. */
    if (!rc)
        rc = usage_rows_of_file(stream, 0, "\"usage\"", cancel, goat_hand_over_row, &w, e);
    arena_fini(&w.arena);
    arena_fini(&a);
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}
