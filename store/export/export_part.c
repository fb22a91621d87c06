#include "store/export/export_internal.h"

#include <stdio.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"

/* Which part of a conversation is written. */

enum { UUID_LENGTH = 36 };

bool export_is_cancelled(const struct export_request *req)
{
    return req->cancel && atomic_load_explicit(req->cancel, memory_order_relaxed);
}

bool export_is_part(const struct export_request *req)
{
    return req->branch.p || req->from.p || req->to.p || !id128_none(req->leaf) ||
           !id128_none(req->first) || !id128_none(req->last);
}

static bool export_part_begins_with(struct id128 id, struct slice text)
{
    char uuid[UUID_LENGTH + 1];

    if (text.n > UUID_LENGTH || id128_none(id))
        return false;
    snprintf(uuid, sizeof uuid, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(id.hi >> 32),
             (unsigned)(id.hi >> 16 & 0xffff), (unsigned)(id.hi & 0xffff), (unsigned)(id.lo >> 48),
             (unsigned long long)(id.lo & 0xffffffffffffULL));
    return memcmp(uuid, text.p, text.n) == 0;
}

/* "#12": the number of a message, as the documents show it. */
static bool export_part_read_number(struct slice text, size_t n, size_t *at)
{
    size_t number = 0;

    if (text.n < 2 || text.n > 10 || text.p[0] != '#')
        return false;
    for (size_t i = 1; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        number = number * 10 + (size_t)(text.p[i] - '0');
    }
    *at = number - 1;
    return number > 0 && number <= n;
}

static enum err_code name_error(enum err_code code, struct slice text, struct err *e)
{
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)(text.n < 60 ? text.n : 60), text.p);
    return err_set(e, code, name, "export: %s",
                   code == ERR_USAGE ? "several messages have ids that begin with this"
                                     : "no such message; see reprise messages --plain");
}

/* Finds the one of n ids that a text names; a whole id takes precedence over a prefix. */
static enum err_code find_id(const void *ids, size_t n, size_t size, struct slice text, size_t *at,
                             struct err *e)
{
    struct id128 whole = id128_of(text);
    size_t matches = 0;

    for (size_t i = 0; i < n; i++) {
        struct id128 id;

        memcpy(&id, (const char *)ids + i * size, sizeof id);
        if (id128_eq(id, whole)) {
            *at = i;
            return ERR_OK;
        }
        if (export_part_begins_with(id, text)) {
            matches++;
            *at = i;
        }
    }
    return matches == 1 && text.n >= 4
               ? ERR_OK
               : name_error(matches > 1 ? ERR_USAGE : ERR_NOT_FOUND, text, e);
}

static enum err_code export_part_find_end(const struct transcript *t, struct slice text,
                                          struct id128 id, size_t *at, struct err *e)
{
    if (text.p) {
        if (export_part_read_number(text, t->n, at))
            return ERR_OK;
        if (t->n == 0 || text.n == 0)
            return name_error(ERR_NOT_FOUND, text, e);
        return find_id(&t->message[0].id, t->n, sizeof *t->message, text, at, e);
    }
    for (*at = 0; *at < t->n; ++*at)
        if (id128_eq(t->message[*at].id, id))
            return ERR_OK;
    return err_set(e, ERR_NOT_FOUND, t->path, "export: the message is not in the conversation");
}

static enum err_code find_part(struct export_part *p, struct err *e)
{
    const struct export_request *q = p->req;
    enum err_code rc = ERR_OK;
    size_t last;

    p->from = 0;
    p->to = p->t->n;
    if (q->from.p || !id128_none(q->first))
        rc = export_part_find_end(p->t, q->from, q->first, &p->from, e);
    if (!rc && (q->to.p || !id128_none(q->last))) {
        rc = export_part_find_end(p->t, q->to, q->last, &last, e);
        p->to = rc ? p->to : last + 1;
    }
    if (!rc && p->to < p->from)
        return err_set(e, ERR_USAGE, "--to", "export: the last message is before the first");
    return rc;
}

/* A branch, or the conversation itself if the message is its last one. */
static enum err_code load_branch(struct export_part *p, struct err *e)
{
    const struct store *st = p->ref->store;
    struct branch_list list = { .n = 0 };
    size_t at = 0;
    enum err_code rc;

    if (!st->ops->branches || !st->ops->load_branch)
        return store_unsupported_error(p->ref, CAN_HAVE_BRANCHES, "export a branch", e);
    if (!p->req->branch.p)
        return st->ops->load_branch(st, p->ref, p->req->leaf, p->req->cancel, &p->t, e);
    rc = st->ops->branches(st, p->ref, p->req->cancel, &list, e);
    if (!rc)
        rc = list.n ? find_id(&list.branch[0].leaf, list.n, sizeof *list.branch, p->req->branch,
                              &at, e)
                    : name_error(ERR_NOT_FOUND, p->req->branch, e);
    if (!rc)
        rc = st->ops->load_branch(st, p->ref, list.branch[at].leaf, p->req->cancel, &p->t, e);
    branch_list_fini(&list);
    return rc;
}

enum err_code export_part_open(struct export_part *p, const struct session_ref *ref,
                               const struct export_request *req, bool whole, struct err *e)
{
    const struct store *st = ref->store;
    enum err_code rc;

    *p = (struct export_part){ .ref = ref, .req = req };
    rc = (req->branch.p || !id128_none(req->leaf)) && !whole
             ? load_branch(p, e)
             : st->ops->load(st, ref, req->cancel, &p->t, e);
    if (!rc)
        p->to = p->t->n;
    if (!rc && !whole)
        rc = find_part(p, e);
    if (rc)
        export_part_close(p);
    return rc;
}

void export_part_close(struct export_part *p)
{
    transcript_free(p->t);
    p->t = NULL;
}

/* The parts of a tool call that a document has. */

/* "name: value"; a value of several lines is below its name. */
static enum err_code export_part_add_member(struct buf *out, struct slice name, struct slice value,
                                            struct arena *a)
{
    struct slice text = value, line;
    bool torn;

    if (json_type(value) == JSON_STRING)
        json_text(value, a, &text);
    json_text(name, a, &name);
    TRY(buf_add(out, name));
    if (text.n == 0 || !memchr(text.p, '\n', text.n)) {
        TRY(buf_add(out, SLICE(": ")));
        TRY(buf_add(out, text));
        return buf_add_byte(out, '\n');
    }
    TRY(buf_add(out, SLICE(": |\n")));
    while (slice_line(&text, &line, &torn)) {
        TRY(buf_add(out, SLICE("  ")));
        TRY(buf_add(out, line));
        TRY(buf_add_byte(out, '\n'));
    }
    return ERR_OK;
}

static enum err_code gather_input(const struct block *call, bool has_diff, struct arena *a,
                                  struct buf *out)
{
    struct json_iter it;
    struct slice key, value;

    if (json_type(call->input) != JSON_OBJECT || !json_iter_open(&it, call->input))
        return json_type(call->input) == JSON_NONE ? ERR_OK : buf_add(out, call->input);
    while (json_iter_next(&it, &key, &value))
        if (key.n && !tool_call_shows(call, key, has_diff))
            TRY(export_part_add_member(out, key, value, a));
    return ERR_OK;
}

static struct slice below_root(struct slice path, struct slice root)
{
    if (root.n > 1 && path.n > root.n + 1 && memcmp(path.p, root.p, root.n) == 0 &&
        path.p[root.n] == '/')
        return (struct slice){ path.p + root.n + 1, path.n - root.n - 1 };
    return path;
}

enum err_code export_tool_describe(struct export_tool *t, struct slice root, struct arena *a,
                                   struct buf *input)
{
    const struct block *call = t->call;
    bool is_path;

    tool_call_hunks(&t->hunks, call, t->result);
    t->subject = tool_call_subject(call, a, &is_path);
    t->subject = is_path ? below_root(t->subject, root) : tool_call_first_line(t->subject);
    tool_call_command(call, a, &t->command);
    enum err_code rc = gather_input(call, t->hunks.n > 0, a, input);

    t->input = buf_slice(input);
    return rc;
}
