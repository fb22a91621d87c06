#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/maintenance/trash.h"
#include "tests/support/folder.h"

struct place {
    struct folder folder;
    struct store_env env;
    char state[4096], data[4096];
    char part[4][4096];
    struct change_log *log;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "state", p->state);
    folder_path(&p->folder, "data", p->data);
    folder_put(&p->folder, "store/p/a.jsonl", SLICE("{\"a\":1}\n"));
    folder_put(&p->folder, "store/p/a/subagents/x.jsonl", SLICE("{}\n"));
    folder_put(&p->folder, "store/p/b.jsonl", SLICE("{\"b\":1}\n"));
    folder_mtime(&p->folder, "store/p/a.jsonl", 1700000000123456789);
    folder_path(&p->folder, "store/p/a.jsonl", p->part[0]);
    folder_path(&p->folder, "store/p/a", p->part[1]);
    folder_path(&p->folder, "store/history/a", p->part[2]); /* never existed */
    folder_path(&p->folder, "store/p/b.jsonl", p->part[3]);
    p->env =
        (struct store_env){ .state_dir = p->state, .data_dir = p->data, .now_ms = 1800000000000 };
    assert_int_equal(change_log_open(&p->env, &p->log, NULL), ERR_OK);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    change_log_close(p->log);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static void delete_both(struct place *p, struct trash_list *out)
{
    const char *a[] = { p->part[0], p->part[1], p->part[2] }, *b[] = { p->part[3] };
    struct trash_request r[] = {
        { .system = "claude",
          .store = "/s",
          .id = SLICE("a"),
          .title = SLICE("T\xc3\xa9"),
          .part = a,
          .parts = 3 },
        { .system = "claude", .store = "/s", .id = SLICE("b"), .part = b, .parts = 1 },
    };

    assert_int_equal(trash_add(p->log, &p->env, "delete", r, 2, out, NULL), ERR_OK);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(deleted_sessions_are_listed_with_their_size)
{
    struct place *p = *state;
    struct trash_list put, list;

    delete_both(p, &put);
    assert_false(folder_has(&p->folder, "store/p/a.jsonl"));
    assert_false(folder_has(&p->folder, "store/p/a"));
    assert_int_equal(trash_read(&p->env, &list, NULL), ERR_OK);

    assert_int_equal(list.n, 2);
    assert_string_equal(list.item[0].session, "a");
    assert_string_equal(list.item[0].title, "T\xc3\xa9");
    assert_int_equal(list.item[0].files, 2);
    assert_int_equal(list.item[0].bytes, 11);
    assert_string_equal(list.item[0].trash_id, put.item[0].trash_id);
    trash_list_fini(&put);
    trash_list_fini(&list);
}

CASE(restore_brings_back_bytes_modes_and_mtimes)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "store");
    struct trash_list put, list;

    delete_both(p, &put);
    assert_int_equal(trash_restore(p->log, &put.item[0], NULL), ERR_OK);
    assert_int_equal(trash_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(trash_restore(p->log, &list.item[0], NULL), ERR_OK);
    char *after = folder_image(&p->folder, "store");

    assert_string_equal(before, after);
    trash_list_fini(&list);
    assert_int_equal(trash_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 0);
    free(before);
    free(after);
    trash_list_fini(&put);
    trash_list_fini(&list);
}

CASE(a_deletion_is_undone_from_the_operation_log)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "store");
    struct trash_list put;

    delete_both(p, &put);
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&p->folder, "store");

    assert_string_equal(before, after);
    free(before);
    free(after);
    trash_list_fini(&put);
}

CASE(restore_overwrites_no_newer_file)
{
    struct place *p = *state;
    struct trash_list put;

    delete_both(p, &put);
    folder_put(&p->folder, "store/p/a.jsonl", SLICE("new\n"));

    assert_int_equal(trash_restore(p->log, &put.item[0], NULL), ERR_STALE);
    assert_true(folder_is(&p->folder, "store/p/a.jsonl", "new\n"));
    assert_false(folder_has(&p->folder, "store/p/a"));
    trash_list_fini(&put);
}

CASE(a_missing_session_cannot_be_deleted)
{
    struct place *p = *state;
    const char *gone[] = { p->part[2], p->part[1] };
    struct trash_request r = {
        .system = "claude", .store = "/s", .id = SLICE("a"), .part = gone, .parts = 2
    };
    struct trash_list put;

    assert_int_equal(trash_add(p->log, &p->env, "delete", &r, 1, &put, NULL), ERR_NOT_FOUND);
    assert_true(folder_has(&p->folder, "store/p/a/subagents/x.jsonl"));
}

/* Fills the stack with the name of a directory, so that a buffer read before it is written names that directory. */
static __attribute__((noinline)) void litter_the_stack(void)
{
    volatile char litter[1 << 17];

    for (size_t i = 0; i < sizeof litter; i++)
        litter[i] = i % 2 ? '\0' : 'v';
}

/* The batch has no name yet, so nothing else is removed in its place. */
CASE(a_batch_that_cannot_be_named_removes_nothing)
{
    struct place *p = *state;
    struct store_env nowhere = p->env;
    const char *part[] = { p->part[3] };
    const struct trash_request r = {
        .system = "claude", .store = "/s", .id = SLICE("b"), .part = part, .parts = 1
    };
    struct trash_list list = { 0 };
    char was[4096];

    nowhere.data_dir = NULL;
    folder_dir(&p->folder, "v");
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(p->folder.path), 0);
    litter_the_stack();
    enum err_code rc = trash_add(p->log, &nowhere, "delete", &r, 1, &list, NULL);

    assert_int_equal(chdir(was), 0);
    assert_int_equal(rc, ERR_NOT_FOUND);
    assert_true(folder_has(&p->folder, "v"));
    assert_true(folder_has(&p->folder, "store/p/b.jsonl"));
}

CASE(destroying_an_item_leaves_the_others)
{
    struct place *p = *state;
    struct trash_list put, list;

    delete_both(p, &put);
    assert_int_equal(trash_destroy(&p->env, &put.item[0], NULL), ERR_OK);
    assert_int_equal(trash_read(&p->env, &list, NULL), ERR_OK);

    assert_int_equal(list.n, 1);
    assert_string_equal(list.item[0].session, "b");
    trash_list_fini(&put);
    trash_list_fini(&list);
}

CASE(a_damaged_manifest_hides_and_loses_no_other_batch)
{
    struct place *p = *state;
    struct trash_list put, list;

    delete_both(p, &put);
    folder_put(&p->folder, "data/trash/000000000000001-0/info", SLICE("{\"items\":[{]"));
    folder_put(&p->folder, "data/trash/000000000000001-0/0.0", SLICE("kept"));
    assert_int_equal(trash_read(&p->env, &list, NULL), ERR_OK);

    assert_int_equal(list.n, 2);
    assert_true(folder_has(&p->folder, "data/trash/000000000000001-0/0.0"));
    trash_list_fini(&put);
    trash_list_fini(&list);
}

/* Names as the first version wrote them. */
CASE(a_batch_of_the_first_version_is_read)
{
    struct place *p = *state;
    struct trash_list list;

    folder_put(&p->folder, "data/trash/000000000000001-0/info",
               SLICE("{\"items\":[{\"system\":\"claude\",\"store\":\"/s\",\"session\":\"a\","
                     "\"title\":\"T\",\"deleted\":1,\"bytes\":4,\"files\":1,"
                     "\"from\":[{\"path\":\"/s/a.jsonl\"}]}],\"version\":1}"));
    folder_put(&p->folder, "data/trash/000000000000001-0/0.0", SLICE("kept"));
    assert_int_equal(trash_read(&p->env, &list, NULL), ERR_OK);

    assert_int_equal(list.n, 1);
    assert_non_null(strstr(list.item[0].part[0], "/000000000000001-0/0.0"));
    trash_list_fini(&list);
}

CASE(rows_written_since_are_joined_never_replaced)
{
    struct place *p = *state;
    struct trash_list put;

    delete_both(p, &put);
    folder_put(&p->folder, "store/p/a.jsonl", SLICE("{\"a\":2}\n"));
    folder_put(&p->folder, "store/p/a/subagents/y.jsonl", SLICE("{}\n"));
    assert_true(trash_can_join(&put.item[0]));
    assert_int_equal(trash_restore(p->log, &put.item[0], NULL), ERR_STALE);
    assert_true(folder_is(&p->folder, "store/p/a.jsonl", "{\"a\":2}\n"));

    if (!HAS_LEASES) {
        assert_int_equal(trash_join(p->log, &put.item[0], NULL), ERR_LOCKED);
        assert_true(folder_is(&p->folder, "store/p/a.jsonl", "{\"a\":2}\n"));
        assert_false(folder_has(&p->folder, "store/p/a/subagents/x.jsonl"));
        assert_true(trash_can_join(&put.item[0]));
        trash_list_fini(&put);
        return;
    }
    assert_int_equal(trash_join(p->log, &put.item[0], NULL), ERR_OK);
    assert_true(folder_is(&p->folder, "store/p/a.jsonl", "{\"a\":1}\n{\"a\":2}\n"));
    assert_true(folder_has(&p->folder, "store/p/a/subagents/x.jsonl"));
    assert_true(folder_has(&p->folder, "store/p/a/subagents/y.jsonl"));
    assert_int_equal(trash_join(p->log, &put.item[0], NULL), ERR_STALE);

    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    assert_true(folder_is(&p->folder, "store/p/a.jsonl", "{\"a\":2}\n"));
    assert_false(folder_has(&p->folder, "store/p/a/subagents/x.jsonl"));
    trash_list_fini(&put);
}

CASE(differing_files_of_one_name_are_not_joined)
{
    struct place *p = *state;
    struct trash_list put;

    delete_both(p, &put);
    folder_put(&p->folder, "store/p/a.jsonl", SLICE("{\"a\":2}\n"));
    folder_put(&p->folder, "store/p/a/subagents/x.jsonl", SLICE("{\"x\":2}\n"));
    assert_int_equal(trash_join(p->log, &put.item[0], NULL), ERR_STALE);
    assert_true(folder_is(&p->folder, "store/p/a.jsonl", "{\"a\":2}\n"));
    assert_true(folder_is(&p->folder, "store/p/a/subagents/x.jsonl", "{\"x\":2}\n"));
    trash_list_fini(&put);
}
