#include "tui/term/editor.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/arena.h"
#include "tui/config/shell.h"
#include "tui/term/signals.h"

extern char **environ;

/* The child gets the terminal on its three descriptors and none of the signals we hold. */
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

static enum err_code run_editor(char **argv, int tty, struct err *e)
{
    pid_t child;
    int failed = spawn(argv, tty, &child);

    if (failed) {
        errno = failed;
        err_sys(e, argv[0], "open in the editor");
        return ERR_IO;
    }
    int status = signals_wait_for(child);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ERR_OK;
    return err_set(e, ERR_IO, argv[0], "open in the editor: it ended with an error");
}

enum err_code editor_run(const char *editor, const char *path, int tty, struct err *e)
{
    struct arena arena = { 0 };
    struct buf line = { 0 };
    const struct shell_value file = { "file", slice_of(path) };
    char **argv = NULL;
    enum err_code rc = buf_addf(&line, "%s {file}", editor);

    if (rc == ERR_OK)
        rc = shell_split(buf_slice(&line), &file, 1, &arena, &argv, e);
    else
        err_nomem(e);
    if (rc == ERR_OK)
        rc = run_editor(argv, tty, e);
    buf_fini(&line);
    arena_fini(&arena);
    return rc;
}
