#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "store/query/listing.h"
#include "store/query/resolve.h"
#include "store/systems/plugin/plugin.h"
#include "tests/store/systems/plugin/query_store.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

/* What a team's store is asked for: no more than the question needs. */

static struct query_seen *seen;

static struct store *open_query_store(struct folder *f)
{
    static struct store_env env;
    const struct plugin_config config = { .name = "team", .plugin = QUERY_STORE, .path = "x" };
    struct store *st = NULL;

    env = (struct store_env){ .home = f->path, .cwd = "/w", .data_dir = f->path };
    assert_int_equal(plugin_store_open(&env, &config, true, &st, NULL), ERR_OK);
    seen = dlsym(dlopen(QUERY_STORE, RTLD_NOW | RTLD_NOLOAD), "query_seen");
    assert_non_null(seen);
    *seen = (struct query_seen){ 0 };
    return st;
}

struct page {
    char first[64];
    size_t n;
};

static enum err_code count_row_of_page(const struct session_row *row, void *arg, struct err *e)
{
    struct page *page = arg;

    (void)e;
    if (page->n++ == 0)
        snprintf(page->first, sizeof page->first, "%.*s", SLICE_ARG(row->ref.id));
    return ERR_OK;
}

static struct page page_of(struct store *st, const struct listing_query *q)
{
    struct listing *l = NULL;
    struct page page = { .n = 0 };

    assert_int_equal(listing_open(&st, 1, q, &l, NULL), ERR_OK);
    assert_int_equal(listing_each(l, count_row_of_page, &page, NULL), ERR_OK);
    listing_close(l);
    return page;
}

#define EVERYTHING .scope = { .all = true }, .since_ms = TIME_NONE, .before_ms = TIME_NONE

IN_SCRATCH(a_directory_asks_for_its_projects)
{
    struct store *st = open_query_store(*state);
    struct listing_query q = { .since_ms = TIME_NONE, .before_ms = TIME_NONE };

    q.scope.project = SLICE("/w");
    assert_int_equal(page_of(st, &q).n, 2 * QUERY_SESSIONS);
    assert_string_equal(seen->project, "-w ");
    assert_int_equal(seen->lists, 1);
    assert_int_equal(seen->reads, 0);

    q.scope.all = true;
    assert_int_equal(page_of(st, &q).n, 3 * QUERY_SESSIONS);
    assert_int_equal(seen->query.projects, 0);
    store_close(st);
}

IN_SCRATCH(a_short_page_asks_for_the_ends_of_the_newest)
{
    struct store *st = open_query_store(*state);
    const struct listing_query modified = { EVERYTHING, .limit = 3, .sort = LISTING_MODIFIED },
                               recent = { EVERYTHING, .limit = 3, .offset = 10 },
                               titles = { EVERYTHING, .limit = 3, .sort = LISTING_TITLE },
                               tagged = { EVERYTHING, .limit = 3, .tag = SLICE("x") };
    struct page page = page_of(st, &modified);

    assert_int_equal(page.n, 3);
    assert_non_null(strstr(page.first, "-000"));
    assert_in_range(seen->query.newest, 3, 40);
    assert_int_equal(page_of(st, &recent).n, 3);
    assert_in_range(seen->query.newest, 500, 1000); /* of few sessions, all are examined */
    assert_int_equal(seen->lists, 2);
    assert_int_equal(seen->reads, 0);

    /* Any row may be part of these. */
    assert_int_equal(page_of(st, &titles).n, 3);
    assert_int_equal(seen->query.newest, 0);
    assert_int_equal(page_of(st, &tagged).n, 0);
    assert_int_equal(seen->query.newest, 0);
    store_close(st);
}

/* The store passes sessions that were stored an hour before, too. */
IN_SCRATCH(a_time_is_passed_on)
{
    struct store *st = open_query_store(*state);
    const struct listing_query q = { .scope = { .all = true },
                                     .since_ms = QUERY_NEWEST_MS,
                                     .before_ms = TIME_NONE };

    page_of(st, &q);
    assert_int_equal(seen->query.since_ms, QUERY_NEWEST_MS - 60 * 60 * 1000);
    store_close(st);
}

/* The caller goes on beyond what it announced. */
IN_SCRATCH(many_sessions_without_ends_are_requested_at_once)
{
    struct store *st = open_query_store(*state);
    struct listing_query q = { EVERYTHING, .sort = LISTING_MODIFIED };
    struct session_row *row = session_row_new();
    const struct session_ref *const *ref;
    struct listing *l = NULL;
    size_t n;

    q.scope.newest = 5;
    assert_int_equal(listing_open(&st, 1, &q, &l, NULL), ERR_OK);
    ref = listing_refs(l, &n);
    assert_int_equal(n, 3 * QUERY_SESSIONS);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(st->ops->describe(st, &q.scope, ref[i], row, NULL), ERR_OK);
        assert_true(row->first_prompt.n > 0);
    }
    assert_int_equal(seen->lists, 2);
    assert_in_range(seen->reads, 1, 40);
    listing_close(l);
    session_row_free(row);
    store_close(st);
}

/* The agent's own store has a session with this id, too. */
IN_SCRATCH(what_is_on_this_machine_is_found_without_asking)
{
    struct arena a = { 0 };
    struct store *st[2] = { open_query_store(*state), NULL };
    const struct scope all = { .all = true }, here = { .project = SLICE("/w") };
    static const char row[] =
        "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"cwd\":\"/w\","
        "\"timestamp\":\"2026-03-01T12:00:00.000Z\",\"message\":{\"role\":\"user\","
        "\"content\":\"local\"}}\n";
    struct session_ref ref = { 0 };
    char claude[4200];
    struct folder *f = *state;

    folder_put(f, "claude/projects/-w/11111111-1111-4111-8111-111111111111.jsonl", slice_of(row));
    snprintf(claude, sizeof claude, "%s/claude", f->path);
    assert_int_equal(claude_ops.open(st[0]->env, claude, &st[1], NULL), ERR_OK);
    *seen = (struct query_seen){ 0 };
    assert_int_equal(
        resolve_session(st, 2, &all, SLICE("11111111-1111-4111-8111-111111111111"), &a, &ref, NULL),
        ERR_OK);
    assert_int_equal(resolve_session(st, 2, &all, SLICE("11111111"), &a, &ref, NULL), ERR_OK);
    assert_ptr_equal(ref.store, st[1]);
    assert_int_equal(resolve_session(st, 2, &here, SLICE("latest"), &a, &ref, NULL), ERR_OK);
    assert_ptr_equal(ref.store, st[1]);
    assert_int_equal(seen->lists + seen->reads, 0);

    assert_int_equal(resolve_session(st, 2, &all, SLICE("named-007"), &a, &ref, NULL), ERR_OK);
    assert_ptr_equal(ref.store, st[0]);
    assert_true(seen->lists > 0);
    store_close(st[0]);
    store_close(st[1]);
    arena_fini(&a);
}
