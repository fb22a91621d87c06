#include "store/systems/claude/chain/log.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"

static const char *const kinds[] = {
    "user",
    "assistant",
    "system",
    "attachment",
    "progress",
    "queue-operation",
    "host-row",
    "last-prompt",
    "active-leaf",
    "file-history-snapshot",
    "file-history-delta",
    "content-replacement",
    "worktree-state",
    "agent-setting",
    "mode",
    "relocated",
    "history-suppression",
    "hybrid-organization",
    "atis-latch",
    "tools-used",
    "data-flow-records",
    "data-flow-incomplete",
    "derived-from",
    "attribution-snapshot",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "marble-origami-reset",
    NULL,
};

static const char *const marks[] = {
    "parentUuid",
    "isSidechain",
    "teamName",
    "isMeta",
    "isCompactSummary",
    "origin",
    "compactMetadata",
    "closesQuietTurn",
    "hostHiddenToolUseIds",
    "ranByToolUseId",
    "reason",
    "logicalParentUuid",
    NULL,
};

const struct index_keys claude_index_keys = {
    .type = "type",
    .id = "uuid",
    .parent = "parentUuid",
    .time = "timestamp",
    .kinds = kinds,
    .marks = marks,
};

static int compare_substitute(const void *line, const void *key)
{
    const size_t *x = line;
    const struct claude_substitute *y = key;

    return (*x > y->line) - (*x < y->line);
}

struct slice claude_row(struct slice line)
{
    while (line.n && (unsigned char)line.p[0] <= ' ') {
        line.p++;
        line.n--;
    }
    return line;
}

enum err_code claude_log_row(struct claude_log *log, size_t line, struct slice *row, struct err *e)
{
    const struct claude_substitute *other =
        log->substitutes ? bsearch(&line, log->substitute, log->substitutes,
                                   sizeof *log->substitute, compare_substitute)
                         : NULL;

    if (other) {
        *row = other->row;
        return ERR_OK;
    }
    TRY(logfile_row(&log->file, line, row, e));
    *row = claude_row(*row);
    return ERR_OK;
}

/* Called with growing lines. The line's index entry becomes that of the row, but keeps its place in the file. */
static enum err_code add_substitute(struct claude_log *log, size_t line, struct slice row,
                                    struct err *e)
{
    if (!array_reserve(log->substitute, log->cap, log->substitutes + 1))
        return err_nomem(e);
    struct index one = { 0 };

    TRY(index_bytes(&one, row, 0, &claude_index_keys, INDEX_VALIDATE, e));
    row = arena_copy(&log->arena, row);
    if (row.p && one.n == 1) {
        struct index_line *l = &log->file.index.line[line], was = *l;

        *l = one.line[0];
        l->offset = was.offset;
        l->length = was.length;
        log->substitute[log->substitutes++] = (struct claude_substitute){ (uint32_t)line, row };
    }
    index_fini(&one);
    return row.p ? ERR_OK : err_nomem(e);
}

const struct index_line *claude_line(const struct claude_log *log, size_t line)
{
    return &log->file.index.line[line];
}

const struct index_line *claude_node_line(const struct claude_log *log, uint32_t node)
{
    return claude_line(log, log->chain.node[node].line);
}

uint32_t claude_line_node(const struct claude_log *log, size_t line)
{
    struct id128 id = claude_line(log, line)->id;

    return id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);
}

enum err_code claude_node_row(struct claude_log *log, uint32_t node, struct slice *row,
                              struct err *e)
{
    return claude_log_row(log, log->chain.node[node].line, row, e);
}

enum err_code claude_node_uuid(struct claude_log *log, uint32_t node, struct arena *a,
                               struct slice *uuid, struct err *e)
{
    struct slice row, text;

    TRY(claude_node_row(log, node, &row, e));
    if (!json_get_text(row, "uuid", a, &text) || !(text = arena_copy(a, text)).p)
        return err_nomem(e);
    *uuid = text;
    return ERR_OK;
}

bool claude_line_is(const struct index_line *line, enum claude_kind kind)
{
    return line->state == LINE_OK && line->kind == kind;
}

bool claude_line_has(const struct index_line *line, enum claude_mark mark)
{
    return (line->marks & mark) != 0;
}

bool claude_line_is_message(const struct index_line *line)
{
    return claude_line_is(line, CLAUDE_USER) || claude_line_is(line, CLAUDE_ASSISTANT);
}

bool claude_has_parent(const struct claude_log *log, uint32_t node)
{
    const struct index_line *line = claude_node_line(log, node);

    return log->chain.node[node].parent != CHAIN_NONE ||
           (claude_line_has(line, MARK_PARENT) && id128_none(line->parent));
}

/* ---- voice rows ---- */

/* The text of a voice call is in a system row. The SDK reads it as the user row that it contains, or, if it has a
 * `fold`, as the queued command that it contains (claude.md 3.1). */

/* Copies the members of an object except those named into the object that is being written. */
static void copy_members(struct jsonout *j, struct slice object, const char *const but[])
{
    struct json_iter it;
    struct slice key, value;

    if (!json_iter_open(&it, object))
        return;
    while (json_iter_next(&it, &key, &value)) {
        if (claude_string_in(key, but))
            continue;
        jsonout_raw_key(j, key);
        jsonout_raw(j, value);
    }
}

/* Returns true if the row is a voice row; `out` is then the row that is read instead. */
static bool rewrite(struct slice row, struct buf *out, enum err_code *rc)
{
    struct slice said, blocks, origin, fold, command;

    if (!claude_value_is(row, "subtype", "voice_call_talk") || !json_get(row, "content", &said) ||
        json_type(said) != JSON_STRING || !json_get(row, "origin", &origin) ||
        json_type(origin) != JSON_OBJECT || !claude_value_is(origin, "kind", "voice-call"))
        return false;
    bool folded = json_get(row, "fold", &fold);

    /* A malformed `fold` does not count as a missing one: the row is then not read as a voice row. */
    if (folded && (json_type(fold) != JSON_OBJECT || !json_get(fold, "command", &command) ||
                   json_type(command) != JSON_OBJECT))
        return false;
    if (json_get(row, "blocks", &blocks) && json_type(blocks) == JSON_ARRAY)
        said = blocks;
    struct jsonout j;

    out->n = 0;
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    if (folded) {
        static const char *const own[] = { "subtype", "level",  "msgV",   "content", "blocks",
                                           "fold",    "isMeta", "origin", NULL };
        static const char *const command_only[] = { "command", NULL };
        static const char *const none[] = { NULL };

        /* If a key occurs twice the last one counts, so later members override earlier ones. */
        copy_members(&j, fold, command_only);
        copy_members(&j, row, own);
        jsonout_member(&j, "type", SLICE("attachment"));
        jsonout_key(&j, "attachment");
        jsonout_open(&j, '{');
        copy_members(&j, command, none);
        jsonout_member(&j, "type", SLICE("queued_command"));
        jsonout_raw_member(&j, "prompt", said);
        jsonout_key(&j, "origin");
        jsonout_raw(&j, origin);
        jsonout_close(&j, '}');
    } else {
        static const char *const own[] = { "subtype", "level", "msgV", "content",
                                           "blocks",  "fold",  NULL };

        copy_members(&j, row, own);
        jsonout_member(&j, "type", SLICE("user"));
        jsonout_key(&j, "message");
        jsonout_open(&j, '{');
        jsonout_member(&j, "role", SLICE("user"));
        jsonout_raw_member(&j, "content", said);
        jsonout_close(&j, '}');
    }
    jsonout_close(&j, '}');
    *rc = j.rc;
    return true;
}

/* ---- opening ---- */

enum err_code claude_log_open(struct claude_log *log, const char *path,
                              const struct claude_log_want *want, struct err *e)
{
    size_t first = 0;

    *log = (struct claude_log){ .file.file.fd = -1 };
    enum err_code rc =
        want->tail
            ? logfile_open_tail(&log->file, path, FILE_FOLLOW, &claude_index_keys, want->tail, e)
            : logfile_open(&log->file, path, FILE_FOLLOW, &claude_index_keys, want->stop, e);

    if (rc)
        return rc;
    const struct index *ix = &log->file.index;

    log->partial = want->tail && (ix->n ? ix->line[0].offset > 0 : log->file.file.id.size > 0);
    if (want->skip_precompact)
        rc = claude_first_visible_line(log, &first, e);
    if (!rc && !want->as_written) {
        struct buf out = { 0 };
        for (size_t i = 0; !rc && i < log->file.index.n; i++) {
            struct slice row;

            if (!claude_line_is(claude_line(log, i), CLAUDE_SYSTEM) ||
                !claude_line_has(claude_line(log, i), MARK_ORIGIN))
                continue;
            rc = claude_log_row(log, i, &row, e);
            if (!rc && rewrite(row, &out, &rc))
                rc = rc ? err_set(e, rc, log->file.path, "read a voice row")
                        : add_substitute(log, i, buf_slice(&out), e);
        }
        buf_fini(&out);
    }
    /* The empty string is an id like any other, but as a parent it names no row. */
    for (size_t i = 0; i < log->file.index.n; i++)
        if (!(log->file.index.line[i].marks & MARK_PARENT))
            log->file.index.line[i].parent = (struct id128){ 0, 0 };

    if (want->no_sidechain) {
        for (size_t i = 0; i < log->file.index.n; i++)
            if (claude_line_has(&log->file.index.line[i], MARK_SIDECHAIN))
                log->file.index.line[i].id = (struct id128){ 0, 0 };
    }
    if (!rc)
        rc = chain_build(&log->chain, &log->file.index, first, want->kinds, e);
    if (rc)
        claude_log_close(log);
    return rc;
}

void claude_log_close(struct claude_log *log)
{
    chain_fini(&log->chain);
    logfile_close(&log->file);
    arena_fini(&log->arena);
    free(log->substitute);
    idset_fini(&log->kept);
    *log = (struct claude_log){ .file.file.fd = -1 };
}

enum { SHORTEST_FRONT = 4 };

/* The index keeps ids as numbers, so prefixes must be compared in the rows. */
static enum err_code find_front(struct claude_log *log, struct slice front, uint32_t *found,
                                struct err *e)
{
    const struct chain *c = &log->chain;

    *found = CHAIN_NONE;
    for (uint32_t i = 0; i < c->n; i++) {
        struct arena a = { 0 };
        struct slice row, id;

        if (!chain_has_row(c, i))
            continue;
        TRY(claude_node_row(log, i, &row, e));
        bool fits = json_get_text(row, "uuid", &a, &id) && id.n >= front.n &&
                    memcmp(id.p, front.p, front.n) == 0;

        arena_fini(&a);
        if (fits && *found != CHAIN_NONE)
            return err_set(e, ERR_USAGE, log->file.path, "find message %.*s: ambiguous prefix",
                           SLICE_ARG(front));
        if (fits)
            *found = i;
    }
    return ERR_OK;
}

enum err_code claude_find_message(struct claude_log *log, struct slice id, uint32_t *node,
                                  struct err *e)
{
    uint32_t found = chain_find(&log->chain, id128_of(id));
    enum err_code rc = ERR_OK;

    if (found != CHAIN_NONE && !chain_has_row(&log->chain, found))
        found = CHAIN_NONE;
    if (found == CHAIN_NONE && id.n >= SHORTEST_FRONT)
        rc = find_front(log, id, &found, e);
    if (!rc && found == CHAIN_NONE && id.n && id.p[0] == '@')
        rc = err_set(e, ERR_UNSUPPORTED, log->file.path,
                     "find message %.*s: it is named by its place, and only a row with an id of "
                     "its own can be changed or resumed at",
                     SLICE_ARG(id));
    else if (!rc && found == CHAIN_NONE)
        rc = err_set(e, ERR_NOT_FOUND, log->file.path,
                     "find message %.*s: no such message; see reprise messages --plain",
                     SLICE_ARG(id));
    if (!rc)
        *node = found;
    return rc;
}
