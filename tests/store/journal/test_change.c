#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "tests/support/folder.h"

/* A store of one log, one small document and one directory; undo must restore everything below "store" byte for
 * byte. */
struct place {
    struct folder folder;
    struct store_env env;
    char state[4096];
    char log[4096], doc[4096], dir[4096], trash[4096];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "state", p->state);
    folder_put(&p->folder, "store/log.jsonl", SLICE("{\"a\":1}\n{\"a\":2}\n"));
    folder_put(&p->folder, "store/doc.json", SLICE("{\"archived\":false}"));
    folder_put(&p->folder, "store/side/agent.jsonl", SLICE("{}\n"));
    folder_put(&p->folder, "trash/x", SLICE(""));
    folder_mtime(&p->folder, "store/log.jsonl", 1700000000123456789);
    folder_mtime(&p->folder, "store/doc.json", 1700000001000000001);
    folder_path(&p->folder, "store/log.jsonl", p->log);
    folder_path(&p->folder, "store/doc.json", p->doc);
    folder_path(&p->folder, "store/side", p->dir);
    folder_path(&p->folder, "trash/side", p->trash);
    p->env = (struct store_env){ .state_dir = p->state, .now_ms = 1800000000000 };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    folder_remove(&p->folder);
    free(p);
    return 0;
}

static struct change_log *opened(const struct place *p)
{
    struct change_log *log;
    struct err e;
    enum err_code rc = change_log_open(&p->env, &log, &e);

    if (rc)
        fail_msg("%s: %s", e.path, e.text);
    return log;
}

static void add(struct change *c, struct step s)
{
    assert_int_equal(change_add(c, &s, NULL), ERR_OK);
}

static struct step append_step(const struct place *p)
{
    return (struct step){ .kind = STEP_APPEND,
                          .path = p->log,
                          .bytes = SLICE("{\"title\":\"new\"}\n"),
                          .opposite = SLICE("{\"title\":\"old\"}\n"),
                          .mtime_ns = MTIME_NOW };
}

static struct change *one_of_everything(const struct place *p)
{
    struct change *c = change_new("test");

    assert_non_null(c);
    c->text = "one of everything";
    add(c, append_step(p));
    add(c, (struct step){ .kind = STEP_EDIT,
                          .path = p->log,
                          .offset = 5,
                          .old = SLICE("1"),
                          .bytes = SLICE("7"),
                          .mtime_ns = MTIME_NOW });
    add(c, (struct step){ .kind = STEP_PUT,
                          .path = p->doc,
                          .old = SLICE("{\"archived\":false}"),
                          .bytes = SLICE("{\"archived\":true}"),
                          .mtime_ns = MTIME_NOW });
    add(c, (struct step){ .kind = STEP_MOVE, .path = p->dir, .to = p->trash });
    assert_int_equal(change_add_session(c, "claude", SLICE("5e55"), NULL), ERR_OK);
    return c;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(undo_restores_every_byte_and_mtime)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "store");
    struct change_log *log = opened(p);
    struct change *c = one_of_everything(p);

    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    assert_true(
        folder_is(&p->folder, "store/log.jsonl", "{\"a\":7}\n{\"a\":2}\n{\"title\":\"new\"}\n"));
    assert_true(folder_is(&p->folder, "store/doc.json", "{\"archived\":true}"));
    assert_true(folder_has(&p->folder, "trash/side/agent.jsonl"));
    assert_false(folder_has(&p->folder, "store/side"));

    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&p->folder, "store");

    assert_true(IS_UNDONE(before, after));
    free(before);
    free(after);
    change_free(c);
    change_log_close(log);
}

/* The agent has moved the directory; without steps there is nothing that we could undo. */
CASE(what_an_agent_did_is_undone_once_and_never_redone)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "store");
    struct change_log *log = opened(p);
    struct change *c = change_new("delete"), *bare = change_new("archive");

    assert_non_null(c);
    assert_non_null(bare);
    c->command = bare->command = "agent delete 5e55";
    assert_int_equal(rename(p->dir, p->trash), 0);
    add(c, (struct step){ .kind = STEP_MOVE, .path = p->dir, .to = p->trash });
    assert_int_equal(change_note(log, c, NULL), ERR_OK);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&p->folder, "store");

    assert_true(IS_UNDONE(before, after));
    assert_int_equal(change_redo(log, NULL, NULL), ERR_UNSUPPORTED);
    assert_int_equal(change_note(log, bare, NULL), ERR_OK);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_UNSUPPORTED);
    assert_int_equal(change_undo(log, bare->id, NULL, NULL), ERR_UNSUPPORTED);
    assert_true(folder_has(&p->folder, "store/side/agent.jsonl"));
    free(before);
    free(after);
    change_free(c);
    change_free(bare);
    change_log_close(log);
}

CASE(a_change_can_be_redone_and_undone_again)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "store");
    struct change_log *log = opened(p);
    struct change *c = one_of_everything(p);

    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    assert_int_equal(change_redo(log, NULL, NULL), ERR_NOT_FOUND);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_NOT_FOUND);
    assert_int_equal(change_redo(log, NULL, NULL), ERR_OK);
    assert_true(folder_is(&p->folder, "store/doc.json", "{\"archived\":true}"));
    change_log_close(log);

    log = opened(p); /* after a restart */
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    char *after = folder_image(&p->folder, "store");

    assert_true(IS_UNDONE(before, after));
    free(before);
    free(after);
    change_free(c);
    change_log_close(log);
}

CASE(an_append_followed_by_other_writes_is_contradicted_not_cut)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("rename");

    add(c, append_step(p));
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    int fd = open(p->log, O_WRONLY | O_APPEND);

    assert_int_equal(write(fd, "{\"a\":3}\n", 8), 8);
    close(fd);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);

    assert_true(
        folder_is(&p->folder, "store/log.jsonl",
                  "{\"a\":1}\n{\"a\":2}\n{\"title\":\"new\"}\n{\"a\":3}\n{\"title\":\"old\"}\n"));
    change_free(c);
    change_log_close(log);
}

CASE(a_log_open_elsewhere_is_never_cut)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("rename");

    add(c, append_step(p));
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    int fd = open(p->log, O_WRONLY | O_APPEND);

    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    close(fd);

    assert_true(folder_is(&p->folder, "store/log.jsonl",
                          "{\"a\":1}\n{\"a\":2}\n{\"title\":\"new\"}\n{\"title\":\"old\"}\n"));
    change_free(c);
    change_log_close(log);
}

CASE(a_failing_step_rolls_back_the_earlier_ones)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "store");
    struct change_log *log = opened(p);
    struct change *c = one_of_everything(p);
    struct err e;

    add(c, (struct step){ .kind = STEP_PUT,
                          .path = p->doc,
                          .old = SLICE("not what lies there"),
                          .bytes = SLICE("x"),
                          .mtime_ns = MTIME_NOW });
    assert_int_equal(change_run(log, c, &e), ERR_STALE);
    char *after = folder_image(&p->folder, "store");

    assert_true(IS_UNDONE(before, after));
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_NOT_FOUND);
    free(before);
    free(after);
    change_free(c);
    change_log_close(log);
}

CASE(a_torn_tail_gets_its_newline_and_undo_removes_it)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("tag");

    folder_put(&p->folder, "store/log.jsonl", SLICE("{\"a\":1}\n{\"a\""));
    folder_mtime(&p->folder, "store/log.jsonl", 1700000000000000000);
    add(c, append_step(p));
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    assert_true(
        folder_is(&p->folder, "store/log.jsonl", "{\"a\":1}\n{\"a\"\n{\"title\":\"new\"}\n"));

    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    assert_true(folder_is(&p->folder, "store/log.jsonl",
                          HAS_LEASES
                              ? "{\"a\":1}\n{\"a\""
                              : "{\"a\":1}\n{\"a\"\n{\"title\":\"new\"}\n{\"title\":\"old\"}\n"));
    change_free(c);
    change_log_close(log);
}

static bool collect(const struct change *c, bool undone, void *arg)
{
    struct buf *out = arg;

    return buf_addf(out, "%s%s %s;", c->kind, undone ? "(undone)" : "",
                    c->sessions_n ? c->sessions[0] : "-") == ERR_OK;
}

CASE(the_log_lists_changes_newest_first)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = one_of_everything(p);
    struct buf seen = { 0 };

    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    assert_int_equal(change_list(log, collect, &seen, NULL), ERR_OK);

    assert_string_equal(buf_cstr(&seen), "undo claude:5e55;test(undone) claude:5e55;");
    buf_fini(&seen);
    change_free(c);
    change_log_close(log);
}

CASE(reading_the_log_makes_nothing)
{
    struct place *p = *state;
    struct change_log *log;

    assert_int_equal(change_log_read(&p->env, &log, NULL), ERR_OK);
    assert_null(log);
    assert_false(folder_has(&p->folder, "state/changes"));

    change_log_close(opened(p));
    assert_int_equal(change_log_read(&p->env, &log, NULL), ERR_OK);
    assert_non_null(log);
    change_log_close(log);
}

CASE(a_log_that_cannot_be_written_is_read)
{
    if (geteuid() == 0)
        skip(); /* nothing keeps root from writing */
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = one_of_everything(p);
    struct buf seen = { 0 };
    char dir[4096];

    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    change_free(c);
    change_log_close(log);
    assert_int_equal(chmod(folder_path(&p->folder, "state/changes/lock", dir), 0400), 0);
    assert_int_equal(change_log_read(&p->env, &log, NULL), ERR_OK);
    assert_int_equal(change_list(log, collect, &seen, NULL), ERR_OK);
    assert_string_equal(buf_cstr(&seen), "test claude:5e55;");
    buf_fini(&seen);
    change_log_close(log);
}

CASE(bytes_of_every_value_survive_the_record)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("test");
    char all[20000], path[4096];
    size_t n;

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 7);
    add(c, (struct step){ .kind = STEP_PUT,
                          .path = folder_path(&p->folder, "store/odd \xff%\n name", path),
                          .bytes = { all, sizeof all },
                          .old_absent = true,
                          .mtime_ns = MTIME_NOW });
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    assert_false(folder_has(&p->folder, "store/odd \xff%\n name"));
    assert_int_equal(change_redo(log, NULL, NULL), ERR_OK);
    char *got = folder_get(&p->folder, "store/odd \xff%\n name", &n);

    assert_int_equal(n, sizeof all);
    assert_memory_equal(got, all, n);
    free(got);
    change_free(c);
    change_log_close(log);
}

CASE(a_directory_is_created_and_removed_with_its_document)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("archive");
    char path[4096];

    add(c, (struct step){ .kind = STEP_PUT,
                          .path = folder_path(&p->folder, "store/5e55/archived.json", path),
                          .bytes = SLICE("{}"),
                          .old_absent = true,
                          .with_dir = true,
                          .mtime_ns = MTIME_NOW });
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    assert_true(folder_is(&p->folder, "store/5e55/archived.json", "{}"));
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    assert_false(folder_has(&p->folder, "store/5e55"));

    assert_int_equal(change_redo(log, NULL, NULL), ERR_OK);
    folder_put(&p->folder, "store/5e55/stranger", SLICE("x"));
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    assert_true(folder_has(&p->folder, "store/5e55/stranger"));
    change_free(c);
    change_log_close(log);
}

static void rename_in(const struct place *p, const char *from, const char *to)
{
    char a[4096], b[4096];

    assert_int_equal(rename(folder_path(&p->folder, from, a), folder_path(&p->folder, to, b)), 0);
}

/* The end of a log was cut and the next step had not run yet. The end is in the record alone, so the record must not be
 * closed while the store is missing. */
CASE(rollback_waits_for_an_unmounted_store)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("truncate");
    char intent[256], id[256];

    add(c, (struct step){ .kind = STEP_TAIL,
                          .path = p->log,
                          .offset = 8,
                          .old = SLICE("{\"a\":2}\n"),
                          .mtime_ns = MTIME_NOW });
    add(c, (struct step){ .kind = STEP_MOVE, .path = p->dir, .to = p->trash });
    if (!HAS_LEASES) { /* then no end is ever in a record alone */
        assert_int_equal(change_run(log, c, NULL), ERR_LOCKED);
        assert_true(folder_is(&p->folder, "store/log.jsonl", "{\"a\":1}\n{\"a\":2}\n"));
        assert_true(folder_has(&p->folder, "store/side/agent.jsonl"));
        change_free(c);
        change_log_close(log);
        return;
    }
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    snprintf(id, sizeof id, "state/changes/%s", c->id);
    snprintf(intent, sizeof intent, "%s.intent", id);
    change_free(c);
    change_log_close(log);
    rename_in(p, "trash/side", "store/side");
    rename_in(p, id, intent);
    assert_true(folder_is(&p->folder, "store/log.jsonl", "{\"a\":1}\n"));

    rename_in(p, "store", "moved");
    change_log_close(opened(p));
    assert_true(folder_has(&p->folder, intent));
    rename_in(p, "moved", "store");
    change_log_close(opened(p));
    assert_false(folder_has(&p->folder, intent));
    assert_true(folder_is(&p->folder, "store/log.jsonl", "{\"a\":1}\n{\"a\":2}\n"));
}

/* Another program has the log open, but nothing has to be cut: only an earlier step changed the time. */
CASE(rollback_of_an_end_as_before_needs_no_lease)
{
    NEEDS("leases, without which no end is cut");
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("truncate");
    char intent[256], id[256], path[4096];

    add(c, (struct step){ .kind = STEP_TAIL,
                          .path = p->log,
                          .offset = 8,
                          .old = SLICE("{\"a\":2}\n"),
                          .mtime_ns = MTIME_NOW });
    folder_mtime(&p->folder, "store/log.jsonl", 1700000000000000000);
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    snprintf(id, sizeof id, "state/changes/%s", c->id);
    snprintf(intent, sizeof intent, "%s.intent", id);
    change_free(c);
    change_log_close(log);
    rename_in(p, id, intent);
    folder_put(&p->folder, "store/log.jsonl", SLICE("{\"a\":1}\n{\"a\":2}\n"));

    int held = open(folder_path(&p->folder, "store/log.jsonl", path), O_RDONLY);
    struct stat st;

    change_log_close(opened(p));
    assert_false(folder_has(&p->folder, intent));
    assert_int_equal(fstat(held, &st), 0);
    assert_int_equal(st.st_mtime, 1700000000);
    close(held);
}

/* A host may fork while one of its threads makes a change; its child has all descriptors. */
CASE(a_forked_child_keeps_no_lock)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    change_log_close(log);
    enum err_code rc = change_log_open(&p->env, &log, NULL);

    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rc, ERR_OK);
    change_log_close(log);
}

/* The record of an interrupted change is the only place of what the change removed. */
CASE(an_interrupted_change_without_its_contents_stays)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("change");
    static char was[20000];
    const struct slice old = { was, sizeof was };
    char id[256], intent[256], contents[300];

    memset(was, 'x', sizeof was);
    folder_put(&p->folder, "store/doc.json", old);
    add(c,
        (struct step){
            .kind = STEP_PUT, .path = p->doc, .bytes = SLICE("new"), .old = old, .mtime_ns = 1 });
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    snprintf(id, sizeof id, "state/changes/%s", c->id);
    snprintf(intent, sizeof intent, "%s.intent", id);
    snprintf(contents, sizeof contents, "%s/0.old", intent);
    change_free(c);
    change_log_close(log);
    rename_in(p, id, intent);
    rename_in(p, contents, "lost");
    change_log_close(opened(p));
    rename_in(p, "lost", contents);
    change_log_close(opened(p));
    assert_false(folder_has(&p->folder, intent));
    assert_true(folder_has(&p->folder, id));
}

/* What could not be read again is not begun. */
CASE(a_change_that_is_too_large_is_refused)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = change_new("change");
    static char text[8192];
    const struct step s = { .kind = STEP_APPEND, .path = p->log, .bytes = { text, sizeof text } };

    memset(text, 'x', sizeof text);
    for (int i = 0; i < 8300; i++)
        add(c, s);
    assert_int_equal(change_run(log, c, NULL), ERR_UNSUPPORTED);
    assert_true(folder_is(&p->folder, "store/log.jsonl", "{\"a\":1}\n{\"a\":2}\n"));
    change_free(c);
    change_log_close(log);
}

/* Another user's record is not carried out and does not block ours. */
CASE(a_record_of_another_user_is_ignored)
{
    struct place *p = *state;
    struct change_log *log = opened(p);
    struct change *c = one_of_everything(p);
    char path[4096], name[300];
    struct stat st;

    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    snprintf(name, sizeof name, "state/changes/%s", c->id);
    change_free(c);
    change_log_close(log);
    if (geteuid() != 0 || chown(folder_path(&p->folder, name, path), 65534, 65534))
        skip();
    assert_int_equal(chmod(folder_path(&p->folder, "state", path), 0777), 0);
    assert_int_equal(chmod(folder_path(&p->folder, "state/changes", path), 0777), 0);
    log = opened(p);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_NOT_FOUND);
    assert_string_equal(change_log_unread(log), "");
    change_log_close(log);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

CASE(a_second_change_waits_for_the_lock)
{
    struct place *p = *state;
    struct change_log *log = opened(p), *other;
    pid_t pid = fork();

    if (pid == 0) {
        usleep(100000);
        _exit(0);
    }
    change_log_close(log);
    assert_int_equal(change_log_open(&p->env, &other, NULL), ERR_OK);
    change_log_close(other);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}
