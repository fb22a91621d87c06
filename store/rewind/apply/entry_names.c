#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/fs/kernel.h"
#include "store/rewind/apply/entry_files.h"

/* Moves the files of an entry between its names. Where two names cannot be exchanged in one step, the entry's own file
 * goes to a third name first. No step replaces a file that others could have made, and in every intermediate state the
 * names alone determine how to continue. */

static void third_name(const struct entry_files *at, char out[80])
{
    snprintf(out, 80, "%s.old", at->temp);
}

static enum err_code entry_names_look(const struct entry_files *at, int dir, const char *name,
                                      bool *there, struct stat *out, struct err *e)
{
    *there = dir >= 0 && fstatat(dir, name, out, AT_SYMLINK_NOFOLLOW) == 0;
    if (dir < 0)
        return ERR_OK;
    return *there || errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "look at");
}

/* One file under two names, while it moves. */
static bool entry_names_is_same(const struct stat *a, const struct stat *b)
{
    return !S_ISDIR(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Gives the file the name, which must be free: EEXIST. A directory cannot have two names, so it is moved; a rename of it
 * replaces nothing but an empty directory. */
static int give_name(const struct entry_files *at, int from_dir, const char *from, const char *to)
{
    struct stat st;

    if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
        return linkat(from_dir, from, at->dir, to, 0);
    if (renameat(from_dir, from, at->dir, to) == 0)
        return 0;
    if (errno == ENOTDIR || errno == ENOTEMPTY)
        errno = EEXIST;
    return -1;
}

/* The file has a name at any moment, even after a power cut. */
static int move_by_link(const struct entry_files *at, int from_dir, const char *from,
                        const char *to)
{
    if (give_name(at, from_dir, from, to))
        return -1;
    return disk_sync(at->dir, at->x->path, NULL)                 ? -1
           : unlinkat(from_dir, from, 0) == 0 || errno == ENOENT ? 0
                                                                 : -1;
}

int entry_names_place(const struct entry_files *at)
{
    if (fs_rename_new(at->temp_dir, at->temp, at->dir, at->name) == 0)
        return 0;
    return fs_is_lacking(errno) ? move_by_link(at, at->temp_dir, at->temp, at->name) : -1;
}

/* Moves the file under the third name back to its own name if that is free, or else to the temporary one. */
static enum err_code settle_third(const struct entry_files *at, const char *third,
                                  const struct stat *own, const struct stat *old, struct err *e)
{
    if (!own && move_by_link(at, at->dir, third, at->name) == 0)
        return ERR_OK;
    if (!own && errno != EEXIST)
        return err_sys(e, at->x->path, "restore its name");
    if (own && entry_names_is_same(old, own))
        return unlinkat(at->dir, third, 0) ? err_sys(e, at->x->path, "remove a second name")
                                           : ERR_OK;

    /* Its own name and the third one both have a file, so one of the three must be removed: ours,
     * or one that the record has. If another program made all of them in the meantime, nothing is
     * done. */
    enum entry_file incoming, outgoing;

    TRY(entry_files_identify(at, at->dir, at->temp, &incoming, e));
    TRY(entry_files_identify(at, at->dir, third, &outgoing, e));
    if (incoming == ENTRY_FILE_OTHER) {
        if (outgoing == ENTRY_FILE_OTHER)
            return err_set(e, ERR_IO, at->x->path,
                           "it was saved twice meanwhile; the older file stays beside it, as %s",
                           third);
        return unlinkat(at->dir, third, 0) ? err_sys(e, at->x->path, "remove a temporary file")
                                           : ERR_OK;
    }
    if (incoming == ENTRY_FILE_WANTED && S_ISDIR(at->x->mode))
        TRY(entry_files_remove_temp(at, e));
    return renameat(at->dir, third, at->dir, at->temp) ? err_sys(e, at->x->path, "exchange names")
                                                       : ERR_OK;
}

enum err_code entry_names_settle(const struct entry_files *at, struct err *e)
{
    char third[80];
    struct stat own, temp, old;
    bool has_own, has_temp, has_old;
    enum err_code rc = entry_names_look(at, at->dir, at->name, &has_own, &own, e);

    third_name(at, third);
    if (!rc)
        rc = entry_names_look(at, at->temp_dir, at->temp, &has_temp, &temp, e);
    if (!rc)
        rc = entry_names_look(at, at->dir, third, &has_old, &old, e);

    /* The entry's own name is durable before the other one is removed. */
    if (!rc && has_own && has_temp && entry_names_is_same(&own, &temp)) {
        rc = disk_sync(at->dir, at->x->path, e);
        if (!rc && unlinkat(at->temp_dir, at->temp, 0))
            rc = err_sys(e, at->x->path, "remove a second name");
    }
    return rc || !has_old ? rc : settle_third(at, third, has_own ? &own : NULL, &old, e);
}

/* A file that another program creates meanwhile under the entry's own name stays, as if it had been saved right after
 * the exchange. */
static enum err_code exchange_by_steps(const struct entry_files *at, struct err *e)
{
    char third[80];

    third_name(at, third);
    if (renameat(at->dir, at->name, at->dir, third))
        return err_sys(e, at->x->path, "exchange names");
    if (give_name(at, at->dir, at->temp, at->name) && errno != EEXIST) {
        enum err_code rc = err_sys(e, at->x->path, "exchange names");

        (void)move_by_link(at, at->dir, third, at->name);
        return rc;
    }
    return entry_names_settle(at, e);
}

enum err_code entry_names_exchange(const struct entry_files *at, bool *gone, struct err *e)
{
    enum err_code rc = ERR_OK;

    if (fs_exchange(at->dir, at->temp, at->name))
        rc = fs_is_lacking(errno) ? exchange_by_steps(at, e)
                                  : err_sys(e, at->x->path, "exchange names");
    *gone = rc == ERR_NOT_FOUND;
    return *gone ? ERR_OK : rc;
}
