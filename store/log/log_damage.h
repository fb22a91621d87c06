#ifndef STORE_LOG_LOG_DAMAGE_H
#define STORE_LOG_LOG_DAMAGE_H

#include "lite/base/arena.h"
#include "store/api/finding.h"
#include "store/log/logfile.h"

/* The damage scan: which lines of a log are no rows, and the exact bytes that repair each of them. It is the same for
 * all agents, so that what is reported is what a repair changes. A sound row keeps its bytes.
 *
 *   finding        what is in the log                      the repair
 *   torn-tail      a whole row without its newline         adds the newline
 *                  a cut row, or NULs, at the end          takes it out
 *   nul-bytes      NULs alone, or in and around a row      takes the NULs out
 *   spliced-line   a cut row, then a whole one             takes the cut one out
 *                  two whole rows                          puts a newline between them
 *   split-line     a row with newlines in its texts        escapes them
 *   broken-line    a byte order mark, then a row           takes the mark out
 *                  anything else                           takes the line out
 *   poisoned-row   what log_rules.refused finds            replaces exactly that
 *   spaced-row     blanks between tokens, and the first     takes these blanks out
 *                  row with log_rules.searched has them */

struct log_rules;

/* Facts about the whole log that judging one row takes; for one scan. */
struct log_survey {
    const struct log_rules *rules;
    struct arena arena;
    const void *found; /* in the arena; NULL: nothing */
};
typedef enum err_code log_survey_fn(struct logfile *log, struct log_survey *out, struct err *e);

/* Judges a row that parses and begins at this offset. If the model's API refuses it, adds the row without what is refused
 * to `bytes` and sets the reason and what the repair does, which are literals or in the arena of the survey. */
typedef enum err_code log_refused_fn(struct log_survey *survey, int64_t offset, struct slice row,
                                     struct buf *bytes, const char **why, const char **repair);

/* A member of the rows of a type that the agent sends to the model again. */
struct log_sent {
    const char *type, *member;
};

/* What is particular to the logs of an agent (store_ops.log_rules). */
struct log_rules {
    /* How rows begin, NULL-terminated: such bytes in the middle of a line begin a second row even if it is cut. NULL:
     * only a whole object at the end of a line is a second row. */
    const char *const *begins;
    /* Damaged lines are only reported: it is not known what the agent does with them, nor which repair it accepts. */
    bool unknown;
    /* The agent skips lines that do not parse, so they stay in the log. */
    bool skips_broken;
    /* Other files name offsets of the log: what is taken out becomes blanks, and nothing is added before the end. */
    bool has_offsets;
    /* The agent's reader splits lines at U+2028 and U+2029, too. */
    bool splits_at_separators;
    /* The member of the first row with the id of the session, if that is nowhere else; NULL: it is. */
    const char *names;
    /* A member with a text in which the agent does not expect blanks, because it searches its rows as text; NULL: none. */
    const char *searched;
    log_refused_fn *refused; /* optional */
    log_survey_fn *survey;   /* optional, with refused */
    /* With log_refused_texts: what is sent, up to a zeroed one; and why half of a pair of surrogates in it does harm, NULL
     * if the agent replaces it when it sends it. */
    const struct log_sent *sent;
    const char *half;
};

extern const struct log_rules log_rules_unknown;

/* Finds halves of pairs of surrogates and NULs in the texts of what is sent; each becomes U+FFFD, which has the same length.
 */
log_refused_fn log_refused_texts;

/* The texts of a row on their way into its repair (log_refused.c). */
struct log_cleaning {
    struct buf *out;
    const char *done; /* everything before it is in `out` */
    const char *half; /* as in log_rules */
    const char *why, *repair;
};
#define LOG_HALF_REFUSED "half of a pair of surrogates in a text: the API refuses it"
/* Adds valid JSON up to `end`. */
MUST_CHECK enum err_code log_clean_texts(struct log_cleaning *c, const char *end);

struct log_damage {
    enum finding_kind kind;
    size_t line;  /* from 0: the first one */
    size_t lines; /* how many of them are one row */
    const char *why;
    const char *repair; /* what the repair does, for a person; NULL: it cannot be repaired */
    /* With a repair: these bytes replace the lines, newlines included. */
    struct slice bytes;
};

/* Called for each damage in the order of the file; texts and bytes are valid during the call. */
typedef enum err_code log_damage_fn(const struct log_damage *d, void *arg, struct err *e);
/* rules may be NULL. */
MUST_CHECK enum err_code log_damage_scan(struct logfile *log, const struct log_rules *rules,
                                         log_damage_fn *fn, void *arg, struct err *e);

/* Passes what the scan finds on as findings about the session: at most 200 of each kind, then how many more there are;
 * and FINDING_NO_SESSION for a log whose lines are all broken. */
MUST_CHECK enum err_code log_damage_report(struct logfile *log, const struct log_rules *rules,
                                           struct slice session, finding_fn *fn, void *arg,
                                           struct err *e);

/* The repair of a whole log: these bytes replace everything from `offset` on. */
struct log_repair {
    struct buf old, bytes;
    int64_t offset;
    size_t repaired; /* damages; 0: there is nothing to repair, and the rest is empty */
};
enum {
    LOG_REPAIR_MOST = 64 << 20
}; /* how many bytes may follow the first damage: both forms go into the record */

/* Reads only. ERR_UNSUPPORTED: too much follows the first damage. ERR_STALE: the log was changed meanwhile. */
MUST_CHECK enum err_code log_repair_read(struct logfile *log, const struct log_rules *rules,
                                         struct log_repair *out, struct err *e);
/* The same for damages that were found elsewhere, in the order of their lines; each has a repair. */
MUST_CHECK enum err_code log_repair_rows(struct logfile *log, const struct log_damage damage[],
                                         size_t n, struct log_repair *out, struct err *e);
void log_repair_fini(struct log_repair *r);

#endif
