#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/fs/file_at.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/metadata.h"

/* The row of a list: the prompts at the ends of the log, and the metadata, whose counts are not
 * trusted (a resume sets them to 0, goat.md B1). */

enum err_code goat_read_row_facts(struct slice line, struct arena *a, struct jsonl_row_facts *out)
{
    struct goat_entry e;
    int64_t ns;

    line = utf8_js_trim(line);
    if (json_type(line) != JSON_OBJECT || !json_valid(line))
        return ERR_FORMAT;
    goat_entry_read(line, &e);
    if (e.shape == GOAT_NOTHING || goat_entry_fault(&e))
        return ERR_FORMAT;
    enum goat_role role = goat_entry_role(&e);
    struct slice time = e.timestamp;

    if (json_type(time) == JSON_STRING && time.n > 2 &&
        goat_time((struct slice){ time.p + 1, time.n - 2 }, &ns) && ns)
        out->time_ms = ns / 1000000;
    out->speaks = role != GOAT_OTHER && role != GOAT_SYSTEM;
    out->waits = role != GOAT_ASSISTANT || goat_entry_calls(&e);
    if (role == GOAT_USER && !goat_entry_text(&e, a, &out->prompt))
        return ERR_NOMEM;
    out->prompt = utf8_js_trim(out->prompt);
    return ERR_OK;
}

/* ---- the metadata ---- */

enum err_code goat_complete_row(const struct store *st, const struct scope *scope,
                                struct session_row *row, struct arena *a, struct err *e)
{
    struct goat_metadata m;

    (void)st;
    TRY(goat_metadata_of(&row->ref, a, &m) ? err_nomem(e) : ERR_OK);
    if (m.why) {
        bool there = true;

        if (!file_at_stat(row->ref.path.p, &there, NULL, NULL) && !there)
            return err_set(e, ERR_NOT_FOUND, row->ref.path.p, "describe: it is gone");
    }
    row->problem = m.why;
    if (m.why && row->hidden == HIDDEN_NOT)
        row->hidden = HIDDEN_DAMAGED;

    const struct slice *text = m.text;
    int64_t updated_ms = m.updated_ns ? m.updated_ns / 1000000 : TIME_NONE;

    row->dialect = goat_dialects[m.dialect].name;
    row->custom_title = utf8_js_trim(text[GOAT_TITLE]);
    row->cwd = text[GOAT_CWD];
    row->model = text[GOAT_MODEL];
    row->agent_name = text[GOAT_AGENT];
    row->parent_id = text[GOAT_PARENT];
    row->created_ms = m.created_ms;
    if (updated_ms > row->activity_ms) /* TIME_NONE is the smallest value */
        row->activity_ms = updated_ms;
    if (!slice_eq(text[GOAT_ID], row->ref.id))
        row->recorded_id = text[GOAT_ID];
    row->flags |= row->parent_id.n ? SESSION_FORK : 0;
    row->flags |= m.bom ? SESSION_DAMAGED : 0;

    row->summary = row->custom_title.n   ? row->custom_title
                   : row->first_prompt.n ? row->first_prompt
                   : row->last_prompt.n  ? row->last_prompt
                   : row->agent_name.n   ? row->agent_name
                                         : SLICE("(no messages)");
    if (row->hidden == HIDDEN_NOT && !config_dir_in_scope(scope, row->cwd, a))
        row->hidden = HIDDEN_COLLISION;

    const struct store_ops *ops = row->ref.store->ops;
    unsigned whole = ops->parts ? CAN_DELETE : 0;

    row->can = row->hidden == HIDDEN_UNREADABLE || row->hidden == HIDDEN_DAMAGED
                   ? whole
                   : whole | CAN_RESUME | (ops->rename ? CAN_RENAME : 0) |
                         (ops->fork ? CAN_FORK : 0) | (ops->plan ? CAN_REWIND : 0);

    return ERR_OK;
}
