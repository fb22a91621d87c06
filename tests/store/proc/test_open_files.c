#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/log/lease.h"
#include "store/proc/process.h"
#include "support/scratch.h"

/* Programs that have a file open, as fuser(1) tells it. */

static enum open_files ask(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum open_files answer = open_files_ask(fd, path);

    close(fd);
    return answer;
}

/* Takes the place of fuser; NULL: fuser is not installed. */
static enum open_files ask_fuser_that(void **state, const char *does)
{
    char script[256], *kept = strdup(getenv("PATH"));

    scratch_write(state, "log", SLICE("{}\n"));
    folder_dir(*state, "bin");
    if (does) {
        snprintf(script, sizeof script, "#!/bin/sh\n%s\n", does);
        scratch_write(state, "bin/fuser", slice_of(script));
        assert_int_equal(chmod(scratch_path(state, "bin/fuser"), 0755), 0);
    }
    setenv("PATH", scratch_path(state, "bin"), 1);
    enum open_files answer = ask(scratch_path(state, "log"));

    setenv("PATH", kept, 1);
    free(kept);
    return answer;
}

IN_SCRATCH(an_answer_counts_only_with_this_process)
{
    assert_int_equal(ask_fuser_that(state, NULL), OPEN_FILES_UNKNOWN);
    assert_int_equal(ask_fuser_that(state, "exit 1"), OPEN_FILES_UNKNOWN);
    assert_int_equal(ask_fuser_that(state, "exit 0"), OPEN_FILES_UNKNOWN);
    assert_int_equal(ask_fuser_that(state, "echo ' '$PPID; echo \"$1:\" >&2"), OPEN_FILES_OURS);
    assert_int_equal(ask_fuser_that(state, "echo $PPID 1"), OPEN_FILES_OTHERS);
    assert_int_equal(ask_fuser_that(state, "echo 1r"), OPEN_FILES_OTHERS);
    assert_int_equal(ask_fuser_that(state, "test $# = 1 && test -f \"$1\" && echo $PPID"),
                     OPEN_FILES_OURS);
}

IN_SCRATCH(a_relative_path_is_not_asked_about)
{
    assert_int_equal(open_files_ask(0, "log"), OPEN_FILES_UNKNOWN);
}

IN_SCRATCH(another_users_file_is_not_known)
{
    if (geteuid() != 0)
        skip();
    scratch_write(state, "log", SLICE("{}\n"));
    const char *path = scratch_path(state, "log");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    pid_t pid = fork();

    if (pid == 0)
        _exit(setuid(12345) || open_files_ask(fd, path) != OPEN_FILES_UNKNOWN);
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(fd);
}

/* The real one, if it is installed and may look at processes. */
IN_SCRATCH(a_program_that_has_it_open_is_found)
{
    int hold[2];
    char byte;

    scratch_write(state, "log", SLICE("{}\n"));
    const char *path = scratch_path(state, "log");
    enum open_files alone = ask(path);

    assert_int_not_equal(alone, OPEN_FILES_OTHERS);
    if (alone == OPEN_FILES_UNKNOWN)
        skip();
    assert_int_equal(pipe(hold), 0);
    int log = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    pid_t pid = fork();

    if (pid == 0) { /* until this test closes the pipe or ends */
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) != 0);
    }
    close(log);
    enum open_files with = ask(path);
    enum lease_use use = lease_file_use(path);

    close(hold[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(hold[0]);
    assert_int_equal(with, OPEN_FILES_OTHERS);
    assert_int_equal(use, LEASE_IN_USE);
    assert_int_equal(ask(path), OPEN_FILES_OURS);
}

IN_SCRATCH(a_missing_log_is_in_no_use)
{
    assert_int_equal(lease_file_use(scratch_path(state, "none")), LEASE_FREE);
    assert_int_equal(lease_live(scratch_path(state, "none")).state, LIVE_QUIET);
}
