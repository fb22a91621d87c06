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
    ACT_RUN,     /* command, output, and the file that it removes, if any */
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
    bool snapshots;      /* hooks took them; later sessions change no file of the project */
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

/* The transcript of one session of Claude Code being written, row by row. The rows are those of client 2.1.330
 * (docs/formats/claude.md 9.2). Ids come from a seed and a count, so that they are the same every time. The first
 * failure stays in `rc`, and later calls have no effect. */

enum { SECOND = 1000, MINUTE = 60 * SECOND, BACKUPS_MAX = 8, UUID = 37 };

struct demo_file {
    const char *project, *path; /* the project and the file of the story */
    struct buf text;
    bool exists;
    bool is_on_disk; /* written by this demo */
};

struct world;

struct backup {
    const struct demo_file *file;
    unsigned version;
    bool changed;  /* since this version */
    char name[40]; /* "" if the file did not exist */
    int64_t at_ms;
};

struct demo_writer {
    const struct demo_session *session;
    struct world *world;
    const char *cwd;         /* the project, absolute */
    const char *side;        /* the session's side folder, without a slash */
    const char *history;     /* the directory of its backups */
    const char *agent;       /* the id of the sub-agent whose transcript this is, or NULL */
    const char *forked_from; /* the id of the session whose rows are being copied, or NULL */
    const char *last_prompt;
    struct backup backup[BACKUPS_MAX];
    size_t backups;
    struct buf out; /* the transcript */
    uint64_t seed, ids;
    int64_t clock_ms, turn_began_ms;
    char last[UUID];   /* the newest row of the chain; "" before the first */
    char prompt[UUID]; /* the row of the newest prompt */
    char turn[UUID];   /* promptId of all rows of a turn */
    char answer[32];   /* message.id of all rows of one answer of the model */
    enum err_code rc;
    struct err *e;
};

/* Keeps the first failure. */
void demo_writer_note(struct demo_writer *p, enum err_code rc);

/* Derives all further ids from this text. */
void demo_writer_seed_ids(struct demo_writer *p, const char *text);
void demo_writer_generate_uuid(struct demo_writer *p, char out[UUID]);
void demo_writer_generate_id(struct demo_writer *p, const char *front, char out[32]);
/* Begins another answer of the model, to which the next rows of the assistant belong. */
void demo_writer_begin_answer(struct demo_writer *p);

/* Adds a row to the end of the chain, from a template (demo_json). */
void demo_writer_add_row(struct demo_writer *p, const char *form, ...);
/* Rows that the user sends; the template continues with the content. */
#define USER_ROW "'promptId':$s,'type':'user','message':{'role':'user','content':"

void demo_writer_add_prompt(struct demo_writer *p, const char *text);
/* An answer of the model; content: an array of blocks. */
void demo_writer_add_assistant(struct demo_writer *p, const struct buf *content,
                               const char *stop_reason);
/* An answer of one block, text or thinking. */
void demo_writer_say(struct demo_writer *p, const char *text, bool thinking,
                     const char *stop_reason);
void demo_writer_end_turn(struct demo_writer *p);
/* A compaction: its boundary and the summary. */
void demo_writer_compact(struct demo_writer *p, const char *summary);
/* The metadata that the client repeats at the end. */
void demo_writer_add_metadata(struct demo_writer *p);

#endif
