#include "store/maintenance/trash.h"

#include <cjson/cJSON.h>
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
#include "store/git/ref.h"
#include "store/git/repo.h"
#include "store/maintenance/trash_info.h"

/* ---- putting in ---- */

static char *copy_trash_slice(struct arena *a, struct slice s)
{
    return (char *)arena_copy(a, s).p;
}

static enum err_code measure_path(const char *path, const struct stat *st, struct disk_usage *w,
                                  struct err *e)
{
    if (S_ISDIR(st->st_mode))
        return disk_usage_add(path, w, e);
    disk_usage_add_file(st, w);
    return ERR_OK;
}

static const char *copy_trash_text(struct arena *a, const char *text)
{
    return copy_trash_slice(a, slice_of(text));
}

static enum err_code take_refs(struct arena *a, const struct trash_request *r,
                               struct trash_item *item, struct err *e)
{
    item->ref = arena_zalloc(a, sizeof *item->ref * (r->owned_refs_n + 1));
    if (!item->ref)
        return err_nomem(e);
    for (; item->refs < r->owned_refs_n; item->refs++) {
        const struct owned_ref *was = &r->owned_refs[item->refs];
        struct trash_ref x = {
            .was = { copy_trash_text(a, was->git), copy_trash_text(a, was->name),
                     copy_trash_text(a, was->tip) },
            .kept = arena_format(a, OWNED_REF_TRASH "%s.%zu", item->trash_id, item->refs),
        };

        if (!x.was.git || !x.was.name || !x.was.tip || !x.kept)
            return err_nomem(e);
        item->ref[item->refs] = x;
    }
    return ERR_OK;
}

static enum err_code item_make(struct trash_list *list, const struct trash_request *r,
                               const char *dir, const char *batch, int64_t now_ms,
                               struct presence *presence, struct err *e)
{
    struct arena *a = &list->arena;
    size_t n = list->n;
    struct trash_item item = { .trash_id = arena_format(a, "%s.%zu", batch, n),
                               .system = copy_trash_slice(a, slice_of(r->system)),
                               .store = copy_trash_slice(a, slice_of(r->store)),
                               .session = copy_trash_slice(a, r->id),
                               .title = copy_trash_slice(a, r->title.p ? r->title : SLICE("")),
                               .deleted_ms = now_ms,
                               .stays = r->stays,
                               .part = arena_zalloc(a, sizeof *item.part * (r->parts + 1)),
                               .from = arena_zalloc(a, sizeof *item.from * (r->parts + 1)) };
    struct disk_usage weight = { 0 };
    enum err_code rc = ERR_OK;

    item.dir = r->dir ? copy_trash_text(a, r->dir) : NULL;
    if (!item.trash_id || (r->dir && !item.dir) || !item.system || !item.store || !item.session ||
        !item.title || !item.part || !item.from)
        return err_nomem(e);
    for (size_t k = 0; k < r->parts && !rc; k++) {
        struct stat st;
        bool there;

        rc = path_presence_lookup(presence, r->part[k], &there, &st, e);
        if (rc || (!there && k == 0))
            return rc ? rc : err_set(e, ERR_NOT_FOUND, r->part[k], "delete: no such session");
        if (!there)
            continue;
        item.from[item.parts] = copy_trash_slice(a, slice_of(r->part[k]));
        item.part[item.parts] = trash_part_path(a, dir, n, item.parts, item.session);
        if (!item.from[item.parts] || !item.part[item.parts])
            return err_nomem(e);
        item.parts++;
        rc = measure_path(r->part[k], &st, &weight, e);
    }
    if (!rc)
        rc = take_refs(a, r, &item, e);
    item.files = weight.files;
    item.bytes = weight.bytes;
    item.path = item.parts ? item.from[0] : item.store;
    list->item[list->n++] = item;
    return rc;
}

/* The new name first: there is no moment at which nothing names the commit. */
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
    enum err_code rc = change_add(c, &make, e);

    return rc ? rc : change_add(c, &drop, e);
}

static enum err_code name_session(struct change *c, const struct trash_item *item, struct err *e)
{
    const struct change_origin origin = { .store = item->store,
                                          .dir = item->dir,
                                          .title = item->title[0] ? item->title : NULL };
    enum err_code rc = change_add_session(c, item->system, slice_of(item->session), e);

    return rc ? rc : change_set_origin(c, &origin, e);
}

static enum err_code plan_trash_moves(struct change *c, const struct trash_list *list,
                                      struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc; i++) {
        const struct trash_item *item = &list->item[i];

        rc = name_session(c, item, e);
        for (size_t k = 0; k < item->refs && !rc; k++)
            rc = rename_ref(c, &item->ref[k].was, item->ref[k].was.name, item->ref[k].kept, e);
        for (size_t k = 0; k < item->parts && !rc; k++) {
            struct step move = { .kind = STEP_MOVE, .path = item->from[k], .to = item->part[k] };

            rc = change_add(c, &move, e);
        }
    }
    return rc;
}

static enum err_code plan_trash_batch(struct change *c, const struct trash_list *list,
                                      const char *dir, struct err *e)
{
    struct buf info = { 0 };
    struct step put = { .kind = STEP_PUT, .old_absent = true, .mtime_ns = MTIME_NOW };
    enum err_code rc = trash_info_print(list, &info, e);

    put.path = arena_format(&c->arena, "%s/info", dir);
    put.bytes = buf_slice(&info);
    if (!rc && !put.path)
        rc = err_nomem(e);
    if (!rc)
        rc = change_add(c, &put, e);
    if (!rc)
        rc = plan_trash_moves(c, list, e);
    buf_fini(&info);
    return rc;
}

/* The trash is closed to others, and so is the batch. */
static enum err_code own_batch(const struct store_env *env, const char *dir, struct err *e)
{
    char trash[PATH_MAX];
    enum err_code rc = env_data_path(env, "trash", trash, e);

    if (!rc)
        rc = disk_own_dir(env->data_dir, trash, e);
    return rc ? rc : disk_private_dir(dir, e);
}

static enum err_code batch_dir(const struct store_env *env, char name[48], char dir[PATH_MAX],
                               struct err *e)
{
    unsigned suffix = 0;

    for (bool taken;;) {
        char below[64];

        snprintf(name, 48, "%015lld-%u", (long long)env->now_ms, suffix++);
        snprintf(below, sizeof below, "trash/%s", name);
        enum err_code rc = env_data_path(env, below, dir, e);

        if (!rc)
            rc = file_at_stat(dir, &taken, NULL, e);
        if (rc)
            return rc;
        if (!taken)
            return own_batch(env, dir, e);
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
    enum err_code rc = batch_dir(env, batch, dir, e);
    bool made = !rc;

    list.item = arena_zalloc(&list.arena, sizeof *list.item * (n + 1));
    if (!rc && (!c || !list.item))
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = item_make(&list, &request[i], dir, batch, env->now_ms, &presence, e);
    path_presence_fini(&presence);
    if (!rc)
        rc = plan_trash_batch(c, &list, dir, e);
    if (!rc) {
        c->text = "moved to trash";
        rc = change_run(log, c, e);
    }
    change_free(c);
    if (rc) {
        if (made) /* else it has no name, or is another's */
            rmdir(dir);
        trash_list_fini(&list);
        return rc;
    }
    *out = list;
    return ERR_OK;
}

/* ---- looking in ---- */

void trash_list_fini(struct trash_list *list)
{
    arena_fini(&list->arena);
    *list = (struct trash_list){ 0 };
}

static enum err_code read_batch(const char *dir, const char *batch, struct trash_list *out,
                                struct err *e)
{
    struct buf path = { 0 }, text = { 0 };
    enum err_code rc = buf_addf(&path, "%s/info", dir);

    if (rc || !buf_cstr(&path))
        rc = err_nomem(e);
    if (!rc)
        rc = disk_check_own(dir, e);
    if (!rc)
        rc = disk_check_own(path.p, e);
    if (!rc)
        rc = file_read_all(AT_FDCWD, path.p, 0, 256u << 20, &text, e);
    if (!rc)
        rc = trash_info_parse(buf_slice(&text), dir, batch, out, e);
    buf_fini(&path);
    buf_fini(&text);
    return rc;
}

/* A repository that is gone has no refs; of one that cannot be opened nobody knows. */
static bool has_ref(const struct trash_ref *x)
{
    git_repository *repo;
    git_oid id;
    bool there;
    enum err_code rc = repo_open(x->was.git, &repo, NULL);

    if (rc)
        return rc != ERR_NOT_FOUND;
    rc = repo_ref(repo, x->kept, &there, &id, NULL);
    repo_close(repo);
    return rc || there;
}

/* Restored items are still named in the document of their batch. */
static void drop_gone(struct trash_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct trash_item *item = &list->item[i];
        bool there;

        if (item->parts ? file_at_stat(item->part[0], &there, NULL, NULL) || there
                        : item->refs && has_ref(&item->ref[0]))
            list->item[kept++] = *item;
    }
    list->n = kept;
}

enum err_code trash_read(const struct store_env *env, struct trash_list *out, struct err *e)
{
    char dir[PATH_MAX], sub[PATH_MAX];
    struct dirent **names;
    struct trash_list list = { 0 };
    enum err_code rc = env_data_path(env, "trash", dir, e);

    if (rc)
        return rc;
    int n = scandir(dir, &names, NULL, alphasort);

    if (n < 0 && errno != ENOENT)
        return err_sys(e, dir, "read the trash");
    for (int i = n - 1; i >= 0; i--) {
        const char *name = names[i]->d_name;
        bool fits = (size_t)snprintf(sub, sizeof sub, "%s/%s", dir, name) < sizeof sub;

        /* A batch whose document cannot be read stays where it is; doctor names it. */
        if (fits && name[0] != '.' && !rc && read_batch(sub, name, &list, e) == ERR_NOMEM)
            rc = ERR_NOMEM;
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    if (rc) {
        trash_list_fini(&list);
        return rc;
    }
    drop_gone(&list);
    *out = list;
    return ERR_OK;
}

/* ---- taking out ---- */

static enum err_code make_parent(const char *path, struct err *e)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path || (size_t)(slash - path) >= sizeof dir)
        return ERR_OK;
    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = '\0';
    bool there;
    enum err_code rc = file_at_stat(dir, &there, NULL, e);

    return rc || there ? rc : disk_private_dir(dir, e);
}

enum err_code trash_plan_move(struct change *c, const char *from, const char *to, struct err *e)
{
    const struct step move = { .kind = STEP_MOVE, .path = from, .to = to };
    enum err_code rc = make_parent(to, e);

    return rc ? rc : change_add(c, &move, e);
}

static enum err_code plan_restore(struct change *c, const struct trash_item *item, struct err *e)
{
    enum err_code rc = name_session(c, item, e);

    for (size_t k = 0; k < item->refs && !rc; k++)
        rc = rename_ref(c, &item->ref[k].was, item->ref[k].kept, item->ref[k].was.name, e);
    for (size_t k = 0; k < item->parts && !rc; k++)
        rc = trash_plan_move(c, item->part[k], item->from[k], e);
    return rc;
}

enum err_code trash_restore_all(struct change_log *log, const struct trash_item *const item[],
                                size_t n, struct err *e)
{
    struct change *c = change_new("restore");
    enum err_code rc = c ? ERR_OK : err_nomem(e);

    if (!rc)
        c->text = "restored from the trash";
    for (size_t i = 0; i < n && !rc; i++)
        rc = plan_restore(c, item[i], e);
    if (!rc)
        rc = change_run(log, c, e);
    change_free(c);
    return rc;
}

enum err_code trash_restore(struct change_log *log, const struct store_env *env,
                            const struct trash_item *item, struct err *e)
{
    (void)env;
    return trash_restore_all(log, &item, 1, e);
}

/* Nothing names its commit any more then: git's own gc takes it away. */
static enum err_code destroy_ref(const struct trash_ref *x, struct err *e)
{
    git_repository *repo;
    git_oid tip;
    bool there;
    enum err_code rc = repo_open(x->was.git, &repo, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    rc = repo_ref(repo, x->kept, &there, &tip, e);
    if (!rc && there)
        rc = ref_move(repo, x->kept, &tip, NULL, "reprise: the trash was emptied", e);
    repo_close(repo);
    return rc;
}

enum err_code trash_destroy(const struct store_env *env, const struct trash_item *item,
                            struct err *e)
{
    char trash[PATH_MAX];
    enum err_code rc = env_data_path(env, "trash/", trash, e);
    size_t n = rc ? 0 : strlen(trash);

    /* The last part first: while the transcript lies there, the item can still be seen and destroyed again. */
    for (size_t k = item->refs; k > 0 && !rc; k--)
        rc = destroy_ref(&item->ref[k - 1], e);
    for (size_t k = item->parts; k > 0 && !rc; k--) {
        if (strncmp(item->part[k - 1], trash, n) != 0)
            return err_set(e, ERR_UNSAFE, item->part[k - 1], "destroy: not in the trash");
        rc = copy_remove(item->part[k - 1], e);
    }
    return rc;
}
