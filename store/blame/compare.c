#include "store/blame/compare.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/api/store.h"
#include "store/api/transcript.h"
#include "store/blame/blame.h"

/* One of the two sessions while it is read. */
struct comparing {
    struct compared_sessions *c;
    struct compared_side *side;
    size_t which;
    struct slice_set *paths; /* the paths of the files of both */
};

/* ---- the conversation ---- */

static enum err_code compare_blocks(const struct store *st, const struct transcript *t, size_t i,
                                    struct buf *row, struct block_list *out, struct err *e)
{
    TRY(transcript_read(t, i, row, e));
    return st->ops->blocks(st, buf_slice(row), out, e);
}

/* Two copies of a message have the same id, or, if a fork gave the copy an id of its own, the same time and text. The
 * last message that a fork copies may have the time of the fork: in a fork of the other session, its text decides. */
static enum err_code compare_same_message(const struct store *st,
                                          const struct transcript *const t[2], size_t i,
                                          bool forked, bool *same, struct err *e)
{
    const struct message *a = &t[0]->message[i], *b = &t[1]->message[i];
    CLEANUP(transcript_blocks_fini) struct block_list x = { .n = 0 };
    CLEANUP(transcript_blocks_fini) struct block_list y = { .n = 0 };
    AUTO_BUF row = { 0 };
    AUTO_BUF other = { 0 };

    *same = a->kind == b->kind;
    if (*same && !id128_none(a->id) && id128_eq(a->id, b->id))
        return ERR_OK;
    *same = *same && (forked || (a->time_ms == b->time_ms && a->time_ms != TIME_NONE));
    if (!*same)
        return ERR_OK;
    TRY(compare_blocks(st, t[0], i, &row, &x, e));
    TRY(compare_blocks(st, t[1], i, &other, &y, e));
    *same = x.n == y.n;
    for (size_t k = 0; *same && k < x.n; k++)
        *same = x.block[k].kind == y.block[k].kind && slice_eq(x.block[k].text, y.block[k].text);
    return ERR_OK;
}

static enum err_code compare_common(const struct store *st, const struct transcript *const t[2],
                                    bool forked, size_t *common, struct err *e)
{
    bool same = true;

    for (*common = 0; *common < t[0]->n && *common < t[1]->n; ++*common) {
        TRY(compare_same_message(st, t, *common, forked && *common, &same, e));
        if (!same)
            break;
    }
    return ERR_OK;
}

/* Adds the prompts of one message. */
static enum err_code compare_add_prompts(struct comparing *x, const struct store *st,
                                         const struct transcript *t, size_t i, struct err *e)
{
    CLEANUP(transcript_blocks_fini) struct block_list blocks = { .n = 0 };
    struct compared_side *side = x->side;
    AUTO_BUF row = { 0 };

    if (t->message[i].flags & MESSAGE_META)
        return ERR_OK;
    TRY(compare_blocks(st, t, i, &row, &blocks, e));
    for (size_t k = 0; k < blocks.n; k++) {
        const struct block *b = &blocks.block[k];

        if (b->kind != BLOCK_PROMPT && b->kind != BLOCK_COMMAND)
            continue;
        struct compared_prompt *more =
            arena_grow(&x->c->arena, side->prompt, side->prompts, sizeof *more);

        NEED(more);
        side->prompt = more;
        more[side->prompts++] =
            (struct compared_prompt){ arena_copy(&x->c->arena, b->text), t->message[i].time_ms };
        side->common += i < x->c->common;
    }
    return ERR_OK;
}

static enum err_code compare_conversation(struct comparing *x, const struct store *st,
                                          const struct transcript *t, struct err *e)
{
    x->side->messages = t->n;
    x->side->first_ms = x->side->last_ms = TIME_NONE;
    for (size_t i = 0; i < t->n; i++) {
        const int64_t at = t->message[i].time_ms;

        if (at != TIME_NONE && x->side->first_ms == TIME_NONE)
            x->side->first_ms = at;
        if (at > x->side->last_ms)
            x->side->last_ms = at;
        if (t->message[i].kind == MESSAGE_USER)
            TRY(compare_add_prompts(x, st, t, i, e));
    }
    return ERR_OK;
}

/* ---- files ---- */

static enum err_code compare_state_of(struct comparing *x, const char *path,
                                      struct compared_state **out, struct err *e)
{
    struct compared_sessions *c = x->c;
    const struct slice cwd = x->side->cwd, whole = slice_of(path);
    const bool below =
        cwd.n && whole.n > cwd.n && path[cwd.n] == '/' && memcmp(path, cwd.p, cwd.n) == 0;
    const struct slice name = arena_copy(
        &c->arena, below ? (struct slice){ path + cwd.n + 1, whole.n - cwd.n - 1 } : whole);
    uint32_t number;

    NEED(name.p && !slice_set_add(x->paths, name, &number));
    if (number == c->files) {
        struct compared_file *more = arena_grow(&c->arena, c->file, c->files, sizeof *more);

        NEED(more);
        c->file = more;
        more[c->files++] = (struct compared_file){ .path = name };
    }
    *out = &c->file[number].side[x->which];
    return ERR_OK;
}

static enum err_code compare_left(const char *path, const struct blame_text *left, void *arg,
                                  struct err *e)
{
    struct comparing *x = arg;
    struct compared_state *state;

    TRY(compare_state_of(x, path, &state, e));
    state->known = left->known;
    state->absent = left->absent;
    state->text = arena_copy(&x->c->arena, buf_slice(&left->text));
    return ERR_OK;
}

static enum err_code compare_files(struct comparing *x, const struct session_ref *ref,
                                   struct err *e)
{
    CLEANUP(blame_touches_fini) struct blame_touches touches = { .n = 0 };
    struct compared_state *state;

    if (!ref->store->ops->edits) {
        x->side->no_files = "the agent records no edits";
        return ERR_OK;
    }
    TRY(blame_touches_left(ref, compare_left, x, &touches, e));
    for (size_t i = 0; i < touches.n; i++) {
        const struct blame_touch *t = &touches.touch[i];

        TRY(compare_state_of(x, t->path, &state, e));
        state->changed = true;
        state->edits += t->edits;
        state->added += t->added;
        state->removed += t->removed;
        if (!t->to)
            continue;
        TRY(compare_state_of(x, t->to, &state, e));
        state->changed = true;
    }
    return ERR_OK;
}

/* ---- both ---- */

static enum err_code compare_sum_usage(struct compared_side *side, const struct session_ref *ref,
                                       struct err *e)
{
    CLEANUP(usage_list_fini) struct usage_list list = { .n = 0 };
    CLEANUP(usage_set_fini) struct usage_set set = { .n = 0 };

    side->usage.first_ms = side->usage.last_ms = TIME_NONE;
    if (!ref->store->ops->usage)
        return ERR_OK;
    TRY(usage_list_read(ref, NULL, &list, e));
    for (size_t i = 0; i < list.n; i++)
        NEED(!usage_set_add(&set, 0, &list.record[i]));
    NEED(!usage_set_finish(&set));
    for (size_t i = 0; i < set.n; i++)
        usage_sum_add(&side->usage, &set.answer[i], set.answer[i].cost);
    side->records_usage = !usage_sum_is_empty(&side->usage);
    return ERR_OK;
}

/* *forked is set if the session was forked from the other one. */
static enum err_code compare_directory(struct comparing *x, const struct session_ref *ref,
                                       const struct session_ref *other, bool *forked, struct err *e)
{
    static const struct scope everywhere = { .all = true };
    struct session_row *row = session_row_new();

    NEED(row);
    enum err_code rc = ref->store->ops->describe(ref->store, &everywhere, ref, row, e);

    if (!rc) {
        x->side->cwd = arena_copy(&x->c->arena, row->cwd);
        *forked = *forked || slice_eq(row->parent_id, other->id);
    }
    session_row_free(row);
    return rc;
}

enum err_code compare_sessions(const struct session_ref *a, const struct session_ref *b,
                               struct compared_sessions *out, struct err *e)
{
    const struct session_ref *const ref[] = { a, b };
    CLEANUP(compare_fini) struct compared_sessions c = { .files = 0 };
    CLEANUP(slice_set_fini) struct slice_set paths = { .n = 0 };
    CLEANUP(transcript_free_at) struct transcript *ta = NULL;
    CLEANUP(transcript_free_at) struct transcript *tb = NULL;

    struct comparing x[] = {
        { .c = &c, .side = &c.side[0], .which = 0, .paths = &paths },
        { .c = &c, .side = &c.side[1], .which = 1, .paths = &paths },
    };
    bool forked = false;

    TRY(a->store->ops->load(a->store, a, NULL, &ta, e));
    TRY(b->store->ops->load(b->store, b, NULL, &tb, e));
    for (size_t i = 0; i < 2; i++)
        TRY(compare_directory(&x[i], ref[i], ref[1 - i], &forked, e));

    /* Only conversations of one agent can have messages in common. */
    if (a->store->ops == b->store->ops)
        TRY(compare_common(a->store, (const struct transcript *const[]){ ta, tb }, forked,
                           &c.common, e));
    for (size_t i = 0; i < 2; i++) {
        TRY(compare_conversation(&x[i], ref[i]->store, i ? tb : ta, e));
        TRY(compare_files(&x[i], ref[i], e));
        TRY(compare_sum_usage(x[i].side, ref[i], e));
    }
    NEED(!c.arena.failed);
    HAND_OVER(out, c);
    return ERR_OK;
}

void compare_fini(struct compared_sessions *c)
{
    arena_fini(&c->arena);
    *c = (struct compared_sessions){ .files = 0 };
}

void compared_sessions_free(struct compared_sessions *c)
{
    if (c)
        compare_fini(c);
    free(c);
}

const char *compare_result(const struct compared_file *f)
{
    const struct compared_state *a = &f->side[0], *b = &f->side[1];

    if (!a->known || !b->known)
        return a->known ? "not known of B" : b->known ? "not known of A" : "not known";
    if (a->absent || b->absent)
        return a->absent && b->absent ? "same" : a->absent ? "deleted by A" : "deleted by B";
    return slice_eq(a->text, b->text) ? "same" : "differs";
}

bool compare_has_diff(const struct compared_file *f)
{
    const struct compared_state *a = &f->side[0], *b = &f->side[1];

    return a->changed && b->changed && a->known && b->known && !slice_eq(a->text, b->text);
}
