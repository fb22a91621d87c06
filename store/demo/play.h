#ifndef STORE_DEMO_PLAY_H
#define STORE_DEMO_PLAY_H

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

struct play {
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
void play_note(struct play *p, enum err_code rc);

/* Derives all further ids from this text. */
void play_seed_ids(struct play *p, const char *text);
void play_generate_uuid(struct play *p, char out[UUID]);
void play_generate_id(struct play *p, const char *front, char out[32]);
/* Begins another answer of the model, to which the next rows of the assistant belong. */
void play_begin_answer(struct play *p);

/* Adds a row to the end of the chain, from a template (demo_json). */
void play_add_row(struct play *p, const char *form, ...);
/* Rows that the user sends; the template continues with the content. */
#define USER_ROW "'promptId':$s,'type':'user','message':{'role':'user','content':"

void play_add_prompt(struct play *p, const char *text);
/* An answer of the model; content: an array of blocks. */
void play_add_assistant(struct play *p, const struct buf *content, const char *stop_reason);
/* An answer of one block, text or thinking. */
void play_say(struct play *p, const char *text, bool thinking, const char *stop_reason);
void play_end_turn(struct play *p);
/* A compaction: its boundary and the summary. */
void play_compact(struct play *p, const char *summary);
/* The metadata that the client repeats at the end. */
void play_add_metadata(struct play *p);

#endif
