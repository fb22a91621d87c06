#ifndef TESTS_STORE_SYSTEMS_COMMON_SAVED_WORLD_H
#define TESTS_STORE_SYSTEMS_COMMON_SAVED_WORLD_H

#include "tests/test.h"

#include <stdlib.h>

#include "store/systems/common/saved_states.h"
#include "tests/support/folder.h"

/* Saved states of one file, /p/a.txt, whose copies are in a folder, and the plan that is made of them. */

struct world {
    struct folder folder;
    struct saved_states states;
    struct rewind_plan plan;
};

static inline int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    folder_make(&w->folder);
    *state = w;
    return 0;
}

static inline int teardown(void **state)
{
    struct world *w = *state;

    rewind_plan_fini(&w->plan);
    saved_states_fini(&w->states);
    folder_remove(&w->folder);
    free(w);
    return 0;
}

static inline void add(struct world *w, struct saved_state x)
{
    x.time_ms = x.time_ms ? x.time_ms : x.turn * 1000 + x.is_write;
    assert_int_equal(saved_states_add(&w->states, "/p/a.txt", &x, NULL), ERR_OK);
}

/* A copy on disk from before the turn's work. */
static inline const char *add_copy(struct world *w, int64_t turn, const char *name,
                                   const char *text)
{
    char buffer[4096];
    struct slice path;

    folder_put(&w->folder, name, slice_of(text));
    path = arena_copy(&w->states.arena, slice_of(folder_path(&w->folder, name, buffer)));
    assert_non_null(path.p);
    add(w, (struct saved_state){ .turn = turn, .content = SAVED_FILE, .file = path.p });
    return path.p;
}

static inline void add_write(struct world *w, int64_t turn, const char *found, const char *left)
{
    add(w, (struct saved_state){ .turn = turn,
                                 .is_write = true,
                                 .content = SAVED_BYTES,
                                 .bytes = slice_of(left),
                                 .has_found = found != NULL,
                                 .found = found ? slice_of(found) : (struct slice){ NULL, 0 } });
}

static inline const struct rewind_target *target(struct world *w, int64_t turn)
{
    assert_int_equal(saved_states_plan(&w->states, turn, &w->plan, NULL), ERR_OK);
    assert_int_equal(w->plan.n, 1);
    return &w->plan.target[0];
}

static inline void run_command(struct world *w, int64_t time_ms, const char *command)
{
    const struct saved_shell shell = { .time_ms = time_ms,
                                       .command = slice_of(command),
                                       .dir = "/p" };

    assert_int_equal(saved_states_shell(&w->states, &shell, NULL), ERR_OK);
}

#define CASE(name) TEST_WITH(name, setup, teardown)

#endif
