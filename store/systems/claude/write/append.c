#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/append_journal.h"
#include "store/log/append.h"
#include "store/log/logfile.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/fork/fork.h"
#include "store/systems/claude/write/host_write.h"
#include "store/systems/claude/write/metarow.h"

/* Appends rows of a host. A row of the conversation is given the members of the client's rows that it lacks: an id, its
 * parent, a time, the session and the directory; the rest of it is unchanged. Rows of other kinds are only given the
 * session that they belong to.
 *
 * As in the client, a row whose uuid is already in the file is not written again, and the rows of a sub-agent go into a
 * separate file. The parent is determined while the file is locked, because two writers that append to the same row
 * would fork the conversation. */

enum { FILE_MODE = 0600, FOLDER_MODE = 0700, HEAD = 4096 };
/* An open session looks for its leaf again when the file has grown by this much. */
enum { LOOK_AGAIN = 4 << 20 };

/* Where a file ends: what the next row needs to know. */
struct file_end {
    struct slice cwd;
    struct slice before; /* uuid of the row that the next one follows; empty: none */
    struct slice leaf;   /* uuid of the row from which a resume continues */
    bool far;            /* see claude_resume_point */
    int64_t found_at;    /* the size of the file when the leaf was searched */
    struct metarows m;   /* the metadata in its tail window */
};

/* What an open session remembers of a file. */
struct kept {
    struct arena a;
    bool known; /* false: the end has to be read */
    struct file_end end;
    struct idset left_out; /* ids of progress rows that later rows may name */
};

/* A file to which rows are appended. */
struct target {
    struct appending *w;
    const char *path;
    struct slice agent;
    struct log_state *log; /* NULL: nothing is remembered */
    struct file_end end;   /* with the rows that are being appended */
    struct buf wrote;      /* these rows */
    bool branched;         /* a row names another parent than the last row */
    bool uncertain;        /* a row of a kind that may end the conversation elsewhere */
    bool again;            /* the file was replaced: our own rows may be in it */
    size_t present;
};

/* ---- what an open session remembers ---- */

static void kept_free(void *own)
{
    struct kept *k = own;

    arena_fini(&k->a);
    idset_fini(&k->left_out);
    free(k);
}

/* NULL if out of memory. */
static struct kept *kept_of(struct log_state *log)
{
    if (!log->own)
        log->own = calloc(1, sizeof(struct kept));
    log->own_free = kept_free;
    return log->own;
}

/* ---- the file as it is ---- */

static enum err_code claude_look_at_session(struct target *t, struct err *e)
{
    struct claude_resume_point point;
    enum err_code rc = claude_resume_point_of(t->w->ref->path.p, t->w->a, &point, e);

    if (rc)
        return rc;
    t->end.cwd = point.cwd;
    if (!t->agent.n) {
        t->end.before = t->end.leaf = point.leaf;
        t->end.far = point.far;
    }
    if (!t->end.cwd.n)
        rc = claude_creation_text(t->w->ref->path.p, "cwd", t->w->a, &t->end.cwd, e);
    if (!rc && !t->end.cwd.n)
        t->end.cwd = slice_of(t->w->st->env->cwd);
    if (!rc && !t->agent.n)
        rc = metarows_of(t->path, t->w->a, &t->end.m, e);
    return rc;
}

/* A sub-agent's rows follow one another. */
static enum err_code look_at_agent(struct target *t, struct err *e)
{
    struct claude_log_want want = { .kinds = CLAUDE_AGENT_KINDS, .tail = HEAD };
    struct claude_log log;
    struct slice row;
    bool found = false, whole = false;
    enum err_code rc = ERR_OK;

    /* A larger part of the end is read until it contains a row. */
    for (; !rc && !found && !whole; want.tail *= 16) {
        rc = claude_log_open(&log, t->path, &want, e);
        if (rc)
            break;
        whole = (uint64_t)log.file.file.id.size <= want.tail;
        for (size_t i = log.file.index.n; i-- > 0 && !rc && !found;) {
            uint32_t node = chain_find(&log.chain, claude_line(&log, i)->id);

            found = !id128_none(claude_line(&log, i)->id) && node != CHAIN_NONE &&
                    log.chain.node[node].line == i;
            if (found)
                rc = claude_log_row(&log, i, &row, e);
            if (!rc && found &&
                (!claude_incoming_row_text(row, "uuid", t->w->a, &t->end.before) ||
                 !claude_incoming_row_text(row, "cwd", t->w->a, &t->end.cwd)))
                rc = err_nomem(e);
        }
        claude_log_close(&log);
    }
    return rc;
}

/* Reads the end of the file, unless it is as we left it. */
static enum err_code claude_append_look_at_file(struct target *t, struct err *e)
{
    const struct kept *k = t->log ? kept_of(t->log) : NULL;
    enum log_seen seen = LOG_OTHER;
    enum err_code rc = t->log ? log_state_compare(t->log, &seen, e) : ERR_OK;

    t->end = (struct file_end){ .found_at = t->log ? t->log->seen.size : 0 };
    if (rc)
        return rc;
    if (k && k->known && seen == LOG_SAME) {
        t->end = k->end;
        return ERR_OK;
    }
    rc = claude_look_at_session(t, e);
    return rc || !t->agent.n ? rc : look_at_agent(t, e);
}

static bool claude_copy_text(struct slice *text, struct arena *a)
{
    if (text->n)
        *text = arena_copy(a, *text);
    return text->p || !text->n;
}

/* Marks the rows for this file that are already in it, or repeat an earlier one of them. Ids that were just generated
 * are new, unless the file was replaced by one that may contain them. */
static enum err_code claude_mark_repeated(const struct target *t, bool skip[], struct err *e)
{
    const struct appending *w = t->w;
    struct slice *id = arena_zalloc(w->a, w->n * sizeof *id);

    if (!id)
        return err_nomem(e);
    for (size_t i = 0; i < w->n; i++)
        if (slice_eq(w->given[i].agent, t->agent) && !w->given[i].left_out &&
            (w->given[i].named || t->again))
            id[i] = w->given[i].id;
    if (t->log)
        return log_state_find_repeated(t->log, id, w->n, skip, e);
    return log_find_repeated(t->path, t->agent.n ? 0 : FILE_FOLLOW, id, w->n, skip, e);
}

/* ---- the rows ---- */

static enum err_code add_message_row(struct target *t, const struct incoming_row *g,
                                     struct buf *out, struct err *e)
{
    struct arena *a = t->w->a;
    char now[TIME_TEXT];

    time_format(env_now_ms(t->w->st->env), now);
    const struct json_edit member[INCOMING_ROW_MEMBERS] = {
        { .name = "parentUuid",
          .value = t->end.before.n ? claude_incoming_row_quote(t->end.before, a) : SLICE("null") },
        { .name = "isSidechain", .value = t->agent.n ? SLICE("true") : SLICE("false") },
        { .name = "uuid", .value = claude_incoming_row_quote(g->id, a) },
        { .name = "timestamp", .value = claude_incoming_row_quote(slice_of(now), a) },
        { .name = "userType", .value = SLICE("\"external\"") },
        { .name = "cwd", .value = claude_incoming_row_quote(t->end.cwd, a) },
        { .name = "sessionId", .value = claude_incoming_row_quote(t->w->ref->id, a) },
    };

    if (claude_incoming_row_complete(g, member, INCOMING_ROW_MEMBERS - 1, out) ||
        buf_add_byte(out, '\n'))
        return err_nomem(e);

    /* Records where the conversation continues: the row follows the last one, or the row that it
     * names. */
    struct slice given_value, parent = { NULL, 0 };

    if (g->aside && !t->agent.n)
        return ERR_OK;
    if (!claude_incoming_row_text(g->row, "parentUuid", t->w->a, &parent))
        return err_nomem(e);
    t->branched |= json_get(g->row, "parentUuid", &given_value) && !g->reparented &&
                   !slice_eq(parent, t->end.leaf);
    t->end.before = t->end.leaf = g->id;
    return ERR_OK;
}

static enum err_code claude_append_add_other(struct target *t, const struct incoming_row *g,
                                             struct buf *out, struct err *e)
{
    const struct json_edit member = { .name = "sessionId",
                                      .value = claude_incoming_row_quote(t->w->ref->id, t->w->a) };

    return claude_incoming_row_complete(g, &member, 1, out) || buf_add_byte(out, '\n')
               ? err_nomem(e)
               : ERR_OK;
}

/* Returns true if the next row certainly follows this one: it is not a boundary, a row of a team member or a
 * last-prompt row. */
static bool claude_is_plain(const struct incoming_row *g)
{
    struct slice team;

    if (!g->message)
        return !claude_value_is(g->row, "type", metarow_names[METAROW_LAST_PROMPT]);
    return (claude_value_is(g->row, "type", "user") ||
            claude_value_is(g->row, "type", "assistant")) &&
           !json_get(g->row, "teamName", &team);
}

/* A session that was created with a title gets it with its first message, because with only a title it would be listed
 * but could not be resumed. */
static enum err_code add_first_title(const struct target *t, struct buf *out, struct err *e)
{
    struct arena *a = t->w->a;
    struct slice title;
    struct metarows m;
    enum err_code rc = claude_creation_text(t->path, HOST_CREATED_TITLE, a, &title, e);

    if (rc || !title.n)
        return rc;
    rc = metarows_of(t->path, a, &m, e);
    if (rc || m.row[METAROW_CUSTOM_TITLE].found)
        return rc;
    return metarow_write(METAROW_CUSTOM_TITLE, "customTitle", title, t->w->ref->id, out)
               ? err_nomem(e)
               : ERR_OK;
}

static bool adds_message(const struct target *t, const bool skip[])
{
    for (size_t i = 0; i < t->w->n; i++)
        if (t->w->given[i].message && !t->w->given[i].agent.n && !skip[i])
            return true;
    return false;
}

static enum err_code compose_rows(void *arg, struct buf *out, struct err *e)
{
    struct target *t = arg;
    bool *skip = arena_zalloc(t->w->a, t->w->n * sizeof *skip);
    enum err_code rc = skip ? claude_append_look_at_file(t, e) : err_nomem(e);

    t->branched = t->uncertain = false;
    t->wrote.n = 0;
    if (!rc)
        rc = claude_mark_repeated(t, skip, e);
    if (!rc && !t->agent.n && !t->end.leaf.n && adds_message(t, skip))
        rc = add_first_title(t, out, e);
    if (!rc) {
        /* The rows, in the order in which they were given. */
        struct appending *w = t->w;
        t->present = 0;
        for (size_t i = 0; i < w->n && !rc; i++) {
            const struct incoming_row *g = &w->given[i];

            if (!slice_eq(g->agent, t->agent) || g->left_out)
                continue;
            t->uncertain |= !skip[i] && !claude_is_plain(g);
            if (skip[i])
                t->present++;
            else
                rc = g->message ? add_message_row(t, g, out, e)
                                : claude_append_add_other(t, g, out, e);
        }
    }
    t->again = true;
    if (!rc && out->n && !t->agent.n) {
        /* Metadata rows follow, so that listings find them near the end and the next append finds
         * the leaf. */
        const struct claude_write_leaf leaf = { .id = t->end.leaf,
                                                .unknown = t->branched,
                                                .wanted = t->end.far };

        rc = claude_add_metarows(t->w->ref, &t->end.m, &leaf, out, e);
    }
    if (!rc && t->log && buf_add(&t->wrote, buf_slice(out)))
        rc = err_nomem(e);
    return rc;
}

/* ---- writing ---- */

/* The file of a sub-agent, wherever it is below the session; created if it does not exist. */
static enum err_code agent_path(struct appending *w, struct slice agent, const char **path,
                                struct err *e)
{
    struct session_ref sub;
    struct slice dir = claude_side_path(w->ref, "subagents", w->a);
    enum err_code rc = claude_subagent(w->st, w->ref, agent, w->a, &sub, e);

    *path = sub.path.p;
    if (rc != ERR_NOT_FOUND)
        return rc;
    *path = dir.p ? arena_format(w->a, "%s/agent-%.*s.jsonl", dir.p, SLICE_ARG(agent)) : NULL;
    if (!*path)
        return err_nomem(e);
    TRY(disk_make_dir(dir.p, FOLDER_MODE, e));
    int fd = open(*path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, FILE_MODE);

    if (fd < 0)
        return err_sys(e, *path, "append: make the file of a sub-agent");
    close(fd);
    return disk_sync_dir(dir.p, e);
}

/* Remembers what was written, ids included; t->wrote is no longer needed. */
static void remember_target(struct target *t, const struct appended *done)
{
    const struct appending *w = t->w;
    struct slice *id = arena_zalloc(w->a, w->n * sizeof *id);

    for (size_t i = 0; id && i < w->n; i++)
        if (slice_eq(w->given[i].agent, t->agent) && !w->given[i].left_out)
            id[i] = w->given[i].id;

    /* Keeps the end for the next append, which reads anything uncertain again. */
    bool certain = log_state_appended(t->log, done, w->later, id, id ? w->n : 0);
    struct kept *k = kept_of(t->log);
    struct file_end end = t->end;
    struct arena a = { 0 };

    if (!k)
        return;
    certain =
        certain && !t->branched && !t->uncertain && t->log->seen.size - end.found_at < LOOK_AGAIN;
    certain = certain && claude_copy_text(&end.cwd, &a) && claude_copy_text(&end.before, &a) &&
              claude_copy_text(&end.leaf, &a) &&
              (t->agent.n || metarows_after(&t->end.m, buf_slice(&t->wrote), &a, &end.m));
    end.far = end.far && !t->wrote.n;
    arena_fini(&k->a);
    k->a = a;
    k->end = end;
    k->known = certain;
}

static enum err_code claude_write_target(struct appending *w, struct slice agent, struct err *e)
{
    struct target t = { .w = w, .path = w->ref->path.p, .agent = agent };
    unsigned flags = (agent.n ? 0U : APPEND_FOLLOW) | (w->later ? APPEND_LATER : 0U);
    struct appended done;
    enum err_code rc = agent.n ? agent_path(w, agent, &t.path, e) : ERR_OK;

    if (!rc && w->logs &&
        !((t.log = log_states_get(w->logs, t.path, flags & APPEND_FOLLOW)) && kept_of(t.log)))
        rc = err_nomem(e);
    if (!rc)
        rc = journal_append(w->st->env, t.path, flags, compose_rows, &t, &done, e);
    if (!rc && t.log)
        remember_target(&t, &done);
    else if (t.log && t.log->own)
        kept_of(t.log)->known = false;
    buf_fini(&t.wrote);
    w->present += t.present;
    return rc;
}

/* Returns true if row i is the first for its file. */
static bool begins_target(const struct appending *w, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (slice_eq(w->given[k].agent, w->given[i].agent))
            return false;
    return true;
}

enum err_code claude_append(const struct store *st, const struct session_ref *ref,
                            const struct host_append *req, struct arena *a,
                            struct host_appended *out, struct err *e)
{
    struct appending w = {
        .st = st, .ref = ref, .logs = req->logs, .later = req->later, .a = a, .n = req->n
    };
    struct slice *id = arena_zalloc(a, req->n * sizeof *id);

    w.given = arena_zalloc(a, req->n * sizeof *w.given);
    enum err_code rc = id && w.given ? ERR_OK : err_nomem(e);

    if (req->transcript)
        return err_at(e, claude_incoming_row_refuse_stream(e), ref->path.p);
    for (size_t i = 0; i < req->n && !rc; i++) {
        rc = claude_incoming_row_read(&w, req->row[i], &w.given[i], e);
        if (!w.given[i].left_out)
            id[i] = w.given[i].id;
    }
    if (!rc && (w.left_out || w.logs)) {
        /* A row that names a progress row as its parent would be cut off from its conversation. */
        struct log_state *log =
            w.logs ? log_states_get(w.logs, w.ref->path.p, APPEND_FOLLOW) : NULL;
        struct kept *k = log ? kept_of(log) : NULL;
        struct idset ids = { 0 }, *left_out = k ? &k->left_out : &ids;
        struct slice parent;
        uint32_t number;
        rc = w.logs && !k ? err_nomem(e) : ERR_OK;

        for (size_t i = 0; i < w.n && !rc; i++) {
            struct incoming_row *g = &w.given[i];

            parent.n = 0;
            if (g->left_out && g->id.n && idset_add(left_out, id128_of(g->id), &number))
                rc = err_nomem(e);
            else if (g->message && left_out->n &&
                     !claude_incoming_row_text(g->row, "parentUuid", w.a, &parent))
                rc = err_nomem(e);
            g->reparented = parent.n && idset_has(left_out, id128_of(parent));
        }
        idset_fini(&ids);
    }
    if (!rc) {
        /* The rows of sub-agents are written first, so that a conversation that names them finds them. */
        bool own = false;

        for (size_t i = 0; i < w.n && !rc; i++) {
            if (w.given[i].agent.n == 0)
                own |= !w.given[i].left_out;
            else if (begins_target(&w, i))
                rc = claude_write_target(&w, w.given[i].agent, e);
        }
        rc = rc || !own ? rc : claude_write_target(&w, (struct slice){ NULL, 0 }, e);
    }
    if (!rc)
        *out = (struct host_appended){
            .n = req->n, .present = w.present, .left_out = w.left_out, .id = id
        };
    return rc;
}
