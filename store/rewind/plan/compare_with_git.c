#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"

/* What a session found after the point need not be what the file contained at the point. Where the project is a git
 * repository, its newest commit before the point shows whether the file changed at all: if it has the same bytes, the
 * file had them in between, too, unless the session itself changed it before. */

enum { COMMITS_MOST = 256 };

struct checking {
    git_repository *repo;
    git_tree *tree;
    bool modes; /* git looks at the permissions of this work tree */
    struct arena arena;
    struct buf then;
    struct source_content found;
};

static bool checking_open(struct checking *k, const struct rewind_plan *plan)
{
    git_commit *commit = NULL, *parent;
    git_oid id;

    if (repo_open(plan->root, &k->repo, NULL) || !git_repository_workdir(k->repo))
        return false;

    git_repository *repo = k->repo;
    git_config *config = NULL;
    int value = 1;

    if (!git_repository_config_snapshot(&config, repo) &&
        git_config_get_bool(&value, config, "core.filemode"))
        value = 1;
    git_config_free(config);
    k->modes = value;

    /* The newest commit of the branch that is not younger than the point. */
    if (!repo_has_ref(repo, "HEAD", &id) || git_commit_lookup(&commit, repo, &id))
        return false;
    for (int n = 0; commit && (int64_t)git_commit_time(commit) * 1000 > plan->point_ms; n++) {
        bool more = n < COMMITS_MOST && git_commit_parent(&parent, commit, 0) == 0;

        git_commit_free(commit);
        commit = more ? parent : NULL;
    }
    if (commit && repo_tree(k->repo, git_commit_tree_id(commit), &k->tree, NULL))
        k->tree = NULL;
    git_commit_free(commit);
    return k->tree != NULL;
}

/* The file's name in the repository; NULL if git would not have it, or not its bytes. */
static const char *tracked_name(struct checking *k, const char *path)
{
    const char *top = git_repository_workdir(k->repo), *real = path_real(path, &k->arena);
    size_t n = strlen(top);
    int ignored = 1;

    if (!real || strncmp(real, top, n) != 0 ||
        git_ignore_path_is_ignored(&ignored, k->repo, real + n) || ignored ||
        repo_converts(k->repo, real + n, path))
        return NULL;
    return real + n;
}

enum likeness { LIKE_UNKNOWN, LIKE, UNLIKE };

/* Compares what was found with what the commit has. */
static enum err_code compare_with_git_compare(struct checking *k, const struct rewind_target *t,
                                              enum likeness *out, struct err *e)
{
    const char *name = tracked_name(k, t->path);
    enum err_code rc =
        name ? repo_blob_at(k->repo, k->tree, name, SOURCE_CONTENT_HELD_MAX, &k->then, NULL)
             : ERR_UNSUPPORTED;

    *out = LIKE_UNKNOWN;
    if (rc == ERR_NOMEM || k->arena.failed)
        return err_nomem(e);
    if (rc && rc != ERR_NOT_FOUND)
        return ERR_OK;
    *out = (rc == ERR_NOT_FOUND) == (t->want == REWIND_ABSENT) ? LIKE : UNLIKE;
    if (*out == UNLIKE || t->want == REWIND_ABSENT)
        return ERR_OK;

    /* Where only a text was found, the bytes are those of the commit. */
    if (t->is_text && source_same_text(buf_slice(&k->then), t->source.bytes))
        return ERR_OK;
    rc = source_read(&t->source, NULL, &k->found, NULL);
    if (rc || !k->found.held)
        *out = LIKE_UNKNOWN;
    else if (!slice_eq(buf_slice(&k->found.bytes), buf_slice(&k->then)))
        *out = UNLIKE;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

/* Its kind and mode in the commit; 0: not there. */
static unsigned mode_in_commit(struct checking *k, const char *path)
{
    git_tree_entry *entry = NULL;
    const char *name = tracked_name(k, path);
    unsigned mode = 0;

    if (name && !git_tree_entry_bypath(&entry, k->tree, name))
        mode = (unsigned)git_tree_entry_filemode_raw(entry);
    git_tree_entry_free(entry);
    return mode;
}

/* A saved copy may be gone; its hash proves that the commit has the same bytes. */
static enum err_code use_bytes_of_commit(struct checking *k, struct arena *a,
                                         struct rewind_target *t, struct err *e)
{
    const char *name = t->source.file && t->source.sha256 ? tracked_name(k, t->path) : NULL;

    if (!name || !source_read(&t->source, NULL, &k->found, NULL) ||
        repo_blob_at(k->repo, k->tree, name, SOURCE_CONTENT_HELD_MAX, &k->then, NULL))
        return ERR_OK;
    struct rewind_source then = { .bytes = k->then.n ? buf_slice(&k->then) : SLICE(""),
                                  .sha256 = t->source.sha256 };

    if (source_read(&then, NULL, &k->found, NULL))
        return ERR_OK;
    then.bytes = arena_copy(a, then.bytes);
    t->source = then;
    return then.bytes.p ? ERR_OK : err_nomem(e);
}

static enum err_code compare_with_git_check(struct checking *k, struct arena *a,
                                            struct rewind_target *t, enum likeness *likeness,
                                            struct err *e)
{
    enum err_code rc = compare_with_git_compare(k, t, likeness, e);

    if (rc || *likeness == LIKE_UNKNOWN)
        return rc;
    /* The permissions that the file would have have to be those of the commit. */
    const unsigned mode =
        *likeness == LIKE && t->want == REWIND_BYTES && k->modes ? mode_in_commit(k, t->path) : 0;

    if (S_ISREG(mode)) {
        unsigned wanted = t->mode;
        struct stat st;

        if (!t->has_mode)
            wanted = stat(t->path, &st) == 0 ? st.st_mode : mode;
        if ((wanted ^ mode) & 0100)
            *likeness = UNLIKE;
    }
    if (*likeness == LIKE && t->is_first && t->want != REWIND_ABSENT) {
        t->doubt = NULL;
        t->is_shown = true;
        if (!t->is_text)
            return ERR_OK;
        t->why = NULL;
        t->want = REWIND_BYTES;
        t->source.bytes = k->then.n ? arena_copy(a, buf_slice(&k->then)) : SLICE("");
        return t->source.bytes.p ? ERR_OK : err_nomem(e);
    }
    return ERR_OK;
}

static enum err_code compare_with_git_look_up(struct checking *k, struct arena *a,
                                              struct rewind_target *t, enum likeness *likeness,
                                              struct err *e)
{
    *likeness = LIKE_UNKNOWN;
    if (!k->tree || !t->found_ms || (t->want == REWIND_UNKNOWN && !t->is_text))
        return ERR_OK;
    TRY(use_bytes_of_commit(k, a, t, e));
    if (t->is_late || t->doubt || t->is_text)
        TRY(compare_with_git_check(k, a, t, likeness, e));

    /* A file that comes back can be executed if it could be in the commit. A link that was
     * replaced by a file is not recorded. */
    enum { RUN = 0100755 };
    unsigned mode = t->want == REWIND_BYTES ? mode_in_commit(k, t->path) : 0;

    if (S_ISREG(mode))
        t->may_be_link = false;
    if (S_ISLNK(mode) && !t->doubt)
        t->doubt = "it was a link in the commit of that time";
    if (mode == RUN && !t->has_mode && access(t->path, F_OK) != 0) {
        t->has_mode = true;
        t->mode = 0755;
        t->permissions = "those of the commit of that time";
    }

    return ERR_OK;
}

/* Holds back what the commit contradicts, or what nothing confirms. */
static void compare_with_git_hold(struct rewind_target *t, enum likeness likeness)
{
    bool late = t->is_late && !t->is_shown;

    if (t->doubt)
        return;
    if (late && likeness == UNLIKE)
        t->doubt = "a later turn was the first to change it, and it already differed from the "
                   "commit of that time: when that happened is not recorded";
    else if (late && likeness == LIKE_UNKNOWN && t->want == REWIND_BYTES)
        t->doubt = "a later turn was the first to change it, and no commit shows that it was the "
                   "same before";
    else if (late && likeness == LIKE_UNKNOWN && t->want == REWIND_ABSENT)
        t->doubt = "a later turn created it, and nothing shows that there was none before";
    else if (t->may_be_link && t->want == REWIND_BYTES)
        t->doubt = "a command removed it since, and whether it was a link is not recorded";
}

static enum err_code look_up_all(struct rewind_plan *plan, enum likeness *likeness, struct err *e)
{
    struct checking k = { .tree = NULL };
    bool any = false;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < plan->n; i++)
        any |= plan->target[i].found_ms != 0;
    if (any && plan->root && plan->point_ms != TIME_NONE && !checking_open(&k, plan))
        k.tree = NULL;
    for (size_t i = 0; i < plan->n && !rc; i++)
        rc = compare_with_git_look_up(&k, &plan->arena, &plan->target[i], &likeness[i], e);
    git_tree_free(k.tree);
    repo_close(k.repo);
    source_content_fini(&k.found);
    buf_fini(&k.then);
    arena_fini(&k.arena);

    return rc;
}

enum err_code rewind_check_found(const struct session_ref *ref, struct rewind_plan *plan,
                                 struct err *e)
{
    enum likeness *likeness = arena_zalloc(&plan->arena, (plan->n + 1) * sizeof *likeness);
    enum err_code rc = likeness ? look_up_all(plan, likeness, e) : err_nomem(e);

    if (!rc)
        rc = rewind_check_seen(ref, plan, e);
    for (size_t i = 0; i < plan->n && !rc; i++)
        compare_with_git_hold(&plan->target[i], likeness[i]);
    return rc;
}
