#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/bundle/bundle.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* `reprise bundle` and `reprise unbundle`: sessions in one file that another machine can read. */

/* ---- what is in a bundle ---- */

static void bundle_write_session_json(struct out *o, const struct bundle_session *s)
{
    out_open(o, NULL, '{');
    out_string(o, "system", s->agent);
    out_string(o, "sessionId", s->id);
    out_string(o, "title", s->title);
    out_string(o, "directory", s->directory);
    out_int(o, "messages", s->messages);
    out_int(o, "files", (int64_t)s->n);
    out_int(o, "bytes", s->bytes);
    if (s->repository.root) {
        out_open(o, "repository", '{');
        out_string(o, "root", s->repository.root);
        out_string(o, "commit", s->repository.commit);
        out_strings(o, "remotes", s->repository.remote, s->repository.remotes);
        out_close(o, '}');
    }
    out_close(o, '}');
}

static void bundle_write_session(struct out *o, const struct bundle_session *s)
{
    char size[HUMAN_SIZE];

    human_size(s->bytes, size);
    out_text(o, slice_of(s->agent));
    out_addf(o, ":");
    out_text(o, slice_of(s->id));
    out_addf(o, ": %lld message%s, %zu file%s, %s: ", (long long)s->messages,
             s->messages == 1 ? "" : "s", s->n, s->n == 1 ? "" : "s", size);
    out_line(o, "", slice_of(s->title));
}

static void bundle_write_sessions(struct out *o, const struct bundle *b)
{
    if (o->wants_json)
        out_open(o, "sessions", '[');
    for (size_t i = 0; i < b->n; i++)
        if (o->wants_json)
            bundle_write_session_json(o, &b->session[i]);
        else
            bundle_write_session(o, &b->session[i]);
    if (o->wants_json)
        out_close(o, ']');
}

static enum err_code bundle_list(struct invocation *in, struct err *e)
{
    CLEANUP(bundle_close_at) struct bundle_reader *r = NULL;
    struct out *o = &in->out;

    if (in->argc != 1)
        return err_set(e, ERR_USAGE, "--list", "needs the name of one bundle");
    TRY(bundle_open(in->argv[0], &r, e));
    const struct bundle *b = bundle_manifest(r);

    if (o->wants_json) {
        out_open(o, NULL, '{');
        if (b->made_ms != TIME_NONE)
            out_int(o, "madeMs", b->made_ms);
        out_bool(o, "redacted", b->redacted);
        bundle_write_sessions(o, b);
        out_end(o, '}');
        return ERR_OK;
    }
    bundle_write_sessions(o, b);
    return ERR_OK;
}

/* ---- making one ---- */

static void bundle_report(struct invocation *in, const struct bundle_written *w)
{
    struct out *o = &in->out;
    const struct bundle *b = &w->bundle;
    char size[HUMAN_SIZE];

    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_string(o, "file", in->options.output);
        out_int(o, "bytes", w->bytes);
        bundle_write_sessions(o, b);
        out_strings(o, "leftOut", w->left_out, w->left_outs);
        if (b->redacted)
            command_write_redacted(o, &w->redacted);
        out_end(o, '}');
        return;
    }

    bundle_write_sessions(o, b);
    for (size_t i = 0; i < w->left_outs; i++)
        out_line(o, "left out: ", slice_of(w->left_out[i]));
    human_size(w->bytes, size);
    out_text(o, slice_of(in->options.output));
    out_addf(o, ": %zu session%s, %s\n", b->n, b->n == 1 ? "" : "s", size);
    if (b->redacted)
        command_report_redacted(in, &w->redacted);
}

static enum err_code bundle_make(struct invocation *in, struct sessions *s, struct err *e)
{
    const struct options *o = &in->options;
    const struct bundle_request req = { .env = &in->world->env,
                                        .path = o->output,
                                        .redact = option_given(o, OPTION_REDACT),
                                        .replace = option_given(o, OPTION_FORCE) };
    struct bundle_written w;
    struct session_ref *ref;
    size_t n = 0;
    bool first;

    TRY(sessions_find_all(s, in->argv, (size_t)in->argc, &ref, e));
    for (int i = 0; i < in->argc; i++) {
        TRY(sessions_is_first(s, &ref[i], &first, e));
        if (first)
            ref[n++] = ref[i];
    }
    TRY(bundle_write(ref, n, &req, &w, e));
    bundle_report(in, &w);
    bundle_written_fini(&w);
    return ERR_OK;
}

enum err_code bundle_run(struct invocation *in, struct err *e)
{
    const struct options *o = &in->options;
    struct sessions s;

    if (option_given(o, OPTION_LIST))
        return bundle_list(in, e);
    if (!in->argc)
        return err_set(e, ERR_USAGE, "", "bundle: needs the ids of sessions");
    if (!o->output || strcmp(o->output, "-") == 0)
        return err_set(e, ERR_USAGE, "", "bundle: needs --output FILE");
    TRY(sessions_open(in, true, &s, e));
    const enum err_code rc = bundle_make(in, &s, e);

    sessions_close(&s);
    return rc;
}

/* ---- unpacking one ---- */

static void unbundle_write_json(struct out *o, const struct unbundle *u)
{
    out_open(o, NULL, '{');
    out_bool(o, "dryRun", !u->done);
    out_open(o, "sessions", '[');
    for (size_t i = 0; i < u->n; i++) {
        const struct unbundle_item *x = &u->item[i];

        out_open(o, NULL, '{');
        out_string(o, "system", x->session->agent);
        out_string(o, "sessionId", x->session->id);
        out_string(o, "title", x->session->title);
        out_string(o, "from", x->from);
        if (!x->why && x->to)
            out_string(o, "to", x->to);
        if (!x->why) {
            out_string(o, "path", x->path);
            out_open(o, "parts", '[');
            for (size_t k = 0; k < x->n; k++)
                jsonout_text(out_json(o), slice_of(x->part[k].to));
            out_close(o, ']');
        }
        out_string(o, "note", x->note);
        out_string(o, "why", x->why);
        out_close(o, '}');
    }
    out_close(o, ']');
    if (u->done)
        out_string(o, "change", u->change->id);
    out_end(o, '}');
}

static void unbundle_write_item(struct out *o, const struct unbundle_item *x, bool done)
{
    bundle_write_session(o, x->session);
    if (x->why) {
        out_line(o, "    not unpacked: ", slice_of(x->why));
        return;
    }
    for (size_t k = 0; k < x->n; k++) {
        out_addf(o, done ? "    unpacked: " : "    would unpack: ");
        out_line(o, "", slice_of(x->part[k].to));
    }
    if (x->to) {
        out_addf(o, "    for the directory ");
        out_text(o, slice_of(x->to));
        if (x->from && strcmp(x->from, x->to) != 0) {
            out_addf(o, ", which was ");
            out_text(o, slice_of(x->from));
        }
        out_addf(o, "\n");
    }
    if (x->note)
        out_addf(o, "    %s\n", x->note);
}

static enum err_code unbundle_all(struct invocation *in, struct sessions *s, struct err *e)
{
    CLEANUP(bundle_close_at) struct bundle_reader *r = NULL;
    CLEANUP(unbundle_fini) struct unbundle u = { .n = 0 };
    const struct store_env *env = &in->world->env;

    TRY(bundle_open(in->argv[0], &r, e));
    TRY(unbundle_plan(r, s->store, s->n, env, in->options.to, &u, e));
    if (option_given(&in->options, OPTION_APPLY) && u.placing) {
        TRY(unbundle_do(&u, env, e));
        in->done = true;
    }

    /* A session that cannot be unpacked does not stop the others, but the exit code reports it. */
    size_t left = 0;
    enum err_code code = ERR_OK;

    if (in->out.wants_json)
        unbundle_write_json(&in->out, &u);
    else {
        const char *plural = u.placing == 1 ? "" : "s";

        for (size_t i = 0; i < u.n; i++)
            unbundle_write_item(&in->out, &u.item[i], u.done);
        if (u.done)
            out_addf(&in->out, "unpacked: %zu session%s" OUT_UNDO_WITH "\n", u.placing, plural,
                     u.change->id);
        else
            out_addf(&in->out, "%zu session%s would be unpacked; nothing was changed%s\n",
                     u.placing, plural, u.placing ? " (--apply does it)" : "");
    }
    for (size_t i = 0; i < u.n; i++)
        if (u.item[i].why) {
            code = u.item[i].code;
            left++;
        } else if (u.done) {
            session_warn_expired(in, s,
                                 &(struct session_placed){ u.item[i].session->agent,
                                                           slice_of(u.item[i].session->id),
                                                           u.item[i].path },
                                 "resume it first");
        }
    if (!left)
        return ERR_OK;
    TRY(out_flush(&in->out, e));
    in->done = false;
    return err_set(e, code, "", "unbundle: %zu of %zu sessions were not unpacked", left, u.n);
}

enum err_code unbundle_run(struct invocation *in, struct err *e)
{
    struct sessions s;

    TRY(sessions_open(in, true, &s, e));
    const enum err_code rc = unbundle_all(in, &s, e);

    sessions_close(&s);
    return rc;
}
