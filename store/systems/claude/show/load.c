#include <stdlib.h>

#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/show/item_list.h"

/* Loads the conversation as a person reads it: the messages that a resume would continue, and
 * everything before them; or another branch, and the point where it leaves the conversation. */

enum {
    TAIL_GROWS = 16,        /* how many times larger a tail may become to contain one row at all */
    UNCERTAIN_RESULTS = 32, /* so many rows of a tail may be results whose calls are above it */
};

static uint8_t claude_message_kind_of(const struct index_line *line)
{
    switch (line->kind) {
    case CLAUDE_USER: return MESSAGE_USER;
    case CLAUDE_ASSISTANT: return MESSAGE_ASSISTANT;
    case CLAUDE_SYSTEM: return MESSAGE_SYSTEM;
    case CLAUDE_ATTACHMENT: return MESSAGE_ATTACHMENT;
    default: return MESSAGE_OTHER;
    }
}

static enum err_code is_seam(struct claude_log *log, uint32_t line, bool *seam, struct err *e)
{
    const struct index_line *l = claude_line(log, line);
    struct slice row;

    *seam = false;
    if (!claude_line_is(l, CLAUDE_SYSTEM) ||
        (claude_line_has(l, MARK_PARENT) && !claude_line_has(l, MARK_COMPACT)))
        return ERR_OK;
    enum err_code rc = claude_log_row(log, line, &row, e);

    *seam = !rc && claude_is_boundary(row);
    return rc;
}

/* The path that is shown, and which of its rows are on the path of a resume. */
struct loading {
    struct claude_conversation_path walk;
    uint8_t *main;  /* owned; by node: on the path of a resume; NULL: that is the path shown */
    bool forked;    /* some messages are on no path */
    uint32_t aside; /* the first node that is not on the path of a resume; CHAIN_NONE: none */
};

static enum err_code add_transcript_row(struct loading *l, struct transcript *t, uint32_t line,
                                        struct err *e)
{
    struct claude_log *log = &l->walk.log;
    const struct index_line *ix = claude_line(log, line);
    uint32_t node = claude_line_node(log, line);
    struct message m = { .offset = ix->offset,
                         .length = ix->length,
                         .line = line,
                         .time_ms = ix->time_ms,
                         .id = ix->id,
                         .kind = claude_message_kind_of(ix) };
    bool seam;
    enum err_code rc = is_seam(log, line, &seam, e);
    unsigned flags = 0;

    flags |= claude_line_has(ix, MARK_META) ? MESSAGE_META : 0;
    flags |= claude_line_has(ix, MARK_SUMMARY) ? MESSAGE_SUMMARY : 0;
    flags |= !rc && seam ? MESSAGE_SEAM : 0;

    /* Nothing else is known about a line that cannot be read. */
    if (ix->state == LINE_BROKEN) {
        flags = MESSAGE_BROKEN;
        m.kind = MESSAGE_OTHER;
    } else {
        const struct claude_conversation_path *walk = &l->walk;

        flags |= node == CHAIN_NONE
                     ? 0
                     : (walk->log.chain.mark[node] & NODE_FORK ? MESSAGE_BRANCHED : 0) |
                           (walk->gap[node] ? MESSAGE_GAP : 0) |
                           (node == l->aside ? MESSAGE_ASIDE : 0) |
                           (node != walk->leaf ? 0
                            : walk->cleared    ? MESSAGE_CLEARED
                            : l->forked        ? MESSAGE_LEAF
                                               : 0);
    }
    m.flags = (uint16_t)flags;
    t->message[t->n++] = m;
    return rc;
}

static bool is_broken(const struct index *ix, size_t line)
{
    bool torn = ix->torn_tail && line + 1 == ix->n;

    return ix->line[line].state == LINE_BROKEN && !torn;
}

/* Adds the rows of the path and those that follow the leaf, and unreadable lines in between. */
static enum err_code fill_transcript(struct loading *l, const struct claude_item_list *behind,
                                     struct transcript *t, struct err *e)
{
    const struct claude_conversation_path *walk = &l->walk;
    const struct index *ix = &walk->log.file.index;
    size_t broken = 0, n = walk->n + behind->n;
    enum err_code rc = ERR_OK;

    t->message = malloc((n + t->broken + 1) * sizeof *t->message);
    if (!t->message)
        return err_nomem(e);
    for (size_t i = 0; !rc && i < n; i++) {
        uint32_t line =
            i < walk->n ? walk->log.chain.node[walk->path[i]].line : behind->item[i - walk->n].line;

        for (; !rc && broken < line; broken++)
            if (is_broken(ix, broken))
                rc = add_transcript_row(l, t, (uint32_t)broken, e);
        if (!rc && !claude_line_is(&ix->line[line], CLAUDE_PROGRESS))
            rc = add_transcript_row(l, t, line, e);
    }
    for (; !rc && broken < ix->n; broken++)
        if (is_broken(ix, broken))
            rc = add_transcript_row(l, t, (uint32_t)broken, e);
    return rc;
}

/* Walks to another leaf after recording the path to the first. */
static enum err_code leave_path(struct loading *l, uint32_t leaf, struct err *e)
{
    struct claude_conversation_path *walk = &l->walk;
    const size_t n = walk->log.chain.n;
    enum err_code rc = claude_conversation_path_go_to(walk, walk->leaf, e);

    l->main = rc ? NULL : calloc(n + 1, 1);
    if (!rc && !l->main)
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++)
        l->main[i] = walk->log.chain.mark[i] & NODE_LISTED;
    if (!rc)
        rc = claude_conversation_path_go_to(walk, leaf, e);
    for (size_t i = walk->n; i-- > 0 && !rc && !l->main[walk->path[i]];)
        l->aside = walk->path[i];
    return rc;
}

/* Parts of the conversation can be lost only where the parent of a row is missing, or where the path avoids a
 * compaction. */
static bool may_have_lost_parts(const struct claude_conversation_path *walk)
{
    const struct chain *c = &walk->log.chain;
    bool may = false;

    for (uint32_t i = 0; i < c->n && !may && !walk->cleared; i++) {
        const bool listed = c->mark[i] & NODE_LISTED;
        const struct index_line *line =
            chain_has_row(c, i) ? claude_node_line(&walk->log, i) : NULL;

        may = listed ? walk->gap[i]
                     : line && claude_line_is(line, CLAUDE_SYSTEM) &&
                           claude_line_has(line, MARK_COMPACT);
    }
    return may;
}

/* Reads the log again as the client does when it resumes; the chain is rebuilt. A file without
 * anything to resume, such as that of a sub-agent, leaves nothing out. */
static enum err_code mark_left_out(struct claude_conversation_path *walk, const atomic_bool *stop,
                                   struct transcript *t, struct err *e)
{
    struct claude_log *log = &walk->log;
    struct claude_item_list list = { 0 };
    uint8_t *loaded = calloc(log->file.index.n + 1, 1);
    size_t first = 0;
    bool certain = true;
    enum err_code rc = loaded ? claude_first_visible_line(log, &first, e) : err_nomem(e);

    if (!rc) {
        /* In a large file the client begins at a compaction, so the chain begins there, too. */
        chain_fini(&log->chain);
        rc = chain_build(&log->chain, &log->file.index, first, CLAUDE_MAIN_KINDS, e);
    }
    if (!rc && log->partial)
        rc = claude_leaf_is_certain(log, false, &certain, e);
    if (!rc)
        rc = claude_resume_list(log, &list, e);
    if (!rc) {
        struct claude_list_rows rows = { log, &list, stop };
        struct claude_hidden_rows hidden;

        rc = claude_hidden_rows_init(&hidden, claude_list_rows(&rows), e);
        hidden.partial = log->partial;
        for (size_t i = 0; i < list.n && !rc; i++) {
            enum claude_hidden_row left_out;

            rc = claude_hidden_rows_check(&hidden, i, &left_out, e);
            loaded[list.item[i].line] |= left_out == ROW_LOADED || left_out == ROW_LOADED_IN_PART;
        }
        t->uncertain = !certain || hidden.doubtful > UNCERTAIN_RESULTS;
        claude_hidden_rows_fini(&hidden);
    }
    for (size_t i = 0; i < t->n && !rc && (list.n || walk->cleared); i++)
        if (!loaded[t->message[i].line] && !(t->message[i].flags & MESSAGE_BROKEN))
            t->message[i].flags |= MESSAGE_LEFT_OUT;
    claude_item_list_fini(&list);
    free(loaded);
    return rc;
}

static enum err_code claude_build_transcript(struct loading *l, uint32_t leaf, struct transcript *t,
                                             struct err *e)
{
    struct claude_item_list behind = { 0 };
    struct claude_conversation_path *walk = &l->walk;
    const struct index *ix = &walk->log.file.index;
    enum err_code rc =
        leaf == walk->leaf ? claude_conversation_path_go_to(walk, leaf, e) : leave_path(l, leaf, e);

    if (!rc && leaf != CHAIN_NONE)
        rc = claude_add_trailing(&walk->log, leaf, &behind, e);
    if (!rc) {
        l->forked = claude_conversation_path_mark_branches(walk);
        t->partial = walk->partial;
        transcript_set_end(t, ix);
        t->lines = ix->n;
        for (size_t i = 0; i < ix->n; i++)
            t->broken += is_broken(ix, i);
        t->id = walk->log.file.file.id;
        t->size = t->id.size;
        rc = fill_transcript(l, &behind, t, e);
    }
    claude_item_list_fini(&behind);
    return rc;
}

/* branch: the last message of another branch, or none. marks: sets MESSAGE_LEFT_OUT, for which rows are read. */
static enum err_code claude_show_load(const struct session_ref *ref,
                                      const struct claude_log_want *want, struct id128 branch,
                                      bool marks, struct transcript **out, struct err *e)
{
    struct loading l = { .aside = CHAIN_NONE };
    struct transcript *t = calloc(1, sizeof *t);
    enum err_code rc = ERR_OK;

    if (!t || !(t->path = strdup(ref->path.p)))
        rc = err_nomem(e);
    if (rc)
        goto done;
    rc = claude_conversation_path_open(&l.walk, t->path, want, e);
    if (rc)
        goto done;
    uint32_t leaf = id128_none(branch) ? l.walk.leaf : chain_find(&l.walk.log.chain, branch);

    if (!id128_none(branch) && (leaf == CHAIN_NONE || !chain_has_row(&l.walk.log.chain, leaf)))
        rc = err_set(e, ERR_NOT_FOUND, t->path, "load the branch: its last message does not exist");
    else
        rc = claude_build_transcript(&l, leaf, t, e);

    /* This has to be known before mark_left_out() builds another chain. */
    const bool lost =
        !rc && marks && !t->partial && !l.main && !ref->nameless && may_have_lost_parts(&l.walk);

    if (!rc && marks)
        rc = mark_left_out(&l.walk, want->stop, t, e);
    if (!rc && lost)
        rc = claude_count_lost(&l.walk.log, &t->restored, &t->lost, e);
    claude_conversation_path_close(&l.walk);
    free(l.main);
done:
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code claude_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    return claude_load_branch(st, ref, (struct id128){ 0 }, cancel, out, e);
}

enum err_code claude_load_path(const struct store *st, const struct session_ref *ref,
                               const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return claude_show_load(ref,
                            &(struct claude_log_want){ .kinds = CLAUDE_MAIN_KINDS, .stop = cancel },
                            (struct id128){ 0 }, false, out, e);
}

enum err_code claude_load_branch(const struct store *st, const struct session_ref *ref,
                                 struct id128 leaf, const atomic_bool *cancel,
                                 struct transcript **out, struct err *e)
{
    (void)st;
    return claude_show_load(ref,
                            &(struct claude_log_want){ .kinds = CLAUDE_MAIN_KINDS, .stop = cancel },
                            leaf, true, out, e);
}

/* If one row is larger than the window, the window grows, up to a limit. */
enum err_code claude_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS,
                                    .tail = bytes ? bytes : 1,
                                    .stop = cancel };
    size_t most = want.tail < SIZE_MAX / TAIL_GROWS ? want.tail * TAIL_GROWS : want.tail;

    (void)st;
    for (;;) {
        struct transcript *t;

        TRY(claude_show_load(ref, &want, (struct id128){ 0 }, true, &t, e));
        if (t->n || !t->partial || want.tail >= most) {
            *out = t;
            return ERR_OK;
        }
        transcript_free(t);
        want.tail = want.tail > most / 4 ? most : want.tail * 4;
    }
}
