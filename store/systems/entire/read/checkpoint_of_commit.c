#include <string.h>

#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

/* From a commit of the user to the checkpoints that its trailers name, to the sessions in them and their prompts; and
 * back from a checkpoint to every commit that names it (docs/formats/entire.md 2.6). */

enum { DOCUMENT_MAX = 16 << 20, PREFIX_MIN = 4, AMBIGUOUS_MAX = 5 };

struct tracing {
    const struct catalog *catalog;
    git_repository *repo;
    struct arena scratch;
    struct links links;
    struct checkpoint_origins out;
    struct err *e;
};

/* ---- one checkpoint ---- */

static bool read_part(struct tracing *t, const struct point *p, struct checkpoint_part *part)
{
    struct arena *a = &t->out.arena;
    struct buf text = { 0 }, json = { 0 };
    git_tree *tree = NULL;
    struct slice prompt = p->text;

    if (point_prompts_read(t->repo, p, &text))
        prompt = point_prompts_last(buf_slice(&text));
    if (p->source != POINT_SHADOW && git_tree_lookup(&tree, t->repo, &p->tree) == 0 &&
        (repo_blob_at(t->repo, tree, p->metadata.p, DOCUMENT_MAX, &json, NULL) ||
         !json_valid(buf_slice(&json))))
        json.n = 0;
    git_tree_free(tree);
    *part = (struct checkpoint_part){ .session = arena_copy(a, p->session),
                                      .agent = arena_copy(a, p->agent),
                                      .prompt = arena_copy(a, prompt),
                                      .record = arena_copy(a, buf_slice(&json)) };
    buf_fini(&text);
    buf_fini(&json);
    return part->session.p && part->agent.p && part->prompt.p && part->record.p;
}

static enum err_code add_parts(struct tracing *t, struct checkpoint_origin *o)
{
    const struct point_list *all = &t->catalog->points;
    struct checkpoint_part *list = NULL;

    for (size_t i = 0; i < all->n; i++) {
        if (!slice_eq(all->point[i].id, o->id))
            continue;
        list = arena_grow(&t->out.arena, list, o->parts, sizeof *list);
        if (!list || !read_part(t, &all->point[i], &list[o->parts]))
            return err_nomem(t->e);
        o->parts++;
    }
    o->part = list;
    return ERR_OK;
}

static bool is_commit(const struct checkpoint_commit *c, const git_oid *id)
{
    return git_oid_streq(id, c->id.p) == 0;
}

static enum err_code add_commits(struct tracing *t, struct checkpoint_origin *o)
{
    struct arena *a = &t->out.arena;
    struct checkpoint_commit *list = NULL;
    char hex[GIT_OID_HEXSZ + 1];

    for (size_t i = 0; i < t->links.n; i++) {
        const struct link *link = &t->links.link[i];

        /* A squash commit may name a checkpoint twice. */
        if (!slice_eq(link->checkpoint, o->id) ||
            (o->commits && is_commit(&list[o->commits - 1], &link->commit)))
            continue;
        list = arena_grow(a, list, o->commits, sizeof *list);
        if (!list)
            return err_nomem(t->e);
        git_oid_tostr(hex, sizeof hex, &link->commit);
        list[o->commits] = (struct checkpoint_commit){ .id = arena_copy(a, slice_of(hex)),
                                                       .subject = arena_copy(a, link->subject),
                                                       .time_ms = link->time_ms };
        if (!list[o->commits].id.p || !list[o->commits++].subject.p)
            return err_nomem(t->e);
    }
    o->commit = list;
    return ERR_OK;
}

static enum err_code add_origin(struct tracing *t, struct slice id)
{
    for (size_t i = 0; i < t->out.n; i++)
        if (slice_eq(t->out.origin[i].id, id))
            return ERR_OK;
    struct checkpoint_origin *more =
        arena_grow(&t->out.arena, t->out.origin, t->out.n, sizeof *more);

    if (!more)
        return err_nomem(t->e);
    t->out.origin = more;
    more[t->out.n] = (struct checkpoint_origin){ .id = arena_copy(&t->out.arena, id) };
    if (!more[t->out.n].id.p)
        return err_nomem(t->e);
    enum err_code rc = add_parts(t, &more[t->out.n]);

    if (!rc)
        rc = add_commits(t, &more[t->out.n]);
    t->out.n++;
    return rc;
}

/* ---- by a commit ---- */

static bool find_commit(struct tracing *t, struct slice name, git_commit **out)
{
    const char *text = arena_copy(&t->scratch, name).p;
    git_object *named = NULL, *commit = NULL;
    bool found = text && git_revparse_single(&named, t->repo, text) == 0 &&
                 git_object_peel(&commit, named, GIT_OBJECT_COMMIT) == 0;

    git_object_free(named);
    *out = (git_commit *)commit;
    return found;
}

/* A commit of a shadow branch is a checkpoint itself. */
static enum err_code of_commit(struct tracing *t, const git_commit *c)
{
    const char *raw = git_commit_message_raw(c);
    struct slice message = { raw ? raw : "", raw ? strlen(raw) : 0 }, id;
    char hex[GIT_OID_HEXSZ + 1];
    enum err_code rc = ERR_OK;

    git_oid_tostr(hex, sizeof hex, git_commit_id(c));
    for (size_t i = 0; i < t->catalog->points.n; i++)
        if (slice_eq(t->catalog->points.point[i].id, slice_of(hex)))
            return add_origin(t, slice_of(hex));
    while (!rc && entire_trailer_checkpoint(&message, &id))
        rc = add_origin(t, id);
    return rc || t->out.n
               ? rc
               : err_set(t->e, ERR_NOT_FOUND, hex, "find a checkpoint: the commit names none");
}

/* ---- by a checkpoint ---- */

static bool begins(struct slice text, struct slice front)
{
    return text.n >= front.n && memcmp(text.p, front.p, front.n) == 0;
}

static bool is_among(const struct slice *list, size_t n, struct slice id)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(list[i], id))
            return true;
    return false;
}

/* Finds existing checkpoints, and those that commits name. *n counts up to AMBIGUOUS_MAX. */
static void find_ids(const struct tracing *t, struct slice name, struct slice id[AMBIGUOUS_MAX],
                     size_t *n)
{
    const struct point_list *all = &t->catalog->points;

    *n = 0;
    for (size_t i = 0; i < all->n + t->links.n && *n < AMBIGUOUS_MAX; i++) {
        struct slice x = i < all->n ? all->point[i].id : t->links.link[i - all->n].checkpoint;

        if (begins(x, name) && !is_among(id, *n, x))
            id[(*n)++] = x;
    }
}

static enum err_code of_name(struct tracing *t, struct slice name)
{
    struct slice id[AMBIGUOUS_MAX];
    int shown = name.n > 64 ? 64 : (int)name.n;
    size_t n = 0;
    git_commit *commit = NULL;

    if (name.n >= PREFIX_MIN)
        find_ids(t, name, id, &n);
    if (n == 1 || (n && slice_eq(id[0], name)))
        return add_origin(t, id[0]);
    if (find_commit(t, name, &commit)) {
        enum err_code rc = of_commit(t, commit);

        git_commit_free(commit);
        return rc;
    }
    return n ? err_set(t->e, ERR_USAGE, "", "find a checkpoint: %.*s is ambiguous: %.*s, %.*s%s",
                       shown, name.p, SLICE_ARG(id[0]), SLICE_ARG(id[1]), n > 2 ? ", ..." : "")
             : err_set(t->e, ERR_NOT_FOUND, "",
                       "find a checkpoint: no commit and no checkpoint has the name %.*s", shown,
                       name.p);
}

enum err_code entire_origins(const struct store *st, struct slice name,
                             struct checkpoint_origins *out, struct err *e)
{
    const struct entire *x = entire_of(st);
    struct tracing t = { .e = e };
    struct catalog *c;
    enum err_code rc = entire_catalog(x, true, &c, e);

    if (rc)
        return rc;
    t.catalog = c;
    rc = repo_open(x->git, &t.repo, e);
    if (!rc)
        rc = point_links_read(t.repo, &t.scratch, &t.links, e);
    if (!rc)
        rc = of_name(&t, name);
    repo_close(t.repo);
    arena_fini(&t.scratch);
    catalog_close(x->cache, c);
    if (rc)
        checkpoint_origins_fini(&t.out);
    else
        *out = t.out;
    return rc;
}
