#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/maintenance/trash_internal.h"

/* ---- joining ---- */

/* A program that continued a session after it was deleted has begun its transcript anew, so that there are two halves
 * of one conversation. The deleted half is put before the newer one, under a write lease, and the other parts are moved
 * back where no other file is in their place. The transcript also stays in the trash, as a copy. */

static enum err_code collision(const char *path, struct err *e)
{
    return err_set(e, ERR_STALE, path,
                   "join: the file there is not a continuation of the deleted one");
}

static enum err_code join_part(struct change *c, const char *from, const char *to, bool transcript,
                               struct err *e);

/* Directories are joined file by file; files that are equal in both places are left alone. */
static enum err_code join_part(struct change *c, const char *from, const char *to, bool transcript,
                               struct err *e)
{
    struct stat old, now;
    bool kept, there;
    enum err_code rc = file_at_stat(from, &kept, &old, e);

    if (!rc && !kept)
        return ERR_OK; /* restored earlier */
    if (!rc)
        rc = file_at_stat(to, &there, &now, e);
    if (rc)
        return rc;
    if (!there)
        return trash_plan_move(c, from, to, e);
    if (transcript && S_ISREG(old.st_mode) && S_ISREG(now.st_mode)) {
        AUTO_BUF both = { 0 };
        AUTO_BUF newer = { 0 };

        TRY(file_read_all(AT_FDCWD, from, 0, SIZE_MAX / 4, &both, e));
        TRY(file_read_all(AT_FDCWD, to, 0, SIZE_MAX / 4, &newer, e));
        struct step tail = { .kind = STEP_TAIL, .path = to, .mtime_ns = MTIME_NOW };

        tail.old = buf_slice(&newer);
        if (newer.n >= both.n && memcmp(newer.p, both.p, both.n) == 0)
            return err_set(e, ERR_STALE, to, "join: it already contains what was deleted");
        if (both.n && both.p[both.n - 1] != '\n')
            NEED(!buf_add_byte(&both, '\n'));
        NEED(!buf_add(&both, tail.old));
        tail.bytes = buf_slice(&both);
        return change_add(c, &tail, e);
    }
    if (!transcript && S_ISDIR(old.st_mode) && S_ISDIR(now.st_mode)) {
        /* Two directories are joined entry by entry. */
        struct dirent **names;
        int n = scandir(from, &names, NULL, alphasort);

        rc = n < 0 ? err_sys(e, from, "read directory") : ERR_OK;

        for (int i = 0; i < n; i++) {
            const char *name = names[i]->d_name;
            const char *a = arena_format(&c->arena, "%s/%s", from, name);
            const char *b = arena_format(&c->arena, "%s/%s", to, name);

            if (!rc && (!a || !b))
                rc = err_nomem(e);
            if (!rc && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
                rc = join_part(c, a, b, false, e);
            free(names[i]);
        }
        if (n >= 0)
            free(names);
        return rc;
    }
    if (transcript || !S_ISREG(old.st_mode) || !S_ISREG(now.st_mode))
        return collision(to, e);
    rc = copy_compare(from, to, NULL);
    return rc ? collision(to, e) : ERR_OK;
}

bool trash_can_join(const struct trash_item *item)
{
    struct stat old, now;

    return item->refs == 0 && item->parts && lstat(item->part[0], &old) == 0 &&
           S_ISREG(old.st_mode) && lstat(item->from[0], &now) == 0 && S_ISREG(now.st_mode);
}

enum err_code trash_join(struct change_log *log, const struct trash_item *item, struct err *e)
{
    const struct slice id = slice_of(item->session);
    struct change *c = change_new("restore");
    enum err_code rc = c ? change_add_session(c, item->system, id, e) : err_nomem(e);

    if (!rc && !trash_can_join(item))
        rc = err_set(e, ERR_UNSUPPORTED, item->path, "join: only transcripts can be joined");
    for (size_t k = 0; k < item->parts && !rc; k++)
        rc = join_part(c, item->part[k], item->from[k], k == 0, e);
    if (!rc) {
        c->text = "joined with the transcript written since its deletion";
        rc = change_run(log, c, e);
    }
    change_free(c);
    return rc;
}

/* ---- putting copies back ---- */

/* A move makes its folder and the one above it. If the agent's own directory is gone, more are missing. */
static enum err_code make_room(const char *to, struct arena *a, struct err *e)
{
    enum { FOLDERS_OF_A_MOVE = 2 };
    char *dir = arena_format(a, "%s", to), *slash = NULL;

    NEED(dir);
    for (int i = 0; i <= FOLDERS_OF_A_MOVE && (slash = strrchr(dir, '/')); i++)
        *slash = '\0';
    return *dir ? disk_make_dir(dir, 0700, e) : ERR_OK;
}

enum err_code trash_put_back(struct change_log *log, const struct store_env *env,
                             const struct trash_request *request, struct err *e)
{
    AUTO_BUF info = { 0 };
    CLEANUP(trash_list_fini) struct trash_list list = { 0 };
    CLEANUP(change_free_at) struct change *c = change_new("restore");
    struct presence presence = { .n = 0 };
    char batch[48], dir[PATH_MAX];

    NEED(c && (list.item = arena_zalloc(&list.arena, sizeof *list.item)));
    TRY(trash_batch_dir(env, batch, dir, e));
    enum err_code rc = trash_item_make(&list, request, dir, batch, env->now_ms, &presence, e);

    path_presence_fini(&presence);
    if (!rc)
        rc = trash_info_print(&list, &info, e);
    if (!rc)
        rc = disk_replace_file(dir, "info", buf_slice(&info), 0600, e);
    const struct trash_item *item = &list.item[0];

    /* The copies are staged in the trash, so that a move is all that is left to do, and to undo. */
    if (!rc && item->parts != request->parts)
        rc = err_set(e, ERR_STALE, item->path, "put back: a copy is gone");
    for (size_t k = 0; k < item->parts && !rc; k++)
        rc = copy_tree(request->copy[k], item->part[k], e);
    if (!rc)
        rc = trash_name_session(c, item, e);
    for (size_t k = 0; k < item->parts && !rc; k++) {
        rc = make_room(item->from[k], &c->arena, e);
        if (!rc)
            rc = join_part(c, item->part[k], item->from[k], false, e);
    }
    c->text = "put back from its kept copy";
    if (!rc)
        rc = change_run(log, c, e);
    if (rc && copy_remove(dir, NULL))
        rc = err_wrap(e, rc, "and a part of a copy remains in the trash");
    return rc;
}
