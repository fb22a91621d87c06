#include "tui/filter/filter.h"

#include <stdio.h>
#include <string.h>

#include "store/api/store.h"
#include "tui/filter/fold.h"

/* The bytes of a field that are kept. The filter does not find what follows them. */
static const size_t field_limit[DOC_FIELDS] = {
    [DOC_TITLE] = FUZZY_HAYSTACK_MAX, [DOC_BRANCH] = 96,       [DOC_TAG] = 64, [DOC_DIR] = 160,
    [DOC_FIRST_PROMPT] = 240,         [DOC_LAST_PROMPT] = 240,
};

enum { SPARE = 64 };
enum { END_MARK = '\0' }; /* folding leaves no control character */

static struct slice doc_field_of(const struct session_row *row, enum doc_field field)
{
    switch (field) {
    case DOC_TITLE: return session_row_title(row);
    case DOC_BRANCH: return row->git_branch;
    case DOC_TAG: return row->tag;
    case DOC_DIR: return row->cwd;
    case DOC_FIRST_PROMPT:
        /* Most titles are the first prompt. */
        return slice_eq(row->first_prompt, row->summary) ? (struct slice){ 0 } : row->first_prompt;
    case DOC_LAST_PROMPT:
        return slice_eq(row->last_prompt, row->first_prompt) ? (struct slice){ 0 }
                                                             : row->last_prompt;
    case DOC_FIELDS: break;
    }
    return (struct slice){ 0 };
}

enum { SYSTEM_TEXT = 40 };

/* "claude", or with the dialect: "goat/spec". */
static struct slice system_of(const struct session_row *row, char out[SYSTEM_TEXT])
{
    snprintf(out, SYSTEM_TEXT, "%s%s%s", row->ref.store->ops->name, row->dialect ? "/" : "",
             row->dialect ? row->dialect : "");
    return slice_of(out);
}

static uint64_t name_letters(const struct session_row *row, struct buf *scratch)
{
    char system[SYSTEM_TEXT];

    scratch->n = 0;
    if (fold_text(row->ref.id, FUZZY_HAYSTACK_MAX, scratch, NULL) ||
        fold_text(system_of(row, system), FUZZY_HAYSTACK_MAX, scratch, NULL))
        return UINT64_MAX; /* out of memory: scored more often than necessary */
    return fold_signature(buf_slice(scratch));
}

struct doc *doc_new(const struct session_row *row, struct arena *a, struct doc *old, size_t *room)
{
    struct buf text = { 0 }, classes = { 0 };
    uint32_t at[DOC_FIELDS + 1] = { 0 };
    struct doc *d = NULL;

    for (int i = 0; i < DOC_FIELDS; i++) {
        /* A tag begins with its sign, as in the list. */
        enum doc_field field = (enum doc_field)i;
        struct slice value = doc_field_of(row, field);

        if (field == DOC_TAG && value.n > 0 && fold_text(SLICE("#"), 1, &text, &classes))
            goto done;
        if (fold_text(value, field_limit[field], &text, &classes) ||
            buf_add_byte(&text, END_MARK) || buf_add_byte(&classes, 0))
            goto done;
        at[i + 1] = (uint32_t)text.n;
    }
    size_t want = sizeof *d + 2 * text.n;

    if (old && want <= *room) {
        d = old;
    } else {
        want = (want + SPARE) / SPARE * SPARE; /* for a title that grows a little */
        d = arena_alloc(a, want);
        if (!d)
            goto done;
        *room = want;
    }
    *d = (struct doc){ .row = row };
    memcpy(d->at, at, sizeof at);
    memcpy(d->text, text.p, text.n);
    memcpy(d->text + text.n, classes.p, text.n);
    d->class = (const uint8_t *)d->text + text.n;

    struct fuzzy_haystack title = doc_haystack(d, DOC_TITLE);
    uint64_t set = 0;

    for (size_t i = 0; i < title.n; i++)
        if (title.class[i] & (FOLD_WORD | FOLD_CAMEL))
            set |= fold_signature((struct slice){ title.text + i, 1 });
    d->sets.initials = set;

    d->sets.shorts = fold_signature((struct slice){ d->text, d->at[DOC_SHORT] });
    d->sets.all = fold_signature((struct slice){ d->text, d->at[DOC_FIELDS] });
    d->sets.names = name_letters(row, &text);
done:
    buf_fini(&text);
    buf_fini(&classes);
    return d;
}

struct fuzzy_haystack doc_haystack(const struct doc *d, enum doc_field field)
{
    uint32_t at = d->at[field];

    return (struct fuzzy_haystack){ d->text + at, d->class + at, d->at[field + 1] - at - 1 };
}

/* This field and all that follow it, with their end marks. */
static struct fuzzy_haystack haystack_from(const struct doc *d, enum doc_field field)
{
    uint32_t at = d->at[field];

    return (struct fuzzy_haystack){ d->text + at, d->class + at, d->at[DOC_FIELDS] - at };
}

static int best_of(int a, int b)
{
    return a > b ? a : b;
}

/* A match in a branch or tag counts three quarters of one in the title, a match in a long text half. */
static int scale_score(int score, int quarters)
{
    return score == FUZZY_NO_MATCH ? FUZZY_NO_MATCH : score * quarters / 4;
}

static bool doc_begins_with(struct slice name, const struct fuzzy_needle *needle)
{
    if (needle->n > name.n)
        return false;
    for (size_t i = 0; i < needle->n; i++) {
        char c = name.p[i];

        if ((c >= 'A' && c <= 'Z' ? c + 0x20 : c) != needle->text[i])
            return false;
    }
    return true;
}

/* The score of a word that is the whole name of an agent, a tag or a branch: one less than the literal word inside a
 * title, and more than letters that are scattered over one. */
static int whole_name_score(const struct fuzzy_needle *needle)
{
    return 25 * (int)needle->n;
}

/* The beginning of an id, of the name of a system or of its dialect. An id scores more, because it
 * identifies one session, a system many. */
static int name_score(const struct doc *d, const struct fuzzy_needle *needle)
{
    char both[SYSTEM_TEXT];

    if (needle->n < DOC_NAME_LEAST || (d->sets.names & needle->signature) != needle->signature)
        return FUZZY_NO_MATCH;
    if (doc_begins_with(d->row->ref.id, needle))
        return 40 * (int)needle->n;
    struct slice system = system_of(d->row, both), dialect = { NULL, 0 };

    if (d->row->dialect)
        dialect = slice_of(d->row->dialect);
    if ((doc_begins_with(system, needle) &&
         (needle->n == system.n || system.p[needle->n] == '/')) ||
        (doc_begins_with(dialect, needle) && needle->n == dialect.n))
        return whole_name_score(needle);
    return doc_begins_with(system, needle) || doc_begins_with(dialect, needle) ? 4 * (int)needle->n
                                                                               : FUZZY_NO_MATCH;
}

int doc_letter_score(struct doc_sets sets, uint64_t letter)
{
    if (!(sets.all & letter))
        return FUZZY_NO_MATCH;
    if (sets.initials & letter)
        return 30;
    return sets.shorts & letter ? 16 : 8;
}

static struct fuzzy_haystack haystack_behind(struct fuzzy_haystack haystack)
{
    return haystack.n > 0
               ? (struct fuzzy_haystack){ haystack.text + 1, haystack.class + 1, haystack.n - 1 }
               : haystack;
}

/* Returns true if the word is the whole branch or the whole tag, with its # or without. */
static bool is_branch_or_tag(const struct doc *d, const struct fuzzy_needle *needle)
{
    const struct fuzzy_haystack tag = doc_haystack(d, DOC_TAG),
                                whole[] = { doc_haystack(d, DOC_BRANCH), tag,
                                            haystack_behind(tag) };

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i].n == needle->n &&
            fuzzy_exact(needle, whole[i], ANCHOR_BOTH, NULL) != FUZZY_NO_MATCH)
            return true;
    return false;
}

static int fuzzy_term(const struct doc *d, const struct term *t, enum doc_effort effort)
{
    const struct fuzzy_needle *needle = &t->needle;
    bool letters_there = (d->sets.shorts & needle->signature) == needle->signature;
    int best = FUZZY_NO_MATCH;

    for (enum doc_field f = 0; letters_there && f < DOC_SHORT; f++) {
        struct fuzzy_haystack haystack = doc_haystack(d, f);
        int score = effort == DOC_EFFORT_BEST ? fuzzy_best(needle, haystack, NULL)
                                              : fuzzy_quick(needle, haystack);

        best = best_of(best, scale_score(score, f == DOC_TITLE ? 4 : 3));
    }
    if (letters_there && is_branch_or_tag(d, needle))
        best = best_of(best, whole_name_score(needle));
    best = best_of(best, name_score(d, needle));
    if (best != FUZZY_NO_MATCH || (d->sets.all & needle->signature) != needle->signature)
        return best;
    return scale_score(fuzzy_near(needle, haystack_from(d, DOC_SHORT)), 2);
}

static int exact_term(const struct doc *d, const struct term *t)
{
    struct fuzzy_haystack whole = haystack_from(d, 0);
    int best = t->anchor & ANCHOR_END ? FUZZY_NO_MATCH : name_score(d, &t->needle);

    if (best != FUZZY_NO_MATCH)
        return best;
    if (!memmem(whole.text, whole.n, t->needle.text, t->needle.n))
        return FUZZY_NO_MATCH;
    for (enum doc_field f = 0; f < DOC_FIELDS; f++) {
        int score = fuzzy_exact(&t->needle, doc_haystack(d, f), t->anchor, NULL);

        best = best_of(best, scale_score(score, f == DOC_TITLE ? 4 : f < DOC_SHORT ? 3 : 2));
        if (t->negate && best != FUZZY_NO_MATCH)
            break;
    }
    if (best == FUZZY_NO_MATCH && t->anchor & ANCHOR_START) /* a tag also begins after its # */
        best = scale_score(
            fuzzy_exact(&t->needle, haystack_behind(doc_haystack(d, DOC_TAG)), t->anchor, NULL), 3);
    return best;
}

/* Regular expressions are matched against the original texts, because folding would change their case and accents. */
static int regex_term(const struct doc *d, const struct term *t)
{
    struct grep_range found;

    for (enum doc_field f = 0; f < DOC_FIELDS; f++) {
        struct slice text = doc_field_of(d->row, f);

        text.n = text.n < field_limit[f] ? text.n : field_limit[f];
        grep_match_begin(t->matcher, text);
        if (grep_match_next(t->matcher, 0, 0, &found) == GREP_MATCH)
            return f == DOC_TITLE ? 32 : f < DOC_SHORT ? 24 : 16;
    }
    return FUZZY_NO_MATCH;
}

static int doc_plain_text(const struct fuzzy_needle *needle, struct slice text)
{
    char folded[FUZZY_NEEDLE_MAX];
    uint8_t class[FUZZY_NEEDLE_MAX] = { 0 };
    size_t n = text.n < FUZZY_NEEDLE_MAX ? text.n : FUZZY_NEEDLE_MAX;

    for (size_t i = 0; i < n; i++)
        folded[i] = (char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] + 0x20 : text.p[i]);
    return fuzzy_exact(needle, (struct fuzzy_haystack){ folded, class, n }, ANCHOR_START, NULL);
}

static bool doc_row_is(const struct session_row *row, enum is_kind kind, bool marked)
{
    static const unsigned flags[IS_COUNT] = {
        [IS_RUNNING] = SESSION_LIVE,
        [IS_WAITING] = SESSION_WAITS,
        [IS_ARCHIVED] = SESSION_ARCHIVED,
        [IS_FORK] = SESSION_FORK,
        [IS_DAMAGED] = SESSION_DAMAGED | SESSION_TORN | SESSION_CHANGED,
        [IS_INTERRUPTED] = SESSION_INTERRUPTED,
        [IS_KEPT] = SESSION_KEPT,
    };

    if (kind == IS_MARKED)
        return marked;
    if (kind == IS_EMPTY)
        return row->first_prompt.n == 0;
    return (row->flags & flags[kind]) != 0;
}

static int64_t row_time(const struct session_row *row)
{
    return row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms;
}

static int term_fits(const struct doc *d, const struct term *t, bool marked)
{
    const struct session_row *row = d->row;
    char system[SYSTEM_TEXT];
    bool fits = false;

    switch (t->kind) {
    case TERM_TAG: return fuzzy_exact(&t->needle, doc_haystack(d, DOC_TAG), ANCHOR_NONE, NULL);
    case TERM_BRANCH:
        return fuzzy_exact(&t->needle, doc_haystack(d, DOC_BRANCH), ANCHOR_NONE, NULL);
    case TERM_DIR: return fuzzy_exact(&t->needle, doc_haystack(d, DOC_DIR), ANCHOR_NONE, NULL);
    case TERM_ID: return doc_plain_text(&t->needle, row->ref.id);
    case TERM_SYSTEM: return doc_plain_text(&t->needle, system_of(row, system));
    case TERM_BEFORE: fits = row_time(row) < t->value; break;
    case TERM_AFTER: fits = row_time(row) >= t->value; break;
    case TERM_LARGER: fits = row->ref.file.size >= t->value; break;
    case TERM_SMALLER: fits = row->ref.file.size < t->value; break;
    case TERM_IS: fits = doc_row_is(row, (enum is_kind)t->value, marked); break;
    case TERM_FUZZY:
    case TERM_EXACT:
    case TERM_REGEX: break;
    }
    return fits ? 0 : FUZZY_NO_MATCH;
}

static int term_score(const struct doc *d, const struct term *t, bool marked,
                      enum doc_effort effort)
{
    int score;

    if (t->kind == TERM_FUZZY && t->needle.n == 1 && !t->needle.keep_case && !t->negate)
        score = doc_letter_score(d->sets, t->needle.signature);
    else if (t->kind == TERM_FUZZY)
        score = fuzzy_term(d, t, effort);
    else if (t->kind == TERM_EXACT)
        score = exact_term(d, t);
    else if (t->kind == TERM_REGEX)
        score = regex_term(d, t);
    else
        score = term_fits(d, t, marked);
    if (t->negate)
        return score == FUZZY_NO_MATCH ? 0 : FUZZY_NO_MATCH;
    return score;
}

int doc_score(const struct doc *d, const struct query *q, bool marked, enum doc_effort effort)
{
    int sum = 0;

    for (size_t i = 0; i < q->n;) {
        int best = FUZZY_NO_MATCH;

        do {
            best = best_of(best, term_score(d, &q->term[i], marked, effort));
            i++;
        } while (i < q->n && q->term[i].or_before);
        if (best == FUZZY_NO_MATCH)
            return FUZZY_NO_MATCH;
        sum += best;
    }
    return sum;
}

/* A folded title, and the place in the title that each folded byte comes from. */
struct folded {
    struct buf text, classes;
    uint32_t origin[FUZZY_HAYSTACK_MAX];
    size_t n;
};

/* Sets the hits of the character at folded byte i, with the combining marks that folding dropped. */
static void hit_char(const struct folded *f, struct slice title, size_t i, bool *hit)
{
    size_t next = i + 1;

    while (next < f->n && f->origin[next] == f->origin[i])
        next++;
    size_t end = next < f->n ? f->origin[next] : title.n;

    if (next == f->n && f->n == FUZZY_HAYSTACK_MAX) /* the title is longer than its folded part */
        end = f->origin[i] + 1;
    memset(hit + f->origin[i], true, end - f->origin[i]);
}

static void hit_term(const struct term *t, const struct folded *f, struct slice title, bool *hit)
{
    uint16_t at[FUZZY_NEEDLE_MAX];
    struct fuzzy_haystack haystack = { f->text.p, (const uint8_t *)f->classes.p, f->n };

    if (t->kind == TERM_FUZZY) {
        if (fuzzy_best(&t->needle, haystack, at) == FUZZY_NO_MATCH)
            return;
        for (size_t k = 0; k < t->needle.n; k++)
            hit_char(f, title, at[k], hit);
    } else if (fuzzy_exact(&t->needle, haystack, t->anchor, at) != FUZZY_NO_MATCH) {
        for (size_t k = 0; k < t->needle.n; k++)
            hit_char(f, title, at[0] + k, hit);
    }
}

void doc_highlight(const struct query *q, struct slice title, bool *hit)
{
    struct folded f = { 0 };

    if (fold_text(title, FUZZY_HAYSTACK_MAX, &f.text, &f.classes) == ERR_OK && f.text.n > 0) {
        f.n = fold_map(title, f.origin, FUZZY_HAYSTACK_MAX);
        if (f.n > f.text.n)
            f.n = f.text.n;
        for (size_t i = 0; i < q->n; i++) {
            const struct term *t = &q->term[i];

            if (!t->negate && (t->kind == TERM_FUZZY || t->kind == TERM_EXACT))
                hit_term(t, &f, title, hit);
        }
    }
    for (size_t i = 0; i < q->n; i++)
        if (q->term[i].kind == TERM_REGEX && !q->term[i].negate) {
            struct grep_range r = { .to = 0 };

            grep_match_begin(q->term[i].matcher, title);
            while (grep_match_next(q->term[i].matcher, 0, r.to, &r) == GREP_MATCH)
                memset(hit + r.from, true, r.to - r.from);
        }
    buf_fini(&f.text);
    buf_fini(&f.classes);
}
