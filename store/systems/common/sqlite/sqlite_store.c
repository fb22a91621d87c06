#include "store/systems/common/sqlite/sqlite_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/io/file.h"

static int compare_ids(const void *x, const void *y)
{
    return slice_compare(*(const struct slice *)x, *(const struct slice *)y);
}

enum err_code sqlite_folder_ids(const char *folder, const char *end, struct arena *a,
                                struct folder_ids *out, struct err *e)
{
    const struct dirent *entry;
    size_t k = strlen(end);
    bool ok = folder != NULL;
    DIR *dir = folder ? opendir(folder) : NULL;

    *out = (struct folder_ids){ NULL, 0 };
    while (dir && ok && (errno = 0, entry = readdir(dir))) {
        struct slice name = slice_of(entry->d_name);

        if (name.n <= k || memcmp(name.p + name.n - k, end, k) != 0)
            continue;
        name.n -= k;
        if (sqlite_store_is_id(name))
            ok = arena_add_copy(a, &out->of, &out->n, name);
    }
    int sys = dir && ok ? errno : 0;

    if (dir)
        closedir(dir);
    if (out->n)
        qsort(out->of, out->n, sizeof *out->of, compare_ids);
    errno = sys;
    return !ok ? err_nomem(e) : sys ? err_sys(e, folder, "read the folder") : ERR_OK;
}

/* The lines at the beginning and at the end of a file that are whole. */
static enum err_code sqlite_store_read_ends(const struct file *f, size_t most, struct buf *text)
{
    struct buf end = { 0 };
    enum err_code rc = file_read_part(f, 0, most, text, NULL);

    while (text->n && text->p[text->n - 1] != '\n')
        text->n--;
    if (!rc)
        rc = file_read_part(f, f->id.size - (int64_t)most, most, &end, NULL);
    const char *line = end.n ? memchr(end.p, '\n', end.n) : NULL;

    if (!rc && line)
        rc = buf_add(text, (struct slice){ line + 1, (size_t)(end.p + end.n - line - 1) });
    buf_fini(&end);
    return rc;
}

enum err_code sqlite_folder_text(const char *path, size_t most, struct buf *text,
                                 int64_t *modified_ms, struct err *e)
{
    struct file f;
    enum err_code rc = path ? file_open(AT_FDCWD, path, 0, &f, NULL) : ERR_NOMEM;

    text->n = 0;
    if (!rc) {
        *modified_ms = session_modified_ms(&f.id);
        rc = f.id.size > 2 * (int64_t)most ? sqlite_store_read_ends(&f, most, text)
                                           : file_read_part(&f, 0, (size_t)f.id.size, text, NULL);
        file_close(&f);
    }
    text->n = rc ? 0 : text->n;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

enum { PLACES_MAX = 4096, ID_MAX = 200 };

/* An error of the last enumeration, which `unreadable` reports. */
struct sqlite_trouble {
    pthread_mutex_t lock;
    struct err *of; /* one for each place; code ERR_OK: it could be read */
    size_t n;
};

const struct sqlite_store *sqlite_store_of(const struct store *st)
{
    return (const struct sqlite_store *)st;
}

bool sqlite_store_is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void sqlite_store_close(struct store *st)
{
    struct sqlite_store *s = (struct sqlite_store *)st;

    if (s->trouble) {
        pthread_mutex_destroy(&s->trouble->lock);
        free(s->trouble->of);
    }
    free(s->trouble);
    free(s->base.path);
    arena_fini(&s->arena);
    free(s);
}

enum err_code sqlite_store_open(const struct store_ops *ops, const struct sqlite_format *format,
                                const struct store_env *env, const char *named, char *folder,
                                sqlite_add_fn *add, struct store **out, struct err *e)
{
    struct sqlite_store *s = calloc(1, sizeof *s);
    struct sqlite_trouble *trouble = calloc(1, sizeof *trouble);

    /* The folder is NULL if HOME is not set or if the caller is out of memory. */
    if (!s || !trouble || !folder) {
        bool homeless = s && trouble && !named && !env->home;

        free(s);
        free(trouble);
        free(folder);
        return homeless ? err_set(e, ERR_NOT_FOUND, "", "open store: HOME is not set")
                        : err_nomem(e);
    }
    pthread_mutex_init(&trouble->lock, NULL);
    *s = (struct sqlite_store){ .base = { .ops = ops, .env = env, .path = folder },
                                .format = format,
                                .trouble = trouble };
    enum err_code rc = add(s, named, e);

    if (rc)
        sqlite_store_close(&s->base);
    else
        *out = &s->base;
    return rc;
}

enum err_code sqlite_store_add(struct sqlite_store *s, const char *path, const char *project,
                               struct err *e)
{
    struct sqlite_place *more = arena_grow(&s->arena, s->place, s->places, sizeof *more);
    struct err *troubles = realloc(s->trouble->of, (s->places + 1) * sizeof *troubles);

    s->trouble->of = troubles ? troubles : s->trouble->of;
    if (!more || !troubles)
        return err_nomem(e);
    if (s->places == PLACES_MAX)
        return err_set(e, ERR_UNSUPPORTED, path, "open store: too many databases");
    s->place = more;
    troubles[s->places] = (struct err){ .code = ERR_OK };
    s->place[s->places++] = (struct sqlite_place){ .path = arena_copy_text(&s->arena, path),
                                                   .project = arena_copy_text(&s->arena, project) };
    s->trouble->n = s->places;
    return s->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code sqlite_store_add_folder(struct sqlite_store *s, const char *path, struct err *e)
{
    TRY(sqlite_store_add(s, path, NULL, e));
    s->place[s->places - 1].folder = true;
    return ERR_OK;
}

bool sqlite_store_is_id(struct slice id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];

        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              (i && (c == '-' || c == '_' || c == '$'))))
            return false;
    }
    return id.n > 0 && id.n <= ID_MAX;
}

/* ---- reading ---- */

struct folder {
    const struct sqlite_format *format;
    const struct sqlite_place *place;
    struct slice id;
};

static enum err_code sqlite_store_fill(struct sqlite_db *db, void *arg, struct err *e)
{
    const struct folder *f = arg;

    return f->format->fill(db, f->place, f->id, e);
}

/* Reads a place; the id is that of the session to read, or empty. */
static enum err_code read_place(const struct sqlite_store *s, const struct sqlite_place *place,
                                struct slice id, const atomic_bool *cancel, sqlite_read_fn *fn,
                                void *arg, struct err *e)
{
    struct folder f = { s->format, place, id };
    const struct sqlite_source from = { place->path, s->format->tables, sqlite_store_fill, &f };

    return place->folder ? sqlite_db_make(&from, cancel, fn, arg, e)
                         : sqlite_db_read(place->path, cancel, fn, arg, e);
}

/* ---- items ---- */

struct gathering {
    const struct sqlite_store *store;
    const struct sqlite_place *place;
    const struct scope *scope;
    struct slice id; /* empty: all */
    struct sqlite_items items;
};

/* Starts over if it is called again. */
static enum err_code gather(struct sqlite_db *db, void *arg, struct err *e)
{
    struct gathering *g = arg;

    arena_reset(&g->items.arena);
    g->items.item = NULL;
    g->items.n = 0;
    return sqlite_items_gather(&g->items, g->store, g->place, db, g->scope, g->id, e);
}

/* ---- refs ---- */

/* Sessions have no files of their own, so their times distinguish their states. */
static enum err_code fill_ref(const struct sqlite_store *s, const struct sqlite_place *place,
                              const struct sqlite_item *item, struct arena *a,
                              struct session_ref *out, struct err *e)
{
    const char *path = arena_format(a, "%s/%.*s", place->path, SLICE_ARG(item->id));

    if (!path)
        return err_nomem(e);
    *out = (struct session_ref){ .store = &s->base,
                                 .id = item->id,
                                 .path = slice_of(path),
                                 .folder = SLICE(""),
                                 .preread = item->preread,
                                 .recent_ms = item->recent_ms };

    /* The hash FNV-1a. */
    struct slice id = item->id;
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < id.n; i++)
        h = (h ^ (unsigned char)id.p[i]) * UINT64_C(0x100000001b3);
    out->file.ino = h;

    out->file.mtime_ns = time_ns_of_ms(item->recent_ms);
    return ERR_OK;
}

const struct sqlite_place *sqlite_store_place(const struct session_ref *ref)
{
    const struct sqlite_store *s = sqlite_store_of(ref->store);

    for (size_t i = 0; i < s->places; i++) {
        size_t n = strlen(s->place[i].path);

        if (ref->path.n == n + 1 + ref->id.n && memcmp(ref->path.p, s->place[i].path, n) == 0 &&
            memcmp(ref->path.p + n + 1, ref->id.p, ref->id.n) == 0)
            return &s->place[i];
    }
    return NULL;
}

enum err_code sqlite_store_read(const struct session_ref *ref, const atomic_bool *cancel,
                                sqlite_read_fn *fn, void *arg, struct err *e)
{
    const struct sqlite_place *place = sqlite_store_place(ref);

    return place ? read_place(sqlite_store_of(ref->store), place, ref->id, cancel, fn, arg, e)
                 : err_set(e, ERR_USAGE, ref->path.p, "not a session of this store");
}

enum err_code sqlite_store_beside(const struct session_ref *ref, struct slice id, struct arena *a,
                                  struct session_ref *out, struct err *e)
{
    const struct sqlite_place *place = sqlite_store_place(ref);
    const struct sqlite_item item = { .id = arena_copy(a, id), .recent_ms = ref->recent_ms };

    if (!place || !sqlite_store_is_id(id))
        return err_set(e, ERR_USAGE, ref->path.p, "not a session of this store");
    return item.id.p ? fill_ref(sqlite_store_of(ref->store), place, &item, a, out, e)
                     : err_nomem(e);
}

/* ---- enumerating ---- */

/* *more: the caller wants more sessions. */
static enum err_code sqlite_store_hand_over(const struct gathering *g, session_ref_fn *fn,
                                            void *arg, bool *more, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref ref;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < g->items.n && *more && !rc; i++) {
        rc = fill_ref(g->store, g->place, &g->items.item[i], &a, &ref, e);
        if (!rc)
            *more = fn(&ref, arg);
        arena_reset(&a);
    }
    arena_fini(&a);
    return rc;
}

static enum err_code enumerate_place(struct gathering *g, session_ref_fn *fn, void *arg, bool *more,
                                     struct err *e)
{
    struct err problem = { .code = ERR_OK };
    enum err_code rc = read_place(g->store, g->place, SLICE(""), NULL, gather, g, &problem);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc == ERR_NOT_FOUND) /* it was removed, which is not an error */
        problem.code = ERR_OK;

    const struct sqlite_store *s = g->store;
    size_t place = (size_t)(g->place - g->store->place);

    pthread_mutex_lock(&s->trouble->lock);
    s->trouble->of[place] = problem;
    pthread_mutex_unlock(&s->trouble->lock);

    return rc ? ERR_OK : sqlite_store_hand_over(g, fn, arg, more, e);
}

static bool may_have_sessions(const struct sqlite_place *place, const struct scope *scope)
{
    if (scope->all || !place->project)
        return true;
    if (slice_eq(slice_of(place->project), scope->project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (slice_eq(slice_of(place->project), scope->tree[i]))
            return true;
    return false;
}

enum err_code sqlite_store_enumerate(const struct store *st, const struct scope *scope,
                                     session_ref_fn *fn, void *arg, struct err *e)
{
    struct gathering g = { .store = sqlite_store_of(st), .scope = scope };
    bool more = true;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < g.store->places && more && !rc; i++) {
        g.place = &g.store->place[i];
        if (may_have_sessions(g.place, scope))
            rc = enumerate_place(&g, fn, arg, &more, e);
    }
    arena_fini(&g.items.arena);
    return rc;
}

enum err_code sqlite_store_unreadable(const struct store *st, const struct scope *scope,
                                      unreadable_fn *fn, void *arg, struct err *e)
{
    const struct sqlite_store *s = sqlite_store_of(st);

    (void)e;
    for (size_t i = 0; i < s->places; i++) {
        pthread_mutex_lock(&s->trouble->lock);
        struct err problem = s->trouble->of[i];
        pthread_mutex_unlock(&s->trouble->lock);

        if (problem.code && may_have_sessions(&s->place[i], scope))
            fn(&problem, arg);
    }
    return ERR_OK;
}

/* ---- finding ---- */

static enum err_code sqlite_store_find_in(struct gathering *g, struct arena *a,
                                          struct session_ref *ref, struct err *e)
{
    TRY(read_place(g->store, g->place, g->id, NULL, gather, g, e));
    if (g->items.n == 0)
        return err_set(e, ERR_NOT_FOUND, g->place->path, "find session: no such session");
    struct sqlite_item item = g->items.item[0];

    item.id = arena_copy(a, item.id);
    item.preread = arena_copy(a, item.preread);
    return item.id.p && item.preread.p ? fill_ref(g->store, g->place, &item, a, ref, e)
                                       : err_nomem(e);
}

enum err_code sqlite_store_find(const struct store *st, const struct scope *scope, struct slice id,
                                struct arena *a, struct session_ref *ref, struct err *e)
{
    struct gathering g = { .store = sqlite_store_of(st), .scope = scope, .id = id };
    enum err_code rc = ERR_NOT_FOUND, bad = ERR_OK;
    struct err problem;

    if (!sqlite_store_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not %s", g.store->format->id_name);
    for (size_t i = 0; i < g.store->places && rc; i++) {
        g.place = &g.store->place[i];
        if (!may_have_sessions(g.place, scope))
            continue;
        rc = sqlite_store_find_in(&g, a, ref, &problem);
        bad = rc && rc != ERR_NOT_FOUND ? rc : bad;
    }
    arena_fini(&g.items.arena);
    if (!rc || !bad)
        return rc ? err_set(e, ERR_NOT_FOUND, st->path, "find session: no such session") : ERR_OK;
    if (e)
        *e = problem;
    return bad;
}

enum err_code sqlite_store_at_path(const struct store *st, struct slice path, struct arena *a,
                                   struct session_ref *ref, struct err *e)
{
    const struct scope all = { .all = true };
    struct gathering g = { .store = sqlite_store_of(st), .scope = &all };
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    size_t n = slash ? (size_t)(slash - path.p) : 0;
    enum err_code rc = ERR_NOT_FOUND;

    for (size_t i = 0; i < g.store->places && slash && rc; i++) {
        g.place = &g.store->place[i];
        g.id = (struct slice){ slash + 1, path.n - n - 1 };
        if (slice_eq((struct slice){ path.p, n }, slice_of(g.place->path)) &&
            sqlite_store_is_id(g.id))
            rc = sqlite_store_find_in(&g, a, ref, e);
    }
    arena_fini(&g.items.arena);
    return rc == ERR_NOT_FOUND ? err_set(e, rc, st->path, "find session: no such file") : rc;
}

/* ---- describing ---- */

enum err_code sqlite_store_preread(const struct session_ref *ref, struct arena *a,
                                   struct slice *out, struct err *e)
{
    const struct scope all = { .all = true };
    struct gathering g = { .store = sqlite_store_of(ref->store),
                           .scope = &all,
                           .place = sqlite_store_place(ref),
                           .id = ref->id };
    struct session_ref found;

    if (ref->preread.n) {
        *out = ref->preread;
        return ERR_OK;
    }
    if (!g.place)
        return err_set(e, ERR_USAGE, ref->path.p, "not a session of this store");
    enum err_code rc = sqlite_store_find_in(&g, a, &found, e);

    arena_fini(&g.items.arena);
    if (!rc)
        *out = found.preread;
    return rc;
}
