#ifndef TUI_JOBS_JOBS_ROWS_H
#define TUI_JOBS_JOBS_ROWS_H

#include "tui/jobs/jobs.h"

/* The desk's answers to questions about rows of the list. */

enum { DESCRIBE_PIECE = 64 }; /* rows described between two looks at what is more urgent */

/* EFFECT_DESCRIBE, one piece of it */
MUST_CHECK enum err_code jobs_describe(struct job_context *d, const struct effect *q, size_t piece,
                                       const struct reply *r, struct err *e);
/* EFFECT_DISK_USAGE */
MUST_CHECK enum err_code jobs_disk_usage(const struct effect *q, const struct reply *r,
                                         struct err *e);
/* EFFECT_FULL_SCAN: a row a piece */
MUST_CHECK enum err_code jobs_full_scan(struct job_context *d, const struct effect *q, size_t piece,
                                        const struct reply *r, struct err *e);
/* EFFECT_TRASH */
MUST_CHECK enum err_code desk_trash(const struct job_context *d, const struct effect *q,
                                    const struct reply *r, struct err *e);

#endif
