#include "store/systems/claude/show/item_list.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/row_origin.h"

/* A prompt that was typed while the agent was at work is kept as an attachment; when it reached the agent
 * it comes out as the user row that it would have been. */

/* What one agent passed on for another is nobody's prompt here. */
static bool forwarded(struct slice attachment)
{
    struct slice intent, lineage;

    return json_get(attachment, "forwardedIntent", &intent) && json_type(intent) == JSON_OBJECT &&
           json_get(intent, "lineage", &lineage) && json_type(lineage) == JSON_STRING &&
           lineage.n > 2;
}

/* The origin only when it is an object with a kind. */
static struct slice origin_of(struct slice attachment)
{
    struct slice origin, kind;

    if (json_get(attachment, "origin", &origin) && json_type(origin) == JSON_OBJECT &&
        json_get(origin, "kind", &kind) && json_type(kind) == JSON_STRING)
        return origin;
    return (struct slice){ NULL, 0 };
}

static void copy_queued_member(struct jsonout *j, struct slice row, const char *key)
{
    struct slice value;

    if (!json_get(row, key, &value))
        return;
    jsonout_key(j, key);
    jsonout_raw(j, value);
}

static void write_origin(struct jsonout *j, struct slice attachment)
{
    struct slice origin = origin_of(attachment), run;

    if (!origin.n && claude_row_says(attachment, "commandMode", "task-notification"))
        origin = SLICE("{\"kind\":\"task-notification\"}");
    if (!json_get(attachment, "runId", &run) || !claude_run_id(run))
        run = (struct slice){ NULL, 0 };
    if (origin.n)
        claude_origin_write(j, origin, run);
}

static void write_prompt_row(struct jsonout *j, struct slice row, struct slice attachment,
                             struct slice uuid, struct slice prompt)
{
    jsonout_open(j, '{');
    jsonout_key(j, "type");
    jsonout_text(j, SLICE("user"));
    jsonout_key(j, "uuid");
    jsonout_raw(j, uuid);
    copy_queued_member(j, row, "parentUuid");
    copy_queued_member(j, row, "sessionId");
    copy_queued_member(j, row, "timestamp");
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_key(j, "role");
    jsonout_text(j, SLICE("user"));
    jsonout_key(j, "content");
    jsonout_raw(j, prompt);
    jsonout_close(j, '}');
    jsonout_key(j, "isMeta");
    jsonout_bool(j, claude_key_truthy(attachment, "isMeta"));
    write_origin(j, attachment);
    jsonout_key(j, "isQueuedCommand");
    jsonout_bool(j, true);
    copy_queued_member(j, row, "isSidechain");
    copy_queued_member(j, row, "teamName");
    jsonout_close(j, '}');
}

/* The id it comes out under: that of the queue, unless another row has it. */
static enum err_code choose_id(struct claude_log *log, struct slice row, struct slice attachment,
                               struct idset *ids, struct slice *uuid, bool *taken)
{
    struct slice source;
    uint32_t number;

    *taken = !json_get(row, "uuid", uuid);
    struct id128 own = claude_id(*uuid, &log->arena), id = own;

    if (json_get(attachment, "source_uuid", &source) && json_type(source) == JSON_STRING &&
        source.n > 2) {
        id = claude_id(source, &log->arena);
        *taken = *taken || (!id128_eq(id, own) && idset_has(ids, id));
        *uuid = source;
    }
    return *taken ? ERR_OK : idset_add(ids, id, &number);
}

enum err_code claude_queued_row(struct claude_log *log, const struct claude_item *item, bool agent,
                                struct idset *ids, struct buf *out, bool *plain, struct err *e)
{
    struct slice row, attachment, prompt, uuid;
    struct jsonout j;
    enum err_code rc = claude_item_row(log, item, &row, e);

    *plain = true;
    if (rc || !json_get(row, "attachment", &attachment) ||
        !claude_row_says(attachment, "type", "queued_command"))
        return rc;
    if (!agent && claude_key_truthy(attachment, "isMeta") &&
        !claude_origin_speaks(origin_of(attachment)))
        return ERR_OK;
    if (!json_get(attachment, "prompt", &prompt) ||
        (json_type(prompt) != JSON_STRING && json_type(prompt) != JSON_ARRAY) ||
        forwarded(attachment))
        return ERR_OK;
    rc = choose_id(log, row, attachment, ids, &uuid, plain);
    if (!rc && !*plain) {
        out->n = 0;
        jsonout_init(&j, out);
        write_prompt_row(&j, row, attachment, uuid, prompt);
        rc = j.rc;
    }
    return rc ? err_set(e, rc, log->file.path, "read a queued command") : ERR_OK;
}
