#include <fcntl.h>

#include "lite/json/json.h"
#include "store/log/log_find.h"
#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/write/metarow.h"

/* Where a resume goes on, told from the end of the file. The newest row of the conversation is it, as soon as it is
 * known that it came later than the newest last-prompt row and follows the row which that names, or that no last-prompt
 * row names any. Both
 * lie near the end as a rule. Where they do not, more of the file is read, and in the end all of it: a wrong answer
 * would cost a conversation. */

enum {
    TAIL_FIRST = 256 * 1024,
    TAIL_MOST = 64 * 1024 * 1024, /* more is not held in memory: then the whole file is indexed */
    FAR = 4 * 1024 * 1024,
};

struct last_prompt {
    bool found, cleared, nobody, explicit;
    size_t line;
    struct id128 leaf;
};

struct looking {
    const char *path;
    struct claude_log log;
    bool whole;      /* the log begins where the file begins */
    bool none_above; /* no last-prompt row above the log names a leaf */
    uint32_t leaf;   /* CHAIN_NONE: none */
};

/* Does the row name a leaf, or say that there is none? The nil UUID is nobody's: then the newest row counts. */
static bool read_last_prompt(struct slice row, struct arena *a, struct last_prompt *p)
{
    struct slice leaf;

    if (!claude_row_says(row, "type", "last-prompt") || !json_get(row, "leafUuid", &leaf))
        return false;
    p->nobody = json_string_is(leaf, "00000000-0000-0000-0000-000000000000");
    p->explicit = json_get_true(row, "explicit");
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

        if (!claude_line_is(claude_line(log, i), CLAUDE_LAST_PROMPT))
            continue;
        enum err_code rc = claude_log_row(log, i, &row, e);

        if (rc)
            return rc;
        p->line = i;
        read_last_prompt(row, &log->arena, p);
    }
    return ERR_OK;
}

static enum err_code newest_main_row(struct claude_log *log, uint32_t *newest, struct err *e)
{
    *newest = CHAIN_NONE;
    for (size_t i = log->file.index.n; i-- > 0;) {
        const struct index_line *l = claude_line(log, i);
        uint32_t node = id128_none(l->id) ? CHAIN_NONE : chain_find(&log->chain, l->id);
        bool main;

        if (node == CHAIN_NONE || log->chain.node[node].line != i)
            continue;
        enum err_code rc = claude_is_main(log, node, &main, e);

        if (rc)
            return rc;
        if (main) {
            *newest = node;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static bool tail_follows(const struct chain *c, uint32_t node, uint32_t from)
{
    for (size_t i = 0; i < c->n && node != CHAIN_NONE && node != from; i++)
        node = chain_parent(c, node);
    return node == from;
}

/* Only what rows above the log cannot change is decided. */
static enum err_code decide(struct looking *l, bool *decided, struct err *e)
{
    struct last_prompt p;
    uint32_t newest, named;
    enum err_code rc = newest_last_prompt(&l->log, &p, e);

    if (!rc)
        rc = newest_main_row(&l->log, &newest, e);
    if (rc)
        return rc;
    bool later = newest != CHAIN_NONE && l->log.chain.node[newest].line > p.line;

    l->leaf = newest;
    if (!p.found) {
        *decided = l->whole || (l->none_above && newest != CHAIN_NONE);
        return ERR_OK;
    }
    *decided = true;
    if (p.cleared) {
        l->leaf = later ? newest : CHAIN_NONE;
        return ERR_OK;
    }
    if (p.nobody) {
        *decided = newest != CHAIN_NONE;
        return ERR_OK;
    }
    named = chain_find(&l->log.chain, p.leaf);
    *decided = named != CHAIN_NONE && (later || (newest == named && !p.explicit)) &&
               tail_follows(&l->log.chain, newest, named);
    return rc;
}

struct above {
    const struct file *f;
    struct buf line;
    struct arena scratch;
    int64_t begin; /* of the last row that was found; -1: none */
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

/* The newest last-prompt row above the log that names a leaf: *begin, -1 when there is none. */
static enum err_code seek_above(const struct claude_log *log, int64_t *begin, struct err *e)
{
    struct above x = { .f = &log->file.file, .begin = -1 };
    const struct index *ix = &log->file.index;
    int64_t end = ix->n ? ix->line[0].offset : log->file.file.id.size;
    enum err_code rc =
        log_find_backward(x.f, end, SLICE("\"last-prompt\""), check_last_prompt, &x, e);

    *begin = x.begin;
    buf_fini(&x.line);
    arena_fini(&x.scratch);
    return rc;
}

/* How much to read next; 0: all. */
static enum err_code next_tail(struct looking *l, size_t *tail, struct claude_resume_point *out,
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

static enum err_code open_tail(struct looking *l, size_t tail, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .tail = tail };
    enum err_code rc = claude_log_open(&l->log, l->path, &want, e);

    if (!rc)
        l->whole = tail == 0 || (uint64_t)l->log.file.file.id.size <= tail;
    return rc;
}

static enum err_code find_tail_leaf(struct looking *l, struct claude_resume_point *out,
                                    struct err *e)
{
    size_t tail = TAIL_FIRST;
    bool decided = false, cleared;
    enum err_code rc = open_tail(l, tail, e);

    if (rc)
        return rc;
    rc = decide(l, &decided, e);
    while (!rc && !decided && !l->whole) {
        size_t before = tail;

        rc = next_tail(l, &tail, out, e);
        if (!rc && tail != before) {
            claude_log_close(&l->log);
            rc = open_tail(l, tail, e);
        }
        if (!rc)
            rc = decide(l, &decided, e);
    }
    return rc || decided ? rc : claude_resume_leaf(&l->log, &l->leaf, &cleared, e);
}

static bool copy_text(struct slice row, const char *key, struct arena *a, struct slice *out)
{
    struct slice text;

    return !json_get_text(row, key, a, &text) || (*out = arena_copy(a, text)).p;
}

enum err_code claude_resume_point_of(const char *path, struct arena *a,
                                     struct claude_resume_point *out, struct err *e)
{
    struct looking l = { .path = path, .log.file.file.fd = -1 };
    struct slice row;

    *out = (struct claude_resume_point){ 0 };
    enum err_code rc = find_tail_leaf(&l, out, e);

    if (!rc && l.leaf != CHAIN_NONE) {
        rc = claude_log_row(&l.log, l.log.chain.node[l.leaf].line, &row, e);
        if (!rc && (!copy_text(row, "uuid", a, &out->leaf) || !copy_text(row, "cwd", a, &out->cwd)))
            rc = err_nomem(e);
    }
    claude_log_close(&l.log);
    return rc;
}
