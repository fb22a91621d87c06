#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "store/fs/copy.h"
#include "store/fs/file_at.h"
#include "store/maintenance/trash.h"

/* A program that went on with a session after it was deleted began its transcript anew: two halves of one conversation.
 * The deleted half goes in front of the newer one, under a write lease, and what else was deleted back to where nothing
 * lies. The transcript in the trash stays there: it is a copy then. */

static enum err_code collision(const char *path, struct err *e)
{
    return err_set(e, ERR_STALE, path,
                   "join: the file there is not a continuation of the deleted one");
}

static enum err_code join_bytes(struct change *c, const char *path, struct slice newer,
                                struct buf *both, struct err *e)
{
    struct step tail = { .kind = STEP_TAIL, .path = path, .old = newer, .mtime_ns = MTIME_NOW };

    if (newer.n >= both->n && memcmp(newer.p, both->p, both->n) == 0)
        return err_set(e, ERR_STALE, path, "join: it already contains what was deleted");
    if ((both->n && both->p[both->n - 1] != '\n' && buf_add_byte(both, '\n')) ||
        buf_add(both, newer))
        return err_nomem(e);
    tail.bytes = buf_slice(both);
    return change_add(c, &tail, e);
}

static enum err_code join_transcript(struct change *c, const char *from, const char *to,
                                     struct err *e)
{
    struct buf both = { 0 }, newer = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, from, 0, SIZE_MAX / 4, &both, e);

    if (!rc)
        rc = file_read_all(AT_FDCWD, to, 0, SIZE_MAX / 4, &newer, e);
    if (!rc)
        rc = join_bytes(c, to, buf_slice(&newer), &both, e);
    buf_fini(&newer);
    buf_fini(&both);
    return rc;
}

static enum err_code join_part(struct change *c, const char *from, const char *to, bool transcript,
                               struct err *e);

static enum err_code join_dir(struct change *c, const char *from, const char *to, struct err *e)
{
    struct dirent **names;
    int n = scandir(from, &names, NULL, alphasort);
    enum err_code rc = n < 0 ? err_sys(e, from, "read directory") : ERR_OK;

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

/* Directories come together file by file; what is the same in both places is there already. */
static enum err_code join_part(struct change *c, const char *from, const char *to, bool transcript,
                               struct err *e)
{
    struct stat old, now;
    bool lies, there;
    enum err_code rc = file_at_stat(from, &lies, &old, e);

    if (!rc && !lies)
        return ERR_OK; /* it went back earlier */
    if (!rc)
        rc = file_at_stat(to, &there, &now, e);
    if (rc)
        return rc;
    if (!there)
        return trash_plan_move(c, from, to, e);
    if (transcript && S_ISREG(old.st_mode) && S_ISREG(now.st_mode))
        return join_transcript(c, from, to, e);
    if (!transcript && S_ISDIR(old.st_mode) && S_ISDIR(now.st_mode))
        return join_dir(c, from, to, e);
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
        rc = err_set(e, ERR_UNSUPPORTED, item->path,
                     "join: only a transcript goes in front of another one");
    for (size_t k = 0; k < item->parts && !rc; k++)
        rc = join_part(c, item->part[k], item->from[k], k == 0, e);
    if (!rc) {
        c->text = "joined with the transcript written since its deletion";
        rc = change_run(log, c, e);
    }
    change_free(c);
    return rc;
}
