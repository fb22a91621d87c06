#include <string.h>
#include <sys/stat.h>

#include "store/fs/copy.h"
#include "store/fs/path.h"
#include "store/keep/keep.h"
#include "store/maintenance/trash.h"
#include "store/proc/live.h"
#include "store/rewind/plan/origin.h"

static enum err_code check_supported(const struct session_ref *ref, struct err *e)
{
    return ref->store->ops->parts ? ERR_OK : store_unsupported_error(ref, CAN_DELETE, "delete", e);
}

static enum err_code begin_request(const struct session_ref *ref, struct slice title,
                                   struct arena *a, struct trash_request *out, struct err *e)
{
    struct change_origin origin = { 0 };
    enum err_code rc = origin_of(ref, a, &origin, e);

    *out = (struct trash_request){
        .system = ref->store->ops->name,
        .store = ref->store->path,
        .id = ref->id,
        .title = title,
        .dir = origin.dir,
    };
    return rc;
}

enum err_code trash_request_make_kept(const struct session_ref *ref, struct slice title,
                                      struct arena *a, struct trash_request *out, struct err *e)
{
    const struct store *st = ref->store;
    struct trash_request request;
    const char **part = NULL;
    size_t n = 0;

    TRY(begin_request(ref, title, a, &request, e));
    if (st->ops->deleted_parts)
        TRY(st->ops->deleted_parts(st, ref, true, a, &part, &n, e));
    request.part = part;
    request.parts = n;
    *out = request;
    return ERR_OK;
}

enum err_code trash_request_make_live(const struct session_ref *ref, struct live live,
                                      struct slice title, unsigned what, struct arena *a,
                                      struct trash_request *out, struct err *e)
{
    const char **part;
    struct trash_request request;
    size_t n;

    TRY(check_supported(ref, e));

    /* A state that cannot be determined is refused as well, unless the caller accepts it. */
    bool unsure = what & TRASH_REQUEST_UNSURE;
    const char *why = live.why ? live.why : "it is registered";

    if (live.state != LIVE_QUIET && (live.state != LIVE_UNKNOWN || !unsure)) {
        return live.pid ? err_set(e, ERR_LOCKED, ref->path.p,
                                  "delete: process %ld may be writing to it (%s); quit it first",
                                  (long)live.pid, why)
                        : err_set(e, ERR_LOCKED, ref->path.p,
                                  "delete: an agent may be writing to it (%s)", why);
    }

    const struct store *st = ref->store;
    struct owned_refs owned = { .n = 0 };

    TRY(st->ops->parts(st, ref, what & TRASH_REQUEST_ALL, a, &part, &n, e));
    if (st->ops->owned_refs)
        TRY(st->ops->owned_refs(st, ref, a, &owned, e));
    if (n == 0)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "delete: %s",
                       owned.stays ? owned.stays : "nothing of it can be deleted");
    TRY(begin_request(ref, title, a, &request, e));

    /* Who deletes a session means its kept copy, too. */
    TRY(keep_add_copies(st, a, &part, &n, e));
    request.part = part;
    request.parts = n;
    request.owned_refs = owned.ref;
    request.owned_refs_n = owned.n;
    request.stays = owned.stays;
    *out = request;
    return ERR_OK;
}

enum err_code trash_request_make_all(const struct session_ref *const ref[],
                                     const struct slice title[], size_t n, unsigned what,
                                     struct arena *a, struct trash_request out[], size_t *failed,
                                     struct err *e)
{
    struct live *live = arena_alloc(a, (n + 1) * sizeof *live);
    enum err_code rc = live ? ERR_OK : err_nomem(e);

    *failed = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        *failed = i;
        rc = check_supported(ref[i], e);
    }
    if (!rc)
        rc = live_check(ref, n, live, e);
    for (size_t i = 0; i < n && !rc; i++) {
        *failed = i;
        rc = trash_request_make_live(ref[i], live[i], title[i], what, a, &out[i], e);
    }
    return rc;
}

enum err_code trash_request_make(const struct session_ref *ref, struct slice title, unsigned what,
                                 struct arena *a, struct trash_request *out, struct err *e)
{
    size_t failed;

    return trash_request_make_all(&ref, &title, 1, what, a, out, &failed, e);
}

/* ---- from kept copies ---- */

/* A document of several sessions is put back only if it is missing. */
static enum err_code add_copy(const struct store_env *env, const struct keep_session *s,
                              const struct keep_file *f, struct arena *a, const char ***part,
                              const char ***copy, size_t *n, struct err *e)
{
    const char *from = keep_path_of(env, f->path, a);
    size_t k = *n;
    struct stat st;

    NEED(from);
    /* The session may have the directory of the entry as a whole. */
    for (size_t i = 0; i < s->n; i++)
        if (s->file[i].kind == KEEP_DIR && &s->file[i] != f &&
            path_under(slice_of(f->path), slice_of(s->file[i].path)))
            return ERR_OK;
    if (lstat(from, &st) || (f->kind == KEEP_SHARED && !lstat(f->path, &st)))
        return ERR_OK;
    NEED(arena_add_text(a, part, &k, f->path));
    NEED(arena_add_text(a, copy, n, from));
    return ERR_OK;
}

enum err_code trash_request_make_back(const struct session_ref *ref, struct slice title,
                                      struct arena *a, struct trash_request *out, struct err *e)
{
    const struct store_env *env = ref->store->env;
    const char *original = keep_original_of(ref->store, ref->path.p);
    CLEANUP(keep_manifest_fini) struct keep_manifest m = { .n = 0 };
    struct trash_request request;
    const char **part = NULL, **copy = NULL;
    char path[PATH_MAX];
    size_t n = 0;
    struct stat st;

    TRY(begin_request(ref, title, a, &request, e));
    request.store = keep_original_of(ref->store, ref->store->path);
    if (lstat(original, &st) == 0)
        return err_set(e, ERR_STALE, original, "put back: something is in its place");
    TRY(env_data_path(env, "kept/manifest", path, e));
    TRY(keep_manifest_read(path, &m, e));
    const struct keep_session *s = keep_manifest_find(&m, original);

    if (!s)
        return err_set(e, ERR_NOT_FOUND, path, "put back: the manifest does not have the session");
    /* The transcript first. */
    for (int first = 1; first >= 0; first--)
        for (size_t i = 0; i < s->n; i++)
            if (path_under(slice_of(original), slice_of(s->file[i].path)) == (first == 1))
                TRY(add_copy(env, s, &s->file[i], a, &part, &copy, &n, e));
    request.part = part;
    request.copy = copy;
    request.parts = n;
    *out = request;
    return ERR_OK;
}

/* ---- without the trash ---- */

enum err_code trash_request_destroy(const struct trash_request *request, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t k = 0; k < request->owned_refs_n && !rc; k++) {
        const struct owned_ref *ref = &request->owned_refs[k];
        struct step drop = { .kind = STEP_REF,
                             .path = ref->git,
                             .to = ref->name,
                             .old = slice_of(ref->tip),
                             .absent = true };

        rc = step_do(&drop, NULL, e);
    }
    /* The transcript last: until then the session is listed, and can be deleted again. */
    for (size_t k = request->parts; k > 0 && !rc; k--)
        rc = copy_remove(request->part[k - 1], e);
    return rc;
}
