#include "store/export/export.h"

#include "store/library/call.h"

_Static_assert((int)REPRISE_FORMAT_MARKDOWN == (int)EXPORT_MD &&
                   (int)REPRISE_FORMAT_HTML == (int)EXPORT_HTML &&
                   (int)REPRISE_FORMAT_TEXT == (int)EXPORT_TXT &&
                   (int)REPRISE_FORMAT_JSONL == (int)EXPORT_JSONL,
               "the values equal the internal ones");
_Static_assert((int)REPRISE_TOOLS_FOLDED == (int)EXPORT_TOOLS_FOLDED &&
                   (int)REPRISE_TOOLS_NONE == (int)EXPORT_TOOLS_NONE &&
                   (int)REPRISE_TOOLS_FULL == (int)EXPORT_TOOLS_FULL,
               "the values equal the internal ones");

struct receiver {
    reprise_piece_fn *fn; /* NULL: the document goes into a file */
    void *arg;
    const char *file;
};

static enum err_code library_hand_over(struct slice bytes, void *arg, struct err *e)
{
    const struct receiver *to = arg;

    return to->fn(bytes.p, bytes.n, to->arg)
               ? err_set(e, ERR_CANCELLED, "", "export: stopped by the caller")
               : ERR_OK;
}

static struct slice library_message_of(const char *name)
{
    return name ? slice_of(name) : (struct slice){ NULL, 0 };
}

static enum err_code export_to(const struct reprise_session *s,
                               const struct reprise_export_request *request, struct receiver *to,
                               struct reprise_export_result *result, struct err *e)
{
    struct reprise_export_request q;

    CLEANUP(export_summary_fini) struct export_summary sum = { .bytes = 0 };
    AUTO_ARENA a = { 0 };
    struct export_request req;
    struct session_ref now;
    bool replace;

    TRY(call_check_result(result, e));

    const uint32_t known = REPRISE_EXPORT_THINKING | REPRISE_EXPORT_AGENTS | REPRISE_EXPORT_REDACT |
                           REPRISE_EXPORT_REPLACE;

    TRY(call_options(request, &q, sizeof q, e));
    if (q.flags & ~known || q.format < 0 || q.format > REPRISE_FORMAT_JSONL || q.tools < 0 ||
        q.tools > REPRISE_TOOLS_FULL)
        return err_set(e, ERR_USAGE, "", "export: unknown flag, format or choice of tools");
    replace = q.flags & REPRISE_EXPORT_REPLACE;
    req = (struct export_request){ .format = (enum export_format)q.format,
                                   .tools = (enum export_tools)q.tools,
                                   .thinking = q.flags & REPRISE_EXPORT_THINKING,
                                   .subagents = q.flags & REPRISE_EXPORT_AGENTS,
                                   .redact = q.flags & REPRISE_EXPORT_REDACT,
                                   .branch = library_message_of(q.branch),
                                   .from = library_message_of(q.from),
                                   .to = library_message_of(q.to) };

    TRY(session_now(s, &a, &now, e));
    TRY(to->fn ? export_session(&now, &req, library_hand_over, to, &sum, e)
               : export_file(&now, &req, to->file, replace, &sum, e));
    const struct reprise_export_result done = { .size = sizeof done,
                                                .bytes = sum.bytes,
                                                .secrets = redact_counts_total(&sum.redacted),
                                                .unread_agents = sum.unread };

    return call_result(&done, sizeof done, result, e);
}

int reprise_export(const struct reprise_session *s, const struct reprise_export_request *request,
                   reprise_piece_fn *fn, void *arg, struct reprise_export_result *result,
                   struct reprise_error *error)
{
    if (!s || !fn)
        return call_refuse(error);

    struct receiver to = { .fn = fn, .arg = arg };

    CALL_RETURN(error, export_to(s, request, &to, result, e));
}

int reprise_export_file(const struct reprise_session *s,
                        const struct reprise_export_request *request, const char *file,
                        struct reprise_export_result *result, struct reprise_error *error)
{
    if (!s || !file)
        return call_refuse(error);

    struct receiver to = { .file = file };

    CALL_RETURN(error, export_to(s, request, &to, result, e));
}
