#ifndef STORE_API_REPRISE_PLUGIN_H
#define STORE_API_REPRISE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* A store of sessions as a plug-in. This header is all that a plug-in needs: C99 or C++17, nothing to link against. It
 * is installed as <reprise_plugin.h>, and docs/plugins.md explains it with a complete example.
 *
 * A plug-in is a shared object that exports one table under the name `reprise_plugin`. It moves rows and knows nothing
 * of their contents: a row is one JSON object in the form in which Claude Code writes it, and everything that is shown
 * of a session (titles, prompts, conversations, sub-agents) is read from the rows by the program.
 *
 * What a store holds: the rows of sessions. A key names them: the project (usually the working directory, with
 * everything but letters and digits replaced by '-'), the session's id, and for the rows of a sub-agent the subpath,
 * such as "subagents/agent-a1b2". Rows of one key have an order, and each has a position: a number greater than 0 that
 * grows in that order and stays the same as long as the row exists.
 *
 * Threads: the calls of one open store are made by several threads, one at a time, or at the same time if the table has
 * REPRISE_PLUGIN_THREADS. Nothing else may be assumed about the threads.
 *
 * Memory: whatever is passed to a function or to a callback is valid during that call only.
 *
 * Errors: a function returns a code of enum reprise_plugin_code and, if that is not OK, writes the reason into
 * call->error: one line of UTF-8, reason first, without secrets. The program cleans it before it is shown. A function
 * must not print, end the process, change its directory, its signals or its environment, or throw. */

#ifdef __cplusplus
extern "C" {
#endif

#define REPRISE_PLUGIN_ABI 1
#define REPRISE_PLUGIN_SYMBOL "reprise_plugin"

enum reprise_plugin_code {
    REPRISE_PLUGIN_OK = 0,
    REPRISE_PLUGIN_FAILED,    /* the server is gone, a limit was reached, and everything else */
    REPRISE_PLUGIN_NOT_FOUND, /* open: there is no such store */
    REPRISE_PLUGIN_REFUSED,   /* access denied: password, permissions, an unencrypted connection */
    REPRISE_PLUGIN_CHANGED, /* append: the newest row is not the one that was expected; nothing was added */
    REPRISE_PLUGIN_BAD_ROW, /* append: the store cannot hold row number call->row; nothing was added */
    REPRISE_PLUGIN_STOPPED, /* a callback or stopped() returned a value other than 0 */
    REPRISE_PLUGIN_NO_MEMORY
};

enum { REPRISE_PLUGIN_ERROR = 256 };

/* One call as both sides see it. */
struct reprise_plugin_call {
    size_t size; /* the size of this struct, as the program knows it */
    /* Returns a value other than 0 if the answer is no longer wanted, or takes too long in all. A function that waits
     * for a server calls it several times a second, also while the server keeps sending, in the thread of the call, and
     * returns STOPPED. */
    int (*stopped)(void *arg);
    void *arg;                        /* for stopped */
    int64_t timeout_ms;               /* how long a server may be silent before the call fails */
    char error[REPRISE_PLUGIN_ERROR]; /* out: the reason of a failure */
    size_t row;                       /* out, with BAD_ROW: the number of the row in the array */
};

struct reprise_plugin_text {
    const char *p; /* not NUL-terminated */
    size_t n;
};

/* A member `name = value` of the store's section in the configuration, without `plugin` and `path`. `timeout` and
 * `project`, which the program itself follows, are among them: a plug-in that refuses names it does not know takes these. */
struct reprise_plugin_option {
    const char *name, *value;
};

/* The texts are NUL-terminated. */
struct reprise_plugin_key {
    const char *project, *session;
    const char *subpath; /* NULL: the main transcript */
};

/* A session in a list. `size` is sizeof(struct reprise_plugin_session); members that are not known are 0. */
struct reprise_plugin_session {
    size_t size;
    const char *project, *session;
    int64_t mtime_ms; /* when its newest row was stored, in ms since 1970 */
    int64_t bytes;    /* the size in bytes of its main transcript; 0: not known */
    /* Rows of the main transcript, one a line. head: the first ones, as far as the first prompt; tail: the newest ones,
     * among them those with titles and tags, oldest first. Rows may be in neither; no row may be in both. Texts in rows
     * may be shortened. Both empty: the program reads the rows itself, one session at a time, which is slow over a
     * network. */
    struct reprise_plugin_text head, tail;
    int whole; /* not 0: head has all rows of the session */
};

/* Which sessions list() is asked for. The program leaves out by itself what it did not ask for, so a store may ignore
 * all members, but then each question costs as much as a list of everything. Members after those that a program knows
 * (`size`) are 0. */
struct reprise_plugin_query {
    size_t size;
    const char *session; /* NULL: all; else the sessions with this id, of any project */
    /* If projects is not 0: the sessions of these projects, and those of projects whose name does not begin with '-',
     * which may belong to any directory. */
    const char *const *project;
    size_t projects;
    /* If not 0: sessions whose newest row was stored before this time, in ms since 1970, are not wanted. */
    int64_t since_ms;
    /* If not 0: the program will show about as many sessions, the newest ones. Only these need head and tail; for a row
     * further down the program reads the rows itself. */
    size_t newest;
};

/* Callbacks. They return 0; any other number means that the function must stop and return STOPPED. */
typedef int reprise_plugin_session_fn(const struct reprise_plugin_session *session, void *arg);
typedef int reprise_plugin_row_fn(int64_t position, struct reprise_plugin_text row, void *arg);
typedef int reprise_plugin_name_fn(const char *name, void *arg);

enum reprise_plugin_flags {
    REPRISE_PLUGIN_THREADS = 1, /* several calls at the same time are fine */
    /* The store does not keep the order of a row's members: the program puts `type` first in rows that it writes to
     * files, as readers of the ends of a file expect it. */
    REPRISE_PLUGIN_REORDERS = 2
};

/* The table. Members marked optional may be NULL, which is the only way to declare that the store does not support
 * them. */
struct reprise_plugin {
    uint32_t abi; /* REPRISE_PLUGIN_ABI */
    uint32_t flags;
    size_t size;      /* sizeof(struct reprise_plugin): later members are treated as NULL */
    const char *name; /* "postgresql" */

    /* Opens the store at a path that the plug-in defines: a directory, a URL. It may wait for a server, or leave that
     * to the first call. *store is set if it returns OK. A path that contains a password is refused; passwords belong
     * in the files and variables that the server's own clients use. */
    int (*open)(const char *path, const struct reprise_plugin_option *option, size_t options,
                struct reprise_plugin_call *call, void **store);
    void (*close)(void *store);

    /* Passes the sessions that have a main transcript to fn, in any order, with their first and last rows if that takes
     * one round trip. A store that cannot look for one session may pass more than the query asks for. */
    int (*list)(void *store, const struct reprise_plugin_query *query,
                reprise_plugin_session_fn *fn, void *arg, struct reprise_plugin_call *call);
    /* Passes the rows of a key after a position (0: all) to fn, in their order. An unknown key has no rows. */
    int (*read)(void *store, const struct reprise_plugin_key *key, int64_t after,
                reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call);

    /* Optional. Passes the newest rows before a position (0: from the end) to fn, oldest first: at most `rows`, and no
     * more than needed for `bytes` bytes, but at least one. */
    int (*page)(void *store, const struct reprise_plugin_key *key, int64_t before, size_t rows,
                size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                struct reprise_plugin_call *call);
    /* Optional. Like read, for comparing: for a row with a string member `uuid`, {"uuid": ...} is enough. */
    int (*ids)(void *store, const struct reprise_plugin_key *key, reprise_plugin_row_fn *fn,
               void *arg, struct reprise_plugin_call *call);
    /* Optional. Passes the subpaths of a session to fn, in any order. key->subpath is NULL. */
    int (*subkeys)(void *store, const struct reprise_plugin_key *key, reprise_plugin_name_fn *fn,
                   void *arg, struct reprise_plugin_call *call);

    /* Optional. Adds rows after the last one of a key, all or none. after: the position that the newest row must have
     * (0: the key must have no rows), else CHANGED; -1: any. *last is the position of the last row added, or 0 if the
     * store learns it later. */
    int (*append)(void *store, const struct reprise_plugin_key *key, int64_t after,
                  const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                  struct reprise_plugin_call *call);
    /* Optional. Removes all rows of a key; without a subpath, also those of all subpaths of the session. An unknown key
     * is not an error. */
    int (*remove)(void *store, const struct reprise_plugin_key *key,
                  struct reprise_plugin_call *call);

    /* Optional. Sets *position to that of the newest row whose string member `uuid` is this NUL-terminated text, or to
     * 0. Without it, the program reads pages from the end until it finds the row. */
    int (*find)(void *store, const struct reprise_plugin_key *key, const char *uuid,
                int64_t *position, struct reprise_plugin_call *call);
};

#ifdef __cplusplus
}
#endif

#endif
