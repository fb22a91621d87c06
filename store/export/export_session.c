#include "store/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/export/export_internal.h"
#include "store/show/row_window.h"

/* Reads a session row by row and passes what a person would read to the writer of the format. A call is written together
 * with its result, which row_window.h finds. */

struct export
{
    const struct session_ref *ref;
    const struct export_request *req;
    const struct export_writer *writer;
    struct export_out *o;
    struct export_summary *sum;
    struct arena arena;
    struct slice root; /* the session's directory */
    struct export_section *section;
    size_t sections;

    /* about the conversation that is being written */
    size_t number; /* the number of its section; 0: the session's own */
    struct export_part part;
    struct row_window rows;
    enum export_speaker speaker; /* the speaker of the last message */
    bool open;                   /* a message was begun */
};

static const char *const names[EXPORT_FORMATS] = { "md", "html", "txt", "jsonl" };

const char *export_format_name(enum export_format format)
{
    return names[format];
}

enum export_format export_format_of(const char *name)
{
    unsigned i = 0;

    while (i < EXPORT_FORMATS && strcmp(names[i], name) != 0)
        i++;
    return (enum export_format)i;
}

void export_summary_fini(struct export_summary *s)
{
    redact_counts_fini(&s->redacted);
}

/* ---- rows ---- */

static enum err_code redact_row(struct buf *bytes, void *arg)
{
    struct export *x = arg;
    AUTO_BUF clean = { 0 };

    TRY(redact_json_rows(buf_slice(bytes), &clean, &x->sum->redacted));
    buf_fini(bytes);
    HAND_OVER(bytes, clean);
    return ERR_OK;
}

/* ---- blocks ---- */

static enum export_speaker speaker_of(const struct block *b, const struct message *m)
{
    switch (b->kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: return EXPORT_USER;
    case BLOCK_TEXT:
    case BLOCK_THINKING:
    case BLOCK_TOOL_CALL:
    case BLOCK_TOOL_RESULT: return EXPORT_AGENT;
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT:
        return b->call_id.n == 0 && m->kind == MESSAGE_USER ? EXPORT_USER : EXPORT_AGENT;
    case BLOCK_NOTE:
    case BLOCK_SEAM:
    case BLOCK_RAW: break;
    }
    return EXPORT_NO_SPEAKER;
}

/* Begins the message of a row with its first block that is written. */
static void begin_message(struct export *x, const struct row_read *r, enum export_speaker speaker)
{
    if (x->open)
        return;
    const struct export_message m = { .section = x->number,
                                      .number = r->at + 1,
                                      .speaker = speaker,
                                      .again = speaker == x->speaker,
                                      .time_ms = x->part.t->message[r->at].time_ms };

    x->writer->message(x->o, &m);
    x->open = true;
    if (speaker != EXPORT_NO_SPEAKER)
        x->speaker = speaker;
}

static size_t section_of(const struct export *x, const struct block *call,
                         const struct block *result)
{
    struct slice agent = result && result->agent.n ? result->agent
                         : call                    ? call->agent
                                                   : (struct slice){ NULL, 0 };

    for (size_t i = 0; agent.n && i < x->sections; i++)
        if (slice_eq(x->section[i].id, agent))
            return x->section[i].number;
    return 0;
}

static enum err_code write_tool(struct export *x, const struct block *call,
                                const struct block *result, struct err *e)
{
    struct export_tool t = { .call = call,
                             .result = result,
                             .open = x->req->tools == EXPORT_TOOLS_FULL,
                             .section = section_of(x, call, result) };
    AUTO_ARENA a = { 0 };
    AUTO_BUF input = { 0 };
    const bool known = !call || !export_tool_describe(&t, x->root, &a, &input);

    /* The answer of a tool to an edit contains no more than the edit. */
    if (known && result && (t.hunks.n <= 0 || t.open || t.result->failed))
        t.output = tool_call_result(result);
    if (known && !a.failed)
        x->writer->tool(x->o, &t);
    hunks_fini(&t.hunks);
    return known && !a.failed ? ERR_OK : err_nomem(e);
}

static void write_note(struct export *x, const struct row_read *r, const struct block *b)
{
    bool full = x->req->tools == EXPORT_TOOLS_FULL;
    /* the output of a command of the person's, whose lines are as in the terminal */
    struct slice output = slice_eq(b->name, SLICE("output")) ? utf8_js_trim(b->text) : SLICE("");
    bool has_lines = output.n && memchr(output.p, '\n', output.n);
    const struct export_note note = { .name = b->name.n ? b->name : SLICE("note"),
                                      .text = b->text,
                                      .failed = b->failed,
                                      .open = (full || has_lines) && b->text.n > 0,
                                      .summary = slice_eq(b->name, SLICE("summary")) };
    bool quiet =
        b->text.n == 0 || slice_eq(b->name, SLICE("meta")) || x->req->tools == EXPORT_TOOLS_NONE;

    if (quiet && !full && !note.failed && !note.summary)
        return;
    begin_message(x, r, EXPORT_NO_SPEAKER);
    x->writer->note(x->o, &note);
}

static bool export_session_is_wanted(const struct export *x, const struct row_read *r, size_t i)
{
    const struct block *b = &r->blocks.block[i];
    bool tools = x->req->tools != EXPORT_TOOLS_NONE;

    switch (b->kind) {
    case BLOCK_THINKING: return x->req->thinking && b->text.n > 0;
    case BLOCK_TOOL_CALL: return tools;
    case BLOCK_TOOL_RESULT: return tools && !row_window_is_taken(r, i);
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT: return tools || b->call_id.n == 0;
    default: return true;
    }
}

static enum err_code export_session_write_block(struct export *x, const struct row_read *r,
                                                const struct block *b, struct err *e)
{
    const struct export_writer *w = x->writer;

    if (b->kind == BLOCK_TOOL_CALL) {
        const struct block *result;

        /* A result is written with its call, even if it is recorded much later. */
        TRY(row_window_result(&x->rows, b->call_id, &result, e));
        begin_message(x, r, EXPORT_AGENT);
        return write_tool(x, b, result, e);
    }
    if (b->kind == BLOCK_NOTE) {
        write_note(x, r, b);
        return ERR_OK;
    }
    begin_message(x, r, speaker_of(b, &x->part.t->message[r->at]));
    switch (b->kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: w->prompt(x->o, b->text, b->kind == BLOCK_COMMAND); break;
    case BLOCK_TEXT: w->reply(x->o, b->text, b->failed); break;
    case BLOCK_THINKING: w->thinking(x->o, b->text, x->req->tools == EXPORT_TOOLS_FULL); break;
    case BLOCK_TOOL_RESULT: return write_tool(x, NULL, b, e);
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT: w->media(x->o, b); break;
    case BLOCK_SEAM:
        w->seam(x->o, b->text.n ? b->text : SLICE("The conversation was compacted here"));
        break;
    default: w->raw(x->o, b->text); break;
    }
    return ERR_OK;
}

static enum err_code write_conversation(struct export *x, const struct session_ref *ref,
                                        struct err *e)
{
    TRY(export_part_open(&x->part, ref, x->req, x->number > 0, e));
    x->rows = (struct row_window){ .store = ref->store,
                                   .t = x->part.t,
                                   .next = x->part.from,
                                   .end = x->part.to,
                                   .cancel = x->req->cancel,
                                   .change = x->req->redact ? redact_row : NULL,
                                   .arg = x };
    x->speaker = EXPORT_NO_SPEAKER;
    enum err_code rc = ERR_OK;

    for (struct row_read *row; !rc && !x->o->rc; row_window_remove(&x->rows)) {
        rc = row_window_first(&x->rows, &row, e);
        if (rc || !row)
            break;
        x->open = false;
        for (size_t i = 0; !rc && !x->o->rc && i < row->blocks.n; i++)
            if (export_session_is_wanted(x, row, i))
                rc = export_session_write_block(x, row, &row->blocks.block[i], e);

        /* A row without a wanted block began no message. */
        if (x->open)
            export_out_lit(x->o, x->writer->message_end);
        x->sum->messages++;
    }
    row_window_fini(&x->rows);
    export_part_close(&x->part);
    return rc;
}

/* ---- sub-agents ---- */

static struct slice redacted(struct export *x, struct slice text)
{
    AUTO_BUF clean = { 0 };

    if (!x->req->redact || text.n == 0)
        return text;
    if (redact_text(text, &clean, &x->sum->redacted) == ERR_OK)
        return arena_copy(&x->arena, buf_slice(&clean));
    x->arena.failed = true;
    return text;
}

static const struct subagent *described(const struct subagent_list *list, struct slice id)
{
    for (size_t i = 0; i < list->n; i++)
        if (slice_eq(list->agent[i].id, id))
            return &list->agent[i];
    return NULL;
}

static enum err_code find_subagents(struct export *x, struct err *e)
{
    const struct store *st = x->ref->store;
    CLEANUP(subagent_list_fini) struct subagent_list list = { .n = 0 };
    struct slice *ids = NULL;
    size_t n = 0;

    if (!x->req->subagents || !st->ops->subagents || !st->ops->subagent)
        return ERR_OK;
    TRY(st->ops->subagents(st, x->ref, &x->arena, &ids, &n, e));
    if (!n)
        return ERR_OK;
    TRY(store_describe_subagents(x->ref, x->req->cancel, &list, e));
    NEED(x->section = arena_zalloc(&x->arena, (n + 1) * sizeof *x->section));
    for (size_t i = 0; i < n; i++) {
        const struct subagent *d = described(&list, ids[i]);

        x->section[i] = (struct export_section){ .number = i + 1, .id = ids[i] };

        /* A sub-agent that cannot be described has a section all the same. */
        if (d) {
            x->section[i].type = redacted(x, arena_copy(&x->arena, d->type));
            x->section[i].task = redacted(x, arena_copy(&x->arena, d->task));
        }
    }
    x->sections = n;
    NEED(!x->arena.failed);
    return ERR_OK;
}

/* A sub-agent that has disappeared or cannot be read is skipped. */
static enum err_code export_session_write_subagent(struct export *x, const struct export_section *s,
                                                   struct err *e)
{
    const struct store *st = x->ref->store;
    struct session_ref ref;
    struct err why = { .code = ERR_OK };
    enum err_code rc = st->ops->subagent(st, x->ref, s->id, &x->arena, &ref, &why);

    x->number = s->number;
    if (x->writer)
        x->writer->section(x->o, s);
    if (!rc)
        rc = x->writer ? write_conversation(x, &ref, &why)
                       : export_jsonl(x->o, &ref, x->req, true, x->sum, &why);
    if (rc == ERR_NOMEM || rc == ERR_CANCELLED || !rc) {
        if (e && rc)
            *e = why;
        return rc;
    }
    x->sum->unread++;
    if (x->writer)
        x->writer->seam(x->o, SLICE("This sub-agent cannot be read"));
    return ERR_OK;
}

static enum err_code write_subagents(struct export *x, struct err *e)
{
    for (size_t i = 0; !x->o->rc && i < x->sections; i++)
        TRY(export_session_write_subagent(x, &x->section[i], e));
    return ERR_OK;
}

/* ---- the document ---- */

static enum err_code write_document(struct export *x, struct err *e)
{
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();

    NEED(row);

    /* The sub-agents are numbered first, because the conversation refers to their numbers. */
    TRY(find_subagents(x, e));

    const struct store *st = x->ref->store;
    const struct scope scope = { .all = true };

    TRY(st->ops->describe(st, &scope, x->ref, row, e));
    x->root = row->cwd;
    const struct export_head head = {
        .title = redacted(x, session_row_title(row)),
        .id = x->ref->id,
        .project = redacted(x, row->cwd),
        .branch = redacted(x, row->git_branch),
        .model = row->model,
        .system = st->ops->name,
        .created_ms = row->created_ms,
        .modified_ms = row->activity_ms,
    };

    if (x->arena.failed)
        return err_nomem(e);
    x->writer->begin(x->o, &head);

    if (x->sections)
        x->writer->contents(x->o, x->section, x->sections);
    TRY(write_conversation(x, x->ref, e));
    TRY(write_subagents(x, e));
    export_out_lit(x->o, x->writer->end);
    return ERR_OK;
}

static enum err_code export_session_write_rows(struct export *x, struct err *e)
{
    TRY(export_jsonl(x->o, x->ref, x->req, false, x->sum, e));
    TRY(find_subagents(x, e));
    return write_subagents(x, e);
}

static enum err_code write_export(const struct session_ref *ref, const struct export_request *req,
                                  export_write_fn *write, void *arg, struct export_summary *out,
                                  struct err *e)
{
    static const struct export_writer *const writers[EXPORT_FORMATS] = { &export_md, &export_html,
                                                                         &export_txt, NULL };
    struct export_out o = { .write = write, .arg = arg };
    struct export *x = calloc(1, sizeof *x);
    enum err_code rc = x ? ERR_OK : err_nomem(e);

    if (x) {
        *x = (struct export){ .ref = ref, .req = req, .o = &o, .sum = out };
        x->writer = writers[req->format];
        rc = x->writer ? write_document(x, e) : export_session_write_rows(x, e);
        arena_fini(&x->arena);
    }
    if (!rc)
        export_out_flush(&o);

    /* The error of the function that writes is reported, if it set one. */
    if (!rc && o.rc) {
        rc = o.rc;
        if (e && o.err.code)
            *e = o.err;
        else
            err_nomem(e);
    }
    out->bytes = o.bytes;
    buf_fini(&o.buf);
    free(x);
    return rc;
}

static enum err_code discard(struct slice bytes, void *arg, struct err *e)
{
    (void)bytes;
    (void)arg;
    (void)e;
    return ERR_OK;
}

enum err_code export_session(const struct session_ref *ref, const struct export_request *req,
                             export_write_fn *write, void *arg, struct export_summary *out,
                             struct err *e)
{
    *out = (struct export_summary){ .bytes = 0 };

    /* A secret may stand above the row that names it, or outside the part that is exported. */
    if (req->redact) {
        const struct export_request whole = {
            .format = EXPORT_JSONL, .subagents = true, .redact = true, .cancel = req->cancel
        };
        struct export_summary learned = { .redacted.learns = true };
        enum err_code rc = write_export(ref, &whole, discard, NULL, &learned, e);

        out->redacted.known = learned.redacted.known;
        out->redacted.learned = true;
        learned.redacted.known = NULL;
        export_summary_fini(&learned);
        if (rc)
            return rc;
    }
    return write_export(ref, req, write, arg, out, e);
}
