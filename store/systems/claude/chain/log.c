#include "store/systems/claude/chain/log.h"

#include <stdlib.h>

#include "lite/json/json.h"

static const char *const kinds[] = {
    "user",
    "assistant",
    "system",
    "attachment",
    "progress",
    "queue-operation",
    "host-row",
    "last-prompt",
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

static enum err_code open_file(struct claude_log *log, const char *path,
                               const struct claude_log_want *want, struct err *e)
{
    if (want->tail)
        return logfile_open_tail(&log->file, path, FILE_FOLLOW, &claude_index_keys, want->tail, e);
    return logfile_open(&log->file, path, FILE_FOLLOW, &claude_index_keys, want->stop, e);
}

/* The empty string is an id like others, but as a parent it names nobody. */
static void drop_empty_parents(struct index *ix)
{
    for (size_t i = 0; i < ix->n; i++)
        if (!(ix->line[i].marks & MARK_PARENT))
            ix->line[i].parent = (struct id128){ 0, 0 };
}

static void drop_sidechain(struct index *ix)
{
    for (size_t i = 0; i < ix->n; i++)
        if (claude_line_has(&ix->line[i], MARK_SIDECHAIN))
            ix->line[i].id = (struct id128){ 0, 0 };
}

enum err_code claude_log_open(struct claude_log *log, const char *path,
                              const struct claude_log_want *want, struct err *e)
{
    size_t first = 0;

    *log = (struct claude_log){ .file.file.fd = -1 };
    enum err_code rc = open_file(log, path, want, e);

    if (rc)
        return rc;
    if (want->skip_precompact)
        rc = claude_seen_from(log, &first, e);
    if (!rc && !want->as_written)
        rc = claude_read_voice_rows(log, e);
    drop_empty_parents(&log->file.index);
    if (want->no_sidechain)
        drop_sidechain(&log->file.index);
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
    free(log->stand_in);
    idset_fini(&log->kept);
    *log = (struct claude_log){ .file.file.fd = -1 };
}

static const struct claude_stand_in *stand_in_of(const struct claude_log *log, size_t line)
{
    size_t lo = 0, hi = log->stand_ins;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (log->stand_in[mid].line < line)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < log->stand_ins && log->stand_in[lo].line == line ? &log->stand_in[lo] : NULL;
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
    const struct claude_stand_in *other = stand_in_of(log, line);

    if (other) {
        *row = other->row;
        return ERR_OK;
    }
    enum err_code rc = logfile_row(&log->file, line, row, e);

    if (!rc)
        *row = claude_row(*row);
    return rc;
}

/* Called with growing lines. What the index says about the line becomes what it says about the row, but
 * the line keeps its place in the file. */
enum err_code claude_log_stand_in(struct claude_log *log, size_t line, struct slice row,
                                  struct err *e)
{
    if (log->stand_ins == log->cap) {
        size_t cap = log->cap ? 2 * log->cap : 16;
        struct claude_stand_in *more = realloc(log->stand_in, cap * sizeof *more);

        if (!more)
            return err_nomem(e);
        log->stand_in = more;
        log->cap = cap;
    }
    struct index one = { 0 };
    enum err_code rc = index_bytes(&one, row, 0, &claude_index_keys, INDEX_VALIDATE, e);

    if (rc)
        return rc;
    row = arena_copy(&log->arena, row);
    if (row.p && one.n == 1) {
        struct index_line *l = &log->file.index.line[line], was = *l;

        *l = one.line[0];
        l->offset = was.offset;
        l->length = was.length;
        log->stand_in[log->stand_ins++] = (struct claude_stand_in){ (uint32_t)line, row };
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

bool claude_follows(const struct claude_log *log, uint32_t node)
{
    const struct index_line *line = claude_node_line(log, node);

    return log->chain.node[node].parent != CHAIN_NONE ||
           (claude_line_has(line, MARK_PARENT) && id128_none(line->parent));
}
