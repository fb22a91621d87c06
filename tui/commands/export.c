#include "store/export/export.h"

#include <stdio.h>
#include <string.h>

#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"

/* `reprise export`: a session as a document, to standard output or into a file. */

/* The format of a file's name: "notes.html". */
static enum export_format format_of_file(const char *file)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    enum export_format format = dot ? export_format_of(dot + 1) : EXPORT_FORMATS;

    return format == EXPORT_FORMATS ? EXPORT_MD : format;
}

static struct export_request request_of(const struct options *o)
{
    return (struct export_request){
        .format = option_given(o, OPTION_FORMAT) ? (enum export_format)o->format
                                                 : format_of_file(o->output),
        .tools = (enum export_tools)o->tools,
        .thinking = option_given(o, OPTION_THINKING),
        .subagents = option_given(o, OPTION_WITH_SUBAGENTS),
        .redact = option_given(o, OPTION_REDACT),
        .branch = option_text(o->branch),
        .from = option_text(o->from),
        .to = option_text(o->to),
    };
}

static bool is_to_stdout(const struct options *o)
{
    return !o->output || strcmp(o->output, "-") == 0;
}

/* Rows are not taken apart, so a person who asks to leave something out must not believe that it is. */
static enum err_code check_request(const struct options *o, const struct export_request *req,
                                   struct err *e)
{
    const char *option = option_given(o, OPTION_TOOLS)      ? "--tools"
                         : option_given(o, OPTION_THINKING) ? "--thinking"
                                                            : NULL;

    if (req->format == EXPORT_JSONL && option)
        return err_set(e, ERR_USAGE, option, "not for jsonl, whose rows are written as they are");
    if (is_to_stdout(o) && option_given(o, OPTION_JSON))
        return err_set(e, ERR_USAGE, "--json", "needs --output FILE: it describes the file");
    return ERR_OK;
}

/* ---- standard output ---- */

/* On a terminal the bytes of a row could act. */
static void write_cleaned(struct out *out, struct slice bytes)
{
    struct slice line;
    bool torn;

    while (slice_line(&bytes, &line, &torn)) {
        out_text(out, line);
        out_addf(out, torn ? "" : "\n");
    }
}

static enum err_code write_piece(struct slice bytes, void *arg, struct err *e)
{
    struct out *out = arg;

    if (out->raw)
        out_add(out, bytes);
    else
        write_cleaned(out, bytes);
    return out_row(out, e);
}

static enum err_code write_stdout(struct invocation *in, const struct session_ref *ref,
                                  const struct export_request *req, struct export_summary *sum,
                                  struct err *e)
{
    in->out.raw = req->format != EXPORT_JSONL || in->out.columns == 0;
    return export_session(ref, req, write_piece, &in->out, sum, e);
}

/* ---- the report ---- */

/* "reprise: 3 secrets were redacted: 2 github token, 1 random letters" */
static void report_redacted(const struct invocation *in, const struct redact_counts *counts)
{
    struct out o;
    struct err ignored;
    size_t total = redact_counts_total(counts);

    out_init(&o, in->err_fd);
    out_addf(&o, "reprise: %zu secret%s redacted", total, total == 1 ? " was" : "s were");
    for (size_t i = 0; i < counts->n; i++)
        out_addf(&o, "%s %zu %s", i ? "," : ":", counts->count[i].n, counts->count[i].kind);
    out_addf(&o, "\n");
    if (out_flush(&o, &ignored) == ERR_OK)
        out_fini(&o);
    else
        out_fini(&o);
}

static void write_summary_json(struct out *o, const char *file, const struct export_request *req,
                               const struct export_summary *sum)
{
    out_open(o, NULL, '{');
    out_string(o, "file", file);
    out_string(o, "format", export_format_name(req->format));
    out_int(o, "bytes", (int64_t)sum->bytes);
    out_int(o, "unreadSubagents", (int64_t)sum->unread);
    if (req->redact) {
        out_open(o, "redacted", '[');
        for (size_t i = 0; i < sum->redacted.n; i++) {
            out_open(o, NULL, '{');
            out_string(o, "kind", sum->redacted.count[i].kind);
            out_int(o, "count", (int64_t)sum->redacted.count[i].n);
            out_close(o, '}');
        }
        out_close(o, ']');
    }
    out_end(o, '}');
}

static void write_summary(struct invocation *in, const struct export_request *req,
                          const struct export_summary *sum)
{
    const char *file = in->options.output;

    if (in->out.wants_json) {
        write_summary_json(&in->out, file, req, sum);
        return;
    }
    out_text(&in->out, slice_of(file));
    out_addf(&in->out, "\n");
}

enum err_code export_session_run(struct invocation *in, struct sessions *s,
                                 const struct session_ref *ref, struct err *e)
{
    const struct options *o = &in->options;
    const struct export_request req = request_of(o);
    struct export_summary sum = { .bytes = 0 };
    enum err_code rc = check_request(o, &req, e);

    (void)s;
    if (!rc && is_to_stdout(o))
        rc = write_stdout(in, ref, &req, &sum, e);
    else if (!rc)
        rc = export_file(ref, &req, o->output, option_given(o, OPTION_FORCE), &sum, e);
    if (!rc && req.redact)
        report_redacted(in, &sum.redacted);
    if (!rc && sum.unread)
        command_warn(in, ERR_IO, in->argv[0], "sub-agents that cannot be read: %zu", sum.unread);
    if (!rc && !is_to_stdout(o))
        write_summary(in, &req, &sum);
    export_summary_fini(&sum);
    return rc;
}
