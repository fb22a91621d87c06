#include "store/systems/claude/reappend.h"

#include <fcntl.h>

#include "lite/window.h"
#include "store/place.h"
#include "store/systems/claude/claude.h"

/* What is written pushes other rows out in turn, so the set grows until it is stable: at most as many rounds as
 * there are types. */
static int64_t choose(const struct metarows *m, size_t coming, enum metarow_type except,
                      bool chosen[METAROW_TYPES])
{
    int64_t added = (int64_t)coming;
    bool grew = true;

    while (grew) {
        grew = false;
        for (int t = 0; t < METAROW_TYPES; t++) {
            const struct metarow *row = &m->row[t];

            if (!row->found || chosen[t] || t == (int)except)
                continue;
            if (row->offset >= m->end + added - WINDOW_BYTES)
                continue;
            chosen[t] = grew = true;
            added += (int64_t)row->text.n + 1;
        }
    }
    return added;
}

enum err_code reappend_rows(const struct metarows *m, size_t coming, enum metarow_type except,
                            struct buf *out, size_t *rows)
{
    bool chosen[METAROW_TYPES] = { false };
    enum err_code rc = ERR_OK;
    size_t n = 0;

    choose(m, coming, except, chosen);
    for (int t = 0; t < METAROW_TYPES && !rc; t++) {
        if (!chosen[t])
            continue;
        rc = buf_add(out, m->row[t].text);
        if (!rc)
            rc = buf_add_byte(out, '\n');
        n++;
    }
    *rows = n;
    return rc;
}

enum err_code claude_reappend(const struct store *st, const struct session_ref *ref,
                              struct change *c, size_t *appended, struct err *e)
{
    struct arena a = { 0 };
    struct buf rows = { 0 };
    struct metarows m;
    struct file f;
    size_t n = 0;
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, FILE_FOLLOW, &f, e);

    (void)st;
    if (rc)
        return rc;
    rc = metarows_anywhere(&f, NULL, &a, &m, e);
    file_close(&f);
    if (!rc && reappend_rows(&m, 0, METAROW_TYPES, &rows, &n))
        rc = err_set(e, ERR_NOMEM, ref->path.p, "re-append: out of memory");
    if (!rc && n) {
        struct step s = { .kind = STEP_APPEND,
                          .path = ref->path.p,
                          .bytes = buf_slice(&rows),
                          .follow = true,
                          .mtime_ns = MTIME_NOW };

        rc = change_add(c, &s, e);
    }
    if (!rc)
        *appended = n;
    buf_fini(&rows);
    arena_fini(&a);
    return rc;
}
