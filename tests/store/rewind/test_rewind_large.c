#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fs/span.h"
#include "store/rewind/plan/rewind.h"
#include "tests/support/folder.h"

/* A file larger than the memory that its rewind may use; and one that a preview does not hold in memory. */
enum { LARGE = 96 << 20, MEMORY = 40 << 20, MEDIUM = 17 << 20 };

enum err_code __real_hasher_span(struct hasher *h, const struct span *from, int to,
                                 const char *to_path, uint8_t sha256[SHA256_BYTES], struct err *e);
enum err_code __wrap_hasher_span(struct hasher *h, const struct span *from, int to,
                                 const char *to_path, uint8_t sha256[SHA256_BYTES], struct err *e);

static size_t streamed; /* large files that were read to their end */

enum err_code __wrap_hasher_span(struct hasher *h, const struct span *from, int to,
                                 const char *to_path, uint8_t sha256[SHA256_BYTES], struct err *e)
{
    streamed++;
    return __real_hasher_span(h, from, to, to_path, sha256, e);
}

static const struct rewind_options all = { .allow_edited = true };

struct place {
    struct folder folder;
    struct store_env env;
    char root[4096], state[4096], now[4096], then[4096];
};

static void put_file(const char *path, off_t size, const char *end)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(pwrite(fd, end, strlen(end), size), strlen(end));
    close(fd);
}

static bool ends_with(const char *path, const char *end)
{
    char got[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && pread(fd, got, sizeof got - 1, LARGE) >= 0 && strcmp(got, end) == 0;

    close(fd);
    return same;
}

static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    unsigned long pages;
    FILE *in = fopen("/proc/self/statm", "r");

    assert_non_null(in);
    assert_int_equal(fscanf(in, "%lu", &pages), 1);
    fclose(in);
    rlim_t limit = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY;

    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){ limit, limit }), 0);
#endif
}

static bool carry_out(struct place *p, struct rewind_plan *plan)
{
    struct rewind_preview preview;
    struct rewind_result result;
    struct err e = { 0 };

    if (rewind_preview(plan, &all, &preview, &e)) {
        fprintf(stderr, "%s: %s\n", e.path, e.text);
        return false;
    }
    const struct rewind_entry *x = &preview.entry[0];
    bool right = x->action == REWIND_RESTORE && x->insertions == 1 && x->deletions == 1;

    right = right && rewind_apply(&p->env, &preview, &result, &e) == ERR_OK;
    if (right) {
        right = result.conflicts == 0;
        rewind_result_fini(&result);
    }
    rewind_preview_fini(&preview);
    p->env.now_ms++;
    return right;
}

static bool there_and_back(struct place *p)
{
    struct rewind_plan plan = { .system = "claude", .session = "s", .point = "m", .root = p->root };
    struct rewind_target t = { .path = p->now,
                               .want = REWIND_BYTES,
                               .source = { .file = p->then } };
    bool right = rewind_plan_add(&plan, &t, NULL) == ERR_OK && carry_out(p, &plan) &&
                 ends_with(p->now, "\nthen\n");

    rewind_plan_fini(&plan);
    if (!right || rewind_undo_plan(&p->env, NULL, &plan, NULL))
        return false;
    right = carry_out(p, &plan) && ends_with(p->now, "\nnow\n");
    rewind_plan_fini(&plan);
    return right;
}

TEST(a_large_file_is_streamed)
{
    struct place p;
    int status;

    folder_make(&p.folder);
    folder_dir(&p.folder, "ws");
    folder_path(&p.folder, "ws", p.root);
    folder_path(&p.folder, "state", p.state);
    put_file(folder_path(&p.folder, "ws/f", p.now), LARGE, "\nnow\n");
    put_file(folder_path(&p.folder, "copy", p.then), LARGE, "\nthen\n");
    p.env = (struct store_env){ .state_dir = p.state, .now_ms = 1800000000000 };
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        limit_memory();
        _exit(there_and_back(&p) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    folder_remove(&p.folder);
}

/* How many large files a preview reads, and whether it takes the present file for an edited one. */
static size_t read_in_preview(struct place *p, const char *then, const char *last, bool edited)
{
    struct rewind_plan plan = { .system = "claude", .session = "s", .point = "m", .root = p->root };
    struct rewind_target t = { .path = p->now,
                               .want = REWIND_BYTES,
                               .source = { .file = then },
                               .has_last = true,
                               .last = { .file = last } };
    struct rewind_preview preview;

    streamed = 0;
    assert_int_equal(rewind_plan_add(&plan, &t, NULL), ERR_OK);
    assert_int_equal(rewind_preview(&plan, &all, &preview, NULL), ERR_OK);
    assert_int_equal(preview.entry[0].edited, edited);
    rewind_preview_fini(&preview);
    rewind_plan_fini(&plan);
    return streamed;
}

TEST(a_large_copy_is_read_once)
{
    struct place p;
    char last[4096], longer[4096];

    folder_make(&p.folder);
    folder_dir(&p.folder, "ws");
    folder_path(&p.folder, "ws", p.root);
    put_file(folder_path(&p.folder, "copy", p.then), MEDIUM, "\nthen\n");
    put_file(folder_path(&p.folder, "last", last), MEDIUM, "\nnow\n");
    put_file(folder_path(&p.folder, "longer", longer), MEDIUM, "\nlonger\n");
    folder_put(&p.folder, "ws/f", SLICE("small\n"));
    folder_path(&p.folder, "ws/f", p.now);

    /* What the session last saved is the copy itself, or of another size than the file. */
    assert_int_equal(read_in_preview(&p, p.then, p.then, true), 1);
    assert_int_equal(read_in_preview(&p, p.then, longer, true), 1);

    assert_int_equal(unlink(p.now), 0);
    put_file(p.now, MEDIUM, "\nnow\n");
    assert_int_equal(read_in_preview(&p, p.then, p.then, true), 2);
    assert_int_equal(read_in_preview(&p, p.then, longer, true), 2);
    assert_int_equal(read_in_preview(&p, p.then, last, false), 3);
    folder_remove(&p.folder);
}
