#include "store/blame/blame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/blame/blame_text.h"
#include "store/fs/path.h"

/* What one session may cost, so that the others can be read, and what all may cost together. */
static const uint64_t session_bytes_max = UINT64_C(1) << 30, all_bytes_max = UINT64_C(16) << 30;

/* The lines of each edit are counted while the session's edits are replayed one after the other; only the present texts
 * of its files are held. */
struct touching {
    struct blame_touches *out;
    const struct blame_query *q; /* NULL: one session, all of its files */
    struct edit_query edits;
    size_t session, first; /* the session's entries begin there */
    struct slice_set files;
    struct blame_text *text; /* by the number of the file; owned */
    size_t text_cap;
    struct slice_set calls; /* seen in older sessions, with their paths */
    /* The marks of calls (edit_mark) and the calls, each with its path: of originals, and of copies that came before. */
    struct slice_set originals, copies;
    bool again;             /* an original came after its copy */
    struct slice_set turns; /* the session's entries, by file and turn, from `first` on */
    struct blame_budget budget;
    uint64_t left;      /* for all sessions together */
    struct arena arena; /* is emptied after each session */
    const struct session_ref **order;
    size_t refs, ref_cap;
    blame_left_fn *left_fn; /* may be NULL */
    void *left_arg;
};

/* ---- one edit ---- */

static enum err_code touched_text(struct touching *t, const char *path, struct blame_text **out,
                                  struct err *e)
{
    const char *own = arena_copy_text(&t->arena, path);
    size_t before = t->files.n;
    uint32_t number;

    NEED(own && array_reserve(t->text, t->text_cap, before + 1) &&
         !slice_set_add(&t->files, slice_of(own), &number));
    if (t->files.n > before)
        t->text[number] = (struct blame_text){ .budget = &t->budget };
    *out = &t->text[number];
    return ERR_OK;
}

/* Returns the entry of the edit's turn and file, which is new unless the turn already edited the file; NULL if out of
 * memory. */
static struct blame_touch *touch_of(struct touching *t, const struct edit *edit)
{
    struct blame_touches *out = t->out;
    struct arena *a = &out->arena;
    const char *key =
        arena_format(&t->arena, "%zu %.*s %s", edit->turn.n, SLICE_ARG(edit->turn), edit->path);
    size_t before = t->turns.n;
    uint32_t number;

    if (!key || !array_reserve(out->touch, out->cap, out->n + 1) ||
        slice_set_add(&t->turns, slice_of(key), &number))
        return NULL;
    if (t->turns.n > before)
        out->touch[out->n++] = (struct blame_touch){ .session = t->session,
                                                     .path = arena_copy_text(a, edit->path),
                                                     .turn = arena_copy(a, edit->turn),
                                                     .prompt = arena_copy(a, edit->prompt),
                                                     .message = arena_copy(a, edit->message),
                                                     .agent = arena_copy(a, edit->agent),
                                                     .time_ms = TIME_NONE };
    return a->failed ? NULL : &out->touch[t->first + number];
}

/* Returns true if an older session has the same edit, or any session that is not a copy has it with another time: a fork
 * may have copied it with the time of the fork. Equal call ids are not enough, because some agents number the calls of
 * every session in the same way. */
static bool is_copy(struct touching *t, const struct edit *edit)
{
    const struct slice call = edit_call_name(edit->call);
    struct arena *a = &t->out->arena;
    uint32_t number;

    if (!call.n || !t->q)
        return false;
    /* The path comes first, because a call of a continued session has the name of its mark. */
    const char *key = arena_format(a, "%s %.*s", edit->path, SLICE_ARG(call));
    const char *timed =
        arena_format(a, "%.*s %" PRId64 " %s", SLICE_ARG(call), edit->time_ms, edit->path);

    if (!key || !timed || slice_set_find(&t->calls, slice_of(timed)) != SLICE_SET_NONE)
        return key && timed;
    t->again |= !edit->copied && slice_set_find(&t->copies, slice_of(key)) != SLICE_SET_NONE;
    if (edit->copied && (slice_set_find(&t->originals, slice_of(key)) != SLICE_SET_NONE ||
                         slice_set_find(&t->calls, slice_of(key)) != SLICE_SET_NONE))
        return true;
    if (slice_set_add(edit->copied ? &t->copies : &t->originals, slice_of(key), &number) ||
        slice_set_add(&t->calls, slice_of(key), &number) ||
        slice_set_add(&t->calls, slice_of(timed), &number))
        a->failed = true;
    return false;
}

/* Returns true if the edit is in a session that was continued in another agent, and the original of it is known. */
static bool is_continued_edit(struct touching *t, const struct edit *edit)
{
    struct arena *a = &t->out->arena;
    const bool marked = edit_is_marked(edit->call);
    char mark[EDIT_MARK];
    const char *key = t->q && edit_mark(t->out->ref[t->session]->id, edit->call, mark)
                          ? arena_format(a, "%s %s", mark, edit->path)
                          : NULL;
    uint32_t number;

    if (!key)
        return false;
    const bool known = slice_set_find(&t->originals, slice_of(key)) != SLICE_SET_NONE;

    t->again |= !marked && slice_set_find(&t->copies, slice_of(key)) != SLICE_SET_NONE;
    if (!known && slice_set_add(marked ? &t->copies : &t->originals, slice_of(key), &number))
        a->failed = true;
    return marked && known;
}

static enum err_code touch_edit(const struct edit *edit, void *arg, struct err *e)
{
    struct touching *t = arg;
    struct blame_touch *touch;
    struct blame_text *from, *to;

    if (edit->kind == EDIT_SEEN || is_continued_edit(t, edit) || is_copy(t, edit))
        return ERR_OK;
    NEED(touch = touch_of(t, edit));
    touch->edits++;
    if (edit->time_ms != TIME_NONE && edit->time_ms > touch->time_ms)
        touch->time_ms = edit->time_ms;
    if (edit->kind == EDIT_RENAME) {
        touch->did |= BLAME_RENAMED;
        touch->to = arena_copy_text(&t->out->arena, edit->to);
        TRY(touched_text(t, edit->to, &to, e));
        TRY(touched_text(t, edit->path, &from, e));
        to = &t->text[slice_set_find(&t->files, slice_of(edit->to))]; /* the array may have moved */
        if (to != from) {
            blame_text_fini(to);
            *to = *from;
            *from = (struct blame_text){ .budget = &t->budget };
            TRY(blame_text_remove(from, e));
        }
    } else {
        /* Any other edit is replayed on the text of its file. */
        struct blame_text *text;

        TRY(touched_text(t, edit->path, &text, e));
        bool created = edit->before_known == EDIT_ABSENT || (text->known && text->absent);

        t->budget.stopped = NULL;
        enum err_code rc = blame_text_edit(text, edit, 0, e);

        touch->stopped = t->budget.stopped ? t->budget.stopped : touch->stopped;
        touch->added += text->added;
        touch->removed += text->removed;
        touch->did |= edit->kind == EDIT_DELETE ? BLAME_DELETED
                      : created                 ? BLAME_CREATED | BLAME_EDITED
                                                : BLAME_EDITED;
        TRY(rc);
    }
    NEED(!t->out->arena.failed);
    return ERR_OK;
}

/* ---- sessions ---- */

static void forget_texts(struct touching *t)
{
    for (size_t i = 0; i < t->files.n; i++)
        blame_text_fini(&t->text[i]);
    slice_set_fini(&t->files);
    slice_set_fini(&t->turns);
    arena_reset(&t->arena);
}

static enum err_code touch_session(struct touching *t, const struct session_ref *ref, struct err *e)
{
    struct blame_touches *out = t->out;
    struct session_ref *copy = arena_alloc(&out->arena, sizeof *copy);

    if (!ref->store->ops->edits)
        return store_unsupported_error(ref, 0, "list the files of", e);
    NEED(copy && session_ref_copy(&out->arena, ref, copy) &&
         array_reserve(out->ref, out->ref_cap, out->refs + 1));
    t->session = out->refs;
    t->first = out->n;
    out->ref[out->refs++] = copy;
    t->budget.left = t->left < session_bytes_max ? t->left : session_bytes_max;
    t->left -= t->budget.left;
    enum err_code rc = ref->store->ops->edits(ref->store, ref, &t->edits, touch_edit, t, e);

    t->left += t->budget.left;
    for (size_t i = 0; !rc && t->left_fn && i < t->files.n; i++)
        rc = t->left_fn(t->files.text[i].p, &t->text[i], t->left_arg, e);
    forget_texts(t);
    return rc;
}

static enum err_code keep_ref(const struct session_ref *ref, void *arg, struct err *e)
{
    struct touching *t = arg;
    struct session_ref *copy = arena_alloc(&t->out->arena, sizeof *copy);

    NEED(copy && session_ref_copy(&t->out->arena, ref, copy) &&
         array_reserve(t->order, t->ref_cap, t->refs + 1));
    t->order[t->refs++] = copy;
    return ERR_OK;
}

static int blame_touch_newest_first(const void *a, const void *b)
{
    const struct blame_touch *x = a, *y = b;

    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? 1 : -1;
    return strcmp(x->path, y->path);
}

static void touching_fini(struct touching *t)
{
    forget_texts(t);
    slice_set_fini(&t->calls);
    slice_set_fini(&t->originals);
    slice_set_fini(&t->copies);
    arena_fini(&t->arena);
    free(t->text);
    free(t->order);
}

enum err_code blame_touches_of(const struct session_ref *ref, const atomic_bool *cancel,
                               struct blame_touches *out, struct err *e)
{
    CLEANUP(blame_touches_fini) struct blame_touches all = { .n = 0 };
    CLEANUP(touching_fini)
    struct touching t = { .out = &all, .edits = { .cancel = cancel }, .left = all_bytes_max };

    TRY(touch_session(&t, ref, e));
    HAND_OVER(out, all);
    return ERR_OK;
}

enum err_code blame_touches_left(const struct session_ref *ref, blame_left_fn *fn, void *arg,
                                 struct blame_touches *out, struct err *e)
{
    CLEANUP(blame_touches_fini) struct blame_touches all = { .n = 0 };
    CLEANUP(touching_fini)
    struct touching t = { .out = &all, .left = all_bytes_max, .left_fn = fn, .left_arg = arg };

    TRY(touch_session(&t, ref, e));
    HAND_OVER(out, all);
    return ERR_OK;
}

enum err_code blame_touches_read(struct store *const stores[], size_t n,
                                 const struct blame_query *q, struct blame_touches *out,
                                 struct err *e)
{
    CLEANUP(blame_touches_fini) struct blame_touches all = { .n = 0 };
    CLEANUP(touching_fini) struct touching t = { .out = &all, .q = q, .left = all_bytes_max };
    bool files = true;

    /* A path that is not a directory now may have been one; the edits then contain the full paths of the files below
     * it. */
    for (size_t i = 0; i < q->paths; i++)
        files = files && !path_is_dir(q->path[i]);
    t.edits = (struct edit_query){
        .path = q->path, .paths = q->paths, .files_only = files, .cancel = q->cancel
    };
    TRY(blame_history_sessions(stores, n, q, keep_ref, &t, e));

    /* Oldest first, so that copies come later. If an original went on after it had been forked or continued, they are
     * read once more, now that the originals are known. */
    for (int round = 0; round == 0 || (round == 1 && t.again); round++) {
        all.n = all.refs = 0;
        t.left = all_bytes_max;
        slice_set_fini(&t.calls);
        for (size_t i = t.refs; i-- > 0;) {
            struct err trouble;
            size_t before = all.n;
            enum err_code rc = touch_session(&t, t.order[i], &trouble);

            if (rc == ERR_CANCELLED || rc == ERR_NOMEM) {
                if (e)
                    *e = trouble;
                return rc;
            }
            if (rc && rc != ERR_NOT_FOUND && q->trouble && round == 0)
                q->trouble(&trouble, q->trouble_arg);
            if (all.n > before && !blame_history_wants(q, t.order[i]))
                all.n = before;
        }
    }
    if (all.n)
        qsort(all.touch, all.n, sizeof *all.touch, blame_touch_newest_first);
    HAND_OVER(out, all);
    return ERR_OK;
}

void blame_touches_fini(struct blame_touches *t)
{
    free(t->touch);
    free(t->ref);
    arena_fini(&t->arena);
    *t = (struct blame_touches){ .n = 0 };
}
