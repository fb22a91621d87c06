#include "store/api/facts.h"

#include <inttypes.h>

enum err_code session_facts_add(struct session_facts *f, const struct session_fact *fact,
                                struct err *e)
{
    if (fact->text.n == 0 && fact->json.n == 0)
        return ERR_OK;
    struct session_fact *more = arena_grow(&f->arena, f->fact, f->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    f->fact = more;
    more[f->n] = *fact;
    more[f->n].text = arena_copy(&f->arena, fact->text);
    more[f->n].json = arena_copy(&f->arena, fact->json);
    if (!more[f->n].text.p || !more[f->n].json.p)
        return err_nomem(e);
    f->n++;
    return ERR_OK;
}

enum err_code session_facts_text(struct session_facts *f, const char *key, const char *label,
                                 struct slice text, struct err *e)
{
    const struct session_fact fact = { .key = key, .label = label, .text = text };

    return session_facts_add(f, &fact, e);
}

enum err_code session_facts_int(struct session_facts *f, const char *key, const char *label,
                                int64_t n, struct err *e)
{
    const char *text = arena_format(&f->arena, "%" PRId64, n);

    if (!text)
        return err_nomem(e);
    const struct session_fact fact = {
        .key = key, .label = label, .text = slice_of(text), .json = slice_of(text)
    };

    return session_facts_add(f, &fact, e);
}

void session_facts_fini(struct session_facts *f)
{
    arena_fini(&f->arena);
    *f = (struct session_facts){ .n = 0 };
}
