#include "store/log/append.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/disk.h"
#include "store/log/logfile.h"

struct log_state *log_states_get(struct log_states *logs, const char *path, unsigned flags)
{
    struct log_state *log = logs->first;

    while (log && strcmp(log->path, path) != 0)
        log = log->next;
    if (log)
        return log;
    log = calloc(1, sizeof *log);
    if (!log || !(log->path = strdup(path))) {
        free(log);
        return NULL;
    }
    log->flags = flags;
    log->reference = -1;
    log->next = logs->first;
    logs->first = log;
    return log;
}

enum err_code log_states_sync(struct log_states *logs, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (struct log_state *log = logs->first; log; log = log->next) {
        struct err why = { 0 };
        enum err_code one = log->unsynced ? log_sync(log->path, log->flags, &why) : ERR_OK;

        log->unsynced = log->unsynced && one;
        if (!rc && one) {
            rc = one;
            if (e)
                *e = why;
        }
    }
    return rc;
}

/* ---- a log that was removed ---- */

static bool log_state_is_gone(const struct log_state *log)
{
    struct stat st;

    return log->reference >= 0 && lstat(log->path, &st) != 0 && errno == ENOENT;
}

bool log_states_any_gone(const struct log_states *logs)
{
    for (const struct log_state *log = logs->first; log; log = log->next)
        if (log_state_is_gone(log))
            return true;
    return false;
}

static enum err_code copy_rows(int from, const struct disk_new *to, const char *path, struct err *e)
{
    AUTO_BUF piece = { 0 };
    ssize_t n;
    enum err_code rc = ERR_OK;

    NEED(buf_reserve(&piece, 1 << 16) == ERR_OK);
    while (!rc && (n = read(from, piece.p, piece.cap)) != 0) {
        if (n > 0)
            rc = disk_write(to->fd, (struct slice){ piece.p, (size_t)n }, NULL, path, e);
        else if (errno != EINTR)
            rc = err_sys(e, path, "write the session again");
    }
    return rc;
}

/* If another program writes the file at the same moment, that one stays. */
static enum err_code log_state_put_back(const struct log_state *log, int from, struct err *e)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(log->path, '/');
    struct disk_new f;
    struct stat st;
    int n = snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - log->path) : 0, log->path);

    if (n <= 0 || (size_t)n >= sizeof dir || fstat(from, &st))
        return err_sys(e, log->path, "write the session again");
    enum err_code rc = disk_make_dir(dir, 0700, e);

    if (!rc)
        rc = disk_new_open(dir, st.st_mode & 0777, &f, e);
    if (rc)
        return rc;
    rc = copy_rows(from, &f, log->path, e);
    if (rc) {
        disk_new_discard(&f);
        return rc;
    }
    rc = disk_new_publish(&f, slash + 1, e);
    return rc == ERR_STALE ? ERR_OK : rc;
}

enum err_code log_states_put_back(const struct log_states *logs, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (const struct log_state *log = logs->first; log && !rc; log = log->next) {
        char path[FS_FD_PATH];
        int fd;

        if (!log_state_is_gone(log))
            continue;
        fs_fd_path(log->reference, path);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return err_sys(e, log->path, "write the session again");
        rc = log_state_put_back(log, fd, e);
        close(fd);
    }
    return rc;
}

static void log_state_forget(struct log_state *log)
{
    idset_fini(&log->ids);
    log->ids_end = 0;
    log->seen = (struct file_id){ 0 };
    log->last.n = 0;
}

void log_states_fini(struct log_states *logs)
{
    while (logs->first) {
        struct log_state *log = logs->first;

        logs->first = log->next;
        log_state_forget(log);
        if (log->own)
            log->own_free(log->own);
        if (log->reference >= 0)
            close(log->reference);
        free(log->path);
        free(log);
    }
}

static bool is_never_seen(const struct file_id *id)
{
    return id->dev == 0 && id->ino == 0;
}

static bool is_same_file(const struct file_id *a, const struct file_id *b)
{
    return a->dev == b->dev && a->ino == b->ino;
}

static enum err_code log_state_open_log(const struct log_state *log, struct file *f, struct err *e)
{
    return file_open(AT_FDCWD, log->path, log->flags & APPEND_FOLLOW ? FILE_FOLLOW : 0, f, e);
}

/* Remembers the file and its last bytes, which reveal a file that was rewritten under the same inode. */
static enum err_code log_state_remember(struct log_state *log, const struct file *f, struct err *e)
{
    size_t n = sizeof log->last_bytes, got;

    if (!is_same_file(&log->seen, &f->id) || log->reference < 0) {
        if (log->reference >= 0)
            close(log->reference);
        log->reference = fs_open_reference(f->fd);
    }
    if ((uint64_t)f->id.size < n)
        n = (size_t)f->id.size;
    enum err_code rc = file_read(f, f->id.size - (int64_t)n, log->last_bytes, n, &got, e);

    log->seen = rc ? (struct file_id){ 0 } : f->id;
    log->last = (struct slice){ log->last_bytes, rc ? 0 : got };
    return err_at(e, rc, log->path);
}

/* A file of the same length whose times changed may have been edited in place (a tombstone). */
static enum err_code log_state_compare_files(const struct log_state *log, const struct file *f,
                                             enum log_seen *seen, struct err *e)
{
    const struct file_id *was = &log->seen, *is = &f->id;
    char bytes[sizeof log->last_bytes];
    size_t got;

    *seen = LOG_OTHER;
    if (is_never_seen(was) || !is_same_file(was, is) || is->size < was->size)
        return ERR_OK;
    if (is->size == was->size) {
        *seen =
            is->mtime_ns == was->mtime_ns && is->ctime_ns == was->ctime_ns ? LOG_SAME : LOG_OTHER;
        return ERR_OK;
    }

    /* It was only appended to if it still has the end that was seen. */
    enum err_code rc = file_read(f, was->size - (int64_t)log->last.n, bytes, log->last.n, &got, e);

    if (!rc && got == log->last.n && memcmp(bytes, log->last.p, got) == 0)
        *seen = LOG_LONGER;
    return err_at(e, rc, log->path);
}

enum err_code log_state_compare(struct log_state *log, enum log_seen *seen, struct err *e)
{
    struct file f;

    TRY(log_state_open_log(log, &f, e));
    enum err_code rc = log_state_compare_files(log, &f, seen, e);

    if (!rc && *seen == LOG_OTHER)
        log_state_forget(log);
    if (!rc && *seen != LOG_SAME)
        rc = log_state_remember(log, &f, e);
    file_close(&f);
    return rc;
}

/* ---- ids ---- */

static const struct index_keys id_keys = { .id = "uuid" };

/* Reads the rows after ids_end. A torn line is not a row; once it is whole it is read again. */
static enum err_code read_ids(struct log_state *log, struct err *e)
{
    struct index ix = { .end = log->ids_end };
    struct file f;
    uint32_t number;

    TRY(log_state_open_log(log, &f, e));
    enum err_code rc = ix.end ? index_build(&ix, &f, &id_keys, INDEX_VALIDATE, NULL, e)
                              : logfile_index_build(&ix, &f, &id_keys, INDEX_VALIDATE, NULL, e);

    for (size_t i = 0; i < ix.n && !rc; i++)
        if (ix.line[i].state == LINE_OK && !id128_none(ix.line[i].id) &&
            idset_add(&log->ids, ix.line[i].id, &number))
            rc = err_nomem(e);
    if (!rc)
        log->ids_end = ix.end;
    index_fini(&ix);
    file_close(&f);
    return err_at(e, rc, log->path);
}

enum err_code log_state_find_repeated(struct log_state *log, const struct slice id[], size_t n,
                                      bool repeated[], struct err *e)
{
    struct idset among = { 0 };
    uint32_t number;
    bool any_id = false;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !any_id; i++)
        any_id = id[i].n > 0;
    if (any_id && log->ids_end < log->seen.size)
        rc = read_ids(log, e);
    for (size_t i = 0; i < n && !rc; i++) {
        size_t before = among.n;

        repeated[i] = false;
        if (!id[i].n)
            continue;
        if (idset_add(&among, id128_of(id[i]), &number))
            rc = err_nomem(e);
        repeated[i] = among.n == before || idset_has(&log->ids, id128_of(id[i]));
    }
    idset_fini(&among);
    return rc;
}

bool log_state_appended(struct log_state *log, const struct appended *done, bool later,
                        const struct slice id[], size_t n)
{
    struct file f;

    if (done->length == 0)
        return true;
    log->unsynced |= later;

    /* The log has to end with our append, directly after what we had seen. */
    if (is_never_seen(&done->after) || !is_same_file(&done->after, &log->seen) ||
        done->offset != log->seen.size || done->after.size != done->offset + done->length ||
        log_state_open_log(log, &f, NULL))
        return false;
    bool complete = id && log->ids_end == log->seen.size;
    uint32_t number;

    f.id = done->after;
    bool known = !log_state_remember(log, &f, NULL);

    file_close(&f);
    complete = complete && known;
    for (size_t i = 0; i < n && complete; i++)
        complete = !id[i].n || !idset_add(&log->ids, id128_of(id[i]), &number);
    if (complete)
        log->ids_end = log->seen.size;
    return known;
}
