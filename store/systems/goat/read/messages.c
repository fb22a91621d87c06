#include <stdlib.h>

#include "lite/base/utf8.h"
#include "store/api/message_page.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/read/log.h"
#include "store/systems/goat/read/message_json.h"

/* The conversation in the words of CLI.md `messages`: what the host would load, line by line. */

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

        rc = goat_log_kind(log, i, &kind, &message, e);
        if (!rc && kind == GOAT_LINE_MESSAGE && (message != MESSAGE_SYSTEM || q->system_messages))
            out->line[out->n++] = (uint32_t)i;
    }
    return rc;
}

static enum err_code print_messages(struct goat_log *log, const struct listing_lines *lines,
                                    const struct session_ref *ref, const struct message_query *q,
                                    json_fn *fn, void *arg, struct err *e)
{
    struct buf out = { 0 };
    size_t from, to;
    enum err_code rc = ERR_OK;

    message_page_range(q, lines->n, &from, &to);
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

    (void)st;
    if (q->agent.n)
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read messages: Go sessions keep no sub-agents");
    rc = goat_log_open(&log, ref, q->cancel, e);
    if (rc)
        return err_wrap(e, rc, "read messages");
    rc = collect_message_lines(&log, q, &lines, e);
    if (!rc)
        rc = print_messages(&log, &lines, ref, q, fn, arg, e);
    free(lines.line);
    goat_log_close(&log);
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}
