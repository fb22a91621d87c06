#ifndef STORE_SNAPSHOTS_HOOK_EDIT_H
#define STORE_SNAPSHOTS_HOOK_EDIT_H

#include "lite/base/buf.h"
#include "store/api/agent_hooks.h"

/* Adds our hooks to the text of an agent's configuration and takes them out again. Every other byte stays as it is:
 * comments, order, indentation, line ends and the hooks of others. A text that hook_edit_on changed and nothing else becomes
 * exactly what it was; nothing has to be remembered for that. */

struct hook_text {
    struct slice text;
    bool absent; /* there is no file */
};

struct hook_program {
    const char *path; /* absolute */
    const char *word; /* the same, quoted for a shell */
};

/* Appends the new text to out. ERR_FORMAT: the text is not what the agent reads, or has the hooks in a form that is not
 * understood; the error says why. A text that has the same hooks already is not changed. */
MUST_CHECK enum err_code hook_edit_on(const struct agent_hooks *h, const char *agent,
                                      struct hook_text before, const struct hook_program *program,
                                      struct buf *out, struct err *e);
/* The same for removing them, whichever program they name. *absent: the file is to be removed. */
MUST_CHECK enum err_code hook_edit_off(const struct agent_hooks *h, const char *agent,
                                       struct hook_text before, struct buf *out, bool *absent,
                                       struct err *e);
/* Returns true if the text has any of our hooks. */
bool hook_edit_has(const char *agent, struct slice text);
/* Returns why no hook of this configuration would run, or NULL. */
const char *hook_edit_disabled(const struct agent_hooks *h, struct slice text);

/* The same for our server (hook_server.c). ERR_FORMAT too if another server has this name. */
MUST_CHECK enum err_code hook_server_on(const struct agent_mcp *m, struct hook_text before,
                                        const struct hook_program *program, struct buf *out,
                                        struct err *e);
MUST_CHECK enum err_code hook_server_off(const struct agent_mcp *m, struct hook_text before,
                                         struct buf *out, bool *absent, struct err *e);

/* ---- internal: JSON (hook_json.c) ---- */

/* The end of the commands that we write. */
#define HOOK_MARK "snapshot --agent "

struct hook_step {
    const struct agent_hooks *h;
    const char *agent;
    enum hook_event event;
    struct slice command; /* a string of JSON */
    /* Instead of a hook: our server, whose command is the path of the program. */
    const struct agent_mcp *mcp;
};

extern const char *const hook_event_names[HOOK_EVENTS]; /* the words after --event */
/* Returns true if the command, decoded, is ours for this event. */
bool hook_is_ours(struct slice command, const char *agent, enum hook_event event);
/* A copy in the arena with blanks in place of what JSON does not have: a BOM, and comments if they are allowed. Every
 * other byte keeps its offset. ERR_FORMAT: it is no object of JSON. */
MUST_CHECK enum err_code hook_json_plain(struct slice text, bool comments, struct arena *a,
                                         struct slice *plain, struct err *e);
MUST_CHECK enum err_code hook_json_add(const struct hook_step *s, struct hook_text before,
                                       struct buf *out, struct err *e);
/* The entry of our server, in the arena; or nothing. ERR_FORMAT as above. */
MUST_CHECK enum err_code hook_json_server(const struct hook_step *s, struct slice text,
                                          struct arena *a, struct slice *entry, struct err *e);
/* Returns true if a person told the agent to run the hook of this event. */
bool hook_json_trusted(const struct hook_step *s, const char *path, struct hook_text text);
/* Removes the hook of one event. If it has no hook of ours, *found is false and nothing is written. */
MUST_CHECK enum err_code hook_json_remove(struct hook_step *s, struct hook_text before,
                                          struct buf *out, bool *absent, bool *found,
                                          struct err *e);

/* How the lines of a document end. */
const char *hook_newline(struct slice text);

#endif
