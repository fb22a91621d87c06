#ifndef STORE_SHOW_PLAIN_H
#define STORE_SHOW_PLAIN_H

#include "store/api/store.h"

/* The messages of a conversation in one form for all systems, made from the blocks that a reader sees. One object a
 * message:
 *
 *   {"id": ..., "role": "user"|"assistant"|"tool"|"system", "time": ..., "text": ..., "thinking": ...,
 *    "tools": [{"call": ..., "name": ..., "input": ..., "agent": ..., "result": ..., "ok": true}], "media": [...]}
 *
 * id and role are always there; the id is that of the agent, or the place of the message (conversation_end.h). A call has its result; only a result that is far from its call is a message of its own, with the role "tool". Rows of the
 * agent's program have the role "system", and are left out unless the query asks for them. docs/json.md lists the members. */

/* A store_ops.messages that gives this form; as_sdk is not for it, and an offset is not negative. q->reach is honoured
 * by every store. With q->after no more of the conversation is read than what came after that message, and what is needed
 * to find it; the results of calls before it are messages of their own. ERR_NOT_FOUND: no such message. */
store_messages_fn plain_messages;
/* The messages of the rows of a transcript from `from` on. Only `cancel` and `system_messages` of the query are used. */
MUST_CHECK enum err_code plain_rows(const struct store *st, const struct message_query *q,
                                    const struct transcript *t, size_t from, json_fn *fn, void *arg,
                                    struct err *e);
/* The id of the message of a row, which is in the arena or borrowed; NULL: out of memory. */
struct slice plain_message_id(struct slice row, const struct message *m, struct arena *a);

#endif
