#include "tests/test.h"

#include "store/api/host.h"
#include "store/query/listing.h"
#include "store/query/resolve.h"

static const struct store_env env = { .home = "/nowhere", .cwd = "/nowhere" };
static const struct scope everything = { .all = true };

static enum err_code never(const struct session_row *row, void *arg, struct err *e)
{
    (void)row, (void)arg, (void)e;
    fail_msg("a row");
    return ERR_OK;
}

static enum err_code never_json(struct slice json, void *arg, struct err *e)
{
    (void)json, (void)arg, (void)e;
    fail_msg("a message");
    return ERR_OK;
}

/* The loop of a host, as with any other store. */
TEST(a_host_runs_as_if_it_wrote)
{
    const struct slice rows[] = { SLICE("{\"role\":\"user\"}"), SLICE("{\"role\":\"assistant\"}") };
    const struct host_append append = { .row = rows, .n = 2 };
    const char *const file = "/nowhere/a";
    const struct host_checkpoint point = { .message = SLICE("m"), .file = &file, .files = 1 };
    const struct host_setting title = { SLICE("title"), SLICE("T") };
    const struct message_query q = { .session = SLICE("s-1") };
    struct host_created made;
    struct host_appended done;
    struct host_checkpointed saved;
    struct session_ref ref;
    struct transcript *t;
    struct arena a = { 0 };
    struct store *st;

    assert_int_equal(noop_store_ops.open(&env, NULL, &st, NULL), ERR_OK);
    assert_int_equal(host_create(st, &(struct host_create){ .id = SLICE("s-1") }, &a, &made, NULL),
                     ERR_OK);
    assert_true(slice_eq(made.id, SLICE("s-1")));
    assert_int_equal(host_create(st, &(struct host_create){ .cwd = SLICE("/x") }, &a, &made, NULL),
                     ERR_OK);
    assert_int_equal(made.id.n, HOST_ID - 1);
    assert_int_equal(resolve_session(&st, 1, &everything, SLICE("s-1"), &a, &ref, NULL), ERR_OK);
    assert_int_equal(host_append(st, &ref, &append, &a, &done, NULL), ERR_OK);
    assert_int_equal(done.n, 2);
    assert_int_equal(done.id[1].n, 0);
    assert_int_equal(host_checkpoint(st, &ref, &point, &a, &saved, NULL), ERR_OK);
    assert_int_equal(saved.files, 0);
    assert_int_equal(host_set(st, &ref, &title, 1, NULL), ERR_OK);
    assert_int_equal(st->ops->messages(st, &ref, &q, never_json, NULL, NULL), ERR_OK);
    assert_int_equal(st->ops->load(st, &ref, NULL, &t, NULL), ERR_OK);
    assert_int_equal(t->n, 0);
    transcript_free(t);
    arena_fini(&a);
    store_close(st);
}

TEST(nothing_is_listed_and_nonsense_is_refused)
{
    const struct listing_query q = { .scope = { .all = true },
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    const struct slice no_object = SLICE("[]");
    struct session_row *row = session_row_new();
    struct host_appended done;
    struct session_ref ref;
    struct listing *l;
    struct arena a = { 0 };
    struct store *st;

    assert_int_equal(noop_store_ops.open(&env, "/not/there", &st, NULL), ERR_OK);
    assert_int_equal(listing_open(&st, 1, &q, &l, NULL), ERR_OK);
    assert_int_equal(listing_each(l, never, NULL, NULL), ERR_OK);
    listing_close(l);
    assert_int_equal(st->ops->find(st, &everything, SLICE("../x"), &a, &ref, NULL), ERR_USAGE);
    assert_int_equal(st->ops->find(st, &everything, SLICE("x"), &a, &ref, NULL), ERR_OK);
    assert_int_equal(st->ops->describe(st, &everything, &ref, row, NULL), ERR_OK);
    assert_int_equal(row->hidden, HIDDEN_EMPTY);
    assert_int_equal(
        host_append(st, &ref, &(struct host_append){ .row = &no_object, .n = 1 }, &a, &done, NULL),
        ERR_USAGE);
    session_row_free(row);
    arena_fini(&a);
    store_close(st);
}
