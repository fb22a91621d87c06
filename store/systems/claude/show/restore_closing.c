#include <uuid/uuid.h>

#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/show/restore_rows.h"

/* The rows that the client adds at the end of an interrupted conversation when it loads it. */

struct closing {
    struct restore *out;
    int64_t now_ms;
};

/* Begins a row that is not in the file and has no id yet. */
static void begin_row(const struct closing *c, bool user, struct jsonout *j)
{
    struct slice role = user ? SLICE("user") : SLICE("assistant");
    char time[TIME_TEXT];

    time_format(c->now_ms, time);
    jsonout_open(j, '{');
    jsonout_member(j, "type", role);
    jsonout_member(j, "timestamp", slice_of(time));
    jsonout_member(j, "sessionId", c->out->session_id);
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_member(j, "role", role);
}

static void write_result(const struct closing *c, struct slice call, struct jsonout *j)
{
    begin_row(c, true, j);
    jsonout_key(j, "content");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("tool_result"));
    jsonout_raw_member(j, "tool_use_id", call);
    jsonout_member(j, "content",
                   SLICE("[Tool call interrupted: the session ended before this call's result was "
                         "recorded, so its outcome is unknown. Check whether it took effect before "
                         "relying on it or running it again.]"));
    jsonout_bool_member(j, "is_error", true);
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    jsonout_close(j, '}');
    jsonout_close(j, '}');
}

/* The API requires an answer between two rows of the person. */
static void write_no_response(const struct closing *c, struct jsonout *j)
{
    begin_row(c, false, j);
    jsonout_member(j, "type", SLICE("message"));
    jsonout_member(j, "model", SLICE("<synthetic>"));
    jsonout_key(j, "content");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("text"));
    jsonout_member(j, "text", SLICE("No response requested."));
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    jsonout_member(j, "stop_reason", SLICE("stop_sequence"));
    jsonout_close(j, '}');
    jsonout_close(j, '}');
}

static void write_continuation(const struct closing *c, struct jsonout *j)
{
    char id[UUID_STR_LEN];
    uuid_t random;

    uuid_generate_random(random);
    uuid_unparse_lower(random, id);
    begin_row(c, true, j);
    jsonout_member(j, "content", SLICE("Continue from where you left off."));
    jsonout_close(j, '}');
    jsonout_member(j, "uuid", slice_of(id));
    jsonout_bool_member(j, "isMeta", true);
    jsonout_close(j, '}');
}

enum ending { END_RESULT, END_NO_RESPONSE, END_CONTINUE };

static enum err_code add_closing_row(const struct closing *c, enum ending kind, struct slice call)
{
    struct claude_values values = { c->out->messages_json, c->out->messages };
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    switch (kind) {
    case END_RESULT: write_result(c, call, &j); break;
    case END_NO_RESPONSE: write_no_response(c, &j); break;
    case END_CONTINUE: write_continuation(c, &j); break;
    }
    enum err_code rc = j.rc;
    struct slice copy =
        rc ? (struct slice){ NULL, 0 } : arena_copy(&c->out->arena, buf_slice(&text));

    buf_fini(&text);
    if (!copy.p)
        return ERR_NOMEM;
    rc = claude_values_add(&values, &c->out->arena, copy);
    c->out->messages_json = values.p;
    c->out->messages = values.n;
    return rc;
}

/* Returns true if the last message is one of the person, or the result of a call. */
static bool ends_with_user(const struct claude_restore_rows *r)
{
    for (size_t i = r->n; i-- > 0;) {
        const struct claude_restore_row *row = &r->row[i];

        if (!row->left_out && (row->kind == CLAUDE_USER || row->kind == CLAUDE_ASSISTANT))
            return row->kind == CLAUDE_USER;
    }
    return false;
}

enum err_code claude_close_rows(const struct claude_restore_rows *rows,
                                const struct claude_values *unanswered, struct restore *out,
                                int64_t now_ms)
{
    const struct closing c = { out, now_ms };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < unanswered->n; i++)
        rc = add_closing_row(&c, END_RESULT, unanswered->p[i]);
    if (!rc && (unanswered->n || ends_with_user(rows)))
        rc = add_closing_row(&c, END_NO_RESPONSE, (struct slice){ NULL, 0 });
    if (!rc && out->interruption == INTERRUPTION_TURN)
        rc = add_closing_row(&c, END_CONTINUE, (struct slice){ NULL, 0 });
    return rc;
}
