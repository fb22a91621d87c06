#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/host.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"
#define ONE "aaaa0000-0000-4000-8000-000000000001"
#define TWO "aaaa0000-0000-4000-8000-000000000002"
#define PROMPT(id) "{\"type\":\"user\",\"uuid\":\"" id "\",\"message\":{\"content\":\"do it\"}}"

/* A host that has begun a session with two prompts, in a directory with one file. */
struct shop {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct arena a;
    struct session_ref ref;
    char config[4096], work[4096], file[4096], fresh[4096];
};

static void append(struct shop *s, const char *text)
{
    const struct slice row = { text, strlen(text) };
    const struct host_append req = { .row = &row, .n = 1 };
    struct host_appended done;

    assert_int_equal(host_append(s->store, &s->ref, &req, &s->a, &done, NULL), ERR_OK);
}

static int set_up(void **state)
{
    struct shop *s = calloc(1, sizeof *s);
    const struct host_create req = { .id = SLICE(ID) };
    struct host_created made;

    folder_make(&s->folder);
    folder_put(&s->folder, "work/file", SLICE("v0\n"));
    folder_path(&s->folder, "config", s->config);
    folder_path(&s->folder, "work", s->work);
    folder_path(&s->folder, "work/file", s->file);
    folder_path(&s->folder, "work/fresh", s->fresh);
    s->env = (struct store_env){ .cwd = s->work, .now_ms = 1700000000000 };
    assert_int_equal(host_make(&claude_ops, &s->env, s->config, NULL), ERR_OK);
    assert_int_equal(claude_ops.open(&s->env, s->config, &s->store, NULL), ERR_OK);
    assert_int_equal(host_create(s->store, &req, &s->a, &made, NULL), ERR_OK);
    s->ref = (struct session_ref){ .store = s->store, .id = made.id, .path = made.path };
    append(s, PROMPT(ONE));
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct shop *s = *state;

    store_close(s->store);
    arena_fini(&s->a);
    folder_remove(&s->folder);
    free(s);
    return 0;
}

static enum err_code save(struct shop *s, const char *message, const char *const *file, size_t n,
                          size_t *fresh)
{
    const struct host_checkpoint req = { .message = { message, strlen(message) },
                                         .file = file,
                                         .files = n };
    struct host_checkpointed done = { .fresh = 0 };
    enum err_code rc = host_checkpoint(s->store, &s->ref, &req, &s->a, &done, NULL);

    *fresh = done.fresh;
    return rc;
}

static const struct rewind_target *target(const struct rewind_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->target[i].path, path) == 0)
            return &plan->target[i];
    fail_msg("no target %s", path);
    return NULL;
}

static void assert_saved(const struct rewind_target *t, const char *text)
{
    struct buf bytes = { 0 };

    assert_int_equal(t->want, REWIND_BYTES);
    assert_int_equal(file_read_all(AT_FDCWD, t->source.file, 0, 100, &bytes, NULL), ERR_OK);
    assert_true(slice_eq(buf_slice(&bytes), slice_of(text)));
    buf_fini(&bytes);
}

static struct rewind_plan plan_of(struct shop *s, const char *message)
{
    struct rewind_plan plan;

    assert_int_equal(claude_ops.plan(s->store, &s->ref, slice_of(message), &plan, NULL), ERR_OK);
    return plan;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_rewind_restores_the_first_saved_content)
{
    struct shop *s = *state;
    const char *const first[] = { s->file }, *const both[] = { s->file, s->fresh };
    size_t fresh;

    assert_int_equal(chmod(s->file, 0750), 0);
    assert_int_equal(save(s, ONE, first, 1, &fresh), ERR_OK);
    assert_int_equal(fresh, 1);
    folder_put(&s->folder, "work/file", SLICE("v1\n"));
    assert_int_equal(save(s, ONE, both, 2, &fresh), ERR_OK);
    assert_int_equal(fresh, 0);
    append(s, PROMPT(TWO));
    assert_int_equal(save(s, TWO, first, 1, &fresh), ERR_OK);
    assert_int_equal(fresh, 1);

    struct rewind_plan one = plan_of(s, ONE), two = plan_of(s, TWO);

    assert_saved(target(&one, s->file), "v0\n");
    assert_int_equal(target(&one, s->file)->mode, 0750);
    assert_int_equal(target(&one, s->fresh)->want, REWIND_ABSENT);
    assert_saved(target(&two, s->file), "v1\n");
    rewind_plan_fini(&one);
    rewind_plan_fini(&two);
}

CASE(unchanged_files_are_saved_once)
{
    struct shop *s = *state;
    const char *const file[] = { s->file };
    size_t fresh;

    assert_int_equal(save(s, ONE, file, 1, &fresh), ERR_OK);
    append(s, PROMPT(TWO));
    assert_int_equal(save(s, TWO, file, 1, &fresh), ERR_OK);
    assert_int_equal(fresh, 0);

    struct rewind_plan two = plan_of(s, TWO);

    assert_saved(target(&two, s->file), "v0\n");
    rewind_plan_fini(&two);
}

CASE(unknown_prompts_and_files_are_refused)
{
    struct shop *s = *state;
    const char *const file[] = { s->file }, *const dir[] = { s->work }, *const name[] = { "file" };
    size_t fresh;
    char *before = folder_image(&s->folder, "config");

    assert_int_equal(save(s, TWO, file, 1, &fresh), ERR_NOT_FOUND);
    assert_int_equal(save(s, ONE, dir, 1, &fresh), ERR_UNSAFE);
    assert_int_equal(save(s, ONE, name, 1, &fresh), ERR_UNSAFE);

    char *after = folder_image(&s->folder, "config");

    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* The copies of one file, named HASH@vN: the hash, and the highest number. */
static int newest_copy(const struct shop *s, char hash[64])
{
    char dir[5000];
    struct dirent *d;
    int newest = 0;

    snprintf(dir, sizeof dir, "%s/file-history/" ID, s->config);
    DIR *copies = opendir(dir);

    assert_non_null(copies);
    while ((d = readdir(copies))) {
        const char *at = strstr(d->d_name, "@v");
        int version = at ? atoi(at + 2) : 0;

        if (at)
            snprintf(hash, 64, "%.*s", (int)(at - d->d_name), d->d_name);
        newest = version > newest ? version : newest;
    }
    closedir(copies);
    return newest;
}

/* As the client: one more than the highest number in rows and in names of copies, also of copies that no row names. */
CASE(the_next_version_follows_the_highest_one)
{
    struct shop *s = *state;
    const char *const file[] = { s->file };
    char hash[64], name[200], row[1000];
    size_t fresh;

    assert_int_equal(save(s, ONE, file, 1, &fresh), ERR_OK);
    assert_int_equal(newest_copy(s, hash), 1);
    snprintf(name, sizeof name, "config/file-history/" ID "/%s@v7", hash);
    folder_put(&s->folder, name, SLICE("of a row that is lost\n"));
    folder_put(&s->folder, "work/file", SLICE("v1\n"));
    append(s, PROMPT(TWO));
    assert_int_equal(save(s, TWO, file, 1, &fresh), ERR_OK);
    assert_int_equal(newest_copy(s, hash), 8);

    /* A row names a copy that is gone, in an older turn. */
    snprintf(row, sizeof row,
             "{\"type\":\"file-history-snapshot\",\"messageId\":\"" ONE "\",\"snapshot\":{"
             "\"messageId\":\"" ONE "\",\"trackedFileBackups\":{\"file\":{\"backupFileName\":"
             "\"%s@v11\",\"version\":11,\"backupTime\":\"2023-11-14T22:13:20.000Z\"}},"
             "\"timestamp\":\"2023-11-14T22:13:20.000Z\"},\"isSnapshotUpdate\":true}\n",
             hash);

    int fd = open(s->ref.path.p, O_WRONLY | O_APPEND | O_CLOEXEC);

    assert_true(fd >= 0 && write(fd, row, strlen(row)) == (ssize_t)strlen(row) && close(fd) == 0);
    folder_put(&s->folder, "work/file", SLICE("v2\n"));
    append(s, PROMPT("aaaa0000-0000-4000-8000-000000000003"));
    assert_int_equal(save(s, "aaaa0000-0000-4000-8000-000000000003", file, 1, &fresh), ERR_OK);
    assert_int_equal(newest_copy(s, hash), 12);
}
