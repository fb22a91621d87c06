#include "store/snapshots/snapshot_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"

/* The walk compares each name with the entry of the last snapshot. A file with the same inode, size, times and mode is
 * taken over; only others are read. Rules are only asked about new names, and about all names of a directory whose
 * .gitignore changed. */

enum {
    DEPTH_MAX = 128,
    RULES_MAX = 4 << 20,
    READS_MAX = 3,
    /* Times of files are those of the last tick of the kernel's clock. */
    TICK_NS = 20 * 1000000,
    /* So many files are read before git is asked which of the others it has. */
    READ_BEFORE_BORROWING = 64,
};
#define NO_ENTRY UINT32_MAX

/* The directory that is being read, and those above it. */
struct walked_dir {
    const struct walked_dir *up;
    int fd;
    unsigned depth;
    uint32_t old, cursor, end; /* its old entry, the next of its old children, and where they end */
    size_t path_n;             /* the length of its path, with a slash */
    struct buf rules;          /* its .gitignore */
    bool fresh;                /* the rules must be asked about known names, too */
    bool only_tracked;         /* git ignores it, but tracks files in it */
    bool stale;
    struct slice_set names; /* the names of its old children, once they are not in the same order */
    uint32_t *number;
};

/* ---- rules ---- */

/* The nearest list that has a rule for the path decides; w->path is the path. */
static bool walk_ignores(struct snapshot_walk *w, const struct walked_dir *d, struct slice name,
                         bool is_dir)
{
    /* The folders that hold what programs made, for projects without git. */
    static const char *const built[] = { "node_modules", "__pycache__", ".venv", "venv",
                                         "target",       "build",       "dist",  ".tox",
                                         ".gradle",      ".cache",      ".next", ".mypy_cache" };
    const struct slice path = buf_slice(&w->path);
    int answer = 0;

    if (!w->borrow.has_outside) {
        w->borrow.has_outside = true;
        if (tree_ignore_open(w->root, NULL, &w->borrow.outside, NULL))
            w->borrow.outside = (struct tree_ignore){ .lists = 0 };
    }
    for (; d && !answer; d = d->up) {
        if (d->rules.n)
            answer =
                tree_ignore_match(buf_slice(&d->rules),
                                  (struct slice){ path.p + d->path_n, path.n - d->path_n }, is_dir);
    }
    for (size_t i = w->borrow.outside.lists; i > 0 && !answer; i--)
        answer = tree_ignore_match(w->borrow.outside.list[i - 1], path, is_dir);
    for (size_t i = 0; i < COUNT_OF(built) && !answer && is_dir; i++)
        if (slice_eq(name, slice_of(built[i])))
            return !snapshot_borrow_has_index(&w->borrow);
    return answer > 0;
}

/* ---- the new index ---- */

/* Begins to keep entries of its own, because the next one is not that of the old index. */
static enum err_code materialise(struct snapshot_walk *w)
{
    uint32_t n = w->now.n;

    if (!w->same)
        return ERR_OK;
    w->same = false;
    w->now.n = 0;
    return snapshot_index_copy(&w->now, w->old, n);
}

/* Adds an entry that is `old` again. */
static enum err_code put_same(struct snapshot_walk *w, uint32_t old)
{
    w->kept[old] = WALK_KEPT;
    if (w->same && old == w->now.n) {
        w->now.n++;
        return ERR_OK;
    }
    return materialise(w) ? ERR_NOMEM : snapshot_index_add_again(&w->now, &w->old->entry[old]);
}

static enum err_code put_new(struct snapshot_walk *w, const struct snapshot_entry *entry,
                             struct slice name)
{
    return materialise(w) ? ERR_NOMEM : snapshot_index_add(&w->now, entry, name);
}

enum err_code snapshot_walk_check_time(const struct snapshot_walk *w, struct err *e)
{
    return time_coarse_ms() + w->pack.spent_ns / 1000000 <= w->deadline_ms
               ? ERR_OK
               : err_set(e, ERR_CANCELLED, w->root, "snapshot: it took too long");
}

/* ---- one file ---- */

static bool has_entry_state(const struct snapshot_entry *old, const struct stat *st)
{
    return old->ino == st->st_ino && old->size == st->st_size && old->mode == st->st_mode &&
           old->mtime_ns == time_ns(st->st_mtim) && old->ctime_ns == time_ns(st->st_ctim);
}

/* Reads a file or the text of a link into w->bytes. One that keeps changing is taken as it was read last, and read again
 * next time. */
static enum err_code read_taken(struct snapshot_walk *w, const struct walked_dir *d,
                                const char *name, struct stat *st, struct snapshot_entry *entry)
{
    struct file f = { .fd = -1 };
    struct stat after;

    w->bytes.n = 0;
    if (S_ISLNK(st->st_mode)) {
        if (buf_reserve(&w->bytes, PATH_MAX))
            return ERR_NOMEM;
        ssize_t n = readlinkat(d->fd, name, w->bytes.p, PATH_MAX);

        w->bytes.n = n > 0 ? (size_t)n : 0;
        return n > 0 ? ERR_OK : ERR_IO;
    }
    enum err_code rc = file_open(d->fd, name, 0, &f, NULL);

    /* One byte more than the size is asked for, so that a file that grew is noticed. */
    for (int i = 0; i < READS_MAX && !rc; i++) {
        w->bytes.n = 0;
        rc = st->st_size > w->limits.file_bytes
                 ? ERR_FORMAT
                 : file_read_part(&f, 0, (size_t)st->st_size + 1, &w->bytes, NULL);
        if (!rc && fstat(f.fd, &after))
            rc = ERR_IO;
        if (rc)
            break;
        entry->racy = after.st_size != (off_t)w->bytes.n ||
                      time_ns(after.st_mtim) != time_ns(st->st_mtim) ||
                      time_ns(after.st_ctim) != time_ns(st->st_ctim);
        *st = after;
        if (!entry->racy)
            break;
    }
    if (f.fd >= 0)
        file_close(&f);
    return rc;
}

static enum err_code add_skipped(struct snapshot_walk *w, struct walked_dir *d, struct slice name,
                                 uint32_t old, const struct stat *st, enum snapshot_skip why)
{
    const struct snapshot_entry entry = { .kind = SNAPSHOT_SKIPPED,
                                          .mode = st->st_mode,
                                          .why = (uint8_t)why };
    const struct snapshot_entry *before = old == NO_ENTRY ? NULL : &w->old->entry[old];

    w->skipped++;
    if (before && before->kind == entry.kind && before->mode == entry.mode && before->why == why)
        return put_same(w, old);
    w->dirty = d->stale = true;
    return put_new(w, &entry, name);
}

/* Returns true if the only copy of a file may be its own one: the repository is gone, or its index, whose blobs git never
 * drops, no longer names the one that was borrowed. An index that cannot be read proves nothing. */
static bool is_blob_lost(struct snapshot_walk *w, const struct snapshot_entry *before)
{
    struct index_entry known;

    if (!before || !before->borrowed)
        return false;
    if (w->no_repository || !w->tracked_changed)
        return w->no_repository;
    return snapshot_borrow_has_index(&w->borrow) &&
           !(snapshot_borrow_entry(&w->borrow, w->path.p, &known) &&
             memcmp(known.oid, before->oid, SNAPSHOT_OID) == 0);
}

static enum err_code take_file(struct snapshot_walk *w, struct walked_dir *d, struct slice name,
                               uint32_t old, struct stat *st, struct err *e)
{
    const struct snapshot_entry *before = old == NO_ENTRY ? NULL : &w->old->entry[old];
    struct snapshot_entry entry = { .kind = S_ISLNK(st->st_mode) ? SNAPSHOT_LINK : SNAPSHOT_FILE };

    const bool lost = is_blob_lost(w, before);

    /* A racy entry is always read again: its file may have changed later in the same tick of the clock. */
    if (before && (before->kind == SNAPSHOT_FILE || before->kind == SNAPSHOT_LINK) &&
        !before->racy && !lost && has_entry_state(before, st))
        return put_same(w, old) ? err_nomem(e) : ERR_OK;
    if (!S_ISLNK(st->st_mode) && !S_ISREG(st->st_mode))
        return add_skipped(w, d, name, old, st, SNAPSHOT_SPECIAL) ? err_nomem(e) : ERR_OK;
    if (S_ISREG(st->st_mode) && st->st_size > w->limits.file_bytes)
        return add_skipped(w, d, name, old, st, SNAPSHOT_TOO_LARGE) ? err_nomem(e) : ERR_OK;
    if (w->now.files >= w->limits.files || w->pack.bytes > w->limits.bytes)
        return add_skipped(w, d, name, old, st, SNAPSHOT_TOO_MANY) ? err_nomem(e) : ERR_OK;

    /* git's index is only worth opening if many files are new, as in the first snapshot. */
    bool borrows = !w->old->n || w->pack.n >= READ_BEFORE_BORROWING;

    w->dirty = true;
    if (borrows && snapshot_borrow_file(&w->borrow, w->path.p, st, entry.oid)) {
        entry.borrowed = 1;
    } else {
        enum err_code rc = read_taken(w, d, name.p, st, &entry);

        if (rc == ERR_NOMEM)
            return err_nomem(e);
        if (rc)
            return add_skipped(w, d, name, old, st,
                               rc == ERR_FORMAT ? SNAPSHOT_TOO_LARGE : SNAPSHOT_UNREADABLE)
                       ? err_nomem(e)
                       : ERR_OK;
        TRY(snapshot_object_id(GIT_OBJECT_BLOB, buf_slice(&w->bytes), entry.oid, e));
        bool same = before && memcmp(before->oid, entry.oid, SNAPSHOT_OID) == 0;
        struct index_entry known;

        /* A blob that the last snapshot or git has already is not copied. */
        if (same && !lost)
            entry.borrowed = before->borrowed;
        else if (borrows && snapshot_borrow_entry(&w->borrow, w->path.p, &known) &&
                 memcmp(known.oid, entry.oid, SNAPSHOT_OID) == 0 &&
                 snapshot_borrow_has(&w->borrow, entry.oid))
            entry.borrowed = 1;
        else
            TRY(snapshot_pack_put(&w->pack, GIT_OBJECT_BLOB, buf_slice(&w->bytes), entry.oid, e));
    }
    entry.size = st->st_size;
    entry.mtime_ns = time_ns(st->st_mtim);
    entry.ctime_ns = time_ns(st->st_ctim);
    entry.ino = st->st_ino;
    entry.mode = st->st_mode;
    entry.racy |= entry.ctime_ns >= w->began_ns - TICK_NS;
    if (before && before->kind == entry.kind && before->mode == entry.mode &&
        memcmp(before->oid, entry.oid, SNAPSHOT_OID) == 0)
        w->kept[old] = WALK_KEPT;
    else
        d->stale = true;
    return put_new(w, &entry, name) ? err_nomem(e) : ERR_OK;
}

/* ---- directories ---- */

/* The old entry of a name; NO_ENTRY: it is new. The names of a directory usually come in the same order again. */
static enum err_code find_old_entry(struct snapshot_walk *w, struct walked_dir *d, struct arena *a,
                                    struct slice name, uint32_t *old)
{
    const struct snapshot_index *x = w->old;
    uint32_t number;

    *old = NO_ENTRY;
    if (d->old == NO_ENTRY)
        return ERR_OK;
    if (d->cursor < d->end && slice_eq(snapshot_entry_name(x, &x->entry[d->cursor]), name)) {
        *old = d->cursor;
    } else if (d->end > d->old + 1) {
        if (!d->number) {
            d->number = arena_alloc(a, (d->end - d->old) * sizeof *d->number);
            for (uint32_t i = d->old + 1; d->number && i < d->end; i += 1 + x->entry[i].below) {
                if (slice_set_add(&d->names, snapshot_entry_name(x, &x->entry[i]), &number))
                    return ERR_NOMEM;
                d->number[number] = i;
            }
            if (!d->number)
                return ERR_NOMEM;
        }
        number = slice_set_find(&d->names, name);
        if (number != SLICE_SET_NONE)
            *old = d->number[number];
    }
    if (*old != NO_ENTRY)
        d->cursor = *old + 1 + x->entry[*old].below;
    return ERR_OK;
}

static enum err_code walk_entries(struct snapshot_walk *w, struct walked_dir *d, struct err *e);

/* Adds the entry of a directory, then those in it. */
static enum err_code enter_dir(struct snapshot_walk *w, struct walked_dir *up, struct slice name,
                               uint32_t old, const struct stat *st, bool only_tracked,
                               struct err *e)
{
    const struct snapshot_entry *before =
        old != NO_ENTRY && w->old->entry[old].kind == SNAPSHOT_DIR ? &w->old->entry[old] : NULL;
    struct snapshot_entry entry = { .kind = SNAPSHOT_DIR, .mode = st->st_mode };
    struct walked_dir d = { .up = up,
                            .fd = -1,
                            .depth = up ? up->depth + 1 : 0,
                            .old = before ? old : NO_ENTRY,
                            .path_n = w->path.n ? w->path.n + 1 : 0,
                            .fresh = up ? up->fresh : w->fresh,
                            .only_tracked = only_tracked,
                            .stale = !before || !w->old->complete || before->mode != st->st_mode };
    size_t path_n = w->path.n;
    uint32_t at = w->now.n;

    d.fd = up ? openat(up->fd, name.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
              : open(w->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d.fd < 0 || d.depth > DEPTH_MAX) {
        enum snapshot_skip why = d.fd < 0 ? SNAPSHOT_UNREADABLE : SNAPSHOT_TOO_MANY;
        bool is_gone = d.fd < 0 && (errno == ENOENT || errno == ENOTDIR);

        close_at(&d.fd);
        if (!up)
            return err_sys(e, w->root, "snapshot: open the project");
        return is_gone || !add_skipped(w, up, name, old, st, why) ? ERR_OK : err_nomem(e);
    }
    if (before) {
        d.cursor = old + 1;
        d.end = old + 1 + before->below;
        w->kept[old] = WALK_KEPT;
        memcpy(entry.oid, before->oid, SNAPSHOT_OID);
    }
    if (w->same && before && old == at && before->mode == st->st_mode)
        w->now.n++;
    else
        NEED(!put_new(w, &entry, name));
    enum err_code rc =
        path_n && buf_add_byte(&w->path, '/') ? err_nomem(e) : walk_entries(w, &d, e);

    w->path.n = path_n;
    if (d.stale || (w->same && w->now.n - at - 1 != before->below))
        NEED(!materialise(w));
    if (!w->same) {
        w->now.entry[at].below = w->now.n - at - 1;
        w->now.entry[at].stale = d.stale;
    }
    if (d.stale && up)
        up->stale = true;
    w->dirty |= d.stale;
    w->stale |= d.stale;
    close_at(&d.fd);
    buf_fini(&d.rules);
    slice_set_fini(&d.names);
    return rc;
}

/* One name of a directory; w->path is its path. */
static enum err_code walk_one(struct snapshot_walk *w, struct walked_dir *d, struct slice name,
                              uint32_t old, struct err *e)
{
    const struct snapshot_entry *before = old == NO_ENTRY ? NULL : &w->old->entry[old];
    bool was_ignored = before && before->kind == SNAPSHOT_IGNORED;
    struct stat st;

    TRY(snapshot_walk_check_time(w, e));
    if (w->only_new && before && before->kind != SNAPSHOT_DIR)
        return put_same(w, old) ? err_nomem(e) : ERR_OK;
    if (fstatat(d->fd, name.p, &st, AT_SYMLINK_NOFOLLOW)) {
        /* The file was deleted after its name was read. */
        if (errno == ENOENT)
            return ERR_OK;
        st = (struct stat){ .st_mode = 0 };
        return add_skipped(w, d, name, old, &st, SNAPSHOT_UNREADABLE) ? err_nomem(e) : ERR_OK;
    }
    bool is_dir = S_ISDIR(st.st_mode), ignored = was_ignored, tracked_only = d->only_tracked;

    /* The last answer of the rules holds for a known name, unless they changed. */
    if (!before || d->fresh)
        ignored = walk_ignores(w, d, name, is_dir);
    if (tracked_only && !is_dir)
        ignored = true;

    /* Rules do not apply to what git tracks: such a file is taken, and a directory with one is entered. */
    if (ignored && (!was_ignored || d->fresh || w->tracked_changed)) {
        struct index_entry known;
        bool tracked = is_dir ? snapshot_borrow_tracks_below(&w->borrow, w->path.p)
                              : snapshot_borrow_entry(&w->borrow, w->path.p, &known);

        tracked_only |= is_dir && tracked;
        ignored = !tracked;
    }
    if (ignored) {
        const struct snapshot_entry entry = { .kind = SNAPSHOT_IGNORED,
                                              .mode = st.st_mode & S_IFMT };

        if (was_ignored && before->mode == entry.mode)
            return put_same(w, old) ? err_nomem(e) : ERR_OK;
        w->dirty = true;
        d->stale |= before && !was_ignored;
        return put_new(w, &entry, name) ? err_nomem(e) : ERR_OK;
    }
    if (is_dir && st.st_dev != w->dev)
        return add_skipped(w, d, name, old, &st, SNAPSHOT_FILE_SYSTEM) ? err_nomem(e) : ERR_OK;
    return is_dir ? enter_dir(w, d, name, old, &st, tracked_only, e)
                  : take_file(w, d, name, old, &st, e);
}

/* Reads the rules of a directory if it has a .gitignore; the state of that is kept in the directory's entry. */
static enum err_code read_rules(struct snapshot_walk *w, struct walked_dir *d, bool has_rules,
                                uint32_t at, struct err *e)
{
    struct snapshot_entry entry = { .size = 0 };
    const struct snapshot_entry *before = d->old == NO_ENTRY ? NULL : &w->old->entry[d->old];
    struct stat st;

    if (has_rules && fstatat(d->fd, ".gitignore", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(st.st_mode)) {
        entry.size = st.st_size;
        entry.mtime_ns = time_ns(st.st_mtim);
        entry.ctime_ns = time_ns(st.st_ctim);
        entry.ino = st.st_ino;
        if (file_read_all(d->fd, ".gitignore", 0, RULES_MAX, &d->rules, NULL) == ERR_NOMEM)
            return err_nomem(e);
    }

    /* The answers about known names no longer hold if the rules changed. */
    if (before && (before->size != entry.size || before->mtime_ns != entry.mtime_ns ||
                   before->ctime_ns != entry.ctime_ns || before->ino != entry.ino)) {
        d->fresh = true;
        w->dirty = true;
        NEED(!materialise(w));
    }
    if (!w->same) {
        struct snapshot_entry *now = &w->now.entry[at];

        now->size = entry.size;
        now->mtime_ns = entry.mtime_ns;
        now->ctime_ns = entry.ctime_ns;
        now->ino = entry.ino;
    }
    return ERR_OK;
}

/* If the rules of a directory changed, the next walk has to ask them again. */
static enum err_code keep_fresh(struct snapshot_walk *w, const struct walked_dir *d, uint32_t at)
{
    if (!d->fresh || (d->up ? d->up->fresh : w->fresh))
        return ERR_OK;
    if (materialise(w))
        return ERR_NOMEM;
    w->now.entry[at].mtime_ns = -1;
    return ERR_OK;
}

static enum err_code walk_entries(struct snapshot_walk *w, struct walked_dir *d, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF names = { 0 };
    uint32_t at = w->now.n - 1, found = 0, known = 0;
    int fd = dup(d->fd);
    AUTO_DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    bool has_rules = false;

    if (!dir) {
        close_at(&fd);
        return err_sys(e, w->root, "snapshot: read a directory");
    }
    for (const struct dirent *x; (errno = 0, x = readdir(dir)) != NULL;) {
        if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0 ||
            strcmp(x->d_name, ".git") == 0)
            continue;
        has_rules |= strcmp(x->d_name, ".gitignore") == 0;
        NEED(!buf_add(&names, (struct slice){ x->d_name, strlen(x->d_name) + 1 }));
    }
    if (errno)
        return err_sys(e, w->root, "snapshot: read a directory");
    TRY(read_rules(w, d, has_rules, at, e));
    for (const char *p = names.p; names.n && p < names.p + names.n; p += strlen(p) + 1) {
        const struct slice name = slice_of(p);
        uint32_t old;

        NEED(!find_old_entry(w, d, &a, name, &old));
        w->path.n = d->path_n;
        NEED(!buf_add(&w->path, name) && buf_cstr(&w->path));
        uint32_t before = w->now.n;

        enum err_code rc = walk_one(w, d, name, old, e);

        /* The old entries that the walk did not reach are taken over, so that the next one goes on from here. */
        for (uint32_t i = d->old + 1, end; rc == ERR_CANCELLED && d->old != NO_ENTRY && i < d->end;
             i = end) {
            const bool unseen = w->kept[i] == WALK_UNSEEN;

            for (end = i + 1 + w->old->entry[i].below; unseen && i < end; i++)
                NEED(!put_same(w, i));
        }
        if (rc == ERR_CANCELLED)
            NEED(!keep_fresh(w, d, at));
        TRY(rc);
        if (old != NO_ENTRY && w->kept[old] == WALK_UNSEEN)
            w->kept[old] = WALK_REPLACED;
        found += w->now.n > before;
        known += w->now.n > before && old != NO_ENTRY;
    }
    /* Names that are gone. */
    uint32_t children = 0;

    for (uint32_t i = d->old + 1; d->old != NO_ENTRY && i < d->end; i += 1 + w->old->entry[i].below)
        children++;
    if (found != known || known != children)
        d->stale = true;
    if (w->only_new)
        NEED(!keep_fresh(w, d, at));
    return ERR_OK;
}

enum err_code snapshot_walk_run(struct snapshot_walk *w, struct err *e)
{
    struct stat st;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    w->began_ns = time_ns(now);
    w->borrow.root = w->root;
    w->skipped = 0;
    w->stale = false;
    free(w->kept);
    NEED(w->kept = calloc(w->old->n + 1, 1));
    if (stat(w->root, &st))
        return err_sys(e, w->root, "snapshot: find the project");
    w->dev = st.st_dev;
    w->path.n = 0;
    w->same = w->old->n > 0;
    enum err_code rc = enter_dir(w, NULL, SLICE(""), w->old->n ? 0 : NO_ENTRY, &st, false, e);

    return materialise(w) ? err_nomem(e) : rc;
}

void snapshot_walk_fini(struct snapshot_walk *w)
{
    snapshot_index_fini(&w->now);
    snapshot_pack_fini(&w->pack);
    snapshot_borrow_fini(&w->borrow);
    free(w->kept);
    buf_fini(&w->path);
    buf_fini(&w->bytes);
    *w = (struct snapshot_walk){ .root = NULL };
}
