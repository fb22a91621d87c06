#include "store/systems/claude/rewind/concurrent_sessions.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/scan/index.h"
#include "store/fs/path_normalize.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/claude/claude.h"

/* A backup is made before a session's first edit of a file in a turn: its time is that of the session's work on it. */

enum { SESSIONS_MAX = 32, BYTES_MAX = 256 << 20, SNAPSHOT = 1 };

static const char *const kinds[] = { "file-history-snapshot", "file-history-delta", NULL };

struct young {
    char *path; /* owned */
    int64_t mtime_ms, size;
};

struct other_sessions {
    const struct store *store;
    struct rewind_plan *plan;
    struct arena scratch;    /* of one session */
    struct session_row *row; /* the one that is looked at; NULL until something of it matters */
    struct session_ref ref;
    struct buf text;
};

/* ---- which sessions ---- */

static int newest_first(const void *a, const void *b)
{
    const struct young *x = a, *y = b;

    return x->mtime_ms < y->mtime_ms   ? 1
           : x->mtime_ms > y->mtime_ms ? -1
                                       : strcmp(x->path, y->path);
}

static bool is_young(const char *dir, const char *name, int64_t since_ms, struct arena *a,
                     struct young *out)
{
    size_t n = strlen(name);
    struct stat st;

    if (n < 7 || strcmp(name + n - 6, ".jsonl") != 0)
        return false;
    out->path = arena_format(a, "%s/%s", dir, name);
    if (!out->path || lstat(out->path, &st) || !S_ISREG(st.st_mode))
        return false;
    out->mtime_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    out->size = st.st_size;
    return out->mtime_ms > since_ms;
}

/* In the folder of this session, itself left out; in the arena. */
static struct young *find_young(const struct session_ref *ref, int64_t since_ms, struct arena *a,
                                size_t *n)
{
    const char *slash = strrchr(ref->path.p, '/');
    char *dir = arena_format(a, "%.*s", (int)(slash - ref->path.p), ref->path.p);
    DIR *d = dir ? opendir(dir) : NULL;
    struct young *list = NULL, one;
    const struct dirent *entry;

    *n = 0;
    while (d && (entry = readdir(d))) {
        if (strcmp(entry->d_name, slash + 1) == 0 ||
            !is_young(dir, entry->d_name, since_ms, a, &one))
            continue;
        struct young *more = arena_grow(a, list, *n, sizeof *list);

        if (!more)
            break;
        list = more;
        list[(*n)++] = one;
    }
    if (d)
        closedir(d);
    if (*n)
        qsort(list, *n, sizeof *list, newest_first);
    return list;
}

/* ---- what they did ---- */

/* The session's title and directory, once they are wanted. */
static bool describe_once(struct other_sessions *r, const char *path)
{
    const struct scope everywhere = { .all = true };
    const struct slice where = slice_of(path);

    if (r->row)
        return r->row->cwd.n > 0;
    r->row = session_row_new();
    return r->row &&
           r->store->ops->at_path(r->store, where, &r->scratch, &r->ref, NULL) == ERR_OK &&
           claude_describe(r->store, &everywhere, &r->ref, r->row, NULL) == ERR_OK &&
           r->row->cwd.n > 0;
}

static struct rewind_target *find_target(struct rewind_plan *plan, const char *path)
{
    for (size_t i = 0; path && i < plan->n; i++)
        if (strcmp(plan->target[i].path, path) == 0)
            return &plan->target[i];
    return NULL;
}

static enum err_code name_session(struct other_sessions *r, struct rewind_target *t, int64_t at_ms,
                                  struct err *e)
{
    struct arena *a = &r->plan->arena;
    struct rewind_other *other = arena_alloc(a, sizeof *other);

    if (t->other && t->other->at_ms >= at_ms)
        return ERR_OK;
    if (other) {
        *other = (struct rewind_other){ .session = arena_copy(a, r->ref.id).p, .at_ms = at_ms };
        if (r->row->summary.n)
            other->title = arena_copy(a, r->row->summary).p;
    }
    if (!other || !other->session || (r->row->summary.n && !other->title))
        return err_nomem(e);
    t->other = other;
    return ERR_OK;
}

static enum err_code take_backup(struct other_sessions *r, const char *session,
                                 struct slice tracked, struct slice backup, struct err *e)
{
    struct slice path, stamp;
    int64_t at_ms;

    if (!json_get_text(backup, "backupTime", &r->scratch, &stamp) || !time_parse(stamp, &at_ms) ||
        at_ms <= r->plan->point_ms || !json_text(tracked, &r->scratch, &path) || path.n == 0 ||
        memchr(path.p, '\0', path.n) || !describe_once(r, session))
        return ERR_OK;
    struct slice plain = arena_copy(&r->scratch, path), cwd = arena_copy(&r->scratch, r->row->cwd);

    if (!plain.p || !cwd.p)
        return err_nomem(e);
    struct rewind_target *t = find_target(r->plan, path_normalize(cwd.p, plain.p, &r->scratch));

    return t ? name_session(r, t, at_ms, e) : ERR_OK;
}

static enum err_code read_history_row(struct other_sessions *r, const char *session,
                                      struct slice row, bool is_snapshot, struct err *e)
{
    struct slice snapshot, files, key, value;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_valid(row))
        return ERR_OK;
    if (!is_snapshot)
        return json_get(row, "trackingPath", &key) && json_get(row, "backup", &value)
                   ? take_backup(r, session, key, value, e)
                   : ERR_OK;
    if (!json_get(row, "snapshot", &snapshot) ||
        !json_get(snapshot, "trackedFileBackups", &files) || !json_iter_open(&it, files))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &value))
        rc = take_backup(r, session, key, value, e);
    return rc;
}

static enum err_code take_rows(struct other_sessions *r, const struct young *y,
                               const struct file *f, const struct index *ix, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < ix->n && !rc; i++) {
        const struct index_line *line = &ix->line[i];
        size_t got;

        if (!line->kind || line->state != LINE_OK)
            continue;
        r->text.n = 0;
        if (buf_reserve(&r->text, line->length))
            return err_nomem(e);
        if (file_read(f, line->offset, r->text.p, line->length, &got, NULL) == ERR_OK)
            rc = read_history_row(r, y->path, (struct slice){ r->text.p, got },
                                  line->kind == SNAPSHOT, e);
    }
    return rc;
}

static enum err_code take_session(struct other_sessions *r, const struct young *y, struct err *e)
{
    static const struct index_keys keys = { .type = "type", .kinds = kinds };
    struct index ix = { 0 };
    struct file f;
    enum err_code rc = ERR_OK;

    if (file_open(AT_FDCWD, y->path, 0, &f, NULL))
        return ERR_OK;
    if (index_build(&ix, &f, &keys, 0, NULL, NULL) == ERR_OK)
        rc = take_rows(r, y, &f, &ix, e);
    index_fini(&ix);
    file_close(&f);
    session_row_free(r->row);
    r->row = NULL;
    arena_reset(&r->scratch);
    return rc;
}

enum err_code claude_concurrent_sessions(const struct store *st, const struct session_ref *ref,
                                         struct rewind_plan *plan, struct err *e)
{
    struct other_sessions r = { .store = st, .plan = plan };
    struct arena a = { 0 };
    enum err_code rc = ERR_OK;
    int64_t bytes = 0;
    size_t n = 0;

    if (plan->n == 0 || plan->point_ms == TIME_NONE)
        return ERR_OK;
    const struct young *young = find_young(ref, plan->point_ms, &a, &n);

    for (size_t i = 0; i < n && i < SESSIONS_MAX && bytes <= BYTES_MAX && !rc; i++) {
        bytes += young[i].size;
        rc = bytes <= BYTES_MAX ? take_session(&r, &young[i], e) : ERR_OK;
    }
    buf_fini(&r.text);
    arena_fini(&r.scratch);
    arena_fini(&a);
    return rc;
}
