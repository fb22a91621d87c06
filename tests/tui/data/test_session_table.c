#include "tests/test.h"

#include "tui/data/session_table.h"

/* Refs with paths "/FOLDER/ID". */
static struct session_ref ref_of(const char *folder, const char *id, int64_t mtime_ms)
{
    static char path[8][64];
    static int turn;
    char *p = path[turn++ % 8];
    int n = snprintf(p, sizeof path[0], "/%s/%s", folder, id);

    return (struct session_ref){
        .id = { id, strlen(id) },
        .path = { p, (size_t)n },
        .folder = { folder, strlen(folder) },
        .file = { .ino = (uint64_t)n, .size = 10, .mtime_ns = mtime_ms * 1000000 }
    };
}

static void see(struct session_table *r, unsigned listing, const struct session_ref *refs, size_t n)
{
    struct ref_list *list = ref_list_new();

    assert_non_null(list);
    for (size_t i = 0; i < n; i++)
        assert_true(ref_list_add(list, &refs[i], 0));
    assert_true(session_table_update(r, list, listing));
    ref_list_free(list);
}

static struct session_row *row_of(const struct session_table *r, uint32_t entry,
                                  enum session_hidden hidden)
{
    struct session_row *row = session_row_new();

    assert_non_null(row);
    row->ref = r->entry[entry].ref;
    row->hidden = hidden;
    row->summary = SLICE("title");
    row->activity_ms = TIME_NONE;
    return row;
}

TEST(a_session_keeps_its_number_through_refreshes)
{
    struct session_table r = { 0 };
    struct session_ref refs[] = { ref_of("a", "1", 100), ref_of("a", "2", 200) };

    see(&r, 1, refs, 2);
    session_table_remove_unseen(&r, 1);
    assert_int_equal(r.n, 2);
    assert_int_equal(r.stale, 2);
    uint32_t two = session_table_find(&r, SLICE("/a/2"));

    session_table_set_row(&r, two, row_of(&r, two, HIDDEN_NOT));
    see(&r, 2, refs + 1, 1);
    session_table_remove_unseen(&r, 2);
    assert_int_equal(session_table_find(&r, SLICE("/a/2")), two);
    assert_true(session_table_is_listed(&r, two));
    assert_false(session_table_is_listed(&r, session_table_find(&r, SLICE("/a/1"))));
    assert_int_equal(r.stale, 0);
    assert_int_equal(session_table_find(&r, SLICE("/a/3")), ENTRY_NONE);
    session_table_fini(&r);
}

TEST(damaged_sessions_are_counted_while_listed)
{
    struct session_table r = { 0 };
    struct session_ref refs[] = { ref_of("a", "1", 100), ref_of("a", "2", 200),
                                  ref_of("a", "3", 300) };

    see(&r, 1, refs, 3);
    session_table_remove_unseen(&r, 1);
    session_table_set_row(&r, 0, row_of(&r, 0, HIDDEN_DAMAGED));
    session_table_set_row(&r, 1, row_of(&r, 1, HIDDEN_NOT));
    struct session_row *torn = row_of(&r, 2, HIDDEN_NOT);

    torn->flags = SESSION_TORN;
    session_table_set_row(&r, 2, torn);
    assert_int_equal(r.damaged, 2);
    assert_int_equal(r.unlisted, 1);
    assert_true(r.entry[0].damaged && !r.entry[1].damaged && r.entry[2].damaged);
    session_table_set_row(&r, 0, row_of(&r, 0, HIDDEN_NOT)); /* another program repaired it */
    assert_int_equal(r.damaged, 1);
    assert_int_equal(r.unlisted, 0);
    see(&r, 2, refs, 2);
    session_table_remove_unseen(&r, 2);
    assert_int_equal(r.damaged, 0);
    session_table_fini(&r);
}

TEST(only_a_changed_file_is_read_again)
{
    struct session_table r = { 0 };
    struct session_ref refs[] = { ref_of("a", "1", 100), ref_of("a", "2", 200) };

    see(&r, 1, refs, 2);
    for (uint32_t i = 0; i < 2; i++)
        session_table_set_row(&r, i, row_of(&r, i, HIDDEN_NOT));
    assert_int_equal(r.stale, 0);
    refs[1].file.size = 11;
    see(&r, 2, refs, 2);
    assert_int_equal(r.stale, 1);
    assert_false(r.entry[0].stale);
    assert_true(r.entry[1].stale);
    assert_true(session_table_is_listed(&r, 1)); /* its old row is shown meanwhile */
    session_table_fini(&r);
}

TEST(the_newest_listable_copy_is_listed)
{
    struct session_table r = { 0 };
    struct session_ref refs[] = { ref_of("a", "1", 100), ref_of("b", "1", 300),
                                  ref_of("c", "1", 200), ref_of("a", "2", 50) };

    see(&r, 1, refs, 4);
    for (uint32_t i = 0; i < 4; i++)
        session_table_set_row(&r, i, row_of(&r, i, HIDDEN_NOT));
    assert_false(session_table_is_listed(&r, 0));
    assert_true(session_table_is_listed(&r, 1));
    assert_false(session_table_is_listed(&r, 2));
    assert_true(session_table_is_listed(&r, 3));
    session_table_set_row(&r, 1, row_of(&r, 1, HIDDEN_COLLISION));
    assert_false(session_table_is_listed(&r, 1));
    assert_true(session_table_is_listed(&r, 2));
    see(&r, 2, refs, 1); /* the others are gone */
    session_table_remove_unseen(&r, 2);
    assert_true(session_table_is_listed(&r, 0));
    assert_false(session_table_is_listed(&r, 2));
    session_table_fini(&r);
}

/* Folders of all projects arrive newest first while other listings go by their names. */
TEST(equal_copies_are_in_the_order_of_their_folders)
{
    for (int all = 0; all < 2; all++) {
        struct session_table r = { .all = all };
        struct session_ref refs[] = { ref_of("long", "1", 100), ref_of("b", "1", 100),
                                      ref_of("a", "1", 100) };

        see(&r, 1, refs, 3);
        for (uint32_t i = 0; i < 3; i++)
            session_table_set_row(&r, i, row_of(&r, i, HIDDEN_NOT));
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(session_table_is_listed(&r, i), i == (all ? 2 : 0));
        session_table_fini(&r);
    }
}

TEST(a_file_that_vanished_during_the_read_is_gone)
{
    struct session_table r = { 0 };
    struct session_ref ref = ref_of("a", "1", 100);

    see(&r, 1, &ref, 1);
    session_table_set_row(&r, 0, NULL);
    assert_false(session_table_is_listed(&r, 0));
    see(&r, 2, &ref, 1); /* listed again */
    assert_true(session_table_is_listed(&r, 0));
    assert_int_equal(r.stale, 1);
    session_table_fini(&r);
}

TEST(many_sessions_are_found_by_their_paths)
{
    enum { MANY = 3000 };
    struct session_table r = { 0 };
    struct ref_list *list = ref_list_new();

    assert_non_null(list);
    for (int i = 0; i < MANY; i++) {
        char id[16], path[32];
        int n = snprintf(id, sizeof id, "%d", i), m = snprintf(path, sizeof path, "/x/%d", i);
        struct session_ref ref = { .id = { id, (size_t)n },
                                   .path = { path, (size_t)m },
                                   .folder = SLICE("x") };

        assert_true(ref_list_add(list, &ref, 0));
    }
    assert_true(session_table_update(&r, list, 1));
    ref_list_free(list);
    assert_int_equal(r.n, MANY);
    assert_int_equal(session_table_find(&r, SLICE("/x/0")), 0);
    assert_int_equal(session_table_find(&r, SLICE("/x/2999")), 2999);
    session_table_fini(&r);
}

/* --- order */
TEST(equal_times_are_ordered_by_id)
{
    struct session_table r = { 0 };
    struct filter none = { 0 };
    struct order o = { 0 };
    struct session_ref refs[] = { ref_of("a", "1", 100), ref_of("a", "3", 100),
                                  ref_of("a", "2", 100), ref_of("a", "0", 900) };

    see(&r, 1, refs, 4);
    assert_true(order_make(&o, &r, &none, SORT_RECENT));
    assert_int_equal(o.n, 4);
    assert_int_equal(o.entry[0], 3);
    assert_int_equal(o.entry[1], 1);
    assert_int_equal(o.entry[2], 2);
    assert_int_equal(o.entry[3], 0);
    order_fini(&o);
    session_table_fini(&r);
}

TEST(unknown_values_sort_last)
{
    struct session_table r = { 0 };
    struct filter none = { 0 };
    struct order o = { 0 };
    struct session_ref refs[] = { ref_of("a", "1", 900), ref_of("a", "2", 100) };
    struct session_row *row;

    see(&r, 1, refs, 2);
    row = row_of(&r, 1, HIDDEN_NOT);
    row->created_ms = 5;
    session_table_set_row(&r, 1, row);
    assert_true(order_make(&o, &r, &none, SORT_CREATED));
    assert_int_equal(o.entry[0], 1);
    assert_int_equal(o.entry[1], 0);
    order_fini(&o);
    session_table_fini(&r);
}

TEST(recorded_activity_takes_precedence_over_the_file_time)
{
    struct session_table r = { 0 };
    struct filter none = { 0 };
    struct order o = { 0 };
    struct session_ref refs[] = { ref_of("a", "1", 900), ref_of("a", "2", 500) };
    struct session_row *row;

    see(&r, 1, refs, 2);
    row = row_of(&r, 0, HIDDEN_NOT);
    row->activity_ms = 100; /* only touched since */
    session_table_set_row(&r, 0, row);
    assert_true(order_make(&o, &r, &none, SORT_RECENT));
    assert_int_equal(o.entry[0], 1);
    order_fini(&o);
    session_table_fini(&r);
}
