#include "store/maintenance/trash_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/path.h"
#include "store/git/repo.h"

/* ---- adding ---- */

static enum err_code copy_refs(struct arena *a, const struct trash_request *r,
                               struct trash_item *item, struct err *e)
{
    item->ref = arena_zalloc(a, sizeof *item->ref * (r->owned_refs_n + 1));
    if (!item->ref)
        return err_nomem(e);
    for (; item->refs < r->owned_refs_n; item->refs++) {
        const struct owned_ref *was = &r->owned_refs[item->refs];
        struct trash_ref x = {
            .was = { arena_copy(a, slice_of(was->git)).p, arena_copy(a, slice_of(was->name)).p,
                     arena_copy(a, slice_of(was->tip)).p },
            .kept = arena_format(a, OWNED_REF_TRASH "%s.%zu", item->trash_id, item->refs),
        };

        if (!x.was.git || !x.was.name || !x.was.tip || !x.kept)
            return err_nomem(e);
        item->ref[item->refs] = x;
    }
    return ERR_OK;
}

/* The parts that exist, with the names that they get as item n of the batch. */
static enum err_code add_parts(struct arena *a, const struct trash_request *r, const char *dir,
                               size_t n, struct presence *presence, struct trash_item *item,
                               struct err *e)
{
    struct disk_usage usage = { 0 };

    for (size_t k = 0; k < r->parts; k++) {
        const char *path = r->copy ? r->copy[k] : r->part[k];
        struct stat st;
        bool there;

        /* Only the first part has to exist. */
        TRY(path_presence_lookup(presence, path, &there, &st, e));
        if (!there && k == 0)
            return err_set(e, ERR_NOT_FOUND, r->part[k], "delete: no such session");
        if (!there)
            continue;
        item->from[item->parts] = arena_copy(a, slice_of(r->part[k])).p;
        item->part[item->parts] = trash_part_path(a, dir, n, item->parts, item->session);
        NEED(item->from[item->parts] && item->part[item->parts]);
        item->parts++;
        if (S_ISDIR(st.st_mode))
            TRY(disk_usage_add(path, &usage, e));
        else
            disk_usage_add_file(&st, &usage);
    }
    item->files = usage.files;
    item->bytes = usage.bytes;
    return ERR_OK;
}

enum err_code trash_item_make(struct trash_list *list, const struct trash_request *r,
                              const char *dir, const char *batch, int64_t now_ms,
                              struct presence *presence, struct err *e)
{
    struct arena *a = &list->arena;
    size_t n = list->n;
    struct trash_item item = { .trash_id = arena_format(a, "%s.%zu", batch, n),
                               .system = arena_copy(a, slice_of(r->system)).p,
                               .store = arena_copy(a, slice_of(r->store)).p,
                               .session = arena_copy(a, r->id).p,
                               .title = arena_copy(a, r->title.p ? r->title : SLICE("")).p,
                               .deleted_ms = now_ms,
                               .stays = r->stays,
                               .part = arena_zalloc(a, sizeof *item.part * (r->parts + 1)),
                               .from = arena_zalloc(a, sizeof *item.from * (r->parts + 1)) };
    item.dir = arena_copy_text(a, r->dir);
    if (!item.trash_id || (r->dir && !item.dir) || !item.system || !item.store || !item.session ||
        !item.title || !item.part || !item.from)
        return err_nomem(e);
    TRY(add_parts(a, r, dir, n, presence, &item, e));
    TRY(copy_refs(a, r, &item, e));
    item.path = item.parts ? item.from[0] : item.store;
    list->item[list->n++] = item;
    return ERR_OK;
}

/* The new name is made first, so that the commit always has one. */
static enum err_code rename_ref(struct change *c, const struct owned_ref *was, const char *from,
                                const char *to, struct err *e)
{
    const struct slice tip = slice_of(was->tip);
    const struct step make = {
        .kind = STEP_REF, .path = was->git, .to = to, .bytes = tip, .old_absent = true
    };
    const struct step drop = {
        .kind = STEP_REF, .path = was->git, .to = from, .old = tip, .absent = true
    };

    TRY(change_add(c, &make, e));
    return change_add(c, &drop, e);
}

enum err_code trash_name_session(struct change *c, const struct trash_item *item, struct err *e)
{
    const struct change_origin origin = { .store = item->store,
                                          .dir = item->dir,
                                          .title = item->title[0] ? item->title : NULL };

    TRY(change_add_session(c, item->system, slice_of(item->session), e));
    return change_set_origin(c, &origin, e);
}

static enum err_code plan_trash_batch(struct change *c, const struct trash_list *list,
                                      const char *dir, struct err *e)
{
    AUTO_BUF info = { 0 };
    struct step put = { .kind = STEP_PUT, .old_absent = true, .mtime_ns = MTIME_NOW };

    /* The list comes before the moves, so that everything in a batch can be restored. */
    TRY(trash_info_print(list, &info, e));
    put.path = arena_format(&c->arena, "%s/info", dir);
    put.bytes = buf_slice(&info);
    NEED(put.path);
    TRY(change_add(c, &put, e));
    for (size_t i = 0; i < list->n; i++) {
        const struct trash_item *item = &list->item[i];

        TRY(trash_name_session(c, item, e));
        for (size_t k = 0; k < item->refs; k++)
            TRY(rename_ref(c, &item->ref[k].was, item->ref[k].was.name, item->ref[k].kept, e));
        for (size_t k = 0; k < item->parts; k++) {
            struct step move = { .kind = STEP_MOVE, .path = item->from[k], .to = item->part[k] };

            TRY(change_add(c, &move, e));
        }
    }
    return ERR_OK;
}

enum err_code trash_batch_dir(const struct store_env *env, char name[48], char dir[PATH_MAX],
                              struct err *e)
{
    unsigned suffix = 0;

    for (bool taken;;) {
        char below[64];

        snprintf(name, 48, "%015lld-%u", (long long)env->now_ms, suffix++);
        snprintf(below, sizeof below, "trash/%s", name);
        TRY(env_data_path(env, below, dir, e));
        TRY(file_at_stat(dir, &taken, NULL, e));
        if (!taken) {
            /* Other users have no access to the trash nor to the batch. */
            char trash[PATH_MAX];

            TRY(env_data_path(env, "trash", trash, e));
            TRY(disk_own_dir(env->data_dir, trash, e));
            return disk_private_dir(dir, e);
        }
    }
}

enum err_code trash_add(struct change_log *log, const struct store_env *env, const char *kind,
                        const struct trash_request *request, size_t n, struct trash_list *out,
                        struct err *e)
{
    struct trash_list list = { 0 };
    struct presence presence = { .n = 0 };
    char batch[48], dir[PATH_MAX];
    struct change *c = change_new(kind);
    enum err_code rc = trash_batch_dir(env, batch, dir, e);
    bool made = !rc;

    list.item = arena_zalloc(&list.arena, sizeof *list.item * (n + 1));
    if (!rc && (!c || !list.item))
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = trash_item_make(&list, &request[i], dir, batch, env->now_ms, &presence, e);
    path_presence_fini(&presence);
    if (!rc)
        rc = plan_trash_batch(c, &list, dir, e);
    if (!rc) {
        c->text = "moved to trash";
        rc = change_run(log, c, e);
    }
    change_free(c);
    if (rc) {
        /* A directory that is not empty still contains parts of a session, and stays. */
        if (made)
            rmdir(dir);
        trash_list_fini(&list);
        return rc;
    }
    *out = list;
    return ERR_OK;
}

/* ---- copies of what an agent deletes itself ---- */

enum err_code trash_keep(const struct store_env *env, const struct trash_request *request,
                         struct trash_list *out, struct err *e)
{
    struct trash_list list = { 0 };
    struct presence presence = { .n = 0 };
    struct buf info = { 0 };
    char batch[48], dir[PATH_MAX];
    enum err_code rc = trash_batch_dir(env, batch, dir, e);
    bool made = !rc;

    list.item = arena_zalloc(&list.arena, sizeof *list.item);
    if (!rc && !list.item)
        rc = err_nomem(e);
    if (!rc)
        rc = trash_item_make(&list, request, dir, batch, env->now_ms, &presence, e);
    if (!rc)
        rc = trash_info_print(&list, &info, e);
    if (!rc) {
        /* The list of the contents is written last, when all copies exist. */
        for (size_t k = 0; k < list.item[0].parts && !rc; k++)
            rc = copy_tree(list.item[0].from[k], list.item[0].part[k], e);
        if (!rc)
            rc = disk_replace_file(dir, "info", buf_slice(&info), 0600, e);
    }
    path_presence_fini(&presence);
    buf_fini(&info);
    if (!rc) {
        *out = list;
        return ERR_OK;
    }
    if (made && copy_remove(dir, NULL))
        err_wrap(e, rc, "and a part of a copy remains in the trash");
    trash_list_fini(&list);
    return rc;
}

enum err_code trash_forget(const struct trash_list *list, bool *kept, struct err *e)
{
    const struct trash_item *item = &list->item[0];
    char dir[PATH_MAX];

    *kept = false;
    for (size_t k = 0; k < item->parts && !*kept; k++)
        *kept = copy_compare(item->part[k], item->from[k], NULL) != ERR_OK;
    return *kept || !item->parts || !path_parent(item->part[0], dir) ? ERR_OK : copy_remove(dir, e);
}

/* ---- listing ---- */

/* A repository that is gone has no refs; one that cannot be opened may have some. */
static bool trash_has_ref(const struct trash_ref *x)
{
    CLEANUP(repo_close_at) git_repository *repo = NULL;
    git_oid id;
    bool there;
    enum err_code rc = repo_open(x->was.git, &repo, NULL);

    if (rc)
        return rc != ERR_NOT_FOUND;
    return repo_ref(repo, x->kept, &there, &id, NULL) || there;
}

enum err_code trash_read(const struct store_env *env, struct trash_list *out, struct err *e)
{
    char dir[PATH_MAX], sub[PATH_MAX], info[PATH_MAX];
    struct dirent **names;
    CLEANUP(trash_list_fini) struct trash_list list = { 0 };
    enum err_code rc = ERR_OK;

    TRY(env_data_path(env, "trash", dir, e));
    int n = scandir(dir, &names, NULL, alphasort);

    if (n < 0 && errno != ENOENT)
        return err_sys(e, dir, "read the trash");
    for (int i = n - 1; i >= 0; i--) {
        const char *name = names[i]->d_name;
        bool fits = (size_t)snprintf(sub, sizeof sub, "%s/%s", dir, name) < sizeof sub &&
                    (size_t)snprintf(info, sizeof info, "%s/info", sub) < sizeof info;

        /* A batch whose document cannot be read is skipped; doctor reports it. */
        if (fits && name[0] != '.' && !rc && !disk_check_own(sub, e) && !disk_check_own(info, e) &&
            trash_info_read(sub, name, &list, e) == ERR_NOMEM)
            rc = ERR_NOMEM;
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    TRY(rc);

    /* The document of a batch still contains the items that were restored. */
    size_t kept = 0;

    for (size_t i = 0; i < list.n; i++) {
        const struct trash_item *item = &list.item[i];
        bool there;

        if (item->parts ? file_at_stat(item->part[0], &there, NULL, NULL) || there
                        : item->refs && trash_has_ref(&item->ref[0]))
            list.item[kept++] = *item;
    }
    list.n = kept;
    HAND_OVER(out, list);
    return ERR_OK;
}

/* ---- restoring and destroying ---- */

enum err_code trash_plan_move(struct change *c, const char *from, const char *to, struct err *e)
{
    const struct step move = { .kind = STEP_MOVE, .path = from, .to = to, .made = true };

    char dir[PATH_MAX];
    bool there = true;

    if (path_parent(to, dir))
        TRY(file_at_stat(dir, &there, NULL, e));
    if (!there)
        TRY(disk_private_dir(dir, e));
    return change_add(c, &move, e);
}

enum err_code trash_restore_all(struct change_log *log, const struct trash_item *const item[],
                                size_t n, struct err *e)
{
    CLEANUP(change_free_at) struct change *c = change_new("restore");

    NEED(c);
    c->text = "restored from the trash";
    for (size_t i = 0; i < n; i++) {
        TRY(trash_name_session(c, item[i], e));
        for (size_t k = 0; k < item[i]->refs; k++)
            TRY(rename_ref(c, &item[i]->ref[k].was, item[i]->ref[k].kept, item[i]->ref[k].was.name,
                           e));
        for (size_t k = 0; k < item[i]->parts; k++)
            TRY(trash_plan_move(c, item[i]->part[k], item[i]->from[k], e));
    }
    return change_run(log, c, e);
}

const struct trash_item *trash_find(const struct trash_list *list, const char *id)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->item[i].trash_id, id) == 0)
            return &list->item[i];
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->item[i].session, id) == 0)
            return &list->item[i];

    const struct trash_item *found = NULL;
    const size_t n = strlen(id);

    for (size_t i = 0; i < list->n && n >= TRASH_PREFIX_LEAST; i++) {
        if (strncmp(list->item[i].session, id, n) != 0)
            continue;
        if (found && strcmp(found->session, list->item[i].session) != 0)
            return NULL;
        found = found ? found : &list->item[i];
    }
    return found;
}

enum err_code trash_restore(struct change_log *log, const struct trash_item *item, struct err *e)
{
    return trash_restore_all(log, &item, 1, e);
}

/* Without a name its commit is removed by git's own gc. */
static enum err_code destroy_ref(const struct trash_ref *x, struct err *e)
{
    CLEANUP(repo_close_at) git_repository *repo = NULL;
    git_oid tip;
    bool there;
    enum err_code rc = repo_open(x->was.git, &repo, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    TRY(repo_ref(repo, x->kept, &there, &tip, e));
    return there ? repo_ref_move(repo, x->kept, &tip, NULL, "reprise: the trash was emptied", e)
                 : ERR_OK;
}

enum err_code trash_destroy(const struct store_env *env, const struct trash_item *item,
                            struct err *e)
{
    char trash[PATH_MAX];

    TRY(env_data_path(env, "trash/", trash, e));

    /* The transcript last: until then the item is listed, and can be destroyed again. */
    for (size_t k = item->refs; k > 0; k--)
        TRY(destroy_ref(&item->ref[k - 1], e));
    for (size_t k = item->parts; k > 0; k--) {
        if (strncmp(item->part[k - 1], trash, strlen(trash)) != 0)
            return err_set(e, ERR_UNSAFE, item->part[k - 1], "destroy: not in the trash");
        TRY(copy_remove(item->part[k - 1], e));
    }
    return ERR_OK;
}
