#ifndef STORE_DEMO_SCRIPT_H
#define STORE_DEMO_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

/* The demo is told as scripts: tables of steps which play.c turns into rows. A new conversation is one
 * more table, and a row in demo_sessions. */
enum demo_act {
    ACT_ASK,   /* a prompt */
    ACT_SHELL, /* "! command" typed by the person, and its output */
    ACT_THINK,
    ACT_SAY,
    ACT_READ,    /* path: shows the file as it is then */
    ACT_EDIT,    /* path, old text, new text; the old text must be there */
    ACT_WRITE,   /* path, whole text */
    ACT_RUN,     /* command, output */
    ACT_FAIL,    /* command, output of a command that failed */
    ACT_AGENT,   /* description, prompt, the command it runs, its output, the report */
    ACT_COMPACT, /* summary: what came before is folded into it */
    ACT_STOP,    /* the person pressed Esc while the command ran */
};

struct demo_step {
    enum demo_act act;
    const char *arg[5];
};

/* clang-format off */
#define ASK(text) { ACT_ASK, { text } }
#define SHELL(command, output) { ACT_SHELL, { command, output } }
#define THINK(text) { ACT_THINK, { text } }
#define SAY(text) { ACT_SAY, { text } }
#define READ(path) { ACT_READ, { path } }
#define EDIT(path, old, new) { ACT_EDIT, { path, old, new } }
#define WRITE(path, text) { ACT_WRITE, { path, text } }
#define RUN(command, output) { ACT_RUN, { command, output } }
#define FAIL(command, output) { ACT_FAIL, { command, output } }
#define AGENT(what, prompt, command, output, report) \
    { ACT_AGENT, { what, prompt, command, output, report } }
#define COMPACT(summary) { ACT_COMPACT, { summary } }
#define STOP(command) { ACT_STOP, { command } }
/* clang-format on */

struct demo_script {
    const struct demo_step *step;
    size_t n;
};
#define SCRIPT(table)                                                                              \
    {                                                                                              \
        table, sizeof(table) / sizeof(table)[0]                                                    \
    }

enum demo_end {
    END_WHOLE,
    END_CUT,  /* the client died after a tool's answer: nothing is written after it */
    END_TORN, /* it died inside the last row */
};

struct demo_session {
    const char *id;
    const char *project; /* below dir */
    const char *branch;
    const char *title;    /* given by a person, or NULL */
    const char *ai_title; /* or NULL */
    const char *tag;      /* or NULL */
    int ended_min_ago;
    const struct demo_script *script;
    enum demo_end end;
    bool archived;
    const char *fork_of; /* id of a session that stands earlier, or NULL */
    size_t shared;       /* steps that were copied from it */
};
#define DEMO_REFUND_FIRST "9b0c7b1e-53a0-4a35-9a5e-d9b3f1c84d02"

/* A file as it was before the first conversation. */
struct demo_source {
    const char *project, *path, *text;
};

/* Oldest first, so that each finds the files as the one before left them. */
extern const struct demo_session demo_sessions[];
extern const size_t demo_session_count;
extern const struct demo_source demo_sources[];
extern const size_t demo_source_count;

/* The scripts, by project: session_fixture.c, ledger.c. */
extern const struct demo_script demo_retry_loop, demo_idempotency, demo_refund_first,
    demo_refund_second, demo_receipt_japanese, demo_checkout_copy, demo_cart_postgres,
    demo_node_upgrade, demo_size_table, demo_providers;
extern const struct demo_script demo_vat_cent, demo_auth_audit, demo_export_memory, demo_outdated;

#endif
