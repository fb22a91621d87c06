#include "store/api/edit.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* A result may contain the file before and after the edit: always for `edit`, since v0.12.2 for
 * `write`, with an empty text for a new file. */

static void take_payload(struct slice result, struct arena *a, struct edit *edit)
{
    struct slice ui = event_member(result, "ui_payload"), payload = event_member(ui, "payload"),
                 before = event_member(payload, "before"), after = event_member(payload, "after");

    if (!slice_eq(event_text(ui, "kind", a), SLICE("diff")) || json_type(before) != JSON_STRING ||
        json_type(after) != JSON_STRING)
        return;
    edit->before = event_text(payload, "before", a);
    edit->after = event_text(payload, "after", a);
    edit->before_known = EDIT_TEXT;
    edit->after_known = EDIT_TEXT;
}

static void fill(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    struct event ev;
    struct json_iter it;
    struct slice key, result;

    (void)counts;
    if ((edit->kind != EDIT_WRITE && edit->kind != EDIT_REPLACE) || !event_read(row, a, &ev) ||
        !event_list(ev.message, "tool_results", &it))
        return;
    while (json_iter_next(&it, &key, &result))
        if (slice_eq(event_text(result, "tool_call_id", a), edit->call))
            take_payload(result, a, edit);
}

enum err_code exathena_edits(const struct store *st, const struct session_ref *ref,
                             const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    return tool_edits_files(st->ops, ref, q, fill, fn, arg, e);
}
