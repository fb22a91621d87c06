#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/systems/common/configdir.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/write/document.h"
#include "store/systems/goat/write/metaedit.h"

/* A session as the shipped package begins it: its directory with its metadata (goat.md B5, Create), which comes last, so
 * that nobody sees half of one. An id that is taken is refused; the host would write over it. In a store whose sessions
 * are of another dialect, so is the new one. */

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

const char *goat_base_for(enum goat_path_kind place, const char *path, const char *cwd,
                          struct arena *a)
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

        rc = dir ? disk_make_dir(dir, DIRECTORY_MODE, e) : err_nomem(e);
    }
    free(full);
    arena_fini(&a);
    return rc;
}

/* ---- the metadata ---- */

static enum err_code add_text_edit(struct goat_edit edit[], size_t *n, enum goat_field field,
                                   struct slice text, struct arena *a)
{
    struct buf value = { 0 };
    enum err_code rc = text.n || field == GOAT_MODEL ? go_json_text(&value, text) : ERR_OK;
    struct slice kept = { NULL, 0 };

    if (!rc && value.n) {
        kept = arena_copy(a, buf_slice(&value));
        rc = kept.p ? ERR_OK : ERR_NOMEM;
    }
    buf_fini(&value);
    edit[(*n)++] = (struct goat_edit){ field, kept, NULL };
    return rc;
}

/* What sessions of the store are written like. */
struct manner {
    enum goat_dialect dialect;
    struct slice hash; /* of the project, as a JSON value; in the arena */
    const char *base;  /* where the new session belongs */
    struct arena *a;
    int64_t newest_ns;
    bool near; /* told by a session of the same base */
    bool failed;
};

static void look_at_session(struct manner *m, int dirfd, const char *name, bool near)
{
    char path[NAME_MAX + sizeof GOAT_METADATA + 1];
    struct goat_metadata found;
    struct buf bytes = { 0 };
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", name, GOAT_METADATA);
    if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) ||
        (m->near == near && time_ns(st.st_mtim) <= m->newest_ns))
        return;
    if (goat_metadata_read(dirfd, path, &bytes, m->a, &found)) {
        m->failed = true;
    } else if (!found.why) {
        m->newest_ns = time_ns(st.st_mtim);
        m->dialect = found.dialect;
        m->near = near;
        if (found.raw[GOAT_HASH].n && near)
            m->hash = arena_copy(m->a, found.raw[GOAT_HASH]);
        m->failed |= found.raw[GOAT_HASH].n && near && !m->hash.p;
    }
    buf_fini(&bytes);
}

/* The newest session tells, one of the same project before those of others. */
static bool look_at_base(const char *sessions, struct slice folder, void *arg)
{
    struct manner *m = arg;
    bool near = strcmp(sessions, m->base) == 0;
    DIR *dir = m->near && !near ? NULL : opendir(sessions);
    const struct dirent *d;

    (void)folder;
    while (dir && (d = readdir(dir)))
        if (goat_is_id(slice_of(d->d_name)))
            look_at_session(m, dirfd(dir), d->d_name, near);
    if (dir)
        closedir(dir);
    return !m->failed;
}

static enum err_code first_metadata(const struct host_create *req, struct slice id, int64_t now_ms,
                                    const struct manner *m, struct buf *out)
{
    const struct goat_metadata nothing = { .object = SLICE("{}"), .dialect = m->dialect };
    struct goat_edit edit[GOAT_FIELDS];
    struct buf now = { 0 };
    size_t n = 0;
    enum err_code rc = go_json_time(&now, now_ms * 1000000);

    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_ID, id, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_CWD, req->cwd, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_MODEL, req->model, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_PARENT, req->parent, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_TITLE, req->title, m->a);
    if (!rc)
        edit[n - 1].key = "leaf_title"; /* as a rename has it, in every dialect */
    edit[n++] = (struct goat_edit){ GOAT_HASH, m->hash, NULL };
    edit[n++] = (struct goat_edit){ GOAT_CREATED, buf_slice(&now), NULL };
    edit[n++] = (struct goat_edit){ GOAT_UPDATED, buf_slice(&now), NULL };
    edit[n++] = (struct goat_edit){ GOAT_MESSAGES, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_TURNS, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_TOKENS, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_COST, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ .field = GOAT_EXIT };
    edit[n++] = (struct goat_edit){ .field = GOAT_AGENT };
    if (!rc)
        rc = goat_metadata_edit(&nothing, edit, n, m->a, out);
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
    return rc ? rc : err_set(e, ERR_STALE, ref.path.p, "create: a session with this id exists");
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
    disk_new_discard(&f);
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
    return n ? err_set(e, ERR_STALE, dir, "create: something is there already") : ERR_OK;
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

    host_generate_id(drawn);
    if (!made.id.n)
        made.id = (struct slice){ drawn, HOST_ID - 1 };
    if (!goat_is_id(made.id))
        return err_set(e, ERR_USAGE, "", "create: not a Go session id");
    made.id = arena_copy(a, made.id);
    const char *cwd = arena_copy(a, req->cwd).p;
    const char *base = cwd ? goat_base_for(g->place, st->path, cwd, a) : NULL;

    struct manner m = { .dialect = GOAT_SHIPPED, .base = base, .a = a, .newest_ns = INT64_MIN };

    made.path.p = base && made.id.p ? arena_format(a, "%s/%s", base, made.id.p) : NULL;
    if (made.path.p)
        goat_each_base(g, look_at_base, &m);
    if (!goat_key(m.dialect, GOAT_PARENT) && req->parent.n)
        made.unsaved |= HOST_PARENT;
    if (!made.path.p || m.failed ||
        first_metadata(req, made.id, env_now_ms(st->env), &m, &metadata)) {
        buf_fini(&metadata);
        return err_nomem(e);
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
