#include <errno.h>
#include <unistd.h>

#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "tui/commands/sessions.h"

enum { PIECE = 64 * 1024, MOST = 1 << 30 };

/* All of it, before anything is written: a host that dies in the middle of a row has appended nothing. */
static enum err_code read_rows_input(struct buf *text, struct err *e)
{
    ssize_t n = 1;

    while (n > 0) {
        if (text->n > MOST)
            return err_set(e, ERR_USAGE, "stdin", "append: more than a gigabyte");
        if (buf_reserve(text, PIECE))
            return err_nomem(e);
        do
            n = read(STDIN_FILENO, text->p + text->n, PIECE);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return err_sys(e, "stdin", "append: read rows");
        text->n += (size_t)n;
    }
    return ERR_OK;
}

static enum err_code write_append_answer(struct invocation *in, struct slice session,
                                         const struct host_appended *done, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return ERR_OK;
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", session);
    jsonout_key(&j, "appended");
    jsonout_int(&j, (int64_t)(done->n - done->present));
    jsonout_key(&j, "present");
    jsonout_int(&j, (int64_t)done->present);
    jsonout_key(&j, "uuids");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < done->n; i++)
        if (done->id[i].n)
            jsonout_text(&j, done->id[i]);
        else
            jsonout_null(&j);
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code append_rows(struct invocation *in, struct slice text, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct host_append req = { .transcript = option_given(&in->options, OPTION_TRANSCRIPT) };
    struct host_appended done;
    struct slice *row;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = host_rows(text, &s.arena, &row, &req.n, e);
    req.row = row;
    if (!rc)
        rc = host_append(ref.store, &ref, &req, &s.arena, &done, e);
    in->done = !rc;
    if (!rc)
        rc = write_append_answer(in, ref.id, &done, e);
    sessions_close(&s);
    return rc;
}

enum err_code append_run(struct invocation *in, struct err *e)
{
    const struct slice session = slice_of(in->argv[0]);
    const struct host_appended none = { 0 };
    struct buf text = { 0 };
    enum err_code rc = read_rows_input(&text, e);

    if (!rc)
        rc = option_given(&in->options, OPTION_NO_PERSIST)
                 ? write_append_answer(in, session, &none, e)
                 : append_rows(in, buf_slice(&text), e);
    buf_fini(&text);
    return rc;
}
