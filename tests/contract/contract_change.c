#include "tests/contract/contract.h"

#include "tests/test.h"

#include <stdlib.h>

#include "store/maintenance/trash.h"
#include "tests/bench/rng.h"

/* Changes. A plan alone does nothing, a change shows in what is read afterwards, and undo restores the store byte for
 * byte, mtimes included. */

/* ---- names and marks ---- */

static void rename_first(struct contract *c, struct slice title)
{
    struct session_ref ref = contract_find(c, contract_first(c));
    struct change *change = contract_begin("rename");

    assert_int_equal(c->ops->rename(c->store, &ref, title, change, NULL), ERR_OK);
    contract_helpers(c, change);
}

static void a_rename_shows_until_it_is_undone(struct contract *c)
{
    const struct slice title = SLICE("A \"new\" n\xc3\xa4me");
    struct session_row *row, *first;

    if (!c->ops->rename)
        skip();
    char *before = contract_image(c);

    first = contract_describe(c, contract_first(c));
    rename_first(c, title);
    row = contract_describe(c, contract_first(c));
    assert_true(slice_eq(row->summary, title));
    assert_true(slice_eq(row->custom_title, title));
    contract_back_and_forth(c, before);
    session_row_free(row);
    row = contract_describe(c, contract_first(c));
    assert_true(slice_eq(row->summary, first->summary));
    session_row_free(row);
    session_row_free(first);
    free(before);
}

static void a_blank_title_is_refused(struct contract *c)
{
    struct session_ref ref = contract_find(c, contract_first(c));

    if (!c->ops->rename)
        skip();
    struct change *change = contract_begin("rename");

    assert_int_equal(c->ops->rename(c->store, &ref, SLICE(" \t\n "), change, NULL), ERR_USAGE);
    assert_int_equal(change->n, 0);
    change_free(change);
}

static void tag_first(struct contract *c, struct slice tag, bool clear)
{
    struct session_ref ref = contract_find(c, contract_first(c));
    struct change *change = contract_begin("tag");

    assert_int_equal(c->ops->tag(c->store, &ref, tag, clear, change, NULL), ERR_OK);
    contract_helpers(c, change);
}

static bool first_is_tagged(struct contract *c, struct slice tag)
{
    struct session_row *row = contract_describe(c, contract_first(c));
    bool same = slice_eq(row->tag, tag);

    session_row_free(row);
    return same;
}

static void a_tag_stays_until_it_is_cleared(struct contract *c)
{
    if (!c->ops->tag)
        skip();
    char *before = contract_image(c);

    tag_first(c, SLICE("kept"), false);
    assert_true(first_is_tagged(c, SLICE("kept")));
    tag_first(c, SLICE(""), true);
    assert_true(first_is_tagged(c, SLICE("")));
    contract_undo(c);
    assert_true(first_is_tagged(c, SLICE("kept")));
    contract_back_and_forth(c, before);
    free(before);
}

static bool first_is_archived(struct contract *c)
{
    struct session_row *row = contract_describe(c, contract_first(c));
    bool archived = row->flags & SESSION_ARCHIVED;

    session_row_free(row);
    return archived;
}

static void archive_first(struct contract *c, bool archived)
{
    struct session_ref ref = contract_find(c, contract_first(c));
    struct change *change = contract_begin(archived ? "archive" : "unarchive");

    assert_int_equal(c->ops->archive(c->store, &c->scope, &ref, archived, change, NULL), ERR_OK);
    contract_helpers(c, change);
}

static void an_archived_session_is_marked_until_it_is_unarchived(struct contract *c)
{
    if (!c->ops->archive)
        skip();
    char *before = contract_image(c);

    archive_first(c, true);
    assert_true(first_is_archived(c));
    archive_first(c, false);
    assert_false(first_is_archived(c));
    contract_undo(c);
    assert_true(first_is_archived(c));
    contract_back_and_forth(c, before);
    free(before);
}

static void metadata_already_in_place_is_not_rewritten(struct contract *c)
{
    size_t appended = 1;

    if (!c->ops->reappend || !c->ops->rename)
        skip();
    rename_first(c, SLICE("once"));
    char *before = contract_image(c);
    struct session_ref ref = contract_find(c, contract_first(c));
    struct change *change = contract_begin("reappend");

    assert_int_equal(c->ops->reappend(c->store, &ref, change, &appended, NULL), ERR_OK);
    assert_int_equal(appended, 0);
    contract_helpers(c, change);
    contract_is(c, before);
    free(before);
}

/* ---- deleting ---- */

static bool can_go(struct contract *c, const struct contract_session *s)
{
    struct session_row *row = contract_describe(c, s);
    bool can = row->can & CAN_DELETE;

    session_row_free(row);
    return can;
}

static struct trash_list delete (struct contract *c, const struct contract_session *s)
{
    struct session_ref ref = contract_find(c, s);
    struct trash_request request;
    struct trash_list list = { 0 };
    struct err e = { 0 };

    if (trash_request_make(&ref, SLICE("title"), TRASH_REQUEST_ALL, &c->arena, &request, &e) ||
        trash_add(c->log, &c->env, "delete", &request, 1, &list, &e))
        fail_msg("delete: %s: %s", e.path, e.text);
    return list;
}

/* A session of which a part stays, as the result reports, may still be listed. */
static void a_deleted_session_is_gone_and_the_others_remain(struct contract *c)
{
    if (!c->ops->parts)
        skip();
    char *before = contract_image(c);
    struct trash_list list = delete (c, contract_first(c));

    bool stays = list.item[0].stays != NULL;

    assert_int_equal(contract_lists(c, contract_text(contract_first(c)->id)), stays);
    assert_int_equal(contract_count(c), c->system->n - !stays);
    contract_back_and_forth(c, before);
    assert_true(contract_lists(c, contract_text(contract_first(c)->id)));
    trash_list_fini(&list);
    free(before);
}

static void a_deleted_session_comes_back_from_the_trash(struct contract *c)
{
    if (!c->ops->parts)
        skip();
    char *before = contract_image(c);
    struct trash_list list = delete (c, contract_first(c));

    assert_int_equal(trash_restore(c->log, &list.item[0], NULL), ERR_OK);
    contract_is(c, before);
    trash_list_fini(&list);
    free(before);
}

static void every_part_of_a_session_is_in_its_store(struct contract *c)
{
    const char **part;
    size_t n, root = strlen(c->root);

    if (!c->ops->parts)
        skip();
    for (size_t i = 0; i < c->system->n; i++) {
        struct session_ref ref = contract_find(c, &c->system->session[i]);

        assert_int_equal(c->ops->parts(c->store, &ref, true, &c->arena, &part, &n, NULL), ERR_OK);
        assert_int_equal(n > 0, can_go(c, &c->system->session[i]));
        for (size_t k = 0; k < n; k++)
            assert_true(strncmp(part[k], c->root, root) == 0 && part[k][root] == '/');
    }
}

static unsigned do_something(struct contract *c, struct rng *d)
{
    char text[32];
    struct change *change;

    snprintf(text, sizeof text, "number %u", rng_roll(d, 1000));
    switch (rng_roll(d, 5)) {
    case 0:
        if (c->ops->rename)
            rename_first(c, contract_text(text));
        return c->ops->rename != NULL;
    case 1:
        if (c->ops->tag)
            tag_first(c, contract_text(text), false);
        return c->ops->tag != NULL;
    case 2:
        if (c->ops->archive)
            archive_first(c, rng_roll(d, 2));
        return c->ops->archive != NULL;
    case 3:
        if (!c->ops->fork)
            return 0;
        change = contract_begin("fork");
        contract_fork(c, (struct slice){ NULL, 0 }, change);
        contract_helpers(c, change);
        return 1;
    default:
        if (!contract_lists(c, contract_text(c->system->session[1].id)) ||
            !can_go(c, &c->system->session[1]))
            return 0;
        struct trash_list list = delete (c, &c->system->session[1]);

        trash_list_fini(&list);
        return 1;
    }
}

static void undoing_any_changes_restores_the_store(struct contract *c)
{
    char *before = contract_image(c);
    struct rng d = rng_of(7);

    for (int round = 0; round < 8; round++) {
        unsigned changes = 0;

        for (int i = 0; i < 10; i++)
            changes += do_something(c, &d);
        while (changes--)
            contract_undo(c);
        contract_is(c, before);
    }
    free(before);
}

#define CASE(x)                                                                                    \
    {                                                                                              \
#x, x                                                                                      \
    }

const struct contract_case contract_changes[] = {
    CASE(a_rename_shows_until_it_is_undone),
    CASE(a_blank_title_is_refused),
    CASE(a_tag_stays_until_it_is_cleared),
    CASE(an_archived_session_is_marked_until_it_is_unarchived),
    CASE(metadata_already_in_place_is_not_rewritten),
    CASE(a_deleted_session_is_gone_and_the_others_remain),
    CASE(a_deleted_session_comes_back_from_the_trash),
    CASE(every_part_of_a_session_is_in_its_store),
    CASE(undoing_any_changes_restores_the_store),
    { NULL, NULL },
};
