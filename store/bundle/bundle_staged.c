#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/bundle/bundle_internal.h"
#include "store/fs/path.h"

/* The agent's own code has to find an unpacked session in the directory, and each file has to be a part of it. */

static const struct scope staged_everywhere = { .all = true };

enum err_code bundle_staged_open(const struct store_ops *ops, const struct store_env *env,
                                 const char *root, struct arena *a, struct store **out,
                                 struct err *e)
{
    if (ops->folders) {
        const char *folders = arena_format(a, "%s/%s", root, ops->folders);

        NEED(folders);
        TRY(disk_make_dir(folders, 0700, e));
    }
    return ops->open(env, root, out, e);
}

enum err_code bundle_staged_find(const struct store *staged, const char *root,
                                 const struct bundle_session *s, struct arena *a,
                                 struct session_ref *ref, const char **dir, struct err *e)
{
    const struct store_ops *ops = staged->ops;
    const char *path = arena_format(a, "%s/%s", root, s->transcript);
    CLEANUP(session_row_free_at) struct session_row *row = NULL;

    NEED(path);
    TRY(ops->find(staged, &staged_everywhere, slice_of(s->id), a, ref, e));
    if (strcmp(path, ref->path.p) != 0)
        return err_set(e, ERR_UNSAFE, "", "its transcript is not where its agent keeps it");
    NEED(row = session_row_new());
    TRY(ops->describe(staged, &staged_everywhere, ref, row, e));
    if (row->hidden == HIDDEN_UNREADABLE)
        return err_set(e, ERR_FORMAT, "", "its transcript cannot be read");
    *dir = row->cwd.n && row->cwd.p[0] == '/' ? arena_copy(a, row->cwd).p : s->directory;
    return a->failed ? err_nomem(e) : ERR_OK;
}

/* Settings and programs of an agent are in the same store. */
enum err_code bundle_staged_parts(const struct session_ref *ref, const char *root,
                                  const struct bundle_session *s, struct arena *a,
                                  const char ***part, size_t *n, struct err *e)
{
    const struct store *st = ref->store;
    const char **all = NULL;
    size_t parts = 0, there = 0;
    struct stat sb;

    TRY(store_session_parts(st->ops)(st, ref, true, a, &all, &parts, e));
    for (size_t i = 0; i < s->n; i++) {
        const char *file = arena_format(a, "%s/%s", root, s->file[i].path);
        bool is_part = false;

        NEED(file);
        for (size_t k = 0; k < parts && !is_part; k++)
            is_part = path_under(slice_of(file), slice_of(all[k]));
        if (!is_part)
            return err_set(e, ERR_UNSAFE, "", "not a part of the session: %s", s->file[i].path);
    }
    for (size_t i = 0; i < parts; i++)
        if (lstat(all[i], &sb) == 0 && path_under(slice_of(all[i]), slice_of(root)))
            all[there++] = all[i];
    *part = all;
    *n = there;
    return ERR_OK;
}
