#include "store/rewind/record/records.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/log/lease.h"

/* Removing the records of old rewinds. A record that goes first gets a name that no record has, in one step, so that
 * after a crash it is whole or none at all; what is left under such a name is removed by the next rewind. */

#define PRUNE_DAY_MS INT64_C(86400000)

static const char pruned_front[] = "pruned-";

/* ---- which ones ---- */

struct rewind_prune_rule rewind_prune_defaults(int64_t now_ms)
{
    enum { KEEP = 200, DAYS = 90, BYTES = 1 << 30 };

    return (struct rewind_prune_rule){
        .keep = KEEP, .before_ms = now_ms - DAYS * PRUNE_DAY_MS, .bytes = BYTES, .doubts = true
    };
}

/* The time that ages count from: the newest record's, because the clock may have jumped ahead since then, and for a day
 * after a gap of weeks that of the record before the gap. */
static int64_t prune_now(const struct rewind_records *list, int64_t now_ms)
{
    enum { GAP_DAYS = 45 };
    const struct rewind_record *r = list->record;

    for (size_t i = 0; i + 1 < list->n && now_ms - r[i].at_ms < PRUNE_DAY_MS; i++)
        if (r[i].at_ms - r[i + 1].at_ms > GAP_DAYS * PRUNE_DAY_MS)
            return r[i + 1].at_ms;
    return list->n && r[0].at_ms < now_ms ? r[0].at_ms : now_ms;
}

/* The newest record of a project stays, and so does one that is not finished, because its files or another program wait
 * for it. An undo stays as long as what it undid, which would otherwise count as not undone. */
static enum err_code keep_needed(const struct rewind_records *list, bool *goes, struct err *e)
{
    struct slice_set projects = { 0 }, kept = { 0 };
    struct arena a = { 0 };
    uint32_t number;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc; i++) { /* newest first */
        const struct rewind_record *r = &list->record[i];
        const char *place = r->project ? r->project
                                       : arena_format(&a, "%s %s", r->system ? r->system : "",
                                                      r->session ? r->session : "");
        size_t before = projects.n;

        if (!place || slice_set_add(&projects, slice_of(place), &number))
            rc = err_nomem(e);
        if (projects.n > before || r->interrupted)
            goes[i] = false;
    }
    for (size_t i = list->n; i-- > 0 && !rc;) { /* oldest first */
        const struct rewind_record *r = &list->record[i];

        if (r->undoes && slice_set_find(&kept, slice_of(r->undoes)) != SLICE_SET_NONE)
            goes[i] = false;
        if (!goes[i] && slice_set_add(&kept, slice_of(r->id), &number))
            rc = err_nomem(e);
    }
    slice_set_fini(&projects);
    slice_set_fini(&kept);
    arena_fini(&a);
    return rc;
}

/* ---- removing them ---- */

static int is_pruned(const struct dirent *d)
{
    return strncmp(d->d_name, pruned_front, sizeof pruned_front - 1) == 0;
}

enum err_code rewind_records_sweep_pruned(const char *dir, struct err *e)
{
    struct dirent **names;
    char path[TX_PATH_MAX];
    int n = scandir(dir, &names, is_pruned, alphasort);
    enum err_code rc = n >= 0 || errno == ENOENT ? ERR_OK : err_sys(e, dir, "read directory");

    for (int i = 0; i < n; i++) {
        rewind_tx_path(dir, names[i]->d_name, path);
        if (!rc)
            rc = copy_remove(path, e);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return rc;
}

/* The records that go, oldest first: an undo never goes before what it undid. */
static enum err_code record_prune_records(const char *dir, const struct rewind_records *list,
                                          const bool *goes, struct err *e)
{
    enum err_code rc = rewind_records_sweep_pruned(dir, e);

    for (size_t i = list->n; i-- > 0 && !rc;)
        if (goes[i]) {
            const char *id = list->record[i].id;
            char from[TX_PATH_MAX], to[TX_PATH_MAX], name[NAME_MAX + 1];

            snprintf(name, sizeof name, "%s%s", pruned_front, id);
            rewind_tx_path(dir, id, from);
            rewind_tx_path(dir, name, to);
            rc = rename(from, to) ? err_sys(e, from, "remove the record") : ERR_OK;
        }
    if (!rc)
        rc = disk_sync_dir(dir, e);
    return rc ? rc : rewind_records_sweep_pruned(dir, e);
}

enum err_code rewind_prune(const struct store_env *env, const struct rewind_prune_rule *rule,
                           bool dry_run, struct rewind_records *out, struct err *e)
{
    struct rewind_records list = { 0 };
    char dir[PATH_MAX];
    int lock = -1;
    bool *goes = NULL;
    size_t n = 0;
    enum err_code rc = dry_run ? ERR_OK : rewind_records_open(env, dir, &lock, e);

    /* Interrupted rewinds are finished first, because an unfinished record always stays. */
    if (!rc && !dry_run)
        rc = rewind_records_recover(env, dir, NULL, e);
    if (!rc)
        rc = rewind_records_read(env, &list, e);
    if (!rc && !(goes = calloc(list.n + 1, sizeof *goes)))
        rc = err_nomem(e);
    if (!rc) {
        const int64_t later = rule->doubts ? env->now_ms - prune_now(&list, env->now_ms) : 0;
        int64_t bytes = 0;

        for (size_t i = 0; i < list.n; i++) {
            const struct rewind_record *r = &list.record[i];

            bytes += r->bytes;
            const bool many = i >= rule->keep;
            const bool old = r->at_ms < rule->before_ms - later;
            const bool large = bytes > rule->bytes;

            goes[i] = rule->each ? many && old && large : many || old || large;
        }
        rc = keep_needed(&list, goes, e);
    }
    if (!rc && !dry_run)
        rc = record_prune_records(dir, &list, goes, e);

    /* The caller gets the records that go. */
    for (size_t i = 0; i < list.n && goes; i++)
        if (goes[i])
            list.record[n++] = list.record[i];
    list.n = n;
    free(goes);
    log_lock_release(lock);
    if (rc)
        rewind_records_fini(&list);
    else
        *out = list;
    return rc;
}
