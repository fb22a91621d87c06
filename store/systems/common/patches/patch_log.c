#include <string.h>

#include "store/git/repo.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/inferred.h"
#include "store/systems/common/patches/patch_log.h"

enum err_code patch_log_drop_points(struct patch_log *c, const struct store *st,
                                    const struct session_ref *ref, store_load_fn *load,
                                    struct err *e)
{
    struct transcript *t;
    struct idset ids = { .n = 0 };
    uint32_t number;
    size_t n = 0;
    enum err_code rc = load(st, ref, NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->n && !rc; i++)
        if (t->message[i].kind == MESSAGE_USER && !id128_none(t->message[i].id))
            rc = idset_add(&ids, t->message[i].id, &number) ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < c->points && !rc; i++)
        if (idset_has(&ids, id128_of(c->point[i].id)))
            c->point[n++] = c->point[i];
    c->points = n;
    idset_fini(&ids);
    transcript_free(t);
    return rc;
}

void patch_log_fini(struct patch_log *c)
{
    arena_fini(&c->arena);
    *c = (struct patch_log){ .changes = 0 };
}

/* ---- reading logs ---- */

void patch_log_add_change(struct patch_log *c, const struct patch_change *x)
{
    struct patch_change *list = arena_grow(&c->arena, c->change, c->changes, sizeof *list);

    if (!list)
        return;
    c->change = list;
    list[c->changes] = *x;
    list[c->changes].text = arena_copy(&c->arena, x->text);
    list[c->changes++].call = arena_copy(&c->arena, x->call);
}

void patch_log_add_command(struct patch_log *c, struct slice text, const char *dir, size_t at)
{
    struct patch_command *list = inferred_only_reads(text)
                                     ? NULL
                                     : arena_grow(&c->arena, c->command, c->commands, sizeof *list);

    if (!list)
        return;
    c->command = list;
    list[c->commands++] = (struct patch_command){ arena_copy(&c->arena, text), dir, at };
}

void patch_log_add_seen(struct patch_log *c, const struct patch_seen *x)
{
    struct patch_seen *list = arena_grow(&c->arena, c->seen, c->seen_n, sizeof *list);

    if (!list)
        return;
    c->seen = list;
    list[c->seen_n] = *x;
    list[c->seen_n++].text = arena_copy(&c->arena, x->text);
}

void patch_log_add_point(struct patch_log *c, const struct patch_point *x)
{
    struct patch_point *list = arena_grow(&c->arena, c->point, c->points, sizeof *list);
    size_t *lines = arena_grow(&c->arena, c->prompt, c->prompts, sizeof *lines);

    if (!list || !lines)
        return;
    c->prompt = lines;
    lines[c->prompts++] = x->at;
    c->point = list;
    list[c->points] = *x;
    list[c->points].id = arena_copy(&c->arena, x->id);
    list[c->points++].text = arena_copy(&c->arena, x->text);
}

struct slice patch_hunks(struct slice patch)
{
    struct slice rest = patch, line;
    bool torn;

    while (!slice_starts(rest, "@@") && slice_line(&rest, &line, &torn))
        continue;
    return rest;
}

static bool patch_may_have(const struct patch_command *x, const char *path,
                           bool may(struct slice, const char *, const char *))
{
    return !path || !x->text.n || !x->dir || may(x->text, x->dir, path);
}

bool patch_commands_between(const struct patch_log *c, size_t from, size_t to, const char *path)
{
    for (size_t i = 0; i < c->commands; i++)
        if (c->command[i].at >= from && c->command[i].at < to &&
            patch_may_have(&c->command[i], path, inferred_may_change))
            return true;
    return false;
}

bool patch_shows_free(const struct patch_log *c, size_t from, size_t to, const char *path)
{
    size_t newest = 0;
    bool any = false, gone = false;

    for (size_t i = 0; i < c->seen_n; i++) {
        const struct patch_seen *x = &c->seen[i];

        if (x->at < from || x->at >= to || (any && x->at < newest) || strcmp(x->path, path) != 0)
            continue;
        any = true;
        newest = x->at;
        gone = x->gone;
    }

    /* A listing counts unless a newer command has read the file. */
    for (size_t i = 0; i < c->listings; i++) {
        const struct patch_listing *x = &c->listing[i];

        if (x->at < from || x->at >= to || (any && x->at < newest))
            continue;
        enum listed listed = listed_by_command(x->command, x->dir, x->output, path);

        if (listed == LISTED_UNKNOWN)
            continue;
        any = true;
        newest = x->at;
        gone = listed == LISTED_ABSENT;
    }

    /* A command after the newest of these may have made the file. */
    return gone && !patch_commands_between(c, newest, to, path);
}

bool patch_removals_between(const struct patch_log *c, size_t from, size_t to, const char *path)
{
    for (size_t i = 0; i < c->commands; i++)
        if (c->command[i].at >= from && c->command[i].at < to &&
            patch_may_have(&c->command[i], path, inferred_may_remove))
            return true;
    return false;
}

/* ---- the commit ---- */

void patch_commit_open(const struct patch_log *c, struct patch_commit *out)
{
    git_commit *commit = NULL;
    git_oid id;

    *out = (struct patch_commit){ .tree = NULL };
    if (!c->cwd || c->commit.n != GIT_OID_HEXSZ || repo_open(c->cwd, &out->repo, NULL))
        return;
    if (git_oid_fromstrn(&id, c->commit.p, c->commit.n) ||
        git_commit_lookup(&commit, out->repo, &id) ||
        repo_tree(out->repo, git_commit_tree_id(commit), &out->tree, NULL))
        patch_commit_close(out);
    git_commit_free(commit);
}

void patch_commit_close(struct patch_commit *c)
{
    git_tree_free(c->tree);
    repo_close(c->repo);
    *c = (struct patch_commit){ .tree = NULL };
}

/* Its name in the repository; NULL: it is not in the work tree. */
static const char *name_of(const struct patch_commit *c, const char *path)
{
    const char *top = c->tree ? git_repository_workdir(c->repo) : NULL;
    size_t n = top ? strlen(top) : 0;

    return n && strncmp(path, top, n) == 0 ? path + n : NULL;
}

enum err_code patch_commit_text(const struct patch_commit *c, const char *path, size_t max,
                                struct buf *out)
{
    const char *name = name_of(c, path);

    if (!name)
        return ERR_NOT_FOUND;
    return repo_converts(c->repo, name, path)
               ? ERR_UNSUPPORTED
               : repo_blob_at(c->repo, c->tree, name, max, out, NULL);
}

unsigned patch_commit_mode(const struct patch_commit *c, const char *path)
{
    const char *name = name_of(c, path);
    git_tree_entry *entry = NULL;

    if (!name || git_tree_entry_bypath(&entry, c->tree, name))
        return 0;
    unsigned mode = (unsigned)git_tree_entry_filemode_raw(entry);

    git_tree_entry_free(entry);
    return mode;
}
