#include "store/systems/common/saved_states.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/api/edit.h"

enum err_code saved_states_add(struct saved_states *s, const char *path,
                               const struct saved_state *state, struct err *e)
{
    uint32_t number = slice_set_find(&s->number, slice_of(path));

    if (number == SLICE_SET_NONE) {
        struct saved_path *list = arena_grow(&s->arena, s->path, s->n, sizeof *list);
        const char *own = arena_copy(&s->arena, slice_of(path)).p;

        NEED(list && own && !slice_set_add(&s->number, slice_of(own), &number));
        s->path = list;
        s->path[s->n++] = (struct saved_path){ .path = own };
    }
    struct saved_path *p = &s->path[number];

    for (size_t i = p->n; i > 0; i--)
        if (!p->state[i - 1].is_write && !state->is_write && p->state[i - 1].turn == state->turn) {
            if (!s->keeps_oldest || state->time_ms < p->state[i - 1].time_ms)
                p->state[i - 1] = *state;
            return ERR_OK;
        }
    struct saved_state *more = arena_grow(&s->arena, p->state, p->n, sizeof *more);

    NEED(more);
    p->state = more;
    p->state[p->n++] = *state;
    return ERR_OK;
}

enum err_code saved_states_shell(struct saved_states *s, const struct saved_shell *shell,
                                 struct err *e)
{
    struct saved_shell *more = arena_grow(&s->arena, s->shell, s->shells, sizeof *more);
    struct saved_shell x = *shell;

    x.command = arena_copy(&s->arena, x.command);
    if (!more || s->arena.failed)
        return err_nomem(e);
    s->shell = more;
    s->shell[s->shells++] = x;
    return ERR_OK;
}

const struct saved_state *saved_states_by(const struct saved_path *p, int64_t time_ms)
{
    const struct saved_state *best = NULL;

    for (size_t i = 0; i < p->n; i++)
        if (p->state[i].time_ms <= time_ms && (!best || p->state[i].time_ms >= best->time_ms))
            best = &p->state[i];
    return best;
}

bool saved_states_has(const struct saved_states *s, const char *path, int64_t turn)
{
    uint32_t number = slice_set_find(&s->number, slice_of(path));
    const struct saved_path *p = number == SLICE_SET_NONE ? NULL : &s->path[number];

    for (size_t i = 0; p && i < p->n; i++)
        if (!p->state[i].is_write && p->state[i].turn == turn)
            return true;
    return false;
}

struct saved_state saved_states_newest(const struct saved_states *s, const char *path)
{
    uint32_t number = slice_set_find(&s->number, slice_of(path));

    if (number != SLICE_SET_NONE)
        return *saved_states_by(&s->path[number], INT64_MAX);
    return (struct saved_state){ .content = SAVED_UNKNOWN,
                                 .why = "the session does not record what it contained then" };
}

/* ---- edits ---- */

bool saved_state_read(const struct saved_state *x, struct buf *out)
{
    if (x->content == SAVED_BYTES)
        return !buf_add(out, x->bytes);
    return x->content == SAVED_FILE &&
           !file_read_all(AT_FDCWD, x->file, 0, SAVED_COMPARED_MOST, out, NULL);
}

enum err_code saved_states_edit(struct saved_states *s, const char *path, struct slice old,
                                struct slice new, bool all, struct saved_state *out)
{
    uint32_t number = slice_set_find(&s->number, slice_of(path));
    const struct saved_state *base =
        number != SLICE_SET_NONE ? saved_states_by(&s->path[number], out->time_ms) : NULL;
    struct buf before = { 0 }, after = { 0 };
    bool done;

    out->content = SAVED_UNKNOWN;
    out->why = "the session does not record what its last edit left";
    if (base && saved_state_read(base, &before) &&
        !edit_replace_text(buf_slice(&before), old, new, all, &s->replayed, &after, &done) &&
        done) {
        out->content = SAVED_BYTES;
        out->bytes = arena_copy(&s->arena, buf_slice(&after));
    }
    buf_fini(&before);
    buf_fini(&after);
    return s->arena.failed ? ERR_NOMEM : ERR_OK;
}

size_t saved_states_written(const struct saved_states *s, int64_t turn)
{
    size_t files = 0;

    for (size_t i = 0; i < s->n; i++) {
        bool written = false;

        for (size_t k = 0; k < s->path[i].n; k++)
            written |= s->path[i].state[k].is_write && s->path[i].state[k].turn == turn;
        files += written;
    }
    return files;
}

void saved_states_fini(struct saved_states *s)
{
    slice_set_fini(&s->number);
    arena_fini(&s->arena);
}
