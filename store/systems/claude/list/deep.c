#include <fcntl.h>

#include "lite/io/file.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/write/metarow.h"

/* What lies between the two windows of a long transcript: a title or tag that its writer did not keep near the end. */

struct deep {
    struct session_row *row;
    bool found, ok;
};

static void take_metadata_text(struct deep *d, struct slice *text, struct slice value)
{
    if (value.n == 0)
        return;
    *text = arena_copy(&d->row->arena, value);
    d->ok &= text->p != NULL;
    d->found = true;
}

/* A person's title goes before one that the agent made up, wherever it stands. */
static void take_title(struct deep *d, const struct metarows *m, struct arena *a)
{
    struct session_row *row = d->row;
    bool none = row->custom_title.n == 0;
    struct slice own = metarow_value(&m->row[METAROW_CUSTOM_TITLE], "customTitle", a);

    if (own.n)
        row->flags &= ~(unsigned)SESSION_AI_TITLE;
    else if (none)
        own = metarow_value(&m->row[METAROW_AI_TITLE], "aiTitle", a);
    take_metadata_text(d, &row->custom_title, own);
    if (own.n)
        row->summary = row->custom_title;
}

enum err_code claude_deep(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct session_row *row, bool *found,
                          struct err *e)
{
    struct deep d = { .row = row, .ok = true };
    struct arena a = { 0 };
    struct metarows m;
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, 0, &f, e);

    (void)st;
    if (rc)
        return rc;
    rc = metarows_anywhere(&f, cancel, &a, &m, e);
    file_close(&f);
    if (!rc && session_wants_title(row))
        take_title(&d, &m, &a);
    if (!rc && row->tag.n == 0)
        take_metadata_text(&d, &row->tag, metarow_value(&m.row[METAROW_TAG], "tag", &a));
    if (!rc && !d.ok)
        rc = err_nomem(e);
    arena_fini(&a);
    if (!rc)
        *found = d.found;
    return rc;
}
