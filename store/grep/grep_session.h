#ifndef STORE_GREP_GREP_SESSION_H
#define STORE_GREP_GREP_SESSION_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "store/grep/grep.h"

/* Searching one session on one thread. */

/* Receives a hit, valid during the call. A non-zero result ends the session. */
typedef enum err_code grep_hit_fn(const struct grep_hit *hit, void *arg, struct err *e);

/* What a thread keeps from one session to the next. A zeroed struct with query and matcher set is
 * ready; grep_session_fini frees the rest. */
struct grep_session {
    const struct grep_query *q;
    struct grep_matcher *matcher;
    size_t patterns;
    atomic_uint *given_up; /* texts on which a pattern took too long, in all sessions */
    grep_hit_fn *fn;
    void *arg;

    /* about the session that is searched */
    const struct session_ref *ref;
    uint64_t lines;                  /* with a match */
    size_t skipped;                  /* rows too long, texts on which a pattern was given up */
    uint32_t seen;                   /* bit i: pattern i occurred */
    bool only_seen;                  /* only `seen` is wanted: the first of two passes */
    const struct gone_session *gone; /* its prompts are searched instead of a transcript; or NULL */
    struct slice agent;
    const struct index_keys *keys; /* the keys of the rows, if they are lines of a file */
    int64_t *path;                 /* owned; offsets of the rows of the conversation, upwards */
    size_t path_n;
    bool path_known, in_agent;
    struct slice whole; /* the transcript, while all of it is in memory */
    struct file_id whole_id;

    /* scratch */
    struct buf bytes; /* read from a file and not searched yet */
    int64_t at;       /* the offset of these bytes */
    bool dropping;    /* they begin inside a line that is too long */
    struct block_list blocks;
    struct index index; /* the index of one row */
    struct arena arena;
    struct grep_range *range; /* owned */
    size_t ranges, range_cap;
};

MUST_CHECK enum err_code grep_session_run(struct grep_session *s, const struct session_ref *ref,
                                          struct err *e);
/* Counts the lines with a match in a row of a session that is only counted. Returns false if the row has to be
 * decoded. */
bool grep_count_row(struct grep_session *s, struct slice row);
/* enum grep_in; 0: not searched, or decided by the text itself. */
unsigned grep_place_of_kind(enum block_kind kind);
void grep_session_fini(struct grep_session *s);

/* ---- the text that every match contains (grep_plain.c) ---- */

/* False for characters that writers of JSON escape, some of them or all. */
bool grep_plain_is_written(char c);
/* In Unicode these letters also match a character that is not ASCII. */
bool grep_plain_has_foreign_case(char c);
/* Finds the longest run of plain characters that every match of a pattern contains. */
MUST_CHECK enum err_code grep_plain_find(struct slice pattern, bool fixed, bool ignores_case,
                                         struct buf *best);

#endif
