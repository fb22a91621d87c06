#include "tests/test.h"

#include "store/api/store.h"
#include "tui/data/session_table.h"

/* Sessions s000, s001, ... as a session table and a filter have them. */
struct many {
    struct store store;
    struct session_table sessions;
    struct filter filter;
    struct order order;
    char answer[256];
};

static void see(struct many *m, uint32_t n, const int64_t *time_ms)
{
    static const struct store_ops ops = { .name = "claude" };
    struct ref_list *list = ref_list_new();

    assert_non_null(list);
    m->store.ops = &ops;
    for (uint32_t i = 0; i < n; i++) {
        char id[8], path[16];
        struct session_ref ref = { .store = &m->store, .folder = SLICE("x") };

        snprintf(id, sizeof id, "s%03u", i);
        snprintf(path, sizeof path, "/x/s%03u", i);
        ref.id = slice_of(id);
        ref.path = slice_of(path);
        ref.file = (struct file_id){ .ino = i + 1, .mtime_ns = time_ms[i] * 1000000 };
        assert_true(ref_list_add(list, &ref, 0));
    }
    assert_true(session_table_update(&m->sessions, list, 1));
    assert_true(filter_reserve(&m->filter, n));
    ref_list_free(list);
}

/* title NULL: not described */
static void describe(struct many *m, uint32_t i, const char *title, int64_t created_ms)
{
    struct session_row *row = session_row_new();

    if (!title) {
        session_row_free(row);
        return;
    }
    assert_non_null(row);
    row->ref = m->sessions.entry[i].ref;
    row->summary = slice_of(title);
    row->created_ms = created_ms;
    row->activity_ms = row->ref.file.mtime_ns / 1000000;
    assert_true(filter_set(&m->filter, i, row));
    session_table_set_row(&m->sessions, i, row);
}

/* The entries in order: "2 0 1". */
static const char *sorted(struct many *m, enum sort_kind sort)
{
    size_t n = 0;

    m->answer[0] = '\0';
    assert_true(order_make(&m->order, &m->sessions, &m->filter, sort));
    for (size_t i = 0; i < m->order.n && n < sizeof m->answer; i++)
        n += (size_t)snprintf(m->answer + n, sizeof m->answer - n, "%s%u", i ? " " : "",
                              m->order.entry[i]);
    return m->answer;
}

static void done(struct many *m)
{
    filter_fini(&m->filter);
    order_fini(&m->order);
    session_table_fini(&m->sessions);
}

TEST(equal_titles_are_ordered_by_time)
{
    struct many m = { 0 };
    static const int64_t times[] = { 10, 20, 30, 40, 50, 60, 70 };
    static const char *const titles[] = { "The payment retry loop, part two",
                                          "The payment retry loop, part one",
                                          "the payment retry loop",
                                          "Alpha",
                                          "alpha",
                                          NULL,
                                          "The payment retry loop, part two" };

    see(&m, 7, times);
    for (uint32_t i = 0; i < 7; i++)
        describe(&m, i, titles[i], 1);
    assert_string_equal(sorted(&m, SORT_TITLE), "4 3 2 1 6 0 5");
    done(&m);
}

TEST(equal_numbers_are_ordered_newest_first)
{
    struct many m = { 0 };
    static const int64_t times[] = { 10, 30, 20, 40, -5 };
    static const int64_t created[] = { 7, 7, 7, 9, 7 };

    see(&m, 5, times);
    for (uint32_t i = 0; i < 5; i++)
        describe(&m, i, "x", created[i]);
    assert_string_equal(sorted(&m, SORT_CREATED), "3 1 2 0 4");
    assert_string_equal(sorted(&m, SORT_RECENT), "3 1 2 0 4");
    done(&m);
}

TEST(only_known_sizes_are_compared)
{
    struct many m = { 0 };
    static const int64_t times[] = { 10, 20, 30 };

    see(&m, 3, times);
    for (uint32_t i = 0; i < 3; i++)
        describe(&m, i, "x", 1);
    assert_string_equal(sorted(&m, SORT_SIZE), "2 1 0");
    assert_int_equal(m.order.bytes, 0);
    session_table_set_bytes(&m.sessions, 0, 500);
    session_table_set_bytes(&m.sessions, 1, 9000);
    assert_string_equal(sorted(&m, SORT_SIZE), "1 0 2");
    assert_int_equal(m.order.bytes, 9500);
    session_table_remove_unseen(&m.sessions, 2); /* a listing in which none of them exists */
    assert_string_equal(sorted(&m, SORT_SIZE), "");
    assert_int_equal(m.order.bytes, 0);
    done(&m);
}

TEST(sessions_of_one_time_are_ordered_by_id)
{
    enum { MANY = 300 };
    struct many m = { 0 };
    int64_t times[MANY];

    for (int i = 0; i < MANY; i++)
        times[i] = 1000;
    see(&m, MANY, times);
    sorted(&m, SORT_RECENT);
    assert_int_equal(m.order.n, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(m.order.entry[i], MANY - 1 - i);
    done(&m);
}

/* As `list` has them: each system in its own direction. */
TEST(sessions_of_one_time_are_in_the_direction_of_their_system)
{
    static const struct store_ops up = { .name = "goat", .ties_ascending = true };
    struct store goat = { .ops = &up };
    const uint32_t sizes[] = { 7, 300 };

    for (size_t s = 0; s < 2; s++) {
        const uint32_t n = sizes[s];
        struct many m = { 0 };
        int64_t times[300];

        for (uint32_t i = 0; i < n; i++)
            times[i] = 1000;
        see(&m, n, times);
        for (uint32_t i = 0; i < n; i += 2)
            m.sessions.entry[i].ref.store = &goat;
        sorted(&m, SORT_RECENT);
        assert_int_equal(m.order.n, n);
        for (uint32_t i = 0, last[2] = { ENTRY_NONE, ENTRY_NONE }; i < n; i++) {
            uint32_t entry = m.order.entry[i], odd = entry % 2;

            if (last[odd] != ENTRY_NONE)
                assert_true(odd ? entry < last[odd] : entry > last[odd]);
            last[odd] = entry;
        }
        done(&m);
    }
}

static void pin(struct many *m, uint32_t i, const char *tags)
{
    struct session_row *row = session_row_new();

    assert_non_null(row);
    row->ref = m->sessions.entry[i].ref;
    row->activity_ms = row->ref.file.mtime_ns / 1000000;
    row->tag = slice_of(tags);
    session_table_set_row(&m->sessions, i, row);
}

TEST(pinned_sessions_are_above_all_others_in_every_order)
{
    struct many m = { 0 };
    static const int64_t times[] = { 10, 50, 20, 40, 30 };

    see(&m, 5, times);
    for (uint32_t i = 0; i < 5; i++)
        describe(&m, i, "x", 1);
    pin(&m, 0, "pinned");
    pin(&m, 2, "infra, pinned");
    pin(&m, 3, "unpinned");
    assert_string_equal(sorted(&m, SORT_RECENT), "2 0 1 3 4");
    session_table_set_bytes(&m.sessions, 4, 9000);
    assert_string_equal(sorted(&m, SORT_SIZE), "2 0 4 1 3");
    pin(&m, 2, "");
    assert_string_equal(sorted(&m, SORT_RECENT), "0 1 3 4 2");
    done(&m);
}

static int by_bytes(struct slice a, struct slice b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static struct slice title_of(const struct many *m, uint32_t entry)
{
    struct fuzzy_haystack title = doc_haystack(m->filter.slot[entry].doc, DOC_TITLE);

    return (struct slice){ title.text, title.n };
}

/* The expected order, written out. */
static bool stands_before(const struct many *m, enum sort_kind sort, uint32_t a, uint32_t b)
{
    const struct session_entry *x = &m->sessions.entry[a], *y = &m->sessions.entry[b];
    int64_t by = 0;

    if (sort == SORT_TITLE && x->row && y->row)
        by = by_bytes(title_of(m, a), title_of(m, b));
    else if (sort == SORT_TITLE)
        by = (x->row == NULL) - (y->row == NULL);
    else if (sort == SORT_CREATED)
        by = (y->row ? y->row->created_ms : -1) - (x->row ? x->row->created_ms : -1);
    if (by == 0)
        by = session_entry_time(y) - session_entry_time(x);
    return by < 0 || (by == 0 && by_bytes(x->ref.id, y->ref.id) > 0);
}

/* Titles of a few words, so that many have common prefixes and some are equal; times that differ little or much. */
TEST(any_two_sessions_are_ordered_correctly)
{
    enum { MANY = 999, LENGTH = 120 };
    static const char *const words[] = {
        "fix ",  "the ",           "payment ", "refactoring ", "\xc3\xa9t\xc3\xa9 ",
        "#12: ", "a\xe6\x97\xa5 ", "-"
    };
    static const enum sort_kind sorts[] = { SORT_TITLE, SORT_CREATED, SORT_RECENT };
    static char title[MANY][LENGTH];
    struct many m = { 0 };
    int64_t times[MANY];
    uint64_t seed = 3;

    for (int i = 0; i < MANY; i++) {
        title[i][0] = '\0';
        do {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            strncat(title[i], words[seed >> 33 & (seed >> 50 & 7)], LENGTH - 1 - strlen(title[i]));
        } while (seed >> 60 > 1 && strlen(title[i]) < LENGTH - 20);
        times[i] = i % 3 ? (int64_t)(seed >> 40 & 63) : (int64_t)(seed >> 22);
    }
    see(&m, MANY, times);
    for (uint32_t i = 0; i < MANY; i++)
        describe(&m, i, i % 50 ? title[i] : NULL, i % 7 ? i % 11 : (int64_t)i << 40);
    for (size_t k = 0; k < sizeof sorts / sizeof *sorts; k++) {
        sorted(&m, sorts[k]);
        assert_int_equal(m.order.n, MANY);
        for (size_t i = 1; i < MANY; i++)
            assert_true(stands_before(&m, sorts[k], m.order.entry[i - 1], m.order.entry[i]));
    }
    done(&m);
}
