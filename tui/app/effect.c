#include "tui/app/effect.h"

#include <stdlib.h>
#include <string.h>

struct effect *effect_add(struct effects *fx, enum effect_kind kind, enum requester requester)
{
    if (fx->n == EFFECTS_MAX) /* no update needs this many; the last effect is replaced */
        effect_fini(&fx->item[--fx->n]);
    struct effect *e = &fx->item[fx->n++];

    *e = (struct effect){ .kind = kind,
                          .requester = requester,
                          .generation = ++fx->last_generation };
    return e;
}

void effect_cancel(struct effects *fx, enum requester requester, unsigned *generation)
{
    if (*generation)
        effect_add(fx, EFFECT_CANCEL, requester)->generation = *generation;
    *generation = 0;
}

bool effects_pop(struct effects *fx, struct effect *out)
{
    if (fx->n == 0)
        return false;
    *out = fx->item[0];
    fx->n--;
    memmove(fx->item, fx->item + 1, fx->n * sizeof *fx->item);
    return true;
}

void effect_fini(struct effect *e)
{
    ref_list_free(e->refs);
    conversation_free(e->conversation);
    preview_free(e->preview);
    preview_selection_free(e->selection);
    name_list_free(e->names);
    if (e->sweep)
        sweep_fini(e->sweep);
    free(e->sweep);
    buf_fini(&e->text);
    *e = (struct effect){ 0 };
}

void effects_fini(struct effects *fx)
{
    for (size_t i = 0; i < fx->n; i++)
        effect_fini(&fx->item[i]);
    fx->n = 0;
}
