#include "store/systems/claude/write/incoming_row.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/fork/fork.h"

static bool takes_part(struct slice row)
{
    return claude_value_is(row, "type", "user") || claude_value_is(row, "type", "assistant") ||
           claude_value_is(row, "type", "system") || claude_value_is(row, "type", "attachment");
}

bool incoming_row_text(struct slice row, const char *key, struct arena *a, struct slice *out)
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
static enum err_code route(struct appending *w, struct incoming_row *g, struct err *e)
{
    struct slice side, parent;
    bool has_side = json_get(g->row, "isSidechain", &side), aside = has_side && claude_truthy(side);

    if (!incoming_row_text(g->row, "agentId", w->a, &g->agent))
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

enum err_code incoming_row_read(struct appending *w, struct slice row, struct incoming_row *g,
                                struct err *e)
{
    char drawn[UUID_STR_LEN];
    struct slice type;

    *g = (struct incoming_row){ .row = row };
    if (!json_get(row, "type", &type) || json_type(type) != JSON_STRING)
        return err_set(e, ERR_USAGE, "", "append: a row of a Claude Code session needs a type");
    g->message = takes_part(row);
    if (!incoming_row_text(row, "uuid", w->a, &g->id))
        return err_nomem(e);
    if (json_string_is(type, "progress")) {
        g->left_out = true;
        w->left_out++;
        return ERR_OK;
    }
    g->named = g->id.n > 0;
    if (g->message && !g->named) {
        fork_generate_id(drawn);
        g->id = arena_copy(w->a, (struct slice){ drawn, CLAUDE_ID });
        if (!g->id.p)
            return err_nomem(e);
    }
    return route(w, g, e);
}

struct slice incoming_row_quote(struct slice text, struct arena *a)
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

enum err_code incoming_row_complete(const struct incoming_row *g, const struct json_edit member[],
                                    size_t n, struct buf *out)
{
    const struct slice row = g->row;
    struct json_edit lacking[INCOMING_ROW_MEMBERS];
    struct slice there;
    size_t lacks = 0;

    for (size_t i = 0; i < n; i++) {
        if (!member[i].value.p)
            return ERR_NOMEM;
        if (!json_get(row, member[i].name, &there) ||
            (g->message && !g->named && strcmp(member[i].name, "uuid") == 0) ||
            (g->reparented && strcmp(member[i].name, "parentUuid") == 0))
            lacking[lacks++] = member[i];
    }
    return lacks ? json_edit(out, row, lacking, lacks) : buf_add(out, row);
}

enum err_code incoming_row_refuse_stream(struct err *e)
{
    return err_set(e, ERR_UNSUPPORTED, "", "append: Claude Code sessions have only one stream");
}

/* The client creates the file of a session with its first message (seed 002); earlier rows are only metadata. */
bool claude_begins(struct slice row)
{
    return claude_value_is(row, "type", "user") || claude_value_is(row, "type", "assistant");
}

enum err_code claude_host_row(const struct store *st, struct slice row, bool transcript,
                              struct arena *a, struct slice *complete, struct slice *id,
                              struct err *e)
{
    struct appending w = { .st = st, .a = a };
    struct buf out = { 0 };
    struct incoming_row g;
    char now[TIME_TEXT];
    enum err_code rc =
        transcript ? incoming_row_refuse_stream(e) : incoming_row_read(&w, row, &g, e);

    if (rc)
        return rc;
    time_format(env_now_ms(st->env), now);
    const struct json_edit member[] = {
        { .name = "uuid", .value = incoming_row_quote(g.id, a) },
        { .name = "timestamp", .value = incoming_row_quote(slice_of(now), a) },
    };

    *id = g.left_out ? (struct slice){ NULL, 0 } : g.id;
    *complete = row;
    if (!g.message)
        return ERR_OK;
    if (incoming_row_complete(&g, member, 2, &out) ||
        !(*complete = arena_copy(a, buf_slice(&out))).p)
        rc = err_nomem(e);
    buf_fini(&out);
    return rc;
}
