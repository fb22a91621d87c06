#include <stdlib.h>
#include <string.h>

#include "store/plugins/s3/s3.h"

struct names {
    struct arena a;
    const char **name;
    size_t n;
};

static int add_name(const struct s3_object *o, void *arg)
{
    struct names *names = arg;

    return !o->folder && !arena_add_text(&names->a, &names->name, &names->n, o->name);
}

/* Several at a time. */
static int delete_names(struct s3_conn *c, const char *folder, const struct names *names,
                        bool below, struct arena *a, struct reprise_plugin_call *call)
{
    struct s3_request request[S3_REQUESTS] = { { .method = NULL } }, *done = NULL;
    size_t next = 0, used = 0;
    int rc = REPRISE_PLUGIN_OK;

    do {
        for (; !rc && next < names->n && (used < S3_REQUESTS || done); next++) {
            const char *name = names->name[next];

            if ((strchr(name, '/') != NULL) != below)
                continue;
            struct s3_request *r = done ? done : &request[used++];

            done = NULL;
            r->method = "DELETE";
            r->key = arena_format(a, "%s%s", folder, name);
            rc = r->key ? s3_start(c, r) : REPRISE_PLUGIN_NO_MEMORY;
        }
        if (!rc)
            rc = s3_finish(c, call, &done);
        if (!rc && done && done->status != 404)
            rc = s3_check(done, call);
    } while (!rc && done);
    for (size_t i = 0; i < S3_REQUESTS; i++)
        buf_fini(&request[i].answer);
    return rc;
}

/* Sub-agents come first: if this is interrupted, the session is still listed and can be removed again. */
int s3_remove(void *store, const struct reprise_plugin_key *key, struct reprise_plugin_call *call)
{
    struct names names = { .n = 0 };
    struct s3_conn *c = NULL;
    struct s3_query q = { .prefix = s3_folder(store, key, &names.a),
                          .deep = !key->subpath,
                          .fn = add_name,
                          .arg = &names };
    int rc = q.prefix ? s3_run_queries(store, &q, 1, call) : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc)
        rc = s3_acquire(store, call, &c);
    if (!rc)
        rc = delete_names(c, q.prefix, &names, true, &names.a, call);
    if (!rc)
        rc = delete_names(c, q.prefix, &names, false, &names.a, call);
    if (c)
        s3_release(store, c);
    arena_fini(&names.a);
    return rc;
}
