#include <stdlib.h>

#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/prompt.h"

/* What leaves the way that a resume goes on with: every message off it that nothing off it follows is the end of a
 * branch. Branches may leave branches; each is told from where it leaves the way. */

enum {
    FIRST_MESSAGES = 8, /* looked at for what a branch begins with */
    LAST_ROWS = 64,     /* of users, looked at for its last prompt */
    BRANCHES_MAX = 500, /* the newest; nobody reads more, and each is climbed by itself */
};

struct finding_out {
    struct claude_conversation_path way;
    struct branch_list *list; /* to be filled */
};

/* Marks whatever has a message off the way below it. */
static void mark_inner(struct claude_conversation_path *way)
{
    struct chain *c = &way->log.chain;

    for (uint32_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t)~NODE_BRANCH;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t at = claude_conversation_path_lacks(way, i) ? chain_parent(c, i) : CHAIN_NONE;

        while (at != CHAIN_NONE && !(c->mark[at] & (NODE_LISTED | NODE_BRANCH))) {
            c->mark[at] |= NODE_BRANCH;
            at = chain_parent(c, at);
        }
    }
}

/* The message of the way above a node; CHAIN_NONE: the branch has a beginning of its own, or goes in a circle. *messages
 * are those between; first, of which there are *firsts, are the uppermost of them, the uppermost first. */
static uint32_t climb_to_path(const struct finding_out *f, uint32_t node, size_t *messages,
                              uint32_t *first, size_t *firsts)
{
    const struct chain *c = &f->way.log.chain;
    uint32_t ring[FIRST_MESSAGES];
    size_t n = 0;

    for (size_t steps = 0; node != CHAIN_NONE && !(c->mark[node] & NODE_LISTED) && steps < c->n;
         steps++) {
        if (claude_conversation_path_lacks(&f->way, node))
            ring[n++ % FIRST_MESSAGES] = node;
        node = chain_parent(c, node);
    }
    *messages = n;
    *firsts = n < FIRST_MESSAGES ? n : FIRST_MESSAGES;
    for (size_t i = 0; i < *firsts; i++)
        first[i] = ring[(n - 1 - i) % FIRST_MESSAGES];
    return node;
}

/* What the row of a user's message asks; empty when it is a tool's result or the like. */
static enum err_code read_row(struct finding_out *f, uint32_t node, struct slice *out,
                              struct err *e)
{
    struct claude_log *log = &f->way.log;
    struct prompt p = { .text = { 0 } };
    struct slice row;
    enum err_code rc = claude_log_row(log, log->chain.node[node].line, &row, e);

    if (!rc && !prompt_of_row(row, &f->list->arena, &p))
        rc = err_nomem(e);
    if (rc || (p.text.n == 0 && p.command.n == 0))
        return rc;
    *out = arena_copy(&f->list->arena, p.text.n ? p.text : p.command); /* the row goes */
    return out->p ? ERR_OK : err_nomem(e);
}

/* The first prompt among them. */
static enum err_code read_prompt(struct finding_out *f, const uint32_t *first, size_t n,
                                 struct slice *out, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc && out->n == 0; i++)
        if (claude_node_line(&f->way.log, first[i])->kind == CLAUDE_USER)
            rc = read_row(f, first[i], out, e);
    return rc;
}

/* The last prompt at or above the leaf, on the branch or before it. */
static enum err_code read_last(struct finding_out *f, uint32_t leaf, struct slice *out,
                               struct err *e)
{
    const struct chain *c = &f->way.log.chain;
    enum err_code rc = ERR_OK;
    int read = 0;

    for (size_t steps = 0; leaf != CHAIN_NONE && steps < c->n && read < LAST_ROWS && !rc && !out->n;
         steps++, leaf = chain_parent(c, leaf))
        if (claude_node_line(&f->way.log, leaf)->kind == CLAUDE_USER) {
            rc = read_row(f, leaf, out, e);
            read++;
        }
    return rc;
}

static enum err_code add_branch(struct finding_out *f, uint32_t leaf, struct err *e)
{
    const struct chain *c = &f->way.log.chain;
    struct branch_list *list = f->list;
    struct branch b = { .leaf = chain_id(c, leaf),
                        .time_ms = claude_node_line(&f->way.log, leaf)->time_ms };
    uint32_t first[FIRST_MESSAGES];
    size_t firsts;
    uint32_t from = climb_to_path(f, leaf, &b.messages, first, &firsts);

    if (from != CHAIN_NONE)
        b.from = chain_id(c, from);
    enum err_code rc = read_prompt(f, first, firsts, &b.prompt, e);

    if (!rc)
        rc = read_last(f, leaf, &b.last, e);
    struct branch *more = arena_grow(&list->arena, list->branch, list->n, sizeof *more);

    if (rc || !more)
        return rc ? rc : err_nomem(e);
    list->branch = more;
    list->branch[list->n++] = b;
    return ERR_OK;
}

enum err_code claude_branches(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, struct branch_list *out, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .stop = cancel };
    struct branch_list list = { 0 };
    struct finding_out f = { .list = &list };
    enum err_code rc = claude_conversation_path_open(&f.way, ref->path.p, &want, e);

    (void)st;
    if (rc)
        return err_wrap(e, rc, "look for branches");
    rc = claude_conversation_path_go_to(&f.way, f.way.leaf, e);
    mark_inner(&f.way);
    const struct chain *c = &f.way.log.chain;

    for (size_t i = c->n;
         i-- > 0 && !rc && list.n < BRANCHES_MAX;) { /* the newest last in the file */
        if (cancel && atomic_load(cancel))
            rc = ERR_CANCELLED;
        else if (claude_conversation_path_lacks(&f.way, (uint32_t)i) && !(c->mark[i] & NODE_BRANCH))
            rc = add_branch(&f, (uint32_t)i, e);
    }
    claude_conversation_path_close(&f.way);
    if (rc)
        branch_list_fini(&list);
    else
        *out = list;
    return rc ? err_wrap(e, rc, "look for branches") : ERR_OK;
}
