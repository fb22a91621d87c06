#include "store/systems/common/usage_rows.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/decimal.h"
#include "lite/io/file.h"
#include "lite/json/json.h"

enum { PIECE = 256 * 1024, ROW_MAX = 64 << 20, COST_MAX = 40 };

/* ---- the rows ---- */

/* The rows with at least one of two marks; NULL: there is only one. Each mark is searched for again only once the walk
 * has passed the place where it was found. */
static enum err_code rows_with_marks(struct slice bytes, const char *const mark[2],
                                     usage_row_fn *fn, void *arg, struct err *e)
{
    const char *p = bytes.p, *end = p + bytes.n, *next[2] = { p, p };
    bool searched = false;
    enum err_code rc = ERR_OK;

    while (!rc && p < end) {
        for (int i = 0; i < 2; i++)
            if (!searched || (next[i] && next[i] < p))
                next[i] =
                    mark[i] ? slice_find(p, (size_t)(end - p), mark[i], strlen(mark[i])) : NULL;
        searched = true;

        const char *found = !next[0] || (next[1] && next[1] < next[0]) ? next[1] : next[0];

        if (!found)
            break;
        const char *from = memrchr(p, '\n', (size_t)(found - p));
        const char *to = memchr(found, '\n', (size_t)(end - found));

        from = from ? from + 1 : p;
        to = to ? to : end;

        /* The search continues after the row, which is delivered once even if it has both marks. */
        rc = fn((struct slice){ from, (size_t)(to - from) }, arg, e);
        p = to < end ? to + 1 : end;
    }
    return rc;
}

enum err_code usage_rows_of_bytes(struct slice bytes, const char *mark, usage_row_fn *fn, void *arg,
                                  struct err *e)
{
    return bytes.n ? rows_with_marks(bytes, (const char *const[2]){ mark, NULL }, fn, arg, e)
                   : ERR_OK;
}

/* The bytes that were read from a file and not passed on yet. */
struct pieces {
    struct buf bytes;
    bool dropping; /* they begin inside a line that is too long */
};

static void drop_front(struct pieces *x, size_t n)
{
    if (n)
        memmove(x->bytes.p, x->bytes.p + n, x->bytes.n - n);
    x->bytes.n -= n;
}

/* Passes on the whole lines; at the end of the file, also the rest. */
static enum err_code usage_rows_hand_over(struct pieces *x, bool at_end, const char *const mark[2],
                                          usage_row_fn *fn, void *arg, struct err *e)
{
    const char *nl = x->bytes.n ? memchr(x->bytes.p, '\n', x->bytes.n) : NULL;
    enum err_code rc;

    if (x->dropping) {
        x->dropping = !nl;
        drop_front(x, nl ? (size_t)(nl + 1 - x->bytes.p) : x->bytes.n);
    }
    nl = x->bytes.n ? memrchr(x->bytes.p, '\n', x->bytes.n) : NULL;
    size_t n = at_end ? x->bytes.n : nl ? (size_t)(nl + 1 - x->bytes.p) : 0;

    rc = rows_with_marks((struct slice){ x->bytes.p, n }, mark, fn, arg, e);
    drop_front(x, n);
    if (x->bytes.n >= ROW_MAX) {
        x->dropping = true;
        x->bytes.n = 0;
    }
    return rc;
}

static enum err_code file_rows_with_marks(const char *path, unsigned flags,
                                          const char *const mark[2], const atomic_bool *cancel,
                                          usage_row_fn *fn, void *arg, struct err *e)
{
    struct file f;

    TRY(file_open(AT_FDCWD, path, flags, &f, e));
    struct pieces x = { .dropping = false };
    int64_t at = 0;
    size_t got = PIECE; /* less: that was the end */
    enum err_code rc = ERR_OK;

    while (!rc && got == PIECE) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, NULL, "read token usage");
        else if (buf_reserve(&x.bytes, PIECE))
            rc = err_nomem(e);
        else
            rc = file_read(&f, at, x.bytes.p + x.bytes.n, PIECE, &got, e);
        if (rc)
            break;
        at += (int64_t)got;
        x.bytes.n += got;
        rc = usage_rows_hand_over(&x, got < PIECE, mark, fn, arg, e);
    }
    buf_fini(&x.bytes);

    file_close(&f);
    return rc ? err_at(e, rc, path) : ERR_OK;
}

enum err_code usage_rows_of_file(const char *path, unsigned flags, const char *mark,
                                 const atomic_bool *cancel, usage_row_fn *fn, void *arg,
                                 struct err *e)
{
    return file_rows_with_marks(path, flags, (const char *const[2]){ mark, NULL }, cancel, fn, arg,
                                e);
}

/* ---- a session ---- */

struct walked {
    const struct usage_walk *walk;
    struct slice agent;
    struct arena arena; /* owns the texts of one row */
};

static enum err_code hand_over_record(struct slice row, void *arg, struct err *e)
{
    struct walked *x = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&x->arena);
    if (x->walk->read(row, &x->arena, &u)) {
        u.agent = x->agent.n ? x->agent : u.agent;
        u.aside = u.aside || u.agent.n > 0;
        u.message = u.agent.n ? SLICE("") : u.message;
        rc = x->arena.failed ? ERR_OK : x->walk->fn(&u, x->walk->arg, e);
    } else if (x->walk->totals && !x->agent.n) {
        rc = x->walk->totals(row, &x->arena, x->walk->fn, x->walk->arg, e);
    }
    return x->arena.failed ? err_nomem(e) : rc;
}

enum err_code usage_walk_file(const struct usage_walk *w, const char *path, unsigned flags,
                              struct slice agent, struct err *e)
{
    struct walked x = { .walk = w, .agent = agent };
    const char *const mark[2] = { w->mark, w->totals ? w->totals_mark : NULL };
    enum err_code rc = file_rows_with_marks(path, flags, mark, w->cancel, hand_over_record, &x, e);

    arena_fini(&x.arena);
    return agent.n && (rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE) ? ERR_OK : rc;
}

/* ---- one row ---- */

static int64_t count_of(struct slice value)
{
    int64_t n;

    return json_int(value, &n) && n > 0 ? n : 0;
}

int64_t usage_count(struct slice object, const char *path)
{
    struct slice value;

    return path && json_at(object, path, &value) ? count_of(value) : 0;
}

void usage_read_counts(const struct usage_members *m, struct slice object, struct usage_record *u)
{
    int64_t input = usage_count(object, m->input), cached;

    u->cache_read = usage_count(object, m->cache_read);
    u->cache_write = usage_count(object, m->cache_write);
    cached = m->includes_caches ? u->cache_read + u->cache_write : 0;
    u->input = input > cached ? input - cached : 0;
    u->output = usage_count(object, m->output) + usage_count(object, m->thinking);
}

double usage_cost_of(struct slice value)
{
    char text[COST_MAX];
    double cost;

    if (json_type(value) != JSON_NUMBER || value.n >= sizeof text)
        return (double)NAN;
    memcpy(text, value.p, value.n);
    text[value.n] = '\0';
    cost = decimal_read(text, NULL);
    return isfinite(cost) && cost >= 0 ? cost : (double)NAN;
}

double usage_cost(struct slice object, const char *name)
{
    struct slice value;

    return json_get(object, name, &value) ? usage_cost_of(value) : (double)NAN;
}

static bool usage_rows_read_message(struct slice message, struct arena *a, struct usage_record *out)
{
    enum { ID, MODEL, USAGE, N };
    static const char *const names[] = { "id", "model", "usage" };
    static const char *const counts[] = { "input_tokens", "output_tokens",
                                          "cache_read_input_tokens",
                                          "cache_creation_input_tokens" };
    struct slice value[N], count[sizeof counts / sizeof *counts];

    if (json_type(message) != JSON_OBJECT)
        return false;
    json_get_each(message, names, N, value);
    out->answer = json_text_of(value[ID], a);
    out->model = json_text_of(value[MODEL], a);
    if (json_type(value[USAGE]) != JSON_OBJECT)
        return false;
    json_get_each(value[USAGE], counts, sizeof counts / sizeof *counts, count);
    out->input = count_of(count[0]);
    out->output = count_of(count[1]);
    out->cache_read = count_of(count[2]);
    out->cache_write = count_of(count[3]);
    return true;
}

/* A row of Claude Code, or the row of a sub-agent that a row of progress contains. */
static bool usage_rows_read_row(struct slice row, struct arena *a, struct usage_record *out)
{
    enum { MESSAGE, UUID, REQUEST, TIME, ASIDE, FORK, COST, N };
    static const char *const names[] = { "message",     "uuid",       "requestId", "timestamp",
                                         "isSidechain", "forkedFrom", "costUSD" };
    struct slice value[N];

    json_get_each(row, names, N, value);
    *out = usage_record_empty();
    if (!usage_rows_read_message(value[MESSAGE], a, out))
        return false;
    out->message = json_text_of(value[UUID], a);
    out->request = json_text_of(value[REQUEST], a);
    out->aside = json_type(value[ASIDE]) == JSON_TRUE;
    out->copied = json_type(value[FORK]) == JSON_OBJECT;
    out->cost = usage_cost_of(value[COST]);
    if (!time_parse(json_text_of(value[TIME], a), &out->time_ms))
        out->time_ms = TIME_NONE;
    return true;
}

bool usage_of_row(struct slice row, struct arena *a, struct usage_record *out)
{
    struct slice inner;

    while (row.n && (unsigned char)row.p[0] <= ' ')
        row = (struct slice){ row.p + 1, row.n - 1 };
    if (json_type(row) != JSON_OBJECT || !json_valid(row))
        return false;
    if (usage_rows_read_row(row, a, out))
        return true;
    if (!json_at(row, "data.message", &inner) || !usage_rows_read_row(inner, a, out))
        return false;
    out->message = SLICE("");
    return true;
}
