#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/slice.h"
#include "store/log/logfile.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/saved_files.h"

/* What is wrong with a log and with what lies beside it. */

struct checking {
    const struct session_ref *ref;
    const char *path;
    finding_fn *fn;
    void *arg;
};

static enum err_code report_log_damage(const struct checking *k, enum finding_kind kind,
                                       const char *why, struct err *e)
{
    struct finding f = { .kind = kind, .session = k->ref->id, .path = k->path, .why = why };

    return k->fn(&f, k->arg, e);
}

static enum err_code report_log_line(const struct checking *k, enum finding_kind kind,
                                     const struct index *ix, size_t line, const char *why,
                                     struct err *e)
{
    struct finding f = { .kind = kind,
                         .session = k->ref->id,
                         .path = k->path,
                         .line = (int64_t)line + 1,
                         .offset = ix->line[line].offset,
                         .why = why,
                         .fixable = kind == FINDING_TORN_TAIL };

    return k->fn(&f, k->arg, e);
}

static int compare_line_id(const void *a, const void *b)
{
    const struct index_line *const *x = a, *const *y = b;

    if ((*x)->id.hi != (*y)->id.hi)
        return (*x)->id.hi < (*y)->id.hi ? -1 : 1;
    if ((*x)->id.lo != (*y)->id.lo)
        return (*x)->id.lo < (*y)->id.lo ? -1 : 1;
    return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

static enum err_code check_ids(const struct checking *k, const struct index *ix, struct err *e)
{
    struct arena a = { 0 };
    const struct index_line **list = arena_alloc(&a, (ix->n + 1) * sizeof(struct index_line *));
    size_t n = 0;
    enum err_code rc = ERR_OK;

    if (!list)
        return err_nomem(e);
    for (size_t i = 0; i < ix->n; i++)
        if (ix->line[i].state == LINE_OK && !id128_none(ix->line[i].id))
            list[n++] = &ix->line[i];
    if (n)
        qsort(list, n, sizeof(struct index_line *), compare_line_id);
    for (size_t i = 1; i < n && !rc; i++)
        if (id128_eq(list[i]->id, list[i - 1]->id))
            rc =
                report_log_line(k, FINDING_DUPLICATE_ID, ix, (size_t)(list[i] - ix->line),
                                "an event before it has the same uuid: a rewind means that one", e);
    arena_fini(&a);
    return rc;
}

static enum err_code check_lines(const struct checking *k, const atomic_bool *cancel, struct err *e)
{
    struct logfile log;
    enum err_code rc = logfile_open(&log, k->path, 0, &exathena_keys, cancel, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < log.index.n && !rc; i++) {
        bool torn = log.index.torn_tail && i + 1 == log.index.n;

        if (torn)
            rc = report_log_line(k, FINDING_TORN_TAIL, &log.index, i,
                                 log.index.line[i].state == LINE_BROKEN
                                     ? "unfinished write: the last line is cut and has no newline"
                                     : "the last line has no newline",
                                 e);
        else if (log.index.line[i].state == LINE_BROKEN)
            rc = report_log_line(k, FINDING_BROKEN_LINE, &log.index, i, "not a JSON object", e);
    }
    if (!rc)
        rc = check_ids(k, &log.index, e);
    logfile_close(&log);
    return rc;
}

static enum err_code check_files(const struct exathena *x, struct checking *k, struct err *e)
{
    struct arena a = { 0 };
    struct saved_files saved;
    enum err_code rc = saved_files_read(x, k->ref->id, &a, &saved, e);

    for (size_t i = 0; !rc && i < saved.n; i++) {
        k->path = saved.file[i].dir;
        if (saved.file[i].why)
            rc = report_log_damage(
                k, saved.file[i].first ? FINDING_WRONG_BACKUP : FINDING_MISSING_BACKUP,
                saved.file[i].why, e);
        if (!rc && saved.file[i].strange)
            rc = report_log_damage(
                k, FINDING_WRONG_BACKUP,
                "names that are no versions: the library saves this file no more", e);
    }
    arena_fini(&a);
    return rc;
}

enum err_code exathena_check(const struct store *st, const struct session_ref *ref,
                             const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct checking k = { .ref = ref, .path = ref->path.p, .fn = fn, .arg = arg };
    enum err_code rc = check_lines(&k, cancel, e);

    return rc ? rc : check_files(exathena_of(st), &k, e);
}

/* ---- what belongs to no session ---- */

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

/* A log whose name cannot be an id is shown by no list. */
static enum err_code check_log_name(const struct exathena *x, const char *name, finding_fn *fn,
                                    void *arg, struct err *e)
{
    size_t n = strlen(name), suffix = sizeof EXATHENA_SUFFIX - 1;
    struct arena a = { 0 };
    struct finding f = { .kind = FINDING_UNREADABLE, .why = "its name cannot be a session's id" };
    enum err_code rc = ERR_OK;

    if (n < suffix || strcmp(name + n - suffix, EXATHENA_SUFFIX) != 0 ||
        exathena_is_id((struct slice){ name, n - suffix }))
        return ERR_OK;
    f.path = arena_format(&a, "%s/%s", x->sessions, name);
    rc = f.path ? fn(&f, arg, e) : err_nomem(e);
    arena_fini(&a);
    return rc;
}

enum err_code exathena_check_store(const struct store *st, const struct scope *scope,
                                   finding_fn *fn, void *arg, struct err *e)
{
    const struct exathena *x = exathena_of(st);
    struct dirent *entry;
    enum err_code rc = ERR_OK;
    struct leftover_report telling = { fn, arg };
    DIR *dir = opendir(x->sessions);

    while (dir && !rc && (entry = readdir(dir)))
        rc = check_log_name(x, entry->d_name, fn, arg, e);
    if (dir)
        closedir(dir);
    if (!rc && dir) /* where the logs cannot be looked at, none is known to be gone */
        rc = exathena_leftovers(st, scope, report_left, &telling, e);
    return rc;
}
