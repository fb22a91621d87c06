#include "store/systems/goat/log.h"

#include "lite/base/cleanup.h"
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

    TRY(logfile_row(&log->file, line, &row, e));
    goat_entry_read(utf8_js_trim(row), out);
    return ERR_OK;
}

static const enum message_kind message_kinds[] = {
    [GOAT_OTHER] = MESSAGE_OTHER,         [GOAT_USER] = MESSAGE_USER,
    [GOAT_ASSISTANT] = MESSAGE_ASSISTANT, [GOAT_TOOL] = MESSAGE_TOOL,
    [GOAT_SYSTEM] = MESSAGE_SYSTEM,
};

static bool goat_is_nothing(struct slice row)
{
    row = utf8_js_trim(row);
    return row.n == 0 || slice_eq(row, SLICE("null")) ||
           (row.n >= 2 && row.p[0] == '{' &&
            utf8_js_trim((struct slice){ row.p + 1, row.n - 2 }).n == 0);
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
    /* The index could not classify the row. */
    struct goat_entry entry;
    struct slice row;

    TRY(logfile_row(log, line, &row, e));
    if (goat_is_nothing(row)) {
        *kind = GOAT_LINE_SKIP;
    } else if (ix->state == LINE_BROKEN) {
        *kind = GOAT_LINE_BROKEN;
    } else {
        goat_entry_read(utf8_js_trim(row), &entry);
        enum goat_role role = goat_entry_role(&entry);

        *kind = goat_entry_fault(&entry)                            ? GOAT_LINE_MISTYPED
                : entry.shape == GOAT_NOTHING || role == GOAT_OTHER ? GOAT_LINE_OTHER
                                                                    : GOAT_LINE_MESSAGE;
        *message = message_kinds[role];
    }
    return ERR_OK;
}

/* The conversation as a person reads it: every line in the order of the file, unreadable ones
 * too. */

static enum err_code goat_judge_row(struct logfile *log, size_t line, struct message *m, bool *keep,
                                    struct err *e)
{
    enum goat_line_kind kind;
    enum message_kind message;

    TRY(goat_log_kind(log, line, &kind, &message, e));
    *keep = kind != GOAT_LINE_SKIP;
    m->kind = (uint8_t)message;
    m->flags = kind == GOAT_LINE_BROKEN     ? MESSAGE_BROKEN
               : kind == GOAT_LINE_MISTYPED ? MESSAGE_BROKEN | MESSAGE_MISTYPED
                                            : 0;
    return ERR_OK;
}

static struct slice goat_row_id(struct slice row, struct arena *a)
{
    struct goat_entry entry;
    struct slice id = { NULL, 0 };

    row = utf8_js_trim(row);
    if (json_type(row) != JSON_OBJECT || !json_valid(row))
        return id;
    goat_entry_read(row, &entry);
    if (json_type(entry.uuid) == JSON_STRING)
        json_text(entry.uuid, a, &id);
    return id;
}

const struct jsonl_format goat_format = { .keys = &goat_keys,
                                          .judge = goat_judge_row,
                                          .has_log = goat_has_log,
                                          .read = goat_read_row_facts,
                                          .prompt_needle = "\"user\"",
                                          .complete = goat_complete_row,
                                          .id = goat_row_id };

/* A host writes the checkpoint and the prompt almost at the same time, in either order. */
enum { SAME_MOMENT_MS = 1000 };

static enum err_code add_turn(struct goat_log *log, size_t line, struct goat_turns *t,
                              struct err *e)
{
    struct arena *a = &t->arena;
    struct goat_turn *list = arena_grow(a, t->turn, t->n, sizeof *list);
    struct goat_entry entry;
    struct slice id = { "", 0 }, text;

    TRY(goat_log_entry(log, line, &entry, e));
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

    for (size_t i = 0; i < t->n; i++) {
        if (!jsonl_id_has_prefix(t->turn[i].id, front))
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
