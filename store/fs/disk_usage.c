#include "store/fs/disk_usage.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>

static void add_time(const struct stat *st, struct disk_usage *w)
{
    int64_t ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;

    w->newest_ms = ms > w->newest_ms ? ms : w->newest_ms;
}

void disk_usage_add_file(const struct stat *st, struct disk_usage *w)
{
    w->files++;
    w->bytes += st->st_size;
    add_time(st, w);
}

static void count_fts_entry(const FTSENT *f, struct disk_usage *w)
{
    switch (f->fts_info) {
    case FTS_F:
    case FTS_SL:
    case FTS_SLNONE:
    case FTS_DEFAULT: disk_usage_add_file(f->fts_statp, w); break;
    case FTS_D: add_time(f->fts_statp, w); break;
    default: break;
    }
}

enum err_code disk_usage_add(const char *path, struct disk_usage *w, struct err *e)
{
    char *copy = strdup(path);
    char *roots[] = { copy, NULL };
    FTS *fts = copy ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    FTSENT *f;

    if (!fts) {
        free(copy);
        return err_sys(e, path, "read directory");
    }
    while ((f = fts_read(fts)))
        count_fts_entry(f, w);
    fts_close(fts);
    free(copy);
    return ERR_OK;
}
