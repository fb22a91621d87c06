#include <fcntl.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/append_journal.h"
#include "store/log/log_find.h"
#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/fork/fork.h"
#include "store/systems/claude/write/hostwrite.h"
#include "store/systems/claude/write/metarow.h"

/* Appends rows of a host. A row of the conversation is given the members of the client's rows that
 * it lacks: an id, the row before, a time, the session and the directory; the rest of it is
 * unchanged. Rows of other kinds are only given the session they belong to.
 *
 * As in the client, a row whose uuid is in the file already is not written again, and the rows of a sub-agent go into
 * a file of its own. The row before is determined while the file is locked: two writers that added to the same row
 * would fork the conversation. */

enum { MEMBERS = 8, FILE_MODE = 0600, FOLDER_MODE = 0700, HEAD = 4096 };

/* A row as the host passed it. */
struct given {
    struct slice row;
    struct slice agent; /* the sub-agent whose file it goes to; empty: the session's own */
    struct slice id;    /* empty: it needs none */
    bool named;         /* the id is the caller's */
    bool message;       /* part of a conversation */
    bool aside;         /* not part of the conversation that a resume restores */
};

struct appending {
    const struct store *st;
    const struct session_ref *ref;
    struct arena *a;
    struct given *given;
    size_t n, present;
};

/* A file to which rows are appended. */
struct target {
    struct appending *w;
    const char *path;
    struct slice agent;
    struct slice cwd;
    struct slice before; /* uuid of the row that the next one follows; empty: none */
    struct slice leaf;   /* uuid of the row from which a resume continues */
    bool far;            /* see claude_resume_point */
    bool branched;       /* a row names another parent than the last row */
    bool again;          /* the file was replaced: our own rows may be in it */
    size_t present;
};

/* ---- where a row goes ---- */

static bool takes_part(struct slice row)
{
    return claude_value_is(row, "type", "user") || claude_value_is(row, "type", "assistant") ||
           claude_value_is(row, "type", "system") || claude_value_is(row, "type", "attachment");
}

/* An empty text counts as absent. */
static bool take_text(struct slice row, const char *key, struct arena *a, struct slice *out)
{
    struct slice value, text;

    if (!json_get(row, key, &value) || json_type(value) != JSON_STRING || value.n <= 2)
        return true;
    if (!json_text(value, a, &text) || !(text = arena_copy(a, text)).p)
        return false;
    *out = text;
    return true;
}

/* As in the client, a row whose isSidechain is false is not a sub-agent's, whatever else it contains. */
static enum err_code route(struct appending *w, struct given *g, struct err *e)
{
    struct slice side, parent;
    bool has_side = json_get(g->row, "isSidechain", &side), aside = has_side && claude_truthy(side);

    if (!take_text(g->row, "agentId", w->a, &g->agent))
        return err_nomem(e);
    bool chained = g->message || claude_value_is(g->row, "type", "progress");

    if (chained ? has_side && !aside
                : !claude_value_is(g->row, "type", "content-replacement") &&
                      !claude_value_is(g->row, "type", "fork-context-ref"))
        g->agent.n = 0;
    g->aside = g->agent.n || (chained && aside);
    if (g->agent.n && !claude_is_agent_id(g->agent))
        return err_set(e, ERR_USAGE, "", "append: not a valid id of a sub-agent");
    if (g->aside && !g->agent.n && g->message && !json_get(g->row, "parentUuid", &parent))
        return err_set(e, ERR_USAGE, "",
                       "append: a row of a sub-agent needs its agentId, or a parentUuid");
    return ERR_OK;
}

static enum err_code read_given(struct appending *w, struct slice row, struct given *g,
                                struct err *e)
{
    char drawn[UUID_STR_LEN];
    struct slice type;

    *g = (struct given){ .row = row };
    if (!json_get(row, "type", &type) || json_type(type) != JSON_STRING)
        return err_set(e, ERR_USAGE, "", "append: a row of a Claude Code session needs a type");
    g->message = takes_part(row);
    if (!take_text(row, "uuid", w->a, &g->id))
        return err_nomem(e);
    g->named = g->id.n > 0;
    if (g->message && !g->named) {
        fork_generate_id(drawn);
        g->id = arena_copy(w->a, (struct slice){ drawn, CLAUDE_ID });
        if (!g->id.p)
            return err_nomem(e);
    }
    return route(w, g, e);
}

/* ---- the file as it is ---- */

static enum err_code look_at_session(struct target *t, struct err *e)
{
    struct claude_resume_point point;
    enum err_code rc = claude_resume_point_of(t->w->ref->path.p, t->w->a, &point, e);

    if (rc)
        return rc;
    t->cwd = point.cwd;
    if (!t->agent.n) {
        t->before = t->leaf = point.leaf;
        t->far = point.far;
    }
    if (!t->cwd.n)
        rc = claude_created_with(t->w->ref->path.p, "cwd", t->w->a, &t->cwd, e);
    if (!rc && !t->cwd.n)
        t->cwd = slice_of(t->w->st->env->cwd);
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
                (!take_text(row, "uuid", t->w->a, &t->before) ||
                 !take_text(row, "cwd", t->w->a, &t->cwd)))
                rc = err_nomem(e);
        }
        claude_log_close(&log);
    }
    return rc;
}

/* Marks the rows for this file that are in it already, or twice among them. Ids that were just drawn are new, unless
 * the file was replaced by one that may contain them. */
static enum err_code mark_repeated(const struct target *t, bool skip[], struct err *e)
{
    const struct appending *w = t->w;
    struct slice *id = arena_zalloc(w->a, w->n * sizeof *id);

    if (!id)
        return err_nomem(e);
    for (size_t i = 0; i < w->n; i++)
        if (slice_eq(w->given[i].agent, t->agent) && (w->given[i].named || t->again))
            id[i] = w->given[i].id;
    return log_find_repeated(t->path, t->agent.n ? 0 : FILE_FOLLOW, id, w->n, skip, e);
}

/* ---- the rows ---- */

/* A text as a JSON value. */
static struct slice quoted(struct slice text, struct arena *a)
{
    struct buf out = { 0 };
    struct jsonout j;
    struct slice kept = { NULL, 0 };

    jsonout_init(&j, &out);
    jsonout_text(&j, text);
    if (!j.rc)
        kept = arena_copy(a, buf_slice(&out));
    buf_fini(&out);
    return kept;
}

/* Adds the members that the row lacks. put_id: the row's own uuid is invalid and is replaced. */
static enum err_code complete(struct slice row, const struct json_edit member[], size_t n,
                              bool put_id, struct buf *out)
{
    struct json_edit lacking[MEMBERS];
    struct slice there;
    size_t lacks = 0;

    for (size_t i = 0; i < n; i++) {
        if (!member[i].value.p)
            return ERR_NOMEM;
        if (!json_get(row, member[i].name, &there) ||
            (put_id && strcmp(member[i].name, "uuid") == 0))
            lacking[lacks++] = member[i];
    }
    enum err_code rc = lacks ? json_edit(out, row, lacking, lacks) : buf_add(out, row);

    return rc ? rc : buf_add_byte(out, '\n');
}

/* Notes where the conversation continues: the row follows the last one, or the row that it
 * names. */
static enum err_code go_on(struct target *t, const struct given *g, struct err *e)
{
    struct slice given_value, parent = { NULL, 0 };

    if (g->aside && !t->agent.n)
        return ERR_OK;
    if (!take_text(g->row, "parentUuid", t->w->a, &parent))
        return err_nomem(e);
    t->branched |= json_get(g->row, "parentUuid", &given_value) && !slice_eq(parent, t->leaf);
    t->before = t->leaf = g->id;
    return ERR_OK;
}

static enum err_code add_message_row(struct target *t, const struct given *g, struct buf *out,
                                     struct err *e)
{
    struct arena *a = t->w->a;
    char now[TIME_TEXT];

    time_format(env_now_ms(t->w->st->env), now);
    const struct json_edit member[MEMBERS] = {
        { .name = "parentUuid", .value = t->before.n ? quoted(t->before, a) : SLICE("null") },
        { .name = "isSidechain", .value = t->agent.n ? SLICE("true") : SLICE("false") },
        { .name = "uuid", .value = quoted(g->id, a) },
        { .name = "timestamp", .value = quoted(slice_of(now), a) },
        { .name = "userType", .value = SLICE("\"external\"") },
        { .name = "cwd", .value = quoted(t->cwd, a) },
        { .name = "sessionId", .value = quoted(t->w->ref->id, a) },
    };

    if (complete(g->row, member, MEMBERS - 1, !g->named, out))
        return err_nomem(e);
    return go_on(t, g, e);
}

static enum err_code add_other(struct target *t, const struct given *g, struct buf *out,
                               struct err *e)
{
    const struct json_edit member = { .name = "sessionId",
                                      .value = quoted(t->w->ref->id, t->w->a) };

    return complete(g->row, &member, 1, false, out) ? err_nomem(e) : ERR_OK;
}

static enum err_code add_rows(struct target *t, const bool skip[], struct buf *out, struct err *e)
{
    struct appending *w = t->w;
    enum err_code rc = ERR_OK;

    t->present = 0;
    for (size_t i = 0; i < w->n && !rc; i++) {
        const struct given *g = &w->given[i];

        if (!slice_eq(g->agent, t->agent))
            continue;
        if (skip[i])
            t->present++;
        else
            rc = g->message ? add_message_row(t, g, out, e) : add_other(t, g, out, e);
    }
    return rc;
}

/* A session that was created with a title gets it with its first message: with the title alone it would be listed,
 * but could not be resumed. */
static enum err_code add_first_title(const struct target *t, struct buf *out, struct err *e)
{
    struct arena *a = t->w->a;
    struct slice title;
    struct metarows m;
    enum err_code rc = claude_created_with(t->path, CLAUDE_CREATED_TITLE, a, &title, e);

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

/* Adds metadata rows so that listings find them near the end, and the next append finds the leaf. */
static enum err_code add_metadata(const struct target *t, struct buf *out, struct err *e)
{
    const struct claude_write_leaf leaf = { .id = t->leaf,
                                            .unknown = t->branched,
                                            .wanted = t->far };

    return claude_add_metarows(t->w->ref, &leaf, out, e);
}

static enum err_code compose_rows(void *arg, struct buf *out, struct err *e)
{
    struct target *t = arg;
    bool *skip = arena_zalloc(t->w->a, t->w->n * sizeof *skip);
    enum err_code rc = skip ? mark_repeated(t, skip, e) : err_nomem(e);

    t->branched = t->far = false;
    t->before = t->leaf = t->cwd = (struct slice){ NULL, 0 };
    if (!rc)
        rc = look_at_session(t, e);
    if (!rc && t->agent.n)
        rc = look_at_agent(t, e);
    if (!rc && !t->agent.n && !t->leaf.n && adds_message(t, skip))
        rc = add_first_title(t, out, e);
    if (!rc)
        rc = add_rows(t, skip, out, e);
    t->again = true;
    return rc || !out->n || t->agent.n ? rc : add_metadata(t, out, e);
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
    rc = disk_make_dir(dir.p, FOLDER_MODE, e);
    if (rc)
        return rc;
    int fd = open(*path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, FILE_MODE);

    if (fd < 0)
        return err_sys(e, *path, "append: make the file of a sub-agent");
    close(fd);
    return disk_sync_dir(dir.p, e);
}

static enum err_code write_target(struct appending *w, struct slice agent, struct err *e)
{
    struct target t = { .w = w, .path = w->ref->path.p, .agent = agent };
    enum err_code rc = agent.n ? agent_path(w, agent, &t.path, e) : ERR_OK;

    if (!rc)
        rc = journal_append(w->st->env, t.path, agent.n ? 0 : APPEND_FOLLOW, compose_rows, &t, e);
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

/* The rows of sub-agents are written first, so that a conversation that names them finds them. */
static enum err_code write_all_targets(struct appending *w, struct err *e)
{
    enum err_code rc = ERR_OK;
    bool own = false;

    for (size_t i = 0; i < w->n && !rc; i++) {
        if (w->given[i].agent.n == 0)
            own = true;
        else if (begins_target(w, i))
            rc = write_target(w, w->given[i].agent, e);
    }
    return rc || !own ? rc : write_target(w, (struct slice){ NULL, 0 }, e);
}

enum err_code claude_append(const struct store *st, const struct session_ref *ref,
                            const struct host_append *req, struct arena *a,
                            struct host_appended *out, struct err *e)
{
    struct appending w = { .st = st, .ref = ref, .a = a, .n = req->n };
    struct slice *id = arena_zalloc(a, req->n * sizeof *id);

    w.given = arena_zalloc(a, req->n * sizeof *w.given);
    enum err_code rc = id && w.given ? ERR_OK : err_nomem(e);

    if (req->transcript)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "append: Claude Code sessions have only one stream");
    for (size_t i = 0; i < req->n && !rc; i++) {
        rc = read_given(&w, req->row[i], &w.given[i], e);
        id[i] = w.given[i].id;
    }
    if (!rc)
        rc = write_all_targets(&w, e);
    if (!rc)
        *out = (struct host_appended){ .n = req->n, .present = w.present, .id = id };
    return rc;
}
