#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/io/window.h"
#include "store/journal/change.h"
#include "store/maintenance/doctor.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

/* A store with one session in a temporary folder, and the findings of the doctor about it: "kind@line " for each, with
 * + if it was repaired. */
#define NOW INT64_C(1800000000000)
#define DAY INT64_C(86400000)
#define ID "00000001-0000-4000-8000-000000000000"
#define OTHER "00000002-0000-4000-8000-000000000000"
#define SESSION "config/projects/p/" ID ".jsonl"
#define USER(id, parent)                                                                           \
    "{\"parentUuid\":" parent ",\"type\":\"user\",\"uuid\":\"" id                                  \
    "\",\"message\":{\"role\":\"user\",\"content\":\"ask\"}}"

enum { SAID_MOST = 32768 };

struct world {
    struct folder folder;
    struct store_env env;
    char config[4096], state[4096], data[4096];
    struct store *store;
    struct doctor doctor;
    char said[SAID_MOST], why[SAID_MOST];
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    folder_make(&w->folder);
    folder_path(&w->folder, "config", w->config);
    folder_path(&w->folder, "state", w->state);
    folder_path(&w->folder, "data", w->data);
    folder_dir(&w->folder, "config/projects/p");
    w->env = (struct store_env){ .home = w->folder.path,
                                 .proc_dir = w->folder.path,
                                 .etc_dir = w->folder.path,
                                 .cwd = w->folder.path,
                                 .state_dir = w->state,
                                 .data_dir = w->data,
                                 .now_ms = NOW };
    assert_int_equal(claude_ops.open(&w->env, w->config, &w->store, NULL), ERR_OK);
    w->doctor = (struct doctor){
        .env = &w->env, .store = &w->store, .stores = 1, .scope = { .all = true }
    };
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    store_close(w->store);
    folder_remove(&w->folder);
    free(w);
    return 0;
}

/* Old enough not to count as being written, young enough to be kept. */
static void put(struct world *w, const char *name, struct slice bytes)
{
    folder_put(&w->folder, name, bytes);
    folder_mtime(&w->folder, name, (NOW - DAY) * 1000000);
}

static void add(char *out, const char *text)
{
    size_t n = strlen(out);

    snprintf(out + n, SAID_MOST - n, "%s", text);
}

static enum err_code note(const struct finding *f, void *arg, struct err *e)
{
    struct world *w = arg;
    char text[200];

    (void)e;
    snprintf(text, sizeof text, "%s%s", finding_name(f->kind), f->fixed ? "+" : "");
    add(w->said, text);
    if (f->line) {
        snprintf(text, sizeof text, "@%d", (int)f->line);
        add(w->said, text);
    }
    add(w->said, " ");
    add(w->why, f->why);
    add(w->why, "\n");
    return ERR_OK;
}

static const char *look(struct world *w)
{
    w->said[0] = w->why[0] = '\0';
    assert_int_equal(doctor_examine(&w->doctor, note, w, NULL), ERR_OK);
    return w->said;
}

static const char *look_at(struct world *w, const char *rows)
{
    put(w, SESSION, slice_of(rows));
    return look(w);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_sound_session_has_no_findings)
{
    assert_string_equal(look_at(*state, USER("a", "null") "\n" USER("b", "\"a\"") "\n"), "");
}

CASE(each_kind_of_broken_line_is_reported_with_its_line)
{
    struct world *w = *state;
    /* clang-format off */
    static const char rows[] =
        USER("a", "null") "\n"
        "{\"type\":\"user\",\"mess" USER("b", "\"a\"") "\n"
        "nonsense\n"
        "\0\0\0\n"
        "\0\0" USER("c", "\"a\"") "\n"
        "{\"a\":\"\0\0\n";
    /* clang-format on */

    put(w, SESSION, (struct slice){ rows, sizeof rows - 1 });
    assert_string_equal(look(w), "spliced-line@2 broken-line@3 nul-bytes@4 nul-bytes@5 "
                                 "nul-bytes@6 ");
    assert_non_null(strstr(w->why, "a whole row begins at byte 20 of this line"));
}

CASE(a_byte_order_mark_is_no_splice)
{
    struct world *w = *state;

    assert_string_equal(look_at(w, "\xef\xbb\xbf" USER("a", "null") "\n"), "hidden broken-line@1 ");
    assert_non_null(strstr(w->why, "byte order mark"));
}

CASE(a_row_inside_a_row_is_no_splice)
{
    assert_string_equal(look_at(*state, USER("a", "null") "\n{\"x\":{\"type\":\"user\"},\n"),
                        "broken-line@2 ");
}

static void undo(struct world *w)
{
    struct change_log *log;

    assert_int_equal(change_log_open(&w->env, &log, NULL), ERR_OK);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    change_log_close(log);
}

/* Frees `before`. */
static void undo_gives_back(struct world *w, char *before)
{
    undo(w);
    char *after = folder_image(&w->folder, "config");

    assert_string_equal(before, after);
    free(before);
    free(after);
}

CASE(a_torn_tail_is_repaired_and_the_repair_undone)
{
    struct world *w = *state;

    assert_string_equal(look_at(w, USER("a", "null")), "torn-tail@1 ");
    char *before = folder_image(&w->folder, "config");

    w->doctor.fix = true;
    if (!HAS_LEASES) { /* nobody may be in the middle of writing the line */
        assert_string_equal(look(w), "torn-tail@1 ");
        assert_non_null(strstr(w->why, "(not repaired: "));
        assert_true(folder_is(&w->folder, SESSION, USER("a", "null")));
        free(before);
        return;
    }
    assert_string_equal(look(w), "torn-tail+@1 ");
    assert_true(folder_is(&w->folder, SESSION, USER("a", "null") "\n"));
    assert_string_equal(look(w), "");

    undo_gives_back(w, before);
}

CASE(a_session_that_may_be_in_use_is_left_alone)
{
    struct world *w = *state;
    char name[100], entry[200];

    snprintf(name, sizeof name, "config/sessions/%ld.json", (long)getpid());
    snprintf(entry, sizeof entry, "{\"pid\":%ld,\"sessionId\":\"" ID "\"}", (long)getpid());
    folder_put(&w->folder, name, slice_of(entry));
    w->doctor.fix = true;

    assert_string_equal(look_at(w, USER("a", "null")), "torn-tail@1 ");
    assert_non_null(strstr(w->why, "(not repaired: "));
    assert_true(folder_is(&w->folder, SESSION, USER("a", "null")));
}

CASE(dead_ends_of_the_chain_are_reported)
{
    struct world *w = *state;

    assert_string_equal(look_at(w, USER("a", "\"gone\"") "\n" USER("b", "7") "\n"),
                        "dangling-parent@1 dangling-parent@2 lost-part@2 ");
    assert_string_equal(look_at(w, USER("a", "\"b\"") "\n" USER("b", "\"a\"") "\n" USER(
                                       "c", "\"a\"") "\n" USER("d", "\"d\"") "\n"),
                        "cycle@1 cycle@4 ");
    assert_non_null(strstr(w->why, "2 rows follow each other in a circle"));
    assert_string_equal(
        look_at(w, USER("a", "null") "\n" USER("b", "\"a\"") "\n" USER("a", "null") "\n"),
        "duplicate-id@3 ");
    assert_string_equal(w->why, "line 1 has the same uuid\n");
}

CASE(a_ruined_file_gives_a_bounded_report)
{
    struct world *w = *state;
    static const char *const files[] = { SESSION,
                                         "config/projects/p/" ID "/subagents/agent-a1.jsonl" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct buf rows = { 0 };
        size_t told = 0;

        assert_int_equal(buf_addf(&rows, "%s\n", USER("a", "null")), ERR_OK);
        put(w, SESSION, buf_slice(&rows));
        for (int n = 0; n < 1000; n++)
            assert_int_equal(buf_add(&rows, SLICE("x\n")), ERR_OK);
        put(w, files[i], buf_slice(&rows));
        buf_fini(&rows);
        look(w);
        for (const char *p = w->said; (p = strstr(p, "broken-line")); p++)
            told++;

        assert_int_equal(told, 201);
        assert_non_null(strstr(w->why, "and 800 more like this"));
    }
}

static void fill(struct buf *b, size_t bytes)
{
    for (size_t n = 0; n < bytes; n += 100)
        assert_int_equal(buf_addf(b, "%-99s\n", "{\"type\":\"x\"}"), ERR_OK);
}

CASE(a_title_missing_from_lists_is_rewritten)
{
    struct world *w = *state;
    struct buf rows = { 0 };
    struct session_row *row = session_row_new();
    struct scope everything = { .all = true };
    struct session_ref ref;
    struct arena a = { 0 };

    assert_int_equal(buf_addf(&rows, "%s\n", USER("a", "null")), ERR_OK);
    fill(&rows, 2 * WINDOW_BYTES);
    assert_int_equal(buf_addf(&rows, "{\"type\":\"custom-title\",\"customTitle\":\"mine\"}\n"),
                     ERR_OK);
    fill(&rows, 2 * WINDOW_BYTES);
    put(w, SESSION, buf_slice(&rows));
    buf_fini(&rows);
    assert_non_null(strstr(look(w), "metadata-outside-window@"));

    w->doctor.fix = true;
    assert_non_null(strstr(look(w), "metadata-outside-window+@"));
    folder_mtime(&w->folder, SESSION, NOW * 1000000);
    assert_string_equal(look(w), "");
    assert_int_equal(claude_ops.find(w->store, &everything, SLICE(ID), &a, &ref, NULL), ERR_OK);
    assert_int_equal(claude_ops.describe(w->store, &everything, &ref, row, NULL), ERR_OK);
    assert_true(slice_eq(row->custom_title, SLICE("mine")));
    session_row_free(row);
    arena_fini(&a);
}

/* A torn last line after 64 KiB that hide a title. */
static void put_two_damages(struct world *w)
{
    struct buf rows = { 0 };

    assert_int_equal(buf_addf(&rows, "{\"type\":\"custom-title\",\"customTitle\":\"mine\"}\n"),
                     ERR_OK);
    fill(&rows, 2 * WINDOW_BYTES);
    assert_int_equal(buf_addf(&rows, "%s", USER("a", "null")), ERR_OK);
    put(w, SESSION, buf_slice(&rows));
    buf_fini(&rows);
}

CASE(repairs_made_together_are_undone_together)
{
    NEEDS("leases, without which no torn line is repaired");
    struct world *w = *state;

    put_two_damages(w);
    char *before = folder_image(&w->folder, "config");

    w->doctor.fix = true;
    look(w);
    assert_non_null(strstr(w->said, "torn-tail+@"));
    assert_non_null(strstr(w->said, "metadata-outside-window+@"));
    folder_mtime(&w->folder, SESSION, (NOW - DAY) * 1000000);
    assert_string_equal(look(w), "");

    undo_gives_back(w, before);
}

CASE(a_file_in_use_does_not_block_other_repairs)
{
    NEEDS("leases, without which no torn line is repaired");
    struct world *w = *state;
    const char *agent = "config/projects/p/" ID "/subagents/agent-a1.jsonl";
    char path[4096];

    put_two_damages(w);
    put(w, agent, SLICE("{\"type\":\"user\",\"uuid\":\"x\",\"isSidechain\":true}"));
    int fd = open(folder_path(&w->folder, agent, path), O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    w->doctor.fix = true;
    look(w);
    close(fd);
    assert_non_null(strstr(w->said, "torn-tail+@"));
    assert_non_null(strstr(w->said, "metadata-outside-window+@"));
    assert_non_null(strstr(w->said, "torn-tail@1"));
    assert_non_null(strstr(w->why, "(not repaired: "));
    folder_mtime(&w->folder, SESSION, (NOW - DAY) * 1000000);
    assert_string_equal(look(w), "torn-tail+@1 ");
}

CASE(missing_backups_are_reported)
{
    struct world *w = *state;
    const char *rows =
        USER("a", "null") "\n"
                          "{\"type\":\"file-history-snapshot\",\"messageId\":\"a\",\"snapshot\":{"
                          "\"messageId\":\"a\","
                          "\"trackedFileBackups\":{"
                          "\"x\":{\"backupFileName\":\"0123456789abcdef@v1\",\"version\":1},"
                          "\"y\":{\"backupFileName\":\"1123456789abcdef@v1\",\"version\":1},"
                          "\"z\":{\"backupFileName\":\"../../escape\",\"version\":1},"
                          "\"n\":{\"backupFileName\":null,\"version\":1}}}}\n";

    folder_put(&w->folder, "config/file-history/" ID "/0123456789abcdef@v1", SLICE("x"));
    assert_string_equal(look_at(w, rows), "missing-backup wrong-backup ");
    assert_non_null(strstr(w->why, "the saved copy of y is missing"));
    folder_put(&w->folder, "config/file-history/" ID "/1123456789abcdef@v1/dir", SLICE("x"));
    assert_string_equal(look_at(w, rows), "wrong-backup wrong-backup ");
}

CASE(leftovers_are_reported)
{
    struct world *w = *state;

    put(w, SESSION, SLICE(USER("a", "null") "\n"));
    folder_put(&w->folder, "config/projects/p/" ID "/subagents/x", SLICE("12"));
    folder_put(&w->folder, "config/file-history/" ID "/x@v1", SLICE("1"));
    assert_string_equal(look(w), "");

    folder_put(&w->folder, "config/projects/p/" OTHER "/subagents/x", SLICE("12"));
    folder_put(&w->folder, "config/file-history/" OTHER "/x@v1", SLICE("1"));
    folder_put(&w->folder, "config/file-history/not-an-id/x@v1", SLICE("1"));
    assert_string_equal(look(w), "orphan-folder orphan-backups ");
    assert_non_null(strstr(w->why, "1 file, 2 bytes are left"));
}

CASE(hidden_sessions_are_reported_with_the_reason)
{
    struct world *w = *state;

    assert_string_equal(look_at(w, "{\"type\":\"mode\",\"mode\":\"plan\"}\n"), "hidden ");
    assert_string_equal(look_at(w, "{\"parentUuid\":null,\"entrypoint\":\"sdk-cli\",\"type\":"
                                   "\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"x\"}}\n"),
                        "hidden ");
    assert_non_null(strstr(w->why, "a program wrote it"));
    folder_put(&w->folder, SESSION, SLICE(""));
    assert_string_equal(look(w), "hidden ");
    assert_non_null(strstr(w->why, "the file is empty"));
    put(w, SESSION, SLICE(USER("a", "null") "\n"));
    put(w, "config/projects/q/" ID ".jsonl", SLICE(USER("a", "null") "\n"));
    assert_string_equal(look(w), "hidden ");
    assert_non_null(strstr(w->why, "a newer copy"));
}

CASE(a_session_about_to_be_removed_is_reported)
{
    struct world *w = *state;

    put(w, SESSION, SLICE(USER("a", "null") "\n"));
    folder_mtime(&w->folder, SESSION, (NOW - 25 * DAY) * 1000000);
    assert_string_equal(look(w), "expires ");
    assert_non_null(strstr(w->why, "in 5 days"));
    folder_mtime(&w->folder, SESSION, (NOW - 10 * DAY) * 1000000);
    assert_string_equal(look(w), "");
    folder_mtime(&w->folder, SESSION, (NOW - 33 * DAY) * 1000000);
    look(w);
    assert_non_null(strstr(w->why, "3 days overdue"));
}

CASE(an_unreadable_session_does_not_hide_others)
{
    struct world *w = *state;
    char path[4096];

    put(w, "config/projects/p/" OTHER ".jsonl", SLICE("x\n" USER("a", "null") "\n"));
    folder_path(&w->folder, SESSION, path);
    assert_int_equal(symlink(ID ".jsonl", path), 0); /* its own parent */
    assert_string_equal(look(w), "broken-line@1 hidden unreadable ");

    struct session_ref ref = {
        .store = w->store, .id = SLICE(ID), .path = { path, strlen(path) }, .folder = SLICE("p")
    };

    w->doctor.only = &ref;
    assert_int_equal(doctor_examine(&w->doctor, note, w, NULL), ERR_FORMAT);
}

CASE(our_own_records_are_checked_too)
{
    struct world *w = *state;

    folder_put(&w->folder, "data/trash/000000000000001-0/info", SLICE("{"));
    folder_put(&w->folder, "data/trash/000000000000001-0/0.0", SLICE("x"));
    folder_put(&w->folder, "data/trash/000000000000002-0/0.0", SLICE("x"));
    folder_dir(&w->folder, "data/trash/000000000000003-0");
    folder_put(&w->folder, "state/changes/000000000000001-aa/record", SLICE("{"));
    folder_dir(&w->folder, "state/changes/000000000000002-aa.intent");
    folder_dir(&w->folder, "state/rewinds/000000000000001-aa");
    folder_put(&w->folder, "state/rewinds/000000000000002-aa/plan", SLICE("{"));
    char *before = folder_image(&w->folder, "");

    assert_string_equal(look(w), "damaged-change unfinished-change unfinished-rewind "
                                 "damaged-rewind damaged-trash damaged-trash ");
    char *after = folder_image(&w->folder, "");

    assert_string_equal(before, after);
    free(before);
    free(after);
    w->doctor.fix = true;
    assert_string_equal(look(w), "damaged-change unfinished-change+ unfinished-rewind+ "
                                 "damaged-rewind damaged-trash damaged-trash ");
    assert_string_equal(look(w), "damaged-change damaged-rewind damaged-trash damaged-trash ");
}
