#include "store/query/conversation_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/api/store.h"

enum {
    UNCERTAIN_ROWS = 64,
    END_GROWS = 8,
    END_BYTES = 256 << 10,
    END_BYTES_NEAR = 2 << 20, /* bytes of a store that finds the message faster than by its end */
    END_BYTES_MOST = 64 << 20,
    /* a step that reads on reads so much in addition to what is new, and needs so many known rows */
    STEP_BYTES = 64 << 10,
    STEP_ROWS = 8,
};

int64_t conversation_place(struct slice name)
{
    enum { DIGITS = 18 };
    int64_t place = 0;

    if (name.n < 2 || name.n > 1 + DIGITS || name.p[0] != '@')
        return -1;
    for (size_t i = 1; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9')
            return -1;
        place = 10 * place + (name.p[i] - '0');
    }
    return place;
}

size_t conversation_find(const struct transcript *t, struct slice name)
{
    const int64_t place = conversation_place(name);
    const struct id128 id = id128_of(name);

    for (size_t i = 0; i < t->n; i++)
        if (place >= 0 ? t->message[i].offset == place : id128_eq(t->message[i].id, id))
            return i;
    return t->n;
}

/* Drops the messages that a resume leaves out. */
static void drop_left_out(struct transcript *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (!(t->message[i].flags & MESSAGE_LEFT_OUT))
            t->message[n++] = t->message[i];
    t->n = n;
}

/* Passes a part of the conversation on if it has all that is needed; else *out stays NULL. */
static void use_if_complete(const struct conversation_end *want, struct transcript *t,
                            struct transcript **out, size_t *at)
{
    drop_left_out(t);
    *at = want->at.n ? conversation_find(t, want->at) : t->n;
    if (!t->partial || (!t->uncertain && (*at < t->n || !want->at.n) && *at >= want->least &&
                        *at - want->least >= UNCERTAIN_ROWS))
        *out = t;
    else
        transcript_free(t);
}

enum err_code conversation_end_load(const struct session_ref *ref,
                                    const struct conversation_end *want, struct transcript **out,
                                    size_t *at, struct err *e)
{
    const struct store *st = ref->store;
    bool around = want->at.n && st->ops->around;
    size_t most = around ? END_BYTES_NEAR : END_BYTES_MOST;
    struct transcript *t = NULL, *got;

    for (size_t bytes = END_BYTES; !t && want->least < SIZE_MAX && bytes <= most;
         bytes *= END_GROWS) {
        TRY(st->ops->tail(st, ref, bytes, want->cancel, &got, e));
        use_if_complete(want, got, &t, at);
    }
    for (size_t bytes = END_BYTES; around && !t && bytes <= END_BYTES_MOST; bytes *= END_GROWS) {
        TRY(st->ops->around(st, ref, want->at, bytes, want->cancel, &got, e));
        use_if_complete(want, got, &t, at);
    }
    if (!t) {
        TRY(st->ops->load(st, ref, want->cancel, &t, e));
        drop_left_out(t);
        *at = want->at.n ? conversation_find(t, want->at) : t->n;
    }
    *out = t;
    return ERR_OK;
}

/* ---- reading on ---- */

void conversation_cursor_fini(struct conversation_cursor *c)
{
    free(c->path);
    *c = (struct conversation_cursor){ .path = NULL };
}

static struct file_id cursor_look(const char *path, const char *suffix)
{
    char name[4096];
    struct stat st;

    return snprintf(name, sizeof name, "%s%s", path, suffix) < (int)sizeof name && !stat(name, &st)
               ? file_id_of(&st)
               : (struct file_id){ .size = -1 };
}

static bool cursor_is_same(struct file_id a, struct file_id b)
{
    return a.dev == b.dev && a.ino == b.ino && a.size == b.size && a.mtime_ns == b.mtime_ns &&
           a.ctime_ns == b.ctime_ns;
}

/* The file was looked at before the rows were read, so what is written in between is found by the next step. */
static enum err_code cursor_move(struct conversation_cursor *c, const struct transcript *t,
                                 struct file_id log, struct file_id side, size_t rows,
                                 struct err *e)
{
    if (!c->path || strcmp(c->path, t->path) != 0) {
        free(c->path);
        NEED(c->path = strdup(t->path));
        log = side = (struct file_id){ .size = 0 };
    }
    c->log = log;
    c->side = side;
    if (rows) {
        c->id = t->message[rows - 1].id;
        c->offset = t->message[rows - 1].offset;
    }
    return ERR_OK;
}

enum err_code conversation_cursor_set(struct conversation_cursor *c, const struct session_ref *ref,
                                      struct slice after, const atomic_bool *cancel, struct err *e)
{
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    const struct conversation_end want = { .at = after, .cancel = cancel };
    size_t at;

    *c = (struct conversation_cursor){ .offset = -1 };
    TRY(conversation_end_load(ref, &want, &t, &at, e));
    if (after.n && at == t->n)
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read messages: no such message; see reprise messages --plain");
    return cursor_move(c, t, c->log, c->side, after.n ? at + 1 : t->n, e);
}

/* The number of rows of the transcript that are not after the cursor. */
static size_t cursor_find(const struct conversation_cursor *c, const struct transcript *t)
{
    size_t n = t->n;

    if (!id128_none(c->id))
        for (size_t i = t->n; i > 0; i--)
            if (id128_eq(t->message[i - 1].id, c->id))
                return i;
    while (n > 0 && t->message[n - 1].offset > c->offset)
        n--;
    return n;
}

enum err_code conversation_read_on(struct conversation_cursor *c, const struct session_ref *ref,
                                   const atomic_bool *cancel, struct transcript **out, size_t *from,
                                   struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const struct file_id log = cursor_look(c->path, ""), side = cursor_look(c->path, "-wal");
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    size_t bytes = log.size > c->log.size && c->log.size > 0 ? (size_t)(log.size - c->log.size) : 0;

    *out = NULL;
    if (log.size >= 0 && cursor_is_same(log, c->log) && cursor_is_same(side, c->side))
        return ERR_OK;

    /* A growing part of the end is read, until it reaches back to the last row that is known. */
    for (bytes += STEP_BYTES; !t && bytes <= END_BYTES_MOST; bytes *= END_GROWS) {
        TRY(ops->tail(ref->store, ref, bytes, cancel, &t, e));
        drop_left_out(t);
        *from = cursor_find(c, t);
        if (t->partial && *from < STEP_ROWS) {
            transcript_free(t);
            t = NULL;
        }
    }

    /* If that row is too far back, or is gone, the whole conversation is read. */
    if (!t) {
        TRY(ops->load(ref->store, ref, cancel, &t, e));
        drop_left_out(t);
        *from = cursor_find(c, t);
    }
    TRY(cursor_move(c, t, log, side, t->n, e));
    *out = t;
    t = NULL;
    return ERR_OK;
}
