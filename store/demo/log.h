#ifndef STORE_DEMO_LOG_H
#define STORE_DEMO_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/demo/script.h"

/* One transcript being written, row by row, in the manner of client 2.1.330 (claude.md C2, 4).
 * Ids come from a seed and a count, so that every run makes the same ones. The first failure (memory)
 * sticks in rc; later calls do nothing. */
enum { DEMO_UUID = 37 };

struct demo_log {
    struct buf out;
    enum err_code rc;
    const struct demo_session *session;
    const char *cwd;         /* absolute */
    const char *agent;       /* a sub-agent's transcript: its id, else NULL */
    const char *forked_from; /* while rows of another session are copied: its id, else NULL */
    uint64_t seed;
    uint64_t ids;
    int64_t clock_ms;
    int64_t turn_began_ms;
    char last[DEMO_UUID];   /* the newest row of the chain; "" before the first */
    char prompt[DEMO_UUID]; /* the newest prompt's row */
    char turn[DEMO_UUID];   /* promptId: the same for all rows of a turn */
    char answer[32];        /* message.id: one model answer may be several rows */
};

void demo_log_init(struct demo_log *l, const struct demo_session *s, const char *cwd,
                   int64_t clock_ms);
void demo_log_fini(struct demo_log *l);
/* From now on ids come from this text. */
void demo_log_seed(struct demo_log *l, const char *text);

/* Rows of the chain; each stands at the clock and becomes `last`. JSON texts are complete values. */
void demo_log_prompt(struct demo_log *l, struct slice text);
void demo_log_note(struct demo_log *l,
                   struct slice content_json); /* a user row that is no prompt */
void demo_log_assistant(struct demo_log *l, struct slice content_json, const char *stop_reason);
struct demo_log_result {
    struct slice content_json; /* of the tool_result block's row */
    struct slice result_json;  /* toolUseResult */
    const char *call_row;      /* uuid of the row that made the call */
};
void demo_log_tool_result(struct demo_log *l, const struct demo_log_result *r);
void demo_log_turn_end(struct demo_log *l);
void demo_log_seam(struct demo_log *l, struct slice summary); /* a boundary and its summary */

/* Starts a new model answer. */
void demo_log_new_answer(struct demo_log *l);
/* An id for a tool call. */
void demo_log_call_id(struct demo_log *l, char out[32]);
void demo_log_uuid(struct demo_log *l, char out[DEMO_UUID]);

/* Rows beside the chain: open, add members, close. */
void demo_log_open(struct demo_log *l, struct jsonout *j, const char *type);
void demo_log_close(struct demo_log *l, struct jsonout *j);
/* What the client repeats at the end: last prompt, titles, tag, mode. */
void demo_log_metadata(struct demo_log *l, struct slice last_prompt);

/* member(j, "key", "text") for texts of ours. */
void demo_log_member(struct jsonout *j, const char *key, const char *text);

#endif
