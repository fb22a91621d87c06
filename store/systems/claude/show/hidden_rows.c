#include "store/systems/claude/show/item_list.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* Marks the rows that the client does not load again, in the client's order: the API would refuse a conversation with
 * calls that have no result, thinking whose message is lost, or answers without content. The calls in which the session
 * ended are kept (claude.md D).
 *
 * A result and the rest of a message are usually in the next rows, so the rows are searched once, from the first one
 * on, and only until the result or the message is found. */

static bool is_blank_block(struct slice block)
{
    struct arena a = { 0 };
    struct slice value, text;
    bool blank = false;

    if (claude_value_is(block, "type", "text")) {
        blank = !json_get(block, "text", &value);
        if (!blank && json_text(value, &a, &text))
            blank = utf8_js_trim(text).n == 0;
    }
    arena_fini(&a);
    return blank;
}

/* ---- results ---- */

/* Adds the ids of the calls of an answer, or those of the calls whose results are in a message. */
static enum err_code collect_call_ids(struct claude_hidden_rows *l, size_t i, bool results,
                                      struct err *e)
{
    struct json_iter blocks;
    struct slice key, block, row;
    AUTO_ARENA a = { 0 };
    struct id128 id;
    uint32_t number;
    uint8_t kind = l->rows.kind(l->rows.arg, i);

    if (kind != CLAUDE_ASSISTANT && !(results && kind == CLAUDE_USER))
        return ERR_OK;
    TRY(l->rows.read(l->rows.arg, i, &row, e));
    for (bool more = claude_content(row, &blocks); more && json_iter_next(&blocks, &key, &block);)
        if (results ? claude_block_id(block, "tool_result", "tool_use_id", &a, &id)
                    : claude_block_id(block, "tool_use", "id", &a, &id))
            NEED(idset_add(results ? &l->results : &l->called, id, &number) == ERR_OK);
    return ERR_OK;
}

enum err_code claude_hidden_rows_answered(struct claude_hidden_rows *l, const struct id128 *call,
                                          size_t n, bool *found, struct err *e)
{
    enum err_code rc = ERR_OK;

    *found = false;
    for (size_t i = 0; i < n && !*found; i++)
        *found = idset_has(&l->results, call[i]);
    while (!rc && !*found && l->results_to < l->rows.n) {
        rc = collect_call_ids(l, l->results_to++, true, e);
        for (size_t i = 0; i < n && !*found; i++)
            *found = idset_has(&l->results, call[i]);
    }
    return rc;
}

/* Returns true in *lone if the block is a result, and no row has its call: that was taken out of the session. */
static enum err_code is_lone_result(struct claude_hidden_rows *l, struct slice block, bool *lone,
                                    struct err *e)
{
    struct arena a = { 0 };
    struct id128 tool;
    enum err_code rc = ERR_OK;

    *lone = claude_block_id(block, "tool_result", "tool_use_id", &a, &tool);
    while (*lone && !rc && !idset_has(&l->called, tool) && l->called_to < l->rows.n)
        rc = collect_call_ids(l, l->called_to++, false, e);
    *lone = *lone && !idset_has(&l->called, tool);
    arena_fini(&a);
    return rc;
}

/* Determines whether a user row is loaded: not if it is nothing but results without their calls. */
static enum err_code check_results(struct claude_hidden_rows *l, size_t i,
                                   enum claude_hidden_row *out, struct err *e)
{
    struct json_iter blocks;
    struct slice key, block, row;
    size_t n = 0, lone = 0;
    enum err_code rc = l->rows.read(l->rows.arg, i, &row, e);

    /* Looking for the calls reads other rows, which may move this one. */
    l->row.n = 0;
    if (!rc && claude_has_tool_result(row))
        rc = buf_add(&l->row, row) ? err_nomem(e) : ERR_OK;
    for (bool more = !rc && claude_content(buf_slice(&l->row), &blocks);
         more && !rc && json_iter_next(&blocks, &key, &block); n++) {
        bool is;

        rc = is_lone_result(l, block, &is, e);
        lone += is;
    }
    *out = !lone ? ROW_LOADED : lone == n ? ROW_HIDDEN_RESULT : ROW_LOADED_IN_PART;

    /* The call may be in the part of the file that was not read. */
    if (lone && l->partial) {
        l->doubtful = i + 1;
        *out = ROW_LOADED;
    }
    return rc;
}

enum err_code claude_hidden_rows_part(struct claude_hidden_rows *l, struct buf *out, struct err *e)
{
    struct json_iter blocks;
    struct slice key, block, message;
    struct buf content = { 0 }, changed = { 0 };
    enum err_code rc = buf_add_byte(&content, '[');

    for (bool more = !rc && claude_content(buf_slice(&l->row), &blocks);
         more && !rc && json_iter_next(&blocks, &key, &block);) {
        bool lone;

        rc = is_lone_result(l, block, &lone, e);
        if (!rc && !lone && content.n > 1)
            rc = buf_add_byte(&content, ',');
        if (!rc && !lone)
            rc = buf_add(&content, block);
    }
    if (!rc)
        rc = buf_add_byte(&content, ']');
    if (!rc && json_get(buf_slice(&l->row), "message", &message))
        rc = json_set(&changed, message, "content", buf_slice(&content));
    out->n = 0;
    if (!rc)
        rc = json_set(out, buf_slice(&l->row), "message", buf_slice(&changed));
    buf_fini(&content);
    buf_fini(&changed);
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- one row ---- */

struct answer {
    bool is;      /* an assistant row with blocks, possibly none */
    bool thought; /* nothing but thoughts */
    bool blank;
    struct id128 message;
};

/* Its calls are in l->call until the next row is read. */
static enum err_code claude_hidden_rows_read_answer(struct claude_hidden_rows *l, size_t i,
                                                    struct answer *out, struct err *e)
{
    struct json_iter blocks;
    struct slice key, block, row;
    struct arena a = { 0 };
    size_t n = 0;
    struct id128 id;

    l->calls = 0;
    *out = (struct answer){ .thought = true, .blank = true };
    if (l->rows.kind(l->rows.arg, i) != CLAUDE_ASSISTANT)
        return ERR_OK;
    enum err_code rc = l->rows.read(l->rows.arg, i, &row, e);

    out->is = !rc && claude_content(row, &blocks);
    for (; !rc && out->is && json_iter_next(&blocks, &key, &block); n++) {
        out->thought = out->thought && (claude_value_is(block, "type", "thinking") ||
                                        claude_value_is(block, "type", "redacted_thinking"));
        out->blank = out->blank && is_blank_block(block);
        if (!claude_block_id(block, "tool_use", "id", &a, &id))
            rc = ERR_OK;
        else if (!array_reserve(l->call, l->cap, l->calls + 1))
            rc = err_nomem(e);
        else {
            l->call[l->calls++] = id;
            rc = ERR_OK;
        }
    }

    /* A content without blocks is neither thinking nor blank. */
    out->thought = out->thought && n > 0;
    out->blank = out->blank && n > 0;
    if (out->is)
        out->message = claude_id_at(row, "message.id", &a);
    arena_fini(&a);
    return rc;
}

/* Row i, which was just read, calls tools, none of the calls has a result, and the conversation continued. */
static enum err_code is_unanswered(struct claude_hidden_rows *l, size_t i, bool *is, struct err *e)
{
    bool found = true;
    enum err_code rc = l->calls && i < l->end
                           ? claude_hidden_rows_answered(l, l->call, l->calls, &found, e)
                           : ERR_OK;

    *is = !rc && !found;
    return rc;
}

/* ---- thoughts ---- */

/* Records a message of which more than thinking is left. */
static enum err_code collect_spoken(struct claude_hidden_rows *l, size_t i, struct err *e)
{
    struct answer answer;
    uint32_t number;
    bool gone = false;
    enum err_code rc = claude_hidden_rows_read_answer(l, i, &answer, e);

    if (rc || !answer.is || answer.thought || id128_none(answer.message))
        return rc;
    rc = is_unanswered(l, i, &gone, e);
    if (!rc && !gone && idset_add(&l->spoken, answer.message, &number))
        rc = err_nomem(e);
    return rc;
}

/* ---- the end ---- */

enum err_code claude_hidden_rows_init(struct claude_hidden_rows *l, struct claude_rows rows,
                                      struct err *e)
{
    *l = (struct claude_hidden_rows){ .rows = rows };

    /* Finds where the end begins that contains only the rows of one answer and the results of its
     * calls. */
    struct id128 message = { 0, 0 };
    struct arena a = { 0 };
    bool met = false;
    enum err_code rc = ERR_OK;

    l->end = l->rows.n;
    for (size_t i = l->rows.n; i-- > 0; l->end = i) {
        uint8_t kind = l->rows.kind(l->rows.arg, i);
        struct slice row;

        if (kind != CLAUDE_USER && kind != CLAUDE_ASSISTANT)
            continue;
        rc = l->rows.read(l->rows.arg, i, &row, e);
        if (rc || (kind == CLAUDE_USER && !claude_has_tool_result(row)))
            break;
        if (kind == CLAUDE_USER)
            continue;
        struct id128 id = claude_id_at(row, "message.id", &a);

        /* Without an id it is not known which rows belong to one answer. */
        if (met && (id128_none(id) || !id128_eq(id, message)))
            break;
        message = id;
        met = true;
    }
    arena_fini(&a);
    return rc;
}

void claude_hidden_rows_fini(struct claude_hidden_rows *l)
{
    idset_fini(&l->results);
    idset_fini(&l->spoken);
    idset_fini(&l->called);
    buf_fini(&l->row);
    free(l->call);
}

enum err_code claude_hidden_rows_check(struct claude_hidden_rows *l, size_t i,
                                       enum claude_hidden_row *out, struct err *e)
{
    struct answer answer;
    bool is = false;
    enum err_code rc = claude_hidden_rows_read_answer(l, i, &answer, e);

    *out = ROW_LOADED;
    if (!rc && l->rows.kind(l->rows.arg, i) == CLAUDE_USER)
        return check_results(l, i, out, e);
    if (rc || !answer.is)
        return rc;
    rc = is_unanswered(l, i, &is, e);
    if (!rc && is) {
        *out = ROW_HIDDEN_UNANSWERED;
    } else if (!rc && answer.thought) {
        struct id128 message = answer.message;

        rc = ERR_OK;

        /* Thinking is kept if another row of its message contains more than thinking. */
        is = !id128_none(message) && idset_has(&l->spoken, message);
        while (!rc && !is && !id128_none(message) && l->spoken_to < l->rows.n) {
            rc = collect_spoken(l, l->spoken_to++, e);
            is = idset_has(&l->spoken, message);
        }

        *out = is ? ROW_LOADED : ROW_HIDDEN_THINKING;
    } else if (!rc && answer.blank) {
        *out = ROW_HIDDEN_BLANK;
    }
    return rc;
}
