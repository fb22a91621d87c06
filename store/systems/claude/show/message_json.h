#ifndef STORE_SYSTEMS_CLAUDE_SHOW_MESSAGE_JSON_H
#define STORE_SYSTEMS_CLAUDE_SHOW_MESSAGE_JSON_H

#include "lite/json/jsonout.h"
#include "store/api/session.h"
#include "store/systems/claude/show/item_list.h"

/* Who started a sub-agent; empty in a conversation of its own. */
struct claude_parent {
    struct slice tool_use_id, agent_id; /* text, not JSON */
};

/* One row as it comes out (claude.md 3.5), an object. The message itself is passed through byte by byte. */
void claude_message_write(struct jsonout *j, struct slice row, unsigned item_flags,
                          const struct claude_parent *parent);

/* subagent.c: reads who started it, where that is known. Texts live in the arena. */
MUST_CHECK enum err_code claude_agent_parent(const struct session_ref *agent, struct arena *a,
                                             struct claude_parent *parent, struct err *e);

#endif
