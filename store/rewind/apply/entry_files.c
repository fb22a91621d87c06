#include "store/rewind/apply/entry_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"

bool entry_files_is_seen(const struct rewind_tx_entry *x, struct file_id id)
{
    struct file_id seen = rewind_tx_seen_id(&x->seen);

    return rewind_tx_same_file(id, seen) && id.mtime_ns == seen.mtime_ns;
}

/* Whatever happens to a file puts a new ctime on it. */
static bool same_id(struct file_id a, struct file_id b)
{
    return rewind_tx_same_file(a, b) && a.ctime_ns == b.ctime_ns;
}

/* Opens what lies under a name. Its bytes decide: a power cut may have made an equal file again, and a save of equal
 * size within one tick of the clock would hide from times and sizes. */
enum err_code entry_files_read(const struct entry_files *at, const char *name, enum entry_file *out,
                               struct file_id *id, struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    struct span all;
    struct stat st;
    int fd = openat(at->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    *out = ENTRY_FILE_OTHER;
    if (fd < 0)
        return err_sys(e, at->x->path, "open");
    enum err_code rc = span_of_file(fd, at->x->path, &all, e);

    /* Looked at before it is read: what is written meanwhile shows at the next look. */
    if (!rc && fstat(fd, &st))
        rc = err_sys(e, at->x->path, "look at");
    if (!rc)
        rc = hasher_span(&at->c->hasher, &all, -1, NULL, sha256, e);
    close(fd);
    if (rc == ERR_STALE) /* being written */
        return ERR_OK;
    if (rc)
        return rc;
    *id = rewind_tx_file_id(&st);
    if (at->x->seen.exists && memcmp(sha256, at->x->seen.sha256, SHA256_BYTES) == 0)
        *out = ENTRY_FILE_SEEN;
    else if (at->x->action != REWIND_DELETE && memcmp(sha256, at->x->wanted, SHA256_BYTES) == 0)
        *out = ENTRY_FILE_WANTED;
    return ERR_OK;
}

/* Is it a file that this process had in hand, and that nobody touched since? */
static bool by_sight(const struct rewind_tx_entry *x, const struct stat *st, enum entry_file *out)
{
    struct file_id id = rewind_tx_file_id(st);

    if (same_id(x->staged, id))
        *out = ENTRY_FILE_WANTED;
    else if (same_id(x->taken, id) ||
             (entry_files_is_seen(x, id) && id.ctime_ns == x->seen.ctime_ns))
        *out = ENTRY_FILE_SEEN;
    else
        return false;
    return true;
}

/* By its other name in the record: while it has that, no other file can get its number. */
static bool is_adopted(const struct entry_files *at, const struct stat *st)
{
    char path[TX_PATH_MAX];
    struct stat kept;

    if (!at->x->adopts)
        return false;
    tx_adopted(at->c->tx, at->x, path);
    return lstat(path, &kept) == 0 && kept.st_dev == st->st_dev && kept.st_ino == st->st_ino;
}

enum err_code spot_release(const struct entry_files *at, struct err *e)
{
    char path[TX_PATH_MAX];
    struct stat st;

    if (at->x->outcome != REWIND_DONE || fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) ||
        !is_adopted(at, &st))
        return ERR_OK;
    tx_adopted(at->c->tx, at->x, path);
    if (unlink(path))
        return err_sys(e, path, "remove a name of the file that came back");
    *strrchr(path, '/') = '\0';
    return disk_sync_dir(path, e);
}

enum lease_writer spot_writer(const struct entry_files *at)
{
    int fd = openat(at->dir, at->temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return LEASE_UNKNOWN;
    enum lease_writer answer = lease_writer(fd);

    close(fd);
    return answer;
}

/* id (may be NULL): asks for the bytes to be read, and says what the file was then. */
static enum err_code identify_file(const struct entry_files *at, const char *name,
                                   enum entry_file *out, struct file_id *id, struct err *e)
{
    struct file_id unused;
    struct stat st;

    if (fstatat(at->dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        *out = ENTRY_FILE_NONE;
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "look at");
    }
    *out = ENTRY_FILE_OTHER;
    if (S_ISREG(st.st_mode) && is_adopted(at, &st)) {
        *out = ENTRY_FILE_WANTED;
        return ERR_OK;
    }
    if (!S_ISREG(st.st_mode) || (!id && by_sight(at->x, &st, out)))
        return ERR_OK;
    return entry_files_read(at, name, out, id ? id : &unused, e);
}

enum err_code entry_files_identify(const struct entry_files *at, const char *name,
                                   enum entry_file *out, struct err *e)
{
    return identify_file(at, name, out, NULL, e);
}

/* What came out of its place? Always by its bytes: between the look at it and the exchange anything may have been
 * written. */
enum err_code entry_files_identify_moved(const struct entry_files *at, enum entry_file *out,
                                         struct err *e)
{
    struct file_id id = { 0 };
    enum err_code rc = identify_file(at, at->temp, out, &id, e);

    if (!rc && *out == ENTRY_FILE_SEEN)
        at->x->taken = id;
    return rc;
}

enum err_code entry_files_open(struct entry_files_context *c, size_t i, struct entry_files *at,
                               struct err *e)
{
    *at = (struct entry_files){ .c = c, .x = &c->tx->entry[i] };
    rewind_tx_temp_name(c->tx, i, at->temp);
    return reach_dir(&c->reach, at->x, &at->dir, &at->name, e);
}

void entry_files_fini(struct entry_files_context *c)
{
    reach_fini(&c->reach);
    hasher_fini(&c->hasher);
}

enum err_code rewind_tx_wait_error(const struct rewind_tx_entry *x, enum err_code rc, struct err *e)
{
    switch (rc) {
    case ERR_NOT_FOUND:
        return err_set(e, ERR_IO, x->path, "its directory was moved away or is not mounted");
    case ERR_UNSAFE:
        return err_set(e, ERR_IO, x->path, "a link or a file is in the place of its directory");
    case ERR_STALE:
        return err_set(e, ERR_IO, x->root, "another directory is in the place of the project");
    default: return rc;
    }
}
