#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/plugins/s3/s3.h"

/* Programs that push the same session at the same time must not add its rows twice. S3 cannot add a part on the condition
 * that no other one was added meanwhile, but it can on the condition that the name is free. So a part that must follow
 * another one gets a name that depends only on that part and on the time of its own first row: programs that continue at
 * the same place choose the same name, and one of them gets it.
 *
 * A program that names its parts by the clock, as the agent's SDK does, may add rows meanwhile. So the names are read again
 * afterwards. If it has added the same rows, or other rows before ours, or if the part that ours must follow is gone, our
 * part is removed, and we start again after a pause of random length. The part is kept if other rows were added after it,
 * because these may depend on ours: duplicate rows are better than rows in the wrong order. For the same reason the part
 * is restored if such rows are found after it was removed.
 *
 * If the server does not know the condition, all of this remains but the names: they would replace each other. */

enum { PAUSE_MOST_MS = 400, YOUNG_MS = 5000, SETTLE_MS = 500 };

struct appending {
    struct s3 *s3;
    struct reprise_plugin_call *call;
    const char *folder;
    int64_t after;
    const struct buf *body;
    struct s3_parts before; /* from the newest row on */
    const char *key;        /* our part's key */
    int64_t ms;             /* in its name */
    int64_t began_ms;       /* when it was named */
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

static int s3_append_check(struct appending *x)
{
    struct newest newest = { x->after, x->after == 0, false };
    int64_t from = x->after < 0 ? time_clock_ms(CLOCK_REALTIME) : x->after >> S3_LINE_BITS;

    if (is_known(x))
        return REPRISE_PLUGIN_OK;
    PLUGIN_TRY(s3_parts_load(x->s3, x->folder, from, &x->before, x->call));
    if (x->after < 0)
        return REPRISE_PLUGIN_OK;
    if (x->before.n) {
        const struct s3_part *part = &x->before.part[x->before.n - 1];
        int64_t added = part->ms > part->modified_ms ? part->ms : part->modified_ms;
        int64_t age = time_clock_ms(CLOCK_REALTIME) - added;

        /* The program that added it may be about to remove it. */
        if (age >= 0 && age < YOUNG_MS) {
            poll(NULL, 0, SETTLE_MS);
            s3_parts_fini(&x->before);
            PLUGIN_TRY(s3_parts_load(x->s3, x->folder, from, &x->before, x->call));
        }
    }
    int rc = s3_parts_read(x->s3, &x->before, 0, x->before.n, note_row, &newest, x->call);

    if (newest.more || (!rc && !newest.found))
        return REPRISE_PLUGIN_CHANGED;
    return rc;
}

/* ---- the part ---- */

static unsigned random_number(void)
{
    unsigned number = 0;

    if (getentropy(&number, sizeof number))
        number = (unsigned)server_now_ms();
    return number;
}

/* The name is that of a clock if the part need not follow another one, or if it could replace one. */
static bool is_chained(const struct appending *x)
{
    return x->after >= 0 && x->s3->conditions != S3_CONDITIONS_NONE;
}

static int name_part(struct appending *x)
{
    const struct s3_part *newest = x->before.n ? &x->before.part[x->before.n - 1] : NULL;
    char name[S3_PART_NAME];
    int rc =
        is_chained(x) ? s3_part_chain(newest, buf_slice(x->body), name) : REPRISE_PLUGIN_NOT_FOUND;

    x->began_ms = time_clock_ms(CLOCK_REALTIME);
    if (rc == REPRISE_PLUGIN_NOT_FOUND)
        rc = s3_part_now(x->s3, newest, random_number(), name);
    if (rc == REPRISE_PLUGIN_CHANGED)
        return text_fail(x->call, REPRISE_PLUGIN_FAILED,
                         "its newest part has the last possible time");
    if (rc)
        return rc;
    x->ms = s3_part_ms(name);
    x->key = arena_format(&x->a, "%s%s", x->folder, name);
    return x->key ? REPRISE_PLUGIN_OK : REPRISE_PLUGIN_NO_MEMORY;
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

static int s3_put(struct appending *x, long *status)
{
    struct s3_request r = { .method = "PUT", .key = x->key, .put = x->body };
    int rc = s3_run(x->s3, &r, x->call);

    *status = r.status;
    if (!rc && r.status != 412 && (r.status != 501 || x->s3->conditions == S3_CONDITIONS_NONE))
        rc = s3_check(&r, x->call);
    buf_fini(&r.answer);
    return rc;
}

/* Deletes an object, which another program may have deleted. */
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

/* Rows without an id, such as those of a mode, may be equal and yet be different rows. */
static int note_shared(int64_t position, struct slice row, void *arg)
{
    struct sharing *x = arg;
    struct slice uuid;

    (void)position;
    x->found =
        json_get(row, "uuid", &uuid) && slice_find(x->body->p, x->body->n, row.p, row.n) != NULL;
    return x->found;
}

/* The parts of other programs, relative to ours. */
struct neighbours {
    bool disputed; /* ours should not be where it is */
    bool followed; /* rows rest on ours */
};

static int look_around(struct appending *x, struct neighbours *out)
{
    const char *own = x->key + strlen(x->folder), *last = NULL;
    bool twice = false; /* the same rows precede ours */
    struct s3_parts now;
    int rc = s3_parts_load(x->s3, x->folder, x->after >> S3_LINE_BITS, &now, x->call);

    *out = (struct neighbours){ false, false };
    for (size_t i = 0; i < now.n && !rc; i++) {
        const char *name = now.part[i].name;

        if (strcmp(name, own) == 0 || (last && s3_part_continues(name, last))) {
            out->followed |= last != NULL;
            last = name;
        } else if (!has_part(&x->before, name)) {
            /* The author of this part did not see ours. */
            const struct s3_part *part = &now.part[i];
            bool first = strcmp(part->name, x->key + strlen(x->folder)) < 0;

            /* A part that cannot be read is being removed, as ours may have to be. */
            struct sharing sharing = { x->body, false };
            bool shares = s3_parts_read(x->s3, &now, i, i + 1, note_shared, &sharing, x->call) ||
                          sharing.found;

            bool older = first || (is_chained(x) && part->ms < x->began_ms);

            out->followed |= !shares && !older;
            out->disputed |= shares || older;
            twice |= shares && first;
        }
    }
    for (size_t i = 0; i < x->before.n && !rc; i++)
        out->disputed |= !has_part(&now, x->before.part[i].name);
    out->followed &= !twice;
    s3_parts_fini(&now);
    return rc;
}

static int verify(struct appending *x)
{
    struct neighbours around;
    long status;
    int rc = look_around(x, &around);

    if (rc || around.followed || !around.disputed)
        return rc;
    rc = delete_object(x->s3, x->key, x->call);
    if (!rc)
        rc = look_around(x, &around);
    if (!rc && around.followed) {
        rc = s3_put(x, &status);
        return !rc && status == 412 ? REPRISE_PLUGIN_CHANGED : rc;
    }
    poll(NULL, 0, (int)(random_number() % PAUSE_MOST_MS));
    return rc ? rc : REPRISE_PLUGIN_CHANGED;
}

static int add_part(struct appending *x)
{
    s3_parts_fini(&x->before);
    PLUGIN_TRY(s3_append_check(x));
    PLUGIN_TRY(name_part(x));

    /* 412: the name is taken. If an answer was lost, that part is ours, and its rows are found in
     * it. */
    long status;

    PLUGIN_TRY(s3_put(x, &status));
    if (status == 501) {
        x->s3->conditions = S3_CONDITIONS_NONE;
        PLUGIN_TRY(name_part(x));
        PLUGIN_TRY(s3_put(x, &status));
    }
    if (status == 412)
        return REPRISE_PLUGIN_CHANGED;
    if (x->after < 0 || x->s3->conditions != S3_CONDITIONS_UNKNOWN)
        return REPRISE_PLUGIN_OK;

    /* Once for each server: some ignore the condition, so the part is added again to see if it is refused. If it is
     * not, ours may have replaced another part of the same name, whose author finds that out in the same way. */
    PLUGIN_TRY(s3_put(x, &status));
    x->s3->conditions = status == 412 ? S3_CONDITIONS_KEPT : S3_CONDITIONS_NONE;
    if (status == 412)
        return REPRISE_PLUGIN_OK;
    PLUGIN_TRY(delete_object(x->s3, x->key, x->call));
    return REPRISE_PLUGIN_CHANGED;
}

static int append_body(struct appending *x, size_t rows, int64_t *last)
{
    const int conditions = x->s3->conditions;
    int rc = add_part(x);

    /* The part that showed that the server ignores conditions was removed again. */
    if (rc == REPRISE_PLUGIN_CHANGED && conditions == S3_CONDITIONS_UNKNOWN &&
        x->s3->conditions == S3_CONDITIONS_NONE)
        rc = add_part(x);
    PLUGIN_TRY(rc);
    if (x->after >= 0)
        PLUGIN_TRY(verify(x));
    *last = x->ms << S3_LINE_BITS | (int64_t)rows;

    struct s3 *s3 = x->s3;
    const char *key = x->key;
    int64_t position = *last;
    char *copy = strdup(key);

    pthread_mutex_lock(&s3->lock);
    free(s3->known_part);
    s3->known_part = copy;
    s3->known_position = position;
    pthread_mutex_unlock(&s3->lock);

    return REPRISE_PLUGIN_OK;
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
