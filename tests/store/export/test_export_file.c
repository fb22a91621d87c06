#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/export/export.h"
#include "store/systems/claude/claude.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/folder.h"

/* A document appears in its place when it is whole, even where a new file needs a name (no O_TMPFILE): then it has a
 * temporary one until it is whole. */

#define ID "5e550000-0000-4000-8000-000000000001"
#define ROWS                                                                                       \
    "{\"type\":\"user\",\"uuid\":\"" ID "\",\"parentUuid\":null,\"sessionId\":\"" ID               \
    "\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"message\":{\"role\":"          \
    "\"user\",\"content\":\"Hello there\"}}\n"

struct export_fixture {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    char config[4096], log[4096], out[4096], file[4096];
};

static int set_up(void **state)
{
    struct export_fixture *d = calloc(1, sizeof *d);

    folder_make(&d->folder);
    folder_put(&d->folder, "cfg/projects/-w/" ID ".jsonl", SLICE(ROWS));
    folder_dir(&d->folder, "out");
    folder_path(&d->folder, "cfg", d->config);
    folder_path(&d->folder, "cfg/projects/-w/" ID ".jsonl", d->log);
    folder_path(&d->folder, "out", d->out);
    folder_path(&d->folder, "out/talk.md", d->file);
    d->env = (struct store_env){ .cwd = d->out, .now_ms = 1800000000000 };
    assert_int_equal(claude_ops.open(&d->env, d->config, &d->store, NULL), ERR_OK);
    d->ref = (struct session_ref){ .store = d->store, .id = SLICE(ID), .path = slice_of(d->log) };
    *state = d;
    return 0;
}

static int tear_down(void **state)
{
    struct export_fixture *d = *state;

    store_close(d->store);
    folder_remove(&d->folder);
    free(d);
    return 0;
}

static int names_in(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

/* As on a file system without O_TMPFILE. */
static void without_nameless_files(void)
{
    syscall_hook_arm(&(struct syscall_hook){
        .call = "openat64", .name = ".", .error = EOPNOTSUPP, .stays = true });
}

static enum err_code export_to(struct export_fixture *d, bool replace)
{
    const struct export_request req = { .format = EXPORT_MD };
    struct export_summary sum;
    enum err_code rc = export_file(&d->ref, &req, "talk.md", replace, &sum, NULL);

    export_summary_fini(&sum);
    return rc;
}

static bool has_the_document(struct export_fixture *d)
{
    size_t n;
    char *text = folder_get(&d->folder, "out/talk.md", &n);
    bool whole = strstr(text, "Hello there") != NULL;

    free(text);
    return whole && names_in(d->out) == 1;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_document_appears_and_replaces_only_on_demand)
{
    struct export_fixture *d = *state;

    without_nameless_files();
    assert_int_equal(export_to(d, false), ERR_OK);
    assert_true(has_the_document(d));
    folder_put(&d->folder, "out/talk.md", SLICE("mine\n"));
    assert_int_equal(export_to(d, false), ERR_STALE);
    assert_true(folder_is(&d->folder, "out/talk.md", "mine\n"));
    assert_int_equal(export_to(d, true), ERR_OK);
    assert_true(has_the_document(d));
    syscall_hook_fired();
}

CASE(a_full_disk_leaves_nothing)
{
    struct export_fixture *d = *state;

    folder_put(&d->folder, "out/talk.md", SLICE("mine\n"));
    without_nameless_files();
    syscall_hook_arm_also(
        &(struct syscall_hook){ .call = "write", .name = "*.tmp", .error = ENOSPC });
    assert_int_equal(export_to(d, true), ERR_IO);
    syscall_hook_fired();
    assert_true(folder_is(&d->folder, "out/talk.md", "mine\n"));
    assert_int_equal(names_in(d->out), 1);
}

static void die(void *arg)
{
    (void)arg;
    _exit(0);
}

/* A killed export cannot remove its file; the next one does. */
CASE(what_a_killed_export_left_is_removed)
{
    struct export_fixture *d = *state;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        without_nameless_files();
        syscall_hook_arm_also(
            &(struct syscall_hook){ .call = "write", .name = "*.tmp", .then = die });
        _exit(1 + (int)export_to(d, false));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(names_in(d->out), 1);
    assert_false(folder_has(&d->folder, "out/talk.md"));
    assert_int_equal(export_to(d, false), ERR_OK);
    assert_true(has_the_document(d));
}

CASE(the_file_of_another_export_stays)
{
    struct export_fixture *d = *state;
    char path[4096];

    folder_put(&d->folder, "out/.reprise-0123456789abcdef.tmp", SLICE("half"));
    folder_path(&d->folder, "out/.reprise-0123456789abcdef.tmp", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_int_equal(flock(fd, LOCK_EX), 0);
    without_nameless_files();
    assert_int_equal(export_to(d, false), ERR_OK);
    syscall_hook_fired();
    assert_true(folder_is(&d->folder, "out/.reprise-0123456789abcdef.tmp", "half"));
    close(fd);
}
