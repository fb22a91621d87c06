#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "lite/base/time.h"
#include "store/export/export_internal.h"

enum { PIECE = 64 * 1024 };

static void export_out_hand_over(struct export_out *o, struct slice bytes)
{
    if (o->rc || bytes.n == 0)
        return;
    o->rc = o->write(bytes, o->arg, &o->err);
    o->bytes += bytes.n;
}

void export_out_flush(struct export_out *o)
{
    export_out_hand_over(o, buf_slice(&o->buf));
    o->buf.n = 0;
}

void export_out_add(struct export_out *o, struct slice bytes)
{
    if (bytes.n >= PIECE) {
        export_out_flush(o);
        export_out_hand_over(o, bytes);
        return;
    }
    if (o->rc)
        return;
    if (buf_add(&o->buf, bytes))
        o->rc = ERR_NOMEM;
    else if (o->buf.n >= PIECE)
        export_out_flush(o);
}

void export_out_lit(struct export_out *o, const char *literal)
{
    export_out_add(o, slice_of(literal));
}

void export_out_addf(struct export_out *o, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);

    va_end(ap);
    if (n > 0)
        export_out_add(
            o, (struct slice){ text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1 });
}

const char *export_outcome(const struct export_tool *t, char out[32])
{
    struct slice digits;

    if (!t->result || !t->result->failed)
        return "ok";
    if (!tool_call_exit_code(tool_call_result(t->result), &digits))
        return "failed";
    snprintf(out, 32, "exit %.*s", SLICE_ARG(digits));
    return out;
}

void export_section_name(struct export_out *o, const struct export_section *s, export_line_fn *line)
{
    export_out_addf(o, "Sub-agent %zu", s->number);
    export_out_lit(o, s->type.n ? ", " : "");
    line(o, s->type, 60);
    export_out_lit(o, s->task.n ? ": " : "");
    line(o, s->task, EXPORT_TITLE_MAX);
}

/* "image png, 48 KB" */
void export_media(struct export_out *o, const char *before, const struct block *b,
                  export_line_fn *line, const char *after)
{
    struct buf label = { 0 };
    enum err_code rc = buf_addf(&label, "%s", b->kind == BLOCK_IMAGE ? "image" : "document");
    const char *slash = b->name.n ? memchr(b->name.p, '/', b->name.n) : NULL;
    size_t skip = slash ? (size_t)(slash + 1 - b->name.p) : 0;
    const struct slice parts[] = { { b->name.p + skip, b->name.n - skip }, b->text };

    for (size_t i = 0; !rc && i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].n == 0)
            continue;
        rc = buf_add_byte(&label, ' ');
        if (!rc)
            rc = buf_add(&label, parts[i]);
    }
    if (!rc && b->bytes > 0)
        rc = buf_addf(&label, ", %" PRId64 " KB", (b->bytes + 1023) / 1024);
    export_out_lit(o, before);
    if (rc)
        o->rc = rc;
    else
        line(o, buf_slice(&label), 300);
    export_out_lit(o, after);
    buf_fini(&label);
}

void export_time(int64_t ms, char out[EXPORT_TIME])
{
    char iso[TIME_TEXT];

    time_format(ms, iso);
    if (strlen(iso) < 16 || iso[10] != 'T') {
        snprintf(out, EXPORT_TIME, "%s", iso);
        return;
    }
    iso[10] = ' ';
    snprintf(out, EXPORT_TIME, "%.16s UTC", iso);
}

void export_facts(struct export_out *o, const struct export_head *head, export_fact_fn *fn)
{
    char begun[EXPORT_TIME] = "", last[EXPORT_TIME] = "";

    if (head->created_ms != TIME_NONE)
        export_time(head->created_ms, begun);
    if (head->modified_ms != TIME_NONE)
        export_time(head->modified_ms, last);
    const struct {
        const char *name;
        struct slice value;
        bool own;
    } facts[] = { { "Project", head->project, false },
                  { "Branch", head->branch, false },
                  { "Model", head->model, false },
                  { "Begun", slice_of(begun), true },
                  { "Last message", slice_of(last), true } };

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].value.n)
            fn(o, facts[i].name, facts[i].value, facts[i].own);
}
