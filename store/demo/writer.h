#ifndef STORE_DEMO_WRITER_H
#define STORE_DEMO_WRITER_H

#include "store/demo/demo_internal.h"

/* The transcript of one session of Claude Code being written, row by row. The rows are those of client 2.1.330
 * (docs/formats/claude.md 9.2). Ids come from a seed and a count, so that they are the same every time. The first
 * failure stays in `rc`, and later calls have no effect. */

enum { SECOND = 1000, MINUTE = 60 * SECOND, BACKUPS_MAX = 8, UUID = 37 };

struct file {
    const char *project, *path; /* of the story */
    struct buf text;
    bool exists;
};

struct world;

struct backup {
    const struct file *file;
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
