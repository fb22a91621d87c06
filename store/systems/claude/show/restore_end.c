#include "store/systems/claude/show/restore.h"

#include <uuid/uuid.h>

#include "lite/base/time.h"
#include "lite/json/jsonout.h"

/* Rows that are not in the file and have no id yet. */
static void begin_row(const struct claude_restore_state *r, struct jsonout *j, bool user)
{
    struct slice role = user ? SLICE("user") : SLICE("assistant");
    char time[TIME_TEXT];

    time_format(r->store->env->now_ms, time);
    jsonout_open(j, '{');
    jsonout_member(j, "type", role);
    jsonout_member(j, "timestamp", slice_of(time));
    jsonout_member(j, "sessionId", r->ref->id);
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_member(j, "role", role);
}

static void end_message(struct jsonout *j)
{
    jsonout_close(j, '}');
}

static void write_result(const struct claude_restore_state *r, struct slice call, struct jsonout *j)
{
    begin_row(r, j, true);
    jsonout_key(j, "content");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("tool_result"));
    jsonout_key(j, "tool_use_id");
    jsonout_raw(j, call);
    jsonout_member(j, "content",
                   SLICE("[Tool call interrupted: the session ended before this call's result was "
                         "recorded, so its outcome is unknown. Check whether it took effect before "
                         "relying on it or running it again.]"));
    jsonout_key(j, "is_error");
    jsonout_bool(j, true);
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    end_message(j);
    jsonout_close(j, '}');
}

/* The API wants an answer between two rows of the person's. */
static void write_no_response(const struct claude_restore_state *r, struct jsonout *j)
{
    begin_row(r, j, false);
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
    end_message(j);
    jsonout_close(j, '}');
}

static void write_continuation(const struct claude_restore_state *r, struct jsonout *j)
{
    char id[UUID_STR_LEN];
    uuid_t random;

    uuid_generate_random(random);
    uuid_unparse_lower(random, id);
    begin_row(r, j, true);
    jsonout_member(j, "content", SLICE("Continue from where you left off."));
    end_message(j);
    jsonout_member(j, "uuid", slice_of(id));
    jsonout_key(j, "isMeta");
    jsonout_bool(j, true);
    jsonout_close(j, '}');
}

enum ending { END_RESULT, END_NO_RESPONSE, END_CONTINUE };

static enum err_code add_closing_row(struct claude_restore_state *r, enum ending kind,
                                     struct slice call)
{
    struct claude_values values = { r->out.messages_json, r->out.messages, r->out.messages };
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    switch (kind) {
    case END_RESULT: write_result(r, call, &j); break;
    case END_NO_RESPONSE: write_no_response(r, &j); break;
    case END_CONTINUE: write_continuation(r, &j); break;
    }
    enum err_code rc = j.rc;
    struct slice copy =
        rc ? (struct slice){ NULL, 0 } : arena_copy(&r->out.arena, buf_slice(&text));

    buf_fini(&text);
    if (!copy.p)
        return ERR_NOMEM;
    rc = claude_values_add(&values, &r->out.arena, copy);
    r->out.messages_json = values.p;
    r->out.messages = values.n;
    return rc;
}

/* Is the last message one of the person's, or the result of a call? */
static bool ends_with_user(const struct claude_restore_rows *r)
{
    for (size_t i = r->n; i-- > 0;) {
        const struct claude_restore_row *row = &r->row[i];

        if (!row->left_out && (row->kind == CLAUDE_USER || row->kind == CLAUDE_ASSISTANT))
            return row->kind == CLAUDE_USER;
    }
    return false;
}

enum err_code claude_restore_end(struct claude_restore_state *r)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->unanswered.n; i++)
        rc = add_closing_row(r, END_RESULT, r->unanswered.p[i]);
    if (!rc && (r->unanswered.n || ends_with_user(&r->restore_rows)))
        rc = add_closing_row(r, END_NO_RESPONSE, (struct slice){ NULL, 0 });
    if (!rc && r->out.interruption == INTERRUPTION_TURN)
        rc = add_closing_row(r, END_CONTINUE, (struct slice){ NULL, 0 });
    return rc;
}
