#ifndef TESTS_SWEEPS_TRIAL_H
#define TESTS_SWEEPS_TRIAL_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "store/api/env.h"
#include "tests/support/folder.h"
#include "tests/sweeps/inject.h"

/* An operation that is broken at every one of its calls, in every way, and what must be true afterwards.
 *
 * For each way and each k: the tree is made, the operation runs in a process whose k-th call fails, the next command
 * runs undisturbed and recovers, and then what lies in "user" is the old tree or the new one, name by name and byte by
 * byte: so no temporary name is left either. It is the new one where the operation said it was done, the old one
 * where it said that it failed; what was done can be undone, and then even the times are the old ones. */
struct trial_dir {
    struct folder folder;
    struct store_env env;
    char state[4096], data[4096], user[4096];
    const void *arg; /* of the case */
};

/* How an operation ended, as the exit code of a command would say. */
enum trial_end { END_DONE, END_FAILED, END_UNFINISHED };

/* What a command would say of this answer; told where REPRISE_SWEEP_TELL is set. */
enum trial_end trial_end_of(enum err_code rc, const struct err *e);

struct trial {
    const char *name;
    void (*make)(struct trial_dir *y); /* below "user", "state" and "data", which exist */
    enum trial_end (*act)(struct trial_dir *y);
    enum trial_end (*recover)(struct trial_dir *y); /* what the next command begins with */
    enum trial_end (*undo)(struct trial_dir *y);    /* NULL: cannot be undone */
    void (*drop)(struct trial_dir *y);              /* NULL: removing the folder is all */
    /* Is the half-way image all right all the same? NULL: only old and new are. */
    bool (*tolerates)(const struct trial_dir *y, bool done);
    /* Writes over what is drawn by chance, so that two images can be compared. NULL: nothing is. */
    void (*blur)(char *image);
    const void *arg;
    /* A failed operation may leave what `tolerates` accepts: what nobody reads, and nobody may remove again, since
     * another program may count on it already. */
    bool leaves;
    bool no_tmpfile;
    /* also with calls that only look, renames and allocations failing, and calls interrupted */
    bool thorough;
    bool gives_up; /* interrupted: the calls are those of a library that does not try again */
    /* Only every n-th call, counted from a different one in each way: 0 and 1 mean all. */
    long stride;
};

struct tally {
    long runs, calls, old, new;
    long torn;        /* neither the old tree nor the new one */
    long untrue;      /* said it was done and was not, or the other way round */
    long unrecovered; /* the next command failed */
    long undo_failed;
    /* an error (not a crash) left something that only the next command removed */
    long left_at_once;
    long temps; /* names of ours in "state" and "data" that nobody will ever remove */
    long times; /* old again, but a time is not */
};

/* Makes a yard where the system is fast and forgets: the tests simulate what is durable. */
void trial_dir_make(struct trial_dir *y, const struct trial *s);
void trial_dir_remove(struct trial_dir *y, const struct trial *s);
/* Skips the test where no file system can be mounted. */
void trial_dir_need_mount(void);
/* Names, modes and bytes of everything below "user"; with the times of files. malloc'ed. */
char *trial_dir_image(const struct trial_dir *y, bool times);

/* Runs it all and prints a line of figures. */
struct tally trial_run(const struct trial *s);
/* A crash, and then crashes in the recovery from it. */
struct tally trial_run_twice(const struct trial *s);
bool tally_is_clean(const struct tally *t);
/* Fails the test (cmocka) where a figure that must be 0 is not. */
void trial_must_hold(const struct trial *s);
/* The same, without crashes in the recovery: where nothing is recovered. */
void trial_must_hold_once(const struct trial *s);
/* REPRISE_SWEEP=long in the environment. */
bool trial_is_long(void);

/* Runs fn in a process of its own, with the given fault; *count says how many calls it made. -1: it was killed. */
int trial_child(struct trial_dir *y, enum trial_end (*fn)(struct trial_dir *y),
                const struct inject *how, long *count);

#endif
