#include <stdlib.h>
#include <string.h>

#include "store/log/logfile.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/read/event.h"

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
