#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/plugins/s3/s3.h"

enum { MS_DIGITS = 13, AHEAD_BYTES = 64 << 20 };

/* ---- names ---- */

static int by_name(const void *x, const void *y)
{
    const struct s3_part *p = x, *q = y;

    return strcmp(p->name, q->name);
}

void s3_parts_sort(struct s3_part *part, size_t n)
{
    int64_t ms = 0;

    if (n > 1)
        qsort(part, n, sizeof *part, by_name);
    for (size_t i = 0; i < n; i++) {
        int64_t own = s3_part_ms(part[i].name);

        ms = own > ms ? own : ms;
        part[i].ms = ms;
    }
}

/* ---- which there are ---- */

static int s3_parts_add_part(const struct s3_object *o, void *arg)
{
    struct s3_parts *p = arg;
    const char *name = o->folder || strchr(o->name, '/') ? NULL : arena_copy_text(&p->a, o->name);

    if (!name)
        return p->a.failed;
    if (!array_reserve(p->part, p->cap, p->n + 1))
        return 1;
    p->part[p->n++] =
        (struct s3_part){ .name = name, .size = o->size, .modified_ms = o->modified_ms };
    return 0;
}

int s3_parts_load(struct s3 *s3, const char *folder, int64_t ms, struct s3_parts *out,
                  struct reprise_plugin_call *call)
{
    struct s3_query q = { .prefix = folder, .fn = s3_parts_add_part, .arg = out };

    *out = (struct s3_parts){ .folder = folder };
    if (ms > 0)
        q.after = arena_format(&out->a, "%spart-%0*lld", folder, MS_DIGITS, (long long)ms);
    if (out->a.failed)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(s3_run_queries(s3, &q, 1, call));
    s3_parts_sort(out->part, out->n);
    return REPRISE_PLUGIN_OK;
}

void s3_parts_fini(struct s3_parts *p)
{
    free(p->part);
    arena_fini(&p->a);
}

/* ---- their rows ---- */

struct reading {
    const struct s3_parts *p;
    struct s3_conn *c;
    struct reprise_plugin_call *call;
    s3_row_fn *fn;
    void *arg;
    struct s3_request *request; /* a ring of S3_REQUESTS: part i is in i % S3_REQUESTS */
    bool arrived[S3_REQUESTS];
    int64_t ms, line; /* the last row's time and line */
};

static bool s3_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int s3_hand_rows(struct reading *r, const struct s3_part *part, struct slice rest)
{
    struct slice line;
    bool torn;

    if (part->ms != r->ms)
        r->line = 0;
    r->ms = part->ms;
    while (slice_line(&rest, &line, &torn)) {
        if (++r->line >= S3_LINES)
            return text_fail(r->call, REPRISE_PLUGIN_FAILED, "one of its parts has too many rows");
        while (line.n && s3_is_blank(line.p[0]))
            line = (struct slice){ line.p + 1, line.n - 1 };
        while (line.n && s3_is_blank(line.p[line.n - 1]))
            line.n--;
        if (text_is_row(line) && r->fn(r->ms << S3_LINE_BITS | r->line, line, r->arg))
            return REPRISE_PLUGIN_STOPPED;
    }
    return REPRISE_PLUGIN_OK;
}

/* Uses as many parallel requests as allowed, unless these would be too many bytes. */
static int s3_read_range(struct reading *r, size_t from, size_t to, struct arena *a)
{
    size_t asked = from;
    int64_t bytes = 0;

    for (size_t i = from; i < to; i++) {
        struct s3_request *done;

        for (; asked < to && asked - i < S3_REQUESTS && (asked == i || bytes < AHEAD_BYTES);
             asked++) {
            const struct s3_part *part = &r->p->part[asked];
            const char *key = arena_format(a, "%s%s", r->p->folder, part->name);

            r->request[asked % S3_REQUESTS] =
                (struct s3_request){ .key = key, .expected = part->size };
            PLUGIN_TRY(key ? s3_start(r->c, &r->request[asked % S3_REQUESTS])
                           : REPRISE_PLUGIN_NO_MEMORY);
            bytes += part->size;
        }
        while (!r->arrived[i % S3_REQUESTS]) {
            PLUGIN_TRY(s3_finish(r->c, r->call, &done));
            r->arrived[done - r->request] = true;
        }
        bytes -= r->p->part[i].size;

        struct s3_request *request = &r->request[i % S3_REQUESTS];
        int rc = request->status == 404 ? text_fail(r->call, REPRISE_PLUGIN_FAILED,
                                                    "the session was deleted while it was read")
                                        : s3_check(request, r->call);

        if (!rc)
            rc = s3_hand_rows(r, &r->p->part[i], buf_slice(&request->answer));
        buf_fini(&request->answer);
        r->arrived[i % S3_REQUESTS] = false;
        PLUGIN_TRY(rc);
    }
    return REPRISE_PLUGIN_OK;
}

int s3_parts_read(struct s3 *s3, const struct s3_parts *p, size_t from, size_t to, s3_row_fn *fn,
                  void *arg, struct reprise_plugin_call *call)
{
    struct s3_request request[S3_REQUESTS] = { { .method = NULL } };
    struct reading r = { .p = p, .call = call, .fn = fn, .arg = arg, .request = request, .ms = -1 };
    AUTO_ARENA a = { 0 };

    if (from >= to)
        return REPRISE_PLUGIN_OK;
    PLUGIN_TRY(s3_acquire(s3, &r.c));
    int rc = s3_read_range(&r, from, to, &a);

    s3_release(r.c);
    for (size_t i = 0; i < S3_REQUESTS; i++)
        buf_fini(&request[i].answer);
    return rc;
}
