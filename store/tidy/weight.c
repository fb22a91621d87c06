#include "store/tidy/weight.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>

static void add_time(const struct stat *st, struct weight *w)
{
    int64_t ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;

    w->newest_ms = ms > w->newest_ms ? ms : w->newest_ms;
}

void weight_file(const struct stat *st, struct weight *w)
{
    w->files++;
    w->bytes += st->st_size;
    add_time(st, w);
}

static void weigh(const FTSENT *f, struct weight *w)
{
    switch (f->fts_info) {
    case FTS_F:
    case FTS_SL:
    case FTS_SLNONE:
    case FTS_DEFAULT: weight_file(f->fts_statp, w); break;
    case FTS_D: add_time(f->fts_statp, w); break;
    default: break;
    }
}

enum err_code weight_add(const char *path, struct weight *w, struct err *e)
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
        weigh(f, w);
    fts_close(fts);
    free(copy);
    return ERR_OK;
}
