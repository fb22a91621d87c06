#include "store/systems/goat/log.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/api/session.h"
#include "store/systems/goat/goat.h"

/* Flat rows have their role on the first level, nested ones at the front of the message, as Go
 * writes them: the index looks in both places. */
enum { KIND_USER = 1, KIND_ASSISTANT, KIND_TOOL, KIND_SYSTEM };
enum { MARK_TYPE = 1 };

static const char *const kinds[] = { "user", "assistant", "tool", "system", NULL };
static const char *const marks[] = { "type", NULL };

const struct index_keys goat_keys = {
    .type = "role",
    .id = "uuid",
    .time = "timestamp",
    .kinds = kinds,
    .marks = marks,
    .inner = "message",
};

bool goat_has_log(const struct session_ref *ref)
{
    return !slice_has(ref->path, "/" GOAT_METADATA);
}

enum err_code goat_log_open(struct goat_log *log, const struct session_ref *ref,
                            const atomic_bool *stop, struct err *e)
{
    *log = (struct goat_log){ .none = !goat_has_log(ref), .file.file.fd = -1 };
    return log->none ? ERR_OK : logfile_open(&log->file, ref->path.p, 0, &goat_keys, stop, e);
}

void goat_log_close(struct goat_log *log)
{
    if (!log->none)
        logfile_close(&log->file);
}

bool goat_log_is_torn_end(const struct goat_log *log, size_t line)
{
    const struct index *ix = &log->file.index;

    return ix->torn_tail && line + 1 == ix->n;
}

enum err_code goat_log_entry(struct goat_log *log, size_t line, struct goat_entry *out,
                             struct err *e)
{
    struct slice row;
    enum err_code rc = logfile_row(&log->file, line, &row, e);

    if (!rc)
        goat_entry_read(utf8_js_trim(row), out);
    return rc;
}

static const enum message_kind message_kinds[] = {
    [GOAT_OTHER] = MESSAGE_OTHER,         [GOAT_USER] = MESSAGE_USER,
    [GOAT_ASSISTANT] = MESSAGE_ASSISTANT, [GOAT_TOOL] = MESSAGE_TOOL,
    [GOAT_SYSTEM] = MESSAGE_SYSTEM,
};

static bool is_nothing(struct slice row)
{
    row = utf8_js_trim(row);
    return row.n == 0 || slice_eq(row, SLICE("null")) ||
           (row.n >= 2 && row.p[0] == '{' &&
            utf8_js_trim((struct slice){ row.p + 1, row.n - 2 }).n == 0);
}

/* Reads a row that the index could not classify. */
static enum err_code look_inside(struct logfile *log, size_t line, enum goat_line_kind *kind,
                                 enum message_kind *message, struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    struct goat_entry entry;
    struct slice row;
    enum goat_role role;
    enum err_code rc = logfile_row(log, line, &row, e);

    if (rc)
        return rc;
    if (is_nothing(row)) {
        *kind = GOAT_LINE_SKIP;
    } else if (ix->state == LINE_BROKEN) {
        *kind = GOAT_LINE_BROKEN;
    } else {
        goat_entry_read(utf8_js_trim(row), &entry);
        role = goat_entry_role(&entry);
        *kind = goat_entry_fault(&entry)                            ? GOAT_LINE_MISTYPED
                : entry.shape == GOAT_NOTHING || role == GOAT_OTHER ? GOAT_LINE_OTHER
                                                                    : GOAT_LINE_MESSAGE;
        *message = message_kinds[role];
    }
    return ERR_OK;
}

enum err_code goat_log_kind(struct logfile *log, size_t line, enum goat_line_kind *kind,
                            enum message_kind *message, struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    static const enum goat_role roles[] = { GOAT_OTHER, GOAT_USER, GOAT_ASSISTANT, GOAT_TOOL,
                                            GOAT_SYSTEM };

    *message = MESSAGE_OTHER;
    if (ix->state == LINE_BLANK) {
        *kind = GOAT_LINE_SKIP;
        return ERR_OK;
    }
    if (ix->state == LINE_BROKEN && ix->length > GOAT_LINE_MAX) {
        *kind = GOAT_LINE_BROKEN;
        return ERR_OK;
    }
    if (ix->state == LINE_OK && ix->kind && !(ix->marks & MARK_TYPE) && !id128_none(ix->id) &&
        ix->time_ms != TIME_NONE) {
        *kind = GOAT_LINE_MESSAGE;
        *message = message_kinds[roles[ix->kind]];
        return ERR_OK;
    }
    return look_inside(log, line, kind, message, e);
}

/* ---- a message by its uuid ---- */

enum { PREFIX_MIN = 4 };

/* Sets *yes if the line's uuid is this one (whole) or begins with it. */
static enum err_code has_uuid(struct goat_log *log, size_t line, struct slice uuid, bool whole,
                              bool *yes, struct err *e)
{
    struct arena a = { 0 };
    struct goat_entry entry;
    struct slice text;
    enum err_code rc = goat_log_entry(log, line, &entry, e);

    *yes = !rc && json_type(entry.uuid) == JSON_STRING && json_text(entry.uuid, &a, &text) &&
           (whole ? text.n == uuid.n : text.n > uuid.n) && memcmp(text.p, uuid.p, uuid.n) == 0;
    arena_fini(&a);
    return rc;
}

/* The index only recognises the key as Go spells it; rows with any other spelling are read. */
static enum err_code find_whole(struct goat_log *log, struct slice uuid, size_t *line,
                                struct err *e)
{
    const struct index *ix = &log->file.index;
    struct id128 want = id128_of(uuid);
    enum err_code rc = ERR_OK;
    bool yes = false;

    for (*line = 0; !rc && *line < ix->n; ++*line) {
        if (ix->line[*line].state != LINE_OK)
            continue;
        yes = id128_eq(ix->line[*line].id, want);
        if (id128_none(ix->line[*line].id))
            rc = has_uuid(log, *line, uuid, true, &yes, e);
        if (yes)
            break;
    }
    return rc;
}

enum err_code goat_log_find(struct goat_log *log, struct slice uuid, size_t *line, struct err *e)
{
    const struct index *ix = &log->file.index;
    struct id128 found = { 0 };
    size_t hits = 0;
    enum err_code rc = find_whole(log, uuid, line, e);

    if (rc || *line < ix->n)
        return rc;
    for (size_t i = 0; uuid.n >= PREFIX_MIN && i < ix->n; i++) {
        bool yes;

        if (ix->line[i].state != LINE_OK ||
            (hits && !id128_none(found) && id128_eq(ix->line[i].id, found)))
            continue;
        rc = has_uuid(log, i, uuid, false, &yes, e);
        if (rc)
            return rc;
        if (!yes)
            continue;
        if (hits++ == 0)
            *line = i;
        found = ix->line[i].id;
    }
    if (hits == 1)
        return ERR_OK;
    return hits ? err_set(e, ERR_USAGE, log->file.path, "find message %.*s: ambiguous prefix",
                          (int)(uuid.n > 64 ? 64 : uuid.n), uuid.p)
                : err_set(e, ERR_NOT_FOUND, log->none ? "" : log->file.path,
                          "find message %.*s: no such message", (int)(uuid.n > 64 ? 64 : uuid.n),
                          uuid.p);
}

/* A host writes the checkpoint and the prompt almost at the same time, in either order. */
enum { SAME_MOMENT_MS = 1000 };

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

        rc = goat_log_kind(&log.file, i, &kind, &message, e);
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
