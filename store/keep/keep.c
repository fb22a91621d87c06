#include "store/keep/keep_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/path.h"

/* Sessions are kept again and again, and most of them have not changed. So an unchanged session
 * must cost no more than a look at its files, and the failure of one must not end the others.
 *
 *   lock -> manifest -> for each session: look -> copy, hash, rename -> its entry -> manifest
 *
 * The entry of a session changes only after all its copies exist, and the manifest is written last.
 * A file that changed a moment ago is recorded without its ctime, because its next change could
 * have the same times. The copy of a file that the agent removed stays, and a transcript that lost
 * more than half of its bytes does not replace its copy. Links are not kept. */

enum {
    KEEP_LOCK_MS = 10000,
    KEEP_NAP_MS = 20,
    KEEP_FILES_MOST = 100000, /* the most files of one session */
    KEEP_NEW_MS = 30, /* so new that it may change again within the same tick of the clock */
};

/* ---- opening ---- */

void keep_close(struct keep *k)
{
    if (!k)
        return;
    keep_manifest_fini(&k->manifest);
    hasher_fini(&k->hasher);
    if (k->lock >= 0)
        close(k->lock);
    free(k);
}

static enum err_code keep_take_lock(struct keep *k, struct err *e)
{
    const struct timespec nap = { .tv_nsec = KEEP_NAP_MS * 1000000L };
    char path[PATH_MAX];

    TRY(env_data_path(k->env, "kept/lock", path, e));
    k->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (k->lock < 0)
        return err_sys(e, path, "keep: take the lock");
    for (int waited = 0; flock(k->lock, LOCK_EX | LOCK_NB); waited += KEEP_NAP_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(e, path, "keep: take the lock");
        if (waited >= KEEP_LOCK_MS)
            return err_set(e, ERR_LOCKED, path, "keep: another reprise is keeping sessions");
        nanosleep(&nap, NULL);
    }
    return ERR_OK;
}

enum err_code keep_open(const struct store_env *env, const struct keep_limits *limits, bool dry,
                        struct keep **out, struct err *e)
{
    char path[PATH_MAX], incoming[PATH_MAX];
    AUTO_FREE struct keep *k = NULL;

    NEED(k = calloc(1, sizeof *k));
    *k = (struct keep){ .env = env, .limits = *limits, .lock = -1, .dry = dry };
    TRY(env_data_path(env, "kept", k->dir, e));
    TRY(env_data_path(env, "kept/manifest", path, e));
    TRY(env_data_path(env, "kept/incoming", incoming, e));

    /* The manifest is read under the lock, since another run may be writing it. A dry run takes none. */
    enum err_code rc = dry ? ERR_OK : disk_own_dir(env->data_dir, k->dir, e);

    if (!rc && !dry)
        rc = keep_take_lock(k, e);

    /* A crash may have left a temporary file, or a copy that is not complete. */
    if (!rc && !dry && !disk_new_sweep(k->dir))
        rc = err_sys(e, k->dir, "keep: remove a temporary file");
    if (!rc && !dry)
        rc = copy_remove(incoming, e);
    if (!rc)
        rc = keep_manifest_read(path, &k->manifest, e);
    if (rc) {
        if (k->lock >= 0)
            close(k->lock);
        return rc;
    }
    k->known = k->manifest.n;
    for (size_t i = 0; i < k->known; i++)
        k->bytes += keep_session_bytes(&k->manifest.session[i]);
    *out = k;
    k = NULL;
    return ERR_OK;
}

/* ---- what changed ---- */

static bool keep_is_same(const struct keep_file *f, const struct stat *st)
{
    if (f->kind == KEEP_DIR)
        return S_ISDIR(st->st_mode) && f->mtime_ns == time_ns(st->st_mtim) &&
               f->mode == (st->st_mode & 07777);
    return S_ISREG(st->st_mode) && f->ctime_ns == time_ns(st->st_ctim) &&
           f->mtime_ns == time_ns(st->st_mtim) && f->size == st->st_size &&
           f->ino == (uint64_t)st->st_ino;
}

/* The transcript is one of the files. Others appear beside it only when it changes, or in a directory of the session,
 * which then has a new time. */
static bool keep_is_unchanged(const struct keep_session *s, const struct session_ref *ref)
{
    const struct file_id *id = &ref->file;
    struct stat st;

    for (size_t i = 0; i < s->n; i++)
        if (slice_eq(slice_of(s->file[i].path), ref->path) && id->ino) { /* just looked at */
            if (s->file[i].ctime_ns != id->ctime_ns || s->file[i].mtime_ns != id->mtime_ns ||
                s->file[i].size != id->size || s->file[i].ino != (uint64_t)id->ino)
                return false;
        } else if (s->file[i].kind != KEEP_SHARED &&
                   (lstat(s->file[i].path, &st) ? !s->file[i].gone
                                                : !keep_is_same(&s->file[i], &st)))
            return false;
    return s->n > 0;
}

/* ---- copying ---- */

/* One session that is being kept. */
struct keep_work {
    struct keep *k;
    const struct session_ref *ref;
    const struct keep_session *before; /* as it was kept; NULL: never */
    size_t at;                         /* in the files of `before`, where the next one is likely */
    struct keep_session now;
    size_t cap;
    struct keep_result *result;
};

static void keep_note(struct keep_work *w, const char *what, const char *path)
{
    if (!w->result->why[0])
        snprintf(w->result->why, sizeof w->result->why, "%s: %.200s", what, path);
}

/* The files come in the same order as the last time, or nearly. */
static struct keep_file *keep_file_before(struct keep_work *w, const char *path)
{
    const size_t n = w->before ? w->before->n : 0;

    for (size_t tried = 0; tried < n; tried++) {
        struct keep_file *f = &w->before->file[w->at++ % n];

        if (strcmp(f->path, path) == 0)
            return f;
    }
    return NULL;
}

/* Names in a directory become durable once, when the next one is reached. */
static enum err_code keep_sync_dir(struct keep *k, const char *path, struct err *e)
{
    char dir[PATH_MAX] = "";

    if (path && !path_parent(path, dir))
        return err_set(e, ERR_UNSAFE, path, "keep: the path is too long");
    if (k->synced[0] && strcmp(dir, k->synced) != 0)
        TRY(disk_sync_dir(k->synced, e));
    snprintf(k->synced, sizeof k->synced, "%s", dir);
    return ERR_OK;
}

enum err_code keep_hash(struct keep *k, const char *path, struct keep_file *f, struct err *e)
{
    AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct span span;

    if (fd < 0)
        return err_sys(e, path, "keep: read the copy");
    TRY(span_of_file(fd, path, &span, e));
    return hasher_span(&k->hasher, &span, -1, NULL, f->sha256, e);
}

/* Copies a file under another name and gives it its own when it is complete. */
static enum err_code keep_copy_file(struct keep *k, const char *from, const char *to,
                                    struct keep_file *f, struct err *e)
{
    char incoming[PATH_MAX], parent[PATH_MAX];
    struct stat st;

    TRY(env_data_path(k->env, "kept/incoming", incoming, e));
    TRY(copy_remove(incoming, e));
    TRY(copy_tree(from, incoming, e));
    if (lstat(incoming, &st))
        return err_sys(e, incoming, "keep");
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_UNSAFE, from, "keep: it became something else");
    f->size = st.st_size;
    TRY(keep_hash(k, incoming, f, e));
    if (!path_parent(to, parent))
        return err_set(e, ERR_UNSAFE, to, "keep: the path is too long");
    TRY(disk_private_dir(parent, e));
    TRY(keep_sync_dir(k, to, e));
    return rename(incoming, to) ? err_sys(e, to, "keep") : ERR_OK;
}

static enum err_code keep_add_entry(struct keep_work *w, const char *path, const struct stat *st,
                                    enum keep_kind kind, struct keep_file **out, struct err *e)
{
    if (w->now.n >= KEEP_FILES_MOST)
        return err_set(e, ERR_UNSAFE, path, "keep: the session has more than %d files",
                       KEEP_FILES_MOST);
    NEED(array_reserve(w->now.file, w->cap, w->now.n + 1));
    struct keep_file *f = &w->now.file[w->now.n];

    *f = (struct keep_file){ .kind = kind,
                             .path = arena_copy_text(&w->k->manifest.arena, path),
                             .size = kind == KEEP_DIR ? 0 : st->st_size,
                             .mtime_ns = time_ns(st->st_mtim),
                             .ctime_ns = kind == KEEP_DIR ? 0 : time_ns(st->st_ctim),
                             .ino = kind == KEEP_DIR ? 0 : (uint64_t)st->st_ino,
                             .mode = st->st_mode & 07777 };
    NEED(f->path);
    w->now.n++;
    *out = f;
    return ERR_OK;
}

static enum err_code keep_one_file(struct keep_work *w, const char *path, const struct stat *st,
                                   enum keep_kind kind, struct err *e)
{
    struct keep *k = w->k;
    AUTO_ARENA a = { 0 };
    const struct keep_file *before = keep_file_before(w, path);
    const char *to = keep_path_of(k->env, path, &a);
    struct keep_file *f;
    struct stat there;

    NEED(to);
    const bool copied = lstat(to, &there) == 0;

    /* A shared file may have been copied with another session, so its size and its time are compared. */
    if (copied && kind == KEEP_SHARED && there.st_size == st->st_size &&
        time_ns(there.st_mtim) == time_ns(st->st_mtim))
        return keep_add_entry(w, path, st, kind, &f, e);
    if (copied && before && keep_is_same(before, st)) {
        TRY(keep_add_entry(w, path, st, kind, &f, e));
        *f = *before;
        return ERR_OK;
    }
    if (k->limits.bytes && k->bytes + w->result->bytes + st->st_size > k->limits.bytes)
        return err_set(e, ERR_UNSUPPORTED, path, "keep: the limit of [keep] max-size is reached");
    TRY(keep_add_entry(w, path, st, kind, &f, e));
    w->result->files += kind == KEEP_FILE;
    w->result->bytes += kind == KEEP_FILE ? st->st_size : 0;
    if (k->dry)
        return ERR_OK;
    k->changed = true;

    /* A file that changed just now may change again without another time, so it is copied again next time. */
    if (time_clock_ms(CLOCK_REALTIME) - time_ns(st->st_ctim) / 1000000 < KEEP_NEW_MS)
        f->ctime_ns = 0;
    const enum err_code rc = keep_copy_file(k, path, to, f, e);

    w->now.n -= rc != ERR_OK;
    return rc;
}

static enum err_code keep_one_entry(struct keep_work *w, const FTSENT *x, enum keep_kind kind,
                                    struct err *e)
{
    struct keep_file *f;

    switch (x->fts_info) {
    case FTS_D: return keep_add_entry(w, x->fts_path, x->fts_statp, KEEP_DIR, &f, e);
    case FTS_DP: {
        if (w->k->dry)
            return ERR_OK;
        /* The copy of a directory gets its mode and times when everything in it is there;
                  * it stays accessible for us. */
        const struct keep *k = w->k;
        const char *path = x->fts_path;
        const struct stat *st = x->fts_statp;
        AUTO_ARENA a = { 0 };
        const char *to = keep_path_of(k->env, path, &a);
        const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };

        NEED(to);
        TRY(disk_private_dir(to, e));
        if (chmod(to, (st->st_mode & 07777) | 0700) || utimensat(AT_FDCWD, to, times, 0))
            return err_sys(e, to, "keep");
        return ERR_OK;
    }
    case FTS_F: return keep_one_file(w, x->fts_path, x->fts_statp, kind, e);
    case FTS_SL:
    case FTS_SLNONE: keep_note(w, "not kept, a link", x->fts_path); return ERR_OK;
    default: keep_note(w, "not kept, no file", x->fts_path); return ERR_OK;
    }
}

static enum err_code keep_own_entry(const FTSENT *x, void *arg, struct err *e)
{
    return keep_one_entry(arg, x, KEEP_FILE, e);
}

static enum err_code keep_shared_entry(const FTSENT *x, void *arg, struct err *e)
{
    return keep_one_entry(arg, x, KEEP_SHARED, e);
}

enum err_code keep_walk(const char *path, const char *verb, keep_walk_fn *fn, void *arg,
                        struct err *e)
{
    AUTO_ARENA a = { 0 };
    char *roots[] = { arena_format(&a, "%s", path), NULL };
    enum err_code rc = ERR_OK;

    NEED(roots[0]);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    if (!fts)
        return err_sys(e, path, verb);
    for (FTSENT *x; !rc && (errno = 0, x = fts_read(fts));) {
        const bool failed =
            x->fts_info == FTS_NS || x->fts_info == FTS_DNR || x->fts_info == FTS_ERR;

        if (x->fts_info == FTS_D)
            rc = disk_check_names(x->fts_path, e);
        errno = x->fts_errno;
        if (rc)
            break;
        if (!failed)
            rc = fn(x, arg, e);
        else if (x->fts_level != FTS_ROOTLEVEL || errno != ENOENT)
            rc = err_sys(e, x->fts_path, verb); /* most parts of most sessions do not exist */
    }
    if (!rc && errno)
        rc = err_sys(e, path, verb);
    fts_close(fts);
    return rc;
}

static enum err_code keep_part(struct keep_work *w, const char *path, keep_walk_fn *fn,
                               struct err *e)
{
    AUTO_ARENA a = { 0 };
    const char *clean = path_normalize("/", path, &a);

    /* A path that leaves its place by "..", or is in a place of ours, is refused. */
    NEED(clean);
    if (strcmp(clean, path) != 0 || path_under(slice_of(path), slice_of(w->k->dir)))
        return err_set(e, ERR_UNSAFE, path, "keep: the path is not that of a session");
    return keep_walk(path, "keep", fn, w, e);
}

static enum err_code keep_parts(struct keep_work *w, struct arena *a, struct err *e)
{
    const struct store *st = w->ref->store;
    const char **part;
    size_t n;

    TRY(store_session_parts(st->ops)(st, w->ref, true, a, &part, &n, e));
    if (n == 0)
        return err_set(e, ERR_UNSUPPORTED, w->ref->path.p, "keep: it has no files of its own");
    for (size_t i = 0; i < n; i++)
        TRY(keep_part(w, part[i], keep_own_entry, e));
    n = 0;
    if (st->ops->shared)
        TRY(st->ops->shared(st, w->ref, true, a, &part, &n, e));
    for (size_t i = 0; i < n; i++)
        TRY(keep_part(w, part[i], keep_shared_entry, e));
    return ERR_OK;
}

/* Copies of files that the agent removed since, such as saved copies of old turns, stay. */
static enum err_code keep_carry_over(struct keep_work *w, struct err *e)
{
    struct stat st;

    for (size_t i = 0; w->before && i < w->before->n; i++) {
        const struct keep_file *f = &w->before->file[i];

        if (f->kind != KEEP_FILE || lstat(f->path, &st) == 0)
            continue;
        NEED(array_reserve(w->now.file, w->cap, w->now.n + 1));
        w->now.file[w->now.n] = *f;
        w->now.file[w->now.n++].gone = true;
    }
    return ERR_OK;
}

/* An agent's store is recognised by the folder with its sessions, which may be missing. */
static enum err_code keep_make_store(const struct keep *k, const struct store *st, struct arena *a,
                                     struct err *e)
{
    const char *path = keep_path_of(k->env, st->path, a);

    if (path && st->ops->folders)
        path = arena_format(a, "%s/%s", path, st->ops->folders);
    NEED(path);
    return disk_private_dir(path, e);
}

static enum err_code keep_begin(struct keep_work *w, struct stat *st, struct err *e)
{
    struct arena *a = &w->k->manifest.arena;
    const struct session_ref *ref = w->ref;

    w->now = (struct keep_session){ .kept_ms = w->k->env->now_ms,
                                    .system = arena_copy_text(a, ref->store->ops->name),
                                    .store = arena_copy_text(a, ref->store->path),
                                    .id = arena_copy(a, ref->id).p,
                                    .path = arena_copy(a, ref->path).p };
    NEED(w->now.system && w->now.store && w->now.id && w->now.path);
    if (lstat(ref->path.p, st))
        return err_sys(e, ref->path.p, "keep");
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
        return err_set(e, ERR_UNSAFE, ref->path.p, "keep: it is a link, or no file");

    /* A transcript that lost so much must not replace its copy: an agent or a crash emptied it. */
    const struct keep_file *before = keep_file_before(w, w->now.path);

    if (before && st->st_size < before->size / 2)
        return err_set(e, ERR_UNSAFE, ref->path.p,
                       "keep: it lost more than half of its bytes since it was kept; "
                       "the copy stays as it is");
    return ERR_OK;
}

/* Exchanges the entry of the manifest. */
static enum err_code keep_commit(struct keep_work *w, struct err *e)
{
    struct keep_manifest *m = &w->k->manifest;
    struct keep_session *place = NULL;

    if (w->before) {
        place = &m->session[w->before - m->session];
        w->k->bytes -= keep_session_bytes(place);
        free(place->file);
    } else {
        NEED(array_reserve(m->session, m->cap, m->n + 1));
        place = &m->session[m->n++];
    }
    w->k->bytes += keep_session_bytes(&w->now);
    w->k->changed = true;
    *place = w->now;
    w->now.file = NULL;
    return ERR_OK;
}

/* After a failure: the manifest has the hashes of those copies that were replaced before it. */
static void keep_note_replaced(struct keep_work *w)
{
    for (size_t i = 0; i < w->now.n && !w->k->dry; i++) {
        const struct keep_file *f = &w->now.file[i];
        struct keep_file *before = f->kind == KEEP_FILE ? keep_file_before(w, f->path) : NULL;

        if (before) {
            w->k->bytes += f->size - before->size;
            *before = *f;
        }
    }
}

/* What a failure of one session says about the others: nothing, unless memory or our own disk failed. A file in the
 * place of a directory that was kept, or a directory in that of a file, is no failure of the disk. */
static bool keep_ends_all(const struct keep *k, const struct err *why)
{
    const bool in_place = why->code == ERR_UNSAFE || why->sys == EISDIR || why->sys == ENOTDIR ||
                          why->sys == EEXIST || why->sys == ENOTEMPTY;

    return why->code == ERR_NOMEM || (!in_place && strncmp(why->path, k->dir, strlen(k->dir)) == 0);
}

enum err_code keep_session(struct keep *k, const struct session_ref *ref, struct keep_result *out,
                           struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct keep_work w = { .k = k, .ref = ref, .result = out };
    struct err why = { 0 };
    const char *never = keep_unsupported(ref->store->ops);
    struct stat st;

    *out = (struct keep_result){ .state = KEEP_UNCHANGED };
    if (never) {
        out->state = KEEP_REFUSED;
        out->code = ERR_UNSUPPORTED;
        snprintf(out->why, sizeof out->why, "%s", never);
        return ERR_OK;
    }

    /* The entries that this run adds follow the sorted ones, and are not searched. */
    w.before = keep_manifest_find(
        &(struct keep_manifest){ .session = k->manifest.session, .n = k->known }, ref->path.p);
    if (w.before && keep_is_unchanged(w.before, ref))
        return ERR_OK;

    /* The manifest changes last, when all copies exist. */
    enum err_code rc = keep_begin(&w, &st, &why);

    if (!rc)
        rc = keep_parts(&w, &a, &why);
    if (!rc)
        rc = keep_carry_over(&w, &why);
    if (!rc && !k->dry)
        rc = keep_make_store(k, ref->store, &a, &why);
    if (!rc && !k->dry)
        rc = keep_commit(&w, &why);
    if (rc)
        keep_note_replaced(&w);
    free(w.now.file);
    if (!rc) {
        out->state = out->files ? KEEP_COPIED : KEEP_UNCHANGED;
        return ERR_OK;
    }

    /* A session that cannot be kept is reported, and the next one follows, unless memory or our own disk failed. */
    if (keep_ends_all(k, &why)) {
        if (e)
            *e = why;
        return rc;
    }
    out->state = KEEP_REFUSED;
    out->code = rc;
    err_format(&why, out->why, sizeof out->why);
    return ERR_OK;
}

enum err_code keep_finish(struct keep *k, struct err *e)
{
    TRY(keep_sync_dir(k, NULL, e));
    if (k->dry || !k->changed)
        return ERR_OK;
    keep_manifest_sort(&k->manifest);
    k->known = k->manifest.n;
    return keep_manifest_write(&k->manifest, k->dir, e);
}
