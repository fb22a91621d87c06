#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/scan/field.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/plugin/plugin.h"

/* Sessions as the store lists them. A list includes the first and the last rows of each session, and describe reads
 * them as Claude Code's system reads the ends of a file. If there are too many to keep, sessions are described as they
 * arrive, which takes less memory; if the list does not include them, describe requests them. */

enum {
    ENDS_MOST = 64 << 20, /* bytes of rows that a list keeps */
    ALONE_MOST = 32,      /* sessions that are read one by one before all are requested again */
    NS_PER_MS = 1000000,
};

struct item {
    struct session_ref ref; /* texts in the arena */
    struct slice head, tail;
    bool whole;
    struct session_row *row; /* owned; NULL: it is made from head and tail */
};

struct plugin_catalog {
    const struct plugin_store *p;
    struct arena arena;
    struct item *item;
    size_t n, cap;
    size_t ends;              /* bytes of the rows that are kept */
    struct slice_set by_path; /* number of a path is that of its item */
    const char **project;     /* the projects that are named after a directory of the scope */
    size_t projects;
    bool bounded; /* only the newest sessions were requested with their ends */
    /* While the catalog is made: receives each session at once, until it has enough; NULL: sessions
     * are only kept. */
    const struct scope *scope;
    session_ref_fn *fn;
    void *arg;
    bool enough;
};

void plugin_catalog_free(struct plugin_catalog *c)
{
    if (!c)
        return;
    slice_set_fini(&c->by_path);
    for (size_t i = 0; i < c->n; i++)
        session_row_free(c->item[i].row);
    free(c->item);
    arena_fini(&c->arena);
    free(c);
}

/* ---- names ---- */

struct slice plugin_path_of(const struct plugin_store *p, struct slice project,
                            struct slice session, struct arena *a)
{
    const char *path =
        arena_format(a, "%s:%.*s/%.*s", p->config.name, SLICE_ARG(project), SLICE_ARG(session));

    return path ? slice_of(path) : (struct slice){ NULL, 0 };
}

enum err_code plugin_key_of(const struct plugin_store *p, const struct session_ref *ref,
                            struct arena *a, struct reprise_plugin_key *out, struct err *e)
{
    size_t front = strlen(p->config.name) + 1 + ref->folder.n + 1;
    struct slice rest = { ref->path.p + front, ref->path.n - front };

    if (ref->path.n <= front)
        return err_set(e, ERR_USAGE, ref->path.p, "not a session of this store");
    const char *slash = memchr(rest.p, '/', rest.n);
    size_t n = slash ? (size_t)(slash - rest.p) : rest.n;

    out->project = arena_copy(a, ref->folder).p;
    out->session = arena_copy(a, (struct slice){ rest.p, n }).p;
    out->subpath = slash ? arena_copy(a, (struct slice){ slash + 1, rest.n - n - 1 }).p : NULL;
    return a->failed ? err_nomem(e) : ERR_OK;
}

/* ---- the catalog ---- */

/* An id or a project of a store may be any text, but a slash in an id would make paths ambiguous. */
static bool plugin_is_id(struct slice id)
{
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < 0x20 || id.p[i] == '/')
            return false;
    return id.n > 0 && id.n < 256;
}

/* *added: it was not listed twice. The row (or NULL) is taken over if it was added. */
static enum err_code plugin_add_item(struct plugin_catalog *c,
                                     const struct reprise_plugin_session *s,
                                     struct session_row *row, bool *added)
{
    uint32_t number;

    if (!array_reserve(c->item, c->cap, c->n + 1))
        return ERR_NOMEM;
    struct item *item = &c->item[c->n];

    /* Project and id are parts of the path. */
    struct slice project = slice_of(s->project), id = slice_of(s->session);
    struct slice path = plugin_path_of(c->p, project, id, &c->arena);
    const char *end = path.p ? path.p + path.n : NULL;

    *item = (struct item){ .ref = {
                               .store = &c->p->base,
                               .path = path,
                               .id = { end ? end - id.n : NULL, id.n },
                               .folder = { end ? end - id.n - 1 - project.n : NULL, project.n },
                           } };
    if (!path.p || slice_set_add(&c->by_path, path, &number))
        return ERR_NOMEM;
    *added = number == c->n;
    if (!*added)
        return ERR_OK;

    struct id128 name = id128_of(path);

    item->ref.file.ino = name.hi ^ name.lo; /* copies in different projects have the same id */
    item->ref.file.size = s->bytes > 0 ? s->bytes : 0;
    if (s->mtime_ms > 0 && s->mtime_ms < INT64_MAX / NS_PER_MS)
        item->ref.file.mtime_ns = s->mtime_ms * NS_PER_MS;

    item->row = row;
    if (!row) {
        c->ends += s->head.n + s->tail.n;
        item->whole = s->whole;
        if (s->head.n)
            item->head = arena_copy(&c->arena, (struct slice){ s->head.p, s->head.n });
        if (s->tail.n)
            item->tail = arena_copy(&c->arena, (struct slice){ s->tail.p, s->tail.n });
    }
    c->n++;
    return c->arena.failed ? ERR_NOMEM : ERR_OK;
}

static bool may_be_in_scope(const struct plugin_catalog *c, const struct item *item,
                            struct arena *a);
static enum err_code describe_early(const struct plugin_catalog *c,
                                    const struct reprise_plugin_session *s,
                                    struct session_row **out);

/* Other threads may look up sessions that were already delivered. */
static enum err_code plugin_add_session(const struct reprise_plugin_session *s, void *arg)
{
    struct plugin_catalog *c = arg;
    struct plugin_link *link = c->p->link;
    struct arena a = { 0 };
    struct session_row *row;
    struct item item;
    bool added = false;

    if (c->enough || !plugin_is_id(slice_of(s->session)))
        return c->enough ? ERR_CANCELLED : ERR_OK;
    enum err_code rc = describe_early(c, s, &row);

    if (rc)
        return rc;

    /* The callback runs without the lock, and with a copy of the item, because the list may move meanwhile. */
    pthread_mutex_lock(&link->lock);
    rc = plugin_add_item(c, s, row, &added);
    if (added)
        item = c->item[c->n - 1];
    pthread_mutex_unlock(&link->lock);
    if (!added)
        session_row_free(row);
    if (!rc && added && c->fn && may_be_in_scope(c, &item, &a))
        c->enough = !c->fn(&item.ref, c->arg);
    if (a.failed)
        rc = ERR_NOMEM;
    arena_fini(&a);
    return rc;
}

static struct plugin_catalog *new_catalog(const struct plugin_store *p, struct err *e)
{
    struct plugin_catalog *c = calloc(1, sizeof *c);

    if (c)
        c->p = p;
    else
        err_nomem(e);
    return c;
}

/* Lists the sessions with an id, in all projects. */
static enum err_code list_id(const struct plugin_store *p, const struct scope *scope,
                             const char *session, struct plugin_catalog **out, struct err *e)
{
    struct plugin_catalog *c = new_catalog(p, e);

    if (!c)
        return ERR_NOMEM;
    enum err_code rc = plugin_list(p, scope, session, plugin_add_session, c, e);

    if (rc)
        plugin_catalog_free(c);
    else
        *out = c;
    return rc;
}

/* Keeps them until something else is listed, because whoever finds a session describes it next. */
static void keep_found(const struct plugin_store *p, struct plugin_catalog *c)
{
    pthread_mutex_lock(&p->link->lock);
    struct plugin_catalog *old = p->link->found;

    p->link->found = c;
    pthread_mutex_unlock(&p->link->lock);
    plugin_catalog_free(old);
}

/* ---- the scope ---- */

const char **plugin_projects_of(const struct scope *scope, struct arena *a, size_t *n)
{
    const char **name = arena_alloc(a, (scope->trees + 1) * sizeof *name);

    *n = 0;
    for (size_t i = 0; name && i <= scope->trees; i++) {
        struct slice dir = i < scope->trees ? scope->tree[i] : scope->project;

        name[*n] = config_dir_project_name(dir, a).p;
        *n += name[*n] != NULL;
    }
    return a->failed ? NULL : name;
}

bool plugin_is_project_of(const char *const *project, size_t n, struct slice folder)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(folder, slice_of(project[i])))
            return true;
    return false;
}

/* A session belongs to a directory if its project is named after it. But a project may have any
 * name; then the directory in the rows is used, and if the list did not include one, describe
 * decides. */
static bool may_be_in_scope(const struct plugin_catalog *c, const struct item *item,
                            struct arena *a)
{
    struct slice folder = item->ref.folder, cwd = { NULL, 0 };

    if (c->scope->all || plugin_is_project_of(c->project, c->projects, folder))
        return true;
    if (folder.n && folder.p[0] == '-') /* named after another directory */
        return false;
    if (item->row)
        return session_scope_has(c->scope, item->row->cwd);
    if (!item->head.n)
        return true;
    return field_first(item->head, true, "cwd", a, &cwd) && cwd.p &&
           session_scope_has(c->scope, cwd);
}

static enum err_code plugin_hand_over(const struct plugin_catalog *c, session_ref_fn *fn, void *arg)
{
    struct arena a = { 0 };
    bool more = true;

    for (size_t i = 0; i < c->n && more && !a.failed; i++) {
        if (may_be_in_scope(c, &c->item[i], &a))
            more = fn(&c->item[i].ref, arg);
        arena_reset(&a);
    }
    bool failed = a.failed;

    arena_fini(&a);
    return failed ? ERR_NOMEM : ERR_OK;
}

/* Keeps the catalog unless the list failed; returns the one to be freed. */
static struct plugin_catalog *end_list(const struct plugin_store *p, struct plugin_catalog *c,
                                       bool whole, const struct err *trouble)
{
    struct plugin_link *link = p->link;

    pthread_mutex_lock(&link->lock);
    if (link->growing == c)
        link->growing = NULL;
    link->trouble = *trouble;
    if (whole) {
        struct plugin_catalog *old = link->catalog;

        link->catalog = c;
        c->fn = NULL;
        c = old;
    }
    pthread_mutex_unlock(&link->lock);
    return c;
}

/* Lists the sessions of a scope, and keeps the catalog if it is complete. */
static enum err_code list_scope(const struct plugin_store *p, const struct scope *scope,
                                session_ref_fn *fn, void *arg, struct err *trouble, struct err *e)
{
    struct plugin_catalog *c = new_catalog(p, e);

    if (!c)
        return ERR_NOMEM;
    c->scope = scope;
    c->fn = scope->streams ? fn : NULL;
    c->arg = arg;
    c->bounded = scope->newest > 0;
    if (!scope->all && !(c->project = plugin_projects_of(scope, &c->arena, &c->projects))) {
        plugin_catalog_free(c);
        return err_nomem(e);
    }

    keep_found(p, NULL);
    /* A list under way is searched as well if its sessions are delivered at once. */
    pthread_mutex_lock(&p->link->lock);
    if (c->fn && !p->link->growing)
        p->link->growing = c;
    pthread_mutex_unlock(&p->link->lock);

    enum err_code rc = plugin_list(p, scope, NULL, plugin_add_session, c, trouble);

    if (!rc && fn && !scope->streams && plugin_hand_over(c, fn, arg))
        rc = ERR_NOMEM;
    plugin_catalog_free(end_list(p, c, !rc, trouble));
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

/* A store that cannot be read has no sessions, and `unreadable` reports it: the other stores are listed all the
 * same. */
enum err_code plugin_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct err trouble = { 0 };

    atomic_store(&p->link->read_alone, 0);
    return list_scope(p, scope, fn, arg, &trouble, e);
}

enum err_code plugin_unreadable(const struct store *st, const struct scope *scope,
                                unreadable_fn *fn, void *arg, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);

    (void)scope, (void)e;
    pthread_mutex_lock(&p->link->lock);
    struct err trouble = p->link->trouble;

    pthread_mutex_unlock(&p->link->lock);
    if (trouble.code && trouble.code != ERR_CANCELLED)
        fn(&trouble, arg);
    return ERR_OK;
}

/* ---- the row ---- */

void plugin_forget(const struct plugin_store *p, const struct session_ref *ref)
{
    pthread_mutex_lock(&p->link->lock);
    struct plugin_catalog *listed[] = { p->link->catalog, p->link->found };

    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        struct plugin_catalog *c = listed[i];
        uint32_t number = c ? slice_set_find(&c->by_path, ref->path) : SLICE_SET_NONE;

        if (number != SLICE_SET_NONE) {
            struct item *item = &c->item[number];

            item->head = item->tail = SLICE("");
            session_row_free(item->row);
            item->row = NULL;
        }
    }
    pthread_mutex_unlock(&p->link->lock);
}

/* Copies the rows that the list included, or what was made of them. *found: the session is in the catalog. */
static enum err_code plugin_look_up(const struct plugin_store *p, const struct plugin_catalog *c,
                                    struct slice path, struct file_id *file, struct plugin_ends *x,
                                    bool *found)
{
    uint32_t number = c ? slice_set_find(&c->by_path, path) : SLICE_SET_NONE;

    *found = number != SLICE_SET_NONE;
    if (!*found)
        return ERR_OK;
    const struct item *item = &c->item[number];

    *file = item->ref.file;
    x->whole = item->whole;
    x->made = item->row != NULL;
    if (x->made)
        return session_row_copy(item->row, x->row) ? ERR_OK : ERR_NOMEM;
    TRY(plugin_rows_add(&x->head, item->head, plugin_reorders(p)));
    return plugin_rows_add(&x->tail, item->tail, plugin_reorders(p));
}

/* Looks in the list under way, in that of an id, and then in the last complete one. *bare: the list did not request the
 * session's ends. */
static enum err_code look_up_listed(const struct plugin_store *p, struct slice path,
                                    struct file_id *file, struct plugin_ends *x, bool *found,
                                    bool *bare)
{
    pthread_mutex_lock(&p->link->lock);
    const struct plugin_catalog *listed[] = { p->link->growing, p->link->found, p->link->catalog };
    const struct plugin_catalog *c = NULL;
    enum err_code rc = ERR_OK;

    *found = false;
    for (size_t i = 0; i < sizeof listed / sizeof *listed && !rc && !*found; i++) {
        c = listed[i];
        rc = plugin_look_up(p, c, path, file, x, found);
    }
    *bare = *found && c->bounded && !x->made && !x->head.n && !x->tail.n;
    pthread_mutex_unlock(&p->link->lock);
    return rc;
}

enum err_code plugin_find_ends(const struct plugin_store *p, const struct scope *scope,
                               const struct session_ref *ref, struct file_id *file,
                               struct plugin_ends *x, struct err *e)
{
    struct plugin_catalog *one = NULL;
    AUTO_ARENA a = { 0 };
    const char *id = arena_copy(&a, ref->id).p;
    bool found = false, bare = false;
    enum err_code rc = look_up_listed(p, ref->path, file, x, &found, &bare);

    if (!rc && bare && atomic_fetch_add(&p->link->read_alone, 1) >= ALONE_MOST) {
        /* If many sessions without ends are needed after all, one list of everything is faster than
         * a request for each. */
        struct plugin_link *link = p->link;
        struct scope whole = *scope;
        struct err trouble = { 0 };

        whole.newest = 0;
        whole.streams = false;
        pthread_mutex_lock(&link->again);
        pthread_mutex_lock(&link->lock);
        bool bounded = link->catalog && link->catalog->bounded;

        pthread_mutex_unlock(&link->lock);
        if (bounded) {
            (void)list_scope(p, &whole, NULL, NULL, &trouble, NULL);
            pthread_mutex_lock(&link->lock);
            link->catalog->bounded =
                false; /* after a failure, too, so that it is not tried for each session */
            pthread_mutex_unlock(&link->lock);
        }
        pthread_mutex_unlock(&link->again);

        rc = look_up_listed(p, ref->path, file, x, &found, &bare);
    }
    if (!rc && !found) {
        rc = id ? list_id(p, scope, id, &one, e) : ERR_NOMEM;
        if (!rc)
            rc = plugin_look_up(p, one, ref->path, file, x, &found);
        if (!rc && !found)
            rc = err_set(e, ERR_NOT_FOUND, ref->path.p, "describe: no such session");
    }
    if (!rc && !x->made && !x->head.n && !x->tail.n)
        rc = plugin_read_ends(p, ref, scope->cancel, x, e);
    if (one)
        keep_found(p, one);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

/* Describes the session at once if the list already has as many bytes of rows as it may keep. *out is NULL if it has
 * not, or if the listing has no rows of this session. */
static enum err_code describe_early(const struct plugin_catalog *c,
                                    const struct reprise_plugin_session *s,
                                    struct session_row **out)
{
    const struct session_ref ref = { .store = &c->p->base,
                                     .id = slice_of(s->session),
                                     .folder = slice_of(s->project),
                                     .path = SLICE("") };
    struct plugin_ends x = { .reorders = plugin_reorders(c->p) };
    enum err_code rc = ERR_OK;

    *out = NULL;
    if (c->ends < ENDS_MOST || (!s->head.n && !s->tail.n))
        return rc;
    if (!(*out = session_row_new()) ||
        plugin_rows_add(&x.head, (struct slice){ s->head.p, s->head.n }, x.reorders) ||
        plugin_rows_add(&x.tail, (struct slice){ s->tail.p, s->tail.n }, x.reorders))
        rc = ERR_NOMEM;
    if (!rc)
        rc = plugin_describe_rows(c->p, &ref, &x, *out, NULL);
    if (rc) {
        session_row_free(*out);
        *out = NULL;
    }
    buf_fini(&x.head);
    buf_fini(&x.tail);
    return rc;
}

/* ---- one id ---- */

enum err_code plugin_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct plugin_catalog *c = NULL;
    const struct session_ref *newest = NULL;
    const char *name = arena_copy(a, id).p;

    if (!name)
        return err_nomem(e);
    if (!plugin_is_id(id))
        return err_set(e, ERR_USAGE, name, "find session: not a session id");
    enum err_code rc = list_id(p, scope, name, &c, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < c->n; i++)
        if (slice_eq(c->item[i].ref.id, id) &&
            (!newest || c->item[i].ref.file.mtime_ns > newest->file.mtime_ns))
            newest = &c->item[i].ref;
    if (!newest)
        rc = err_set(e, ERR_NOT_FOUND, name, "find session: no such session");
    else if (!session_ref_copy(a, newest, ref))
        rc = err_nomem(e);
    keep_found(p, c);
    return rc;
}
