#ifndef STORE_SYSTEMS_EXATHENA_REWIND_POINT_H
#define STORE_SYSTEMS_EXATHENA_REWIND_POINT_H

#include "store/api/store.h"

/* An event of a log, by its uuid: where its line lies, and what is before it. Of several events with one uuid the first
 * is meant, as the library's rewind has it. */
struct point {
    struct slice id; /* as it is written, decoded; in the arena */
    size_t line;     /* from 0 */
    int64_t offset;  /* of its line */
    int64_t end;     /* behind it: behind its newline where it has one */
    int64_t size;    /* of the log when it was read */
    int64_t blank;   /* offset of the first blank line before it; -1: there is none */
    int64_t time_ms;
    size_t before, total; /* lines that are not blank: before it, and all of them */
};

/* id: a uuid, or the unique beginning of one. ERR_NOT_FOUND: no such event. ERR_USAGE: several begin so. */
MUST_CHECK enum err_code exathena_point(const struct session_ref *ref, struct slice id,
                                        struct arena *a, struct point *out, struct err *e);

#endif
