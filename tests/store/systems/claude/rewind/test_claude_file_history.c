#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/rewind/plan/rewind.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/planner.h"
#include "store/systems/common/config_dir.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"
#define P1 "11110000-0000-4000-8000-000000000001"
#define A1 "11110000-0000-4000-8000-000000000002"
#define P2 "22220000-0000-4000-8000-000000000001"
#define A2 "22220000-0000-4000-8000-000000000002"
#define BACKUP "0123456789abcdef"

struct place {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    struct buf rows;
    char config[4096], cwd[4096], path[4096];
    char session[4096]; /* from the folder */
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_dir(&p->folder, "cfg/projects");
    folder_dir(&p->folder, "ws");
    folder_path(&p->folder, "cfg", p->config);
    folder_path(&p->folder, "ws", p->cwd);
    struct arena a = { 0 };

    snprintf(p->session, sizeof p->session, "cfg/projects/%s/" ID ".jsonl",
             config_dir_project_name(slice_of(p->cwd), &a).p);
    arena_fini(&a);
    folder_path(&p->folder, p->session, p->path);
    p->env = (struct store_env){ .cwd = p->cwd, .claude_config_dir = p->config };
    assert_int_equal(claude_ops.open(&p->env, p->config, &p->store, NULL), ERR_OK);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    store_close(p->store);
    buf_fini(&p->rows);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static void row(struct place *p, const char *uuid, const char *parent, const char *type,
                const char *message)
{
    assert_int_equal(
        buf_addf(&p->rows,
                 "{\"parentUuid\":%s%s%s,\"type\":\"%s\",\"message\":%s,\"uuid\":\"%s\","
                 "\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"%s\",\"sessionId\":\"" ID
                 "\"}\n",
                 parent ? "\"" : "", parent ? parent : "null", parent ? "\"" : "", type, message,
                 uuid, p->cwd),
        ERR_OK);
}

static void line(struct place *p, const char *text)
{
    assert_int_equal(buf_addf(&p->rows, "%s\n", text), ERR_OK);
}

static void turns(struct place *p)
{
    row(p, P1, NULL, "user", "{\"role\":\"user\",\"content\":\"first\"}");
    row(p, A1, P1, "assistant",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}");
    row(p, P2, A1, "user", "{\"role\":\"user\",\"content\":\"second\"}");
    row(p, A2, P2, "assistant",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
        "\"Bash\",\"input\":{}}]}");
}

#define SNAPSHOT(outer, inner, files, update)                                                      \
    "{\"type\":\"file-history-snapshot\",\"messageId\":\"" outer                                   \
    "\",\"snapshot\":{\"messageId\":\"" inner "\",\"trackedFileBackups\":{" files                  \
    "},\"timestamp\":\"2026-03-01T10:00:00.000Z\"},\"isSnapshotUpdate\":" update "}"
#define DELTA(message, prompt, path, name, version)                                                \
    "{\"type\":\"file-history-delta\",\"messageId\":\"" message                                    \
    "\",\"snapshotMessageId\":\"" prompt "\",\"trackingPath\":\"" path                             \
    "\",\"backup\":{\"backupFileName\":" name ",\"version\":" version "}}"
#define FILE_AT(path, name, version)                                                               \
    "\"" path "\":{\"backupFileName\":" name ",\"version\":" version "}"

static void write_session(struct place *p)
{
    folder_put(&p->folder, p->session, buf_slice(&p->rows));
    p->ref = (struct session_ref){ .store = p->store,
                                   .id = SLICE(ID),
                                   .path = { p->path, strlen(p->path) } };
}

static enum err_code plan(struct place *p, const char *point, struct rewind_plan *out)
{
    struct err e;

    return claude_ops.plan(p->store, &p->ref, slice_of(point), out, &e);
}

static const struct rewind_target *target_of(const struct place *p, const struct rewind_plan *plan,
                                             const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", p->cwd, name);
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->target[i].path, path) == 0)
            return &plan->target[i];
    fail_msg("no target %s", path);
    return NULL;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(both_generations_of_rows_give_the_same_targets)
{
    struct place *p = *state;
    static const char *const generations[2][3] = {
        { SNAPSHOT(P1, P1, "", "false"),
          SNAPSHOT(A1, P1, FILE_AT("a", "\"" BACKUP "@v1\"", "1") "," FILE_AT("b", "null", "1"),
                   "true"),
          SNAPSHOT(P2, P2, FILE_AT("a", "\"" BACKUP "@v2\"", "2"), "false") },
        { SNAPSHOT(P1, P1, "", "false") "\n" DELTA(A1, P1, "a", "\"" BACKUP "@v1\"", "1"),
          DELTA(A1, P1, "b", "null", "1"),
          SNAPSHOT(P2, P2, FILE_AT("a", "\"" BACKUP "@v2\"", "2"), "false") },
    };

    for (int g = 0; g < 2; g++) {
        struct rewind_plan out;

        p->rows.n = 0;
        turns(p);
        for (int i = 0; i < 3; i++)
            line(p, generations[g][i]);
        write_session(p);
        assert_int_equal(plan(p, P1, &out), ERR_OK);
        assert_int_equal(out.n, 2);
        assert_string_equal(out.root, p->cwd);
        const struct rewind_target *a = target_of(p, &out, "a"), *b = target_of(p, &out, "b");

        assert_int_equal(a->want, REWIND_BYTES);
        assert_non_null(strstr(a->source.file, "/file-history/" ID "/" BACKUP "@v1"));
        assert_non_null(strstr(a->last.file, "@v2"));
        assert_int_equal(b->want, REWIND_ABSENT);
        rewind_plan_fini(&out);
    }
}

CASE(a_file_touched_later_goes_back_to_its_first_version)
{
    struct place *p = *state;
    struct rewind_plan out;

    turns(p);
    line(p, SNAPSHOT(P1, P1, "", "false"));
    line(p, SNAPSHOT(P2, P2, "", "false"));
    line(p, DELTA(A2, P2, "late", "\"" BACKUP "@v1\"", "1"));
    write_session(p);

    assert_int_equal(plan(p, P1, &out), ERR_OK);
    assert_non_null(strstr(target_of(p, &out, "late")->source.file, "@v1"));
    assert_int_equal(out.notes, 1); /* a shell command ran */
    rewind_plan_fini(&out);
}

CASE(a_turn_without_its_row_is_refused_not_guessed)
{
    struct place *p = *state;
    struct rewind_plan out;
    struct checkpoint_list list;

    turns(p);
    line(p, SNAPSHOT(P1, P1, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
    line(p, DELTA(A2, P2, "b", "null", "1"));
    write_session(p);

    assert_int_equal(plan(p, P2, &out), ERR_NOT_FOUND);
    assert_int_equal(claude_ops.checkpoints(p->store, &p->ref, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 2);
    assert_non_null(list.checkpoint[1].why);
    assert_true(slice_eq(list.checkpoint[1].prompt, SLICE("second")));
    checkpoint_list_fini(&list);
}

CASE(a_copy_that_was_saved_again_after_a_restart_is_no_change)
{
    struct place *p = *state;
    static const char *const again[] = { "one\n", "two\n" };

    turns(p);
    line(p, SNAPSHOT(P1, P1, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
    line(p, SNAPSHOT(P2, P2, "", "false"));
    line(p, DELTA(A2, P2, "a", "\"" BACKUP "@v2\"", "2"));
    write_session(p);
    folder_put(&p->folder, "cfg/file-history/" ID "/" BACKUP "@v1", SLICE("one\n"));
    for (size_t i = 0; i < 2; i++) {
        struct checkpoint_list list;

        folder_put(&p->folder, "cfg/file-history/" ID "/" BACKUP "@v2", slice_of(again[i]));
        assert_int_equal(claude_ops.checkpoints(p->store, &p->ref, &list, NULL), ERR_OK);
        assert_int_equal(list.checkpoint[0].files, i);
        checkpoint_list_fini(&list);
    }
}

CASE(only_prompts_are_checkpoints)
{
    struct place *p = *state;
    struct rewind_plan out;

    turns(p);
    line(p, SNAPSHOT(P1, P1, "", "false"));
    write_session(p);

    assert_int_equal(plan(p, A1, &out), ERR_NOT_FOUND);
    assert_int_equal(plan(p, P2, &out), ERR_NOT_FOUND);
    assert_int_equal(plan(p, "ffff", &out), ERR_NOT_FOUND);
    assert_int_equal(plan(p, "111", &out), ERR_NOT_FOUND); /* too short to be a prefix */
    assert_int_equal(plan(p, "1111", &out), ERR_OK);
    rewind_plan_fini(&out);
}

CASE(backup_names_that_no_client_writes_are_refused)
{
    struct place *p = *state;
    struct rewind_plan out;
    static const char *const names[] = { "\"../../../etc/passwd\"",
                                         "\"" BACKUP "@v\"",
                                         "\"" BACKUP "@v1x\"",
                                         "\"0123@v1\"",
                                         "\"\"",
                                         "7",
                                         "\"0123456789ABCDEF@v1\"" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[1024];

        p->rows.n = 0;
        turns(p);
        snprintf(text, sizeof text,
                 SNAPSHOT(P1, P1, "\"a\":{\"backupFileName\":%s,\"version\":1}", "false"),
                 names[i]);
        line(p, text);
        write_session(p);
        assert_int_equal(plan(p, P1, &out), ERR_OK);
        assert_int_equal(out.target[0].want, REWIND_UNKNOWN);
        rewind_plan_fini(&out);
    }
}

CASE(tracking_paths_are_taken_from_the_sessions_directory)
{
    struct place *p = *state;
    struct rewind_plan out;
    char want[4096];

    turns(p);
    line(p,
         SNAPSHOT(P1, P1, FILE_AT("../ws-out/./x", "null", "1") "," FILE_AT("/abs/y", "null", "1"),
                  "false"));
    write_session(p);

    assert_int_equal(plan(p, P1, &out), ERR_OK);
    folder_path(&p->folder, "ws-out/x", want);
    assert_string_equal(out.target[0].path, want);
    assert_string_equal(out.target[1].path, "/abs/y");
    rewind_plan_fini(&out);
}

CASE(rows_of_a_dead_branch_do_not_count)
{
    struct place *p = *state;
    struct rewind_plan out;

    turns(p);
    row(p, "33330000-0000-4000-8000-000000000001", A1, "user",
        "{\"role\":\"user\",\"content\":\"instead\"}");
    line(p, SNAPSHOT(P1, P1, "", "false"));
    line(p, SNAPSHOT(P2, P2, FILE_AT("dead", "null", "1"), "false"));
    write_session(p);

    assert_int_equal(plan(p, P1, &out), ERR_OK);
    assert_int_equal(out.n, 0);
    assert_int_equal(plan(p, P2, &out), ERR_NOT_FOUND);
    rewind_plan_fini(&out);
}

CASE(edits_of_the_last_turn_are_known_from_their_results)
{
    struct place *p = *state;
    struct rewind_plan out;
    char text[8192];

    turns(p);
    line(p, SNAPSHOT(P1, P1, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
    line(p, SNAPSHOT(P2, P2, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
    snprintf(text, sizeof text,
             "{\"parentUuid\":\"" A2 "\",\"type\":\"user\",\"message\":{\"role\":\"user\","
             "\"content\":[{\"type\":\"tool_result\","
             "\"tool_use_id\":\"t\",\"content\":\"ok\"}]},\"uuid\":\"22220000-0000-4000-8000-"
             "000000000003\",\"cwd\":\"%s\","
             "\"toolUseResult\":{\"filePath\":\"%s/"
             "a\",\"oldString\":\"b\",\"newString\":\"BB\",\"originalFile\":\"a b b\\n\","
             "\"structuredPatch\":[],\"replaceAll\":%s}}",
             p->cwd, p->cwd, "true");
    line(p, text);
    write_session(p);

    assert_int_equal(plan(p, P1, &out), ERR_OK);
    assert_true(out.target[0].has_last);
    assert_true(slice_eq(out.target[0].last.bytes, SLICE("a BB BB\n")));
    rewind_plan_fini(&out);
}

#define EDITED "22220000-0000-4000-8000-000000000003"

/* The first edit after a saved copy recorded the text that it found. */
static void edit_that_found(struct place *p, const char *found)
{
    char text[8192];

    snprintf(text, sizeof text,
             "{\"parentUuid\":\"" A2 "\",\"type\":\"user\",\"message\":{\"role\":\"user\","
             "\"content\":[{\"type\":\"tool_result\","
             "\"tool_use_id\":\"t\",\"content\":\"ok\"}]},\"uuid\":\"22220000-0000-4000-8000-"
             "000000000003\",\"cwd\":\"%s\","
             "\"toolUseResult\":{\"filePath\":\"%s/"
             "a\",\"oldString\":\"b\",\"newString\":\"BB\",\"originalFile\":\"%s\","
             "\"structuredPatch\":[]}}",
             p->cwd, p->cwd, found);
    line(p, text);
}

CASE(a_copy_that_was_cut_short_is_held_back)
{
    static const struct {
        const char *copy, *found;
        bool cut;
        size_t zeros; /* that a power cut left at the end of the copy */
    } cases[] = {
        { "", "one\\n", true, 4 },
        { "one\n", "one\\ntwo\\n", true, 4 },
        { "one\ntwo\n", "one\\ntwo\\n", true, 1 },
        { "other\n", "one\\n", false, 1 },
        { "one", "one\\u0000\\n", false, 1 },
        { "one\ntw", "one\\ntwo\\n", true, 0 },
        { "", "one\\n", true, 0 },
        { "\xef\xbb\xbfone\r\ntw", "one\\ntwo\\n", true, 0 },
        { "one\n", "one\\ntwo\\n", false, 0 }, /* a command may have appended the second line */
        { "one", "one\\n", false, 0 },
        { "one\ntwo\n", "one\\ntwo\\n", false, 0 },
        { "one\nby hand\n", "one\\ntwo\\n", false, 0 },
        { "one\ntwo and more\n", "one\\ntwo\\n", false, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place *p;
        struct rewind_plan out;
        char path[256];

        assert_int_equal(set_up((void **)&p), 0);
        turns(p);
        line(p, SNAPSHOT(P1, P1, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
        line(p, SNAPSHOT(P2, P2, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
        edit_that_found(p, cases[i].found);
        write_session(p);
        snprintf(path, sizeof path, "cfg/file-history/" ID "/" BACKUP "@v1");
        char copy[64] = { 0 };

        strcpy(copy, cases[i].copy);
        folder_put(&p->folder, path, (struct slice){ copy, strlen(copy) + cases[i].zeros });
        assert_int_equal(plan(p, P1, &out), ERR_OK);
        if ((out.target[0].doubt != NULL) != cases[i].cut)
            fail_msg("case %zu", i);
        rewind_plan_fini(&out);
        tear_down((void **)&p);
    }
}

/* Where no edit follows, the one before the copy left its text, unless a command ran in between. */
CASE(a_copy_is_compared_with_the_edit_before_it)
{
    static const struct {
        const char *copy;
        size_t zeros;
        bool command, cut;
    } cases[] = {
        { "a B", 0, false, true },     { "", 0, false, true },           { "", 5, false, true },
        { "a BB\n", 0, false, false }, { "by hand\n", 0, false, false }, { "a B", 0, true, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place *p;
        struct rewind_plan out;
        char copy[64] = { 0 };

        assert_int_equal(set_up((void **)&p), 0);
        row(p, P1, NULL, "user", "{\"role\":\"user\",\"content\":\"first\"}");
        line(p, SNAPSHOT(P1, P1, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
        row(p, A2, P1, "assistant",
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}");
        edit_that_found(p, "a b\\n");
        if (cases[i].command)
            row(p, A1, EDITED, "assistant",
                "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"s\",\"name\":"
                "\"Bash\",\"input\":{\"command\":\"truncate -s 3 a\"}}]}");
        row(p, P2, cases[i].command ? A1 : EDITED, "user",
            "{\"role\":\"user\",\"content\":\"second\"}");
        line(p, SNAPSHOT(P2, P2, FILE_AT("a", "\"" BACKUP "@v2\"", "2"), "false"));
        write_session(p);
        strcpy(copy, cases[i].copy);
        folder_put(&p->folder, "cfg/file-history/" ID "/" BACKUP "@v2",
                   (struct slice){ copy, strlen(copy) + cases[i].zeros });
        assert_int_equal(plan(p, P2, &out), ERR_OK);
        if ((out.target[0].doubt != NULL) != cases[i].cut)
            fail_msg("case %zu: %s", i, out.target[0].doubt);
        rewind_plan_fini(&out);
        tear_down((void **)&p);
    }
}

/* Qoder's rows have no texts: its next copy has what the edit made of this one. */
CASE(a_copy_is_compared_with_the_next_one)
{
    static const struct {
        const char *copy, *next;
        bool cut;
    } cases[] = {
        { "a\nb\nc\nthe la", "a\nBB\nc\nthe last\n", true },
        { "a", "a\nBB\nc\n", false },
        { "a\nb\nc\n", "a\nBB\nc\n", false },
        { "", "a\nBB\nc\n", true },
        { "a\nb\nc\n", "a\nBB\nc\nappended\n", false },
        { "a\nb\nother", "a\nBB\nc\n", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place *p;
        struct rewind_plan out;
        char text[4096];

        assert_int_equal(set_up((void **)&p), 0);
        row(p, P1, NULL, "user", "{\"role\":\"user\",\"content\":\"first\"}");
        line(p, SNAPSHOT(P1, P1, FILE_AT("a", "\"" BACKUP "@v1\"", "1"), "false"));
        row(p, A1, P1, "assistant",
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
            "\"Edit\","
            "\"input\":{\"file_path\":\"a\",\"old_string\":\"b\",\"new_string\":\"BB\"}}]}");
        snprintf(
            text, sizeof text,
            "{\"parentUuid\":\"" A1 "\",\"type\":\"user\",\"message\":{\"role\":\"user\","
            "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"ok\"}]},"
            "\"uuid\":\"" A2 "\",\"cwd\":\"%s\",\"toolUseResult\":{\"success\":true,"
            "\"file_path\":\"%s/a\",\"additions\":1,\"deletions\":1}}",
            p->cwd, p->cwd);
        line(p, text);
        row(p, P2, A2, "user", "{\"role\":\"user\",\"content\":\"second\"}");
        line(p, SNAPSHOT(P2, P2, FILE_AT("a", "\"" BACKUP "@v2\"", "2"), "false"));
        write_session(p);
        folder_put(&p->folder, "cfg/file-history/" ID "/" BACKUP "@v1", slice_of(cases[i].copy));
        folder_put(&p->folder, "cfg/file-history/" ID "/" BACKUP "@v2", slice_of(cases[i].next));
        assert_int_equal(plan(p, P1, &out), ERR_OK);
        if ((out.target[0].doubt != NULL) != cases[i].cut ||
            out.target[0].copy_lost != cases[i].cut)
            fail_msg("case %zu", i);
        rewind_plan_fini(&out);
        tear_down((void **)&p);
    }
}

#define P3 "33330000-0000-4000-8000-000000000001"
#define A3 "33330000-0000-4000-8000-000000000002"

/* Three turns. The first one edits the file `a` and makes `b`; the last one was sent after a compaction and a restart,
 * so that its snapshot has neither, and makes `c`. */
static void turns_after_a_restart(struct place *p, const char *second, const char *rest)
{
    turns(p);
    line(p, SNAPSHOT(P1, P1, "", "false"));
    line(p, DELTA(A1, P1, "a", "\"" BACKUP "@v1\"", "1"));
    line(p, DELTA(A1, P1, "b", "null", "1"));
    line(p, second);
    row(p, P3, A2, "user", "{\"role\":\"user\",\"content\":\"third\"}");
    row(p, A3, P3, "assistant",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}");
    line(p, SNAPSHOT(P3, P3, "", "false"));
    line(p, DELTA(A3, P3, "c", "null", "1"));
    line(p, rest);
    write_session(p);
}

CASE(a_restart_after_a_compaction_loses_no_version)
{
    struct place *p = *state;
    struct rewind_plan out;
    const struct rewind_target *t;

    turns_after_a_restart(
        p,
        SNAPSHOT(P2, P2,
                 FILE_AT("a", "\"" BACKUP "@v2\"", "2") "," FILE_AT("b", "\"" BACKUP "@v3\"", "2"),
                 "false"),
        DELTA(A3, P3, "a", "\"" BACKUP "@v4\"", "4"));
    assert_int_equal(plan(p, P3, &out), ERR_OK);
    t = target_of(p, &out, "a");
    assert_int_equal(t->want, REWIND_BYTES);
    assert_non_null(strstr(t->source.file, BACKUP "@v4"));
    t = target_of(p, &out, "b");
    assert_int_equal(t->want, REWIND_BYTES);
    assert_non_null(strstr(t->source.file, BACKUP "@v3"));
    assert_int_equal(target_of(p, &out, "c")->want, REWIND_ABSENT);
    rewind_plan_fini(&out);
}

CASE(a_version_that_was_edited_before_the_point_is_no_copy_of_it)
{
    struct place *p = *state;
    struct rewind_plan out;

    turns_after_a_restart(p, "{}", "{}");
    assert_int_equal(plan(p, P3, &out), ERR_OK);
    assert_int_equal(target_of(p, &out, "a")->want, REWIND_UNKNOWN);
    assert_int_equal(target_of(p, &out, "b")->want, REWIND_UNKNOWN);
    assert_int_equal(target_of(p, &out, "c")->want, REWIND_ABSENT);
    rewind_plan_fini(&out);
    assert_int_equal(plan(p, P1, &out), ERR_OK);
    assert_int_equal(target_of(p, &out, "a")->want, REWIND_BYTES);
    assert_int_equal(target_of(p, &out, "b")->want, REWIND_ABSENT);
    assert_int_equal(target_of(p, &out, "c")->want, REWIND_ABSENT);
    rewind_plan_fini(&out);
}

CASE(a_file_behind_a_link_is_restored_where_it_really_is)
{
    struct place *p = *state;
    struct rewind_plan out;
    char real[4096], link_path[4096], text[8192];

    folder_dir(&p->folder, "ws/real");
    assert_non_null(realpath(folder_path(&p->folder, "ws/real", real), text));
    snprintf(real, sizeof real, "%s", text);
    assert_int_equal(symlink("real", folder_path(&p->folder, "ws/lnk", link_path)), 0);
    turns(p);
    line(p, SNAPSHOT(P1, P1, "", "false"));
    snprintf(text, sizeof text,
             "{\"type\":\"file-history-delta\",\"messageId\":\"" A1 "\",\"snapshotMessageId\":\"" P1
             "\",\"trackingPath\":\"lnk/a\",\"backup\":{\"backupFileName\":null,\"version\":1,"
             "\"realParentDir\":\"%s\"}}",
             real);
    line(p, text);
    write_session(p);
    assert_int_equal(plan(p, P1, &out), ERR_OK);
    snprintf(text, sizeof text, "%s/a", real);
    assert_string_equal(out.target[0].path, text);
    rewind_plan_fini(&out);

    /* another directory took its place */
    folder_dir(&p->folder, "ws/other");
    assert_int_equal(unlink(link_path), 0);
    assert_int_equal(symlink("other", link_path), 0);
    assert_int_equal(plan(p, P1, &out), ERR_OK);
    assert_non_null(target_of(p, &out, "lnk/a"));
    rewind_plan_fini(&out);
}
