#include "store/systems/claude/rewind/lastwrite.h"

#include <string.h>

#include "lite/json/json.h"

static struct lastwrite *write_of(struct lastwrites *l, struct slice path)
{
    uint32_t number = textset_find(&l->path, path);

    if (number != TEXTSET_NONE)
        return &l->write[number];
    struct lastwrite *list = arena_grow(&l->arena, l->write, l->n, sizeof *list);
    const struct slice own = arena_copy(&l->arena, path);

    if (!list || !own.p || textset_add(&l->path, own, &number))
        return NULL;
    l->write = list;
    l->write[l->n].path = own.p;
    return &l->write[l->n++];
}

static struct slice rest_from(struct slice s, const char *p)
{
    return (struct slice){ p, (size_t)(s.p + s.n - p) };
}

/* Replaces `old` by `new` in base, once or everywhere. False when old does not occur. */
static bool replace_text(struct slice base, struct slice old, struct slice new, bool all,
                         struct buf *out)
{
    const char *hit = old.n ? memmem(base.p, base.n, old.p, old.n) : NULL;
    bool ok = hit != NULL;

    out->n = 0;
    while (hit && ok) {
        ok = buf_add(out, (struct slice){ base.p, (size_t)(hit - base.p) }) == ERR_OK &&
             buf_add(out, new) == ERR_OK;
        base = rest_from(base, hit + old.n);
        hit = all ? memmem(base.p, base.n, old.p, old.n) : NULL;
    }
    return ok && buf_add(out, base) == ERR_OK;
}

static void forget_bytes(struct lastwrite *w)
{
    w->known = false;
    w->bytes = (struct slice){ NULL, 0 };
}

static enum err_code keep_bytes(struct lastwrites *l, struct lastwrite *w, struct slice bytes)
{
    w->bytes = arena_copy(&l->arena, bytes);
    w->known = w->bytes.p != NULL;
    return w->known ? ERR_OK : ERR_NOMEM;
}

/* An edit names the text before it (or it follows a write that we know) and what was replaced by what. */
static enum err_code take_edit(struct lastwrites *l, struct lastwrite *w, struct slice result,
                               struct arena *a)
{
    struct slice base, old, new;
    struct buf text = { 0 };
    enum err_code rc = ERR_OK;

    if (!json_get_text(result, "originalFile", a, &base))
        base = w->known ? w->bytes : (struct slice){ NULL, 0 };
    if (base.p && json_get_text(result, "oldString", a, &old) &&
        json_get_text(result, "newString", a, &new) &&
        replace_text(base, old, new, json_get_true(result, "replaceAll"), &text))
        rc = keep_bytes(l, w, buf_slice(&text));
    else
        forget_bytes(w);
    buf_fini(&text);
    return rc;
}

static enum err_code read_result_row(struct lastwrites *l, struct slice row, struct arena *a)
{
    struct slice result, path, content, v;

    if (!json_get(row, "toolUseResult", &result) || json_type(result) != JSON_OBJECT)
        return ERR_OK;
    bool notebook = json_get_text(result, "notebook_path", a, &path);

    /* A reading tool names its file inside "file"; only what writes has a patch or a new text. */
    if (!notebook && (!json_get_text(result, "filePath", a, &path) ||
                      !(json_get(result, "structuredPatch", &v) ||
                        json_get(result, "newString", &v) || json_get(result, "edits", &v))))
        return ERR_OK;
    struct lastwrite *w = write_of(l, path);

    if (!w)
        return ERR_NOMEM;
    if (json_get_text(result, notebook ? "updated_file" : "content", a, &content))
        return keep_bytes(l, w, content);
    if (notebook || json_get(result, "edits", &v)) {
        forget_bytes(w);
        return ERR_OK;
    }
    return take_edit(l, w, result, a);
}

enum err_code lastwrites_read(const struct transcript *t, size_t from, struct lastwrites *out,
                              struct err *e)
{
    struct lastwrites l = { 0 };
    struct arena scratch = { 0 };
    struct buf row = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = from; i < t->n && !rc; i++) {
        if (t->message[i].kind != MESSAGE_USER || t->message[i].flags & MESSAGE_BROKEN)
            continue;
        rc = transcript_read(t, i, &row, e);
        if (!rc && read_result_row(&l, buf_slice(&row), &scratch))
            rc = err_nomem(e);
        arena_reset(&scratch);
    }
    buf_fini(&row);
    arena_fini(&scratch);
    if (rc)
        lastwrites_fini(&l);
    else
        *out = l;
    return rc;
}

void lastwrites_fini(struct lastwrites *l)
{
    textset_fini(&l->path);
    arena_fini(&l->arena);
    *l = (struct lastwrites){ 0 };
}

const struct lastwrite *lastwrites_find(const struct lastwrites *l, const char *path)
{
    uint32_t number = textset_find(&l->path, slice_of(path));

    return number == TEXTSET_NONE ? NULL : &l->write[number];
}
