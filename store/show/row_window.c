#include "store/show/row_window.h"

enum { ROW_KEPT = 1 << 20 }; /* larger rows free their memory */

static enum err_code row_window_read(struct row_window *w, struct err *e)
{
    struct row_read *r = &w->row[(w->first + w->n) % ROW_WINDOW];

    if (w->cancel && atomic_load_explicit(w->cancel, memory_order_relaxed))
        return err_set(e, ERR_CANCELLED, w->t->path, "read the conversation");
    arena_reset(&r->blocks.arena);
    r->blocks = (struct block_list){ .arena = r->blocks.arena };
    r->taken = 0;
    r->at = w->next;
    TRY(transcript_read(w->t, w->next, &r->bytes, e));
    if (w->change && w->change(&r->bytes, w->arg))
        return err_nomem(e);
    TRY(w->store->ops->blocks(w->store, buf_slice(&r->bytes), &r->blocks, e));
    w->next++;
    w->n++;
    w->bytes += r->bytes.n;
    return ERR_OK;
}

enum err_code row_window_first(struct row_window *w, struct row_read **row, struct err *e)
{
    *row = NULL;
    if (w->n == 0 && w->next < w->end)
        TRY(row_window_read(w, e));
    if (w->n)
        *row = &w->row[w->first];
    return ERR_OK;
}

bool row_window_is_taken(const struct row_read *row, size_t block)
{
    return block < ROW_TAKEN && row->taken >> block & 1;
}

static const struct block *take_result(struct row_read *r, struct slice call_id)
{
    for (size_t i = 0; i < r->blocks.n && i < ROW_TAKEN; i++) {
        const struct block *b = &r->blocks.block[i];

        if (b->kind == BLOCK_TOOL_RESULT && slice_eq(b->call_id, call_id) &&
            !row_window_is_taken(r, i)) {
            r->taken |= UINT64_C(1) << i;
            return b;
        }
    }
    return NULL;
}

enum err_code row_window_result(struct row_window *w, struct slice call_id,
                                const struct block **result, struct err *e)
{
    *result = NULL;
    if (call_id.n == 0)
        return ERR_OK;
    for (size_t i = 0; !*result; i++) {
        if (i == w->n) {
            if (w->n == ROW_WINDOW || w->bytes >= ROW_WINDOW_BYTES || w->next >= w->end)
                break;
            TRY(row_window_read(w, e));
        }
        *result = take_result(&w->row[(w->first + i) % ROW_WINDOW], call_id);
    }
    return ERR_OK;
}

void row_window_remove(struct row_window *w)
{
    struct row_read *r = &w->row[w->first];

    w->bytes -= r->bytes.n;
    if (r->bytes.cap > ROW_KEPT) {
        buf_fini(&r->bytes);
        transcript_blocks_fini(&r->blocks);
    }
    w->first = (w->first + 1) % ROW_WINDOW;
    w->n--;
}

void row_window_fini(struct row_window *w)
{
    for (size_t i = 0; i < ROW_WINDOW; i++) {
        buf_fini(&w->row[i].bytes);
        transcript_blocks_fini(&w->row[i].blocks);
    }
    w->first = w->n = w->bytes = 0;
}
