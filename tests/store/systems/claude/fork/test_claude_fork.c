#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "store/journal/change.h"
#include "store/systems/claude/claude.h"
#include "tests/support/faults/syscall_hook.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"
#define P1 "11110000-0000-4000-8000-000000000001"
#define A1 "11110000-0000-4000-8000-000000000002"
#define P2 "22220000-0000-4000-8000-000000000001"
#define ABSENT "99990000-0000-4000-8000-000000000001"
#define BACKUP "0123456789abcdef@v1"
#define NOW "2027-01-15T08:00:00.000Z"

#define PROMPT_1                                                                                   \
    "{\"parentUuid\":null,\"type\":\"user\",\"n\":1.0e+2,\"message\":{\"content\":\"a\\u0062\"},"  \
    "\"slug\":\"x\",\"uuid\":\"" P1 "\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"sessionId\":" \
    "\"" ID "\"}\n"
#define ANSWER_1                                                                                   \
    "{\"parentUuid\":\"" P1 "\",\"type\":\"assistant\",\"message\":{},\"uuid\":\"" A1              \
    "\",\"sessionId\":\"" ID "\"}\n"
#define PROMPT_2                                                                                   \
    "{\"parentUuid\":\"" A1 "\",\"type\":\"user\",\"message\":{\"content\":\"c\"},\"uuid\":\"" P2  \
    "\",\"sessionId\":\"" ID "\"}\n"

struct place {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    struct change_log *log;
    struct change *change;
    struct fork_result fork;
    char config[4096], state[4096], data[4096], path[4096];
};

static void write_session(struct place *p, struct slice rows)
{
    folder_put(&p->folder, "cfg/projects/-p/" ID ".jsonl", rows);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "cfg", p->config);
    folder_path(&p->folder, "state", p->state);
    folder_path(&p->folder, "data", p->data);
    folder_path(&p->folder, "cfg/projects/-p/" ID ".jsonl", p->path);
    write_session(p, SLICE(PROMPT_1 ANSWER_1 PROMPT_2));
    p->env = (struct store_env){ .cwd = p->config,
                                 .claude_config_dir = p->config,
                                 .state_dir = p->state,
                                 .data_dir = p->data,
                                 .now_ms = 1800000000000 };
    assert_int_equal(claude_ops.open(&p->env, p->config, &p->store, NULL), ERR_OK);
    p->ref = (struct session_ref){ .store = p->store,
                                   .id = SLICE(ID),
                                   .path = { p->path, strlen(p->path) } };
    assert_int_equal(change_log_open(&p->env, &p->log, NULL), ERR_OK);
    p->change = change_new("fork");
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    change_free(p->change);
    change_log_close(p->log);
    store_close(p->store);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static enum err_code plan(struct place *p, struct fork_request request)
{
    return claude_ops.fork(p->store, &p->ref, &request, p->change, &p->fork, NULL);
}

static void fork_it(struct place *p, struct fork_request request)
{
    assert_int_equal(plan(p, request), ERR_OK);
    assert_int_equal(change_run(p->log, p->change, NULL), ERR_OK);
}

/* The bytes of the copy, NUL-terminated, to be freed. */
static char *copied(const struct place *p)
{
    struct buf text = { 0 };

    assert_int_equal(file_read_all(AT_FDCWD, p->fork.path, 0, 1 << 20, &text, NULL), ERR_OK);
    char *s = strdup(buf_cstr(&text));

    buf_fini(&text);
    return s;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

/* The text after a key, up to the quote. */
static void member(const char *line, const char *key, char out[40])
{
    const char *at = strstr(line, key);

    assert_non_null(at);
    at += strlen(key);
    snprintf(out, 40, "%.*s", (int)strcspn(at, "\",}"), at);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(only_necessary_bytes_change)
{
    struct place *p = *state;

    fork_it(p, (struct fork_request){ .title = SLICE(" T ") });
    char *text = copied(p);

    assert_non_null(strstr(text, "{\"parentUuid\":null,\"type\":\"user\",\"n\":1.0e+2,\"message\":"
                                 "{\"content\":\"a\\u0062\"},\"uuid\":\""));
    assert_non_null(
        strstr(text, "\"forkedFrom\":{\"sessionId\":\"" ID "\",\"messageUuid\":\"" P1 "\"}}\n"));
    assert_non_null(strstr(text, "\"requestSessionId\":\"" ID "\",\"forkedFrom\""));
    assert_non_null(strstr(text, "\"customTitle\":\"T\""));
    assert_null(strstr(text, "slug"));
    assert_int_equal(count(text, "\n"), 4);
    free(text);
}

CASE(a_copy_is_a_new_private_file_beside_its_source)
{
    struct place *p = *state;
    struct stat st;

    fork_it(p, (struct fork_request){ .at = { NULL, 0 } });

    assert_int_equal(stat(p->fork.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true(claude_is_uuid(p->fork.id));
    assert_int_equal(p->fork.id.p[14], '4');
    assert_non_null(strstr(p->fork.path, "/cfg/projects/-p/"));
}

CASE(a_fork_up_to_a_message_has_it_as_its_leaf)
{
    struct place *p = *state;

    fork_it(p, (struct fork_request){ .at = SLICE(A1) });
    char *text = copied(p);

    assert_int_equal(count(text, "\"forkedFrom\""), 2);
    assert_null(strstr(text, P2));
    assert_int_equal(count(text, "\"timestamp\":\"" NOW "\""), 2);
    assert_non_null(strstr(text, "ab (fork)"));
    free(text);
}

CASE(an_id_with_invalid_bytes_is_replaced_like_others)
{
    struct place *p = *state;
    char row[] = PROMPT_1, answer[] = ANSWER_1;
    char id[40];

    strstr(row, "\"uuid\":\"" P1)[10] = '\xff';
    strstr(answer, P1)[2] = '\xff';
    struct buf rows = { 0 };

    assert_int_equal(buf_addf(&rows, "%s%s", row, answer), ERR_OK);
    write_session(p, buf_slice(&rows));
    fork_it(p, (struct fork_request){ .at = { NULL, 0 } });
    char *text = copied(p);

    assert_int_equal(count(text, "\xff"), 1); /* forkedFrom */
    member(text, "\"uuid\":\"", id);
    assert_true(claude_is_uuid(slice_of(id)));
    assert_non_null(strstr(text, "\"parentUuid\":\""));
    member(strchr(text, '\n'), "\"parentUuid\":\"", id);
    assert_ptr_equal(strstr(text, id), strstr(text, "\"uuid\":\"") + 8);
    free(text);
    buf_fini(&rows);
}

CASE(an_unknown_message_is_refused_without_a_trace)
{
    struct place *p = *state;

    assert_int_equal(plan(p, (struct fork_request){ .at = SLICE(ABSENT) }), ERR_NOT_FOUND);
    assert_int_equal(p->change->n, 0);
    assert_false(folder_has(&p->folder, "data/forks"));
}

CASE(a_session_without_messages_cannot_be_forked)
{
    struct place *p = *state;

    write_session(p, SLICE("{\"type\":\"mode\",\"sessionId\":\"" ID "\"}\nbroken\n"));

    assert_int_equal(plan(p, (struct fork_request){ .at = { NULL, 0 } }), ERR_NOT_FOUND);
}

CASE(a_dropped_plan_leaves_nothing)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "cfg");

    assert_int_equal(plan(p, (struct fork_request){ .at = { NULL, 0 } }), ERR_OK);
    change_discard_fork(&p->fork);
    char *after = folder_image(&p->folder, "cfg"), *rest = folder_image(&p->folder, "data/forks");

    assert_string_equal(before, after);
    assert_null(strstr(rest, ".jsonl"));
    free(before);
    free(after);
    free(rest);
}

CASE(a_fork_can_be_undone_and_redone)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "cfg");

    fork_it(p, (struct fork_request){ .at = { NULL, 0 } });
    char *forked = folder_image(&p->folder, "cfg");
    assert_string_not_equal(before, forked);
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    char *undone = folder_image(&p->folder, "cfg");
    assert_int_equal(change_redo(p->log, NULL, NULL), ERR_OK);
    char *redone = folder_image(&p->folder, "cfg");

    assert_string_equal(before, undone);
    assert_string_equal(forked, redone);
    free(before);
    free(forked);
    free(undone);
    free(redone);
}

/* ---- copies left by a crash ---- */

#define LEFT "data/forks/left.jsonl"

static void sweep(struct place *p, int days)
{
    struct store_env later = p->env;

    later.now_ms = (int64_t)(time(NULL) + (time_t)days * 24 * 3600) * 1000;
    change_log_close(p->log);
    change_sweep_forks(&later);
    assert_int_equal(change_log_open(&p->env, &p->log, NULL), ERR_OK);
}

CASE(a_copy_left_by_a_crash_is_removed_after_a_day)
{
    struct place *p = *state;

    folder_put(&p->folder, LEFT, SLICE("half of a fork"));
    sweep(p, 0);
    assert_true(folder_has(&p->folder, LEFT));
    sweep(p, 2);
    assert_false(folder_has(&p->folder, LEFT));
}

CASE(the_copy_of_a_redoable_fork_is_kept)
{
    struct place *p = *state;

    fork_it(p, (struct fork_request){ .at = { NULL, 0 } });
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    sweep(p, 2);
    assert_int_equal(change_redo(p->log, NULL, NULL), ERR_OK);
}

CASE(an_unreadable_record_prevents_the_cleanup)
{
    struct place *p = *state;

    folder_put(&p->folder, LEFT, SLICE("perhaps somebody's"));
    folder_put(&p->folder, "state/changes/000000000000001-00000000/record", SLICE("{"));
    sweep(p, 2);
    assert_true(folder_has(&p->folder, LEFT));
}

/* ---- a session that several threads copy ---- */

enum { LARGE_ROWS = 3000, LARGE_TEXT = 4000 };

/* Each row follows the previous one; every seventh is a progress row, and one is longer than any chunk. */
static void write_large_session(struct place *p)
{
    struct buf rows = { 0 };
    char text[LARGE_TEXT + 1], id[40], before[40] = "";

    memset(text, 'x', LARGE_TEXT);
    text[LARGE_TEXT] = '\0';
    for (int i = 0; i < LARGE_ROWS; i++) {
        snprintf(id, sizeof id, "33330000-0000-4000-8000-%012d", i);
        assert_int_equal(buf_addf(&rows,
                                  "{\"type\":\"%s\",\"uuid\":\"%s\",\"parentUuid\":%s%s%s,\"n\":%d,"
                                  "\"sessionId\":\"" ID "\",\"message\":{\"content\":\"",
                                  i % 7 == 3 ? "progress" : "user", id, i ? "\"" : "",
                                  i ? before : "null", i ? "\"" : "", i),
                         ERR_OK);
        for (int k = i == 1000 ? 1500 : 1; k > 0; k--)
            assert_int_equal(buf_add(&rows, (struct slice){ text, LARGE_TEXT - (size_t)i }),
                             ERR_OK);
        assert_int_equal(buf_add(&rows, SLICE("\"}}\n")), ERR_OK);
        memcpy(before, id, sizeof before);
    }
    write_session(p, buf_slice(&rows));
    buf_fini(&rows);
}

CASE(a_large_session_is_copied_row_by_row_in_order)
{
    struct place *p = *state;
    struct buf text = { 0 };
    char id[40] = "ull", parent[40], n[40], want[40];
    struct slice rest, line;
    bool torn;

    write_large_session(p);
    fork_it(p, (struct fork_request){ .at = { NULL, 0 } });
    assert_int_equal(file_read_all(AT_FDCWD, p->fork.path, 0, 1 << 28, &text, NULL), ERR_OK);
    rest = buf_slice(&text);
    for (int i = 0; i < LARGE_ROWS; i++) {
        if (i % 7 == 3)
            continue;
        assert_true(slice_line(&rest, &line, &torn));
        ((char *)line.p)[line.n] = '\0';
        member(line.p, "\"n\":", n);
        snprintf(want, sizeof want, "%d", i);
        assert_string_equal(n, want);
        member(line.p, i ? "\"parentUuid\":\"" : "\"parentUuid\":n", parent);
        assert_string_equal(parent, id);
        member(line.p, "\"uuid\":\"", id);
    }
    assert_true(slice_line(&rest, &line, &torn)); /* the title */
    assert_false(slice_line(&rest, &line, &torn));
    buf_fini(&text);
}

/* ---- files ---- */

#define ENTRY(name) "{\"backupFileName\":" name ",\"version\":1,\"backupTime\":\"2026\"}"
#define SNAPSHOT                                                                                   \
    "{\"type\":\"file-history-snapshot\",\"messageId\":\"" P1 "\",\"snapshot\":{\"messageId\":"    \
    "\"" P1 "\",\"trackedFileBackups\":{},\"timestamp\":\"2026\"},\"isSnapshotUpdate\":false}\n"
#define DELTA(message, name)                                                                       \
    "{\"type\":\"file-history-delta\",\"messageId\":\"" A1 "\",\"snapshotMessageId\":\"" message   \
    "\",\"trackingPath\":\"a.txt\",\"backup\":" ENTRY(name) ",\"timestamp\":\"2026\"}\n"

static void add_backup(struct place *p)
{
    folder_put(&p->folder, "cfg/file-history/" ID "/" BACKUP, SLICE("old bytes\n"));
}

CASE(checkpoints_are_copied_and_backups_linked)
{
    struct place *p = *state;
    struct stat from, to;
    char source[4096], target[4096], name[256];

    write_session(p, SLICE(PROMPT_1 ANSWER_1 PROMPT_2 SNAPSHOT DELTA(P1, "\"" BACKUP "\"")));
    add_backup(p);
    fork_it(p, (struct fork_request){ .with_files = true });
    char *text = copied(p);

    assert_int_equal(count(text, "file-history-snapshot"), 1);
    assert_int_equal(count(text, "\"a.txt\":" ENTRY("\"" BACKUP "\"")), 1);
    assert_null(strstr(text, "file-history-delta"));
    snprintf(name, sizeof name, "cfg/file-history/%s/" BACKUP, p->fork.id.p);
    assert_int_equal(
        stat(folder_path(&p->folder, "cfg/file-history/" ID "/" BACKUP, source), &from), 0);
    assert_int_equal(stat(folder_path(&p->folder, name, target), &to), 0);
    assert_int_equal(from.st_ino, to.st_ino);
    free(text);
}

CASE(a_fork_with_files_has_the_checkpoints_of_its_source)
{
    struct place *p = *state;
    struct checkpoint_list points = { 0 };
    struct session_ref ref = p->ref;

    write_session(p, SLICE(PROMPT_1 ANSWER_1 PROMPT_2 SNAPSHOT DELTA(P1, "\"" BACKUP "\"")));
    add_backup(p);
    fork_it(p, (struct fork_request){ .with_files = true });
    ref.id = p->fork.id;
    ref.path = slice_of(p->fork.path);

    assert_int_equal(claude_ops.checkpoints(p->store, &ref, &points, NULL), ERR_OK);
    assert_int_equal(points.n, 1);
    assert_null(points.checkpoint[0].why);
    checkpoint_list_fini(&points);
}

CASE(a_snapshot_without_its_backups_or_row_is_not_copied)
{
    struct place *p = *state;

    write_session(p, SLICE(PROMPT_1 ANSWER_1 PROMPT_2 SNAPSHOT DELTA(P1, "\"" BACKUP "\"")
                               DELTA(P2, "null")));
    fork_it(p, (struct fork_request){ .with_files = true });
    char *text = copied(p);

    assert_null(strstr(text, "file-history"));
    assert_false(folder_has(&p->folder, "cfg/file-history"));
    free(text);
}

CASE(a_backup_with_a_path_in_its_name_is_not_touched)
{
    struct place *p = *state;

    write_session(p, SLICE(PROMPT_1 ANSWER_1 SNAPSHOT DELTA(P1, "\"../../secret\"")));
    folder_put(&p->folder, "cfg/secret", SLICE("s"));
    fork_it(p, (struct fork_request){ .with_files = true });
    char *text = copied(p);

    assert_null(strstr(text, "secret"));
    free(text);
}

CASE(undoing_a_fork_with_files_removes_them)
{
    struct place *p = *state;

    write_session(p, SLICE(PROMPT_1 ANSWER_1 SNAPSHOT DELTA(P1, "\"" BACKUP "\"")));
    add_backup(p);
    char *before = folder_image(&p->folder, "cfg");
    fork_it(p, (struct fork_request){ .with_files = true });
    assert_int_equal(change_undo(p->log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&p->folder, "cfg");

    assert_string_equal(before, after);
    free(before);
    free(after);
}

CASE(ids_are_new_even_without_random_bytes_from_the_kernel)
{
    struct place *p = *state;
    const struct syscall_hook none = { .call = "getentropy", .error = EAGAIN };
    char first[37] = "", second[37] = "";

    syscall_hook_arm(&none);
    assert_int_equal(plan(p, (struct fork_request){ .with_files = false }), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(change_run(p->log, p->change, NULL), ERR_OK);

    char *text = copied(p);
    const char *at = strstr(text, "\"uuid\":\"");

    assert_non_null(at);
    memcpy(first, at + 8, 36);
    at = strstr(at + 1, "\"uuid\":\"");
    assert_non_null(at);
    memcpy(second, at + 8, 36);
    assert_string_not_equal(first, second);
    assert_string_not_equal(first, P1);
    assert_string_not_equal(first, "00000000-0000-0000-0000-000000000000");
    assert_int_equal(first[14], '4');
    free(text);
}
