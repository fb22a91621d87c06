#include "lite/json/json_edit.h"

#include <stdint.h>
#include <string.h>

#include "lite/json/json.h"

/* An object is copied member by member. What stands before a member (the bracket or comma, the blanks) is
 * copied with it, so a dropped member takes its comma along; only the first member's bracket stays. */
struct edit {
    struct buf *out;
    const char *done;              /* bytes before this are copied or dropped */
    bool any;                      /* a member was copied */
    uint64_t seen;                 /* bit i: the member of edit i was there */
    size_t length[JSON_EDITS_MAX]; /* of the names */
    enum err_code rc;
};

static void add_bytes(struct edit *ed, struct slice bytes)
{
    if (!ed->rc)
        ed->rc = buf_add(ed->out, bytes);
}

static void copy_up_to(struct edit *ed, const char *end)
{
    add_bytes(ed, (struct slice){ ed->done, (size_t)(end - ed->done) });
    ed->done = end;
}

/* The blanks and the opening bracket. */
static void begin_object(struct edit *ed, struct slice object)
{
    const char *bracket = memchr(object.p, '{', object.n);

    copy_up_to(ed, bracket ? bracket + 1 : object.p);
}

/* A member is kept with the comma before it, unless what came before it was dropped. */
static void keep_up_to(struct edit *ed, const char *key, const char *end)
{
    const char *comma = ed->any ? NULL : memchr(ed->done, ',', (size_t)(key - ed->done));

    if (comma)
        ed->done = comma + 1;
    copy_up_to(ed, end);
    ed->any = true;
}

/* A key without escapes is compared as it stands. */
static size_t edit_of(const struct edit *ed, struct slice key, const struct json_edit edits[],
                      size_t n)
{
    bool escaped = memchr(key.p, '\\', key.n) != NULL;

    for (size_t i = 0; i < n; i++) {
        size_t length = ed->length[i];

        if (key.n == length + 2 && memcmp(key.p + 1, edits[i].name, length) == 0)
            return i;
        if (escaped && json_string_is(key, edits[i].name))
            return i;
    }
    return n;
}

static void edit_member(struct edit *ed, struct slice key, struct slice old,
                        const struct json_edit edits[], size_t n)
{
    const char *end = old.p + old.n;
    size_t i = edit_of(ed, key, edits, n);

    if (i == n) {
        keep_up_to(ed, key.p, end);
        return;
    }
    if (edits[i].value.n && !(ed->seen >> i & 1)) {
        keep_up_to(ed, key.p, old.p);
        add_bytes(ed, edits[i].value);
    }
    ed->seen |= UINT64_C(1) << i;
    ed->done = end;
}

static void add_member(struct edit *ed, const struct json_edit *edit)
{
    add_bytes(ed, ed->any ? SLICE(",\"") : SLICE("\""));
    add_bytes(ed, slice_of(edit->name));
    add_bytes(ed, SLICE("\":"));
    add_bytes(ed, edit->value);
    ed->any = true;
}

enum err_code json_edit(struct buf *out, struct slice object, const struct json_edit edits[],
                        size_t n)
{
    size_t before = out->n;
    struct edit ed; /* not zeroed as a whole: it is made for every row of a log */
    struct json_iter it;
    struct slice key, value;

    ed.out = out;
    ed.done = object.p;
    ed.any = false;
    ed.seen = 0;
    ed.rc = ERR_OK;
    for (size_t i = 0; i < n; i++)
        ed.length[i] = strlen(edits[i].name);
    begin_object(&ed, object);
    for (bool more = json_iter_open(&it, object); more && json_iter_next(&it, &key, &value);)
        edit_member(&ed, key, value, edits, n);
    for (size_t i = 0; i < n; i++)
        if (edits[i].value.n && !edits[i].if_there && !(ed.seen >> i & 1))
            add_member(&ed, &edits[i]);
    copy_up_to(&ed, object.p + object.n);
    if (ed.rc)
        out->n = before;
    return ed.rc;
}

enum err_code json_set(struct buf *out, struct slice object, const char *name, struct slice value)
{
    return json_edit(out, object, &(struct json_edit){ .name = name, .value = value }, 1);
}

enum err_code json_remove(struct buf *out, struct slice object, const char *name)
{
    return json_edit(out, object, &(struct json_edit){ .name = name }, 1);
}
