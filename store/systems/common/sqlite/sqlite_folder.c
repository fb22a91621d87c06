#include "store/systems/common/sqlite/sqlite_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/io/file.h"

static int compare_ids(const void *x, const void *y)
{
    return slice_compare(*(const struct slice *)x, *(const struct slice *)y);
}

enum err_code sqlite_folder_ids(const char *folder, const char *end, struct arena *a,
                                struct folder_ids *out, struct err *e)
{
    const struct dirent *entry;
    size_t k = strlen(end);
    bool ok = folder != NULL;
    DIR *dir = folder ? opendir(folder) : NULL;

    *out = (struct folder_ids){ NULL, 0 };
    while (dir && ok && (entry = readdir(dir))) {
        struct slice name = slice_of(entry->d_name);

        if (name.n <= k || memcmp(name.p + name.n - k, end, k) != 0)
            continue;
        name.n -= k;
        if (sqlite_store_is_id(name))
            ok = arena_add_copy(a, &out->of, &out->n, name);
    }
    if (dir)
        closedir(dir);
    if (out->n)
        qsort(out->of, out->n, sizeof *out->of, compare_ids);
    return ok ? ERR_OK : err_nomem(e);
}

/* The lines at the beginning and at the end of a file that are whole. */
static enum err_code read_ends(const struct file *f, size_t most, struct buf *text)
{
    struct buf end = { 0 };
    enum err_code rc = file_read_part(f, 0, most, text, NULL);

    while (text->n && text->p[text->n - 1] != '\n')
        text->n--;
    if (!rc)
        rc = file_read_part(f, f->id.size - (int64_t)most, most, &end, NULL);
    const char *line = end.n ? memchr(end.p, '\n', end.n) : NULL;

    if (!rc && line)
        rc = buf_add(text, (struct slice){ line + 1, (size_t)(end.p + end.n - line - 1) });
    buf_fini(&end);
    return rc;
}

enum err_code sqlite_folder_text(const char *path, size_t most, struct buf *text,
                                 int64_t *modified_ms, struct err *e)
{
    struct file f;
    enum err_code rc = path ? file_open(AT_FDCWD, path, 0, &f, NULL) : ERR_NOMEM;

    text->n = 0;
    if (!rc) {
        *modified_ms = session_modified_ms(&f.id);
        rc = f.id.size > 2 * (int64_t)most ? read_ends(&f, most, text)
                                           : file_read_part(&f, 0, (size_t)f.id.size, text, NULL);
        file_close(&f);
    }
    text->n = rc ? 0 : text->n;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}
