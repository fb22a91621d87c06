#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/fs/path.h"
#include "store/rewind/record/record.h"

/* Entries in a directory that the rewind makes or removes: where their temporary names are, and when they are applied. */

bool rewind_tx_has_was(const struct rewind_tx_entry *x)
{
    return x->action == REWIND_DELETE || (x->action == REWIND_CREATE && S_ISDIR(x->seen.mode));
}

enum err_code rewind_tx_link_attrs(struct rewind_tx_entry *x, int dir, const char *name,
                                   struct err *e)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return rewind_tx_open_error(x, e);
    x->was = (struct attrs){ .uid = st.st_uid,
                             .gid = st.st_gid,
                             .mtime_ns = rewind_tx_file_id(&st).mtime_ns };
    return ERR_OK;
}

enum err_code rewind_tx_place_temps(struct rewind_tx *tx, struct err *e)
{
    struct slice_set dirs = { .n = 0 };
    enum err_code rc = ERR_OK;
    uint32_t number;

    for (size_t i = 0; i < tx->n && !rc; i++) {
        const struct rewind_tx_entry *x = &tx->entry[i];
        const bool is_made = x->action != REWIND_DELETE && S_ISDIR(x->mode);
        const bool was_there = x->seen.exists && S_ISDIR(x->seen.mode);

        if (is_made != was_there && slice_set_add(&dirs, slice_of(x->path), &number))
            rc = err_nomem(e);
    }
    for (size_t i = 0; i < tx->n && dirs.n && !rc; i++) {
        struct rewind_tx_entry *x = &tx->entry[i];

        /* The number of directories from the entry's own up to the highest one that is made or
         * removed. */
        unsigned n = 0, up = 0;

        for (const char *slash = x->path + strlen(x->path) - 1; slash > x->path; slash--) {
            if (*slash != '/')
                continue;
            n++;
            if (slice_set_find(&dirs, (struct slice){ x->path, (size_t)(slash - x->path) }) !=
                SLICE_SET_NONE)
                up = n;
        }

        x->up = up;

        if (x->action == REWIND_DELETE && x->dirs < x->up)
            x->dirs = x->up;
    }
    slice_set_fini(&dirs);
    return rc;
}

void rewind_tx_temp_path(const struct rewind_tx_entry *x, char out[PATH_MAX])
{
    memcpy(out, x->path, strlen(x->path) + 1);
    for (unsigned i = 0; i < x->up; i++)
        *strrchr(out, '/') = '\0';
}

/* What is deleted goes first, from the lowest directories up; then what is made comes, from the highest down; then the
 * permissions of directories, which may forbid the rest. */
static int apply_step_of(const struct rewind_tx_entry *x)
{
    return x->action == REWIND_DELETE ? 0 : x->mode_only && S_ISDIR(x->mode) ? 2 : 1;
}

static int compare_steps(const void *a, const void *b)
{
    const struct rewind_tx_entry *const *x = a, *const *y = b;
    const int step = apply_step_of(*x), d = step - apply_step_of(*y);

    return d ? d : step == 1 ? strcmp((*x)->path, (*y)->path) : strcmp((*y)->path, (*x)->path);
}

void rewind_tx_sort(struct rewind_tx *tx, struct rewind_tx_entry **order)
{
    for (size_t i = 0; i < tx->n; i++)
        order[i] = &tx->entry[i];
    qsort(order, tx->n, sizeof *order, compare_steps);
}

bool rewind_tx_waits_for_dir(const struct rewind_tx *tx, const struct rewind_tx_entry *x)
{
    for (size_t i = 0; i < tx->n; i++)
        if (tx->entry[i].waits && S_ISDIR(tx->entry[i].mode) &&
            path_under(slice_of(x->path), slice_of(tx->entry[i].path)))
            return true;
    return false;
}
