#ifndef STORE_PROC_TERMINAL_H
#define STORE_PROC_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "lite/base/err.h"

struct store_env;

/* Where a running agent can be seen: the terminal of its process, and the program that shows this terminal. */
enum terminal_kind {
    TERMINAL_OTHER, /* only the name of the terminal is known, or nothing */
    TERMINAL_TMUX,
    TERMINAL_SCREEN, /* GNU Screen */
    TERMINAL_ZELLIJ,
    TERMINAL_KITTY,
    TERMINAL_WEZTERM,
};

struct agent_terminal {
    enum terminal_kind kind;
    char name[32];    /* "/dev/pts/4"; "" if it is not known */
    char pane[32];    /* what the program calls it: "%3"; a window of kitty; a session of Zellij */
    char place[80];   /* the same for people: "work:1.0"; "" with TERMINAL_OTHER */
    char server[108]; /* the socket of tmux or kitty; "": the usual one */
    /* tmux: this program runs in the same server, whose client can be switched to the pane */
    bool near;
    bool shown; /* it is on the screen now */
};

/* "tmux", "GNU Screen"; "" for TERMINAL_OTHER. A literal. */
const char *terminal_kind_name(enum terminal_kind kind);

/* Finds the terminal of a process. tmux is asked for its panes, and a pane counts only if it is this terminal; of the
 * others, the variables in the environment of the process tell. What is not known stays empty. */
void terminal_find(const struct store_env *env, pid_t pid, struct agent_terminal *out);

/* Returns true if terminal_show can bring it to the front: a pane of the tmux in which this program runs, a window of
 * kitty that allows remote control, or a pane of WezTerm. */
bool terminal_can_show(const struct agent_terminal *t);
/* Brings it to the front. Nothing is typed into it. ERR_NOT_FOUND, ERR_IO: the program is missing or refused. */
MUST_CHECK enum err_code terminal_show(const struct store_env *env, const struct agent_terminal *t,
                                       struct err *e);

/* The command that shows it in this terminal instead: tmux attaches to the session, Screen and Zellij likewise. Returns
 * false if no command can. The array ends with a NULL and borrows from *t. */
enum { TERMINAL_ATTACH_MAX = 16 };
bool terminal_attach(const struct agent_terminal *t, const char *argv[TERMINAL_ATTACH_MAX]);

#endif
