#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/arena.h"
#include "store/fs/copy.h"
#include "tui/config/shell.h"
#include "tui/term/term.h"

extern char **environ;

/* The child gets the terminal as stdin, stdout and stderr, and blocks no signal. */
static int spawn(char **argv, int tty, pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_adddup2(&files, tty, fd);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawnp(child, argv[0], &files, &attributes, argv, environ);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static enum err_code run_editor(struct term_signals *signals, char **argv, int tty, struct err *e)
{
    pid_t child;
    int failed = spawn(argv, tty, &child);

    if (failed) {
        errno = failed;
        err_sys(e, argv[0], "open in the editor");
        return ERR_IO;
    }
    int status = term_signals_wait_for(signals, child);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ERR_OK;
    return err_set(e, ERR_IO, argv[0], "open in the editor: the editor failed");
}

static bool editor_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

enum err_code editor_run_copy(const struct editor *editor, const char *path, struct buf *kept,
                              struct err *e)
{
    const char *name = strrchr(path, '/');
    struct buf dir = { 0 }, copy = { 0 };
    struct stat before, after;
    bool changed = false;
    enum err_code rc = buf_addf(&dir, "%s/reprise-XXXXXX", editor->temp_dir) || !buf_cstr(&dir)
                           ? err_nomem(e)
                       : mkdtemp(dir.p) ? ERR_OK
                                        : err_sys(e, dir.p, "make directory");

    if (rc) {
        buf_fini(&dir);
        return rc;
    }
    if (buf_addf(&copy, "%s/%s", dir.p, name ? name + 1 : path) || !buf_cstr(&copy))
        rc = err_nomem(e);
    if (!rc)
        rc = copy_tree(path, copy.p, e);
    /* The copy of a link is a link: the mode of its target would be changed, and the editor would write there. */
    if (!rc && (lstat(copy.p, &before) || !S_ISREG(before.st_mode)))
        rc = err_set(e, ERR_UNSAFE, path, "a link, or not a regular file: open in the editor");
    if (!rc && (chmod(copy.p, 0400) || lstat(copy.p, &before)))
        rc = err_sys(e, copy.p, "make read-only");
    if (!rc) {
        /* Runs the user's editor ("vim", "code --wait") on a file, on the terminal tty, and waits
         * for it. The screen must have been left before. */
        struct arena arena = { 0 };
        struct buf line = { 0 };
        const struct shell_value file = { "file", slice_of(copy.p) };
        char **argv = NULL;
        rc = buf_addf(&line, "%s {file}", editor->command ? editor->command : "vi");

        if (rc == ERR_OK)
            rc = shell_split(buf_slice(&line), &file, 1, &arena, &argv, e);
        else
            err_nomem(e);
        if (rc == ERR_OK)
            rc = run_editor(editor->signals, argv, editor->tty, e);
        buf_fini(&line);
        arena_fini(&arena);

        changed = lstat(copy.p, &after) == 0 && !editor_same_file(&before, &after);
    }
    if (changed && buf_addf(kept, "the transcript is unchanged; your edit is in %s", copy.p))
        rc = err_nomem(e);
    if (!changed) {
        enum err_code removed = copy_remove(dir.p, rc ? NULL : e);

        rc = rc ? rc : removed;
    }
    buf_fini(&copy);
    buf_fini(&dir);
    return rc;
}
