#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "store/systems/plugin/conform.h"

/* The 14 rules of the conformance suite that the agent's SDK has for session stores, what the interface promises beyond
 * them, and what a transfer meets: batches, cuts, others that write, rows of every kind. */

enum { CONFORM_BATCH = 250, CONFORM_BATCHES = 4, CONFORM_WRITERS = 4 };

#define ONE "{\"type\":\"x\",\"n\":1}"
#define SUB1 "subagents/agent-1"
#define SUB2 "subagents/agent-2"

#define APPEND(c, k, ...) conform_append_rows(c, k, (const char *const[]){ __VA_ARGS__, NULL })
#define HOLDS(c, k, ...) conform_expect_rows(c, k, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- the 14 rules ---- */

static void order_is_kept(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, "{\"type\":\"x\",\"uuid\":\"b\",\"n\":1}",
           "{\"type\":\"x\",\"uuid\":\"a\",\"n\":2}");
    HOLDS(c, k, "{\"uuid\":\"b\",\"type\":\"x\",\"n\":1}",
          "{\"n\":2,\"type\":\"x\",\"uuid\":\"a\"}");
}

static void an_unknown_key_has_nothing(struct conform *c)
{
    APPEND(c, conform_main(c), ONE);
    conform_expect_none(c, conform_key(c, "proj", "nope", NULL));
    conform_expect_none(c, conform_key(c, "proj", "sess", "nope"));
}

static void calls_keep_their_order(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, "{\"n\":1}");
    APPEND(c, k, "{\"n\":2}", "{\"n\":3}");
    APPEND(c, k, "{\"n\":4}");
    HOLDS(c, k, "{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}");
    conform_expect_count(c, "rows after the position of the second", 2,
                         conform_load(c, k, conform_load(c, k, 0).at[1]).n);
}

static void an_empty_append_changes_nothing(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);
    int64_t last;

    APPEND(c, k, ONE);
    conform_expect_code(c, REPRISE_PLUGIN_OK, conform_append_texts(c, &k, -1, NULL, 0, &last));
    HOLDS(c, k, ONE);
}

static void subpaths_are_apart(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c), sub = conform_key(c, "proj", "sess", SUB1);

    APPEND(c, k, "{\"n\":1}");
    APPEND(c, sub, "{\"n\":2}");
    HOLDS(c, k, "{\"n\":1}");
    HOLDS(c, sub, "{\"n\":2}");
}

static void projects_are_apart(struct conform *c)
{
    static const char *const project[] = { "A", "B" };

    APPEND(c, conform_key(c, "A", "s1", NULL), "{\"in\":\"A\"}");
    APPEND(c, conform_key(c, "B", "s1", NULL), "{\"in\":\"B\"}");
    HOLDS(c, conform_key(c, "A", "s1", NULL), "{\"in\":\"A\"}");
    HOLDS(c, conform_key(c, "B", "s1", NULL), "{\"in\":\"B\"}");
    for (int i = 0; i < 2; i++) {
        conform_expect_count(c, "session of a project", 1, conform_list(c, project[i], NULL).n);
        conform_expect_count(c, "session of this id in a project", 1,
                             conform_list(c, project[i], "s1").n);
    }
}

static void sessions_are_listed(struct conform *c)
{
    APPEND(c, conform_key(c, "proj", "a", NULL), ONE);
    APPEND(c, conform_key(c, "proj", "b", NULL), ONE);
    APPEND(c, conform_key(c, "other", "c", NULL), ONE);
    const struct conform_names f = conform_list(c, "proj", NULL);

    conform_expect_count(c, "sessions of the project", 2, f.n);
    conform_expect_name(&f, conform_name(c, "a"));
    conform_expect_name(&f, conform_name(c, "b"));
    conform_expect_count(c, "sessions of a project that is not there", 0,
                         conform_list(c, "never", NULL).n);
}

static void subpaths_are_not_listed(struct conform *c)
{
    APPEND(c, conform_key(c, "proj", "main", NULL), ONE);
    APPEND(c, conform_key(c, "proj", "main", SUB1), ONE);
    APPEND(c, conform_key(c, "proj", "agent-alone", SUB1), ONE);
    conform_expect_count(c, "session, the one with a main transcript", 1,
                         conform_list(c, "proj", NULL).n);
}

static void what_is_deleted_is_gone(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    conform_remove(c, conform_key(c, "proj", "never", NULL));
    APPEND(c, k, ONE);
    conform_remove(c, k);
    conform_expect_none(c, k);
}

static void a_session_takes_its_subpaths_along(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, ONE);
    APPEND(c, conform_key(c, "proj", "sess", SUB1), ONE);
    APPEND(c, conform_key(c, "proj", "sess", SUB2), ONE);
    APPEND(c, conform_key(c, "proj", "sess2", NULL), ONE);
    APPEND(c, conform_key(c, "other", "sess", NULL), ONE);
    conform_remove(c, k);
    conform_expect_none(c, k);
    conform_expect_none(c, conform_key(c, "proj", "sess", SUB1));
    conform_expect_none(c, conform_key(c, "proj", "sess", SUB2));
    HOLDS(c, conform_key(c, "proj", "sess2", NULL), ONE);
    HOLDS(c, conform_key(c, "other", "sess", NULL), ONE);
    conform_expect_count(c, "subpaths of the deleted session", 0, conform_subkeys(c, k).n);
    const struct conform_names f = conform_list(c, "proj", NULL);

    if (conform_has(&f, k.session))
        conform_fail(c, "the deleted session in no list", "it is listed");
}

static void a_subpath_is_deleted_alone(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, ONE);
    APPEND(c, conform_key(c, "proj", "sess", SUB1), ONE);
    APPEND(c, conform_key(c, "proj", "sess", SUB2), ONE);
    conform_remove(c, conform_key(c, "proj", "sess", SUB1));
    conform_expect_none(c, conform_key(c, "proj", "sess", SUB1));
    HOLDS(c, conform_key(c, "proj", "sess", SUB2), ONE);
    HOLDS(c, k, ONE);
    const struct conform_names f = conform_subkeys(c, k);

    conform_expect_count(c, "subpath that is left", 1, f.n);
    conform_expect_name(&f, SUB2);
}

static void subkeys_are_those_of_the_session(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, ONE);
    APPEND(c, conform_key(c, "proj", "sess", SUB1), ONE, ONE);
    APPEND(c, conform_key(c, "proj", "sess", SUB2), ONE);
    APPEND(c, conform_key(c, "proj", "other", "subagents/agent-x"), ONE);
    const struct conform_names f = conform_subkeys(c, k);

    conform_expect_count(c, "subpaths of the session", 2, f.n);
    conform_expect_name(&f, SUB1);
    conform_expect_name(&f, SUB2);
}

static void subkeys_do_not_name_the_main_transcript(struct conform *c)
{
    APPEND(c, conform_main(c), ONE);
    conform_expect_count(c, "subpaths of a session without any", 0,
                         conform_subkeys(c, conform_main(c)).n);
    conform_expect_count(c, "subpaths of a session that is not there", 0,
                         conform_subkeys(c, conform_key(c, "proj", "never", NULL)).n);
}

/* A session as a list shows it. */
struct conform_summary {
    struct conform *c;
    const char *id, *rows; /* of both ends; NULL: it is not listed */
    int64_t mtime_ms;
};

static int conform_take_summary(const struct reprise_plugin_session *x, void *arg)
{
    struct conform_summary *found = arg;

    if (strcmp(x->session, found->id) == 0) {
        found->rows =
            arena_format(&found->c->arena, "%.*s%.*s", (int)x->head.n, x->head.p ? x->head.p : "",
                         (int)x->tail.n, x->tail.p ? x->tail.p : "");
        found->mtime_ms = x->mtime_ms;
    }
    return 0;
}

static struct conform_summary conform_summary_of(struct conform *c)
{
    struct conform_summary found = { .c = c, .id = conform_name(c, "sess") };
    const char *project = conform_name(c, "proj");
    const struct reprise_plugin_query q = { .size = sizeof q, .project = &project, .projects = 1 };

    conform_expect_code(c, REPRISE_PLUGIN_OK,
                        CONFORM_CALL(c, list, &q, conform_take_summary, &found));
    return found;
}

static void conform_expect_title(const struct conform_summary *s, const char *title)
{
    if (!s->rows || (s->rows[0] && !strstr(s->rows, title)))
        conform_fail(s->c, arena_format(&s->c->arena, "the ends of the session with \"%s\"", title),
                     "%.200s", s->rows ? s->rows : "no such session");
}

/* Rule 14 is about summaries that a store keeps beside its rows, which none of the reference adapters does. A list that
 * brings the ends of sessions along has to keep the same promises. */
static void a_list_brings_what_is_new(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);
    struct conform_summary first, second, third;

    APPEND(c, k, "{\"type\":\"custom-title\",\"customTitle\":\"first\"}");
    first = conform_summary_of(c);
    conform_expect_title(&first, "first");
    APPEND(c, k, "{\"type\":\"custom-title\",\"customTitle\":\"second\"}");
    second = conform_summary_of(c);
    conform_expect_title(&second, "second");
    if (second.mtime_ms < first.mtime_ms)
        conform_fail(c, "a time that does not go back", "%lld after %lld",
                     (long long)second.mtime_ms, (long long)first.mtime_ms);
    APPEND(c, conform_key(c, "proj", "sess", SUB1),
           "{\"type\":\"custom-title\",\"customTitle\":\"sub-agent\"}");
    third = conform_summary_of(c);
    conform_expect_title(&third, "second");
    if (strcmp(third.rows, second.rows) != 0 || third.mtime_ms != second.mtime_ms)
        conform_fail(c, "a session that the rows of a sub-agent do not change", "%lld %.200s",
                     (long long)third.mtime_ms, third.rows);
    conform_remove(c, k);
    if (conform_summary_of(c).rows)
        conform_fail(c, "the deleted session in no list", "it is listed");
}

/* ---- what the interface promises beyond them ---- */

static void append_checks_the_newest_row(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);
    int64_t last;

    APPEND(c, k, "{\"n\":1}", "{\"n\":2}", "{\"n\":3}");
    const struct conform_rows all = conform_load(c, k, 0);

    conform_expect_code(c, REPRISE_PLUGIN_CHANGED,
                        conform_append(c, &k, all.at[1], "{\"n\":4}", &last));
    conform_expect_code(c, REPRISE_PLUGIN_CHANGED, conform_append(c, &k, 0, "{\"n\":4}", &last));
    conform_expect_code(c, REPRISE_PLUGIN_OK, conform_append(c, &k, all.at[2], "{\"n\":4}", &last));
    if (last != 0 && last <= all.at[2])
        conform_fail(c, "*last is 0, or the position of the new row", "%lld", (long long)last);
    HOLDS(c, k, "{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}");
    k = conform_key(c, "proj", "new", NULL);
    conform_expect_code(c, REPRISE_PLUGIN_OK, conform_append(c, &k, 0, ONE, &last));
    HOLDS(c, k, ONE);
}

static struct conform_rows conform_page(struct conform *c, int64_t before, size_t rows,
                                        size_t bytes)
{
    struct reprise_plugin_key k = conform_main(c);
    struct conform_rows r = conform_load(c, conform_key(c, "proj", "never", NULL), 0);

    conform_expect_code(c, REPRISE_PLUGIN_OK,
                        CONFORM_CALL(c, page, &k, before, rows, bytes, conform_take_row, &r));
    return r;
}

static void pages_go_back_from_the_end(struct conform *c)
{
    APPEND(c, conform_main(c), "{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}");
    const struct conform_rows newest = conform_page(c, 0, 2, 1000);

    conform_expect_count(c, "newest rows", 2, newest.n);
    conform_expect_row(c, "{\"n\":3}", newest.row[0]);
    conform_expect_row(c, "{\"n\":4}", newest.row[1]);
    const struct conform_rows older = conform_page(c, newest.at[0], 8, 1000);

    conform_expect_count(c, "rows before those", 2, older.n);
    conform_expect_row(c, "{\"n\":1}", older.row[0]);
    conform_expect_row(c, "{\"n\":2}", older.row[1]);
    const struct conform_rows least = conform_page(c, 0, 8, 1);

    conform_expect_count(c, "row, although one byte was asked for", 1, least.n);
    conform_expect_row(c, "{\"n\":4}", least.row[0]);
}

static void a_row_is_found_by_its_uuid(struct conform *c)
{
    static const struct {
        const char *uuid, *subpath;
        int at; /* -1: nowhere */
    } asked[] = { { "u1", NULL, 2 }, { "u2", NULL, 1 }, { "u3", NULL, -1 }, { "u1", SUB1, -1 } };

    APPEND(c, conform_main(c), "{\"uuid\":\"u1\"}", "{\"uuid\":\"u2\"}", "{\"uuid\":\"u1\"}",
           "{\"uuid\":7}");
    const struct conform_rows all = conform_load(c, conform_main(c), 0);

    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const struct reprise_plugin_key k = conform_key(c, "proj", "sess", asked[i].subpath);
        const int64_t want = asked[i].at < 0 ? 0 : all.at[asked[i].at];
        int64_t at = -1;

        conform_expect_code(c, REPRISE_PLUGIN_OK, CONFORM_CALL(c, find, &k, asked[i].uuid, &at));
        if (at != want)
            conform_fail(c, arena_format(&c->arena, "%s at %lld", asked[i].uuid, (long long)want),
                         "%lld", (long long)at);
    }
}

static void ids_compare_as_rows_do(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, "{\"type\":\"x\",\"uuid\":\"u1\",\"n\":1}", "{\"type\":\"x\",\"n\":2}");
    struct conform_rows r = conform_load(c, conform_key(c, "proj", "never", NULL), 0);

    conform_expect_code(c, REPRISE_PLUGIN_OK, CONFORM_CALL(c, ids, &k, conform_take_row, &r));
    conform_expect_count(c, "rows", 2, r.n);
    if (!conform_same(c, r.row[0], SLICE("{\"type\":\"x\",\"uuid\":\"u1\",\"n\":1}")))
        conform_expect_row(c, "{\"uuid\":\"u1\"}", r.row[0]);
    conform_expect_row(c, "{\"type\":\"x\",\"n\":2}", r.row[1]);
}

/* ---- transfers ---- */

/* Row number n of a large session. */
static struct reprise_plugin_text conform_numbered(struct conform *c, size_t n)
{
    const char *p =
        arena_format(&c->arena, "{\"type\":\"x\",\"uuid\":\"row-%zu\",\"text\":\"%0400zu\"}", n, n);

    if (!p)
        conform_fail(c, "memory", ERR_NOMEM_TEXT);
    return (struct reprise_plugin_text){ p, strlen(p) };
}

static void a_session_comes_in_batches(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);
    struct reprise_plugin_text row[CONFORM_BATCH];
    int64_t last = 0;

    for (size_t batch = 0; batch < CONFORM_BATCHES; batch++) {
        const int64_t before = last;

        for (size_t i = 0; i < CONFORM_BATCH; i++)
            row[i] = conform_numbered(c, batch * CONFORM_BATCH + i);
        conform_expect_code(c, REPRISE_PLUGIN_OK,
                            conform_append_texts(c, &k, before, row, CONFORM_BATCH, &last));
        const struct conform_rows added = conform_load(c, k, before);

        conform_expect_count(c, "rows that a batch added", CONFORM_BATCH, added.n);
        last = added.at[added.n - 1];
    }
    const struct conform_rows all = conform_load(c, k, 0);

    conform_expect_count(c, "rows", CONFORM_BATCH * CONFORM_BATCHES, all.n);
    for (size_t i = 0; i < all.n; i++)
        conform_expect_row(c, conform_numbered(c, i).p, all.row[i]);
}

static void a_cut_append_adds_all_or_nothing(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);
    struct reprise_plugin_text row[CONFORM_BATCH];
    int64_t last;

    APPEND(c, k, ONE);
    const int64_t before = conform_load(c, k, 0).at[0];

    for (size_t i = 0; i < CONFORM_BATCH; i++)
        row[i] = conform_numbered(c, i);
    c->cancelled = true;
    const int code = conform_append_texts(c, &k, before, row, CONFORM_BATCH, &last);

    c->cancelled = false;
    if (code != REPRISE_PLUGIN_STOPPED)
        conform_expect_code(c, REPRISE_PLUGIN_OK, code);
    const size_t n = conform_load(c, k, before).n;

    if (n != 0 && n != CONFORM_BATCH)
        conform_fail(c, "no row of the batch, or all", "%zu of %d", n, CONFORM_BATCH);
    if (n == 0)
        conform_expect_code(c, REPRISE_PLUGIN_OK,
                            conform_append_texts(c, &k, before, row, CONFORM_BATCH, &last));
    conform_expect_count(c, "rows after it was repeated", CONFORM_BATCH,
                         conform_load(c, k, before).n);
}

static void a_cut_read_stops(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, "{\"n\":1}", "{\"n\":2}", "{\"n\":3}");
    struct conform_rows r = conform_load(c, conform_key(c, "proj", "never", NULL), 0);

    r.stop_after = 2;
    conform_expect_code(c, REPRISE_PLUGIN_STOPPED,
                        CONFORM_CALL(c, read, &k, 0, conform_take_row, &r));
    conform_expect_count(c, "rows, after which the callback asked to stop", 2, r.n);
    HOLDS(c, k, "{\"n\":1}", "{\"n\":2}", "{\"n\":3}");
}

static void of_two_programs_one_appends(struct conform *c)
{
    struct reprise_plugin_key k = conform_main(c);
    void *mine = c->store, *other = NULL;
    int64_t last;

    APPEND(c, k, "{\"n\":1}");
    const int64_t before = conform_load(c, k, 0).at[0];

    conform_expect_code(c, REPRISE_PLUGIN_OK, conform_open(c, &other));
    c->store = other;
    conform_expect_count(c, "row that another program sees", 1, conform_load(c, k, 0).n);
    conform_expect_code(c, REPRISE_PLUGIN_OK, conform_append(c, &k, before, "{\"n\":2}", &last));
    c->store = mine;
    conform_expect_code(c, REPRISE_PLUGIN_CHANGED,
                        conform_append(c, &k, before, "{\"n\":3}", &last));
    HOLDS(c, k, "{\"n\":1}", "{\"n\":2}");
    conform_begin(c, "close");
    c->table->close(other);
}

struct conform_writer {
    struct conform *c;
    const struct reprise_plugin_key *key;
    struct reprise_plugin_call call;
    pthread_t thread;
    int number, code;
};

static void *conform_write_beside(void *arg)
{
    struct conform_writer *w = arg;
    int64_t last;

    for (int i = 0; i < 8 && !w->code; i++) {
        char row[64];
        const int n = snprintf(row, sizeof row, "{\"uuid\":\"%d-%d\"}", w->number, i);
        const struct reprise_plugin_text text = { row, (size_t)n };

        w->code = w->c->table->append(w->c->store, w->key, -1, &text, 1, &last, &w->call);
    }
    return NULL;
}

static void threads_append_at_once(struct conform *c)
{
    struct conform_writer w[CONFORM_WRITERS];
    struct reprise_plugin_key k = conform_main(c);

    APPEND(c, k, ONE);
    conform_begin(c, "append");
    for (int i = 0; i < CONFORM_WRITERS; i++) {
        w[i] = (struct conform_writer){ .c = c, .key = &k, .call = c->call, .number = i };
        if (pthread_create(&w[i].thread, NULL, conform_write_beside, &w[i]) != 0)
            conform_fail(c, "a thread", "none could be started");
    }
    for (int i = 0; i < CONFORM_WRITERS; i++)
        pthread_join(w[i].thread, NULL);
    for (int i = 0; i < CONFORM_WRITERS; i++) {
        memcpy(c->call.error, w[i].call.error, sizeof c->call.error);
        conform_expect_code(c, REPRISE_PLUGIN_OK, w[i].code);
    }
    conform_expect_count(c, "rows", 1 + 8 * CONFORM_WRITERS, conform_load(c, k, 0).n);
}

static void rows_of_every_kind_come_back(struct conform *c)
{
    enum { LARGE = 1 << 20 };
    struct reprise_plugin_key k = conform_main(c);
    char *large = arena_alloc(&c->arena, LARGE + 64);

    if (!large)
        conform_fail(c, "memory", ERR_NOMEM_TEXT);
    const int n = snprintf(large, 64, "{\"type\":\"x\",\"text\":\"");

    memset(large + n, 'x', LARGE);
    snprintf(large + n + LARGE, 64 - (size_t)n, "\"}");
    APPEND(c, k,
           "{\"type\":\"x\",\"text\":\"\\u00fc \\u20ac \\ud83d\\ude00 \xc3\xbc \xf0\x9f\x98\x80\"}",
           "{\"type\":\"x\",\"text\":\"a\\\"b\\\\c\\n\\t\\u001b\\/ '$1 %s ; --\"}",
           "{\"type\":\"x\",\"n\":[9007199254740993,-1,0.5,true,false,null,[],{}]}",
           "{\"type\":\"x\",\"a\":{\"b\":{\"c\":{\"d\":{\"e\":[[[[1]]]]}}}},\"\":\"\"}", large);
    HOLDS(c, k,
          "{\"type\":\"x\",\"text\":\"\\u00fc \\u20ac \\ud83d\\ude00 \xc3\xbc \xf0\x9f\x98\x80\"}",
          "{\"type\":\"x\",\"text\":\"a\\\"b\\\\c\\n\\t\\u001b/ '$1 %s ; --\"}",
          "{\"type\":\"x\",\"n\":[9007199254740993,-1,0.5,true,false,null,[],{}]}",
          "{\"type\":\"x\",\"a\":{\"b\":{\"c\":{\"d\":{\"e\":[[[[1]]]]}}}},\"\":\"\"}", large);
}

static void a_row_that_is_refused_is_named(struct conform *c)
{
    static const char *const hard[] = { "{\"text\":\"\\u0000\"}", "{\"text\":\"\\ud800\"}" };

    for (size_t i = 0; i < COUNT_OF(hard); i++) {
        const struct reprise_plugin_key k = conform_key(c, "proj", i ? "surrogate" : "nul", NULL);
        const struct reprise_plugin_text row[] = { { ONE, strlen(ONE) },
                                                   { hard[i], strlen(hard[i]) },
                                                   { ONE, strlen(ONE) } };
        int64_t last;

        c->call.row = SIZE_MAX;
        const int code = conform_append_texts(c, &k, 0, row, 3, &last);

        if (code != REPRISE_PLUGIN_BAD_ROW) {
            conform_expect_code(c, REPRISE_PLUGIN_OK, code);
            HOLDS(c, k, ONE, hard[i], ONE);
            continue;
        }
        if (c->call.row != 1)
            conform_fail(c, "call->row is 1 with BAD_ROW", "%zu", c->call.row);
        conform_expect_none(c, k);
    }
}

const struct conform_rule conform_rules[] = {
    { 1, CONFORM_APPEND, "rows are read in the order of one append", order_is_kept },
    { 2, CONFORM_APPEND, "an unknown session or subpath has no rows", an_unknown_key_has_nothing },
    { 3, CONFORM_APPEND, "several appends keep their order", calls_keep_their_order },
    { 4, CONFORM_APPEND, "an empty append changes nothing", an_empty_append_changes_nothing },
    { 5, CONFORM_APPEND, "a sub-agent's rows are apart", subpaths_are_apart },
    { 6, CONFORM_APPEND, "projects are apart", projects_are_apart },
    { 7, CONFORM_APPEND, "the sessions of a project are listed", sessions_are_listed },
    { 8, CONFORM_APPEND, "sub-agents are not listed as sessions", subpaths_are_not_listed },
    { 9, CONFORM_APPEND | CONFORM_REMOVE, "what is removed is gone", what_is_deleted_is_gone },
    { 10, CONFORM_APPEND | CONFORM_REMOVE | CONFORM_SUBKEYS,
      "a removed session takes its sub-agents along, and nothing else",
      a_session_takes_its_subpaths_along },
    { 11, CONFORM_APPEND | CONFORM_REMOVE | CONFORM_SUBKEYS, "a sub-agent is removed alone",
      a_subpath_is_deleted_alone },
    { 12, CONFORM_APPEND | CONFORM_SUBKEYS, "subkeys names the sub-agents of that session",
      subkeys_are_those_of_the_session },
    { 13, CONFORM_APPEND | CONFORM_SUBKEYS, "subkeys does not name the session itself",
      subkeys_do_not_name_the_main_transcript },
    { 14, CONFORM_APPEND | CONFORM_REMOVE, "a list shows what is new", a_list_brings_what_is_new },
    { 0, CONFORM_APPEND, "append requires the newest row that was named",
      append_checks_the_newest_row },
    { 0, CONFORM_APPEND | CONFORM_PAGE, "pages go back from the end", pages_go_back_from_the_end },
    { 0, CONFORM_APPEND | CONFORM_FIND, "a row is found by its uuid", a_row_is_found_by_its_uuid },
    { 0, CONFORM_APPEND | CONFORM_IDS, "ids compare as the rows do", ids_compare_as_rows_do },
    { 0, CONFORM_APPEND, "a session comes in batches", a_session_comes_in_batches },
    { 0, CONFORM_APPEND, "an append that is stopped adds all or nothing",
      a_cut_append_adds_all_or_nothing },
    { 0, CONFORM_APPEND, "a read stops if its callback asks for it", a_cut_read_stops },
    { 0, CONFORM_APPEND, "of two programs, one appends after the same row",
      of_two_programs_one_appends },
    { 0, CONFORM_APPEND | CONFORM_THREADS, "threads append at the same time",
      threads_append_at_once },
    { 0, CONFORM_APPEND, "rows of every kind come back", rows_of_every_kind_come_back },
    { 0, CONFORM_APPEND, "a row that the store cannot hold is named",
      a_row_that_is_refused_is_named },
};
const size_t conform_rule_count = COUNT_OF(conform_rules);
