#include <string.h>

#include "lite/base/cleanup.h"
#include "store/fs/span.h"
#include "store/journal/contents.h"
#include "store/journal/step.h"
#include "store/journal/step_internal.h"
#include "store/sqlite/sqlite_rows.h"

/* What happens between the record of a step and its transaction leaves the old rows, and after it the new ones. Whether
 * the first row is there decides for all of them. */

static enum err_code step_rows_open(const struct step *s, struct span *out, int *own, struct err *e)
{
    const struct step_part *part = s->absent ? &s->old_part : &s->bytes_part;

    if (part->path)
        return step_part_open(part, out, own, e);
    *out = span_of_bytes(s->absent ? s->old : s->bytes);
    return ERR_OK;
}

/* The rows of a record may be damaged, and must then not reach the database. */
static enum err_code step_rows_check(const struct step *s, const struct span *rows, struct err *e)
{
    const struct step_part *part = s->absent ? &s->old_part : &s->bytes_part;
    CLEANUP(hasher_fini) struct hasher h = { 0 };
    uint8_t sha256[SHA256_BYTES];

    if (!part->path)
        return ERR_OK;
    TRY(hasher_span(&h, rows, -1, NULL, sha256, e));
    return memcmp(sha256, part->sha256, sizeof sha256) == 0
               ? ERR_OK
               : err_set(e, ERR_FORMAT, part->path, "the recorded rows of a database are damaged");
}

enum err_code step_rows_do(const struct step *s, struct err *e)
{
    AUTO_FD own = -1;
    struct span rows;

    TRY(step_rows_open(s, &rows, &own, e));
    TRY(step_rows_check(s, &rows, e));
    return (s->absent ? sqlite_rows_remove : sqlite_rows_insert)(s->path, &rows, e);
}

enum err_code step_rows_is_done(const struct step *s, bool *done, struct err *e)
{
    AUTO_FD own = -1;
    struct span rows;
    bool there;

    TRY(step_rows_open(s, &rows, &own, e));
    TRY(sqlite_rows_are_there(s->path, &rows, &there, e));
    *done = there != s->absent;
    return ERR_OK;
}

bool step_rows_is_stale(const struct step *s)
{
    AUTO_FD own = -1;
    struct span rows;
    bool same = true;

    return s->absent && !step_rows_open(s, &rows, &own, NULL) &&
           !sqlite_rows_are_same(s->path, &rows, &same, NULL) && !same;
}
