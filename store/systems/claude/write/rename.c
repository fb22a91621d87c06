#include "lite/base/utf8.h"
#include "lite/json/jsonout.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/write/reappend.h"
#include "store/systems/claude/write/tagtext.h"

/* Rename, tag and resume-at are one row each, appended as the vendor's SDK and client append it (claude.md 5.1,
 * claude.md C3), and behind it those metadata rows that it would push out of the tail window. */

struct row {
    struct buf bytes;
    struct jsonout j;
};

static void row_open(struct row *r, const char *type)
{
    *r = (struct row){ 0 };
    jsonout_init(&r->j, &r->bytes);
    jsonout_open(&r->j, '{');
    jsonout_key(&r->j, "type");
    jsonout_text(&r->j, slice_of(type));
}

static void row_member(struct row *r, const char *key, struct slice text)
{
    jsonout_key(&r->j, key);
    jsonout_text(&r->j, text);
}

static enum err_code row_close(struct row *r, struct slice session)
{
    row_member(r, "sessionId", session);
    jsonout_close(&r->j, '}');
    return r->j.rc ? r->j.rc : buf_add_byte(&r->bytes, '\n');
}

/* Plans to append a row; opposite (may be empty) says again what the session said before. */
static enum err_code plan_row(const struct session_ref *ref, const struct metarows *m,
                              struct row *r, struct slice opposite, enum metarow_type type,
                              struct change *c, struct err *e)
{
    size_t more;

    if (reappend_rows(m, r->bytes.n, type, &r->bytes, &more))
        return err_nomem(e);
    struct step s = { .kind = STEP_APPEND,
                      .path = ref->path.p,
                      .bytes = buf_slice(&r->bytes),
                      .opposite = opposite,
                      .follow = true, /* as the SDK does (claude.md 2.1) */
                      .mtime_ns = MTIME_NOW };

    return change_add(c, &s, e);
}

/* A row {type, key: text, sessionId}. Its opposite is the same row with the text that counted before. */
static enum err_code plan_text(const struct session_ref *ref, enum metarow_type type,
                               const char *key, struct slice text, struct change *c, struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    struct row now = { 0 }, before = { 0 };
    enum err_code rc = metarows_of(ref->path.p, &a, &m, e);

    if (rc)
        return rc;
    row_open(&now, metarow_names[type]);
    row_member(&now, key, text);
    row_open(&before, metarow_names[type]);
    row_member(&before, key, metarow_value(&m.row[type], key, &a));
    if (row_close(&now, ref->id) || row_close(&before, ref->id))
        rc = err_nomem(e);
    if (!rc)
        rc = reappend_set_leaf(&m, ref->path.p, now.bytes.n, NULL, &a, e);
    if (!rc)
        rc = plan_row(ref, &m, &now, buf_slice(&before.bytes), type, c, e);
    buf_fini(&now.bytes);
    buf_fini(&before.bytes);
    arena_fini(&a);
    return rc;
}

enum err_code claude_rename(const struct store *st, const struct session_ref *ref,
                            struct slice title, struct change *c, struct err *e)
{
    struct slice text = utf8_js_trim(title);

    (void)st;
    if (text.n == 0)
        return err_set(e, ERR_USAGE, ref->path.p, "rename: title must be non-empty");
    return plan_text(ref, METAROW_CUSTOM_TITLE, "customTitle", text, c, e);
}

enum err_code claude_tag(const struct store *st, const struct session_ref *ref, struct slice tag,
                         bool clear, struct change *c, struct err *e)
{
    struct arena a = { 0 };
    struct slice text = { NULL, 0 };
    enum err_code rc = ERR_OK;

    (void)st; /* the log is to say what is written, which may not be what was typed */
    if (!clear && !tagtext_normalize(tag, &a, &text))
        rc = err_set(e, ERR_USAGE, ref->path.p, "tag: invalid tag");
    else if (!clear && text.n == 0)
        rc = err_set(e, ERR_USAGE, ref->path.p,
                     "tag: tag must be non-empty (use --none to clear it)");
    if (!rc)
        rc = plan_text(ref, METAROW_TAG, "tag", text, c, e);
    if (!rc && !clear && !(c->text = arena_format(&c->arena, "tagged %.*s", SLICE_ARG(text))))
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
}
