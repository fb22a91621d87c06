#include "store/systems/claude/show/restore.h"

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* How a turn ended is told by the last row that takes part in it, seen from the end:
 *
 *   an answer            the turn ended, unless the answer was about to call a tool
 *   a tool result        cut: the agent never saw it
 *   a prompt             cut before there was any answer: it can be asked again
 *   a note that the      the person ended the turn
 *   person interrupted
 *   anything else        says nothing: system rows, what the client attaches to a prompt, local
 *                        commands, errors of the API, rows that were left out
 */

static bool text_starts_with(struct slice row, const char *const fronts[], size_t n)
{
    struct arena a = { 0 };
    struct slice content, key, block, text = { NULL, 0 };
    struct json_iter blocks;
    bool starts = false;

    if (claude_content(row, &blocks)) {
        if (json_iter_next(&blocks, &key, &block))
            json_get_text(block, "text", &a, &text);
    } else if (json_at(row, "message.content", &content)) {
        json_text(content, &a, &text);
    }
    for (size_t i = 0; i < n && !starts; i++) {
        size_t len = strlen(fronts[i]);

        starts = text.n >= len && memcmp(text.p, fronts[i], len) == 0;
    }
    arena_fini(&a);
    return starts;
}

static bool is_local(struct slice row)
{
    static const char *const fronts[] = { "<command-name>", "<local-command-", "<bash-input>",
                                          "<bash-stdout>", "<bash-stderr>" };

    return text_starts_with(row, fronts, sizeof fronts / sizeof *fronts);
}

static bool person_stopped(struct slice row)
{
    static const char *const fronts[] = { "[Request interrupted by user" };

    return text_starts_with(row, fronts, 1);
}

static bool takes_part(const struct claude_restore_row *r)
{
    if (r->left_out)
        return false;
    switch (r->kind) {
    case CLAUDE_USER: return claude_has_tool_result(r->row) || !is_local(r->row);
    case CLAUDE_ASSISTANT: return !json_get_true(r->row, "isApiErrorMessage");
    case CLAUDE_ATTACHMENT: return claude_is_queued_command(r->row);
    default: return false;
    }
}

/* Was a call left out behind row i? */
static bool call_follows(const struct claude_restore_rows *r, size_t i)
{
    for (i++; i < r->n; i++)
        if (r->row[i].left_out == ROW_HIDDEN_UNANSWERED)
            return true;
    return false;
}

static enum interruption after_answer(const struct claude_restore_rows *r, size_t i)
{
    bool calls = claude_row_says(r->row[i].row, "message.stop_reason", "tool_use");

    return calls || r->row[i].cut || call_follows(r, i) ? INTERRUPTION_TURN : INTERRUPTION_NONE;
}

static enum interruption after_user(struct slice row, struct arena *a)
{
    if (claude_has_tool_result(row))
        return INTERRUPTION_TURN;
    if (json_get_true(row, "isMeta") || json_get_true(row, "isCompactSummary") ||
        person_stopped(row))
        return INTERRUPTION_NONE;
    return claude_is_interrupt_note(row, a) ? INTERRUPTION_TURN : INTERRUPTION_PROMPT;
}

enum interruption claude_interruption(const struct claude_restore_rows *r, struct slice *prompt)
{
    size_t i = r->n;
    enum interruption how;

    *prompt = (struct slice){ NULL, 0 };
    while (i > 0 && !takes_part(&r->row[i - 1]))
        i--;
    if (i == 0)
        return INTERRUPTION_NONE;
    const struct claude_restore_row *last = &r->row[i - 1];

    if (last->kind == CLAUDE_ASSISTANT)
        how = after_answer(r, i - 1);
    else if (last->kind == CLAUDE_USER)
        how = after_user(last->row, r->arena);
    else
        how = INTERRUPTION_PROMPT;
    if (how == INTERRUPTION_PROMPT)
        *prompt = last->row;
    return how;
}
