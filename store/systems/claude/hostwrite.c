#include "store/systems/claude/hostwrite.h"

#include "lite/json.h"
#include "store/change/journal.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/reappend.h"

/* What the lines say themselves is not said again in its older form. */
static void forget_said(struct slice lines, struct metarows *m)
{
    struct slice line, type;
    bool torn;

    while (slice_line(&lines, &line, &torn)) {
        if (!json_get(line, "type", &type))
            continue;
        for (int t = 0; t < METAROW_TYPES; t++)
            if (json_string_is(type, metarow_names[t]))
                m->row[t].found = false;
    }
}

enum err_code claude_write_rows(const struct store_env *env, const struct session_ref *ref,
                                struct slice lines, struct err *e)
{
    struct arena a = { 0 };
    struct buf bytes = { 0 };
    struct metarows m;
    size_t again;
    enum err_code rc = metarows_of(ref->path.p, &a, &m, e);

    if (!rc) {
        forget_said(lines, &m);
        if (buf_add(&bytes, lines) || reappend_rows(&m, lines.n, METAROW_TYPES, &bytes, &again))
            rc = err_set(e, ERR_NOMEM, ref->path.p, "append: out of memory");
    }
    if (!rc)
        rc = journal_append(env, ref->path.p, buf_slice(&bytes), APPEND_FOLLOW, e);
    buf_fini(&bytes);
    arena_fini(&a);
    return rc;
}
