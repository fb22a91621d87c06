#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/jsonout.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/snapshots/snapshot.h"
#include "store/snapshots/snapshot_walk.h"

/* Pruning writes one pack with all objects that are still needed, then the shorter log, and removes the old packs last:
 * the log never names what is not there. */

enum { KEEP_DAYS = 30, JUMP_DAYS = 14, LOCK_WAIT_MS = 2000, TREES_DEEP = 256, HALVINGS = 8 };
enum { PACK_FILES_MANY = 200, WANTED_MS = 10000 };
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define KEEP_BYTES ((int64_t)1 << 30)

struct snapshot_prune_rule snapshot_prune_defaults(int64_t now_ms)
{
    return (struct snapshot_prune_rule){ .before_ms = now_ms - KEEP_DAYS * DAY_MS,
                                         .max_bytes = KEEP_BYTES,
                                         .doubts = true };
}

/* ---- the projects ---- */

static enum err_code read_project(struct snapshot_projects *all, const char *dir, bool gone,
                                  struct err *e)
{
    CLEANUP(snapshot_log_fini) struct snapshot_log log = { .dir = dir };
    AUTO_BUF root = { 0 };
    struct snapshot_project p = { .dir = dir };
    struct disk_usage used = { 0 };
    struct snapshot_project *list = arena_grow(&all->arena, all->project, all->n, sizeof *list);
    const char *path = arena_format(&all->arena, "%s/root", dir);

    NEED(list && path);
    all->project = list;
    if (!file_read_all(AT_FDCWD, path, 0, PATH_MAX, &root, NULL))
        p.root = arena_copy(&all->arena, buf_slice(&root)).p;
    if (gone && (!p.root || access(p.root, F_OK) == 0 || errno != ENOENT))
        return ERR_OK;
    if (gone) {
        all->project[all->n++] = p;
        return ERR_OK;
    }
    if (snapshot_log_read_dir(&log, NULL) == ERR_NOMEM)
        return err_nomem(e);
    p.n = log.n;
    if (p.n) {
        p.oldest_ms = log.snapshot[0].time_ms;
        p.newest_ms = log.snapshot[p.n - 1].time_ms;
    }
    p.bytes = disk_usage_add(dir, &used, NULL) ? 0 : used.bytes;
    all->project[all->n++] = p;
    return ERR_OK;
}

static enum err_code read_projects(const struct store_env *env, bool gone,
                                   struct snapshot_projects *out, struct err *e)
{
    CLEANUP(snapshot_projects_fini) struct snapshot_projects all = { .n = 0 };
    const char *copies;

    *out = all;
    if (!env->state_dir)
        return ERR_OK;
    NEED(copies = arena_format(&all.arena, "%s/" SNAPSHOT_COPIES, env->state_dir));
    AUTO_DIR *d = opendir(copies);

    if (!d && errno != ENOENT)
        return err_sys(e, copies, "read the snapshots");
    for (const struct dirent *x; d && (errno = 0, x = readdir(d)) != NULL;) {
        const char *dir = arena_format(&all.arena, "%s/%s", copies, x->d_name);

        NEED(dir);
        if (x->d_name[0] != '.')
            TRY(read_project(&all, dir, gone, e));
    }
    if (d && errno)
        return err_sys(e, copies, "read the snapshots");
    HAND_OVER(out, all);
    return ERR_OK;
}

enum err_code snapshot_projects_read(const struct store_env *env, struct snapshot_projects *out,
                                     struct err *e)
{
    return read_projects(env, false, out, e);
}

enum err_code snapshot_projects_gone(const struct store_env *env, struct snapshot_projects *out,
                                     struct err *e)
{
    return read_projects(env, true, out, e);
}

void snapshot_projects_fini(struct snapshot_projects *p)
{
    arena_fini(&p->arena);
    *p = (struct snapshot_projects){ .n = 0 };
}

/* ---- the objects that remain ---- */

/* A time that is far ahead is that of a clock which was wrong. */
static bool is_since(int64_t then_ms, int64_t now_ms, int64_t ms)
{
    return then_ms > now_ms - ms && then_ms < now_ms + ms;
}

struct pruning {
    const char *wanted; /* the file by which a snapshot says that it waits; NULL: it has to */
    git_repository *repo;
    git_odb *odb;
    struct snapshot_pack pack;
    struct slice_set own;  /* the ids of all objects that are there, in the arena */
    struct slice_set seen; /* those of trees and blobs that were looked at */
    struct arena arena;
};

static void pruning_fini(struct pruning *k)
{
    snapshot_pack_fini(&k->pack);
    slice_set_fini(&k->own);
    slice_set_fini(&k->seen);
    git_odb_free(k->odb);
    repo_close(k->repo);
    arena_fini(&k->arena);
}

static int note_own(const git_oid *id, void *arg)
{
    struct pruning *k = arg;
    const struct slice key =
        arena_copy(&k->arena, (struct slice){ (const char *)id->id, SNAPSHOT_OID });
    uint32_t number;

    return key.p && !slice_set_add(&k->own, key, &number) ? 0 : GIT_EUSER;
}

/* Copies an object into the new pack unless it was copied before; one that is only in the project's own repository is
 * left there. *is_new: it is there, and was not copied before. */
static enum err_code keep_object(struct pruning *k, const git_oid *id, bool *is_new, struct err *e)
{
    const struct slice key =
        arena_copy(&k->arena, (struct slice){ (const char *)id->id, SNAPSHOT_OID });
    size_t before = k->seen.n;
    git_odb_object *object = NULL;
    uint8_t oid[SNAPSHOT_OID];
    uint32_t number;
    struct stat st;

    *is_new = false;
    NEED(key.p && !slice_set_add(&k->seen, key, &number));

    /* A snapshot that waits comes first, because a pruning can be repeated at any time. */
    if (k->wanted && lstat(k->wanted, &st) == 0 &&
        is_since(time_ns(st.st_mtim) / 1000000, time_clock_ms(CLOCK_REALTIME), WANTED_MS))
        return err_set(e, ERR_CANCELLED, k->pack.repo, "prune snapshots: one waits");
    if (k->seen.n == before || slice_set_find(&k->own, key) == SLICE_SET_NONE)
        return ERR_OK;
    int answer = git_odb_read(&object, k->odb, id);

    if (answer)
        return repo_error(e, answer, k->pack.repo, "prune snapshots");
    enum err_code rc = snapshot_pack_add(
        &k->pack, git_odb_object_type(object),
        (struct slice){ git_odb_object_data(object), git_odb_object_size(object) }, oid, e);

    *is_new = true;
    git_odb_object_free(object);
    return rc;
}

static enum err_code keep_tree(struct pruning *k, const git_oid *id, unsigned depth, struct err *e)
{
    AUTO_TREE *tree = NULL;
    bool is_new;

    if (depth > TREES_DEEP)
        return err_set(e, ERR_FORMAT, k->pack.repo, "prune snapshots: a tree is too deep");
    TRY(keep_object(k, id, &is_new, e));
    if (!is_new)
        return ERR_OK;
    TRY(repo_tree(k->repo, id, &tree, e));
    for (size_t i = 0, n = git_tree_entrycount(tree); i < n; i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);

        TRY(git_tree_entry_type(entry) == GIT_OBJECT_TREE
                ? keep_tree(k, git_tree_entry_id(entry), depth + 1, e)
                : keep_object(k, git_tree_entry_id(entry), &is_new, e));
    }
    return ERR_OK;
}

/* Keeps a tree without the file at a path: *out is the tree that replaces it, or itself if it does not have the file. */
static enum err_code keep_tree_without(struct pruning *k, const git_oid *id, struct slice path,
                                       git_oid *out, struct err *e)
{
    const char *slash = memchr(path.p, '/', path.n);
    const struct slice name = { path.p, slash ? (size_t)(slash - path.p) : path.n };
    AUTO_TREE *tree = NULL;
    AUTO_BUF bytes = { 0 };
    git_tree_entry *found = NULL;
    bool is_new;

    *out = *id;
    TRY(repo_tree(k->repo, id, &tree, e));
    if (git_tree_entry_bypath(&found, tree, path.p))
        return keep_tree(k, id, 0, e);
    git_tree_entry_free(found);
    for (size_t i = 0, n = git_tree_entrycount(tree); i < n; i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        bool is_it = slice_eq(slice_of(git_tree_entry_name(entry)), name);
        git_oid child = *git_tree_entry_id(entry);

        if (is_it && !slash)
            continue;
        if (is_it)
            TRY(keep_tree_without(k, git_tree_entry_id(entry),
                                  (struct slice){ slash + 1, path.n - name.n - 1 }, &child, e));
        else if (git_tree_entry_type(entry) == GIT_OBJECT_TREE)
            TRY(keep_tree(k, &child, 0, e));
        else
            TRY(keep_object(k, &child, &is_new, e));

        /* The order of the names stays, so the new tree is sorted, too, as git requires. */
        NEED(!buf_addf(&bytes, "%o %s", (unsigned)git_tree_entry_filemode_raw(entry),
                       git_tree_entry_name(entry)) &&
             !buf_add_byte(&bytes, '\0') &&
             !buf_add(&bytes, (struct slice){ (const char *)child.id, SNAPSHOT_OID }));
    }
    return snapshot_pack_add(&k->pack, GIT_OBJECT_TREE, buf_slice(&bytes), out->id, e);
}

/* Keeps what one snapshot needs, and adds its line to the new log. without: a path below the root, or empty. */
static enum err_code keep_snapshot(struct pruning *k, const struct snapshot *s,
                                   struct slice without, struct buf *log, struct err *e)
{
    char hex[SNAPSHOT_HEX + 3] = "\"";
    git_oid id, tree;
    bool is_new;

    if (s->notes.n && !git_oid_fromstrn(&id, s->notes.p, s->notes.n))
        TRY(keep_object(k, &id, &is_new, e));
    if (s->tree.n && !git_oid_fromstrn(&id, s->tree.p, s->tree.n)) {
        tree = id;
        if (without.n)
            TRY(keep_tree_without(k, &id, without, &tree, e));
        else
            TRY(keep_tree(k, &id, 0, e));
        git_oid_tostr(hex + 1, SNAPSHOT_HEX + 1, &tree);
        hex[SNAPSHOT_HEX + 1] = '"';
        NEED(!json_set(log, s->line, "tree", (struct slice){ hex, SNAPSHOT_HEX + 2 }) &&
             !buf_add_byte(log, '\n'));
        return ERR_OK;
    }
    NEED(!buf_add(log, s->line) && !buf_add_byte(log, '\n'));
    return ERR_OK;
}

/* Keeps the objects that the next snapshot takes over without reading their files. The file at `without`, if any, is
 * forgotten first in both lists of files. */
static enum err_code keep_index(struct pruning *k, const char *dir, struct slice without,
                                struct err *e)
{
    static const char *const names[] = { "files.last", "files" };
    git_oid id;
    bool is_new;

    for (size_t list = 0; list < COUNT_OF(names); list++) {
        CLEANUP(snapshot_index_fini) struct snapshot_index x = { .n = 0 };
        const char *path = arena_format(&k->arena, "%s/%s", dir, names[list]);

        NEED(path);
        TRY(snapshot_index_read(path, &x, e));
        if (without.n && x.n) {
            bool complete = x.complete;

            snapshot_index_forget(&x, without);
            if (complete)
                TRY(snapshot_index_write(&x, dir, "files.last", e));
            TRY(snapshot_index_write(&x, dir, names[list], e));
        }

        /* After a file was forgotten no tree is kept here, because it may still contain the file. */
        for (uint32_t i = 0; i < x.n; i++) {
            memcpy(id.id, x.entry[i].oid, SNAPSHOT_OID);
            if (x.entry[i].kind <= (without.n ? SNAPSHOT_LINK : SNAPSHOT_DIR) &&
                !x.entry[i].borrowed)
                TRY(keep_object(k, &id, &is_new, e));
        }
        memcpy(id.id, x.notes, SNAPSHOT_OID);
        TRY(keep_object(k, &id, &is_new, e));
    }
    return ERR_OK;
}

/* ---- the packs ---- */

/* The names of the files in the folder of packs. */
static enum err_code list_packs(const char *folder, struct arena *a, const char ***name, size_t *n,
                                struct err *e)
{
    AUTO_DIR *d = opendir(folder);

    *n = 0;
    if (!d)
        return err_sys(e, folder, "prune snapshots: read the packs");
    for (const struct dirent *x; (errno = 0, x = readdir(d)) != NULL;)
        if (x->d_name[0] != '.')
            NEED(arena_add_text(a, name, n, x->d_name));
    return errno ? err_sys(e, folder, "prune snapshots: read the packs") : ERR_OK;
}

static bool is_pack_in(const char *name, const char *const *list, size_t n, bool stem)
{
    const char *dot = strrchr(name, '.');
    const size_t length = stem && dot ? (size_t)(dot - name) : strlen(name) + 1;

    for (size_t i = 0; i < n; i++)
        if (strncmp(list[i], name, length) == 0)
            return true;
    return false;
}

/* Removes the packs that were there before. If the new pack is one of them, nothing was dropped, and all stay. A crash may
 * have left one file of the new pack: that name stays, because the file now is a new one. */
static enum err_code remove_packs(const char *folder, const char *const *old, size_t n,
                                  struct arena *a, struct err *e)
{
    const char **now = NULL, **new = NULL;
    size_t now_n, new_n = 0;

    TRY(list_packs(folder, a, &now, &now_n, e));
    for (size_t i = 0; i < now_n; i++)
        if (!is_pack_in(now[i], old, n, false))
            NEED(arena_add_text(a, &new, &new_n, now[i]));
    if (!new_n)
        return ERR_OK;
    /* git looks for an index first, so a pack without one is not missed. */
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < n; i++) {
            const char *path = arena_format(a, "%s/%s", folder, old[i]);
            size_t length = strlen(old[i]);
            bool is_index = length > 4 && strcmp(old[i] + length - 4, ".idx") == 0;

            NEED(path);
            if (is_pack_in(old[i], new, new_n, true))
                continue;
            if (is_index == (round == 0) && unlink(path) && errno != ENOENT)
                return err_sys(e, path, "prune snapshots: remove a pack");
        }
    return disk_sync_dir(folder, e);
}

static enum err_code replace_packs(struct pruning *k, const struct snapshot_log *log,
                                   const bool *goes, struct slice without, struct err *e)
{
    AUTO_BUF text = { 0 };
    const char *objects = arena_format(&k->arena, "%s/objects", log->dir);
    const char *folder = arena_format(&k->arena, "%s/objects/pack", log->dir);
    const char **old = NULL;
    size_t n;

    NEED(objects && folder);
    if (!k->repo)
        TRY(repo_open(log->dir, &k->repo, e));

    /* An object that cannot be looked up counts as missing in libgit2, and would be lost with its
     * pack. Here a pack that cannot be read is an error, and nothing is removed. */
    git_odb *plain = NULL; /* without our own backends, which list nothing */
    int answer = git_repository_odb(&k->odb, k->repo);

    if (!answer)
        answer = git_odb_open(&plain, objects);
    if (!answer)
        answer = git_odb_foreach(plain, note_own, k);
    git_odb_free(plain);
    NEED(answer != GIT_EUSER);
    if (answer)
        return repo_error(e, answer, objects, "prune snapshots");

    k->pack = (struct snapshot_pack){ .repo = log->dir, .anew = true };
    TRY(list_packs(folder, &k->arena, &old, &n, e));
    for (size_t i = 0; i < log->n; i++)
        if (!goes[i])
            TRY(keep_snapshot(k, &log->snapshot[i], without, &text, e));
    TRY(keep_index(k, log->dir, without, e));
    TRY(snapshot_pack_finish(&k->pack, e));
    TRY(disk_replace_file(log->dir, "log", buf_slice(&text), 0600, e));
    return k->pack.n ? remove_packs(folder, old, n, &k->arena, e) : ERR_OK;
}

/* Returns true if the clock may be wrong: it has jumped ahead, by more than weeks without a snapshot explain, since less
 * than a day. If later snapshots are older again, it was wrong and is right now. */
static bool is_clock_doubtful(const struct snapshot_log *log)
{
    size_t jump = 0;

    for (size_t i = 1; i < log->n; i++) {
        if (log->snapshot[i].time_ms - log->snapshot[i - 1].time_ms > JUMP_DAYS * DAY_MS)
            jump = i;
        else if (jump && log->snapshot[i].time_ms < log->snapshot[jump].time_ms - DAY_MS)
            jump = 0;
    }
    return jump && log->snapshot[log->n - 1].time_ms - log->snapshot[jump].time_ms < DAY_MS;
}

enum err_code snapshot_prune(const struct snapshot_project *project,
                             const struct snapshot_prune_rule *rule, bool dry_run, size_t *removed,
                             struct err *e)
{
    CLEANUP(pruning_fini) struct pruning k = { .repo = NULL };
    CLEANUP(snapshot_log_fini) struct snapshot_log log = { .dir = project->dir };
    const char *path = arena_format(&k.arena, "%s/lock", project->dir);
    const char *wanted = arena_format(&k.arena, "%s/" SNAPSHOT_WANTED, project->dir);
    const char *folder = arena_format(&k.arena, "%s/objects/pack", project->dir);
    size_t root_n = project->root ? strlen(project->root) : 0, n = 0, packs = 0;
    const char **pack = NULL;
    struct slice without = { NULL, 0 };
    AUTO_FD lock = -1;
    bool *goes;

    NEED(path && wanted && folder);
    if (rule->path && root_n && strncmp(rule->path, project->root, root_n) == 0 &&
        rule->path[root_n] == '/')
        without = slice_of(rule->path + root_n + 1);
    enum err_code rc = snapshot_lock(path, NULL, time_coarse_ms() + LOCK_WAIT_MS, &lock, e);

    if (rc == ERR_CANCELLED)
        return err_set(e, ERR_LOCKED, project->dir, "prune snapshots: one is being taken");
    TRY(rc);
    k.wanted = rule->yields ? wanted : NULL;
    TRY(snapshot_log_read_dir(&log, e));
    if (log.newer)
        return err_set(e, ERR_UNSUPPORTED, project->dir,
                       "prune snapshots: a newer version of reprise made some of them");
    NEED(goes = arena_zalloc(&k.arena, log.n + 1));
    /* The newest is what the next one is compared with. */
    const size_t half =
        rule->max_bytes && project->bytes > rule->max_bytes && !rule->path ? log.n / 2 : 0;

    const bool doubtful = rule->doubts && is_clock_doubtful(&log);

    for (size_t i = 0; i + 1 < log.n; i++) {
        goes[i] = (log.snapshot[i].time_ms < rule->before_ms && !doubtful) || i < half;
        n += goes[i];
    }
    if (without.n) {
        /* Counts the snapshots that stay and contain the file at a path below the root. */
        TRY(repo_open(log.dir, &k.repo, e));
        for (size_t i = 0; i < log.n; i++) {
            const struct slice hex = log.snapshot[i].tree;
            AUTO_TREE *tree = NULL;
            git_tree_entry *found = NULL;
            git_oid id;

            if (goes[i] || !hex.n || git_oid_fromstrn(&id, hex.p, hex.n))
                continue;
            TRY(repo_tree(k.repo, &id, &tree, e));
            n += git_tree_entry_bypath(&found, tree, without.p) == 0;
            git_tree_entry_free(found);
        }
    }
    if (removed)
        *removed = n;
    if (!n && !dry_run && !rule->path && log.n)
        TRY(list_packs(folder, &k.arena, &pack, &packs, e));
    return dry_run || (!n && packs < PACK_FILES_MANY) ? ERR_OK
                                                      : replace_packs(&k, &log, goes, without, e);
}

/* ---- at most once a day ---- */

enum err_code snapshot_prune_due(const struct store_env *env, const char *cwd,
                                 const struct snapshot_prune_rule *rule, bool only_ask, bool *due,
                                 struct err *e)
{
    CLEANUP(snapshot_projects_fini) struct snapshot_projects all = { .n = 0 };
    const int64_t now_ms = env_now_ms(env);
    const char *dir, *mark, *root;
    struct stat st;

    *due = false;
    TRY(snapshot_dir_of(env, cwd, &all.arena, &dir, e));
    NEED((mark = arena_format(&all.arena, "%s/pruned", dir)) &&
         (root = arena_format(&all.arena, "%s/root", dir)));
    /* A store that was never pruned is as old as its first file. */
    if ((lstat(mark, &st) && lstat(root, &st)) ||
        is_since(time_ns(st.st_mtim) / 1000000, now_ms, DAY_MS))
        return ERR_OK;
    *due = true;
    for (int i = 0; i < HALVINGS && !only_ask; i++) {
        size_t removed;

        all.n = 0;
        TRY(read_project(&all, dir, false, e));
        TRY(snapshot_prune(&all.project[0], rule, false, &removed, e));
        if (!removed || all.project[0].bytes <= rule->max_bytes)
            break;
    }
    return only_ask ? ERR_OK : disk_replace_file(dir, "pruned", SLICE(""), 0600, e);
}
