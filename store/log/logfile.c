#include "store/log/logfile.h"

#include <fcntl.h>

#include "store/log/index_parallel.h"

/* A row that begins this close behind the last one read is taken for the next step of a walk. */
enum { NEAR = 64 * 1024, READ_AHEAD = 512 * 1024 };

static enum err_code open_file(struct logfile *log, const char *path, unsigned flags, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, path, flags, &f, e);

    if (rc)
        return rc;
    *log = (struct logfile){ .file = f, .path = path };
    return ERR_OK;
}

enum err_code logfile_open(struct logfile *log, const char *path, unsigned flags,
                           const struct index_keys *keys, const atomic_bool *stop, struct err *e)
{
    enum err_code rc = open_file(log, path, flags, e);

    if (rc)
        return rc;
    rc = index_parallel_build(&log->index, &log->file, keys, INDEX_VALIDATE, stop, e);
    if (rc)
        logfile_close(log);
    return rc;
}

/* Reads [at, at + n) into the buffer; fewer bytes at the end of the file. */
static enum err_code fill_buffer(struct logfile *log, int64_t at, size_t n, struct err *e)
{
    size_t got;

    log->bytes.n = 0;
    enum err_code rc = buf_reserve(&log->bytes, n);

    if (rc)
        return err_set(e, rc, log->path, "read %zu bytes", n);
    rc = file_read(&log->file, at, log->bytes.p, n, &got, e);
    if (rc)
        return rc;
    log->bytes.n = got;
    log->at = at;
    return ERR_OK;
}

enum err_code logfile_open_tail(struct logfile *log, const char *path, unsigned flags,
                                const struct index_keys *keys, size_t bytes, struct err *e)
{
    enum err_code rc = open_file(log, path, flags, e);

    if (rc)
        return rc;
    int64_t size = log->file.id.size;
    /* One byte more than asked for tells whether a line begins exactly where the window does. */
    int64_t from = (uint64_t)size > bytes ? size - (int64_t)bytes - 1 : 0;

    rc = fill_buffer(log, from, (size_t)(size - from), e);
    if (rc)
        goto fail;
    struct slice window = buf_slice(&log->bytes), part;
    bool torn = false;

    if (from > 0 && slice_line(&window, &part, &torn))
        from += (int64_t)part.n + !torn;
    rc = index_bytes(&log->index, window, from, keys, INDEX_VALIDATE, e);
    if (rc)
        goto fail;
    return ERR_OK;
fail:
    logfile_close(log);
    return rc;
}

static bool buffer_holds(const struct logfile *log, int64_t at, size_t n)
{
    return at >= log->at && at + (int64_t)n <= log->at + (int64_t)log->bytes.n;
}

enum err_code logfile_row(struct logfile *log, size_t line, struct slice *row, struct err *e)
{
    const struct index_line *l = &log->index.line[line];

    if (!buffer_holds(log, l->offset, l->length)) {
        int64_t end = log->at + (int64_t)log->bytes.n;
        bool walking = l->offset + (int64_t)l->length > end && l->offset <= end + NEAR;
        size_t want = walking && l->length < READ_AHEAD ? READ_AHEAD : l->length;
        enum err_code rc = fill_buffer(log, l->offset, want, e);

        if (rc)
            return rc;
        if (!buffer_holds(log, l->offset, l->length))
            return err_set(e, ERR_STALE, log->path, "read line %zu: the file became shorter", line);
    }
    *row = (struct slice){ log->bytes.p + (l->offset - log->at), l->length };
    return ERR_OK;
}

void logfile_close(struct logfile *log)
{
    file_close(&log->file);
    index_fini(&log->index);
    buf_fini(&log->bytes);
    *log = (struct logfile){ .file.fd = -1 };
}
