#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/path.h"
#include "store/fs/span.h"
#include "store/git/repo.h"
#include "store/journal/change.h"
#include "store/journal/record.h"
#include "store/log/lease.h"
#include "store/proc/live.h"
#include "store/rewind/apply/entry_files.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"
#include "store/rewind/record/record.h"
#include "store/rewind/record/records.h"

/* ---- the plan of a transaction ---- */

static uint32_t mode_of(const struct rewind_entry *from)
{
    const uint32_t kind = from->target->source.kind;

    if (S_ISLNK(kind))
        return kind;
    if (from->target->has_mode)
        return kind | (from->target->mode & 07777);
    return from->seen.exists && (from->seen.mode & S_IFMT) == kind ? from->seen.mode
           : S_ISDIR(kind)                                         ? kind | 0755
                                                                   : 0644;
}

/* Records the attributes of a deleted file and of the directories that are removed with it. */
static enum err_code record_deleted_attrs(struct rewind_tx *tx, struct reach *reach,
                                          struct rewind_tx_entry *x, struct err *e)
{
    const char *name;
    int dir;
    enum err_code rc = entry_reach_dir(reach, x, &dir, &name, e);

    if (rc)
        return rc;
    if (S_ISLNK(x->seen.mode)) {
        rc = rewind_tx_link_attrs(x, dir, name, e);
        close(dir);
        return rc ? rc : rewind_tx_record_dirs(tx, x, e);
    }
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    close(dir);
    if (fd < 0)
        return rewind_tx_open_error(x, e);
    rc = fs_attrs_get(fd, &tx->arena, x->path, &x->was, e);
    close(fd);
    return rc || x->action != REWIND_DELETE ? rc : rewind_tx_record_dirs(tx, x, e);
}

static enum err_code add_tx_entry(struct rewind_tx *tx, const struct rewind_entry *from,
                                  struct err *e)
{
    const char *root = tx->root_id ? tx->project : NULL; /* NULL if it is gone */
    struct rewind_tx_entry *x = &tx->entry[tx->n++];
    char *path = arena_format(&tx->arena, "%s", from->target->path);

    if (!path)
        return err_nomem(e);
    bool inside = root && path_under(slice_of(path), slice_of(root));

    *x =
        (struct rewind_tx_entry){ .path = path,
                                  .root = inside ? root : "/",
                                  .root_id = inside ? tx->root_id : NULL,
                                  .action = from->action,
                                  .mode_only = from->mode_only,
                                  .mixed = from->target->mixed,
                                  .adopts = from->action == REWIND_DELETE || from->mode_only
                                                ? NULL
                                                : arena_copy_text(&tx->arena, from->target->adopts),
                                  .mode = mode_of(from),
                                  .mtime_ns =
                                      from->target->has_mtime ? from->target->mtime_ns : MTIME_NOW,
                                  .dirs = from->target->prune,
                                  .seen = from->seen };
    memcpy(x->wanted, from->wanted, SHA256_BYTES);
    if (from->target->exact)
        tx->version = TX_VERSION;

    /* Counts the missing directories above the path, because an undo removes as many. The path is
     * cut and restored. */
    if (x->action != REWIND_CREATE)
        return ERR_OK;

    struct stat st;

    x->dirs = 0;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (x->dirs || lstat(path, &st)) {
            if (!x->dirs && errno != ENOENT && errno != ENOTDIR)
                return err_sys(e, path, "examine directory");
            x->dirs += 1;
        }
        *slash = '/';
    }
    return ERR_OK;
}

bool rewind_tx_includes(const struct rewind_entry *x)
{
    return x->chosen && x->action != REWIND_UNCHANGED && x->action != REWIND_REFUSED;
}

/* An undo records what it leaves out, so that the rest can be undone later. */
static bool keep_settled(struct rewind_tx *tx, const struct rewind_preview *p)
{
    if (!tx->undoes)
        return true;
    tx->settled = arena_zalloc(&tx->arena, sizeof *tx->settled * (p->n + 1));
    for (size_t i = 0; i < p->n && tx->settled; i++)
        if (p->entry[i].action == REWIND_UNCHANGED)
            tx->settled[tx->settled_n++] = arena_copy_text(&tx->arena, p->entry[i].target->path);
    return !tx->arena.failed;
}

static enum err_code tx_make(const struct store_env *env, const struct rewind_preview *p,
                             const char *id, const char *dir, struct rewind_tx *tx, struct err *e)
{
    *tx = (struct rewind_tx){ .version = TX_VERSION_FILES,
                              .at_ms = env->now_ms,
                              .progress = p->options.progress,
                              .progress_arg = p->options.progress_arg };
    tx->id = arena_copy_text(&tx->arena, id);
    tx->dir = arena_copy_text(&tx->arena, dir);
    tx->system = arena_copy_text(&tx->arena, p->plan->system);
    tx->session = arena_copy_text(&tx->arena, p->plan->session);
    tx->point = arena_copy_text(&tx->arena, p->plan->point);
    tx->undoes = arena_copy_text(&tx->arena, p->plan->undoes);
    tx->project = arena_copy_text(&tx->arena, p->plan->root);
    tx->store = arena_copy_text(&tx->arena, p->plan->store);
    tx->title = arena_copy_text(&tx->arena, p->plan->title);
    tx->root_id =
        tx->project && p->root_id.ino ? arena_zalloc(&tx->arena, sizeof *tx->root_id) : NULL;
    if (tx->root_id)
        *tx->root_id = p->root_id;
    tx->entry = arena_zalloc(&tx->arena, sizeof *tx->entry * (p->n + 1));
    if (tx->arena.failed || !keep_settled(tx, p))
        return err_nomem(e);

    /* Steps are filled in when they are done; those of the plan do not change. */
    const struct rewind_conversation *t = &p->plan->conversation;

    if (t->change) {
        tx->conversation = *t;
        tx->conversation.change = change_copy(t->change);
        TRY(tx->conversation.change ? ERR_OK : err_nomem(e));
    }

    for (size_t i = 0; i < p->n; i++)
        if (rewind_tx_includes(&p->entry[i]))
            TRY(add_tx_entry(tx, &p->entry[i], e));
    if (!rewind_tx_backup_layout(tx))
        return err_set(e, ERR_STALE, dir, "plan a rewind: impossible sizes");
    TRY(rewind_tx_place_temps(tx, e));
    for (size_t i = 0, k = 0; i < p->n; i++)
        if (rewind_tx_includes(&p->entry[i]) && p->entry[i].behind && !tx->entry[k].up)
            return err_set(e, ERR_USAGE, p->entry[i].target->path,
                           "rewind: a link or file took the place of a parent directory, which has "
                           "to be restored with it");
        else
            k += rewind_tx_includes(&p->entry[i]);

    /* An undo needs the attributes of the files that are removed, and of the directories above them. */
    struct reach reach = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < tx->n && !rc; i++)
        if (rewind_tx_has_was(&tx->entry[i]))
            rc = record_deleted_attrs(tx, &reach, &tx->entry[i], e);
    entry_reach_fini(&reach);
    if (!rc && !beneath_dirs_add_all(&tx->dirs, &tx->arena, &p->plan->dirs))
        rc = err_nomem(e);
    return rc;
}

/* ---- preflight ---- */

/* An entry of the plan, with a path of some length. */
enum { PLAN_BYTES_EACH = 1024 };

/* The space that a file takes on the disk: whole blocks, and one more for its name and inode. */
static int64_t on_disk(int64_t size)
{
    return (size + 4095) / 4096 * 4096 + 4096;
}

/* The record contains the old files, its plan and four marks. The marks are written when there is
 * no way back, so there must be room for them now. */
static enum err_code preflight(const struct rewind_tx *tx, const struct rewind_preview *p,
                               struct err *e)
{
    const char *root = p->plan->root ? p->plan->root : "/";
    int64_t undo = 5 * on_disk(0), fresh = 0;
    struct stat a, b;

    for (size_t i = 0; i < p->n; i++) {
        const struct rewind_entry *x = &p->entry[i];

        if (!rewind_tx_includes(x))
            continue;
        undo += PLAN_BYTES_EACH + (x->seen.exists ? on_disk(x->seen.size) : 0);
        fresh += x->action == REWIND_DELETE ? 0 : on_disk(x->wanted_size);
    }
    if (stat(tx->dir, &a) == 0 && stat(root, &b) == 0 && a.st_dev == b.st_dev)
        return disk_check_space(tx->dir, undo + fresh, "the rewind and its undo record", e);
    TRY(disk_check_space(tx->dir, undo, "the undo record", e));
    return disk_check_space(root, fresh, "the rewind", e);
}

/* ---- apply ---- */

static enum err_code acquire_rewind_lock(const char *dir, int *fd, struct err *e)
{
    char path[TX_PATH_MAX], holder[32] = "";

    rewind_tx_path(dir, "lock", path);
    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0)
        return err_sys(e, path, "open the lock");
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) {
        int n = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());

        if (ftruncate(*fd, 0) == 0 && pwrite(*fd, holder, (size_t)n, 0) < 0)
            errno = 0; /* the holder is only shown, never relied on */
        return ERR_OK;
    }
    bool held = errno == EWOULDBLOCK;
    enum err_code rc = err_sys(e, path, "lock");
    ssize_t n = held ? pread(*fd, holder, sizeof holder - 1, 0) : 0;

    holder[n > 0 ? n : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    close(*fd);
    *fd = -1;
    if (!held) /* a file system without locks */
        return rc;
    return err_set(e, ERR_LOCKED, path, "another rewind is running (process %s)",
                   holder[0] ? holder : "unknown");
}

enum err_code rewind_records_open(const struct store_env *env, char dir[PATH_MAX], int *lock,
                                  struct err *e)
{
    TRY(env_state_path(env, "rewinds", dir, e));
    TRY(disk_own_dir(env->state_dir, dir, e));
    return acquire_rewind_lock(dir, lock, e);
}

static enum err_code run_transaction(const struct store_env *env, struct rewind_tx *tx,
                                     const struct rewind_preview *p, struct err *e)
{
    struct change_log *log = NULL;
    enum err_code rc = tx->conversation.change ? change_log_open(env, &log, e) : ERR_OK;

    if (rc) {
        if (copy_remove(tx->dir, NULL))
            err_wrap(e, rc, "an empty record remains");
        return rc;
    }

    /* Does everything that can still be discarded, and then commits. */
    rc = preflight(tx, p, e);

    if (!rc)
        rc = rewind_tx_write_plan(tx, e);
    if (!rc)
        rc = rewind_tx_stage(tx, p, e);
    if (!rc)
        rc = rewind_tx_conversation_do(log, tx, e);
    if (!rc)
        rc = rewind_tx_mark(tx, TX_INTENT, e);
    enum rollback how = ROLLBACK_DONE;

    if (rc && rewind_tx_roll_back(tx, &how, NULL))
        err_wrap(e, rc, "unfinished, and what was prepared could not be removed yet");
    else if (rc && how != ROLLBACK_DONE)
        err_wrap(e, rc,
                 "unfinished: only the conversation was rewound, since a program is writing to it");

    change_log_close(log);
    if (rc)
        return rc;
    rc = rewind_tx_finish(tx, e);
    return rc ? err_wrap(e, rc, "unfinished rewind, to be finished at the next start") : ERR_OK;
}

/* A waiting record blocks only its own files. */
static enum err_code refuse_held(uint32_t path, const char *id, void *arg, struct err *e)
{
    const struct slice_set *paths = arg;

    return err_set(e, ERR_STALE, paths->text[path].p, "an interrupted rewind is using it: %s", id);
}

static enum err_code apply_locked(const struct store_env *env, const char *rewinds,
                                  const struct rewind_preview *p, struct rewind_result *r,
                                  struct err *e)
{
    char id[40], dir[TX_PATH_MAX], old[TX_PATH_MAX];
    struct rewind_tx tx = { 0 };

    /* The directory of the record. */
    /* Interrupted rewinds are finished first; a file that one of them holds is refused. */
    TRY(rewind_records_recover(env, rewinds, NULL, e));

    CLEANUP(slice_set_fini) struct slice_set paths = { 0 };
    uint32_t number;

    for (size_t i = 0; i < p->n; i++)
        if (rewind_tx_includes(&p->entry[i]) &&
            slice_set_add(&paths, slice_of(p->entry[i].target->path), &number))
            return err_nomem(e);
    TRY(rewind_records_each_held(env, &paths, refuse_held, &paths, e));

    TRY(record_id_next(env, id, e));
    rewind_tx_path(rewinds, id, dir);
    rewind_tx_path(dir, "old", old);
    TRY(disk_private_dir(old, e));

    /* A record of nothing is removed again. */
    enum err_code rc = tx_make(env, p, id, dir, &tx, e);
    if (!rc && tx.n && p->plan->before)
        rc = p->plan->before(p, id, e);
    if (!rc && (tx.n || tx.conversation.change || tx.settled_n))
        rc = run_transaction(env, &tx, p, e);
    else if (copy_remove(dir, NULL) && !rc)
        rc = err_set(e, ERR_IO, dir, "remove an empty record");
    if (!rc) {
        size_t at = 0;
        bool takes_all = true;

        for (size_t i = 0; i < p->n; i++) {
            const bool included = rewind_tx_includes(&p->entry[i]);

            r->outcome[i] = included ? tx.entry[at++].outcome : REWIND_SKIPPED;
            r->conflicts += r->outcome[i] == REWIND_CONFLICT;
            takes_all &= included || p->entry[i].action == REWIND_UNCHANGED;
        }
        snprintf(r->undo, sizeof r->undo, "%s", tx.n || tx.conversation.change ? tx.id : "");

        /* The undo leaves nothing for later. A rewind of the conversation alone has no root. */
        if (p->plan->undoes && p->plan->root && r->conflicts == 0 && takes_all)
            repo_ref_remove_before(p->plan->root, p->plan->undoes);
    }
    rewind_tx_fini(&tx);
    return rc;
}

/* The memory for the result is allocated before anything is done, so that a rewind that was done never reports a
 * failure. */
enum err_code rewind_apply(const struct store_env *env, const struct rewind_preview *preview,
                           struct rewind_result *out, struct err *e)
{
    struct rewind_result r = { 0 };
    char rewinds[PATH_MAX];
    int lock;

    r.outcome = arena_zalloc(&r.arena, sizeof *r.outcome * (preview->n + 1));
    if (!r.outcome)
        return err_nomem(e);

    /* A host that has the session open would go on after messages that are no longer there. */
    const char *system = preview->plan->format ? preview->plan->format : preview->plan->system;
    pid_t pid = preview->plan->conversation.change && system && preview->plan->session
                    ? live_host_pid(env, system, preview->plan->session)
                    : 0;
    enum err_code rc =
        pid ? err_set(e, ERR_LOCKED, preview->plan->session,
                      "rewind: process %ld is writing to the conversation; quit it first",
                      (long)pid)
            : ERR_OK;

    if (!rc)
        rc = rewind_records_open(env, rewinds, &lock, e);

    if (!rc) {
        rc = apply_locked(env, rewinds, preview, &r, e);
        log_lock_release(lock);
    }
    if (rc)
        rewind_result_fini(&r);
    else
        *out = r;
    return rc;
}

void rewind_result_fini(struct rewind_result *r)
{
    arena_fini(&r->arena);
    *r = (struct rewind_result){ 0 };
}

static const char *kind_word(uint32_t kind)
{
    return S_ISLNK(kind) ? "link" : S_ISDIR(kind) ? "directory" : "file";
}

const char *rewind_kind_now(const struct rewind_entry *x)
{
    return x->seen.exists ? kind_word(rewind_kind_of(x->seen.mode)) : NULL;
}

const char *rewind_kind_wanted(const struct rewind_entry *x)
{
    return x->target->want == REWIND_BYTES ? kind_word(x->target->source.kind) : NULL;
}

bool rewind_may_consent(const struct rewind_entry *entry)
{
    return entry->action == REWIND_REFUSED &&
           (entry->rule == REWIND_RULE_EDITED || entry->rule == REWIND_RULE_UNKNOWN ||
            entry->rule == REWIND_RULE_OUTSIDE || entry->rule == REWIND_RULE_SENSITIVE);
}

bool rewind_is_partial(const struct rewind_selection *pick)
{
    for (size_t i = 0; pick->hunk && i < pick->hunks; i++)
        if (!pick->hunk[i])
            return true;
    return false;
}

/* The bytes of the present file with the picked hunks in it. */
static enum err_code apply_merge(const struct rewind_sides *s, const struct rewind_entry *x,
                                 const struct rewind_selection *pick, struct arena *a,
                                 struct slice *out, struct err *e)
{
    struct linediff diff;
    struct slice before = buf_slice(&s->present);
    enum err_code rc = linediff_make(before, buf_slice(&s->wanted), REWIND_CONTEXT, &diff, e);

    if (rc)
        return rc;
    if (diff.hunks != pick->hunks)
        rc = err_set(e, ERR_STALE, x->target->path,
                     "its hunks are no longer those that were selected from");
    else
        rc = linediff_apply_hunks(&diff, before, pick->hunk, a, out, e);
    linediff_fini(&diff);
    return rc;
}

static enum err_code apply_all_selected(struct rewind_preview *p, size_t i,
                                        const struct rewind_selection *pick, struct err *e)
{
    struct rewind_entry *x = &p->entry[i];

    if (pick->consent && rewind_may_consent(x)) {
        x->action = x->would;
        x->rule = REWIND_RULE_NONE;
        x->why = NULL;
    }
    x->chosen = pick->ticked && x->action != REWIND_REFUSED;

    /* Makes a separate target: the selected hunks, and the present mode of the file. */
    if (!x->chosen || x->action != REWIND_RESTORE || rewind_has_kind(x) || !rewind_is_partial(pick))
        return ERR_OK;

    struct rewind_target *t = arena_alloc(&p->arena, sizeof *t);
    struct hasher hasher = { 0 };
    struct rewind_sides sides;
    enum err_code rc = t ? rewind_sides_read(p->plan, x, &sides, e) : err_nomem(e);

    if (rc)
        return rc;
    *t = *x->target;
    t->source = (struct rewind_source){ 0 };
    t->has_mode = t->has_mtime = false;
    t->mixed = x->edited || x->unproven;
    rc = apply_merge(&sides, x, pick, &p->arena, &t->source.bytes, e);
    if (!rc)
        rc = hasher_bytes(&hasher, t->source.bytes, x->wanted, e);
    x->wanted_size = (int64_t)t->source.bytes.n;
    x->target = t;
    /* If no hunk is selected, the unchanged file is not rewritten with a new time. */
    x->chosen = memcmp(x->wanted, x->seen.sha256, SHA256_BYTES) != 0;
    hasher_fini(&hasher);
    rewind_sides_fini(&sides);
    return rc;
}

enum err_code rewind_apply_selected(const struct store_env *env,
                                    const struct rewind_preview *preview,
                                    const struct rewind_selection *pick, struct rewind_result *out,
                                    struct err *e)
{
    struct rewind_preview p = *preview;
    enum err_code rc = ERR_OK;

    p.arena = (struct arena){ 0 };
    p.entry = arena_zalloc(&p.arena, sizeof *p.entry * (p.n + 1));
    if (!p.entry)
        return err_nomem(e);
    memcpy(p.entry, preview->entry, sizeof *p.entry * p.n);
    for (size_t i = 0; i < p.n && !rc; i++)
        rc = apply_all_selected(&p, i, &pick[i], e);
    if (!rc)
        rc = rewind_apply(env, &p, out, e);
    arena_fini(&p.arena);
    return rc;
}
