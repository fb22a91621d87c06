#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/host/host.h"
#include "store/systems/configdir.h"
#include "store/systems/goat/gojson.h"
#include "store/systems/goat/metaedit.h"
#include "store/systems/goat/mutate.h"

/* A session as the shipped package begins it: its directory with its metadata (goat.md B5, Create), which comes last, so
 * that nobody sees half of one. An id that is taken is refused; the host would write over it. */

enum { DIRECTORY_MODE = 0755, FILE_MODE = 0644 };

/* /Users/foo/bar is Users-foo-bar. */
static const char *project_name(const char *cwd, struct arena *a)
{
    char *name;

    while (*cwd == '/')
        cwd++;
    name = arena_format(a, "%s", *cwd ? cwd : "root");
    for (char *p = name; p && *p; p++)
        if (*p == '/')
            *p = '-';
    return name;
}

const char *goat_base_for(enum goat_place place, const char *path, const char *cwd, struct arena *a)
{
    const char *project = project_name(cwd, a);

    if (!project)
        return NULL;
    switch (place) {
    case GOAT_CONFIG: return arena_format(a, "%s/projects/%s/sessions", path, project);
    case GOAT_PROJECTS: return arena_format(a, "%s/%s/sessions", path, project);
    case GOAT_PROJECT: return arena_format(a, "%s/sessions", path);
    case GOAT_SESSIONS: break;
    }
    return arena_format(a, "%s", path);
}

enum err_code goat_make(const struct store_env *env, const char *path, struct err *e)
{
    struct arena a = { 0 };
    char *full = NULL;
    enum err_code rc = configdir_named(env, path, &full, e);

    if (!rc) {
        const char *dir = path ? full : goat_base_for(GOAT_CONFIG, full, env->cwd, &a);

        rc = dir ? disk_make_dir(dir, DIRECTORY_MODE, e)
                 : err_set(e, ERR_NOMEM, full, "make a store: out of memory");
    }
    free(full);
    arena_fini(&a);
    return rc;
}

/* ---- the metadata ---- */

static enum err_code add(struct goat_edit edit[], size_t *n, enum goat_field field,
                         struct slice text, struct arena *a)
{
    struct buf value = { 0 };
    enum err_code rc = text.n || field == GOAT_MODEL ? gojson_text(&value, text) : ERR_OK;
    struct slice kept = { NULL, 0 };

    if (!rc && value.n) {
        kept = arena_copy(a, buf_slice(&value));
        rc = kept.p ? ERR_OK : ERR_NOMEM;
    }
    buf_fini(&value);
    edit[(*n)++] = (struct goat_edit){ field, kept, NULL };
    return rc;
}

static enum err_code first_metadata(const struct host_create *req, struct slice id, int64_t now_ms,
                                    struct arena *a, struct buf *out)
{
    const struct goat_metadata nothing = { .object = SLICE("{}"), .dialect = GOAT_SHIPPED };
    struct goat_edit edit[GOAT_FIELDS];
    struct buf now = { 0 };
    size_t n = 0;
    enum err_code rc = gojson_time(&now, now_ms * 1000000);

    if (!rc)
        rc = add(edit, &n, GOAT_ID, id, a);
    if (!rc)
        rc = add(edit, &n, GOAT_CWD, req->cwd, a);
    if (!rc)
        rc = add(edit, &n, GOAT_MODEL, req->model, a);
    if (!rc)
        rc = add(edit, &n, GOAT_PARENT, req->parent, a);
    if (!rc)
        rc = add(edit, &n, GOAT_TITLE, req->title, a);
    edit[n++] = (struct goat_edit){ GOAT_CREATED, buf_slice(&now), NULL };
    edit[n++] = (struct goat_edit){ GOAT_UPDATED, buf_slice(&now), NULL };
    edit[n++] = (struct goat_edit){ GOAT_MESSAGES, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_TURNS, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_COST, SLICE("0"), NULL };
    if (!rc)
        rc = goat_metadata_edit(&nothing, edit, n, a, out);
    buf_fini(&now);
    return rc;
}

/* ---- the directory ---- */

static enum err_code check_new(const struct store *st, struct slice id, struct arena *a,
                               struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_ref ref;
    enum err_code rc = goat_find(st, &everywhere, id, a, &ref, e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    return rc ? rc : err_set(e, ERR_STALE, ref.path.p, "create: there is a session with this id");
}

/* A crash leaves an empty directory, and where files cannot be nameless one of ours in it. Only who names the metadata
 * has made the session: an id is taken once. */
static enum err_code put_metadata(const char *dir, struct slice metadata, struct err *e)
{
    struct disk_new f;

    disk_new_sweep(dir);
    enum err_code rc = disk_new_open(dir, FILE_MODE, &f, e);

    if (rc)
        return rc;
    rc = disk_write(f.fd, metadata, NULL, dir, e);
    if (!rc)
        return disk_new_publish(&f, GOAT_METADATA, e);
    disk_new_drop(&f);
    return rc;
}

/* Nothing but temporary files of ours. */
static int is_other(const struct dirent *d)
{
    return d->d_name[0] != '.' || (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
                                   !disk_is_temp(d->d_name));
}

static enum err_code require_empty(const char *dir, struct err *e)
{
    struct dirent **names;
    int n = scandir(dir, &names, is_other, NULL);

    if (n < 0)
        return err_sys(e, dir, "create");
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return n ? err_set(e, ERR_STALE, dir, "create: something lies there already") : ERR_OK;
}

static enum err_code make_session(const char *base, const char *dir, struct slice metadata,
                                  struct err *e)
{
    enum err_code rc = disk_make_dir(base, DIRECTORY_MODE, e);

    if (rc)
        return rc;
    if (mkdir(dir, DIRECTORY_MODE))
        rc = errno == EEXIST ? require_empty(dir, e) : err_sys(e, dir, "create");
    if (rc)
        return rc;
    /* Its own name first: once the metadata is there, there is nothing left that can fail. */
    rc = disk_sync_dir(base, e);
    if (!rc)
        rc = put_metadata(dir, metadata, e);
    if (!rc)
        return ERR_OK;
    if (rmdir(dir))
        errno = 0; /* what failed before is what counts */
    return rc;
}

enum err_code goat_create(const struct store *st, const struct host_create *req, struct arena *a,
                          struct host_created *out, struct err *e)
{
    const struct goat *g = goat_of(st);
    char drawn[HOST_ID];
    struct buf metadata = { 0 };
    struct host_created made = { .id = req->id };

    host_draw_id(drawn);
    if (!made.id.n)
        made.id = (struct slice){ drawn, HOST_ID - 1 };
    if (!goat_is_id(made.id))
        return err_set(e, ERR_USAGE, "", "create: not an id of a Go session");
    made.id = arena_copy(a, made.id);
    const char *cwd = arena_copy(a, req->cwd).p;
    const char *base = cwd ? goat_base_for(g->place, st->path, cwd, a) : NULL;

    made.path.p = base && made.id.p ? arena_format(a, "%s/%s", base, made.id.p) : NULL;
    if (!made.path.p || first_metadata(req, made.id, env_now_ms(st->env), a, &metadata)) {
        buf_fini(&metadata);
        return err_set(e, ERR_NOMEM, st->path, "create: out of memory");
    }
    made.path.n = strlen(made.path.p);
    enum err_code rc = check_new(st, made.id, a, e);

    if (!rc)
        rc = make_session(base, made.path.p, buf_slice(&metadata), e);
    buf_fini(&metadata);
    if (!rc)
        *out = made;
    return rc;
}
