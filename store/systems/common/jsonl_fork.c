#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/systems/common/jsonl.h"

enum { PIECE = 256 * 1024 };

struct jsonl_fork jsonl_fork_to(const struct logfile *log, size_t line)
{
    const struct index *ix = &log->index;
    bool last = line + 1 == ix->n;

    return (struct jsonl_fork){ .log = log,
                                .end = last ? log->file.id.size : ix->line[line + 1].offset,
                                .newline = last && ix->torn_tail };
}

enum err_code jsonl_fork_each(const struct jsonl_fork *f, jsonl_piece_fn *fn, void *arg,
                              struct err *e)
{
    struct buf piece = { 0 };
    enum err_code rc = ERR_OK;

    for (int64_t at = 0; at < f->end && !rc; at += PIECE) {
        size_t want = f->end - at < PIECE ? (size_t)(f->end - at) : PIECE;

        rc = file_read_part(&f->log->file, at, want, &piece, e);
        if (!rc && piece.n < want)
            rc = err_set(e, ERR_STALE, f->log->path, "fork: the log became shorter");
        if (!rc)
            rc = fn(buf_slice(&piece), arg, e);
    }
    if (!rc && f->newline)
        rc = fn(SLICE("\n"), arg, e);
    buf_fini(&piece);
    return rc;
}

static enum err_code write_piece(struct slice piece, void *arg, struct err *e)
{
    const struct disk_new *to = arg;

    return disk_write(to->fd, piece, NULL, to->path, e);
}

enum err_code jsonl_fork_write(const struct jsonl_fork *f, const char *dir, const char *name,
                               struct err *e)
{
    struct disk_new to;
    enum err_code rc = disk_new_open(dir, 0644, &to, e);

    if (rc)
        return rc;
    rc = jsonl_fork_each(f, write_piece, &to, e);
    if (!rc)
        return disk_new_publish(&to, name, e);
    disk_new_discard(&to);
    return rc;
}
