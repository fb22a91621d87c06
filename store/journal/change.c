#include "store/journal/change.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/journal/change_internal.h"
#include "store/journal/contents.h"
#include "store/journal/record.h"

struct change *change_new(const char *kind)
{
    struct change *c = calloc(1, sizeof *c);

    if (c) {
        c->kind = kind;
        c->text = "";
    }
    return c;
}

void change_free(struct change *c)
{
    if (!c)
        return;
    if (c->contents)
        disk_new_discard(c->contents);
    arena_fini(&c->arena);
    free(c);
}

static struct slice journal_change_copy_bytes(struct change *c, struct slice bytes)
{
    return bytes.p ? arena_copy(&c->arena, bytes) : bytes;
}

enum err_code change_add(struct change *c, const struct step *s, struct err *e)
{
    struct arena *a = &c->arena;
    struct step copy = *s, *list = arena_grow(a, c->step, c->n, sizeof *list);

    copy.path = arena_copy_text(a, s->path);
    copy.to = arena_copy_text(a, s->to);
    copy.lock = arena_copy_text(a, s->lock);
    copy.bytes_part.path = arena_copy_text(a, s->bytes_part.path);
    copy.old_part.path = arena_copy_text(a, s->old_part.path);
    copy.bytes = journal_change_copy_bytes(c, s->bytes);
    copy.old = journal_change_copy_bytes(c, s->old);
    copy.opposite = journal_change_copy_bytes(c, s->opposite);
    if (a->failed)
        return err_nomem(e);
    c->step = list;
    c->step[c->n++] = copy;
    return ERR_OK;
}

/* session: the complete name, as in "claude:5e55…". */
static enum err_code change_add_session_name(struct change *c, const char *session, struct err *e)
{
    struct change_origin *origin = arena_grow(&c->arena, c->origin, c->sessions_n, sizeof *origin);

    if (!origin || !arena_add_text(&c->arena, &c->sessions, &c->sessions_n, session))
        return err_nomem(e);
    c->origin = origin;
    return ERR_OK;
}

enum err_code change_set_origin(struct change *c, const struct change_origin *origin, struct err *e)
{
    struct change_origin copy = { .store = arena_copy_text(&c->arena, origin->store),
                                  .dir = arena_copy_text(&c->arena, origin->dir),
                                  .title = arena_copy_text(&c->arena, origin->title) };

    if (c->arena.failed)
        return err_nomem(e);
    c->origin[c->sessions_n - 1] = copy;
    return ERR_OK;
}

enum err_code change_add_session(struct change *c, const char *system, struct slice id,
                                 struct err *e)
{
    AUTO_BUF name = { 0 };

    NEED(!buf_addf(&name, "%s:", system) && !buf_add(&name, id) && buf_cstr(&name));
    return change_add_session_name(c, name.p, e);
}

enum err_code change_part_roll_back(const char *dir, enum rollback *how, struct err *e)
{
    CLEANUP(change_free_at) struct change *c = NULL;
    const enum err_code rc = change_record_read(dir, &c, e);

    *how = ROLLBACK_DONE;
    if (rc == ERR_NOT_FOUND)
        return change_remove_record(dir, e);
    TRY(rc);
    TRY(change_steps_recover(c, how, e));
    if (*how == ROLLBACK_CONFLICT) /* with what the steps learned */
        TRY(change_record_write(dir, c, e));
    return *how == ROLLBACK_DONE ? change_remove_record(dir, e) : ERR_OK;
}

enum err_code change_part_read(const char *dir, struct change **out, struct err *e)
{
    return change_record_read(dir, out, e);
}

/* ---- others of the same steps ---- */

static struct change *like(const struct change *c, const char *kind)
{
    struct change *to = change_new("");

    if (!to)
        return NULL;
    to->kind = arena_copy(&to->arena, slice_of(kind)).p;
    to->text = arena_copy(&to->arena, slice_of(c->text)).p;
    to->command = arena_copy_text(&to->arena, c->command);
    bool ok = to->kind && to->text && !to->arena.failed;

    for (size_t i = 0; i < c->sessions_n && ok; i++)
        ok = change_add_session_name(to, c->sessions[i], NULL) == ERR_OK &&
             change_set_origin(to, &c->origin[i], NULL) == ERR_OK;
    if (ok)
        return to;
    change_free(to);
    return NULL;
}

struct change *change_copy(const struct change *c)
{
    struct change *to = like(c, c->kind);
    bool ok = to != NULL;

    for (size_t i = 0; i < c->n && ok; i++)
        ok = change_add(to, &c->step[i], NULL) == ERR_OK;
    if (ok)
        return to;
    change_free(to);
    return NULL;
}

struct change *change_inverse(const struct change *c, const char *kind)
{
    struct change *back = like(c, kind);
    bool ok = back != NULL;

    for (size_t i = c->n; i > 0 && ok; i--) {
        struct step inverse = step_inverse(&c->step[i - 1]);

        ok = change_add(back, &inverse, NULL) == ERR_OK;
    }
    if (ok)
        return back;
    change_free(back);
    return NULL;
}

static enum err_code intent_write(struct change_log *log, struct change *c, const char *dir,
                                  struct err *e)
{
    if (mkdir(dir, 0700))
        return err_sys(e, dir, "make directory");
    TRY(contents_record(c, dir, e));
    TRY(change_record_write(dir, c, e));
    return disk_sync_dir(log->dir, e);
}

/* A batch moves many files out of few directories, so each directory is synced once. */
enum err_code change_steps_sync(const struct change *c, struct err *e)
{
    for (size_t i = 0; i < c->n; i++) {
        bool synced = false;

        /* Steps that share directories are near each other: a session has a handful of parts. */
        for (size_t back = 1; back <= 8 && back <= i && !synced; back++)
            synced = step_shares_dirs(&c->step[i - back], &c->step[i]);
        if (!synced)
            TRY(step_sync(&c->step[i], e));
    }
    return ERR_OK;
}

/* Does the steps; *done counts those that were done. */
static enum err_code change_steps_do(struct change *c, size_t *done, struct err *e)
{
    enum err_code rc = ERR_OK;

    while (*done < c->n && !rc) {
        struct step *s = &c->step[*done], before;

        memcpy(&before, s, sizeof before); /* to the byte, for the comparison */
        rc = step_do(s, &c->arena, e);
        c->record_outdated = c->record_outdated || memcmp(&before, s, sizeof before) != 0;
        *done += rc == ERR_OK;
    }
    return rc ? rc : change_steps_sync(c, e);
}

/* The offset of an append is only known now, so its record is written again. */
enum err_code change_finish(struct change_log *log, const struct change *c, const char *intent,
                            bool *committed, struct err *e)
{
    char done[PATH_MAX];

    *committed = false;
    snprintf(done, sizeof done, "%s/%s", log->dir, c->id);
    if (c->record_outdated)
        TRY(change_record_write(intent, c, e));
    if (rename(intent, done))
        return err_sys(e, intent, "finish the record");
    const enum err_code rc = disk_sync_dir(log->dir, e);

    if (!rc || rename(done, intent) == 0)
        return rc;
    *committed = true;
    return err_wrap(e, rc, "unfinished: it is done, but perhaps not durably");
}

enum err_code change_remove_record(const char *dir, struct err *e)
{
    TRY(copy_remove(dir, e));
    return disk_sync_parent(dir, e);
}

/* Returns true if the step was refused before it touched anything. The present content is then another program's,
 * even if it looks like ours. */
static bool untouched(enum err_code rc)
{
    return rc == ERR_STALE || rc == ERR_LOCKED || rc == ERR_UNSAFE || rc == ERR_NOT_FOUND;
}

/* Removes the record of a change that did nothing, and returns why it did nothing. */
static enum err_code change_drop_record(struct change *c, const char *dir, enum err_code rc,
                                        struct err *e)
{
    c->unfinished = change_remove_record(dir, NULL) != ERR_OK;
    return c->unfinished ? err_wrap(e, rc, "its record remains") : rc;
}

/* If that fails too, the record stays and the next start tries again. */
static enum err_code change_roll_back(struct change *c, size_t done, const char *dir,
                                      enum err_code why, struct err *e)
{
    enum rollback how = ROLLBACK_DONE;
    enum err_code rc = ERR_OK;

    if (done < c->n && !untouched(why))
        rc = change_step_recover(c, &c->step[done], &how, NULL);

    /* The steps that were completed are undone, the newest first. */
    while (done > 0 && !rc && how == ROLLBACK_DONE) {
        struct step inverse = step_inverse(&c->step[--done]);

        rc = step_do(&inverse, &c->arena, NULL);
        if (!rc)
            rc = step_sync(&inverse, NULL);
    }
    if (!rc && how == ROLLBACK_DONE)
        return change_drop_record(c, dir, why, e);
    c->unfinished = true;
    return err_wrap(e, why, "unfinished, and cannot be undone yet");
}

enum err_code change_moves_add(struct change_moves *m, struct change *c, size_t i, struct err *e)
{
    uint32_t number;

    if (c->step[i].kind != STEP_MOVE)
        return ERR_OK;
    const struct slice to = slice_of(c->step[i].to);

    NEED(!idset_add(&m->to, id128_of(to), &number) &&
         (m->step = arena_grow(&c->arena, m->step, number, sizeof *m->step)));
    m->step[number] = i;
    m->least = m->most && m->least < to.n ? m->least : to.n;
    m->most = m->most > to.n ? m->most : to.n;
    return ERR_OK;
}

void change_moves_fini(struct change_moves *m)
{
    idset_fini(&m->to);
}

/* The newest step before step i that moves something to a place; i if no step does. */
static size_t change_moves_find(const struct change_moves *m, const struct change *c, size_t i,
                                struct slice place)
{
    const uint32_t number = idset_find(&m->to, id128_of(place));

    if (number == IDSET_NONE)
        return i;
    size_t k = m->step[number];

    /* A later step moves something there, too. */
    while (k >= i || c->step[k].kind != STEP_MOVE || !slice_eq(slice_of(c->step[k].to), place))
        if (k-- == 0)
            return i;
    return k;
}

const char *change_step_source(const struct change_moves *m, struct change *c, size_t i)
{
    const char *path = c->step[i].path;
    const size_t n = strlen(path);
    size_t newest = i;

    for (size_t k = m->least; k <= n && k <= m->most && m->to.n; k++) {
        const size_t found =
            path[k] && path[k] != '/' ? i : change_moves_find(m, c, i, (struct slice){ path, k });

        if (found < i && (newest == i || found > newest))
            newest = found;
    }
    const struct step *moved = &c->step[newest];

    return newest == i ? path
                       : arena_format(&c->arena, "%s%s", moved->path, path + strlen(moved->to));
}

/* A file that is moved first is examined where it is now. */
static enum err_code change_prepare(struct change *c, struct err *e)
{
    CLEANUP(change_moves_fini) struct change_moves moves = { .least = 0 };
    for (size_t i = 0; i < c->n; i++) {
        struct step *s = &c->step[i];
        const char *path = s->path;

        s->path = change_step_source(&moves, c, i);
        enum err_code rc = s->path ? step_prepare(s, &c->arena, e) : err_nomem(e);

        s->path = path;
        TRY(rc);
        TRY(change_moves_add(&moves, c, i, e));
    }
    return ERR_OK;
}

/* Writes the record by which a crash is recovered from, into the directory `dir`. */
static enum err_code change_begin(struct change_log *log, struct change *c, char dir[PATH_MAX],
                                  struct err *e)
{
    c->at_ms = log->env.now_ms;
    snprintf(dir, PATH_MAX, "%s/%s%s", log->dir, c->id, CHANGE_INTENT_SUFFIX);
    const enum err_code rc = intent_write(log, c, dir, e);

    return rc ? change_drop_record(c, dir, rc, e) : ERR_OK;
}

enum err_code change_run(struct change_log *log, struct change *c, struct err *e)
{
    char dir[PATH_MAX];
    size_t done = 0;
    bool committed = false;

    TRY(record_id_next(&log->env, c->id, e));
    TRY(change_prepare(c, e));
    TRY(change_begin(log, c, dir, e));
    enum err_code rc = change_steps_do(c, &done, e);

    if (!rc)
        rc = change_finish(log, c, dir, &committed, e);
    if (!rc)
        snprintf(log->made, sizeof log->made, "%s", c->id);
    return rc && !committed ? change_roll_back(c, done, dir, rc, e) : rc;
}

const char *change_log_made(const struct change_log *log)
{
    return log->made;
}

enum err_code change_part_do(struct change_log *log, const char *dir, struct change *c,
                             struct err *e)
{
    enum err_code rc = disk_private_dir(dir, e);
    size_t done = 0;

    c->at_ms = log->env.now_ms;
    if (!rc)
        rc = change_prepare(c, e);
    if (!rc)
        rc = contents_record(c, dir, e);
    if (!rc)
        rc = change_record_write(dir, c, e);
    if (rc)
        return change_drop_record(c, dir, rc, e);
    rc = change_steps_do(c, &done, e);
    if (!rc)
        rc = change_record_write(dir, c, e);
    return rc ? change_roll_back(c, done, dir, rc, e) : ERR_OK;
}

enum err_code change_do(const struct store_env *env, struct change *c, struct err *e)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;

    TRY(change_log_open(env, &log, e));
    return change_run(log, c, e);
}

enum err_code change_note(struct change_log *log, struct change *c, struct err *e)
{
    char dir[PATH_MAX];
    bool committed;

    TRY(record_id_next(&log->env, c->id, e));
    TRY(change_begin(log, c, dir, e));
    return change_finish(log, c, dir, &committed, e);
}
