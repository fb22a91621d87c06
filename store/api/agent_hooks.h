#ifndef STORE_API_AGENT_HOOKS_H
#define STORE_API_AGENT_HOOKS_H

#include <stdbool.h>

#include "lite/base/slice.h"
#include "store/api/env.h"

/* How an agent runs a program of the user's before it answers a prompt and after its turn: which file names the program,
 * in which form, and what the program is told. Copies of our own (store/snapshots/) are taken this way. The agents wait for
 * the program, so it sees the files as they are at that moment. */

enum hook_form {
    /* In a JSON document: "hooks": {EVENT: [{"hooks": [{"type": "command", "command": ..., "timeout": ...}]}]} */
    HOOK_NESTED,
    /* "version": 1, "hooks": {EVENT: [{"command": ..., "timeout": ...}]} */
    HOOK_FLAT,
    HOOK_TABLES, /* [[hooks]] in a TOML document, with event, command and timeout */
    HOOK_FILE,   /* a file that belongs to us alone */
    HOOK_FORMS
};

/* The values are those of enum snapshot_kind. */
enum hook_event { HOOK_PROMPT, HOOK_END, HOOK_INTERRUPT, HOOK_EVENTS };

struct agent_hooks {
    enum hook_form form;
    /* The file of the user, never one in a project. The caller frees it. NULL: no home, or out of memory. */
    char *(*path)(const struct store_env *env);
    bool comments; /* the agent allows comments in its JSON */
    /* The names of its events; NULL: it has no such event. Unused in a file of ours. */
    const char *event[HOOK_EVENTS];
    bool documented; /* from the documents of the agent; not tried with the program */
    int timeout;     /* how long the agent waits, in its own unit */
    /* HOOK_FILE: the whole file. `@` stands for the path of the program as a string of JSON, `%` for the path as a word
     * of a shell inside such a string. */
    const char *text;
    /* Optional: a file beside it; where this exists, the agent does not read our hooks. */
    const char *hidden_by;
    /* Optional: the path of members of the document that is true if no hook runs, or false if `switch_is_on`. */
    const char *off_switch;
    bool switch_is_on;

    /* Members of the JSON on standard input; NULL: not told. */
    const char *session;      /* the id under which the session is listed */
    const char *turn;         /* the id of the turn or of its prompt */
    const char *prompt, *cwd; /* cwd: a text, or a list of which the first counts */
    const char *subagent;     /* has a text only in an event of a sub-agent */
    /* The event before a prompt also comes before later requests to the model, with an empty prompt. */
    bool prompts_again;
    const char *answer; /* what the agent expects on standard output; NULL: nothing */
    const char *trust;  /* what a person must do once before the hooks run; NULL: nothing */
    /* With `trust`: returns true if it was done for the command of the event before a prompt, in the file at `path`. */
    bool (*trusted)(const char *path, struct slice command);
};

/* Where an agent lists the servers of the Model Context Protocol that it starts, and how ours is written there. */
struct agent_mcp {
    /* The file of the user, never one in a project. The caller frees it. NULL: no home, or out of memory. */
    char *(*path)(const struct store_env *env);
    /* The member with the servers, by name, in a JSON document. NULL: [mcp_servers.NAME] in a TOML document. */
    const char *member;
    const char *entry; /* in the notation of store/snapshots/hook_json.c */
    bool comments;     /* the agent allows comments in its JSON */
    bool of_agent;     /* the agent keeps more in the file, and makes it when it first starts */
    /* A file of the directory that has the user's skills, skills/NAME/SKILL.md, if `path` is in another one. */
    char *(*by_skills)(const struct store_env *env);
};

#endif
