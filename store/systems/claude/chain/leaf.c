#include "store/systems/claude/chain/conversation_path.h"

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/log/logfile.h"
#include "store/systems/claude/chain/row_facts.h"

/* Determines whether the row is part of the main conversation: not a row of a sub-agent or a team
 * member, a progress row or a briefing. */
static enum err_code is_main(struct claude_log *log, uint32_t node, bool *is, struct err *e)
{
    const struct index_line *line = claude_node_line(log, node);
    uint8_t *mark = &log->chain.mark[node];
    struct slice row;

    if (!(*mark & (NODE_MAIN | NODE_NOT_MAIN))) {
        bool main = !claude_line_has(line, MARK_SIDECHAIN) && !claude_line_has(line, MARK_TEAM) &&
                    !claude_line_is(line, CLAUDE_PROGRESS);

        if (main && claude_line_is(line, CLAUDE_ATTACHMENT)) {
            TRY(claude_node_row(log, node, &row, e));
            main = !claude_value_is(row, "attachment.type", "fork_briefing");
        }
        *mark |= main ? NODE_MAIN : NODE_NOT_MAIN;
    }
    *is = *mark & NODE_MAIN;
    return ERR_OK;
}

/* Finds the nearest message from here upwards. A path that was climbed before is not climbed again. */
static uint32_t climb_to_message(struct claude_log *log, uint32_t node)
{
    struct chain *c = &log->chain;

    while (node != CHAIN_NONE && !(c->mark[node] & NODE_CLIMBED)) {
        if (claude_line_is_message(claude_node_line(log, node)))
            return node;
        c->mark[node] |= NODE_CLIMBED;
        node = chain_parent(c, node);
    }
    return CHAIN_NONE;
}

/* For a session that is only a sidechain: returns any row without followers, preferably one of a
 * person's conversation. */
static uint32_t last_resort(struct claude_log *log)
{
    struct chain *c = &log->chain;
    uint32_t any = CHAIN_NONE, better = CHAIN_NONE;

    for (size_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t)~NODE_CLIMBED;
    for (size_t i = 0; i < c->n; i++) {
        if (!chain_has_row(c, (uint32_t)i) || c->node[i].child != CHAIN_NONE)
            continue;
        uint32_t at = climb_to_message(log, (uint32_t)i);

        if (at == CHAIN_NONE)
            continue;
        const struct index_line *line = claude_node_line(log, at);
        bool plain = !(line->marks & (MARK_SIDECHAIN | MARK_TEAM | MARK_META));

        if (any == CHAIN_NONE || c->node[at].line > c->node[any].line)
            any = at;
        if (plain && (better == CHAIN_NONE || c->node[at].line > c->node[better].line))
            better = at;
    }
    return better != CHAIN_NONE ? better : any;
}

enum err_code claude_message_end(struct claude_log *log, uint32_t *leaf, uint32_t *terminal,
                                 struct err *e)
{
    const struct chain *c = &log->chain;

    *terminal = CHAIN_NONE;
    for (size_t i = log->file.index.n; i-- > c->first_line;) {
        uint32_t node = claude_line_node(log, i);
        bool end;

        if (node == CHAIN_NONE || c->node[node].line != i)
            continue;

        /* An end belongs to the main conversation, and no other such row follows it. */
        enum err_code rc = is_main(log, node, &end, e);
        uint32_t child = log->chain.node[node].child;

        for (; !rc && end && child != CHAIN_NONE; child = log->chain.node[child].next) {
            bool main;

            rc = is_main(log, child, &main, e);
            end = !main;
        }
        if (rc)
            return rc;

        *leaf = end ? climb_to_message(log, node) : CHAIN_NONE;
        if (*leaf != CHAIN_NONE) {
            *terminal = node;
            return ERR_OK;
        }
    }
    *leaf = last_resort(log);
    return ERR_OK;
}

enum err_code claude_message_leaf(struct claude_log *log, uint32_t *leaf, struct err *e)
{
    uint32_t terminal;

    return claude_message_end(log, leaf, &terminal, e);
}

/* ---- the client ---- */

/* In last-prompt rows the client records where a conversation ends: `leafUuid` is its last row; null (with `explicit`)
 * means that it starts over. Only the last such row counts. Qoder records it in active-leaf rows, each of which counts as
 * explicit, and its last-prompt rows name no leaf. */
struct checkpoint {
    size_t line;   /* the line of the last-prompt row */
    uint32_t node; /* CHAIN_NONE: cleared */
    bool found;
    bool explicit; /* earlier rows do not count */
};

enum err_code claude_logical_parent(struct claude_log *log, uint32_t node, uint32_t *before,
                                    struct err *e)
{
    const struct index_line *line = claude_node_line(log, node);
    struct slice row;

    *before = chain_parent(&log->chain, node);
    if (log->chain.node[node].parent != CHAIN_NONE || !claude_line_is(line, CLAUDE_SYSTEM) ||
        !claude_line_has(line, MARK_LOGICAL))
        return ERR_OK;
    TRY(claude_node_row(log, node, &row, e));

    struct id128 id = claude_id_at(row, "logicalParentUuid", &log->arena);
    uint32_t logical = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);

    if (logical != CHAIN_NONE && chain_has_row(&log->chain, logical))
        *before = logical;
    return ERR_OK;
}

static bool records_leaf(const struct index_line *line)
{
    return claude_line_is(line, CLAUDE_LAST_PROMPT) || claude_line_is(line, CLAUDE_ACTIVE_LEAF);
}

static bool leaf_is_explicit(struct slice row)
{
    return json_get_true(row, "explicit") || claude_value_is(row, "type", "active-leaf");
}

/* Returns false if the row names no leaf, so that the one before it counts. */
static bool claude_read_checkpoint(struct claude_log *log, struct slice row, struct checkpoint *p)
{
    struct slice leaf;

    p->explicit = leaf_is_explicit(row);
    if (!json_get(row, "leafUuid", &leaf))
        return false;
    if (json_type(leaf) == JSON_NULL) {
        p->found = p->explicit;
        return p->explicit;
    }
    if (json_type(leaf) != JSON_STRING)
        return false;
    struct id128 id = claude_id(leaf, &log->arena);

    p->node = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);
    p->found = p->node != CHAIN_NONE && chain_has_row(&log->chain, p->node);
    return true;
}

bool claude_leads_to_message(const struct claude_log *log, uint32_t node)
{
    for (size_t i = 0; i < log->chain.n && node != CHAIN_NONE; i++) {
        if (claude_line_is_message(claude_node_line(log, node)))
            return true;
        node = chain_parent(&log->chain, node);
    }
    return false;
}

static bool boundary_follows(const struct claude_log *log, size_t line)
{
    for (size_t i = line + 1; i < log->file.index.n; i++)
        if (claude_line_is(claude_line(log, i), CLAUDE_SYSTEM) &&
            claude_line_has(claude_line(log, i), MARK_COMPACT))
            return true;
    return false;
}

static enum err_code find_checkpoint(struct claude_log *log, struct checkpoint *p, struct err *e)
{
    bool found_any = false;
    enum err_code rc = ERR_OK;

    *p = (struct checkpoint){ .node = CHAIN_NONE };
    for (size_t i = log->file.index.n; i-- > log->chain.first_line && !rc;) {
        struct checkpoint q = { .line = i, .node = CHAIN_NONE };
        struct slice row;

        if (!records_leaf(claude_line(log, i)))
            continue;
        rc = claude_log_row(log, i, &row, e);
        if (rc || !claude_read_checkpoint(log, row, &q))
            continue;
        /* A row that only repeats what was written explicitly changes nothing. */
        if (found_any && (q.node != p->node || !q.found))
            break;
        *p = q;
        found_any = true;
        if (q.explicit || !q.found)
            break;
    }
    if (!rc && p->found && p->node != CHAIN_NONE) {
        /* In a file above a certain size, the client does not read anything before the last
         * boundary that kept nothing. */
        size_t line = log->chain.node[p->node].line, from = 0;

        rc = boundary_follows(log, line) ? claude_first_visible_line(log, &from, e) : ERR_OK;

        p->found =
            line >= from && claude_is_loaded(log, p->node) && claude_leads_to_message(log, p->node);
    }
    return rc;
}

/* `node` is the row `from` or follows it, without a gap between them. */
static bool claude_follows(struct claude_log *log, uint32_t node, uint32_t from)
{
    struct chain *c = &log->chain;

    while (node != CHAIN_NONE && node != from && !(c->mark[node] & NODE_CLIMBED)) {
        c->mark[node] |= NODE_CLIMBED;
        node = chain_parent(c, node);
    }
    for (size_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t)~NODE_CLIMBED;
    return node == from;
}

/* The last row of the main conversation from `line` on that the client loads. */
static enum err_code newest_row(struct claude_log *log, size_t line, uint32_t *newest,
                                struct err *e)
{
    *newest = CHAIN_NONE;
    for (size_t i = log->file.index.n; i-- > line;) {
        uint32_t node = claude_line_node(log, i);
        bool main;

        if (node == CHAIN_NONE || log->chain.node[node].line != i || !claude_is_loaded(log, node))
            continue;
        TRY(is_main(log, node, &main, e));
        if (main) {
            *newest = node;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static bool is_local_command_row(struct claude_log *log, struct slice row, const char *front)
{
    struct slice text;

    return claude_value_is(row, "subtype", "local_command") &&
           json_get_text(row, "content", &log->arena, &text) && slice_starts(text, front);
}

/* The client restores a slash command with its output: an explicit leaf at the system row of a command means the row of
 * the output below it. */
static enum err_code go_on_to_output(struct claude_log *log, uint32_t *leaf, struct err *e)
{
    const struct chain *c = &log->chain;
    uint32_t output = CHAIN_NONE;
    struct slice row;
    enum err_code rc = claude_node_row(log, *leaf, &row, e);

    if (rc || !claude_line_is(claude_node_line(log, *leaf), CLAUDE_SYSTEM) ||
        !is_local_command_row(log, row, "<command-name>"))
        return rc;
    for (uint32_t child = c->node[*leaf].child; child != CHAIN_NONE; child = c->node[child].next) {
        if (!claude_line_is(claude_node_line(log, child), CLAUDE_SYSTEM) ||
            !claude_is_loaded(log, child) ||
            (output != CHAIN_NONE && c->node[child].line > c->node[output].line))
            continue;
        TRY(claude_node_row(log, child, &row, e));
        if (is_local_command_row(log, row, "<local-command-stdout>") ||
            is_local_command_row(log, row, "<local-command-stderr>"))
            output = child;
    }
    *leaf = output != CHAIN_NONE ? output : *leaf;
    return ERR_OK;
}

static enum err_code find_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                      struct err *e)
{
    struct checkpoint p;
    enum err_code rc = find_checkpoint(log, &p, e);
    bool since = p.found && p.explicit;

    *cleared = false;
    if (!rc)
        rc = newest_row(log, since ? p.line + 1 : log->chain.first_line, leaf, e);
    if (rc || !p.found)
        return rc;
    if (p.node != CHAIN_NONE) {
        bool below = *leaf != CHAIN_NONE && claude_follows(log, *leaf, p.node);

        if (!below && *leaf != CHAIN_NONE && !p.explicit)
            rc = claude_follows_response(log, *leaf, p.node, &below, e);
        if (!below)
            *leaf = p.node;
        if (!rc && !below && p.explicit)
            rc = go_on_to_output(log, leaf, e);
    }
    *cleared = *leaf == CHAIN_NONE;
    return rc;
}

enum err_code claude_newest_leaf(struct claude_log *log, uint32_t *leaf, struct err *e)
{
    return newest_row(log, log->chain.first_line, leaf, e);
}

enum err_code claude_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                 struct err *e)
{
    bool relinked = log->relinked;
    enum err_code rc = relinked ? ERR_OK : claude_relink(log, e);

    if (!rc)
        rc = find_resume_leaf(log, leaf, cleared, e);
    if (!relinked)
        claude_unlink(log);
    return rc;
}

/* ---- the client, from the end of the file ---- */

/* Finds where a resume continues, starting at the end of the file. It is the newest row of the conversation if this row
 * is later than the newest last-prompt row and follows the row that the last-prompt row names, or if no last-prompt row
 * names a row. Usually both are near the end. Otherwise more of the file is read, and finally all of it, because a
 * wrong result would lose a conversation. */

enum {
    TAIL_FIRST = 256 * 1024,
    TAIL_MOST = 64 * 1024 * 1024, /* beyond this size the whole file is indexed instead */
    FAR = 4 * 1024 * 1024,
};

struct last_prompt {
    bool found, cleared, nil_uuid, explicit;
    size_t line;
    struct id128 leaf;
};

struct tail_search {
    const char *path;
    struct claude_log log;
    bool whole;      /* the log begins where the file begins */
    bool none_above; /* no last-prompt row above the log names a leaf */
    uint32_t leaf;   /* CHAIN_NONE: none */
};

/* Returns true if the row names a leaf, or clears the conversation. The nil UUID names no row, so the newest row
 * counts. */
static bool read_last_prompt(struct slice row, struct arena *a, struct last_prompt *p)
{
    struct slice leaf;

    if (!(claude_value_is(row, "type", "last-prompt") ||
          claude_value_is(row, "type", "active-leaf")) ||
        !json_get(row, "leafUuid", &leaf))
        return false;
    p->nil_uuid = json_string_is(leaf, "00000000-0000-0000-0000-000000000000");
    p->explicit = leaf_is_explicit(row);
    p->cleared = json_type(leaf) == JSON_NULL && p->explicit;
    p->leaf = claude_id(leaf, a);
    p->found = p->cleared || !id128_none(p->leaf);
    return p->found;
}

static enum err_code newest_last_prompt(struct claude_log *log, struct last_prompt *p,
                                        struct err *e)
{
    *p = (struct last_prompt){ 0 };
    for (size_t i = log->file.index.n; i-- > 0 && !p->found;) {
        struct slice row;

        if (!records_leaf(claude_line(log, i)))
            continue;
        TRY(claude_log_row(log, i, &row, e));
        p->line = i;
        read_last_prompt(row, &log->arena, p);
    }
    return ERR_OK;
}

enum err_code claude_leaf_is_read(struct claude_log *log, bool *is, struct err *e)
{
    struct last_prompt p;

    TRY(newest_last_prompt(log, &p, e));

    uint32_t named = p.found && !p.cleared ? chain_find(&log->chain, p.leaf) : CHAIN_NONE;

    *is = !p.found || p.cleared || p.nil_uuid ||
          (named != CHAIN_NONE && chain_has_row(&log->chain, named));
    return ERR_OK;
}

/* Decides only what rows above the log cannot change. none_above: no last-prompt row above the log names a leaf. */
static enum err_code decide(struct claude_log *log, bool none_above, uint32_t *leaf, bool *decided,
                            struct err *e)
{
    struct last_prompt p;
    uint32_t newest, named;

    TRY(newest_last_prompt(log, &p, e));
    TRY(newest_row(log, 0, &newest, e));
    bool later = newest != CHAIN_NONE && log->chain.node[newest].line > p.line;

    *leaf = newest;
    *decided = false;

    /* A boundary after the newest row may have left that row out, which only the whole file tells. */
    if (newest != CHAIN_NONE && boundary_follows(log, log->chain.node[newest].line))
        return ERR_OK;
    if (!p.found) {
        *decided = none_above && newest != CHAIN_NONE;
        return ERR_OK;
    }
    *decided = true;
    if (p.cleared) {
        *leaf = later ? newest : CHAIN_NONE;
        return ERR_OK;
    }
    if (p.nil_uuid) {
        *decided = newest != CHAIN_NONE;
        return ERR_OK;
    }
    named = chain_find(&log->chain, p.leaf);
    if (named == CHAIN_NONE || !chain_has_row(&log->chain, named) ||
        !(later || (newest == named && !p.explicit))) {
        *decided = false;
        return ERR_OK;
    }
    *decided = claude_follows(log, newest, named);
    return *decided || p.explicit ? ERR_OK
                                  : claude_follows_response(log, newest, named, decided, e);
}

struct above {
    const struct file *f;
    struct buf line;
    struct arena scratch;
    int64_t begin; /* the beginning of the last row that was found; -1: none */
};

static enum err_code check_last_prompt(void *arg, struct slice rest, int64_t offset, bool *enough,
                                       struct err *e)
{
    struct above *x = arg;
    struct last_prompt p;
    int64_t begin;
    enum err_code rc = log_find_line(x->f, offset, &x->line, &begin, e);
    struct slice row = claude_row(buf_slice(&x->line));

    (void)rest;
    if (!rc && json_valid(row) && read_last_prompt(row, &x->scratch, &p)) {
        x->begin = begin;
        *enough = true;
    }
    arena_reset(&x->scratch);
    return rc;
}

/* Sets *begin to the offset of the newest last-prompt row above the log that names a leaf; -1 if
 * not found. */
static enum err_code seek_above(const struct claude_log *log, int64_t *begin, struct err *e)
{
    struct above x = { .f = &log->file.file, .begin = -1 };
    const struct index *ix = &log->file.index;
    int64_t end = ix->n ? ix->line[0].offset : log->file.file.id.size;
    enum err_code rc = log_find_backward(x.f, end, SLICE("\"leafUuid\""), check_last_prompt, &x, e);

    *begin = x.begin;
    buf_fini(&x.line);
    arena_fini(&x.scratch);
    return rc;
}

enum err_code claude_leaf_is_certain(struct claude_log *log, bool search_above, bool *is,
                                     struct err *e)
{
    struct last_prompt p;
    uint32_t leaf;
    int64_t above = 0;

    TRY(newest_last_prompt(log, &p, e));
    if (!p.found && search_above)
        TRY(seek_above(log, &above, e));
    return decide(log, above < 0, &leaf, is, e);
}

/* The number of bytes to read next; 0: all. */
static enum err_code next_tail(struct tail_search *l, size_t *tail, struct claude_resume_point *out,
                               struct err *e)
{
    int64_t size = l->log.file.file.id.size, begin = -1;
    struct last_prompt p;
    enum err_code rc = newest_last_prompt(&l->log, &p, e);

    if (!rc && !p.found && !l->none_above) {
        rc = seek_above(&l->log, &begin, e);
        l->none_above = begin < 0;
        out->far = size - (begin < 0 ? 0 : begin) > FAR;
        if (begin >= 0)
            *tail = (size_t)(size - begin) + TAIL_FIRST;
    } else if (!rc) {
        *tail = p.found ? 0 : *tail * 16;
    }
    if (*tail > TAIL_MOST)
        *tail = 0;
    return rc;
}

static enum err_code open_tail(struct tail_search *l, size_t tail, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .tail = tail };

    TRY(claude_log_open(&l->log, l->path, &want, e));
    l->whole = tail == 0 || (uint64_t)l->log.file.file.id.size <= tail;
    return ERR_OK;
}

enum err_code claude_resume_point_of(const char *path, struct arena *a,
                                     struct claude_resume_point *out, struct err *e)
{
    struct tail_search l = { .path = path, .log.file.file.fd = -1 };
    struct slice row, text;

    *out = (struct claude_resume_point){ 0 };

    /* The end of the file is read, and more of it until that is enough to decide. */
    size_t tail = TAIL_FIRST;
    bool decided = false, cleared;
    enum err_code rc = open_tail(&l, tail, e);

    if (!rc && !l.whole)
        rc = decide(&l.log, l.none_above, &l.leaf, &decided, e);
    while (!rc && !decided && !l.whole) {
        size_t before = tail;

        rc = next_tail(&l, &tail, out, e);
        if (!rc && tail != before) {
            claude_log_close(&l.log);
            rc = open_tail(&l, tail, e);
        }
        if (!rc && !l.whole)
            rc = decide(&l.log, l.none_above, &l.leaf, &decided, e);
    }
    rc = rc || decided ? rc : claude_resume_leaf(&l.log, &l.leaf, &cleared, e);

    if (!rc && l.leaf != CHAIN_NONE)
        rc = claude_node_uuid(&l.log, l.leaf, a, &out->leaf, e);
    if (!rc && l.leaf != CHAIN_NONE)
        rc = claude_node_row(&l.log, l.leaf, &row, e);
    if (!rc && l.leaf != CHAIN_NONE && json_get_text(row, "cwd", a, &text) &&
        !(out->cwd = arena_copy(a, text)).p)
        rc = err_nomem(e);
    claude_log_close(&l.log);
    return rc;
}
