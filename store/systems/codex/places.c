#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lite/io/file.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"

/* A list looks up the log that each fork continues. All threads of a day are in one folder, so the
 * names in it are sorted once and then searched. The most recently used folders are kept. */

enum { FOLDERS = 8, DAY_SECONDS = 24 * 60 * 60, SETTLED_SECONDS = 1 };

struct place {
    struct slice id, name; /* the id is in the name */
    bool packed;
};

struct folder {
    char *path;          /* NULL: this one is free */
    struct file_id seen; /* the folder when it was read */
    bool fresh;          /* it had just been changed, and another change may have the same time */
    uint64_t used;
    struct arena arena; /* owns the rest */
    struct place *place;
    size_t n;
};

struct codex_places {
    pthread_mutex_t mutex;
    char *store;
    uint64_t uses;
    struct folder folder[FOLDERS];
};

static void codex_forget(struct folder *f)
{
    free(f->path);
    arena_fini(&f->arena);
    *f = (struct folder){ .path = NULL };
}

struct codex_places *codex_places_new(const char *store)
{
    struct codex_places *p = calloc(1, sizeof *p);

    if (p && pthread_mutex_init(&p->mutex, NULL) != 0) {
        free(p);
        return NULL;
    }
    if (p && !(p->store = strdup(store))) {
        codex_places_free(p);
        return NULL;
    }
    return p;
}

void codex_places_free(struct codex_places *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < FOLDERS; i++)
        codex_forget(&p->folder[i]);
    pthread_mutex_destroy(&p->mutex);
    free(p->store);
    free(p);
}

/* ---- reading a folder ---- */

/* The plain file of a rollout sorts before a packed one. */
static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int by_id = memcmp(x->id.p, y->id.p, x->id.n);

    if (by_id)
        return by_id;
    return x->packed != y->packed ? (x->packed ? 1 : -1) : strcmp(x->name.p, y->name.p);
}

static bool codex_read_folder(struct folder *f, const char *path, const struct stat *sb)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;

    codex_forget(f);
    f->path = dir ? strdup(path) : NULL;
    while (f->path && (errno = 0, entry = readdir(dir))) {
        struct rollout x;

        if (!rollout_name(slice_of(entry->d_name), &x))
            continue;
        const struct slice own = arena_copy(&f->arena, slice_of(entry->d_name));
        struct place *list = own.p ? arena_grow(&f->arena, f->place, f->n, sizeof *list) : NULL;

        if (!list)
            continue;
        rollout_name(own, &x);
        f->place = list;
        list[f->n++] = (struct place){ .id = x.id, .name = own, .packed = x.packed };
    }
    const bool whole = f->path && !errno;

    if (dir)
        closedir(dir);
    if (!whole || f->arena.failed) {
        codex_forget(f);
        return false;
    }
    f->seen = file_id_of(sb);
    struct timespec now;

    f->fresh = !(clock_gettime(CLOCK_REALTIME, &now) == 0 &&
                 now.tv_sec - sb->st_mtim.tv_sec > SETTLED_SECONDS);

    if (f->n)
        qsort(f->place, f->n, sizeof *f->place, compare_places);
    return true;
}

/* ---- looking up ---- */

static struct folder *kept_folder(struct codex_places *p, const char *path)
{
    struct folder *oldest = &p->folder[0];

    for (size_t i = 0; i < FOLDERS; i++) {
        struct folder *f = &p->folder[i];

        if (f->path && strcmp(f->path, path) == 0)
            return f;
        if (f->used < oldest->used)
            oldest = f;
    }
    return oldest;
}

static const struct place *codex_search(const struct folder *f, struct slice id)
{
    size_t low = 0, high = f->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (memcmp(f->place[middle].id.p, id.p, id.n) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->n && slice_eq(f->place[low].id, id) ? &f->place[low] : NULL;
}

static const char *codex_find_in(struct codex_places *p, const char *path, struct slice id,
                                 struct arena *a)
{
    struct folder *f = kept_folder(p, path);
    struct stat sb;

    if (stat(path, &sb) != 0)
        return NULL;
    const struct file_id now = file_id_of(&sb);
    bool same = f->path && strcmp(f->path, path) == 0 && memcmp(&now, &f->seen, sizeof now) == 0;

    if (!same && !codex_read_folder(f, path, &sb))
        return NULL;
    f->used = ++p->uses;
    const struct place *x = codex_search(f, id);

    if (!x && same && f->fresh && codex_read_folder(f, path, &sb)) {
        f->used = p->uses;
        x = codex_search(f, id);
    }
    return x ? arena_format(a, "%s/%s", path, x->name.p) : NULL;
}

const char *codex_places_find(struct codex_places *p, struct slice id, struct arena *a)
{
    static const int days[] = { 0, -1, 1 };
    const char *found = NULL;

    if (!codex_is_id(id))
        return NULL;
    pthread_mutex_lock(&p->mutex);
    for (size_t i = 0; i < sizeof days / sizeof *days && !found; i++) {
        /* A rollout is in the folder of the day on which it began, which may be another one
         * elsewhere. */
        time_t at = (time_t)(rollout_born_ms(id) / 1000) + days[i] * DAY_SECONDS;
        struct tm date;
        const char *folder = gmtime_r(&at, &date)
                                 ? arena_format(a, "%s/sessions/%04d/%02d/%02d", p->store,
                                                date.tm_year + 1900, date.tm_mon + 1, date.tm_mday)
                                 : NULL;

        found = folder ? codex_find_in(p, folder, id, a) : NULL;
    }
    const char *archive = found ? NULL : arena_format(a, "%s/archived_sessions", p->store);

    if (archive)
        found = codex_find_in(p, archive, id, a);
    pthread_mutex_unlock(&p->mutex);
    return found;
}
