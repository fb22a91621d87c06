#include "lite/json.h"
#include "lite/jsonedit.h"
#include "lite/jsonout.h"
#include "lite/time.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/facts.h"
#include "store/systems/claude/fork.h"
#include "store/systems/claude/hostwrite.h"
#include "store/systems/claude/leaf.h"

/* Rows of a host. A row of the conversation that lacks what the client's rows have gets it: an id, the row before, a
 * time, the session and the directory; the rest of it stays as it was handed in. Rows of other kinds only learn the
 * session they belong to. */

struct appending {
    const struct store *st;
    const struct session_ref *ref;
    struct arena *a;
    struct slice before; /* uuid of the row that the next one follows; empty: none */
    struct slice cwd;    /* where the session is */
    bool looked;         /* `before` is known */
};

static enum err_code no_memory(const struct appending *w, struct err *e)
{
    return err_set(e, ERR_NOMEM, w->ref->path.p, "append: out of memory");
}

static bool takes_part(struct slice row)
{
    return claude_says(row, "type", "user") || claude_says(row, "type", "assistant") ||
           claude_says(row, "type", "system") || claude_says(row, "type", "attachment");
}

static bool take_text(struct slice row, const char *key, struct arena *a, struct slice *out)
{
    struct slice text;

    if (!json_get_text(row, key, a, &text))
        return true;
    *out = arena_copy(a, text);
    return out->p != NULL;
}

/* Where the conversation stands: the row that a resume would go on from, and the directory that it names. */
static enum err_code look(struct appending *w, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    struct claude_log log;
    struct slice row;
    uint32_t node;
    bool cleared;

    if (w->looked)
        return ERR_OK;
    w->looked = true;
    enum err_code rc = claude_log_open(&log, w->ref->path.p, &want, e);

    if (rc)
        return rc;
    rc = claude_resume_leaf(&log, &node, &cleared, e);
    if (!rc && node != CHAIN_NONE)
        rc = claude_log_row(&log, log.chain.node[node].line, &row, e);
    if (!rc && node != CHAIN_NONE &&
        (!take_text(row, "uuid", w->a, &w->before) || !take_text(row, "cwd", w->a, &w->cwd)))
        rc = no_memory(w, e);
    claude_log_close(&log);
    return rc;
}

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

enum { MEMBERS = 7 };

/* Adds the members that the row does not have. */
static enum err_code complete(struct slice row, const struct json_edit member[], size_t n,
                              struct buf *out)
{
    struct json_edit lacking[MEMBERS];
    struct slice there;
    size_t lacks = 0;

    for (size_t i = 0; i < n; i++) {
        if (!member[i].value.p)
            return ERR_NOMEM;
        if (!json_get(row, member[i].name, &there))
            lacking[lacks++] = member[i];
    }
    enum err_code rc = lacks ? json_edit(out, row, lacking, lacks) : buf_add(out, row);

    return rc ? rc : buf_add_byte(out, '\n');
}

static enum err_code add_message(struct appending *w, struct slice row, struct slice *id,
                                 struct buf *out, struct err *e)
{
    char drawn[UUID_STR_LEN], now[TIME_TEXT];
    struct slice parent, own;
    enum err_code rc = ERR_OK;

    if (!json_get(row, "parentUuid", &parent) || !json_get(row, "cwd", &own))
        rc = look(w, e);
    if (rc)
        return rc;
    fork_draw_id(drawn);
    time_format(w->st->env->now_ms, now);
    *id = (struct slice){ drawn, CLAUDE_ID };
    if (!take_text(row, "uuid", w->a, id) || !(*id = arena_copy(w->a, *id)).p ||
        !take_text(row, "cwd", w->a, &w->cwd))
        return no_memory(w, e);
    const struct json_edit member[MEMBERS] = {
        { .name = "parentUuid", .value = w->before.n ? quoted(w->before, w->a) : SLICE("null") },
        { .name = "isSidechain", .value = SLICE("false") },
        { .name = "uuid", .value = quoted(*id, w->a) },
        { .name = "timestamp", .value = quoted((struct slice){ now, strlen(now) }, w->a) },
        { .name = "userType", .value = SLICE("\"external\"") },
        { .name = "cwd", .value = quoted(w->cwd, w->a) },
        { .name = "sessionId", .value = quoted(w->ref->id, w->a) },
    };

    if (complete(row, member, MEMBERS, out))
        return no_memory(w, e);
    w->before = *id;
    w->looked = true;
    return ERR_OK;
}

static enum err_code add_other(struct appending *w, struct slice row, struct buf *out,
                               struct err *e)
{
    const struct json_edit member = { .name = "sessionId", .value = quoted(w->ref->id, w->a) };

    return complete(row, &member, 1, out) ? no_memory(w, e) : ERR_OK;
}

static enum err_code add_row(struct appending *w, struct slice row, struct slice *id,
                             struct buf *out, struct err *e)
{
    struct slice type;

    if (!json_get(row, "type", &type) || json_type(type) != JSON_STRING)
        return err_set(e, ERR_USAGE, "", "append: a row of a claude session needs a type");
    *id = (struct slice){ NULL, 0 };
    return takes_part(row) ? add_message(w, row, id, out, e) : add_other(w, row, out, e);
}

enum err_code claude_append(const struct store *st, const struct session_ref *ref,
                            const struct host_append *req, struct arena *a,
                            struct host_appended *out, struct err *e)
{
    struct appending w = { .st = st, .ref = ref, .a = a };
    struct slice *id = arena_zalloc(a, req->n * sizeof *id);
    struct buf lines = { 0 };
    enum err_code rc = id ? ERR_OK : no_memory(&w, e);

    if (req->transcript)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "append: claude sessions have one stream only");
    w.cwd = (struct slice){ st->env->cwd, strlen(st->env->cwd) };
    for (size_t i = 0; i < req->n && !rc; i++)
        rc = add_row(&w, req->row[i], &id[i], &lines, e);
    if (!rc)
        rc = claude_write_rows(st->env, ref, buf_slice(&lines), e);
    if (!rc)
        *out = (struct host_appended){ .n = req->n, .id = id };
    buf_fini(&lines);
    return rc;
}
