#include "tests/test.h"

#include <stdlib.h>

#include "store/log/chain.h"

enum { ROW = 1, OTHER = 2 };

/* Builds a chain over rows "id parent"; a dash is no parent, and a row that begins with ! is of another kind. */
struct rows {
    struct index index;
    struct chain chain;
};

static struct id128 id(const char *text)
{
    return id128_of(slice_of(text));
}

static void build(struct rows *r, const char *const rows[], size_t n)
{
    *r = (struct rows){ 0 };
    r->index.line = calloc(n + 1, sizeof *r->index.line);
    assert_non_null(r->index.line);
    r->index.n = n;
    for (size_t i = 0; i < n; i++) {
        char name[32], parent[32];
        bool other = rows[i][0] == '!';

        assert_int_equal(sscanf(rows[i] + other, "%31s %31s", name, parent), 2);
        r->index.line[i] = (struct index_line){
            .offset = (int64_t)i, .id = id(name), .kind = other ? OTHER : ROW, .state = LINE_OK
        };
        if (strcmp(parent, "-") != 0)
            r->index.line[i].parent = id(parent);
    }
    assert_int_equal(chain_build(&r->chain, &r->index, 0, 1 << ROW, NULL), ERR_OK);
}

static void fini(struct rows *r)
{
    chain_fini(&r->chain);
    free(r->index.line);
}

#define BUILD(r, ...)                                                                              \
    do {                                                                                           \
        static const char *const text[] = { __VA_ARGS__ };                                         \
        build((r), text, sizeof text / sizeof *text);                                              \
    } while (0)

/* Checks the lines from the root to a row. */
static void expect_path(struct rows *r, const char *leaf, const char *want)
{
    uint32_t *path;
    size_t n, at = 0;
    char got[256] = "";

    assert_int_equal(chain_walk(&r->chain, chain_find(&r->chain, id(leaf)), 1, &path, &n, NULL),
                     ERR_OK);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%u", i ? " " : "",
                               r->chain.node[path[i]].line);
    free(path);
    assert_string_equal(got, want);
}

TEST(a_path_goes_from_root_to_leaf)
{
    struct rows r;

    BUILD(&r, "a -", "b a", "x a", "c b");

    expect_path(&r, "c", "0 1 3");
    fini(&r);
}

TEST(a_child_may_come_before_its_parent)
{
    struct rows r;

    BUILD(&r, "c b", "b a", "a -");

    expect_path(&r, "c", "2 1 0");
    fini(&r);
}

TEST(the_last_row_with_an_id_counts)
{
    struct rows r;

    BUILD(&r, "a -", "b -", "c b", "b a");

    expect_path(&r, "c", "0 3 2");
    assert_int_equal(r.chain.again, 1);
    assert_int_equal(r.chain.node[chain_find(&r.chain, id("b"))].first, 1);
    fini(&r);
}

TEST(a_cycle_is_followed_once)
{
    struct rows r;

    BUILD(&r, "a c", "b a", "c b");

    expect_path(&r, "c", "0 1 2");
    fini(&r);
}

TEST(a_row_may_name_itself)
{
    struct rows r;

    BUILD(&r, "a a");

    expect_path(&r, "a", "0");
    fini(&r);
}

TEST(a_missing_parent_is_a_node_without_a_row)
{
    struct rows r;

    BUILD(&r, "a gone", "b gone");
    uint32_t gone = chain_find(&r.chain, id("gone"));

    assert_int_not_equal(gone, CHAIN_NONE);
    assert_false(chain_has_row(&r.chain, gone));
    assert_int_equal(chain_parent(&r.chain, chain_find(&r.chain, id("a"))), CHAIN_NONE);
    assert_int_not_equal(r.chain.node[gone].child, CHAIN_NONE);
    expect_path(&r, "b", "1");
    fini(&r);
}

TEST(rows_of_other_kinds_are_no_nodes)
{
    struct rows r;

    BUILD(&r, "a -", "!x a", "b x");

    assert_false(chain_has_row(&r.chain, chain_find(&r.chain, id("x"))));
    expect_path(&r, "b", "2");
    fini(&r);
}

static size_t count_children(const struct chain *c, uint32_t node)
{
    size_t n = 0;

    for (uint32_t at = c->node[node].child; at != CHAIN_NONE; at = c->node[at].next) {
        assert_int_equal(c->node[at].parent, node);
        n++;
    }
    return n;
}

TEST(a_node_can_be_moved_to_another_parent)
{
    struct rows r;

    BUILD(&r, "a -", "b a", "c a", "d a");
    uint32_t a = chain_find(&r.chain, id("a")), b = chain_find(&r.chain, id("b"));
    uint32_t c = chain_find(&r.chain, id("c"));

    chain_relink(&r.chain, c, b);

    assert_int_equal(count_children(&r.chain, a), 2);
    assert_int_equal(count_children(&r.chain, b), 1);
    chain_relink(&r.chain, c, CHAIN_NONE);
    assert_int_equal(count_children(&r.chain, b), 0);
    assert_int_equal(r.chain.node[c].parent, CHAIN_NONE);
    fini(&r);
}

TEST(a_long_chain_needs_no_stack)
{
    enum { LONG = 200000 };
    struct rows r = { 0 };
    uint32_t *path;
    size_t n;

    r.index.line = calloc(LONG, sizeof *r.index.line);
    assert_non_null(r.index.line);
    r.index.n = LONG;
    for (uint64_t i = 0; i < LONG; i++)
        r.index.line[i] = (struct index_line){
            .id = { 1, i + 1 }, .parent = { i > 0, i }, .kind = ROW, .state = LINE_OK
        };
    assert_int_equal(chain_build(&r.chain, &r.index, 0, 1 << ROW, NULL), ERR_OK);

    assert_int_equal(chain_walk(&r.chain, LONG - 1, 1, &path, &n, NULL), ERR_OK);

    assert_int_equal(n, LONG);
    free(path);
    fini(&r);
}
