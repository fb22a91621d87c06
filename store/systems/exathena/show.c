#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/log/logfile.h"
#include "store/rewind/diff/linediff.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* The conversation as a person reads it: every event in the order of the file, whatever its kind, and lines that
 * nobody can read in their places. */

enum { TAIL_GROWS = 16 }; /* how much more than asked for a tail may take to hold one row at all */

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

static void add_lines(struct logfile *log, struct transcript *t)
{
    const struct index *ix = &log->index;

    for (size_t i = 0; i < ix->n; i++) {
        const struct index_line *line = &ix->line[i];
        bool torn = ix->torn_tail && i + 1 == ix->n;
        bool broken = line->state == LINE_BROKEN && !is_marked_event(log, i);

        if (line->state == LINE_BLANK || (broken && torn))
            continue;
        t->broken += broken;
        t->message[t->n++] =
            (struct message){ .offset = line->offset,
                              .length = line->length,
                              .line = (uint32_t)i,
                              .time_ms = line->time_ms,
                              .id = line->id,
                              .kind = broken ? (uint8_t)MESSAGE_OTHER : message_kind_of(line),
                              .flags = broken ? (uint8_t)MESSAGE_BROKEN : (uint8_t)0 };
    }
}

static enum err_code build_transcript(struct logfile *log, const char *path,
                                      struct transcript **out, struct err *e)
{
    const struct index *ix = &log->index;
    struct transcript *t = calloc(1, sizeof *t);

    if (!t || !(t->path = strdup(path)) ||
        !(t->message = malloc((ix->n + 1) * sizeof *t->message))) {
        transcript_free(t);
        return err_nomem(e);
    }
    t->id = log->file.id;
    t->size = t->id.size;
    t->lines = ix->n;
    transcript_set_end(t, ix);
    t->partial = ix->n ? ix->line[0].offset > 0 : false;
    add_lines(log, t);
    *out = t;
    return ERR_OK;
}

enum err_code exathena_load(const struct store *st, const struct session_ref *ref,
                            const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct logfile log;
    enum err_code rc = logfile_open(&log, ref->path.p, 0, &exathena_keys, cancel, e);

    (void)st;
    if (!rc) {
        rc = build_transcript(&log, ref->path.p, out, e);
        logfile_close(&log);
    }
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

/* One row may be larger than the window: then the window grows, up to a limit. */
enum err_code exathena_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                            struct transcript **out, struct err *e)
{
    size_t want = bytes ? bytes : 1, most = want < SIZE_MAX / TAIL_GROWS ? want * TAIL_GROWS : want;
    struct transcript *t = NULL;
    enum err_code rc;

    (void)st;
    for (;;) {
        struct logfile log;

        rc = logfile_open_tail(&log, ref->path.p, 0, &exathena_keys, want, e);
        if (rc)
            return err_wrap(e, rc, "load the conversation");
        rc = build_transcript(&log, ref->path.p, &t, e);
        if (!rc && log.index.n == 0 && log.file.id.size > 0)
            t->partial = true;
        logfile_close(&log);
        if (rc || t->n || !t->partial || want >= most)
            break;
        transcript_free(t);
        want = want > most / 4 ? most : want * 4;
    }
    if (!rc)
        *out = t;
    return rc;
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
