#include <stdio.h>
#include <string.h>
#include <time.h>

#include <store/api/host.h>
#include <store/api/store.h>
#include <store/query/listing.h>
#include <store/query/resolve.h>

#include "support/memory_store.h"

/* A third-party program that keeps the sessions of an agent with the installed library: first in the Go format in a
 * directory, then in a store of its own.
 * usage: host DIRECTORY FILE */

static enum err_code print_message(struct slice json, void *arg, struct err *e)
{
    (void)arg, (void)e;
    printf("  %.*s\n", SLICE_ARG(json));
    return ERR_OK;
}

static enum err_code print_session(const struct session_row *row, void *arg, struct err *e)
{
    (void)arg, (void)e;
    printf("%s: %.*s\n", row->ref.store->ops->name, SLICE_ARG(row->summary));
    return ERR_OK;
}

static enum err_code say(struct store *st, struct arena *a, const struct host_created *made,
                         const char *rows, const char *file, struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct host_setting title = { slice_of("title"), slice_of("Payments") };
    const struct host_checkpoint point = { slice_of("m-1"), &file, 1, { NULL, 0 } };
    struct host_append req = { .n = 0 };
    struct host_appended appended;
    struct host_checkpointed saved;
    struct session_ref ref;
    struct slice *row;
    enum err_code rc = resolve_session(&st, 1, &everywhere, made->id, a, &ref, e);

    if (!rc)
        rc = host_rows(slice_of(rows), a, &row, &req.n, e);
    if (!rc) {
        req.row = row;
        rc = host_append(st, &ref, &req, a, &appended, e);
    }
    if (!rc)
        rc = host_set(st, &ref, &title, 1, e);
    if (!rc && st->ops->checkpoint)
        rc = host_checkpoint(st, &ref, &point, a, &saved, e);
    return rc;
}

static enum err_code tell(struct store *st, struct err *e)
{
    const struct listing_query q = { .scope = { .all = true },
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    struct listing *l;
    enum err_code rc = listing_open(&st, 1, &q, &l, e);

    if (rc)
        return rc;
    rc = listing_each(l, print_session, NULL, e);

    size_t n;
    const struct session_ref *const *refs = listing_refs(l, &n);

    for (size_t i = 0; i < n && !rc; i++) {
        const struct message_query all = { .session = refs[i]->id };

        rc = st->ops->messages(st, refs[i], &all, print_message, NULL, e);
    }
    listing_close(l);
    return rc;
}

static enum err_code keep(const struct store_ops *ops, const struct store_env *env,
                          const char *path, const char *rows, const char *file, struct err *e)
{
    const struct host_create req = { .id = slice_of("pay-1") };
    struct arena a = { 0 };
    struct host_created made;
    struct store *st = NULL;
    enum err_code rc = ops->make ? host_make(ops, env, path, e) : ERR_OK;

    if (!rc)
        rc = ops->open(env, path, &st, e);
    if (!rc)
        rc = host_create(st, &req, &a, &made, e);
    if (!rc)
        rc = say(st, &a, &made, rows, file, e);
    if (!rc)
        rc = tell(st, e);
    store_close(st);
    arena_fini(&a);
    return rc;
}

int main(int argc, char **argv)
{
    struct store_env env = { .cwd = argc > 1 ? argv[1] : "/",
                             .now_ms = (int64_t)time(NULL) * 1000 };
    struct err e = { 0 };
    char line[512];

    if (argc != 3)
        return 2;
    enum err_code rc = keep(store_system(SLICE("goat")), &env, argv[1],
                            "{\"uuid\":\"m-1\",\"timestamp\":\"2026-02-09T02:48:28Z\",\"role\":"
                            "\"user\",\"content\":\"pay\"}\n",
                            argv[2], &e);

    if (!rc)
        rc = keep(&memory_ops, &env, argv[1], "{\"id\":\"1\",\"role\":\"user\",\"text\":\"pay\"}\n",
                  argv[2], &e);
    if (!rc)
        return 0;
    err_format(&e, line, sizeof line);
    fprintf(stderr, "host: %s\n", line);
    return 1;
}
