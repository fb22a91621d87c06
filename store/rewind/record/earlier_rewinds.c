#include "store/rewind/record/records.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/rewind/plan/source.h"
#include "store/rewind/record/record.h"

/* The records of earlier rewinds show two things about the files of a plan: the state in which the newest rewind left a
 * file, and whether an unfinished rewind is still using it. */

enum { RECORDS_MAX = 100 }; /* how many records are read, the newest first */

/* The state in which the newest record left a file. */
struct left {
    struct rewind_target *target;
    bool known, proven, absent;
    uint8_t sha256[SHA256_BYTES];
};

struct known_state_scan {
    struct rewind_plan *plan;
    struct left *left; /* sorted by path */
    size_t open;       /* how many of them could still change */
    uint8_t dir_sha256[SHA256_BYTES];
};

static int compare_left_path(const void *x, const void *y)
{
    const struct left *a = x, *b = y;

    return strcmp(a->target->path, b->target->path);
}

static struct left *find_left(const struct known_state_scan *r, const char *path)
{
    struct rewind_target wanted = { .path = path };
    const struct left key = { .target = &wanted };

    return bsearch(&key, r->left, r->plan->n, sizeof *r->left, compare_left_path);
}

/* Notes that a record left a file like that. `saved` is set for what a rewind restored from a saved copy. */
static enum err_code note_left(struct known_state_scan *r, struct left *l, bool absent,
                               const uint8_t sha256[SHA256_BYTES], bool saved, struct err *e)
{
    char hex[SHA256_BYTES * 2 + 1];

    if (!l || l->proven)
        return ERR_OK;
    if (!l->known) {
        l->known = true;
        l->absent = absent;
        memcpy(l->sha256, sha256, SHA256_BYTES);
    }
    bool same = l->absent == absent && (absent || memcmp(l->sha256, sha256, SHA256_BYTES) == 0);

    if (!same || !saved)
        return ERR_OK;
    struct rewind_target *t = l->target;

    l->proven = true;
    r->open--;
    hasher_hex(l->sha256, hex);
    NEED(t->left_sha256 = arena_copy(&r->plan->arena, slice_of(hex)).p);
    t->has_left = true;
    t->left_absent = l->absent;
    return ERR_OK;
}

/* Also notes the directories that were made or removed with the file. `saved` is not set for the record of an undo. */
static enum err_code earlier_rewinds_note_entry(struct known_state_scan *r,
                                                const struct rewind_tx_entry *x, bool saved,
                                                struct err *e)
{
    const bool absent = x->action == REWIND_DELETE;

    if (x->outcome != REWIND_DONE || x->unknown)
        return ERR_OK;
    TRY(note_left(r, find_left(r, x->path), absent, x->wanted, saved && !x->mixed, e));

    size_t n = strlen(x->path);

    for (unsigned up = x->action == REWIND_RESTORE ? 0 : x->dirs; up > 0; up--) {
        while (n > 0 && x->path[n - 1] != '/')
            n--;
        AUTO_FREE char *dir = n > 1 ? strndup(x->path, --n) : NULL;

        if (n <= 1)
            break;
        NEED(dir);
        TRY(note_left(r, find_left(r, dir), absent, r->dir_sha256, saved, e));
    }
    return ERR_OK;
}

/* Outcomes are known once a record is committed; a rewind under way has none yet. */
static enum err_code note_record(const struct rewind_tx *tx, void *arg, bool *more, struct err *e)
{
    struct known_state_scan *r = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n && tx->phase >= TX_COMMITTED && r->open && !rc; i++)
        rc = earlier_rewinds_note_entry(r, &tx->entry[i], tx->undoes == NULL, e);
    *more = r->open > 0;
    return rc;
}

enum err_code rewind_plan_known_state(const struct store_env *env, struct rewind_plan *plan,
                                      struct err *e)
{
    AUTO_ARENA scratch = { 0 };
    struct known_state_scan r = { .plan = plan, .open = plan->n };

    if (plan->n == 0)
        return ERR_OK;
    TRY(source_dir_sha256(r.dir_sha256, e));
    NEED(r.left = arena_zalloc(&scratch, plan->n * sizeof *r.left));
    for (size_t i = 0; i < plan->n; i++)
        r.left[i].target = &plan->target[i];
    qsort(r.left, plan->n, sizeof *r.left, compare_left_path);
    return rewind_records_each(env, RECORDS_MAX, note_record, &r, e);
}

/* ---- files of unfinished rewinds ---- */

/* The paths of a plan, and for each the text that names the unfinished rewind that is using it, or
 * NULL. */
struct held_paths {
    struct rewind_plan *plan;
    struct slice_set paths;
    const char **why;
};

static enum err_code note_held(uint32_t path, const char *id, void *arg, struct err *e)
{
    struct held_paths *h = arg;

    h->why[path] = arena_format(&h->plan->arena, "an unfinished rewind is using it: %s", id);
    return h->why[path] ? ERR_OK : err_nomem(e);
}

static enum err_code hold_targets(const struct store_env *env, struct held_paths *h, struct err *e)
{
    struct rewind_plan *plan = h->plan;
    uint32_t number;

    h->why = arena_zalloc(&plan->arena, (plan->n + 1) * sizeof *h->why);
    if (!h->why)
        return err_nomem(e);
    for (size_t i = 0; i < plan->n; i++)
        if (slice_set_add(&h->paths, slice_of(plan->target[i].path), &number))
            return err_nomem(e);
    enum err_code rc = rewind_records_each_held(env, &h->paths, note_held, h, e);

    for (size_t i = 0; i < plan->n && !rc; i++) {
        struct rewind_target *t = &plan->target[i];
        const char *why = h->why[slice_set_find(&h->paths, slice_of(t->path))];

        if (!why)
            continue;
        t->want = REWIND_UNKNOWN;
        t->conflict = true;
        t->why = why;
    }
    return rc;
}

enum err_code rewind_plan_hold(const struct store_env *env, struct rewind_plan *plan, struct err *e)
{
    char dir[PATH_MAX];
    bool all = true;

    if (env_state_path(env, "rewinds", dir, NULL))
        return ERR_OK;

    /* For the first directory on the way that exists. */
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s", dir);
    for (plan->record_at = beneath_at(AT_FDCWD, path);
         !plan->record_at.dev && strrchr(path, '/') > path;
         plan->record_at = beneath_at(AT_FDCWD, path))
        *strrchr(path, '/') = '\0';

    if (rewind_records_are_done(dir, &all, NULL) || all)
        return ERR_OK;
    struct held_paths held = { .plan = plan };
    enum err_code rc = hold_targets(env, &held, e);

    slice_set_fini(&held.paths);
    return rc;
}
