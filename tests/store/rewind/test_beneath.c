#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/rewind/plan/beneath.h"
#include "support/faults/old_kernel.h"
#include "tests/support/coverage.h"
#include "tests/support/folder.h"

struct place {
    struct folder folder;
    char root[4096], outside[4096];
    int fd;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_put(&p->folder, "root/src/a.c", SLICE("a"));
    folder_put(&p->folder, "outside/a.c", SLICE("secret"));
    folder_path(&p->folder, "root", p->root);
    folder_path(&p->folder, "outside", p->outside);
    assert_int_equal(beneath_root(p->root, &p->fd, NULL), ERR_OK);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    close(p->fd);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static enum err_code parent_of(struct place *p, const char *name, int *fd, const char **last,
                               char path[4096])
{
    return beneath_parent(p->fd, p->root, folder_path(&p->folder, name, path), fd, last, NULL);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_file_is_reached_through_its_directory)
{
    struct place *p = *state;
    char path[4096];
    const char *name;
    struct stat st;
    int fd;

    assert_int_equal(parent_of(p, "root/src/a.c", &fd, &name, path), ERR_OK);
    assert_string_equal(name, "a.c");
    assert_int_equal(fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    close(fd);
    assert_int_equal(parent_of(p, "root/top", &fd, &name, path), ERR_OK);
    close(fd);
}

CASE(paths_outside_the_root_are_refused)
{
    struct place *p = *state;
    char path[4096];
    const char *name;
    int fd;

    assert_int_equal(parent_of(p, "outside/a.c", &fd, &name, path), ERR_UNSAFE);
    assert_int_equal(parent_of(p, "rootless/a.c", &fd, &name, path), ERR_UNSAFE);
    assert_int_equal(parent_of(p, "root", &fd, &name, path), ERR_UNSAFE);
    folder_path(&p->folder, "root/../outside/a.c", path);
    assert_int_equal(beneath_make_parent(p->fd, p->root, path, NULL, &fd, &name, NULL), ERR_UNSAFE);
    assert_int_equal(parent_of(p, "root/src/", &fd, &name, path), ERR_UNSAFE);
}

CASE(links_in_the_path_are_refused)
{
    struct place *p = *state;
    char path[4096];
    const char *name;
    int fd;

    assert_int_equal(symlink(p->outside, folder_path(&p->folder, "root/link", path)), 0);
    assert_int_equal(symlink("src", folder_path(&p->folder, "root/inner", path)), 0);
    assert_int_equal(parent_of(p, "root/link/a.c", &fd, &name, path), ERR_UNSAFE);
    assert_int_equal(parent_of(p, "root/inner/a.c", &fd, &name, path), ERR_UNSAFE);
    assert_int_equal(parent_of(p, "root/src/a.c/x", &fd, &name, path), ERR_UNSAFE);
    assert_int_equal(parent_of(p, "root/gone/a.c", &fd, &name, path), ERR_NOT_FOUND);
}

CASE(missing_directories_are_created_but_not_through_links)
{
    struct place *p = *state;
    char path[4096];
    const char *name;
    int fd;

    folder_path(&p->folder, "root/x/y/z.c", path);
    assert_int_equal(beneath_make_parent(p->fd, p->root, path, NULL, &fd, &name, NULL), ERR_OK);
    assert_string_equal(name, "z.c");
    close(fd);
    assert_true(folder_has(&p->folder, "root/x/y"));
    assert_int_equal(symlink(p->outside, folder_path(&p->folder, "root/link", path)), 0);
    folder_path(&p->folder, "root/link/new/z.c", path);
    assert_int_equal(beneath_make_parent(p->fd, p->root, path, NULL, &fd, &name, NULL), ERR_UNSAFE);
    assert_false(folder_has(&p->folder, "outside/new"));
}

/* Only the missing directories; the others are created as usual. */
CASE(missing_directories_are_created_with_their_old_attributes)
{
    struct place *p = *state;
    struct dir_like known[2] = { { .attrs = { .mode = 02750 } }, { .attrs = { .mode = 01700 } } };
    struct dirs like = { known, 2 };
    char path[4096], x[4096], src[4096];
    const char *name;
    struct stat st;
    int fd;

    assert_int_equal(chmod(folder_path(&p->folder, "root/src", src), 0755), 0);
    known[0].path = folder_path(&p->folder, "root/x", x);
    known[1].path = src;
    known[0].attrs.uid = geteuid();
    known[0].attrs.gid = getegid();
    folder_path(&p->folder, "root/x/y/z.c", path);
    assert_int_equal(beneath_make_parent(p->fd, p->root, path, &like, &fd, &name, NULL), ERR_OK);
    close(fd);
    assert_int_equal(stat(x, &st), 0);
    assert_int_equal(st.st_mode & 07777, 02750);
    assert_true(known[0].made);
    folder_path(&p->folder, "root/src/z.c", path);
    assert_int_equal(beneath_make_parent(p->fd, p->root, path, &like, &fd, &name, NULL), ERR_OK);
    close(fd);
    assert_int_equal(stat(src, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_false(known[1].made);
}

/* No clean path has such names, but they are refused all the same. */
CASE(impossible_names_are_refused)
{
    struct place *p = *state;
    char longest[2 * 4096], path[4096];
    const char *name;
    int fd = -1;

    snprintf(longest, sizeof longest, "%s/", p->root);
    size_t n = strlen(longest);

    memset(longest + n, 'a', sizeof longest - n);
    memcpy(longest + sizeof longest - 3, "/x", 3);
    assert_int_equal(beneath_parent(p->fd, p->root, longest, &fd, &name, NULL), ERR_UNSAFE);
    assert_int_equal(beneath_make_parent(p->fd, p->root, longest, NULL, &fd, &name, NULL),
                     ERR_UNSAFE);
    assert_int_equal(parent_of(p, "root/../outside/a.c", &fd, &name, path), ERR_UNSAFE);
    folder_path(&p->folder, "root/../outside/a.c", path);
    assert_int_equal(beneath_make_parent(p->fd, p->root, path, NULL, &fd, &name, NULL), ERR_UNSAFE);
    assert_int_equal(parent_of(p, "root/src/", &fd, &name, path), ERR_UNSAFE);
    assert_int_equal(fd, -1);
}

/* In children, because the setting cannot be undone in a process. */
static enum err_code on_old_kernel(struct place *p, int error, const char *path)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        const char *name;
        int fd;

        if (!kernel_refuses(SYS_openat2, error))
            _exit(ERR_CANCELLED);
        enum err_code rc = beneath_parent(p->fd, p->root, path, &fd, &name, NULL);

        coverage_keep();
        _exit((int)rc);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == ERR_CANCELLED)
        skip();
    return (enum err_code)WEXITSTATUS(status);
}

CASE(old_kernels_are_recognised_by_several_errors)
{
    NEEDS("openat2");
    struct place *p = *state;
    static const struct {
        int error;
        enum err_code rc;
    } way[] = { { ENOSYS, ERR_OK },
                { EPERM, ERR_OK },
                { E2BIG, ERR_OK },
                { EINTR, ERR_IO },
                { EAGAIN, ERR_UNSAFE } };
    char path[4096], longest[4096];

    folder_path(&p->folder, "root/src/a.c", path);
    for (size_t i = 0; i < sizeof way / sizeof *way; i++)
        assert_int_equal(on_old_kernel(p, way[i].error, path), way[i].rc);
    snprintf(longest, sizeof longest, "%s/%0300d/x", p->root, 0);
    assert_int_equal(on_old_kernel(p, ENOSYS, longest), ERR_IO);
}

struct race {
    char dir[4096], link[4096];
    atomic_bool stop;
};

static void *swap(void *arg)
{
    struct race *r = arg;

    while (!atomic_load(&r->stop))
        renameat2(AT_FDCWD, r->dir, AT_FDCWD, r->link, RENAME_EXCHANGE);
    return NULL;
}

/* A directory and a link to the outside change places constantly; every file reached is inside. */
CASE(no_race_escapes_the_root)
{
    struct place *p = *state;
    struct race r = { 0 };
    pthread_t other;
    char path[4096];
    struct stat inside, got;

    folder_path(&p->folder, "root/src", r.dir);
    folder_path(&p->folder, "root/swap", r.link);
    assert_int_equal(symlink(p->outside, r.link), 0);
    assert_int_equal(stat(r.dir, &inside), 0);
    assert_int_equal(pthread_create(&other, NULL, swap, &r), 0);
    for (int i = 0; i < 20000; i++) {
        const char *name;
        int fd;

        if (parent_of(p, "root/src/a.c", &fd, &name, path) != ERR_OK)
            continue;
        assert_int_equal(fstat(fd, &got), 0);
        assert_int_equal(got.st_ino, inside.st_ino);
        close(fd);
    }
    atomic_store(&r.stop, true);
    pthread_join(other, NULL);
}
