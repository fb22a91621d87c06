#ifndef STORE_API_PLUGIN_H
#define STORE_API_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/api/session.h"

struct store;

/* Stores that are kept by plug-ins (store/api/reprise_plugin.h). A plug-in is loaded only if the configuration or the
 * command line names it. */

struct plugin_option {
    const char *name, *value;
};

/* A section [store.NAME] of the configuration. */
struct plugin_config {
    const char *name; /* the name of the store, in --store and as the system of its sessions */
    /* an absolute path, or the name of a file NAME.so in <data>/stores or in the installed folder */
    const char *plugin;
    const char *path; /* for the plug-in: a directory, a URL */
    const struct plugin_option *option;
    size_t options;
};

/* Loads the plug-in and makes a store of it. With `connect` it also opens the plug-in's store and fails if that fails;
 * otherwise the first call opens it, so that a slow or missing server delays nothing else, and `unreadable` reports it.
 *
 * ERR_NOT_FOUND: no such plug-in. ERR_UNSAFE: its file belongs to another user or can be written by others, or its path
 * is relative. ERR_FORMAT: it is not a plug-in. ERR_UNSUPPORTED: it was made for another version of the interface.
 * Everything in the configuration is copied. */
MUST_CHECK enum err_code plugin_store_open(const struct store_env *env,
                                           const struct plugin_config *config, bool connect,
                                           struct store **out, struct err *e);
/* Finds the plug-in and the section for "SCHEME://...", or for a store without a section. Texts are in the arena.
 * Returns false if this is not a URL. */
bool plugin_config_of_url(const char *url, struct arena *a, struct plugin_config *out);

/* ---- whether a plug-in keeps the rules ---- */

enum plugin_rule_result { PLUGIN_RULE_PASSED, PLUGIN_RULE_FAILED, PLUGIN_RULE_SKIPPED };

struct plugin_rule_report {
    int number; /* 1 to 14: in the conformance suite of the agent's SDK; 0: a rule of the interface */
    const char *name;
    enum plugin_rule_result result;
    const char *expected, *got; /* failed: one line each, which may have bytes of the plug-in's */
    const char *why;            /* skipped */
};

enum { PLUGIN_CHECK_NAME = 32 };

struct plugin_check {
    const struct store_env *env;
    const struct plugin_config *config;
    /* plugin_check_name(): the projects of the sessions that are written begin with it */
    const char *run;
    bool write; /* without it, rules that write are skipped */
    bool leave; /* even if the plug-in cannot remove sessions, so that those of the rules stay */
    enum err_code (*fn)(const struct plugin_rule_report *report, void *arg, struct err *e);
    void *arg;
};

/* A name that is new each time. */
void plugin_check_name(char out[PLUGIN_CHECK_NAME]);
/* Tries the rules one by one and reports each to fn. The plug-in is loaded in processes of their own, so nothing that it
 * does ends this one; what a rule wrote is removed at the end, even if the plug-in crashed or a signal came. *failed: how many
 * rules do not hold. *signal: the signal that ended the check early; 0: none. For a process with one thread. */
MUST_CHECK enum err_code plugin_check(const struct plugin_check *check, size_t *failed, int *signal,
                                      struct err *e);

/* ---- a copy for readers of the whole session ---- */

struct plugin_text;

/* The rows of a session as a file of Claude Code's without a name, which takes no memory if it is large. */
struct plugin_copy {
    /* valid until plugin_copy_close(), as is the ref that it is made from */
    struct session_ref ref;
    bool more;                /* the session has more rows than that, and nothing is open */
    struct plugin_text *text; /* owned */
};

/* The ref is that of a store of a plug-in (store_ops.remote). */
MUST_CHECK enum err_code plugin_copy_open(const struct session_ref *ref, size_t most,
                                          struct plugin_copy *out, struct err *e);
void plugin_copy_close(struct plugin_copy *copy);

/* ---- local sessions into the store ---- */

struct redact_counts;

struct plugin_push {
    bool dry_run; /* compares and counts only */
    bool force;   /* even if the store has rows that the local session lacks */
    /* Not NULL: secrets are replaced in what is pushed, and counted (store/redact/redact.h). Rows keep their ids, so a
     * repeated push adds nothing. */
    struct redact_counts *redacted;
    /* also rows about requests to the model (system prompt, tools), which the vendor's mirror leaves out */
    bool requests;
};

struct plugin_pushed {
    bool is_new;     /* the store did not have the session */
    size_t rows;     /* added */
    size_t left_out; /* damaged lines, which no store accepts */
};

/* Adds the rows of a local session of Claude Code, and of its sub-agents, that the store lacks. Repeating it adds
 * nothing, and after a failure it continues where it stopped; a list shows the session once its sub-agents are
 * complete. The session's project is the one under which the store already has it, else the option `project` of the
 * store, else the name of its folder. The document about a sub-agent is a state, of which the store has several: it is
 * added if its newest state there is another one.
 *
 * ERR_UNSAFE: the store has rows that the local session lacks. ERR_FORMAT: the store cannot hold a row; the error names
 * its line. ERR_STALE: other programs kept adding to the session. */
MUST_CHECK enum err_code plugin_push_session(const struct store *st,
                                             const struct session_ref *local,
                                             const struct plugin_push *how,
                                             struct plugin_pushed *out, struct err *e);

#endif
