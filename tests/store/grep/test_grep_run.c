#include "store/grep/grep.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"
#include "tests/test.h"

/* A search on several threads: everything is found, in order, and it stops on request. */

enum { SESSIONS = 150, ROWS = 40 };

struct world {
    struct folder folder;
    struct store_env env;
    struct store *store;
};

/* Session i has i % 7 lines with the word; the larger i, the newer. */
static void put_session(const struct folder *f, int i)
{
    char name[128];
    struct buf rows = { 0 };

    for (int r = 0; r < ROWS; r++)
        assert_int_equal(
            buf_addf(&rows,
                     "{\"type\":\"user\",\"uuid\":\"%08x-0000-4000-8000-%012x\",\"message\":"
                     "{\"role\":\"user\",\"content\":\"some text %s here\"}}\n",
                     (unsigned)i, (unsigned)r, r < i % 7 ? "Marmalade" : "nothing"),
            ERR_OK);
    snprintf(name, sizeof name, "projects/-x/%08x-0000-4000-8000-000000000000.jsonl", (unsigned)i);
    folder_put(f, name, buf_slice(&rows));
    folder_mtime(f, name, (int64_t)(1700000000 + i) * 1000000000);
    buf_fini(&rows);
}

static void begin(struct world *w)
{
    *w = (struct world){ .store = NULL };
    folder_make(&w->folder);
    for (int i = 0; i < SESSIONS; i++)
        put_session(&w->folder, i);
    w->env = (struct store_env){
        .home = w->folder.path, .proc_dir = w->folder.path, .etc_dir = w->folder.path, .cwd = "/x"
    };
    assert_int_equal(claude_ops.open(&w->env, w->folder.path, &w->store, NULL), ERR_OK);
}

static void end(struct world *w)
{
    store_close(w->store);
    folder_remove(&w->folder);
}

struct seen {
    size_t sessions, hits;
    uint64_t lines;
    char last[64]; /* the id of the session before */
    bool ordered;
    atomic_bool *raise; /* with the first hit */
};

static enum err_code see_part(const struct grep_part *part, void *arg, struct err *e)
{
    struct seen *s = arg;
    char id[64];

    (void)e;
    s->hits += part->n;
    if (s->raise && part->n)
        atomic_store(s->raise, true);
    if (!part->last || !part->lines)
        return ERR_OK;
    snprintf(id, sizeof id, "%.*s", SLICE_ARG(part->row->ref.id));
    s->ordered = s->sessions == 0 || (s->ordered && strcmp(id, s->last) < 0);
    memcpy(s->last, id, sizeof id);
    s->sessions++;
    s->lines += part->lines;
    return ERR_OK;
}

static void no_trouble(const struct err *trouble, void *arg)
{
    (void)arg;
    fail_msg("%s", trouble->text);
}

static enum err_code search(const struct world *w, struct grep_query q, struct seen *s)
{
    static const struct slice word = { "marmalade", 9 };
    struct listing *listing;
    enum err_code rc;

    q.pattern = &word;
    q.n = 1;
    q.in = GREP_IN_DEFAULT;
    q.sessions =
        (struct listing_query){ .scope.all = true, .since_ms = TIME_NONE, .before_ms = TIME_NONE };
    assert_int_equal(listing_open(&w->store, 1, &q.sessions, &listing, NULL), ERR_OK);
    rc = grep_run(listing, &q, see_part, no_trouble, s, NULL);
    listing_close(listing);
    return rc;
}

static atomic_bool raised;

/* The search is cancelled between loading a session and reading its first row: its threads have a flag of their own. */
static enum err_code load_and_raise(const struct store *st, const struct session_ref *ref,
                                    const atomic_bool *cancel, struct transcript **out,
                                    struct err *e)
{
    enum err_code rc = claude_ops.load(st, ref, cancel, out, e);

    atomic_store(&raised, true);
    atomic_store((atomic_bool *)cancel, true);
    return rc;
}

TEST(a_search_that_is_cancelled_before_the_first_row_of_a_loaded_session_ends)
{
    struct seen s = { .sessions = 0 };
    struct store_ops loaded;
    struct world w;

    begin(&w);
    loaded = *w.store->ops;
    loaded.row_keys = NULL; /* as in a database: no lines of a file */
    loaded.load = load_and_raise;
    w.store->ops = &loaded;
    atomic_store(&raised, false);
    assert_int_equal(search(&w, (struct grep_query){ .cancel = &raised }, &s), ERR_CANCELLED);
    assert_int_equal(s.hits, 0);
    end(&w);
}

TEST(every_hit_is_delivered_newest_session_first)
{
    struct grep_progress progress = { .moved = NULL };
    struct seen s = { .sessions = 0 };
    size_t hits = 0, sessions = 0;
    struct world w;

    begin(&w);
    for (int i = 0; i < SESSIONS; i++) {
        hits += (size_t)i % 7;
        sessions += i % 7 > 0;
    }
    assert_int_equal(search(&w, (struct grep_query){ .progress = &progress }, &s), ERR_OK);

    assert_int_equal(s.hits, hits);
    assert_int_equal(s.lines, hits);
    assert_int_equal(s.sessions, sessions);
    assert_true(s.ordered);
    assert_int_equal(atomic_load(&progress.sessions), SESSIONS);
    end(&w);
}

TEST(a_flag_raised_with_the_first_hit_ends_the_search)
{
    atomic_bool cancel = false;
    struct seen s = { .raise = &cancel };
    struct world w;

    begin(&w);
    assert_int_equal(search(&w, (struct grep_query){ .cancel = &cancel }, &s), ERR_CANCELLED);

    assert_true(s.hits > 0 && s.sessions < SESSIONS / 2);
    end(&w);
}

static void *raise_soon(void *arg)
{
    usleep(200);
    atomic_store((atomic_bool *)arg, true);
    return NULL;
}

/* At any moment, from another thread. */
TEST(a_flag_raised_elsewhere_ends_the_search)
{
    struct world w;

    begin(&w);
    for (int round = 0; round < 20; round++) {
        atomic_bool cancel = false;
        struct seen s = { .sessions = 0 };
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, raise_soon, &cancel), 0);
        enum err_code rc = search(&w, (struct grep_query){ .cancel = &cancel }, &s);

        assert_true(rc == ERR_CANCELLED || rc == ERR_OK);
        pthread_join(thread, NULL);
    }
    end(&w);
}

/* ---- patterns that take long ---- */

static struct grep_matcher *matcher_of(const char *pattern, struct grep_limits limits,
                                       struct grep_patterns **patterns)
{
    const struct slice text = slice_of(pattern);
    struct grep_matcher *m;

    assert_int_equal(
        grep_patterns_new(&(struct grep_query){ .pattern = &text, .n = 1 }, patterns, NULL),
        ERR_OK);
    m = grep_matcher_new(*patterns, limits);
    assert_non_null(m);
    return m;
}

/* All matches as "from-to ". */
static void list_matches(struct grep_matcher *m, struct slice text, struct buf *out)
{
    struct grep_range r = { .to = 0 };
    enum grep_match found;

    grep_match_begin(m, text);
    while ((found = grep_match_next(m, 0, r.to, &r)) == GREP_MATCH)
        assert_int_equal(buf_addf(out, "%zu-%zu ", r.from, r.to), ERR_OK);
    assert_int_equal(found, GREP_MATCH_NONE);
}

TEST(positions_tried_in_small_groups_give_the_same_matches)
{
    static const char *const patterns[] = {
        "b",        "a*b",     "^a",       "a$",       "\\bab?",
        "(?<=a)b",  "(?<!a)b", "(a+)b\\1", "[^a\\n]+", "(?=(a+))a*b\\1",
        "\xc3\xa9", "\\C\\Cb", "$",        "a.",       "(*NO_JIT)a+b",
        "\\Aa",
    };
    static const char letters[] = "aaab\n\xc3\xa9\xff";
    uint32_t seed = 7;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct grep_patterns *one, *many;
        struct grep_matcher *small = matcher_of(patterns[i],
                                                (struct grep_limits){ 1000, 1, 1000, 0 }, &one),
                            *large = matcher_of(patterns[i], GREP_LIMITS, &many);

        for (int round = 0; round < 200; round++) {
            char text[40];
            struct buf a = { 0 }, b = { 0 };
            size_t n = (seed >> 16) % sizeof text;

            for (size_t k = 0; k < n; k++) {
                seed = seed * 1664525u + 1013904223u;
                text[k] = letters[(seed >> 16) % (sizeof letters - 1)];
            }
            list_matches(small, (struct slice){ text, n }, &a);
            list_matches(large, (struct slice){ text, n }, &b);
            assert_true(slice_eq(buf_slice(&a), buf_slice(&b)));
            buf_fini(&a);
            buf_fini(&b);
        }
        grep_matcher_free(small);
        grep_matcher_free(large);
        grep_patterns_free(one);
        grep_patterns_free(many);
    }
}

enum { LONG_LINE = 256 << 10 };

TEST(a_text_on_which_a_pattern_takes_too_long_is_given_up)
{
    static const char *const patterns[] = { "(?=(a+))a*[bc]\\1", "(a*)*[bc]",
                                            "(*NO_JIT)(?=a*?!)a" };
    char *line = malloc(LONG_LINE);

    assert_non_null(line);
    memset(line, 'a', LONG_LINE);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct grep_limits limits = { 10000, 1 << 22, 1, 0 };
        struct grep_range r;
        struct grep_patterns *p;
        struct grep_matcher *m = matcher_of(patterns[i], limits, &p);

        grep_match_begin(m, (struct slice){ line, LONG_LINE });
        enum grep_match found = grep_match_next(m, 0, 0, &r);

        assert_int_equal(found, GREP_MATCH_TOO_LONG);
        grep_matcher_free(m);
        grep_patterns_free(p);
    }
    free(line);
}
