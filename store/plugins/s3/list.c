#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "store/plugins/s3/s3.h"

/* Three steps: the projects are the folders below the prefix; the names of all their parts are read, the projects in
 * parallel; and then the ends of the transcripts, newest first, many at a time. A row in the list needs one or two
 * small requests. */

enum {
    HEAD_PARTS = 8,
    TAIL_PARTS = 12,
    PIECES = HEAD_PARTS + TAIL_PARTS,
    HEAD_BYTES = 8 << 10, /* parts with this many bytes in all */
    TAIL_BYTES = 16 << 10,
    PIECE_BYTES = 32 << 10, /* read at each end of a part that is larger than two of them */
};

struct session {
    const char *project, *name;
    struct s3_part *part; /* borrowed from the listing's array */
    size_t parts;
    int64_t mtime_ms;
};

/* A part as it comes. */
struct found {
    const char *project, *session;
    struct s3_part part;
};

struct listing {
    struct s3 *s3;
    struct reprise_plugin_call *call;
    struct reprise_plugin_query query;
    const char *only; /* its session; NULL: all */
    struct arena a;
    const char **project; /* the wanted ones */
    size_t projects;
    bool folders; /* there is some project */
    struct found *found;
    size_t n, cap;
    struct s3_part *part; /* those of found, in order */
    struct session *session;
    size_t sessions;
    reprise_plugin_session_fn *fn;
    void *arg;
};

static void listing_fini(struct listing *l)
{
    free(l->found);
    free(l->part);
    free(l->session);
    arena_fini(&l->a);
}

/* ---- names ---- */

static int s3_add_project(const struct s3_object *o, void *arg)
{
    struct listing *l = arg;
    const char *name =
        o->folder ? arena_format(&l->a, "%.*s", (int)strlen(o->name) - 1, o->name) : NULL;

    l->folders |= o->folder;
    if (!o->folder ||
        (name && (!s3_is_plain(name, false) || !server_wants(&l->query, slice_of(name)))))
        return 0;
    return !name || !arena_add_text(&l->a, &l->project, &l->projects, name);
}

/* The location of the requested objects. */
struct place {
    struct listing *l;
    const char *project; /* NULL: of any */
};

/* Cuts the first folder off a name. It is usually the same one as before. */
static const char *next_folder(struct listing *l, const char **rest, const char *before)
{
    const char *slash = strchr(*rest, '/');
    struct slice name = { *rest, slash ? (size_t)(slash - *rest) : 0 };

    *rest = slash ? slash + 1 : "";
    return before && slice_eq(name, slice_of(before)) ? before : arena_copy(&l->a, name).p;
}

/* PROJECT/SESSION/PART; deeper are the parts of sub-agents. */
static int s3_add_part(const struct s3_object *o, void *arg)
{
    const struct place *place = arg;
    struct listing *l = place->l;
    const struct found *last = l->n ? &l->found[l->n - 1] : NULL;
    const char *rest = o->name, *project = place->project, *session = l->only;

    if (!project)
        project = next_folder(l, &rest, last ? last->project : NULL);
    if (!place->project || !session)
        session = next_folder(l, &rest, last ? last->session : NULL);
    if (l->a.failed)
        return 1;
    if (o->folder || !rest[0] || strchr(rest, '/') || !s3_is_plain(project, false) ||
        !s3_is_plain(session, false) || (l->only && strcmp(session, l->only) != 0) ||
        !server_wants(&l->query, slice_of(project)))
        return 0;
    const char *name = arena_copy_text(&l->a, rest);

    if (!name || !array_reserve(l->found, l->cap, l->n + 1))
        return 1;
    l->found[l->n++] = (struct found){
        .project = project,
        .session = session,
        .part = { .name = name, .size = o->size, .modified_ms = o->modified_ms },
    };
    return 0;
}

static int find_parts(struct listing *l)
{
    struct s3_query projects = { .prefix = l->s3->prefix, .fn = s3_add_project, .arg = l };

    PLUGIN_TRY(s3_run_queries(l->s3, &projects, 1, l->call));
    if (!l->folders) { /* some servers do not report folders two levels down */
        struct place any = { l, NULL };
        struct s3_query all = { projects.prefix, .deep = true, .fn = s3_add_part, .arg = &any };

        return s3_run_queries(l->s3, &all, 1, l->call);
    }
    AUTO_FREE struct s3_query *q = calloc(l->projects + 1, sizeof *q);
    AUTO_FREE struct place *place = calloc(l->projects + 1, sizeof *place);

    if (!q || !place)
        return REPRISE_PLUGIN_NO_MEMORY;
    for (size_t i = 0; i < l->projects; i++) {
        const char *project = l->project[i], *only = l->only ? l->only : "";

        place[i] = (struct place){ l, project };
        q[i] = (struct s3_query){ .prefix = arena_format(&l->a, "%s%s/%s%s", l->s3->prefix, project,
                                                         only, l->only ? "/" : ""),
                                  .deep = !l->only,
                                  .fn = s3_add_part,
                                  .arg = &place[i] };
        if (!q[i].prefix)
            return REPRISE_PLUGIN_NO_MEMORY;
    }
    return s3_run_queries(l->s3, q, l->projects, l->call);
}

/* ---- sessions ---- */

static int s3_compare_keys(const struct found *x, const struct found *y)
{
    int order = strcmp(x->project, y->project);

    return order ? order : strcmp(x->session, y->session);
}

static int s3_by_key(const void *x, const void *y)
{
    return s3_compare_keys(x, y);
}

static int s3_newest_first(const void *x, const void *y)
{
    const struct session *p = x, *q = y;

    return (p->mtime_ms < q->mtime_ms) - (p->mtime_ms > q->mtime_ms);
}

static void s3_add_session(struct listing *l, size_t from, size_t to)
{
    struct session *s = &l->session[l->sessions];
    int64_t stored_ms = 0;

    *s = (struct session){ .project = l->found[from].project,
                           .name = l->found[from].session,
                           .part = &l->part[from],
                           .parts = to - from };
    for (size_t i = from; i < to; i++) {
        int64_t ms = s3_part_ms(l->found[i].part.name);

        l->part[i] = l->found[i].part;
        ms = ms < 0 ? l->part[i].modified_ms : ms;
        s->mtime_ms = ms > s->mtime_ms ? ms : s->mtime_ms;
        stored_ms = l->part[i].modified_ms > stored_ms ? l->part[i].modified_ms : stored_ms;
    }
    s3_parts_sort(s->part, s->parts);
    l->sessions += l->query.since_ms <= (stored_ms > s->mtime_ms ? stored_ms : s->mtime_ms);
}

static int make_sessions(struct listing *l)
{
    size_t from = 0;

    l->part = calloc(l->n + 1, sizeof *l->part);
    l->session = calloc(l->n + 1, sizeof *l->session);
    if (!l->part || !l->session)
        return REPRISE_PLUGIN_NO_MEMORY;
    if (l->n > 1)
        qsort(l->found, l->n, sizeof *l->found, s3_by_key);
    for (size_t i = 1; i <= l->n; i++)
        if (i == l->n || s3_compare_keys(&l->found[i], &l->found[from]) != 0) {
            s3_add_session(l, from, i);
            from = i;
        }
    if (l->sessions > 1)
        qsort(l->session, l->sessions, sizeof *l->session, s3_newest_first);
    return REPRISE_PLUGIN_OK;
}

/* ---- their ends ---- */

enum piece_kind { WHOLE, FRONT, BACK };

/* The ends of one session, as far as they have arrived. */
struct ends {
    const struct session *session;
    struct arena a;
    struct s3_request request[PIECES];
    enum piece_kind kind[PIECES];
    size_t heads, n, begun, arrived; /* pieces; the heads come first */
    bool all;                        /* the pieces are the session */
};

static void s3_add_piece(struct ends *x, const struct s3 *s3, const struct s3_part *part,
                         enum piece_kind kind)
{
    const struct session *s = x->session;
    struct s3_request *r = &x->request[x->n];

    x->kind[x->n++] = kind;
    r->key = arena_format(&x->a, "%s%s/%s/%s", s3->prefix, s->project, s->name, part->name);
    /* Not the last bytes by their number, which some servers take for the first ones. */
    if (kind == FRONT)
        r->range = arena_format(&x->a, "0-%d", PIECE_BYTES - 1);
    else if (kind == BACK)
        r->range =
            arena_format(&x->a, "%" PRId64 "-%" PRId64, part->size - PIECE_BYTES, part->size - 1);
    r->expected = kind == WHOLE ? part->size : PIECE_BYTES;
    r->owner = x;
}

static bool s3_is_large(const struct s3_part *part)
{
    return part->size > 2 * PIECE_BYTES;
}

/* The name of a part has the time of its first row. Its last rows may be newer. */
static int64_t newest_ms(const struct session *s, struct slice rows)
{
    struct slice row;
    int64_t ms = TIME_NONE;
    bool torn;

    while (ms == TIME_NONE && slice_last_line(&rows, &row, &torn))
        ms = s3_row_ms(row);
    return ms > s->mtime_ms ? ms : s->mtime_ms;
}

/* If the first row is too long to be in the head, the program reads the rows itself. */
static int s3_hand_session(const struct listing *l, const struct ends *x)
{
    struct buf text[2] = { { 0 } };
    int rc = REPRISE_PLUGIN_OK;

    for (size_t i = 0; i < x->n && !rc; i++) {
        const struct s3_request *r = &x->request[i];
        struct slice rest = buf_slice(&r->answer), line;
        const bool cut = r->status == 206;
        bool torn;

        if (r->status == 404) /* it is being deleted */
            continue;
        rc = s3_check(r, l->call);

        /* The rows of a piece; if it is cut, only the whole ones. */
        if (!rc && cut && x->kind[i] == BACK)
            (void)slice_line(&rest, &line, &torn);
        while (!rc && slice_line(&rest, &line, &torn))
            if (!(cut && x->kind[i] == FRONT && torn))
                rc = text_add_row(&text[!x->all && i >= x->heads], line);
    }
    bool empty = text[0].n == 0;
    const struct reprise_plugin_session s = {
        .size = sizeof s,
        .project = x->session->project,
        .session = x->session->name,
        .mtime_ms = newest_ms(x->session, buf_slice(&text[text[1].n > 0])),
        .head = { text[0].p, text[0].n },
        .tail = { text[1].p, empty ? 0 : text[1].n },
        .whole = x->all && !empty,
    };

    if (!rc && l->fn(&s, l->arg))
        rc = REPRISE_PLUGIN_STOPPED;
    buf_fini(&text[0]);
    buf_fini(&text[1]);
    return rc;
}

static void ends_free(struct ends *x)
{
    for (size_t i = 0; i < PIECES; i++)
        buf_fini(&x->request[i].answer);
    arena_fini(&x->a);
    free(x);
}

/* The sessions with requests in progress. */
struct window {
    struct ends *ends[S3_REQUESTS + 1];
    size_t n, requests, next, end; /* next and end: sessions */
};

static int s3_fill(const struct listing *l, struct s3_conn *c, struct window *w)
{
    int rc = REPRISE_PLUGIN_OK;

    while (!rc && w->requests < S3_REQUESTS) {
        struct ends *x = w->n ? w->ends[w->n - 1] : NULL;

        if (!x || x->begun == x->n) {
            if (w->next == w->end)
                break;
            x = calloc(1, sizeof *x);
            if (!x)
                return REPRISE_PLUGIN_NO_MEMORY;
            x->session = &l->session[w->next++];
            w->ends[w->n++] = x;

            /* The first parts and the last ones, up to as many bytes as describe a session. */
            const struct session *s = x->session;
            size_t head = 0, tail = s->parts;
            int64_t bytes = 0;

            x->all = true;
            while (head < s->parts && head < HEAD_PARTS && bytes < HEAD_BYTES) {
                const struct s3_part *part = &s->part[head++];

                bytes += part->size;
                x->all &= !s3_is_large(part);
                s3_add_piece(x, l->s3, part, s3_is_large(part) ? FRONT : WHOLE);
            }
            x->heads = x->n;
            for (bytes = 0; tail > head && s->parts - tail < TAIL_PARTS && bytes < TAIL_BYTES;)
                bytes += s->part[--tail].size;
            if (tail == s->parts && s->parts && s3_is_large(&s->part[s->parts - 1]))
                s3_add_piece(x, l->s3, &s->part[s->parts - 1], BACK); /* the end of the only part */
            x->all &= tail == head;
            for (; tail < s->parts; tail++) {
                x->all &= !s3_is_large(&s->part[tail]);
                s3_add_piece(x, l->s3, &s->part[tail], s3_is_large(&s->part[tail]) ? BACK : WHOLE);
            }

            if (x->a.failed)
                return REPRISE_PLUGIN_NO_MEMORY;
        }
        rc = s3_start(c, &x->request[x->begun++]);
        w->requests++;
    }
    return rc;
}

static int on_piece(const struct listing *l, struct window *w, struct ends *x)
{
    int rc = REPRISE_PLUGIN_OK;

    w->requests--;
    if (++x->arrived < x->n)
        return rc;
    rc = s3_hand_session(l, x);
    for (size_t i = 0; i < w->n; i++)
        if (w->ends[i] == x) {
            memmove(&w->ends[i], &w->ends[i + 1], (w->n - i - 1) * sizeof *w->ends);
            w->n--;
            break;
        }
    ends_free(x);
    return rc;
}

int s3_list(void *store, const struct reprise_plugin_query *query, reprise_plugin_session_fn *fn,
            void *arg, struct reprise_plugin_call *call)
{
    CLEANUP(listing_fini)
    struct listing l = { .s3 = store,
                         .call = call,
                         .query = server_query(query),
                         .only = query->session,
                         .fn = fn,
                         .arg = arg };
    AUTO_CONNECTION *c = NULL;

    if (!l.only || s3_is_plain(l.only, false))
        PLUGIN_TRY(find_parts(&l));
    PLUGIN_TRY(make_sessions(&l));
    PLUGIN_TRY(s3_acquire(store, &c));

    struct window w = { .end = l.sessions };
    struct s3_request *done;
    int rc;

    if (l.query.newest && l.query.newest < w.end)
        w.end = l.query.newest;

    do {
        rc = s3_fill(&l, c, &w);
        if (!rc)
            rc = s3_finish(c, l.call, &done);
        if (!rc && done)
            rc = on_piece(&l, &w, done->owner);
    } while (!rc && done);
    s3_conn_stop(c); /* before the requests go */
    while (w.n)
        ends_free(w.ends[--w.n]);
    for (size_t i = w.end; i < l.sessions && !rc; i++)
        rc = server_list_bare(l.session[i].project, l.session[i].name, l.session[i].mtime_ms, l.fn,
                              l.arg);
    return rc;
}
