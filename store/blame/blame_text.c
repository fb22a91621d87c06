#include "store/blame/blame_text.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"

/* Sessions record only a part of what happened to a file: people edit it, git changes it, and agents run commands that
 * change it. So a replay never fails because an edit does not apply; it only knows less. Each whole text that a session
 * recorded (before an edit, after it, or when the agent read the file) corrects the replayed one, and no session owns
 * the lines that differ. The one guess is in choose_base: a text that is like a former one is compared with that, because
 * otherwise every `git checkout` would take all lines from the sessions that wrote them.
 *
 * Every comparison is paid from a budget, since a transcript can make a file large again and again. */

enum { FRAGMENTS_MAX = 4096, FRAGMENT_MIN = 4 };
enum { COMPARE_COST = 8 }; /* times as long as copying */

/* ---- fragments ---- */

enum err_code blame_text_add_fragment(struct blame_text *t, const struct edit_replacement *r,
                                      uint32_t owner, struct err *e)
{
    struct blame_fragment f = { .text = arena_copy(&t->arena, r->new_text),
                                .old_text = arena_copy(&t->arena, r->old_text),
                                .owner = owner };

    if (t->fragments == FRAGMENTS_MAX)
        return ERR_OK;
    NEED(!t->arena.failed && array_reserve(t->fragment, t->fragment_cap, t->fragments + 1));
    t->fragment[t->fragments++] = f;
    return ERR_OK;
}

/* Gives the lines of the fragment to its edit, except those that were already in its old text. */
static enum err_code own_lines(struct blame_text *t, const struct blame_fragment *f, size_t at,
                               struct err *e)
{
    struct slice text = buf_slice(&t->text);
    size_t first = blame_lines_count((struct slice){ text.p, blame_lines_begin(text, at) });
    size_t n = blame_lines_count(f->text), was_n = blame_lines_count(f->old_text);
    AUTO_FREE uint32_t *now = malloc((n + was_n + 1) * sizeof *now);
    uint32_t *was = now ? now + n : NULL;
    struct blame_text counts = { 0 };

    NEED(now);
    for (size_t i = 0; i < was_n; i++)
        was[i] = BLAME_NOBODY;
    TRY(blame_lines_compare(f->old_text, was, was_n, f->text, now, n, f->owner, &counts, e));
    for (size_t i = 0; i < n && first + i < t->lines; i++)
        if (now[i] != BLAME_NOBODY && t->owner[first + i] == BLAME_NOBODY)
            t->owner[first + i] = now[i];
    return ERR_OK;
}

/* ---- whole contents ---- */

static enum err_code blame_text_set_text(struct blame_text *t, struct slice content,
                                         uint32_t *owner, size_t lines, struct err *e)
{
    struct buf text = { 0 };

    if (buf_add(&text, content)) {
        free(owner);
        return err_nomem(e);
    }
    buf_fini(&t->text);
    free(t->owner);
    t->text = text;
    t->owner = owner;
    t->lines = t->cap = lines;
    t->known = true;
    t->absent = false;
    return ERR_OK;
}

static enum err_code set_to_state(struct blame_text *t, const struct blame_state *s, struct err *e)
{
    uint32_t *owner = malloc((s->lines + 1) * sizeof *owner);

    NEED(owner);
    memcpy(owner, s->owner, s->lines * sizeof *owner);
    return blame_text_set_text(t, buf_slice(&s->text), owner, s->lines, e);
}

/* A person usually changes the present text. If little of that is left, a former text may have been restored before,
 * for example by git, and is then much more similar to the new one. Otherwise the file was rewritten, and lines are
 * equal only by chance. */
static enum err_code choose_base(struct blame_text *t, struct slice content, struct err *e)
{
    CLEANUP(slice_set_fini) struct slice_set lines = { 0 };
    const struct blame_state *state = NULL;
    size_t all, left, best = 0, was;

    NEED(!blame_states_lines(content, &lines));
    NEED(!blame_states_common(content, NULL, &all));
    NEED(!blame_states_common(buf_slice(&t->text), &lines, &left));
    NEED(!blame_states_common(buf_slice(&t->text), NULL, &was));
    if (left < all / 2 && blame_may_spend(t, COMPARE_COST * t->states.bytes))
        NEED(!blame_states_most_alike(&t->states, &lines, &best, &state));
    if (state && best > 2 * left && best >= all / 2)
        return set_to_state(t, state, e);
    for (size_t i = 0; i < t->lines && left < all / 5 && left < was / 5; i++)
        t->owner[i] = BLAME_NOBODY;
    return ERR_OK;
}

/* A text that is much larger than the one that the file has now cost more to compare than the edit is worth. */
static void forget_if_costly(struct blame_text *t, struct slice content)
{
    uint64_t excess = t->text.n > content.n ? t->text.n - content.n : 0;

    if (excess && !blame_may_spend(t, COMPARE_COST * excess))
        t->text.n = t->lines = 0;
}

/* The file has this normalized text; new lines in it belong to `owner`. */
static enum err_code set_normalized(struct blame_text *t, struct slice content, uint32_t owner,
                                    struct err *e)
{
    size_t lines = blame_lines_count(content);
    const struct blame_state *former =
        owner == BLAME_NOBODY ? blame_states_find(&t->states, content, lines) : NULL;
    AUTO_FREE uint32_t *now = malloc((lines + 1) * sizeof *now);
    uint32_t *owners = now;

    NEED(now);
    if (former)
        memcpy(now, former->owner, lines * sizeof *now);
    else
        TRY(blame_lines_compare(buf_slice(&t->text), t->owner, t->lines, content, now, lines, owner,
                                t, e));
    now = NULL; /* blame_text_set_text frees it if it fails */
    return blame_text_set_text(t, content, owners, lines, e);
}

enum err_code blame_text_observe(struct blame_text *t, struct slice content, struct err *e)
{
    AUTO_BUF b = { 0 };
    struct slice plain;
    uint64_t added = t->added, removed = t->removed;

    NEED(!blame_text_plain(content, &b, &plain));
    if (blame_text_is(t, EDIT_TEXT, plain))
        return ERR_OK;
    forget_if_costly(t, plain);
    if (!blame_states_find(&t->states, plain, blame_lines_count(plain)))
        TRY(choose_base(t, plain, e));
    TRY(set_normalized(t, plain, BLAME_NOBODY, e));
    t->added = added; /* these lines are not the edit's */
    t->removed = removed;

    /* The newest comes first, because text that a later one replaced is no longer there. */
    struct slice text = buf_slice(&t->text);
    enum err_code rc = ERR_OK;

    for (size_t i = t->fragments; i-- > 0 && !rc && blame_may_spend(t, text.n);) {
        const struct blame_fragment *f = &t->fragment[i];
        const char *hit = f->text.n ? slice_find(text.p, text.n, f->text.p, f->text.n) : NULL;
        size_t rest = hit ? text.n - (size_t)(hit - text.p) - 1 : 0;

        if (hit && blame_states_visible(f->text) >= FRAGMENT_MIN &&
            !slice_find(hit + 1, rest, f->text.p, f->text.n))
            rc = own_lines(t, f, (size_t)(hit - text.p), e);
    }
    t->fragments = 0;
    arena_reset(&t->arena);
    if (rc)
        return rc;

    return blame_states_keep(&t->states, buf_slice(&t->text), t->owner, t->lines, e);
}

enum err_code blame_text_restore(struct blame_text *t, const uint8_t sha256[SHA256_BYTES],
                                 struct err *e)
{
    const struct blame_state *s = blame_states_with_hash(&t->states, sha256);

    t->fragments = 0;
    t->known = false;
    return s ? set_to_state(t, s, e) : ERR_OK;
}

enum err_code blame_text_remove(struct blame_text *t, struct err *e)
{
    uint32_t *none = malloc(sizeof *none);

    NEED(none);
    t->fragments = 0;
    enum err_code rc = blame_text_set_text(t, SLICE(""), none, 0, e);

    t->absent = true;
    return rc;
}

bool blame_text_is(const struct blame_text *t, enum edit_known known, struct slice content)
{
    return t->known && !t->fragments && t->absent == (known == EDIT_ABSENT) &&
           (known == EDIT_ABSENT || slice_eq(buf_slice(&t->text), content));
}

/* ---- edits ---- */

static enum err_code write_whole(struct blame_text *t, struct slice content, uint32_t owner,
                                 struct err *e)
{
    AUTO_BUF b = { 0 };
    struct slice plain;

    NEED(!blame_text_plain(content, &b, &plain));
    if (!blame_text_is(t, EDIT_TEXT, plain)) {
        forget_if_costly(t, plain);
        TRY(set_normalized(t, plain, owner, e));
    }
    t->fragments = 0;
    t->known = true;
    return ERR_OK;
}

/* A known text after an edit corrects what was replayed; without replacements it is all that is known of the edit. */
static enum err_code observe_after(struct blame_text *t, const struct edit *edit, uint32_t owner,
                                   bool replayed, bool was_known, struct err *e)
{
    if (edit->after_known == EDIT_ABSENT)
        return blame_text_remove(t, e);
    if (edit->after_known != EDIT_TEXT)
        return ERR_OK;
    if (!edit->by_person && !replayed && was_known)
        return write_whole(t, edit->after, owner, e);
    return blame_text_observe(t, edit->after, e);
}

static enum err_code edit_lines(struct blame_text *t, const struct edit *edit, uint32_t owner,
                                struct err *e)
{
    bool replayed = false, before = edit->before_known != EDIT_UNKNOWN;

    if (edit->kind == EDIT_WRITE) {
        bool proposed = edit->by_person && edit->replacements;

        TRY(write_whole(t, proposed ? edit->replacement[0].new_text : edit->after, owner, e));
        return edit->by_person ? blame_text_observe(t, edit->after, e) : ERR_OK;
    }
    if (edit->replacements)
        TRY(blame_replace(t, edit, owner, &replayed, e));
    else
        t->known = t->known && edit->after_known != EDIT_UNKNOWN;
    return observe_after(t, edit, owner, replayed, before, e);
}

enum err_code blame_text_edit(struct blame_text *t, const struct edit *edit, uint32_t owner,
                              struct err *e)
{
    enum err_code rc;

    t->added = t->removed = 0;
    if (edit->kind == EDIT_SEEN)
        return observe_after(t, edit, BLAME_NOBODY, true, false, e);
    if (edit->before_known == EDIT_TEXT)
        rc = blame_text_observe(t, edit->before, e);
    else
        rc = edit->before_known == EDIT_ABSENT && !blame_text_is(t, EDIT_ABSENT, SLICE(""))
                 ? blame_text_remove(t, e)
                 : ERR_OK;
    t->added = t->removed = 0;
    if (!rc && edit->kind == EDIT_DELETE) {
        t->removed = t->lines;
        return blame_text_remove(t, e);
    }
    if (!rc)
        rc = edit_lines(t, edit, owner, e);
    t->absent = rc && t->absent;
    if (rc || !t->known || !t->states.wanted || !blame_may_spend(t, t->text.n))
        return rc;
    return blame_states_keep(&t->states, buf_slice(&t->text), t->owner, t->lines, e);
}

void blame_text_fini(struct blame_text *t)
{
    blame_states_fini(&t->states);
    free(t->fragment);
    free(t->owner);
    buf_fini(&t->text);
    arena_fini(&t->arena);
    *t = (struct blame_text){ 0 };
}
