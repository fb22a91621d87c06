#include "lite/jsonedit.h"

#include "lite/json.h"

/* An object is copied member by member. What stands before a member (the bracket or comma, the blanks) is
 * copied with it, so a dropped member takes its comma along; only the first member's bracket stays. */
struct edit {
    struct buf *out;
    struct slice object;
    const char *done; /* bytes before this are copied or dropped */
    bool any;         /* a member was copied */
    enum err_code rc;
};

static void add(struct edit *ed, struct slice bytes)
{
    if (!ed->rc)
        ed->rc = buf_add(ed->out, bytes);
}

static void copy_to(struct edit *ed, const char *end)
{
    add(ed, (struct slice){ ed->done, (size_t)(end - ed->done) });
    ed->done = end;
}

/* The blanks and the opening bracket. */
static void begin(struct edit *ed)
{
    const char *bracket = memchr(ed->object.p, '{', ed->object.n);

    copy_to(ed, bracket ? bracket + 1 : ed->object.p);
}

/* A member is kept with the comma before it, unless what came before it was dropped. */
static void keep_to(struct edit *ed, const char *key, const char *end)
{
    const char *comma = memchr(ed->done, ',', (size_t)(key - ed->done));

    if (comma && !ed->any)
        ed->done = comma + 1;
    copy_to(ed, end);
    ed->any = true;
}

/* Copies the members; of those with the name only the last, with another value, or none without one. */
static void edit_members(struct edit *ed, const char *name, struct slice value)
{
    struct json_iter it;
    struct slice key, old, last;
    bool there = json_get(ed->object, name, &last);

    begin(ed);
    for (bool more = json_iter_open(&it, ed->object); more && json_iter_next(&it, &key, &old);) {
        const char *end = old.p + old.n;
        bool named = there && json_string_is(key, name);

        if (named && (old.p != last.p || value.n == 0)) {
            ed->done = end;
        } else if (named) {
            keep_to(ed, key.p, old.p);
            add(ed, value);
            ed->done = end;
        } else {
            keep_to(ed, key.p, end);
        }
    }
    if (there || value.n == 0)
        return;
    add(ed, ed->any ? SLICE(",\"") : SLICE("\""));
    add(ed, (struct slice){ name, strlen(name) });
    add(ed, SLICE("\":"));
    add(ed, value);
}

static enum err_code edit(struct buf *out, struct slice object, const char *name,
                          struct slice value)
{
    size_t before = out->n;
    struct edit ed = { .out = out, .object = object, .done = object.p };

    edit_members(&ed, name, value);
    copy_to(&ed, object.p + object.n);
    if (ed.rc)
        out->n = before;
    return ed.rc;
}

enum err_code json_put(struct buf *out, struct slice object, const char *name, struct slice value)
{
    return edit(out, object, name, value);
}

enum err_code json_drop(struct buf *out, struct slice object, const char *name)
{
    return edit(out, object, name, (struct slice){ NULL, 0 });
}
