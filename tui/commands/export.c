#include "store/export/export.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"

/* `reprise export`: writes a session as a document to standard output or to a file, or several to a
 * directory. */

static bool is_to_stdout(const struct options *o)
{
    return !o->output || strcmp(o->output, "-") == 0;
}

/* Rows are exported whole, so options that would leave out parts of them are refused. */
static enum err_code check_request(const struct options *o, const struct export_request *req,
                                   struct err *e)
{
    const char *option = option_given(o, OPTION_TOOLS)      ? "--tools"
                         : option_given(o, OPTION_THINKING) ? "--thinking"
                                                            : NULL;

    if (req->format == EXPORT_JSONL && option)
        return err_set(e, ERR_USAGE, option, "not for jsonl, whose rows are written as they are");
    if (is_to_stdout(o) && option_given(o, OPTION_JSON))
        return err_set(e, ERR_USAGE, "--json",
                       "needs --output FILE, because the answer describes the file");
    return ERR_OK;
}

/* ---- standard output ---- */

static enum err_code command_export_write_piece(struct slice bytes, void *arg, struct err *e)
{
    struct out *out = arg;

    if (out->raw)
        out_add(out, bytes);
    else {
        /* The bytes of a row could act on a terminal, so they are cleaned. */
        struct slice line;
        bool torn;

        while (slice_line(&bytes, &line, &torn)) {
            out_text(out, line);
            out_addf(out, torn ? "" : "\n");
        }
    }
    return out_row(out, e);
}

/* ---- signals ----
 *
 * A signal ends an export to files in an orderly way, so that nothing half-written remains on any
 * file system: a thread waits for the signal and raises a flag that the export checks. Writing to
 * standard output ends at once, as in every command. */

struct interrupt {
    atomic_bool raised, ending; /* a signal came; the next one is our own, SIGUSR2 */
    int signal;
    sigset_t set, before;
    pthread_t thread;
    bool watching;
};

static void *wait_for_signal(void *arg)
{
    struct interrupt *i = arg;
    int got;

    if (sigwait(&i->set, &got) == 0 && !atomic_load(&i->ending)) {
        i->signal = got;
        atomic_store(&i->raised, true);
    }
    return NULL;
}

/* ---- the report ---- */

/* "reprise: 3 secrets were redacted: 2 github token, 1 random letters" */
void command_report_redacted(const struct invocation *in, const struct redact_counts *counts)
{
    struct out o;
    struct err ignored;
    size_t total = redact_counts_total(counts);

    out_init(&o, in->err_fd);
    out_addf(&o, "reprise: %zu secret%s redacted", total, total == 1 ? " was" : "s were");
    for (size_t i = 0; i < counts->n; i++)
        out_addf(&o, "%s %zu %s", i ? "," : ":", counts->count[i].n, counts->count[i].kind);
    out_addf(&o, "\nreprise: not looked for: " REDACT_NOT_LOOKED_FOR "\n");
    if (out_flush(&o, &ignored) == ERR_OK)
        out_fini(&o);
    else
        out_fini(&o);
}

void command_write_redacted(struct out *o, const struct redact_counts *counts)
{
    out_open(o, "redacted", '[');
    for (size_t i = 0; i < counts->n; i++) {
        out_open(o, NULL, '{');
        out_string(o, "kind", counts->count[i].kind);
        out_int(o, "count", (int64_t)counts->count[i].n);
        out_close(o, '}');
    }
    out_close(o, ']');
    out_string(o, "notLookedFor", REDACT_NOT_LOOKED_FOR);
}

static void write_summary_json(struct invocation *in, const char *file,
                               const struct session_ref *ref, const struct export_request *req,
                               const struct export_summary *sum)
{
    struct out *o = &in->out;

    out_open(o, NULL, '{');
    out_member(o, "sessionId", ref->id);
    out_string(o, "file", file);
    out_string(o, "format", export_format_name(req->format));
    out_int(o, "bytes", (int64_t)sum->bytes);
    out_int(o, "unreadSubagents", (int64_t)sum->unread);
    if (req->redact)
        command_write_redacted(o, &sum->redacted);
    (in->argc > 1 ? out_close : out_end)(o, '}'); /* one of an array */
}

/* file: NULL for standard output. */
static void report_export(struct invocation *in, const char *file, const struct session_ref *ref,
                          const struct export_request *req, const struct export_summary *sum)
{
    if (req->redact)
        command_report_redacted(in, &sum->redacted);
    if (sum->unread)
        command_warn(in, ERR_IO, in->argv[0], "sub-agents that cannot be read: %zu", sum->unread);
    if (file) {
        if (in->out.wants_json) {
            write_summary_json(in, file, ref, req, sum);
            return;
        }
        out_line(&in->out, "", slice_of(file));
    }
}

/* ---- several sessions ---- */

/* If a session cannot be written, the others still are. Returns the first failure, and reports
 * further ones. */
static enum err_code export_each(struct invocation *in, struct sessions *s,
                                 const struct session_ref *refs, const struct export_request *req,
                                 struct err *e)
{
    enum err_code failed = ERR_OK;

    for (int i = 0; i < in->argc && failed != ERR_CANCELLED; i++) {
        struct export_summary sum = { .bytes = 0 };
        struct err problem = { 0 };
        char path[EXPORT_PATH];
        bool first = true;
        enum err_code rc = sessions_is_first(s, &refs[i], &first, &problem);

        /* A session that is named twice is exported once. */
        if (!rc && !first)
            continue;

        if (!rc)
            rc = export_into(&refs[i], req, in->options.output,
                             option_given(&in->options, OPTION_FORCE), path, &sum, &problem);
        if (!rc)
            report_export(in, path, &refs[i], req, &sum);
        else if (failed && rc != ERR_CANCELLED)
            out_report(in->err_fd, &problem);
        else
            *e = problem;
        failed = failed && rc != ERR_CANCELLED ? failed : rc;
        export_summary_fini(&sum);
    }
    return failed;
}

static enum err_code export_several(struct invocation *in, struct sessions *s,
                                    const struct export_request *req, struct err *e)
{
    const struct options *o = &in->options;
    const char *one = o->branch ? "--branch" : o->from ? "--from" : o->to ? "--to" : NULL;
    struct session_ref *refs = NULL;
    enum err_code rc;

    if (is_to_stdout(o))
        return err_set(e, ERR_USAGE, "export", "several sessions need --output DIR/");
    if (one && in->argc > 1)
        return err_set(e, ERR_USAGE, one,
                       "names a message of one session, so only one session can be exported");
    TRY(sessions_find_all(s, in->argv, (size_t)in->argc, &refs, e));
    if (in->argc > 1 && in->out.wants_json)
        out_open(&in->out, NULL, '[');
    rc = export_each(in, s, refs, req, e);
    if (in->argc > 1 && in->out.wants_json)
        out_end(&in->out, ']');
    return rc;
}

/* ---- one session ---- */

static enum err_code export_one(struct invocation *in, struct sessions *s,
                                const struct export_request *req, struct err *e)
{
    const struct options *o = &in->options;
    struct export_summary sum = { .bytes = 0 };
    struct session_ref ref;
    enum err_code rc = sessions_find(s, in->argv[0], &ref, e);

    if (!rc && is_to_stdout(o)) {
        in->out.raw = req->format != EXPORT_JSONL || in->out.columns == 0;
        rc = export_session(&ref, req, command_export_write_piece, &in->out, &sum, e);
    } else if (!rc)
        rc = export_file(&ref, req, o->output, option_given(o, OPTION_FORCE), &sum, e);
    if (!rc)
        report_export(in, is_to_stdout(o) ? NULL : o->output, &ref, req, &sum);
    export_summary_fini(&sum);
    return rc;
}

static enum err_code export_sessions(struct invocation *in, const struct export_request *req,
                                     struct err *e)
{
    const char *name = in->options.output;
    struct sessions s;
    bool to_directory = name && *name && name[strlen(name) - 1] == '/';

    TRY(sessions_open(in, true, &s, e));
    enum err_code rc =
        in->argc > 1 || to_directory ? export_several(in, &s, req, e) : export_one(in, &s, req, e);

    sessions_close(&s);
    return rc;
}

enum err_code export_run(struct invocation *in, struct err *e)
{
    const char *dot = in->options.output ? strrchr(in->options.output, '.') : NULL;
    enum export_format named = dot ? export_format_of(dot + 1) : EXPORT_FORMATS;
    struct export_request req = {
        .format = option_given(&in->options, OPTION_FORMAT) ? (enum export_format)in->options.format
                  : named == EXPORT_FORMATS                 ? EXPORT_MD
                                                            : named, /* "notes.html" */
        .tools = (enum export_tools)in->options.tools,
        .thinking = option_given(&in->options, OPTION_THINKING),
        .subagents = option_given(&in->options, OPTION_WITH_SUBAGENTS),
        .redact = option_given(&in->options, OPTION_REDACT),
        .branch = option_text(in->options.branch),
        .from = option_text(in->options.from),
        .to = option_text(in->options.to),
    };
    struct interrupt interrupt;
    enum err_code rc = check_request(&in->options, &req, e);

    if (rc || is_to_stdout(&in->options))
        return rc ? rc : export_sessions(in, &req, e);

    /* A signal ends the export after the session that is being written. */
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR2 };

    interrupt = (struct interrupt){ .signal = 0 };
    sigemptyset(&interrupt.set);
    for (size_t n = 0; n < sizeof signals / sizeof *signals; n++) {
        struct sigaction now;

        /* Signals that nohup ignores stay ignored; sigwait would accept them. */
        if (signals[n] == SIGUSR2 ||
            (sigaction(signals[n], NULL, &now) == 0 && now.sa_handler != SIG_IGN))
            sigaddset(&interrupt.set, signals[n]);
    }
    pthread_sigmask(SIG_BLOCK, &interrupt.set, &interrupt.before);
    interrupt.watching = pthread_create(&interrupt.thread, NULL, wait_for_signal, &interrupt) == 0;
    if (!interrupt.watching)
        pthread_sigmask(SIG_SETMASK, &interrupt.before, NULL);

    req.cancel = &interrupt.raised;
    rc = export_sessions(in, &req, e);
    if (interrupt.watching) {
        atomic_store(&interrupt.ending, true);
        pthread_kill(interrupt.thread, SIGUSR2);
        pthread_join(interrupt.thread, NULL);
        pthread_sigmask(SIG_SETMASK, &interrupt.before, NULL);
        if (rc == ERR_CANCELLED)
            in->exit_code = 128 + interrupt.signal;
    }
    return rc;
}
