#include "store/systems/claude/write/reappend.h"

#include <fcntl.h>

#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/json/json_edit.h"
#include "lite/json/jsonout.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/claude.h"

/* What is written pushes other rows out in turn, so the set grows until it is stable: at most as many rounds as
 * there are types. */
static int64_t choose_rows(const struct metarows *m, size_t coming, enum metarow_type except,
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

    choose_rows(m, coming, except, chosen);
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

/* The row with another leaf. It names the row that a resume would have gone on from anyway, so that nobody said so. */
static bool put_leaf(struct metarow *row, struct slice leaf, struct arena *a)
{
    struct buf text = { 0 }, out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    jsonout_text(&j, leaf);
    const struct json_edit edit[] = { { .name = "leafUuid", .value = buf_slice(&text) },
                                      { .name = "explicit" } };

    row->text = j.rc || json_edit(&out, row->text, edit, 2) ? (struct slice){ NULL, 0 }
                                                            : arena_copy(a, buf_slice(&out));
    buf_fini(&text);
    buf_fini(&out);
    return row->text.p != NULL;
}

enum err_code reappend_set_leaf(struct metarows *m, const char *path, size_t coming,
                                const struct slice *leaf, struct arena *a, struct err *e)
{
    struct metarow *row = &m->row[METAROW_LAST_PROMPT];
    struct claude_resume_point point = { 0 };
    bool chosen[METAROW_TYPES] = { false };
    struct slice named, text = { NULL, 0 };
    enum err_code rc = ERR_OK;

    choose_rows(m, coming, METAROW_TYPES, chosen);
    if (!chosen[METAROW_LAST_PROMPT] || !json_get(row->text, "leafUuid", &named))
        return ERR_OK;
    if (!leaf)
        rc = claude_resume_point_of(path, a, &point, e);
    if (rc)
        return rc;
    if (!leaf)
        leaf = &point.leaf;
    bool same = json_type(named) == JSON_STRING
                    ? json_text(named, a, &text) && slice_eq(text, *leaf)
                    : !leaf->n;

    if (same && json_get_true(row->text, "explicit"))
        row->found = false;
    else if (!same && leaf->n && !put_leaf(row, *leaf, a))
        rc = err_nomem(e);
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
    if (!rc)
        rc = reappend_set_leaf(&m, ref->path.p, 0, NULL, &a, e);
    if (!rc && reappend_rows(&m, 0, METAROW_TYPES, &rows, &n))
        rc = err_nomem(e);
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
