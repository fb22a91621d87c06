#include "tests/test.h"

#include <stdlib.h>

#include "store/journal/change.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

/* Tombstone and resume-at, which change the session in place. */

#define ID "5e550000-0000-4000-8000-000000000001"
#define A "aaaa0000-0000-4000-8000-000000000001"
#define B "bbbb0000-0000-4000-8000-000000000002"
#define ROW_A "{\"type\":\"user\",\"uuid\":\"" A "\",\"parentUuid\":null}\n"
#define ROW_B "{\"type\":\"assistant\",\"uuid\":\"" B "\",\"parentUuid\":\"" A "\"}\n"
#define FILE_NAME ID ".jsonl"

struct place {
    struct folder folder;
    struct session_ref ref;
    struct store_env env;
    struct change_log *log;
    struct change *change;
    char state[4096], path[4096];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "state", p->state);
    folder_path(&p->folder, FILE_NAME, p->path);
    folder_put(&p->folder, FILE_NAME, SLICE(ROW_A ROW_B));
    folder_mtime(&p->folder, FILE_NAME, 1700000000123000000);
    p->ref = (struct session_ref){ .id = SLICE(ID), .path = { p->path, strlen(p->path) } };
    p->env = (struct store_env){ .state_dir = p->state, .now_ms = 1800000000000 };
    assert_int_equal(change_log_open(&p->env, &p->log, NULL), ERR_OK);
    p->change = change_new("tombstone");
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    change_free(p->change);
    change_log_close(p->log);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static enum err_code remove_it(struct place *p, struct slice message, bool cut)
{
    enum err_code rc = claude_ops.tombstone(NULL, &p->ref, message, cut, p->change, NULL);

    return rc ? rc : change_run(p->log, p->change, NULL);
}

static enum err_code resume_it(struct place *p, struct slice message)
{
    enum err_code rc = claude_ops.resume_at(NULL, &p->ref, message, p->change, NULL);

    return rc ? rc : change_run(p->log, p->change, NULL);
}

static char *text_of(const struct place *p)
{
    size_t n;

    return folder_get(&p->folder, FILE_NAME, &n);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_removed_row_is_blanked_and_every_other_byte_is_kept)
{
    struct place *p = *state;

    assert_int_equal(remove_it(p, SLICE(A), false), ERR_OK);
    char *text = text_of(p);

    assert_int_equal(strspn(text, " "), sizeof ROW_A - 2);
    assert_memory_equal(text + sizeof ROW_A - 2, "\n" ROW_B, sizeof ROW_B);
    free(text);
}

CASE(beside_a_writer_blanking_works_and_cutting_does_not)
{
    struct place *p = *state;
    FILE *writer = fopen(p->path, "a");

    assert_non_null(writer);
    assert_int_equal(remove_it(p, SLICE(A), true), ERR_LOCKED);
    change_free(p->change);
    p->change = change_new("tombstone");
    assert_int_equal(remove_it(p, SLICE(A), false), ERR_OK);
    fclose(writer);
}

static bool cut_is_refused(struct place *p, struct slice message)
{
    if (HAS_LEASES)
        return false;
    char *before = text_of(p);

    assert_int_equal(remove_it(p, message, true), ERR_LOCKED);
    assert_true(folder_is(&p->folder, FILE_NAME, before));
    free(before);
    return true;
}

CASE(cutting_removes_every_row_with_the_id)
{
    struct place *p = *state;

    folder_put(&p->folder, FILE_NAME, SLICE(ROW_A ROW_B "x\n" ROW_A "{}"));
    if (cut_is_refused(p, SLICE(A)))
        return;
    assert_int_equal(remove_it(p, SLICE(A), true), ERR_OK);

    assert_true(folder_is(&p->folder, FILE_NAME, ROW_B "x\n{}"));
}

CASE(a_last_row_without_newline_is_cut_too)
{
    struct place *p = *state;
    const struct slice rows = SLICE(ROW_A ROW_B);

    folder_put(&p->folder, FILE_NAME, (struct slice){ rows.p, rows.n - 1 });
    if (cut_is_refused(p, SLICE(B)))
        return;
    assert_int_equal(remove_it(p, SLICE(B), true), ERR_OK);

    assert_true(folder_is(&p->folder, FILE_NAME, ROW_A));
}

CASE(undoing_a_removal_restores_the_file)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, FILE_NAME);

    for (int cut = 0; cut <= HAS_LEASES; cut++) {
        assert_int_equal(remove_it(p, SLICE("aaaa0"), cut), ERR_OK);
        assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
        char *after = folder_image(&p->folder, FILE_NAME);

        assert_string_equal(before, after);
        free(after);
        change_free(p->change);
        p->change = change_new("tombstone");
    }
    free(before);
}

CASE(an_unknown_message_is_refused)
{
    struct place *p = *state;

    assert_int_equal(remove_it(p, SLICE("cccc0000"), false), ERR_NOT_FOUND);
    assert_int_equal(resume_it(p, SLICE("cccc0000")), ERR_NOT_FOUND);
    assert_true(folder_is(&p->folder, FILE_NAME, ROW_A ROW_B));
}

CASE(resuming_at_a_message_writes_one_row)
{
    struct place *p = *state;

    assert_int_equal(resume_it(p, SLICE("aaaa")), ERR_OK);

    assert_true(folder_is(&p->folder, FILE_NAME,
                          ROW_A ROW_B "{\"type\":\"last-prompt\",\"leafUuid\":\"" A
                                      "\",\"explicit\":true,\"sessionId\":\"" ID "\"}\n"));
}

CASE(clearing_writes_a_row)
{
    struct place *p = *state;

    assert_int_equal(resume_it(p, SLICE("")), ERR_OK);

    assert_true(folder_is(&p->folder, FILE_NAME,
                          ROW_A ROW_B "{\"type\":\"last-prompt\",\"leafUuid\":null,"
                                      "\"explicit\":true,\"sessionId\":\"" ID "\"}\n"));
}

CASE(beside_a_writer_undo_names_the_previous_leaf)
{
    struct place *p = *state;

    assert_int_equal(resume_it(p, SLICE(A)), ERR_OK);
    FILE *writer = fopen(p->path, "a");
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    fclose(writer);
    char *text = text_of(p), *last = strstr(text, "\"leafUuid\":\"" B "\"");

    assert_non_null(last);
    free(text);
}
