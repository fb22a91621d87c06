#include "store/systems/claude/rewind/call_input.h"

#include <fcntl.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/api/edit.h"
#include "store/api/transcript.h"

/* A call is this many rows before its result at most: several calls of one answer, and their results. */
enum { CALL_ROWS = 64, BACKUP_MOST = 16 << 20 };

bool call_input_path(struct slice result, struct arena *a, struct slice *path)
{
    struct slice v;

    return json_get_true(result, "success") && json_get(result, "additions", &v) &&
           json_get_text(result, "file_path", a, path);
}

/* The input of the call with this id in an assistant's row. */
static bool input_in(struct slice row, struct slice id, struct arena *a, struct slice *input)
{
    struct slice part, of;
    struct json_iter it;

    json_list_open(&it, row, "message.content");
    while (json_list_next(&it, &part))
        if (json_get_is(part, "type", "tool_use") && json_get_text(part, "id", a, &of) &&
            slice_eq(of, id))
            return json_get(part, "input", input);
    return false;
}

enum err_code call_input_apply(struct planner *p, size_t message, struct slice row,
                               const struct slice *before, const char *backup, struct buf *out,
                               bool *known, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF call = { 0 };
    AUTO_BUF saved = { 0 };
    struct slice input, old, new;

    *known = false;

    /* The call that the row answers. The input is part of `text`. */
    const struct transcript *t = p->transcript;
    struct slice part, id = { NULL, 0 };
    struct json_iter it;

    input = id;
    json_list_open(&it, row, "message.content");
    while (!id.n && json_list_next(&it, &part))
        if (json_get_is(part, "type", "tool_result"))
            json_get_text(part, "tool_use_id", &a, &id);
    for (size_t i = message; id.n && i-- > 0 && message - i <= CALL_ROWS;) {
        if (t->message[i].kind != MESSAGE_ASSISTANT || t->message[i].flags & MESSAGE_BROKEN)
            continue;
        TRY(transcript_read(t, i, &call, e));
        if (input_in(buf_slice(&call), id, &a, &input))
            break;
    }
    if (a.failed)
        return err_nomem(e);

    if (json_get_text(input, "content", &a, &new)) {
        *known = true;
        return buf_add(out, new);
    }
    if (!json_get_text(input, "old_string", &a, &old) || !old.n ||
        !json_get_text(input, "new_string", &a, &new))
        return a.failed ? err_nomem(e) : ERR_OK;
    if (!before && (!backup || file_read_all(AT_FDCWD, backup, 0, BACKUP_MOST, &saved, NULL)))
        return ERR_OK;
    return edit_replace_text(before ? *before : buf_slice(&saved), old, new,
                             json_get_true(input, "allow_multiple"), &p->replayed, out, known);
}
