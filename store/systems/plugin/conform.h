#ifndef STORE_SYSTEMS_PLUGIN_CONFORM_H
#define STORE_SYSTEMS_PLUGIN_CONFORM_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "store/systems/plugin/plugin.h"

/* The rules that a plug-in has to keep (conform_rules.c), and the processes in which they are tried (conform.c).
 *
 * Each rule is tried in a child of its own, which loads the plug-in and opens its store anew: a plug-in that crashes,
 * ends the process or hangs ends one rule. Parent and children share memory, in which a child notes each
 * key before it writes to it. The last child removes these keys, whatever became of the others. */

enum { CONFORM_KEYS = 96, CONFORM_NAME = 96, CONFORM_TEXT = 512, CONFORM_MOST = 64 };

struct conform_key {
    char project[CONFORM_NAME], session[CONFORM_NAME], subpath[CONFORM_NAME]; /* "": main */
};

struct conform_shared {
    atomic_int calls;        /* grows with each call of the plug-in: the child gets on */
    char call[CONFORM_NAME]; /* the name of the last one */
    int can;                 /* enum conform_needs */
    int64_t timeout_ms;      /* of the store */
    bool done;               /* the child came to its end */
    bool failed;             /* the rule does not hold: */
    char expected[CONFORM_TEXT], got[CONFORM_TEXT];
    int keys;
    struct conform_key key[CONFORM_KEYS];
};

/* What a rule needs besides open, close, list and read. */
enum conform_needs {
    CONFORM_APPEND = 1,
    CONFORM_REMOVE = 2,
    CONFORM_SUBKEYS = 4,
    CONFORM_PAGE = 8,
    CONFORM_FIND = 16,
    CONFORM_IDS = 32,
    CONFORM_THREADS = 64,
};

/* A rule in its child. */
struct conform {
    const struct reprise_plugin *table;
    const struct plugin_store *plugin;
    void *store; /* the plug-in's own */
    struct conform_shared *shared;
    const char *run; /* the names of all keys begin with it */
    int rule;        /* its place in the table; it is in the names of its keys, too */
    struct reprise_plugin_call call;
    int64_t call_ends_ms; /* after that, stopped() returns 1 */
    bool cancelled;       /* stopped() returns 1 from now on */
    struct arena arena;
};

struct conform_rule {
    int number; /* in the suite of the agent's SDK; 0: it is ours */
    int needs;
    const char *name;
    void (*run)(struct conform *c);
};

extern const struct conform_rule conform_rules[];
extern const size_t conform_rule_count;

/* Notes the beginning of a call, and gives it its time. */
void conform_begin(struct conform *c, const char *call);
/* Opens the store once more. */
int conform_open(struct conform *c, void **store);
/* Notes that the rule does not hold, and ends the child. */
_Noreturn void conform_fail(struct conform *c, const char *expected, const char *got, ...)
    PRINTF_LIKE(3, 4);
/* Ends the process without its exit handlers, among which may be the plug-in's. */
_Noreturn void conform_end(struct conform_shared *shared);

#define CONFORM_CALL(c, member, ...)                                                               \
    (conform_begin(c, #member), (c)->table->member((c)->store, __VA_ARGS__, &(c)->call))

/* ---- conform_calls.c: what the rules are made of; a helper whose expectation does not hold ends the child ---- */

/* Rows that came. */
struct conform_rows {
    struct conform *c;
    struct slice *row;
    int64_t *at;
    size_t n, room;
    size_t stop_after; /* the callback asks to stop then; 0: never */
};

/* Sessions of one project, or subpaths, that came. */
struct conform_names {
    struct conform *c;
    const char *project;
    const char *id[CONFORM_MOST];
    size_t n;
};

/* A name of this rule's own, which begins with c->run; in the arena. */
const char *conform_name(struct conform *c, const char *text);
struct reprise_plugin_key conform_key(struct conform *c, const char *project, const char *session,
                                      const char *subpath);
/* The main transcript of "sess" in "proj". */
struct reprise_plugin_key conform_main(struct conform *c);
/* Compares the code that the last call returned. */
void conform_expect_code(struct conform *c, int want, int code);
void conform_expect_count(struct conform *c, const char *what, size_t want, size_t n);
/* Compares as JSON values, which is all that a store promises. */
bool conform_same(struct conform *c, struct slice x, struct slice y);
void conform_expect_row(struct conform *c, const char *want, struct slice got);
/* Every append notes its key for the process that cleans up. */
int conform_append_texts(struct conform *c, const struct reprise_plugin_key *k, int64_t after,
                         const struct reprise_plugin_text *row, size_t n, int64_t *last);
int conform_append(struct conform *c, const struct reprise_plugin_key *k, int64_t after,
                   const char *row, int64_t *last);
/* The rows end with NULL. */
void conform_append_rows(struct conform *c, struct reprise_plugin_key k, const char *const rows[]);
int conform_take_row(int64_t position, struct reprise_plugin_text row, void *arg);
struct conform_rows conform_load(struct conform *c, struct reprise_plugin_key k, int64_t after);
void conform_expect_rows(struct conform *c, struct reprise_plugin_key k, const char *const rows[]);
void conform_expect_none(struct conform *c, struct reprise_plugin_key k);
/* The sessions of a project, or with a session's id those with this id in it. */
struct conform_names conform_list(struct conform *c, const char *project, const char *session);
bool conform_has(const struct conform_names *f, const char *id);
void conform_expect_name(const struct conform_names *f, const char *id);
struct conform_names conform_subkeys(struct conform *c, struct reprise_plugin_key k);
void conform_remove(struct conform *c, struct reprise_plugin_key k);

#endif
