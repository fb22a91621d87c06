#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "store/systems/plugin/plugin.h"

/* The 14 rules that the agent's SDK demands of a session store (its public conformance suite), and two of ours, through the table of
 * a plug-in; the rules for members that are NULL are left out and named.
 *   usage: conformance PLUGIN PATH RUN [OPTION=VALUE...]    RUN: a word that is new each time: names begin with it
 * Prints "N rules" and ends with 1 after the first that fails. */

enum { MOST = 64 };

struct suite {
    const struct reprise_plugin *t;
    void *store;
    const char *run;
    struct arena a;
    int rule;
};

static struct reprise_plugin_call call;

static int never(void *arg)
{
    (void)arg;
    return 0;
}

#define EXPECT(holds)                                                                              \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            printf("rule %d, line %d: %s (%s)\n", s->rule, __LINE__, #holds, call.error);          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- calls ---- */

static const char *name(struct suite *s, const char *text)
{
    return arena_format(&s->a, "%s-%d-%s", s->run, s->rule, text);
}

static struct reprise_plugin_key key(struct suite *s, const char *project, const char *session,
                                     const char *subpath)
{
    return (struct reprise_plugin_key){ name(s, project), name(s, session), subpath };
}

static void append(struct suite *s, struct reprise_plugin_key k, const char *const rows[])
{
    struct reprise_plugin_text text[MOST];
    size_t n = 0;
    int64_t last;

    for (; rows[n]; n++)
        text[n] = (struct reprise_plugin_text){ rows[n], strlen(rows[n]) };
    EXPECT(s->t->append(s->store, &k, -1, text, n, &last, &call) == REPRISE_PLUGIN_OK);
}

#define APPEND(s, k, ...) append(s, k, (const char *const[]){ __VA_ARGS__, NULL })

struct loaded {
    struct suite *s;
    const char *row[MOST];
    int64_t at[MOST];
    size_t n;
};

static int load_row(int64_t position, struct reprise_plugin_text row, void *arg)
{
    struct loaded *l = arg;
    struct suite *s = l->s;

    EXPECT(l->n < MOST);
    EXPECT(l->n == 0 || position > l->at[l->n - 1]);
    l->at[l->n] = position;
    l->row[l->n++] = arena_copy(&s->a, (struct slice){ row.p, row.n }).p;
    return 0;
}

static struct loaded load(struct suite *s, struct reprise_plugin_key k, int64_t after)
{
    struct loaded l = { .s = s };

    EXPECT(s->t->read(s->store, &k, after, load_row, &l, &call) == REPRISE_PLUGIN_OK);
    return l;
}

/* Equal as JSON values, which is all that a store promises. */
static bool same(struct suite *s, const char *x, const char *y)
{
    struct id128 p = row_contents(slice_of(x), &s->a), q = row_contents(slice_of(y), &s->a);

    return id128_eq(p, q);
}

static void holds(struct suite *s, struct reprise_plugin_key k, const char *const rows[])
{
    struct loaded l = load(s, k, 0);
    size_t n = 0;

    for (; rows[n]; n++) {
        EXPECT(n < l.n);
        EXPECT(same(s, l.row[n], rows[n]));
    }
    EXPECT(l.n == n);
}

#define HOLDS(s, k, ...) holds(s, k, (const char *const[]){ __VA_ARGS__, NULL })

static void is_empty(struct suite *s, struct reprise_plugin_key k)
{
    EXPECT(load(s, k, 0).n == 0);
}

struct found {
    struct suite *s;
    const char *project; /* only of this one */
    const char *id[MOST];
    size_t n;
};

static int find_session(const struct reprise_plugin_session *x, void *arg)
{
    struct found *f = arg;
    struct suite *s = f->s;

    if (strcmp(x->project, f->project) != 0)
        return 0;
    EXPECT(x->mtime_ms > 1000000000000 && x->mtime_ms < 10000000000000);
    EXPECT(f->n < MOST);
    f->id[f->n++] = arena_copy_text(&s->a, x->session);
    return 0;
}

static struct found list(struct suite *s, const char *project, const char *session)
{
    struct found f = { .s = s, .project = name(s, project) };
    const struct reprise_plugin_query q = { .size = sizeof q,
                                            .session = session ? name(s, session) : NULL };

    EXPECT(s->t->list(s->store, &q, find_session, &f, &call) == REPRISE_PLUGIN_OK);
    return f;
}

static bool has(const struct found *f, const char *id)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->id[i], id) == 0)
            return true;
    return false;
}

static int find_name(const char *text, void *arg)
{
    struct found *f = arg;

    f->id[f->n++] = arena_copy_text(&f->s->a, text);
    return f->n == MOST;
}

static struct found subkeys(struct suite *s, struct reprise_plugin_key k)
{
    struct found f = { .s = s };

    EXPECT(s->t->subkeys(s->store, &k, find_name, &f, &call) == REPRISE_PLUGIN_OK);
    return f;
}

static void delete_key(struct suite *s, struct reprise_plugin_key k)
{
    EXPECT(s->t->remove(s->store, &k, &call) == REPRISE_PLUGIN_OK);
}

/* ---- the rules ---- */

#define ONE "{\"type\":\"x\",\"n\":1}"
#define SUB1 "subagents/agent-1"
#define SUB2 "subagents/agent-2"

static void order_is_kept(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);

    APPEND(s, k, "{\"type\":\"x\",\"uuid\":\"b\",\"n\":1}",
           "{\"type\":\"x\",\"uuid\":\"a\",\"n\":2}");
    HOLDS(s, k, "{\"uuid\":\"b\",\"type\":\"x\",\"n\":1}",
          "{\"n\":2,\"type\":\"x\",\"uuid\":\"a\"}");
}

static void an_unknown_key_has_nothing(struct suite *s)
{
    APPEND(s, key(s, "proj", "sess", NULL), ONE);
    is_empty(s, key(s, "proj", "nope", NULL));
    is_empty(s, key(s, "proj", "sess", "nope"));
}

static void calls_keep_their_order(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);

    APPEND(s, k, "[1]");
    APPEND(s, k, "[2]", "[3]");
    APPEND(s, k, "[4]");
    HOLDS(s, k, "[1]", "[2]", "[3]", "[4]");
    EXPECT(load(s, k, load(s, k, 0).at[1]).n == 2); /* after a position */
}

static void an_empty_append_changes_nothing(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);
    int64_t last;

    APPEND(s, k, ONE);
    EXPECT(s->t->append(s->store, &k, -1, NULL, 0, &last, &call) == REPRISE_PLUGIN_OK);
    HOLDS(s, k, ONE);
}

static void subpaths_are_apart(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL), sub = key(s, "proj", "sess", SUB1);

    APPEND(s, k, "[1]");
    APPEND(s, sub, "[2]");
    HOLDS(s, k, "[1]");
    HOLDS(s, sub, "[2]");
}

static void projects_are_apart(struct suite *s)
{
    APPEND(s, key(s, "A", "s1", NULL), "[\"A\"]");
    APPEND(s, key(s, "B", "s1", NULL), "[\"B\"]");
    HOLDS(s, key(s, "A", "s1", NULL), "[\"A\"]");
    HOLDS(s, key(s, "B", "s1", NULL), "[\"B\"]");
    EXPECT(list(s, "A", NULL).n == 1 && list(s, "B", NULL).n == 1);
    EXPECT(list(s, "A", "s1").n == 1 && list(s, "B", "s1").n == 1);
}

static void sessions_are_listed(struct suite *s)
{
    APPEND(s, key(s, "proj", "a", NULL), ONE);
    APPEND(s, key(s, "proj", "b", NULL), ONE);
    APPEND(s, key(s, "other", "c", NULL), ONE);
    struct found f = list(s, "proj", NULL);

    EXPECT(f.n == 2 && has(&f, name(s, "a")) && has(&f, name(s, "b")));
    EXPECT(list(s, "never", NULL).n == 0);
}

static void subpaths_are_not_listed(struct suite *s)
{
    APPEND(s, key(s, "proj", "main", NULL), ONE);
    APPEND(s, key(s, "proj", "main", SUB1), ONE);
    APPEND(s, key(s, "proj", "agent-alone", SUB1), ONE);
    EXPECT(list(s, "proj", NULL).n == 1);
}

static void what_is_deleted_is_gone(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);

    delete_key(s, key(s, "proj", "never", NULL));
    APPEND(s, k, ONE);
    delete_key(s, k);
    is_empty(s, k);
}

static void a_session_takes_its_subpaths_along(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);

    APPEND(s, k, ONE);
    APPEND(s, key(s, "proj", "sess", SUB1), ONE);
    APPEND(s, key(s, "proj", "sess", SUB2), ONE);
    APPEND(s, key(s, "proj", "sess2", NULL), ONE);
    APPEND(s, key(s, "other", "sess", NULL), ONE);
    delete_key(s, k);
    is_empty(s, k);
    is_empty(s, key(s, "proj", "sess", SUB1));
    is_empty(s, key(s, "proj", "sess", SUB2));
    HOLDS(s, key(s, "proj", "sess2", NULL), ONE);
    HOLDS(s, key(s, "other", "sess", NULL), ONE);
    EXPECT(subkeys(s, k).n == 0);
    struct found f = list(s, "proj", NULL);

    EXPECT(!has(&f, name(s, "sess")));
}

static void a_subpath_is_deleted_alone(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);

    APPEND(s, k, ONE);
    APPEND(s, key(s, "proj", "sess", SUB1), ONE);
    APPEND(s, key(s, "proj", "sess", SUB2), ONE);
    delete_key(s, key(s, "proj", "sess", SUB1));
    is_empty(s, key(s, "proj", "sess", SUB1));
    HOLDS(s, key(s, "proj", "sess", SUB2), ONE);
    HOLDS(s, k, ONE);
    struct found f = subkeys(s, k);

    EXPECT(f.n == 1 && strcmp(f.id[0], SUB2) == 0);
}

static void subkeys_are_those_of_the_session(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);

    APPEND(s, k, ONE);
    APPEND(s, key(s, "proj", "sess", SUB1), ONE, ONE);
    APPEND(s, key(s, "proj", "sess", SUB2), ONE);
    APPEND(s, key(s, "proj", "other", "subagents/agent-x"), ONE);
    struct found f = subkeys(s, k);

    EXPECT(f.n == 2 && has(&f, SUB1) && has(&f, SUB2));
}

static void subkeys_do_not_name_the_main_transcript(struct suite *s)
{
    APPEND(s, key(s, "proj", "sess", NULL), ONE);
    EXPECT(subkeys(s, key(s, "proj", "sess", NULL)).n == 0);
    EXPECT(subkeys(s, key(s, "proj", "never", NULL)).n == 0);
}

/* A session as a list shows it. */
struct summary {
    struct suite *s;
    const char *id, *rows; /* of both ends */
    int64_t mtime_ms;
};

static int take_summary(const struct reprise_plugin_session *x, void *arg)
{
    struct summary *found = arg;

    if (strcmp(x->session, found->id) == 0) {
        found->rows = arena_format(&found->s->a, "%.*s%.*s", (int)x->head.n, x->head.p,
                                   (int)x->tail.n, x->tail.p);
        found->mtime_ms = x->mtime_ms;
    }
    return 0;
}

static struct summary summary(struct suite *s, const char *session)
{
    struct summary found = { .s = s, .id = name(s, session) };
    const struct reprise_plugin_query q = { .size = sizeof q, .session = NULL };

    EXPECT(s->t->list(s->store, &q, take_summary, &found, &call) == REPRISE_PLUGIN_OK);
    return found;
}

/* Rule 14 is about summaries that a store keeps beside its rows, which none of the reference adapters does. A list that
 * brings the ends of sessions along has to keep the same promises. */
static void a_list_brings_what_is_new(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "summ", NULL);
    struct summary first, second, third;

    APPEND(s, k, "{\"type\":\"custom-title\",\"customTitle\":\"first\"}");
    first = summary(s, "summ");
    EXPECT(first.rows && (!first.rows[0] || strstr(first.rows, "first")));
    APPEND(s, k, "{\"type\":\"custom-title\",\"customTitle\":\"second\"}");
    second = summary(s, "summ");
    EXPECT(!first.rows[0] || strstr(second.rows, "second"));
    EXPECT(second.mtime_ms >= first.mtime_ms);
    APPEND(s, key(s, "proj", "summ", SUB1),
           "{\"type\":\"custom-title\",\"customTitle\":\"sub-agent\"}");
    third = summary(s, "summ");
    EXPECT(strcmp(third.rows, second.rows) == 0 && third.mtime_ms == second.mtime_ms);
    delete_key(s, k);
    EXPECT(!summary(s, "summ").rows);
}

/* What the interface promises beyond the 14. */
static void pages_and_positions(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL);
    const struct reprise_plugin_text four = { "[4]", 3 };
    struct loaded all, page = { .s = s }, older = { .s = s }, least = { .s = s };
    int64_t last = 0;

    APPEND(s, k, "[1]", "[2]", "[3]");
    all = load(s, k, 0);
    EXPECT(s->t->append(s->store, &k, all.at[1], &four, 1, &last, &call) == REPRISE_PLUGIN_CHANGED);
    EXPECT(s->t->append(s->store, &k, 0, &four, 1, &last, &call) == REPRISE_PLUGIN_CHANGED);
    EXPECT(s->t->append(s->store, &k, all.at[2], &four, 1, &last, &call) == REPRISE_PLUGIN_OK);
    EXPECT(last == 0 || last > all.at[2]);
    EXPECT(s->t->page(s->store, &k, 0, 2, 1000, load_row, &page, &call) == REPRISE_PLUGIN_OK);
    EXPECT(page.n == 2 && same(s, page.row[0], "[3]") && same(s, page.row[1], "[4]"));
    EXPECT(s->t->page(s->store, &k, page.at[0], 8, 1000, load_row, &older, &call) ==
           REPRISE_PLUGIN_OK);
    EXPECT(older.n == 2 && same(s, older.row[0], "[1]") && same(s, older.row[1], "[2]"));
    EXPECT(s->t->page(s->store, &k, 0, 8, 1, load_row, &least, &call) == REPRISE_PLUGIN_OK);
    EXPECT(least.n == 1 && same(s, least.row[0], "[4]"));
}

static void a_row_is_found_by_its_uuid(struct suite *s)
{
    struct reprise_plugin_key k = key(s, "proj", "sess", NULL),
                              a = key(s, "proj", "sess", "subagents/agent-a");
    int64_t at = -1;
    struct loaded all;

    if (!s->t->find)
        return;
    APPEND(s, k, "{\"uuid\":\"u1\"}", "{\"uuid\":\"u2\"}", "{\"uuid\":\"u1\"}", "{\"uuid\":7}");
    all = load(s, k, 0);
    EXPECT(s->t->find(s->store, &k, "u1", &at, &call) == REPRISE_PLUGIN_OK && at == all.at[2]);
    EXPECT(s->t->find(s->store, &k, "u2", &at, &call) == REPRISE_PLUGIN_OK && at == all.at[1]);
    EXPECT(s->t->find(s->store, &k, "u3", &at, &call) == REPRISE_PLUGIN_OK && at == 0);
    EXPECT(s->t->find(s->store, &a, "u1", &at, &call) == REPRISE_PLUGIN_OK && at == 0);
}

static const struct rule {
    void (*run)(struct suite *s);
    bool deletes, names;
} rules[] = {
    { order_is_kept, false, false },
    { an_unknown_key_has_nothing, false, false },
    { calls_keep_their_order, false, false },
    { an_empty_append_changes_nothing, false, false },
    { subpaths_are_apart, false, false },
    { projects_are_apart, false, false },
    { sessions_are_listed, false, false },
    { subpaths_are_not_listed, false, false },
    { what_is_deleted_is_gone, true, false },
    { a_session_takes_its_subpaths_along, true, true },
    { a_subpath_is_deleted_alone, true, true },
    { subkeys_are_those_of_the_session, false, true },
    { subkeys_do_not_name_the_main_transcript, false, true },
    { a_list_brings_what_is_new, true, false },
    { pages_and_positions, false, false },
    { a_row_is_found_by_its_uuid, false, false },
};

static void open_store(struct suite *s, int argc, char **argv)
{
    struct reprise_plugin_option option[MOST];
    size_t n = 0;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    s->t = library ? dlsym(library, REPRISE_PLUGIN_SYMBOL) : NULL;
    if (!s->t) {
        printf("%s\n", dlerror());
        exit(1);
    }
    for (int i = 4; i < argc && n < MOST; i++) {
        char *equals = strchr(argv[i], '=');

        EXPECT(equals);
        *equals = '\0';
        option[n++] = (struct reprise_plugin_option){ argv[i], equals + 1 };
    }
    EXPECT(s->t->open(argv[2], option, n, &call, &s->store) == REPRISE_PLUGIN_OK);
}

int main(int argc, char **argv)
{
    struct suite suite = { .run = argc > 3 ? argv[3] : "" }, *s = &suite;

    call =
        (struct reprise_plugin_call){ .size = sizeof call, .stopped = never, .timeout_ms = 10000 };
    if (argc < 4)
        return 2;
    open_store(s, argc, argv);
    for (s->rule = 1; s->rule <= (int)(sizeof rules / sizeof *rules); s->rule++) {
        const struct rule *r = &rules[s->rule - 1];

        if ((r->deletes && !s->t->remove) || (r->names && !s->t->subkeys) || !s->t->append)
            printf("rule %d is left out: the store cannot\n", s->rule);
        else
            r->run(s);
    }
    s->t->close(s->store);
    arena_fini(&s->a);
    printf("%zu rules\n", sizeof rules / sizeof *rules);
    return 0;
}
