#ifndef STORE_GREP_GREP_H
#define STORE_GREP_GREP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/api/transcript.h"
#include "store/query/listing.h"

/* Searches the text of sessions: what a person would read, decoded, such as prompts, answers, thinking, and the input
 * and the results of tools, in the conversation, on branches that were left, and in sub-agents. Keys of JSON, ids and
 * encoded images are not text.
 *
 * There is no index: every file is read. A row is decoded only if its bytes could contain a match (grep_pattern.c). */

/* Which texts are searched. */
enum grep_in {
    GREP_IN_PROMPTS = 1 << 0, /* the person's prompts and commands */
    GREP_IN_REPLIES = 1 << 1,
    GREP_IN_THINKING = 1 << 2,
    GREP_IN_TOOLS = 1 << 3, /* the input and the results of tools */
    GREP_IN_NOTES = 1 << 4, /* what the agent's program wrote */
    GREP_IN_DEFAULT = GREP_IN_PROMPTS | GREP_IN_REPLIES | GREP_IN_TOOLS,
    GREP_IN_ALL = GREP_IN_DEFAULT | GREP_IN_THINKING | GREP_IN_NOTES,
};

enum grep_case {
    GREP_CASE_SMART, /* case matters in a pattern that has a capital letter */
    GREP_CASE_EXACT,
    GREP_CASE_IGNORE,
};

enum grep_want {
    GREP_WANT_HITS,
    GREP_WANT_COUNTS,   /* the number of lines with a match, for each session */
    GREP_WANT_SESSIONS, /* the search of a session ends at its first match */
};

/* How far a search has come, for another thread. */
struct grep_progress {
    _Atomic uint64_t sessions, bytes; /* done, read */
    /* Called on the calling thread at least 20 times a second, unless it is busy with what is found; may be NULL. */
    void (*moved)(void *arg);
    void *arg;
};

enum { GREP_PATTERNS = 32 };

struct grep_query {
    struct listing_query sessions; /* which ones; always newest first, without limits */
    const struct slice *pattern;   /* regular expressions as PCRE2 reads them; 1 to GREP_PATTERNS */
    size_t n;
    bool fixed;     /* the patterns are plain texts */
    bool words;     /* a match begins and ends at the edge of a word */
    bool any;       /* one pattern is enough; otherwise each one must occur in the session */
    unsigned in;    /* enum grep_in */
    bool branches;  /* find out for each hit whether it is on a branch: loads its conversation */
    size_t context; /* lines above and below those with a match */
    enum grep_case letters;
    enum grep_want want;
    const atomic_bool *cancel;      /* may be NULL */
    struct grep_progress *progress; /* may be NULL */
};

/* A part of a line, in bytes. */
struct grep_range {
    size_t from, to;
};

enum { GREP_LINE_MAX = 16 * 1024 };

/* A line with at least one match, or one of its context. A match that runs over several lines makes
 * one hit of them. */
struct grep_hit {
    bool context; /* the line has no match but is near one */
    bool aside;   /* with `branches`: the line is on a branch that a resume would not continue */
    bool cut;     /* the line is longer than GREP_LINE_MAX: this is the part with its first match */
    bool apart;   /* lines were left out between the previous hit and this one */
    enum block_kind kind;
    int64_t time_ms;      /* TIME_NONE: unknown */
    struct slice agent;   /* the id of the sub-agent; empty: the conversation itself */
    struct slice message; /* its id as the agent wrote it; empty if it has none */
    struct slice line;    /* WTF-8, not cleaned for a terminal */
    const struct grep_range *range;
    size_t ranges;
};

/* A search through many sessions. */

/* Some of what was found in one session. Texts are valid during the call. */
struct grep_part {
    size_t session;                /* its place among those that are searched */
    const struct session_row *row; /* NULL from grep_refs */
    const struct grep_hit *hit;
    size_t n;
    bool last;      /* the last part of this session */
    uint64_t lines; /* with `last`: lines of the session with a match */
    /* with `last`: rows that are too long, and texts on which a pattern took too long, so that they were not searched
     * to their end; there may be no line with a match then */
    size_t skipped;
};

/* A non-zero result ends the search and is returned. Called on the calling thread. */
typedef enum err_code grep_fn(const struct grep_part *part, void *arg, struct err *e);

/* Searches the sessions of a listing that was opened with q->sessions, newest first, on several threads, and passes
 * hits to fn as they are found. A session that cannot be read is skipped and passed to trouble. Memory does not grow
 * with the number of sessions or hits.
 *
 * ERR_USAGE: a pattern is empty or invalid; the text contains the reason and the position. ERR_UNSUPPORTED: the
 * patterns took too long on many texts. ERR_CANCELLED: the flag was raised, or fn returned it. */
MUST_CHECK enum err_code grep_run(struct listing *listing, const struct grep_query *q, grep_fn *fn,
                                  unreadable_fn *trouble, void *arg, struct err *e);

/* The same for sessions that are known already, in this order; they are not described, and q->sessions is ignored. */
MUST_CHECK enum err_code grep_refs(const struct session_ref *const order[], size_t n,
                                   const struct grep_query *q, grep_fn *fn, unreadable_fn *trouble,
                                   void *arg, struct err *e);

/* The same for prompts of sessions whose transcripts are gone (store_ops.gone), except those that the listing
 * has. Each row has an id, a directory, a time and a summary that says that it is gone. */
MUST_CHECK enum err_code grep_gone(struct store *const store[], size_t stores,
                                   const struct listing *listing, const struct grep_query *q,
                                   grep_fn *fn, void *arg, struct err *e);

/* ---- patterns (grep_pattern.c) ---- */

/* The patterns of a search, compiled once and shared by its threads, and what one thread needs to
 * use them.
 *
 * Most rows are never decoded. If every match of a pattern must contain a certain text, a row
 * without that text is skipped. The text is taken from the pattern: its longest run of plain
 * characters, which a writer of JSON either writes as they are or, if it is an unusual one, as
 * \u00XX. So rows with such an escape are decoded too. A pattern without such a run (an alternative
 * at the top, for example) decodes every row. */

struct grep_patterns;
struct grep_matcher;

MUST_CHECK enum err_code grep_patterns_new(const struct grep_query *q, struct grep_patterns **out,
                                           struct err *e);
void grep_patterns_free(struct grep_patterns *p); /* NULL is fine */
size_t grep_patterns_count(const struct grep_patterns *p);

/* When the search of a text is given up (GREP_MATCH_TOO_LONG). PCRE2 limits the steps of a match at one position, but
 * not those at all positions of a long line, which with some patterns are quadratic. So positions are tried in groups,
 * which are small enough for the time to be checked between them. */
struct grep_limits {
    unsigned steps;   /* at one position */
    unsigned group;   /* at the positions of a group, approximately */
    unsigned text_ms; /* the most processor time in a text; more for a very long one */
    unsigned all_ms;  /* in all texts; 0: no limit */
};

/* Steps as by PCRE2's own default. */
#define GREP_LIMITS ((struct grep_limits){ 10 * 1000 * 1000, 1 << 27, 1000, 0 })

/* For one thread. NULL if out of memory. */
struct grep_matcher *grep_matcher_new(const struct grep_patterns *p, struct grep_limits limits);
void grep_matcher_free(struct grep_matcher *m); /* NULL is fine */

/* Goes through the rows of `bytes`, which are whole lines, and returns the next one that has to be
 * decoded. Begin with grep_rows. */
void grep_rows(struct grep_matcher *m, struct slice bytes);
bool grep_next_row(struct grep_matcher *m, struct slice *row);

/* Returns true if the search is for one plain text, so that matching lines can be counted in the
 * undecoded texts between the quotes of a row. */
bool grep_is_plain(const struct grep_matcher *m);
/* Returns true if that is possible in the row that grep_next_row has just returned: each character
 * of a match is written there without an escape. */
bool grep_is_plain_row(const struct grep_matcher *m, struct slice row);
/* Returns that text. *folded: it is in lower case, and matches ignore case. */
struct slice grep_plain_text(const struct grep_matcher *m, bool *folded);

enum grep_match { GREP_MATCH_NONE, GREP_MATCH, GREP_MATCH_TOO_LONG };

/* Begins a text, which must live until the next one. Its bytes are validated only once; nothing matches across bytes
 * that are not UTF-8. */
void grep_match_begin(struct grep_matcher *m, struct slice text);
/* Finds the first match of the i-th pattern at or after `from` that is not empty; `from` does not decrease in a text.
 * GREP_MATCH_TOO_LONG: the search of the text was given up. */
enum grep_match grep_match_next(struct grep_matcher *m, size_t i, size_t from,
                                struct grep_range *out);
/* Returns true if the limit for all texts was reached: nothing matches any more. */
bool grep_match_gave_up(const struct grep_matcher *m);

#endif
