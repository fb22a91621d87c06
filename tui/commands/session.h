#ifndef TUI_COMMANDS_SESSION_H
#define TUI_COMMANDS_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "store/api/restore.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/query/listing.h"
#include "store/query/resolve.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/filter/filter.h"

#define SESSIONS_NO_HOME "HOME is not set, so it is not known where the agents keep sessions"

/* The stores and the scope that the options of a command select. */
struct sessions {
    struct arena arena;
    struct store *store[OPTION_STORES_MAX]; /* owned */
    size_t n;
    struct bundle_view *bundle; /* with --bundle: owns the stores */
    struct scope scope;
    const char *looked_in[OPTION_STORES_MAX]; /* "claude /home/u/.claude" */
    size_t looked_in_count;
    struct problem_list *unopened; /* owned: stores that could not be opened; NULL: none */
    bool no_home;                  /* HOME is not set, so the default stores are not known */
    struct idset named;            /* the sessions that sessions_is_first() has seen */
};

/* Opens the stores that --store names, or every existing default store. If the only --store cannot
 * be opened, this is an error; if one of several stores or a default store cannot be read, a
 * warning is written to stderr. With `everywhere`, the scope without --project is every project. */
MUST_CHECK enum err_code sessions_open(struct invocation *in, bool everywhere, struct sessions *out,
                                       struct err *e);
/* Opens one store, "SYSTEM:PATH" or "SYSTEM", for new sessions, and creates it if it does not exist; or a store of the
 * configuration or a URL, which exists. */
MUST_CHECK enum err_code sessions_make(struct invocation *in, const char *named,
                                       struct sessions *out, struct err *e);
/* Opens the local stores and, as *to, the store of a plug-in that `named` names; it is closed with the others. */
MUST_CHECK enum err_code sessions_open_to(struct invocation *in, const char *named, bool everywhere,
                                          struct sessions *out, struct store **to, struct err *e);
void sessions_close(struct sessions *s);
/* The error of an agent's name that is unknown, with the nearest one; config may be NULL. */
enum err_code sessions_unknown_agent(const struct config *config, const char *named, struct err *e);
/* The stores on this machine, which come before those on servers. */
size_t sessions_count_here(const struct sessions *s);
/* Why an answer has no session: `text`, or that no store is known without HOME. */
const char *sessions_none(const struct sessions *s, const char *text);
/* Which sessions of the scope the options of a command select: tag, branch, times, sort, page. */
MUST_CHECK enum err_code sessions_query(struct invocation *in, const struct scope *scope,
                                        struct listing_query *q, struct err *e);

/* Warns about folders and servers that could not be read when the sessions were listed. is_failure: the first reason is
 * an error instead. */
MUST_CHECK enum err_code sessions_report_unreadable(const struct invocation *in,
                                                    const struct sessions *s, bool is_failure,
                                                    struct err *e);
/* The session that an operand names; *ref is valid until sessions_close(). */
MUST_CHECK enum err_code sessions_find(struct sessions *s, const char *id, struct session_ref *ref,
                                       struct err *e);
/* The sessions that n operands name, as an array that is valid until sessions_close(). This is
 * faster than finding them one by one. An operand that names no session is an error. */
MUST_CHECK enum err_code sessions_find_all(struct sessions *s, char *const *ids, size_t n,
                                           struct session_ref **ref, struct err *e);
/* Warns if the agent may remove a session that was put in its place, because it goes by the time of the file. `next` is
 * what to do about it. */
struct session_placed {
    const char *system;
    struct slice id;
    const char *path; /* of its transcript */
};
void session_warn_expired(const struct invocation *in, const struct sessions *s,
                          const struct session_placed *placed, const char *next);
/* Sets *once if the session is seen for the first time: a session that is named twice counts once. */
MUST_CHECK enum err_code sessions_is_first(struct sessions *s, const struct session_ref *ref,
                                           bool *once, struct err *e);

/* Puts a session's transcript where its agent looks for it (store/api/restore.h), as one change that can be undone;
 * with --dry-run nothing is written. retrieved_fini() frees *out. */
MUST_CHECK enum err_code change_retrieve(struct invocation *in, const struct session_ref *ref,
                                         const struct retrieve_request *req, struct retrieved *out,
                                         struct err *e);
/* Forks a session as the command does; *path, in the arena, is the path of the copy. */
MUST_CHECK enum err_code change_fork(struct invocation *in, const struct session_ref *ref,
                                     struct arena *a, const char **path, struct err *e);
/* Opens the screen on the rewind view of a session. */
MUST_CHECK enum err_code picker_show_rewind(struct invocation *in, struct sessions *s,
                                            const struct session_ref *ref, struct err *e);

/* Sessions as lines for people, in aligned columns.
 *
 * Ids take eight characters; only an id that needs more to be unique is wider. On a terminal, a
 * line is cut to fit the width: the columns branch, size, agent and project are left out in this order as
 * long as the title would have less than SESSION_LINE_TITLE_MIN columns, and the title is cut. */
enum { SESSION_LINE_TITLE_MIN = 28 };

struct session_line_columns {
    int64_t now_ms;
    struct short_ids *ids; /* owned */
    size_t id_columns;
    size_t width;         /* the width of the terminal; 0: lines are not cut */
    bool shows_projects;  /* the list contains more than one project */
    bool without_ids;     /* sessions are chosen by number */
    const char *agent;    /* the agent of the rows that fitted so far; NULL: none */
    size_t agent_columns; /* 0: all rows are of one agent */
};

/* all: a listing of these sessions, or NULL. */
MUST_CHECK enum err_code
session_line_columns_open(const struct sessions *s, const struct listing *all, const struct out *o,
                          int64_t now_ms, struct session_line_columns *look, struct err *e);
/* Makes room for an id in its column, and for the agent's name where rows of several agents are listed. */
void session_line_columns_fit(struct session_line_columns *look, const struct session_ref *ref);
void session_line_columns_close(struct session_line_columns *look);

/* The names of the columns, `indent` blanks from the left. */
void session_line_header(const struct session_line_columns *look, size_t indent, struct out *o);
/* A session as one line: age, start of the id, agent, project, branch, size, title, tag, and its flags. `indent`
 * columns are already used. Text from disk is cleaned. */
void session_line_write(const struct session_row *row, const struct session_line_columns *look,
                        size_t indent, struct out *o);

/* The number of columns of this id, which is larger if it needs more to be unique. */
size_t session_line_id_columns(const struct session_ref *ref,
                               const struct session_line_columns *look);
/* The start of an id, padded to the column. */
void session_line_id(const struct session_ref *ref, const struct session_line_columns *look,
                     struct out *o);
/* The words for the row's kind and flags: "sub-agent, archived, interrupted"; may be empty. */
enum { SESSION_LINE_FLAGS = 128 };
void session_line_flags(const struct session_row *row, char out[SESSION_LINE_FLAGS]);
/* Text in at most w columns: cut with an ellipsis. */
void session_line_cut(struct slice text, size_t w, struct out *o);
/* Text in exactly w columns: padded, or cut with an ellipsis. */
void session_line_column(struct slice text, size_t w, struct out *o);

/* The picker for line-oriented readers and terminals that cannot draw: numbered lines on stderr. A
 * line on stdin chooses a session (a number), narrows the list (words, as in the filter) or quits
 * (an empty line, q). The ref is in the arena. */
MUST_CHECK enum err_code plain_menu_choose(const struct invocation *in, const struct sessions *s,
                                           enum sort_kind sort, struct arena *a,
                                           struct session_ref *out, struct err *e);

/* Which sessions a command is about: --tag and --query. A zeroed one is all of them. */
struct selection {
    struct slice tag; /* empty: any */
    struct query query;
    struct arena arena; /* owns one doc, which is made again for each session */
    struct doc *doc;
    size_t room;
    bool failed; /* out of memory */
};

/* Reads a query; `name` is where it was typed, for ERR_USAGE. */
MUST_CHECK enum err_code selection_read(const char *text, int64_t now_ms, const char *name,
                                        struct selection *s, struct err *e);
/* A sweep_filter_fn, whose argument is the selection. */
bool selection_has(const struct session_row *row, void *arg);
void selection_fini(struct selection *s);

struct invocation;

/* The shared part of the commands about edits: blame, touched, files. */

struct hook_plan;
/* The change of an agent's configuration (store/snapshots/hooks.h) as a unified diff. */
MUST_CHECK enum err_code config_change_show(const struct hook_plan *p, struct out *o,
                                            struct err *e);
/* Asks whether to make it, unless this option was given. ERR_CANCELLED: no. */
MUST_CHECK enum err_code config_change_ask(struct invocation *in, enum option_id unasked,
                                           const char *name, struct err *e);
struct linediff;
/* The hunks of a unified diff, without the names of the files. */
void compare_write_hunks(const struct linediff *d, struct out *o);

/* Changes that only the agents of the sessions can make, with commands of their own
 * (store/maintenance/session_change.h): the commands rename, archive, unarchive and delete. */
struct by_agent {
    enum store_command what;
    struct slice title;                   /* RENAME */
    const struct session_ref *const *ref; /* NULL: a session that is named twice */
    size_t n;
};

/* Sets *all to whether agents make the change; if they do so for some of the sessions only, returns ERR_USAGE. */
MUST_CHECK enum err_code by_agent_check(const struct by_agent *b, bool *all, struct err *e);
/* Shows the commands, asks whether to run them (not with --yes), and runs them one after the other until one fails.
 * With --print it only writes them. Without a terminal to ask on: ERR_UNSUPPORTED. */
MUST_CHECK enum err_code by_agent_run(struct invocation *in, const struct by_agent *b,
                                      struct err *e);

#endif
