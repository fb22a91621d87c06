#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/log/logfile.h"
#include "store/rewind/diff/linediff.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* The conversation as a person reads it: every event in the order of the file, whatever its kind, and lines that
 * nobody can read in their places. */

static uint8_t message_kind_of(const struct index_line *line)
{
    switch (line->kind) {
    case EVENT_USER: return MESSAGE_USER;
    case EVENT_ASSISTANT: return MESSAGE_ASSISTANT;
    case EVENT_TOOL: return MESSAGE_TOOL;
    case EVENT_SYSTEM:
    case EVENT_START:
    case EVENT_RESUME: return MESSAGE_SYSTEM;
    default: return MESSAGE_OTHER;
    }
}

/* A first line behind a byte order mark is none to the index. */
static bool is_marked_event(struct logfile *log, size_t line)
{
    struct arena a = { 0 };
    struct event ev;
    struct slice row;
    bool is = line == 0 && log->index.line[0].offset == 0 && !logfile_row(log, 0, &row, NULL) &&
              slice_starts(row, "\xef\xbb\xbf") && event_read(row, &a, &ev);

    arena_fini(&a);
    return is;
}

static enum err_code judge_event(struct logfile *log, size_t line, struct message *m, bool *keep,
                                 struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    bool broken = ix->state == LINE_BROKEN && !is_marked_event(log, line);

    (void)keep;
    (void)e;
    m->kind = broken ? (uint8_t)MESSAGE_OTHER : message_kind_of(ix);
    m->flags = broken ? (uint8_t)MESSAGE_BROKEN : (uint8_t)0;
    return ERR_OK;
}

static struct jsonl_log log_of(const struct session_ref *ref)
{
    return (struct jsonl_log){ .path = ref->path.p, .keys = &exathena_keys, .judge = judge_event };
}

enum err_code exathena_load(const struct store *st, const struct session_ref *ref,
                            const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    const struct jsonl_log log = log_of(ref);

    (void)st;
    return jsonl_load(&log, cancel, out, e);
}

enum err_code exathena_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                            struct transcript **out, struct err *e)
{
    const struct jsonl_log log = log_of(ref);

    (void)st;
    return jsonl_tail(&log, bytes, out, e);
}

/* One event, taken apart for a reader. What it says in a way not known here becomes a note or its raw bytes, never
 * nothing. */

struct blocks {
    struct block_list *out;
    enum err_code rc;
};

static void add_event_block(struct blocks *b, struct block block)
{
    if (!b->rc)
        b->rc = transcript_block_add(b->out, &block);
}

static struct slice decode_event_text(struct blocks *b, struct slice object, const char *name)
{
    struct slice text;

    if (!event_text(object, name, &b->out->arena, &text))
        b->rc = ERR_NOMEM;
    return text;
}

/* ---- what a tool did to a file ---- */

enum { CONTEXT = 3, DIFF_MOST = 1 << 20 };

static void write_diff_line(struct jsonout *j, const struct linediff_line *l)
{
    struct buf line = { 0 };

    if (buf_add_byte(&line, l->sign) || buf_add(&line, l->text))
        j->rc = ERR_NOMEM;
    else
        jsonout_text(j, buf_slice(&line));
    buf_fini(&line);
}

static void write_number(struct jsonout *j, const char *key, unsigned n)
{
    jsonout_key(j, key);
    jsonout_int(j, n);
}

static void write_patch(struct jsonout *j, const struct linediff *d)
{
    jsonout_open(j, '[');
    for (size_t i = 0; i < d->hunks; i++) {
        const struct linediff_hunk *h = &d->hunk[i];

        jsonout_open(j, '{');
        write_number(j, "oldStart", h->old_start);
        write_number(j, "oldLines", h->old_lines);
        write_number(j, "newStart", h->new_start);
        write_number(j, "newLines", h->new_lines);
        jsonout_key(j, "lines");
        jsonout_open(j, '[');
        for (size_t k = 0; k < h->n; k++)
            write_diff_line(j, &d->line[h->first + k]);
        jsonout_close(j, ']');
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
}

/* The payload holds the file before and after: real differences. Empty where there is no such payload. */
static struct slice patch_of(struct blocks *b, struct slice result)
{
    struct slice ui, payload, kind = { NULL, 0 }, patch = { NULL, 0 };
    struct linediff d;
    struct buf out = { 0 };
    struct jsonout j;

    if (!event_member(result, "ui_payload", &ui) || !event_member(ui, "payload", &payload))
        return patch;
    kind = decode_event_text(b, ui, "kind");
    struct slice before = decode_event_text(b, payload, "before"),
                 after = decode_event_text(b, payload, "after");

    if (b->rc || !slice_eq(kind, SLICE("diff")) || before.n > DIFF_MOST || after.n > DIFF_MOST ||
        linediff_make(before, after, CONTEXT, &d, NULL))
        return patch;
    jsonout_init(&j, &out);
    write_patch(&j, &d);
    if (!j.rc)
        patch = arena_copy(&b->out->arena, buf_slice(&out));
    if (!patch.p)
        b->rc = ERR_NOMEM;
    linediff_fini(&d);
    buf_fini(&out);
    return patch;
}

/* ---- messages ---- */

static void put_calls(struct blocks *b, struct slice message)
{
    struct slice calls, key, call, input;
    struct json_iter it;

    event_member(message, "tool_calls", &calls);
    if (json_type(calls) != JSON_ARRAY || !json_iter_open(&it, calls))
        return;
    while (json_iter_next(&it, &key, &call)) {
        event_member(call, "arguments", &input);
        add_event_block(b, (struct block){ .kind = BLOCK_TOOL_CALL,
                                           .name = decode_event_text(b, call, "name"),
                                           .input = input,
                                           .call_id = decode_event_text(b, call, "id") });
    }
}

static void put_results(struct blocks *b, struct slice message)
{
    struct slice results, key, result, failed;
    struct json_iter it;

    event_member(message, "tool_results", &results);
    if (json_type(results) != JSON_ARRAY || !json_iter_open(&it, results))
        return;
    while (json_iter_next(&it, &key, &result)) {
        event_member(result, "is_error", &failed);
        add_event_block(b, (struct block){ .kind = BLOCK_TOOL_RESULT,
                                           .text = decode_event_text(b, result, "content"),
                                           .call_id = decode_event_text(b, result, "tool_call_id"),
                                           .patch = patch_of(b, result),
                                           .failed = json_type(failed) == JSON_TRUE });
    }
}

static void put_message(struct blocks *b, const struct event *ev)
{
    struct block said = { .kind = BLOCK_TEXT };

    if (!event_said(ev, &b->out->arena, &said.text))
        b->rc = ERR_NOMEM;
    if (slice_eq(ev->role, SLICE("user")))
        said.kind = BLOCK_PROMPT;
    if (slice_eq(ev->role, SLICE("system"))) {
        said.kind = BLOCK_NOTE;
        said.name = ev->role;
    }
    if (said.text.n)
        add_event_block(b, said);
    put_calls(b, ev->message);
    put_results(b, ev->message);
}

/* ---- a finished run of a sub-agent ---- */

static void put_run(struct blocks *b, struct slice line)
{
    struct slice result, ok;

    add_event_block(
        b, (struct block){ .kind = BLOCK_PROMPT, .text = decode_event_text(b, line, "prompt") });
    event_member(line, "result", &result);
    event_member(result, "ok", &ok);
    if (json_type(ok) == JSON_TRUE)
        add_event_block(
            b, (struct block){ .kind = BLOCK_TEXT, .text = decode_event_text(b, result, "text") });
    else
        add_event_block(b, (struct block){ .kind = BLOCK_NOTE,
                                           .name = SLICE("error"),
                                           .text = decode_event_text(b, result, "error"),
                                           .failed = true });
}

enum err_code exathena_blocks(const struct store *st, struct slice row, struct block_list *out,
                              struct err *e)
{
    struct blocks b = { .out = out };
    struct event ev;
    struct slice run;

    (void)st;
    if (!event_read(row, &out->arena, &ev))
        add_event_block(&b, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (ev.message.n)
        put_message(&b, &ev);
    else if (!ev.kind.n && event_member(row, "subagent_id", &run))
        put_run(&b, row);
    else
        add_event_block(&b, (struct block){ .kind = BLOCK_NOTE, .name = ev.kind, .text = ev.data });
    if (!b.rc && out->n == 0)
        add_event_block(&b, (struct block){ .kind = BLOCK_NOTE, .name = ev.kind });
    return b.rc ? err_nomem(e) : ERR_OK;
}
