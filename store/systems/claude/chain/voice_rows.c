#include "store/systems/claude/chain/log.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"

/* What was said in a voice call is kept as a system row. Its reader takes it for the user row it carries,
 * or, with a `fold`, for the queued command it carries (claude.md 3.1). */

static bool one_of(struct slice key, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (json_string_is(key, names[i]))
            return true;
    return false;
}

/* The members of an object but those named, into the object that is being written. */
static void copy_members(struct jsonout *j, struct slice object, const char *const but[])
{
    struct json_iter it;
    struct slice key, value;

    if (!json_iter_open(&it, object))
        return;
    while (json_iter_next(&it, &key, &value)) {
        if (one_of(key, but))
            continue;
        jsonout_raw_key(j, key);
        jsonout_raw(j, value);
    }
}

static void write_text_member(struct jsonout *j, const char *key, const char *text)
{
    jsonout_key(j, key);
    jsonout_text(j, slice_of(text));
}

static void write_user(struct jsonout *j, struct slice row, struct slice said)
{
    static const char *const own[] = {
        "subtype", "level", "msgV", "content", "blocks", "fold", NULL
    };

    copy_members(j, row, own);
    write_text_member(j, "type", "user");
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    write_text_member(j, "role", "user");
    jsonout_key(j, "content");
    jsonout_raw(j, said);
    jsonout_close(j, '}');
}

/* Of a key given twice the last counts, so later members win over earlier ones. */
static void write_queued(struct jsonout *j, struct slice row, struct slice said, struct slice fold,
                         struct slice command)
{
    static const char *const own[] = { "subtype", "level",  "msgV",   "content", "blocks",
                                       "fold",    "isMeta", "origin", NULL };
    static const char *const command_only[] = { "command", NULL };
    static const char *const none[] = { NULL };
    struct slice origin;

    copy_members(j, fold, command_only);
    copy_members(j, row, own);
    write_text_member(j, "type", "attachment");
    jsonout_key(j, "attachment");
    jsonout_open(j, '{');
    copy_members(j, command, none);
    write_text_member(j, "type", "queued_command");
    jsonout_key(j, "prompt");
    jsonout_raw(j, said);
    jsonout_key(j, "origin");
    if (json_get(row, "origin", &origin))
        jsonout_raw(j, origin);
    jsonout_close(j, '}');
}

/* True when the row is a voice row; what it stands for is then in out. */
static bool rewrite(struct slice row, struct buf *out, enum err_code *rc)
{
    struct slice said, blocks, origin, fold, command;

    if (!claude_row_says(row, "subtype", "voice_call_talk") || !json_get(row, "content", &said) ||
        json_type(said) != JSON_STRING || !json_get(row, "origin", &origin) ||
        json_type(origin) != JSON_OBJECT || !claude_row_says(origin, "kind", "voice-call"))
        return false;
    bool folded = json_get(row, "fold", &fold);

    if (folded && (json_type(fold) != JSON_OBJECT || !json_get(fold, "command", &command) ||
                   json_type(command) != JSON_OBJECT))
        return false;
    if (json_get(row, "blocks", &blocks) && json_type(blocks) == JSON_ARRAY)
        said = blocks;
    struct jsonout j;

    out->n = 0;
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    if (folded)
        write_queued(&j, row, said, fold, command);
    else
        write_user(&j, row, said);
    jsonout_close(&j, '}');
    *rc = j.rc;
    return true;
}

enum err_code claude_read_voice_rows(struct claude_log *log, struct err *e)
{
    struct buf out = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < log->file.index.n; i++) {
        struct slice row;

        if (!claude_line_is(claude_line(log, i), CLAUDE_SYSTEM) ||
            !claude_line_has(claude_line(log, i), MARK_ORIGIN))
            continue;
        rc = claude_log_row(log, i, &row, e);
        if (!rc && rewrite(row, &out, &rc))
            rc = rc ? err_set(e, rc, log->file.path, "read a voice row")
                    : claude_log_stand_in(log, i, buf_slice(&out), e);
    }
    buf_fini(&out);
    return rc;
}
