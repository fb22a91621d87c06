#include "store/systems/goat/read/turns.h"

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/goat/read/log.h"

/* A host takes the checkpoint and writes the prompt at the same moment, in either order. */
enum { SAME_MOMENT_MS = 1000, PREFIX_MIN = 4 };

static enum err_code add_turn(struct goat_log *log, size_t line, struct goat_turns *t,
                              struct err *e)
{
    struct arena *a = &t->arena;
    struct goat_turn *list = arena_grow(a, t->turn, t->n, sizeof *list);
    struct goat_entry entry;
    struct slice id = { "", 0 }, text;
    enum err_code rc = goat_log_entry(log, line, &entry, e);

    if (rc)
        return rc;
    if (!list || (json_type(entry.uuid) == JSON_STRING && !json_text(entry.uuid, a, &id)) ||
        !goat_entry_text(&entry, a, &text))
        return err_nomem(e);
    t->turn = list;
    list[t->n] = (struct goat_turn){ arena_copy(a, id), arena_copy(a, text),
                                     log->file.index.line[line].time_ms };
    if (!list[t->n].id.p || !list[t->n].prompt.p)
        return err_nomem(e);
    t->n++;
    return ERR_OK;
}

enum err_code goat_turns_read(const struct session_ref *ref, struct goat_turns *out, struct err *e)
{
    struct goat_turns t = { 0 };
    struct goat_log log;
    enum err_code rc = goat_log_open(&log, ref, NULL, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < log.file.index.n && !rc; i++) {
        enum goat_line_kind kind;
        enum message_kind message;

        rc = goat_log_kind(&log, i, &kind, &message, e);
        if (!rc && kind == GOAT_LINE_MESSAGE && message == MESSAGE_USER)
            rc = add_turn(&log, i, &t, e);
    }
    goat_log_close(&log);
    if (rc)
        goat_turns_fini(&t);
    else
        *out = t;
    return rc;
}

void goat_turns_fini(struct goat_turns *t)
{
    arena_fini(&t->arena);
    *t = (struct goat_turns){ 0 };
}

const struct goat_turn *goat_turns_find(const struct goat_turns *t, struct slice id)
{
    for (size_t i = 0; i < t->n; i++)
        if (slice_eq(t->turn[i].id, id))
            return &t->turn[i];
    return NULL;
}

const struct goat_turn *goat_turns_begins(const struct goat_turns *t, struct slice front)
{
    const struct goat_turn *found = NULL;

    for (size_t i = 0; front.n >= PREFIX_MIN && i < t->n; i++) {
        struct slice id = t->turn[i].id;

        if (id.n <= front.n || memcmp(id.p, front.p, front.n) != 0)
            continue;
        if (found)
            return NULL;
        found = &t->turn[i];
    }
    return found;
}

const struct goat_turn *goat_turns_at(const struct goat_turns *t, int64_t time_ms)
{
    const struct goat_turn *best = NULL;

    for (size_t i = 0; time_ms != TIME_NONE && i < t->n; i++) {
        const struct goat_turn *turn = &t->turn[i];

        if (turn->time_ms != TIME_NONE && turn->id.n && turn->time_ms <= time_ms + SAME_MOMENT_MS &&
            (!best || turn->time_ms >= best->time_ms))
            best = turn;
    }
    return best;
}
