#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/rewind/plan/rewind.h"
#include "tests/support/folder.h"

/* A file larger than the memory that its rewind may use. */
enum { LARGE = 96 << 20, MEMORY = 40 << 20 };

static const struct rewind_options all = { .allow_edited = true };

struct place {
    struct folder folder;
    struct store_env env;
    char root[4096], state[4096], now[4096], then[4096];
};

static void put_large(const char *path, const char *end)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, LARGE), 0);
    assert_int_equal(pwrite(fd, end, strlen(end), LARGE), strlen(end));
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
    put_large(folder_path(&p.folder, "ws/f", p.now), "\nnow\n");
    put_large(folder_path(&p.folder, "copy", p.then), "\nthen\n");
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
