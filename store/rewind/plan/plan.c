#include <string.h>

#include "store/rewind/plan/rewind.h"

static bool copy_plan_text(struct arena *a, const char **text)
{
    if (!*text)
        return true;
    *text = arena_copy(a, (struct slice){ *text, strlen(*text) }).p;
    return *text != NULL;
}

static bool keep_source(struct arena *a, struct rewind_source *s)
{
    if (!copy_plan_text(a, &s->file) || !copy_plan_text(a, &s->sha256) ||
        !copy_plan_text(a, &s->objects) || !copy_plan_text(a, &s->blob))
        return false;
    if (!s->bytes.p)
        return true;
    s->bytes = arena_copy(a, s->bytes);
    return s->bytes.p != NULL;
}

static bool keep_other(struct arena *a, const struct rewind_other **other)
{
    struct rewind_other *copy = *other ? arena_alloc(a, sizeof *copy) : NULL;

    if (!*other)
        return true;
    if (!copy)
        return false;
    *copy = **other;
    *other = copy;
    return copy_plan_text(a, &copy->session) && copy_plan_text(a, &copy->title);
}

static bool keep_like(struct arena *a, const struct attrs **like)
{
    struct attrs *copy = *like ? arena_alloc(a, sizeof *copy) : NULL;

    if (!*like)
        return true;
    if (!copy)
        return false;
    *copy = **like;
    *like = copy;
    return attrs_copy(a, copy);
}

enum err_code rewind_plan_add(struct rewind_plan *plan, const struct rewind_target *t,
                              struct err *e)
{
    struct arena *a = &plan->arena;
    struct rewind_target copy = *t, *list = arena_grow(a, plan->target, plan->n, sizeof *list);

    if (!list || !copy_plan_text(a, &copy.path) || !copy_plan_text(a, &copy.real_parent) ||
        !copy_plan_text(a, &copy.adopts) || !copy_plan_text(a, &copy.why) ||
        !keep_source(a, &copy.source) || !keep_source(a, &copy.last) ||
        !copy_plan_text(a, &copy.left_sha256) || !keep_other(a, &copy.other) ||
        !keep_like(a, &copy.like))
        return err_nomem(e);
    plan->target = list;
    plan->target[plan->n++] = copy;
    return ERR_OK;
}

enum err_code rewind_plan_note(struct rewind_plan *plan, const char *text, struct err *e)
{
    const char **list = arena_grow(&plan->arena, plan->note, plan->notes, sizeof *list);

    if (!list || !copy_plan_text(&plan->arena, &text))
        return err_nomem(e);
    plan->note = list;
    plan->note[plan->notes++] = text;
    return ERR_OK;
}

void rewind_plan_fini(struct rewind_plan *plan)
{
    conversation_change_fini(&plan->conversation);
    arena_fini(&plan->arena);
    *plan = (struct rewind_plan){ 0 };
}
