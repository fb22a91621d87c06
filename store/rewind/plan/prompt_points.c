#include <string.h>

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/rewind/plan/snapped.h"

/* Points for agents that keep no copies of files: the prompts of the conversation. Whether one of them can be restored
 * depends on the snapshots alone. */

struct prompt_reader {
    struct checkpoint_list list;
    struct idset ids; /* the ids of the messages, in the order of `name` */
    struct slice *name;
    struct idset pointed; /* ids that have a point: a message may be more than one row */
};

/* Collects the ids as the agent writes them, because a transcript has only their fingerprints. */
static enum err_code collect_id(struct slice json, void *arg, struct err *e)
{
    struct prompt_reader *r = arg;
    struct slice id;
    uint32_t number;

    if (!json_get_is(json, "type", "user") || !json_get_text(json, "uuid", &r->list.arena, &id) ||
        !id.n)
        return ERR_OK;
    const size_t known = r->ids.n;

    NEED(!idset_add(&r->ids, id128_of(id), &number));
    if (number < known)
        return ERR_OK;
    NEED(r->name = arena_grow(&r->list.arena, r->name, known, sizeof *r->name));
    r->name[known] = arena_copy(&r->list.arena, id);
    return r->name[known].p ? ERR_OK : err_nomem(e);
}

/* Adds a point for the row if a person typed it. */
static enum err_code add_prompt_point(struct prompt_reader *r, const struct message *m,
                                      const struct block_list *blocks, struct err *e)
{
    struct checkpoint_list *list = &r->list;
    const uint32_t at = id128_none(m->id) ? IDSET_NONE : idset_find(&r->ids, m->id);
    size_t i = 0;
    uint32_t number;

    while (i < blocks->n && blocks->block[i].kind != BLOCK_PROMPT)
        i++;
    if (i == blocks->n || (!id128_none(m->id) && idset_has(&r->pointed, m->id)))
        return ERR_OK;
    NEED(id128_none(m->id) || !idset_add(&r->pointed, m->id, &number));
    struct checkpoint c = { .time_ms = m->time_ms,
                            .kind = CHECKPOINT_TURN,
                            .why = "there is no snapshot from before this prompt",
                            .prompt = arena_copy(&list->arena, blocks->block[i].text) };

    /* Without an id of the agent, the point is named by its place among the prompts. */
    if (at != IDSET_NONE) {
        c.id = c.message = r->name[at];
    } else {
        const char *id = arena_format(&list->arena, "prompt-%zu", list->n + 1);

        NEED(id);
        c.id = slice_of(id);
    }
    NEED(c.prompt.p &&
         (list->checkpoint = arena_grow(&list->arena, list->checkpoint, list->n, sizeof c)));
    list->checkpoint[list->n++] = c;
    return ERR_OK;
}

static enum err_code read_prompt_points(const struct session_ref *ref, struct prompt_reader *r,
                                        struct err *e)
{
    enum { NOT_TYPED = MESSAGE_META | MESSAGE_SUMMARY | MESSAGE_BROKEN | MESSAGE_LEFT_OUT };
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    const struct store_ops *ops = ref->store->ops;
    const struct message_query q = { .session = ref->id };
    AUTO_BUF row = { 0 };
    enum err_code rc = ERR_OK;

    TRY(ops->messages(ref->store, ref, &q, collect_id, r, e));
    TRY(ops->load(ref->store, ref, NULL, &t, e));
    for (size_t i = 0; i < t->n && !rc; i++) {
        struct block_list blocks = { .n = 0 };

        if (t->message[i].kind != MESSAGE_USER || t->message[i].flags & NOT_TYPED)
            continue;
        rc = transcript_read(t, i, &row, e);
        if (!rc)
            rc = ops->blocks(ref->store, buf_slice(&row), &blocks, e);
        if (!rc)
            rc = add_prompt_point(r, &t->message[i], &blocks, e);
        transcript_blocks_fini(&blocks);
    }
    return rc;
}

enum err_code snapped_points(const struct session_ref *ref, struct checkpoint_list *out,
                             struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct prompt_reader r = { .name = NULL };

    if (ops->checkpoints) {
        TRY(ops->checkpoints(ref->store, ref, out, e));
        if (out->n)
            return ERR_OK;
        checkpoint_list_fini(out);
    }
    enum err_code rc = read_prompt_points(ref, &r, e);

    idset_fini(&r.ids);
    idset_fini(&r.pointed);
    if (rc)
        checkpoint_list_fini(&r.list);
    else
        *out = r.list;
    return rc;
}
