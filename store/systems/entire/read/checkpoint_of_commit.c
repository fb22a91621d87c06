#include <string.h>

#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

/* From a commit of the user to the checkpoints that its trailers name, to the sessions in them and their prompts; and
 * back from a checkpoint to every commit that names it (docs/formats/entire.md 2.6). */

enum { DOCUMENT_MAX = 16 << 20, PREFIX_MIN = 4, AMBIGUOUS_MAX = 5 };

struct tracing {
    struct catalog *catalog;
    git_repository *repo;
    struct arena scratch;
    struct links links;
    struct checkpoint_origins out;
    struct err *e;
};

static void tracing_fini(struct tracing *t)
{
    checkpoint_origins_fini(&t->out);
    arena_fini(&t->scratch);
    repo_close(t->repo);
    catalog_close(t->catalog);
}

/* ---- one checkpoint ---- */

static bool entire_read_part(struct tracing *t, const struct point *p, struct checkpoint_part *part)
{
    struct arena *a = &t->out.arena;
    AUTO_BUF text = { 0 };
    AUTO_BUF json = { 0 };
    AUTO_TREE *tree = NULL;
    struct slice prompt = p->text;

    if (point_prompts_read(t->repo, p, &text))
        prompt = point_prompts_last(buf_slice(&text));
    if (p->source != POINT_SHADOW && git_tree_lookup(&tree, t->repo, &p->tree) == 0 &&
        (repo_blob_at(t->repo, tree, p->metadata.p, DOCUMENT_MAX, &json, NULL) ||
         !json_valid(buf_slice(&json))))
        json.n = 0;
    *part = (struct checkpoint_part){ .session = arena_copy(a, p->session),
                                      .agent = arena_copy(a, p->agent),
                                      .prompt = arena_copy(a, prompt),
                                      .record = arena_copy(a, buf_slice(&json)) };
    return part->session.p && part->agent.p && part->prompt.p && part->record.p;
}

/* Adds a checkpoint, with the sessions in it and the commits that name it, unless it is there already. */
static enum err_code add_origin(struct tracing *t, struct slice id)
{
    const struct point_list *all = &t->catalog->points;
    struct arena *a = &t->out.arena;
    struct checkpoint_origin *o;
    struct checkpoint_part *part = NULL;
    struct checkpoint_commit *commit = NULL;
    char hex[GIT_OID_HEXSZ + 1];

    for (size_t i = 0; i < t->out.n; i++)
        if (slice_eq(t->out.origin[i].id, id))
            return ERR_OK;
    o = arena_grow(a, t->out.origin, t->out.n, sizeof *o);
    if (!o)
        return err_nomem(t->e);
    t->out.origin = o;
    o += t->out.n++;
    *o = (struct checkpoint_origin){ .id = arena_copy(a, id) };

    for (size_t i = 0; i < all->n; i++) {
        if (!slice_eq(all->point[i].id, id))
            continue;
        part = arena_grow(a, part, o->parts, sizeof *part);
        if (!part || !entire_read_part(t, &all->point[i], &part[o->parts]))
            return err_nomem(t->e);
        o->parts++;
    }
    o->part = part;

    for (size_t i = 0; i < t->links.n; i++) {
        const struct link *link = &t->links.link[i];

        /* A squash commit may name a checkpoint twice. */
        if (!slice_eq(link->checkpoint, id) ||
            (o->commits && git_oid_streq(&link->commit, commit[o->commits - 1].id.p) == 0))
            continue;
        commit = arena_grow(a, commit, o->commits, sizeof *commit);
        if (!commit)
            return err_nomem(t->e);
        git_oid_tostr(hex, sizeof hex, &link->commit);
        commit[o->commits] = (struct checkpoint_commit){ .id = arena_copy(a, slice_of(hex)),
                                                         .subject = arena_copy(a, link->subject),
                                                         .time_ms = link->time_ms };
        if (!commit[o->commits++].id.p)
            return err_nomem(t->e);
    }
    o->commit = commit;
    return a->failed ? err_nomem(t->e) : ERR_OK;
}

/* ---- by a commit ---- */

/* Adds the checkpoints that the trailers of a commit name. A commit of a shadow branch is a checkpoint itself. */
static enum err_code add_origins_of_commit(struct tracing *t, const git_commit *c)
{
    const char *raw = git_commit_message_raw(c);
    struct slice message = slice_of(raw ? raw : ""), id;
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, git_commit_id(c));
    for (size_t i = 0; i < t->catalog->points.n; i++)
        if (slice_eq(t->catalog->points.point[i].id, slice_of(hex)))
            return add_origin(t, slice_of(hex));
    while (entire_trailer_checkpoint(&message, &id))
        TRY(add_origin(t, id));
    return t->out.n ? ERR_OK
                    : err_set(t->e, ERR_NOT_FOUND, hex, "find a checkpoint: the commit names none");
}

/* ---- by a checkpoint ---- */

static enum err_code add_origins_of_name(struct tracing *t, struct slice name)
{
    const struct point_list *all = &t->catalog->points;
    CLEANUP(git_object_free_at) git_object *named = NULL;
    CLEANUP(git_object_free_at) git_object *commit = NULL;
    struct slice id[AMBIGUOUS_MAX];
    int shown = name.n > 64 ? 64 : (int)name.n;
    size_t n = 0, k;

    /* Look among the existing checkpoints, and those that commits name. */
    for (size_t i = 0; name.n >= PREFIX_MIN && i < all->n + t->links.n && n < AMBIGUOUS_MAX; i++) {
        struct slice x = i < all->n ? all->point[i].id : t->links.link[i - all->n].checkpoint;

        if (x.n < name.n || memcmp(x.p, name.p, name.n) != 0)
            continue;
        for (k = 0; k < n && !slice_eq(id[k], x);)
            k++;
        if (k == n)
            id[n++] = x;
    }
    if (n == 1 || (n && slice_eq(id[0], name)))
        return add_origin(t, id[0]);

    /* Otherwise it may be any name of a commit. */
    const char *text = arena_copy(&t->scratch, name).p;

    if (text && git_revparse_single(&named, t->repo, text) == 0 &&
        git_object_peel(&commit, named, GIT_OBJECT_COMMIT) == 0)
        return add_origins_of_commit(t, (git_commit *)commit);
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
    CLEANUP(tracing_fini) struct tracing t = { .e = e };

    TRY(entire_catalog(x, true, &t.catalog, e));
    TRY(repo_open(x->git, &t.repo, e));
    TRY(point_links_read(t.repo, &t.scratch, &t.links, e));
    TRY(add_origins_of_name(&t, name));
    HAND_OVER(out, t.out);
    return ERR_OK;
}
