#include "store/blame/blame_text.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/rewind/diff/linediff.h"

enum { SEARCH_SPEED = 4 }; /* times as fast as copying */

static size_t count_newlines(struct slice s)
{
    return blame_lines_count(s) - (s.n && s.p[s.n - 1] != '\n');
}

/* Makes the text anew in one pass over the places of an edit, which come in order and do not overlap. Places that touch
 * the same lines form a run, in which old and new lines are compared; the lines between the runs keep their owners. */
struct splicing {
    struct blame_text *t;
    struct slice old;
    uint32_t editor;
    struct buf text;
    uint32_t *owner; /* owned */
    size_t lines, cap;
    size_t copied;             /* bytes of the old text that are in the new one, or were replaced */
    size_t passed;             /* lines of the old text whose owners are known */
    bool open;                 /* there is a run */
    size_t from, to, new_from; /* the run in the old text, and its beginning in the new one */
};

static enum err_code splice_copy(struct splicing *s, size_t to)
{
    struct slice piece = { s->old.p + s->copied, to - s->copied };

    s->copied = to;
    return piece.n ? buf_add(&s->text, piece) : ERR_OK;
}

/* Compares the lines of the run. */
static enum err_code splice_close(struct splicing *s, struct err *e)
{
    if (!s->open)
        return ERR_OK;
    s->open = false;
    if (splice_copy(s, s->to))
        return err_nomem(e);
    struct slice old = { s->old.p + s->from, s->to - s->from };
    struct slice now = { s->text.n ? s->text.p + s->new_from : "", s->text.n - s->new_from };
    const uint32_t *was = s->t->lines ? s->t->owner + s->passed : NULL;
    size_t old_n = blame_lines_count(old), n = blame_lines_count(now);

    if (!array_reserve(s->owner, s->cap, s->lines + n + 1))
        return err_nomem(e);
    enum err_code rc =
        blame_lines_compare(old, was, old_n, now, s->owner + s->lines, n, s->editor, s->t, e);

    s->passed += old_n;
    s->lines += n;
    return rc;
}

/* Copies the owners of the old text's lines up to a position, the start of a line. */
static enum err_code splice_pass(struct splicing *s, size_t from, size_t to, struct err *e)
{
    size_t n = blame_lines_count((struct slice){ s->old.p + from, to - from });

    if (!array_reserve(s->owner, s->cap, s->lines + n + 1))
        return err_nomem(e);
    if (n)
        memcpy(s->owner + s->lines, s->t->owner + s->passed, n * sizeof *s->owner);
    s->passed += n;
    s->lines += n;
    return ERR_OK;
}

static struct splicing splice_begin(struct blame_text *t, uint32_t editor)
{
    return (struct splicing){ .t = t,
                              .old = t->text.p ? buf_slice(&t->text) : SLICE(""),
                              .editor = editor };
}

/* Replaces n bytes of the old text. Where they are whole lines, the lines after them are not touched. A long line is
 * searched for its ends only once, however many places it has. */
static enum err_code splice(struct splicing *s, size_t at, size_t n, struct slice with,
                            struct err *e)
{
    struct slice text = s->old;
    bool starts = !at || text.p[at - 1] == '\n', whole;
    enum err_code rc = ERR_OK;

    if (!s->open || at >= s->to) {
        size_t begin = blame_lines_begin(text, at);

        rc = splice_close(s, e);
        if (!rc)
            rc = splice_pass(s, s->to, begin, e);
        if (!rc && splice_copy(s, begin))
            rc = err_nomem(e);
        s->from = begin;
        s->new_from = s->text.n;
        s->open = true;
    }
    if (!rc && splice_copy(s, at))
        rc = err_nomem(e);
    whole = n ? text.p[at + n - 1] == '\n' : starts;
    if (with.n)
        whole &= with.p[with.n - 1] == '\n';
    else /* the end of the line before may have been replaced, too */
        whole &= !s->text.n || s->text.p[s->text.n - 1] == '\n';
    if (at + n >= s->to)
        s->to = whole ? at + n : blame_lines_end(text, at + n);
    if (!rc && buf_add(&s->text, with))
        rc = err_nomem(e);
    s->copied = at + n;
    return rc;
}

/* The new text takes the place of the old one. */
static enum err_code splice_end(struct splicing *s, enum err_code rc, struct err *e)
{
    struct blame_text *t = s->t;

    if (!rc)
        rc = splice_close(s, e);
    if (!rc)
        rc = splice_pass(s, s->to, t->text.n, e);
    if (!rc && splice_copy(s, t->text.n))
        rc = err_nomem(e);
    if (rc) {
        free(s->owner);
        buf_fini(&s->text);
        return rc;
    }
    free(t->owner);
    buf_fini(&t->text);
    t->text = s->text;
    t->owner = s->owner;
    t->lines = s->lines;
    t->cap = s->cap;
    return ERR_OK;
}

/* A place of a hunk that is not replaced yet. */
struct spot {
    size_t at, n;
    struct slice with; /* in the arena */
};

/* The replacements of one edit. The hunks of a patch are collected as long as each comes after the one before, and then
 * replaced together. */
struct replacing {
    struct blame_text *t;
    uint32_t owner;
    struct spot *spot;
    size_t spots;
    ptrdiff_t grown;      /* bytes that the spots add */
    size_t from;          /* where the next hunk may begin */
    ptrdiff_t shift;      /* lines more than before the edit */
    size_t line, line_at; /* the last line that was looked for, and where it begins */
    struct arena arena;
};

static enum err_code apply_spots(struct replacing *p, struct err *e)
{
    struct splicing s = splice_begin(p->t, p->owner);
    size_t before = p->t->lines;
    enum err_code rc = ERR_OK;

    if (!p->spots)
        return ERR_OK;
    for (size_t i = 0; i < p->spots && !rc; i++)
        rc = splice(&s, p->spot[i].at, p->spot[i].n, p->spot[i].with, e);
    rc = splice_end(&s, rc, e);
    p->from += (size_t)p->grown;
    p->shift += (ptrdiff_t)p->t->lines - (ptrdiff_t)before;
    p->spot = NULL;
    p->spots = p->line = p->line_at = 0;
    p->grown = 0;
    arena_reset(&p->arena);
    return rc;
}

/* Replaces every occurrence but those in the new text. */
static enum err_code replace_everywhere(struct replacing *p, struct slice old, struct slice with,
                                        bool *done, struct err *e)
{
    struct blame_text *t = p->t;
    struct splicing s = splice_begin(t, p->owner);
    struct slice text = s.old;
    const char *end = text.p + text.n, *hit = slice_find(text.p, text.n, old.p, old.n);
    uint64_t hits = 0;
    enum err_code rc = ERR_OK;

    for (const char *next = hit; next; hits++)
        next = slice_find(next + old.n, (size_t)(end - next) - old.n, old.p, old.n);

    /* The limits are checked before the first replacement, so that either all are made or none. */
    *done = hits &&
            blame_may_become(t, text.n + hits * with.n - hits * old.n,
                             t->lines + hits * count_newlines(with) - hits * count_newlines(old)) &&
            blame_may_spend(t, hits * with.n);
    if (!*done)
        return ERR_OK;
    while (hit && !rc) {
        rc = splice(&s, (size_t)(hit - text.p), old.n, with, e);
        p->from = s.text.n;
        hit = slice_find(hit + old.n, (size_t)(end - hit) - old.n, old.p, old.n);
    }
    p->shift -= (ptrdiff_t)t->lines;
    rc = splice_end(&s, rc, e);
    p->shift += (ptrdiff_t)t->lines;
    p->line = 0;
    return rc;
}

/* Finds the lines of a patch by their number, if the patch has one. */
static bool is_at_line(struct replacing *p, size_t line, struct slice old, size_t *at)
{
    struct slice text = buf_slice(&p->t->text);

    if (line < p->line || !p->line) {
        p->line = 1;
        p->line_at = 0;
    }
    *at = p->line_at;
    for (; p->line < line && p->line_at < text.n; p->line++)
        p->line_at = blame_lines_end(text, p->line_at);
    bool may = blame_may_spend(p->t, (p->line_at - *at) / SEARCH_SPEED);

    *at = p->line_at;
    return may && p->line >= line && text.n - *at >= old.n &&
           (!old.n || memcmp(text.p + *at, old.p, old.n) == 0);
}

/* Finds the old text from `from` on. Returns false if it does not occur, or occurs several times. */
static bool find_old(struct replacing *p, size_t from, const struct edit_replacement *r,
                     struct slice old, size_t *at)
{
    struct slice text = buf_slice(&p->t->text);
    const char *hit;

    if (r->line && is_at_line(p, (size_t)((ptrdiff_t)r->line + p->shift), old, at))
        return true;
    *at = text.n;
    if (!old.n || !text.n)
        return !old.n && !r->line;
    if (!blame_may_spend(p->t, (text.n - from) / SEARCH_SPEED))
        return false;
    hit = slice_find(text.p + from, text.n - from, old.p, old.n);
    *at = hit ? (size_t)(hit - text.p) : 0;
    return hit && !slice_find(hit + 1, text.n - *at - 1, old.p, old.n);
}

/* Replaces one text, now or together with the hunks that follow. */
static enum err_code replace(struct replacing *p, const struct edit_replacement *r, bool *done,
                             struct err *e)
{
    struct blame_text *t = p->t;
    struct buf b = { 0 }, c = { 0 };
    struct slice old, with;
    size_t at = 0;
    enum err_code rc = blame_text_plain(r->old_text, &b, &old) ? err_nomem(e) : ERR_OK;

    *done = false;
    if (!rc && blame_text_plain(r->new_text, &c, &with))
        rc = err_nomem(e);
    if (!rc && !r->next)
        rc = apply_spots(p, e);
    if (!rc) {
        /* A patch writes a newline after a last line that has none. */
        struct slice text = buf_slice(&t->text);

        if (r->next && old.n && old.p[old.n - 1] == '\n' && text.n && text.p[text.n - 1] != '\n' &&
            text.n >= old.n - 1 && memcmp(text.p + text.n - (old.n - 1), old.p, old.n - 1) == 0) {
            old.n--;
            if (with.n && with.p[with.n - 1] == '\n')
                with.n--;
        }
    }
    if (!rc && r->all && old.n) {
        rc = replace_everywhere(p, old, with, done, e);
    } else if (!rc) {
        *done = find_old(p, r->next ? p->from : 0, r, old, &at);
        /* A line may be in what earlier hunks made. */
        if (p->spots && (*done ? at < p->from : r->line > 0)) {
            rc = apply_spots(p, e);
            *done = !rc && find_old(p, p->from, r, old, &at);
        }
        *done = *done && blame_may_become(t, t->text.n + (size_t)p->grown + with.n - old.n,
                                          t->lines + count_newlines(with));
        if (*done) {
            struct spot *list = arena_grow(&p->arena, p->spot, p->spots, sizeof *list);

            if (!list)
                rc = err_nomem(e);
            else {
                p->spot = list;
                list[p->spots++] =
                    (struct spot){ .at = at, .n = old.n, .with = arena_copy(&p->arena, with) };
                p->grown += (ptrdiff_t)with.n - (ptrdiff_t)old.n;
                p->from = at + old.n;
                rc = p->arena.failed ? err_nomem(e) : ERR_OK;
            }
        }
    }
    buf_fini(&b);
    buf_fini(&c);
    return rc;
}

enum err_code blame_replace(struct blame_text *t, const struct edit *edit, uint32_t owner,
                            bool *all_done, struct err *e)
{
    struct replacing p = { .t = t, .owner = owner };
    enum err_code rc = ERR_OK;

    *all_done = edit->replacements > 0;
    for (size_t i = 0; !rc && i < edit->replacements; i++) {
        const struct edit_replacement *r = &edit->replacement[i];
        bool done = false;

        /* The hunks of a patch are found and replaced in one pass. */
        if ((t->text.n || p.spots || !r->old_text.n) &&
            blame_may_spend(t, (r->next && i) ? r->old_text.n
                                              : t->text.n + t->lines * sizeof *t->owner))
            rc = replace(&p, r, &done, e);
        if (rc || done)
            continue;
        *all_done = false;
        t->known = false;

        unsigned insertions, deletions;
        bool binary;

        if (!linediff_count(r->old_text, r->new_text, &insertions, &deletions, &binary, NULL)) {
            t->added += insertions;
            t->removed += deletions;
        }

        rc = blame_text_add_fragment(t, r, owner, e);
    }
    if (!rc)
        rc = apply_spots(&p, e);
    arena_fini(&p.arena);
    return rc;
}
