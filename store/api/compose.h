#ifndef STORE_API_COMPOSE_H
#define STORE_API_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "store/api/host.h"

/* A conversation in the rows of an agent that did not record it, so that the agent can continue it
 * (store/maintenance/continue_in.h). Messages come one after the other, the oldest first; their rows are passed on after
 * each one, so the length of a conversation does not matter. Texts are UTF-8 without NULs. */

/* What a tool call does, if other agents have a tool that does the same. */
enum compose_meaning {
    COMPOSE_COMMAND, /* runs a command in a shell */
    COMPOSE_READ,    /* reads a whole file */
    COMPOSE_WRITE,   /* creates or overwrites a file */
    COMPOSE_REPLACE, /* replaces one text in a file */
};

struct compose_call {
    enum compose_meaning meaning;
    /* its id in the new session, at most HOST_ID bytes with its NUL: letters, digits, - and _ */
    const char *id;
    struct slice path;     /* absolute and NUL-terminated; not of a command */
    struct slice text;     /* the command, or what is written */
    struct slice old_text; /* COMPOSE_REPLACE; text is then what replaces it */
    bool all;              /* COMPOSE_REPLACE: everywhere */
    struct slice result;
    bool failed;
};

struct compose {
    const struct store *store;
    struct arena *arena; /* for what has to last until the end */
    const char *dir;     /* the session's directory, absolute */
    struct slice branch; /* may be empty */
    struct slice title;  /* may be empty */
    int64_t time_ms;     /* the message's time; never goes back */
    struct buf rows;     /* the rows of one message */
    enum err_code rc;    /* ERR_NOMEM: they are not complete */
    char time[TIME_TEXT];
    /* What the system itself remembers. */
    char id[HOST_ID];     /* the new session */
    char parent[HOST_ID]; /* the last row; "": no row yet */
    char turn[HOST_ID];   /* the last prompt */
    char answer[HOST_ID]; /* the answer that is being written; "": none */
    void *own;            /* in the arena */
};

struct compose_ops {
    /* The rows are those of a database, as in sqlite_rows.h, and a session's path is the database, a slash and its id. */
    bool database;
    /* Chooses the id and sets *path, in the arena: where the session will be. Writes the rows before the first message. */
    enum err_code (*begin)(struct compose *c, const char **path, struct err *e);
    void (*prompt)(struct compose *c, struct slice text);
    void (*reply)(struct compose *c, struct slice text);
    /* A call with its result. Returns false, without a row, if the agent has no tool that does exactly that. */
    bool (*call)(struct compose *c, const struct compose_call *call);
    /* Optional. Writes the rows after the last message. */
    void (*end)(struct compose *c);
};

#endif
