#include "store/systems/common/lost_path.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/journal/change.h"
#include "store/log/chain.h"

/* Joints of one session; what is broken more often is no conversation. The first kinds of these agents are the messages
 * of the person, of the model and of tools. */
enum { JOINTS_MOST = 1000, SPOKEN_KINDS = 3 };

struct lost_joint {
    uint32_t node, before;
    size_t left_out;
};

struct lost_path {
    struct logfile *log; /* borrowed */
    struct chain chain;
    struct lost_joint *joint; /* owned */
    size_t n, cap;
    size_t restored; /* messages below the lowest joint */
};

static void lost_path_fini(struct lost_path *l)
{
    chain_fini(&l->chain);
    free(l->joint);
}

/* ---- a joint ---- */

enum err_code lost_path_row(struct logfile *log, size_t line, const char *parent, struct slice id,
                            struct arena *a, struct log_damage *out, struct err *e)
{
    const bool torn = log->index.torn_tail && line + 1 == log->index.n;
    struct slice row, old;
    AUTO_BUF text = { 0 };
    struct jsonout quoted;

    TRY(logfile_row(log, line, &row, e));
    if (!json_get(row, parent, &old))
        return err_set(e, ERR_FORMAT, log->path, "join a part: its row names no parent");
    NEED(!buf_add(&text, (struct slice){ row.p, (size_t)(old.p - row.p) }));
    jsonout_init(&quoted, &text);
    jsonout_text(&quoted, id);
    NEED(
        !quoted.rc &&
        !buf_add(&text, (struct slice){ old.p + old.n, (size_t)(row.p + row.n - old.p) - old.n }) &&
        (torn || !buf_add_byte(&text, '\n')));
    *out = (struct log_damage){ .line = line,
                                .lines = 1,
                                .repair = "joins it to the row above",
                                .bytes = arena_copy(a, buf_slice(&text)) };
    NEED(out->bytes.p);
    return ERR_OK;
}

static int lost_by_line(const void *x, const void *y)
{
    const struct log_damage *a = x, *b = y;

    return (a->line > b->line) - (a->line < b->line);
}

enum err_code lost_path_plan(struct logfile *log, struct log_damage row[], size_t n,
                             struct change *c, struct err *e)
{
    CLEANUP(log_repair_fini) struct log_repair repair = { .offset = 0 };

    qsort(row, n, sizeof *row, lost_by_line);
    TRY(log_repair_rows(log, row, n, &repair, e));

    const struct step s = { .kind = STEP_TAIL,
                            .path = log->path,
                            .bytes = buf_slice(&repair.bytes),
                            .old = buf_slice(&repair.old),
                            .offset = repair.offset,
                            .mtime_ns = log->file.id.mtime_ns };

    return change_add(c, &s, e);
}

/* ---- the search ---- */

static const struct index_line *lost_path_line(const struct lost_path *l, uint32_t node)
{
    return &l->log->index.line[l->chain.node[node].line];
}

static bool lost_path_is_spoken(const struct lost_path *l, uint32_t node)
{
    const uint8_t kind = lost_path_line(l, node)->kind;

    return kind > 0 && kind <= SPOKEN_KINDS;
}

/* Marks the path from the node up, as far as it is written, counts its messages, and returns its top. */
static uint32_t lost_path_walk(struct lost_path *l, uint32_t from, size_t *messages)
{
    struct chain *c = &l->chain;
    uint32_t top = from;

    for (uint32_t at = from; at != CHAIN_NONE && !c->mark[at]; at = chain_parent(c, at)) {
        c->mark[at] = 1;
        top = at;
        *messages += lost_path_is_spoken(l, at);
    }
    return top;
}

/* The nearest row above that is not on the path. */
static uint32_t lost_path_before(const struct lost_path *l, uint32_t node)
{
    const struct chain *c = &l->chain;

    for (size_t i = c->node[node].line; i-- > 0;) {
        const struct index_line *line = &l->log->index.line[i];
        const uint32_t before =
            line->state == LINE_OK && !id128_none(line->id) ? chain_find(c, line->id) : CHAIN_NONE;

        if (before != CHAIN_NONE && c->node[before].line == i && !c->mark[before])
            return before;
    }
    return CHAIN_NONE;
}

static enum err_code lost_path_find(struct lost_path *l, struct err *e)
{
    const struct index *ix = &l->log->index;
    struct chain *c = &l->chain;
    size_t last = ix->n;
    bool compacts = false;

    TRY(chain_build(c, ix, 0, UINT64_MAX, e));
    while (last > 0 && (ix->line[last - 1].state != LINE_OK || id128_none(ix->line[last - 1].id)))
        last--;
    if (!last)
        return ERR_OK;
    uint32_t from = chain_find(c, ix->line[last - 1].id);
    uint32_t top = lost_path_walk(l, from, &l->restored);

    while (l->n < JOINTS_MOST && !id128_none(lost_path_line(l, top)->parent) &&
           chain_parent(c, top) == CHAIN_NONE) {
        struct lost_joint joint = { .node = top, .before = lost_path_before(l, top) };

        /* Look for a compaction on the path from the node up to its top. */
        struct slice row;

        for (uint32_t at = from; !compacts; at = chain_parent(&l->chain, at)) {
            if (!lost_path_is_spoken(l, at)) {
                TRY(logfile_row(l->log, l->chain.node[at].line, &row, e));
                compacts = json_get_is(row, "type", "compaction") ||
                           json_get_is(row, "subtype", "chat_compression");
            }
            if (at == top)
                break;
        }

        if (compacts || joint.before == CHAIN_NONE)
            break;
        from = joint.before;
        top = lost_path_walk(l, from, &joint.left_out);
        /* Without a message there, the row is the one that the log begins with. A walk that reached the path again went
         * through a row above its own parent: a joint would close a circle. */
        if (!joint.left_out || chain_parent(c, top) != CHAIN_NONE)
            break;
        NEED(array_reserve(l->joint, l->cap, l->n + 1));
        l->joint[l->n++] = joint;
    }
    return ERR_OK;
}

enum err_code lost_path_check(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    const struct jsonl_format *format = ((const struct jsonl_store *)st)->format;
    CLEANUP(logfile_close) struct logfile log = { .file.fd = -1 };
    CLEANUP(lost_path_fini) struct lost_path l = { .log = &log };
    AUTO_ARENA a = { 0 };

    TRY(jsonl_check(st, ref, cancel, fn, arg, e));
    TRY(logfile_open(&log, ref->path.p, 0, format->keys, cancel, e));
    TRY(lost_path_find(&l, e));
    for (size_t i = 0; i < l.n; i++) {
        const struct lost_joint *j = &l.joint[i];
        struct finding f = { .kind = FINDING_LOST_PART,
                             .session = ref->id,
                             .path = ref->path.p,
                             .line = (int64_t)l.chain.node[j->node].line + 1,
                             .offset = lost_path_line(&l, j->node)->offset };

        f.why = arena_format(&a,
                             "a resume leaves out %zu message%s before it: the row it follows is "
                             "not in the file",
                             j->left_out, j->left_out == 1 ? "" : "s");
        f.repair = arena_format(&a, "lets it follow line %lu",
                                (unsigned long)l.chain.node[j->before].line + 1);
        NEED(f.why && f.repair);
        TRY(fn(&f, arg, e));
    }
    return ERR_OK;
}

enum err_code lost_path_reconnect(const struct store *st, const struct session_ref *ref,
                                  struct change *c, const atomic_bool *cancel, struct err *e)
{
    const struct index_keys *keys = ((const struct jsonl_store *)st)->format->keys;
    CLEANUP(logfile_close) struct logfile log = { .file.fd = -1 };
    CLEANUP(lost_path_fini) struct lost_path l = { .log = &log };
    AUTO_ARENA a = { 0 };

    TRY(logfile_open(&log, ref->path.p, 0, keys, cancel, e));
    TRY(lost_path_find(&l, e));
    if (!l.n)
        return ERR_OK;
    struct log_damage *row = arena_zalloc(&a, l.n * sizeof *row);

    NEED(row);
    for (size_t i = 0; i < l.n; i++) {
        struct slice before, id;

        TRY(logfile_row(&log, l.chain.node[l.joint[i].before].line, &before, e));
        if (!json_get_text(before, keys->id, &a, &id))
            return err_set(e, ERR_FORMAT, log.path, "join a part: the row above it has no id");
        id = arena_copy(&a, id);
        NEED(id.p);
        TRY(lost_path_row(&log, l.chain.node[l.joint[i].node].line, keys->parent, id, &a, &row[i],
                          e));
    }
    return lost_path_plan(&log, row, l.n, c, e);
}

void lost_path_count(const struct jsonl_format *format, struct logfile *log, struct transcript *t)
{
    CLEANUP(lost_path_fini) struct lost_path l = { .log = log };

    if (format->choose != jsonl_choose_path || lost_path_find(&l, NULL) || !l.n)
        return;
    t->restored = l.restored;
    for (size_t i = 0; i < l.n; i++)
        t->lost += l.joint[i].left_out;
}
