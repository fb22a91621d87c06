#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "store/plugins/s3/s3.h"

/* S3 cannot add a part on the condition that no other one was added meanwhile. So a part is added, and then the names
 * are read again. If another program has added the same rows, or other rows before ours, or if the part that ours must
 * follow is gone, our part is removed, and we start again after a pause of random length. The part is kept if another
 * program has added other rows after it, because these may depend on ours: duplicate rows are better than rows in the
 * wrong order. For the same reason the part is restored if such rows are found after it was removed. */

enum { PAUSE_MOST_MS = 400, YOUNG_MS = 5000, SETTLE_MS = 500, HEX_DIGITS = 6 };
#define MS_MOST INT64_C(9999999999999)

struct appending {
    struct s3 *s3;
    struct reprise_plugin_call *call;
    const char *folder;
    int64_t after;
    const struct buf *body;
    struct s3_parts before; /* from the newest row on */
    struct arena a;
};

/* ---- before ---- */

/* The part that was newest last time need not be read again; a newer one would be found afterwards. */
static bool is_known(struct appending *x)
{
    struct s3 *s3 = x->s3;
    size_t n = strlen(x->folder);
    bool known;

    pthread_mutex_lock(&s3->lock);
    known = x->after > 0 && s3->known_part && s3->known_position == x->after &&
            strncmp(s3->known_part, x->folder, n) == 0 && !strchr(s3->known_part + n, '/');
    const char *name = known ? arena_copy_text(&x->a, s3->known_part + n) : NULL;

    pthread_mutex_unlock(&s3->lock);
    x->before.part = name ? calloc(1, sizeof *x->before.part) : NULL;
    if (!x->before.part)
        return false;
    x->before.part[0] = (struct s3_part){ .name = name, .ms = x->after >> S3_LINE_BITS };
    x->before.n = 1;
    return true;
}

/* Determines whether the row at `after` exists and is the newest. */
struct newest {
    int64_t after;
    bool found, more;
};

static int note_row(int64_t position, struct slice row, void *arg)
{
    struct newest *x = arg;

    (void)row;
    x->found |= position == x->after;
    x->more |= position > x->after;
    return x->more;
}

/* The program that added it may be about to remove it. */
static bool is_young(const struct s3_part *part)
{
    int64_t age = text_epoch_ms() - part->ms;

    return age >= 0 && age < YOUNG_MS;
}

static int check(struct appending *x)
{
    struct newest newest = { x->after, x->after == 0, false };
    int64_t from = x->after < 0 ? text_epoch_ms() : x->after >> S3_LINE_BITS;

    if (is_known(x))
        return REPRISE_PLUGIN_OK;
    int rc = s3_parts_load(x->s3, x->folder, from, &x->before, x->call);

    if (rc || x->after < 0)
        return rc;
    if (x->before.n && is_young(&x->before.part[x->before.n - 1])) {
        poll(NULL, 0, SETTLE_MS);
        s3_parts_fini(&x->before);
        rc = s3_parts_load(x->s3, x->folder, from, &x->before, x->call);
        if (rc)
            return rc;
    }
    rc = s3_parts_read(x->s3, &x->before, 0, x->before.n, note_row, &newest, x->call);
    if (newest.more || (!rc && !newest.found))
        return REPRISE_PLUGIN_CHANGED;
    return rc;
}

/* ---- the part ---- */

/* A time after the newest part, even if another machine's clock is ahead of this one. */
static int64_t choose_ms(struct appending *x)
{
    int64_t newest = x->before.n ? x->before.part[x->before.n - 1].ms : 0, now = text_epoch_ms();

    pthread_mutex_lock(&x->s3->lock);
    now = now > newest ? now : newest + 1;
    now = now > x->s3->last_ms ? now : x->s3->last_ms + 1;
    if (now <= MS_MOST)
        x->s3->last_ms = now;
    pthread_mutex_unlock(&x->s3->lock);
    return now;
}

static unsigned random_number(void)
{
    unsigned number = 0;

    if (getentropy(&number, sizeof number))
        number = (unsigned)server_now_ms();
    return number;
}

static void pause_randomly(void)
{
    poll(NULL, 0, (int)(random_number() % PAUSE_MOST_MS));
}

static int make_body(const struct reprise_plugin_text *row, size_t rows, struct buf *out,
                     struct reprise_plugin_call *call)
{
    for (size_t i = 0; i < rows; i++) {
        size_t before = out->n;

        if (text_add_row(out, (struct slice){ row[i].p, row[i].n }))
            return REPRISE_PLUGIN_NO_MEMORY;
        if (out->n == before) {
            call->row = i;
            return text_fail(call, REPRISE_PLUGIN_BAD_ROW, "it is not JSON");
        }
    }
    return REPRISE_PLUGIN_OK;
}

/* 412: the name is taken. If an answer was lost, that part is ours, and its rows are found in it. */
static int put(struct appending *x, const char *key)
{
    struct s3_request r = { .method = "PUT", .key = key, .put = x->body };
    int rc = s3_run(x->s3, &r, x->call);

    if (!rc && r.status == 501 && !x->s3->no_conditions) {
        x->s3->no_conditions = true;
        rc = s3_run(x->s3, &r, x->call);
    }
    if (!rc)
        rc = r.status == 412 ? REPRISE_PLUGIN_CHANGED : s3_check(&r, x->call);
    buf_fini(&r.answer);
    return rc;
}

static int delete_object(struct s3 *s3, const char *key, struct reprise_plugin_call *call)
{
    struct s3_request r = { .method = "DELETE", .key = key };
    int rc = s3_run(s3, &r, call);

    if (!rc && r.status != 404)
        rc = s3_check(&r, call);
    buf_fini(&r.answer);
    return rc;
}

/* ---- afterwards ---- */

static bool has_part(const struct s3_parts *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->part[i].name, name) == 0)
            return true;
    return false;
}

struct sharing {
    const struct buf *body;
    bool found;
};

static int note_shared(int64_t position, struct slice row, void *arg)
{
    struct sharing *x = arg;

    (void)position;
    x->found = slice_find(x->body->p, x->body->n, row.p, row.n) != NULL;
    return x->found;
}

/* A part that cannot be read is being removed, as ours may have to be. */
static bool shares_rows(struct appending *x, const struct s3_parts *p, size_t i)
{
    struct sharing sharing = { x->body, false };

    return s3_parts_read(x->s3, p, i, i + 1, note_shared, &sharing, x->call) || sharing.found;
}

/* The parts of other programs, relative to ours. */
struct neighbours {
    bool disputed; /* ours should not be where it is */
    bool followed; /* rows rest on ours */
};

static int look_around(struct appending *x, const char *key, struct neighbours *out)
{
    const char *own = key + strlen(x->folder);
    bool twice = false; /* the same rows precede ours */
    struct s3_parts now;
    int rc = s3_parts_load(x->s3, x->folder, x->after >> S3_LINE_BITS, &now, x->call);

    *out = (struct neighbours){ false, false };
    for (size_t i = 0; i < now.n && !rc; i++) {
        const char *name = now.part[i].name;
        int order = strcmp(name, own);

        if (order == 0 || has_part(&x->before, name))
            continue;
        bool shares = shares_rows(x, &now, i);

        out->followed |= !shares && order > 0;
        out->disputed |= shares || order < 0;
        twice |= shares && order < 0;
    }
    for (size_t i = 0; i < x->before.n && !rc; i++)
        out->disputed |= !has_part(&now, x->before.part[i].name);
    out->followed &= !twice;
    s3_parts_fini(&now);
    return rc;
}

static int verify(struct appending *x, const char *key)
{
    struct neighbours around;
    int rc = look_around(x, key, &around);

    if (rc || around.followed || !around.disputed)
        return rc;
    rc = delete_object(x->s3, key, x->call);
    if (!rc)
        rc = look_around(x, key, &around);
    if (!rc && around.followed)
        return put(x, key);
    pause_randomly();
    return rc ? rc : REPRISE_PLUGIN_CHANGED;
}

static void remember(struct s3 *s3, const char *key, int64_t position)
{
    char *copy = strdup(key);

    pthread_mutex_lock(&s3->lock);
    free(s3->known_part);
    s3->known_part = copy;
    s3->known_position = position;
    pthread_mutex_unlock(&s3->lock);
}

static int append_body(struct appending *x, size_t rows, int64_t *last)
{
    int rc = check(x);
    int64_t ms = rc ? 0 : choose_ms(x);

    if (rc)
        return rc;
    if (ms > MS_MOST)
        return text_fail(x->call, REPRISE_PLUGIN_FAILED,
                         "its newest part has the last possible time");
    const char *key = arena_format(&x->a, "%spart-%013lld-%0*x.jsonl", x->folder, (long long)ms,
                                   HEX_DIGITS, random_number() & 0xffffffU);

    rc = key ? put(x, key) : REPRISE_PLUGIN_NO_MEMORY;
    if (!rc && x->after >= 0)
        rc = verify(x, key);
    if (!rc) {
        *last = ms << S3_LINE_BITS | (int64_t)rows;
        remember(x->s3, key, *last);
    }
    return rc;
}

int s3_append(void *store, const struct reprise_plugin_key *key, int64_t after,
              const struct reprise_plugin_text *row, size_t rows, int64_t *last,
              struct reprise_plugin_call *call)
{
    struct buf body = { 0 };
    struct appending x = { .s3 = store, .call = call, .after = after, .body = &body };
    int rc = make_body(row, rows, &body, call);

    *last = 0;
    x.folder = s3_folder(store, key, &x.a);
    if (!rc && !x.folder)
        rc = REPRISE_PLUGIN_NO_MEMORY;
    if (!rc && (!s3_is_plain(key->project, false) || !s3_is_plain(key->session, false) ||
                (key->subpath && !s3_is_plain(key->subpath, true))))
        rc = text_fail(call, REPRISE_PLUGIN_FAILED, "its id cannot be a key");
    if (!rc && rows > 0)
        rc = append_body(&x, rows, last);
    buf_fini(&body);
    s3_parts_fini(&x.before);
    arena_fini(&x.a);
    return rc;
}

/* ---- deleting ---- */

struct names {
    struct arena a;
    const char **name;
    size_t n;
};

static int add_name(const struct s3_object *o, void *arg)
{
    struct names *names = arg;

    return !o->folder && !arena_add_text(&names->a, &names->name, &names->n, o->name);
}

/* Several at a time. */
static int delete_names(struct s3_conn *c, const char *folder, const struct names *names,
                        bool below, struct arena *a, struct reprise_plugin_call *call)
{
    struct s3_request request[S3_REQUESTS] = { { .method = NULL } }, *done = NULL;
    size_t next = 0, used = 0;
    int rc = REPRISE_PLUGIN_OK;

    do {
        for (; !rc && next < names->n && (used < S3_REQUESTS || done); next++) {
            const char *name = names->name[next];

            if ((strchr(name, '/') != NULL) != below)
                continue;
            struct s3_request *r = done ? done : &request[used++];

            done = NULL;
            r->method = "DELETE";
            r->key = arena_format(a, "%s%s", folder, name);
            rc = r->key ? s3_start(c, r) : REPRISE_PLUGIN_NO_MEMORY;
        }
        if (!rc)
            rc = s3_finish(c, call, &done);
        if (!rc && done && done->status != 404)
            rc = s3_check(done, call);
    } while (!rc && done);
    for (size_t i = 0; i < S3_REQUESTS; i++)
        buf_fini(&request[i].answer);
    return rc;
}

/* Sub-agents come first: if this is interrupted, the session is still listed and can be removed again. */
int s3_remove(void *store, const struct reprise_plugin_key *key, struct reprise_plugin_call *call)
{
    struct names names = { .n = 0 };
    struct s3_conn *c = NULL;
    struct s3_query q = { .prefix = s3_folder(store, key, &names.a),
                          .deep = !key->subpath,
                          .fn = add_name,
                          .arg = &names };
    int rc = q.prefix ? s3_run_queries(store, &q, 1, call) : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc)
        rc = s3_acquire(store, call, &c);
    if (!rc)
        rc = delete_names(c, q.prefix, &names, true, &names.a, call);
    if (!rc)
        rc = delete_names(c, q.prefix, &names, false, &names.a, call);
    if (c)
        s3_release(store, c);
    arena_fini(&names.a);
    return rc;
}
