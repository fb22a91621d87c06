#include <errno.h>
#include <string.h>

#include "store/rewind/plan/source.h"

/* Whose work the present file is: the session's, our own (an earlier rewind or undo), or that of a person. */

static bool hand_edit_is_one_copy(const struct rewind_source *a, const struct rewind_source *b)
{
    return a->file && b->file && strcmp(a->file, b->file) == 0 && a->is_part == b->is_part &&
           a->part_at == b->part_at && a->part_n == b->part_n && a->sha256 == b->sha256 &&
           !a->grows;
}

/* A large copy of another size is not read to see that it differs. */
static bool hand_edit_differs_by_size(const struct rewind_source *last, int64_t size)
{
    struct span span;

    if (!last->file || last->sha256 || source_open(last, &span, NULL))
        return false;
    bool differs = span.n > SOURCE_CONTENT_HELD_MAX && span.n != size;

    span_close(&span);
    return differs;
}

/* Sets *differs to whether the present file differs from what the session last knew; false if that
 * is not known. */
static enum err_code compare_with_last(const struct source_content *present,
                                       struct source_content *last, const struct rewind_entry *x,
                                       bool *known, bool *differs, struct err *e)
{
    const struct rewind_target *t = x->target;

    *known = t->has_last;
    *differs = t->has_last && t->last_absent == x->seen.exists;
    if (!t->has_last || t->last_absent || !x->seen.exists)
        return ERR_OK;
    if (t->want == REWIND_BYTES && hand_edit_is_one_copy(&t->last, &t->source)) {
        *differs = present->size != x->wanted_size ||
                   memcmp(present->sha256, x->wanted, SHA256_BYTES) != 0;
        return ERR_OK;
    }
    if (hand_edit_differs_by_size(&t->last, present->size)) {
        *differs = true;
        return ERR_OK;
    }
    struct err why = { 0 };
    bool is_hash = !t->last.file && !t->last.blob && !t->last.bytes.p && t->last.sha256;
    enum err_code rc = is_hash ? ERR_NOT_FOUND : source_read(&t->last, present, last, &why);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc && err_is_exhausted(why.sys)) {
        errno = why.sys;
        return err_sys(e, t->path, "read the last saved copy");
    }
    if (rc && t->last.sha256) { /* the hash is known even if the copy is gone */
        char hex[SHA256_BYTES * 2 + 1];

        hasher_hex(present->sha256, hex);
        *differs = strcmp(hex, t->last.sha256) != 0;
        return ERR_OK;
    }
    *known = rc == ERR_OK; /* what cannot be read is not known */
    *differs = !rc && !source_content_same(present, last);
    return ERR_OK;
}

enum err_code hand_edit_find(const struct source_content *present, struct source_content *last,
                             struct rewind_entry *x, struct err *e)
{
    const struct rewind_target *t = x->target;
    char hex[SHA256_BYTES * 2 + 1] = "";
    bool known, differs;

    TRY(compare_with_last(present, last, x, &known, &differs, e));

    /* If our own newest rewind or undo left the file in this state, or the session's host at the end of a turn, it was
     * not edited. */
    if (x->seen.exists)
        hasher_hex(present->sha256, hex);
    if (t->work_sha256 && strcmp(hex, t->work_sha256) == 0)
        return ERR_OK;
    if (t->has_left && (t->left_absent || !x->seen.exists ? t->left_absent && !x->seen.exists
                                                          : strcmp(hex, t->left_sha256) == 0))
        return ERR_OK;
    x->edited = differs && !x->target->last_is_older;
    x->unproven = x->seen.exists && !x->mode_only && !x->edited && (!known || differs);
    return ERR_OK;
}
