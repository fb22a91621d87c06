#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/log/chain.h"
#include "store/log/logfile.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/jsonl.h"

/* Walks the rows of a session and passes their calls to tool_edits.c.
 *
 * A file is first searched for the names of the paths, which most files do not contain. Otherwise its lines are
 * indexed, and those that name a path, or have the result of such a call, are read. The turn of an edit is found by
 * going up from its row to the prompt. Edits of a sub-agent belong to the turn in which it got its task. */

enum { PIECE = 1 << 20, NAME_MOST = 512, ROW_MOST = 64 << 20 };

static bool tool_edits_walk_is_cancelled(const struct edit_query *q)
{
    return q->cancel && atomic_load_explicit(q->cancel, memory_order_relaxed);
}

/* ---- a file's bytes ---- */

static enum err_code tool_edits_walk_may_name(const char *path, const struct edit_query *q,
                                              struct buf *b, bool *may, struct err *e)
{
    struct file f;
    enum err_code rc;

    *may = true;
    if (!q->files_only || q->reads) /* a listing does not name what is not there */
        return ERR_OK;
    TRY(file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e));
    int64_t at = 0;
    size_t got = PIECE, kept = 0;
    rc = buf_reserve(b, PIECE + NAME_MOST) ? err_nomem(e) : ERR_OK;

    *may = false;
    while (!rc && !*may && got == PIECE) {
        rc = file_read(&f, at, b->p + kept, PIECE, &got, e);
        if (!rc && tool_edits_walk_is_cancelled(q))
            rc = err_set(e, ERR_CANCELLED, NULL, "read edits");
        if (rc)
            break;
        *may = edit_may_name(q, (struct slice){ b->p, kept + got });
        at += (int64_t)got;
        size_t keep = kept + got < NAME_MOST ? kept + got : NAME_MOST;

        memmove(b->p, b->p + kept + got - keep, keep);
        kept = keep;
    }

    file_close(&f);
    return rc ? err_at(e, rc, path) : ERR_OK;
}

/* ---- turns ---- */

struct turn {
    struct slice id, prompt;
    int64_t time_ms;
};

/* One transcript whose lines are indexed, and the turns that were looked for in it. */
struct walked {
    const struct store *st;
    const struct store_ops *ops; /* that read the rows */
    const char *path;
    struct logfile log;
    struct chain chain;
    struct arena arena;
    struct turn *turn; /* in the arena */
    size_t turns;
    uint32_t *turn_of; /* by line: 1 + number of its turn, 0: not looked for; owned */
    struct buf row;    /* copy of a row while others are read */
    bool is_open;
};

#define NO_TURN UINT32_MAX

static enum err_code walked_open(struct walked *w, const struct store_ops *ops,
                                 const struct session_ref *ref, const struct edit_query *q,
                                 struct err *e)
{
    enum err_code rc;

    *w = (struct walked){ .st = ref->store, .ops = ops, .path = ref->path.p };
    TRY(logfile_open(&w->log, w->path, FILE_FOLLOW, ops->row_keys, q->cancel, e));
    w->turn_of = calloc(w->log.index.n + 1, sizeof *w->turn_of);
    rc = w->turn_of ? chain_build(&w->chain, &w->log.index, 0, UINT64_MAX, e) : err_nomem(e);
    w->is_open = !rc;
    if (rc) {
        free(w->turn_of);
        logfile_close(&w->log);
    }
    return rc;
}

static void walked_close(struct walked *w)
{
    if (!w->is_open)
        return;
    chain_fini(&w->chain);
    logfile_close(&w->log);
    arena_fini(&w->arena);
    buf_fini(&w->row);
    free(w->turn_of);
    w->is_open = false;
}

static const struct block *prompt_in(const struct block_list *blocks)
{
    for (size_t i = 0; i < blocks->n; i++)
        if (blocks->block[i].kind == BLOCK_PROMPT || blocks->block[i].kind == BLOCK_COMMAND)
            return &blocks->block[i];
    return NULL;
}

/* Adds the turn that the row begins, if it is a prompt. */
static enum err_code tool_edits_walk_read_turn(struct walked *w, size_t line, uint32_t *number,
                                               struct err *e)
{
    struct block_list blocks = { 0 };
    struct slice row, id = { NULL, 0 };
    const struct block *prompt;
    enum err_code rc = logfile_row(&w->log, line, &row, e);

    if (!rc)
        rc = w->ops->blocks(w->st, row, &blocks, e);
    prompt = rc ? NULL : prompt_in(&blocks);
    if (prompt) {
        struct turn *list = arena_grow(&w->arena, w->turn, w->turns, sizeof *list);

        json_get_text(row, w->ops->row_keys->id, &w->arena, &id);
        if (list) {
            w->turn = list;
            list[w->turns] = (struct turn){ .id = arena_copy(&w->arena, id),
                                            .prompt = arena_copy(&w->arena, prompt->text),
                                            .time_ms = w->log.index.line[line].time_ms };
            *number = (uint32_t)++w->turns;
        }
        rc = w->arena.failed ? err_nomem(e) : ERR_OK;
    }
    transcript_blocks_fini(&blocks);
    return rc;
}

/* The line that precedes a line: that of its parent, else the previous one in the file. */
static size_t line_before(const struct walked *w, size_t line)
{
    const struct index_line *l = &w->log.index.line[line];
    uint32_t node = id128_none(l->parent) ? CHAIN_NONE : chain_find(&w->chain, l->parent);
    uint32_t parent = node == CHAIN_NONE ? CHAIN_NONE : w->chain.node[node].first;

    return parent != CHAIN_NONE && parent < line ? parent : line - 1;
}

/* NULL: before the first prompt. */
static enum err_code tool_edits_walk_turn_at(struct walked *w, size_t line,
                                             const struct turn **turn, struct err *e)
{
    enum err_code rc = ERR_OK;

    *turn = NULL;
    if (line >= w->log.index.n)
        return ERR_OK;
    if (!w->turn_of[line]) {
        /* Goes up to the prompt; the lines on the way get the same turn. */
        const struct index_line *l = w->log.index.line;
        uint32_t number = 0;
        size_t at = line;
        rc = ERR_OK;

        for (;; at = line_before(w, at)) {
            number = w->turn_of[at];
            if (!number && l[at].state == LINE_OK && l[at].kind == 1)
                rc = tool_edits_walk_read_turn(w, at, &number, e);
            if (rc || number || at == 0)
                break;
        }
        if (!rc && !number)
            number = NO_TURN;
        for (size_t i = line; !rc; i = line_before(w, i)) {
            w->turn_of[i] = number;
            if (i == at)
                break;
        }
    }
    if (!rc && w->turn_of[line] != NO_TURN)
        *turn = &w->turn[w->turn_of[line] - 1];
    return rc;
}

/* ---- rows ---- */

/* The session that is walked, and the transcript that is read in it. */
struct session_walk {
    const struct store_ops *ops;
    const struct session_ref *ref;
    const struct edit_query *q;
    struct tool_edits edits;
    struct walked main, *now;
    size_t line;        /* in `now` */
    bool own_cwd;       /* the session's directory was asked for */
    struct arena arena; /* owns the texts of the session */
    struct buf scratch;
};

static enum err_code tool_edits_walk_set_turn(void *arg, struct edit *edit, struct err *e)
{
    struct session_walk *s = arg;
    struct walked *w = &s->main;
    const struct turn *turn;
    enum err_code rc = tool_edits_walk_turn_at(s->now, s->line, &turn, e);

    if (!rc && s->now != w) {
        /* Otherwise the sub-agent's transcript is all that is left. */
        if (turn && (w->is_open || !walked_open(w, s->ops, s->ref, s->q, NULL))) {
            /* The last line of the conversation that is not later than the task of the sub-agent. */
            size_t last = 0;

            for (size_t i = 0; i < w->log.index.n; i++)
                if (w->log.index.line[i].time_ms != TIME_NONE &&
                    w->log.index.line[i].time_ms <= turn->time_ms &&
                    !id128_none(w->log.index.line[i].id))
                    last = i;
            rc = tool_edits_walk_turn_at(w, last, &turn, e);
        } else
            turn = NULL;
    }
    if (!rc && turn) {
        edit->turn = turn->id;
        edit->prompt = turn->prompt;
    }
    return rc;
}

/* Rows that record no directory are read in that of the session. */
static void read_session_cwd(struct session_walk *s)
{
    const struct scope everywhere = { .all = true };
    struct session_row *row = s->own_cwd ? NULL : session_row_new();

    s->own_cwd = true;
    if (row &&
        s->ref->store->ops->describe(s->ref->store, &everywhere, s->ref, row, NULL) == ERR_OK &&
        row->cwd.n)
        s->edits.cwd = arena_copy(&s->arena, row->cwd).p;
    session_row_free(row);
}

static enum err_code tool_edits_walk_row(struct session_walk *s, struct slice row, struct err *e)
{
    const struct store *st = s->ref->store;
    const struct index_line *line = &s->now->log.index.line[s->line];
    struct block_list blocks = { 0 };
    struct slice text;
    const char *before = s->edits.cwd;
    enum err_code rc = s->ops->blocks(st, row, &blocks, e);

    s->edits.now.time_ms = line->time_ms;
    if (json_get_text(row, "cwd", &blocks.arena, &text) && text.n && *text.p == '/')
        s->edits.cwd = arena_copy(&blocks.arena, text).p;
    else if (!s->own_cwd)
        read_session_cwd(s), before = s->edits.cwd;
    if (!json_get_text(row, s->ops->row_keys->id, &blocks.arena, &s->edits.now.message))
        s->edits.now.message = SLICE("");
    s->edits.row = row;
    if (!rc)
        rc = tool_edits_blocks(&s->edits, &blocks, e);
    s->edits.cwd = before;
    transcript_blocks_fini(&blocks);
    return rc;
}

/* The row is copied, because a turn may be looked for while it is read. */
static enum err_code walk_line(struct session_walk *s, struct err *e)
{
    struct walked *w = s->now;
    struct slice row;
    enum err_code rc;

    if (w->log.index.line[s->line].state != LINE_OK || w->log.index.line[s->line].length > ROW_MOST)
        return ERR_OK;
    rc = logfile_row(&w->log, s->line, &row, e);
    if (rc || !(edit_may_name(s->q, row) || (s->q->reads && slice_has(row, "\"command\"")) ||
                tool_edits_waits_for(&s->edits, row)))
        return rc;
    w->row.n = 0;
    if (buf_add(&w->row, row))
        return err_nomem(e);
    return tool_edits_walk_row(s, buf_slice(&w->row), e);
}

static enum err_code walk_lines(struct session_walk *s, struct walked *w, struct err *e)
{
    enum err_code rc = ERR_OK;

    s->now = w;
    for (s->line = 0; !rc && s->line < w->log.index.n; s->line++)
        rc = tool_edits_walk_is_cancelled(s->q) ? err_set(e, ERR_CANCELLED, w->path, "read edits")
                                                : walk_line(s, e);
    return rc;
}

static enum err_code tool_edits_walk_agent(struct session_walk *s, struct slice id, struct err *e)
{
    const struct store *st = s->ref->store;
    struct session_ref ref;
    struct walked w = { 0 };
    bool may = false;

    if (s->ops->subagent(st, s->ref, id, &s->arena, &ref, NULL) ||
        tool_edits_walk_may_name(ref.path.p, s->q, &s->scratch, &may, NULL) || !may)
        return ERR_OK;
    if (walked_open(&w, s->ops, &ref, s->q, NULL))
        return ERR_OK;
    s->edits.now.agent = id;
    enum err_code rc = walk_lines(s, &w, e);

    s->edits.now.agent = SLICE("");
    walked_close(&w);
    return rc;
}

enum err_code tool_edits_files(const struct store_ops *ops, const struct session_ref *ref,
                               const struct edit_query *q, tool_edits_fill_fn *fill, edit_fn *fn,
                               void *arg, struct err *e)
{
    struct session_walk s = { .ops = ops, .ref = ref, .q = q };
    enum err_code rc;

    s.edits = (struct tool_edits){
        .q = q, .fn = fn, .arg = arg, .fill = fill, .turn = tool_edits_walk_set_turn
    };
    s.edits.turn_arg = &s;
    bool may;

    rc = tool_edits_walk_may_name(s.ref->path.p, s.q, &s.scratch, &may, e);
    if (!rc && may)
        rc = walked_open(&s.main, s.ops, s.ref, s.q, e);
    if (!rc && may)
        rc = walk_lines(&s, &s.main, e);
    if (!rc) {
        /* The main log stays open, because it has the turns to which the edits of sub-agents belong. */
        const struct store *st = s.ref->store;
        struct slice *ids = NULL;
        size_t n = 0;

        if (s.ops->subagents && s.ops->subagent)
            rc = s.ops->subagents(st, s.ref, &s.arena, &ids, &n, e);
        for (size_t i = 0; !rc && i < n; i++)
            rc = tool_edits_walk_agent(&s, ids[i], e);
    }
    walked_close(&s.main);
    tool_edits_fini(&s.edits);
    arena_fini(&s.arena);
    buf_fini(&s.scratch);
    return rc;
}

/* ---- sessions that are not files of rows ---- */

struct loaded_turn {
    int64_t time_ms;
    struct slice id, prompt;
};

struct loaded_walk {
    const struct session_ref *ref;
    struct tool_edits edits;
    struct arena arena; /* owns the texts of the turns */
    struct buf row;
    store_load_fn *load;
    struct loaded_turn *turn; /* the turns of the session */
    size_t turns;
    bool in_agent; /* the task of a sub-agent is not a turn of the session */
    /* the time of the last row that has one; before the first one, that of the end of the session */
    int64_t time_ms;
};

/* The turn that was running then. */
static bool enter_loaded_turn(struct loaded_walk *l, int64_t time_ms)
{
    for (size_t i = l->turns; i > 0 && time_ms != TIME_NONE; i--)
        if (l->turn[i - 1].time_ms != TIME_NONE && l->turn[i - 1].time_ms <= time_ms) {
            l->edits.now.turn = l->turn[i - 1].id;
            l->edits.now.prompt = l->turn[i - 1].prompt;
            return true;
        }
    return false;
}

static enum err_code walk_loaded_row(struct loaded_walk *l, const struct message *m, struct err *e)
{
    static const char *const names[] = { "uuid", "id", "promptId" };
    const struct store *st = l->ref->store;
    struct block_list blocks = { 0 };
    struct slice id = { NULL, 0 };
    const struct block *prompt;
    enum err_code rc = st->ops->blocks(st, buf_slice(&l->row), &blocks, e);

    for (size_t i = 0; i < 3 && !id.n; i++)
        if (!json_get_text(buf_slice(&l->row), names[i], &blocks.arena, &id))
            id = (struct slice){ NULL, 0 };
    prompt = rc || l->in_agent || m->flags & MESSAGE_META ? NULL : prompt_in(&blocks);
    if (prompt) {
        struct loaded_turn *more = arena_grow(&l->arena, l->turn, l->turns, sizeof *more);

        l->edits.now.turn = arena_copy(&l->arena, id);
        l->edits.now.prompt = arena_copy(&l->arena, prompt->text);
        if (more && !l->arena.failed) {
            l->turn = more;
            l->turn[l->turns++] =
                (struct loaded_turn){ m->time_ms, l->edits.now.turn, l->edits.now.prompt };
        } else {
            rc = err_nomem(e);
        }
    }
    if (m->time_ms != TIME_NONE)
        l->time_ms = m->time_ms;
    l->edits.now.message = id;
    l->edits.now.time_ms = l->time_ms;
    l->edits.row = buf_slice(&l->row);
    if (!rc)
        rc = tool_edits_blocks(&l->edits, &blocks, e);
    transcript_blocks_fini(&blocks);
    return rc;
}

static enum err_code walk_loaded(struct loaded_walk *l, const struct session_ref *ref,
                                 struct err *e)
{
    struct transcript *t = NULL;
    enum err_code rc = l->load(ref->store, ref, l->edits.q->cancel, &t, e);

    l->in_agent =
        !rc && l->edits.now.agent.n && t->n && enter_loaded_turn(l, t->message[0].time_ms);
    for (size_t i = 0; !rc && i < t->n; i++) {
        if (t->message[i].flags & MESSAGE_BROKEN || t->message[i].length > ROW_MOST)
            continue;
        rc = transcript_read(t, i, &l->row, e);
        if (!rc)
            rc = walk_loaded_row(l, &t->message[i], e);
    }
    transcript_free(t);
    return rc;
}

enum err_code tool_edits_rows(const struct store *st, const struct session_ref *ref,
                              store_load_fn *load, const struct edit_query *q,
                              tool_edits_fill_fn *fill, edit_fn *fn, void *arg, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct loaded_walk l = { .ref = ref,
                             .load = load,
                             .edits = { .q = q, .fn = fn, .arg = arg, .fill = fill } };
    struct session_row *row = session_row_new();
    enum err_code rc = row ? ERR_OK : err_nomem(e);

    l.time_ms = TIME_NONE;
    if (!rc && st->ops->describe(st, &everywhere, ref, row, NULL) == ERR_OK) {
        l.time_ms = row->activity_ms;
        if (row->cwd.n)
            l.edits.cwd = arena_copy(&row->arena, row->cwd).p;
    }
    if (!rc)
        rc = walk_loaded(&l, ref, e);
    struct arena a = { 0 };
    struct slice *ids = NULL;
    size_t n = 0;

    if (!rc && st->ops->subagents && st->ops->subagent)
        rc = st->ops->subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; !rc && i < n; i++) {
        struct session_ref agent;

        l.edits.now.agent = ids[i];
        if (!st->ops->subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = walk_loaded(&l, &agent, e);
    }
    arena_fini(&a);
    tool_edits_fini(&l.edits);
    arena_fini(&l.arena);
    buf_fini(&l.row);
    session_row_free(row);
    return rc;
}

enum err_code tool_edits_logged(const struct store *st, const struct session_ref *ref,
                                const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    return tool_edits_rows(st, ref, jsonl_load_all, q, NULL, fn, arg, e);
}

enum err_code tool_edits_loaded(const struct store *st, const struct session_ref *ref,
                                const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    return tool_edits_rows(st, ref, st->ops->load, q, NULL, fn, arg, e);
}
