#include <stdio.h>
#include <string.h>

#include "store/systems/plugin/conform.h"

/* ---- names and expectations ---- */

const char *conform_name(struct conform *c, const char *text)
{
    const char *name = arena_format(&c->arena, "%s-%d-%s", c->run, c->rule, text);

    if (!name)
        conform_fail(c, "memory", ERR_NOMEM_TEXT);
    return name;
}

struct reprise_plugin_key conform_key(struct conform *c, const char *project, const char *session,
                                      const char *subpath)
{
    return (struct reprise_plugin_key){ conform_name(c, project), conform_name(c, session),
                                        subpath };
}

struct reprise_plugin_key conform_main(struct conform *c)
{
    return conform_key(c, "proj", "sess", NULL);
}

static const char *conform_code_name(int code)
{
    static const char *const names[] = { "OK",      "FAILED",  "NOT_FOUND", "REFUSED",
                                         "CHANGED", "BAD_ROW", "STOPPED",   "NO_MEMORY" };

    return code >= 0 && (size_t)code < COUNT_OF(names) ? names[code] : "no code of the interface";
}

void conform_expect_code(struct conform *c, int want, int code)
{
    c->call.error[REPRISE_PLUGIN_ERROR - 1] = '\0';
    if (code != want)
        conform_fail(
            c, arena_format(&c->arena, "%s returns %s", c->shared->call, conform_code_name(want)),
            "%s%s%s", conform_code_name(code), c->call.error[0] ? ": " : "", c->call.error);
}

void conform_expect_count(struct conform *c, const char *what, size_t want, size_t n)
{
    if (n != want)
        conform_fail(c, arena_format(&c->arena, "%zu %s", want, what), "%zu", n);
}

/* Equal as JSON values, which is all that a store promises. */
bool conform_same(struct conform *c, struct slice x, struct slice y)
{
    return id128_eq(row_contents(x, &c->arena), row_contents(y, &c->arena));
}

void conform_expect_row(struct conform *c, const char *want, struct slice got)
{
    if (!conform_same(c, slice_of(want), got))
        conform_fail(c, arena_format(&c->arena, "the row %.200s", want), "%.*s",
                     got.n < 200 ? (int)got.n : 200, got.p);
}

/* ---- calls ---- */

/* Names the key to the process that cleans up, before anything is written to it. */
static void conform_note(struct conform *c, const struct reprise_plugin_key *k)
{
    struct conform_shared *s = c->shared;
    const char *sub = k->subpath ? k->subpath : "";

    for (int i = 0; i < s->keys; i++)
        if (strcmp(s->key[i].project, k->project) == 0 &&
            strcmp(s->key[i].session, k->session) == 0 && strcmp(s->key[i].subpath, sub) == 0)
            return;
    if (s->keys == CONFORM_KEYS)
        conform_fail(c, "fewer keys", "too many");
    struct conform_key *to = &s->key[s->keys];

    snprintf(to->project, sizeof to->project, "%s", k->project);
    snprintf(to->session, sizeof to->session, "%s", k->session);
    snprintf(to->subpath, sizeof to->subpath, "%s", sub);
    s->keys++;
}

int conform_append_texts(struct conform *c, const struct reprise_plugin_key *k, int64_t after,
                         const struct reprise_plugin_text *row, size_t n, int64_t *last)
{
    conform_note(c, k);
    *last = 0;
    return CONFORM_CALL(c, append, k, after, row, n, last);
}

int conform_append(struct conform *c, const struct reprise_plugin_key *k, int64_t after,
                   const char *row, int64_t *last)
{
    const struct reprise_plugin_text text = { row, strlen(row) };

    return conform_append_texts(c, k, after, &text, 1, last);
}

void conform_append_rows(struct conform *c, struct reprise_plugin_key k, const char *const rows[])
{
    struct reprise_plugin_text text[CONFORM_MOST];
    size_t n = 0;
    int64_t last;

    for (; rows[n]; n++)
        text[n] = (struct reprise_plugin_text){ rows[n], strlen(rows[n]) };
    conform_expect_code(c, REPRISE_PLUGIN_OK, conform_append_texts(c, &k, -1, text, n, &last));
}

int conform_take_row(int64_t position, struct reprise_plugin_text row, void *arg)
{
    struct conform_rows *r = arg;
    struct conform *c = r->c;

    if (position <= (r->n ? r->at[r->n - 1] : 0))
        conform_fail(c, "positions that are greater than 0 and grow", "%lld after %lld",
                     (long long)position, (long long)(r->n ? r->at[r->n - 1] : 0));
    if (r->n == r->room) {
        const size_t room = r->room ? 2 * r->room : CONFORM_MOST;
        struct slice *rows = arena_alloc(&c->arena, room * sizeof *rows);
        int64_t *at = arena_alloc(&c->arena, room * sizeof *at);

        if (!rows || !at)
            conform_fail(c, "memory", ERR_NOMEM_TEXT);
        for (size_t i = 0; i < r->n; i++) {
            rows[i] = r->row[i];
            at[i] = r->at[i];
        }
        r->row = rows;
        r->at = at;
        r->room = room;
    }
    r->at[r->n] = position;
    r->row[r->n++] = arena_copy(&c->arena, (struct slice){ row.p, row.n });
    return r->n == r->stop_after;
}

struct conform_rows conform_load(struct conform *c, struct reprise_plugin_key k, int64_t after)
{
    struct conform_rows r = { .c = c };

    conform_take_row(1, (struct reprise_plugin_text){ "", 0 },
                     &r); /* so that the arrays are never NULL */
    r.n = 0;
    conform_expect_code(c, REPRISE_PLUGIN_OK,
                        CONFORM_CALL(c, read, &k, after, conform_take_row, &r));
    return r;
}

void conform_expect_rows(struct conform *c, struct reprise_plugin_key k, const char *const rows[])
{
    struct conform_rows r = conform_load(c, k, 0);
    size_t n = 0;

    while (rows[n])
        n++;
    conform_expect_count(c, n == 1 ? "row" : "rows", n, r.n);
    for (size_t i = 0; i < n; i++)
        conform_expect_row(c, rows[i], r.row[i]);
}

void conform_expect_none(struct conform *c, struct reprise_plugin_key k)
{
    conform_expect_count(c, "rows", 0, conform_load(c, k, 0).n);
}

static void conform_add_name(struct conform_names *f, const char *name)
{
    if (f->n == CONFORM_MOST)
        conform_fail(f->c, "each name once", "%s again and again", name);
    f->id[f->n++] = arena_copy_text(&f->c->arena, name);
}

static int conform_take_session(const struct reprise_plugin_session *x, void *arg)
{
    struct conform_names *f = arg;

    if (strcmp(x->project, f->project) != 0)
        return 0;
    if (x->mtime_ms < 1000000000000 || x->mtime_ms > 10000000000000)
        conform_fail(f->c, "mtime_ms in milliseconds since 1970", "%lld", (long long)x->mtime_ms);
    conform_add_name(f, x->session);
    return 0;
}

struct conform_names conform_list(struct conform *c, const char *project, const char *session)
{
    struct conform_names f = { .c = c, .project = conform_name(c, project) };
    const struct reprise_plugin_query q = { .size = sizeof q,
                                            .session = session ? conform_name(c, session) : NULL,
                                            .project = &f.project,
                                            .projects = 1 };

    conform_expect_code(c, REPRISE_PLUGIN_OK, CONFORM_CALL(c, list, &q, conform_take_session, &f));
    return f;
}

bool conform_has(const struct conform_names *f, const char *id)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->id[i], id) == 0)
            return true;
    return false;
}

void conform_expect_name(const struct conform_names *f, const char *id)
{
    if (!conform_has(f, id))
        conform_fail(f->c, arena_format(&f->c->arena, "the name %s", id), "%s",
                     f->n ? f->id[0] : "nothing");
}

static int conform_take_name(const char *text, void *arg)
{
    conform_add_name(arg, text);
    return 0;
}

struct conform_names conform_subkeys(struct conform *c, struct reprise_plugin_key k)
{
    struct conform_names f = { .c = c };

    conform_expect_code(c, REPRISE_PLUGIN_OK, CONFORM_CALL(c, subkeys, &k, conform_take_name, &f));
    return f;
}

void conform_remove(struct conform *c, struct reprise_plugin_key k)
{
    conform_expect_code(c, REPRISE_PLUGIN_OK, CONFORM_CALL(c, remove, &k));
}
