#include "lite/base/time.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/links.h"
#include "store/systems/entire/read/prompts.h"
#include "store/systems/entire/read/view.h"
#include "store/systems/entire/rewind/point_json.h"
#include "store/systems/entire/rewind/turn.h"

/* Entire's checkpoints as points to go back to. Each is how things were when a turn ended: its prompt is the one that
 * was answered then, its files are those that changed up to then. */

static const char no_commit[] =
    "no commit of this repository carries it: only its conversation is left";

static const char too_large[] = "its tree is larger than what is read of one";

/* How many files the shadow commit changed; *why: it cannot be told, nor gone back to. */
static size_t count_files(const struct view *v, const struct point *p, const char **why)
{
    struct turn_diff t;
    size_t n = 0;

    if (p->source != POINT_SHADOW)
        return p->files;
    if (turn_diff_open(v, p, NULL, &t))
        for (size_t i = 0; i < git_diff_num_deltas(t.diff); i++)
            n += turn_is_work(git_diff_get_delta(t.diff, i));
    if (t.too_large)
        *why = too_large;
    turn_diff_close(&t);
    return n;
}

/* What was asked in the turn; of a sub-agent's task the line that Entire made of it. */
static bool turn_prompt(const struct view *v, const struct point *p, const struct link *link,
                        struct arena *a, struct slice *out)
{
    struct buf text = { 0 };
    struct slice prompt = p->text;

    if (p->task.n == 0 && prompts_read(v->repo, p, &text))
        prompt = prompts_last(buf_slice(&text));
    if (prompt.n == 0 && link)
        prompt = link->subject;
    *out = arena_copy(a, prompt);
    buf_fini(&text);
    return out->p != NULL;
}

static enum checkpoint_kind checkpoint_kind_of(const struct point *p)
{
    if (p->source != POINT_SHADOW)
        return CHECKPOINT_COMMIT;
    return p->task.n ? CHECKPOINT_TASK : CHECKPOINT_TURN;
}

static enum err_code add_point(const struct view *v, const struct links *links,
                               const struct point *p, struct checkpoint_list *list, struct err *e)
{
    struct checkpoint *c = &list->checkpoint[list->n++];
    const struct link *link = p->source == POINT_SHADOW ? NULL : links_find(links, p->id);
    const char *why = p->source == POINT_SHADOW || link ? NULL : no_commit;
    size_t files = count_files(v, p, &why);

    *c = (struct checkpoint){ .id = arena_copy(&list->arena, p->id),
                              .message = SLICE(""),
                              .time_ms = p->time_ms,
                              .kind = checkpoint_kind_of(p),
                              .after = true,
                              .files = files,
                              .why = why };
    return c->id.p && turn_prompt(v, p, link, &list->arena, &c->prompt) &&
                   point_json_make(v, p, link, &list->arena, &c->record)
               ? ERR_OK
               : err_nomem(e);
}

enum err_code entire_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { 0 };
    struct links links = { 0 };
    struct view v;
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    list.checkpoint = arena_zalloc(&list.arena, sizeof *list.checkpoint * (v.session->n + 1));
    if (!list.checkpoint)
        rc = err_nomem(e);
    if (!rc && v.session->committed)
        rc = links_read(v.repo, &v.arena, &links, e);
    for (size_t i = 0; i < v.session->n && !rc; i++)
        rc = add_point(&v, &links, &v.session->point[i], &list, e);
    view_close(&v);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}
