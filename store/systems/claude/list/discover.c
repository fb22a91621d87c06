#include "store/systems/claude/list/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/scan/field.h"
#include "store/fs/path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/common/config_dir.h"

/* The folder of a project is named after its path, but different paths can have the same name, and
 * a long name is cut and ends in a hash that not every program computes alike. A name alone is
 * therefore no proof. The folders of a scope are collected from the cheapest proof on:
 *
 *   exact names -> long names, with a session of the path -> worktrees -> folders whose sessions
 *   belong to the scope -> without links to other folders of the list
 *
 * The order is that of the search for an id, so the directories of the scope itself come first.
 * Transcripts are read only if no name decides, and then only their two ends. Sessions of another
 * directory in a folder of the same name are not removed here; claude_folder_collides finds them
 * when each is described. */

static const struct field moved = { FIELD_ROW, "relocatedCwd", "relocated" };

bool claude_first_cwd(struct slice head, struct arena *a, struct slice *cwd)
{
    struct slice row, value;
    bool torn;

    while (slice_line(&head, &row, &torn)) {
        if (memmem(row.p, row.n, "\"cwd\":", 6) && json_valid(row) &&
            json_get(row, "cwd", &value) && json_type(value) == JSON_STRING)
            return json_text(value, a, cwd);
    }
    return true;
}

static bool session_own_cwd(struct slice head, struct slice tail, struct arena *a,
                            struct slice *cwd)
{
    struct field_set set;
    struct field_value value;

    *cwd = (struct slice){ NULL, 0 };
    field_set_init(&set, &moved, 1);
    if (!field_set_last(&set, tail, a, &value, NULL, NULL))
        return false;
    if (!value.found)
        return claude_first_cwd(head, a, cwd);
    *cwd = value.text;
    return true;
}

static bool file_belongs_to(struct window *w, int dirfd, const char *name, struct slice path)
{
    struct arena a = { 0 };
    struct slice cwd = { NULL, 0 };
    bool yes = false;

    if (window_open(w, dirfd, name, 0, NULL) == ERR_OK && window_widen(w, NULL) == ERR_OK)
        yes = session_own_cwd(w->head, w->tail, &a, &cwd) && cwd.p &&
              config_dir_same_project(cwd, path);
    arena_fini(&a);
    return yes;
}

/* ---- names in PROJECTS ---- */

/* Sorted, as the agent's runtime sorts them. */
static bool claude_read_projects(const struct claude *c, struct arena *a, struct claude_values *out)
{
    DIR *dir = opendir(c->projects);
    struct dirent *entry;
    bool ok = true;

    *out = (struct claude_values){ 0 };
    if (!dir)
        return true;
    while (ok && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        struct stat sb;
        bool folder = entry->d_type == DT_DIR;

        /* A link to a directory counts as one. */
        if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK)
            folder = fstatat(dirfd(dir), entry->d_name, &sb, 0) == 0 && S_ISDIR(sb.st_mode);
        if (!folder)
            continue;
        struct slice name = arena_copy(a, slice_of(entry->d_name));

        ok = name.p && claude_values_add(out, a, name) == ERR_OK;
    }
    closedir(dir);
    if (out->n)
        slice_sort(out->p, out->n);
    return ok;
}

/* ---- the folders of one path ---- */

static bool has_folder(const struct project_folders *list, struct slice name)
{
    for (size_t i = 0; i < list->n; i++)
        if (slice_eq(list->folder[i].name, name))
            return true;
    return false;
}

static bool claude_add_folder(struct project_folders *list, struct slice name, struct slice project,
                              struct arena *a)
{
    struct project_folder *more = arena_grow(a, list->folder, list->n, sizeof *more);

    if (!more)
        return false;
    list->folder = more;
    list->folder[list->n++] = (struct project_folder){ name, project };
    return true;
}

static bool add_new(struct project_folders *list, struct slice name, struct slice project,
                    struct arena *a)
{
    return has_folder(list, name) || claude_add_folder(list, name, project, a);
}

struct slice claude_present_folder(const struct claude *c, struct slice path, struct arena *a)
{
    if (c->forced_folder)
        return slice_of(c->forced_folder);
    return config_dir_project_name(path, a);
}

struct slice claude_folder_of(const struct store *st, struct slice directory, struct arena *a)
{
    return claude_present_folder(claude_of(st), directory, a);
}

/* Without a directory, the project's folder that the transcript is below decides. */
enum err_code claude_place(const struct store *st, const struct session_ref *ref, struct slice cwd,
                           struct arena *a, const char **to, struct err *e)
{
    const struct claude *c = claude_of(st);
    const char *name = strrchr(ref->path.p, '/') + 1;
    const size_t n = strlen(c->projects) + 1;
    const char *rest = ref->path.p + n, *slash = strchr(rest, '/');
    struct slice folder = cwd.n   ? claude_present_folder(c, cwd, a)
                          : slash ? (struct slice){ rest, (size_t)(slash - rest) }
                                  : SLICE("");

    *to = NULL;
    if (!claude_is_transcript_name(name))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "find its place: no name of a transcript");
    NEED(folder.p);
    if (folder.n)
        NEED(*to = arena_format(a, "%s/%.*s/%s", c->projects, SLICE_ARG(folder), name));
    return ERR_OK;
}

/* For long paths: the folder's name is cut in the same way as the path's, and a session in it proves that it belongs to
 * the path. */
static bool is_cut_folder_of(const struct claude *c, struct slice folder, struct slice flat,
                             struct slice path)
{
    char full[PATH_MAX];
    struct window w;
    const struct dirent *entry;
    bool yes = false;

    if (folder.n <= CONFIG_DIR_PROJECT_NAME_MAX ||
        memcmp(folder.p, flat.p, CONFIG_DIR_PROJECT_NAME_MAX) != 0 ||
        folder.p[CONFIG_DIR_PROJECT_NAME_MAX] != '-')
        return false;
    int n = snprintf(full, sizeof full, "%s/%s", c->projects, folder.p);

    AUTO_DIR *dir = n > 0 && (size_t)n < sizeof full ? opendir(full) : NULL;

    if (!dir || window_init(&w, NULL))
        return false;
    while (!yes && (entry = readdir(dir))) {
        size_t length = strlen(entry->d_name);

        yes = length >= sizeof CLAUDE_SUFFIX - 1 &&
              strcmp(entry->d_name + length - (sizeof CLAUDE_SUFFIX - 1), CLAUDE_SUFFIX) == 0 &&
              file_belongs_to(&w, dirfd(dir), entry->d_name, path);
    }
    window_fini(&w);
    return yes;
}

static bool add_path_folders(const struct claude *c, struct slice path, struct arena *a,
                             struct project_folders *out)
{
    struct slice name = claude_present_folder(c, path, a), plain = config_dir_project_name(path, a);
    struct slice flat = config_dir_flatten(path, a);
    struct claude_values names;

    if (!name.p || !plain.p || !flat.p || !add_new(out, name, path, a) ||
        !add_new(out, plain, path, a))
        return false;
    if (c->forced_folder || flat.n <= CONFIG_DIR_PROJECT_NAME_MAX)
        return true;
    if (!claude_read_projects(c, a, &names))
        return false;
    for (size_t i = 0; i < names.n; i++) {
        if (!has_folder(out, names.p[i]) && is_cut_folder_of(c, names.p[i], flat, path) &&
            !claude_add_folder(out, names.p[i], path, a))
            return false;
    }
    return true;
}

/* ---- the folders of a scope ---- */

/* The worktree to which a folder belongs; if there are several, the one with the longest name, because deeper
 * directories come first. Empty: none. */
static struct slice worktree_of_folder(const struct claude *c, const struct scope *scope,
                                       struct slice folder, bool proved, struct arena *a)
{
    struct slice best = { NULL, 0 }, best_flat = { NULL, 0 };

    for (size_t i = 0; i < scope->trees; i++) {
        struct slice tree = scope->tree[i], name = claude_present_folder(c, tree, a);
        struct slice flat = config_dir_flatten(tree, a);

        if (!name.p || !flat.p || (best.p && name.n <= best_flat.n))
            continue;
        bool exact = slice_eq(folder, name);

        if (!exact && (c->forced_folder || flat.n <= CONFIG_DIR_PROJECT_NAME_MAX ||
                       folder.n <= CONFIG_DIR_PROJECT_NAME_MAX))
            continue;
        if (exact || (proved && memcmp(folder.p, flat.p, CONFIG_DIR_PROJECT_NAME_MAX) == 0) ||
            (!proved && is_cut_folder_of(c, folder, flat, tree))) {
            best = tree;
            best_flat = name;
        }
    }
    return best;
}

/* ---- folders of other names of the scope ---- */

/* The repository of a worktree-state row; .p is NULL: none. */
static struct slice worktree_origin(struct slice window, struct arena *a)
{
    static const char type[] = "\"type\":\"worktree-state\"";
    const char *p = slice_find(window.p, window.n, type, sizeof type - 1);
    struct slice row = p ? field_row(window, (size_t)(p - window.p)) : (struct slice){ NULL, 0 };

    return p && json_valid(row) ? json_text_at(row, "worktreeSession.originalCwd", a)
                                : (struct slice){ NULL, 0 };
}

/* What the ends of a transcript say about the directory of its folder. */
enum belongs { BELONGS_UNKNOWN, BELONGS_NOT, BELONGS_GONE, BELONGS };

/* The directory of the session may be another name of the scope's: it was moved and a link to it was left, or it is a
 * worktree that git does not know (any more). BELONGS_GONE: it does not exist. */
static enum belongs transcript_belongs(const struct scope *scope, struct window *w, int dir,
                                       const char *name)
{
    struct arena a = { 0 };
    struct slice cwd = { NULL, 0 }, origin;
    enum belongs answer = BELONGS_UNKNOWN;
    char real[PATH_MAX];

    if (window_open(w, dir, name, 0, NULL) == ERR_OK) {
        claude_first_cwd(w->head, &a, &cwd);
        if (!cwd.p && !w->wide && window_widen(w, NULL) == ERR_OK)
            claude_first_cwd(w->head, &a, &cwd);
    }
    bool own = cwd.p && slice_eq(cwd, scope->project);

    for (size_t i = 0; i < scope->trees && cwd.p && !own; i++)
        own = slice_eq(cwd, scope->tree[i]);
    if (own) {
        answer =
            BELONGS_NOT; /* a copy that someone made: the agent looks for it in this folder alone */
    } else if (cwd.p && !memchr(cwd.p, '\0', cwd.n)) {
        bool exists = realpath(arena_copy(&a, cwd).p, real) != NULL;

        answer = exists ? BELONGS_NOT : BELONGS_GONE;
        origin = worktree_origin(w->head, &a);
        if (!origin.p)
            origin = worktree_origin(w->tail, &a);
        if (session_scope_has(scope, cwd) || (exists && session_scope_has(scope, slice_of(real))) ||
            (origin.p && !scope->leave_worktrees && session_scope_has(scope, origin)))
            answer = BELONGS;
    }
    arena_fini(&a);
    return answer;
}

bool claude_can_list(const char *folder, struct err *trouble)
{
    AUTO_DIR *dir = opendir(folder);
    bool whole = dir && faccessat(dirfd(dir), ".", X_OK, AT_EACCESS) == 0;

    while (whole && (errno = 0, readdir(dir)))
        ;
    if (whole && !errno)
        return true;
    err_sys(trouble, folder, "list sessions in");
    return trouble->sys == ENOENT;
}

/* One session is enough to know the directory of a folder. If that directory no longer exists, more of them are read.
 * DISCOVER_UNREADABLE leaves out each folder that can be read, and keeps one whose device fails before a session shows
 * the directory. A folder without permission is not reported in every project. */
static bool folder_belongs(const struct claude *c, const struct scope *scope,
                           enum discover_for what, struct window *w, struct slice folder)
{
    enum { GONE_MOST = 16 };
    enum belongs answer = BELONGS_UNKNOWN;
    char path[PATH_MAX];
    struct err trouble = { 0 };
    const struct dirent *entry;
    int n = snprintf(path, sizeof path, "%s/%s", c->projects, folder.p), read = 0;

    if (n <= 0 || (size_t)n >= sizeof path ||
        (what == DISCOVER_UNREADABLE && claude_can_list(path, &trouble)))
        return false;
    AUTO_DIR *dir = opendir(path);

    while (dir && answer != BELONGS && answer != BELONGS_NOT && read < GONE_MOST &&
           (entry = readdir(dir))) {
        if (!claude_is_transcript_name(entry->d_name))
            continue;
        answer = transcript_belongs(scope, w, dirfd(dir), entry->d_name);
        read++;
    }
    return answer == BELONGS || (answer == BELONGS_UNKNOWN && trouble.sys && trouble.sys != EACCES);
}

static bool claude_add_trees(const struct claude *c, const struct scope *scope,
                             enum discover_for what, struct arena *a, struct project_folders *out)
{
    struct claude_values names;
    struct window w;
    bool ok = claude_read_projects(c, a, &names);

    if (!ok || window_init(&w, NULL))
        return false;
    for (size_t i = 0; i < names.n && ok; i++) {
        struct slice tree = { NULL, 0 };

        if (has_folder(out, names.p[i]))
            continue;
        if (scope->trees > 1)
            tree = worktree_of_folder(c, scope, names.p[i], false, a);
        if (!tree.p && !c->forced_folder && folder_belongs(c, scope, what, &w, names.p[i]))
            tree = scope->project;
        if (tree.p)
            ok = claude_add_folder(out, names.p[i], tree, a);
    }
    window_fini(&w);
    return ok;
}

/* A folder that is a link to another one of the list has the same sessions. It is dropped, or comes last if each link is
 * wanted. */
static bool drop_linked_folders(const struct claude *c, const struct scope *scope,
                                enum discover_for what, struct project_folders *list,
                                struct arena *a)
{
    struct stat *sb = arena_zalloc(a, (list->n + 1) * sizeof *sb);
    bool *linked = arena_zalloc(a, (list->n + 1) * sizeof *linked);
    struct project_folder *again = arena_alloc(a, (list->n + 1) * sizeof *again);
    size_t kept = 0, links = 0, repeated = 0;

    if (!sb || !linked || !again)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        char *path = arena_format(a, "%s/%s", c->projects, list->folder[i].name.p);

        if (!path)
            return false;
        linked[i] = lstat(path, &sb[i]) == 0 && S_ISLNK(sb[i].st_mode) && stat(path, &sb[i]) == 0;
        links += linked[i];
    }
    for (size_t i = 0; i < list->n && links; i++) {
        bool same = linked[i] && scope->all && scope->leave_links;

        /* If several links lead to a folder that is not in the list, the first one stays. */
        for (size_t k = 0; k < list->n && linked[i] && !same; k++)
            same = k != i && (!linked[k] || k < i) && sb[k].st_dev == sb[i].st_dev &&
                   sb[k].st_ino == sb[i].st_ino;
        if (!same)
            list->folder[kept++] = list->folder[i];
        else if (what == DISCOVER_COPIES)
            again[repeated++] = list->folder[i];
    }
    for (size_t i = 0; i < repeated; i++)
        list->folder[kept++] = again[i];
    list->n = links ? kept : list->n;
    return true;
}

enum err_code claude_folders(const struct claude *c, const struct scope *scope,
                             enum discover_for what, struct arena *a, struct project_folders *out,
                             struct err *e)
{
    struct claude_values names;

    *out = (struct project_folders){ 0 };
    if (scope->all) {
        NEED(claude_read_projects(c, a, &names));
        for (size_t i = 0; i < names.n; i++)
            NEED(claude_add_folder(out, names.p[i], (struct slice){ NULL, 0 }, a));
    } else {
        /* The directories of the scope itself come first. */
        NEED(add_path_folders(c, scope->project, a, out));
        for (size_t i = 0; what == DISCOVER_ONE && scope->trees > 1 && i < scope->trees; i++)
            if (!slice_eq(scope->tree[i], scope->project))
                NEED(add_path_folders(c, scope->tree[i], a, out));
        NEED(claude_add_trees(c, scope, what, a, out));
    }
    NEED(drop_linked_folders(c, scope, what, out, a));
    return ERR_OK;
}

struct slice claude_project_of(const struct claude *c, const struct scope *scope,
                               struct slice folder, struct arena *a)
{
    struct slice none = { NULL, 0 };

    if (scope->all)
        return none;
    struct slice name = claude_present_folder(c, scope->project, a),
                 plain = config_dir_project_name(scope->project, a);

    if (!name.p || !plain.p || slice_eq(folder, name) || slice_eq(folder, plain))
        return scope->project;
    struct slice tree = scope->trees > 1 ? worktree_of_folder(c, scope, folder, true, a) : none;

    return tree.p ? tree : scope->project;
}

/* ---- collisions ---- */

static bool climbs(struct slice path)
{
    for (size_t i = 0; i + 2 <= path.n; i++) {
        bool begins = i == 0 || path.p[i - 1] == '/' || path.p[i - 1] == '\\';
        bool ends = i + 2 == path.n || path.p[i + 2] == '/' || path.p[i + 2] == '\\';

        if (begins && ends && path.p[i] == '.' && path.p[i + 1] == '.')
            return true;
    }
    return false;
}

bool claude_folder_collides(const struct scope *scope, struct slice project, struct slice cwd,
                            struct arena *a)
{
    char real[PATH_MAX];

    if (scope->all || !cwd.p || slice_eq(cwd, project) || !config_dir_same_project(cwd, project))
        return false;
    for (size_t i = 0; scope->trees > 1 && i < scope->trees; i++)
        if (path_under(cwd, scope->tree[i]))
            return false;
    if (scope->trees > 1 && path_under(cwd, scope->project))
        return false;
    if (climbs(cwd) || climbs(project) || memchr(cwd.p, '\0', cwd.n))
        return false;
    struct slice path = arena_copy(a, cwd);

    if (!path.p || !realpath(path.p, real))
        return false;
    struct slice found = slice_of(real);

    return !slice_eq(found, project) && config_dir_same_project(found, project);
}
