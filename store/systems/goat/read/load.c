#include <stdlib.h>
#include <string.h>

#include "store/systems/goat/goat.h"
#include "store/systems/goat/read/log.h"

/* The conversation as a person reads it: every line in the order of the file, those that nobody can read among them. */

enum { TAIL_GROWS = 16 }; /* how much more than asked for a tail may take to hold one row at all */

static uint16_t message_flags_of(enum goat_line_kind kind)
{
    switch (kind) {
    case GOAT_LINE_BROKEN: return MESSAGE_BROKEN;
    case GOAT_LINE_MISTYPED: return MESSAGE_BROKEN | MESSAGE_MISTYPED;
    default: return 0;
    }
}

static enum err_code add_line(struct goat_log *log, size_t line, struct transcript *t,
                              struct err *e)
{
    const struct index_line *ix = &log->file.index.line[line];
    enum goat_line_kind kind;
    enum message_kind message;
    enum err_code rc = goat_log_kind(log, line, &kind, &message, e);

    if (rc || kind == GOAT_LINE_SKIP ||
        (kind == GOAT_LINE_BROKEN && goat_log_is_torn_end(log, line)))
        return rc;
    t->broken += message_flags_of(kind) != 0;
    t->message[t->n++] = (struct message){ .offset = ix->offset,
                                           .length = ix->length,
                                           .line = (uint32_t)line,
                                           .time_ms = ix->time_ms,
                                           .id = ix->id,
                                           .kind = (uint8_t)message,
                                           .flags = message_flags_of(kind) };
    return ERR_OK;
}

static enum err_code fill_transcript(struct goat_log *log, struct transcript *t, struct err *e)
{
    const struct index *ix = &log->file.index;
    enum err_code rc = ERR_OK;

    t->message = malloc((ix->n + 1) * sizeof *t->message);
    if (!t->message)
        return err_nomem(e);
    transcript_set_end(t, ix);
    t->lines = ix->n;
    if (!log->none)
        t->id = log->file.file.id;
    t->size = t->id.size;
    for (size_t i = 0; i < ix->n && !rc; i++)
        rc = add_line(log, i, t, e);
    return rc;
}

static enum err_code load(const struct session_ref *ref, size_t tail, const atomic_bool *stop,
                          struct transcript **out, struct err *e)
{
    struct transcript *t = calloc(1, sizeof *t);
    struct goat_log log;
    enum err_code rc = ERR_OK;

    if (!t || !(t->path = strdup(ref->path.p)))
        rc = err_nomem(e);
    if (!rc)
        rc = tail ? goat_log_open_tail(&log, ref, tail, e) : goat_log_open(&log, ref, stop, e);
    if (!rc) {
        const struct index *ix = &log.file.index;

        t->partial =
            tail && !log.none && (ix->n ? ix->line[0].offset > 0 : log.file.file.id.size > 0);
        rc = fill_transcript(&log, t, e);
        goat_log_close(&log);
    }
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code goat_load(const struct store *st, const struct session_ref *ref,
                        const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return load(ref, 0, cancel, out, e);
}

/* One row may be larger than the window: then the window grows, up to a limit. */
enum err_code goat_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                        struct transcript **out, struct err *e)
{
    size_t tail = bytes ? bytes : 1, most = tail < SIZE_MAX / TAIL_GROWS ? tail * TAIL_GROWS : tail;

    (void)st;
    for (;;) {
        struct transcript *t;
        enum err_code rc = load(ref, tail, NULL, &t, e);

        if (rc)
            return rc;
        if (t->n || !t->partial || tail >= most) {
            *out = t;
            return ERR_OK;
        }
        transcript_free(t);
        tail = tail > most / 4 ? most : tail * 4;
    }
}
