#include "store/systems/opencode/opencode.h"

/* The points of a session, and why the files of some of them are not known. */

static const char why_gone[] = "the agent has pruned this snapshot";
const char opencode_why_none[] =
    "the agent made no snapshot of this turn: it does so only in git repositories";

static const char why_lost[] =
    "its snapshot has objects of the project's own git repository, which is gone";
static const char why_shut[] = "OpenCode's snapshots cannot be opened: git refuses the repository";

/* The reason why the tree of a prompt is missing. */
const char *opencode_why_missing(const struct opencode_steps *s, const struct opencode_trees *t,
                                 const struct opencode_prompt *p)
{
    if (!opencode_steps_tree(s, p).n)
        return opencode_why_none;
    return t->lost ? why_lost : t->shut ? why_shut : why_gone;
}

static enum err_code count_files(const struct opencode_steps *s, size_t from, size_t to,
                                 size_t *out)
{
    struct slice_set paths = { .n = 0 };
    uint32_t number;
    enum err_code rc = ERR_OK;

    for (size_t i = from; i < to && !rc; i++)
        for (size_t k = 0; k < s->step[i].files && !rc; k++)
            rc = slice_set_add(&paths, s->step[i].file[k], &number);
    *out = paths.n;
    slice_set_fini(&paths);
    return rc;
}

static const char *why_no_point(const struct opencode_steps *s, const struct opencode_trees *t,
                                const struct opencode_prompt *p)
{
    struct slice hex = opencode_steps_tree(s, p);
    git_oid id;

    if (p->step == s->n)
        return NULL; /* nothing came after it */
    return opencode_trees_find(t, hex, &id) == t->n ? opencode_why_missing(s, t, p) : NULL;
}

static enum err_code fill_points(const struct opencode_steps *s, const struct opencode_trees *t,
                                 struct checkpoint_list *list)
{
    struct arena *a = &list->arena;
    enum err_code rc = ERR_OK;

    list->checkpoint = arena_zalloc(a, (s->prompts + 1) * sizeof *list->checkpoint);
    for (size_t i = 0; list->checkpoint && i < s->prompts && !rc; i++) {
        const struct opencode_prompt *p = &s->prompt[i];
        struct slice id = arena_copy(a, p->id);
        size_t end = i + 1 < s->prompts ? s->prompt[i + 1].step : s->n, files;

        rc = count_files(s, p->step, end, &files);
        list->checkpoint[list->n++] = (struct checkpoint){ .id = id,
                                                           .message = id,
                                                           .prompt = arena_copy(a, p->text),
                                                           .time_ms = p->time_ms,
                                                           .kind = CHECKPOINT_TURN,
                                                           .files = files,
                                                           .copied = p->copied,
                                                           .why = why_no_point(s, t, p) };
    }
    return rc || !list->checkpoint || a->failed ? ERR_NOMEM : ERR_OK;
}

enum err_code opencode_checkpoints(const struct store *st, const struct session_ref *ref,
                                   struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { .n = 0 };
    struct opencode_steps s;
    struct opencode_trees t = { .n = 0 };

    TRY(opencode_steps_read(ref, &s, e));
    enum err_code rc = opencode_trees_open(st, &s, &s.arena, &t, e);

    if (!rc && fill_points(&s, &t, &list))
        rc = err_nomem(e);
    opencode_trees_close(&t);
    opencode_steps_fini(&s);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}
