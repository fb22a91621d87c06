#ifndef STORE_SYSTEMS_COMMON_USAGE_ROWS_H
#define STORE_SYSTEMS_COMMON_USAGE_ROWS_H

#include <stdatomic.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/usage.h"

/* For store_ops.usage: the rows of a JSONL file that may record tokens, and rows in the form of the vendor's API. */

/* One row that contains the mark; valid during the call. A non-zero result ends the walk and is returned. */
typedef enum err_code usage_row_fn(struct slice row, void *arg, struct err *e);

/* Reads the file once, in pieces, and passes each line that contains `mark` ("\"usage\"") to fn, including a torn last
 * one: only these need to be parsed. They need not be JSON. The file is not mapped into memory, because a writer that
 * shortens it would crash the program. A line of over 64 MB is skipped. flags are those of file_open. */
MUST_CHECK enum err_code usage_rows_of_file(const char *path, unsigned flags, const char *mark,
                                            const atomic_bool *cancel, usage_row_fn *fn, void *arg,
                                            struct err *e);
/* The same for bytes in memory. */
MUST_CHECK enum err_code usage_rows_of_bytes(struct slice bytes, const char *mark, usage_row_fn *fn,
                                             void *arg, struct err *e);

/* Makes the record of a row. Its texts are in the arena or borrow from the row. Returns false for a row of another
 * kind. */
typedef bool usage_read_fn(struct slice row, struct arena *a, struct usage_record *out);

/* Passes the agent's own totals in a row to fn; texts as above. */
typedef enum err_code usage_totals_fn(struct slice row, struct arena *a, usage_fn *fn, void *arg,
                                      struct err *e);

/* A walk over the transcript of a session, and then those of its sub-agents. */
struct usage_walk {
    usage_read_fn *read;
    const char *mark;
    const atomic_bool *cancel;
    usage_fn *fn;
    void *arg;
    /* For rows of which `read` makes no record, if they contain one of the two marks. NULL: the agent writes none. */
    usage_totals_fn *totals;
    const char *totals_mark;
};

/* Passes the records of a file to fn. agent: the sub-agent whose file it is, or empty; a sub-agent's file that is
 * missing or cannot be read is skipped. */
MUST_CHECK enum err_code usage_walk_file(const struct usage_walk *w, const char *path,
                                         unsigned flags, struct slice agent, struct err *e);

/* The amount in dollars under this name; NAN if it is missing, negative or not a number. */
double usage_cost(struct slice object, const char *name);
/* The same for the number itself. */
double usage_cost_of(struct slice number);
/* A number of tokens at this path; 0 if it is missing, negative or not a whole number, or without a path. */
int64_t usage_count(struct slice object, const char *path);

/* The paths of the numbers of tokens in an object. Whatever is NULL is not recorded. */
struct usage_members {
    const char *input, *output, *cache_read, *cache_write;
    const char *thinking; /* is added to the output */
    bool includes_caches; /* the input contains the tokens of caches */
};
/* Reads the numbers into the record, of which the other members stay. */
void usage_read_counts(const struct usage_members *m, struct slice object, struct usage_record *u);

/* Reads a row with the answer of a model as Claude Code and the SDK write it: message.usage with input_tokens,
 * output_tokens, cache_read_input_tokens and cache_creation_input_tokens. A row of progress may contain such a row of a
 * sub-agent in data.message. Texts are in the arena or borrow from the row; `agent` is left empty. Returns false for
 * any other row. */
bool usage_of_row(struct slice row, struct arena *a, struct usage_record *out);

#endif
