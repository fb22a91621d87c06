#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* Names, sizes and mtimes of the transcripts in a scope (claude.md 1.3); no transcript is opened. First the names in
 * all folders are read, then the files are examined with stat, on two threads if there are many. A screen that lists
 * every project shows its first rows before that: those of the folders that changed last. */

enum {
    NAME = CLAUDE_ID + sizeof CLAUDE_SUFFIX - 1,
    MANY = 1024,     /* fewer take less time than a thread takes to start */
    AT_ONCE = 16384, /* whose states are kept until they are delivered */
    SOON = 256,      /* enough for the first rows of a screen */
    STACK_BYTES = 64 * 1024,
};

struct entry {
    uint32_t folder;
    char name[NAME + 1];
    bool there; /* exists, and is worth a row */
    bool alone; /* no side folder beside it */
};

/* The side folders in one project folder: their names, sorted. */
struct sides {
    char (*id)[CLAUDE_ID];
    size_t n, cap;
};

struct walk {
    const char *projects;
    struct project_folders folders;
    struct entry *entry;
    size_t n, cap;
    struct sides sides; /* the side folders of the folder that is being read */
    bool ids_only;
};

/* Links and other special files are passed on, and describe reports that they cannot be read. Directories and empty
 * files are skipped. */
static bool worth_a_row(const struct stat *sb)
{
    return S_ISREG(sb->st_mode) ? sb->st_size > 0 : !S_ISDIR(sb->st_mode);
}

/* ---- names ---- */

static bool folder_path(struct buf *path, const struct walk *w, size_t folder)
{
    path->n = 0;
    return buf_addf(path, "%s/%s", w->projects, w->folders.folder[folder].name.p) == ERR_OK &&
           buf_cstr(path);
}

static bool add_folder_name(struct walk *w, size_t folder, const char *name)
{
    if (claude_is_transcript_name(name)) {
        if (!array_reserve(w->entry, w->cap, w->n + 1))
            return false;
        struct entry *entry = &w->entry[w->n++];

        *entry = (struct entry){ .folder = (uint32_t)folder };
        memcpy(entry->name, name, sizeof entry->name);
        return true;
    }
    if (!claude_is_uuid(slice_of(name)))
        return true;
    if (!array_reserve(w->sides.id, w->sides.cap, w->sides.n + 1))
        return false;
    memcpy(w->sides.id[w->sides.n++], name, sizeof *w->sides.id);
    return true;
}

/* Some file systems ignore case. */
static int compare_side_id(const void *x, const void *y)
{
    return strncasecmp(x, y, CLAUDE_ID);
}

/* Returns false if out of memory; a folder that cannot be read has no sessions. */
static bool read_folder_names(struct walk *w, size_t folder, struct buf *path)
{
    size_t first = w->n;
    struct dirent *d;
    bool ok = folder_path(path, w, folder);
    DIR *dir = ok ? opendir(path->p) : NULL;

    while (ok && dir && (d = readdir(dir)))
        ok = add_folder_name(w, folder, d->d_name);
    if (dir)
        closedir(dir);

    /* Marks entries without a side folder, from `first` on. */
    struct sides *s = &w->sides;

    if (s->n)
        qsort(s->id, s->n, sizeof *s->id, compare_side_id);
    for (size_t i = first; i < w->n; i++)
        w->entry[i].alone =
            !s->n || !bsearch(w->entry[i].name, s->id, s->n, sizeof *s->id, compare_side_id);
    s->n = 0;

    return ok;
}

/* ---- examining the files ---- */

struct span {
    struct walk *w;
    size_t from, to;
    struct file_id *file; /* of the first one on */
};

static void *stat_span(void *arg)
{
    const struct span *span = arg;
    struct buf path = { 0 };
    struct stat sb;
    int fd = -1;

    for (size_t i = span->from; i < span->to; i++) {
        struct entry *entry = &span->w->entry[i];

        if (span->w->ids_only) {
            entry->there = true;
            span->file[i - span->from] = (struct file_id){ .size = 0 };
            continue;
        }
        if (i == span->from || entry->folder != entry[-1].folder) {
            if (fd >= 0)
                close(fd);
            fd = folder_path(&path, span->w, entry->folder)
                     ? open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                     : -1;
        }
        entry->there =
            fd >= 0 && fstatat(fd, entry->name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && worth_a_row(&sb);
        if (entry->there)
            span->file[i - span->from] = file_id_of(&sb);
    }
    if (fd >= 0)
        close(fd);
    buf_fini(&path);
    return NULL;
}

static bool start_stat_thread(pthread_t *thread, struct span *span)
{
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    bool started = pthread_create(thread, &attr, stat_span, span) == 0;

    pthread_attr_destroy(&attr);
    return started;
}

/* ---- delivering ---- */

/* path is that of the folder, with a slash. */
static bool claude_deliver_session(const struct walk *w, const struct store *st,
                                   const struct entry *entry, const struct file_id *file,
                                   struct buf *path, session_ref_fn *fn, void *arg, bool *more)
{
    struct session_ref ref = { .store = st,
                               .id = { entry->name, CLAUDE_ID },
                               .folder = w->folders.folder[entry->folder].name,
                               .file = *file,
                               .alone = entry->alone };
    size_t before = path->n;

    if (buf_add(path, (struct slice){ entry->name, NAME }) || !buf_cstr(path))
        return false;
    ref.path = buf_slice(path);
    *more = fn(&ref, arg);
    path->n = before;
    return true;
}

/* Examines and delivers the entries from `from` on. *more is false if no more are wanted; returns false if out of
 * memory. */
static bool deliver_sessions(struct walk *w, size_t from, const struct store *st,
                             session_ref_fn *fn, void *arg, bool *more)
{
    const size_t n = w->n - from < AT_ONCE ? w->n - from : AT_ONCE;
    struct file_id *file = malloc((n + 1) * sizeof *file);
    struct buf path = { 0 };
    size_t folder = SIZE_MAX;
    bool ok = file;

    for (size_t to; ok && *more && from < w->n; from = to) {
        to = w->n - from < n ? w->n : from + n;

        /* Each file costs a system call, so two threads examine them if there are many. */
        const size_t half = to - from >= MANY ? (to - from) / 2 : 0;
        struct span first = { w, from, from + half, file },
                    second = { w, first.to, to, file + half };
        pthread_t thread;
        bool helped = first.to > from && start_stat_thread(&thread, &first);

        stat_span(&second);
        if (helped)
            pthread_join(thread, NULL);
        else
            stat_span(&first);
        for (size_t i = from; ok && *more && i < to; i++) {
            const struct entry *entry = &w->entry[i];

            if (entry->folder != folder)
                ok = folder_path(&path, w, entry->folder) && buf_add_byte(&path, '/') == ERR_OK;
            folder = entry->folder;
            if (ok && entry->there)
                ok = claude_deliver_session(w, st, entry, &file[i - from], &path, fn, arg, more);
        }
    }
    free(file);
    buf_fini(&path);
    return ok;
}

struct aged {
    struct project_folder folder;
    int64_t mtime_ns;
};

static int compare_aged(const void *x, const void *y)
{
    const struct aged *a = x, *b = y;

    return (a->mtime_ns < b->mtime_ns) - (a->mtime_ns > b->mtime_ns);
}

/* A folder changes when a session begins in it. Returns false if out of memory. */
static bool newest_folders_first(struct walk *w, struct arena *a, struct buf *path)
{
    struct aged *aged = arena_alloc(a, w->folders.n * sizeof *aged);
    struct stat sb;

    for (size_t i = 0; aged && i < w->folders.n; i++) {
        if (!folder_path(path, w, i))
            return false;
        aged[i].folder = w->folders.folder[i];
        aged[i].mtime_ns = stat(path->p, &sb) == 0 ? file_id_of(&sb).mtime_ns : 0;
    }
    if (!aged)
        return false;
    qsort(aged, w->folders.n, sizeof *aged, compare_aged);
    for (size_t i = 0; i < w->folders.n; i++)
        w->folders.folder[i] = aged[i].folder;
    return true;
}

enum err_code claude_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e)
{
    const struct claude *c = claude_of(st);
    struct walk w = { .projects = c->projects, .ids_only = scope->ids_only };
    struct arena a = { 0 };
    struct buf path = { 0 };
    enum err_code rc = claude_folders(c, scope, DISCOVER_LIST, &a, &w.folders, e);
    bool soon = scope->streams && scope->all && w.folders.n > 1, more = true;
    bool ok = rc || !soon || newest_folders_first(&w, &a, &path);
    size_t delivered = 0;

    for (size_t i = 0; !rc && ok && more && i < w.folders.n; i++) {
        ok = read_folder_names(&w, i, &path);
        if (ok && soon && w.n >= SOON) {
            ok = deliver_sessions(&w, 0, st, fn, arg, &more);
            delivered = w.n;
            soon = false;
        }
    }
    if (!rc && ok && more)
        ok = deliver_sessions(&w, delivered, st, fn, arg, &more);
    if (!rc && !ok)
        rc = err_nomem(e);
    free(w.sides.id);
    free(w.entry);
    buf_fini(&path);
    arena_fini(&a);
    return rc;
}

/* ---- folders that cannot be listed ---- */

enum err_code claude_unreadable(const struct store *st, const struct scope *scope,
                                unreadable_fn *fn, void *arg, struct err *e)
{
    const struct claude *c = claude_of(st);
    struct walk w = { .projects = c->projects };
    struct arena a = { 0 };
    struct buf path = { 0 };
    struct err trouble = { 0 };
    enum err_code rc = claude_folders(c, scope, DISCOVER_UNREADABLE, &a, &w.folders, e);

    if (!rc && !claude_can_list(c->projects, &trouble)) {
        fn(&trouble, arg);
        w.folders.n = 0; /* they fail for the same reason */
    }
    for (size_t i = 0; !rc && i < w.folders.n; i++) {
        if (!folder_path(&path, &w, i))
            rc = err_nomem(e);
        else if (!claude_can_list(path.p, &trouble))
            fn(&trouble, arg);
    }
    buf_fini(&path);
    arena_fini(&a);
    return rc;
}

/* Finds the session with an id where the agent itself would find it (claude.md 1.3): in the first
 * folder that has a file with its name that is not empty, even if it is a link, and even if no list
 * would show it. */

/* Returns true if the folder contains a session with this id; *ref is then that session, in the
 * arena. *ok is false if out of memory. */
static bool folder_has(const struct claude *c, struct slice folder, struct slice id,
                       struct arena *a, struct session_ref *ref, bool *ok)
{
    char *path = arena_format(a, "%s/%s/%.*s" CLAUDE_SUFFIX, c->projects, folder.p, SLICE_ARG(id));
    struct stat sb;

    *ok = path != NULL;
    if (!path)
        return false;
    if (stat(path, &sb) != 0 || S_ISDIR(sb.st_mode) || sb.st_size == 0)
        return false;
    *ref = (struct session_ref){
        .store = &c->base,
        .id = arena_copy(a, id),
        .path = slice_of(path),
        .folder = arena_copy(a, folder),
        .file = file_id_of(&sb),
    };
    *ok = ref->id.p && ref->folder.p;
    return *ok;
}

enum err_code claude_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct claude *c = claude_of(st);
    struct project_folders list = { 0 };
    struct arena names = { 0 };
    bool ok = true, found = false;

    if (!claude_is_uuid(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Claude Code session id");
    enum err_code rc = claude_folders(c, scope, DISCOVER_ONE, &names, &list, e);

    for (size_t i = 0; !rc && ok && !found && i < list.n; i++)
        found = folder_has(c, list.folder[i].name, id, a, ref, &ok);
    arena_fini(&names);
    if (!rc && !ok)
        return err_nomem(e);
    if (!rc && !found)
        return err_set(e, ERR_NOT_FOUND, "", "find session %.*s: no such session", SLICE_ARG(id));
    return rc;
}

enum err_code claude_find_each(const struct store *st, const struct scope *scope, struct slice id,
                               session_ref_fn *fn, void *arg, struct err *e)
{
    const struct claude *c = claude_of(st);
    struct project_folders list = { 0 };
    struct arena a = { 0 };
    bool more = true;

    if (!claude_is_uuid(id))
        return ERR_OK;
    enum err_code rc = claude_folders(c, scope, DISCOVER_COPIES, &a, &list, e);

    for (size_t i = 0; !rc && more && i < list.n; i++) {
        struct session_ref ref = { .store = st, .id = id, .folder = list.folder[i].name };
        const char *path =
            arena_format(&a, "%s/%s/%.*s" CLAUDE_SUFFIX, c->projects, ref.folder.p, SLICE_ARG(id));
        struct stat sb;

        if (!path) {
            rc = err_nomem(e);
        } else if (lstat(path, &sb) == 0 && worth_a_row(&sb)) {
            ref.path = slice_of(path);
            ref.file = file_id_of(&sb);
            more = fn(&ref, arg);
        }
    }
    arena_fini(&a);
    return rc;
}

enum err_code claude_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e)
{
    size_t suffix = sizeof CLAUDE_SUFFIX - 1;
    struct slice file = path, folder = { "", 0 };
    struct stat sb;

    /* The transcript of a session directory is beside it. */
    if (stat(path.p, &sb) != 0 || S_ISDIR(sb.st_mode)) {
        NEED(file.p = arena_format(a, "%.*s" CLAUDE_SUFFIX, SLICE_ARG(path)));
        file.n = strlen(file.p);
    } else {
        NEED((file = arena_copy(a, path)).p);
    }
    const char *name = strrchr(file.p, '/') + 1;
    size_t n = (size_t)(file.p + file.n - name);

    if (n <= suffix || strcmp(name + n - suffix, CLAUDE_SUFFIX) != 0 || stat(file.p, &sb) != 0 ||
        !S_ISREG(sb.st_mode) || sb.st_size == 0)
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    const char *parent = memrchr(file.p, '/', (size_t)(name - 1 - file.p));

    if (parent)
        folder = arena_copy(a, (struct slice){ parent + 1, (size_t)(name - 2 - parent) });
    struct slice id = arena_copy(a, (struct slice){ name, n - suffix });

    if (!folder.p || !id.p)
        return err_nomem(e);
    *ref = (struct session_ref){
        .store = st, .id = id, .path = file, .folder = folder, .file = file_id_of(&sb)
    };
    return ERR_OK;
}

/* Finds many sessions by their ids, each as claude_find would find it: the names in the folders are read once, in the
 * order in which claude_find searches them, and to the end, because a later folder may have a copy. */

struct many {
    const struct claude *c;
    const struct slice *id;
    size_t n;
    struct session_ref *ref;
    struct idset wanted; /* the number of an id is its index into `first` */
    size_t *first;       /* its first place in id and ref; in the arena */
    bool *copied;        /* by place: several folders have it; in the arena */
    struct arena *a;
    bool ok;
};

static void look_for(struct many *m, struct slice folder, size_t i)
{
    struct session_ref other;

    if (!m->ref[i].store)
        folder_has(m->c, folder, m->id[i], m->a, &m->ref[i], &m->ok);
    else if (!m->copied[i] && !slice_eq(m->ref[i].folder, folder))
        m->copied[i] = folder_has(m->c, folder, m->id[i], m->a, &other, &m->ok);
}

/* A folder whose names cannot be read may still let its files be opened by name. */
static void search_folder(struct many *m, struct slice folder)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", m->c->projects, folder.p);
    DIR *dir = n > 0 && (size_t)n < sizeof path ? opendir(path) : NULL;
    const struct dirent *entry;
    bool whole = false;

    if (dir) {
        while (errno = 0, m->ok && (entry = readdir(dir))) {
            const char *name = entry->d_name;
            struct slice id = { name, CLAUDE_ID };

            if (claude_is_transcript_name(name)) {
                uint32_t number = idset_find(&m->wanted, id128_of(id));

                if (number != IDSET_NONE)
                    look_for(m, folder, m->first[number]);
            }
        }

        /* readdir() reports a failure only by errno. */
        whole = errno == 0;
        closedir(dir);
    } else {
        whole = errno == ENOENT || errno == ENOTDIR;
    }
    for (size_t i = 0; !whole && i < m->wanted.n && m->ok; i++)
        look_for(m, folder, m->first[i]);
}

enum err_code claude_find_many(const struct store *st, const struct scope *scope,
                               const struct slice *id, size_t n, struct arena *a,
                               struct session_ref *ref, struct err *e)
{
    struct many m = { .c = claude_of(st), .id = id, .n = n, .ref = ref, .a = a };
    struct project_folders list = { 0 };
    struct arena names = { 0 };
    enum err_code rc = claude_folders(m.c, scope, DISCOVER_ONE, &names, &list, e);

    /* Ids that are named twice are looked up once. */
    if (!rc) {
        m.first = arena_alloc(a, (n + 1) * sizeof *m.first);
        m.copied = arena_zalloc(a, (n + 1) * sizeof *m.copied);
        m.ok = m.first && m.copied;
    }
    for (size_t i = 0; i < n && m.ok; i++) {
        uint32_t number;
        size_t before = m.wanted.n;

        if (!claude_is_uuid(id[i]))
            continue;
        m.ok = idset_add(&m.wanted, id128_of(id[i]), &number) == ERR_OK;
        if (m.ok && m.wanted.n > before)
            m.first[number] = i;
    }

    for (size_t i = 0; i < list.n && m.ok && m.wanted.n; i++)
        search_folder(&m, list.folder[i].name);
    if (!rc && m.ok) {
        for (size_t i = 0; i < m.n; i++)
            if (m.copied[i])
                m.ref[i] = (struct session_ref){ 0 };

        /* An id that is named again has the session of its first place. */
        for (size_t i = 0; i < m.n; i++) {
            if (m.ref[i].store || !claude_is_uuid(m.id[i]))
                continue;
            m.ref[i] = m.ref[m.first[idset_find(&m.wanted, id128_of(m.id[i]))]];
        }
    }
    if (!rc && !m.ok)
        rc = err_nomem(e);
    idset_fini(&m.wanted);
    arena_fini(&names);
    return rc;
}
