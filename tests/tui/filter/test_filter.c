#include "tests/test.h"

#include <stdlib.h>

#include "store/api/store.h"
#include "tui/filter/filter.h"

enum { ROWS = 6 };

struct rows {
    struct store_ops ops;
    struct store store;
    struct session_row row[ROWS];
    uint32_t order[ROWS];
    struct filter filter;
};

static void fill(struct rows *r)
{
    static const struct {
        const char *id, *title, *prompt, *branch, *tag;
        unsigned flags;
        int64_t age_ms, size;
    } made[ROWS] = {
        { "aaaa0001", "Fix the payment retry loop", "why does the webhook fire twice", "fix/retry",
          "", SESSION_LIVE, 1000, 100 },
        { "aaaa0002", "Payments: idempotency keys", "add idempotency keys", "main", "infra", 0,
          2000, 20 << 20 },
        { "bbbb0003", "Refund flow", "try the refund again", "refunds", "", SESSION_FORK, 3000,
          300 },
        { "bbbb0004", "Payment page copy", "reword it", "", "docs", SESSION_INTERRUPTED, 4000,
          400 },
        { "cccc0005", "pay attention", "", "", "", SESSION_ARCHIVED, 5000, 500 },
        { "cccc0006", "Größere Änderungen", "設定を変更", "", "", SESSION_TORN, 6000, 600 },
    };

    *r = (struct rows){ .ops.name = "claude" };
    r->store.ops = &r->ops;
    assert_true(filter_reserve(&r->filter, ROWS));
    for (uint32_t i = 0; i < ROWS; i++) {
        struct session_row *row = &r->row[i];

        row->ref.store = &r->store;
        row->ref.id = slice_of(made[i].id);
        row->ref.file.size = made[i].size;
        row->summary = slice_of(made[i].title);
        row->first_prompt = slice_of(made[i].prompt);
        row->git_branch = slice_of(made[i].branch);
        row->tag = slice_of(made[i].tag);
        row->cwd = slice_of("/home/u/src/shop");
        row->flags = made[i].flags;
        row->activity_ms = 1000000 - made[i].age_ms;
        r->order[i] = i;
        assert_true(filter_set(&r->filter, i, row));
    }
}

/* The entries that fit, in order: "0 3 1". */
static const char *ask(struct rows *r, const char *query, bool by_score)
{
    static char out[64]; /* of the last query */
    size_t n = 0;

    out[0] = '\0';
    assert_true(filter_run(&r->filter, slice_of(query), r->order, ROWS, NULL, 1000000, by_score));
    for (size_t i = 0; i < r->filter.hits; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%u", i ? " " : "", r->filter.hit[i]);
    return out;
}

TEST(an_empty_query_shows_all_but_archived_ones_in_their_order)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "", true), "0 1 2 3 5");
    assert_string_equal(ask(&r, "tag:", true), "0 1 2 3 5");
    filter_fini(&r.filter);
}

TEST(every_field_is_searched)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "webhook", true), "0");
    assert_string_equal(ask(&r, "infra", true), "1");
    assert_string_equal(ask(&r, "refunds", true), "2");
    assert_string_equal(ask(&r, "設定", true), "5");
    assert_string_equal(ask(&r, "anderung", true), "5");
    assert_string_equal(ask(&r, "shop", false), "0 1 2 3 4 5");
    filter_fini(&r.filter);
}

TEST(equal_scores_keep_the_order_of_the_list)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "pay", true), "1 3 4 0");
    assert_string_equal(ask(&r, "pay", false), "0 1 3 4");
    filter_fini(&r.filter);
}

TEST(one_letter_ranks_by_beginnings_of_words)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "r", true), "0 2 1 5 3 4");
    filter_fini(&r.filter);
}

TEST(a_single_word_matches_an_id_prefix)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "bbbb", true), "2 3");
    assert_string_equal(ask(&r, "bbbb0004", true), "3");
    assert_string_equal(ask(&r, "bbbb x", true), "");
    filter_fini(&r.filter);
}

TEST(texts_of_the_row_are_found_by_plain_words)
{
    static struct store_ops goat = { .name = "goat" };
    static const struct store other = { .ops = &goat };
    struct rows r;

    fill(&r);
    r.row[3].ref.store = &other;
    r.row[3].dialect = "spec";
    assert_true(filter_set(&r.filter, 3, &r.row[3]));
    assert_string_equal(ask(&r, "#infra", true), "1");
    assert_string_equal(ask(&r, "^infra", true), "1");
    assert_string_equal(ask(&r, "#", true), "1 3");
    assert_string_equal(ask(&r, "goat", true), "3");
    assert_string_equal(ask(&r, "goat/s", true), "3");
    assert_string_equal(ask(&r, "'spec", true), "3");
    assert_string_equal(ask(&r, "refund claude", true), "2");
    assert_string_equal(ask(&r, "!claude", true), "3");
    assert_string_equal(ask(&r, "'goat", true), "3");
    assert_string_equal(ask(&r, "payment aaaa0002", true), "1");
    assert_string_equal(ask(&r, "AAAA0002", true), "1");
    assert_string_equal(ask(&r, "aaaa0001 | bbbb0003", false), "0 2");
    filter_fini(&r.filter);
}

TEST(a_whole_agent_tag_or_branch_ranks_before_scattered_letters)
{
    static const struct store_ops codex_ops = { .name = "codex" };
    struct store codex = { .ops = &codex_ops };
    struct rows r;

    fill(&r);
    r.row[0].summary = SLICE("Make rw-code.txt say one");
    r.row[1].summary = SLICE("Clean old docs: extra");
    r.row[2].ref.store = &codex;
    r.row[2].summary = SLICE("Something else");
    r.row[3].summary = SLICE("Ask codex about it");
    for (uint32_t i = 0; i < 4; i++)
        assert_true(filter_set(&r.filter, i, &r.row[i]));
    assert_string_equal(ask(&r, "codex", true), "3 2 1 0");

    r.row[1].tag = SLICE("codex");
    r.row[0].git_branch = SLICE("codex");
    for (uint32_t i = 0; i < 4; i++)
        assert_true(filter_set(&r.filter, i, &r.row[i]));
    assert_string_equal(ask(&r, "codex", true), "3 0 1 2");
    assert_string_equal(ask(&r, "#codex", true), "1");
    r.row[2].ref.store = &r.store;
    r.row[2].dialect = "codex";
    assert_true(filter_set(&r.filter, 2, &r.row[2]));
    assert_string_equal(ask(&r, "codex", true), "3 0 1 2");
    filter_fini(&r.filter);
}

TEST(an_id_is_found_while_being_typed)
{
    static const char *const typed[] = { "b", "bb", "bbb", "bbbb", "bbbb0", "bbbb0004" };
    struct rows r;

    fill(&r);
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        ask(&r, typed[i], true);
    assert_string_equal(ask(&r, "bbbb0004", true), "3");
    for (size_t i = 1; i <= 12; i++) {
        char query[16];

        snprintf(query, sizeof query, "%.*s", (int)i, "pay bbbb0004");
        ask(&r, query, true);
    }
    assert_string_equal(ask(&r, "pay bbbb0004", true), "3");
    filter_fini(&r.filter);
}

TEST(field_filters_test_their_field)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "tag:infra", true), "1");
    assert_string_equal(ask(&r, "!tag:infra", true), "0 2 3 4 5");
    assert_string_equal(ask(&r, "branch:fix", true), "0");
    assert_string_equal(ask(&r, "sys:claude", true), "0 1 2 3 4 5");
    assert_string_equal(ask(&r, "sys:goat", true), "");
    assert_string_equal(ask(&r, "agent:claude", true), "0 1 2 3 4 5");
    assert_string_equal(ask(&r, "!agent:claude", true), "");
    assert_string_equal(ask(&r, "size:>10M", true), "1");
    assert_string_equal(ask(&r, "size:<200", true), "0");
    assert_string_equal(ask(&r, "is:running", true), "0");
    assert_string_equal(ask(&r, "is:waiting", true), "");
    assert_string_equal(ask(&r, "is:fork", true), "2");
    assert_string_equal(ask(&r, "is:interrupted", true), "3");
    assert_string_equal(ask(&r, "is:archived", true), "4");
    assert_string_equal(ask(&r, "is:damaged", true), "5");
    assert_string_equal(ask(&r, "is:empty", true), "4");
    assert_string_equal(ask(&r, "before:0m", true), "0 1 2 3 4 5");
    assert_string_equal(ask(&r, "before:1h", true), "");
    assert_string_equal(ask(&r, "id:cccc", true), "4 5");
    filter_fini(&r.filter);
}

TEST(alternatives_and_negations_combine)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "webhook | infra", false), "0 1");
    assert_string_equal(ask(&r, "pay !loop", false), "1 3 4");
    assert_string_equal(ask(&r, "^pay", false), "1 3 4");
    assert_string_equal(ask(&r, "copy$", false), "3");
    assert_string_equal(ask(&r, "!pay", false), "2 5");
    assert_string_equal(ask(&r, "Pay", false), "1 3");
    filter_fini(&r.filter);
}

/* Typing letter by letter filters only the remaining entries; the result must be that of filtering all. */
TEST(narrowing_gives_the_results_of_a_new_query)
{
    static const char *const queries[] = { "pay ret", "fix lo",   "'pay co", "refund x",
                                           "a b c d", "^pay key", "p!a",     "in|x a" };
    struct rows r;

    fill(&r);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        for (size_t n = 1; n <= strlen(queries[i]); n++) {
            char typed[16] = "", narrowed[64];

            memcpy(typed, queries[i], n);
            snprintf(narrowed, sizeof narrowed, "%s", ask(&r, typed, true));
            filter_invalidate(&r.filter);
            assert_string_equal(narrowed, ask(&r, typed, true));
        }
    filter_fini(&r.filter);
}

TEST(an_undescribed_session_matches_only_the_empty_query)
{
    struct rows r;

    fill(&r);
    assert_true(filter_set(&r.filter, 1, NULL));
    assert_string_equal(ask(&r, "pay", false), "0 3 4");
    assert_string_equal(ask(&r, "", false), "0 1 2 3 5");
    filter_fini(&r.filter);
}

TEST(a_regular_expression_matches_the_texts_as_they_are)
{
    struct rows r;

    fill(&r);
    r.row[2].summary = SLICE("Zebra-42 crossing");
    r.row[3].git_branch = SLICE("fix/zebra7");
    assert_true(filter_set(&r.filter, 2, &r.row[2]));
    assert_true(filter_set(&r.filter, 3, &r.row[3]));
    assert_string_equal(ask(&r, "/zebra-?\\d+/", true), "2 3");
    assert_string_equal(ask(&r, "/Zebra-?\\d+/", true), "2");
    assert_string_equal(ask(&r, "/zebra/ !/^fix./", true), "2");
    assert_string_equal(ask(&r, "/(z+)+(e+)+q/", true), "");
    filter_fini(&r.filter);
}

TEST(a_row_that_changed_is_found_by_its_new_texts)
{
    struct rows r;

    fill(&r);
    assert_string_equal(ask(&r, "zebra", true), "");
    r.row[2].summary = SLICE("Zebra crossing");
    assert_true(filter_set(&r.filter, 2, &r.row[2]));
    assert_string_equal(ask(&r, "zebra", true), "2");
    assert_string_equal(ask(&r, "zebra c", true), "2");
    filter_fini(&r.filter);
}

TEST(matches_are_known_byte_by_byte)
{
    struct query q;
    bool hit[64] = { false };
    struct slice title = SLICE("Größere Änderungen");

    assert_true(query_parse(&q, SLICE("ander 'gro !x"), 0));
    doc_highlight(&q, title, hit);
    /* "Grö" is bytes 0 to 3, "Änder" bytes 10 to 15 */
    for (size_t i = 0; i < title.n; i++)
        assert_int_equal(hit[i], i < 4 || (i >= 10 && i < 16));
    memset(hit, 0, sizeof hit);
    assert_true(query_parse(&q, SLICE("/[er]+e/"), 0));
    doc_highlight(&q, title, hit);
    for (size_t i = 0; i < title.n; i++) /* "ere" */
        assert_int_equal(hit[i], i >= 6 && i < 9);
    query_fini(&q);
}

enum { MANY = 30000 };

/* Many sessions, of which every third matches "needle"; the others match each of its letters. */
static void fill_many(struct rows *r, struct session_row *row, uint32_t *order)
{
    *r = (struct rows){ .ops.name = "claude" };
    r->store.ops = &r->ops;
    assert_true(filter_reserve(&r->filter, MANY));
    for (uint32_t i = 0; i < MANY; i++) {
        row[i].ref.store = &r->store;
        row[i].ref.id = SLICE("0123");
        row[i].summary = slice_of(i == MANY - 1 ? "needle"
                                  : i % 3       ? "elden"
                                                : "a needle lies here");
        order[i] = i;
        assert_true(filter_set(&r->filter, i, &row[i]));
    }
}

TEST(many_sessions_are_filtered_in_steps_with_early_results)
{
    struct session_row *row = calloc(MANY, sizeof *row);
    uint32_t *order = calloc(MANY, sizeof *order);
    struct rows r;
    struct filter *f = &r.filter;
    int steps = 0;

    assert_non_null(row);
    assert_non_null(order);
    fill_many(&r, row, order);
    assert_true(filter_start(f, slice_of("ne"), order, MANY, 0, true));
    assert_true(filter_step(f, NULL));
    assert_true(filter_pending(f));
    assert_in_range(f->hits, 100, MANY - 1);

    /* Another letter is typed before all were filtered: no entry is lost. */
    assert_true(filter_start(f, slice_of("need"), order, MANY, 0, true));
    for (; filter_pending(f); steps++)
        assert_true(filter_step(f, NULL) == (steps == 0 || !filter_pending(f)));
    assert_true(steps > 1);
    assert_int_equal(f->hits, MANY / 3 + 1);
    assert_int_equal(f->hit[0], MANY - 1);
    assert_int_equal(f->hit[1], 0);

    /* Without typing, the shown rows stay until the rest is known. */
    f->quiet = true;
    filter_invalidate(f);
    assert_true(filter_start(f, slice_of("need"), order, MANY, 0, true));
    assert_false(filter_step(f, NULL));
    assert_int_equal(f->hits, MANY / 3 + 1);
    while (filter_pending(f))
        (void)filter_step(f, NULL);
    assert_int_equal(f->hit[0], MANY - 1);

    /* A frame did other work before this, so the first step is a short one. */
    size_t asked = MANY;

    for (int busy = 0; busy < 2; busy++) {
        f->quiet = false;
        f->busy = busy;
        filter_invalidate(f);
        assert_true(filter_start(f, slice_of("need"), order, MANY, 0, true));
        assert_true(filter_step(f, NULL));
        assert_in_range(f->left_at, 1, asked - 1);
        asked = f->left_at;
    }
    while (filter_pending(f))
        (void)filter_step(f, NULL);
    assert_int_equal(f->hits, MANY / 3 + 1);

    filter_fini(f);
    free(order);
    free(row);
}

TEST(a_session_vanishing_between_two_steps_does_no_harm)
{
    struct session_row *row = calloc(MANY, sizeof *row);
    uint32_t *order = calloc(MANY, sizeof *order);
    struct rows r;
    struct filter *f = &r.filter;

    assert_non_null(row);
    assert_non_null(order);
    fill_many(&r, row, order);
    assert_true(filter_start(f, slice_of("needle"), order, MANY, 0, true));
    assert_true(filter_step(f, NULL));
    assert_true(filter_pending(f));
    assert_true(filter_set(f, f->hit[0], NULL));
    while (filter_pending(f))
        (void)filter_step(f, NULL);
    assert_int_equal(f->hit[0], MANY - 1);
    filter_fini(f);
    free(order);
    free(row);
}
