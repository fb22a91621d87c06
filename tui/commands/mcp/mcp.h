#ifndef TUI_COMMANDS_MCP_MCP_H
#define TUI_COMMANDS_MCP_MCP_H

#include <stdbool.h>

#include "lite/base/buf.h"
#include "tui/commands/command.h"

/* `reprise mcp`: a server of the Model Context Protocol on standard input and output. */

struct mcp_server {
    struct invocation *in;
    struct buf input;     /* what was read; the messages before `at` are done */
    size_t at, looked;    /* up to `looked` it was searched for cancellations */
    bool skipping;        /* until the end of a line that is too long */
    bool ended;           /* standard input was closed */
    bool batch;           /* the answers are elements of an array */
    struct slice running; /* the id of the request that is carried out; empty: none */
    bool cancelled;       /* it need not be answered */
};

/* Returns true if the client cancelled the request that is carried out; reads what it has sent, without waiting. */
bool mcp_is_cancelled(struct mcp_server *s);

/* ---- tools (mcp_tools.c): commands that only read, with bounded answers ---- */

/* Appends the list of the tools. */
void mcp_tools_list(struct jsonout *j);
bool mcp_tools_has(struct slice name);
/* Appends the members of a result, `content` and perhaps `isError`, unless the request was cancelled. A mistake in the
 * arguments is such an error, which a model can correct. ERR_NOMEM. */
MUST_CHECK enum err_code mcp_tools_call(struct mcp_server *s, struct slice name,
                                        struct slice arguments, struct jsonout *j, struct err *e);

/* ---- --install (mcp_install.c) ---- */

MUST_CHECK enum err_code mcp_install(struct invocation *in, struct err *e);

#endif
