#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/systems/plugin/plugin.h"

/* The end of a conversation. It is kept, so that reading a longer end requests only the rows before
 * it and those added since: no row is transferred twice for a reader who goes back page by page. */

enum { ROW_USUAL = 512, KEPT_MOST = 64 << 20 };

struct plugin_newest {
    char *path; /* owned; of the session */
    struct file_id file;
    struct buf rows;
    int64_t first, last; /* positions of the oldest and the newest row; 0: nothing was read yet */
    bool whole;          /* there is no row before it */
};

void plugin_end_free(struct plugin_newest *end)
{
    if (!end)
        return;
    free(end->path);
    buf_fini(&end->rows);
    free(end);
}

/* ---- what is kept, for one reader at a time ---- */

static struct plugin_newest *take_end(const struct plugin_store *p, const struct session_ref *ref)
{
    struct plugin_newest *end;

    pthread_mutex_lock(&p->link->lock);
    end = p->link->end;
    p->link->end = NULL;
    pthread_mutex_unlock(&p->link->lock);
    if (end && slice_eq(slice_of(end->path), ref->path) &&
        memcmp(&end->file, &ref->file, sizeof end->file) == 0)
        return end;
    plugin_end_free(end);
    end = calloc(1, sizeof *end);
    if (end && !(end->path = strndup(ref->path.p, ref->path.n))) {
        free(end);
        return NULL;
    }
    if (end)
        end->file = ref->file;
    return end;
}

static void plugin_keep_end(const struct plugin_store *p, struct plugin_newest *end)
{
    struct plugin_newest *other = end;

    if (end->rows.n <= KEPT_MOST) {
        pthread_mutex_lock(&p->link->lock);
        other = p->link->end;
        p->link->end = end;
        pthread_mutex_unlock(&p->link->lock);
    }
    plugin_end_free(other);
}

/* ---- rows after and before it ---- */

/* Rows as they arrive. */
struct arriving {
    struct buf rows;
    int64_t first, last;
    size_t n, bytes;
    bool reorders, agent;
};

static enum err_code plugin_add_row(int64_t position, struct slice row, void *arg)
{
    struct arriving *x = arg;

    if (x->n++ == 0)
        x->first = position;
    x->last = position;
    x->bytes += row.n + 1;
    if (x->agent && plugin_is_agent_metadata(row))
        return ERR_OK;
    return plugin_row_add(&x->rows, row, x->reorders);
}

/* Adds the previous page in front, so that there are about this many bytes. */
static enum err_code add_older(const struct plugin_store *p, const struct reprise_plugin_key *key,
                               struct plugin_newest *end, size_t bytes, const atomic_bool *cancel,
                               struct err *e)
{
    struct arriving x = { .reorders = plugin_reorders(p), .agent = key->subpath != NULL };
    size_t more = bytes - end->rows.n, rows = more / ROW_USUAL + 8;
    enum err_code rc = plugin_page(p, key, end->first, rows, more, cancel, plugin_add_row, &x, e);

    if (!rc && buf_add(&x.rows, buf_slice(&end->rows)))
        rc = err_nomem(e);
    if (!rc) {
        struct buf old = end->rows;

        end->rows = x.rows;
        x.rows = old;
        /* If fewer rows and bytes than requested arrive, these are all rows. */
        end->whole = x.n < rows && x.bytes < more;
        end->first = x.n ? x.first : end->first;
        end->last = end->last ? end->last : x.last;
    }
    buf_fini(&x.rows);
    return rc;
}

static enum err_code plugin_tail_complete(const struct plugin_store *p,
                                          const struct session_ref *ref, struct plugin_newest *end,
                                          size_t bytes, const atomic_bool *cancel, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct reprise_plugin_key key;

    TRY(plugin_key_of(p, ref, &a, &key, e));
    if (end->last) {
        /* Add what was written since. */
        struct arriving x = { .reorders = plugin_reorders(p), .agent = key.subpath != NULL };
        enum err_code rc = plugin_read(p, &key, end->last, cancel, plugin_add_row, &x, e);

        if (!rc && x.n && buf_add(&end->rows, buf_slice(&x.rows)))
            rc = err_nomem(e);
        if (!rc && x.n)
            end->last = x.last;
        buf_fini(&x.rows);
        if (rc)
            return rc;
    }
    if (!end->whole && end->rows.n < bytes)
        TRY(add_older(p, &key, end, bytes, cancel, e));
    return ERR_OK;
}

/* ---- the conversation ---- */

/* Lines at the front, so that the file is read as the end of a longer one. */
#define LONGER "\n\n"

static enum err_code open_end(const struct plugin_store *p, const struct session_ref *ref,
                              const struct plugin_newest *end, struct plugin_text *t, struct err *e)
{
    *t = (struct plugin_text){ .file.fd = -1, .ref = ref };
    enum err_code rc = end->whole ? ERR_OK : buf_add(&t->bytes, SLICE(LONGER));

    rc = rc || buf_add(&t->bytes, buf_slice(&end->rows))
             ? err_nomem(e)
             : fs_memory_file_open(&t->file, buf_slice(&t->bytes), e);
    if (rc)
        plugin_text_close(t);
    else
        plugin_text_lend(p, t);
    return rc;
}

static enum err_code plugin_read_end(const struct plugin_store *p, const struct session_ref *ref,
                                     const struct plugin_newest *end, const atomic_bool *cancel,
                                     struct transcript **out, struct err *e)
{
    struct transcript *made = NULL;
    struct plugin_text t;

    TRY(open_end(p, ref, end, &t, e));
    enum err_code rc = plugin_text_error(
        &t,
        end->whole ? claude_ops.load(p->claude, &t.lent, cancel, &made, e)
                   : claude_ops.tail(p->claude, &t.lent, end->rows.n, cancel, &made, e),
        e);

    if (!rc)
        rc = plugin_text_keep(&t, made, out, e);
    plugin_text_close(&t);
    return rc;
}

/* Rows that arrived before a failure stay; the reader requests the rest again. */
enum err_code plugin_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);

    if (!p->table.page)
        return st->ops->load(st, ref, cancel, out, e);
    struct plugin_newest *end = take_end(p, ref);
    enum err_code rc =
        end ? plugin_tail_complete(p, ref, end, bytes ? bytes : 1, cancel, e) : err_nomem(e);

    if (!rc)
        rc = plugin_read_end(p, ref, end, cancel, out, e);
    if (end)
        plugin_keep_end(p, end);
    return rc;
}

/* ---- the newest messages ---- */

enum { END_FIRST = 256 << 10, END_MOST = 64 << 20, END_GROWS = 8 };

static enum err_code list_end(const struct plugin_store *p, const struct session_ref *ref,
                              const struct plugin_newest *end, const struct message_query *q,
                              json_fn *fn, void *arg, struct err *e)
{
    struct plugin_text t;
    enum err_code rc = open_end(p, ref, end, &t, e);

    if (rc)
        return rc;
    q->reach->bytes = end->whole ? 0 : end->rows.n;
    q->reach->enough = true;
    q->reach->partial = false;
    rc = plugin_text_error(&t, claude_ops.messages(p->claude, &t.lent, q, fn, arg, e), e);
    plugin_text_close(&t);
    return rc;
}

/* ---- the messages before one ---- */

enum { NEAR_MOST = 2 << 20, AFTER_SHARE = 4, UUID_TEXT = 36 };

/* Notes what a part of a conversation has. */
struct look {
    struct slice before;
    size_t n; /* messages before it */
    bool seen;
};

static enum err_code plugin_look_at(struct slice json, void *arg, struct err *e)
{
    struct look *x = arg;
    struct arena a = { 0 };
    struct slice id;

    (void)e;
    x->seen = x->seen || (json_get_text(json, "uuid", &a, &id) && slice_eq(id, x->before));
    x->n += !x->seen;
    arena_fini(&a);
    return ERR_OK;
}

/* Delivers the messages of a part if it has enough of them. */
static enum err_code list_part(const struct plugin_store *p, const struct session_ref *ref,
                               const struct plugin_newest *part, const struct message_query *q,
                               json_fn *fn, void *arg, bool *done, struct err *e)
{
    struct message_reach end = { .least = 0 };
    struct message_query all = *q;
    struct look look = { .before = q->reach->before };

    all.reach = &end;
    enum err_code rc =
        part->rows.n ? list_end(p, ref, part, &all, plugin_look_at, &look, e) : ERR_OK;

    *done = part->rows.n && end.enough && look.seen && (part->whole || look.n >= q->reach->least);
    q->reach->partial = end.partial;
    return rc || !*done ? rc : list_end(p, ref, part, &all, fn, arg, e);
}

/* Looks for a row. */
struct seeking {
    struct slice uuid;
    int64_t first, found; /* positions: of the oldest row of a page, of the row */
    size_t n, bytes;
};

static enum err_code seek_row(int64_t position, struct slice row, void *arg)
{
    struct seeking *x = arg;
    struct arena a = { 0 };
    struct slice uuid;

    if (x->n++ == 0)
        x->first = position;
    x->bytes += row.n;
    if (slice_find(row.p, row.n, x->uuid.p, x->uuid.n) && json_get_text(row, "uuid", &a, &uuid) &&
        slice_eq(uuid, x->uuid))
        x->found = position;
    arena_fini(&a);
    return ERR_OK;
}

/* *at: the position of the row, or 0. */
static enum err_code locate(const struct plugin_store *p, const struct reprise_plugin_key *key,
                            const char *uuid, const atomic_bool *cancel, int64_t *at, struct err *e)
{
    enum { ROWS = NEAR_MOST / ROW_USUAL };
    struct seeking x = { .uuid = slice_of(uuid) };
    enum err_code rc = ERR_OK;

    if (p->table.find)
        return plugin_find_row(p, key, uuid, at, cancel, e);
    do {
        x.n = x.bytes = 0;
        rc = plugin_page(p, key, x.first, ROWS, NEAR_MOST, cancel, seek_row, &x, e);
    } while (!rc && !x.found && (x.n == ROWS || x.bytes >= NEAR_MOST));
    *at = x.found;
    return rc;
}

struct following {
    struct arriving rows;
    size_t most; /* bytes */
};

static enum err_code add_following(int64_t position, struct slice row, void *arg)
{
    struct following *x = arg;

    return x->rows.rows.n > x->most ? ERR_CANCELLED : plugin_add_row(position, row, &x->rows);
}

/* The row at a position, about `bytes` before it and some after it. */
static enum err_code read_around(const struct plugin_store *p, const struct reprise_plugin_key *key,
                                 int64_t at, size_t bytes, const atomic_bool *cancel,
                                 struct plugin_newest *out, struct err *e)
{
    struct following x = { .rows = { .reorders = plugin_reorders(p),
                                     .agent = key->subpath != NULL },
                           .most = bytes / AFTER_SHARE };
    enum err_code rc = plugin_read(p, key, at - 1, cancel, add_following, &x, e);

    if (rc == ERR_CANCELLED && x.rows.rows.n > x.most)
        rc = ERR_OK;
    *out = (struct plugin_newest){ .rows = x.rows.rows, .first = at, .last = x.rows.last };
    return rc ? rc : add_older(p, key, out, out->rows.n + bytes, cancel, e);
}

/* ---- which messages ---- */

static enum err_code list_newest(const struct plugin_store *p, const struct session_ref *ref,
                                 struct plugin_newest *end, const struct message_query *q,
                                 json_fn *fn, void *arg, bool *done, struct err *e)
{
    size_t most = q->reach->before.n == UUID_TEXT ? NEAR_MOST : END_MOST;
    enum err_code rc = ERR_OK;

    for (size_t bytes = END_FIRST; !rc && !*done && bytes <= most; bytes *= END_GROWS) {
        rc = plugin_tail_complete(p, ref, end, bytes, q->cancel, e);
        if (rc || !end->rows.n)
            continue;
        if (q->reach->before.n == UUID_TEXT) {
            rc = list_part(p, ref, end, q, fn, arg, done, e);
        } else {
            rc = list_end(p, ref, end, q, fn, arg, e);
            *done = q->reach->enough;
        }
    }
    return rc;
}

enum err_code plugin_end_messages(const struct plugin_store *p, const struct session_ref *ref,
                                  const struct message_query *q, json_fn *fn, void *arg, bool *done,
                                  struct err *e)
{
    struct plugin_newest *end = take_end(p, ref);

    *done = false;
    enum err_code rc = end ? list_newest(p, ref, end, q, fn, arg, done, e) : err_nomem(e);
    bool whole = end && end->whole;

    if (end)
        plugin_keep_end(p, end);
    if (!rc && !*done && !whole && q->reach->before.n == UUID_TEXT) {
        /* The parts of the conversation around the message, each larger than the one before. */
        struct arena a = { 0 };
        struct reprise_plugin_key key;
        int64_t at = 0;
        const char *uuid = arena_copy(&a, q->reach->before).p;
        rc = uuid ? plugin_key_of(p, ref, &a, &key, e) : err_nomem(e);

        if (!rc)
            rc = locate(p, &key, uuid, q->cancel, &at, e);
        q->reach->partial = false;
        *done = !rc && !at;
        for (size_t bytes = END_FIRST; !rc && !*done && bytes <= END_MOST; bytes *= END_GROWS) {
            struct plugin_newest part;

            rc = read_around(p, &key, at, bytes, q->cancel, &part, e);
            if (!rc)
                rc = list_part(p, ref, &part, q, fn, arg, done, e);
            buf_fini(&part.rows);
        }
        arena_fini(&a);
    }
    q->reach->bytes = 0;
    q->reach->partial &= *done;
    return rc;
}

enum err_code plugin_around(const struct store *st, const struct session_ref *ref, struct slice id,
                            size_t bytes, const atomic_bool *cancel, struct transcript **out,
                            struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct arena a = { 0 };
    struct reprise_plugin_key key;
    struct plugin_newest part = { .path = NULL };
    int64_t at = 0;
    const char *uuid = arena_copy(&a, id).p;
    enum err_code rc = uuid ? plugin_key_of(p, ref, &a, &key, e) : err_nomem(e);

    if (!rc && !p->table.page)
        rc = err_set(e, ERR_UNSUPPORTED, ref->path.p, "its store has no pages");
    if (!rc)
        rc = locate(p, &key, uuid, cancel, &at, e);
    if (!rc && !at)
        rc = err_set(e, ERR_NOT_FOUND, ref->path.p, "no row with this id");
    if (!rc)
        rc = read_around(p, &key, at, bytes, cancel, &part, e);
    if (!rc)
        rc = plugin_read_end(p, ref, &part, cancel, out, e);
    buf_fini(&part.rows);
    arena_fini(&a);
    return rc;
}
