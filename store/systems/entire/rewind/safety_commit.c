#include "store/systems/entire/rewind/safety_commit.h"

#include <stdio.h>
#include <string.h>

#include "store/git/ref.h"
#include "store/git/repo.h"
#include "store/rewind/plan/pathrule.h"
#include "store/systems/entire/write/treewrite.h"

/* The path from the root; NULL: it is outside. */
static const char *path_below_root(const struct rewind_plan *plan, const char *path)
{
    struct slice root = slice_of(plan->root);

    return pathrule_under(slice_of(path), root) && path[root.n] == '/' ? path + root.n + 1 : NULL;
}

static enum err_code add_work_tree_file(struct treewrite *t, const struct rewind_plan *plan,
                                        const struct rewind_entry *x, struct err *e)
{
    const char *path = path_below_root(plan, x->target->path);
    struct err why;

    if (!path)
        return ERR_OK;
    enum err_code rc = treewrite_add_file(t, plan->root, path, &why);

    /* What cannot be read is not rewound either: the plan refuses it. */
    if (rc && x->chosen && x->action != REWIND_UNCHANGED) {
        if (e)
            *e = why;
        return rc;
    }
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code write_tree(git_repository *repo, const struct rewind_preview *p,
                                const git_oid *head, git_oid *out, struct err *e)
{
    struct treewrite t;
    git_commit *c = NULL;
    git_oid base;
    bool has_base = head && git_commit_lookup(&c, repo, head) == 0;

    if (has_base)
        base = *git_commit_tree_id(c);
    git_commit_free(c);
    enum err_code rc = treewrite_open(repo, has_base ? &base : NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < p->n && !rc; i++)
        rc = add_work_tree_file(&t, p->plan, &p->entry[i], e);
    if (!rc)
        rc = treewrite_finish(&t, out, e);
    treewrite_close(&t);
    return rc;
}

static enum err_code commit_work_tree(git_repository *repo, const struct rewind_preview *p,
                                      const git_oid *head, const char *id_of_record, struct err *e)
{
    git_signature *sig = NULL;
    struct commit_text c = { .parent = head, .parents = head != NULL };
    struct buf message = { 0 };
    git_oid id;
    char ref[128];
    enum err_code rc = treewrite_author(repo, &sig, &c.author, e);

    if (!rc && buf_addf(&message, "Before going back to %s\n\nSession: %s\n", p->plan->point,
                        p->plan->session))
        rc = err_nomem(e);
    if (!rc)
        rc = write_tree(repo, p, head, &c.tree, e);
    c.committer = c.author;
    c.message = buf_slice(&message);
    if (!rc)
        rc = treewrite_commit(repo, &c, &id, e);
    snprintf(ref, sizeof ref, REF_BEFORE "%s", id_of_record);
    if (!rc)
        rc = ref_move(repo, ref, NULL, &id, "reprise: before a rewind", e);
    buf_fini(&message);
    git_signature_free(sig);
    return rc;
}

enum err_code safety_commit_make(const struct rewind_preview *preview, const char *id,
                                 struct err *e)
{
    git_repository *repo;
    git_oid head;
    enum err_code rc = repo_open(preview->plan->root, &repo, e);

    if (rc)
        return rc;
    rc = commit_work_tree(repo, preview, repo_has_ref(repo, "HEAD", &head) ? &head : NULL, id, e);
    repo_close(repo);
    return rc ? err_wrap(e, rc, "keep the work tree before it is changed") : ERR_OK;
}
