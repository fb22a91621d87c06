#include "store/systems/claude/fork/fork.h"

#include <fcntl.h>

#include "lite/base/utf8.h"
#include "lite/io/window.h"
#include "lite/json/jsonout.h"
#include "lite/scan/field.h"
#include "store/systems/claude/list/describe_fields.h"
#include "store/systems/claude/list/prompt.h"
#include "store/systems/claude/list/sidecar.h"

/* What a fork is called: as it was asked for, or after the source, as a list would call that. */

/* A title that was taken away again (an empty one near the end) is not looked for elsewhere. */
static bool given_title(struct fork *f, const struct field_value *tail,
                        const struct field_value *head, struct arena *a, struct slice *title)
{
    *title = tail->text;
    if (tail->found)
        return true;
    if (!sidecar_title(f->ref, a, title))
        return false;
    if (title->n == 0)
        *title = head->text;
    return true;
}

static bool source_title(struct fork *f, struct window *w, struct arena *a, struct slice *title)
{
    struct field_value tail[HEAD_FIELDS], head[HEAD_FIELDS];
    struct prompt prompt = { 0 };

    if (!field_set_last(&f->c->tables.head, w->tail, a, tail, NULL, NULL) ||
        !field_set_last(&f->c->tables.head, w->head, a, head, NULL, NULL) ||
        !given_title(f, &tail[TITLE], &head[TITLE], a, title))
        return false;
    if (title->n == 0)
        *title = tail[AI_TITLE].text;
    if (title->n == 0)
        *title = head[AI_TITLE].text;
    if (title->n)
        return true;
    if (!prompt_first(w->head, a, &prompt))
        return false;
    *title = prompt.text.p ? prompt.text : prompt.command;
    if (title->n == 0)
        *title = SLICE("Forked session");
    return true;
}

static enum err_code read_source(struct fork *f, struct arena *a, struct slice *title,
                                 struct err *e)
{
    struct window w;
    enum err_code rc = window_init(&w, e);

    if (rc)
        return rc;
    rc = window_open(&w, AT_FDCWD, f->ref->path.p, FILE_FOLLOW, e);
    if (!rc)
        rc = window_widen(&w, e);
    if (!rc && !source_title(f, &w, a, title))
        rc = err_nomem(e);
    if (!rc) {
        *title = arena_copy(a, *title); /* the window goes */
        if (!title->p)
            rc = err_nomem(e);
    }
    window_fini(&w);
    return rc;
}

static enum err_code write_title_row(struct fork *f, struct slice title, struct slice suffix,
                                     struct buf *out)
{
    char id[UUID_STR_LEN];
    struct buf text = { 0 };
    struct jsonout j;

    fork_generate_id(id);
    if (buf_add(&text, title) || buf_add(&text, suffix)) {
        buf_fini(&text);
        return ERR_NOMEM;
    }
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("custom-title"));
    jsonout_member(&j, "sessionId", slice_of(f->id));
    jsonout_member(&j, "customTitle", buf_slice(&text));
    jsonout_member(&j, "uuid", slice_of(id));
    jsonout_member(&j, "timestamp", slice_of(f->now));
    jsonout_close(&j, '}');
    buf_fini(&text);
    return j.rc ? j.rc : buf_add_byte(out, '\n');
}

enum err_code fork_title(struct fork *f, struct slice title, struct buf *out, struct err *e)
{
    struct arena a = { 0 };
    struct slice text = utf8_js_trim(title), suffix = SLICE("");
    enum err_code rc = ERR_OK;

    if (text.n == 0) {
        suffix = SLICE(" (fork)");
        rc = read_source(f, &a, &text, e);
    }
    if (!rc && write_title_row(f, text, suffix, out))
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
}
