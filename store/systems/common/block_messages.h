#ifndef STORE_SYSTEMS_COMMON_BLOCK_MESSAGES_H
#define STORE_SYSTEMS_COMMON_BLOCK_MESSAGES_H

#include "store/api/store.h"

/* The member `messages` for agents whose rows have a form of their own. Each row of a person, the agent or a tool
 * becomes one message in the form that the SDKs of Claude Code use, made from the row's blocks.
 *
 *   {"type": "assistant", "uuid": ..., "session_id": ..., "message": {"role": "assistant", "content": [
 *       {"type": "text", "text": ...}, {"type": "thinking", "thinking": ...},
 *       {"type": "tool_use", "id": ..., "name": ..., "input": {...}},
 *       {"type": "tool_result", "tool_use_id": ..., "content": ..., "is_error": true}]},
 *    "parent_tool_use_id": null, "parent_agent_id": ..., "timestamp": ...}
 *
 * The content of a prompt is its text. */

/* Calls load and blocks of the store, and subagent if the query names one. The store begins with a struct jsonl_store,
 * whose format tells the ids of rows. */
store_messages_fn block_messages;

#endif
