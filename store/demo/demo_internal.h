#ifndef STORE_DEMO_DEMO_INTERNAL_H
#define STORE_DEMO_DEMO_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* ---- the story (story.c): who said what, and which files changed when ---- */

/* The conversations of Claude Code are scripts: tables of steps. A new conversation is one more table, and a row in
 * demo_sessions. */
enum demo_act {
    ACT_ASK,   /* a prompt */
    ACT_SHELL, /* "! command" typed by the person, and its output */
    ACT_THINK,
    ACT_SAY,
    ACT_READ,    /* path: shows the file as it is at that time */
    ACT_EDIT,    /* path, old text, new text; the file must contain the old text */
    ACT_WRITE,   /* path, whole text */
    ACT_RUN,     /* command, output */
    ACT_FAIL,    /* command, output of a command that failed */
    ACT_AGENT,   /* description, prompt, the command it runs, its output, the report */
    ACT_COMPACT, /* summary, which replaces everything before it */
    ACT_STOP,    /* the person pressed Esc while the command ran */
};

struct demo_step {
    enum demo_act act;
    const char *arg[5];
};

struct demo_script {
    const struct demo_step *step;
    size_t n;
};

enum demo_end {
    END_WHOLE,
    END_CUT,  /* the client died after a tool result: nothing follows it */
    END_TORN, /* it died while it wrote the last row */
};

struct demo_session {
    const char *id;
    const char *project; /* below the directory of the demo */
    const char *branch;
    const char *title;    /* given by a person, or NULL */
    const char *ai_title; /* or NULL */
    const char *tag;      /* or NULL */
    int ended_min_ago;
    struct demo_script script;
    enum demo_end end;
    bool archived;
    const char *fork_of; /* id of an earlier session, or NULL */
    size_t shared;       /* steps that were copied from it */
};

/* A file as it was before the first conversation. */
struct demo_source {
    const char *project, *path, *text;
};

/* Oldest first, so that each session finds the files as the one before left them. */
extern const struct demo_session demo_sessions[];
extern const size_t demo_session_count;
extern const struct demo_source demo_sources[];
extern const size_t demo_source_count;

/* ---- one system each: the sessions of the demo in `dir`, as of now_ms ---- */

MUST_CHECK enum err_code demo_claude(const char *dir, int64_t now_ms, struct err *e);
/* The following three store their sessions in the project `project`, whose files must exist already. */
MUST_CHECK enum err_code demo_goat(const char *config, const char *project, int64_t now_ms,
                                   struct err *e);
MUST_CHECK enum err_code demo_exathena(const char *project, int64_t now_ms, struct err *e);
MUST_CHECK enum err_code demo_entire(const char *project, int64_t now_ms, struct err *e);

/* ---- writing ---- */

/* Creates a file (0600) with these bytes and this mtime, and the directories above it (0700). Never opens an existing
 * file, and does not sync: losing a demo in a power failure does no harm. */
MUST_CHECK enum err_code demo_put(const char *path, struct slice bytes, int64_t mtime_ms,
                                  struct err *e);
MUST_CHECK enum err_code demo_make_dirs(const char *path, struct err *e);
/* A path of parts, joined without separators; the list ends with NULL. out has PATH_MAX bytes. */
MUST_CHECK enum err_code demo_join(char *out, const char *const *part, struct err *e);
#define DEMO_JOIN(out, e, ...) demo_join(out, (const char *const[]){ __VA_ARGS__, NULL }, e)

/* Appends JSON from a template, in which ' is a double quote. The arguments follow as in printf:
 *
 *   $s   a const char * as a string literal; null for NULL
 *   $z   a struct slice as a string literal
 *   $e   the text of a const char *, inside a string literal
 *   $r   a struct slice that is JSON
 *   $d   an int64_t
 *   $t   a time in ms (int64_t) as a string literal */
MUST_CHECK enum err_code demo_json(struct buf *out, const char *form, ...);
MUST_CHECK enum err_code demo_json_list(struct buf *out, const char *form, va_list args);

/* The difference of two texts as the client's structuredPatch: an array of at most one hunk with three lines of
 * context. It is meant for edits in one place. */
MUST_CHECK enum err_code demo_patch(struct buf *out, struct slice before, struct slice after);

#endif
