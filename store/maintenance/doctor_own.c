#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/journal/change_internal.h"
#include "store/journal/record.h"
#include "store/keep/keep.h"
#include "store/log/lease.h"
#include "store/maintenance/doctor.h"
#include "store/maintenance/trash.h"
#include "store/rewind/record/record.h"

/* ---- a list of findings ---- */

enum err_code doctor_list_add(const struct finding *f, void *arg, struct err *e)
{
    struct finding_list *list = arg;
    struct finding *more = arena_grow(&list->arena, list->finding, list->n, sizeof *more);
    struct finding copy = *f;

    copy.session = arena_copy(&list->arena, f->session.p ? f->session : SLICE(""));
    copy.path = arena_format(&list->arena, "%s", f->path);
    copy.why = arena_format(&list->arena, "%s", f->why);
    copy.repair = f->repair ? arena_format(&list->arena, "%s", f->repair) : NULL;
    if (!more || !copy.session.p || !copy.path || !copy.why || (f->repair && !copy.repair))
        return err_nomem(e);
    list->finding = more;
    list->finding[list->n++] = copy;
    return ERR_OK;
}

/* Examines the operation log, the records of rewinds and the trash without opening them, because opening recovers. */

/* Examines one entry of a directory. f has its path; if something is wrong, f->why is set. */
typedef enum err_code entry_fn(const char *path, const char *name, struct finding *f,
                               struct err *e);

static bool has_file(const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path &&
           lstat(path, &st) == 0;
}

/* Records of another user are never executed. */
static bool is_others(const char *path, struct finding *f)
{
    if (disk_check_own(path, NULL) != ERR_UNSAFE)
        return false;
    f->why = "it belongs to another user, and is not used";
    return true;
}

/* ---- the operation log ---- */

static enum err_code look_at_append(const char *path, const char *name, struct finding *f,
                                    struct err *e)
{
    char above[PATH_MAX];
    int n = (int)(strlen(path) - strlen(name));

    (void)e;
    if ((size_t)snprintf(above, sizeof above, "%.*s", n, path) < sizeof above &&
        log_lock_is_held(above))
        return ERR_OK; /* still in progress */
    f->kind = FINDING_UNFINISHED_CHANGE;
    f->why = "an interrupted append; it will be undone";
    f->fixable = true;
    return ERR_OK;
}

static enum err_code look_at_change(const char *path, const char *name, struct finding *f,
                                    struct err *e)
{
    const char *dot = strchr(name, '.');
    struct change *c;

    f->kind = FINDING_DAMAGED_CHANGE;
    if (is_others(path, f))
        return ERR_OK;
    if (dot && strcmp(dot, CHANGE_INTENT_SUFFIX) == 0) {
        f->kind = FINDING_UNFINISHED_CHANGE;
        f->why = "an interrupted change, or one in progress; it will be undone once its "
                 "store is there, can be written, and no lock file of a killed git is left in it";
        f->fixable = true;
        return ERR_OK;
    }
    enum err_code rc = change_record_read(path, &c, NULL);

    if (rc == ERR_OK)
        change_free(c);
    else if (rc == ERR_NOMEM)
        return err_nomem(e);
    else
        f->why = "its record cannot be read: this change cannot be undone";
    f->kind = FINDING_DAMAGED_CHANGE;
    return ERR_OK;
}

/* ---- rewinds ---- */

static enum err_code look_at_rewind(const char *path, const char *name, struct finding *f,
                                    struct err *e)
{
    struct rewind_tx tx;
    enum err_code rc = rewind_tx_read(path, name, &tx, NULL);
    bool unfinished = rc == ERR_NOT_FOUND || (!rc && tx.phase < TX_DONE);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (unfinished) {
        f->kind = FINDING_UNFINISHED_REWIND;
        f->why = !rc && tx.phase >= TX_INTENT
                     ? "an interrupted rewind; it will be finished (reprise rewinds shows "
                       "what it waits for)"
                     : "a rewind interrupted before it changed anything; it will be discarded";
        f->fixable = true;
    } else if (rc) {
        f->kind = FINDING_DAMAGED_REWIND;
        f->why = rewind_tx_check_own(path, NULL) == ERR_UNSAFE
                     ? "it belongs to another user, in whole or in part, and is not used"
                     : "its record cannot be read: this rewind cannot be undone";
    }
    if (!rc)
        rewind_tx_fini(&tx);
    return ERR_OK;
}

/* ---- the trash ---- */

static bool doctor_own_is_empty_dir(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *d;
    bool empty = dir != NULL;

    while (dir && (errno = 0, d = readdir(dir)))
        empty &= strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0;
    empty = empty && !errno;
    if (dir)
        closedir(dir);
    return empty;
}

static enum err_code look_at_batch(const char *path, const char *name, struct finding *f,
                                   struct err *e)
{
    struct trash_list list = { 0 };

    f->kind = FINDING_DAMAGED_TRASH;
    if (is_others(path, f))
        return ERR_OK;
    enum err_code rc = trash_info_read(path, name, &list, NULL);

    trash_list_fini(&list);
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    /* A batch that was restored completely is an empty directory. */
    if (rc && !doctor_own_is_empty_dir(path))
        f->why = has_file(path, "info")
                     ? "the list of what was deleted cannot be read; the files are still there"
                     : "the list of what was deleted is gone; the files are still there";
    return ERR_OK;
}

/* ---- together ---- */

static enum err_code doctor_own_look_in(const char *dir, entry_fn *look, struct finding_list *list,
                                        struct err *e)
{
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort);
    enum err_code rc = ERR_OK;

    if (n < 0)
        return errno == ENOENT || errno == ENOTDIR ? ERR_OK : err_sys(e, dir, "read directory");
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        struct finding f = { .why = NULL };

        if (!rc && name[0] >= '0' && name[0] <= '9') {
            f.path = arena_format(&list->arena, "%s/%s", dir, name);
            rc = f.path ? look(f.path, name, &f, e) : err_nomem(e);
        }
        if (!rc && f.why)
            rc = doctor_list_add(&f, list, e);
        free(names[i]);
    }
    free(names);
    return rc;
}

/* The record is now finished or discarded, or it names what it waits for. */
static void recheck_record(struct finding *f, const struct rewind_recovery *r, struct arena *a)
{
    const char *id = strrchr(f->path, '/') + 1;

    f->fixed = true;
    for (size_t i = 0; i < r->waiting && i < REWIND_WAITING_MAX; i++) {
        const struct rewind_waiting *w = &r->first[i];
        char why[400];

        if (strcmp(w->id, id) != 0)
            continue;
        f->fixed = false;
        err_format(&w->why, why, sizeof why);
        const char *text = arena_format(
            a,
            "a rewind that cannot be finished yet: %s; to abandon it: reprise rewinds abandon %s",
            why, id);

        f->why = text ? text : f->why;
    }
}

/* Opening the logs recovers them; what remains afterwards could not be completed. */
static void fix(const struct doctor *d, struct finding_list *list)
{
    struct change_log *log;
    struct rewind_recovery r;
    bool changes = change_log_open(d->env, &log, NULL) == ERR_OK;
    bool rewinds = rewind_recover_all(d->env, &r, NULL) == ERR_OK;

    if (changes)
        change_log_close(log);
    rewinds = rewinds && r.waiting <= REWIND_WAITING_MAX;
    for (size_t i = 0; i < list->n; i++) {
        struct finding *f = &list->finding[i];
        bool there;

        if (f->kind == FINDING_UNFINISHED_CHANGE)
            f->fixed = changes && !file_at_stat(f->path, &there, NULL, NULL) && !there;
        else if (f->kind == FINDING_UNFINISHED_REWIND && rewinds)
            recheck_record(f, &r, &list->arena);
    }
}

enum err_code doctor_own(const struct doctor *d, finding_fn *fn, void *arg, struct err *e)
{
    struct finding_list list = { 0 };
    bool fixable = false;

    /* Each kind of record has a directory of its own. */
    const struct {
        const char *base, *name;
        entry_fn *look;
    } places[] = {
        { d->env->state_dir, "changes", look_at_change },
        { d->env->state_dir, "appends", look_at_append },
        { d->env->state_dir, "rewinds", look_at_rewind },
        { d->env->data_dir, "trash", look_at_batch },
    };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < sizeof places / sizeof *places && !rc; i++) {
        const char *dir = places[i].base
                              ? arena_format(&list.arena, "%s/%s", places[i].base, places[i].name)
                              : NULL;

        if (dir)
            rc = doctor_own_look_in(dir, places[i].look, &list, e);
        else if (places[i].base)
            rc = err_nomem(e);
    }

    if (!rc)
        rc = keep_verify(d->env, fn, arg, e);
    for (size_t i = 0; i < list.n; i++)
        fixable |= list.finding[i].fixable;
    if (!rc && d->fix && fixable)
        fix(d, &list);
    for (size_t i = 0; i < list.n && !rc; i++)
        rc = fn(&list.finding[i], arg, e);
    arena_fini(&list.arena);
    return rc;
}
