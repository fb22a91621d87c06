#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "store/api/finding.h"
#include "store/fs/path.h"
#include "store/log/lease.h"
#include "store/log/logfile.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

static enum err_code exathena_check_lines(struct jsonl_check *k, const atomic_bool *cancel,
                                          struct err *e)
{
    struct logfile log;
    enum err_code rc = logfile_open(&log, k->ref->path.p, 0, &exathena_keys, cancel, e);

    if (rc)
        return rc;
    k->log = &log;
    for (size_t i = 0; i < log.index.n && !rc; i++) {
        /* Report a torn or broken line. */
        const struct index *ix = &k->log->index;
        bool broken = ix->line[i].state == LINE_BROKEN;

        if (ix->torn_tail && i + 1 == ix->n)
            rc = jsonl_check_line(k, FINDING_TORN_TAIL, i,
                                  broken
                                      ? "unfinished write: the last line is cut and has no newline"
                                      : "the last line has no newline",
                                  e);
        else
            rc = broken ? jsonl_check_line(k, FINDING_BROKEN_LINE, i, "not a JSON object", e)
                        : ERR_OK;

        if (!rc)
            rc = jsonl_check_id(k, i, "an earlier event has the same uuid: a rewind uses that one",
                                e);
    }
    idset_fini(&k->ids);
    logfile_close(&log);
    return rc;
}

enum err_code exathena_check(const struct store *st, const struct session_ref *ref,
                             const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct jsonl_check k = { .ref = ref, .fn = fn, .arg = arg };
    struct saved_files saved;

    TRY(exathena_check_lines(&k, cancel, e));

    const struct exathena *x = exathena_of(st);
    struct arena a = { 0 };
    enum err_code rc = saved_files_read(x, k.ref->id, &a, &saved, e);

    for (size_t i = 0; !rc && i < saved.n; i++) {
        const struct saved_file *f = &saved.file[i];

        if (f->why)
            rc = jsonl_check_report(&k, f->first ? FINDING_WRONG_BACKUP : FINDING_MISSING_BACKUP,
                                    f->dir, f->why, e);
        if (!rc && f->strange)
            rc = jsonl_check_report(
                &k, FINDING_WRONG_BACKUP, f->dir,
                "names that are not versions: the library no longer saves this file", e);
    }
    arena_fini(&a);
    return rc;
}

/* ---- files that belong to no session ---- */

struct leftover_report {
    finding_fn *fn;
    void *arg;
};

static enum err_code report_left(const struct leftover *left, void *arg, struct err *e)
{
    const struct leftover_report *t = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < left->parts && !rc; i++) {
        const struct finding f = { .kind = FINDING_ORPHAN_BACKUPS,
                                   .session = left->id,
                                   .path = left->part[i],
                                   .why = "the session's log is gone, and this is left (see: sweep "
                                          "--orphans)" };

        rc = t->fn(&f, t->arg, e);
    }
    return rc;
}

/* A log with a name that cannot be an id is not in any list. */
static bool is_misnamed(const char *name)
{
    size_t n = strlen(name), suffix = sizeof JSONL_SUFFIX - 1;
    struct slice id;

    return n >= suffix && strcmp(name + n - suffix, JSONL_SUFFIX) == 0 &&
           !jsonl_id_of_name(name, exathena_is_id, &id);
}

enum err_code exathena_check_store(const struct store *st, const struct scope *scope,
                                   finding_fn *fn, void *arg, struct err *e)
{
    const struct exathena *x = exathena_of(st);
    struct dirent *entry;
    enum err_code rc = ERR_OK;
    struct leftover_report report = { fn, arg };
    DIR *dir = opendir(x->jsonl.folder);

    while (dir && !rc && (entry = readdir(dir)))
        if (is_misnamed(entry->d_name))
            rc = jsonl_check_name(x->jsonl.folder, entry->d_name, fn, arg, e);
    if (dir)
        closedir(dir);
    if (!rc && dir) /* if the logs cannot be read, no log is known to be gone */
        rc = exathena_leftovers(st, scope, report_left, &report, e);
    return rc;
}

/* All files named by a session's id: its log, its own directory with the sub-agents, and the saved
 * files from before its edits. The library itself deletes no session. */

enum { PARTS = 3 };

enum err_code exathena_copies(const struct store *st, const struct session_ref *ref,
                              struct arena *a, const char **dir, struct err *e)
{
    if (!exathena_is_id(ref->id))
        return err_set(e, ERR_UNSAFE, ref->path.p,
                       "name what belongs to a session: its id is not a plain name");
    *dir = arena_format(a, "%s/%.*s", exathena_of(st)->history, SLICE_ARG(ref->id));
    return *dir ? ERR_OK : err_nomem(e);
}

enum err_code exathena_parts(const struct store *st, const struct session_ref *ref, bool all,
                             struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char **list = arena_alloc(a, PARTS * sizeof *list);

    (void)all;
    TRY(list ? exathena_copies(st, ref, a, &list[2], e) : err_nomem(e));
    list[0] = ref->path.p;
    list[1] = exathena_side_path(ref, "", a);
    if (!list[1])
        return err_nomem(e);
    *part = list;
    /* The saved copies are named only by the id, so if the store has a separate root, they may belong to the
     * project's own log. */
    const struct exathena *x = exathena_of(st);
    const char *log =
        arena_format(a, "%s/.exathena/sessions/%.*s" JSONL_SUFFIX, x->project, SLICE_ARG(ref->id));
    struct stat sb;

    *n = x->own_root && (!log || lstat(log, &sb) == 0) ? PARTS - 1 : PARTS;
    return ERR_OK;
}

/* ---- whether it is in use ---- */

/* The library buffers events for a quarter of a second before it writes them, and locks nothing: a
 * log that was just written is checked again after this time. */
enum { FLUSH_MS = 300 };

static bool keeps_growing(const char *path)
{
    struct stat before, after;
    struct timespec now;

    if (stat(path, &before) || clock_gettime(CLOCK_REALTIME, &now))
        return false;
    int64_t age = time_ns(now) - time_ns(before.st_mtim);
    int64_t nap = FLUSH_MS * INT64_C(1000000) - age;

    if (age < 0 || nap <= 0)
        return false;
    nanosleep(&(struct timespec){ .tv_nsec = (long)nap }, NULL);
    return stat(path, &after) == 0 &&
           (after.st_size != before.st_size || time_ns(after.st_mtim) != time_ns(before.st_mtim));
}

enum err_code exathena_live(const struct store *st, const struct session_ref *ref, struct live *out,
                            struct err *e)
{
    (void)st;
    (void)e;
    *out = lease_live(ref->path.p);
    if (out->state != LIVE_RUNNING && keeps_growing(ref->path.p))
        *out = (struct live){ .state = LIVE_RUNNING, .why = "the session is being written to" };
    return ERR_OK;
}

/* Finds saved copies of files and runs of sub-agents that belong to sessions whose log is gone. A
 * missing log proves nothing if the directory cannot be read or contains no log. */

struct leftover_search {
    const struct exathena *x;
    struct arena arena;
    struct idset logs; /* ids that have a log */
    struct idset reported;
    leftover_fn *fn;
    void *arg;
};

static enum err_code note_logs(struct leftover_search *l, struct err *e)
{
    const size_t suffix = sizeof JSONL_SUFFIX - 1;
    DIR *dir = opendir(l->x->jsonl.folder);
    struct dirent *entry;
    uint32_t number;
    enum err_code rc = ERR_OK;

    if (!dir)
        return errno == ENOENT ? ERR_OK
                               : err_sys(e, l->x->jsonl.folder,
                                         "list the logs, without which leftovers cannot be found");
    while (!rc && (errno = 0, entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);

        if (n > suffix && strcmp(entry->d_name + n - suffix, JSONL_SUFFIX) == 0 &&
            idset_add(&l->logs, id128_of((struct slice){ entry->d_name, n - suffix }), &number))
            rc = err_nomem(e);
    }
    if (!rc && errno)
        rc = err_sys(e, l->x->jsonl.folder,
                     "list the logs, without which leftovers cannot be found");
    closedir(dir);
    return rc;
}

/* Reports both directories of the id, whichever was found first. */
static enum err_code report_leftover(struct leftover_search *l, struct slice id, struct err *e)
{
    const char *side = arena_format(&l->arena, "%s/%.*s", l->x->jsonl.folder, SLICE_ARG(id));
    const char *runs =
        arena_format(&l->arena, "%s/%.*s/sidechains", l->x->jsonl.folder, SLICE_ARG(id));
    const char *saved = arena_format(&l->arena, "%s/%.*s", l->x->history, SLICE_ARG(id));
    struct slice copy = arena_copy(&l->arena, id);
    const char *part[2];
    struct leftover left = { .id = copy, .folder = SLICE(""), .part = part };
    uint32_t number;
    size_t before = l->reported.n;

    if (!side || !runs || !saved || !copy.p || idset_add(&l->reported, id128_of(id), &number))
        return err_nomem(e);
    if (l->reported.n == before)
        return ERR_OK;
    if (path_is_real_dir(runs)) /* else the directory is not from the library */
        part[left.parts++] = side;
    /* If the store has a separate root, saved copies may belong to sessions with logs in another
     * root. */
    if (!l->x->own_root && path_is_real_dir(saved))
        part[left.parts++] = saved;
    return left.parts ? l->fn(&left, l->arg, e) : ERR_OK;
}

static enum err_code exathena_search_dir(struct leftover_search *l, const char *path, struct err *e)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    enum err_code rc = ERR_OK;

    while (!rc && dir && (entry = readdir(dir))) {
        struct slice id = slice_of(entry->d_name);

        if (exathena_is_id(id) && !idset_has(&l->logs, id128_of(id)))
            rc = report_leftover(l, id, e);
    }
    if (dir)
        closedir(dir);
    return rc;
}

enum err_code exathena_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                                 void *arg, struct err *e)
{
    struct leftover_search l = { .x = exathena_of(st), .fn = fn, .arg = arg };
    enum err_code rc = exathena_in_scope(st, scope) ? note_logs(&l, e) : ERR_OK;

    if (!rc && l.logs.n > 0) {
        rc = exathena_search_dir(&l, l.x->jsonl.folder, e);
        if (!rc)
            rc = exathena_search_dir(&l, l.x->history, e);
    }
    idset_fini(&l.logs);
    idset_fini(&l.reported);
    arena_fini(&l.arena);
    return rc;
}
