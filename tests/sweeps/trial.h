#ifndef TESTS_SWEEPS_TRIAL_H
#define TESTS_SWEEPS_TRIAL_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "store/api/env.h"
#include "tests/support/folder.h"
#include "tests/sweeps/inject.h"

/* Breaks an operation at every one of its calls, in every way, and checks the result.
 *
 * For each way and each k: the tree is made, the operation runs in a process whose k-th call fails, the next command
 * runs undisturbed and recovers, and then "user" contains the old tree or the new one, name by name and byte by byte,
 * so no temporary name is left either. It is the new one if the operation reported success, the old one if it reported
 * failure; a success can be undone, and then even the times are the old ones. */
struct trial_dir {
    struct folder folder;
    struct store_env env;
    char state[4096], data[4096], user[4096];
    const void *arg; /* of the case */
};

/* The end of an operation, as the exit code of a command would show it. */
enum trial_end { END_DONE, END_FAILED, END_UNFINISHED };

/* The exit code of a command for this result; printed if REPRISE_SWEEP_TELL is set. */
enum trial_end trial_end_of(enum err_code rc, const struct err *e);

struct trial {
    const char *name;
    void (*make)(struct trial_dir *y); /* below "user", "state" and "data", which exist */
    enum trial_end (*act)(struct trial_dir *y);
    enum trial_end (*recover)(struct trial_dir *y); /* the first act of the next command */
    enum trial_end (*undo)(struct trial_dir *y);    /* NULL: cannot be undone */
    void (*drop)(struct trial_dir *y);              /* NULL: removing the folder is all */
    /* Returns true if this half-way image is acceptable. NULL: only old and new are. */
    bool (*tolerates)(const struct trial_dir *y, bool done);
    /* Masks random values, so that two images can be compared. NULL: images have no such values. */
    void (*blur)(char *image);
    const void *arg;
    /* A failed operation may leave what `tolerates` accepts: files that no one reads, and that may not be removed
     * again, because another program may count on them already. */
    bool leaves;
    bool no_tmpfile;
    /* also fails read-only calls, renames and allocations, and interrupts calls */
    bool thorough;
    bool gives_up; /* interrupted: the calls are made by a library that does not retry */
    /* Only every n-th call, counted from a different one for each fault: 0 and 1 mean all. A run of every day takes a fifth
     * of them. */
    long stride;
};

struct tally {
    long runs, calls, old, new;
    long torn;        /* neither the old tree nor the new one */
    long untrue;      /* reported success and failed, or the other way round */
    long unrecovered; /* the next command failed */
    long undo_failed;
    /* an error (not a crash) left something that only the next command removed */
    long left_at_once;
    long temps; /* our own names in "state" and "data" that are never removed */
    long times; /* the old tree, except a time */
};

/* Creates the directory on a fast file system without durability: the tests simulate what is durable. */
void trial_dir_make(struct trial_dir *y, const struct trial *s);
void trial_dir_remove(struct trial_dir *y, const struct trial *s);
/* Skips the test if no file system can be mounted. */
void trial_dir_need_mount(void);
/* Names, modes and bytes of everything below "user"; with the times of files. malloc'ed. */
char *trial_dir_image(const struct trial_dir *y, bool times);

/* Runs everything and prints a line of figures. */
struct tally trial_run(const struct trial *s);
/* A crash, followed by crashes in the recovery from it. */
struct tally trial_run_twice(const struct trial *s);
bool tally_is_clean(const struct tally *t);
/* Fails the test (cmocka) if a figure that must be 0 is not. */
void trial_must_hold(const struct trial *s);
/* The same, without crashes in the recovery, for operations that need none. */
void trial_must_hold_once(const struct trial *s);
/* REPRISE_SWEEP=long in the environment. */
bool trial_is_long(void);

/* Runs fn in a process of its own, with the given fault; *count is set to the number of calls. -1: it was killed. */
int trial_child(struct trial_dir *y, enum trial_end (*fn)(struct trial_dir *y),
                const struct inject *how, long *count);

#endif
