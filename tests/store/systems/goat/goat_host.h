#ifndef TESTS_STORE_SYSTEMS_GOAT_GOAT_HOST_H
#define TESTS_STORE_SYSTEMS_GOAT_GOAT_HOST_H

#include <stdlib.h>

#include "store/api/host.h"
#include "store/systems/goat/goat.h"
#include "tests/support/folder.h"
#include "tests/test.h"

/* A host with a store of Go sessions and one session in it, as the state of a test. */
struct shop {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct arena a;
    struct host_created made;
    struct session_ref ref;
    char base[4096], cwd[4096];
};

static inline int set_up(void **state)
{
    struct shop *s = calloc(1, sizeof *s);

    folder_make(&s->folder);
    folder_path(&s->folder, "p/sessions", s->base);
    folder_path(&s->folder, "ws", s->cwd);
    folder_dir(&s->folder, "ws");
    s->env = (struct store_env){ .cwd = s->cwd, .now_ms = 1770605308120 };
    assert_int_equal(host_make(&goat_ops, &s->env, s->base, NULL), ERR_OK);
    assert_int_equal(goat_ops.open(&s->env, s->base, &s->store, NULL), ERR_OK);
    const struct host_create req = { .id = SLICE("s-1"),
                                     .model = SLICE("m"),
                                     .title = SLICE("<T>") };

    assert_int_equal(host_create(s->store, &req, &s->a, &s->made, NULL), ERR_OK);
    s->ref = (struct session_ref){ .store = s->store, .id = s->made.id, .path = s->made.path };
    *state = s;
    return 0;
}

static inline int tear_down(void **state)
{
    struct shop *s = *state;

    store_close(s->store);
    arena_fini(&s->a);
    folder_remove(&s->folder);
    free(s);
    return 0;
}

static inline enum err_code append(struct shop *s, const char *rows, bool stream)
{
    struct host_append req = { .transcript = stream };
    struct host_appended done;
    struct slice *row;

    assert_int_equal(host_rows(slice_of(rows), &s->a, &row, &req.n, NULL), ERR_OK);
    req.row = row;
    return host_append(s->store, &s->ref, &req, &s->a, &done, NULL);
}

#endif
