#include "store/systems/common/log_head.h"

#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"

/* clang-format off */
static const struct log_head {
    const char *system, *type, *without;
} heads[] = {
    { "codex", "session_meta", "Codex neither lists nor resumes it" },
    { "copilot", "session.start", "Copilot may not resume it" },
    { "droid", "session_start", "its directory is lost with it" },
    { "pi", "session", "pi neither lists nor opens it" },
};
/* clang-format on */

static const struct log_head *log_head_of(const struct store *st)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strcmp(heads[i].system, st->ops->name) == 0)
            return &heads[i];
    return NULL;
}

bool log_head_is_lost(const struct store *st, struct slice row)
{
    const struct log_head *head = log_head_of(st);
    struct slice type;

    return head && json_get(row, "type", &type) && !json_string_is(type, head->type);
}

/* A longer line is not read, and a row is looked for at so many places of a damaged one. */
enum { HEAD_MOST = 16 << 20, HEAD_TRIES = 32 };

/* A damaged line in which the head is whole, behind a byte order mark, NULs or a cut row: a repair brings it back. */
static bool log_head_is_in(struct slice line, const char *type)
{
    for (int tries = 0; tries < HEAD_TRIES && line.n; tries++) {
        const char *at = memchr(line.p, '{', line.n);

        if (!at)
            return false;
        line = (struct slice){ at, line.n - (size_t)(at - line.p) };
        if (json_valid(line) && json_get_is(line, "type", type))
            return true;
        line = (struct slice){ line.p + 1, line.n - 1 };
    }
    return false;
}

enum err_code log_head_check(const struct store *st, struct logfile *log, struct slice session,
                             finding_fn *fn, void *arg, struct err *e)
{
    const struct log_head *head = log_head_of(st);
    const struct index *ix = &log->index;
    struct slice row;

    for (size_t i = 0; head && i < ix->n; i++) {
        if (ix->line[i].state == LINE_BLANK)
            continue;
        if (ix->line[i].length > HEAD_MOST)
            return ERR_OK;
        TRY(logfile_row(log, i, &row, e));
        if (ix->line[i].state == LINE_OK) {
            if (!log_head_is_lost(st, row))
                return ERR_OK;

            AUTO_ARENA a = { 0 };
            const struct finding f = { .kind = FINDING_NO_SESSION,
                                       .session = session,
                                       .path = log->path,
                                       .line = (int64_t)i + 1,
                                       .offset = log->index.line[i].offset,
                                       .why = arena_format(
                                           &a,
                                           "the row that a session begins with (%s) is lost "
                                           "above it: %s; there is no repair, because nothing "
                                           "else says what was in it (reprise continue makes a "
                                           "session of another agent of the rest)",
                                           head->type, head->without) };

            NEED(f.why);
            return fn(&f, arg, e);
        }
        if (log_head_is_in(row, head->type))
            return ERR_OK;
    }
    return ERR_OK;
}
