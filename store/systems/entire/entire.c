#include "store/systems/entire/entire.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"

/* Every start of the picker asks whether there is anything of Entire here, and mostly the answer is no. libgit2 takes 10
 * ms to start, so the question is first put to the names of files: if no git directory from here upwards can have refs
 * or states of Entire, libgit2 is not used at all. A file that cannot be examined counts as existing, because a false
 * yes costs 10 ms and a false no hides sessions. */

/* ---- detection without libgit2 ---- */

enum { PACKED_MAX = 256 << 20 };

/* A file that cannot be examined because its path is too long may exist. */
static bool may_exist(const char *dir, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_MAX || access(path, F_OK) == 0;
}

/* Returns true if a git directory has refs of Entire. Those in a reftable cannot be found by file names, and packed
 * refs that cannot be read may have some. */
static bool git_has(const char *git)
{
    static const char *const names[] = { "entire-sessions/.", "refs/heads/entire/.",
                                         "refs/entire/.", "refs/remotes/origin/entire/.",
                                         "reftable/." };
    static const char *const fronts[] = { " refs/heads/entire/", " refs/entire/",
                                          " refs/remotes/origin/entire/" };
    AUTO_BUF packed = { 0 };
    char path[PATH_MAX];

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (may_exist(git, names[i]))
            return true;
    if (snprintf(path, sizeof path, "%s/packed-refs", git) >= PATH_MAX)
        return true;
    enum err_code rc = file_read_all(AT_FDCWD, path, FILE_FOLLOW, PACKED_MAX, &packed, NULL);
    bool found = rc && rc != ERR_NOT_FOUND;

    for (size_t i = 0; i < COUNT_OF(fronts); i++)
        found = found || slice_has(buf_slice(&packed), fronts[i]);
    return found;
}

/* The git directory of a linked work tree has no refs of its own; it shares those of another one. */
static bool git_or_common_has(const char *git)
{
    char common[PATH_MAX];
    enum err_code rc = gitfiles_follow(git, "commondir", "", common);

    return git_has(git) || (rc != ERR_NOT_FOUND && (rc || git_has(common)));
}

/* The repository is in .git, in the directory that the file .git names, or in the directory itself. */
static bool dir_has(const char *dir)
{
    char git[PATH_MAX];

    if (may_exist(dir, "HEAD") && may_exist(dir, "objects") && git_or_common_has(dir))
        return true;
    if (!may_exist(dir, ".git"))
        return false;
    if (snprintf(git, sizeof git, "%s/.git", dir) >= PATH_MAX)
        return true;
    if (!may_exist(dir, ".git/.") && gitfiles_follow(dir, ".git", "gitdir: ", git))
        return true;
    return git_or_common_has(git);
}

bool entire_detect(const char *dir)
{
    char above[PATH_MAX];

    if (snprintf(above, sizeof above, "%s", dir) >= PATH_MAX)
        return true;
    for (char *slash = above; slash; *slash = '\0') {
        if (dir_has(above))
            return true;
        slash = strrchr(above, '/');
        if (!slash)
            break;
    }
    return false;
}

/* ---- open and close ---- */

const struct entire *entire_of(const struct store *st)
{
    assert(st->ops->open == entire_ops.open);
    return (const struct entire *)st;
}

static void entire_close(struct store *st)
{
    struct entire *x = (struct entire *)st;

    free(x->base.path);
    free(x->git);
    free(x->common);
    free(x->states);
    free(x->worktree);
    free(x->worktree_id);
    for (size_t i = 0; i < x->trees; i++)
        free(x->tree[i]);
    free(x->tree);
    if (x->cache)
        catalog_cache_fini(x->cache);
    free(x->cache);
    free(x);
}

DEFINE_CLEANUP(struct store, entire_close);

/* Copies a path without trailing slashes. */
static bool copy_without_slashes(const char *text, char **out)
{
    size_t n = strlen(text);

    while (n > 1 && text[n - 1] == '/')
        n--;
    *out = strndup(text, n);
    return *out != NULL;
}

static bool join_dir_name(const char *dir, const char *name, char **out)
{
    size_t n = strlen(dir) + strlen(name) + 2;

    *out = malloc(n);
    if (*out)
        snprintf(*out, n, "%s/%s", dir, name);
    return *out != NULL;
}

/* ---- the work trees ---- */

DEFINE_CLEANUP(git_worktree, git_worktree_free);

/* Finds all work trees of the repository, the main one first. A deleted work tree is still used for its sessions. */
static bool find_worktrees(struct entire *x, git_repository *repo)
{
    static const char suffix[] = "/.git";
    size_t n = strlen(x->common), k = sizeof suffix - 1;
    CLEANUP(git_strarray_dispose_at) git_strarray names = { 0 };
    char git[PATH_MAX];
    struct stat st;

    if (git_worktree_list(&names, repo))
        names = (git_strarray){ 0 };
    x->tree = calloc(names.count + 2, sizeof *x->tree);
    if (!x->tree)
        return false;

    /* The main work tree is another directory if a linked one was opened. */
    if (!git_repository_is_worktree(repo)) {
        if (x->worktree && !copy_without_slashes(x->worktree, &x->tree[x->trees++]))
            return false;
    } else if (n > k && strcmp(x->common + n - k, suffix) == 0) {
        x->tree[x->trees] = strndup(x->common, n - k);
        x->trees += x->tree[x->trees] != NULL;
    }

    for (size_t i = 0; i < names.count; i++) {
        CLEANUP(git_worktree_free_at) git_worktree *w = NULL;

        if (git_worktree_lookup(&w, repo, names.strings[i]))
            continue;
        const char *path = git_worktree_path(w);

        if (stat(path, &st) == 0 && (snprintf(git, sizeof git, "%s/worktrees/%s", x->common,
                                              names.strings[i]) >= PATH_MAX ||
                                     !gitfiles_is_tree(path, git)))
            continue; /* another directory has taken its place */
        if (!copy_without_slashes(path, &x->tree[x->trees]))
            return false;
        x->trees++;
    }
    return true;
}

/* ---- whether git knows any data of Entire ---- */

static bool entire_has_ref(git_repository *repo, const char *glob)
{
    AUTO_REFS *it = NULL;
    const char *name;

    return git_reference_iterator_glob_new(&it, repo, glob) == 0 &&
           git_reference_next_name(&name, it) == 0;
}

bool entire_is_enabled(git_repository *repo, const char *states)
{
    return (path_is_dir(states)) || entire_has_ref(repo, ENTIRE_HEADS "entire/*") ||
           entire_has_ref(repo, ENTIRE_REFS "*") || entire_has_ref(repo, ENTIRE_V1_REMOTE);
}

static enum err_code read_repository(struct entire *x, git_repository *repo, struct err *e)
{
    const char *git = git_repository_path(repo), *named = git_repository_workdir(repo);
    /* core.worktree may name any directory, even "/". */
    const char *dir = named && gitfiles_is_tree(named, git) ? named : NULL;
    AUTO_ARENA a = { 0 };
    struct slice id = repo_worktree_id(repo, &a);

    NEED(id.p && copy_without_slashes(git, &x->git) &&
         copy_without_slashes(git_repository_commondir(repo), &x->common) &&
         join_dir_name(x->common, ENTIRE_STATES, &x->states) &&
         (!dir || copy_without_slashes(dir, &x->worktree)) &&
         copy_without_slashes(id.p, &x->worktree_id) && find_worktrees(x, repo));
    return entire_is_enabled(repo, x->states)
               ? ERR_OK
               : err_set(e, ERR_NOT_FOUND, x->base.path,
                         "open store: the repository has no sessions of Entire");
}

static enum err_code entire_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    struct entire *x = calloc(1, sizeof *x);
    const char *dir = path ? path : env->cwd;
    AUTO_REPO *repo = NULL;

    NEED(x);
    x->base = (struct store){ .ops = &entire_ops, .env = env };
    CLEANUP(entire_close_at) struct store *opened = &x->base;

    NEED(x->cache = calloc(1, sizeof *x->cache));
    catalog_cache_init(x->cache);
    NEED(dir[0] == '/' ? copy_without_slashes(dir, &x->base.path)
                       : join_dir_name(env->cwd, dir, &x->base.path));
    /* Entire was not requested explicitly, so a repository without it is skipped, even if it cannot
     * be opened. */
    if (!path && !entire_detect(x->base.path))
        return err_set(e, ERR_NOT_FOUND, x->base.path, "open store: not an Entire repository");
    TRY(repo_open(x->base.path, &repo, e));
    TRY(read_repository(x, repo, e));
    HAND_OVER(out, opened);
    return ERR_OK;
}

enum err_code entire_catalog(const struct entire *x, bool fresh, struct catalog **out,
                             struct err *e)
{
    return catalog_open(x->cache, x->git, x->states, fresh, out, e);
}

enum err_code entire_session(const struct store *st, struct slice id, struct catalog **catalog,
                             const struct catalog_session **out, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *found;
    AUTO_CATALOG *c = NULL;

    TRY(entire_catalog(x, true, &c, e));
    found = catalog_find(c, id);
    if (!found)
        return err_set(e, ERR_NOT_FOUND, x->base.path, "find session %.*s: no such session",
                       (int)(id.n > 64 ? 64 : id.n), id.p);
    *out = found;
    HAND_OVER(catalog, c);
    return ERR_OK;
}

/* A state has no member for the first three. The conversation belongs to the agent; Entire only keeps copies. */
const struct store_ops entire_ops = {
    .name = "entire",
    .label = "Entire",
    .finds_other_sessions = true,
    .has_task_checkpoints = true,
    .open = entire_open,
    .close = entire_close,
    .enumerate = entire_enumerate,
    .unreadable = entire_unreadable,
    .describe = entire_describe,
    .facts = entire_facts,
    .find = entire_find,
    .at_path = entire_at_path,
    .tail = entire_tail,
    .load = entire_load,
    .blocks = entire_blocks,
    .messages = entire_messages,
    .subagents = entire_subagents,
    .describe_subagents = entire_describe_subagents,
    .subagent = entire_subagent,
    .usage = entire_usage,
    .restore = entire_restore,
    .parts = entire_parts,
    .owned_refs = entire_owned_refs,
    .live = entire_live,
    .edits = entire_edits,
    .checkpoints = entire_checkpoints,
    .origins = entire_origins,
    .count_lines = entire_count_lines,
    .plan = entire_plan,
    .plan_turn = entire_plan_turn,
    .plan_own = entire_plan_own,
    .plan_conversation = entire_plan_conversation,
    .plan_refs = entire_plan_refs,
    .retrieve = entire_retrieve,
    .agent = entire_agent,
    .fork = entire_fork,
    .resume_at = entire_resume_at,
    .check = entire_check,
    .check_store = entire_check_store,
    .leftovers = entire_leftovers,
    .create = entire_create,
    .append = entire_append,
    .has_documents = true,
    .checkpoint = entire_checkpoint,
    .set = entire_set,
    .why = {
        [ABILITY_RENAME] = "Entire sessions have no title: they are named by their first prompt",
        [ABILITY_TAG] = "Entire sessions have no tags",
        [ABILITY_ARCHIVE] = "Entire sessions cannot be archived",
        [ABILITY_FORK] = "only Claude Code conversations can be forked",
        [ABILITY_RESUME_AT] = "needs a Claude Code conversation on this machine (reprise retrieve)",
        [ABILITY_REWIND] = "this session has no checkpoint",
        [ABILITY_TOMBSTONE] = "the conversation belongs to its agent: Entire keeps copies of it",
        [ABILITY_REAPPEND] = "Entire keeps metadata in its own file, where it is always found",
        [ABILITY_MOVE] = "Entire keeps it in the git repository, so it moved along",
        [ABILITY_HAVE_BRANCHES] = "branches are shown with the agent's own session",
    },
    .agent_id = entire_agent_id,
    .make = entire_make,
};
