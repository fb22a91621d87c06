#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "store/fs/file_at.h"
#include "store/fs/path.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/metadata.h"

/* Names, sizes and times. Sessions are sorted by a time in their metadata, so that small document
 * is read here; the logs are not. A directory without any of the three files is not a session. A
 * directory with damaged metadata is one, and describe reports the damage. */

struct walk {
    const struct store *store;
    const struct scope *scope;
    session_ref_fn *fn;
    void *arg;
    bool stopped, no_memory;
};

/* The names that may be sessions. */
struct names {
    struct arena arena;
    struct slice *id; /* owned */
    size_t n, cap;
};

/* A part of the names of one directory, and the refs that one thread makes of it. */
struct share {
    const struct walk *walk;
    int dirfd; /* the directory, open; sessions is its path */
    struct slice sessions, folder;
    const struct slice *id;
    size_t n;
    struct session_ref *ref; /* owned; as many as there are names */
    size_t found;
    struct arena arena;   /* the texts of ref */
    struct arena scratch; /* for one metadata.json */
    bool no_memory;
};

enum {
    WORTH_A_THREAD = 64, /* names */
    PREREAD_MAX = 4096,  /* a larger metadata.json is read again, to save memory */
};

/* The session directory that is being read; sessions is open as dirfd. */
struct looking {
    const struct store *store;
    int dirfd;
    struct slice sessions, folder, id;
    struct arena *texts, *a; /* for the ref's texts, and for the metadata's */
    bool whole;              /* all of the metadata is needed, not only the time */
};

enum { NAME_ROOM = NAME_MAX + 32 };

/* <id>/<file>, without snprintf: a listing would spend much of its time on two thousand of them. */
static const char *file_name_in(const struct looking *l, struct slice file, char name[NAME_ROOM])
{
    memcpy(name, l->id.p, l->id.n);
    name[l->id.n] = '/';
    memcpy(name + l->id.n + 1, file.p, file.n);
    name[l->id.n + 1 + file.n] = '\0';
    return name;
}

static struct slice file_path(const struct looking *l, struct slice file)
{
    size_t n = l->sessions.n + 1 + l->id.n + 1 + file.n;
    char *path = arena_alloc(l->texts, n + 1);

    if (!path)
        return (struct slice){ NULL, 0 };
    memcpy(path, l->sessions.p, l->sessions.n);
    path[l->sessions.n] = '/';
    file_name_in(l, file, path + l->sessions.n + 1);
    return (struct slice){ path, n };
}

/* Chooses the file to read, even one that cannot be read, so that it is shown as such. Returns
 * false if no file exists. */
static bool choose_file(const struct looking *l, struct slice *file, struct stat *sb)
{
    static const struct slice files[] = { { GOAT_MESSAGES_LOG, sizeof GOAT_MESSAGES_LOG - 1 },
                                          { GOAT_TRANSCRIPT_LOG, sizeof GOAT_TRANSCRIPT_LOG - 1 },
                                          { GOAT_METADATA, sizeof GOAT_METADATA - 1 } };
    char name[NAME_ROOM];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (fstatat(l->dirfd, file_name_in(l, files[i], name), sb, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (i == 0 && S_ISREG(sb->st_mode) && sb->st_size == 0)
            continue;
        *file = files[i];
        return true;
    }
    return false;
}

/* The last time at the end of the conversation; 0: no time. */
static int64_t last_time(int dirfd, const char *name)
{
    char end[4096];
    struct file f;
    size_t got = 0;
    int64_t ns = 0, ms;
    struct slice rest, line;
    bool torn;

    if (file_open(dirfd, name, 0, &f, NULL))
        return 0;
    int64_t from = f.id.size > (int64_t)sizeof end ? f.id.size - (int64_t)sizeof end : 0;

    if (file_read(&f, from, end, sizeof end, &got, NULL) == ERR_OK)
        for (rest = (struct slice){ end, got }; !ns && slice_last_line(&rest, &line, &torn);)
            if (goat_line_time(line, &ms))
                ns = ms * 1000000;
    file_close(&f);
    return ns;
}

/* The time of the last change: from the metadata, or, if the dialect does not record it, the later
 * of the newest message and the file's mtime. */
static int64_t recent(const struct looking *l, const struct goat_metadata *m, struct slice file,
                      const struct stat *sb)
{
    char name[NAME_ROOM];

    if (m->updated_ns)
        return m->updated_ns;
    int64_t mtime = file_at_mtime(sb), last = slice_eq(file, SLICE(GOAT_MESSAGES_LOG))
                                                  ? last_time(l->dirfd, file_name_in(l, file, name))
                                                  : 0;

    return last > mtime ? last : mtime;
}

/* ERR_NOT_FOUND: no session. The folder is borrowed. */
static enum err_code read_session_ref(const struct looking *l, struct goat_metadata *m,
                                      struct session_ref *ref)
{
    char name[NAME_ROOM];
    struct slice file;
    struct stat sb;

    if (l->id.n > NAME_MAX || !choose_file(l, &file, &sb))
        return ERR_NOT_FOUND;
    file_name_in(l, SLICE(GOAT_METADATA), name);
    if (l->whole ? goat_metadata_read(l->dirfd, name, l->a, m)
                 : goat_metadata_updated(l->dirfd, name, l->a, m))
        return ERR_NOMEM;
    int64_t when = recent(l, m, file, &sb), rest = when % 1000000;

    if (rest < 0)
        rest += 1000000;

    *ref = (struct session_ref){
        .store = l->store,
        .path = file_path(l, file),
        .folder = l->folder,
        .file = file_id_of(&sb),
        .recent_ms = (when - rest) / 1000000,
        .recent_ns = (uint32_t)rest,
    };
    if (slice_eq(file, SLICE(GOAT_METADATA)))
        ref->file.size = 0; /* no conversation */
    if (!ref->path.p)
        return ERR_NOMEM;
    ref->id = (struct slice){ ref->path.p + l->sessions.n + 1, l->id.n };
    if (m->document.n <=
        PREREAD_MAX) /* if out of memory, the preread stays empty, which is allowed */
        ref->preread = arena_copy(l->texts, m->document);
    return ERR_OK;
}

static bool is_real_dir(int dirfd, const struct dirent *entry)
{
    struct stat sb;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd, entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(sb.st_mode);
}

/* ---- the names of a directory ---- */

static bool read_session_names(DIR *dir, struct names *names)
{
    struct dirent *entry;

    while ((entry = readdir(dir))) {
        if (!goat_is_id(slice_of(entry->d_name)) || !is_real_dir(dirfd(dir), entry))
            continue;
        struct slice copy = arena_copy(&names->arena, slice_of(entry->d_name));

        if (!copy.p || !array_reserve(names->id, names->cap, names->n + 1))
            return false;
        names->id[names->n++] = copy;
    }
    return true;
}

/* ---- the sessions of these names ---- */

static void *enumerate_worker(void *arg)
{
    struct share *s = arg;
    enum err_code rc;

    s->ref = malloc((s->n + 1) * sizeof *s->ref);
    s->no_memory = !s->ref;
    for (size_t i = 0; i < s->n && !s->no_memory; i++) {
        struct slice id = s->id[i];
        const struct walk *w = s->walk;
        struct goat_metadata m = { 0 };
        struct looking l = { w->store, s->dirfd,  s->sessions, s->folder,
                             id,       &s->arena, &s->scratch, !w->scope->all };

        arena_reset(&s->scratch);
        rc = read_session_ref(&l, &m, &s->ref[s->found]);
        s->no_memory |= rc == ERR_NOMEM;
        if (!rc && (m.why || config_dir_in_scope(w->scope, m.text[GOAT_CWD], &s->scratch)))
            s->found++;
    }
    return NULL;
}

/* Hands over the refs, in the order of the names. */
static void deliver_refs(struct walk *w, struct share *s)
{
    w->no_memory |= s->no_memory;
    for (size_t i = 0; i < s->found && !w->stopped && !w->no_memory; i++)
        w->stopped = !w->fn(&s->ref[i], w->arg);
    free(s->ref);
    arena_fini(&s->arena);
    arena_fini(&s->scratch);
}

static bool walk_base(const char *sessions, struct slice folder, void *arg)
{
    struct walk *w = arg;
    DIR *dir = opendir(sessions);
    struct names names = { 0 };

    if (!dir)
        return true;
    if (!read_session_names(dir, &names)) {
        w->no_memory = true;
    } else if (names.n) {
        struct share whole = { .walk = w,
                               .dirfd = dirfd(dir),
                               .sessions = slice_of(sessions),
                               .folder = folder,
                               .id = names.id,
                               .n = names.n };

        /* Examining two files of each session takes as long as the rest of a listing, so a second
         * thread handles half of the names. */
        struct share first = whole, second = whole;
        pthread_t thread;

        first.n = whole.n / 2;
        second.id += first.n;
        second.n -= first.n;
        if (whole.n < WORTH_A_THREAD ||
            pthread_create(&thread, NULL, enumerate_worker, &second) != 0) {
            enumerate_worker(&first);
            enumerate_worker(&second);
        } else {
            enumerate_worker(&first);
            pthread_join(thread, NULL);
        }
        deliver_refs(w, &first);
        deliver_refs(w, &second);
    }
    free(names.id);
    arena_fini(&names.arena);

    closedir(dir);
    return !w->stopped && !w->no_memory;
}

enum err_code goat_enumerate(const struct store *st, const struct scope *scope, session_ref_fn *fn,
                             void *arg, struct err *e)
{
    struct walk w = { .store = st, .scope = scope, .fn = fn, .arg = arg };

    goat_each_base(goat_of(st), walk_base, &w);
    return w.no_memory ? err_nomem(e) : ERR_OK;
}

struct unreadable_report {
    unreadable_fn *fn;
    void *arg;
};

static bool report_unreadable_dir(const char *sessions, struct slice folder, void *arg)
{
    const struct unreadable_report *t = arg;
    struct err trouble = { 0 };
    AUTO_DIR *dir = opendir(sessions);

    (void)folder;
    while (dir && (errno = 0, readdir(dir)))
        ;
    if (errno && errno != ENOENT) {
        err_sys(&trouble, sessions, "list sessions in");
        t->fn(&trouble, t->arg);
    }
    return true;
}

enum err_code goat_unreadable(const struct store *st, const struct scope *scope, unreadable_fn *fn,
                              void *arg, struct err *e)
{
    struct unreadable_report t = { fn, arg };

    (void)scope;
    (void)e;
    goat_each_base(goat_of(st), report_unreadable_dir, &t);
    return ERR_OK;
}

/* The session in a directory. `id` is the directory's name, `sessions` the directory that contains
 * it. The ref's texts are in the arena. ERR_NOT_FOUND: no session. */
static enum err_code goat_ref_at(const struct store *st, const char *sessions, struct slice folder,
                                 struct slice id, struct arena *a, struct session_ref *ref,
                                 struct err *e)
{
    int fd = open(sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct goat_metadata m = { 0 };
    struct session_ref found = { 0 };
    enum err_code rc = ERR_NOT_FOUND;

    if (fd >= 0) {
        struct looking l = { .store = st,
                             .dirfd = fd,
                             .sessions = slice_of(sessions),
                             .folder = arena_copy(a, folder),
                             .id = id,
                             .texts = a,
                             .a = a };

        rc = l.folder.p ? read_session_ref(&l, &m, &found) : ERR_NOMEM;
        close(fd);
    }
    found.preread = (struct slice){ NULL, 0 }; /* the caller may keep the ref */
    if (rc == ERR_NOMEM)
        return err_set(e, rc, sessions, "find session");
    if (rc)
        return err_set(e, rc, "", "find session %.*s: no such session", SLICE_ARG(id));
    *ref = found;
    return ERR_OK;
}

/* Finds a session by its directory's name, by which the host opens it, or else by the id in its
 * metadata, which may differ (goat.md B5). */

struct finder {
    const struct goat *g;
    const struct scope *scope;
    struct slice id;
    struct arena *a;
    struct session_ref *ref;
    enum err_code rc;
    struct err *e;
};

/* A link is not followed. */
static bool is_session_dir(const char *sessions, struct slice id)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%.*s", sessions, SLICE_ARG(id)) < (int)sizeof path &&
           path_is_real_dir(path);
}

static bool wanted(const struct finder *f, const struct session_ref *ref)
{
    struct goat_metadata m;
    struct arena a = { 0 };
    bool yes = f->scope->all;
    const char *path = yes ? NULL : goat_path(ref, GOAT_METADATA, &a);

    if (path && goat_metadata_read(AT_FDCWD, path, &a, &m) == ERR_OK)
        yes = m.why || config_dir_in_scope(f->scope, m.text[GOAT_CWD], &a);
    arena_fini(&a);
    return yes;
}

static bool goat_find_in(const char *sessions, struct slice folder, void *arg)
{
    struct finder *f = arg;

    if (!is_session_dir(sessions, f->id))
        return true;
    f->rc = goat_ref_at(&f->g->jsonl.base, sessions, folder, f->id, f->a, f->ref, f->e);
    if (f->rc == ERR_OK && !wanted(f, f->ref))
        f->rc = ERR_NOT_FOUND;
    return f->rc == ERR_NOT_FOUND;
}

struct by_recorded {
    struct slice id;
    struct arena *a;
    struct session_ref *ref;
    bool found, no_memory;
};

static bool has_recorded(const struct session_ref *ref, void *arg)
{
    struct by_recorded *r = arg;
    struct goat_metadata m;
    struct arena a = { 0 };

    r->no_memory = goat_metadata_of(ref, &a, &m) != ERR_OK;
    r->found = !r->no_memory && !m.why && slice_eq(m.text[GOAT_ID], r->id);
    if (r->found)
        r->no_memory = !session_ref_copy(r->a, ref, r->ref);
    arena_fini(&a);
    return !r->found && !r->no_memory;
}

enum err_code goat_find(const struct store *st, const struct scope *scope, struct slice id,
                        struct arena *a, struct session_ref *ref, struct err *e)
{
    struct finder f = { goat_of(st), scope, id, a, ref, ERR_NOT_FOUND, e };
    struct by_recorded r = { .id = id, .a = a, .ref = ref };

    if (!goat_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Go session id");
    goat_each_base(f.g, goat_find_in, &f);
    if (f.rc != ERR_NOT_FOUND)
        return f.rc;
    enum err_code rc = goat_enumerate(st, scope, has_recorded, &r, e);

    if (rc)
        return rc;
    if (r.no_memory)
        return err_nomem(e);
    return r.found
               ? ERR_OK
               : err_set(e, ERR_NOT_FOUND, "", "find session %.*s: no such session", SLICE_ARG(id));
}

/* ---- by path ---- */

/* Cuts the last part off. */
static struct slice cut_last_part(struct slice *path)
{
    const char *slash = path->n ? memrchr(path->p, '/', path->n) : NULL;
    struct slice last = { NULL, 0 };

    if (slash) {
        last = (struct slice){ slash + 1, (size_t)(path->p + path->n - slash) - 1 };
        path->n = (size_t)(slash - path->p);
    }
    return last;
}

enum err_code goat_at_path(const struct store *st, struct slice path, struct arena *a,
                           struct session_ref *ref, struct err *e)
{
    struct slice whole = path, id = cut_last_part(&path), folder = { "", 0 };

    if (goat_is_file(id))
        id = cut_last_part(&path);
    const char *sessions = arena_copy(a, path).p;

    if (!sessions)
        return err_nomem(e);
    if (!goat_is_id(id) || !is_session_dir(sessions, id))
        return err_set(e, ERR_NOT_FOUND, whole.p, "open session: no such session");
    if (slice_eq(cut_last_part(&path), SLICE("sessions")))
        folder = cut_last_part(&path);
    return goat_ref_at(st, sessions, folder, id, a, ref, e);
}
