#ifndef STORE_SYSTEMS_CRUSH_CRUSH_H
#define STORE_SYSTEMS_CRUSH_CRUSH_H

#include "store/systems/common/sqlite/sqlite_store.h"

/* Sessions of Crush (docs/formats/crush.md), which keeps a database in each project:
 *
 *     <data>/projects.json     where Crush was started, and where each of these projects has its database
 *     <data_dir>/crush.db      sessions, messages, and the whole content of each file before and after each edit
 *
 * <data> is $CRUSH_GLOBAL_DATA, $XDG_DATA_HOME/crush or ~/.local/share/crush. Crush has no undo of its own. */
extern const struct store_ops crush_ops;

/* According to the comments in Crush's schema, times are in milliseconds, but its triggers write
 * seconds. TIME_NONE: not recorded. */
int64_t crush_time(int64_t stored);

/* A row of a conversation is {"id": ..., "role": ..., "parts": <messages.parts>}. */
extern const struct sqlite_format crush_format; /* show.c */
store_blocks_fn crush_blocks;
sqlite_query_fn crush_sessions; /* crush.c */
bool crush_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                  const struct scope *scope, struct arena *a, struct sqlite_listed *out);
/* The prompt in the parts of a user's message, in the arena or borrowed; may be empty. */
struct slice crush_prompt(struct slice parts, struct arena *a);

/* ---- versions.c: the contents of files that a session kept ---- */

struct crush_version {
    struct slice path;    /* absolute */
    struct slice content; /* text; line ends may have been converted */
    int64_t number, time_ms;
};

struct crush_prompt {
    struct slice id, text;
    int64_t time_ms;
};

struct crush_edit {          /* a call that wrote a file */
    struct slice path, call; /* empty path: it failed */
    int64_t time_ms;
};

struct crush_versions {
    struct arena arena;            /* owns everything */
    struct crush_version *version; /* by path, then by number */
    size_t n;
    struct crush_prompt *prompt; /* oldest first */
    size_t prompts;
    struct crush_edit *edit;
    size_t edits;
};

/* With `contents`, reads also the contents, which may be large. */
MUST_CHECK enum err_code crush_versions_read(const struct session_ref *ref, bool contents,
                                             struct crush_versions *out, struct err *e);
void crush_versions_fini(struct crush_versions *v);

/* ---- plan.c ---- */

store_checkpoints_fn crush_checkpoints;
store_plan_fn crush_plan;

#endif
