#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/sqlite/sqlite_db.h"
#include "store/systems/codex/codex.h"
#include "store/systems/common/config_dir.h"

/* The index of the program's own list is a database with the names of threads and the time of their
 * last change. The time of a rollout's file is not reliable, because packing and copying change it. */

struct codex_threads {
    pthread_mutex_t mutex;
    char *store;
    struct file_id seen, seen_wal; /* what was read; zero: nothing */
    struct arena arena;            /* owns the rest but the set's own memory */
    struct slice_set ids;
    struct codex_thread *thread; /* by number */
    struct err trouble;          /* code ERR_OK: it could be read, or does not exist */
};

struct codex_threads *codex_threads_new(const char *store)
{
    struct codex_threads *t = calloc(1, sizeof *t);

    if (t && pthread_mutex_init(&t->mutex, NULL) != 0) {
        free(t);
        return NULL;
    }
    if (t && !(t->store = strdup(store))) {
        codex_threads_free(t);
        return NULL;
    }
    return t;
}

static void codex_threads_forget(struct codex_threads *t)
{
    arena_fini(&t->arena);
    slice_set_fini(&t->ids);
    t->thread = NULL;
    t->trouble = (struct err){ 0 };
    t->seen = t->seen_wal = (struct file_id){ 0 };
}

void codex_threads_free(struct codex_threads *t)
{
    if (!t)
        return;
    codex_threads_forget(t);
    pthread_mutex_destroy(&t->mutex);
    free(t->store);
    free(t);
}

/* ---- the database ---- */

static struct file_id id_of(const char *path)
{
    struct stat sb;

    return path && stat(path, &sb) == 0 && S_ISREG(sb.st_mode) ? file_id_of(&sb)
                                                               : (struct file_id){ 0 };
}

static enum err_code add_thread(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct codex_threads *t = arg;
    struct slice id = sqlite_row_text(row, 0);
    size_t before = t->ids.n;
    uint32_t number;

    if (!codex_is_id(id))
        return ERR_OK;
    id = arena_copy(&t->arena, id);
    if (!id.p || slice_set_add(&t->ids, id, &number))
        return err_nomem(e);
    struct codex_thread *more =
        number < before ? t->thread : arena_grow(&t->arena, t->thread, before, sizeof *more);

    if (!more)
        return err_nomem(e);
    const int64_t year_2200_ms = 7258118400000, ms = sqlite_row_int(row, 2);

    t->thread = more;
    more[number] = (struct codex_thread){ .name = arena_copy(&t->arena, sqlite_row_text(row, 1)),
                                          .cwd = arena_copy(&t->arena, sqlite_row_text(row, 3)),
                                          .updated_ms = ms > 0 && ms < year_2200_ms ? ms : 0 };
    return t->arena.failed ? err_nomem(e) : ERR_OK;
}

/* Columns that old versions lack are replaced. A second call starts over. */
static enum err_code read_threads(struct sqlite_db *db, void *arg, struct err *e)
{
    struct codex_threads *t = arg;
    AUTO_ARENA scratch = { 0 };
    bool named = sqlite_db_has_column(db, "threads", "name"),
         precise = sqlite_db_has_column(db, "threads", "updated_at_ms"),
         placed = sqlite_db_has_column(db, "threads", "cwd");

    codex_threads_forget(t);
    const char *sql =
        arena_format(&scratch, "SELECT id, %s, %s, %s FROM threads", named ? "name" : "''",
                     precise ? "COALESCE(updated_at_ms, updated_at * 1000)" : "updated_at * 1000",
                     placed ? "cwd" : "''");

    return sql ? sqlite_db_each(db, sql, NULL, 0, add_thread, t, e) : err_nomem(e);
}

void codex_threads_refresh(struct codex_threads *t)
{
    struct arena a = { 0 };

    /* Newer versions of the program increase the number in the name: state_5.sqlite. */
    DIR *dir = opendir(t->store);
    unsigned newest = 0;
    bool found = false;

    for (struct dirent *d; dir && (d = readdir(dir));) {
        unsigned number;
        int end = 0;

        if (sscanf(d->d_name, "state_%9u.sqlite%n", &number, &end) != 1 || !end || d->d_name[end] ||
            (found && number <= newest))
            continue;
        newest = number;
        found = true;
    }
    if (dir)
        closedir(dir);

    const char *path = found ? arena_format(&a, "%s/state_%u.sqlite", t->store, newest) : NULL;

    const char *wal = path ? arena_format(&a, "%s-wal", path) : NULL;

    pthread_mutex_lock(&t->mutex);
    struct file_id now = id_of(path), now_wal = id_of(wal);

    if (memcmp(&now, &t->seen, sizeof now) != 0 ||
        memcmp(&now_wal, &t->seen_wal, sizeof now_wal) != 0) {
        codex_threads_forget(t);
        if (now.ino) {
            /* Without SQLite on this machine, the list is made as for a store without the
             * index. */
            struct err problem = { 0 };
            enum err_code rc = sqlite_db_read(path, NULL, read_threads, t, &problem);

            if (rc)
                codex_threads_forget(t);
            if (rc && rc != ERR_UNSUPPORTED && rc != ERR_NOT_FOUND)
                t->trouble = problem;
        }
        t->seen = now;
        t->seen_wal = now_wal;
    }
    pthread_mutex_unlock(&t->mutex);
    arena_fini(&a);
}

struct codex_thread codex_threads_find(struct codex_threads *t, struct slice id, struct arena *a)
{
    struct codex_thread found = { .updated_ms = 0 };

    pthread_mutex_lock(&t->mutex);
    uint32_t number = slice_set_find(&t->ids, id);

    if (number != SLICE_SET_NONE) {
        found = t->thread[number];
        if (a) {
            found.name = arena_copy(a, found.name);
            found.cwd = arena_copy(a, found.cwd);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return found;
}

void codex_threads_report(struct codex_threads *t, unreadable_fn *fn, void *arg)
{
    struct err trouble;

    pthread_mutex_lock(&t->mutex);
    trouble = t->trouble;
    pthread_mutex_unlock(&t->mutex);
    if (trouble.code)
        fn(&trouble, arg);
}

/* session_index.jsonl: each new name of a thread is appended as a line, so the last line of a
 * thread is valid. A file over the limit is read from its end, which leaves out the oldest names. */

enum { NAMES_MAX = 64 << 20 };

struct codex_names {
    pthread_mutex_t mutex;
    char *path;
    struct file_id seen; /* the file that was read; zero: none */
    struct arena arena;
    struct slice_set threads;
    struct slice *name; /* by number */
    size_t cap;
};

struct codex_names *codex_names_new(const char *store)
{
    struct codex_names *n = calloc(1, sizeof *n);

    if (n && pthread_mutex_init(&n->mutex, NULL) != 0) {
        free(n);
        return NULL;
    }
    if (n && !(n->path = config_dir_join(store, "session_index.jsonl"))) {
        codex_names_free(n);
        return NULL;
    }
    return n;
}

static void forget_names(struct codex_names *n)
{
    arena_fini(&n->arena);
    slice_set_fini(&n->threads);
    free(n->name);
    n->name = NULL;
    n->cap = 0;
    n->seen = (struct file_id){ 0 };
}

void codex_names_free(struct codex_names *n)
{
    if (!n)
        return;
    forget_names(n);
    pthread_mutex_destroy(&n->mutex);
    free(n->path);
    free(n);
}

static bool codex_put_name(struct codex_names *n, struct slice id, struct slice name)
{
    uint32_t number = slice_set_find(&n->threads, id);

    name = arena_copy(&n->arena, name);
    if (!name.p || !array_reserve(n->name, n->cap, n->threads.n + 1))
        return false;
    if (number == SLICE_SET_NONE) {
        id = arena_copy(&n->arena, id);
        if (!id.p || slice_set_add(&n->threads, id, &number))
            return false;
    }
    n->name[number] = name;
    return true;
}

static void read_names(struct codex_names *n, struct slice text)
{
    struct arena scratch = { 0 };
    struct slice line, id, name;
    bool torn, more = true;

    while (more && slice_line(&text, &line, &torn)) {
        arena_reset(&scratch);
        if (!json_valid(line) || !json_get_text(line, "id", &scratch, &id) || !codex_is_id(id) ||
            !json_get_text(line, "thread_name", &scratch, &name))
            continue;
        more = codex_put_name(n, id, name);
    }
    arena_fini(&scratch);
}

/* Called with the lock held. */
static void codex_names_reread(struct codex_names *n, const struct file_id *now)
{
    struct file f;

    AUTO_BUF text = { 0 };

    forget_names(n);
    if (!now->ino || file_open(AT_FDCWD, n->path, 0, &f, NULL))
        return;
    size_t size = f.id.size > NAMES_MAX ? NAMES_MAX : (size_t)f.id.size;

    n->seen = f.id;
    if (!file_read_part(&f, f.id.size - (int64_t)size, size, &text, NULL))
        read_names(n, buf_slice(&text));
    file_close(&f);
}

void codex_names_refresh(struct codex_names *n)
{
    struct stat sb;
    struct file_id now = { 0 };

    if (lstat(n->path, &sb) == 0 && S_ISREG(sb.st_mode))
        now = file_id_of(&sb);
    pthread_mutex_lock(&n->mutex);
    if (memcmp(&now, &n->seen, sizeof now) != 0)
        codex_names_reread(n, &now);
    pthread_mutex_unlock(&n->mutex);
}

struct slice codex_names_find(struct codex_names *n, struct slice thread, struct arena *a)
{
    struct slice name = { NULL, 0 };

    pthread_mutex_lock(&n->mutex);
    uint32_t number = slice_set_find(&n->threads, thread);

    if (number != SLICE_SET_NONE)
        name = arena_copy(a, n->name[number]);
    pthread_mutex_unlock(&n->mutex);
    return name;
}
