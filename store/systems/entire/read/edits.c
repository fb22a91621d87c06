#include "store/api/edit.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/read/conversation.h"

/* The transcripts are those of the agents; the rows of Claude Code record what a file was before. */
enum err_code entire_edits(const struct store *st, const struct session_ref *ref,
                           const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open(st, ref, &conversation, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    struct session_ref lent = entire_conversation_claude_ref(&conversation, ref);

    rc = conversation.claude ? claude_ops.edits(st, &lent, q, fn, arg, e)
                             : tool_edits_loaded(st, ref, q, fn, arg, e);
    rc = entire_conversation_error(&conversation, ref, rc, e);
    entire_conversation_close(&conversation);
    return rc;
}
