#include "store/blame/blame_text.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/rewind/diff/linediff.h"

enum { FRAGMENTS_MAX = 4096, FRAGMENT_MIN = 4 };
/* Comparing the lines of a text takes this many times as long as copying it; searching it is this much faster. */
enum { COMPARE_COST = 8, SEARCH_SPEED = 4 };

/* ---- texts and their lines ---- */

enum err_code blame_text_plain(struct slice s, struct buf *b, struct slice *plain)
{
    const char *cr;
    enum err_code rc = ERR_OK;

    if (slice_starts(s, "\xef\xbb\xbf"))
        s = (struct slice){ s.p + 3, s.n - 3 };
    *plain = s;
    if (!slice_find(s.p, s.n, "\r\n", 2))
        return ERR_OK;
    b->n = 0;
    while (!rc && (cr = slice_find(s.p, s.n, "\r\n", 2))) {
        rc = buf_add(b, (struct slice){ s.p, (size_t)(cr - s.p) });
        s = (struct slice){ cr + 1, s.n - (size_t)(cr - s.p) - 1 };
    }
    if (!rc)
        rc = buf_add(b, s);
    *plain = buf_slice(b);
    return rc;
}

static size_t count_lines(struct slice s)
{
    size_t n = 0;

    for (const char *p = s.p, *end = s.p + s.n; p < end; n++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));

        p = nl ? nl + 1 : end;
    }
    return n;
}

static size_t line_begin(struct slice s, size_t at)
{
    const char *nl = at ? memrchr(s.p, '\n', at) : NULL;

    return nl ? (size_t)(nl - s.p) + 1 : 0;
}

/* The position after the newline of the line that contains `at`. */
static size_t line_end(struct slice s, size_t at)
{
    const char *nl = at < s.n ? memchr(s.p + at, '\n', s.n - at) : NULL;

    return nl ? (size_t)(nl - s.p) + 1 : s.n;
}

/* ---- what replaying may cost ---- */

static size_t count_newlines(struct slice s)
{
    return count_lines(s) - (s.n && s.p[s.n - 1] != '\n');
}

/* Returns false if the text would become too large, and says so. */
static bool may_become(struct blame_text *t, uint64_t bytes, uint64_t lines)
{
    bool may = bytes <= BLAME_FILE_MAX && lines <= BLAME_LINES_MAX;

    if (!may && t->budget)
        t->budget->stopped = "an edit would make the file too large to be compared by line";
    return may;
}

/* Returns false if there is nothing left to spend, and says so. */
static bool may_spend(struct blame_text *t, uint64_t bytes)
{
    if (!t->budget)
        return true;
    if (!t->budget->left)
        t->budget->stopped = "replaying all of the edits would take too long";
    bool may = t->budget->left > 0;

    t->budget->left -= bytes < t->budget->left ? bytes : t->budget->left;
    return may;
}

/* ---- owners ---- */

/* Adds a missing newline at the end, so that a last line without one compares equal. */
static enum err_code close_line(struct slice *s, struct buf *b)
{
    if (!s->n || s->p[s->n - 1] == '\n')
        return ERR_OK;
    b->n = 0;
    if (buf_add(b, *s) || buf_add_byte(b, '\n'))
        return ERR_NOMEM;
    *s = buf_slice(b);
    return ERR_OK;
}

/* The owners of the lines of `after`: those of the lines of `before` that are still there, else `owner`. */
static void map_owners(const struct linediff *d, const uint32_t *was, size_t was_n, uint32_t *now,
                       size_t now_n, uint32_t owner)
{
    size_t from = 0, to = 0;

    for (size_t i = 0; i <= d->hunks; i++) {
        const struct linediff_hunk *h = i < d->hunks ? &d->hunk[i] : NULL;
        /* A hunk without lines on one side names the line before it. */
        size_t same = h ? (h->old_lines ? h->old_start - 1 : h->old_start) - from : was_n - from;

        for (; same && from < was_n && to < now_n; same--)
            now[to++] = was[from++];
        for (size_t k = 0; h && k < h->new_lines && to < now_n; k++)
            now[to++] = owner;
        from += h ? h->old_lines : 0;
    }
    while (to < now_n)
        now[to++] = owner;
}

/* Two texts that end with a newline, and the lines that they begin and end with in common. */
struct sides {
    struct slice before, after;
    size_t head, tail; /* lines */
};

/* Takes the common lines off the front, then off the end. A diff of the whole texts would be as short, but it may shift
 * a change among equal lines to where it looks best, and so confuse these lines. */
static void trim_sides(struct sides *s)
{
    struct slice *a = &s->before, *b = &s->after;

    while (a->n && b->n) {
        size_t n = line_end(*a, 0);

        if (n != line_end(*b, 0) || memcmp(a->p, b->p, n) != 0)
            break;
        *a = (struct slice){ a->p + n, a->n - n };
        *b = (struct slice){ b->p + n, b->n - n };
        s->head++;
    }
    while (a->n && b->n) {
        size_t n = a->n - line_begin(*a, a->n - 1);

        if (n != b->n - line_begin(*b, b->n - 1) ||
            memcmp(a->p + a->n - n, b->p + b->n - n, n) != 0)
            break;
        a->n -= n;
        b->n -= n;
        s->tail++;
    }
}

static enum err_code compare_sides(struct sides *s, const uint32_t *was, size_t was_n,
                                   uint32_t *now, size_t now_n, uint32_t owner,
                                   struct blame_text *t, struct err *e)
{
    size_t ends = s->head + s->tail;
    struct linediff d;
    enum err_code rc = linediff_make(s->before, s->after, 0, &d, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < s->head; i++)
        now[i] = was[i];
    for (size_t i = 1; i <= s->tail; i++)
        now[now_n - i] = was[was_n - i];
    map_owners(&d, s->head ? was + s->head : was, d.binary ? 0 : was_n - ends, now + s->head,
               now_n - ends, owner);
    t->added += d.insertions;
    t->removed += d.deletions;
    linediff_fini(&d);
    return ERR_OK;
}

/* Most edits leave at most one line to be compared, and many are made at a time: they need no diff. */
static void compare_line(const struct sides *s, const uint32_t *was, size_t was_n, uint32_t *now,
                         size_t now_n, uint32_t owner, struct blame_text *t)
{
    size_t i = 0, kept = 0;
    struct slice rest = s->after, line;
    bool torn;

    for (; i < s->head; i++)
        now[i] = was[i];
    for (; slice_line(&rest, &line, &torn) && i < now_n; i++) {
        bool same = !kept && s->before.n && line.n == s->before.n - 1 &&
                    memcmp(line.p, s->before.p, line.n) == 0;

        kept += same;
        now[i] = same ? was[s->head] : owner;
    }
    t->added += now_n - s->head - s->tail - kept;
    t->removed += was_n - s->head - s->tail - kept;
    for (i = 1; i <= s->tail; i++)
        now[now_n - i] = was[was_n - i];
}

/* Compares two texts by line and fills in the owners of the second. */
static enum err_code compare(struct slice before, const uint32_t *was, size_t was_n,
                             struct slice after, uint32_t *now, size_t now_n, uint32_t owner,
                             struct blame_text *t, struct err *e)
{
    struct buf a = { 0 }, b = { 0 };
    struct sides s = { .before = before, .after = after };
    enum err_code rc =
        close_line(&s.before, &a) || close_line(&s.after, &b) ? err_nomem(e) : ERR_OK;

    if (!rc) {
        trim_sides(&s);
        if (!s.after.n || was_n - s.head - s.tail <= 1)
            compare_line(&s, was, was_n, now, now_n, owner, t);
        else
            rc = compare_sides(&s, was, was_n, now, now_n, owner, t, e);
    }
    buf_fini(&a);
    buf_fini(&b);
    return rc;
}

/* ---- fragments ---- */

static enum err_code add_fragment(struct blame_text *t, const struct edit_replacement *r,
                                  uint32_t owner, struct err *e)
{
    struct blame_fragment f = { .text = arena_copy(&t->arena, r->new_text),
                                .old_text = arena_copy(&t->arena, r->old_text),
                                .owner = owner };

    if (t->fragments == FRAGMENTS_MAX)
        return ERR_OK;
    if (t->arena.failed || !array_reserve(t->fragment, t->fragment_cap, t->fragments + 1))
        return err_nomem(e);
    t->fragment[t->fragments++] = f;
    return ERR_OK;
}

/* Gives the lines of the fragment to its edit, except those that were already in its old text. */
static enum err_code own_lines(struct blame_text *t, const struct blame_fragment *f, size_t at,
                               struct err *e)
{
    struct slice text = buf_slice(&t->text);
    size_t first = count_lines((struct slice){ text.p, line_begin(text, at) });
    size_t n = count_lines(f->text), was_n = count_lines(f->old_text);
    uint32_t *now = malloc((n + was_n + 1) * sizeof *now), *was = now ? now + n : NULL;
    struct blame_text counts = { 0 };
    enum err_code rc = now ? ERR_OK : err_nomem(e);

    for (size_t i = 0; !rc && i < was_n; i++)
        was[i] = BLAME_NOBODY;
    if (!rc)
        rc = compare(f->old_text, was, was_n, f->text, now, n, f->owner, &counts, e);
    for (size_t i = 0; !rc && i < n && first + i < t->lines; i++)
        if (now[i] != BLAME_NOBODY && t->owner[first + i] == BLAME_NOBODY)
            t->owner[first + i] = now[i];
    free(now);
    return rc;
}

/* The newest comes first, because text that a later one replaced is no longer there. */
static enum err_code place_fragments(struct blame_text *t, struct err *e)
{
    struct slice text = buf_slice(&t->text);
    enum err_code rc = ERR_OK;

    for (size_t i = t->fragments; i-- > 0 && !rc && may_spend(t, text.n);) {
        const struct blame_fragment *f = &t->fragment[i];
        const char *hit = f->text.n ? slice_find(text.p, text.n, f->text.p, f->text.n) : NULL;
        size_t rest = hit ? text.n - (size_t)(hit - text.p) - 1 : 0;

        if (hit && blame_states_visible(f->text) >= FRAGMENT_MIN &&
            !slice_find(hit + 1, rest, f->text.p, f->text.n))
            rc = own_lines(t, f, (size_t)(hit - text.p), e);
    }
    t->fragments = 0;
    arena_reset(&t->arena);
    return rc;
}

/* ---- whole contents ---- */

static enum err_code set_text(struct blame_text *t, struct slice content, uint32_t *owner,
                              size_t lines, struct err *e)
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

    if (!owner)
        return err_nomem(e);
    memcpy(owner, s->owner, s->lines * sizeof *owner);
    return set_text(t, buf_slice(&s->text), owner, s->lines, e);
}

/* A person usually changes the present text. If little of that is left, a former text may have been restored before,
 * for example by git, and is then much more similar to the new one. Otherwise the file was rewritten, and lines are
 * equal only by chance. */
static enum err_code choose_base(struct blame_text *t, struct slice content, struct err *e)
{
    struct slice_set lines = { 0 };
    const struct blame_state *state = NULL;
    size_t all = 0, left = 0, best = 0, was = 0;
    enum err_code rc = blame_states_lines(content, &lines);

    if (!rc)
        rc = blame_states_common(content, NULL, &all);
    if (!rc)
        rc = blame_states_common(buf_slice(&t->text), &lines, &left);
    if (!rc)
        rc = blame_states_common(buf_slice(&t->text), NULL, &was);
    if (!rc && left < all / 2 && may_spend(t, COMPARE_COST * t->states.bytes))
        rc = blame_states_most_alike(&t->states, &lines, &best, &state);
    slice_set_fini(&lines);
    if (rc)
        return err_nomem(e);
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

    if (excess && !may_spend(t, COMPARE_COST * excess))
        t->text.n = t->lines = 0;
}

/* The file has this normalized text; new lines in it belong to `owner`. */
static enum err_code set_normalized(struct blame_text *t, struct slice content, uint32_t owner,
                                    struct err *e)
{
    size_t lines = count_lines(content);
    const struct blame_state *former =
        owner == BLAME_NOBODY ? blame_states_find(&t->states, content, lines) : NULL;
    uint32_t *now = malloc((lines + 1) * sizeof *now);
    enum err_code rc = now ? ERR_OK : err_nomem(e);

    if (!rc && former)
        memcpy(now, former->owner, lines * sizeof *now);
    else if (!rc)
        rc = compare(buf_slice(&t->text), t->owner, t->lines, content, now, lines, owner, t, e);
    if (rc)
        free(now);
    else
        rc = set_text(t, content, now, lines, e);
    return rc;
}

enum err_code blame_text_observe(struct blame_text *t, struct slice content, struct err *e)
{
    struct buf b = { 0 };
    struct slice plain;
    uint64_t added = t->added, removed = t->removed;
    enum err_code rc = blame_text_plain(content, &b, &plain) ? err_nomem(e) : ERR_OK;

    if (!rc && !blame_text_is(t, EDIT_TEXT, plain)) {
        forget_if_costly(t, plain);
        if (!blame_states_find(&t->states, plain, count_lines(plain)))
            rc = choose_base(t, plain, e);
        if (!rc)
            rc = set_normalized(t, plain, BLAME_NOBODY, e);
        if (!rc)
            rc = place_fragments(t, e);
        if (!rc)
            rc = blame_states_keep(&t->states, buf_slice(&t->text), t->owner, t->lines, e);
    }
    t->added = added; /* not by the edit */
    t->removed = removed;
    buf_fini(&b);
    return rc;
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

    if (!none)
        return err_nomem(e);
    t->fragments = 0;
    enum err_code rc = set_text(t, SLICE(""), none, 0, e);

    t->absent = true;
    return rc;
}

bool blame_text_is(const struct blame_text *t, enum edit_known known, struct slice content)
{
    return t->known && !t->fragments && t->absent == (known == EDIT_ABSENT) &&
           (known == EDIT_ABSENT || slice_eq(buf_slice(&t->text), content));
}

/* ---- replacements ---- */

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
    size_t old_n = count_lines(old), n = count_lines(now);

    if (!array_reserve(s->owner, s->cap, s->lines + n + 1))
        return err_nomem(e);
    enum err_code rc = compare(old, was, old_n, now, s->owner + s->lines, n, s->editor, s->t, e);

    s->passed += old_n;
    s->lines += n;
    return rc;
}

/* Copies the owners of the old text's lines up to a position, the start of a line. */
static enum err_code splice_pass(struct splicing *s, size_t from, size_t to, struct err *e)
{
    size_t n = count_lines((struct slice){ s->old.p + from, to - from });

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
        size_t begin = line_begin(text, at);

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
        s->to = whole ? at + n : line_end(text, at + n);
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

static enum err_code add_spot(struct replacing *p, size_t at, size_t n, struct slice with,
                              struct err *e)
{
    struct spot *list = arena_grow(&p->arena, p->spot, p->spots, sizeof *list);

    if (!list)
        return err_nomem(e);
    p->spot = list;
    list[p->spots++] = (struct spot){ .at = at, .n = n, .with = arena_copy(&p->arena, with) };
    p->grown += (ptrdiff_t)with.n - (ptrdiff_t)n;
    p->from = at + n;
    return p->arena.failed ? err_nomem(e) : ERR_OK;
}

/* Replaces every occurrence, unless there is none. An occurrence in the new text is not replaced. */
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
    *done = hits &&
            may_become(t, text.n + hits * with.n - hits * old.n,
                       t->lines + hits * count_newlines(with) - hits * count_newlines(old)) &&
            may_spend(t, hits * with.n);
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
        p->line_at = line_end(text, p->line_at);
    bool may = may_spend(p->t, (p->line_at - *at) / SEARCH_SPEED);

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
    if (!may_spend(p->t, (text.n - from) / SEARCH_SPEED))
        return false;
    hit = slice_find(text.p + from, text.n - from, old.p, old.n);
    *at = hit ? (size_t)(hit - text.p) : 0;
    return hit && !slice_find(hit + 1, text.n - *at - 1, old.p, old.n);
}

/* In a patch a last line without a newline has one. */
static void open_line(const struct blame_text *t, const struct edit_replacement *r,
                      struct slice *old, struct slice *with)
{
    struct slice text = buf_slice(&t->text);

    if (!r->next || !old->n || old->p[old->n - 1] != '\n' || !text.n ||
        text.p[text.n - 1] == '\n' || text.n < old->n - 1 ||
        memcmp(text.p + text.n - (old->n - 1), old->p, old->n - 1) != 0)
        return;
    old->n--;
    if (with->n && with->p[with->n - 1] == '\n')
        with->n--;
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
    if (!rc)
        open_line(t, r, &old, &with);
    if (!rc && r->all && old.n) {
        rc = replace_everywhere(p, old, with, done, e);
    } else if (!rc) {
        *done = find_old(p, r->next ? p->from : 0, r, old, &at);
        /* A line may be in what earlier hunks made. */
        if (p->spots && (*done ? at < p->from : r->line > 0)) {
            rc = apply_spots(p, e);
            *done = !rc && find_old(p, p->from, r, old, &at);
        }
        *done = *done && may_become(t, t->text.n + (size_t)p->grown + with.n - old.n,
                                    t->lines + count_newlines(with));
        if (*done)
            rc = add_spot(p, at, old.n, with, e);
    }
    buf_fini(&b);
    buf_fini(&c);
    return rc;
}

static void count_fragment(struct blame_text *t, const struct edit_replacement *r)
{
    unsigned insertions, deletions;
    bool binary;

    if (!linediff_count(r->old_text, r->new_text, &insertions, &deletions, &binary, NULL)) {
        t->added += insertions;
        t->removed += deletions;
    }
}

static enum err_code replace_all_of(struct blame_text *t, const struct edit *edit, uint32_t owner,
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
            may_spend(t, (r->next && i) ? r->old_text.n : t->text.n + t->lines * sizeof *t->owner))
            rc = replace(&p, r, &done, e);
        if (rc || done)
            continue;
        *all_done = false;
        t->known = false;
        count_fragment(t, r);
        rc = add_fragment(t, r, owner, e);
    }
    if (!rc)
        rc = apply_spots(&p, e);
    arena_fini(&p.arena);
    return rc;
}

/* ---- edits ---- */

static enum err_code observe_before(struct blame_text *t, const struct edit *edit, struct err *e)
{
    if (edit->before_known == EDIT_TEXT)
        return blame_text_observe(t, edit->before, e);
    return edit->before_known == EDIT_ABSENT && !blame_text_is(t, EDIT_ABSENT, SLICE(""))
               ? blame_text_remove(t, e)
               : ERR_OK;
}

static enum err_code write_whole(struct blame_text *t, struct slice content, uint32_t owner,
                                 struct err *e)
{
    struct buf b = { 0 };
    struct slice plain;
    enum err_code rc = blame_text_plain(content, &b, &plain) ? err_nomem(e) : ERR_OK;

    if (!rc && !blame_text_is(t, EDIT_TEXT, plain)) {
        forget_if_costly(t, plain);
        rc = set_normalized(t, plain, owner, e);
    }
    t->fragments = 0;
    t->known = t->known || !rc;
    buf_fini(&b);
    return rc;
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
    enum err_code rc = ERR_OK;

    if (edit->kind == EDIT_WRITE) {
        bool proposed = edit->by_person && edit->replacements;

        rc = write_whole(t, proposed ? edit->replacement[0].new_text : edit->after, owner, e);
        if (!rc && edit->by_person)
            rc = blame_text_observe(t, edit->after, e);
        return rc;
    }
    if (edit->replacements)
        rc = replace_all_of(t, edit, owner, &replayed, e);
    else
        t->known = t->known && edit->after_known != EDIT_UNKNOWN;
    return rc ? rc : observe_after(t, edit, owner, replayed, before, e);
}

enum err_code blame_text_edit(struct blame_text *t, const struct edit *edit, uint32_t owner,
                              struct err *e)
{
    enum err_code rc;

    t->added = t->removed = 0;
    if (edit->kind == EDIT_SEEN)
        return observe_after(t, edit, BLAME_NOBODY, true, false, e);
    rc = observe_before(t, edit, e);
    t->added = t->removed = 0;
    if (!rc && edit->kind == EDIT_DELETE) {
        t->removed = t->lines;
        return blame_text_remove(t, e);
    }
    if (!rc)
        rc = edit_lines(t, edit, owner, e);
    t->absent = rc && t->absent;
    if (rc || !t->known || !t->states.wanted || !may_spend(t, t->text.n))
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
