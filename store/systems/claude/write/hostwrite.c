#include "store/systems/claude/write/hostwrite.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/journal/append_journal.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/write/reappend.h"

/* What the lines say themselves is not said again in its older form. */
static void forget_said(struct slice lines, struct metarows *m, bool *leaf_said)
{
    struct slice line, type;
    bool torn;

    while (slice_line(&lines, &line, &torn)) {
        if (!json_get(line, "type", &type))
            continue;
        for (int t = 0; t < METAROW_TYPES; t++)
            if (json_string_is(type, metarow_names[t])) {
                m->row[t].found = false;
                *leaf_said |= t == METAROW_LAST_PROMPT;
            }
    }
}

/* As the client writes it with each prompt. */
static enum err_code add_last_prompt(const struct session_ref *ref, struct slice leaf,
                                     struct buf *rows)
{
    struct jsonout j;

    jsonout_init(&j, rows);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("last-prompt"));
    jsonout_member(&j, "leafUuid", leaf);
    jsonout_member(&j, "sessionId", ref->id);
    jsonout_close(&j, '}');
    return j.rc ? j.rc : buf_add_byte(rows, '\n');
}

static enum err_code put_leaf(const struct session_ref *ref, struct metarows *m,
                              const struct claude_write_leaf *leaf, size_t coming, struct arena *a,
                              struct err *e)
{
    if (leaf && leaf->unknown) {
        m->row[METAROW_LAST_PROMPT].found = false;
        return ERR_OK;
    }
    return reappend_set_leaf(m, ref->path.p, coming, leaf ? &leaf->id : NULL, a, e);
}

enum err_code claude_add_metarows(const struct session_ref *ref,
                                  const struct claude_write_leaf *leaf, struct buf *rows,
                                  struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    size_t coming = rows->n, again;
    enum err_code rc = metarows_of(ref->path.p, &a, &m, e);

    if (!rc) {
        bool said = m.row[METAROW_LAST_PROMPT].found;

        forget_said(buf_slice(rows), &m, &said);
        rc = put_leaf(ref, &m, leaf, coming, &a, e);
        if (!rc && leaf && leaf->wanted && !leaf->unknown && leaf->id.n && !said &&
            add_last_prompt(ref, leaf->id, rows))
            rc = err_nomem(e);
        if (!rc && reappend_rows(&m, coming, METAROW_TYPES, rows, &again))
            rc = err_nomem(e);
    }
    arena_fini(&a);
    return rc;
}

struct writing {
    const struct session_ref *ref;
    struct slice lines;
};

static enum err_code compose_metadata_rows(void *arg, struct buf *rows, struct err *e)
{
    const struct writing *w = arg;

    if (buf_add(rows, w->lines))
        return err_nomem(e);
    return claude_add_metarows(w->ref, NULL, rows, e);
}

enum err_code claude_write_rows(const struct store_env *env, const struct session_ref *ref,
                                struct slice lines, struct err *e)
{
    struct writing w = { ref, lines };

    return journal_append(env, ref->path.p, APPEND_FOLLOW, compose_metadata_rows, &w, e);
}
