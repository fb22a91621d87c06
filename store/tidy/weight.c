#include "store/tidy/weight.h"

#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    while ((f = fts_read(fts))) {
        bool has_stat = f->fts_info == FTS_F || f->fts_info == FTS_SL ||
                        f->fts_info == FTS_SLNONE || f->fts_info == FTS_DEFAULT;

        w->files += has_stat;
        w->bytes += has_stat ? f->fts_statp->st_size : 0;
    }
    fts_close(fts);
    free(copy);
    return ERR_OK;
}
