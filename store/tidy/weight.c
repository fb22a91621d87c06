#include "store/tidy/weight.h"

#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void weigh(const FTSENT *f, struct weight *w)
{
    bool is_file = f->fts_info == FTS_F || f->fts_info == FTS_SL || f->fts_info == FTS_SLNONE ||
                   f->fts_info == FTS_DEFAULT;

    if (!is_file && f->fts_info != FTS_D)
        return;
    const struct stat *sb = f->fts_statp;
    int64_t ms = (int64_t)sb->st_mtim.tv_sec * 1000 + sb->st_mtim.tv_nsec / 1000000;

    w->files += is_file;
    w->bytes += is_file ? sb->st_size : 0;
    w->newest_ms = ms > w->newest_ms ? ms : w->newest_ms;
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
