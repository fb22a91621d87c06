#ifndef STORE_SYSTEMS_EXATHENA_SHOW_H
#define STORE_SYSTEMS_EXATHENA_SHOW_H

#include "store/api/store.h"
#include "store/systems/exathena/event.h"

/* The messages of a log in order, each as the `messages` command prints it. */
struct exathena_message_walk {
    const struct session_ref *ref;
    struct slice agent;        /* the log is that of this sub-agent; empty: the session's */
    struct slice last;         /* stop after the event with this uuid; empty: at the end */
    bool system;               /* system messages too */
    const atomic_bool *cancel; /* may be NULL */
};

/* Arguments are valid during the call. A non-zero code ends the walk and is returned. */
typedef enum err_code exathena_message_fn(const struct event *ev, struct slice json, void *arg,
                                          struct err *e);

/* ERR_NOT_FOUND: `last` was given, but there is no such event. */
MUST_CHECK enum err_code exathena_walk_messages(const struct exathena_message_walk *walk,
                                                exathena_message_fn *fn, void *arg, struct err *e);

#endif
