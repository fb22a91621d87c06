#include "store/rewind/record/records.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/journal/record_index.h"
#include "store/log/lease.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/record.h"

/* ---- the records on disk ---- */

static int is_record(const struct dirent *d)
{
    return d->d_name[0] >= '0' && d->d_name[0] <= '9';
}

/* Sorted by time. A missing directory has no records. */
static enum err_code list_record_names(const char *dir, struct dirent ***names, int *n,
                                       struct err *e)
{
    enum err_code rc = disk_check_own(dir, e);

    *names = NULL;
    *n = rc ? 0 : scandir(dir, names, is_record, alphasort);
    if (*n >= 0)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    *names = NULL;
    *n = 0;
    return errno == ENOENT ? ERR_OK : err_sys(e, dir, "read directory");
}

static void names_free(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* A record that is being made has no plan yet, and a damaged one is left alone: *sound is false. But running out of
 * memory is an error. */
static enum err_code record_records_read_one(const char *dir, const char *name,
                                             struct rewind_tx *tx, bool *sound, struct err *e)
{
    enum err_code rc = rewind_tx_read_in(dir, name, tx, e);

    *sound = rc == ERR_OK;
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

/* A finished record is never changed again. */
static bool is_finished(const char *dir, const char *name)
{
    char record[TX_PATH_MAX], done[TX_PATH_MAX];

    rewind_tx_path(dir, name, record);
    rewind_tx_path(record, "done", done);
    return access(done, F_OK) == 0;
}

/* Another user's record, which does not even count as a damaged one of ours. */
static bool record_records_is_others(const char *dir, const char *name)
{
    char path[TX_PATH_MAX];

    rewind_tx_path(dir, name, path);
    return rewind_tx_check_own(path, NULL) == ERR_UNSAFE;
}

static enum err_code each_record(const struct store_env *env, bool unfinished, size_t most,
                                 rewind_records_fn *fn, void *arg, struct err *e)
{
    char dir[PATH_MAX];
    struct dirent **names;
    bool more = true, sound;
    int n;

    if (env_state_path(env, "rewinds", dir, NULL) || list_record_names(dir, &names, &n, NULL))
        return ERR_OK;
    enum err_code rc = ERR_OK;

    for (int i = n - 1; i >= 0 && (size_t)(n - i) <= most && more && !rc; i--) {
        struct rewind_tx tx;

        if (unfinished && is_finished(dir, names[i]->d_name))
            continue;
        rc = record_records_read_one(dir, names[i]->d_name, &tx, &sound, e);
        if (!sound)
            continue;
        rc = fn(&tx, arg, &more, e);
        rewind_tx_fini(&tx);
    }
    names_free(names, n);
    return rc;
}

enum err_code rewind_records_each(const struct store_env *env, size_t most, rewind_records_fn *fn,
                                  void *arg, struct err *e)
{
    return each_record(env, false, most, fn, arg, e);
}

struct held_search {
    const struct slice_set *paths;
    rewind_records_held_fn *fn;
    void *arg;
};

static enum err_code find_held(const struct rewind_tx *tx, void *arg, bool *more, struct err *e)
{
    const struct held_search *h = arg;
    enum err_code rc = ERR_OK;

    *more = true;
    for (size_t i = 0; i < tx->n && tx->phase < TX_DONE && !rc; i++) {
        uint32_t path = slice_set_find(h->paths, slice_of(tx->entry[i].path));

        if (path != SLICE_SET_NONE)
            rc = h->fn(path, tx->id, h->arg, e);
    }
    return rc;
}

enum err_code rewind_records_each_held(const struct store_env *env, const struct slice_set *paths,
                                       rewind_records_held_fn *fn, void *arg, struct err *e)
{
    struct held_search h = { .paths = paths, .fn = fn, .arg = arg };

    return each_record(env, true, SIZE_MAX, find_held, &h, e);
}

/* ---- recovery ---- */

/* Removes the record's own temporary files, which nothing would look for afterwards. */
static enum err_code sweep_record(const char *dir, struct err *e)
{
    static const char *const places[] = { "old", "undo", "talk" };
    char path[TX_PATH_MAX];
    bool clean = disk_new_sweep(dir);

    for (size_t i = 0; i < sizeof places / sizeof *places && clean; i++) {
        rewind_tx_path(dir, places[i], path);
        clean = disk_new_sweep(path);
    }
    if (!clean)
        return err_sys(e, dir, "remove temporary files");
    return ERR_OK;
}

/* A record that was abandoned and then interrupted is finished without completing the rewind. */
static enum err_code finish_record(const struct store_env *env, struct rewind_tx *tx,
                                   enum rollback *how, struct err *e)
{
    if (tx->abandoned)
        return rewind_tx_abandon(tx, NULL, NULL, e);

    if (tx->phase >= TX_INTENT)
        return rewind_tx_finish(tx, e);
    struct change_log *log = NULL;
    enum err_code rc =
        tx->conversation.how == CONVERSATION_NONE ? ERR_OK : change_log_open(env, &log, e);

    if (!rc)
        rc = rewind_tx_roll_back(tx, how, e);
    change_log_close(log);
    return rc;
}

static enum err_code recover_one(const struct store_env *env, const char *dir, const char *name,
                                 size_t *recovered, struct err *e)
{
    char path[TX_PATH_MAX];
    struct rewind_tx tx;

    rewind_tx_path(dir, name, path);
    enum err_code rc = rewind_tx_read(path, name, &tx, e);

    if (rc == ERR_NOT_FOUND) { /* the crash came before the plan, so there are no temporary files */
        *recovered += 1;
        return copy_remove(path, e);
    }
    if (rc)
        return rc == ERR_FORMAT ? ERR_OK
                                : rc; /* a record that cannot be understood is not acted on */
    if (tx.phase < TX_DONE) {
        enum rollback how = ROLLBACK_DONE;

        rc = sweep_record(path, e);
        if (!rc)
            rc = finish_record(env, &tx, &how, e);
        *recovered += !rc && how != ROLLBACK_RETRY;
    }
    rewind_tx_fini(&tx);
    return rc;
}

enum err_code rewind_records_recover(const struct store_env *env, const char *dir,
                                     struct rewind_recovery *out, struct err *e)
{
    struct dirent **names;
    int n;
    enum err_code rc = list_record_names(dir, &names, &n, e);

    size_t recovered = 0;

    if (out)
        *out = (struct rewind_recovery){ .recovered = 0 };
    for (int i = 0; i < n; i++) { /* one that cannot be finished yet does not block the others */
        struct err why = { 0 };

        if (is_finished(dir, names[i]->d_name))
            continue;
        if (recover_one(env, dir, names[i]->d_name, &recovered, &why) && out) {
            const char *name = names[i]->d_name;

            if (out->waiting < REWIND_WAITING_MAX) {
                struct rewind_waiting *w = &out->first[out->waiting];

                snprintf(w->id, sizeof w->id, "%.39s", name);
                w->why = why;
            }
            out->waiting++;
        }
    }
    if (out)
        out->recovered = recovered;
    names_free(names, n);
    (void)!rewind_records_sweep_pruned(dir, NULL); /* otherwise next time */
    return rc ? err_wrap(e, rc, "finish an interrupted rewind") : ERR_OK;
}

enum err_code rewind_records_are_done(const char *dir, bool *all, struct err *e)
{
    struct dirent **names;
    int n;
    enum err_code rc = list_record_names(dir, &names, &n, e);

    *all = rc == ERR_OK;
    for (int i = 0; i < n && *all; i++)
        *all = is_finished(dir, names[i]->d_name);
    names_free(names, n);
    return rc;
}

enum err_code rewind_recover_all(const struct store_env *env, struct rewind_recovery *out,
                                 struct err *e)
{
    char dir[PATH_MAX];
    struct stat st;
    bool all;
    int lock;

    *out = (struct rewind_recovery){ .recovered = 0 };
    if (env_state_path(env, "rewinds", dir, NULL))
        return ERR_OK;  /* no place for records, so no records */
    if (stat(dir, &st)) /* never rewound: nothing is written just to find that out */
        return errno == ENOENT ? ERR_OK : err_sys(e, dir, "look for interrupted rewinds");
    enum err_code rc = rewind_records_are_done(dir, &all, e);

    all = all && !(st.st_mode & 0022);
    if (!rc && !all)
        rc = rewind_records_open(env, dir, &lock, e);
    if (rc || all)
        return rc;
    rc = rewind_records_recover(env, dir, out, e);
    log_lock_release(lock);
    return rc;
}

enum err_code rewind_recover(const struct store_env *env, size_t *recovered, struct err *e)
{
    struct rewind_recovery r;
    enum err_code rc = rewind_recover_all(env, &r, e);

    *recovered = r.recovered;
    if (rc || !r.waiting)
        return rc;
    if (e)
        *e = r.first[0].why;
    return err_wrap(e, r.first[0].why.code, "finish an interrupted rewind");
}

/* ---- listing ---- */

enum { SIZE_GROWS = -1 }; /* a program may be writing to a file in the record */

static int64_t record_records_size_of(const char *path, bool *grows)
{
    char copy[TX_PATH_MAX];
    char *roots[] = { copy, NULL };
    int64_t bytes = 0;
    FTSENT *f;

    *grows = false;
    snprintf(copy, sizeof copy, "%s", path);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    while (fts && (f = fts_read(fts)))
        if (f->fts_info == FTS_F) {
            bytes += f->fts_statp->st_size;
            *grows = *grows || strchr(f->fts_name, '.');
        }
    if (fts)
        fts_close(fts);
    return bytes;
}

/* Finished records are read from the index if it has them. *bytes is the size of the record, or SIZE_GROWS. */
static enum err_code record_records_read_listed(struct record_index *ix, const char *dir,
                                                const char *name, struct rewind_tx *tx,
                                                int64_t *bytes, bool *sound, struct err *e)
{
    char path[TX_PATH_MAX], stamp[RECORD_STAMP] = "";
    struct slice text;
    struct buf brief = { 0 };
    bool grows;

    *bytes = SIZE_GROWS;
    rewind_tx_path(dir, name, path);
    *sound = ix && record_index_find(ix, name, stamp, &text) &&
             rewind_tx_brief_read(text, path, name, tx, bytes);
    if (*sound)
        return ERR_OK;
    TRY(record_records_read_one(dir, name, tx, sound, e));
    if (*sound && stamp[0] && tx->phase == TX_DONE) {
        *bytes = record_records_size_of(path, &grows);
        *bytes = grows ? SIZE_GROWS : *bytes;
        if (!rewind_tx_brief_write(tx, *bytes, &brief))
            record_index_add(ix, name, stamp, buf_slice(&brief));
        buf_fini(&brief);
    }
    return ERR_OK;
}

static bool record_records_add_record(struct rewind_records *list, struct undone *undone,
                                      const struct rewind_tx *tx, int64_t bytes)
{
    struct rewind_record *r = &list->record[list->n];
    struct arena *a = &list->arena;

    *r = (struct rewind_record){ .id = arena_copy_text(a, tx->id),
                                 .system = arena_copy_text(a, tx->system),
                                 .session = arena_copy_text(a, tx->session),
                                 .point = arena_copy_text(a, tx->point),
                                 .undoes = arena_copy_text(a, tx->undoes),
                                 .store = arena_copy_text(a, tx->store),
                                 .title = arena_copy_text(a, tx->title),
                                 .project = arena_copy_text(a, tx->project),
                                 .at_ms = tx->at_ms,
                                 .bytes = bytes,
                                 .how = tx->conversation.how,
                                 .kept = tx->conversation.kept,
                                 .dropped = tx->conversation.dropped,
                                 .cut_short = tx->cut_short,
                                 .abandoned = tx->abandoned,
                                 .interrupted = tx->phase < TX_DONE };
    r->empty = tx->phase == TX_DONE && tx->conversation.how == CONVERSATION_NONE;

    /* The outcomes are in the record of the commit, so they are not known before it. */
    for (size_t i = 0; i < tx->n && tx->phase >= TX_COMMITTED; i++) {
        const struct rewind_tx_entry *x = &tx->entry[i];
        enum rewind_action did =
            x->outcome == REWIND_DONE && !x->unknown ? x->action : REWIND_UNCHANGED;

        r->empty = r->empty && x->outcome != REWIND_DONE;

        r->restored += did == REWIND_RESTORE;
        r->created += did == REWIND_CREATE;
        r->deleted += did == REWIND_DELETE;
    }
    list->n++;
    return rewind_undone_mark(undone, tx, r) && !a->failed;
}

enum { FEW = 64 }; /* so many records are read without the index */

/* With `sizes`, how large each is. The newest `most` are read, and none that is older than the one with an id (NULL: that
 * makes no difference). */
static enum err_code record_records_read_records(const struct store_env *env, bool sizes,
                                                 size_t most, const char *until,
                                                 struct rewind_records *out, struct err *e)
{
    static const char *const parts[] = { "plan", "commit", "old", "undo" };
    char dir[PATH_MAX];
    struct dirent **names = NULL;
    struct rewind_records list = { 0 };
    struct undone undone = { .arena = &list.arena };
    struct record_index index, *ix = NULL;
    int n = 0;
    enum err_code rc = env_state_path(env, "rewinds", dir, e);

    if (!rc)
        rc = list_record_names(dir, &names, &n, e);

    if (!rc) {
        list.record = arena_zalloc(&list.arena, sizeof *list.record * ((size_t)n + 1));
        rc = list.record ? ERR_OK : err_nomem(e);
    }
    if (!rc && n > FEW && most > FEW) {
        ix = &index;
        record_index_open(ix, dir, parts, sizeof parts / sizeof *parts);
    }
    for (int i = n - 1; i >= 0 && !rc; i--) {
        bool older = until && strcmp(names[i]->d_name, until) < 0;

        struct rewind_tx tx;
        int64_t bytes;
        bool sound, grows;

        if (older || (size_t)(n - i) > most) {
            list.older = true;
            break;
        }

        rc = record_records_read_listed(ix, dir, names[i]->d_name, &tx, &bytes, &sound, e);
        if (!sound) {
            /* The newest damaged record is reported; one of another user is not. */
            if (!list.unread[0] && !record_records_is_others(dir, names[i]->d_name))
                snprintf(list.unread, sizeof list.unread, "%.39s", names[i]->d_name);
            continue;
        }
        if (bytes == SIZE_GROWS)
            bytes = sizes ? record_records_size_of(tx.dir, &grows) : 0;
        if (!record_records_add_record(&list, &undone, &tx, sizes ? bytes : 0))
            rc = err_nomem(e);
        rewind_tx_fini(&tx);
    }
    if (ix)
        record_index_close(ix);
    names_free(names, n);
    if (rc)
        rewind_records_fini(&list);
    else
        *out = list;
    return rc;
}

enum err_code rewind_records_read(const struct store_env *env, struct rewind_records *out,
                                  struct err *e)
{
    return record_records_read_records(env, true, SIZE_MAX, NULL, out, e);
}

enum err_code rewind_records_read_newest(const struct store_env *env, size_t most,
                                         const char *until, struct rewind_records *out,
                                         struct err *e)
{
    return record_records_read_records(env, false, most, until, out, e);
}

void rewind_records_fini(struct rewind_records *r)
{
    arena_fini(&r->arena);
    *r = (struct rewind_records){ 0 };
}

/* ---- giving up a waiting rewind ---- */

static enum err_code add_left(const char *path, void *arg, struct err *e)
{
    struct rewind_abandoned *a = arg;
    const char **left = arena_grow(&a->arena, a->remaining, a->n, sizeof *left);
    const char *kept = arena_copy(&a->arena, slice_of(path)).p;

    if (!left || !kept)
        return err_nomem(e);
    a->remaining = left;
    a->remaining[a->n++] = kept;
    return ERR_OK;
}

/* The change of the conversation is undone, or stays in the record, like the files. */
static enum err_code abandon_conversation(const struct store_env *env, struct rewind_tx *tx,
                                          struct err *e)
{
    struct change_log *log;
    enum rollback how = ROLLBACK_DONE;

    TRY(change_log_open(env, &log, e));
    enum err_code rc = rewind_tx_conversation_undo(tx, &how, NULL);

    change_log_close(log);
    if (!rc && how == ROLLBACK_RETRY)
        return err_set(e, ERR_LOCKED, tx->session,
                       "abandon a rewind: a program has its session open");
    if (!rc && how == ROLLBACK_DONE)
        tx->conversation.how = CONVERSATION_NONE;
    else
        tx->cut_short = true;
    return rewind_tx_write_plan(tx, e);
}

static enum err_code abandon_one(const struct store_env *env, const char *dir, const char *id,
                                 struct rewind_abandoned *out, struct err *e)
{
    char path[TX_PATH_MAX];
    struct rewind_tx tx;

    rewind_tx_path(dir, id, path);
    enum err_code rc = rewind_tx_read(path, id, &tx, e);

    if (rc)
        return rc;
    if (tx.phase == TX_DONE)
        rc = err_set(e, ERR_STALE, id, "abandon a rewind: it is finished; use undo");
    else if (tx.phase < TX_INTENT && tx.conversation.how != CONVERSATION_NONE)
        rc = abandon_conversation(env, &tx, e);
    if (!rc)
        rc = sweep_record(path, e);
    if (!rc)
        rc = rewind_tx_abandon(&tx, add_left, out, e);
    rewind_tx_fini(&tx);
    return rc;
}

enum err_code rewind_abandon(const struct store_env *env, const char *id,
                             struct rewind_abandoned *out, struct err *e)
{
    struct rewind_abandoned a = { .n = 0 };
    char dir[PATH_MAX];
    int lock;

    /* The name of a record is not a path. */
    if (id[0] < '0' || id[0] > '9' || strchr(id, '/'))
        return err_set(e, ERR_NOT_FOUND, "", "no rewind has the id \"%.64s\"; see reprise rewinds",
                       id);
    TRY(rewind_records_open(env, dir, &lock, e));
    enum err_code rc = rewind_records_recover(env, dir, NULL, e);

    if (!rc)
        rc = abandon_one(env, dir, id, &a, e);
    log_lock_release(lock);
    if (rc)
        rewind_abandoned_fini(&a);
    else
        *out = a;
    return rc;
}

void rewind_abandoned_fini(struct rewind_abandoned *a)
{
    arena_fini(&a->arena);
    *a = (struct rewind_abandoned){ 0 };
}
