#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/log/chain.h"
#include "store/systems/pi/pi.h"

/* The two ways in which pi's own session manager goes back (0.87.1): a branch is an appended entry
 * whose parent is an earlier entry, and a fork is a new file with the path to an entry, followed by
 * its labels. No byte of a log changes. The entry that is appended here is of the type that pi
 * keeps for programs like this one: it is part of the tree, but of neither the conversation nor the
 * model's context. */

enum { ENTRY_ID = 8, SESSION_ID = 36, PIECE = 256 << 10, VERSION = 3, COPIED = 1 };

struct tree {
    struct logfile log;
    struct chain chain;
    struct arena arena;
    uint32_t leaf;    /* where pi would continue; CHAIN_NONE: with an empty conversation */
    struct slice cwd; /* raw JSON; may be empty */
};

#define TREE_NONE                                                                                  \
    {                                                                                              \
        .log.file.fd = -1, .leaf = CHAIN_NONE                                                      \
    }

static void tree_close(struct tree *t)
{
    chain_fini(&t->chain);
    logfile_close(&t->log);
    arena_fini(&t->arena);
}

/* pi rewrites logs of older versions with new ids when it opens them; logs of related programs may
 * begin differently. */
static enum err_code pi_write_read_header(struct tree *t, const struct session_ref *ref,
                                          struct err *e)
{
    struct slice row = { NULL, 0 }, version, cwd;
    size_t line = 0;

    while (line < t->log.index.n && t->log.index.line[line].state != LINE_OK)
        line++;
    TRY(line < t->log.index.n
            ? logfile_row(&t->log, line, &row, e)
            : err_set(e, ERR_NOT_FOUND, ref->path.p, "the session has no entries"));
    if (!json_get_is(row, "type", "session") || !json_get(row, "version", &version) ||
        !slice_eq(version, SLICE("3")))
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "the log is in an older format than version %d: open it in pi first",
                       VERSION);
    if (json_get(row, "cwd", &cwd) && json_type(cwd) == JSON_STRING)
        t->cwd = arena_copy(&t->arena, cwd);
    return t->arena.failed ? err_nomem(e) : ERR_OK;
}

/* The last entry, whatever its type. The header also has an id, but is not an entry. */
static enum err_code find_leaf(struct tree *t, struct err *e)
{
    const struct index *ix = &t->log.index;
    struct slice row;

    t->leaf = CHAIN_NONE;
    for (size_t i = ix->n; i > 0 && t->leaf == CHAIN_NONE; i--) {
        if (ix->line[i - 1].state != LINE_OK || id128_none(ix->line[i - 1].id))
            continue;
        TRY(logfile_row(&t->log, i - 1, &row, e));
        if (json_get_is(row, "type", "session"))
            break;
        t->leaf = chain_find(&t->chain, ix->line[i - 1].id);
    }
    return ERR_OK;
}

/* The caller closes the tree, also after a failure. */
static enum err_code pi_tree_open(struct tree *t, const struct session_ref *ref, struct err *e)
{
    TRY(logfile_open(&t->log, ref->path.p, 0, &pi_keys, NULL, e));
    TRY(chain_build(&t->chain, &t->log.index, 0, UINT64_MAX, e));
    TRY(pi_write_read_header(t, ref, e));
    return find_leaf(t, e);
}

/* The entry with this id, or the only one whose id begins with it. */
static enum err_code pi_find_entry(struct tree *t, const struct session_ref *ref, struct slice id,
                                   uint32_t *node, struct err *e)
{
    struct slice row;
    size_t line;

    TRY(jsonl_find_row(&t->log, &pi_format, id, &line, e));
    TRY(logfile_row(&t->log, line, &row, e));
    *node = chain_find(&t->chain, t->log.index.line[line].id);
    return json_get_is(row, "type", "session") || *node == CHAIN_NONE
               ? err_set(e, ERR_NOT_FOUND, ref->path.p,
                         "no such message; see reprise messages --plain")
               : ERR_OK;
}

/* The id as it is written, in the tree's arena; empty for CHAIN_NONE. */
static enum err_code entry_text(struct tree *t, uint32_t node, struct slice *id, struct err *e)
{
    struct slice row;

    *id = (struct slice){ NULL, 0 };
    if (node == CHAIN_NONE)
        return ERR_OK;
    TRY(logfile_row(&t->log, t->chain.node[node].line, &row, e));
    if (json_get_text(row, "id", &t->arena, id))
        *id = arena_copy(&t->arena, *id);
    return t->arena.failed ? err_nomem(e) : ERR_OK;
}

/* ---- new ids ---- */

static bool draw_hex(char *out, size_t digits)
{
    unsigned char random[SESSION_ID];

    if (getentropy(random, digits))
        return false;
    for (size_t i = 0; i < digits; i++)
        out[i] = "0123456789abcdef"[random[i] & 15];
    out[digits] = '\0';
    return true;
}

/* The id is added to the chain, so that no other entry gets it. */
static enum err_code draw_entry_id(struct tree *t, char id[ENTRY_ID + 1], struct err *e)
{
    uint32_t node;

    do {
        if (!draw_hex(id, ENTRY_ID))
            return err_sys(e, "", "generate an id");
    } while (chain_find(&t->chain, id128_of(slice_of(id))) != CHAIN_NONE);
    return chain_add_id(&t->chain, id128_of(slice_of(id)), &node) ? err_nomem(e) : ERR_OK;
}

/* ---- entries ---- */

/* The members that all entries have. */
static void put_base(struct jsonout *j, const char *id, struct slice parent, struct slice at)
{
    jsonout_member(j, "id", slice_of(id));
    jsonout_text_or_null(j, "parentId", parent);
    jsonout_member(j, "timestamp", at);
}

static enum err_code write_branch(struct tree *t, struct slice parent, struct slice now,
                                  struct buf *out, struct err *e)
{
    char id[ENTRY_ID + 1];
    struct jsonout j;

    TRY(draw_entry_id(t, id, e));
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("custom"));
    jsonout_member(&j, "customType", SLICE("reprise"));
    put_base(&j, id, parent, now);
    jsonout_close(&j, '}');
    return j.rc || buf_add_byte(out, '\n') ? err_nomem(e) : ERR_OK;
}

enum err_code pi_resume_at(const struct store *st, const struct session_ref *ref,
                           struct slice message, struct change *c, struct err *e)
{
    CLEANUP(tree_close) struct tree t = TREE_NONE;
    AUTO_BUF row = { 0 };
    AUTO_BUF opposite = { 0 };
    struct slice parent, before;
    char now[TIME_TEXT];
    uint32_t node = CHAIN_NONE;

    TRY(pi_tree_open(&t, ref, e));
    time_format(env_now_ms(st->env), now);

    /* Without a message the session continues with an empty conversation, before its first entry. */
    if (message.n)
        TRY(pi_find_entry(&t, ref, message, &node, e));
    TRY(entry_text(&t, node, &parent, e));

    /* The log only grows, so an undo appends a second row, which continues from the present leaf. */
    TRY(entry_text(&t, t.leaf, &before, e));
    TRY(write_branch(&t, parent, slice_of(now), &row, e));
    TRY(write_branch(&t, before, slice_of(now), &opposite, e));
    return change_add(c,
                      &(struct step){ .kind = STEP_APPEND,
                                      .path = ref->path.p,
                                      .bytes = buf_slice(&row),
                                      .opposite = buf_slice(&opposite),
                                      .mtime_ns = MTIME_NOW },
                      e);
}

/* ---- a fork ---- */

struct forking {
    struct tree tree;
    const struct session_ref *ref;
    const struct fork_request *req;
    const char *dir, *name;
    char id[SESSION_ID + 1], now[TIME_TEXT];
    struct fork_result made;
    uint32_t *path; /* from the root; owned */
    size_t n;
    size_t *label;       /* 1 + the line of each node's label, or 0; owned */
    size_t nodes;        /* the nodes of the log, without ids that were drawn since */
    struct slice title;  /* the last name in the log; may be empty */
    struct slice parent; /* the entry before the next one that is written */
    struct disk_new to;
    struct buf out;
};

/* Discards the new file unless it was published. */
static void forking_fini(struct forking *f)
{
    disk_new_discard(&f->to);
    free(f->path);
    free(f->label);
    buf_fini(&f->out);
    tree_close(&f->tree);
}

static enum err_code pi_flush(struct forking *f, bool all, struct err *e)
{
    if (!all && f->out.n < PIECE)
        return ERR_OK;
    enum err_code rc = disk_write(f->to.fd, buf_slice(&f->out), NULL, f->to.path, e);

    f->out.n = 0;
    return rc;
}

/* Labels and the name apply wherever they are in the tree. */
static enum err_code pi_read_marks(struct forking *f, struct err *e)
{
    struct logfile *log = &f->tree.log;
    struct slice row;

    NEED(f->label = calloc(f->nodes, sizeof *f->label));
    for (size_t i = 0; i < log->index.n; i++) {
        if (log->index.line[i].state != LINE_OK || log->index.line[i].kind)
            continue;
        TRY(logfile_row(log, i, &row, e));
        if (json_get_is(row, "type", "label")) {
            /* The last label of an entry is used, and an empty one removes it. */
            struct arena *a = &f->tree.arena;
            struct slice target, text = { NULL, 0 };
            uint32_t node = json_get_text(row, "targetId", a, &target)
                                ? chain_find(&f->tree.chain, id128_of(target))
                                : CHAIN_NONE;

            json_get_text(row, "label", a, &text);
            if (node != CHAIN_NONE)
                f->label[node] = text.n ? i + 1 : 0;
        } else if (json_get_is(row, "type", "session_info"))
            f->title = json_get_text(row, "name", &f->tree.arena, &f->title)
                           ? arena_copy(&f->tree.arena, f->title)
                           : (struct slice){ NULL, 0 };
    }
    return ERR_OK;
}

/* A compaction may keep the entries from a label on, which is not copied; it then keeps those from
 * the next entry on. Empty: the compaction's own value is right. */
static enum err_code kept_from(struct forking *f, struct slice first, size_t at, struct slice *kept,
                               struct err *e)
{
    struct tree *t = &f->tree;
    uint32_t node = first.n ? chain_find(&t->chain, id128_of(first)) : CHAIN_NONE;
    struct slice row;
    size_t i = 0;

    *kept = (struct slice){ NULL, 0 };
    while (i < at && f->path[i] != node)
        i++;
    for (size_t from = i; i < at; i++) {
        TRY(logfile_row(&t->log, t->chain.node[f->path[i]].line, &row, e));
        if (!json_get_is(row, "type", "label"))
            return i == from ? ERR_OK : entry_text(t, f->path[i], kept, e);
    }
    return ERR_OK;
}

/* null if the text is empty. */
static enum err_code pi_quote(struct slice text, struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    if (text.n)
        jsonout_text(&j, text);
    else
        jsonout_null(&j);
    return j.rc;
}

/* Copies the row's bytes; only ids of labels are replaced. */
static enum err_code write_copy(struct forking *f, struct slice row, struct slice kept)
{
    AUTO_BUF parent = { 0 };
    AUTO_BUF first = { 0 };
    struct json_edit edit[2];
    struct slice is = { NULL, 0 };
    size_t n = 0;

    TRY(pi_quote(f->parent, &parent));
    json_get_text(row, "parentId", &f->tree.arena, &is);
    if (!slice_eq(is, f->parent))
        edit[n++] = (struct json_edit){ .name = "parentId", .value = buf_slice(&parent) };
    if (kept.n) {
        TRY(pi_quote(kept, &first));
        edit[n++] = (struct json_edit){ .name = "firstKeptEntryId", .value = buf_slice(&first) };
    }
    TRY(n ? json_edit(&f->out, row, edit, n) : buf_add(&f->out, row));
    return buf_add_byte(&f->out, '\n');
}

static enum err_code pi_copy_entry(struct forking *f, size_t at, struct err *e)
{
    struct tree *t = &f->tree;
    size_t line = t->chain.node[f->path[at]].line;
    struct slice row, first = { NULL, 0 }, kept;

    TRY(logfile_row(&t->log, line, &row, e));
    if (json_get_is(row, "type", "label"))
        return ERR_OK;
    if (json_get_text(row, "firstKeptEntryId", &t->arena, &first))
        first = arena_copy(&t->arena, first);
    TRY(kept_from(f, first, at, &kept, e));
    TRY(logfile_row(&t->log, line, &row, e));
    NEED(!write_copy(f, row, kept));
    TRY(entry_text(t, f->path[at], &f->parent, e));
    return pi_flush(f, false, e);
}

/* A label, or a name: {type, id, parentId, timestamp, targetId?, key: text}. */
static enum err_code write_mark(struct forking *f, const char *type, struct slice at,
                                struct slice target, const char *key, struct slice text,
                                struct err *e)
{
    char id[ENTRY_ID + 1];
    struct jsonout j;

    TRY(draw_entry_id(&f->tree, id, e));
    jsonout_init(&j, &f->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", slice_of(type));
    put_base(&j, id, f->parent, at);
    jsonout_member(&j, "targetId", target);
    jsonout_member(&j, key, text);
    jsonout_close(&j, '}');
    f->parent = arena_copy(&f->tree.arena, slice_of(id));
    return j.rc || !f->parent.p || buf_add_byte(&f->out, '\n') ? err_nomem(e) : ERR_OK;
}

static enum err_code pi_write_label(struct forking *f, size_t line, struct err *e)
{
    struct arena *a = &f->tree.arena;
    struct slice row, at = { NULL, 0 }, target, text;

    TRY(logfile_row(&f->tree.log, line, &row, e));
    if (!json_get_text(row, "targetId", a, &target) || !json_get_text(row, "label", a, &text))
        return ERR_OK;
    json_get_text(row, "timestamp", a, &at);
    return write_mark(f, "label", at, target, "label", text, e);
}

/* The title of the request, else the name of the source and " (fork)". Without either, pi shows the first prompt. */
static enum err_code write_title(struct forking *f, struct err *e)
{
    struct slice title = f->req->title;
    const char *own =
        f->title.n ? arena_format(&f->tree.arena, "%.*s (fork)", SLICE_ARG(f->title)) : NULL;

    if (f->title.n && !own)
        return err_nomem(e);
    if (!title.n && own)
        title = slice_of(own);
    return title.n ? write_mark(f, "session_info", slice_of(f->now), (struct slice){ NULL, 0 },
                                "name", title, e)
                   : ERR_OK;
}

/* The path from the root to the chosen entry, else to where pi would continue. */
static enum err_code pi_choose_entries(struct forking *f, struct err *e)
{
    struct tree *t = &f->tree;
    uint32_t node = t->leaf;
    bool speaks = false;

    if (f->req->at.n)
        TRY(pi_find_entry(t, f->ref, f->req->at, &node, e));
    if (node != CHAIN_NONE)
        TRY(chain_walk(&t->chain, node, COPIED, &f->path, &f->n, e));
    for (size_t i = 0; i < f->n; i++)
        speaks = speaks || t->log.index.line[t->chain.node[f->path[i]].line].kind;
    return speaks ? ERR_OK
                  : err_set(e, ERR_NOT_FOUND, f->ref->path.p,
                            "fork: there are no messages up to that point");
}

static enum err_code pi_stage(struct forking *f, struct err *e)
{
    TRY(pi_tree_open(&f->tree, f->ref, e));

    /* Ids that are drawn for new entries become nodes, too, so the nodes of the log are counted first. */
    f->nodes = f->tree.chain.n;
    TRY(pi_choose_entries(f, e));
    TRY(pi_read_marks(f, e));
    TRY(disk_private_dir(f->dir, e));
    TRY(disk_new_open(f->dir, 0644, &f->to, e));

    struct jsonout j;

    jsonout_init(&j, &f->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("session"));
    jsonout_int_member(&j, "version", VERSION);
    jsonout_member(&j, "id", slice_of(f->id));
    jsonout_member(&j, "timestamp", slice_of(f->now));
    if (f->tree.cwd.n)
        jsonout_raw_member(&j, "cwd", f->tree.cwd);
    jsonout_member(&j, "parentSession", f->ref->path);
    jsonout_close(&j, '}');
    NEED(!j.rc && !buf_add_byte(&f->out, '\n'));

    /* The path comes first, then the labels of its entries, wherever they are in the tree, and the title. */
    for (size_t i = 0; i < f->n; i++)
        TRY(pi_copy_entry(f, i, e));
    for (size_t i = 0; i < f->nodes; i++)
        if (f->label[i] && f->tree.chain.mark[i] & COPIED)
            TRY(pi_write_label(f, f->label[i] - 1, e));
    TRY(write_title(f, e));
    TRY(pi_flush(f, true, e));

    /* The file gets its name only when it is complete. */
    return disk_new_publish(&f->to, f->name, e);
}

/* Beside its source: <time>_<id>.jsonl. */
static enum err_code pi_name_places(struct forking *f, const struct store *st, struct arena *a,
                                    struct err *e)
{
    char forks[PATH_MAX];
    const char *slash = strrchr(f->ref->path.p, '/');
    int64_t now_ms = env_now_ms(st->env);

    TRY(env_data_path(st->env, "forks", forks, e));
    time_format(now_ms, f->now);

    /* A UUID of version 7, as pi generates them. */
    char hex[19 + 1];

    if (!draw_hex(hex, 19))
        return err_sys(e, "", "generate an id");
    snprintf(f->id, SESSION_ID + 1, "%08llx-%04llx-7%.3s-%c%.3s-%.12s",
             (unsigned long long)(now_ms >> 16 & 0xffffffff), (unsigned long long)now_ms & 0xffff,
             hex, "89ab"[hex[3] & 3], hex + 4, hex + 7);

    char *time = arena_format(a, "%s", f->now);

    for (char *c = time; c && *c; c++)
        if (*c == ':' || *c == '.')
            *c = '-';
    f->dir = arena_format(a, "%s", forks);
    f->name = time ? arena_format(a, "%s_%s" JSONL_SUFFIX, time, f->id) : NULL;
    f->made.id = arena_copy(a, slice_of(f->id));
    f->made.staged = f->name ? arena_format(a, "%s/%s", forks, f->name) : NULL;
    f->made.path =
        f->name ? arena_format(a, "%.*s/%s", (int)(slash - f->ref->path.p), f->ref->path.p, f->name)
                : NULL;
    return f->dir && f->made.id.p && f->made.staged && f->made.path ? ERR_OK : err_nomem(e);
}

enum err_code pi_fork(const struct store *st, const struct session_ref *ref,
                      const struct fork_request *req, struct change *c, struct fork_result *out,
                      struct err *e)
{
    CLEANUP(forking_fini)
    struct forking f = { .tree = TREE_NONE, .ref = ref, .req = req, .to = { .fd = -1, .dir = -1 } };

    TRY(pi_name_places(&f, st, &c->arena, e));
    TRY(pi_stage(&f, e));
    enum err_code rc = change_add(
        c,
        &(struct step){ .kind = STEP_MOVE, .path = f.made.staged, .to = f.made.path, .made = true },
        e);

    if (rc)
        change_discard_fork(&f.made);
    else
        *out = f.made;
    return rc;
}
