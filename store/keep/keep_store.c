#include "store/keep/keep.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "store/fs/path.h"

/* A kept store has a table of operations of its own, of which it is the first member. */
struct keep_ops {
    struct store_ops ops;
    /* the store of the originals, NULL if all of it is gone, and its table */
    const struct store *live;
    const struct store_ops *agent;
    /* the length of ".../kept/files" */
    size_t prefix;
};

static const char keep_why[] =
    "only its kept copy is left; reprise keep restore ID puts it back where its agent finds it";

const char *keep_path_of(const struct store_env *env, const char *path, struct arena *a)
{
    return env->data_dir ? arena_format(a, "%s/kept/files%s", env->data_dir, path) : NULL;
}

static enum err_code keep_store_describe(const struct store *st, const struct scope *scope,
                                         const struct session_ref *ref, struct session_row *row,
                                         struct err *e);

bool keep_store_is(const struct store *st)
{
    return st->ops->describe == keep_store_describe;
}

static const struct keep_ops *keep_ops_of(const struct store *st)
{
    return (const struct keep_ops *)st->ops;
}

const char *keep_original_of(const struct store *st, const char *path)
{
    return path + keep_ops_of(st)->prefix;
}

/* ---- only sessions whose originals are gone ---- */

static const struct scope keep_everywhere = { .all = true };

struct keep_filter {
    const struct store *st;
    session_ref_fn *fn;
    void *arg;
    /* the sessions that the agent has; filled once one of ours is not found in its place */
    struct idset there;
    bool known, failed;
};

static bool keep_note_id(const struct session_ref *ref, void *arg)
{
    struct keep_filter *f = arg;
    uint32_t number;

    f->failed |= idset_add(&f->there, id128_of(ref->id), &number) != ERR_OK;
    return !f->failed;
}

static bool keep_is_in_place(const struct session_ref *ref)
{
    struct stat st;

    return lstat(keep_original_of(ref->store, ref->path.p), &st) == 0;
}

/* The agent may have moved its file: archived it, or given it another folder. */
static bool keep_pass(const struct session_ref *ref, void *arg)
{
    struct keep_filter *f = arg;
    const struct store *live = keep_ops_of(f->st)->live;

    if (keep_is_in_place(ref))
        return true;
    if (!f->known && live)
        f->failed |=
            live->ops->enumerate(live, &keep_everywhere, keep_note_id, f, NULL) == ERR_NOMEM;
    f->known = true;
    return !f->failed && (idset_has(&f->there, id128_of(ref->id)) || f->fn(ref, f->arg));
}

static enum err_code keep_filter_end(struct keep_filter *f, enum err_code rc, struct err *e)
{
    idset_fini(&f->there);
    return f->failed ? err_nomem(e) : rc;
}

static enum err_code keep_store_enumerate(const struct store *st, const struct scope *scope,
                                          session_ref_fn *fn, void *arg, struct err *e)
{
    struct keep_filter f = { .st = st, .fn = fn, .arg = arg };

    return keep_filter_end(&f, keep_ops_of(st)->agent->enumerate(st, scope, keep_pass, &f, e), e);
}

static enum err_code keep_store_find(const struct store *st, const struct scope *scope,
                                     struct slice id, struct arena *a, struct session_ref *ref,
                                     struct err *e)
{
    const struct store *live = keep_ops_of(st)->live;
    struct session_ref found, other;

    TRY(keep_ops_of(st)->agent->find(st, scope, id, a, &found, e));
    if (keep_is_in_place(&found) ||
        (live && live->ops->find(live, &keep_everywhere, id, a, &other, NULL) == ERR_OK))
        return err_set(e, ERR_NOT_FOUND, found.path.p, "find session: its original is there");
    *ref = found;
    return ERR_OK;
}

static enum err_code keep_store_find_each(const struct store *st, const struct scope *scope,
                                          struct slice id, session_ref_fn *fn, void *arg,
                                          struct err *e)
{
    struct keep_filter f = { .st = st, .fn = fn, .arg = arg };

    return keep_filter_end(&f, keep_ops_of(st)->agent->find_each(st, scope, id, keep_pass, &f, e),
                           e);
}

/* ---- what they can do ---- */

static enum err_code keep_store_describe(const struct store *st, const struct scope *scope,
                                         const struct session_ref *ref, struct session_row *row,
                                         struct err *e)
{
    TRY(keep_ops_of(st)->agent->describe(st, scope, ref, row, e));
    row->flags |= SESSION_KEPT;
    row->can = (row->can & CAN_REWIND) | CAN_DELETE;
    row->undeletable = NULL;
    row->expires_ms = TIME_NONE;
    return ERR_OK;
}

static enum err_code keep_store_parts(const struct store *st, const struct session_ref *ref,
                                      bool all, struct arena *a, const char ***part, size_t *n,
                                      struct err *e)
{
    (void)all;
    return store_session_parts(keep_ops_of(st)->agent)(st, ref, true, a, part, n, e);
}

enum err_code keep_add_copies(const struct store *st, struct arena *a, const char ***part,
                              size_t *n, struct err *e)
{
    const char *files = keep_path_of(st->env, "", a), **both;
    struct stat sb;

    NEED(files || !a->failed);
    if (!files || keep_store_is(st) || lstat(files, &sb))
        return ERR_OK;
    NEED(both = arena_alloc(a, 2 * *n * sizeof *both));
    for (size_t i = 0; i < *n; i++) {
        both[i] = (*part)[i];
        NEED(both[*n + i] = keep_path_of(st->env, (*part)[i], a));
    }
    *part = both;
    *n *= 2;
    return ERR_OK;
}

const char *keep_unsupported(const struct store_ops *ops)
{
    if (ops->remote)
        return "it is on a server";
    if (ops->owned_refs)
        return "its conversation is in its git repository";
    if (store_session_parts(ops))
        return NULL;
    return ops->size_unknown ? "it is in a database with other sessions"
                             : "it is not in files of its own";
}

/* `live` is NULL if the store at `original` is gone. *out is NULL if nothing of this agent is kept: another agent's kept
 * sessions may be in the same directory. */
static enum err_code keep_store_open_of(const struct store_ops *ops, const struct store_env *env,
                                        const char *original, const struct store *live,
                                        struct arena *a, struct store **out, struct err *e)
{
    const char *path = keep_path_of(env, original, a);
    struct keep_ops *own;

    *out = NULL;
    NEED(path || !a->failed);
    if (!path || keep_unsupported(ops) || !path_is_real_dir(path))
        return ERR_OK;
    NEED(own = arena_alloc(a, sizeof *own));
    *own = (struct keep_ops){
        .ops = *ops, .live = live, .agent = ops, .prefix = strlen(path) - strlen(original)
    };
    store_ops_only_read(&own->ops, keep_why);

    /* These find only sessions whose originals are gone. */
    own->ops.enumerate = keep_store_enumerate;
    own->ops.describe = keep_store_describe;
    own->ops.find = keep_store_find;
    own->ops.find_each = own->ops.find_each ? keep_store_find_each : NULL;
    own->ops.find_many = NULL;
    own->ops.parts = keep_store_parts;

    struct err why = { 0 };
    const enum err_code rc = ops->open(env, path, out, &why);

    if (rc && rc != ERR_NOT_FOUND && e)
        *e = why;
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    (*out)->ops = &own->ops;
    return ERR_OK;
}

enum err_code keep_store_open(const struct store *st, struct arena *a, struct store **out,
                              struct err *e)
{
    return keep_store_open_of(st->ops, st->env, st->path, st, a, out, e);
}

/* Opens the store at a path, or at the agent's own place. Returns true if it is missing: `why` names what is, or the end
 * of it. */
static bool keep_is_missing(const struct store_ops *ops, const struct store_env *env,
                            const char *path, struct err *why)
{
    struct store *st = NULL;

    *why = (struct err){ 0 };
    const enum err_code rc = ops->open(env, path, &st, why);

    if (!rc)
        ops->close(st);
    return rc == ERR_NOT_FOUND && strchr(why->path, '/');
}

/* The error has only the end of a long path, so the store is one that the manifest names. Returns NULL if it names
 * none or cannot be read. */
static const char *keep_named_store(const struct store_ops *ops, const struct store_env *env,
                                    const struct err *missing, struct arena *a)
{
    CLEANUP(keep_manifest_fini) struct keep_manifest m = { .n = 0 };
    char path[PATH_MAX];
    const char *tried = "";
    struct err same;

    if (env_data_path(env, "kept/manifest", path, NULL) || keep_manifest_read(path, &m, NULL))
        return NULL;
    for (size_t i = 0; i < m.n; i++) {
        const char *store = m.session[i].store;

        if (strcmp(m.session[i].system, ops->name) != 0 || strcmp(store, tried) == 0)
            continue;
        tried = store;
        if (keep_is_missing(ops, env, store, &same) && strcmp(same.path, missing->path) == 0)
            return arena_format(a, "%s", store);
    }
    return NULL;
}

enum err_code keep_store_open_alone(const struct store_ops *ops, const struct store_env *env,
                                    struct arena *a, struct store **out, struct err *e)
{
    enum { FOLDERS_MOST = 2 };
    const char *files = keep_path_of(env, "", a);
    char path[PATH_MAX], above[PATH_MAX];
    struct err missing, same;

    *out = NULL;
    NEED(files || !a->failed);
    if (!files || !path_is_real_dir(files) || !keep_is_missing(ops, env, NULL, &missing))
        return ERR_OK;

    if (missing.path[0] != '/') {
        const char *store = keep_named_store(ops, env, &missing, a);

        return store ? keep_store_open_of(ops, env, store, NULL, a, out, e) : ERR_OK;
    }

    /* The missing directory is the store or a folder in it. */
    snprintf(path, sizeof path, "%s", missing.path);
    for (size_t up = 0; up <= FOLDERS_MOST; up++) {
        if (keep_is_missing(ops, env, path, &same) && strcmp(same.path, missing.path) == 0)
            return keep_store_open_of(ops, env, path, NULL, a, out, e);
        if (!path_parent(path, above))
            break;
        memcpy(path, above, sizeof path);
    }
    return ERR_OK;
}
