#include "tests/test.h"

#include <stdlib.h>

#include "store/api/edit.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"
#define LOG "cfg/projects/-p/" ID ".jsonl"

struct place {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    char config[4096], path[4096];
    struct buf rows, got;
    int second;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    assert_non_null(p);
    folder_make(&p->folder);
    folder_dir(&p->folder, "cfg/projects/-p");
    folder_path(&p->folder, "cfg", p->config);
    folder_path(&p->folder, LOG, p->path);
    p->env = (struct store_env){ .cwd = p->config, .claude_config_dir = p->config };
    assert_int_equal(claude_ops.open(&p->env, p->config, &p->store, NULL), ERR_OK);
    p->ref = (struct session_ref){ .store = p->store, .id = SLICE(ID) };
    p->ref.path = slice_of(p->path);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    store_close(p->store);
    buf_fini(&p->rows);
    buf_fini(&p->got);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

/* Rows are named by two digits; every row is a second later than the one before. */
static void row(struct place *p, const char *type, int id, int parent, const char *rest)
{
    char follows[64] = "null";

    if (parent)
        snprintf(follows, sizeof follows, "\"000000%02d-0000-4000-8000-000000000000\"", parent);
    assert_int_equal(
        buf_addf(&p->rows,
                 "{\"parentUuid\":%s,\"type\":\"%s\",\"uuid\":\"000000%02d-0000-4000-8000-"
                 "000000000000\",\"timestamp\":\"2026-03-01T10:00:%02d.000Z\",\"cwd\":\"/w\",%s}\n",
                 follows, type, id, p->second++, rest),
        ERR_OK);
}

static void prompt(struct place *p, int id, int parent, const char *text)
{
    char rest[512];

    snprintf(rest, sizeof rest, "\"message\":{\"role\":\"user\",\"content\":\"%s\"}", text);
    row(p, "user", id, parent, rest);
}

static void call(struct place *p, int id, int parent, const char *name, const char *input)
{
    char rest[1024];

    snprintf(rest, sizeof rest,
             "\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":"
             "\"toolu_%02d\",\"name\":\"%s\",\"input\":%s}]}",
             id, name, input);
    row(p, "assistant", id, parent, rest);
}

/* The result of the call that is its parent. */
static void result(struct place *p, int id, int parent, bool failed, const char *more)
{
    char rest[1024];

    snprintf(
        rest, sizeof rest,
        "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"toolu_%02d\",\"content\":\"\"%s}]},\"toolUseResult\":%s",
        parent, failed ? ",\"is_error\":true" : "", more);
    row(p, "user", id, parent, rest);
}

static const char *known(enum edit_known k)
{
    return k == EDIT_TEXT ? "text" : k == EDIT_ABSENT ? "absent" : "?";
}

static enum err_code note(const struct edit *edit, void *arg, struct err *e)
{
    static const char *const kinds[] = { "write", "replace", "delete", "rename", "seen" };
    struct place *p = arg;

    (void)e;
    assert_int_equal(buf_addf(&p->got, "%s %s%s%s turn=%.*s \"%.*s\"%s%.*s", kinds[edit->kind],
                              edit->path, edit->to ? " > " : "", edit->to ? edit->to : "",
                              edit->turn.n > 8 ? 2 : 0, edit->turn.n ? edit->turn.p + 6 : "",
                              SLICE_ARG(edit->prompt), edit->agent.n ? " agent=" : "",
                              SLICE_ARG(edit->agent)),
                     ERR_OK);
    for (size_t i = 0; i < edit->replacements; i++)
        assert_int_equal(buf_addf(&p->got, " [%.*s|%.*s]", SLICE_ARG(edit->replacement[i].old_text),
                                  SLICE_ARG(edit->replacement[i].new_text)),
                         ERR_OK);
    assert_int_equal(buf_addf(&p->got, " %s>%s%s%s\n", known(edit->before_known),
                              known(edit->after_known), edit->by_person ? " by person" : "",
                              edit->copied ? " copied" : ""),
                     ERR_OK);
    return ERR_OK;
}

static void expect(struct place *p, const char *path, const char *want)
{
    const char *paths[] = { path };
    struct edit_query q = { .path = paths, .paths = path != NULL, .files_only = path != NULL };
    struct err e;

    folder_put(&p->folder, LOG, buf_slice(&p->rows));
    p->got.n = 0;
    assert_int_equal(claude_edits(p->store, &p->ref, &q, note, p, &e), ERR_OK);
    assert_string_equal(buf_cstr(&p->got), want);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(edits_are_those_that_succeeded)
{
    struct place *p = *state;

    prompt(p, 1, 0, "Change it");
    call(p, 2, 1, "Edit", "{\"file_path\":\"/w/a\",\"old_string\":\"x\",\"new_string\":\"y\"}");
    result(p, 3, 2, true, "\"Error: String to replace not found in file.\"");
    call(p, 4, 3, "Edit", "{\"file_path\":\"/w/a\",\"old_string\":\"'\",\"new_string\":\"y\"}");
    result(
        p, 5, 4, false,
        "{\"filePath\":\"/w/a\",\"oldString\":\"’\",\"newString\":\"y\",\"originalFile\":\"’\"}");
    call(p, 6, 5, "Write", "{\"file_path\":\"/w/b\",\"content\":\"new\"}");
    result(p, 7, 6, false,
           "{\"type\":\"create\",\"filePath\":\"/w/b\",\"content\":\"new\",\"originalFile\":null}");
    call(p, 8, 7, "Write", "{\"file_path\":\"/w/a\",\"content\":\"unanswered\"}");

    expect(p, NULL,
           "replace /w/a turn=01 \"Change it\" [’|y] text>?\n"
           "write /w/b turn=01 \"Change it\" absent>text\n");
    expect(p, "/w/b", "write /w/b turn=01 \"Change it\" absent>text\n");
    expect(p, "/w/c", "");
}

CASE(the_turn_is_that_of_the_branch)
{
    struct place *p = *state;

    prompt(p, 1, 0, "First");
    call(p, 2, 1, "Write", "{\"file_path\":\"/w/a\",\"content\":\"1\"}");
    prompt(p, 3, 1, "Another branch");
    result(p, 4, 2, false, "{\"filePath\":\"/w/a\",\"content\":\"1\"}");
    call(p, 5, 3, "Bash", "{\"command\":\"cd sub && mv ../a b\"}");
    result(p, 6, 5, false, "{\"stdout\":\"\",\"interrupted\":false}");

    expect(p, "/w/a",
           "write /w/a turn=01 \"First\" ?>text\n"
           "rename /w/a > /w/sub/b turn=03 \"Another branch\" ?>?\n");
    expect(p, "/w/sub/b", "rename /w/a > /w/sub/b turn=03 \"Another branch\" ?>?\n");
}

CASE(a_change_by_a_person_is_marked)
{
    struct place *p = *state;

    prompt(p, 1, 0, "Go");
    call(p, 2, 1, "Edit", "{\"file_path\":\"/w/a\",\"old_string\":\"x\",\"new_string\":\"y\"}");
    result(p, 3, 2, false,
           "{\"filePath\":\"/w/a\",\"oldString\":\"x\",\"newString\":\"z\",\"originalFile\":\"x\","
           "\"userModified\":true},\"forkedFrom\":{\"sessionId\":\"" ID "\"}");

    expect(p, NULL, "replace /w/a turn=01 \"Go\" [x|y] text>text by person copied\n");
}

CASE(sub_agents_belong_to_the_turn_of_their_task)
{
    struct place *p = *state;

    p->second = 10;
    prompt(p, 1, 0, "The task");
    call(p, 2, 1, "Write", "{\"file_path\":\"/w/a\",\"content\":\"1\"}");
    p->second = 40;
    result(p, 3, 2, false, "{\"filePath\":\"/w/a\",\"content\":\"1\"}");
    folder_put(&p->folder, "cfg/projects/-p/" ID "/subagents/agent-x1.jsonl", buf_slice(&p->rows));
    buf_fini(&p->rows);
    p->second = 5;
    prompt(p, 1, 0, "Delegate");
    p->second = 20;
    prompt(p, 4, 1, "Meanwhile");

    expect(p, "/w/a", "write /w/a turn=01 \"Delegate\" agent=x1 ?>text\n");
}

/* A copy is the file as it was at that time; one that is not there, or has a strange name, is none. */
CASE(saved_copies_show_what_the_file_was)
{
    struct place *p = *state;
    const char *paths[] = { "/w/a" };
    struct edit_query q = { .path = paths, .paths = 1, .files_only = true, .seen = true };

    prompt(p, 1, 0, "Go");
    call(p, 2, 1, "Write", "{\"file_path\":\"/w/a\",\"content\":\"1\"}");
    assert_int_equal(
        buf_addf(&p->rows,
                 "{\"type\":\"file-history-delta\",\"trackingPath\":\"a\",\"backup\":{"
                 "\"backupFileName\":\"0123456789abcdef@v1\",\"backupTime\":"
                 "\"2026-03-01T10:00:01.500Z\"}}\n"
                 "{\"type\":\"file-history-snapshot\",\"snapshot\":{\"trackedFileBackups\":{"
                 "\"a\":{\"backupFileName\":\"0123456789abcdef@v1\",\"backupTime\":"
                 "\"2026-03-01T10:00:01.500Z\"},\"/w/a\":{\"backupFileName\":\"../../x\","
                 "\"backupTime\":\"2026-03-01T10:00:03.000Z\"},\"b\":{\"backupFileName\":null,"
                 "\"backupTime\":\"2026-03-01T10:00:03.000Z\"}}}}\n"),
        ERR_OK);
    result(p, 3, 2, false, "{\"filePath\":\"/w/a\",\"content\":\"1\"}");
    folder_put(&p->folder, "cfg/file-history/" ID "/0123456789abcdef@v1", SLICE("before"));
    folder_put(&p->folder, LOG, buf_slice(&p->rows));

    assert_int_equal(claude_edits(p->store, &p->ref, &q, note, p, NULL), ERR_OK);
    assert_string_equal(buf_cstr(&p->got),
                        "write /w/a turn=01 \"Go\" ?>text\nseen /w/a turn= \"\" ?>text\n");
}

CASE(damaged_rows_are_passed)
{
    struct place *p = *state;

    prompt(p, 1, 0, "Go");
    assert_int_equal(buf_addf(&p->rows, "{\"type\":\"user\",\"a\n\n\x01{}\n[1]\n"), ERR_OK);
    call(p, 2, 9, "Write", "{\"file_path\":\"/w/../w/./a\",\"content\":\"1\"}");
    result(p, 3, 2, false, "{\"filePath\":\"/w/a\",\"content\":\"1\"}");
    call(p, 4, 4, "Write", "{\"file_path\":\"/w/a\",\"content\":\"torn\"}");
    p->rows.n -= 3;

    expect(p, NULL, "write /w/a turn=01 \"Go\" ?>text\n");
}
